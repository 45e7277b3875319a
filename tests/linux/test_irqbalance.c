/* test_irqbalance.c - the daemon that moves interrupts is found, stopped, and told
 * SPDX-License-Identifier: MIT
 *
 * Against a double that answers as it does, and against itself where it is installed.
 */
#define _GNU_SOURCE
#include "../../adapters/linux/kernel/irq.h"
#include "../../adapters/linux/kernel/proc_stat.h"
#include "../support/cmocka_test.h"
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

/* The daemon of this pid, as the kernel has it. */
static cpubind_irqbalance daemon_of(pid_t pid)
{
    cpubind_root root = scratch_tree(&f.sys, "/");
    cpubind_proc_stat stat;
    scratch_need(cpubind_proc_stat_read(&root, pid, 0, &stat) == 0, "stat");
    close(root.fd);
    return (cpubind_irqbalance){pid, stat.start, 0};
}

/* Starts the double, below the scratch folder with the real /proc. 0: its name is taken. */
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

/* Whether the bans are just these, which ascend, in any order. */
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
    cpubind_irqbalance_ban(&f.root, &f.daemon, (const int32_t[]){__VA_ARGS__}, N(__VA_ARGS__))
#define UNBAN(...)                                                                             \
    cpubind_irqbalance_unban(&f.root, &f.daemon, (const int32_t[]){__VA_ARGS__}, N(__VA_ARGS__))

/* == finding it == */

static void lay_process(int pid, const char *name, char letter)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "proc/%d/comm", pid);
    snprintf(text, sizeof text, "%s\n", name);
    scratch_file(&f.s, path, text);
    snprintf(path, sizeof path, "proc/%d/stat", pid);
    snprintf(text, sizeof text, "%d (%s) %c 1" REST "%d\n", pid, name, letter, 1000 + pid);
    scratch_file(&f.s, path, text);
}

static void assert_found(int32_t pid, int is_stopped)
{
    cpubind_irqbalance out = {-7, 7, 7};
    assert_int_equal(cpubind_irqbalance_find(&f.root, &out), 0);
    assert_int_equal(out.pid, pid);
    assert_true(out.start == (pid ? 1000 + (uint64_t)pid : 0));
    assert_int_equal(out.is_stopped, is_stopped);
}

TEST(it_is_found_among_all_processes_by_its_name)
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

TEST(its_socket_tells_where_it_is)
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
    /* Left behind by one that crashed, of another namespace, of another program. */
    scratch_file(&f.s, "run/irqbalance/irqbalance902.sock", "");
    scratch_file(&f.s, "run/irqbalance/irqbalance77.sock", "");
    scratch_file(&f.s, "run/irqbalance/irqbalance.sock", "");
    scratch_file(&f.s, "run/irqbalance/irqbalance99999999999.sock", "");
    scratch_file(&f.s, "run/irqbalance/irqbalance-1.sock", "");
    scratch_file(&f.s, "run/irqbalance/x900.sock", "");
    assert_found(900, 0);
}

/* Anybody may call a process so. */
TEST(one_that_root_owns_comes_before_others)
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
    assert_int_equal(cpubind_irqbalance_find(&f.root, &out), ENOENT);
    assert_int_equal(out.pid, -7);
}

TEST(a_running_one_is_found_stopped_and_continued)
{
    cpubind_irqbalance out;
    assert_true(start(DOUBLE_IN_RUN));
    assert_int_equal(cpubind_irqbalance_find(&f.root, &out), 0);
    assert_int_equal(out.pid, f.d.pid);
    assert_true(out.start == f.daemon.start);
    assert_int_equal(out.is_stopped, 0);
    assert_int_equal(cpubind_irqbalance_check(&f.root, &out), 0);
    assert_int_equal(cpubind_irqbalance_stop(&f.root, &out), 0);
    siginfo_t info;
    scratch_need(waitid(P_PID, (id_t)f.d.pid, &info, WSTOPPED) == 0, "waitid");
    assert_int_equal(cpubind_irqbalance_find(&f.root, &out), 0);
    assert_int_equal(out.is_stopped, 1);
    assert_int_equal(cpubind_irqbalance_continue(&f.root, &out), 0);
    scratch_need(waitid(P_PID, (id_t)f.d.pid, &info, WCONTINUED) == 0, "waitid");
    assert_int_equal(cpubind_irqbalance_find(&f.root, &out), 0);
    assert_int_equal(out.is_stopped, 0);
}

