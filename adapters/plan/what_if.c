/* what_if.c - the facts of a host as they would be with another setting of its firmware
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. Changes nodes, CPUs and the places of devices; the plan of the facts
 * is made as any other.
 */
#include "what_if.h"

#include <string.h>

#include "plan_parts.h"

enum { NEXT_NODE = 12 }; /* between two nodes of a socket, as AMD and Intel have it */

/* Arrays of `then` that are filled step by step, and what the steps need. */
typedef struct changer {
    const cpubind_facts *now;
    cpubind_facts *then;
    int32_t each;             /* nodes of a socket */
    int32_t *node_of;         /* by CPU, of `then` */
    int32_t *is_on, *socket;  /* by node of `now` and of `then`: the number of its socket */
    int32_t *unit;            /* by the lowest CPU of what stays whole: its number; -1: none */
    int32_t *by_node, *first; /* the CPUs of node a: by_node[first[a]] up to, not with, that of
                                 first[a + 1] */
    int32_t *id, *distance;
    int32_t *cpu; /* those that are allowed */
    cpubind_host_device *listed;
} changer;

/* Returns 0 when the arena is full. */
static int reserve(changer *c, cpubind_arena *arena)
{
    const cpubind_facts *now = c->now;
    const int32_t most = now->n_node * (c->each > 0 ? c->each : 1);
    c->node_of = c->then->node_of = cpubind_arena_ints(arena, CPUBIND_MAX_CPUS);
    c->is_on = cpubind_arena_ints(arena, now->n_node);
    c->socket = cpubind_arena_ints(arena, most);
    c->unit = cpubind_arena_ints(arena, CPUBIND_MAX_CPUS);
    c->by_node = cpubind_arena_ints(arena, now->n_cpu_id);
    c->first = cpubind_arena_ints(arena, most + 1);
    c->id = cpubind_arena_ints(arena, most);
    c->distance = cpubind_arena_ints(arena, most * most);
    c->cpu = cpubind_arena_ints(arena, now->n_cpu);
    c->then->bus =
        (cpubind_host_device *)cpubind_arena_take(arena, now->n_bus, sizeof *c->then->bus);
    c->then->device = (cpubind_host_device **)cpubind_arena_take(arena, now->n_device,
                                                                 sizeof(cpubind_host_device *));
    c->listed =
        (cpubind_host_device *)cpubind_arena_take(arena, now->n_device, sizeof *c->listed);
    return c->node_of && c->is_on && c->socket && c->unit && c->by_node && c->first && c->id &&
           c->distance && c->cpu && c->then->bus && c->then->device && c->listed;
}

/* == Threads ================================================================ */

/* Why not, or NULL. */
static const char *drop_threads(changer *c)
{
    int32_t n = 0;
    if (!c->now->core_of)
        return "which CPUs share a core is not known";
    memset(c->unit, 0, CPUBIND_MAX_CPUS * sizeof *c->unit);
    for (int32_t cpu = 0; cpu < c->now->n_cpu_id; cpu++) {
        if (c->node_of[cpu] < 0 || c->unit[c->now->core_of[cpu]]++ == 0)
            continue;
        c->node_of[cpu] = -1;
        n++;
    }
    c->then->n_online -= n;
    c->then->threads = 1;
    return n > 0 ? NULL : "its cores have one thread each: SMT is off, or there is none";
}

/* == Nodes ================================================================== */

/* The sockets of now: where no input numbers them, nodes that are near each other are on one,
 * as in cpubind.h. Returns 0 where they are not known. */
static int find_sockets(changer *c)
{
    const cpubind_facts *now = c->now;
    const int32_t n = now->n_node;
    for (int32_t a = 0; a < n; a++) {
        int32_t b = 0;
        while (b < a && now->distance && now->distance[b * n + a] >= CPUBIND_FAR_DISTANCE)
            b++;
        c->is_on[a] = now->socket ? now->socket[a] : b < a ? c->is_on[b] : a;
    }
    return now->socket || now->distance || n == 1;
}

/* How many nodes the socket of a node has; *before: those of lower numbers. */
static int32_t count_nodes(const changer *c, int32_t node, int32_t *before)
{
    int32_t n = 0;
    *before = 0;
    for (int32_t a = 0; a < c->now->n_node; a++) {
        *before += a < node && c->is_on[a] == c->is_on[node];
        n += c->is_on[a] == c->is_on[node];
    }
    return n;
}

