/* test_bind.c - binds, watches, verifies and restores processes of this machine
 * SPDX-License-Identifier: MIT
 *
 * Real threads on real CPUs. Interrupts, irqbalance and the folder of records are those of a
 * scratch folder (fake_host.h), so that the test runs for every user and leaves the machine
 * alone.
 */
#define _GNU_SOURCE
#include <sys/prctl.h>

#include "../../adapters/ascend/thread_roles.h"
#include "../../adapters/linux/bind/host_record.h"
#include "../../adapters/linux/bind/record.h"
#include "../support/test.h"
#include "fake_host.h"
#include "irqbalance_double.h"
#include "two_cpus.h"

#define IRQ_SQ 301
#define IRQ_CQ 302

static struct {
    cpubind_sys sys;
    worker w;
    int32_t acl, release, plain;
    cpubind_bind_options how;
    cpubind_binding *b;
    cpubind_linux_fault why;
    stage_goal goal, other;
    char before[STAGE_TEXT];
    int descriptors;
} f;

#include "bound.h"

static void assert_all_is_as_before(void)
{
    char text[STAGE_TEXT];
    snapshot_threads(text);
    assert_string_equal(text, f.before);
}

static void assert_item(int32_t id, cpubind_item_result result, const char *was,
                        const char *should)
{
    const cpubind_item *item = assert_result(id, result);
    assert_string_equal(item->was, was);
    assert_string_equal(item->should, should);
}

SETUP(set_up)
{
    memset(&f, 0, sizeof f);
    if (!stage_make())
        return -1;
    f.sys = stage_table();
    worker_start(&f.w, "worker");
    f.acl = worker_thread_add(&f.w, "acl_thread");
    f.release = worker_thread_add(&f.w, "release_thread");
    f.plain = worker_thread_add(&f.w, "plain");
    put_on_both((int32_t)f.w.pid);
    put_on_both(f.acl);
    put_on_both(f.release);
    put_on_both(f.plain);
    stage_list(f.w.pid);
    f.how = (cpubind_bind_options){.pid = (int32_t)f.w.pid, .memory = CPUBIND_MEMORY_NONE};
    goal_make(&f.goal, MAIN_CPU, OTHER_CPU);
    goal_make(&f.other, OTHER_CPU, MAIN_CPU);
    snapshot_threads(f.before);
    f.descriptors = open_descriptors();
    return 0;
}

SETUP(tear_down)
{
    int good = open_descriptors() == f.descriptors;
    worker_end(&f.w);
    stage_remove();
    return good && !has_child() ? 0 : -1;
}

/* == apply ================================================================== */

TEST(threads_move_by_their_names_and_are_restored)
{
    char to_main[16], to_other[16];
    (void)one_cpu(MAIN_CPU, to_main);
    (void)one_cpu(OTHER_CPU, to_other);
    open_binding();
    apply(&f.goal);
    assert_true(is_on((int32_t)f.w.pid, MAIN_CPU));
    assert_true(is_on(f.plain, MAIN_CPU));
    assert_true(is_on(f.acl, OTHER_CPU));
    assert_true(is_on(f.release, OTHER_CPU));
    assert_int_equal(cpubind_bind_report(f.b)->n, 5); /* "control" too */
    assert_item((int32_t)f.w.pid, CPUBIND_ITEM_MOVED, on_stage.before, to_main);
    assert_item(f.acl, CPUBIND_ITEM_MOVED, on_stage.before, to_other);
    assert_string_equal(item_of(f.acl)->name, "acl_thread");
    assert_int_equal(cpubind_bind_report(f.b)->device, 3);
    assert_int_equal(cpubind_bind_allowed(f.b).n, 2);
    assert_int_equal(cpubind_bind_allowed(f.b).cpu[0], MAIN_CPU);
    close_binding();
    open_binding(); /* another process would see the same */
    assert_int_equal(cpubind_bind_allowed(f.b).n, 2);
    restore_and_close();
    assert_all_is_as_before();
}

/* Names are compared whole, cut as the kernel cuts them; of two rules the first counts. */
TEST(a_rule_compares_15_bytes_and_the_first_rule_counts)
{
    int32_t longer = worker_thread_add(&f.w, "a_name_of_many_characters");
    int32_t almost = worker_thread_add(&f.w, "acl_thread2");
    int32_t part = worker_thread_add(&f.w, "acl");
    f.goal.rule[2] = (cpubind_thread_rule){"a_name_of_many_letters", {&f.goal.cpu[1], 1}, 0};
    f.goal.rule[3] = (cpubind_thread_rule){"acl_thread", {&f.goal.cpu[0], 1}, 0};
    f.goal.goal.n_rule = 4;
    open_binding();
    apply(&f.goal);
    assert_true(is_on(longer, OTHER_CPU)); /* both are "a_name_of_many_" */
    assert_true(is_on(almost, MAIN_CPU));
    assert_true(is_on(part, MAIN_CPU));
    assert_true(is_on(f.acl, OTHER_CPU));
    restore_and_close();
}

static int32_t ends_at_call;
static int n_calls_before_end;

static void end_when_it_is_time(pid_t tid)
{
    if (tid == (pid_t)ends_at_call && n_calls_before_end-- == 0) {
        worker_thread_end(&f.w, ends_at_call);
        ends_at_call = 0;
    }
}

static int ending_getaffinity(pid_t tid, size_t size_bytes, unsigned long *mask)
{
    end_when_it_is_time(tid);
    return cpubind_sys_real.getaffinity(tid, size_bytes, mask);
}

static int ending_setaffinity(pid_t tid, size_t size_bytes, const unsigned long *mask)
{
    end_when_it_is_time(tid);
    return cpubind_sys_real.setaffinity(tid, size_bytes, mask);
}

/* The thread ends before its CPUs are read, the first and the second time, before it is moved,
 * and before they are read back. */
TEST(a_thread_that_ends_meanwhile_is_no_error)
{
    f.sys.getaffinity = ending_getaffinity;
    f.sys.setaffinity = ending_setaffinity;
    for (int i = 0; i < 4; i++) {
        int32_t tid = worker_thread_add(&f.w, "acl_thread");
        int32_t next = worker_thread_add(&f.w, "plain");
        put_on_both(tid);
        put_on_both(next);
        ends_at_call = tid;
        n_calls_before_end = i;
        open_binding();
        apply(&f.goal);
        assert_int_equal(ends_at_call, 0);
        assert_true(is_on(f.acl, OTHER_CPU));
        assert_true(is_on(f.plain, MAIN_CPU));
        assert_true(is_on(next, MAIN_CPU));
        restore_and_close();
        worker_thread_end(&f.w, next);
        assert_all_is_as_before();
    }
}

TEST(a_second_goal_keeps_the_cpus_before_the_first)
{
    put_on(f.plain, OTHER_CPU);
    snapshot_threads(f.before);
    for (int is_new = 0; is_new < 2; is_new++) {
        open_binding();
        apply(&f.goal);
        if (is_new) {
            close_binding();
            open_binding();
        }
        apply(&f.other);
        assert_true(is_on((int32_t)f.w.pid, OTHER_CPU));
        assert_true(is_on(f.acl, MAIN_CPU));
        assert_true(is_on(f.plain, OTHER_CPU));
        assert_int_equal(cpubind_bind_allowed(f.b).n, 2);
        restore_and_close();
        assert_all_is_as_before();
    }
}

