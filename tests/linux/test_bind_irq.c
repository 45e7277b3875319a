/* test_bind_irq.c - interrupts of a binding, while their driver is loaded again
 * SPDX-License-Identifier: MIT
 *
 * Real threads on a fake host (fake_host.h) with two NPUs. Each write to an interrupt is
 * counted, so that a write to an interrupt of the other NPU is noticed. No test waits: a period
 * of a watch is a call of cpubind_bind_again.
 */
#define _GNU_SOURCE
#include "../support/test.h"
#include "fake_host.h"
#include "two_cpus.h"

#define MAX_IRQ 100
#define N_IRQS  3 /* of an NPU: the SQ, two CQs */
#define OTHER   "0000:0a:00.0"
#define MINE    "0000:0b:00.0"

static const char *const actions[N_IRQS] = {"sq_send_trigger_irq", "cq_update_irq",
                                            "cq_update_irq"};

static struct {
    cpubind_sys sys;
    worker w, second;
    stage_goal goal, other;
    cpubind_binding *b, *b2;
    int32_t n_writes[MAX_IRQ];
    int reloads_at; /* the drivers are loaded again after this interrupt was read; 0: never */
} f;

static void load_drivers(const char *first, const char *second);
static void unload_drivers(const char *first, const char *second);

static int counting_openat(int dir, const char *path, int flags)
{
    const int fd = stage_openat(dir, path, flags);
    int irq = 0;
    if (sscanf(path, "proc/irq/%d/smp_affinity_list", &irq) != 1 || irq >= MAX_IRQ)
        return fd;
    f.n_writes[irq] += (flags & O_ACCMODE) == O_WRONLY;
    if (f.reloads_at == irq) {
        f.reloads_at = 0;
        unload_drivers(OTHER, MINE);
        load_drivers(MINE, OTHER);
    }
    return fd;
}

/* The function whose driver is loaded first gets the numbers from 56, the other from 75. */
static void load_drivers(const char *first, const char *second)
{
    char name[96], list[80];
    snprintf(list, sizeof list, "%s\n", on_stage.before);
    for (int i = 0; i < 2 * N_IRQS; i++) {
        const int irq = i < N_IRQS ? 56 + i : 75 + i - N_IRQS;
        stage_irq_add(irq, i < N_IRQS ? first : second, actions[i % N_IRQS]);
        snprintf(name, sizeof name, "proc/irq/%d/smp_affinity_list", irq);
        scratch_file(&on_stage.s, name, list);
    }
}

static void unload_drivers(const char *first, const char *second)
{
    for (int i = 0; i < 2 * N_IRQS; i++)
        stage_irq_take(i < N_IRQS ? 56 + i : 75 + i - N_IRQS, i < N_IRQS ? first : second,
                       actions[i % N_IRQS]);
}

static void assert_on(int from, const char *sq, const char *cq)
{
    char text[64];
    for (int i = 0; i < N_IRQS; i++)
        assert_string_equal(stage_irq_text(from + i, text, sizeof text), i ? cq : sq);
}

static int32_t writes_from(int irq)
{
    return f.n_writes[irq] + f.n_writes[irq + 1] + f.n_writes[irq + 2];
}

/* The items of interrupts with a result; each must say `what`, or nothing. */
static int32_t count(cpubind_item_result result, const char *what)
{
    const cpubind_report *r = cpubind_bind_report(f.b);
    int32_t n = 0;
    for (int32_t i = 0; i < r->n; i++) {
        if (r->item[i].kind != CPUBIND_ITEM_IRQ || r->item[i].result != result)
            continue;
        n++;
        if (what)
            assert_string_equal(r->item[i].what, what);
    }
    return n;
}

static void assert_ok(cpubind_linux_status status)
{
    assert_int_equal(status, CPUBIND_LINUX_OK);
}

static void again(int n)
{
    while (n-- > 0)
        assert_ok(cpubind_bind_again(f.b, NULL));
}

static const char *main_cpu(void)
{
    static char text[16];
    snprintf(text, sizeof text, "%d", (int)on_stage.cpu[0]);
    return text;
}

static const char *other_cpu(void)
{
    static char text[16];
    snprintf(text, sizeof text, "%d", (int)on_stage.cpu[1]);
    return text;
}

static void open_and_apply(void)
{
    const cpubind_bind_options options = {.pid = (int32_t)f.w.pid,
                                          .memory = CPUBIND_MEMORY_NONE};
    assert_ok(cpubind_bind_open(&options, &f.sys, &f.b, NULL));
    assert_ok(cpubind_bind_apply(f.b, &f.goal.goal, NULL));
}

