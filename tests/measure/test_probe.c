/* test_probe.c - made workers beside noise, and the memory of nodes
 * SPDX-License-Identifier: MIT
 *
 * Times are compared where they differ by more than the load of a machine can do: a step beside
 * a hog of the same CPU waits for slices of the scheduler, one apart from it does not.
 */
#define _GNU_SOURCE
#include <math.h>

#include "../linux/fault_table.h"
#include "../linux/temp_dir.h"
#include "../linux/test_process.h"
#include "../support/test.h"

#include "../../adapters/measure/latency.h"
#include "../../adapters/measure/probe.h"

static int descriptors;

static int count_threads(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/task");
    scratch_need(folder != NULL, "/proc/self/task");
    while (readdir(folder))
        n++;
    closedir(folder);
    return n - 2;
}

SETUP(set_up)
{
    fault_clear();
    descriptors = open_descriptors();
    return 0;
}

/* A probe leaves no thread and no descriptor. A thread that was joined is in /proc for a moment
 * after that. */
SETUP(tear_down)
{
    for (int i = 0; count_threads() > 1 && i < 1000; i++)
        (void)poll(NULL, 0, 1);
    return count_threads() == 1 && open_descriptors() == descriptors ? 0 : -1;
}

/* == Latencies ============================================================== */

TEST(quantiles_are_off_by_less_than_a_part)
{
    cpubind_latency *l = calloc(1, sizeof *l), *all = calloc(1, sizeof *all);
    assert_true(l && all);
    assert_true(cpubind_latency_quantile(l, 0.5) == 0);
    for (int64_t ns = 0; ns < 1000; ns++)
        cpubind_latency_add(l, ns * 1000);
    for (int i = 1; i <= 1000; i++) {
        const double right = 1000.0 * (i - 1), seen = cpubind_latency_quantile(l, i / 1000.0);
        if (fabs(seen - right) > 0.008 * right)
            fail_msg("%d: %g, not %g", i, seen, right);
    }
    cpubind_latency_merge(all, l);
    cpubind_latency_merge(all, l);
    assert_true(all->n == 2000 &&
                cpubind_latency_quantile(all, 0.5) == cpubind_latency_quantile(l, 0.5));
    free(l);
    free(all);
}

TEST(the_shortest_and_the_longest_latency_have_a_slot)
{
    cpubind_latency *l = calloc(1, sizeof *l);
    assert_non_null(l);
    cpubind_latency_add(l, -1);
    cpubind_latency_add(l, INT64_MAX);
    assert_true(l->slot[0] == 1 && l->slot[CPUBIND_LATENCY_SLOTS - 1] == 1);
    assert_true(cpubind_latency_quantile(l, 0.5) == 0);
    assert_true(cpubind_latency_quantile(l, 1) > 1e12);
    for (int k = 0; k < 40; k++) {
        const int64_t ns = INT64_C(1) << k;
        memset(l, 0, sizeof *l);
        cpubind_latency_add(l, ns);
        assert_true(fabs(cpubind_latency_quantile(l, 1) - (double)ns) <= 0.008 * (double)ns);
    }
    free(l);
}

/* == Blocks ================================================================= */

static const char *const names[] = {
    "step.p50",         "step.p99",         "step.p999",      "steps",
    "wake_acl.p50",     "wake_acl.p99",     "wake_main.p50",  "wake_main.p99",
    "wake_release.p50", "wake_release.p99", "wake_timer.p50", "wake_timer.p99"};
#define N_NAMES ((int32_t)(sizeof names / sizeof *names))

static cpubind_probe_worker worker_on(const int32_t *cpu, int32_t n)
{
    const cpubind_cpus cpus = {cpu, n};
    return (cpubind_probe_worker){cpus, cpus, cpus, cpus, -1};
}

static double value_of(const cpubind_figures *figures, const char *name)
{
    const cpubind_figure *figure = cpubind_figure_of(figures, name);
    assert_non_null(figure);
    assert_string_equal(figure->not_counted, "");
    return figure->value;
}

