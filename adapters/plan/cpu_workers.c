/* cpu_workers.c - CPUs for workers that drive no device, beside those of accelerators
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. Says on which nodes each worker is at home; the core shares the
 * CPUs.
 */
#include "cpu_workers.h"

#include <string.h>

typedef struct sharer {
    const cpubind_topology *topology;
    const cpubind_workers_asked *asked;
    cpubind_arena *arena;
    cpubind_workers *out;
    cpubind_host host;
    int32_t *core;       /* by CPU: the index of the first CPU of its core */
    int32_t *node;       /* by CPU: the index of its node */
    int32_t *is_free;    /* by CPU: all CPUs of its core are, on a node that counts */
    int32_t *n_core;     /* by node: free cores */
    int32_t *with, n;    /* nodes with free cores, ascending */
    int32_t *first, *to; /* by worker: its nodes, with[first] .. with[to - 1] */
    int32_t *owner;
} sharer;

static int is_asked(const cpubind_workers_asked *asked, int32_t node)
{
    for (int32_t i = 0; i < asked->n_node; i++)
        if (asked->node[i] == node)
            return 1;
    return !asked->node;
}

/* Makes the host of the core, and finds its free cores and the nodes that have some. */
static cpubind_workers_status find_cores(sharer *s, const uint8_t *is_free)
{
    const cpubind_topology *t = s->topology;
    s->core = cpubind_arena_ints(s->arena, t->n_cpu);
    s->node = cpubind_arena_ints(s->arena, t->n_cpu);
    s->is_free = cpubind_arena_ints(s->arena, t->n_cpu);
    s->owner = cpubind_arena_ints(s->arena, t->n_cpu);
    s->n_core = cpubind_arena_ints(s->arena, t->n_node);
    s->with = cpubind_arena_ints(s->arena, t->n_node);
    if (!s->core || !s->node || !s->is_free || !s->owner || !s->n_core || !s->with)
        return CPUBIND_WORKERS_NO_MEMORY;
    s->host = (cpubind_host){.cpu = t->cpu,
                             .node = s->node,
                             .core = s->core,
                             .n_cpu = t->n_cpu,
                             .n_node = t->n_node};
    for (int32_t i = 0; i < t->n_cpu; i++) {
        int32_t first = t->core ? 0 : i, node = 0;
        while (first < i && t->core[first] != t->core[i])
            first++;
        while (t->node_id[node] != t->node[i])
            node++;
        s->core[i] = first;
        s->node[i] = node;
        s->is_free[i] = is_asked(s->asked, t->node[i]);
        s->is_free[first] &= is_free[i];
    }
    memset(s->n_core, 0, (size_t)t->n_node * sizeof *s->n_core);
    for (int32_t i = 0; i < t->n_cpu; i++) {
        s->is_free[i] = s->is_free[s->core[i]];
        s->n_core[s->node[i]] += s->is_free[i] && s->core[i] == i;
    }
    for (int32_t k = 0; k < t->n_node; k++) {
        s->out->n_core += s->n_core[k];
        if (s->n_core[k] > 0)
            s->with[s->n++] = k;
    }
    for (int32_t i = 0; i < s->asked->n_node; i++) {
        int32_t k = 0;
        while (k < s->n && t->node_id[s->with[k]] != s->asked->node[i])
            k++;
        if (k == s->n) {
            s->out->n_worker = s->asked->node[i];
            return CPUBIND_WORKERS_NO_NODE;
        }
    }
    return s->n > 0 ? CPUBIND_WORKERS_OK : CPUBIND_WORKERS_NO_CPUS;
}

/* Says on which nodes the workers are: fewer than nodes have runs of them; others one each, one
 * after another where the most cores would be left for each. */
static int choose_nodes(sharer *s, int32_t n_worker)
{
    int32_t *on = cpubind_arena_ints(s->arena, s->n), w = 0;
    s->first = cpubind_arena_ints(s->arena, n_worker);
    s->to = cpubind_arena_ints(s->arena, n_worker);
    if (!on || !s->first || !s->to)
        return 0;
    for (; w < n_worker && n_worker < s->n; w++) {
        s->first[w] = (int32_t)((int64_t)w * s->n / n_worker);
        s->to[w] = (int32_t)((int64_t)(w + 1) * s->n / n_worker);
    }
    for (int32_t k = 0; k < s->n; k++)
        on[k] = 1;
    for (int32_t left = n_worker - s->n; left > 0; left--) {
        int32_t best = 0;
        for (int32_t k = 1; k < s->n; k++)
            if ((int64_t)s->n_core[s->with[k]] * (on[best] + 1) >
                (int64_t)s->n_core[s->with[best]] * (on[k] + 1))
                best = k;
        on[best]++;
    }
    for (int32_t k = 0; w < n_worker; k++)
        for (int32_t i = 0; i < on[k]; i++, w++) {
            s->first[w] = k;
            s->to[w] = k + 1;
        }
    return 1;
}

