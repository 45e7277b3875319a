/* test_npusmi.c - `npu-smi info -m`, `info -t topo` and `info`
 * SPDX-License-Identifier: MIT
 */
#include "readers.h"
#include "samples.h"

#define READ(reader, r, text) reader((r), (text), (int32_t)strlen(text))

/* A text, and what a reader says of it. */
typedef struct refused {
    const char *text;
    cpubind_text_status status;
    int32_t offset;
} refused;

typedef cpubind_text_status reader(reading *r, const char *text, int32_t len);

static void check_refused(reader *read, const refused *cases, int32_t n)
{
    int32_t n_wrong = 0;

    for (int32_t i = 0; i < n; i++) {
        reading r;

        if (READ(read, &r, cases[i].text) != cases[i].status ||
            r.fault.offset != cases[i].offset) {
            print_error("%s\n-- %s, \"%s\" at %d\n", cases[i].text,
                        cpubind_text_status_name(r.status), r.fault.what ? r.fault.what : "",
                        r.fault.offset);
            n_wrong++;
        }
        end_reading(&r);
    }
    assert_int_equal(n_wrong, 0);
}

/* == refusals =============================================================== */

static void known_refusals_are_recognised(void **state)
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

    (void)state;
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

static void a_refusal_is_no_table(void **state)
{
    static const refused cases[] = {
        {"There is no NPU card on this server.\n", CPUBIND_TEXT_ERR_REFUSED, 0},
        {"DrvMng failed. (ret=4)\ndcmi module initialize failed. ret is -8005\n",
         CPUBIND_TEXT_ERR_REFUSED, 23},
    };

    (void)state;
    check_refused(read_map, cases, LENGTH(cases));
    check_refused(read_topo, cases, LENGTH(cases));
    check_refused(read_info, cases, LENGTH(cases));
}

/* == info -m ================================================================ */

static void check_chip(const reading *r, int32_t i, int32_t card, int32_t chip, int32_t logic,
                       int32_t phy, const char *name)
{
    assert_int_equal(r->chip[i].card, card);
    assert_int_equal(r->chip[i].chip, chip);
    assert_int_equal(r->chip[i].logic, logic);
    assert_int_equal(r->chip[i].phy, phy);
    assert_true(slice_is(r, r->chip[i].name, name));
}

static void chips_keep_their_ids_apart(void **state)
{
    reading r;

    (void)state;
    assert_int_equal(READ(read_map, &r, map_a2), CPUBIND_TEXT_OK);
    assert_int_equal(r.n_chip, 2);
    check_chip(&r, 0, 3, 0, 0, -1, "Ascend 910B2");
    check_chip(&r, 1, 5, 0, 1, -1, "Ascend 910B2");
    end_reading(&r);

    assert_int_equal(READ(read_map, &r, map_a3), CPUBIND_TEXT_OK);
    assert_int_equal(r.n_chip, 2);
    check_chip(&r, 0, 2, 0, 0, 4, "Ascend910");
    check_chip(&r, 1, 2, 1, 1, 5, "Ascend910");
    end_reading(&r);

    assert_int_equal(READ(read_map, &r, map_310), CPUBIND_TEXT_OK);
    assert_int_equal(r.n_chip, 2);
    check_chip(&r, 1, 2, 1, 1, -1, "MiniD");
    end_reading(&r);
}

static void a_950_has_no_logic_id(void **state)
{
    reading r;

    (void)state;
    assert_int_equal(READ(read_map, &r, map_950), CPUBIND_TEXT_OK);
    assert_int_equal(r.n_chip, 2);
    check_chip(&r, 0, 0, 0, -1, 0, "Ascend950PR");
    check_chip(&r, 1, 1, 0, -1, 1, "Ascend950PR");
    end_reading(&r);
}

static void columns_of_ids_may_stand_in_any_order(void **state)
{
    reading r;

    (void)state;
    assert_int_equal(READ(read_map, &r,
                          "Chip Phy-ID  Chip Logic ID  Chip ID  NPU ID  Chip Name\n"
                          "7 6 1 3 Ascend  910 \n8 MCU 2 3 Mcu\nNA 5 1 4 x"),
                     CPUBIND_TEXT_OK);
    assert_int_equal(r.n_chip, 2);
    check_chip(&r, 0, 3, 1, 6, 7, "Ascend  910");
    check_chip(&r, 1, 4, 1, 5, -1, "x");
    end_reading(&r);
}

