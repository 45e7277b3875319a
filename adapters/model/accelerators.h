/* accelerators.h - which PCI functions are accelerators, and the words for them
 * SPDX-License-Identifier: MIT
 *
 * Pure: see ../text/text.h. One row for each product; a new one is one more row in
 * accelerators.c. The rows of Ascend are those of ascend/products.h: that room owns them, and
 * the caller passes a function that asks them, so that no room includes the other. The ids are
 * those of the public list of PCI ids; classes are those of the PCI Code and ID Assignment
 * Specification.
 */
#ifndef CPUBIND_PCI_ACCELERATORS_H
#define CPUBIND_PCI_ACCELERATORS_H

#include "../text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* (name, word, file): the families of accelerators, each with a runtime of its own, and the
 * device that a process which computes has open besides its own: the input that has its number,
 * or the name of its driver in proc/devices, whose minor is 0; NULL: there is none.
 * SOURCES: cuInit fails without nvidia-uvm, which nvidia-smi and nvidia-persistenced do without
 * (open-gpu-kernel-modules, issue 689; the NVIDIA driver's README, "nvidia-uvm"); ROCm's
 * installation guide: /dev/kfd is the compute interface of all GPUs. */
#define CPUBIND_FAMILY_LIST(X)                                                                 \
    X(OTHER, "other", NULL) /* no row knows it */                                              \
    X(ASCEND, "ascend", NULL)                                                                  \
    X(NVIDIA, "nvidia", "nvidia-uvm")                                                          \
    X(AMD, "amd", "sys/class/kfd/kfd/dev")                                                     \
    X(INTEL, "intel", NULL)                                                                    \
    X(GAUDI, "gaudi", NULL)

typedef enum cpubind_family {
#define CPUBIND_X(name, word, file) CPUBIND_FAMILY_##name,
    CPUBIND_FAMILY_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_FAMILY_COUNT /* the number of families; not a family */
} cpubind_family;

/* PCI classes, without the byte of the programming interface. */
enum {
    CPUBIND_CLASS_VGA = 0x0300,
    CPUBIND_CLASS_3D = 0x0302,
    CPUBIND_CLASS_DISPLAY = 0x0380,
    CPUBIND_CLASS_BRIDGE = 0x0604, /* from PCI to PCI */
    CPUBIND_CLASS_ACCELERATOR = 0x1200
};

/* The ids of a PCI function; -1: not known. */
typedef struct cpubind_pci_ids {
    int32_t vendor, device;
    int32_t class_code; /* without the programming interface */
} cpubind_pci_ids;

typedef struct cpubind_accelerator {
    cpubind_family family; /* OTHER: the function is no accelerator that a row knows */
    const char *product;   /* "H100 SXM5", static; NULL: no row has this device id */
    int32_t n_tile;        /* devices of the runtime that one function can be; at least 1 */
} cpubind_accelerator;

/* Names the product of a function that another room knows, "a2", static; NULL: it is none. */
typedef const char *cpubind_product_name(int32_t vendor, int32_t device);

/* The row of a function.
 *   in      ascend: for the NPUs of Ascend; may be NULL
 *   cost    O(rows) */
cpubind_accelerator cpubind_accelerator_of(const cpubind_pci_ids *ids,
                                           cpubind_product_name *ascend);

/* Whether a function is an accelerator of a vendor but Ascend. A card for displays (class VGA)
 * is one only if a row has its device id: few hosts compute with the others. A device of -1:
 * whether some function of this vendor is one. */
int32_t cpubind_is_accelerator(int32_t vendor, int32_t device, int32_t class_code);

/* "nvidia". Static storage. */
const char *cpubind_family_word(cpubind_family family);

/* "nvidia-uvm", "sys/class/kfd/kfd/dev": what tells the number of the device that a process
 * which computes has open, too; NULL: none. Static storage. */
const char *cpubind_family_file(cpubind_family family);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PCI_ACCELERATORS_H */
