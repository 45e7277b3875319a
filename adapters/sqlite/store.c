/* store.c - one change of a corpus
 * SPDX-License-Identifier: MIT
 *
 * A transaction, and in it a savepoint for each put, so that one that is refused leaves nothing
 * behind. When SQLite gives up on its own it rolls back all of it: from then on the store is
 * over, or each further statement would be a transaction by itself.
 */
#include "store.h"

#include <errno.h>
#include <string.h>

#include "../text/input_name.h"
#include "database.h"
#include "schema.h"

/* Every statement that a change may need, prepared when it is first used. */
#define STATEMENTS(X)                                                                          \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                \
    X(COMMIT, "COMMIT")                                                                        \
    X(ROLLBACK, "ROLLBACK")                                                                    \
    X(MARK, "SAVEPOINT put")                                                                   \
    X(UNDO, "ROLLBACK TO put")                                                                 \
    X(KEEP, "RELEASE put")                                                                     \
    X(CHECK, "PRAGMA integrity_check(1)")                                                      \
    X(HAS_HOST, "SELECT 1 FROM hosts WHERE name = ?1")                                         \
    X(DROP_HOST, "DELETE FROM hosts WHERE name = ?1")                                          \
    X(ADD_HOST, "INSERT INTO hosts (" HOST_COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5)")            \
    X(WEIGH_INPUTS, "SELECT count(*), total(octets + coalesce(length(bytes), 0)) FROM"         \
                    " (SELECT length(CAST(name AS BLOB)) + 1 AS octets, content FROM inputs"   \
                    "   WHERE host = ?1) LEFT JOIN contents ON sha256 = content")              \
    X(WEIGH_EXPECTATIONS,                                                                      \
      "SELECT count(*), total(length(CAST(name AS BLOB)) + length(CAST(body AS BLOB)) + 2)"    \
      " FROM expectations WHERE host = ?1")                                                    \
    X(OLD_EXPECTATION, "SELECT length(CAST(name AS BLOB)) + length(CAST(body AS BLOB)) + 2"    \
                       " FROM expectations WHERE host = ?1 AND name = ?2")                     \
    X(HAS_CONTENT, "SELECT bytes = ?2 FROM contents WHERE sha256 = ?1")                        \
    X(ADD_CONTENT, "INSERT INTO contents (sha256, bytes) VALUES (?1, ?2)")                     \
    X(ADD_INPUT, "INSERT INTO inputs (host, name, content, exit_code)"                         \
                 " VALUES (?1, ?2, ?3, ?4)")                                                   \
    X(HAS_INPUT, "SELECT 1 FROM inputs WHERE host = ?1 AND name = ?2")                         \
    X(HAS_BELOW, "SELECT 1 FROM inputs WHERE host = ?1"                                        \
                 " AND name > ?2 || '/' AND name < ?2 || '0' LIMIT 1")                         \
    X(PUT_EXPECTATION, "INSERT INTO expectations (host, name, body) VALUES (?1, ?2, ?3)"       \
                       " ON CONFLICT (host, name) DO UPDATE SET body = excluded.body")         \
    X(SWEEP, "DELETE FROM contents WHERE NOT EXISTS"                                           \
             " (SELECT 1 FROM inputs WHERE content = sha256)")

enum statement {
#define CPUBIND_X(name, sql) name,
    STATEMENTS(CPUBIND_X)
#undef CPUBIND_X
        N_STATEMENT
};

static const char *const sql_of[] = {
#define CPUBIND_X(name, sql) sql,
    STATEMENTS(CPUBIND_X)
#undef CPUBIND_X
};

/* How much a host has; what is limited. */
typedef struct weight {
    char *host; /* whose; NULL: nobody's */
    int64_t n_input, n_expectation, bytes;
} weight;

struct cpubind_store {
    database d;
    sqlite3_stmt *statement[N_STATEMENT];
    int is_new;                 /* there was no file: what is there, and has no byte, is ours */
    int must_sweep;             /* a host has gone: contents may have lost their last user */
    cpubind_corpus_status over; /* what ended the change; OK: it goes on */
    cpubind_corpus_fault fault; /* why */
    weight weight;
};

