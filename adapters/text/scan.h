/* scan.h - private to adapters/text and adapters/ascend: lines, words and numbers of a text
 * SPDX-License-Identifier: MIT
 *
 * The helpers with which the parsers read bytes. Pure: no I/O, no malloc, no errno, no locale,
 * no globals. No function reads outside the run that it is given; no text needs a NUL.
 */
#ifndef CPUBIND_SCAN_H
#define CPUBIND_SCAN_H

#include <string.h>

#include "text.h"

/* The text that a parser reads, and its fault. */
typedef struct scan_text {
    const char *text;
    int32_t len;
    cpubind_text_fault *fault; /* may be NULL */
} scan_text;

/* Bytes [at, end) of the text. */
typedef struct scan_run {
    int32_t at;
    int32_t end;
} scan_run;

/* A line without the blanks around it; {0} is the place before the first line. */
typedef struct scan_line {
    scan_run run;
    int32_t next;  /* start of the next line */
    int32_t ended; /* 1: a line feed ends it, 0: the end of the text does */
} scan_line;

/* Whether the arguments of a parser are a text that it may read. */
static inline int scan_is_text(const char *text, int32_t len)
{
    return len >= 0 && len <= CPUBIND_TEXT_MAX && (text || len == 0);
}

/* Whether the arguments are an array that may be written; length 0 may be NULL. */
static inline int scan_is_array(const void *array, int32_t cap)
{
    return cap >= 0 && (array || cap == 0);
}

static inline cpubind_text_status scan_fail(const scan_text *in, cpubind_text_status status,
                                            int32_t offset, const char *what)
{
    if (in->fault) {
        in->fault->offset = offset;
        in->fault->what = what;
    }
    return status;
}

static inline cpubind_text_status scan_fail_arg(cpubind_text_fault *fault)
{
    const scan_text in = {NULL, 0, fault};
    return scan_fail(&in, CPUBIND_TEXT_ERR_ARG, 0, "an argument is outside its range");
}

static inline cpubind_text_status scan_fail_space(const scan_text *in)
{
    return scan_fail(in, CPUBIND_TEXT_ERR_SPACE, 0, "an output array is too small");
}

/* CR counts: a capture taken over a terminal has one before each line feed. */
static inline int scan_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline int scan_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char scan_to_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static inline int scan_is_letter(char c)
{
    return scan_to_lower(c) >= 'a' && scan_to_lower(c) <= 'z';
}

/* Whether n bytes are equal, ASCII letters compared without case. */
static inline int scan_same_letters(const char *a, const char *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (scan_to_lower(a[i]) != scan_to_lower(b[i]))
            return 0;
    return 1;
}

/* Whether bytes start with a word, ASCII letters compared without case. */
static inline int scan_starts_with_letters(const char *bytes, int32_t len, const char *word)
{
    const int32_t n = (int32_t)strlen(word);
    return len >= n && scan_same_letters(bytes, word, n);
}

/* 0 .. 15, or -1. */
static inline int32_t scan_hex_value(char c)
{
    if (scan_is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static inline int scan_starts_with_digit(const scan_text *in, scan_run run)
{
    return run.at < run.end && scan_is_digit(in->text[run.at]);
}

/* How many of 8 bytes are spaces, from the first on; from the last on. */
static inline int32_t scan_count_spaces(const char *bytes, int from_last)
{
    uint64_t other;

    memcpy(&other, bytes, sizeof other);
    other ^= UINT64_C(0x2020202020202020);
    if (other == 0)
        return 8;
    if (from_last == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__))
        return __builtin_clzll(other) / 8;
    return __builtin_ctzll(other) / 8;
}

/* The end of the blanks at `at`. Tables are mostly spaces, so 8 bytes are looked at at once. */
static inline int32_t scan_skip_blanks(const scan_text *in, int32_t at, int32_t end)
{
    for (int32_t n = 8; n == 8 && end - at >= 8; at += n)
        n = scan_count_spaces(in->text + at, 0);
    while (at < end && scan_is_blank(in->text[at]))
        at++;
    return at;
}

static inline scan_run scan_trim(const scan_text *in, scan_run run)
{
    run.at = scan_skip_blanks(in, run.at, run.end);
    for (int32_t n = 8; n == 8 && run.end - run.at >= 8; run.end -= n)
        n = scan_count_spaces(in->text + run.end - 8, 1);
    while (run.at < run.end && scan_is_blank(in->text[run.end - 1]))
        run.end--;
    return run;
}

/* The first control character of a run, TAB included; the end of the run without one. */
static inline int32_t scan_find_control(const scan_text *in, scan_run run)
{
    while (run.at < run.end && (unsigned char)in->text[run.at] >= ' ')
        run.at++;
    return run.at;
}

static inline cpubind_piece scan_slice(scan_run run)
{
    const cpubind_piece slice = {run.at, run.end - run.at};
    return slice;
}

/* Steps to the next line; returns 0 at the end. No line starts after the last line feed. */
static inline int scan_next_line(const scan_text *in, scan_line *line)
{
    const char *feed;
    scan_run run = {line->next, in->len};

    if (run.at >= in->len)
        return 0;
    feed = (const char *)memchr(in->text + run.at, '\n', (size_t)(in->len - run.at));
    if (feed)
        run.end = (int32_t)(feed - in->text);
    line->ended = feed != NULL;
    line->next = run.end + line->ended;
    line->run = scan_trim(in, run);
    return 1;
}

/* The word at or after `at`; an empty run when there is none before `end`. */
static inline scan_run scan_word(const scan_text *in, int32_t at, int32_t end)
{
    scan_run word;

    at = scan_skip_blanks(in, at, end);
    word.at = at;
    while (at < end && !scan_is_blank(in->text[at]))
        at++;
    word.end = at;
    return word;
}

static inline int scan_is_empty(scan_run run)
{
    return run.at == run.end;
}

/* Whether the run starts with, or is, these bytes. For literals: SCAN_STARTS, SCAN_IS. */
static inline int scan_starts(const scan_text *in, scan_run run, const char *bytes, int32_t n)
{
    return run.end - run.at >= n && memcmp(in->text + run.at, bytes, (size_t)n) == 0;
}

static inline int scan_is(const scan_text *in, scan_run run, const char *bytes, int32_t n)
{
    return run.end - run.at == n && scan_starts(in, run, bytes, n);
}

#define SCAN_STARTS(in, run, literal)                                                          \
    scan_starts((in), (run), (literal), (int32_t)(sizeof(literal) - 1))
#define SCAN_IS(in, run, literal)                                                              \
    scan_is((in), (run), (literal), (int32_t)(sizeof(literal) - 1))

/* number = "0" / ( "1".."9" *DIGIT ), not above `max`, at *at; *at moves past it.
 * Reading stops at the digit that exceeds `max`, so no overflow is possible. */
static inline cpubind_text_status scan_number(const scan_text *in, int32_t *at, int32_t end,
                                              int32_t max, int32_t *out)
{
    const int32_t start = *at;
    int32_t i = start;
    int64_t value = 0;

    while (i < end && value <= max) {
        const uint32_t digit = (uint32_t)in->text[i] - '0';

        if (digit > 9)
            break;
        value = value * 10 + digit;
        i++;
    }
    if (i == start)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a number is missing");
    if (i > start + 1 && in->text[start] == '0')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a number has a leading zero");
    if (value > max)
        return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, start, "a number is too large");
    *out = (int32_t)value;
    *at = i;
    return CPUBIND_TEXT_OK;
}

