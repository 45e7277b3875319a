/* test_snapshot.c - from the inputs of a host to its plan, with hosts in memory
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

/* Two nodes of 8 CPUs and two NPUs, cards 4 and 6, in a container. */
static memory_host small_a2(void)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    set(&h, "proc/self/status", "Name:\tpython3\nCpus_allowed_list:\t0-15\n");
    set(&h, "sys/devices/system/node/", "has_cpu\nnode0\nnode1\nnode2\nonline\n");
    set(&h, "sys/devices/system/node/node0/cpulist", "0-7\n");
    set(&h, "sys/devices/system/node/node1/cpulist", "8-15\n");
    set(&h, "sys/devices/system/node/node2/cpulist", "16-23\n");
    set(&h, "cmd/npu-smi-info-m.txt",
        "\tNPU ID                         Chip ID                        Chip Logic ID   "
        "               Chip Name                     \n"
        "\t4                              0                              0               "
        "               Ascend 910B4\n"
        "\t4                              1                              -               "
        "               Mcu                           \n"
        "\t6                              0                              1               "
        "               Ascend 910B4\n"
        "\t6                              1                              -               "
        "               Mcu                           \n");
    set(&h, "cmd/npu-smi-info-t-topo.txt",
        "\t   NPU4       NPU6       CPU Affinity\n"
        "NPU4       X          HCCS       8-15\n"
        "NPU6       HCCS       X          0-7\n");
    set(&h, "cmd/npu-smi-info.txt",
        "+---------------------------+---------------+------------------------------------+\n"
        "| NPU     Chip              | Process id    | Process name   | Process memory(MB) |\n"
        "+===========================+===============+====================================+\n"
        "| 4       0                 | 812           | python3        | 150                |\n"
        "+===========================+===============+====================================+\n"
        "| 6       0                 | 813           | python3        | 151                |\n"
        "+===========================+===============+====================================+\n");
    return h;
}

/* == Ids ==================================================================== */

static void affinity_is_found_by_card_not_by_logic_id(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a = try(&h, &request);
    (void)state;
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    assert_int_equal(a.plan.n_want, 2);
    expect_run(&a, 0, 8, 15);
    expect_run(&a, 1, 0, 7);
    assert_int_equal(a.plan.core.overlap, CPUBIND_FOUND_RESOLVED);
    drop(&a);
}

/* Both dies of a card share its row. */
static void a_cards_row_holds_for_all_its_chips(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a;
    (void)state;
    set(&h, "cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
        "\t4        0         0               Ascend 310P3\n"
        "\t4        1         1               Ascend 310P3\n"
        "\t6        0         2               Ascend 310P3\n");
    a = try(&h, &request);
    assert_int_equal(a.facts.type, CPUBIND_TYPE_300I);
    assert_int_equal(a.facts.npu[0].affinity_first, a.facts.npu[1].affinity_first);
    assert_int_equal(a.facts.npu[1].affinity_count, 8);
    drop(&a);
}

/* Rows of cards that info -m does not list say nothing of ours: slices, as with no topology. */
static void rows_of_no_npu_are_no_affinity(void **state)
{
    static const int32_t both[] = {0, 1};
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a;
    (void)state;
    set(&h, "cmd/npu-smi-info-t-topo.txt",
        "\t   NPU1       NPU2       CPU Affinity\n"
        "NPU1       X          HCCS       8-15\n"
        "NPU2       HCCS       X          0-7\n");
    request.npu = both;
    request.n_npu = 2;
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    assert_int_equal(a.plan.core.strategy, CPUBIND_GLOBAL_SLICE);
    assert_true(has_warning(&a, CPUBIND_WARNING_NO_AFFINITY));
    assert_true(has_warning(&a, CPUBIND_WARNING_ONLY_LOGIC_IDS));
    drop(&a);
}

