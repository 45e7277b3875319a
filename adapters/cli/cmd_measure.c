/* cmd_measure.c - cpubind measure: does a binding help the workers of this host?
 * SPDX-License-Identifier: MIT
 *
 * Finds the workers and their goals, as apply --all does; ../measure alternates and judges, and
 * ../linux/bind puts into effect and back. MEASURE.md has the method and the figures.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../linux/kernel/files.h"
#include "../linux/source/file_writer.h"
#include "../linux/source/host_files.h"
#include "../linux/terminal.h"
#include "../measure/last.h"
#include "../measure/live.h"
#include "../text/cpulist.h"
#include "host_call.h"
#include "measure_result.h"
#include "service_ask.h"

#define ONLINE_PATH "/sys/devices/system/cpu/online"

/* The plan of all workers by one of the rules. */
typedef struct plan_of {
    api_options options;
    host_call call;
    cpubind_host_options how;
    int is_open;
} plan_of;

/* A worker, and its goals. */
typedef struct subject {
    cpubind_goal goal[API_SIDES]; /* of all sides but NOW */
    cpubind_arena arena[API_SIDES];
    uint64_t sum[API_SIDES]; /* of the content of the goal; 0: there is none */
    int is_bound;            /* it was found bound ... */
    api_side rules;          /* ... by the rules of this side */
} subject;

typedef struct measurement {
    api_options *options;
    plan_of plan[API_SIDES]; /* from NEAR on */
    api_side side[2];
    subject *worker;
    cpubind_placed *placed;
    int32_t n;
    int32_t *online, n_online;
    words_value *workers, *warnings;
    int lock; /* until this process ends */
    int has_asked_service;
    api_bound service; /* which let go */
    cpubind_schedule schedule;
    cpubind_metric *metric[API_MAX_NAMES];
    cpubind_live live;
    cpubind_judgement figure[CPUBIND_FIGURES_MAX];
} measurement;

/* == What is measured ======================================================= */

/* Opens the plan of a side, unless it is open. Returns the exit status; prints a failure. */
static int open_plan(measurement *m, api_side side)
{
    plan_of *p = &m->plan[side];
    api_text why = {"", 0};
    int status;
    if (p->is_open)
        return API_DONE;
    p->options = *m->options;
    p->options.request.rules =
        side == API_SIDE_NEAR ? CPUBIND_RULES_NEAR : CPUBIND_RULES_REFERENCE;
    p->options.request.has_rules = 1;
    p->call.options = &p->options;
    status = cli_find_workers(&p->call, &p->options, &why);
    if (status != API_DONE)
        return cli_fail(m->options, status, why.text);
    p->is_open = 1;
    status = cli_open_all(&p->call, &p->how, &why);
    if (status != API_DONE)
        return cli_fail(m->options, status, why.text);
    status = p->call.has_listed ? cli_check_machine(&p->options) : API_DONE;
    if (status != API_DONE)
        return status;
    if (cpubind_host_bind_find(p->call.host) == CPUBIND_PROBLEM_NONE)
        return API_DONE;
    cli_take_plan(&p->call);
    return cli_refuse_all(&p->call);
}

static void warn(measurement *m, const api_text *text)
{
    words_add(m->warnings, words_text(text->text));
    if (!m->options->json && !m->options->quiet)
        fprintf(stderr, "cpubind: warning: %s\n", text->text);
}

/* Makes the goal of a worker on a side. Returns 0, with the reason in *why, when it
 * has none. */
static int make_goal(measurement *m, int32_t i, api_side side, api_text *why)
{
    plan_of *p = &m->plan[side];
    subject *w = &m->worker[i];
    cpubind_problem problem;
    const int32_t pid = m->placed[i].pid;
    if (w->sum[side])
        return 1;
    if (!cpubind_host_bind_of(p->call.host, pid)) {
        api_add(why, "it uses no device any more");
        return 0;
    }
    if (cpubind_host_bind_goal(p->call.host, pid, &w->arena[side], &w->goal[side],
                               &w->sum[side], &problem) == CPUBIND_PROBLEM_NONE)
        return 1;
    cli_take_plan(&p->call);
    if (problem.code != CPUBIND_PROBLEM_NONE)
        api_explain_problem(&problem, &p->call.planned.facts, &p->options, why);
    else
        api_add(why, "apply binds no process of several devices");
    return 0;
}

