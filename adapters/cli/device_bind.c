/* device_bind.c - apply and verify for the accelerators of any vendor
 * SPDX-License-Identifier: MIT
 *
 * Reads the host and the environment of the process; changes nothing.
 */
#include "device_bind.h"

#include <stdlib.h>
#include <string.h>

#include "../host/host_users.h"
#include "../host/process_env.h"
#include "../linux/source/host_files.h"
#include "../model/vendor.h"
#include "../text/procfs.h"

/* == Who uses a device ====================================================== */

int cli_has_opened(const api_topo *topo)
{
    if (topo->status != CPUBIND_PROBLEM_NONE)
        return 0;
    for (int32_t i = 0; i < topo->facts.n_bus; i++)
        if (!cpubind_vendor_of(topo->facts.bus[i].accelerator.vendor)->users)
            return 1;
    return 0;
}

int cli_read_device_workers(const api_options *options, const cpubind_source *source,
                            const api_topo *topo, int32_t pid, cpubind_workers *out,
                            api_text *why)
{
    cpubind_pci_request request = options->topo;
    const cpubind_users_question question = {.source = source,
                                             .host = options->root || options->fixture ? source
                                                                                       : NULL,
                                             .facts = &topo->facts,
                                             .request = &request,
                                             .pid = pid ? &pid : NULL,
                                             .n_pid = pid != 0};
    char name[CPUBIND_DEVICE_INPUT_SIZE];
    cpubind_users users;
    cpubind_linux_fault fault = {.what = ""};
    int status = API_UNREADABLE;
    request.named = request.n_named > 0 ? options->pci : NULL;
    const cpubind_problem problem = cpubind_users_find(&question, NULL, name, &users);
    if (problem.code == CPUBIND_PROBLEM_NO_MEMORY)
        return api_no_room(why);
    if (problem.code != CPUBIND_PROBLEM_NONE)
        api_add(why, "%s: %s", problem.input,
                problem.what ? problem.what : strerror(problem.answer.error));
    else if (cpubind_workers_read(&users, NULL, out, &fault) != CPUBIND_LINUX_OK)
        api_add(why, "%s: %s", fault.what, strerror(fault.error));
    else
        status = API_DONE;
    free(users.row);
    return status;
}

int cli_find_opened(api_options *options, int32_t pid)
{
    cpubind_workers workers = {0};
    api_text unused = {"", 0};
    api_host host = {0};
    api_topo topo = {0};
    int is_found = 0;
    if (cli_open_host(options, &host, &unused) == API_DONE)
        api_topo_read(&host.source, options, &topo);
    if (cli_has_opened(&topo) &&
        cli_read_device_workers(options, &host.source, &topo, pid, &workers, &unused) ==
            API_DONE &&
        workers.n == 1) {
        options->pci[0] = topo.facts.bus[workers.row[0].device].pci;
        options->tile[0] = -1;
        options->topo.n_named = 1;
        is_found = 1;
    }
    cpubind_workers_free(&workers);
    api_topo_free(&topo);
    api_close_host(&host);
    return is_found;
}

/* == Which device =========================================================== */

/* Takes the rank of the first variable of a launcher that is set. Returns the exit status; DONE
 * without a rank where none is set. */
static int take_rank(api_options *o, int32_t pid, const cpubind_bytes *environment)
{
    api_text why = {"", 0};
    for (int i = 0; cpubind_local_ranks[i]; i++) {
        const cpubind_slice value = cpubind_env_value(environment, cpubind_local_ranks[i]);
        const char *text = environment->data + value.at;
        if (value.len <= 0)
            continue;
        if (value.len <= 6 &&
            cpubind_number_parse(text, value.len, &o->request.rank, NULL) == CPUBIND_TEXT_OK) {
            o->request.has_rank = 1;
            return API_DONE;
        }
        api_add(&why,
                "process %d has %s=%.*s, which is not the number of a rank; name the "
                "device with --device ADDRESS or --rank N",
                (int)pid, cpubind_local_ranks[i], value.len < 40 ? (int)value.len : 40, text);
        return cli_fail(o, API_REFUSED, why.text);
    }
    return API_DONE;
}

