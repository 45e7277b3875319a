/* test_irqbalance.c - the daemon irqbalance is found, stopped, and made to ban interrupts
 * SPDX-License-Identifier: MIT
 *
 * With a double that answers as the daemon does, and with the real one where it is installed.
 */
#define _GNU_SOURCE
#include "../../adapters/linux/kernel/irqbalance.h"
#include "../../adapters/linux/kernel/process.h"
#include "fault_table.h"
#include "irqbalance_double.h"

#define REST " 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 2 0 "

static struct {
    scratch s;
    cpubind_sys sys;
    cpubind_root root; /* the scratch folder; its proc is a folder, or the real one */
    irqbalance_double d;
    cpubind_irqbalance daemon; /* the double */
    int descriptors;
} f;

SETUP(set_up)
{
    memset(&f, 0, sizeof f);
    scratch_make(&f.s);
    f.sys = cpubind_sys_real;
    f.descriptors = open_descriptors();
    f.root = scratch_tree(&f.sys, f.s.dir);
    return 0;
}

SETUP(tear_down)
{
    if (f.d.pid)
        double_end(&f.d);
    scratch_remove(&f.s);
    close(f.root.fd);
    return open_descriptors() == f.descriptors && !has_child() ? 0 : -1;
}

/* The daemon of this pid, with its start from /proc. */
static cpubind_irqbalance daemon_of(pid_t pid)
{
    cpubind_root root = scratch_tree(&f.sys, "/");
    cpubind_proc_stat stat;
    scratch_need(cpubind_proc_stat_read(&root, pid, 0, &stat).error == 0, "stat");
    close(root.fd);
    return (cpubind_irqbalance){pid, stat.start, 0};
}

/* Starts the double below the scratch folder, with the real /proc. Returns 0 when its address
 * is taken. */
static int start(double_socket where)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(&f.s, "run/irqbalance/x", path);
    scratch_link(&f.s, "proc", "/proc");
    if (!double_start(&f.d, f.s.dir, where))
        return 0;
    f.daemon = daemon_of(f.d.pid);
    return 1;
}

static void set_bans(const int *irq, int n)
{
    for (int i = 0; i < n; i++)
        f.d.shared->irq[i] = irq[i];
    f.d.shared->n = n;
    f.d.shared->n_setup = f.d.shared->n_settings = f.d.shared->n_rival = 0;
}

/* Whether the bans are these, in any order. */
static int bans_are(const int *irq, int n)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < f.d.shared->n; k++)
            found += f.d.shared->irq[k] == irq[i];
    return found == n && f.d.shared->n == n;
}

#define N(...)        ((int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))
#define SET_BANS(...) set_bans((const int[]){__VA_ARGS__}, N(__VA_ARGS__))
#define BANS_ARE(...) bans_are((const int[]){__VA_ARGS__}, N(__VA_ARGS__))
#define BAN(...)                                                                               \
    cpubind_irqbalance_ban(&f.root, &f.daemon, (const int32_t[]){__VA_ARGS__}, N(__VA_ARGS__)) \
        .error
#define UNBAN(...)                                                                             \
    cpubind_irqbalance_unban(&f.root, &f.daemon, (const int32_t[]){__VA_ARGS__},               \
                             N(__VA_ARGS__))                                                   \
        .error

/* == find == */

static void lay_process(int pid, const char *name, char letter)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "proc/%d/comm", pid);
    snprintf(text, sizeof text, "%s\n", name);
    scratch_file(&f.s, path, text);
    snprintf(path, sizeof path, "proc/%d/task/%d/stat", pid, pid);
    snprintf(text, sizeof text, "%d (%s) %c 1" REST "%d\n", pid, name, letter, 1000 + pid);
    scratch_file(&f.s, path, text);
}

static void assert_found(int32_t pid, int is_stopped)
{
    cpubind_irqbalance out = {-7, 7, 7};
    assert_int_equal(cpubind_irqbalance_find(&f.root, &out).error, 0);
    assert_int_equal(out.pid, pid);
    assert_true(out.start == (pid ? 1000 + (uint64_t)pid : 0));
    assert_int_equal(out.is_stopped, is_stopped);
}

