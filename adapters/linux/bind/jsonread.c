/* jsonread.c - JSON, read one value after the other
 * SPDX-License-Identifier: MIT
 */
#include "jsonread.h"

#include <string.h>

static void skip_blanks(cpubind_json *json)
{
    while (json->at < json->len) {
        const char c = json->text[json->at];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
            return;
        json->at++;
    }
}

/* Whether the very next byte is this one, which is taken then. */
static int take_now(cpubind_json *json, char byte)
{
    if (json->at == json->len || json->text[json->at] != byte)
        return 0;
    json->at++;
    return 1;
}

int cpubind_json_take(cpubind_json *json, char byte)
{
    skip_blanks(json);
    return take_now(json, byte);
}

int cpubind_json_is_end(cpubind_json *json)
{
    skip_blanks(json);
    return json->at == json->len;
}

static int take_word(cpubind_json *json, const char *word)
{
    const int32_t n = (int32_t)strlen(word);
    skip_blanks(json);
    if (json->len - json->at < n || memcmp(json->text + json->at, word, (size_t)n) != 0)
        return 0;
    json->at += n;
    return 1;
}

int cpubind_json_take_null(cpubind_json *json)
{
    return take_word(json, "null");
}

/* == Strings ================================================================ */

/* 0 .. 15, or -1. */
static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Bytes of the escape at text[0], which is a backslash; 0 when it is none. */
static int32_t escape_len(const char *text, int32_t len)
{
    if (len < 2)
        return 0;
    if (text[1] != 'u')
        return text[1] != '\0' && strchr("\"\\/bfnrt", text[1]) ? 2 : 0;
    if (len < 6)
        return 0;
    for (int i = 2; i < 6; i++)
        if (hex_value(text[i]) < 0)
            return 0;
    return 6;
}

int cpubind_json_string_next(cpubind_json *json, cpubind_json_string *out)
{
    int32_t start;
    if (!cpubind_json_take(json, '"'))
        return 0;
    start = json->at;
    while (json->at < json->len) {
        const char c = json->text[json->at];
        int32_t n = 1;
        if (c == '"') {
            *out = (cpubind_json_string){json->text + start, json->at - start};
            json->at++;
            return 1;
        }
        if ((unsigned char)c < ' ')
            return 0;
        if (c == '\\')
            n = escape_len(json->text + json->at, json->len - json->at);
        if (n == 0)
            return 0;
        json->at += n;
    }
    return 0;
}

