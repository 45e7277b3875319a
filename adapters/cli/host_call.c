/* host_call.c - all workers of a host: whose count, and how a host is opened for them
 * SPDX-License-Identifier: MIT
 *
 * Prints no result; adapters/host decides which processes there are.
 */
#include "host_call.h"

#include <string.h>
#include <unistd.h>

#include "../api/device_plan.h"
#include "../linux/source/snapshot_sys.h"
#include "../model/vendor.h"

/* == Whose workers count ==================================================== */

int cli_has_npus(const cpubind_source *source, const api_options *options,
                 const api_planned *read)
{
    api_planned planned = {0};
    int has = 0;
    for (int32_t i = 0; read->code == CPUBIND_PROBLEM_NONE && i < read->facts.n_bus; i++)
        has |= read->facts.bus[i].accelerator.vendor == CPUBIND_VENDOR_ASCEND;
    if (has)
        return 1;
    api_make(source, &options->request, &planned);
    has = planned.code != CPUBIND_PROBLEM_NO_NPU_SMI;
    api_free_planned(&planned);
    return has;
}

int cli_has_opened(const api_planned *read)
{
    for (int32_t i = 0; read->code == CPUBIND_PROBLEM_NONE && i < read->facts.n_bus; i++)
        if (!cpubind_vendor_of(read->facts.bus[i].accelerator.vendor)->users)
            return 1;
    return 0;
}

int cli_find_workers(host_call *c, api_options *o, api_text *why)
{
    const int is_of_bus = api_asks_for_devices(o);
    api_host host = {0};
    api_planned read = {0};
    int status = cli_open_host(o, &host, why);
    if (status == API_DONE)
        status = api_find_devices(&host.source, o, why);
    if (status == API_DONE)
        api_read_devices(&host.source, o, &read);
    if (status == API_DONE && !is_of_bus)
        c->has_listed = cli_has_npus(&host.source, o, &read) || api_npu_option(o) ||
                        (read.code == CPUBIND_PROBLEM_NONE && read.facts.n_bus == 0);
    c->has_bus = !c->has_listed || cli_has_opened(&read);
    if (status == API_DONE && c->has_listed && api_npu_option(o) &&
        api_lacks_npus(&host.source, o, why))
        status = API_REFUSED;
    else if (status == API_DONE && !c->has_listed)
        status = api_judge_devices(&read, o, why);
    c->devices = o->topo;
    c->devices.named = o->topo.n_named > 0 ? o->pci : NULL;
    api_free_planned(&read);
    api_close_host(&host);
    return status;
}

/* == Opening ================================================================ */

/* Commands that look at workers, and leave them where they are. */
enum { SURVEYS = API_STATUS | API_PLAN | API_DOCTOR };

/* Whether the plan keeps CPUs for the host. */
static int is_keeping(const api_options *o)
{
    return o->request.keep_each > 0 || o->request.keep;
}

static void hear_rules(void *ctx, const cpubind_other_rules *others, const char *rules)
{
    api_warn_other_rules(others, rules, cli_hear_warning, ctx);
}

int cli_open_all(host_call *c, cpubind_host_options *how, api_text *why)
{
    const api_options *o = c->options;
    const int is_live = !o->root && !o->fixture;
    cpubind_linux_fault fault = {.what = ""};
    const int status = is_live ? API_DONE : cli_open_host(o, &c->source, why);
    if (status != API_DONE)
        return status;
    how->request = o->request;
    how->has_listed = c->has_listed;
    how->is_listed_alone = c->has_listed && api_npu_option(o) != NULL;
    how->devices = c->has_bus ? &c->devices : NULL;
    how->wish = o->wish;
    how->n_wish = o->n_wish;
    how->threads = o->threads;
    how->bind = cli_bind_options(o, 0, 0);
    how->bind.is_service = c->is_service;
    if (!o->quiet)
        how->hear_rules = hear_rules;
    if (c->stop)
        how->bind.stop = c->stop;
    /* Of a snapshot that has them, these are the processes. */
    how->sys =
        !is_live && (o->command & SURVEYS) ? cpubind_snapshot_sys(&c->source.source) : how->sys;
    how->root = how->sys ? NULL : o->root;
    how->moves_nics = o->moves_nics;
    how->respects_masks = o->respects_masks;
    how->keeps_others = o->keeps_others || (o->tree && is_keeping(o));
    how->tree = !o->tree ? 0 : o->command == API_RUN ? (int32_t)getpid() : o->pid;
    how->bind.is_watching |= o->tree && o->command == API_RUN;
    how->source = is_live ? NULL : &c->source.source;
    if (cpubind_host_bind_open(how, &c->host, &fault) == CPUBIND_LINUX_OK)
        return API_DONE;
    api_add(why, "the host cannot be opened: ");
    words_add_why(why, WORDS_OTHER, fault.what, fault.error);
    return API_UNREADABLE;
}

int cli_find_engine(api_options *o, api_text *why)
{
    host_call c = {.options = o};
    cpubind_host_options how = {0};
    int status;
    if (o->request.engine.engine != CPUBIND_ENGINE_AUTO)
        return API_DONE;
    status = cli_find_workers(&c, o, why);
    if (status == API_DONE)
        status = cli_open_all(&c, &how, why);
    if (status == API_DONE && cpubind_host_bind_survey(c.host) == CPUBIND_PROBLEM_NONE)
        o->request.engine = *cpubind_host_bind_engine(c.host);
    cpubind_host_bind_close(c.host);
    api_close_host(&c.source);
    return status;
}

/* == Words ================================================================== */

void cli_take_plan(host_call *c)
{
    const cpubind_host_plan *plan = cpubind_host_bind_plan(c->host);
    c->planned = (api_planned){.code = plan->code,
                               .problem = plan->problem,
                               .facts = plan->facts,
                               .has_facts = plan->has_facts,
                               .plan = plan->plan};
}

void cli_explain_no_plan(const host_call *c, api_text *why)
{
    const cpubind_problem *problem = &c->planned.problem;
    if (c->has_listed)
        api_explain(&c->planned, c->options, why);
    else if (c->planned.code == CPUBIND_PROBLEM_NO_MEMORY)
        api_add(why, "there is no memory left to plan this host");
    else
        api_add(why, "%s%s%s", problem->input ? problem->input : "there is no plan",
                problem->what ? ": " : "", problem->what ? problem->what : "");
}

void cli_add_row_device(api_text *to, const cpubind_worker *row)
{
    if (row->n_device > 1 && !row->is_of_one)
        api_add(to, ", %d devices", (int)row->n_device);
    else if (*row->name_of_device)
        api_add(to, ", %s", row->name_of_device);
}
