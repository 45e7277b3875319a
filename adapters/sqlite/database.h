/* database.h - private to adapters/sqlite: a connection to a file that may be hostile
 * SPDX-License-Identifier: MIT
 *
 * The reader (corpus*.c) and the writer (store.c) share this: opening a file, the meaning of
 * SQLite's result codes, the checks of header and tables, and texts that grow. Only the .c
 * files of this folder include this header.
 *
 * A hostile database can be made slow: trees of pages with loops in them, computed columns.
 * Therefore the text of every table must be that of fixtures/schema.sql, or shapes.sql beside
 * it, before a table is read, rows must ascend where several are read, and SQLite is
 * interrupted when it has made more steps than a corpus can need.
 *
 * ERRORS  A function of this folder returns an int if it only calls SQLite (its result code),
 *         else a `failure` by value. The public functions return the status and copy the fault.
 */
#ifndef CPUBIND_SQLITE_DATABASE_H
#define CPUBIND_SQLITE_DATABASE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "corpus.h"
#include "own_files.h"

#define INPUT_MAX (64 << 20)

/* What the name of a row ends in that holds the stderr of command cmd/NAME.txt. */
#define ERR_END ".err"

/* A connection. It must not move while it is open. */
typedef struct database {
    sqlite3 *db;
    own_files files; /* the only ones that SQLite may use */
    int is_writer;
    int is_open;    /* 0: `db` only holds the reason why it could not be opened */
    int has_shapes; /* the tables of fixtures/shapes.sql are there, by the last check */
    int32_t left;   /* thousands of steps that SQLite may still make */
} database;

/* Steps, in thousands: to parse the tables of the schema, and for one call. */
#define STEPS_OF_SCHEMA 40
#define STEPS_OF_CALL   20000

struct cpubind_corpus {
    database d;
};

/* == Failures =============================================================== */

/* Why a function failed. Status 0 (CPUBIND_CORPUS_OK): it succeeded, the fault is empty. */
typedef struct failure {
    cpubind_corpus_status status;
    cpubind_corpus_fault fault;
} failure;

#define no_failure ((failure){0})

failure cpubind_priv_fail(cpubind_corpus_status status, int error, const char *what);
failure cpubind_priv_fail_argument(void);
failure cpubind_priv_fail_memory(void);

/* With a text from the file in fault.message, in which control characters become '?'. */
failure cpubind_priv_fail_at(cpubind_corpus_status status, const char *what,
                             const char *message);

/* The failure that SQLite has just reported; the connection may not be open. */
failure cpubind_priv_fail_sqlite(const database *d, int result);

/* The end of a public function: copies the fault of a failure to *fault, which may be NULL. */
cpubind_corpus_status cpubind_priv_report(const failure *f, cpubind_corpus_fault *fault);

/* == The connection ========================================================= */

/* Opens the file with no more rights than a reader, or a writer, needs. To be closed with
 * cpubind_priv_close, also after a failure.
 *   in      flags of sqlite3_open_v2; d->is_writer
 *   errors  results of SQLite */
int cpubind_priv_open(database *d, const char *path, int flags);

/* Closes the connection. Every statement must be finalized before. */
void cpubind_priv_close(database *d);

/* Sets how many thousands of steps SQLite may make from now on. */
static inline void allow_steps(database *d, int32_t thousands)
{
    d->left = thousands;
}

/* The first column of the only row of a query. Results of SQLite. */
int cpubind_priv_read_number(const database *d, const char *sql, int64_t *out);

/* Checks application_id and user_version, which are in the first page. An empty file is
 * ERR_NO_DATABASE. */
failure cpubind_priv_check_header(const database *d);

/* Checks that the tables are those of a corpus, by their text, and whether it has those of
 * shapes: d->has_shapes.
 *   in      is_alone: the database must contain nothing else
 *   out     *pin: a statement in the middle of its rows. Until it is finalized, everything that
 *           is read is of one state of the database. The caller finalizes it, also after a
 *           failure */
failure cpubind_priv_check_tables(database *d, int is_alone, sqlite3_stmt **pin);

/* Finalizes `pin`. After a failure it also drops SQLite's cache: SQLite does not check a page
 * in its cache again. */
void cpubind_priv_end_reading(const database *d, sqlite3_stmt *pin, int has_failed);

/* == Rows =================================================================== */

/* Texts and bytes in one allocation, each followed by NUL. {0} is an empty one. */
typedef struct text_pool {
    char *bytes;
    size_t len, cap;
} text_pool;

/* Appends n bytes and a NUL; *at: where they begin. SQLITE_OK or SQLITE_NOMEM. */
int cpubind_priv_append(text_pool *pool, const void *bytes, size_t n, size_t *at);

/* Whether a text may be the name of a host or of an expectation, as the schema defines it. */
int cpubind_priv_is_word(const char *text);

/* Whether a text is not empty and contains no control character. */
int cpubind_priv_is_line(const char *text);

/* The SHA-256 as lower-case digits, followed by NUL. */
#define SUM_SIZE 65
void cpubind_priv_sum(const void *bytes, size_t n, char sum[SUM_SIZE]);

/* The columns of a host, in the order of cpubind_corpus_about. */
#define HOST_COLUMNS "name, product, origin, npu_smi, notes"
#define HOST_TEXTS   5

/* Appends the texts of a row of HOST_COLUMNS; *at: where the first begins. */
failure cpubind_priv_append_about(sqlite3_stmt *query, text_pool *pool, size_t *at);

/* The appended texts as pointers, once the pool has its final place; *next: where they end. */
cpubind_corpus_about cpubind_priv_about_at(const char *texts, const char **next);

/* The text of a column. A column that is no text, or contains NUL, is ERR_DAMAGED. */
failure cpubind_priv_text(sqlite3_stmt *query, int column, const char **out);

#endif /* CPUBIND_SQLITE_DATABASE_H */
