/* service_engine.c - the engine of the service: all workers of a host, by a file of settings
 * SPDX-License-Identifier: MIT
 *
 * Prints lines, and answers other commands. adapters/service has the loop, and adapters/host
 * binds the workers.
 */
#include "service_engine.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../linux/kernel/files.h"
#include "../linux/terminal.h"
#include "../service/notify.h"
#include "../service/service.h"
#include "../service/worker_figures.h"
#include "host_call.h"
#include "output.h"
#include "run_device.h"

/* Without a plan, the host is read again after 5, 10, 20 ... seconds. */
#define FIRST_RETRY_MS 5000
#define MAX_RETRY_MS   60000

/* How often memory is counted: the kernel walks the page tables for that. */
#define MEMORY_SECONDS 300

typedef struct engine {
    const api_options *options; /* of the command line */
    cli_settings settings;
    host_call call;
    cpubind_service_counts counts;
    int is_journal;   /* stderr is the journal of systemd */
    int is_planned;   /* the host was read: its workers can be watched */
    int32_t retry_ms; /* without a plan: from one try to the next */
    int64_t next_try_ms;
    api_text problem;  /* why there is no plan, as it was said */
    int64_t memory_at; /* when memory was counted */
} engine;

/* == Lines ================================================================== */

/* Prints a line; the journal reads its importance from the start. */
__attribute__((format(printf, 3, 4))) static void say(const engine *e, int priority,
                                                      const char *format, ...)
{
    char line[4096 + 256];
    va_list args;
    api_text text = {"", 0};
    if (priority == CPUBIND_SAY_INFO && e->options->quiet)
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args); /* NOLINT: va_start is above */
    va_end(args);
    api_add(&text, "%s", line);
    if (e->is_journal)
        fprintf(stderr, "<%d>%s\n", priority, text.text);
    else
        fprintf(stderr, "cpubind: %s%s\n", priority == CPUBIND_SAY_WARNING ? "warning: " : "",
                text.text);
}

static void say_failure(void *ctx, int priority, const char *text, cpubind_linux_fault why)
{
    if (why.error)
        say((const engine *)ctx, priority, "%s: %s: %s", text, why.what, strerror(why.error));
    else
        say((const engine *)ctx, priority, "%s", text);
}

/* == News =================================================================== */

/* "process 4711 (python3), NPU 3", "process 4711 (python3), 0000:c1:00.0" */
static void add_process(api_text *to, const engine *e, const cpubind_host_row *row)
{
    api_add(to, "process %d (%s)", (int)row->pid, row->name);
    cli_add_row_device(to, &e->call, row);
}

/* Says each warning of a row that no row before it had. */
static void say_warnings(engine *e, const cpubind_host_row *row, const char *process)
{
    const api_bound bound = {.pid = row->pid, .is_watching = e->call.is_watching};
    json_t *warnings = row->report ? cli_outcome_warnings_json(&bound, row->report) : NULL;
    json_t *one;
    size_t i;
    json_array_foreach(warnings, i, one)
    {
        const char *text = json_string_value(json_object_get(one, "text"));
        if (text && e->call.said && !json_object_get(e->call.said, text) &&
            json_object_set_new(e->call.said, text, json_true()) == 0)
            say(e, CPUBIND_SAY_WARNING, "%s: %s", process, text);
    }
    json_decref(warnings);
}

/* Says once of a device that its processes share its pool. */
static void say_sharing(engine *e, const cpubind_host_row *row)
{
    api_text device = {"", 0}, text = {"", 0};
    cli_explain_sharing(&e->call, row, &device, &text);
    if (text.len > 0 && e->call.said && !json_object_get(e->call.said, device.text) &&
        json_object_set_new(e->call.said, device.text, json_true()) == 0)
        say(e, CPUBIND_SAY_WARNING, "%s", text.text);
}

