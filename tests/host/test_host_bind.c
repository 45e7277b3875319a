/* test_host_bind.c - all workers of a host: one plan, one watch, failures of one process
 * SPDX-License-Identifier: MIT
 *
 * The processes are real children of the test. The plan is that of a fixture host of 48 CPUs,
 * the list of workers is a folder of the test (fake_host.h has the records), and the CPUs of
 * threads are a table in memory, since the machine of the test may have two CPUs alone.
 */
#define _GNU_SOURCE
#include "../../adapters/host/host_bind.h"
#include "../../adapters/linux/kernel/process.h"
#include "../linux/fake_host.h"
#include "../linux/fault_table.h"
#include "../support/fixture_host.h"
#include "../support/test.h"

#define N_CPU   48
#define N       4
#define LONG_MS 60000 /* a period that no test waits for */

/* == CPUs of threads in memory ============================================== */

static struct {
    int32_t tid;
    uint64_t mask;
} masks[65536];

static uint64_t *mask_of(int32_t tid)
{
    const size_t n = sizeof masks / sizeof *masks;
    size_t at = (size_t)tid % n;
    while (masks[at].tid != 0 && masks[at].tid != tid)
        at = (at + 1) % n;
    if (masks[at].tid == 0) {
        masks[at].tid = tid;
        masks[at].mask = (1ull << N_CPU) - 1;
    }
    return &masks[at].mask;
}

static int get_mask(pid_t tid, size_t size, unsigned long *mask)
{
    unsigned long real[128];
    if (cpubind_sys_real.getaffinity(tid, sizeof real, real) < 0)
        return -1;
    memset(mask, 0, size);
    memcpy(mask, mask_of((int32_t)tid), sizeof(uint64_t));
    return 8;
}

static int set_mask(pid_t tid, size_t size, const unsigned long *mask)
{
    unsigned long real[128];
    (void)size;
    if (cpubind_sys_real.getaffinity(tid, sizeof real, real) < 0)
        return -1;
    memcpy(mask_of((int32_t)tid), mask, sizeof(uint64_t));
    *mask_of((int32_t)tid) &= (1ull << N_CPU) - 1;
    return 0;
}

#define CPUS(first, last) ((~0ull >> (63 - (last))) & (~0ull << (first)))

/* == The host =============================================================== */

static struct {
    cpubind_sys calls; /* of the fake host */
    worker w[N];
    int32_t acl[N];
    char entry[N][64]; /* of the list of workers; "": none */
    char root[STAGE_PATH];
    cpubind_linux_host *fixture;
    cpubind_source source;
    cpubind_host_options options;
    int32_t allowed[N_CPU];
    cpubind_host_bind *h;
    int descriptors;
    int has_environ; /* that of each process is a file of the stage, "cgroup/environ" */
} f;

static void list_worker(int i, int npu)
{
    snprintf(f.entry[i], sizeof f.entry[i], "root/proc/trs_core/proc/%d-1-dev-%d",
             (int)f.w[i].pid, npu);
    scratch_file(&on_stage.s, f.entry[i], "");
}

static void unlist_worker(int i)
{
    if (f.entry[i][0])
        (void)unlinkat(on_stage.dir, f.entry[i], 0);
    f.entry[i][0] = '\0';
}

/* Starts a worker that drives an NPU. */
static void start(int i, int npu)
{
    worker_start(&f.w[i], "worker");
    f.acl[i] = worker_thread_add(&f.w[i], "acl_thread");
    stage_list(f.w[i].pid);
    list_worker(i, npu);
}

static void open_host(void)
{
    cpubind_linux_fault why = {0};
    assert_int_equal(cpubind_host_bind_open(&f.options, &f.h, &why), CPUBIND_LINUX_OK);
}

SETUP(set_up)
{
    char path[STAGE_PATH];
    const char *tests = getenv("CPUBIND_TESTS");
    memset(&f, 0, sizeof f);
    memset(masks, 0, sizeof masks);
    if (!stage_make())
        return -1;
    f.calls = stage_table();
    f.calls.getaffinity = get_mask;
    f.calls.setaffinity = set_mask;
    fault_next = &f.calls;
    fault_clear();
    f.descriptors = open_descriptors();
    snprintf(path, sizeof path, "%s/../fixtures/hosts/a2-driver-host.host",
             tests ? tests : "tests");
    f.fixture = fixture_host(path);
    f.source = cpubind_linux_source(f.fixture);
    scratch_folder(&on_stage.s, "root/proc/trs_core/proc");
    scratch_path(&on_stage.s, "root", f.root);
    for (int32_t i = 0; i < N_CPU; i++)
        f.allowed[i] = i;
    f.options = (cpubind_host_options){.has_listed = 1,
                                       .source = &f.source,
                                       .root = f.root,
                                       .sys = &fault_table,
                                       .bind = {.memory = CPUBIND_MEMORY_NONE}};
    f.options.request.is_auto_strategy = 1;
    f.options.request.rules = CPUBIND_RULES_REFERENCE; /* the masks below are of its pools */
    f.options.request.has_rules = 1;
    f.options.request.allowed = f.allowed;
    f.options.request.n_allowed = N_CPU;
    return 0;
}

