/* ascend_plan.h - from the facts of an Ascend host to its plan
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. Chooses the strategy, the roles and the numbers that slices are cut by;
 * the core does the rest.
 */
#ifndef CPUBIND_ASCEND_ASCEND_PLAN_H
#define CPUBIND_ASCEND_ASCEND_PLAN_H

#include "facts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The plan of our NPUs: those that run and are visible. */
typedef struct cpubind_ascend_plan {
    cpubind_plan core;       /* row i belongs to facts->npu[want[i]] */
    cpubind_role_spec roles; /* split each row by it */
    int32_t *want, n_want;   /* indices into facts->npu, ascending */
    int32_t rank_row;        /* the row of the NPU that request->rank drives */
    int32_t total;           /* NPUs that slices were cut for, else logical NPUs */
    int32_t *spare, n_spare; /* 950: CPUs of node 0 for the host's UVB threads, ascending */
    uint32_t warnings;       /* bits 1 << cpubind_warning; those of the facts as well */
} cpubind_ascend_plan;

/* The plan for a request.
 *   in      facts of cpubind_facts_read for the same request
 *   out     *out, in the arena
 *   errors  a code of CPUBIND_PROBLEM_LIST, and *problem */
cpubind_problem_code cpubind_ascend_make_plan(const cpubind_facts *facts,
                                              const cpubind_request *request,
                                              cpubind_arena *arena, cpubind_ascend_plan *out,
                                              cpubind_problem *problem);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_ASCEND_PLAN_H */
