/* host_file.c - a host as one text: reader and writer of NAME.host
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in host_file.h. What is decoded is never longer than what it is decoded from,
 * and starts no later: so it is written over that. Must not move a byte that is still unread.
 */
#include "host_file.h"

#include <string.h>

#include "character.h"

static const char head[] = "cpubind host 1\n";
static const char end_line[] = "end\n";
static const char file_word[] = "file ";

enum { HEAD = sizeof head - 1, END = sizeof end_line - 1, WORD = sizeof file_word - 1 };

int cpubind_host_file_order(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    const int left = *a == '/' ? 1 : (unsigned char)*a;
    const int right = *b == '/' ? 1 : (unsigned char)*b;
    return left - right;
}

/* == Reading ================================================================ */

/* A text that is decoded: the bytes that are read, and where the next one is written. */
typedef struct reading {
    char *text;
    int32_t len;
    int32_t to;
    int32_t has_rest; /* the last line ended in "\": the file does not end in a line feed */
    cpubind_text_fault *fault;
} reading;

static cpubind_text_status fail(const reading *r, cpubind_text_status status, int32_t offset,
                                const char *what)
{
    if (r->fault) {
        r->fault->offset = offset;
        r->fault->what = what;
    }
    return status;
}

static cpubind_text_status bad(const reading *r, int32_t offset, const char *what)
{
    return fail(r, CPUBIND_TEXT_ERR_SYNTAX, offset, what);
}

static int starts(const reading *r, int32_t at, const char *word, int32_t n)
{
    return n <= r->len - at && memcmp(r->text + at, word, (size_t)n) == 0;
}

/* The value of a hexadecimal digit; -1: it is none. */
static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes the escape at `*at`, a "\", whose line ends at `end`. */
static cpubind_text_status decode_escape(reading *r, int32_t *at, int32_t end)
{
    const char *c = r->text + *at;
    int high, low;
    if (*at + 1 == end) {
        r->has_rest = 1;
        *at = end;
        return CPUBIND_TEXT_OK;
    }
    if (c[1] == '\\') {
        r->text[r->to++] = '\\';
        *at += 2;
        return CPUBIND_TEXT_OK;
    }
    high = c[1] == 'x' && end - *at >= 4 ? hex_of(c[2]) : -1;
    low = high >= 0 ? hex_of(c[3]) : -1;
    if (low < 0)
        return bad(r, *at, "\"\\\" is followed by neither \"\\\" nor \"x\" and two digits");
    r->text[r->to++] = (char)(high * 16 + low);
    *at += 4;
    return CPUBIND_TEXT_OK;
}

/* Decodes the bytes from `at` to the end of the line, *end. */
static cpubind_text_status decode_line(reading *r, int32_t at, int32_t *end)
{
    const char *feed = (const char *)memchr(r->text + at, '\n', (size_t)(r->len - at));
    if (!feed)
        return fail(r, CPUBIND_TEXT_ERR_CUT, r->len, "it is cut off in the middle of a line");
    *end = (int32_t)(feed - r->text);
    r->has_rest = 0;
    while (at < *end) {
        const char c = r->text[at];
        cpubind_text_status status = CPUBIND_TEXT_OK;
        if (c == '\\')
            status = decode_escape(r, &at, *end);
        else if ((unsigned char)c < ' ' && c != '\t')
            return bad(r, at, "a control character is written as \"\\x\" and two digits");
        else
            r->text[r->to++] = r->text[at++];
        if (status != CPUBIND_TEXT_OK)
            return status;
    }
    return CPUBIND_TEXT_OK;
}

/* Checks a name, ended by NUL, and that it follows that of the entry before. */
static cpubind_text_status check_name(const reading *r, int32_t line, cpubind_piece name,
                                      cpubind_piece before)
{
    const char *const text = r->text + name.at, *const last = r->text + before.at;
    if ((int32_t)strlen(text) != name.len || !cpubind_input_is_name(text))
        return bad(r, line,
                   "a path is relative, and has no part \"..\", no empty part and no control "
                   "character");
    if (before.len == 0)
        return CPUBIND_TEXT_OK;
    if (name.len > before.len && memcmp(text, last, (size_t)before.len) == 0 &&
        text[before.len] == '/')
        return bad(r, line, "the file before it is a folder too");
    const int order = cpubind_host_file_order(last, text);
    if (order == 0)
        return fail(r, CPUBIND_TEXT_ERR_ORDER, line, "it has this file twice");
    return order < 0 ? CPUBIND_TEXT_OK
                     : fail(r, CPUBIND_TEXT_ERR_ORDER, line, "its files are not in order");
}