/* What stays whole: a last cache, -1: not known; or a core. */
static int32_t unit_of(const cpubind_facts *now, int32_t cpu, int by_cache)
{
    return !by_cache ? cpubind_facts_core(now, cpu) : now->cache_of ? now->cache_of[cpu] : -1;
}

/* Numbers the units of a socket, by node, then by CPU. Returns how many there are; 0: caches
 * are not known. */
static int32_t number_units(changer *c, int32_t socket, int by_cache)
{
    const cpubind_facts *now = c->now;
    int32_t n = 0;
    memset(c->unit, -1, CPUBIND_MAX_CPUS * sizeof *c->unit);
    for (int32_t a = 0; a < now->n_node; a++)
        for (int32_t cpu = 0; c->is_on[a] == socket && cpu < now->n_cpu_id; cpu++) {
            const int32_t unit = now->node_of[cpu] == now->node_id[a]
                                     ? unit_of(now, cpu, by_cache)
                                     : CPUBIND_MAX_CPUS;
            if (unit < 0)
                return 0;
            if (unit < CPUBIND_MAX_CPUS && c->unit[unit] < 0)
                c->unit[unit] = n++;
        }
    return n;
}

/* Cuts one socket into the next nodes. */
static const char *cut_socket(changer *c, int32_t socket)
{
    const cpubind_facts *now = c->now;
    int32_t n = number_units(c, socket, 1);
    const int by_cache = n > 1;
    if (!by_cache)
        n = number_units(c, socket, 0);
    if (n % c->each != 0)
        return by_cache ? "the last caches of a socket are no multiple of these nodes"
                        : "the cores of a socket are no multiple of these nodes";
    for (int32_t cpu = 0; cpu < now->n_cpu_id; cpu++) {
        const int32_t a = cpubind_facts_node(now, now->node_of[cpu]);
        if (a >= 0 && c->is_on[a] == socket)
            c->node_of[cpu] =
                c->then->n_node + c->unit[unit_of(now, cpu, by_cache)] / (n / c->each);
    }
    for (int32_t k = 0; k < c->each; k++)
        c->socket[c->then->n_node++] = socket;
    return NULL;
}

/* The distance of two new nodes: the least of now between nodes of their sockets. */
static int32_t distance_of(const changer *c, int32_t a, int32_t b)
{
    const cpubind_facts *now = c->now;
    int32_t least = 0;
    for (int32_t i = 0; i < now->n_node * now->n_node; i++) {
        const int32_t x = i / now->n_node, y = i % now->n_node;
        if (c->is_on[x] == c->socket[a] && c->is_on[y] == c->socket[b] &&
            (a == b) == (x == y) && (least == 0 || now->distance[i] < least))
            least = now->distance[i];
    }
    return least > 0 ? least : NEXT_NODE;
}

/* The new nodes by themselves: ids, sockets, distances, memory, CPUs. */
static void describe_nodes(changer *c)
{
    cpubind_facts *then = c->then;
    const int32_t n = then->n_node;
    int32_t n_cpu = 0;
    for (int32_t a = 0; a < n; a++) {
        c->id[a] = a;
        c->first[a] = n_cpu;
        for (int32_t cpu = 0; cpu < then->n_cpu_id; cpu++)
            if (c->node_of[cpu] == a)
                c->by_node[n_cpu++] = cpu;
        c->first[a + 1] = n_cpu;
    }
    for (int32_t i = 0; c->now->distance && i < n * n; i++)
        c->distance[i] = distance_of(c, i / n, i % n);
    then->node_id = then->all_node = c->id;
    then->n_all_node = n;
    then->distance = then->all_distance = c->now->distance ? c->distance : NULL;
    then->socket = c->socket;
    then->memory = c->id;
    then->n_memory = then->n_memory > 0 ? n : then->n_memory;
}

/* == Devices ================================================================ */

/* Whether a row of the bus is the first on its node that has its PCI bus. */
static int is_first_of_bus(const cpubind_facts *now, int32_t row)
{
    const cpubind_host_device *d = &now->bus[row];
    for (int32_t i = 0; i < row; i++)
        if (now->bus[i].node == d->node && now->bus[i].pci.domain == d->pci.domain &&
            now->bus[i].pci.bus == d->pci.bus)
            return 0;
    return 1;
}