/* == Statements ============================================================= */

static int use(cpubind_store *store, enum statement which, sqlite3_stmt **out)
{
    int result = SQLITE_OK;
    if (!store->statement[which])
        result = sqlite3_prepare_v3(store->d.db, sql_of[which], -1, SQLITE_PREPARE_PERSISTENT,
                                    &store->statement[which], NULL);
    *out = store->statement[which];
    return result;
}

/* As sqlite3_step; the statement is ready for its next use, and its texts may go. */
static int run(sqlite3_stmt *statement)
{
    int result = sqlite3_step(statement);
    int ended = sqlite3_reset(statement);
    if (ended == SQLITE_OK)
        ended = sqlite3_clear_bindings(statement);
    return result == SQLITE_ROW || result == SQLITE_DONE ? (ended ? ended : result) : result;
}

/* Runs a statement that needs nothing and gives nothing. */
static int run_plain(cpubind_store *store, enum statement which)
{
    sqlite3_stmt *statement = NULL;
    int result = use(store, which, &statement);
    if (result == SQLITE_OK)
        result = run(statement);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

/* Prepares a statement and gives it up to two texts, of which the second may have a length. */
static int use_with(cpubind_store *store, enum statement which, const char *first,
                    const char *second, int len, sqlite3_stmt **out)
{
    int result = use(store, which, out);
    if (result == SQLITE_OK)
        result = sqlite3_bind_text(*out, 1, first, -1, SQLITE_STATIC);
    if (result == SQLITE_OK && second)
        result = sqlite3_bind_text(*out, 2, second, len, SQLITE_STATIC);
    return result;
}

/* SQLITE_ROW, SQLITE_DONE or an error: whether there is such a row. */
static int has_row(cpubind_store *store, enum statement which, const char *first,
                   const char *second, int len)
{
    sqlite3_stmt *query = NULL;
    int result = use_with(store, which, first, second, len, &query);
    return result == SQLITE_OK ? run(query) : result;
}

/* == Ways to end ============================================================ */

static cpubind_corpus_status fail_sqlite(cpubind_store *store, int result)
{
    return cpubind_priv_fail_sqlite(&store->d, result, &store->fault);
}

static cpubind_corpus_status fail(cpubind_store *store, cpubind_corpus_status status,
                                  const char *what)
{
    return cpubind_priv_fail(status, 0, what, &store->fault);
}

/* The answer of a call; on failure the caller gets the reason. */
static cpubind_corpus_status answer(const cpubind_store *store, cpubind_corpus_status status,
                                    cpubind_corpus_fault *fault)
{
    if (status != CPUBIND_CORPUS_OK && fault)
        *fault = store->fault;
    return status;
}

/* Whether a change goes on after this: nothing is wrong with the corpus. */
static int is_harmless(cpubind_corpus_status status)
{
    return status == CPUBIND_CORPUS_OK || status == CPUBIND_CORPUS_ERR_ARG ||
           status == CPUBIND_CORPUS_ERR_EXISTS || status == CPUBIND_CORPUS_ERR_RULE ||
           status == CPUBIND_CORPUS_ERR_LIMIT;
}

static void forget_weight(cpubind_store *store)
{
    sqlite3_free(store->weight.host);
    store->weight = (weight){0};
}

/* == The database =========================================================== */

/* Whether the file has no byte, and is still the one that its name leads to. */
static int look_at_file(cpubind_store *store, int *is_empty, int *has_moved)
{
    sqlite3_file *file = NULL;
    sqlite3_int64 size = -1;
    *has_moved = 0;
    int result =
        sqlite3_file_control(store->d.db, "main", SQLITE_FCNTL_FILE_POINTER, (void *)&file);
    if (result == SQLITE_OK)
        result = file->pMethods ? file->pMethods->xFileSize(file, &size) : SQLITE_CANTOPEN;
    if (result == SQLITE_OK)
        result = sqlite3_file_control(store->d.db, "main", SQLITE_FCNTL_HAS_MOVED, has_moved);
    *is_empty = size == 0;
    return result == SQLITE_NOTFOUND ? SQLITE_OK : result;
}

/* The file is opened as it is, or made. */
static int open_file(cpubind_store *store, const char *path)
{
    int result = cpubind_priv_open(&store->d, path, SQLITE_OPEN_READWRITE);
    if ((result & 0xff) != SQLITE_CANTOPEN || !store->d.db ||
        sqlite3_system_errno(store->d.db) != ENOENT)
        return result;
    cpubind_priv_close(&store->d);
    store->is_new = 1;
    return cpubind_priv_open(&store->d, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

/* Whether the folder of a path is there, and may not be written. SQLite says of a file that it
 * could not make no more than that it is not there. */
static int is_closed_folder(const char *path)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    const char *slash = strrchr(path, '/');
    int is_there = 0, is_open = 1;
    char *folder =
        sqlite3_mprintf("%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    if (folder && vfs &&
        (vfs->xAccess(vfs, folder, SQLITE_ACCESS_EXISTS, &is_there) != SQLITE_OK ||
         vfs->xAccess(vfs, folder, SQLITE_ACCESS_READWRITE, &is_open) != SQLITE_OK))
        is_there = 0;
    sqlite3_free(folder);
    return is_there && !is_open;
}

static cpubind_corpus_status fail_open(cpubind_store *store, const char *path, int result)
{
    cpubind_corpus_status status = fail_sqlite(store, result);
    if (status != CPUBIND_CORPUS_ERR_OPEN || !store->is_new || !is_closed_folder(path))
        return status;
    store->fault.what = "the folder may not be written";
    store->fault.error = EACCES;
    return CPUBIND_CORPUS_ERR_WRITE;
}

/* What must be set before a transaction begins. All that the bytes of the file depend on; the
 * sync of the folder after a commit; nothing is written before it, so that readers go on. */
static int prepare_to_write(cpubind_store *store)
{
    static const char sql[] = "PRAGMA page_size = 4096; PRAGMA auto_vacuum = NONE;"
                              "PRAGMA secure_delete = ON; PRAGMA synchronous = EXTRA;"
                              "PRAGMA temp_store = MEMORY; PRAGMA cache_spill = OFF;";
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_exec(store->d.db, sql, NULL, NULL, NULL);
    /* What ends a change must not fail for want of memory. */
    if (result == SQLITE_OK)
        result = use(store, ROLLBACK, &statement);
    return result == SQLITE_OK ? use(store, BEGIN, &statement) : result;
}

/* Steps for a statement that looks at every row of the corpus, of which a page can hold some
 * hundred. */
static int allow_steps_by_size(cpubind_store *store)
{
    enum { MOST = 1 << 30, OF_PAGE = 64 };
    int64_t n_page = 0;
    int result = cpubind_priv_read_number(&store->d, "PRAGMA page_count", &n_page);
    if (n_page > (MOST - STEPS_OF_CALL) / OF_PAGE)
        n_page = (MOST - STEPS_OF_CALL) / OF_PAGE;
    allow_steps(&store->d, STEPS_OF_CALL + (int32_t)n_page * OF_PAGE);
    return result;
}

/* SQLite's own look at every page and every row. */
static cpubind_corpus_status check_pages(cpubind_store *store)
{
    sqlite3_stmt *check = NULL;
    cpubind_corpus_status status = CPUBIND_CORPUS_OK;
    int result = allow_steps_by_size(store);
    if (result == SQLITE_OK)
        result = use(store, CHECK, &check);
    if (result == SQLITE_OK)
        result = sqlite3_step(check);
    if (result == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(check, 0);
        if (!text)
            status = cpubind_priv_fail_memory(&store->fault);
        else if (strcmp(text, "ok") != 0)
            status = cpubind_priv_fail_at(CPUBIND_CORPUS_ERR_DAMAGED,
                                          "a page does not hold what it should", text,
                                          &store->fault);
    } else {
        status = fail_sqlite(store, result);
    }
    sqlite3_reset(check);
    return status;
}

/* The lock is held: whose file is it? */
static cpubind_corpus_status check_corpus(cpubind_store *store)
{
    sqlite3_stmt *pin = NULL;
    cpubind_corpus_status status = cpubind_priv_check_header(&store->d, &store->fault);
    if (status != CPUBIND_CORPUS_OK)
        return status;
    status = cpubind_priv_check_tables(&store->d, 1, &pin, &store->fault);
    sqlite3_finalize(pin);
    return status == CPUBIND_CORPUS_OK ? check_pages(store) : status;
}

static cpubind_corpus_status make_tables(cpubind_store *store)
{
    allow_steps(&store->d, STEPS_OF_CALL);
    int result = sqlite3_exec(store->d.db, cpubind_priv_corpus_schema, NULL, NULL, NULL);
    return result == SQLITE_OK ? CPUBIND_CORPUS_OK : fail_sqlite(store, result);
}

/* Takes the lock. *is_gone: a process that had made the file has removed it, and this one holds
 * what no name leads to. SQLite may stumble over that when it looks for the name. */
static cpubind_corpus_status lock(cpubind_store *store, int *is_gone)
{
    int is_empty = 0;
    int result = prepare_to_write(store);
    if (result == SQLITE_OK)
        result = run_plain(store, BEGIN);
    cpubind_corpus_status status =
        result == SQLITE_OK ? CPUBIND_CORPUS_OK : fail_sqlite(store, result);
    int looked = look_at_file(store, &is_empty, is_gone);
    if (looked != SQLITE_OK && status == CPUBIND_CORPUS_OK)
        status = fail_sqlite(store, looked);
    if (status != CPUBIND_CORPUS_OK && !*is_gone)
        return status;
    if (*is_gone)
        return fail(store, CPUBIND_CORPUS_ERR_BUSY, "another process has removed the file");
    return is_empty ? make_tables(store) : check_corpus(store);
}

/* A file that is no corpus is told before anything is asked of it that needs its tables, or the
 * lock; one without a byte goes on. */
static cpubind_corpus_status look_first(cpubind_store *store)
{
    int is_empty = 0, has_moved = 0;
    cpubind_corpus_status status = cpubind_priv_check_header(&store->d, &store->fault);
    if (status != CPUBIND_CORPUS_ERR_NO_DATABASE || store->fault.result != SQLITE_OK)
        return status;
    int result = look_at_file(store, &is_empty, &has_moved);
    if (result != SQLITE_OK)
        return fail_sqlite(store, result);
    return is_empty ? CPUBIND_CORPUS_OK : status;
}

static cpubind_corpus_status begin(cpubind_store *store, const char *path, int *is_gone)
{
    int result = open_file(store, path);
    *is_gone = 0;
    if (result != SQLITE_OK)
        return fail_open(store, path, result);
    cpubind_corpus_status status = look_first(store);
    if (status == CPUBIND_CORPUS_OK && sqlite3_db_readonly(store->d.db, "main") == 1)
        status = fail(store, CPUBIND_CORPUS_ERR_WRITE, "the file may not be written");
    return status == CPUBIND_CORPUS_OK ? lock(store, is_gone) : status;
}

/* == Opening and closing ==================================================== */

/* Removes a file that this change has made. Only under the lock, and only when it is empty: who
 * waited for the lock meanwhile finds its file moved, and opens it again. */
static void remove_new(cpubind_store *store)
{
    sqlite3_vfs *vfs = NULL;
    int is_empty = 0, has_moved = 0;
    allow_steps(&store->d, STEPS_OF_SCHEMA);
    sqlite3_busy_timeout(store->d.db, 0);
    /* Without a file of its own: that name may be another's by then. */
    if (sqlite3_exec(store->d.db, "PRAGMA journal_mode = MEMORY", NULL, NULL, NULL) ||
        run_plain(store, BEGIN) || look_at_file(store, &is_empty, &has_moved) || !is_empty ||
        has_moved)
        return;
    if (sqlite3_file_control(store->d.db, "main", SQLITE_FCNTL_VFS_POINTER, (void *)&vfs) ==
        SQLITE_OK)
        vfs->xDelete(vfs, sqlite3_db_filename(store->d.db, "main"), 0);
}

/* Ends the transaction and closes the file. */
static void end(cpubind_store *store)
{
    if (!store->d.db)
        return;
    allow_steps(&store->d, STEPS_OF_CALL);
    if (!sqlite3_get_autocommit(store->d.db))
        run_plain(store, ROLLBACK);
    if (store->is_new && store->d.is_open && sqlite3_get_autocommit(store->d.db))
        remove_new(store);
    for (int i = 0; i < N_STATEMENT; i++) {
        sqlite3_finalize(store->statement[i]);
        store->statement[i] = NULL;
    }
    cpubind_priv_close(&store->d);
    forget_weight(store);
}

cpubind_corpus_status cpubind_store_open(const char *path, cpubind_store **out,
                                         cpubind_corpus_fault *fault)
{
    enum { TRIES = 10 };
    if (out)
        *out = NULL;
    if (!path || !out)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_ARG, EINVAL, "argument", fault);
    if (!*path) /* for SQLite, a database of its own that is gone when it is closed */
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_OPEN, ENOENT, "open", fault);
    cpubind_store *store = sqlite3_malloc64(sizeof *store);
    if (!store)
        return cpubind_priv_fail_memory(fault);
    cpubind_corpus_status status = CPUBIND_CORPUS_OK;
    int is_gone = 0;
    for (int i = 0; i == 0 || (is_gone && i < TRIES); i++) {
        *store = (cpubind_store){.d = {.is_writer = 1}};
        status = begin(store, path, &is_gone);
        if (status != CPUBIND_CORPUS_OK)
            end(store);
    }
    if (status != CPUBIND_CORPUS_OK) {
        answer(store, status, fault);
        sqlite3_free(store);
        return status;
    }
    *out = store;
    return CPUBIND_CORPUS_OK;
}

