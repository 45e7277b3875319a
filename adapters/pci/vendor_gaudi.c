/* vendor_gaudi.c - the row of Intel's Gaudi, of Habana Labs
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The accel driver makes the device files.
 */
#include "../model/facts_reader.h"

enum { ID = 0x1da3 };

static const cpubind_vendor_product products[] = {
    {ID, 0x0001, CPUBIND_ANY_ID, "Goya", 1},
    {ID, 0x0030, CPUBIND_ANY_ID, "Greco", 1},
    {ID, 0x1000, CPUBIND_ANY_ID, "Gaudi", 1},
    {ID, 0x1010, CPUBIND_ANY_ID, "Gaudi", 1},
    {ID, 0x1020, CPUBIND_ANY_ID, "Gaudi2", 1},
    {ID, 0x1060, CPUBIND_ANY_ID, "Gaudi3", 1},
    {ID, CPUBIND_ANY_ID, CPUBIND_CLASS_ACCELERATOR, NULL, 1},
};

const cpubind_vendor cpubind_vendor_gaudi = {
    .word = "gaudi",
    .noun = "hpu",
    .product = products,
    .n_product = (int32_t)(sizeof products / sizeof *products),
    .file = {CPUBIND_FILES_ACCEL},
};
