/* test_mend.c - doctor --fix: changes made on record, undone, put back, at every fault
 * SPDX-License-Identifier: MIT
 *
 * Settings of the kernel, governors, masks of threads, an interrupt and an irqbalance of a fake
 * host. Each system call fails at each of its uses, and the process dies at each write: restore
 * always puts back all that is not as before. Nothing of the machine is changed.
 */
#define _GNU_SOURCE
#include "../../adapters/linux/bind/mend.h"
#include "../support/test.h"
#include "fake_host.h"
#include "fault_table.h"
#include "irqbalance_double.h"

#define NUMA    "proc/sys/kernel/numa_balancing"
#define GOV(n)  "sys/devices/system/cpu/cpu" #n "/cpufreq/scaling_governor"
#define IRQ     301
#define IRQ_CPU "proc/irq/301/smp_affinity_list"

enum { N_CHANGES = 7, N_GROUPS = 4 };

static struct {
    cpubind_sys calls;
    worker w;
    int32_t tid[2];
    irqbalance_double daemon;
    char cpu[16], wide[64], before[STAGE_TEXT], after[STAGE_TEXT];
    cpubind_change change[N_CHANGES];
    cpubind_mend_result result[N_CHANGES]; /* of the last apply */
    int has_items;
} f;

/* The fake host has two more kinds of files. */
static int mend_openat(int dir, const char *path, int flags)
{
    int fd;
    if (strncmp(path, "sys/devices/system/cpu/cpu", 26) != 0 && strcmp(path, NUMA) != 0)
        return stage_openat(dir, path, flags);
    fd = openat(on_stage.dir, path, flags);
    if (fd >= 0 && (flags & O_ACCMODE) == O_WRONLY) {
        on_stage.out = fd;
        snprintf(on_stage.irq, sizeof on_stage.irq, "%s", path);
    }
    return fd;
}

static void add_bans(char text[STAGE_TEXT])
{
    for (int i = 0; i < f.daemon.shared->n; i++) {
        const size_t at = strlen(text);
        snprintf(text + at, STAGE_TEXT - at, "banned %d\n", f.daemon.shared->irq[i]);
    }
}

static void add_file(char *text, size_t size, const char *name)
{
    const size_t at = strlen(text);
    char value[64] = "";
    int fd = openat(on_stage.dir, name, O_RDONLY | O_CLOEXEC);
    scratch_need(fd >= 0 && read(fd, value, sizeof value - 1) > 0, name);
    close(fd);
    snprintf(text + at, size - at, "%s %s", name, value);
}

/* Everything that a change may change. */
static void snapshot(char text[STAGE_TEXT])
{
    (void)masks_of(f.w.pid, text, STAGE_TEXT);
    add_file(text, STAGE_TEXT, NUMA);
    add_file(text, STAGE_TEXT, GOV(0));
    add_file(text, STAGE_TEXT, GOV(1));
    add_file(text, STAGE_TEXT, IRQ_CPU);
    add_bans(text);
    stage_records(text, STAGE_TEXT);
}

static void expect_as(const char *expected)
{
    char text[STAGE_TEXT];
    snapshot(text);
    if (strcmp(text, expected) != 0)
        print_message("%s, use %d, %s\n", call_name[fault.which], fault.nth,
                      strerror(fault.error));
    assert_string_equal(text, expected);
}

static cpubind_linux_status apply(const cpubind_sys *sys, cpubind_linux_fault *why)
{
    cpubind_mend *m;
    const cpubind_mend_item *item;
    int32_t n = 0;
    cpubind_linux_status status = cpubind_mend_open(sys, &m, why);
    f.has_items = 0;
    if (status != CPUBIND_LINUX_OK)
        return status;
    status = cpubind_mend_apply(m, f.change, N_CHANGES, why);
    item = cpubind_mend_items(m, &n);
    if (status == CPUBIND_LINUX_OK || status == CPUBIND_LINUX_ERR_REFUSED) {
        assert_int_equal(n, N_CHANGES);
        for (int i = 0; i < N_CHANGES; i++)
            f.result[i] = item[i].result;
        f.has_items = 1;
    }
    cpubind_mend_close(m);
    return status;
}

