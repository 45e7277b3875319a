/* test_npusmi_pitfalls.c - known pitfalls of npu-smi and its hosts, one test each
 * SPDX-License-Identifier: MIT
 *
 * The number of a test is that of its pitfall in the list that this project started from.
 * Hosts and outputs are made up, in the formats of npu-smi.
 */
#include "planned.h"

#include "../../adapters/ascend/cpubind_ascend.h"

#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

#define MAP_HEADER    "\tNPU ID   Chip ID   Chip Logic ID   Chip Name\n"
#define MAP_HEADER_A3 "\tNPU ID   Chip ID   Chip Logic ID   Chip Phy-ID   Chip Name\n"
#define PROCESS_HEADER                                                                         \
    "| NPU     Chip              | Process id    | Process name   | Process memory(MB) |\n"

#define BOARD(card, chip, bus)                                                                 \
    "\tNPU ID                         : " card "\n\tChip ID                        : " chip    \
    "\n\tPCIe Bus Info                  : " bus "\n"

static cpubind_text_fault fault;

static int32_t length(const char *text)
{
    return (int32_t)strlen(text);
}

static int is_word(const char *text, cpubind_slice slice, const char *word)
{
    return slice.len == length(word) && memcmp(text + slice.at, word, strlen(word)) == 0;
}

/* npu-smi info, which must fit into the arrays. */
static cpubind_npusmi_info info_of(const char *text, cpubind_npusmi_device *device,
                                   int32_t n_device, cpubind_npusmi_process *process,
                                   int32_t n_process)
{
    cpubind_npusmi_info info;

    memset(&info, 0, sizeof info);
    info.device = device;
    info.cap_device = n_device;
    info.process = process;
    info.cap_process = n_process;
    assert_int_equal(cpubind_npusmi_parse_info(text, length(text), &info, &fault),
                     CPUBIND_TEXT_OK);
    return info;
}

/* Four nodes of 8 CPUs, all allowed. */
static memory_host four_nodes(void)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    set(&h, "proc/self/status", "Name:\tpython3\nCpus_allowed_list:\t0-31\n");
    set(&h, "sys/devices/system/node/", "node0\nnode1\nnode2\nnode3\n");
    set(&h, "sys/devices/system/node/node0/cpulist", "0-7\n");
    set(&h, "sys/devices/system/node/node1/cpulist", "8-15\n");
    set(&h, "sys/devices/system/node/node2/cpulist", "16-23\n");
    set(&h, "sys/devices/system/node/node3/cpulist", "24-31\n");
    return h;
}

/* A container with the A2 cards 4 and 6, both busy. */
static memory_host cards_4_and_6(void)
{
    memory_host h = four_nodes();
    set(&h, "cmd/npu-smi-info-m.txt",
        MAP_HEADER "\t4        0         0               Ascend 910B4\n"
                   "\t6        0         1               Ascend 910B4\n");
    set(&h, "cmd/npu-smi-info-t-topo.txt",
        "\t   NPU4       NPU6       CPU Affinity\n"
        "NPU4       X          HCCS       24-31\n"
        "NPU6       HCCS       X          8-15\n");
    set(&h, "cmd/npu-smi-info.txt",
        PROCESS_HEADER
        "| 4       0                 | 812    | python3        | 150        |\n"
        "| 6       0                 | 813    | python3        | 151        |\n");
    return h;
}

TEST(trap_01_labels_of_the_topology_are_no_logic_ids)
{
    static const char by_phy[] = "\t   Phy-ID2    Phy-ID13   CPU Affinity\n"
                                 "Phy-ID2    X          SIO        0-7\n"
                                 "Phy-ID13   SIO        X          8-15\n";
    plan();
    cpubind_npusmi_affinity row[2];
    int32_t cpu[16];
    cpubind_npusmi_topo topo = {row, 2, cpu, 16, 0, 0, CPUBIND_NPUSMI_LABEL_CARD, 0, {0, 0}};

    assert_int_equal(got.code, CPUBIND_PROBLEM_NONE);
    assert_int_equal(got.facts.npu[0].logic, 0);
    assert_int_equal(got.facts.npu[0].card, 4);
    assert_int_equal(got.facts.affinity[got.facts.npu[0].affinity_first], 24);
    assert_int_equal(got.facts.affinity[got.facts.npu[1].affinity_first], 8);
    assert_int_equal(cpubind_npusmi_parse_topo(by_phy, length(by_phy), &topo, &fault),
                     CPUBIND_TEXT_OK);
    assert_int_equal(topo.label, CPUBIND_NPUSMI_LABEL_PHY);
    assert_int_equal(row[1].id, 13);
    assert_int_equal(cpu[row[1].first], 8);
}

