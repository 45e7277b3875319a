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

/* The first failure of a change is that of all later calls. */
static failure fail(cpubind_corpus *corpus, failure f)
{
    if (!corpus->failed.status)
        corpus->failed = f;
    return corpus->failed;
}

static failure refuse(cpubind_corpus *corpus, cpubind_corpus_status status, const char *what)
{
    return fail(corpus, cpubind_priv_fail(status, what));
}

/* Runs a statement that has no row, unless the change has failed. */
#define DO(...)                                                                                \
    (corpus->failed.status ? corpus->failed                                                    \
                           : done(corpus, cpubind_priv_ask(corpus, NULL, __VA_ARGS__)))

static failure done(cpubind_corpus *corpus, int result)
{
    return result == SQLITE_DONE ? corpus->failed
                                 : fail(corpus, cpubind_priv_fail_sqlite(corpus, result));
}

static void sum_of(const char *bytes, int32_t len, char sum[SHA256_DIGEST_STRING_LENGTH])
{
    SHA256Data((const uint8_t *)(len ? bytes : ""), (size_t)len, sum);
}

/* Goes on to a host, or with NULL to none. The one before it is read, and may be refused. */
static void go_to(cpubind_corpus *corpus, const char *name)
{
    cpubind_corpus_host *read = NULL;
    if (corpus->host && name && strcmp(corpus->host, name) == 0)
        return;
    if (corpus->host)
        (void)fail(corpus, cpubind_corpus_open_host(corpus, corpus->host, &read));
    cpubind_corpus_close_host(read);
    sqlite3_free(corpus->host);
    corpus->host = name ? sqlite3_mprintf("%s", name) : NULL;
    if (name && !corpus->host)
        (void)refuse(corpus, CPUBIND_CORPUS_ERR_MEMORY, "memory");
}

static int has_host(cpubind_corpus *corpus, const char *name)
{
    const int result =
        cpubind_priv_ask(corpus, NULL, "SELECT 1 FROM hosts WHERE name = ?1", "s", name);
    if (result != SQLITE_ROW)
        (void)done(corpus, result);
    return result == SQLITE_ROW;
}

static void need_host(cpubind_corpus *corpus, const char *name)
{
    if (!has_host(corpus, name))
        (void)refuse(corpus, CPUBIND_CORPUS_ERR_UNKNOWN_HOST, "no such row in hosts");
}

/* == Hosts ================================================================== */

cpubind_corpus_fault cpubind_corpus_put_host(cpubind_corpus *corpus,
                                             const cpubind_corpus_about *about,
                                             int is_replacing)
{
    go_to(corpus, about->name);
    if (!is_replacing && has_host(corpus, about->name))
        return refuse(corpus, CPUBIND_CORPUS_ERR_EXISTS, "a host of this name");
    (void)DO("DELETE FROM hosts WHERE name = ?1", "s", about->name);
    return DO("INSERT INTO hosts (name, product, origin, npu_smi, notes)"
              " VALUES (?1, ?2, ?3, ?4, ?5)",
              "sssss", about->name, about->product, about->origin, about->npu_smi,
              about->notes);
}

cpubind_corpus_fault cpubind_corpus_remove_host(cpubind_corpus *corpus, const char *host)
{
    go_to(corpus, NULL);
    need_host(corpus, host);
    return DO("DELETE FROM hosts WHERE name = ?1", "s", host);
}

cpubind_corpus_fault cpubind_corpus_rename_host(cpubind_corpus *corpus, const char *host,
                                                const char *name)
{
    go_to(corpus, NULL);
    need_host(corpus, host);
    if (has_host(corpus, name))
        return refuse(corpus, CPUBIND_CORPUS_ERR_EXISTS, "a host of this name");
    return DO("UPDATE hosts SET name = ?2 WHERE name = ?1", "ss", host, name);
}

/* == Inputs and expectations ================================================ */

static failure put_input(cpubind_corpus *corpus, const char *host, const char *name,
                         const cpubind_input *input)
{
    char sum[SHA256_DIGEST_STRING_LENGTH], code[12];
    if (input->len > INPUT_MAX)
        return refuse(corpus, CPUBIND_CORPUS_ERR_LIMIT, "too many bytes");
    (void)snprintf(code, sizeof code, "%d", (int)input->exit_code);
    sum_of(input->data, input->len, sum);
    (void)DO("INSERT INTO contents (sha256, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
             "sb", sum, input->data, (int)input->len);
    return DO("INSERT INTO inputs (host, name, content, exit_code) VALUES (?1, ?2, ?3, ?4)",
              "ssss", host, name, sum,
              input->state == CPUBIND_INPUT_PRESENT ? code : (const char *)NULL);
}

