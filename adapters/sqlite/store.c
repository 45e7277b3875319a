/* store.c - one change of a corpus
 * SPDX-License-Identifier: MIT
 *
 * The contracts are in store.h. A change is a transaction with a savepoint for each put, so
 * that a refused put has no effect. If SQLite rolls back the whole transaction on its own, the
 * change has ended: another statement would be a transaction of its own.
 */
#include "store.h"

#include <errno.h>
#include <string.h>

#include "../text/input_name.h"
#include "database.h"
#include "schema.h"

/* Every statement of a change; each is prepared at its first use. */
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
    X(RENAME_HOST, "UPDATE hosts SET name = ?2 WHERE name = ?1")                               \
    X(SIZE_OF_INPUTS, "SELECT count(*), total(octets + coalesce(length(bytes), 0)) FROM"       \
                      " (SELECT length(CAST(name AS BLOB)) + 1 AS octets, content FROM inputs" \
                      "   WHERE host = ?1) LEFT JOIN contents ON sha256 = content")            \
    X(SIZE_OF_EXPECTATIONS,                                                                    \
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
    X(DROP_EXPECTATION, "DELETE FROM expectations WHERE host = ?1 AND name = ?2")              \
    X(FIND_SHAPE, "SELECT host FROM shapes WHERE capture = ?1 AND program = ?2")               \
    X(ADD_SHAPE, "INSERT INTO shapes (host, capture, program, shape)"                          \
                 " VALUES (?1, ?2, ?3, ?4)")                                                   \
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

/* The size of a host, which has limits. */
typedef struct host_size {
    char *host; /* its name, or NULL: not known */
    int64_t n_input, n_expectation, bytes;
} host_size;

struct cpubind_store {
    database d;
    sqlite3_stmt *statement[N_STATEMENT];
    int is_new;     /* this change has made the file: it is removed if it stays empty */
    int must_sweep; /* a host was deleted: some contents may have no input left */
    failure ended;  /* why the change has ended; no failure: it goes on */
    host_size size; /* of the host of the last put */
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

/* As sqlite3_step. Resets the statement; its parameters are no longer used. */
static int run(sqlite3_stmt *statement)
{
    int result = sqlite3_step(statement);
    int ended = sqlite3_reset(statement);
    if (ended == SQLITE_OK)
        ended = sqlite3_clear_bindings(statement);
    return result == SQLITE_ROW || result == SQLITE_DONE ? (ended ? ended : result) : result;
}

/* Runs a statement without parameters and rows. */
static int run_plain(cpubind_store *store, enum statement which)
{
    sqlite3_stmt *statement = NULL;
    int result = use(store, which, &statement);
    if (result == SQLITE_OK)
        result = run(statement);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

/* Prepares a statement and binds one or two texts; `len` is the length of the second, or -1. */
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

/* Whether the query has a row: SQLITE_ROW, SQLITE_DONE or an error. */
static int has_row(cpubind_store *store, enum statement which, const char *first,
                   const char *second, int len)
{
    sqlite3_stmt *query = NULL;
    int result = use_with(store, which, first, second, len, &query);
    return result == SQLITE_OK ? run(query) : result;
}

/* == Failures =============================================================== */

static failure fail_sqlite(const cpubind_store *store, int result)
{
    return cpubind_priv_fail_sqlite(&store->d, result);
}

/* Whether a change continues after this failure: the corpus is sound, the put had no effect. */
static int is_harmless(const failure *f)
{
    return f->status == CPUBIND_CORPUS_OK || f->status == CPUBIND_CORPUS_ERR_ARG ||
           f->status == CPUBIND_CORPUS_ERR_EXISTS || f->status == CPUBIND_CORPUS_ERR_RULE ||
           f->status == CPUBIND_CORPUS_ERR_LIMIT ||
           f->status == CPUBIND_CORPUS_ERR_UNKNOWN_HOST ||
           f->status == CPUBIND_CORPUS_ERR_UNKNOWN_CASE;
}

static void forget_size(cpubind_store *store)
{
    sqlite3_free(store->size.host);
    store->size = (host_size){0};
}

/* == The database =========================================================== */

/* Whether the file is empty, and whether its name now belongs to another file or none. */
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

/* Opens the file, or makes it. */
static int open_file(cpubind_store *store, const char *path)
{
    int result = cpubind_priv_open(&store->d, path, SQLITE_OPEN_READWRITE);
    if ((result & 0xff) != SQLITE_CANTOPEN || !store->d.db ||
        sqlite3_system_errno(store->d.db) != ENOENT)
        return result;
    result = cpubind_priv_check_journal(&store->d.files);
    if (result != SQLITE_OK)
        return result;
    cpubind_priv_close(&store->d);
    store->is_new = 1;
    return cpubind_priv_open(&store->d, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

/* Whether the folder of a path exists and may not be written to. For a file that SQLite cannot
 * make, it only reports that the file does not exist. */
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

static failure fail_open(cpubind_store *store, const char *path, int result)
{
    failure f = fail_sqlite(store, result);
    if (f.status != CPUBIND_CORPUS_ERR_OPEN || !store->is_new || !is_closed_folder(path))
        return f;
    f.status = CPUBIND_CORPUS_ERR_WRITE;
    f.fault.what = "the folder may not be written";
    f.fault.error = EACCES;
    return f;
}

/* Sets, before the transaction begins, every option that decides the bytes of the file, the
 * sync of the folder after a commit, and that no page is written before the commit, so that
 * readers can continue. */
static int prepare_to_write(cpubind_store *store)
{
    static const char sql[] = "PRAGMA page_size = 4096; PRAGMA auto_vacuum = NONE;"
                              "PRAGMA secure_delete = ON; PRAGMA synchronous = EXTRA;"
                              "PRAGMA cache_spill = OFF;";
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_exec(store->d.db, sql, NULL, NULL, NULL);
    /* ROLLBACK must not fail for lack of memory: it is prepared now. */
    if (result == SQLITE_OK)
        result = use(store, ROLLBACK, &statement);
    return result == SQLITE_OK ? use(store, BEGIN, &statement) : result;
}

/* Allows the steps of a statement that reads every row of the corpus; a page can hold about a
 * hundred rows. */
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

/* Lets SQLite check every page and every row. */
static failure check_pages(cpubind_store *store)
{
    sqlite3_stmt *check = NULL;
    failure f = no_failure;
    int result = allow_steps_by_size(store);
    if (result == SQLITE_OK)
        result = use(store, CHECK, &check);
    if (result == SQLITE_OK)
        result = sqlite3_step(check);
    if (result == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(check, 0);
        if (!text)
            f = cpubind_priv_fail_memory();
        else if (strcmp(text, "ok") != 0)
            f = cpubind_priv_fail_at(CPUBIND_CORPUS_ERR_DAMAGED, "a page is damaged", text);
    } else {
        f = fail_sqlite(store, result);
    }
    sqlite3_reset(check);
    return f;
}

/* Checks header, tables and pages, with the lock held. */
static failure check_corpus(cpubind_store *store)
{
    sqlite3_stmt *pin = NULL;
    failure f = cpubind_priv_check_header(&store->d);
    if (f.status)
        return f;
    f = cpubind_priv_check_tables(&store->d, 1, &pin);
    sqlite3_finalize(pin);
    int64_t version = 0;
    if (!f.status &&
        cpubind_priv_read_number(&store->d, "PRAGMA user_version", &version) == SQLITE_OK &&
        store->d.has_shapes != (version > 1))
        f = cpubind_priv_fail(CPUBIND_CORPUS_ERR_NO_CORPUS, 0,
                              "the tables are not those of its user_version");
    return !f.status ? check_pages(store) : f;
}

static failure make_tables(cpubind_store *store)
{
    allow_steps(&store->d, STEPS_OF_CALL);
    int result = sqlite3_exec(store->d.db, cpubind_priv_corpus_schema, NULL, NULL, NULL);
    return result == SQLITE_OK ? no_failure : fail_sqlite(store, result);
}

/* Takes the lock. *is_gone: the process that had made the file has removed it, so this process
 * has opened a file without a name; SQLite may report that as an error. */
static failure lock(cpubind_store *store, int *is_gone)
{
    int is_empty = 0;
    int result = prepare_to_write(store);
    if (result == SQLITE_OK)
        result = run_plain(store, BEGIN);
    failure f = result == SQLITE_OK ? no_failure : fail_sqlite(store, result);
    int looked = look_at_file(store, &is_empty, is_gone);
    if (looked != SQLITE_OK && !f.status)
        f = fail_sqlite(store, looked);
    if (f.status && !*is_gone)
        return f;
    if (*is_gone)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_BUSY, 0,
                                 "another process has removed the file");
    return is_empty ? make_tables(store) : check_corpus(store);
}

/* Refuses a file that is no corpus, before the lock is taken; an empty file is accepted. */
static failure look_first(cpubind_store *store)
{
    int is_empty = 0, has_moved = 0;
    failure f = cpubind_priv_check_header(&store->d);
    if (f.status != CPUBIND_CORPUS_ERR_NO_DATABASE || f.fault.result != SQLITE_OK)
        return f;
    int result = look_at_file(store, &is_empty, &has_moved);
    if (result != SQLITE_OK)
        return fail_sqlite(store, result);
    return is_empty ? no_failure : f;
}

static failure begin(cpubind_store *store, const char *path, int *is_gone)
{
    int result = open_file(store, path);
    *is_gone = 0;
    if (result != SQLITE_OK)
        return fail_open(store, path, result);
    failure f = look_first(store);
    if (!f.status && sqlite3_db_readonly(store->d.db, "main") == 1)
        f = cpubind_priv_fail(CPUBIND_CORPUS_ERR_WRITE, 0, "the file may not be written");
    return !f.status ? lock(store, is_gone) : f;
}

/* == Opening and closing ==================================================== */

/* Removes a file that this change has made, with the lock held and only if the file is empty. A
 * process that waits for the lock then finds that its file was removed and opens it again. */
static void remove_new(cpubind_store *store)
{
    sqlite3_vfs *vfs = NULL;
    int is_empty = 0, has_moved = 0;
    allow_steps(&store->d, STEPS_OF_SCHEMA);
    sqlite3_busy_timeout(store->d.db, 0);
    /* No journal file: another process may already use its name. */
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
    forget_size(store);
}

cpubind_corpus_status cpubind_store_open(const char *path, cpubind_store **out,
                                         cpubind_corpus_fault *fault)
{
    enum { TRIES = 10 };
    failure f = no_failure;
    cpubind_store *store = NULL;
    if (out)
        *out = NULL;
    if (!path || !out)
        f = cpubind_priv_fail_argument();
    else if (!*path) /* SQLite would open a temporary database */
        f = cpubind_priv_fail(CPUBIND_CORPUS_ERR_OPEN, ENOENT, "open");
    else if (!(store = sqlite3_malloc64(sizeof *store)))
        f = cpubind_priv_fail_memory();
    if (!store)
        return cpubind_priv_report(&f, fault);
    int is_gone = 0;
    for (int i = 0; i == 0 || (is_gone && i < TRIES); i++) {
        *store = (cpubind_store){.d = {.is_writer = 1}};
        f = begin(store, path, &is_gone);
        if (f.status)
            end(store);
    }
    if (f.status)
        sqlite3_free(store);
    else
        *out = store;
    return cpubind_priv_report(&f, fault);
}

void cpubind_store_close(cpubind_store *store)
{
    if (!store)
        return;
    end(store);
    sqlite3_free(store);
}

static failure commit(cpubind_store *store)
{
    if (store->ended.status)
        return store->ended;
    int result = allow_steps_by_size(store);
    if (result == SQLITE_OK && store->must_sweep)
        result = run_plain(store, SWEEP);
    if (result == SQLITE_OK) {
        store->must_sweep = 0;
        result = run_plain(store, COMMIT);
        /* Unlocking is the last step of a commit: the change is in the file already. */
        if (result == SQLITE_IOERR_UNLOCK)
            result = SQLITE_OK;
    }
    if (result == SQLITE_OK) {
        store->is_new = 0;
        store->ended =
            cpubind_priv_fail(CPUBIND_CORPUS_ERR_ARG, EINVAL, "the change is committed");
        return no_failure;
    }
    failure f = fail_sqlite(store, result);
    if (result == SQLITE_IOERR_DIR_FSYNC) { /* after the removal of the journal: committed */
        f.status = CPUBIND_CORPUS_ERR_UNSYNCED;
        f.fault.what = "the folder could not be synced";
    }
    if (f.status != CPUBIND_CORPUS_ERR_BUSY || sqlite3_get_autocommit(store->d.db))
        store->ended = f;
    return f;
}

cpubind_corpus_status cpubind_store_commit(cpubind_store *store, cpubind_corpus_fault *fault)
{
    failure f = store ? commit(store) : cpubind_priv_fail_argument();
    return cpubind_priv_report(&f, fault);
}

/* == Puts =================================================================== */

/* Begins the savepoint of a put. */
static failure begin_put(cpubind_store *store)
{
    if (store->ended.status)
        return store->ended;
    allow_steps(&store->d, STEPS_OF_CALL);
    int result = run_plain(store, MARK);
    if (result != SQLITE_OK)
        store->ended = fail_sqlite(store, result);
    return store->ended;
}

/* Ends the savepoint: undoes a put that has failed, or ends the change. */
static failure end_put(cpubind_store *store, failure f)
{
    int result = SQLITE_OK;
    if (f.status) {
        forget_size(store);
        if (is_harmless(&f))
            result = run_plain(store, UNDO);
    }
    if (result == SQLITE_OK && is_harmless(&f))
        result = run_plain(store, KEEP);
    if (result != SQLITE_OK)
        f = fail_sqlite(store, result);
    if (!is_harmless(&f))
        store->ended = f;
    return f;
}

static failure add_host(cpubind_store *store, const cpubind_corpus_about *about)
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
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, 0, "the texts of a host");
    if (result == SQLITE_OK)
        result = run(insert);
    return result == SQLITE_DONE ? no_failure : fail_sqlite(store, result);
}

static failure put_host(cpubind_store *store, const cpubind_corpus_about *about,
                        int is_replacing)
{
    int result = has_row(store, HAS_HOST, about->name, NULL, 0);
    if (result == SQLITE_ROW && !is_replacing)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_EXISTS, 0, "a host of this name");
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
    failure f = cpubind_priv_fail_argument();
    if (store && about && about->name && about->product && about->origin && about->npu_smi &&
        about->notes) {
        f = begin_put(store);
        if (!f.status) {
            forget_size(store);
            f = end_put(store, put_host(store, about, is_replacing));
        }
    }
    return cpubind_priv_report(&f, fault);
}

/* Reads a query with one row (number, bytes), and adds the bytes to *bytes. */
static int read_size(cpubind_store *store, enum statement which, const char *host, int64_t *n,
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

/* Loads the size of a host from the tables, unless it is that of the last put. */
static failure load_size(cpubind_store *store, const char *host)
{
    host_size w = {0};
    if (store->size.host && strcmp(store->size.host, host) == 0)
        return no_failure;
    int result = read_size(store, SIZE_OF_INPUTS, host, &w.n_input, &w.bytes);
    if (result == SQLITE_OK)
        result = read_size(store, SIZE_OF_EXPECTATIONS, host, &w.n_expectation, &w.bytes);
    if (result != SQLITE_OK)
        return fail_sqlite(store, result);
    w.host = sqlite3_mprintf("%s", host);
    if (!w.host)
        return cpubind_priv_fail_memory();
    forget_size(store);
    store->size = w;
    return no_failure;
}

static failure check_limits(cpubind_store *store)
{
    const host_size *w = &store->size;
    if (w->n_input <= CPUBIND_CORPUS_MAX_INPUTS &&
        w->n_expectation <= CPUBIND_CORPUS_MAX_INPUTS && w->bytes <= CPUBIND_CORPUS_MAX_BYTES)
        return no_failure;
    return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, 0, "too many inputs, or too many bytes");
}

/* Whether contents have this SHA-256: SQLITE_ROW and *is_equal, SQLITE_DONE, or an error. */
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

/* Adds bytes by their SHA-256. Other bytes with that SHA-256 are damage: no host with them
 * could be read. */
static failure put_content(cpubind_store *store, const cpubind_input *input, const char *sum)
{
    sqlite3_stmt *insert = NULL;
    int is_equal = 0;
    int result = has_content(store, input, sum, &is_equal);
    if (result == SQLITE_ROW)
        return is_equal
                   ? no_failure
                   : cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED, 0,
                                       "the bytes of an input are not those of its SHA-256");
    if (result == SQLITE_DONE)
        result = use_with(store, ADD_CONTENT, sum, NULL, 0, &insert);
    if (result == SQLITE_OK)
        result = sqlite3_bind_blob(insert, 2, input->len ? input->data : "", input->len,
                                   SQLITE_STATIC);
    if (result == SQLITE_OK)
        result = run(insert);
    return result == SQLITE_DONE ? no_failure : fail_sqlite(store, result);
}