static cpubind_linux_status restore(const cpubind_sys *sys, cpubind_mend_item *first)
{
    cpubind_linux_fault why = {.what = ""};
    const cpubind_mend_item *item;
    cpubind_mend *m;
    int32_t n;
    cpubind_linux_status status = cpubind_mend_open(sys, &m, &why);
    if (status != CPUBIND_LINUX_OK)
        return status;
    status = cpubind_mend_restore(m, &why);
    item = cpubind_mend_items(m, &n);
    if (first && n > 0) {
        *first = item[0];
        first->before = first->now = NULL;
    }
    cpubind_mend_close(m);
    return status;
}

/* Restores without a fault: all is as before, and no record or lock is left. */
static void restore_all(void)
{
    char path[STAGE_PATH];
    fault_clear();
    stage_record_path("/doctor.record.lock", path); /* of a process that died */
    (void)unlink(path);
    assert_int_equal(restore(&f.calls, NULL), CPUBIND_LINUX_OK);
    expect_as(f.before);
}

SETUP(set_up)
{
    char name[64];
    memset(&f, 0, sizeof f);
    fault_clear();
    if (!stage_make())
        return -1;
    f.calls = stage_table();
    f.calls.openat = mend_openat;
    fault_next = &f.calls;
    scratch_file(&on_stage.s, NUMA, "1\n");
    scratch_file(&on_stage.s, GOV(0), "powersave\n");
    scratch_file(&on_stage.s, GOV(1), "ondemand\n");
    stage_irq(IRQ, "0-1\n");
    worker_start(&f.w, "worker");
    for (int i = 0; i < 2; i++) {
        f.tid[i] = worker_thread_add(&f.w, "main");
        put_on(f.tid[i], on_stage.cpu[0]);
    }
    stage_list(f.w.pid);
    scratch_need(double_start(&f.daemon, on_stage.s.dir, DOUBLE_NAMED), "irqbalance");
    stage_list(f.daemon.pid);
    snprintf(name, sizeof name, "run/irqbalance/irqbalance%d.sock", (int)f.daemon.pid);
    scratch_file(&on_stage.s, name, "");
    double_ban(f.daemon.shared, 17); /* by another program */
    snprintf(f.cpu, sizeof f.cpu, "%d", (int)on_stage.cpu[0]);
    snprintf(f.wide, sizeof f.wide, "%s", on_stage.before);
    f.change[0] = (cpubind_change){.file = NUMA, .value = "0", .group = 0};
    f.change[1] = (cpubind_change){.file = GOV(0), .value = "performance", .group = 1};
    f.change[2] = (cpubind_change){.file = GOV(1), .value = "performance", .group = 1};
    for (int i = 0; i < 2; i++)
        f.change[3 + i] = (cpubind_change){.kind = CPUBIND_CHANGE_THREAD,
                                           .pid = (int32_t)f.w.pid,
                                           .tid = f.tid[i],
                                           .value = f.wide,
                                           .group = 2};
    f.change[5] = (cpubind_change){
        .kind = CPUBIND_CHANGE_BAN, .pid = (int32_t)f.daemon.pid, .irq = IRQ, .group = 3};
    f.change[6] = (cpubind_change){.file = IRQ_CPU, .value = "1", .group = 3};
    snapshot(f.before);
    return 0;
}

SETUP(tear_down)
{
    worker_end(&f.w);
    double_end(&f.daemon);
    stage_remove();
    return has_child() ? -1 : 0;
}

/* Applies without a fault, and keeps what the host is then. */
static void apply_all(void)
{
    cpubind_linux_fault why = {.what = ""};
    fault_clear();
    assert_int_equal(apply(&f.calls, &why), CPUBIND_LINUX_OK);
    for (int i = 0; i < N_CHANGES; i++)
        assert_int_equal(f.result[i], CPUBIND_MEND_MADE);
    snapshot(f.after);
    assert_string_not_equal(f.after, f.before);
    assert_non_null(strstr(f.after, "record doctor.record\n"));
    assert_non_null(strstr(f.after, NUMA " 0\n"));
    assert_non_null(strstr(f.after, IRQ_CPU " 1\n"));
    assert_non_null(strstr(f.after, "banned 301\n"));
}

TEST(makes_changes_on_record_and_puts_them_back)
{
    apply_all();
    restore_all();
    /* Nothing is on record: restore changes nothing. */
    restore_all();
}

