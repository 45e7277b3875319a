/* output.c - tables
 * SPDX-License-Identifier: MIT
 *
 * Prints nothing. Widths of tables are counted in bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

/* == Tables ================================================================= */

static void append_cell(api_table *table, const char *text)
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

void api_cell(api_table *table, const char *format, ...)
{
    char raw[sizeof((api_text *)0)->text];
    api_text text = {"", 0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    api_add(&text, "%s", raw);
    append_cell(table, text.text);
}

void api_cell_number(api_table *table, int32_t number)
{
    if (number < 0)
        api_cell(table, "-");
    else
        api_cell(table, "%d", (int)number);
}

void api_cell_list(api_table *table, const int32_t *list, int32_t n)
{
    api_text text = {"", 0};
    api_add_list(&text, list, n);
    api_cell(table, "%s", n == 0 ? "-" : text.text);
}

static int width_of(const api_table *table, int32_t column)
{
    size_t width = 0;
    for (int32_t i = column; i < table->n_cell; i += table->n_column)
        if (strlen(table->cell[i]) > width)
            width = strlen(table->cell[i]);
    return (int)width;
}

/* Appends all rows, without blanks at the end of a line. */
static int put_rows(api_out *to, const api_table *table)
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
            api_put(to, "%*s%s", (int)blanks, "", table->cell[i]);
        blanks = (len > 0 ? 0 : blanks) + width[column] - len + 2;
        if (column == table->n_column - 1) {
            api_put_text(to, "\n");
            blanks = 0;
        }
    }
    free(width);
    return 1;
}

void api_free_table(api_table *table)
{
    for (int32_t i = 0; i < table->n_cell; i++)
        free(table->cell[i]);
    free(table->cell);
    table->cell = NULL;
    table->n_cell = table->cap_cell = 0;
}

void api_put_table(api_out *to, api_table *table)
{
    to->is_short |= table->is_short || !put_rows(to, table);
    api_free_table(table);
}
