/* archive.h - inputs as text: many in one file that people read, edit and compare
 * SPDX-License-Identifier: MIT
 *
 * GRAMMAR, of cases (tests/support/cases.h) and of hosts (adapters/text/host_file.h)
 *   file  = *( note / case )            note: an empty line, or one that starts with "#"
 *   case  = "case " name LF "input" LF *line
 *   line  = " " *char ( LF / "\" LF )   a line of the input with its line feed; or its last
 *                                       bytes, which no line feed ends
 *   char  = byte / "\\" / "\x" 2hex     byte: any but "\" and LF
 * Needs the C library alone: replay.c is used with other parsers, too.
 */
#ifndef CPUBIND_FUZZ_ARCHIVE_H
#define CPUBIND_FUZZ_ARCHIVE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Decodes the line from[0] .. end[-1] to `to`; returns the end. */
static inline char *decode_line(const char *from, const char *end, char *to)
{
    for (; from < end; from++) {
        if (*from != '\\') {
            *to++ = *from;
        } else if (from + 1 == end) {
            return to; /* no line feed ends it */
        } else if (*++from == 'x' && end - from > 2) {
            const char digits[] = {from[1], from[2], '\0'};
            *to++ = (char)strtol(digits, NULL, 16);
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to++ = '\n';
    return to;
}

/* The whole file, ended by NUL; ends the program when it cannot be read. */
static inline char *read_whole(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0)
        bytes = (char *)calloc((size_t)size + 1, 1);
    if (bytes)
        rewind(file);
    if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    (void)fclose(file);
    *len = (size_t)size;
    return bytes;
}

/* An input, or a case that has another verb. */
typedef struct archive_entry {
    const char *name; /* of its case */
    const char *verb; /* "input" */
    const char *data;
    size_t len;
} archive_entry;

typedef struct archive {
    char *text; /* decoded in place */
    archive_entry *entry;
    size_t n;
} archive;

static inline archive read_archive(const char *path)
{
    archive a = {NULL, NULL, 0};
    size_t len;
    const char *name = "";
    a.text = read_whole(path, &len);
    for (char *at = a.text, *end; at < a.text + len; at = end + 1) {
        archive_entry *last = a.n ? &a.entry[a.n - 1] : NULL;
        end = at + strcspn(at, "\n");
        if (*at == ' ' && last) {
            char *to = last->data ? (char *)last->data + last->len : at;
            last->data = last->data ? last->data : at;
            last->len = (size_t)(decode_line(at + 1, end, to) - last->data);
            continue;
        }
        *end = '\0';
        if (strncmp(at, "case ", 5) == 0) {
            name = at + 5;
        } else if (*at && *at != '#' && *at != '>') {
            const archive_entry one = {name, at, NULL, 0};
            a.entry = (archive_entry *)realloc(a.entry, (a.n + 1) * sizeof one);
            if (!a.entry)
                abort();
            a.entry[a.n++] = one;
        }
    }
    return a;
}

static inline void free_archive(archive *a)
{
    free(a->entry);
    free(a->text);
}

/* Prints an input as a case. */
static inline void print_entry(FILE *out, const char *name, const char *data, size_t len)
{
    (void)fprintf(out, "\ncase %s\ninput\n", name);
    for (size_t i = 0; i < len; i++) {
        const unsigned char byte = (unsigned char)data[i];
        const int is_last = i + 1 == len || data[i + 1] == '\n';
        if (i == 0 || data[i - 1] == '\n')
            (void)fputc(' ', out);
        if (byte == '\n')
            (void)fputc('\n', out);
        else if (byte == '\\')
            (void)fputs("\\\\", out);
        else if ((byte < ' ' && byte != '\t') || byte >= 0x7f || (is_last && byte <= ' '))
            (void)fprintf(out, "\\x%02x", byte);
        else
            (void)fputc(byte, out);
    }
    if (len > 0 && data[len - 1] != '\n')
        (void)fputs("\\\n", out);
}

#endif
