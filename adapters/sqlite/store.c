/* store.c - one change of a corpus
 * SPDX-License-Identifier: MIT
 *
 * The contracts are in corpus.h. The schema has the rules of a row; those of a host, such as
 * its size, are the reader's: each host that a change was at is read before it is written.
 */
#include <sha2.h>
#include <stdio.h>
#include <string.h>

#include "corpus.h"
#include "database.h"

/* The end of a call: the first failure of a change is that of all later calls. */
static failure end(cpubind_corpus *corpus, failure f)
{
    if (!corpus->failed.status)
        corpus->failed = f;
    return corpus->failed;
}

/* Runs a statement that has no row. */
#define DO(...) done(corpus, cpubind_priv_ask(corpus, NULL, __VA_ARGS__))

static failure done(const cpubind_corpus *corpus, int result)
{
    static const failure none = {0};
    return result == SQLITE_DONE ? none : cpubind_priv_fail_sqlite(corpus, result);
}

static void sum_of(const char *bytes, int32_t len, char sum[SHA256_DIGEST_STRING_LENGTH])
{
    SHA256Data((const uint8_t *)(len ? bytes : ""), (size_t)len, sum);
}

/* Goes on to a host, or with NULL to none. The one before it is read, and may be refused. */
static failure go_to(cpubind_corpus *corpus, const char *name)
{
    cpubind_corpus_host *read = NULL;
    failure f = {0};
    if (corpus->host && name && strcmp(corpus->host, name) == 0)
        return f;
    if (corpus->host)
        f = cpubind_corpus_open_host(corpus, corpus->host, &read);
    cpubind_corpus_close_host(read);
    sqlite3_free(corpus->host);
    corpus->host = name ? sqlite3_mprintf("%s", name) : NULL;
    if (name && !corpus->host)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_MEMORY, "memory");
    return f;
}

/* Whether there is a host: SQLITE_ROW, SQLITE_DONE or an error. */
static int has_host(cpubind_corpus *corpus, const char *name)
{
    return cpubind_priv_ask(corpus, NULL, "SELECT 1 FROM hosts WHERE name = ?1", "s", name);
}

static failure need_host(cpubind_corpus *corpus, const char *name)
{
    static const failure none = {0};
    const int result = has_host(corpus, name);
    if (result == SQLITE_DONE)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_UNKNOWN_HOST, "no such row in hosts");
    return result == SQLITE_ROW ? none : cpubind_priv_fail_sqlite(corpus, result);
}

static failure drop_host(cpubind_corpus *corpus, const char *name)
{
    return DO("DELETE FROM hosts WHERE name = ?1", "s", name);
}

/* == Hosts ================================================================== */

cpubind_corpus_fault cpubind_corpus_put_host(cpubind_corpus *corpus,
                                             const cpubind_corpus_about *about,
                                             int is_replacing)
{
    failure f = go_to(corpus, about->name);
    const int has = has_host(corpus, about->name);
    if (!f.status && has == SQLITE_ROW)
        f = is_replacing ? drop_host(corpus, about->name)
                         : cpubind_priv_fail(CPUBIND_CORPUS_ERR_EXISTS, "a host of this name");
    if (!f.status)
        f = DO("INSERT INTO hosts (name, product, origin, npu_smi, notes)"
               " VALUES (?1, ?2, ?3, ?4, ?5)",
               "sssss", about->name, about->product, about->origin, about->npu_smi,
               about->notes);
    return end(corpus, f);
}

cpubind_corpus_fault cpubind_corpus_remove_host(cpubind_corpus *corpus, const char *host)
{
    failure f = go_to(corpus, NULL);
    if (!f.status)
        f = need_host(corpus, host);
    return end(corpus, f.status ? f : drop_host(corpus, host));
}

cpubind_corpus_fault cpubind_corpus_rename_host(cpubind_corpus *corpus, const char *host,
                                                const char *name)
{
    failure f = go_to(corpus, NULL);
    if (!f.status)
        f = need_host(corpus, host);
    if (!f.status && has_host(corpus, name) == SQLITE_ROW)
        f = cpubind_priv_fail(CPUBIND_CORPUS_ERR_EXISTS, "a host of this name");
    if (!f.status)
        f = DO("UPDATE hosts SET name = ?2 WHERE name = ?1", "ss", host, name);
    return end(corpus, f);
}

/* == Inputs and expectations ================================================ */

static failure put_input(cpubind_corpus *corpus, const char *host, const char *name,
                         const cpubind_input *input)
{
    char sum[SHA256_DIGEST_STRING_LENGTH], code[12];
    if (input->len > INPUT_MAX)
        return cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, "too many bytes");
    (void)snprintf(code, sizeof code, "%d", (int)input->exit_code);
    sum_of(input->data, input->len, sum);
    failure f =
        DO("INSERT INTO contents (sha256, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING", "sb",
           sum, input->data, (int)input->len);
    if (!f.status)
        f = DO("INSERT INTO inputs (host, name, content, exit_code) VALUES (?1, ?2, ?3, ?4)",
               "ssss", host, name, sum,
               input->state == CPUBIND_INPUT_PRESENT ? code : (const char *)NULL);
    return f;
}

