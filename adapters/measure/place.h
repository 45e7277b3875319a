/* place.h - workers on one side of a measurement or the other, and back as they were found
 * SPDX-License-Identifier: MIT
 *
 * Each worker is bound by ../linux/bind, on its record: after kill -9 `cpubind restore` puts
 * all back. The locks of all workers are held from open to close, so that no other cpubind
 * works on one of them meanwhile.
 */
#ifndef CPUBIND_MEASURE_PLACE_H
#define CPUBIND_MEASURE_PLACE_H

#include "../linux/bind/bind.h"

/* A worker. */
typedef struct cpubind_placed {
    /* in */
    int32_t pid;
    const cpubind_goal *goal[2]; /* by side; NULL: as it was before it was bound */
    const cpubind_goal *found; /* that it is bound to as it was found; NULL: it is not bound */
    /* out */
    cpubind_binding *binding;
    int is_gone;   /* it has ended */
    uint64_t seen; /* of the CPUs of its first thread after it was placed */
} cpubind_placed;

/* Which worker a call failed for. */
typedef struct cpubind_place_fault {
    cpubind_linux_fault fault;
    int32_t at; /* its place in the list; -1: none */
} cpubind_place_fault;

/* Opens the bindings of all, or of none.
 *   in      how: pid and the paths are chosen here
 *   errors  as cpubind_bind_open. A worker that has ended is_gone, and no error */
cpubind_linux_status cpubind_place_open(cpubind_placed *worker, int32_t n,
                                        const cpubind_bind_options *how, const cpubind_sys *sys,
                                        cpubind_place_fault *why);

/* Puts all on a side.
 *   errors  as cpubind_bind_apply and cpubind_bind_restore: the first one ends the call */
cpubind_linux_status cpubind_place_all(cpubind_placed *worker, int32_t n, int32_t side,
                                       cpubind_place_fault *why);

/* Whether something else has changed the CPUs of a worker since it was placed. */
int cpubind_place_is_disturbed(cpubind_placed *worker, int32_t n);

/* Puts all back as they were found; a failure stops no other worker. What those that have ended
 * used on the host is put back, too.
 *   errors  the first one */
cpubind_linux_status cpubind_place_back(cpubind_placed *worker, int32_t n,
                                        cpubind_place_fault *why);

/* Releases the locks. */
void cpubind_place_close(cpubind_placed *worker, int32_t n);

#endif /* CPUBIND_MEASURE_PLACE_H */
