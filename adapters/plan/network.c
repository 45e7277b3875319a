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
static int keep(const cpubind_facts *f, cpubind_network *n,
                int (*is_so)(const cpubind_host_device *))
{
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
static void compare_all(const cpubind_facts *f, cpubind_network *n)
{
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

static void give(const cpubind_facts *f, cpubind_network *n, int32_t row, int32_t card)
{
    n->has[row * f->n_nic + card] = 1;
    n->n_device[card]++;
}

/* A device takes the card of the nearest that the fewest have. */
static void take_one(const cpubind_facts *f, cpubind_network *n, int32_t row)
{
    int32_t best = -1;
    for (int32_t k = 0; k < f->n_nic; k++)
        if (n->n_device[k] >= 0 && near_of(f, row, k) == n->near[row] &&
            (best < 0 || n->n_device[k] < n->n_device[best]))
            best = k;
    if (best >= 0)
        give(f, n, row, best);
}

/* A card that nobody has goes to the device with the fewest, of those that have none nearer. */
static void give_left(const cpubind_facts *f, cpubind_network *n, int32_t card)
{
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
        give(f, n, best, card);
}

int cpubind_network_make(const cpubind_facts *f, cpubind_arena *arena, cpubind_network *out)
{
    const int32_t n_pair = f->n_bus * f->n_nic; /* its size fits: facts->nearness has it */
    memset(out, 0, sizeof *out);
    out->has = (uint8_t *)cpubind_arena_take(arena, n_pair, 1);
    out->near = cpubind_arena_ints(arena, f->n_bus);
    out->n_device = cpubind_arena_ints(arena, f->n_nic);
    if (!out->has || !out->near || !out->n_device)
        return 0;
    memset(out->has, 0, (size_t)n_pair);
    for (int32_t k = 0; k < f->n_nic; k++)
        out->n_device[k] = 0;
    (void)keep(f, out, has_name);
    (void)keep(f, out, is_physical);
    out->is_rdma = keep(f, out, is_rdma);
    compare_all(f, out);
    out->is_telling |= out->is_rdma;
    for (int32_t near = 0; near <= CPUBIND_TOGETHER_UNKNOWN; near++)
        for (int32_t i = 0; i < f->n_bus; i++)
            if (out->near[i] == near && cpubind_facts_has_share(f, i))
                take_one(f, out, i);
    for (int32_t k = 0; k < f->n_nic; k++)
        if (out->n_device[k] == 0)
            give_left(f, out, k);
    for (int32_t i = 0; i < f->n_bus && f->n_nic > 0; i++)
        if (f->bus[i].parent >= 0)
            memcpy(out->has + i * f->n_nic, out->has + f->bus[i].parent * f->n_nic,
                   (size_t)f->n_nic);
    return 1;
}
