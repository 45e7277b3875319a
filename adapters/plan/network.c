/* network.c - which network cards and disks each device of a host has: see network.h
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc.
 */
#include "network.h"

#include <string.h>

enum { CLASS_INFINIBAND = 0x0207 };

/* The cards of one kind, while they are given away. */
typedef struct giving {
    const cpubind_facts *facts;
    cpubind_given *to;
} giving;

static int has_name(const cpubind_host_device *card)
{
    return cpubind_card_name(card).at != NULL;
}

static int is_physical(const cpubind_host_device *card)
{
    return !card->is_virtual;
}

static int is_rdma(const cpubind_host_device *card)
{
    return card->rdma.at || card->ids.class_code == CLASS_INFINIBAND;
}

/* Leaves of the cards that count those that are so, unless none is. Returns whether one is. */
static int keep(cpubind_given *to, int (*is_so)(const cpubind_host_device *))
{
    int has = 0;
    for (int32_t k = 0; k < to->cards.n; k++)
        has |= to->n_device[k] >= 0 && is_so(&to->cards.at[k]);
    for (int32_t k = 0; has && k < to->cards.n; k++)
        if (!is_so(&to->cards.at[k]))
            to->n_device[k] = -1;
    return has;
}

static int32_t near_of(const giving *g, int32_t row, int32_t card)
{
    return (int32_t)cpubind_together_of(g->facts, &g->facts->bus[row], &g->to->cards.at[card]);
}

/* Sees how near the nearest cards of each device are, and whether that tells something. */
static void compare_all(const giving *g)
{
    cpubind_given *to = g->to;
    int32_t first = -1;
    for (int32_t i = 0; i < g->facts->n_bus; i++) {
        to->near[i] = CPUBIND_TOGETHER_UNKNOWN;
        for (int32_t k = 0; k < to->cards.n; k++) {
            const int32_t near = near_of(g, i, k);
            if (to->n_device[k] < 0)
                continue;
            to->near[i] = near < to->near[i] ? near : to->near[i];
            to->is_telling |= first >= 0 && near != first;
            first = near;
        }
    }
}

static void give(const giving *g, int32_t row, int32_t card)
{
    g->to->has[row * g->to->cards.n + card] = 1;
    g->to->n_device[card]++;
}

/* A device takes the card of the nearest that the fewest have. */
static void take_one(const giving *g, int32_t row)
{
    const cpubind_given *to = g->to;
    int32_t best = -1;
    for (int32_t k = 0; k < to->cards.n; k++)
        if (to->n_device[k] >= 0 && near_of(g, row, k) == to->near[row] &&
            (best < 0 || to->n_device[k] < to->n_device[best]))
            best = k;
    if (best >= 0)
        give(g, row, best);
}

/* A card that nobody has goes to the device with the fewest, of those that have none nearer. */
static void give_left(const giving *g, int32_t card)
{
    const cpubind_given *to = g->to;
    int32_t best = -1, fewest = 0;
    for (int32_t i = 0; i < g->facts->n_bus; i++) {
        int32_t n_card = 0;
        if (!cpubind_facts_has_share(g->facts, i) || near_of(g, i, card) != to->near[i])
            continue;
        for (int32_t k = 0; k < to->cards.n; k++)
            n_card += cpubind_network_has(to, i, k);
        if (best >= 0 && n_card >= fewest)
            continue;
        best = i;
        fewest = n_card;
    }
    if (best >= 0)
        give(g, best, card);
}

/* Takes the memory for all devices and cards. Returns 0 when the arena is full. */
static int start(const cpubind_facts *f, cpubind_arena *arena, cpubind_given *to)
{
    const int32_t n = to->cards.n;
    if (n > 0 && f->n_bus > INT32_MAX / n)
        return 0;
    to->has = (uint8_t *)cpubind_arena_take(arena, f->n_bus * n, 1);
    to->near = cpubind_arena_ints(arena, f->n_bus);
    to->n_device = cpubind_arena_ints(arena, n);
    if (!to->has || !to->near || !to->n_device)
        return 0;
    memset(to->has, 0, (size_t)f->n_bus * (size_t)n);
    for (int32_t k = 0; k < n; k++)
        to->n_device[k] = 0;
    return 1;
}

/* Gives the cards of a kind to the devices. */
static void give_all(const giving *g)
{
    const cpubind_facts *f = g->facts;
    cpubind_given *to = g->to;
    const size_t n = (size_t)to->cards.n;
    (void)keep(to, has_name);
    (void)keep(to, is_physical);
    to->is_rdma = keep(to, is_rdma);
    compare_all(g);
    to->is_telling |= to->is_rdma;
    for (int32_t near = 0; near <= CPUBIND_TOGETHER_UNKNOWN; near++)
        for (int32_t i = 0; i < f->n_bus; i++)
            if (to->near[i] == near && cpubind_facts_has_share(f, i))
                take_one(g, i);
    for (int32_t k = 0; k < to->cards.n; k++)
        if (to->n_device[k] == 0)
            give_left(g, k);
    for (int32_t i = 0; i < f->n_bus && n > 0; i++)
        if (f->bus[i].parent >= 0)
            memcpy(to->has + (size_t)i * n, to->has + (size_t)f->bus[i].parent * n, n);
}

cpubind_problem_code cpubind_network_read(const cpubind_source *source,
                                          const cpubind_facts *host, cpubind_arena *arena,
                                          cpubind_network *out, cpubind_problem *problem)
{
    cpubind_problem_code code;
    memset(out, 0, sizeof *out);
    code = cpubind_facts_read_cards(source, host, arena, &out->facts, problem);
    for (int kind = 0; kind < CPUBIND_CARD_KINDS && code == CPUBIND_PROBLEM_NONE; kind++) {
        const giving g = {&out->facts, &out->given[kind]};
        g.to->cards = out->facts.cards[kind];
        if (!start(g.facts, arena, g.to))
            return CPUBIND_PROBLEM_NO_MEMORY;
        give_all(&g);
    }
    return code;
}
