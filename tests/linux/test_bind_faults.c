/* test_bind_faults.c - every system call of a binding fails, at each of its calls
 * SPDX-License-Identifier: MIT
 *
 * A process, polling threads of another one, interrupts and an irqbalance are bound, looked at
 * and put back again and again, with each call of the table failing at its 1st, 2nd ... use
 * with each error of its manual page, until there is no such use. After each run either all is
 * as it should be, but for what the report says was skipped for just this error; or all is as
 * before, with nothing left in the folder of records, and the fault names the call.
 */
#define _GNU_SOURCE
#include "../support/cmocka_test.h"
#include "fake_host.h"
#include "irqbalance_double.h"

#define IRQ_SQ 301
#define IRQ_CQ 302

typedef enum call {
    CALL_NONE,
    CALL_OPEN,
    CALL_OPENAT,
    CALL_FSTAT,
    CALL_READ,
    CALL_CLOSE,
    CALL_FDOPENDIR,
    CALL_READDIR,
    CALL_CLOSEDIR,
    CALL_MKDIRAT,
    CALL_CREATE,
    CALL_WRITE,
    CALL_FSYNC,
    CALL_RENAME,
    CALL_UNLINKAT,
    CALL_POLL,
    CALL_KILL,
    CALL_GETAFFINITY,
    CALL_SETAFFINITY,
    CALL_SET_MEMPOLICY,
    CALL_PIDFD_OPEN,
    CALL_PIDFD_SEND_SIGNAL,
    CALL_FLOCK,
    CALL_SOCKET,
    CALL_CONNECT,
    CALL_SENDMSG,
    CALL_RECV,
    CALL_GETSOCKOPT,
    CALL_EXEC,
    CALL_MALLOC,
    CALL_REALLOC,
    N_CALLS
} call;

/* The fault of this run: the `nth` use of `which`, and with `forever` all uses from it on. */
static struct {
    call which;
    int nth, error, forever;
    int count[N_CALLS]; /* uses so far */
} fault;

static int hit(call which)
{
    int n = ++fault.count[which];
    if (fault.which != which || !(fault.forever ? n >= fault.nth : n == fault.nth))
        return 0;
    errno = fault.error;
    return 1;
}

/* == The table ============================================================== */

static int t_open(const char *path, int flags)
{
    return hit(CALL_OPEN) ? -1 : open(path, flags);
}

static int t_openat(int dir, const char *path, int flags)
{
    return hit(CALL_OPENAT) ? -1 : stage_openat(dir, path, flags);
}

static int t_fstat(int fd, struct stat *out)
{
    return hit(CALL_FSTAT) ? -1 : fstat(fd, out);
}

static ssize_t t_read(int fd, void *data, size_t cap)
{
    return hit(CALL_READ) ? -1 : read(fd, data, cap);
}

/* As Linux does it: the descriptor is gone although the call fails. */
static int t_close(int fd)
{
    int result = stage_close(fd);
    return hit(CALL_CLOSE) ? -1 : result;
}

static DIR *t_fdopendir(int fd)
{
    return hit(CALL_FDOPENDIR) ? NULL : fdopendir(fd);
}

static struct dirent *t_readdir(DIR *folder)
{
    return hit(CALL_READDIR) ? NULL : readdir(folder);
}

static int t_closedir(DIR *folder)
{
    int result = closedir(folder);
    return hit(CALL_CLOSEDIR) ? -1 : result;
}

static int t_mkdirat(int dir, const char *path, mode_t mode)
{
    return hit(CALL_MKDIRAT) ? -1 : mkdirat(dir, path, mode);
}

static int t_create(int dir, const char *path, mode_t mode)
{
    return hit(CALL_CREATE) ? -1 : cpubind_sys_real.create(dir, path, mode);
}

static ssize_t t_write(int fd, const void *data, size_t len)
{
    return hit(CALL_WRITE) ? -1 : stage_write(fd, data, len);
}

static int t_fsync(int fd)
{
    return hit(CALL_FSYNC) ? -1 : stage_fsync(fd);
}

static int t_rename(int dir, const char *from, const char *to, int flags)
{
    return hit(CALL_RENAME) ? -1 : cpubind_sys_real.rename(dir, from, to, flags);
}

static int t_unlinkat(int dir, const char *path, int flags)
{
    return hit(CALL_UNLINKAT) ? -1 : unlinkat(dir, path, flags);
}

static int t_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    return hit(CALL_POLL) ? -1 : poll(fds, n, timeout_ms);
}

static int t_kill(pid_t pid, int signal)
{
    return hit(CALL_KILL) ? -1 : kill(pid, signal);
}

static int t_getaffinity(pid_t tid, size_t size_bytes, unsigned long *mask)
{
    return hit(CALL_GETAFFINITY) ? -1 : cpubind_sys_real.getaffinity(tid, size_bytes, mask);
}

static int t_setaffinity(pid_t tid, size_t size_bytes, const unsigned long *mask)
{
    return hit(CALL_SETAFFINITY) ? -1 : cpubind_sys_real.setaffinity(tid, size_bytes, mask);
}

static int t_set_mempolicy(int mode, const unsigned long *nodes, unsigned long n_bit)
{
    return hit(CALL_SET_MEMPOLICY) ? -1 : cpubind_sys_real.set_mempolicy(mode, nodes, n_bit);
}

static int t_pidfd_open(pid_t pid, unsigned int flags)
{
    return hit(CALL_PIDFD_OPEN) ? -1 : cpubind_sys_real.pidfd_open(pid, flags);
}

static int t_pidfd_send_signal(int pidfd, int signal)
{
    return hit(CALL_PIDFD_SEND_SIGNAL) ? -1 : cpubind_sys_real.pidfd_send_signal(pidfd, signal);
}

static int t_flock(int fd, int operation)
{
    return hit(CALL_FLOCK) ? -1 : cpubind_sys_real.flock(fd, operation);
}

static int t_socket(int family, int type, int protocol)
{
    return hit(CALL_SOCKET) ? -1 : socket(family, type, protocol);
}

static int t_connect(int fd, const struct sockaddr *address, socklen_t len)
{
    return hit(CALL_CONNECT) ? -1 : connect(fd, address, len);
}

