/* pci_plan.c - the CPUs of each accelerator of any vendor
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The rules are those of the core; this file chooses the devices, the
 * CPUs and the ranks.
 */
#include "pci_plan.h"

#include <string.h>

/* == Ranks ================================================================== */

/* Whether one runtime numbers all devices that this process sees. */
static int has_numbers(const cpubind_facts *f)
{
    cpubind_family family = CPUBIND_FAMILY_OTHER;
    for (int32_t i = 0; i < f->n_device; i++) {
        const cpubind_pci_function *device = &f->device[i];
        if (device->sight == CPUBIND_SIGHT_HIDDEN)
            continue;
        if (device->n_number == 0 ||
            (family != CPUBIND_FAMILY_OTHER && family != device->accelerator.family))
            return 0;
        family = device->accelerator.family;
    }
    return family != CPUBIND_FAMILY_OTHER;
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

/* == Cutting the pools ====================================================== */

typedef struct planner {
    const cpubind_facts *facts;
    const cpubind_pci_asked *asked;
    cpubind_arena *arena;
    cpubind_pci_plan *out;
    cpubind_plan core;
    cpubind_trace trace;
    cpubind_devices devices; /* those of the facts that have a share */
    int32_t *index;          /* of each of them in facts->device */
    int32_t *want;           /* those of them that get a row, ascending */
    cpubind_status *why;     /* of each of them: why it has no row */
    cpubind_fault *fault;    /* of `why` */
} planner;

static int is_in(const int32_t *list, int32_t n, int32_t value, int32_t *at)
{
    while (*at < n && list[*at] < value)
        ++*at;
    return *at < n && list[*at] == value;
}

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
        if (is_in(limits->exclude, limits->n_exclude, host->cpu[i], &exclude_at) ||
            (limits->allowed &&
             !is_in(limits->allowed, limits->n_allowed, host->cpu[i], &allowed_at)))
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
            f->device[k].accelerator.family == function->accelerator.family)
            return 0;
    return 1;
}

/* Marks the CPUs of the host that are kept. */
static void mark_kept(const planner *p, int32_t *is_kept, int32_t *n_kept)
{
    const cpubind_host *host = &p->out->host;
    int32_t at = 0, node = 0;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        const int is_listed = is_in(p->asked->keep, p->asked->n_keep, host->cpu[i], &at);
        for (node = 0; node < host->n_node - 1 && host->node_id[node] != host->node[i];)
            node++;
        if (is_kept[i] || (n_kept[node] >= p->asked->keep_each && !is_listed))
            continue;
        for (int32_t k = 0; k < host->n_cpu; k++)
            if (host->core[k] == host->core[i] && !is_kept[k]) {
                is_kept[k] = 1;
                n_kept[node]++;
            }
    }
}

/* Takes the CPUs that are kept for the host out of it. Returns 0 when the arena is full. */
static int keep_for_host(planner *p)
{
    cpubind_host *host = &p->out->host;
    int32_t *is_kept, *n_kept, *kept, *cpu, *node, *core, n = 0;
    if (p->asked->keep_each == 0 && p->asked->n_keep == 0)
        return 1;
    is_kept = cpubind_arena_ints(p->arena, host->n_cpu);
    n_kept = cpubind_arena_ints(p->arena, host->n_node);
    kept = cpubind_arena_ints(p->arena, host->n_cpu);
    cpu = cpubind_arena_ints(p->arena, host->n_cpu);
    node = cpubind_arena_ints(p->arena, host->n_cpu);
    core = cpubind_arena_ints(p->arena, host->n_cpu);
    if (!is_kept || !n_kept || !kept || !cpu || !node || !core)
        return 0;
    memset(is_kept, 0, (size_t)host->n_cpu * sizeof *is_kept);
    memset(n_kept, 0, (size_t)host->n_node * sizeof *n_kept);
    mark_kept(p, is_kept, n_kept);
    for (int32_t i = 0; i < host->n_cpu; i++) {
        if (is_kept[i]) {
            kept[p->out->n_kept++] = host->cpu[i];
            continue;
        }
        cpu[n] = host->cpu[i];
        node[n] = host->node[i];
        core[n++] = host->core[i];
    }
    p->out->kept = kept;
    host->cpu = cpu;
    host->node = node;
    host->core = core;
    host->n_cpu = n;
    return 1;
}

