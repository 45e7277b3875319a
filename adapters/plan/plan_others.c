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

/* Adds what turns would give to the others of the CPUs near them; more than that no NPU must
 * lose. Returns 0 when the arena is full. */
static int take_share(planner *p)
{
    const cpubind_facts *f = p->facts;
    const cpubind_host *host = &p->out->claims.host;
    const cpubind_list all = {p->out->host.cpu, p->out->host.n_cpu};
    const cpubind_policy turns = {.rule = CPUBIND_RULE_TURNS};
    const int32_t n_listed = facts_count_on_bus(f), n = n_listed + f->n_other;
    cpubind_device *device = (cpubind_device *)cpubind_arena_take(p->arena, n, sizeof *device);
    int32_t *owner = cpubind_arena_ints(p->arena, host->n_cpu);
    int32_t *work = cpubind_arena_ints(p->arena, CPUBIND_WORK(host->n_cpu, host->n_node, n));
    int32_t d = 0;
    if (!device || !owner || !work)
        return 0;
    for (int32_t i = 0; i < f->n_census + f->n_other; i++)
        for (int32_t k = 0; k < (i < f->n_census ? f->function[i].n_device : 1); k++, d++) {
            device[d] =
                (cpubind_device){.allowed = all, .minimum = plan_count_roles(&p->least)};
            device[d].home.cpu = i < f->n_census
                                     ? near_listed(p, i, &device[d].home.n)
                                     : near_other(p, i - f->n_census, &device[d].home.n);
        }
    if (n_listed == 0 || cpubind_plan(host, device, n, &turns, owner, work, NULL) != CPUBIND_OK)
        return 1;
    for (int32_t i = 0; i < p->out->host.n_cpu; i++) {
        const int32_t who = owner[p->out->claims.at[i]];
        int32_t at = 0;
        if (who >= n_listed && cpubind_list_has(device[who].home.cpu, device[who].home.n,
                                                p->out->host.cpu[i], &at))
            p->out->for_others[p->out->n_for_others++] = p->out->host.cpu[i];
    }
    return 1;
}

/* Adds the CPUs near the others that no cluster has, but for those of the node that the host
 * uses: a share would split clusters. */
static void take_idle(planner *p)
{
    const cpubind_topology *host = &p->out->host;
    int32_t n;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        int is_near = 0;
        if (p->out->owner[i] >= 0 || host->node[i] == p->product->cluster.uvb_node)
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
    int32_t at = 0;
    if (p->scope == CPUBIND_SCOPE_OWN || f->n_bus > 0 || is_parted(p))
        return CPUBIND_PROBLEM_NONE;
    plan_warn(p, CPUBIND_WARNING_OTHER_ACCELERATORS);
    p->out->for_others = cpubind_arena_ints(p->arena, p->out->host.n_cpu);
    p->out->for_listed = cpubind_arena_ints(p->arena, f->n_cpu);
    if (!p->out->for_others || !p->out->for_listed)
        return plan_fail_memory(p);
    if (p->out->core.strategy == CPUBIND_CLUSTER)
        take_idle(p);
    else if (!take_share(p))
        return plan_fail_memory(p);
    for (int32_t i = 0; i < f->n_cpu; i++)
        if (!cpubind_list_has(p->out->for_others, p->out->n_for_others, f->cpu[i], &at))
            p->out->for_listed[p->out->n_for_listed++] = f->cpu[i];
    return CPUBIND_PROBLEM_NONE;
}
