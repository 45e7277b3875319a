/* what_if.h - the facts of a host as they would be with another setting of its firmware
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. A plan of these facts is what that setting would give.
 */
#ifndef CPUBIND_PLAN_WHAT_IF_H
#define CPUBIND_PLAN_WHAT_IF_H

#include "../model/facts.h"

/* In place of a number of nodes: one thread a core. */
enum { CPUBIND_WHAT_IF_SMT_OFF = -1 };

/* What is assumed, as static clauses: what no input of a host tells in advance. */
#define CPUBIND_WHAT_IF_THREADS "the first thread of each core stays"
#define CPUBIND_WHAT_IF_NODES                                                                  \
    "nodes are runs of whole caches, or of cores where a socket has one cache; each has "      \
    "memory; devices are spread over the parts of their node by PCI bus"

/* The facts with so many nodes a socket, or with one thread a core. Distances are those of now;
 * between nodes of a socket that has one now it is 12.
 *   in      now: of cpubind_facts_read
 *   out     *then, which borrows from *now, and is in the arena
 *   errors  BAD_REQUEST: the host has that setting already, or cannot have it; NO_MEMORY */
cpubind_problem_code cpubind_what_if(const cpubind_facts *now, int32_t nodes,
                                     cpubind_arena *arena, cpubind_facts *then,
                                     cpubind_problem *problem);

#endif /* CPUBIND_PLAN_WHAT_IF_H */
