/* cmd_status.c - cpubind status: every NPU of the host, who runs on it, and what is right
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing. With --watch it draws a terminal again and again, or writes a line for each
 * change into a pipe.
 */
#include <stdlib.h>
#include <string.h>

#include "../linux/terminal.h"
#include "../text/cpulist.h"
#include "service_ask.h"
#include "status_text.h"

#define INPUT_ONLINE "sys/devices/system/cpu/online"

/* One look, and what belongs to it. */
typedef struct look {
    cli_options *options;
    cli_host host;
    cli_status s;
    cpubind_arena list_arena, arena;
    int32_t *cpu, *npu; /* the CPUs and the NPUs of the request */
    cli_text visible;   /* the NPUs as text */
} look;

/* Marks the CPUs that any worker may have, as apply --all shares them out; without workers all
 * online ones, whatever mask this command has. Returns the number of CPUs in l->cpu. */
static int32_t list_cpus(look *l)
{
    const cpubind_source *source = &l->host.source;
    const cpubind_input online = source->read(source->ctx, INPUT_ONLINE);
    cpubind_int_list list = {l->cpu, CPUBIND_MAX_CPUS, 0};
    int32_t n = 0;
    memset(l->cpu, 0, CPUBIND_MAX_CPUS * sizeof *l->cpu);
    for (int32_t i = 0; i < l->s.workers.n; i++) {
        const cpubind_cpus allowed = l->s.workers.row[i].allowed;
        for (int32_t k = 0; k < allowed.n; k++)
            l->cpu[allowed.cpu[k]] = 1;
    }
    for (int32_t cpu = 0; cpu < CPUBIND_MAX_CPUS; cpu++)
        if (l->cpu[cpu])
            l->cpu[n++] = cpu;
    if (n == 0 && online.state == CPUBIND_INPUT_PRESENT &&
        cpubind_cpulist_parse(online.data, online.len, CPUBIND_MAX_CPUS, &list, NULL) ==
            CPUBIND_TEXT_OK)
        n = list.n;
    return n;
}

/* Plans for all NPUs in view, visible to this command or not. */
static void make_plan(look *l)
{
    cpubind_request request = l->options->request;
    const cpubind_facts *facts = &l->s.planned.facts;
    int32_t n = 0;
    request.wants_pci = 1;
    l->cpu = (int32_t *)malloc(CPUBIND_MAX_CPUS * sizeof *l->cpu);
    l->npu = (int32_t *)malloc((size_t)(facts->n_npu + 1) * sizeof *l->npu);
    for (; l->npu && n < facts->n_npu; n++) {
        l->npu[n] = facts->npu[n].logic;
        cli_add(&l->visible, "%s%d", n ? "," : "", (int)l->npu[n]);
    }
    if (n > 0) {
        request.npu = l->npu;
        request.n_npu = n;
        request.visible = l->visible.text;
        request.visible_len = (int32_t)l->visible.len;
    }
    n = l->cpu && !request.allowed ? list_cpus(l) : 0;
    if (n > 0) {
        request.allowed = l->cpu;
        request.n_allowed = n;
        request.scope = CPUBIND_SCOPE_CPUSET;
    }
    cli_make(&l->host.source, &request, &l->s.planned);
}

/* Reads the facts, which name the NPUs; the plan that comes with them is not used. */
static void read_facts(look *l)
{
    cpubind_request request = l->options->request;
    request.wants_pci = 1;
    cli_make(&l->host.source, &request, &l->s.planned);
}

static cpubind_problem_code read_list(void *ctx, cpubind_arena *arena)
{
    look *l = (look *)ctx;
    return cpubind_npu_processes_read(&l->host.source, &l->s.planned.facts, arena, &l->s.list,
                                      &l->s.list_problem);
}

static cpubind_problem_code read_status(void *ctx, cpubind_arena *arena)
{
    look *l = (look *)ctx;
    const cpubind_status_request request = {
        .source = &l->host.source,
        .facts = &l->s.planned.facts,
        .plan = l->s.planned.code == CPUBIND_PROBLEM_NONE ? &l->s.planned.plan : NULL,
        .workers = &l->s.workers,
        .wish = l->options->wish,
        .n_wish = l->options->n_wish,
        .threads = l->options->threads,
        .has_no_memory = l->options->memory == CPUBIND_MEMORY_NONE && l->options->has_memory};
    return cpubind_host_status_read(&request, arena, &l->s.status);
}

static void end_look(look *l)
{
    cpubind_workers_free(&l->s.workers);
    cli_free_planned(&l->s.planned);
    cli_close_host(&l->host);
    free(l->list_arena.base);
    free(l->arena.base);
    free(l->cpu);
    free(l->npu);
}