static void phy_rows_are_found_by_phy_id(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a;
    (void)state;
    set(&h, "cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
        "\t1        0         0               2             Ascend910\n"
        "\t1        1         1               3             Ascend910\n");
    set(&h, "cmd/npu-smi-info-t-topo.txt",
        "\t   Phy-ID2    Phy-ID3    CPU Affinity\n"
        "Phy-ID2    X          SIO        8-15\n"
        "Phy-ID3    SIO        X          0-7\n");
    request.npu = (const int32_t[]){0, 1};
    request.n_npu = 2;
    request.is_auto_strategy = 0;
    request.strategy = CPUBIND_TOPO_AFFINITY;
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    expect_run(&a, 0, 8, 15);
    expect_run(&a, 1, 0, 7);
    drop(&a);
}

/* A container with phy ids 2 and 3 of a host with 4 NPUs: slices 2 and 3 of 4. */
static void slices_go_by_phy_id_among_the_npus_of_the_host(void **state)
{
    static const char *const pci[] = {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0",
                                      "0000:04:00.0"};
    static char names[4][2][80];
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a;
    (void)state;
    set(&h, "proc/self/status", "Cpus_allowed_list:\t0-19\n");
    set(&h, "sys/devices/system/node/node1/cpulist", "8-19\n");
    set(&h, "cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
        "\t1        0         0               2             Ascend910\n"
        "\t1        1         1               3             Ascend910\n");
    set(&h, "sys/bus/pci/devices/",
        "0000:00:00.0\n0000:01:00.0\n0000:02:00.0\n0000:03:00.0\n0000:04:00.0\n");
    set(&h, "sys/bus/pci/devices/0000:00:00.0/vendor", "0x8086\n");
    for (int i = 0; i < 4; i++) {
        snprintf(names[i][0], 80, "sys/bus/pci/devices/%s/vendor", pci[i]);
        snprintf(names[i][1], 80, "sys/bus/pci/devices/%s/device", pci[i]);
        set(&h, names[i][0], i == 1 ? "0x20c6\n" : "0x19e5\n");
        set(&h, names[i][1], "0xd803\n");
    }
    request.npu = (const int32_t[]){0, 1};
    request.n_npu = 2;
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    assert_int_equal(a.facts.n_census, 4);
    assert_int_equal(a.plan.total, 4);
    assert_false(has_warning(&a, CPUBIND_WARNING_ONLY_LOGIC_IDS));
    expect_run(&a, 0, 10, 14);
    expect_run(&a, 1, 15, 19);
    drop(&a);
    take_away(&h, "sys/bus/pci/devices/");
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    assert_true(has_warning(&a, CPUBIND_WARNING_ONLY_LOGIC_IDS));
    expect_run(&a, 0, 0, 9);
    drop(&a);
}