static void say_row(engine *e, const cpubind_host_row *row)
{
    const int32_t moved = cli_count_threads(row->report, CPUBIND_ITEM_MOVED);
    api_text process = {"", 0}, why = {"", 0};
    const int status = cli_explain_row(&e->call, row, &why);
    add_process(&process, e, row);
    e->counts.moves += moved;
    if (row->report)
        for (int32_t i = 0; i < row->report->n; i++)
            e->counts.moves += row->report->item[i].kind == CPUBIND_ITEM_IRQ &&
                               row->report->item[i].result == CPUBIND_ITEM_MOVED;
    if (status != API_DONE) {
        e->counts.errors++;
        say(e, CPUBIND_SAY_ERROR, "%s: %s", process.text, why.text);
    } else if (row->state != CPUBIND_HOST_BOUND) {
        say(e, CPUBIND_SAY_INFO, "%s: %s%s%s", process.text,
            cpubind_host_state_word(row->state), why.len > 0 ? ": " : "", why.text);
    } else if (moved > 0 || cli_count_not(row->report) > 0) {
        say(e, CPUBIND_SAY_INFO, "%s: %d threads right, %d moved, %d elsewhere", process.text,
            (int)cli_count_threads(row->report, CPUBIND_ITEM_RIGHT), (int)moved,
            (int)cli_count_not(row->report));
    }
    say_sharing(e, row);
    say_warnings(e, row, process.text);
}

static void say_news(engine *e)
{
    e->counts.last_look = (int64_t)time(NULL);
    e->counts.workers = 0;
    cli_take_plan(&e->call);
    for (int32_t i = 0; i < cpubind_host_bind_n(e->call.host); i++) {
        const cpubind_host_row *row = cpubind_host_bind_row(e->call.host, i);
        e->counts.workers += row->npu >= 0 && row->state != CPUBIND_HOST_ENDED;
        if (row->is_news)
            say_row(e, row);
    }
}

/* == NPUs, or other accelerators ============================================ */

/* Finds out whose workers are bound. A key that is for NPUs alone does not make NPUs of other
 * accelerators. Returns the exit status. */
static int find_kind(engine *e, api_text *why)
{
    api_options any = e->settings.options;
    api_host host = {0};
    /* cli_find_device_kind prints why a host does not open. */
    const int status = cli_open_host(&any, &host, why);
    api_close_host(&host);
    any.request.type = CPUBIND_TYPE_AUTO;
    any.request.origin = CPUBIND_ORIGIN_AUTO;
    any.request.is_auto_strategy = 1;
    e->call.is_on_devices = 0;
    return status == API_DONE ? cli_find_device_kind(&any, &e->call.is_on_devices) : status;
}

/* Names the keys that have no effect on accelerators that are no NPUs. */
static void say_npu_keys(const engine *e)
{
    static const char *const names[] = {"strategy", "device-type", "facts", "irqbalance"};
    for (int32_t i = 0; cli_keys[i].name; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (e->settings.value[i] && strcmp(cli_keys[i].name, names[k]) == 0 &&
                strcmp(e->settings.value[i], cli_keys[i].usual) != 0)
                say(e, CPUBIND_SAY_WARNING,
                    "the key %s is for NPUs alone: it is ignored on this host", names[k]);
}

/* Says that the accelerators beside the NPUs are left alone. */
static void say_others(const engine *e)
{
    api_host host = {0};
    api_topo topo = {0};
    api_text why = {"", 0};
    int32_t n = 0, first = 0;
    if (cli_open_host(e->call.options, &host, &why) != API_DONE)
        return;
    api_topo_read(&host.source, e->call.options, &topo);
    for (int32_t i = topo.status == CPUBIND_PCI_OK ? topo.facts.n_device : 0; i-- > 0;)
        if (topo.facts.device[i].accelerator.family != CPUBIND_FAMILY_ASCEND) {
            first = i;
            n++;
        }
    why.len = 0;
    if (n > 0) {
        api_add_pci(&why, &topo.facts.device[first].pci);
        say(e, CPUBIND_SAY_WARNING,
            "%d accelerators are no NPUs, and their workers are left alone: bind them with "
            "cpubind apply --all --pci %s --watch 5",
            (int)n, why.text);
    }
    api_topo_free(&topo);
    api_close_host(&host);
}

/* == The host =============================================================== */

static int wants(void *ctx, const char *program, const char *name)
{
    return cli_settings_wants(&((const engine *)ctx)->settings.options, program, name);
}

/* Whether the service is to end: its signals are blocked, and read from a descriptor. */
static int is_ending(void *ctx)
{
    sigset_t pending;
    (void)ctx;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1);
}