/* Looks once. Returns the exit status of a failure, which has been printed, else CLI_DONE. */
static int begin_look(cli_options *options, look *l)
{
    cli_text why = {"", 0};
    cpubind_linux_fault fault = {.what = ""};
    int status;
    memset(l, 0, sizeof *l);
    l->options = options;
    l->s.options = options;
    status = cli_open_host(options, &l->host, &why);
    if (status != CLI_DONE)
        return cli_fail(options, status, why.text);
    read_facts(l);
    if (!l->s.planned.has_facts)
        return cli_refuse(options, &l->s.planned);
    if (cli_with_arena(&l->list_arena, read_list, l) != CPUBIND_PROBLEM_NONE)
        l->s.list = (cpubind_npu_processes){0};
    if (l->s.list_problem.code == CPUBIND_PROBLEM_NO_MEMORY)
        return cli_no_memory();
    if (cpubind_workers_read(&l->s.list, NULL, &l->s.workers, &fault) != CPUBIND_LINUX_OK) {
        cli_add(&why, "%s: %s", fault.what, strerror(fault.error));
        return cli_fail(options, CLI_UNREADABLE, why.text);
    }
    make_plan(l);
    if (!l->s.planned.has_facts)
        return cli_refuse(options, &l->s.planned);
    if (cli_with_arena(&l->arena, read_status, l) != CPUBIND_PROBLEM_NONE)
        return cli_no_memory();
    return CLI_DONE;
}

/* The exit status of what was seen. Who runs may be unknown, or no plan may be possible. */
static int status_of(const cli_status *s)
{
    if (s->list_problem.code != CPUBIND_PROBLEM_NONE)
        return CLI_UNREADABLE;
    if (!cpubind_host_status_is_right(&s->status))
        return CLI_REFUSED;
    if (s->status.count[CPUBIND_PLACE_UNKNOWN] > 0)
        return CLI_UNREADABLE;
    return s->planned.code == CPUBIND_PROBLEM_NONE ? CLI_DONE
                                                   : (int)cpubind_problem_exit(s->planned.code);
}

static int print_once(const cli_options *options, const cli_status *s)
{
    if (options->json) {
        json_t *json = cli_status_json(s);
        (void)json_object_set_new(json, "service", cli_service_json(options));
        return cli_print_json(stdout, json) ? status_of(s) : cli_no_memory();
    }
    if (!options->quiet) {
        cli_print_status(stdout, s);
        cli_print_service(stdout, options);
    }
    if (s->planned.code != CPUBIND_PROBLEM_NONE) {
        cli_text why = {"", 0};
        cli_explain(&s->planned, options, &why);
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
            const int32_t bytes = cli_character(text + at, n - at);
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
    return CLI_DONE;
}

/* Prints what has changed since the last look. */
static int print_news(const cli_options *options, const cli_status *s, cli_changes *last)
{
    int32_t n = 0;
    if (!cli_print_changes(options->json || options->quiet ? NULL : stdout, s, last, &n))
        return cli_no_memory();
    if (options->json && n > 0 && !cli_print_json(stdout, cli_status_json(s)))
        return cli_no_memory();
    return fflush(stdout) == 0 ? CLI_DONE : CLI_UNWRITTEN;
}

/* Looks again and again, until a signal or an error ends it. */
static int watch(cli_options *options)
{
    const int is_terminal =
        cpubind_linux_is_terminal(fileno(stdout)) && !options->json && !options->quiet;
    cli_changes last = {NULL, 0};
    int is_open = 0;
    for (;;) {
        look l;
        int status = begin_look(options, &l);
        if (status == CLI_DONE && is_terminal && !is_open) {
            cpubind_linux_screen_open(fileno(stdout));
            is_open = 1;
        }
        if (status == CLI_DONE)
            status = is_terminal ? draw_status(&l.s) : print_news(options, &l.s, &last);
        end_look(&l);
        if (status != CLI_DONE) {
            cli_free_changes(&last);
            return status;
        }
        cpubind_linux_wait(options->watch_ms);
    }
}

int cli_show_status(int argc, char **argv)
{
    static cli_options options;
    look l;
    int status = cli_start(argc, argv, CLI_STATUS, NULL, &options);
    if (status >= 0)
        return status;
    if (options.watch_ms > 0)
        return watch(&options);
    status = begin_look(&options, &l);
    if (status == CLI_DONE)
        status = print_once(&options, &l.s);
    end_look(&l);
    return status;
}
