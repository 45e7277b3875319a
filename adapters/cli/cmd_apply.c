/* cmd_apply.c - cpubind apply: bind a process, and with --watch keep it bound
 * SPDX-License-Identifier: MIT
 *
 * Prints the outcome; whatever changes the process is in adapters/linux/bind. BIND.md
 * documents the options and the output.
 */
#include "../linux/terminal.h"
#include <unistd.h>

#include "find_device.h"
#include "output.h"
#include "service_ask.h"

static int print_outcome(const api_options *options, api_bound *bound)
{
    api_out plan = cli_out_for(stdout);
    const cpubind_outcomes *report = cpubind_bind_report(bound->binding);
    api_text done = {"", 0}, device = {"", 0};
    cli_name_bound(options, bound);
    cli_add_bound(&device, bound);
    api_add(&done, "process %d is bound to the CPUs of %s", (int)bound->pid, device.text);
    cli_note_done(&done);
    if (options->json)
        return cli_print_json(stdout, api_report_json(bound, report)) ? API_DONE
                                                                      : cli_no_memory();
    api_put_plan(&plan, &bound->planned, options);
    if (!cli_print_out(stdout, &plan))
        return cli_no_memory();
    if (options->quiet) { /* an outcome that was not asked for is printed all the same */
        api_warn_rest(report, cli_hear_warning, NULL);
        return API_DONE;
    }
    printf("\nprocess %d", (int)bound->pid);
    if (*bound->parent)
        printf(" (%s, the parent of this command)", bound->parent);
    printf(", %s\n", device.text);
    if (!cli_print_items(bound, report, 0))
        return cli_no_memory();
    cli_warn_outcome(bound, report);
    return API_DONE;
}

/* == Watching =============================================================== */

/* Prints what one pass of --watch has moved, and what it could not move. A full disk or a lack
 * of memory is no reason to end the watch. */
static void print_news(const api_options *options, const api_bound *bound)
{
    const cpubind_outcomes *report = cpubind_bind_report(bound->binding);
    if (report->n == 0 || (options->quiet && !options->json))
        return;
    api_out text = {0};
    if (options->json) {
        (void)cli_print_json(stdout, api_report_json(bound, report));
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

/* Such a process has no environment to plan by, and is refused for what it is. */
static int check_kind(const api_options *options, const api_bound *bound)
{
    cpubind_linux_fault fault = {.what = ""};
    const cpubind_linux_status result = cpubind_bind_check(bound->binding, &fault);
    return result == CPUBIND_LINUX_OK ? API_DONE
                                      : cli_fail_bind(options, bound, result, &fault);
}

static int apply(api_options *options, api_bound *bound)
{
    int status = cli_open_bound(options, 0, bound);
    if (status == API_DONE)
        status = check_kind(options, bound);
    if (status == API_DONE)
        status = cli_plan_bound(options, bound);
    if (status == API_DONE)
        status = cli_apply_bound(options, bound);
    if (status == API_DONE)
        status = print_outcome(options, bound);
    if (status == API_DONE && options->watch_ms > 0 && !bound->is_stopped)
        return watch(options, bound);
    /* A watch sees what is born later. */
    return status == API_DONE && cpubind_bind_report(bound->binding)->is_outrun ? API_REFUSED
                                                                                : status;
}

/* == The service ============================================================ */

/* Whether the options say no more than which process it is. */
static int is_plain(const api_options *o)
{
    return !api_names_device(o) && !o->request.has_rank && !api_asks_for_devices(o) &&
           !o->request.allowed && o->n_wish == 0 && !o->has_memory && !o->has_index &&
           !o->request.roles && o->watch_ms == 0;
}

/* Prints what the service has done for a process of this user. Returns the exit status; -1: the
 * process is none of its workers. */
static int print_taken(const api_options *options, int32_t pid, const words_value *answer)
{
    const words_value *row = words_get(answer, "row");
    const words_value *error = words_get(row, "error");
    const char *text = words_string(words_get(error, "text"));
    const char *state = words_string(words_get(row, "state"));
    if (!words_is(row, WORDS_OBJECT))
        return -1;
    if (options->json)
        return cli_print_json(stdout, words_share(words_get(answer, "row")))
                   ? (int)words_integer_of(error, "status")
                   : cli_no_memory();
    if (text)
        return cli_fail(options, (int)words_integer_of(error, "status"), text);
    if (!options->quiet)
        printf("process %d: %s by the service\n", (int)pid, state ? state : "");
    return API_DONE;
}

/* Asks the service to bind a process of an ordinary user. Returns as print_taken. */
static int take_by_service(const api_options *options, int32_t pid)
{
    cli_service_reply service;
    int status = -1;
    cli_ask_service(options, CPUBIND_ASK_TAKE, pid, &service);
    if (service.state == CLI_SERVICE_DONE)
        status = print_taken(options, pid, service.answer);
    if (service.state == CLI_SERVICE_REFUSED)
        status = cli_fail(options, service.status, service.why);
    cli_free_service(&service);
    return status;
}

/* Binds the process while the service has let go of it; the service of this user then watches
 * it as it is bound, whether that has changed or not. */
static int apply_beside_service(api_options *options, api_bound *bound)
{
    cli_service_reply service = {.state = CLI_SERVICE_NONE};
    int is_put_back = 0, status = API_DONE;
    int32_t pid;
    if (bound->pid == 0)
        bound->pid = options->pid;
    if (bound->pid == 0)
        status = cli_choose_parent(options, bound);
    pid = bound->pid;
    if (status == API_DONE && geteuid() != 0 && is_plain(options)) {
        status = take_by_service(options, pid);
        if (status >= 0)
            return status;
        status = API_DONE;
    }
    if (status == API_DONE)
        status = cli_let_service_go(options, CPUBIND_ASK_LEAVE, bound, &is_put_back);
    if (status != API_DONE)
        return status;
    status = apply(options, bound);
    if (bound->service > 0 && !bound->service_said && geteuid() == 0) {
        api_close_bound(bound);
        cli_tell_service(options, CPUBIND_ASK_ADOPT, pid, &service);
        cli_free_service(&service);
    }
    return status;
}

int cli_apply(int argc, char **argv)
{
    static api_options options;
    static api_bound bound;
    int status = cli_start(argc, argv, API_APPLY, &options);
    if (status >= 0)
        return status;
    if (options.all || options.tree)
        return cli_call_all(&options);
    status = apply_beside_service(&options, &bound);
    api_close_bound(&bound);
    return status;
}