SETUP(tear_down)
{
    fault_clear();
    cpubind_host_bind_close(f.h);
    for (int i = 0; i < N; i++)
        worker_end(&f.w[i]);
    cpubind_linux_close(f.fixture);
    const int good = open_descriptors() == f.descriptors;
    stage_remove();
    return good && !has_child() ? 0 : -1;
}

/* The row of a worker; NULL: there is none. */
static const cpubind_host_row *row_of(int i)
{
    for (int32_t k = 0; k < cpubind_host_bind_n(f.h); k++)
        if (cpubind_host_bind_row(f.h, k)->pid == (int32_t)f.w[i].pid)
            return cpubind_host_bind_row(f.h, k);
    return NULL;
}

static const char *state_of(int i)
{
    const cpubind_host_row *row = row_of(i);
    return row ? cpubind_host_state_word(row->state) : "none";
}

static int is_at(int i, uint64_t main, uint64_t acl)
{
    return *mask_of((int32_t)f.w[i].pid) == main && *mask_of(f.acl[i]) == acl;
}

/* NPU 0 has 24-35, NPU 3 has 12-23, each with two CPUs for interrupts first. */
#define ON_NPU_0 CPUS(26, 33), CPUS(34, 34)
#define ON_NPU_1 CPUS(38, 45), CPUS(46, 46)
#define ON_NPU_3 CPUS(14, 21), CPUS(22, 22)
#define UNBOUND  CPUS(0, 47), CPUS(0, 47)

static void apply(void)
{
    assert_int_equal(cpubind_host_bind_apply(f.h), CPUBIND_PROBLEM_NONE);
}

