/* corpus_list.c - a corpus that is open, the list of its hosts, and their shapes
 * SPDX-License-Identifier: MIT
 *
 * The contracts are in corpus.h. Reads with prepared statements only and never writes. All
 * memory comes from SQLite's allocator, which a program can replace.
 */
#include "corpus.h"

#include <errno.h>
#include <string.h>

#include "database.h"

/* == The database =========================================================== */

cpubind_corpus_status cpubind_corpus_open(const char *path, cpubind_corpus **out,
                                          cpubind_corpus_fault *fault)
{
    failure f = no_failure;
    cpubind_corpus *corpus = NULL;
    if (out)
        *out = NULL;
    if (!path || !out)
        f = cpubind_priv_fail_argument();
    else if (!*path) /* SQLite would open a temporary database */
        f = cpubind_priv_fail(CPUBIND_CORPUS_ERR_OPEN, ENOENT, "open");
    else if (!(corpus = sqlite3_malloc64(sizeof *corpus)))
        f = cpubind_priv_fail_memory();
    if (!corpus)
        return cpubind_priv_report(&f, fault);
    corpus->d = (database){0};
    int result = cpubind_priv_open(&corpus->d, path, SQLITE_OPEN_READONLY);
    f = result == SQLITE_OK ? cpubind_priv_check_header(&corpus->d)
                            : cpubind_priv_fail_sqlite(&corpus->d, result);
    if (f.status)
        cpubind_corpus_close(corpus);
    else
        *out = corpus;
    return cpubind_priv_report(&f, fault);
}

void cpubind_corpus_close(cpubind_corpus *corpus)
{
    if (!corpus)
        return;
    cpubind_priv_close(&corpus->d);
    sqlite3_free(corpus);
}

/* == All hosts ============================================================== */

/* Appends the texts of all hosts. Names must ascend: a tree with a loop repeats one. */
static failure read_texts(database *d, sqlite3_stmt *query, text_pool *texts, int32_t *n)
{
    size_t last = 0, at;
    int result = sqlite3_step(query);
    for (; result == SQLITE_ROW; result = sqlite3_step(query)) {
        failure f = cpubind_priv_append_about(query, texts, &at);
        if (f.status)
            return f;
        if (*n > 0 && strcmp(texts->bytes + last, texts->bytes + at) >= 0)
            return cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED, 0, "the hosts do not ascend");
        if (texts->len > CPUBIND_CORPUS_MAX_BYTES)
            return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, 0, "too many hosts");
        last = at;
        ++*n;
    }
    return result == SQLITE_DONE ? no_failure : cpubind_priv_fail_sqlite(d, result);
}

/* The rows and their texts in one allocation. */
static cpubind_corpus_about *list_of(const text_pool *texts, int32_t n)
{
    size_t size = (size_t)n * sizeof(cpubind_corpus_about);
    cpubind_corpus_about *list = sqlite3_malloc64(size + texts->len + 1);
    if (!list)
        return NULL;
    char *copy = (char *)(list + n);
    if (texts->len)
        memcpy(copy, texts->bytes, texts->len);
    const char *next = copy;
    for (int32_t i = 0; i < n; i++)
        list[i] = cpubind_priv_about_at(next, &next);
    return list;
}

static failure read_list(database *d, cpubind_corpus_about **out, int32_t *out_n)
{
    static const char sql[] = "SELECT " HOST_COLUMNS " FROM hosts ORDER BY name";
    sqlite3_stmt *query = NULL;
    text_pool texts = {0};
    int32_t n = 0;
    int result = sqlite3_prepare_v2(d->db, sql, sizeof sql, &query, NULL);
    failure f = result == SQLITE_OK ? read_texts(d, query, &texts, &n)
                                    : cpubind_priv_fail_sqlite(d, result);
    sqlite3_finalize(query); /* returns the error of the last step again */
    if (!f.status) {
        *out = list_of(&texts, n);
        *out_n = *out ? n : 0;
        if (!*out)
            f = cpubind_priv_fail_memory();
    }
    sqlite3_free(texts.bytes);
    return f;
}

