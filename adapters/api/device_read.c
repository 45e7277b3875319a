/* device_read.c - read the accelerators of a host, of any vendor
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing about CPUs. Here the room of PCI devices meets that of Ascend: this file asks
 * Ascend's facts for the logic ids of NPUs.
 */
#include <stdlib.h>
#include <string.h>

#include "../model/vendor.h"
#include "device_plan.h"

#define FIRST_ARENA ((size_t)1 << 20)
#define LAST_ARENA  ((size_t)1 << 28)

/* == Logic ids of Ascend NPUs =============================================== */

typedef struct npu_reading {
    const cpubind_source *source;
    const cpubind_request *request; /* whose CPUs and rules count; NULL: none is given */
    api_planned *planned;
} npu_reading;

static cpubind_problem_code read_npus(void *ctx, cpubind_arena *arena)
{
    const npu_reading *n = (const npu_reading *)ctx;
    const cpubind_request usual = {.is_auto_strategy = 1, .scope = CPUBIND_SCOPE_CPUSET};
    cpubind_request request = n->request ? *n->request : usual;
    request.wants_pci = 1;
    request.is_other = cpubind_is_accelerator; /* with these alone all NPUs are hidden */
    return cpubind_facts_read(n->source, &request, arena, &n->planned->facts,
                              &n->planned->problem);
}

/* Says of each Ascend function which logic ids it has and whether the process sees one. */
static void see_ascend(const cpubind_source *source, const cpubind_request *request,
                       api_topo *topo)
{
    cpubind_facts *f = &topo->facts;
    cpubind_runtime_view *view = &f->runtime[CPUBIND_VENDOR_ASCEND];
    const cpubind_vendor *row = cpubind_vendor_of(CPUBIND_VENDOR_ASCEND);
    const cpubind_facts *npus = &topo->npus.facts;
    npu_reading reading = {source, request, &topo->npus};
    int32_t n_ascend = 0;
    for (int32_t i = 0; i < f->n_bus; i++)
        n_ascend += f->bus[i].accelerator.vendor == CPUBIND_VENDOR_ASCEND;
    if (n_ascend == 0)
        return;
    view->word = row->runtime;
    topo->npus.code = cpubind_with_arena(NULL, &topo->npus.arena, read_npus, &reading);
    if (npus->visible) {
        view->variable[0] = row->variable[0];
        view->value[0] = npus->visible;
        view->value_len[0] = npus->visible_len;
    }
    view->has_order = topo->npus.code == CPUBIND_PROBLEM_NONE;
    if (!view->has_order) {
        view->why = "the logic ids of the NPUs are not known; cpubind plan says why";
        return;
    }
    for (int32_t i = 0; i < f->n_bus; i++) {
        cpubind_pci_function *device = &f->bus[i];
        if (device->accelerator.vendor != CPUBIND_VENDOR_ASCEND || !device->is_asked)
            continue;
        device->sight = CPUBIND_SIGHT_HIDDEN;
        for (int32_t k = 0; k < npus->n_device; k++) {
            if (!npus->device[k].is_visible ||
                cpubind_pci_compare(&npus->device[k].pci, &device->pci) != 0)
                continue;
            device->sight = CPUBIND_SIGHT_VISIBLE;
            if (device->n_number < CPUBIND_PCI_NUMBERS)
                device->number[device->n_number++] = npus->device[k].logic;
        }
    }
}

/* == Reading ================================================================ */

void api_topo_read(const cpubind_source *source, const api_options *options, api_topo *out)
{
    cpubind_pci_request request = options->topo;
    request.named = request.n_named > 0 ? options->pci : NULL;
    api_topo_ask(source, &request, out);
}

void api_topo_ask(const cpubind_source *source, const cpubind_pci_request *asked, api_topo *out)
{
    for (size_t size = FIRST_ARENA; size <= LAST_ARENA; size *= 4) {
        free(out->arena.base);
        out->arena = (cpubind_arena){(char *)malloc(size), size, 0};
        if (!out->arena.base)
            break;
        out->status =
            cpubind_devices_read(source, asked, &out->arena, &out->facts, &out->fault);
        if (out->status != CPUBIND_PROBLEM_NO_MEMORY)
            break;
    }
    if (!out->arena.base)
        out->status = CPUBIND_PROBLEM_NO_MEMORY;
    if (out->status == CPUBIND_PROBLEM_NONE)
        see_ascend(source, asked->host, out);
}

void api_topo_free(api_topo *topo)
{
    api_free_planned(&topo->npus);
    free(topo->arena.base);
    memset(topo, 0, sizeof *topo);
}

int api_topo_judge(const api_topo *topo, const api_options *options, api_text *why)
{
    const cpubind_problem *fault = &topo->fault;
    if (topo->status == CPUBIND_PROBLEM_NO_MEMORY)
        return api_no_room(why);
    if (topo->status == CPUBIND_PROBLEM_UNKNOWN_DEVICE) {
        api_add(why, "there is no PCI function ");
        api_add_pci(why, &fault->pci);
        api_add(why, " on this host; ls /sys/bus/pci/devices, or lspci -D, lists them");
        return API_REFUSED;
    }
    if (topo->status != CPUBIND_PROBLEM_NONE) {
        if (fault->input)
            api_add(why, "%s: ", fault->input);
        api_add(why, "%s", fault->what);
        if (fault->answer.state == CPUBIND_INPUT_FAILED)
            api_add(why, " (%s)", strerror(fault->answer.error));
        return (int)cpubind_problem_exit(topo->status);
    }
    if (topo->facts.n_bus > 0)
        return API_DONE;
    if (!topo->facts.has_bus)
        api_add(why, "there is no /sys/bus/pci/devices here; show the container the host's "
                     "/sys, or give a snapshot that has it with --root DIR");
    else if (options->topo.class_digits > 0)
        api_add(why, "no PCI function has this class; lspci -Dnn shows the class of each");
    else
        api_add(why, "the PCI bus has no accelerator that cpubind knows; name one with --pci "
                     "ADDRESS or --class CLASS, as lspci -Dnn prints them");
    return API_REFUSED;
}
