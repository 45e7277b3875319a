/* test_npusmi.c - `npu-smi info -m`, `info -t topo` and `info`
 * SPDX-License-Identifier: MIT
 */
#include "lines.h"
#include "samples.h"

static reading got; /* what a test has read last */

SETUP(forget)
{
    end_reading(&got);
    return 0;
}

static cpubind_text_status take_some(reader_fn *read, const char *text, int32_t len)
{
    end_reading(&got);
    return read(&got, text, len);
}

static cpubind_text_status take(reader_fn *read, const char *text)
{
    return take_some(read, text, (int32_t)strlen(text));
}

/* The text is read, and these are its values. */
static void expect(write_fn *write, const char *text, const char *values)
{
    static lines all;

    all.len = 0;
    all.text[0] = '\0';
    write(&all, text, (int32_t)strlen(text));
    if (all.status != CPUBIND_TEXT_OK)
        fail_msg("%s at %d: %s", all.fault.what, all.fault.offset, text);
    assert_string_equal(all.text, values);
}

/* == refusals =============================================================== */

TEST(known_refusals_are_recognised)
{
    static const struct {
        const char *text;
        cpubind_npusmi_refusal refusal;
        int32_t line;
    } cases[] = {
        {"There is no NPU card on this server.\n", CPUBIND_NPUSMI_NO_NPU, 0},
        {"This device does not support querying topo.", CPUBIND_NPUSMI_NOT_SUPPORTED, 0},
        {"\n This command cannot be executed on a VM.\r\n", CPUBIND_NPUSMI_VM, 2},
        {"a\ndcmi module initialize failed. ret is -8005\n", CPUBIND_NPUSMI_DRIVER, 2},
        {"dcmi model initialized failed, because the device is used. ret is -8020\n",
         CPUBIND_NPUSMI_BUSY, 0},
        {"Failed to query \"topo\" info.\n", CPUBIND_NPUSMI_QUERY, 0},
        {"Error parameter of -t\n", CPUBIND_NPUSMI_PARAMETER, 0},
        {"Invalid card id.\nError parameter of -i\n", CPUBIND_NPUSMI_PARAMETER, 0},
        {"Failed to get chip number of card1.\n", CPUBIND_NPUSMI_NONE, -1},
        {"say: Invalid card id.\n", CPUBIND_NPUSMI_NONE, -1},
        {"", CPUBIND_NPUSMI_NONE, -1},
    };

    for (int32_t i = 0; i < LENGTH(cases); i++) {
        const int32_t len = (int32_t)strlen(cases[i].text);
        char *edge = edge_text(cases[i].text, len);
        cpubind_slice line = {-1, -1};

        assert_int_equal(cpubind_npusmi_find_refusal(edge, len, &line), cases[i].refusal);
        assert_int_equal(line.at, cases[i].line);
        assert_int_equal(cpubind_npusmi_find_refusal(edge, len, NULL), cases[i].refusal);
        free(edge);
    }
    assert_int_equal(cpubind_npusmi_find_refusal(NULL, 1, NULL), CPUBIND_NPUSMI_NONE);
}

TEST(a_refusal_is_not_read_as_a_table)
{
    static const verdict cases[] = {
        {"There is no NPU card on this server.\n", CPUBIND_TEXT_ERR_REFUSED, 0},
        {"DrvMng failed. (ret=4)\ndcmi module initialize failed. ret is -8005\n",
         CPUBIND_TEXT_ERR_REFUSED, 23},
    };

    check_verdicts(read_map, cases, LENGTH(cases));
    check_verdicts(read_topo, cases, LENGTH(cases));
    check_verdicts(read_info, cases, LENGTH(cases));
}

/* == info -m ================================================================ */

TEST(each_chip_has_its_four_ids)
{
    expect(write_map, map_a2,
           "chip 3.0 0 -1 \"Ascend 910B2\"\n"
           "chip 5.0 1 -1 \"Ascend 910B2\"\n");
    expect(write_map, map_a3,
           "chip 2.0 0 4 \"Ascend910\"\n"
           "chip 2.1 1 5 \"Ascend910\"\n");
    expect(write_map, map_310,
           "chip 2.0 0 -1 \"MiniD\"\n"
           "chip 2.1 1 -1 \"MiniD\"\n");
}

TEST(a_950_has_no_logic_id)
{
    expect(write_map, map_950,
           "chip 0.0 -1 0 \"Ascend950PR\"\n"
           "chip 1.0 -1 1 \"Ascend950PR\"\n");
}

TEST(columns_of_ids_may_be_in_any_order)
{
    expect(write_map,
           "Chip Phy-ID  Chip Logic ID  Chip ID  NPU ID  Chip Name\n"
           "7 6 1 3 Ascend 910 \n8 MCU 2 3 Mcu\nNA 5 1 4 x",
           "chip 3.1 6 7 \"Ascend 910\"\n"
           "chip 4.1 5 -1 \"x\"\n");
}

#define HEADER "NPU ID  Chip ID  Chip Logic ID  Chip Name\n" /* 42 bytes */

