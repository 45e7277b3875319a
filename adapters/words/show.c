/* show.c - the text of a report: its values, set as tables and blocks
 * SPDX-License-Identifier: MIT
 *
 * Widths are counted in characters.
 */
#include "show.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../text/character.h"
#include "../text/cpulist.h"

enum {
    MAX_KEYS = 24,
    MAX_LIST = 8192, /* numbers of a list that is shown with strides */
    LEAST_WIDTH = 16 /* of a column that goes on below */
};

/* == Keys =================================================================== */

/* One word of `keys`. */
typedef struct column {
    const char *key, *head;
    int n_key, n_head, is_outer, is_extra;
    char mark; /* '~', '%', '?', '!' or NUL */
} column;

/* Where "b" of "a.b" begins. */
static const char *last_word(const char *key, int len)
{
    int at = len;
    while (at > 0 && key[at - 1] != '.')
        at--;
    return key + at;
}

static int read_columns(const char *keys, column *out)
{
    int n = 0;
    for (const char *at = keys; *at && n < MAX_KEYS; at += strspn(at, " "), n++) {
        const int len = (int)strcspn(at, " "), n_key = (int)strcspn(at, "= ");
        column *c = &out[n];
        *c =
            (column){.key = at, .n_key = n_key, .is_outer = *at == '^', .is_extra = *at == '+'};
        c->key += c->is_outer || c->is_extra;
        c->n_key -= c->is_outer || c->is_extra;
        if (c->n_key > 0 && strchr("~%?!", c->key[c->n_key - 1]))
            c->mark = c->key[--c->n_key];
        c->head = n_key < len ? at + n_key + 1 : last_word(c->key, c->n_key);
        c->n_head = n_key < len ? len - n_key - 1 : (int)(c->key + c->n_key - c->head);
        at += len;
    }
    return n;
}

/* Whether a part of a text is a table. */
static int is_table(const words_view *view)
{
    return view->shown == WORDS_TABLE || view->shown == WORDS_COUNTED;
}

/* Whether a column has a title, with "_" or a blank between words and in either case. */
static int is_titled(const column *c, const char *title, int len)
{
    int i = 0;
    while (
        i < len && i < c->n_head &&
        (strncasecmp(c->head + i, title + i, 1) == 0 || (c->head[i] == '_' && title[i] == ' ')))
        i++;
    return i == len && i == c->n_head;
}

/* Steps to the next of the titles, which have commas between them. Returns which of the n
 * columns it is of, or n. */
static int next_titled(const column *all, int n, const char **titles)
{
    const int len = (int)strcspn(*titles, ",");
    int k = 0;
    while (k < n && !is_titled(&all[k], *titles, len))
        k++;
    *titles += len + ((*titles)[len] == ',');
    return k;
}

/* The value at "a.b", "" is the whole; NULL: none, or null. */
static const words_value *value_at(const words_value *value, const char *path, int len)
{
    while (value && len > 0) {
        const char *dot = (const char *)memchr(path, '.', (size_t)len);
        const int n = dot ? (int)(dot - path) : len;
        value = words_get_of(value, path, (size_t)n);
        path += n + (dot != NULL);
        len -= n + (dot != NULL);
    }
    return words_is(value, WORDS_NULL) ? NULL : value;
}

/* Whether there is something to show: no null, no empty text or list. */
static int has(const words_value *value)
{
    const char *text = words_string(value);
    return value && !(text && !*text) &&
           !(words_is(value, WORDS_ARRAY) && words_count(value) == 0);
}

/* Whether it is neither false nor 0 either, of an object for some key. */
static int is_set(const words_value *value)
{
    if (words_is(value, WORDS_NUMBER) || words_is(value, WORDS_BOOL))
        return words_is_true(value) || words_integer(value) != 0;
    for (int32_t i = 0; words_is(value, WORDS_OBJECT) && i < words_count(value); i++)
        if (is_set(words_at(value, i)))
            return 1;
    return has(value) && !words_is(value, WORDS_OBJECT);
}

/* == Values ================================================================= */

/* A number; '~': of bytes. */
static void put_number(api_out *to, const words_value *value, char mark)
{
    api_text text = {"", 0};
    if (mark == '~')
        words_add_bytes(&text, words_integer(value));
    else if (words_is(value, WORDS_REAL))
        words_add_real(&text, words_decimal(value));
    else
        api_add(&text, "%lld", (long long)words_integer(value));
    api_put_text(to, text.text);
}

