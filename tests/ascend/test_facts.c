/* test_facts.c - from the inputs of a host to its plan, with hosts in memory
 * SPDX-License-Identifier: MIT
 */
#include "planned.h"

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

TEST(affinity_is_found_by_card_not_by_logic_id)
{
    ask = ask_reference();
    plan();
    assert_int_equal(got.plan.n_want, 2);
    expect_pools("8-15 0-7");
    assert_int_equal(got.plan.core.overlap, CPUBIND_FOUND_RESOLVED);
}

/* Both dies of a card share its row. */
TEST(a_cards_row_holds_for_all_its_chips)
{
    put("cmd/npu-smi-info-m.txt", "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                                  "\t4        0         0               Ascend 310P3\n"
                                  "\t4        1         1               Ascend 310P3\n"
                                  "\t6        0         2               Ascend 310P3\n");
    plan();
    assert_int_equal(got.facts.type, CPUBIND_TYPE_300I);
    for (int32_t i = 0; i < 2; i++) {
        assert_int_equal(got.facts.npu[i].affinity_count, 8);
        assert_int_equal(got.facts.affinity[got.facts.npu[i].affinity_first], 8);
    }
}

/* Rows of cards that info -m does not list do not count: slices, as without a topology. */
TEST(rows_of_other_cards_are_no_affinity)
{
    static const int32_t both[] = {0, 1};
    put("cmd/npu-smi-info-t-topo.txt", "\t   NPU1       NPU2       CPU Affinity\n"
                                       "NPU1       X          HCCS       8-15\n"
                                       "NPU2       HCCS       X          0-7\n");
    ask_npus(both, 2);
    plan();
    assert_int_equal(got.plan.core.strategy, CPUBIND_GLOBAL_SLICE);
    expect_warning(CPUBIND_WARNING_NO_AFFINITY);
    expect_warning(CPUBIND_WARNING_ONLY_LOGIC_IDS);
}

TEST(phy_rows_are_found_by_phy_id)
{
    put("cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
        "\t1        0         0               2             Ascend910\n"
        "\t1        1         1               3             Ascend910\n");
    put("cmd/npu-smi-info-t-topo.txt", "\t   Phy-ID2    Phy-ID3    CPU Affinity\n"
                                       "Phy-ID2    X          SIO        8-15\n"
                                       "Phy-ID3    SIO        X          0-7\n");
    ask_npus((const int32_t[]){0, 1}, 2);
    ask_strategy(CPUBIND_TOPO_AFFINITY);
    plan_pools("8-15 0-7");
}

/* A container with phy ids 2 and 3 of a host with 4 NPUs: slices 2 and 3 of 4. */
TEST(slices_go_by_phy_id_among_the_npus_of_the_host)
{
    static const char *const pci[] = {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0",
                                      "0000:04:00.0"};
    static char names[4][2][80];
    put("proc/self/status", "Cpus_allowed_list:\t0-19\n");
    put("sys/devices/system/node/node1/cpulist", "8-19\n");
    put("sys/devices/system/node/node2/cpulist", "20-23\n");
    put("cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
        "\t1        0         0               2             Ascend910\n"
        "\t1        1         1               3             Ascend910\n");
    put("sys/bus/pci/devices/",
        "0000:00:00.0\n0000:01:00.0\n0000:02:00.0\n0000:03:00.0\n0000:04:00.0\n");
    put("sys/bus/pci/devices/0000:00:00.0/vendor", "0x8086\n");
    for (int i = 0; i < 4; i++) {
        snprintf(names[i][0], 80, "sys/bus/pci/devices/%s/vendor", pci[i]);
        snprintf(names[i][1], 80, "sys/bus/pci/devices/%s/device", pci[i]);
        put(names[i][0], i == 1 ? "0x20c6\n" : "0x19e5\n");
        put(names[i][1], "0xd803\n");
    }
    ask_npus((const int32_t[]){0, 1}, 2);
    plan();
    assert_int_equal(got.facts.n_census, 4);
    assert_int_equal(got.plan.total, 4);
    expect_no_warning(CPUBIND_WARNING_ONLY_LOGIC_IDS);
    expect_pools("10-14 15-19");
    lose("sys/bus/pci/devices/");
    plan();
    expect_warning(CPUBIND_WARNING_ONLY_LOGIC_IDS);
    expect_pools("0-9");
}

/* Containers that show a die twice must not give its CPUs twice. */
TEST(a_repeated_phy_id_is_refused)
{
    put("cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
        "\t0        0         0               0             Ascend910\n"
        "\t0        1         1               0             Ascend910\n");
    put("sys/bus/pci/devices/", "0000:01:00.0\n");
    put("sys/bus/pci/devices/0000:01:00.0/vendor", "0x19e5\n");
    put("sys/bus/pci/devices/0000:01:00.0/device", "0xd803\n");
    ask_npus((const int32_t[]){0, 1}, 2);
    refuse(CPUBIND_PROBLEM_OVERLAP);
}

TEST(a_950_has_its_npu_id_as_logic_id)
{
    put("cmd/npu-smi-info-m.txt", "\tNPU ID   Slot ID   Chip ID   Chip Phy-ID   Chip Name\n"
                                  "\t4        1         0         0             Ascend950PR\n"
                                  "\t6        2         0         1             Ascend950PR\n");
    put("cmd/npu-smi-info.txt",
        "| NPU ID                    | Process id    | Process name   | Process memory(MB) |\n"
        "| 4                         | 812           | python3        | 150                "
        "|\n");
    put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n");
    plan_pools("8-15");
    expect_warning(CPUBIND_WARNING_NO_SPARE); /* NPU 6 has all of node 0 */
    ask.overlap = CPUBIND_OVERLAP_KEEP;
    refuse(CPUBIND_PROBLEM_SKIPPED);
    put("proc/self/status", "Cpus_allowed_list:\t0-23\n");
    put("cmd/npu-smi-info-t-topo.txt", "\t   NPU4       NPU6       CPU Affinity\n"
                                       "NPU4       X          HCCS       8-15\n"
                                       "NPU6       HCCS       X          16-23\n");
    plan();
    assert_int_equal(got.plan.n_want, 2);
    expect_pools("8-15 16-23");
    assert_int_equal(got.facts.npu[0].is_running, 1);
    assert_int_equal(got.facts.npu[1].is_running, 0);
    ask.only_running = 1;
    plan();
    assert_int_equal(got.plan.n_want, 1);
    assert_int_equal(got.facts.npu[got.plan.want[0]].logic, 4);
    expect_pools("8-15");
    assert_int_equal(got.plan.n_spare, 7);
}

/* == Device types =========================================================== */

TEST(the_chip_name_gives_the_device_type)
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
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const int32_t zero = 0;
        host = small_a2();
        ask = ask_nothing();
        char text[256];
        snprintf(text, sizeof text,
                 "\tNPU ID   Chip ID   Chip Logic ID%s   Chip Name\n"
                 "\t4        0         0%s               %s\n",
                 cases[i].has_phy ? "   Chip Phy-ID" : "", cases[i].has_phy ? "   0" : "",
                 cases[i].name);
        put("cmd/npu-smi-info-m.txt", text);
        ask.npu = &zero;
        ask.n_npu = 1;
        try_plan();
        if (got.facts.type != cases[i].type)
            fail_msg("%s is told as %s", cases[i].name, cpubind_type_word(got.facts.type));
    }
}

