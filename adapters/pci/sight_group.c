/* sight_group.c - what the runtimes of all vendors have in common: the devices that one
 * numbers, and the variables that hide some of them
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. visible_devices.h has the rules.
 *
 * SLURM  With ConstrainDevices=yes (cgroup.conf) the device cgroup of a job, a step or a task
 * has its GPUs alone, and the variables of the runtimes count among these from 0; without it
 * they count among all. SLURM_STEP_GPUS, of a batch script SLURM_JOB_GPUS, has numbers of the
 * host, but of the first GPUs of the step, whichever the task has. So these tell which GPUs a
 * process sees only where they and SLURM_GPUS_ON_NODE name all; else the files have to, which
 * access(2) tells apart by the device cgroup, too.
 * SOURCES  Slurm 22.05 to 26.11: gres_common.c (common_gres_set_env), gres.c
 *   (_get_usable_gres), task_cgroup_devices.c. With --gpus-per-task=1, tasks of GPUs 2, 3 and 4
 *   have CUDA_VISIBLE_DEVICES=0, SLURM_STEP_GPUS=2 and SLURM_GPUS_ON_NODE=3, each of them.
 */
#include "pci_reader.h"

/* The value of a variable; *len is -1 when it is not set. */
static const char *value_of(cpubind_input env, const char *name, int32_t *len)
{
    cpubind_piece value = {0, -1};
    if (!facts_is_present(env) ||
        cpubind_env_find(env.data, env.len, name, &value) != CPUBIND_TEXT_OK)
        value.len = -1;
    *len = value.len;
    return value.len >= 0 ? (env.data ? env.data + value.at : "") : NULL;
}

int cpubind_priv_sight_is(cpubind_input env, const char *name, const char *wanted)
{
    int32_t len;
    const char *value = value_of(env, name, &len);
    return value && len == (int32_t)strlen(wanted) && memcmp(value, wanted, (size_t)len) == 0;
}

/* Whether a function is a device of its runtime: virtual functions are where it has no physical
 * ones, in a virtual machine, or in a container that may open none. */
static int is_device(const cpubind_facts *f, int32_t i, cpubind_vendor_id id)
{
    const cpubind_pci_function *function = &f->bus[i];
    int32_t n_physical = 0;
    for (int32_t k = 0; k < f->n_bus; k++)
        n_physical += f->bus[k].accelerator.vendor == id && !f->bus[k].is_virtual &&
                      f->bus[k].is_driven != 0;
    return function->accelerator.vendor == id && function->is_driven != 0 &&
           function->is_virtual == (n_physical == 0);
}

/* Whether a variable of Slurm is set, and says that the process has not all of n GPUs. */
static int has_fewer(cpubind_input env, const char *name, int is_count, int32_t n)
{
    int32_t len, value = 1;
    const char *text = value_of(env, name, &len);
    if (!text)
        return 0;
    if (is_count)
        return cpubind_number_parse(text, len, &value, NULL) != CPUBIND_TEXT_OK || value != n;
    for (int32_t i = 0; i < len; i++)
        value += text[i] == ',';
    return value != n;
}

/* Says why the devices that a runtime numbers are not known, where Slurm may have left some. */
static void judge_slurm(cpubind_input env, sight_group *g)
{
    int32_t len;
    const int is_step = value_of(env, "SLURM_STEP_GPUS", &len) != NULL;
    if (has_fewer(env, "SLURM_GPUS_ON_NODE", 1, g->devices.n) ||
        has_fewer(env, is_step ? "SLURM_STEP_GPUS" : "SLURM_JOB_GPUS", 0, g->devices.n))
        g->why = "Slurm gave it some of the GPUs, and may number these alone; no file tells "
                 "which they are";
}

