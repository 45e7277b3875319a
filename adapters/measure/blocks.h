/* blocks.h - a measurement: the blocks of a schedule, one after the other
 * SPDX-License-Identifier: MIT
 *
 * Knows no worker: the caller's function runs a block, on running workers or on made ones.
 */
#ifndef CPUBIND_MEASURE_BLOCKS_H
#define CPUBIND_MEASURE_BLOCKS_H

#include "judge.h"

/* Runs one block on a side, after it has settled.
 *   out     its figures, none at first; those of all blocks have the same names
 *   returns 0: the measurement ends before this block */
typedef int cpubind_block_run(void *ctx, int32_t side, const cpubind_schedule *schedule,
                              cpubind_figures *out);

/* Runs the blocks, and takes their figures together, not judged yet.
 *   out     figure[0 .. *n_figure - 1]: room for CPUBIND_FIGURES_MAX
 *   returns the number of blocks that were run */
int32_t cpubind_blocks_run(const cpubind_schedule *schedule, cpubind_block_run *run, void *ctx,
                           cpubind_judgement *figure, int32_t *n_figure);

#endif /* CPUBIND_MEASURE_BLOCKS_H */
