/* corpus.c - hosts out of a SQLite database
 * SPDX-License-Identifier: MIT
 *
 * Reads only, with prepared statements alone; memory comes from SQLite's allocator, so that
 * whoever configures that one has all of it. A host is a table of inputs sorted by name, and
 * one block that holds every name and every byte.
 */
#include "corpus.h"

#include <errno.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../text/input.h"

#define INPUT_MAX (64 << 20)
#define LIST_MAX  (4 << 20)

struct cpubind_corpus {
    sqlite3 *db;
};

typedef struct row {
    const char *name; /* ended by NUL */
    cpubind_input input;
    size_t name_at, data_at; /* where in the block they are, while the block still grows */
} row;

typedef struct listing {
    struct listing *next;
    cpubind_input input;
    char name[]; /* ended by NUL; the lines follow */
} listing;

struct cpubind_corpus_host {
    row *row; /* ascending in the order of compare_names */
    int32_t n_row, cap_row;
    char *block;
    size_t len, cap; /* bytes of the block; the input bytes alone are limited */
    listing *listings;
};

/* == Faults ================================================================= */

static cpubind_corpus_status fail(cpubind_corpus_status status, int error, const char *what,
                                  cpubind_corpus_fault *fault)
{
    if (fault)
        *fault = (cpubind_corpus_fault){0, error, what, ""};
    return status;
}

static cpubind_corpus_status fail_memory(cpubind_corpus_fault *fault)
{
    return fail(CPUBIND_CORPUS_ERR_MEMORY, ENOMEM, "memory", fault);
}

/* The words of SQLite may quote the file: what a terminal would obey does not pass. */
static void copy_message(const char *text, char out[CPUBIND_CORPUS_MESSAGE])
{
    size_t n = 0;
    for (; text && text[n] && n < CPUBIND_CORPUS_MESSAGE - 1; n++)
        out[n] = (char)(text[n] >= ' ' && text[n] <= '~' ? text[n] : '?');
    out[n] = '\0';
}

/* What a result code of SQLite means for a reader. */
static cpubind_corpus_status status_of(int result, const char **what)
{
    switch (result & 0xff) {
    case SQLITE_NOMEM:
        *what = "memory";
        return CPUBIND_CORPUS_ERR_MEMORY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        *what = "another process was still writing after two seconds";
        return CPUBIND_CORPUS_ERR_BUSY;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        *what = "open";
        return CPUBIND_CORPUS_ERR_OPEN;
    case SQLITE_NOTADB:
        *what = "the file does not start as a database does";
        return CPUBIND_CORPUS_ERR_NO_DATABASE;
    case SQLITE_READONLY:
        *what = "a write that was interrupted must be rolled back first";
        return CPUBIND_CORPUS_ERR_READ;
    case SQLITE_ERROR:
        *what = "the tables are not those of a corpus";
        return CPUBIND_CORPUS_ERR_NO_CORPUS;
    case SQLITE_CORRUPT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
        *what = "a page does not hold what it should";
        return CPUBIND_CORPUS_ERR_DAMAGED;
    default:
        *what = "read";
        return CPUBIND_CORPUS_ERR_READ;
    }
}

/* The fault that SQLite has just reported; `db` may be NULL. */
static cpubind_corpus_status fail_sqlite(sqlite3 *db, int result, cpubind_corpus_fault *fault)
{
    const char *what = NULL;
    cpubind_corpus_status status = status_of(result, &what);
    int error = db && status != CPUBIND_CORPUS_ERR_MEMORY ? sqlite3_system_errno(db) : ENOMEM;
    int is_system = status == CPUBIND_CORPUS_ERR_OPEN || status == CPUBIND_CORPUS_ERR_READ ||
                    status == CPUBIND_CORPUS_ERR_MEMORY;
    if (status == CPUBIND_CORPUS_ERR_READ && error == EISDIR) {
        status = CPUBIND_CORPUS_ERR_OPEN;
        what = "open";
    }
    if (fault) {
        *fault = (cpubind_corpus_fault){result, is_system ? error : 0, what, ""};
        copy_message(db ? sqlite3_errmsg(db) : sqlite3_errstr(result), fault->message);
    }
    return status;
}

/* == The database =========================================================== */