static void close_host(engine *e)
{
    cpubind_host_bind_close(e->call.host);
    e->call.host = NULL;
    api_close_host(&e->call.source);
    e->is_planned = 0;
}

/* Says why there is no plan, unless that was said last, and tries again some time later. */
static void put_off(engine *e, const api_text *why)
{
    if (strcmp(e->problem.text, why->text) != 0) {
        e->problem = *why;
        e->counts.errors++;
        say(e, CPUBIND_SAY_ERROR, "%s", why->text);
        e->retry_ms = FIRST_RETRY_MS;
    }
    close_host(e);
    e->next_try_ms = cpubind_now_ms() + e->retry_ms;
    e->retry_ms = e->retry_ms < MAX_RETRY_MS / 2 ? 2 * e->retry_ms : MAX_RETRY_MS;
}

static void start(void *ctx)
{
    engine *e = (engine *)ctx;
    cpubind_host_options how = {.wants = wants, .wants_ctx = e};
    cpubind_problem_code code;
    api_text why = {"", 0};
    cpubind_linux_fault no_events;
    e->call.options = &e->settings.options;
    e->call.is_watching = 0;
    e->call.stop = is_ending;
    if (find_kind(e, &why) != API_DONE ||
        (e->call.is_on_devices && cli_read_devices(&e->call, &why) != API_DONE) ||
        cli_open_all(&e->call, &how, &why) != API_DONE) {
        put_off(e, &why);
        return;
    }
    code = cpubind_host_bind_apply(e->call.host);
    cli_take_plan(&e->call);
    if (code != CPUBIND_PROBLEM_NONE && cpubind_host_bind_n(e->call.host) == 0) {
        cli_explain_no_plan(&e->call, &why);
        put_off(e, &why);
        return;
    }
    e->is_planned = e->call.is_watching = 1;
    e->problem.len = 0;
    e->problem.text[0] = '\0';
    if (e->call.is_on_devices)
        say_npu_keys(e);
    else
        say_others(e);
    say_news(e);
    no_events = cpubind_host_bind_no_events(e->call.host);
    if (no_events.error)
        say(e, CPUBIND_SAY_WARNING,
            "the kernel sends no events (%s: %s): workers and threads are looked for every %d "
            "seconds",
            no_events.what, strerror(no_events.error),
            (int)e->settings.options.watch_ms / 1000);
}

static void look(void *ctx, int wake_fd)
{
    engine *e = (engine *)ctx;
    int64_t left_ms;
    if (e->is_planned) {
        cpubind_host_bind_wake_at(e->call.host, wake_fd);
        cpubind_host_bind_again(e->call.host, e->settings.options.watch_ms);
        say_news(e);
        return;
    }
    left_ms = e->next_try_ms - cpubind_now_ms();
    if (left_ms > 0)
        cpubind_figures_pause(&cpubind_sys_real, wake_fd, (int32_t)left_ms);
    if (cpubind_now_ms() >= e->next_try_ms)
        start(e);
}

