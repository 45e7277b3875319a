/* cmd_host.c - cpubind apply --all and verify --all: all workers of a host
 * SPDX-License-Identifier: MIT
 *
 * Prints one row for each process, and below the table only what is wrong. adapters/host
 * decides which processes there are and binds them. WORKERS.md documents the options and the
 * output.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../api/device_plan.h"
#include "../api/settings.h"
#include "../host/host_bind.h"
#include "../linux/terminal.h"
#include "host_call.h"
#include "output.h"
#include "service_ask.h"

/* A row as the functions of bind_common.h take it, until the next call. Its binding is that of
 * the host. */
static const api_bound *bound_of(const host_call *c, const cpubind_worker *row)
{
    static api_bound bound;
    bound = (api_bound){.pid = row->pid,
                        .holder = row->holder,
                        .is_reading = c->options->command == API_VERIFY,
                        .is_watching = c->is_watching,
                        .binding = row->binding};
    (void)snprintf(bound.other_path, sizeof bound.other_path, "%s", row->other_path);
    (void)snprintf(bound.device, sizeof bound.device, "%s", row->name_of_device);
    return &bound;
}

void cli_add_pod(api_text *to, const cpubind_pod *pod)
{
    if (!*pod->uid)
        return;
    if (*pod->name)
        api_add(to, ", pod %s/%s/%s", pod->space, pod->name, pod->container);
    else
        api_add(to, ", pod %s", pod->uid);
    if (pod->qos != CPUBIND_QOS_UNKNOWN)
        api_add(to, " (%s)", cpubind_qos_word(pod->qos));
}

words_value *cli_pod_json(const cpubind_pod *pod)
{
    if (!*pod->uid)
        return words_null();
    return words_make("uid:s name:w namespace:v container:v qos:s runtime:s", pod->uid,
                      pod->name, *pod->name ? words_text(pod->space) : words_null(),
                      *pod->name ? words_text(pod->container) : words_null(),
                      cpubind_qos_word(pod->qos), pod->runtime);
}

int cli_explain_row(const host_call *c, const cpubind_worker *row, api_text *to)
{
    const api_bound *bound = bound_of(c, row);
    if (*row->other_device &&
        (row->state == CPUBIND_HOST_DRIFTED || row->state == CPUBIND_HOST_BOUND)) {
        api_explain_other_device(row->pid, row->name_of_device, row->other_device, to);
        return API_REFUSED;
    }
    switch (row->state) {
    case CPUBIND_HOST_LEFT:
        if (row->is_let_go) {
            api_add(to, "it was let go: cpubind apply --pid %d binds it again", (int)row->pid);
            return API_DONE;
        }
        api_add(to, "it is left alone%s: %s", row->is_unwanted ? "" : " (respect-masks)",
                row->is_unwanted      ? "the settings only and except do not name it"
                : row->is_kept_moving ? "another program keeps moving its threads"
                                      : "it has a mask of its own, narrower than its cpuset");
        return API_DONE;
    case CPUBIND_HOST_DRIFTED:
        return words_fail(
            API_REFUSED, to,
            "it is not where it belongs: cpubind verify --pid %d shows what; cpubind "
            "apply --all puts it there",
            (int)row->pid);
    case CPUBIND_HOST_UNBOUND:
        return words_fail(API_REFUSED, to,
                          "nothing is on record of it: cpubind apply --all binds it");
    case CPUBIND_HOST_BUSY:
    case CPUBIND_HOST_FAILED:
        break;
    default:
        if (!row->report || !row->report->is_outrun)
            return API_DONE;
        api_explain_births(row->pid, to);
        return API_REFUSED;
    }
    if (row->n_device > 1 && row->is_of_one)
        return words_fail(
            API_REFUSED, to,
            "it drives %d devices, and a process is bound to one: start one process for "
            "each device",
            (int)row->n_device);
    if (row->problem.code != CPUBIND_PROBLEM_NONE) {
        api_explain_problem(&row->problem, &c->planned.facts, c->options, to);
        return API_REFUSED;
    }
    return api_explain_bind(c->options, bound, row->status, &row->fault, to);
}