TEST(a_thread_created_later_is_restored_to_the_cpus_of_the_process)
{
    open_binding();
    apply(&f.goal);
    int32_t born = worker_thread_add(&f.w, "late");
    assert_true(is_on(born, MAIN_CPU)); /* of "control" */
    restore_and_close();
    assert_true(is_on_both(born));
    assert_true(is_on_both(f.acl));
}

/* The thread is created under the first goal and never looked at; a process that knows only the
 * file applies the second goal and restores. */
TEST(a_thread_created_between_two_goals_is_restored_too)
{
    open_binding();
    apply(&f.goal);
    close_binding();
    int32_t born = worker_thread_add(&f.w, "late");
    open_binding();
    apply(&f.other);
    assert_true(is_on(born, OTHER_CPU));
    put_on(born, MAIN_CPU); /* as if it were of a thread that was not moved yet */
    int32_t later = worker_thread_add(&f.w, "later");
    put_on(later, MAIN_CPU);
    close_binding();
    open_binding();
    restore_and_close();
    assert_true(is_on_both(born));
    assert_true(is_on_both(later));
}

static int refuses_tid, refuses_error = EPERM;

static int refusing_setaffinity(pid_t tid, size_t size_bytes, const unsigned long *mask)
{
    if (tid == (pid_t)refuses_tid) {
        errno = refuses_error;
        return -1;
    }
    return cpubind_sys_real.setaffinity(tid, size_bytes, mask);
}

/* What the refusal of an own thread is put down to. */
static const char *refuser(void)
{
    return prctl(PR_GET_SECCOMP) > 0 ? CPUBIND_REFUSED_BY_FILTER : CPUBIND_REFUSED_BY_MODULE;
}

/* Review, P2 8: the worker ran on unbound, and the call said that it was bound. */
TEST(a_process_is_bound_when_the_threads_that_count_are_placed)
{
    static const struct {
        const char *name;
        const int32_t *tid; /* NULL: the main thread */
        int error, is_bound;
    } rows[] = {
        {"the main thread is refused", NULL, EPERM, 0},
        {"a module refuses the main thread", NULL, EACCES, 0},
        {"the main thread is of SCHED_DEADLINE", NULL, EBUSY, 0},
        {"a thread that a rule names is refused", &f.acl, EPERM, 0},
        {"the other one", &f.release, EPERM, 0},
        {"it is of SCHED_DEADLINE", &f.release, EBUSY, 0},
        {"a thread in passing is refused", &f.plain, EPERM, 1},
        {"it is of SCHED_DEADLINE", &f.plain, EBUSY, 1},
    };
    char text[STAGE_TEXT];
    f.sys.setaffinity = refusing_setaffinity;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *what = rows[i].error == EBUSY    ? "sched_setaffinity"
                           : rows[i].error == EACCES ? CPUBIND_REFUSED_BY_MODULE
                                                     : refuser();
        refuses_tid = rows[i].tid ? *rows[i].tid : (int32_t)f.w.pid;
        refuses_error = rows[i].error;
        open_binding();
        const cpubind_linux_status status = cpubind_bind_apply(f.b, &f.goal.goal, &f.why);
        const cpubind_report *r = cpubind_bind_report(f.b);
        const cpubind_item *item = NULL;
        for (int32_t k = 0; k < r->n; k++)
            if (r->item[k].id == refuses_tid && r->item[k].result != CPUBIND_ITEM_MOVED)
                item = &r->item[k];
        if (!item || item->error != rows[i].error || strcmp(item->what, what) != 0 ||
            (status == CPUBIND_LINUX_OK) != rows[i].is_bound ||
            item->result != (rows[i].is_bound ? CPUBIND_ITEM_SKIPPED : CPUBIND_ITEM_FAILED))
            fail_msg("%s: %s, %s", rows[i].name, cpubind_linux_status_name(status),
                     item ? item->what : "no item");
        refuses_tid = 0;
        if (rows[i].is_bound)
            assert_ok(cpubind_bind_restore(f.b, &f.why));
        close_binding();
        snapshot_threads(text);
        if (strcmp(text, f.before) != 0)
            fail_msg("%s: not as before:\n%s", rows[i].name, text);
    }
}

/* The first goal stays in effect and in the record, and a watch keeps enforcing it. */
TEST(a_second_goal_that_is_refused_leaves_the_first)
{
    char first[STAGE_TEXT], text[STAGE_TEXT];
    f.how.is_strict = 1;
    open_binding();
    apply(&f.goal);
    snapshot_threads(first);
    f.sys.setaffinity = refusing_setaffinity;
    refuses_error = EPERM;
    refuses_tid = f.plain;
    assert_int_equal(cpubind_bind_apply(f.b, &f.other.goal, &f.why), CPUBIND_LINUX_ERR_REFUSED);
    assert_int_equal(f.why.error, EPERM);
    assert_string_equal(f.why.what, refuser());
    snapshot_threads(text);
    assert_string_equal(text, first);
    refuses_tid = 0;
    put_on((int32_t)f.w.pid, OTHER_CPU);
    assert_int_equal(again(), 1);
    snapshot_threads(text);
    assert_string_equal(text, first);
    restore_and_close();
    assert_all_is_as_before();
}

/* == verify ================================================================= */

TEST(verify_reports_misplaced_threads_and_changes_nothing)
{
    char to_main[16], to_other[16], text[STAGE_TEXT], now[STAGE_TEXT];
    (void)one_cpu(MAIN_CPU, to_main);
    (void)one_cpu(OTHER_CPU, to_other);
    open_binding();
    apply(&f.goal);
    close_binding();
    f.how.is_reading = 1;
    open_binding();
    verify();
    assert_true(cpubind_bind_report(f.b)->has_goal);
    assert_int_equal(cpubind_bind_report(f.b)->n, 5);
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG), 0);
    put_on(f.plain, OTHER_CPU);
    snapshot_threads(text);
    verify();
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG), 1);
    assert_item(f.plain, CPUBIND_ITEM_WRONG, to_other, to_main);
    assert_ok(cpubind_bind_verify(f.b, &f.other.goal, &f.why));
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG), 4);
    verify(); /* the one on record again */
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG), 1);
    snapshot_threads(now);
    assert_string_equal(now, text);
    close_binding();
    f.how.is_reading = 0;
    open_binding();
    restore_and_close();
}

TEST(a_goal_without_its_arrays_is_refused)
{
    const cpubind_goal whole = f.goal.goal;
    cpubind_thread_rule rule = {NULL, f.goal.goal.main, 0};
    open_binding();
    for (int i = 0; i < 5; i++) {
        cpubind_goal goal = whole;
        if (i == 0)
            goal.main.cpu = NULL;
        else if (i == 1)
            goal.main.n = INT32_MAX;
        else if (i == 2)
            goal.rule = NULL;
        else if (i == 3)
            goal.n_irq = -1;
        goal.n_rule = i == 4 ? 1 : goal.n_rule;
        goal.rule = i == 4 ? &rule : goal.rule;
        assert_int_equal(cpubind_bind_apply(f.b, &goal, &f.why), CPUBIND_LINUX_ERR_ARG);
        assert_int_equal(f.why.error, EINVAL);
        assert_string_equal(f.why.what, "goal");
        assert_int_equal(cpubind_bind_verify(f.b, &goal, &f.why), CPUBIND_LINUX_ERR_ARG);
    }
    close_binding();
    assert_all_is_as_before();
}