#define HEADER "NPU ID  Chip ID  Chip Logic ID  Chip Name\n" /* 42 bytes */

static void other_maps_are_refused_where_they_go_wrong(void **state)
{
    static const refused cases[] = {
        {"", CPUBIND_TEXT_ERR_MISSING, 0},
        {"hello\n", CPUBIND_TEXT_ERR_MISSING, 6},
        {HEADER, CPUBIND_TEXT_ERR_MISSING, 42},
        {HEADER "0 1 - Mcu\n", CPUBIND_TEXT_ERR_MISSING, 52},
        {"0 0 0 x\n" HEADER, CPUBIND_TEXT_ERR_SYNTAX, 0},
        {"noise\n\t0 0 0 x\n" HEADER "0 0 0 x\n", CPUBIND_TEXT_ERR_SYNTAX, 7},
        {HEADER HEADER, CPUBIND_TEXT_ERR_SYNTAX, 42},
        {HEADER "0 0 0\n", CPUBIND_TEXT_ERR_SYNTAX, 47},
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
        {HEADER "0 0 0 x\n0 0 1 x\n", CPUBIND_TEXT_ERR_SYNTAX, 50},
        {HEADER "1 0 0 x\n0 0 1 x\n1 0 2 x\n", CPUBIND_TEXT_ERR_SYNTAX, 58},
        {"NPU ID  NPU ID  Chip ID  Chip Name\n", CPUBIND_TEXT_ERR_SYNTAX, 8},
        {"NPU ID  Chip ID  Weight  Chip Name\n", CPUBIND_TEXT_ERR_SYNTAX, 17},
        {"NPU ID  Chip Logic ID  Chip Name\n", CPUBIND_TEXT_ERR_SYNTAX, 32},
        {"NPU ID  Chip ID", CPUBIND_TEXT_ERR_CUT, 15},
        {"NPU ID  Chip ID  Chip Name  Chip Logic ID\n", CPUBIND_TEXT_ERR_SYNTAX, 0},
    };

    (void)state;
    check_refused(read_map, cases, LENGTH(cases));
}