void cpubind_store_close(cpubind_store *store)
{
    if (!store)
        return;
    end(store);
    sqlite3_free(store);
}

/* Why a commit failed. */
static cpubind_corpus_status fail_commit(cpubind_store *store, int result)
{
    cpubind_corpus_status status = fail_sqlite(store, result);
    if (result != SQLITE_IOERR_DIR_FSYNC) /* said of the journal's removal, the last step */
        return status;
    store->fault.what = "the folder could not be synced";
    return CPUBIND_CORPUS_ERR_UNSYNCED;
}

cpubind_corpus_status cpubind_store_commit(cpubind_store *store, cpubind_corpus_fault *fault)
{
    if (!store)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_ARG, EINVAL, "argument", fault);
    if (store->over != CPUBIND_CORPUS_OK)
        return answer(store, store->over, fault);
    int result = allow_steps_by_size(store);
    if (result == SQLITE_OK && store->must_sweep)
        result = run_plain(store, SWEEP);
    if (result == SQLITE_OK) {
        store->must_sweep = 0;
        result = run_plain(store, COMMIT);
        /* The last step of a commit: the change is in the file, the lock goes with it. */
        if (result == SQLITE_IOERR_UNLOCK)
            result = SQLITE_OK;
    }
    if (result != SQLITE_OK) {
        cpubind_corpus_status status = fail_commit(store, result);
        if (status != CPUBIND_CORPUS_ERR_BUSY || sqlite3_get_autocommit(store->d.db))
            store->over = status;
        return answer(store, status, fault);
    }
    store->is_new = 0;
    store->over = fail(store, CPUBIND_CORPUS_ERR_ARG, "the change is committed");
    store->fault.error = EINVAL;
    return CPUBIND_CORPUS_OK;
}

