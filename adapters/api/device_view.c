/* device_view.c - the plan of accelerators of any vendor in the form of one of NPUs
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing. What explains a plan reads the form of NPUs: here each device that this
 * process sees is an NPU whose logic id is its first rank.
 */
#include <string.h>

#include "device_plan.h"

/* The arguments of fill. */
typedef struct filling {
    const api_device_plan *devices;
    api_planned *out;
    cpubind_arena *arena;
} filling;

static int take_cpus(const filling *v)
{
    const cpubind_facts *f = &v->devices->topo.facts;
    const cpubind_pci_plan *plan = &v->devices->plan;
    cpubind_facts *out = &v->out->facts;
    const size_t size = (size_t)plan->n_allowed * sizeof *out->cpu;
    out->cpu = cpubind_arena_ints(v->arena, plan->n_allowed);
    out->node_id = cpubind_arena_ints(v->arena, f->host.n_node);
    out->core_of = cpubind_arena_ints(v->arena, f->n_cpu_id);
    out->distance = cpubind_arena_ints(v->arena, f->host.n_node * f->host.n_node);
    if (!out->cpu || !out->node_id || !out->core_of || !out->distance)
        return 0;
    if (size > 0)
        memcpy(out->cpu, plan->allowed, size);
    memcpy(out->node_id, f->host.node_id, (size_t)f->host.n_node * sizeof *out->node_id);
    for (int32_t i = 0; f->host.distance && i < f->host.n_node * f->host.n_node; i++)
        out->distance[i] = f->host.distance[i];
    if (!f->host.distance)
        out->distance = NULL;
    for (int32_t i = 0; i < f->n_cpu_id; i++)
        out->core_of[i] = f->node_of[i] < 0 ? -1 : i;
    for (int32_t i = 0; f->host.core && i < f->host.n_cpu; i++)
        out->core_of[f->host.cpu[i]] = f->host.core[i];
    out->n_cpu = plan->n_allowed;
    out->n_node = f->host.n_node;
    out->node_of = f->node_of;
    out->n_cpu_id = f->n_cpu_id;
    out->scope = CPUBIND_SCOPE_CPUSET;
    return 1;
}

/* Each function of the facts, and as an NPU each one that has a rank. */
static int take_npus(const filling *v)
{
    const cpubind_facts *f = &v->devices->topo.facts;
    const cpubind_pci_plan *plan = &v->devices->plan;
    cpubind_facts *out = &v->out->facts;
    int32_t n_near = 0;
    for (int32_t i = 0; i < f->n_device; i++)
        n_near += f->device[i].n_cpu;
    out->affinity = cpubind_arena_ints(v->arena, n_near);
    out->npu = (cpubind_npu *)cpubind_arena_take(v->arena, plan->n_pool, sizeof *out->npu);
    out->function =
        (cpubind_function *)cpubind_arena_take(v->arena, f->n_device, sizeof *out->function);
    if (!out->affinity || !out->npu || !out->function)
        return 0;
    out->n_function = f->n_device;
    n_near = 0;
    for (int32_t i = 0; i < f->n_device; i++) {
        const cpubind_pci_function *device = &f->device[i];
        out->function[i] = (cpubind_function){.pci = device->pci,
                                              .node = device->node,
                                              .cpu = device->cpu,
                                              .n_cpu = device->n_cpu};
    }
    for (int32_t rank = 0; rank < plan->n_pool; rank++) {
        const int32_t at = plan->pool[rank].device;
        const cpubind_pci_function *device = &f->device[at];
        int32_t first = 0;
        while (plan->pool[first].device != at)
            first++;
        if (first < rank)
            continue; /* another tile of a device */
        out->npu[out->n_npu++] = (cpubind_npu){.logic = rank,
                                               .pci = device->pci,
                                               .affinity_first = n_near,
                                               .affinity_count = device->n_cpu,
                                               .phy = -1,
                                               .function = at,
                                               .is_visible = 1};
        for (int32_t k = 0; k < device->n_cpu; k++)
            out->affinity[n_near++] = device->cpu[k];
    }
    return 1;
}

static int take_candidates(const filling *v)
{
    const cpubind_pci_plan *plan = &v->devices->plan;
    const cpubind_facts *facts = &v->out->facts;
    cpubind_ascend_plan *out = &v->out->plan;
    out->n_candidate = plan->devices.affinity.n;
    out->candidate = (cpubind_candidate *)cpubind_arena_take(v->arena, out->n_candidate,
                                                             sizeof *out->candidate);
    for (int32_t i = 0; out->candidate && i < out->n_candidate; i++) {
        int32_t npu = facts->n_npu - 1;
        while (npu >= 0 && facts->npu[npu].function != plan->device[i])
            npu--;
        out->candidate[i] = (cpubind_candidate){npu, plan->device[i], -1};
    }
    return out->candidate != NULL;
}