static ssize_t t_sendmsg(int fd, const struct msghdr *message, int flags)
{
    return hit(CALL_SENDMSG) ? -1 : sendmsg(fd, message, flags);
}

static ssize_t t_recv(int fd, void *data, size_t cap, int flags)
{
    return hit(CALL_RECV) ? -1 : recv(fd, data, cap, flags);
}

static int t_getsockopt(int fd, int level, int option, void *value, socklen_t *len)
{
    return hit(CALL_GETSOCKOPT) ? -1 : getsockopt(fd, level, option, value, len);
}

static int t_exec(const char *file, char *const *argv)
{
    (void)file, (void)argv;
    return hit(CALL_EXEC) ? -1 : 0;
}

static void *t_malloc(size_t size_bytes)
{
    return hit(CALL_MALLOC) ? NULL : malloc(size_bytes);
}

static void *t_realloc(void *old, size_t size_bytes)
{
    return hit(CALL_REALLOC) ? NULL : realloc(old, size_bytes);
}

static cpubind_sys make_table(void)
{
    cpubind_sys sys = cpubind_sys_real;
    sys.open = t_open;
    sys.openat = t_openat;
    sys.fstat = t_fstat;
    sys.read = t_read;
    sys.close = t_close;
    sys.fdopendir = t_fdopendir;
    sys.readdir = t_readdir;
    sys.closedir = t_closedir;
    sys.mkdirat = t_mkdirat;
    sys.create = t_create;
    sys.write = t_write;
    sys.fsync = t_fsync;
    sys.rename = t_rename;
    sys.unlinkat = t_unlinkat;
    sys.poll = t_poll;
    sys.kill = t_kill;
    sys.getaffinity = t_getaffinity;
    sys.setaffinity = t_setaffinity;
    sys.set_mempolicy = t_set_mempolicy;
    sys.pidfd_open = t_pidfd_open;
    sys.pidfd_send_signal = t_pidfd_send_signal;
    sys.flock = t_flock;
    sys.socket = t_socket;
    sys.connect = t_connect;
    sys.sendmsg = t_sendmsg;
    sys.recv = t_recv;
    sys.getsockopt = t_getsockopt;
    sys.exec = t_exec;
    sys.malloc = t_malloc;
    sys.realloc = t_realloc;
    return sys;
}

/* == The stage ============================================================== */

#define MAX_SKIPPED 16

static struct {
    cpubind_sys table, stage;
    worker w, polling;
    int32_t uvb; /* the polling thread */
    irqbalance_double daemon;
    cpubind_irqbalance_how how;
    stage_goal first, second;
    char before[STAGE_TEXT], first_done[STAGE_TEXT], second_done[STAGE_TEXT];
    int descriptors;
    cpubind_item skipped[MAX_SKIPPED]; /* of the last report */
    int n_skipped, n_undone_not, n_runs;
    int is_watching, last;
    int n_used; /* of the call that fails, in the last run */
} f;

/* All that a binding may change, a line each, "NUMBER WHAT". */
static void snapshot(char text[STAGE_TEXT])
{
    char list[64];
    size_t at;
    (void)masks_of(f.w.pid, text, STAGE_TEXT);
    at = strlen(text);
    (void)masks_of(f.polling.pid, text + at, STAGE_TEXT - at);
    for (int irq = IRQ_SQ; irq <= IRQ_CQ; irq++) {
        at = strlen(text);
        snprintf(text + at, STAGE_TEXT - at, "%d %s\n", irq,
                 stage_irq_text(irq, list, sizeof list));
    }
    if (f.daemon.pid) {
        char path[64], stat[512] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", (int)f.daemon.pid);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        scratch_need(fd >= 0 && read(fd, stat, sizeof stat - 1) > 0, path);
        close(fd);
        at = strlen(text);
        at += (size_t)snprintf(text + at, STAGE_TEXT - at, "%d %s", (int)f.daemon.pid,
                               strstr(stat, ") T ") ? "stopped" : "runs");
        for (int i = 0; i < f.daemon.shared->n; i++)
            at += (size_t)snprintf(text + at, STAGE_TEXT - at, " %d", f.daemon.shared->irq[i]);
        snprintf(text + at, STAGE_TEXT - at, "\n");
    }
    stage_records(text, STAGE_TEXT);
}

/* The same as soon as it says `expected`: a process that is sent SIGSTOP stops a moment
 * later. */
static int settles_to(const char *expected, char text[STAGE_TEXT])
{
    for (int i = 0; i < 1000; i++) {
        snapshot(text);
        if (strcmp(text, expected) == 0)
            return 1;
        if (!f.daemon.pid || f.how != CPUBIND_IRQBALANCE_STOP)
            break;
        usleep(500);
    }
    return 0;
}

static void no_fault(void)
{
    if (fault.which)
        f.last = (int)fault.which * 1000 + fault.nth;
    memset(&fault, 0, sizeof fault);
}

static cpubind_linux_status open_binding(const cpubind_sys *sys, int is_reading,
                                         cpubind_binding **out, cpubind_linux_fault *why)
{
    const cpubind_bind_options options = {.pid = (int32_t)f.w.pid,
                                          .is_reading = is_reading,
                                          .irqbalance = f.how,
                                          .memory = CPUBIND_MEMORY_NONE,
                                          .memory_limit = -1};
    return cpubind_bind_open(&options, sys, out, why);
}

static void keep_report(const cpubind_binding *b)
{
    const cpubind_report *r = cpubind_bind_report(b);
    f.n_undone_not = r->n_undone_not;
    for (int32_t i = 0; i < r->n; i++) {
        if (r->item[i].result != CPUBIND_ITEM_SKIPPED)
            continue;
        assert_true(f.n_skipped < MAX_SKIPPED);
        f.skipped[f.n_skipped++] = r->item[i];
    }
}

typedef enum step { STEP_APPLY, STEP_AGAIN, STEP_VERIFY, STEP_RESTORE } step;

