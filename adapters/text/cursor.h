/* cursor.h - how readers go through a text: lines, words, pieces and numbers
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc, no errno, no locale, no globals; no text needs a NUL. A cursor is
 * what is left to read of a text, a line or a word, and knows where that is in the text. The
 * first failure is kept, with its offset; after it nothing is left of any cursor of the text:
 * a reader goes on as if the text had ended, and asks for the status once.
 */
#ifndef CPUBIND_TEXT_CURSOR_H
#define CPUBIND_TEXT_CURSOR_H

#include <string.h>

#include "arena.h"
#include "pci_address.h"
#include "text.h"

/* A text that is read: what was wrong with it first, or OK. */
typedef struct cursor_text {
    int32_t len;
    cpubind_text_status status;
    cpubind_text_fault *fault; /* may be NULL */
} cursor_text;

/* Bytes [at, end) of a text. */
typedef struct cursor {
    cursor_text *of;
    const char *text; /* all of it */
    int32_t at, end;
} cursor;

/* == Failures =============================================================== */

static inline cpubind_text_status cursor_fail(const cursor *c, cpubind_text_status status,
                                              int32_t offset, const char *what)
{
    if (c->of->status == CPUBIND_TEXT_OK) {
        c->of->status = status;
        if (c->of->fault)
            *c->of->fault = (cpubind_text_fault){offset, what};
    }
    return c->of->status;
}

/* Fails at the next byte. */
static inline cpubind_text_status cursor_bad(const cursor *c, const char *what)
{
    return cursor_fail(c, CPUBIND_TEXT_ERR_SYNTAX, c->at, what);
}

/* Fails at the end of the text, which may go on. */
static inline cpubind_text_status cursor_fail_cut(const cursor *c)
{
    return cursor_fail(c, CPUBIND_TEXT_ERR_CUT, c->of->len,
                       "the text ends in the middle of a line");
}

static inline int cursor_ok(const cursor *c)
{
    return c->of->status == CPUBIND_TEXT_OK;
}

/* All of a text. Fails unless it is one, and `is_right`: the other arguments are. */
static inline cursor cursor_open(cursor_text *of, const char *text, int32_t len,
                                 cpubind_text_fault *fault, int is_right)
{
    const int is_text = len >= 0 && len <= CPUBIND_TEXT_MAX && (text || len == 0);
    const cursor c = {of, is_text && text ? text : "", 0, is_text ? len : 0};
    *of = (cursor_text){c.end, CPUBIND_TEXT_OK, fault};
    if (!is_text || !is_right)
        (void)cursor_fail(&c, CPUBIND_TEXT_ERR_ARG, 0, "an argument is outside its range");
    return c;
}

/* Whether the arguments are an array that may be written; length 0 may be NULL. */
static inline int cursor_is_array(const void *array, int32_t cap)
{
    return cap >= 0 && (array || cap == 0);
}

/* Fails unless an array of `cap` has room for all n elements. */
static inline cpubind_text_status cursor_room(const cursor *c, int32_t n, int32_t cap)
{
    return n <= cap ? c->of->status
                    : cursor_fail(c, CPUBIND_TEXT_ERR_SPACE, 0, "an output array is too small");
}

/* Room for `more` elements behind the n of an array that the arena ends with: the array, or
 * NULL after a failure. */
static inline void *cursor_more(const cursor *c, cpubind_arena *arena, void *array, int32_t n,
                                int32_t more, size_t size)
{
    void *grown = cursor_ok(c) ? cpubind_arena_more(arena, array, n, more, size) : NULL;
    if (!grown)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_SPACE, 0, "the arena is too small");
    return grown;
}

/* Whether there is room; then the array is where it is now. */
#define CURSOR_MORE(c, arena, array, n, more)                                                  \
    (((array) = (__typeof__(array))cursor_more((c), (arena), (array), (n), (more),             \
                                               sizeof *(array))) != NULL)

/* == Bytes ================================================================== */

/* CR counts: a capture taken over a terminal has one before each line feed. */
static inline int cursor_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline int cursor_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline int cursor_is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static inline char cursor_lower(char c)
{
    return (char)(cursor_is_letter(c) ? c | 0x20 : c);
}

/* No control character. */
static inline int cursor_is_plain(char c)
{
    return (unsigned char)c >= ' ';
}

