/* lines.h - facts as lines of text, and back: one function writes a line and reads it
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux/bind. Pure: works on (pointer, length), opens no file.
 *
 *     text = head line* "sum " HEX          HEX: CRC-32 (IEEE 802.3) of all lines above
 *     head = WORD " " FORM " " VERSION      which kind of text; its form; who wrote it
 *     line = WORD (" " field)*              each line, the last one too, ends with a line feed
 *
 * A field is a number in decimal; a list of CPUs as the kernel writes one ("0-3,8"), "=" and a
 * value that is none, or "-" for neither; a word of a table; or a name in which each byte that
 * is not '!' to '~', and each '%', is %xx with two lower-case digits. THE ONE RULE of reading:
 * a line is good if what was read of it is written as the same bytes again. So a struct has one
 * text, and each other text is refused: cut, reordered, doubled or edited ones too.
 */
#ifndef CPUBIND_LINUX_LINES_H
#define CPUBIND_LINUX_LINES_H

#include "../kernel/bytes.h"
#include "../kernel/cpu_sets.h"
#include "../kernel/irq.h"

/* A text that is written or read. */
typedef struct cpubind_lines {
    const cpubind_sys *sys;
    cpubind_cpu_sets *sets; /* that lists are of */
    void *of;               /* the struct that the text is of */
    cpubind_bytes *out;     /* writing; while reading NULL, but for the line that is compared */
    const char *at, *end;   /* reading: what is left of the line */
    const char *text_end;
    int32_t line;            /* its number, from 1 */
    cpubind_linux_fault why; /* the first one */
} cpubind_lines;

/* A kind of lines. `fields` gives each field of an element to the functions below, and returns
 * whether all is good, together with what comes before it. The rest is the user's. */
typedef struct cpubind_line {
    const char *word;
    int (*fields)(cpubind_lines *l, void *element);
    int flags;
    size_t array, n, cap, size; /* where in the struct the element is; of a line for each of an
                                   array: where that, its length and room are; bytes of one */
} cpubind_line;

/* Each writes a field, or reads it. Return 0 where it is none, which writes nothing, or without
 * memory. */
int cpubind_line_id(cpubind_lines *l, int32_t *id, int32_t least);
int cpubind_line_big(cpubind_lines *l, uint64_t *number, uint64_t least);
int cpubind_line_set(cpubind_lines *l, int32_t *set, int may_be_none);
int cpubind_line_name(cpubind_lines *l, char *name, size_t size);
int cpubind_line_word(cpubind_lines *l, int *word, const char *const *words);
int cpubind_line_irq(cpubind_lines *l, cpubind_irq_id *id);

/* Adds an element, all zero, to an array; NULL without memory. */
void *cpubind_line_add(cpubind_lines *l, void *array, int32_t *n, int32_t *cap,
                       size_t size_bytes);

/* Writing: the head, lines, the sum. Of an optional line nothing is written where `fields` has
 * written none.
 *   errors  in l->why: ENOMEM, "memory"; EINVAL, "argument": what could not be read back;
 *           EFBIG, "write" */
void cpubind_lines_begin(cpubind_lines *l, const char *word, const char *form);
void cpubind_lines_put(cpubind_lines *l, const cpubind_line *row, void *element,
                       int is_optional);
void cpubind_lines_end(cpubind_lines *l);

/* Reading. Gives each line to `take`, with its row and at the end the one without a word, which
 * returns whether it is good; else in *what the word that this line should have.
 *   in      word, form: of the head
 *   errors  ENOMEM, "memory"; EILSEQ with the line that is wrong or missing, and `what`: the
 *           word of `take`; "line": it begins with no word; "form": another one; "sum"; "end":
 *           bytes after the sum */
typedef int cpubind_lines_take(cpubind_lines *l, const cpubind_line *row, const char **what);
cpubind_linux_fault cpubind_lines_read(cpubind_lines *l, const char *text, int32_t len,
                                       const char *word, const char *form,
                                       const cpubind_line *rows, cpubind_lines_take *take);

/* Reads the fields of a line into an element, which may be NULL. Returns whether they are
 * good. */
int cpubind_lines_fill(cpubind_lines *l, const cpubind_line *row, void *element);

#endif /* CPUBIND_LINUX_LINES_H */
