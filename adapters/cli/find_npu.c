/* find_npu.c - which NPU a process uses, when no option says so
 * SPDX-License-Identifier: MIT
 *
 * Reads the driver's list of processes, else the table of npu-smi; changes nothing. Several
 * processes of an NPU are numbered as apply --all numbers them.
 */
#include <stdlib.h>
#include <string.h>

#include "../host/host_workers.h"
#include "bind_common.h"

enum { MAX_NAMED = 8 }; /* workers that a message names */

/* The arguments of read_list. */
typedef struct listing {
    const cpubind_source *source;
    const cpubind_facts *facts;
    cpubind_users found;
    cpubind_problem problem;
} listing;

static cpubind_problem_code read_list(void *ctx, cpubind_arena *arena)
{
    listing *l = (listing *)ctx;
    return cpubind_listed_users_read(l->source, l->facts, arena, &l->found, &l->problem);
}

/* Appends the workers of the host, or that there are none. */
static void add_workers(const cpubind_workers *workers, const cpubind_facts *facts,
                        api_text *to)
{
    int32_t n = 0;
    for (int32_t i = 0; i < workers->n; i++) {
        if (workers->row[i].fault.error || n++ >= MAX_NAMED)
            continue;
        api_add(to, "%s %d (NPU %d)", n == 1 ? "; processes that use one:" : ",",
                (int)workers->row[i].pid, (int)facts->device[workers->row[i].device].logic);
    }
    if (n > MAX_NAMED)
        api_add(to, " and %d more", (int)(n - MAX_NAMED));
    if (n == 0)
        api_add(to, "; no process of this host uses one%s",
                workers->is_other_namespace
                    ? " that is visible here: the driver numbers processes as the host does"
                    : "");
}

/* Chooses the NPU of the worker that has the pid. Returns the exit status. */
static int choose(api_options *options, const api_bound *bound, const cpubind_workers *workers,
                  api_text *why)
{
    const cpubind_facts *facts = &bound->planned.facts;
    const cpubind_worker *own = NULL;
    api_text used = {"", 0};
    int32_t n = 0;
    for (int32_t i = 0; i < workers->n; i++) {
        const cpubind_worker *w = &workers->row[i];
        if (w->pid != bound->pid || w->fault.error)
            continue;
        own = w;
        api_add(&used, "%s %d", n++ ? "," : "it uses the NPUs",
                (int)facts->device[w->device].logic);
    }
    if (n > 1) {
        api_add(why, "%s, and a process is bound to one", used.text);
        return API_REFUSED;
    }
    if (n == 0) {
        api_add(why, "it uses no NPU");
        add_workers(workers, facts, why);
        return API_REFUSED;
    }
    options->one_npu = facts->device[own->device].logic;
    (void)snprintf(options->npu_text, sizeof options->npu_text, "%d", (int)options->one_npu);
    if (options->request.n_process == 0 && own->n_index > 1) {
        options->request.n_process = own->n_index;
        options->request.process = own->index;
    }
    return API_DONE;
}

/* Reads the workers of the host that `source` lists. Returns the exit status. */
static int find(api_options *options, api_bound *bound, const cpubind_source *source,
                api_text *why)
{
    listing l = {.source = source, .facts = &bound->planned.facts};
    cpubind_arena arena = {NULL, 0, 0};
    cpubind_workers workers = {0};
    cpubind_linux_fault fault = {.what = ""};
    int status = API_UNREADABLE;
    if (cpubind_with_arena(NULL, &arena, read_list, &l) != CPUBIND_PROBLEM_NONE) {
        api_add(why, "it is not known which NPU it uses: ");
        api_add_input(why, l.problem.input ? l.problem.input : "memory");
        api_add(why, ": %s", l.problem.what);
    } else if (cpubind_workers_read(&l.found, NULL, &workers, &fault) != CPUBIND_LINUX_OK) {
        api_add(why, "it is not known which NPU it uses: %s: %s", fault.what,
                strerror(fault.error));
    } else {
        status = choose(options, bound, &workers, why);
    }
    cpubind_workers_free(&workers);
    free(arena.base);
    return status;
}

int cli_find_npu(api_options *options, api_bound *bound, api_text *why)
{
    cpubind_request request = options->request;
    api_host host = {0};
    int status = API_DONE;
    if (options->fixture) {
        api_add(why, "a fixture does not say which processes run here");
        return API_REFUSED;
    }
    if (options->root)
        status = cli_open_host(options, &host, why);
    else
        status = api_open_live(0, 0, &host, why);
    request.n_process = 0;
    if (status == API_DONE)
        api_make(&host.source, &request, &bound->planned);
    if (status == API_DONE && !bound->planned.has_facts) {
        api_explain(&bound->planned, options, why);
        status = (int)cpubind_problem_exit(bound->planned.code);
    } else if (status == API_DONE) {
        status = find(options, bound, &host.source, why);
    }
    api_free_planned(&bound->planned);
    api_close_host(&host);
    return status;
}
