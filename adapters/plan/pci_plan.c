/* pci_plan.c - the CPUs of each accelerator of any vendor
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The rules are those of the core; this file chooses the devices, the
 * CPUs and the ranks.
 */
#include "pci_plan.h"

#include "plan_parts.h"

/* == Ranks ================================================================== */

/* Whether one runtime numbers all devices that this process sees. */
static int has_numbers(const cpubind_facts *f)
{
    cpubind_vendor_id family = CPUBIND_VENDOR_OTHER;
    for (int32_t i = 0; i < f->n_device; i++) {
        const cpubind_pci_function *device = &f->device[i];
        if (device->sight == CPUBIND_SIGHT_HIDDEN)
            continue;
        if (device->n_number == 0 ||
            (family != CPUBIND_VENDOR_OTHER && family != device->accelerator.vendor))
            return 0;
        family = device->accelerator.vendor;
    }
    return family != CPUBIND_VENDOR_OTHER;
}

/* The device with the smallest number from `least` on, which becomes *number, and its tile; the
 * device -1: none. */
static cpubind_pci_rank next_by_number(const cpubind_facts *f, int32_t least, int32_t *number)
{
    cpubind_pci_rank best = {-1, -1};
    for (int32_t i = 0; i < f->n_device; i++)
        for (int32_t k = 0; k < f->device[i].n_number; k++)
            if (f->device[i].number[k] >= least &&
                (best.device < 0 || f->device[i].number[k] < *number)) {
                best.device = i;
                best.tile = f->device[i].accelerator.n_tile > 1 ? f->device[i].tile[k] : -1;
                *number = f->device[i].number[k];
            }
    return best;
}

int32_t cpubind_pci_ranks(const cpubind_facts *f, cpubind_pci_rank *out)
{
    int32_t n = 0, number = -1;
    if (!has_numbers(f)) {
        for (int32_t i = 0; i < f->n_device; i++)
            if (f->device[i].sight != CPUBIND_SIGHT_HIDDEN)
                out[n++] = (cpubind_pci_rank){i, -1};
        return n;
    }
    for (;;) {
        const int32_t least = number + 1;
        const cpubind_pci_rank next = next_by_number(f, least, &number);
        if (next.device < 0 || (number > least && !f->is_part))
            return n;
        out[n++] = next;
    }
}

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

int cpubind_pci_has_share(const cpubind_facts *f, int32_t device)
{
    const cpubind_pci_function *function = &f->device[device];
    for (int32_t k = 0; k < f->n_device; k++)
        if (function->is_virtual && function->sight == CPUBIND_SIGHT_HIDDEN &&
            !f->device[k].is_virtual &&
            f->device[k].accelerator.vendor == function->accelerator.vendor)
            return 0;
    return 1;
}

/* == Devices as those of a plan ============================================= */

typedef struct device_planner {
    const cpubind_pci_asked *asked;
    cpubind_arena *arena;
    cpubind_pci_plan *out;
    cpubind_pci_rank *rank;
    int is_blind;        /* this process sees none of the devices */
    cpubind_facts facts; /* with the devices that this process may see as `npu` */
} device_planner;

/* Adds a device that this process may see. */
static void add_seen(cpubind_facts *f, int32_t device, int32_t logic)
{
    const cpubind_pci_function *d = &f->device[device];
    f->npu[f->n_npu++] = (cpubind_npu){.logic = logic,
                                       .card = -1,
                                       .chip = -1,
                                       .phy = -1,
                                       .affinity_first = f->devices.affinity.row[device],
                                       .affinity_count = d->n_cpu,
                                       .pci = d->pci,
                                       .function = device,
                                       .is_visible = 1};
    f->function[device].n_in_view = 1;
}

/* Lists the devices as the plan takes them: each is a function of the bus, and those that this
 * process may see are in the order of their ranks, the logic id of each being its first rank.
 * Where it sees none, they are planned for others. */