static void add_sharing(api_text *to, const char *device, int n_process, const char *cpus)
{
    api_add(
        to,
        "%s: its %d processes share the CPUs %s of its pool, which cannot be cut into so many "
        "parts: run fewer processes on it, or let it have more CPUs",
        device, n_process, cpus);
}

void cli_explain_sharing(const cpubind_worker *row, api_text *device, api_text *to)
{
    if (!row->is_sharing || row->state != CPUBIND_HOST_BOUND || !row->report)
        return;
    cli_add_row_device(device, row);
    add_sharing(to, device->len > 2 ? device->text + 2 : "the device", (int)row->n_process,
                row->report->main ? row->report->main : "");
}

void cli_add_children(api_text *to, int32_t n)
{
    api_add(to, "%d %s its pool", (int)n, n == 1 ? "child shares" : "children share");
}

/* == As text ================================================================ */

int32_t cli_count_threads(const cpubind_outcomes *report, cpubind_item_result result)
{
    int32_t n = 0;
    for (int32_t i = 0; report && i < report->n; i++)
        n += report->item[i].kind == CPUBIND_ITEM_THREAD && report->item[i].result == result;
    return n;
}

int32_t cli_count_not(const cpubind_outcomes *report)
{
    return cli_count_threads(report, CPUBIND_ITEM_WRONG) +
           cli_count_threads(report, CPUBIND_ITEM_PART) +
           cli_count_threads(report, CPUBIND_ITEM_SKIPPED) +
           cli_count_threads(report, CPUBIND_ITEM_FAILED);
}

int cli_is_new(host_call *c, const char *text)
{
    if (words_get(c->said, text))
        return 0;
    words_set(c->said, text, words_bool(1));
    return 1;
}

/* Says once of a device that its processes share its pool. */
void cli_warn_sharing(host_call *c, const cpubind_worker *row)
{
    api_text device = {"", 0}, text = {"", 0};
    cli_explain_sharing(row, &device, &text);
    if (text.len > 0 && cli_is_new(c, device.text))
        fprintf(stderr, "cpubind: warning: %s\n", text.text);
}

/* == As JSON ================================================================ */

words_value *cli_row_json(const host_call *c, const cpubind_worker *row)
{
    const api_bound *bound = bound_of(c, row);
    api_text text = {"", 0};
    const int status = cli_explain_row(c, row, &text);
    words_value *json = words_make(
        "device:w pci:w product:s devices:i pid:i name:s container:w pod:v process:i "
        "processes:i shared:b children:i parent:v state:s error:v outcome:v",
        row->name_of_device, row->pci, row->product, (int)row->n_device, (int)row->pid,
        row->program, row->container, cli_pod_json(&row->pod), (int)row->process,
        (int)row->n_process, (int)row->is_sharing, (int)row->n_child,
        row->parent ? words_number(row->parent) : words_null(),
        cpubind_host_state_word(row->state),
        text.len > 0 ? words_make("status:i text:s", status, text.text) : words_null(),
        row->report ? api_report_json(bound, row->report) : words_null());
    if (row->part >= 0)
        words_set(json, "part",
                  words_text(cpubind_beside_word((cpubind_beside_kind)row->part)));
    return json;
}

int cli_is_worker(const cpubind_worker *row)
{
    return row->device >= 0 || *row->name_of_device;
}

/* All rows, or those with news; NULL without memory.
 *   out     *n: their number */
static words_value *rows_json(const host_call *c, int is_news, int32_t *n)
{
    words_value *workers = words_array(), *others = words_array(), *warnings;
    api_text unseen = {"", 0};
    *n = 0;
    for (int32_t i = 0; i < cpubind_host_bind_n(c->host); i++) {
        const cpubind_worker *row = cpubind_host_bind_row(c->host, i);
        if (is_news && !row->is_news)
            continue;
        ++*n;
        if (cli_is_worker(row))
            words_add(workers, cli_row_json(c, row));
        else
            words_add(others, cli_row_json(c, row));
    }
    warnings = api_warnings_json(&c->planned);
    cli_explain_unseen(cpubind_host_bind_unseen(c->host), &unseen);
    if (unseen.len > 0 && warnings)
        words_add(warnings, words_make("code:s text:s", "unseen", unseen.text));
    if (c->service_said && warnings)
        words_add(warnings, words_make("code:s text:s", "service", c->service_said));
    return words_make("cpubind:s workers:v others:v warnings:v", CPUBIND_VERSION, workers,
                      others, warnings);
}

