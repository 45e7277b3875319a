/* cmd_apply.c - cpubind apply: bind a process, and with --watch keep it bound
 * SPDX-License-Identifier: MIT
 *
 * Prints the outcome; whatever changes the process is in adapters/linux/bind. README.md
 * documents the options and the output.
 */
#include "../linux/terminal.h"
#include "bind_common.h"

static int print_outcome(const api_options *options, const api_bound *bound)
{
    const cpubind_report *report = cpubind_bind_report(bound->binding);
    api_text done = {"", 0};
    api_add(&done, "process %d is bound to the CPUs of NPU %d", (int)bound->pid,
            (int)report->npu);
    cli_note_done(&done);
    if (options->json) {
        api_out json = {0};
        api_json_report(&json, NULL, bound, report);
        return cli_print_line(stdout, &json) ? API_DONE : cli_no_memory();
    }
    api_out text = cli_out_for(stdout);
    api_put_plan(&text, &bound->planned, options);
    if (!cli_print_out(stdout, &text))
        return cli_no_memory();
    if (options->quiet) { /* an outcome that was not asked for is printed all the same */
        api_warn_rest(report, cli_hear_warning, NULL);
        return API_DONE;
    }
    printf("\nprocess %d", (int)bound->pid);
    if (*bound->parent)
        printf(" (%s, the parent of this command)", bound->parent);
    printf(", NPU %d\n", (int)report->npu);
    if (!cli_print_items(report, 0))
        return cli_no_memory();
    cli_warn_outcome(bound, report);
    return API_DONE;
}

/* == Watching =============================================================== */

/* Prints what one pass of --watch has moved, and what it could not move. A full disk or a lack
 * of memory is no reason to end the watch. */
static void print_news(const api_options *options, const api_bound *bound)
{
    const cpubind_report *report = cpubind_bind_report(bound->binding);
    if (report->n == 0 || (options->quiet && !options->json))
        return;
    api_out text = {0};
    if (options->json) {
        api_json_report(&text, NULL, bound, report);
        (void)cli_print_line(stdout, &text);
    } else {
        for (int32_t i = 0; i < report->n; i++)
            if (report->item[i].result == CPUBIND_ITEM_MOVED ||
                report->item[i].result == CPUBIND_ITEM_RIGHT)
                api_put_moved(&text, &report->item[i]);
        (void)cli_print_out(stdout, &text);
        api_warn_news(report, cli_hear_warning, NULL);
    }
    (void)fflush(stdout);
    clearerr(stdout);
}

/* Binds again and again until the process ends. */
static int watch(const api_options *options, api_bound *bound)
{
    api_text words = {"", 0};
    if (fflush(stdout) != 0)
        return API_UNREADABLE;
    bound->is_watching = 1;
    cpubind_linux_raise_files(); /* one for the name of each thread */
    api_add(&words, "cpubind: the watch has ended; process %d stays bound\n", (int)bound->pid);
    if (!options->quiet && !options->json)
        cpubind_linux_say_at_signal(fileno(stderr), words.text);
    while (!cpubind_bind_wait(bound->binding, options->watch_ms)) {
        cpubind_linux_fault fault = {.what = ""};
        const cpubind_linux_status result = cpubind_bind_again(bound->binding, &fault);
        if (result == CPUBIND_LINUX_ERR_GONE)
            return API_DONE;
        if (result != CPUBIND_LINUX_OK)
            return cli_fail_bind(options, bound, result, &fault);
        print_news(options, bound);
    }
    return API_DONE;
}

static int apply(api_options *options, api_bound *bound)
{
    api_text why = {"", 0};
    int status = cli_open_bound(options, 0, bound);
    if (status == API_DONE && options->one_npu < 0 && !options->request.has_rank) {
        api_add(&why, "process %d: ", (int)bound->pid);
        status = cli_find_npu(options, bound, &why);
        api_add(&why, "; name the NPU with --npu N");
        if (status != API_DONE)
            return cli_fail(options, status, why.text);
    }
    if (status == API_DONE)
        status = cli_plan_bound(options, bound);
    if (status == API_DONE)
        status = cli_apply_bound(options, bound);
    if (status == API_DONE && options->watch_ms > 0)
        (void)cpubind_bind_watch(bound->binding, NULL); /* a failure is in the report */
    if (status == API_DONE)
        status = print_outcome(options, bound);
    if (status != API_DONE || options->watch_ms == 0 || bound->is_stopped)
        return status;
    return watch(options, bound);
}

int cli_apply(int argc, char **argv)
{
    static api_options options;
    api_bound bound = {0};
    int status = cli_start(argc, argv, API_APPLY, NULL, &options);
    if (status >= 0)
        return status;
    if (options.all)
        return cli_call_all(&options);
    status = apply(&options, &bound);
    api_close_bound(&bound);
    return status;
}