/* "0-46:2,96-142:2" */
static void put_strides(api_out *to, const char *text)
{
    int32_t *cpu = (int32_t *)malloc(MAX_LIST * sizeof *cpu);
    cpubind_int_list list = {cpu, MAX_LIST, 0};
    const int is_read =
        cpu && cpubind_cpulist_parse(text, (int32_t)strlen(text), CPUBIND_MAX_CPUS, &list,
                                     NULL) == CPUBIND_TEXT_OK;
    if (!is_read)
        api_put_text(to, text);
    for (int32_t i = 0; is_read && i < list.n;) {
        const int32_t step = i + 1 < list.n ? cpu[i + 1] - cpu[i] : 1;
        int32_t last = i;
        while (last + 1 < list.n && cpu[last + 1] - cpu[last] == step)
            last++;
        if (step > 1 && last - i < 2)
            last = i;
        api_put(to, "%s%d", i ? "," : "", (int)cpu[i]);
        if (last > i)
            api_put(to, "-%d", (int)cpu[last]);
        if (last > i && step > 1)
            api_put(to, ":%d", (int)step);
        i = last + 1;
    }
    free(cpu);
}

/* A terminal obeys no byte of a text: each that is no part of a character is "?". */
static void put_plain(api_out *to, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        const int32_t n = cpubind_character(text, left);
        api_put_bytes(to, n ? text : "?", n ? (size_t)n : 1);
        text += n ? n : 1;
        left -= (size_t)(n ? n : 1);
    }
}

static void put_value(api_out *to, const words_value *value, char mark);

/* An array of objects is their number; "a,b" of others, "key=value" of an object. */
static void put_members(api_out *to, const words_value *value, char mark)
{
    const int is_object = words_is(value, WORDS_OBJECT);
    const char *between = "";
    if (words_is(words_at(value, 0), WORDS_OBJECT) && !is_object) {
        api_put(to, "%d", (int)words_count(value));
        return;
    }
    for (int32_t i = 0; i < words_count(value); i++) {
        const words_value *one = words_at(value, i);
        if (is_object && !is_set(one))
            continue;
        api_put_text(to, between);
        if (is_object) {
            put_plain(to, words_key(value, i));
            api_put_text(to, words_is(one, WORDS_OBJECT) ? ":" : "=");
        }
        put_value(to, one, mark);
        between = is_object ? " " : ",";
    }
}

static void put_value(api_out *to, const words_value *value, char mark)
{
    const char *text = words_string(value);
    if (text && mark == '%')
        put_strides(to, text);
    else if (text)
        put_plain(to, text);
    else if (words_is(value, WORDS_NUMBER) || words_is(value, WORDS_REAL))
        put_number(to, value, mark);
    else if (words_is(value, WORDS_BOOL))
        api_put_text(to, words_is_true(value) ? "yes" : "no");
    else if (has(value))
        put_members(to, value, mark);
}

/* The text of a cell, "-" where there is nothing; free(3). NULL without memory. */
static char *cell_text(const words_value *value, char mark)
{
    api_out text = {0};
    put_value(&text, value, mark);
    if (text.len == 0)
        api_put_text(&text, "-");
    if (!text.is_short)
        return text.text;
    free(text.text);
    return NULL;
}

/* == Lines ================================================================== */

/* The characters of the first n bytes. */
static int32_t count_characters(const char *text, size_t n)
{
    int32_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (text[i] & 0xc0) != 0x80;
    return count;
}

/* The bytes of a text that stand in a line of some characters: up to a blank or behind a comma;
 * more where there is neither. */
static size_t line_length(const char *text, int32_t width)
{
    const size_t len = strlen(text);
    size_t best = 0;
    if (width <= 0 || count_characters(text, len) <= width)
        return len;
    for (size_t i = 1; i < len; i++)
        if (text[i] == ' ' || text[i - 1] == ',') {
            if (best > 0 && count_characters(text, i) > width)
                return best;
            best = i;
        }
    return best && count_characters(text, len) > width ? best : len;
}

