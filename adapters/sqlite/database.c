/* database.c - a connection to a file that may be hostile
 * SPDX-License-Identifier: MIT
 *
 * The contracts are in database.h, the tables in fixtures/schema.sql, the files that SQLite may
 * use in own_files.h. Nothing here writes to the file.
 */
#include "database.h"

#include <errno.h>
#include <sha2.h>
#include <string.h>

#include "schema.h"

/* == Failures =============================================================== */

failure cpubind_priv_fail(cpubind_corpus_status status, int error, const char *what)
{
    return (failure){status, {0, error, what, ""}};
}

failure cpubind_priv_fail_argument(void)
{
    return cpubind_priv_fail(CPUBIND_CORPUS_ERR_ARG, EINVAL, "argument");
}

failure cpubind_priv_fail_memory(void)
{
    return cpubind_priv_fail(CPUBIND_CORPUS_ERR_MEMORY, ENOMEM, "memory");
}

/* SQLite's messages may quote the file: a control character could act on a terminal. */
static void copy_message(const char *text, char out[CPUBIND_CORPUS_MESSAGE])
{
    size_t n = 0;
    for (; text && text[n] && n < CPUBIND_CORPUS_MESSAGE - 1; n++)
        out[n] = (char)(text[n] >= ' ' && text[n] <= '~' ? text[n] : '?');
    out[n] = '\0';
}

failure cpubind_priv_fail_at(cpubind_corpus_status status, const char *what,
                             const char *message)
{
    failure f = cpubind_priv_fail(status, 0, what);
    copy_message(message, f.fault.message);
    return f;
}

cpubind_corpus_status cpubind_priv_report(const failure *f, cpubind_corpus_fault *fault)
{
    if (f->status && fault)
        *fault = f->fault;
    return f->status;
}

/* The meaning of a result code of SQLite. */
static const struct meaning {
    int result;
    cpubind_corpus_status status;
    const char *what;
} meanings[] = {
    {SQLITE_NOMEM, CPUBIND_CORPUS_ERR_MEMORY, "memory"},
    {SQLITE_BUSY, CPUBIND_CORPUS_ERR_BUSY,
     "another process was still writing after two seconds"},
    {SQLITE_LOCKED, CPUBIND_CORPUS_ERR_BUSY,
     "another process was still writing after two seconds"},
    {SQLITE_CANTOPEN_SYMLINK, CPUBIND_CORPUS_ERR_OPEN, "it is a symbolic link"},
    {SQLITE_CANTOPEN, CPUBIND_CORPUS_ERR_OPEN, "open"},
    {REFUSED_JOURNAL, CPUBIND_CORPUS_ERR_JOURNAL, "journal"},
    {REFUSED_FILE, CPUBIND_CORPUS_ERR_OPEN, "open"},
    {SQLITE_NOTADB, CPUBIND_CORPUS_ERR_NO_DATABASE,
     "the file does not start as a database does"},
    {SQLITE_READONLY_DIRECTORY, CPUBIND_CORPUS_ERR_WRITE, "the folder may not be written"},
    {SQLITE_READONLY, CPUBIND_CORPUS_ERR_READ,
     "an interrupted write must be rolled back first"},
    {SQLITE_ERROR, CPUBIND_CORPUS_ERR_NO_CORPUS, "the tables are not those of a corpus"},
    {SQLITE_CORRUPT, CPUBIND_CORPUS_ERR_DAMAGED, "a page is damaged"},
    {SQLITE_TOOBIG, CPUBIND_CORPUS_ERR_DAMAGED, "a page is damaged"},
    {SQLITE_MISMATCH, CPUBIND_CORPUS_ERR_DAMAGED, "a page is damaged"},
    {SQLITE_INTERRUPT, CPUBIND_CORPUS_ERR_DAMAGED,
     "it takes more steps than a corpus can need"},
    {SQLITE_FULL, CPUBIND_CORPUS_ERR_FULL, "write"},
};

/* Its meaning for a writer with an open file, if that differs. */
static const struct meaning of_writer[] = {
    {SQLITE_BUSY, CPUBIND_CORPUS_ERR_BUSY,
     "another process was still reading or writing after two seconds"},
    {SQLITE_READONLY_DIRECTORY, CPUBIND_CORPUS_ERR_WRITE, "the folder may not be written"},
    {SQLITE_READONLY, CPUBIND_CORPUS_ERR_WRITE, "the file may not be written"},
    {SQLITE_CANTOPEN, CPUBIND_CORPUS_ERR_WRITE, "the folder may not be written"},
    {SQLITE_CONSTRAINT, CPUBIND_CORPUS_ERR_RULE, "a row"},
    {SQLITE_TOOBIG, CPUBIND_CORPUS_ERR_LIMIT, "too many bytes"},
    {SQLITE_IOERR_READ, CPUBIND_CORPUS_ERR_READ, "read"},
    {SQLITE_IOERR_SHORT_READ, CPUBIND_CORPUS_ERR_READ, "read"},
    {SQLITE_IOERR, CPUBIND_CORPUS_ERR_WRITE, "write"},
};

