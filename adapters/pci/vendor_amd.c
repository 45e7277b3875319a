/* vendor_amd.c - the row of AMD
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. SOURCE: ROCm's installation guide:
 * /dev/kfd is the compute interface of all GPUs.
 */
#include "../model/facts_reader.h"
#include "visible_devices.h"

enum { ID = 0x1002 };

static const cpubind_vendor_product products[] = {
    {ID, 0x66a0, CPUBIND_ANY_ID, "Instinct MI50", 1},
    {ID, 0x66a1, CPUBIND_ANY_ID, "Instinct MI50", 1},
    {ID, 0x6860, CPUBIND_ANY_ID, "Instinct MI25", 1},
    {ID, 0x738c, CPUBIND_ANY_ID, "Instinct MI100", 1},
    {ID, 0x738e, CPUBIND_ANY_ID, "Instinct MI100", 1},
    {ID, 0x7408, CPUBIND_ANY_ID, "Instinct MI250X", 1},
    {ID, 0x740c, CPUBIND_ANY_ID, "Instinct MI250X", 1},
    {ID, 0x740f, CPUBIND_ANY_ID, "Instinct MI210", 1},
    {ID, 0x7448, CPUBIND_ANY_ID, "Radeon PRO W7900", 1},
    {ID, 0x744a, CPUBIND_ANY_ID, "Radeon PRO W7900 Dual Slot", 1},
    {ID, 0x744b, CPUBIND_ANY_ID, "Radeon PRO W7900D", 1},
    {ID, 0x74a0, CPUBIND_ANY_ID, "Instinct MI300A", 1},
    {ID, 0x74a1, CPUBIND_ANY_ID, "Instinct MI300X", 1},
    {ID, 0x74a2, CPUBIND_ANY_ID, "Instinct MI308X", 1},
    {ID, 0x74a5, CPUBIND_ANY_ID, "Instinct MI325X", 1},
    {ID, 0x74b5, CPUBIND_ANY_ID, "Instinct MI300X", 1},
    {ID, 0x7551, CPUBIND_ANY_ID, "Radeon AI PRO R9700", 1},
    {ID, 0x75a0, CPUBIND_ANY_ID, "Instinct MI350X", 1},
    {ID, 0x75a3, CPUBIND_ANY_ID, "Instinct MI355X", 1},
    {ID, CPUBIND_ANY_ID, CPUBIND_CLASS_ACCELERATOR, NULL, 1},
};

const cpubind_vendor cpubind_vendor_amd = {
    .word = "amd",
    .noun = "gpu",
    .runtime = "rocm",
    .product = products,
    .n_product = (int32_t)(sizeof products / sizeof *products),
    .file = {CPUBIND_FILES_DRM},
    .compute_file = "sys/class/kfd/kfd/dev",
    .variable = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"},
    .list = {{"ROCR_VISIBLE_DEVICES", NULL, CPUBIND_LIST_ROCR},
             {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", CPUBIND_LIST_HIP}},
};
