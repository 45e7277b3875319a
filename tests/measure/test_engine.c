/* test_engine.c - blocks on a live worker: sides, figures, every system call failing, SIGKILL
 * SPDX-License-Identifier: MIT
 *
 * The worker is a child of this test, with a record in a folder of its own. Whatever fails, and
 * whenever the measurement is killed: a restore afterwards leaves each thread where it was.
 * CPUBIND_KILLS sets how often it is killed (default 40).
 */
#define _GNU_SOURCE
#include "../../adapters/measure/last.h"
#include "../../adapters/measure/live.h"
#include "../linux/fault_table.h"
#include "../linux/two_cpus.h"

#define TEXT 8192

static struct {
    worker w;
    scratch folder;
    char record[SCRATCH_PATH * 2];
    int32_t cpu[2];
    cpubind_goal goal[2]; /* all CPUs, the second CPU */
    cpubind_placed placed;
    cpubind_live live;
    cpubind_schedule schedule;
    cpubind_judgement figure[CPUBIND_FIGURES_MAX];
    int32_t n_figure, stop_at;
    int descriptors;
    char before[TEXT];
} f;

/* == A measurement ========================================================== */

static void fill_schedule(void)
{
    static const uint8_t side[] = {0, 1, 1, 0, 1, 0, 0, 1};
    f.schedule = (cpubind_schedule){
        .n_group = 2, .n_block = 8, .settle_ms = 1, .block_ms = 2, .seed = 1};
    memcpy(f.schedule.side, side, sizeof side);
}

static int is_to_stop(void *ctx)
{
    (void)ctx;
    return f.stop_at >= 0 && f.live.block > f.stop_at;
}

/* Measures, and puts back. Returns the number of blocks that were run. */
static int32_t measure(const cpubind_sys *sys, const cpubind_goal *first,
                       const cpubind_goal *second)
{
    const cpubind_bind_options how = {.record_path = f.record, .memory = CPUBIND_MEMORY_NONE};
    const int32_t pid = (int32_t)f.w.pid;
    cpubind_place_fault why = {.at = -1};
    int32_t n_block = 0;
    f.placed = (cpubind_placed){.pid = pid, .goal = {first, second}};
    f.live = (cpubind_live){.sys = sys, .worker = &f.placed, .n = 1, .side = -1};
    f.live.stop = is_to_stop;
    f.n_figure = 0;
    f.live.status = cpubind_place_open(&f.placed, 1, &how, sys, &f.live.why);
    if (f.live.status == CPUBIND_LINUX_OK)
        f.live.status =
            cpubind_counting_open(sys, &pid, 1, f.cpu, 2, &f.live.counting, &f.live.why.fault);
    if (f.live.status == CPUBIND_LINUX_OK) {
        n_block =
            cpubind_blocks_run(&f.schedule, cpubind_live_block, &f.live, f.figure, &f.n_figure);
        (void)cpubind_place_back(&f.placed, 1, &why);
    }
    cpubind_counting_close(f.live.counting);
    cpubind_place_close(&f.placed, 1);
    return n_block;
}