static void restore(int i)
{
    const cpubind_bind_options how = {.pid = (int32_t)f.w[i].pid};
    cpubind_binding *b;
    assert_int_equal(cpubind_bind_open(&how, &f.calls, &b, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_bind_restore(b, NULL), CPUBIND_LINUX_OK);
    cpubind_bind_close(b);
}

/* == One call =============================================================== */

TEST(each_worker_has_the_pool_of_its_npu)
{
    start(0, 0);
    start(1, 3);
    open_host();
    apply();
    assert_int_equal(cpubind_host_bind_n(f.h), 2);
    assert_string_equal(state_of(0), "bound");
    assert_int_equal(row_of(0)->number, 0);
    assert_int_equal(row_of(1)->number, 3);
    assert_true(is_at(0, ON_NPU_0));
    assert_true(is_at(1, ON_NPU_3));
    cpubind_host_bind_close(f.h);
    f.h = NULL;
    restore(0);
    restore(1);
    assert_true(is_at(0, UNBOUND));
    assert_true(is_at(1, UNBOUND));
}

TEST(two_workers_of_an_npu_have_parts_of_its_pool)
{
    for (int i = 0; i < 3; i++)
        start(i, i == 0 ? 0 : 3);
    open_host();
    apply();
    assert_int_equal(row_of(1)->n_process, 2);
    assert_int_equal(row_of(1)->process + row_of(2)->process, 1);
    assert_true(is_at(0, ON_NPU_0));
    const int first = row_of(1)->process == 0 ? 1 : 2;
    assert_true(is_at(first, CPUS(14, 16), CPUS(17, 17)));
    assert_true(is_at(3 - first, CPUS(19, 21), CPUS(22, 22)));
}

/* The cpuset of this machine has none of the CPUs of the test: cgroups are files of the stage,
 * "cgroup/PID" of a process and "cgroup/PID.cpus" of its cpuset. */
static int open_cgroup(int dir, const char *path, int flags)
{
    char name[64];
    int pid = 0, end = 0;
    if (sscanf(path, "proc/%d/cgroup%n", &pid, &end) == 1 && end > 0 && !path[end])
        snprintf(name, sizeof name, "cgroup/%d", pid);
    else if (f.has_environ && strncmp(path, "proc/", 5) == 0 && strstr(path, "/environ"))
        snprintf(name, sizeof name, "cgroup/environ");
    else if (sscanf(path, "sys/fs/cgroup/%d/", &pid) == 1 &&
             strstr(path, "/cpuset.cpus.effective"))
        snprintf(name, sizeof name, "cgroup/%d.cpus", pid);
    else if (strncmp(path, "sys/fs/cgroup", 13) == 0)
        snprintf(name, sizeof name, "cgroup/none");
    else
        return stage_openat(dir, path, flags);
    return cpubind_sys_real.openat(on_stage.dir, name, flags);
}

static int stat_cgroup(int dir, const char *path, struct stat *out)
{
    if (strncmp(path, "sys/fs/cgroup/", 14) != 0)
        return cpubind_sys_real.statat(dir, path, out);
    return cpubind_sys_real.statat(on_stage.dir, "cgroup", out);
}

static void fake_cgroups(void)
{
    scratch_folder(&on_stage.s, "cgroup");
    f.calls.openat = open_cgroup;
    f.calls.statat = stat_cgroup;
}

static void write_cgroup(int i, const char *below)
{
    char name[64], text[128];
    snprintf(name, sizeof name, "cgroup/%d", (int)f.w[i].pid);
    snprintf(text, sizeof text, "0::/%d%s\n", (int)f.w[i].pid, below);
    scratch_file(&on_stage.s, name, text);
}

static void write_cpuset(int i, const char *cpus)
{
    char name[64];
    snprintf(name, sizeof name, "cgroup/%d.cpus", (int)f.w[i].pid);
    scratch_file(&on_stage.s, name, cpus);
}

/* As in two containers with cpusets of their own; the records say which CPUs each had
 * before. */
TEST(workers_without_a_common_cpu_are_planned_apart)
{
    fake_cgroups();
    start(0, 0);
    start(1, 3);
    *mask_of((int32_t)f.w[0].pid) = *mask_of(f.acl[0]) = CPUS(24, 47);
    *mask_of((int32_t)f.w[1].pid) = *mask_of(f.acl[1]) = CPUS(0, 23);
    open_host();
    apply();
    cpubind_host_bind_close(f.h);
    f.options.request.allowed = NULL;
    f.options.request.n_allowed = 0;
    open_host();
    apply();
    assert_true(is_at(0, CPUS(26, 45), CPUS(46, 46)));
    assert_true(is_at(1, CPUS(2, 21), CPUS(22, 22)));
}

TEST(without_workers_nothing_is_bound)
{
    open_host();
    apply();
    assert_int_equal(cpubind_host_bind_n(f.h), 0);
}

TEST(a_process_that_another_cpubind_holds_is_said_and_left)
{
    const cpubind_bind_options how = {.pid = 0};
    cpubind_bind_options other = how;
    cpubind_binding *b;
    start(0, 0);
    start(1, 3);
    other.pid = (int32_t)f.w[0].pid;
    assert_int_equal(cpubind_bind_open(&other, &f.calls, &b, NULL), CPUBIND_LINUX_OK);
    open_host();
    apply();
    assert_string_equal(state_of(0), "busy");
    assert_int_equal(row_of(0)->holder, getpid());
    assert_true(is_at(0, UNBOUND));
    assert_true(is_at(1, ON_NPU_3));
    cpubind_bind_close(b);
    for (int i = 0; i < 4; i++) /* the watch tries again */
        cpubind_host_bind_again(f.h, 1);
    assert_true(is_at(0, ON_NPU_0));
}

TEST(a_process_of_several_npus_is_said_and_left)
{
    char second[64];
    start(0, 0);
    snprintf(second, sizeof second, "root/proc/trs_core/proc/%d-1-dev-1", (int)f.w[0].pid);
    scratch_file(&on_stage.s, second, "");
    open_host();
    apply();
    assert_int_equal(cpubind_host_bind_n(f.h), 1);
    assert_string_equal(state_of(0), "failed");
    assert_int_equal(row_of(0)->n_device, 2);
    assert_true(is_at(0, UNBOUND));
}

TEST(too_many_workers_of_one_npu_share_its_pool)
{
    f.options.request.strategy = CPUBIND_GLOBAL_SLICE;
    f.options.request.is_auto_strategy = 0;
    f.options.request.n_allowed = 24; /* six CPUs an NPU: too few for three workers */
    for (int i = 0; i < 4; i++)
        start(i, i == 0 ? 0 : 3);
    open_host();
    apply();
    assert_string_equal(state_of(0), "bound");
    for (int i = 1; i < 4; i++) {
        assert_string_equal(state_of(i), "bound");
        assert_int_equal(row_of(i)->is_sharing, 1);
        assert_int_equal(row_of(i)->n_process, 3);
        assert_true(is_at(i, CPUS(20, 21), CPUS(22, 22)));
    }
    assert_int_equal(row_of(0)->is_sharing, 0);
}

/* Binds all workers once, when one of them may have these CPUs alone: their records say then
 * which CPUs each may have. */
static void apply_by_records(int i, uint64_t cpus)
{
    *mask_of((int32_t)f.w[i].pid) = cpus;
    *mask_of(f.acl[i]) = cpus;
    open_host();
    apply();
    cpubind_host_bind_close(f.h);
    f.options.request.allowed = NULL;
    open_host();
    apply();
}

/* Two containers, one of which may have all CPUs: no CPU is given twice, and each pool lies in
 * the CPUs of its worker. NPUs without workers may have all CPUs, and keep their share. */
TEST(workers_that_may_have_different_cpus_have_pools_in_them)
{
    fake_cgroups();
    start(0, 0);
    start(1, 3);
    apply_by_records(1, CPUS(0, 20));
    assert_true(is_at(0, ON_NPU_0));
    assert_true(is_at(1, CPUS(11, 18), CPUS(19, 19)));
}

/* NPU 0 has the CPUs near both, since NPU 1 may have none of them. */
TEST(a_worker_without_near_cpus_is_said_and_the_others_bound)
{
    fake_cgroups();
    start(0, 0);
    start(1, 1);
    apply_by_records(1, CPUS(0, 23));
    assert_true(is_at(0, CPUS(26, 45), CPUS(46, 46)));
    assert_string_equal(state_of(1), "failed");
    assert_int_equal(row_of(1)->problem.device, 1);
}

TEST(a_list_that_cannot_be_read_is_a_problem_and_no_empty_list)
{
    start(0, 0);
    f.options.root =
        "/nowhere"; /* the fixture has a list of its own, of processes of its host */
    f.options.source = NULL;
    f.options.request.origin = CPUBIND_ORIGIN_DRIVER;
    open_host();
    assert_int_not_equal(cpubind_host_bind_apply(f.h), CPUBIND_PROBLEM_NONE);
    assert_int_equal(cpubind_host_bind_n(f.h), 0);
}

/* == Verifying ============================================================== */

TEST(verify_says_which_worker_is_right_drifted_or_unbound)
{
    for (int i = 0; i < 3; i++)
        start(i, i);
    open_host();
    unlist_worker(2);
    apply();
    cpubind_host_bind_close(f.h);
    list_worker(2, 2);
    *mask_of(f.acl[1]) = 1;
    open_host();
    assert_int_equal(cpubind_host_bind_verify(f.h), CPUBIND_PROBLEM_NONE);
    assert_string_equal(state_of(0), "right");
    assert_string_equal(state_of(1), "drifted");
    assert_string_equal(state_of(2), "unbound");
    assert_int_equal(*mask_of(f.acl[1]), 1);
}

TEST(verify_has_processes_on_record_that_are_no_workers_now)
{
    start(0, 0);
    start(1, 3);
    open_host();
    apply();
    cpubind_host_bind_close(f.h);
    unlist_worker(0);
    open_host();
    assert_int_equal(cpubind_host_bind_verify(f.h), CPUBIND_PROBLEM_NONE);
    assert_string_equal(state_of(0), "right");
    assert_int_equal(row_of(0)->number, 0);
}

/* == Watching =============================================================== */

static void watch(void)
{
    f.options.bind.is_watching = 1;
    open_host();
    apply();
}

/* Passes of the watch, at most 100, until it is so. */
#define UNTIL(what)                                                                            \
    for (int pass = 0; pass < 500 && !(what); pass++)                                          \
        cpubind_host_bind_again(f.h, 20);                                                      \
    assert_true(what)

/* The row of a process; NULL: there is none. */
static const cpubind_host_row *row_of_pid(int32_t pid)
{
    for (int32_t k = 0; k < cpubind_host_bind_n(f.h); k++)
        if (cpubind_host_bind_row(f.h, k)->pid == pid)
            return cpubind_host_bind_row(f.h, k);
    return NULL;
}

/* A fork of a worker, with these CPUs. */
static int32_t fork_of(int i, uint64_t cpus)
{
    const int32_t pid = worker_fork(&f.w[i]);
    stage_list((pid_t)pid);
    *mask_of(pid) = cpus;
    return pid;
}

/* One that was forked before its worker was bound is bound with it, once; one that was forked
 * later is where it belongs. The list of the driver has none of them, and later one. */
TEST(forks_share_what_their_worker_has_and_move_nobody)
{
    char entry[64];
    start(0, 0);
    start(1, 3);
    const int32_t early = fork_of(0, CPUS(0, 47));
    watch();
    assert_true(is_at(0, ON_NPU_0));
    assert_true(*mask_of(early) == CPUS(26, 33));
    assert_int_equal(row_of_pid(early)->parent, f.w[0].pid);
    assert_int_equal(row_of(0)->n_process, 1);
    for (int round = 0; round < 3; round++) {
        const int n = fault.count[CALL_setaffinity];
        int32_t pid[12];
        for (int i = 0; i < 12; i++)
            pid[i] = fork_of(0, i % 2 ? CPUS(26, 33) : CPUS(27, 27));
        snprintf(entry, sizeof entry, "root/proc/trs_core/proc/%d-1-dev-0", (int)pid[0]);
        scratch_file(&on_stage.s, entry, "");
        UNTIL(row_of(0)->n_child == 13);
        assert_int_equal(cpubind_host_bind_n(f.h), 3);
        assert_int_equal(row_of(0)->n_process, 1);
        assert_int_equal(fault.count[CALL_setaffinity], n);
        const int32_t acl = fork_of(0, CPUS(34, 34)); /* by a thread with a role */
        UNTIL(*mask_of(acl) == CPUS(26, 33));         /* moved, without a record of its own */
        assert_int_equal(fault.count[CALL_setaffinity], n + 1);
        worker_fork_end(acl);
        for (int i = 0; i < 12; i++)
            worker_fork_end(pid[i]);
        (void)unlinkat(on_stage.dir, entry, 0);
        UNTIL(row_of(0)->n_child == 1 && !row_of_pid(acl));
        assert_int_equal(fault.count[CALL_setaffinity], n + 1);
    }
    assert_true(is_at(0, ON_NPU_0));
    assert_true(is_at(1, ON_NPU_3));
    cpubind_host_bind_close(f.h);
    f.h = NULL;
    const cpubind_bind_options how = {.pid = early};
    cpubind_binding *b;
    assert_int_equal(cpubind_bind_open(&how, &f.calls, &b, NULL), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_bind_restore(b, NULL), CPUBIND_LINUX_OK);
    cpubind_bind_close(b);
    assert_true(*mask_of(early) == CPUS(0, 47));
}

/* A second worker takes a part of the pool, and the children go with their worker. */
TEST(forks_go_where_their_worker_goes)
{
    start(0, 0);
    watch();
    const int32_t child = fork_of(0, CPUS(26, 33));
    UNTIL(row_of(0)->n_child == 1);
    start(1, 0);
    UNTIL(*mask_of((int32_t)f.w[0].pid) == CPUS(26, 28) && *mask_of(child) == CPUS(26, 28));
    assert_int_equal(row_of(0)->n_process, 2);
    assert_null(row_of_pid(child)); /* it has no record of its own */
}

TEST(verify_has_forks_that_are_elsewhere)
{
    start(0, 0);
    open_host();
    apply();
    cpubind_host_bind_close(f.h);
    const int32_t inside = fork_of(0, CPUS(26, 33));
    const int32_t outside = fork_of(0, CPUS(0, 47));
    open_host();
    assert_int_equal(cpubind_host_bind_verify(f.h), CPUBIND_PROBLEM_NONE);
    assert_string_equal(state_of(0), "right");
    assert_int_equal(row_of(0)->n_child, 2);
    assert_null(row_of_pid(inside));
    assert_non_null(row_of_pid(outside));
    assert_int_equal(row_of_pid(outside)->parent, f.w[0].pid);
    assert_int_equal(row_of_pid(outside)->state, CPUBIND_HOST_UNBOUND);
}

TEST(a_worker_that_starts_later_is_bound)
{
    start(0, 0);
    watch();
    assert_true(is_at(0, ON_NPU_0));
    start(1, 3);
    UNTIL(is_at(1, ON_NPU_3));
    assert_true(is_at(0, ON_NPU_0));
}

/* The kernel sends an event, and the watch acts before its period is over. */
TEST(events_find_a_worker_within_a_second)
{
    start(0, 0);
    watch();
    if (cpubind_host_bind_no_events(f.h).error)
        skip();
    cpubind_host_bind_again(f.h, 1);
    start(1, 3);
    const int64_t begin_ms = clock_ms();
    while (!is_at(1, ON_NPU_3) && clock_ms() < begin_ms + 5000)
        cpubind_host_bind_again(f.h, LONG_MS);
    assert_true(is_at(1, ON_NPU_3));
    print_message("bound after %d ms\n", (int)(clock_ms() - begin_ms));
    assert_true(clock_ms() < begin_ms + 1000);
    const int32_t born = worker_thread_add(&f.w[1], "acl_thread");
    for (int i = 0; i < 10 && *mask_of(born) != CPUS(22, 22); i++)
        cpubind_host_bind_again(f.h, LONG_MS);
    assert_true(*mask_of(born) == CPUS(22, 22));
}

TEST(a_second_worker_of_an_npu_halves_the_pool_of_the_first)
{
    start(1, 3);
    watch();
    assert_true(is_at(1, ON_NPU_3));
    start(2, 3);
    UNTIL(is_at(2, CPUS(19, 21), CPUS(22, 22)) || is_at(2, CPUS(14, 16), CPUS(17, 17)));
    UNTIL(is_at(1, CPUS(19, 21), CPUS(22, 22)) || is_at(1, CPUS(14, 16), CPUS(17, 17)));
    worker_end(&f.w[2]);
    unlist_worker(2);
    UNTIL(is_at(1, ON_NPU_3));
}

TEST(a_worker_that_ends_is_said_and_its_record_is_removed)
{
    char text[STAGE_TEXT] = "";
    start(0, 0);
    start(1, 3);
    watch();
    worker_end(&f.w[0]);
    unlist_worker(0);
    int n = 0;
    for (int pass = 0; pass < 100 && n == 0; pass++) {
        cpubind_host_bind_again(f.h, 20);
        for (int32_t i = 0; i < cpubind_host_bind_n(f.h); i++)
            n += cpubind_host_bind_row(f.h, i)->state == CPUBIND_HOST_ENDED;
    }
    assert_int_equal(n, 1);
    cpubind_host_bind_again(f.h, 20);
    assert_int_equal(cpubind_host_bind_n(f.h), 1);
    assert_true(is_at(1, ON_NPU_3));
    cpubind_host_bind_close(f.h);
    f.h = NULL;
    stage_records(text, sizeof text);
    char record[32];
    snprintf(record, sizeof record, "record %d.record\n", (int)f.w[1].pid);
    assert_non_null(strstr(text, record));
    assert_null(strstr(strstr(text, ".record") + 7, ".record\n"));
}

TEST(a_worker_that_drives_another_npu_now_moves_there)
{
    start(0, 0);
    watch();
    assert_true(is_at(0, ON_NPU_0));
    unlist_worker(0);
    list_worker(0, 1);
    UNTIL(is_at(0, ON_NPU_1));
}

TEST(a_mask_that_is_changed_is_put_back)
{
    start(0, 0);
    watch();
    *mask_of(f.acl[0]) = 1;
    UNTIL(is_at(0, ON_NPU_0));
}

/* kubelet rewrites cpusets: within a period the plan is that of the new ones, and where it is
 * the same the masks are put right, which older kernels undo at each write. */
TEST(a_cpuset_that_is_rewritten_is_noticed_within_a_period)
{
    f.options.bind.is_watching = 1;
    f.options.request.allowed = NULL;
    f.options.request.n_allowed = 0;
    fake_cgroups();
    start(0, 0);
    start(1, 3);
    write_cgroup(0, "");
    write_cgroup(1, "");
    write_cpuset(0, "24-47\n");
    write_cpuset(1, "0-23\n");
    open_host();
    apply();
    assert_true(is_at(0, CPUS(26, 45), CPUS(46, 46)));
    assert_true(is_at(1, CPUS(2, 21), CPUS(22, 22)));
    assert_int_equal(row_of(0)->allowed.n, 24);
    cpubind_host_bind_again(f.h, 1);
    assert_false(row_of(0)->is_regranted);

    write_cpuset(0, "24-35\n");
    *mask_of((int32_t)f.w[0].pid) = *mask_of(f.acl[0]) = CPUS(24, 35);
    cpubind_host_bind_again(f.h, 1);
    assert_true(row_of(0)->is_regranted);
    assert_true(row_of(0)->is_news);
    assert_false(row_of(1)->is_regranted);
    assert_int_equal(row_of(0)->allowed.n, 12);
    assert_true(is_at(0, CPUS(26, 33), CPUS(34, 34)));
    assert_true(is_at(1, CPUS(2, 21), CPUS(22, 22)));

    /* None of its CPUs is near, or they are too few: that is said of this worker alone. */
    for (int i = 0; i < 2; i++) {
        write_cpuset(0, i == 0 ? "0-22\n" : "24-26\n");
        cpubind_host_bind_again(f.h, 1);
        assert_true(row_of(0)->is_regranted);
        assert_string_equal(state_of(0), "failed");
        assert_int_equal(row_of(0)->problem.code,
                         i == 0 ? CPUBIND_PROBLEM_NO_LOCAL_CPUS : CPUBIND_PROBLEM_TOO_FEW_CPUS);
        assert_string_equal(state_of(1), "bound");
        assert_true((*mask_of((int32_t)f.w[1].pid) & ~CPUS(0, 23)) == 0);
    }
    write_cpuset(0, "24-47\n");
    cpubind_host_bind_again(f.h, 1);
    assert_string_equal(state_of(0), "bound");
    assert_true(is_at(0, CPUS(26, 45), CPUS(46, 46)));
    assert_true(is_at(1, CPUS(2, 21), CPUS(22, 22)));
    cpubind_host_bind_again(f.h, 1);
    assert_false(row_of(0)->is_regranted);
}

/* Of one pod alone nobody can tell by the CPUs whether others get them: its class does. */
TEST(the_cpus_of_a_guaranteed_pod_are_its_own)
{
#define POD "pod01234567-89ab-cdef-0123-456789abcdef"
    static const struct {
        const char *cgroup, *cpus;
        uint64_t main, acl;
    } cases[] = {{"/kubepods/" POD, "24-47\n", CPUS(26, 45), CPUS(46, 46)},
                 {"/kubepods/" POD, "0-47\n", ON_NPU_0},
                 {"/kubepods/burstable/" POD, "24-47\n", ON_NPU_0},
                 /* Its pool by the plan of the whole host, cut by the plugin of a runtime. */
                 {"/kubepods/burstable/" POD, "24-35\n", ON_NPU_0},
                 {"/kubepods/burstable/" POD, "24-33\n", CPUS(26, 31), CPUS(32, 32)},
                 {"", "24-47\n", ON_NPU_0}};
    f.options.request.allowed = NULL;
    f.options.request.n_allowed = 0;
    fake_cgroups();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(0, 0);
        write_cgroup(0, cases[i].cgroup);
        write_cpuset(0, cases[i].cpus);
        open_host();
        apply();
        assert_string_equal(row_of(0)->pod.uid, *cases[i].cgroup ? POD + 3 : "");
        assert_true(is_at(0, cases[i].main, cases[i].acl));
        cpubind_host_bind_close(f.h);
        f.h = NULL;
        restore(0);
        unlist_worker(0);
        worker_end(&f.w[0]);
    }
}

