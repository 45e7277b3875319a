/* host_txt.c - reader of host.txt, the description of a fixture host
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The grammar is in host_txt.h.
 */
#include "host_txt.h"

#include <string.h>

#include "scan.h"

static int is_alnum(char c)
{
    return scan_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int is_name(const char *name, int32_t len)
{
    if (len < 1 || len > CPUBIND_HOST_TXT_NAME_MAX || !is_alnum(name[0]))
        return 0;
    for (int32_t i = 1; i < len; i++)
        if (!is_alnum(name[i]) && name[i] != '-' && name[i] != '.' && name[i] != '_')
            return 0;
    return 1;
}

int cpubind_host_txt_is_name(const char *name)
{
    /* One byte more than the limit is enough to find a name too long. */
    const char *end = (const char *)memchr(name, '\0', CPUBIND_HOST_TXT_NAME_MAX + 1);
    return end && is_name(name, (int32_t)(end - name));
}

static int is_text(const char *text, cpubind_piece slice, const char *word)
{
    return (size_t)slice.len == strlen(word) &&
           memcmp(text + slice.at, word, (size_t)slice.len) == 0;
}

/* The keys, in the order of the list. */
enum {
#define CPUBIND_X(member, key) KEY_##member,
    CPUBIND_HOST_TXT_LIST(CPUBIND_X)
#undef CPUBIND_X
        N_KEYS
};

static const char *const keys[N_KEYS] = {
#define CPUBIND_X(member, key) key,
    CPUBIND_HOST_TXT_LIST(CPUBIND_X)
#undef CPUBIND_X
};

/* The reason why a value is wrong for its key; NULL when it is right. */
static const char *value_fault(const char *text, int key, cpubind_piece value)
{
    if (value.len == 0)
        return "a value is empty";
    if (key == KEY_name && !is_name(text + value.at, value.len))
        return "a name is letters, digits, \".\", \"_\" and \"-\", the first no sign";
    if (key == KEY_origin && !is_text(text, value, "captured") &&
        !is_text(text, value, "documented") && !is_text(text, value, "synthetic"))
        return "the origin is captured, documented or synthetic";
    return NULL;
}

/* Reads the line [at, end); returns its key, or -1 with the fault set. */
static int read_line(const scan_text *in, int32_t at, int32_t end, cpubind_piece *value)
{
    const scan_run line = {at, end};
    const int32_t odd = scan_find_control(in, line);
    if (odd < end) {
        (void)scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, odd, "a control character");
        return -1;
    }
    for (int key = 0; key < N_KEYS; key++) {
        const int32_t n = (int32_t)strlen(keys[key]);
        if (end - at < n + 2 || memcmp(in->text + at, keys[key], (size_t)n) != 0 ||
            memcmp(in->text + at + n, ": ", 2) != 0)
            continue;
        *value = (cpubind_piece){at + n + 2, end - at - n - 2};
        const char *what = value_fault(in->text, key, *value);
        if (!what)
            return key;
        (void)scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, value->at, what);
        return -1;
    }
    (void)scan_fail(in, CPUBIND_TEXT_ERR_SYNTAX, at,
                    "a line is one of name, product, origin, npu-smi and notes, a colon, a "
                    "blank and a value");
    return -1;
}

cpubind_text_status cpubind_host_txt_parse(const char *text, int32_t len, cpubind_host_txt *out,
                                           cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    cpubind_piece values[N_KEYS];
    uint8_t seen[N_KEYS] = {0};
    if (!scan_is_text(text, len) || !out)
        return scan_fail_arg(fault);
    for (int32_t at = 0; at < len;) {
        const char *feed = (const char *)memchr(text + at, '\n', (size_t)(len - at));
        const int32_t end = feed ? (int32_t)(feed - text) : len;
        cpubind_piece value;
        const int key = read_line(&in, at, end, &value);
        if (key < 0)
            return CPUBIND_TEXT_ERR_SYNTAX;
        if (seen[key])
            return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, at, "a key occurs twice");
        seen[key] = 1;
        values[key] = value;
        at = end + 1;
    }
    for (int key = 0; key < N_KEYS; key++)
        if (!seen[key])
            return scan_fail(&in, CPUBIND_TEXT_ERR_MISSING, len,
                             "name, product, origin, npu-smi and notes must all be there");
#define CPUBIND_X(member, key) out->member = values[KEY_##member];
    CPUBIND_HOST_TXT_LIST(CPUBIND_X)
#undef CPUBIND_X
    return CPUBIND_TEXT_OK;
}
