/* temp_store.h - a database for each test; its bytes, and queries by plain SQLite
 * SPDX-License-Identifier: MIT
 *
 * A helper that fails ends the test program: a test without its database must not pass.
 */
#ifndef CPUBIND_TESTS_SQLITE_TEMP_STORE_H
#define CPUBIND_TESTS_SQLITE_TEMP_STORE_H

#include "../../adapters/sqlite/store.h"
#include "../linux/temp_dir.h"
#include "store_fault_calls.h"

/* == a database in a folder of its own for each test == */

static struct {
    scratch s;
    char path[SCRATCH_PATH * 2]; /* "corpus.db" in it; the test makes the file */
    int descriptors;
    sqlite3_int64 memory;
} temp;

static inline void temp_store_make(void)
{
    no_faults();
    temp.descriptors = open_descriptors();
    temp.memory = sqlite3_memory_used();
    scratch_make(&temp.s);
    scratch_path(&temp.s, "corpus.db", temp.path);
}

/* Returns 0, or -1 if memory, a file descriptor or a child process of the test is left. */
static inline int temp_store_remove(void)
{
    no_faults();
    scratch_remove(&temp.s);
    return open_descriptors() == temp.descriptors && !has_child() &&
                   sqlite3_memory_used() == temp.memory
               ? 0
               : -1;
}

/* == files == */

/* All bytes of a file; bytes NULL: the file does not exist. */
typedef struct whole {
    char *bytes;
    size_t n;
} whole;

static inline whole read_whole(const char *path)
{
    whole w = {NULL, 0};
    FILE *file = fopen(path, "re");
    if (!file)
        return w;
    scratch_need(fseek(file, 0, SEEK_END) == 0, path);
    w.n = (size_t)ftell(file);
    rewind(file);
    w.bytes = malloc(w.n + 1);
    scratch_need(w.bytes && fread(w.bytes, 1, w.n, file) == w.n, path);
    fclose(file);
    return w;
}

static inline void write_whole(const char *path, const whole *w)
{
    unlink(path);
    if (!w->bytes)
        return;
    FILE *file = fopen(path, "we");
    scratch_need(file && fwrite(w->bytes, 1, w->n, file) == w->n, path);
    scratch_need(fclose(file) == 0, path);
}

static inline int is_same_whole(const whole *a, const whole *b)
{
    return (a->bytes != NULL) == (b->bytes != NULL) && a->n == b->n &&
           (a->n == 0 || memcmp(a->bytes, b->bytes, a->n) == 0);
}

static inline int file_is(const char *path, const whole *w)
{
    whole now = read_whole(path);
    int same = is_same_whole(&now, w);
    free(now.bytes);
    return same;
}

static inline int there_is(const char *path, const char *suffix)
{
    char name[SCRATCH_PATH * 2 + 16];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return access(name, F_OK) == 0;
}

/* == the real SQLite on the real file system == */

static inline sqlite3 *open_plain(const char *path)
{
    sqlite3 *db = NULL;
    scratch_need(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, "unix") == SQLITE_OK, path);
    sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    return db;
}

static inline void plain_sql(const char *path, const char *text)
{
    char *error = NULL;
    sqlite3 *db = open_plain(path);
    if (sqlite3_exec(db, text, NULL, NULL, &error) != SQLITE_OK) {
        fprintf(stderr, "%s\n%s\n", text, error);
        abort();
    }
    sqlite3_close(db);
}

/* The only result of the query, a number. */
static inline int64_t ask(const char *path, const char *question)
{
    sqlite3_stmt *query = NULL;
    sqlite3 *db = open_plain(path);
    scratch_need(sqlite3_prepare_v2(db, question, -1, &query, NULL) == SQLITE_OK, question);
    scratch_need(sqlite3_step(query) == SQLITE_ROW, question);
    int64_t number = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    sqlite3_close(db);
    return number;
}

/* Opens the database as the next writer does, which rolls back a journal that was left. Returns
 * 1 if every page and every row is sound then. An empty file is sound. */
