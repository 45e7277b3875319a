/* corpus.h - reading a corpus: many hosts in one SQLite database, each as a source
 * SPDX-License-Identifier: MIT
 *
 * store.h is for writing. fixtures/schema.sql defines the tables, fixtures/shapes.sql those
 * that a corpus of version 2 has besides. Nothing here writes, prints or exits. The file may be
 * hostile: whatever its bytes are, each call ends soon, with an answer or a status.
 *
 * One thread at a time may use a corpus or a host; several corpora and hosts are independent. A
 * host does not need the corpus that it was opened from: either may be closed first.
 *
 * ANSWERS  Opening a host reads all of it, from one state of the database. After that its
 *          answers come from memory, and a writer changes none of them. The bytes of each input
 *          match their SHA-256, or the host is not opened. Names are compared byte by byte.
 *              no such name                        ABSENT
 *              a name above other names (folder)   read: FAILED, EISDIR; list: the next
 *                                                  parts of the names below it, each once
 *              a command without an exit code      TIMEOUT: it did not end in time
 *              an input over 64 MiB                TOO_LONG
 *              a listing over 4 MiB                TOO_LONG
 *              bytes that are not in the file      FAILED, EIO, "content"
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
    X(ERR_ARG, -300, "an argument is outside its documented range")                            \
    X(ERR_OPEN, -301, "the corpus could not be opened")                                        \
    X(ERR_NO_DATABASE, -302, "the file is no SQLite database")                                 \
    X(ERR_NO_CORPUS, -303, "the database is no corpus of cpubind")                             \
    X(ERR_NEWER, -304, "the corpus has a newer schema than this cpubind knows")                \
    X(ERR_DAMAGED, -305, "the corpus is damaged")                                              \
    X(ERR_BUSY, -306, "the corpus is being written by another process")                        \
    X(ERR_READ, -307, "the corpus could not be read")                                          \
    X(ERR_UNKNOWN_HOST, -308, "the corpus has no host of this name")                           \
    X(ERR_LIMIT, -309, "the host is larger than any host can be")                              \
    X(ERR_MEMORY, -310, "there is no memory left")                                             \
    X(ERR_EXISTS, -311, "the corpus has a host of this name already")                          \
    X(ERR_FULL, -312, "the disk is full")                                                      \
    X(ERR_WRITE, -313, "the corpus could not be written")                                      \
    X(ERR_RULE, -314, "a row breaks the rules of the schema")                                  \
    X(ERR_UNSYNCED, -315, "the change is made, but may be undone if the power fails")          \
    X(ERR_JOURNAL, -316, "the corpus has a journal that no cpubind has written")               \
    X(ERR_UNKNOWN_CASE, -317, "the host has no expectation of this name")

typedef enum cpubind_corpus_status {
#define CPUBIND_X(name, value, text) CPUBIND_CORPUS_##name = value,
    CPUBIND_CORPUS_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_corpus_status;

/* The newest schema that this code reads: user_version of the database. */
#define CPUBIND_CORPUS_VERSION 2

/* The application_id of a corpus, "CPUB". */
#define CPUBIND_CORPUS_APPLICATION 0x43505542

/* How long a reader waits for a writer, and a writer for readers and writers. */
#define CPUBIND_CORPUS_WAIT_MS 2000

/* Limits of a host: inputs, and also expectations; bytes of all of them together, names
 * included; bytes of the texts of its row in the table hosts. */
#define CPUBIND_CORPUS_MAX_INPUTS 65536
#define CPUBIND_CORPUS_MAX_BYTES  (1 << 28)
#define CPUBIND_CORPUS_MAX_ABOUT  (1 << 20)

/* Most bytes of a shape. */
#define CPUBIND_CORPUS_MAX_SHAPE (1 << 20)

#define CPUBIND_CORPUS_MESSAGE 240

/* Why a call failed, for a message. Written on failure only. */
typedef struct cpubind_corpus_fault {
    int32_t result;   /* extended result code of SQLite, or 0: SQLite reported no error */
    int32_t error;    /* errno of a failed system call (ENOENT, EISDIR, ...), or 0 */
    const char *what; /* static English clause: "the file is empty"; never NULL */
    char message[CPUBIND_CORPUS_MESSAGE]; /* the message of SQLite, or "": printable ASCII,
                                             truncated, followed by NUL */
} cpubind_corpus_fault;

/* An open database; a host that was read from one. */
typedef struct cpubind_corpus cpubind_corpus;
typedef struct cpubind_corpus_host cpubind_corpus_host;

/* The row of a host in the table hosts. The texts contain no control character and end with
 * NUL; they are valid as long as the list or host that they are from. */
typedef struct cpubind_corpus_about {
    const char *name, *product, *origin, *npu_smi, *notes;
} cpubind_corpus_about;

/* An input of a host. */
typedef struct cpubind_corpus_entry {
    const char *name;
    const char *sha256;  /* 64 digits; NULL if the bytes are not in the file */
    cpubind_input input; /* as the source answers it */
} cpubind_corpus_entry;

/* The plan or refusal that a host must get. */
typedef struct cpubind_corpus_expectation {
    const char *name; /* CASE of expect/CASE.json */
    const char *body; /* JSON text, ended by NUL */
    int32_t len;      /* bytes without it */
} cpubind_corpus_expectation;

