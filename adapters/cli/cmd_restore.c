/* cmd_restore.c - cpubind restore: undo what apply and run have changed, from the record
 * SPDX-License-Identifier: MIT
 *
 * Asks no plan and no NPU: the record alone says what is restored. adapters/linux/bind does it;
 * BIND.md documents the options and the output.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../linux/kernel/run_folder.h"
#include "../service/claims.h"
#include "bind_common.h"
#include "output.h"
#include "service_ask.h"

static int print_outcome(const api_options *options, const api_bound *bound)
{
    const cpubind_outcomes *report = cpubind_bind_report(bound->binding);
    api_text done = {"", 0};
    if (bound->pid == 0)
        api_add(&done, "what ended processes have changed is restored");
    else
        api_add(&done, "process %d is restored", (int)bound->pid);
    cli_note_done(&done);
    if (options->json)
        return cli_print_json(stdout, api_report_json(bound, report)) ? API_DONE
                                                                      : cli_no_memory();
    if (options->quiet)
        return API_DONE;
    if (!bound->pid)
        printf("processes that have ended: put back\n");
    else
        printf("process %d: %s%s\n", (int)bound->pid,
               report->n > 0      ? "put back"
               : report->is_alive ? "there is nothing to put back"
                                  : "it has ended; there is nothing to put back",
               report->n > 0 || options->all || options->is_ended || options->pid
                   ? ""
                   : "; of other workers: --pid N, or all, as in: cpubind restore --all");
    (void)cli_print_items(bound, report, 0);
    cli_warn_outcome(bound, report);
    return API_DONE;
}

/* Prints that the service has restored a process, which it alone could. */
static int print_put_back(const api_options *options, int32_t pid)
{
    if (options->json)
        return cli_print_json(stdout, words_make("cpubind:s pid:i restored_by_service:b",
                                                 CPUBIND_VERSION, (int)pid, 1))
                   ? API_DONE
                   : cli_no_memory();
    if (!options->quiet)
        printf("process %d: put back by the service\n", (int)pid);
    return API_DONE;
}

/* The service lets go of the process first; with `asked` it has let go of all. */
static int restore_one(const api_options *options, int32_t pid, const api_bound *asked)
{
    api_bound bound = {.pid = pid ? pid : options->pid, .is_restoring = 1};
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status result;
    int status = API_DONE, is_put_back = 0;
    if (asked) {
        bound.service = asked->service;
        bound.service_said = asked->service_said;
    } else {
        if (bound.pid == 0)
            status = cli_choose_parent(options, &bound);
        if (status == API_DONE)
            status = cli_let_service_go(options, CPUBIND_ASK_LEAVE, &bound, &is_put_back);
    }
    if (status == API_DONE && is_put_back)
        return print_put_back(options, bound.pid);
    if (status == API_DONE)
        status = cli_open_bound(options, 0, &bound);
    if (status == API_DONE) {
        result = cpubind_bind_restore(bound.binding, &fault);
        status = result == CPUBIND_LINUX_OK ? print_outcome(options, &bound)
                                            : cli_fail_bind(options, &bound, result, &fault);
    }
    api_close_bound(&bound);
    return status;
}

/* Puts back what ended processes have left on the host without a record of their own;
 * *n_done is incremented if there was something. */
static int restore_host(const api_options *options, int32_t *n_done)
{
    api_bound bound = {.is_restoring = 1};
    cpubind_linux_fault fault = {.what = ""};
    int status = API_DONE;
    cpubind_linux_status result = cpubind_bind_open_host(NULL, &bound.binding, &fault);
    if (result == CPUBIND_LINUX_OK)
        result = cpubind_bind_restore(bound.binding, &fault);
    if (result != CPUBIND_LINUX_OK)
        status = cli_fail_bind(options, &bound, result, &fault);
    else if (cpubind_bind_report(bound.binding)->n > 0) {
        status = print_outcome(options, &bound);
        ++*n_done;
    }
    api_close_bound(&bound);
    return status;
}

/* Whether a process has ended, or its record is of an earlier process of its number. */
static int has_ended(int32_t pid)
{
    const cpubind_bind_options how = {.pid = pid, .is_reading = 1};
    cpubind_binding *binding;
    int is_alive;
    if (cpubind_bind_open(&how, NULL, &binding, NULL) != CPUBIND_LINUX_OK)
        return 1; /* restore_one says why */
    is_alive = cpubind_bind_is_alive(binding);
    cpubind_bind_close(binding);
    return !is_alive;
}

