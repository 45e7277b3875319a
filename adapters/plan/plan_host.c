/* plan_host.c - the CPUs that pools are cut from, and those that are kept for the host
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. Which CPUs are kept depends on the online CPUs of the host and on
 * the request alone, not on the allowed CPUs: it is the same in every process.
 */
#include "plan_parts.h"

/* == Kept CPUs ============================================================== */

/* Marks the CPUs of the core of an online CPU; returns how many there are. */
static int32_t keep_core(const planner *p, int32_t cpu, uint8_t *is_kept)
{
    const cpubind_facts *f = p->facts;
    const int32_t core = cpubind_facts_core(f, cpu);
    int32_t n = 0;
    for (int32_t i = 0; i < f->n_cpu_id; i++)
        if (f->node_of[i] >= 0 && cpubind_facts_core(f, i) == core) {
            is_kept[i] = 1;
            n++;
        }
    return n;
}

/* Lists the CPUs that are kept: the lowest cores of each node, in the order of their lowest
 * online CPU, until they have as many CPUs as the request keeps of each; and the cores of the
 * online CPUs that the request lists. */
cpubind_problem_code cpubind_priv_list_kept(planner *p)
{
    const cpubind_facts *f = p->facts;
    const cpubind_request *q = p->request;
    int32_t *n_kept = cpubind_arena_ints(p->arena, f->n_node); /* by number of the node */
    uint8_t *is_kept = (uint8_t *)cpubind_arena_take(p->arena, f->n_cpu_id, 1);
    if (q->keep_each == 0 && !q->keep)
        return CPUBIND_PROBLEM_NONE;
    p->out->kept = cpubind_arena_ints(p->arena, f->n_online);
    if (!p->out->kept || !n_kept || !is_kept)
        return plan_fail_memory(p);
    memset(n_kept, 0, (size_t)f->n_node * sizeof *n_kept);
    memset(is_kept, 0, (size_t)f->n_cpu_id);
    for (int32_t cpu = 0; cpu < f->n_cpu_id; cpu++) {
        const int32_t node = cpubind_facts_node(f, f->node_of[cpu]);
        if (node >= 0 && n_kept[node] < q->keep_each && !is_kept[cpu])
            n_kept[node] += keep_core(p, cpu, is_kept);
    }
    for (int32_t i = 0; q->keep && i < q->n_keep; i++)
        if (q->keep[i] < f->n_cpu_id && f->node_of[q->keep[i]] >= 0)
            (void)keep_core(p, q->keep[i], is_kept);
    for (int32_t cpu = 0; cpu < f->n_cpu_id; cpu++)
        if (is_kept[cpu])
            p->out->kept[p->out->n_kept++] = cpu;
    return CPUBIND_PROBLEM_NONE;
}

/* == The host of the core =================================================== */

/* Copies the CPUs that pools are cut from: the allowed ones, or with scope host all online ones
 * but the excluded; in both cases not the kept ones, and not those of CPU workers. */
static int32_t copy_cpus(const planner *p, int32_t *cpu)
{
    const cpubind_facts *f = p->facts;
    const cpubind_request *q = p->request;
    const int is_all = p->scope == CPUBIND_SCOPE_HOST;
    const int32_t n_from = is_all ? f->n_cpu_id : f->n_cpu;
    int32_t n = 0, excluded = 0, kept = 0;
    for (int32_t i = 0; i < n_from; i++) {
        const int32_t id = is_all ? i : f->cpu[i];
        if (f->node_of[id] < 0 ||
            (is_all &&
             cpubind_list_has(q->exclude, q->exclude ? q->n_exclude : 0, id, &excluded)) ||
            cpubind_list_has(p->out->kept, p->out->n_kept, id, &kept) ||
            (p->is_worker && p->is_worker[id]))
            continue;
        cpu[n++] = id;
    }
    return n;
}

cpubind_problem_code cpubind_priv_choose_host(planner *p)
{
    const cpubind_facts *f = p->facts;
    int32_t *cpu =
        cpubind_arena_ints(p->arena, p->scope == CPUBIND_SCOPE_HOST ? f->n_online : f->n_cpu);
    cpubind_topology *host = &p->out->host;
    if (!cpu || !cpubind_facts_topology(f, cpu, copy_cpus(p, cpu), p->arena, host))
        return plan_fail_memory(p);
    if (host->n_cpu > 0)
        return CPUBIND_PROBLEM_NONE;
    return plan_fail(
        p, CPUBIND_PROBLEM_TOO_FEW_CPUS,
        p->scope == CPUBIND_SCOPE_HOST
            ? "every online CPU is excluded or kept for the host, or of a CPU worker"
            : "every allowed CPU is kept for the host, or of a CPU worker");
}

int cpubind_priv_make_host(const cpubind_topology *t, cpubind_arena *arena, cpubind_host *out)
{
    int32_t *node = cpubind_arena_ints(arena, t->n_cpu);
    int32_t *core = cpubind_arena_ints(arena, t->n_cpu);
    if (!node || !core)
        return 0;
    for (int32_t i = 0; i < t->n_cpu; i++) {
        node[i] = 0;
        while (t->node_id[node[i]] != t->node[i])
            node[i]++;
        core[i] = i;
        for (int32_t k = 0; k < i && core[i] == i && t->core; k++)
            if (t->core[k] == t->core[i] && node[k] == node[i])
                core[i] = k;
    }
    *out = (cpubind_host){.cpu = t->cpu,
                          .node = node,
                          .core = core,
                          .distance = t->distance,
                          .socket = t->socket,
                          .n_cpu = t->n_cpu,
                          .n_node = t->n_node};
    return 1;
}
