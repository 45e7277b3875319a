/* test_memory.c - every allocation of SQLite fails while a corpus is written and read
 * SPDX-License-Identifier: MIT
 *
 * Inside, by the functions of libcpubind_corpus: no door makes an allocation of SQLite fail, and
 * no command calls them with what they must refuse. A change whose allocation fails changes
 * no byte; a reader has each answer right, or ERR_MEMORY. Nothing is left allocated.
 */
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "../../adapters/sqlite/corpus.h"
#include "../../adapters/sqlite/store.h"
#include "../support/test.h"

#define PLAN  "{\"args\": [], \"exit\": 0, \"plan\": {}}\n"
#define SHAPE "{\"properties\": {\"cpus\": \"8\"}}"

/* == An allocator that fails ================================================ */

static sqlite3_mem_methods real;
static int fail_at, n_call, is_lasting, n_failed;

static int is_due(void)
{
    n_call++;
    if (fail_at == 0 || n_call < fail_at || (n_call > fail_at && !is_lasting))
        return 0;
    n_failed++;
    return 1;
}

static void *failing_malloc(int n)
{
    return is_due() ? NULL : real.xMalloc(n);
}

static void *failing_realloc(void *at, int n)
{
    return is_due() ? NULL : real.xRealloc(at, n);
}

static char folder[64], path[96];

SETUP(set_up)
{
    sqlite3_mem_methods failing;
    (void)snprintf(folder, sizeof folder, "/tmp/cpubind-memory-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/c.db", folder);
    (void)sqlite3_shutdown();
    if (!real.xMalloc)
        assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real), SQLITE_OK);
    failing = real;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing), SQLITE_OK);
    fail_at = n_failed = 0;
    return 0;
}

SETUP(tear_down)
{
    (void)unlink(path);
    return rmdir(folder);
}

/* == A change, and what reads it ============================================ */

static cpubind_corpus_fault fault;

static cpubind_input text_of(const char *text)
{
    return (cpubind_input){
        .state = CPUBIND_INPUT_PRESENT, .data = text, .len = (int32_t)strlen(text)};
}

