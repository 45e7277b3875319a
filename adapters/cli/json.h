/* json.h - plans and problems for machines
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_JSON_H
#define CPUBIND_CLI_JSON_H

#include <jansson.h>

#include "cli.h"

/* The objects that plan --json prints, without memory NULL. */
json_t *cli_plan_json(const cli_planned *planned, const cli_options *options);
json_t *cli_problem_json(const cpubind_problem *problem, const char *text);

/* {"cpubind": version, "error": {"code": code, "text": text}} */
json_t *cli_error_json(const char *code, const char *text);

/* `array` with one value more; NULL, and nothing left, when either is missing. */
json_t *cli_json_append(json_t *array, json_t *value);

/* A text of a stranger as a JSON string: bytes that are no UTF-8 become "?". */
json_t *cli_json_text(const char *text);

/* Prints a value as one line, and lets go of it. Returns 0 without a value, or when it cannot
 * be written. */
int cli_print_json(FILE *out, json_t *value);

/* Says so on stderr; returns the exit status. */
int cli_no_memory(void);

#endif /* CPUBIND_CLI_JSON_H */