/* The new node of a row of the bus, which are in the order of addresses; -1: not known. */
static int32_t node_of_row(const changer *c, int32_t row)
{
    const cpubind_facts *now = c->now;
    const int32_t node = cpubind_facts_node(now, now->bus[row].node);
    int32_t of_node = 0, turn = -1, before, first = 0, n;
    if (node < 0 || now->bus[row].n_cpu == 0)
        return -1;
    for (int32_t i = 0; i < now->n_bus; i++) {
        const int is_first = now->bus[i].node == now->bus[row].node && is_first_of_bus(now, i);
        of_node += is_first;
        turn += is_first && i <= row;
    }
    n = count_nodes(c, node, &before);
    while (c->socket[first] != c->is_on[node])
        first++;
    return first + (before * of_node + turn) * c->each / (of_node * n);
}

/* Moves the devices to the new nodes: those of the bus, then those that are listed beside. */
static const char *move_devices(changer *c)
{
    const cpubind_facts *now = c->now;
    cpubind_host_device *bus = c->then->bus;
    for (int32_t i = 0; i < now->n_bus; i++) {
        const int32_t node = node_of_row(c, i);
        bus[i] = now->bus[i];
        if (node < 0)
            continue;
        bus[i].node = bus[i].numa_node = node;
        bus[i].cpu = c->by_node + c->first[node];
        bus[i].n_cpu = c->first[node + 1] - c->first[node];
    }
    for (int32_t i = 0; i < now->n_device; i++) {
        const cpubind_host_device *from = now->device[i];
        const int32_t row = from->bus >= 0 ? from->bus : from->function;
        if (row < 0 || row >= now->n_bus || (from->bus < 0 && bus[row].n_cpu == 0))
            return "where its NPUs are on the PCI bus is not known";
        c->then->device[i] = from->bus >= 0 ? &bus[row] : &c->listed[i];
        if (from->bus >= 0)
            continue;
        c->listed[i] = *from;
        c->listed[i].node = bus[row].node;
        c->listed[i].cpu = bus[row].cpu;
        c->listed[i].n_cpu = bus[row].n_cpu;
    }
    return NULL;
}

static const char *cut_nodes(changer *c)
{
    const cpubind_facts *now = c->now;
    int32_t n_same = 0;
    if (!find_sockets(c))
        return "which nodes are on one socket is not known";
    if (now->n_all_node > now->n_node)
        return "it has nodes without CPUs, which belong to no socket";
    c->then->n_node = 0;
    for (int32_t a = 0; a < now->n_node; a++) {
        const char *why = NULL;
        int32_t before;
        n_same += count_nodes(c, a, &before) == c->each;
        if (before == 0)
            why = cut_socket(c, c->is_on[a]);
        if (why)
            return why;
    }
    if (n_same == now->n_node)
        return "its sockets have so many nodes already";
    describe_nodes(c);
    return move_devices(c);
}

/* == All ==================================================================== */

/* The allowed CPUs that are left, with their nodes. Returns 0 when the arena is full. */
static int list_allowed(const changer *c, cpubind_arena *arena)
{
    cpubind_facts *then = c->then;
    then->cpu = c->cpu;
    then->n_cpu = 0;
    for (int32_t i = 0; i < c->now->n_cpu; i++)
        if (c->node_of[c->now->cpu[i]] >= 0)
            then->cpu[then->n_cpu++] = c->now->cpu[i];
    return cpubind_facts_topology(then, then->cpu, then->n_cpu, arena, &then->host);
}

cpubind_problem_code cpubind_what_if(const cpubind_facts *now, int32_t nodes,
                                     cpubind_arena *arena, cpubind_facts *then,
                                     cpubind_problem *problem)
{
    changer c = {.now = now, .then = then, .each = nodes};
    const char *why = NULL;
    *then = *now;
    problem->code = CPUBIND_PROBLEM_NO_MEMORY;
    if (nodes > 1 && now->n_node * nodes > CPUBIND_MAX_NODES)
        why = "it has too many nodes for it";
    else if (!reserve(&c, arena))
        return problem->code;
    if (!why) {
        memcpy(c.node_of, now->node_of, CPUBIND_MAX_CPUS * sizeof *c.node_of);
        why = nodes == CPUBIND_WHAT_IF_SMT_OFF ? drop_threads(&c) : cut_nodes(&c);
    }
    if (nodes == CPUBIND_WHAT_IF_SMT_OFF) { /* no device moves */
        then->bus = now->bus;
        then->device = now->device;
    }
    if (!why && !list_allowed(&c, arena))
        return problem->code;
    problem->code = why ? CPUBIND_PROBLEM_BAD_REQUEST : CPUBIND_PROBLEM_NONE;
    problem->what = why;
    return problem->code;
}