static cpubind_figures run_block(const int32_t *cpu, cpubind_probe_noise noise, int32_t time_ms)
{
    const cpubind_probe_worker made = worker_on(cpu, 1);
    const cpubind_probe_block block = {&made, 1, noise, 100, time_ms, NULL, NULL};
    cpubind_figures figures = {0};
    const cpubind_linux_fault why = cpubind_probe_run(&cpubind_sys_real, &block, &figures);
    if (why.error)
        fail_msg("%s: %s", why.what, strerror(why.error));
    return figures;
}

/* Whether a worker beside the hog is worse by far than one apart from it. */
static int is_worse_by_far(const int32_t *cpu)
{
    const cpubind_probe_noise hog = {.n_cpu = 2, .cpus = {cpu + 1, 1}};
    const cpubind_figures apart = run_block(cpu, hog, 1000);
    const cpubind_figures beside = run_block(cpu + 1, hog, 1000);
    const cpubind_figure *p99[] = {cpubind_figure_of(&apart, "step.p99"),
                                   cpubind_figure_of(&beside, "step.p99")};
    assert_int_equal(apart.n, N_NAMES);
    for (int32_t i = 0; i < N_NAMES; i++)
        assert_string_equal(apart.at[i].name, names[i]);
    print_message("# step.p99 apart %.0f us, beside %.0f us; steps %.0f/s and %.0f/s\n",
                  p99[0]->value, p99[1]->value, value_of(&apart, "steps"),
                  value_of(&beside, "steps"));
    return !p99[0]->not_counted[0] && !p99[1]->not_counted[0] &&
           p99[1]->value > 2 * p99[0]->value &&
           value_of(&beside, "steps") < value_of(&apart, "steps");
}

/* A machine that is busy with other things has hogs everywhere: one try may not show it. */
TEST(a_worker_beside_a_hog_is_worse_by_far_than_one_apart)
{
    int32_t cpu[2];
    int is_shown = 0;
    if (!two_cpus(cpu))
        skip();
    for (int i = 0; i < 10 && !is_shown; i++)
        is_shown = is_worse_by_far(cpu);
    assert_true(is_shown);
}

TEST(many_workers_and_every_noise_run_unbound)
{
    cpubind_probe_worker workers[3];
    for (int i = 0; i < 3; i++)
        workers[i] = worker_on(NULL, 0);
    const cpubind_probe_block block = {
        workers, 3, {.n_cpu = 1, .n_memory = 1, .n_irq = 2}, 0, 300, NULL, NULL};
    cpubind_figures figures = {0};
    assert_int_equal(cpubind_probe_run(&cpubind_sys_real, &block, &figures).error, 0);
    assert_int_equal(figures.n, N_NAMES);
    assert_true(value_of(&figures, "steps") > 0);
}

TEST(too_few_steps_for_a_quantile_are_said)
{
    const cpubind_probe_worker made = worker_on(NULL, 0);
    const cpubind_probe_block block = {&made, 1, {0}, 0, 1, NULL, NULL};
    cpubind_figures figures = {0};
    assert_int_equal(cpubind_probe_run(&cpubind_sys_real, &block, &figures).error, 0);
    const cpubind_figure *figure = cpubind_figure_of(&figures, "wake_timer.p99");
    assert_string_equal(figure->not_counted, "too few were seen in the time of a block");
}

static int is_asked(void *ctx)
{
    return ++*(int *)ctx > 3;
}

TEST(a_block_ends_when_it_is_asked_to)
{
    int n = 0;
    const int64_t start = clock_ms();
    const cpubind_probe_worker made = worker_on(NULL, 0);
    const cpubind_probe_block block = {&made, 1, {0}, 0, 600000, is_asked, &n};
    cpubind_figures figures = {0};
    assert_int_equal(cpubind_probe_run(&cpubind_sys_real, &block, &figures).error, ECANCELED);
    assert_true(figures.n == 0 && clock_ms() - start < 60000);
}

