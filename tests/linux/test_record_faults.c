/* test_record_faults.c - each system call for the file of a record fails, at each of its uses
 * SPDX-License-Identifier: MIT
 *
 * A record is loaded, replaced and removed again and again, with the 1st, 2nd, ... use of each
 * call failing, or ending the process, until a run has fewer uses. After each run the folder
 * holds the complete old file or the complete new file, as the status says, and no other name,
 * except after a failed removal or lock; a run must not leave a descriptor open.
 */
#define _GNU_SOURCE
#include "fault_table.h"
#include "record_samples.h"

/* The action of a run after it opened the file. */
typedef enum action {
    ACTION_MAKE,    /* saves; neither the file nor its folder exists */
    ACTION_REPLACE, /* loads and saves */
    ACTION_OWN,     /* loads and saves at a path that the caller chose */
    ACTION_REMOVE,  /* removes the file, and the temporary file of a killed process */
    N_ACTIONS
} action;

/* The calls of a record. */
#define USED                                                                                   \
    CALL_open, CALL_openat, CALL_create, CALL_fstat, CALL_read, CALL_write, CALL_fsync,        \
        CALL_close, CALL_rename, CALL_unlinkat, CALL_mkdirat, CALL_flock, CALL_geteuid,        \
        CALL_fdopendir, CALL_readdir, CALL_closedir, CALL_malloc, CALL_realloc

static struct {
    scratch s;
    int descriptors;
    char folder[64], file[SCRATCH_PATH * 2];
    cpubind_record before, after;
    char old_text[8192], new_text[8192];
} f;

static ssize_t short_read(int fd, void *data, size_t cap)
{
    return read(fd, data, cap < 700 ? cap : 700);
}

static ssize_t short_write(int fd, const void *data, size_t len)
{
    return write(fd, data, len < 300 ? len : 300);
}

/* == a run == */

/* Reads the file; "" if it does not exist. */
static void read_file(char text[8192])
{
    const int fd = open(f.file, O_RDONLY | O_CLOEXEC);
    memset(text, 0, 8192);
    if (fd < 0)
        return;
    scratch_need(read(fd, text, 8191) > 0, f.file);
    close(fd);
}

/* Returns the number of names in the folder that end in `end`. */
static int n_names(const char *end)
{
    char path[SCRATCH_PATH * 2];
    int n = 0;
    snprintf(path, sizeof path, "%s/%s", f.s.dir, f.folder);
    DIR *folder = opendir(path);
    if (!folder)
        return 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const size_t len = strlen(entry->d_name), tail = strlen(end);
        n += len >= tail && strcmp(entry->d_name + len - tail, end) == 0;
    }
    closedir(folder);
    return n;
}

static void make_files(action what)
{
    char name[128];
    scratch_empty(&f.s);
    scratch_path(&f.s, f.folder, f.file); /* makes the folders above it */
    snprintf(f.file, sizeof f.file, "%s/%s/4711.record", f.s.dir, f.folder);
    if (what == ACTION_MAKE)
        return;
    snprintf(name, sizeof name, "%s/4711.record", f.folder);
    scratch_file(&f.s, name, f.old_text);
    scratch_need(chmod(f.file, 0600) == 0, "chmod");
    if (what == ACTION_REMOVE) {
        snprintf(name, sizeof name, "%s/.4711.record.77.0.tmp", f.folder);
        scratch_file(&f.s, name, "{");
    }
}

static cpubind_linux_status do_action(cpubind_record_file *file, action what,
                                      cpubind_linux_fault *why)
{
    cpubind_record found;
    if (what == ACTION_REMOVE)
        return sample_status(cpubind_record_remove(file), why);
    if (what != ACTION_MAKE) {
        const cpubind_linux_status status =
            sample_status(cpubind_record_load(file, &found), why);
        if (status != CPUBIND_LINUX_OK) {
            assert_true(sample_is_zero(&found));
            return status;
        }
        assert_true(sample_same(&found, &f.before));
        cpubind_record_free(&found);
    }
    return sample_status(cpubind_record_save(file, &f.after), why);
}

