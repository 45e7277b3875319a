/* cmd_verify.c - cpubind verify: compare where a process is with where it belongs
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing.
 */
#include "bind_common.h"
#include "device_bind.h"
#include "output.h"

static int is_drifted(const cpubind_report *report)
{
    for (int32_t i = 0; i < report->n; i++)
        if (report->item[i].result == CPUBIND_ITEM_WRONG)
            return 1;
    return cpubind_bind_memory_is_wrong(report);
}

static int print_outcome(const api_options *options, api_bound *bound)
{
    const cpubind_report *report = cpubind_bind_report(bound->binding);
    const int status = is_drifted(report) ? API_REFUSED : API_DONE;
    api_text device = {"", 0};
    cli_name_device(options, bound);
    cli_add_bound(&device, bound);
    if (options->json)
        return cli_print_json(stdout, cli_outcome_json(bound, report)) ? status
                                                                       : cli_no_memory();
    if (options->quiet)
        return status;
    printf("process %d, %s: %s\n", (int)bound->pid, device.text,
           status == API_DONE ? "as it should be" : "it has drifted");
    (void)cli_print_items(report, 1);
    cli_warn_outcome(bound, report);
    return status;
}

/* Compares with the plan of the device, or of the NPU that is named or was found. */
static int verify_plan(api_options *options, api_bound *bound, int is_on_device)
{
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status result;
    cli_run_place place = {0};
    int status = is_on_device ? cli_place_on_device(options, bound, &place)
                              : cli_plan_bound(options, bound);
    if (status == API_DONE) {
        result = cpubind_bind_verify(bound->binding, &bound->goal, &fault);
        status = result == CPUBIND_LINUX_OK ? print_outcome(options, bound)
                                            : cli_fail_bind(options, bound, result, &fault);
    }
    cli_free_run_place(&place);
    return status;
}

/* Compares with the plan when an NPU or a device is named, else with the record. */
static int verify(api_options *options, api_bound *bound)
{
    const int is_named =
        api_names_device(options) || options->request.has_rank || api_asks_for_devices(options);
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status result;
    api_text why = {"", 0}, found = {"", 0};
    int is_on_device = 0;
    int status = cli_open_bound(options, 1, bound);
    if (status == API_DONE && is_named)
        status = cli_find_device_kind(options, &is_on_device);
    if (status != API_DONE)
        return status;
    if (is_named)
        return verify_plan(options, bound, is_on_device);
    result = cpubind_bind_verify(bound->binding, NULL, &fault);
    if (result != CPUBIND_LINUX_OK)
        return cli_fail_bind(options, bound, result, &fault);
    if (cpubind_bind_report(bound->binding)->has_goal)
        return print_outcome(options, bound);
    status = cli_find_device_kind(options, &is_on_device);
    if (status == API_DONE && !is_on_device)
        status = cli_find_npu(options, bound, &found);
    if (status == API_REFUSED && cli_find_opened(options, bound->pid)) {
        is_on_device = 1;
        status = API_DONE;
    }
    if (status == API_DONE)
        return verify_plan(options, bound, is_on_device);
    api_add(&why,
            "nothing is on record of process %d; name the device that it drives: --device NAME",
            (int)bound->pid);
    if (status == API_REFUSED)
        api_add(&why, "; %s", found.text);
    return cli_fail_plan(options, bound, API_REFUSED, &why);
}

int cli_verify(int argc, char **argv)
{
    static api_options options;
    static api_bound bound;
    int status = cli_start(argc, argv, API_VERIFY, NULL, &options);
    if (status >= 0)
        return status;
    if (options.all)
        return cli_call_all(&options);
    status = verify(&options, &bound);
    api_close_bound(&bound);
    return status;
}
