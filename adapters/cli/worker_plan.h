/* worker_plan.h - plan --cpu-workers: CPUs for workers that drive no device
 * SPDX-License-Identifier: MIT
 *
 * PLAN.md documents the table, JSON.md the keys of the JSON.
 */
#ifndef CPUBIND_CLI_WORKER_PLAN_H
#define CPUBIND_CLI_WORKER_PLAN_H

#include "../api/device_plan.h"

/* Shares the CPUs that the plan of the accelerators leaves, or those of cpu-nodes, and prints
 * the workers. Returns the exit status; errors are printed. */
int cli_plan_workers(const cpubind_source *source, api_options *options);

#endif /* CPUBIND_CLI_WORKER_PLAN_H */
