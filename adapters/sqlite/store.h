/* store.h - changing the hosts of a corpus: a change is made as a whole or not at all
 * SPDX-License-Identifier: MIT
 *
 *   cpubind_store_open("corpus.db", &store, &fault)
 *   cpubind_store_put_host(store, &about, 0, &fault)      a host; then, in any order:
 *   cpubind_store_put_input(store, ...)
 *   cpubind_store_put_expectation(store, ...)
 *   cpubind_store_commit(store, &fault)
 *   cpubind_store_close(store)
 *
 * A change is one transaction of SQLite. It stays in memory until the commit, and readers see
 * the corpus as it was. If the process is killed during the commit, a journal stays beside the
 * file: the next cpubind_store_open rolls it back; until then a reader fails (ERR_READ).
 *
 * The same calls write the same bytes, on every run and machine, except SQLite's own version
 * number in the header (4 bytes at 96).
 *
 * FAILURE  A put, a removal or a renaming that fails with ERR_ARG, ERR_EXISTS, ERR_RULE,
 *          ERR_LIMIT, ERR_UNKNOWN_HOST or ERR_UNKNOWN_CASE has no effect, and the change
 *          continues. Any other failure ends the change: later calls fail in the
 *          same way, and the corpus is as it was. A commit that fails with ERR_BUSY may be
 *          tried again. If a commit fails with ERR_UNSYNCED, the change is in the file, but the
 *          removal of the journal could not be synced: a power failure may undo the change.
 *
 * One thread at a time may use a store.
 */
#ifndef CPUBIND_STORE_H
#define CPUBIND_STORE_H

#include "corpus.h"

typedef struct cpubind_store cpubind_store;

/* Opens a corpus for one change and locks out other writers.
 *   in      path; a missing or empty file becomes a corpus with the schema of
 *           fixtures/schema.sql, to which the first shape adds fixtures/shapes.sql
 *   out     *out, to be closed with cpubind_store_close; NULL on failure
 *   errors  ERR_ARG; ERR_OPEN with fault->error; ERR_NO_DATABASE; ERR_NO_CORPUS, also if the
 *           database contains anything else than the schema; ERR_NEWER; ERR_DAMAGED, also if
 *           SQLite's PRAGMA integrity_check reports an error; ERR_BUSY after
 *           CPUBIND_CORPUS_WAIT_MS; ERR_WRITE if file or folder may not be written;
 *           ERR_FULL; ERR_READ; ERR_MEMORY; ERR_JOURNAL as of cpubind_corpus_open, also if the
 *           journal of an interrupted write belongs neither to the owner of the file nor to
 *           root nor to this user
 *   cost    O(bytes of the file) */
cpubind_corpus_status cpubind_store_open(const char *path, cpubind_store **out,
                                         cpubind_corpus_fault *fault);

/* Adds a host.
 *   in      about: no text is NULL. is_replacing: first deletes the host of this name with its
 *           inputs and expectations; the commit deletes bytes that no input has any more
 *   errors  ERR_ARG; ERR_EXISTS; ERR_RULE; ERR_LIMIT (CPUBIND_CORPUS_MAX_ABOUT); and, as of all
 *           calls below: ERR_FULL, ERR_WRITE, ERR_READ, ERR_DAMAGED, ERR_MEMORY */
cpubind_corpus_status cpubind_store_put_host(cpubind_store *store,
                                             const cpubind_corpus_about *about,
                                             int is_replacing, cpubind_corpus_fault *fault);

/* Adds an input to a host. Equal bytes are stored once; their SHA-256 is computed here.
 *   in      input: PRESENT, or TIMEOUT without bytes. Its err, if it has one, becomes a row of
 *           its own, named as the input with ".err" at the end
 *   errors  ERR_ARG; ERR_RULE, also if the host does not exist, if it has an input of this
 *           name, and if a file and a folder would have one name; ERR_LIMIT (an input over
 *           64 MiB, CPUBIND_CORPUS_MAX_...) */
cpubind_corpus_status cpubind_store_put_input(cpubind_store *store, const char *host,
                                              const char *name, const cpubind_input *input,
                                              cpubind_corpus_fault *fault);

/* Adds an expectation to a host, or replaces the body of the one with this name.
 *   in      body[0 .. len - 1]: JSON as in the table expectations
 *   errors  ERR_ARG; ERR_RULE; ERR_LIMIT (CPUBIND_CORPUS_MAX_...) */
cpubind_corpus_status cpubind_store_put_expectation(cpubind_store *store, const char *host,
                                                    const char *name, const char *body,
                                                    int32_t len, cpubind_corpus_fault *fault);

/* The shape of a host, for cpubind_store_put_shape. */
typedef struct cpubind_store_shape {
    const char *capture; /* the text of NAME.host that it was read of; its SHA-256 is stored */
    int32_t capture_len; /* bytes */
    const char *program; /* the version of the program that has read it */
    const char *body;    /* JSON as in the table shapes, ended by NUL; NULL: not read yet */
} cpubind_store_shape;

/* Adds the shape of a host, which has none.
 *   errors  ERR_ARG; ERR_RULE, also if the host does not exist or has a shape; ERR_LIMIT
 *           (CPUBIND_CORPUS_MAX_SHAPE) */
cpubind_corpus_status cpubind_store_put_shape(cpubind_store *store, const char *host,
                                              const cpubind_store_shape *shape,
                                              cpubind_corpus_fault *fault);

/* Finds the shape that this program has read of this capture.
 *   out     host[0 .. size - 1], ended by NUL: the name of its host, cut where it is longer; ""
 *           when there is none. size >= 1
 *   cost    O(length of the capture + log shapes) */
cpubind_corpus_status cpubind_store_find_shape(cpubind_store *store,
                                               const cpubind_store_shape *shape, char *host,
                                               int32_t size, cpubind_corpus_fault *fault);

/* Removes a host with its inputs and expectations; the commit deletes bytes that no input has
 * any more. Removes one expectation.
 *   errors  ERR_ARG; ERR_UNKNOWN_HOST; ERR_UNKNOWN_CASE */
cpubind_corpus_status cpubind_store_remove_host(cpubind_store *store, const char *host,
                                                cpubind_corpus_fault *fault);
cpubind_corpus_status cpubind_store_remove_expectation(cpubind_store *store, const char *host,
                                                       const char *name,
                                                       cpubind_corpus_fault *fault);

/* Gives a host another name.
 *   errors  ERR_ARG; ERR_UNKNOWN_HOST; ERR_EXISTS, also for its own name; ERR_RULE */
cpubind_corpus_status cpubind_store_rename_host(cpubind_store *store, const char *host,
                                                const char *name, cpubind_corpus_fault *fault);

/* Commits the change and syncs it. After that the store can only be closed.
 *   errors  ERR_ARG; ERR_BUSY if another process still reads after CPUBIND_CORPUS_WAIT_MS;
 *           ERR_UNSYNCED */
cpubind_corpus_status cpubind_store_commit(cpubind_store *store, cpubind_corpus_fault *fault);

/* Closes a store. Without a commit nothing has changed, and a file that cpubind_store_open has
 * made is removed; if the removal fails, an empty file stays. NULL is allowed. */
void cpubind_store_close(cpubind_store *store);

#endif /* CPUBIND_STORE_H */
