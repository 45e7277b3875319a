/* test_folder_writer_faults.c - every system call of a folder writer fails, at each of its uses
 * SPDX-License-Identifier: MIT
 *
 * A small folder is written again and again, with the 1st, 2nd, ... use of each call failing,
 * or ending the process, until a run has fewer uses. After each run the target is as before or
 * is the new folder, as the status says. A run must not leave another name, except after a
 * failed removal, nor a descriptor.
 */
#define _GNU_SOURCE
#include "../../adapters/linux/source/folder_writer.h"
#include "fault_table.h"
#include "tree_text.h"

/* The calls that a run has. */
typedef enum kind {
    KIND_FLAGS, /* renameat2 works */
    KIND_PLAIN, /* a rename with flags fails with EINVAL */
    N_KINDS
} kind;

/* The target before a run. */
typedef enum target { TARGET_NONE, TARGET_EMPTY, TARGET_HOST, N_TARGETS } target;

typedef enum phase { PHASE_OPEN, PHASE_PUT, PHASE_COMMIT, PHASE_CLOSE } phase;

static struct {
    scratch s;
    char path[SCRATCH_PATH * 2]; /* of the target */
    int descriptors;
    target present;                     /* the target now; N_TARGETS: not known */
    tree_text before[N_TARGETS], after; /* the target and the file beside it */
    char big[5001];
    kind kind;
    phase phase, fault_phase; /* now; at the first fault */
    size_t write_max;         /* a write writes no more bytes; 0: no limit */
} f;

static ssize_t short_write(int fd, const void *data, size_t len)
{
    return write(fd, data, f.write_max && len > f.write_max ? f.write_max : len);
}

static int rename_of_kind(int dir, const char *from, const char *to, int flags)
{
    if (!flags || f.kind == KIND_FLAGS)
        return cpubind_sys_real.rename(dir, from, to, flags);
    errno = EINVAL;
    return -1;
}

static void note_phase(void)
{
    if (fault.n_met == 1)
        f.fault_phase = f.phase;
}

/* == a run == */

static const struct {
    const char *name, *text;
} files[] = {
    {"host.txt", "name: new\n"},
    {"sys/devices/system/node/node0/cpulist", "0-3\n"},
    {"sys/devices/system/node/node1/cpulist", "4-7\n"},
    {"env", ""},
    {"proc/interrupts", f.big},
};

#define N_FILES   (sizeof files / sizeof files[0])
#define N_FOLDERS 7 /* of the new folder: sys .. node, node0, node1, proc */

/* Empties the scratch folder and makes the target of before a run in it. */
static void make_target(target what)
{
    scratch_empty(&f.s);
    f.present = N_TARGETS;
    scratch_file(&f.s, "beside", "stays");
    if (what == TARGET_EMPTY)
        scratch_folder(&f.s, "new");
    if (what == TARGET_HOST) {
        scratch_file(&f.s, "new/host.txt", "name: old\n");
        scratch_file(&f.s, "new/sys/devices/x/y", "old\n");
        scratch_file(&f.s, "new/sys/devices/x/z", "old\n");
        scratch_link(&f.s, "new/sys/up", "../..");
        scratch_folder(&f.s, "new/proc");
    }
}

SETUP(set_up)
{
    static cpubind_sys next;
    next = cpubind_sys_real;
    next.write = short_write;
    next.rename = rename_of_kind;
    next.fsync = no_fsync;
    fault_next = &next;
    f.write_max = 0;
    fault_clear();
    memset(f.big, 'x', sizeof f.big - 1);
    scratch_make(&f.s);
    scratch_path(&f.s, "new", f.path);
    make_target(TARGET_NONE);
    for (size_t i = 0; i < N_FILES; i++) {
        char name[128];
        snprintf(name, sizeof name, "new/%s", files[i].name);
        scratch_file(&f.s, name, files[i].text);
    }
    tree_of(&f.s, "", &f.after);
    for (int what = 0; what < N_TARGETS; what++) {
        make_target((target)what);
        tree_of(&f.s, "", &f.before[what]);
    }
    f.descriptors = open_descriptors();
    return 0;
}

SETUP(tear_down)
{
    scratch_remove(&f.s);
    return open_descriptors() == f.descriptors && !has_child() ? 0 : -1;
}