/* Undoes the bindings of the service, and leaves those of other commands. */
static void restore(void *ctx)
{
    engine *e = (engine *)ctx;
    for (int32_t i = 0; e->call.host && i < cpubind_host_bind_n(e->call.host); i++) {
        const cpubind_host_row *row = cpubind_host_bind_row(e->call.host, i);
        cpubind_linux_fault fault = {.what = ""};
        api_text process = {"", 0};
        if (row->state != CPUBIND_HOST_BOUND || !row->binding)
            continue;
        add_process(&process, e, row);
        if (cpubind_bind_restore((cpubind_binding *)row->binding, &fault) == CPUBIND_LINUX_OK)
            say(e, CPUBIND_SAY_INFO, "%s: put back", process.text);
        else
            say(e, CPUBIND_SAY_ERROR, "%s: not put back: %s: %s", process.text, fault.what,
                strerror(fault.error));
    }
}

/* == Settings =============================================================== */

static void say_fault(void *ctx, cpubind_place place, const char *text)
{
    engine *e = (engine *)ctx;
    say(e, CPUBIND_SAY_ERROR, "%s, line %d, column %d: %s",
        e->options->config ? e->options->config : CLI_CONF_PATH, (int)place.line,
        (int)place.column, text);
}

/* Takes what the command line says over into settings that were read. */
static void take_options(const engine *e, cli_settings *s)
{
    s->options.quiet = 1; /* no progress on a terminal */
    s->options.root = e->options->root;
    s->options.fixture = e->options->fixture;
    s->options.db = e->options->db;
    s->options.is_restored_at_end |= e->options->is_restored_at_end;
}

static int reload(void *ctx)
{
    engine *e = (engine *)ctx;
    static cli_settings next;
    const char *path;
    api_text why = {"", 0};
    const int status = cli_settings_load(e->options->config, &next, &path, say_fault, e, &why);
    if (status != API_DONE) {
        if (why.len > 0)
            say(e, CPUBIND_SAY_ERROR, "%s", why.text);
        say(e, CPUBIND_SAY_WARNING, "the settings stay as they were");
        cli_settings_free(&next);
        e->counts.errors++;
        return 0;
    }
    close_host(e);
    cli_settings_free(&e->settings);
    e->settings = next;
    memset(&next, 0, sizeof next);
    take_options(e, &e->settings);
    e->counts.reloads++;
    e->retry_ms = FIRST_RETRY_MS;
    say(e, CPUBIND_SAY_INFO, "the settings of %s are in force",
        path ? path : "no file, all usual,");
    json_object_clear(e->call.said);
    start(e);
    return 1;
}

static cpubind_service_settings settings(void *ctx)
{
    const api_options *o = &((const engine *)ctx)->settings.options;
    return (cpubind_service_settings){o->socket, o->textfile, o->is_restored_at_end};
}

static const cpubind_service_counts *count(void *ctx, int is_full)
{
    engine *e = (engine *)ctx;
    const int64_t now = (int64_t)time(NULL);
    const int has_memory = e->memory_at == 0 || now >= e->memory_at + MEMORY_SECONDS;
    e->counts.is_on_devices = e->call.is_on_devices;
    if (is_full && e->is_planned &&
        !cpubind_figures_count(e->call.host, &cpubind_sys_real, has_memory, &e->counts).error &&
        has_memory)
        e->memory_at = now;
    return &e->counts;
}

/* == Answers ================================================================ */

typedef struct answering {
    engine *e;
    json_t *workers, *others;
} answering;

static void add_row(void *ctx, const cpubind_host_row *row)
{
    answering *a = (answering *)ctx;
    json_t **to = row->npu >= 0 || *row->pci ? &a->workers : &a->others;
    *to = cli_json_append(*to, cli_row_json(&a->e->call, row));
}