/* One call, from opening to closing. `goal` is of apply; the others go by the record. */
static cpubind_linux_status take(const cpubind_sys *sys, step what, const stage_goal *goal,
                                 cpubind_linux_fault *why)
{
    cpubind_binding *b = NULL;
    cpubind_linux_status status = open_binding(sys, what == STEP_VERIFY, &b, why);
    f.n_skipped = 0;
    f.n_undone_not = 0;
    if (status != CPUBIND_LINUX_OK) {
        assert_null(b);
        return status;
    }
    if (what == STEP_APPLY)
        status = cpubind_bind_apply(b, &goal->goal, why);
    if (what == STEP_AGAIN)
        status = cpubind_bind_again(b, why);
    if (what == STEP_VERIFY)
        status = cpubind_bind_verify(b, NULL, why);
    if (what == STEP_RESTORE)
        status = cpubind_bind_restore(b, why);
    keep_report(b);
    cpubind_bind_close(b);
    return status;
}

/* Without faults, and to this. */
static void take_to(step what, const stage_goal *goal, const char *expected)
{
    char text[STAGE_TEXT];
    cpubind_linux_fault why = {0, ""};
    no_fault();
    cpubind_linux_status status = take(&f.stage, what, goal, &why);
    if (status != CPUBIND_LINUX_OK)
        print_message("%s: %s, %s\n", cpubind_linux_status_name(status), why.what,
                      strerror(why.error));
    assert_int_equal(status, CPUBIND_LINUX_OK);
    if (!settles_to(expected, text)) {
        print_message("after call %d\n", f.last);
        assert_string_equal(text, expected);
    }
}

static void start_daemon(void)
{
    char name[64];
    scratch_need(double_start(&f.daemon, on_stage.s.dir, DOUBLE_NAMED), "irqbalance");
    stage_list(f.daemon.pid);
    snprintf(name, sizeof name, "run/irqbalance/irqbalance%d.sock", (int)f.daemon.pid);
    scratch_file(&on_stage.s, name, "");
    double_ban(f.daemon.shared, 17); /* by somebody else */
}

static void lay_interrupts(void)
{
    char list[80];
    snprintf(list, sizeof list, "%s\n", on_stage.before);
    stage_irq(IRQ_SQ, list);
    stage_irq(IRQ_CQ, list);
}

/* What a goal makes of the stage, found by applying it without faults; all is put back. */
static void learn(const stage_goal *goal, char text[STAGE_TEXT])
{
    cpubind_linux_fault why;
    char back[STAGE_TEXT];
    assert_int_equal(take(&f.stage, STEP_APPLY, goal, &why), CPUBIND_LINUX_OK);
    usleep(20000);
    snapshot(text);
    assert_string_not_equal(text, f.before);
    assert_int_equal(take(&f.stage, STEP_RESTORE, NULL, &why), CPUBIND_LINUX_OK);
    if (!settles_to(f.before, back))
        assert_string_equal(back, f.before);
}

static int set_up_with(cpubind_irqbalance_how how)
{
    memset(&f, 0, sizeof f);
    no_fault();
    if (!stage_make())
        return 0;
    f.table = make_table();
    f.stage = stage_table();
    f.how = how;
    worker_start(&f.w, "worker");
    (void)worker_thread_add(&f.w, "acl_thread");
    worker_start(&f.polling, "poller");
    f.uvb = worker_thread_add(&f.polling, CPUBIND_UVB_THREAD);
    stage_list(f.w.pid);
    stage_list(f.polling.pid);
    if (how != CPUBIND_IRQBALANCE_LEAVE)
        start_daemon();
    lay_interrupts();
    goal_make(&f.first, on_stage.cpu[0], on_stage.cpu[1]);
    goal_make(&f.second, on_stage.cpu[1], on_stage.cpu[0]);
    goal_add_irq(&f.first, IRQ_SQ, CPUBIND_IRQ_SQ, on_stage.cpu[0]);
    goal_add_irq(&f.first, IRQ_CQ, CPUBIND_IRQ_CQ, on_stage.cpu[1]);
    goal_add_irq(&f.second, IRQ_CQ, CPUBIND_IRQ_SQ, on_stage.cpu[0]);
    f.second.goal.npu = 4;
    f.first.goal.uvb = (cpubind_cpus){&on_stage.cpu[1], 1};
    f.second.goal.uvb = f.first.goal.uvb;
    snapshot(f.before);
    learn(&f.first, f.first_done);
    learn(&f.second, f.second_done);
    f.descriptors = open_descriptors();
    return 1;
}

SETUP(set_up)
{
    return set_up_with(CPUBIND_IRQBALANCE_LEAVE) ? 0 : -1;
}

SETUP(set_up_stop)
{
    return set_up_with(CPUBIND_IRQBALANCE_STOP) ? 0 : -1;
}

SETUP(set_up_ban)
{
    return set_up_with(CPUBIND_IRQBALANCE_BAN) ? 0 : -1;
}

SETUP(tear_down)
{
    worker_end(&f.w);
    worker_end(&f.polling);
    if (f.daemon.pid)
        double_end(&f.daemon);
    stage_remove();
    print_message("%d runs\n", f.n_runs);
    return has_child() ? -1 : 0;
}

/* == What must hold after a run ============================================= */

/* What is said when a test fails: which run it was. */
static void show_run(cpubind_linux_status status, cpubind_linux_fault why)
{
    print_message("call %d, use %d, %s%s: %s, %s, %s\n", (int)fault.which, fault.nth,
                  strerror(fault.error), fault.forever ? " from then on" : "",
                  cpubind_linux_status_name(status), why.what ? why.what : "-",
                  strerror(why.error));
}

static int is_skipped(int32_t id)
{
    for (int i = 0; i < f.n_skipped; i++)
        if (f.skipped[i].id == id && f.skipped[i].what && f.skipped[i].error == fault.error)
            return 1;
    return 0;
}

/* A thread, a process that has ended, an interrupt that is no more: so it is told, and so it is
 * taken. */
static int is_ending(int error)
{
    return error == ESRCH || error == ENOENT || error == ENOTDIR;
}

/* Whether it may be left out without a word: what has ended; polling threads of a process that
 * this user may not look at; while watching, an interrupt until the next look. */
static int is_unseen(int32_t id)
{
    return is_ending(fault.error) || (f.is_watching && (id == IRQ_SQ || id == IRQ_CQ)) ||
           (id == f.uvb && (fault.error == EACCES || fault.error == EPERM));
}

