/* test_store.c - adding to a corpus: a put can be read back, a wrong put is refused
 * SPDX-License-Identifier: MIT
 *
 * Failures of memory and files are in test_store_faults.c. After each test, all memory, file
 * descriptors and child processes must be gone. The contracts are in store.h.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "../support/test.h"
#include "temp_store.h"

typedef struct fixture {
    cpubind_store *store;
    cpubind_corpus *corpus;
    cpubind_corpus_host *host;
    cpubind_corpus_fault fault;
} fixture;

static fixture f;

SETUP(set_up)
{
    temp_store_make();
    return 0;
}

static void close_store(void)
{
    cpubind_store_close(f.store);
    f.store = NULL;
}

static void close_host(void)
{
    cpubind_corpus_close_host(f.host);
    cpubind_corpus_close(f.corpus);
    f.host = NULL;
    f.corpus = NULL;
}

SETUP(tear_down)
{
    close_host();
    close_store();
    return temp_store_remove();
}

static cpubind_corpus_status open_store(void)
{
    memset(&f.fault, 0x55, sizeof f.fault);
    f.store = (cpubind_store *)&f;
    cpubind_corpus_status status = cpubind_store_open(temp.path, &f.store, &f.fault);
    assert_int_equal(f.store == NULL, status != CPUBIND_CORPUS_OK);
    return status;
}

static void opened(void)
{
    assert_int_equal(open_store(), CPUBIND_CORPUS_OK);
}

static void opening_is(cpubind_corpus_status status, const char *what)
{
    assert_int_equal(open_store(), status);
    assert_true(is_printable(&f.fault));
    assert_string_equal(f.fault.what, what);
}

static cpubind_corpus_status put_host(const char *name, int is_replacing)
{
    cpubind_corpus_about about = about_of(name);
    memset(&f.fault, 0x55, sizeof f.fault);
    return cpubind_store_put_host(f.store, &about, is_replacing, &f.fault);
}

static cpubind_corpus_status put(const char *host, const char *name, const char *text)
{
    memset(&f.fault, 0x55, sizeof f.fault);
    return put_text(f.store, host, name, text, &f.fault);
}

static cpubind_corpus_status put_plan(const char *host, const char *name, const char *body)
{
    memset(&f.fault, 0x55, sizeof f.fault);
    return cpubind_store_put_expectation(f.store, host, name, body, (int32_t)strlen(body),
                                         &f.fault);
}

static void committed(void)
{
    assert_int_equal(cpubind_store_commit(f.store, &f.fault), CPUBIND_CORPUS_OK);
    close_store();
}

/* Makes a corpus with these hosts, as put_all puts them. */
static void make_corpus(const char *first, const char *second)
{
    opened();
    assert_int_equal(put_all(f.store, first, 0, &f.fault), CPUBIND_CORPUS_OK);
    if (second)
        assert_int_equal(put_all(f.store, second, 0, &f.fault), CPUBIND_CORPUS_OK);
    committed();
}

static void read_host(const char *name)
{
    assert_int_equal(cpubind_corpus_open(temp.path, &f.corpus, &f.fault), CPUBIND_CORPUS_OK);
    assert_int_equal(cpubind_corpus_open_host(f.corpus, name, &f.host, &f.fault),
                     CPUBIND_CORPUS_OK);
}

static cpubind_input get(const char *name)
{
    cpubind_source source = cpubind_corpus_source(f.host);
    return source.read(source.ctx, name);
}

static cpubind_input names_in(const char *name)
{
    cpubind_source source = cpubind_corpus_source(f.host);
    return source.list(source.ctx, name);
}

/* == a put can be read back == */

TEST(a_host_is_read_as_it_was_put)
{
    static const char odd[] = "a\0b\r\n\xff";
    cpubind_corpus_about about = {"one", "p\xc3\xa4", "captured", "unknown", "it's \"here\""};
    cpubind_input bytes = {
        .state = CPUBIND_INPUT_PRESENT, .data = odd, .len = (int32_t)sizeof odd - 1};
    cpubind_input refused = present("no\n");
    cpubind_input late = {.state = CPUBIND_INPUT_TIMEOUT};
    refused.exit_code = 187;
    opened();
    assert_int_equal(cpubind_store_put_host(f.store, &about, 0, NULL), CPUBIND_CORPUS_OK);
    assert_int_equal(cpubind_store_put_input(f.store, "one", "sys/a b/c", &bytes, NULL), 0);
    assert_int_equal(cpubind_store_put_input(f.store, "one", "cmd/a.txt", &refused, NULL), 0);
    assert_int_equal(cpubind_store_put_input(f.store, "one", "cmd/b.txt", &late, NULL), 0);
    assert_int_equal(put("one", "env", ""), CPUBIND_CORPUS_OK);
    assert_int_equal(put("one", "proc/trs_core/proc", ""), CPUBIND_CORPUS_OK);
    assert_int_equal(put_plan("one", "default", PLAN), CPUBIND_CORPUS_OK);
    committed();
    read_host("one");
    assert_true(is_text(names_in("proc/trs_core/proc"), "")); /* an empty folder */
    assert_int_equal(names_in("env").state, CPUBIND_INPUT_FAILED);
    assert_string_equal(cpubind_corpus_about_host(f.host).product, about.product);
    assert_string_equal(cpubind_corpus_about_host(f.host).origin, "captured");
    assert_string_equal(cpubind_corpus_about_host(f.host).npu_smi, "unknown");
    assert_string_equal(cpubind_corpus_about_host(f.host).notes, about.notes);
    assert_int_equal(cpubind_corpus_n_input(f.host), 5);
    assert_int_equal(get("sys/a b/c").len, sizeof odd - 1);
    assert_memory_equal(get("sys/a b/c").data, odd, sizeof odd - 1);
    assert_true(is_text(get("cmd/a.txt"), "no\n"));
    assert_int_equal(get("cmd/a.txt").exit_code, 187);
    assert_true(is_state(get("cmd/b.txt"), CPUBIND_INPUT_TIMEOUT));
    assert_true(is_text(get("env"), ""));
    assert_int_equal(cpubind_corpus_n_expectation(f.host), 1);
    assert_string_equal(cpubind_corpus_expectation_at(f.host, 0).body, PLAN);
    assert_false(there_is(temp.path, "-journal"));
    assert_true(is_sound(temp.path));
}

