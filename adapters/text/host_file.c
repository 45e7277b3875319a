/* host_file.c - a host as one text: reader and writer of NAME.host
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in host_file.h. What is decoded is never longer than what it is decoded from,
 * and starts no later: so it is written over that. Must not move a byte that is still unread.
 */
#include "host_file.h"

#include "character.h"
#include "cursor.h"

static const char head[] = "cpubind host 1\n";
static const char end_line[] = "end\n";
static const char file_word[] = "file ";

int cpubind_host_file_order(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    const int left = *a == '/' ? 1 : (unsigned char)*a;
    const int right = *b == '/' ? 1 : (unsigned char)*b;
    return left - right;
}

/* == Names ================================================================== */

static const char *name_at(const cpubind_host_names *names, int32_t i)
{
    const char *name;
    memcpy(&name, (const char *)names->first + (size_t)i * names->size, sizeof name);
    return name;
}

int32_t cpubind_host_names_find(const cpubind_host_names *names, const char *name)
{
    int32_t from = 0, to = names->n;
    while (from < to) {
        const int32_t middle = from + (to - from) / 2;
        if (cpubind_host_file_order(name_at(names, middle), name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Steps to the part of name i that is below a folder of n bytes, 0 of the top one; NULL: it is
 * not below it. */
static const char *part_below(const cpubind_host_names *names, int32_t i, const char *folder,
                              size_t n)
{
    const char *name = i < names->n ? name_at(names, i) : "";
    if (n == 0)
        return *name ? name : NULL;
    return strlen(name) > n && memcmp(name, folder, n) == 0 && name[n] == '/' ? name + n + 1
                                                                              : NULL;
}

int32_t cpubind_host_names_list(const cpubind_host_names *names, const char *folder, char *out)
{
    const size_t n = folder[0] == '.' && !folder[1] ? 0 : strlen(folder);
    int32_t len = -1, i = n == 0 ? 0 : cpubind_host_names_find(names, folder);
    const char *part, *last = NULL;
    /* A file of this name is before those below it. */
    if (n > 0 && i < names->n && cpubind_host_file_order(name_at(names, i), folder) == 0)
        i++;
    for (int32_t n_last = 0; (part = part_below(names, i, folder, n)) != NULL; i++) {
        const char *slash = (const char *)memchr(part, '/', strlen(part));
        const int32_t n_part = slash ? (int32_t)(slash - part) : (int32_t)strlen(part);
        if (last && n_part == n_last && memcmp(last, part, (size_t)n_part) == 0)
            continue;
        len += len < 0;
        if (out) {
            memcpy(out + len, part, (size_t)n_part);
            out[len + n_part] = '\n';
        }
        len += n_part + 1;
        last = part;
        n_last = n_part;
    }
    return len;
}

/* == Reading ================================================================ */

/* A text that is decoded: what is left to read, and where the next byte is written. */
typedef struct decoding {
    cursor c;
    char *text;
    int32_t to;
    int has_rest; /* the last line ended in "\": the file does not end in a line feed */
} decoding;

/* Decodes the escape at the start of a line, a "\". */
static void decode_escape(decoding *d, cursor *line)
{
    const char *c = line->text + line->at;
    const int32_t n = cursor_len(line);
    if (n == 1) {
        d->has_rest = 1;
        line->at++;
    } else if (c[1] == '\\') {
        d->text[d->to++] = '\\';
        line->at += 2;
    } else if (c[1] == 'x' && n >= 4 && cursor_is_hex(c[2]) && cursor_is_hex(c[3])) {
        d->text[d->to++] = (char)(cursor_hex_value(c[2]) << 4 | cursor_hex_value(c[3]));
        line->at += 4;
    } else {
        (void)cursor_bad(line, "\"\\\" is followed by neither \"\\\" nor \"x\" and two digits");
    }
}

static void decode_line(decoding *d)
{
    cursor line = d->c;
    if (!cursor_line(&d->c, &line) || cursor_is_cut(&d->c, &line))
        (void)cursor_fail(&d->c, CPUBIND_TEXT_ERR_CUT, d->c.of->len,
                          "it is cut off in the middle of a line");
    d->has_rest = 0;
    while (cursor_left(&line)) {
        const char c = d->text[line.at];
        if (c == '\\')
            decode_escape(d, &line);
        else if ((unsigned char)c < ' ' && c != '\t')
            (void)cursor_bad(&line, "a control character is written as \"\\x\" and two digits");
        else
            d->text[d->to++] = d->text[line.at++];
    }
}

/* Checks a name, ended by NUL, and that it follows that of the entry before. */
static void check_name(const cursor *line, cpubind_piece name, cpubind_piece before)
{
    const char *const text = line->text + name.at, *const last = line->text + before.at;
    const int order = before.len ? cpubind_host_file_order(last, text) : -1;
    if ((int32_t)strlen(text) != name.len || !cpubind_input_is_name(text))
        (void)cursor_bad(line,
                         "a path is relative, and has no part \"..\", no empty part and no "
                         "control character");
    else if (before.len && name.len > before.len && text[before.len] == '/' &&
             memcmp(text, last, (size_t)before.len) == 0)
        (void)cursor_bad(line, "the file before it is a folder too");
    else if (order >= 0)
        (void)cursor_fail(line, CPUBIND_TEXT_ERR_ORDER, line->at,
                          order ? "its files are not in order" : "it has this file twice");
}

/* Decodes a file, from its line "file NAME" on. */
static void decode_file(decoding *d, cpubind_host_entry *entry)
{
    const cursor line = d->c;
    const cpubind_piece before = entry->name;
    cursor_need(&d->c, file_word, "a line begins with neither \"file \" nor a blank");
    entry->name.at = d->to = d->c.at;
    decode_line(d);
    if (d->has_rest)
        (void)cursor_fail(&d->c, CPUBIND_TEXT_ERR_SYNTAX, d->c.at - 2,
                          "a path does not end in \"\\\"");
    if (!cursor_ok(&d->c))
        return;
    entry->name.len = d->to - entry->name.at;
    d->text[d->to] = '\0';
    check_name(&line, entry->name, before);
    entry->data.at = d->to = d->c.at;
    while (cursor_next(&d->c) == ' ') {
        if (d->has_rest)
            (void)cursor_bad(&d->c, "a line follows one that has no line feed");
        d->c.at++;
        decode_line(d);
        if (!d->has_rest && cursor_ok(&d->c))
            d->text[d->to++] = '\n';
    }
    entry->data.len = d->to - entry->data.at;
}

cpubind_text_status cpubind_host_file_next(char *text, int32_t len, int32_t *at,
                                           cpubind_host_entry *entry, cpubind_text_fault *fault)
{
    cursor_text of;
    decoding d = {cursor_open(&of, text, len, fault,
                              at && *at >= 0 && *at <= len && entry && (text || len == 0)),
                  text, 0, 0};
    cpubind_host_entry read = {{0, 0}, {0, 0}};
    if (!cursor_ok(&d.c))
        return of.status;
    d.c.at = *at;
    if (*at == 0)
        cursor_need(&d.c, head, "its first line is not \"cpubind host 1\"");
    if (cursor_takes(&d.c, end_line)) {
        cursor_end(&d.c, "bytes follow the line \"end\"");
    } else {
        if (!cursor_left(&d.c) || !memchr(text + d.c.at, '\n', (size_t)cursor_len(&d.c)))
            (void)cursor_fail(&d.c, CPUBIND_TEXT_ERR_CUT, len,
                              "it is cut off: the line \"end\" is missing");
        read = *entry;
        decode_file(&d, &read);
    }
    if (cursor_ok(&d.c)) {
        *entry = read;
        *at = d.c.at;
    }
    return of.status;
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
    put(&w, head, sizeof head - 1);
    for (int32_t i = 0; i < n; i++) {
        const int32_t len = (int32_t)strlen(part[i].name);
        put(&w, file_word, sizeof file_word - 1);
        for (int32_t at = 0; at < len;)
            at += put_character(&w, part[i].name + at, len - at);
        put(&w, "\n", 1);
        put_lines(&w, part[i].data, part[i].len);
    }
    put(&w, end_line, sizeof end_line - 1);
    return w.n;
}
