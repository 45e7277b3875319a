/* test_bind_faults.c - every system call of a binding fails, at each of its uses
 * SPDX-License-Identifier: MIT
 *
 * A process, the polling thread of another process, interrupts and an irqbalance are bound,
 * verified and restored again and again, with the 1st, 2nd, ... use of each call failing
 * with each error of its manual page, until a run has fewer uses. After each run either the
 * goal is reached, except for threads and interrupts that the report skips with this error, or
 * names as placed in part; or all is as before, no record is left, and the fault names the
 * failing call. The test must not change processes or interrupts of the machine: it runs on a
 * fake host.
 */
#define _GNU_SOURCE
#include "../../adapters/ascend/thread_roles.h"
#include "../../adapters/text/cpumask.h"
#include "../support/test.h"
#include "fake_host.h"
#include "fault_table.h"
#include "irqbalance_double.h"
#include "two_cpus.h"

#define IRQ_SQ 301
#define IRQ_CQ 302

#define THREAD "dev4_sq_task"
#define QUEUE  "dev4_sq_send_wq"

/* Nothing is executed. */
static int no_exec(const char *file, char *const *argv)
{
    (void)file, (void)argv;
    return 0;
}

/* == The fake host ========================================================= */

#define MAX_SKIPPED 16

/* How often a host that changes by itself is looked at, each half a millisecond: a process
 * stops a moment after a SIGSTOP. */
#define MAX_LOOKS 20000

static struct {
    cpubind_sys calls; /* of the fake host */
    worker w, polling, kernel;
    cpubind_driver_goal driver[2];
    char mask[40]; /* of the work queue, before */
    int32_t uvb;   /* the polling thread */
    irqbalance_double daemon;
    cpubind_irqbalance_action how;
    stage_goal first, second;
    char before[STAGE_TEXT], first_done[STAGE_TEXT], second_done[STAGE_TEXT];
    int descriptors;
    cpubind_item skipped[MAX_SKIPPED]; /* of the last report */
    int n_skipped, n_not_restored, n_runs;
    call last; /* the call that failed in the last run with a fault */
    int n_met; /* uses that failed in the last run */
} f;