TEST(other_maps_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"", CPUBIND_TEXT_ERR_MISSING, 0},
        {"hello\n", CPUBIND_TEXT_ERR_MISSING, 6},
        {HEADER, CPUBIND_TEXT_ERR_MISSING, 42},
        {HEADER "0 1 - Mcu\n", CPUBIND_TEXT_ERR_MISSING, 52},
        {"0 0 0 x\n" HEADER, CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"noise\n\t0 0 0 x\n" HEADER "0 0 0 x\n", CPUBIND_TEXT_ERR_SYNTAX, 7},
        {HEADER HEADER, CPUBIND_TEXT_ERR_SYNTAX, 42},
        {HEADER "0 0\n", CPUBIND_TEXT_ERR_SYNTAX, 45},
        {HEADER "0 0 0", CPUBIND_TEXT_ERR_CUT, 47},
        {HEADER "0 0", CPUBIND_TEXT_ERR_CUT, 45},
        {HEADER "x 0 0 y\n", CPUBIND_TEXT_ERR_SYNTAX, 42},
        {HEADER "0 x 0 y\n", CPUBIND_TEXT_ERR_SYNTAX, 44},
        {HEADER "0 - 0 y\n", CPUBIND_TEXT_ERR_SYNTAX, 44},
        {HEADER "0 0 x y\n", CPUBIND_TEXT_ERR_SYNTAX, 46},
        {HEADER "0 0 -1 y\n", CPUBIND_TEXT_ERR_SYNTAX, 46},
        {HEADER "0 0 1a y\n", CPUBIND_TEXT_ERR_SYNTAX, 47},
        {HEADER "0 01 1 y\n", CPUBIND_TEXT_ERR_SYNTAX, 44},
        {HEADER "0 0 2147483648 y\n", CPUBIND_TEXT_ERR_RANGE, 46},
        {HEADER "4294967296 0 0 y\n", CPUBIND_TEXT_ERR_RANGE, 42},
        {HEADER "0 0 0 A 1B\n1 0 1 A 1", CPUBIND_TEXT_ERR_CUT, 62},
        {HEADER "0 0 0 A 1B\n1 0 1 A  ", CPUBIND_TEXT_ERR_CUT, 60},
        {HEADER "0 0 0\n1 0 1 AB\n2 0 0\n3 0 3 A", CPUBIND_TEXT_ERR_CUT, 70},
        {HEADER "0 0 0 A 1B\n1 0 1  ", CPUBIND_TEXT_ERR_CUT, 58},
        {HEADER "0 0 0 x\n0 0 1 x\n", CPUBIND_TEXT_ERR_SYNTAX, 50},
        {HEADER "0 0 0 x\n1 0 1 x\n1 0 2 x\n", CPUBIND_TEXT_ERR_SYNTAX, 58},
        {HEADER "1 0 0 x\n0 0 1 x\n1 0 2 x\n", CPUBIND_TEXT_ERR_SYNTAX, 58},
        {"NPU ID  NPU ID  Chip ID  Chip Name\n", CPUBIND_TEXT_ERR_SYNTAX, 8},
        {"NPU ID  Chip ID  Weight  Chip Name\n", CPUBIND_TEXT_ERR_SYNTAX, 34},
        {"NPU ID  Chip Logic ID  Chip Name\n", CPUBIND_TEXT_ERR_SYNTAX, 32},
        {"NPU ID  Chip ID", CPUBIND_TEXT_ERR_CUT, 15},
        {"NPU ID  Chip ID  Chip Name  Chip Logic ID\n", CPUBIND_TEXT_ERR_MISSING, 42},
    };

    check_verdicts(read_map, cases, LENGTH(cases));
}

/* For a chip that it cannot query npu-smi prints ids of 0 and an empty name. */
TEST(a_chip_that_cannot_be_queried_has_no_name)
{
    expect(write_map,
           "\tNPU ID      Chip ID      Chip Logic ID Chip Phy-ID  Chip Name \n"
           "\t0            0            0             0            Ascend910\n"
           "\t0            1            0             0            \n"
           "\t1            0            2             2            Ascend910",
           "chip 0.0 0 0 \"Ascend910\"\n"
           "chip 0.1 0 0 \"\"\n"
           "chip 1.0 2 2 \"Ascend910\"\n");
    expect(write_map, HEADER "2 0 0\n3 0 1 Ascend 310P3",
           "chip 2.0 0 -1 \"\"\n"
           "chip 3.0 1 -1 \"Ascend 310P3\"\n");
}

/* A card whose chips cannot be listed has a row Mcu and a row 3559, both with chip id 0. */
TEST(repeated_controllers_are_no_error)
{
    expect(write_map,
           "Failed to get chip number of card1.\n" HEADER
           "0 0 0 Ascend 910B4\n0 0 - Mcu\n4 0 - Mcu \n4 0 - 3559 \n",
           "chip 0.0 0 -1 \"Ascend 910B4\"\n");
}

TEST(a_slot_may_be_unknown)
{
    static const verdict cases[] = {
        {"NPU ID  Slot ID  Chip ID  Chip Phy-ID  Chip Name\n0 -2 0 0 Ascend950PR\n",
         CPUBIND_TEXT_ERR_SYNTAX, 51},
    };
    expect(write_map,
           "NPU ID  Slot ID  Chip ID  Chip Phy-ID  Chip Name\n"
           "0 -1 0 3 Ascend950PR\n1 2 0 4 Ascend950PR\n",
           "chip 0.0 -1 3 \"Ascend950PR\"\n"
           "chip 1.0 -1 4 \"Ascend950PR\"\n");
    check_verdicts(read_map, cases, LENGTH(cases));
}

TEST(a_map_without_room_gives_the_room_that_it_needs)
{
    end_reading(&got);
    assert_int_equal(read_map_cap(&got, map_a3, (int32_t)strlen(map_a3), 1),
                     CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.n_chip, 2);
}

/* == info -t topo =========================================================== */

static void check_affinity(const reading *r, int32_t i, int32_t id, int32_t count,
                           const int32_t *cpu)
{
    const cpubind_npusmi_affinity *row = &r->topo.row[i];

    assert_int_equal(row->id, id);
    assert_int_equal(row->count, count);
    if (count > 0)
        assert_memory_equal(r->topo.cpu + row->first, cpu, (size_t)count * sizeof *cpu);
}

TEST(affinities_belong_to_the_label_of_their_row)
{
    static const int32_t first[] = {0, 1, 2, 3, 16, 17, 18, 19},
                         second[] = {4, 6, 20, 21, 22, 23};
    assert_int_equal(take(read_topo, topo_a2), CPUBIND_TEXT_OK);
    assert_int_equal(got.topo.n_row, 4);
    assert_int_equal(got.topo.n_cpu, 96);
    assert_int_equal(got.topo.label, CPUBIND_NPUSMI_LABEL_CARD);
    assert_int_equal(got.topo.has_affinity, 1);
    assert_int_equal(got.topo.cpu[got.topo.row[0].first], 72);
    assert_int_equal(got.topo.cpu[got.topo.row[1].first], 0);
    assert_int_equal(got.topo.cpu[got.topo.row[3].first + 23], 47);

    assert_int_equal(take(read_topo, topo_stripped), CPUBIND_TEXT_OK);
    assert_int_equal(got.topo.n_row, 2);
    check_affinity(&got, 0, 4, 8, first);
    check_affinity(&got, 1, 6, 6, second);
}

TEST(nics_are_left_out)
{
    assert_int_equal(take(read_topo, topo_a3_nic), CPUBIND_TEXT_OK);
    assert_int_equal(got.topo.n_row, 2);
    assert_int_equal(got.topo.n_cpu, 0);
    assert_int_equal(got.topo.label, CPUBIND_NPUSMI_LABEL_PHY);
    assert_int_equal(got.topo.has_affinity, 0);
    check_affinity(&got, 0, 2, 0, NULL);
    check_affinity(&got, 1, 3, 0, NULL);
}

TEST(one_npu_is_a_matrix_too)
{
    static const int32_t cpus[] = {8, 9};
    assert_int_equal(take(read_topo, "\t   NPU5       CPU Affinity\nNPU5  X  8-9\n"),
                     CPUBIND_TEXT_OK);
    check_affinity(&got, 0, 5, 2, cpus);
    assert_int_equal(take(read_topo, "Phy-ID3\nPhy-ID3 X"), CPUBIND_TEXT_OK);
    check_affinity(&got, 0, 3, 0, NULL);
}