TEST(without_a_known_name_pci_ids_give_the_device_type)
{
    static const struct {
        const char *vendor, *device;
        cpubind_device_type type;
    } cases[] = {{"0x19e5\n", "0xd802\n", CPUBIND_TYPE_A2},
                 {"0x19e5\n", "0xd803\n", CPUBIND_TYPE_A3},
                 {"0x2092\n", "0xd500\n", CPUBIND_TYPE_300I},
                 {"0x203f\n", "0xd806\n", CPUBIND_TYPE_950},
                 {"0x20e9\n", "0xd801\n", CPUBIND_TYPE_A2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        host = small_a2();
        ask = ask_nothing();
        put("cmd/npu-smi-info-m.txt", "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                                      "\t4        0         0               Something\n");
        put("sys/bus/pci/devices/", "0000:01:00.0\n");
        put("sys/bus/pci/devices/0000:01:00.0/vendor", cases[i].vendor);
        put("sys/bus/pci/devices/0000:01:00.0/device", cases[i].device);
        try_plan();
        assert_int_equal(got.facts.type, cases[i].type);
        put("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
        refuse(CPUBIND_PROBLEM_UNKNOWN_TYPE);
    }
}

/* == CPUs and nodes ========================================================= */

TEST(without_status_the_online_cpus_are_allowed)
{
    lose("proc/self/status");
    put("sys/devices/system/cpu/online", "0-13\n");
    plan();
    assert_int_equal(got.facts.n_cpu, 14);
    expect_warning(CPUBIND_WARNING_NO_STATUS);
    lose("sys/devices/system/cpu/online");
    plan();
    assert_int_equal(got.facts.n_cpu, 24);
}

TEST(offline_cpus_are_left_out_and_do_not_make_a_node)
{
    put("proc/self/status", "Cpus_allowed_list:\t0-23\n");
    put("sys/devices/system/cpu/online", "0-5,8-15\n"); /* node 2 is off */
    put("sys/devices/system/node/node0/cpulist", "0-5\n");
    put("sys/devices/system/node/node2/cpulist", "\n");
    plan();
    expect_warning(CPUBIND_WARNING_OFFLINE);
    assert_int_equal(got.facts.n_cpu, 14);
    assert_int_equal(got.facts.n_node, 2);
}

TEST(old_kernels_show_masks_and_cpus_one_by_one)
{
    lose("proc/self/status");
    lose("sys/devices/system/node/node0/cpulist");
    lose("sys/devices/system/node/node1/cpulist");
    lose("sys/devices/system/node/node2/cpulist");
    put("sys/devices/system/node/node0/cpumap", "00000000,000000ff\n");
    put("sys/devices/system/node/node1/cpumap", "00000000,0000ff00\n");
    put("sys/devices/system/node/node2/cpumap", "00000000,00000000\n");
    put("sys/devices/system/cpu/",
        "cpu0\ncpu1\ncpu10\ncpu11\ncpu12\ncpu13\ncpu14\ncpu15\ncpu2\ncpu3\ncpu4\ncpu5\n"
        "cpu6\ncpu7\ncpu8\ncpu9\ncpufreq\ncpuidle\n");
    put("sys/devices/system/cpu/cpu9/online", "0\n");
    put("sys/devices/system/cpu/cpu3/online", "1\n");
    plan();
    assert_int_equal(got.facts.n_cpu, 15);
    assert_int_equal(got.facts.node_of[9], -1);
    assert_int_equal(got.facts.node_of[10], 1);
    put("sys/devices/system/node/node1/cpumap", "0000000g\n");
    refuse_input(CPUBIND_PROBLEM_UNREADABLE, "sys/devices/system/node/node1/cpumap");
    assert_int_equal(got.problem.offset, 7);
}

TEST(nodes_come_from_lscpu_when_sys_has_none)
{
    lose("sys/devices/system/node/");
    put("cmd/lscpu-e.txt",
        "CPU NODE\n  0    0\n  1    0\n  2    0\n  3    0\n  4    0\n  5    0\n  6    0\n"
        "  7    0\n  8    3\n  9    3\n 10    3\n 11    3\n 12    3\n 13    3\n 14    3\n 15   "
        " -\n");
    plan();
    expect_warning(CPUBIND_WARNING_NODE_MAP);
    expect_warning(CPUBIND_WARNING_OFFLINE); /* CPU 15 */
    assert_int_equal(got.facts.n_node, 2);
    assert_int_equal(got.facts.node_id[1], 3);
    assert_int_equal(got.facts.node_of[14], 3);
    assert_int_equal(got.facts.node_of[15], -1);
    put("cmd/lscpu-e.txt", ""); /* lscpu has no /sys either */
    host.exits_1 = "cmd/lscpu-e.txt";
    plan();
    expect_warning(CPUBIND_WARNING_NO_NODES);
    host.exits_1 = NULL;
    refuse(CPUBIND_PROBLEM_UNREADABLE);
    lose("cmd/lscpu-e.txt");
    plan();
    expect_warning(CPUBIND_WARNING_NO_NODES);
    assert_int_equal(got.facts.n_node, 1);
}

/* == Who runs =============================================================== */

TEST(a_process_on_an_unknown_chip_is_named_in_a_warning)
{
    put("cmd/npu-smi-info.txt",
        "| NPU     Chip              | Process id    | Process name   | Process memory(MB) |\n"
        "| 5       0                 | 812           | python3        | 150                "
        "|\n");
    plan();
    expect_warning(CPUBIND_WARNING_INPUTS_DIFFER);
    assert_int_equal(got.facts.n_difference, 1);
    assert_string_equal(got.facts.difference[0].has, "cmd/npu-smi-info.txt");
    assert_string_equal(got.facts.difference[0].lacks, "cmd/npu-smi-info-m.txt");
    assert_int_equal(got.facts.difference[0].card, 5);
    assert_int_equal(got.facts.difference[0].chip, 0);
}

TEST(a_missing_process_table_differs_from_an_empty_one)
{
    ask.only_running = 1;
    put("cmd/npu-smi-info.txt",
        "| NPU     Chip              | Process id    | Process name   | Process memory(MB) |\n"
        "| No running processes found in NPU 4                                              "
        "|\n");
    refuse(CPUBIND_PROBLEM_NO_RUNNING_NPU);
    assert_string_equal(got.problem.what, "no NPU has a running process");
    put("cmd/npu-smi-info.txt",
        "| NPU   Name                | Health        | Power(W)    Temp(C)              |\n"
        "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)     |\n"
        "| 4     910B4               | OK            | 88.4        46                   |\n"
        "| 0                         | 0000:C1:00.0  | 0           0    / 0             |\n");
    refuse(CPUBIND_PROBLEM_NO_RUNNING_NPU);
    assert_string_equal(got.problem.what, "npu-smi info shows no process table");
    ask.only_running = 0;
    plan();
    expect_warning(CPUBIND_WARNING_NO_PROCESSES);
}

TEST(an_answer_with_an_exit_code_is_used_with_a_warning)
{
    host.exits_1 = "cmd/npu-smi-info.txt";
    plan();
    expect_warning(CPUBIND_WARNING_EXIT_CODE);
}

TEST(the_rank_follows_the_order_of_the_visible_devices)
{
    put("env", "HOME=/root\nASCEND_RT_VISIBLE_DEVICES=0,1\n");
    ask.has_rank = 1;
    ask.rank = 1;
    plan();
    assert_int_equal(got.facts.npu[got.plan.want[got.plan.rank_row]].logic, 1);
    ask.rank = 2;
    refuse(CPUBIND_PROBLEM_UNKNOWN_NPU);
    put("env", "ASCEND_RT_VISIBLE_DEVICES=1\n");
    plan(); /* one device, for any rank */
    assert_int_equal(got.plan.n_want, 1);
    assert_int_equal(got.plan.rank_row, 0);
    put("env", "ASCEND_RT_VISIBLE_DEVICES=1,9\n");
    plan();
    expect_warning(CPUBIND_WARNING_VISIBLE_TAIL);
    put("env", "ASCEND_RT_VISIBLE_DEVICES=\n");
    refuse(CPUBIND_PROBLEM_NO_RUNNING_NPU);
}

/* == The CPUs near an NPU =================================================== */

#define PCI_4      "sys/bus/pci/devices/0000:c1:00.0/"
#define PCI_6      "sys/bus/pci/devices/0000:82:00.0/"
#define TOPO       "cmd/npu-smi-info-t-topo.txt"
#define INFO       "cmd/npu-smi-info.txt"
#define BOARD_4_C0 "cmd/npu-smi-info-t-board-i4-c0.txt"
#define BOARD_4    "cmd/npu-smi-info-t-board-i4.txt"
#define BOARD_6_C0 "cmd/npu-smi-info-t-board-i6-c0.txt"
#define BOARD_6    "cmd/npu-smi-info-t-board-i6.txt"

#define REFUSED_TOPO "This device does not support querying topo.\n"

#define DEVICE_HEAD                                                                            \
    "| NPU   Name                | Health        | Power(W)    Temp(C)              |\n"       \
    "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)     |\n"
#define DEVICE(card, bus)                                                                      \
    "| " card                                                                                  \
    "     910B4               | OK            | 88.4        46                   |\n"          \
    "| 0                         | " bus "  | 0           0    / 0             |\n"
#define PROCESSES                                                                              \
    "| NPU     Chip              | Process id    | Process name   | Process memory(MB) |\n"    \
    "| 4       0                 | 812           | python3        | 150                |\n"    \
    "| 6       0                 | 813           | python3        | 151                |\n"

#define BOARD_OF(card, chip, bus)                                                              \
    "\tNPU ID                         : " card "\n"                                            \
    "\tChip ID                        : " chip "\n"                                            \
    "\tChip Name                      : 910B4\n"                                               \
    "\tPCIe Bus Info                  : " bus "\n"
#define CARD_OF(card, bus, count)                                                              \
    "\tNPU ID                         : " card "\n"                                            \
    "\tSoftware Version               : 23.0.5\n"                                              \
    "\tPCIe Bus Info                  : " bus "\n"                                             \
    "\tChip Count                     : " count "\n"

/* small_a2 whose topology is refused: the kernel knows the same affinities, at the addresses
 * that npu-smi info prints. */
static memory_host kernel_a2(void)
{
    memory_host h = small_a2();
    set(&h, TOPO, REFUSED_TOPO);
    set(&h, INFO,
        DEVICE_HEAD DEVICE("4", "0000:C1:00.0") DEVICE("6", "0000:82:00.0") PROCESSES);
    set(&h, PCI_4 "numa_node", "1\n");
    set(&h, PCI_4 "local_cpulist", "8-15\n");
    set(&h, PCI_6 "numa_node", "0\n");
    set(&h, PCI_6 "local_cpulist", "0-7\n");
    return h;
}

/* kernel_a2 with named NPUs and no device table: the addresses are in the boards. */
static memory_host board_a2(cpubind_request *request)
{
    static const int32_t both[] = {0, 1};
    memory_host h = kernel_a2();
    set(&h, INFO, PROCESSES);
    set(&h, BOARD_4_C0, BOARD_OF("4", "0", "0000:C1:00.0"));
    set(&h, BOARD_6_C0, BOARD_OF("6", "0", "0000:82:00.0"));
    *request = ask_reference();
    request->npu = both;
    request->n_npu = 2;
    return h;
}

/* The known affinities, and the warnings about them. */
static void expect_locality(const attempt *a, cpubind_locality first, cpubind_locality second)
{
    assert_int_equal(a->facts.npu[0].locality, first);
    assert_int_equal(a->facts.npu[1].locality, second);
    assert_int_equal(has_warning(a, CPUBIND_WARNING_PCI_AFFINITY),
                     first == CPUBIND_LOCALITY_TAKEN || second == CPUBIND_LOCALITY_TAKEN);
    assert_int_equal(has_warning(a, CPUBIND_WARNING_AFFINITY_DIFFERS),
                     first == CPUBIND_LOCALITY_DIFFERS || second == CPUBIND_LOCALITY_DIFFERS);
    assert_int_equal(has_warning(a, CPUBIND_WARNING_NO_NUMA_NODE),
                     first == CPUBIND_LOCALITY_NO_NODE || second == CPUBIND_LOCALITY_NO_NODE);
}

/* NPU 0 has 8-15 and NPU 1 has 0-7, as npu-smi of small_a2 has them. */
static void expect_plan_of_small_a2(const attempt *a)
{
    assert_int_equal(a->code, CPUBIND_PROBLEM_NONE);
    assert_int_equal(a->plan.core.strategy, CPUBIND_TOPO_AFFINITY);
    assert_false(has_warning(a, CPUBIND_WARNING_NO_AFFINITY));
    expect_run(a, 0, 8, 15);
    expect_run(a, 1, 0, 7);
}

static void expect_slices(const attempt *a)
{
    assert_int_equal(a->code, CPUBIND_PROBLEM_NONE);
    expect_locality(a, CPUBIND_LOCALITY_UNKNOWN, CPUBIND_LOCALITY_UNKNOWN);
    assert_int_equal(a->plan.core.strategy, CPUBIND_GLOBAL_SLICE);
    assert_true(has_warning(a, CPUBIND_WARNING_NO_AFFINITY));
    expect_run(a, 0, 0, 7);
    expect_run(a, 1, 8, 15);
}

/* NPU 1 has no node: then the affinity of NPU 0 does not count either. */
static void expect_second_unknown(const attempt *a)
{
    assert_int_equal(a->facts.npu[0].pci.bus, 0xc1);
    assert_int_equal(a->facts.npu[1].pci.domain, -1);
    expect_slices(a);
}

TEST(the_affinity_of_the_kernel_is_used_where_npu_smi_has_none)
{
    static const char *const topo[] = {
        REFUSED_TOPO, "Failed to query \"topo\" info.\n",
        "\t   NPU4       NPU6       \n" /* no column */
        "NPU4       X          HCCS       \n"
        "NPU6       HCCS       X          \n",
        "\t   NPU1       NPU2       CPU Affinity\n" /* rows of others */
        "NPU1       X          HCCS       8-15\n"
        "NPU2       HCCS       X          0-7\n",
        NULL};
    ask = ask_reference();
    for (size_t i = 0; i < sizeof topo / sizeof *topo; i++) {
        host = kernel_a2();
        if (topo[i])
            put(TOPO, topo[i]);
        else
            lose(TOPO);
        plan();
        expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
        assert_int_equal(got.facts.has_affinity, 1);
        expect_plan_of_small_a2(&got);
    }
}

TEST(one_missing_row_is_filled_and_the_others_are_kept)
{
    host = kernel_a2();
    ask = ask_reference();
    put(TOPO, "\t   NPU4       CPU Affinity\nNPU4       X          8-15\n");
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_SAME, CPUBIND_LOCALITY_TAKEN);
    expect_plan_of_small_a2(&got);
}

TEST(equal_affinities_give_no_warning)
{
    memory_host h = kernel_a2(), plain = small_a2();
    cpubind_request request = ask_reference();
    attempt a;
    for (int32_t i = 0; i < plain.n; i++)
        if (strcmp(plain.entry[i].name, TOPO) == 0)
            set(&h, TOPO, plain.entry[i].text);
    a = try(&h, &request);
    expect_locality(&a, CPUBIND_LOCALITY_SAME, CPUBIND_LOCALITY_SAME);
    expect_plan_of_small_a2(&a);
    assert_null(strstr(h.seen, "board"));
    assert_null(strstr(strstr(h.seen, INFO) + 1, INFO)); /* read once for both uses */
    drop(&a);
}

/* Without local_cpulist the CPUs of a node are near, of a large node and of a small one. */
TEST(all_cpus_of_a_node_are_near_when_nodes_differ_in_size)
{
    host = kernel_a2();
    put("proc/self/status", "Cpus_allowed_list:\t0-31\n");
    put("sys/devices/system/node/node1/cpulist", "8-31\n");
    put("sys/devices/system/node/node2/cpulist", "\n");
    lose(PCI_4 "local_cpulist");
    lose(PCI_6 "local_cpulist");
    plan();
    assert_int_equal(got.facts.npu[0].affinity_count, 24);
    assert_int_equal(got.facts.npu[1].affinity_count, 8);
    for (int32_t i = 0; i < 24; i++)
        assert_int_equal(got.facts.affinity[got.facts.npu[0].affinity_first + i], 8 + i);
    for (int32_t i = 0; i < 8; i++)
        assert_int_equal(got.facts.affinity[got.facts.npu[1].affinity_first + i], i);
}

/* The topology of small_a2 and the affinities of kernel_a2. */
static memory_host both_a2(void)
{
    memory_host h = kernel_a2();
    set(&h, TOPO,
        "\t   NPU4       NPU6       CPU Affinity\n"
        "NPU4       X          HCCS       8-15\n"
        "NPU6       HCCS       X          0-7\n");
    return h;
}

TEST(npu_smi_is_followed_where_the_kernel_disagrees_with_a_warning)
{
    static const char *const lists[] = {"16-23\n", "8-14\n", "9-15\n", "7-15\n", "8-16\n"};
    ask = ask_reference();
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        host = both_a2();
        put(PCI_4 "local_cpulist", lists[i]);
        plan();
        expect_locality(&got, CPUBIND_LOCALITY_DIFFERS, CPUBIND_LOCALITY_SAME);
        expect_plan_of_small_a2(&got);
    }
}

TEST(a_difference_in_offline_cpus_does_not_count)
{
    host = both_a2();
    put("sys/devices/system/cpu/online", "0-6,9-13,16-23\n");
    put("sys/devices/system/node/node0/cpulist", "0-6\n");
    put("sys/devices/system/node/node1/cpulist", "9-13\n");
    put(PCI_4 "local_cpulist", "9-13\n");
    put(PCI_6 "local_cpulist", "0-8\n"); /* 7 and 8 are off: npu-smi has the one */
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_SAME, CPUBIND_LOCALITY_SAME);
    put(PCI_4 "local_cpulist", "9-12\n");
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_DIFFERS, CPUBIND_LOCALITY_SAME);
}

