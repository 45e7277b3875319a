/* network.c - which network cards each device of a host has: see network.h
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc.
 */
#include "network.h"

#include <string.h>

enum { CLASS_INFINIBAND = 0x0207 };

static int has_name(const cpubind_host_device *nic)
{
    return cpubind_nic_name(nic).at != NULL;
}

static int is_physical(const cpubind_host_device *nic)
{
    return !nic->is_virtual;
}

static int is_rdma(const cpubind_host_device *nic)
{
    return nic->rdma.at || nic->ids.class_code == CLASS_INFINIBAND;
}

/* Leaves of the cards that count those that are so, unless none is. Returns whether one is. */
static int keep(cpubind_network *n, int (*is_so)(const cpubind_host_device *))
{
    const cpubind_facts *f = &n->facts;
    int has = 0;
    for (int32_t k = 0; k < f->n_nic; k++)
        has |= n->n_device[k] >= 0 && is_so(&f->nic[k]);
    for (int32_t k = 0; has && k < f->n_nic; k++)
        if (!is_so(&f->nic[k]))
            n->n_device[k] = -1;
    return has;
}

static int32_t near_of(const cpubind_facts *f, int32_t row, int32_t card)
{
    return (int32_t)cpubind_together_of(f, &f->bus[row], &f->nic[card]);
}

/* Sees how near the nearest cards of each device are, and whether that tells something. */
static void compare_all(cpubind_network *n)
{
    const cpubind_facts *f = &n->facts;
    int32_t first = -1;
    for (int32_t i = 0; i < f->n_bus; i++) {
        n->near[i] = CPUBIND_TOGETHER_UNKNOWN;
        for (int32_t k = 0; k < f->n_nic; k++) {
            const int32_t near = near_of(f, i, k);
            if (n->n_device[k] < 0)
                continue;
            n->near[i] = near < n->near[i] ? near : n->near[i];
            n->is_telling |= first >= 0 && near != first;
            first = near;
        }
    }
}

static void give(cpubind_network *n, int32_t row, int32_t card)
{
    n->has[row * n->facts.n_nic + card] = 1;
    n->n_device[card]++;
}

/* A device takes the card of the nearest that the fewest have. */
static void take_one(cpubind_network *n, int32_t row)
{
    const cpubind_facts *f = &n->facts;
    int32_t best = -1;
    for (int32_t k = 0; k < f->n_nic; k++)
        if (n->n_device[k] >= 0 && near_of(f, row, k) == n->near[row] &&
            (best < 0 || n->n_device[k] < n->n_device[best]))
            best = k;
    if (best >= 0)
        give(n, row, best);
}

/* A card that nobody has goes to the device with the fewest, of those that have none nearer. */
static void give_left(cpubind_network *n, int32_t card)
{
    const cpubind_facts *f = &n->facts;
    int32_t best = -1, fewest = 0;
    for (int32_t i = 0; i < f->n_bus; i++) {
        int32_t n_card = 0;
        if (!cpubind_facts_has_share(f, i) || near_of(f, i, card) != n->near[i])
            continue;
        for (int32_t k = 0; k < f->n_nic; k++)
            n_card += n->has[i * f->n_nic + k];
        if (best >= 0 && n_card >= fewest)
            continue;
        best = i;
        fewest = n_card;
    }
    if (best >= 0)
        give(n, best, card);
}

/* Gives the cards to the devices. Returns 0 when the arena is full. */
static int give_all(cpubind_network *n, cpubind_arena *arena)
{
    const cpubind_facts *f = &n->facts;
    const int32_t n_pair = f->n_bus * f->n_nic; /* its size fits: facts->nearness has it */
    n->has = (uint8_t *)cpubind_arena_take(arena, n_pair, 1);
    n->near = cpubind_arena_ints(arena, f->n_bus);
    n->n_device = cpubind_arena_ints(arena, f->n_nic);
    if (!n->has || !n->near || !n->n_device)
        return 0;
    memset(n->has, 0, (size_t)n_pair);
    for (int32_t k = 0; k < f->n_nic; k++)
        n->n_device[k] = 0;
    (void)keep(n, has_name);
    (void)keep(n, is_physical);
    n->is_rdma = keep(n, is_rdma);
    compare_all(n);
    n->is_telling |= n->is_rdma;
    for (int32_t near = 0; near <= CPUBIND_TOGETHER_UNKNOWN; near++)
        for (int32_t i = 0; i < f->n_bus; i++)
            if (n->near[i] == near && cpubind_facts_has_share(f, i))
                take_one(n, i);
    for (int32_t k = 0; k < f->n_nic; k++)
        if (n->n_device[k] == 0)
            give_left(n, k);
    for (int32_t i = 0; i < f->n_bus && f->n_nic > 0; i++)
        if (f->bus[i].parent >= 0)
            memcpy(n->has + i * f->n_nic, n->has + f->bus[i].parent * f->n_nic,
                   (size_t)f->n_nic);
    return 1;
}

cpubind_problem_code cpubind_network_read(const cpubind_source *source, cpubind_arena *arena,
                                          cpubind_network *out, cpubind_problem *problem)
{
    const cpubind_pci_request asked = {.is_host = 1, .is_bus_alone = 1, .wants_nics = 1};
    const cpubind_request request = {
        .is_auto_strategy = 1, .scope = CPUBIND_SCOPE_CPUSET, .bus = &asked};
    cpubind_problem_code code;
    memset(out, 0, sizeof *out);
    code = cpubind_facts_read(source, &request, arena, &out->facts, problem);
    return code != CPUBIND_PROBLEM_NONE || give_all(out, arena) ? code
                                                                : CPUBIND_PROBLEM_NO_MEMORY;
}