TEST(the_stderr_of_a_command_is_a_part_of_its_input)
{
    static char text[CPUBIND_INPUT_ERR_MAX + 1];
    const cpubind_corpus_about about = about_of("one");
    cpubind_input silent = present("x\n"), loud = present("y\n");
    cpubind_input late = {.state = CPUBIND_INPUT_TIMEOUT, .err = "waiting\n", .err_len = 8};
    memset(text, 'e', sizeof text);
    loud.err = text;
    loud.err_len = (int32_t)sizeof text; /* one byte more than a source gives */
    opened();
    assert_int_equal(cpubind_store_put_host(f.store, &about, 0, NULL), CPUBIND_CORPUS_OK);
    assert_int_equal(cpubind_store_put_input(f.store, "one", "cmd/a.txt", &silent, NULL), 0);
    assert_int_equal(cpubind_store_put_input(f.store, "one", "cmd/b.txt", &loud, NULL), 0);
    assert_int_equal(cpubind_store_put_input(f.store, "one", "cmd/b.txt-x", &silent, NULL), 0);
    assert_int_equal(cpubind_store_put_input(f.store, "one", "cmd/c.txt", &late, NULL), 0);
    assert_int_equal(put("one", "cmd/alone.txt.err", "z"), CPUBIND_CORPUS_OK);
    loud.err = NULL;
    assert_int_equal(cpubind_store_put_input(f.store, "one", "cmd/d.txt", &loud, NULL),
                     CPUBIND_CORPUS_ERR_ARG);
    loud.err_len = -1;
    assert_int_equal(cpubind_store_put_input(f.store, "one", "cmd/d.txt", &loud, NULL),
                     CPUBIND_CORPUS_ERR_ARG);
    committed();
    read_host("one");
    assert_int_equal(cpubind_corpus_n_input(f.host), 5);
    assert_true(is_text(get("cmd/a.txt"), "x\n"));
    assert_int_equal(get("cmd/a.txt").err_len, 0);
    assert_null(get("cmd/a.txt").err);
    assert_true(is_text(get("cmd/b.txt"), "y\n"));
    assert_int_equal(get("cmd/b.txt").err_len, CPUBIND_INPUT_ERR_MAX);
    assert_memory_equal(get("cmd/b.txt").err, text, CPUBIND_INPUT_ERR_MAX);
    assert_true(is_text(get("cmd/b.txt-x"), "x\n"));
    assert_true(is_state(get("cmd/c.txt"), CPUBIND_INPUT_TIMEOUT));
    assert_int_equal(get("cmd/c.txt").err_len, 8);
    assert_memory_equal(get("cmd/c.txt").err, "waiting\n", 8);
    assert_true(is_state(get("cmd/b.txt.err"), CPUBIND_INPUT_ABSENT));
    assert_true(is_text(get("cmd/alone.txt.err"), "z"));
    assert_true(is_sound(temp.path));
}

TEST(a_new_corpus_has_the_schema_and_its_numbers)
{
    opened();
    committed();
    assert_int_equal(ask(temp.path, "PRAGMA application_id"), 0x43505542);
    assert_int_equal(ask(temp.path, "PRAGMA user_version"), 1);
    assert_int_equal(ask(temp.path, "PRAGMA page_size"), 4096);
    assert_true(ask(temp.path, "SELECT count(*) FROM readme") > 5);
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM hosts"), 0);
    assert_int_equal(ask(temp.path,
                         "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND"
                         " name = 'inputs_content'"),
                     1);
}

TEST(an_empty_file_becomes_a_corpus)
{
    scratch_file(&temp.s, "corpus.db", "");
    make_corpus("one", NULL);
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM hosts"), 1);
}

TEST(equal_bytes_are_stored_once)
{
    make_corpus("one", "two");
    /* one shared; and for each host, one of cmd/ and its name in env */
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM inputs"), 6);
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM contents"), 5);
}

/* The SHA-256 of "abc", from FIPS 180. */
TEST(the_sum_is_the_sha256)
{
    opened();
    assert_int_equal(put_host("one", 0), CPUBIND_CORPUS_OK);
    assert_int_equal(put("one", "env", "abc"), CPUBIND_CORPUS_OK);
    committed();
    assert_int_equal(ask(temp.path,
                         "SELECT count(*) FROM contents WHERE sha256 ="
                         " 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'"),
                     1);
}

TEST(replacing_a_host_deletes_all_of_it)
{
    make_corpus("one", "two");
    opened();
    assert_int_equal(put_host("one", 1), CPUBIND_CORPUS_OK);
    assert_int_equal(put("one", "uname", "aarch64\n"), CPUBIND_CORPUS_OK);
    committed();
    read_host("one");
    assert_int_equal(cpubind_corpus_n_input(f.host), 1);
    assert_int_equal(cpubind_corpus_n_expectation(f.host), 0);
    close_host();
    read_host("two");
    assert_int_equal(cpubind_corpus_n_input(f.host), 3);
    /* the shared one stays for the other host; two of the old host are gone */
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM contents"), 4);
    assert_true(is_sound(temp.path));
}

TEST(a_missing_host_may_be_replaced)
{
    opened();
    assert_int_equal(put_host("one", 1), CPUBIND_CORPUS_OK);
    assert_int_equal(put_host("one", 1), CPUBIND_CORPUS_OK);
    committed();
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM hosts"), 1);
}