/* == As text: rows of this call, or of the answer of the service ============ */

/* What a row of an answer drives, as cli_add_row_device has it. */
static void add_said_device(api_text *to, const words_value *row)
{
    const int n_device = (int)words_integer_of(row, "devices");
    if (n_device > 1)
        api_add(to, ", %d devices", n_device);
    else if (*words_string_of(row, "device"))
        api_add(to, ", %s", words_string_of(row, "device"));
}

/* The pod of a row, as cli_add_pod has it. */
static void add_said_pod(api_text *to, const words_value *row)
{
    const words_value *pod = words_get(row, "pod");
    if (!words_is(pod, WORDS_OBJECT))
        return;
    if (*words_string_of(pod, "name"))
        api_add(to, ", pod %s/%s/%s", words_string_of(pod, "namespace"),
                words_string_of(pod, "name"), words_string_of(pod, "container"));
    else
        api_add(to, ", pod %s", words_string_of(pod, "uid"));
    if (strcmp(words_string_of(pod, "qos"), cpubind_qos_word(CPUBIND_QOS_UNKNOWN)) != 0)
        api_add(to, " (%s)", words_string_of(pod, "qos"));
}

/* What is wrong with a row, and each warning that no row before it had. */
static void print_wrong(host_call *c, const words_value *row)
{
    const char *error = words_string_of(words_get(row, "error"), "text");
    const words_value *outcome = words_get(row, "outcome");
    const int pid = (int)words_integer_of(row, "pid");
    api_text device = {"", 0}, pod = {"", 0}, sharing = {"", 0};
    add_said_device(&device, row);
    add_said_pod(&pod, row);
    if (*error)
        fprintf(stderr, "cpubind: process %d%s%s: %s\n", pid, device.text, pod.text, error);
    if (words_is_true(words_get(row, "shared")) && words_is(outcome, WORDS_OBJECT) &&
        strcmp(words_string_of(row, "state"), cpubind_host_state_word(CPUBIND_HOST_BOUND)) == 0)
        add_sharing(&sharing, device.len > 2 ? device.text + 2 : "the device",
                    (int)words_integer_of(row, "processes"), words_string_of(outcome, "main"));
    if (sharing.len > 0 && !c->options->quiet && cli_is_new(c, device.text))
        fprintf(stderr, "cpubind: warning: %s\n", sharing.text);
    for (int32_t i = 0; i < words_count(words_get(outcome, "warnings")); i++) {
        words_value *warning = words_at(words_get(outcome, "warnings"), i);
        const char *text = words_string_of(warning, "text");
        if (*text && cli_is_new(c, text))
            fprintf(stderr, "cpubind: warning: process %d: %s\n", pid, text);
    }
}

static const words_view text_view[] = {
    {WORDS_TABLE, "rows",
     "drives=device pid=process name container outcome.main=main_CPUs right moved wrong state"},
    {WORDS_BLOCK, "notes", ""},
    {0}};

/* Adds how many threads of a row ended in which way, where it was looked at. */
static void add_counts(words_value *row)
{
    static const char *const keys[] = {"right", "moved", "wrong"};
    const words_value *items = words_get(words_get(row, "outcome"), "items");
    int32_t n[3] = {0, 0, 0};
    for (int32_t i = 0; i < words_count(items); i++) {
        const words_value *item = words_at(items, i);
        const char *result = words_string_of(item, "result");
        int k = 0;
        while (k < 2 && strcmp(result, keys[k]) != 0)
            k++;
        n[k] += strcmp(words_string_of(item, "kind"), "thread") == 0 &&
                (k < 2 || strcmp(result, "wrong") == 0 || strcmp(result, "part") == 0 ||
                 strcmp(result, "skipped") == 0 || strcmp(result, "failed") == 0);
    }
    for (int k = 0; k < 3; k++)
        words_set(row, keys[k],
                  words_is(items, WORDS_ARRAY) ? words_number(n[k]) : words_null());
}

