/* store.h - adding hosts to a corpus: all of a change, or nothing of it
 * SPDX-License-Identifier: MIT
 *
 *   cpubind_store_open("corpus.db", &store, &fault)
 *   cpubind_store_put_host(store, &about, 0, &fault)      its row first, then in any order:
 *   cpubind_store_put_input(store, ...)
 *   cpubind_store_put_expectation(store, ...)
 *   cpubind_store_commit(store, &fault)
 *   cpubind_store_close(store)
 *
 * A change is one transaction of SQLite. Readers beside it see the corpus as it was, until the
 * commit; what is put stays in memory till then. A process that is killed in the middle of a
 * commit leaves a journal beside the file: whoever opens a store next rolls it back, and until
 * then a reader says so (ERR_READ).
 *
 * The same calls give the same bytes, on every run and machine, but for the version number that
 * SQLite writes into the header (4 bytes at 96).
 *
 * FAILURE  A put that fails with ERR_ARG, ERR_EXISTS, ERR_RULE or ERR_LIMIT has put nothing,
 *          and the change goes on without it. After any other failure the change is over: what
 *          follows fails in the same way, and the corpus is as it was. A commit that is
 *          ERR_BUSY may be tried again.
 *          One case is between the two: ERR_UNSYNCED of a commit. The journal is gone and the
 *          folder cannot be synced: the change is in the file, but may be undone when the power
 *          fails.
 *
 * One thread at a time may use a store.
 */
#ifndef CPUBIND_STORE_H
#define CPUBIND_STORE_H

#include "corpus.h"

typedef struct cpubind_store cpubind_store;

/* Opens a corpus for one change, which no other process can make at the same time.
 *   in      path; a file that is not there, or that is empty, becomes a corpus with the schema
 *           of fixtures/schema.sql
 *   out     *out, to be closed with cpubind_store_close; NULL on failure
 *   errors  ERR_ARG; ERR_OPEN with fault->error; ERR_NO_DATABASE; ERR_NO_CORPUS, also when
 *           anything stands in the database that is not of the schema; ERR_NEWER; ERR_DAMAGED,
 *           also when the check of SQLite (PRAGMA integrity_check) finds something; ERR_BUSY
 *           after CPUBIND_CORPUS_WAIT_MS; ERR_WRITE when file or folder may not be written;
 *           ERR_FULL; ERR_READ; ERR_MEMORY
 *   cost    O(bytes of the file) */
cpubind_corpus_status cpubind_store_open(const char *path, cpubind_store **out,
                                         cpubind_corpus_fault *fault);

/* Adds a host.
 *   in      about: no text NULL; is_replacing: one of this name goes first, with its inputs,
 *           its expectations and, at the commit, the bytes that nobody else has
 *   errors  ERR_ARG; ERR_EXISTS; ERR_RULE; ERR_LIMIT (CPUBIND_CORPUS_MAX_ABOUT); and, as of all
 *           calls below: ERR_FULL, ERR_WRITE, ERR_READ, ERR_DAMAGED, ERR_MEMORY */
cpubind_corpus_status cpubind_store_put_host(cpubind_store *store,
                                             const cpubind_corpus_about *about,
                                             int is_replacing, cpubind_corpus_fault *fault);

/* Adds an input to a host. Equal bytes are stored once; their SHA-256 is computed here.
 *   in      input: PRESENT, or TIMEOUT without bytes
 *   errors  ERR_ARG; ERR_RULE, also when the host is not there, when it has an input of this
 *           name, and when a file and a folder would have one name; ERR_LIMIT (an input over
 *           64 MiB, CPUBIND_CORPUS_MAX_...) */
cpubind_corpus_status cpubind_store_put_input(cpubind_store *store, const char *host,
                                              const char *name, const cpubind_input *input,
                                              cpubind_corpus_fault *fault);

/* Adds an expectation to a host, or gives one that is there another body.
 *   in      body[0 .. len - 1]: JSON as in the table expectations
 *   errors  ERR_ARG; ERR_RULE; ERR_LIMIT (CPUBIND_CORPUS_MAX_...) */
cpubind_corpus_status cpubind_store_put_expectation(cpubind_store *store, const char *host,
                                                    const char *name, const char *body,
                                                    int32_t len, cpubind_corpus_fault *fault);

/* Makes the change durable. After that the store can only be closed.
 *   errors  ERR_ARG; ERR_BUSY when another process still reads after CPUBIND_CORPUS_WAIT_MS;
 *           ERR_UNSYNCED */
cpubind_corpus_status cpubind_store_commit(cpubind_store *store, cpubind_corpus_fault *fault);

/* Ends a change. Without a commit nothing has changed, and a file that this change made is gone
 * again, unless even that failed: then it is left empty. NULL is allowed. */
void cpubind_store_close(cpubind_store *store);

#endif /* CPUBIND_STORE_H */