/* A claim that the cpuset holds is what the worker has, and nobody else; another one changes
 * nothing, and is known. */
TEST(claims_count_as_far_as_the_cpuset_holds_them)
{
    static const struct {
        const char *text;
        int32_t n_claimed;
        int is_held, is_bad;
        uint64_t main, acl;
    } cases[] = {
        {"A=1\0DRA_CPUSET_c1=24-35", 12, 1, 0, CPUS(26, 33), CPUS(34, 34)},
        {"DRA_CPUSET_c1=30-35\0DRA_CPUSET_c2=24-31\0", 12, 1, 0, CPUS(26, 33), CPUS(34, 34)},
        {"DRA_CPUSET_c1=20-35\0\0\0", 16, 0, 0, ON_NPU_0},
        {"DRA_CPUSET_c1=24-23\0\0\0", 0, 0, 1, ON_NPU_0},
        {"DRA_CPUSET_c1=\0DRA_CPUSET=1\0", 0, 0, 0, ON_NPU_0}};
    f.options.request.allowed = NULL;
    f.options.request.n_allowed = 0;
    fake_cgroups();
    f.has_environ = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t len = 0; /* up to two strings */
        for (int k = 0; k < 2; k++)
            len += strlen(cases[i].text + len) + 1;
        scratch_bytes(&on_stage.s, "cgroup/environ", cases[i].text, len);
        start(0, 0);
        write_cgroup(0, "");
        write_cpuset(0, "24-47\n");
        open_host();
        apply();
        assert_int_equal(row_of(0)->claimed.n, cases[i].n_claimed);
        assert_int_equal(row_of(0)->is_claim_held, cases[i].is_held);
        assert_int_equal(row_of(0)->is_claim_bad, cases[i].is_bad);
        assert_int_equal(row_of(0)->allowed.n, 24);
        assert_true(is_at(0, cases[i].main, cases[i].acl));
        cpubind_host_bind_close(f.h);
        f.h = NULL;
        restore(0);
        unlist_worker(0);
        worker_end(&f.w[0]);
    }
}

