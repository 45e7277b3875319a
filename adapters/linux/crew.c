/* crew.c - threads that are made ready one by one, work at the same time, and are all ended
 * SPDX-License-Identifier: MIT
 *
 * A futex is the wake-up that condition variables and queues of runtimes come to as well. Its
 * calls are no part of the table of calls: they come from many threads at once, and there is
 * nothing to decide when one fails, but to look again.
 */
#define _GNU_SOURCE
#include "crew.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernel/process.h"

/* How long a member sleeps at most, so that one that has missed a wake-up ends as well. */
#define SLEEP_MS 100

enum { PHASE_READY = 0, PHASE_WORK = 1, PHASE_OVER = 2 };

typedef struct member {
    cpubind_crew *crew;
    cpubind_crew_job job;
    cpubind_bell ready; /* rung once, ready or failed */
    cpubind_linux_fault fault;
    pthread_t thread;
} member;

struct cpubind_crew {
    const cpubind_sys *sys;
    _Atomic uint32_t phase;
    int32_t n, cap;
    member member[];
};

int64_t cpubind_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Sleeps while *word is `value`, for SLEEP_MS at most. */
static void sleep_on(_Atomic uint32_t *word, uint32_t value)
{
    const struct timespec limit = {0, SLEEP_MS * 1000000L};
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit, NULL, 0);
}

static void wake_all(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void cpubind_bell_ring(cpubind_bell *bell)
{
    atomic_fetch_add(&bell->rung, 1);
    wake_all(&bell->rung);
}

int cpubind_bell_wait(cpubind_bell *bell, uint32_t *seen, const cpubind_crew *crew)
{
    while (!cpubind_crew_is_over(crew)) {
        const uint32_t now = atomic_load(&bell->rung);
        if (now != *seen) {
            *seen = now;
            return 1;
        }
        sleep_on(&bell->rung, now);
    }
    return 0;
}

/* == Members ================================================================ */

static cpubind_linux_fault move_self(const cpubind_sys *sys, cpubind_cpus cpus)
{
    cpubind_cpu_sets sets = {NULL, 0, 0};
    int32_t set;
    cpubind_linux_fault fault = cpubind_cpu_sets_of_list(&sets, sys, cpus.cpu, cpus.n, &set);
    if (!fault.error)
        fault = cpubind_task_move(sys, 0, &sets.set[set]);
    cpubind_cpu_sets_free(&sets);
    return fault;
}

static void *run_member(void *given)
{
    member *m = given;
    const cpubind_sys *sys = m->crew->sys;
    int is_failed;
    if (m->job.cpus.n > 0)
        m->fault = move_self(sys, m->job.cpus);
    if (!m->fault.error && m->job.prepare)
        m->fault = m->job.prepare(m->job.ctx, sys);
    is_failed = m->fault.error != 0;
    cpubind_bell_ring(&m->ready);
    if (is_failed)
        return NULL;
    while (atomic_load(&m->crew->phase) == PHASE_READY)
        sleep_on(&m->crew->phase, PHASE_READY);
    if (!cpubind_crew_is_over(m->crew))
        m->job.work(m->job.ctx, m->crew);
    return NULL;
}

cpubind_crew *cpubind_crew_open(const cpubind_sys *sys, int32_t cap)
{
    const size_t size = sizeof(cpubind_crew) + (size_t)cap * sizeof(member);
    cpubind_crew *crew = sys->malloc(size);
    if (!crew)
        return NULL;
    memset(crew, 0, size);
    crew->sys = sys;
    crew->cap = cap;
    return crew;
}

/* Blocks all signals, which a new thread inherits, but those of a fault in the thread itself:
 * if those were blocked, the process would end without its handler. */
static void block_signals(sigset_t *old)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t set;
    (void)sigfillset(&set);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        (void)sigdelset(&set, own[i]);
    (void)pthread_sigmask(SIG_BLOCK, &set, old);
}

cpubind_linux_fault cpubind_crew_add(cpubind_crew *crew, const cpubind_crew_job *job)
{
    member *m = &crew->member[crew->n];
    sigset_t old;
    uint32_t seen = 0;
    if (crew->n == crew->cap)
        return cpubind_fault_of(ENOSPC, "thread");
    *m = (member){.crew = crew, .job = *job};
    block_signals(&old);
    const int error = crew->sys->thread_start(&m->thread, run_member, m);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error)
        return cpubind_fault_of(error, "thread");
    (void)cpubind_bell_wait(&m->ready, &seen, crew);
    if (m->fault.error)
        (void)pthread_join(m->thread, NULL);
    else
        crew->n++;
    return m->fault;
}

static void set_phase(cpubind_crew *crew, uint32_t phase)
{
    atomic_store(&crew->phase, phase);
    wake_all(&crew->phase);
}

void cpubind_crew_go(cpubind_crew *crew)
{
    set_phase(crew, PHASE_WORK);
}

int cpubind_crew_is_over(const cpubind_crew *crew)
{
    return atomic_load(&crew->phase) == PHASE_OVER;
}

void cpubind_crew_end(cpubind_crew *crew)
{
    if (!crew)
        return;
    set_phase(crew, PHASE_OVER);
    for (int32_t i = 0; i < crew->n; i++)
        (void)pthread_join(crew->member[i].thread, NULL);
    free(crew);
}