/* Whether each line is that of `done`, or that of `before` where it was skipped. */
static int is_done(const char *text, const char *before, const char *done)
{
    int good = 1;
    while (good && *text) {
        size_t n = strcspn(text, "\n") + 1;
        size_t n_done = strcspn(done, "\n") + 1;
        size_t n_before = strcspn(before, "\n") + 1;
        int32_t id = (int32_t)strtol(text, NULL, 10);
        int is_now = n == n_done && memcmp(text, done, n) == 0;
        int was = n == n_before && memcmp(text, before, n) == 0;
        good = is_now || (was && (is_unseen(id) || is_skipped(id)));
        text += n;
        done += done[0] ? n_done : 0;
        before += before[0] ? n_before : 0;
    }
    return good && !*done;
}

/* The same, as soon as it is so. */
static int comes_to_be_done(const char *before, const char *done, char text[STAGE_TEXT])
{
    for (int i = 0; i < 1000; i++) {
        snapshot(text);
        if (is_done(text, before, done))
            return 1;
        if (!f.daemon.pid || f.how != CPUBIND_IRQBALANCE_STOP)
            break;
        usleep(500);
    }
    return 0;
}

/* The error that was met is the one that is told. One that says that a thread or a process has
 * ended is told as the end of the process, or as its being hidden, since it is there; a folder
 * that is a link or no folder is one that may not be used. */
static int is_told(cpubind_linux_fault why)
{
    if (!why.what || !*why.what)
        return 0;
    if (is_ending(fault.error) && (is_ending(why.error) || why.error == EPERM))
        return 1;
    if (fault.error == ELOOP || fault.error == ENOTDIR)
        return why.error == fault.error ||
               (why.error == EPERM && strcmp(why.what, "folder") == 0);
    return why.error == fault.error;
}

/* The file of a lock that could not be taken or removed: it must stay, as another one may have
 * it by now, and is no hindrance. */
static void drop_lock(cpubind_linux_fault why)
{
    char path[STAGE_PATH], name[32];
    snprintf(name, sizeof name, "/%d.json.lock", (int)f.w.pid);
    stage_record_path(name, path);
    if (fault.which == CALL_UNLINKAT || (why.what && strcmp(why.what, "lock") == 0))
        (void)unlink(path);
}

static void count_run(cpubind_linux_fault why)
{
    f.n_runs++;
    f.n_used = fault.count[fault.which];
    drop_lock(why);
}

/* Plays apply from `from`, which is what the stage says now. Returns 1 when it failed. */
static int play_apply(const stage_goal *goal, const char *from, const char *to)
{
    char text[STAGE_TEXT];
    cpubind_linux_fault why = {0, NULL};
    memset(fault.count, 0, sizeof fault.count);
    cpubind_linux_status status = take(&f.table, STEP_APPLY, goal, &why);
    int good;
    count_run(why);
    if (status == CPUBIND_LINUX_OK) {
        good = comes_to_be_done(from, to, text);
    } else {
        good = settles_to(from, text) && is_told(why) && f.n_undone_not == 0 &&
               status != CPUBIND_LINUX_ERR_UNDONE;
    }
    good = good && open_descriptors() == f.descriptors;
    if (!good) {
        show_run(status, why);
        print_message("from\n%sto\n%sis\n%s", from, to, text);
    }
    assert_true(good);
    return status != CPUBIND_LINUX_OK;
}

/* == Scenarios: one run; returns 1 when the call failed ===================== */

typedef int scenario(void);

/* Makes the stage what it was at first, whatever has become of it. */
static void lay(void)
{
    char text[STAGE_TEXT], path[STAGE_PATH], name[32];
    cpu_set_t both;
    CPU_ZERO(&both);
    CPU_SET((size_t)on_stage.cpu[0], &both);
    CPU_SET((size_t)on_stage.cpu[1], &both);
    (void)masks_of(f.w.pid, text, sizeof text / 2);
    (void)masks_of(f.polling.pid, text + strlen(text), sizeof text / 2);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        (void)sched_setaffinity((pid_t)strtol(line, NULL, 10), sizeof both, &both);
    lay_interrupts();
    if (f.daemon.pid)
        kill(f.daemon.pid, SIGCONT);
    snprintf(name, sizeof name, "/%d.json", (int)f.w.pid);
    stage_record_path(name, path);
    (void)unlink(path);
}

static int apply_first(void)
{
    int has_failed = play_apply(&f.first, f.before, f.first_done);
    if (!has_failed)
        take_to(STEP_RESTORE, NULL, f.before);
    return has_failed;
}

/* In a folder of records that is not there yet. */
static int apply_at_all(void)
{
    char path[STAGE_PATH];
    stage_record_path("", path);
    scratch_need(rmdir(path) == 0 || errno == ENOENT, path);
    return apply_first();
}

/* Another goal, that of another NPU. */
static int apply_second(void)
{
    int has_failed = play_apply(&f.second, f.first_done, f.second_done);
    if (!has_failed)
        take_to(STEP_APPLY, &f.first, f.first_done);
    return has_failed;
}

/* A call that undoes nothing and may be made again: then all is as it should be. */
static int play(step what, const char *from, const char *to, cpubind_linux_status *status)
{
    char text[STAGE_TEXT];
    cpubind_linux_fault why = {0, NULL};
    memset(fault.count, 0, sizeof fault.count);
    *status = take(&f.table, what, NULL, &why);
    count_run(why);
    int good = *status != CPUBIND_LINUX_OK
                   ? is_told(why)
                   : is_ending(fault.error) || comes_to_be_done(from, to, text);
    good = good && open_descriptors() == f.descriptors;
    if (!good) {
        show_run(*status, why);
        snapshot(text);
        print_message("from\n%sto\n%sis\n%s", from, to, text);
    }
    assert_true(good);
    return *status != CPUBIND_LINUX_OK;
}

