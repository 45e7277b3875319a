/* corpus.h - the corpus: many hosts in one SQLite database, each behind the seam
 * SPDX-License-Identifier: MIT
 *
 * The way to read it; store.h is the way to add to it. What the tables hold stands in
 * fixtures/schema.sql. Nothing here writes, prints or exits. The file may come from a stranger:
 * whatever its bytes are, each call ends with an answer or a status, and soon.
 *
 * One thread at a time may use a corpus or a host; several are independent. A host does not
 * need the corpus that it was opened from: either may be closed first.
 *
 * ANSWERS  A host is read once, when it is opened, from one state of the database. After that
 *          its answers are look-ups in memory: a writer beside the reader changes none. The
 *          bytes of each input are those of its SHA-256, or the host is not opened.
 *          Names are matched byte by byte. A name that no input has: ABSENT.
 *          A name that other inputs lie below is a folder. Read: FAILED, EISDIR; listed: the
 *          distinct next parts of the names below it. Folders without inputs do not exist, and
 *          neither does cmd/NAME.exit of a snapshot folder: its number is the exit code.
 *          A command without an exit code did not end in time: TIMEOUT.
 *          An input over 64 MiB: TOO_LONG. A listing over 4 MiB: TOO_LONG.
 *          An input whose bytes are not in the file: FAILED, EIO, "content".
 *          A name that breaks the rules of the seam: FAILED, EINVAL, "name".
 *          No memory for a listing: FAILED, ENOMEM, "memory"; asked again, it is tried again.
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
    X(ERR_UNSYNCED, -315, "the change is made, but may be undone if the power fails")

typedef enum cpubind_corpus_status {
#define CPUBIND_X(name, value, text) CPUBIND_CORPUS_##name = value,
    CPUBIND_CORPUS_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_corpus_status;

/* The schema that is read: user_version of the database. */
#define CPUBIND_CORPUS_VERSION 1

/* The mark of a corpus: application_id of the database, "CPUB". */
#define CPUBIND_CORPUS_APPLICATION 0x43505542

/* How long a reader waits for a writer, and a writer for others. */
#define CPUBIND_CORPUS_WAIT_MS 2000

/* The most inputs of a host, and the most expectations; the most bytes of all of these
 * together, names included; the most bytes of the texts of a row of hosts. */
#define CPUBIND_CORPUS_MAX_INPUTS 65536
#define CPUBIND_CORPUS_MAX_BYTES  (1 << 28)
#define CPUBIND_CORPUS_MAX_ABOUT  (1 << 20)

#define CPUBIND_CORPUS_MESSAGE 240

/* What went wrong, for a message; filled on failure only. */
typedef struct cpubind_corpus_fault {
    int32_t result;   /* extended result code of SQLite, 0 when SQLite found nothing wrong */
    int32_t error;    /* errno when the system said no (ENOENT, EISDIR, ...), else 0 */
    const char *what; /* static English clause: "the file is empty"; never NULL */
    char message[CPUBIND_CORPUS_MESSAGE]; /* the words of SQLite, or "": printable ASCII, cut
                                             to the room there is, ended by NUL */
} cpubind_corpus_fault;

/* A database that is open, and a host that was read from one. */
typedef struct cpubind_corpus cpubind_corpus;
typedef struct cpubind_corpus_host cpubind_corpus_host;

/* A host as the table hosts has it. The texts end in NUL, hold no byte below a blank, and live
 * as long as what gave them. */
typedef struct cpubind_corpus_about {
    const char *name, *product, *origin, *npu_smi, *notes;
} cpubind_corpus_about;

/* An input of a host. */
typedef struct cpubind_corpus_entry {
    const char *name;
    const char *sha256;  /* 64 digits; NULL where the bytes are not in the file */
    cpubind_input input; /* as the source answers it */
} cpubind_corpus_entry;

/* What must come of a host. */
typedef struct cpubind_corpus_expectation {
    const char *name; /* CASE of expect/CASE.json */
    const char *body; /* JSON text, ended by NUL */
    int32_t len;      /* bytes without it */
} cpubind_corpus_expectation;

