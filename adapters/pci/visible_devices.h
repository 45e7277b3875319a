/* visible_devices.h - which devices a runtime shows to a process, by its environment
 * SPDX-License-Identifier: MIT
 *
 * Pure: see ../text/text.h. Each runtime reads its variable by a rule of its own, and no rule
 * refuses a text: a bad entry ends the list, is passed over, or hides all. Ascend's rule is
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

#include "../text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The devices of a runtime, in the order in which it numbers them without its variable. */
typedef struct cpubind_runtime_devices {
    int32_t n;               /* 0 .. CPUBIND_MAX_DEVICES */
    int32_t has_order;       /* 0: which number a device has is not known */
    int32_t is_flat;         /* ZE_AFFINITY_MASK: each tile is a device */
    const int32_t *n_tile;   /* of each device, 1 or more; NULL: 1 */
    const char *const *uuid; /* of each device, "GPU-8932f937-...", not ended by NUL; NULL, or
                                NULL for a device: not known */
    const int32_t *uuid_len;
} cpubind_runtime_devices;

/* One device that the process sees; tile -1: all of its tiles. */
typedef struct cpubind_seen_device {
    int32_t device, tile;
} cpubind_seen_device;

/* The devices that the process sees, in the order of their new numbers. */
typedef struct cpubind_seen {
    cpubind_seen_device *item; /* the caller's array; after a failure it holds anything */
    int32_t cap;               /* its length */
    int32_t n;                 /* out: devices; after ERR_SPACE as many as may be needed */
    int32_t used; /* out: bytes up to the entry that ended the list; all: none did */
} cpubind_seen;

/* Reads the value of a variable, by its rule.
 *   in      runtime: of all devices; for HIP of those that ROCR leaves
 *   out     *out
 *   errors  ERR_ARG; ERR_MISSING: the text names devices that cannot be told here (numbers
 *           without an order, a UUID that no file has, a MIG instance); ERR_SYNTAX (ZE alone):
 *           the text is no mask; ERR_SPACE with out->n
 *   cost    O(len * devices) */
typedef cpubind_text_status cpubind_visible_rule(const char *text, int32_t len,
                                                 const cpubind_runtime_devices *runtime,
                                                 cpubind_seen *out, cpubind_text_fault *fault);
cpubind_text_status cpubind_cuda_parse(const char *text, int32_t len,
                                       const cpubind_runtime_devices *runtime,
                                       cpubind_seen *out, cpubind_text_fault *fault);
cpubind_text_status cpubind_rocr_parse(const char *text, int32_t len,
                                       const cpubind_runtime_devices *runtime,
                                       cpubind_seen *out, cpubind_text_fault *fault);
cpubind_text_status cpubind_hip_parse(const char *text, int32_t len,
                                      const cpubind_runtime_devices *runtime, cpubind_seen *out,
                                      cpubind_text_fault *fault);
cpubind_text_status cpubind_ze_parse(const char *text, int32_t len,
                                     const cpubind_runtime_devices *runtime, cpubind_seen *out,
                                     cpubind_text_fault *fault);

/* All devices of a runtime, as without its variable; with is_flat all tiles. Errors: ERR_ARG,
 * ERR_SPACE. */
cpubind_text_status cpubind_seen_all(const cpubind_runtime_devices *runtime, cpubind_seen *out);

/* Whether a text is a UUID of a GPU that tells it from others: "GPU-", then hexadecimal digits
 * in groups of 8, 4, 4, 4 and 12. A driver that does not know one writes question marks. */
int cpubind_is_gpu_uuid(const char *text, int32_t len);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PCI_VISIBLE_DEVICES_H */