static const struct meaning *find(const struct meaning *from, size_t n, int result)
{
    for (size_t i = 0; i < n; i++)
        if (from[i].result == result || from[i].result == (result & 0xff))
            return &from[i];
    return NULL;
}

static struct meaning meaning_of(int result, int is_writer)
{
    const struct meaning *found = NULL;
    if (result == SQLITE_IOERR_NOMEM)
        result = SQLITE_NOMEM;
    if (is_writer)
        found = find(of_writer, sizeof of_writer / sizeof *of_writer, result);
    if (!found)
        found = find(meanings, sizeof meanings / sizeof *meanings, result);
    return found ? *found : (struct meaning){result, CPUBIND_CORPUS_ERR_READ, "read"};
}

/* The errno of the system call of SQLite that failed, else 0. */
static int system_error(const database *d, int result, cpubind_corpus_status status)
{
    if (status == CPUBIND_CORPUS_ERR_MEMORY)
        return ENOMEM;
    if (result == SQLITE_CANTOPEN_SYMLINK) /* none: the errno is that of an earlier call */
        return 0;
    if (d->db && ((result & 0xff) == SQLITE_CANTOPEN || (result & 0xff) == SQLITE_IOERR))
        return sqlite3_system_errno(d->db);
    return status == CPUBIND_CORPUS_ERR_FULL ? ENOSPC : 0;
}

failure cpubind_priv_fail_sqlite(const database *d, int result)
{
    struct meaning m = meaning_of(result, d->is_writer && d->is_open);
    if (d->files.refused && (result == REFUSED_JOURNAL || result == REFUSED_FILE)) {
        failure refused = cpubind_priv_fail(m.status, 0, d->files.refused);
        refused.fault.result = result;
        return refused;
    }
    int error = system_error(d, result, m.status);
    if (error == EISDIR)
        m = (struct meaning){result, CPUBIND_CORPUS_ERR_OPEN, "open"};
    if (error == ENOSPC || error == EDQUOT)
        m = (struct meaning){result, CPUBIND_CORPUS_ERR_FULL, "write"};
    failure f = cpubind_priv_fail_at(m.status, m.what,
                                     d->db ? sqlite3_errmsg(d->db) : sqlite3_errstr(result));
    f.fault.result = result;
    f.fault.error = error;
    return f;
}

/* == The connection ========================================================= */

static int count_steps(void *context)
{
    database *d = context;
    return --d->left < 0;
}

/* Limits what the file can make SQLite do. A writer needs a trusted schema: the CHECKs call
 * json_valid, which SQLite does not count among the harmless functions. A writer therefore
 * compares the text of the tables before it uses one. */
static int restrain(database *d)
{
    const struct {
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
        /* SQLite counts ON DELETE CASCADE as a trigger. */
        {SQLITE_LIMIT_TRIGGER_DEPTH, d->is_writer ? 3 : 0},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    const struct {
        int option, value;
    } options[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, d->is_writer},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, d->is_writer},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(d->db, limits[i].id, limits[i].value);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        int result = sqlite3_db_config(d->db, options[i].option, options[i].value, NULL);
        if (result != SQLITE_OK)
            return result;
    }
    allow_steps(d, STEPS_OF_SCHEMA);
    sqlite3_progress_handler(d->db, 1000, count_steps, d);
    return sqlite3_busy_timeout(d->db, CPUBIND_CORPUS_WAIT_MS);
}

/* SQLite gives ":memory:" and "file:..." a meaning: "./" before such a path prevents that. */
static int open_literally(database *d, const char *path, int flags)
{
    if (*path != ':' && strncmp(path, "file:", 5) != 0)
        return sqlite3_open_v2(path, &d->db, flags, d->files.name);
    char *literal = sqlite3_mprintf("./%s", path);
    if (!literal)
        return SQLITE_NOMEM;
    int result = sqlite3_open_v2(literal, &d->db, flags, d->files.name);
    sqlite3_free(literal);
    return result;
}