/* The state of the service, and for verify beside it the object of verify --all. */
static int answer(void *ctx, cpubind_ask ask, cpubind_bytes *out)
{
    engine *e = (engine *)ctx;
    answering a = {e, json_array(), json_array()};
    json_t *json =
        json_pack("{s:s, s:{s:i, s:I, s:I, s:I, s:I, s:i, s:s*}}", "cpubind", CPUBIND_VERSION,
                  "service", "pid", (int)getpid(), "last_look", (json_int_t)e->counts.last_look,
                  "moves", (json_int_t)e->counts.moves, "errors", (json_int_t)e->counts.errors,
                  "reloads", (json_int_t)e->counts.reloads, "workers", (int)e->counts.workers,
                  "problem", e->problem.len > 0 ? e->problem.text : NULL);
    char *text;
    int32_t n;
    if (e->is_planned && ask == CPUBIND_ASK_VERIFY) {
        cpubind_figures_each(e->call.host, &cpubind_sys_real, 1, add_row, &a);
        cpubind_figures_recorded(e->call.host, &cpubind_sys_real, add_row, &a);
    }
    if (ask == CPUBIND_ASK_VERIFY &&
        (json_object_set(json, "workers", a.workers) != 0 ||
         json_object_set(json, "others", a.others) != 0 ||
         json_object_set_new(json, "warnings", json_array()) != 0)) {
        json_decref(json);
        json = NULL;
    }
    json_decref(a.workers);
    json_decref(a.others);
    text = json ? json_dumps(json, 0) : NULL;
    json_decref(json);
    n = text ? (int32_t)strlen(text) : -1;
    if (n < 0 || cpubind_bytes_reserve(out, &cpubind_sys_real, n + 1).error) {
        free(text);
        return 0;
    }
    memcpy(out->data + out->len, text, (size_t)n);
    out->data[out->len + n] = '\n';
    out->len += n + 1;
    free(text);
    return 1;
}

/* == The whole ============================================================== */

/* Refuses NPUs on a machine that is not ARM, as apply does. */
static int check_machine(engine *e)
{
    api_bound none = {0};
    api_text why = {"", 0}, no_host = {"", 0};
    int status = api_open_live(0, 0, &none.live, &why);
    if (status != API_DONE)
        say(e, CPUBIND_SAY_ERROR, "%s", why.text);
    else if (api_check_arch(&e->settings.options, &none) != API_DONE &&
             (find_kind(e, &no_host) != API_DONE || !e->call.is_on_devices))
        status = cli_refuse(&e->settings.options, &none.planned);
    api_close_bound(&none);
    return status;
}

static int run(engine *e)
{
    const cpubind_service_engine table = {e,     start,  look,    reload,     settings,
                                          count, answer, restore, say_failure};
    const cpubind_service_options options = {
        .sys = &cpubind_sys_real,
        .root_fd = -1,
        .notify_address = getenv("NOTIFY_SOCKET"),
        .watchdog_ms = cpubind_notify_pause_ms(getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"),
                                               (int32_t)getpid())};
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status status;
    cpubind_linux_raise_files();
    status = cpubind_service_run(&options, &table, &fault);
    if (status == CPUBIND_LINUX_ERR_BUSY)
        say(e, CPUBIND_SAY_ERROR, "another cpubind service runs on this host");
    else if (status != CPUBIND_LINUX_OK)
        say_failure(e, CPUBIND_SAY_ERROR, "the service cannot run", fault);
    return status == CPUBIND_LINUX_OK         ? API_DONE
           : status == CPUBIND_LINUX_ERR_BUSY ? API_REFUSED
                                              : API_UNWRITTEN;
}

int cli_run_service(const api_options *options)
{
    static engine e;
    const char *path;
    api_text why = {"", 0};
    int status;
    e.options = options;
    e.is_journal =
        cpubind_service_is_journal(&cpubind_sys_real, fileno(stderr), getenv("JOURNAL_STREAM"));
    e.retry_ms = FIRST_RETRY_MS;
    e.call.said = json_object();
    status = cli_settings_load(options->config, &e.settings, &path, say_fault, &e, &why);
    if (why.len > 0)
        say(&e, CPUBIND_SAY_ERROR, "%s", why.text);
    take_options(&e, &e.settings);
    if (status == API_DONE)
        status = check_machine(&e);
    if (status == API_DONE)
        status = run(&e);
    close_host(&e);
    cli_settings_free(&e.settings);
    free(e.counts.npu);
    json_decref(e.call.said);
    return status;
}