TEST(rows_may_be_in_any_order_and_cells_without_cpus_are_empty)
{
    static const int32_t cpus[] = {1};
    assert_int_equal(
        take(read_topo, "NPU0 NPU1 NIC0 CPU Affinity\nNPU1 A X A 1\nNIC0 A A X\nNPU0 X A A\n"),
        CPUBIND_TEXT_OK);
    assert_int_equal(got.topo.n_row, 2);
    check_affinity(&got, 0, 1, 1, cpus);
    check_affinity(&got, 1, 0, 0, NULL);
    assert_int_equal(take(read_topo, "NPU0 NPU1 NPU2 CPU Affinity\nNPU1 A X A 1\nNPU0 X A A 2\n"
                                     "NPU2 A A X 3\n"),
                     CPUBIND_TEXT_OK);
    assert_int_equal(got.topo.n_row, 3);
    check_affinity(&got, 0, 1, 1, cpus);
    assert_int_equal(got.topo.row[1].id, 0);
    assert_int_equal(got.topo.row[2].id, 2);
}

/* "0-2" may be the start of "0-23"; the lists of two nodes have no CPU in common. */
TEST(a_list_at_the_end_of_the_text_counts_when_another_npu_has_it)
{
    static const int32_t cpus[] = {0, 1, 2};
    assert_int_equal(take(read_topo, "NPU0 NPU1 NPU2 CPU Affinity\nNPU0 X A A 0-2\n"
                                     "NPU1 A X A 10-13\nNPU2 A A X 0-2"),
                     CPUBIND_TEXT_OK);
    assert_int_equal(got.topo.n_row, 3);
    check_affinity(&got, 2, 2, 3, cpus);
    assert_int_equal(take(read_topo, "NPU0 CPU Affinity\nNPU0 X 0-2 "), CPUBIND_TEXT_OK);
    check_affinity(&got, 0, 0, 3, cpus);
}

/* A 950 UB on x86 prints the words of the column and nothing below them. */
TEST(a_column_of_affinity_may_be_empty)
{
    assert_int_equal(take(read_topo,
                          "\t   NPU0       NPU1       NIC0        CPU Affinity\n"
                          "NPU0       X          UB         NA         \n"
                          "NPU1       UB         X          NA         \n"
                          "NIC0       NA         NA         X          \n\nNIC0: \n"),
                     CPUBIND_TEXT_OK);
    assert_int_equal(got.topo.n_row, 2);
    assert_int_equal(got.topo.has_affinity, 1);
    check_affinity(&got, 1, 1, 0, NULL);
}

#define MATRIX "NPU0 NPU1 CPU Affinity\n" /* 23 bytes */

TEST(other_matrices_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"", CPUBIND_TEXT_ERR_MISSING, 0},
        {"Legend:\n  X    = Self\n", CPUBIND_TEXT_ERR_MISSING, 22},
        {MATRIX, CPUBIND_TEXT_ERR_MISSING, 23},
        {"NPU0 X A 1\n" MATRIX, CPUBIND_TEXT_ERR_SYNTAX, 0},
        {MATRIX "NPU0 X A 1\n", CPUBIND_TEXT_ERR_SYNTAX, 5},
        {MATRIX "NPU0 X A 1\nNPU0 X A 1\n", CPUBIND_TEXT_ERR_SYNTAX, 34},
        {MATRIX "NPU0 X A 1\nNPU2 A X 1\n", CPUBIND_TEXT_ERR_SYNTAX, 34},
        {MATRIX "NPU0 X A 1\nPhy-ID1 A X 1\n", CPUBIND_TEXT_ERR_SYNTAX, 34},
        {MATRIX "NPU0 X A 1\nNIC1 A X 1\n", CPUBIND_TEXT_ERR_SYNTAX, 34},
        {MATRIX "NPU0 X\nNPU1 A X 1\n", CPUBIND_TEXT_ERR_SYNTAX, 29},
        {MATRIX "NPU0 X 1\nNPU1 A X 1\n", CPUBIND_TEXT_ERR_SYNTAX, 30},
        {MATRIX "NPU0 X A A 1\n", CPUBIND_TEXT_ERR_SYNTAX, 34},
        {MATRIX "NPU0 X A 1 2\n", CPUBIND_TEXT_ERR_SYNTAX, 34},
        {MATRIX "NPU0 X A 1,\n", CPUBIND_TEXT_ERR_SYNTAX, 34},
        {MATRIX "NPU0 X A 3-1\n", CPUBIND_TEXT_ERR_ORDER, 34},
        {MATRIX "NPU0 X A 65536\n", CPUBIND_TEXT_ERR_RANGE, 32},
        {MATRIX "NPU0 X A 1\nNPU1 A", CPUBIND_TEXT_ERR_CUT, 40},
        {MATRIX "NPU0 X A 1\nNPU1", CPUBIND_TEXT_ERR_CUT, 38},
        {MATRIX "NPU0 X A 1\nNPU1 A X", CPUBIND_TEXT_ERR_CUT, 42},
        {MATRIX "NPU0 X A 0-23\nNPU1 A X 0-2", CPUBIND_TEXT_ERR_CUT, 49},
        {MATRIX "NPU0 X A 10\nNPU1 A X 0", CPUBIND_TEXT_ERR_CUT, 45},
        {"0-2\nNPU0 CPU Affinity\nNPU0 X 0-2", CPUBIND_TEXT_ERR_CUT, 32},
        {" 0-2\nNPU0 CPU Affinity\nNPU0 X 0-2", CPUBIND_TEXT_ERR_CUT, 33},
        {MATRIX "NPU0 X A\nNPU1 A X 0,", CPUBIND_TEXT_ERR_SYNTAX, 43},
        {MATRIX MATRIX, CPUBIND_TEXT_ERR_SYNTAX, 23},
        {"NPU0 NPU0\n", CPUBIND_TEXT_ERR_SYNTAX, 5},
        {"NPU0 Phy-ID1\n", CPUBIND_TEXT_ERR_SYNTAX, 5},
        {"NPU0 NPU1 CPU\n", CPUBIND_TEXT_ERR_SYNTAX, 10},
        {"NPU0 NPU1 CPU Affinity NPU2\n", CPUBIND_TEXT_ERR_MISSING, 28},
        {"NPU0 NPU1 GPU0\n", CPUBIND_TEXT_ERR_MISSING, 15},
        {MATRIX "NPU0 X A 1\nFailed to query \"topo\" info.\n", CPUBIND_TEXT_ERR_REFUSED, 34},
    };

    check_verdicts(read_topo, cases, LENGTH(cases));
}

TEST(a_matrix_without_room_gives_the_room_that_it_needs)
{
    const int32_t len = (int32_t)strlen(topo_a2);
    end_reading(&got);
    assert_int_equal(read_topo_cap(&got, topo_a2, len, 4, 95), CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.topo.n_row, 4);
    assert_int_equal(got.topo.n_cpu, 96);
    end_reading(&got);
    assert_int_equal(read_topo_cap(&got, topo_a2, len, 3, 96), CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.topo.n_row, 4);
}