static cpubind_linux_status run(action what, cpubind_linux_fault *why)
{
    cpubind_root root = scratch_tree(&fault_table, f.s.dir);
    cpubind_record_file *file = NULL;
    cpubind_linux_status status =
        sample_status(cpubind_record_open(&root, what == ACTION_OWN ? f.file : NULL, SAMPLE_PID,
                                          what == ACTION_MAKE, &file),
                      why);
    if (status == CPUBIND_LINUX_OK)
        status = do_action(file, what, why);
    else
        assert_null(file);
    cpubind_record_close(file);
    close(root.fd);
    return status;
}

/* Checks that the fault reports the injected error. */
static void check_why(cpubind_linux_status status, const cpubind_linux_fault *why)
{
    const int is_memory = fault.which == CALL_malloc || fault.which == CALL_realloc;
    assert_non_null(why->what);
    if (is_memory)
        assert_int_equal(status, CPUBIND_LINUX_ERR_MEMORY);
    else if (status == CPUBIND_LINUX_ERR_BUSY)
        assert_int_equal(fault.error, EWOULDBLOCK);
    else
        assert_int_equal(status, CPUBIND_LINUX_ERR_STATE);
    /* The folder must be a folder and not a link: these two errors are reported as EPERM. */
    const int is_rule = strcmp(why->what, "folder") == 0 && why->error == EPERM &&
                        (fault.error == ELOOP || fault.error == ENOTDIR);
    if (!is_rule)
        assert_int_equal(why->error, fault.error);
}

/* Does an action with the fault that is set. Returns 1 if it failed. */
static int run_and_check(action what)
{
    cpubind_linux_fault why = {0};
    char text[8192];
    const int may_leave = fault.which == CALL_unlinkat;
    make_files(what);
    const cpubind_linux_status status = run(what, &why);
    read_file(text);
    if (what == ACTION_REMOVE)
        assert_string_equal(text, status == CPUBIND_LINUX_OK ? "" : f.old_text);
    else if (status == CPUBIND_LINUX_OK)
        assert_string_equal(text, f.new_text);
    else
        assert_string_equal(text, what == ACTION_MAKE ? "" : f.old_text);
    /* Only the holder of the lock may remove its file. */
    const int is_locked = status == CPUBIND_LINUX_OK || strcmp(why.what, "lock") != 0;
    assert_true(n_names(".lock") == 0 || may_leave || !is_locked);
    assert_true(n_names(".tmp") == 0 || may_leave || what == ACTION_REMOVE);
    assert_int_equal(open_descriptors(), f.descriptors);
    fault_assert_only(CALLS(USED));
    if (status == CPUBIND_LINUX_OK)
        return 0;
    check_why(status, &why);
    return 1;
}

static void write_text(const cpubind_record *state, char text[8192])
{
    cpubind_record_file *file = NULL;
    fault_clear();
    make_files(ACTION_MAKE);
    cpubind_root root = scratch_tree(&fault_table, f.s.dir);
    assert_int_equal(
        sample_status(cpubind_record_open(&root, NULL, SAMPLE_PID, CPUBIND_RECORD_MAKE, &file),
                      NULL),
        CPUBIND_LINUX_OK);
    assert_int_equal(sample_status(cpubind_record_save(file, state), NULL), CPUBIND_LINUX_OK);
    cpubind_record_close(file);
    close(root.fd);
    read_file(text);
}