/* == Puts =================================================================== */

/* A savepoint around a put. */
static cpubind_corpus_status begin_put(cpubind_store *store)
{
    if (store->over != CPUBIND_CORPUS_OK)
        return store->over;
    allow_steps(&store->d, STEPS_OF_CALL);
    int result = run_plain(store, MARK);
    if (result == SQLITE_OK)
        return CPUBIND_CORPUS_OK;
    store->over = fail_sqlite(store, result);
    return store->over;
}

static cpubind_corpus_status end_put(cpubind_store *store, cpubind_corpus_status status)
{
    int result = SQLITE_OK;
    if (status != CPUBIND_CORPUS_OK) {
        cpubind_corpus_fault why = store->fault;
        forget_weight(store);
        if (is_harmless(status))
            result = run_plain(store, UNDO);
        store->fault = why;
    }
    if (result == SQLITE_OK && is_harmless(status))
        result = run_plain(store, KEEP);
    if (result != SQLITE_OK)
        status = fail_sqlite(store, result);
    if (!is_harmless(status))
        store->over = status;
    return status;
}

static cpubind_corpus_status fail_arg(cpubind_corpus_fault *fault)
{
    return cpubind_priv_fail(CPUBIND_CORPUS_ERR_ARG, EINVAL, "argument", fault);
}