/* == info =================================================================== */

static void check_device(const reading *r, int32_t i, int32_t card, int32_t chip, int32_t logic,
                         int32_t phy, const char *name, const char *health)
{
    const cpubind_npusmi_device *device = &r->info.device[i];

    assert_int_equal(device->card, card);
    assert_int_equal(device->chip, chip);
    assert_int_equal(device->logic, logic);
    assert_int_equal(device->phy, phy);
    assert_true(slice_is(r, device->name, name));
    assert_true(slice_is(r, device->health, health));
}

static void check_pci(const reading *r, int32_t i, int32_t domain, int32_t bus, int32_t device,
                      int32_t function)
{
    const cpubind_pci_address *pci = &r->info.device[i].pci;

    assert_int_equal(pci->domain, domain);
    assert_int_equal(pci->bus, bus);
    assert_int_equal(pci->device, device);
    assert_int_equal(pci->function, function);
}

static void check_process(const reading *r, int32_t i, int32_t card, int32_t chip, int32_t pid,
                          int32_t container_pid, const char *name)
{
    const cpubind_npusmi_process *process = &r->info.process[i];

    assert_int_equal(process->card, card);
    assert_int_equal(process->chip, chip);
    assert_int_equal(process->pid, pid);
    assert_int_equal(process->container_pid, container_pid);
    assert_true(slice_is(r, process->name, name));
}

TEST(both_tables_of_an_a3_are_read)
{
    assert_int_equal(take(read_info, info_a3), CPUBIND_TEXT_OK);
    assert_true(slice_is(&got, got.info.version, "25.4.0"));
    assert_int_equal(got.info.n_device, 3);
    check_device(&got, 0, 4, 0, -1, 8, "Ascend910", "OK");
    check_pci(&got, 0, 0, 0x8d, 0, 0);
    check_device(&got, 1, 4, 1, -1, 9, "Ascend910", "Warning");
    check_pci(&got, 1, 1, 0xaf, 0x1f, 7);
    check_device(&got, 2, 6, 0, -1, 12, "Ascend910", "OK");
    check_pci(&got, 2, -1, -1, -1, -1);
    assert_int_equal(got.info.has_process_table, 1);
    assert_int_equal(got.info.n_process, 3);
    check_process(&got, 0, 4, 0, 31337, -1, "VLLMWorker_TP");
    check_process(&got, 1, 4, 1, 31338, -1, "");
    check_process(&got, 2, 4, 1, 31339, -1, "a | b c");
}

TEST(a_table_without_rules_and_processes_is_read)
{
    assert_int_equal(take(read_info, info_a2), CPUBIND_TEXT_OK);
    assert_int_equal(got.info.version.len, 0);
    assert_int_equal(got.info.n_device, 2);
    assert_int_equal(got.info.n_process, 0);
    assert_int_equal(got.info.has_process_table, 0);
    check_device(&got, 1, 7, 0, -1, -1, "910B2", "OK");
}

TEST(the_device_column_of_a_310p_is_the_logic_id)
{
    expect(write_info, info_310p,
           "device 512.0 0 -1 \"310P3\" \"OK\" 0:2:0.0\n"
           "device 512.1 1 -1 \"310P3\" \"OK\" 0:2:0.0\n");
}

TEST(a_950_has_no_chips)
{
    expect(write_info, info_950,
           "device 0.-1 -1 -1 \"Ascend950PR\" \"OK\" 0:113:0.0\n"
           "device 1.-1 -1 -1 \"\" \"Alarm\" -1:-1:-1.-1\n"
           "process 1.-1 1530715 -1 \"python\"\n");
}

TEST(pids_in_the_container_are_read)
{
    expect(write_info, info_container,
           "process 0.0 1732754 87 \"python\"\n"
           "process 0.0 1732755 -1 \"\"\n"
           "process 0.1 1732756 90 \"x|1|2|\"\n");
}

TEST(bars_need_no_blanks_around_them)
{
    expect(write_info,
           "|NPU Chip|Process id|Process name|Process memory(MB)|\n"
           "|0 1|812|python3|150|\n",
           "process 0.1 812 -1 \"python3\"\n");
    assert_int_equal(take(read_info, "|NPU Chip|Process id|Process name|Process memory(MB)|\n"
                                     "|0|812|python3|150|\n"),
                     CPUBIND_TEXT_ERR_SYNTAX);
}

TEST(translated_words_do_not_matter)
{
    expect(write_info, info_chinese,
           "device 0.0 -1 -1 \"910B3\" \"正常\" 0:193:0.0\n"
           "process 0.0 4711 -1 \"python\"\n");
}

/* Only the header says whether the second number is a phy id or a logic id. */
TEST(devices_without_a_header_have_no_second_id)
{
    expect(write_info,
           "| 1  Ascend910 | OK | - 44 0 / 0 |\n"
           "| 1  3 | 0000:9B:00.0 | 15 0 / 0 62308/ 65536 |\n",
           "device 1.1 -1 -1 \"Ascend910\" \"OK\" 0:155:0.0\n");
}

#define DEVICES   "| NPU Name | Health | Power |\n| Chip Phy-ID | Bus-Id | HBM |\n" /* 61 */
#define DEVICE    "| 0 A | OK | 1 |\n| 0 0 | 0000:01:00.0 | 1 |\n"                  /* 44 */
#define PROCESSES "| NPU Chip | Process id | Process name | Process memory(MB) |\n" /* 62 */