/* Appends a text from column `indent` on, and a line feed; 0 columns: in one line. */
static void put_indented(api_out *to, const char *text, int indent, int32_t columns)
{
    const int32_t width = columns > indent + LEAST_WIDTH ? columns - indent : columns;
    while (*text) {
        const size_t n = line_length(text, width);
        api_put_bytes(to, text, n);
        text += n;
        text += strspn(text, " ");
        if (*text)
            api_put(to, "\n%*s", indent, "");
    }
    api_put_text(to, "\n");
}

/* == Tables ================================================================= */

/* The rows of a table, with the object around each. */
typedef struct row {
    const words_value *value, *outer;
} row;

/* As text: the heads, then the rows. */
typedef struct table {
    column column[MAX_KEYS + 1];
    int n_column;
    int32_t width[MAX_KEYS + 1];
    row *row;
    int32_t n_row;
    char **cell;
    int32_t n_line; /* of cells */
} table;

static int list_rows(table *t, const words_value *report, const char *path)
{
    const words_value *all = value_at(report, path, (int)strlen(path));
    const char *dot = words_is(all, WORDS_ARRAY) ? NULL : strchr(path, '.');
    const words_value *outer = dot ? value_at(report, path, (int)(dot - path)) : all;
    for (int32_t i = 0; i < words_count(outer); i++) {
        const words_value *one = words_at(outer, i);
        const words_value *inner = dot ? words_get(one, dot + 1) : NULL;
        for (int32_t k = 0; k < (dot ? words_count(inner) : 1); k++) {
            row *grown = (row *)realloc(t->row, ((size_t)t->n_row + 1) * sizeof *grown);
            if (!grown)
                return 0;
            t->row = grown;
            t->row[t->n_row++] = (row){dot ? words_at(inner, k) : one, one};
        }
    }
    return 1;
}

static const words_value *cell_of(const row *r, const column *c)
{
    return value_at(c->is_outer ? r->outer : r->value, c->key, c->n_key);
}

/* Takes the columns of these titles, in their order. */
static void take_columns(table *t, const char *keys, const char *titles)
{
    column all[MAX_KEYS];
    const int n = read_columns(keys, all);
    while (t->n_row > 0 && t->n_column < MAX_KEYS && *titles) {
        const int k = next_titled(all, n, &titles);
        if (k < n)
            t->column[t->n_column++] = all[k];
    }
}

/* Leaves out the columns that no row has. */
static void choose_columns(table *t, const char *keys)
{
    column all[MAX_KEYS];
    const int n = read_columns(keys, all);
    for (int k = 0; k < n; k++)
        for (int32_t i = 0; !all[k].is_extra && i < t->n_row; i++) {
            const words_value *value = cell_of(&t->row[i], &all[k]);
            if (is_set(value) || words_is(value, WORDS_NUMBER)) {
                t->column[t->n_column++] = all[k];
                break;
            }
        }
}

static int is_alike(const table *t, const row *a, const row *b)
{
    for (int k = 0; k < t->n_column; k++) {
        const words_value *one = cell_of(a, &t->column[k]), *other = cell_of(b, &t->column[k]);
        if (t->column[k].mark != '?' && one != other && !words_equal(one, other))
            return 0;
    }
    return 1;
}

/* The rows from the i-th on that are like it; 0: one before it is. */
static int32_t count_alike(const table *t, int32_t i)
{
    int32_t n = 0;
    for (int32_t k = 0; k < t->n_row; k++)
        if (is_alike(t, &t->row[k], &t->row[i])) {
            if (k < i)
                return 0;
            n++;
        }
    return n;
}

/* A head, with blanks for "_". */
static char *head_text(const column *c)
{
    char *head = strndup(c->head, (size_t)c->n_head);
    for (char *at = head; at && *at; at++)
        *at = *at == '_' ? ' ' : *at;
    return head;
}