static inline cpubind_text_status scan_fail_cut(const scan_text *in)
{
    return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len,
                     "the text ends in the middle of a line");
}

/* Reads 1*DIGIT at *at, without a leading zero and not above `max`; *at moves past it. A byte
 * must follow: a number at the end of the text may be cut. */
static inline cpubind_text_status scan_wide(const scan_text *in, int32_t *at, uint64_t max,
                                            uint64_t *out)
{
    const int32_t start = *at;
    int32_t i = start;
    uint64_t value = 0;

    for (; i < in->len && scan_is_digit(in->text[i]); i++) {
        const uint64_t digit = (uint64_t)(in->text[i] - '0');

        if (value > (max - digit) / 10)
            return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, start, "a number is too large");
        value = value * 10 + digit;
    }
    if (i == in->len)
        return scan_fail_cut(in);
    if (i == start)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a number is missing");
    if (i > start + 1 && in->text[start] == '0')
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a number has a leading zero");
    *out = value;
    *at = i;
    return CPUBIND_TEXT_OK;
}

/* A run that is one number and nothing else. */
static inline cpubind_text_status scan_whole_number(const scan_text *in, scan_run run,
                                                    int32_t max, int32_t *out)
{
    int32_t at = run.at, value = 0;
    const cpubind_text_status status = scan_number(in, &at, run.end, max, &value);

    if (status != CPUBIND_TEXT_OK)
        return status;
    if (at != run.end)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, "a byte does not belong to a number");
    *out = value;
    return CPUBIND_TEXT_OK;
}

/* 1*HEXDIG, leading zeros allowed, not above `max`, at *at; *at moves past it. */
static inline cpubind_text_status scan_hex(const scan_text *in, int32_t *at, int32_t end,
                                           int32_t max, int32_t *out)
{
    const int32_t start = *at;
    int32_t i = start;
    int64_t value = 0;

    for (; i < end && scan_hex_value(in->text[i]) >= 0; i++) {
        value = value * 16 + scan_hex_value(in->text[i]);
        if (value > max)
            return scan_fail(in, CPUBIND_TEXT_ERR_RANGE, start, "a number is too large");
    }
    if (i == start)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, start, "a hexadecimal number is missing");
    *out = (int32_t)value;
    *at = i;
    return CPUBIND_TEXT_OK;
}

/* [ LF ] *NUL up to the end of the text, as files of /proc and /sys end. */
static inline cpubind_text_status scan_tail(const scan_text *in, int32_t at)
{
    if (at < in->len && in->text[at] == '\n')
        at++;
    while (at < in->len && in->text[at] == '\0')
        at++;
    if (at < in->len)
        return scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at, "a byte does not belong here");
    return CPUBIND_TEXT_OK;
}

/* A list of cpulist.h that was checked and is not written yet. The first ranges are held, so
 * that a list of usual length is read only once. */
typedef struct scan_list {
    int32_t n;       /* numbers */
    int32_t stop;    /* the first byte after the list */
    int32_t n_range; /* ranges; the first of them are held */
    int32_t rest;    /* where the first range that is not held starts */
    scan_run *range; /* the caller's array ... */
    int32_t cap;     /* ... and how many it holds */
} scan_list;

/* Checks [ range *( "," range ) ] of cpulist.h, from run.at to the first byte that cannot
 * belong to it. The caller checks that byte. */
cpubind_text_status cpubind_priv_read_list(const scan_text *in, scan_run run, int32_t limit,
                                           scan_list *list);

/* Writes the numbers of a list that was read from this text; `out` has room for list->n. */
void cpubind_priv_write_list(const scan_text *in, const scan_list *list, int32_t *out);

#endif /* CPUBIND_SCAN_H */