/* 0 .. 15, or -1. */
static inline int32_t cursor_hex_value(char c)
{
    if (cursor_is_digit(c))
        return c - '0';
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

static inline int cursor_is_hex(char c)
{
    return cursor_hex_value(c) >= 0;
}

/* Whether bytes are left. */
static inline int cursor_left(const cursor *c)
{
    return c->at < c->end && cursor_ok(c);
}

/* The next byte; -1: none is left. */
static inline int cursor_next(const cursor *c)
{
    return cursor_left(c) ? (unsigned char)c->text[c->at] : -1;
}

static inline int32_t cursor_len(const cursor *c)
{
    return c->end - c->at;
}

static inline cpubind_piece cursor_piece(cursor c)
{
    return (cpubind_piece){c.at, c.end - c.at};
}

/* The bytes of a piece of the same text. */
static inline cursor cursor_at(const cursor *c, cpubind_piece piece)
{
    return (cursor){c->of, c->text, piece.at, piece.at + piece.len};
}

/* == Words ================================================================== */

static inline int cursor_starts(const cursor *c, const char *word)
{
    const int32_t n = (int32_t)strlen(word);
    return cursor_len(c) >= n && cursor_ok(c) && memcmp(c->text + c->at, word, (size_t)n) == 0;
}

static inline int cursor_is(cursor c, const char *word)
{
    return cursor_len(&c) == (int32_t)strlen(word) && cursor_starts(&c, word);
}

/* Whether a word is somewhere in it. */
static inline int cursor_holds(cursor c, const char *word)
{
    while (!cursor_starts(&c, word)) {
        const char *next =
            cursor_len(&c) > 1 && cursor_ok(&c)
                ? (const char *)memchr(c.text + c.at + 1, word[0], (size_t)cursor_len(&c) - 1)
                : NULL;
        if (!next)
            return 0;
        c.at = (int32_t)(next - c.text);
    }
    return 1;
}

/* Takes a word off its end where it ends with it. */
static inline int cursor_drops(cursor *c, const char *word)
{
    const int32_t n = (int32_t)strlen(word);
    const int drops = cursor_len(c) >= n && memcmp(c->text + c->end - n, word, (size_t)n) == 0;
    c->end -= drops ? n : 0;
    return drops;
}

/* Whether it starts with a word, in letters of any case. */
static inline int cursor_starts_as(const cursor *c, const char *word)
{
    const int32_t n = (int32_t)strlen(word);
    int32_t i = 0;
    while (i < n && i < cursor_len(c) &&
           cursor_lower(c->text[c->at + i]) == cursor_lower(word[i]))
        i++;
    return i == n && cursor_ok(c);
}

/* Moves past a word where it starts with it. */
static inline int cursor_takes(cursor *c, const char *word)
{
    const int takes = cursor_starts(c, word);
    c->at += takes ? (int32_t)strlen(word) : 0;
    return takes;
}

/* Moves past a word that must be there. */
static inline void cursor_need(cursor *c, const char *word, const char *what)
{
    if (!cursor_takes(c, word))
        (void)cursor_bad(c, what);
}

/* Nothing may be left. */
static inline void cursor_end(const cursor *c, const char *what)
{
    if (cursor_left(c))
        (void)cursor_bad(c, what);
}

/* The bytes that belong to a kind; moves past them. */
static inline cursor cursor_span(cursor *c, int (*belongs)(char))
{
    cursor span = *c;
    while (cursor_ok(c) && c->at < c->end && belongs(c->text[c->at]))
        c->at++;
    span.end = c->at;
    return span;
}

/* What is before the next mark, or the end; moves past both. */
static inline cursor cursor_cut(cursor *c, char mark)
{
    cursor piece = *c;
    const char *found = cursor_left(c)
                            ? (const char *)memchr(c->text + c->at, mark, (size_t)cursor_len(c))
                            : NULL;
    piece.end = found ? (int32_t)(found - c->text) : c->end;
    c->at = piece.end + (found != NULL);
    return piece;
}

/* How many of 8 bytes are spaces, from the first on. */
static inline int32_t cursor_count_spaces(const char *bytes)
{
    uint64_t other;
    memcpy(&other, bytes, sizeof other);
    other ^= UINT64_C(0x2020202020202020);
    if (other == 0)
        return 8;
    return (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_ctzll(other)
                                                      : __builtin_clzll(other)) /
           8;
}

/* Tables are mostly spaces, so 8 bytes are looked at at once. */
static inline void cursor_skip_blanks(cursor *c)
{
    for (int32_t n = 8; n == 8 && cursor_len(c) >= 8; c->at += n)
        n = cursor_count_spaces(c->text + c->at);
    while (c->at < c->end && cursor_is_blank(c->text[c->at]))
        c->at++;
}

/* The next word between blanks, empty at the end; moves past it. */
static inline cursor cursor_word(cursor *c)
{
    cursor word;
    cursor_skip_blanks(c);
    word = *c;
    while (c->at < c->end && !cursor_is_blank(c->text[c->at]))
        c->at++;
    word.end = c->at;
    return word;
}

/* Without the blanks around it. */
static inline cursor cursor_trim(cursor c)
{
    cursor_skip_blanks(&c);
    while (c.at < c.end && cursor_is_blank(c.text[c.end - 1]))
        c.end--;
    return c;
}

/* == Lines ================================================================== */

/* Steps to the next line; returns 0 at the end. No line starts after the last line feed. */
static inline int cursor_line(cursor *c, cursor *line)
{
    if (!cursor_left(c))
        return 0;
    *line = cursor_cut(c, '\n');
    return 1;
}

/* The same, without the blanks around the line. */
static inline int cursor_bare_line(cursor *c, cursor *line)
{
    if (!cursor_line(c, line))
        return 0;
    *line = cursor_trim(*line);
    return 1;
}

/* Whether no line feed ends a line that was just read. */
static inline int cursor_is_cut(const cursor *c, const cursor *line)
{
    return c->at == line->end;
}

/* Steps to the next line, which must end in a line feed. */
static inline int cursor_whole_line(cursor *c, cursor *line)
{
    if (!cursor_line(c, line))
        return 0;
    if (cursor_is_cut(c, line))
        (void)cursor_fail_cut(c);
    return cursor_ok(c);
}

/* Fails where a line holds a NUL. */
static inline void cursor_no_nul(cursor line)
{
    if (cursor_left(&line) && memchr(line.text + line.at, '\0', (size_t)cursor_len(&line))) {
        line = cursor_cut(&line, '\0');
        (void)cursor_fail(&line, CPUBIND_TEXT_ERR_SYNTAX, line.end, "a line holds a NUL");
    }
}

/* The line that all of a text is. */
static inline cursor cursor_only_line(cursor *c)
{
    cursor line = cursor_cut(c, '\n');
    if (cursor_is_cut(c, &line))
        (void)cursor_fail_cut(c);
    cursor_end(c, "a second line follows");
    return line;
}

/* Finds the first line "KEY..." of the text; *line: what follows the key. */
static inline int cursor_find(cursor *c, const char *key, cursor *line)
{
    while (cursor_line(c, line))
        if (cursor_takes(line, key))
            return 1;
    return 0;
}

/* [ LF ] *NUL and nothing else is left, as files of /proc and /sys end. */
static inline void cursor_tail(cursor *c)
{
    (void)cursor_takes(c, "\n");
    while (cursor_next(c) == '\0')
        c->at++;
    cursor_end(c, "a byte does not belong here");
}

/* Finds the variable NAME of lines NAME=VALUE; the first one counts. */
static inline int cursor_variable(cursor all, const char *name, cursor *value)
{
    while (cursor_line(&all, value))
        if (cursor_takes(value, name) && cursor_takes(value, "="))
            return 1;
    return 0;
}

/* == Numbers ================================================================ */

/* "0" / ( "1".."9" *DIGIT ), not above `max`; moves past it. 0 after a failure. */
static inline uint64_t cursor_number(cursor *c, uint64_t max)
{
    const int32_t start = c->at, end = cursor_ok(c) ? c->end : start;
    uint64_t value = 0, before = 0; /* the last digit */
    int32_t at = start;
    for (; at < end && cursor_is_digit(c->text[at]); at++) {
        before = value;
        value = value * 10 + (uint64_t)(c->text[at] - '0');
    }
    c->at = at;
    if (c->at == start)
        (void)cursor_bad(c, "a number is missing");
    else if (c->at > start + 1 && c->text[start] == '0')
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_SYNTAX, start, "a number has a leading zero");
    else if (value > max || (at > start + 19 && (at > start + 20 || before > max / 10 ||
                                                 value < before))) /* 2^64 has 20 digits */
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_RANGE, start, "a number is too large");
    return cursor_ok(c) ? value : 0;
}