/* Undoes what is on record, without a fault. */
static void restore(void)
{
    const cpubind_bind_options how = {.pid = (int32_t)f.w.pid, .record_path = f.record};
    cpubind_binding *b = NULL;
    if (access(f.record, F_OK) != 0)
        return;
    assert_int_equal(cpubind_bind_open(&how, NULL, &b, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_bind_restore(b, NULL), CPUBIND_LINUX_OK);
    cpubind_bind_close(b);
}

static void assert_as_before(void)
{
    char now[TEXT];
    (void)masks_of(f.w.pid, now, sizeof now);
    assert_string_equal(now, f.before);
    assert_int_not_equal(access(f.record, F_OK), 0);
}

SETUP(set_up)
{
    memset(&f, 0, sizeof f);
    f.stop_at = -1;
    assert_true(two_cpus(f.cpu));
    scratch_make(&f.folder);
    scratch_path(&f.folder, "worker.record", f.record);
    worker_start(&f.w, "worker");
    (void)worker_thread_add(&f.w, "acl_thread");
    fill_schedule();
    for (int i = 0; i < 2; i++)
        f.goal[i] = (cpubind_goal){.device = -1,
                                   .main = {f.cpu + i, 2 - i},
                                   .memory_node = -1,
                                   .no_irq = CPUBIND_IRQ_NO_ROLE};
    (void)masks_of(f.w.pid, f.before, sizeof f.before);
    f.descriptors = open_descriptors();
    return 0;
}

SETUP(tear_down)
{
    if (f.w.pid)
        worker_end(&f.w);
    scratch_remove(&f.folder);
    return 0;
}

/* == Sides ================================================================== */

static int is_on_side(int32_t side)
{
    return is_on((int32_t)f.w.pid, f.cpu[1]) == side;
}

/* A block that only looks where the worker is. */
static int look(void *ctx, int32_t side, const cpubind_schedule *schedule, cpubind_figures *out)
{
    const int goes_on = cpubind_live_block(ctx, side, schedule, out);
    out->n = 0;
    cpubind_figure_add(out, "side", "", CPUBIND_BETTER_NEITHER, is_on_side(1));
    assert_true(is_on_side(side));
    return goes_on;
}

TEST(each_block_is_on_its_side_and_all_is_put_back)
{
    const cpubind_bind_options how = {.record_path = f.record};
    const int32_t pid = (int32_t)f.w.pid;
    cpubind_place_fault why;
    f.placed = (cpubind_placed){.pid = pid, .goal = {NULL, &f.goal[1]}};
    f.live = (cpubind_live){.sys = &cpubind_sys_real, .worker = &f.placed, .n = 1, .side = -1};
    assert_int_equal(cpubind_place_open(&f.placed, 1, &how, NULL, &why), CPUBIND_LINUX_OK);
    assert_int_equal(
        cpubind_counting_open(&cpubind_sys_real, &pid, 1, f.cpu, 2, &f.live.counting, NULL),
        CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_blocks_run(&f.schedule, look, &f.live, f.figure, &f.n_figure), 8);
    assert_int_equal(f.n_figure, 1);
    for (int32_t i = 0; i < 8; i++)
        assert_true(f.figure[0].value[i] == f.schedule.side[i]);
    assert_false(f.live.is_disturbed);
    put_on(pid, f.cpu[0]);
    assert_int_equal(cpubind_place_is_disturbed(&f.placed, 1), 1);
    assert_int_equal(cpubind_place_all(&f.placed, 1, 1, &why), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_place_back(&f.placed, 1, &why), CPUBIND_LINUX_OK);
    cpubind_counting_close(f.live.counting);
    cpubind_place_close(&f.placed, 1);
    assert_as_before();
    assert_int_equal(open_descriptors(), f.descriptors);
}

/* The same figures in each block, and a reason where one is not counted. */
TEST(figures_have_names_and_values_or_reasons)
{
    assert_int_equal(measure(&cpubind_sys_real, &f.goal[0], &f.goal[1]), 8);
    assert_true(f.n_figure > 15);
    assert_string_equal(f.figure[0].name, "run_queue_wait");
    for (int32_t k = 0; k < f.n_figure; k++)
        for (int32_t i = 0; i < 8; i++)
            assert_true(f.figure[k].is_counted[i] || *f.figure[k].why);
    assert_as_before();
}

TEST(a_measurement_that_is_stopped_is_put_back)
{
    for (f.stop_at = 0; f.stop_at < 8; f.stop_at++) {
        assert_int_equal(measure(&cpubind_sys_real, NULL, &f.goal[1]), f.stop_at);
        assert_as_before();
    }
}

TEST(a_worker_that_ends_ends_the_measurement)
{
    f.placed.pid = (int32_t)f.w.pid;
    worker_end(&f.w);
    f.w.pid = f.placed.pid;
    assert_int_equal(measure(&cpubind_sys_real, NULL, &f.goal[1]), 0);
    assert_true(f.placed.is_gone && f.live.status == CPUBIND_LINUX_OK);
    assert_true(cpubind_live_is_over(&f.live));
    f.w.pid = 0;
}

TEST(a_worker_of_another_cpubind_is_refused)
{
    const cpubind_bind_options how = {.pid = (int32_t)f.w.pid, .record_path = f.record};
    cpubind_binding *b = NULL;
    assert_int_equal(cpubind_bind_open(&how, NULL, &b, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(measure(&cpubind_sys_real, NULL, &f.goal[1]), 0);
    assert_int_equal(f.live.status, CPUBIND_LINUX_ERR_BUSY);
    assert_int_equal(f.live.why.at, 0);
    cpubind_bind_close(b);
}

/* == Faults ================================================================= */

/* Each use of a call fails, up to some uses: then a restore has all as before. */
static void fail_each(call which, int error)
{
    enum { USES = 12 };
    for (int nth = 1; nth <= USES; nth++) {
        fault_set(which, nth, error);
        (void)measure(&fault_table, NULL, &f.goal[1]);
        const int n_met = fault.n_met;
        fault_clear();
        restore();
        assert_as_before();
        if (open_descriptors() != f.descriptors)
            fail_msg("%s, use %d: a descriptor stays open", call_name[which], nth);
        if (n_met == 0)
            return;
    }
}

TEST(whatever_call_fails_all_can_be_put_back)
{
    static const call calls[] = {
        CALL_openat,      CALL_read,        CALL_close, CALL_fdopendir, CALL_readdir,
        CALL_create,      CALL_write,       CALL_fsync, CALL_rename,    CALL_unlinkat,
        CALL_getaffinity, CALL_setaffinity, CALL_flock, CALL_perf_open, CALL_malloc,
        CALL_realloc,     CALL_poll,        CALL_fstat};
    f.schedule.n_group = 1;
    f.schedule.n_block = 4;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        fail_each(calls[i], calls[i] == CALL_malloc || calls[i] == CALL_realloc ? ENOMEM
                            : calls[i] == CALL_poll                             ? EINTR
                                                                                : EIO);
}

/* A file that cannot be read makes its figures not counted, and no others. */
TEST(a_file_that_cannot_be_read_costs_its_own_figures)
{
    fault_set(CALL_perf_open, 1, EACCES);
    fault.forever = 1;
    assert_int_equal(measure(&fault_table, &f.goal[0], &f.goal[1]), 8);
    fault_clear();
    for (int32_t k = 0; k < f.n_figure; k++)
        if (strcmp(f.figure[k].name, "migrations") == 0) {
            assert_false(f.figure[k].is_counted[0]);
            assert_non_null(strstr(f.figure[k].why, "perf_event_paranoid"));
        } else if (strcmp(f.figure[k].name, "stolen_time") == 0) {
            assert_true(!strstr(f.figure[k].why, "perf_event"));
        }
    assert_as_before();
}

/* == SIGKILL ================================================================ */

TEST(after_sigkill_at_any_moment_restore_puts_all_back)
{
    const char *kills = getenv("CPUBIND_KILLS");
    const int n = kills ? (int)strtol(kills, NULL, 10) : 40;
    uint64_t random = 7;
    for (int i = 0; i < n; i++) {
        const pid_t pid = fork();
        scratch_need(pid >= 0, "fork");
        if (pid == 0) {
            for (;;)
                (void)measure(&cpubind_sys_real, NULL, &f.goal[1]);
        }
        usleep((useconds_t)(cpubind_schedule_next(&random) % 40000));
        kill(pid, SIGKILL);
        scratch_need(waitpid(pid, NULL, 0) == pid, "waitpid");
        restore();
        assert_as_before();
    }
}

static int run_all(void)
{
    return run_on_two_cpus("test_engine", set_up, tear_down);
}

TEST_PROGRAM(run_all)