/* Adds what the text says of a row: what it drives, how many threads, and how many children. */
static void add_text(words_value *row, words_value *notes)
{
    const int32_t n_child = (int32_t)words_integer_of(row, "children");
    api_text device = {"", 0}, note = {"", 0};
    add_said_device(&device, row);
    words_set(row, "drives",
              words_word(device.len > 2 ? device.text + 2 : words_string_of(row, "part")));
    add_counts(row);
    api_add(&note, "process %d%s: ", (int)words_integer_of(row, "pid"), device.text);
    cli_add_children(&note, n_child);
    if (n_child > 0)
        words_add(notes, words_text(note.text));
}

static const char *no_process(const host_call *c)
{
    return c->has_bus ? "no process uses a device: it would have a file of one open, "
                        "or variables of its own that name one"
                      : "no process uses a device";
}

/* The rows as text: the table, and below it the warnings of a plan and what is wrong. */
static int print_rows(host_call *c, const words_value *answer, const api_planned *plan)
{
    const words_value *rows[] = {words_get(answer, "workers"), words_get(answer, "others")};
    const int32_t n = words_count(rows[0]) + words_count(rows[1]);
    words_value *all = words_array(), *notes = words_array();
    for (size_t k = 0; k < 2; k++)
        for (int32_t i = 0; i < words_count(rows[k]); i++) {
            add_text(words_at(rows[k], i), notes);
            words_add(all, words_share(words_at(rows[k], i)));
        }
    if (n == 0 && !c->options->quiet)
        puts(no_process(c));
    if (!c->options->quiet)
        (void)cli_print_text(text_view, words_make("rows:V notes:V", all, notes), NULL);
    words_free(all);
    words_free(notes);
    (void)fflush(stdout);
    if (plan && n > 0)
        cli_print_warnings(plan);
    for (size_t k = 0; k < 2; k++)
        for (int32_t i = 0; i < words_count(rows[k]); i++)
            print_wrong(c, words_at(rows[k], i));
    return !ferror(stdout);
}

/* == The calls ============================================================== */

void cli_explain_unseen(int32_t n, api_text *to)
{
    if (n > 0)
        api_add(
            to, "%d processes of other users may use a device: their files may not be read; %s",
            (int)n,
            geteuid() == 0 ? "give this container CAP_SYS_PTRACE" : "as root they are seen");
}

/* The worst status of all rows. */
static int worst(const host_call *c)
{
    int status = cpubind_host_bind_unseen(c->host) > 0 ? API_UNREADABLE : API_DONE;
    for (int32_t i = 0; i < cpubind_host_bind_n(c->host); i++) {
        api_text text = {"", 0};
        const int one = cli_explain_row(c, cpubind_host_bind_row(c->host, i), &text);
        status = one > status ? one : status;
    }
    return status;
}

static void warn_events(const host_call *c)
{
    const cpubind_linux_fault why = cpubind_host_bind_no_events(c->host);
    const cpubind_outcomes report = {.no_events = why};
    const api_bound none = {0};
    if (why.error)
        cli_warn_outcome(&none, &report);
}

static void warn_unseen(const host_call *c)
{
    api_text text = {"", 0};
    cli_explain_unseen(cpubind_host_bind_unseen(c->host), &text);
    if (text.len > 0)
        fprintf(stderr, "cpubind: %s\n", text.text);
}

static int print_all(host_call *c)
{
    int32_t n;
    words_value *rows = rows_json(c, 0, &n);
    if (!rows)
        return cli_no_memory();
    if (c->options->json)
        return cli_print_json(stdout, rows) ? worst(c) : cli_no_memory();
    (void)print_rows(c, rows, c->options->command == API_APPLY ? &c->planned : NULL);
    words_free(rows);
    warn_events(c);
    warn_unseen(c);
    return worst(c);
}