TEST(verify_needs_no_record_and_makes_none)
{
    f.how.is_reading = 1;
    open_binding();
    verify();
    assert_int_equal(cpubind_bind_report(f.b)->has_goal, 0);
    assert_int_equal(cpubind_bind_report(f.b)->n, 0);
    assert_ok(cpubind_bind_verify(f.b, &f.goal.goal, &f.why));
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG), 5);
    assert_item(f.acl, CPUBIND_ITEM_WRONG, on_stage.before, item_of(f.acl)->should);
    assert_int_equal(cpubind_bind_apply(f.b, &f.goal.goal, &f.why), CPUBIND_LINUX_ERR_ARG);
    assert_int_equal(cpubind_bind_restore(f.b, &f.why), CPUBIND_LINUX_ERR_ARG);
    assert_int_equal(cpubind_bind_again(f.b, &f.why), CPUBIND_LINUX_ERR_ARG);
    close_binding();
    assert_all_is_as_before();
}

/* A goal to compare with does not become the one that is watched. */
TEST(a_goal_that_was_verified_is_not_watched)
{
    open_binding();
    apply(&f.goal);
    assert_ok(cpubind_bind_verify(f.b, &f.other.goal, &f.why));
    assert_int_equal(again(), 0);
    assert_true(is_on(f.acl, OTHER_CPU));
    restore_and_close();
    assert_all_is_as_before();
}

/* == watching =============================================================== */

TEST(again_moves_new_and_drifted_threads_and_reports_them)
{
    char to_main[16], to_other[16];
    (void)one_cpu(MAIN_CPU, to_main);
    (void)one_cpu(OTHER_CPU, to_other);
    open_binding();
    assert_int_equal(cpubind_bind_again(f.b, &f.why), CPUBIND_LINUX_ERR_ARG);
    apply(&f.goal);
    assert_int_equal(again(), 0);
    int32_t late = worker_thread_add(&f.w, "acl_thread");
    put_on(f.plain, OTHER_CPU);
    assert_int_equal(again(), 2);
    assert_item(late, CPUBIND_ITEM_MOVED, to_main, to_other);
    assert_item(f.plain, CPUBIND_ITEM_MOVED, to_other, to_main);
    assert_true(is_on(late, OTHER_CPU));
    assert_true(is_on(f.plain, MAIN_CPU));
    restore_and_close();
    assert_true(is_on_both(late));
    assert_true(is_on_both(f.plain));
}

/* The lines of 400 ended threads would be more than 6,000 bytes. */
TEST(a_long_watch_drops_threads_that_have_ended)
{
    char path[STAGE_PATH], name[32];
    struct stat st;
    open_binding();
    apply(&f.goal);
    for (int i = 0; i < 400; i++) {
        int32_t tid = worker_thread_add(&f.w, "acl_thread");
        (void)again();
        assert_true(is_on(tid, OTHER_CPU));
        worker_thread_end(&f.w, tid);
    }
    snprintf(name, sizeof name, "/%d.record", (int)f.w.pid);
    stage_record_path(name, path);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size < 5600);
    restore_and_close();
    assert_all_is_as_before();
}

TEST(a_wait_ends_with_the_process)
{
    open_binding();
    apply(&f.goal);
    assert_int_equal(cpubind_bind_wait(f.b, 20), 0);
    worker_end(&f.w);
    int64_t start_ms = clock_ms();
    assert_int_equal(cpubind_bind_wait(f.b, 20000), 1);
    assert_true(clock_ms() - start_ms < 10000);
    assert_int_equal(cpubind_bind_again(f.b, &f.why), CPUBIND_LINUX_ERR_GONE);
    assert_int_equal(cpubind_bind_verify(f.b, NULL, &f.why), CPUBIND_LINUX_ERR_GONE);
    restore_and_close();
    stage_records(f.before + strlen(f.before), 64);
    assert_null(strstr(f.before, "record"));
    f.descriptors -= 2; /* the pipes of the worker */
}

static void *no_malloc(size_t size)
{
    (void)size;
    errno = ENOMEM;
    return NULL;
}

static ssize_t unreadable(int fd, void *to, size_t n)
{
    (void)fd, (void)to, (void)n;
    errno = EIO;
    return -1;
}

TEST(the_cpus_before_a_binding_are_found)
{
    cpubind_outer outer;
    cpubind_linux_fault why = cpubind_bind_find_outer(f.w.pid, &f.sys, &outer);
    assert_int_equal(why.error, 0);
    assert_int_equal(outer.n_cpu, 0);
    open_binding();
    apply(&f.goal);
    why = cpubind_bind_find_outer(f.w.pid, &f.sys, &outer);
    assert_int_equal(why.error, 0);
    assert_int_equal(outer.n_cpu, cpubind_bind_allowed(f.b).n);
    assert_memory_equal(outer.cpu, cpubind_bind_allowed(f.b).cpu,
                        (size_t)outer.n_cpu * sizeof *outer.cpu);
    assert_int_equal(outer.pid, 0); /* its own binding is not one above it */
    free(outer.cpu);
    f.sys.malloc = no_malloc;
    assert_int_equal(cpubind_bind_find_outer(f.w.pid, &f.sys, &outer).error, ENOMEM);
    f.sys.malloc = cpubind_sys_real.malloc;
    f.sys.read = unreadable;
    why = cpubind_bind_find_outer(f.w.pid, &f.sys, &outer);
    f.sys.read = cpubind_sys_real.read;
    assert_int_equal(why.error, EIO); /* who is above it is not known */
    assert_int_equal(outer.n_cpu, 0);
    assert_int_equal(outer.unread_pid, f.w.pid);
    assert_null(outer.cpu);
    assert_int_equal(cpubind_bind_find_outer(INT32_MAX, &f.sys, &outer).error, ESRCH);
    restore_and_close();
    assert_all_is_as_before();
}

static int slow_getaffinity(pid_t tid, size_t size_bytes, unsigned long *mask)
{
    usleep(300);
    return cpubind_sys_real.getaffinity(tid, size_bytes, mask);
}

/* Threads start and end during a slow apply: it ends, nothing fails, and after one more look
 * each thread that lives is where it belongs. */
TEST(a_thousand_threads_that_start_and_end_meanwhile_are_no_failure)
{
    int n_applied = 0;
    int32_t n_born = 0;
    int64_t start_ms = clock_ms();
    (void)worker_tell(&f.w, 'c', "", 0);
    while (n_born < 1000) {
        open_binding();
        n_born -= worker_tell(&f.w, 'n', "", 0);
        f.sys.getaffinity = slow_getaffinity;
        apply(&f.goal);
        f.sys.getaffinity = cpubind_sys_real.getaffinity;
        n_born += worker_tell(&f.w, 'n', "", 0);
        n_applied++;
        if (n_born < 1000)
            restore_and_close();
    }
    (void)again();
    (void)worker_tell(&f.w, 'q', "", 0);
    print_message("%d threads born during %d apply, %d ms\n", (int)n_born, n_applied,
                  (int)(clock_ms() - start_ms));
    (void)again();
    verify();
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG), 0);
    assert_true(cpubind_bind_report(f.b)->n > 5); /* some have stayed */
    restore_and_close();
    open_binding();
    assert_ok(cpubind_bind_verify(f.b, &f.goal.goal, &f.why));
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG),
                     cpubind_bind_report(f.b)->n); /* all are back */
    close_binding();
}

