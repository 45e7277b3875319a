/* run_tree.c - run --tree: a server that starts its own workers, each bound by its device
 * SPDX-License-Identifier: MIT
 *
 * The command is a child of this process, and stdout is its own: this file prints on stderr
 * alone. ../host finds the processes of the tree and binds them, as for apply --tree --watch.
 */
#include "run_tree.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../linux/child.h"
#include "../linux/terminal.h"
#include "host_call.h"

#define PERIOD_MS 1000

/* Says of each process with news where it was bound, or why it was not. */
static void print_news(host_call *c)
{
    for (int32_t i = 0; i < cpubind_host_bind_n(c->host); i++) {
        const cpubind_worker *row = cpubind_host_bind_row(c->host, i);
        api_text text = {"", 0}, device = {"", 0};
        if (!row->is_news || row->device < 0 || row->state == CPUBIND_HOST_ENDED)
            continue;
        (void)cli_explain_row(c, row, &text);
        cli_add_row_device(&device, row);
        if (!c->options->quiet)
            cli_warn_sharing(c, row);
        if (text.len > 0)
            fprintf(stderr, "cpubind: process %d%s: %s\n", (int)row->pid, device.text,
                    text.text);
        else if (!c->options->quiet && cli_count_threads(row->report, CPUBIND_ITEM_MOVED) > 0)
            fprintf(stderr, "cpubind: process %d (%s)%s: %d threads moved\n", (int)row->pid,
                    row->program, device.text,
                    (int)cli_count_threads(row->report, CPUBIND_ITEM_MOVED));
    }
}

/* Reads the host and plans, before anything is started. */
static int prepare(host_call *c, api_options *options)
{
    cpubind_host_options how = {.root = NULL};
    api_bound none = {0};
    api_text why = {"", 0};
    int status = cli_find_workers(c, options, &why);
    if (status == API_DONE)
        status = api_open_live(0, 0, &none.live, &why);
    if (status == API_DONE)
        status = cli_open_all(c, &how, &why);
    if (status != API_DONE) {
        api_close_bound(&none);
        return cli_fail(c->options, status, why.text);
    }
    status = c->has_listed ? cli_check_arch(c->options, &none) : API_DONE;
    api_close_bound(&none);
    if (status != API_DONE)
        return status;
    if (cpubind_host_bind_prepare(c->host) == CPUBIND_PROBLEM_NONE)
        return API_DONE;
    cli_take_plan(c);
    return cli_refuse_all(c);
}

/* Moves this process to the CPUs that are kept; the command follows as every process of the
 * tree that uses no device. */
static void move_to_kept(host_call *c)
{
    const cpubind_device_plan *plan = &cpubind_host_bind_plan(c->host)->plan;
    if (plan->n_kept > 0)
        (void)cpubind_move_self(plan->kept, plan->n_kept);
    else if (!c->options->quiet && c->options->request.engine.engine == CPUBIND_ENGINE_NONE)
        fputs("cpubind: no CPUs are kept for the processes that use no device: they may run on "
              "all allowed CPUs; --keep 2 keeps two of each node\n",
              stderr);
}

/* Binds until the command has ended. A message that nobody reads any more ends neither this
 * process nor the binding. */
static int attend(host_call *c, cpubind_child *child)
{
    (void)signal(SIGPIPE, SIG_IGN);
    move_to_kept(c);
    cpubind_linux_raise_files();
    (void)cpubind_host_bind_apply(c->host);
    cpubind_host_bind_wake_at(c->host, child->fd);
    for (cpubind_child_serve(child); !child->has_ended; cpubind_child_serve(child)) {
        cli_take_plan(c);
        print_news(c);
        cpubind_host_bind_again(c->host, PERIOD_MS);
    }
    cpubind_host_bind_end(c->host);
    return child->status;
}

int cli_run_tree(api_options *options, void (*child_signal)(int), int *has_started)
{
    static host_call c;
    cpubind_child child;
    int status;
    c.options = options;
    c.is_watching = 1;
    c.said = words_array();
    status = prepare(&c, options);
    if (status == API_DONE) {
        const cpubind_linux_fault fault =
            cpubind_child_start(options->word, child_signal, &child);
        api_text why = {"", 0};
        *has_started = 1;
        if (!fault.error) {
            status = attend(&c, &child);
        } else {
            api_add(&why, "\"%s\" cannot be run: ", options->word[0]);
            words_add_why(&why, WORDS_COMMAND, NULL, fault.error);
            status = strcmp(fault.what, "exec") != 0 ? CLI_RUN_FAILED
                     : fault.error == ENOENT         ? CLI_NOT_FOUND
                                                     : CLI_NOT_EXECUTABLE;
            (void)cli_fail(options, status, why.text);
        }
    }
    cpubind_host_bind_close(c.host);
    api_close_host(&c.source);
    words_free(c.said);
    return status;
}