/* A file from a stranger gets no more than a reader needs. */
static int restrain(sqlite3 *db)
{
    static const struct {
        int id, value;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, INPUT_MAX + (1 << 20)},
        {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
        {SQLITE_LIMIT_COLUMN, 100},
        {SQLITE_LIMIT_EXPR_DEPTH, 100},
        {SQLITE_LIMIT_COMPOUND_SELECT, 3},
        {SQLITE_LIMIT_VDBE_OP, 25000},
        {SQLITE_LIMIT_FUNCTION_ARG, 16},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 10},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 0},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    static const struct {
        int option, value;
    } options[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(db, limits[i].id, limits[i].value);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        int result = sqlite3_db_config(db, options[i].option, options[i].value, NULL);
        if (result != SQLITE_OK)
            return result;
    }
    int result = sqlite3_busy_timeout(db, CPUBIND_CORPUS_WAIT_MS);
    if (result == SQLITE_OK)
        result = sqlite3_exec(db,
                              "PRAGMA query_only = 1; PRAGMA cell_size_check = 1;"
                              "PRAGMA mmap_size = 0;",
                              NULL, NULL, NULL);
    return result;
}

/* The one number that a statement gives. */
static int read_number(sqlite3 *db, const char *sql, int64_t *out)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(db, sql, -1, &query, NULL);
    if (result == SQLITE_OK) {
        result = sqlite3_step(query);
        if (result == SQLITE_ROW) {
            *out = sqlite3_column_int64(query, 0);
            result = SQLITE_OK;
        } else if (result == SQLITE_DONE) {
            result = SQLITE_CORRUPT;
        }
    }
    int ended = sqlite3_finalize(query);
    return result == SQLITE_OK ? ended : result;
}

/* Whose file it is, and which version of the schema. Both stand in the first page: tables that
 * this SQLite would not understand are not looked at before. */
static cpubind_corpus_status check_header(sqlite3 *db, cpubind_corpus_fault *fault)
{
    int64_t n_page = 1, application = 0, version = 0;
    int result = read_number(db, "PRAGMA application_id", &application);
    if (result == SQLITE_OK)
        result = read_number(db, "PRAGMA user_version", &version);
    if (result != SQLITE_OK)
        return fail_sqlite(db, result, fault);
    if (application == 0 && read_number(db, "PRAGMA page_count", &n_page) == SQLITE_OK &&
        n_page == 0)
        return fail(CPUBIND_CORPUS_ERR_NO_DATABASE, 0, "the file is empty", fault);
    if (application != CPUBIND_CORPUS_APPLICATION)
        return fail(CPUBIND_CORPUS_ERR_NO_CORPUS, 0, "the application_id is another's", fault);
    if (version > CPUBIND_CORPUS_VERSION)
        return fail(CPUBIND_CORPUS_ERR_NEWER, 0, "the user_version is newer", fault);
    if (version < 1)
        return fail(CPUBIND_CORPUS_ERR_DAMAGED, 0, "the user_version is below 1", fault);
    return CPUBIND_CORPUS_OK;
}

static cpubind_corpus_status open_database(const char *path, cpubind_corpus *corpus,
                                           cpubind_corpus_fault *fault)
{
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int result = sqlite3_open_v2(path, &corpus->db, flags, NULL);
    if (result == SQLITE_OK)
        result = restrain(corpus->db);
    if (result != SQLITE_OK)
        return fail_sqlite(corpus->db, result, fault);
    return check_header(corpus->db, fault);
}

cpubind_corpus_status cpubind_corpus_open(const char *path, cpubind_corpus **out,
                                          cpubind_corpus_fault *fault)
{
    if (out)
        *out = NULL;
    if (!path || !out)
        return fail(CPUBIND_CORPUS_ERR_ARG, EINVAL, "argument", fault);
    if (!*path) /* for SQLite, a database of its own that is gone when it is closed */
        return fail(CPUBIND_CORPUS_ERR_OPEN, ENOENT, "open", fault);
    cpubind_corpus *corpus = sqlite3_malloc64(sizeof *corpus);
    if (!corpus)
        return fail_memory(fault);
    corpus->db = NULL;
    cpubind_corpus_status status = open_database(path, corpus, fault);
    if (status != CPUBIND_CORPUS_OK) {
        cpubind_corpus_close(corpus);
        return status;
    }
    *out = corpus;
    return CPUBIND_CORPUS_OK;
}