static int list_devices(device_planner *p)
{
    cpubind_facts *f = &p->facts;
    f->npu = (cpubind_npu *)cpubind_arena_take(p->arena, f->n_device, sizeof *f->npu);
    f->function =
        (cpubind_function *)cpubind_arena_take(p->arena, f->n_device, sizeof *f->function);
    if (!f->npu || !f->function)
        return 0;
    f->affinity = (int32_t *)f->devices.affinity.cpu;
    f->n_npu = 0;
    f->n_function = f->n_census = f->n_device;
    for (int32_t i = 0; i < f->n_device; i++) {
        const cpubind_pci_function *d = &f->device[i];
        f->function[i] = (cpubind_function){.pci = d->pci,
                                            .device = d->ids.device,
                                            .node = d->node,
                                            .cpu = d->cpu,
                                            .n_cpu = d->n_cpu,
                                            .is_near_known = d->n_cpu > 0,
                                            .n_npu = cpubind_pci_has_share(f, i),
                                            .phy = {-1, -1}};
        p->out->n_hidden += d->sight == CPUBIND_SIGHT_HIDDEN && f->function[i].n_npu;
    }
    for (int32_t k = 0; k < p->out->n_pool; k++)
        if (f->function[p->rank[k].device].n_npu && !f->function[p->rank[k].device].n_in_view)
            add_seen(f, p->rank[k].device, k);
    for (int32_t i = 0; i < f->n_device; i++)
        if (f->device[i].sight != CPUBIND_SIGHT_HIDDEN && f->function[i].n_npu &&
            !f->function[i].n_in_view)
            add_seen(f, i, p->out->n_pool + i);
    p->is_blind = f->n_npu == 0;
    for (int32_t i = 0; p->is_blind && i < f->n_device; i++)
        if (f->function[i].n_npu)
            add_seen(f, i, i);
    return 1;
}

/* The allowed CPUs of each device, by logic id. Returns 0 when the arena is full. */
static int list_allowed(device_planner *p, cpubind_request *request)
{
    const cpubind_facts *f = &p->facts;
    cpubind_npu_allowed *row;
    if (!p->asked->npu_allowed)
        return 1;
    row = (cpubind_npu_allowed *)cpubind_arena_take(p->arena, f->n_npu + 1, sizeof *row);
    request->npu_allowed = row;
    for (int32_t i = 0; row && i < f->n_npu; i++)
        for (int32_t k = 0; k < p->asked->n_npu_allowed; k++)
            if (p->asked->npu_allowed[k].logic == f->npu[i].function) {
                row[request->n_npu_allowed] = p->asked->npu_allowed[k];
                row[request->n_npu_allowed++].logic = f->npu[i].logic;
            }
    return row != NULL;
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
    f->rules = p->asked->is_reference ? CPUBIND_RULES_REFERENCE : CPUBIND_RULES_NEAR;
    f->strategy = p->asked->is_reference ? CPUBIND_TOPO_AFFINITY : CPUBIND_NEAR;
    f->has_affinity = 1;
    if (p->asked->npu_allowed)
        f->scope = CPUBIND_SCOPE_PER_NPU;
    return list_devices(p);
}

/* == Pools ================================================================== */

cpubind_status cpubind_pci_place_process(const cpubind_pci_plan *plan,
                                         const cpubind_pci_pool *pool, int32_t n_process,
                                         int32_t process, cpubind_arena *arena,
                                         cpubind_pci_pool *out, cpubind_fault *fault)
{
    cpubind_placing placing = {.cpu = pool->cpu,
                               .n_cpu = pool->n_cpu,
                               .device = pool->share,
                               .n_process = n_process,
                               .process = process};
    cpubind_status status;
    int32_t *cpu;
    placing.is_near = plan->all.rules == CPUBIND_RULES_NEAR;
    placing.is_checked = 1;
    placing.roles = plan->all.roles;
    placing.cap_work = CPUBIND_PLACE_WORK(pool->n_cpu);
    placing.work = cpubind_arena_ints(arena, placing.cap_work);
    placing.out_cpu = cpubind_arena_ints(arena, pool->n_cpu);
    if (!placing.work || !placing.out_cpu)
        return CPUBIND_ERR_SPACE;
    *out = *pool;
    status = cpubind_place_roles(&plan->all.host, &plan->all.devices, &placing, fault);
    out->role_cpu = placing.out_cpu;
    out->roles = placing.out_roles;
    if (status != CPUBIND_OK || n_process < 2)
        return status;
    cpu = cpubind_arena_ints(arena, placing.n_out);
    if (!cpu)
        return CPUBIND_ERR_SPACE;
    memcpy(cpu, placing.out_cpu, (size_t)placing.n_out * sizeof *cpu);
    out->cpu = cpu;
    out->n_cpu = placing.n_out;
    return cpubind_sort_unique(cpu, &out->n_cpu, NULL);
}

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

