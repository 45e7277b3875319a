/* test_bind_driver.c - kernel threads, work queues and the mailbox of the driver are bound
 * SPDX-License-Identifier: MIT
 *
 * The kernel thread is a process of the test whose stat says that it is one; work queues and
 * interrupts are files of a scratch folder (fake_host.h).
 */
#define _GNU_SOURCE
#include "../../adapters/text/cpumask.h"
#include "../support/test.h"
#include "fake_host.h"
#include "two_cpus.h"

#define THREAD "dev4_sq_task"
#define QUEUE  "dev10_sq_send_wq" /* longer than a name of a thread */
#define IRQ    301

static struct {
    cpubind_sys sys;
    worker w, next, kernel;
    cpubind_bind_options how;
    cpubind_binding *b;
    cpubind_linux_fault why;
    stage_goal goal, other;
    cpubind_driver_goal driver[2], other_driver[2];
    char both[32], mask[32]; /* the CPUs of the stage, as mask_text and as a mask */
    char folder[STAGE_TEXT];
} f;

#include "bound.h"

static void mask_of(int32_t cpu, char out[32])
{
    int32_t len = 0;
    assert_int_equal(cpubind_cpumask_format(&cpu, 1, cpu + 1, out, 31, &len), CPUBIND_TEXT_OK);
    out[len] = '\0';
}

static void make_goal(stage_goal *goal, cpubind_driver_goal *driver, int32_t main_cpu,
                      int32_t other_cpu)
{
    goal_make(goal, main_cpu, other_cpu);
    driver[0] = (cpubind_driver_goal){CPUBIND_NAMED_KERNEL, THREAD, {&goal->cpu[1], 1}};
    driver[1] = (cpubind_driver_goal){CPUBIND_NAMED_QUEUE, QUEUE, {&goal->cpu[1], 1}};
    goal->goal.driver = driver;
    goal->goal.n_driver = 2;
}

SETUP(set_up)
{
    char text[40];
    int32_t len = 0;
    memset(&f, 0, sizeof f);
    if (!stage_make())
        return -1;
    f.sys = stage_table();
    worker_start(&f.w, "worker");
    worker_start(&f.next, "worker");
    worker_start(&f.kernel, THREAD);
    put_on_both((int32_t)f.kernel.pid);
    (void)mask_text((int32_t)f.kernel.pid, f.both, sizeof f.both);
    stage_kernel_thread(f.kernel.pid, THREAD, 1);
    assert_int_equal(
        cpubind_cpumask_format(on_stage.cpu, 2, on_stage.cpu[1] + 1, f.mask, 31, &len),
        CPUBIND_TEXT_OK);
    f.mask[len] = '\0';
    snprintf(text, sizeof text, "%s\n", f.mask);
    stage_workqueue(QUEUE, text);
    f.how = (cpubind_bind_options){.pid = (int32_t)f.w.pid, .memory = CPUBIND_MEMORY_NONE};
    make_goal(&f.goal, f.driver, MAIN_CPU, OTHER_CPU);
    make_goal(&f.other, f.other_driver, OTHER_CPU, MAIN_CPU);
    stage_records(f.folder, sizeof f.folder);
    return 0;
}

SETUP(tear_down)
{
    cpubind_bind_close(f.b);
    worker_end(&f.w);
    worker_end(&f.next);
    worker_end(&f.kernel);
    stage_remove();
    return has_child() ? -1 : 0;
}

static void open_of(pid_t pid)
{
    f.how.pid = (int32_t)pid;
    open_binding();
}

static void apply_to(pid_t pid, const stage_goal *goal)
{
    open_of(pid);
    apply(goal);
}

static void restore(pid_t pid)
{
    open_of(pid);
    restore_and_close();
}

static const cpubind_item *item_of_kind(cpubind_item_kind kind)
{
    const cpubind_report *r = cpubind_bind_report(f.b);
    for (int32_t i = 0; i < r->n; i++)
        if (r->item[i].kind == kind)
            return &r->item[i];
    return NULL;
}

static void expect_item(cpubind_item_kind kind, cpubind_item_result result)
{
    const cpubind_item *item = item_of_kind(kind);
    assert_non_null(item);
    assert_string_equal(cpubind_item_result_word(item->result),
                        cpubind_item_result_word(result));
    assert_string_equal(item->name, kind == CPUBIND_ITEM_KERNEL ? THREAD : "dev10_sq_send_w");
    assert_int_equal(item->id, kind == CPUBIND_ITEM_KERNEL ? (int32_t)f.kernel.pid : 0);
}