cpubind_corpus_fault cpubind_corpus_put_input(cpubind_corpus *corpus, const char *host,
                                              const char *name, const cpubind_input *input)
{
    const cpubind_input err = {
        .state = CPUBIND_INPUT_PRESENT, .data = input->err, .len = input->err_len};
    failure f = go_to(corpus, host);
    if (!f.status)
        f = put_input(corpus, host, name, input);
    if (!f.status && err.len > 0) {
        char *err_name = sqlite3_mprintf("%s" ERR_END, name);
        f = err_name ? put_input(corpus, host, err_name, &err)
                     : cpubind_priv_fail(CPUBIND_CORPUS_ERR_MEMORY, "memory");
        sqlite3_free(err_name);
    }
    return end(corpus, f);
}

cpubind_corpus_fault cpubind_corpus_put_expectation(cpubind_corpus *corpus, const char *host,
                                                    const char *name, const char *body,
                                                    int32_t len)
{
    failure f = go_to(corpus, host);
    if (!f.status)
        f = DO("INSERT INTO expectations (host, name, body) VALUES (?1, ?2, CAST(?3 AS TEXT))"
               " ON CONFLICT (host, name) DO UPDATE SET body = excluded.body",
               "ssb", host, name, body, (int)len);
    return end(corpus, f);
}

cpubind_corpus_fault cpubind_corpus_remove_expectation(cpubind_corpus *corpus, const char *host,
                                                       const char *name)
{
    failure f = need_host(corpus, host);
    if (!f.status)
        f = DO("DELETE FROM expectations WHERE host = ?1 AND name = ?2", "ss", host, name);
    if (!f.status && sqlite3_changes(corpus->db) == 0)
        f = cpubind_priv_fail(CPUBIND_CORPUS_ERR_UNKNOWN_CASE, "no such row in expectations");
    return end(corpus, f);
}

/* == Shapes ================================================================= */

cpubind_corpus_fault cpubind_corpus_put_shape(cpubind_corpus *corpus, const char *host,
                                              const cpubind_corpus_shape *shape)
{
    char sum[SHA256_DIGEST_STRING_LENGTH];
    failure f = go_to(corpus, host);
    sum_of(shape->capture, shape->capture_len, sum);
    if (!f.status && !corpus->has_shapes) {
        const int made = sqlite3_exec(corpus->db, cpubind_priv_shapes_schema, NULL, NULL, NULL);
        corpus->has_shapes = made == SQLITE_OK;
        f = made == SQLITE_OK ? f : cpubind_priv_fail_sqlite(corpus, made);
    }
    if (!f.status)
        f = DO("INSERT INTO shapes (host, capture, program, shape) VALUES (?1, ?2, ?3, ?4)",
               "ssss", host, sum, shape->program, shape->body);
    return end(corpus, f);
}

cpubind_corpus_fault cpubind_corpus_find_shape(cpubind_corpus *corpus,
                                               const cpubind_corpus_shape *shape,
                                               const char **host)
{
    char sum[SHA256_DIGEST_STRING_LENGTH];
    sqlite3_stmt *query;
    *host = NULL;
    if (!corpus->has_shapes)
        return end(corpus, (failure){0});
    sum_of(shape->capture, shape->capture_len, sum);
    int result = cpubind_priv_ask(corpus, &query,
                                  "SELECT host FROM shapes WHERE capture = ?1 AND program = ?2",
                                  "ss", sum, shape->program);
    if (result == SQLITE_OK)
        result = sqlite3_step(query);
    return end(corpus,
               result == SQLITE_ROW ? cpubind_priv_text(query, 0, host) : done(corpus, result));
}

/* == The end ================================================================ */

cpubind_corpus_fault cpubind_corpus_finish(cpubind_corpus *corpus, const char **bytes,
                                           int32_t *len)
{
    sqlite3_int64 size = 0;
    failure f = end(corpus, go_to(corpus, NULL));
    if (!f.status)
        f = DO("DELETE FROM contents WHERE NOT EXISTS"
               " (SELECT 1 FROM inputs WHERE content = sha256)",
               "");
    if (!f.status)
        f = DO("COMMIT", "");
    if (!f.status) {
        corpus->bytes = sqlite3_serialize(corpus->db, "main", &size, 0);
        if (!corpus->bytes)
            f = cpubind_priv_fail(CPUBIND_CORPUS_ERR_MEMORY, "memory");
        else if (size > INT32_MAX)
            f = cpubind_priv_fail(CPUBIND_CORPUS_ERR_LIMIT, "too many bytes");
    }
    *bytes = (const char *)corpus->bytes;
    *len = (int32_t)size;
    return end(corpus, f);
}