/* A service that starts later binds all: what was let go was let go by this one. */
static int forget_claims(const api_options *options)
{
    const cpubind_linux_fault fault = cpubind_claims_forget(&cpubind_sys_real);
    api_text why = {"", 0};
    if (!fault.error)
        return API_DONE;
    api_add(&why, "which processes were let go cannot be forgotten: ");
    words_add_why(&why, WORDS_RECORD, fault.what, fault.error);
    return cli_fail(options, API_UNWRITTEN, why.text);
}

/* Ends the service, and says so. */
static int end_service(const api_options *options)
{
    cli_service_reply service;
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status result;
    api_text why = {"", 0};
    int32_t pid;
    cli_ask_service(options, CPUBIND_ASK_STATUS, 0, &service);
    pid = service.pid;
    cli_free_service(&service);
    if (pid == 0) {
        if (!options->quiet)
            fputs("cpubind: no service runs\n", stderr);
        return forget_claims(options);
    }
    result = cpubind_bind_end_service(pid, NULL, &fault);
    if (result == CPUBIND_LINUX_OK) {
        fprintf(stderr, "cpubind: the service (process %d) was ended by this command\n",
                (int)pid);
        return forget_claims(options);
    }
    api_add(&why, "the service (process %d) has not ended: ", (int)pid);
    if (result == CPUBIND_LINUX_ERR_BUSY)
        api_add(&why, "it does not act on SIGTERM; try: kill -KILL %d", (int)pid);
    else
        words_add_why(&why, WORDS_OTHER, fault.what, fault.error);
    return cli_fail(options, API_UNWRITTEN, why.text);
}

/* Makes the service let go of all; an ordinary user has records of its own alone. */
static int let_all_go(const api_options *options, api_bound *asked)
{
    int is_put_back = 0, status;
    if (options->ends_service)
        return end_service(options);
    if (options->is_ended || geteuid() != 0)
        return API_DONE;
    status = cli_let_service_go(options, CPUBIND_ASK_LEAVE, asked, &is_put_back);
    if (status == API_DONE && asked->service > 0 && !asked->service_said && !options->quiet)
        fprintf(stderr, "cpubind: the service (process %d) goes on: " CLI_ALL_LEFT "\n",
                (int)asked->service);
    return status;
}

/* Says what is left of root's, to an ordinary user. Returns the exit status. */
static int say_roots(const api_options *options)
{
    const int32_t n = options->is_ended ? 0 : cpubind_run_count_roots(&cpubind_sys_real);
    api_text why = {"", 0};
    if (n == 0)
        return API_DONE;
    api_add(&why, "%d processes are on record of root, who alone can put them back: try sudo",
            (int)n);
    return cli_fail(options, API_REFUSED, why.text);
}

/* Restores every process that has a record, also those that have ended; with --ended these
 * alone. A process that cannot be restored does not stop the others; the worst exit status
 * counts. */
static int restore_all(const api_options *options)
{
    cpubind_linux_fault fault = {.what = ""};
    static const api_bound none;
    static api_bound asked;
    int32_t *pids, n, n_done = 0;
    int status = let_all_go(options, &asked), one;
    cpubind_linux_status result;
    if (status != API_DONE)
        return status;
    result = cpubind_bind_list(NULL, &pids, &n, &fault);
    if (result != CPUBIND_LINUX_OK)
        return cli_fail_bind(options, &none, result, &fault);
    for (int32_t i = 0; i < n; i++) {
        if (options->is_ended && !has_ended(pids[i]))
            continue;
        one = restore_one(options, pids[i], &asked);
        status = one > status ? one : status;
        n_done++;
    }
    one = restore_host(options, &n_done);
    status = one > status ? one : status;
    cpubind_bind_sweep(NULL);
    if (n_done == 0 && !options->quiet && !options->json)
        puts(options->is_ended ? "nothing is on record of a process that has ended"
                               : "nothing is on record");
    free(pids);
    one = say_roots(options);
    return one > status ? one : status;
}

int cli_restore(int argc, char **argv)
{
    static api_options options;
    int status = cli_start(argc, argv, API_RESTORE, &options);
    if (status >= 0)
        return status;
    if (options.all || options.is_ended)
        return restore_all(&options);
    status = restore_one(&options, 0, NULL);
    cpubind_bind_sweep(NULL);
    return status;
}