/* Prints what is new of one row. */
static void print_row_news(host_call *c, const cpubind_worker *row)
{
    words_value *said = cli_row_json(c, row);
    const cpubind_outcomes *report = row->report;
    api_text text = {"", 0}, device = {"", 0};
    api_out news = {0};
    cli_add_row_device(&device, row);
    if (cli_explain_row(c, row, &text) != API_DONE || row->state != CPUBIND_HOST_BOUND ||
        !report) {
        printf("process %d (%s)%s: %s\n", (int)row->pid, row->program, device.text,
               cpubind_host_state_word(row->state));
    } else if (report->n > 8) {
        printf("process %d (%s)%s: bound: %d threads right, %d moved, %d wrong\n",
               (int)row->pid, row->program, device.text,
               (int)cli_count_threads(report, CPUBIND_ITEM_RIGHT),
               (int)cli_count_threads(report, CPUBIND_ITEM_MOVED), (int)cli_count_not(report));
    } else {
        for (int32_t i = 0; i < report->n; i++) {
            if (report->item[i].result != CPUBIND_ITEM_MOVED &&
                report->item[i].result != CPUBIND_ITEM_RIGHT)
                continue;
            api_put(&news, "process %d, ", (int)row->pid);
            api_put_moved(&news, &report->item[i]);
        }
    }
    (void)cli_print_out(stdout, &news);
    (void)fflush(stdout);
    print_wrong(c, said);
    words_free(said);
}

static void print_news(host_call *c)
{
    words_value *rows = NULL;
    int32_t n = 0;
    cli_take_plan(c);
    if (c->options->json)
        rows = rows_json(c, 1, &n);
    if (n > 0)
        (void)cli_print_json(stdout, words_share(rows));
    words_free(rows);
    for (int32_t i = 0; i < cpubind_host_bind_n(c->host) && !c->options->json; i++) {
        const cpubind_worker *row = cpubind_host_bind_row(c->host, i);
        if (row->is_news && !c->options->quiet)
            print_row_news(c, row);
    }
    (void)fflush(stdout);
    clearerr(stdout);
}

/* Binds again and again until a signal ends this process; a tree until it has ended. */
static int watch(host_call *c)
{
    if (fflush(stdout) != 0)
        return API_UNREADABLE;
    c->is_watching = 1;
    cpubind_linux_raise_files();
    if (!c->options->quiet && !c->options->json)
        cpubind_linux_say_at_signal(fileno(stderr),
                                    "cpubind: the watch has ended; all processes stay bound\n");
    do {
        cpubind_host_bind_again(c->host, c->options->watch_ms);
        print_news(c);
    } while (!c->options->tree || !cpubind_host_bind_is_over(c->host));
    return API_DONE;
}

int cli_check_machine(const api_options *options)
{
    api_bound none = {0};
    api_text why = {"", 0};
    int status = api_open_live(0, 0, &none.live, &why);
    if (status != API_DONE)
        return cli_fail(options, status, why.text);
    status = cli_check_arch(options, &none);
    api_close_bound(&none);
    return status;
}

int cli_refuse_all(host_call *c)
{
    api_text why = {"", 0};
    if (c->has_listed)
        return cli_refuse(c->options, &c->planned);
    cli_explain_no_plan(c, &why);
    return cli_fail(c->options, (int)cpubind_problem_exit(c->planned.code), why.text);
}

/* Says why it is not known who uses devices. */
static int refuse_unlisted(host_call *c)
{
    c->planned.problem = *cpubind_host_bind_unlisted(c->host);
    c->planned.code = c->planned.problem.code;
    return cli_refuse_all(c);
}

static int is_unlisted(const host_call *c)
{
    return cpubind_host_bind_unlisted(c->host)->code != CPUBIND_PROBLEM_NONE;
}

static int apply_all(host_call *c)
{
    cpubind_problem_code code;
    int status = c->has_listed ? cli_check_machine(c->options) : API_DONE;
    if (status != API_DONE)
        return status;
    cli_progress(c->options, "cpubind: binding all workers ...");
    cli_catch_signals();
    code = cpubind_host_bind_apply(c->host);
    cli_release_signals();
    cli_progress(c->options, NULL);
    cli_take_plan(c);
    if (code != CPUBIND_PROBLEM_NONE && cpubind_host_bind_n(c->host) == 0)
        return cli_refuse_all(c);
    if (is_unlisted(c) && c->options->watch_ms <= 0)
        return refuse_unlisted(c);
    status = print_all(c);
    return c->options->watch_ms > 0 && !cli_was_signalled() ? watch(c) : status;
}