/* Takes the rank of a device that has one rank; its tiles have one each. */
static void take_rank_of(api_options *o, const api_device_plan *devices, int32_t device)
{
    const cpubind_device_plan *plan = &devices->planned.plan;
    int32_t rank = 0, n_rank = 0;
    for (int32_t i = 0; i < plan->n_unit; i++)
        if (plan->unit[i].on_bus == device) {
            rank = i;
            n_rank++;
        }
    if (n_rank != 1)
        return;
    o->request.rank = rank;
    o->request.has_rank = 1;
}

/* Takes the rank of the device that the process has files of open, if that is one device.
 * Returns the exit status; DONE without a rank where it is not. */
static int take_opened(api_options *o, int32_t pid, const cpubind_source *source,
                       const api_device_plan *devices)
{
    cpubind_workers workers = {0};
    api_text why = {"", 0};
    const int status = cli_read_device_workers(o, source, &devices->topo, pid, &workers, &why);
    if (status != API_DONE)
        return cli_fail(o, status, why.text);
    if (workers.n == 1)
        take_rank_of(o, devices, workers.row[0].device);
    cpubind_workers_free(&workers);
    return status;
}

/* Finds the rank by the open files and the environment of the process. Returns the exit
 * status. */
static int find_rank(api_options *o, const api_bound *bound, const cpubind_source *source,
                     const api_device_plan *devices)
{
    cpubind_bytes environment = {0};
    cpubind_linux_fault fault;
    const char *doubt = api_rank_doubt(&devices->topo.facts, o);
    api_text why = {"", 0};
    char path[40];
    int status;
    if (devices->planned.plan.n_unit == 1)
        return API_DONE;
    status = take_opened(o, bound->pid, source, devices);
    if (status != API_DONE || o->request.has_rank)
        return status;
    if (doubt) {
        api_add(&why,
                "which of the %d devices process %d uses is not known: it has the files of no "
                "single device open, and %s; name the device with --device ADDRESS",
                (int)devices->planned.plan.n_unit, (int)bound->pid, doubt);
        return cli_fail_plan(o, bound, API_REFUSED, &why);
    }
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)bound->pid);
    fault = cpubind_linux_read_file(path, NULL, &environment);
    status = fault.error ? API_DONE : take_rank(o, bound->pid, &environment);
    free(environment.data);
    if (status != API_DONE || o->request.has_rank)
        return status;
    api_add(&why, "which of the %d devices process %d uses is not known: ",
            (int)devices->planned.plan.n_unit, (int)bound->pid);
    if (fault.error)
        api_add(&why, "its environment cannot be read (%s)", strerror(fault.error));
    else
        api_add(&why, "it has the files of no single device open, its environment has no rank, "
                      "and the variables of its runtime name no single device");
    api_add(&why, "; name the device with --device ADDRESS or --rank N");
    return cli_fail_plan(o, bound, API_REFUSED, &why);
}

/* The device that is named: by a single --pci, else by the record. NULL: none is. */
static const cpubind_pci_address *named_device(const api_options *o, const api_bound *bound,
                                               cpubind_pci_address *recorded)
{
    const char *pci = cpubind_bind_pci(bound->binding);
    if (o->request.has_rank || o->topo.class_digits > 0 || o->topo.n_named > 1)
        return NULL;
    if (o->topo.n_named == 1)
        return &o->pci[0];
    return cpubind_pci_parse(pci, (int32_t)strlen(pci), recorded, NULL) == CPUBIND_TEXT_OK
               ? recorded
               : NULL;
}

/* == The place ============================================================== */

/* Plans all devices in place of the one of the record where that has tiles: the record does not
 * say which of them the process has. Returns the exit status. */
