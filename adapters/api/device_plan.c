/* device_plan.c - the plan of the accelerators of a host, of any vendor: made, and as text
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing. Decides nothing about CPUs: ../plan/pci_plan.h does.
 */
#include "device_plan.h"

#include <stdlib.h>
#include <string.h>

#include "../text/procfs.h"

int api_names_device(const api_options *options)
{
    return options->one_npu >= 0 || options->device.n > 0;
}

const char *api_device_conflict(const api_options *options)
{
    if (!api_asks_for_devices(options) || !api_npu_option(options))
        return NULL;
    return "--pci and --class are about devices of any vendor: leave out the options that are "
           "about NPUs";
}

/* Counts the accelerators that the PCI bus shows, by vendor. Returns whether there are some,
 * and no NPU among them; *is_read says whether the bus could be read. */
static int count_devices(const cpubind_source *source, const api_options *options,
                         int32_t n[CPUBIND_VENDOR_COUNT], int *is_read)
{
    api_topo topo = {0};
    int has_some;
    api_topo_read(source, options, &topo);
    *is_read = topo.status == CPUBIND_PROBLEM_NONE;
    has_some = *is_read && topo.facts.n_bus > 0;
    for (int32_t i = 0; has_some && i < topo.facts.n_bus; i++)
        n[topo.facts.bus[i].accelerator.vendor]++;
    api_topo_free(&topo);
    return has_some && n[CPUBIND_VENDOR_ASCEND] == 0;
}

int api_has_devices_alone(const cpubind_source *source, const api_options *options,
                          const api_planned *planned)
{
    int32_t n[CPUBIND_VENDOR_COUNT] = {0};
    int is_read;
    return planned->code == CPUBIND_PROBLEM_NO_NPU_SMI && !api_npu_option(options) &&
           (count_devices(source, options, n, &is_read) || !is_read);
}

int api_lacks_npus(const cpubind_source *source, const api_options *options, api_text *why)
{
    const cpubind_request plain = {.is_auto_strategy = 1};
    const char *const option = api_npu_option(options);
    const int32_t npu = options->one_npu >= 0           ? options->one_npu
                        : options->request.n_device > 0 ? options->request.device[0]
                                                        : -1;
    const int has_rank = options->command != API_STATUS && !options->all && !options->tree;
    const char *before = " (";
    int32_t n[CPUBIND_VENDOR_COUNT] = {0};
    api_planned planned = {0};
    int is_read;
    int lacks = count_devices(source, options, n, &is_read);
    if (lacks) { /* a container may not see its NPUs on the bus */
        api_make(source, &plain, &planned);
        lacks = planned.code == CPUBIND_PROBLEM_NO_NPU_SMI;
        api_free_planned(&planned);
    }
    if (!lacks)
        return 0;
    api_add(why, "this host has no NPU, but accelerators of other vendors");
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++) {
        if (n[i] == 0)
            continue;
        api_add(why, "%s%d %s", before, (int)n[i], cpubind_vendor_word((cpubind_vendor_id)i));
        before = ", ";
    }
    api_add(why, ")");
    if (npu >= 0)
        api_add(why, ": there is no npu%d", (int)npu);
    else if (option)
        api_add(why, ", and %s is about NPUs alone: leave it out", option);
    api_add(why, "; --device names ");
    api_add_devices(source, options, why);
    if (has_rank)
        api_add(why, ", --rank N is one of those that the process sees");
    return 1;
}

/* == Making ================================================================= */

cpubind_rules api_device_rules(const api_device_plan *d)
{
    return d->planned.plan.rules;
}

typedef struct making {
    const cpubind_request *asked;
    api_device_plan *out;
    cpubind_problem problem;
} making;

static cpubind_problem_code make(void *ctx, cpubind_arena *arena)
{
    making *m = (making *)ctx;
    const api_topo *topo = &m->out->topo;
    const int has_npus = topo->npus.code == CPUBIND_PROBLEM_NONE;
    cpubind_facts facts = topo->facts;
    if (has_npus && cpubind_plan_takes_devices(&topo->npus.facts)) {
        facts = topo->npus.facts;
        cpubind_plan_take_devices(&facts, &topo->facts);
    }
    return cpubind_plan_devices(&facts, m->asked, arena, &m->out->planned.facts,
                                &m->out->planned.plan, &m->problem);
}

static int make_plan(const cpubind_request *asked, api_device_plan *out, api_text *why)
{
    making m = {.asked = asked, .out = out};
    const cpubind_problem_code code = cpubind_with_arena(NULL, &out->planned.arena, make, &m);
    out->planned.code = code;
    out->planned.has_facts = code == CPUBIND_PROBLEM_NONE;
    if (code == CPUBIND_PROBLEM_NONE)
        return API_DONE;
    if (code == CPUBIND_PROBLEM_NO_MEMORY)
        return api_no_room(why);
    api_add(why, "there is no plan for these devices: %s", m.problem.what);
    api_add_fault(&m.problem, why);
    return cpubind_problem_exit(code);
}

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

/* Reads the devices that the options name, or `only`, beside all other accelerators of the
 * host. */
