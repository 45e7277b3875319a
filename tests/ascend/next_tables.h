/* next_tables.h - the tables of next_tables.txt, one by one
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_ASCEND_NEXT_TABLES_H
#define CPUBIND_TESTS_ASCEND_NEXT_TABLES_H

#include "lines.h"

enum { MAX_NEXT = 8192 };

typedef struct next_table {
    const char *name; /* behind the name of its reader */
    write_fn *write;
    char text[MAX_NEXT], values[MAX_NEXT];
    const char *rest;   /* of the table as it is, behind the last change */
    const char *status; /* the name of its code */
    const char *unknown;
    long offset; /* of the fault */
    int is_whole;
} next_table;

typedef void next_table_fn(const next_table *next);

static inline void add_line(char *text, const char *line, size_t len)
{
    const size_t n = strlen(text);

    assert_true(n + len + 2 <= MAX_NEXT);
    snprintf(text + n, MAX_NEXT - n, "%.*s\n", (int)len, line);
}

/* Copies what is left of the table as it is, up to a line; NULL: all. */
static inline void copy_up_to(next_table *next, const char *line, int with_line)
{
    int is_found = 0;

    while (*next->rest && !is_found) {
        const size_t len = strcspn(next->rest, "\n");

        is_found = line && strlen(line) == len && memcmp(line, next->rest, len) == 0;
        if (!is_found || with_line)
            add_line(next->text, next->rest, len);
        next->rest += len + 1;
    }
    if (line && !is_found)
        fail_msg("%s: the table as it is has no \"%s\" there", next->name, line);
}

/* The table is complete: the rest, and what the table as it is has in common with it. */
static inline void end_table(next_table *next, next_table *as_it_is)
{
    if (!next->is_whole)
        copy_up_to(next, NULL, 0);
    if (!*next->values)
        memcpy(next->values, as_it_is->values, sizeof next->values);
    if (strstr(next->name, "as it is"))
        *as_it_is = *next;
}

static inline void start_table(next_table *next, const next_table *as_it_is, const char *name)
{
    static const struct {
        const char *name;
        write_fn *write;
    } reader[] = {{"map", write_map},
                  {"topo", write_topo},
                  {"info", write_info},
                  {"board", write_board},
                  {"list", write_list}};

    memset(next, 0, sizeof *next);
    next->name = name;
    next->rest = as_it_is->text;
    next->status = cpubind_text_status_name(CPUBIND_TEXT_OK);
    next->unknown = "";
    for (int32_t i = 0; i < LENGTH(reader); i++)
        if (strncmp(name, reader[i].name, strcspn(name, " ")) == 0)
            next->write = reader[i].write;
    if (!next->write)
        fail_msg("%s: there is no such reader", name);
}

static inline void take_line(next_table *next, const char *line)
{
    const size_t len = strlen(line + 1);
    char *code = NULL;

    switch (line[0]) {
    case ':':
        next->is_whole = 1;
        add_line(next->text, line + 1, line[len] == '~' ? len - 1 : len);
        break;
    case ' ':
    case '-':
        copy_up_to(next, line + 1, line[0] == ' ');
        break;
    case '>':
        copy_up_to(next, NULL, 0);
        add_line(next->text, line + 1, len);
        break;
    case '+':
        add_line(next->text, line + 1, len);
        break;
    case '=':
        add_line(next->values, line + 1, len);
        break;
    case '!':
        next->offset = strtol(line + 1, &code, 10);
        next->status = code + 1;
        break;
    case '?':
        next->unknown = line + 1;
        break;
    default:
        fail_msg("%s: what is \"%s\"?", next->name, line);
    }
}

/* Hands out each table of the file; returns how many there are. */
static inline int32_t each_next_table(next_table_fn *see)
{
    static next_table next, as_it_is;
    char *file = read_vectors("ascend/next_tables.txt"), *rest = file, *line;
    int32_t n = 0;

    do {
        line = next_case(&rest);
        if (n > 0 && (!line || line[0] == '@')) {
            end_table(&next, &as_it_is);
            see(&next);
        }
        if (line && line[0] == '@')
            start_table(&next, &as_it_is, line + 1);
        else if (line)
            take_line(&next, line);
        n += line && line[0] == '@';
    } while (line);
    free(file);
    return n;
}

#endif
