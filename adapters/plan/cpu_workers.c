/* cpu_workers.c - CPUs for workers that drive no device, beside those of accelerators
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. Says on which nodes each worker is at home; the core shares the
 * CPUs.
 */
#include "cpu_workers.h"

#include <string.h>

#include "plan_parts.h"

typedef struct sharer {
    const cpubind_topology *topology;
    const cpubind_workers_asked *asked;
    cpubind_arena *arena;
    cpubind_workers *out;
    cpubind_host host;
    int32_t *is_free; /* by CPU: all CPUs of its core are, on a node that counts */
    int32_t *owner;
    int32_t *n_core; /* by node: free cores */
    int32_t n_with;  /* nodes with free cores */
} sharer;

/* Makes the host of the core, and finds its free cores. */
static cpubind_workers_status find_cores(sharer *s, const uint8_t *is_free)
{
    const cpubind_topology *t = s->topology;
    const cpubind_workers_asked *asked = s->asked;
    s->is_free = cpubind_arena_ints(s->arena, t->n_cpu);
    s->owner = cpubind_arena_ints(s->arena, t->n_cpu);
    s->n_core = cpubind_arena_ints(s->arena, t->n_node);
    if (!cpubind_priv_make_host(t, s->arena, &s->host) || !s->is_free || !s->owner ||
        !s->n_core)
        return CPUBIND_WORKERS_NO_MEMORY;
    for (int32_t i = 0; i < t->n_cpu; i++) {
        int32_t at = 0;
        s->is_free[i] = 1;
        s->is_free[s->host.core[i]] &=
            is_free[i] &&
            (!asked->node || cpubind_list_has(asked->node, asked->n_node, t->node[i], &at));
    }
    memset(s->n_core, 0, (size_t)t->n_node * sizeof *s->n_core);
    for (int32_t i = 0; i < t->n_cpu; i++) {
        s->is_free[i] = s->is_free[s->host.core[i]];
        s->n_core[s->host.node[i]] += s->is_free[i] && s->host.core[i] == i;
    }
    for (int32_t k = 0; k < t->n_node; k++) {
        s->out->n_core += s->n_core[k];
        s->n_with += s->n_core[k] > 0;
    }
    for (int32_t i = 0; i < asked->n_node; i++) {
        int32_t k = 0;
        while (k < t->n_node && (t->node_id[k] != asked->node[i] || s->n_core[k] == 0))
            k++;
        if (k == t->n_node) {
            s->out->n_worker = asked->node[i];
            return CPUBIND_WORKERS_NO_NODE;
        }
    }
    return s->n_with > 0 ? CPUBIND_WORKERS_OK : CPUBIND_WORKERS_NO_CPUS;
}

/* Says which worker is the first of each node: fewer workers than nodes have runs of them; more
 * are added one after another where the most cores are left for each.
 *   out     first[node]; -1: the node has no free core */
static void choose_nodes(const sharer *s, int32_t n_worker, int32_t *on, int32_t *first)
{
    const int32_t n = s->host.n_node;
    for (int32_t k = 0; k < n; k++)
        on[k] = s->n_core[k] > 0;
    for (int32_t left = n_worker - s->n_with; left > 0; left--) {
        int32_t best = 0;
        for (int32_t k = 1; k < n; k++)
            if ((int64_t)s->n_core[k] * (on[best] + 1) > (int64_t)s->n_core[best] * (on[k] + 1))
                best = k;
        on[best]++;
    }
    for (int32_t k = 0, rank = 0, next = 0; k<n; next += on[k], rank += on[k++]> 0)
        first[k] = on[k] == 0 ? -1
                   : n_worker < s->n_with
                       ? (int32_t)(((int64_t)(rank + 1) * n_worker - 1) / s->n_with)
                       : next;
}

