/* measure_probe.h - measure --probe: made workers on the devices of a plan
 * SPDX-License-Identifier: MIT
 *
 * The workers are threads of this process (../measure/probe.h); no other process is touched.
 */
#ifndef CPUBIND_CLI_MEASURE_PROBE_H
#define CPUBIND_CLI_MEASURE_PROBE_H

#include <jansson.h>

#include "../measure/blocks.h"
#include "../measure/probe.h"
#include "cli.h"

/* Nodes with CPUs that are allowed. */
#define CLI_PROBE_NODES 64

typedef struct cli_probe {
    const api_options *options;
    int (*stop)(void *ctx);
    int32_t block;
    cpubind_probe_worker worker[2][CPUBIND_PROBE_WORKERS]; /* by side */
    int32_t n_worker;
    cpubind_probe_noise noise;
    cpubind_probe_node node[CLI_PROBE_NODES];
    int32_t n_node;
    int32_t *cpu, n_cpu;       /* all CPUs of the workers, which those of the sides borrow */
    cpubind_linux_fault fault; /* of a block */
} cli_probe;

/* Makes a worker for each device of the plan of this host, up to CPUBIND_PROBE_WORKERS; without
 * a device one for each node. What the host cannot show is added to the warnings. Returns the
 * exit status; a failure is printed. */
int cli_probe_open(const api_options *options, const api_side side[2], cli_probe *out,
                   json_t *warnings);

/* A cpubind_block_run; `ctx` is a cli_probe. */
int cli_probe_block(void *ctx, int32_t side, const cpubind_schedule *schedule,
                    cpubind_figures *out);

/* How fast the memory of each node is from the CPUs of each; null where that was not
 * measured. */
json_t *cli_probe_matrix(cli_probe *probe);

void cli_probe_close(cli_probe *probe);

#endif /* CPUBIND_CLI_MEASURE_PROBE_H */