TEST(the_daemon_is_found_among_all_processes_by_its_name)
{
    lay_process(1, "init", 'S');
    lay_process(70, "irqbalance-ui", 'S');
    lay_process(71, "my irqbalance", 'S');
    lay_process(72, "irqbalance", 'Z');
    scratch_folder(&f.s, "proc/73"); /* ended meanwhile */
    scratch_folder(&f.s, "proc/irqbalance");
    scratch_folder(&f.s, "proc/0");
    assert_found(0, 0);
    lay_process(900, "irqbalance", 'S');
    assert_found(900, 0);
    lay_process(900, "irqbalance", 'T');
    assert_found(900, 1);
}

TEST(the_daemon_is_found_by_its_socket)
{
    lay_process(900, "irqbalance", 'S');
    lay_process(901, "irqbalance", 'T');
    lay_process(902, "another", 'S');
    scratch_file(&f.s, "run/irqbalance/irqbalance901.sock", "");
    assert_found(901, 1);
    scratch_remove(&f.s);
    scratch_need(mkdir(f.s.dir, 0755) == 0, f.s.dir);
    close(f.root.fd);
    f.root = scratch_tree(&f.sys, f.s.dir);
    lay_process(902, "another", 'S');
    lay_process(900, "irqbalance", 'S');
    /* Sockets of a crashed daemon, of another namespace, of another program. */
    scratch_file(&f.s, "run/irqbalance/irqbalance902.sock", "");
    scratch_file(&f.s, "run/irqbalance/irqbalance77.sock", "");
    scratch_file(&f.s, "run/irqbalance/irqbalance.sock", "");
    scratch_file(&f.s, "run/irqbalance/irqbalance99999999999.sock", "");
    scratch_file(&f.s, "run/irqbalance/irqbalance-1.sock", "");
    scratch_file(&f.s, "run/irqbalance/x900.sock", "");
    assert_found(900, 0);
}

/* Any user may give a process this name. */
TEST(a_process_of_root_comes_before_others)
{
    if (geteuid() != 0) {
        print_message("skipped: only root lays files of two users\n");
        skip();
    }
    lay_process(100, "irqbalance", 'S');
    lay_process(200, "irqbalance", 'S');
    lay_process(300, "irqbalance", 'S');
    for (int pid = 100; pid <= 300; pid += 200) {
        char path[SCRATCH_PATH * 2], name[32];
        snprintf(name, sizeof name, "proc/%d/comm", pid);
        scratch_path(&f.s, name, path);
        scratch_need(chown(path, 65534, 65534) == 0, "chown");
    }
    assert_found(200, 0);
}

TEST(without_proc_nothing_is_found)
{
    cpubind_irqbalance out = {-7, 7, 7};
    assert_int_equal(cpubind_irqbalance_find(&f.root, &out).error, ENOENT);
    assert_int_equal(out.pid, -7);
}

TEST(a_running_daemon_is_found_stopped_and_continued)
{
    cpubind_irqbalance out;
    assert_true(start(DOUBLE_IN_RUN));
    assert_int_equal(cpubind_irqbalance_find(&f.root, &out).error, 0);
    assert_int_equal(out.pid, f.d.pid);
    assert_true(out.start == f.daemon.start);
    assert_int_equal(out.is_stopped, 0);
    assert_int_equal(cpubind_irqbalance_check(&f.root, &out).error, 0);
    assert_int_equal(cpubind_irqbalance_stop(&f.root, &out).error, 0);
    siginfo_t info;
    scratch_need(waitid(P_PID, (id_t)f.d.pid, &info, WSTOPPED) == 0, "waitid");
    assert_int_equal(cpubind_irqbalance_find(&f.root, &out).error, 0);
    assert_int_equal(out.is_stopped, 1);
    assert_int_equal(cpubind_irqbalance_continue(&f.root, &out).error, 0);
    scratch_need(waitid(P_PID, (id_t)f.d.pid, &info, WCONTINUED) == 0, "waitid");
    assert_int_equal(cpubind_irqbalance_find(&f.root, &out).error, 0);
    assert_int_equal(out.is_stopped, 0);
}

