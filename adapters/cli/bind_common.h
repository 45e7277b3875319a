/* bind_common.h - a process, its plan and its report: shared by apply, run, verify and restore
 * SPDX-License-Identifier: MIT
 *
 * These functions print their errors themselves. The binding is done in adapters/linux/bind.
 */
#ifndef CPUBIND_CLI_BIND_COMMON_H
#define CPUBIND_CLI_BIND_COMMON_H

#include <jansson.h>

#include "cli.h"

/* A process, and where it belongs. All zero before it is opened. */
typedef struct cli_bound {
    int32_t pid;
    char parent[CPUBIND_PROGRAM_SIZE]; /* its program, where it is the parent; else "" */
    int is_reading;                    /* verify: nothing is changed */
    int is_restoring;                  /* restore: ends a watch of the process */
    int32_t holder;                    /* the cpubind that works on the process; 0: not known */
    int is_watching;                   /* apply --watch, after the first time */
    char other_path[CPUBIND_PLACE_SIZE]; /* the record that is in the way; or "" */
    int is_stopped;                      /* apply: a signal has ended the move of memory */
    cpubind_binding *binding;
    cli_host live; /* this host, as the process sees it */
    cli_host host; /* the host of --root or --fixture, which the facts quote */
    cli_planned planned;
    cpubind_arena arena; /* of the goal */
    cpubind_goal goal;
} cli_bound;

/* Chooses the parent of this command; apply refuses one that is no shell and no runtime, unless
 * --force is given. Returns the exit status (parent.c). */
int cli_choose_parent(const cli_options *options, cli_bound *bound);

/* Opens the process of --pid, else the parent. Returns the exit status. */
int cli_open_bound(const cli_options *options, int is_reading, cli_bound *out);

/* Finds the NPU that the process uses, as if --npu had named it; with several processes of that
 * NPU also which of them it is, as if --processes and --index had (find_npu.c). Prints nothing.
 *   returns the exit status, with the reason in *why */
int cli_find_npu(cli_options *options, cli_bound *bound, cli_text *why);

/* Opens the host as the process sees it, plans, and makes the goal of the process. Refuses a
 * machine that is not ARM, unless --any-arch is given or nothing is changed. Returns the exit
 * status. */
int cli_plan_bound(cli_options *options, cli_bound *bound);

/* Binds the process. Returns the exit status. */
int cli_apply_bound(const cli_options *options, cli_bound *bound);

void cli_close_bound(cli_bound *bound);

/* How the options say that processes are bound; without a process. */
cpubind_bind_options cli_bind_options(const cli_options *options);

/* Refuses a machine that is not ARM, unless --any-arch is given. Returns the exit status.
 *   in      bound->live is open */
int cli_check_arch(const cli_options *options, cli_bound *bound);

/* While memory is moved, the first signal ends the move, so that a report says what was done; a
 * second one ends the process. A signal that is ignored stays ignored. */
void cli_catch_signals(void);
void cli_release_signals(void);
int cli_was_signalled(void);

/* apply --all and verify --all (cmd_host.c). Returns the exit status. */
int cli_call_all(const cli_options *options);

/* == The report (outcome.c) ================================================= */

/* Prints items as a table: one row for each, or one row for all that are alike. */
void cli_print_items(FILE *out, const cpubind_report *report, int is_each);

/* Prints how much memory of the process is on each node, unless is_each how much was there
 * before, and how much stays on other nodes for which reason. Prints nothing when the report
 * has no memory. */
void cli_print_memory(FILE *out, const cpubind_report *report, int is_each);

/* The whole report as JSON; NULL without memory. */
json_t *cli_outcome_json(const cli_bound *bound, const cpubind_report *report);

/* Prints one line for an item that --watch has moved. */
void cli_print_moved(FILE *out, const cpubind_item *item);

/* == Reasons (reasons.c) ==================================================== */

/* "thread"; static storage. */
const char *cli_kind_word(cpubind_item_kind kind);

/* Whether more than a tenth of the own memory is on other nodes. */
int cli_memory_is_wrong(const cpubind_report *report);

/* Prints warnings on stderr: those of the plan, then what was not done and why. */
void cli_warn_outcome(const cli_bound *bound, const cpubind_report *report);

/* Prints a warning if own memory stays on other nodes, and no other warning. */
void cli_warn_rest(const cli_bound *bound, const cpubind_report *report);

/* The same warnings as an array of {"code", "text"}; NULL without memory. */
json_t *cli_outcome_warnings_json(const cli_bound *bound, const cpubind_report *report);

/* Prints warnings on stderr: what a watch cannot do now, and why. */
void cli_warn_news(const cpubind_report *report);

/* Appends why a call failed: what, where, and what to do. Returns the exit status. */
int cli_explain_bind(const cli_options *options, const cli_bound *bound,
                     cpubind_linux_status status, const cpubind_linux_fault *fault,
                     cli_text *why);

/* Prints why a call failed: what, where, and what to do. Returns the exit status. */
int cli_fail_bind(const cli_options *options, const cli_bound *bound,
                  cpubind_linux_status status, const cpubind_linux_fault *fault);

#endif /* CPUBIND_CLI_BIND_COMMON_H */
