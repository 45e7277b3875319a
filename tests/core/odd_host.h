/* odd_host.h - random hosts and devices for the tests of the core
 * SPDX-License-Identifier: MIT
 *
 * Odd on purpose: nodes with holes and without CPUs, threads that are adjacent or far apart,
 * offline CPUs, caches that end inside a node, distances at random, homes of one CPU, of all
 * CPUs and of none, cpusets that cut cores, lists of each device. One seed is one host.
 */
#ifndef CPUBIND_TESTS_ODD_HOST_H
#define CPUBIND_TESTS_ODD_HOST_H

#include <stdlib.h>
#include <string.h>

#include "../../cpubind.h"

enum { HOST_CPUS = 400, HOST_NODES = 24, HOST_DEVICES = 16 };

/* What a random host may have. */
typedef struct host_limits {
    int32_t nodes, cores, devices; /* at most; cores of a node */
    int32_t wants;                 /* weights and most, not only minimums */
    int32_t lists;                 /* a list of allowed CPUs of each device */
    int32_t hidden, anywhere;      /* devices of these kinds */
} host_limits;

/* The arrays that `host` and `device` point into. */
typedef struct odd_host {
    int32_t cpu[HOST_CPUS], node[HOST_CPUS], core[HOST_CPUS], cache[HOST_CPUS];
    int32_t distance[HOST_NODES * HOST_NODES], socket[HOST_NODES];
    int32_t home[HOST_DEVICES][HOST_CPUS], allowed[HOST_DEVICES][HOST_CPUS];
    cpubind_host host;
    cpubind_device device[HOST_DEVICES];
    int32_t n_device;
    int32_t is_shared; /* all devices may have the same CPUs */
} odd_host;

/* SplitMix64. */
static inline uint64_t host_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline int32_t host_below(uint64_t *state, int32_t n)
{
    return (int32_t)(host_next(state) % (uint64_t)n);
}

static inline int32_t once_in(uint64_t *state, int32_t n)
{
    return host_below(state, n) == 0;
}

/* The nodes: their numbers, sockets of 1, 2 or 4 neighbours or at random, and distances. */
static inline void make_nodes(uint64_t *s, odd_host *h, int32_t n, int32_t *id)
{
    const int32_t per_socket = 1 << host_below(s, 3), kind = host_below(s, 6);
    const int32_t has_holes = once_in(s, 4);
    int32_t next = 0;
    for (int32_t a = 0; a < n; a++) {
        id[a] = next;
        next += 1 + (has_holes && once_in(s, 3));
    }
    h->host.n_node = id[n - 1] + 1;
    for (int32_t i = 0; i < h->host.n_node * h->host.n_node; i++)
        h->distance[i] = 20;
    for (int32_t a = 0; a < n; a++)
        h->socket[id[a]] = kind == 5 ? host_below(s, 3) : a / per_socket;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b <= a; b++) {
            const int32_t apart = abs(a / per_socket - b / per_socket);
            int32_t d = a == b ? 10 : apart == 0 ? 12 : 20 + 4 * apart;
            if (kind >= 4 && a != b)
                d = 10 + host_below(s, 15);
            h->distance[id[a] * h->host.n_node + id[b]] = d;
            h->distance[id[b] * h->host.n_node + id[a]] = d;
        }
    h->host.distance = once_in(s, 3) ? NULL : h->distance;
    h->host.socket = once_in(s, 2) ? NULL : h->socket;
}

static inline void make_cpus(uint64_t *s, odd_host *h, int32_t n_node, const int32_t *id,
                             int32_t most_cores)
{
    static const int32_t threads[] = {1, 1, 2, 2, 4};
    int32_t n_thread = threads[host_below(s, 5)];
    int32_t per_node = 1 + host_below(s, most_cores), per_cache = 1 + host_below(s, 8);
    const int32_t is_apart = once_in(s, 2), in_turn = once_in(s, 5),
                  has_offline = once_in(s, 8);
    const int32_t n_core = n_node * per_node;
    int32_t first_of_core[HOST_CPUS], first_of_cache[HOST_CPUS], n = 0;
    memset(first_of_core, -1, sizeof first_of_core);
    memset(first_of_cache, -1, sizeof first_of_cache);
    for (int32_t i = 0; i < n_core * n_thread; i++) {
        const int32_t core = is_apart ? i % n_core : i / n_thread;
        const int32_t node = in_turn ? core % n_node : core / per_node;
        const int32_t place = in_turn ? core / n_node : core % per_node;
        const int32_t cache = node * per_node + place / per_cache * per_cache;
        if (n > 0 && has_offline && once_in(s, 5))
            continue;
        if (first_of_core[core] < 0)
            first_of_core[core] = n;
        if (first_of_cache[cache] < 0)
            first_of_cache[cache] = n;
        h->cpu[n] = i;
        h->node[n] = id[node];
        h->core[n] = first_of_core[core];
        h->cache[n++] = first_of_cache[cache];
    }
    h->host.n_cpu = n;
    h->host.cpu = h->cpu;
    h->host.node = h->node;
    h->host.core = once_in(s, 4) ? NULL : h->core;
    h->host.cache = once_in(s, 3) ? NULL : h->cache;
}