TEST(an_expectation_gets_another_body)
{
    make_corpus("one", NULL);
    opened();
    assert_int_equal(put_plan("one", "default", "{\"args\":[],\"exit\":1,\"error\":{}}"), 0);
    assert_int_equal(put_plan("one", "rank-1", PLAN), CPUBIND_CORPUS_OK);
    committed();
    read_host("one");
    assert_int_equal(cpubind_corpus_n_expectation(f.host), 2);
    assert_string_equal(cpubind_corpus_expectation_at(f.host, 0).body,
                        "{\"args\":[],\"exit\":1,\"error\":{}}");
    assert_int_equal(cpubind_corpus_n_input(f.host), 3);
}

TEST(a_removed_host_leaves_nothing)
{
    make_corpus("one", "two");
    opened();
    assert_int_equal(cpubind_store_remove_host(f.store, "one", &f.fault), CPUBIND_CORPUS_OK);
    committed();
    read_host("two");
    assert_int_equal(cpubind_corpus_n_input(f.host), 3);
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM hosts"), 1);
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM inputs WHERE host = 'one'"), 0);
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM expectations WHERE host = 'one'"), 0);
    /* the one that both had stays; two of the removed host are gone */
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM contents"), 3);
    assert_true(is_sound(temp.path));
}

TEST(a_removed_expectation_leaves_the_others)
{
    make_corpus("one", NULL);
    opened();
    assert_int_equal(put_plan("one", "rank-1", PLAN), CPUBIND_CORPUS_OK);
    assert_int_equal(cpubind_store_remove_expectation(f.store, "one", "default", &f.fault),
                     CPUBIND_CORPUS_OK);
    committed();
    read_host("one");
    assert_int_equal(cpubind_corpus_n_expectation(f.host), 1);
    assert_string_equal(cpubind_corpus_expectation_at(f.host, 0).name, "rank-1");
    assert_int_equal(cpubind_corpus_n_input(f.host), 3);
}

TEST(a_renamed_host_keeps_all_of_it)
{
    make_corpus("one", "two");
    opened();
    assert_int_equal(cpubind_store_rename_host(f.store, "one", "three", &f.fault),
                     CPUBIND_CORPUS_OK);
    committed();
    read_host("three");
    assert_int_equal(cpubind_corpus_n_input(f.host), 3);
    assert_int_equal(cpubind_corpus_n_expectation(f.host), 1);
    close_host();
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM hosts WHERE name = 'one'"), 0);
    assert_true(is_sound(temp.path));
}

/* Each refusal has no effect, and the change goes on. */
TEST(a_host_that_is_not_there_is_neither_removed_nor_renamed)
{
    make_corpus("one", "two");
    opened();
    assert_int_equal(cpubind_store_remove_host(f.store, "three", &f.fault),
                     CPUBIND_CORPUS_ERR_UNKNOWN_HOST);
    assert_int_equal(cpubind_store_remove_expectation(f.store, "three", "default", &f.fault),
                     CPUBIND_CORPUS_ERR_UNKNOWN_HOST);
    assert_int_equal(cpubind_store_remove_expectation(f.store, "one", "rank-1", &f.fault),
                     CPUBIND_CORPUS_ERR_UNKNOWN_CASE);
    assert_int_equal(cpubind_store_rename_host(f.store, "three", "four", &f.fault),
                     CPUBIND_CORPUS_ERR_UNKNOWN_HOST);
    assert_int_equal(cpubind_store_rename_host(f.store, "one", "two", &f.fault),
                     CPUBIND_CORPUS_ERR_EXISTS);
    assert_int_equal(cpubind_store_rename_host(f.store, "one", "a/b", &f.fault),
                     CPUBIND_CORPUS_ERR_RULE);
    assert_int_equal(cpubind_store_remove_host(NULL, "one", &f.fault), CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_store_remove_host(f.store, NULL, &f.fault),
                     CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_store_remove_expectation(f.store, "one", NULL, &f.fault),
                     CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_store_rename_host(f.store, "one", NULL, &f.fault),
                     CPUBIND_CORPUS_ERR_ARG);
    committed();
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM hosts"), 2);
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM expectations"), 2);
}

/* A host that is put after a removal of its name has the sizes of the new host alone. */
TEST(a_removed_host_may_be_put_again)
{
    make_corpus("one", NULL);
    opened();
    assert_int_equal(put("one", "uname", "aarch64\n"), CPUBIND_CORPUS_OK);
    assert_int_equal(cpubind_store_remove_host(f.store, "one", &f.fault), CPUBIND_CORPUS_OK);
    assert_int_equal(put("one", "uname", "aarch64\n"), CPUBIND_CORPUS_ERR_RULE);
    assert_int_equal(put_host("one", 0), CPUBIND_CORPUS_OK);
    assert_int_equal(put("one", "uname", "aarch64\n"), CPUBIND_CORPUS_OK);
    committed();
    read_host("one");
    assert_int_equal(cpubind_corpus_n_input(f.host), 1);
}

TEST(the_same_calls_give_the_same_bytes)
{
    whole file[2];
    for (int i = 0; i < 2; i++) {
        make_corpus("one", "two");
        opened();
        assert_int_equal(put_all(f.store, "one", 1, &f.fault), CPUBIND_CORPUS_OK);
        committed();
        file[i] = read_whole(temp.path);
        scratch_need(unlink(temp.path) == 0, temp.path);
        if (i == 0)
            sleep(1); /* so that a time in the file would differ */
    }
    assert_true(file[0].n > 4096);
    assert_true(is_same_whole(&file[0], &file[1]));
    free(file[0].bytes);
    free(file[1].bytes);
}

/* The file contains no bytes of a deleted host. */
TEST(replaced_bytes_are_erased_from_the_file)
{
    opened();
    assert_int_equal(put_host("one", 0), CPUBIND_CORPUS_OK);
    assert_int_equal(put("one", "env", "a-secret-that-goes"), CPUBIND_CORPUS_OK);
    committed();
    whole with = read_whole(temp.path);
    opened();
    assert_int_equal(put_host("one", 1), CPUBIND_CORPUS_OK);
    committed();
    whole without = read_whole(temp.path);
    assert_non_null(memmem(with.bytes, with.n, "a-secret-that-goes", 18));
    assert_null(memmem(without.bytes, without.n, "a-secret-that-goes", 18));
    free(with.bytes);
    free(without.bytes);
}

