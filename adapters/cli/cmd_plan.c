/* cmd_plan.c - cpubind plan: open a host, read it, plan, print
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "../api/device_plan.h"
#include "../api/nics.h"
#include "../linux/source/snapshot_sys.h"
#include "find_device.h"
#include "host_call.h"
#include "worker_plan.h"

/* Prints the explanation that --explain asks for. Returns the exit status. */
static int print_why(const api_planned *p, const api_options *options)
{
    api_out text = cli_out_for(stdout);
    api_text why = {"", 0};
    words_value *explanation;
    if (!api_explain_json(p, options, &explanation, &why))
        return why.len > 0 ? cli_fail(options, API_REFUSED, why.text) : cli_refuse(options, p);
    api_put_explanation(&text, options, explanation);
    if (options->json)
        api_put_text(&text, "\n");
    return cli_print_out(stdout, &text) ? (int)cpubind_problem_exit(p->code) : cli_no_memory();
}

/* Prints the plan in the format of the options. Returns the exit status. */
static int print_formatted(const api_planned *p, const api_options *options)
{
    const api_format *format = options->format;
    api_out text = cli_out_for(stdout);
    api_text why = {"", 0};
    if (format->check && !format->check(p, options, &why))
        return cli_fail(options, API_REFUSED, why.text);
    format->put(&text, p, options);
    return cli_print_out(stdout, &text) ? API_DONE : cli_no_memory();
}

/* Prints the figures of a plan beside those with another setting of the firmware. Returns the
 * exit status. */
static int print_what_if(const api_planned *p, const api_options *options)
{
    static api_planned then; /* large */
    api_out text = cli_out_for(stdout);
    api_text why = {"", 0};
    int status = api_plan_what_if(p, options, &then, &why);
    if (status != API_DONE) {
        status = cli_fail(options, status, why.text);
    } else if (options->json) {
        words_value *json = api_what_if_json(p, &then, options);
        words_put(&text, json, WORDS_LINE);
        words_free(json);
        api_put_text(&text, "\n");
    } else {
        api_put_what_if(&text, p, &then, options);
    }
    api_free_planned(&then);
    return status != API_DONE             ? status
           : cli_print_out(stdout, &text) ? API_DONE
                                          : cli_no_memory();
}

static int print_plan(const api_planned *p, const api_options *options)
{
    const int has_plan = p->code == CPUBIND_PROBLEM_NONE;
    int status;
    if (options->explain)
        return print_why(p, options);
    if (!has_plan)
        return cli_refuse(options, p);
    status = options->what_if ? print_what_if(p, options) : print_formatted(p, options);
    if (status != API_DONE)
        return status;
    if (!options->json && !options->quiet)
        cli_print_warnings(p);
    return API_DONE;
}

/* Names the devices that a process has files of open, for --running, in place of those that are
 * named. Returns the exit status, with the reason in *why. */
static int name_used(const cpubind_source *source, api_options *options, api_text *why)
{
    cpubind_users users = {.n = 0};
    api_planned read = {0};
    int status;
    if ((options->root || options->fixture) && !cpubind_snapshot_sys(source))
        return words_fail(
            API_REFUSED, why,
            "this snapshot does not say which processes use its devices: leave out "
            "--running");
    api_read_devices(source, options, &read);
    status = api_judge_devices(&read, options, why);
    if (status == API_DONE)
        status = cli_read_opened(options, source, &read, &users, why);
    options->topo.n_named = options->topo.class_digits = 0;
    for (int32_t i = 0; i < users.n; i++)
        if (i == 0 || users.row[i].device != users.row[i - 1].device)
            (void)api_name_function(options, &read.facts.bus[users.row[i].device].pci, -1);
    if (status == API_DONE && options->topo.n_named == 0) {
        api_add(why, "no process has files of a device open: leave out --running");
        status = API_REFUSED;
    }
    options->request.only_running = 0;
    free(users.row);
    api_free_planned(&read);
    return status;
}

/* Whether --running asks for the users of devices whose driver does not list them. */
static int wants_opened(const cpubind_source *source, const api_options *options)
{
    api_planned read = {0};
    int is_wanted = options->request.only_running;
    if (is_wanted && !api_asks_for_devices(options)) {
        api_read_devices(source, options, &read);
        is_wanted = !api_npu_option(options) &&
                    (read.code != CPUBIND_PROBLEM_NONE || cli_has_opened(&read)) &&
                    !cli_has_npus(source, options, &read);
        api_free_planned(&read);
    }
    return is_wanted;
}

/* Plans, and prints. A device that is asked for must have a pool; what is explained needs none,
 * and is refused after it is explained. */
static int plan(const api_host *host, api_options *options)
{
    static api_planned planned; /* a thread may have 64 KiB of stack */
    static api_text why, refusal;
    const int is_live = !options->root && !options->fixture;
    int status = API_DONE, pools = API_DONE;
    if (wants_opened(&host->source, options))
        status = name_used(&host->source, options, &why);
    if (status == API_DONE)
        status = cli_find_engine(options, &why);
    if (is_live)
        cli_progress(options, "cpubind: asking npu-smi ...");
    if (status == API_DONE) {
        pools = api_plan(&host->source, options, &planned, &why);
        planned.outer = host->outer;
        if (why.len > 0)
            status = pools;
    }
    if (status == API_DONE && pools == API_DONE) {
        pools = api_check_rank(&planned, options, &refusal);
        if (pools == API_DONE)
            pools = api_check_pools(&planned, options, &refusal);
        if (!options->explain)
            status = pools;
    }
    if (status == API_DONE && planned.has_facts &&
        !api_read_network(&host->source, &planned.facts, &planned.network))
        status = api_no_room(&why);
    if (is_live)
        cli_progress(options, NULL);
    if (status != API_DONE)
        status = cli_fail(options, status, refusal.len > 0 ? refusal.text : why.text);
    else
        status = print_plan(&planned, options);
    api_free_planned(&planned);
    return status == API_DONE && refusal.len > 0 ? pools : status;
}

int cli_plan(int argc, char **argv)
{
    static api_options options;
    static api_text why;
    static api_host host;
    int status = cli_start(argc, argv, API_PLAN, &options);
    if (status >= 0)
        return status;
    if (options.explain && strcmp(options.explain, "threads") == 0)
        return cli_print_threads(&options);
    status = options.is_workers_alone ? API_DONE : cli_check_columns(&options, api_plan_view);
    if (status != API_DONE)
        return status;
    status = cli_open_host(&options, &host, &why);
    if (status == API_DONE)
        status = api_find_devices(&host.source, &options, &why);
    if (status != API_DONE)
        status = cli_fail(&options, status, why.text);
    else
        status = options.is_workers_alone ? cli_plan_workers(&host.source, &options)
                                          : plan(&host, &options);
    api_close_host(&host);
    return status;
}
