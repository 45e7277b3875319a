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
#include "../model/facts_reader.h"
#include "device_users.h"
#include "visible_devices.h"

/* == Device files =========================================================== */

/* Whether a listing has the name of a device file. */
static int has_file(cpubind_input listing, const cpubind_device_node *file)
{
    cpubind_piece name;
    int32_t at = 0;
    while (facts_next_name(listing, &at, &name))
        if (facts_number_after(file->nodes->start, listing.data, name) == file->number)
            return 1;
    return 0;
}

/* Whether what this process sees does not count: the facts are of the host. */
static int is_of_host(const facts_reader *r)
{
    return r->request->bus && r->request->bus->is_host;
}

static cpubind_input list_own(const facts_reader *r, const char *name)
{
    const cpubind_input absent = {.state = CPUBIND_INPUT_ABSENT};
    return is_of_host(r) ? absent : r->source->list(r->source->ctx, name);
}

/* Finds the devices without a file that this process may open, where others of their vendor
 * have one: a container leaves them out, or they have another driver, and no runtime of this
 * process sees them. Those whose files are known are left out, too, where others of any vendor,
 * NPUs among them, have one. Where it may open none, nothing is known. */
static cpubind_problem_code read_files(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_device_nodes nodes;
    int has_some = facts_is_present(r->source->list(r->source->ctx, "dev"));
    int32_t *n_own = cpubind_arena_ints(r->arena, f->n_bus); /* -1: no file is known */
    if (!n_own || !cpubind_device_nodes_read(r->source, f, r->arena, &nodes))
        return facts_fail_memory(r);
    for (int32_t i = 0; i < f->n_bus; i++)
        n_own[i] = -1;
    for (int32_t i = 0; i < nodes.n; i++) {
        const cpubind_device_node *row = &nodes.row[i];
        int32_t *n = &n_own[row->device];
        cpubind_input listing;
        if (row->is_display)
            continue;
        listing = list_own(r, row->nodes->input);
        *n += *n < 0;
        if (!facts_is_present(listing) && listing.state != CPUBIND_INPUT_ABSENT)
            ++*n; /* it may be one */
        if (!has_file(listing, row))
            continue;
        has_some = 1;
        ++*n;
        f->runtime[f->bus[row->device].accelerator.vendor].n_file++;
    }
    for (int32_t i = 0; i < f->n_bus; i++)
        if (n_own[i] <= 0 && (f->runtime[f->bus[i].accelerator.vendor].n_file > 0 ||
                              (has_some && n_own[i] == 0)))
            f->bus[i].is_driven = 0;
    return CPUBIND_PROBLEM_NONE;
}

/* == Variables ============================================================== */

/* Whether the request has the list of visible devices in place of the variables. */
static int has_list(const facts_reader *r)
{
    return r->request->bus && !is_of_host(r) && r->request->visible;
}

static int has_vendor(const cpubind_facts *f, cpubind_vendor_id id)
{
    for (int32_t i = 0; i < f->n_bus; i++)
        if (f->bus[i].accelerator.vendor == id)
            return 1;
    return 0;
}

/* Whether an entry of a list is a range of numbers, such as 0-1. A UUID is none. */
static int has_range(const char *text, int32_t len)
{
    int is_number = 0; /* of the entry there have been digits alone */
    for (int32_t i = 0; i < len; i++) {
        if (text[i] == '-' && is_number)
            return 1;
        is_number = text[i] >= '0' && text[i] <= '9' &&
                    (is_number || i == 0 || text[i - 1] == ',' || text[i - 1] == ' ');
    }
    return 0;
}

/* Finds the only runtime of the host, whose variable the list of the request is in place of.
 * *out NULL: there is no list, or another one takes it. */