TEST(another_process_is_not_sent_a_signal)
{
    assert_true(start(DOUBLE_IN_RUN));
    cpubind_irqbalance later = f.daemon, own = daemon_of(getpid()), none = {0, 0, 0};
    f.sys = fault_table;
    fault_clear();
    later.start++;
    assert_int_equal(cpubind_irqbalance_stop(&f.root, &later).error, ESRCH);
    assert_int_equal(cpubind_irqbalance_stop(&f.root, &own).error,
                     ESRCH); /* has another name */
    assert_int_equal(cpubind_irqbalance_stop(&f.root, &none).error, ESRCH);
    none.pid = -1;
    assert_int_equal(cpubind_irqbalance_continue(&f.root, &none).error, ESRCH);
    double_end(&f.d);
    f.d.pid = 0;
    assert_int_equal(cpubind_irqbalance_stop(&f.root, &f.daemon).error, ESRCH);
    assert_int_equal(cpubind_irqbalance_continue(&f.root, &f.daemon).error, ESRCH);
    assert_int_equal(fault.count[CALL_kill], 0);
    assert_int_equal(fault.count[CALL_pidfd_send_signal], 0);
}

TEST(a_kernel_without_pidfd_gets_a_plain_signal)
{
    static const int errors[] = {ENOSYS, EPERM};
    siginfo_t info;
    assert_true(start(DOUBLE_IN_RUN));
    f.sys = fault_table;
    for (size_t i = 0; i < 4; i++) {
        fault_set(i < 2 ? CALL_pidfd_open : CALL_pidfd_send_signal, 1, errors[i % 2]);
        fault.forever = 1;
        assert_int_equal(cpubind_irqbalance_stop(&f.root, &f.daemon).error, 0);
        scratch_need(waitid(P_PID, (id_t)f.d.pid, &info, WSTOPPED) == 0, "waitid");
        assert_int_equal(cpubind_irqbalance_continue(&f.root, &f.daemon).error, 0);
        scratch_need(waitid(P_PID, (id_t)f.d.pid, &info, WCONTINUED) == 0, "waitid");
        assert_int_equal(fault.count[CALL_kill], 2);
    }
}

/* == bans == */

TEST(bans_of_others_stay)
{
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(0, 900, 24);
    assert_int_equal(BAN(302, 301, 302), 0);
    assert_true(BANS_ARE(0, 24, 301, 302, 900));
    assert_int_equal(BAN(303), 0);
    assert_true(BANS_ARE(0, 24, 301, 302, 303, 900));
    assert_int_equal(UNBAN(302, 301), 0);
    assert_true(BANS_ARE(0, 24, 303, 900));
    assert_int_equal(UNBAN(0, 24, 303, 900), 0);
    assert_true(bans_are(NULL, 0));
    assert_string_equal((const char *)f.d.shared->last, "settings ban irqs NONE");
    assert_int_equal(BAN(5), 0);
    assert_true(BANS_ARE(5));
}

TEST(an_unchanged_list_is_not_sent)
{
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(24, 301);
    assert_int_equal(BAN(301, 24), 0);
    assert_int_equal(UNBAN(302, 25), 0);
    assert_int_equal(f.d.shared->n_setup, 2);
    assert_int_equal(cpubind_irqbalance_ban(&f.root, &f.daemon, NULL, 0).error, 0);
    assert_int_equal(cpubind_irqbalance_unban(&f.root, &f.daemon, NULL, 0).error, 0);
    assert_int_equal(f.d.shared->n_setup, 2);
    assert_int_equal(f.d.shared->n_settings, 0);
}

TEST(banned_interrupts_are_read)
{
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(301, 24);
    int32_t is_banned[3] = {-7, -7, -7};
    const int32_t irq[3] = {24, 25, 301};
    assert_int_equal(cpubind_irqbalance_banned(&f.root, &f.daemon, irq, 3, is_banned).error, 0);
    assert_true(is_banned[0] == 1 && is_banned[1] == 0 && is_banned[2] == 1);
    f.d.shared->way = DOUBLE_SERVES_NOBODY;
    is_banned[0] = -7;
    assert_int_equal(cpubind_irqbalance_banned(&f.root, &f.daemon, irq, 3, is_banned).error,
                     EACCES);
    assert_int_equal(is_banned[0], -7);
}

TEST(a_named_abstract_socket_is_tried)
{
    assert_true(start(DOUBLE_NAMED));
    assert_int_equal(BAN(301), 0);
    assert_true(BANS_ARE(301));
}