static cpubind_corpus_status add_host(cpubind_store *store, const cpubind_corpus_about *about)
{
    const char *const text[] = {about->name, about->product, about->origin, about->npu_smi,
                                about->notes};
    sqlite3_stmt *insert = NULL;
    size_t size = 0;
    int result = use(store, ADD_HOST, &insert);
    for (int i = 0; i < HOST_TEXTS; i++) {
        size += strlen(text[i]) + 1;
        if (result == SQLITE_OK)
            result = sqlite3_bind_text(insert, i + 1, text[i], -1, SQLITE_STATIC);
    }
    if (size > CPUBIND_CORPUS_MAX_ABOUT)
        return fail(store, CPUBIND_CORPUS_ERR_LIMIT, "the texts of a host");
    if (result == SQLITE_OK)
        result = run(insert);
    return result == SQLITE_DONE ? CPUBIND_CORPUS_OK : fail_sqlite(store, result);
}

static cpubind_corpus_status put_host(cpubind_store *store, const cpubind_corpus_about *about,
                                      int is_replacing)
{
    int result = has_row(store, HAS_HOST, about->name, NULL, 0);
    if (result == SQLITE_ROW && !is_replacing)
        return fail(store, CPUBIND_CORPUS_ERR_EXISTS, "a host of this name");
    if (result == SQLITE_ROW) {
        store->must_sweep = 1;
        result = has_row(store, DROP_HOST, about->name, NULL, 0);
    }
    return result == SQLITE_DONE ? add_host(store, about) : fail_sqlite(store, result);
}

