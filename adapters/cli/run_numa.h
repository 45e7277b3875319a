/* run_numa.h - run --numa-bind: a rank on the node of its device, or on lists
 * SPDX-License-Identifier: MIT
 *
 * The CPUs are found by ../plan/numa_bind.c. BIND.md documents the options.
 */
#ifndef CPUBIND_CLI_RUN_NUMA_H
#define CPUBIND_CLI_RUN_NUMA_H

#include "../api/device_plan.h"
#include "bind_common.h"

/* Where a rank runs; bound->planned has the facts. */
typedef struct cli_numa_place {
    const api_options *options;
    api_bound *bound;
    cpubind_arena arena;
    const int32_t *cpu;  /* ascending */
    int32_t n_cpu;       /* 0: the rank has no place, and the command starts unbound */
    const int32_t *node; /* for memory */
    int32_t n_node;
    int32_t device; /* index in facts.bus; -1: lists alone */
} cli_numa_place;

/* Why the options of numa-bind are wrong; NULL: they are not. Static storage. */
const char *cli_numa_conflict(const api_options *options);

/* Beside --numa-bind an address is a function of the bus, also of an NPU, and --index is the
 * rank; a name such as npu3 asks for the plan. */
void cli_take_numa_address(api_options *options);

/* Finds whether --numa-bind counts: it is given, and the host has no NPUs, whose plan it means
 * else. Returns the exit status; errors are printed. */
int cli_wants_numa(api_options *options, int *is_wanted);

/* Finds the place and makes the goal of bound->goal, which borrows from it. Returns the exit
 * status; errors and warnings are printed. free(3) out->arena.base in every case. */
int cli_place_numa(api_options *options, api_bound *bound, cli_numa_place *out);

/* Sets the memory policy of this process: bind, then prefer, then none, each fallback said;
 * with --strict the first refusal fails. Returns the exit status. */
int cli_set_numa_policy(const api_options *options, const cli_numa_place *place);

#endif /* CPUBIND_CLI_RUN_NUMA_H */