/* Finds out whether a worker is bound, and by which rules. Returns the exit status. */
static int look_at_record(measurement *m, int32_t i)
{
    const cpubind_bind_options how = {.pid = m->placed[i].pid, .is_reading = 1};
    cpubind_linux_fault fault = {.what = ""};
    cpubind_binding *b = NULL;
    subject *w = &m->worker[i];
    const api_bound bound = {.pid = how.pid, .is_reading = 1};
    const cpubind_linux_status status = cpubind_bind_open(&how, NULL, &b, &fault);
    if (status != CPUBIND_LINUX_OK)
        return status == CPUBIND_LINUX_ERR_GONE && fault.error == ESRCH
                   ? API_DONE
                   : cli_fail_bind(m->options, &bound, status, &fault);
    w->is_bound = cpubind_bind_is_alive(b) && cpubind_bind_main(b).n > 0;
    w->rules = strcmp(cpubind_bind_rules(b), api_side_word(API_SIDE_REFERENCE)) == 0
                   ? API_SIDE_REFERENCE
                   : API_SIDE_NEAR;
    cpubind_bind_close(b);
    return API_DONE;
}

/* Whether the plan of a side gives a bound worker the CPUs that it has: only then can it be put
 * back. */
static int is_as_planned(const measurement *m, int32_t i, api_side side)
{
    const cpubind_bind_options how = {.pid = m->placed[i].pid, .is_reading = 1};
    const cpubind_cpus should = m->worker[i].goal[side].main;
    cpubind_binding *b = NULL;
    int is_equal = 0;
    if (cpubind_bind_open(&how, NULL, &b, NULL) == CPUBIND_LINUX_OK) {
        const cpubind_cpus is = cpubind_bind_main(b);
        is_equal =
            is.n == should.n && memcmp(is.cpu, should.cpu, (size_t)is.n * sizeof *is.cpu) == 0;
    }
    cpubind_bind_close(b);
    return is_equal;
}

/* Makes the goals of a worker. Returns the exit status. */
static int make_goals(measurement *m, int32_t i)
{
    subject *w = &m->worker[i];
    api_text why = {"", 0};
    api_add(&why, "process %d cannot be measured: ", (int)m->placed[i].pid);
    for (int side = 0; side < 2; side++)
        if (m->side[side] >= API_SIDE_NEAR && !make_goal(m, i, m->side[side], &why))
            return cli_fail(m->options, API_REFUSED, why.text);
    if (w->is_bound && !make_goal(m, i, w->rules, &why))
        return cli_fail(m->options, API_REFUSED, why.text);
    if (w->is_bound && !is_as_planned(m, i, w->rules)) {
        api_add(&why,
                "it is bound to other CPUs than the plan gives it now, and could not be put "
                "back; bind it anew with cpubind apply, or undo it with cpubind restore --pid "
                "%d",
                (int)m->placed[i].pid);
        return cli_fail(m->options, API_REFUSED, why.text);
    }
    w->goal[API_SIDE_UNBOUND] = (cpubind_goal){.device = -1,
                                               .main = {m->online, m->n_online},
                                               .memory_node = -1,
                                               .no_irq = CPUBIND_IRQ_NO_ROLE};
    if (w->is_bound)
        m->placed[i].found = &w->goal[w->rules];
    for (int side = 0; side < 2; side++)
        m->placed[i].goal[side] =
            m->side[side] == API_SIDE_NOW ? m->placed[i].found : &w->goal[m->side[side]];
    return API_DONE;
}

