/* crew.h - threads that are made ready one by one, work at the same time, and are all ended
 * SPDX-License-Identifier: MIT
 *
 * Private to the programs of this project. A crew belongs to the thread that opens it; its
 * members take no signals that are sent to the process. Rules: futex(2), pthread_create(3).
 */
#ifndef CPUBIND_LINUX_CREW_H
#define CPUBIND_LINUX_CREW_H

#include <stdatomic.h>
#include <stdint.h>

#include "../plan/process_goal.h"
#include "linux.h"
#include "sys.h"

typedef struct cpubind_crew cpubind_crew;

/* What a member does: `prepare` (may be NULL) before the next one is started, on its CPUs;
 * `work` after cpubind_crew_go, until cpubind_crew_is_over. With 0 CPUs it runs on those of the
 * opener of the crew. */
typedef struct cpubind_crew_job {
    cpubind_cpus cpus;
    cpubind_linux_fault (*prepare)(void *ctx, const cpubind_sys *sys);
    void (*work)(void *ctx, cpubind_crew *crew);
    void *ctx;
} cpubind_crew_job;

/* A crew of at most `cap` members; NULL without memory. */
cpubind_crew *cpubind_crew_open(const cpubind_sys *sys, int32_t cap);

/* Starts a member and waits until it is ready. No two members are made ready at once.
 *   errors  "thread", "sched_setaffinity", "memory"; those of `prepare`: there is no such
 *           member then. EILSEQ, "CPUs" */
cpubind_linux_fault cpubind_crew_add(cpubind_crew *crew, const cpubind_crew_job *job);

/* All members begin to work. */
void cpubind_crew_go(cpubind_crew *crew);

/* Whether the work is over: a member returns then, at once. Any thread may ask. */
int cpubind_crew_is_over(const cpubind_crew *crew);

/* Ends all members, waits for them and frees the crew. NULL is allowed. */
void cpubind_crew_end(cpubind_crew *crew);

/* How often something has happened. All zero: never. */
typedef struct cpubind_bell {
    _Atomic uint32_t rung;
} cpubind_bell;

/* Raises the count and wakes who waits; what this thread wrote before, it sees. */
void cpubind_bell_ring(cpubind_bell *bell);

/* Sleeps until the count differs from *seen, which is set to it. Returns 0 when the work of the
 * crew is over. */
int cpubind_bell_wait(cpubind_bell *bell, uint32_t *seen, const cpubind_crew *crew);

/* The monotonic clock in nanoseconds. */
int64_t cpubind_now_ns(void);

#endif /* CPUBIND_LINUX_CREW_H */
