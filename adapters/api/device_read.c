/* device_read.c - the devices of a host, of any vendor: read, and planned by name
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing. Decides nothing about CPUs: ../plan does.
 */
#include <string.h>

#include "../model/vendor.h"
#include "device_plan.h"

/* == Reading ================================================================ */

typedef struct reading {
    const cpubind_source *source;
    const cpubind_pci_request *asked;
    api_planned *out;
    cpubind_facts listed; /* the facts of the devices that a driver or its tool lists */
    int has_listed;
} reading;

/* Reads the facts of the NPUs, of which that of the bus have some. */
static cpubind_problem_code read_listed(reading *r, cpubind_arena *arena)
{
    const cpubind_request usual = {.is_auto_strategy = 1, .scope = CPUBIND_SCOPE_CPUSET};
    cpubind_request request = r->asked->host ? *r->asked->host : usual;
    cpubind_problem_code code;
    request.wants_pci = 1;
    request.n_job = CPUBIND_MAX_DEVICES; /* those of other jobs are seen, too */
    request.wants_others = 1;            /* with these alone all NPUs are hidden */
    code = cpubind_facts_read(r->source, &request, arena, &r->listed, &r->out->problem);
    r->has_listed = code == CPUBIND_PROBLEM_NONE;
    return code == CPUBIND_PROBLEM_NO_MEMORY ? code : CPUBIND_PROBLEM_NONE;
}

/* Says of each function that a driver lists which numbers it has, and whether the process sees
 * one. */
