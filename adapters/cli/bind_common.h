/* bind_common.h - a process, its plan and its report: shared by apply, run, verify and restore
 * SPDX-License-Identifier: MIT
 *
 * These functions print their errors themselves. The binding is done in adapters/linux/bind.
 */
#ifndef CPUBIND_CLI_BIND_COMMON_H
#define CPUBIND_CLI_BIND_COMMON_H

#include "cli.h"

/* Chooses the parent of this command; apply refuses one that is no shell and no runtime, unless
 * --force is given. Returns the exit status (parent.c). */
int cli_choose_parent(const api_options *options, api_bound *bound);

/* Opens the process of --pid, else the parent. Returns the exit status. */
int cli_open_bound(const api_options *options, int is_reading, api_bound *out);

/* Prints why there is no plan for a process: that it has ended, where it has, since what could
 * not be read of it has another reason then. Returns the exit status. */
int cli_fail_plan(const api_options *options, const api_bound *bound, int status,
                  const api_text *why);

/* Binds the process. Returns the exit status. */
int cli_apply_bound(const api_options *options, api_bound *bound);

/* How the options say that a process is bound, with progress on a terminal; a signal ends the
 * move of memory. */
cpubind_bind_options cli_bind_options(const api_options *options, int32_t pid, int is_reading);

/* Refuses a machine that is not ARM, unless any-arch is set. Returns the exit status.
 *   in      bound->live is open */
int cli_check_arch(const api_options *options, api_bound *bound);

/* While memory is moved, the first signal ends the move, so that a report says what was done; a
 * second one ends the process. A signal that is ignored stays ignored. */
void cli_catch_signals(void);
void cli_release_signals(void);
int cli_was_signalled(void);

/* apply --all and verify --all (cmd_host.c). Returns the exit status. */
int cli_call_all(api_options *options);

/* == The report ============================================================= */

/* Prints the items and the memory of a report. Returns 0 when memory ran out. */
int cli_print_items(const api_bound *bound, const cpubind_outcomes *report, int is_each);

/* Prints warnings on stderr: those of the plan, then what was not done and why. */
void cli_warn_outcome(const api_bound *bound, const cpubind_outcomes *report);

/* Prints why a call failed: what, where, and what to do. Returns the exit status. */
int cli_fail_bind(const api_options *options, const api_bound *bound,
                  cpubind_linux_status status, const cpubind_linux_fault *fault);

#endif /* CPUBIND_CLI_BIND_COMMON_H */