TEST(other_tables_are_refused_where_they_go_wrong)
{
    static const verdict cases[] = {
        {"", CPUBIND_TEXT_ERR_MISSING, 0},
        {"no table\n", CPUBIND_TEXT_ERR_MISSING, 9},
        {DEVICES, CPUBIND_TEXT_ERR_MISSING, 61},
        {DEVICE DEVICES, CPUBIND_TEXT_ERR_SYNTAX, 46},
        {DEVICES DEVICES, CPUBIND_TEXT_ERR_SYNTAX, 63},
        {DEVICES DEVICE DEVICES, CPUBIND_TEXT_ERR_SYNTAX, 107},
        {PROCESSES DEVICES, CPUBIND_TEXT_ERR_SYNTAX, 64},
        {PROCESSES PROCESSES, CPUBIND_TEXT_ERR_SYNTAX, 64},
        {DEVICES "| 0 0 | 4711 | python | 100 |\n" PROCESSES, CPUBIND_TEXT_ERR_SYNTAX, 63},
        {"| 0 | 4711 | python | 100 |\n" PROCESSES, CPUBIND_TEXT_ERR_SYNTAX, 2},
        {DEVICES "| 0 A | OK | 1 |\n", CPUBIND_TEXT_ERR_CUT, 78},
        {DEVICES "| 0 A | OK | 1 |\n...\n", CPUBIND_TEXT_ERR_SYNTAX, 78},
        {DEVICES "| 0 A | OK | 1 |\n| 0 B | OK | 1 |\n", CPUBIND_TEXT_ERR_SYNTAX, 82},
        {DEVICES "| 0 A | OK | 1", CPUBIND_TEXT_ERR_CUT, 75},
        {DEVICES "| 0 A | OK | 1\n" DEVICE, CPUBIND_TEXT_ERR_SYNTAX, 75},
        {DEVICES "| 0 A | OK |", CPUBIND_TEXT_ERR_CUT, 73},
        {DEVICES DEVICE DEVICE, CPUBIND_TEXT_ERR_SYNTAX, 124},
        {DEVICES DEVICE "| NPU Chip |", CPUBIND_TEXT_ERR_CUT, 117},
        {"| npu-smi 25.2.0 |", CPUBIND_TEXT_ERR_CUT, 18},
        {DEVICES "| 0 A | 7 | 1 |\n", CPUBIND_TEXT_ERR_SYNTAX, 69},
        {DEVICES "| 0 A | OK | |\n", CPUBIND_TEXT_ERR_SYNTAX, 74},
        {DEVICES "| A 0 | OK | 1 |\n", CPUBIND_TEXT_ERR_SYNTAX, 63},
        {DEVICES "| 2147483648 A | OK | 1 |\n", CPUBIND_TEXT_ERR_RANGE, 63},
        {DEVICES "| 0 A | OK | 1 |\n| 0 | NA | 1 |\n", CPUBIND_TEXT_ERR_SYNTAX, 81},
        {DEVICES "| 0 A | OK | 1 |\n| 0 0 | 00:01:00 | 1 |\n", CPUBIND_TEXT_ERR_SYNTAX, 94},
        {DEVICES "| 0 A | OK | 1 |\n| 0 0 | 0:100:0.0 | 1 |\n", CPUBIND_TEXT_ERR_RANGE, 88},
        {DEVICES "| 0 A | OK | 1 |\n| 0 0 | 0:10:20.0 | 1 |\n", CPUBIND_TEXT_ERR_RANGE, 91},
        {DEVICES "| 0 A | OK | 1 |\n| 0 0 | 0:10:1f.8 | 1 |\n", CPUBIND_TEXT_ERR_RANGE, 94},
        {PROCESSES "| 0 0 | 4711 | python |\n", CPUBIND_TEXT_ERR_SYNTAX, 85},
        {PROCESSES "| 0 0 | 4711 |", CPUBIND_TEXT_ERR_CUT, 76},
        {PROCESSES "| 0 0 |", CPUBIND_TEXT_ERR_CUT, 69},
        {PROCESSES "| 0 0 | x | python | 1 |\n", CPUBIND_TEXT_ERR_SYNTAX, 70},
        {PROCESSES "| 0 0 | -4 | python | 1 |\n", CPUBIND_TEXT_ERR_SYNTAX, 70},
        {PROCESSES "| 0 0 | 4 | python | x |\n", CPUBIND_TEXT_ERR_SYNTAX, 83},
        {PROCESSES "| 0 | 4 | python | 1 |\n", CPUBIND_TEXT_ERR_SYNTAX, 65},
        {PROCESSES "| 0 0 0 | 4 | python | 1 |\n", CPUBIND_TEXT_ERR_SYNTAX, 68},
        {PROCESSES "| 0 0 | 2147483648 | p | 1 |\n", CPUBIND_TEXT_ERR_RANGE, 70},
        {"| a | b |\n", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"|", CPUBIND_TEXT_ERR_CUT, 1},
    };

    check_verdicts(read_info, cases, LENGTH(cases));
}

#define DASHES "+-----+-----+\n" /* 14 */
#define EQUALS "+=====+=====+\n"
#define RUNS   "| 0 0 | 4711 | python | 100 |\n" /* 30 */

/* Each of these is the start of a whole output that loses something. */
TEST(a_text_that_was_cut_is_refused)
{
    static const verdict cases[] = {
        {DEVICES DEVICE DASHES, CPUBIND_TEXT_ERR_CUT, 119},
        {DEVICES DEVICE EQUALS DASHES, CPUBIND_TEXT_ERR_CUT, 133},
        {DEVICES DEVICE EQUALS DASHES "\n \n", CPUBIND_TEXT_ERR_CUT, 136},
        {DEVICES DEVICE "+", CPUBIND_TEXT_ERR_CUT, 106},
        {DEVICES DEVICE "+==", CPUBIND_TEXT_ERR_CUT, 108},
        {DEVICES DEVICE DASHES PROCESSES, CPUBIND_TEXT_ERR_CUT, 181},
        {PROCESSES "...\n", CPUBIND_TEXT_ERR_CUT, 66},
        {PROCESSES EQUALS RUNS, CPUBIND_TEXT_ERR_CUT, 106},
        {PROCESSES EQUALS RUNS "+====", CPUBIND_TEXT_ERR_CUT, 111},
        {PROCESSES EQUALS RUNS EQUALS RUNS, CPUBIND_TEXT_ERR_CUT, 150},
        {PROCESSES EQUALS "| No running processes found in NPU 0 |\n", CPUBIND_TEXT_ERR_CUT,
         116},
    };

    check_verdicts(read_info, cases, LENGTH(cases));
}

/* Two rows without the line feed between them, and a row without its first bar: each must not
 * lose a row. */
TEST(a_row_that_is_lost_in_another_is_refused)
{
    static const verdict maps[] = {
        {"\tNPU ID  Chip ID  Chip Logic ID  Chip Name\n"
         "\t0       0        0              Ascend 910B3                                       "
         "  "
         "  1\n",
         CPUBIND_TEXT_ERR_SYNTAX, 76},
        {"NPU ID  Chip ID  Chip Logic ID  Chip Name\n0 0 0 A B C D1 0 1 A B C D\n",
         CPUBIND_TEXT_ERR_SYNTAX, 48},
    };
    static const verdict tables[] = {
        {PROCESSES EQUALS "0 0 | 4711 | python | 1 |\n" EQUALS, CPUBIND_TEXT_ERR_SYNTAX, 76},
        {PROCESSES EQUALS "| 0 0 | 4711 | py\x01thon | 1 |\n" EQUALS, CPUBIND_TEXT_ERR_SYNTAX,
         93},
    };

    check_verdicts(read_map, maps, LENGTH(maps));
    check_verdicts(read_info, tables, LENGTH(tables));
}