/* == Records and locks ====================================================== */

/* Changes bits of the start time in the record, and its memory node. Returns the node that the
 * record had before. */
static int32_t change_record(uint64_t start_bits, int32_t memory_node)
{
    char path[STAGE_PATH], name[32], text[STAGE_TEXT];
    snprintf(name, sizeof name, "/%d.record", (int)f.w.pid);
    stage_record_path(name, path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    scratch_need(fd >= 0, path);
    ssize_t n = read(fd, text, sizeof text - 1);
    scratch_need(n > 0, path);
    text[n] = '\0';
    cpubind_record record;
    cpubind_bytes bytes = {NULL, 0, 0};
    scratch_need(!cpubind_record_parse(text, (int32_t)n, &cpubind_sys_real, &record).error,
                 path);
    const int32_t node_before = record.memory_node;
    record.start ^= start_bits;
    record.memory_node = memory_node;
    scratch_need(!cpubind_record_format(&record, &cpubind_sys_real, &bytes).error, path);
    scratch_need(ftruncate(fd, 0) == 0, path);
    scratch_need(pwrite(fd, bytes.data, (size_t)bytes.len, 0) == bytes.len, path);
    cpubind_bytes_free(&bytes);
    cpubind_record_free(&record);
    close(fd);
    return node_before;
}

/* Changes the start of all users in the record of the host, if there is one. */
static void change_host_record(uint64_t start_bits)
{
    char path[STAGE_PATH], text[STAGE_TEXT];
    cpubind_cpu_sets sets = {0};
    cpubind_shared_record record;
    cpubind_bytes bytes = {NULL, 0, 0};
    stage_record_path("/host.record", path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, text, sizeof text);
    scratch_need(n > 0, path);
    scratch_need(
        !cpubind_shared_parse(text, (int32_t)n, &cpubind_sys_real, &sets, &record).error, path);
    for (int32_t i = 0; i < record.n_entry; i++)
        for (int32_t k = 0; k < record.entry[i].n_user; k++)
            record.entry[i].user[k].start ^= start_bits;
    scratch_need(!cpubind_shared_format(&record, &sets, &cpubind_sys_real, &bytes).error, path);
    scratch_need(ftruncate(fd, 0) == 0, path);
    scratch_need(pwrite(fd, bytes.data, (size_t)bytes.len, 0) == bytes.len, path);
    cpubind_bytes_free(&bytes);
    cpubind_shared_free(&record);
    cpubind_cpu_sets_free(&sets);
    close(fd);
}

/* The record is of an earlier process with the same pid. */
static void make_record_stale(void)
{
    (void)change_record(1, -1);
    change_host_record(1);
}

static void lay_interrupts(void)
{
    char list[80];
    snprintf(list, sizeof list, "%s\n", on_stage.before);
    stage_irq(IRQ_SQ, list);
    stage_irq(IRQ_CQ, list);
    goal_add_irq(&f.goal, IRQ_SQ, CPUBIND_IRQ_SQ, MAIN_CPU);
    goal_add_irq(&f.goal, IRQ_CQ, CPUBIND_IRQ_CQ, OTHER_CPU);
}

static void assert_irq(int irq, const char *list)
{
    char text[64];
    assert_string_equal(stage_irq_text(irq, text, sizeof text), list);
}

TEST(the_record_of_an_earlier_process_restores_the_host_alone)
{
    char bound[STAGE_TEXT], to_main[16];
    lay_interrupts();
    open_binding();
    apply(&f.goal);
    close_binding();
    (void)masks_of(f.w.pid, bound, sizeof bound);
    assert_irq(IRQ_SQ, one_cpu(MAIN_CPU, to_main));
    make_record_stale();
    f.how.is_reading = 1;
    open_binding();
    assert_int_equal(cpubind_bind_report(f.b)->is_alive, 0);
    assert_int_equal(cpubind_bind_allowed(f.b).n, 0);
    close_binding();
    f.how.is_reading = 0;
    open_binding();
    restore_and_close();
    assert_irq(IRQ_SQ, on_stage.before);
    assert_irq(IRQ_CQ, on_stage.before);
    char text[STAGE_TEXT];
    (void)masks_of(f.w.pid, text, sizeof text);
    assert_string_equal(text, bound); /* the threads are another's */
    stage_records(text, sizeof text);
    assert_null(strstr(text, "record"));
}

TEST(apply_restores_and_drops_the_record_of_an_earlier_process)
{
    lay_interrupts();
    open_binding();
    apply(&f.goal);
    close_binding();
    make_record_stale();
    open_binding();
    apply(&f.other); /* what is now is what was before */
    assert_irq(IRQ_SQ, on_stage.before);
    assert_true(is_on(f.acl, MAIN_CPU));
    assert_int_equal(cpubind_bind_allowed(f.b).n, 1);
    restore_and_close();
    assert_true(is_on(f.acl, OTHER_CPU));
    assert_true(is_on(f.plain, MAIN_CPU));
}

TEST(the_record_of_a_process_that_has_ended_restores_the_host)
{
    char text[STAGE_TEXT] = "";
    lay_interrupts();
    open_binding();
    apply(&f.goal);
    close_binding();
    worker_end(&f.w);
    f.descriptors -= 2;
    open_binding();
    assert_int_equal(cpubind_bind_report(f.b)->is_alive, 0);
    assert_int_equal(cpubind_bind_apply(f.b, &f.goal.goal, &f.why), CPUBIND_LINUX_ERR_GONE);
    restore_and_close();
    assert_irq(IRQ_SQ, on_stage.before);
    stage_records(text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(cpubind_bind_open(&f.how, &f.sys, &f.b, &f.why), CPUBIND_LINUX_ERR_GONE);
    assert_int_equal(f.why.error, ESRCH);
    assert_null(f.b);
}

TEST(without_a_record_restore_does_nothing)
{
    open_binding();
    assert_ok(cpubind_bind_restore(f.b, &f.why));
    assert_int_equal(cpubind_bind_report(f.b)->n, 0);
    apply(&f.goal);
    assert_ok(cpubind_bind_restore(f.b, &f.why));
    assert_int_equal(cpubind_bind_report(f.b)->n, 5);
    assert_ok(cpubind_bind_restore(f.b, &f.why));
    assert_int_equal(cpubind_bind_report(f.b)->n, 0);
    apply(&f.other); /* and again */
    restore_and_close();
    assert_all_is_as_before();
}

TEST(a_process_has_one_writer_at_a_time_and_any_reader)
{
    cpubind_binding *second = NULL;
    cpubind_bind_options reading = f.how;
    reading.is_reading = 1;
    open_binding();
    assert_int_equal(cpubind_bind_open(&f.how, &f.sys, &second, &f.why),
                     CPUBIND_LINUX_ERR_BUSY);
    assert_null(second);
    apply(&f.goal);
    assert_ok(cpubind_bind_open(&reading, &f.sys, &second, &f.why));
    assert_ok(cpubind_bind_verify(second, NULL, &f.why));
    assert_int_equal(cpubind_bind_report(second)->n, 5);
    cpubind_bind_close(second);
    restore_and_close();
    open_binding(); /* the lock was given back */
    close_binding();
    assert_all_is_as_before();
}

TEST(the_caller_may_name_the_record_file)
{
    char path[SCRATCH_PATH * 2], text[STAGE_TEXT] = "", expected[64];
    scratch_path(&on_stage.s, "own.json", path);
    f.how.record_path = path;
    open_binding();
    apply(&f.goal);
    assert_string_equal(cpubind_bind_record_path(f.b), path);
    assert_int_equal(access(path, F_OK), 0);
    stage_records(text, sizeof text); /* it names the file, and holds no record */
    snprintf(expected, sizeof expected, "record %d.path\n", (int)f.w.pid);
    assert_string_equal(text, expected);
    restore_and_close();
    assert_int_equal(access(path, F_OK), -1);
    assert_all_is_as_before();
}

TEST(a_restored_binding_can_be_applied_again)
{
    open_binding();
    apply(&f.goal);
    assert_ok(cpubind_bind_restore(f.b, &f.why));
    assert_int_equal(cpubind_bind_allowed(f.b).n, 0); /* no record says them */
    assert_true(is_on_both(f.plain));
    put_on(f.plain, MAIN_CPU); /* by somebody else */
    apply(&f.other);
    assert_true(is_on(f.plain, OTHER_CPU));
    restore_and_close();
    assert_true(is_on(f.plain, MAIN_CPU));
}

TEST(a_damaged_record_stops_apply)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(&on_stage.s, "own.record", path);
    f.how.record_path = path;
    open_binding();
    apply(&f.goal);
    assert_ok(cpubind_bind_restore(f.b, &f.why));
    scratch_file(&on_stage.s, "own.record", "damaged\n");
    assert_int_equal(cpubind_bind_apply(f.b, &f.goal.goal, &f.why), CPUBIND_LINUX_ERR_DAMAGED);
    assert_int_equal(unlink(path), 0);
    close_binding();
    assert_all_is_as_before();
}

TEST(a_pid_without_a_process_is_gone)
{
    f.how.pid = 4194304; /* above any pid_max of 64 bits */
    assert_int_equal(cpubind_bind_open(&f.how, &f.sys, &f.b, &f.why), CPUBIND_LINUX_ERR_GONE);
    assert_int_equal(f.why.error, ESRCH);
    f.how.pid = 0;
    assert_int_equal(cpubind_bind_open(&f.how, &f.sys, &f.b, &f.why), CPUBIND_LINUX_ERR_ARG);
    assert_string_equal(f.why.what, "pid");
}

static int (*openat_of_stage)(int dir, const char *path, int flags);

static int openat_without_boot_id(int dir, const char *path, int flags)
{
    if (strstr(path, "boot_id") == NULL)
        return openat_of_stage(dir, path, flags);
    errno = EIO;
    return -1;
}

TEST(a_boot_id_that_cannot_be_read_is_named)
{
    openat_of_stage = f.sys.openat;
    f.sys.openat = openat_without_boot_id;
    assert_int_equal(cpubind_bind_open(&f.how, &f.sys, &f.b, &f.why), CPUBIND_LINUX_ERR_OPEN);
    assert_string_equal(f.why.what, "boot_id");
    assert_int_equal(f.why.error, EIO);
    assert_null(f.b);
}

TEST(a_memory_limit_below_zero_is_refused)
{
    f.how.memory_limit = -1;
    assert_int_equal(cpubind_bind_open(&f.how, &f.sys, &f.b, &f.why), CPUBIND_LINUX_ERR_ARG);
    assert_string_equal(f.why.what, "memory_limit");
    assert_null(f.b);
}

TEST(a_result_without_a_word_is_a_question_mark)
{
    assert_string_equal(cpubind_item_result_word((cpubind_item_result)1000), "?");
}

/* Its first thread is a zombie then, and the process lives. */
TEST(a_process_without_its_first_thread_is_bound)
{
    char path[64], stat[512] = "";
    (void)worker_tell(&f.w, 'x', "", 0);
    snprintf(path, sizeof path, "/proc/%d/stat", (int)f.w.pid);
    while (!strstr(stat, ") Z ")) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        scratch_need(fd >= 0 && read(fd, stat, sizeof stat - 1) > 0, path);
        close(fd);
        usleep(500);
    }
    open_binding();
    apply(&f.goal);
    assert_true(is_on(f.acl, OTHER_CPU));
    assert_true(is_on(f.plain, MAIN_CPU));
    assert_int_equal(cpubind_bind_wait(f.b, 10), 0);
    verify();
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG), 0);
    restore_and_close();
    assert_true(is_on_both(f.acl));
    assert_true(is_on_both(f.plain));
}

