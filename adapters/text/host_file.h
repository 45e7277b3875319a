/* host_file.h - a host as one text: reader and writer of NAME.host
 * SPDX-License-Identifier: MIT
 *
 * All files of a snapshot folder in one text that people read, edit and compare: a line of a
 * file is a line here, with a blank before it. Pure: see text.h; but the reader decodes the
 * text where it is. A text may come from a stranger: nothing is written to any folder.
 *
 * GRAMMAR
 *   host  = "cpubind host 1" LF *file "end" LF      nothing follows
 *   file  = "file " name LF *line [ rest ]          a file without lines is empty
 *   line  = " " *char LF           a line of the file and its line feed
 *   rest  = " " *char "\" LF       the last bytes of the file, which no line feed ends
 *   name  = 1*char                 the path: an input's name (input_name.h)
 *   char  = byte / "\\" / "\x" 2hex
 *   byte  = TAB, a blank or any byte above it, but for "\"
 *
 *   order   names ascend in byte order, with "/" below every other byte; so what is below a
 *           folder is together, no name is there twice, and no file is the folder of another
 *   writer  writes "\x" with small digits, and only where it must: for a control character and
 *           for a byte that belongs to no character of UTF-8. So equal files are equal texts
 *   folders exist by the files in them; an empty one, and a link, is what source.h says: an
 *           empty file, and the file that it leads to
 */
#ifndef CPUBIND_TEXT_HOST_FILE_H
#define CPUBIND_TEXT_HOST_FILE_H

#include "input_name.h"
#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A file in a decoded text. */
typedef struct cpubind_host_entry {
    cpubind_piece name; /* a NUL follows it; len 0: the text has ended */
    cpubind_piece data;
} cpubind_host_entry;

/* Decodes the next file.
 *   in      text[0 .. len - 1]; *at: 0, or as the last call has left it; *entry: all zero, or
 *           as the last call has left it
 *   out     *entry, and *at behind the file
 *   errors  ERR_ARG; ERR_SYNTAX; ERR_ORDER; ERR_CUT: the text ends before its line "end".
 *           fault->offset is that of the byte at fault, of a name that of its line; the text
 *           is partly decoded
 *   cost    O(length of the file) */
cpubind_text_status cpubind_host_file_next(char *text, int32_t len, int32_t *at,
                                           cpubind_host_entry *entry,
                                           cpubind_text_fault *fault);

/* A file that is written. */
typedef struct cpubind_host_part {
    const char *name; /* an input's name, ended by NUL */
    const char *data; /* may be NULL when len is 0 */
    int32_t len;
} cpubind_host_part;

/* The order of names: below, at or above 0, as of strcmp(3). */
int cpubind_host_file_order(const char *a, const char *b);

/* Names in order: those of an array whose elements each begin with one, a const char *. */
typedef struct cpubind_host_names {
    const void *first;
    int32_t n;
    size_t size; /* bytes of an element */
} cpubind_host_names;

/* The place of the first name that is not before this one; n: all are before it. */
int32_t cpubind_host_names_find(const cpubind_host_names *names, const char *name);

/* Lists a folder, "." the top one: the next parts of the names below it, each once and with a
 * line feed.
 *   out     out, which has room for the result; NULL counts alone
 *   returns its bytes; -1: nothing is below it
 *   cost    O(log names), and of those below it */
int32_t cpubind_host_names_list(const cpubind_host_names *names, const char *folder, char *out);

/* Writes a host.
 *   in      part[0 .. n - 1], in order
 *   out     out, which has room for the result; NULL counts alone
 *   returns its bytes
 *   cost    O(bytes) */
int64_t cpubind_host_file_write(const cpubind_host_part *part, int32_t n, char *out);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_TEXT_HOST_FILE_H */
