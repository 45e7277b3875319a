/* network.h - which network cards and disks each device of a host has
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O; memory from the caller's arena. The devices of the whole host count, so that
 * all processes of a host have the same answer. It must not know what uses a card.
 */
#ifndef CPUBIND_PLAN_NETWORK_H
#define CPUBIND_PLAN_NETWORK_H

#include "../model/vendor.h"
#include "choose.h"

/* Who has which cards of one kind. */
typedef struct cpubind_given {
    cpubind_cards cards;
    uint8_t *has;       /* [row of facts->bus][card]: 1: it has the card */
    int32_t *near;      /* by row: how near its cards are, a cpubind_together */
    int32_t *n_device;  /* by card: devices that have it; -1: it does not count */
    int32_t is_rdma;    /* 1: the cards that count are of RDMA */
    int32_t is_telling; /* 1: they are, or not all devices are as near to all of them */
} cpubind_given;

typedef struct cpubind_network {
    cpubind_facts facts; /* with the bus of the whole host, and its cards */
    cpubind_given given[CPUBIND_CARD_KINDS];
} cpubind_network;

/* Reads the cards of a host, and gives each device that has a share of the CPUs cards of those
 * that are nearest to it. So it is for disks, too, none of which is of RDMA.
 *   1  Cards count that have a name here, of these those that are no virtual functions, and of
 *      these those of RDMA; a step that no card would pass is left out.
 *   2  Devices take a card each, by address, those that are nearest to one first: of several
 *      that are equally near the one that the fewest have.
 *   3  A card that nobody has then goes to the device with the fewest, of those that have none
 *      nearer.
 * A part of a device has the cards of the whole.
 *   in      host: facts of it, as of its plan
 *   out     *out, in the arena; it borrows from *host
 *   errors  of cpubind_facts_read; NO_MEMORY */
cpubind_problem_code cpubind_network_read(const cpubind_source *source,
                                          const cpubind_facts *host, cpubind_arena *arena,
                                          cpubind_network *out, cpubind_problem *problem);

/* The row of the bus that a device is; -1: not known. */
static inline int32_t cpubind_network_row(const cpubind_network *network,
                                          const cpubind_host_device *device)
{
    return device->pci.domain < 0 ? -1 : cpubind_facts_on_bus(&network->facts, &device->pci);
}

/* Whether a device has a card of a kind. */
static inline int cpubind_network_has(const cpubind_given *given, int32_t row, int32_t card)
{
    return given->has[row * given->cards.n + card];
}

#endif /* CPUBIND_PLAN_NETWORK_H */