static int again(void)
{
    char from[STAGE_TEXT], list[16];
    cpubind_linux_status status;
    put_on((int32_t)f.w.pid, on_stage.cpu[1]);
    snprintf(list, sizeof list, "%d\n", (int)on_stage.cpu[1]);
    stage_irq(IRQ_SQ, list);
    snapshot(from);
    f.is_watching = 1;
    int has_failed = play(STEP_AGAIN, from, f.first_done, &status);
    f.is_watching = 0;
    take_to(STEP_AGAIN, NULL, f.first_done);
    return has_failed;
}

static int verify(void)
{
    cpubind_linux_status status;
    int has_failed = play(STEP_VERIFY, f.first_done, f.first_done, &status);
    char text[STAGE_TEXT];
    assert_true(settles_to(f.first_done, text));
    return has_failed;
}

static int restore(void)
{
    cpubind_linux_status status;
    int has_failed = play(STEP_RESTORE, f.first_done, f.before, &status);
    if (has_failed)
        take_to(STEP_RESTORE, NULL, f.before);
    else
        lay(); /* a thread that was said to have ended is where it was */
    take_to(STEP_APPLY, &f.first, f.first_done);
    return has_failed;
}

/* == Each call, at each use ================================================= */

typedef enum outcome { MAY_FAIL, MUST_FAIL, IS_HARMLESS } outcome;

static void set_fault(call which, int nth, int error, int forever)
{
    fault.which = which;
    fault.nth = nth;
    fault.error = error;
    fault.forever = forever;
}

/* Lets `which` fail at each of its uses. */
static void fail_each_use(scenario *run, outcome expected, call which, int error)
{
    int failed = 0;
    for (int nth = 1; nth <= 1000; nth++) {
        set_fault(which, nth, error, 0);
        int has_failed = run();
        if (f.n_used < nth) {
            assert_true(nth > 1); /* the scenario does make this call */
            if (expected == MUST_FAIL)
                assert_int_equal(failed, nth - 1);
            if (expected == IS_HARMLESS)
                assert_int_equal(failed, 0);
            return;
        }
        failed += has_failed;
    }
    fail_msg("the scenario does not end");
}

static void fail_with_each(scenario *run, outcome expected, call which, const int *errors,
                           size_t n)
{
    for (size_t i = 0; i < n; i++)
        fail_each_use(run, expected, which, errors[i]);
}

#define FAIL(run, expected, which, ...)                                                        \
    fail_with_each(run, expected, which, (const int[]){__VA_ARGS__},                           \
                   sizeof(const int[]){__VA_ARGS__} / sizeof(int))

/* What the manual pages list, but for EINTR, which is a case of its own. */
#define OF_OPEN                                                                                \
    EACCES, EBADF, EBUSY, EDQUOT, EFAULT, EFBIG, EINVAL, EISDIR, ELOOP, EMFILE, ENAMETOOLONG,  \
        ENFILE, ENODEV, ENOMEM, ENOSPC, ENOTDIR, ENXIO, EOPNOTSUPP, EOVERFLOW, EPERM, EROFS,   \
        ETXTBSY, EWOULDBLOCK
#define OF_FSTAT   EACCES, EBADF, EFAULT, ELOOP, ENAMETOOLONG, ENOMEM, ENOTDIR, EOVERFLOW
#define OF_READ    EAGAIN, EBADF, EFAULT, EINVAL, EIO, EISDIR
#define OF_CLOSE   EBADF, EINTR, EIO, ENOSPC, EDQUOT
#define OF_LISTING EACCES, EBADF, EMFILE, ENFILE, ENOMEM, ENOTDIR
#define OF_MKDIR                                                                               \
    EACCES, EBADF, EDQUOT, EFAULT, EINVAL, ELOOP, EMLINK, ENAMETOOLONG, ENOMEM, ENOSPC,        \
        ENOTDIR, EPERM, EROFS
#define OF_WRITE                                                                               \
    EAGAIN, EBADF, EDESTADDRREQ, EDQUOT, EFAULT, EFBIG, EINVAL, EIO, ENOSPC, EPERM, EPIPE
#define OF_FSYNC EBADF, EIO, ENOSPC, EROFS, EDQUOT
#define OF_RENAME                                                                              \
    EACCES, EBADF, EBUSY, EDQUOT, EFAULT, EINVAL, EISDIR, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, \
        ENOMEM, ENOSPC, ENOTDIR, EEXIST, ENOTEMPTY, EPERM, EROFS, EXDEV
#define OF_UNLINK                                                                              \
    EACCES, EBADF, EBUSY, EFAULT, EINVAL, EIO, EISDIR, ELOOP, ENAMETOOLONG, ENOMEM, ENOTDIR,   \
        EPERM, EROFS
#define OF_AFFINITY EFAULT, EINVAL, EPERM
#define OF_FLOCK    EBADF, EINVAL, ENOLCK

TEST(apply_does_all_or_nothing_when_files_fail)
{
    FAIL(apply_first, MAY_FAIL, CALL_OPENAT, OF_OPEN);
    FAIL(apply_first, MUST_FAIL, CALL_OPEN, OF_OPEN);
    FAIL(apply_first, MAY_FAIL, CALL_FSTAT, OF_FSTAT);
    FAIL(apply_first, MAY_FAIL, CALL_READ, OF_READ);
    FAIL(apply_first, MAY_FAIL, CALL_CLOSE, OF_CLOSE);
    FAIL(apply_first, MAY_FAIL, CALL_FDOPENDIR, OF_LISTING);
    FAIL(apply_first, MAY_FAIL, CALL_READDIR, EBADF);
    FAIL(apply_first, IS_HARMLESS, CALL_CLOSEDIR, EBADF);
}

TEST(apply_does_all_or_nothing_when_writing_fails)
{
    FAIL(apply_at_all, MUST_FAIL, CALL_MKDIRAT, OF_MKDIR);
    FAIL(apply_first, MUST_FAIL, CALL_CREATE, OF_OPEN);
    FAIL(apply_first, MAY_FAIL, CALL_WRITE, OF_WRITE);
    FAIL(apply_first, MUST_FAIL, CALL_FSYNC, OF_FSYNC);
    FAIL(apply_first, MUST_FAIL, CALL_RENAME, OF_RENAME);
    FAIL(apply_first, IS_HARMLESS, CALL_UNLINKAT, OF_UNLINK);
    FAIL(apply_first, MUST_FAIL, CALL_FLOCK, OF_FLOCK);
}