static int find_tile(api_options *o, const cpubind_source *source,
                     const cpubind_pci_address *recorded, api_device_plan *devices,
                     api_text *why)
{
    const cpubind_facts *f = &devices->topo.facts;
    int status;
    if (f->bus[devices->planned.plan.unit[0].on_bus].accelerator.n_tile < 2)
        return API_DONE;
    api_free_devices(devices);
    status = api_make_devices(source, o, NULL, devices, why);
    for (int32_t i = 0; status == API_DONE && i < f->n_bus; i++)
        if (cpubind_pci_compare(&f->bus[i].pci, recorded) == 0)
            take_rank_of(o, devices, i);
    return status;
}

static int plan(api_options *o, api_bound *bound, const cpubind_source *source,
                cli_run_place *out)
{
    cpubind_pci_address recorded;
    const cpubind_pci_address *only = named_device(o, bound, &recorded);
    api_text why = {"", 0};
    int status = api_make_devices(source, o, only, &out->devices, &why);
    if (status == API_DONE)
        status = api_check_rank_doubt(&out->devices.topo.facts, o, &why);
    if (status == API_DONE && only == &recorded)
        status = find_tile(o, source, only, &out->devices, &why);
    if (status != API_DONE)
        return cli_fail_plan(o, bound, status, &why);
    api_keep_doubt(&out->devices, &bound->planned);
    if (!o->request.has_rank)
        status = find_rank(o, bound, source, &out->devices);
    if (status == API_DONE)
        status = cli_take_device_pool(o, out);
    if (status == API_DONE)
        status = cli_make_place_goal(o, out, bound);
    if (status == API_DONE && out->n_node > 0)
        bound->goal.memory_node = out->node[0];
    return status;
}

int cli_place_on_device(api_options *o, api_bound *bound, cli_run_place *out)
{
    const int is_live = !o->root && !o->fixture;
    api_process_view view = {.host = is_live ? &bound->live.source : &bound->host.source,
                             .process = &bound->live.source};
    const cpubind_source source = api_process_source(&view);
    api_text why = {"", 0};
    int status;
    bound->is_on_device = 1;
    if (o->has_index && o->request.n_process == 0 && !o->request.has_rank) {
        o->request.rank = o->request.process;
        o->request.has_rank = 1;
    }
    status = api_prepare_bound(o, bound, !is_live, &why);
    if (status == API_DONE && !is_live)
        status = cli_open_host(o, &bound->host, &why);
    if (status != API_DONE)
        return cli_fail_plan(o, bound, status, &why);
    if (o->request.allowed &&
        !api_process_allow(&view, o->request.allowed, o->request.n_allowed))
        return cli_no_memory();
    status = plan(o, bound, &source, out);
    free(view.status);
    return status;
}

/* == Words ================================================================== */

void cli_name_device(const api_options *options, api_bound *bound)
{
    const cpubind_report *report = cpubind_bind_report(bound->binding);
    cpubind_pci_request asked = {.n_named = 1};
    cpubind_pci_address pci;
    api_text why = {"", 0};
    api_host host = {0};
    api_topo topo = {0};
    if (bound->product || !*report->pci ||
        cpubind_pci_parse(report->pci, (int32_t)strlen(report->pci), &pci, NULL) !=
            CPUBIND_TEXT_OK ||
        cli_open_host(options, &host, &why) != API_DONE)
        return;
    asked.named = &pci;
    api_topo_ask(&host.source, &asked, &topo);
    if (topo.status == CPUBIND_PROBLEM_NONE && topo.facts.n_bus == 1)
        bound->product = topo.facts.bus[0].accelerator.product;
    api_topo_free(&topo);
    api_close_host(&host);
}

void cli_add_bound(api_text *to, const api_bound *bound)
{
    const cpubind_report *report = cpubind_bind_report(bound->binding);
    if (!*report->pci)
        api_add(to, "NPU %d", (int)report->device);
    else if (bound->product)
        api_add(to, "%s (%s)", report->pci, bound->product);
    else
        api_add(to, "%s", report->pci);
}