TEST(the_abstract_socket_without_a_name_is_tried)
{
    if (!start(DOUBLE_NAMELESS)) {
        print_message("skipped: the name is taken on this machine\n");
        skip();
    }
    assert_int_equal(BAN(301), 0);
    assert_true(BANS_ARE(301));
}

TEST(without_a_socket_a_ban_fails)
{
    assert_true(start(DOUBLE_WITHOUT_SOCKET));
    int error = BAN(301); /* EPROTO where a daemon of this machine has the nameless socket */
    assert_true(error == ECONNREFUSED || error == EPROTO);
}

/* Another process listens where the daemon should. */
TEST(another_listener_at_the_socket_is_refused)
{
    irqbalance_double other;
    char from[SCRATCH_PATH * 2], to[SCRATCH_PATH * 2], name[64];
    assert_true(start(DOUBLE_WITHOUT_SOCKET));
    assert_true(double_start(&other, f.s.dir, DOUBLE_IN_RUN));
    snprintf(name, sizeof name, "run/irqbalance/irqbalance%ld.sock", (long)other.pid);
    scratch_path(&f.s, name, from);
    snprintf(name, sizeof name, "run/irqbalance/irqbalance%ld.sock", (long)f.d.pid);
    scratch_path(&f.s, name, to);
    scratch_need(rename(from, to) == 0, "rename");
    int error = BAN(301);
    int n = other.shared->n_setup + other.shared->n_settings;
    double_end(&other);
    assert_int_equal(error, EPROTO);
    assert_int_equal(n, 0);
}

TEST(a_daemon_that_has_ended_cannot_ban)
{
    assert_true(start(DOUBLE_IN_RUN));
    f.daemon.start++;
    assert_int_equal(BAN(301), ESRCH);
    f.daemon.start--;
    assert_int_equal(f.d.shared->n_setup, 0);
    double_end(&f.d);
    f.d.pid = 0;
    assert_int_equal(BAN(301), ESRCH);
    f.daemon.pid = 0;
    assert_int_equal(BAN(301), ESRCH);
}

TEST(malformed_answers_are_errors)
{
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(24);
    f.d.shared->way = DOUBLE_SERVES_NOBODY;
    assert_int_equal(BAN(301), EACCES);
    f.d.shared->way = DOUBLE_SAYS_NONSENSE;
    assert_int_equal(BAN(301), EPROTO);
    f.d.shared->way = DOUBLE_ANSWERS_ALL;
    assert_int_equal(BAN(301), EPROTO);
    f.d.shared->way = DOUBLE_AS_IT_IS;
    assert_true(BANS_ARE(24));
}

TEST(a_silent_daemon_is_waited_for_one_second)
{
    assert_true(start(DOUBLE_IN_RUN));
    f.d.shared->way = DOUBLE_SAYS_NOTHING;
    int64_t begin = clock_ms();
    assert_int_equal(BAN(301), ETIMEDOUT);
    int64_t spent = clock_ms() - begin;
    assert_true(spent >= 900 && spent < 5000);
    f.d.shared->way = DOUBLE_AS_IT_IS;
}

/* The daemon dies of SIGPIPE when nobody reads its answer. */
TEST(a_slow_answer_is_waited_for_after_the_first_reaction)
{
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(24);
    f.d.shared->setup_delay_ms = 1300;
    assert_int_equal(BAN(301), 0);
    assert_true(BANS_ARE(24, 301));
    assert_int_equal(waitpid(f.d.pid, NULL, WNOHANG), 0);
}

/* A stopped daemon would read the command when it continues. */
TEST(a_stopped_daemon_is_sent_nothing)
{
    siginfo_t info;
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(24);
    assert_int_equal(cpubind_irqbalance_stop(&f.root, &f.daemon).error, 0);
    scratch_need(waitid(P_PID, (id_t)f.d.pid, &info, WSTOPPED) == 0, "waitid");
    /* The third one finds the queue full. */
    for (int i = 0; i < 3; i++)
        assert_int_equal(BAN(301), ETIMEDOUT);
    assert_int_equal(cpubind_irqbalance_continue(&f.root, &f.daemon).error, 0);
    assert_int_equal(BAN(302), 0);
    assert_true(BANS_ARE(24, 302));
}

/* "settings ban irqs" and 120 numbers of three digits are 17 + 4 * 120 = 497 bytes; a number of
 * two digits fills the 500 that the daemon reads. */
