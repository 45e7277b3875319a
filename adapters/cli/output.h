/* output.h - JSON of the commands that build it as a tree
 * SPDX-License-Identifier: MIT
 *
 * Plans, problems and reports come from adapters/api as text, and become a part of a tree here.
 * JSON.md documents the keys of the JSON; a key that it documents is never renamed.
 */
#ifndef CPUBIND_CLI_OUTPUT_H
#define CPUBIND_CLI_OUTPUT_H

#include "../words/show.h"

#include "cli.h"

/* The value that a text of adapters/api holds, which is freed; NULL without memory. */
words_value *cli_value_of(api_out *text);

/* The objects that plan --json prints; NULL without memory. */
words_value *cli_plan_json(const api_planned *planned, const api_options *options);
words_value *cli_problem_json(const cpubind_problem *problem, const char *text);

/* The whole report of a binding, and its warnings alone. */
words_value *cli_outcome_json(const api_bound *bound, const cpubind_outcomes *report);
words_value *cli_outcome_warnings_json(const api_bound *bound, const cpubind_outcomes *report);

/* The warnings of a plan as an array of {"code", "text"}; empty when there is no plan. */
words_value *cli_warnings_json(const api_planned *planned);

/* Prints a value as one line and frees it. Returns 0 when it is NULL or cannot be written. */
int cli_print_json(FILE *out, words_value *value);

/* Prints a report as the text of a view, or if asked for as JSON, and frees it. Returns 0 as
 * cli_print_json. */
int cli_print_text(const words_view *view, words_value *report);
int cli_print_report(const api_options *options, const words_view *view, words_value *report);

#endif /* CPUBIND_CLI_OUTPUT_H */