TEST(a_worker_that_another_program_moves_all_the_time_is_left_on_request)
{
    start(0, 0);
    f.options.respects_masks = 1;
    watch();
    for (int pass = 0; pass < 100 && strcmp(state_of(0), "left") != 0; pass++) {
        *mask_of((int32_t)f.w[0].pid) = 1;
        cpubind_host_bind_again(f.h, 1);
    }
    assert_string_equal(state_of(0), "left");
    assert_true(row_of(0)->is_kept_moving);
    *mask_of((int32_t)f.w[0].pid) = 2;
    for (int pass = 0; pass < 10; pass++)
        cpubind_host_bind_again(f.h, 1);
    assert_int_equal(*mask_of((int32_t)f.w[0].pid), 2);
}

TEST(a_process_with_a_mask_of_its_own_is_left_on_request)
{
    start(0, 0);
    start(1, 3);
    put_on((int32_t)f.w[0].pid, on_stage.cpu[0]);
    f.options.respects_masks = 1;
    open_host();
    apply();
    assert_string_equal(state_of(0), "left");
    assert_false(row_of(0)->is_kept_moving);
    assert_true(is_at(0, UNBOUND));
    assert_true(is_at(1, ON_NPU_3));
    cpubind_host_bind_close(f.h);
    f.options.respects_masks = 0;
    open_host();
    apply();
    assert_true(is_at(0, ON_NPU_0));
}