/* The character that an escape stands for. */
static int32_t escaped(const char *text)
{
    static const char letter[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    int32_t value = 0;
    if (text[1] != 'u')
        return meant[strchr(letter, text[1]) - letter];
    for (int i = 2; i < 6; i++)
        value = value * 16 + hex_value(text[i]);
    return value;
}

/* The character at text[0] and how many bytes it takes; -1 for one past U+00FF or no UTF-8. */
static int32_t character(const char *text, int32_t len, int32_t *n)
{
    const unsigned char first = (unsigned char)text[0];
    *n = 1;
    if (first == '\\') {
        *n = escape_len(text, len);
        return *n > 0 ? escaped(text) : -1;
    }
    if (first < 0x80)
        return first;
    if (first != 0xc2 && first != 0xc3)
        return -1;
    if (len < 2 || ((unsigned char)text[1] & 0xc0) != 0x80)
        return -1;
    *n = 2;
    return (first & 0x1f) << 6 | ((unsigned char)text[1] & 0x3f);
}

int cpubind_json_decode(cpubind_json_string string, char *out, int32_t size)
{
    int32_t n_out = 0;
    for (int32_t at = 0, n; at < string.len; at += n) {
        const int32_t c = character(string.at + at, string.len - at, &n);
        if (c < 1 || c > 0xff || n_out + 1 >= size)
            return 0;
        out[n_out++] = (char)(unsigned char)c;
    }
    out[n_out] = '\0';
    return 1;
}

/* == Numbers ================================================================ */

static int is_digit_next(const cpubind_json *json)
{
    return json->at < json->len && json->text[json->at] >= '0' && json->text[json->at] <= '9';
}

static int skip_digits(cpubind_json *json)
{
    const int32_t start = json->at;
    while (is_digit_next(json))
        json->at++;
    return json->at > start;
}

int cpubind_json_number(cpubind_json *json, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    int32_t start;
    skip_blanks(json);
    start = json->at;
    while (is_digit_next(json)) {
        const uint64_t digit = (uint64_t)(json->text[json->at] - '0');
        if (digit > max || value > (max - digit) / 10)
            return 0;
        value = value * 10 + digit;
        json->at++;
    }
    if (json->at == start || (json->text[start] == '0' && json->at > start + 1))
        return 0;
    if (json->at < json->len && strchr(".eE", json->text[json->at]) && json->text[json->at])
        return 0;
    *out = value;
    return 1;
}

static int skip_number(cpubind_json *json)
{
    (void)take_now(json, '-');
    if (!take_now(json, '0') && !skip_digits(json))
        return 0;
    if (take_now(json, '.') && !skip_digits(json))
        return 0;
    if (take_now(json, 'e') || take_now(json, 'E')) {
        if (!take_now(json, '+'))
            (void)take_now(json, '-');
        return skip_digits(json);
    }
    return 1;
}

/* == Any value ============================================================== */

/* What a value stands in. */
typedef struct nest {
    uint64_t is_object; /* bit d: at depth d; else an array */
    int depth;
} nest;

static int is_in_object(const nest *in)
{
    return (int)(in->is_object >> (in->depth - 1) & 1u);
}

static int enter(nest *in, int is_object)
{
    if (in->depth == CPUBIND_JSON_DEPTH_MAX)
        return 0;
    in->is_object &= ~((uint64_t)1 << in->depth);
    in->is_object |= (uint64_t)is_object << in->depth;
    in->depth++;
    return 1;
}

static int skip_key(cpubind_json *json)
{
    cpubind_json_string key;
    return cpubind_json_string_next(json, &key) && cpubind_json_take(json, ':');
}

static int skip_scalar(cpubind_json *json)
{
    cpubind_json_string string;
    skip_blanks(json);
    if (json->at < json->len && json->text[json->at] == '"')
        return cpubind_json_string_next(json, &string);
    return take_word(json, "null") || take_word(json, "true") || take_word(json, "false") ||
           skip_number(json);
}

/* Up to where a value ends, or to where the first one of what it holds starts: *is_open. */
static int skip_start(cpubind_json *json, nest *in, int *is_open)
{
    const int is_object = cpubind_json_take(json, '{');
    *is_open = 0;
    if (!is_object && !cpubind_json_take(json, '['))
        return skip_scalar(json);
    if (!enter(in, is_object))
        return 0;
    if (cpubind_json_take(json, is_object ? '}' : ']')) {
        in->depth--;
        return 1;
    }
    *is_open = 1;
    return !is_object || skip_key(json);
}

/* From where a value ended to where the next one starts, *is_open, or to the end of all. */
static int skip_end(cpubind_json *json, nest *in, int *is_open)
{
    while (in->depth > 0) {
        if (cpubind_json_take(json, ',')) {
            *is_open = 1;
            return !is_in_object(in) || skip_key(json);
        }
        if (!cpubind_json_take(json, is_in_object(in) ? '}' : ']'))
            return 0;
        in->depth--;
    }
    *is_open = 0;
    return 1;
}

int cpubind_json_skip(cpubind_json *json)
{
    nest in = {0, 0};
    int is_open;
    do {
        if (!skip_start(json, &in, &is_open))
            return 0;
        if (!is_open && !skip_end(json, &in, &is_open))
            return 0;
    } while (is_open);
    return 1;
}
