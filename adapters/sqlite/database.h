/* database.h - private to adapters/sqlite: a connection that trusts nothing in the file
 * SPDX-License-Identifier: MIT
 *
 * What the reader and the writer share: opening, what a result code of SQLite means, whose file
 * it is, and bytes that grow. Only the .c files of this folder may include it.
 *
 * A database may be made to be slow: tables that are trees with loops in them, columns that are
 * computed. Therefore the tables must be those of fixtures/schema.sql by their text, before
 * anything is asked of them; rows must ascend where they are read one after the other; and
 * SQLite stops when it has made more steps than a corpus can need.
 */
#ifndef CPUBIND_SQLITE_DATABASE_H
#define CPUBIND_SQLITE_DATABASE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "corpus.h"

#define INPUT_MAX (64 << 20)

/* A connection. It must not move while it is open. */
typedef struct database {
    sqlite3 *db;
    int is_writer;
    int is_open;  /* else `db` only says why it is not */
    int32_t left; /* thousands of steps that SQLite may still make */
} database;

/* Steps, in thousands: to parse the tables of the schema, and for one call. */
#define STEPS_OF_SCHEMA 40
#define STEPS_OF_CALL   20000

struct cpubind_corpus {
    database d;
};

/* == Faults ================================================================= */

cpubind_corpus_status cpubind_priv_fail(cpubind_corpus_status status, int error,
                                        const char *what, cpubind_corpus_fault *fault);
cpubind_corpus_status cpubind_priv_fail_memory(cpubind_corpus_fault *fault);

/* The same with a word of the file in fault->message, without what a terminal would obey. */
cpubind_corpus_status cpubind_priv_fail_at(cpubind_corpus_status status, const char *what,
                                           const char *message, cpubind_corpus_fault *fault);

/* The fault that SQLite has just reported; the connection may not be open. */
cpubind_corpus_status cpubind_priv_fail_sqlite(const database *d, int result,
                                               cpubind_corpus_fault *fault);

/* == The connection ========================================================= */

/* Opens the file with nothing but what a reader, or a writer, needs. Closed with
 * cpubind_priv_close, on failure too.
 *   in      flags of sqlite3_open_v2; d->is_writer
 *   errors  results of SQLite */
int cpubind_priv_open(database *d, const char *path, int flags);

/* Closes what is open; every statement must be gone. */
void cpubind_priv_close(database *d);

/* Allows that many thousands of steps from here on. */
static inline void allow_steps(database *d, int32_t thousands)
{
    d->left = thousands;
}

/* The one number that a statement gives. Results of SQLite. */
int cpubind_priv_read_number(const database *d, const char *sql, int64_t *out);

/* Whose file it is, and which version of the schema: both stand in the first page. A file
 * without a byte is ERR_NO_DATABASE. */
cpubind_corpus_status cpubind_priv_check_header(const database *d, cpubind_corpus_fault *fault);

/* Whether the tables are those of a corpus, by their text.
 *   in      is_alone: nothing else may be in the database
 *   out     *pin: a statement in the middle of its rows. As long as it is not finalized, all
 *           that is read is of one state of the database. Finalized by the caller, always */
cpubind_corpus_status cpubind_priv_check_tables(database *d, int is_alone, sqlite3_stmt **pin,
                                                cpubind_corpus_fault *fault);

/* Lets the state of the database go. After a failure the pages go too: SQLite does not look a
 * second time at a page that it has found damaged. */
void cpubind_priv_end_reading(const database *d, sqlite3_stmt *pin,
                              cpubind_corpus_status status);

/* == Rows =================================================================== */

/* Texts and bytes, one after the other. {0} is an empty one. */
typedef struct pile {
    char *bytes;
    size_t len, cap;
} pile;

/* Adds n bytes and a NUL. SQLITE_NOMEM, or SQLITE_OK and their place in *at. */
int cpubind_priv_pile(pile *p, const void *bytes, size_t n, size_t *at);

/* Whether a text may be the name of a host or of an expectation: the schema says which. */
int cpubind_priv_is_word(const char *text);

/* Whether a text, ended by NUL, is not empty and holds no byte below a blank. */
int cpubind_priv_is_line(const char *text);

/* Lower-case digits of the SHA-256, ended by NUL. */
#define SUM_SIZE 65
void cpubind_priv_sum(const void *bytes, size_t n, char sum[SUM_SIZE]);

/* The columns of a host, in the order of the struct. */
#define HOST_COLUMNS "name, product, origin, npu_smi, notes"
#define HOST_TEXTS   5

/* A row of HOST_COLUMNS, each text with its NUL behind the one before. */
cpubind_corpus_status cpubind_priv_take_about(sqlite3_stmt *query, pile *texts, size_t *at,
                                              cpubind_corpus_fault *fault);

/* The texts that were taken, once the pile no longer moves; *next: where they end. */
cpubind_corpus_about cpubind_priv_about_at(const char *texts, const char **next);

/* A text of a column without a NUL in it; NULL and a fault when it is none. */
const char *cpubind_priv_text(sqlite3_stmt *query, int column, cpubind_corpus_status *status,
                              cpubind_corpus_fault *fault);

#endif /* CPUBIND_SQLITE_DATABASE_H */