/* Logic ids 0 to 3 are the chips of cards 1 and 6: no board of card 0 is asked for. */
TEST(trap_02_boards_are_asked_for_by_card_and_chip)
{
    static const int32_t all[] = {0, 1, 2, 3};
    host = four_nodes();

    put("cmd/npu-smi-info-m.txt",
        MAP_HEADER_A3 "\t1        0         0               2             Ascend910\n"
                      "\t1        1         1               3             Ascend910\n"
                      "\t6        0         2               12            Ascend910\n"
                      "\t6        1         3               13            Ascend910\n");
    put("cmd/npu-smi-info-t-board-i6-c1.txt", BOARD("6", "1", "0000:9F:00.0"));
    put("cmd/npu-smi-info-t-board-i6-c0.txt", BOARD("6", "0", "0000:9D:00.0"));
    put("cmd/npu-smi-info-t-board-i1-c1.txt", BOARD("1", "1", "0000:0B:00.0"));
    put("cmd/npu-smi-info-t-board-i1-c0.txt", BOARD("1", "0", "0000:09:00.0"));
    put("sys/bus/pci/devices/0000:9f:00.0/numa_node", "2\n");
    put("sys/bus/pci/devices/0000:9d:00.0/numa_node", "2\n");
    put("sys/bus/pci/devices/0000:0b:00.0/numa_node", "0\n");
    put("sys/bus/pci/devices/0000:09:00.0/numa_node", "0\n");
    ask_npus(all, LENGTH(all));
    ask_strategy(CPUBIND_TOPO_AFFINITY);
    plan();
    expect_seen("cmd/npu-smi-info-t-board-i1-c0.txt");
    expect_seen("cmd/npu-smi-info-t-board-i1-c1.txt");
    expect_seen("cmd/npu-smi-info-t-board-i6-c0.txt");
    expect_unseen("board-i0");
    assert_int_equal(got.facts.npu[3].pci.bus, 0x9f);
    assert_int_equal(got.facts.npu[3].affinity_count, 8);
    assert_int_equal(got.facts.affinity[got.facts.npu[3].affinity_first], 16);
}

TEST(trap_03_the_header_of_the_map_is_found_by_its_words)
{
    static const char late[] = "Failed to get chip number of card1.\n" MAP_HEADER
                               "\t0        0         0               Ascend 910B1\n";
    static const char none[] = "There is no NPU card on this server.\n";
    cpubind_npusmi_chip chip;
    cpubind_npusmi_map map = {&chip, 1, 0, 0, 0, {0, 0}};

    assert_int_equal(cpubind_npusmi_parse_map(late, length(late), &map, &fault),
                     CPUBIND_TEXT_OK);
    assert_int_equal(map.n_chip, 1);
    assert_int_equal(chip.card, 0);
    assert_int_equal(cpubind_npusmi_parse_map(none, length(none), &map, &fault),
                     CPUBIND_TEXT_ERR_REFUSED);
    put("cmd/npu-smi-info-m.txt", none);
    refuse(CPUBIND_PROBLEM_NO_RUNNING_NPU);
}

/* The same text with exit code 0 and with another one: only the text counts. A good answer
 * with another code is used with a warning. */
TEST(trap_04_an_exit_code_of_0_is_no_answer)
{
    static const char broken[] = "dcmi module initialize failed. ret is -8005\n";

    put("cmd/npu-smi-info-t-topo.txt", "This device does not support querying topo.\n");
    plan();
    expect_warning(CPUBIND_WARNING_NO_AFFINITY);
    host.exits_1 = "cmd/npu-smi-info-t-topo.txt";
    plan();
    expect_warning(CPUBIND_WARNING_NO_AFFINITY);
    host = cards_4_and_6();
    host.exits_1 = "cmd/npu-smi-info-t-topo.txt";
    plan();
    expect_warning(CPUBIND_WARNING_EXIT_CODE);
    put("cmd/npu-smi-info-m.txt", broken);
    host.exits_1 = NULL;
    refuse(CPUBIND_PROBLEM_UNREADABLE);
    host.exits_1 = "cmd/npu-smi-info-m.txt";
    refuse(CPUBIND_PROBLEM_UNREADABLE);
}