/* Containers that show a die twice must not give its CPUs twice. */
static void a_phy_id_that_stands_twice_is_refused(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    (void)state;
    set(&h, "cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
        "\t0        0         0               0             Ascend910\n"
        "\t0        1         1               0             Ascend910\n");
    set(&h, "sys/bus/pci/devices/", "0000:01:00.0\n");
    set(&h, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x19e5\n");
    set(&h, "sys/bus/pci/devices/0000:01:00.0/device", "0xd803\n");
    request.npu = (const int32_t[]){0, 1};
    request.n_npu = 2;
    expect_code(&h, &request, CPUBIND_PROBLEM_OVERLAP);
}

static void a_950_has_its_npu_id_as_logic_id(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a;
    (void)state;
    set(&h, "cmd/npu-smi-info-m.txt",
        "\tNPU ID   Slot ID   Chip ID   Chip Phy-ID   Chip Name\n"
        "\t4        1         0         0             Ascend950PR\n"
        "\t6        2         0         1             Ascend950PR\n");
    set(&h, "cmd/npu-smi-info.txt",
        "| NPU ID                    | Process id    | Process name   | Process memory(MB) |\n"
        "| 4                         | 812           | python3        | 150                "
        "|\n");
    set(&h, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n");
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    expect_run(&a, 0, 8, 15);
    assert_true(has_warning(&a, CPUBIND_WARNING_NO_SPARE)); /* NPU 6 has all of node 0 */
    drop(&a);
    request.overlap = CPUBIND_OVERLAP_KEEP;
    expect_code(&h, &request, CPUBIND_PROBLEM_SKIPPED);
    set(&h, "proc/self/status", "Cpus_allowed_list:\t0-23\n");
    set(&h, "cmd/npu-smi-info-t-topo.txt",
        "\t   NPU4       NPU6       CPU Affinity\n"
        "NPU4       X          HCCS       8-15\n"
        "NPU6       HCCS       X          16-23\n");
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    assert_int_equal(a.plan.n_want, 1);
    assert_int_equal(a.facts.npu[a.plan.want[0]].logic, 4);
    expect_run(&a, 0, 8, 15);
    assert_int_equal(a.plan.n_spare, 7);
    drop(&a);
}

/* == Device types =========================================================== */

static void the_device_type_is_told_by_the_chip_name(void **state)
{
    static const struct {
        const char *name;
        int has_phy;
        cpubind_device_type type;
    } cases[] = {{"Ascend 910B3", 0, CPUBIND_TYPE_A2},   {"Ascend910B", 0, CPUBIND_TYPE_A2},
                 {"Ascend 910A", 0, CPUBIND_TYPE_A2},    {"Ascend 910ProB", 0, CPUBIND_TYPE_A2},
                 {"a2g3", 0, CPUBIND_TYPE_A2},           {"Ascend910", 1, CPUBIND_TYPE_A3},
                 {"Ascend910_9391", 1, CPUBIND_TYPE_A3}, {"Ascend 310P3", 0, CPUBIND_TYPE_300I},
                 {"MiniD", 0, CPUBIND_TYPE_300I},        {"Ascend 310B4", 0, CPUBIND_TYPE_300I},
                 {"Ascend950PR", 1, CPUBIND_TYPE_950},   {"Ascend950DT", 1, CPUBIND_TYPE_950}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const int32_t zero = 0;
        memory_host h = small_a2();
        cpubind_request request = ask_nothing();
        char text[256];
        attempt a;
        snprintf(text, sizeof text,
                 "\tNPU ID   Chip ID   Chip Logic ID%s   Chip Name\n"
                 "\t4        0         0%s               %s\n",
                 cases[i].has_phy ? "   Chip Phy-ID" : "", cases[i].has_phy ? "   0" : "",
                 cases[i].name);
        set(&h, "cmd/npu-smi-info-m.txt", text);
        request.npu = &zero;
        request.n_npu = 1;
        a = try(&h, &request);
        if (a.facts.type != cases[i].type)
            fail_msg("%s is told as %s", cases[i].name, cpubind_type_word(a.facts.type));
        drop(&a);
    }
}

static void without_a_known_name_pci_ids_tell_the_device_type(void **state)
{
    static const struct {
        const char *vendor, *device;
        cpubind_device_type type;
    } cases[] = {{"0x19e5\n", "0xd802\n", CPUBIND_TYPE_A2},
                 {"0x19e5\n", "0xd803\n", CPUBIND_TYPE_A3},
                 {"0x2092\n", "0xd500\n", CPUBIND_TYPE_300I},
                 {"0x203f\n", "0xd806\n", CPUBIND_TYPE_950},
                 {"0x20e9\n", "0xd801\n", CPUBIND_TYPE_A2}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memory_host h = small_a2();
        cpubind_request request = ask_nothing();
        attempt a;
        set(&h, "cmd/npu-smi-info-m.txt",
            "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
            "\t4        0         0               Something\n");
        set(&h, "sys/bus/pci/devices/", "0000:01:00.0\n");
        set(&h, "sys/bus/pci/devices/0000:01:00.0/vendor", cases[i].vendor);
        set(&h, "sys/bus/pci/devices/0000:01:00.0/device", cases[i].device);
        a = try(&h, &request);
        assert_int_equal(a.facts.type, cases[i].type);
        drop(&a);
        set(&h, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
        expect_code(&h, &request, CPUBIND_PROBLEM_UNKNOWN_TYPE);
    }
}

/* == CPUs and nodes ========================================================= */

static void without_status_the_online_cpus_are_allowed(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a;
    (void)state;
    take_away(&h, "proc/self/status");
    set(&h, "sys/devices/system/cpu/online", "0-13\n");
    a = try(&h, &request);
    assert_int_equal(a.facts.n_cpu, 14);
    assert_true(has_warning(&a, CPUBIND_WARNING_NO_STATUS));
    drop(&a);
    take_away(&h, "sys/devices/system/cpu/online");
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    assert_int_equal(a.facts.n_cpu, 24);
    drop(&a);
}

static void offline_cpus_are_left_out_and_do_not_make_a_node(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a;
    (void)state;
    set(&h, "proc/self/status", "Cpus_allowed_list:\t0-23\n");
    set(&h, "sys/devices/system/cpu/online", "0-5,8-15\n"); /* node 2 is off */
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    assert_true(has_warning(&a, CPUBIND_WARNING_OFFLINE));
    assert_int_equal(a.facts.n_cpu, 14);
    assert_int_equal(a.facts.n_node, 2);
    drop(&a);
}

static void old_kernels_show_masks_and_cpus_one_by_one(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a;
    (void)state;
    take_away(&h, "proc/self/status");
    take_away(&h, "sys/devices/system/node/node0/cpulist");
    take_away(&h, "sys/devices/system/node/node1/cpulist");
    take_away(&h, "sys/devices/system/node/node2/cpulist");
    set(&h, "sys/devices/system/node/node0/cpumap", "00000000,000000ff\n");
    set(&h, "sys/devices/system/node/node1/cpumap", "00000000,0000ff00\n");
    set(&h, "sys/devices/system/cpu/",
        "cpu0\ncpu1\ncpu10\ncpu11\ncpu12\ncpu13\ncpu14\ncpu15\ncpu2\ncpu3\ncpu4\ncpu5\n"
        "cpu6\ncpu7\ncpu8\ncpu9\ncpufreq\ncpuidle\n");
    set(&h, "sys/devices/system/cpu/cpu9/online", "0\n");
    set(&h, "sys/devices/system/cpu/cpu3/online", "1\n");
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    assert_int_equal(a.facts.n_cpu, 15);
    assert_int_equal(a.facts.node_of[9], -1);
    assert_int_equal(a.facts.node_of[10], 1);
    drop(&a);
    set(&h, "sys/devices/system/node/node1/cpumap", "0000000g\n");
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_UNREADABLE);
    assert_string_equal(a.problem.input, "sys/devices/system/node/node1/cpumap");
    assert_int_equal(a.problem.offset, 7);
    drop(&a);
}

static void nodes_come_from_lscpu_when_sys_has_none(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a;
    (void)state;
    take_away(&h, "sys/devices/system/node/");
    set(&h, "cmd/lscpu-e.txt",
        "CPU NODE\n  0    0\n  1    0\n  2    0\n  3    0\n  4    0\n  5    0\n  6    0\n"
        "  7    0\n  8    3\n  9    3\n 10    3\n 11    3\n 12    3\n 13    3\n 14    3\n 15   "
        " -\n");
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    assert_true(has_warning(&a, CPUBIND_WARNING_NODE_MAP));
    assert_true(has_warning(&a, CPUBIND_WARNING_OFFLINE)); /* CPU 15 */
    assert_int_equal(a.facts.n_node, 2);
    assert_int_equal(a.facts.node_id[1], 3);
    assert_int_equal(a.facts.node_of[14], 3);
    assert_int_equal(a.facts.node_of[15], -1);
    drop(&a);
    set(&h, "cmd/lscpu-e.txt", ""); /* lscpu has no /sys either */
    h.exits_1 = "cmd/lscpu-e.txt";
    a = try(&h, &request);
    assert_true(has_warning(&a, CPUBIND_WARNING_NO_NODES));
    drop(&a);
    h.exits_1 = NULL;
    expect_code(&h, &request, CPUBIND_PROBLEM_UNREADABLE);
    take_away(&h, "cmd/lscpu-e.txt");
    a = try(&h, &request);
    assert_true(has_warning(&a, CPUBIND_WARNING_NO_NODES));
    assert_int_equal(a.facts.n_node, 1);
    drop(&a);
}

/* == Who runs =============================================================== */

static void a_process_on_an_unknown_chip_is_a_fault_of_the_table(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a;
    (void)state;
    set(&h, "cmd/npu-smi-info.txt",
        "| NPU     Chip              | Process id    | Process name   | Process memory(MB) |\n"
        "| 5       0                 | 812           | python3        | 150                "
        "|\n");
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_UNREADABLE);
    assert_string_equal(a.problem.input, "cmd/npu-smi-info.txt");
    drop(&a);
}

static void a_missing_process_table_is_told_from_an_empty_one(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a;
    (void)state;
    set(&h, "cmd/npu-smi-info.txt",
        "| NPU     Chip              | Process id    | Process name   | Process memory(MB) |\n"
        "| No running processes found in NPU 4                                              "
        "|\n");
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NO_RUNNING_NPU);
    assert_string_equal(a.problem.what, "no NPU has a running process");
    drop(&a);
    set(&h, "cmd/npu-smi-info.txt",
        "| NPU   Name                | Health        | Power(W)    Temp(C)              |\n"
        "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)     |\n"
        "| 4     910B4               | OK            | 88.4        46                   |\n"
        "| 0                         | 0000:C1:00.0  | 0           0    / 0             |\n");
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NO_RUNNING_NPU);
    assert_string_equal(a.problem.what, "npu-smi info shows no process table");
    drop(&a);
}

