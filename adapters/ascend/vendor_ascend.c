/* vendor_ascend.c - the row of Huawei's Ascend NPUs
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. Their products are in ../model/products.h.
 */
#include "../model/facts_reader.h"
#include "npu_processes.h"
#include "thread_roles.h"

static const char *name_product(int32_t vendor, int32_t device)
{
    const cpubind_device_type type =
        cpubind_is_npu_vendor(vendor) ? cpubind_type_of_pci(device) : CPUBIND_TYPE_AUTO;
    if (device < 0)
        return cpubind_is_npu_vendor(vendor) ? "" : NULL;
    return type == CPUBIND_TYPE_AUTO ? NULL : cpubind_type_word(type);
}

static const cpubind_thread_role threads[] = {
#define CPUBIND_X(pattern, named, role, cpu, is_reference, giver, why)                         \
    {pattern, CPUBIND_NAMED_##named, CPUBIND_ROLE_##role, cpu, is_reference, giver, why},
    CPUBIND_THREAD_ROLE_LIST(CPUBIND_X)
#undef CPUBIND_X
};

const cpubind_vendor cpubind_vendor_ascend = {.word = "ascend",
                                              .noun = "npu",
                                              .runtime = "ascend",
                                              .name = name_product,
                                              .variable = {"ASCEND_RT_VISIBLE_DEVICES"},
                                              .container = "ASCEND_VISIBLE_DEVICES",
                                              .numbered = "devdrv-cdev",
                                              .users = cpubind_npu_processes_read,
                                              .user_file = "/dev/davinci_manager",
                                              .thread = threads,
                                              .n_thread = sizeof threads / sizeof *threads,
                                              .irqs = cpubind_ascend_irqs,
                                              .polling = CPUBIND_UVB_THREAD,
                                              .own = {"dev", "dev", "davinci", 0},
                                              .tool = "npu-smi",
                                              .drives_one = 1};