/* npu-smi prints the CPUs of node 0 for a function that is on no node. */
TEST(trap_05_no_node_is_not_node_0)
{
    put("cmd/npu-smi-info-t-topo.txt", "\t   NPU4       NPU6       CPU Affinity\n"
                                       "NPU4       X          HCCS       24-31\n"
                                       "NPU6       HCCS       X          0-7\n");
    put("cmd/npu-smi-info.txt",
        "| NPU   Name                | Health        | Power(W)    Temp(C)       |\n"
        "| Chip                      | Bus-Id        | AICore(%)   Memory        |\n"
        "| 4     910B4               | OK            | 90.1        40            |\n"
        "| 0                         | 0000:81:00.0  | 0           0    / 0      |\n"
        "| 6     910B4               | OK            | 91.4        41            |\n"
        "| 0                         | 0000:01:00.0  | 0           0    / 0      "
        "|\n" PROCESS_HEADER
        "| 4       0                 | 812           | python3        | 150      |\n"
        "| 6       0                 | 813           | python3        | 151      |\n");
    put("sys/bus/pci/devices/0000:81:00.0/numa_node", "3\n");
    put("sys/bus/pci/devices/0000:01:00.0/numa_node", "-1\n");
    put("sys/bus/pci/devices/0000:01:00.0/local_cpulist", "0-31\n");
    plan();
    expect_warning(CPUBIND_WARNING_NO_NUMA_NODE);
    assert_int_equal(got.facts.npu[0].locality, CPUBIND_LOCALITY_SAME);
    assert_int_equal(got.facts.npu[1].locality, CPUBIND_LOCALITY_NO_NODE);
    assert_int_equal(got.facts.npu[1].affinity_count, 8);
}

TEST(trap_06_an_affinity_has_many_ranges_or_is_missing)
{
    static const char text[] = "\t   NPU0       NPU1       CPU Affinity\n"
                               "NPU0       X          SYS        0-1,4,8-9,12-13,20,24\n"
                               "NPU1       SYS        X          \n";
    static const char failed[] = "Failed to query \"topo\" info.\n";
    static const int32_t expected[] = {0, 1, 4, 8, 9, 12, 13, 20, 24};
    cpubind_npusmi_affinity row[2];
    int32_t cpu[16];
    cpubind_npusmi_topo topo = {row, 2, cpu, 16, 0, 0, CPUBIND_NPUSMI_LABEL_CARD, 0, {0, 0}};

    assert_int_equal(cpubind_npusmi_parse_topo(text, length(text), &topo, &fault),
                     CPUBIND_TEXT_OK);
    assert_int_equal(row[0].count, LENGTH(expected));
    assert_memory_equal(cpu, expected, sizeof expected);
    assert_int_equal(row[1].count, 0);
    assert_int_equal(cpubind_npusmi_parse_topo(failed, length(failed), &topo, &fault),
                     CPUBIND_TEXT_ERR_REFUSED);
}

/* Two devices of one PCI function: the mailbox of each comes before its own interrupts. */
static const char shared_function[] =
    "           CPU0       CPU1       \n"
    " 900:          1          0   ITS-MSI 524288 Edge      trs-mbox-2-0\n"
    " 901:          2          0   ITS-MSI 524289 Edge      sq_send_trigger_irq\n"
    " 902:          3          0   ITS-MSI 524290 Edge      cq_update_irq\n"
    " 903:          4          0   ITS-MSI 524291 Edge      cq_update_irq\n"
    " 904:          5          0   ITS-MSI 524292 Edge      trs-mbox-3-0\n"
    " 905:          6          0   ITS-MSI 524293 Edge      sq_send_trigger_irq\n"
    " 906:          7          0   ITS-MSI 524294 Edge      cq_update_irq\n";

