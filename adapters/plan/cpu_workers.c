/* cpu_workers.c - CPUs for workers that drive no device, beside those of accelerators
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc.
 */
#include "cpu_workers.h"

#include <string.h>

typedef struct sharer {
    const cpubind_topology *host;
    const cpubind_workers_asked *asked;
    cpubind_arena *arena;
    cpubind_workers *out;
    int32_t *core;     /* the first CPU of each free core, as an index of host->cpu, by node,
                           then by CPU */
    int32_t *core_row; /* cores of node k: core[core_row[k]] .. core[core_row[k + 1] - 1] */
    int32_t *node;     /* nodes with free cores, as indices of host->node_id */
    int32_t n_node;
    int32_t n_core;
    int32_t *first; /* of worker w: core[first[w]] .. */
    int32_t *count; /* ... as many cores */
} sharer;

static int32_t core_of(const cpubind_topology *host, int32_t i)
{
    return host->core ? host->core[i] : host->cpu[i];
}

/* Whether allowed CPU i is the first of a core whose allowed CPUs are all free. */
static int is_free_core(const cpubind_topology *host, const uint8_t *is_free, int32_t i)
{
    for (int32_t k = 0; k < host->n_cpu; k++)
        if (core_of(host, k) == core_of(host, i) && (k < i || !is_free[k]))
            return 0;
    return is_free[i] != 0;
}

static int is_asked(const cpubind_workers_asked *asked, int32_t node)
{
    for (int32_t i = 0; i < asked->n_node; i++)
        if (asked->node[i] == node)
            return 1;
    return !asked->node;
}

/* Lists the free cores of each node. */
static cpubind_workers_status list_cores(sharer *s, const uint8_t *is_free)
{
    const cpubind_topology *host = s->host;
    s->core = cpubind_arena_ints(s->arena, host->n_cpu);
    s->core_row = cpubind_arena_ints(s->arena, host->n_node + 1);
    s->node = cpubind_arena_ints(s->arena, host->n_node);
    if (!s->core || !s->core_row || !s->node)
        return CPUBIND_WORKERS_NO_MEMORY;
    for (int32_t k = 0; k < host->n_node; k++) {
        s->core_row[s->n_node] = s->n_core;
        for (int32_t i = 0; i < host->n_cpu && is_asked(s->asked, host->node_id[k]); i++)
            if (host->node[i] == host->node_id[k] && is_free_core(host, is_free, i))
                s->core[s->n_core++] = i;
        if (s->n_core > s->core_row[s->n_node])
            s->node[s->n_node++] = k;
    }
    s->core_row[s->n_node] = s->n_core;
    s->out->n_core = s->n_core;
    for (int32_t i = 0; i < s->asked->n_node; i++) {
        int32_t k = 0;
        while (k < s->n_node && host->node_id[s->node[k]] != s->asked->node[i])
            k++;
        if (k == s->n_node) {
            s->out->n_worker = s->asked->node[i];
            return CPUBIND_WORKERS_NO_NODE;
        }
    }
    return s->n_core > 0 ? CPUBIND_WORKERS_OK : CPUBIND_WORKERS_NO_CPUS;
}

/* Gives each worker a run of nodes. */
static void share_nodes(sharer *s, int32_t n_worker)
{
    for (int32_t w = 0; w < n_worker; w++) {
        const int32_t from = (int32_t)((int64_t)w * s->n_node / n_worker);
        const int32_t to = (int32_t)((int64_t)(w + 1) * s->n_node / n_worker);
        s->first[w] = s->core_row[from];
        s->count[w] = s->core_row[to] - s->core_row[from];
    }
}

/* Puts workers on nodes, one after another where the most cores would be left for each, then
 * shares the cores of each node. Returns 0 without memory. */
