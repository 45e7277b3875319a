/* lines.c - facts as lines of text, and back
 * SPDX-License-Identifier: MIT
 *
 * Pure but for memory. The rules are in lines.h.
 */
#include "lines.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../cpubind.h"
#include "../kernel/files.h"

/* CRC-32 with the reflected polynomial 0xedb88320, four bits a step. */
static uint32_t crc32_of(const char *text, size_t len)
{
    uint32_t crc = 0xffffffffu, table[16];
    for (uint32_t i = 0; i < 16; i++) {
        table[i] = i;
        for (int bit = 0; bit < 4; bit++)
            table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xedb88320u : table[i] >> 1;
    }
    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned char)text[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* == Fields ================================================================= */

__attribute__((format(printf, 2, 3))) static int put(cpubind_lines *l, const char *format, ...)
{
    int32_t need = 80; /* most fit at the first try */
    while (!l->why.error) {
        va_list arguments;
        int len;
        l->why = need > CPUBIND_FILE_MAX - l->out->len
                     ? cpubind_fault_of(EFBIG, "write")
                     : cpubind_bytes_reserve(l->out, l->sys, need);
        if (l->why.error)
            return 0;
        va_start(arguments, format);
        len = vsnprintf(l->out->data + l->out->len, (size_t)need, format, arguments);
        va_end(arguments);
        if (len < need) {
            l->out->len += len;
            return 1;
        }
        need = len + 1;
    }
    return 0;
}

/* The next word, and its length; the line goes on after it. */
static const char *take(cpubind_lines *l, size_t *len)
{
    const char *word = l->at += l->at < l->end;
    const char *blank = (const char *)memchr(word, ' ', (size_t)(l->end - word));
    l->at = blank ? blank : l->end;
    *len = (size_t)(l->at - word);
    return word;
}

/* Whether the bytes of a word, which NUL does not end, are those of a text. */
static int is_word(const char *text, const char *word, size_t len)
{
    return strlen(text) == len && memcmp(text, word, len) == 0;
}

/* The number at the start of a word, whatever follows: what was written otherwise shows when it
 * is written again. */
static uint64_t take_number(cpubind_lines *l)
{
    char digits[24] = "";
    size_t len;
    const char *word = take(l, &len);
    memcpy(digits, word, len < sizeof digits ? len : 0);
    return strtoull(digits, NULL, 10);
}

int cpubind_line_id(cpubind_lines *l, int32_t *id, int32_t least)
{
    if (!l->out)
        *id = (int32_t)take_number(l);
    return *id >= least && (!l->out || put(l, " %d", (int)*id));
}

int cpubind_line_big(cpubind_lines *l, uint64_t *number, uint64_t least)
{
    if (!l->out)
        *number = take_number(l);
    return *number >= least && (!l->out || put(l, " %llu", (unsigned long long)*number));
}

/* The set of a word: most were there before. */
static int32_t set_of_word(cpubind_lines *l, const char *word, size_t len)
{
    int32_t set;
    for (set = 0; set < l->sets->n; set++)
        if (is_word(l->sets->set[set].text, word, len))
            return set;
    l->why = *word == '='
                 ? cpubind_cpu_sets_of_value(l->sets, l->sys, word + 1, (int32_t)len - 1, &set)
                 : cpubind_cpu_sets_of_text(l->sets, l->sys, word, (int32_t)len, &set);
    return set;
}

int cpubind_line_set(cpubind_lines *l, int32_t *set, int may_be_none)
{
    size_t len;
    const char *word = l->out ? NULL : take(l, &len);
    if (word)
        *set = is_word("-", word, len) ? CPUBIND_CPUSET_NONE : set_of_word(l, word, len);
    if (*set == CPUBIND_CPUSET_NONE)
        return may_be_none && (!l->out || put(l, " -"));
    return *set >= 0 && *set < l->sets->n &&
           (l->sets->set[*set].n > 0 || cpubind_cpu_sets_is_value(l->sets, *set)) &&
           (!l->out || put(l, " %s", l->sets->set[*set].text));
}

int cpubind_line_name(cpubind_lines *l, char *name, size_t size)
{
    size_t len, n = 0;
    if (l->out) {
        if (!*name || !put(l, " "))
            return 0;
        for (n = 0; name[n] && !l->why.error; n++)
            (void)put(l, name[n] >= '!' && name[n] <= '~' && name[n] != '%' ? "%c" : "%%%02x",
                      (unsigned char)name[n]);
        return 1;
    }
    for (const char *at = take(l, &len); at < l->at && n + 1 < size; at++) {
        char hex[3] = {*at, 0, 0};
        if (*at == '%' && l->at - at > 2) {
            memcpy(hex, at + 1, 2);
            hex[0] = (char)strtoull(hex, NULL, 16);
            at += 2;
        }
        name[n++] = hex[0];
    }
    name[n] = '\0';
    return n > 0;
}

int cpubind_line_word(cpubind_lines *l, int *word, const char *const *words)
{
    size_t len;
    const char *text = l->out ? NULL : take(l, &len);
    int n = 0;
    while (words[n] && (text ? !is_word(words[n], text, len) : n != *word))
        n++;
    *word = n;
    return words[n] && (!l->out || put(l, " %s", words[n]));
}

int cpubind_line_irq(cpubind_lines *l, cpubind_irq_id *id)
{
    return cpubind_line_name(l, id->function, sizeof id->function) &&
           cpubind_line_name(l, id->name, sizeof id->name) &&
           cpubind_line_id(l, &id->index, 0) && cpubind_irq_is_id(id);
}

void *cpubind_line_add(cpubind_lines *l, void *array, int32_t *n, int32_t *cap,
                       size_t size_bytes)
{
    char *all;
    memcpy(&all, array, sizeof all);
    all = (char *)cpubind_grow(l->sys, all, *n, cap, size_bytes);
    if (!all) {
        l->why = cpubind_fault_of(ENOMEM, "memory");
        return NULL;
    }
    memcpy(array, &all, sizeof all);
    return memset(all + (size_t)(*n)++ * size_bytes, 0, size_bytes);
}

/* == Writing ================================================================ */

void cpubind_lines_begin(cpubind_lines *l, const char *word, const char *form)
{
    (void)put(l, "%s %s " CPUBIND_VERSION "\n", word, form);
}

void cpubind_lines_put(cpubind_lines *l, const cpubind_line *row, void *element,
                       int is_optional)
{
    const int32_t start = l->out->len, end = start + (int32_t)strlen(row->word);
    if (!put(l, "%s", row->word))
        return;
    if (row->fields(l, element) || l->why.error)
        (void)put(l, "\n");
    else if (is_optional && l->out->len == end)
        l->out->len = start;
    else
        l->why = cpubind_fault_of(EINVAL, "argument");
}

void cpubind_lines_end(cpubind_lines *l)
{
    if (!l->why.error)
        (void)put(l, "sum %08lx\n", (unsigned long)crc32_of(l->out->data, (size_t)l->out->len));
}

/* == Reading ================================================================ */

/* Puts the next line into at .. end. 0 when no line feed ends it. */
static int next_line(cpubind_lines *l)
{
    l->line++;
    l->at = l->end ? l->end + 1 : l->at;
    l->end = l->at == l->text_end
                 ? NULL
                 : (const char *)memchr(l->at, '\n', (size_t)(l->text_end - l->at));
    return l->end != NULL;
}

/* Reads the first line. NULL, or what is wrong with it. */
static const char *read_head(cpubind_lines *l, const char *word, const char *form)
{
    const size_t n = strlen(word);
    size_t len;
    const char *at;
    if (!next_line(l) || (size_t)(l->end - l->at) <= n || memcmp(l->at, word, n) != 0 ||
        l->at[n] != ' ')
        return word;
    l->at += n;
    at = take(l, &len);
    if (!is_word(form, at, len))
        return "form";
    (void)take(l, &len);
    return len > 0 && l->at == l->end ? NULL : word;
}

int cpubind_lines_fill(cpubind_lines *l, const cpubind_line *row, void *element)
{
    const char *const line = l->at, *const end = l->end;
    cpubind_bytes again = {NULL, 0, 0};
    int is_good;
    l->at += strlen(row->word);
    if (!element || !row->fields(l, element) || l->why.error)
        return 0;
    l->out = &again;
    cpubind_lines_put(l, row, element, 0);
    l->out = NULL;
    is_good =
        again.len == end - line + 1 && memcmp(again.data, line, (size_t)(end - line)) == 0;
    cpubind_bytes_free(&again);
    return is_good;
}

/* Reads the next line. NULL, or the word that it should have. */
static const char *read_line(cpubind_lines *l, const char *text, const cpubind_line *rows,
                             cpubind_lines_take *take_line, int *is_last)
{
    const cpubind_line *row = rows;
    const char *what = "line";
    char sum[16];
    size_t n;
    if (!next_line(l))
        return "sum";
    n = strcspn(l->at, " \n");
    while (row->word && !is_word(row->word, l->at, n))
        row++;
    if (l->at[n] != ' ' || (!row->word && !is_word("sum", l->at, n)) ||
        !take_line(l, row, &what))
        return what;
    if (row->word)
        return NULL;
    (void)snprintf(sum, sizeof sum, "sum %08lx",
                   (unsigned long)crc32_of(text, (size_t)(l->at - text)));
    if (!is_word(sum, l->at, (size_t)(l->end - l->at)))
        return "sum";
    *is_last = l->end + 1 == l->text_end;
    l->line += !*is_last;
    return *is_last ? NULL : "end";
}

cpubind_linux_fault cpubind_lines_read(cpubind_lines *l, const char *text, int32_t len,
                                       const char *word, const char *form,
                                       const cpubind_line *rows, cpubind_lines_take *take_line)
{
    int is_last = 0;
    const char *what;
    l->at = text;
    l->text_end = text + len;
    what = read_head(l, word, form);
    while (!what && !is_last)
        what = read_line(l, text, rows, take_line, &is_last);
    if (!what)
        return cpubind_no_fault;
    return l->why.error == ENOMEM ? l->why : (cpubind_linux_fault){EILSEQ, what, l->line};
}