/* Fails if a file and a folder would have one name. The name is a sound one here. */
static failure check_folders(cpubind_store *store, const char *host, const char *name)
{
    int result = has_row(store, HAS_BELOW, host, name, -1);
    for (const char *end = strchr(name, '/'); end && result == SQLITE_DONE;
         end = strchr(end + 1, '/'))
        result = has_row(store, HAS_INPUT, host, name, (int)(end - name));
    if (result == SQLITE_ROW)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_RULE, 0,
                                 "an input and a folder have one name");
    return result == SQLITE_DONE ? no_failure : fail_sqlite(store, result);
}

static failure add_input(cpubind_store *store, const char *host, const char *name,
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
    return result == SQLITE_DONE ? no_failure : fail_sqlite(store, result);
}

static failure put_input(cpubind_store *store, const char *host, const char *name,
                         const cpubind_input *input)
{
    char sum[SUM_SIZE];
    if (input->len > INPUT_MAX)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, 0, "too many bytes");
    failure f = load_size(store, host);
    if (f.status)
        return f;
    store->size.n_input++;
    store->size.bytes += (int64_t)strlen(name) + 1 + input->len;
    f = check_limits(store);
    cpubind_priv_sum(input->data, (size_t)input->len, sum);
    if (!f.status)
        f = put_content(store, input, sum);
    if (!f.status)
        f = add_input(store, host, name, input, sum);
    if (!f.status && !cpubind_input_is_name(name))
        f = cpubind_priv_fail(CPUBIND_CORPUS_ERR_RULE, 0,
                              "the name of an input breaks the rules");
    return !f.status ? check_folders(store, host, name) : f;
}

