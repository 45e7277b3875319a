/* find_device.c - which device a process drives, by names, lists of users, records and ranks
 * SPDX-License-Identifier: MIT
 *
 * Reads the host and the environment of the process; changes nothing.
 */
#include "find_device.h"

#include <stdlib.h>
#include <string.h>

#include "../host/process_env.h"
#include "../linux/source/host_files.h"
#include "../linux/source/snapshot_sys.h"
#include "../text/procfs.h"
#include "host_call.h"

enum { MAX_NAMED = 8 }; /* workers that a message names */

/* == Devices that are named ================================================= */

int cli_find_named(api_options *options)
{
    const int is_other = options->root || options->fixture;
    api_text why = {"", 0};
    api_host host = {0};
    int status = API_DONE;
    if (options->device.n > 0 && is_other)
        status = cli_open_host(options, &host, &why);
    if (status == API_DONE)
        status = api_find_devices(is_other ? &host.source : NULL, options, &why);
    api_close_host(&host);
    return status == API_DONE ? API_DONE : cli_fail(options, status, why.text);
}

/* == Users of devices ======================================================= */

int cli_read_opened(const api_options *options, const cpubind_source *source,
                    const api_planned *read, cpubind_users *out, api_text *why)
{
    const int is_live = !options->root && !options->fixture;
    const cpubind_sys *sys = is_live ? NULL : cpubind_snapshot_sys(source);
    cpubind_pci_request request = options->topo;
    const cpubind_users_question question = {.source = source,
                                             .host = is_live ? NULL : source,
                                             .facts = &read->facts,
                                             .request = &request};
    char name[CPUBIND_DEVICE_INPUT_SIZE];
    cpubind_problem problem;
    request.named = request.n_named > 0 ? options->pci : NULL;
    problem = cpubind_users_find(&question, sys, name, out);
    if (problem.code == CPUBIND_PROBLEM_NONE)
        return API_DONE;
    if (problem.code == CPUBIND_PROBLEM_NO_MEMORY)
        return api_no_room(why);
    return words_fail(API_UNREADABLE, why, "%s: %s", problem.input,
                      problem.what ? problem.what : strerror(problem.answer.error));
}

/* Appends the workers of the host, or that there are none. */
static void add_workers(const cpubind_host_bind *host, api_text *to)
{
    int32_t n = 0;
    for (int32_t i = 0; i < cpubind_host_bind_n(host); i++) {
        const cpubind_worker *row = cpubind_host_bind_row(host, i);
        api_text device = {"", 0};
        if (row->device < 0 || n++ >= MAX_NAMED)
            continue;
        cli_add_row_device(&device, row);
        api_add(to, "%s %d (%s)", n == 1 ? "; processes that use one:" : ",", (int)row->pid,
                device.len > 2 ? device.text + 2 : "");
    }
    if (n > MAX_NAMED)
        api_add(to, " and %d more", (int)(n - MAX_NAMED));
    if (n == 0)
        api_add(to, "; no process that is seen here uses one");
}

/* Names a device of the bus, unless it has tiles: which of them is found in the plan. */
static void name_device(api_options *options, api_bound *bound, const cpubind_facts *facts,
                        const char *address)
{
    cpubind_pci_address pci;
    int32_t on_bus;
    if (cpubind_pci_parse(address, (int32_t)strlen(address), &pci, NULL) != CPUBIND_TEXT_OK)
        return;
    bound->used = pci;
    bound->has_used = 1;
    on_bus = cpubind_facts_on_bus(facts, &pci);
    if (on_bus < 0 || facts->bus[on_bus].accelerator.n_tile <= 1)
        (void)api_name_function(options, &pci, -1);
}

/* Takes the device of the row of the process. Returns the exit status, with the reason in
 * *why. */