cpubind_corpus_fault cpubind_corpus_put_input(cpubind_corpus *corpus, const char *host,
                                              const char *name, const cpubind_input *input)
{
    const cpubind_input err = {
        .state = CPUBIND_INPUT_PRESENT, .data = input->err, .len = input->err_len};
    char *err_name = sqlite3_mprintf("%s" ERR_END, name);
    go_to(corpus, host);
    (void)put_input(corpus, host, name, input);
    if (!err_name)
        (void)refuse(corpus, CPUBIND_CORPUS_ERR_MEMORY, "memory");
    else if (err.len > 0)
        (void)put_input(corpus, host, err_name, &err);
    sqlite3_free(err_name);
    return corpus->failed;
}

cpubind_corpus_fault cpubind_corpus_put_expectation(cpubind_corpus *corpus, const char *host,
                                                    const char *name, const char *body,
                                                    int32_t len)
{
    go_to(corpus, host);
    return DO("INSERT INTO expectations (host, name, body) VALUES (?1, ?2, CAST(?3 AS TEXT))"
              " ON CONFLICT (host, name) DO UPDATE SET body = excluded.body",
              "ssb", host, name, body, (int)len);
}

cpubind_corpus_fault cpubind_corpus_remove_expectation(cpubind_corpus *corpus, const char *host,
                                                       const char *name)
{
    need_host(corpus, host);
    if (!DO("DELETE FROM expectations WHERE host = ?1 AND name = ?2", "ss", host, name)
             .status &&
        sqlite3_changes(corpus->db) == 0)
        (void)refuse(corpus, CPUBIND_CORPUS_ERR_UNKNOWN_CASE, "no such row in expectations");
    return corpus->failed;
}

/* == Shapes ================================================================= */

cpubind_corpus_fault cpubind_corpus_put_shape(cpubind_corpus *corpus, const char *host,
                                              const cpubind_corpus_shape *shape)
{
    char sum[SHA256_DIGEST_STRING_LENGTH];
    go_to(corpus, host);
    sum_of(shape->capture, shape->capture_len, sum);
    if (!corpus->failed.status && !corpus->has_shapes) {
        const int made = sqlite3_exec(corpus->db, cpubind_priv_shapes_schema, NULL, NULL, NULL);
        corpus->has_shapes = made == SQLITE_OK;
        if (made != SQLITE_OK)
            return fail(corpus, cpubind_priv_fail_sqlite(corpus, made));
    }
    return DO("INSERT INTO shapes (host, capture, program, shape) VALUES (?1, ?2, ?3, ?4)",
              "ssss", host, sum, shape->program, shape->body);
}

cpubind_corpus_fault cpubind_corpus_find_shape(cpubind_corpus *corpus,
                                               const cpubind_corpus_shape *shape,
                                               const char **host)
{
    char sum[SHA256_DIGEST_STRING_LENGTH];
    sqlite3_stmt *query;
    *host = NULL;
    if (!corpus->has_shapes)
        return corpus->failed;
    sum_of(shape->capture, shape->capture_len, sum);
    int result = cpubind_priv_ask(corpus, &query,
                                  "SELECT host FROM shapes WHERE capture = ?1 AND program = ?2",
                                  "ss", sum, shape->program);
    if (result == SQLITE_OK)
        result = sqlite3_step(query);
    return result == SQLITE_ROW ? fail(corpus, cpubind_priv_text(query, 0, host))
                                : done(corpus, result);
}

/* == The end ================================================================ */

cpubind_corpus_fault cpubind_corpus_finish(cpubind_corpus *corpus, const char **bytes,
                                           int32_t *len)
{
    sqlite3_int64 size = 0;
    go_to(corpus, NULL);
    (void)DO("DELETE FROM contents WHERE NOT EXISTS"
             " (SELECT 1 FROM inputs WHERE content = sha256)",
             "");
    if (!DO("COMMIT", "").status) {
        corpus->bytes = sqlite3_serialize(corpus->db, "main", &size, 0);
        if (!corpus->bytes)
            (void)refuse(corpus, CPUBIND_CORPUS_ERR_MEMORY, "memory");
        else if (size > INT32_MAX)
            (void)refuse(corpus, CPUBIND_CORPUS_ERR_LIMIT, "too many bytes");
    }
    *bytes = (const char *)corpus->bytes;
    *len = (int32_t)size;
    return corpus->failed;
}