/* A second --fix finds all as it shall be, and keeps what was before the first. */
TEST(keeps_the_first_value)
{
    cpubind_linux_fault why = {.what = ""};
    apply_all();
    assert_int_equal(apply(&f.calls, &why), CPUBIND_LINUX_OK);
    for (int i = 0; i < N_CHANGES; i++)
        assert_int_equal(f.result[i], CPUBIND_MEND_RIGHT);
    expect_as(f.after);
    scratch_file(&on_stage.s, NUMA, "2\n");
    assert_int_equal(apply(&f.calls, &why), CPUBIND_LINUX_OK);
    assert_int_equal(f.result[0], CPUBIND_MEND_MADE);
    expect_as(f.after);
    restore_all();
}

TEST(leaves_what_somebody_has_changed_since)
{
    cpubind_mend_item first = {.result = CPUBIND_MEND_MADE};
    char text[STAGE_TEXT];
    apply_all();
    scratch_file(&on_stage.s, NUMA, "2\n");
    assert_int_equal(restore(&f.calls, &first), CPUBIND_LINUX_OK);
    assert_int_equal(first.result, CPUBIND_MEND_OTHER);
    snapshot(text);
    assert_non_null(strstr(text, NUMA " 2\n"));
    assert_null(strstr(text, "record"));
    scratch_file(&on_stage.s, NUMA, "1\n");
    expect_as(f.before);
}

/* A thread that was given more CPUs, and whose process was bound to a part of them then. */
TEST(leaves_the_threads_of_a_bound_process)
{
    char name[32], record[STAGE_PATH];
    FILE *file;
    snprintf(name, sizeof name, "/%d.record", (int)f.w.pid);
    stage_record_path(name, record);
    for (int is_bound = 0; is_bound < 2; is_bound++) {
        apply_all();
        put_on(f.tid[0], on_stage.cpu[1]);
        file = is_bound ? fopen(record, "we") : NULL;
        scratch_need(!is_bound || (file && fclose(file) == 0), record);
        assert_int_equal(restore(&f.calls, NULL), CPUBIND_LINUX_OK);
        assert_true(is_on(f.tid[0], on_stage.cpu[is_bound]));
        assert_true(is_on(f.tid[1], on_stage.cpu[0]));
        put_on(f.tid[0], on_stage.cpu[0]);
        scratch_need(!is_bound || unlink(record) == 0, record);
        assert_int_equal(restore(&f.calls, NULL), CPUBIND_LINUX_OK);
        expect_as(f.before);
    }
}