static cpubind_corpus_status put(cpubind_store *store, const char *host, int is_replacing)
{
    const cpubind_corpus_about about = {host, "a product", "synthetic", "none", "a note"};
    const cpubind_input cpus = text_of("0-3\n"), own = text_of(host), none = text_of("");
    cpubind_corpus_status status = cpubind_store_put_host(store, &about, is_replacing, &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_put_input(store, host, "proc/self/status", &cpus, &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_put_input(store, host, "env", &own, &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_put_input(store, host, "proc/empty", &none, &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_put_expectation(store, host, "default", PLAN,
                                               (int32_t)strlen(PLAN), &fault);
    return status;
}

/* All that a writer can do. */
static cpubind_corpus_status change(void)
{
    const cpubind_store_shape shape = {"a capture", 9, "1.0", SHAPE};
    const cpubind_corpus_about about = {"shape", "p", "synthetic", "none", "n"};
    cpubind_store *store = NULL;
    char found[16];
    cpubind_corpus_status status = cpubind_store_open(path, &store, &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = put(store, "one", 1);
    if (status == CPUBIND_CORPUS_OK)
        status = put(store, "two", 1);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_rename_host(store, "two", "three", &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_remove_expectation(store, "three", "default", &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_remove_host(store, "three", &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_put_host(store, &about, 1, &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_put_shape(store, "shape", &shape, &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_find_shape(store, &shape, found, (int32_t)sizeof found, &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_commit(store, &fault);
    cpubind_store_close(store);
    return status;
}

static int count_shape(void *n, const cpubind_corpus_shape *shape)
{
    (void)shape;
    ++*(int *)n;
    return 0;
}

static cpubind_corpus_status read_all(void)
{
    cpubind_corpus *corpus = NULL;
    cpubind_corpus_about *list = NULL;
    cpubind_corpus_host *host = NULL;
    int32_t n = 0;
    int n_shape = 0;
    cpubind_corpus_status status = cpubind_corpus_open(path, &corpus, &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_corpus_list(corpus, &list, &n, &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_corpus_each_shape(corpus, count_shape, &n_shape, &fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_corpus_open_host(corpus, "one", &host, &fault);
    if (status == CPUBIND_CORPUS_OK) {
        const cpubind_source source = cpubind_corpus_source(host);
        const cpubind_input names = source.list(source.ctx, "proc");
        assert_int_equal(n, 2);
        assert_int_equal(n_shape, 2);
        assert_int_equal(source.read(source.ctx, "env").len, 3);
        if (names.state == CPUBIND_INPUT_FAILED)
            status = CPUBIND_CORPUS_ERR_MEMORY;
        else
            assert_int_equal(names.len, strlen("empty\nself\n"));
    }
    cpubind_corpus_close_host(host);
    cpubind_corpus_free_list(list);
    cpubind_corpus_close(corpus);
    return status;
}

/* The bytes of the corpus; the caller frees them. */
static char *bytes_of(size_t *n)
{
    FILE *file = fopen(path, "re");
    char *bytes = (char *)calloc(1, 1 << 20);
    assert_true(file && bytes);
    *n = fread(bytes, 1, 1 << 20, file);
    (void)fclose(file);
    return bytes;
}

/* Each `step`-th allocation fails, or each after it too. Returns how many there are. */
static int fail_each(cpubind_corpus_status (*work)(void), int lasting, int step)
{
    size_t n_before, n_after;
    for (int at = 1;; at += step) {
        char *before = bytes_of(&n_before), *after;
        const sqlite3_int64 used = sqlite3_memory_used();
        cpubind_corpus_status status;
        n_call = n_failed = 0;
        fail_at = at;
        is_lasting = lasting;
        status = work();
        fail_at = 0;
        assert_int_equal(sqlite3_memory_used(), used);
        after = bytes_of(&n_after);
        /* json_valid of SQLite says 0 without memory: a writer may call a row damaged. */
        if (status != CPUBIND_CORPUS_OK && status != CPUBIND_CORPUS_ERR_MEMORY &&
            work == read_all)
            fail_msg("allocation %d: %s, %s (%s)", at, cpubind_corpus_status_name(status),
                     fault.what, fault.message);
        if (status != CPUBIND_CORPUS_OK)
            assert_true(n_after == n_before && memcmp(before, after, n_before) == 0);
        free(before);
        free(after);
        if (n_failed == 0)
            return at;
    }
}

TEST(every_allocation_may_fail)
{
    assert_int_equal(change(), CPUBIND_CORPUS_OK);
    assert_in_range(fail_each(change, 0, 3), 300, 100000);
    assert_in_range(fail_each(change, 1, 17), 300, 100000);
    assert_in_range(fail_each(read_all, 0, 1), 100, 100000);
    assert_in_range(fail_each(read_all, 1, 5), 100, 100000);
}

/* == Arguments ============================================================== */

enum { TOO_LONG = (64 << 20) + 1 };

#define REFUSED(call) assert_int_equal(call, CPUBIND_CORPUS_ERR_ARG)

TEST(a_reader_refuses_bad_arguments)
{
    cpubind_corpus *corpus = NULL;
    cpubind_corpus_host *host = NULL;
    cpubind_corpus_about *list = NULL;
    int32_t n = 0;
    assert_int_equal(change(), CPUBIND_CORPUS_OK);
    REFUSED(cpubind_corpus_open(NULL, &corpus, NULL));
    REFUSED(cpubind_corpus_open(path, NULL, NULL));
    assert_int_equal(cpubind_corpus_open("", &corpus, NULL), CPUBIND_CORPUS_ERR_OPEN);
    assert_int_equal(cpubind_corpus_open(path, &corpus, NULL), CPUBIND_CORPUS_OK);
    REFUSED(cpubind_corpus_list(NULL, &list, &n, NULL));
    REFUSED(cpubind_corpus_list(corpus, NULL, &n, NULL));
    REFUSED(cpubind_corpus_list(corpus, &list, NULL, NULL));
    REFUSED(cpubind_corpus_each_shape(corpus, NULL, NULL, NULL));
    REFUSED(cpubind_corpus_open_host(corpus, NULL, &host, NULL));
    REFUSED(cpubind_corpus_open_host(NULL, "one", &host, NULL));
    REFUSED(cpubind_corpus_open_host(corpus, "one", NULL, NULL));
    assert_int_equal(cpubind_corpus_open_host(corpus, "one", &host, NULL), CPUBIND_CORPUS_OK);
    const cpubind_source source = cpubind_corpus_source(host);
    assert_int_equal(source.read(source.ctx, "../env").state, CPUBIND_INPUT_FAILED);
    assert_int_equal(source.list(source.ctx, "/").state, CPUBIND_INPUT_FAILED);
    assert_int_equal(source.list(source.ctx, "env").state, CPUBIND_INPUT_FAILED);
    assert_int_equal(source.read(source.ctx, "proc").state, CPUBIND_INPUT_FAILED);
    assert_int_equal(source.list(source.ctx, "proc/self").state, CPUBIND_INPUT_PRESENT);
    assert_int_equal(source.list(source.ctx, "proc/empty").state, CPUBIND_INPUT_PRESENT);
    assert_int_equal(source.list(source.ctx, "sys").state, CPUBIND_INPUT_ABSENT);
    assert_int_equal(source.read(source.ctx, "uname").state, CPUBIND_INPUT_ABSENT);
    cpubind_corpus_close_host(host);
    cpubind_corpus_close(corpus);
    cpubind_corpus_close(NULL);
    cpubind_corpus_close_host(NULL);
    assert_string_equal(cpubind_corpus_status_name((cpubind_corpus_status)-1), "?");
    assert_string_equal(cpubind_corpus_status_text((cpubind_corpus_status)-1), "?");
}

TEST(a_writer_refuses_bad_arguments)
{
    static char large[TOO_LONG];
    static const cpubind_input bad[] = {
        {.state = CPUBIND_INPUT_ABSENT},
        {.state = CPUBIND_INPUT_TIMEOUT, .data = "x", .len = 1},
        {.state = CPUBIND_INPUT_PRESENT, .data = NULL, .len = 1},
        {.state = CPUBIND_INPUT_PRESENT, .data = "x", .len = -1},
        {.state = CPUBIND_INPUT_PRESENT, .data = "x", .len = 1, .err_len = -1},
        {.state = CPUBIND_INPUT_PRESENT, .data = "x", .len = 1, .err_len = 1},
    };
    const cpubind_input input = text_of("x");
    const cpubind_input at_limit = {
        .state = CPUBIND_INPUT_PRESENT, .data = large, .len = TOO_LONG};
    const cpubind_store_shape shape = {"x", 1, "1.0", NULL};
    cpubind_corpus_about about = {"one", "p", "synthetic", "none", "n"};
    const char **const texts[] = {&about.name, &about.product, &about.origin, &about.npu_smi,
                                  &about.notes};
    cpubind_store *store = NULL;
    assert_int_equal(change(), CPUBIND_CORPUS_OK);
    REFUSED(cpubind_store_open(NULL, &store, NULL));
    REFUSED(cpubind_store_open(path, NULL, NULL));
    assert_int_equal(cpubind_store_open("", &store, NULL), CPUBIND_CORPUS_ERR_OPEN);
    assert_int_equal(cpubind_store_open(path, &store, NULL), CPUBIND_CORPUS_OK);
    REFUSED(cpubind_store_put_host(store, NULL, 0, NULL));
    REFUSED(cpubind_store_put_host(NULL, &about, 0, NULL));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *const good = *texts[i];
        *texts[i] = NULL;
        REFUSED(cpubind_store_put_host(store, &about, 0, NULL));
        *texts[i] = good;
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REFUSED(cpubind_store_put_input(store, "one", "cmd/a", &bad[i], NULL));
    REFUSED(cpubind_store_put_input(NULL, "one", "a", &input, NULL));
    REFUSED(cpubind_store_put_input(store, NULL, "a", &input, NULL));
    REFUSED(cpubind_store_put_input(store, "one", NULL, &input, NULL));
    REFUSED(cpubind_store_put_input(store, "one", "a", NULL, NULL));
    assert_int_equal(cpubind_store_put_input(store, "one", "env/a", &input, NULL),
                     CPUBIND_CORPUS_ERR_RULE);
    assert_int_equal(cpubind_store_put_input(store, "one", "a", &at_limit, NULL),
                     CPUBIND_CORPUS_ERR_LIMIT);
    memset(large, 'n', 1 << 21);
    large[(1 << 21) - 1] = '\0';
    about.notes = large;
    assert_int_equal(cpubind_store_put_host(store, &about, 1, NULL), CPUBIND_CORPUS_ERR_LIMIT);
    REFUSED(cpubind_store_put_expectation(NULL, "one", "a", PLAN, 1, NULL));
    REFUSED(cpubind_store_put_expectation(store, "one", "a", NULL, 1, NULL));
    REFUSED(cpubind_store_put_expectation(store, "one", "a", PLAN, -1, NULL));
    assert_int_equal(cpubind_store_put_expectation(store, "one", "a", "", 0, NULL),
                     CPUBIND_CORPUS_ERR_RULE);
    assert_int_equal(cpubind_store_put_expectation(store, "one", "a", "{\0}", 3, NULL),
                     CPUBIND_CORPUS_ERR_RULE);
    REFUSED(cpubind_store_put_shape(store, "one", &shape, NULL));
    REFUSED(cpubind_store_remove_host(store, NULL, NULL));
    REFUSED(cpubind_store_remove_host(NULL, "one", NULL));
    REFUSED(cpubind_store_remove_expectation(store, "one", NULL, NULL));
    REFUSED(cpubind_store_rename_host(store, "one", NULL, NULL));
    REFUSED(cpubind_store_commit(NULL, NULL));
    assert_int_equal(cpubind_store_commit(store, NULL), CPUBIND_CORPUS_OK);
    REFUSED(cpubind_store_commit(store, NULL));
    REFUSED(cpubind_store_remove_host(store, "one", NULL)); /* it can only be closed */
    cpubind_store_close(store);
    cpubind_store_close(NULL);
}

TEST_FILE(set_up, tear_down)
