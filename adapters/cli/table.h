/* table.h - texts in columns, each as wide as its longest cell
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_TABLE_H
#define CPUBIND_CLI_TABLE_H

#include "cli.h"

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

#endif /* CPUBIND_CLI_TABLE_H */
