/* scan.h - private to adapters/text and adapters/ascend: lines, words and numbers of a text
 * SPDX-License-Identifier: MIT
 *
 * The cursor in other words, for readers that hold runs of a text and ask for the status of
 * each step.
 */
#ifndef CPUBIND_SCAN_H
#define CPUBIND_SCAN_H

#include "cursor.h"

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

/* The cursor of a run, and back. */
static inline cursor scan_cursor(const scan_text *in, cursor_text *of, scan_run run)
{
    *of = (cursor_text){in->len, CPUBIND_TEXT_OK, in->fault};
    return (cursor){of, in->text, run.at, run.end};
}

static inline scan_run scan_of(cursor c)
{
    return (scan_run){c.at, c.end};
}

/* Whether the arguments of a parser are a text that it may read. */
static inline int scan_is_text(const char *text, int32_t len)
{
    return len >= 0 && len <= CPUBIND_TEXT_MAX && (text || len == 0);
}

static inline cpubind_text_status scan_fail(const scan_text *in, cpubind_text_status status,
                                            int32_t offset, const char *what)
{
    cursor_text of;
    const cursor c = scan_cursor(in, &of, (scan_run){0, 0});
    return cursor_fail(&c, status, offset, what);
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

static inline cpubind_text_status scan_fail_cut(const scan_text *in)
{
    return scan_fail(in, CPUBIND_TEXT_ERR_CUT, in->len,
                     "the text ends in the middle of a line");
}

/* Whether n bytes are equal, ASCII letters compared without case. */
static inline int scan_same_letters(const char *a, const char *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (cursor_lower(a[i]) != cursor_lower(b[i]))
            return 0;
    return 1;
}

/* Whether bytes start with a word, ASCII letters compared without case. */
static inline int scan_starts_with_letters(const char *bytes, int32_t len, const char *word)
{
    const int32_t n = (int32_t)strlen(word);
    return len >= n && scan_same_letters(bytes, word, n);
}

static inline int scan_starts_with_digit(const scan_text *in, scan_run run)
{
    return run.at < run.end && cursor_is_digit(in->text[run.at]);
}

/* The end of the blanks at `at`. */
static inline int32_t scan_skip_blanks(const scan_text *in, int32_t at, int32_t end)
{
    cursor_text of;
    cursor c = scan_cursor(in, &of, (scan_run){at, end});
    cursor_skip_blanks(&c);
    return c.at;
}

static inline scan_run scan_trim(const scan_text *in, scan_run run)
{
    cursor_text of;
    return scan_of(cursor_trim(scan_cursor(in, &of, run)));
}

/* The first control character of a run, TAB included; the end of the run without one. */
static inline int32_t scan_find_control(const scan_text *in, scan_run run)
{
    while (run.at < run.end && cursor_is_plain(in->text[run.at]))
        run.at++;
    return run.at;
}

static inline cpubind_piece scan_slice(scan_run run)
{
    return (cpubind_piece){run.at, run.end - run.at};
}

/* Steps to the next line; returns 0 at the end. No line starts after the last line feed. */
static inline int scan_next_line(const scan_text *in, scan_line *line)
{
    cursor_text of;
    cursor c = scan_cursor(in, &of, (scan_run){line->next, in->len}), next;
    if (!cursor_line(&c, &next))
        return 0;
    *line = (scan_line){scan_of(cursor_trim(next)), c.at, !cursor_is_cut(&c, &next)};
    return 1;
}

/* The word at or after `at`; an empty run when there is none before `end`. */
static inline scan_run scan_word(const scan_text *in, int32_t at, int32_t end)
{
    cursor_text of;
    cursor c = scan_cursor(in, &of, (scan_run){at, end});
    return scan_of(cursor_word(&c));
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

/* A run that is one number and nothing else. */
static inline cpubind_text_status scan_whole_number(const scan_text *in, scan_run run,
                                                    int32_t max, int32_t *out)
{
    cursor_text of;
    const int32_t value = (int32_t)cursor_whole(scan_cursor(in, &of, run), (uint64_t)max);
    if (of.status == CPUBIND_TEXT_OK)
        *out = value;
    return of.status;
}

/* 1*HEXDIG, leading zeros allowed, not above `max`, at *at; *at moves past it. */
static inline cpubind_text_status scan_hex(const scan_text *in, int32_t *at, int32_t end,
                                           int32_t max, int32_t *out)
{
    cursor_text of;
    cursor c = scan_cursor(in, &of, (scan_run){*at, end});
    const int32_t value = (int32_t)cursor_hex(&c, (uint64_t)max);
    if (of.status != CPUBIND_TEXT_OK)
        return of.status;
    *out = value;
    *at = c.at;
    return of.status;
}

/* [ LF ] *NUL up to the end of the text, as files of /proc and /sys end. */
static inline cpubind_text_status scan_tail(const scan_text *in, int32_t at)
{
    cursor_text of;
    cursor c = scan_cursor(in, &of, (scan_run){at, in->len});
    cursor_tail(&c);
    return of.status;
}

#endif /* CPUBIND_SCAN_H */