static void expect_on(int32_t cpu)
{
    char text[64], mask[32];
    mask_of(cpu, mask);
    assert_true(is_on((int32_t)f.kernel.pid, cpu));
    assert_string_equal(stage_workqueue_text(QUEUE, text, sizeof text), mask);
}

static void expect_as_before(void)
{
    char text[STAGE_TEXT] = "";
    assert_string_equal(mask_text((int32_t)f.kernel.pid, text, 64), f.both);
    assert_string_equal(stage_workqueue_text(QUEUE, text, 64), f.mask);
    *text = '\0';
    stage_records(text, sizeof text);
    assert_string_equal(text, f.folder);
}

TEST(the_driver_is_bound_verified_and_restored)
{
    char mask[32];
    apply_to(f.w.pid, &f.goal);
    expect_item(CPUBIND_ITEM_KERNEL, CPUBIND_ITEM_MOVED);
    expect_item(CPUBIND_ITEM_WORKQUEUE, CPUBIND_ITEM_MOVED);
    expect_on(OTHER_CPU);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cpubind_bind_verify(f.b, i ? &f.goal.goal : NULL, &f.why),
                         CPUBIND_LINUX_OK);
        expect_item(CPUBIND_ITEM_KERNEL, CPUBIND_ITEM_RIGHT);
        expect_item(CPUBIND_ITEM_WORKQUEUE, CPUBIND_ITEM_RIGHT);
    }
    put_on_both((int32_t)f.kernel.pid);
    mask_of(MAIN_CPU, mask);
    stage_workqueue(QUEUE, mask);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cpubind_bind_verify(f.b, i ? &f.goal.goal : NULL, &f.why),
                         CPUBIND_LINUX_OK);
        expect_item(CPUBIND_ITEM_KERNEL, CPUBIND_ITEM_WRONG);
        expect_item(CPUBIND_ITEM_WORKQUEUE, CPUBIND_ITEM_WRONG);
    }
    close_binding();
    apply_to(f.w.pid, &f.goal);
    close_binding();
    restore(f.w.pid);
}

TEST(restore_puts_the_driver_back)
{
    apply_to(f.w.pid, &f.goal);
    close_binding();
    apply_to(f.w.pid, &f.goal); /* the record on disk has it */
    expect_item(CPUBIND_ITEM_KERNEL, CPUBIND_ITEM_RIGHT);
    expect_item(CPUBIND_ITEM_WORKQUEUE, CPUBIND_ITEM_RIGHT);
    close_binding();
    restore(f.w.pid);
    expect_as_before();
}

TEST(a_kernel_thread_is_found_without_a_list_of_children)
{
    char path[SCRATCH_PATH * 2];
    snprintf(path, sizeof path, "%s/proc/2/task/2/children", on_stage.s.dir);
    scratch_need(unlink(path) == 0, path);
    apply_to(f.w.pid, &f.goal);
    expect_item(CPUBIND_ITEM_KERNEL, CPUBIND_ITEM_MOVED);
    close_binding();
    restore(f.w.pid);
    expect_as_before();
}

/* A process of a user may have any name. */
TEST(a_process_with_the_name_is_no_kernel_thread)
{
    on_stage.kernel = 0; /* its stat is its own again */
    apply_to(f.w.pid, &f.goal);
    assert_null(item_of_kind(CPUBIND_ITEM_KERNEL));
    assert_string_equal(mask_text((int32_t)f.kernel.pid, (char[64]){0}, 64), f.both);
    close_binding();
    restore(f.w.pid);
    expect_as_before();
}

TEST(a_host_without_them_is_bound_all_the_same)
{
    f.driver[0].name[3] = '7';
    f.driver[1].name[3] = '7';
    f.how.is_strict = 1;
    apply_to(f.w.pid, &f.goal);
    assert_null(item_of_kind(CPUBIND_ITEM_KERNEL));
    assert_null(item_of_kind(CPUBIND_ITEM_WORKQUEUE));
    assert_int_equal(cpubind_bind_verify(f.b, &f.goal.goal, &f.why), CPUBIND_LINUX_OK);
    assert_null(item_of_kind(CPUBIND_ITEM_WORKQUEUE));
    close_binding();
    restore(f.w.pid);
}

