/* cmd_restore.c - cpubind restore: undo what apply and run have changed, from the record
 * SPDX-License-Identifier: MIT
 *
 * Asks no plan and no NPU: the record alone says what is restored. adapters/linux/bind does it;
 * README.md documents the options and the output.
 */
#include <stdlib.h>

#include "bind_common.h"
#include "output.h"

static int print_outcome(const cli_options *options, const cli_bound *bound)
{
    const cpubind_report *report = cpubind_bind_report(bound->binding);
    cli_text done = {"", 0};
    cli_add(&done, "process %d is restored", (int)bound->pid);
    cli_note_done(&done);
    if (options->json)
        return cli_print_json(stdout, cli_outcome_json(bound, report)) ? CLI_DONE
                                                                       : cli_no_memory();
    if (options->quiet)
        return CLI_DONE;
    printf("process %d: %s\n", (int)bound->pid,
           report->n > 0      ? "put back"
           : report->is_alive ? "there is nothing to put back"
                              : "it has ended; there is nothing to put back");
    cli_print_items(stdout, report, 0);
    cli_warn_outcome(bound, report);
    return CLI_DONE;
}

static int restore_one(const cli_options *options, int32_t pid)
{
    cli_bound bound = {.pid = pid, .is_restoring = 1};
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status result;
    int status = cli_open_bound(options, 0, &bound);
    if (status == CLI_DONE) {
        result = cpubind_bind_restore(bound.binding, &fault);
        status = result == CPUBIND_LINUX_OK ? print_outcome(options, &bound)
                                            : cli_fail_bind(options, &bound, result, &fault);
    }
    cli_close_bound(&bound);
    return status;
}

/* Restores every process that has a record, also those that have ended. A process that cannot
 * be restored does not stop the others; the worst exit status counts. */
static int restore_all(const cli_options *options)
{
    cpubind_linux_fault fault = {.what = ""};
    const cli_bound none = {0};
    int32_t *pids, n;
    int status = CLI_DONE;
    cpubind_linux_status result = cpubind_bind_list(NULL, &pids, &n, &fault);
    if (result != CPUBIND_LINUX_OK)
        return cli_fail_bind(options, &none, result, &fault);
    for (int32_t i = 0; i < n; i++) {
        int one = restore_one(options, pids[i]);
        status = one > status ? one : status;
    }
    if (n == 0 && !options->quiet && !options->json)
        puts("nothing is on record");
    free(pids);
    return status;
}

int cli_restore(int argc, char **argv)
{
    static cli_options options;
    int status = cli_start(argc, argv, CLI_RESTORE, NULL, &options);
    if (status >= 0)
        return status;
    return options.all ? restore_all(&options) : restore_one(&options, 0);
}