TEST(node_0_of_npu_smi_gives_a_warning_when_the_kernel_has_no_node)
{
    host = both_a2();
    ask = ask_reference();
    put(PCI_6 "numa_node", "-1\n");
    put(PCI_6 "local_cpulist", "0-23\n");
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_SAME, CPUBIND_LOCALITY_NO_NODE);
    expect_plan_of_small_a2(&got);
    put(PCI_4 "numa_node",
        "-1\n"); /* npu-smi says node 1, which is not its answer for "no node" */
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_UNKNOWN, CPUBIND_LOCALITY_NO_NODE);
}

TEST(an_affinity_of_offline_cpus_alone_is_not_node_0)
{
    host = both_a2();
    put(PCI_6 "numa_node", "-1\n");
    put(PCI_6 "local_cpulist", "0-23\n");
    put(TOPO, "\t   NPU4       NPU6       CPU Affinity\n"
              "NPU4       X          HCCS       8-15\n"
              "NPU6       HCCS       X          64-71\n");
    plan();
    assert_int_equal(got.facts.npu[1].locality, CPUBIND_LOCALITY_UNKNOWN);
}

TEST(on_a_host_with_one_node_node_0_gives_no_warning)
{
    host = both_a2();
    put("sys/devices/system/node/", "node0\n");
    put("sys/devices/system/node/node0/cpulist", "0-15\n");
    put(TOPO, "\t   NPU4       NPU6       CPU Affinity\n"
              "NPU4       X          HCCS       0-15\n"
              "NPU6       HCCS       X          0-15\n");
    put(PCI_4 "numa_node", "-1\n");
    put(PCI_6 "local_cpulist", "0-15\n");
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_UNKNOWN, CPUBIND_LOCALITY_SAME);
}

