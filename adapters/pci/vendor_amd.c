/* vendor_amd.c - the row of AMD
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. SOURCE: ROCm's installation guide:
 * /dev/kfd is the compute interface of all GPUs.
 */
#include "pci_reader.h"
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
    {ID, 0x74a0, CPUBIND_ANY_ID, "Instinct MI300A", 1},
    {ID, 0x74a1, CPUBIND_ANY_ID, "Instinct MI300X", 1},
    {ID, 0x74a2, CPUBIND_ANY_ID, "Instinct MI308X", 1},
    {ID, 0x74a5, CPUBIND_ANY_ID, "Instinct MI325X", 1},
    {ID, 0x74b5, CPUBIND_ANY_ID, "Instinct MI300X", 1},
    {ID, 0x75a0, CPUBIND_ANY_ID, "Instinct MI350X", 1},
    {ID, 0x75a3, CPUBIND_ANY_ID, "Instinct MI355X", 1},
    {ID, CPUBIND_ANY_ID, CPUBIND_CLASS_ACCELERATOR, NULL, 1},
};

/* ROCR_VISIBLE_DEVICES leaves devices, and the variable of HIP counts these from 0. */
static cpubind_problem_code read_rocm(facts_reader *r, cpubind_input env)
{
    cpubind_runtime_view *view = &r->facts->runtime[CPUBIND_VENDOR_AMD];
    sight_group g;
    int32_t *left = cpubind_arena_ints(r->arena, r->facts->n_bus);
    const cpubind_problem_code status = cpubind_priv_sight_open(r, CPUBIND_VENDOR_AMD, env, &g);
    if (status != CPUBIND_PROBLEM_NONE || !left)
        return left ? status : CPUBIND_PROBLEM_NO_MEMORY;
    view->has_order = 1;
    cpubind_priv_sight_set(view, 0, env, "ROCR_VISIBLE_DEVICES");
    cpubind_priv_sight_set(view, 1, env, "HIP_VISIBLE_DEVICES");
    if (view->value_len[1] <= 0)
        cpubind_priv_sight_set(view, 1, env, "CUDA_VISIBLE_DEVICES");
    if (!cpubind_priv_sight_apply(view, 0, cpubind_rocr_parse, &g))
        return CPUBIND_PROBLEM_NONE;
    for (int32_t i = 0; i < g.seen.n; i++)
        left[i] = g.index[g.seen.item[i].device];
    g.index = left;
    g.devices.n = g.seen.n;
    if (cpubind_priv_sight_apply(view, 1, cpubind_hip_parse, &g))
        cpubind_priv_sight_write(r->facts, CPUBIND_VENDOR_AMD, &g, 1);
    return CPUBIND_PROBLEM_NONE;
}

const cpubind_vendor cpubind_vendor_amd = {
    .word = "amd",
    .noun = "gpu",
    .runtime = "rocm",
    .product = products,
    .n_product = (int32_t)(sizeof products / sizeof *products),
    .file = {CPUBIND_FILES_DRM},
    .compute_file = "sys/class/kfd/kfd/dev",
    .variable = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"},
    .see = read_rocm,
};