static int n_signal;

static int t_kill(pid_t pid, int signal)
{
    n_signal++;
    return cpubind_sys_real.kill(pid, signal);
}

static int t_pidfd_send_signal(int pidfd, int signal)
{
    n_signal++;
    return cpubind_sys_real.pidfd_send_signal(pidfd, signal);
}

TEST(another_process_is_not_sent_a_signal)
{
    assert_true(start(DOUBLE_IN_RUN));
    f.sys.kill = t_kill;
    f.sys.pidfd_send_signal = t_pidfd_send_signal;
    n_signal = 0;
    cpubind_irqbalance later = f.daemon, own = daemon_of(getpid()), none = {0, 0, 0};
    later.start++;
    assert_int_equal(cpubind_irqbalance_stop(&f.root, &later), ESRCH);
    assert_int_equal(cpubind_irqbalance_stop(&f.root, &own), ESRCH); /* has another name */
    assert_int_equal(cpubind_irqbalance_stop(&f.root, &none), ESRCH);
    none.pid = -1;
    assert_int_equal(cpubind_irqbalance_continue(&f.root, &none), ESRCH);
    double_end(&f.d);
    f.d.pid = 0;
    assert_int_equal(cpubind_irqbalance_stop(&f.root, &f.daemon), ESRCH);
    assert_int_equal(cpubind_irqbalance_continue(&f.root, &f.daemon), ESRCH);
    assert_int_equal(n_signal, 0);
}

static int no_pidfd_error;

static int t_no_pidfd(pid_t pid, unsigned int flags)
{
    (void)pid, (void)flags;
    errno = no_pidfd_error;
    return -1;
}

static int t_no_pidfd_signal(int pidfd, int signal)
{
    (void)pidfd, (void)signal;
    errno = no_pidfd_error;
    return -1;
}

