/* plan_parts.h - private to this folder: the state of one planning, and its steps
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. Included by ascend_plan.c and plan_*.c alone.
 */
#ifndef CPUBIND_ASCEND_PLAN_PARTS_H
#define CPUBIND_ASCEND_PLAN_PARTS_H

#include "ascend_plan.h"
#include "facts_reader.h"

/* The state of one planning. */
typedef struct planner {
    const cpubind_facts *facts;
    const cpubind_request *request;
    cpubind_arena *arena;
    cpubind_ascend_plan *out;
    cpubind_problem *problem;
    const cpubind_product *product;
    cpubind_scope scope;
    cpubind_host host;
    cpubind_devices devices;
    cpubind_policy policy;
    int is_ordered;        /* the candidates are in the order of their PCI addresses */
    int32_t *ours, n_ours; /* indices into facts->npu that the plan is for, ascending */
    int32_t rank_npu;      /* the one that this process drives */
} planner;

/* == The steps ============================================================== */

/* plan_candidates.c: the NPUs that the plan is for; the NPU of the rank; the devices of the
 * core; the lists of CPUs near them; the slot of each, for slices. */
cpubind_problem_code cpubind_priv_choose_ours(planner *p);
cpubind_problem_code cpubind_priv_choose_rank(planner *p);
cpubind_problem_code cpubind_priv_choose_candidates(planner *p);
cpubind_problem_code cpubind_priv_copy_affinity(planner *p);
cpubind_problem_code cpubind_priv_choose_slots(planner *p);

/* == Helpers ================================================================ */

static inline cpubind_problem_code plan_fail(planner *p, cpubind_problem_code code,
                                             const char *what)
{
    p->problem->code = code;
    p->problem->what = what;
    return code;
}

static inline cpubind_problem_code plan_fail_memory(planner *p)
{
    return plan_fail(p, CPUBIND_PROBLEM_NO_MEMORY, "the arena is too small");
}

static inline void plan_warn(planner *p, cpubind_warning warning)
{
    p->out->warnings |= 1u << warning;
}

/* Whether the plan is for an NPU. */
static inline int plan_is_ours(const planner *p, int32_t npu)
{
    for (int32_t i = 0; i < p->n_ours; i++)
        if (p->ours[i] == npu)
            return 1;
    return 0;
}

/* The NPU in view that a candidate is, or NULL. */
static inline const cpubind_npu *plan_npu_of(const planner *p,
                                             const cpubind_candidate *candidate)
{
    return candidate->npu < 0 ? NULL : &p->facts->npu[candidate->npu];
}

#endif /* CPUBIND_ASCEND_PLAN_PARTS_H */
