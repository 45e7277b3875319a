/* cmd_status.c - cpubind status: every device of the host, who runs on it, and what is right
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing. With --watch it writes a line for each change after the first look.
 */
#include <stdlib.h>
#include <string.h>

#include "../linux/terminal.h"
#include "measure_result.h"
#include "service_ask.h"
#include "status_text.h"

/* One look, and what belongs to it. */
typedef struct look {
    host_call call;
    cli_status s;
    cpubind_arena arena;
    int32_t has_no_memory;
} look;

static cpubind_problem_code read_status(void *ctx, cpubind_arena *arena)
{
    look *l = (look *)ctx;
    return cpubind_host_status_read(l->call.host, l->has_no_memory, arena, &l->s.status);
}

static void end_look(look *l)
{
    cpubind_host_bind_close(l->call.host);
    api_close_host(&l->call.source);
    free(l->arena.base);
}

/* Takes the warning that the host has devices which the plan does not know. */
static void take_warning(look *l)
{
    l->s.warned = &l->call.planned;
    api_keep_warning(CPUBIND_WARNING_OTHER_ACCELERATORS, &l->call.planned);
}

/* Looks once. Returns the exit status of a failure, which has been printed, else API_DONE. */
static int begin_look(api_options *options, look *l)
{
    cpubind_host_options how = {.root = NULL};
    api_text why = {"", 0};
    int status;
    memset(l, 0, sizeof *l);
    l->has_no_memory = options->memory == CPUBIND_MEMORY_NONE && options->has_memory;
    l->call.options = options;
    l->s.options = options;
    l->s.call = &l->call;
    status = cli_find_workers(&l->call, options, &why);
    if (status == API_DONE)
        status = cli_open_all(&l->call, &how, &why);
    if (status != API_DONE)
        return cli_fail(options, status, why.text);
    status =
        cpubind_host_bind_survey(l->call.host) == CPUBIND_PROBLEM_NONE ? API_DONE : API_REFUSED;
    cli_take_plan(&l->call);
    if (status != API_DONE)
        return cli_refuse_all(&l->call);
    l->s.unlisted = *cpubind_host_bind_unlisted(l->call.host);
    if (l->s.unlisted.code == CPUBIND_PROBLEM_NO_MEMORY ||
        cpubind_with_arena(NULL, &l->arena, read_status, l) != CPUBIND_PROBLEM_NONE)
        return cli_no_memory();
    take_warning(l);
    return API_DONE;
}

/* The exit status of what was seen. Who runs may be unknown, or no plan may be possible. */
static int status_of(const cli_status *s)
{
    if (s->unlisted.code != CPUBIND_PROBLEM_NONE)
        return API_UNREADABLE;
    if (!cpubind_host_status_is_right(&s->status))
        return API_REFUSED;
    if (s->status.count[CPUBIND_PLACE_UNKNOWN] > 0 || s->status.n_unseen > 0)
        return API_UNREADABLE;
    return (int)cpubind_problem_exit(s->call->planned.code);
}

static int print_once(const api_options *options, const cli_status *s)
{
    if (options->explain)
        return cli_explain_pod(s);
    if (options->json) {
        words_value *json = cli_status_json(s);
        words_set(json, "service", cli_service_json(options, words_get(json, "warnings")));
        words_set(json, "measured", cli_last_measure_json(options));
        return cli_print_json(stdout, json) ? status_of(s) : cli_no_memory();
    }
    if (!options->quiet) {
        if (!cli_print_status(s))
            return cli_no_memory();
        cli_print_warnings(s->warned);
    }
    if (s->call->planned.code != CPUBIND_PROBLEM_NONE) {
        api_text why = {"", 0};
        cli_explain_no_plan(s->call, &why);
        fprintf(stderr, "cpubind: there is no plan: %s\n", why.text);
    }
    return status_of(s);
}

/* == Watching =============================================================== */

/* Prints what has changed since the last look; `out` NULL: of a text nothing. */
static int print_news(const api_options *options, const cli_status *s, FILE *out,
                      cli_changes *last)
{
    int32_t n = 0;
    if (!cli_print_changes(out, s, last, &n))
        return cli_no_memory();
    if (options->json && n > 0 && !cli_print_json(stdout, cli_status_json(s)))
        return cli_no_memory();
    return fflush(stdout) == 0 ? API_DONE : API_UNWRITTEN;
}

/* Looks again and again, until a signal or an error ends it. A person sees all once, and then,
 * as a pipe does, what changes. */
static int watch(api_options *options)
{
    const int is_quiet = options->json || options->quiet;
    int is_first = cpubind_linux_is_terminal(fileno(stdout)) && !is_quiet;
    cli_changes last = {NULL, 0};
    for (;;) {
        static look l;
        int status = begin_look(options, &l);
        if (status == API_DONE && is_first && !cli_print_status(&l.s))
            status = cli_no_memory();
        if (status == API_DONE)
            status = print_news(options, &l.s, is_first || is_quiet ? NULL : stdout, &last);
        end_look(&l);
        is_first = 0;
        if (status != API_DONE) {
            cli_free_changes(&last);
            return status;
        }
        cpubind_linux_wait(options->watch_ms);
    }
}

int cli_show_status(int argc, char **argv)
{
    static api_options options;
    static look l;
    int status = cli_start(argc, argv, API_STATUS, &options);
    if (status >= 0)
        return status;
    if (options.watch_ms > 0)
        return watch(&options);
    status = cli_check_columns(&options, cli_status_view);
    if (status != API_DONE)
        return status;
    status = begin_look(&options, &l);
    if (status == API_DONE)
        status = print_once(&options, &l.s);
    end_look(&l);
    return status;
}