TEST(bad_blocks_are_refused)
{
    const int32_t no_cpu = 65535;
    const cpubind_probe_worker made = worker_on(NULL, 0), nowhere = worker_on(&no_cpu, 1);
    const cpubind_probe_block good = {&made, 1, {0}, 0, 1, NULL, NULL};
    cpubind_probe_block bad[] = {good, good, good, good, good, good};
    cpubind_figures figures = {0};
    bad[0].n_worker = 0;
    bad[1].n_worker = CPUBIND_PROBE_WORKERS + 1;
    bad[2].time_ms = 0;
    bad[3].warm_ms = -1;
    bad[4].noise.n_cpu = -1;
    bad[5].noise.n_irq = CPUBIND_PROBE_NOISE + 1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(cpubind_probe_run(&cpubind_sys_real, &bad[i], &figures).error, EINVAL);
    bad[0] = good;
    bad[0].worker = &nowhere;
    const cpubind_linux_fault why = cpubind_probe_run(&cpubind_sys_real, &bad[0], &figures);
    assert_string_equal(why.what, "sched_setaffinity");
    assert_true(why.error == EINVAL && figures.n == 0);
}

/* == Nodes ================================================================== */

TEST(the_memory_of_one_node_is_measured)
{
    const cpubind_probe_node node = {0, {NULL, 0}};
    cpubind_probe_cell cell;
    const cpubind_probe_matrix m = {&node, 1, 50, NULL, NULL, &cell};
    assert_int_equal(cpubind_probe_nodes(&cpubind_sys_real, &m).error, 0);
    assert_null(cell.not_measured);
    print_message("# copy %.0f MB/s, latency %.1f ns\n", cell.copy_mb_s, cell.latency_ns);
    assert_true(cell.copy_mb_s > 1 && cell.latency_ns > 0.1 && cell.latency_ns < 1e6);
}

/* A kernel of two nodes, whose second one is full. */
static int take_policy(int mode, const unsigned long *nodes, unsigned long n_bit)
{
    (void)mode, (void)nodes, (void)n_bit;
    return 0;
}

static long all_on_node_0(pid_t pid, unsigned long n, void **page, const int *node, int *status,
                          int flags)
{
    (void)pid, (void)page, (void)node, (void)flags;
    for (unsigned long i = 0; i < n; i++)
        status[i] = 0;
    return 0;
}

static int no_policy(int mode, const unsigned long *nodes, unsigned long n_bit)
{
    (void)mode, (void)nodes, (void)n_bit;
    errno = EPERM;
    return -1;
}

TEST(a_node_whose_memory_cannot_be_had_is_not_measured)
{
    const cpubind_probe_node nodes[] = {{0, {NULL, 0}}, {1, {NULL, 0}}};
    cpubind_probe_cell cell[4];
    const cpubind_probe_matrix m = {nodes, 2, 1, NULL, NULL, cell};
    cpubind_sys sys = cpubind_sys_real;
    sys.set_mempolicy = take_policy;
    sys.move_pages = all_on_node_0;
    assert_int_equal(cpubind_probe_nodes(&sys, &m).error, 0);
    for (int i = 0; i < 4; i++) {
        assert_true((cell[i].not_measured == NULL) == (i % 2 == 0));
        assert_true((cell[i].copy_mb_s > 0) == (i % 2 == 0));
    }
    assert_string_equal(cell[1].not_measured, "its pages are not on this node");
    sys.set_mempolicy = no_policy;
    assert_int_equal(cpubind_probe_nodes(&sys, &m).error, 0);
    assert_string_equal(cell[0].not_measured, "the kernel gives no memory of this node");
}

TEST(bad_matrices_are_refused)
{
    const cpubind_probe_node node = {0, {NULL, 0}};
    cpubind_probe_cell cell;
    int n = 3;
    const cpubind_probe_matrix bad[] = {
        {&node, 0, 1, NULL, NULL, &cell},
        {&node, CPUBIND_PROBE_WORKERS + 1, 1, NULL, NULL, &cell},
        {&node, 1, 0, NULL, NULL, &cell}};
    const cpubind_probe_matrix asked = {&node, 1, 600000, is_asked, &n, &cell};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(cpubind_probe_nodes(&cpubind_sys_real, &bad[i]).error, EINVAL);
    assert_int_equal(cpubind_probe_nodes(&cpubind_sys_real, &asked).error, ECANCELED);
}

