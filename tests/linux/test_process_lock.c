/* test_process_lock.c - one cpubind at a time works on a process, and a watch can be ended
 * SPDX-License-Identifier: MIT
 *
 * Review of live hosts, P2 13 and 16. Each test binds a child that does nothing, with records
 * in a temporary folder; another child plays the cpubind that works on it. Nothing is moved.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/prctl.h>

#include "../../adapters/linux/bind/bind.h"
#include "../../adapters/linux/bind/record.h"
#include "fault_table.h"
#include "temp_dir.h"

#define NOBODY 65534

static struct {
    scratch s;
    char path[2][SCRATCH_PATH * 2];
    pid_t target, other;
    int descriptors;
} f;

/* == Children =============================================================== */

/* Starts a child that waits. Its owner may open its /proc/<pid>/fd if is_dumpable. */
static pid_t start_target(uid_t uid, int is_dumpable)
{
    int ready[2];
    char byte;
    scratch_need(pipe2(ready, O_CLOEXEC) == 0, "pipe");
    const pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (uid != geteuid() && (setgid(uid) != 0 || setuid(uid) != 0))
            _exit(1);
        prctl(PR_SET_DUMPABLE, is_dumpable);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    scratch_need(read(ready[0], &byte, 1) == 1, "target");
    close(ready[0]);
    return pid;
}

static void end_child(pid_t *pid)
{
    if (*pid > 0) {
        kill(*pid, SIGKILL);
        scratch_need(waitpid(*pid, NULL, 0) == *pid, "waitpid");
    }
    *pid = 0;
}

static cpubind_bind_options how_of(int record)
{
    return (cpubind_bind_options){.pid = (int32_t)f.target, .record_path = f.path[record]};
}