TEST(trap_07_one_function_may_have_two_sq_interrupts)
{
    cpubind_interrupt irq[8];
    cpubind_interrupt_list list = {irq, 8, 0, 0};
    int32_t device = -1, sq_of[4] = {-1, -1, -1, -1};

    assert_int_equal(
        cpubind_interrupts_parse(shared_function, length(shared_function), &list, &fault),
        CPUBIND_TEXT_OK);
    assert_int_equal(list.n, 7);
    for (int32_t i = 0; i < list.n; i++) {
        const char *name = shared_function + irq[i].names.at;

        if (strncmp(name, "trs-mbox-", 9) == 0)
            device = name[9] - '0';
        else if (is_word(shared_function, irq[i].names, "sq_send_trigger_irq"))
            sq_of[device] = irq[i].irq;
    }
    assert_int_equal(sq_of[2], 901);
    assert_int_equal(sq_of[3], 905);
}

TEST(trap_08_the_names_of_interrupts_count_and_not_their_numbers)
{
    static char text[4096];
    cpubind_interrupt irq[32];
    cpubind_interrupt_list list = {irq, 32, 0, 0};
    int32_t n_cq = 0, at = 0;

    at = snprintf(text, sizeof text,
                  "           CPU0       \n 10:          0   ITS-MSI 0 Edge "
                  "     sq_send_trigger_irq\n");
    for (int i = 0; i < 16; i++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "%3d:          0   ITS-MSI %d Edge      cq_update_irq\n", 40 + 2 * i,
                       40 + 2 * i);
    assert_int_equal(cpubind_interrupts_parse(text, at, &list, &fault), CPUBIND_TEXT_OK);
    for (int32_t i = 0; i < list.n; i++)
        n_cq += is_word(text, irq[i].names, "cq_update_irq");
    assert_int_equal(n_cq, 16);
    assert_int_equal(irq[1].irq, 40);
    assert_int_equal(irq[16].irq, 70);
}

/* The pid in the container has a column of its own, and a name may be empty. */
TEST(trap_09_pids_are_those_of_the_host)
{
    static const char text[] =
        "| NPU     Chip | Process id | Process name | Process memory(MB) | Process id in "
        "container |\n"
        "| 0       0    | 1732754    | python       | 30212              | 41 |\n"
        "| 1       0    | 1732755    |              | 30212              | NA |\n";
    cpubind_npusmi_process process[2];

    (void)info_of(text, NULL, 0, process, 2);
    assert_int_equal(process[0].pid, 1732754);
    assert_int_equal(process[0].container_pid, 41);
    assert_int_equal(process[1].container_pid, -1);
    assert_int_equal(process[1].name.len, 0);
}

/* A chip runs when it has any process: a pid that the table has no room for does not matter. */
TEST(trap_10_eight_processes_of_a_chip_are_all_that_is_shown)
{
    static char table[4096];
    int32_t at = snprintf(table, sizeof table, "%s", PROCESS_HEADER);

    for (int i = 0; i < 8; i++)
        at += snprintf(table + at, sizeof table - (size_t)at,
                       "| 6       0                 | %d           | worker         | 10 |\n",
                       70001 + i);
    put("cmd/npu-smi-info.txt", table);
    ask.only_running = 1;
    plan();
    assert_int_equal(got.plan.n_want, 1);
    assert_int_equal(got.facts.npu[got.plan.want[0]].card, 6);
}

TEST(trap_11_rows_have_not_always_the_same_fields)
{
    static const char with_controllers[] =
        MAP_HEADER "\t2        0         0               Ascend 310P3\n"
                   "\t2        1         1               Ascend 310P3\n"
                   "\t2        2         -               Mcu\n"
                   "\t2        3         -               3559\n";
    static const char without_logic_ids[] =
        "\tNPU ID   Slot ID   Chip ID   Chip Phy-ID   Chip Name\n"
        "\t1        4         0         9             Ascend950PR\n";
    cpubind_npusmi_chip chip[2];
    cpubind_npusmi_map map = {chip, 2, 0, 0, 0, {0, 0}};

    assert_int_equal(
        cpubind_npusmi_parse_map(with_controllers, length(with_controllers), &map, &fault),
        CPUBIND_TEXT_OK);
    assert_int_equal(map.n_chip, 2);
    assert_int_equal(map.has_logic, 1);
    assert_true(is_word(with_controllers, chip[1].name, "Ascend 310P3"));
    assert_int_equal(
        cpubind_npusmi_parse_map(without_logic_ids, length(without_logic_ids), &map, &fault),
        CPUBIND_TEXT_OK);
    assert_int_equal(map.n_chip, 1);
    assert_int_equal(map.has_logic, 0);
    assert_int_equal(chip[0].logic, -1);
    assert_int_equal(chip[0].phy, 9);
}