/* == interrupts ============================================================= */

TEST(interrupts_are_restored_unless_somebody_else_has_moved_them)
{
    char to_main[16], to_other[16];
    (void)one_cpu(MAIN_CPU, to_main);
    (void)one_cpu(OTHER_CPU, to_other);
    lay_interrupts();
    open_binding();
    apply(&f.goal);
    assert_irq(IRQ_SQ, to_main);
    assert_irq(IRQ_CQ, to_other);
    assert_item(IRQ_SQ, CPUBIND_ITEM_MOVED, on_stage.before, to_main);
    assert_string_equal(item_of(IRQ_SQ)->name, "sq");
    assert_string_equal(item_of(IRQ_SQ)->actual, "0");
    verify();
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG), 0);
    stage_irq(IRQ_SQ, "7\n"); /* a CPU that no goal here has */
    verify();
    assert_item(IRQ_SQ, CPUBIND_ITEM_WRONG, "7", to_main);
    assert_ok(cpubind_bind_restore(f.b, &f.why));
    assert_item(IRQ_SQ, CPUBIND_ITEM_KEPT, "7", on_stage.before);
    close_binding();
    assert_irq(IRQ_SQ, "7");
    assert_irq(IRQ_CQ, on_stage.before);
}

TEST(interrupts_of_the_device_before_are_restored)
{
    char to_main[16];
    lay_interrupts();
    goal_add_irq(&f.other, IRQ_CQ, CPUBIND_IRQ_SQ, MAIN_CPU);
    f.other.goal.device = 4;
    open_binding();
    apply(&f.goal);
    apply(&f.other);
    assert_irq(IRQ_SQ, on_stage.before);
    assert_irq(IRQ_CQ, one_cpu(MAIN_CPU, to_main));
    stage_irq(IRQ_SQ, "7\n");
    verify();
    assert_null(item_of(IRQ_SQ)); /* the interrupt of the device before is on record no more */
    assert_int_equal(item_of(IRQ_CQ)->result, CPUBIND_ITEM_RIGHT);
    restore_and_close();
    assert_irq(IRQ_SQ, "7"); /* somebody else has moved it: it stays */
    assert_irq(IRQ_CQ, on_stage.before);
}

TEST(an_interrupt_that_may_not_be_moved_is_skipped_and_named)
{
    lay_interrupts();
    goal_add_irq(&f.goal, IRQ_CQ + 1, CPUBIND_IRQ_CQ, OTHER_CPU); /* there is none */
    open_binding();
    apply(&f.goal);
    const cpubind_item *item = item_of(IRQ_CQ + 1);
    assert_non_null(item);
    assert_int_equal(item->result, CPUBIND_ITEM_SKIPPED);
    assert_int_equal(item->error, ENOENT);
    assert_string_equal(item->what, "gone");
    assert_true(is_on(f.acl, OTHER_CPU));
    restore_and_close();
    assert_all_is_as_before();
}

