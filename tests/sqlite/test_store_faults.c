/* test_store_faults.c - a change of the corpus is made completely or not at all
 * SPDX-License-Identifier: MIT
 *
 * Each change is made again and again while the 1st, 2nd, ... allocation or call of the file
 * system fails; then while that one and all after it fail (allocations: each eleventh; with
 * sanitizers each seventh of both). After each run SQLite opens the file on the real file
 * system, as the next writer does: its bytes must be those before the change or those after
 * it, and sound by SQLite's own check. They may be those after the change when the commit
 * returns OK, and in one more case: the journal was removed, which is the moment of the
 * commit, and then the folder could not be synced.
 */
#define _GNU_SOURCE
#include "../support/test.h"
#include "temp_store.h"

/* A change of a corpus. */
typedef struct scenario {
    const char *name;
    int n_host; /* in the corpus before: "host-0", ...; 0: there is no file */
    cpubind_corpus_status (*put)(cpubind_store *store, cpubind_corpus_fault *fault);
} scenario;

typedef struct fixture {
    whole before, after;
    int n_run, n_fault, n_after, n_hot;
} fixture;

static fixture f;

static cpubind_corpus_status import_new(cpubind_store *store, cpubind_corpus_fault *fault)
{
    return put_all(store, "new", 0, fault);
}

static cpubind_corpus_status replace_first(cpubind_store *store, cpubind_corpus_fault *fault)
{
    return put_all(store, "host-0", 1, fault);
}

static cpubind_corpus_status accept_plan(cpubind_store *store, cpubind_corpus_fault *fault)
{
    static const char plan[] = "{\"args\": [\"--rank\"], \"exit\": 1, \"error\": {}}";
    return cpubind_store_put_expectation(store, "host-1", "default", plan,
                                         (int32_t)sizeof plan - 1, fault);
}

/* A removal and a renaming in one change. */
static cpubind_corpus_status remove_and_rename(cpubind_store *store,
                                               cpubind_corpus_fault *fault)
{
    const cpubind_corpus_status status = cpubind_store_remove_host(store, "host-0", fault);
    return status == CPUBIND_CORPUS_OK
               ? cpubind_store_rename_host(store, "host-1", "other", fault)
               : status;
}

/* The first shape of a corpus adds the tables. */
static cpubind_corpus_status import_shape(cpubind_store *store, cpubind_corpus_fault *fault)
{
    return put_shape(store, "new", 0, "a capture", fault);
}