TEST(a_kernel_without_pidfd_gets_a_plain_signal)
{
    static const int errors[] = {ENOSYS, EPERM};
    siginfo_t info;
    assert_true(start(DOUBLE_IN_RUN));
    f.sys.kill = t_kill;
    n_signal = 0;
    for (size_t i = 0; i < 4; i++) {
        no_pidfd_error = errors[i % 2];
        f.sys.pidfd_open = i < 2 ? t_no_pidfd : cpubind_sys_real.pidfd_open;
        f.sys.pidfd_send_signal = t_no_pidfd_signal;
        assert_int_equal(cpubind_irqbalance_stop(&f.root, &f.daemon), 0);
        scratch_need(waitid(P_PID, (id_t)f.d.pid, &info, WSTOPPED) == 0, "waitid");
        assert_int_equal(cpubind_irqbalance_continue(&f.root, &f.daemon), 0);
        scratch_need(waitid(P_PID, (id_t)f.d.pid, &info, WCONTINUED) == 0, "waitid");
    }
    assert_int_equal(n_signal, 8);
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

TEST(what_is_so_already_is_not_told_again)
{
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(24, 301);
    assert_int_equal(BAN(301, 24), 0);
    assert_int_equal(UNBAN(302, 25), 0);
    assert_int_equal(f.d.shared->n_setup, 2);
    assert_int_equal(cpubind_irqbalance_ban(&f.root, &f.daemon, NULL, 0), 0);
    assert_int_equal(cpubind_irqbalance_unban(&f.root, &f.daemon, NULL, 0), 0);
    assert_int_equal(f.d.shared->n_setup, 2);
    assert_int_equal(f.d.shared->n_settings, 0);
}

TEST(it_says_what_is_banned)
{
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(301, 24);
    int32_t is_banned[3] = {-7, -7, -7};
    const int32_t irq[3] = {24, 25, 301};
    assert_int_equal(cpubind_irqbalance_banned(&f.root, &f.daemon, irq, 3, is_banned), 0);
    assert_true(is_banned[0] == 1 && is_banned[1] == 0 && is_banned[2] == 1);
    f.d.shared->way = DOUBLE_SERVES_NOBODY;
    is_banned[0] = -7;
    assert_int_equal(cpubind_irqbalance_banned(&f.root, &f.daemon, irq, 3, is_banned), EACCES);
    assert_int_equal(is_banned[0], -7);
}

TEST(the_abstract_sockets_are_tried_too)
{
    assert_true(start(DOUBLE_NAMED));
    assert_int_equal(BAN(301), 0);
    assert_true(BANS_ARE(301));
}

TEST(the_abstract_socket_without_a_name_is_tried_too)
{
    if (!start(DOUBLE_NAMELESS)) {
        print_message("skipped: the name is taken on this machine\n");
        skip();
    }
    assert_int_equal(BAN(301), 0);
    assert_true(BANS_ARE(301));
}

TEST(without_a_socket_it_cannot_be_told)
{
    assert_true(start(DOUBLE_WITHOUT_SOCKET));
    int error = BAN(301); /* EPROTO where one runs on this machine that has no name */
    assert_true(error == ECONNREFUSED || error == EPROTO);
}

/* Another process listens where the daemon should. */
TEST(what_listens_must_be_the_daemon)
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

TEST(one_that_has_ended_cannot_be_told)
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

TEST(what_it_answers_is_judged)
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

TEST(one_that_says_nothing_is_waited_for_a_second)
{
    assert_true(start(DOUBLE_IN_RUN));
    f.d.shared->way = DOUBLE_SAYS_NOTHING;
    int64_t begin = clock_ms();
    assert_int_equal(BAN(301), ETIMEDOUT);
    int64_t spent = clock_ms() - begin;
    assert_true(spent >= 900 && spent < 5000);
    f.d.shared->way = DOUBLE_AS_IT_IS;
}

/* It would die of an answer that nobody takes. */
TEST(an_answer_is_waited_for_once_it_is_there)
{
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(24);
    f.d.shared->setup_delay_ms = 1300;
    assert_int_equal(BAN(301), 0);
    assert_true(BANS_ARE(24, 301));
    assert_int_equal(waitpid(f.d.pid, NULL, WNOHANG), 0);
}

/* ... and what was sent to a stopped one would be read when it goes on. */
TEST(a_stopped_one_is_told_nothing)
{
    siginfo_t info;
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(24);
    assert_int_equal(cpubind_irqbalance_stop(&f.root, &f.daemon), 0);
    scratch_need(waitid(P_PID, (id_t)f.d.pid, &info, WSTOPPED) == 0, "waitid");
    /* The third one finds the queue full. */
    for (int i = 0; i < 3; i++)
        assert_int_equal(BAN(301), ETIMEDOUT);
    assert_int_equal(cpubind_irqbalance_continue(&f.root, &f.daemon), 0);
    assert_int_equal(BAN(302), 0);
    assert_true(BANS_ARE(24, 302));
}

/* "settings ban irqs" and numbers of three digits: 120 of them are 17 + 4 * 120 = 497 bytes,
 * and of the 500 that are read one of two digits takes the rest. */
TEST(a_list_that_it_would_cut_is_not_sent)
{
    int32_t irq[121];
    assert_true(start(DOUBLE_IN_RUN));
    for (int i = 0; i < 121; i++)
        irq[i] = 200 + i;
    SET_BANS(24);
    assert_int_equal(cpubind_irqbalance_ban(&f.root, &f.daemon, irq, 121), EMSGSIZE);
    assert_int_equal(f.d.shared->n_settings, 0);
    assert_int_equal(cpubind_irqbalance_ban(&f.root, &f.daemon, irq, 120), 0);
    assert_int_equal(strlen((const char *)f.d.shared->last), 500);
    assert_int_equal(f.d.shared->n, 121);
    assert_int_equal(BAN(500), EMSGSIZE);
    assert_int_equal(f.d.shared->n, 121);
    assert_int_equal(cpubind_irqbalance_unban(&f.root, &f.daemon, irq, 120), 0);
    assert_true(BANS_ARE(24));
}

/* ... nor kept when it is cut all the same. */
TEST(a_list_that_was_cut_is_put_back)
{
    assert_true(start(DOUBLE_IN_RUN));
    SET_BANS(24, 1000, 1001, 1002);
    f.d.shared->way = DOUBLE_CUTS_LISTS;
    assert_int_equal(BAN(301, 302, 303, 304, 305), EPROTO);
    assert_true(BANS_ARE(24, 1000, 1001, 1002));
}

TEST(what_another_program_changes_meanwhile_is_kept)
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

/* Each list takes so long to be read and replaced that without turns some would be lost. */
TEST(all_bans_of_many_at_once_are_kept)
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

TEST(a_turn_is_waited_for_but_not_for_ever)
{
    char path[64];
    assert_true(start(DOUBLE_IN_RUN));
    snprintf(path, sizeof path, "/proc/%ld/personality", (long)f.d.pid);
    cpubind_root root = scratch_tree(&f.sys, "/");
    int fd = cpubind_root_open(&root, path + 1, 0);
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

typedef enum call {
    CALL_OPENAT,
    CALL_READ,
    CALL_FSTAT,
    CALL_CLOSE,
    CALL_FDOPENDIR,
    CALL_READDIR,
    CALL_PIDFD_OPEN,
    CALL_PIDFD_SEND_SIGNAL,
    CALL_KILL,
    CALL_SOCKET,
    CALL_CONNECT,
    CALL_GETSOCKOPT,
    CALL_SENDMSG,
    CALL_RECV,
    CALL_POLL,
    CALL_FLOCK,
    CALL_MALLOC,
    CALL_REALLOC
} call;

static struct {
    call which;
    int error, left, is_met; /* calls before the fault */
} fault;

static int hit(call which)
{
    if (fault.which != which || fault.left-- != 0)
        return 0;
    fault.is_met = 1;
    errno = fault.error;
    return 1;
}

static int t_openat(int dir, const char *path, int flags)
{
    return hit(CALL_OPENAT) ? -1 : cpubind_sys_real.openat(dir, path, flags);
}

static ssize_t t_read(int fd, void *data, size_t cap)
{
    return hit(CALL_READ) ? -1 : cpubind_sys_real.read(fd, data, cap);
}

static int t_fstat(int fd, struct stat *out)
{
    return hit(CALL_FSTAT) ? -1 : cpubind_sys_real.fstat(fd, out);
}

static int t_close(int fd)
{
    int result = cpubind_sys_real.close(fd);
    return hit(CALL_CLOSE) ? -1 : result;
}

static DIR *t_fdopendir(int fd)
{
    return hit(CALL_FDOPENDIR) ? NULL : cpubind_sys_real.fdopendir(fd);
}

static struct dirent *t_readdir(DIR *folder)
{
    return hit(CALL_READDIR) ? NULL : cpubind_sys_real.readdir(folder);
}

static int t_pidfd_open(pid_t pid, unsigned int flags)
{
    return hit(CALL_PIDFD_OPEN) ? -1 : cpubind_sys_real.pidfd_open(pid, flags);
}

static int t_pidfd_fault(int pidfd, int signal)
{
    return hit(CALL_PIDFD_SEND_SIGNAL) ? -1 : cpubind_sys_real.pidfd_send_signal(pidfd, signal);
}

static int t_kill_fault(pid_t pid, int signal)
{
    return hit(CALL_KILL) ? -1 : cpubind_sys_real.kill(pid, signal);
}

static int t_socket(int family, int type, int protocol)
{
    return hit(CALL_SOCKET) ? -1 : cpubind_sys_real.socket(family, type, protocol);
}

static int t_connect(int fd, const struct sockaddr *address, socklen_t len)
{
    return hit(CALL_CONNECT) ? -1 : cpubind_sys_real.connect(fd, address, len);
}

static int t_getsockopt(int fd, int level, int option, void *value, socklen_t *len)
{
    return hit(CALL_GETSOCKOPT) ? -1
                                : cpubind_sys_real.getsockopt(fd, level, option, value, len);
}

static ssize_t t_sendmsg(int fd, const struct msghdr *message, int flags)
{
    return hit(CALL_SENDMSG) ? -1 : cpubind_sys_real.sendmsg(fd, message, flags);
}

static ssize_t t_recv(int fd, void *data, size_t cap, int flags)
{
    return hit(CALL_RECV) ? -1 : cpubind_sys_real.recv(fd, data, cap, flags);
}

static int t_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    return hit(CALL_POLL) ? -1 : cpubind_sys_real.poll(fds, n, timeout_ms);
}

static int t_flock(int fd, int operation)
{
    return hit(CALL_FLOCK) ? -1 : cpubind_sys_real.flock(fd, operation);
}

static void *t_malloc(size_t size_bytes)
{
    return hit(CALL_MALLOC) ? NULL : cpubind_sys_real.malloc(size_bytes);
}

static void *t_realloc(void *old, size_t size_bytes)
{
    return hit(CALL_REALLOC) ? NULL : cpubind_sys_real.realloc(old, size_bytes);
}

static void set_table(void)
{
    f.sys = (cpubind_sys){.openat = t_openat,
                          .fstat = t_fstat,
                          .read = t_read,
                          .close = t_close,
                          .fdopendir = t_fdopendir,
                          .readdir = t_readdir,
                          .closedir = cpubind_sys_real.closedir,
                          .poll = t_poll,
                          .kill = t_kill_fault,
                          .pidfd_open = t_pidfd_open,
                          .pidfd_send_signal = t_pidfd_fault,
                          .flock = t_flock,
                          .geteuid = cpubind_sys_real.geteuid,
                          .socket = t_socket,
                          .connect = t_connect,
                          .sendmsg = t_sendmsg,
                          .recv = t_recv,
                          .getsockopt = t_getsockopt,
                          .malloc = t_malloc,
                          .realloc = t_realloc};
}

/* After a failure the bans are as before, else with ours. */
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
    int error = cpubind_irqbalance_find(&f.root, &out);
    assert_int_equal(out.pid, error ? -7 : 900);
    return error;
}

