/* output.c - texts of any length: words, wrapped lines, tables, JSON
 * SPDX-License-Identifier: MIT
 *
 * Prints nothing. A text whose memory runs out says so in is_short, once for all calls. Widths
 * of tables are counted in bytes, since api_add leaves nothing but ASCII.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/cpulist.h"
#include "api.h"

#define FIRST_SIZE ((size_t)4096)

/* Makes room for `n` more bytes and a NUL. Returns 0 without memory. */
static int make_room(api_out *to, size_t n)
{
    size_t size = to->size ? to->size : FIRST_SIZE;
    char *text;
    if (to->size - to->len > n)
        return 1;
    while (size - to->len <= n)
        size *= 2;
    text = (char *)realloc(to->text, size);
    if (!text) {
        to->is_short = 1;
        return 0;
    }
    to->text = text;
    to->size = size;
    return 1;
}

static void put_bytes(api_out *to, const char *bytes, size_t n)
{
    if (!make_room(to, n))
        return;
    memcpy(to->text + to->len, bytes, n);
    to->len += n;
    to->text[to->len] = '\0';
}

void api_put_text(api_out *to, const char *text)
{
    put_bytes(to, text, strlen(text));
}

void api_put(api_out *to, const char *format, ...)
{
    va_list arguments, again;
    int n;
    va_start(arguments, format);
    va_copy(again, arguments);
    n = vsnprintf(NULL, 0, format, arguments);
    if (n >= 0 && make_room(to, (size_t)n)) {
        (void)vsnprintf(to->text + to->len, (size_t)n + 1, format, again);
        to->len += (size_t)n;
    }
    va_end(again);
    va_end(arguments);
}

void api_put_wrapped(api_out *to, const char *text, int32_t at, int32_t indent, int32_t columns)
{
    const int32_t least = indent + 8;
    columns = columns < least ? least : columns;
    while (*text) {
        const size_t room = at < columns ? (size_t)(columns - at) : 0;
        size_t n = strlen(text), next;
        if (n > room) {
            n = room;
            while (n > 0 && text[n] != ' ' && text[n - 1] != ',')
                n--;
            if (n == 0 && at <= indent) /* a word that is longer than a line */
                n = room;
        }
        next = n + strspn(text + n, " ");
        put_bytes(to, text, n);
        text += next;
        at = indent;
        if (*text)
            api_put(to, "\n%*s", (int)indent, "");
    }
    put_bytes(to, "\n", 1);
}

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

/* == JSON =================================================================== */

/* Begins a value: a comma unless it is the first one of its object or array, then its key. */
static void begin(api_out *to, const char *key)
{
    const char last = to->len > 0 ? to->text[to->len - 1] : '{';
    if (last != '{' && last != '[')
        put_bytes(to, ", ", 2);
    if (!key)
        return;
    put_bytes(to, "\"", 1);
    api_put_text(to, key);
    put_bytes(to, "\": ", 3);
}

void api_json_open(api_out *to, const char *key, char bracket)
{
    begin(to, key);
    put_bytes(to, &bracket, 1);
}

void api_json_close(api_out *to, char bracket)
{
    put_bytes(to, &bracket, 1);
}

void api_json_value(api_out *to, const char *key, const char *json)
{
    begin(to, key);
    to->is_short |= !json;
    api_put_text(to, json ? json : "null");
}

void api_json_null(api_out *to, const char *key)
{
    api_json_value(to, key, "null");
}

void api_json_bool(api_out *to, const char *key, int is_true)
{
    api_json_value(to, key, is_true ? "true" : "false");
}

void api_json_number(api_out *to, const char *key, int64_t number)
{
    char text[24], *at = text + sizeof text;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        *--at = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (number < 0)
        *--at = '-';
    begin(to, key);
    put_bytes(to, at, (size_t)(text + sizeof text - at));
}

void api_json_id(api_out *to, const char *key, int32_t id)
{
    if (id < 0)
        api_json_null(to, key);
    else
        api_json_number(to, key, id);
}

/* Appends one byte that JSON escapes. */
static void put_escaped(api_out *to, unsigned char byte)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *at = byte ? strchr(plain, byte) : NULL;
    if (at)
        api_put(to, "\\%c", letters[at - plain]);
    else
        api_put(to, "\\u%04X", byte);
}

void api_json_text(api_out *to, const char *key, const char *text)
{
    size_t left = text ? strlen(text) : 0;
    begin(to, key);
    if (!text) {
        api_put_text(to, "null");
        return;
    }
    put_bytes(to, "\"", 1);
    while (left > 0) {
        const int32_t n = cpubind_character(text, left);
        const unsigned char byte = (unsigned char)*text;
        const size_t step = n ? (size_t)n : 1;
        if (n == 0 && byte >= 0x7f)
            put_bytes(to, "?", 1);
        else if (n == 0 || byte == '"' || byte == '\\')
            put_escaped(to, byte);
        else
            put_bytes(to, text, step);
        text += step;
        left -= step;
    }
    put_bytes(to, "\"", 1);
}

void api_json_list(api_out *to, const char *key, const int32_t *list, int32_t n)
{
    int32_t len = 0;
    if (n == 0) {
        api_json_null(to, key);
        return;
    }
    begin(to, key);
    put_bytes(to, "\"", 1);
    (void)!cpubind_cpulist_format(list, n, NULL, 0, &len);
    if (make_room(to, (size_t)len) &&
        cpubind_cpulist_format(list, n, to->text + to->len, len, &len) == CPUBIND_TEXT_OK) {
        to->len += (size_t)len;
        to->text[to->len] = '\0';
    }
    put_bytes(to, "\"", 1);
}
