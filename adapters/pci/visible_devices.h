/* visible_devices.h - which devices a runtime shows to a process, by its environment
 * SPDX-License-Identifier: MIT
 *
 * Pure: see ../text/text.h. Each runtime reads its variable by a rule of its own, and no rule
 * refuses a text: a bad entry ends the list, is passed over, or hides all. The rules differ in
 * the flags below, which the row of a vendor has for each of its variables. Ascend's rule is
 * cpubind_visible_parse of ../text/procfs.h.
 *
 * RULES
 *   CUDA_VISIBLE_DEVICES   [ entry *( "," entry ) ]; empty: no device
 *     The first entry says how all are written: GPU-..., MIG-..., or numbers.
 *     number = [ "+" / "-" ] *DIGIT, blanks around it; letters after the digits do not count,
 *     as strtoul reads them. A number below 0, one that no device has, and a text without a
 *     number end the list. GPU-...: the first characters of one UUID and no other; another
 *     entry ends the list. A device that is named twice: no device.
 *   ROCR_VISIBLE_DEVICES   the same form; empty: no device
 *     number = decimal, 0x and hexadecimal, or 0 and octal digits, blanks around it. As many
 *     entries are read as there are devices; a bad entry, and a device that is named before,
 *     end the list.
 *   HIP_VISIBLE_DEVICES    the same form, applied to what ROCR leaves; empty: all
 *     number = decimal digits as they are printed, no blanks. A bad entry ends the list; a
 *     device that is named before is passed over. Without it, CUDA_VISIBLE_DEVICES counts, by
 *     this rule.
 *   ZE_AFFINITY_MASK       [ entry *( "," entry ) ]; empty: all
 *     entry = device [ "." tile ]; with ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE. Else each tile is a
 *     device, numbered across all, and an entry is one number. A device or a tile that is not
 *     there is passed over. The devices keep their order.
 * SOURCES  the CUDA Programming Guide (environment variables), torch.cuda for repeats and
 *   letters; the device filter of the ROCm runtime and the device list of ROCclr; the Level
 *   Zero specification (affinity mask).
 */
#ifndef CPUBIND_PCI_VISIBLE_DEVICES_H
#define CPUBIND_PCI_VISIBLE_DEVICES_H

#include "../model/facts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the rule of a variable has of its own. Without a flag: numbers are decimal digits as
 * they are printed, an empty list is no device, a bad entry and a repeated one end it. */
enum {
    CPUBIND_LIST_BLANKS = 1,             /* blanks around a number, and "+" before it */
    CPUBIND_LIST_ZEROS = 1 << 1,         /* zeros before a number do not count */
    CPUBIND_LIST_TAIL = 1 << 2,          /* bytes after its digits do not count */
    CPUBIND_LIST_BASES = 1 << 3,         /* 0x and 0 before it: hexadecimal, octal */
    CPUBIND_LIST_UUIDS = 1 << 4,         /* GPU-... instead of numbers */
    CPUBIND_LIST_ALL_END = 1 << 5,       /* no entry is read after all devices are named */
    CPUBIND_LIST_REPEAT_HIDES = 1 << 6,  /* a device that is named twice: no device */
    CPUBIND_LIST_REPEAT_PASSES = 1 << 7, /* it is passed over */
    CPUBIND_LIST_EMPTY_IS_ALL = 1 << 8,
    CPUBIND_LIST_MASK = 1 << 9,      /* entries name tiles, too; the devices keep their order */
    CPUBIND_LIST_OF_TILES = 1 << 10, /* each tile is a device, unless the setting says else */
    CPUBIND_LIST_OWN_ORDER = 1 << 11, /* devices that differ are numbered by an order of its
                                         own, unless the setting says else */

    CPUBIND_LIST_CUDA = CPUBIND_LIST_BLANKS | CPUBIND_LIST_ZEROS | CPUBIND_LIST_TAIL |
                        CPUBIND_LIST_UUIDS | CPUBIND_LIST_REPEAT_HIDES | CPUBIND_LIST_OWN_ORDER,
    CPUBIND_LIST_ROCR =
        CPUBIND_LIST_BLANKS | CPUBIND_LIST_ZEROS | CPUBIND_LIST_BASES | CPUBIND_LIST_ALL_END,
    CPUBIND_LIST_HIP = CPUBIND_LIST_REPEAT_PASSES | CPUBIND_LIST_EMPTY_IS_ALL,
    CPUBIND_LIST_ZE = CPUBIND_LIST_MASK | CPUBIND_LIST_EMPTY_IS_ALL | CPUBIND_LIST_OF_TILES
};

/* One device of a runtime, or one tile of it; tile -1: all of its tiles. */
typedef struct cpubind_seen_device {
    int32_t device; /* index in `bus` */
    int32_t tile;
} cpubind_seen_device;

/* Devices of a runtime, in the order of its numbers. */
typedef struct cpubind_seen {
    const cpubind_host_device *bus;
    cpubind_seen_device *item;
    int32_t n;
    int32_t has_order; /* 0: which number a device has is not known */
} cpubind_seen;

/* Reads the value of a variable.
 *   in      all: those that it chooses among; out->item: room for all of their tiles
 *   out     *out
 *   errors  ERR_MISSING: the text names devices that cannot be told here (numbers without an
 *           order, a UUID that no file has, a MIG instance); ERR_SYNTAX and ERR_RANGE (MASK):
 *           the text is no mask
 *   cost    O(len * devices) */
cpubind_text_status cpubind_visible_devices(int32_t grammar, const char *text, int32_t len,
                                            const cpubind_seen *all, cpubind_seen *out,
                                            cpubind_text_fault *fault);

/* Whether a text is a UUID of a GPU that tells it from others: "GPU-", then hexadecimal digits
 * in groups of 8, 4, 4, 4 and 12. A driver that does not know one writes question marks. */
int cpubind_is_gpu_uuid(const char *text, int32_t len);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PCI_VISIBLE_DEVICES_H */
