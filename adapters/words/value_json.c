/* value_json.c - JSON of bytes, and as bytes
 * SPDX-License-Identifier: MIT
 *
 * Reads strict JSON alone, since others write what is read: kubelet, a socket, a file.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/character.h"
#include "value_parts.h"

/* == Reading ================================================================ */

enum {
    MAX_DEPTH = 100,
    MAX_NUMBER = 64,  /* bytes of a number */
    MAX_KEYS = 10000, /* of an object: each new one is compared with all */
};

static const char no_memory[] = "there is no memory left";

typedef struct reader {
    const char *at, *end;
    int depth;
    const char *what; /* NULL: no fault so far */
} reader;

static words_value *read_value(reader *r);

static words_value *refuse(reader *r, const char *what)
{
    if (!r->what)
        r->what = what;
    return NULL;
}

static void skip_blanks(reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
}

/* Whether the next byte is this one, which is passed over. */
static int takes(reader *r, char byte)
{
    if (r->at == r->end || *r->at != byte)
        return 0;
    r->at++;
    return 1;
}

/* Reads four digits of base 16; -1 with the fault. */
static int32_t read_unit(reader *r)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        const char *digit = r->at < r->end && *r->at ? strchr(digits, *r->at) : NULL;
        if (!digit) {
            (void)refuse(r, "four hexadecimal digits belong here");
            return -1;
        }
        unit = unit * 16 + (int32_t)((digit - digits) % 16);
        r->at++;
    }
    return unit;
}

/* Reads a character by its number in base 16, of which "\u" is passed over; one above U+FFFF
 * has two numbers. */
static void read_code(reader *r, api_out *to)
{
    const char *start = r->at;
    int32_t code = read_unit(r), low = -1;
    char bytes[4];
    size_t n;
    if (code >= 0xd800 && code < 0xdc00 && takes(r, '\\') && takes(r, 'u'))
        low = read_unit(r);
    if (low >= 0xdc00 && low < 0xe000)
        code = 0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00);
    if (code <= 0 || (code >= 0xd800 && code < 0xe000)) {
        r->at = r->what ? r->at : start;
        (void)refuse(r, "this is no character");
        return;
    }
    n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(n == 1 ? code : (0xf00 >> n & 0xff) | code);
    api_put_bytes(to, bytes, n);
}

/* Reads a character of a text. A control character is one as well where UTF-8 has it. */
static void read_character(reader *r, api_out *to)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const size_t left = (size_t)(r->end - r->at);
    const char *at = r->at, *letter;
    int32_t n = cpubind_character(at, left);
    if (takes(r, '\\')) {
        letter = r->at < r->end && *r->at ? strchr(letters, *r->at) : NULL;
        if (letter)
            api_put_bytes(to, &meant[letter - letters], 1);
        r->at += letter != NULL;
        if (!letter && takes(r, 'u'))
            read_code(r, to);
        else if (!letter)
            (void)refuse(r, "this escapes nothing");
        return;
    }
    if (n == 0 && *at == 0x7f)
        n = 1;
    else if (n == 0 && left > 1 && (unsigned char)at[0] == 0xc2 && (at[1] & 0xe0) == 0x80)
        n = 2;
    if (n == 0)
        (void)refuse(r, (unsigned char)*at < ' ' ? "a control character is not escaped"
                                                 : "this is no UTF-8");
    api_put_bytes(to, at, (size_t)n);
    r->at += n;
}

/* Reads a text whose first quote is passed over; the caller frees it. NULL with the fault. */
static char *read_text(reader *r)
{
    api_out to = {0};
    api_put_bytes(&to, "", 0);
    while (!r->what && r->at < r->end && *r->at != '"')
        read_character(r, &to);
    if (!r->what && !takes(r, '"'))
        (void)refuse(r, "a text does not end");
    if (to.is_short)
        (void)refuse(r, no_memory);
    if (!r->what)
        return to.text;
    free(to.text);
    return NULL;
}

static int skip_digits(reader *r)
{
    const char *start = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return r->at > start;
}

static words_value *read_number(reader *r)
{
    const char *start = r->at, *digits;
    char text[MAX_NUMBER + 1];
    words_value *value;
    int is_real = 0, is_good;
    (void)takes(r, '-');
    digits = r->at;
    is_good = skip_digits(r) && (*digits != '0' || r->at == digits + 1);
    if (takes(r, '.')) {
        is_good &= skip_digits(r);
        is_real = 1;
    }
    if (takes(r, 'e') || takes(r, 'E')) {
        (void)(takes(r, '+') || takes(r, '-'));
        is_good &= skip_digits(r);
        is_real = 1;
    }
    if (!is_good || r->at - start > MAX_NUMBER) {
        r->at = start;
        return refuse(r, is_good ? "a number is too long" : "this is no number");
    }
    memcpy(text, start, (size_t)(r->at - start));
    text[r->at - start] = '\0';
    errno = 0;
    value = is_real ? words_real(strtod(text, NULL)) : words_number(strtoll(text, NULL, 10));
    if (is_real ? value && !isfinite(value->real) : errno == ERANGE) {
        words_free(value);
        r->at = start;
        return refuse(r, "a number is too large");
    }
    return value ? value : refuse(r, no_memory);
}

static words_value *read_word(reader *r)
{
    static const char *const words[] = {"null", "true", "false"};
    for (int i = 0; i < 3; i++) {
        const size_t n = strlen(words[i]);
        if ((size_t)(r->end - r->at) < n || memcmp(r->at, words[i], n) != 0)
            continue;
        r->at += n;
        return i ? words_bool(i == 1) : words_null();
    }
    return refuse(r, r->at < r->end ? "no value begins so" : "a value belongs here");
}