/* Outputs in bug reports may end at any row. */
TEST(a_text_that_ends_between_devices_is_read)
{
    static const char *const texts[] = {
        DEVICES DEVICE,
        DEVICES DEVICE EQUALS,
        DEVICES DEVICE "+=====+=====+",
        DEVICES EQUALS DEVICE DASHES "...\n",
        DEVICES DEVICE "+ 1 more\n",
        DEVICES DEVICE PROCESSES RUNS,
        DEVICES DEVICE PROCESSES EQUALS RUNS DASHES,
        DEVICES DEVICE PROCESSES EQUALS RUNS EQUALS "[WARNING]The driver",
        DEVICES DEVICE DASHES PROCESSES EQUALS "| No process |\n" EQUALS,
        DEVICES DEVICE DASHES PROCESSES EQUALS,
    };

    for (int32_t i = 0; i < LENGTH(texts); i++) {
        assert_int_equal(take(read_info, texts[i]), CPUBIND_TEXT_OK);
        assert_int_equal(got.info.n_device, 1);
    }
}

/* A first line is missing when the health is not known; on 310 products a second one when the
 * logic id is not. */
TEST(a_chip_with_one_line_is_left_out)
{
    expect(write_info,
           DEVICES EQUALS "| 0 3 | 0000:9D:00.0 | 1 |\n" DASHES
                          "| 4 A | OK | 1 |\n| 1 9 | 0000:9F:00.0 | 1 |\n" EQUALS DASHES
                              PROCESSES EQUALS RUNS EQUALS,
           "device 4.1 -1 9 \"A\" \"OK\" 0:159:0.0\n"
           "process 0.0 4711 -1 \"python\"\n");
    expect(write_info,
           "| NPU Name | Health | Power |\n| Chip Device | Bus-Id | AICore |\n"
           "| 5 B | UNKNOWN | 1 |\n" DASHES
           "| 5 B | OK | 1 |\n| 1 1 | 0000:9D:00.0 | 1 |\n" EQUALS
           "| 6 B | UNKNOWN | 1 |\n" EQUALS,
           "device 5.1 1 -1 \"B\" \"OK\" 0:157:0.0\n");
    expect(write_info,
           "| NPU ID | Name | Health | Power |\n|  |  | Bus-Id | HBM |\n"
           "|  |  | NA | 1 |\n+===+\n"
           "| 1 | A | OK | 1 |\n|  |  | NA | 1 |\n+===+\n"
           "|  |  | 0000:9D:00.0 | 1 |\n",
           "device 1.-1 -1 -1 \"A\" \"OK\" -1:-1:-1.-1\n");
}

TEST(a_lone_line_must_be_whole)
{
    static const verdict cases[] = {
        {DEVICES DEVICE "| 0 A | 0000:01:00.0 | 1 |\n", CPUBIND_TEXT_ERR_SYNTAX, 109},
        {DEVICES DEVICE "| 0 1 | 0000:01:00 | 1 |\n", CPUBIND_TEXT_ERR_SYNTAX, 113},
        {DEVICES DEVICE "| 0 1 | 0000:01:00.0 | |\n", CPUBIND_TEXT_ERR_SYNTAX, 128},
        {DEVICES DEVICE "| 0 1 | 0000:01:00.0 |", CPUBIND_TEXT_ERR_CUT, 127},
        {DEVICES "| 0 A | OK | 1 |\n+ 1 more +\n", CPUBIND_TEXT_ERR_SYNTAX, 78},
        {DEVICES "| 0 A | OK | 1 |\n" EQUALS DEVICE EQUALS, CPUBIND_TEXT_ERR_SYNTAX, 78},
        {"| NPU Name | Health | Power |\n| Chip Device | Bus-Id | AICore |\n"
         "| 5 B | OK | 1 |\n+ 1 more +\n",
         CPUBIND_TEXT_ERR_SYNTAX, 81},
    };

    check_verdicts(read_info, cases, LENGTH(cases));
}

TEST(a_health_may_be_any_word_or_none)
{
    expect(write_info,
           DEVICES "| 0 A |  | 1 |\n| 0 0 | NA | 1 |\n"
                   "| 1   | NA | 1 |\n| 0 2 | 0000:00:00.0 | 1 |\n",
           "device 0.0 -1 0 \"A\" \"\" -1:-1:-1.-1\n"
           "device 1.0 -1 2 \"\" \"NA\" 0:0:0.0\n");
}

