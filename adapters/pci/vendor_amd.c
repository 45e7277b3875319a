/* vendor_amd.c - the row of AMD
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. SOURCE: ROCm's installation guide:
 * /dev/kfd is the compute interface of all GPUs.
 */
#include "../model/facts_reader.h"
#include "visible_devices.h"

static const cpubind_vendor_product products[] = {
    {{0x66a0, 0x66a1}, 0, "Instinct MI50", 1},
    {{0x6860}, 0, "Instinct MI25", 1},
    {{0x738c, 0x738e}, 0, "Instinct MI100", 1},
    {{0x7408, 0x740c}, 0, "Instinct MI250X", 1},
    {{0x740f}, 0, "Instinct MI210", 1},
    {{0x7448}, 0, "Radeon PRO W7900", 1},
    {{0x744a}, 0, "Radeon PRO W7900 Dual Slot", 1},
    {{0x744b}, 0, "Radeon PRO W7900D", 1},
    {{0x74a0}, 0, "Instinct MI300A", 1},
    {{0x74a1, 0x74b5}, 0, "Instinct MI300X", 1},
    {{0x74a2}, 0, "Instinct MI308X", 1},
    {{0x74a5}, 0, "Instinct MI325X", 1},
    {{0x7551}, 0, "Radeon AI PRO R9700", 1},
    {{0x75a0}, 0, "Instinct MI350X", 1},
    {{0x75a3}, 0, "Instinct MI355X", 1},
    {{0}, CPUBIND_CLASS_ACCELERATOR, NULL, 1},
};

const cpubind_vendor cpubind_vendor_amd = {
    .word = "amd",
    .noun = "gpu",
    .runtime = "rocm",
    .id = 0x1002,
    .product = products,
    .n_product = (int32_t)(sizeof products / sizeof *products),
    .file = {CPUBIND_FILES_DRM},
    .compute_file = "sys/class/kfd/kfd/dev",
    .variable = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"},
    .list = {{"ROCR_VISIBLE_DEVICES", NULL, CPUBIND_LIST_ROCR},
             {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", CPUBIND_LIST_HIP}},
};