/* Adds the stderr of a command as cmd/NAME.txt.err. */
static failure put_err(cpubind_store *store, const char *host, const char *name,
                       const cpubind_input *input)
{
    const cpubind_input err = {
        .state = CPUBIND_INPUT_PRESENT, .data = input->err, .len = input->err_len};
    char *err_name = sqlite3_mprintf("%s" ERR_END, name);
    failure f = err_name ? put_input(store, host, err_name, &err) : cpubind_priv_fail_memory();
    sqlite3_free(err_name);
    return f;
}

cpubind_corpus_status cpubind_store_put_input(cpubind_store *store, const char *host,
                                              const char *name, const cpubind_input *input,
                                              cpubind_corpus_fault *fault)
{
    failure f = cpubind_priv_fail_argument();
    if (store && host && name && input && input->len >= 0 && (input->len == 0 || input->data) &&
        input->err_len >= 0 && (input->err_len == 0 || input->err) &&
        (input->state == CPUBIND_INPUT_PRESENT ||
         (input->state == CPUBIND_INPUT_TIMEOUT && input->len == 0))) {
        f = begin_put(store);
        if (!f.status) {
            f = put_input(store, host, name, input);
            if (!f.status && input->err_len > 0)
                f = put_err(store, host, name, input);
            f = end_put(store, f);
        }
    }
    return cpubind_priv_report(&f, fault);
}