/* Starts a cpubind that opens the target and keeps it open. */
static void start_other(int record, int is_watching, int ignores_signals)
{
    int ready[2];
    char byte;
    scratch_need(pipe2(ready, O_CLOEXEC) == 0, "pipe");
    f.other = fork();
    scratch_need(f.other >= 0, "fork");
    if (f.other == 0) {
        cpubind_bind_options how = how_of(record);
        cpubind_binding *b;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        how.is_watching = is_watching;
        if (ignores_signals)
            signal(SIGTERM, SIG_IGN);
        if (cpubind_bind_open(&how, NULL, &b, NULL) != CPUBIND_LINUX_OK ||
            write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    scratch_need(read(ready[0], &byte, 1) == 1, "other");
    close(ready[0]);
}

/* Opens the target as another user, in a child. Returns the status, as the exit status. */
static cpubind_linux_status open_as(uid_t uid, int record)
{
    int status = 0;
    const pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0) {
        const cpubind_bind_options how = how_of(record);
        cpubind_binding *b = NULL;
        if (setgid(uid) != 0 || setuid(uid) != 0)
            _exit(255);
        const cpubind_linux_status opened = cpubind_bind_open(&how, NULL, &b, NULL);
        cpubind_bind_close(b);
        _exit(-(int)opened);
    }
    scratch_need(waitpid(pid, &status, 0) == pid, "waitpid");
    assert_true(WIFEXITED(status));
    return (cpubind_linux_status)-WEXITSTATUS(status);
}

static int is_root(void)
{
    return geteuid() == 0;
}

SETUP(set_up)
{
    scratch_make(&f.s);
    scratch_path(&f.s, "0/record", f.path[0]);
    scratch_path(&f.s, "1/record", f.path[1]);
    f.target = start_target(geteuid(), 1);
    f.other = 0;
    f.descriptors = open_descriptors();
    fault_clear();
    fault_next = &cpubind_sys_real;
    return 0;
}

SETUP(tear_down)
{
    end_child(&f.other);
    end_child(&f.target);
    scratch_remove(&f.s);
    return open_descriptors() == f.descriptors && !has_child() ? 0 : -1;
}

/* == The lock =============================================================== */

static cpubind_linux_status open_with(int record, cpubind_linux_fault *why)
{
    const cpubind_bind_options how = how_of(record);
    cpubind_binding *b = NULL;
    const cpubind_linux_status status = cpubind_bind_open(&how, &fault_table, &b, why);
    cpubind_bind_close(b);
    return status;
}

/* Two files for the record of one process left it half bound. */
TEST(a_process_has_one_lock_whatever_its_record)
{
    cpubind_linux_fault why = {0};
    start_other(0, 0, 0);
    assert_int_equal(open_with(0, &why), CPUBIND_LINUX_ERR_BUSY);
    assert_int_equal(open_with(1, &why), CPUBIND_LINUX_ERR_BUSY);
    assert_string_equal(why.what, "lock");
    assert_int_equal(why.error, EWOULDBLOCK);
    assert_int_not_equal(access(f.path[1], F_OK), 0);
    end_child(&f.other);
    assert_int_equal(open_with(1, &why), CPUBIND_LINUX_OK);
}

TEST(reading_needs_no_lock)
{
    cpubind_bind_options how = how_of(1);
    cpubind_binding *b = NULL;
    how.is_reading = 1;
    start_other(0, 0, 0);
    assert_int_equal(cpubind_bind_open(&how, NULL, &b, NULL), CPUBIND_LINUX_OK);
    cpubind_bind_close(b);
}

TEST(root_and_the_owner_share_the_lock)
{
    if (!is_root())
        skip();
    end_child(&f.target);
    f.target = start_target(NOBODY, 1);
    scratch_need(chown(f.s.dir, NOBODY, NOBODY) == 0, "chown");
    snprintf(f.path[1], sizeof f.path[1], "%s/record", f.s.dir);
    assert_int_equal(open_as(NOBODY, 1), CPUBIND_LINUX_OK);
    start_other(0, 0, 0);
    assert_int_equal(open_as(NOBODY, 1), CPUBIND_LINUX_ERR_BUSY);
}

/* Its owner cannot open /proc/<pid>/fd: the lock of the record has to do. */
TEST(a_process_that_is_not_dumpable_has_the_lock_of_its_record)
{
    if (!is_root())
        skip();
    end_child(&f.target);
    f.target = start_target(NOBODY, 0);
    scratch_need(chown(f.s.dir, NOBODY, NOBODY) == 0, "chown");
    snprintf(f.path[1], sizeof f.path[1], "%s/record", f.s.dir);
    start_other(0, 0, 0);
    assert_int_equal(open_as(NOBODY, 1), CPUBIND_LINUX_OK);
}

/* == The holder ============================================================= */

static int32_t holder_of(int record)
{
    const cpubind_bind_options how = how_of(record);
    return cpubind_bind_holder(&how, &fault_table, NULL);
}

TEST(the_holder_is_named_while_it_lives)
{
    assert_int_equal(holder_of(0), 0);
    start_other(0, 0, 0);
    assert_int_equal(holder_of(0), f.other);
    assert_int_equal(holder_of(1), 0);
    end_child(&f.other);
    assert_int_equal(holder_of(0), 0);
}

/* No lock file that could be another user's, and no other text, names a process. */
TEST(a_lock_file_of_another_kind_names_nobody)
{
    static const char *const texts[] = {"",
                                        "x",
                                        "0 0 watch\n",
                                        "-1 1 watch\n",
                                        "99999999999 1 watch\n",
                                        "4294967297 1 watch\n"};
    char good[64] = "", path[SCRATCH_PATH * 3];
    start_other(0, 1, 0);
    snprintf(path, sizeof path, "%s.lock", f.path[0]);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    scratch_need(fd >= 0 && read(fd, good, sizeof good - 1) > 0, path);
    close(fd);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        scratch_file(&f.s, "0/record.lock", texts[i]);
        assert_int_equal(holder_of(0), 0);
    }
    scratch_file(&f.s, "0/record.lock", good);
    assert_int_equal(holder_of(0), f.other);
    scratch_need(chmod(path, 0666) == 0, "chmod");
    assert_int_equal(holder_of(0), 0);
    scratch_need(unlink(path) == 0, path);
    scratch_file(&f.s, "0/elsewhere", good);
    scratch_link(&f.s, "0/record.lock", "elsewhere");
    assert_int_equal(holder_of(0), 0);
}

/* == Ending a watch ========================================================= */

static cpubind_linux_status end_watch(cpubind_linux_fault *why)
{
    const cpubind_bind_options how = how_of(0);
    return cpubind_bind_end_watch(&how, &fault_table, why);
}

static int has_ended(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid;
}

TEST(a_watch_is_ended_stopped_or_not)
{
    for (int is_stopped = 0; is_stopped < 2; is_stopped++) {
        start_other(0, 1, 0);
        if (is_stopped)
            kill(f.other, SIGSTOP);
        assert_int_equal(end_watch(NULL), CPUBIND_LINUX_OK);
        assert_true(has_ended(f.other));
        end_child(&f.other);
        assert_int_equal(open_with(0, NULL), CPUBIND_LINUX_OK);
    }
}

