/* network.h - which network cards each device of a host has
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O; memory from the caller's arena. The devices of the whole host count, so that
 * all processes of a host have the same answer. It must not know what uses a card.
 */
#ifndef CPUBIND_PLAN_NETWORK_H
#define CPUBIND_PLAN_NETWORK_H

#include "choose.h"

typedef struct cpubind_network {
    cpubind_facts facts; /* with the bus of the whole host, and its network cards */
    uint8_t *has;        /* [row of facts->bus][card of facts->nic]: 1: it has the card */
    int32_t *near;       /* by row: how near its cards are, a cpubind_together */
    int32_t *n_device;   /* by card: devices that have it; -1: it does not count */
    int32_t is_rdma;     /* 1: the cards that count are of RDMA */
    int32_t is_telling;  /* 1: they are, or not all devices are as near to all of them */
} cpubind_network;

/* Reads the cards of a host, and gives each device that has a share of the CPUs cards of those
 * that are nearest to it.
 *   1  Cards count that have a name here, of these those that are no virtual functions, and of
 *      these those of RDMA; a step that no card would pass is left out.
 *   2  Devices take a card each, by address, those that are nearest to one first: of several
 *      that are equally near the one that the fewest have.
 *   3  A card that nobody has then goes to the device with the fewest, of those that have none
 *      nearer.
 * A part of a device has the cards of the whole.
 *   out     *out, in the arena
 *   errors  of cpubind_facts_read; NO_MEMORY */
cpubind_problem_code cpubind_network_read(const cpubind_source *source, cpubind_arena *arena,
                                          cpubind_network *out, cpubind_problem *problem);

#endif /* CPUBIND_PLAN_NETWORK_H */
