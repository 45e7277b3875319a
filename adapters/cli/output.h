/* output.h - tables and JSON, built in memory and printed at once
 * SPDX-License-Identifier: MIT
 *
 * No file here decides what a plan or an outcome is. README.md documents the keys of the JSON;
 * a key that it documents is never renamed.
 */
#ifndef CPUBIND_CLI_OUTPUT_H
#define CPUBIND_CLI_OUTPUT_H

#include <jansson.h>

#include "cli.h"

/* == Tables: texts in columns, each as wide as its longest cell (table.c) === */

/* A table with n_column set and all else zero is empty. */
typedef struct cli_table {
    int32_t n_column;
    char **cell; /* row by row */
    int32_t n_cell, cap_cell;
    int is_short; /* memory ran out for some cell */
} cli_table;

/* Adds the next cell, row by row, with the characters of cli_add. */
__attribute__((format(printf, 2, 3))) void cli_cell(cli_table *table, const char *format, ...);

/* Adds a number; "-" when it is negative, which means not known. */
void cli_cell_number(cli_table *table, int32_t number);

/* Adds a list of CPUs or nodes; "-" when it is empty. */
void cli_cell_list(cli_table *table, const int32_t *list, int32_t n);

/* Prints all rows and frees the table. Returns 0 when memory ran out. */
int cli_print_table(FILE *out, cli_table *table);

/* Frees a table without printing it. */
void cli_free_table(cli_table *table);

/* == JSON (json.c) ========================================================== */

/* The objects that plan --json prints; NULL without memory. */
json_t *cli_plan_json(const cli_planned *planned, const cli_options *options);
json_t *cli_problem_json(const cpubind_problem *problem, const char *text);

/* A list as the kernel prints it; null when it is empty. */
json_t *cli_list_json(const int32_t *list, int32_t n);

/* The warnings of a plan as an array of {"code", "text"}; empty when there is no plan. */
json_t *cli_warnings_json(const cli_planned *planned);

/* The figures of a plan, or of one of its NPUs; null without a pool. */
json_t *cli_quality_json(cli_figures figures, int is_of_npu);

/* {"cpubind": version, "error": {"code": code, "text": text}} */
json_t *cli_error_json(const char *code, const char *text);

/* Appends a value and returns the array. When either is NULL, frees both and returns NULL. */
json_t *cli_json_append(json_t *array, json_t *value);

/* A JSON string, with "?" in place of DEL and of each byte that cli_character refuses, but for
 * the control characters that JSON escapes. */
json_t *cli_json_text(const char *text);

/* Prints a value as one line and frees it. Returns 0 when it is NULL or cannot be written. */
int cli_print_json(FILE *out, json_t *value);

/* Prints on stderr that memory ran out; returns the exit status. */
int cli_no_memory(void);

#endif /* CPUBIND_CLI_OUTPUT_H */