/* A row for each NPU with a pool. */
static int take_rows(const filling *v)
{
    const cpubind_pci_plan *plan = &v->devices->plan;
    const cpubind_facts *facts = &v->out->facts;
    cpubind_ascend_plan *out = &v->out->plan;
    const int32_t n = facts->n_npu;
    int32_t n_cpu = 0, n_role = 0;
    for (int32_t i = 0; i < n; i++)
        n_cpu += plan->of_device[facts->npu[i].function].n_cpu;
    out->want = cpubind_arena_ints(v->arena, n);
    out->core.cpu = cpubind_arena_ints(v->arena, n_cpu);
    out->core.row = cpubind_arena_ints(v->arena, n + 1);
    out->role_cpu = cpubind_arena_ints(v->arena, n_cpu);
    out->role_row = cpubind_arena_ints(v->arena, n + 1);
    out->memory_node = cpubind_arena_ints(v->arena, n);
    out->role_span = (cpubind_roles *)cpubind_arena_take(v->arena, n, sizeof *out->role_span);
    if (!out->want || !out->core.cpu || !out->core.row || !out->role_cpu || !out->role_row ||
        !out->memory_node || !out->role_span)
        return 0;
    out->core.row[0] = out->role_row[0] = n_cpu = 0;
    for (int32_t i = 0; i < n; i++) {
        const cpubind_pci_pool *pool = &plan->of_device[facts->npu[i].function];
        if (pool->n_cpu == 0)
            continue;
        for (int32_t k = 0; k < pool->n_cpu; k++)
            out->core.cpu[n_cpu++] = pool->cpu[k];
        for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++)
            for (int32_t k = 0; k < pool->roles.span[role].count; k++)
                out->role_cpu[n_role++] = pool->role_cpu[pool->roles.span[role].first + k];
        out->role_span[out->n_want] = pool->roles;
        out->memory_node[out->n_want] = pool->memory_node;
        out->want[out->n_want++] = i;
        out->core.row[out->n_want] = n_cpu;
        out->role_row[out->n_want] = n_role;
    }
    return 1;
}

/* Measures the rows alone: their IRQ CPUs are known. */
static cpubind_problem_code measure(const filling *v)
{
    const cpubind_pci_plan *plan = &v->devices->plan;
    cpubind_ascend_plan *out = &v->out->plan;
    const int32_t n = out->n_candidate;
    int32_t *work =
        cpubind_arena_ints(v->arena, CPUBIND_MEASURE_WORK(plan->host.n_cpu, plan->host.n_node));
    int32_t *cpu = cpubind_arena_ints(v->arena, out->role_row[out->n_want]);
    int32_t *row = cpubind_arena_ints(v->arena, n + 1);
    cpubind_quality *each = (cpubind_quality *)cpubind_arena_take(v->arena, n, sizeof *each);
    cpubind_fault fault;
    int32_t n_cpu = 0;
    out->row_quality =
        (cpubind_quality *)cpubind_arena_take(v->arena, out->n_want, sizeof *out->row_quality);
    if (!work || !cpu || !row || !each || !out->row_quality)
        return CPUBIND_PROBLEM_NO_MEMORY;
    for (int32_t i = 0; i < n; i++) {
        row[i] = n_cpu;
        for (int32_t k = 0; k < out->n_want; k++)
            for (int32_t at = out->role_row[k];
                 out->want[k] == out->candidate[i].npu && at < out->role_row[k + 1]; at++)
                cpu[n_cpu++] = out->role_cpu[at];
    }
    row[n] = n_cpu;
    if (cpubind_measure(&plan->host, &plan->devices, (cpubind_lists){cpu, row, n},
                        plan->asked.count[CPUBIND_ROLE_IRQ], work, &out->quality, each,
                        &fault) != CPUBIND_OK)
        return CPUBIND_PROBLEM_UNREADABLE;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < out->n_want; k++)
            if (out->want[k] == out->candidate[i].npu)
                out->row_quality[k] = each[i];
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code fill(void *ctx, cpubind_arena *arena)
{
    filling *v = (filling *)ctx;
    const cpubind_pci_plan *plan = &v->devices->plan;
    cpubind_ascend_plan *out = &v->out->plan;
    v->arena = arena;
    memset(&v->out->facts, 0, sizeof v->out->facts);
    memset(out, 0, sizeof *out);
    out->core.strategy = plan->strategy;
    out->core.overlap = plan->overlap;
    out->core.shared = plan->shared;
    out->trace = plan->trace;
    out->host = plan->host;
    out->devices = plan->devices;
    out->roles = plan->asked;
    out->rules = api_device_rules(v->devices);
    out->n_kept = plan->n_kept;
    out->kept = cpubind_arena_ints(arena, plan->n_kept);
    if (!out->kept)
        return CPUBIND_PROBLEM_NO_MEMORY;
    for (int32_t i = 0; i < plan->n_kept; i++)
        out->kept[i] = plan->kept[i];
    if (!take_cpus(v) || !take_npus(v) || !take_candidates(v) || !take_rows(v))
        return CPUBIND_PROBLEM_NO_MEMORY;
    return measure(v);
}

int api_view_devices(const api_device_plan *devices, api_planned *out)
{
    filling v = {devices, out, NULL};
    out->has_facts = 1;
    out->code = api_with_arena(&out->arena, fill, &v);
    return out->code == CPUBIND_PROBLEM_NONE;
}
