/* test_device_users.c - device files of accelerators, and the device of a number
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/pci/device_users.h"
#include "../support/test.h"

#define PCI    "sys/bus/pci/devices/"
#define NVIDIA "proc/driver/nvidia/gpus/"

/* The files and listings of a host: two GPUs of NVIDIA, one of AMD, one Gaudi. */
static const struct {
    const char *name, *text;
} inputs[] = {
    {NVIDIA "0000:0a:00.0/information", "Model: \t H100\nDevice Minor: \t 3\n"},
    {NVIDIA "0000:0b:00.0/information", "Model: \t H100\nDevice Minor: \t 0\n"},
    {PCI "0000:0a:00.0/drm", "card1\nrenderD128\n"},
    {PCI "0000:0a:00.0/drm/renderD128/dev", "226:128\n"},
    {PCI "0000:0a:00.0/drm/card1/dev", "226:1\n"},
    {PCI "0000:0c:00.0/drm/renderD129/dev", "226:129\n"},
    {PCI "0000:0c:00.0/drm/card2/dev", "226:\n"},
    {PCI "0000:0d:00.0/accel/accel12/dev", "261:12\n"},
    {"sys/class/kfd/kfd/dev", "234:0\n"},
    {"proc/devices", "Character devices:\n  1 mem\n195 nvidia\n195 nvidiactl\n"
                     "508 nvidia-uvm\n\nBlock devices:\n  9 nvidia-frontend\n"},
    {PCI "0000:0c:00.0/drm", "by-path\ncard\ncard2\ncard2-DP-1\nrenderD129\nrenderDx\n"},
    {PCI "0000:0d:00.0/accel", "accel12\naccel_controlD12\n"},
    {PCI "0000:0e:00.0/tenstorrent", "hwmon1\ntenstorrent!\ntenstorrent!3\n"},
    {PCI "0000:0e:00.0/tenstorrent/tenstorrent!3/dev", "241:3\n"},
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
    {.pci = {0, 10, 0, 0}, .accelerator = {CPUBIND_VENDOR_NVIDIA, NULL, 1}},
    {.pci = {0, 11, 0, 0}, .accelerator = {CPUBIND_VENDOR_NVIDIA, NULL, 1}},
    {.pci = {0, 12, 0, 0}, .accelerator = {CPUBIND_VENDOR_AMD, NULL, 1}},
    {.pci = {0, 13, 0, 0}, .accelerator = {CPUBIND_VENDOR_GAUDI, NULL, 1}},
};
static const cpubind_facts facts = {.bus = device, .n_bus = sizeof device / sizeof *device};

static char missing[64]; /* an input that is not there, or cannot be read */
static cpubind_input_state missing_state;

static cpubind_input answer_but(void *ctx, const char *name)
{
    if (strcmp(name, missing) == 0)
        return (cpubind_input){.state = missing_state};
    return answer(ctx, name);
}

static const cpubind_source damaged = {NULL, answer_but, answer_but};

TEST(a_number_belongs_to_the_device_whose_driver_names_it)
{
    static const struct {
        int32_t major, minor, device;
    } cases[] = {
        {195, 3, 0},  {195, 0, 1},  {195, 30, -1}, {195, 255, -1}, {508, 0, -1},
        {234, 0, -1}, {226, 1, 0},  {226, 128, 0}, {226, 129, 2},  {226, 2, -1},
        {261, 12, 3}, {261, 1, -1}, {0, 0, -1},    {1, 3, -1},
    };
    _Alignas(16) char memory[8192];
    cpubind_arena arena = {memory, sizeof memory, 0};
    cpubind_device_nodes nodes;
    assert_int_equal(cpubind_device_nodes_read(&source, &facts, &arena, &nodes), 1);
    assert_int_equal(nodes.n, 7);
    assert_string_equal(nodes.row[2].path, "/dev/dri/card1");
    assert_int_equal(cpubind_device_numbers_read(&source, &facts, &nodes), 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cpubind_device_of_number(&nodes, cases[i].major, cases[i].minor),
                         cases[i].device);
    assert_int_equal(nodes.compute_major[CPUBIND_VENDOR_NVIDIA], 508);
    assert_int_equal(nodes.compute_minor[CPUBIND_VENDOR_NVIDIA], 0);
    assert_int_equal(nodes.compute_major[CPUBIND_VENDOR_AMD], 234);
    assert_int_equal(nodes.compute_minor[CPUBIND_VENDOR_AMD], 0);
    assert_int_equal(nodes.compute_major[CPUBIND_VENDOR_GAUDI], -1);
}