cpubind_corpus_status cpubind_store_put_host(cpubind_store *store,
                                             const cpubind_corpus_about *about,
                                             int is_replacing, cpubind_corpus_fault *fault)
{
    if (!store || !about || !about->name || !about->product || !about->origin ||
        !about->npu_smi || !about->notes)
        return fail_arg(fault);
    cpubind_corpus_status status = begin_put(store);
    if (status == CPUBIND_CORPUS_OK) {
        forget_weight(store);
        status = end_put(store, put_host(store, about, is_replacing));
    }
    return answer(store, status, fault);
}

/* Adds a row of (number, bytes) to a sum; the statement gives one row. */
static int add_weight(cpubind_store *store, enum statement which, const char *host, int64_t *n,
                      int64_t *bytes)
{
    sqlite3_stmt *query = NULL;
    int result = use_with(store, which, host, NULL, 0, &query);
    if (result == SQLITE_OK)
        result = sqlite3_step(query);
    if (result == SQLITE_ROW) {
        *n = sqlite3_column_int64(query, 0);
        *bytes += sqlite3_column_int64(query, 1);
        result = SQLITE_OK;
    }
    int ended = query ? sqlite3_reset(query) : SQLITE_OK;
    return result == SQLITE_OK ? ended : result;
}

/* What the host has so far; asked of the tables when it is another host than before. */
static cpubind_corpus_status weigh(cpubind_store *store, const char *host)
{
    weight w = {0};
    if (store->weight.host && strcmp(store->weight.host, host) == 0)
        return CPUBIND_CORPUS_OK;
    int result = add_weight(store, WEIGH_INPUTS, host, &w.n_input, &w.bytes);
    if (result == SQLITE_OK)
        result = add_weight(store, WEIGH_EXPECTATIONS, host, &w.n_expectation, &w.bytes);
    if (result != SQLITE_OK)
        return fail_sqlite(store, result);
    w.host = sqlite3_mprintf("%s", host);
    if (!w.host)
        return cpubind_priv_fail_memory(&store->fault);
    forget_weight(store);
    store->weight = w;
    return CPUBIND_CORPUS_OK;
}