/* Asks the core for the CPUs of all workers: each is at home on the free cores of its nodes. */
static cpubind_workers_status share(sharer *s, int32_t n_worker)
{
    const cpubind_policy policy = {.rule = CPUBIND_RULE_TURNS, .reach = CPUBIND_REACH_HOME};
    const int32_t n = s->host.n_cpu, n_node = s->host.n_node;
    cpubind_device *device =
        (cpubind_device *)cpubind_arena_take(s->arena, n_worker, sizeof *device);
    int32_t *work = cpubind_arena_ints(s->arena, CPUBIND_WORK(n, n_node, n_worker));
    int32_t *cpu = cpubind_arena_ints(s->arena, n);
    int32_t *on = cpubind_arena_ints(s->arena, n_node);
    int32_t *first = cpubind_arena_ints(s->arena, n_node);
    if (!device || !work || !cpu || !on || !first)
        return CPUBIND_WORKERS_NO_MEMORY;
    choose_nodes(s, n_worker, on, first);
    for (int32_t w = 0, n_home = 0; w < n_worker; w++, cpu += n_home, n_home = 0) {
        for (int32_t i = 0; i < n; i++)
            if (s->is_free[i] && first[s->host.node[i]] == w)
                cpu[n_home++] = s->host.cpu[i];
        device[w] = n_home == 0
                        ? device[w - 1]
                        : (cpubind_device){.home = {cpu, n_home}, .allowed = {cpu, n_home}};
    }
    return cpubind_plan(&s->host, device, n_worker, &policy, s->owner, work, NULL) == CPUBIND_OK
               ? CPUBIND_WORKERS_OK
               : CPUBIND_WORKERS_TOO_MANY;
}

/* Leaves `n` CPUs of a worker free, its last cores. Returns how many CPUs are still to be
 * left. */
static int32_t leave(sharer *s, int32_t worker, int32_t n)
{
    for (int32_t at = s->host.n_node * s->host.n_cpu - 1; at >= 0 && n > 0; at--) {
        const int32_t core = at % s->host.n_cpu;
        if (s->host.core[core] != core || s->host.node[core] != at / s->host.n_cpu)
            continue;
        for (int32_t i = core; i < s->host.n_cpu; i++)
            if (s->host.core[i] == core && s->owner[i] == worker) {
                s->owner[i] = CPUBIND_NONE;
                n--;
            }
    }
    return n;
}

static cpubind_workers_status take_worker(sharer *s, int32_t w)
{
    const cpubind_topology *t = s->topology;
    cpubind_cpu_worker *worker = &s->out->worker[w];
    int32_t *cpu = cpubind_arena_ints(s->arena, t->n_cpu);
    int32_t *node = cpubind_arena_ints(s->arena, t->n_node);
    if (!cpu || !node)
        return CPUBIND_WORKERS_NO_MEMORY;
    *worker = (cpubind_cpu_worker){.cpu = cpu, .node = node};
    for (int32_t i = 0; i < t->n_cpu; i++)
        if (s->owner[i] == w)
            cpu[worker->n_cpu++] = t->cpu[i];
    for (int32_t k = 0, i; k < t->n_node; k++) {
        for (i = 0; i < t->n_cpu && (s->owner[i] != w || s->host.node[i] != k); i++)
            ;
        if (i < t->n_cpu)
            node[worker->n_node++] = t->node_id[k];
    }
    return worker->n_cpu > 0 ? CPUBIND_WORKERS_OK : CPUBIND_WORKERS_RESERVED;
}

cpubind_workers_status cpubind_cpu_workers(const cpubind_topology *host, const uint8_t *is_free,
                                           const cpubind_workers_asked *asked,
                                           cpubind_arena *arena, cpubind_workers *out)
{
    sharer s = {.topology = host, .asked = asked, .arena = arena, .out = out};
    cpubind_workers_status status;
    int32_t n, once = asked->reserve_host;
    memset(out, 0, sizeof *out);
    status = find_cores(&s, is_free);
    if (status != CPUBIND_WORKERS_OK)
        return status;
    n = out->n_worker = asked->n_worker > 0 ? asked->n_worker : s.n_with;
    if (n > out->n_core)
        return CPUBIND_WORKERS_TOO_MANY;
    out->worker = (cpubind_cpu_worker *)cpubind_arena_take(arena, n, sizeof *out->worker);
    if (!out->worker)
        return CPUBIND_WORKERS_NO_MEMORY;
    status = share(&s, n);
    for (int32_t w = 0; w < n && status == CPUBIND_WORKERS_OK; w++)
        (void)leave(&s, w, asked->reserve);
    for (int32_t w = n - 1; w >= 0 && once > 0 && status == CPUBIND_WORKERS_OK; w--)
        once = leave(&s, w, once);
    for (int32_t w = 0; w < n && status == CPUBIND_WORKERS_OK; w++)
        status = take_worker(&s, w);
    return status;
}