/* Decodes the file whose line "file NAME" is at `*at`. */
static cpubind_text_status decode_file(reading *r, int32_t *at, cpubind_host_entry *entry)
{
    const int32_t line = *at;
    cpubind_host_entry read = {{line + WORD, 0}, {0, 0}};
    int32_t end = 0;
    r->to = read.name.at;
    cpubind_text_status status = decode_line(r, read.name.at, &end);
    if (status == CPUBIND_TEXT_OK && r->has_rest)
        return bad(r, end - 1, "a path does not end in \"\\\"");
    if (status != CPUBIND_TEXT_OK)
        return status;
    read.name.len = r->to - read.name.at;
    r->text[r->to] = '\0';
    status = check_name(r, line, read.name, entry->name);
    read.data.at = r->to = end + 1;
    while (status == CPUBIND_TEXT_OK && end + 1 < r->len && r->text[end + 1] == ' ') {
        if (r->has_rest)
            return bad(r, end + 1, "a line follows one that has no line feed");
        status = decode_line(r, end + 2, &end);
        if (!r->has_rest)
            r->text[r->to++] = '\n';
    }
    if (status != CPUBIND_TEXT_OK)
        return status;
    read.data.len = r->to - read.data.at;
    *entry = read;
    *at = end + 1;
    return CPUBIND_TEXT_OK;
}

cpubind_text_status cpubind_host_file_next(char *text, int32_t len, int32_t *at,
                                           cpubind_host_entry *entry, cpubind_text_fault *fault)
{
    reading r = {.text = text, .len = len, .fault = fault};
    int32_t line = at ? *at : 0;
    if ((!text && len > 0) || !at || !entry || len < 0 || len > CPUBIND_TEXT_MAX || line < 0 ||
        line > len)
        return fail(&r, CPUBIND_TEXT_ERR_ARG, 0, "an argument is outside its range");
    if (line == 0 && !starts(&r, 0, head, HEAD))
        return bad(&r, 0, "its first line is not \"cpubind host 1\"");
    if (line == 0)
        line = HEAD;
    if (starts(&r, line, end_line, END)) {
        if (line + END < len)
            return bad(&r, line + END, "bytes follow the line \"end\"");
        *entry = (cpubind_host_entry){{0, 0}, {0, 0}};
        *at = len;
        return CPUBIND_TEXT_OK;
    }
    if (!memchr(text + line, '\n', (size_t)(len - line)))
        return fail(&r, CPUBIND_TEXT_ERR_CUT, len,
                    "it is cut off: the line \"end\" is missing");
    if (!starts(&r, line, file_word, WORD))
        return bad(&r, line, "a line begins with neither \"file \" nor a blank");
    const cpubind_text_status status = decode_file(&r, &line, entry);
    if (status == CPUBIND_TEXT_OK)
        *at = line;
    return status;
}

/* == Writing ================================================================ */

/* A text that is written, or counted. */
typedef struct writing {
    char *out; /* NULL: it is counted */
    int64_t n;
} writing;

static void put(writing *w, const char *text, int32_t len)
{
    if (w->out)
        memcpy(w->out + w->n, text, (size_t)len);
    w->n += len;
}

/* Puts the first character, escaped where it must be, and returns its bytes in the data. */
static int32_t put_character(writing *w, const char *data, int32_t len)
{
    static const char digit[] = "0123456789abcdef";
    const int32_t n = *data == '\t' ? 1 : cpubind_character(data, (size_t)len);
    if (n == 0) {
        const unsigned char c = (unsigned char)*data;
        const char escape[] = {'\\', 'x', digit[c >> 4], digit[c & 15]};
        put(w, escape, sizeof escape);
        return 1;
    }
    if (*data == '\\')
        put(w, "\\", 1);
    put(w, data, n);
    return n;
}

static void put_lines(writing *w, const char *data, int32_t len)
{
    for (int32_t at = 0; at < len;) {
        put(w, " ", 1);
        while (at < len && data[at] != '\n')
            at += put_character(w, data + at, len - at);
        if (at++ == len)
            put(w, "\\", 1);
        put(w, "\n", 1);
    }
}

int64_t cpubind_host_file_write(const cpubind_host_part *part, int32_t n, char *out)
{
    writing w = {out, 0};
    put(&w, head, HEAD);
    for (int32_t i = 0; i < n; i++) {
        const int32_t len = (int32_t)strlen(part[i].name);
        put(&w, file_word, WORD);
        for (int32_t at = 0; at < len;)
            at += put_character(&w, part[i].name + at, len - at);
        put(&w, "\n", 1);
        put_lines(&w, part[i].data, part[i].len);
    }
    put(&w, end_line, END);
    return w.n;
}