/* Takes the workers of the plan: all, or that of --pid. Returns the exit status. */
static int take_workers(measurement *m)
{
    const plan_of *p = &m->plan[API_SIDE_NEAR];
    const int32_t n = cpubind_host_bind_n(p->call.host);
    const int32_t only = m->options->tree ? 0 : m->options->pid;
    int status = API_DONE;
    api_text why = {"", 0};
    m->worker = calloc((size_t)n + 1, sizeof *m->worker);
    m->placed = calloc((size_t)n + 1, sizeof *m->placed);
    if (!m->worker || !m->placed)
        return cli_no_memory();
    for (int32_t i = 0; i < n && status == API_DONE; i++) {
        const cpubind_worker *row = cpubind_host_bind_row(p->call.host, i);
        api_text device = {"", 0};
        if (row->device < 0 || row->parent || (only && row->pid != only))
            continue;
        cli_add_row_device(&device, row);
        words_add(m->workers, words_make("pid:i name:s device:s", (int)row->pid, row->program,
                                         device.len > 2 ? device.text + 2 : ""));
        m->placed[m->n].pid = row->pid;
        status = look_at_record(m, m->n++);
    }
    if (status != API_DONE || m->n > 0)
        return status;
    if (only)
        api_add(&why, "process %d uses no device", (int)only);
    else
        api_add(&why, "no process uses a device");
    return cli_fail(m->options, API_REFUSED, why.text);
}

/* Without --between the plan is compared with what is, and where that is a plan already, with
 * unbound workers. */
static void choose_sides(measurement *m)
{
    int32_t n_bound = 0;
    for (int32_t i = 0; i < m->n; i++)
        n_bound += m->worker[i].is_bound;
    m->side[0] = n_bound > 0 ? API_SIDE_UNBOUND : API_SIDE_NOW;
    m->side[1] = API_SIDE_NEAR;
    if (m->options->has_between)
        memcpy(m->side, m->options->between, sizeof m->side);
}

static int read_online(measurement *m)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_int_list list = {.cap = CPUBIND_MAX_CPUS};
    api_text why = {"", 0};
    const cpubind_linux_fault fault = cpubind_linux_read_file(ONLINE_PATH, NULL, &bytes);
    int is_read = !fault.error && bytes.len > 1;
    m->online = list.out = malloc(CPUBIND_MAX_CPUS * sizeof *list.out);
    is_read = is_read && m->online &&
              cpubind_cpulist_parse(bytes.data, bytes.len - 1, CPUBIND_MAX_CPUS, &list, NULL) ==
                  CPUBIND_TEXT_OK;
    free(bytes.data);
    m->n_online = list.n;
    if (is_read)
        return API_DONE;
    api_add(&why, "%s cannot be read%s%s", ONLINE_PATH, fault.error ? ": " : "",
            fault.error ? strerror(fault.error) : "");
    return cli_fail(m->options, API_UNREADABLE, why.text);
}

static void free_goals(subject *w)
{
    for (int side = 0; side < API_SIDES; side++)
        free(w->arena[side].base);
}

/* Finds the workers, what they are bound to, and what they are to be bound to. */
static int prepare(measurement *m)
{
    int status = open_plan(m, API_SIDE_NEAR);
    if (status == API_DONE)
        status = take_workers(m);
    if (status == API_DONE)
        status = read_online(m);
    if (status == API_DONE)
        choose_sides(m);
    for (int32_t i = 0; i < m->n && status == API_DONE; i++)
        if (m->worker[i].is_bound)
            status = open_plan(m, m->worker[i].rules);
    for (int side = 0; side < 2 && status == API_DONE; side++)
        if (m->side[side] >= API_SIDE_NEAR)
            status = open_plan(m, m->side[side]);
    for (int32_t i = 0; i < m->n && status == API_DONE; i++)
        status = make_goals(m, i);
    return status;
}

/* == Placing ================================================================ */

static int fail_place(const measurement *m, cpubind_linux_status status,
                      const cpubind_place_fault *why)
{
    api_bound bound = {.pid = m->placed[why->at].pid};
    const cpubind_bind_options how = {.pid = bound.pid};
    bound.holder = cpubind_bind_holder(&how, NULL, &bound.is_service);
    return cli_fail_bind(m->options, &bound, status, &why->fault);
}

