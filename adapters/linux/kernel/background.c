/* background.c - run a slow call on a helper thread and report progress
 * SPDX-License-Identifier: MIT
 *
 * Starts one thread and always joins it.
 */
#define _GNU_SOURCE
#include "background.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

typedef struct job {
    void (*work)(void *ctx);
    void *ctx;
    pthread_mutex_t lock;
    pthread_cond_t ended; /* on the monotonic clock: the time of day may be set meanwhile */
    int is_ended;
} job;

static void *run_job(void *given)
{
    job *j = given;
    j->work(j->ctx);
    pthread_mutex_lock(&j->lock);
    j->is_ended = 1;
    pthread_cond_signal(&j->ended);
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* Creates the mutex and the condition; returns 0 on failure. On Linux that only fails when out
 * of memory. */
static int make(job *j)
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

static struct timespec later(struct timespec t, int32_t ms)
{
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* Waits for the period at most. Returns whether the work has ended. */
static int wait_for(job *j, int32_t ms)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const struct timespec until = later(now, ms);
    int error = 0;
    pthread_mutex_lock(&j->lock);
    while (!j->is_ended && !error)
        error = pthread_cond_timedwait(&j->ended, &j->lock, &until);
    const int is_ended = j->is_ended;
    pthread_mutex_unlock(&j->lock);
    return is_ended;
}

/* Starts the thread with all signals blocked: it inherits the mask of its creator. */
static int start(const cpubind_sys *sys, pthread_t *thread, job *j)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    const int error = sys->thread_start(thread, run_job, j);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error;
}

void cpubind_linux_run_beside(const cpubind_sys *sys, void (*work)(void *ctx), void *work_ctx,
                              int32_t period_ms, void (*tick)(void *ctx), void *tick_ctx)
{
    job j = {.work = work, .ctx = work_ctx};
    pthread_t thread;
    if (!tick || !make(&j)) {
        work(work_ctx);
        return;
    }
    if (start(sys, &thread, &j)) {
        work(work_ctx);
    } else {
        while (!wait_for(&j, period_ms))
            tick(tick_ctx);
        pthread_join(thread, NULL);
    }
    pthread_mutex_destroy(&j.lock);
    pthread_cond_destroy(&j.ended);
}
