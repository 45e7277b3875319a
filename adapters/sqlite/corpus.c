/* corpus.c - open a corpus that may be hostile, and visit its hosts
 * SPDX-License-Identifier: MIT
 *
 * The contracts are in corpus.h and database.h, the tables in fixtures/schema.sql. All memory
 * comes from SQLite's allocator, which a program can replace.
 */
#include "corpus.h"

#include <stdarg.h>
#include <string.h>

#include "../text/host_txt.h"
#include "database.h"

/* Steps that SQLite may make for a statement, in thousands; and the bytes of a corpus for each
 * further thousand where a statement reads all of it: a page can hold about a hundred rows. */
enum { STEPS = 20000, BYTES_OF_STEPS = 64 };

/* The header: https://sqlite.org/fileformat2.html#the_database_header. */
enum { HEADER_SIZE = 100, WRITE_VERSION = 18, USER_VERSION = 60, APPLICATION = 68 };

/* == Failures =============================================================== */

failure cpubind_priv_fail(cpubind_corpus_status status, const char *what)
{
    return (failure){.status = status, .what = what};
}

/* SQLite's messages may quote the file: a control character could act on a terminal. */
static failure fail_with(cpubind_corpus_status status, const char *what, const char *message)
{
    failure f = cpubind_priv_fail(status, what);
    for (int i = 0; message && message[i] && i < CPUBIND_CORPUS_MESSAGE - 1; i++)
        f.message[i] = (char)(message[i] >= ' ' && message[i] <= '~' ? message[i] : '?');
    return f;
}

failure cpubind_priv_fail_sqlite(const cpubind_corpus *corpus, int result)
{
    static const struct {
        int result;
        cpubind_corpus_status status;
        const char *what;
    } meanings[] = {
        {SQLITE_NOMEM, CPUBIND_CORPUS_ERR_MEMORY, "memory"},
        {SQLITE_IOERR_NOMEM, CPUBIND_CORPUS_ERR_MEMORY, "memory"},
        {SQLITE_ERROR, CPUBIND_CORPUS_ERR_NO_CORPUS, "the tables are not those of a corpus"},
        {SQLITE_CONSTRAINT, CPUBIND_CORPUS_ERR_RULE, "a row"},
        {SQLITE_FULL, CPUBIND_CORPUS_ERR_LIMIT, "too many bytes"},
        {SQLITE_INTERRUPT, CPUBIND_CORPUS_ERR_DAMAGED,
         "it takes more steps than a corpus can need"},
    };
    const char *message = sqlite3_errmsg(corpus->db);
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].result == result || meanings[i].result == (result & 0xff))
            return fail_with(meanings[i].status, meanings[i].what, message);
    return fail_with(CPUBIND_CORPUS_ERR_DAMAGED, "a page is damaged", message);
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

/* == Statements ============================================================= */

int cpubind_priv_ask(cpubind_corpus *corpus, sqlite3_stmt **out, const char *sql,
                     const char *types, ...)
{
    va_list list;
    int result = SQLITE_OK;
    sqlite3_stmt *made = NULL;
    while ((made = sqlite3_next_stmt(corpus->db, made)) && strcmp(sqlite3_sql(made), sql) != 0)
        ;
    corpus->left = STEPS + (corpus->may_change ? corpus->size : 0);
    if (made)
        (void)sqlite3_reset(made); /* the error of its last use was told then */
    else
        result =
            sqlite3_prepare_v3(corpus->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &made, NULL);
    va_start(list, types);
    for (int i = 0; result == SQLITE_OK && types[i]; i++) {
        const char *value = va_arg(list, const char *);
        if (types[i] == 's')
            result = sqlite3_bind_text(made, i + 1, value, -1, SQLITE_STATIC);
        else
            result = sqlite3_bind_blob(made, i + 1, value ? value : "", va_arg(list, int),
                                       SQLITE_STATIC);
    }
    va_end(list);
    if (out) {
        *out = made;
    } else if (result == SQLITE_OK) {
        result = sqlite3_step(made);
        (void)sqlite3_reset(made);
    }
    return result;
}

