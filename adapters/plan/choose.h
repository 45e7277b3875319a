/* choose.h - which devices a job should ask for, by what is between them
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O; memory from the caller's arena.
 */
#ifndef CPUBIND_PLAN_CHOOSE_H
#define CPUBIND_PLAN_CHOOSE_H

#include "../model/facts.h"

/* (name, word): how near two devices are; a smaller one is nearer. */
#define CPUBIND_TOGETHER_LIST(X)                                                               \
    X(SWITCH, "switch")             /* on one function, below one bridge or one switch */      \
    X(ROOT_PORT, "root_port")       /* below switches of one root port */                      \
    X(ROOT_COMPLEX, "root_complex") /* on one root complex */                                  \
    X(NODE, "node")                                                                            \
    X(SOCKET, "socket") /* on nodes of one socket */                                           \
    X(HOST, "host")                                                                            \
    X(UNKNOWN, "unknown")

typedef enum cpubind_together {
#define CPUBIND_X(name, word) CPUBIND_TOGETHER_##name,
    CPUBIND_TOGETHER_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_TOGETHER_COUNT
} cpubind_together;

/* "switch". Static storage. */
const char *cpubind_together_word(cpubind_together together);

/* How near two devices are, or a device and a network card, of a request with wants_nics. */
cpubind_together cpubind_together_of(const cpubind_facts *facts, const cpubind_host_device *one,
                                     const cpubind_host_device *other);

/* What a process may ask for: a device, or one of those that its function has. */
typedef struct cpubind_chosen {
    int32_t row;    /* of facts->bus */
    int32_t number; /* of its runtime; -1: not known */
} cpubind_chosen;

typedef struct cpubind_choice {
    cpubind_chosen *device; /* by number, then by address */
    int32_t n;
    cpubind_together together; /* the two that are farthest apart */
} cpubind_choice;

/* Chooses n of the devices that this process sees: those that
 *   1  are nearest to each other, by the two that are farthest apart
 *   2  then by the sum over all pairs
 *   3  then have network cards nearest
 *   4  then leave together what is left: the fewest near pairs are parted
 *   5  then have the lowest numbers.
 * A set is grown from each device in turn, by the one that adds least, and the best of these is
 * taken. What no file of the kernel tells, such as NVLink, does not count.
 *   in      facts of a request with wants_nics
 *   out     *near: the choice; *lowest: the n lowest numbers, for comparison; in the arena
 *   returns how many devices there are to choose from: fewer than n: nothing is written;
 *           -1: the arena is full
 *   cost    about the third power of their number */
int32_t cpubind_choose(const cpubind_facts *facts, int32_t n, cpubind_arena *arena,
                       cpubind_choice *near, cpubind_choice *lowest);

#endif /* CPUBIND_PLAN_CHOOSE_H */
