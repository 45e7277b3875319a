/* text.h - status codes, faults and slices of all readers of text
 * SPDX-License-Identifier: MIT
 *
 * Everything in adapters/text is pure: (pointer, length) in, the caller's arrays out. No I/O,
 * no malloc, no errno, no locale, no globals; text is never expected to end in NUL.
 *
 * RULES that every parser keeps
 *   all or none   on failure nothing is written but *fault, with ERR_SPACE the counts that
 *                 would have been enough, and what is in arrays then is not said
 *   the place     a fault holds the byte offset; cpubind_text_place makes line and column
 *   no guessing   a byte outside the grammar is an error and never skipped; only lines that the
 *                 grammar calls noise are skipped
 */
#ifndef CPUBIND_TEXT_H
#define CPUBIND_TEXT_H

#include <stdint.h>

#include "../../cpubind.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Longest accepted text, in bytes: offsets stay far inside int32_t. */
#define CPUBIND_TEXT_MAX (1 << 28)

/* The one list of codes: (name, number, text). Numbers never change; new ones go at the end. */
#define CPUBIND_TEXT_STATUS_LIST(X)                                                            \
    X(OK, 0, "success")                                                                        \
    X(ERR_ARG, -100, "an argument is outside its documented range")                            \
    X(ERR_SYNTAX, -101, "the text does not follow the format")                                 \
    X(ERR_RANGE, -102, "a number is too large")                                                \
    X(ERR_ORDER, -103, "numbers are not strictly ascending")                                   \
    X(ERR_SPACE, -104, "an output array is too small")                                         \
    X(ERR_MISSING, -105, "what the text must hold is not there")                               \
    X(ERR_CUT, -106, "the text ends in the middle of a row")                                   \
    X(ERR_REFUSED, -107, "the text is a refusal, not an answer")

typedef enum cpubind_text_status {
#define CPUBIND_X(name, value, text) CPUBIND_TEXT_##name = value,
    CPUBIND_TEXT_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_text_status;

/* The place and the reason of a failure; written on failure only. */
typedef struct cpubind_text_fault {
    int32_t offset;   /* byte, 0 .. len; len means "at the end" */
    const char *what; /* static English clause: "a range runs backwards"; never NULL */
} cpubind_text_fault;

/* A piece of the caller's text: bytes [at, at + len). */
typedef struct cpubind_piece {
    int32_t at;  /* byte offset */
    int32_t len; /* bytes */
} cpubind_piece;

/* The caller's array for the numbers that a reader reads. With cap 0 the array may be NULL: the
 * reader then gives the length, with ERR_SPACE when it is not 0. */
typedef struct cpubind_int_list {
    int32_t *out; /* in: the array */
    int32_t cap;  /* in: elements of the array */
    int32_t n;    /* out: numbers; after ERR_SPACE as many as the array needs */
} cpubind_int_list;

/* A place in a text, for messages. */
typedef struct cpubind_position {
    int32_t line;   /* from 1 */
    int32_t column; /* from 1, in bytes */
} cpubind_position;

/* The line and column of a byte offset.
 *   in      0 <= offset <= len; a larger one counts as len
 *   cost    O(offset) */
cpubind_position cpubind_text_place(const char *text, int32_t len, int32_t offset);

/* "ERR_SYNTAX", or "?" for a number that is no code. Static storage. */
const char *cpubind_text_status_name(cpubind_text_status status);

/* One English sentence without a full stop. Static storage. */
const char *cpubind_text_status_text(cpubind_text_status status);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_H */
