/* device_read.c - the devices of a host, of any vendor: read, and planned by name
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing. Decides nothing about CPUs: ../plan does.
 */
#include <string.h>

#include "../model/vendor.h"
#include "device_plan.h"

/* == Reading ================================================================ */

void api_read_asked(const cpubind_source *source, const cpubind_pci_request *asked,
                    const cpubind_request *seen, api_planned *out)
{
    cpubind_request request = {
        .is_auto_strategy = 1, .scope = CPUBIND_SCOPE_CPUSET, .bus = asked};
    if (seen) {
        request.visible = seen->visible;
        request.visible_len = seen->visible_len;
        request.allowed = seen->allowed;
        request.n_allowed = seen->n_allowed;
    }
    api_read(source, &request, out);
}

void api_read_devices(const cpubind_source *source, const api_options *options,
                      api_planned *out)
{
    cpubind_pci_request request = options->topo;
    request.named = request.n_named > 0 ? options->pci : NULL;
    request.wants_nics |= options->n_choose > 0;
    api_read_asked(source, &request, options->is_slurm ? &options->request : NULL, out);
}

int api_judge_devices(const api_planned *read, const api_options *options, api_text *why)
{
    const cpubind_problem *fault = &read->problem;
    if (read->code == CPUBIND_PROBLEM_NO_MEMORY)
        return api_no_room(why);
    if (read->code == CPUBIND_PROBLEM_UNKNOWN_DEVICE) {
        api_add(why, "there is no PCI function ");
        api_add_pci(why, &fault->pci);
        return words_fail(API_REFUSED, why,
                          " on this host; ls /sys/bus/pci/devices, or lspci -D, lists them");
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
        api_add_no_device(read->facts.has_bus, options, why);
    return API_REFUSED;
}

/* == Planning =============================================================== */

/* How the options, and the variables of the host, want devices planned; *out borrows from
 * them. Returns the exit status, with the reason in *why. */
static int ask(const cpubind_source *source, const api_options *options, cpubind_request *out,
               api_text *why)
{
    *out = options->request;
    out->rules = cpubind_rules_asked(source, out);
    if (out->rules != CPUBIND_RULES_COUNT)
        return API_DONE;
    return words_fail(
        API_UNREADABLE, why,
        "CPUBIND_RULES is neither reference nor near; mend the variable, or say it "
        "with -o rules=reference or -o rules=near");
}

int api_plan_bus(const cpubind_source *source, const api_options *options, api_planned *out,
                 api_text *why)
{
    cpubind_pci_request asked = options->topo;
    cpubind_request request;
    int status = API_DONE;
    if (options->request.only_running)
        return words_fail(API_REFUSED, why,
                          "which devices run is not known here: leave out --running");
    asked.is_plan = 1;
    asked.named = asked.n_named > 0 ? options->pci : NULL;
    asked.tile = options->tile;
    asked.is_only = asked.n_named == 1 && options->command & API_LIVE;
    if (asked.is_only)
        asked.class_digits = 0;
    status = ask(source, options, &request, why);
    request.bus = &asked;
    if (status != API_DONE)
        return status;
    api_free_planned(out);
    api_make(source, &request, out);
    if (!out->has_facts || out->facts.n_bus == 0)
        return api_judge_devices(out, options, why);
    if (out->code == CPUBIND_PROBLEM_NONE)
        return API_DONE;
    if (out->code == CPUBIND_PROBLEM_NO_MEMORY)
        return api_no_room(why);
    api_add(why, "there is no plan for these devices");
    api_add_fault(&out->problem, why);
    return cpubind_problem_exit(out->code);
}