static int run_stop(void)
{
    return cpubind_irqbalance_continue(&f.root, &f.daemon); /* of one that runs: no change */
}

/* Lets a call fail at each of its uses. `expected` -1: all may go well. The number of uses. */
static int fail_each(int (*run)(void), call which, int error, int expected)
{
    for (int nth = 0;; nth++) {
        fault.which = which;
        fault.error = error;
        fault.left = nth;
        fault.is_met = 0;
        int result = run();
        assert_int_equal(open_descriptors(), f.descriptors + 1);
        if (!fault.is_met) {
            assert_int_equal(result, 0);
            return nth;
        }
        if (expected >= 0 ? result != expected : result != 0 && result != error)
            fail_msg("call %d, use %d, error %d: %d", which, nth, error, result);
    }
}

typedef struct fault_case {
    call which;
    int error, expected;
} fault_case;

#define RUN_CASES(run, cases)                                                                  \
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases)[0]; i++)                              \
        if (fail_each(run, (cases)[i].which, (cases)[i].error, (cases)[i].expected) == 0)      \
    fail_msg("call %d is not made", (cases)[i].which)

TEST(every_fault_of_a_ban_is_told_and_undone)
{
    static const fault_case cases[] = {
        {CALL_OPENAT, EACCES, EACCES},
        {CALL_OPENAT, EMFILE, EMFILE},
        {CALL_OPENAT, ENOMEM, ENOMEM},
        {CALL_OPENAT, ENOENT, ESRCH},
        {CALL_OPENAT, EINTR, 0},
        {CALL_READ, EIO, EIO},
        {CALL_READ, ESRCH, ESRCH},
        {CALL_READ, EINTR, 0},
        {CALL_FLOCK, ENOLCK, ENOLCK},
        {CALL_FLOCK, EBADF, EBADF},
        {CALL_FLOCK, EINVAL, EINVAL},
        {CALL_FLOCK, EINTR, 0},
        {CALL_FLOCK, EWOULDBLOCK, 0},
        {CALL_SOCKET, EACCES, EACCES},
        {CALL_SOCKET, EAFNOSUPPORT, EAFNOSUPPORT},
        {CALL_SOCKET, EMFILE, EMFILE},
        {CALL_SOCKET, ENFILE, ENFILE},
        {CALL_SOCKET, ENOBUFS, ENOBUFS},
        {CALL_SOCKET, ENOMEM, ENOMEM},
        {CALL_SOCKET, EPROTONOSUPPORT, EPROTONOSUPPORT},
        {CALL_CONNECT, EACCES, EACCES},
        {CALL_CONNECT, EPERM, EPERM},
        {CALL_CONNECT, EPROTOTYPE, EPROTOTYPE},
        {CALL_CONNECT, ETIMEDOUT, ETIMEDOUT},
        {CALL_CONNECT, EAGAIN, 0},
        {CALL_CONNECT, EINTR, 0},
        {CALL_GETSOCKOPT, ENOPROTOOPT, ENOPROTOOPT},
        {CALL_GETSOCKOPT, EINVAL, EINVAL},
        {CALL_SENDMSG, ECONNRESET, ECONNRESET},
        {CALL_SENDMSG, EPIPE, EPIPE},
        {CALL_SENDMSG, ENOBUFS, ENOBUFS},
        {CALL_SENDMSG, ENOMEM, ENOMEM},
        {CALL_SENDMSG, EPERM, EPERM},
        {CALL_SENDMSG, EAGAIN, 0},
        {CALL_SENDMSG, EINTR, 0},
        {CALL_RECV, ECONNRESET, ECONNRESET},
        {CALL_RECV, ENOMEM, ENOMEM},
        {CALL_RECV, EAGAIN, 0},
        {CALL_RECV, EINTR, 0},
        {CALL_MALLOC, ENOMEM, ENOMEM},
        {CALL_REALLOC, ENOMEM, ENOMEM},
        {CALL_CLOSE, EIO, 0},
        {CALL_CLOSE, EINTR, 0},
    };
    assert_true(start(DOUBLE_IN_RUN));
    set_table();
    RUN_CASES(run_ban, cases);
    f.d.shared->delay_ms = 2; /* so that answers are waited for */
    static const fault_case of_poll[] = {
        {CALL_POLL, ENOMEM, ENOMEM}, {CALL_POLL, EINVAL, EINVAL}, {CALL_POLL, EINTR, 0}};
    RUN_CASES(run_ban, of_poll);
}