static cpubind_corpus_status check_weight(cpubind_store *store)
{
    const weight *w = &store->weight;
    if (w->n_input <= CPUBIND_CORPUS_MAX_INPUTS &&
        w->n_expectation <= CPUBIND_CORPUS_MAX_INPUTS && w->bytes <= CPUBIND_CORPUS_MAX_BYTES)
        return CPUBIND_CORPUS_OK;
    return fail(store, CPUBIND_CORPUS_ERR_LIMIT, "too many inputs, or too many bytes");
}

/* SQLITE_ROW and *is_equal, SQLITE_DONE, or an error: whether a sum has its bytes already. */
static int has_content(cpubind_store *store, const cpubind_input *input, const char *sum,
                       int *is_equal)
{
    sqlite3_stmt *query = NULL;
    int result = use_with(store, HAS_CONTENT, sum, NULL, 0, &query);
    if (result == SQLITE_OK)
        result = sqlite3_bind_blob(query, 2, input->len ? input->data : "", input->len,
                                   SQLITE_STATIC);
    if (result != SQLITE_OK)
        return result;
    result = sqlite3_step(query);
    *is_equal = result == SQLITE_ROW && sqlite3_column_int(query, 0);
    int ended = sqlite3_reset(query);
    return ended == SQLITE_OK ? result : ended;
}

/* Bytes by their sum. Others under the same sum are damage: the host would not be read back. */
static cpubind_corpus_status put_content(cpubind_store *store, const cpubind_input *input,
                                         const char *sum)
{
    sqlite3_stmt *insert = NULL;
    int is_equal = 0;
    int result = has_content(store, input, sum, &is_equal);
    if (result == SQLITE_ROW)
        return is_equal ? CPUBIND_CORPUS_OK
                        : fail(store, CPUBIND_CORPUS_ERR_DAMAGED,
                               "the bytes of an input are not those of its SHA-256");
    if (result == SQLITE_DONE)
        result = use_with(store, ADD_CONTENT, sum, NULL, 0, &insert);
    if (result == SQLITE_OK)
        result = sqlite3_bind_blob(insert, 2, input->len ? input->data : "", input->len,
                                   SQLITE_STATIC);
    if (result == SQLITE_OK)
        result = run(insert);
    return result == SQLITE_DONE ? CPUBIND_CORPUS_OK : fail_sqlite(store, result);
}

/* No input may have a name that others lie below. The name is sound by now. */
static cpubind_corpus_status check_folders(cpubind_store *store, const char *host,
                                           const char *name)
{
    int result = has_row(store, HAS_BELOW, host, name, -1);
    for (const char *end = strchr(name, '/'); end && result == SQLITE_DONE;
         end = strchr(end + 1, '/'))
        result = has_row(store, HAS_INPUT, host, name, (int)(end - name));
    if (result == SQLITE_ROW)
        return fail(store, CPUBIND_CORPUS_ERR_RULE, "an input and a folder have one name");
    return result == SQLITE_DONE ? CPUBIND_CORPUS_OK : fail_sqlite(store, result);
}

static cpubind_corpus_status add_input(cpubind_store *store, const char *host, const char *name,
                                       const cpubind_input *input, const char *sum)
{
    sqlite3_stmt *insert = NULL;
    int result = use_with(store, ADD_INPUT, host, name, -1, &insert);
    if (result == SQLITE_OK)
        result = sqlite3_bind_text(insert, 3, sum, -1, SQLITE_STATIC);
    if (result == SQLITE_OK && input->state == CPUBIND_INPUT_PRESENT)
        result = sqlite3_bind_int(insert, 4, input->exit_code);
    if (result == SQLITE_OK)
        result = run(insert);
    return result == SQLITE_DONE ? CPUBIND_CORPUS_OK : fail_sqlite(store, result);
}