/* == Threads that a cpuset moved, numbers that are no pid ================================= */

static int32_t held;

static int setaffinity_of_a_cpuset(pid_t tid, size_t size_bytes, const unsigned long *mask)
{
    if (tid != held)
        return cpubind_sys_real.setaffinity(tid, size_bytes, mask);
    errno = EINVAL;
    return -1;
}

TEST(a_thread_that_a_cpuset_has_moved_since_stays_there)
{
    const cpubind_report *r;
    cpu_set_t other;
    int n_kept = 0;
    CPU_ZERO(&other);
    CPU_SET((size_t)OTHER_CPU, &other);
    scratch_need(sched_setaffinity((pid_t)f.plain, sizeof other, &other) == 0, "setaffinity");
    open_binding();
    apply(&f.goal);
    put_on_both(f.plain);
    held = f.plain;
    f.sys.setaffinity = setaffinity_of_a_cpuset;
    assert_ok(cpubind_bind_restore(f.b, &f.why));
    r = cpubind_bind_report(f.b);
    for (int32_t i = 0; i < r->n; i++)
        n_kept += r->item[i].id == f.plain && r->item[i].result == CPUBIND_ITEM_KEPT;
    assert_int_equal(n_kept, 1);
    close_binding();
    put_on_both(f.plain);
    assert_all_is_as_before(); /* no record is left, either */
}

TEST(a_tid_is_no_pid)
{
    f.how.pid = f.plain;
    assert_int_equal(cpubind_bind_open(&f.how, &f.sys, &f.b, &f.why), CPUBIND_LINUX_ERR_GONE);
    assert_int_equal(f.why.error, EINVAL);
    assert_null(f.b);
}

static int is_banned(const irqbalance_double *daemon, int irq)
{
    for (int i = 0; i < daemon->shared->n; i++)
        if (daemon->shared->irq[i] == irq)
            return 1;
    return 0;
}

/* Starts an irqbalance that the fake host has. */
static void start_daemon(irqbalance_double *daemon)
{
    char name[64];
    scratch_need(double_start(daemon, on_stage.s.dir, DOUBLE_NAMED), "irqbalance");
    stage_list(daemon->pid);
    snprintf(name, sizeof name, "run/irqbalance/irqbalance%d.sock", (int)daemon->pid);
    scratch_file(&on_stage.s, name, "");
}

/* Interrupts that both devices have stay banned; a ban of another program stays as well. */
TEST(bans_for_the_device_before_are_lifted)
{
    irqbalance_double daemon;
    lay_interrupts();
    goal_add_irq(&f.other, IRQ_CQ, CPUBIND_IRQ_SQ, MAIN_CPU);
    f.other.goal.device = 4;
    f.how.irqbalance = CPUBIND_IRQBALANCE_BAN;
    start_daemon(&daemon);
    double_ban(daemon.shared, 17);
    open_binding();
    apply(&f.goal);
    int n_first = daemon.shared->n;
    int is_first = is_banned(&daemon, IRQ_SQ) && is_banned(&daemon, IRQ_CQ);
    apply(&f.other);
    int n_second = daemon.shared->n;
    int is_second = is_banned(&daemon, 17) && is_banned(&daemon, IRQ_CQ);
    restore_and_close();
    int n_last = daemon.shared->n;
    int is_last = is_banned(&daemon, 17);
    double_end(&daemon);
    assert_int_equal(n_first, 3);
    assert_true(is_first);
    assert_int_equal(n_second, 2);
    assert_true(is_second);
    assert_int_equal(n_last, 1);
    assert_true(is_last);
}

/* Review of live hosts, P3: an irqbalance that is started again knows none of the bans. A watch
 * tells it, and restore lifts them there. */
TEST(a_watch_tells_an_irqbalance_that_has_started_again)
{
    irqbalance_double daemon, later;
    int n_told = 0, n_last;
    lay_interrupts();
    f.how.irqbalance = CPUBIND_IRQBALANCE_BAN;
    start_daemon(&daemon);
    open_binding();
    apply(&f.goal);
    double_end(&daemon);
    (void)again(); /* none runs */
    start_daemon(&later);
    for (int i = 0; i < 8 && n_told == 0; i++) { /* the pauses are 1, 2, 4 calls */
        (void)again();
        n_told = is_banned(&later, IRQ_SQ) + is_banned(&later, IRQ_CQ);
    }
    restore_and_close();
    n_last = later.shared->n;
    double_end(&later);
    assert_int_equal(n_told, 2);
    assert_int_equal(n_last, 0);
}

static int comes_to_stop(pid_t pid)
{
    for (int i = 0; i < 2000 && !is_stopped(pid); i++)
        usleep(1000);
    return is_stopped(pid);
}

/* Starts a second process and an irqbalance that is to be stopped for both. */
static cpubind_bind_options start_second(worker *second, irqbalance_double *daemon)
{
    cpubind_bind_options how;
    lay_interrupts();
    worker_start(second, "second");
    scratch_need(double_start(daemon, on_stage.s.dir, DOUBLE_WITHOUT_SOCKET), "irqbalance");
    stage_list(second->pid);
    stage_list(daemon->pid);
    f.how.irqbalance = CPUBIND_IRQBALANCE_STOP;
    how = f.how;
    how.pid = (int32_t)second->pid;
    return how;
}

/* A record of a process that has ended keeps no daemon stopped. */
TEST(irqbalance_continues_when_the_other_process_has_ended)
{
    irqbalance_double daemon;
    worker second;
    cpubind_binding *b = NULL;
    const cpubind_bind_options how = start_second(&second, &daemon);
    open_binding();
    apply(&f.goal);
    assert_ok(cpubind_bind_open(&how, &f.sys, &b, &f.why));
    assert_ok(cpubind_bind_apply(b, &f.goal.goal, &f.why));
    cpubind_bind_close(b);
    int was_stopped = comes_to_stop(daemon.pid);
    worker_end(&second);
    restore_and_close();
    int goes_on = !is_stopped(daemon.pid);
    assert_ok(cpubind_bind_open(&how, &f.sys, &b, &f.why));
    assert_ok(cpubind_bind_restore(b, &f.why));
    cpubind_bind_close(b);
    double_end(&daemon);
    assert_true(was_stopped);
    assert_true(goes_on);
}

/* irqbalance is stopped for two processes: it continues when the last of them is restored. */
TEST(irqbalance_continues_when_the_last_process_is_restored)
{
    irqbalance_double daemon;
    worker second;
    cpubind_binding *b = NULL;
    const cpubind_bind_options how = start_second(&second, &daemon);
    open_binding();
    apply(&f.goal);
    int was_stopped = comes_to_stop(daemon.pid);
    close_binding();
    assert_ok(cpubind_bind_open(&how, &f.sys, &b, &f.why));
    assert_ok(cpubind_bind_apply(b, &f.goal.goal, &f.why));
    open_binding();
    apply(&f.goal); /* what is on record stays */
    restore_and_close();
    int is_still = is_stopped(daemon.pid);
    assert_ok(cpubind_bind_restore(b, &f.why));
    cpubind_bind_close(b);
    int goes_on = !is_stopped(daemon.pid);
    double_end(&daemon);
    worker_end(&second);
    assert_true(was_stopped);
    assert_true(is_still);
    assert_true(goes_on);
}