SETUP(set_up)
{
    static cpubind_sys next;
    next = cpubind_sys_real;
    next.read = short_read;
    next.write = short_write;
    next.fsync = no_fsync;
    fault_next = &next;
    scratch_make(&f.s);
    if (geteuid() == 0)
        snprintf(f.folder, sizeof f.folder, "run/cpubind");
    else
        snprintf(f.folder, sizeof f.folder, "run/user/%lu/cpubind", (unsigned long)geteuid());
    sample_make(&f.before);
    sample_make(&f.after);
    f.after.main = sample_set(&f.after, "1000-2000");
    for (int32_t tid = 10000; tid < 10200; tid++)
        sample_need(cpubind_record_add_thread(&f.after, &cpubind_sys_real, tid, 0));
    f.descriptors = open_descriptors();
    write_text(&f.before, f.old_text);
    write_text(&f.after, f.new_text);
    return 0;
}

SETUP(tear_down)
{
    cpubind_record_free(&f.before);
    cpubind_record_free(&f.after);
    scratch_remove(&f.s);
    return open_descriptors() == f.descriptors && !has_child() ? 0 : -1;
}

/* == each use of each call == */

typedef enum outcome { IS_REPORTED, IS_HARMLESS, MAY_BE_OK } outcome;

/* Does each of the actions with the 1st, 2nd, ... use of `which` failing with each error. */
static void fail_each(unsigned actions, call which, outcome expected, const int *error,
                      size_t n)
{
    int runs = 0, failed = 0;
    for (size_t i = 0; i < n; i++) {
        for (int what = 0; what < N_ACTIONS; what++) {
            if (!(actions >> what & 1u))
                continue;
            for (int nth = 1;; nth++) {
                fault_set(which, nth, error[i]);
                fault.is_done |= which == CALL_mkdirat && error[i] == EEXIST;
                const int result = run_and_check((action)what);
                if (fault.n_met == 0) {
                    assert_int_equal(result, 0);
                    break;
                }
                runs++;
                failed += result;
            }
        }
    }
    assert_true(runs > 0); /* the actions make this call */
    if (expected == IS_REPORTED)
        assert_int_equal(failed, runs);
    else if (expected == IS_HARMLESS)
        assert_int_equal(failed, 0);
    else
        assert_true(failed > 0 && failed < runs);
}

#define ALL   ((1u << N_ACTIONS) - 1)
#define SAVES (1u << ACTION_MAKE | 1u << ACTION_REPLACE | 1u << ACTION_OWN)
#define LOADS (1u << ACTION_REPLACE | 1u << ACTION_OWN)