/* No socket at the first address is no socket at all for a connection that is refused. */
TEST(a_refused_connection_is_told)
{
    assert_true(start(DOUBLE_IN_RUN));
    set_table();
    fault.which = CALL_CONNECT;
    fault.error = ECONNREFUSED;
    for (fault.left = 0; fault.left < 3;) {
        int nth = fault.left, error = run_ban();
        assert_true(error == ECONNREFUSED || error == EPROTO);
        fault.left = nth + 1;
    }
}

TEST(every_fault_of_a_search_is_told)
{
    static const fault_case cases[] = {
        {CALL_OPENAT, EMFILE, -1}, {CALL_OPENAT, ENFILE, -1},    {CALL_OPENAT, ENOMEM, -1},
        {CALL_READ, EIO, EIO},     {CALL_READ, ENOMEM, ENOMEM},  {CALL_READ, EINTR, 0},
        {CALL_OPENAT, EINTR, 0},   {CALL_FDOPENDIR, ENOMEM, -1}, {CALL_READDIR, EIO, EIO},
        {CALL_READDIR, EINTR, 0},  {CALL_REALLOC, ENOMEM, -1},   {CALL_FSTAT, EIO, 0},
        {CALL_CLOSE, EIO, 0},
    };
    lay_process(1, "init", 'S');
    lay_process(900, "irqbalance", 'S');
    lay_process(7000, "bash", 'S');
    set_table();
    RUN_CASES(run_find, cases);
    fault.which = CALL_OPENAT;
    fault.error = EMFILE;
    fault.left = 1; /* of /proc itself, behind run/irqbalance */
    cpubind_irqbalance out;
    assert_int_equal(cpubind_irqbalance_find(&f.root, &out), EMFILE);
}