/* Copies the CPUs that the processes of each device with a share may have. */
static cpubind_status copy_own(planner *p, int32_t n)
{
    const cpubind_lists *own = p->asked->own;
    int32_t *cpu, *row;
    if (!own)
        return CPUBIND_OK;
    cpu = cpubind_arena_ints(p->arena, own->row[own->n]);
    row = cpubind_arena_ints(p->arena, n + 1);
    if (!cpu || !row)
        return CPUBIND_ERR_SPACE;
    row[0] = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t from = own->row[p->index[i]];
        const int32_t n_own = own->row[p->index[i] + 1] - from;
        if (n_own > 0)
            memcpy(cpu + row[i], own->cpu + from, (size_t)n_own * sizeof *cpu);
        row[i + 1] = row[i] + n_own;
    }
    p->devices.allowed = (cpubind_lists){cpu, row, n};
    return CPUBIND_OK;
}

static cpubind_status choose_devices(planner *p)
{
    const cpubind_devices *all = &p->facts->devices;
    const cpubind_lists *near = &all->affinity;
    int32_t *cpu = cpubind_arena_ints(p->arena, near->row[near->n]);
    int32_t *row = cpubind_arena_ints(p->arena, near->n + 1);
    int32_t *node = cpubind_arena_ints(p->arena, near->n);
    int32_t n = 0;
    p->index = cpubind_arena_ints(p->arena, near->n);
    if (!cpu || !row || !node || !p->index)
        return CPUBIND_ERR_SPACE;
    row[0] = 0;
    for (int32_t i = 0; i < near->n; i++) {
        const int32_t n_near = near->row[i + 1] - near->row[i];
        if (!cpubind_pci_has_share(p->facts, i))
            continue;
        if (n_near > 0)
            memcpy(cpu + row[n], near->cpu + near->row[i], (size_t)n_near * sizeof *cpu);
        node[n] = all->node ? all->node[i] : -1;
        p->index[n] = i;
        row[n + 1] = row[n] + n_near;
        n++;
        p->out->n_hidden += p->facts->device[i].sight == CPUBIND_SIGHT_HIDDEN;
    }
    p->devices = *all;
    p->devices.affinity = (cpubind_lists){cpu, row, n};
    p->devices.node = node;
    return copy_own(p, n);
}

static cpubind_status take_buffers(planner *p)
{
    const cpubind_host *host = &p->out->host;
    const cpubind_lists *near = &p->devices.affinity;
    cpubind_plan *core = &p->core;
    const cpubind_lists *own = &p->devices.allowed;
    const int32_t n_own = own->n > 0 ? own->row[own->n] : 0;
    const int32_t n_affinity = near->row[near->n];
    const int32_t n_claim = n_affinity + n_own;
    const int32_t times = p->asked->overlap == CPUBIND_OVERLAP_KEEP ? near->n : 1;
    core->cap_cpu = CPUBIND_PLAN_CPUS_KEEP(host->n_cpu, times);
    core->cap_work = p->out->strategy == CPUBIND_NEAR
                         ? CPUBIND_PLAN_WORK_NEAR(host->n_cpu, host->n_node, near->n, n_claim)
                         : CPUBIND_PLAN_WORK(host->n_cpu, host->n_node, near->n, n_claim);
    if (own->n > 0)
        core->cap_work =
            CPUBIND_PLAN_WORK_ALLOWED(core->cap_work, host->n_cpu, near->n, n_affinity, n_own);
    core->cpu = cpubind_arena_ints(p->arena, core->cap_cpu);
    core->row = cpubind_arena_ints(p->arena, near->n + 1);
    core->work = cpubind_arena_ints(p->arena, core->cap_work);
    p->want = cpubind_arena_ints(p->arena, near->n);
    p->why = (cpubind_status *)cpubind_arena_take(p->arena, near->n, sizeof *p->why);
    p->fault = (cpubind_fault *)cpubind_arena_take(p->arena, near->n, sizeof *p->fault);
    if (!core->cpu || !core->row || !core->work || !p->want || !p->why || !p->fault)
        return CPUBIND_ERR_SPACE;
    for (int32_t i = 0; i < near->n; i++)
        p->why[i] = CPUBIND_OK;
    return CPUBIND_OK;
}

