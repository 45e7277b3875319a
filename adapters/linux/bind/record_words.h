/* record_words.h - the words of the two kinds of records: writing and reading them
 * SPDX-License-Identifier: MIT
 *
 * Private to record_text.c and host_text.c. Pure: works on (pointer, length). One line holds
 * one fact; words are parted by one blank; each line ends with a line feed. Numbers are decimal
 * without leading zeros, a list of CPUs is as the kernel writes one ("0-3,8"). In a name each
 * byte that is not '!' to '~', and each '%', is %xx with two lower-case digits.
 */
#ifndef CPUBIND_LINUX_RECORD_WORDS_H
#define CPUBIND_LINUX_RECORD_WORDS_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../cpubind.h"
#include "../kernel/irq.h"
#include "host_record.h"
#include "record.h"

/* CRC-32 with the reflected polynomial 0xedb88320, four bits a step. */
static inline uint32_t crc32_of(const char *text, int32_t len)
{
    uint32_t crc = 0xffffffffu;
    uint32_t table[16];
    for (uint32_t i = 0; i < 16; i++) {
        table[i] = i;
        for (int bit = 0; bit < 4; bit++)
            table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xedb88320u : table[i] >> 1;
    }
    for (int32_t i = 0; i < len; i++) {
        crc ^= (unsigned char)text[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* Whether the bytes of a word, which NUL does not end, are those of a text. */
static inline int is_word(const char *text, const char *word, int32_t len)
{
    return strlen(text) == (size_t)len && memcmp(text, word, (size_t)len) == 0;
}

static inline int is_plain(unsigned char c)
{
    return c >= '!' && c <= '~' && c != '%';
}

/* == Writing ================================================================ */

/* The text so far. The first error stays. */
typedef struct writer {
    const cpubind_cpu_sets *sets; /* that lists are written from */
    const cpubind_sys *sys;
    cpubind_bytes *bytes;
    cpubind_linux_fault why;
} writer;

/* What is not so could not be read back. */
static inline void require(writer *w, int is_good)
{
    if (!is_good && !w->why.error)
        w->why = cpubind_fault_of(EINVAL, "argument");
}

__attribute__((format(printf, 2, 3))) static inline void put(writer *w, const char *format, ...)
{
    int32_t need = 80; /* most lines fit at the first try */
    while (!w->why.error) {
        va_list arguments;
        int len;
        w->why = need > CPUBIND_FILE_MAX - w->bytes->len
                     ? cpubind_fault_of(EFBIG, "write")
                     : cpubind_bytes_reserve(w->bytes, w->sys, need);
        if (w->why.error)
            return;
        va_start(arguments, format);
        len = vsnprintf(w->bytes->data + w->bytes->len, (size_t)need, format, arguments);
        va_end(arguments);
        if (len < need) {
            w->bytes->len += len;
            return;
        }
        need = len + 1;
    }
}

static inline const char *list_of(writer *w, int32_t set)
{
    require(w, set >= 0 && set < w->sets->n && w->sets->set[set].n > 0);
    return w->why.error ? "" : w->sets->set[set].text;
}

static inline const char *list_or_none(writer *w, int32_t set)
{
    return set == CPUBIND_CPUSET_NONE ? "-" : list_of(w, set);
}

static inline void put_word(writer *w, const char *name)
{
    require(w, *name != '\0');
    for (; *name; name++)
        put(w, is_plain((unsigned char)*name) ? "%c" : "%%%02x", (unsigned char)*name);
}

static inline void put_name(writer *w, const char *word, const char *name)
{
    put(w, "%s ", word);
    put_word(w, name);
    put(w, "\n");
}

static inline void put_irq_id(writer *w, const cpubind_irq_id *id)
{
    require(w, cpubind_irq_is_id(id));
    if (w->why.error)
        return;
    put_word(w, id->function);
    put(w, " ");
    put_word(w, id->name);
    put(w, " %d", (int)id->index);
}

static inline void put_sum(writer *w)
{
    if (!w->why.error)
        put(w, "sum %08lx\n", (unsigned long)crc32_of(w->bytes->data, w->bytes->len));
}

/* == Reading: words ========================================================= */

typedef struct reader {
    const char *text;     /* of the whole record */
    const char *at, *end; /* what is left of the line */
    const char *next;     /* the line after it */
    const cpubind_sys *sys;
    cpubind_cpu_sets *sets;      /* that lists are added to */
    cpubind_record *record;      /* what is read: this */
    cpubind_shared_record *host; /* or this */
    int32_t line;                /* its number, from 1 */
    cpubind_linux_fault
        why; /* without memory; else a failed read means that the text is wrong */
} reader;

/* Each of these reads one word and, but at the end of the line, the blank after it.
 * 1, or 0 when the text is wrong or there is no memory. */

static inline int read_word(reader *r, const char **word, int32_t *len)
{
    const char *blank = (const char *)memchr(r->at, ' ', (size_t)(r->end - r->at));
    const char *end = blank ? blank : r->end;
    *word = r->at;
    *len = (int32_t)(end - r->at);
    r->at = blank && blank + 1 < r->end ? blank + 1 : end;
    return *len > 0;
}

/* The place of the next word in a list that NULL ends, or -1. */
static inline int read_one_of(reader *r, const char *const *words)
{
    const char *word;
    int32_t len;
    if (!read_word(r, &word, &len))
        return -1;
    for (int i = 0; words[i]; i++)
        if (is_word(words[i], word, len))
            return i;
    return -1;
}

static inline int read_number(reader *r, uint64_t most, uint64_t *out)
{
    const char *word;
    int32_t len;
    *out = 0;
    if (!read_word(r, &word, &len) || (word[0] == '0' && len > 1))
        return 0;
    for (int32_t i = 0; i < len; i++) {
        const uint64_t digit = (uint64_t)(unsigned char)word[i] - '0';
        if (digit > 9 || digit > most || *out > (most - digit) / 10)
            return 0;
        *out = *out * 10 + digit;
    }
    return 1;
}

static inline int read_id(reader *r, int32_t least, int32_t most, int32_t *out)
{
    uint64_t value;
    const int is_good = read_number(r, (uint64_t)most, &value);
    *out = (int32_t)value;
    return is_good && *out >= least;
}

/* A list as the kernel writes it: 0,1 for 0-1 is refused. Most lists were there before. */
static inline int read_list(reader *r, int32_t *set)
{
    cpubind_cpu_sets *sets = r->sets;
    cpubind_linux_fault why;
    const char *word;
    int32_t len;
    if (!read_word(r, &word, &len))
        return 0;
    for (*set = 0; *set < sets->n; ++*set)
        if (is_word(sets->set[*set].text, word, len))
            return 1;
    why = cpubind_cpu_sets_of_text(sets, r->sys, word, len, set);
    if (why.error == ENOMEM)
        r->why = why;
    return !why.error && is_word(sets->set[*set].text, word, len);
}

static inline int read_list_or_none(reader *r, int32_t *set)
{
    *set = CPUBIND_CPUSET_NONE;
    if (r->end - r->at < 2 || r->at[0] != '-' || r->at[1] != ' ')
        return read_list(r, set);
    r->at += 2;
    return 1;
}

static inline int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* A name of 1 to size - 1 bytes. */
static inline int read_name(reader *r, char *out, int32_t size)
{
    const char *word;
    int32_t len, n = 0;
    if (!read_word(r, &word, &len))
        return 0;
    for (int32_t i = 0; i < len; i++) {
        int byte = (unsigned char)word[i];
        if (byte == '%') {
            const int high = i + 2 < len ? hex_digit(word[i + 1]) : -1;
            const int low = i + 2 < len ? hex_digit(word[i + 2]) : -1;
            byte = high < 0 || low < 0 ? 0 : high * 16 + low;
            if (byte == 0 || is_plain((unsigned char)byte))
                return 0;
            i += 2;
        } else if (!is_plain((unsigned char)byte)) {
            return 0;
        }
        if (n == size - 1)
            return 0;
        out[n++] = (char)byte;
    }
    out[n] = '\0';
    return 1;
}

static inline int read_irq_id(reader *r, cpubind_irq_id *id)
{
    return read_name(r, id->function, (int32_t)sizeof id->function) &&
           read_name(r, id->name, (int32_t)sizeof id->name) &&
           read_id(r, 0, INT32_MAX, &id->index) && cpubind_irq_is_id(id);
}

/* Whether adding worked, which fails for want of memory alone. */
static inline int is_added(reader *r, cpubind_linux_fault why)
{
    r->why = why;
    return !why.error;
}

/* == Lines ================================================================== */

/* Puts the next line into at .. end. 0 when no line feed ends it. */
static inline int next_line(reader *r, const char *text_end)
{
    r->at = r->next;
    r->end = r->at == text_end ? NULL
                               : (const char *)memchr(r->at, '\n', (size_t)(text_end - r->at));
    if (!r->end)
        return 0;
    r->next = r->end + 1;
    return 1;
}

/* Reads the first line: the word, the number of the form, and a version. NULL, or the kind of
 * the line that is wrong. */
static inline const char *read_head(reader *r, const char *text_end, const char *head,
                                    const char *form, const char *what)
{
    const char *word;
    int32_t len;
    if (!next_line(r, text_end) || r->end - r->at < (ptrdiff_t)strlen(head) ||
        memcmp(r->at, head, strlen(head)) != 0)
        return what;
    r->at += strlen(head);
    if (!read_word(r, &word, &len) || !is_word(form, word, len))
        return "form";
    return read_word(r, &word, &len) && r->at == r->end ? NULL : what;
}

static inline int read_sum(reader *r)
{
    const char *const line = r->at - strlen("sum ");
    char expected[16];
    const char *word;
    int32_t len;
    (void)snprintf(expected, sizeof expected, "%08lx",
                   (unsigned long)crc32_of(r->text, (int32_t)(line - r->text)));
    return read_word(r, &word, &len) && len == 8 && memcmp(word, expected, 8) == 0;
}

#endif /* CPUBIND_LINUX_RECORD_WORDS_H */
