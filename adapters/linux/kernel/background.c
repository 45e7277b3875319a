/* background.c - a call that takes minutes, and word of it meanwhile
 * SPDX-License-Identifier: MIT
 *
 * One thread, which is always waited for.
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

/* Locks and a condition are plain memory on Linux; that there is none of it is for the caller
 * to see. 0 or an errno. */
static int make(job *j)
{
    pthread_condattr_t attributes;
    int error = pthread_condattr_init(&attributes);
    if (error)
        return error;
    error = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (!error)
        error = pthread_cond_init(&j->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    if (error)
        return error;
    error = pthread_mutex_init(&j->lock, NULL);
    if (error)
        pthread_cond_destroy(&j->ended);
    return error;
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

/* Whether the work has ended when the period has. */
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

/* A thread starts with the mask of its maker. */
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
    if (!tick || make(&j)) {
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