/* Writes a line for each thing that a binding may change: "NUMBER VALUE". */
static void snapshot(char text[STAGE_TEXT])
{
    char list[64];
    size_t at;
    (void)masks_of(f.w.pid, text, STAGE_TEXT);
    at = strlen(text);
    (void)masks_of(f.polling.pid, text + at, STAGE_TEXT - at);
    at = strlen(text);
    (void)masks_of(f.kernel.pid, text + at, STAGE_TEXT - at);
    at = strlen(text);
    snprintf(text + at, STAGE_TEXT - at, "0 %s\n",
             stage_workqueue_text(QUEUE, list, sizeof list));
    stage_irqs(text, STAGE_TEXT, IRQ_SQ, IRQ_CQ);
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

/* Waits until the snapshot is `expected`. Returns 0 if it does not become so. */
static int becomes(const char *expected, char text[STAGE_TEXT])
{
    for (int i = 0; i < MAX_LOOKS; i++) {
        snapshot(text);
        if (strcmp(text, expected) == 0)
            return 1;
        if (!f.daemon.pid || f.how != CPUBIND_IRQBALANCE_STOP)
            break;
        usleep(500);
    }
    return 0;
}

static cpubind_linux_status open_binding(const cpubind_sys *sys, int is_reading,
                                         cpubind_binding **out, cpubind_linux_fault *why)
{
    const cpubind_bind_options options = {.pid = (int32_t)f.w.pid,
                                          .is_reading = is_reading,
                                          .irqbalance = f.how,
                                          .memory = CPUBIND_MEMORY_NONE};
    return cpubind_bind_open(&options, sys, out, why);
}

static void keep_report(const cpubind_binding *b)
{
    const cpubind_report *r = cpubind_bind_report(b);
    f.n_not_restored = r->n_not_restored;
    for (int32_t i = 0; i < r->n; i++) {
        if (r->item[i].result != CPUBIND_ITEM_SKIPPED && r->item[i].result != CPUBIND_ITEM_PART)
            continue;
        assert_true(f.n_skipped < MAX_SKIPPED);
        f.skipped[f.n_skipped++] = r->item[i];
    }
}

typedef enum step { STEP_APPLY, STEP_VERIFY, STEP_RESTORE } step;

/* Opens the binding, does one step and closes it. Only apply needs `goal`. */
static cpubind_linux_status do_step(const cpubind_sys *sys, step what, const stage_goal *goal,
                                    cpubind_linux_fault *why)
{
    cpubind_binding *b = NULL;
    cpubind_linux_status status = open_binding(sys, what == STEP_VERIFY, &b, why);
    f.n_skipped = 0;
    f.n_not_restored = 0;
    if (status != CPUBIND_LINUX_OK) {
        assert_null(b);
        return status;
    }
    if (what == STEP_APPLY)
        status = cpubind_bind_apply(b, &goal->goal, why);
    if (what == STEP_VERIFY)
        status = cpubind_bind_verify(b, NULL, why);
    if (what == STEP_RESTORE)
        status = cpubind_bind_restore(b, why);
    keep_report(b);
    cpubind_bind_close(b);
    return status;
}

/* Does a step without faults, after which the host must be as `expected`. */
static void do_step_to(step what, const stage_goal *goal, const char *expected)
{
    char text[STAGE_TEXT];
    cpubind_linux_fault why = {.what = ""};
    if (fault.which)
        f.last = fault.which;
    fault_clear();
    cpubind_linux_status status = do_step(&f.calls, what, goal, &why);
    if (status != CPUBIND_LINUX_OK)
        print_message("%s: %s, %s\n", cpubind_linux_status_name(status), why.what,
                      strerror(why.error));
    assert_int_equal(status, CPUBIND_LINUX_OK);
    if (!becomes(expected, text)) {
        print_message("after %s\n", call_name[f.last]);
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
    double_ban(f.daemon.shared, 17); /* by another program */
}

static void make_interrupts(void)
{
    char list[80];
    snprintf(list, sizeof list, "%s\n", on_stage.before);
    stage_irq(IRQ_SQ, list);
    stage_irq(IRQ_CQ, list);
}

/* A kernel thread and a work queue of the driver, on both CPUs. */
static void make_driver(stage_goal *goal)
{
    int32_t len = 0;
    worker_start(&f.kernel, THREAD);
    stage_kernel_thread(f.kernel.pid, THREAD, 1);
    scratch_need(cpubind_cpumask_format(on_stage.cpu, 2, on_stage.cpu[1] + 1, f.mask, 32,
                                        &len) == CPUBIND_TEXT_OK,
                 "mask");
    snprintf(f.mask + len, sizeof f.mask - (size_t)len, "\n");
    stage_workqueue(QUEUE, f.mask);
    f.driver[0] = (cpubind_driver_goal){CPUBIND_NAMED_KERNEL, THREAD, {&on_stage.cpu[1], 1}};
    f.driver[1] = (cpubind_driver_goal){CPUBIND_NAMED_QUEUE, QUEUE, {&on_stage.cpu[1], 1}};
    goal->goal.driver = f.driver;
    goal->goal.n_driver = 2;
}

/* Applies a goal without faults, takes the snapshot of the host, and restores all. */
static void learn_result(const stage_goal *goal, char text[STAGE_TEXT])
{
    cpubind_linux_fault why;
    char back[STAGE_TEXT];
    assert_int_equal(do_step(&f.calls, STEP_APPLY, goal, &why), CPUBIND_LINUX_OK);
    usleep(20000);
    snapshot(text);
    assert_string_not_equal(text, f.before);
    assert_int_equal(do_step(&f.calls, STEP_RESTORE, NULL, &why), CPUBIND_LINUX_OK);
    if (!becomes(f.before, back))
        assert_string_equal(back, f.before);
}

static int set_up_with(cpubind_irqbalance_action how)
{
    memset(&f, 0, sizeof f);
    fault_clear();
    if (!stage_make())
        return 0;
    f.calls = stage_table();
    f.calls.exec = no_exec;
    fault_next = &f.calls;
    f.how = how;
    worker_start(&f.w, "worker");
    (void)worker_thread_add(&f.w, "acl_thread");
    worker_start(&f.polling, "poller");
    f.uvb = worker_thread_add(&f.polling, CPUBIND_UVB_THREAD);
    stage_list(f.w.pid);
    stage_list(f.polling.pid);
    if (how != CPUBIND_IRQBALANCE_LEAVE)
        start_daemon();
    make_interrupts();
    goal_make(&f.first, on_stage.cpu[0], on_stage.cpu[1]);
    goal_make(&f.second, on_stage.cpu[1], on_stage.cpu[0]);
    goal_add_irq(&f.first, IRQ_SQ, CPUBIND_IRQ_SQ, on_stage.cpu[0]);
    goal_add_irq(&f.first, IRQ_CQ, CPUBIND_IRQ_CQ, on_stage.cpu[1]);
    goal_add_irq(&f.second, IRQ_CQ, CPUBIND_IRQ_SQ, on_stage.cpu[0]);
    f.second.goal.device = 4;
    make_driver(&f.first);
    f.second.goal.driver = f.driver;
    f.second.goal.n_driver = 2;
    f.first.goal.polling = (cpubind_cpus){&on_stage.cpu[1], 1};
    f.first.goal.polling_name = CPUBIND_UVB_THREAD;
    f.second.goal.polling = f.first.goal.polling;
    f.second.goal.polling_name = CPUBIND_UVB_THREAD;
    snapshot(f.before);
    learn_result(&f.first, f.first_done);
    learn_result(&f.second, f.second_done);
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
    worker_end(&f.kernel);
    if (f.daemon.pid)
        double_end(&f.daemon);
    stage_remove();
    print_message("%d runs\n", f.n_runs);
    return has_child() ? -1 : 0;
}

/* == Checks after a run ==================================================== */

/* Prints which run failed. */
static void show_run(cpubind_linux_status status, cpubind_linux_fault why)
{
    print_message("%s, use %d, %s%s: %s, %s, %s\n", call_name[fault.which], fault.nth,
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

/* Whether a thread shares the CPUs of main, since it could not have its own. */
static int is_on_main(int32_t id)
{
    for (int i = 0; i < f.n_skipped; i++)
        if (f.skipped[i].id == id && f.skipped[i].result == CPUBIND_ITEM_PART)
            return fault.which == CALL_setaffinity && fault.error == EINVAL;
    return 0;
}

/* Errors that say that a thread, a process or an interrupt does not exist any more. */
static int is_ending(int error)
{
    return error == ESRCH || error == ENOENT || error == ENOTDIR;
}

/* Returns 1 if the binding may leave `id` out without an item in the report: when it does not
 * exist any more; when it is a polling or a kernel thread that this user may not read. */
static int may_be_left_out(int32_t id)
{
    return is_ending(fault.error) || ((id == f.uvb || id == (int32_t)f.kernel.pid) &&
                                      (fault.error == EACCES || fault.error == EPERM));
}

/* Returns 1 if each line is that of `done`, or that of `before` where it was skipped. */
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
        good = is_now || is_on_main(id) || (was && (may_be_left_out(id) || is_skipped(id)));
        text += n;
        done += done[0] ? n_done : 0;
        before += before[0] ? n_before : 0;
    }
    return good && !*done;
}

/* Waits until is_done. Returns 0 if it does not become so. */
static int becomes_done(const char *before, const char *done, char text[STAGE_TEXT])
{
    for (int i = 0; i < MAX_LOOKS; i++) {
        snapshot(text);
        if (is_done(text, before, done))
            return 1;
        if (!f.daemon.pid || f.how != CPUBIND_IRQBALANCE_STOP)
            break;
        usleep(500);
    }
    return 0;
}

/* Returns 1 if the fault reports the injected error. ESRCH, ENOENT and ENOTDIR may be reported
 * as the end of the process, or as EPERM since the process exists; ELOOP and ENOTDIR as EPERM
 * of the folder of records, which must be a folder and not a link. */
static int is_reported(cpubind_linux_fault why)
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

/* Removes the file of a lock that the binding could not lock or remove. The binding must leave
 * it, since another process may hold the lock. */
static void drop_lock(cpubind_linux_fault why)
{
    char path[STAGE_PATH], name[32];
    snprintf(name, sizeof name, "/%d.record.lock", (int)f.w.pid);
    stage_record_path(name, path);
    if (fault.which == CALL_unlinkat || (why.what && strcmp(why.what, "lock") == 0))
        (void)unlink(path);
    stage_record_path("/host.record.lock", path);
    (void)unlink(path);
}

static void count_run(cpubind_linux_fault why)
{
    f.n_runs++;
    f.n_met = fault.n_met;
    drop_lock(why);
}

/* Applies a goal with the fault; the snapshot is `from` now. Returns 1 if apply failed. */
static int apply_with_fault(const stage_goal *goal, const char *from, const char *to)
{
    char text[STAGE_TEXT];
    cpubind_linux_fault why = {0};
    cpubind_linux_status status = do_step(&fault_table, STEP_APPLY, goal, &why);
    int good;
    count_run(why);
    if (status == CPUBIND_LINUX_OK) {
        good = becomes_done(from, to, text);
    } else {
        good = becomes(from, text) && is_reported(why) && f.n_not_restored == 0 &&
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

/* == Scenarios: one run each; they return 1 if the step failed ============= */

typedef int scenario(void);

/* Makes the host as it was at first, whatever state it is in. */
static void reset_host(void)
{
    char text[STAGE_TEXT], path[STAGE_PATH], name[32];
    cpu_set_t both;
    CPU_ZERO(&both);
    CPU_SET((size_t)on_stage.cpu[0], &both);
    CPU_SET((size_t)on_stage.cpu[1], &both);
    (void)masks_of(f.w.pid, text, sizeof text / 2);
    (void)masks_of(f.polling.pid, text + strlen(text), sizeof text / 4);
    (void)masks_of(f.kernel.pid, text + strlen(text), sizeof text / 4);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        (void)sched_setaffinity((pid_t)strtol(line, NULL, 10), sizeof both, &both);
    make_interrupts();
    stage_workqueue(QUEUE, f.mask);
    if (f.daemon.pid)
        kill(f.daemon.pid, SIGCONT);
    snprintf(name, sizeof name, "/%d.record", (int)f.w.pid);
    stage_record_path(name, path);
    (void)unlink(path);
}

static int apply_first(void)
{
    int has_failed = apply_with_fault(&f.first, f.before, f.first_done);
    if (!has_failed)
        do_step_to(STEP_RESTORE, NULL, f.before);
    return has_failed;
}

/* The folder of records does not exist yet. */
static int apply_without_folder(void)
{
    char path[STAGE_PATH];
    stage_record_path("", path);
    scratch_need(rmdir(path) == 0 || errno == ENOENT, path);
    return apply_first();
}

/* Replaces the first goal by that of another NPU. */
static int apply_second(void)
{
    int has_failed = apply_with_fault(&f.second, f.first_done, f.second_done);
    if (!has_failed)
        do_step_to(STEP_APPLY, &f.first, f.first_done);
    return has_failed;
}

/* Does a step that undoes nothing when it fails and may be repeated. Returns 1 if it failed. */
static int step_with_fault(step what, const char *from, const char *to,
                           cpubind_linux_status *status)
{
    char text[STAGE_TEXT];
    cpubind_linux_fault why = {0};
    *status = do_step(&fault_table, what, NULL, &why);
    count_run(why);
    int good = *status != CPUBIND_LINUX_OK
                   ? is_reported(why)
                   : is_ending(fault.error) || becomes_done(from, to, text);
    good = good && open_descriptors() == f.descriptors;
    if (!good) {
        show_run(*status, why);
        snapshot(text);
        print_message("from\n%sto\n%sis\n%s", from, to, text);
    }
    assert_true(good);
    return *status != CPUBIND_LINUX_OK;
}

/* Ten calls of a watch, in which somebody moves a thread and an interrupt again and again, and
 * one use of a call fails. Nothing but the end of the process ends the watch, which ESRCH and
 * ENOENT may report; all is where it belongs two calls later, when the fault is over. */
static int watch_ten(void)
{
    char text[STAGE_TEXT], list[16];
    const call which = fault.which;
    const int nth = fault.nth, error = fault.error;
    cpubind_binding *b = NULL;
    cpubind_linux_fault why = {.what = ""};
    cpubind_linux_status status = CPUBIND_LINUX_OK;
    fault_clear();
    assert_int_equal(open_binding(&fault_table, 0, &b, &why), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_bind_again(b, &why), CPUBIND_LINUX_OK);
    fault_set(which, nth, error);
    snprintf(list, sizeof list, "%d\n", (int)on_stage.cpu[1]);
    for (int i = 0; i < 10 && status == CPUBIND_LINUX_OK; i++) {
        if (i % 3 == 0) {
            put_on((int32_t)f.w.pid, on_stage.cpu[1]);
            stage_irq(IRQ_SQ, list);
        }
        status = cpubind_bind_again(b, &why);
    }
    const int is_over = status == CPUBIND_LINUX_ERR_GONE && is_ending(error);
    if (status != CPUBIND_LINUX_OK && !is_over)
        show_run(status, why);
    assert_true(status == CPUBIND_LINUX_OK || is_over);
    count_run(why);
    fault_clear();
    for (int i = 0; i < 2; i++)
        assert_int_equal(cpubind_bind_again(b, &why), CPUBIND_LINUX_OK);
    cpubind_bind_close(b);
    snapshot(text);
    if (strcmp(text, f.first_done) != 0)
        print_message("%s, use %d, %s\n", call_name[which], nth, strerror(error));
    assert_string_equal(text, f.first_done);
    assert_int_equal(open_descriptors(), f.descriptors);
    return is_over;
}

static int verify(void)
{
    cpubind_linux_status status;
    int has_failed = step_with_fault(STEP_VERIFY, f.first_done, f.first_done, &status);
    char text[STAGE_TEXT];
    assert_true(becomes(f.first_done, text));
    return has_failed;
}

static int restore(void)
{
    cpubind_linux_status status;
    int has_failed = step_with_fault(STEP_RESTORE, f.first_done, f.before, &status);
    if (has_failed)
        do_step_to(STEP_RESTORE, NULL, f.before);
    else
        reset_host(); /* a thread that ESRCH reported as ended was not restored */
    do_step_to(STEP_APPLY, &f.first, f.first_done);
    return has_failed;
}

/* == Each use of each call ================================================= */

/* TWO_MAY_FAIL: all uses but two, the texts of the two lock files, make the run fail. */
typedef enum outcome { MAY_FAIL, MUST_FAIL, TWO_MAY_FAIL, IS_HARMLESS } outcome;

/* Runs the scenario with the 1st, 2nd, ... use of `which` failing. */
static void fail_each_use(scenario *run, outcome expected, call which, int error)
{
    int failed = 0;
    for (int nth = 1; nth <= 1000; nth++) {
        fault_set(which, nth, error);
        int has_failed = run();
        if (f.n_met == 0) {
            assert_true(nth > 1); /* the scenario makes this call */
            if (expected == MUST_FAIL)
                assert_int_equal(failed, nth - 1);
            if (expected == TWO_MAY_FAIL)
                assert_int_equal(failed, nth - 3);
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
    fail_with_each(run, expected, CALL_##which, ERRORS(__VA_ARGS__))

TEST(apply_does_all_or_nothing_when_files_fail)
{
    FAIL(apply_first, MAY_FAIL, openat, OF_openat);
    FAIL(apply_first, MUST_FAIL, open, OF_open);
    FAIL(apply_first, MAY_FAIL, fstat, OF_fstat);
    FAIL(apply_first, MAY_FAIL, accessat, OF_accessat);
    FAIL(apply_first, MAY_FAIL, read, OF_read);
    FAIL(apply_first, MAY_FAIL, close, OF_close);
    FAIL(apply_first, MAY_FAIL, fdopendir, OF_fdopendir);
    FAIL(apply_first, MAY_FAIL, readdir, OF_readdir);
    FAIL(apply_first, IS_HARMLESS, closedir, OF_closedir);
}

TEST(apply_does_all_or_nothing_when_writing_fails)
{
    FAIL(apply_without_folder, MUST_FAIL, mkdirat, OF_mkdirat);
    FAIL(apply_first, MUST_FAIL, create, EACCES, EMFILE, ENOSPC, EROFS);
    FAIL(apply_first, MAY_FAIL, create, OF_create); /* EWOULDBLOCK: the lock is waited for */
    FAIL(apply_first, MAY_FAIL, write, OF_write);
    FAIL(apply_first, MUST_FAIL, fsync, OF_fsync);
    FAIL(apply_first, MUST_FAIL, rename, OF_rename);
    FAIL(apply_first, IS_HARMLESS, unlinkat, OF_unlinkat);
    FAIL(apply_first, MUST_FAIL, flock, OF_flock);
    FAIL(apply_first, IS_HARMLESS, lock_range, OF_lock_range);
}

TEST(apply_does_all_or_nothing_when_threads_cannot_be_moved)
{
    FAIL(apply_first, MUST_FAIL, getaffinity, OF_getaffinity, ENOSYS);
    FAIL(apply_first, MAY_FAIL, setaffinity, OF_setaffinity, ENOMEM, ENOSYS);
}

TEST(apply_does_all_or_nothing_without_memory)
{
    /* Online CPUs that cannot be read are no failure: all count as online. */
    FAIL(apply_first, MAY_FAIL, malloc, OF_malloc);
    FAIL(apply_first, MAY_FAIL, realloc, OF_realloc);
}

TEST(a_thread_that_ends_is_no_error)
{
    FAIL(apply_first, MAY_FAIL, getaffinity, ESRCH);
    FAIL(apply_first, IS_HARMLESS, setaffinity, ESRCH);
    FAIL(apply_first, MAY_FAIL, read, ESRCH);
    FAIL(apply_first, MAY_FAIL, openat, ESRCH, ENOENT);
}

TEST(an_interrupted_call_is_repeated)
{
    static const call calls[] = {CALL_open,  CALL_openat,  CALL_read,  CALL_create,
                                 CALL_write, CALL_readdir, CALL_fsync, CALL_flock};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        fail_each_use(apply_first, IS_HARMLESS, calls[i], EINTR);
}

/* == With a record ========================================================= */

TEST(another_goal_does_all_or_nothing)
{
    do_step_to(STEP_APPLY, &f.first, f.first_done);
    FAIL(apply_second, MAY_FAIL, openat, EACCES, EMFILE, EPERM, EIO);
    FAIL(apply_second, MAY_FAIL, fstat, EACCES, ENOMEM);
    FAIL(apply_second, MAY_FAIL, accessat, EACCES, EIO, ENOMEM);
    FAIL(apply_second, MAY_FAIL, read, EIO, EINVAL);
    FAIL(apply_second, MAY_FAIL, close, EIO);
    FAIL(apply_second, MAY_FAIL, create, EACCES, ENOSPC);
    FAIL(apply_second, MAY_FAIL, write, ENOSPC, EIO, EINVAL);
    FAIL(apply_second, MAY_FAIL, fsync, EIO);
    FAIL(apply_second, MAY_FAIL, rename, ENOSPC);
    FAIL(apply_second, MUST_FAIL, getaffinity, EINVAL, EPERM);
    FAIL(apply_second, MAY_FAIL, setaffinity, OF_setaffinity);
    FAIL(apply_second, MAY_FAIL, malloc, OF_malloc);
    FAIL(apply_second, MAY_FAIL, realloc, OF_realloc);
    do_step_to(STEP_RESTORE, NULL, f.before);
}

/* Review of live hosts, P1 3. */
TEST(a_watch_survives_every_fault_and_recovers)
{
    do_step_to(STEP_APPLY, &f.first, f.first_done);
    FAIL(watch_ten, IS_HARMLESS, openat, EACCES, EMFILE, EPERM);
    FAIL(watch_ten, MAY_FAIL, openat, ESRCH);
    FAIL(watch_ten, IS_HARMLESS, read, EIO);
    FAIL(watch_ten, IS_HARMLESS, read, ESRCH);
    FAIL(watch_ten, IS_HARMLESS, pread, EIO, ESRCH);
    FAIL(watch_ten, IS_HARMLESS, fstat, EACCES);
    FAIL(watch_ten, IS_HARMLESS, close, EIO);
    FAIL(watch_ten, IS_HARMLESS, fdopendir, ENOMEM);
    FAIL(watch_ten, IS_HARMLESS, readdir, OF_readdir);
    FAIL(watch_ten, IS_HARMLESS, write, EIO, EPERM);
    FAIL(watch_ten, IS_HARMLESS, getaffinity, OF_getaffinity, ENOMEM, ESRCH);
    FAIL(watch_ten, IS_HARMLESS, setaffinity, OF_setaffinity, EBUSY, ENOMEM, ESRCH);
    FAIL(watch_ten, IS_HARMLESS, malloc, OF_malloc);
    FAIL(watch_ten, IS_HARMLESS, accessat, OF_accessat);
    do_step_to(STEP_RESTORE, NULL, f.before);
}

TEST(verify_changes_nothing_whatever_fails)
{
    do_step_to(STEP_APPLY, &f.first, f.first_done);
    FAIL(verify, MAY_FAIL, openat, OF_openat, ENOENT, ESRCH);
    FAIL(verify, MUST_FAIL, open, OF_open);
    FAIL(verify, MAY_FAIL, fstat, OF_fstat);
    FAIL(verify, MAY_FAIL, accessat, OF_accessat);
    FAIL(verify, MAY_FAIL, read, OF_read, ESRCH);
    FAIL(verify, IS_HARMLESS, close, OF_close);
    FAIL(verify, MAY_FAIL, fdopendir, OF_fdopendir);
    FAIL(verify, MAY_FAIL, readdir, OF_readdir);
    FAIL(verify, IS_HARMLESS, closedir, OF_closedir);
    FAIL(verify, MUST_FAIL, getaffinity, OF_getaffinity);
    FAIL(verify, IS_HARMLESS, getaffinity, ESRCH);
    FAIL(verify, MAY_FAIL, malloc, OF_malloc);
    FAIL(verify, MAY_FAIL, realloc, OF_realloc);
    do_step_to(STEP_RESTORE, NULL, f.before);
}

TEST(restore_recovers_from_a_fault)
{
    do_step_to(STEP_APPLY, &f.first, f.first_done);
    FAIL(restore, MAY_FAIL, openat, EACCES, ELOOP, EMFILE, ENOMEM, ENOTDIR, EPERM, EROFS,
         EWOULDBLOCK, ESRCH, ENOENT);
    FAIL(restore, MUST_FAIL, open, EACCES, EMFILE, ENOMEM);
    FAIL(restore, MAY_FAIL, fstat, OF_fstat);
    FAIL(restore, MAY_FAIL, read, OF_read, ESRCH);
    FAIL(restore, IS_HARMLESS, close, OF_close);
    FAIL(restore, MAY_FAIL, fdopendir, OF_fdopendir);
    FAIL(restore, MAY_FAIL, readdir, OF_readdir);
    FAIL(restore, MUST_FAIL, create, EACCES, EMFILE, ENOSPC, EROFS);
    FAIL(restore, TWO_MAY_FAIL, write, OF_write);
    FAIL(restore, MAY_FAIL, unlinkat, OF_unlinkat);
    FAIL(restore, MUST_FAIL, flock, OF_flock);
    FAIL(restore, IS_HARMLESS, lock_range, OF_lock_range);
    FAIL(restore, MUST_FAIL, getaffinity, OF_getaffinity);
    FAIL(restore, MUST_FAIL, setaffinity, OF_setaffinity);
    FAIL(restore, MAY_FAIL, setaffinity, ESRCH);
    FAIL(restore, MUST_FAIL, malloc, OF_malloc);
    FAIL(restore, MAY_FAIL, realloc, OF_realloc);
    do_step_to(STEP_RESTORE, NULL, f.before);
}

/* == irqbalance ============================================================ */

TEST_WITH(stopping_irqbalance_is_part_of_all_or_nothing, set_up_stop, tear_down)
{
    FAIL(apply_first, MAY_FAIL, pidfd_open, OF_pidfd_open, ESRCH, EPERM, ENOSYS);
    FAIL(apply_first, MAY_FAIL, pidfd_send_signal, OF_pidfd_send_signal, ESRCH, ENOSYS);
    FAIL(apply_first, MAY_FAIL, openat, EMFILE, EACCES, ENOENT);
    FAIL(apply_first, MAY_FAIL, read, EIO);
    FAIL(apply_first, MAY_FAIL, write, ENOSPC, EINVAL);
    FAIL(apply_first, MAY_FAIL, rename, ENOSPC);
    FAIL(apply_first, MAY_FAIL, setaffinity, EINVAL);
    FAIL(apply_first, MAY_FAIL, malloc, OF_malloc);
    FAIL(apply_first, MAY_FAIL, realloc, OF_realloc);
}

TEST_WITH(a_stopped_irqbalance_is_continued, set_up_stop, tear_down)
{
    do_step_to(STEP_APPLY, &f.first, f.first_done);
    FAIL(restore, MAY_FAIL, pidfd_open, OF_pidfd_open, EPERM, ENOSYS);
    FAIL(restore, MAY_FAIL, pidfd_send_signal, OF_pidfd_send_signal, ENOSYS);
    FAIL(apply_second, MAY_FAIL, setaffinity, EINVAL);
    FAIL(apply_second, MAY_FAIL, write, ENOSPC, EINVAL);
    do_step_to(STEP_RESTORE, NULL, f.before);
}

TEST_WITH(a_ban_is_part_of_all_or_nothing, set_up_ban, tear_down)
{
    FAIL(apply_first, MAY_FAIL, socket, OF_socket);
    FAIL(apply_first, MAY_FAIL, connect, OF_connect);
    FAIL(apply_first, MAY_FAIL, getsockopt, OF_getsockopt);
    FAIL(apply_first, MAY_FAIL, sendmsg, OF_sendmsg);
    FAIL(apply_first, MAY_FAIL, flock, OF_flock);
    FAIL(apply_first, MAY_FAIL, setaffinity, EINVAL);
    FAIL(apply_first, MAY_FAIL, write, ENOSPC, EINVAL);
    FAIL(apply_first, MAY_FAIL, malloc, OF_malloc);
    FAIL(apply_first, MAY_FAIL, realloc, OF_realloc);
    FAIL(apply_first, IS_HARMLESS, connect, EINTR, EAGAIN);
    FAIL(apply_first, IS_HARMLESS, sendmsg, EINTR, EAGAIN);
    FAIL(apply_first, IS_HARMLESS, recv, EINTR, EAGAIN);
}

/* == Faults that stay ====================================================== */

/* The fault hits the undoing as well: it is reported, and the record is enough to restore all
 * when the fault is over. */
static int apply_with_lasting_fault(void)
{
    char text[STAGE_TEXT];
    cpubind_linux_fault why = {0};
    cpubind_linux_status status = do_step(&fault_table, STEP_APPLY, &f.first, &why);
    count_run(why);
    int good = status == CPUBIND_LINUX_OK ? becomes_done(f.before, f.first_done, text)
                                          : is_reported(why);
    good = good && (status == CPUBIND_LINUX_ERR_UNDONE) == (f.n_not_restored > 0);
    if (status != CPUBIND_LINUX_OK && status != CPUBIND_LINUX_ERR_UNDONE && good)
        good = fault.which == CALL_unlinkat || becomes(f.before, text);
    if (!good)
        show_run(status, why);
    assert_true(good);
    do_step_to(STEP_RESTORE, NULL, f.before);
    return status != CPUBIND_LINUX_OK;
}

TEST(a_fault_that_stays_leaves_a_record_to_restore)
{
    static const struct {
        call which;
        int error;
    } cases[] = {
        {CALL_openat, EMFILE},      {CALL_read, EIO},          {CALL_write, ENOSPC},
        {CALL_write, EPERM},        {CALL_rename, EIO},        {CALL_setaffinity, EPERM},
        {CALL_setaffinity, EINVAL}, {CALL_getaffinity, EPERM}, {CALL_malloc, ENOMEM},
        {CALL_realloc, ENOMEM},     {CALL_fdopendir, ENOMEM}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int nth = 1; nth <= 1000; nth++) {
            fault_set(cases[i].which, nth, cases[i].error);
            fault.forever = 1;
            (void)apply_with_lasting_fault();
            if (f.n_met == 0)
                break;
        }
    }
}

/* == Calls of the process itself =========================================== */

/* In a child, which binds itself. Returns the number of the check that failed, or 0. */
static int prefers_with(int error)
{
    cpubind_linux_fault why = {0};
    cpubind_binding *b = NULL;
    const cpubind_bind_options options = {.pid = (int32_t)getpid(),
                                          .memory = CPUBIND_MEMORY_PREFER};
    stage_goal goal;
    goal_make(&goal, on_stage.cpu[0], on_stage.cpu[1]);
    goal.goal.memory_node = 0;
    fault_set(CALL_set_mempolicy, 1, error);
    if (cpubind_bind_open(&options, &fault_table, &b, &why) != CPUBIND_LINUX_OK)
        return 1;
    if (cpubind_bind_apply(b, &goal.goal, &why) != CPUBIND_LINUX_OK)
        return 2;
    if (cpubind_bind_report(b)->prefer_error != error || fault.count[CALL_set_mempolicy] != 1)
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

TEST(a_command_that_cannot_be_executed_is_reported)
{
    static const int errors[] = {OF_exec};
    char name[] = "command";
    char *argv[] = {name, NULL};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        fault_set(CALL_exec, 1, errors[i]);
        cpubind_linux_fault why = {0};
        assert_int_equal(cpubind_bind_exec(argv, &fault_table, &why),
                         CPUBIND_LINUX_ERR_REFUSED);
        assert_int_equal(why.error, errors[i]);
        assert_string_equal(why.what, "exec");
    }
}

static int wait_for_end(void)
{
    cpubind_binding *b = NULL;
    cpubind_linux_fault why;
    const call which = fault.which;
    const int nth = fault.nth, error = fault.error;
    fault_clear();
    assert_int_equal(open_binding(&fault_table, 1, &b, &why), CPUBIND_LINUX_OK);
    fault_set(which, nth, error);
    int has_ended = cpubind_bind_wait(b, 1);
    count_run((cpubind_linux_fault){0});
    cpubind_bind_close(b);
    assert_int_equal(has_ended, 0);
    return has_ended;
}

TEST(a_wait_that_fails_is_not_the_end_of_the_process)
{
    FAIL(wait_for_end, IS_HARMLESS, pidfd_open, OF_pidfd_open, ENOSYS, EPERM, ESRCH);
    FAIL(wait_for_end, IS_HARMLESS, poll, OF_poll, EINTR);
    FAIL(wait_for_end, IS_HARMLESS, read, EIO, EAGAIN);
    FAIL(wait_for_end, IS_HARMLESS, close, OF_close);
}

/* == The bindings around a process ========================================= */

/* A record or a process above that cannot be read is not one that is not there. */
TEST(the_bindings_around_a_process_are_found_or_it_is_said)
{
    int n_said = 0;
    do_step_to(STEP_APPLY, &f.first, f.first_done);
    for (int which = 1; which < N_CALLS; which++) {
        for (int nth = 1; which != CALL_geteuid; nth++) { /* that one never fails */
            const int error = which == CALL_malloc || which == CALL_realloc ? ENOMEM : EMFILE;
            cpubind_outer outer;
            fault_set((call)which, nth, error);
            const cpubind_linux_fault why =
                cpubind_bind_find_outer((int32_t)f.w.pid, &fault_table, &outer);
            const int is_said = why.error == error || outer.unread_pid == (int32_t)f.w.pid;
            n_said += is_said;
            if (!is_said && (why.error || outer.n_cpu != 2))
                fail_msg("%s, use %d: %d CPUs, %s", call_name[which], nth, (int)outer.n_cpu,
                         strerror(why.error));
            free(outer.cpu);
            assert_int_equal(open_descriptors(), f.descriptors);
            if (!fault.n_met)
                break;
            f.n_runs++;
        }
    }
    assert_true(n_said > 0);
    do_step_to(STEP_RESTORE, NULL, f.before);
}

static int run_all(void)
{
    return run_on_two_cpus("bind faults", set_up, tear_down);
}

TEST_PROGRAM(run_all)