/* Makes the texts of all cells. Returns 0 without memory. */
static int fill(table *t, int is_counted)
{
    const int n = t->n_column + is_counted;
    char **cell = (char **)calloc(((size_t)t->n_row + 1) * (size_t)n, sizeof *cell);
    int is_whole = cell != NULL;
    if (!cell)
        return 0;
    for (int k = 0; k < n; k++)
        cell[k] = k < t->n_column ? head_text(&t->column[k]) : strdup("how many");
    t->n_line = 1;
    for (int32_t i = 0; i < t->n_row; i++) {
        char **line = cell + (size_t)t->n_line * (size_t)n;
        const int32_t n_alike = is_counted ? count_alike(t, i) : 1;
        words_value *number = words_number(n_alike);
        for (int k = 0; n_alike > 0 && k < n; k++)
            line[k] = k == t->n_column ? cell_text(number, 0)
                      : n_alike > 1 && t->column[k].mark == '?'
                          ? cell_text(NULL, 0)
                          : cell_text(cell_of(&t->row[i], &t->column[k]), t->column[k].mark);
        words_free(number);
        t->n_line += n_alike > 0;
    }
    for (int32_t i = 0; i < t->n_line * n; i++)
        is_whole &= cell[i] != NULL;
    t->cell = cell;
    t->n_column = n;
    return is_whole;
}

/* Measures the columns. One that no row has once they are counted is left out, unless it was
 * asked for: it has no width. */
static void measure(table *t, int is_asked)
{
    for (int k = 0; k < t->n_column; k++) {
        int is_there = is_asked;
        for (int32_t i = 1; i < t->n_line; i++)
            is_there |= strcmp(t->cell[i * t->n_column + k], "-") != 0;
        for (int32_t i = 0; is_there && i < t->n_line; i++) {
            const char *text = t->cell[i * t->n_column + k];
            const int32_t width = count_characters(text, strlen(text));
            t->width[k] = width > t->width[k] ? width : t->width[k];
        }
    }
}

static int is_list(const table *t, int at)
{
    for (int32_t i = 1; i < t->n_line; i++)
        if (strpbrk(t->cell[i * t->n_column + at], ", "))
            return 1;
    return 0;
}

/* Makes the widest columns of lists narrower until a line fits. */
static void fit(table *t, int32_t columns)
{
    for (int again = 0; again < t->n_column; again++) {
        int32_t sum = -2, widest = -1;
        for (int k = 0; k < t->n_column; k++) {
            sum += t->width[k] > 0 ? t->width[k] + 2 : 0;
            if (t->width[k] > LEAST_WIDTH && is_list(t, k) &&
                (widest < 0 || t->width[k] > t->width[widest]))
                widest = k;
        }
        if (sum <= columns || widest < 0)
            return;
        t->width[widest] -= sum - columns;
        if (t->width[widest] < LEAST_WIDTH)
            t->width[widest] = LEAST_WIDTH;
    }
}

/* Appends the cells of a row, those that are longer than their column on several lines. */
static void put_row(api_out *to, const table *t, char **cell)
{
    const char *at[MAX_KEYS + 1];
    int is_end = 0;
    for (int k = 0; k < t->n_column; k++)
        at[k] = t->width[k] > 0 ? cell[k] : "";
    while (!is_end) {
        int32_t blanks = 0;
        is_end = 1;
        for (int k = 0; k < t->n_column; k++) {
            const size_t n = line_length(at[k], t->width[k]);
            if (n > 0)
                api_put(to, "%*s%.*s", (int)blanks, "", (int)n, at[k]);
            if (t->width[k] > 0)
                blanks = (n > 0 ? 0 : blanks) + t->width[k] - count_characters(at[k], n) + 2;
            blanks = blanks < 0 ? 1 : blanks;
            at[k] += n;
            at[k] += strspn(at[k], " ");
            is_end &= !*at[k];
        }
        api_put_text(to, "\n");
    }
}

static void put_table(api_out *to, const words_view *view, const words_value *report,
                      const char *columns)
{
    table t = {.n_row = 0};
    int is_whole = list_rows(&t, report, view->path);
    if (columns)
        take_columns(&t, view->keys, columns);
    else
        choose_columns(&t, view->keys);
    if (t.n_column > 0)
        is_whole &= fill(&t, view->shown == WORDS_COUNTED);
    if (is_whole)
        measure(&t, columns != NULL);
    if (is_whole && to->columns > 0)
        fit(&t, to->columns);
    for (int32_t i = 0; is_whole && i < t.n_line; i++)
        put_row(to, &t, t.cell + i * t.n_column);
    for (int32_t i = 0; t.cell && i < t.n_line * t.n_column; i++)
        free(t.cell[i]);
    to->is_short |= !is_whole;
    free(t.cell);
    free(t.row);
}

