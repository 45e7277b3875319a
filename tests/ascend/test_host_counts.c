/* test_host_counts.c - the counts of a host, also when a plan is not possible
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include "fixtures.h"
#include "memory_source.h"

#include "../../adapters/model/facts.h"

#define MIB ((size_t)1 << 20)

static const char map_of_two[] =
    "\tNPU ID                         Chip ID                        Chip Logic ID"
    "                  Chip Name\n"
    "\t0                              0                              0"
    "                              Ascend 910B4\n"
    "\t1                              0                              1"
    "                              Ascend 910B4\n";

static cpubind_host_counts shape_in(const cpubind_source *source, size_t size)
{
    cpubind_arena arena = {(char *)malloc(size ? size : 1), size, 0};
    cpubind_host_counts shape;
    assert_non_null(arena.base);
    memset(&shape, EDGE_FILL, sizeof shape);
    shape = cpubind_host_counts_read(source, &arena);
    assert_int_equal(arena.used, 0);
    free(arena.base);
    return shape;
}

static cpubind_host_counts shape_of(memory_host *h)
{
    const cpubind_source source = {h, read_input, list_inputs};
    h->seen[0] = '\0';
    return shape_in(&source, MIB);
}

static void expect_shape(memory_host *h, int32_t cpus, int32_t nodes, int32_t npus)
{
    const cpubind_host_counts shape = shape_of(h);
    if (shape.cpus != cpus || shape.nodes != nodes || shape.npus != npus)
        fail_msg("%d CPUs, %d nodes, %d NPUs; not %d, %d, %d", shape.cpus, shape.nodes,
                 shape.npus, cpus, nodes, npus);
}

/* 12 CPUs, of which 10 and 11 are offline; nodes 0 and 2 with CPUs, 5 without; two NPUs. */
static void make_host(memory_host *h)
{
    memset(h, 0, sizeof *h);
    set(h, "proc/self/status", "Cpus_allowed_list:\t0-1\n");
    set(h, "sys/devices/system/cpu/online", "0-9\n");
    set(h, "sys/devices/system/node/", "node0\nnode2\nnode5\nonline\n");
    set(h, "sys/devices/system/node/node0/cpulist", "0-5\n");
    set(h, "sys/devices/system/node/node2/cpulist", "6-9\n");
    set(h, "sys/devices/system/node/node5/cpulist", "\n");
    set(h, "cmd/npu-smi-info-m.txt", map_of_two);
}

TEST(all_online_cpus_count_allowed_or_not)
{
    memory_host h;
    make_host(&h);
    expect_shape(&h, 10, 2, 2);
    set(&h, "sys/devices/system/cpu/online", "0-3,8\n");
    expect_shape(&h, 5, 2, 2);
    set(&h, "sys/devices/system/cpu/online", "0-3\n");
    expect_shape(&h, 4, 1, 2);
}

TEST(cpus_on_no_node_count_too)
{
    memory_host h;
    make_host(&h);
    set(&h, "sys/devices/system/cpu/online", "0-11\n");
    expect_shape(&h, 12, 2, 2);
}

TEST(without_a_list_of_online_cpus_they_count_elsewhere)
{
    memory_host h;
    make_host(&h);
    take_away(&h, "sys/devices/system/cpu/online");
    expect_shape(&h, 10, 2, 2); /* on nodes */
    set(&h, "sys/devices/system/cpu/", "cpu0\ncpu1\ncpu6\ncpufreq\n");
    set(&h, "sys/devices/system/cpu/cpu1/online", "0\n");
    set(&h, "sys/devices/system/cpu/cpu6/online", "1\n");
    expect_shape(&h, 2, 2, 2); /* each by its own file */
}