static void an_answer_with_an_exit_code_is_taken_and_said(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a;
    (void)state;
    h.exits_1 = "cmd/npu-smi-info.txt";
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    assert_true(has_warning(&a, CPUBIND_WARNING_EXIT_CODE));
    drop(&a);
}

static void the_rank_follows_the_order_of_the_visible_devices(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt a;
    (void)state;
    set(&h, "env", "HOME=/root\nASCEND_RT_VISIBLE_DEVICES=0,1\n");
    request.rank = 1;
    a = try(&h, &request);
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    assert_int_equal(a.facts.npu[a.plan.want[a.plan.rank_row]].logic, 1);
    drop(&a);
    request.rank = 2;
    expect_code(&h, &request, CPUBIND_PROBLEM_UNKNOWN_NPU);
    set(&h, "env", "ASCEND_RT_VISIBLE_DEVICES=1\n");
    a = try(&h, &request); /* one device: whatever the rank */
    assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
    assert_int_equal(a.plan.n_want, 1);
    assert_int_equal(a.plan.rank_row, 0);
    drop(&a);
    set(&h, "env", "ASCEND_RT_VISIBLE_DEVICES=1,9\n");
    a = try(&h, &request);
    assert_true(has_warning(&a, CPUBIND_WARNING_VISIBLE_TAIL));
    drop(&a);
    set(&h, "env", "ASCEND_RT_VISIBLE_DEVICES=\n");
    expect_code(&h, &request, CPUBIND_PROBLEM_NO_RUNNING_NPU);
}

