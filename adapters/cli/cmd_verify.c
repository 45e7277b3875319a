/* cmd_verify.c - cpubind verify: compare where a process is with where it belongs
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing.
 */
#include "find_device.h"
#include "output.h"

static int print_outcome(const api_options *options, api_bound *bound)
{
    const cpubind_outcomes *report = cpubind_bind_report(bound->binding);
    api_text device = {"", 0};
    int status;
    cli_name_bound(options, bound);
    status = cpubind_bind_has_drifted(report) || *bound->opened ? API_REFUSED : API_DONE;
    cli_add_bound(&device, bound);
    if (options->json)
        return cli_print_json(stdout, api_report_json(bound, report)) ? status
                                                                      : cli_no_memory();
    if (options->quiet)
        return status;
    printf("process %d, %s: %s\n", (int)bound->pid, device.text,
           status == API_DONE ? "as it should be" : "it has drifted");
    (void)cli_print_items(bound, report, 1);
    cli_warn_outcome(bound, report);
    return status;
}

static int compare(const api_options *options, api_bound *bound, const cpubind_goal *goal)
{
    cpubind_linux_fault fault = {.what = ""};
    const cpubind_linux_status result = cpubind_bind_verify(bound->binding, goal, &fault);
    if (result != CPUBIND_LINUX_OK)
        return cli_fail_bind(options, bound, result, &fault);
    return cpubind_bind_report(bound->binding)->has_goal ? print_outcome(options, bound) : -1;
}

/* Compares with the plan when a device is named, else with the record; where there is none,
 * with the plan of the device that the process uses. */
static int verify(api_options *options, api_bound *bound)
{
    const int is_named =
        api_names_device(options) || options->request.has_rank || api_asks_for_devices(options);
    int status = cli_open_bound(options, 1, bound);
    if (status != API_DONE)
        return status;
    status = is_named ? -1 : compare(options, bound, NULL);
    if (status < 0)
        status = cli_plan_bound(options, bound);
    else
        return status;
    return status == API_DONE ? compare(options, bound, &bound->goal) : status;
}

int cli_verify(int argc, char **argv)
{
    static api_options options;
    static api_bound bound;
    int status = cli_start(argc, argv, API_VERIFY, &options);
    if (status >= 0)
        return status;
    if (options.all)
        return cli_call_all(&options);
    status = verify(&options, &bound);
    api_close_bound(&bound);
    return status;
}
