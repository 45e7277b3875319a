/* numa_bind.c - the CPUs and nodes of one rank that is bound to the node of its device
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The homes of all ranks go to the core, which shares a node among its
 * ranks without overlap; CPUs of other nodes that the core would give are left out.
 */
#include <string.h>

#include "numa_bind.h"
#include "plan_parts.h"

typedef struct finder {
    const cpubind_facts *facts;
    const cpubind_numa_asked *asked;
    cpubind_arena *arena;
    cpubind_numa_bound *out;
    int32_t n_rank;
    cpubind_topology host;    /* its CPUs are those that count */
    cpubind_host online;      /* the same for the core ... */
    cpubind_device *claimant; /* ... and who claims its CPUs, by rank: the homes */
    int32_t *owner, *work;
    int32_t me;   /* the rank that is asked for; with hidden devices or tiles not the index */
    int32_t tile; /* of the device that the rank is; -1: it is the device, or listed */
} finder;

/* The host of the facts with the CPUs that count alone. Returns 0 when the arena is full. */
static int limit_host(const cpubind_facts *facts, const cpubind_pci_limits *limits,
                      cpubind_arena *arena, cpubind_topology *out)
{
    const cpubind_topology *host = &facts->host;
    int32_t *cpu = cpubind_arena_ints(arena, host->n_cpu);
    int32_t *node = cpubind_arena_ints(arena, host->n_cpu);
    int32_t *core = cpubind_arena_ints(arena, host->n_cpu);
    int32_t n = 0, allowed_at = 0, exclude_at = 0;
    if (!cpu || !node || !core)
        return 0;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        if (cpubind_list_has(limits->exclude, limits->n_exclude, host->cpu[i], &exclude_at) ||
            (limits->allowed &&
             !cpubind_list_has(limits->allowed, limits->n_allowed, host->cpu[i], &allowed_at)))
            continue;
        cpu[n] = host->cpu[i];
        node[n] = host->node[i];
        core[n++] = host->core ? host->core[i] : host->cpu[i];
    }
    *out = *host;
    out->cpu = cpu;
    out->node = node;
    out->core = core;
    out->n_cpu = n;
    return 1;
}

static int is_node(const cpubind_facts *f, int32_t node)
{
    int32_t at = 0;
    return cpubind_list_has(f->all_node, f->n_all_node, node, &at);
}

/* The node with CPUs that a node stands for; without distances the first one. */
static int32_t node_with_cpus(const cpubind_facts *f, int32_t node)
{
    const int32_t nearest = cpubind_facts_nearest_node(f, node);
    return nearest < 0 && is_node(f, node) && f->host.n_node > 0 ? f->host.node_id[0] : nearest;
}

/* == Homes ================================================================== */

/* Lists the CPUs of a node. Returns 0 when the arena is full. */
static int list_node(const finder *s, int32_t node, cpubind_list *out)
{
    const cpubind_facts *f = s->facts;
    const int32_t with_cpus = node_with_cpus(f, node);
    int32_t *list = cpubind_arena_ints(s->arena, f->n_cpu_id);
    for (int32_t cpu = 0; list && cpu < f->n_cpu_id; cpu++)
        if (with_cpus >= 0 && f->node_of[cpu] == with_cpus)
            list[out->n++] = cpu;
    out->cpu = list;
    return list != NULL;
}

/* Lists the homes: by the list of nodes, of as many ranks as it has; else of every device of
 * the host, those that this process does not see too. */
static cpubind_numa_bind_status list_homes(finder *s)
{
    const cpubind_facts *f = s->facts;
    const int is_listed = s->asked->node != NULL;
    s->n_rank = is_listed ? s->asked->n_node : f->n_bus;
    s->claimant =
        (cpubind_device *)cpubind_arena_take(s->arena, s->n_rank, sizeof *s->claimant);
    if (!s->claimant)
        return CPUBIND_NUMA_BIND_NO_MEMORY;
    for (int32_t i = 0; i < s->n_rank; i++) {
        cpubind_device *one = &s->claimant[i];
        *one = (cpubind_device){.minimum = 1};
        if (is_listed && !list_node(s, s->asked->node[i], &one->home))
            return CPUBIND_NUMA_BIND_NO_MEMORY;
        if (!is_listed && cpubind_facts_has_share(f, i))
            one->home = (cpubind_list){f->bus[i].cpu, f->bus[i].n_cpu};
    }
    return CPUBIND_NUMA_BIND_OK;
}

/* == Results ================================================================ */