static cpubind_problem_code see_listed(reading *r, cpubind_arena *arena)
{
    cpubind_facts *f = &r->out->facts;
    cpubind_runtime_view *view = &f->runtime[CPUBIND_VENDOR_ASCEND];
    const cpubind_vendor *row = cpubind_vendor_of(CPUBIND_VENDOR_ASCEND);
    int32_t n_ascend = 0;
    cpubind_problem_clear(&r->out->problem);
    for (int32_t i = 0; i < f->n_bus; i++)
        n_ascend += f->bus[i].accelerator.vendor == CPUBIND_VENDOR_ASCEND;
    if (n_ascend == 0)
        return CPUBIND_PROBLEM_NONE;
    if (read_listed(r, arena) != CPUBIND_PROBLEM_NONE)
        return CPUBIND_PROBLEM_NO_MEMORY;
    view->word = row->runtime;
    if (r->listed.visible) {
        view->variable[0] = row->variable[0];
        view->value[0] = r->listed.visible;
        view->value_len[0] = r->listed.visible_len;
    }
    view->has_order = r->has_listed;
    if (!r->has_listed) {
        view->why = "the logic ids of the NPUs are not known; cpubind plan says why";
        return CPUBIND_PROBLEM_NONE;
    }
    f->device = r->listed.device;
    f->n_device = f->n_listed = r->listed.n_listed;
    for (int32_t i = 0; i < f->n_bus; i++) {
        cpubind_pci_function *device = &f->bus[i];
        if (device->accelerator.vendor != CPUBIND_VENDOR_ASCEND || !device->is_asked)
            continue;
        device->sight = CPUBIND_SIGHT_HIDDEN;
        for (int32_t k = 0; k < f->n_listed; k++) {
            if (!f->device[k].is_visible ||
                cpubind_pci_compare(&f->device[k].pci, &device->pci) != 0)
                continue;
            device->sight = CPUBIND_SIGHT_VISIBLE;
            if (device->n_number < CPUBIND_PCI_NUMBERS)
                device->number[device->n_number++] = f->device[k].logic;
        }
    }
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code read_devices(void *ctx, cpubind_arena *arena)
{
    reading *r = (reading *)ctx;
    const cpubind_problem_code code =
        cpubind_devices_read(r->source, r->asked, arena, &r->out->facts, &r->out->problem);
    return code == CPUBIND_PROBLEM_NONE ? see_listed(r, arena) : code;
}

void api_read_asked(const cpubind_source *source, const cpubind_pci_request *asked,
                    api_planned *out)
{
    reading r = {.source = source, .asked = asked, .out = out};
    out->code = cpubind_with_arena(NULL, &out->arena, read_devices, &r);
}

void api_read_devices(const cpubind_source *source, const api_options *options,
                      api_planned *out)
{
    cpubind_pci_request request = options->topo;
    request.named = request.n_named > 0 ? options->pci : NULL;
    api_read_asked(source, &request, out);
}

int api_judge_devices(const api_planned *read, const api_options *options, api_text *why)
{
    const cpubind_problem *fault = &read->problem;
    if (read->code == CPUBIND_PROBLEM_NO_MEMORY)
        return api_no_room(why);
    if (read->code == CPUBIND_PROBLEM_UNKNOWN_DEVICE) {
        api_add(why, "there is no PCI function ");
        api_add_pci(why, &fault->pci);
        api_add(why, " on this host; ls /sys/bus/pci/devices, or lspci -D, lists them");
        return API_REFUSED;
    }
    if (read->code != CPUBIND_PROBLEM_NONE) {
        if (fault->input)
            api_add(why, "%s: ", fault->input);
        api_add(why, "%s", fault->what);
        if (fault->answer.state == CPUBIND_INPUT_FAILED)
            api_add(why, " (%s)", strerror(fault->answer.error));
        if (read->code == CPUBIND_PROBLEM_BAD_REQUEST)
            api_add_commas(options, why);
        return (int)cpubind_problem_exit(read->code);
    }
    if (read->facts.n_bus > 0)
        return API_DONE;
    if (read->facts.has_bus && options->topo.class_digits > 0)
        api_add(why, "no PCI function has this class; lspci -Dnn shows the class of each");
    else
        api_add_no_device(read->facts.has_bus, why);
    return API_REFUSED;
}

/* == Planning =============================================================== */

/* The arguments of make. */
typedef struct making {
    reading reading;
    const api_options *options;
    const cpubind_pci_address *only; /* plans this device alone; NULL: those of the options */
    cpubind_request asked;
} making;

/* Leaves a device of which tiles are named these alone. */
static void keep_named_tiles(const api_options *o, cpubind_pci_function *device)
{
    int32_t n = 0;
    for (int32_t k = 0; k < device->n_number; k++)
        for (int32_t i = 0; i < o->topo.n_named; i++)
            if (o->tile[i] >= 0 && o->tile[i] == device->tile[k] &&
                cpubind_pci_compare(&o->pci[i], &device->pci) == 0) {
                device->number[n] = device->number[k];
                device->tile[n++] = device->tile[k];
            }
    if (n > 0)
        device->n_number = n;
}

/* Leaves of the devices those that are named, or `only`. A virtual function that is named is
 * planned, though its runtime shows the physical one in its place. */
static void keep_named(const making *m, cpubind_facts *f)
{
    const api_options *o = m->options;
    for (int32_t i = 0; i < f->n_bus; i++) {
        cpubind_pci_function *device = &f->bus[i];
        if (!m->only) {
            keep_named_tiles(o, device);
            if (device->is_virtual && device->is_asked && o->topo.n_named > 0 &&
                o->topo.class_digits == 0)
                device->sight = CPUBIND_SIGHT_VISIBLE;
            continue;
        }
        device->sight = device->is_asked ? CPUBIND_SIGHT_VISIBLE : CPUBIND_SIGHT_HIDDEN;
        device->n_number = device->is_asked && o->tile[0] >= 0;
        device->number[0] = 0;
        device->tile[0] = o->tile[0];
    }
}

static cpubind_problem_code make(void *ctx, cpubind_arena *arena)
{
    making *m = (making *)ctx;
    reading *r = &m->reading;
    api_planned *out = r->out;
    cpubind_facts devices;
    cpubind_problem_code code = read_devices(r, arena);
    out->has_facts = code == CPUBIND_PROBLEM_NONE;
    if (code != CPUBIND_PROBLEM_NONE || out->facts.n_bus == 0)
        return code;
    keep_named(m, &out->facts);
    devices = out->facts;
    return cpubind_plan_devices(&devices, r->has_listed ? &r->listed : NULL, &m->asked, arena,
                                &out->facts, &out->plan, &out->problem);
}

/* How the options, and the variables of the host, want devices planned; *out borrows from
 * them. Returns the exit status, with the reason in *why. */
static int ask(const cpubind_source *source, const api_options *options, cpubind_request *out,
               api_text *why)
{
    *out = options->request;
    out->rules = cpubind_rules_asked(source, out);
    if (options->has_roles)
        out->roles = &options->roles;
    if (out->rules != CPUBIND_RULES_COUNT)
        return API_DONE;
    api_add(why, "CPUBIND_RULES is neither reference nor near; mend the variable, or say it "
                 "with --rules reference or --rules near");
    return API_UNREADABLE;
}

int api_plan_bus(const cpubind_source *source, const api_options *options, api_planned *out,
                 api_text *why)
{
    cpubind_pci_request asked = options->topo;
    making m = {.reading = {.source = source, .asked = &asked, .out = out}, .options = options};
    int status = API_DONE;
    if (options->request.only_running) {
        api_add(why, "which devices run is not known here: leave out --running");
        return API_REFUSED;
    }
    asked.wants_cores = asked.is_beside = 1;
    asked.host = &options->request;
    asked.named = asked.n_named > 0 ? options->pci : NULL;
    asked.visible = options->request.visible;
    asked.visible_len = options->request.visible_len;
    if (asked.n_named == 1 && options->command & API_LIVE) {
        m.only = options->pci;
        asked.class_digits = 0;
    }
    status = ask(source, options, &m.asked, why);
    if (status != API_DONE)
        return status;
    api_free_planned(out);
    out->code = cpubind_with_arena(NULL, &out->arena, make, &m);
    if (!out->has_facts || out->facts.n_bus == 0)
        return api_judge_devices(out, options, why);
    if (out->code == CPUBIND_PROBLEM_NONE)
        return API_DONE;
    if (out->code == CPUBIND_PROBLEM_NO_MEMORY)
        return api_no_room(why);
    api_add(why, "there is no plan for these devices: %s", out->problem.what);
    api_add_fault(&out->problem, why);
    return cpubind_problem_exit(out->code);
}
