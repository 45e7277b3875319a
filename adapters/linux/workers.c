/* workers.c - run a function in several threads, or a slow call beside this thread
 * SPDX-License-Identifier: MIT
 *
 * Starts threads and always joins them; does not divide the work.
 */
#define _GNU_SOURCE
#include "workers.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* CPUs of the widest mask that is asked for. Kernels are built for 8,192 at most. */
#define MASK_CPUS 65536

typedef struct job {
    void (*work)(void *ctx);
    void *ctx;
} job;

static void *run_job(void *given)
{
    const job *j = given;
    j->work(j->ctx);
    return NULL;
}

void cpubind_block_signals(sigset_t *old)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&set, own[i]);
    pthread_sigmask(SIG_BLOCK, &set, old);
}

void cpubind_linux_run_with(int32_t n, void (*work)(void *ctx), void *ctx,
                            const cpubind_sys *sys)
{
    pthread_t *thread; /* on the heap: a caller may have 64 KiB of stack */
    job j = {work, ctx};
    sigset_t old;
    int32_t n_thread = 0;
    if (n < 1)
        n = 1;
    if (n > CPUBIND_WORKERS_MAX)
        n = CPUBIND_WORKERS_MAX;
    thread = (pthread_t *)sys->malloc((size_t)n * sizeof *thread);
    if (!thread)
        n = 1;
    cpubind_block_signals(&old);
    while (n_thread < n - 1 && sys->thread_start(&thread[n_thread], run_job, &j) == 0)
        n_thread++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    work(ctx);
    for (int32_t i = 0; i < n_thread; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}

void cpubind_linux_run(int32_t n, void (*work)(void *ctx), void *ctx)
{
    cpubind_linux_run_with(n, work, ctx, &cpubind_sys_real);
}

int32_t cpubind_linux_processors_of(const cpubind_sys *sys)
{
    unsigned long mask[MASK_CPUS / (CHAR_BIT * sizeof(unsigned long))] = {0};
    int32_t n = 0;
    if (sys->getaffinity(0, sizeof mask, mask) < 0)
        return 1;
    for (size_t i = 0; i < sizeof mask / sizeof mask[0]; i++)
        for (unsigned long bits = mask[i]; bits; bits &= bits - 1)
            n++;
    return n > 0 ? n : 1;
}

int32_t cpubind_linux_processors(void)
{
    return cpubind_linux_processors_of(&cpubind_sys_real);
}

/* == A slow call beside this thread ========================================= */

typedef struct slow_job {
    void (*work)(void *ctx);
    void *ctx;
    pthread_mutex_t lock;
    pthread_cond_t ended; /* on the monotonic clock: the time of day may be set meanwhile */
    int is_ended;
} slow_job;

static void *run_slow_job(void *given)
{
    slow_job *j = given;
    j->work(j->ctx);
    pthread_mutex_lock(&j->lock);
    j->is_ended = 1;
    pthread_cond_signal(&j->ended);
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* Creates the mutex and the condition; returns 0 on failure. On Linux that only fails when out
 * of memory. */
static int make(slow_job *j)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes))
        return 0;
    int error = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (!error)
        error = pthread_cond_init(&j->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    if (error)
        return 0;
    if (pthread_mutex_init(&j->lock, NULL) == 0)
        return 1;
    pthread_cond_destroy(&j->ended);
    return 0;
}

/* Waits for the period at most. Returns whether the work has ended. */
static int wait_for(slow_job *j, int32_t period_ms)
{
    struct timespec until;
    int error = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += period_ms / 1000;
    until.tv_nsec += (long)(period_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&j->lock);
    while (!j->is_ended && !error)
        error = pthread_cond_timedwait(&j->ended, &j->lock, &until);
    const int is_ended = j->is_ended;
    pthread_mutex_unlock(&j->lock);
    return is_ended;
}

void cpubind_linux_run_beside(const cpubind_sys *sys, void (*work)(void *ctx), void *work_ctx,
                              int32_t period_ms, void (*tick)(void *ctx), void *tick_ctx)
{
    slow_job j = {.work = work, .ctx = work_ctx};
    pthread_t thread;
    sigset_t old;
    if (!tick || !make(&j)) {
        work(work_ctx);
        return;
    }
    cpubind_block_signals(&old);
    const int error = sys->thread_start(&thread, run_slow_job, &j);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error) {
        work(work_ctx);
    } else {
        while (!wait_for(&j, period_ms))
            tick(tick_ctx);
        pthread_join(thread, NULL);
    }
    pthread_mutex_destroy(&j.lock);
    pthread_cond_destroy(&j.ended);
}

/* == A lock ================================================================= */

struct cpubind_mutex {
    pthread_mutex_t mutex;
};

cpubind_mutex *cpubind_mutex_new(void)
{
    cpubind_mutex *mutex = (cpubind_mutex *)malloc(sizeof *mutex);
    if (mutex && pthread_mutex_init(&mutex->mutex, NULL) == 0)
        return mutex;
    free(mutex);
    return NULL;
}

void cpubind_mutex_lock(cpubind_mutex *mutex)
{
    pthread_mutex_lock(&mutex->mutex);
}

void cpubind_mutex_unlock(cpubind_mutex *mutex)
{
    pthread_mutex_unlock(&mutex->mutex);
}

void cpubind_mutex_free(cpubind_mutex *mutex)
{
    if (mutex)
        pthread_mutex_destroy(&mutex->mutex);
    free(mutex);
}