static cpubind_problem_code find_asked(facts_reader *r, const cpubind_vendor **out)
{
    const cpubind_vendor *only = NULL;
    *out = NULL;
    for (int i = 0; i < CPUBIND_VENDOR_COUNT && has_list(r); i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        if (!has_vendor(r->facts, (cpubind_vendor_id)i))
            continue;
        if (v->users) /* the list is of these */
            return CPUBIND_PROBLEM_NONE;
        if (only && v->list[0].name)
            return facts_fail(r, CPUBIND_PROBLEM_BAD_REQUEST,
                              "a list of visible devices is of one runtime, and this host has "
                              "devices of several: set their variables in place of it");
        only = v->list[0].name ? v : only;
    }
    if (only && has_range(r->request->visible, r->request->visible_len))
        return facts_fail(r, CPUBIND_PROBLEM_BAD_REQUEST,
                          "the list of visible devices has a range, of which the runtime of "
                          "these devices reads the first number at most");
    *out = only;
    if (only || r->facts->n_bus == 0 || !has_list(r))
        return CPUBIND_PROBLEM_NONE;
    return facts_fail(r, CPUBIND_PROBLEM_BAD_REQUEST,
                      "which variable has the list of visible devices is not known of the "
                      "devices of this host");
}

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

/* Takes the variables of a runtime, or the list of the request in their place. */
static void take_values(const facts_reader *r, const cpubind_vendor *v, int is_asked,
                        cpubind_input env, cpubind_runtime_view *view)
{
    for (int k = 0; k < CPUBIND_VENDOR_LISTS && v->list[k].name; k++) {
        const int is_last = k + 1 == CPUBIND_VENDOR_LISTS || !v->list[k + 1].name;
        const char *name = v->list[k].name;
        if (!is_asked) {
            view->value[k] = value_of(env, name, &view->value_len[k]);
        } else if (is_last) {
            view->value[k] = r->request->visible;
            view->value_len[k] = r->request->visible_len;
        }
        if (view->value_len[k] <= 0 && v->list[k].instead) {
            name = v->list[k].instead;
            view->value[k] = value_of(env, name, &view->value_len[k]);
        }
        view->variable[k] = view->value[k] ? name : NULL;
    }
}

/* == The devices of a runtime =============================================== */

/* Lists the devices of a vendor, with is_flat tile by tile. Virtual functions are devices where
 * it has no physical ones: in a virtual machine, or in a container that may open none. *left
 * has room for all, too. Returns 0 without memory. */
static int list_devices(facts_reader *r, cpubind_vendor_id id, int is_flat, cpubind_seen *all,
                        cpubind_seen *left, int32_t *n_device)
{
    const cpubind_facts *f = r->facts;
    int32_t n_item = 0, n_physical = 0;
    for (int32_t i = 0; i < f->n_bus; i++)
        if (f->bus[i].accelerator.vendor == id && f->bus[i].is_driven != 0) {
            n_physical += !f->bus[i].is_virtual;
            n_item += f->bus[i].accelerator.n_tile;
        }
    *all = *left = (cpubind_seen){.bus = f->bus};
    all->item = (cpubind_seen_device *)cpubind_arena_take(r->arena, n_item, sizeof *all->item);
    left->item = (cpubind_seen_device *)cpubind_arena_take(r->arena, n_item, sizeof *all->item);
    *n_device = 0;
    for (int32_t i = 0; left->item && i < f->n_bus && *n_device < CPUBIND_MAX_DEVICES; i++) {
        if (f->bus[i].accelerator.vendor != id || f->bus[i].is_driven == 0 ||
            f->bus[i].is_virtual != (n_physical == 0))
            continue;
        for (int32_t tile = 0; tile < (is_flat ? f->bus[i].accelerator.n_tile : 1); tile++)
            all->item[all->n++] = (cpubind_seen_device){i, is_flat ? tile : -1};
        ++*n_device;
    }
    return all->item && left->item;
}

