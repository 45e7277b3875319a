/* plan_others.c - which CPUs part the NPUs of a host from its accelerators of other vendors
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. A plan that takes no other devices in, by the reference, clusters or
 * slices, shares all CPUs among the NPUs. What is found here is advice: no pool is cut by it.
 */
#include "plan_parts.h"

/* Whether the request parts the NPUs from each of the others. */
static int is_parted(const planner *p)
{
    const cpubind_facts *f = p->facts;
    for (int32_t i = 0; i < f->n_other; i++)
        if (!plan_is_parted(p->request->exclude,
                            p->request->exclude ? p->request->n_exclude : 0, f->other[i].cpu,
                            f->other[i].n_cpu))
            return 0;
    return 1;
}

/* The CPUs near function i of the NPUs, by the kernel, else by npu-smi; all CPUs of the host
 * where they are not known. */
static const int32_t *near_listed(const planner *p, int32_t i, int32_t *n)
{
    const cpubind_facts *f = p->facts;
    *n = f->function[i].n_cpu;
    if (*n > 0)
        return f->function[i].cpu;
    for (int32_t k = 0; k < f->n_device; k++)
        if (f->device[k].function == i && f->device[k].affinity_count > 0) {
            *n = f->device[k].affinity_count;
            return f->affinity + f->device[k].affinity_first;
        }
    *n = p->out->host.n_cpu;
    return p->out->host.cpu;
}

static const int32_t *near_other(const planner *p, int32_t i, int32_t *n)
{
    const cpubind_function *other = &p->facts->other[i];
    *n = other->n_cpu > 0 ? other->n_cpu : p->out->host.n_cpu;
    return other->n_cpu > 0 ? other->cpu : p->out->host.cpu;
}

/* Lists the NPUs of the bus, then the others. Returns 0 when the arena is full. */
static int list_devices(planner *p, cpubind_lists *near)
{
    const cpubind_facts *f = p->facts;
    const int32_t n_listed = facts_count_on_bus(f);
    int32_t n, n_near = 0, at = 0;
    int32_t *cpu, *row = cpubind_arena_ints(p->arena, n_listed + f->n_other + 1);
    for (int32_t i = 0; i < f->n_census; i++) {
        (void)near_listed(p, i, &n);
        n_near += n * f->function[i].n_device;
    }
    for (int32_t i = 0; i < f->n_other; i++) {
        (void)near_other(p, i, &n);
        n_near += n;
    }
    cpu = cpubind_arena_ints(p->arena, n_near);
    if (!cpu || !row)
        return 0;
    row[0] = 0;
    for (int32_t i = 0; i < f->n_census + f->n_other; i++) {
        const int32_t *list =
            i < f->n_census ? near_listed(p, i, &n) : near_other(p, i - f->n_census, &n);
        for (int32_t k = 0; k < (i < f->n_census ? f->function[i].n_device : 1); k++, at++) {
            memcpy(cpu + row[at], list, (size_t)n * sizeof *cpu);
            row[at + 1] = row[at] + n;
        }
    }
    *near = (cpubind_lists){cpu, row, at};
    return 1;
}

/* Shares the CPUs among all of them by the rules near. *out becomes NULL where there is no such
 * plan. Returns 0 when the arena is full. */
