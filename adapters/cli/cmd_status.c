/* cmd_status.c - cpubind status: every device of the host, who runs on it, and what is right
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing. With --watch it draws a terminal again and again, or writes a line for each
 * change into a pipe.
 */
#include <stdlib.h>
#include <string.h>

#include "../linux/terminal.h"
#include "../text/cpulist.h"
#include "device_status.h"
#include "service_ask.h"
#include "status_text.h"

/* One look, and what belongs to it. */
typedef struct look {
    api_options *options;
    api_host host;
    cli_status s;
    cli_status more; /* of the other accelerators of a host with NPUs */
    api_options more_options;
    cpubind_arena list_arena, arena, more_arena;
    cpubind_status_plan plan;     /* s.made */
    cpubind_host_allowed allowed; /* which the plan borrows from, ... */
    int32_t *online;              /* ... and from these CPUs */
} look;

/* Makes the plan, by the rule of apply --all. Where nothing runs, it is of all online CPUs.
 * Returns 0 without memory. */
static int make_plan(look *l)
{
    const cpubind_facts *facts = &l->s.planned.facts;
    const cpubind_workers *workers = &l->s.workers;
    cpubind_request request = l->options->request;
    cpubind_host_user *user =
        (cpubind_host_user *)malloc(((size_t)workers->n + 1) * sizeof *user);
    int32_t n = 0, n_online = 0, *number;
    int is_made;
    l->online = (int32_t *)malloc(CPUBIND_MAX_CPUS * sizeof *l->online);
    for (int32_t i = 0; user && i < workers->n; i++)
        if (workers->row[i].allowed.n > 0)
            user[n++] = (cpubind_host_user){workers->row[i].device, workers->row[i].allowed};
    if (l->online && n == 0 && !request.allowed)
        n_online = cli_list_online(&l->host.source, l->online);
    if (n_online > 0) {
        request.allowed = l->online;
        request.n_allowed = n_online;
    }
    request.wants_pci = 1;
    request.scope = CPUBIND_SCOPE_CPUSET;
    number = (int32_t *)malloc(((size_t)facts->n_npu + 1) * sizeof *number);
    for (int32_t i = 0; number && i < facts->n_npu; i++)
        number[i] = facts->npu[i].logic;
    is_made = user && l->online && number &&
              cpubind_host_allow(&cpubind_sys_real, number, facts->n_npu, user, n, 1,
                                 &l->allowed, &request);
    free(number);
    free(user);
    if (is_made)
        api_make(&l->host.source, &request, &l->s.made);
    api_keep_warning(CPUBIND_WARNING_OTHER_ACCELERATORS, &l->s.made);
    l->plan = (cpubind_status_plan){&l->s.made.facts, &l->s.made.plan};
    return is_made;
}

/* Reads the facts, which name the NPUs; the plan that comes with them is not used. */
static void read_facts(look *l)
{
    cpubind_request request = l->options->request;
    request.wants_pci = 1;
    api_make(&l->host.source, &request, &l->s.planned);
}

static cpubind_problem_code read_list(void *ctx, cpubind_arena *arena)
{
    look *l = (look *)ctx;
    return cpubind_listed_users_read(&l->host.source, &l->s.planned.facts, arena, &l->s.list,
                                     &l->s.list_problem);
}

static cpubind_problem_code read_status(void *ctx, cpubind_arena *arena)
{
    look *l = (look *)ctx;
    const cpubind_status_request request = {
        .source = &l->host.source,
        .facts = &l->s.planned.facts,
        .plan = &l->plan,
        .n_plan = l->s.made.code == CPUBIND_PROBLEM_NONE && l->s.made.has_facts,
        .workers = &l->s.workers,
        .wish = l->options->wish,
        .n_wish = l->options->n_wish,
        .threads = l->options->threads,
        .has_no_memory = l->options->memory == CPUBIND_MEMORY_NONE && l->options->has_memory};
    return cpubind_host_status_read(&request, arena, &l->s.status);
}

/* The same of accelerators that are no NPUs. */
static cpubind_problem_code read_device_status(void *ctx, cpubind_arena *arena)
{
    cli_status *s = (cli_status *)ctx;
    const cpubind_status_request request = {
        .goal = s->goal,
        .n_goal = s->devices.topo.facts.n_device,
        .workers = &s->workers,
        .wish = s->options->wish,
        .n_wish = s->options->n_wish,
        .threads = s->options->threads,
        .has_no_memory = s->options->memory == CPUBIND_MEMORY_NONE && s->options->has_memory};
    return cpubind_host_status_read(&request, arena, &s->status);
}