static int verify_all(host_call *c)
{
    const cpubind_problem_code code = cpubind_host_bind_verify(c->host);
    int status;
    cli_take_plan(c);
    if (code != CPUBIND_PROBLEM_NONE && cpubind_host_bind_n(c->host) == 0)
        return cli_refuse_all(c);
    if (is_unlisted(c) && c->options->json)
        return refuse_unlisted(c);
    c->planned.code = CPUBIND_PROBLEM_NONE;
    c->planned.plan = (cpubind_device_plan){.n_want = 0};
    status = print_all(c);
    return is_unlisted(c) ? refuse_unlisted(c) : status;
}

/* The worst status among the rows of an answer. */
static int worst_of(const words_value *rows)
{
    int status = API_DONE;
    for (int32_t i = 0; i < words_count(rows); i++) {
        words_value *row = words_at(rows, i);
        const int one = (int)words_integer_of(words_get(row, "error"), "status");
        status = one > status ? one : status;
    }
    return status;
}

/* Whether what the command is asked is what the service does. */
static int is_for_service(const api_options *o)
{
    return !o->tree && !api_asks_for_devices(o) && (o->command == API_VERIFY || geteuid() == 0);
}

/* The service goes by its settings, whatever the options of apply are. */
static void say_settings(const api_options *o)
{
    if (!o->quiet)
        fprintf(stderr, "cpubind: the service has bound all workers by its settings, and %s\n",
                o->watch_ms > 0 ? "watches them: this command ends" : "watches them");
}

/* Prints what the service says in place of the work. Returns the exit status; -1: no
 * service. */
static int ask_service(host_call *c)
{
    const api_options *options = c->options;
    cli_service_reply service = {.state = CLI_SERVICE_NONE};
    const words_value *workers, *others;
    int status, is_printed;
    if (is_for_service(options))
        cli_ask_service(options,
                        options->command == API_VERIFY ? CPUBIND_ASK_VERIFY : CPUBIND_ASK_TAKE,
                        0, &service);
    if (service.state == CLI_SERVICE_SILENT)
        c->service_said = "the service was not asked: it is stopped, hangs, has ended or is of "
                          "an older version; this command worked by itself";
    if (service.state == CLI_SERVICE_REFUSED)
        return cli_fail(options, service.status, service.why);
    workers = words_get(service.answer, "workers");
    others = words_get(service.answer, "others");
    if (!words_is(workers, WORDS_ARRAY) || !words_is(others, WORDS_ARRAY)) {
        cli_free_service(&service);
        return -1;
    }
    status = worst_of(workers);
    if (worst_of(others) > status)
        status = worst_of(others);
    if (options->json)
        return cli_print_json(stdout, service.answer) ? status : cli_no_memory();
    is_printed = print_rows(c, service.answer, NULL);
    if (options->command == API_APPLY)
        say_settings(options);
    cli_free_service(&service);
    return is_printed ? status : API_UNWRITTEN;
}

int cli_call_all(api_options *options)
{
    static host_call c;
    static cpubind_host_options how;
    static api_text why;
    int status;
    c.options = options;
    c.said = words_object();
    status = cli_find_workers(&c, options, &why);
    if (status != API_DONE) {
        words_free(c.said);
        return cli_fail(options, status, why.text);
    }
    status = ask_service(&c);
    if (status >= 0) {
        words_free(c.said);
        return status;
    }
    status = cli_open_all(&c, &how, &why);
    if (status != API_DONE)
        status = cli_fail(options, status, why.text);
    else
        status = options->command == API_VERIFY ? verify_all(&c) : apply_all(&c);
    cpubind_host_bind_close(c.host);
    api_close_host(&c.source);
    words_free(c.said);
    return status;
}
