/* vendor_tenstorrent.c - the row of Tenstorrent
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. Which cards a process sees is not told: the runtime numbers chips,
 * and a card may have several. SOURCES: the driver tt-kmd (ids; the device /dev/tenstorrent/N,
 * which sysfs calls "tenstorrent!N", below the PCI function); tt-metal (TT_VISIBLE_DEVICES).
 */
#include "../model/facts_reader.h"

static const cpubind_vendor_product products[] = {
    {{0x401e}, 0, "Wormhole", 1},
    {{0xb140}, 0, "Blackhole", 1},
    {{0xfaca}, 0, "Grayskull", 1},
    {{0}, CPUBIND_CLASS_ACCELERATOR, NULL, 1},
};

const cpubind_vendor cpubind_vendor_tenstorrent = {
    .word = "tenstorrent",
    .id = 0x1e52,
    .product = products,
    .n_product = (int32_t)(sizeof products / sizeof *products),
    .file = {{"tenstorrent", "tenstorrent!", {"dev/tenstorrent", "dev/tenstorrent", "", 0}, 0}},
    .variable = {"TT_VISIBLE_DEVICES"}};
