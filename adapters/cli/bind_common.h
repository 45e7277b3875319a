/* bind_common.h - what apply, run, verify and restore share
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_BIND_COMMON_H
#define CPUBIND_CLI_BIND_COMMON_H

#include <jansson.h>

#include "cli.h"

/* A process, and what it should have. All zero before it is opened. */
typedef struct cli_bound {
    int32_t pid;
    int is_reading;   /* nothing is changed: verify */
    int is_restoring; /* a record is put back */
    cpubind_binding *binding;
    cli_host live; /* this host, as the process sees it */
    cli_planned planned;
    cpubind_arena arena; /* of the goal */
    cpubind_goal goal;
} cli_bound;

/* Opens the process of the options: that which has called, if none is named. Returns the exit
 * status; it has been said what is wrong. */
int cli_open_bound(const cli_options *options, int is_reading, cli_bound *out);

/* Opens the host as the process sees it, plans, and makes the goal of the process; refuses a
 * machine that is not to be changed. Returns the exit status; what is wrong has been said. */
int cli_plan_bound(cli_options *options, cli_bound *bound);

/* Puts the goal into effect. Returns the exit status; what is wrong has been said. */
int cli_apply_bound(const cli_options *options, cli_bound *bound);

void cli_close_bound(cli_bound *bound);

/* == What came of it (outcome.c) ============================================ */

/* Items as a table: alike ones in one row each, or one by one. */
void cli_print_items(FILE *out, const cpubind_report *report, int is_each);

/* Where the memory of the process is, by node, and unless is_each where it was; without a line
 * where nothing is asked. */
void cli_print_memory(FILE *out, const cpubind_report *report, int is_each);

/* Everything, for machines; NULL without memory. */
json_t *cli_outcome_json(const cli_bound *bound, const cpubind_report *report);

/* One line for what watching has moved. */
void cli_print_moved(FILE *out, const cpubind_item *item);

/* == Why (reasons.c) ======================================================== */

/* "thread". Static storage. */
const char *cli_kind_word(cpubind_item_kind kind);

/* Whether more than a tenth of the memory is somewhere else. */
int cli_memory_is_wrong(const cpubind_report *report);

/* What was not done and why, what to know: warnings on stderr. */
void cli_warn_outcome(const cli_bound *bound, const cpubind_report *report);

/* The same as an array of {"code", "text"}; NULL without memory. */
json_t *cli_outcome_warnings_json(const cli_bound *bound, const cpubind_report *report);

/* Says why a call failed: what, where, and what to do. Returns the exit status. */
int cli_fail_bind(const cli_options *options, const cli_bound *bound,
                  cpubind_linux_status status, const cpubind_linux_fault *fault);

#endif /* CPUBIND_CLI_BIND_COMMON_H */
