/* vendor_intel.c - the row of Intel's GPUs
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc.
 */
#include "../model/facts_reader.h"
#include "visible_devices.h"

enum { ID = 0x8086 };

static const cpubind_vendor_product products[] = {
    {ID, 0x0bd5, CPUBIND_ANY_ID, "GPU Max 1550", 2},
    {ID, 0x0bd6, CPUBIND_ANY_ID, "GPU Max 1550", 2},
    {ID, 0x0bd7, CPUBIND_ANY_ID, "GPU Max 1350", 2},
    {ID, 0x0bd8, CPUBIND_ANY_ID, "GPU Max 1350", 2},
    {ID, 0x0bd9, CPUBIND_ANY_ID, "GPU Max 1100", 1},
    {ID, 0x0bda, CPUBIND_ANY_ID, "GPU Max 1100", 1},
    {ID, 0x0bdb, CPUBIND_ANY_ID, "GPU Max 1100", 1},
    {ID, 0x56c0, CPUBIND_ANY_ID, "GPU Flex 170", 1},
    {ID, 0x56c1, CPUBIND_ANY_ID, "GPU Flex 140", 1},
    {ID, 0xe211, CPUBIND_ANY_ID, "Arc Pro B60", 1},
    {ID, 0xe212, CPUBIND_ANY_ID, "Arc Pro B50", 1},
};

const cpubind_vendor cpubind_vendor_intel = {
    .word = "intel",
    .noun = "gpu",
    .runtime = "level_zero",
    .product = products,
    .n_product = (int32_t)(sizeof products / sizeof *products),
    .file = {CPUBIND_FILES_DRM},
    .variable = {"ZE_AFFINITY_MASK"},
    .list = {{"ZE_AFFINITY_MASK", NULL, CPUBIND_LIST_ZE}},
    .setting = {"ZE_FLAT_DEVICE_HIERARCHY"},
    .usual = "COMPOSITE",
};