/* The second of two processes that are restored at once. */
static struct {
    cpubind_binding *b;
    pthread_t thread;
    int is_started;
    cpubind_linux_status status;
} rival;

static void *restore_rival(void *ctx)
{
    rival.status = cpubind_bind_restore(rival.b, NULL);
    return ctx;
}

/* The first record is about to be removed: the second restore starts, as far as it can. */
static int unlinkat_beside_rival(int dir, const char *path, int flags)
{
    if (!rival.is_started) {
        rival.is_started = 1;
        scratch_need(pthread_create(&rival.thread, NULL, restore_rival, NULL) == 0, "thread");
        usleep(200000);
    }
    return unlinkat(dir, path, flags);
}

TEST(irqbalance_continues_when_two_processes_are_restored_at_once)
{
    irqbalance_double daemon;
    worker second;
    cpubind_sys sys = f.sys;
    const cpubind_bind_options how = start_second(&second, &daemon);
    memset(&rival, 0, sizeof rival);
    assert_ok(cpubind_bind_open(&how, &sys, &rival.b, &f.why));
    assert_ok(cpubind_bind_apply(rival.b, &f.goal.goal, &f.why));
    int was_stopped = comes_to_stop(daemon.pid);
    f.sys.unlinkat = unlinkat_beside_rival;
    open_binding();
    apply(&f.goal);
    restore_and_close();
    scratch_need(rival.is_started && pthread_join(rival.thread, NULL) == 0, "join");
    cpubind_bind_close(rival.b);
    int goes_on = !is_stopped(daemon.pid);
    double_end(&daemon);
    worker_end(&second);
    assert_true(was_stopped);
    assert_int_equal(rival.status, CPUBIND_LINUX_OK);
    assert_true(goes_on);
}

/* == cpusets ================================================================ */

#define CPUSET "/sys/fs/cgroup/cpuset"

static int write_to(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)strlen(text);
}

/* A cpuset with the one CPU, and the worker in it. 0 where that cannot be had. */
static int enter_cpuset(char folder[128])
{
    char text[64] = "", pid[16];
    int fd = open(CPUSET "/cpuset.mems", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    snprintf(folder, 128, CPUSET "/cpubind-test-%d", (int)getpid());
    if (n <= 0 || mkdir(folder, 0755) < 0)
        return 0;
    int good = write_to(folder, "cpuset.mems", text);
    snprintf(text, sizeof text, "%d\n", (int)MAIN_CPU);
    snprintf(pid, sizeof pid, "%d\n", (int)f.w.pid);
    good =
        good && write_to(folder, "cpuset.cpus", text) && write_to(folder, "cgroup.procs", pid);
    if (!good)
        rmdir(folder);
    return good;
}

static void leave_cpuset(const char *folder)
{
    worker_end(&f.w);
    f.descriptors -= 2;
    for (int i = 0; i < 1000 && rmdir(folder) < 0; i++)
        usleep(1000);
}

TEST(a_goal_beyond_the_cpuset_is_refused_if_strict_and_all_is_as_before)
{
    char folder[128], text[2][STAGE_TEXT];
    cpubind_linux_status status[2];
    cpubind_linux_fault why[2];
    if (!enter_cpuset(folder)) {
        print_message("skipped: no cpuset can be made here (cgroup v1, as root)\n");
        skip();
    }
    snapshot_threads(f.before);
    f.how.is_strict = 1;
    open_binding();
    status[0] = cpubind_bind_apply(f.b, &f.goal.goal, &why[0]); /* acl: none of its CPUs */
    close_binding();
    snapshot_threads(text[0]);
    f.goal.goal.main = (cpubind_cpus){on_stage.cpu, 2}; /* some of its CPUs */
    f.goal.goal.n_rule = 0;
    open_binding();
    status[1] = cpubind_bind_apply(f.b, &f.goal.goal, &why[1]);
    close_binding();
    snapshot_threads(text[1]);
    leave_cpuset(folder);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(status[i], CPUBIND_LINUX_ERR_REFUSED);
        assert_int_equal(why[i].error, EINVAL);
        assert_string_equal(why[i].what, i ? "cpuset" : "sched_setaffinity");
        assert_string_equal(text[i], f.before);
    }
}

/* The process was put into a narrower cpuset after it was bound: restore ends, and gives it the
 * CPUs of the cpuset. */
TEST(restore_in_a_narrower_cpuset_gives_its_cpus)
{
    char folder[128];
    open_binding();
    apply(&f.goal);
    if (!enter_cpuset(folder)) {
        restore_and_close();
        print_message("skipped: no cpuset can be made here (cgroup v1, as root)\n");
        skip();
    }
    cpubind_linux_status status = cpubind_bind_restore(f.b, &f.why);
    int32_t n = cpubind_bind_report(f.b)->n;
    int is_there = is_on(f.acl, MAIN_CPU) && is_on(f.plain, MAIN_CPU);
    close_binding();
    leave_cpuset(folder);
    assert_ok(status);
    assert_true(is_there);
    assert_true(n <= 5);
}

/* == Threads of other processes ================================================== */

/* Two polling threads and another thread of a process that is not the bound one. */
TEST(polling_threads_of_other_processes_are_moved_verified_and_restored)
{
    char to_other[16], text[STAGE_TEXT];
    worker poller;
    int32_t tid[3];
    worker_start(&poller, "poller");
    tid[0] = worker_thread_add(&poller, CPUBIND_UVB_THREAD);
    tid[1] = worker_thread_add(&poller, CPUBIND_UVB_THREAD);
    tid[2] = worker_thread_add(&poller, "plain");
    for (int i = 0; i < 3; i++)
        put_on_both(tid[i]);
    stage_list(poller.pid);
    f.goal.goal.polling = (cpubind_cpus){&on_stage.cpu[1], 1};
    f.goal.goal.polling_name = CPUBIND_UVB_THREAD;
    open_binding();
    apply(&f.goal);
    (void)one_cpu(OTHER_CPU, to_other);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(mask_text(tid[i], text, sizeof text), to_other);
        assert_int_equal(item_of(tid[i])->result, CPUBIND_ITEM_MOVED);
        assert_int_equal(item_of(tid[i])->kind, CPUBIND_ITEM_POLLING);
    }
    assert_true(is_on_both(tid[2]));
    verify();
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG), 0);
    for (int i = 0; i < 2; i++)
        assert_item(tid[i], CPUBIND_ITEM_RIGHT, to_other, to_other);
    put_on_both(tid[0]);
    verify();
    assert_int_equal(count_items(CPUBIND_ITEM_WRONG), 1);
    assert_int_equal(item_of(tid[0])->result, CPUBIND_ITEM_WRONG);
    assert_ok(cpubind_bind_restore(f.b, &f.why));
    assert_null(item_of(tid[0])); /* the thread has its CPUs already */
    assert_int_equal(item_of(tid[1])->result, CPUBIND_ITEM_MOVED);
    for (int i = 0; i < 3; i++)
        assert_true(is_on_both(tid[i]));
    close_binding();
    worker_end(&poller);
}

/* == memory ================================================================= */

