/* test_device_users.c - device files of accelerators, and the device that each belongs to
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../../adapters/pci/device_users.h"
#include "../support/cmocka_test.h"

#define PCI    "sys/bus/pci/devices/"
#define NVIDIA "proc/driver/nvidia/gpus/"

/* The files and listings of a host: two GPUs of NVIDIA, one of AMD, one Gaudi. */
static const struct {
    const char *name, *text;
} inputs[] = {
    {NVIDIA "0000:0a:00.0/information", "Model: \t H100\nDevice Minor: \t 3\n"},
    {NVIDIA "0000:0b:00.0/information", "Model: \t H100\nDevice Minor: \t 0\n"},
    {PCI "0000:0a:00.0/drm", "card1\nrenderD128\n"},
    {PCI "0000:0c:00.0/drm", "by-path\ncard\ncard2\ncard2-DP-1\nrenderD129\nrenderDx\n"},
    {PCI "0000:0d:00.0/accel", "accel12\naccel_controlD12\n"},
};

static cpubind_input answer(void *ctx, const char *name)
{
    cpubind_input found = {.state = CPUBIND_INPUT_ABSENT};
    (void)ctx;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (strcmp(inputs[i].name, name) == 0) {
            found.state = CPUBIND_INPUT_PRESENT;
            found.data = inputs[i].text;
            found.len = (int32_t)strlen(inputs[i].text);
        }
    return found;
}

static const cpubind_source source = {NULL, answer, answer};

static cpubind_pci_function device[] = {
    {.pci = {0, 10, 0, 0}, .accelerator = {CPUBIND_FAMILY_NVIDIA, NULL, 1}},
    {.pci = {0, 11, 0, 0}, .accelerator = {CPUBIND_FAMILY_NVIDIA, NULL, 1}},
    {.pci = {0, 12, 0, 0}, .accelerator = {CPUBIND_FAMILY_AMD, NULL, 1}},
    {.pci = {0, 13, 0, 0}, .accelerator = {CPUBIND_FAMILY_GAUDI, NULL, 1}},
};
static const cpubind_pci_facts facts = {.device = device,
                                        .n_device = sizeof device / sizeof *device};

TEST(a_file_belongs_to_the_device_whose_driver_names_it)
{
    static const struct {
        const char *path;
        int32_t device;
    } cases[] = {
        {"/dev/nvidia3", 0},
        {"/dev/nvidia0", 1},
        {"/dev/nvidia", -1},
        {"/dev/nvidia30", -1},
        {"/dev/nvidiactl", -1},
        {"/dev/nvidia-uvm", -1},
        {"/dev/kfd", -1},
        {"/dev/dri/card1", 0},
        {"/dev/dri/renderD128", 0},
        {"/dev/dri/renderD129", 2},
        {"/dev/dri/card2", 2},
        {"/dev/dri/card2-DP-1", -1},
        {"/dev/dri/card", -1},
        {"/dev/dri/renderDx", -1},
        {"/dev/accel/accel12", 3},
        {"/dev/accel/accel1", -1},
        {"/dev/accel/accel_controlD12", -1},
        {"", -1},
    };
    _Alignas(16) char memory[8192];
    cpubind_arena arena = {memory, sizeof memory, 0};
    cpubind_device_nodes nodes;
    assert_int_equal(cpubind_device_nodes_read(&source, &facts, &arena, &nodes), 1);
    assert_int_equal(nodes.n, 7);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(
            cpubind_device_of_path(&nodes, cases[i].path, (int32_t)strlen(cases[i].path)),
            cases[i].device);
}

TEST(an_arena_that_is_too_small_says_so)
{
    _Alignas(16) char memory[64];
    cpubind_arena arena = {memory, sizeof memory, 0};
    cpubind_device_nodes nodes;
    assert_int_equal(cpubind_device_nodes_read(&source, &facts, &arena, &nodes), 0);
    assert_int_equal(nodes.n, 0);
}

/* A driver that names more files than are kept, or a name without end, breaks nothing. */
static char long_text[4096];

static cpubind_input answer_long(void *ctx, const char *name)
{
    cpubind_input found = {
        .state = CPUBIND_INPUT_PRESENT, .data = long_text, .len = (int32_t)sizeof long_text};
    (void)ctx;
    (void)name;
    return found;
}

TEST(names_that_are_long_or_many_are_left_out)
{
    const cpubind_source odd = {NULL, answer_long, answer_long};
    _Alignas(16) char memory[8192];
    cpubind_arena arena = {memory, sizeof memory, 0};
    cpubind_device_nodes nodes;
    memset(long_text, '7', sizeof long_text);
    memcpy(long_text, "card", 4);
    assert_int_equal(cpubind_device_nodes_read(&odd, &facts, &arena, &nodes), 1);
    assert_int_equal(nodes.n, 0);
    for (size_t i = 0; i + 8 <= sizeof long_text; i += 8)
        memcpy(long_text + i, "card123\n", 8);
    arena.used = 0;
    assert_int_equal(cpubind_device_nodes_read(&odd, &facts, &arena, &nodes), 1);
    assert_int_equal(nodes.n, 4 * CPUBIND_DEVICE_FILES_MAX);
    for (int32_t i = 0; i < nodes.n; i++)
        assert_string_equal(nodes.row[i].path, "/dev/dri/card123");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_belongs_to_the_device_whose_driver_names_it),
        cmocka_unit_test(an_arena_that_is_too_small_says_so),
        cmocka_unit_test(names_that_are_long_or_many_are_left_out),
    };
    return cmocka_run_group_tests_name("device_users", tests, NULL, NULL);
}