/* Review of live hosts, P1 5: a watch dragged the interrupts of another device along, and
 * verify said that all was right. */
TEST(a_driver_loaded_again_in_another_order_costs_no_foreign_interrupt)
{
    open_and_apply();
    assert_int_equal(count(CPUBIND_ITEM_MOVED, NULL), N_IRQS);
    assert_on(75, main_cpu(), other_cpu());
    unload_drivers(OTHER, MINE);
    again(1);
    assert_int_equal(count(CPUBIND_ITEM_SKIPPED, "gone"), N_IRQS);
    assert_ok(cpubind_bind_verify(f.b, NULL, NULL));
    assert_int_equal(count(CPUBIND_ITEM_WRONG, "gone"), N_IRQS);
    load_drivers(MINE, OTHER);
    memset(f.n_writes, 0, sizeof f.n_writes);
    again(1);
    assert_int_equal(count(CPUBIND_ITEM_MOVED, NULL), N_IRQS);
    assert_on(56, main_cpu(), other_cpu());
    assert_on(75, on_stage.before, on_stage.before);
    assert_ok(cpubind_bind_verify(f.b, NULL, NULL));
    assert_int_equal(count(CPUBIND_ITEM_RIGHT, NULL), N_IRQS);
    assert_ok(cpubind_bind_restore(f.b, NULL));
    assert_on(56, on_stage.before, on_stage.before);
    assert_int_equal(writes_from(56), 2 * N_IRQS);
    assert_int_equal(writes_from(75), 0);
}

TEST(what_is_gone_is_reported_once)
{
    open_and_apply();
    unload_drivers(OTHER, MINE);
    again(1);
    assert_int_equal(count(CPUBIND_ITEM_SKIPPED, "gone"), N_IRQS);
    for (int i = 0; i < 9; i++) {
        again(1);
        assert_int_equal(cpubind_bind_report(f.b)->n, 0);
    }
    assert_ok(cpubind_bind_restore(f.b, NULL)); /* nothing to put back */
    assert_int_equal(cpubind_bind_report(f.b)->n_not_restored, 0);
    load_drivers(OTHER, MINE);
    assert_int_equal(writes_from(75), N_IRQS);
}

/* Between the look and the write the numbers go to the other device. */
TEST(a_number_that_has_gone_to_another_device_is_not_written)
{
    f.reloads_at = 75;
    open_and_apply();
    assert_int_equal(writes_from(75), 0);
    assert_int_equal(count(CPUBIND_ITEM_SKIPPED, "gone"), 1); /* the CQs are looked up later */
    assert_on(75, on_stage.before, on_stage.before);
    memset(f.n_writes, 0, sizeof f.n_writes);
    assert_ok(cpubind_bind_apply(f.b, &f.goal.goal, NULL));
    assert_on(56, main_cpu(), other_cpu());
    assert_ok(cpubind_bind_restore(f.b, NULL));
    assert_int_equal(writes_from(75), 0);
}

/* == Several users of an interrupt ========================================== */

/* A second worker on the same NPU, whose goal has the CPUs the other way round. */
static void apply_second(void)
{
    const cpubind_bind_options options = {.pid = (int32_t)f.second.pid,
                                          .memory = CPUBIND_MEMORY_NONE};
    assert_ok(cpubind_bind_open(&options, &f.sys, &f.b2, NULL));
    assert_ok(cpubind_bind_apply(f.b2, &f.other.goal, NULL));
}

static int is_host_recorded(void)
{
    char text[STAGE_TEXT] = "";
    stage_records(text, sizeof text);
    return strstr(text, "host.record") != NULL;
}

/* Review of live hosts, P2 9: the restore of one of two workers unbound the interrupts of the
 * other, and the first place was lost. */
TEST(the_order_of_restores_does_not_matter)
{
    for (int first = 0; first < 2; first++) {
        open_and_apply();
        apply_second();
        assert_on(75, other_cpu(), main_cpu());
        assert_ok(cpubind_bind_restore(first ? f.b : f.b2, NULL));
        if (first)
            assert_on(75, other_cpu(), main_cpu());
        else
            assert_on(75, main_cpu(), other_cpu());
        assert_ok(cpubind_bind_restore(first ? f.b2 : f.b, NULL));
        assert_on(75, on_stage.before, on_stage.before);
        assert_false(is_host_recorded());
        cpubind_bind_close(f.b);
        cpubind_bind_close(f.b2);
        f.b = f.b2 = NULL;
    }
}

