/* value.h - a tree of JSON values: built, looked at, read from bytes, printed
 * SPDX-License-Identifier: MIT
 *
 * What a command or a call answers is one such tree: a report. Everything that makes a value
 * may return NULL when memory ran out, and everything that takes one accepts NULL: a tree that
 * lacks a part for that reason is never printed, and no caller has to look before.
 *
 * A value that is added to another belongs to it. words_share gives it one more owner, each of
 * which frees it. What is looked up is borrowed from the tree, and NULL is what is not there.
 */
#ifndef CPUBIND_WORDS_VALUE_H
#define CPUBIND_WORDS_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "out.h"

typedef enum words_kind {
    WORDS_NULL,
    WORDS_BOOL,
    WORDS_NUMBER,
    WORDS_REAL,
    WORDS_TEXT,
    WORDS_ARRAY,
    WORDS_OBJECT
} words_kind;

typedef struct words_value words_value;

/* == Building =============================================================== */

words_value *words_null(void);
words_value *words_bool(int is_true);
words_value *words_number(int64_t number);
words_value *words_real(double number);
words_value *words_array(void);
words_value *words_object(void);

/* null for a number below 0. */
words_value *words_id(int64_t id);

/* A copy of a text, with "?" in place of DEL and of each byte that cpubind_character refuses,
 * but for the control characters that JSON escapes. words_text: NULL is null. */
words_value *words_text(const char *text);
words_value *words_text_of(const char *bytes, size_t len);

/* null for an empty text, too. */
words_value *words_word(const char *text);

/* A list as the kernel prints it; null when it is empty. */
words_value *words_list(const int32_t *list, int32_t n);

/* An object of `keys`, blank-separated "key:kind" or "key:{keys}", each key once. Each takes
 * one argument, by its kind: i int, I int64_t, b int as true or false, f double, s text or
 * NULL, w text where an empty one is null, v a value, which belongs to the object then, V one
 * that is shared. */
words_value *words_make(const char *keys, ...);

/* Appends to an array. */
void words_add(words_value *array, words_value *value);

/* Sets a key of an object, in place of its former value or at the end. `key` is copied. */
void words_set(words_value *object, const char *key, words_value *value);

/* Moves all keys of `from`, which is freed, to an object. */
void words_move(words_value *object, words_value *from);

void words_remove(words_value *object, const char *key);
void words_empty(words_value *object);

/* One more owner; a value that only this owner has, whose members are shared. */
words_value *words_share(words_value *value);
words_value *words_copy(const words_value *value);

void words_free(words_value *value);

/* == Looking ================================================================ */

int words_is(const words_value *value, words_kind kind);
int words_is_true(const words_value *value);

/* The members of an array or an object; 0 for any other value. */
int32_t words_count(const words_value *value);
words_value *words_at(const words_value *value, int32_t i);
const char *words_key(const words_value *object, int32_t i);

words_value *words_get(const words_value *object, const char *key);
words_value *words_get_of(const words_value *object, const char *key, size_t len);

/* A text, NULL if it is none; that of a key, "" if it is none; a number, 0 if it is none. */
const char *words_string(const words_value *value);
const char *words_string_of(const words_value *object, const char *key);
int64_t words_integer(const words_value *value);
int64_t words_integer_of(const words_value *object, const char *key);
double words_decimal(const words_value *value); /* of a number of either kind */

/* Whether memory has run out for no part of a tree. */
int words_is_whole(const words_value *value);

/* Whether two trees are the same, whatever the order of keys. */
int words_equal(const words_value *a, const words_value *b);

/* == Bytes ================================================================== */

/* Why bytes are no JSON, a static clause, and the offset of the byte. */
typedef struct words_fault {
    size_t at;
    const char *what;
} words_fault;

/* Reads one value of the form of RFC 8259 from len bytes, of 100 levels at most; a key that
 * comes twice and a character U+0000 are refused. NULL with the reason in *fault, which may be
 * NULL. */
words_value *words_read(const char *bytes, size_t len, words_fault *fault);

typedef enum words_form {
    WORDS_LINE,    /* {"a": 1, "b": 2} */
    WORDS_COMPACT, /* {"a":1,"b":2} */
    WORDS_INDENTED /* a line for each value */
} words_form;

/* Appends a value as JSON; a tree without memory for all of its parts makes *to short. */
void words_put(api_out *to, const words_value *value, words_form form);

#endif /* CPUBIND_WORDS_VALUE_H */
