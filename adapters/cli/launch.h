/* launch.h - a plan in the formats of launchers: plan --format taskset, slurm, systemd ...
 * SPDX-License-Identifier: MIT
 *
 * The formats are those of ../pci/launch_text.h; this file says which ranks a plan has.
 */
#ifndef CPUBIND_CLI_LAUNCH_H
#define CPUBIND_CLI_LAUNCH_H

#include "../pci/launch_text.h"
#include "cli.h"

/* Why a plan has no ranks that a launcher can start: an NPU has no pool. Returns 0, with the
 * sentence in *why, when it has none; else 1. */
int cli_has_launch(const cli_planned *planned, const cli_options *options, cli_text *why);

/* Prints the ranks of a plan: with --rank that rank alone; else all, in the order of the visible
 * devices. Returns 0 without memory.
 *   in      a plan for which cli_has_launch is 1 */
int cli_print_launch(FILE *out, cpubind_launch_format format, const cli_planned *planned,
                     const cli_options *options);

/* Prints ranks. Returns 0 without memory. */
int cli_print_ranks(FILE *out, cpubind_launch_format format, const cpubind_launch *launch);

#endif /* CPUBIND_CLI_LAUNCH_H */