/* One number and nothing else. */
static inline uint64_t cursor_whole(cursor c, uint64_t max)
{
    const uint64_t value = cursor_number(&c, max);
    cursor_end(&c, "a byte does not belong to a number");
    return cursor_ok(&c) ? value : 0;
}

/* Whether a word is one number and nothing else. A word that is none is no failure. */
static inline int cursor_is_number(cursor word, uint64_t max, int32_t *out)
{
    cursor_text quiet = {word.of->len, CPUBIND_TEXT_OK, NULL};
    word.of = &quiet;
    *out = (int32_t)cursor_whole(word, max);
    return quiet.status == CPUBIND_TEXT_OK;
}

/* The same of bytes. */
static inline int cursor_bytes_are_number(const char *text, int32_t len, uint64_t max,
                                          int32_t *out)
{
    cursor_text of;
    return cursor_is_number(cursor_open(&of, text, len, NULL, 1), max, out);
}

/* 1*HEXDIG, leading zeros allowed, not above `max`; moves past it. 0 after a failure. */
static inline uint64_t cursor_hex(cursor *c, uint64_t max)
{
    const int32_t start = c->at;
    uint64_t value = 0;
    int is_large = 0;
    while (cursor_ok(c) && c->at < c->end && cursor_is_hex(c->text[c->at])) {
        is_large |= value > max >> 4;
        value = value << 4 | (uint64_t)cursor_hex_value(c->text[c->at++]);
        is_large |= value > max;
    }
    if (c->at == start)
        (void)cursor_bad(c, "a hexadecimal number is missing");
    else if (is_large)
        (void)cursor_fail(c, CPUBIND_TEXT_ERR_RANGE, start, "a number is too large");
    return cursor_ok(c) ? value : 0;
}

/* The PCI address that a cursor is, by the grammar of pci_address.h; domain -1: it is not
 * written. */
cpubind_pci_address cpubind_priv_cursor_pci(cursor c);

#endif /* CPUBIND_TEXT_CURSOR_H */