failure cpubind_priv_text(sqlite3_stmt *query, int column, const char **out)
{
    *out = NULL;
    if (sqlite3_column_type(query, column) == SQLITE_TEXT) {
        *out = (const char *)sqlite3_column_text(query, column);
        if (!*out)
            return cpubind_priv_fail(CPUBIND_CORPUS_ERR_MEMORY, "memory");
        if (strlen(*out) == (size_t)sqlite3_column_bytes(query, column))
            return (failure){0};
    }
    return cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED, "a text is not of the schema");
}

/* == Opening ================================================================ */

static int count_steps(void *context)
{
    cpubind_corpus *corpus = context;
    return --corpus->left < 0;
}

/* Limits what the bytes can make SQLite do. The CHECKs call functions of JSON, which SQLite
 * 3.40 takes for unsafe ones of a schema that is not trusted. It counts ON DELETE CASCADE as a
 * trigger. */
static int restrain(cpubind_corpus *corpus)
{
    const struct {
        int id, value;
    } limits[] = {{SQLITE_LIMIT_LENGTH, INPUT_MAX + (1 << 20)},
                  {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                  {SQLITE_LIMIT_COLUMN, 100},
                  {SQLITE_LIMIT_EXPR_DEPTH, 100},
                  {SQLITE_LIMIT_VDBE_OP, 25000},
                  {SQLITE_LIMIT_ATTACHED, 0},
                  {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
                  {SQLITE_LIMIT_TRIGGER_DEPTH, corpus->may_change ? 3 : 0}},
      options[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                   {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1},
                   {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                   {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
                   {SQLITE_DBCONFIG_ENABLE_FKEY, corpus->may_change}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(corpus->db, limits[i].id, limits[i].value);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (sqlite3_db_config(corpus->db, options[i].id, options[i].value, NULL) != SQLITE_OK)
            return SQLITE_NOMEM;
    sqlite3_progress_handler(corpus->db, 1000, count_steps, corpus);
    return sqlite3_exec(corpus->db,
                        "PRAGMA cell_size_check = 1; PRAGMA temp_store = MEMORY;"
                        "PRAGMA page_size = 4096; PRAGMA secure_delete = ON;",
                        NULL, NULL, NULL);
}

/* A connection to the bytes; a writer has a copy, which may grow. */
static int connect_to(cpubind_corpus *corpus, const char *bytes, int32_t len)
{
    unsigned flags = SQLITE_DESERIALIZE_READONLY;
    unsigned char *data = (unsigned char *)bytes;
    int result = sqlite3_open_v2(
        ":memory:", &corpus->db,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (result == SQLITE_OK && len > 0 && corpus->may_change) {
        flags = SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE;
        data = sqlite3_malloc(len);
        if (!data)
            return SQLITE_NOMEM;
        memcpy(data, bytes, (size_t)len);
    }
    if (result == SQLITE_OK && len > 0)
        result = sqlite3_deserialize(corpus->db, "main", data, len, len, flags);
    return result == SQLITE_OK ? restrain(corpus) : result;
}

/* A number of the header, at this byte. */
static uint32_t number_at(const char *bytes, int at)
{
    uint32_t number = 0;
    for (int i = 0; i < 4; i++)
        number = number << 8 | (unsigned char)bytes[at + i];
    return number;
}

static failure check_header(const char *bytes, int32_t len)
{
    static const char mark[] = "SQLite format 3";
    if (len == 0)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_NO_DATABASE, "the file is empty");
    if (len < HEADER_SIZE || memcmp(bytes, mark, sizeof mark) != 0)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_NO_DATABASE,
                                 "the file does not start as a database does");
    if (number_at(bytes, APPLICATION) != CPUBIND_CORPUS_APPLICATION)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_NO_CORPUS,
                                 "the application_id is not that of a corpus");
    if (bytes[WRITE_VERSION] == 2 || bytes[WRITE_VERSION + 1] == 2)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_NO_CORPUS,
                                 "it is in WAL mode, which PRAGMA journal_mode = DELETE ends");
    const int32_t version = (int32_t)number_at(bytes, USER_VERSION);
    if (version > CPUBIND_CORPUS_VERSION)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_NEWER, "the user_version is newer");
    if (version < 1)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED, "the user_version is below 1");
    return (failure){0};
}

/* == The tables ============================================================= */