/* The size of the expectation that has this name already, or 0. */
static failure size_of_old(cpubind_store *store, const char *host, const char *name,
                           int64_t *bytes)
{
    sqlite3_stmt *query = NULL;
    int result = use_with(store, OLD_EXPECTATION, host, name, -1, &query);
    if (result == SQLITE_OK)
        result = sqlite3_step(query);
    *bytes = result == SQLITE_ROW ? sqlite3_column_int64(query, 0) : 0;
    if (result == SQLITE_ROW || result == SQLITE_DONE)
        result = sqlite3_reset(query);
    return result == SQLITE_OK ? no_failure : fail_sqlite(store, result);
}

static failure put_expectation(cpubind_store *store, const char *host, const char *name,
                               const char *body, int32_t len)
{
    sqlite3_stmt *insert = NULL;
    int64_t old = 0;
    if (len && memchr(body, '\0', (size_t)len))
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_RULE, 0,
                                 "a NUL in the body of an expectation");
    failure f = load_size(store, host);
    if (!f.status)
        f = size_of_old(store, host, name, &old);
    if (f.status)
        return f;
    store->size.n_expectation += old == 0;
    store->size.bytes += (int64_t)strlen(name) + len + 2 - old;
    f = check_limits(store);
    if (f.status)
        return f;
    int result = use_with(store, PUT_EXPECTATION, host, name, -1, &insert);
    if (result == SQLITE_OK)
        result = sqlite3_bind_text(insert, 3, len ? body : "", len, SQLITE_STATIC);
    if (result == SQLITE_OK)
        result = run(insert);
    return result == SQLITE_DONE ? no_failure : fail_sqlite(store, result);
}