TEST(a_list_that_the_daemon_would_cut_is_not_sent)
{
    int32_t irq[121];
    assert_true(start(DOUBLE_IN_RUN));
    for (int i = 0; i < 121; i++)
        irq[i] = 200 + i;
    SET_BANS(24);
    assert_int_equal(cpubind_irqbalance_ban(&f.root, &f.daemon, irq, 121).error, EMSGSIZE);
    assert_int_equal(f.d.shared->n_settings, 0);
    assert_int_equal(cpubind_irqbalance_ban(&f.root, &f.daemon, irq, 120).error, 0);
    assert_int_equal(strlen((const char *)f.d.shared->last), 500);
    assert_int_equal(f.d.shared->n, 121);
    assert_int_equal(BAN(500), EMSGSIZE);
    assert_int_equal(f.d.shared->n, 121);
    assert_int_equal(cpubind_irqbalance_unban(&f.root, &f.daemon, irq, 120).error, 0);
    assert_true(BANS_ARE(24));
}

/* The daemon may cut a list all the same. */
TEST(a_list_that_was_cut_is_restored)
{
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(24, 1000, 1001, 1002);
    f.d.shared->way = DOUBLE_CUTS_LISTS;
    assert_int_equal(BAN(301, 302, 303, 304, 305), EPROTO);
    assert_true(BANS_ARE(24, 1000, 1001, 1002));
}

TEST(changes_of_another_program_are_kept)
{
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(24);
    f.d.shared->way = DOUBLE_HAS_RIVAL;
    assert_int_equal(BAN(301), 0);
    assert_true(BANS_ARE(24, 77, 301));
    SET_BANS(24, 301);
    assert_int_equal(UNBAN(301), 0);
    assert_true(BANS_ARE(24, 77));
    SET_BANS(24);
    f.d.shared->way = DOUBLE_HAS_ETERNAL_RIVAL;
    assert_int_equal(BAN(301), EPROTO);
    assert_true(f.d.shared->n_settings <= 4);
}

/* Reading and replacing a list takes so long that without the lock some bans would be lost. */
TEST(parallel_bans_are_all_kept)
{
    enum { N_CHILDREN = 6 };
    pid_t child[N_CHILDREN];
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(24);
    f.d.shared->delay_ms = 5;
    for (int i = 0; i < N_CHILDREN; i++) {
        child[i] = fork();
        scratch_need(child[i] >= 0, "fork");
        if (child[i] == 0) {
            int a = BAN(301 + 2 * i), b = BAN(302 + 2 * i), c = UNBAN(301 + 2 * i);
            _exit(a || b || c);
        }
    }
    for (int i = 0; i < N_CHILDREN; i++) {
        int status = -1;
        scratch_need(waitpid(child[i], &status, 0) == child[i], "waitpid");
        assert_int_equal(status, 0);
    }
    assert_true(BANS_ARE(24, 302, 304, 306, 308, 310, 312));
}

TEST(the_lock_is_waited_for_with_a_limit)
{
    char path[64];
    assert_true(start(DOUBLE_IN_RUN));
    snprintf(path, sizeof path, "/proc/%ld/personality", (long)f.d.pid);
    cpubind_root root = scratch_tree(&f.sys, "/");
    int fd;
    assert_int_equal(cpubind_root_open(&root, path + 1, 0, &fd).error, 0);
    scratch_need(fd >= 0, path);
    scratch_need(f.sys.flock(fd, 2 /* LOCK_EX */) == 0, "flock");
    int64_t begin = clock_ms();
    assert_int_equal(BAN(301), ETIMEDOUT);
    assert_true(clock_ms() - begin >= 2900);
    assert_int_equal(f.d.shared->n_setup, 0);
    close(fd);
    close(root.fd);
    assert_int_equal(BAN(301), 0);
}

/* == faults == */

/* After a failure the bans are as before, else the new ones are added. */
static int run_ban(void)
{
    SET_BANS(24, 900);
    int error = BAN(301, 302);
    assert_true(error ? BANS_ARE(24, 900) : BANS_ARE(24, 301, 302, 900));
    return error;
}

static int run_find(void)
{
    cpubind_irqbalance out = {-7, 0, 0};
    int error = cpubind_irqbalance_find(&f.root, &out).error;
    assert_int_equal(out.pid, error ? -7 : 900);
    return error;
}

