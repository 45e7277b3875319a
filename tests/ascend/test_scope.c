/* test_scope.c - whose the allowed CPUs are, which NPUs count, and which one a rank drives
 * SPDX-License-Identifier: MIT
 *
 * The rules are those of facts.h: candidates come from the PCI bus, a plan is for all visible
 * NPUs, and a refusal names the scope that would do.
 */
#include "planned.h"

#define PCI    "sys/bus/pci/devices/0000:"
#define BUS    "sys/bus/pci/devices/"
#define STATUS "proc/self/status"
#define CGROUP "proc/self/cgroup"
#define V2     "sys/fs/cgroup"
#define V1     "sys/fs/cgroup/cpuset"
#define INFO   "cmd/npu-smi-info.txt"

#define RULE                                                                                   \
    "+===========================+===============+====================================+\n"
#define DEVICES                                                                                \
    "| NPU   Name                | Health        | Power(W)    Temp(C)                |\n"     \
    "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)       "        \
    "|\n" RULE
#define CHIP(card, chip, bus)                                                                  \
    "| " card                                                                                  \
    "     910B4               | OK            | 90.5        44                     |"          \
    "\n| " chip "                         | 0000:" bus                                         \
    "  | 0           0    / 0               |\n" RULE
#define DEVICE(card, bus) CHIP(card, "0", bus)
#define PROCESSES                                                                              \
    "| NPU     Chip              | Process id    | Process name   | Process memory(MB) "       \
    "|\n" RULE
#define PROCESS(card)                                                                          \
    "| " card                                                                                  \
    "       0                 | 812           | python3        | 150                |"         \
    "\n" RULE
#define BOTH DEVICES DEVICE("1", "C1:00.0") DEVICE("2", "01:00.0")

static void set_function(memory_host *h, const char *const names[4], const char *device,
                         const char *node, const char *cpus)
{
    set(h, names[0], "0x19e5\n");
    set(h, names[1], device);
    set(h, names[2], node);
    set(h, names[3], cpus);
}

#define FUNCTION(h, address, device, node, cpus)                                               \
    set_function(h,                                                                            \
                 (const char *const[]){PCI address "/vendor", PCI address "/device",           \
                                       PCI address "/numa_node",                               \
                                       PCI address "/local_cpulist"},                          \
                 device, node, cpus)

/* Four nodes of 8 CPUs. NPU 0 is near node 2, NPU 1 near node 0; the bus has no others. */
static memory_host two_npus(void)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    set(&h, STATUS, "Cpus_allowed_list:\t0-31\n");
    set(&h, "sys/devices/system/cpu/online", "0-31\n");
    set(&h, "sys/devices/system/node/", "node0\nnode1\nnode2\nnode3\n");
    set(&h, "sys/devices/system/node/node0/cpulist", "0-7\n");
    set(&h, "sys/devices/system/node/node1/cpulist", "8-15\n");
    set(&h, "sys/devices/system/node/node2/cpulist", "16-23\n");
    set(&h, "sys/devices/system/node/node3/cpulist", "24-31\n");
    set(&h, "cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
        "\t1        0         0               Ascend 910B4\n"
        "\t2        0         1               Ascend 910B4\n");
    set(&h, "cmd/npu-smi-info-t-topo.txt",
        "\t   NPU1       NPU2       CPU Affinity\n"
        "NPU1       X          HCCS       16-23\n"
        "NPU2       HCCS       X          0-7\n");
    set(&h, INFO, BOTH PROCESSES PROCESS("1") PROCESS("2"));
    set(&h, BUS, "0000:01:00.0\n0000:c1:00.0\n");
    FUNCTION(&h, "01:00.0", "0xd802\n", "0\n", "0-7\n");
    FUNCTION(&h, "c1:00.0", "0xd802\n", "2\n", "16-23\n");
    return h;
}

/* == Hidden NPUs ============================================================ */