static int share(planner *p, const cpubind_devices *devices, const cpubind_trace **out)
{
    const cpubind_host *host = &p->out->host;
    const int32_t n = devices->affinity.n, n_near = devices->affinity.row[n];
    static const int32_t first = 0;
    const cpubind_policy policy = {.strategy = CPUBIND_NEAR, .roles = p->policy.roles};
    cpubind_trace *trace = (cpubind_trace *)cpubind_arena_take(p->arena, 1, sizeof *trace);
    int32_t row[2];
    cpubind_plan plan = {.want = &first, .n_want = 1, .row = row, .trace = trace};
    cpubind_fault fault;
    if (!trace)
        return 0;
    trace->cap_row = CPUBIND_TRACE_ROWS(host->n_cpu, host->n_node, n);
    trace->cap_device = CPUBIND_TRACE_DEVICES(host->n_node, n, n_near);
    plan.cap_cpu = CPUBIND_PLAN_CPUS(host->n_cpu);
    plan.cap_work = CPUBIND_PLAN_WORK_NEAR(host->n_cpu, host->n_node, n, n_near);
    trace->owner = cpubind_arena_ints(p->arena, host->n_cpu);
    trace->step = cpubind_arena_ints(p->arena, host->n_cpu);
    trace->group = cpubind_arena_ints(p->arena, host->n_cpu);
    trace->row = cpubind_arena_ints(p->arena, trace->cap_row);
    trace->device = cpubind_arena_ints(p->arena, trace->cap_device);
    plan.cpu = cpubind_arena_ints(p->arena, plan.cap_cpu);
    plan.work = cpubind_arena_ints(p->arena, plan.cap_work);
    if (!trace->owner || !trace->step || !trace->group || !trace->row || !trace->device ||
        !plan.cpu || !plan.work)
        return 0;
    *out =
        cpubind_make_plan(host, devices, &policy, &plan, &fault) == CPUBIND_OK ? trace : NULL;
    return 1;
}

/* Adds what a share by the rules near gives to the others of the CPUs near them; more than that
 * no NPU must lose. Returns 0 when the arena is full. */
static int take_share(planner *p, const cpubind_devices *devices)
{
    const cpubind_host *host = &p->out->host;
    const int32_t n_listed = devices->affinity.n - p->facts->n_other;
    const cpubind_trace *trace;
    if (n_listed == 0 || host->n_node > CPUBIND_MAX_NODES)
        return 1;
    if (!share(p, devices, &trace))
        return 0;
    for (int32_t i = 0; trace && i < host->n_cpu; i++)
        if (trace->owner[i] >= n_listed && trace->step[i] == CPUBIND_STEP_HOME)
            p->out->for_others[p->out->n_for_others++] = host->cpu[i];
    return 1;
}

/* Adds the CPUs near the others that no cluster has, but for those of the node that the host
 * uses: a share would split clusters. */
static void take_idle(planner *p)
{
    const cpubind_host *host = &p->out->host;
    int32_t n;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        int is_near = 0;
        if (p->out->trace.owner[i] >= 0 ||
            (p->policy.has_spare_node && host->node[i] == p->policy.spare_node))
            continue;
        for (int32_t k = 0; k < p->facts->n_other && !is_near; k++) {
            const int32_t *list = near_other(p, k, &n);
            int32_t at = 0;
            is_near = cpubind_list_has(list, n, host->cpu[i], &at);
        }
        if (is_near)
            p->out->for_others[p->out->n_for_others++] = host->cpu[i];
    }
}

cpubind_problem_code cpubind_priv_find_others(planner *p)
{
    const cpubind_facts *f = p->facts;
    cpubind_devices devices;
    int32_t at = 0;
    if (p->scope == CPUBIND_SCOPE_OWN || f->n_bus > 0 || is_parted(p))
        return CPUBIND_PROBLEM_NONE;
    plan_warn(p, CPUBIND_WARNING_OTHER_ACCELERATORS);
    memset(&devices, 0, sizeof devices);
    p->out->for_others = cpubind_arena_ints(p->arena, p->out->host.n_cpu);
    p->out->for_listed = cpubind_arena_ints(p->arena, f->n_cpu);
    if (!p->out->for_others || !p->out->for_listed || !list_devices(p, &devices.affinity))
        return plan_fail_memory(p);
    if (p->out->core.strategy == CPUBIND_CLUSTER)
        take_idle(p);
    else if (!take_share(p, &devices))
        return plan_fail_memory(p);
    for (int32_t i = 0; i < f->n_cpu; i++)
        if (!cpubind_list_has(p->out->for_others, p->out->n_for_others, f->cpu[i], &at))
            p->out->for_listed[p->out->n_for_listed++] = f->cpu[i];
    return CPUBIND_PROBLEM_NONE;
}