void cpubind_corpus_close(cpubind_corpus *corpus)
{
    if (!corpus)
        return;
    sqlite3_close(corpus->db); /* no statement is left open: it cannot fail */
    sqlite3_free(corpus);
}

/* == Names ================================================================== */

/* Byte order, but with "/" below every other byte: what is below a folder stands together,
 * right behind a file of its name, and the next parts ascend. */
static int compare_names(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    int left = *a == '/' ? 1 : (unsigned char)*a;
    int right = *b == '/' ? 1 : (unsigned char)*b;
    return left - right;
}

static int compare_rows(const void *a, const void *b)
{
    return compare_names(((const row *)a)->name, ((const row *)b)->name);
}

/* The first row whose name is not below `name` in that order. */
static int32_t lower_bound(const cpubind_corpus_host *host, const char *name)
{
    int32_t low = 0, high = host->n_row;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (compare_names(host->row[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The rows below folder `name`: [*first, the result), empty when there are none. */
static int32_t rows_below(const cpubind_corpus_host *host, const char *name, int32_t *first)
{
    size_t len = strlen(name);
    int32_t at = lower_bound(host, name);
    while (at < host->n_row && strcmp(host->row[at].name, name) == 0)
        at++;
    *first = at;
    while (at < host->n_row && strncmp(host->row[at].name, name, len) == 0 &&
           host->row[at].name[len] == '/')
        at++;
    return at;
}

/* == Reading a host ========================================================= */

/* Room for `n` more bytes, and for one more row. 0 or SQLITE_NOMEM. */
static int reserve(cpubind_corpus_host *host, size_t n)
{
    if (n > host->cap - host->len) {
        size_t cap = host->cap * 2 > host->len + n ? host->cap * 2 : host->len + n;
        char *block = sqlite3_realloc64(host->block, cap);
        if (!block)
            return SQLITE_NOMEM;
        host->block = block;
        host->cap = cap;
    }
    if (host->n_row == host->cap_row) {
        int32_t cap = host->cap_row ? host->cap_row * 2 : 128;
        row *rows = sqlite3_realloc64(host->row, (size_t)cap * sizeof *rows);
        if (!rows)
            return SQLITE_NOMEM;
        host->row = rows;
        host->cap_row = cap;
    }
    return SQLITE_OK;
}

static size_t append(cpubind_corpus_host *host, const void *bytes, size_t n)
{
    size_t at = host->len;
    if (n)
        memcpy(host->block + at, bytes, n);
    host->len += n;
    return at;
}

static cpubind_input failed(int error, const char *why)
{
    return (cpubind_input){.state = CPUBIND_INPUT_FAILED, .error = error, .why = why};
}

/* The columns of a row; see `read_host`. */
enum { NAME, EXIT_CODE, LENGTH, BYTES };

/* The answer that a row stands for, still without its bytes. */
static cpubind_input answer_of(sqlite3_stmt *query)
{
    cpubind_input input = {.state = CPUBIND_INPUT_PRESENT};
    if (sqlite3_column_type(query, LENGTH) == SQLITE_NULL)
        return failed(EIO, "content");
    if (sqlite3_column_int64(query, LENGTH) > INPUT_MAX)
        return (cpubind_input){.state = CPUBIND_INPUT_TOO_LONG};
    input.exit_code = sqlite3_column_int(query, EXIT_CODE);
    input.len = sqlite3_column_bytes(query, BYTES);
    return input;
}

/* Whether a row has the types and the ranges of the schema: a damaged file may not. */
static int is_sound(sqlite3_stmt *query)
{
    int64_t code = sqlite3_column_int64(query, EXIT_CODE);
    int length_type = sqlite3_column_type(query, LENGTH);
    int type = sqlite3_column_type(query, BYTES);
    return sqlite3_column_type(query, NAME) == SQLITE_TEXT &&
           sqlite3_column_type(query, EXIT_CODE) == SQLITE_INTEGER && code >= 0 &&
           code <= 255 && (type == SQLITE_BLOB || type == SQLITE_NULL) &&
           (length_type == SQLITE_INTEGER || length_type == SQLITE_NULL);
}

static cpubind_corpus_status take_row(sqlite3_stmt *query, cpubind_corpus_host *host,
                                      cpubind_corpus_fault *fault)
{
    if (!is_sound(query))
        return fail(CPUBIND_CORPUS_ERR_DAMAGED, 0, "an input is not of the schema", fault);
    const char *name = (const char *)sqlite3_column_text(query, NAME);
    if (!name)
        return fail_memory(fault);
    size_t size = (size_t)sqlite3_column_bytes(query, NAME) + 1;
    if (strlen(name) + 1 != size || !cpubind_input_is_name(name))
        return fail(CPUBIND_CORPUS_ERR_DAMAGED, 0, "the name of an input breaks the rules",
                    fault);
    cpubind_input input = answer_of(query);
    const void *data = input.len ? sqlite3_column_blob(query, BYTES) : NULL;
    if (input.len && !data)
        return fail_memory(fault);
    if (host->n_row == CPUBIND_CORPUS_MAX_INPUTS ||
        host->len + size + (size_t)input.len > CPUBIND_CORPUS_MAX_BYTES)
        return fail(CPUBIND_CORPUS_ERR_LIMIT, 0, "too many inputs, or too many bytes", fault);
    if (reserve(host, size + (size_t)input.len))
        return fail_memory(fault);
    row *taken = &host->row[host->n_row++];
    taken->input = input;
    taken->name_at = append(host, name, size);
    taken->data_at = append(host, data, (size_t)input.len);
    return CPUBIND_CORPUS_OK;
}

/* One statement, so that all rows are of one state of the database. A host without an input is
 * one row without a name. */
static cpubind_corpus_status read_rows(sqlite3 *db, sqlite3_stmt *query,
                                       cpubind_corpus_host *host, cpubind_corpus_fault *fault)
{
    int result = sqlite3_step(query);
    if (result == SQLITE_DONE)
        return fail(CPUBIND_CORPUS_ERR_UNKNOWN_HOST, 0, "no such row in hosts", fault);
    if (result == SQLITE_ROW && sqlite3_column_type(query, NAME) == SQLITE_NULL)
        result = sqlite3_step(query);
    for (; result == SQLITE_ROW; result = sqlite3_step(query)) {
        cpubind_corpus_status status = take_row(query, host, fault);
        if (status != CPUBIND_CORPUS_OK)
            return status;
    }
    return result == SQLITE_DONE ? CPUBIND_CORPUS_OK : fail_sqlite(db, result, fault);
}

/* The block no longer moves: names and bytes get their addresses, and rows their order. */
static void settle(cpubind_corpus_host *host)
{
    for (int32_t i = 0; i < host->n_row; i++) {
        row *r = &host->row[i];
        r->name = host->block + r->name_at;
        r->input.data = r->input.len ? host->block + r->data_at : NULL;
    }
    if (host->n_row)
        qsort(host->row, (size_t)host->n_row, sizeof *host->row, compare_rows);
}

static cpubind_corpus_status read_host(sqlite3 *db, const char *name, cpubind_corpus_host *host,
                                       cpubind_corpus_fault *fault)
{
    /* The length apart, so that bytes over the cap are never read. */
    static const char sql[] =
        "SELECT i.name, i.exit_code, length(c.bytes),"
        "       CASE WHEN length(c.bytes) <= ?2 THEN c.bytes END"
        "  FROM hosts h LEFT JOIN inputs i ON i.host = h.name"
        "       LEFT JOIN contents c ON c.sha256 = i.content WHERE h.name = ?1";
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(db, sql, sizeof sql, &query, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
    if (result == SQLITE_OK)
        result = sqlite3_bind_int(query, 2, INPUT_MAX);
    cpubind_corpus_status status = result == SQLITE_OK ? read_rows(db, query, host, fault)
                                                       : fail_sqlite(db, result, fault);
    sqlite3_finalize(query); /* repeats what the last step said */
    if (status == CPUBIND_CORPUS_OK)
        settle(host);
    return status;
}

cpubind_corpus_status cpubind_corpus_open_host(cpubind_corpus *corpus, const char *name,
                                               cpubind_corpus_host **out,
                                               cpubind_corpus_fault *fault)
{
    if (out)
        *out = NULL;
    if (!corpus || !name || !out)
        return fail(CPUBIND_CORPUS_ERR_ARG, EINVAL, "argument", fault);
    if (strlen(name) > CPUBIND_INPUT_NAME_MAX)
        return fail(CPUBIND_CORPUS_ERR_UNKNOWN_HOST, 0, "the name is too long", fault);
    cpubind_corpus_host *host = sqlite3_malloc64(sizeof *host);
    if (!host)
        return fail_memory(fault);
    *host = (cpubind_corpus_host){0};
    cpubind_corpus_status status = read_host(corpus->db, name, host, fault);
    if (status != CPUBIND_CORPUS_OK) {
        cpubind_corpus_close_host(host);
        return status;
    }
    *out = host;
    return CPUBIND_CORPUS_OK;
}

void cpubind_corpus_close_host(cpubind_corpus_host *host)
{
    if (!host)
        return;
    while (host->listings) {
        listing *gone = host->listings;
        host->listings = gone->next;
        sqlite3_free(gone);
    }
    sqlite3_free(host->row);
    sqlite3_free(host->block);
    sqlite3_free(host);
}

/* == Answers ================================================================ */

static cpubind_input read_input(void *ctx, const char *name)
{
    const cpubind_corpus_host *host = ctx;
    if (!cpubind_input_is_name(name))
        return failed(EINVAL, "name");
    int32_t at = lower_bound(host, name);
    if (at < host->n_row && strcmp(host->row[at].name, name) == 0)
        return host->row[at].input;
    int32_t first;
    if (rows_below(host, name, &first) > first)
        return failed(EISDIR, "not a regular file");
    return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
}

/* The distinct parts that start at byte `skip` of rows [first, end), each ended by LF; lines
 * NULL asks for their bytes alone. */
static size_t write_parts(const cpubind_corpus_host *host, int32_t first, int32_t end,
                          size_t skip, char *lines)
{
    const char *last = NULL;
    size_t last_len = 0, size = 0;
    for (int32_t i = first; i < end; i++) {
        const char *part = host->row[i].name + skip;
        size_t len = strcspn(part, "/");
        if (last && len == last_len && memcmp(part, last, len) == 0)
            continue;
        if (lines) {
            memcpy(lines + size, part, len);
            lines[size + len] = '\n';
        }
        size += len + 1;
        last = part;
        last_len = len;
    }
    return size;
}

static cpubind_input list_input(void *ctx, const char *name)
{
    cpubind_corpus_host *host = ctx;
    if (!cpubind_input_is_name(name))
        return failed(EINVAL, "name");
    for (const listing *known = host->listings; known; known = known->next)
        if (strcmp(known->name, name) == 0)
            return known->input;
    int32_t first;
    int32_t end = rows_below(host, name, &first);
    if (first == end)
        return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
    size_t name_size = strlen(name) + 1;
    size_t size = write_parts(host, first, end, name_size, NULL);
    if (size > LIST_MAX)
        return (cpubind_input){.state = CPUBIND_INPUT_TOO_LONG};
    listing *made = sqlite3_malloc64(sizeof *made + name_size + size);
    if (!made)
        return failed(ENOMEM, "memory");
    char *lines = made->name + name_size;
    memcpy(made->name, name, name_size);
    write_parts(host, first, end, name_size, lines);
    made->input =
        (cpubind_input){.state = CPUBIND_INPUT_PRESENT, .data = lines, .len = (int32_t)size};
    made->next = host->listings;
    host->listings = made;
    return made->input;
}

cpubind_source cpubind_corpus_source(cpubind_corpus_host *host)
{
    return (cpubind_source){host, read_input, list_input};
}

/* == Text =================================================================== */

const char *cpubind_corpus_status_name(cpubind_corpus_status status)
{
    switch (status) {
#define CPUBIND_X(name, value, text)                                                           \
    case CPUBIND_CORPUS_##name:                                                                \
        return #name;
        CPUBIND_CORPUS_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
    }
    return "?";
}

const char *cpubind_corpus_status_text(cpubind_corpus_status status)
{
    switch (status) {
#define CPUBIND_X(name, value, text)                                                           \
    case CPUBIND_CORPUS_##name:                                                                \
        return text;
        CPUBIND_CORPUS_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
    }
    return "?";
}