static int take_row(api_options *options, api_bound *bound, const cpubind_worker *row,
                    const cpubind_facts *facts, api_text *why)
{
    if (row->n_device > 1) {
        api_add(why, "it uses %d devices%s", (int)row->n_device,
                row->is_of_one ? ", and a process is bound to one" : "");
        return row->is_of_one ? API_REFUSED : API_DONE;
    }
    if (*row->pci) {
        name_device(options, bound, facts, row->pci);
    } else if (row->number >= 0) {
        options->one_npu = row->number;
        (void)snprintf(options->npu_text, sizeof options->npu_text, "%d", (int)row->number);
    }
    if (options->request.n_process == 0 && row->n_process > 1) {
        options->request.n_process = row->n_process;
        options->request.process = row->process;
    }
    return API_DONE;
}

/* Finds the process in the list of users; *facts become those of the host. */
static int find_user(host_call *c, api_options *options, api_bound *bound, api_text *why)
{
    const cpubind_host_plan *plan = cpubind_host_bind_plan(c->host);
    const cpubind_problem *unlisted = cpubind_host_bind_unlisted(c->host);
    const cpubind_worker *row = cpubind_host_bind_of(c->host, bound->pid);
    if (row && row->device >= 0)
        return take_row(options, bound, row, &plan->facts, why);
    if (unlisted->code != CPUBIND_PROBLEM_NONE) {
        api_add(why, "who uses which device is not known: ");
        api_add_input(why, unlisted->input ? unlisted->input : "memory");
        return words_fail(API_UNREADABLE, why, ": %s",
                          unlisted->what ? unlisted->what : "unreadable");
    }
    api_add(why, "it uses no device");
    add_workers(c->host, why);
    return API_DONE;
}

/* Appends that verify has nothing to compare a process with: who named none wants another. */
static void add_unrecorded(const api_options *o, const api_bound *bound, api_text *to)
{
    api_add(to,
            "nothing is on record of process %d; name the device that it drives: --device NAME",
            (int)bound->pid);
    if (!o->pid)
        api_add(to, ", or name workers, as in: cpubind verify --all");
}

/* Finds the device of the process, as if --device had named it, by the first of these that
 * tells one:
 *   1  the options: a name or a rank; --index without --processes is a rank
 *   2  the list of the users of all devices: that of their driver where it has one, else open
 *      files. Of several processes of the device also which this one is
 *   3  its record
 * find_unit finds it in the plan where these do not tell. Returns the exit status; errors
 * are printed. What the list says is kept in *why.
 *   in      bound is open */
static int find_device(api_options *o, api_bound *bound, api_text *why)
{
    host_call c = {.options = o};
    cpubind_host_options how = {.pid = bound->pid};
    const char *recorded = cpubind_bind_pci(bound->binding);
    int status = cli_find_named(o);
    if (status != API_DONE)
        return status;
    if (o->has_index && o->request.n_process == 0 && !o->request.has_rank) {
        o->request.rank = o->request.process;
        o->request.has_rank = 1;
    }
    if (api_names_device(o) || o->request.has_rank || o->topo.n_named == 1)
        return API_DONE;
    if (o->fixture) {
        api_add(why, "a fixture does not say which processes run here");
        return API_DONE;
    }
    status = cli_find_workers(&c, o, why);
    if (status == API_DONE)
        status = cli_open_all(&c, &how, why);
    if (status == API_DONE && cpubind_host_bind_survey(c.host) != CPUBIND_PROBLEM_NONE) {
        cli_take_plan(&c);
        cli_explain_no_plan(&c, why);
        status = (int)cpubind_problem_exit(c.planned.code);
    } else if (status == API_DONE) {
        status = find_user(&c, o, bound, why);
        if (status != API_DONE && o->command != API_VERIFY)
            api_add(why, "; name the device with --device NAME");
    }
    if (status == API_DONE && o->one_npu < 0 && !bound->has_used && *recorded)
        name_device(o, bound, &cpubind_host_bind_plan(c.host)->facts, recorded);
    cpubind_host_bind_close(c.host);
    api_close_host(&c.source);
    if (status != API_DONE) {
        api_text all = {"", 0};
        if (o->command == API_VERIFY) {
            add_unrecorded(o, bound, &all);
            api_add(&all, "; %s", why->text);
            return cli_fail_plan(o, bound, API_REFUSED, &all);
        }
        api_add(&all, "process %d: %s", (int)bound->pid, why->text);
        return cli_fail_plan(o, bound, status, &all);
    }
    return API_DONE;
}

