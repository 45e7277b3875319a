/* value_parts.h - what the files of values share
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_WORDS_VALUE_PARTS_H
#define CPUBIND_WORDS_VALUE_PARTS_H

#include "value.h"

/* A member of an object, or of an array, where it has no key. */
typedef struct words_member {
    char *key;
    words_value *value;
} words_member;

struct words_value {
    words_kind kind;
    int32_t n_owner;
    int is_short; /* memory ran out for a member */
    int32_t n, cap;
    union {
        int64_t number; /* of a bool, too */
        double real;
        char *text; /* behind the value, in one piece with it */
        words_member *member;
    };
};

/* A value of a kind, of which all is zero; a text of these bytes as they are. */
words_value *words_new(words_kind kind);
words_value *words_exact(const char *bytes, size_t len);

#endif /* CPUBIND_WORDS_VALUE_PARTS_H */