/* Takes those CPUs of a list that are allowed, and counts the others. */
static cpubind_numa_bind_status take_allowed(finder *s, const int32_t *cpu, int32_t n)
{
    const cpubind_topology *host = &s->host;
    int32_t *out = cpubind_arena_ints(s->arena, n);
    int32_t n_out = 0, at = 0;
    if (!out)
        return CPUBIND_NUMA_BIND_NO_MEMORY;
    for (int32_t i = 0; i < n; i++)
        if (cpubind_list_has(host->cpu, host->n_cpu, cpu[i], &at))
            out[n_out++] = cpu[i];
    s->out->cpu = out;
    s->out->n_cpu = n_out;
    s->out->n_denied = n - n_out;
    return n_out > 0 ? CPUBIND_NUMA_BIND_OK : CPUBIND_NUMA_BIND_NOT_ALLOWED;
}

/* Takes the node of the list for memory, else those of the CPUs. */
static cpubind_numa_bind_status take_nodes(finder *s)
{
    const cpubind_facts *f = s->facts;
    int32_t *node = cpubind_arena_ints(s->arena, f->n_all_node);
    int32_t n = 0;
    if (s->asked->node) {
        s->out->node = s->asked->node + s->asked->index;
        s->out->n_node = 1;
        return CPUBIND_NUMA_BIND_OK;
    }
    if (!node)
        return CPUBIND_NUMA_BIND_NO_MEMORY;
    for (int32_t k = 0; k < f->n_all_node && f->has_nodes; k++)
        for (int32_t i = 0; i < s->out->n_cpu; i++)
            if (f->node_of[s->out->cpu[i]] == f->all_node[k]) {
                node[n++] = f->all_node[k];
                break;
            }
    s->out->node = node;
    s->out->n_node = n;
    return CPUBIND_NUMA_BIND_OK;
}

/* Whether the home of a rank has a CPU of this one's. */
static int is_rival(const finder *s, int32_t rank)
{
    const cpubind_list *home = &s->claimant[rank].home;
    return cpubind_list_common(home->cpu, home->n, s->out->cpu, s->out->n_cpu) > 0;
}

/* Whether another rank has a CPU of this rank's home. */
static int has_rival(const finder *s)
{
    for (int32_t i = 0; i < s->n_rank; i++)
        if (i != s->me && is_rival(s, i))
            return 1;
    return 0;
}

/* Makes of the host and the homes what the core takes. Returns 0 when the arena is full. */
static int make_claims(finder *s)
{
    const cpubind_topology *t = &s->host;
    s->owner = cpubind_arena_ints(s->arena, t->n_cpu);
    s->work = cpubind_arena_ints(s->arena, CPUBIND_WORK(t->n_cpu, t->n_node, s->n_rank));
    return cpubind_priv_make_host(t, s->arena, &s->online) && s->owner && s->work;
}

/* Takes this rank's share of its home, which other ranks have too. Where there are more ranks
 * than CPUs, and one of them gets none, that one and all of its rivals share. */
static cpubind_numa_bind_status take_share(finder *s)
{
    const cpubind_policy turns = {.rule = CPUBIND_RULE_TURNS};
    int32_t *cpu = cpubind_arena_ints(s->arena, s->out->n_cpu);
    int32_t n = 0, at = 0;
    if (!cpu || !make_claims(s))
        return CPUBIND_NUMA_BIND_NO_MEMORY;
    if (cpubind_plan(&s->online, s->claimant, s->n_rank, &turns, s->owner, s->work, NULL) !=
        CPUBIND_OK)
        return CPUBIND_NUMA_BIND_OK;
    for (int32_t i = 0; i < s->n_rank; i++) {
        int32_t has_some = 0;
        for (int32_t k = 0; k < s->online.n_cpu; k++)
            has_some |= s->owner[k] == i;
        s->out->is_shared |= !has_some && (i == s->me || is_rival(s, i));
    }
    for (int32_t k = 0; k < s->online.n_cpu; k++)
        if (s->owner[k] == s->me &&
            cpubind_list_has(s->out->cpu, s->out->n_cpu, s->online.cpu[k], &at))
            cpu[n++] = s->online.cpu[k];
    s->out->is_shared |= n == 0;
    if (s->out->is_shared)
        return CPUBIND_NUMA_BIND_OK;
    s->out->cpu = cpu;
    s->out->n_cpu = n;
    return CPUBIND_NUMA_BIND_OK;
}

/* Takes the part of a tile from the CPUs of its device. Where there are more tiles than CPUs,
 * they share. */