TEST(an_npu_of_the_bus_that_is_not_in_view_keeps_its_cpus)
{
    ask = ask_reference();
    plan();
    assert_int_equal(got.plan.n_hidden, 0);
    expect_pools("16-31 0-15");
    put(BUS, "0000:01:00.0\n0000:c1:00.0\n0000:c2:00.0\n");
    FUNCTION(&host, "c2:00.0", "0xd802\n", "2\n", "16-23\n");
    plan();
    assert_int_equal(got.plan.n_hidden, 1);
    expect_pools("16-23 0-15");
    assert_int_equal(got.plan.n_idle, 8);
    ask.scope = CPUBIND_SCOPE_OWN;
    plan();
    assert_int_equal(got.plan.n_hidden, 0);
    expect_pools("16-31");
}

/* Four chips of one function are in view, and three more functions are like it. */
TEST(hidden_npus_may_be_more_than_two_a_function)
{
    put("cmd/npu-smi-info-m.txt", "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                                  "\t1        0         0               Ascend 910B4\n"
                                  "\t2        0         1               Ascend 910B4\n"
                                  "\t3        0         2               Ascend 910B4\n"
                                  "\t4        0         3               Ascend 910B4\n");
    put(INFO, DEVICES DEVICE("1", "01:00.0") DEVICE("2", "01:00.0") DEVICE("3", "01:00.0")
                  DEVICE("4", "01:00.0"));
    put(BUS, "0000:01:00.0\n0000:02:00.0\n0000:03:00.0\n0000:c1:00.0\n");
    put(STATUS, "Cpus_allowed_list:\t0-255\n");
    put("sys/devices/system/cpu/online", "0-255\n");
    put("sys/devices/system/node/node0/cpulist", "0-63\n");
    put("sys/devices/system/node/node1/cpulist", "64-127\n");
    put("sys/devices/system/node/node2/cpulist", "128-191\n");
    put("sys/devices/system/node/node3/cpulist", "192-255\n");
    FUNCTION(&host, "01:00.0", "0xd802\n", "0\n", "0-63\n");
    FUNCTION(&host, "02:00.0", "0xd802\n", "1\n", "64-127\n");
    FUNCTION(&host, "03:00.0", "0xd802\n", "3\n", "192-255\n");
    FUNCTION(&host, "c1:00.0", "0xd802\n", "2\n", "128-191\n");
    plan();
    assert_int_equal(got.plan.n_candidate, 16);
    assert_int_equal(got.plan.n_hidden, 12);
    for (int32_t i = 0; i < 16; i++) {
        assert_int_equal(got.plan.candidate[i].npu, i < 4 ? i : -1);
        assert_int_equal(got.plan.candidate[i].function, i / 4);
    }
}

#define VECTOR(irq, name) irq ":  7  ITS-MSI " irq " Edge  " name "\n"
#define DIE(irq, phy)                                                                          \
    VECTOR(irq "0", "trs-mbox-" phy "-0") VECTOR(irq "1", "sq_send_trigger_irq")

/* The mailboxes name both NPUs of a function, and npu-smi has no phy ids: which of the two is
 * in view is not known, unless both are. */
TEST(one_of_two_npus_of_a_function_without_a_phy_id_is_refused)
{
    ask = ask_reference();
    put("proc/interrupts",
        "   CPU0\n" DIE("10", "0") DIE("11", "1") DIE("12", "2") DIE("13", "3"));
    put(PCI "01:00.0/msi_irqs/", "100\n101\n110\n111\n");
    put(PCI "c1:00.0/msi_irqs/", "120\n121\n130\n131\n");
    refuse(CPUBIND_PROBLEM_UNKNOWN_NPU);
    assert_int_equal(got.problem.have, 1);
    assert_int_equal(got.problem.need, 2);
    ask.scope = CPUBIND_SCOPE_OWN;
    plan();
    ask.scope = CPUBIND_SCOPE_AUTO;
    put("cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
        "\t1        0         0               2             Ascend 910B4\n"
        "\t2        0         1               0             Ascend 910B4\n");
    plan();
    assert_int_equal(got.plan.n_hidden, 2);
    put("cmd/npu-smi-info-m.txt", "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                                  "\t1        0         0               Ascend 910B4\n"
                                  "\t1        1         1               Ascend 910B4\n");
    put("cmd/npu-smi-info-t-topo.txt", "\t   NPU1       CPU Affinity\n"
                                       "NPU1       X          16-23\n");
    put(INFO, DEVICES CHIP("1", "0", "C1:00.0") CHIP("1", "1", "C1:00.0"));
    plan();
    assert_int_equal(got.plan.n_hidden, 2);
    expect_pools("16-23");
}