/* 1,000 threads and more that live for a millisecond; those that stay are where they belong. */
TEST(short_threads_disturb_no_worker)
{
    start(0, 0);
    start(1, 3);
    watch();
    (void)worker_tell(&f.w[0], 'c', "", 0);
    while (worker_tell(&f.w[0], 'n', "", 0) < 1000)
        cpubind_host_bind_again(f.h, 20);
    (void)worker_tell(&f.w[0], 'q', "", 0);
    for (int i = 0; i < 3; i++)
        cpubind_host_bind_again(f.h, 1);
    assert_true(is_at(0, ON_NPU_0));
    assert_true(is_at(1, ON_NPU_3));
    assert_string_equal(state_of(0), "bound");
}

/* == Others ================================================================= */

TEST(others_of_the_process_group_are_on_the_kept_cpus_and_restored)
{
    worker engine;
    const int32_t keep[] = {0, 1};
    start(0, 0);
    worker_start(&engine, "engine");
    stage_list(engine.pid);
    assert_int_equal(setpgid(f.w[0].pid, f.w[0].pid), 0);
    assert_int_equal(setpgid(engine.pid, f.w[0].pid), 0);
    f.options.request.keep = keep;
    f.options.request.n_keep = 2;
    f.options.keeps_others = 1;
    open_host();
    apply();
    assert_int_equal(*mask_of((int32_t)engine.pid), 3);
    assert_true(is_at(0, ON_NPU_0));
    assert_int_equal(*mask_of((int32_t)getpid()), CPUS(0, 47));
    cpubind_host_bind_close(f.h);
    f.h = NULL;
    f.w[3] = engine; /* tear_down ends it */
    restore(3);
    assert_true(*mask_of((int32_t)engine.pid) == CPUS(0, 47));
}