cpubind_corpus_status cpubind_store_put_expectation(cpubind_store *store, const char *host,
                                                    const char *name, const char *body,
                                                    int32_t len, cpubind_corpus_fault *fault)
{
    failure f = cpubind_priv_fail_argument();
    if (store && host && name && len >= 0 && (len == 0 || body)) {
        f = begin_put(store);
        if (!f.status)
            f = end_put(store, put_expectation(store, host, name, body, len));
    }
    return cpubind_priv_report(&f, fault);
}

/* == Shapes ================================================================= */

/* Makes the tables of shapes, unless they are there. A failure ends the change. */
static failure need_shapes(cpubind_store *store)
{
    if (store->ended.status || store->d.has_shapes)
        return store->ended;
    allow_steps(&store->d, STEPS_OF_CALL);
    const int result = sqlite3_exec(store->d.db, cpubind_priv_shapes_schema, NULL, NULL, NULL);
    store->d.has_shapes = result == SQLITE_OK;
    if (result != SQLITE_OK)
        store->ended = fail_sqlite(store, result);
    return store->ended;
}

static failure put_shape(cpubind_store *store, const char *host,
                         const cpubind_store_shape *shape)
{
    char sum[SUM_SIZE];
    sqlite3_stmt *insert = NULL;
    if (strlen(shape->body) > CPUBIND_CORPUS_MAX_SHAPE)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, 0, "the shape of a host");
    cpubind_priv_sum(shape->capture, (size_t)shape->capture_len, sum);
    int result = use_with(store, ADD_SHAPE, host, sum, -1, &insert);
    if (result == SQLITE_OK)
        result = sqlite3_bind_text(insert, 3, shape->program, -1, SQLITE_STATIC);
    if (result == SQLITE_OK)
        result = sqlite3_bind_text(insert, 4, shape->body, -1, SQLITE_STATIC);
    if (result == SQLITE_OK)
        result = run(insert);
    return result == SQLITE_DONE ? no_failure : fail_sqlite(store, result);
}