/* == What is not read ======================================================= */

static void named_npus_need_no_process_table(void **state)
{
    static const int32_t one = 1;
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    (void)state;
    request.npu = &one;
    request.n_npu = 1;
    h.failing = "cmd/npu-smi-info.txt";
    h.state = CPUBIND_INPUT_TIMEOUT;
    expect_code(&h, &request, CPUBIND_PROBLEM_NONE);
    assert_null(strstr(h.seen, "board"));
    assert_null(strstr(h.seen, "pci"));
    assert_null(strstr(h.seen, "topology"));
    assert_null(strstr(h.seen, "lscpu"));
}

/* == Faults ================================================================= */

static void every_input_that_fails_is_named(void **state)
{
    static const char *const names[] = {
        "proc/self/status",       "sys/devices/system/node/node1/cpulist",
        "cmd/npu-smi-info-m.txt", "cmd/npu-smi-info-t-topo.txt",
        "cmd/npu-smi-info.txt",   "env"};
    static const cpubind_input_state states[] = {CPUBIND_INPUT_FAILED, CPUBIND_INPUT_TIMEOUT,
                                                 CPUBIND_INPUT_TOO_LONG};
    cpubind_request request = ask_nothing();
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < 3; k++) {
            memory_host h = small_a2();
            attempt a;
            h.failing = names[i];
            h.state = states[k];
            a = try(&h, &request);
            assert_int_equal(a.code, CPUBIND_PROBLEM_UNREADABLE);
            assert_string_equal(a.problem.input, names[i]);
            assert_int_equal(a.problem.answer.state, states[k]);
            assert_int_equal(a.problem.offset, -1);
            drop(&a);
        }
}