/* The whole pool of each device that this process may see, from the rows of the plan. */
static void take_rows(device_planner *p, const cpubind_problem *problem)
{
    const cpubind_ascend_plan *plan = &p->out->all;
    for (int32_t i = 0; i < p->facts.n_device; i++) {
        cpubind_pci_pool *pool = &p->out->of_device[i];
        memset(pool, 0, sizeof *pool);
        pool->device = p->facts.function[i].n_in_view && !p->is_blind ? i : -1;
        pool->tile = pool->share = pool->memory_node = -1;
        pool->why = CPUBIND_ERR_EMPTY;
        if (problem->code != CPUBIND_PROBLEM_NONE)
            say_why(pool, problem);
        for (int32_t k = 0; k < plan->n_candidate; k++)
            if (plan->candidate[k].function == i)
                pool->share = k;
    }
    for (int32_t k = 0; k < plan->n_poolless; k++)
        say_why(&p->out->of_device[p->facts.npu[plan->poolless[k].npu].function],
                &plan->poolless[k].problem);
    for (int32_t row = 0; row < plan->n_want; row++) {
        cpubind_pci_pool *pool = &p->out->of_device[p->facts.npu[plan->want[row]].function];
        pool->cpu = plan->core.cpu + plan->core.row[row];
        pool->n_cpu = plan->core.row[row + 1] - plan->core.row[row];
        pool->role_cpu = plan->role_cpu + plan->role_row[row];
        pool->roles = plan->role_span[row];
        pool->memory_node = p->facts.has_nodes ? plan->memory_node[row] : -1;
        pool->why = CPUBIND_OK;
    }
}

/* The pools of the ranks: that of the device, or the part of it that is its tile's. */
static cpubind_status take_pools(device_planner *p)
{
    for (int32_t i = 0; i < p->out->n_pool; i++) {
        const cpubind_pci_pool *whole = &p->out->of_device[p->rank[i].device];
        cpubind_pci_pool *pool = &p->out->pool[i];
        *pool = *whole;
        if (p->rank[i].tile < 0 || whole->n_cpu == 0)
            continue;
        pool->why = cpubind_pci_place_process(
            p->out, whole, p->facts.device[p->rank[i].device].accelerator.n_tile,
            p->rank[i].tile, p->arena, pool, &pool->fault);
        if (pool->why == CPUBIND_ERR_SPACE)
            return CPUBIND_ERR_SPACE;
        if (pool->why != CPUBIND_OK)
            pool->n_cpu = 0;
        pool->tile = p->rank[i].tile;
    }
    return CPUBIND_OK;
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
                               .roles = &asked->roles};
    cpubind_problem_code code;
    if (!list_allowed(p, &request))
        return CPUBIND_PROBLEM_NO_MEMORY;
    code = cpubind_ascend_make_plan(&p->facts, &request, p->arena, &p->out->all, problem);
    if (!is_without_pools(problem) && code != CPUBIND_PROBLEM_NONE)
        return code;
    if (code != CPUBIND_PROBLEM_NONE || p->is_blind)
        p->out->all.n_want = p->out->all.n_poolless = 0;
    if (p->is_blind)
        p->facts.n_npu = 0;
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_pci_make_plan(const cpubind_facts *facts,
                                           const cpubind_pci_asked *asked, cpubind_arena *arena,
                                           cpubind_pci_plan *out, cpubind_problem *problem)
{
    device_planner p = {.asked = asked, .arena = arena, .out = out};
    cpubind_problem_code code;
    memset(out, 0, sizeof *out);
    cpubind_problem_clear(problem);
    p.rank = (cpubind_pci_rank *)cpubind_arena_take(
        arena, facts->n_device * CPUBIND_PCI_NUMBERS, sizeof *p.rank);
    out->of_device =
        (cpubind_pci_pool *)cpubind_arena_take(arena, facts->n_device, sizeof *out->of_device);
    if (!p.rank || !out->of_device)
        return CPUBIND_PROBLEM_NO_MEMORY;
    out->n_pool = cpubind_pci_ranks(facts, p.rank);
    out->pool = (cpubind_pci_pool *)cpubind_arena_take(arena, out->n_pool, sizeof *out->pool);
    if (!out->pool || !take_host(&p, facts))
        return CPUBIND_PROBLEM_NO_MEMORY;
    code = plan_all(&p, problem);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    out->facts = p.facts;
    take_rows(&p, problem);
    return take_pools(&p) == CPUBIND_OK && list_pooled(&p) == CPUBIND_OK
               ? CPUBIND_PROBLEM_NONE
               : CPUBIND_PROBLEM_NO_MEMORY;
}