/* Whether the arguments about a shape are sound, but for its body. */
static int is_shape(const cpubind_store_shape *shape)
{
    return shape && shape->capture && shape->capture_len >= 0 && shape->program;
}

cpubind_corpus_status cpubind_store_put_shape(cpubind_store *store, const char *host,
                                              const cpubind_store_shape *shape,
                                              cpubind_corpus_fault *fault)
{
    failure f = cpubind_priv_fail_argument();
    if (store && host && is_shape(shape) && shape->body) {
        f = need_shapes(store);
        if (!f.status)
            f = begin_put(store);
        if (!f.status)
            f = end_put(store, put_shape(store, host, shape));
    }
    return cpubind_priv_report(&f, fault);
}

static failure find_shape(cpubind_store *store, const cpubind_store_shape *shape, char *host,
                          int32_t size)
{
    char sum[SUM_SIZE];
    sqlite3_stmt *query = NULL;
    failure f = no_failure;
    cpubind_priv_sum(shape->capture, (size_t)shape->capture_len, sum);
    allow_steps(&store->d, STEPS_OF_CALL);
    int result = use_with(store, FIND_SHAPE, sum, shape->program, -1, &query);
    if (result == SQLITE_OK)
        result = sqlite3_step(query);
    if (result == SQLITE_ROW) {
        const char *name = NULL;
        f = cpubind_priv_text(query, 0, &name);
        if (!f.status)
            sqlite3_snprintf(size, host, "%s", name);
    } else if (result != SQLITE_DONE) {
        f = fail_sqlite(store, result);
    }
    sqlite3_reset(query);
    return f;
}

