/* fuzz_host.h - a host in memory for fuzz targets, made of the text of an input
 * SPDX-License-Identifier: MIT
 *
 * The text is one of entries. A line "==" SP name starts an entry, which ends before the next
 * such line. Another byte in place of the second "=" means: "-" without the last line feed; "!"
 * the file cannot be read; "p" only root may read the file; "t" the command does not end in
 * time; "l" the output is too long; "1" .. "9" the exit code of the command.
 */
#ifndef CPUBIND_FUZZ_HOST_H
#define CPUBIND_FUZZ_HOST_H

#include <errno.h>

#include "../adapters/source.h"
#include "../adapters/text/input_name.h"
#include "fuzz.h"

enum { MAX_ENTRIES = 256, MAX_LISTINGS = 2048 };

typedef struct entry {
    char *name; /* ended by NUL */
    char *data; /* allocation of the exact size */
    int32_t len;
    char mark; /* '=', '-', '!', 'p', 't', 'l' or a digit */
} entry;

/* A host in memory. The first call that lists a folder makes the listing, later calls get the
 * same one. */
typedef struct memory_host {
    entry entry[MAX_ENTRIES];
    int32_t n;
    struct {
        char *name, *data;
        int32_t len;
    } listing[MAX_LISTINGS];
    int32_t n_listing;
} memory_host;

/* == The container ========================================================== */

static inline const char *line_end(const char *at, const char *end)
{
    const char *feed = at < end ? (const char *)memchr(at, '\n', (size_t)(end - at)) : NULL;
    return feed ? feed : end;
}

static inline int is_entry(const char *at, const char *end)
{
    return end - at > 3 && at[0] == '=' && at[1] && strchr("=-!ptl123456789", at[1]) &&
           at[2] == ' ';
}

static inline char *string_of(const char *at, const char *end)
{
    char *string = (char *)fuzz_filled((size_t)(end - at) + 1, 0);
    memcpy(string, at, (size_t)(end - at));
    return string;
}

/* The first line at or after `at` that starts an entry, or `end`. */
static inline const char *next_entry(const char *at, const char *end)
{
    while (at < end && !is_entry(at, end)) {
        at = line_end(at, end);
        at += at < end;
    }
    return at;
}

static inline int has_entry(const memory_host *h, const char *name)
{
    for (int32_t i = 0; i < h->n; i++)
        if (strcmp(h->entry[i].name, name) == 0)
            return 1;
    return 0;
}

/* Leaves out an entry whose name is no name of an input, and the second of two entries with the
 * same name. */
static inline void take_entries(memory_host *h, const char *at, const char *end)
{
    while (at < end && h->n < MAX_ENTRIES) {
        const char *head = line_end(at, end), *first = head + (head < end);
        const char *next = next_entry(first, end);
        entry *e = &h->entry[h->n];
        size_t len = (size_t)(next - first);
        e->name = string_of(at + 3, head);
        e->mark = at[1];
        if (e->mark == '-' && len > 0 && first[len - 1] == '\n')
            len--;
        at = next;
        if (!cpubind_input_is_name(e->name) || has_entry(h, e->name)) {
            free(e->name);
            continue;
        }
        e->data = fuzz_text(first, len);
        e->len = (int32_t)len;
        h->n++;
    }
}

static inline void free_host(memory_host *h)
{
    for (int32_t i = 0; i < h->n; i++) {
        free(h->entry[i].name);
        free(h->entry[i].data);
    }
    for (int32_t i = 0; i < h->n_listing; i++) {
        free(h->listing[i].name);
        free(h->listing[i].data);
    }
}

/* == The source ============================================================= */

static inline cpubind_input read_entry(void *ctx, const char *name)
{
    const memory_host *h = (const memory_host *)ctx;
    cpubind_input input;
    memset(&input, 0, sizeof input);
    CHECK(cpubind_input_is_name(name));
    for (int32_t i = 0; i < h->n; i++) {
        const entry *e = &h->entry[i];
        if (strcmp(e->name, name) != 0)
            continue;
        const int is_failed = e->mark == '!' || e->mark == 'p';
        input.state = is_failed        ? CPUBIND_INPUT_FAILED
                      : e->mark == 't' ? CPUBIND_INPUT_TIMEOUT
                      : e->mark == 'l' ? CPUBIND_INPUT_TOO_LONG
                                       : CPUBIND_INPUT_PRESENT;
        if (input.state == CPUBIND_INPUT_PRESENT) {
            input.data = e->len ? e->data : NULL;
            input.len = e->len;
            input.exit_code = e->mark >= '1' && e->mark <= '9' ? e->mark - '0' : 0;
        }
        input.error = e->mark == '!' ? EIO : is_failed ? EACCES : 0;
        input.why = is_failed ? "read" : NULL;
        return input;
    }
    return input;
}

/* The part of an entry's name that is directly in the folder, or NULL. */
static inline const char *part_in(const char *name, const char *folder, size_t *out)
{
    const size_t n = strlen(folder);
    if (strncmp(name, folder, n) != 0 || name[n] != '/')
        return NULL;
    *out = strcspn(name + n + 1, "/");
    return name + n + 1;
}

static inline int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline cpubind_input listing_of(const memory_host *h, int32_t i)
{
    cpubind_input input;
    memset(&input, 0, sizeof input);
    input.state = h->listing[i].data ? CPUBIND_INPUT_PRESENT : CPUBIND_INPUT_ABSENT;
    input.data = h->listing[i].len ? h->listing[i].data : NULL;
    input.len = h->listing[i].len;
    return input;
}

/* Joins the names, each once, in ascending byte order and with a line feed, in an allocation of
 * the exact size. */
static inline void join_names(char **names, size_t n, char **out, int32_t *out_len)
{
    size_t len = 0, at = 0;
    qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 0; i < n; i++)
        len += strlen(names[i]) + 1;
    *out = (char *)fuzz_filled(len, FUZZ_FILL);
    for (size_t i = 0; i < n; i++) {
        const size_t part = strlen(names[i]);
        if (i > 0 && strcmp(names[i - 1], names[i]) == 0)
            continue;
        memcpy(*out + at, names[i], part);
        (*out)[at + part] = '\n';
        at += part + 1;
    }
    *out_len = (int32_t)at;
    *out = (char *)realloc(*out, at ? at : 1);
}

static inline cpubind_input list_entries(void *ctx, const char *name)
{
    memory_host *h = (memory_host *)ctx;
    char *names[MAX_ENTRIES];
    size_t n = 0;
    CHECK(cpubind_input_is_name(name));
    for (int32_t i = 0; i < h->n_listing; i++)
        if (strcmp(h->listing[i].name, name) == 0)
            return listing_of(h, i);
    CHECK(h->n_listing < MAX_LISTINGS);
    for (int32_t i = 0; i < h->n; i++) {
        size_t len = 0;
        const char *part = part_in(h->entry[i].name, name, &len);
        if (part && len > 0)
            names[n++] = string_of(part, part + len);
    }
    h->listing[h->n_listing].name = string_of(name, name + strlen(name));
    if (n > 0)
        join_names(names, n, &h->listing[h->n_listing].data, &h->listing[h->n_listing].len);
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    return listing_of(h, h->n_listing++);
}

#endif