static cpubind_corpus_status put_input(cpubind_store *store, const char *host, const char *name,
                                       const cpubind_input *input)
{
    char sum[SUM_SIZE];
    if (input->len > INPUT_MAX)
        return fail(store, CPUBIND_CORPUS_ERR_LIMIT, "too many bytes");
    cpubind_corpus_status status = weigh(store, host);
    if (status != CPUBIND_CORPUS_OK)
        return status;
    store->weight.n_input++;
    store->weight.bytes += (int64_t)strlen(name) + 1 + input->len;
    status = check_weight(store);
    cpubind_priv_sum(input->data, (size_t)input->len, sum);
    if (status == CPUBIND_CORPUS_OK)
        status = put_content(store, input, sum);
    if (status == CPUBIND_CORPUS_OK)
        status = add_input(store, host, name, input, sum);
    if (status == CPUBIND_CORPUS_OK && !cpubind_input_is_name(name))
        status = fail(store, CPUBIND_CORPUS_ERR_RULE, "the name of an input breaks the rules");
    return status == CPUBIND_CORPUS_OK ? check_folders(store, host, name) : status;
}

cpubind_corpus_status cpubind_store_put_input(cpubind_store *store, const char *host,
                                              const char *name, const cpubind_input *input,
                                              cpubind_corpus_fault *fault)
{
    if (!store || !host || !name || !input || input->len < 0 || (input->len && !input->data) ||
        (input->state != CPUBIND_INPUT_PRESENT &&
         (input->state != CPUBIND_INPUT_TIMEOUT || input->len)))
        return fail_arg(fault);
    cpubind_corpus_status status = begin_put(store);
    if (status == CPUBIND_CORPUS_OK)
        status = end_put(store, put_input(store, host, name, input));
    return answer(store, status, fault);
}

/* What the expectation weighed that is there already; 0: there is none. */
static cpubind_corpus_status weigh_old(cpubind_store *store, const char *host, const char *name,
                                       int64_t *bytes)
{
    sqlite3_stmt *query = NULL;
    int result = use_with(store, OLD_EXPECTATION, host, name, -1, &query);
    if (result == SQLITE_OK)
        result = sqlite3_step(query);
    *bytes = result == SQLITE_ROW ? sqlite3_column_int64(query, 0) : 0;
    if (result == SQLITE_ROW || result == SQLITE_DONE)
        result = sqlite3_reset(query);
    return result == SQLITE_OK ? CPUBIND_CORPUS_OK : fail_sqlite(store, result);
}

static cpubind_corpus_status put_expectation(cpubind_store *store, const char *host,
                                             const char *name, const char *body, int32_t len)
{
    sqlite3_stmt *insert = NULL;
    int64_t old = 0;
    cpubind_corpus_status status = weigh(store, host);
    if (status == CPUBIND_CORPUS_OK)
        status = weigh_old(store, host, name, &old);
    if (status != CPUBIND_CORPUS_OK)
        return status;
    store->weight.n_expectation += old == 0;
    store->weight.bytes += (int64_t)strlen(name) + len + 2 - old;
    status = check_weight(store);
    if (status != CPUBIND_CORPUS_OK)
        return status;
    int result = use_with(store, PUT_EXPECTATION, host, name, -1, &insert);
    if (result == SQLITE_OK)
        result = sqlite3_bind_text(insert, 3, len ? body : "", len, SQLITE_STATIC);
    if (result == SQLITE_OK)
        result = run(insert);
    return result == SQLITE_DONE ? CPUBIND_CORPUS_OK : fail_sqlite(store, result);
}

cpubind_corpus_status cpubind_store_put_expectation(cpubind_store *store, const char *host,
                                                    const char *name, const char *body,
                                                    int32_t len, cpubind_corpus_fault *fault)
{
    if (!store || !host || !name || len < 0 || (len && !body))
        return fail_arg(fault);
    cpubind_corpus_status status = begin_put(store);
    if (status != CPUBIND_CORPUS_OK)
        return answer(store, status, fault);
    if (len && memchr(body, '\0', (size_t)len))
        status = fail(store, CPUBIND_CORPUS_ERR_RULE, "a NUL in the body of an expectation");
    else
        status = put_expectation(store, host, name, body, len);
    return answer(store, end_put(store, status), fault);
}