TEST(without_a_node_there_is_no_affinity)
{
    host = kernel_a2();
    put(PCI_4 "numa_node", "-1\n");
    put(PCI_4 "local_cpulist", "0-23\n");
    put(PCI_6 "numa_node", "-1\n");
    put(PCI_6 "local_cpulist", "0-23\n");
    plan();
    expect_slices(&got);
}

/* The NPU whose CPUs the kernel knows gets a slice too, for any request. */
TEST(one_npu_on_no_node_makes_slices_for_all)
{
    static const int32_t one = 1;
    host = kernel_a2();
    put(PCI_4 "numa_node", "-1\n");
    plan();
    expect_slices(&got);
    ask.npu = &one;
    ask.n_npu = 1;
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_UNKNOWN, CPUBIND_LOCALITY_UNKNOWN);
    expect_pools("8-15");
}

TEST(a_node_without_a_list_has_the_cpus_of_the_node)
{
    host = kernel_a2();
    ask = ask_reference();
    lose(PCI_4 "local_cpulist");
    lose(PCI_6 "local_cpulist");
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
    expect_plan_of_small_a2(&got);
    put(PCI_4 "numa_node", "7\n"); /* there is no such node */
    put(PCI_6 "numa_node", "2147483647\n");
    plan();
    expect_slices(&got);
}

/* All CPUs count as node 0 then, which is not the node 0 of the kernel. */
TEST(a_node_does_not_count_when_no_nodes_are_known)
{
    host = kernel_a2();
    lose("sys/devices/system/node/");
    lose(PCI_4 "local_cpulist");
    lose(PCI_6 "local_cpulist");
    plan();
    expect_warning(CPUBIND_WARNING_NO_NODES);
    expect_slices(&got);
}

TEST(a_list_without_a_node_is_enough)
{
    host = kernel_a2();
    ask = ask_reference();
    lose(PCI_4 "numa_node");
    lose(PCI_6 "numa_node");
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
    expect_plan_of_small_a2(&got);
}

TEST(a_list_of_all_cpus_or_of_none_does_not_count)
{
    static const char *const lists[] = {"0-23\n", "\n", "0-14,16-23\n"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        host = kernel_a2();
        put("sys/devices/system/cpu/online", i < 2 ? "0-23\n" : "0-14,16-23\n");
        put("sys/devices/system/node/node1/cpulist", i < 2 ? "8-15\n" : "8-14\n");
        lose(PCI_4 "numa_node");
        lose(PCI_6 "numa_node");
        put(PCI_4 "local_cpulist", lists[i]);
        put(PCI_6 "local_cpulist", lists[i]);
        plan();
        expect_locality(&got, CPUBIND_LOCALITY_UNKNOWN, CPUBIND_LOCALITY_UNKNOWN);
        expect_warning(CPUBIND_WARNING_NO_AFFINITY);
    }
}

TEST(a_function_that_is_not_in_sys_does_not_count)
{
    host = kernel_a2();
    put(INFO, DEVICE_HEAD DEVICE("4", "0000:D1:00.0") DEVICE("6", "0001:82:00.0") PROCESSES);
    plan();
    expect_slices(&got);
    assert_int_equal(got.facts.npu[1].pci.domain, 1);
    expect_seen("sys/bus/pci/devices/0000:d1:00.0/numa_node ");
    expect_seen("sys/bus/pci/devices/0001:82:00.0/local_cpulist ");
}

TEST(a_file_of_the_function_that_cannot_be_read_is_a_problem_unless_npu_smi_tells)
{
    static const char *const names[] = {PCI_4 "numa_node", PCI_4 "local_cpulist"};
    ask = ask_reference();
    for (size_t i = 0; i < 2; i++) {
        host = kernel_a2();
        fail_input(names[i], CPUBIND_INPUT_FAILED);
        refuse_input(CPUBIND_PROBLEM_UNREADABLE, names[i]);
        put(TOPO, "\t   NPU4       NPU6       CPU Affinity\n"
                  "NPU4       X          HCCS       8-15\n"
                  "NPU6       HCCS       X          0-7\n");
        plan();
        expect_locality(&got, CPUBIND_LOCALITY_UNKNOWN, CPUBIND_LOCALITY_SAME);
        expect_plan_of_small_a2(&got);
    }
}

TEST(a_bus_id_that_is_not_there_is_asked_of_the_board)
{
    host = kernel_a2();
    ask = ask_reference();
    put(INFO, DEVICE_HEAD DEVICE("4", "NA          ") DEVICE("6", "0000:82:00.0") PROCESSES);
    plan();
    expect_seen(BOARD_4_C0 " " BOARD_4 " ");
    expect_unseen("board-i6");
    expect_slices(&got);
    put(BOARD_4_C0, BOARD_OF("4", "0", "0000:C1:00.0"));
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
    expect_plan_of_small_a2(&got);
    put(BOARD_4_C0, BOARD_OF("4", "0", "NA"));
    put(BOARD_4, CARD_OF("4", "NA", "1"));
    plan();
    assert_int_equal(got.facts.npu[0].pci.domain, -1);
    assert_int_equal(got.facts.npu[0].locality, CPUBIND_LOCALITY_UNKNOWN);
}

TEST(addresses_are_matched_whatever_their_case_and_width)
{
#define AT(bus) DEVICE_HEAD DEVICE("4", bus) DEVICE("6", "0000:82:00.0") PROCESSES
    static const struct {
        const char *info, *numa_node;
    } cases[] = {
        {AT("0000:AF:1F.7"), "sys/bus/pci/devices/0000:af:1f.7/numa_node"},
        {AT("0000:af:0a.1"), "sys/bus/pci/devices/0000:af:0a.1/numa_node"},
        {AT("FFFF:00:00.0"), "sys/bus/pci/devices/ffff:00:00.0/numa_node"},
        {AT("10000:C1:00.0"), "sys/bus/pci/devices/10000:c1:00.0/numa_node"},
        {AT("7FFFFFFF:FF:1F.7"), "sys/bus/pci/devices/7fffffff:ff:1f.7/numa_node"},
    };
#undef AT
    ask = ask_reference();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        host = kernel_a2();
        put(INFO, cases[i].info);
        put(cases[i].numa_node, "1\n");
        plan();
        expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
        expect_plan_of_small_a2(&got);
    }
}