/* Reads a key and its value into an object. */
static void read_member(reader *r, words_value *object)
{
    const char *start = r->at;
    char *key = takes(r, '"') ? read_text(r) : NULL;
    words_value *value;
    if (!key) {
        (void)refuse(r, "a key belongs here");
        return;
    }
    if (words_get(object, key) || words_count(object) == MAX_KEYS) {
        r->at = start;
        (void)refuse(r, words_get(object, key) ? "this key comes twice" : "too many keys");
    } else {
        skip_blanks(r);
        if (!takes(r, ':'))
            (void)refuse(r, "a colon belongs here");
        value = read_value(r);
        if (value)
            words_set(object, key, value);
    }
    free(key);
}

/* Reads the members of an array or an object, whose bracket is passed over. */
static words_value *read_members(reader *r, words_kind kind)
{
    const char bracket = kind == WORDS_OBJECT ? '}' : ']';
    words_value *value = words_new(kind), *member;
    skip_blanks(r);
    if (++r->depth > MAX_DEPTH)
        (void)refuse(r, "too many levels");
    for (int is_end = takes(r, bracket); !is_end && !r->what;) {
        skip_blanks(r);
        if (kind == WORDS_OBJECT)
            read_member(r, value);
        else if ((member = read_value(r)))
            words_add(value, member);
        skip_blanks(r);
        is_end = takes(r, bracket);
        if (!is_end && !takes(r, ','))
            (void)refuse(r, "a comma or a bracket belongs here");
    }
    r->depth--;
    if (!value || value->is_short)
        (void)refuse(r, no_memory);
    if (!r->what)
        return value;
    words_free(value);
    return NULL;
}

static words_value *read_value(reader *r)
{
    words_value *value;
    char *text;
    skip_blanks(r);
    if (r->what)
        return NULL;
    if (takes(r, '{'))
        return read_members(r, WORDS_OBJECT);
    if (takes(r, '['))
        return read_members(r, WORDS_ARRAY);
    if (r->at < r->end && (*r->at == '-' || (*r->at >= '0' && *r->at <= '9')))
        return read_number(r);
    if (!takes(r, '"'))
        return read_word(r);
    text = read_text(r);
    value = text ? words_exact(text, strlen(text)) : NULL;
    free(text);
    return value ? value : refuse(r, no_memory);
}

words_value *words_read(const char *bytes, size_t len, words_fault *fault)
{
    reader r = {.at = bytes, .end = bytes + len};
    words_value *value = read_value(&r);
    skip_blanks(&r);
    if (r.at < r.end)
        (void)refuse(&r, "there is more than one value");
    if (value && !r.what)
        return value;
    if (fault)
        *fault = (words_fault){(size_t)(r.at - bytes), r.what ? r.what : no_memory};
    words_free(value);
    return NULL;
}

/* == Printing =============================================================== */

static void put_text(api_out *to, const char *text)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    api_put_text(to, "\"");
    while (*text) {
        size_t n = 0;
        while ((unsigned char)text[n] >= ' ' && text[n] != '"' && text[n] != '\\')
            n++;
        api_put_bytes(to, text, n);
        text += n;
        if (!*text)
            break;
        if (strchr(plain, *text))
            api_put(to, "\\%c", letters[strchr(plain, *text) - plain]);
        else
            api_put(to, "\\u%04X", (unsigned)*text);
        text++;
    }
    api_put_text(to, "\"");
}

/* A number with a point or an exponent, so that it is read as one again. */
static void put_real(api_out *to, double number)
{
    char text[40];
    char *exponent;
    (void)snprintf(text, sizeof text, "%.17g", number);
    exponent = strchr(text, 'e');
    api_put_bytes(to, text, exponent ? (size_t)(exponent - text) : strlen(text));
    if (exponent)
        api_put(to, "e%ld", strtol(exponent + 1, NULL, 10));
    else if (!strchr(text, '.'))
        api_put_text(to, ".0");
}

static void put_value(api_out *to, const words_value *value, words_form form, int depth);

static void put_break(api_out *to, words_form form, int depth)
{
    if (form == WORDS_INDENTED)
        api_put(to, "\n%*s", depth, "");
}

static void put_members(api_out *to, const words_value *value, words_form form, int depth)
{
    const int is_object = value->kind == WORDS_OBJECT;
    api_put_text(to, is_object ? "{" : "[");
    for (int32_t i = 0; i < value->n; i++) {
        if (i > 0)
            api_put_text(to, form == WORDS_LINE ? ", " : ",");
        put_break(to, form, depth + 1);
        if (is_object) {
            put_text(to, value->member[i].key);
            api_put_text(to, form == WORDS_COMPACT ? ":" : ": ");
        }
        put_value(to, value->member[i].value, form, depth + 1);
    }
    if (value->n > 0)
        put_break(to, form, depth);
    api_put_text(to, is_object ? "}" : "]");
    to->is_short |= value->is_short;
}

static void put_value(api_out *to, const words_value *value, words_form form, int depth)
{
    switch (value->kind) {
    case WORDS_NULL:
        api_put_text(to, "null");
        break;
    case WORDS_BOOL:
        api_put_text(to, value->number ? "true" : "false");
        break;
    case WORDS_NUMBER:
        api_put(to, "%lld", (long long)value->number);
        break;
    case WORDS_REAL:
        put_real(to, value->real);
        break;
    case WORDS_TEXT:
        put_text(to, value->text);
        break;
    default:
        put_members(to, value, form, depth);
    }
}

void words_put(api_out *to, const words_value *value, words_form form)
{
    if (value)
        put_value(to, value, form, 0);
    else
        to->is_short = 1;
}