/* Writes the folder. Returns the first status that is not OK. */
static cpubind_linux_status write_folder(cpubind_linux_fault *why)
{
    cpubind_linux_writer *writer = NULL;
    f.phase = PHASE_OPEN;
    cpubind_linux_status status =
        cpubind_linux_writer_open(f.path, 1, &fault_table, &writer, why);
    f.phase = PHASE_PUT;
    for (size_t i = 0; status == CPUBIND_LINUX_OK && i < N_FILES; i++)
        status = cpubind_linux_writer_put(writer, files[i].name, files[i].text,
                                          (int32_t)strlen(files[i].text), why);
    f.phase = PHASE_COMMIT;
    if (status == CPUBIND_LINUX_OK)
        status = cpubind_linux_writer_commit(writer, why);
    f.phase = PHASE_CLOSE;
    cpubind_linux_writer_close(writer);
    return status;
}

/* Removes the lines of temporary names from the text. Returns the number of these names. */
static int take_out_temporary(tree_text *tree)
{
    int n = 0;
    char *to = tree->text, *at = tree->text;
    while (*at) {
        char *end = strchr(at, '\n') + 1;
        size_t first = strcspn(at, "/:");
        int is_temporary = at[0] == '.' && first > 4 && memcmp(at + first - 4, ".tmp", 4) == 0;
        n += is_temporary && at[first] == '/' && at[first + 1] == '\n';
        if (!is_temporary) {
            memmove(to, at, (size_t)(end - at));
            to += end - at;
        }
        at = end;
    }
    *to = '\0';
    tree->len = (size_t)(to - tree->text);
    return n;
}

/* Returns 1 if a removal makes this call. */
static int is_of_removal(call which)
{
    return which == CALL_unlinkat || which == CALL_openat || which == CALL_fstat ||
           which == CALL_fdopendir || which == CALL_readdir;
}

/* Writes the folder with the fault that is set. Returns 1 if that failed, which it must with
 * the injected error, else 0. */
static int write_and_check(target what)
{
    cpubind_linux_fault why = {0};
    tree_text found;
    if (f.present != what)
        make_target(what);
    cpubind_linux_status status = write_folder(&why);
    tree_of(&f.s, "", &found);
    int left = take_out_temporary(&found);
    f.present = status != CPUBIND_LINUX_OK && left == 0 ? what : N_TARGETS;
    assert_string_equal(found.text,
                        status == CPUBIND_LINUX_OK ? f.after.text : f.before[what].text);
    int was_removing = f.fault_phase == PHASE_CLOSE ||
                       (f.fault_phase == PHASE_COMMIT && status == CPUBIND_LINUX_OK) ||
                       fault.forever;
    assert_true(left == 0 || (left == 1 && is_of_removal(fault.which) && was_removing));
    assert_int_equal(open_descriptors(), f.descriptors);
    fault_assert_only(CALLS(CALL_open, CALL_openat, CALL_fstat, CALL_close, CALL_fdopendir,
                            CALL_readdir, CALL_closedir, CALL_mkdirat, CALL_create, CALL_write,
                            CALL_fsync, CALL_rename, CALL_unlinkat, CALL_malloc, CALL_realloc));
    if (status == CPUBIND_LINUX_OK)
        return 0;
    assert_non_null(why.what);
    assert_int_equal(why.error, fault.error);
    assert_int_equal(status, fault.error == ENOMEM && strcmp(why.what, "memory") == 0
                                 ? CPUBIND_LINUX_ERR_MEMORY
                             : f.fault_phase == PHASE_OPEN && status == CPUBIND_LINUX_ERR_OPEN
                                 ? CPUBIND_LINUX_ERR_OPEN
                                 : CPUBIND_LINUX_ERR_WRITE);
    return 1;
}

static void set_fault(call which, int nth, int error, int forever)
{
    fault_set(which, nth, error);
    fault.forever = forever;
    fault.on_fault = note_phase;
    f.fault_phase = PHASE_OPEN;
}

/* Writes with the 1st, 2nd, ... use of `which` failing. Returns how many runs failed; adds the
 * number of all runs to *runs. */
static int fail_each_use_of(kind k, target what, call which, int error, int forever, int *runs)
{
    int failed = 0;
    f.kind = k;
    for (int nth = 1; nth <= 500; nth++) {
        set_fault(which, nth, error, forever);
        int has_failed = write_and_check(what);
        if (fault.n_met == 0)
            return failed;
        failed += has_failed;
        ++*runs;
    }
    fail_msg("the scenario does not end");
    return failed;
}

/* The expected result of the runs with a fault. */
typedef enum outcome {
    IS_REPORTED, /* all of them fail */
    MAY_BE_OK,   /* some fail: removals make the call too, and may fail */
    IS_HARMLESS
} outcome;

