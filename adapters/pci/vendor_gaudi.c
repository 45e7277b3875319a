/* vendor_gaudi.c - the row of Intel's Gaudi, of Habana Labs
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The accel driver makes the device files.
 */
#include "../model/facts_reader.h"

static const cpubind_vendor_product products[] = {
    {{0x0001}, 0, "Goya", 1},          {{0x0030}, 0, "Greco", 1},
    {{0x1000, 0x1010}, 0, "Gaudi", 1}, {{0x1020}, 0, "Gaudi2", 1},
    {{0x1060}, 0, "Gaudi3", 1},        {{0}, CPUBIND_CLASS_ACCELERATOR, NULL, 1},
};

const cpubind_vendor cpubind_vendor_gaudi = {
    .word = "gaudi",
    .noun = "hpu",
    .id = 0x1da3,
    .product = products,
    .n_product = (int32_t)(sizeof products / sizeof *products),
    .file = {CPUBIND_FILES_ACCEL},
};