#define FAIL(actions, which, expected, ...)                                                    \
    fail_each(actions, CALL_##which, expected, ERRORS(__VA_ARGS__))

TEST(without_a_fault_every_action_is_done)
{
    for (int what = 0; what < N_ACTIONS; what++) {
        fault_clear();
        assert_int_equal(run_and_check((action)what), 0);
        assert_int_equal(n_names(".tmp"), 0);
    }
}

TEST(every_fault_of_opening_is_reported)
{
    FAIL(1u << ACTION_OWN, open, IS_REPORTED, OF_open, ENOENT, EIO);
    FAIL(LOADS, openat, IS_REPORTED, OF_openat, EIO);
    FAIL(1u << ACTION_MAKE, openat, IS_REPORTED, EACCES, ELOOP, EMFILE, ENFILE, ENOMEM, EIO);
    FAIL(1u << ACTION_REMOVE, openat, MAY_BE_OK, EACCES, EMFILE, ENFILE, ENOMEM, EIO);
    FAIL(1u << ACTION_MAKE, mkdirat, IS_REPORTED, OF_mkdirat, ENOENT, EIO);
    FAIL(ALL, fstat, IS_REPORTED, OF_fstat, EIO);
    FAIL(ALL, malloc, IS_REPORTED, OF_malloc);
    FAIL(SAVES, realloc, IS_REPORTED, OF_realloc);
}

TEST(every_fault_of_locking_is_reported)
{
    FAIL(ALL, flock, IS_REPORTED, OF_flock, EWOULDBLOCK, EIO, EOPNOTSUPP);
}

TEST(every_fault_of_reading_is_reported)
{
    FAIL(LOADS, read, IS_REPORTED, OF_read);
}

TEST(every_fault_of_writing_is_reported)
{
    FAIL(ALL, create, IS_REPORTED, OF_create, EIO);
    FAIL(SAVES, write, IS_REPORTED, OF_write);
    FAIL(SAVES, fsync, IS_REPORTED, OF_fsync);
    FAIL(SAVES, rename, IS_REPORTED, OF_rename, EIO);
}

/* A close of the new file; a close of a file that was read loses nothing. */
TEST(a_failed_close_is_reported_only_after_writing)
{
    FAIL(SAVES, close, MAY_BE_OK, EIO, ENOSPC, EDQUOT, EBADF);
    FAIL(1u << ACTION_REMOVE, close, IS_HARMLESS, EIO, ENOSPC, EDQUOT, EBADF);
}

TEST(a_failed_removal_is_reported_only_for_the_file)
{
    FAIL(1u << ACTION_REMOVE, unlinkat, MAY_BE_OK, OF_unlinkat);
    FAIL(SAVES, unlinkat, IS_HARMLESS, EACCES, EBUSY, EIO, EPERM, EROFS);
    FAIL(1u << ACTION_REMOVE, fdopendir, IS_HARMLESS, EBADF, ENOMEM, EMFILE);
    FAIL(1u << ACTION_REMOVE, readdir, IS_HARMLESS, EBADF, EIO);
    FAIL(1u << ACTION_REMOVE, closedir, IS_HARMLESS, EBADF);
}

/* == faults that must not make a run fail == */

TEST(an_interrupted_call_is_repeated)
{
    static const call calls[] = {CALL_openat, CALL_create, CALL_close, CALL_flock};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        fail_each(ALL, calls[i], IS_HARMLESS, ERRORS(EINTR));
    FAIL(1u << ACTION_OWN, open, IS_HARMLESS, EINTR);
    FAIL(1u << ACTION_MAKE, mkdirat, IS_HARMLESS, EINTR, EEXIST);
    FAIL(SAVES, write, IS_HARMLESS, EINTR);
    FAIL(SAVES, fsync, IS_HARMLESS, EINTR, EINVAL, ENOSYS, EOPNOTSUPP);
    FAIL(LOADS, read, IS_HARMLESS, EINTR);
    FAIL(1u << ACTION_REMOVE, readdir, IS_HARMLESS, EINTR);
}

static ssize_t no_write(int fd, const void *data, size_t len)
{
    (void)fd, (void)data, (void)len;
    return 0;
}

TEST(a_write_that_writes_nothing_is_not_repeated_for_ever)
{
    cpubind_sys sys = cpubind_sys_real;
    cpubind_linux_fault why = {0};
    cpubind_record_file *file = NULL;
    char text[8192];
    sys.write = no_write;
    make_files(ACTION_REPLACE);
    cpubind_root root = scratch_tree(&sys, f.s.dir);
    assert_int_equal(
        sample_status(cpubind_record_open(&root, NULL, SAMPLE_PID, CPUBIND_RECORD_WRITE, &file),
                      NULL),
        CPUBIND_LINUX_OK);
    assert_int_equal(sample_status(cpubind_record_save(file, &f.after), &why),
                     CPUBIND_LINUX_ERR_STATE);
    assert_int_equal(why.error, EIO);
    assert_string_equal(why.what, "write");
    cpubind_record_close(file);
    close(root.fd);
    read_file(text);
    assert_string_equal(text, f.old_text);
    assert_int_equal(n_names(".tmp"), 0);
}

/* A full disk stays full; and all temporary names exist. */
TEST(a_fault_that_stays_is_reported)
{
    static const struct {
        call which;
        int error, nth;
    } cases[] = {{CALL_write, ENOSPC, 1},  {CALL_fsync, EIO, 1},     {CALL_create, ENOSPC, 1},
                 {CALL_create, EEXIST, 2}, {CALL_openat, EMFILE, 1}, {CALL_malloc, ENOMEM, 1},
                 {CALL_rename, EIO, 1},    {CALL_flock, ENOLCK, 1},  {CALL_realloc, ENOMEM, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fault_set(cases[i].which, cases[i].nth, cases[i].error);
        fault.forever = 1;
        assert_int_equal(run_and_check(ACTION_REPLACE), 1);
    }
}

/* == listing == */

TEST(every_fault_of_listing_is_reported)
{
    static const struct {
        call which;
        int error;
    } cases[] = {{CALL_openat, EACCES},    {CALL_openat, EMFILE},    {CALL_fstat, EIO},
                 {CALL_fdopendir, EMFILE}, {CALL_fdopendir, ENOMEM}, {CALL_readdir, EIO},
                 {CALL_realloc, ENOMEM}};
    make_files(ACTION_REPLACE);
    cpubind_root root = scratch_tree(&fault_table, f.s.dir);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int nth = 1;; nth++) {
            cpubind_ids pids = {NULL, -1, -1};
            cpubind_linux_fault why = {0};
            fault_set(cases[i].which, nth, cases[i].error);
            const cpubind_linux_status status =
                sample_status(cpubind_record_list(&root, &pids), &why);
            assert_int_equal(open_descriptors(), f.descriptors + 1);
            if (fault.n_met == 0) {
                assert_true(nth > 1);
                assert_int_equal(status, CPUBIND_LINUX_OK);
                assert_int_equal(pids.n, 1);
                assert_int_equal(pids.id[0], SAMPLE_PID);
                free(pids.id);
                break;
            }
            assert_int_equal(status, cases[i].error == ENOMEM ? CPUBIND_LINUX_ERR_MEMORY
                                                              : CPUBIND_LINUX_ERR_STATE);
            assert_int_equal(why.error, cases[i].error);
            assert_null(pids.id);
            assert_int_equal(pids.n, 0);
        }
    }
    close(root.fd);
}

