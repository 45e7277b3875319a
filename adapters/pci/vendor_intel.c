/* vendor_intel.c - the row of Intel's GPUs
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc.
 */
#include "../model/facts_reader.h"
#include "visible_devices.h"

static const cpubind_vendor_product products[] = {
    {{0x0bd5, 0x0bd6}, 0, "GPU Max 1550", 2},
    {{0x0bd7, 0x0bd8}, 0, "GPU Max 1350", 2},
    {{0x0bd9, 0x0bda, 0x0bdb}, 0, "GPU Max 1100", 1},
    {{0x56c0}, 0, "GPU Flex 170", 1},
    {{0x56c1}, 0, "GPU Flex 140", 1},
    {{0xe211}, 0, "Arc Pro B60", 1},
    {{0xe212}, 0, "Arc Pro B50", 1},
};

const cpubind_vendor cpubind_vendor_intel = {
    .word = "intel",
    .noun = "gpu",
    .runtime = "level_zero",
    .id = 0x8086,
    .product = products,
    .n_product = (int32_t)(sizeof products / sizeof *products),
    .file = {CPUBIND_FILES_DRM},
    .variable = {"ZE_AFFINITY_MASK"},
    .list = {{"ZE_AFFINITY_MASK", NULL, CPUBIND_LIST_ZE}},
    .setting = {"ZE_FLAT_DEVICE_HIERARCHY"},
    .usual = "COMPOSITE",
};