/* Asks the core for the CPUs of all workers. */
static cpubind_workers_status share(sharer *s, int32_t n_worker)
{
    const cpubind_policy policy = {.rule = CPUBIND_RULE_TURNS, .reach = CPUBIND_REACH_HOME};
    cpubind_device *device =
        (cpubind_device *)cpubind_arena_take(s->arena, n_worker, sizeof *device);
    int32_t *work =
        cpubind_arena_ints(s->arena, CPUBIND_WORK(s->host.n_cpu, s->host.n_node, n_worker));
    if (!device || !work)
        return CPUBIND_WORKERS_NO_MEMORY;
    for (int32_t w = 0; w < n_worker; w++) {
        int32_t *cpu, n = 0;
        if (w > 0 && s->first[w] == s->first[w - 1]) {
            device[w] = device[w - 1];
            continue;
        }
        cpu = cpubind_arena_ints(s->arena, s->host.n_cpu);
        if (!cpu)
            return CPUBIND_WORKERS_NO_MEMORY;
        for (int32_t i = 0; i < s->host.n_cpu; i++)
            if (s->is_free[i] && s->node[i] >= s->with[s->first[w]] &&
                s->node[i] <= s->with[s->to[w] - 1])
                cpu[n++] = s->host.cpu[i];
        device[w] = (cpubind_device){.home = {cpu, n}, .allowed = {cpu, n}};
    }
    return cpubind_plan(&s->host, device, n_worker, &policy, s->owner, work, NULL) == CPUBIND_OK
               ? CPUBIND_WORKERS_OK
               : CPUBIND_WORKERS_TOO_MANY;
}

/* Leaves `n` CPUs of a worker free, its last cores. Returns how many CPUs are still to be
 * left. */
static int32_t leave(sharer *s, int32_t worker, int32_t n)
{
    for (int32_t at = s->n * s->host.n_cpu - 1; at >= 0 && n > 0; at--) {
        const int32_t first = at % s->host.n_cpu;
        if (s->core[first] != first || s->node[first] != s->with[at / s->host.n_cpu])
            continue;
        for (int32_t i = first; i < s->host.n_cpu; i++)
            if (s->core[i] == first && s->owner[i] == worker) {
                s->owner[i] = CPUBIND_NONE;
                n--;
            }
    }
    return n;
}

static cpubind_workers_status take_worker(sharer *s, int32_t w)
{
    const cpubind_topology *t = s->topology;
    cpubind_worker *worker = &s->out->worker[w];
    int32_t *cpu = cpubind_arena_ints(s->arena, t->n_cpu);
    int32_t *node = cpubind_arena_ints(s->arena, t->n_node);
    if (!cpu || !node)
        return CPUBIND_WORKERS_NO_MEMORY;
    *worker = (cpubind_worker){.cpu = cpu, .node = node};
    for (int32_t i = 0; i < t->n_cpu; i++)
        if (s->owner[i] == w)
            cpu[worker->n_cpu++] = t->cpu[i];
    for (int32_t k = 0, i; k < t->n_node; k++) {
        for (i = 0; i < t->n_cpu && (s->owner[i] != w || s->node[i] != k); i++)
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
    n = out->n_worker = asked->n_worker > 0 ? asked->n_worker : s.n;
    if (n > out->n_core)
        return CPUBIND_WORKERS_TOO_MANY;
    out->worker = (cpubind_worker *)cpubind_arena_take(arena, n, sizeof *out->worker);
    if (!out->worker || !choose_nodes(&s, n))
        return CPUBIND_WORKERS_NO_MEMORY;
    status = share(&s, n);
    for (int32_t w = 0; w < n; w++)
        (void)leave(&s, w, asked->reserve);
    for (int32_t w = n - 1; w >= 0 && once > 0; w--)
        once = leave(&s, w, once);
    for (int32_t w = 0; w < n && status == CPUBIND_WORKERS_OK; w++)
        status = take_worker(&s, w);
    return status;
}