cpubind_problem_code cpubind_priv_sight_open(facts_reader *r, cpubind_vendor_id id,
                                             cpubind_input env, sight_group *g)
{
    const cpubind_facts *f = r->facts;
    int32_t n_item = 0;
    memset(g, 0, sizeof *g);
    g->index = cpubind_arena_ints(r->arena, f->n_bus);
    g->n_tile = cpubind_arena_ints(r->arena, f->n_bus);
    g->uuid_len = cpubind_arena_ints(r->arena, f->n_bus);
    g->uuid = (const char **)cpubind_arena_take(r->arena, f->n_bus, sizeof *g->uuid);
    if (!g->index || !g->n_tile || !g->uuid_len || !g->uuid)
        return facts_fail_memory(r);
    for (int32_t i = 0; i < f->n_bus && g->devices.n < CPUBIND_MAX_DEVICES; i++) {
        const int32_t n = g->devices.n;
        if (!is_device(f, i, id))
            continue;
        g->index[n] = i;
        g->n_tile[n] = f->bus[i].accelerator.n_tile;
        g->uuid[n] = f->bus[i].uuid;
        g->uuid_len[n] = f->bus[i].uuid_len;
        n_item += g->n_tile[n];
        g->devices.n++;
    }
    if (r->pci->n_node[id] == 0)
        judge_slurm(env, g);
    g->devices.n_tile = g->n_tile;
    g->devices.uuid = g->uuid;
    g->devices.uuid_len = g->uuid_len;
    g->devices.has_order = 1;
    g->seen.item =
        (cpubind_seen_device *)cpubind_arena_take(r->arena, n_item, sizeof *g->seen.item);
    g->seen.cap = n_item;
    return g->seen.item ? CPUBIND_PROBLEM_NONE : CPUBIND_PROBLEM_NO_MEMORY;
}

/* Applies the rule of a variable that is set; all devices are seen when it is not. *view says
 * why nothing is known when the text does not tell. Returns 0 then. */
int cpubind_priv_sight_apply(cpubind_runtime_view *view, int32_t slot,
                             cpubind_visible_rule *rule, sight_group *g)
{
    cpubind_text_fault fault = {0, NULL};
    cpubind_text_status status;
    if (g->why && (view->value_len[slot] < 4 || memcmp(view->value[slot], "GPU-", 4) != 0)) {
        view->why = g->why;
        return 0;
    }
    if (view->value_len[slot] < 0)
        status = cpubind_seen_all(&g->devices, &g->seen);
    else
        status = rule(view->value[slot], view->value_len[slot], &g->devices, &g->seen, &fault);
    if (status == CPUBIND_TEXT_OK)
        return 1;
    view->why = fault.what ? fault.what : "there are too many devices";
    return 0;
}

/* Writes what was found to the facts. */
void cpubind_priv_sight_write(cpubind_facts *f, cpubind_vendor_id id, const sight_group *g,
                              int32_t has_order)
{
    for (int32_t i = 0; i < f->n_bus; i++)
        if (f->bus[i].accelerator.vendor == id)
            f->bus[i].sight = CPUBIND_SIGHT_HIDDEN;
    for (int32_t k = 0; k < g->seen.n; k++) {
        cpubind_pci_function *device = &f->bus[g->index[g->seen.item[k].device]];
        device->sight = CPUBIND_SIGHT_VISIBLE;
        if (!has_order || device->n_number == CPUBIND_PCI_NUMBERS)
            continue;
        device->number[device->n_number] = k;
        device->tile[device->n_number++] = g->seen.item[k].tile;
    }
}

void cpubind_priv_sight_set(cpubind_runtime_view *view, int32_t slot, cpubind_input env,
                            const char *name)
{
    view->value[slot] = value_of(env, name, &view->value_len[slot]);
    view->variable[slot] = view->value[slot] ? name : NULL;
}

/* == Drivers ================================================================ */

int cpubind_priv_is_driven(const facts_reader *r, const cpubind_vendor *vendor,
                           const cpubind_pci_address *pci)
{
    cpubind_input listing;
    cpubind_piece name;
    int32_t at = 0;
    if (!vendor->driver.folder)
        return 0;
    listing = r->source->list(r->source->ctx, vendor->driver.folder);
    while (facts_next_name(listing, &at, &name)) {
        cpubind_pci_address driven;
        if (cpubind_pci_parse(listing.data + name.at, name.len, &driven, NULL) ==
                CPUBIND_TEXT_OK &&
            cpubind_pci_compare(&driven, pci) == 0)
            return 1;
    }
    return 0;
}
