/* numa_bind.h - the CPUs and the memory nodes of a rank that is bound to a node
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc; memory comes from the caller's arena. Shares no CPUs out by a plan:
 * --numa-bind has rules of its own, those of vLLM and SGLang.
 */
#ifndef CPUBIND_PLAN_NUMA_BIND_H
#define CPUBIND_PLAN_NUMA_BIND_H

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* (name, what it means). */
#define CPUBIND_NUMA_BIND_LIST(X)                                                              \
    X(OK, "bound")                                                                             \
    X(NO_MEMORY, "the arena is full: try a larger one")                                        \
    X(PAST_NODES, "the index is past the list of nodes")                                       \
    X(PAST_CPUS, "the index is past the lists of CPUs")                                        \
    X(PAST_DEVICES, "the index is past the devices")                                           \
    X(NO_NODE, "the list names a node that the host does not have")                            \
    X(NO_PLACE, "which node the device is on is not known")                                    \
    X(NOT_ALLOWED, "none of the CPUs is allowed")

typedef enum cpubind_numa_bind_status {
#define CPUBIND_X(name, text) CPUBIND_NUMA_BIND_##name,
    CPUBIND_NUMA_BIND_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_NUMA_BIND_COUNT
} cpubind_numa_bind_status;

/* Which of the allowed CPUs count. */
typedef struct cpubind_pci_limits {
    const int32_t *allowed; /* these of them, ascending; NULL: all */
    int32_t n_allowed;
    const int32_t *exclude; /* not these, ascending */
    int32_t n_exclude;
} cpubind_pci_limits;

/* Which rank is bound, and to what: to the node that the list has for it, else to that of its
 * device. Lists of CPUs are taken as they are. */
typedef struct cpubind_numa_asked {
    int32_t index;       /* of this rank, from 0 */
    const int32_t *node; /* by rank; NULL: the node of the device */
    int32_t n_node;
    const cpubind_lists *cpus; /* list i is for rank i; NULL: those of the node */
    cpubind_pci_limits limits;
} cpubind_numa_asked;

typedef struct cpubind_numa_bound {
    const int32_t *cpu; /* ascending, all allowed */
    int32_t n_cpu;
    const int32_t *node; /* for memory, ascending */
    int32_t n_node;      /* 0: not known */
    int32_t device;      /* index in facts->bus; -1: lists alone */
    int32_t n_denied;    /* near CPUs that are not allowed */
    int32_t has_rivals; /* 1: other ranks have CPUs of this one's home, and each gets a share */
    int32_t is_shared;  /* 1: there are fewer CPUs than ranks: others have these, too */
    const int32_t *allowed; /* the CPUs that count, ascending */
    int32_t n_allowed;
    int32_t n_rank;   /* NO_PLACE, PAST: ranks that there are */
    int32_t bad_node; /* NO_NODE */
} cpubind_numa_bound;

/* Finds the CPUs and the nodes of one rank. Ranks of one node get CPUs that no other has, by
 * whole cores as long as there are enough; CPUs that are not allowed are left out. A node
 * without CPUs (memory of Grace) has those of the nearest one with CPUs.
 *   in      facts of a bus that is asked for; with wants_cores cores stay whole
 *   out     *out: all fields on success, and on failure what the status is about
 *   errors  the statuses above; the ranks of other devices are not affected */
cpubind_numa_bind_status cpubind_numa_bind_find(const cpubind_facts *facts,
                                                const cpubind_numa_asked *asked,
                                                cpubind_arena *arena, cpubind_numa_bound *out);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PLAN_NUMA_BIND_H */
