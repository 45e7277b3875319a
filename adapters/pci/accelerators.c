/* accelerators.c - which PCI functions are accelerators, and the words for them
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. A row with the device id ANY stands for every other function of its
 * vendor and class; rows without a class are accelerators whatever their class is.
 */
#include "../model/accelerators.h"

enum { ANY = -1, NVIDIA = 0x10de, AMD = 0x1002, INTEL = 0x8086, HABANA = 0x1da3 };

typedef struct row {
    int32_t vendor, device, class_code;
    cpubind_family family;
    const char *product; /* NULL: not known by its id */
    int32_t n_tile;
} row;

#define NV(device, product)                                                                    \
    {                                                                                          \
        NVIDIA, (device), ANY, CPUBIND_FAMILY_NVIDIA, (product), 1                             \
    }
#define ROCM(device, product)                                                                  \
    {                                                                                          \
        AMD, (device), ANY, CPUBIND_FAMILY_AMD, (product), 1                                   \
    }
#define XE(device, product, n)                                                                 \
    {                                                                                          \
        INTEL, (device), ANY, CPUBIND_FAMILY_INTEL, (product), (n)                             \
    }
#define HL(device, product)                                                                    \
    {                                                                                          \
        HABANA, (device), ANY, CPUBIND_FAMILY_GAUDI, (product), 1                              \
    }

static const row rows[] = {
    NV(0x15f7, "P100 PCIe"),
    NV(0x15f8, "P100 PCIe"),
    NV(0x15f9, "P100 SXM2"),
    NV(0x1b38, "P40"),
    NV(0x1db1, "V100 SXM2"),
    NV(0x1db4, "V100 PCIe"),
    NV(0x1db5, "V100 SXM2"),
    NV(0x1db6, "V100 PCIe"),
    NV(0x1db8, "V100 SXM3"),
    NV(0x1df6, "V100S PCIe"),
    NV(0x1eb8, "T4"),
    NV(0x20b0, "A100 SXM4"),
    NV(0x20b1, "A100 PCIe"),
    NV(0x20b2, "A100 SXM4"),
    NV(0x20b5, "A100 PCIe"),
    NV(0x20b7, "A30"),
    NV(0x20f1, "A100 PCIe"),
    NV(0x20f3, "A800 SXM4"),
    NV(0x20f5, "A800 PCIe"),
    NV(0x2235, "A40"),
    NV(0x2236, "A10"),
    NV(0x25b6, "A2 / A16"),
    NV(0x2322, "H800 PCIe"),
    NV(0x2324, "H800"),
    NV(0x2329, "H20"),
    NV(0x2330, "H100 SXM5"),
    NV(0x2331, "H100 PCIe"),
    NV(0x2335, "H200 SXM"),
    NV(0x2342, "GH200"),
    NV(0x26b5, "L40"),
    NV(0x26b9, "L40S"),
    NV(0x26ba, "L20"),
    NV(0x27b8, "L4"),
    NV(0x2901, "B200"),
    NV(0x2941, "GB200"),
    {NVIDIA, ANY, CPUBIND_CLASS_3D, CPUBIND_FAMILY_NVIDIA, NULL, 1},
    {NVIDIA, ANY, CPUBIND_CLASS_VGA, CPUBIND_FAMILY_NVIDIA, NULL, 1},
    ROCM(0x66a0, "Instinct MI50"),
    ROCM(0x66a1, "Instinct MI50"),
    ROCM(0x6860, "Instinct MI25"),
    ROCM(0x738c, "Instinct MI100"),
    ROCM(0x738e, "Instinct MI100"),
    ROCM(0x7408, "Instinct MI250X"),
    ROCM(0x740c, "Instinct MI250X"),
    ROCM(0x740f, "Instinct MI210"),
    ROCM(0x74a0, "Instinct MI300A"),
    ROCM(0x74a1, "Instinct MI300X"),
    ROCM(0x74a2, "Instinct MI308X"),
    ROCM(0x74a5, "Instinct MI325X"),
    ROCM(0x74b5, "Instinct MI300X"),
    ROCM(0x75a0, "Instinct MI350X"),
    ROCM(0x75a3, "Instinct MI355X"),
    {AMD, ANY, CPUBIND_CLASS_ACCELERATOR, CPUBIND_FAMILY_AMD, NULL, 1},
    XE(0x0bd5, "GPU Max 1550", 2),
    XE(0x0bd6, "GPU Max 1550", 2),
    XE(0x0bd7, "GPU Max 1350", 2),
    XE(0x0bd8, "GPU Max 1350", 2),
    XE(0x0bd9, "GPU Max 1100", 1),
    XE(0x0bda, "GPU Max 1100", 1),
    XE(0x0bdb, "GPU Max 1100", 1),
    XE(0x56c0, "GPU Flex 170", 1),
    XE(0x56c1, "GPU Flex 140", 1),
    HL(0x0001, "Goya"),
    HL(0x0030, "Greco"),
    HL(0x1000, "Gaudi"),
    HL(0x1010, "Gaudi"),
    HL(0x1020, "Gaudi2"),
    HL(0x1060, "Gaudi3"),
    {HABANA, ANY, CPUBIND_CLASS_ACCELERATOR, CPUBIND_FAMILY_GAUDI, NULL, 1},
};

static int is_row_of(const row *r, const cpubind_pci_ids *ids)
{
    return r->vendor == ids->vendor && (r->device == ANY || r->device == ids->device) &&
           (r->class_code == ANY || r->class_code == ids->class_code);
}

cpubind_accelerator cpubind_accelerator_of(const cpubind_pci_ids *ids,
                                           cpubind_product_name *ascend)
{
    cpubind_accelerator found = {CPUBIND_FAMILY_OTHER, NULL, 1};
    if (ids->vendor < 0)
        return found;
    found.product = ascend ? ascend(ids->vendor, ids->device) : NULL;
    if (found.product) {
        found.family = CPUBIND_FAMILY_ASCEND;
        return found;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!is_row_of(&rows[i], ids))
            continue;
        found.family = rows[i].family;
        found.product = rows[i].product;
        found.n_tile = rows[i].n_tile;
        break;
    }
    return found;
}

int32_t cpubind_is_accelerator(int32_t vendor, int32_t device, int32_t class_code)
{
    const cpubind_pci_ids ids = {vendor, device, class_code};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (device < 0 ? rows[i].vendor == vendor
                       : is_row_of(&rows[i], &ids) && rows[i].class_code != CPUBIND_CLASS_VGA)
            return 1;
    return 0;
}

const char *cpubind_family_word(cpubind_family family)
{
#define CPUBIND_X(name, word, file) word,
    static const char *const words[] = {CPUBIND_FAMILY_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return (uint32_t)family < CPUBIND_FAMILY_COUNT ? words[family] : words[0];
}

const char *cpubind_family_file(cpubind_family family)
{
#define CPUBIND_X(name, word, file) file,
    static const char *const files[] = {CPUBIND_FAMILY_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return (uint32_t)family < CPUBIND_FAMILY_COUNT ? files[family] : NULL;
}
