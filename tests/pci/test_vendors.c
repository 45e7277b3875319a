/* test_vendors.c - the products of each vendor, and the files of the NVIDIA driver
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "../../adapters/model/facts.h"
#include "../../adapters/pci/nvidia_files.h"
#include "../support/test.h"

/* == Files of the NVIDIA driver ============================================= */

TEST(values_of_the_nvidia_driver_are_found_by_their_keys)
{
    static const char text[] =
        "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 123\n"
        "GPU UUID: \t GPU-1\nnoise\nGPU UUID: second\nEmpty:\nBad: a\x01";
    static const struct {
        const char *key, *value;
        cpubind_text_status status;
    } cases[] = {{"Model", "NVIDIA H100 80GB HBM3", CPUBIND_TEXT_OK},
                 {"GPU UUID", "GPU-1", CPUBIND_TEXT_OK},
                 {"Empty", "", CPUBIND_TEXT_OK},
                 {"GPU", NULL, CPUBIND_TEXT_ERR_MISSING},
                 {"noise", NULL, CPUBIND_TEXT_ERR_MISSING},
                 {"Bad", NULL, CPUBIND_TEXT_ERR_SYNTAX},
                 {"A:B", NULL, CPUBIND_TEXT_ERR_ARG},
                 {"", NULL, CPUBIND_TEXT_ERR_ARG}};
    const int32_t len = (int32_t)sizeof text - 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpubind_slice out = {-7, -7};
        cpubind_text_fault fault = {-1, NULL};
        assert_int_equal(cpubind_nvidia_find(text, len, cases[i].key, &out, &fault),
                         cases[i].status);
        if (!cases[i].value) {
            assert_int_equal(out.at, -7);
            assert_true(fault.offset >= 0 && fault.offset <= len && fault.what);
            continue;
        }
        assert_int_equal(out.len, strlen(cases[i].value));
        assert_memory_equal(text + out.at, cases[i].value, (size_t)out.len);
    }
    assert_int_equal(cpubind_nvidia_find(NULL, 1, "Model", NULL, NULL), CPUBIND_TEXT_ERR_ARG);
}

TEST(cards_for_displays_are_accelerators_by_their_product_alone)
{
    assert_true(cpubind_is_accelerator(0x10de, 0x26b9, CPUBIND_CLASS_3D));
    assert_true(cpubind_is_accelerator(0x10de, 0x26b9, CPUBIND_CLASS_VGA));
    assert_true(cpubind_is_accelerator(0x10de, 0x2684, CPUBIND_CLASS_3D));
    assert_false(cpubind_is_accelerator(0x10de, 0x2684, CPUBIND_CLASS_VGA));
    assert_false(cpubind_is_accelerator(0x10de, 0x22ba, 0x0403)); /* the sound of a card */
    assert_true(cpubind_is_accelerator(0x8086, 0x56c0, CPUBIND_CLASS_DISPLAY));
    assert_false(cpubind_is_accelerator(0x8086, 0x1563, 0x0200));
    assert_true(cpubind_is_accelerator(0x1da3, -1, -1));
    assert_false(cpubind_is_accelerator(0x15b3, -1, -1));
}

TEST(every_family_and_word_has_a_row)
{
    static const struct {
        cpubind_pci_ids ids;
        cpubind_vendor_id vendor;
        const char *product;
        int32_t n_tile;
    } cases[] = {{{0x10de, 0x2330, 0x0302}, CPUBIND_VENDOR_NVIDIA, "H100 SXM5", 1},
                 {{0x10de, 0x1234, 0x0302}, CPUBIND_VENDOR_NVIDIA, NULL, 1},
                 {{0x10de, 0x1234, 0x0300}, CPUBIND_VENDOR_NVIDIA, NULL, 1},
                 {{0x10de, 0x1234, 0x0403}, CPUBIND_VENDOR_OTHER, NULL, 1},
                 {{0x10de, 0x22a3, 0x0680}, CPUBIND_VENDOR_OTHER, NULL, 1}, /* NVSwitch */
                 {{0x1002, 0x74a1, 0x1200}, CPUBIND_VENDOR_AMD, "Instinct MI300X", 1},
                 {{0x1002, 0x738c, 0x0380}, CPUBIND_VENDOR_AMD, "Instinct MI100", 1},
                 {{0x1002, 0x164e, 0x0300}, CPUBIND_VENDOR_OTHER, NULL, 1},
                 {{0x8086, 0x0bd5, 0x0380}, CPUBIND_VENDOR_INTEL, "GPU Max 1550", 2},
                 {{0x8086, 0x56c0, 0x0380}, CPUBIND_VENDOR_INTEL, "GPU Flex 170", 1},
                 {{0x8086, 0x0b25, 0x0880}, CPUBIND_VENDOR_OTHER, NULL, 1},
                 {{0x1da3, 0x1020, 0x1200}, CPUBIND_VENDOR_GAUDI, "Gaudi2", 1},
                 {{0x1e52, 0xb140, 0x1200}, CPUBIND_VENDOR_TENSTORRENT, "Blackhole", 1},
                 {{0x1e52, 0x1234, 0x1200}, CPUBIND_VENDOR_TENSTORRENT, NULL, 1},
                 {{0x1e52, 0x1234, 0x0604}, CPUBIND_VENDOR_OTHER, NULL, 1},
                 {{0x19e5, 0xd802, -1}, CPUBIND_VENDOR_ASCEND, "a2", 1},
                 {{0x19e5, 0x1711, 0x0300}, CPUBIND_VENDOR_OTHER, NULL, 1},
                 {{-1, -1, 0x0302}, CPUBIND_VENDOR_OTHER, NULL, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cpubind_accelerator row = cpubind_accelerator_of(&cases[i].ids);
        assert_int_equal(row.vendor, cases[i].vendor);
        assert_int_equal(row.n_tile, cases[i].n_tile);
        if (cases[i].product)
            assert_string_equal(row.product, cases[i].product);
        else
            assert_null(row.product);
    }
    assert_string_equal(cpubind_vendor_word(CPUBIND_VENDOR_GAUDI), "gaudi");
    assert_string_equal(cpubind_vendor_word((cpubind_vendor_id)99), "other");
    assert_string_equal(cpubind_node_origin_word(CPUBIND_NODE_ORIGIN_BRIDGE), "bridge");
    assert_string_equal(cpubind_nearness_word(CPUBIND_NEARNESS_PIX), "pix");
    assert_string_equal(cpubind_nearness_word((cpubind_nearness)99), "unknown");
}

TEST_FILE(NULL, NULL)