/* With and without the flags of rename and for each target; or with them for a host alone. */
static void fail_each_use(call which, outcome expected, int error, int is_everywhere)
{
    int failed = 0, runs = 0;
    for (int k = 0; k < (is_everywhere ? N_KINDS : 1); k++)
        for (int what = is_everywhere ? 0 : TARGET_HOST; what < N_TARGETS; what++)
            failed += fail_each_use_of((kind)k, (target)what, which, error, 0, &runs);
    assert_true(runs > 0); /* the writer makes this call */
    if (expected == MAY_BE_OK)
        assert_true(failed > 0);
    else
        assert_int_equal(failed, expected == IS_REPORTED ? runs : 0);
}

/* The first error in all ways, the other errors in one way. */
static void fail_with_each(call which, outcome expected, const int *errors, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fail_each_use(which, expected, errors[i], i == 0);
}

#define FAIL(which, expected, ...) fail_with_each(CALL_##which, expected, ERRORS(__VA_ARGS__))

/* == each use of each call == */

TEST(without_a_fault_the_folder_is_written)
{
    set_fault(CALL_NONE, 0, 0, 0);
    for (int k = 0; k < N_KINDS; k++) {
        for (int what = 0; what < N_TARGETS; what++) {
            f.kind = (kind)k;
            assert_int_equal(write_and_check((target)what), 0);
        }
    }
}

TEST(every_fault_of_opening_is_reported)
{
    FAIL(open, IS_REPORTED, EACCES, EMFILE, ENFILE, ENOMEM, EIO, ENXIO, EPERM);
    FAIL(openat, MAY_BE_OK, EACCES, EMFILE, ENFILE, ENOMEM, EIO, ENXIO, EPERM);
    FAIL(fstat, MAY_BE_OK, EIO, ENOMEM, EOVERFLOW, EACCES);
    FAIL(malloc, IS_REPORTED, ENOMEM);
    FAIL(realloc, IS_REPORTED, ENOMEM);
}

TEST(every_fault_of_writing_is_reported)
{
    FAIL(mkdirat, IS_REPORTED, ENOSPC, EACCES, EDQUOT, EMLINK, ENOMEM, EROFS, EIO, EPERM);
    FAIL(create, IS_REPORTED, ENOSPC, EACCES, EDQUOT, EMFILE, ENFILE, ENOMEM, EROFS, EPERM,
         EIO);
    FAIL(write, IS_REPORTED, ENOSPC, EDQUOT, EFBIG, EIO, EPERM, EAGAIN);
    FAIL(fsync, IS_REPORTED, EIO, ENOSPC, EDQUOT, EROFS);
}

TEST(every_fault_of_renaming_is_reported)
{
    FAIL(rename, IS_REPORTED, EIO, EACCES, EBUSY, EDQUOT, EMLINK, ENOMEM, ENOSPC, EROFS, EXDEV,
         ENAMETOOLONG);
}

TEST(every_fault_of_listing_is_reported)
{
    FAIL(fdopendir, MAY_BE_OK, ENOMEM, EMFILE);
    FAIL(readdir, MAY_BE_OK, EIO, ENOMEM);
}

/* A full disk stays full, and a broken disk stays broken. */
TEST(a_fault_that_stays_is_reported)
{
    static const struct {
        call which;
        int error;
    } cases[] = {{CALL_mkdirat, ENOSPC}, {CALL_create, ENOSPC},    {CALL_write, ENOSPC},
                 {CALL_fsync, EIO},      {CALL_openat, EMFILE},    {CALL_malloc, ENOMEM},
                 {CALL_realloc, ENOMEM}, {CALL_fdopendir, ENOMEM}, {CALL_fstat, EIO}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int failed = 0, runs = 0;
        for (int what = 0; what < N_TARGETS; what++)
            failed += fail_each_use_of(KIND_FLAGS, (target)what, cases[i].which, cases[i].error,
                                       1, &runs);
        assert_true(failed > 0);
    }
}

/* == faults that must not make a run fail == */

TEST(an_interrupted_call_is_repeated)
{
    static const call calls[] = {CALL_open,  CALL_openat,  CALL_create, CALL_write,
                                 CALL_fsync, CALL_readdir, CALL_close};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        fail_each_use(calls[i], IS_HARMLESS, EINTR, 1);
}

TEST(short_writes_change_nothing)
{
    static const size_t sizes[] = {1, 7, 4096};
    set_fault(CALL_NONE, 0, 0, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        f.write_max = sizes[i];
        assert_int_equal(write_and_check(TARGET_NONE), 0);
    }
}

TEST(a_file_system_that_cannot_sync_is_no_fault)
{
    FAIL(fsync, IS_HARMLESS, EINVAL, ENOSYS, EOPNOTSUPP);
}

