/* plan_parts.h - private to this folder: the state of one planning, and its steps
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. Included by the files of this folder alone.
 */
#ifndef CPUBIND_PLAN_PLAN_PARTS_H
#define CPUBIND_PLAN_PLAN_PARTS_H

#include "../model/facts_reader.h"
#include "cpu_workers.h"
#include "plan.h"

/* The state of one planning. */
typedef struct planner {
    const cpubind_facts *facts;
    const cpubind_request *request;
    cpubind_arena *arena;
    cpubind_device_plan *out;
    cpubind_problem *problem;
    const cpubind_product *product;
    cpubind_scope scope;
    cpubind_policy policy;
    cpubind_strategy strategy;
    cpubind_role_spec least;  /* the roles of all processes of an NPU ... */
    int32_t other_least;      /* ... and the CPUs that those of another device need */
    int is_blind;             /* pools are cut without near CPUs */
    int is_agreed;            /* no process disputes CPUs: all have this plan */
    int is_ordered;           /* the candidates are in the order of their PCI addresses */
    int32_t *pool, *pool_row; /* by candidate: its pool, where it is ours */
    cpubind_workers workers;  /* who drive no device */
    uint8_t *is_worker;       /* by CPU id: it is of one of them; NULL: there are none */
    int32_t *ours, n_ours;    /* indices into facts->device that the plan is for, ascending */
    int32_t rank_device;      /* the one that this process drives */
} planner;

/* == The steps ============================================================== */

/* plan_host.c: the kept CPUs; the host for the core, without these and those of CPU workers. */
cpubind_problem_code cpubind_priv_list_kept(planner *p);
cpubind_problem_code cpubind_priv_choose_host(planner *p);

/* plan_host.c: the host of the core that a topology is; the CPUs of a core are on one node.
 * Returns 0 when the arena is full. */
int cpubind_priv_make_host(const cpubind_topology *topology, cpubind_arena *arena,
                           cpubind_host *out);

/* plan_claims.c: asks the core: owners, steps and stands of the CPUs, and p->pool. */
cpubind_problem_code cpubind_priv_cut_pools(planner *p);

/* plan_claims.c: the CPUs of the home of a candidate that pools are cut from; *node: theirs,
 * or -1: several. */
int32_t cpubind_priv_count_home(const planner *p, int32_t candidate, int32_t *node);

/* plan_beside.c: gives the CPU workers whole cores, before pools are cut. */
cpubind_problem_code cpubind_priv_place_workers(planner *p);

/* Lists the other processes beside the devices, who claim CPUs after the slots ... */
cpubind_problem_code cpubind_priv_list_beside(planner *p);
cpubind_problem_code cpubind_priv_claim_beside(planner *p);

/* ... and takes what the core has given them, when engine cores have faster ones of it. */
void cpubind_priv_trade_cores(const planner *p, int32_t *owner);
cpubind_problem_code cpubind_priv_take_beside(planner *p, const int32_t *owner);

/* plan_candidates.c: the devices that the plan is for; the device of the rank; the devices of
 * the core; the CPUs near them; the slot of each, for slices. */
cpubind_problem_code cpubind_priv_choose_ours(planner *p);
cpubind_problem_code cpubind_priv_choose_rank(planner *p);
cpubind_problem_code cpubind_priv_choose_candidates(planner *p);
cpubind_problem_code cpubind_priv_find_homes(planner *p);
cpubind_problem_code cpubind_priv_choose_slots(planner *p);

/* plan_roles.c: the roles and the memory node of each row; the quality of the pools. */
cpubind_problem_code cpubind_priv_place_rows(planner *p);
cpubind_problem_code cpubind_priv_measure_pools(planner *p);

/* plan_others.c: the warning that the host has accelerators of other vendors, and which CPUs
 * part them from the NPUs. */
cpubind_problem_code cpubind_priv_find_others(planner *p);

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
    p->out->warnings |= CPUBIND_WARNING_BIT(warning);
}

/* The CPUs that the roles need together. */
static inline int32_t plan_count_roles(const cpubind_role_spec *roles)
{
    int32_t n = 0;
    for (int role = 0; role < CPUBIND_ALL_ROLES; role++)
        n += roles->count[role];
    return n;
}

/* Whether a device of the core is no NPU that the Ascend row has found. */
static inline int plan_is_other(const planner *p, int32_t candidate)
{
    const int32_t function = p->out->candidate[candidate].function;
    return function >= 0 && p->facts->bus[function].is_other;
}

/* The CPUs that a candidate needs. */
static inline int32_t plan_least(const planner *p, int32_t candidate)
{
    return plan_is_other(p, candidate) ? p->other_least : plan_count_roles(&p->least);
}

/* Whether --exclude parts a device from those of another plan: it has a CPU near the device,
 * or, where none is known, any CPU. */
static inline int plan_is_parted(const int32_t *exclude, int32_t n_exclude, const int32_t *cpu,
                                 int32_t n)
{
    int32_t at = 0;
    for (int32_t i = 0; i < n; i++)
        if (cpubind_list_has(exclude, n_exclude, cpu[i], &at))
            return 1;
    return n == 0 && n_exclude > 0;
}

static inline int plan_is_same_list(const cpubind_list *a, const cpubind_list *b)
{
    return a->n == b->n &&
           (a->n == 0 || memcmp(a->cpu, b->cpu, (size_t)a->n * sizeof *a->cpu) == 0);
}

/* Whether the plan is for a device. */
static inline int plan_is_ours(const planner *p, int32_t viewed)
{
    for (int32_t i = 0; i < p->n_ours; i++)
        if (p->ours[i] == viewed)
            return 1;
    return 0;
}

/* The device in view that a candidate is, or NULL. */
static inline const cpubind_host_device *plan_device_of(const planner *p,
                                                        const cpubind_candidate *candidate)
{
    return candidate->device < 0 ? NULL : p->facts->device[candidate->device];
}

/* The logic id of a candidate; -1: none, or hidden. */
static inline int32_t plan_logic_of(const planner *p, int32_t candidate)
{
    const cpubind_host_device *viewed =
        candidate < 0 ? NULL : plan_device_of(p, &p->out->candidate[candidate]);
    return viewed ? viewed->logic : -1;
}

/* Whether a part of a card has a PCI function of its own. */
static inline int plan_has_function(const planner *p, const cpubind_host_device *viewed)
{
    return viewed->function >= 0 && viewed->pci.domain >= 0 &&
           cpubind_pci_compare(&viewed->pci, &p->facts->bus[viewed->function].pci) != 0;
}

#endif /* CPUBIND_PLAN_PLAN_PARTS_H */