static int share_cores(sharer *s, int32_t n_worker)
{
    int32_t *on = cpubind_arena_ints(s->arena, s->n_node);
    int32_t w = 0;
    if (!on)
        return 0;
    for (int32_t k = 0; k < s->n_node; k++)
        on[k] = 1;
    for (int32_t left = n_worker - s->n_node; left > 0; left--) {
        int32_t best = 0;
        for (int32_t k = 1; k < s->n_node; k++) {
            const int64_t here = s->core_row[k + 1] - s->core_row[k];
            const int64_t there = s->core_row[best + 1] - s->core_row[best];
            if (here * (on[best] + 1) > there * (on[k] + 1))
                best = k;
        }
        on[best]++;
    }
    for (int32_t k = 0; k < s->n_node; k++) {
        const int32_t n = s->core_row[k + 1] - s->core_row[k];
        for (int32_t i = 0, at = s->core_row[k]; i < on[k]; i++, w++) {
            s->first[w] = at;
            s->count[w] = n / on[k] + (i < n % on[k]);
            at += s->count[w];
        }
    }
    return 1;
}

/* Allowed CPUs of a core. */
static int32_t width(const sharer *s, int32_t core)
{
    int32_t n = 0;
    for (int32_t k = 0; k < s->host->n_cpu; k++)
        n += core_of(s->host, k) == core_of(s->host, s->core[core]);
    return n;
}

/* Leaves `n` CPUs of a worker free, its last cores. Returns how many CPUs are still to be
 * left. */
static int32_t leave(sharer *s, int32_t worker, int32_t n)
{
    while (n > 0 && s->count[worker] > 0)
        n -= width(s, s->first[worker] + --s->count[worker]);
    return n;
}

static cpubind_workers_status take_worker(sharer *s, int32_t w)
{
    const cpubind_topology *host = s->host;
    cpubind_worker *worker = &s->out->worker[w];
    int32_t *cpu = cpubind_arena_ints(s->arena, host->n_cpu);
    int32_t *node = cpubind_arena_ints(s->arena, host->n_node);
    if (!cpu || !node)
        return CPUBIND_WORKERS_NO_MEMORY;
    worker->cpu = cpu;
    worker->node = node;
    worker->n_cpu = worker->n_node = 0;
    for (int32_t i = 0; i < host->n_cpu; i++)
        for (int32_t c = s->first[w]; c < s->first[w] + s->count[w]; c++)
            if (core_of(host, s->core[c]) == core_of(host, i))
                cpu[worker->n_cpu++] = host->cpu[i];
    for (int32_t k = 0; k < host->n_node; k++)
        for (int32_t c = s->first[w]; c < s->first[w] + s->count[w]; c++)
            if (host->node[s->core[c]] == host->node_id[k]) {
                node[worker->n_node++] = host->node_id[k];
                break;
            }
    return worker->n_cpu > 0 ? CPUBIND_WORKERS_OK : CPUBIND_WORKERS_RESERVED;
}

cpubind_workers_status cpubind_cpu_workers(const cpubind_topology *host, const uint8_t *is_free,
                                           const cpubind_workers_asked *asked,
                                           cpubind_arena *arena, cpubind_workers *out)
{
    sharer s = {.host = host, .asked = asked, .arena = arena, .out = out};
    cpubind_workers_status status;
    int32_t n, once = asked->reserve_host;
    memset(out, 0, sizeof *out);
    status = list_cores(&s, is_free);
    if (status != CPUBIND_WORKERS_OK)
        return status;
    n = out->n_worker = asked->n_worker > 0 ? asked->n_worker : s.n_node;
    if (n > s.n_core)
        return CPUBIND_WORKERS_TOO_MANY;
    s.first = cpubind_arena_ints(arena, n);
    s.count = cpubind_arena_ints(arena, n);
    out->worker = (cpubind_worker *)cpubind_arena_take(arena, n, sizeof *out->worker);
    if (!s.first || !s.count || !out->worker)
        return CPUBIND_WORKERS_NO_MEMORY;
    if (n < s.n_node)
        share_nodes(&s, n);
    else if (!share_cores(&s, n))
        return CPUBIND_WORKERS_NO_MEMORY;
    for (int32_t w = 0; w < n; w++)
        (void)leave(&s, w, asked->reserve);
    for (int32_t w = n - 1; w >= 0 && once > 0; w--)
        once = leave(&s, w, once);
    for (int32_t w = 0; w < n && status == CPUBIND_WORKERS_OK; w++)
        status = take_worker(&s, w);
    return status;
}
