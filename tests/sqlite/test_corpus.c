/* test_corpus.c - reading a corpus: hosts, their answers, damaged and hostile files
 * SPDX-License-Identifier: MIT
 *
 * Every database is made here, from fixtures/schema.sql. SQLite runs on the allocator and the
 * file system of store_fault_calls.h. After each test, all memory, file descriptors and child
 * processes must be gone. The contracts are in corpus.h.
 */
#define _GNU_SOURCE
#include <sha2.h>
#include <signal.h>
#include <sqlite3.h>

#include "../../adapters/sqlite/corpus.h"
#include "../support/test.h"
#include "temp_store.h"

enum { CONTENTS = 16, TIMED_OUT = -1000 };

typedef struct fixture {
    char sum[CONTENTS][65]; /* by the number of the content; "" before it is added */
    char schema[16384];
    sqlite3 *db; /* to make the database with; closed before it is read */
    cpubind_corpus *corpus;
    cpubind_corpus_host *host;
    cpubind_corpus_fault fault;
} fixture;

static fixture f;

/* == databases == */

static void sql(const char *text)
{
    char *error = NULL;
    if (sqlite3_exec(f.db, text, NULL, NULL, &error) != SQLITE_OK) {
        fprintf(stderr, "%s\n%s\n", text, error);
        abort();
    }
}

static void make_empty(void)
{
    scratch_need(sqlite3_open(temp.path, &f.db) == SQLITE_OK, temp.path);
}

static void made(void)
{
    scratch_need(sqlite3_close(f.db) == SQLITE_OK, "sqlite3_close");
    f.db = NULL;
}

static void add_host(const char *name)
{
    char text[512];
    snprintf(text, sizeof text,
             "INSERT INTO hosts VALUES ('%s', 'a product', 'synthetic', 'none', 'a note')",
             name);
    sql(text);
}

/* Contents have numbers. A content that was not added has a SHA-256 without bytes. */
static const char *sum_of(int number)
{
    static char unknown[65];
    scratch_need(number >= 0 && number < CONTENTS, "the number of a content");
    if (f.sum[number][0])
        return f.sum[number];
    snprintf(unknown, sizeof unknown, "%064d", number);
    return unknown;
}

/* bytes NULL: n zeros. */
static void compute_sum(const void *bytes, int n, char sum[65])
{
    static const uint8_t zeros[4096];
    SHA2_CTX context;
    SHA256Init(&context);
    for (int at = 0; !bytes && at < n; at += 4096)
        SHA256Update(&context, zeros, (size_t)(n - at < 4096 ? n - at : 4096));
    if (bytes)
        SHA256Update(&context, bytes, (size_t)n);
    SHA256End(&context, sum);
}

static void add_content(int number, const void *bytes, int n)
{
    sqlite3_stmt *insert = NULL;
    char *sum = f.sum[number];
    compute_sum(bytes, n, sum);
    sqlite3_prepare_v2(f.db, "INSERT INTO contents VALUES (?1, ?2)", -1, &insert, NULL);
    sqlite3_bind_text(insert, 1, sum, -1, SQLITE_STATIC);
    if (bytes)
        sqlite3_bind_blob(insert, 2, bytes, n, SQLITE_STATIC);
    else
        sqlite3_bind_zeroblob(insert, 2, n);
    scratch_need(sqlite3_step(insert) == SQLITE_DONE, "INSERT INTO contents");
    sqlite3_finalize(insert);
}

/* TIMED_OUT is stored as NULL. */
static int try_input(const char *host, const char *name, int number, int exit_code)
{
    sqlite3_stmt *insert = NULL;
    const char *sum = sum_of(number);
    sqlite3_prepare_v2(f.db, "INSERT INTO inputs VALUES (?1, ?2, ?3, ?4)", -1, &insert, NULL);
    sqlite3_bind_text(insert, 1, host, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, sum, -1, SQLITE_STATIC);
    if (exit_code != TIMED_OUT)
        sqlite3_bind_int(insert, 4, exit_code);
    sqlite3_step(insert);
    return sqlite3_finalize(insert) == SQLITE_OK;
}

static void add_input(const char *host, const char *name, int number, int exit_code)
{
    scratch_need(try_input(host, name, number, exit_code), name);
}

static void make_tables(void)
{
    make_empty();
    sql("PRAGMA synchronous = OFF");
    sql(f.schema);
}

/* Makes two hosts that share a content, with folders and an exit code. */
static void make_corpus(void)
{
    make_tables();
    sql("BEGIN");
    add_host("one");
    add_host("two");
    add_content(1, "0-31\n", 5);
    add_content(2, "refused\n", 8);
    add_content(3, "", 0);
    add_content(4, "a\0b", 3);
    char long_text[9000];
    memset(long_text, 'x', sizeof long_text);
    add_content(5, long_text, sizeof long_text);
    add_input("one", "sys/devices/system/node/node0/cpulist", 1, 0);
    add_input("one", "sys/devices/system/node/node10/cpulist", 1, 0);
    add_input("one", "sys/devices/system/node/node0/distance", 4, 0);
    add_input("one", "sys/devices/system/node/node0-old", 1, 0);
    add_input("one", "sys/devices/system/node/node2", 1, 0);
    add_input("one", "sys/devices/system/node/has_cpu", 1, 0);
    add_input("one", "cmd/npu-smi-info-m.txt", 2, 187);
    add_input("one", "env", 3, 0);
    add_input("one", "proc/interrupts", 5, 0);
    add_input("two", "proc/self/status", 1, 0);
    sql("INSERT INTO expectations VALUES"
        " ('one', 'rank-1', '{\"args\":[],\"exit\":1,\"error\":{}}'),"
        " ('one', 'default', '{\"args\": [], \"exit\": 0, \"plan\": {}}' || char(10))");
    sql("COMMIT");
    made();
}

SETUP(set_up)
{
    memset(f.sum, 0, sizeof f.sum);
    temp_store_make();
    FILE *file = fopen("fixtures/schema.sql", "re");
    scratch_need(file != NULL, "fixtures/schema.sql");
    size_t n = fread(f.schema, 1, sizeof f.schema - 1, file);
    f.schema[n] = '\0';
    scratch_need(n < sizeof f.schema - 1, "fixtures/schema.sql");
    fclose(file);
    return 0;
}

static void close_all(void)
{
    cpubind_corpus_close_host(f.host);
    cpubind_corpus_close(f.corpus);
    f.host = NULL;
    f.corpus = NULL;
}

SETUP(tear_down)
{
    no_faults();
    close_all();
    return temp_store_remove();
}

/* == helpers == */

static cpubind_corpus_status open_corpus(void)
{
    memset(&f.fault, 0x55, sizeof f.fault);
    return cpubind_corpus_open(temp.path, &f.corpus, &f.fault);
}