/* Processes that this user may not look at are none that are seen. */
TEST(what_may_not_be_looked_at_is_not_seen)
{
    static const int errors[] = {EACCES, EPERM, ESRCH, ENOENT};
    lay_process(1, "init", 'S');
    lay_process(900, "irqbalance", 'S');
    set_table();
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        cpubind_irqbalance out = {-7, 0, 0};
        fault.which = CALL_OPENAT;
        fault.error = errors[i];
        fault.left = 4; /* run/irqbalance, proc, the list of it, 1/comm, 900/comm */
        assert_int_equal(cpubind_irqbalance_find(&f.root, &out), 0);
        assert_int_equal(out.pid, 0);
        fault.left = 3;
        assert_int_equal(cpubind_irqbalance_find(&f.root, &out), 0);
        assert_int_equal(out.pid, 900);
    }
}

TEST(every_fault_of_a_signal_is_told)
{
    static const fault_case cases[] = {
        {CALL_PIDFD_OPEN, EINVAL, EINVAL},
        {CALL_PIDFD_OPEN, EMFILE, EMFILE},
        {CALL_PIDFD_OPEN, ENFILE, ENFILE},
        {CALL_PIDFD_OPEN, ENODEV, ENODEV},
        {CALL_PIDFD_OPEN, ENOMEM, ENOMEM},
        {CALL_PIDFD_OPEN, ESRCH, ESRCH},
        {CALL_PIDFD_OPEN, ENOSYS, 0},
        {CALL_PIDFD_OPEN, EPERM, 0},
        {CALL_PIDFD_SEND_SIGNAL, EBADF, EBADF},
        {CALL_PIDFD_SEND_SIGNAL, EINVAL, EINVAL},
        {CALL_PIDFD_SEND_SIGNAL, ESRCH, ESRCH},
        {CALL_PIDFD_SEND_SIGNAL, EPERM, 0},
        {CALL_OPENAT, EACCES, EACCES},
        {CALL_READ, EIO, EIO},
        {CALL_CLOSE, EIO, 0},
    };
    static const int of_kill[] = {EPERM, ESRCH, EINVAL};
    assert_true(start(DOUBLE_IN_RUN));
    set_table();
    RUN_CASES(run_stop, cases);
    no_pidfd_error = ENOSYS;
    f.sys.pidfd_open = t_no_pidfd;
    for (size_t i = 0; i < sizeof of_kill / sizeof of_kill[0]; i++)
        assert_int_equal(fail_each(run_stop, CALL_KILL, of_kill[i], of_kill[i]), 1);
}