static void end_devices(cli_status *s)
{
    cpubind_workers_free(&s->workers);
    api_free_devices(&s->devices);
    free(s->goal);
}

static void end_look(look *l)
{
    end_devices(&l->more);
    free(l->more_arena.base);
    end_devices(&l->s);
    api_free_planned(&l->s.planned);
    api_close_host(&l->host);
    free(l->list_arena.base);
    free(l->arena.base);
    api_free_planned(&l->s.made);
    cpubind_host_free_allowed(&l->allowed);
    free(l->online);
}

/* Leaves the NPUs out of what was read of all accelerators: none of them has a worker there. */
static void leave_npus_out(cli_status *s)
{
    cpubind_host_status *st = &s->status;
    int32_t n = 0;
    for (int32_t i = 0; i < st->n_device; i++) {
        const int32_t device = st->device[i].device;
        if (s->devices.topo.facts.device[device].accelerator.vendor != CPUBIND_VENDOR_ASCEND)
            st->device[n++] = st->device[i];
        else
            st->n_idle -= st->device[i].n_worker == 0;
    }
    st->n_device = n;
}

/* Looks at accelerators of any vendor. Returns the exit status of a failure, which has been
 * printed, else API_DONE. */
static int look_at_devices(look *l, const api_options *options, cli_status *s,
                           cpubind_arena *arena)
{
    int status;
    s->is_on_devices = 1;
    s->options = options;
    status = cli_look_at_devices(options, &l->host.source, s);
    if (status == API_DONE &&
        api_with_arena(arena, read_device_status, s) != CPUBIND_PROBLEM_NONE)
        status = cli_no_memory();
    return status;
}

/* Looks at the other accelerators of a host with NPUs, where there are some. What --exclude
 * takes from the NPUs is left to these. */
static int look_at_more(look *l)
{
    cpubind_request *request = &l->more_options.request;
    api_topo topo = {0};
    int has = 0, status;
    if (api_npu_option(l->options))
        return API_DONE;
    api_topo_read(&l->host.source, l->options, &topo);
    for (int32_t i = 0; topo.status == CPUBIND_PROBLEM_NONE && i < topo.facts.n_device && !has;
         i++)
        has = topo.facts.device[i].accelerator.vendor != CPUBIND_VENDOR_ASCEND;
    api_topo_free(&topo);
    if (!has)
        return API_DONE;
    l->more_options = *l->options;
    if (request->exclude) {
        request->allowed = request->exclude;
        request->n_allowed = request->n_exclude;
        request->exclude = NULL;
        request->n_exclude = 0;
    }
    status = look_at_devices(l, &l->more_options, &l->more, &l->more_arena);
    if (status == API_DONE) {
        leave_npus_out(&l->more);
        l->s.more = &l->more;
    }
    return status;
}

/* Looks once. Returns the exit status of a failure, which has been printed, else API_DONE. */
static int begin_look(api_options *options, look *l)
{
    static api_text why;
    cpubind_linux_fault fault = {.what = ""};
    int status;
    memset(l, 0, sizeof *l);
    why = (api_text){"", 0};
    l->options = options;
    l->s.options = options;
    status = cli_open_host(options, &l->host, &why);
    if (status != API_DONE)
        return cli_fail(options, status, why.text);
    status = cli_find_device_kind(options, &l->s.is_on_devices);
    if (status == API_DONE && l->s.is_on_devices)
        status = look_at_devices(l, options, &l->s, &l->arena);
    if (status == API_DONE && l->s.is_on_devices)
        api_find_npus(&l->host.source, options, &l->s.devices);
    if (status != API_DONE || l->s.is_on_devices)
        return status;
    read_facts(l);
    if (!l->s.planned.has_facts)
        return cli_refuse(options, &l->s.planned);
    if (api_with_arena(&l->list_arena, read_list, l) != CPUBIND_PROBLEM_NONE)
        l->s.list = (cpubind_users){0};
    if (l->s.list_problem.code == CPUBIND_PROBLEM_NO_MEMORY)
        return cli_no_memory();
    if (cpubind_workers_read(&l->s.list, NULL, &l->s.workers, &fault) != CPUBIND_LINUX_OK) {
        api_add(&why, "%s: %s", fault.what, strerror(fault.error));
        return cli_fail(options, API_UNREADABLE, why.text);
    }
    if (!make_plan(l))
        return cli_no_memory();
    if (api_with_arena(&l->arena, read_status, l) != CPUBIND_PROBLEM_NONE)
        return cli_no_memory();
    return look_at_more(l);
}