static int run_stop(void)
{
    return cpubind_irqbalance_continue(&f.root, &f.daemon)
        .error; /* of a running daemon: no change */
}

/* Makes `which` fail at each of its uses. With `expected` -1 a run may succeed. Returns the
 * number of uses. */
static int fail_each(int (*run)(void), call which, int error, int expected)
{
    for (int nth = 1;; nth++) {
        fault_set(which, nth, error);
        int result = run();
        assert_int_equal(open_descriptors(), f.descriptors + 1);
        fault_assert_only(CALLS(CALL_openat, CALL_fstat, CALL_read, CALL_close, CALL_fdopendir,
                                CALL_readdir, CALL_closedir, CALL_poll, CALL_kill,
                                CALL_pidfd_open, CALL_pidfd_send_signal, CALL_flock,
                                CALL_geteuid, CALL_socket, CALL_connect, CALL_sendmsg,
                                CALL_recv, CALL_getsockopt, CALL_malloc, CALL_realloc));
        if (fault.n_met == 0) {
            assert_int_equal(result, 0);
            return nth - 1;
        }
        if (expected >= 0 ? result != expected : result != 0 && result != error)
            fail_msg("%s, use %d, error %d: %d", call_name[which], nth, error, result);
    }
}

typedef struct fault_case {
    call which;
    int error, expected;
} fault_case;

#define RUN_CASES(run, cases)                                                                  \
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases)[0]; i++)                              \
        if (fail_each(run, (cases)[i].which, (cases)[i].error, (cases)[i].expected) == 0)      \
    fail_msg("%s is not called", call_name[(cases)[i].which])

TEST(every_fault_of_a_ban_is_reported_and_undone)
{
    static const fault_case cases[] = {
        {CALL_openat, EACCES, EACCES},
        {CALL_openat, EMFILE, EMFILE},
        {CALL_openat, ENOMEM, ENOMEM},
        {CALL_openat, ENOENT, ESRCH},
        {CALL_openat, EINTR, 0},
        {CALL_read, EIO, EIO},
        {CALL_read, ESRCH, ESRCH},
        {CALL_read, EINTR, 0},
        {CALL_flock, ENOLCK, ENOLCK},
        {CALL_flock, EBADF, EBADF},
        {CALL_flock, EINVAL, EINVAL},
        {CALL_flock, EINTR, 0},
        {CALL_flock, EWOULDBLOCK, 0},
        {CALL_socket, EACCES, EACCES},
        {CALL_socket, EAFNOSUPPORT, EAFNOSUPPORT},
        {CALL_socket, EMFILE, EMFILE},
        {CALL_socket, ENFILE, ENFILE},
        {CALL_socket, ENOBUFS, ENOBUFS},
        {CALL_socket, ENOMEM, ENOMEM},
        {CALL_socket, EPROTONOSUPPORT, EPROTONOSUPPORT},
        {CALL_connect, EACCES, EACCES},
        {CALL_connect, EPERM, EPERM},
        {CALL_connect, EPROTOTYPE, EPROTOTYPE},
        {CALL_connect, ETIMEDOUT, ETIMEDOUT},
        {CALL_connect, EAGAIN, 0},
        {CALL_connect, EINTR, 0},
        {CALL_getsockopt, ENOPROTOOPT, ENOPROTOOPT},
        {CALL_getsockopt, EINVAL, EINVAL},
        {CALL_sendmsg, ECONNRESET, ECONNRESET},
        {CALL_sendmsg, EPIPE, EPIPE},
        {CALL_sendmsg, ENOBUFS, ENOBUFS},
        {CALL_sendmsg, ENOMEM, ENOMEM},
        {CALL_sendmsg, EPERM, EPERM},
        {CALL_sendmsg, EAGAIN, 0},
        {CALL_sendmsg, EINTR, 0},
        {CALL_recv, ECONNRESET, ECONNRESET},
        {CALL_recv, ENOMEM, ENOMEM},
        {CALL_recv, EAGAIN, 0},
        {CALL_recv, EINTR, 0},
        {CALL_malloc, ENOMEM, ENOMEM},
        {CALL_realloc, ENOMEM, ENOMEM},
        {CALL_close, EIO, 0},
        {CALL_close, EINTR, 0},
    };
    assert_true(start(DOUBLE_IN_RUN));
    f.sys = fault_table;
    RUN_CASES(run_ban, cases);
    f.d.shared->delay_ms = 2; /* makes cpubind wait for answers */
    static const fault_case of_poll[] = {
        {CALL_poll, ENOMEM, ENOMEM}, {CALL_poll, EINVAL, EINVAL}, {CALL_poll, EINTR, 0}};
    RUN_CASES(run_ban, of_poll);
}