/* Takes room for the trace of the core. */
static cpubind_status take_trace(planner *p)
{
    const cpubind_host *host = &p->out->host;
    const cpubind_lists *near = &p->devices.affinity, *own = &p->devices.allowed;
    const int32_t n_own = own->n > 0 ? own->row[own->n] : 0;
    cpubind_trace *trace = &p->trace;
    trace->cap_row = CPUBIND_TRACE_ROWS(host->n_cpu, host->n_node, near->n);
    trace->cap_device =
        CPUBIND_TRACE_DEVICES(host->n_node, near->n, near->row[near->n] + n_own);
    trace->owner = cpubind_arena_ints(p->arena, host->n_cpu);
    trace->step = cpubind_arena_ints(p->arena, host->n_cpu);
    trace->group = cpubind_arena_ints(p->arena, host->n_cpu);
    trace->row = cpubind_arena_ints(p->arena, trace->cap_row);
    trace->device = cpubind_arena_ints(p->arena, trace->cap_device);
    if (!trace->owner || !trace->step || !trace->group || !trace->row || !trace->device)
        return CPUBIND_ERR_SPACE;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        trace->owner[i] = trace->group[i] = -1;
        trace->step[i] = CPUBIND_STEP_IDLE;
    }
    p->core.trace = trace;
    return CPUBIND_OK;
}

/* Cuts the pools of all devices that can have one: a device that the core refuses alone is left
 * out, and the core asked again. */
static cpubind_status cut(planner *p, cpubind_fault *fault)
{
    cpubind_policy policy = {.strategy = p->out->strategy, .overlap = p->asked->overlap};
    cpubind_status status;
    policy.roles = p->asked->roles;
    do {
        p->core.n_want = 0;
        for (int32_t i = 0; i < p->devices.affinity.n; i++)
            if (p->why[i] == CPUBIND_OK)
                p->want[p->core.n_want++] = i;
        if (p->core.n_want == 0)
            return CPUBIND_OK;
        p->core.want = p->want;
        status = cpubind_make_plan(&p->out->host, &p->devices, &policy, &p->core, fault);
        if ((status != CPUBIND_ERR_EMPTY && status != CPUBIND_ERR_TOO_FEW) || fault->device < 0)
            break;
        p->why[fault->device] = status;
        p->fault[fault->device] = *fault;
    } while (1);
    p->out->overlap = p->core.overlap;
    p->out->shared = p->core.shared;
    p->out->pooled = p->core.cpu;
    p->out->n_pooled = status == CPUBIND_OK ? p->core.row[p->core.n_want] : 0;
    p->out->strategy = p->core.strategy;
    return status;
}

/* == Pools ================================================================== */

/* The node of most CPUs of a pool that are near the device; without one, of most CPUs. */
static int32_t memory_node_of(const planner *p, const cpubind_pci_pool *pool)
{
    const cpubind_pci_function *device = &p->facts->device[pool->device];
    int32_t best = -1, best_n = 0;
    for (int32_t k = 0; k < p->facts->host.n_node; k++) {
        const int32_t node = p->facts->host.node_id[k];
        int32_t n = 0, at = 0;
        for (int32_t i = 0; i < pool->n_cpu; i++)
            if (p->facts->node_of[pool->cpu[i]] == node)
                n +=
                    is_in(device->cpu, device->n_cpu, pool->cpu[i], &at) ? CPUBIND_MAX_CPUS : 1;
        if (n > best_n) {
            best = node;
            best_n = n;
        }
    }
    return p->facts->has_nodes ? best : -1;
}

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
    placing.is_near = plan->strategy == CPUBIND_NEAR;
    placing.is_checked = 1;
    placing.roles = plan->asked;
    placing.cap_work = CPUBIND_PLACE_WORK(pool->n_cpu);
    placing.work = cpubind_arena_ints(arena, placing.cap_work);
    placing.out_cpu = cpubind_arena_ints(arena, pool->n_cpu);
    if (!placing.work || !placing.out_cpu)
        return CPUBIND_ERR_SPACE;
    *out = *pool;
    status = cpubind_place_roles(&plan->host, &plan->devices, &placing, fault);
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

/* The pool of a device, from the rows of the core. */
static cpubind_status take_pool(planner *p, int32_t device, cpubind_pci_pool *pool,
                                cpubind_fault *fault)
{
    cpubind_status status;
    int32_t k = 0;
    while (k < p->devices.affinity.n && p->index[k] != device)
        k++;
    memset(pool, 0, sizeof *pool);
    pool->device = device;
    pool->tile = -1;
    pool->share = k < p->devices.affinity.n ? k : -1;
    pool->memory_node = -1;
    pool->why = k < p->devices.affinity.n ? p->why[k] : CPUBIND_ERR_EMPTY;
    if (pool->why != CPUBIND_OK) {
        if (k < p->devices.affinity.n)
            pool->fault = p->fault[k];
        return CPUBIND_OK;
    }
    for (int32_t i = 0; i < p->core.n_want; i++)
        if (p->want[i] == k) {
            pool->cpu = p->core.cpu + p->core.row[i];
            pool->n_cpu = p->core.row[i + 1] - p->core.row[i];
        }
    status = cpubind_pci_place_process(p->out, pool, 0, 0, p->arena, pool, fault);
    pool->memory_node = memory_node_of(p, pool);
    return status;
}