int cpubind_priv_open(database *d, const char *path, int flags)
{
    d->db = NULL;
    int result = cpubind_priv_add_files(&d->files, d->is_writer);
    if (result == SQLITE_OK)
        result = open_literally(d, path,
                                flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                                    SQLITE_OPEN_NOFOLLOW);
    d->is_open = result == SQLITE_OK;
    if (!d->db) /* no memory; there is nothing that cpubind_priv_close must close */
        cpubind_priv_remove_files(&d->files);
    if (result == SQLITE_OK)
        result = restrain(d);
    if (result == SQLITE_OK)
        result = sqlite3_exec(d->db,
                              "PRAGMA cell_size_check = 1; PRAGMA mmap_size = 0;"
                              "PRAGMA temp_store = MEMORY;",
                              NULL, NULL, NULL);
    if (result == SQLITE_OK && !d->is_writer)
        result = sqlite3_exec(d->db, "PRAGMA query_only = 1;", NULL, NULL, NULL);
    return result;
}

void cpubind_priv_close(database *d)
{
    sqlite3_close(d->db); /* no statement is open, so this cannot fail */
    d->db = NULL;
    cpubind_priv_remove_files(&d->files);
}

int cpubind_priv_read_number(const database *d, const char *sql, int64_t *out)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(d->db, sql, -1, &query, NULL);
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

failure cpubind_priv_check_header(const database *d)
{
    int64_t n_page = 1, application = 0, version = 0;
    int result = cpubind_priv_read_number(d, "PRAGMA application_id", &application);
    if (result == SQLITE_OK)
        result = cpubind_priv_read_number(d, "PRAGMA user_version", &version);
    if (result == SQLITE_OK && application == 0)
        result = cpubind_priv_read_number(d, "PRAGMA page_count", &n_page);
    if (result != SQLITE_OK)
        return cpubind_priv_fail_sqlite(d, result);
    if (n_page == 0)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_NO_DATABASE, 0, "the file is empty");
    if (application != CPUBIND_CORPUS_APPLICATION)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_NO_CORPUS, 0,
                                 "the application_id is not that of a corpus");
    if (version > CPUBIND_CORPUS_VERSION)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_NEWER, 0, "the user_version is newer");
    if (version < 1)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED, 0, "the user_version is below 1");
    return no_failure;
}

/* == The tables ============================================================= */

static int is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static int is_comment(const char *c)
{
    return c[0] == '-' && c[1] == '-';
}

/* The next byte of a statement; blanks and comments outside quotes count as one blank. */
static int next_byte(const char **at, int *is_quoted)
{
    const char *c = *at;
    if (!*is_quoted && (is_blank(*c) || is_comment(c))) {
        while (is_blank(*c) || is_comment(c))
            c += is_comment(c) ? strcspn(c, "\n") : 1;
        *at = c;
        return ' ';
    }
    if (*c == '\'')
        *is_quoted = !*is_quoted;
    *at += *c != '\0';
    return (unsigned char)*c;
}

/* Whether `sql` equals the statement at the start of `own`, which ends with a semicolon. */
static int is_statement(const char *own, const char *sql)
{
    int own_quoted = 0, quoted = 0, a, b;
    do {
        a = next_byte(&own, &own_quoted);
        b = next_byte(&sql, &quoted);
    } while (a == b && a != '\0');
    return a == ';' && b == '\0';
}

/* The next CREATE statement of the schema after `at`, or NULL. */
static const char *next_statement(const char *at)
{
    at = strstr(at, "\nCREATE ");
    return at ? at + 1 : NULL;
}

/* Bit i is set if `sql` equals the i-th CREATE of a schema. sql NULL: all bits. */
static unsigned bits_of(const char *schema, const char *sql)
{
    unsigned bits = 0, bit = 1;
    const char *own = next_statement(schema);
    for (; own; own = next_statement(own), bit <<= 1)
        if (!sql || is_statement(own, sql))
            bits |= bit;
    return bits;
}

static failure fail_alien(sqlite3_stmt *query)
{
    return cpubind_priv_fail_at(CPUBIND_CORPUS_ERR_NO_CORPUS,
                                "the database has other tables than those of a corpus",
                                (const char *)sqlite3_column_text(query, 1));
}

