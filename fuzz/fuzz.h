/* fuzz.h - helpers of the fuzz targets: checks of laws, and a reader on buffers of exact size
 * SPDX-License-Identifier: MIT
 *
 * A target is one file of targets/ with one function, LLVMFuzzerTestOneInput, that aborts when
 * the code breaks a law. libFuzzer generates inputs for the target; replay.c feeds the target
 * the files of corpus/ and crashes/. A target must not print, keep files, or depend on an
 * earlier input. The laws of all readers come from adapters/text/text.h.
 */
#ifndef CPUBIND_FUZZ_H
#define CPUBIND_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../adapters/text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Longest input in bytes; a target ignores a longer one. */
#define FUZZ_MAX_TEXT (1 << 20)

static inline void fuzz_broken(const char *law, const char *file, int line)
{
    (void)fprintf(stderr, "%s:%d: a law is broken: %s\n", file, line, law);
    abort();
}

#define CHECK(law) ((law) ? (void)0 : fuzz_broken(#law, __FILE__, __LINE__))

/* The place of a fault is inside the text, and the fault has a reason. */
static inline void fuzz_check_fault(const cpubind_text_fault *fault, int32_t len)
{
    CHECK(fault->offset >= 0 && fault->offset <= len);
    CHECK(fault->what && fault->what[0] != '\0');
}

/* == Buffers of the exact size ============================================== */

#define FUZZ_FILL  0x5a
#define FUZZ_OTHER 0xa5

static inline void *fuzz_filled(size_t bytes, int fill)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p)
        abort();
    memset(p, fill, bytes);
    return p;
}

static inline char *fuzz_text(const void *data, size_t size)
{
    char *p = (char *)malloc(size ? size : 1);
    if (!p)
        abort();
    if (size)
        memcpy(p, data, size);
    return p;
}

static inline int fuzz_holds_only(const void *object, size_t size, int fill)
{
    const unsigned char *byte = (const unsigned char *)object;
    for (size_t i = 0; i < size; i++)
        if (byte[i] != fill)
            return 0;
    return 1;
}