/* Bit i is set if `sql` is the i-th CREATE of a schema, to the byte. sql NULL: all bits. */
static unsigned bits_of(const char *schema, const char *sql)
{
    static const char create[] = "\nCREATE ";
    const size_t n = sql ? strlen(sql) : 0;
    unsigned bits = 0, bit = 1;
    for (const char *own = strstr(schema, create); own;
         own = strstr(own + 1, create), bit <<= 1)
        if (!sql || (strncmp(own + 1, sql, n) == 0 && own[n + 1] == ';'))
            bits |= bit;
    return bits;
}

/* Checks that the tables are those of a corpus, by their text. An index that SQLite makes for a
 * UNIQUE has none. */
static failure check_tables(cpubind_corpus *corpus, int32_t version)
{
    const char *const own = cpubind_priv_corpus_schema;
    const char *const more = cpubind_priv_shapes_schema;
    const unsigned shapes = bits_of(more, NULL) << 16;
    unsigned missing = bits_of(own, NULL) | shapes;
    sqlite3_stmt *query;
    int result = cpubind_priv_ask(
        corpus, &query, "SELECT sql, name FROM sqlite_schema WHERE sql IS NOT NULL", "");
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(query, 0);
        if (!text)
            return cpubind_priv_fail(CPUBIND_CORPUS_ERR_MEMORY, "memory");
        const unsigned found = bits_of(own, text) | bits_of(more, text) << 16;
        if (corpus->may_change && !(missing & found))
            return fail_with(CPUBIND_CORPUS_ERR_NO_CORPUS,
                             "the database has other tables than those of a corpus",
                             (const char *)sqlite3_column_text(query, 1));
        missing &= ~found;
        result = SQLITE_OK;
    }
    if (result != SQLITE_DONE)
        return cpubind_priv_fail_sqlite(corpus, result);
    corpus->has_shapes = !(missing & shapes);
    if (missing & ~shapes || (corpus->may_change && missing && missing != shapes))
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_NO_CORPUS,
                                 "the tables are not those of a corpus");
    if (corpus->may_change && corpus->has_shapes != (version > 1))
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_NO_CORPUS,
                                 "the tables are not those of its user_version");
    return (failure){0};
}

/* Lets SQLite check every page and every row. */
static failure check_pages(cpubind_corpus *corpus)
{
    sqlite3_stmt *check;
    int result = cpubind_priv_ask(corpus, &check, "PRAGMA integrity_check(1)", "");
    if (result == SQLITE_OK && (result = sqlite3_step(check)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(check, 0);
        if (text && strcmp(text, "ok") == 0)
            return (failure){0};
        return fail_with(CPUBIND_CORPUS_ERR_DAMAGED, "a page is damaged", text);
    }
    return cpubind_priv_fail_sqlite(corpus, result);
}

/* Checks a corpus with bytes, or makes one without; and begins a change. */
static failure begin(cpubind_corpus *corpus, const char *bytes, int32_t len)
{
    failure f = {0};
    int result = connect_to(corpus, bytes, len);
    if (result == SQLITE_OK && len == 0)
        result = sqlite3_exec(corpus->db, cpubind_priv_corpus_schema, NULL, NULL, NULL);
    else if (result == SQLITE_OK)
        f = check_tables(corpus, (int32_t)number_at(bytes, USER_VERSION));
    if (result == SQLITE_OK && !f.status && corpus->may_change) {
        f = check_pages(corpus);
        result = sqlite3_exec(corpus->db, "BEGIN", NULL, NULL, NULL);
    }
    return f.status || result == SQLITE_OK ? f : cpubind_priv_fail_sqlite(corpus, result);
}

cpubind_corpus_fault cpubind_corpus_open(const char *bytes, int32_t len, int may_change,
                                         cpubind_corpus **out)
{
    cpubind_corpus *corpus;
    failure f = {0};
    *out = NULL;
    if (len > 0 || !may_change)
        f = check_header(bytes, len);
    if (f.status)
        return f;
    corpus = sqlite3_malloc64(sizeof *corpus);
    if (!corpus)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_MEMORY, "memory");
    *corpus =
        (cpubind_corpus){.may_change = may_change, .size = len / BYTES_OF_STEPS, .left = STEPS};
    f = begin(corpus, bytes, len);
    if (f.status)
        cpubind_corpus_close(corpus);
    else
        *out = corpus;
    return f;
}