/* 300I Duo: both chips of card 4 have one address; they share its CPUs. */
TEST(two_chips_on_one_function_have_the_same_home)
{
    host = kernel_a2();
    ask = ask_reference();
    put("proc/self/status", "Cpus_allowed_list:\t0-23\n");
    put("cmd/npu-smi-info-m.txt", "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                                  "\t4        0         0               Ascend 310P3\n"
                                  "\t4        1         1               Ascend 310P3\n");
    put(INFO,
        "| NPU     Name              | Health        | Power(W)    Temp(C)              |\n"
        "| Chip    Device            | Bus-Id        | AICore(%)   Memory-Usage(MB)     |\n"
        "| 4       310P3             | OK            | NA          46                   |\n"
        "| 0       0                 | 0000:C1:00.0  | 0           100  / 21534         |\n"
        "| 4       310P3             | OK            | NA          46                   |\n"
        "| 1       1                 | 0000:C1:00.0  | 0           100  / 21534         |\n"
        "| NPU     Chip              | Process id    | Process name   | Process memory(MB) |\n"
        "| 4       0                 | 812           | python3        | 150                |\n"
        "| 4       1                 | 813           | python3        | 150                "
        "|\n");
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
    expect_run(&got, 0, 8, 15); /* 8-15, extended by 16-23, cut into two */
    expect_run(&got, 1, 16, 23);
}

/* The dies of an A3 card have an address each. */
TEST(chips_of_one_card_have_their_own_addresses)
{
    host = kernel_a2();
    ask = ask_reference();
    put("cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
        "\t4        0         0               8             Ascend910\n"
        "\t4        1         1               9             Ascend910\n");
    put(INFO,
        "| NPU   Name                | Health        | Power(W)    Temp(C)              |\n"
        "| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)     |\n"
        "| 4     Ascend910           | OK            | 160.1       36                   |\n"
        "| 0     8                   | 0000:C1:00.0  | 0           0    / 0             |\n"
        "| 4     Ascend910           | OK            | -           36                   |\n"
        "| 1     9                   | 0000:82:00.0  | 0           0    / 0             |\n");
    ask_npus((const int32_t[]){0, 1}, 2);
    ask_strategy(CPUBIND_TOPO_AFFINITY);
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
    expect_plan_of_small_a2(&got);
}

/* A soft-split container prints both dies with the ids and the address of one. */
TEST(a_soft_split_container_shows_one_address_twice)
{
    host = kernel_a2();
    ask = ask_reference();
    put("proc/self/status", "Cpus_allowed_list:\t0-23\n");
    put("cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
        "\t4        0         0               8             Ascend910\n"
        "\t4        1         1               8             Ascend910\n");
    put(INFO,
        "| NPU   Name                | Health        | Power(W)    Temp(C)              |\n"
        "| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)     |\n"
        "| 4     Ascend910           | OK            | 160.1       36                   |\n"
        "| 0     8                   | 0000:C1:00.0  | 0           0    / 0             |\n"
        "| 4     Ascend910           | OK            | -           36                   |\n"
        "| 1     8                   | 0000:C1:00.0  | 0           0    / 0             |\n");
    ask_npus((const int32_t[]){0, 1}, 2);
    ask_strategy(CPUBIND_TOPO_AFFINITY);
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
    expect_pools("8-15 16-23");
}

/* The number of a Phy-ID row is no card id: card 3 is another device. */
TEST(without_info_m_a_phy_row_finds_its_address_by_phy_id)
{
    host = kernel_a2();
    ask = ask_reference();
    lose("cmd/npu-smi-info-m.txt");
    put(TOPO, "\t   Phy-ID0    Phy-ID1    \n"
              "Phy-ID0    X          SIO        \n"
              "Phy-ID1    SIO        X          \n");
    put(INFO,
        "| NPU   Name                | Health        | Power(W)    Temp(C)              |\n"
        "| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)     |\n"
        "| 1     Ascend910           | OK            | 160.1       36                   |\n"
        "| 0     0                   | 0000:C1:00.0  | 0           0    / 0             |\n"
        "| 1     Ascend910           | OK            | -           36                   |\n"
        "| 1     1                   | 0000:82:00.0  | 0           0    / 0             |\n"
        "| 3     Ascend910           | OK            | 160.1       36                   |\n"
        "| 0     6                   | 0000:C1:00.0  | 0           0    / 0             |\n");
    ask.type = CPUBIND_TYPE_A3;
    ask_npus((const int32_t[]){0, 1}, 2);
    ask_strategy(CPUBIND_TOPO_AFFINITY);
    try_plan();
    expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
    assert_int_equal(got.facts.npu[1].card, -1);
    assert_int_equal(got.facts.npu[1].phy, 1);
    expect_plan_of_small_a2(&got);
    put(TOPO, /* not all cards are in view: the ids tell no logic ids */
        "\t   Phy-ID2    Phy-ID3    \n"
        "Phy-ID2    X          SIO        \n"
        "Phy-ID3    SIO        X          \n");
    try_plan();
    assert_int_equal(got.facts.npu[1].phy, -1);
}

/* Clusters need an affinity, and use that of the kernel. */
TEST(a_cluster_is_cut_from_the_affinity_of_the_kernel)
{
    host = kernel_a2();
    put("cmd/npu-smi-info-m.txt", "\tNPU ID   Slot ID   Chip ID   Chip Phy-ID   Chip Name\n"
                                  "\t4        1         0         0             Ascend950PR\n");
    put(INFO, "| NPU ID | Name            | Health          | Power(W)  Temp(C)          |\n"
              "|        |                 | Bus-Id          | AICore(%) Memory-Usage(MB) |\n"
              "| 4      | Ascend950PR     | OK              | 150.0     40               |\n"
              "|        |                 | 0000:C1:00.0    | 0         0    / 0         |\n");
    put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n");
    ask_npus((const int32_t[]){4}, 1);
    plan();
    expect_warning(CPUBIND_WARNING_PCI_AFFINITY);
    assert_int_equal(got.plan.core.strategy, CPUBIND_CLUSTER);
    expect_pools("8-15");
}

TEST(a_damaged_file_of_the_function_has_its_place)
{
    static const struct {
        const char *name, *text;
        int32_t offset;
    } cases[] = {
        {PCI_4 "numa_node", "1x\n", 1},         {PCI_6 "numa_node", "", 0},
        {PCI_4 "numa_node", "-2\n", 0},         {PCI_4 "numa_node", "99999999999\n", 0},
        {PCI_6 "local_cpulist", "0-7;\n", 3},   {PCI_6 "local_cpulist", "0-\n", 2},
        {PCI_6 "local_cpulist", "0,65536\n", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        host = kernel_a2();
        ask = ask_reference();
        put(cases[i].name, cases[i].text);
        refuse_input(CPUBIND_PROBLEM_UNREADABLE, cases[i].name);
        assert_int_equal(got.problem.offset, cases[i].offset);
        host = both_a2(); /* it would be used for a comparison only */
        put(cases[i].name, cases[i].text);
        plan();
        expect_plan_of_small_a2(&got);
    }
}

/* == Boards ================================================================= */

TEST(boards_are_asked_for_their_addresses_when_nothing_else_has_them)
{
    host = board_a2(&ask);
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
    expect_plan_of_small_a2(&got);
    expect_seen(BOARD_4_C0 " " BOARD_6_C0 " ");
    expect_unseen(BOARD_4 " ");
    expect_unseen(BOARD_6 " ");
    expect_no_warning(CPUBIND_WARNING_EXIT_CODE);
    host.exits_1 = BOARD_6_C0;
    plan();
    expect_warning(CPUBIND_WARNING_EXIT_CODE);
}

TEST(no_board_is_asked_when_all_affinity_is_known)
{
    host = board_a2(&ask);
    put(TOPO, "\t   NPU4       NPU6       CPU Affinity\n"
              "NPU4       X          HCCS       8-15\n"
              "NPU6       HCCS       X          0-7\n");
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_UNKNOWN, CPUBIND_LOCALITY_UNKNOWN);
    expect_plan_of_small_a2(&got);
    expect_unseen("board");
    put(TOPO, "\t   NPU6       CPU Affinity\nNPU6       X          0-7\n");
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_UNKNOWN);
    expect_seen(BOARD_4_C0);
    expect_unseen("board-i6");
}

TEST(no_board_is_asked_for_slices)
{
    host = board_a2(&ask);
    ask_strategy(CPUBIND_GLOBAL_SLICE);
    plan();
    expect_unseen("board");
    expect_unseen(INFO);
}