/* Every size of arena up to one that is enough: NO_MEMORY, and then the plan. */
static void an_arena_that_is_too_small_is_said_so(void **state)
{
    memory_host h = small_a2();
    cpubind_request request = ask_nothing();
    attempt whole = try(&h, &request);
    size_t used = whole.arena.used;
    (void)state;
    drop(&whole);
    for (size_t size = 0; size < used; size += size < used - 8192 ? 4093 : 7) {
        attempt a = try_in(&h, &request, size);
        assert_int_equal(a.code, CPUBIND_PROBLEM_NO_MEMORY);
        drop(&a);
    }
    whole = try_in(&h, &request, used);
    assert_int_equal(whole.code, CPUBIND_PROBLEM_NONE);
    drop(&whole);
}

static void every_code_has_a_word(void **state)
{
    (void)state;
    for (int i = 0; i < CPUBIND_WARNING_COUNT; i++)
        assert_true(strlen(cpubind_warning_word((cpubind_warning)i)) > 3);
    assert_string_equal(cpubind_problem_word(CPUBIND_PROBLEM_TOO_FEW_CPUS), "too_few_cpus");
    assert_int_equal(cpubind_problem_exit(CPUBIND_PROBLEM_TOO_FEW_CPUS), 1);
    assert_int_equal(cpubind_problem_exit(CPUBIND_PROBLEM_UNREADABLE), 3);
    assert_int_equal(cpubind_problem_exit(CPUBIND_PROBLEM_NONE), 0);
    assert_string_equal(cpubind_type_word(CPUBIND_TYPE_300I), "300i");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affinity_is_found_by_card_not_by_logic_id),
        cmocka_unit_test(a_cards_row_holds_for_all_its_chips),
        cmocka_unit_test(rows_of_no_npu_are_no_affinity),
        cmocka_unit_test(phy_rows_are_found_by_phy_id),
        cmocka_unit_test(slices_go_by_phy_id_among_the_npus_of_the_host),
        cmocka_unit_test(a_phy_id_that_stands_twice_is_refused),
        cmocka_unit_test(a_950_has_its_npu_id_as_logic_id),
        cmocka_unit_test(the_device_type_is_told_by_the_chip_name),
        cmocka_unit_test(without_a_known_name_pci_ids_tell_the_device_type),
        cmocka_unit_test(without_status_the_online_cpus_are_allowed),
        cmocka_unit_test(offline_cpus_are_left_out_and_do_not_make_a_node),
        cmocka_unit_test(old_kernels_show_masks_and_cpus_one_by_one),
        cmocka_unit_test(nodes_come_from_lscpu_when_sys_has_none),
        cmocka_unit_test(a_process_on_an_unknown_chip_is_a_fault_of_the_table),
        cmocka_unit_test(a_missing_process_table_is_told_from_an_empty_one),
        cmocka_unit_test(an_answer_with_an_exit_code_is_taken_and_said),
        cmocka_unit_test(the_rank_follows_the_order_of_the_visible_devices),
        cmocka_unit_test(named_npus_need_no_process_table),
        cmocka_unit_test(every_input_that_fails_is_named),
        cmocka_unit_test(an_arena_that_is_too_small_is_said_so),
        cmocka_unit_test(every_code_has_a_word),
    };
    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