/* == Faults ================================================================= */

/* Each use of each call fails once: a row that is not bound says so and its threads are where
 * they were; a second call binds all. */
TEST(every_fault_leaves_each_worker_bound_or_as_it_was)
{
    static const struct {
        call which;
        int error;
    } cases[] = {
        {CALL_openat, EMFILE},     {CALL_read, EIO},          {CALL_getaffinity, EPERM},
        {CALL_setaffinity, EPERM}, {CALL_realloc, ENOMEM},    {CALL_malloc, ENOMEM},
        {CALL_write, ENOSPC},      {CALL_rename, EIO},        {CALL_create, EACCES},
        {CALL_flock, EWOULDBLOCK}, {CALL_pidfd_open, EMFILE}, {CALL_readdir, EIO},
        {CALL_mkdirat, EROFS},     {CALL_fsync, EIO},         {CALL_statat, EACCES},
        {CALL_fdopendir, ENOMEM},  {CALL_readlinkat, EACCES}, {CALL_unlinkat, EACCES},
    };
    start(0, 0);
    start(1, 3);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int n_met = 1;
        for (int nth = 1; n_met && nth < 400; nth += 1 + nth / 12) {
            fault_set(cases[c].which, nth, cases[c].error);
            if (cpubind_host_bind_open(&f.options, &f.h, NULL) == CPUBIND_LINUX_OK) {
                const cpubind_problem_code code = cpubind_host_bind_apply(f.h);
                for (int i = 0; i < 2; i++) {
                    const int is_bound = row_of(i) && row_of(i)->state == CPUBIND_HOST_BOUND;
                    if (is_bound || (code == CPUBIND_PROBLEM_NONE && !row_of(i)))
                        continue;
                    assert_true(is_at(i, UNBOUND));
                }
            }
            n_met = fault.n_met;
            fault_clear();
            cpubind_host_bind_close(f.h);
            f.h = NULL;
            open_host();
            apply();
            assert_true(is_at(0, ON_NPU_0));
            assert_true(is_at(1, ON_NPU_3));
            cpubind_host_bind_close(f.h);
            f.h = NULL;
            restore(0);
            restore(1);
        }
    }
}