static cpubind_corpus_status open_host(const char *name)
{
    memset(&f.fault, 0x55, sizeof f.fault);
    return cpubind_corpus_open_host(f.corpus, name, &f.host, &f.fault);
}

static void open_both(const char *name)
{
    assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
    assert_int_equal(open_host(name), CPUBIND_CORPUS_OK);
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

/* A fault can always be printed. */
static int is_fault(const cpubind_corpus_fault *fault)
{
    const char *end = memchr(fault->message, '\0', sizeof fault->message);
    if (!fault->what || !*fault->what || !end)
        return 0;
    for (const char *c = fault->message; c < end; c++)
        if (*c < ' ' || *c > '~')
            return 0;
    return 1;
}

static void opening_is(cpubind_corpus_status status, const char *what)
{
    f.corpus = (cpubind_corpus *)&f;
    assert_int_equal(open_corpus(), status);
    assert_null(f.corpus);
    assert_true(is_fault(&f.fault));
    assert_string_equal(f.fault.what, what);
}

static void host_is(const char *name, cpubind_corpus_status status, const char *what)
{
    f.host = (cpubind_corpus_host *)&f;
    assert_int_equal(open_host(name), status);
    assert_null(f.host);
    assert_true(is_fault(&f.fault));
    assert_string_equal(f.fault.what, what);
}

/* == answers == */

TEST(an_input_is_answered_byte_by_byte)
{
    make_corpus();
    open_both("one");
    assert_true(is_text(get("sys/devices/system/node/node0/cpulist"), "0-31\n"));
    cpubind_input input = get("sys/devices/system/node/node0/distance");
    assert_int_equal(input.len, 3);
    assert_memory_equal(input.data, "a\0b", 3);
    assert_int_equal(get("proc/interrupts").len, 9000);
}

TEST(an_empty_input_is_present_without_data)
{
    make_corpus();
    open_both("one");
    assert_true(is_text(get("env"), ""));
}

TEST(an_exit_code_belongs_to_its_command)
{
    make_corpus();
    open_both("one");
    assert_true(is_text(get("cmd/npu-smi-info-m.txt"), "refused\n"));
    assert_int_equal(get("cmd/npu-smi-info-m.txt").exit_code, 187);
    assert_int_equal(get("env").exit_code, 0);
}

TEST(a_command_without_an_exit_code_did_not_end)
{
    make_tables();
    add_host("slow");
    add_content(0, "", 0);
    add_input("slow", "cmd/npu-smi-info.txt", 0, TIMED_OUT);
    made();
    open_both("slow");
    assert_true(is_state(get("cmd/npu-smi-info.txt"), CPUBIND_INPUT_TIMEOUT));
    assert_true(is_text(names_in("cmd"), "npu-smi-info.txt\n"));
    assert_int_equal(cpubind_corpus_input_at(f.host, 0).input.state, CPUBIND_INPUT_TIMEOUT);
}

TEST(the_hosts_are_listed_by_name)
{
    static const char *const order[] = {"B", "a", "a-b", "a.b", "a0", "a_b", "b"};
    cpubind_corpus_about *list = NULL;
    int32_t n = 0;
    make_tables();
    for (int i = 6; i >= 0; i--)
        add_host(order[i]);
    sql("UPDATE hosts SET product = 'it''s', notes = 'n\xc3\xa4' WHERE name = 'a_b'");
    made();
    assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
    assert_int_equal(cpubind_corpus_list(f.corpus, &list, &n, &f.fault), CPUBIND_CORPUS_OK);
    assert_int_equal(n, 7);
    for (int i = 0; i < 7; i++)
        assert_string_equal(list[i].name, order[i]);
    assert_string_equal(list[5].product, "it's");
    assert_string_equal(list[5].origin, "synthetic");
    assert_string_equal(list[5].npu_smi, "none");
    assert_string_equal(list[5].notes, "n\xc3\xa4");
    close_all();
    assert_string_equal(list[0].notes, "a note");
    cpubind_corpus_free_list(list);
}

TEST(a_corpus_without_hosts_has_an_empty_list)
{
    cpubind_corpus_about *list = NULL;
    int32_t n = 7;
    make_tables();
    made();
    assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
    assert_int_equal(cpubind_corpus_list(f.corpus, &list, &n, NULL), CPUBIND_CORPUS_OK);
    assert_int_equal(n, 0);
    cpubind_corpus_free_list(list);
    cpubind_corpus_free_list(NULL);
    assert_int_equal(cpubind_corpus_list(f.corpus, NULL, &n, NULL), CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_corpus_list(f.corpus, &list, NULL, NULL), CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_corpus_list(NULL, &list, &n, NULL), CPUBIND_CORPUS_ERR_ARG);
}

TEST(a_host_shows_its_row_its_inputs_and_its_expectations)
{
    static const char *const order[] = {"cmd/npu-smi-info-m.txt",
                                        "env",
                                        "proc/interrupts",
                                        "sys/devices/system/node/has_cpu",
                                        "sys/devices/system/node/node0/cpulist",
                                        "sys/devices/system/node/node0/distance",
                                        "sys/devices/system/node/node0-old",
                                        "sys/devices/system/node/node10/cpulist",
                                        "sys/devices/system/node/node2"};
    make_corpus();
    open_both("one");
    assert_string_equal(cpubind_corpus_about_host(f.host).name, "one");
    assert_string_equal(cpubind_corpus_about_host(f.host).product, "a product");
    assert_string_equal(cpubind_corpus_about_host(f.host).notes, "a note");
    assert_int_equal(cpubind_corpus_n_input(f.host), 9);
    for (int i = 0; i < 9; i++) {
        cpubind_corpus_entry entry = cpubind_corpus_input_at(f.host, i);
        cpubind_input input = get(order[i]);
        assert_string_equal(entry.name, order[i]);
        assert_ptr_equal(entry.input.data, input.data);
        assert_int_equal(entry.input.len, input.len);
        assert_int_equal(entry.input.exit_code, input.exit_code);
    }
    assert_string_equal(cpubind_corpus_input_at(f.host, 0).sha256, f.sum[2]);
    /* the SHA-256 of no bytes */
    assert_string_equal(cpubind_corpus_input_at(f.host, 1).sha256,
                        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_int_equal(cpubind_corpus_n_expectation(f.host), 2);
    cpubind_corpus_expectation first = cpubind_corpus_expectation_at(f.host, 0);
    assert_string_equal(first.name, "default");
    assert_string_equal(first.body, "{\"args\": [], \"exit\": 0, \"plan\": {}}\n");
    assert_int_equal(first.len, strlen(first.body));
    assert_string_equal(cpubind_corpus_expectation_at(f.host, 1).name, "rank-1");
}

TEST(a_name_without_a_row_is_absent)
{
    make_corpus();
    open_both("one");
    static const char *const absent[] = {"uname",
                                         "en",
                                         "env2",
                                         "ENV",
                                         "env/x",
                                         "pro",
                                         "proc/self/status",
                                         "zzz",
                                         "'; DROP TABLE hosts; --"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_true(is_state(get(absent[i]), CPUBIND_INPUT_ABSENT));
    assert_true(is_failed(names_in("env"), ENOTDIR, "not a folder"));
    assert_true(is_state(names_in("uname"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(names_in("sys/devices/system/nod"), CPUBIND_INPUT_ABSENT));
}

TEST(a_folder_is_listed_in_byte_order_and_is_no_file)
{
    make_corpus();
    open_both("one");
    assert_true(is_text(names_in("sys/devices/system/node"),
                        "has_cpu\nnode0\nnode0-old\nnode10\nnode2\n"));
    assert_true(is_text(names_in("sys"), "devices\n"));
    assert_true(is_text(names_in("sys/devices/system/node/node0"), "cpulist\ndistance\n"));
    assert_true(is_text(names_in("cmd"), "npu-smi-info-m.txt\n"));
    assert_true(is_failed(get("sys/devices"), EISDIR, "not a regular file"));
}

TEST(a_second_answer_equals_the_first)
{
    make_corpus();
    open_both("one");
    cpubind_input file = get("proc/interrupts"), folder = names_in("sys"),
                  other = names_in("proc");
    assert_true(is_text(other, "interrupts\n"));
    scratch_need(sqlite3_open(temp.path, &f.db) == SQLITE_OK, temp.path);
    sql("PRAGMA foreign_keys = ON; DELETE FROM hosts");
    made();
    assert_ptr_equal(get("proc/interrupts").data, file.data);
    assert_ptr_equal(names_in("sys").data, folder.data);
    assert_ptr_equal(names_in("proc").data, other.data);
}

TEST(names_outside_the_rules_fail)
{
    make_corpus();
    open_both("one");
    char longest[4200];
    memset(longest, 'a', sizeof longest);
    longest[4095] = '\0';
    assert_true(is_state(get(longest), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(names_in(longest), CPUBIND_INPUT_ABSENT));
    longest[4095] = 'a';
    longest[4096] = '\0';
    const char *const bad[] = {"",   "/env", "env/", "proc//self", "..",   "proc/../env",
                               NULL, "a\nb", "a/..", "\x1f",       longest};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(is_failed(get(bad[i]), EINVAL, "name"));
        assert_true(is_failed(names_in(bad[i]), EINVAL, "name"));
    }
}

TEST(unusual_names_are_names)
{
    static const char *const odd[] = {"it's", "a b",     "a\"b",          "%s%n",     "a\\b",
                                      "-x",   "a...b/c", "\xff",          "\xc3\xa4", "*",
                                      "[a]",  "x;--",    "0000:04:00.0/x"};
    make_tables();
    add_host("odd");
    add_content(1, "x", 1);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        add_input("odd", odd[i], 1, 0);
    made();
    open_both("odd");
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_true(is_text(get(odd[i]), "x"));
    assert_true(is_text(names_in("a...b"), "c\n"));
}

TEST(bytes_of_two_hosts_are_stored_once)
{
    make_corpus();
    open_both("two");
    assert_true(is_text(get("proc/self/status"), "0-31\n"));
    assert_true(is_state(get("env"), CPUBIND_INPUT_ABSENT));
}

TEST(a_host_lives_without_its_corpus)
{
    make_corpus();
    open_both("one");
    cpubind_corpus_host *one = f.host;
    assert_int_equal(open_host("two"), CPUBIND_CORPUS_OK);
    cpubind_corpus_close(f.corpus);
    f.corpus = NULL;
    cpubind_source source = cpubind_corpus_source(one);
    assert_true(is_text(source.read(source.ctx, "env"), ""));
    assert_true(is_text(names_in("proc"), "self\n"));
    cpubind_corpus_close_host(one);
    assert_true(is_text(get("proc/self/status"), "0-31\n"));
}

TEST(a_host_without_inputs_answers_nothing)
{
    make_tables();
    add_host("bare");
    made();
    open_both("bare");
    assert_true(is_state(get("env"), CPUBIND_INPUT_ABSENT));
    assert_true(is_state(names_in("sys"), CPUBIND_INPUT_ABSENT));
}

/* == the schema == */

TEST(the_schema_refuses_inputs_that_a_source_cannot_have)
{
    make_tables();
    sql("PRAGMA foreign_keys = ON");
    add_host("one");
    add_content(1, "x", 1);
    static const char *const bad[] = {"",    "/a",   "a/",     "a//b", ".",      "..",
                                      "a/.", "../a", "a/../b", "a\nb", "a/\x01", "\x1f"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(try_input("one", bad[i], 1, 0));
    assert_false(try_input("one", "cmd/a.txt", 1, 256));
    assert_false(try_input("one", "cmd/a.txt", 1, -1));
    assert_false(try_input("one", "env", 1, 1));
    assert_false(try_input("one", "env", 2, 0));
    assert_false(try_input("two", "env", 1, 0));
    assert_true(try_input("one", "env", 1, 0));
    assert_false(try_input("one", "env", 1, 0));
    static const char *const refused[] = {
        "INSERT INTO hosts VALUES ('a/b', 'p', 'synthetic', 'none', 'n')",
        "INSERT INTO hosts VALUES ('', 'p', 'synthetic', 'none', 'n')",
        "INSERT INTO hosts VALUES ('.a', 'p', 'synthetic', 'none', 'n')",
        "INSERT INTO hosts VALUES ('a', 'p', 'guessed', 'none', 'n')",
        "INSERT INTO hosts VALUES ('a', 'p', 'synthetic', 'none', '')",
        "INSERT INTO contents VALUES ('00', x'00')",
        "INSERT INTO contents VALUES (printf('%064d', 9), 'text')",
        "INSERT INTO inputs SELECT 'one', 'a'||char(0)||'b', sha256, 0 FROM contents",
        "INSERT INTO inputs SELECT 'one', 'a', sha256, 'x' FROM contents",
        "INSERT INTO inputs SELECT 'one', printf('%04096d', 0), sha256, 0 FROM contents",
        /* an input without exit code is a command without bytes */
        "INSERT INTO inputs SELECT 'one', 'cmd/b', sha256, NULL FROM contents",
        "INSERT INTO inputs SELECT 'one', 'b', sha256, NULL FROM contents",
        "INSERT INTO contents VALUES"
        " ('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', x'');"
        "INSERT INTO inputs VALUES ('one', 'b',"
        " 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', NULL)",
        "INSERT INTO hosts VALUES ('a', 'p' || char(10), 'synthetic', 'none', 'n')",
        "INSERT INTO hosts VALUES ('a', 'p', 'synthetic', 'a' || char(27), 'n')",
        "INSERT INTO hosts VALUES ('a', 'p', 'synthetic', 'none', 'a' || char(0))",
        "INSERT INTO expectations VALUES ('one', 'a', '{')",
        "INSERT INTO expectations VALUES ('one', 'a', '{\"args\": [], \"exit\": 0}')",
        "INSERT INTO expectations VALUES ('one', 'a',"
        " '{\"args\": [], \"exit\": 0, \"plan\": {}, \"error\": {}}')",
        "INSERT INTO expectations VALUES ('none', 'a',"
        " '{\"args\": [], \"exit\": 0, \"plan\": {}}')",
        "DELETE FROM contents WHERE sha256 IN (SELECT content FROM inputs)",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_int_not_equal(sqlite3_exec(f.db, refused[i], NULL, NULL, NULL), SQLITE_OK);
    sql("INSERT INTO inputs VALUES ('one', 'cmd/b',"
        " 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', NULL)");
    sql("INSERT INTO expectations VALUES ('one', 'a',"
        " '{\"args\": [], \"exit\": 1, \"error\": {}}'); DELETE FROM hosts");
    made();
}

/* == files that are no corpus == */

TEST(bad_arguments_are_refused)
{
    make_corpus();
    assert_int_equal(cpubind_corpus_open(NULL, &f.corpus, &f.fault), CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_corpus_open(temp.path, NULL, &f.fault), CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_corpus_open("/nowhere", &f.corpus, NULL), CPUBIND_CORPUS_ERR_OPEN);
    assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
    host_is(NULL, CPUBIND_CORPUS_ERR_ARG, "argument");
    assert_int_equal(cpubind_corpus_open_host(f.corpus, "one", NULL, NULL),
                     CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_corpus_open_host(NULL, "one", &f.host, NULL),
                     CPUBIND_CORPUS_ERR_ARG);
    assert_int_equal(cpubind_corpus_open_host(f.corpus, "three", &f.host, NULL),
                     CPUBIND_CORPUS_ERR_UNKNOWN_HOST);
}

TEST(a_missing_file_is_reported)
{
    opening_is(CPUBIND_CORPUS_ERR_OPEN, "open");
    assert_int_equal(f.fault.error, ENOENT);
    assert_int_equal(f.fault.result & 0xff, SQLITE_CANTOPEN);
    assert_int_equal(access(temp.path, F_OK), -1);
    (void)snprintf(temp.path, sizeof temp.path, "/no-such-corpus.db"); /* in the top folder */
    opening_is(CPUBIND_CORPUS_ERR_OPEN, "open");
    assert_int_equal(f.fault.error, ENOENT);
    temp.path[0] = '\0';
    opening_is(CPUBIND_CORPUS_ERR_OPEN, "open");
    assert_int_equal(f.fault.error, ENOENT);
}

TEST(a_folder_is_reported)
{
    scratch_folder(&temp.s, "corpus.db");
    opening_is(CPUBIND_CORPUS_ERR_OPEN, "open");
    assert_int_equal(f.fault.error, EISDIR);
}

TEST(an_unreadable_file_is_reported)
{
    make_corpus();
    scratch_need(chmod(temp.path, 0) == 0, "chmod");
    if (access(temp.path, R_OK) == 0)
        skip(); /* root reads everything */
    opening_is(CPUBIND_CORPUS_ERR_OPEN, "open");
    assert_int_equal(f.fault.error, EACCES);
}

TEST(an_empty_file_is_no_database)
{
    scratch_file(&temp.s, "corpus.db", "");
    opening_is(CPUBIND_CORPUS_ERR_NO_DATABASE, "the file is empty");
}

TEST(text_is_no_database)
{
    scratch_file(&temp.s, "corpus.db", "name: a2-192cpu-8npu\n");
    opening_is(CPUBIND_CORPUS_ERR_NO_DATABASE, "the file does not start as a database does");
    char text[8192];
    memset(text, 'x', sizeof text);
    scratch_bytes(&temp.s, "corpus.db", text, sizeof text);
    opening_is(CPUBIND_CORPUS_ERR_NO_DATABASE, "the file does not start as a database does");
    assert_string_equal(f.fault.message, "file is not a database");
}

TEST(another_applications_database_is_no_corpus)
{
    make_empty();
    sql("CREATE TABLE hosts (name TEXT)");
    made();
    opening_is(CPUBIND_CORPUS_ERR_NO_CORPUS, "the application_id is not that of a corpus");
    make_empty();
    sql("PRAGMA application_id = 7");
    made();
    opening_is(CPUBIND_CORPUS_ERR_NO_CORPUS, "the application_id is not that of a corpus");
}

TEST(a_newer_schema_is_refused_whatever_it_contains)
{
    make_tables();
    sql("PRAGMA user_version = 3; PRAGMA writable_schema = ON;"
        "UPDATE sqlite_schema SET sql = 'CREATE GADGET inputs (x)' WHERE name = 'inputs'");
    made();
    opening_is(CPUBIND_CORPUS_ERR_NEWER, "the user_version is newer");
}

TEST(a_schema_without_a_version_is_damaged)
{
    make_tables();
    sql("PRAGMA user_version = 0");
    made();
    opening_is(CPUBIND_CORPUS_ERR_DAMAGED, "the user_version is below 1");
}

TEST(tables_of_another_shape_are_no_corpus)
{
    static const char *const shapes[] = {
        "",
        "CREATE TABLE inputs (host, name, content)",
        "CREATE VIEW inputs AS SELECT 'one' host, 'env' name, '1' content, 0 exit_code",
        /* no column may be computed */
        "CREATE TABLE inputs (host, name, exit_code,"
        " content AS (substr(hex(zeroblob(30000000)), 1, 1)))",
        "CREATE VIRTUAL TABLE inputs USING fts5 (host, name, content, exit_code)",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        make_tables();
        add_host("one");
        sql("DROP TABLE inputs");
        sql(shapes[i]);
        made();
        assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
        host_is("one", CPUBIND_CORPUS_ERR_NO_CORPUS, "the tables are not those of a corpus");
        cpubind_corpus_about *list = (cpubind_corpus_about *)&f;
        int32_t n = 7;
        assert_int_equal(cpubind_corpus_list(f.corpus, &list, &n, &f.fault),
                         CPUBIND_CORPUS_ERR_NO_CORPUS);
        assert_null(list);
        assert_int_equal(n, 0);
        close_all();
        scratch_need(unlink(temp.path) == 0, temp.path);
    }
}

/* Replaces a text in the CREATE statement of a table, as the database stores it. */
static void rewrite_schema(const char *table, const char *old, const char *new)
{
    char text[1024];
    make_empty();
    sql("PRAGMA writable_schema = ON");
    snprintf(text, sizeof text,
             "UPDATE sqlite_schema SET sql = replace(sql, %s, %s) WHERE name = '%s'"
             " AND instr(sql, %s)",
             old, new, table, old);
    sql(text);
    scratch_need(sqlite3_changes(f.db) == 1, text);
    made();
}

TEST(tables_are_compared_without_their_comments)
{
    static const struct {
        const char *table, *old, *new;
        int is_corpus;
    } changes[] = {
        {"hosts", "'-- a version'", "'-- one''s version'", 1},
        {"inputs", "'NOT NULL'", "'NOT' || char(10) || char(9) || '--' || char(10) || 'NULL'",
         1},
        {"inputs", "'BETWEEN 0'", "'BETWEEN  0'", 1},
        {"inputs", "'BETWEEN 0'", "'BETWEEN 1'", 0},
        {"inputs", "'INTEGER DEFAULT'", "'INTEGERDEFAULT'", 0},
        {"inputs", "'CASCADE'", "'/**/CASCADE'", 0},
        {"inputs", "'CASCADE'", "'RESTRICT'", 0},
        /* two dashes in quotes do not begin a comment */
        {"inputs", "'''*//*'''", "'''*--'' || hex(zeroblob(9)) || ''' || char(10) || '//*'''",
         0},
        {"hosts", "'STRICT, WITHOUT ROWID'", "'STRICT'", 0},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        make_corpus();
        rewrite_schema(changes[i].table, changes[i].old, changes[i].new);
        assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
        cpubind_corpus_status status = open_host("one");
        if (changes[i].is_corpus)
            assert_int_equal(status, CPUBIND_CORPUS_OK);
        else
            assert_true(status == CPUBIND_CORPUS_ERR_NO_CORPUS ||
                        status == CPUBIND_CORPUS_ERR_DAMAGED);
        close_all();
        scratch_need(unlink(temp.path) == 0, temp.path);
    }
}

/* A corpus may have further tables, such as those of ANALYZE. */
TEST(a_reader_accepts_further_tables)
{
    make_corpus();
    make_empty();
    sql("CREATE TABLE mine (a); CREATE VIEW nodes AS SELECT host FROM inputs; ANALYZE");
    made();
    open_both("one");
    assert_true(is_text(get("env"), ""));
}

TEST(a_fault_has_no_control_character)
{
    make_tables();
    sql("PRAGMA writable_schema = ON;"
        "UPDATE sqlite_schema SET sql = 'CREATE', name = char(27) || '[31m' || char(228)"
        " || hex(zeroblob(400)) WHERE name = 'inputs'");
    made();
    assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
    host_is("one", CPUBIND_CORPUS_ERR_DAMAGED, "a page is damaged");
    assert_non_null(strstr(f.fault.message, "(?[31m??000"));
    assert_int_equal(strlen(f.fault.message), CPUBIND_CORPUS_MESSAGE - 1);
}

TEST(names_of_hosts_are_compared_byte_by_byte)
{
    static const char *const unknown[] = {"", "ONE", "on", "one ", "one/", "%", "' OR 1 --"};
    make_corpus();
    assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        host_is(unknown[i], CPUBIND_CORPUS_ERR_UNKNOWN_HOST, "no such row in hosts");
    char too_long[5000];
    memset(too_long, 'a', sizeof too_long);
    too_long[sizeof too_long - 1] = '\0';
    host_is(too_long, CPUBIND_CORPUS_ERR_UNKNOWN_HOST, "the name is too long");
}

/* == rows that break the schema == */

TEST(bytes_that_are_missing_fail_their_input_alone)
{
    make_corpus();
    make_empty();
    sql("PRAGMA foreign_keys = OFF; DELETE FROM contents WHERE bytes = CAST('refused' ||"
        " char(10) AS BLOB)");
    made();
    open_both("one");
    assert_true(is_failed(get("cmd/npu-smi-info-m.txt"), EIO, "content"));
    assert_null(cpubind_corpus_input_at(f.host, 0).sha256);
    assert_true(is_text(get("env"), ""));
    assert_true(is_text(names_in("cmd"), "npu-smi-info-m.txt\n"));
}

TEST(rows_that_break_the_schema_are_damage)
{
    static const struct {
        const char *change, *what;
    } rows[] = {
        {"UPDATE inputs SET name = '../env' WHERE name = 'env'",
         "the name of an input breaks the rules"},
        {"UPDATE inputs SET name = 'a' || char(0) || 'b' WHERE name = 'env'",
         "a text is not of the schema"},
        {"UPDATE inputs SET exit_code = 256 WHERE name = 'env'",
         "an input is not of the schema"},
        {"UPDATE inputs SET exit_code = -1 WHERE name = 'env'",
         "an input is not of the schema"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make_corpus();
        make_empty();
        sql("PRAGMA ignore_check_constraints = ON");
        sql(rows[i].change);
        made();
        assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
        host_is("one", CPUBIND_CORPUS_ERR_DAMAGED, rows[i].what);
        close_all();
        scratch_need(unlink(temp.path) == 0, temp.path);
    }
}

/* Makes the tables without types and CHECKs, fills them, then restores their statements. */
TEST(types_that_break_the_schema_are_damage)
{
    static const struct {
        const char *insert, *what;
    } rows[] = {
        {"INSERT INTO inputs VALUES ('one', 7, 's', 0)", "a text is not of the schema"},
        {"INSERT INTO inputs VALUES ('one', x'41', 's', 0)", "a text is not of the schema"},
        {"INSERT INTO inputs VALUES ('one', 'a', 's', 'x')", "an input is not of the schema"},
        {"INSERT INTO inputs VALUES ('one', 'a', 's', 0.5)", "an input is not of the schema"},
        {"INSERT INTO inputs VALUES ('one', 'a', 't', 0)", "an input is not of the schema"},
        {"INSERT INTO inputs VALUES ('one', 'a', 's', NULL)", "an input is not of the schema"},
        {"INSERT INTO inputs VALUES ('one', 'cmd/a', 's', NULL)",
         "an input is not of the schema"},
        {"INSERT INTO inputs VALUES ('one', 'a', 's', 1)", "an input is not of the schema"},
        {"INSERT INTO inputs VALUES ('one', 'a', 's', 0)", "an input is not of the schema"},
        {"INSERT INTO expectations VALUES ('one', 'a', 7)", "a text is not of the schema"},
        {"INSERT INTO expectations VALUES ('one', 'a', 'b' || char(0))",
         "a text is not of the schema"},
        {"INSERT INTO expectations VALUES ('one', '../a', '{}')",
         "the name of an expectation breaks the rules"},
        {"UPDATE hosts SET notes = 7", "a text is not of the schema"},
        {"UPDATE hosts SET notes = ''", "a text of a host breaks the rules"},
        {"UPDATE hosts SET product = 'a' || char(27)", "a text of a host breaks the rules"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make_tables();
        sql("CREATE TABLE words AS SELECT name, sql FROM sqlite_schema;"
            "DROP TABLE expectations; DROP TABLE inputs; DROP TABLE contents; DROP TABLE hosts;"
            "CREATE TABLE hosts (name PRIMARY KEY, product, b, c, notes) WITHOUT ROWID;"
            "CREATE TABLE contents (sha256 PRIMARY KEY, bytes);"
            "CREATE TABLE inputs (host, name, content, exit_code, PRIMARY KEY (host, name))"
            " WITHOUT ROWID;"
            "CREATE INDEX inputs_content ON inputs (content);"
            "CREATE TABLE expectations (host, name, body, PRIMARY KEY (host, name))"
            " WITHOUT ROWID;"
            "INSERT INTO hosts VALUES ('one', 'p', 'synthetic', 'none', 'n');"
            "INSERT INTO contents VALUES ('s', x'00'), ('t', 'text');");
        sql(rows[i].insert);
        sql("PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql ="
            " (SELECT w.sql FROM words w WHERE w.name = sqlite_master.name)"
            " WHERE name IN (SELECT name FROM words WHERE sql IS NOT NULL)");
        made();
        assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
        host_is("one", CPUBIND_CORPUS_ERR_DAMAGED, rows[i].what);
        close_all();
        scratch_need(unlink(temp.path) == 0, temp.path);
    }
}

TEST(bytes_that_are_not_those_of_their_sum_are_damage)
{
    make_corpus();
    make_empty();
    sql("UPDATE contents SET bytes = CAST('0-32' || char(10) AS BLOB) WHERE"
        " bytes = CAST('0-31' || char(10) AS BLOB)");
    scratch_need(sqlite3_changes(f.db) == 1, "UPDATE contents");
    made();
    assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
    host_is("two", CPUBIND_CORPUS_ERR_DAMAGED,
            "the bytes of an input are not those of its SHA-256");
}

/* == limits == */

TEST(an_input_over_the_cap_is_too_long_and_one_at_the_cap_is_not)
{
    make_tables();
    add_host("one");
    add_host("four");
    add_content(1, NULL, 64 << 20);
    add_content(2, NULL, (64 << 20) + 1);
    add_content(3, NULL, (65 << 20) + 9);
    add_input("one", "at", 1, 0);
    add_input("one", "over", 2, 0);
    add_input("one", "further", 3, 0);
    add_input("four", "1", 1, 0);
    add_input("four", "2", 1, 0);
    add_input("four", "3", 1, 0);
    add_input("four", "4", 1, 0);
    made();
    open_both("one");
    assert_int_equal(get("at").len, 64 << 20);
    assert_true(is_state(get("over"), CPUBIND_INPUT_TOO_LONG));
    assert_true(is_state(get("further"), CPUBIND_INPUT_TOO_LONG));
    cpubind_corpus_close_host(f.host);
    host_is("four", CPUBIND_CORPUS_ERR_LIMIT, "too many inputs, or too many bytes");
}

static void add_numbered(int n)
{
    char text[256];
    snprintf(text, sizeof text,
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
             "INSERT INTO inputs SELECT 'one', printf('d/%%080d', i), sha256, 0"
             " FROM n, contents",
             n);
    sql(text);
}

TEST(a_host_has_a_greatest_number_of_inputs)
{
    make_tables();
    add_host("one");
    add_content(1, "x", 1);
    add_numbered(CPUBIND_CORPUS_MAX_INPUTS);
    made();
    open_both("one");
    assert_true(is_state(names_in("d"), CPUBIND_INPUT_TOO_LONG));
    assert_true(is_text(names_in("d/0"), "") || names_in("d/0").state == CPUBIND_INPUT_ABSENT);
    close_all();
    make_empty();
    add_input("one", "e", 1, 0);
    made();
    assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
    host_is("one", CPUBIND_CORPUS_ERR_LIMIT, "too many inputs, or too many bytes");
}

/* == writers == */

/* Starts a process that begins to write, holds the lock for `ms`, and rolls back. Returns when
 * it has the lock. */
static pid_t start_writer(const char *begin, int ms, int is_rude)
{
    int ends[2];
    char ready;
    scratch_need(pipe(ends) == 0, "pipe");
    pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0) {
        make_empty();
        sql(begin);
        scratch_need(write(ends[1], "r", 1) == 1, "write");
        usleep((useconds_t)ms * 1000);
        if (!is_rude) {
            sql("ROLLBACK");
            made();
        }
        _exit(0);
    }
    close(ends[1]);
    scratch_need(read(ends[0], &ready, 1) == 1, "the writer");
    close(ends[0]);
    return pid;
}

static void end_writer(pid_t pid)
{
    int status;
    kill(pid, SIGKILL);
    scratch_need(waitpid(pid, &status, 0) == pid, "waitpid");
}

TEST(a_writer_is_waited_for)
{
    make_corpus();
    pid_t writer = start_writer("BEGIN EXCLUSIVE", 300, 0);
    cpubind_corpus_status status = open_corpus();
    end_writer(writer);
    assert_int_equal(status, CPUBIND_CORPUS_OK);
    assert_int_equal(open_host("one"), CPUBIND_CORPUS_OK);
}

TEST(a_writer_that_stays_is_busy)
{
    make_corpus();
    pid_t writer = start_writer("BEGIN EXCLUSIVE", 60000, 0);
    int64_t start = clock_ms();
    cpubind_corpus_status status = open_corpus();
    int64_t waited = clock_ms() - start;
    end_writer(writer);
    assert_int_equal(status, CPUBIND_CORPUS_ERR_BUSY);
    assert_true(is_fault(&f.fault));
    assert_string_equal(f.fault.message, "database is locked");
    assert_in_range(waited, CPUBIND_CORPUS_WAIT_MS * 3 / 4, CPUBIND_CORPUS_WAIT_MS * 5);
}

TEST(a_writer_that_starts_later_is_busy_for_the_next_host)
{
    make_corpus();
    open_both("one");
    cpubind_corpus_host *one = f.host;
    pid_t writer = start_writer("BEGIN EXCLUSIVE", 60000, 0);
    cpubind_corpus_status status = open_host("two");
    cpubind_source source = cpubind_corpus_source(one);
    int is_there = is_text(source.read(source.ctx, "env"), "");
    end_writer(writer);
    cpubind_corpus_close_host(one);
    assert_true(is_there);
    assert_int_equal(status, CPUBIND_CORPUS_ERR_BUSY);
    assert_int_equal(open_host("two"), CPUBIND_CORPUS_OK);
}

TEST(an_interrupted_write_is_reported)
{
    make_corpus();
    pid_t writer = start_writer("PRAGMA cache_size = 1; BEGIN EXCLUSIVE;"
                                "UPDATE inputs SET exit_code = 0;"
                                "UPDATE hosts SET notes = hex(zeroblob(20000));"
                                "INSERT INTO contents VALUES (printf('%064d', 99),"
                                " zeroblob(200000))",
                                0, 1);
    int status;
    scratch_need(waitpid(writer, &status, 0) == writer, "waitpid");
    opening_is(CPUBIND_CORPUS_ERR_READ, "an interrupted write must be rolled back first");
}

/* == damage == */

/* Reads everything: each result must be a documented one. */
static void look_through(void)
{
    static const char *const hosts[] = {"one", "two", "three"};
    static const char *const names[] = {"sys/devices/system/node/node0/cpulist",
                                        "sys/devices/system/node",
                                        "cmd/npu-smi-info-m.txt",
                                        "env",
                                        "proc/interrupts",
                                        "proc/self/status",
                                        "sys",
                                        "cmd"};
    cpubind_corpus_status status = open_corpus();
    if (status != CPUBIND_CORPUS_OK) {
        assert_null(f.corpus);
        assert_true(is_fault(&f.fault));
        assert_string_not_equal(cpubind_corpus_status_name(status), "?");
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        status = open_host(hosts[i]);
        assert_int_equal(f.host == NULL, status != CPUBIND_CORPUS_OK);
        if (!f.host) {
            assert_true(is_fault(&f.fault));
            continue;
        }
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            cpubind_input input = j & 1 ? names_in(names[j]) : get(names[j]);
            unsigned sum = 0;
            for (int32_t k = 0; k < input.len; k++)
                sum += (unsigned char)input.data[k];
            assert_true(sum < UINT32_MAX);
            assert_in_range(input.state, CPUBIND_INPUT_ABSENT, CPUBIND_INPUT_TOO_LONG);
            assert_in_range(input.exit_code, 0, 255);
        }
        cpubind_corpus_close_host(f.host);
        f.host = NULL;
    }
    close_all();
}

static size_t read_back(char *bytes, size_t cap)
{
    FILE *file = fopen(temp.path, "re");
    scratch_need(file != NULL, temp.path);
    size_t n = fread(bytes, 1, cap, file);
    fclose(file);
    return n;
}

/* xorshift: the same numbers on every run. */
static uint32_t next(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

enum { PLACES = 200 };

TEST(flipped_bytes_do_no_harm)
{
    static char good[1 << 18], bad[1 << 18];
    make_corpus();
    size_t n = read_back(good, sizeof good);
    assert_in_range(n, 4096, sizeof good - 1);
    uint32_t seed = 2463534242u;
    for (int i = 0; i < PLACES * 3; i++) {
        memcpy(bad, good, n);
        /* A third hits the first page, a third the starts of pages, a third anywhere; one to
         * four bytes. */
        for (int k = 0; k <= (i & 3); k++) {
            size_t at = next(&seed) % n;
            if (i % 3 == 0)
                at %= 4096;
            else if (i % 3 == 1)
                at = at / 4096 * 4096 + at % 64;
            bad[at] = (char)(bad[at] ^ (char)(1 + next(&seed) % 255));
        }
        scratch_bytes(&temp.s, "corpus.db", bad, n);
        look_through();
    }
}

TEST(a_cut_file_does_no_harm)
{
    static char good[1 << 18];
    make_corpus();
    size_t n = read_back(good, sizeof good);
    uint32_t seed = 88172645u;
    for (int i = 0; i < PLACES; i++) {
        size_t len = i < 110 ? (size_t)i : next(&seed) % n;
        if (i >= 180)
            len = len / 4096 * 4096; /* whole pages */
        scratch_bytes(&temp.s, "corpus.db", good, len);
        look_through();
    }
    scratch_bytes(&temp.s, "corpus.db", good, n);
    open_both("one");
}

/* == faults == */

/* Whether the status is the one for a failure of memory, or of the file. */
static int is_expected(cpubind_corpus_status status, int is_memory)
{
    if (!is_fault(&f.fault))
        return 0;
    if (is_memory)
        return status == CPUBIND_CORPUS_ERR_MEMORY && f.fault.error == ENOMEM;
    return (status == CPUBIND_CORPUS_ERR_READ || status == CPUBIND_CORPUS_ERR_OPEN) &&
           f.fault.error == EIO;
}

static cpubind_corpus_status list_both(void)
{
    cpubind_corpus_about *list = NULL;
    int32_t n = 0;
    cpubind_corpus_status status = cpubind_corpus_list(f.corpus, &list, &n, &f.fault);
    if (status == CPUBIND_CORPUS_OK) {
        assert_int_equal(n, 2);
        assert_string_equal(list[1].name, "two");
    } else {
        assert_null(list);
    }
    cpubind_corpus_free_list(list);
    return status;
}

/* Runs everything that a reader does. Returns 1 on success, and then every answer was right. */
static int read_all(int is_memory)
{
    cpubind_corpus_status status = open_corpus();
    if (status == CPUBIND_CORPUS_OK)
        status = list_both();
    if (status == CPUBIND_CORPUS_OK)
        status = open_host("one");
    if (status != CPUBIND_CORPUS_OK) {
        assert_true(is_expected(status, is_memory));
        close_all();
        return 0;
    }
    cpubind_input names = names_in("sys");
    int is_whole = names.state == CPUBIND_INPUT_PRESENT;
    if (!is_whole) {
        assert_true(is_failed(names, ENOMEM, "memory"));
        memory_faults.at = 0;
        assert_true(is_text(names_in("sys"), "devices\n"));
    }
    assert_true(is_text(get("sys/devices/system/node/node0/cpulist"), "0-31\n"));
    assert_int_equal(get("proc/interrupts").len, 9000);
    assert_int_equal(cpubind_corpus_n_input(f.host), 9);
    assert_int_equal(cpubind_corpus_n_expectation(f.host), 2);
    close_all();
    return is_whole;
}

/* Lets each call fail in turn. Returns the number of calls. */
static int fail_everywhere(fault_plan *plan, int is_lasting)
{
    sqlite3_int64 before = sqlite3_memory_used();
    for (int n = 1;; n++) {
        no_faults();
        *plan = (fault_plan){n, is_lasting, 0, 0};
        int is_whole = read_all(plan == &memory_faults);
        int n_failed = plan->n_failed;
        no_faults();
        assert_int_equal(sqlite3_memory_used(), before);
        if (n_failed == 0) {
            assert_true(is_whole);
            return n - 1;
        }
        assert_in_range(n, 1, 100000);
    }
}

TEST(every_allocation_may_fail)
{
    make_corpus();
    assert_true(read_all(1));
    assert_in_range(fail_everywhere(&memory_faults, 0), 100, 100000);
    assert_in_range(fail_everywhere(&memory_faults, 1), 100, 100000);
}

TEST(every_read_may_fail)
{
    make_corpus();
    assert_in_range(fail_everywhere(&file_faults, 0), 20, 100000);
    assert_in_range(fail_everywhere(&file_faults, 1), 20, 100000);
}

/* == trees with loops in them == */

static void put_number(char *at, uint32_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (char)(number >> (8 * (bytes - 1 - i)) & 0xff);
}

static uint32_t number_of(const char *at, int bytes)
{
    uint32_t number = 0;
    for (int i = 0; i < bytes; i++)
        number = number << 8 | (unsigned char)at[i];
    return number;
}

/* Makes a corpus of small pages, whose tables are trees of several pages. Returns the first
 * page of table `name`, counted from 1. */
static uint32_t make_trees(const char *name)
{
    char text[128];
    make_empty();
    sql("PRAGMA page_size = 512; PRAGMA synchronous = OFF");
    sql(f.schema);
    sql("BEGIN");
    add_content(1, "x", 1);
    for (int i = 0; i < 60; i++) {
        snprintf(text, sizeof text, "host-%02d", i);
        add_host(text);
        snprintf(text, sizeof text, "sys/%02d", i);
        add_input("host-00", text, 1, 0);
    }
    sql("COMMIT");
    sqlite3_stmt *query = NULL;
    snprintf(text, sizeof text, "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", name);
    sqlite3_prepare_v2(f.db, text, -1, &query, NULL);
    scratch_need(sqlite3_step(query) == SQLITE_ROW, name);
    uint32_t page = (uint32_t)sqlite3_column_int(query, 0);
    sqlite3_finalize(query);
    made();
    return page;
}

/* Makes the last branch of a tree lead to the same page as the first one. */
TEST(a_branch_that_occurs_twice_is_damage)
{
    static const char *const tables[] = {"hosts", "inputs"};
    static const char *const whats[] = {"the hosts do not ascend", "the inputs do not ascend"};
    static char file[1 << 18];
    for (size_t i = 0; i < 2; i++) {
        char *page = file + (make_trees(tables[i]) - 1) * 512;
        size_t n = read_back(file, sizeof file);
        scratch_need(page[0] == 2 && number_of(page + 3, 2) >= 1, "a root with two branches");
        memcpy(page + 8, page + number_of(page + 12, 2), 4);
        scratch_bytes(&temp.s, "corpus.db", file, n);
        assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
        cpubind_corpus_about *list = NULL;
        int32_t n_host = 0;
        if (i == 0) {
            assert_int_equal(cpubind_corpus_list(f.corpus, &list, &n_host, &f.fault),
                             CPUBIND_CORPUS_ERR_DAMAGED);
            assert_string_equal(f.fault.what, whats[i]);
        } else {
            host_is("host-00", CPUBIND_CORPUS_ERR_DAMAGED, whats[i]);
        }
        close_all();
        scratch_need(unlink(temp.path) == 0, temp.path);
    }
}

/* Makes the schema a tree of fifteen levels, in which ten branches of each page lead to one
 * page of the next level. Without a limit, SQLite would read 10^15 rows. */
TEST(a_schema_without_an_end_is_damage)
{
    static char file[1 << 18];
    enum { PAGE = 512, LEVELS = 15, BRANCHES = 10 };
    make_trees("hosts");
    size_t n = read_back(file, sizeof file) / PAGE;
    for (uint32_t level = 0; level <= LEVELS; level++) {
        /* the first page begins with the header of the file */
        char *page = level ? file + (n + level - 1) * PAGE : file;
        char *head = page + (level ? 0 : 100), *cell = page + PAGE - 16;
        memset(head, 0, (size_t)(page + PAGE - head));
        head[0] = level < LEVELS ? 5 : 13;
        put_number(head + 3, level < LEVELS ? BRANCHES : 1, 2);
        put_number(head + 5, PAGE - 16, 2);
        if (level < LEVELS) {
            put_number(head + 8, (uint32_t)(n + level + 1), 4);
            for (int i = 0; i < BRANCHES; i++)
                put_number(head + 12 + i * 2, PAGE - 16, 2);
            put_number(cell, (uint32_t)(n + level + 1), 4);
            cell[4] = 1; /* a row of five columns, all NULL, in the last level */
        } else {
            put_number(head + 8, PAGE - 16, 2);
            memcpy(cell, "\6\1\6\0\0\0\0\0", 8);
        }
    }
    put_number(file + 28, (uint32_t)(n + LEVELS), 4);
    scratch_bytes(&temp.s, "corpus.db", file, (n + LEVELS) * PAGE);
    int64_t start = clock_ms();
    assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
    host_is("host-00", CPUBIND_CORPUS_ERR_DAMAGED,
            "it takes more steps than a corpus can need");
    assert_in_range(clock_ms() - start, 0, 5000);
}

/* A call takes one lock: no writer can change the database between two tables. */
TEST(a_host_and_a_list_are_read_under_one_lock)
{
    make_corpus();
    assert_int_equal(open_corpus(), CPUBIND_CORPUS_OK);
    assert_int_equal(list_both(), CPUBIND_CORPUS_OK); /* SQLite has read the schema now */
    n_shared_locks = 0;
    assert_int_equal(open_host("one"), CPUBIND_CORPUS_OK);
    assert_int_equal(n_shared_locks, 1);
    assert_int_equal(list_both(), CPUBIND_CORPUS_OK);
    assert_int_equal(n_shared_locks, 2);
}

/* == codes == */

TEST(every_code_has_a_name_and_a_text)
{
#define CPUBIND_X(name, value, text)                                                           \
    assert_int_equal(CPUBIND_CORPUS_##name, value);                                            \
    assert_string_equal(cpubind_corpus_status_name(CPUBIND_CORPUS_##name), #name);             \
    assert_string_equal(cpubind_corpus_status_text(CPUBIND_CORPUS_##name), text);
    CPUBIND_CORPUS_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
    assert_string_equal(cpubind_corpus_status_name((cpubind_corpus_status)-1), "?");
    assert_string_equal(cpubind_corpus_status_text((cpubind_corpus_status)1), "?");
}

TEST(closing_nothing_is_allowed)
{
    cpubind_corpus_close_host(NULL);
    cpubind_corpus_close(NULL);
}

static int run_all(void)
{
    configure_sqlite();
    return run_registered("corpus", set_up, tear_down);
}

TEST_PROGRAM(run_all)
