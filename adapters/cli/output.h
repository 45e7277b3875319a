/* output.h - JSON of the commands that build it as a tree
 * SPDX-License-Identifier: MIT
 *
 * Plans, problems and reports come from adapters/api as text, and become a part of a tree here.
 * JSON.md documents the keys of the JSON; a key that it documents is never renamed.
 */
#ifndef CPUBIND_CLI_OUTPUT_H
#define CPUBIND_CLI_OUTPUT_H

#include <jansson.h>

#include "cli.h"

/* The value that a text of adapters/api holds, which is freed; NULL without memory. */
json_t *cli_value_of(api_out *text);

/* The objects that plan --json prints; NULL without memory. */
json_t *cli_plan_json(const api_planned *planned, const api_options *options);
json_t *cli_problem_json(const cpubind_problem *problem, const char *text);

/* The whole report of a binding, and its warnings alone. */
json_t *cli_outcome_json(const api_bound *bound, const cpubind_outcomes *report);
json_t *cli_outcome_warnings_json(const api_bound *bound, const cpubind_outcomes *report);

/* A list as the kernel prints it; null when it is empty. */
json_t *cli_list_json(const int32_t *list, int32_t n);

/* The warnings of a plan as an array of {"code", "text"}; empty when there is no plan. */
json_t *cli_warnings_json(const api_planned *planned);

/* Appends a value and returns the array. When either is NULL, frees both and returns NULL. */
json_t *cli_json_append(json_t *array, json_t *value);

/* A JSON string, with "?" in place of DEL and of each byte that cpubind_character refuses, but
 * for the control characters that JSON escapes. */
json_t *cli_json_text(const char *text);

/* Prints a value as one line and frees it. Returns 0 when it is NULL or cannot be written. */
int cli_print_json(FILE *out, json_t *value);

#endif /* CPUBIND_CLI_OUTPUT_H */