/* The pools of the ranks: that of the device, or the part of it that is its tile's. */
static cpubind_status take_pools(planner *p, const cpubind_pci_rank *rank, cpubind_fault *fault)
{
    cpubind_status status = CPUBIND_OK;
    for (int32_t i = 0; i < p->facts->n_device; i++)
        p->out->of_device[i].device = -1;
    for (int32_t i = 0; status == CPUBIND_OK && i < p->out->n_pool; i++) {
        const int32_t device = rank[i].device;
        const int32_t n_tile = p->facts->device[device].accelerator.n_tile;
        cpubind_pci_pool *whole = &p->out->of_device[device], *pool = &p->out->pool[i];
        if (whole->device < 0)
            status = take_pool(p, device, whole, fault);
        *pool = *whole;
        if (status != CPUBIND_OK || rank[i].tile < 0 || whole->n_cpu == 0)
            continue;
        pool->why = cpubind_pci_place_process(p->out, whole, n_tile, rank[i].tile, p->arena,
                                              pool, &pool->fault);
        if (pool->why == CPUBIND_ERR_SPACE)
            status = CPUBIND_ERR_SPACE;
        else if (pool->why != CPUBIND_OK)
            pool->n_cpu = 0;
        pool->tile = rank[i].tile;
    }
    return status;
}

static cpubind_status measure(planner *p, cpubind_fault *fault)
{
    const int32_t n = p->devices.affinity.n;
    const cpubind_host *host = &p->out->host;
    int32_t *row = cpubind_arena_ints(p->arena, n + 1);
    int32_t *work =
        cpubind_arena_ints(p->arena, CPUBIND_MEASURE_WORK(host->n_cpu, host->n_node));
    int32_t k = 0;
    if (!row || !work)
        return CPUBIND_ERR_SPACE;
    for (int32_t i = 0; i < n; i++) { /* rows of the core follow one another without gaps */
        row[i] = p->core.row[k];
        k += k < p->core.n_want && p->want[k] == i;
    }
    row[n] = p->core.row[k];
    return cpubind_measure(host, &p->devices, (cpubind_lists){p->core.cpu, row, n},
                           p->asked->roles.count[CPUBIND_ROLE_IRQ], work, &p->out->quality,
                           NULL, fault);
}

cpubind_status cpubind_pci_make_plan(const cpubind_facts *facts, const cpubind_pci_asked *asked,
                                     cpubind_arena *arena, cpubind_pci_plan *out,
                                     cpubind_fault *fault)
{
    planner p = {.facts = facts, .asked = asked, .arena = arena, .out = out};
    cpubind_pci_rank *rank = (cpubind_pci_rank *)cpubind_arena_take(
        arena, facts->n_device * CPUBIND_PCI_NUMBERS, sizeof *rank);
    cpubind_status status;
    memset(out, 0, sizeof *out);
    memset(fault, 0, sizeof *fault);
    if (!rank)
        return CPUBIND_ERR_SPACE;
    out->strategy = asked->is_reference ? CPUBIND_TOPO_AFFINITY : CPUBIND_NEAR;
    out->asked = asked->roles;
    out->n_pool = cpubind_pci_ranks(facts, rank);
    out->pool = (cpubind_pci_pool *)cpubind_arena_take(arena, out->n_pool, sizeof *out->pool);
    out->of_device =
        (cpubind_pci_pool *)cpubind_arena_take(arena, facts->n_device, sizeof *out->of_device);
    if (!out->pool || !out->of_device)
        return CPUBIND_ERR_SPACE;
    if (!cpubind_pci_limit(facts, &asked->limits, arena, &out->host))
        return CPUBIND_ERR_SPACE;
    out->allowed = out->host.cpu;
    out->n_allowed = out->host.n_cpu;
    if (!keep_for_host(&p))
        return CPUBIND_ERR_SPACE;
    status = choose_devices(&p);
    out->devices = p.devices;
    out->device = p.index;
    if (status == CPUBIND_OK)
        status = take_buffers(&p);
    if (status == CPUBIND_OK)
        status = take_trace(&p);
    if (status == CPUBIND_OK)
        p.core.row[0] = 0;
    if (status == CPUBIND_OK)
        status = cut(&p, fault);
    if (status == CPUBIND_OK)
        status = take_pools(&p, rank, fault);
    out->trace = p.trace;
    return status == CPUBIND_OK && out->overlap != CPUBIND_FOUND_PRESENT ? measure(&p, fault)
                                                                         : status;
}