TEST(a_kernel_without_flags_of_rename_renames_without)
{
    static const int errors[] = {ENOSYS, EINVAL, EPERM, EOPNOTSUPP};
    f.kind = KIND_FLAGS;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        for (int what = 0; what < N_TARGETS; what++) {
            set_fault(CALL_rename, 1, errors[i], 0);
            assert_int_equal(write_and_check((target)what), 0);
        }
    }
}

TEST(a_removal_that_fails_undoes_nothing)
{
    static const int errors[] = {EACCES, EBUSY, EIO, EROFS, ENOMEM};
    FAIL(unlinkat, IS_HARMLESS, EACCES, EBUSY, EIO, EROFS, ENOMEM);
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        for (int what = 0; what < N_TARGETS; what++) {
            set_fault(CALL_unlinkat, 1, errors[i], 1);
            assert_int_equal(write_and_check((target)what), 0);
        }
    }
}

TEST(a_failed_close_is_reported_only_after_writing)
{
    static const int errors[] = {EIO, ENOSPC, EDQUOT};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        int runs = 0;
        int failed = fail_each_use_of(KIND_FLAGS, TARGET_NONE, CALL_close, errors[i], 0, &runs);
        assert_int_equal(failed, N_FILES);
        assert_true(runs > failed);
    }
    FAIL(closedir, IS_HARMLESS, EINTR);
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
    cpubind_linux_writer *writer = NULL;
    sys.write = no_write;
    make_target(TARGET_NONE);
    assert_int_equal(cpubind_linux_writer_open(f.path, 0, &sys, &writer, NULL),
                     CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_linux_writer_put(writer, "a", "x", 1, &why),
                     CPUBIND_LINUX_ERR_WRITE);
    assert_int_equal(why.error, EIO);
    cpubind_linux_writer_close(writer);
}

/* == a second fault while the first one is undone == */

/* Returns 1 if exactly one folder of the scratch folder has a host.txt with this text. */
static int has_host(const char *text)
{
    int n = 0;
    DIR *folder = opendir(f.s.dir);
    scratch_need(folder != NULL, f.s.dir);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[SCRATCH_PATH * 2 + 256], found[64] = "";
        snprintf(path, sizeof path, "%s/%s/host.txt", f.s.dir, entry->d_name);
        FILE *file = fopen(path, "re");
        if (!file)
            continue;
        n += fgets(found, sizeof found, file) && strcmp(found, text) == 0;
        fclose(file);
    }
    closedir(folder);
    return n == 1;
}

/* Every rename from the nth on fails, so that no rename can be undone: the old host must still
 * exist, complete, under some name. */
TEST(the_old_host_survives_what_cannot_be_undone)
{
    int put_backs = 0;
    for (int k = 0; k < N_KINDS; k++) {
        for (int nth = 1; nth <= 4; nth++) {
            cpubind_linux_fault why = {0};
            f.kind = (kind)k;
            set_fault(CALL_rename, nth, EIO, 1);
            make_target(TARGET_HOST);
            cpubind_linux_status status = write_folder(&why);
            if (fault.n_met == 0) {
                assert_int_equal(status, CPUBIND_LINUX_OK);
                continue;
            }
            assert_int_equal(status, CPUBIND_LINUX_ERR_WRITE);
            assert_true(has_host("name: old\n"));
            put_backs += strcmp(why.what, "put back") == 0;
        }
    }
    assert_true(put_backs > 0);
}

static int fsync_of_parent_fails(int fd)
{
    struct stat parent, st;
    scratch_need(stat(f.s.dir, &parent) == 0 && fstat(fd, &st) == 0, "stat");
    if (st.st_ino != parent.st_ino)
        return cpubind_sys_real.fsync(fd);
    set_fault(CALL_rename, 1, EIO, 1); /* no rename works from now on */
    errno = EIO;
    return -1;
}

TEST(after_a_failed_undoing_neither_folder_is_removed)
{
    for (int what = 0; what < N_TARGETS; what++) {
        for (int k = 0; k < N_KINDS; k++) {
            cpubind_sys sys = fault_table;
            cpubind_linux_fault why = {0};
            cpubind_linux_writer *writer = NULL;
            sys.fsync = fsync_of_parent_fails;
            f.kind = (kind)k;
            set_fault(CALL_NONE, 0, 0, 0);
            make_target((target)what);
            assert_int_equal(cpubind_linux_writer_open(f.path, 1, &sys, &writer, NULL),
                             CPUBIND_LINUX_OK);
            assert_int_equal(
                cpubind_linux_writer_put(writer, "host.txt", "name: new\n", 10, NULL),
                CPUBIND_LINUX_OK);
            assert_int_equal(cpubind_linux_writer_commit(writer, &why),
                             CPUBIND_LINUX_ERR_WRITE);
            assert_string_equal(why.what, "put back");
            cpubind_linux_writer_close(writer);
            assert_true(has_host("name: new\n"));
            assert_int_equal(has_host("name: old\n"), what == TARGET_HOST);
        }
    }
}