/* Opens a corpus, and looks at whose file it is and at its version.
 *   in      path of a regular file (a FIFO would be waited for). It is never made, and never
 *           written: an interrupted write of another process that must be rolled back first
 *           is ERR_READ, until a writer has opened the corpus (cpubind_store_open)
 *   out     *out, to be closed with cpubind_corpus_close; NULL on failure
 *   errors  ERR_ARG; ERR_OPEN with fault->error; ERR_NO_DATABASE; ERR_NO_CORPUS; ERR_NEWER;
 *           ERR_DAMAGED; ERR_READ; ERR_MEMORY; ERR_BUSY after CPUBIND_CORPUS_WAIT_MS
 *   cost    the first page of the file */
cpubind_corpus_status cpubind_corpus_open(const char *path, cpubind_corpus **out,
                                          cpubind_corpus_fault *fault);

/* All hosts, by ascending name in byte order.
 *   out     *out: *out_n rows in one allocation, to be freed with cpubind_corpus_free_list;
 *           NULL and 0 on failure
 *   errors  ERR_ARG; ERR_LIMIT (CPUBIND_CORPUS_MAX_BYTES for all texts); ERR_NO_CORPUS when the
 *           tables are not those of the schema; ERR_DAMAGED; ERR_READ; ERR_MEMORY; ERR_BUSY
 *           as above
 *   cost    O(bytes of the table hosts) */
cpubind_corpus_status cpubind_corpus_list(cpubind_corpus *corpus, cpubind_corpus_about **out,
                                          int32_t *out_n, cpubind_corpus_fault *fault);

/* NULL is allowed. */
void cpubind_corpus_free_list(cpubind_corpus_about *list);

/* Reads one host: its row, all inputs, all expectations, of one state of the database.
 *   in      name as in the table hosts, matched byte by byte
 *   out     *out, to be closed with cpubind_corpus_close_host; NULL on failure
 *   errors  ERR_ARG; ERR_UNKNOWN_HOST; ERR_LIMIT (CPUBIND_CORPUS_MAX_...); ERR_DAMAGED, also
 *           where bytes are not those of their SHA-256; ERR_NO_CORPUS, ERR_READ, ERR_MEMORY and
 *           ERR_BUSY as above
 *   cost    O(bytes of the host) */
cpubind_corpus_status cpubind_corpus_open_host(cpubind_corpus *corpus, const char *name,
                                               cpubind_corpus_host **out,
                                               cpubind_corpus_fault *fault);

/* The seam of an open host; valid until the host is closed. An input: O(log inputs) */
cpubind_source cpubind_corpus_source(cpubind_corpus_host *host);

/* The row of an open host. */
cpubind_corpus_about cpubind_corpus_about_host(const cpubind_corpus_host *host);

/* Its inputs, by ascending name in byte order, but with "/" below every other byte: what lies
 * in a folder stands together.
 *   in      0 <= i < cpubind_corpus_n_input(host) */
int32_t cpubind_corpus_n_input(const cpubind_corpus_host *host);
cpubind_corpus_entry cpubind_corpus_input_at(const cpubind_corpus_host *host, int32_t i);

/* Its expectations, by ascending name in byte order.
 *   in      0 <= i < cpubind_corpus_n_expectation(host) */
int32_t cpubind_corpus_n_expectation(const cpubind_corpus_host *host);
cpubind_corpus_expectation cpubind_corpus_expectation_at(const cpubind_corpus_host *host,
                                                         int32_t i);

/* Closes a host and frees every answer that it gave. NULL is allowed. */
void cpubind_corpus_close_host(cpubind_corpus_host *host);

/* Closes a corpus; hosts that were read from it stay. NULL is allowed. */
void cpubind_corpus_close(cpubind_corpus *corpus);

/* "ERR_DAMAGED", or "?" for a number that is no code. Static storage. */
const char *cpubind_corpus_status_name(cpubind_corpus_status status);

/* One English sentence without a full stop. Static storage. */
const char *cpubind_corpus_status_text(cpubind_corpus_status status);

#endif /* CPUBIND_CORPUS_H */
