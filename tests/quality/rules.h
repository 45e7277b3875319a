/* rules.h - the pools of a host by a rule of the core, and how good any pools are
 * SPDX-License-Identifier: MIT
 *
 * For tables and tests that compare rules. Must not know where a host comes from.
 */
#ifndef CPUBIND_TESTS_QUALITY_RULES_H
#define CPUBIND_TESTS_QUALITY_RULES_H

#include "../../adapters/cpubind_old.h"

enum { RULES_STEPS = 16 };

/* Pools of all devices, their IRQ CPUs first. A pool without CPUs: the device is refused. */
typedef struct rules_pools {
    int32_t *cpu, *row; /* list d: the pool of device d */
    int32_t n;          /* devices */
    int32_t n_hidden;   /* allowed CPUs in slices of devices that are not in view: not idle */
    int32_t by_step[RULES_STEPS]; /* allowed CPUs that a rule gave to some device, by
                                     cpubind_step */
} rules_pools;

/* A refused device counts as one whose IRQ CPUs are off its node. */
typedef struct rules_figures {
    int32_t n_cpu, near_cpu; /* in pools; of these near */
    int32_t far, irq_off, npus_off, split, idle, smallest, largest, refused;
} rules_figures;

/* The pools of a rule of the core. Each device is asked for alone, so that those which are not
 * refused have their pools. Ends the program when the core returns anything but a plan or a
 * refusal. */
rules_pools rules_make(const cpubind_host *host, const cpubind_devices *devices,
                       const cpubind_policy *policy);

/* Room for pools of devices.n * host.n_cpu CPUs; rules_add fills it in the order of devices. */
rules_pools rules_start(const cpubind_host *host, const cpubind_devices *devices);
void rules_add(rules_pools *pools, const int32_t *cpu, int32_t n);
void rules_free(rules_pools *pools);

rules_figures rules_measure(const cpubind_host *host, const cpubind_devices *devices,
                            const cpubind_role_spec *roles, const rules_pools *pools);

/* The first figure in which `near` is worse than another rule that refuses no more devices
 * than it: "refused", "cores split", "IRQ CPUs off their node"; NULL: in none. A rule that
 * refuses more devices is worse, whatever its other figures are. */
const char *rules_worse(const rules_figures *near, const rules_figures *other);

#endif