TEST(apply_does_all_or_nothing_when_threads_cannot_be_moved)
{
    FAIL(apply_first, MUST_FAIL, CALL_GETAFFINITY, OF_AFFINITY, ENOSYS);
    FAIL(apply_first, MAY_FAIL, CALL_SETAFFINITY, OF_AFFINITY, ENOMEM, ENOSYS);
}

TEST(apply_does_all_or_nothing_without_memory)
{
    FAIL(apply_first, MUST_FAIL, CALL_MALLOC, ENOMEM);
    FAIL(apply_first, MAY_FAIL, CALL_REALLOC, ENOMEM);
}

TEST(a_thread_that_ends_is_no_error)
{
    FAIL(apply_first, MAY_FAIL, CALL_GETAFFINITY, ESRCH);
    FAIL(apply_first, IS_HARMLESS, CALL_SETAFFINITY, ESRCH);
    FAIL(apply_first, MAY_FAIL, CALL_READ, ESRCH);
    FAIL(apply_first, MAY_FAIL, CALL_OPENAT, ESRCH, ENOENT);
}

TEST(an_interrupted_call_is_made_again)
{
    static const call calls[] = {CALL_OPEN,  CALL_OPENAT,  CALL_READ,  CALL_CREATE,
                                 CALL_WRITE, CALL_READDIR, CALL_FSYNC, CALL_FLOCK};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        fail_each_use(apply_first, IS_HARMLESS, calls[i], EINTR);
}

/* == With a record ========================================================== */

TEST(another_goal_does_all_or_nothing)
{
    take_to(STEP_APPLY, &f.first, f.first_done);
    FAIL(apply_second, MAY_FAIL, CALL_OPENAT, EACCES, EMFILE, EPERM, EIO);
    FAIL(apply_second, MAY_FAIL, CALL_FSTAT, EACCES, ENOMEM);
    FAIL(apply_second, MAY_FAIL, CALL_READ, EIO, EINVAL);
    FAIL(apply_second, MAY_FAIL, CALL_CLOSE, EIO);
    FAIL(apply_second, MAY_FAIL, CALL_CREATE, EACCES, ENOSPC);
    FAIL(apply_second, MAY_FAIL, CALL_WRITE, ENOSPC, EIO, EINVAL);
    FAIL(apply_second, MAY_FAIL, CALL_FSYNC, EIO);
    FAIL(apply_second, MAY_FAIL, CALL_RENAME, ENOSPC);
    FAIL(apply_second, MUST_FAIL, CALL_GETAFFINITY, EINVAL, EPERM);
    FAIL(apply_second, MAY_FAIL, CALL_SETAFFINITY, OF_AFFINITY);
    FAIL(apply_second, MAY_FAIL, CALL_MALLOC, ENOMEM);
    FAIL(apply_second, MAY_FAIL, CALL_REALLOC, ENOMEM);
    take_to(STEP_RESTORE, NULL, f.before);
}

TEST(looking_again_goes_on_after_a_fault)
{
    take_to(STEP_APPLY, &f.first, f.first_done);
    FAIL(again, MAY_FAIL, CALL_OPENAT, EACCES, EMFILE, EPERM, ESRCH);
    FAIL(again, MUST_FAIL, CALL_OPEN, EMFILE);
    FAIL(again, MAY_FAIL, CALL_FSTAT, ENOMEM);
    FAIL(again, MAY_FAIL, CALL_READ, EIO, ESRCH);
    FAIL(again, MAY_FAIL, CALL_CLOSE, EIO);
    FAIL(again, MUST_FAIL, CALL_FDOPENDIR, ENOMEM);
    FAIL(again, MUST_FAIL, CALL_READDIR, EBADF);
    FAIL(again, MAY_FAIL, CALL_WRITE, EIO, EPERM);
    FAIL(again, MAY_FAIL, CALL_GETAFFINITY, OF_AFFINITY, ESRCH);
    FAIL(again, MAY_FAIL, CALL_SETAFFINITY, OF_AFFINITY, ESRCH);
    FAIL(again, MAY_FAIL, CALL_MALLOC, ENOMEM);
    FAIL(again, MAY_FAIL, CALL_REALLOC, ENOMEM);
    take_to(STEP_RESTORE, NULL, f.before);
}

TEST(verify_changes_nothing_whatever_fails)
{
    take_to(STEP_APPLY, &f.first, f.first_done);
    FAIL(verify, MAY_FAIL, CALL_OPENAT, OF_OPEN, ENOENT, ESRCH);
    FAIL(verify, MUST_FAIL, CALL_OPEN, OF_OPEN);
    FAIL(verify, MAY_FAIL, CALL_FSTAT, OF_FSTAT);
    FAIL(verify, MAY_FAIL, CALL_READ, OF_READ, ESRCH);
    FAIL(verify, IS_HARMLESS, CALL_CLOSE, OF_CLOSE);
    FAIL(verify, MUST_FAIL, CALL_FDOPENDIR, OF_LISTING);
    FAIL(verify, MUST_FAIL, CALL_READDIR, EBADF);
    FAIL(verify, IS_HARMLESS, CALL_CLOSEDIR, EBADF);
    FAIL(verify, MUST_FAIL, CALL_GETAFFINITY, OF_AFFINITY);
    FAIL(verify, IS_HARMLESS, CALL_GETAFFINITY, ESRCH);
    FAIL(verify, MAY_FAIL, CALL_MALLOC, ENOMEM);
    FAIL(verify, MAY_FAIL, CALL_REALLOC, ENOMEM);
    take_to(STEP_RESTORE, NULL, f.before);
}