/* == the daemon itself == */

/* Starts it with a ban on every interrupt that is there, so that it moves none, and an hour
 * until it looks again. Its pid, or 0 when it is not installed or does not stay. */
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
    assert_int_equal(cpubind_irqbalance_banned(root, daemon, other, 1, is), 0);
    assert_int_equal(is[0], 1);
    assert_int_equal(cpubind_irqbalance_ban(root, daemon, ours, 3), 0);
    assert_int_equal(cpubind_irqbalance_banned(root, daemon, ours, 3, is), 0);
    assert_true(is[0] == 1 && is[1] == 1 && is[2] == 1);
    assert_int_equal(cpubind_irqbalance_banned(root, daemon, other, 1, is), 0);
    assert_int_equal(is[0], 1);
    assert_int_equal(cpubind_irqbalance_unban(root, daemon, ours, 2), 0);
    assert_int_equal(cpubind_irqbalance_banned(root, daemon, ours, 3, is), 0);
    assert_true(is[0] == 0 && is[1] == 0 && is[2] == 1);
    assert_int_equal(cpubind_irqbalance_banned(root, daemon, other, 1, is), 0);
    assert_int_equal(is[0], 1);
    int32_t many[100];
    for (int i = 0; i < 100; i++)
        many[i] = 20000 + i;
    assert_int_equal(cpubind_irqbalance_ban(root, daemon, many, 100), EMSGSIZE);
    assert_int_equal(cpubind_irqbalance_stop(root, daemon), 0);
    assert_int_equal(cpubind_irqbalance_ban(root, daemon, ours, 1), ETIMEDOUT);
    assert_int_equal(cpubind_irqbalance_continue(root, daemon), 0);
    assert_int_equal(cpubind_irqbalance_ban(root, daemon, ours, 1), 0);
}