static void a_map_without_room_says_how_much_it_needs(void **state)
{
    reading r;

    (void)state;
    assert_int_equal(read_map_cap(&r, map_a3, (int32_t)strlen(map_a3), 1),
                     CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(r.n_chip, 2);
    end_reading(&r);
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

static void affinities_belong_to_the_label_of_their_row(void **state)
{
    static const int32_t first[] = {0, 1, 2, 3, 16, 17, 18, 19},
                         second[] = {4, 6, 20, 21, 22, 23};
    reading r;

    (void)state;
    assert_int_equal(READ(read_topo, &r, topo_a2), CPUBIND_TEXT_OK);
    assert_int_equal(r.topo.n_row, 4);
    assert_int_equal(r.topo.n_cpu, 96);
    assert_int_equal(r.topo.label, CPUBIND_NPUSMI_LABEL_CARD);
    assert_int_equal(r.topo.has_affinity, 1);
    assert_int_equal(r.topo.cpu[r.topo.row[0].first], 72);
    assert_int_equal(r.topo.cpu[r.topo.row[1].first], 0);
    assert_int_equal(r.topo.cpu[r.topo.row[3].first + 23], 47);
    end_reading(&r);

    assert_int_equal(READ(read_topo, &r, topo_stripped), CPUBIND_TEXT_OK);
    assert_int_equal(r.topo.n_row, 2);
    check_affinity(&r, 0, 4, 8, first);
    check_affinity(&r, 1, 6, 6, second);
    end_reading(&r);
}

static void nics_are_left_out(void **state)
{
    reading r;

    (void)state;
    assert_int_equal(READ(read_topo, &r, topo_a3_nic), CPUBIND_TEXT_OK);
    assert_int_equal(r.topo.n_row, 2);
    assert_int_equal(r.topo.n_cpu, 0);
    assert_int_equal(r.topo.label, CPUBIND_NPUSMI_LABEL_PHY);
    assert_int_equal(r.topo.has_affinity, 0);
    check_affinity(&r, 0, 2, 0, NULL);
    check_affinity(&r, 1, 3, 0, NULL);
    end_reading(&r);
}

static void one_npu_is_a_matrix_too(void **state)
{
    static const int32_t cpus[] = {8, 9};
    reading r;

    (void)state;
    assert_int_equal(READ(read_topo, &r, "\t   NPU5       CPU Affinity\nNPU5  X  8-9\n"),
                     CPUBIND_TEXT_OK);
    check_affinity(&r, 0, 5, 2, cpus);
    end_reading(&r);
    assert_int_equal(READ(read_topo, &r, "Phy-ID3\nPhy-ID3 X"), CPUBIND_TEXT_OK);
    check_affinity(&r, 0, 3, 0, NULL);
    end_reading(&r);
}

static void rows_may_stand_in_any_order_and_cells_of_no_cpu_are_empty(void **state)
{
    static const int32_t cpus[] = {1};
    reading r;

    (void)state;
    assert_int_equal(
        READ(read_topo, &r,
             "NPU0 NPU1 NIC0 CPU Affinity\nNPU1 A X A 1\nNIC0 A A X\nNPU0 X A A\n"),
        CPUBIND_TEXT_OK);
    assert_int_equal(r.topo.n_row, 2);
    check_affinity(&r, 0, 1, 1, cpus);
    check_affinity(&r, 1, 0, 0, NULL);
    end_reading(&r);
}

#define MATRIX "NPU0 NPU1 CPU Affinity\n" /* 23 bytes */

static void other_matrices_are_refused_where_they_go_wrong(void **state)
{
    static const refused cases[] = {
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
        {MATRIX "NPU0 X A A 1\n", CPUBIND_TEXT_ERR_SYNTAX, 32},
        {MATRIX "NPU0 X A 1 2\n", CPUBIND_TEXT_ERR_SYNTAX, 34},
        {MATRIX "NPU0 X A 1,\n", CPUBIND_TEXT_ERR_SYNTAX, 34},
        {MATRIX "NPU0 X A 3-1\n", CPUBIND_TEXT_ERR_ORDER, 34},
        {MATRIX "NPU0 X A 65536\n", CPUBIND_TEXT_ERR_RANGE, 32},
        {MATRIX "NPU0 X A 1\nNPU1 A", CPUBIND_TEXT_ERR_CUT, 40},
        {MATRIX "NPU0 X A 1\nNPU1", CPUBIND_TEXT_ERR_CUT, 38},
        {MATRIX "NPU0 X A 1\nNPU1 A X", CPUBIND_TEXT_ERR_CUT, 42},
        {MATRIX MATRIX, CPUBIND_TEXT_ERR_SYNTAX, 23},
        {"NPU0 NPU0\n", CPUBIND_TEXT_ERR_SYNTAX, 5},
        {"NPU0 Phy-ID1\n", CPUBIND_TEXT_ERR_SYNTAX, 5},
        {"NPU0 NPU1 CPU\n", CPUBIND_TEXT_ERR_SYNTAX, 10},
        {"NPU0 NPU1 CPU Affinity NPU2\n", CPUBIND_TEXT_ERR_SYNTAX, 10},
        {"NPU0 NPU1 GPU0\n", CPUBIND_TEXT_ERR_SYNTAX, 10},
        {MATRIX "NPU0 X A 1\nFailed to query \"topo\" info.\n", CPUBIND_TEXT_ERR_REFUSED, 34},
    };

    (void)state;
    check_refused(read_topo, cases, LENGTH(cases));
}

static void a_matrix_without_room_says_how_much_it_needs(void **state)
{
    const int32_t len = (int32_t)strlen(topo_a2);
    reading r;

    (void)state;
    assert_int_equal(read_topo_cap(&r, topo_a2, len, 4, 95), CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(r.topo.n_row, 4);
    assert_int_equal(r.topo.n_cpu, 96);
    end_reading(&r);
    assert_int_equal(read_topo_cap(&r, topo_a2, len, 3, 96), CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(r.topo.n_row, 4);
    end_reading(&r);
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

static void both_tables_of_an_a3_are_read(void **state)
{
    reading r;

    (void)state;
    assert_int_equal(READ(read_info, &r, info_a3), CPUBIND_TEXT_OK);
    assert_true(slice_is(&r, r.info.version, "25.4.0"));
    assert_int_equal(r.info.n_device, 3);
    check_device(&r, 0, 4, 0, -1, 8, "Ascend910", "OK");
    check_pci(&r, 0, 0, 0x8d, 0, 0);
    check_device(&r, 1, 4, 1, -1, 9, "Ascend910", "Warning");
    check_pci(&r, 1, 1, 0xaf, 0x1f, 7);
    check_device(&r, 2, 6, 0, -1, 12, "Ascend910", "OK");
    check_pci(&r, 2, -1, -1, -1, -1);
    assert_int_equal(r.info.has_process_table, 1);
    assert_int_equal(r.info.n_process, 3);
    check_process(&r, 0, 4, 0, 31337, -1, "VLLMWorker_TP");
    check_process(&r, 1, 4, 1, 31338, -1, "");
    check_process(&r, 2, 4, 1, 31339, -1, "a | b c");
    end_reading(&r);
}

static void a_table_without_rules_and_processes_is_read(void **state)
{
    reading r;

    (void)state;
    assert_int_equal(READ(read_info, &r, info_a2), CPUBIND_TEXT_OK);
    assert_int_equal(r.info.version.len, 0);
    assert_int_equal(r.info.n_device, 2);
    assert_int_equal(r.info.n_process, 0);
    assert_int_equal(r.info.has_process_table, 0);
    check_device(&r, 1, 7, 0, -1, -1, "910B2", "OK");
    end_reading(&r);
}

static void the_device_column_of_a_310p_is_the_logic_id(void **state)
{
    reading r;

    (void)state;
    assert_int_equal(READ(read_info, &r, info_310p), CPUBIND_TEXT_OK);
    assert_int_equal(r.info.n_device, 2);
    check_device(&r, 1, 512, 1, 1, -1, "310P3", "OK");
    end_reading(&r);
}

static void a_950_has_no_chips(void **state)
{
    reading r;

    (void)state;
    assert_int_equal(READ(read_info, &r, info_950), CPUBIND_TEXT_OK);
    assert_int_equal(r.info.n_device, 2);
    check_device(&r, 0, 0, 0, -1, -1, "Ascend950PR", "OK");
    check_device(&r, 1, 1, 0, -1, -1, "", "Alarm");
    check_pci(&r, 1, -1, -1, -1, -1);
    assert_int_equal(r.info.n_process, 1);
    check_process(&r, 0, 1, -1, 1530715, -1, "python");
    end_reading(&r);
}

static void pids_in_the_container_are_read(void **state)
{
    reading r;

    (void)state;
    assert_int_equal(READ(read_info, &r, info_container), CPUBIND_TEXT_OK);
    assert_int_equal(r.info.n_device, 0);
    assert_int_equal(r.info.n_process, 3);
    check_process(&r, 0, 0, 0, 1732754, 87, "python");
    check_process(&r, 1, 0, 0, 1732755, -1, "");
    check_process(&r, 2, 0, 1, 1732756, 90, "x|1|2|");
    end_reading(&r);
}

static void translated_words_do_not_matter(void **state)
{
    reading r;

    (void)state;
    assert_int_equal(READ(read_info, &r, info_chinese), CPUBIND_TEXT_OK);
    assert_int_equal(r.info.n_device, 1);
    assert_int_equal(r.info.n_process, 1);
    check_process(&r, 0, 0, 0, 4711, -1, "python");
    end_reading(&r);
}

/* Whether the second number is a phy id or a logic id is said by the header alone. */
static void devices_without_a_header_have_no_second_id(void **state)
{
    reading r;

    (void)state;
    assert_int_equal(READ(read_info, &r,
                          "| 1  Ascend910 | OK | - 44 0 / 0 |\n"
                          "| 1  3 | 0000:9B:00.0 | 15 0 / 0 62308/ 65536 |\n"),
                     CPUBIND_TEXT_OK);
    assert_int_equal(r.info.n_device, 1);
    check_device(&r, 0, 1, 1, -1, -1, "Ascend910", "OK");
    end_reading(&r);
}

#define DEVICES   "| NPU Name | Health | Power |\n| Chip Phy-ID | Bus-Id | HBM |\n" /* 61 */
#define DEVICE    "| 0 A | OK | 1 |\n| 0 0 | 0000:01:00.0 | 1 |\n"                  /* 44 */
#define PROCESSES "| NPU Chip | Process id | Process name | Process memory(MB) |\n" /* 62 */

static void other_tables_are_refused_where_they_go_wrong(void **state)
{
    static const refused cases[] = {
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
        {PROCESSES "| 0 0 0 | 4 | python | 1 |\n", CPUBIND_TEXT_ERR_SYNTAX, 67},
        {PROCESSES "| 0 0 | 2147483648 | p | 1 |\n", CPUBIND_TEXT_ERR_RANGE, 70},
        {"| a | b |\n", CPUBIND_TEXT_ERR_SYNTAX, 2},
        {"|", CPUBIND_TEXT_ERR_CUT, 1},
    };

    (void)state;
    check_refused(read_info, cases, LENGTH(cases));
}

static void tables_without_room_say_how_much_they_need(void **state)
{
    const int32_t len = (int32_t)strlen(info_a3);
    reading r;

    (void)state;
    assert_int_equal(read_info_cap(&r, info_a3, len, 2, 3), CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(r.info.n_device, 3);
    assert_int_equal(r.info.n_process, 3);
    end_reading(&r);
    assert_int_equal(read_info_cap(&r, info_a3, len, 3, 2), CPUBIND_TEXT_ERR_SPACE);
    assert_int_equal(r.info.n_process, 3);
    end_reading(&r);
}

/* == all ==================================================================== */

/* What a prefix reads must be what the whole reads, up to a last number or name that is cut. */
static void every_prefix_of_a_map_agrees_with_the_whole(void **state)
{
    static const sample maps[] = {SAMPLE(map_a2), SAMPLE(map_a3), SAMPLE(map_950),
                                  SAMPLE(map_310)};

    (void)state;
    for (int32_t i = 0; i < LENGTH(maps); i++) {
        reading whole;

        assert_int_equal(read_map(&whole, maps[i].text, maps[i].len), CPUBIND_TEXT_OK);
        for (int32_t len = 0; len < maps[i].len; len++) {
            reading r;

            if (read_map(&r, maps[i].text, len) == CPUBIND_TEXT_OK) {
                assert_in_range(r.n_chip, 1, whole.n_chip);
                for (int32_t k = 0; k < r.n_chip; k++) {
                    assert_int_equal(r.chip[k].card, whole.chip[k].card);
                    assert_int_equal(r.chip[k].chip, whole.chip[k].chip);
                    assert_int_equal(r.chip[k].logic, whole.chip[k].logic);
                    assert_int_equal(r.chip[k].phy, whole.chip[k].phy);
                }
            }
            end_reading(&r);
        }
        end_reading(&whole);
    }
}

static void every_prefix_of_a_matrix_has_all_rows_or_is_a_fault(void **state)
{
    static const sample topos[] = {SAMPLE(topo_a2), SAMPLE(topo_stripped), SAMPLE(topo_a3_nic)};

    (void)state;
    for (int32_t i = 0; i < LENGTH(topos); i++) {
        reading whole;

        assert_int_equal(read_topo(&whole, topos[i].text, topos[i].len), CPUBIND_TEXT_OK);
        for (int32_t len = 0; len < topos[i].len; len++) {
            reading r;

            if (read_topo(&r, topos[i].text, len) == CPUBIND_TEXT_OK) {
                assert_int_equal(r.topo.n_row, whole.topo.n_row);
                for (int32_t k = 0; k < r.topo.n_row; k++)
                    assert_int_equal(r.topo.row[k].id, whole.topo.row[k].id);
                for (int32_t k = 0; k + 1 < r.topo.n_row; k++)
                    assert_int_equal(r.topo.row[k].count, whole.topo.row[k].count);
            }
            end_reading(&r);
        }
        end_reading(&whole);
    }
}

static void every_prefix_of_an_info_agrees_with_the_whole(void **state)
{
    static const sample infos[] = {SAMPLE(info_a3),        SAMPLE(info_a2),
                                   SAMPLE(info_310p),      SAMPLE(info_950),
                                   SAMPLE(info_container), SAMPLE(info_chinese)};

    (void)state;
    for (int32_t i = 0; i < LENGTH(infos); i++) {
        reading whole;

        assert_int_equal(read_info(&whole, infos[i].text, infos[i].len), CPUBIND_TEXT_OK);
        for (int32_t len = 0; len < infos[i].len; len++) {
            reading r;

            if (read_info(&r, infos[i].text, len) == CPUBIND_TEXT_OK) {
                assert_in_range(r.info.n_device, 0, whole.info.n_device);
                assert_in_range(r.info.n_process, 0, whole.info.n_process);
                if (r.info.n_device > 0)
                    assert_memory_equal(r.info.device, whole.info.device,
                                        (size_t)r.info.n_device * sizeof *r.info.device);
                for (int32_t k = 0; k < r.info.n_process; k++) {
                    assert_int_equal(r.info.process[k].card, whole.info.process[k].card);
                    assert_int_equal(r.info.process[k].pid, whole.info.process[k].pid);
                }
            }
            end_reading(&r);
        }
        end_reading(&whole);
    }
}

/* The longest lists of labels and chips that are accepted, and one more. */
static void more_devices_than_the_limit_are_refused(void **state)
{
    enum { CAP = 1 << 20 };
    char *text = (char *)malloc(CAP);

    (void)state;
    assert_non_null(text);
    for (int32_t n = CPUBIND_MAX_DEVICES; n <= CPUBIND_MAX_DEVICES + 1; n++) {
        int32_t map_len = 0, topo_len = 0;
        reading r;

        map_len += snprintf(text, CAP, HEADER);
        for (int32_t i = n; i > 0; i--)
            map_len += snprintf(text + map_len, (size_t)(CAP - map_len), "%d 0 0 x\n", i);
        assert_int_equal(read_map(&r, text, map_len),
                         n > CPUBIND_MAX_DEVICES ? CPUBIND_TEXT_ERR_RANGE : CPUBIND_TEXT_OK);
        end_reading(&r);
        for (int32_t i = n; i > 0; i--)
            topo_len += snprintf(text + topo_len, (size_t)(CAP - topo_len), "NPU%d ", i);
        assert_int_equal(read_topo(&r, text, topo_len), n > CPUBIND_MAX_DEVICES
                                                            ? CPUBIND_TEXT_ERR_RANGE
                                                            : CPUBIND_TEXT_ERR_MISSING);
        end_reading(&r);
    }
    free(text);
}

static void bad_arguments_are_refused(void **state)
{
    cpubind_npusmi_chip chip;
    cpubind_npusmi_topo topo;
    cpubind_npusmi_info info;
    int32_t n = 7;

    (void)state;
    memset(&topo, 0, sizeof topo);
    memset(&info, 0, sizeof info);
    assert_int_equal(cpubind_npusmi_parse_map(NULL, 1, &chip, 1, &n, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_map("", 0, NULL, 1, &n, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_map("", 0, &chip, -1, &n, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_map("", 0, &chip, 1, NULL, NULL),
                     CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_topo("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_info("", 0, NULL, NULL), CPUBIND_TEXT_ERR_ARG);
    topo.cap_cpu = 1;
    info.cap_device = 1;
    assert_int_equal(cpubind_npusmi_parse_topo("", 0, &topo, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(cpubind_npusmi_parse_info("", 0, &info, NULL), CPUBIND_TEXT_ERR_ARG);
    assert_int_equal(n, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_refusals_are_recognised),
        cmocka_unit_test(a_refusal_is_no_table),
        cmocka_unit_test(chips_keep_their_ids_apart),
        cmocka_unit_test(a_950_has_no_logic_id),
        cmocka_unit_test(columns_of_ids_may_stand_in_any_order),
        cmocka_unit_test(other_maps_are_refused_where_they_go_wrong),
        cmocka_unit_test(a_map_without_room_says_how_much_it_needs),
        cmocka_unit_test(affinities_belong_to_the_label_of_their_row),
        cmocka_unit_test(nics_are_left_out),
        cmocka_unit_test(one_npu_is_a_matrix_too),
        cmocka_unit_test(rows_may_stand_in_any_order_and_cells_of_no_cpu_are_empty),
        cmocka_unit_test(other_matrices_are_refused_where_they_go_wrong),
        cmocka_unit_test(a_matrix_without_room_says_how_much_it_needs),
        cmocka_unit_test(both_tables_of_an_a3_are_read),
        cmocka_unit_test(a_table_without_rules_and_processes_is_read),
        cmocka_unit_test(the_device_column_of_a_310p_is_the_logic_id),
        cmocka_unit_test(a_950_has_no_chips),
        cmocka_unit_test(pids_in_the_container_are_read),
        cmocka_unit_test(translated_words_do_not_matter),
        cmocka_unit_test(devices_without_a_header_have_no_second_id),
        cmocka_unit_test(other_tables_are_refused_where_they_go_wrong),
        cmocka_unit_test(tables_without_room_say_how_much_they_need),
        cmocka_unit_test(every_prefix_of_a_map_agrees_with_the_whole),
        cmocka_unit_test(every_prefix_of_a_matrix_has_all_rows_or_is_a_fault),
        cmocka_unit_test(every_prefix_of_an_info_agrees_with_the_whole),
        cmocka_unit_test(more_devices_than_the_limit_are_refused),
        cmocka_unit_test(bad_arguments_are_refused),
    };

    return cmocka_run_group_tests_name("npusmi", tests, NULL, NULL);
}