TEST(restore_goes_on_after_a_fault)
{
    take_to(STEP_APPLY, &f.first, f.first_done);
    FAIL(restore, MAY_FAIL, CALL_OPENAT, EACCES, ELOOP, EMFILE, ENOMEM, ENOTDIR, EPERM, EROFS,
         EWOULDBLOCK, ESRCH, ENOENT);
    FAIL(restore, MUST_FAIL, CALL_OPEN, EACCES, EMFILE, ENOMEM);
    FAIL(restore, MUST_FAIL, CALL_FSTAT, OF_FSTAT);
    FAIL(restore, MAY_FAIL, CALL_READ, OF_READ, ESRCH);
    FAIL(restore, IS_HARMLESS, CALL_CLOSE, OF_CLOSE);
    FAIL(restore, MAY_FAIL, CALL_FDOPENDIR, OF_LISTING);
    FAIL(restore, MAY_FAIL, CALL_READDIR, EBADF);
    FAIL(restore, MUST_FAIL, CALL_CREATE, EACCES, EMFILE, ENOSPC, EROFS);
    FAIL(restore, MUST_FAIL, CALL_WRITE, OF_WRITE);
    FAIL(restore, MAY_FAIL, CALL_UNLINKAT, OF_UNLINK);
    FAIL(restore, MUST_FAIL, CALL_FLOCK, OF_FLOCK);
    FAIL(restore, MUST_FAIL, CALL_GETAFFINITY, OF_AFFINITY);
    FAIL(restore, MUST_FAIL, CALL_SETAFFINITY, OF_AFFINITY);
    FAIL(restore, MAY_FAIL, CALL_SETAFFINITY, ESRCH);
    FAIL(restore, MUST_FAIL, CALL_MALLOC, ENOMEM);
    FAIL(restore, MAY_FAIL, CALL_REALLOC, ENOMEM);
    take_to(STEP_RESTORE, NULL, f.before);
}

/* == irqbalance ============================================================= */

TEST(stopping_irqbalance_is_part_of_all_or_nothing)
{
    FAIL(apply_first, MAY_FAIL, CALL_PIDFD_OPEN, EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM, ESRCH,
         EPERM, ENOSYS);
    FAIL(apply_first, MAY_FAIL, CALL_PIDFD_SEND_SIGNAL, EBADF, EINVAL, EPERM, ESRCH, ENOSYS);
    FAIL(apply_first, MAY_FAIL, CALL_OPENAT, EMFILE, EACCES, ENOENT);
    FAIL(apply_first, MAY_FAIL, CALL_READ, EIO);
    FAIL(apply_first, MAY_FAIL, CALL_WRITE, ENOSPC, EINVAL);
    FAIL(apply_first, MAY_FAIL, CALL_RENAME, ENOSPC);
    FAIL(apply_first, MAY_FAIL, CALL_SETAFFINITY, EINVAL);
    FAIL(apply_first, MAY_FAIL, CALL_MALLOC, ENOMEM);
    FAIL(apply_first, MAY_FAIL, CALL_REALLOC, ENOMEM);
}

TEST(an_irqbalance_that_was_stopped_goes_on)
{
    take_to(STEP_APPLY, &f.first, f.first_done);
    FAIL(restore, MAY_FAIL, CALL_PIDFD_OPEN, EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM, EPERM,
         ENOSYS);
    FAIL(restore, MAY_FAIL, CALL_PIDFD_SEND_SIGNAL, EBADF, EINVAL, EPERM, ENOSYS);
    FAIL(apply_second, MAY_FAIL, CALL_SETAFFINITY, EINVAL);
    FAIL(apply_second, MAY_FAIL, CALL_WRITE, ENOSPC, EINVAL);
    take_to(STEP_RESTORE, NULL, f.before);
}

#define OF_TALK EACCES, EBADF, EFAULT, EINVAL, ENOMEM, ENOTSOCK
TEST(a_ban_is_part_of_all_or_nothing)
{
    FAIL(apply_first, MAY_FAIL, CALL_SOCKET, EACCES, EAFNOSUPPORT, EINVAL, EMFILE, ENFILE,
         ENOBUFS, ENOMEM, EPROTONOSUPPORT);
    FAIL(apply_first, MAY_FAIL, CALL_CONNECT, OF_TALK, EPERM, EADDRINUSE, EADDRNOTAVAIL,
         EAFNOSUPPORT, EALREADY, EINPROGRESS, EISCONN, ENETUNREACH, EPROTOTYPE, ETIMEDOUT);
    FAIL(apply_first, MAY_FAIL, CALL_GETSOCKOPT, EBADF, EFAULT, EINVAL, ENOPROTOOPT, ENOTSOCK);
    FAIL(apply_first, MAY_FAIL, CALL_SENDMSG, OF_TALK, EALREADY, ECONNRESET, EDESTADDRREQ,
         EISCONN, EMSGSIZE, ENOBUFS, ENOTCONN, EOPNOTSUPP, EPIPE);
    FAIL(apply_first, MAY_FAIL, CALL_FLOCK, OF_FLOCK);
    FAIL(apply_first, MAY_FAIL, CALL_SETAFFINITY, EINVAL);
    FAIL(apply_first, MAY_FAIL, CALL_WRITE, ENOSPC, EINVAL);
    FAIL(apply_first, MAY_FAIL, CALL_MALLOC, ENOMEM);
    FAIL(apply_first, MAY_FAIL, CALL_REALLOC, ENOMEM);
    FAIL(apply_first, IS_HARMLESS, CALL_CONNECT, EINTR, EAGAIN);
    FAIL(apply_first, IS_HARMLESS, CALL_SENDMSG, EINTR, EAGAIN);
    FAIL(apply_first, IS_HARMLESS, CALL_RECV, EINTR, EAGAIN);
}

/* == What does not get better =============================================== */

/* Undoing meets the fault, too. Then it is told, and what is on record is enough to put all
 * back once the fault is over. */
static int apply_until_it_is_over(void)
{
    char text[STAGE_TEXT];
    cpubind_linux_fault why = {0, NULL};
    memset(fault.count, 0, sizeof fault.count);
    cpubind_linux_status status = take(&f.table, STEP_APPLY, &f.first, &why);
    count_run(why);
    int good = status == CPUBIND_LINUX_OK ? comes_to_be_done(f.before, f.first_done, text)
                                          : is_told(why);
    good = good && (status == CPUBIND_LINUX_ERR_UNDONE) == (f.n_undone_not > 0);
    if (status != CPUBIND_LINUX_OK && status != CPUBIND_LINUX_ERR_UNDONE && good)
        good = fault.which == CALL_UNLINKAT || settles_to(f.before, text);
    if (!good)
        show_run(status, why);
    assert_true(good);
    take_to(STEP_RESTORE, NULL, f.before);
    return status != CPUBIND_LINUX_OK;
}

