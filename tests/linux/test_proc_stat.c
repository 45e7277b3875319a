/* test_proc_stat.c - the stat of processes and threads, in a scratch folder and of this process
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "../../adapters/linux/kernel/process.h"
#include "fault_table.h"
#include "temp_dir.h"

#define REST " 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 "

static struct {
    scratch s;
    cpubind_sys sys;
    cpubind_root root;
    int descriptors;
} f;

SETUP(set_up)
{
    scratch_make(&f.s);
    f.sys = cpubind_sys_real;
    f.descriptors = open_descriptors();
    f.root = scratch_tree(&f.sys, f.s.dir);
    scratch_file(&f.s, "proc/7/task/7/stat", "7 (a b) T 1" REST "3 0 321 0\n");
    scratch_file(&f.s, "proc/7/task/8/stat",
                 "8 (a thread with a long name) S 1" REST "3 0 18446744073709551615\n");
    scratch_file(&f.s, "proc/9/task/9/stat", "9 (a b) T 1" REST "3 0 321 0");
    return 0;
}

SETUP(tear_down)
{
    scratch_remove(&f.s);
    close(f.root.fd);
    return open_descriptors() == f.descriptors ? 0 : -1;
}

TEST(a_process_and_a_thread_are_read)
{
    cpubind_proc_stat out;
    assert_int_equal(cpubind_proc_stat_read(&f.root, 7, 0, &out).error, 0);
    assert_string_equal(out.name, "a b");
    assert_int_equal(out.state, 'T');
    assert_int_equal(out.ppid, 1);
    assert_int_equal(out.n_threads, 3);
    assert_true(out.start == 321);
    assert_int_equal(cpubind_proc_stat_read(&f.root, 7, 8, &out).error, 0);
    assert_string_equal(out.name, "a thread with a");
    assert_true(out.start == UINT64_MAX);
}

TEST(a_missing_process_or_a_malformed_line_is_an_error)
{
    cpubind_proc_stat out, before;
    memset(&out, 0x5a, sizeof out);
    before = out;
    assert_int_equal(cpubind_proc_stat_read(&f.root, 10, 0, &out).error, ESRCH);
    assert_int_equal(cpubind_proc_stat_read(&f.root, 7, 9, &out).error, ESRCH);
    assert_int_equal(cpubind_proc_stat_read(&f.root, 0, 0, &out).error, ESRCH);
    assert_int_equal(cpubind_proc_stat_read(&f.root, -7, 0, &out).error, ESRCH);
    assert_int_equal(cpubind_proc_stat_read(&f.root, 9, 0, &out).error, EILSEQ);
    char big[8192];
    memset(big, '1', sizeof big);
    scratch_bytes(&f.s, "proc/9/task/9/stat", big, sizeof big);
    assert_int_equal(cpubind_proc_stat_read(&f.root, 9, 0, &out).error, EILSEQ);
    assert_memory_equal(&out, &before, sizeof out);
}

TEST(this_process_is_read)
{
    cpubind_root root = scratch_tree(&f.sys, "/");
    cpubind_proc_stat own, thread, again;
    assert_int_equal(cpubind_proc_stat_read(&root, getpid(), 0, &own).error, 0);
    assert_string_equal(own.name, "test_proc_stat");
    assert_int_equal(own.state, 'R');
    assert_int_equal(own.ppid, getppid());
    assert_int_equal(own.n_threads, 1);
    assert_true(own.start > 0);
    assert_int_equal(cpubind_proc_stat_read(&root, getpid(), getpid(), &thread).error, 0);
    assert_true(thread.start == own.start);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    siginfo_t info;
    scratch_need(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0, "waitid");
    assert_int_equal(cpubind_proc_stat_read(&root, child, 0, &again).error, 0);
    assert_int_equal(again.state, 'Z');
    assert_true(again.start >= own.start);
    scratch_need(waitpid(child, NULL, 0) == child, "waitpid");
    assert_int_equal(cpubind_proc_stat_read(&root, child, 0, &again).error, ESRCH);
    close(root.fd);
}

/* == faults == */

static ssize_t read_one(int fd, void *data, size_t cap)
{
    return read(fd, data, cap ? 1 : 0);
}

static int read_with(call which, int nth, int error)
{
    cpubind_proc_stat out;
    fault_set(which, nth, error);
    int result = cpubind_proc_stat_read(&f.root, 7, 0, &out).error;
    if (result == 0)
        assert_true(out.start == 321);
    assert_int_equal(open_descriptors(), f.descriptors + 1);
    return result;
}

TEST(every_fault_is_reported_and_an_interrupted_call_is_repeated)
{
    static const int of_open[] = {EACCES, EPERM, EMFILE, ENFILE, ENOMEM, EIO, ELOOP, ENOTDIR};
    static const int of_read[] = {EIO, ESRCH, ENOMEM, EPERM, EACCES, EAGAIN};
    cpubind_sys next = cpubind_sys_real;
    f.sys = fault_table;
    for (size_t i = 0; i < sizeof of_open / sizeof of_open[0]; i++)
        assert_int_equal(read_with(CALL_openat, 1, of_open[i]), of_open[i]);
    assert_int_equal(read_with(CALL_openat, 1, ENOENT), ESRCH);
    assert_int_equal(read_with(CALL_openat, 1, EINTR), 0);
    for (size_t i = 0; i < sizeof of_read / sizeof of_read[0]; i++)
        for (int nth = 1; nth <= 2; nth++)
            assert_int_equal(read_with(CALL_read, nth, of_read[i]), of_read[i]);
    next.read = read_one;
    fault_next = &next;
    for (int nth = 1; nth <= 20; nth++)
        assert_int_equal(read_with(CALL_read, nth, EINTR), 0);
    assert_int_equal(read_with(CALL_read, 21, EIO), EIO);
    fault_next = &cpubind_sys_real;
}

TEST_FILE(set_up, tear_down)
