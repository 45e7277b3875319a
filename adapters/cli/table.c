/* table.c - print texts in columns, each as wide as its longest cell
 * SPDX-License-Identifier: MIT
 *
 * Prints nothing when memory is short for a cell: part of a table would mislead. Widths are
 * counted in bytes, since cli_add leaves nothing but ASCII.
 */
#include "output.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void append(cli_table *table, const char *text)
{
    if (table->n_cell == table->cap_cell) {
        int32_t cap = table->cap_cell ? table->cap_cell * 2 : 64;
        char **cell = (char **)realloc(table->cell, (size_t)cap * sizeof *cell);
        if (!cell) {
            table->is_short = 1;
            return;
        }
        table->cell = cell;
        table->cap_cell = cap;
    }
    table->cell[table->n_cell] = strdup(text);
    if (table->cell[table->n_cell])
        table->n_cell++;
    else
        table->is_short = 1;
}

void cli_cell(cli_table *table, const char *format, ...)
{
    char raw[sizeof((cli_text *)0)->text];
    cli_text text = {"", 0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    cli_add(&text, "%s", raw);
    append(table, text.text);
}

void cli_cell_number(cli_table *table, int32_t number)
{
    if (number < 0)
        cli_cell(table, "-");
    else
        cli_cell(table, "%d", (int)number);
}

void cli_cell_list(cli_table *table, const int32_t *list, int32_t n)
{
    cli_text text = {"", 0};
    cli_add_list(&text, list, n);
    cli_cell(table, "%s", n == 0 ? "-" : text.text);
}

static int width_of(const cli_table *table, int32_t column)
{
    size_t width = 0;
    for (int32_t i = column; i < table->n_cell; i += table->n_column)
        if (strlen(table->cell[i]) > width)
            width = strlen(table->cell[i]);
    return (int)width;
}

/* Prints all rows, without blanks at the end of a line. */
static int print_rows(FILE *out, const cli_table *table)
{
    int *width = (int *)calloc((size_t)table->n_column, sizeof *width);
    if (!width)
        return 0;
    for (int32_t column = 0; column < table->n_column - 1; column++)
        width[column] = width_of(table, column);
    for (int32_t i = 0, blanks = 0; i < table->n_cell; i++) {
        const int32_t column = i % table->n_column;
        const int len = (int)strlen(table->cell[i]);
        if (len > 0)
            fprintf(out, "%*s%s", (int)blanks, "", table->cell[i]);
        blanks = (len > 0 ? 0 : blanks) + width[column] - len + 2;
        if (column == table->n_column - 1) {
            fputs("\n", out);
            blanks = 0;
        }
    }
    free(width);
    return 1;
}

void cli_free_table(cli_table *table)
{
    for (int32_t i = 0; i < table->n_cell; i++)
        free(table->cell[i]);
    free(table->cell);
    table->cell = NULL;
    table->n_cell = table->cap_cell = 0;
}

int cli_print_table(FILE *out, cli_table *table)
{
    int done = !table->is_short && print_rows(out, table);
    cli_free_table(table);
    return done;
}