void cpubind_corpus_close(cpubind_corpus *corpus)
{
    sqlite3_stmt *made;
    if (!corpus)
        return;
    while (corpus->db && (made = sqlite3_next_stmt(corpus->db, NULL)))
        sqlite3_finalize(made);
    sqlite3_close(corpus->db);
    sqlite3_free(corpus->host);
    sqlite3_free(corpus->bytes);
    sqlite3_free(corpus);
}

/* == All hosts ============================================================== */

/* Whether a text is not empty and contains no control character. */
static int is_line(const char *text)
{
    const char *at = text;
    while ((unsigned char)*at >= ' ')
        at++;
    return at > text && *at == '\0';
}

/* The row of a host, with its shape. */
static failure read_about(sqlite3_stmt *query, cpubind_corpus_about *out)
{
    const char **const text[] = ABOUT_TEXTS(out);
    enum { N_TEXT = 5 };
    const int n = sqlite3_column_type(query, N_TEXT) == SQLITE_NULL ? N_TEXT : N_TEXT + 2;
    int64_t size = 0;
    *out = (cpubind_corpus_about){0};
    for (int i = 0; i < n; i++) {
        const failure f = cpubind_priv_text(query, i, text[i]);
        if (f.status)
            return f;
        if (i == 0 ? !cpubind_host_txt_is_name(*text[i]) : i < N_TEXT && !is_line(*text[i]))
            return cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED,
                                     "a text of a host breaks the rules");
        size += i < N_TEXT ? sqlite3_column_bytes(query, i) + 1 : 0;
    }
    if (size > CPUBIND_CORPUS_MAX_ABOUT)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, "the texts of a host");
    if (out->shape && strlen(out->shape) > CPUBIND_CORPUS_MAX_SHAPE)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, "the shape of a host");
    return (failure){0};
}

/* Names must ascend: a tree with a loop repeats one. */
static failure visit_all(cpubind_corpus *corpus, sqlite3_stmt *query,
                         cpubind_corpus_visit *visit, void *ctx)
{
    char last[CPUBIND_HOST_TXT_NAME_MAX + 1] = "";
    int result;
    while ((result = sqlite3_step(query)) == SQLITE_ROW) {
        cpubind_corpus_about about;
        const failure f = read_about(query, &about);
        if (f.status)
            return f;
        if (strcmp(last, about.name) >= 0)
            return cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED, "the hosts do not ascend");
        memcpy(last, about.name, strlen(about.name) + 1);
        if (visit(ctx, &about))
            return (failure){0};
    }
    static const failure none = {0};
    return result == SQLITE_DONE ? none : cpubind_priv_fail_sqlite(corpus, result);
}

failure cpubind_priv_each(cpubind_corpus *corpus, const char *name, cpubind_corpus_visit *visit,
                          void *ctx)
{
#define ABOUT "SELECT name, product, origin, npu_smi, notes, "
    static const char *const all[] = {
        ABOUT "NULL, NULL FROM hosts ORDER BY name",
        ABOUT "program, shape FROM hosts LEFT JOIN shapes ON host = name ORDER BY name"};
    static const char *const one[] = {
        ABOUT "NULL, NULL FROM hosts WHERE name = ?1",
        ABOUT "program, shape FROM hosts LEFT JOIN shapes ON host = name WHERE name = ?1"};
#undef ABOUT
    sqlite3_stmt *query;
    const int has = corpus->has_shapes;
    const int result = name ? cpubind_priv_ask(corpus, &query, one[has], "s", name)
                            : cpubind_priv_ask(corpus, &query, all[has], "");
    if (result != SQLITE_OK)
        return cpubind_priv_fail_sqlite(corpus, result);
    const failure f = visit_all(corpus, query, visit, ctx);
    (void)sqlite3_reset(query);
    return f;
}

cpubind_corpus_fault cpubind_corpus_each(cpubind_corpus *corpus, cpubind_corpus_visit *visit,
                                         void *ctx)
{
    return cpubind_priv_each(corpus, NULL, visit, ctx);
}
