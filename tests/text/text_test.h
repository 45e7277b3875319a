/* text_test.h - files of vectors and all-or-nothing checks, for tests of text and ascend
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_TEXT_TEXT_TEST_H
#define CPUBIND_TESTS_TEXT_TEXT_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../adapters/text/text.h"
#include "../support/test.h"
#include "../support/exact_buffer.h"

#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

/* "fault before", so that a missing write is detected. */
static const cpubind_text_fault no_fault = {-1, NULL};

/* A reader that takes longer on one text hangs. */
#define HANG_SECONDS 1.0

/* The time that this process has computed. */
static inline double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* The whole file as an allocation of its exact size, or NULL. */
static inline char *read_file(const char *path, int32_t *len)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long size;

    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0) {
        rewind(file);
        bytes = (char *)malloc(size ? (size_t)size : 1);
        if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size)
            abort();
        *len = (int32_t)size;
    }
    (void)fclose(file);
    return bytes;
}

/* `name` below the folder that an environment variable names. */
static inline void path_below(char *path, size_t cap, const char *variable,
                              const char *fallback, const char *name)
{
    const char *folder = getenv(variable);
    const int n = snprintf(path, cap, "%s/%s", folder && *folder ? folder : fallback, name);

    assert_true(n > 0 && (size_t)n < cap);
}

/* A file of tests/vectors as a string. */
static inline char *read_vectors(const char *name)
{
    char path[4096];
    int32_t len = 0;
    char *bytes, *text;

    path_below(path, sizeof path, "CPUBIND_TESTS", "tests", name);
    bytes = read_file(path, &len);
    if (!bytes)
        fail_msg("cannot read %s", path);
    text = (char *)realloc(bytes, (size_t)len + 1);
    if (!text)
        abort();
    text[len] = '\0';
    return text;
}

/* The next line that is neither empty nor a comment ('#'), as a string; NULL at the end. */
static inline char *next_case(char **rest)
{
    while (**rest) {
        char *line = *rest, *feed = strchr(line, '\n');

        *rest = feed ? feed + 1 : line + strlen(line);
        if (feed)
            *feed = '\0';
        if (*line && *line != '#')
            return line;
    }
    return NULL;
}

/* Splits a line at its TABs; returns how many fields there are. */
static inline int32_t split_tabs(char *line, char **field, int32_t cap)
{
    int32_t n = 0;

    while (line && n < cap) {
        char *tab = strchr(line, '\t');

        field[n++] = line;
        if (tab)
            *tab++ = '\0';
        line = tab;
    }
    return n;
}

/* \n \t \r \0 \\ in place; returns the length. A field that is "\e" is empty. */
static inline int32_t unescape(char *text)
{
    int32_t n = 0;

    if (strcmp(text, "\\e") == 0)
        return 0;
    for (const char *p = text; *p; p++) {
        char c = *p;

        if (c == '\\') {
            c = *++p;
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == '0' ? '\0' : c;
        }
        text[n++] = c;
    }
    return n;
}

/* "1 2 5" to numbers; "-" is none. */
static inline int32_t read_numbers(const char *text, int32_t *out, int32_t cap)
{
    int32_t n = 0;

    while (*text && strcmp(text, "-") != 0) {
        char *end = NULL;
        const long value = strtol(text, &end, 10);

        assert_true(end != text && n < cap);
        out[n++] = (int32_t)value;
        text = end;
        while (*text == ' ')
            text++;
    }
    return n;
}

/* A fault that a parser wrote: its place is in the text, its clause is there. */
static inline void assert_fault(const cpubind_text_fault *fault, int32_t len)
{
    assert_in_range((uintmax_t)fault->offset, 0, (uintmax_t)len);
    assert_non_null(fault->what);
    assert_true(fault->what[0] != '\0');
}

/* A text, the status of its reader, and the place of the fault. */
typedef struct verdict {
    const char *text;
    cpubind_text_status status;
    int32_t offset;
} verdict;

typedef cpubind_text_status verdict_fn(const char *text, int32_t len,
                                       cpubind_text_fault *fault);

static inline void expect_verdicts(verdict_fn *read, const verdict *cases, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        cpubind_text_fault fault = no_fault;
        const cpubind_text_status status =
            read(cases[i].text, (int32_t)strlen(cases[i].text), &fault);

        if (status != cases[i].status || fault.offset != cases[i].offset)
            fail_msg("\"%s\": %s at %d, not %s at %d", cases[i].text,
                     cpubind_text_status_name(status), fault.offset,
                     cpubind_text_status_name(cases[i].status), cases[i].offset);
    }
}

static inline void assert_untouched(const void *object, size_t size)
{
    const unsigned char *byte = (const unsigned char *)object;

    for (size_t i = 0; i < size; i++)
        assert_int_equal(byte[i], EDGE_FILL);
}

#endif