static inline int fuzz_same(const void *a, const void *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

/* The offset of the first line that starts with `name` and the byte `end`, found byte by byte;
 * -1 if the text has no such line. */
static inline int32_t fuzz_find_line(const char *text, int32_t len, const char *name, char end)
{
    const int32_t n = (int32_t)strlen(name);
    for (int32_t at = 0; at + n < len; at++)
        if ((at == 0 || text[at - 1] == '\n') && memcmp(text + at, name, (size_t)n) == 0 &&
            text[at + n] == end)
            return at;
    return -1;
}

/* == Inputs ================================================================= */

/* Calls `check` with a copy of the input in an allocation of its exact size. Returns 0, as
 * libFuzzer asks of a target. */
static inline int fuzz_text_input(const uint8_t *data, size_t size,
                                  void (*check)(const char *text, int32_t len))
{
    char *text;
    if (size > FUZZ_MAX_TEXT)
        return 0;
    text = fuzz_text(data, size);
    check(text, (int32_t)size);
    free(text);
    return 0;
}

/* Calls `check` with the first line of the input as a name, ended by NUL, and the other lines
 * as the text, of its exact size. */
static inline int fuzz_named_input(const uint8_t *data, size_t size,
                                   void (*check)(const char *text, int32_t len,
                                                 const char *name))
{
    const uint8_t *feed = size ? (const uint8_t *)memchr(data, '\n', size) : NULL;
    const size_t n = feed ? (size_t)(feed - data) : size;
    const size_t rest = feed ? size - n - 1 : 0;
    char *name, *text;
    if (size > FUZZ_MAX_TEXT)
        return 0;
    name = (char *)fuzz_filled(n + 1, 0);
    if (n)
        memcpy(name, data, n);
    text = fuzz_text(feed ? feed + 1 : data, rest);
    check(text, (int32_t)rest, name);
    free(name);
    free(text);
    return 0;
}

/* == One reader ============================================================= */

enum { FUZZ_ARRAYS = 2, FUZZ_EXTRA = 5 };

/* The arrays that one call of a reader gets, and its results. `extra` holds the results that
 * are neither elements nor counts. */
typedef struct fuzz_reading {
    cpubind_text_status status;
    cpubind_text_fault fault;
    struct {
        void *at;
        int32_t cap;
        int32_t n;
    } array[FUZZ_ARRAYS];
    int32_t extra[FUZZ_EXTRA];
} fuzz_reading;

typedef struct fuzz_reader {
    /* Calls the reader with the arrays of *r; fault may be NULL. */
    cpubind_text_status (*read)(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault);
    int32_t limit; /* argument of read */
    int32_t n_array;
    size_t size[FUZZ_ARRAYS]; /* of an element, in bytes */
} fuzz_reader;

static inline void fuzz_end(fuzz_reading *r)
{
    for (int i = 0; i < FUZZ_ARRAYS; i++)
        free(r->array[i].at);
}

static inline size_t fuzz_bytes(const fuzz_reader *reader, const fuzz_reading *r, int i)
{
    return (size_t)r->array[i].cap * reader->size[i];
}

/* A failed call writes the fault and nothing else; a call that fails with ERR_SPACE writes the
 * counts as well. */
static inline void fuzz_check_failure(const fuzz_reader *reader, const fuzz_reading *r,
                                      int32_t len, int fill)
{
    fuzz_check_fault(&r->fault, len);
    CHECK(strcmp(cpubind_text_status_name(r->status), "?") != 0);
    CHECK(fuzz_holds_only(r->extra, sizeof r->extra, fill));
    for (int i = 0; i < reader->n_array; i++) {
        CHECK(fuzz_holds_only(r->array[i].at, fuzz_bytes(reader, r, i), fill));
        if (r->status == CPUBIND_TEXT_ERR_SPACE)
            CHECK(r->array[i].n >= 0);
        else
            CHECK(fuzz_holds_only(&r->array[i].n, sizeof r->array[i].n, fill));
    }
}

/* Calls the reader with arrays of these lengths, filled with `fill`. An array of length 0 is
 * NULL when `fill` is FUZZ_FILL, and an allocation when it is FUZZ_OTHER. */
static inline cpubind_text_status fuzz_call(const fuzz_reader *reader, const char *text,
                                            int32_t len, const int32_t *cap, int fill,
                                            fuzz_reading *r)
{
    memset(r, fill, sizeof *r);
    for (int i = 0; i < FUZZ_ARRAYS; i++) {
        r->array[i].cap = i < reader->n_array ? cap[i] : 0;
        r->array[i].at = NULL;
        if (r->array[i].cap > 0 || fill == FUZZ_OTHER)
            r->array[i].at = fuzz_filled(fuzz_bytes(reader, r, i), fill);
    }
    r->fault.offset = -7;
    r->fault.what = NULL;
    r->status = reader->read(text, len, reader->limit, r, &r->fault);
    if (r->status == CPUBIND_TEXT_OK)
        CHECK(r->fault.offset == -7 && r->fault.what == NULL);
    else
        fuzz_check_failure(reader, r, len, fill);
    return r->status;
}

/* Calls the reader without a fault, each array being `array` with the length `cap`. */
static inline cpubind_text_status fuzz_call_with(const fuzz_reader *reader, const char *text,
                                                 int32_t len, int32_t cap, void *array)
{
    fuzz_reading r;
    memset(&r, 0, sizeof r);
    for (int i = 0; i < reader->n_array; i++) {
        r.array[i].cap = cap;
        r.array[i].at = array;
    }
    return reader->read(text, len, reader->limit, &r, NULL);
}

/* A reader refuses arguments outside their range, with a fault and without one. */
static inline void fuzz_check_args(const fuzz_reader *reader)
{
    static const int32_t none[FUZZ_ARRAYS] = {0, 0};
    fuzz_reading r;
    CHECK(fuzz_call(reader, NULL, 1, none, FUZZ_FILL, &r) == CPUBIND_TEXT_ERR_ARG);
    CHECK(fuzz_call_with(reader, "", -1, 0, NULL) == CPUBIND_TEXT_ERR_ARG);
    CHECK(fuzz_call_with(reader, "", CPUBIND_TEXT_MAX + 1, 0, NULL) == CPUBIND_TEXT_ERR_ARG);
    for (int i = 0; i < reader->n_array; i++) {
        memset(&r, 0, sizeof r);
        r.array[i].cap = -1;
        CHECK(reader->read("", 0, reader->limit, &r, NULL) == CPUBIND_TEXT_ERR_ARG);
        r.array[i].cap = 1;
        CHECK(reader->read("", 0, reader->limit, &r, NULL) == CPUBIND_TEXT_ERR_ARG);
    }
}

/* The first array of a reading, for a reader of numbers. */
static inline cpubind_int_list fuzz_list_of(const fuzz_reading *r)
{
    const cpubind_int_list list = {(int32_t *)r->array[0].at, r->array[0].cap, r->array[0].n};
    return list;
}

/* A text that cannot be read gives the same status with room in the arrays, and without a
 * fault. */
static inline void fuzz_check_fails_again(const fuzz_reader *reader, const char *text,
                                          int32_t len, const fuzz_reading *first)
{
    static const int32_t some[FUZZ_ARRAYS] = {3, 3};
    fuzz_reading r;
    CHECK(fuzz_call(reader, text, len, some, FUZZ_OTHER, &r) == first->status);
    CHECK(r.fault.offset == first->fault.offset && r.fault.what == first->fault.what);
    fuzz_end(&r);
    CHECK(fuzz_call_with(reader, text, len, 0, NULL) == first->status);
}

/* A call with an array that is one element too short fails with ERR_SPACE and the counts. */
static inline void fuzz_check_space(const fuzz_reader *reader, const char *text, int32_t len,
                                    const int32_t *n)
{
    for (int i = 0; i < reader->n_array; i++) {
        int32_t cap[FUZZ_ARRAYS] = {n[0], n[1]};
        fuzz_reading r;
        if (n[i] == 0)
            continue;
        cap[i]--;
        CHECK(fuzz_call(reader, text, len, cap, FUZZ_FILL, &r) == CPUBIND_TEXT_ERR_SPACE);
        for (int k = 0; k < reader->n_array; k++)
            CHECK(r.array[k].n == n[k]);
        fuzz_end(&r);
    }
}

/* Reads a text in two steps, first the lengths and then the elements, and checks what text.h
 * promises of every reader. Returns 1 if the text could be read; the caller then calls fuzz_end
 * with `r`. */
static inline int fuzz_read(const fuzz_reader *reader, const char *text, int32_t len,
                            fuzz_reading *r)
{
    static const int32_t none[FUZZ_ARRAYS] = {0, 0};
    int32_t n[FUZZ_ARRAYS] = {0, 0};
    fuzz_reading again;
    const cpubind_text_status asked = fuzz_call(reader, text, len, none, FUZZ_FILL, r);
    int32_t all = 0;
    fuzz_check_args(reader);
    CHECK(asked != CPUBIND_TEXT_ERR_ARG);
    if (asked != CPUBIND_TEXT_OK && asked != CPUBIND_TEXT_ERR_SPACE) {
        fuzz_check_fails_again(reader, text, len, r);
        return 0;
    }
    for (int i = 0; i < reader->n_array; i++) {
        n[i] = r->array[i].n;
        all |= n[i];
    }
    CHECK((asked == CPUBIND_TEXT_ERR_SPACE) == (all > 0));
    fuzz_check_space(reader, text, len, n);
    CHECK(fuzz_call(reader, text, len, n, FUZZ_FILL, r) == CPUBIND_TEXT_OK);
    CHECK(fuzz_call(reader, text, len, n, FUZZ_OTHER, &again) == CPUBIND_TEXT_OK);
    for (int i = 0; i < reader->n_array; i++) {
        CHECK(r->array[i].n == n[i] && again.array[i].n == n[i]);
        CHECK(fuzz_same(r->array[i].at, again.array[i].at, fuzz_bytes(reader, r, i)));
    }
    for (int i = 0; i < FUZZ_EXTRA; i++)
        CHECK(r->extra[i] == again.extra[i] ||
              (r->extra[i] == (int32_t)0x5a5a5a5a && again.extra[i] == (int32_t)0xa5a5a5a5));
    fuzz_end(&again);
    return 1;
}

/* == Results of readers ===================================================== */

/* The list ascends strictly, from 0 or more to less than `limit`. */
static inline void fuzz_check_list(const int32_t *list, int32_t n, int32_t limit)
{
    for (int32_t i = 0; i < n; i++) {
        CHECK(list[i] >= 0 && list[i] < limit);
        CHECK(i == 0 || list[i - 1] < list[i]);
    }
}

/* How many numbers two strictly ascending lists have in common. */
static inline int32_t fuzz_count_both(const int32_t *a, int32_t n_a, const int32_t *b,
                                      int32_t n_b)
{
    int32_t both = 0;
    for (int32_t i = 0, k = 0; i < n_a && k < n_b;) {
        const int32_t first = a[i], second = b[k];
        both += first == second;
        i += first <= second;
        k += second <= first;
    }
    return both;
}

/* Whether no CPU is in two of the lists cpu[row[i]] .. cpu[row[i + 1] - 1], i < n. */
static inline int fuzz_are_disjoint(const int32_t *cpu, const int32_t *row, int32_t n)
{
    static uint8_t given[65536];
    int is_twice = 0;
    for (int32_t i = 0; i < row[n]; i++) {
        is_twice |= given[cpu[i]];
        given[cpu[i]] = 1;
    }
    for (int32_t i = 0; i < row[n]; i++)
        given[cpu[i]] = 0;
    return !is_twice;
}

static inline int fuzz_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The slice is inside the text. */
static inline void fuzz_check_slice(cpubind_slice slice, int32_t len)
{
    CHECK(slice.len >= 0 && slice.at >= 0);
    CHECK(slice.at <= len && slice.len <= len - slice.at);
}

/* The name is inside one line, and neither starts nor ends with a blank. */
static inline void fuzz_check_name(const char *text, int32_t len, cpubind_slice name)
{
    fuzz_check_slice(name, len);
    if (name.len == 0)
        return;
    CHECK(!memchr(text + name.at, '\n', (size_t)name.len));
    CHECK(!fuzz_is_blank(text[name.at]) && !fuzz_is_blank(text[name.at + name.len - 1]));
}

#endif /* CPUBIND_FUZZ_H */