TEST(irqbalance_itself_is_told)
{
    pid_t pid = geteuid() == 0 ? start_daemon() : 0;
    if (!pid) {
        print_message("skipped: no root, no irqbalance, or it does not stay here\n");
        skip();
    }
    cpubind_root root = scratch_tree(&f.sys, "/");
    cpubind_irqbalance daemon = daemon_of(pid), found = {0, 0, 0};
    int error = cpubind_irqbalance_find(&root, &found);
    check_daemon(&root, &daemon);
    kill(pid, SIGTERM);
    scratch_need(waitpid(pid, NULL, 0) == pid, "waitpid");
    assert_int_equal(error, 0);
    assert_true(found.pid > 0); /* this one, or the machine's own */
    assert_int_equal(cpubind_irqbalance_ban(&root, &daemon, (const int32_t[]){1}, 1), ESRCH);
    close(root.fd);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(it_is_found_among_all_processes_by_its_name),
        EACH(its_socket_tells_where_it_is),
        EACH(one_that_root_owns_comes_before_others),
        EACH(without_proc_nothing_is_found),
        EACH(a_running_one_is_found_stopped_and_continued),
        EACH(another_process_is_not_sent_a_signal),
        EACH(a_kernel_without_pidfd_gets_a_plain_signal),
        EACH(bans_of_others_stay),
        EACH(what_is_so_already_is_not_told_again),
        EACH(it_says_what_is_banned),
        EACH(the_abstract_sockets_are_tried_too),
        EACH(the_abstract_socket_without_a_name_is_tried_too),
        EACH(without_a_socket_it_cannot_be_told),
        EACH(what_listens_must_be_the_daemon),
        EACH(one_that_has_ended_cannot_be_told),
        EACH(what_it_answers_is_judged),
        EACH(one_that_says_nothing_is_waited_for_a_second),
        EACH(an_answer_is_waited_for_once_it_is_there),
        EACH(a_stopped_one_is_told_nothing),
        EACH(a_list_that_it_would_cut_is_not_sent),
        EACH(a_list_that_was_cut_is_put_back),
        EACH(what_another_program_changes_meanwhile_is_kept),
        EACH(all_bans_of_many_at_once_are_kept),
        EACH(a_turn_is_waited_for_but_not_for_ever),
        EACH(every_fault_of_a_ban_is_told_and_undone),
        EACH(a_refused_connection_is_told),
        EACH(every_fault_of_a_search_is_told),
        EACH(what_may_not_be_looked_at_is_not_seen),
        EACH(every_fault_of_a_signal_is_told),
        EACH(irqbalance_itself_is_told),
    };
    return cmocka_run_group_tests_name("irqbalance", tests, NULL, NULL);
}