/* == Ranks ================================================================== */

int cli_take_launcher(api_options *o, int32_t pid, int32_t *error)
{
    cpubind_bytes environment = {0};
    cpubind_linux_fault fault;
    api_text why = {"", 0};
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    fault = cpubind_linux_read_file(path, NULL, &environment);
    *error = fault.error;
    for (int i = 0; !fault.error && cpubind_local_ranks[i] && !o->request.has_rank && !why.len;
         i++) {
        const cpubind_piece value =
            cpubind_environ_find(environment.data, environment.len, cpubind_local_ranks[i]);
        const char *text = environment.data + value.at;
        if (value.len <= 0)
            continue;
        o->request.has_rank =
            value.len <= 6 &&
            cpubind_number_parse(text, value.len, &o->request.rank, NULL) == CPUBIND_TEXT_OK;
        if (!o->request.has_rank)
            api_add(&why,
                    "process %d: %s=%.*s is not the number of a rank; name the device with "
                    "--device NAME or --rank N",
                    (int)pid, cpubind_local_ranks[i], value.len < 40 ? (int)value.len : 40,
                    text);
    }
    free(environment.data);
    return why.len > 0 ? cli_fail(o, API_REFUSED, why.text) : API_DONE;
}

/* The only unit of the plan that is of the device which was found, or -1. */
static int32_t unit_of_used(const api_bound *bound)
{
    const api_planned *p = &bound->planned;
    int32_t unit = -1, n = 0;
    for (int32_t i = 0; bound->has_used && i < p->plan.n_unit; i++) {
        const cpubind_host_device *device = p->facts.device[p->plan.unit[i].device];
        if (cpubind_pci_compare(&device->pci, &bound->used) != 0)
            continue;
        unit = i;
        n++;
    }
    return n == 1 ? unit : -1;
}

/* Finds the unit of the plan of bound->planned that the process drives:
 *   4  that of the rank, or of the device that was found
 *   5  the only one that the process sees, by the variables of its runtime
 *   6  that of the first variable of a launcher in its environment
 * Returns the exit status; errors are printed.
 *   in      list: what find_device has kept of the list of users */
static int find_unit(api_options *o, api_bound *bound, const api_text *list, int32_t *unit)
{
    const api_planned *p = &bound->planned;
    const char *doubt = api_rank_doubt(&p->facts, o);
    api_text why = {"", 0};
    int32_t error = 0;
    int status;
    *unit = api_unit_of(p, o);
    if (*unit < 0)
        *unit = unit_of_used(bound);
    if (*unit >= 0)
        return API_DONE;
    status = doubt ? API_DONE : cli_take_launcher(o, bound->pid, &error);
    if (status == API_DONE && o->request.has_rank) {
        status = api_check_rank(p, o, &why);
        *unit = api_rank_row(p, o);
        return status == API_DONE ? API_DONE : cli_fail_plan(o, bound, status, &why);
    }
    if (status != API_DONE)
        return status;
    if (o->command == API_VERIFY) {
        add_unrecorded(o, bound, &why);
        api_add(&why, "; ");
    }
    api_add(&why,
            "which of the %d devices process %d drives is not known: ", (int)p->plan.n_unit,
            (int)bound->pid);
    if (list->len > 0)
        api_add(&why, "%s; ", list->text);
    if (doubt)
        api_add(&why, "%s; name the device with --device ADDRESS", doubt);
    else if (error)
        api_add(&why, "its environment cannot be read (%s)", strerror(error));
    else
        api_add(&why, "its environment has no rank, and the variables of its runtime name no "
                      "single device");
    if (!doubt)
        api_add(&why, "; name the device with --device NAME or --rank N");
    return cli_fail_plan(o, bound, API_REFUSED, &why);
}

/* == The plan =============================================================== */