TEST(nodes_are_those_of_lscpu_where_sys_has_none)
{
    memory_host h;
    make_host(&h);
    take_away(&h, "sys/devices/system/node/");
    expect_shape(&h, 10, -1, 2);
    set(&h, "cmd/lscpu-e.txt", "CPU NODE\n  0    0\n  1    0\n  2    3\n");
    expect_shape(&h, 10, 2, 2);
    take_away(&h, "sys/devices/system/cpu/online");
    expect_shape(&h, 3, 2, 2);
}

TEST(a_host_without_inputs_has_no_known_counts)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    expect_shape(&h, -1, -1, -1);
}

TEST(npus_are_counted_by_npu_smi)
{
    static const struct {
        const char *map;
        int32_t npus;
    } cases[] = {
        {"There is no NPU card on this server.\n", 0},
        {"dcmi module initialize failed. ret is -8005\n", -1},
        {"npu-smi: command not found\n", -1},
        {"", -1},
        {"\tNPU ID                         Chip ID\n", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memory_host h;
        make_host(&h);
        set(&h, "cmd/npu-smi-info-m.txt", cases[i].map);
        expect_shape(&h, 10, 2, cases[i].npus);
        take_away(&h, "cmd/npu-smi-info-m.txt");
        expect_shape(&h, 10, 2, -1);
    }
}

/* Neither the type of the NPUs nor a process table is needed, and no other input is read. */
TEST(nothing_else_is_asked_for)
{
    memory_host h;
    make_host(&h);
    (void)shape_of(&h);
    assert_null(strstr(h.seen, "proc/self/status"));
    assert_null(strstr(h.seen, "cmd/npu-smi-info.txt"));
    assert_null(strstr(h.seen, "topo"));
    assert_null(strstr(h.seen, "pci"));
    assert_null(strstr(h.seen, "lscpu"));
}

/* One input fails or is damaged: the other counts do not change. */
TEST(one_bad_input_costs_only_its_own_count)
{
    static const struct {
        const char *name;
        int32_t cpus, nodes, npus;
    } cases[] = {
        {"proc/self/status", 10, 2, 2},
        {"sys/devices/system/cpu/online", 10, 2, 2}, /* the nodes have them */
        {"sys/devices/system/node/node0/cpulist", 10, -1, 2},
        {"sys/devices/system/node/node2/cpulist", 10, -1, 2},
        {"cmd/npu-smi-info-m.txt", 10, 2, -1},
    };
    static const cpubind_input_state failures[] = {CPUBIND_INPUT_FAILED, CPUBIND_INPUT_TIMEOUT,
                                                   CPUBIND_INPUT_TOO_LONG};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memory_host h;
        make_host(&h);
        for (size_t k = 0; k < sizeof failures / sizeof *failures; k++) {
            h.failing = cases[i].name;
            h.state = failures[k];
            expect_shape(&h, cases[i].cpus, cases[i].nodes, cases[i].npus);
        }
        h.failing = NULL;
        set(&h, cases[i].name, "0-?\n");
        expect_shape(&h, cases[i].cpus, cases[i].nodes, cases[i].npus);
    }
}

TEST(a_folder_of_nodes_that_fails_costs_the_nodes)
{
    memory_host h;
    make_host(&h);
    h.failing = "sys/devices/system/node";
    h.state = CPUBIND_INPUT_FAILED;
    expect_shape(&h, 10, -1, 2);
    take_away(&h, "sys/devices/system/cpu/online");
    expect_shape(&h, -1, -1, 2);
}