TEST(a_fault_that_stays_leaves_a_record_to_restore)
{
    static const struct {
        call which;
        int error;
    } cases[] = {
        {CALL_OPENAT, EMFILE},      {CALL_READ, EIO},          {CALL_WRITE, ENOSPC},
        {CALL_WRITE, EPERM},        {CALL_RENAME, EIO},        {CALL_SETAFFINITY, EPERM},
        {CALL_SETAFFINITY, EINVAL}, {CALL_GETAFFINITY, EPERM}, {CALL_MALLOC, ENOMEM},
        {CALL_REALLOC, ENOMEM},     {CALL_FDOPENDIR, ENOMEM}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int nth = 1; nth <= 1000; nth++) {
            set_fault(cases[i].which, nth, cases[i].error, 1);
            (void)apply_until_it_is_over();
            if (f.n_used < nth)
                break;
        }
    }
}

/* == Calls of the process itself ============================================ */

/* In a child: it binds itself. */
static int prefers_with(int error)
{
    cpubind_linux_fault why = {0, NULL};
    cpubind_binding *b = NULL;
    const cpubind_bind_options options = {
        .pid = (int32_t)getpid(), .memory = CPUBIND_MEMORY_PREFER, .memory_limit = -1};
    stage_goal goal;
    goal_make(&goal, on_stage.cpu[0], on_stage.cpu[1]);
    goal.goal.memory_node = 0;
    set_fault(CALL_SET_MEMPOLICY, 1, error, 0);
    if (cpubind_bind_open(&options, &f.table, &b, &why) != CPUBIND_LINUX_OK)
        return 1;
    if (cpubind_bind_apply(b, &goal.goal, &why) != CPUBIND_LINUX_OK)
        return 2;
    if (cpubind_bind_report(b)->prefer_error != error || fault.count[CALL_SET_MEMPOLICY] != 1)
        return 3;
    if (cpubind_bind_restore(b, &why) != CPUBIND_LINUX_OK)
        return 4;
    cpubind_bind_close(b);
    return 0;
}

TEST(memory_that_cannot_be_preferred_is_named)
{
    static const int errors[] = {EFAULT, EINVAL, ENOMEM, EPERM, ENOSYS};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        int status = -1;
        pid_t pid = fork();
        scratch_need(pid >= 0, "fork");
        if (pid == 0)
            _exit(prefers_with(errors[i]));
        scratch_need(waitpid(pid, &status, 0) == pid, "waitpid");
        assert_int_equal(status, 0);
    }
}

TEST(a_command_that_cannot_be_executed_is_told)
{
    static const int errors[] = {E2BIG,  EACCES,  EAGAIN, EFAULT,  EINVAL,       EIO,
                                 EISDIR, ELIBBAD, ELOOP,  EMFILE,  ENAMETOOLONG, ENFILE,
                                 ENOENT, ENOEXEC, ENOMEM, ENOTDIR, EPERM,        ETXTBSY};
    char name[] = "command";
    char *argv[] = {name, NULL};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        no_fault();
        set_fault(CALL_EXEC, 1, errors[i], 0);
        assert_int_equal(cpubind_bind_exec(argv, &f.table), errors[i]);
    }
}

static int wait_for_end(void)
{
    cpubind_binding *b = NULL;
    cpubind_linux_fault why;
    call which = fault.which;
    fault.which = CALL_NONE;
    assert_int_equal(open_binding(&f.table, 1, &b, &why), CPUBIND_LINUX_OK);
    fault.which = which;
    memset(fault.count, 0, sizeof fault.count);
    int has_ended = cpubind_bind_wait(b, 1);
    count_run((cpubind_linux_fault){0, NULL});
    cpubind_bind_close(b);
    assert_int_equal(has_ended, 0);
    return has_ended;
}

TEST(a_wait_that_fails_is_no_end)
{
    FAIL(wait_for_end, IS_HARMLESS, CALL_PIDFD_OPEN, EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM,
         ENOSYS, EPERM, ESRCH);
    FAIL(wait_for_end, IS_HARMLESS, CALL_POLL, EFAULT, EINTR, EINVAL, ENOMEM);
    FAIL(wait_for_end, IS_HARMLESS, CALL_READ, EIO, EAGAIN);
    FAIL(wait_for_end, IS_HARMLESS, CALL_CLOSE, OF_CLOSE);
}

#define EACH(test)      cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define EACH_STOP(test) cmocka_unit_test_setup_teardown(test, set_up_stop, tear_down)
#define EACH_BAN(test)  cmocka_unit_test_setup_teardown(test, set_up_ban, tear_down)

int main(void)
{
    int32_t cpu[2];
    const struct CMUnitTest tests[] = {
        EACH(apply_does_all_or_nothing_when_files_fail),
        EACH(apply_does_all_or_nothing_when_writing_fails),
        EACH(apply_does_all_or_nothing_when_threads_cannot_be_moved),
        EACH(apply_does_all_or_nothing_without_memory),
        EACH(a_thread_that_ends_is_no_error),
        EACH(an_interrupted_call_is_made_again),
        EACH(another_goal_does_all_or_nothing),
        EACH(looking_again_goes_on_after_a_fault),
        EACH(verify_changes_nothing_whatever_fails),
        EACH(restore_goes_on_after_a_fault),
        EACH_STOP(stopping_irqbalance_is_part_of_all_or_nothing),
        EACH_STOP(an_irqbalance_that_was_stopped_goes_on),
        EACH_BAN(a_ban_is_part_of_all_or_nothing),
        EACH(a_fault_that_stays_leaves_a_record_to_restore),
        EACH(memory_that_cannot_be_preferred_is_named),
        EACH(a_command_that_cannot_be_executed_is_told),
        EACH(a_wait_that_fails_is_no_end),
    };
    if (!two_cpus(cpu)) {
        print_message("skipped: with one CPU there is nothing to move\n");
        return 0;
    }
    return cmocka_run_group_tests_name("bind faults", tests, NULL, NULL);
}