static void read_devices(const cpubind_source *source, const api_options *options,
                         const cpubind_pci_address *only, api_topo *out)
{
    cpubind_pci_request asked = options->topo;
    asked.wants_cores = asked.is_beside = 1;
    asked.host = &options->request;
    asked.named = asked.n_named > 0 ? options->pci : NULL;
    asked.visible = options->request.visible;
    asked.visible_len = options->request.visible_len;
    if (only) {
        asked.named = only;
        asked.n_named = 1;
        asked.class_digits = 0;
    }
    api_topo_ask(source, &asked, out);
    for (int32_t i = 0; i < out->facts.n_bus; i++) {
        cpubind_pci_function *device = &out->facts.bus[i];
        if (!only) {
            keep_named_tiles(options, device);
            continue;
        }
        device->sight = device->is_asked ? CPUBIND_SIGHT_VISIBLE : CPUBIND_SIGHT_HIDDEN;
        device->n_number = device->is_asked && only == options->pci && options->tile[0] >= 0;
        device->number[0] = 0;
        device->tile[0] = options->tile[0];
    }
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

int api_make_devices(const cpubind_source *source, const api_options *options,
                     const cpubind_pci_address *only, api_device_plan *out, api_text *why)
{
    cpubind_request asked;
    int status;
    if (options->request.only_running) {
        api_add(why, "which devices run is not known here: leave out --running");
        return API_REFUSED;
    }
    read_devices(source, options, only, &out->topo);
    status = api_topo_judge(&out->topo, options, why);
    if (status != API_DONE)
        return status;
    status = ask(source, options, &asked, why);
    return status == API_DONE ? make_plan(&asked, out, why) : status;
}

void api_free_devices(api_device_plan *devices)
{
    api_topo_free(&devices->topo);
    api_free_planned(&devices->planned);
    memset(devices, 0, sizeof *devices);
}

int api_check_rank_doubt(const cpubind_facts *facts, const api_options *options, api_text *why)
{
    const char *doubt = options->request.has_rank ? api_rank_doubt(facts, options) : NULL;
    if (!doubt)
        return API_DONE;
    api_add(
        why,
        "which device rank %d drives is not known: %s; name the device with --device ADDRESS",
        (int)options->request.rank, doubt);
    return API_REFUSED;
}

int api_check_device_rank(const api_device_plan *d, const api_options *options, api_text *why)
{
    if (api_check_rank_doubt(&d->topo.facts, options, why) != API_DONE)
        return API_REFUSED;
    if (!options->request.has_rank ||
        api_rank_of(&d->topo.facts, d->planned.plan.n_unit, options) >= 0)
        return API_DONE;
    api_add(why, "--rank %d is none of the %d devices that this process sees",
            (int)options->request.rank, (int)d->planned.plan.n_unit);
    api_add_only_device(&d->topo.facts, why);
    return API_REFUSED;
}

void api_explain_device(const api_device_plan *d, int32_t rank, const api_options *options,
                        api_text *to)
{
    const api_row row = api_shown(&d->planned.facts, &d->planned.plan, rank);
    api_explain_row(&d->planned, options, &row, to);
}

int api_check_device_pools(const api_device_plan *d, const api_options *options, api_text *why)
{
    const int has_rank = options->request.has_rank, is_named = api_asks_for_devices(options);
    const int32_t rank =
        has_rank ? api_rank_of(&d->topo.facts, d->planned.plan.n_unit, options) : 0;
    const int32_t end = has_rank ? rank + 1 : d->planned.plan.n_unit;
    int32_t first = -1, n = 0;
    for (int32_t i = end - 1; i >= rank; i--)
        if (d->planned.plan.unit[i].n_cpu == 0) {
            first = i;
            n++;
        }
    if (n == 0 || (!is_named && n < end - rank))
        return API_DONE;
    api_explain_device(d, first, options, why);
    if (n > 1)
        api_add(why, ", and %d other%s none either", (int)n - 1, n > 2 ? "s have" : " has");
    if ((d->planned.plan.unit[first].problem.code != CPUBIND_PROBLEM_TOO_FEW_CPUS ||
         d->planned.plan.unit[first].problem.need == 0) &&
        api_device_rules(d) == CPUBIND_RULES_REFERENCE)
        api_add(why, "; --rules near, for all workers of the host, gives it others");
    else
        api_add(why, "; allow more CPUs");
    return API_REFUSED;
}

int api_put_devices(api_out *to, const char *format, const api_device_plan *d,
                    const api_options *options, api_text *why)
{
    const api_format *row = api_formats;
    if (api_check_device_rank(d, options, why) != API_DONE ||
        api_check_device_pools(d, options, why) != API_DONE)
        return API_REFUSED;
    while (strcmp(row->word, format) != 0)
        row++;
    if (row->check && !row->check(&d->planned, options, why))
        return API_REFUSED;
    row->put(to, &d->planned, options);
    return API_DONE;
}

void api_keep_doubt(const api_device_plan *devices, api_planned *planned)
{
    if (!(devices->planned.plan.warnings >> CPUBIND_WARNING_OTHER_ACCELERATORS & 1u))
        return;
    api_free_planned(planned);
    api_borrow_planned(&devices->planned, planned);
    api_keep_warning(CPUBIND_WARNING_OTHER_ACCELERATORS, planned);
}