/* Opens the bindings, after memory was moved once where that is asked for: it does not come
 * back. Returns the exit status. */
static int open_bindings(measurement *m)
{
    api_options once = *m->options;
    cpubind_place_fault why = {.at = 0};
    cpubind_linux_status status = CPUBIND_LINUX_OK;
    cpubind_bind_options how;
    if (m->options->has_memory && m->options->memory != CPUBIND_MEMORY_NONE) {
        how = cli_bind_options(&once, 0, 0);
        status = cpubind_place_open(m->placed, m->n, &how, &cpubind_sys_real, &why);
        if (status == CPUBIND_LINUX_OK)
            status = cpubind_place_all(m->placed, m->n, 1, &why);
        if (status == CPUBIND_LINUX_OK || why.at > 0)
            cpubind_place_close(m->placed, m->n);
    }
    once.memory = CPUBIND_MEMORY_NONE;
    how = cli_bind_options(&once, 0, 0);
    if (status == CPUBIND_LINUX_OK)
        status = cpubind_place_open(m->placed, m->n, &how, &cpubind_sys_real, &why);
    return status == CPUBIND_LINUX_OK ? API_DONE : fail_place(m, status, &why);
}

static int compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The CPUs of a worker whose interrupts and times are counted: those that it has when it is
 * bound. */
static cpubind_cpus counted_cpus(const measurement *m, int32_t i)
{
    const cpubind_placed *p = &m->placed[i];
    const cpubind_goal *goal = p->goal[1] ? p->goal[1] : p->goal[0];
    return goal ? goal->main : (cpubind_cpus){m->online, m->n_online};
}

/* Begins to count. */
static int open_counting(measurement *m)
{
    int32_t *pid = malloc((size_t)m->n * sizeof *pid), *cpu = NULL, n_cpu = 0, n = 0;
    cpubind_linux_status status = CPUBIND_LINUX_ERR_MEMORY;
    for (int32_t i = 0; i < m->n; i++)
        n_cpu += counted_cpus(m, i).n;
    cpu = malloc((size_t)(n_cpu + 1) * sizeof *cpu);
    for (int32_t i = 0, at = 0; i < m->n && cpu && pid; at += counted_cpus(m, i++).n) {
        const cpubind_cpus cpus = counted_cpus(m, i);
        pid[i] = m->placed[i].pid;
        memcpy(cpu + at, cpus.cpu, (size_t)cpus.n * sizeof *cpu);
    }
    if (cpu && pid) {
        qsort(cpu, (size_t)n_cpu, sizeof *cpu, compare);
        for (int32_t i = 0; i < n_cpu; i++)
            if (n == 0 || cpu[i] != cpu[n - 1])
                cpu[n++] = cpu[i];
        status = cpubind_counting_open(&cpubind_sys_real, pid, m->n, cpu, n, &m->live.counting,
                                       NULL);
    }
    free(pid);
    free(cpu);
    return status == CPUBIND_LINUX_OK ? API_DONE : cli_no_memory();
}

/* Opens what the user has named. The figures of the second source and later ones begin with its
 * letter where two could have one name. Returns the exit status. */
static int open_metrics(measurement *m)
{
    const api_options *o = m->options;
    for (int32_t i = 0; i < o->n_metric; i++) {
        const char prefix[] = {(char)('a' + i % 26), '.', '\0'};
        cpubind_metric_why said = {""};
        api_text why = {"", 0};
        if (cpubind_metric_open(&cpubind_sys_real, o->metric[i], o->n_metric > 1 ? prefix : "",
                                &m->metric[i], &said) == CPUBIND_LINUX_OK)
            continue;
        api_add(&why, "--metric %s: %s; try: cpubind measure --help", o->metric[i], said.text);
        return cli_fail(o, API_USAGE, why.text);
    }
    m->live.metric = m->metric;
    m->live.n_metric = o->n_metric;
    return API_DONE;
}

/* == Measuring ============================================================== */