static void bind_worker(int is_bound, const cpubind_goal *goal)
{
    const cpubind_bind_options how = {.pid = (int32_t)f.w.pid, .memory = CPUBIND_MEMORY_NONE};
    cpubind_binding *b;
    assert_int_equal(cpubind_bind_open(&how, &f.calls, &b, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(is_bound ? cpubind_bind_apply(b, goal, NULL)
                              : cpubind_bind_restore(b, NULL),
                     CPUBIND_LINUX_OK);
    cpubind_bind_close(b);
}

/* The masks and the interrupt of the worker, and what irqbalance leaves alone. */
static void bound_part(char text[STAGE_TEXT])
{
    (void)masks_of(f.w.pid, text, STAGE_TEXT);
    add_file(text, STAGE_TEXT, IRQ_CPU);
    add_bans(text);
}

/* doctor --fix, apply, doctor --restore, restore, doctor --restore; and in the other order. The
 * binding keeps its threads and its interrupt until it is restored. */
TEST(leaves_the_host_as_before_a_binding_too)
{
    stage_goal goal;
    char bound[STAGE_TEXT], now[STAGE_TEXT];
    for (int is_early = 0; is_early < 2; is_early++) {
        goal_make(&goal, on_stage.cpu[0], on_stage.cpu[1]);
        goal_add_irq(&goal, IRQ, CPUBIND_IRQ_SQ, on_stage.cpu[0]);
        apply_all();
        bind_worker(1, &goal.goal);
        if (is_early) {
            bound_part(bound);
            assert_int_equal(restore(&f.calls, NULL), CPUBIND_LINUX_OK);
            bound_part(now);
            assert_string_equal(now, bound);
        }
        bind_worker(0, NULL);
        restore_all();
    }
}

TEST(forgets_a_thread_that_has_ended)
{
    char before[STAGE_TEXT];
    worker_thread_end(&f.w, f.tid[1]);
    f.change[4].tid = f.tid[0]; /* two changes of one thread */
    snapshot(before);
    cpubind_linux_fault why = {.what = ""};
    assert_int_equal(apply(&f.calls, &why), CPUBIND_LINUX_OK);
    worker_thread_end(&f.w, f.tid[0]);
    assert_int_equal(restore(&f.calls, NULL), CPUBIND_LINUX_OK);
    snapshot(before);
    assert_null(strstr(before, "record"));
    assert_non_null(strstr(before, NUMA " 1\n"));
}

/* == Faults ================================================================= */

/* All changes of a group are made, or none is but for those that are named as stuck. */
static void check_groups(void)
{
    for (int group = 0; group < N_GROUPS; group++) {
        int n_made = 0, n = 0, n_stuck = 0, n_gone = 0;
        for (int i = 0; i < N_CHANGES; i++) {
            n += f.change[i].group == group;
            if (f.change[i].group != group)
                continue;
            n_made += f.result[i] == CPUBIND_MEND_MADE;
            n_stuck += f.result[i] == CPUBIND_MEND_STUCK;
            n_gone += f.result[i] == CPUBIND_MEND_GONE;
        }
        if (n_made && n_made + n_gone + n_stuck != n)
            fail_msg("%s, use %d: %d of %d changes of group %d", call_name[fault.which],
                     fault.nth, n_made, n, group);
    }
}

/* Each change that is named as made is; each other one is as before. */
static void check_values(void)
{
    static const char *const texts[N_CHANGES] = {
        NUMA " 0\n", GOV(0) " performance\n", GOV(1) " performance\n", NULL,
        NULL,        "banned 301\n",          IRQ_CPU " 1\n"};
    char text[STAGE_TEXT];
    snapshot(text);
    for (int i = 0; i < N_CHANGES; i++)
        if (texts[i] && f.result[i] != CPUBIND_MEND_STUCK &&
            (strstr(text, texts[i]) != NULL) != (f.result[i] == CPUBIND_MEND_MADE))
            fail_msg("%s, use %d: change %d is %s\n%s", call_name[fault.which], fault.nth, i,
                     cpubind_mend_word(f.result[i]), text);
    for (int i = 0; i < 2; i++)
        if (f.result[3 + i] != CPUBIND_MEND_STUCK &&
            is_on(f.tid[i], on_stage.cpu[0]) == (f.result[3 + i] == CPUBIND_MEND_MADE))
            fail_msg("%s, use %d: thread %d", call_name[fault.which], fault.nth, i);
}

/* But for ENOENT and ESRCH: they say that a file or a thread is gone, which needs nothing. */
static const struct {
    call which;
    int error[3];
} faults[] = {
    {CALL_open, {EMFILE}},
    {CALL_openat, {EACCES, EROFS}},
    {CALL_create, {ENOSPC, EROFS}},
    {CALL_mkdirat, {ENOSPC}},
    {CALL_read, {EIO}},
    {CALL_write, {EIO, EINVAL, ENOSPC}},
    {CALL_fsync, {EIO}},
    {CALL_rename, {EIO}},
    {CALL_close, {EIO}},
    {CALL_fstat, {EIO}},
    {CALL_flock, {ENOLCK}},
    {CALL_unlinkat, {EACCES}},
    {CALL_getaffinity, {EPERM}},
    {CALL_setaffinity, {EPERM, EINVAL}},
    {CALL_socket, {EMFILE}},
    {CALL_connect, {ECONNREFUSED}},
    {CALL_sendmsg, {EPIPE}},
    {CALL_recv, {ECONNRESET}},
    {CALL_malloc, {ENOMEM}},
    {CALL_realloc, {ENOMEM}},
};

/* Runs the step with each use of each call failing, once and from then on. */
static void with_each_fault(void (*step)(void))
{
    int n_runs = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        for (int k = 0; k < 6; k++) {
            const int error = faults[i].error[k / 2];
            for (int nth = 1, n_met = 1; error && n_met && nth < 1000; nth++) {
                fault_set(faults[i].which, nth, error);
                fault.forever = k % 2;
                step();
                n_met = fault.n_met;
                n_runs++;
                restore_all();
            }
        }
    print_message("%d runs\n", n_runs);
}

static void apply_with_fault(void)
{
    cpubind_linux_fault why = {.what = ""};
    char text[STAGE_TEXT];
    const cpubind_linux_status status = apply(&fault_table, &why);
    if (status != CPUBIND_LINUX_OK)
        assert_true(why.what && *why.what && why.error);
    if (f.has_items) {
        check_groups();
        check_values();
        return;
    }
    snapshot(text); /* nothing was changed */
    assert_non_null(strstr(text, NUMA " 1\n"));
    assert_non_null(strstr(text, GOV(0) " powersave\n"));
    assert_non_null(strstr(text, IRQ_CPU " 0-1\n"));
    assert_null(strstr(text, "banned 301\n"));
    assert_true(is_on(f.tid[0], on_stage.cpu[0]) && is_on(f.tid[1], on_stage.cpu[0]));
}

TEST(undoes_or_names_what_a_fault_leaves)
{
    with_each_fault(apply_with_fault);
}

static void restore_with_fault(void)
{
    const call which = fault.which;
    const int nth = fault.nth, error = fault.error, forever = fault.forever;
    apply_all();
    fault_set(which, nth, error);
    fault.forever = forever;
    (void)restore(&fault_table, NULL);
}

TEST(puts_the_rest_back_after_a_fault_of_restore)
{
    with_each_fault(restore_with_fault);
}

static void die(void)
{
    _exit(0);
}

/* The process dies before each write, rename, setaffinity and sendmsg of --fix. */
TEST(puts_back_after_a_crash)
{
    static const call calls[] = {CALL_write, CALL_rename, CALL_setaffinity, CALL_sendmsg};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int nth = 1, status = 0; status == 0 && nth < 100; nth++) {
            const pid_t child = fork();
            if (child == 0) {
                cpubind_linux_fault why;
                fault_set(calls[i], nth, EIO);
                fault.on_fault = die;
                (void)apply(&fault_table, &why);
                _exit(1);
            }
            assert_int_equal(waitpid(child, &status, 0), child);
            restore_all();
        }
}

/* == Records that are not to be trusted ===================================== */

static void write_record(const char *text, size_t len)
{
    char path[STAGE_PATH];
    FILE *out;
    stage_record_path("", path);
    mkdir(path, 0755);
    stage_record_path("/doctor.record", path);
    out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, len, out), len);
    fclose(out);
    chmod(path, 0600);
}