TEST(tables_without_room_give_the_room_that_they_need)
{
    const int32_t len = (int32_t)strlen(info_a3);
    end_reading(&got);
    assert_int_equal(read_info_cap(&got, info_a3, len, 2, 3), CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.info.n_device, 3);
    assert_int_equal(got.info.n_process, 3);
    end_reading(&got);
    assert_int_equal(read_info_cap(&got, info_a3, len, 3, 2), CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(got.info.n_process, 3);
}

/* == all ==================================================================== */

/* == families =============================================================== */

/* The layout of the tables of a product family. */
typedef struct family {
    const char *name;
    int32_t n_chip;       /* of a card */
    int32_t first_card;   /* the NPU id of the first card */
    int32_t step;         /* from one card's NPU id to the next */
    int32_t wide;         /* 1: NPU ID and Name are two cells, and there is no chip */
    const char *second;   /* the word behind Chip in the header */
    int32_t has_bus;      /* 0: Bus-Id is NA */
    int32_t n_process;    /* cells of the process table; 0: none is printed */
    const char *die_rule; /* between the chips of a card */
} family;

static const family families[] = {
    {"310", 4, 1, 2, 0, "Device", 1, 0, "+-------------------+-----------------+------+\n"},
    {"310P", 1, 33792, 256, 0, "Device", 1, 4, ""},
    {"310P Duo", 2, 1536, 256, 0, "Device", 1, 4, "+-------------------+-----------+----+\n"},
    {"310B", 1, 0, 1, 0, "Device", 0, 0, ""},
    {"910", 1, 0, 1, 0, "", 1, 4, ""},
    {"A2 of 26.x", 1, 4, 2, 0, "", 1, 5, ""},
    {"A3", 2, 0, 1, 0, "Phy-ID", 1, 4, "+----------------------------------------+\n"},
    {"950", 1, 0, 1, 1, "", 1, 4, ""},
    {"950 UB of 26.x", 1, 0, 1, 1, "", 0, 5, ""},
    {"16 chips", 16, 99990, 7, 0, "Device", 1, 4, "+----------+---------+------+\n"},
};

static const char *const process_names[] = {
    "python",
    "",
    "VLLMWorker_TP",
    "a | b",
    "|",
    "x|1|2|",
    "\xe8\xbf\x9b\xe7\xa8\x8b",
    "12",
    "a_name_that_is_wider_than_its_column|",
};

enum { FAMILY_TEXT = 1 << 20, N_NAME = LENGTH(process_names) };

typedef struct writer {
    char *text;
    int32_t len;
} writer;

static void put(writer *w, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(w->text + w->len, (size_t)(FAMILY_TEXT - w->len), format, args);
    va_end(args);
    assert_in_range(n, 0, FAMILY_TEXT - w->len - 1);
    w->len += n;
}

static int32_t family_card(const family *f, int32_t card)
{
    return f->first_card + card * f->step;
}

/* Card 0 is idle, others have one process on the last chip, every third has two. */
static int32_t family_processes(int32_t card)
{
    return card == 0 ? 0 : card % 3 == 0 ? 2 : 1;
}

static void put_device(writer *w, const family *f, int32_t card, int32_t chip)
{
    const int32_t id = family_card(f, card), index = card * f->n_chip + chip;

    if (f->wide)
        put(w, "| %-7d| %-17s| OK            | 99.0   36   0 / 0 |\n|%8s|%18s|", id, "Chip", "",
            "");
    else if (*f->second)
        put(w, "| %-5d %-20s| OK            | -   36   0 / 0 |\n| %-5d %-20d|", id, "Chip",
            chip, index);
    else
        put(w, "| %-5d %-20s| OK            | 99.0   36   0 / 0 |\n| %-26d|", id, "Chip", chip);
    if (f->has_bus)
        put(w, " 0000:%02X:1F.7  | 0   0    / 0    62336/ 65536 |\n", index & 0xff);
    else
        put(w, " NA            | 0   0    / 0    3130 / 65536 |\n");
}

static void put_devices(writer *w, const family *f, int32_t n_card)
{
    put(w, "+--------------------------------------------------+\n"
           "| npu-smi 25.9.0           Version: 25.9.0         |\n"
           "+------------------+---------------+---------------+\n");
    if (f->wide)
        put(w, "| NPU ID | Name  | Health        | Power(W)  |\n"
               "|        |       | Bus-Id        | HBM-Usage |\n");
    else
        put(w,
            "| NPU   Name     | Health        | Power(W)  |\n"
            "| Chip  %-9s| Bus-Id        | AICore(%%) |\n",
            f->second);
    put(w, "+==================+===============+===============+\n");
    for (int32_t card = 0; card < n_card; card++) {
        for (int32_t chip = 0; chip < f->n_chip; chip++)
            put(w, "%s", chip > 0 ? f->die_rule : ""), put_device(w, f, card, chip);
        put(w, "+==================+===============+===============+\n");
    }
}

static void put_processes(writer *w, const family *f, int32_t n_card)
{
    int32_t n = 0;

    put(w, "+------------------+---------------+---------------+\n");
    put(w, "| %-17s| Process id | Process name | Process memory(MB) |%s\n",
        f->wide ? "NPU ID" : "NPU     Chip", f->n_process == 5 ? " In container |" : "");
    put(w, "+==================+===============+===============+\n");
    for (int32_t card = 0; card < n_card; card++) {
        for (int32_t i = 0; i < family_processes(card); i++, n++) {
            put(w, "| %-7d ", family_card(f, card));
            put(w, f->wide ? "          " : "%-10d", f->n_chip - 1);
            put(w, "| %-11d| %-13s | %-19d|", 4000 + n, process_names[n % N_NAME], n);
            put(w, f->n_process == 5 ? n % 2 ? " NA           |\n" : " %-13d|\n" : "\n",
                70 + n);
        }
        if (family_processes(card) == 0)
            put(w, "| No running processes found in NPU %-7d        |\n", family_card(f, card));
        put(w, "+==================+===============+===============+\n");
    }
}

static void put_family(writer *w, const family *f, int32_t n_card)
{
    w->text = (char *)malloc(FAMILY_TEXT);
    w->len = 0;
    assert_non_null(w->text);
    put_devices(w, f, n_card);
    if (f->n_process > 0)
        put_processes(w, f, n_card);
}

static void check_family_devices(const reading *r, const family *f)
{
    for (int32_t i = 0; i < r->info.n_device; i++) {
        const int32_t is_phy = strcmp(f->second, "Phy-ID") == 0;

        check_device(r, i, family_card(f, i / f->n_chip), f->wide ? -1 : i % f->n_chip,
                     *f->second && !is_phy ? i : -1, is_phy ? i : -1, "Chip", "OK");
        if (f->has_bus)
            check_pci(r, i, 0, i & 0xff, 0x1f, 7);
        else
            check_pci(r, i, -1, -1, -1, -1);
    }
}

static void check_family_processes(const reading *r, const family *f, int32_t n_card)
{
    int32_t n = 0;

    for (int32_t card = 0; card < n_card && f->n_process > 0; card++)
        for (int32_t i = 0; i < family_processes(card); i++, n++)
            check_process(r, n, family_card(f, card), f->wide ? -1 : f->n_chip - 1, 4000 + n,
                          f->n_process == 5 && n % 2 == 0 ? 70 + n : -1,
                          process_names[n % N_NAME]);
    assert_int_equal(r->info.n_process, n);
}

/* The devices alone are the same; the array of processes is not looked at. */
static void check_devices_alone(const writer *w, const reading *r)
{
    const size_t bytes = (size_t)r->info.n_device * sizeof(cpubind_npusmi_device);
    cpubind_npusmi_info info = {.cap_device = r->info.n_device, .cap_process = INT32_MAX};

    info.device = (cpubind_npusmi_device *)malloc(bytes);
    assert_non_null(info.device);
    assert_int_equal(cpubind_npusmi_parse_devices(w->text, w->len, &info, NULL),
                     CPUBIND_TEXT_OK);
    assert_int_equal(info.n_device, r->info.n_device);
    assert_int_equal(info.n_process, 0);
    assert_memory_equal(info.device, r->info.device, bytes);
    free(info.device);
}

/* Up to 64 cards, with 1 to 16 chips each. */
TEST(every_family_is_read)
{
    for (int32_t i = 0; i < LENGTH(families); i++) {
        const family *f = &families[i];

        for (int32_t n_card = 1; n_card <= 64; n_card = n_card * 3 + 1) {
            const int32_t n = n_card > 64 / 2 ? 64 : n_card;
            writer w;
            put_family(&w, f, n);
            if (take_some(read_info, w.text, w.len) != CPUBIND_TEXT_OK)
                fail_msg("%s: %s at %d", f->name, got.fault.what, got.fault.offset);
            assert_true(slice_is(&got, got.info.version, "25.9.0"));
            assert_int_equal(got.info.n_device, n * f->n_chip);
            assert_int_equal(got.info.has_process_table, f->n_process > 0);
            check_family_devices(&got, f);
            check_family_processes(&got, f, n);
            check_devices_alone(&w, &got);
            free(w.text);
        }
    }
}

/* == all ==================================================================== */

static int same_slices(cpubind_slice a, cpubind_slice b)
{
    return a.len == b.len && (a.len == 0 || a.at == b.at);
}

static int same_readings(const reading *a, const reading *b)
{
    const cpubind_npusmi_topo *s = &a->topo, *t = &b->topo;
    const cpubind_npusmi_info *u = &a->info, *v = &b->info;

    if (a->status != b->status || a->n_chip != b->n_chip || s->n_row != t->n_row ||
        s->n_cpu != t->n_cpu || u->n_device != v->n_device || u->n_process != v->n_process ||
        u->has_process_table != v->has_process_table || !same_slices(u->version, v->version))
        return 0;
    return (!a->chip || !memcmp(a->chip, b->chip, (size_t)a->n_chip * sizeof *a->chip)) &&
           (!s->row || !memcmp(s->row, t->row, (size_t)s->n_row * sizeof *s->row)) &&
           (!s->cpu || !memcmp(s->cpu, t->cpu, (size_t)s->n_cpu * sizeof *s->cpu)) &&
           (!u->device ||
            !memcmp(u->device, v->device, (size_t)u->n_device * sizeof *u->device)) &&
           (!u->process ||
            !memcmp(u->process, v->process, (size_t)u->n_process * sizeof *u->process));
}

static int reads_like(reader_fn *read, const reading *r, const char *text, int32_t len)
{
    reading other;
    int same;

    (void)read(&other, text, len);
    same = same_readings(r, &other);
    end_reading(&other);
    return same;
}

/* Cut at each byte from `from` on, the text is refused, or reads as without the line that was
 * cut, or as with the whole line. */
static void check_cuts(reader_fn *read, const char *text, int32_t len, int32_t from)
{
    int32_t start = from;

    for (int32_t n = from; n <= len; n++) {
        const char *feed = (const char *)memchr(text + n, '\n', (size_t)(len - n));
        const int32_t next = feed ? (int32_t)(feed - text) + 1 : len;
        reading r;

        if (n > 0 && text[n - 1] == '\n')
            start = n;
        if (read(&r, text, n) == CPUBIND_TEXT_OK && !reads_like(read, &r, text, start) &&
            !reads_like(read, &r, text, next))
            fail_msg("cut at %d: %.*s", n, n - start, text + start);
        end_reading(&r);
    }
}

/* Not info_container: its last name holds what looks like the cells of a shorter row. */
TEST(a_cut_at_any_byte_is_detected_or_loses_whole_lines)
{
    static const sample topos[] = {SAMPLE(topo_a2), SAMPLE(topo_stripped), SAMPLE(topo_a3_nic)};
    static const sample infos[] = {SAMPLE(info_a3), SAMPLE(info_a2), SAMPLE(info_310p),
                                   SAMPLE(info_950), SAMPLE(info_chinese)};

    for (int32_t i = 0; i < LENGTH(topos); i++)
        check_cuts(read_topo, topos[i].text, topos[i].len, 0);
    for (int32_t i = 0; i < LENGTH(infos); i++)
        check_cuts(read_info, infos[i].text, infos[i].len, 0);
}

/* Of a first chip the ids are whole, but a name that was cut looks like a shorter one. */
TEST(a_cut_map_is_detected_or_loses_whole_lines)
{
    static const sample maps[] = {SAMPLE(map_a2), SAMPLE(map_a3), SAMPLE(map_950),
                                  SAMPLE(map_310)};

    for (int32_t i = 0; i < LENGTH(maps); i++) {
        reading whole;
        int32_t second = 0;

        assert_int_equal(read_map(&whole, maps[i].text, maps[i].len), CPUBIND_TEXT_OK);
        second = whole.chip[0].name.at + whole.chip[0].name.len;
        for (int32_t n = 0; n < second; n++) {
            reading r;

            if (read_map(&r, maps[i].text, n) == CPUBIND_TEXT_OK) {
                whole.chip[0].name.len = r.chip[0].name.len;
                assert_int_equal(r.n_chip, 1);
                assert_memory_equal(r.chip, whole.chip, sizeof *r.chip);
            }
            end_reading(&r);
        }
        check_cuts(read_map, maps[i].text, maps[i].len, second);
        end_reading(&whole);
    }
}

TEST(a_cut_family_is_detected_or_loses_whole_lines)
{
    for (int32_t i = 0; i < LENGTH(families); i++) {
        writer w;

        put_family(&w, &families[i], families[i].n_chip > 4 ? 1 : 3);
        check_cuts(read_info, w.text, w.len, 0);
        free(w.text);
    }
}

/* The longest lists of labels and chips that are accepted, and one more. */
TEST(more_devices_than_the_limit_are_refused)
{
    enum { CAP = 1 << 20 };
    char *text = (char *)malloc(CAP);

    assert_non_null(text);
    for (int32_t n = CPUBIND_MAX_DEVICES; n <= CPUBIND_MAX_DEVICES + 1; n++) {
        int32_t map_len = 0, topo_len = 0;
        map_len += snprintf(text, CAP, HEADER);
        for (int32_t i = n; i > 0; i--)
            map_len += snprintf(text + map_len, (size_t)(CAP - map_len), "%d 0 %d x\n", i, i);
        assert_int_equal(take_some(read_map, text, map_len),
                         n > CPUBIND_MAX_DEVICES ? CPUBIND_TEXT_ERR_RANGE : CPUBIND_TEXT_OK);
        for (int32_t i = n; i > 0; i--)
            topo_len += snprintf(text + topo_len, (size_t)(CAP - topo_len), "NPU%d ", i);
        assert_int_equal(take_some(read_topo, text, topo_len), n > CPUBIND_MAX_DEVICES
                                                                   ? CPUBIND_TEXT_ERR_RANGE
                                                                   : CPUBIND_TEXT_ERR_MISSING);
    }
    free(text);
}

TEST(bad_arguments_are_refused)
{
    cpubind_npusmi_chip chip;
    cpubind_npusmi_topo topo;
    cpubind_npusmi_info info;
    cpubind_npusmi_map map = {&chip, 1, 7, 7, 7, {7, 7}};
    cpubind_npusmi_map no_array = {NULL, 1, 7, 7, 7, {7, 7}};

    memset(&topo, 0, sizeof topo);
    memset(&info, 0, sizeof info);
    assert_int_equal(cpubind_npusmi_parse_map(NULL, 1, &map, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_map("", 0, &no_array, NULL), CPUBIND_TEXT_ERR_ARG);
    map.cap_chip = -1;
    assert_int_equal(cpubind_npusmi_parse_map("", 0, &map, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_map("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_topo("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_info("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    topo.cap_cpu = 1;
    info.cap_device = 1;
    assert_int_equal(cpubind_npusmi_parse_topo("", 0, &topo, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_info("", 0, &info, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(map.n_chip + no_array.n_chip, 14);
    assert_int_equal(map.has_logic + map.unknown.at + map.unknown.len, 21);
}

int main(void)
{
    return run_registered("npusmi", NULL, forget);
}
