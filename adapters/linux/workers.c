/* workers.c - one function in several threads
 * SPDX-License-Identifier: MIT
 *
 * Starts threads and waits for them; shares nothing out.
 */
#define _GNU_SOURCE
#include "workers.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>

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

/* All signals but those of a fault in the thread itself: blocked, they would end the process
 * past the handler that is to tell of it. */
static void set_blocked(sigset_t *set)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(set, own[i]);
}

void cpubind_linux_run_with(int32_t n, void (*work)(void *ctx), void *ctx,
                            const cpubind_sys *sys)
{
    pthread_t thread[CPUBIND_WORKERS_MAX];
    job j = {work, ctx};
    sigset_t blocked, old;
    int32_t n_thread = 0;
    if (n < 1)
        n = 1;
    if (n > CPUBIND_WORKERS_MAX)
        n = CPUBIND_WORKERS_MAX;
    set_blocked(&blocked);
    pthread_sigmask(SIG_BLOCK, &blocked, &old); /* a thread starts with the mask of its maker */
    while (n_thread < n - 1 && sys->thread_start(&thread[n_thread], run_job, &j) == 0)
        n_thread++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    work(ctx);
    for (int32_t i = 0; i < n_thread; i++)
        pthread_join(thread[i], NULL);
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