static int is_stopped(void *ctx)
{
    (void)ctx;
    return cli_was_signalled();
}

static void show_block(void *ctx, int32_t block, const cpubind_schedule *schedule)
{
    char text[80];
    (void)snprintf(text, sizeof text, "cpubind: measuring: block %d of %d", (int)block + 1,
                   (int)schedule->n_block);
    cli_progress((const api_options *)ctx, text);
}

/* Runs the blocks, and puts all back whatever has happened. Returns the exit status. */
static int run_blocks(measurement *m, cli_measured *out)
{
    const clock_t begin = clock();
    const int64_t begin_ms = cpubind_now_ms();
    cpubind_place_fault why = {.at = 0};
    cpubind_linux_status back;
    double elapsed_s;
    api_text said = {"", 0};
    m->live.side = -1;
    m->live.stop = is_stopped;
    m->live.hear = show_block;
    m->live.hear_ctx = m->options;
    m->live.sys = &cpubind_sys_real;
    m->live.worker = m->placed;
    m->live.n = m->n;
    cli_catch_signals();
    out->n_block = cpubind_blocks_run(&m->schedule, cpubind_live_block, &m->live, m->figure,
                                      &out->n_figure);
    back = cpubind_place_back(m->placed, m->n, &why);
    cli_release_signals();
    cli_progress(m->options, NULL);
    elapsed_s = (double)(cpubind_now_ms() - begin_ms) / 1000;
    out->cost_percent = elapsed_s > 0 ? 100 * m->live.count_s / elapsed_s : 0;
    out->moving_percent =
        elapsed_s > 0
            ? 100 * (double)(clock() - begin) / CLOCKS_PER_SEC / elapsed_s - out->cost_percent
            : 0;
    if (back != CPUBIND_LINUX_OK)
        return fail_place(m, back, &why);
    if (m->live.status != CPUBIND_LINUX_OK)
        return fail_place(m, m->live.status, &m->live.why);
    if (cli_was_signalled()) {
        api_add(&said,
                "the measurement was stopped by a signal after %d of %d blocks; all is as it "
                "was before",
                (int)out->n_block, (int)m->schedule.n_block);
        return cli_fail(m->options, API_REFUSED, said.text);
    }
    if (cpubind_live_is_over(&m->live)) {
        api_add(&said, "all workers have ended after %d of %d blocks", (int)out->n_block,
                (int)m->schedule.n_block);
        return cli_fail(m->options, API_REFUSED, said.text);
    }
    return API_DONE;
}

/* == The result ============================================================= */

/* Keeps the result for status and doctor. */
static int keep_result(measurement *m, const words_value *result)
{
    api_text why = {"", 0};
    api_out text = {0};
    cpubind_linux_fault fault = {0};
    words_put(&text, result, WORDS_INDENTED);
    if (!text.is_short)
        fault = cpubind_last_write(&cpubind_sys_real, text.text, (int32_t)text.len);
    if (fault.error) {
        api_add(&why, "status and doctor will not know the result: ");
        words_add_why(&why, WORDS_RECORD, fault.what, fault.error);
        warn(m, &why);
    }
    free(text.text);
    return text.is_short ? cli_no_memory() : API_DONE;
}

/* The exit status of a verdict. */
static int status_of(cpubind_verdict verdict)
{
    return verdict == CPUBIND_VERDICT_WORSE        ? API_REFUSED
           : verdict == CPUBIND_VERDICT_NOT_JUDGED ? API_UNREADABLE
                                                   : API_DONE;
}

