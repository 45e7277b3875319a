/* value.c - a tree of JSON values, as it is built and looked at
 * SPDX-License-Identifier: MIT
 *
 * A value without memory for a part of it has is_short, which words_put tells.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../text/character.h"
#include "../text/cpulist.h"
#include "value_parts.h"

/* == Building =============================================================== */

words_value *words_new(words_kind kind)
{
    words_value *value = (words_value *)calloc(1, sizeof *value);
    if (value) {
        value->kind = kind;
        value->n_owner = 1;
    }
    return value;
}

words_value *words_null(void)
{
    return words_new(WORDS_NULL);
}

words_value *words_bool(int is_true)
{
    words_value *value = words_new(WORDS_BOOL);
    if (value)
        value->number = is_true != 0;
    return value;
}

words_value *words_number(int64_t number)
{
    words_value *value = words_new(WORDS_NUMBER);
    if (value)
        value->number = number;
    return value;
}

words_value *words_real(double number)
{
    words_value *value = words_new(WORDS_REAL);
    if (value)
        value->real = number;
    return value;
}

words_value *words_array(void)
{
    return words_new(WORDS_ARRAY);
}

words_value *words_object(void)
{
    return words_new(WORDS_OBJECT);
}

words_value *words_id(int64_t id)
{
    return id < 0 ? words_null() : words_number(id);
}

/* A text with room for len bytes, in one piece with its value. */
static words_value *new_text(size_t len)
{
    words_value *value = (words_value *)malloc(sizeof *value + len + 1);
    if (value) {
        *value = (words_value){.kind = WORDS_TEXT, .n_owner = 1, .text = (char *)(value + 1)};
        value->text[len] = '\0';
    }
    return value;
}

words_value *words_exact(const char *bytes, size_t len)
{
    words_value *value = new_text(len);
    if (value)
        memcpy(value->text, bytes, len);
    return value;
}

words_value *words_text_of(const char *bytes, size_t len)
{
    words_value *value = words_exact(bytes, len);
    for (size_t at = 0; value && at < len;) {
        const int32_t n = cpubind_character(value->text + at, len - at);
        if (n == 0 && (unsigned char)value->text[at] >= 0x7f)
            value->text[at] = '?';
        at += n ? (size_t)n : 1;
    }
    return value;
}

words_value *words_text(const char *text)
{
    return text ? words_text_of(text, strlen(text)) : words_null();
}

words_value *words_word(const char *text)
{
    return words_text(text && *text ? text : NULL);
}

words_value *words_list(const int32_t *list, int32_t n)
{
    words_value *value;
    int32_t len = 0;
    if (n == 0)
        return words_null();
    (void)!cpubind_cpulist_format(list, n, NULL, 0, &len);
    value = new_text((size_t)len);
    if (value)
        (void)!cpubind_cpulist_format(list, n, value->text, len, &len);
    return value;
}

/* == Members ================================================================ */

/* Appends a member; `key` is the object's from now on. */
static void append(words_value *to, char *key, words_value *value)
{
    const int32_t cap = to->cap ? to->cap * 2 : 8;
    words_member *grown = to->member;
    if (to->n == to->cap && value)
        grown = (words_member *)realloc(to->member, (size_t)cap * sizeof *grown);
    if (!grown || !value) {
        to->is_short = 1;
        words_free(value);
        free(key);
        return;
    }
    to->member = grown;
    to->cap = to->n == to->cap ? cap : to->cap;
    to->member[to->n++] = (words_member){key, value};
}

void words_add(words_value *array, words_value *value)
{
    if (array)
        append(array, NULL, value);
    else
        words_free(value);
}

static words_member *member_of(const words_value *object, const char *key, size_t len)
{
    for (int32_t i = 0; words_is(object, WORDS_OBJECT) && i < object->n; i++)
        if (strncmp(object->member[i].key, key, len) == 0 && !object->member[i].key[len])
            return &object->member[i];
    return NULL;
}

/* Appends a member with a copy of its key, which the object has not. */
static void append_key(words_value *object, const char *key, size_t len, words_value *value)
{
    char *copy = object && value ? strndup(key, len) : NULL;
    if (!copy) {
        words_free(value);
        value = NULL;
    }
    if (object)
        append(object, copy, value);
}

void words_set(words_value *object, const char *key, words_value *value)
{
    words_member *found = value ? member_of(object, key, strlen(key)) : NULL;
    if (!found) {
        append_key(object, key, strlen(key), value);
        return;
    }
    words_free(found->value);
    found->value = value;
}

void words_move(words_value *object, words_value *from)
{
    for (int32_t i = 0; i < words_count(from); i++)
        words_set(object, words_key(from, i), words_share(words_at(from, i)));
    if (object && (!from || from->is_short))
        object->is_short = 1;
    words_free(from);
}

static void free_member(words_member *member)
{
    free(member->key);
    words_free(member->value);
}

void words_remove(words_value *object, const char *key)
{
    words_member *found = member_of(object, key, strlen(key));
    if (!found)
        return;
    free_member(found);
    object->n--;
    memmove(found, found + 1, (size_t)(object->member + object->n - found) * sizeof *found);
}