static inline int is_sound(const char *path)
{
    sqlite3_stmt *query = NULL;
    int good = 0;
    sqlite3 *db = open_plain(path);
    sqlite3_exec(db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
    if (sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &query, NULL) == SQLITE_OK)
        good = sqlite3_step(query) == SQLITE_ROW &&
               strcmp((const char *)sqlite3_column_text(query, 0), "ok") == 0;
    sqlite3_finalize(query);
    query = NULL;
    if (sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &query, NULL) == SQLITE_OK)
        good = good && sqlite3_step(query) == SQLITE_DONE;
    sqlite3_finalize(query);
    sqlite3_close(db);
    return good;
}

/* == hosts to store == */

static inline cpubind_corpus_about about_of(const char *name)
{
    cpubind_corpus_about about = {name, "a product", "synthetic", "24.1.rc3", "it's a note"};
    return about;
}

static inline cpubind_input present(const char *text)
{
    cpubind_input input = {.state = CPUBIND_INPUT_PRESENT,
                           .data = *text ? text : NULL,
                           .len = (int32_t)strlen(text)};
    return input;
}

#define PLAN "{\"args\": [], \"exit\": 0, \"plan\": {}}\n"

static inline cpubind_corpus_status put_text(cpubind_store *store, const char *host,
                                             const char *name, const char *text,
                                             cpubind_corpus_fault *fault)
{
    cpubind_input input = present(text);
    return cpubind_store_put_input(store, host, name, &input, fault);
}

/* Stores a host with two inputs of its own and one that all hosts have. Returns the first
 * failure. */
static inline cpubind_corpus_status put_all(cpubind_store *store, const char *host,
                                            int is_replacing, cpubind_corpus_fault *fault)
{
    cpubind_corpus_about about = about_of(host);
    char own[3000];
    memset(own, 'x', sizeof own);
    snprintf(own, sizeof own, "%s", host);
    own[strlen(host)] = ' ';
    own[sizeof own - 1] = '\0';
    cpubind_corpus_status status = cpubind_store_put_host(store, &about, is_replacing, fault);
    if (status == CPUBIND_CORPUS_OK)
        status = put_text(store, host, "proc/self/status", "Cpus_allowed_list:\t0-3\n", fault);
    if (status == CPUBIND_CORPUS_OK)
        status = put_text(store, host, "cmd/npu-smi-info.txt", own, fault);
    if (status == CPUBIND_CORPUS_OK)
        status = put_text(store, host, is_replacing ? "uname" : "env", host, fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_put_expectation(store, host, "default", PLAN,
                                               (int32_t)strlen(PLAN), fault);
    return status;
}

#define SHAPE "{\"properties\": {\"cpus\": \"8\"}}"

/* Stores a host that has a shape alone, of a capture with this text. Returns the first
 * failure. */
static inline cpubind_corpus_status put_shape(cpubind_store *store, const char *host,
                                              int is_replacing, const char *capture,
                                              cpubind_corpus_fault *fault)
{
    const cpubind_corpus_about about = about_of(host);
    const cpubind_store_shape shape = {capture, (int32_t)strlen(capture), "1.0", SHAPE};
    const cpubind_corpus_status status =
        cpubind_store_put_host(store, &about, is_replacing, fault);
    return status == CPUBIND_CORPUS_OK ? cpubind_store_put_shape(store, host, &shape, fault)
                                       : status;
}

/* Returns 1 if the message of the fault is printable and complete. */
static inline int is_printable(const cpubind_corpus_fault *fault)
{
    const char *end = memchr(fault->message, '\0', sizeof fault->message);
    if (!fault->what || !*fault->what || !end)
        return 0;
    for (const char *c = fault->message; c < end; c++)
        if (*c < ' ' || *c > '~')
            return 0;
    return 1;
}

#endif /* CPUBIND_TESTS_SQLITE_TEMP_STORE_H */