/* All; from one on; most; half; not one node; the first half; even nodes. With lists also: by
 * thirds, overlapping, every other. */
static inline int32_t is_allowed(uint64_t *s, const odd_host *h, int32_t kind, int32_t pick,
                                 int32_t i, int32_t device)
{
    const int32_t n = h->host.n_cpu;
    switch (kind) {
    case 1:
        return i >= pick % n;
    case 2:
        return !once_in(s, 6);
    case 3:
        return once_in(s, 2);
    case 4:
        return h->node[i] != h->node[pick % n] || pick % 5 == 0;
    case 5:
        return i < n / 2 + 1;
    case 6:
        return h->node[i] % 2 == 0;
    case 7:
        return device < 0 || i * 3 / n == device % 3;
    case 8:
        return device < 0 || (i >= device * 2 && i < device * 2 + n / 2);
    case 9:
        return device < 0 || device % 2 == 0 || i % 2 == 0;
    default:
        return 1;
    }
}

/* A node (five times of eleven), two, a part of one, CPUs anywhere, one CPU, all, none. */
static inline int32_t is_home(uint64_t *s, const odd_host *h, int32_t kind, int32_t pick,
                              int32_t node, int32_t i)
{
    switch (kind) {
    case 3:
        return h->node[i] == node || h->node[i] == h->node[pick % h->host.n_cpu];
    case 4:
        return h->node[i] == node && i % 3 != pick % 3;
    case 5:
        return h->node[i] == node && h->core[i] % 2 == pick % 2;
    case 6:
        return once_in(s, 6);
    case 7:
        return i == pick % h->host.n_cpu;
    case 8:
        return pick % 4 == 0;
    case 9:
    case 10:
        return 0;
    default:
        return h->node[i] == node;
    }
}

static inline void make_wants(uint64_t *s, const host_limits *limits, int32_t kind,
                              cpubind_device *d)
{
    static const int32_t minimums[] = {5, 3, 1, 0};
    d->minimum = kind < 4 ? minimums[kind] : host_below(s, 9);
    if (limits->wants && once_in(s, 2))
        d->weight = 1 + host_below(s, 5);
    if (limits->wants && once_in(s, 4))
        d->most = 1 + host_below(s, 12);
    if (d->most > 0 && d->minimum > d->most)
        d->minimum = d->most;
    d->is_hidden = limits->hidden && once_in(s, 2);
    d->is_anywhere = limits->anywhere && once_in(s, 6);
}

static inline void make_devices(uint64_t *s, odd_host *h, const host_limits *limits,
                                int32_t n_node, const int32_t *id)
{
    const int32_t shape = host_below(s, 4); /* one device a node, two, mixed twice */
    const int32_t is_unknown = once_in(s, 12), wants = host_below(s, 5);
    const int32_t allowed = host_below(s, 10), pick_allowed = host_below(s, 1000);
    h->is_shared = !(limits->lists && once_in(s, 3));
    h->n_device = 1 + host_below(s, limits->devices);
    for (int32_t d = 0; d < h->n_device; d++) {
        cpubind_device *one = &h->device[d];
        const int32_t node = shape == 0   ? d % n_node
                             : shape == 1 ? d / 2 % n_node
                                          : host_below(s, n_node);
        const int32_t kind = shape < 2 ? 0 : host_below(s, 11), pick = host_below(s, 1000);
        const int32_t is_first = d == 0 || !h->is_shared;
        int32_t *list = h->allowed[h->is_shared ? 0 : d], n_home = 0, n = 0;
        for (int32_t i = 0; i < h->host.n_cpu; i++) {
            if (!is_unknown && is_home(s, h, kind, pick, id[node], i))
                h->home[d][n_home++] = h->cpu[i];
            if (is_first && is_allowed(s, h, allowed, pick_allowed, i, h->is_shared ? -1 : d))
                list[n++] = h->cpu[i];
        }
        one->home.cpu = h->home[d];
        one->home.n = n_home;
        one->allowed.cpu = allowed == 0 ? NULL : list;
        one->allowed.n = allowed == 0 ? 0 : is_first ? n : h->device[0].allowed.n;
        make_wants(s, limits, wants, one);
    }
}

static inline void odd_host_make(uint64_t seed, host_limits limits, odd_host *h)
{
    uint64_t s = seed * 7919 + 1;
    const int32_t n_node = 1 + host_below(&s, limits.nodes);
    int32_t id[HOST_NODES];
    memset(h, 0, sizeof *h);
    make_nodes(&s, h, n_node, id);
    make_cpus(&s, h, n_node, id, limits.cores);
    make_devices(&s, h, &limits, n_node, id);
}

#endif