/* == Blocks and notes ======================================================= */

static void put_block(api_out *to, const char *keys, const words_value *object)
{
    column c[MAX_KEYS];
    const int n = read_columns(keys, c);
    int width = 0;
    for (int k = 0; k < n; k++)
        if (has(value_at(object, c[k].key, c[k].n_key)) && c[k].n_head > width)
            width = c[k].n_head;
    for (int k = 0; k < n; k++) {
        const words_value *value = value_at(object, c[k].key, c[k].n_key);
        char *text = has(value) ? cell_text(value, c[k].mark) : NULL;
        char *head = head_text(&c[k]);
        if (text && head) {
            api_put(to, "%-*s  ", width, head);
            put_indented(to, text, width + 2, c[k].mark == '!' ? 0 : to->columns);
        }
        to->is_short |= !head || (has(value) && !text);
        free(text);
        free(head);
    }
}

static void put_note(api_out *to, const words_view *view, const words_value *report)
{
    const char *t = view->keys;
    if (!is_set(value_at(report, view->path, (int)strlen(view->path))))
        return;
    while (*t) {
        const int n = (int)strcspn(t, "{"), len = t[n] ? (int)strcspn(t + n + 1, "}") : 0;
        api_put(to, "%.*s", n, t);
        if (t[n]) {
            const int is_bytes = t[n + len] == '~';
            put_value(to, value_at(report, t + n + 1, len - is_bytes), is_bytes ? '~' : 0);
        }
        t += t[n] ? n + len + 2 : n;
    }
    api_put_text(to, "\n");
}

/* A text as lines of its own. */
static void put_text(api_out *to, const words_value *value)
{
    char *text = cell_text(value, 0);
    if (text)
        put_indented(to, text, 0, to->columns);
    to->is_short |= !text;
    free(text);
}

static void put_part(api_out *to, const words_view *view, const words_value *report,
                     const char *columns)
{
    const words_value *value = value_at(report, view->path, (int)strlen(view->path));
    if (is_table(view))
        put_table(to, view, report, columns);
    else if (view->shown == WORDS_NOTE)
        put_note(to, view, report);
    else if (words_is(value, WORDS_OBJECT))
        put_block(to, view->keys, value);
    else
        for (int32_t i = 0; i < words_count(value); i++) {
            const words_value *one = words_at(value, i);
            if (words_string(one)) {
                put_text(to, one);
                continue;
            }
            api_put_text(to, i ? "\n" : "");
            put_block(to, view->keys, one);
        }
}

/* Whether a table has columns of all these titles. */
static int has_columns(const words_view *view, const char *titles)
{
    column all[MAX_KEYS];
    const int n = is_table(view) ? read_columns(view->keys, all) : 0;
    while (*titles)
        if (next_titled(all, n, &titles) == n)
            return 0;
    return 1;
}

void words_show(api_out *to, const words_view *view, const words_value *report,
                const char *columns)
{
    words_shown last = WORDS_TABLE;
    for (; view->keys; view++) {
        api_out part = {.columns = to->is_file ? 0 : to->columns};
        if (columns && !has_columns(view, columns))
            continue;
        put_part(&part, view, report, columns);
        if (part.len > 0 && to->len > 0 && !(last == WORDS_NOTE && view->shown == WORDS_NOTE))
            api_put_text(to, "\n");
        api_put_bytes(to, part.text ? part.text : "", part.len);
        to->is_short |= part.is_short;
        last = part.len > 0 ? view->shown : last;
        free(part.text);
        if (columns)
            return;
    }
}

int words_has_columns(const words_view *view, const char *columns, api_text *why)
{
    const char *before = "there are ";
    for (const words_view *part = view; part->keys; part++)
        if (has_columns(part, columns))
            return 1;
    api_add(why, "-o: no table has the columns %s; ", columns);
    for (; view->keys; view++) {
        column all[MAX_KEYS];
        const int n = is_table(view) ? read_columns(view->keys, all) : 0;
        for (int k = 0; k < n; k++)
            api_add(why, "%s%.*s", k ? ", " : before, all[k].n_head, all[k].head);
        before = n ? "; or " : before;
    }
    return 0;
}
