/* pci_plan.c - the CPUs of each accelerator of any vendor
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The rules are those of the core; this file chooses the devices, the
 * CPUs and the ranks.
 */
#include "pci_plan.h"

#include "plan_parts.h"

/* == The CPUs =============================================================== */

int cpubind_pci_limit(const cpubind_facts *facts, const cpubind_pci_limits *limits,
                      cpubind_arena *arena, cpubind_host *out)
{
    const cpubind_host *host = &facts->host;
    int32_t *cpu = cpubind_arena_ints(arena, host->n_cpu);
    int32_t *node = cpubind_arena_ints(arena, host->n_cpu);
    int32_t *core = cpubind_arena_ints(arena, host->n_cpu);
    int32_t n = 0, allowed_at = 0, exclude_at = 0;
    if (!cpu || !node || !core)
        return 0;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        if (facts_is_in_list(limits->exclude, limits->n_exclude, host->cpu[i], &exclude_at) ||
            (limits->allowed &&
             !facts_is_in_list(limits->allowed, limits->n_allowed, host->cpu[i], &allowed_at)))
            continue;
        cpu[n] = host->cpu[i];
        node[n] = host->node[i];
        core[n++] = host->core ? host->core[i] : host->cpu[i];
    }
    *out = *host;
    out->cpu = cpu;
    out->node = node;
    out->core = core;
    out->n_cpu = n;
    return 1;
}

/* == Devices as those of a plan ============================================= */

typedef struct device_planner {
    const cpubind_pci_asked *asked;
    cpubind_arena *arena;
    cpubind_pci_plan *out;
    int is_blind;        /* this process sees none of the devices */
    cpubind_facts facts; /* with the devices that this process may see as `npu` */
} device_planner;

/* Lists the devices as the plan takes them. Where this process sees none, they are planned for
 * others. */
static int list_devices(device_planner *p)
{
    cpubind_facts *f = &p->facts;
    p->is_blind = !f->has_npus;
    for (int32_t i = 0; i < f->n_device; i++) {
        p->is_blind &= f->device[i].sight == CPUBIND_SIGHT_HIDDEN;
        p->out->n_hidden +=
            f->device[i].sight == CPUBIND_SIGHT_HIDDEN && cpubind_pci_has_share(f, i);
    }
    return cpubind_plan_join(f, p->is_blind, p->arena);
}

/* Makes the facts of the CPUs that count. */
static int take_host(device_planner *p, const cpubind_facts *facts)
{
    cpubind_facts *f = &p->facts;
    cpubind_host host;
    if (!cpubind_pci_limit(facts, &p->asked->limits, p->arena, &host))
        return 0;
    *f = *facts;
    f->cpu = (int32_t *)host.cpu;
    f->node = (int32_t *)host.node;
    f->n_cpu = host.n_cpu;
    cpubind_plan_take_rules(f, p->asked->is_reference ? CPUBIND_RULES_REFERENCE
                                                      : CPUBIND_RULES_NEAR);
    return list_devices(p);
}

/* == Pools ================================================================== */

/* Why a device has no pool, in the codes of the core. */
static void say_why(cpubind_pci_pool *pool, const cpubind_problem *problem)
{
    pool->why = problem->code == CPUBIND_PROBLEM_TOO_FEW_CPUS && problem->need > 0
                    ? CPUBIND_ERR_TOO_FEW
                    : CPUBIND_ERR_EMPTY;
    pool->fault.need = problem->need;
    pool->fault.have = problem->have;
    pool->fault.cpu = pool->fault.device = pool->fault.other = -1;
}

/* The device of facts->device that one of facts->npu is, or is on; -1: the bus lacks it. */
static int32_t device_of(const cpubind_facts *f, int32_t npu)
{
    if (f->npu[npu].device >= 0)
        return f->npu[npu].device;
    for (int32_t i = 0; i < f->n_device; i++)
        if (cpubind_pci_compare(&f->device[i].pci, &f->npu[npu].pci) == 0)
            return i;
    return -1;
}

/* The whole pool of each device that this process may see, from the rows of the plan. */
static void take_rows(device_planner *p, const cpubind_problem *problem)
{
    const cpubind_ascend_plan *plan = &p->out->all;
    for (int32_t i = 0; i < p->facts.n_device; i++) {
        cpubind_pci_pool *pool = &p->out->of_device[i];
        memset(pool, 0, sizeof *pool);
        pool->device = pool->tile = pool->share = pool->memory_node = -1;
        pool->why = CPUBIND_ERR_EMPTY;
        if (problem->code != CPUBIND_PROBLEM_NONE)
            say_why(pool, problem);
    }
    for (int32_t i = 0; i < p->facts.n_npu; i++)
        if (device_of(&p->facts, i) >= 0 && !p->is_blind)
            p->out->of_device[device_of(&p->facts, i)].device = device_of(&p->facts, i);
    for (int32_t k = 0; k < plan->n_candidate && p->facts.n_npu > 0; k++) {
        const int32_t npu = plan->candidate[k].npu;
        if (npu >= 0 && device_of(&p->facts, npu) >= 0)
            p->out->of_device[device_of(&p->facts, npu)].share = k;
    }
    for (int32_t k = 0; k < plan->n_poolless; k++)
        if (device_of(&p->facts, plan->poolless[k].npu) >= 0)
            say_why(&p->out->of_device[device_of(&p->facts, plan->poolless[k].npu)],
                    &plan->poolless[k].problem);
    for (int32_t row = 0; row < plan->n_want; row++) {
        const int32_t device = device_of(&p->facts, plan->want[row]);
        cpubind_pci_pool *pool = &p->out->of_device[device < 0 ? 0 : device];
        if (device < 0)
            continue;
        pool->cpu = plan->core.cpu + plan->core.row[row];
        pool->n_cpu = plan->core.row[row + 1] - plan->core.row[row];
        pool->role_cpu = plan->role_cpu + plan->role_row[row];
        pool->roles = plan->role_span[row];
        pool->memory_node = p->facts.has_nodes ? plan->memory_node[row] : -1;
        pool->why = CPUBIND_OK;
    }
}