TEST(refuses_a_damaged_record)
{
    char path[STAGE_PATH], text[4096];
    cpubind_linux_fault why;
    cpubind_mend *m;
    FILE *in;
    size_t n;
    apply_all();
    stage_record_path("/doctor.record", path);
    in = fopen(path, "r");
    assert_non_null(in);
    n = fread(text, 1, sizeof text, in);
    fclose(in);
    for (size_t cut = 0; cut < n; cut++) {
        write_record(text, cut);
        assert_int_equal(cpubind_mend_open(&f.calls, &m, &why), CPUBIND_LINUX_ERR_DAMAGED);
        assert_true(why.line > 0);
    }
    for (size_t at = 0; at < n; at++) {
        text[at] ^= 1;
        write_record(text, n);
        assert_int_equal(cpubind_mend_open(&f.calls, &m, &why), CPUBIND_LINUX_ERR_DAMAGED);
        text[at] ^= 1;
    }
    write_record(text, n);
    restore_all();
}

TEST(names_no_other_file)
{
    static const char *const names[] = {"etc/passwd",
                                        "proc/sys/kernel/numa_balancing/../panic",
                                        "/proc/sys/kernel/numa_balancing",
                                        "proc/irq/01/smp_affinity_list",
                                        "proc/irq//smp_affinity_list",
                                        "sys/devices/system/cpu/cpu/cpufreq/scaling_governor",
                                        ""};
    static const char *const values[] = {"", "a b", "a\n"};
    cpubind_linux_fault why;
    cpubind_mend *m;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const cpubind_change change = {.file = names[i], .value = "0"};
        assert_int_equal(cpubind_mend_open(&f.calls, &m, &why), CPUBIND_LINUX_OK);
        assert_int_equal(cpubind_mend_apply(m, &change, 1, &why), CPUBIND_LINUX_ERR_ARG);
        cpubind_mend_close(m);
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const cpubind_change change = {.file = NUMA, .value = values[i]};
        assert_int_equal(cpubind_mend_open(&f.calls, &m, &why), CPUBIND_LINUX_OK);
        assert_int_equal(cpubind_mend_apply(m, &change, 1, &why), CPUBIND_LINUX_ERR_ARG);
        cpubind_mend_close(m);
    }
    expect_as(f.before);
}

TEST(one_at_a_time)
{
    cpubind_linux_fault why;
    cpubind_mend *m, *other;
    assert_int_equal(cpubind_mend_open(&f.calls, &m, &why), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_mend_open(&f.calls, &other, &why), CPUBIND_LINUX_ERR_BUSY);
    assert_null(other);
    cpubind_mend_close(m);
    restore_all();
}

TEST_FILE(set_up, tear_down)