/* No socket at the first address is no socket at all for a connection that is refused. */
TEST(a_refused_connection_is_reported)
{
    assert_true(start(DOUBLE_IN_RUN));
    f.sys = fault_table;
    for (int nth = 1; nth <= 3; nth++) {
        fault_set(CALL_connect, nth, ECONNREFUSED);
        int error = run_ban();
        assert_true(error == ECONNREFUSED || error == EPROTO);
    }
}

TEST(every_fault_of_a_search_is_reported)
{
    static const fault_case cases[] = {
        {CALL_openat, EMFILE, -1}, {CALL_openat, ENFILE, -1},    {CALL_openat, ENOMEM, -1},
        {CALL_read, EIO, EIO},     {CALL_read, ENOMEM, ENOMEM},  {CALL_read, EINTR, 0},
        {CALL_openat, EINTR, 0},   {CALL_fdopendir, ENOMEM, -1}, {CALL_readdir, EIO, EIO},
        {CALL_readdir, EINTR, 0},  {CALL_realloc, ENOMEM, -1},   {CALL_fstat, EIO, 0},
        {CALL_close, EIO, 0},
    };
    lay_process(1, "init", 'S');
    lay_process(900, "irqbalance", 'S');
    lay_process(7000, "bash", 'S');
    f.sys = fault_table;
    RUN_CASES(run_find, cases);
    fault_set(CALL_openat, 2, EMFILE); /* /proc itself, after run/irqbalance */
    cpubind_irqbalance out;
    assert_int_equal(cpubind_irqbalance_find(&f.root, &out).error, EMFILE);
}

/* EACCES of one process does not end the search. */
TEST(processes_hidden_from_this_user_are_skipped)
{
    static const int errors[] = {EACCES, EPERM, ESRCH, ENOENT};
    lay_process(1, "init", 'S');
    lay_process(900, "irqbalance", 'S');
    f.sys = fault_table;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        cpubind_irqbalance out = {-7, 0, 0};
        /* run/irqbalance, proc, the list of it, 1/comm, 900/comm */
        fault_set(CALL_openat, 5, errors[i]);
        assert_int_equal(cpubind_irqbalance_find(&f.root, &out).error, 0);
        assert_int_equal(out.pid, 0);
        fault_set(CALL_openat, 4, errors[i]);
        assert_int_equal(cpubind_irqbalance_find(&f.root, &out).error, 0);
        assert_int_equal(out.pid, 900);
    }
}

static int no_pidfd(pid_t pid, unsigned int flags)
{
    (void)pid, (void)flags;
    errno = ENOSYS;
    return -1;
}

TEST(every_fault_of_a_signal_is_reported)
{
    static const fault_case cases[] = {
        {CALL_pidfd_open, EINVAL, EINVAL},
        {CALL_pidfd_open, EMFILE, EMFILE},
        {CALL_pidfd_open, ENFILE, ENFILE},
        {CALL_pidfd_open, ENODEV, ENODEV},
        {CALL_pidfd_open, ENOMEM, ENOMEM},
        {CALL_pidfd_open, ESRCH, ESRCH},
        {CALL_pidfd_open, ENOSYS, 0},
        {CALL_pidfd_open, EPERM, 0},
        {CALL_pidfd_send_signal, EBADF, EBADF},
        {CALL_pidfd_send_signal, EINVAL, EINVAL},
        {CALL_pidfd_send_signal, ESRCH, ESRCH},
        {CALL_pidfd_send_signal, EPERM, 0},
        {CALL_openat, EACCES, EACCES},
        {CALL_read, EIO, EIO},
        {CALL_close, EIO, 0},
    };
    static const int of_kill[] = {EPERM, ESRCH, EINVAL};
    assert_true(start(DOUBLE_IN_RUN));
    f.sys = fault_table;
    RUN_CASES(run_stop, cases);
    cpubind_sys next = cpubind_sys_real;
    next.pidfd_open = no_pidfd;
    fault_next = &next;
    for (size_t i = 0; i < sizeof of_kill / sizeof of_kill[0]; i++)
        assert_int_equal(fail_each(run_stop, CALL_kill, of_kill[i], of_kill[i]), 1);
    fault_next = &cpubind_sys_real;
}

