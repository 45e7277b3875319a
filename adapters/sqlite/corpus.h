/* corpus.h - a corpus: many hosts in one SQLite database, each as a source
 * SPDX-License-Identifier: MIT
 *
 * fixtures/schema.sql defines the tables, fixtures/shapes.sql those that a corpus of version 2
 * has besides. A corpus is bytes here: those of a file that the caller has read, and those that
 * it writes in its place. So nothing here opens a file, a change is made as a whole when the
 * file is replaced, and what a database says of other files has no meaning. The bytes may be
 * hostile: whatever they are, each call ends soon, with an answer or a fault.
 *
 *   cpubind_corpus_open(bytes, len, 0, &corpus)        a reader; or 1, and the puts below, then
 *   cpubind_corpus_finish(corpus, &bytes, &len)        the bytes of the changed corpus
 *
 * No pointer is NULL, unless it says so. One thread at a time may use a corpus or a host;
 * several are independent. A host does not need the corpus that it was opened from.
 *
 * ANSWERS  of a host come from memory. The bytes of each input match their SHA-256, or the host
 *          is not opened. Names are compared byte by byte.
 *              no such name                        ABSENT
 *              a name above other names (folder)   read: FAILED, EISDIR; list: the next
 *                                                  parts of the names below it, each once
 *              a command without an exit code      TIMEOUT: it did not end in time
 *              a listing over 4 MiB                TOO_LONG
 *              a name that breaks the rules        FAILED, EINVAL, "name" (source.h)
 *              no memory for a listing             FAILED, ENOMEM, "memory"; may be tried again
 *          A folder without inputs does not exist. Neither does cmd/NAME.exit of a snapshot
 *          folder: its number is the exit code of cmd/NAME.
 */
#ifndef CPUBIND_CORPUS_H
#define CPUBIND_CORPUS_H

#include <stdint.h>

#include "../source.h"

/* The one list of codes: (name, number, text). Numbers never change; new ones go at the end. */
#define CPUBIND_CORPUS_STATUS_LIST(X)                                                          \
    X(OK, 0, "success")                                                                        \
    X(ERR_NO_DATABASE, -300, "the file is no SQLite database")                                 \
    X(ERR_NO_CORPUS, -301, "the database is no corpus of cpubind")                             \
    X(ERR_NEWER, -302, "the corpus has a newer schema than this cpubind knows")                \
    X(ERR_DAMAGED, -303, "the corpus is damaged")                                              \
    X(ERR_UNKNOWN_HOST, -304, "the corpus has no host of this name")                           \
    X(ERR_UNKNOWN_CASE, -305, "the host has no expectation of this name")                      \
    X(ERR_EXISTS, -306, "the corpus has a host of this name already")                          \
    X(ERR_RULE, -307, "a row breaks the rules of the schema")                                  \
    X(ERR_LIMIT, -308, "the host is larger than any host can be")                              \
    X(ERR_MEMORY, -309, "there is no memory left")