static uint64_t start_of_first;

static cpubind_host_claim leave_first(void *ctx, int32_t pid, uint64_t start)
{
    (void)ctx;
    return pid == (int32_t)f.w[0].pid && start == start_of_first ? CPUBIND_CLAIM_LEAVE
                                                                 : CPUBIND_CLAIM_NONE;
}

static void hear_taken(void *ctx, int32_t pid, uint64_t start)
{
    (void)ctx, (void)pid, (void)start;
}

static int want_none(void *ctx, const char *program, const char *name)
{
    (void)ctx;
    return !*program || !*name; /* what is not known is not asked about */
}

/* Binds with one call that fails, again and again: these workers are never bound. */
static void never_binds(int first, int end)
{
    static const call calls[] = {CALL_openat, CALL_read, CALL_readlinkat, CALL_malloc};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int n_met = 1;
        for (int nth = 1; n_met && nth < 400; nth++) {
            fault_set(calls[i], nth, calls[i] == CALL_malloc ? ENOMEM : EMFILE);
            if (cpubind_host_bind_open(&f.options, &f.h, NULL) == CPUBIND_LINUX_OK)
                (void)cpubind_host_bind_apply(f.h);
            n_met = fault.n_met;
            fault_clear();
            cpubind_host_bind_close(f.h);
            f.h = NULL;
            for (int k = first; k < end; k++)
                if (!is_at(k, UNBOUND))
                    fail_msg("%s, use %d: worker %d is bound", call_name[calls[i]], nth, k);
        }
    }
}

/* Claims and patterns are asked by what is read of a process: no fault binds one that was let
 * go, or one that is excepted. */
TEST(no_fault_binds_who_is_to_be_left_alone)
{
    cpubind_root root = {&cpubind_sys_real, open("/", O_PATH | O_CLOEXEC), 0};
    cpubind_proc_stat stat;
    start(0, 0);
    start(1, 3);
    assert_int_equal(cpubind_proc_stat_read(&root, (int32_t)f.w[0].pid, 0, &stat).error, 0);
    close(root.fd);
    start_of_first = stat.start;
    f.options.wants = want_none;
    never_binds(0, 2);
    f.options.wants = NULL;
    f.options.claim = leave_first;
    f.options.take = hear_taken;
    never_binds(0, 1);
    f.options.claim = NULL;
    f.options.take = NULL;
    restore(1);
}

/* The same in a watch in which a worker is started and one ends. */
TEST(a_watch_survives_every_fault)
{
    static const struct {
        call which;
        int error;
    } cases[] = {
        {CALL_openat, EMFILE}, {CALL_read, EIO},          {CALL_getaffinity, ENOMEM},
        {CALL_poll, ENOMEM},   {CALL_recvfrom, EIO},      {CALL_recvfrom, ENOBUFS},
        {CALL_malloc, ENOMEM}, {CALL_realloc, ENOMEM},    {CALL_setaffinity, EBUSY},
        {CALL_readdir, EIO},   {CALL_flock, EWOULDBLOCK}, {CALL_rename, EIO},
    };
    start(0, 0);
    watch();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int n_met = 1;
        for (int nth = 1; n_met && nth < 200; nth += 1 + nth / 4) {
            *mask_of(f.acl[0]) = 1;
            start(1, 3);
            fault_set(cases[c].which, nth, cases[c].error);
            for (int pass = 0; pass < 3; pass++)
                cpubind_host_bind_again(f.h, 1);
            n_met = fault.n_met;
            fault_clear();
            UNTIL(is_at(0, ON_NPU_0) && is_at(1, ON_NPU_3));
            unlist_worker(1);
            worker_end(&f.w[1]);
            UNTIL(cpubind_host_bind_n(f.h) == 1);
        }
    }
}

static int run_all(void)
{
    int32_t cpu[2];
    if (!two_cpus(cpu)) {
        print_message("skipped: with one CPU there is no mask of its own\n");
        return 0;
    }
    return run_registered("host_bind", set_up, tear_down);
}

TEST_PROGRAM(run_all)
