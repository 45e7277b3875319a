/* host_txt.c - reader of host.txt, the description of a fixture host
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The grammar is in host_txt.h.
 */
#include "host_txt.h"

#include <string.h>

#include "cursor.h"

static int is_alnum(char c)
{
    return cursor_is_digit(c) || cursor_is_letter(c);
}

static int is_name_byte(char c)
{
    return is_alnum(c) || c == '-' || c == '.' || c == '_';
}

static int is_name(cursor name)
{
    const int32_t len = cursor_len(&name);
    const int begins = len > 0 && is_alnum(name.text[name.at]);
    (void)cursor_span(&name, is_name_byte);
    return begins && len <= CPUBIND_HOST_TXT_NAME_MAX && name.at == name.end;
}

int cpubind_host_txt_is_name(const char *name)
{
    /* One byte more than the limit is enough to find a name too long. */
    const char *end = (const char *)memchr(name, '\0', CPUBIND_HOST_TXT_NAME_MAX + 1);
    cursor_text of;
    return end && is_name(cursor_open(&of, name, (int32_t)(end - name), NULL, 1));
}

/* The keys, in the order of the list. */
enum {
#define CPUBIND_X(member, key) KEY_##member,
    CPUBIND_HOST_TXT_LIST(CPUBIND_X)
#undef CPUBIND_X
        N_KEYS
};

static const char *const keys[N_KEYS] = {
#define CPUBIND_X(member, key) key ": ",
    CPUBIND_HOST_TXT_LIST(CPUBIND_X)
#undef CPUBIND_X
};

/* The reason why a value is wrong for its key; NULL when it is right. */
static const char *value_fault(int key, cursor value)
{
    if (value.at == value.end)
        return "a value is empty";
    if (key == KEY_name && !is_name(value))
        return "a name is letters, digits, \".\", \"_\" and \"-\", the first no sign";
    if (key == KEY_origin && !cursor_is(value, "captured") && !cursor_is(value, "documented") &&
        !cursor_is(value, "synthetic"))
        return "the origin is captured, documented or synthetic";
    return NULL;
}

/* Reads a line; returns its key, or 0 with the fault set. *value moves past the key. */
static int read_line(cursor *value)
{
    cursor odd = *value;
    const char *what = NULL;
    int key = 0;
    (void)cursor_span(&odd, cursor_is_plain);
    cursor_end(&odd, "a control character");
    while (key < N_KEYS && !cursor_takes(value, keys[key]))
        key++;
    what = key < N_KEYS ? value_fault(key, *value)
                        : "a line is one of name, product, origin, npu-smi and notes, a colon, "
                          "a blank and a value";
    if (what)
        (void)cursor_bad(value, what);
    return key < N_KEYS ? key : 0;
}

cpubind_text_status cpubind_host_txt_parse(const char *text, int32_t len, cpubind_host_txt *out,
                                           cpubind_text_fault *fault)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, fault, out != NULL), line;
    cpubind_piece values[N_KEYS];
    uint8_t seen[N_KEYS] = {0};
    while (cursor_line(&c, &line)) {
        const int32_t start = line.at;
        const int key = read_line(&line);
        if (seen[key])
            (void)cursor_fail(&c, CPUBIND_TEXT_ERR_SYNTAX, start, "a key occurs twice");
        seen[key] = 1;
        values[key] = cursor_piece(line);
    }
    for (int key = 0; key < N_KEYS; key++)
        if (!seen[key])
            (void)cursor_fail(&c, CPUBIND_TEXT_ERR_MISSING, of.len,
                              "name, product, origin, npu-smi and notes must all be there");
    if (!cursor_ok(&c))
        return of.status;
#define CPUBIND_X(member, key) out->member = values[KEY_##member];
    CPUBIND_HOST_TXT_LIST(CPUBIND_X)
#undef CPUBIND_X
    return of.status;
}
