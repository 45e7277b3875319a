/* run_tree.h - run --tree: a server that starts its own workers, each bound by its device
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_RUN_TREE_H
#define CPUBIND_CLI_RUN_TREE_H

#include "bind_common.h"

/* Starts the command as a child, and binds it and all processes below it until it ends.
 *   in      child_signal: what SIGCHLD does in the command
 *   out     *has_started: 0: nothing was started, and the refusal is printed
 *   returns the exit status of the command; without one that of this program */
int cli_run_tree(api_options *options, void (*child_signal)(int), int *has_started);

#endif /* CPUBIND_CLI_RUN_TREE_H */
