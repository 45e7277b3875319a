/* database.h - private to adapters/sqlite: a database in memory that may be hostile
 * SPDX-License-Identifier: MIT
 *
 * The readers (corpus.c, corpus_host.c) and the writer (store.c) share this. A hostile database
 * can be made slow: trees of pages with loops in them, computed columns. Therefore the text of
 * every table must be that of fixtures/schema.sql, or shapes.sql beside it, before a table is
 * read, rows must ascend where several are read, and SQLite is interrupted when it has made
 * more steps than a corpus can need.
 */
#ifndef CPUBIND_SQLITE_DATABASE_H
#define CPUBIND_SQLITE_DATABASE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "corpus.h"

/* Most bytes of an input. */
#define INPUT_MAX (64 << 20)

/* What the name of a row ends in that holds the stderr of command cmd/NAME.txt. */
#define ERR_END ".err"

typedef cpubind_corpus_fault failure;

struct cpubind_corpus {
    sqlite3 *db;
    int may_change;
    int has_shapes; /* the tables of fixtures/shapes.sql are there */
    int32_t size;   /* thousands of steps that reading all of it may need */
    int32_t left;   /* thousands of steps that SQLite may still make */
    /* Of a change: */
    failure failed;       /* its first failure */
    char *host;           /* the host that it is at, which is to be read once; or NULL */
    unsigned char *bytes; /* the finished corpus */
};

/* fixtures/schema.sql, and what fixtures/shapes.sql adds to it; each followed by NUL. The
 * Makefile generates schema.c below BUILD. */
extern const char cpubind_priv_corpus_schema[];
extern const char cpubind_priv_shapes_schema[];

failure cpubind_priv_fail(cpubind_corpus_status status, const char *what);

/* The failure of a result of SQLite, with its message. */
failure cpubind_priv_fail_sqlite(const cpubind_corpus *corpus, int result);

/* Finds a statement, or prepares it, and binds its parameters.
 *   in      types: one character for each parameter: 's' for a text, NULL for none; 'b' for
 *           bytes and their number, an int. They must stay as they are until the last step
 *   out     *out, which closing the corpus finalizes, and the next use of the same text resets.
 *           NULL: its first step is made here, and it is reset
 *   returns SQLITE_OK, or of the first step SQLITE_ROW or SQLITE_DONE; or an error */
int cpubind_priv_ask(cpubind_corpus *corpus, sqlite3_stmt **out, const char *sql,
                     const char *types, ...);

/* The texts of a row, in the order of their columns. */
#define ABOUT_TEXTS(about)                                                                     \
    {                                                                                          \
        &(about)->name, &(about)->product, &(about)->origin, &(about)->npu_smi,                \
            &(about)->notes, &(about)->program, &(about)->shape                                \
    }

/* The text of a column. One that is no text, or contains NUL, is ERR_DAMAGED. */
failure cpubind_priv_text(sqlite3_stmt *query, int column, const char **out);

/* As cpubind_corpus_each; of the host of a name alone, unless it is NULL. */
failure cpubind_priv_each(cpubind_corpus *corpus, const char *name, cpubind_corpus_visit *visit,
                          void *ctx);

#endif /* CPUBIND_SQLITE_DATABASE_H */