cpubind_corpus_status cpubind_corpus_list(cpubind_corpus *corpus, cpubind_corpus_about **out,
                                          int32_t *out_n, cpubind_corpus_fault *fault)
{
    failure f = cpubind_priv_fail_argument();
    sqlite3_stmt *pin = NULL;
    if (out)
        *out = NULL;
    if (out_n)
        *out_n = 0;
    if (corpus && out && out_n) {
        f = cpubind_priv_check_tables(&corpus->d, 0, &pin);
        if (!f.status)
            f = read_list(&corpus->d, out, out_n);
        cpubind_priv_end_reading(&corpus->d, pin, f.status != CPUBIND_CORPUS_OK);
    }
    return cpubind_priv_report(&f, fault);
}

void cpubind_corpus_free_list(cpubind_corpus_about *list)
{
    sqlite3_free(list);
}

/* == All shapes ============================================================= */

/* The columns after those of the host. */
enum { PROGRAM = HOST_TEXTS, SHAPE };

static failure shape_of(sqlite3_stmt *query, text_pool *texts, cpubind_corpus_shape *out)
{
    const char *next;
    size_t at;
    texts->len = 0;
    failure f = cpubind_priv_append_about(query, texts, &at);
    *out = (cpubind_corpus_shape){.program = NULL};
    if (f.status)
        return f;
    out->about = cpubind_priv_about_at(texts->bytes, &next);
    if (sqlite3_column_type(query, PROGRAM) == SQLITE_NULL)
        return no_failure;
    if (sqlite3_column_bytes(query, SHAPE) > CPUBIND_CORPUS_MAX_SHAPE)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, 0, "the shape of a host");
    f = cpubind_priv_text(query, PROGRAM, &out->program);
    if (!f.status)
        f = cpubind_priv_text(query, SHAPE, &out->body);
    if (!f.status)
        out->len = (int32_t)strlen(out->body);
    return f;
}

/* Visits the rows. Names must ascend, as in read_texts. */
static failure visit_shapes(database *d, sqlite3_stmt *query, cpubind_corpus_shape_visit *visit,
                            void *ctx)
{
    text_pool texts[2] = {{0}, {0}}; /* of a host, and of the one before it */
    failure f = no_failure;
    int result = sqlite3_step(query);
    int i = 0, is_ended = 0;
    for (; result == SQLITE_ROW && !f.status && !is_ended; i = !i) {
        cpubind_corpus_shape shape;
        f = shape_of(query, &texts[i], &shape);
        if (!f.status && texts[!i].bytes && strcmp(texts[!i].bytes, texts[i].bytes) >= 0)
            f = cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED, 0, "the hosts do not ascend");
        if (f.status)
            break;
        is_ended = visit(ctx, &shape);
        if (!is_ended)
            result = sqlite3_step(query);
    }
    if (!f.status && !is_ended && result != SQLITE_DONE)
        f = cpubind_priv_fail_sqlite(d, result);
    sqlite3_free(texts[0].bytes);
    sqlite3_free(texts[1].bytes);
    return f;
}

static failure read_shapes(database *d, cpubind_corpus_shape_visit *visit, void *ctx)
{
    static const char with[] = "SELECT " HOST_COLUMNS ", program, shape"
                               " FROM hosts LEFT JOIN shapes ON host = name ORDER BY name";
    static const char without[] =
        "SELECT " HOST_COLUMNS ", NULL, NULL FROM hosts ORDER BY name";
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(d->db, d->has_shapes ? with : without, -1, &query, NULL);
    failure f = result == SQLITE_OK ? visit_shapes(d, query, visit, ctx)
                                    : cpubind_priv_fail_sqlite(d, result);
    sqlite3_finalize(query); /* returns the error of the last step again */
    return f;
}

cpubind_corpus_status cpubind_corpus_each_shape(cpubind_corpus *corpus,
                                                cpubind_corpus_shape_visit *visit, void *ctx,
                                                cpubind_corpus_fault *fault)
{
    failure f = cpubind_priv_fail_argument();
    sqlite3_stmt *pin = NULL;
    if (corpus && visit) {
        f = cpubind_priv_check_tables(&corpus->d, 0, &pin);
        if (!f.status)
            f = read_shapes(&corpus->d, visit, ctx);
        cpubind_priv_end_reading(&corpus->d, pin, f.status != CPUBIND_CORPUS_OK);
    }
    return cpubind_priv_report(&f, fault);
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
