/* accelerators.h - which PCI functions are accelerators, and of which vendor
 * SPDX-License-Identifier: MIT
 *
 * Pure: see ../text/text.h. The rows of the vendors, with their products, are in ../pci: a file
 * vendor_NAME.c for each line of CPUBIND_VENDOR_LIST. The ids are those of the public list of
 * PCI ids; classes are those of the PCI Code and ID Assignment Specification.
 */
#ifndef CPUBIND_PCI_ACCELERATORS_H
#define CPUBIND_PCI_ACCELERATORS_H

#include "../text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* (name, row): the vendors of accelerators; the row is cpubind_vendor_<row>. */
#define CPUBIND_VENDOR_LIST(X)                                                                 \
    X(OTHER, other) /* no row knows it */                                                      \
    X(ASCEND, ascend)                                                                          \
    X(NVIDIA, nvidia)                                                                          \
    X(AMD, amd)                                                                                \
    X(INTEL, intel)                                                                            \
    X(GAUDI, gaudi)                                                                            \
    X(TENSTORRENT, tenstorrent)

typedef enum cpubind_vendor_id {
#define CPUBIND_X(name, row) CPUBIND_VENDOR_##name,
    CPUBIND_VENDOR_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_VENDOR_COUNT /* the number of vendors; not a vendor */
} cpubind_vendor_id;

/* PCI classes, without the byte of the programming interface. */
enum {
    CPUBIND_CLASS_NETWORK = 0x02, /* without the subclass, too */
    CPUBIND_CLASS_NVME = 0x0108,
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
    cpubind_vendor_id vendor; /* OTHER: the function is no accelerator that a row knows */
    const char *product;      /* "H100 SXM5", static; NULL: no row has this device id */
    int32_t n_tile;           /* devices of the runtime that one function can be; at least 1 */
} cpubind_accelerator;

/* The vendor and product of a function.
 *   cost    O(products) */
cpubind_accelerator cpubind_accelerator_of(const cpubind_pci_ids *ids);

/* Which ids tell the accelerators among the functions of a vendor id. */
typedef enum cpubind_telling_ids {
    CPUBIND_IDS_NONE,   /* none of them is known to be one */
    CPUBIND_IDS_DEVICE, /* the device id */
    CPUBIND_IDS_CLASS   /* that and the class */
} cpubind_telling_ids;

/* Those of a vendor id. */
cpubind_telling_ids cpubind_vendor_ids(int32_t vendor);

/* "nvidia". Static storage. */
const char *cpubind_vendor_word(cpubind_vendor_id id);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PCI_ACCELERATORS_H */
