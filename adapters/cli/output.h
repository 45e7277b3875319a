/* output.h - tables for people, JSON for machines
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_OUTPUT_H
#define CPUBIND_CLI_OUTPUT_H

#include <jansson.h>

#include "cli.h"

/* == Tables: texts in columns, each as wide as its longest cell (table.c) === */

/* All zero but for n_column is an empty table. */
typedef struct cli_table {
    int32_t n_column;
    char **cell; /* row by row */
    int32_t n_cell, cap_cell;
    int is_short; /* there was no memory for some cell */
} cli_table;

/* The next cell, row by row, as cli_add would write it. */
__attribute__((format(printf, 2, 3))) void cli_cell(cli_table *table, const char *format, ...);

/* A number; "-" when it is negative: not known. */
void cli_cell_number(cli_table *table, int32_t number);

/* CPUs or nodes; "-" when there are none. */
void cli_cell_list(cli_table *table, const int32_t *list, int32_t n);

/* Prints all rows, and empties the table. Returns 0 when there was no memory for it. */
int cli_print_table(FILE *out, cli_table *table);

/* Frees a table that is not printed. */
void cli_free_table(cli_table *table);

/* == JSON (json.c) ========================================================== */

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

#endif /* CPUBIND_CLI_OUTPUT_H */