/* The exit status of what was seen. Who runs may be unknown, or no plan may be possible. */
static int status_of(const cli_status *s)
{
    const api_planned *refused = cli_status_refusal(s);
    if (s->list_problem.code != CPUBIND_PROBLEM_NONE)
        return API_UNREADABLE;
    if (!cli_status_is_right(s))
        return API_REFUSED;
    if (s->status.count[CPUBIND_PLACE_UNKNOWN] > 0 ||
        (s->more && s->more->status.count[CPUBIND_PLACE_UNKNOWN] > 0))
        return API_UNREADABLE;
    return refused ? (int)cpubind_problem_exit(refused->code) : API_DONE;
}

static int print_once(const api_options *options, const cli_status *s)
{
    const api_planned *refused = cli_status_refusal(s);
    if (options->json) {
        json_t *json = cli_status_json(s);
        (void)json_object_set_new(json, "service",
                                  cli_service_json(options, json_object_get(json, "warnings")));
        return cli_print_json(stdout, json) ? status_of(s) : cli_no_memory();
    }
    if (!options->quiet) {
        cli_print_status(stdout, s);
        cli_print_service(stdout, options);
        cli_print_warnings(cli_status_warned(s));
    }
    if (refused) {
        api_text why = {"", 0};
        api_explain(refused, options, &why);
        fprintf(stderr, "cpubind: there is no plan: %s\n", why.text);
    }
    return status_of(s);
}

/* == Watching =============================================================== */

/* Draws as many lines of a text as the terminal has, each over the former one. */
static void draw(const char *text)
{
    const int32_t rows = cpubind_linux_rows(fileno(stdout));
    const int32_t columns = cpubind_linux_columns(fileno(stdout));
    fputs("\033[H", stdout);
    for (int32_t row = 1; *text && row < rows; row++) {
        const size_t n = strcspn(text, "\n");
        size_t at = 0;
        for (int32_t column = 0; at < n && column < columns; column++) {
            const int32_t bytes = api_character(text + at, n - at);
            at += bytes > 0 ? (size_t)bytes : 1;
        }
        printf("%.*s\033[K\n", (int)at, text);
        text += n + (text[n] == '\n');
    }
    if (*text)
        fputs("... the window has no room for the rest", stdout);
    fputs("\033[J", stdout);
    (void)fflush(stdout);
}

static int draw_status(const cli_status *s)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return cli_no_memory();
    cli_print_status(out, s);
    if (fclose(out) != 0 || !text)
        return cli_no_memory();
    draw(text);
    free(text);
    return API_DONE;
}

/* Prints what has changed since the last look. */
static int print_news(const api_options *options, const cli_status *s, cli_changes *last)
{
    int32_t n = 0;
    if (!cli_print_changes(options->json || options->quiet ? NULL : stdout, s, last, &n))
        return cli_no_memory();
    if (options->json && n > 0 && !cli_print_json(stdout, cli_status_json(s)))
        return cli_no_memory();
    return fflush(stdout) == 0 ? API_DONE : API_UNWRITTEN;
}

/* Looks again and again, until a signal or an error ends it. */
static int watch(api_options *options)
{
    const int is_terminal =
        cpubind_linux_is_terminal(fileno(stdout)) && !options->json && !options->quiet;
    cli_changes last = {NULL, 0};
    int is_open = 0;
    for (;;) {
        look l;
        int status = begin_look(options, &l);
        if (status == API_DONE && is_terminal && !is_open) {
            cpubind_linux_screen_open(fileno(stdout));
            is_open = 1;
        }
        if (status == API_DONE)
            status = is_terminal ? draw_status(&l.s) : print_news(options, &l.s, &last);
        end_look(&l);
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
    int status = cli_start(argc, argv, API_STATUS, NULL, &options);
    if (status >= 0)
        return status;
    if (options.watch_ms > 0)
        return watch(&options);
    status = begin_look(&options, &l);
    if (status == API_DONE)
        status = print_once(&options, &l.s);
    end_look(&l);
    return status;
}