/* npu-smi info -m has lost the second NPU of a function, and npu-smi info lists it. */
TEST(an_npu_that_the_map_has_lost_is_on_its_function)
{
    static const struct {
        const char *type, *info;
        cpubind_problem_code code;
    } cases[] = {
        {"310P3", DEVICES CHIP("1", "0", "C1:00.0") CHIP("1", "1", "C1:00.0"),
         CPUBIND_PROBLEM_UNKNOWN_NPU},
        {"910B4", DEVICES CHIP("1", "0", "C1:00.0") CHIP("1", "1", "C1:00.0"),
         CPUBIND_PROBLEM_UNKNOWN_NPU},
        {"910B4", DEVICES CHIP("1", "0", "C1:00.0") CHIP("1", "1", "01:00.0"),
         CPUBIND_PROBLEM_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask = ask_nothing();
        host = two_npus();
        char map[256];
        (void)snprintf(map, sizeof map,
                       "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                       "\t1        0         0               Ascend %s\n",
                       cases[i].type);
        put("cmd/npu-smi-info-m.txt", map);
        put("cmd/npu-smi-info-t-topo.txt", "\t   NPU1       CPU Affinity\n"
                                           "NPU1       X          16-23\n");
        put(INFO, cases[i].info);
        expect_code(&host, &ask, cases[i].code);
    }
}

TEST(virtual_functions_and_other_products_are_no_hidden_npus)
{
    static const char *const devices[] = {"0xd802\n", "0xd500\n", "0x1711\n"};
    for (int i = 0; i < 3; i++) {
        ask = ask_reference();
        host = two_npus();
        put(BUS, "0000:01:00.0\n0000:c1:00.0\n0000:c1:00.1\n");
        FUNCTION(&host, "c1:00.1", devices[i], "2\n", "16-23\n");
        if (i == 0)
            put(PCI "c1:00.1/physfn", "");
        plan();
        assert_int_equal(got.plan.n_hidden, 0);
        expect_pools("16-31");
    }
}

TEST(a_hidden_npu_on_no_node_counts_as_near_node_0)
{
    ask = ask_reference();
    put(BUS, "0000:01:00.0\n0000:02:00.0\n0000:c1:00.0\n");
    FUNCTION(&host, "02:00.0", "0xd802\n", "-1\n", "0-31\n");
    plan();
    assert_int_equal(got.plan.n_hidden, 1);
    expect_warning(CPUBIND_WARNING_NO_NUMA_NODE);
    expect_pools("16-31 0-7");
}

/* == Scope ================================================================== */

TEST(a_part_of_the_online_cpus_without_a_scope_is_a_warning)
{
    static const struct {
        const char *allowed;
        cpubind_scope scope;
        int is_warned;
        int32_t n_idle;
    } cases[] = {
        {"0-31", CPUBIND_SCOPE_AUTO, 0, 0},        {"0-7,16-23", CPUBIND_SCOPE_AUTO, 1, 0},
        {"0-7,16-23", CPUBIND_SCOPE_CPUSET, 0, 0}, {"0-7,16-23", CPUBIND_SCOPE_HOST, 0, 0},
        {"0-7,16-23", CPUBIND_SCOPE_OWN, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask = ask_nothing();
        host = two_npus();
        char status[64];
        snprintf(status, sizeof status, "Cpus_allowed_list:\t%s\n", cases[i].allowed);
        put(STATUS, status);
        ask.scope = cases[i].scope;
        plan();
        assert_int_equal(has_warning(&got, CPUBIND_WARNING_PARTIAL_CPUSET), cases[i].is_warned);
        assert_int_equal(got.plan.n_idle, cases[i].n_idle);
    }
}

TEST(scope_host_cuts_the_pools_of_the_host_to_the_allowed_cpus)
{
    ask = ask_reference();
    ask.scope = CPUBIND_SCOPE_HOST;
    put(STATUS, "Cpus_allowed_list:\t4-19,26-31\n");
    plan();
    assert_int_equal(got.plan.core.row[1], 10); /* 16-19 and 26-31 of 16-31 */
    expect_run(&got, 1, 4, 15);
    assert_int_equal(got.plan.n_idle, 0);
    put(STATUS, "Cpus_allowed_list:\t4-18\n");
    refuse(CPUBIND_PROBLEM_TOO_FEW_CPUS);
    assert_int_equal(got.problem.npu, 0);
    assert_int_equal(got.problem.need, 5);
    assert_int_equal(got.problem.have, 3);
    assert_int_equal(got.problem.uncut, 16);
}

TEST(a_refusal_for_want_of_cpus_names_the_scope_that_would_do)
{
    ask = ask_reference();
    put(STATUS, "Cpus_allowed_list:\t0-7,16-23\n");
    put(BUS, "0000:01:00.0\n0000:c1:00.0\n0000:c2:00.0\n");
    FUNCTION(&host, "c2:00.0", "0xd802\n", "2\n", "16-23\n");
    refuse(CPUBIND_PROBLEM_TOO_FEW_CPUS);
    assert_int_equal(got.problem.would_do, CPUBIND_SCOPE_OWN);
    ask.scope = got.problem.would_do;
    plan();
    ask.scope = CPUBIND_SCOPE_AUTO;
    put(STATUS, "Cpus_allowed_list:\t8-15\n");
    refuse(CPUBIND_PROBLEM_NO_LOCAL_CPUS);
    assert_int_equal(got.problem.would_do, CPUBIND_SCOPE_AUTO);
}

TEST(a_variable_of_the_cpu_driver_means_scope_own)
{
    static const struct {
        const char *env;
        cpubind_scope scope;
    } cases[] = {
        {"DRA_CPUSET_pod=0-7\n", CPUBIND_SCOPE_OWN},
        {"A=b\nDRA_CPUSET_=\n", CPUBIND_SCOPE_OWN},
        {"DRA_CPUSET=0-7\n", CPUBIND_SCOPE_CPUSET},
        {"X_DRA_CPUSET_pod=0-7\n", CPUBIND_SCOPE_CPUSET},
        {"DRA_CPUSET_pod\n", CPUBIND_SCOPE_CPUSET},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask = ask_nothing();
        host = two_npus();
        put("env", cases[i].env);
        try_plan();
        assert_int_equal(got.facts.scope, cases[i].scope);
        assert_int_equal(got.facts.is_scope_given, cases[i].scope == CPUBIND_SCOPE_OWN);
        ask.scope = CPUBIND_SCOPE_HOST;
        try_plan();
        assert_int_equal(got.facts.scope, CPUBIND_SCOPE_HOST);
    }
}

/* The lists of all variables together are the allowed CPUs; the cgroup has them all. */
TEST(own_cpus_are_those_that_the_cpu_driver_names)
{
    static const struct {
        const char *name, *env, *cgroup, *status;
        int32_t n_cpu, offset; /* n_cpu -1: refused, at this byte of the environment */
    } cases[] = {
        {"one variable", "DRA_CPUSET_a=0-19\n", "0-31\n", "0-31", 20, 0},
        {"two variables", "DRA_CPUSET_a=0-9\nX=1\nDRA_CPUSET_b=8-20\n", "0-31\n", "0-31", 21,
         0},
        {"an empty one beside another", "DRA_CPUSET_a=\nDRA_CPUSET_b=0-19\n", "0-31\n", "0-31",
         20, 0},
        {"empty ones alone", "DRA_CPUSET_a=\n", "0-20\n", "0-31", 21, 0},
        {"a mask cut inside of it", "DRA_CPUSET_a=0-19\n", "0-19\n", "0-3", 20, 0},
        {"the same without a cgroup", "DRA_CPUSET_a=0-19\n", NULL, "0-3", 20, 0},
        {"a part of the mask, without a cgroup", "DRA_CPUSET_a=0-19\n", NULL, "0-31", 20, 0},
        {"outside of the cgroup", "A=b\nDRA_CPUSET_a=0-24\n", "0-20\n", "0-20", -1, 4},
        {"crossing the mask, without a cgroup", "DRA_CPUSET_a=4-24\n", NULL, "0-20", -1, 0},
        {"no list", "DRA_CPUSET_a=0-9\nDRA_CPUSET_b=7-x\n", "0-31\n", "0-31", -1, 32},
        {"descending", "DRA_CPUSET_a=9-0\n", "0-31\n", "0-31", -1, 15},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char status[64];
        ask = ask_nothing();
        host = two_npus();
        (void)snprintf(status, sizeof status, "Cpus_allowed_list:\t%s\n", cases[i].status);
        put(STATUS, status);
        put("env", cases[i].env);
        if (cases[i].cgroup) {
            put(CGROUP, "0::/a\n");
            put(V2 "/a/cpuset.cpus.effective", cases[i].cgroup);
        }
        try_plan();
        if (cases[i].n_cpu < 0 ? got.code != CPUBIND_PROBLEM_UNREADABLE ||
                                     got.problem.offset != cases[i].offset
                               : got.facts.n_cpu != cases[i].n_cpu)
            fail_msg("%s: %d CPUs, %s at %d", cases[i].name, got.facts.n_cpu,
                     cpubind_problem_word(got.code), got.problem.offset);
        ask.scope = CPUBIND_SCOPE_CPUSET;
        try_plan();
        assert_int_not_equal(got.code, CPUBIND_PROBLEM_UNREADABLE);
    }
}

TEST(own_cpus_are_those_of_the_cgroup)
{
    static const struct {
        const char *cgroup, *file, *list;
        int32_t n_cpu;
    } cases[] = {
        {"0::/a/b\n", V2 "/a/b/cpuset.cpus.effective", "0-19\n", 20},
        {"0::/a/b\n", V2 "/a/cpuset.cpus.effective", "0-20\n", 21}, /* of a parent */
        {"0::/\n", V2 "/cpuset.cpus.effective", "0-21\n", 22},
        {"0::/host/path\n", V2 "/cpuset.cpus.effective", "0-22\n",
         23}, /* a container's mount */
        {"4:memory:/m\n3:cpu,cpuset:/a\n0::/z\n", V1 "/a/cpuset.effective_cpus", "0-23\n", 24},
        {"3:cpuset:/a/b\n", V1 "/cpuset.effective_cpus", "0-24\n", 25},
        {"0::/a\n", V1 "/a/cpuset.effective_cpus", "0-24\n", 32}, /* of another hierarchy */
        {"1:name=systemd:/a\n", V2 "/a/cpuset.cpus.effective", "0-24\n", 32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask = ask_nothing();
        host = two_npus();
        ask.scope = CPUBIND_SCOPE_OWN;
        put(CGROUP, cases[i].cgroup);
        put(cases[i].file, cases[i].list);
        plan();
        if (got.facts.n_cpu != cases[i].n_cpu)
            fail_msg("%s%s: %d CPUs", cases[i].cgroup, cases[i].file, (int)got.facts.n_cpu);
        ask.scope = CPUBIND_SCOPE_CPUSET;
        plan();
        assert_int_equal(got.facts.n_cpu, 32);
    }
}

/* == Ranks, running NPUs, NPUs without a pool ================================ */

TEST(a_rank_counts_visible_npus_whoever_runs)
{
    static const char *const tables[] = {BOTH PROCESSES PROCESS("1") PROCESS("2"),
                                         BOTH PROCESSES PROCESS("2"), BOTH PROCESSES RULE};
    for (int i = 0; i < 3; i++) {
        ask = ask_nothing();
        host = two_npus();
        ask.has_rank = 1;
        put(INFO, tables[i]);
        for (ask.rank = 0; ask.rank < 2; ask.rank++) {
            plan();
            assert_int_equal(got.plan.n_want, 2);
            assert_int_equal(got.plan.rank_row, ask.rank);
            assert_int_equal(got.facts.npu[0].is_running, i == 0);
        }
        refuse(CPUBIND_PROBLEM_UNKNOWN_NPU);
        ask.visible = "1";
        ask.visible_len = 1;
        {
            plan(); /* a single NPU is driven by any rank */
            assert_int_equal(got.plan.n_want, 1);
            assert_int_equal(got.facts.npu[got.plan.want[got.plan.rank_row]].logic, 1);
        }
    }
}

TEST(a_plan_is_limited_to_running_npus_on_request)
{
    ask = ask_reference();
    ask.only_running = 1;
    put(INFO, BOTH PROCESSES PROCESS("2"));
    plan();
    assert_int_equal(got.plan.n_want, 1);
    expect_pools("0-15");
    ask.has_rank = 1;
    refuse(CPUBIND_PROBLEM_NO_RUNNING_NPU);
    ask.rank = 1;
    plan();
}

TEST(an_idle_npu_without_cpus_is_shown_with_its_reason)
{
    static const int32_t first[] = {0};
    ask = ask_reference();
    put(STATUS, "Cpus_allowed_list:\t0-15\n");
    put(INFO, BOTH PROCESSES PROCESS("2"));
    plan();
    assert_int_equal(got.plan.n_want, 1);
    assert_int_equal(got.plan.n_poolless, 1);
    assert_int_equal(got.plan.poolless[0].npu, 0);
    assert_int_equal(got.plan.poolless[0].problem.code, CPUBIND_PROBLEM_NO_LOCAL_CPUS);
    expect_pools("0-15");
    ask.has_rank = 1;
    refuse(CPUBIND_PROBLEM_NO_LOCAL_CPUS); /* the rank's */
    ask.rank = 1;
    plan();
    ask.has_rank = 0;
    ask_npus(first, 1);
    refuse(CPUBIND_PROBLEM_NO_LOCAL_CPUS); /* named */
    ask.npu = NULL;
    put(INFO, BOTH PROCESSES PROCESS("1"));
    refuse(CPUBIND_PROBLEM_NO_LOCAL_CPUS); /* it runs */
}

/* == Requests =============================================================== */

TEST(every_field_of_a_request_is_checked)
{
    static const int32_t twice[] = {1, 1}, negative[] = {-1}, high[] = {CPUBIND_MAX_DEVICES};
    cpubind_request bad[24];
    size_t n = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        bad[i] = ask;
    bad[n++].type = CPUBIND_TYPE_COUNT;
    bad[n++].type = (cpubind_device_type)99;
    bad[n].is_auto_strategy = 0;
    bad[n++].strategy = (cpubind_strategy)(CPUBIND_CLUSTER + 1);
    bad[n++].overlap = (cpubind_overlap)(CPUBIND_OVERLAP_REFUSE + 1);
    bad[n++].scope = CPUBIND_SCOPE_COUNT;
    bad[n++].origin = CPUBIND_ORIGIN_COUNT;
    bad[n].has_rank = 1;
    bad[n++].rank = -1;
    bad[n++].total = -1;
    bad[n++].total = CPUBIND_MAX_DEVICES + 1;
    bad[n].visible = "0";
    bad[n++].visible_len = -1;
    bad[n++].npu = twice; /* none of them */
    bad[n].npu = twice;
    bad[n++].n_npu = 2;
    bad[n].npu = twice;
    bad[n++].n_npu = -1;
    bad[n].npu = negative;
    bad[n++].n_npu = 1;
    bad[n].npu = high;
    bad[n++].n_npu = 1;
    bad[n].allowed = twice;
    bad[n++].n_allowed = 2;
    bad[n].exclude = negative;
    bad[n++].n_exclude = 1;
    for (size_t i = 0; i < n; i++) {
        drop(&got);
        got = try(&host, &bad[i]);
        if (got.code != CPUBIND_PROBLEM_BAD_REQUEST || !got.problem.what || host.asked != 0)
            fail_msg("request %d: %s", (int)i, cpubind_problem_word(got.code));
    }
    plan();
}

SETUP(set_up)
{
    return start(two_npus(), ask_nothing());
}

int main(void)
{
    return run_registered("scope", set_up, drop_plan);
}