static int32_t fixed;

static int refusing_setaffinity(pid_t tid, size_t size_bytes, const unsigned long *mask)
{
    if (tid == (pid_t)fixed) {
        errno = EINVAL; /* PF_NO_SETAFFINITY */
        return -1;
    }
    return cpubind_sys_real.setaffinity(tid, size_bytes, mask);
}

TEST(a_thread_that_nobody_can_move_is_said)
{
    fixed = (int32_t)f.kernel.pid;
    f.sys.setaffinity = refusing_setaffinity;
    apply_to(f.w.pid, &f.goal);
    expect_item(CPUBIND_ITEM_KERNEL, CPUBIND_ITEM_SKIPPED);
    assert_int_equal(item_of_kind(CPUBIND_ITEM_KERNEL)->error, EINVAL);
    expect_item(CPUBIND_ITEM_WORKQUEUE, CPUBIND_ITEM_MOVED);
    close_binding();
    restore(f.w.pid);
    expect_as_before();
    f.how.is_strict = 1;
    open_of(f.w.pid);
    assert_int_equal(cpubind_bind_apply(f.b, &f.goal.goal, &f.why), CPUBIND_LINUX_ERR_REFUSED);
    close_binding();
    expect_as_before();
}

/* Two workers of one NPU: the last one counts; when it goes, the other's CPUs do. */
TEST(two_workers_share_what_is_the_drivers)
{
    apply_to(f.w.pid, &f.goal);
    close_binding();
    apply_to(f.next.pid, &f.other);
    expect_on(MAIN_CPU);
    close_binding();
    restore(f.next.pid);
    expect_on(OTHER_CPU);
    restore(f.w.pid);
    expect_as_before();
}

TEST(the_driver_of_another_npu_is_given_back)
{
    apply_to(f.w.pid, &f.goal);
    close_binding();
    f.other.goal.device = 7;
    f.other_driver[0].name[3] = '7';
    f.other_driver[1].name[3] = '7';
    apply_to(f.w.pid, &f.other);
    assert_string_equal(mask_text((int32_t)f.kernel.pid, (char[64]){0}, 64), f.both);
    assert_string_equal(stage_workqueue_text(QUEUE, (char[64]){0}, 64), f.mask);
    close_binding();
    restore(f.w.pid);
    expect_as_before();
}

TEST(a_watch_moves_the_driver_again)
{
    char mask[32];
    apply_to(f.w.pid, &f.goal);
    put_on_both((int32_t)f.kernel.pid);
    mask_of(MAIN_CPU, mask);
    stage_workqueue(QUEUE, mask);
    assert_int_equal(cpubind_bind_again(f.b, &f.why), CPUBIND_LINUX_OK);
    expect_item(CPUBIND_ITEM_KERNEL, CPUBIND_ITEM_MOVED);
    expect_item(CPUBIND_ITEM_WORKQUEUE, CPUBIND_ITEM_MOVED);
    expect_on(OTHER_CPU);
    assert_int_equal(cpubind_bind_again(f.b, &f.why), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_bind_report(f.b)->n, 0);
    close_binding();
    restore(f.w.pid);
    expect_as_before();
}

/* The driver was loaded again: its kernel thread has another number, and all CPUs. */
TEST(a_watch_finds_a_kernel_thread_that_was_started_again)
{
    worker next; /* a child that starts later would keep the locks */
    worker_start(&next, THREAD);
    put_on_both((int32_t)next.pid);
    apply_to(f.w.pid, &f.goal);
    worker_end(&f.kernel);
    f.kernel = next;
    assert_int_equal(cpubind_bind_again(f.b, &f.why), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_bind_report(f.b)->n, 0);
    stage_kernel_thread(f.kernel.pid, THREAD, 1);
    assert_int_equal(cpubind_bind_again(f.b, &f.why), CPUBIND_LINUX_OK);
    expect_item(CPUBIND_ITEM_KERNEL, CPUBIND_ITEM_MOVED);
    expect_on(OTHER_CPU);
    assert_int_equal(cpubind_bind_again(f.b, &f.why), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_bind_report(f.b)->n, 0);
    close_binding();
    restore(f.w.pid);
    expect_as_before();
}

