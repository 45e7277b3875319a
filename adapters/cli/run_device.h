/* run_device.h - the place of a process on a host without NPUs: a device, its node, or lists
 * SPDX-License-Identifier: MIT
 *
 * run --numa-bind, --auto and --pci; device_bind.h has apply and verify. The CPUs are found by
 * ../plan/pci_plan.h.
 */
#ifndef CPUBIND_CLI_RUN_DEVICE_H
#define CPUBIND_CLI_RUN_DEVICE_H

#include "../api/device_bound.h"
#include "bind_common.h"

/* Where a process runs. All zero before cli_find_run_place or cli_place_on_device. */
typedef struct cli_run_place {
    api_device_plan devices; /* the facts; with a plan also that */
    cpubind_arena arena;     /* of numa-bind */
    const int32_t *cpu;      /* ascending */
    int32_t n_cpu;           /* 0: the rank has no place, and the command starts unbound */
    const int32_t *role_cpu;
    cpubind_roles roles; /* spans of role_cpu */
    const int32_t *node; /* for memory */
    int32_t n_node;
    int32_t one_node; /* `node` of a plan */
    int32_t rank;
    int32_t device;            /* index in devices.topo.facts.device; -1: lists alone */
    cpubind_thread_rule *rule; /* of --thread */
} cli_run_place;

/* Why the options of numa-bind are wrong; NULL: they are not. Static storage. */
const char *cli_numa_conflict(const api_options *options);

/* Finds the rank: --rank, --index, else with --auto or --numa-bind the first variable of a
 * launcher that is set. Returns the exit status; errors are printed. */
int cli_choose_run_rank(api_options *options);

/* Finds the devices that options name on their host, which is opened for that. Returns the exit
 * status; errors are printed. */
int cli_find_named(api_options *options);

/* Finds whether the process is bound without an NPU. An NPU of the host counts first, unless
 * --pci, --class or --force-lists is given. Returns the exit status; errors are printed. */
int cli_find_device_kind(api_options *options, int *is_on_device);

/* Takes the pool of the rank. Returns the exit status; errors are printed. */
int cli_take_device_pool(const api_options *options, cli_run_place *place);

/* Makes bound->goal of the place, which the goal borrows from; without a node for memory.
 * Returns the exit status. */
int cli_make_place_goal(const api_options *options, cli_run_place *place, api_bound *bound);

/* Finds the place and makes the goal of bound->goal. Returns the exit status; errors and
 * warnings are printed. cli_free_run_place may be called in every case. */
int cli_find_run_place(api_options *options, api_bound *bound, cli_run_place *out);
void cli_free_run_place(cli_run_place *place);

/* Sets the memory policy of this process: bind, then prefer, then none, each fallback said;
 * with --strict the first refusal fails. Returns the exit status. */
int cli_set_run_policy(const api_options *options, const cli_run_place *place);

#endif /* CPUBIND_CLI_RUN_DEVICE_H */