/* An input that is not there is another case than one that could not be read. */
TEST(a_number_that_cannot_be_read_is_said)
{
    static const struct {
        const char *input;
        int32_t gpu, uvm, kfd; /* the majors when it is absent */
    } cases[] = {
        {"proc/devices", 195, -1, 234},
        {"sys/class/kfd/kfd/dev", 195, 508, -1},
        {PCI "0000:0a:00.0/drm/card1/dev", 195, 508, 234},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        _Alignas(16) char memory[8192];
        cpubind_arena arena = {memory, sizeof memory, 0};
        cpubind_device_nodes nodes;
        strcpy(missing, cases[i].input);
        missing_state = CPUBIND_INPUT_ABSENT;
        assert_int_equal(cpubind_device_nodes_read(&damaged, &facts, &arena, &nodes), 1);
        assert_int_equal(cpubind_device_numbers_read(&damaged, &facts, &nodes), 1);
        assert_int_equal(nodes.row[0].major, cases[i].gpu);
        assert_int_equal(nodes.compute_major[CPUBIND_VENDOR_NVIDIA], cases[i].uvm);
        assert_int_equal(nodes.compute_major[CPUBIND_VENDOR_AMD], cases[i].kfd);
        missing_state = CPUBIND_INPUT_FAILED;
        arena.used = 0;
        assert_int_equal(cpubind_device_nodes_read(&damaged, &facts, &arena, &nodes), 1);
        assert_int_equal(cpubind_device_numbers_read(&damaged, &facts, &nodes), 0);
        assert_string_equal(nodes.failed, cases[i].input);
    }
}

/* A folder of names that could not be read leaves devices without users, which is said, too. */
TEST(names_that_cannot_be_read_are_said)
{
    _Alignas(16) char memory[8192];
    cpubind_arena arena = {memory, sizeof memory, 0};
    cpubind_device_nodes nodes;
    strcpy(missing, PCI "0000:0a:00.0/drm");
    missing_state = CPUBIND_INPUT_TIMEOUT;
    assert_int_equal(cpubind_device_nodes_read(&damaged, &facts, &arena, &nodes), 1);
    assert_int_equal(nodes.n, 5);
    assert_int_equal(cpubind_device_numbers_read(&damaged, &facts, &nodes), 0);
    assert_string_equal(nodes.failed, missing);
}

static int n_asked, fails_at;
static char failed_name[CPUBIND_DEVICE_INPUT_SIZE];

static cpubind_input answer_or_fail(void *ctx, const char *name)
{
    if (++n_asked != fails_at)
        return answer(ctx, name);
    (void)snprintf(failed_name, sizeof failed_name, "%s", name);
    return (cpubind_input){.state = CPUBIND_INPUT_FAILED};
}

/* Whichever input cannot be read is named. */
TEST(each_input_that_fails_is_said)
{
    const cpubind_source failing = {NULL, answer_or_fail, answer_or_fail};
    for (fails_at = 1;; fails_at++) {
        _Alignas(16) char memory[8192];
        cpubind_arena arena = {memory, sizeof memory, 0};
        cpubind_device_nodes nodes;
        int is_read;
        n_asked = 0;
        assert_int_equal(cpubind_device_nodes_read(&failing, &facts, &arena, &nodes), 1);
        is_read = cpubind_device_numbers_read(&failing, &facts, &nodes);
        if (n_asked < fails_at)
            break;
        assert_int_equal(is_read, 0);
        assert_string_equal(nodes.failed, failed_name);
    }
    assert_true(fails_at > 15);
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
    assert_int_equal(nodes.n, 3 * CPUBIND_DEVICE_FILES_MAX); /* a Gaudi has no card */
    for (int32_t i = 0; i < nodes.n; i++)
        assert_string_equal(nodes.row[i].path, "/dev/dri/card123");
}

/* A kind of files that a vendor alone has: "tenstorrent!3" is /dev/tenstorrent/3. */
TEST(a_file_with_a_folder_in_its_name_is_found)
{
    static cpubind_pci_function card[] = {
        {.pci = {0, 14, 0, 0}, .accelerator = {CPUBIND_VENDOR_TENSTORRENT, NULL, 1}}};
    static const cpubind_facts one = {.bus = card, .n_bus = 1};
    _Alignas(16) char memory[8192];
    cpubind_arena arena = {memory, sizeof memory, 0};
    cpubind_device_nodes nodes;
    assert_int_equal(cpubind_device_nodes_read(&source, &one, &arena, &nodes), 1);
    assert_int_equal(nodes.n, 1);
    assert_string_equal(cpubind_device_file(&one, &nodes, 0), "/dev/tenstorrent/3");
    assert_int_equal(cpubind_device_numbers_read(&source, &one, &nodes), 1);
    assert_int_equal(cpubind_device_of_number(&nodes, 241, 3), 0);
    assert_int_equal(cpubind_device_of_number(&nodes, 241, 2), -1);
}

TEST_FILE(NULL, NULL)
