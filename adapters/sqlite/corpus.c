/* corpus.c - a corpus that is open, and the list of its hosts
 * SPDX-License-Identifier: MIT
 *
 * Reads only, with prepared statements alone; memory comes from SQLite's allocator, so that
 * whoever configures that one has all of it.
 */
#include "corpus.h"

#include <errno.h>
#include <string.h>

#include "database.h"

/* == The database =========================================================== */

cpubind_corpus_status cpubind_corpus_open(const char *path, cpubind_corpus **out,
                                          cpubind_corpus_fault *fault)
{
    if (out)
        *out = NULL;
    if (!path || !out)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_ARG, EINVAL, "argument", fault);
    if (!*path) /* for SQLite, a database of its own that is gone when it is closed */
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_OPEN, ENOENT, "open", fault);
    cpubind_corpus *corpus = sqlite3_malloc64(sizeof *corpus);
    if (!corpus)
        return cpubind_priv_fail_memory(fault);
    corpus->d = (database){0};
    int result = cpubind_priv_open(&corpus->d, path, SQLITE_OPEN_READONLY);
    cpubind_corpus_status status = result == SQLITE_OK
                                       ? cpubind_priv_check_header(&corpus->d, fault)
                                       : cpubind_priv_fail_sqlite(&corpus->d, result, fault);
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
    cpubind_priv_close(&corpus->d);
    sqlite3_free(corpus);
}

/* == All hosts ============================================================== */

/* The texts of all hosts, one behind the other, in the order of their names. A tree with a loop
 * in it gives a name a second time. */
static cpubind_corpus_status read_texts(database *d, sqlite3_stmt *query, pile *texts,
                                        int32_t *n, cpubind_corpus_fault *fault)
{
    size_t last = 0, at;
    int result = sqlite3_step(query);
    for (; result == SQLITE_ROW; result = sqlite3_step(query)) {
        cpubind_corpus_status status = cpubind_priv_take_about(query, texts, &at, fault);
        if (status != CPUBIND_CORPUS_OK)
            return status;
        if (*n > 0 && strcmp(texts->bytes + last, texts->bytes + at) >= 0)
            return cpubind_priv_fail(CPUBIND_CORPUS_ERR_DAMAGED, 0, "the hosts do not ascend",
                                     fault);
        if (texts->len > CPUBIND_CORPUS_MAX_BYTES)
            return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, 0, "too many hosts", fault);
        last = at;
        ++*n;
    }
    return result == SQLITE_DONE ? CPUBIND_CORPUS_OK
                                 : cpubind_priv_fail_sqlite(d, result, fault);
}

/* One allocation: the rows, and the texts behind them. */
static cpubind_corpus_about *list_of(const pile *texts, int32_t n)
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

static cpubind_corpus_status read_list(database *d, cpubind_corpus_about **out, int32_t *out_n,
                                       cpubind_corpus_fault *fault)
{
    static const char sql[] = "SELECT " HOST_COLUMNS " FROM hosts ORDER BY name";
    sqlite3_stmt *query = NULL;
    pile texts = {0};
    int32_t n = 0;
    int result = sqlite3_prepare_v2(d->db, sql, sizeof sql, &query, NULL);
    cpubind_corpus_status status = result == SQLITE_OK
                                       ? read_texts(d, query, &texts, &n, fault)
                                       : cpubind_priv_fail_sqlite(d, result, fault);
    sqlite3_finalize(query); /* repeats what the last step said */
    if (status == CPUBIND_CORPUS_OK) {
        *out = list_of(&texts, n);
        *out_n = *out ? n : 0;
        if (!*out)
            status = cpubind_priv_fail_memory(fault);
    }
    sqlite3_free(texts.bytes);
    return status;
}

cpubind_corpus_status cpubind_corpus_list(cpubind_corpus *corpus, cpubind_corpus_about **out,
                                          int32_t *out_n, cpubind_corpus_fault *fault)
{
    sqlite3_stmt *pin = NULL;
    if (out)
        *out = NULL;
    if (out_n)
        *out_n = 0;
    if (!corpus || !out || !out_n)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_ARG, EINVAL, "argument", fault);
    cpubind_corpus_status status = cpubind_priv_check_tables(&corpus->d, 0, &pin, fault);
    if (status == CPUBIND_CORPUS_OK)
        status = read_list(&corpus->d, out, out_n, fault);
    cpubind_priv_end_reading(&corpus->d, pin, status);
    return status;
}

void cpubind_corpus_free_list(cpubind_corpus_about *list)
{
    sqlite3_free(list);
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