failure cpubind_priv_check_tables(database *d, int is_alone, sqlite3_stmt **pin)
{
    /* An index that SQLite makes for a UNIQUE has no text. The last row, without one, is where
     * the pin stays. */
    static const char sql[] = "SELECT sql, name FROM sqlite_schema WHERE sql IS NOT NULL"
                              " UNION ALL SELECT NULL, NULL";
    const char *const schema = cpubind_priv_corpus_schema;
    const char *const shapes = cpubind_priv_shapes_schema;
    const unsigned all_shapes = bits_of(shapes, NULL);
    unsigned missing = bits_of(schema, NULL), missing_shapes = all_shapes;
    *pin = NULL;
    allow_steps(d, STEPS_OF_SCHEMA);
    int result = sqlite3_prepare_v2(d->db, sql, sizeof sql, pin, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_step(*pin);
    while (result == SQLITE_ROW && sqlite3_column_type(*pin, 0) != SQLITE_NULL) {
        const char *text = (const char *)sqlite3_column_text(*pin, 0);
        if (!text)
            return cpubind_priv_fail_memory();
        const unsigned bits = bits_of(schema, text), more = bits_of(shapes, text);
        if (is_alone && !(missing & bits) && !(missing_shapes & more))
            return fail_alien(*pin);
        missing &= ~bits;
        missing_shapes &= ~more;
        result = sqlite3_step(*pin);
    }
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        return cpubind_priv_fail_sqlite(d, result);
    d->has_shapes = missing_shapes == 0;
    if (missing || (is_alone && missing_shapes != 0 && missing_shapes != all_shapes))
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_NO_CORPUS, 0,
                                 "the tables are not those of a corpus");
    allow_steps(d, STEPS_OF_CALL);
    return no_failure;
}

void cpubind_priv_end_reading(const database *d, sqlite3_stmt *pin, int has_failed)
{
    sqlite3_finalize(pin);
    if (has_failed)
        sqlite3_db_release_memory(d->db);
}

/* == Rows =================================================================== */

int cpubind_priv_append(text_pool *pool, const void *bytes, size_t n, size_t *at)
{
    if (n >= pool->cap - pool->len) {
        size_t cap = pool->cap * 2 > pool->len + n + 1 ? pool->cap * 2 : pool->len + n + 1;
        char *grown = sqlite3_realloc64(pool->bytes, cap);
        if (!grown)
            return SQLITE_NOMEM;
        pool->bytes = grown;
        pool->cap = cap;
    }
    *at = pool->len;
    if (n)
        memcpy(pool->bytes + pool->len, bytes, n);
    pool->bytes[pool->len + n] = '\0';
    pool->len += n + 1;
    return SQLITE_OK;
}

static int is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

int cpubind_priv_is_word(const char *text)
{
    if (!is_letter_or_digit(*text))
        return 0;
    while (is_letter_or_digit(*text) || *text == '-' || *text == '.' || *text == '_')
        text++;
    return *text == '\0';
}

int cpubind_priv_is_line(const char *text)
{
    if (!*text)
        return 0;
    while ((unsigned char)*text >= ' ')
        text++;
    return *text == '\0';
}

void cpubind_priv_sum(const void *bytes, size_t n, char sum[SUM_SIZE])
{
    SHA256Data(n ? bytes : "", n, sum);
}

failure cpubind_priv_text(sqlite3_stmt *query, int column, const char **out)
{
    *out = NULL;
    if (sqlite3_column_type(query, column) == SQLITE_TEXT) {
        *out = (const char *)sqlite3_column_text(query, column);
        if (!*out)
            return cpubind_priv_fail_memory();
        if (strlen(*out) == (size_t)sqlite3_column_bytes(query, column))
            return no_failure;
    }
    return cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED, 0, "a text is not of the schema");
}

failure cpubind_priv_append_about(sqlite3_stmt *query, text_pool *pool, size_t *at)
{
    size_t begin = pool->len;
    *at = begin;
    for (int i = 0; i < HOST_TEXTS; i++) {
        const char *text;
        size_t text_at;
        failure f = cpubind_priv_text(query, i, &text);
        if (f.status)
            return f;
        if (i == 0 ? !cpubind_priv_is_word(text) : !cpubind_priv_is_line(text))
            return cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED, 0,
                                     "a text of a host breaks the rules");
        if (strlen(text) + pool->len - begin > CPUBIND_CORPUS_MAX_ABOUT)
            return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, 0, "the texts of a host");
        if (cpubind_priv_append(pool, text, strlen(text), &text_at) != SQLITE_OK)
            return cpubind_priv_fail_memory();
    }
    return no_failure;
}

cpubind_corpus_about cpubind_priv_about_at(const char *texts, const char **next)
{
    const char *text[HOST_TEXTS];
    for (int i = 0; i < HOST_TEXTS; i++) {
        text[i] = texts;
        texts += strlen(texts) + 1;
    }
    *next = texts;
    return (cpubind_corpus_about){text[0], text[1], text[2], text[3], text[4]};
}