/* One host as two versions of npu-smi print it. */
TEST(trap_12_widths_and_rules_differ_between_versions)
{
    static const char narrow[] = "+----+--------+----------+\n"
                                 "| NPU Name | Health | Power |\n"
                                 "| Chip Phy-ID | Bus-Id | AICore HBM |\n"
                                 "+====+========+==========+\n"
                                 "| 3 Ascend910 | OK | 171.3 |\n"
                                 "| 0 6 | 0000:9D:00.0 | 7 62336/ 65536 |\n"
                                 "| 3 Ascend910 | OK | - |\n"
                                 "| 1 7 | 0000:9F:00.0 | 7 3150 / 65536 |\n";
    static const char wide[] =
        "+------------------------------+----------------+------------------------------+\n"
        "| NPU     Name                 | Health         | Power(W)                     |\n"
        "| Chip    Phy-ID               | Bus-Id         | AICore(%)  HBM-Usage(MB)     |\n"
        "+==============================+================+==============================+\n"
        "| 3       Ascend910            | OK             | 171.3                        |\n"
        "| 0       6                    | 0000:9d:00.0   | 7          62336/ 65536      |\n"
        "+------------------------------------------------------------------------------+\n"
        "| 3       Ascend910            | OK             | -                            |\n"
        "| 1       7                    | 0000:9f:00.0   | 7          3150 / 65536      |\n"
        "+==============================+================+==============================+\n";
    cpubind_npusmi_device a[2], b[2];

    assert_int_equal(info_of(narrow, a, 2, NULL, 0).n_device, 2);
    assert_int_equal(info_of(wide, b, 2, NULL, 0).n_device, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(a[i].card, 3);
        assert_int_equal(a[i].chip, i);
        assert_int_equal(a[i].phy, 6 + i);
        assert_int_equal(a[i].pci.bus, 0x9d + 2 * i);
        assert_int_equal(b[i].card, a[i].card);
        assert_int_equal(b[i].chip, a[i].chip);
        assert_int_equal(b[i].phy, a[i].phy);
        assert_memory_equal(&b[i].pci, &a[i].pci, sizeof a[i].pci);
    }
}

/* A list that the runtime refuses leaves no device, not all of them. */
TEST(trap_13_visible_devices_are_logic_ids_and_no_list_is_all_of_them)
{
    put("env", "ASCEND_RT_VISIBLE_DEVICES=1\n");
    plan();
    assert_int_equal(got.plan.n_want, 1);
    assert_int_equal(got.facts.npu[got.plan.want[0]].card, 6);
    put("env", "ASCEND_RT_VISIBLE_DEVICES=4,6\n");
    refuse(CPUBIND_PROBLEM_NO_RUNNING_NPU);
    put("env", "ASCEND_RT_VISIBLE_DEVICES=1,0\n");
    refuse(CPUBIND_PROBLEM_NO_RUNNING_NPU);
}

TEST(trap_14_names_of_threads_are_cut_at_15_bytes)
{
    assert_true(cpubind_comm_is("uvb_poll_window\n", 16, "uvb_poll_window_thread"));
    assert_true(cpubind_comm_is("dev10_sq_send_w\n", 16, "dev10_sq_send_wq"));
    assert_true(cpubind_comm_is("acl_thread\n", 11, "acl_thread"));
    assert_false(cpubind_comm_is("my_acl_thread\n", 14, "acl_thread"));
    assert_false(cpubind_comm_is("uvb_poll_windo\n", 15, "uvb_poll_window_thread"));
}

TEST(trap_15_single_cpus_count_and_ranges_do_not_run_backwards)
{
    static const char status[] = "Name:\tx\nCpus_allowed_list:\t5,7-8\n";
    static const int32_t expected[] = {5, 7, 8};
    int32_t cpu[8];
    cpubind_int_list list = {cpu, 8, 0};

    assert_int_equal(cpubind_status_parse(status, length(status), &list, &fault),
                     CPUBIND_TEXT_OK);
    assert_int_equal(list.n, 3);
    assert_memory_equal(cpu, expected, sizeof expected);
    assert_int_equal(cpubind_cpulist_parse("5-2", 3, CPUBIND_MAX_CPUS, &list, &fault),
                     CPUBIND_TEXT_ERR_ORDER);
}