TEST(only_the_calling_process_can_prefer_a_node)
{
    f.how.memory = CPUBIND_MEMORY_PREFER;
    f.goal.goal.memory_node = 0;
    open_binding();
    assert_int_equal(cpubind_bind_apply(f.b, &f.goal.goal, &f.why), CPUBIND_LINUX_ERR_ARG);
    assert_string_equal(f.why.what, "memory");
    close_binding();
    assert_all_is_as_before();
}

static void ignore_progress(void *ctx, int64_t done, int64_t total)
{
    (void)ctx;
    (void)done;
    (void)total;
}

TEST(memory_is_measured_and_makes_no_call_fail)
{
    f.how.memory = CPUBIND_MEMORY_MIGRATE;
    f.how.progress = ignore_progress;
    f.how.progress_ctx = &f;
    f.goal.goal.memory_node = 0;
    open_binding();
    apply(&f.goal);
    assert_true(cpubind_bind_report(f.b)->has_memory);
    assert_true(cpubind_bind_report(f.b)->memory.progress == ignore_progress);
    assert_ptr_equal(cpubind_bind_report(f.b)->memory.ctx, &f);
    assert_int_equal(cpubind_bind_report(f.b)->memory_node, 0);
    /* With one node of memory there is no other node to move from. */
    int has_node = cpubind_bind_report(f.b)->memory.result != CPUBIND_MEMORY_NO_NODE;
    verify();
    assert_int_equal(cpubind_bind_report(f.b)->has_memory, has_node);
    assert_ok(cpubind_bind_verify(f.b, &f.goal.goal, &f.why));
    assert_true(cpubind_bind_report(f.b)->has_memory);
    assert_true(cpubind_bind_report(f.b)->memory.left >= 0);
    f.goal.goal.memory_node = CPUBIND_MAX_NODES; /* no kernel has it */
    apply(&f.goal);
    assert_int_not_equal(cpubind_bind_report(f.b)->memory.result, CPUBIND_MEMORY_MOVED);
    verify();
    restore_and_close();
    assert_all_is_as_before();
}

/* A worker with pages on node 0 of a host with two nodes, which move_pages moves. */
enum { N_PAGE = 3 * 8192, FIRST_PAGE = 0x10000000 };

static struct {
    signed char node[N_PAGE];
    int n_move, stop_after;
} memory;

static int memory_openat(int dir, const char *path, int flags)
{
    static const char *const names[] = {"numa_maps", "maps", "pagemap", "has_memory"};
    const char *leaf = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char name[32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(leaf, names[i]) == 0) {
            snprintf(name, sizeof name, "memory/%s", leaf);
            return openat(on_stage.dir, name, flags);
        }
    return stage_openat(dir, path, flags);
}

static void write_numa_maps(void)
{
    char text[128], part[2][32] = {"", ""};
    int n[2] = {0, 0};
    for (int i = 0; i < N_PAGE; i++)
        n[memory.node[i] == 1]++;
    for (int node = 0; node < 2; node++)
        if (n[node] > 0)
            snprintf(part[node], sizeof part[node], " N%d=%d", node, n[node]);
    snprintf(text, sizeof text, "%x default anon=%d%s%s kernelpagesize_kB=4\n", FIRST_PAGE,
             N_PAGE, part[0], part[1]);
    scratch_file(&on_stage.s, "memory/numa_maps", text);
}

static long memory_move_pages(pid_t pid, unsigned long n, void **page, const int *node,
                              int *status, int flags)
{
    (void)pid;
    (void)flags;
    for (unsigned long i = 0; i < n; i++) {
        const uintptr_t at = ((uintptr_t)page[i] - FIRST_PAGE) / 4096;
        assert_true(at < N_PAGE);
        if (node)
            memory.node[at] = (signed char)node[i];
        status[i] = memory.node[at];
    }
    memory.n_move += node != NULL;
    if (node)
        write_numa_maps();
    return 0;
}

static int ends_a_move(void *ctx)
{
    (void)ctx;
    return memory.n_move >= memory.stop_after;
}

/* A signal ends a move between two batches: the threads are bound and on record, verify says
 * that memory is left and does not call it a drift, until more of it is elsewhere; another call
 * moves the rest, and restore finds all. */
TEST(a_move_that_a_signal_ends_leaves_a_true_record)
{
    char maps[64], cpu[16];
    memset(&memory, 0, sizeof memory);
    memory.stop_after = 1;
    snprintf(maps, sizeof maps, "%x-%x rw-p 00000000 00:00 0 \n", FIRST_PAGE,
             FIRST_PAGE + N_PAGE * 4096);
    scratch_file(&on_stage.s, "memory/maps", maps);
    scratch_file(&on_stage.s, "memory/has_memory", "0-1\n");
    write_numa_maps();
    f.sys.openat = memory_openat;
    f.sys.move_pages = memory_move_pages;
    f.how.memory = CPUBIND_MEMORY_MIGRATE;
    f.how.stop = ends_a_move;
    f.goal.goal.memory_node = 1;
    for (int is_stopped = 1; is_stopped >= 0; is_stopped--) {
        memory.stop_after = is_stopped ? 1 : 100;
        open_binding();
        apply(&f.goal);
        const cpubind_memory_move *move = &cpubind_bind_report(f.b)->memory;
        assert_int_equal(move->result,
                         is_stopped ? CPUBIND_MEMORY_STOPPED : CPUBIND_MEMORY_MOVED);
        assert_int_equal(move->moved, is_stopped ? 8192 * 4096 : 2 * 8192 * 4096);
        close_binding();
        open_binding();
        verify();
        assert_int_equal(cpubind_bind_report(f.b)->memory_node, 1);
        const cpubind_report *report = cpubind_bind_report(f.b);
        assert_int_equal(report->memory.left, is_stopped ? 2 * 8192 * 4096 : 0);
        assert_int_equal(report->memory.own_left, report->memory.left);
        assert_int_equal(report->memory_left, report->memory.left);
        if (is_stopped)
            assert_int_equal(report->left_why, CPUBIND_STAY_STOPPED);
        assert_false(cpubind_bind_memory_is_wrong(report));
        assert_item(f.plain, CPUBIND_ITEM_RIGHT, one_cpu(MAIN_CPU, cpu), cpu);
        memset(memory.node, 0, sizeof memory.node);
        write_numa_maps();
        verify();
        assert_true(cpubind_bind_memory_is_wrong(cpubind_bind_report(f.b)));
        assert_ok(
            cpubind_bind_verify(f.b, &f.goal.goal, &f.why)); /* by the goal, not the record */
        assert_int_equal(cpubind_bind_report(f.b)->memory_left, 0);
        memset(memory.node, 1, is_stopped ? 8192 : 0);
        write_numa_maps();
        close_binding();
    }
    open_binding();
    restore_and_close();
    assert_all_is_as_before();
}

TEST(verify_without_memory_keeps_the_node_of_the_record)
{
    open_binding();
    apply(&f.goal);
    close_binding();
    (void)change_record(0, 0);
    open_binding(); /* without memory, as the set-up asks */
    verify();
    assert_int_equal(cpubind_bind_report(f.b)->memory_node, -1);
    assert_false(cpubind_bind_report(f.b)->has_memory);
    (void)worker_thread_add(&f.w, "acl_thread"); /* the next call writes the record */
    assert_int_equal(again(), 1);
    assert_int_equal(change_record(0, -1), 0);
    restore_and_close();
}

static int run_all(void)
{
    return run_on_two_cpus("bind", set_up, tear_down);
}

TEST_PROGRAM(run_all)
