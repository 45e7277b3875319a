/* readers.h - the one table of readers, for cases, for damaged texts and for fuzz
 * SPDX-License-Identifier: MIT
 *
 * A row of the table reads a text and says what it has read, in lines. How it is called is the
 * harness's (readers.c), which holds what text.h promises of every reader:
 *   - the text is an allocation of its exact size, and so is every array;
 *   - it is read into arrays of no element, of the exact number and of one too few;
 *   - the memory that it writes to is filled in two ways: what is said may not depend on it;
 *   - a reader that fails has written its fault, ERR_SPACE the counts as well, and else at
 *     most elements of arrays;
 *   - one that takes an arena is given what it used of a larger one, and a byte less;
 *   - it takes no fault, and refuses no text, a length that is none, an array that is none.
 * What is said has laws of its own: tell_list, tell_slice, tell_name.
 *
 * A row:
 *   static void read_namespaces(reading *r)
 *   {
 *       cpubind_driver_logics *list = OUT(r, cpubind_driver_logics);
 *       ARRAY(r, list, row, cap, n);
 *       if (!READ(r, cpubind_driver_parse_namespaces, list))
 *           return;
 *       for (int32_t i = 0; i < list->n; i++) ...
 *   }
 * Where a reader has no status, the row calls it and says the answer.
 */
#ifndef CPUBIND_TESTS_READERS_READERS_H
#define CPUBIND_TESTS_READERS_READERS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/text/arena.h"
#include "../../adapters/text/text.h"

/* == Laws =================================================================== */

/* What happens when a law is broken; it does not return. At first: said, and abort(). */
extern void (*readers_broken)(const char *law, const char *file, int line);

#define CHECK(law) ((law) ? (void)0 : readers_broken(#law, __FILE__, __LINE__))

/* == Words ================================================================== */

/* A text that grows; all zero: an empty one. */
typedef struct words {
    char *text; /* ended by NUL; NULL: nothing was said */
    int32_t len, cap;
} words;