int cli_plan_bound(api_options *options, api_bound *bound)
{
    const int is_live = !options->root && !options->fixture;
    api_process_view view = {.process = &bound->live.source};
    cpubind_source source;
    api_text list = {"", 0}, why = {"", 0};
    int32_t unit = -1;
    int status = find_device(options, bound, &list);
    if (status != API_DONE)
        return status;
    status = api_prepare_bound(options, bound, !is_live, &why);
    if (status == API_DONE && !is_live)
        status = cli_open_host(options, &bound->host, &why);
    if (status != API_DONE)
        return cli_fail_plan(options, bound, status, &why);
    /* A command that starts is the process that a snapshot is of; a zombie, which is bound by
     * force, has no environment. */
    view.host = is_live ? &bound->live.source : &bound->host.source;
    source = options->command == API_RUN || options->is_forced ? *view.host
                                                               : api_process_source(&view);
    if (is_live)
        cli_progress(options, "cpubind: asking npu-smi ...");
    status = api_plan_bound(options, bound, &source, &why);
    if (is_live)
        cli_progress(options, NULL);
    if (status != API_DONE)
        return cli_fail_plan(options, bound, status, &why);
    status = find_unit(options, bound, &list, &unit);
    if (status != API_DONE)
        return status;
    status = api_aim_bound(options, bound, unit, &why);
    return status == API_DONE ? status : cli_fail_plan(options, bound, status, &why);
}

/* == Words ================================================================== */

/* Notes the device that the process uses, where it is none that it is bound to the CPUs of. */
static void note_opened(const api_options *options, const cpubind_source *host,
                        const api_planned *read, api_bound *bound)
{
    const cpubind_pci_request all = {.named = NULL};
    const cpubind_users_question question = {.source = host,
                                             .host = options->root ? host : NULL,
                                             .facts = &read->facts,
                                             .request = &all,
                                             .pid = &bound->pid,
                                             .n_pid = 1};
    char name[CPUBIND_DEVICE_INPUT_SIZE], pci[CPUBIND_PCI_ADDRESS_MAX];
    cpubind_users users = {.n = 0};
    int is_its_own =
        cpubind_users_find(&question, NULL, name, &users).code != CPUBIND_PROBLEM_NONE;
    for (int32_t i = 0; i < users.n && !is_its_own; i++) {
        (void)cpubind_pci_format(pci, &read->facts.bus[users.row[i].device].pci);
        is_its_own = strcmp(pci, cpubind_bind_report(bound->binding)->pci) == 0;
        (void)cpubind_recorded_name(&read->facts, -1, pci, bound->opened);
    }
    if (is_its_own)
        bound->opened[0] = '\0';
    free(users.row);
}

void cli_name_bound(const api_options *options, api_bound *bound)
{
    const cpubind_outcomes *report = cpubind_bind_report(bound->binding);
    api_text why = {"", 0};
    api_host host = {0};
    api_planned read = {0};
    const cpubind_pci_request all = {.named = NULL};
    api_process_view view = {.host = &host.source};
    int32_t on_bus;
    if (*report->pci && cli_open_host(options, &host, &why) == API_DONE) {
        const cpubind_source source = api_process_source(&view);
        api_read_asked(&source, &all, NULL, &read);
        if (read.code != CPUBIND_PROBLEM_NONE)
            read.facts.n_bus = 0;
        else if (!options->fixture)
            note_opened(options, &host.source, &read, bound);
    }
    on_bus = cpubind_recorded_name(&read.facts, report->device, report->pci, bound->device);
    if (on_bus >= 0)
        bound->product = read.facts.bus[on_bus].accelerator.product;
    api_free_planned(&read);
    api_close_host(&host);
}

void cli_add_bound(api_text *to, const api_bound *bound)
{
    const char *pci = cpubind_bind_report(bound->binding)->pci;
    const char *before = " (";
    api_add(to, "%s", bound->device);
    if (*pci && strcmp(pci, bound->device) != 0) {
        api_add(to, " (%s", pci);
        before = ", ";
    }
    if (bound->product)
        api_add(to, "%s%s", before, bound->product);
    if (*before == ',' || bound->product)
        api_add(to, ")");
}
