/* pools.h - what plans are made of, in words that all rooms share
 * SPDX-License-Identifier: MIT
 *
 * Lists, roles of a pool, the strategies of a product, and the CPUs and nodes of a host.
 * Decides nothing: the rules are those of cpubind.h, and plan/ asks it.
 */
#ifndef CPUBIND_MODEL_POOLS_H
#define CPUBIND_MODEL_POOLS_H

#include "../../cpubind.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index range [first, first + count) of a list that the caller has. */
typedef struct cpubind_span {
    int32_t first, count;
} cpubind_span;

/* Lists of CPU ids in one array: list i is cpu[row[i]] .. cpu[row[i + 1] - 1], ascending. */
typedef struct cpubind_lists {
    const int32_t *cpu;
    const int32_t *row; /* n + 1 offsets; NULL: all are empty */
    int32_t n;          /* lists */
} cpubind_lists;

/* The roles of a pool: those of the core, and one that plan/ cuts off main where it is asked
 * for, of threads that move KV caches and data of networks. */
enum { CPUBIND_ROLE_TRANSFER = CPUBIND_ROLE_COUNT, CPUBIND_ALL_ROLES };

/* "transfer". Static storage. */
static inline const char *cpubind_role_name(cpubind_role role)
{
    return role == CPUBIND_ROLE_TRANSFER ? "transfer" : cpubind_role_word(role);
}

/* How many CPUs of a pool each role takes; main at least so many. */
typedef struct cpubind_role_spec {
    int32_t count[CPUBIND_ALL_ROLES];
} cpubind_role_spec;

/* Where the CPUs of each role are in a list that has them role after role. */
typedef struct cpubind_role_spans {
    cpubind_span span[CPUBIND_ALL_ROLES];
} cpubind_role_spans;

/* The letter of a role on a map: 'm'. */
static inline char cpubind_role_letter(cpubind_role role)
{
    return cpubind_role_name(role)[0];
}

/* How the pools of a product are cut. */
typedef enum cpubind_strategy {
    CPUBIND_GLOBAL_SLICE = 0,  /* equal slices of the allowed CPUs, by slot */
    CPUBIND_TOPO_AFFINITY = 1, /* the home and the next node */
    CPUBIND_CLUSTER = 2,       /* whole clusters of the home's node */
    CPUBIND_NEAR = 3           /* devices take cores in turns */
} cpubind_strategy;

/* CPUs and the nodes of a host. */
typedef struct cpubind_topology {
    const int32_t *cpu;      /* ids, strictly ascending */
    const int32_t *node;     /* node[i] is the id of the node of cpu[i] */
    const int32_t *node_id;  /* ids of the nodes that have CPUs, strictly ascending */
    int32_t n_cpu;           /* length of cpu and node */
    int32_t n_node;          /* length of node_id */
    const int32_t *core;     /* core[i]: number of the core of cpu[i]. NULL: not known */
    const int32_t *distance; /* [a * n_node + b], by node_id. NULL: not known */
    const int32_t *socket;   /* by node_id. NULL: not known */
} cpubind_topology;

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_MODEL_POOLS_H */