/* == a change without a commit == */

TEST(without_a_commit_nothing_has_changed)
{
    make_corpus("one", NULL);
    whole before = read_whole(temp.path);
    opened();
    assert_int_equal(put_all(f.store, "two", 0, &f.fault), CPUBIND_CORPUS_OK);
    assert_int_equal(put_host("one", 1), CPUBIND_CORPUS_OK);
    close_store();
    assert_true(file_is(temp.path, &before));
    assert_false(there_is(temp.path, "-journal"));
    free(before.bytes);
}

TEST(a_new_file_without_a_commit_is_removed)
{
    opened();
    assert_true(there_is(temp.path, ""));
    assert_int_equal(put_all(f.store, "one", 0, &f.fault), CPUBIND_CORPUS_OK);
    close_store();
    assert_false(there_is(temp.path, ""));
    assert_false(there_is(temp.path, "-journal"));
}

TEST(a_file_that_was_empty_stays)
{
    scratch_file(&temp.s, "corpus.db", "");
    opened();
    assert_int_equal(put_host("one", 0), CPUBIND_CORPUS_OK);
    close_store();
    assert_true(file_is(temp.path, &(whole){(char[]){""}, 0}));
}

TEST(after_a_commit_a_store_can_only_be_closed)
{
    opened();
    assert_int_equal(cpubind_store_commit(f.store, NULL), CPUBIND_CORPUS_OK);
    assert_int_equal(put_host("one", 0), CPUBIND_CORPUS_ERR_ARG);
    assert_string_equal(f.fault.what, "the change is committed");
    assert_int_equal(cpubind_store_commit(f.store, NULL), CPUBIND_CORPUS_ERR_ARG);
    close_store();
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM hosts"), 0);
}

TEST(closing_nothing_is_allowed)
{
    cpubind_store_close(NULL);
}

/* == refused puts == */

