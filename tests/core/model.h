/* model.h - random hosts, and the rules of a plan a second time, written to be obvious
 * SPDX-License-Identifier: MIT
 *
 * Sets are arrays of flags, one for each CPU id; every rule is a loop over all of them. Slow on
 * purpose, and written without a look at the core.
 */
#ifndef CPUBIND_TESTS_MODEL_H
#define CPUBIND_TESTS_MODEL_H

#include <stdint.h>

#include "../../adapters/cpubind_old.h"

#define MODEL_CPUS    512
#define MODEL_DEVICES 32
#define MODEL_NODES   16

/* A set of CPUs by id. */
typedef struct model_set {
    uint8_t has[MODEL_CPUS];
} model_set;

/* A host with everything that a plan depends on, and the arrays that the core takes. */
typedef struct model_host {
    int32_t cpu[MODEL_CPUS], node[MODEL_CPUS], n_cpu;
    int32_t node_id[MODEL_NODES], n_node;
    model_set node_cpu[MODEL_NODES]; /* allowed or not */
    int32_t affinity[MODEL_CPUS * MODEL_DEVICES], row[MODEL_DEVICES + 1], n_device;
    int32_t want[MODEL_DEVICES], n_want;
    cpubind_policy policy;
} model_host;

/* Pools of all devices with a home, by topo_affinity before overlap is resolved. */
typedef struct model_plan {
    model_set home[MODEL_DEVICES];
    model_set wide[MODEL_DEVICES]; /* extended, before equal ones are shared */
    model_set pool[MODEL_DEVICES];
    int32_t overlap;   /* 1 when two pools share a CPU */
    int32_t a, b, cpu; /* then: two devices that share a CPU */
} model_plan;

/* xorshift: the same hosts on every machine. */
uint32_t model_random(uint64_t *state, uint32_t below);

/* A host of up to max_cpu CPUs and max_device devices. */
void model_make_host(uint64_t *state, int32_t max_cpu, int32_t max_device, model_host *out);

/* Views of the host for the core. */
cpubind_host model_core_host(const model_host *host);
cpubind_devices model_core_devices(const model_host *host);

int32_t model_count(const model_set *set);

void model_topo_affinity(const model_host *host, model_plan *out);

/* Which device may be given which CPU when overlap is resolved: claim[d].has[c]. */
void model_claims(const model_host *host, const model_plan *plan, model_set *claim);

/* The largest size that every device of `claim` with a home can be given at once, no CPU
 * twice: by trying sizes, each decided by bipartite matching. */
int32_t model_best_smallest(const model_host *host, const model_plan *plan,
                            const model_set *claim);

#endif