static int print_result(measurement *m, cli_measured *measured)
{
    const api_options *o = m->options;
    words_value *result;
    int status;
    api_text line = {"", 0};
    cpubind_judge(&m->schedule,
                  m->live.is_disturbed ? "another program has moved a worker meanwhile" : NULL,
                  m->figure, measured->n_figure);
    measured->figure = m->figure;
    measured->schedule = &m->schedule;
    for (int side = 0; side < 2; side++)
        measured->side[side] = api_side_word(m->side[side]);
    measured->workers = m->workers;
    measured->warnings = m->warnings;
    m->workers = m->warnings = NULL;
    result = cli_measure_json(measured);
    if (!result)
        return cli_no_memory();
    cli_add_measure(result, &line);
    status = keep_result(m, result);
    if (status == API_DONE && o->json)
        status = cli_print_json(stdout, words_share(result)) ? API_DONE : cli_no_memory();
    else if (status == API_DONE && o->quiet)
        printf("%s\n", line.text);
    else if (status == API_DONE && !cli_print_measure(result))
        status = cli_no_memory();
    words_free(result);
    return status == API_DONE ? status_of(cpubind_judge_all(m->figure, measured->n_figure))
                              : status;
}

/* == The command ============================================================ */

/* Takes the lock of measurements. Returns the exit status. */
static int take_lock(measurement *m)
{
    const cpubind_linux_fault fault = cpubind_last_lock(&cpubind_sys_real, &m->lock);
    api_text why = {"", 0};
    if (!fault.error)
        return API_DONE;
    api_add(&why, fault.error == EWOULDBLOCK
                      ? "another measurement is at work on this host: let it end first"
                      : "the folder of records in /run cannot be used: ");
    if (fault.error != EWOULDBLOCK)
        words_add_why(&why, WORDS_RECORD, fault.what, fault.error);
    return cli_fail(m->options, fault.error == EWOULDBLOCK ? API_REFUSED : API_UNWRITTEN,
                    why.text);
}

/* Takes it, and makes the service let go. */
static int begin(measurement *m)
{
    const int status = take_lock(m);
    int is_put_back = 0;
    if (status != API_DONE)
        return status;
    m->service.pid = m->options->tree ? 0 : m->options->pid;
    m->has_asked_service = 1;
    return cli_let_service_go(m->options, CPUBIND_ASK_LEND, &m->service, &is_put_back);
}

/* Lets the service take up again what it has let go. */
static void end(measurement *m)
{
    cli_service_reply service;
    if (m->has_asked_service && m->service.service > 0 && !m->service.service_said) {
        cli_tell_service(m->options, CPUBIND_ASK_TAKE, m->service.pid, &service);
        cli_free_service(&service);
    }
}

static void free_all(measurement *m)
{
    cpubind_counting_close(m->live.counting);
    for (int32_t i = 0; i < m->options->n_metric; i++)
        cpubind_metric_close(m->metric[i]);
    for (int32_t i = 0; i < m->n; i++)
        free_goals(&m->worker[i]);
    if (m->placed)
        cpubind_place_close(m->placed, m->n);
    for (int side = 0; side < API_SIDES; side++) {
        cpubind_host_bind_close(m->plan[side].call.host);
        api_close_host(&m->plan[side].call.source);
    }
    words_free(m->workers);
    words_free(m->warnings);
    free(m->online);
    free(m->worker);
    free(m->placed);
}

static void draw(measurement *m)
{
    const api_options *o = m->options;
    cpubind_schedule_draw((uint64_t)cpubind_now_ms(),
                          o->time_ms ? o->time_ms : API_USUAL_MEASURE_MS, &m->schedule);
}

static int measure(measurement *m)
{
    cli_measured measured = {.n_block = 0};
    int status = open_metrics(m);
    if (status == API_DONE)
        status = begin(m);
    if (status == API_DONE)
        status = prepare(m);
    if (status == API_DONE)
        status = open_bindings(m);
    if (status == API_DONE)
        status = open_counting(m);
    if (status != API_DONE)
        return status;
    draw(m);
    status = run_blocks(m, &measured);
    return status == API_DONE ? print_result(m, &measured) : status;
}

int cli_measure(int argc, char **argv)
{
    static api_options options;
    static measurement m;
    int status = cli_start(argc, argv, API_MEASURE, &options);
    if (status >= 0)
        return status;
    m.options = &options;
    m.workers = words_array();
    m.warnings = words_array();
    cpubind_linux_raise_files();
    status = measure(&m);
    free_all(&m);
    end(&m);
    return status;
}