TEST(bad_arguments_are_refused)
{
    cpubind_input input = present("x");
    cpubind_corpus_about about = about_of("one");
    assert_int_equal(cpubind_store_open(NULL, &f.store, &f.fault), CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_store_open(temp.path, NULL, &f.fault), CPUBIND_CORPUS_ERR_ARG);
    opened();
    assert_int_equal(put_host("one", 0), CPUBIND_CORPUS_OK);
    assert_int_equal(cpubind_store_put_host(NULL, &about, 0, NULL), CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_store_put_host(f.store, NULL, 0, NULL), CPUBIND_CORPUS_ERR_ARG);
    about.notes = NULL;
    assert_int_equal(cpubind_store_put_host(f.store, &about, 0, NULL), CPUBIND_CORPUS_ERR_ARG);
    static const cpubind_input bad[] = {
        {.state = CPUBIND_INPUT_ABSENT},
        {.state = CPUBIND_INPUT_FAILED},
        {.state = CPUBIND_INPUT_TOO_LONG},
        {.state = CPUBIND_INPUT_TIMEOUT, .data = "x", .len = 1},
        {.state = CPUBIND_INPUT_PRESENT, .data = NULL, .len = 1},
        {.state = CPUBIND_INPUT_PRESENT, .data = "x", .len = -1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(cpubind_store_put_input(f.store, "one", "cmd/a", &bad[i], &f.fault),
                         CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_store_put_input(f.store, NULL, "a", &input, NULL),
                     CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_store_put_input(f.store, "one", NULL, &input, NULL),
                     CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_store_put_expectation(f.store, "one", "a", NULL, 1, NULL),
                     CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_store_put_expectation(f.store, "one", "a", "{}", -1, NULL),
                     CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_store_commit(NULL, NULL), CPUBIND_CORPUS_ERR_ARG);
    committed();
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM inputs"), 0);
}

TEST(an_existing_host_is_not_put_again)
{
    make_corpus("one", NULL);
    opened();
    assert_int_equal(put_host("one", 0), CPUBIND_CORPUS_ERR_EXISTS);
    assert_string_equal(f.fault.what, "a host of this name");
    assert_int_equal(put_host("two", 0), CPUBIND_CORPUS_OK); /* the change continues */
    committed();
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM inputs WHERE host = 'one'"), 3);
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM hosts"), 2);
}

TEST(rows_that_break_the_rules_are_refused_without_effect)
{
    static const cpubind_corpus_about hosts[] = {
        {"../a", "p", "synthetic", "none", "n"}, {"", "p", "synthetic", "none", "n"},
        {"a", "", "synthetic", "none", "n"},     {"a", "p", "guessed", "none", "n"},
        {"a", "p", "synthetic", "", "n"},        {"a", "p", "synthetic", "none", "n\n"},
    };
    static const char *const names[] = {"",    "/a",   "a/",  "a//b",  "a/../b", "..",
                                        "./a", "a\nb", "env", "env/a", "proc",   "proc/self"};
    static const char *const bodies[] = {"", "{", "[]", "{\"args\": [], \"exit\": 0}",
                                         "{\"args\": [], \"exit\": \"0\", \"plan\": {}}"};
    make_corpus("one", NULL);
    whole before = read_whole(temp.path);
    opened();
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        assert_int_equal(cpubind_store_put_host(f.store, &hosts[i], 1, &f.fault),
                         CPUBIND_CORPUS_ERR_RULE);
    assert_non_null(strstr(f.fault.message, "CHECK constraint failed"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(put("one", names[i], "bytes of nobody"), CPUBIND_CORPUS_ERR_RULE);
        assert_true(is_printable(&f.fault));
    }
    assert_string_equal(f.fault.what, "an input and a folder have one name");
    assert_int_equal(put("two", "env", "x"), CPUBIND_CORPUS_ERR_RULE);
    assert_string_equal(f.fault.message, "FOREIGN KEY constraint failed");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        assert_int_equal(put_plan("one", "a", bodies[i]), CPUBIND_CORPUS_ERR_RULE);
    assert_int_equal(put_plan("one", "a/b", PLAN), CPUBIND_CORPUS_ERR_RULE);
    assert_int_equal(put_plan("two", "a", PLAN), CPUBIND_CORPUS_ERR_RULE);
    assert_int_equal(cpubind_store_put_expectation(f.store, "one", "a", PLAN "\0",
                                                   (int32_t)sizeof PLAN, &f.fault),
                     CPUBIND_CORPUS_ERR_RULE);
    /* Nothing of a refused put is in the file, not even the bytes of an input. */
    assert_int_equal(cpubind_store_commit(f.store, &f.fault), CPUBIND_CORPUS_OK);
    close_store();
    whole after = read_whole(temp.path);
    assert_int_equal(after.n, before.n);
    assert_null(memmem(after.bytes, after.n, "bytes of nobody", 15));
    assert_true(is_sound(temp.path));
    free(before.bytes);
    free(after.bytes);
}

TEST(only_commands_have_exit_codes)
{
    cpubind_input input = present("x"), late = {.state = CPUBIND_INPUT_TIMEOUT};
    make_corpus("one", NULL);
    opened();
    input.exit_code = 1;
    assert_int_equal(cpubind_store_put_input(f.store, "one", "sys/a", &input, &f.fault),
                     CPUBIND_CORPUS_ERR_RULE);
    assert_int_equal(cpubind_store_put_input(f.store, "one", "sys/a", &late, &f.fault),
                     CPUBIND_CORPUS_ERR_RULE);
    input.exit_code = 256;
    assert_int_equal(cpubind_store_put_input(f.store, "one", "cmd/a", &input, &f.fault),
                     CPUBIND_CORPUS_ERR_RULE);
    input.exit_code = -1;
    assert_int_equal(cpubind_store_put_input(f.store, "one", "cmd/a", &input, &f.fault),
                     CPUBIND_CORPUS_ERR_RULE);
    input.exit_code = 255;
    assert_int_equal(cpubind_store_put_input(f.store, "one", "cmd/a", &input, &f.fault),
                     CPUBIND_CORPUS_OK);
}

/* Every row that can be put can be read. */
TEST(a_host_that_no_reader_accepts_is_not_put)
{
    static char large[(64 << 20) + 1], name[4097];
    cpubind_input input = {
        .state = CPUBIND_INPUT_PRESENT, .data = large, .len = (int32_t)sizeof large};
    memset(name, 'a', sizeof name);
    name[4096] = '\0';
    opened();
    assert_int_equal(put_host("one", 0), CPUBIND_CORPUS_OK);
    assert_int_equal(put("one", name, "x"), CPUBIND_CORPUS_ERR_RULE);
    assert_int_equal(put("one", name + 1, "x"), CPUBIND_CORPUS_OK);
    assert_int_equal(cpubind_store_put_input(f.store, "one", "a", &input, &f.fault),
                     CPUBIND_CORPUS_ERR_LIMIT);
    input.len--;
    for (int i = 0; i < 4; i++) {
        char part[2] = {(char)('b' + i), '\0'};
        assert_int_equal(cpubind_store_put_input(f.store, "one", part, &input, &f.fault),
                         i < 3 ? CPUBIND_CORPUS_OK : CPUBIND_CORPUS_ERR_LIMIT);
    }
    assert_string_equal(f.fault.what, "too many inputs, or too many bytes");
    committed();
    read_host("one");
    assert_int_equal(cpubind_corpus_n_input(f.host), 4);
}

TEST(a_host_has_a_greatest_number_of_inputs)
{
    make_corpus("one", NULL);
    plain_sql(temp.path,
              "PRAGMA synchronous = OFF;"
              "WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n"
              " WHERE i < 65536) INSERT INTO inputs SELECT 'one', 'd/' || i, sha256, 0"
              " FROM n, (SELECT sha256 FROM contents LIMIT 1)");
    opened();
    assert_int_equal(put("one", "e", "x"), CPUBIND_CORPUS_ERR_LIMIT);
    assert_int_equal(put_plan("one", "more", PLAN), CPUBIND_CORPUS_OK);
    assert_int_equal(put_host("one", 1), CPUBIND_CORPUS_OK);
    assert_int_equal(put("one", "e", "x"), CPUBIND_CORPUS_OK);
    committed();
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM inputs"), 1);
}

TEST(texts_of_a_host_have_a_greatest_length)
{
    static char notes[(1 << 20) + 1];
    cpubind_corpus_about about = about_of("one");
    memset(notes, 'n', sizeof notes - 1);
    about.notes = notes;
    opened();
    assert_int_equal(cpubind_store_put_host(f.store, &about, 0, &f.fault),
                     CPUBIND_CORPUS_ERR_LIMIT);
    notes[(1 << 20) - 100] = '\0';
    assert_int_equal(cpubind_store_put_host(f.store, &about, 0, &f.fault), CPUBIND_CORPUS_OK);
    committed();
    read_host("one");
    assert_int_equal(strlen(cpubind_corpus_about_host(f.host).notes), (1 << 20) - 100);
}

/* == files that are no corpus == */

/* The store refuses the file with this status and reason, and does not change it. */
static void stays_and_is(cpubind_corpus_status status, const char *what)
{
    whole before = read_whole(temp.path);
    opening_is(status, what);
    assert_true(file_is(temp.path, &before));
    assert_false(there_is(temp.path, "-journal"));
    free(before.bytes);
}

TEST(a_missing_folder_is_reported)
{
    snprintf(temp.path, sizeof temp.path, "%s/no/such/corpus.db", temp.s.dir);
    opening_is(CPUBIND_CORPUS_ERR_OPEN, "open");
    assert_int_equal(f.fault.error, ENOENT);
    temp.path[0] = '\0';
    opening_is(CPUBIND_CORPUS_ERR_OPEN, "open");
    snprintf(temp.path, sizeof temp.path, "%s", temp.s.dir);
    opening_is(CPUBIND_CORPUS_ERR_OPEN, "open");
    assert_int_equal(f.fault.error, EISDIR);
}

/* Paths that have a meaning of their own for SQLite. */
TEST(a_path_has_no_special_meaning)
{
    static const char *const odd[] = {":memory:", "file:x.db?mode=memory"};
    char old[1024];
    scratch_need(getcwd(old, sizeof old) != NULL, "getcwd");
    scratch_need(chdir(temp.s.dir) == 0, temp.s.dir);
    for (size_t i = 0; i < 2; i++) {
        snprintf(temp.path, sizeof temp.path, "%s", odd[i]);
        make_corpus("one", NULL);
        read_host("one");
        close_host();
        snprintf(temp.path, sizeof temp.path, "%s/%s", temp.s.dir, odd[i]);
        assert_true(there_is(temp.path, ""));
    }
    scratch_need(chdir(old) == 0, old);
}

TEST(files_that_are_no_corpus_are_not_changed)
{
    scratch_file(&temp.s, "corpus.db", "name: one\n");
    stays_and_is(CPUBIND_CORPUS_ERR_NO_DATABASE, "the file does not start as a database does");
    unlink(temp.path);
    make_corpus("one", NULL);
    plain_sql(temp.path, "PRAGMA user_version = 3");
    stays_and_is(CPUBIND_CORPUS_ERR_NEWER, "the user_version is newer");
    plain_sql(temp.path, "PRAGMA user_version = 0");
    stays_and_is(CPUBIND_CORPUS_ERR_DAMAGED, "the user_version is below 1");
    plain_sql(temp.path, "PRAGMA application_id = 7; PRAGMA user_version = 1");
    stays_and_is(CPUBIND_CORPUS_ERR_NO_CORPUS, "the application_id is not that of a corpus");
}

TEST(a_database_without_application_id_is_no_corpus)
{
    scratch_file(&temp.s, "corpus.db", "");
    plain_sql(temp.path, "CREATE TABLE hosts (name)");
    stays_and_is(CPUBIND_CORPUS_ERR_NO_CORPUS, "the application_id is not that of a corpus");
}

/* Triggers, views and computed columns, which a put would execute. */
TEST(a_database_with_further_tables_is_not_written_to)
{
    static const char *const aliens[] = {
        "CREATE TRIGGER alien AFTER INSERT ON hosts BEGIN DELETE FROM inputs; END",
        "CREATE INDEX alien ON hosts (hex(name))",
        "CREATE VIEW alien AS SELECT 1",
        "CREATE TABLE alien (host REFERENCES hosts (name) ON DELETE CASCADE)",
        "CREATE VIRTUAL TABLE alien USING fts5 (a)",
    };
    for (size_t i = 0; i < sizeof aliens / sizeof *aliens; i++) {
        make_corpus("one", NULL);
        plain_sql(temp.path, aliens[i]);
        stays_and_is(CPUBIND_CORPUS_ERR_NO_CORPUS,
                     "the database has other tables than those of a corpus");
        assert_string_equal(f.fault.message, "alien");
        scratch_need(unlink(temp.path) == 0, temp.path);
    }
    make_corpus("one", NULL);
    plain_sql(temp.path, "DROP INDEX inputs_content");
    stays_and_is(CPUBIND_CORPUS_ERR_NO_CORPUS, "the tables are not those of a corpus");
}

TEST(a_damaged_file_is_not_written_to)
{
    make_corpus("one", "two");
    whole good = read_whole(temp.path);
    for (size_t page = 1; page < good.n / 4096; page++) {
        whole bad = {malloc(good.n), good.n};
        memcpy(bad.bytes, good.bytes, good.n);
        memset(bad.bytes + page * 4096, 0x5a, 512);
        write_whole(temp.path, &bad);
        assert_int_equal(open_store(), CPUBIND_CORPUS_ERR_DAMAGED);
        assert_true(is_printable(&f.fault));
        assert_true(file_is(temp.path, &bad));
        free(bad.bytes);
    }
    free(good.bytes);
}

/* A row that every reader refuses. */
TEST(rows_that_break_the_schema_are_damage)
{
    make_corpus("one", NULL);
    plain_sql(temp.path, "PRAGMA ignore_check_constraints = ON; UPDATE hosts SET notes = ''");
    stays_and_is(CPUBIND_CORPUS_ERR_DAMAGED, "a page is damaged");
    assert_string_equal(f.fault.message, "CHECK constraint failed in hosts");
}

TEST(bytes_with_the_sum_of_other_bytes_are_damage)
{
    make_corpus("one", NULL);
    plain_sql(temp.path, "UPDATE contents SET bytes = x'00'");
    whole before = read_whole(temp.path);
    opened();
    assert_int_equal(put_host("two", 0), CPUBIND_CORPUS_OK);
    assert_int_equal(put("two", "env", "one"), CPUBIND_CORPUS_ERR_DAMAGED);
    assert_string_equal(f.fault.what, "the bytes of an input are not those of its SHA-256");
    /* The failure ends the change. */
    assert_int_equal(put_host("three", 0), CPUBIND_CORPUS_ERR_DAMAGED);
    assert_string_equal(f.fault.what, "the bytes of an input are not those of its SHA-256");
    assert_int_equal(cpubind_store_commit(f.store, NULL), CPUBIND_CORPUS_ERR_DAMAGED);
    close_store();
    assert_true(file_is(temp.path, &before));
    free(before.bytes);
}

/* == files that may not be written == */

/* 0 if the store of an ordinary user reports that nothing can be written. */
static int open_as_nobody(void)
{
    int status = 0;
    pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0) {
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(255);
        cpubind_corpus_status result = open_store();
        _exit(result == CPUBIND_CORPUS_ERR_WRITE && is_printable(&f.fault) ? 0 : 1);
    }
    scratch_need(waitpid(pid, &status, 0) == pid, "waitpid");
    return WEXITSTATUS(status);
}

TEST(a_read_only_file_is_reported)
{
    make_corpus("one", NULL);
    scratch_need(chmod(temp.path, 0444) == 0, temp.path);
    assert_int_equal(open_as_nobody(), 0);
}

TEST(a_read_only_folder_is_reported)
{
    scratch_need(chmod(temp.s.dir, 0555) == 0, temp.s.dir);
    assert_int_equal(open_as_nobody(), 0);
    scratch_need(chmod(temp.s.dir, 0755) == 0, temp.s.dir);
    assert_false(there_is(temp.path, ""));
}

/* == other processes == */

static int n_hosts(void)
{
    cpubind_corpus_about *list = NULL;
    int32_t n = -1;
    assert_int_equal(cpubind_corpus_list(f.corpus, &list, &n, &f.fault), CPUBIND_CORPUS_OK);
    cpubind_corpus_free_list(list);
    return n;
}

TEST(a_reader_sees_the_old_state_until_the_commit)
{
    static char large[8 << 20]; /* more than SQLite keeps in memory by default */
    cpubind_input input = {
        .state = CPUBIND_INPUT_PRESENT, .data = large, .len = (int32_t)sizeof large};
    make_corpus("one", NULL);
    assert_int_equal(cpubind_corpus_open(temp.path, &f.corpus, NULL), CPUBIND_CORPUS_OK);
    opened();
    assert_int_equal(put_all(f.store, "two", 0, &f.fault), CPUBIND_CORPUS_OK);
    assert_int_equal(cpubind_store_put_input(f.store, "two", "large", &input, NULL), 0);
    assert_int_equal(n_hosts(), 1);
    committed();
    assert_int_equal(n_hosts(), 2);
}

TEST(a_writer_waits_for_another_and_then_is_busy)
{
    make_corpus("one", NULL);
    opened();
    cpubind_store *first = f.store;
    int64_t start = clock_ms();
    assert_int_equal(open_store(), CPUBIND_CORPUS_ERR_BUSY);
    assert_in_range(clock_ms() - start, CPUBIND_CORPUS_WAIT_MS * 3 / 4,
                    CPUBIND_CORPUS_WAIT_MS * 5);
    assert_string_equal(f.fault.what,
                        "another process was still reading or writing after two seconds");
    cpubind_store_close(first);
    opened();
}

TEST(a_commit_that_is_busy_may_be_tried_again)
{
    sqlite3_stmt *query = NULL;
    make_corpus("one", NULL);
    sqlite3 *reader = open_plain(temp.path);
    assert_int_equal(sqlite3_prepare_v2(reader, "SELECT * FROM inputs", -1, &query, NULL), 0);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    opened();
    assert_int_equal(put_all(f.store, "two", 0, &f.fault), CPUBIND_CORPUS_OK);
    assert_int_equal(cpubind_store_commit(f.store, &f.fault), CPUBIND_CORPUS_ERR_BUSY);
    sqlite3_finalize(query);
    sqlite3_close(reader);
    committed();
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM hosts"), 2);
}

/* The first store makes the file and removes it; the second has opened it before that. */
TEST(a_writer_that_waited_for_a_removed_file_makes_it_again)
{
    int status = 0, ends[2];
    char ready = 'r';
    scratch_need(pipe(ends) == 0, "pipe");
    /* fork before SQLite opens the file: a child must not inherit its locks. */
    pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0) {
        cpubind_store *store = NULL;
        scratch_need(read(ends[0], &ready, 1) == 1, "read");
        cpubind_corpus_status result = cpubind_store_open(temp.path, &store, NULL);
        if (result == CPUBIND_CORPUS_OK)
            result = put_all(store, "one", 0, NULL);
        if (result == CPUBIND_CORPUS_OK)
            result = cpubind_store_commit(store, NULL);
        cpubind_store_close(store);
        _exit(result == CPUBIND_CORPUS_OK ? 0 : 1);
    }
    opened();
    scratch_need(write(ends[1], &ready, 1) == 1, "write");
    usleep(400000);
    close_store();
    close(ends[0]);
    close(ends[1]);
    scratch_need(waitpid(pid, &status, 0) == pid, "waitpid");
    assert_int_equal(status, 0);
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM hosts"), 1);
}

/* == Shapes == */

/* The names of the hosts that are visited, and the bodies of their shapes. */
typedef struct visited {
    char text[256];
    int n, most;
} visited;

static int visit(void *ctx, const cpubind_corpus_shape *shape)
{
    visited *v = ctx;
    const size_t used = strlen(v->text);
    snprintf(v->text + used, sizeof v->text - used, "%s %s %s\n", shape->about.name,
             shape->program ? shape->program : "-", shape->body ? shape->body : "-");
    assert_int_equal(shape->len, shape->body ? (int32_t)strlen(shape->body) : 0);
    return ++v->n == v->most;
}

static cpubind_corpus_status visiting(visited *v)
{
    memset(&f.fault, 0x55, sizeof f.fault);
    assert_int_equal(cpubind_corpus_open(temp.path, &f.corpus, &f.fault), CPUBIND_CORPUS_OK);
    const cpubind_corpus_status status =
        cpubind_corpus_each_shape(f.corpus, visit, v, &f.fault);
    close_host();
    return status;
}

/* The host that has the shape of a capture, as a program of this version has read it. */
static const char *found(const char *capture, const char *program)
{
    static char host[64];
    const cpubind_store_shape shape = {capture, (int32_t)strlen(capture), program, NULL};
    assert_int_equal(
        cpubind_store_find_shape(f.store, &shape, host, (int32_t)sizeof host, &f.fault),
        CPUBIND_CORPUS_OK);
    return host;
}

/* Makes a corpus with the host "full", and "a" and "b" with shapes. */
static void make_fleet(void)
{
    opened();
    assert_int_equal(put_shape(f.store, "b", 0, "of b", &f.fault), CPUBIND_CORPUS_OK);
    assert_int_equal(put_all(f.store, "full", 0, &f.fault), CPUBIND_CORPUS_OK);
    assert_int_equal(put_shape(f.store, "a", 0, "of a", &f.fault), CPUBIND_CORPUS_OK);
    committed();
}

TEST(shapes_are_visited_by_name_and_found_by_capture)
{
    visited all = {.text = ""}, one = {.text = "", .most = 1};
    make_fleet();
    assert_int_equal(ask(temp.path, "PRAGMA user_version"), 2);
    assert_int_equal(visiting(&all), CPUBIND_CORPUS_OK);
    assert_string_equal(all.text, "a 1.0 " SHAPE "\nb 1.0 " SHAPE "\nfull - -\n");
    assert_int_equal(visiting(&one), CPUBIND_CORPUS_OK);
    assert_string_equal(one.text, "a 1.0 " SHAPE "\n");
    opened();
    assert_string_equal(found("of b", "1.0"), "b");
    assert_string_equal(found("of b", "1.1"), "");
    assert_string_equal(found("of c", "1.0"), "");
    assert_true(is_sound(temp.path));
}

TEST(a_corpus_without_shapes_stays_of_version_1)
{
    visited all = {.text = ""};
    make_corpus("one", "two");
    opened();
    assert_string_equal(found("of b", "1.0"), "");
    committed();
    assert_int_equal(ask(temp.path, "PRAGMA user_version"), 1);
    assert_int_equal(visiting(&all), CPUBIND_CORPUS_OK);
    assert_string_equal(all.text, "one - -\ntwo - -\n");
}

TEST(a_shape_goes_with_its_host)
{
    visited all = {.text = ""};
    make_fleet();
    opened();
    assert_int_equal(cpubind_store_rename_host(f.store, "a", "z", &f.fault), CPUBIND_CORPUS_OK);
    assert_int_equal(cpubind_store_remove_host(f.store, "b", &f.fault), CPUBIND_CORPUS_OK);
    assert_int_equal(put_shape(f.store, "full", 1, "of full", &f.fault), CPUBIND_CORPUS_OK);
    assert_string_equal(found("of b", "1.0"), "");
    assert_string_equal(found("of a", "1.0"), "z");
    committed();
    assert_int_equal(visiting(&all), CPUBIND_CORPUS_OK);
    assert_string_equal(all.text, "full 1.0 " SHAPE "\nz 1.0 " SHAPE "\n");
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM contents"), 0);
}

TEST(a_wrong_shape_is_refused_and_the_change_goes_on)
{
    static const char *const bodies[] = {"", "{", "[]", "{\"properties\": 1}"};
    cpubind_store_shape shape = {"x", 1, "1.0", SHAPE};
    make_fleet();
    opened();
    assert_int_equal(cpubind_store_put_shape(f.store, "none", &shape, &f.fault),
                     CPUBIND_CORPUS_ERR_RULE);
    assert_int_equal(cpubind_store_put_shape(f.store, "a", &shape, &f.fault),
                     CPUBIND_CORPUS_ERR_RULE);
    shape.program = "a b";
    assert_int_equal(cpubind_store_put_shape(f.store, "full", &shape, &f.fault),
                     CPUBIND_CORPUS_ERR_RULE);
    shape.program = "1.0";
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        shape.body = bodies[i];
        assert_int_equal(cpubind_store_put_shape(f.store, "full", &shape, &f.fault),
                         CPUBIND_CORPUS_ERR_RULE);
        assert_true(is_printable(&f.fault));
    }
    shape.body = NULL;
    assert_int_equal(cpubind_store_put_shape(f.store, "full", &shape, &f.fault),
                     CPUBIND_CORPUS_ERR_ARG);
    shape.body = SHAPE;
    assert_int_equal(cpubind_store_put_shape(f.store, "full", &shape, &f.fault),
                     CPUBIND_CORPUS_OK);
    committed();
    assert_int_equal(ask(temp.path, "SELECT count(*) FROM shapes"), 3);
}