TEST(the_board_of_the_card_serves_its_only_chip)
{
    static const char *const cards[] = {CARD_OF("6", "0000:82:00.0", "1"),
                                        "\tNPU ID                         : 6\n"
                                        "\tPCIe Bus Info                  : 0000:82:00.0\n"};
    for (size_t i = 0; i < 2; i++) {
        host = board_a2(&ask);
        lose(BOARD_6_C0);
        put(BOARD_6, cards[i]);
        plan();
        expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
        expect_plan_of_small_a2(&got);
        expect_seen(BOARD_6_C0 " " BOARD_6 " ");
    }
}

TEST(the_board_of_a_card_with_more_chips_serves_none)
{
    host = board_a2(&ask);
    lose(BOARD_6_C0);
    put(BOARD_6,
        CARD_OF("6", "0000:82:00.0", "2")); /* the other chip is not in this container */
    try_plan();
    expect_second_unknown(&got);
    put("cmd/npu-smi-info-m.txt", "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                                  "\t4        0         0               Ascend 310P3\n"
                                  "\t6        0         1               Ascend 310P3\n"
                                  "\t6        1         2               Ascend 310P3\n");
    put(BOARD_6, CARD_OF("6", "0000:82:00.0", "1"));
    try_plan();
    assert_int_equal(got.facts.npu[1].pci.domain, -1);
    assert_int_equal(got.facts.npu[2].pci.domain, -1);
    put(BOARD_6, /* its chips may follow: their blocks have the addresses */
        CARD_OF("6", "0000:82:00.0", "2") BOARD_OF("6", "0", "0000:82:00.0")
            BOARD_OF("6", "1", "0000:C1:00.0"));
    try_plan();
    assert_int_equal(got.facts.npu[1].pci.bus, 0x82);
    assert_int_equal(got.facts.npu[2].pci.bus, 0xc1);
}

TEST(a_board_of_another_chip_is_not_used)
{
    static const char no_address[] = "\tNPU ID                         : 6\n"
                                     "\tChip ID                        : 0\n";
    static const char *const others[] = {BOARD_OF("5", "0", "0000:82:00.0"),
                                         BOARD_OF("6", "1", "0000:82:00.0"),
                                         CARD_OF("4", "0000:82:00.0", "1"), no_address};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        host = board_a2(&ask);
        put(BOARD_6_C0, others[i]);
        plan();
        expect_second_unknown(&got);
    }
}

TEST(after_a_board_that_hangs_none_is_asked_for)
{
    host = board_a2(&ask);
    fail_input(BOARD_4_C0, CPUBIND_INPUT_TIMEOUT);
    refuse_input(CPUBIND_PROBLEM_UNREADABLE, BOARD_4_C0);
    expect_seen(BOARD_4_C0);
    expect_unseen(BOARD_4 " ");
    expect_unseen("board-i6");
}

TEST(a_board_that_refuses_is_skipped_and_one_that_fails_is_a_problem)
{
    static const cpubind_input_state states[] = {CPUBIND_INPUT_FAILED, CPUBIND_INPUT_TOO_LONG,
                                                 CPUBIND_INPUT_ABSENT};
    cpubind_request request;
    memory_host refusing = board_a2(&request);
    attempt a;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        memory_host h = board_a2(&request);
        h.failing = BOARD_6_C0;
        h.state = states[i];
        a = try(&h, &request);
        if (states[i] == CPUBIND_INPUT_ABSENT) {
            expect_second_unknown(&a);
        } else {
            assert_int_equal(a.code, CPUBIND_PROBLEM_UNREADABLE);
            assert_string_equal(a.problem.input, BOARD_6_C0);
        }
        assert_non_null(strstr(h.seen, BOARD_6 " "));
        drop(&a);
    }
    set(&refusing, BOARD_6_C0, "Error parameter of -i\nInvalid card id.\n");
    set(&refusing, BOARD_6, "This device does not support querying board.\n");
    a = try(&refusing, &request);
    expect_second_unknown(&a);
    assert_false(has_warning(&a, CPUBIND_WARNING_EXIT_CODE));
    drop(&a);
}

static int32_t line_of(const cpubind_problem *problem)
{
    return cpubind_text_place(problem->answer.data, problem->answer.len, problem->offset).line;
}

TEST(a_damaged_board_is_a_problem_with_its_place)
{
    host = board_a2(&ask);
    put(BOARD_6_C0, BOARD_OF("6", "0", "0000:8X:00.0"));
    refuse_input(CPUBIND_PROBLEM_UNREADABLE, BOARD_6_C0);
    assert_int_equal(line_of(&got.problem), 4);
    put(BOARD_6_C0, "\tNPU ID                         : 6\n\tChip ID           ");
    refuse_input(CPUBIND_PROBLEM_UNREADABLE, BOARD_6_C0);
    assert_int_equal(line_of(&got.problem), 2);
}

/* == npu-smi info, when the NPUs are named ================================== */

#define DAMAGED_INFO DEVICE_HEAD DEVICE("4", "0000:C1:00.0") DEVICE("6", "0000:8X:00.0")

TEST(a_damaged_info_is_a_problem_only_when_its_addresses_are_needed)
{
    host = board_a2(&ask);
    put(INFO, DAMAGED_INFO);
    plan(); /* the boards have the same addresses */
    expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
    expect_plan_of_small_a2(&got);
    lose(BOARD_6_C0);
    refuse_input(CPUBIND_PROBLEM_UNREADABLE, INFO);
    assert_int_equal(line_of(&got.problem), 6);
    host = both_a2();
    put(INFO, DAMAGED_INFO);
    plan();
    expect_locality(&got, CPUBIND_LOCALITY_UNKNOWN, CPUBIND_LOCALITY_UNKNOWN);
    expect_plan_of_small_a2(&got);
}

/* Nothing is asked in the place of a process table that a plan does not need. */
TEST(a_damaged_process_table_is_a_problem_only_of_a_plan_of_running_npus)
{
    static const char *const rows[] = {"| 4       0 | 47x1 | python | 1 |\n",
                                       "| 4       0 | 4711 | python\n", "| 4 | 4711 |"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ask = ask_reference();
        host = both_a2();
        char text[2048];
        snprintf(text, sizeof text, "%s%s%s",
                 DEVICE_HEAD DEVICE("4", "0000:C1:00.0") DEVICE("6", "0000:81:00.0"),
                 "| NPU     Chip | Process id | Process name | Process memory(MB) |\n"
                 "+======+======+======+\n",
                 rows[i]);
        put(INFO, text);
        plan();
        expect_plan_of_small_a2(&got);
        expect_warning(CPUBIND_WARNING_NO_PROCESSES);
        assert_string_equal(got.facts.unread_processes.input, INFO);
        expect_unseen("board");
        ask.only_running = 1;
        refuse_input(CPUBIND_PROBLEM_UNREADABLE, INFO);
    }
}

TEST(without_a_device_table_the_boards_are_asked)
{
    static const char *const texts[] = {"", "Some words of a new version.\n", NULL};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        host = board_a2(&ask);
        if (texts[i])
            put(INFO, texts[i]);
        else
            lose(INFO);
        plan();
        expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
        expect_plan_of_small_a2(&got);
    }
}

TEST(an_npu_smi_that_hangs_or_refuses_is_not_asked_for_boards)
{
    static const cpubind_input_state states[] = {CPUBIND_INPUT_FAILED, CPUBIND_INPUT_TIMEOUT,
                                                 CPUBIND_INPUT_TOO_LONG};
    host = board_a2(&ask);
    put(INFO, "dcmi module initialize failed. ret is -8005\n");
    plan();
    expect_slices(&got);
    expect_unseen("board");
    /* Another process may get an answer and another plan: a missing answer must not lead to
     * slices. */
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        host = board_a2(&ask);
        fail_input(INFO, states[i]);
        refuse_input(CPUBIND_PROBLEM_UNREADABLE, INFO);
        expect_unseen("board");
    }
}