TEST(trap_16_the_words_of_links_mean_nothing)
{
    put("cmd/npu-smi-info-m.txt", MAP_HEADER "\t4        0         0               a2g3\n"
                                             "\t6        0         1               a2g3\n");
    put("cmd/npu-smi-info-t-topo.txt", "\t   NPU4       NPU6       CPU Affinity\n"
                                       "NPU4       X          XLink_SW   24-31\n"
                                       "NPU6       XLink_SW   X          8-15\n");
    plan();
    assert_int_equal(got.facts.type, CPUBIND_TYPE_A2);
    assert_int_equal(got.facts.npu[0].affinity_count, 8);
}

/* A soft-split container: both dies carry the phy id and the address of the one that is
 * mounted. */
TEST(trap_17_devices_are_distinguished_by_card_and_chip)
{
    static const char text[] = "| NPU Name | Health | Power |\n"
                               "| Chip Phy-ID | Bus-Id | AICore |\n"
                               "| 5 Ascend910 | OK | 171.3 |\n"
                               "| 0 10 | 0000:9D:00.0 | 7 |\n"
                               "| 5 Ascend910 | OK | - |\n"
                               "| 1 10 | 0000:9D:00.0 | 7 |\n";
    cpubind_npusmi_device device[2];

    assert_int_equal(info_of(text, device, 2, NULL, 0).n_device, 2);
    assert_int_equal(device[0].chip, 0);
    assert_int_equal(device[1].chip, 1);
    assert_int_equal(device[1].phy, 10);
}

TEST(trap_18_a_warning_may_follow_and_a_process_table_may_be_missing)
{
    static const char text[] = "| NPU Name | Health | Power |\n"
                               "| Chip Device | Bus-Id | AICore |\n"
                               "| 0 310B1 | OK | 8.2 |\n"
                               "| 0 0 | NA | 0 |\n"
                               "[WARNING]The driver package may not be completely installed.\n";
    cpubind_npusmi_device device;

    assert_int_equal(info_of(text, &device, 1, NULL, 0).has_process_table, 0);
    assert_int_equal(device.pci.domain, -1);
    put("cmd/npu-smi-info.txt", text);
    ask.only_running = 1;
    refuse(CPUBIND_PROBLEM_NO_RUNNING_NPU);
    assert_non_null(strstr(got.problem.what, "no process table"));
}

/* A command that hangs is named. /sys has the affinity; with given NPUs and type, /sys is
 * enough for slices. */
TEST(trap_19_npusmi_may_hang_and_sys_remains)
{
    static const int32_t both[] = {0, 1};

    fail_input("cmd/npu-smi-info-t-topo.txt", CPUBIND_INPUT_TIMEOUT);
    refuse_input(CPUBIND_PROBLEM_UNREADABLE, "cmd/npu-smi-info-t-topo.txt");
    put("cmd/npu-smi-info-t-board-i4-c0.txt", BOARD("4", "0", "0000:81:00.0"));
    put("cmd/npu-smi-info-t-board-i6-c0.txt", BOARD("6", "0", "0000:01:00.0"));
    put("sys/bus/pci/devices/0000:81:00.0/numa_node", "3\n");
    put("sys/bus/pci/devices/0000:01:00.0/numa_node", "1\n");
    plan();
    expect_warning(CPUBIND_WARNING_PCI_AFFINITY);
    assert_int_equal(got.facts.affinity[got.facts.npu[0].affinity_first], 24);
    host = four_nodes();
    fail_input("cmd/npu-smi-info-m.txt", CPUBIND_INPUT_TIMEOUT);
    ask_npus(both, 2);
    ask.type = CPUBIND_TYPE_A3;
    ask.total = 2;
    plan_pools("0-15 16-31");
}

SETUP(set_up)
{
    return start(cards_4_and_6(), ask_nothing());
}

int main(void)
{
    return run_registered("traps", set_up, drop_plan);
}
