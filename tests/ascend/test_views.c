/* test_views.c - the inputs of random views of random hosts: every text can be read
 * SPDX-License-Identifier: MIT
 *
 * The readers find in a generated text what the view has: ids, addresses, CPUs, processes.
 */
#include <stdio.h>

#include "../support/cmocka_test.h"
#include "random_view.h"

#include "../../adapters/ascend/driver_files.h"
#include "../../adapters/text/interrupts.h"

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The bytes of a case, from its seed. */
static void fill(uint64_t seed, uint8_t *bytes)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int32_t i = 0; i < 4; i++)
        (void)next_random(&state);
    for (int32_t i = 0; i < LAW_BYTES; i++)
        bytes[i] = (uint8_t)(next_random(&state) >> 32);
}

/* == The generated inputs =================================================== */

enum { TEXTS = 3000, ROWS = 256 };

/* The answer of an input of a view. */
static cpubind_input ask(view_source *s, const char *name)
{
    const cpubind_source source = view_source_of(s);
    return source.read(source.ctx, name);
}

static void read_map(view_source *s)
{
    const host_view *v = s->view;
    cpubind_npusmi_chip chip[ROWS];
    cpubind_npusmi_map map = {.chip = chip, .cap_chip = ROWS};
    const cpubind_input answer = ask(s, "cmd/npu-smi-info-m.txt");
    cpubind_text_fault fault;
    if (cpubind_npusmi_parse_map(answer.data, answer.len, &map, &fault) != CPUBIND_TEXT_OK)
        fail_msg("%s at %d:\n%.*s", fault.what, fault.offset, (int)answer.len, answer.data);
    assert_int_equal(map.n_chip, v->n_npu);
    for (int32_t i = 0; i < map.n_chip; i++) {
        const int32_t logic = map.has_logic ? chip[i].logic : chip[i].card;
        assert_in_range(logic, 0, v->n_npu - 1);
        assert_true(chip[i].phy == -1 || chip[i].phy == v->phy[logic]);
        assert_int_equal(chip[i].chip, v->host->npu[v->phy[logic]].chip);
        assert_int_equal(cpubind_type_of_chip(answer.data + chip[i].name.at, chip[i].name.len,
                                              chip[i].phy >= 0),
                         v->host->type);
    }
    assert_int_equal(map.unknown.len, 0);
}

static void read_info(view_source *s)
{
    const host_view *v = s->view;
    cpubind_npusmi_device device[ROWS];
    cpubind_npusmi_process process[ROWS];
    cpubind_npusmi_info info = {
        .device = device, .cap_device = ROWS, .process = process, .cap_process = ROWS};
    const cpubind_input answer = ask(s, "cmd/npu-smi-info.txt");
    cpubind_text_fault fault;
    int32_t n_running = 0;
    const cpubind_text_status status =
        cpubind_npusmi_parse_info(answer.data, answer.len, &info, &fault);
    if (v->table == TABLE_CUT)
        return;
    if (status != CPUBIND_TEXT_OK)
        fail_msg("%s at %d:\n%.*s", fault.what, fault.offset, (int)answer.len, answer.data);
    for (int32_t i = 0; i < v->n_npu; i++)
        n_running += (int32_t)(v->running >> v->phy[i] & 1u);
    assert_int_equal(info.n_device, v->n_npu);
    assert_int_equal(info.n_process, v->table == TABLE_NONE ? 0 : n_running);
    assert_int_equal(info.unknown.len, 0);
    for (int32_t i = 0; i < info.n_device; i++)
        assert_true((device[i].pci.domain >= 0) == v->host->has_buses);
}

static void read_topo(view_source *s)
{
    const host_view *v = s->view;
    cpubind_npusmi_affinity row[ROWS];
    int32_t cpu[HOST_NPUS * HOST_CPUS];
    cpubind_npusmi_topo topo = {
        .row = row, .cap_row = ROWS, .cpu = cpu, .cap_cpu = HOST_NPUS * HOST_CPUS};
    const cpubind_input answer = ask(s, "cmd/npu-smi-info-t-topo.txt");
    cpubind_text_fault fault;
    const cpubind_text_status status =
        cpubind_npusmi_parse_topo(answer.data, answer.len, &topo, &fault);
    if (status == CPUBIND_TEXT_ERR_REFUSED)
        return;
    if (status != CPUBIND_TEXT_OK)
        fail_msg("%s at %d:\n%.*s", fault.what, fault.offset, (int)answer.len, answer.data);
    assert_int_equal(topo.n_row * (v->host->is_duo ? 2 : 1), v->n_npu);
    assert_int_equal(topo.has_affinity, v->host->has_column);
    assert_int_equal(topo.unknown.len, 0);
}

static void read_driver(view_source *s)
{
    const host_view *v = s->view;
    cpubind_driver_logic logic[ROWS];
    cpubind_driver_logics logics = {.row = logic, .cap = ROWS};
    cpubind_interrupt irq[ROWS];
    cpubind_interrupt_list irqs = {irq, ROWS, 0, 0};
    cpubind_input answer = ask(s, "proc/interrupts");
    assert_int_equal(cpubind_interrupts_parse(answer.data, answer.len, &irqs, NULL),
                     CPUBIND_TEXT_OK);
    assert_int_equal(irqs.n_cpu, bits_count(&v->host->online));
    answer = ask(s, "proc/uda/namespace_node");
    if (answer.state != CPUBIND_INPUT_PRESENT)
        return;
    assert_int_equal(cpubind_driver_parse_namespaces(answer.data, answer.len, &logics, NULL),
                     CPUBIND_TEXT_OK);
    assert_int_equal(logics.n, v->n_npu);
    for (int32_t i = 0; i < logics.n; i++)
        assert_int_equal(logic[i].udevid, v->phy[logic[i].logic]);
    for (int32_t i = 0; i < v->host->n_function; i++) {
        cpubind_driver_function row[ROWS];
        cpubind_driver_functions table = {.row = row, .cap = ROWS};
        char name[VIEW_NAME];
        (void)snprintf(name, sizeof name, "sys/bus/pci/devices/%s/devdrv_sysfs_bdf_to_devid",
                       v->host->function[i].name);
        answer = ask(s, name);
        if (answer.state == CPUBIND_INPUT_PRESENT)
            assert_int_equal(
                cpubind_driver_parse_functions(answer.data, answer.len, &table, NULL),
                CPUBIND_TEXT_OK);
    }
}

TEST(every_generated_text_can_be_read)
{
    static random_host host;
    static host_view view[LAW_VIEWS];
    static view_source source;
    uint8_t bytes[LAW_BYTES];
    for (uint64_t seed = 1; seed <= TEXTS / LAW_VIEWS; seed++) {
        fill(seed, bytes);
        random_views_make(bytes, sizeof bytes, &host, view);
        for (int32_t i = 0; i < LAW_VIEWS; i++) {
            view[i].failure = FAILURE_NONE;
            view_source_start(&source, &view[i]);
            read_driver(&source);
            if (!view[i].has_npu_smi)
                continue;
            read_map(&source);
            read_info(&source);
            read_topo(&source);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_generated_text_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
