/* pci_sight.c - what this process sees of each device, by its device files and the variables of
 * the runtimes
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. visible_devices.h has the rules. A
 * runtime is taken to number its devices in the order of their PCI addresses, which the drivers
 * of AMD and Intel do; CUDA does with CUDA_DEVICE_ORDER=PCI_BUS_ID, and otherwise among devices
 * that are equally fast: here, of one device id.
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
#include "device_users.h"
#include "pci_reader.h"

/* The value of a variable; *len is -1 when it is not set. */
static const char *value_of(cpubind_input env, const char *name, int32_t *len)
{
    cpubind_slice value = {0, -1};
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

/* Whether a function is a device of its runtime: virtual functions are where there are no
 * physical ones, in a virtual machine. */
static int is_device(const cpubind_facts *f, int32_t i, cpubind_vendor_id id)
{
    const cpubind_pci_function *function = &f->device[i];
    int32_t n_physical = 0;
    for (int32_t k = 0; k < f->n_device; k++)
        n_physical += f->device[k].accelerator.vendor == id && !f->device[k].is_virtual;
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
    g->index = cpubind_arena_ints(r->arena, f->n_device);
    g->n_tile = cpubind_arena_ints(r->arena, f->n_device);
    g->uuid_len = cpubind_arena_ints(r->arena, f->n_device);
    g->uuid = (const char **)cpubind_arena_take(r->arena, f->n_device, sizeof *g->uuid);
    if (!g->index || !g->n_tile || !g->uuid_len || !g->uuid)
        return facts_fail_memory(r);
    for (int32_t i = 0; i < f->n_device && g->devices.n < CPUBIND_MAX_DEVICES; i++) {
        const int32_t n = g->devices.n;
        if (!is_device(f, i, id))
            continue;
        g->index[n] = i;
        g->n_tile[n] = f->device[i].accelerator.n_tile;
        g->uuid[n] = f->device[i].uuid;
        g->uuid_len[n] = f->device[i].uuid_len;
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
    for (int32_t i = 0; i < f->n_device; i++)
        if (f->device[i].accelerator.vendor == id)
            f->device[i].sight = CPUBIND_SIGHT_HIDDEN;
    for (int32_t k = 0; k < g->seen.n; k++) {
        cpubind_pci_function *device = &f->device[g->index[g->seen.item[k].device]];
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

/* == Device files =========================================================== */

/* Whether a list of names, an input, has this one. */
static int has_name(const facts_reader *r, const char *input, const char *wanted)
{
    const cpubind_input listing = r->source->list(r->source->ctx, input);
    cpubind_slice name;
    int32_t at = 0;
    while (facts_next_name(listing, &at, &name))
        if ((size_t)name.len == strlen(wanted) &&
            memcmp(listing.data + name.at, wanted, (size_t)name.len) == 0)
            return 1;
    return 0;
}

/* Whether this process may open some device file. */
static int is_there(void *ctx, const cpubind_vendor_nodes *nodes,
                    const cpubind_vendor_files *bus)
{
    const facts_reader *r = (const facts_reader *)ctx;
    (void)bus;
    return facts_is_present(r->source->list(r->source->ctx, nodes->input));
}

/* Finds the devices without a file that this process may open, where others of their vendor
 * have one: a container leaves them out, or they have another driver, and no runtime of this
 * process sees them. Where it may open none, nothing is known. */
static cpubind_problem_code read_files(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_device_nodes nodes;
    int32_t *n_own;
    if (!cpubind_vendor_each_nodes(is_there, r))
        return CPUBIND_PROBLEM_NONE;
    n_own = cpubind_arena_ints(r->arena, f->n_device);
    if (!n_own || !cpubind_device_nodes_read(r->source, f, r->arena, &nodes))
        return facts_fail_memory(r);
    memset(n_own, 0, (size_t)f->n_device * sizeof *n_own);
    for (int32_t i = 0; i < nodes.n; i++) {
        const cpubind_device_node *row = &nodes.row[i];
        if ((row->bus && row->bus->is_display) ||
            !has_name(r, row->nodes->input,
                      row->path + sizeof "//" - 1 + strlen(row->nodes->folder)))
            continue;
        n_own[row->device]++;
        r->pci->n_node[f->device[row->device].accelerator.vendor]++;
    }
    for (int32_t i = 0; i < f->n_device; i++)
        if (n_own[i] == 0 && r->pci->n_node[f->device[i].accelerator.vendor] > 0)
            f->device[i].is_driven = 0;
    return CPUBIND_PROBLEM_NONE;
}

static int has_vendor(const cpubind_facts *f, cpubind_vendor_id id)
{
    for (int32_t i = 0; i < f->n_device; i++)
        if (f->device[i].accelerator.vendor == id)
            return 1;
    return 0;
}

/* Whether a variable, with its value, is one of those that hide devices of a vendor. */
static int hides(const cpubind_vendor *v, const char *text, int32_t len)
{
    for (int i = 0; i < CPUBIND_VENDOR_VARIABLES && v->variable[i]; i++) {
        const int32_t n = (int32_t)strlen(v->variable[i]);
        if (n < len && memcmp(text, v->variable[i], (size_t)n) == 0 && text[n] == '=')
            return 1;
    }
    return 0;
}

/* Puts the list of the request in place of the variables of a runtime. */
static cpubind_problem_code replace_visible(facts_reader *r, const cpubind_vendor *v,
                                            cpubind_input *env)
{
    const cpubind_pci_request *q = r->pci->request;
    const int32_t n_old = facts_is_present(*env) ? env->len : 0;
    const size_t n_name = strlen(v->variable[0]);
    char *text = (char *)cpubind_arena_take(
        r->arena, n_old + (int32_t)n_name + q->visible_len + 3, sizeof *text);
    int32_t n = (int32_t)n_name;
    if (!text)
        return facts_fail_memory(r);
    memcpy(text, v->variable[0], n_name);
    text[n++] = '=';
    memcpy(text + n, q->visible, (size_t)q->visible_len);
    n += q->visible_len;
    text[n++] = '\0';
    for (int32_t at = 0, len; at < n_old; at += len) {
        const char *end = (const char *)memchr(env->data + at, '\0', (size_t)(n_old - at));
        len = end ? (int32_t)(end - env->data) - at + 1 : n_old - at;
        memcpy(text + n, env->data + at, (size_t)len);
        text[n + len] = '\0';
        if (!hides(v, text + n, len))
            n += len;
    }
    *env = (cpubind_input){.state = CPUBIND_INPUT_PRESENT, .data = text, .len = n};
    return CPUBIND_PROBLEM_NONE;
}

/* Takes the list of visible devices of the request as that of the only runtime of the host. */
static cpubind_problem_code take_visible(facts_reader *r, cpubind_input *env)
{
    const cpubind_vendor *only = NULL;
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        if (!has_vendor(r->facts, (cpubind_vendor_id)i))
            continue;
        if (i == CPUBIND_VENDOR_ASCEND)
            return CPUBIND_PROBLEM_NONE;
        if (!v->see)
            continue;
        if (only)
            return facts_fail(r, CPUBIND_PROBLEM_BAD_REQUEST,
                              "a list of visible devices is of one runtime, and this host has "
                              "devices of several: set their variables in place of it");
        only = v;
    }
    if (only || r->facts->n_device == 0)
        return only ? replace_visible(r, only, env) : CPUBIND_PROBLEM_NONE;
    return facts_fail(r, CPUBIND_PROBLEM_BAD_REQUEST,
                      "which variable has the list of visible devices is not known of the "
                      "devices of this host");
}

cpubind_problem_code cpubind_priv_pci_read_sight(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_input env;
    cpubind_problem_code status = facts_ask(r, "env", &env);
    if (status == CPUBIND_PROBLEM_NONE && r->pci->request->visible)
        status = take_visible(r, &env);
    if (status == CPUBIND_PROBLEM_NONE)
        status = read_files(r);
    for (int i = 0; status == CPUBIND_PROBLEM_NONE && i < CPUBIND_VENDOR_COUNT; i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        f->runtime[i].value_len[0] = f->runtime[i].value_len[1] = -1;
        f->runtime[i].n_file = r->pci->n_node[i];
        if (!v->see || !has_vendor(f, (cpubind_vendor_id)i))
            continue;
        f->runtime[i].word = v->runtime;
        status = v->see(r, env);
    }
    for (int32_t i = 0; i < f->n_device; i++)
        if (!f->device[i].is_driven && !cpubind_vendor_of(f->device[i].accelerator.vendor)->see)
            f->device[i].sight = CPUBIND_SIGHT_HIDDEN;
    return status;
}