/* A topology that npu-smi does not give is no problem if the kernel has the affinities. */
TEST(a_topology_that_is_not_given_is_a_problem_unless_the_kernel_has_it)
{
    static const char *const refusals[] = {
        "This command can be executed only by the root user.\n",
        "dcmi module initialize failed. ret is -8005\n", "Segmentation fault\n"};
    static const cpubind_input_state states[] = {CPUBIND_INPUT_FAILED, CPUBIND_INPUT_TIMEOUT,
                                                 CPUBIND_INPUT_TOO_LONG};
    ask = ask_reference();
    for (size_t i = 0; i < 6; i++) {
        host = kernel_a2();
        if (i < 3) {
            put("cmd/npu-smi-info-t-topo.txt", refusals[i]);
        } else {
            fail_input("cmd/npu-smi-info-t-topo.txt", states[i - 3]);
        }
        plan();
        expect_locality(&got, CPUBIND_LOCALITY_TAKEN, CPUBIND_LOCALITY_TAKEN);
        expect_plan_of_small_a2(&got);
        put(PCI_4 "numa_node", "-1\n");
        refuse_input(CPUBIND_PROBLEM_UNREADABLE, "cmd/npu-smi-info-t-topo.txt");
    }
}

/* Cards that are not listed have slices all the same. */
TEST(a_card_that_cannot_be_listed_keeps_its_slices)
{
    static const int32_t last = 5;
    ask = ask_reference();
    put("proc/self/status", "Cpus_allowed_list:\t0-23\n");
    put("cmd/npu-smi-info-m.txt",
        "Failed to get chip number of card1.\n"
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
        "\t0        0         0               0             Ascend910\n"
        "\t0        1         1               1             Ascend910\n"
        "\t1        0         -               -             Mcu\n"
        "\t2        0         4               4             Ascend910\n"
        "\t2        1         5               5             Ascend910\n");
    ask.npu = &last;
    ask.n_npu = 1;
    ask_strategy(CPUBIND_GLOBAL_SLICE);
    try_plan();
    assert_int_equal(got.code,
                     CPUBIND_PROBLEM_TOO_FEW_CPUS); /* 24 CPUs for 6, and roles of 5 */
    assert_int_equal(got.facts.n_unknown, 2);
    assert_true((got.facts.warnings >> CPUBIND_WARNING_UNKNOWN_CHIP & 1u) != 0);
    assert_int_equal(got.problem.have, 4);
}

/* npu-smi info -m would tell only the NPUs and their type, which are given. */
TEST(a_map_that_hangs_is_no_problem_when_npus_and_type_are_given)
{
    static const int32_t both[] = {0, 1};
    ask = ask_reference();
    fail_input("cmd/npu-smi-info-m.txt", CPUBIND_INPUT_TIMEOUT);
    ask_strategy(CPUBIND_GLOBAL_SLICE);
    ask_npus(both, 2);
    refuse(CPUBIND_PROBLEM_UNREADABLE);
    ask.type = CPUBIND_TYPE_A2;
    lose("cmd/npu-smi-info-t-topo.txt");
    refuse(CPUBIND_PROBLEM_UNKNOWN_NPU);
    ask.total = 2;
    plan();
    expect_warning(CPUBIND_WARNING_NO_MAP);
    expect_pools("0-7 8-15");
}

/* == What is not read ======================================================= */

TEST(named_npus_need_no_process_table)
{
    static const int32_t one = 1;
    ask.npu = &one;
    ask.n_npu = 1;
    fail_input("cmd/npu-smi-info.txt", CPUBIND_INPUT_TIMEOUT);
    plan();
    expect_unseen("board");
    expect_unseen("pci");
    expect_unseen("lscpu");
}

TEST(npu_smi_info_is_not_asked_about_npus_without_a_card)
{
    static const int32_t zero = 0;
    ask.type = CPUBIND_TYPE_A2;
    ask.npu = &zero;
    ask.n_npu = 1;
    lose("cmd/npu-smi-info-m.txt");
    lose(TOPO);
    refuse(CPUBIND_PROBLEM_UNKNOWN_NPU); /* of how many NPUs? */
    ask.total = 2;
    plan();
    expect_unseen(INFO);
}

/* A wedged chip has no name, and zeros for ids that others have. The slices of the others are
 * those that they have when it is well. */
/* == Accelerators of other vendors ========================================== */

static int32_t is_gpu(int32_t vendor, int32_t device, int32_t class_code)
{
    return vendor == 0x10de && (device < 0 || (device == 0x26b9 && class_code == 0x0302));
}

#define GPU "sys/bus/pci/devices/0000:61:00.0/"