/* Review of live hosts, P2 9: the worker of before has ended and its record is there. */
TEST(the_first_place_outlives_its_worker)
{
    for (int first = 0; first < 2; first++) {
        open_and_apply();
        worker_end(&f.w);
        apply_second();
        assert_ok(cpubind_bind_restore(first ? f.b : f.b2, NULL));
        if (first)
            assert_on(75, other_cpu(), main_cpu());
        assert_ok(cpubind_bind_restore(first ? f.b2 : f.b, NULL));
        assert_on(75, on_stage.before, on_stage.before);
        assert_false(is_host_recorded());
        cpubind_bind_close(f.b);
        cpubind_bind_close(f.b2);
        f.b = f.b2 = NULL;
        worker_start(&f.w, "worker");
    }
}

/* The dead leave nothing: 20 workers end without a restore, then the host is restored. */
TEST(what_ended_workers_have_left_is_restored)
{
    cpubind_linux_fault why = {.what = ""};
    for (int i = 0; i < 20; i++) {
        open_and_apply();
        worker_end(&f.w);
        cpubind_bind_close(f.b);
        worker_start(&f.w, "worker");
    }
    apply_second();
    assert_ok(cpubind_bind_open_host(&f.sys, &f.b, &why));
    assert_ok(cpubind_bind_restore(f.b, &why));
    assert_int_equal(cpubind_bind_report(f.b)->n, 0); /* the second one lives */
    assert_on(75, other_cpu(), main_cpu());
    worker_end(&f.second);
    assert_ok(cpubind_bind_restore(f.b, &why));
    assert_int_equal(count(CPUBIND_ITEM_MOVED, NULL), N_IRQS);
    assert_on(75, on_stage.before, on_stage.before);
    assert_false(is_host_recorded());
    worker_start(&f.second, "second");
}

/* A new worker finds the interrupt where nobody of cpubind has put it. */
TEST(somebody_elses_place_is_the_origin_of_the_next_worker)
{
    char name[96];
    open_and_apply();
    worker_end(&f.w);
    for (int irq = 75; irq < 75 + N_IRQS; irq++) {
        snprintf(name, sizeof name, "proc/irq/%d/smp_affinity_list", irq);
        scratch_file(&on_stage.s, name, "7\n");
    }
    apply_second();
    assert_ok(cpubind_bind_restore(f.b2, NULL));
    assert_on(75, "7", "7");
    assert_ok(cpubind_bind_restore(f.b, NULL));
    assert_on(75, "7", "7");
    assert_false(is_host_recorded());
    worker_start(&f.w, "worker");
}

TEST(a_watch_leaves_an_interrupt_to_the_last_user)
{
    open_and_apply();
    apply_second();
    again(9);
    assert_on(75, other_cpu(), main_cpu());
    assert_ok(cpubind_bind_restore(f.b2, NULL));
    assert_on(75, main_cpu(), other_cpu());
    again(1);
    assert_ok(cpubind_bind_restore(f.b, NULL));
    assert_on(75, on_stage.before, on_stage.before);
}

/* == The fake host ========================================================= */

static void make_goal(stage_goal *goal, int32_t sq, int32_t cq)
{
    goal_make(goal, sq, cq);
    for (int i = 0; i < N_IRQS; i++) {
        goal_add_irq(goal, 75 + i, i ? CPUBIND_IRQ_CQ : CPUBIND_IRQ_SQ, i ? cq : sq);
        goal->irq[i].id = (cpubind_irq_id){MINE, "", i > 1};
        snprintf(goal->irq[i].id.name, sizeof goal->irq[i].id.name, "%s", actions[i]);
    }
}

SETUP(set_up)
{
    memset(&f, 0, sizeof f);
    if (!stage_make())
        return -1;
    f.sys = stage_table();
    f.sys.openat = counting_openat;
    worker_start(&f.w, "worker");
    worker_start(&f.second, "second");
    stage_list(f.w.pid);
    load_drivers(OTHER, MINE);
    make_goal(&f.goal, on_stage.cpu[0], on_stage.cpu[1]);
    make_goal(&f.other, on_stage.cpu[1], on_stage.cpu[0]);
    return 0;
}

SETUP(tear_down)
{
    cpubind_bind_close(f.b);
    cpubind_bind_close(f.b2);
    worker_end(&f.w);
    worker_end(&f.second);
    stage_remove();
    return has_child() ? -1 : 0;
}

static int run_all(void)
{
    return run_on_two_cpus("bind irq", set_up, tear_down);
}

TEST_PROGRAM(run_all)