/* A goal of the same NPU without the driver, as of --threads reference. */
TEST(the_driver_goes_back_when_a_goal_names_it_no_more)
{
    char text[64], list[80];
    snprintf(list, sizeof list, "%s\n", on_stage.before);
    stage_irq(IRQ, list);
    goal_add_irq(&f.goal, IRQ, CPUBIND_IRQ_MAILBOX, OTHER_CPU);
    apply_to(f.w.pid, &f.goal);
    expect_on(OTHER_CPU);
    f.goal.goal.n_driver = 0;
    assert_int_equal(cpubind_bind_apply(f.b, &f.goal.goal, &f.why), CPUBIND_LINUX_OK);
    assert_string_equal(mask_text((int32_t)f.kernel.pid, (char[64]){0}, 64), f.both);
    assert_string_equal(stage_workqueue_text(QUEUE, (char[64]){0}, 64), f.mask);
    snprintf(list, sizeof list, "%d", (int)OTHER_CPU);
    assert_string_equal(stage_irq_text(IRQ, text, sizeof text), list);
    f.goal.goal.n_irq = 0;
    f.goal.goal.no_irq = CPUBIND_IRQ_FOUND;
    assert_int_equal(cpubind_bind_apply(f.b, &f.goal.goal, &f.why), CPUBIND_LINUX_OK);
    assert_string_equal(stage_irq_text(IRQ, text, sizeof text), on_stage.before);
    close_binding();
    restore(f.w.pid);
    expect_as_before();
}

TEST(somebody_else_may_have_moved_them_since)
{
    char text[64], mask[32];
    apply_to(f.w.pid, &f.goal);
    close_binding();
    mask_of(MAIN_CPU, mask);
    stage_workqueue(QUEUE, mask);
    put_on((int32_t)f.kernel.pid, MAIN_CPU);
    open_of(f.w.pid);
    assert_int_equal(cpubind_bind_restore(f.b, &f.why), CPUBIND_LINUX_OK);
    expect_item(CPUBIND_ITEM_KERNEL, CPUBIND_ITEM_KEPT);
    expect_item(CPUBIND_ITEM_WORKQUEUE, CPUBIND_ITEM_KEPT);
    assert_true(is_on((int32_t)f.kernel.pid, MAIN_CPU));
    assert_string_equal(stage_workqueue_text(QUEUE, text, sizeof text), mask);
}

TEST(a_mask_that_makes_no_sense_fails_the_call)
{
    stage_workqueue(QUEUE, "x\n");
    open_of(f.w.pid);
    assert_int_not_equal(cpubind_bind_apply(f.b, &f.goal.goal, &f.why), CPUBIND_LINUX_OK);
    assert_int_equal(f.why.error, EILSEQ);
    close_binding();
    assert_string_equal(mask_text((int32_t)f.kernel.pid, (char[64]){0}, 64), f.both);
}

TEST(the_mailbox_is_recorded_and_restored)
{
    char text[64], list[80], to_other[16];
    snprintf(list, sizeof list, "%s\n", on_stage.before);
    snprintf(to_other, sizeof to_other, "%d", (int)OTHER_CPU);
    stage_irq(IRQ, list);
    goal_add_irq(&f.goal, IRQ, CPUBIND_IRQ_MAILBOX, OTHER_CPU);
    apply_to(f.w.pid, &f.goal);
    assert_string_equal(stage_irq_text(IRQ, text, sizeof text), to_other);
    assert_string_equal(item_of_kind(CPUBIND_ITEM_IRQ)->name, "mailbox");
    close_binding();
    open_of(f.w.pid); /* from the record alone */
    assert_int_equal(cpubind_bind_verify(f.b, NULL, &f.why), CPUBIND_LINUX_OK);
    assert_int_equal(item_of_kind(CPUBIND_ITEM_IRQ)->result, CPUBIND_ITEM_RIGHT);
    close_binding();
    restore(f.w.pid);
    assert_string_equal(stage_irq_text(IRQ, text, sizeof text), on_stage.before);
    expect_as_before();
}

static int run_all(void)
{
    return run_on_two_cpus("bind_driver", set_up, tear_down);
}

TEST_PROGRAM(run_all)