/* A reader of a damaged table ends with a status; a writer does not touch it. */
TEST(damaged_shapes_are_refused)
{
    visited all = {.text = ""};
    make_fleet();
    plain_sql(temp.path, "PRAGMA ignore_check_constraints = ON;"
                         "UPDATE shapes SET shape = 'a' || char(0) || 'b' WHERE host = 'b'");
    assert_int_equal(visiting(&all), CPUBIND_CORPUS_ERR_DAMAGED);
    assert_string_equal(f.fault.what, "a text is not of the schema");
    assert_string_equal(all.text, "a 1.0 " SHAPE "\n");
    opening_is(CPUBIND_CORPUS_ERR_DAMAGED, "a page is damaged");
}

TEST(tables_of_another_version_are_refused)
{
    make_fleet();
    plain_sql(temp.path, "PRAGMA user_version = 1");
    opening_is(CPUBIND_CORPUS_ERR_NO_CORPUS, "the tables are not those of its user_version");
    plain_sql(temp.path, "PRAGMA user_version = 2; DROP INDEX shapes_capture");
    opening_is(CPUBIND_CORPUS_ERR_NO_CORPUS, "the tables are not those of a corpus");
    plain_sql(temp.path, "DROP TABLE shapes");
    opening_is(CPUBIND_CORPUS_ERR_NO_CORPUS, "the tables are not those of its user_version");
    plain_sql(temp.path, "PRAGMA user_version = 1");
    opened();
}

static int run_all(void)
{
    configure_sqlite();
    return run_registered("store", set_up, tear_down);
}

TEST_PROGRAM(run_all)