void words_empty(words_value *object)
{
    for (int32_t i = 0; i < words_count(object); i++)
        free_member(&object->member[i]);
    if (object)
        object->n = 0;
}

words_value *words_share(words_value *value)
{
    if (value)
        value->n_owner++;
    return value;
}

words_value *words_copy(const words_value *value)
{
    words_value *copy = words_new(value ? value->kind : WORDS_NULL);
    for (int32_t i = 0; i < words_count(value); i++)
        if (words_is(value, WORDS_ARRAY))
            words_add(copy, words_share(words_at(value, i)));
        else
            words_set(copy, words_key(value, i), words_share(words_at(value, i)));
    return copy;
}

void words_free(words_value *value)
{
    if (!value || --value->n_owner > 0)
        return;
    for (int32_t i = 0; i < words_count(value); i++)
        free_member(&value->member[i]);
    if (value->kind >= WORDS_ARRAY)
        free(value->member);
    free(value);
}

/* == Objects by their keys ================================================== */

/* The arguments of words_make, which objects within objects go on with. */
typedef struct given {
    const char *keys;
    va_list arguments;
} given;

static words_value *next_value(given *g, char kind)
{
    switch (kind) {
    case 'i':
        return words_number(va_arg(g->arguments, int));
    case 'I':
        return words_number(va_arg(g->arguments, int64_t));
    case 'b':
        return words_bool(va_arg(g->arguments, int));
    case 'f':
        return words_real(va_arg(g->arguments, double));
    case 's':
        return words_text(va_arg(g->arguments, const char *));
    case 'w':
        return words_word(va_arg(g->arguments, const char *));
    case 'v':
        return va_arg(g->arguments, words_value *);
    default: /* 'V' */
        return words_share(va_arg(g->arguments, words_value *));
    }
}

static words_value *make(given *g)
{
    words_value *object = words_object();
    while (*g->keys && *g->keys != '}') {
        const char *key = g->keys, *colon = strchr(key, ':');
        words_value *value;
        g->keys = colon + 2;
        value = colon[1] == '{' ? make(g) : next_value(g, colon[1]);
        append_key(object, key, (size_t)(colon - key), value);
        g->keys += strspn(g->keys, " ");
    }
    g->keys += *g->keys == '}';
    return object;
}

words_value *words_make(const char *keys, ...)
{
    given g = {.keys = keys};
    words_value *object;
    va_start(g.arguments, keys);
    object = make(&g);
    va_end(g.arguments);
    return object;
}

/* == Looking ================================================================ */

int words_is(const words_value *value, words_kind kind)
{
    return value && value->kind == kind;
}

int words_is_true(const words_value *value)
{
    return words_is(value, WORDS_BOOL) && value->number;
}

int32_t words_count(const words_value *value)
{
    return value && value->kind >= WORDS_ARRAY ? value->n : 0;
}

words_value *words_at(const words_value *value, int32_t i)
{
    return i >= 0 && i < words_count(value) ? value->member[i].value : NULL;
}

const char *words_key(const words_value *object, int32_t i)
{
    return i < words_count(object) ? object->member[i].key : NULL;
}

words_value *words_get_of(const words_value *object, const char *key, size_t len)
{
    const words_member *found = member_of(object, key, len);
    return found ? found->value : NULL;
}

words_value *words_get(const words_value *object, const char *key)
{
    return words_get_of(object, key, strlen(key));
}

const char *words_string(const words_value *value)
{
    return words_is(value, WORDS_TEXT) ? value->text : NULL;
}

const char *words_string_of(const words_value *object, const char *key)
{
    const char *text = words_string(words_get(object, key));
    return text ? text : "";
}

int64_t words_integer(const words_value *value)
{
    return words_is(value, WORDS_NUMBER) ? value->number : 0;
}

int64_t words_integer_of(const words_value *object, const char *key)
{
    return words_integer(words_get(object, key));
}

double words_decimal(const words_value *value)
{
    return words_is(value, WORDS_REAL) ? value->real : (double)words_integer(value);
}

int words_is_whole(const words_value *value)
{
    int is_whole = value && !value->is_short;
    for (int32_t i = 0; is_whole && i < words_count(value); i++)
        is_whole = words_is_whole(words_at(value, i));
    return is_whole;
}

static int has_equal(const words_value *a, const words_value *b)
{
    for (int32_t i = 0; i < a->n; i++)
        if (!words_equal(a->member[i].value, a->kind == WORDS_ARRAY
                                                 ? b->member[i].value
                                                 : words_get(b, a->member[i].key)))
            return 0;
    return 1;
}

int words_equal(const words_value *a, const words_value *b)
{
    if (a == b || !a || !b || a->kind != b->kind)
        return a == b && a;
    switch (a->kind) {
    case WORDS_TEXT:
        return strcmp(a->text, b->text) == 0;
    case WORDS_REAL:
        return a->real >= b->real && a->real <= b->real;
    case WORDS_ARRAY:
    case WORDS_OBJECT:
        return a->n == b->n && has_equal(a, b);
    default:
        return a->number == b->number;
    }
}