/* == Failing calls ========================================================== */

static struct {
    int32_t cpu[2];
    cpubind_figures figures;
    cpubind_probe_cell cell[4];
} f;

static cpubind_linux_fault run_small_block(void)
{
    cpubind_probe_worker made = worker_on(f.cpu, 1);
    const cpubind_probe_block block = {
        &made, 1, {.n_memory = 1, .n_irq = 1, .cpus = {f.cpu, 1}}, 1, 1, NULL, NULL};
    made.node = 0;
    f.figures.n = 0;
    return cpubind_probe_run(&fault_table, &block, &f.figures);
}

static cpubind_linux_fault run_small_matrix(void)
{
    const cpubind_probe_node nodes[] = {{0, {f.cpu, 1}}, {0, {f.cpu, 1}}};
    const cpubind_probe_matrix m = {nodes, 2, 1, NULL, NULL, f.cell};
    return cpubind_probe_nodes(&fault_table, &m);
}

/* Runs with the uses of each call in the first of the equal parts of a whole run, and with its
 * last use, after all parts; of calls that wait, with the first. */
static int fail_each(cpubind_linux_fault (*run)(void), void (*check)(call, cpubind_linux_fault),
                     int n_part)
{
    int count[N_CALLS], n = 0;
    fault_clear();
    assert_int_equal(run().error, 0);
    memcpy(count, fault.count, sizeof count);
    for (int which = CALL_NONE + 1; which < N_CALLS; which++) {
        const int n_use = which == CALL_poll ? count[which] > 0 : count[which];
        for (int nth = 1; nth <= n_use; nth++) {
            if (nth > 1 + n_use / n_part && nth < n_use)
                continue;
            fault_set((call)which, nth, EIO);
            check((call)which, run());
            assert_int_equal(fault.n_met, 1);
            fault_clear();
            n++;
        }
    }
    return n;
}

static int error_of(call which)
{
    return which == CALL_malloc || which == CALL_realloc ? ENOMEM : EIO;
}

/* Nothing depends on a close. */
static void check_block(call which, cpubind_linux_fault why)
{
    assert_int_equal(why.error, which == CALL_close ? 0 : error_of(which));
    assert_int_equal(f.figures.n, why.error ? 0 : N_NAMES);
}

/* Where the memory of a node cannot be had, that cell alone is missing. */
static void check_matrix(call which, cpubind_linux_fault why)
{
    const int is_missing = which == CALL_set_mempolicy || which == CALL_move_pages;
    int n_missing = 0;
    assert_int_equal(why.error, is_missing ? 0 : error_of(which));
    for (int i = 0; i < 4 && !why.error; i++)
        n_missing += f.cell[i].not_measured != NULL;
    assert_int_equal(is_missing, n_missing);
}

TEST(every_call_fails_at_each_of_its_uses)
{
    static cpubind_sys next;
    (void)two_cpus(f.cpu);
    next = cpubind_sys_real;
    next.set_mempolicy = take_policy;
    next.move_pages = all_on_node_0;
    fault_next = &next;
    assert_in_range(fail_each(run_small_block, check_block, 1), 15, 100);
    assert_in_range(fail_each(run_small_matrix, check_matrix, 4), 15, 50); /* of four cells */
    fault_next = &cpubind_sys_real;
}

/* == What is not shown ====================================================== */

TEST(a_small_host_says_what_it_cannot_show)
{
    assert_non_null(strstr(cpubind_probe_cannot(1, 1, 1, 0), "one CPU"));
    assert_non_null(strstr(cpubind_probe_cannot(2, 1, 1, 0), "fewer CPUs than threads"));
    assert_non_null(strstr(cpubind_probe_cannot(2, 1, 1, 1), "one memory node"));
    assert_non_null(strstr(cpubind_probe_cannot(2, 1, 1, 2), "one worker"));
    assert_null(cpubind_probe_cannot(2, 1, 1, 3));
    assert_null(cpubind_probe_cannot(8, 2, 2, 0));
}

TEST_FILE(set_up, tear_down)