/* The host of small_a2 with its NPUs on the bus, and a GPU near CPUs 0-7. */
static memory_host host_with_gpu(void)
{
    memory_host h = small_a2();
    set(&h, "sys/bus/pci/devices/", "0000:61:00.0\n0000:01:00.0\n0000:81:00.0\n");
    set(&h, GPU "vendor", "0x10de\n");
    set(&h, GPU "device", "0x26b9\n");
    set(&h, GPU "class", "0x030200\n");
    set(&h, GPU "numa_node", "0\n");
    set(&h, GPU "local_cpulist", "0-7\n");
    set(&h, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x19e5\n");
    set(&h, "sys/bus/pci/devices/0000:01:00.0/device", "0xd802\n");
    set(&h, "sys/bus/pci/devices/0000:01:00.0/numa_node", "1\n");
    set(&h, "sys/bus/pci/devices/0000:01:00.0/local_cpulist", "8-15\n");
    set(&h, "sys/bus/pci/devices/0000:81:00.0/vendor", "0x19e5\n");
    set(&h, "sys/bus/pci/devices/0000:81:00.0/device", "0xd802\n");
    set(&h, "sys/bus/pci/devices/0000:81:00.0/numa_node", "1\n");
    set(&h, "sys/bus/pci/devices/0000:81:00.0/local_cpulist", "8-15\n");
    return h;
}

static int warns_of_others(const attempt *a)
{
    return a->code == CPUBIND_PROBLEM_NONE &&
           (a->plan.warnings >> CPUBIND_WARNING_OTHER_ACCELERATORS & 1u);
}

TEST(other_accelerators_are_looked_for_where_the_request_asks)
{
    attempt b;
    host = host_with_gpu();
    plan();
    assert_int_equal(got.facts.n_other, 0);
    assert_false(warns_of_others(&got));
    expect_unseen(GPU "class");
    ask.is_other = is_gpu;
    b = try(&host, &ask);
    assert_true(warns_of_others(&b));
    assert_int_equal(b.facts.n_other, 1);
    assert_int_equal(b.facts.other[0].n_cpu, 8);
    assert_int_equal(b.plan.n_for_others, 6); /* the NPUs need 10 for their roles */
    assert_int_equal(b.plan.n_for_npus, 10);
    assert_true(b.plan.for_others[5] < 8 && b.plan.for_npus[2] == 8);
    assert_int_equal(got.plan.core.row[2], b.plan.core.row[2]); /* the pools are the same */
    assert_memory_equal(got.plan.core.cpu, b.plan.core.cpu,
                        (size_t)got.plan.core.row[2] * sizeof *got.plan.core.cpu);
    drop(&b);
}

/* No file of another vendor's card is a problem of the NPUs. */
TEST(a_file_of_another_accelerator_that_cannot_be_read_is_no_problem)
{
    static const struct {
        const char *name;
        int warns;
    } files[] = {{GPU "device", 0},    {GPU "class", 0},         {GPU "physfn", 0},
                 {GPU "numa_node", 1}, {GPU "local_cpulist", 1}, {NULL, 1}};
    ask.is_other = is_gpu;
    for (size_t i = 0; files[i].name; i++) {
        host = host_with_gpu();
        fail_input(files[i].name, CPUBIND_INPUT_FAILED);
        plan();
        assert_int_equal(warns_of_others(&got), files[i].warns);
    }
}

TEST(a_chip_that_npu_smi_cannot_query_is_left_out_with_a_warning)
{
    static const int32_t last = 2;
    put("cmd/npu-smi-info-m.txt",
        "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
        "\t0        0         0               0             Ascend910\n"
        "\t0        1         0               0             \n"
        "\t1        0         2               2             Ascend910\n");
    ask.npu = &last;
    ask.n_npu = 1;
    plan();
    expect_warning(CPUBIND_WARNING_UNKNOWN_CHIP);
    assert_int_equal(got.facts.n_npu, 2);
    assert_int_equal(got.plan.total, 3);
    expect_pools("11-15");
    put("cmd/npu-smi-info-m.txt", "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                                  "\t0        0         0               \n");
    refuse(CPUBIND_PROBLEM_UNREADABLE);
}

TEST(a_huge_logic_id_is_not_visible_and_no_fault)
{
    put("cmd/npu-smi-info-m.txt", "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
                                  "\t4        0         2147483647      Ascend 910B4\n"
                                  "\t6        0         0               Ascend 910B4\n");
    put("env", "ASCEND_RT_VISIBLE_DEVICES=0,2147483647\n");
    plan();
    assert_int_equal(got.plan.n_want, 1);
    assert_int_equal(got.facts.npu[got.plan.want[0]].card, 6);
}

/* == Faults ================================================================= */

TEST(every_input_that_fails_is_named)
{
    static const char *const names[] = {"proc/self/status",
                                        "sys/devices/system/node/node1/cpulist",
                                        "cmd/npu-smi-info-m.txt",
                                        "cmd/npu-smi-info-t-topo.txt",
                                        "sys/bus/pci/devices",
                                        "sys/devices/system/node",
                                        "env"};
    static const cpubind_input_state states[] = {CPUBIND_INPUT_FAILED, CPUBIND_INPUT_TIMEOUT,
                                                 CPUBIND_INPUT_TOO_LONG};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < 3; k++) {
            host = small_a2();
            fail_input(names[i], states[k]);
            refuse_input(CPUBIND_PROBLEM_UNREADABLE, names[i]);
            assert_int_equal(got.problem.answer.state, states[k]);
            assert_int_equal(got.problem.offset, -1);
        }
}

static cpubind_problem_code code_in(memory_host *h, const cpubind_request *request, size_t size)
{
    attempt a;
    h->seen[0] = '\0';
    a = try_in(h, request, size);
    drop(&a);
    return a.code;
}

/* Every arena that is too small gives NO_MEMORY; the first that is large enough, the plan. More
 * may be needed than is used in the end: what only a comparison needs is given back. */
static void expect_no_memory_below_what_is_needed(memory_host *h,
                                                  const cpubind_request *request)
{
    attempt whole = try(h, request);
    size_t needed = whole.arena.used, enough = whole.arena.size;
    assert_int_equal(whole.code, CPUBIND_PROBLEM_NONE);
    drop(&whole);
    while (needed < enough) {
        const size_t middle = needed + (enough - needed) / 2;
        if (code_in(h, request, middle) == CPUBIND_PROBLEM_NONE)
            enough = middle;
        else
            needed = middle + 1;
    }
    for (size_t size = 0; size < needed; size += size < needed - 8192 ? 4093 : 7)
        assert_int_equal(code_in(h, request, size), CPUBIND_PROBLEM_NO_MEMORY);
    assert_int_equal(code_in(h, request, needed), CPUBIND_PROBLEM_NONE);
}

TEST(an_arena_that_is_too_small_is_reported)
{
    expect_no_memory_below_what_is_needed(&host, &ask);
}

/* With addresses of npu-smi info and lists; of boards and nodes; and with lists to compare. */
TEST(an_arena_that_is_too_small_for_near_cpus_is_reported)
{
    host = kernel_a2();
    expect_no_memory_below_what_is_needed(&host, &ask);
    host = both_a2();
    expect_no_memory_below_what_is_needed(&host, &ask);
    host = board_a2(&ask);
    lose(BOARD_6_C0);
    put(BOARD_6, CARD_OF("6", "0000:82:00.0", "1"));
    lose(PCI_4 "local_cpulist");
    expect_no_memory_below_what_is_needed(&host, &ask);
}

TEST(every_code_has_a_word)
{
    assert_string_equal(cpubind_problem_word(CPUBIND_PROBLEM_NONE), "none");
    for (int i = 0; i < CPUBIND_WARNING_COUNT; i++)
        assert_true(strlen(cpubind_warning_word((cpubind_warning)i)) > 3);
    assert_string_equal(cpubind_problem_word(CPUBIND_PROBLEM_TOO_FEW_CPUS), "too_few_cpus");
    assert_int_equal(cpubind_problem_exit(CPUBIND_PROBLEM_TOO_FEW_CPUS), 1);
    assert_int_equal(cpubind_problem_exit(CPUBIND_PROBLEM_UNREADABLE), 3);
    assert_int_equal(cpubind_problem_exit(CPUBIND_PROBLEM_NONE), 0);
    assert_string_equal(cpubind_type_word(CPUBIND_TYPE_300I), "300i");
}

/* == Physical ids =========================================================== */

/* Two NPUs, logic ids 0 and 1, with physical ids; without the column they are not known. */
static memory_host host_of_phys(const char *first, const char *second)
{
    static char map[512];
    memory_host h = small_a2();
    if (first)
        snprintf(map, sizeof map,
                 "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
                 "\t4        0         0               %s             Ascend 910B4\n"
                 "\t6        0         1               %s             Ascend 910B4\n",
                 first, second);
    if (first)
        set(&h, "cmd/npu-smi-info-m.txt", map);
    return h;
}

TEST(physical_ids_name_devices)
{
#define AVD "ASCEND_VISIBLE_DEVICES="
#define RT  "ASCEND_RT_VISIBLE_DEVICES="
    static const struct {
        const char *name, *first, *second, *env;
        int visible; /* a bit for each logic id; 0: refused, at `offset` of the environment */
        int32_t offset;
    } cases[] = {
        {"a container that was given both", "4", "5", AVD "4,5\n", 3, 0},
        {"the same as a range, as names, with blanks", "4", "5", AVD "4-5\n", 3, 0},
        {"names", "4", "5", AVD "Ascend910-4,Ascend910-5\n", 3, 0},
        {"blanks and repeats", "4", "5", AVD " 5 , 4,4\n", 3, 0},
        {"more than there are", "4", "5", AVD "0-7\n", 3, 0},
        {"a part of a host", "4", "5", AVD "5\n", 2, 0},
        {"a name of a part", "4", "5", AVD "Ascend910B-4\n", 1, 0},
        {"both variables, one device of the container", "4", "5", AVD "4,5\n" RT "0\n", 1, 0},
        {"both variables, the same device", "4", "5", RT "1\n" AVD "5\n", 2, 0},
        {"both variables, another device", "0", "1", RT "0\n" AVD "1\n", 0, 51},
        {"both variables, more devices", "0", "1", RT "0,1\n" AVD "1\n", 0, 53},
        {"an empty value", "4", "5", AVD "\n", 3, 0},
        {"void", "4", "5", AVD "void\n", 3, 0},
        {"none", "4", "5", AVD "none\n", 3, 0},
        {"all", "4", "5", AVD "all\n", 3, 0},
        {"virtual devices", "4", "5", AVD "100\nASCEND_RUNTIME_OPTIONS=NODRV,VIRTUAL\n", 3, 0},
        {"no device that is here", "4", "5", AVD "0,1\n", 0, 23},
        {"a bad item", "4", "5", AVD "4,x\n", 0, 25},
        {"a bad range", "4", "5", AVD "5-4\n", 0, 23},
        {"an open range", "4", "5", AVD "4-\n", 0, 23},
        {"an empty item", "4", "5", AVD "4,,5\n", 0, 25},
        {"a large id", "4", "5", AVD "4096\n", 0, 23},
        {"a number of base 16", "4", "5", AVD "0x4\n", 0, 23},
        {"another word", "4", "5", AVD "Ascend\n", 0, 23},
        {"ids that are not known, as many as there are", NULL, NULL, AVD "4,5\n", 3, 0},
        {"ids that are not known, fewer", NULL, NULL, AVD "4\n", 0, 23},
        {"ids that are not known, beside logic ids", NULL, NULL, AVD "4\n" RT "1\n", 2, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memory_host h = host_of_phys(cases[i].first, cases[i].second);
        cpubind_request request = ask_nothing();
        attempt a;
        int visible = 0;
        set(&h, "env", cases[i].env);
        a = try(&h, &request);
        for (int32_t k = 0; a.code == CPUBIND_PROBLEM_NONE && k < a.facts.n_npu; k++)
            visible |= a.facts.npu[k].is_visible << a.facts.npu[k].logic;
        if (visible != cases[i].visible ||
            (visible == 0 &&
             (a.code != CPUBIND_PROBLEM_UNREADABLE || a.problem.offset != cases[i].offset)))
            fail_msg("%s: visible %x, %s at %d: %s", cases[i].name, (unsigned)visible,
                     cpubind_problem_word(a.code), a.problem.offset, a.problem.what);
        drop(&a);
        request.visible = "0,1"; /* the user's word */
        request.visible_len = 3;
        a = try(&h, &request);
        assert_int_equal(a.code, CPUBIND_PROBLEM_NONE);
        drop(&a);
    }
}

SETUP(set_up)
{
    return start(small_a2(), ask_nothing());
}

int main(void)
{
    return run_registered("snapshot", set_up, drop_plan);
}