/* The pools of the ranks: that of the device, or the part of it that is its tile's. */
static void take_pools(device_planner *p)
{
    for (int32_t i = 0; i < p->out->n_pool; i++) {
        const cpubind_unit *unit = &p->out->all.unit[i];
        cpubind_pci_pool *pool = &p->out->pool[i];
        *pool = p->out->of_device[device_of(&p->facts, unit->npu)];
        pool->tile = unit->tile;
        pool->cpu = unit->cpu;
        pool->n_cpu = unit->n_cpu;
        pool->role_cpu = unit->role_cpu;
        pool->roles = unit->roles;
        if (unit->problem.code != CPUBIND_PROBLEM_NONE)
            say_why(pool, &unit->problem);
    }
}

/* The CPUs that some device has. */
static cpubind_status list_pooled(device_planner *p)
{
    const cpubind_ascend_plan *plan = &p->out->all;
    int32_t *pooled = cpubind_arena_ints(p->arena, plan->host.n_cpu);
    if (!pooled)
        return CPUBIND_ERR_SPACE;
    for (int32_t i = 0; plan->trace.owner && i < plan->host.n_cpu; i++)
        if (plan->trace.owner[i] >= 0)
            pooled[p->out->n_pooled++] = plan->host.cpu[i];
    p->out->pooled = pooled;
    return CPUBIND_OK;
}

/* Whether a problem is that no device has CPUs, which each of them says. */
static int is_without_pools(const cpubind_problem *problem)
{
    return problem->code == CPUBIND_PROBLEM_TOO_FEW_CPUS ||
           problem->code == CPUBIND_PROBLEM_NO_LOCAL_CPUS ||
           problem->code == CPUBIND_PROBLEM_NO_RUNNING_NPU;
}

static cpubind_problem_code plan_all(device_planner *p, cpubind_problem *problem)
{
    const cpubind_pci_asked *asked = p->asked;
    cpubind_request request = {.is_auto_strategy = 1,
                               .overlap = asked->overlap,
                               .scope = p->facts.scope,
                               .rules = p->facts.rules,
                               .has_rules = 1,
                               .exclude = asked->limits.exclude,
                               .n_exclude = asked->limits.n_exclude,
                               .keep_each = asked->keep_each,
                               .keep = asked->n_keep > 0 ? asked->keep : NULL,
                               .n_keep = asked->n_keep,
                               .n_process = asked->n_process,
                               .process = asked->process,
                               .roles = asked->roles};
    const cpubind_problem_code code =
        cpubind_ascend_make_plan(&p->facts, &request, p->arena, &p->out->all, problem);
    if (!is_without_pools(problem) && code != CPUBIND_PROBLEM_NONE)
        return code;
    if (code != CPUBIND_PROBLEM_NONE || p->is_blind)
        p->out->all.n_want = p->out->all.n_poolless = 0;
    if (p->is_blind)
        p->facts.n_npu = 0;
    if (!p->facts.has_npus)
        p->out->all.n_hidden = p->out->n_hidden;
    if (code != CPUBIND_PROBLEM_NONE &&
        !cpubind_plan_units(&p->facts, &request, problem, p->arena, &p->out->all))
        return CPUBIND_PROBLEM_NO_MEMORY;
    return CPUBIND_PROBLEM_NONE;
}

/* Whether a plan of NPUs alone may give CPUs of these devices to NPUs. */
static int has_other_plan(const device_planner *p)
{
    const cpubind_facts *f = &p->facts;
    const cpubind_pci_limits *limits = &p->asked->limits;
    int n_npu = 0, n_other = 0;
    for (int32_t i = 0; i < f->n_device && !f->has_npus; i++)
        if (f->device[i].accelerator.vendor != CPUBIND_VENDOR_ASCEND)
            n_other++;
        else if (cpubind_pci_has_share(f, i) &&
                 !plan_is_parted(limits->exclude, limits->n_exclude, f->device[i].cpu,
                                 f->device[i].n_cpu))
            n_npu++;
    return n_npu > 0 && n_other > 0;
}

cpubind_problem_code cpubind_pci_make_plan(const cpubind_facts *facts,
                                           const cpubind_pci_asked *asked, cpubind_arena *arena,
                                           cpubind_pci_plan *out, cpubind_problem *problem)
{
    device_planner p = {.asked = asked, .arena = arena, .out = out};
    cpubind_problem_code code;
    memset(out, 0, sizeof *out);
    cpubind_problem_clear(problem);
    out->of_device =
        (cpubind_pci_pool *)cpubind_arena_take(arena, facts->n_device, sizeof *out->of_device);
    if (!out->of_device || !take_host(&p, facts))
        return CPUBIND_PROBLEM_NO_MEMORY;
    code = plan_all(&p, problem);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    out->facts = p.facts;
    out->n_pool = out->all.n_unit;
    out->pool = (cpubind_pci_pool *)cpubind_arena_take(arena, out->n_pool, sizeof *out->pool);
    if (!out->pool)
        return CPUBIND_PROBLEM_NO_MEMORY;
    if (has_other_plan(&p))
        out->all.warnings |= 1u << CPUBIND_WARNING_OTHER_ACCELERATORS;
    take_rows(&p, problem);
    take_pools(&p);
    return list_pooled(&p) == CPUBIND_OK ? CPUBIND_PROBLEM_NONE : CPUBIND_PROBLEM_NO_MEMORY;
}