cpubind_corpus_status cpubind_store_find_shape(cpubind_store *store,
                                               const cpubind_store_shape *shape, char *host,
                                               int32_t size, cpubind_corpus_fault *fault)
{
    failure f = cpubind_priv_fail_argument();
    if (store && is_shape(shape) && host && size > 0) {
        *host = '\0';
        f = store->ended;
        if (!f.status && store->d.has_shapes)
            f = store->ended = find_shape(store, shape, host, size);
    }
    return cpubind_priv_report(&f, fault);
}

/* == Removing and renaming ================================================== */

/* Fails unless there is a host of this name. */
static failure find_host(cpubind_store *store, const char *host)
{
    const int result = has_row(store, HAS_HOST, host, NULL, 0);
    if (result == SQLITE_DONE)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_UNKNOWN_HOST, 0, "no such row in hosts");
    return result == SQLITE_ROW ? no_failure : fail_sqlite(store, result);
}

static failure remove_host(cpubind_store *store, const char *host, const char *name)
{
    (void)name;
    failure f = find_host(store, host);
    if (f.status)
        return f;
    store->must_sweep = 1;
    const int result = has_row(store, DROP_HOST, host, NULL, 0);
    return result == SQLITE_DONE ? no_failure : fail_sqlite(store, result);
}

static failure remove_expectation(cpubind_store *store, const char *host, const char *name)
{
    failure f = find_host(store, host);
    if (f.status)
        return f;
    int result = has_row(store, OLD_EXPECTATION, host, name, -1);
    if (result == SQLITE_DONE)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_UNKNOWN_CASE, 0,
                                 "no such row in expectations");
    if (result == SQLITE_ROW)
        result = has_row(store, DROP_EXPECTATION, host, name, -1);
    return result == SQLITE_DONE ? no_failure : fail_sqlite(store, result);
}

static failure rename_host(cpubind_store *store, const char *host, const char *name)
{
    failure f = find_host(store, host);
    if (f.status)
        return f;
    int result = has_row(store, HAS_HOST, name, NULL, 0);
    if (result == SQLITE_ROW)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_EXISTS, 0, "a host of this name");
    if (result == SQLITE_DONE)
        result = has_row(store, RENAME_HOST, host, name, -1);
    return result == SQLITE_DONE ? no_failure : fail_sqlite(store, result);
}

/* Makes a removal or a renaming within a savepoint. */
static cpubind_corpus_status change(cpubind_store *store, const char *host, const char *name,
                                    failure (*make)(cpubind_store *store, const char *host,
                                                    const char *name),
                                    cpubind_corpus_fault *fault)
{
    failure f = cpubind_priv_fail_argument();
    if (store && host && name) {
        f = begin_put(store);
        if (!f.status) {
            forget_size(store);
            f = end_put(store, make(store, host, name));
        }
    }
    return cpubind_priv_report(&f, fault);
}

cpubind_corpus_status cpubind_store_remove_host(cpubind_store *store, const char *host,
                                                cpubind_corpus_fault *fault)
{
    return change(store, host, "", remove_host, fault);
}

cpubind_corpus_status cpubind_store_remove_expectation(cpubind_store *store, const char *host,
                                                       const char *name,
                                                       cpubind_corpus_fault *fault)
{
    return change(store, host, name, remove_expectation, fault);
}

cpubind_corpus_status cpubind_store_rename_host(cpubind_store *store, const char *host,
                                                const char *name, cpubind_corpus_fault *fault)
{
    return change(store, host, name, rename_host, fault);
}