typedef enum cpubind_corpus_status {
#define CPUBIND_X(name, value, text) CPUBIND_CORPUS_##name = value,
    CPUBIND_CORPUS_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_corpus_status;

/* The newest schema that this code reads: user_version of the database. */
#define CPUBIND_CORPUS_VERSION 2

/* The application_id of a corpus, "CPUB". */
#define CPUBIND_CORPUS_APPLICATION 0x43505542

/* Limits of a host: inputs, and also expectations; bytes of all of them together, names
 * included; bytes of the texts of its row; bytes of its shape. */
#define CPUBIND_CORPUS_MAX_INPUTS 65536
#define CPUBIND_CORPUS_MAX_BYTES  (1 << 28)
#define CPUBIND_CORPUS_MAX_ABOUT  (1 << 20)
#define CPUBIND_CORPUS_MAX_SHAPE  (1 << 20)

#define CPUBIND_CORPUS_MESSAGE 240

/* How a call has ended. */
typedef struct cpubind_corpus_fault {
    cpubind_corpus_status status;         /* OK: well, and all else is zero */
    const char *what;                     /* static English clause: "the file is empty" */
    char message[CPUBIND_CORPUS_MESSAGE]; /* of SQLite, or "": printable ASCII, cut */
} cpubind_corpus_fault;

typedef struct cpubind_corpus cpubind_corpus;

/* The row of a host: texts without control characters. Of its shape, if it has one: the version
 * of the program that has read it, and JSON as in the table shapes; else NULL. */
typedef struct cpubind_corpus_about {
    const char *name, *product, *origin, *npu_smi, *notes;
    const char *program, *shape;
} cpubind_corpus_about;

/* An input of a host. */
typedef struct cpubind_corpus_entry {
    const char *name;
    const char *sha256;  /* 64 digits */
    cpubind_input input; /* as the source answers it */
} cpubind_corpus_entry;

/* The plan or refusal that a host must get. */
typedef struct cpubind_corpus_expectation {
    const char *name; /* CASE of expect/CASE.json */
    const char *body; /* JSON text, ended by NUL */
    int32_t len;      /* bytes without it */
} cpubind_corpus_expectation;

/* A host. Its inputs ascend, with "/" below every other byte, so that those of a folder are
 * adjacent; its expectations ascend in byte order. */
typedef struct cpubind_corpus_host {
    cpubind_corpus_about about;
    cpubind_corpus_entry *input;
    cpubind_corpus_expectation *expectation;
    int32_t n_input, n_expectation;
    struct cpubind_corpus_memory *memory; /* private: what all of it is in */
} cpubind_corpus_host;

/* == Reading ================================================================ */

/* Opens a corpus, and checks its mark, its version and its tables.
 *   in      bytes[0 .. len - 1]; a reader needs them until the corpus is closed. may_change: it
 *           is opened for one change: SQLite checks each page, the database may contain nothing
 *           but a corpus, and without bytes it is a new one
 *   out     *out, to be closed with cpubind_corpus_close; NULL on failure
 *   errors  ERR_NO_DATABASE; ERR_NO_CORPUS; ERR_NEWER; ERR_DAMAGED; ERR_MEMORY
 *   cost    O(tables); with may_change O(len) */
cpubind_corpus_fault cpubind_corpus_open(const char *bytes, int32_t len, int may_change,
                                         cpubind_corpus **out);

/* Closes a corpus. NULL is allowed. */
void cpubind_corpus_close(cpubind_corpus *corpus);

/* Called with a host, whose texts are valid during the call; a result other than 0 ends the
 * visits. */
typedef int cpubind_corpus_visit(void *ctx, const cpubind_corpus_about *about);

/* Visits all hosts, by ascending name in byte order.
 *   errors  ERR_LIMIT; ERR_DAMAGED; ERR_MEMORY; hosts may have been visited before
 *   cost    O(bytes of the tables hosts and shapes), and memory for one row */
cpubind_corpus_fault cpubind_corpus_each(cpubind_corpus *corpus, cpubind_corpus_visit *visit,
                                         void *ctx);

/* Reads one host: its row, all inputs, all expectations.
 *   out     *out, to be closed with cpubind_corpus_close_host; NULL on failure
 *   errors  ERR_UNKNOWN_HOST; ERR_LIMIT (CPUBIND_CORPUS_MAX_...); ERR_DAMAGED, also if bytes do
 *           not match their SHA-256, or are missing; ERR_MEMORY
 *   cost    O(bytes of the host) */
cpubind_corpus_fault cpubind_corpus_open_host(cpubind_corpus *corpus, const char *name,
                                              cpubind_corpus_host **out);

/* An open host as a source; valid until the host is closed. An input costs O(log inputs). */
cpubind_source cpubind_corpus_source(cpubind_corpus_host *host);

/* Closes a host and frees all of its answers. NULL is allowed. */
void cpubind_corpus_close_host(cpubind_corpus_host *host);

/* One English sentence without a full stop. Static storage. */
const char *cpubind_corpus_status_text(cpubind_corpus_status status);

/* == A change =============================================================== */

/* The shape of a host, for put_shape and find_shape. */
typedef struct cpubind_corpus_shape {
    const char *capture; /* the text of NAME.host that it was read of; its SHA-256 is stored */
    int32_t capture_len; /* bytes */
    const char *program; /* the version of the program that has read it */
    const char *body;    /* JSON as in the table shapes; NULL: not read yet */
} cpubind_corpus_shape;

/* After a failure each later call fails in the same way, so that no half of a change is ever
 * written. The errors of all of them are ERR_RULE, ERR_LIMIT, ERR_DAMAGED, ERR_MEMORY, and
 * those that they name. The same calls give the same bytes, on every run and machine, except
 * SQLite's own version number in the header (4 bytes at 96).
 *
 * put_host          adds a host. is_replacing: in place of the host of this name, with its
 *                   inputs, expectations and shape; else that is ERR_EXISTS
 * put_input         adds an input to a host: PRESENT, or TIMEOUT without bytes. Equal bytes are
 *                   stored once. Its err, if it has one, becomes a row of its own, named as the
 *                   input with ".err" at the end
 * put_expectation   adds an expectation to a host, or replaces the body of the one of this
 *                   name: JSON as in the table expectations
 * put_shape         adds the shape of a host, which has none
 * find_shape        *host: the name of the host with the shape that this program has read of
 *                   this capture, valid until the next call; NULL when there is none
 * remove_host, remove_expectation    ERR_UNKNOWN_HOST; ERR_UNKNOWN_CASE
 * rename_host       ERR_UNKNOWN_HOST; ERR_EXISTS, also for its own name
 * finish            ends the change.
 *                   *bytes: the corpus, valid until it is closed */
cpubind_corpus_fault cpubind_corpus_put_host(cpubind_corpus *corpus,
                                             const cpubind_corpus_about *about,
                                             int is_replacing);
cpubind_corpus_fault cpubind_corpus_put_input(cpubind_corpus *corpus, const char *host,
                                              const char *name, const cpubind_input *input);
cpubind_corpus_fault cpubind_corpus_put_expectation(cpubind_corpus *corpus, const char *host,
                                                    const char *name, const char *body,
                                                    int32_t len);
cpubind_corpus_fault cpubind_corpus_put_shape(cpubind_corpus *corpus, const char *host,
                                              const cpubind_corpus_shape *shape);
cpubind_corpus_fault cpubind_corpus_find_shape(cpubind_corpus *corpus,
                                               const cpubind_corpus_shape *shape,
                                               const char **host);
cpubind_corpus_fault cpubind_corpus_remove_host(cpubind_corpus *corpus, const char *host);
cpubind_corpus_fault cpubind_corpus_remove_expectation(cpubind_corpus *corpus, const char *host,
                                                       const char *name);
cpubind_corpus_fault cpubind_corpus_rename_host(cpubind_corpus *corpus, const char *host,
                                                const char *name);
cpubind_corpus_fault cpubind_corpus_finish(cpubind_corpus *corpus, const char **bytes,
                                           int32_t *len);

#endif /* CPUBIND_CORPUS_H */