/* == the real daemon == */

/* Starts the daemon with a ban on every interrupt, so that it moves none, and a period of one
 * hour. Returns its pid, or 0 when it is not installed or ends. */
static pid_t start_daemon(void)
{
    static char word[1024][24];
    char *argv[1024] = {"irqbalance", "--foreground", "--interval=3600"};
    int n = 3;
    DIR *folder = opendir("/proc/irq");
    for (const struct dirent *entry; folder && n < 1000 && (entry = readdir(folder)); n++) {
        snprintf(word[n], sizeof word[n], "--banirq=%ld",
                 entry->d_name[0] > '0' ? strtol(entry->d_name, NULL, 10) : 9999);
        argv[n] = word[n];
    }
    if (!folder || n == 1000)
        return 0;
    closedir(folder);
    pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 1);
        dup2(null, 2);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execvp(argv[0], argv);
        _exit(127);
    }
    usleep(700000);
    if (waitpid(pid, NULL, WNOHANG) == 0)
        return pid;
    return 0;
}

static void check_daemon(cpubind_root *root, const cpubind_irqbalance *daemon)
{
    const int32_t ours[3] = {30001, 30002, 30000}, other[1] = {9999};
    int32_t is[3] = {-1, -1, -1};
    assert_int_equal(cpubind_irqbalance_banned(root, daemon, other, 1, is).error, 0);
    assert_int_equal(is[0], 1);
    assert_int_equal(cpubind_irqbalance_ban(root, daemon, ours, 3).error, 0);
    assert_int_equal(cpubind_irqbalance_banned(root, daemon, ours, 3, is).error, 0);
    assert_true(is[0] == 1 && is[1] == 1 && is[2] == 1);
    assert_int_equal(cpubind_irqbalance_banned(root, daemon, other, 1, is).error, 0);
    assert_int_equal(is[0], 1);
    assert_int_equal(cpubind_irqbalance_unban(root, daemon, ours, 2).error, 0);
    assert_int_equal(cpubind_irqbalance_banned(root, daemon, ours, 3, is).error, 0);
    assert_true(is[0] == 0 && is[1] == 0 && is[2] == 1);
    assert_int_equal(cpubind_irqbalance_banned(root, daemon, other, 1, is).error, 0);
    assert_int_equal(is[0], 1);
    int32_t many[100];
    for (int i = 0; i < 100; i++)
        many[i] = 20000 + i;
    assert_int_equal(cpubind_irqbalance_ban(root, daemon, many, 100).error, EMSGSIZE);
    assert_int_equal(cpubind_irqbalance_stop(root, daemon).error, 0);
    assert_int_equal(cpubind_irqbalance_ban(root, daemon, ours, 1).error, ETIMEDOUT);
    assert_int_equal(cpubind_irqbalance_continue(root, daemon).error, 0);
    assert_int_equal(cpubind_irqbalance_ban(root, daemon, ours, 1).error, 0);
}

TEST(the_real_irqbalance_keeps_the_bans)
{
    pid_t pid = geteuid() == 0 ? start_daemon() : 0;
    if (!pid) {
        print_message("skipped: no root, no irqbalance, or it does not stay here\n");
        skip();
    }
    cpubind_root root = scratch_tree(&f.sys, "/");
    cpubind_irqbalance daemon = daemon_of(pid), found = {0, 0, 0};
    int error = cpubind_irqbalance_find(&root, &found).error;
    check_daemon(&root, &daemon);
    kill(pid, SIGTERM);
    scratch_need(waitpid(pid, NULL, 0) == pid, "waitpid");
    assert_int_equal(error, 0);
    assert_true(found.pid > 0); /* this one, or the one of the machine */
    assert_int_equal(cpubind_irqbalance_ban(&root, &daemon, (const int32_t[]){1}, 1).error,
                     ESRCH);
    close(root.fd);
}

TEST_FILE(set_up, tear_down)