static cpubind_numa_bind_status take_tile(finder *s)
{
    const cpubind_roles roles = {.count = {[CPUBIND_ROLE_MAIN] = 1},
                                 .n_process = s->facts->bus[s->me].accelerator.n_tile,
                                 .process = s->tile};
    int32_t *cpu = cpubind_arena_ints(s->arena, s->out->n_cpu);
    int32_t *role = cpubind_arena_ints(s->arena, s->host.n_cpu);
    int32_t n = 0, at = 0;
    if (!cpu || !role || !make_claims(s))
        return CPUBIND_NUMA_BIND_NO_MEMORY;
    for (int32_t k = 0; k < s->online.n_cpu; k++)
        s->owner[k] = cpubind_list_has(s->out->cpu, s->out->n_cpu, s->online.cpu[k], &at)
                          ? s->me
                          : CPUBIND_NONE;
    if (cpubind_place(&s->online, s->claimant, s->n_rank, s->owner, s->me, &roles, role,
                      s->work, NULL) != CPUBIND_OK) {
        s->out->is_shared = 1;
        return CPUBIND_NUMA_BIND_OK;
    }
    for (int32_t k = 0; k < s->online.n_cpu; k++)
        if (s->owner[k] == s->me && role[k] == CPUBIND_ROLE_MAIN)
            cpu[n++] = s->online.cpu[k];
    s->out->cpu = cpu;
    s->out->n_cpu = n;
    return CPUBIND_NUMA_BIND_OK;
}

/* Checks the index and the nodes of the lists. */
static cpubind_numa_bind_status check(finder *s, const cpubind_pci_rank *rank, int32_t n_rank)
{
    const cpubind_numa_asked *asked = s->asked;
    s->out->device = s->tile = -1;
    if (asked->node) {
        s->out->n_rank = asked->n_node;
        s->me = asked->index;
        if (asked->index >= asked->n_node)
            return CPUBIND_NUMA_BIND_PAST_NODES;
    }
    for (int32_t i = 0; asked->node && i < asked->n_node; i++)
        if (!is_node(s->facts, asked->node[i])) {
            s->out->bad_node = asked->node[i];
            return CPUBIND_NUMA_BIND_NO_NODE;
        }
    if (asked->cpus && asked->index >= asked->cpus->n) {
        s->out->n_rank = asked->cpus->n;
        return CPUBIND_NUMA_BIND_PAST_CPUS;
    }
    if (asked->node || asked->cpus)
        return CPUBIND_NUMA_BIND_OK;
    s->out->n_rank = n_rank;
    if (asked->index >= n_rank)
        return CPUBIND_NUMA_BIND_PAST_DEVICES;
    s->me = s->out->device = rank[asked->index].device;
    s->tile = rank[asked->index].tile;
    return s->facts->bus[s->me].n_cpu > 0 ? CPUBIND_NUMA_BIND_OK : CPUBIND_NUMA_BIND_NO_PLACE;
}

/* The list of CPUs of this rank, with the node of its list for memory. */
static cpubind_numa_bind_status take_list(finder *s)
{
    const cpubind_lists *cpus = s->asked->cpus;
    const int32_t first = cpus->row[s->asked->index];
    cpubind_numa_bind_status status =
        take_allowed(s, cpus->cpu + first, cpus->row[s->asked->index + 1] - first);
    return status == CPUBIND_NUMA_BIND_OK ? take_nodes(s) : status;
}

cpubind_numa_bind_status cpubind_numa_bind_find(const cpubind_facts *facts,
                                                const cpubind_numa_asked *asked,
                                                cpubind_arena *arena, cpubind_numa_bound *out)
{
    finder s = {.facts = facts, .asked = asked, .arena = arena, .out = out};
    cpubind_pci_rank *rank = (cpubind_pci_rank *)cpubind_arena_take(
        arena, facts->n_bus * CPUBIND_PCI_NUMBERS, sizeof *rank);
    cpubind_numa_bind_status status;
    memset(out, 0, sizeof *out);
    if (!rank || !limit_host(facts, &asked->limits, arena, &s.host))
        return CPUBIND_NUMA_BIND_NO_MEMORY;
    out->allowed = s.host.cpu;
    out->n_allowed = s.host.n_cpu;
    status = check(&s, rank, cpubind_pci_ranks(facts, rank));
    if (status != CPUBIND_NUMA_BIND_OK)
        return status;
    if (asked->cpus)
        return take_list(&s);
    status = list_homes(&s);
    if (status == CPUBIND_NUMA_BIND_OK)
        status = take_allowed(&s, s.claimant[s.me].home.cpu, s.claimant[s.me].home.n);
    out->has_rivals = status == CPUBIND_NUMA_BIND_OK && (s.tile >= 0 || has_rival(&s));
    if (out->has_rivals)
        status = take_share(&s);
    if (status == CPUBIND_NUMA_BIND_OK && s.tile >= 0)
        status = take_tile(&s);
    return status == CPUBIND_NUMA_BIND_OK ? take_nodes(&s) : status;
}