TEST(no_other_command_is_ended)
{
    cpubind_linux_fault why = {0};
    assert_int_equal(end_watch(&why), CPUBIND_LINUX_ERR_BUSY);
    start_other(0, 0, 0);
    assert_int_equal(end_watch(&why), CPUBIND_LINUX_ERR_BUSY);
    assert_int_equal(fault.count[CALL_kill] + fault.count[CALL_pidfd_send_signal], 0);
    assert_false(has_ended(f.other));
}

/* The number has gone to another process since: the start time differs. */
TEST(a_later_process_of_the_number_is_left_alone)
{
    char text[64];
    snprintf(text, sizeof text, "%10ld %20d %-5s\n", (long)f.target, 1, "watch");
    scratch_file(&f.s, "0/record.lock", text);
    assert_int_equal(end_watch(NULL), CPUBIND_LINUX_ERR_BUSY);
    assert_int_equal(fault.count[CALL_kill] + fault.count[CALL_pidfd_send_signal], 0);
    assert_false(has_ended(f.target));
}

static int poll_at_once(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    (void)timeout_ms;
    return poll(fds, n, 0);
}

TEST(a_watch_that_does_not_end_is_busy)
{
    cpubind_sys next = cpubind_sys_real;
    next.poll = poll_at_once;
    fault_next = &next;
    start_other(0, 1, 1);
    assert_int_equal(end_watch(NULL), CPUBIND_LINUX_ERR_BUSY);
    assert_false(has_ended(f.other));
    fault_next = &cpubind_sys_real;
}

/* == Faults ================================================================= */

/* Fails each use of a call; the watch has ended if the status says so. */
static void end_with_each(call which, const int *errors, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (int nth = 1;; nth++) {
            cpubind_linux_fault why = {0};
            start_other(0, 1, 0);
            fault_set(which, nth, errors[i]);
            const cpubind_linux_status status = end_watch(&why);
            const int is_met = fault.n_met > 0;
            if (status == CPUBIND_LINUX_OK)
                assert_true(has_ended(f.other));
            else
                assert_non_null(why.what);
            end_child(&f.other);
            assert_int_equal(open_descriptors(), f.descriptors);
            if (!is_met)
                break;
        }
    }
}

TEST(a_watch_is_ended_whatever_fails_or_the_status_says_so)
{
    end_with_each(CALL_open, ERRORS(EMFILE, ENOMEM));
    end_with_each(CALL_openat, ERRORS(EMFILE, EACCES));
    end_with_each(CALL_fstat, ERRORS(EIO));
    end_with_each(CALL_read, ERRORS(EIO));
    end_with_each(CALL_close, ERRORS(EIO));
    end_with_each(CALL_malloc, ERRORS(ENOMEM));
    end_with_each(CALL_pidfd_open, ERRORS(ENOSYS, EMFILE, EPERM));
    end_with_each(CALL_pidfd_send_signal, ERRORS(ENOSYS, EPERM));
    end_with_each(CALL_poll, ERRORS(EINTR, ENOMEM));
}

TEST(signals_of_an_old_kernel_end_a_watch)
{
    cpubind_linux_fault why = {0};
    fault_set(CALL_pidfd_open, 1, ENOSYS);
    start_other(0, 1, 0);
    assert_int_equal(end_watch(&why), CPUBIND_LINUX_OK);
    assert_int_equal(fault.count[CALL_kill], 2);
    assert_true(has_ended(f.other));
    end_child(&f.other);
    start_other(0, 1, 0);
    fault_set(CALL_pidfd_send_signal, 1, EPERM);
    assert_int_equal(end_watch(&why), CPUBIND_LINUX_ERR_REFUSED);
    assert_string_equal(why.what, "kill");
    assert_int_equal(why.error, EPERM);
}

/* Without the lock of the process nothing is opened, unless its folder cannot be seen. */
TEST(a_lock_that_fails_is_reported)
{
    static const int errors[] = {EMFILE, ENOMEM, EIO};
    cpubind_linux_fault why = {0};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        for (int nth = 1;; nth++) {
            fault_set(CALL_flock, nth, errors[i]);
            const cpubind_linux_status status = open_with(0, &why);
            assert_int_equal(open_descriptors(), f.descriptors);
            if (fault.n_met == 0) {
                assert_int_equal(nth, 3); /* of the record, of the process */
                break;
            }
            assert_int_equal(status, CPUBIND_LINUX_ERR_STATE);
            assert_string_equal(why.what, "lock");
            assert_int_equal(why.error, errors[i]);
        }
}

TEST_FILE(set_up, tear_down)
