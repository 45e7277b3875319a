/* near_model.h - random hosts for NEAR, and the steps N1 .. N4 of its rule a second time
 * SPDX-License-Identifier: MIT
 *
 * Written from the text of NEAR in cpubind.h, and from nothing else: a core, a home and a place
 * are arrays of flags, each rule is a loop over all of them. Slow on purpose. The steps N5 ..
 * N9 leave ties open, so that test_near_laws.c holds them to laws and not to one answer.
 */
#ifndef CPUBIND_TESTS_NEAR_MODEL_H
#define CPUBIND_TESTS_NEAR_MODEL_H

#include <stdint.h>

#include "../../adapters/cpubind_old.h"

enum { NEAR_CPUS = 640, NEAR_NODES = 16, NEAR_DEVICES = 32 };

/* How large a random host may be. */
typedef struct near_limits {
    int32_t nodes, cores; /* cores of a node */
    int32_t devices;
} near_limits;

/* The arrays that the core reads. `host` and `devices` point into this struct. */
typedef struct near_host {
    int32_t cpu[NEAR_CPUS], node[NEAR_CPUS], core[NEAR_CPUS];
    int32_t node_id[NEAR_NODES], socket[NEAR_NODES], distance[NEAR_NODES * NEAR_NODES];
    int32_t affinity[NEAR_CPUS * NEAR_DEVICES], row[NEAR_DEVICES + 1];
    int32_t device_node[NEAR_DEVICES], slot[NEAR_DEVICES];
    cpubind_host host;
    cpubind_devices devices;
    cpubind_policy policy;
    int32_t need; /* the sum of the roles */
} near_host;

/* Cores are numbered by their lowest allowed CPU, nodes by their index in host.node_id. */
typedef struct near_model {
    int32_t n_core;
    int32_t core_of[NEAR_CPUS];               /* by index of the CPU in host.cpu */
    int32_t size[NEAR_CPUS], node[NEAR_CPUS]; /* of a core */
    int32_t homed[NEAR_CPUS];                 /* of a core: it is in a home */
    uint8_t home[NEAR_DEVICES][NEAR_CPUS];    /* by core (N1) */
    uint8_t claim[NEAR_DEVICES][NEAR_CPUS];   /* by core (N2, N3) */
    uint8_t place[NEAR_DEVICES][NEAR_NODES];  /* by node */
    int32_t has_home[NEAR_DEVICES], has_place[NEAR_DEVICES];
    int32_t displaced[NEAR_DEVICES]; /* N6 */
    int32_t floor;                   /* N6: CPUs of a pool */
    int32_t any_place;
} near_model;

void near_random(uint64_t *state, near_limits limits, near_host *out);

/* Whether a device has CPU host.cpu[at] in its list of allowed CPUs, by one of nine and more
 * kinds of lists. */
int32_t near_may_have(uint64_t *state, const near_host *h, int32_t kind, int32_t parts,
                      int32_t device, int32_t at);

void near_solve(const near_host *host, near_model *out);

/* The distance to a node from the nearest node of the place of a device; is_bound: on its
 * socket. INT32_MAX: there is no such node. */
int32_t near_distance(const near_host *host, const near_model *model, int32_t device,
                      int32_t node, int32_t is_bound);

/* The largest sizes of pools, in cores, ascending, when each core goes to a device that may
 * have it: the smallest is as large as it can be, then the second smallest, and so on. */
void near_best_sizes(const near_host *host, const near_model *model, int32_t *size);

/* The figures of pools (list i: device i) as cpubind_measure documents them. */
void near_measure(const near_host *host, const near_model *model, const cpubind_lists *pools,
                  int32_t n_irq, cpubind_quality *total, cpubind_quality *each);

#endif