void add_words(words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* == A reading ============================================================== */

typedef struct reading {
    const char *text; /* not ended by NUL */
    int32_t len;
    const char *args;          /* what follows the name of the reader */
    cpubind_text_fault *fault; /* NULL in one of the calls */
    unsigned char fill;        /* of memory that the reader gets */
    int is_again;              /* the same was read before: laws that take long may rest */
    int wants_places;          /* of slices, in place of their bytes */
    words said;
    struct reading_call *call; /* the harness's */
} reading;

/* What the reader writes to: filled, and freed by the harness. */
#define OUT(r, type) ((type *)reading_out(r, sizeof(type)))
void *reading_out(reading *r, size_t size);

/* An array of it, by the names of its members: the array, its length, its number. */
#define ARRAY(r, out, array, cap, n)                                                           \
    reading_array(r, &(out)->array, &(out)->cap, &(out)->n, sizeof *(out)->array)
void reading_array(reading *r, void *array, int32_t *cap, int32_t *n, size_t size);

/* One more array of the length of the last. */
#define BESIDE(r, out, array) reading_beside(r, &(out)->array, sizeof *(out)->array)
void reading_beside(reading *r, void *array, size_t size);

/* One more number that ERR_SPACE may write. */
void reading_count(reading *r, int32_t *n);

/* What the reader is called with: `out`, or NULL in one of the calls. */
#define given(r, out) ((__typeof__(out))reading_given(r, out))
void *reading_given(reading *r, void *out);

/* Takes the status of the reader. Returns 1 when there is something to say. */
int came(reading *r, cpubind_text_status status);

/* Whether this is the text's fault: not OK, nor a matter of arguments and arrays. */
static inline int is_refusal(cpubind_text_status status)
{
    return status != CPUBIND_TEXT_OK && status != CPUBIND_TEXT_ERR_ARG &&
           status != CPUBIND_TEXT_ERR_SPACE;
}

/* Calls a reader of the usual form, and takes its status. */
#define READ(r, parse, out) came(r, parse((r)->text, (r)->len, given(r, out), (r)->fault))

/* The same of a reader that takes what it says from an arena. */
#define READ_IN_ARENA(r, parse, out)                                                           \
    came(r, parse((r)->text, (r)->len, reading_arena(r), given(r, out), (r)->fault))
cpubind_arena *reading_arena(reading *r);

/* The same of a reader that gives no fault. */
int came_alone(reading *r, cpubind_text_status status);

/* A copy of bytes, ended by NUL, to be freed. */
char *string_copy(const char *bytes, int32_t len);

/* The number at the start of the arguments, or `fallback`; *at: behind it and its blank. */
int32_t number_arg(const char **at, int32_t fallback);

/* A copy of some bytes, of its exact size; and filled memory. */
char *exact_copy(const void *bytes, size_t size);
void *filled(size_t size, int fill);

/* Whether memory holds this byte alone; whether two are the same; also of no byte at NULL. */
int holds_only(const void *bytes, size_t size, int fill);
int is_same(const void *a, const void *b, size_t size);

/* == Saying ================================================================= */

#define tell(r, ...) add_words(&(r)->said, __VA_ARGS__)

/* Bytes as data of a case have them: "\\", "\x0d". */
void tell_bytes(reading *r, const char *bytes, int32_t len);

/* "0-3,7", "-" for none. They ascend, from 0 to below `limit`. */
void tell_list(reading *r, const int32_t *number, int32_t n, int32_t limit);
void check_list(const int32_t *number, int32_t n, int32_t limit);

/* `WORD "TEXT"`, with a blank before it but in the first place of a line; WORD may be "". The
 * slice is in the text. */
void tell_slice(reading *r, const char *word, cpubind_piece slice);

/* The same, or nothing for an empty name. It is in one line, and no blank is around it. */
void tell_name(reading *r, const char *word, cpubind_piece name);

/* `WORD NUMBER`, or nothing for -1. It is no less. */
void tell_id(reading *r, const char *word, int64_t id);

/* The same of words and numbers, up to NULL. */
void tell_ids(reading *r, const char *word, ...);

/* How many numbers two ascending lists have in common. */
int32_t count_common(const int32_t *a, int32_t n_a, const int32_t *b, int32_t n_b);

/* Whether no CPU is in two of the lists cpu[row[i]] .. cpu[row[i + 1] - 1], i < n. */
int are_disjoint(const int32_t *cpu, const int32_t *row, int32_t n);

/* The members of a row are not those of an earlier one: for ids of tables. */
#define CHECK_UNIQUE(row, i, member)                                                           \
    for (int32_t other_ = 0; other_ < (i) && other_ < 64; other_++)                            \
    CHECK((row)[other_].member != (row)[i].member)

/* A number of 64 bits, for "%llu" and "%llx". */
#define BIG(number) ((unsigned long long)(number))

/* "STATUS at OFFSET: reason" of a reader of a part of the text that starts at `from`. */
void tell_fault(reading *r, cpubind_text_status status, const cpubind_text_fault *fault,
                int32_t from);

/* WORDS where something is so, else nothing. */
static inline const char *tell_if(int is_so, const char *text)
{
    return is_so ? text : "";
}

/* == The table ============================================================== */

typedef struct reader {
    const char *name;
    void (*read)(reading *r);
    /* Where an input of fuzz has no arguments: "A|B", each is tried. NULL: the arguments are
     * the first line of the input. */
    const char *args;
    const char *inputs; /* fuzz/inputs/NAME.txt, where the name is another; or NULL */
    const char *dict;   /* fuzz/dict/NAME.dict */
    int32_t longest;    /* bytes of an input that libFuzzer makes */
} reader;

/* The rows of a file. */
typedef struct reader_file {
    const reader *row;
    int32_t n;
    struct reader_file *next;
} reader_file;

void add_readers(reader_file *file);

/* The last line of a file of rows: adds them to the table. */
#define READERS(rows)                                                                          \
    static __attribute__((constructor)) void register_rows(void)                               \
    {                                                                                          \
        static reader_file file = {rows, (int32_t)(sizeof(rows) / sizeof *(rows)), NULL};      \
        add_readers(&file);                                                                    \
    }

/* The row of this name, or NULL. */
const reader *find_reader(const char *name);

/* The i-th row of the table, or NULL; and the name of its inputs. */
const reader *reader_at(int32_t i);
const char *inputs_of(const reader *row);

/* Whether row i is the first one with its inputs. */
int has_own_inputs(int32_t i);

/* Reads a text by the laws. What was said is added to *said, or "STATUS at OFFSET: reason".
 * Returns the status; OK where the reader has none. */
cpubind_text_status read_by_laws(const reader *row, const char *args, const char *text,
                                 int32_t len, words *said);

/* Reads a text once. `wants_places`: "AT+LENGTH" is said in place of the bytes of a slice. Says
 * nothing of a text that cannot be read. */
cpubind_text_status read_once(const reader *row, const char *args, const char *text,
                              int32_t len, int wants_places, words *said);

/* Reads an input of fuzz: with the arguments of its first line, or those of the row. */
void read_input(const reader *row, const char *bytes, int32_t len);

#endif