/* == the process ends == */

/* A child acts and ends at the nth use of `which`. Returns 0 if it did not get there. */
static int end_at(action what, call which, int nth)
{
    int status = 0;
    make_files(what);
    fault_set(which, nth, 0);
    fault.on_fault = fault_ends_process;
    const pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0)
        _exit(run(what, NULL) == CPUBIND_LINUX_OK ? 1 : 2);
    scratch_need(waitpid(pid, &status, 0) == pid, "waitpid");
    fault_clear();
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 2);
    return WEXITSTATUS(status) == 0;
}

TEST(a_process_that_ends_anywhere_leaves_the_old_or_the_new_file)
{
    int n_old = 0, n_new = 0;
    for (int what = 0; what < N_ACTIONS; what++) {
        for (int which = 1; which < N_CALLS; which++) {
            for (int nth = 1; end_at((action)what, (call)which, nth); nth++) {
                char text[8192];
                cpubind_linux_fault why = {.what = "?"};
                read_file(text);
                const char *const before = what == ACTION_MAKE ? "" : f.old_text;
                const char *const after = what == ACTION_REMOVE ? "" : f.new_text;
                const int is_new = strcmp(text, after) == 0;
                assert_true(is_new || strcmp(text, before) == 0);
                n_new += is_new;
                n_old += !is_new;
                /* and the next process can save and remove */
                assert_int_equal(run(ACTION_MAKE, &why), CPUBIND_LINUX_OK);
                assert_int_equal(run(ACTION_REMOVE, &why), CPUBIND_LINUX_OK);
                assert_int_equal(n_names(""), 2); /* "." and ".." */
            }
        }
    }
    assert_true(n_old > 100 && n_new > 10);
}

static int run_all(void)
{
    scratch_in_memory();
    return run_registered("state_faults", set_up, tear_down);
}

TEST_PROGRAM(run_all)
