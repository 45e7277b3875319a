/* vendor_intel.c - the row of Intel's GPUs
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc.
 */
#include "pci_reader.h"
#include "visible_devices.h"

enum { ID = 0x8086 };

static const cpubind_vendor_product products[] = {
    {ID, 0x0bd5, CPUBIND_ANY_ID, "GPU Max 1550", 2},
    {ID, 0x0bd6, CPUBIND_ANY_ID, "GPU Max 1550", 2},
    {ID, 0x0bd7, CPUBIND_ANY_ID, "GPU Max 1350", 2},
    {ID, 0x0bd8, CPUBIND_ANY_ID, "GPU Max 1350", 2},
    {ID, 0x0bd9, CPUBIND_ANY_ID, "GPU Max 1100", 1},
    {ID, 0x0bda, CPUBIND_ANY_ID, "GPU Max 1100", 1},
    {ID, 0x0bdb, CPUBIND_ANY_ID, "GPU Max 1100", 1},
    {ID, 0x56c0, CPUBIND_ANY_ID, "GPU Flex 170", 1},
    {ID, 0x56c1, CPUBIND_ANY_ID, "GPU Flex 140", 1},
};

static cpubind_problem_code read_level_zero(facts_reader *r, cpubind_input env)
{
    cpubind_runtime_view *view = &r->facts->runtime[CPUBIND_VENDOR_INTEL];
    sight_group g;
    const cpubind_problem_code status =
        cpubind_priv_sight_open(r, CPUBIND_VENDOR_INTEL, env, &g);
    if (status != CPUBIND_PROBLEM_NONE)
        return status;
    view->has_order = 1;
    g.devices.is_flat = !cpubind_priv_sight_is(env, "ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE");
    cpubind_priv_sight_set(view, 0, env, "ZE_AFFINITY_MASK");
    view->value_len[1] = -1;
    if (cpubind_priv_sight_apply(view, 0, cpubind_ze_parse, &g))
        cpubind_priv_sight_write(r->facts, CPUBIND_VENDOR_INTEL, &g, 1);
    return CPUBIND_PROBLEM_NONE;
}

const cpubind_vendor cpubind_vendor_intel = {
    .word = "intel",
    .noun = "gpu",
    .runtime = "level_zero",
    .product = products,
    .n_product = (int32_t)(sizeof products / sizeof *products),
    .file = {CPUBIND_FILES_DRM},
    .variable = {"ZE_AFFINITY_MASK"},
    .setting = {"ZE_FLAT_DEVICE_HIERARCHY"},
    .see = read_level_zero,
};