/* Opens a corpus and checks its mark and version.
 *   in      path of a regular file (the call would block on a FIFO), no symbolic link. Neither
 *           the file nor a journal beside it is ever made, written to or removed, and no other
 *           file is opened. After an interrupted write of another process, which must be
 *           rolled back first: ERR_READ, until a writer opens the corpus (cpubind_store_open)
 *   out     *out, to be closed with cpubind_corpus_close; NULL on failure
 *   errors  ERR_ARG; ERR_OPEN with fault->error, also for a database in WAL mode;
 *           ERR_NO_DATABASE; ERR_NO_CORPUS; ERR_NEWER; ERR_DAMAGED; ERR_READ; ERR_MEMORY;
 *           ERR_BUSY after CPUBIND_CORPUS_WAIT_MS; ERR_JOURNAL if the journal beside it names
 *           another file, is no regular file, or has a second name: a copy of the file alone
 *           can be opened
 *   cost    the first page of the file */
cpubind_corpus_status cpubind_corpus_open(const char *path, cpubind_corpus **out,
                                          cpubind_corpus_fault *fault);

/* All hosts, by ascending name in byte order.
 *   out     *out: *out_n rows in one allocation, to be freed with cpubind_corpus_free_list;
 *           NULL and 0 on failure
 *   errors  ERR_ARG; ERR_LIMIT (CPUBIND_CORPUS_MAX_BYTES for all texts); ERR_NO_CORPUS if the
 *           tables are not those of the schema; ERR_DAMAGED; ERR_READ; ERR_MEMORY; ERR_BUSY
 *           as above
 *   cost    O(bytes of the table hosts) */
cpubind_corpus_status cpubind_corpus_list(cpubind_corpus *corpus, cpubind_corpus_about **out,
                                          int32_t *out_n, cpubind_corpus_fault *fault);

/* Frees a list. NULL is allowed. */
void cpubind_corpus_free_list(cpubind_corpus_about *list);

/* The shape of a host: what was read of its capture in place of the inputs. The texts are valid
 * during the visit. */
typedef struct cpubind_corpus_shape {
    cpubind_corpus_about about; /* its row in the table hosts */
    const char *program;        /* the version that has read it; NULL: the host has no shape */
    const char *body;           /* JSON text as in the table shapes, ended by NUL; or NULL */
    int32_t len;                /* bytes without it */
} cpubind_corpus_shape;

/* Called with a host; a result other than 0 ends the visits. It must not use the corpus. */
typedef int cpubind_corpus_shape_visit(void *ctx, const cpubind_corpus_shape *shape);

/* Visits all hosts, by ascending name in byte order, with their shapes, from one state of the
 * database.
 *   errors  ERR_ARG; ERR_LIMIT (CPUBIND_CORPUS_MAX_...); ERR_DAMAGED; ERR_NO_CORPUS, ERR_READ,
 *           ERR_MEMORY and ERR_BUSY as above. Hosts may have been visited before
 *   cost    O(bytes of the tables hosts and shapes), and memory for one row */
cpubind_corpus_status cpubind_corpus_each_shape(cpubind_corpus *corpus,
                                                cpubind_corpus_shape_visit *visit, void *ctx,
                                                cpubind_corpus_fault *fault);

/* Reads one host: its row, all inputs, all expectations, from one state of the database.
 *   in      name as in the table hosts, matched byte by byte
 *   out     *out, to be closed with cpubind_corpus_close_host; NULL on failure
 *   errors  ERR_ARG; ERR_UNKNOWN_HOST; ERR_LIMIT (CPUBIND_CORPUS_MAX_...); ERR_DAMAGED, also
 *           if bytes do not match their SHA-256; ERR_NO_CORPUS, ERR_READ, ERR_MEMORY and
 *           ERR_BUSY as above
 *   cost    O(bytes of the host) */
cpubind_corpus_status cpubind_corpus_open_host(cpubind_corpus *corpus, const char *name,
                                               cpubind_corpus_host **out,
                                               cpubind_corpus_fault *fault);

/* An open host as a source; valid until the host is closed. An input costs O(log inputs). */
cpubind_source cpubind_corpus_source(cpubind_corpus_host *host);

/* The row of an open host. */
cpubind_corpus_about cpubind_corpus_about_host(const cpubind_corpus_host *host);

/* Its inputs, by ascending name in byte order, but with "/" below every other byte, so that the
 * inputs of a folder are adjacent.
 *   in      0 <= i < cpubind_corpus_n_input(host) */
int32_t cpubind_corpus_n_input(const cpubind_corpus_host *host);
cpubind_corpus_entry cpubind_corpus_input_at(const cpubind_corpus_host *host, int32_t i);

/* Its expectations, by ascending name in byte order.
 *   in      0 <= i < cpubind_corpus_n_expectation(host) */
int32_t cpubind_corpus_n_expectation(const cpubind_corpus_host *host);
cpubind_corpus_expectation cpubind_corpus_expectation_at(const cpubind_corpus_host *host,
                                                         int32_t i);

/* Closes a host and frees all of its answers. NULL is allowed. */
void cpubind_corpus_close_host(cpubind_corpus_host *host);

/* Closes a corpus. Its open hosts stay open. NULL is allowed. */
void cpubind_corpus_close(cpubind_corpus *corpus);

/* "ERR_DAMAGED", or "?" for a number that is no code. Static storage. */
const char *cpubind_corpus_status_name(cpubind_corpus_status status);

/* One English sentence without a full stop. Static storage. */
const char *cpubind_corpus_status_text(cpubind_corpus_status status);

#endif /* CPUBIND_CORPUS_H */