/* Whether all devices are of one product. */
static int are_alike(const cpubind_seen *all)
{
    for (int32_t i = 0; all->n > 1 && i < all->n; i++) {
        const int32_t id = all->bus[all->item[i].device].ids.device;
        if (id < 0 || id != all->bus[all->item[0].device].ids.device)
            return 0;
    }
    return 1;
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

/* Whether the devices that a runtime numbers are not known, for Slurm may have left some. */
static int has_some(cpubind_input env, int32_t n)
{
    int32_t len;
    const int is_step = value_of(env, "SLURM_STEP_GPUS", &len) != NULL;
    return has_fewer(env, "SLURM_GPUS_ON_NODE", 1, n) ||
           has_fewer(env, is_step ? "SLURM_STEP_GPUS" : "SLURM_JOB_GPUS", 0, n);
}

/* Leaves those that the variables leave, each of those that the one before has left. Returns 0
 * where a text does not tell: view->why. */
static int apply_values(const cpubind_vendor *v, int is_part, cpubind_runtime_view *view,
                        cpubind_seen *all, cpubind_seen *left)
{
    for (int k = 0; k < CPUBIND_VENDOR_LISTS && v->list[k].name; k++) {
        cpubind_text_fault fault = {0, NULL};
        const cpubind_seen before = *all;
        if (is_part && (view->value_len[k] < 4 || memcmp(view->value[k], "GPU-", 4) != 0))
            fault.what = "Slurm gave it some of the GPUs, and may number these alone; no file "
                         "tells which they are";
        else if (view->value_len[k] >= 0 &&
                 cpubind_visible_devices(v->list[k].grammar, view->value[k], view->value_len[k],
                                         all, left, &fault) == CPUBIND_TEXT_OK) {
            left->has_order = all->has_order;
            *all = *left;
            *left = before;
        }
        view->why = fault.what;
        if (view->why)
            return 0;
    }
    return 1;
}

/* Writes what a runtime shows to the facts. */
static void write_seen(cpubind_facts *f, cpubind_vendor_id id, const cpubind_seen *seen)
{
    for (int32_t i = 0; i < f->n_bus; i++)
        if (f->bus[i].accelerator.vendor == id)
            f->bus[i].sight = CPUBIND_SIGHT_HIDDEN;
    for (int32_t k = 0; k < seen->n; k++) {
        cpubind_host_device *device = &f->bus[seen->item[k].device];
        device->sight = CPUBIND_SIGHT_VISIBLE;
        if (!f->runtime[id].has_order || device->n_number == CPUBIND_PCI_NUMBERS)
            continue;
        device->number[device->n_number] = k;
        device->tile[device->n_number++] = seen->item[k].tile;
    }
}

static cpubind_problem_code read_runtime(facts_reader *r, cpubind_vendor_id id,
                                         const cpubind_vendor *asked, cpubind_input env)
{
    const cpubind_vendor *v = cpubind_vendor_of(id);
    cpubind_runtime_view *view = &r->facts->runtime[id];
    const int32_t grammar = v->list[0].grammar;
    cpubind_seen all, left;
    int32_t len, n_device;
    const char *setting = v->setting[0] ? value_of(env, v->setting[0], &len) : NULL;
    const int is_set = setting && len == (int32_t)strlen(v->usual) &&
                       memcmp(setting, v->usual, (size_t)len) == 0;
    if (!list_devices(r, id, (grammar & CPUBIND_LIST_OF_TILES) && !is_set, &all, &left,
                      &n_device))
        return facts_fail_memory(r);
    view->word = v->runtime;
    take_values(r, v, v == asked, env, view);
    view->has_order = all.has_order =
        !(grammar & CPUBIND_LIST_OWN_ORDER) || is_set || are_alike(&all);
    if (!apply_values(v, view->n_file == 0 && has_some(env, n_device), view, &all, &left))
        return CPUBIND_PROBLEM_NONE;
    view->has_order |= view->variable[0] != NULL; /* the list numbers what it names */
    write_seen(r->facts, id, &all);
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_priv_read_sight(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_vendor *asked;
    cpubind_input env = {.state = CPUBIND_INPUT_ABSENT};
    cpubind_problem_code status =
        is_of_host(r) ? CPUBIND_PROBLEM_NONE : facts_ask(r, INPUT_ENV, &env);
    if (status == CPUBIND_PROBLEM_NONE)
        status = find_asked(r, &asked);
    if (status == CPUBIND_PROBLEM_NONE)
        status = read_files(r);
    for (int i = 0; status == CPUBIND_PROBLEM_NONE && i < CPUBIND_VENDOR_COUNT; i++) {
        f->runtime[i].value_len[0] = f->runtime[i].value_len[1] = -1;
        if (cpubind_vendor_of((cpubind_vendor_id)i)->list[0].name &&
            has_vendor(f, (cpubind_vendor_id)i))
            status = read_runtime(r, (cpubind_vendor_id)i, asked, env);
    }
    for (int32_t i = 0; i < f->n_bus; i++)
        if (!f->bus[i].is_driven &&
            !cpubind_vendor_of(f->bus[i].accelerator.vendor)->list[0].name)
            f->bus[i].sight = CPUBIND_SIGHT_HIDDEN;
    return status;
}
