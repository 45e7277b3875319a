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
    for (int32_t i = cpubind_facts_next_other(f, 0); i < f->n_bus;
         i = cpubind_facts_next_other(f, i + 1))
        if (!plan_is_parted(p->request->exclude,
                            p->request->exclude ? p->request->n_exclude : 0, f->bus[i].cpu,
                            f->bus[i].n_cpu))
            return 0;
    return 1;
}

/* The CPUs near a row of the bus, by the kernel, else by npu-smi; all CPUs of the host where
 * they are not known. */
static cpubind_list near_row(const planner *p, int32_t row)
{
    const cpubind_facts *f = p->facts;
    if (f->bus[row].n_cpu > 0)
        return (cpubind_list){f->bus[row].cpu, f->bus[row].n_cpu};
    for (int32_t k = 0; k < f->n_device; k++)
        if (f->device[k]->function == row && f->device[k]->n_cpu > 0)
            return (cpubind_list){f->device[k]->cpu, f->device[k]->n_cpu};
    return (cpubind_list){p->out->host.cpu, p->out->host.n_cpu};
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
    for (int32_t i = 0; i < f->n_bus; i++)
        for (int32_t k = 0; k < f->bus[i].n_device; k++, d++)
            device[d] = (cpubind_device){
                .allowed = all, .minimum = plan_count_roles(&p->least), .home = near_row(p, i)};
    for (int32_t i = cpubind_facts_next_other(f, 0); i < f->n_bus;
         i = cpubind_facts_next_other(f, i + 1), d++)
        device[d] = (cpubind_device){
            .allowed = all, .minimum = plan_count_roles(&p->least), .home = near_row(p, i)};
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
    const cpubind_facts *f = p->facts;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        int is_near = 0;
        if (p->out->owner[i] >= 0 || host->node[i] == p->product->cluster.uvb_node)
            continue;
        for (int32_t k = cpubind_facts_next_other(f, 0); k < f->n_bus && !is_near;
             k = cpubind_facts_next_other(f, k + 1)) {
            const cpubind_list list = near_row(p, k);
            int32_t at = 0;
            is_near = cpubind_list_has(list.cpu, list.n, host->cpu[i], &at);
        }
        if (is_near)
            p->out->for_others[p->out->n_for_others++] = host->cpu[i];
    }
}

cpubind_problem_code cpubind_priv_find_others(planner *p)
{
    const cpubind_facts *f = p->facts;
    int32_t at = 0;
    if (p->scope == CPUBIND_SCOPE_OWN || f->n_other == 0 || f->is_joined || is_parted(p))
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