/* In an arena of any size a count is true or unknown; in a large arena it is true. */
TEST(a_full_arena_makes_counts_unknown_and_never_wrong)
{
    memory_host h;
    const cpubind_source source = {&h, read_input, list_inputs};
    int32_t n_known = 0, n_unknown = 0;
    make_host(&h);
    set(&h, "sys/devices/system/cpu/online", "0-8191\n"); /* most on no node */
    for (size_t size = 0; size < MIB; size += size < 2048 ? 16 : 4096) {
        cpubind_host_counts shape;
        h.seen[0] = '\0';
        shape = shape_in(&source, size);
        assert_true(shape.cpus == 8192 || shape.cpus == -1);
        assert_true(shape.nodes == 2 || shape.nodes == -1);
        assert_true(shape.npus == 2 || shape.npus == -1);
        n_known += shape.cpus > 0 && shape.nodes > 0 && shape.npus > 0;
        n_unknown += shape.cpus < 0 && shape.nodes < 0 && shape.npus < 0;
    }
    assert_true(n_known > 0 && n_unknown > 0);
    h.seen[0] = '\0';
    assert_int_equal(shape_in(&source, 2048).npus, 2);
    h.seen[0] = '\0';
    assert_int_equal(shape_in(&source, 0).npus, -1);
}

/* == The fixture hosts ====================================================== */

/* As fixtures/README.md has them, nodes without CPUs left out; -1 where the host has no
 * input for it. */
static const struct {
    const char *name;
    cpubind_host_counts shape;
} fixtures[] = {
    {"a2-192cpu-8npu", {192, 8, 8}},
    {"a2-192cpu-8npu-cpuset", {192, 8, 8}},
    {"a2-192cpu-4node-8npu", {192, 4, 8}},
    {"a2-96cpu-wrap", {96, 4, 2}},
    {"a2-holes", {93, 4, 4}},
    {"a2-lscpu-only", {93, 4, 4}},
    {"a2-affinity-differs", {96, 4, 4}},
    {"a2-no-numa-node", {96, 4, 4}},
    {"a2-no-affinity", {192, 8, 8}},
    {"a2-container-cards-4-6", {192, 8, 2}},
    {"a2-container-boards", {192, 8, 2}},
    {"a2-visible-tail", {192, 8, 8}},
    {"a2-no-status", {192, 8, 8}},
    {"a3-640cpu-16npu", {640, 8, 16}},
    {"a3-320cpu-16npu", {320, 4, 16}},
    {"a3-container-renumbered", {640, 8, 4}},
    {"a3-container-no-census", {640, 8, 4}},
    {"a3-arm-no-column", {320, 8, 16}},
    {"300i-duo-192cpu", {192, 8, 8}},
    {"300i-pro-128cpu", {128, 4, 6}},
    {"300i-pro-x86-96cpu", {96, 4, 4}},
    {"950-smt1-256cpu", {256, 8, 4}},
    {"950-smt2-640cpu", {640, 8, 8}},
    {"950-smt2-x86-128cpu", {128, 2, 4}},
    {"950-node0-256cpu", {256, 8, 4}},
    {"950-few-clusters", {256, 8, 4}},
    {"950-ub-8npu", {256, 8, 8}},
    {"a3-too-few", {320, 4, 16}},
    {"too-few", {192, 8, 8}},
    {"affinity-outside", {192, 8, 8}},
    {"idle-a2", {192, 8, 8}},
    {"no-npu", {64, 4, 0}},
    {"npu-missing", {64, 4, -1}},
    {"driver-broken", {192, 8, -1}},
    {"a2-cut-output", {192, 8, 8}},
    {"a2-cut-processes", {192, 8, 8}},
};

static int32_t n_checked;

static void check_fixture(fixture_host *h, const char *name)
{
    const cpubind_source source = source_of_fixture(h);
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        const cpubind_host_counts want = fixtures[i].shape;
        cpubind_host_counts is;
        if (strcmp(fixtures[i].name, name) != 0)
            continue;
        is = shape_in(&source, MIB);
        if (is.cpus != want.cpus || is.nodes != want.nodes || is.npus != want.npus)
            fail_msg("%s: %d CPUs, %d nodes, %d NPUs", name, is.cpus, is.nodes, is.npus);
        n_checked++;
    }
}

TEST(a_fixture_has_the_counts_of_its_table)
{
    (void)each_fixture(check_fixture);
    assert_int_equal(n_checked, sizeof fixtures / sizeof *fixtures);
}

int main(void)
{
    return run_registered("shape", NULL, NULL);
}