/* A shape for a host with inputs, and one more after a look for it. */
static cpubind_corpus_status replace_by_shapes(cpubind_store *store,
                                               cpubind_corpus_fault *fault)
{
    const cpubind_store_shape shape = {"another", 7, "1.0", SHAPE};
    char host[16];
    cpubind_corpus_status status = put_shape(store, "host-0", 1, "a capture", fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_find_shape(store, &shape, host, (int32_t)sizeof host, fault);
    return status == CPUBIND_CORPUS_OK ? put_shape(store, "new", 0, "another", fault) : status;
}

static const scenario scenarios[] = {
    {"a host into no file", 0, import_new},
    {"a host into a corpus", 2, import_new},
    {"a host for another", 2, replace_first},
    {"an expectation for another", 2, accept_plan},
    {"a host removed, another renamed", 2, remove_and_rename},
    {"a shape into no file", 0, import_shape},
    {"shapes into a corpus", 2, replace_by_shapes},
};

enum { N_SCENARIO = sizeof scenarios / sizeof *scenarios };

/* make check runs this program twice: without sanitizers, where every allocation fails, and
 * with them, where every STEP-th does. */
#ifdef __SANITIZE_ADDRESS__
#define STEP 7
#else
#define STEP 1
#endif

/* Makes one change. Returns the first failure. */
static cpubind_corpus_status make_change(const scenario *s, cpubind_corpus_fault *fault)
{
    cpubind_store *store = NULL;
    memset(fault, 0x55, sizeof *fault);
    cpubind_corpus_status status = cpubind_store_open(temp.path, &store, fault);
    assert_int_equal(store == NULL, status != CPUBIND_CORPUS_OK);
    if (status == CPUBIND_CORPUS_OK)
        status = s->put(store, fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_commit(store, fault);
    cpubind_store_close(store);
    return status;
}

/* Makes the file of before the change, and learns that of after it. */
static void begin(const scenario *s)
{
    cpubind_store *store = NULL;
    cpubind_corpus_fault fault;
    char name[32];
    no_faults();
    unlink(temp.path);
    if (s->n_host > 0)
        assert_int_equal(cpubind_store_open(temp.path, &store, NULL), CPUBIND_CORPUS_OK);
    for (int i = 0; i < s->n_host; i++) {
        snprintf(name, sizeof name, "host-%d", i);
        assert_int_equal(put_all(store, name, 0, NULL), CPUBIND_CORPUS_OK);
    }
    if (store)
        assert_int_equal(cpubind_store_commit(store, NULL), CPUBIND_CORPUS_OK);
    cpubind_store_close(store);
    f.before = read_whole(temp.path);
    assert_true(!f.before.bytes || is_sound(temp.path));
    assert_int_equal(make_change(s, &fault), CPUBIND_CORPUS_OK);
    f.after = read_whole(temp.path);
    assert_true(is_sound(temp.path));
    assert_false(is_same_whole(&f.before, &f.after));
    write_whole(temp.path, &f.before);
    f.n_run = f.n_fault = f.n_after = f.n_hot = 0;
}

static void finish(void)
{
    free(f.before.bytes);
    free(f.after.bytes);
    f.before = f.after = (whole){NULL, 0};
}

SETUP(set_up)
{
    temp_store_make();
    return 0;
}

SETUP(tear_down)
{
    finish();
    return temp_store_remove();
}

/* Rolls a journal back, as the next writer does. SQLite leaves a journal whose change has not
 * reached the database; that journal has no meaning and is removed. */
static void recover(void)
{
    char journal[SCRATCH_PATH * 2 + 16];
    snprintf(journal, sizeof journal, "%s-journal", temp.path);
    if (access(journal, F_OK) != 0)
        return;
    f.n_hot++;
    if (there_is(temp.path, ""))
        assert_true(is_sound(temp.path));
    unlink(journal);
}

/* The file must be that of before or after the change. Returns 1 if it is that of after. */
static int is_changed(void)
{
    recover();
    whole now = read_whole(temp.path);
    int is_before = is_same_whole(&now, &f.before);
    int is_after = is_same_whole(&now, &f.after);
    /* Where the removal fails too, the new file of a failed change stays, empty. */
    if (!f.before.bytes && now.bytes && now.n == 0)
        is_before = 1;
    free(now.bytes);
    assert_true(is_before || is_after);
    return is_after;
}

/* One change with a fault. */
static void change_once(const scenario *s)
{
    cpubind_corpus_fault fault;
    sqlite3_int64 memory = sqlite3_memory_used();
    cpubind_corpus_status status = make_change(s, &fault);
    int n_failed = memory_faults.n_failed + file_faults.n_failed;
    no_faults();
    assert_int_equal(sqlite3_memory_used(), memory);
    int changed = is_changed();
    if (status == CPUBIND_CORPUS_OK) {
        assert_true(changed);
    } else {
        assert_true(is_printable(&fault));
        assert_true(n_failed > 0);
        assert_int_equal(status == CPUBIND_CORPUS_ERR_UNSYNCED, changed);
        f.n_after += changed;
    }
    if (changed)
        write_whole(temp.path, &f.before);
    else if (!f.before.bytes)
        unlink(temp.path);
    f.n_run++;
    f.n_fault += n_failed;
}

/* Makes the change with call 1, 1 + stride, 1 + 2 * stride, ... failing, until a change needs
 * fewer calls. */
static void fail_everywhere(const scenario *s, fault_plan *plan, int is_lasting, int stride,
                            fault_way way)
{
    for (int n = 1;; n += stride) {
        int before = f.n_fault;
        no_faults();
        file_fault_way = way;
        *plan = (fault_plan){n, is_lasting, 0, 0};
        change_once(s);
        if (f.n_fault == before)
            break;
        assert_in_range(n, 1, 100000);
    }
}

static void say(const scenario *s, const char *what)
{
    print_message("#   %s: %d changes, %d %s, %d left a journal\n", s->name, f.n_run, f.n_fault,
                  what, f.n_hot);
}

TEST(every_allocation_may_fail)
{
    for (int i = 0; i < N_SCENARIO; i++) {
        begin(&scenarios[i]);
        fail_everywhere(&scenarios[i], &memory_faults, 0, STEP, FAULT_EIO);
        fail_everywhere(&scenarios[i], &memory_faults, 1, 11 * STEP, FAULT_EIO);
        say(&scenarios[i], "allocations failed");
        assert_in_range(f.n_run, 500 / STEP, 100000);
        assert_int_equal(f.n_after, 0);
        finish();
    }
}

TEST(every_call_of_the_file_system_may_fail)
{
    for (int i = 0; i < N_SCENARIO; i++) {
        begin(&scenarios[i]);
        fail_everywhere(&scenarios[i], &file_faults, 0, 1, FAULT_EIO);
        fail_everywhere(&scenarios[i], &file_faults, 1, 1, FAULT_EIO);
        say(&scenarios[i], "calls failed");
        assert_in_range(f.n_run, 60, 100000);
        assert_int_equal(f.n_after, 0);
        finish();
    }
}

TEST(the_disk_may_be_full_anywhere)
{
    for (int i = 0; i < N_SCENARIO; i++) {
        begin(&scenarios[i]);
        fail_everywhere(&scenarios[i], &file_faults, 0, 1, FAULT_ENOSPC);
        fail_everywhere(&scenarios[i], &file_faults, 1, 1, FAULT_ENOSPC);
        say(&scenarios[i], "calls failed");
        assert_in_range(f.n_run, 60, 100000);
        assert_true(f.n_after > 0); /* the folder that could not be synced */
        finish();
    }
}

/* A reader finds the corpus of before or after the change, or a journal to roll back first. */
static void check_reader(const scenario *s)
{
    cpubind_corpus *corpus = NULL;
    cpubind_corpus_fault fault;
    cpubind_corpus_status status = cpubind_corpus_open(temp.path, &corpus, &fault);
    if (status == CPUBIND_CORPUS_OK) {
        cpubind_corpus_about *list = NULL;
        int32_t n = 0;
        assert_int_equal(cpubind_corpus_list(corpus, &list, &n, &fault), CPUBIND_CORPUS_OK);
        assert_in_range(n, s->n_host, s->n_host + 1);
        cpubind_corpus_free_list(list);
    } else if (status == CPUBIND_CORPUS_ERR_READ) {
        assert_string_equal(fault.what, "an interrupted write must be rolled back first");
        f.n_hot++;
    } else {
        assert_int_equal(s->n_host, 0);
        assert_true(status == CPUBIND_CORPUS_ERR_OPEN ||
                    status == CPUBIND_CORPUS_ERR_NO_DATABASE);
    }
    cpubind_corpus_close(corpus);
}

/* A process makes the change and is killed in the middle of its n-th write. Returns 0 if it
 * ended before that. */
static int kill_at(const scenario *s, int n)
{
    cpubind_corpus_fault fault;
    int status = 0;
    pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0) {
        no_faults();
        file_fault_way = FAULT_KILL;
        file_faults = (fault_plan){n, 0, 0, 0};
        _exit(make_change(s, &fault) == CPUBIND_CORPUS_OK ? 0 : 1);
    }
    scratch_need(waitpid(pid, &status, 0) == pid, "waitpid");
    scratch_need(WIFEXITED(status) && (WEXITSTATUS(status) == 9 || WEXITSTATUS(status) == 0),
                 "the writer");
    return WEXITSTATUS(status) == 9;
}

/* Opens the store for the next change and makes none. */
static void open_and_close(void)
{
    cpubind_store *store = NULL;
    assert_int_equal(cpubind_store_open(temp.path, &store, NULL), CPUBIND_CORPUS_OK);
    cpubind_store_close(store);
}

TEST(a_writer_that_is_killed_leaves_the_corpus_as_it_was)
{
    for (int i = 0; i < N_SCENARIO; i++) {
        begin(&scenarios[i]);
        int n_hot = 0;
        for (int n = 1; kill_at(&scenarios[i], n); n++, f.n_run++) {
            f.n_hot = 0;
            check_reader(&scenarios[i]);
            n_hot += f.n_hot;
            open_and_close();
            assert_false(is_changed());
            write_whole(temp.path, &f.before);
        }
        f.n_hot = n_hot;
        f.n_fault = f.n_run;
        say(&scenarios[i], "writers killed");
        assert_in_range(f.n_run, 4, 1000);
        assert_true(n_hot > 0 || scenarios[i].n_host == 0);
        assert_true(is_changed());
        finish();
    }
}

static int run_all(void)
{
    configure_sqlite();
    return run_registered("store faults", set_up, tear_down);
}

TEST_PROGRAM(run_all)