/* == the process, or the machine, ends == */

/* A child writes and ends at the nth use of `which`. Returns 0 if it did not get there. */
static int end_at(target what, call which, int nth)
{
    int status = 0;
    make_target(what);
    set_fault(which, nth, 0, 0);
    fault.on_fault = fault_ends_process;
    pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0)
        _exit(write_folder(NULL) == CPUBIND_LINUX_OK ? 1 : 2);
    scratch_need(waitpid(pid, &status, 0) == pid, "waitpid");
    fault_clear();
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 2);
    return WEXITSTATUS(status) == 0;
}

TEST(a_process_that_ends_anywhere_leaves_the_old_or_the_new_folder)
{
    static const call calls[] = {CALL_openat, CALL_mkdirat, CALL_create,  CALL_write,
                                 CALL_fsync,  CALL_rename,  CALL_unlinkat};
    int n_new = 0, n_old = 0;
    f.kind = KIND_FLAGS;
    for (int what = 0; what < N_TARGETS; what++) {
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
            for (int nth = 1; end_at((target)what, calls[i], nth); nth++) {
                tree_text found;
                tree_of(&f.s, "", &found);
                assert_true(take_out_temporary(&found) <= 1);
                int is_new = strcmp(found.text, f.after.text) == 0;
                assert_true(is_new || strcmp(found.text, f.before[what].text) == 0);
                n_new += is_new;
                n_old += !is_new;
            }
        }
    }
    assert_true(n_new > 0 && n_old > 0);
}

TEST(without_flags_a_replaced_host_is_complete_under_some_name)
{
    static const call calls[] = {CALL_rename, CALL_fsync, CALL_mkdirat};
    f.kind = KIND_PLAIN;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        for (int nth = 1; end_at(TARGET_HOST, calls[i], nth); nth++)
            assert_true(has_host("name: old\n"));
}

/* The fsyncs before the folder got its name, and after. */
static struct {
    int n_before, n_after, n_renamed, is_parent;
} synced;

static int fsync_counted(int fd)
{
    struct stat parent, st;
    scratch_need(stat(f.s.dir, &parent) == 0 && fstat(fd, &st) == 0, "stat");
    synced.n_before += !synced.n_renamed;
    synced.n_after += synced.n_renamed;
    synced.is_parent = st.st_ino == parent.st_ino;
    return cpubind_sys_real.fsync(fd);
}

static int rename_counted(int dir, const char *from, const char *to, int flags)
{
    synced.n_renamed = 1;
    return cpubind_sys_real.rename(dir, from, to, flags);
}

static int unlinkat_after_sync(int dir, const char *path, int flags)
{
    assert_int_equal(synced.n_after,
                     1); /* the old folder is removed when the new folder is on disk */
    return cpubind_sys_real.unlinkat(dir, path, flags);
}

TEST(everything_is_on_the_disk_before_it_has_its_name)
{
    for (int what = 0; what < N_TARGETS; what++) {
        cpubind_sys sys = cpubind_sys_real;
        cpubind_linux_writer *writer = NULL;
        sys.fsync = fsync_counted;
        sys.rename = rename_counted;
        sys.unlinkat = unlinkat_after_sync;
        memset(&synced, 0, sizeof synced);
        make_target((target)what);
        assert_int_equal(cpubind_linux_writer_open(f.path, 1, &sys, &writer, NULL),
                         CPUBIND_LINUX_OK);
        for (size_t i = 0; i < N_FILES; i++)
            assert_int_equal(cpubind_linux_writer_put(writer, files[i].name, files[i].text,
                                                      (int32_t)strlen(files[i].text), NULL),
                             CPUBIND_LINUX_OK);
        assert_int_equal(cpubind_linux_writer_commit(writer, NULL), CPUBIND_LINUX_OK);
        cpubind_linux_writer_close(writer);
        assert_int_equal(synced.n_before, N_FILES + N_FOLDERS + 1);
        assert_int_equal(synced.n_after, 1);
        assert_true(synced.is_parent);
    }
}

static int run_all(void)
{
    scratch_in_memory();
    return run_registered("write_faults", set_up, tear_down);
}

TEST_PROGRAM(run_all)
