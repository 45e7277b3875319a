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

#include "../host/host_place.h"
#include "../linux/kernel/files.h"
#include "../linux/terminal.h"
#include "../service/claims.h"
#include "../service/notify.h"
#include "../service/rights.h"
#include "../service/service.h"
#include "../service/worker_figures.h"
#include "host_call.h"
#include "measure_result.h"
#include "output.h"
#include "wanted.h"

/* Without a plan, the host is read again after 5, 10, 20 ... seconds. */
#define FIRST_RETRY_MS 5000
#define MAX_RETRY_MS   60000

/* How often memory is counted: the kernel walks the page tables for that. */
#define MEMORY_SECONDS 300

typedef struct engine {
    const api_options *options; /* of the command line */
    api_settings settings;
    host_call call;
    cpubind_service_counts counts;
    int is_journal;   /* stderr is the journal of systemd */
    int is_planned;   /* the host was read: its workers can be watched */
    int32_t retry_ms; /* without a plan: from one try to the next */
    int64_t next_try_ms;
    api_text problem;  /* why there is no plan, as it was said */
    int64_t memory_at; /* when memory was counted */
    cpubind_claims claims;
    int has_claims; /* they were read */
    int is_unsaved; /* the claims, as was said */
    int has_claim;  /* somebody has said something: it is looked at once */
} engine;

/* == Lines ================================================================== */

/* Prints a line; the journal reads its importance from the start. It is one write, and the
 * texts are not on the stack, nor is a buffer of stdio: the service may have 64 KiB of it. */
__attribute__((format(printf, 3, 4))) static void say(const engine *e, int priority,
                                                      const char *format, ...)
{
    static char line[4096 + 256], out[sizeof line + 32];
    static api_text text;
    va_list args;
    if (priority == CPUBIND_SAY_INFO && e->options->quiet)
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args); /* NOLINT: va_start is above */
    va_end(args);
    text = (api_text){"", 0};
    api_add(&text, "%s", line);
    if (e->is_journal)
        (void)snprintf(out, sizeof out, "<%d>%s\n", priority, text.text);
    else
        (void)snprintf(out, sizeof out, "cpubind: %s%s\n",
                       priority == CPUBIND_SAY_WARNING ? "warning: " : "", text.text);
    (void)fputs(out, stderr);
}

static void say_failure(void *ctx, int priority, const char *text, cpubind_linux_fault why)
{
    if (why.error)
        say((const engine *)ctx, priority, "%s: %s: %s", text, why.what, strerror(why.error));
    else
        say((const engine *)ctx, priority, "%s", text);
}

/* == News =================================================================== */

/* "process 4711 (python3), npu3", "process 4711 (python3), 0000:c1:00.0, pod prod/vllm-0/a" */
static void add_process(api_text *to, const cpubind_worker *row)
{
    api_add(to, "process %d (%s)", (int)row->pid, row->program);
    cli_add_row_device(to, row);
    cli_add_pod(to, &row->pod);
}

/* Says each warning of a row that no row before it had. */
static void say_warnings(engine *e, const cpubind_worker *row, const char *process)
{
    const api_bound bound = {.pid = row->pid, .is_watching = e->call.is_watching};
    words_value *warnings = row->report ? api_outcome_warnings_json(&bound, row->report) : NULL;
    for (int32_t i = 0; i < words_count(warnings); i++) {
        words_value *one = words_at(warnings, i);
        const char *text = words_string(words_get(one, "text"));
        if (text && cli_is_new(&e->call, text))
            say(e, CPUBIND_SAY_WARNING, "%s: %s", process, text);
    }
    words_free(warnings);
}

/* Says once of a device that its processes share its pool. */
static void say_sharing(engine *e, const cpubind_worker *row)
{
    api_text device = {"", 0}, text = {"", 0};
    cli_explain_sharing(row, &device, &text);
    if (text.len > 0 && cli_is_new(&e->call, device.text))
        say(e, CPUBIND_SAY_WARNING, "%s", text.text);
}

/* Says of a process whose program cannot be read what `only` and `except` go by. */
static void say_program(engine *e, const cpubind_worker *row, const char *process)
{
    const api_options *o = &e->settings.options;
    if (!row->has_program && o->n_only + o->n_except > 0 && row->state != CPUBIND_HOST_ENDED)
        say(e, CPUBIND_SAY_WARNING,
            "%s: its program may not be read (/proc/%d/exe): only and except compare its name "
            "alone",
            process, (int)row->pid);
}

/* Says of a worker whose cpuset has changed that it is bound anew. */
static void say_cpuset(engine *e, const cpubind_worker *row, const char *process)
{
    static api_text text;
    text = (api_text){"", 0};
    if (!row->is_regranted)
        return;
    api_add_list(&text, row->allowed.cpu, row->allowed.n);
    say(e, CPUBIND_SAY_INFO, "%s: its cpuset has changed to %s", process, text.text);
}

/* Says once of a process that its claim does not hold. */
static void say_claim(engine *e, const cpubind_worker *row, const char *process)
{
    static api_text text;
    if (!row->is_claim_bad && (row->claimed.n == 0 || cpubind_worker_holds_claim(row)))
        return;
    text = (api_text){"", 0};
    api_add(&text, "%s: the variables DRA_CPUSET_* of its environment claim ", process);
    if (row->is_claim_bad) {
        api_add(&text, "no list of CPUs");
    } else {
        api_add(&text, "the CPUs ");
        api_add_list(&text, row->claimed.cpu, row->claimed.n);
        api_add(&text, ", and its cpuset has ");
        api_add_list(&text, row->allowed.cpu, row->allowed.n);
    }
    api_add(&text, ": the cpuset counts");
    if (cli_is_new(&e->call, text.text))
        say(e, CPUBIND_SAY_WARNING, "%s", text.text);
}

/* Says once why pods have no names. */
static void say_pods(engine *e, const cpubind_worker *row)
{
    static const char *const key = "/var/log/containers";
    if (row->pod.names_error && cli_is_new(&e->call, key))
        say(e, CPUBIND_SAY_WARNING, "pods have no names here but their uids: %s: %s", key,
            strerror(row->pod.names_error));
}

static void say_row(engine *e, const cpubind_worker *row)
{
    const int32_t moved = cli_count_threads(row->report, CPUBIND_ITEM_MOVED);
    static api_text process, why;
    int status;
    process = why = (api_text){"", 0};
    status = cli_explain_row(&e->call, row, &why);
    add_process(&process, row);
    say_program(e, row, process.text);
    say_pods(e, row);
    say_cpuset(e, row, process.text);
    say_claim(e, row, process.text);
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
    } else if (row->is_adopted && !row->report) {
        say(e, CPUBIND_SAY_INFO, "%s: bound by another cpubind, and watched as it is",
            process.text);
    } else if (moved > 0 || cli_count_not(row->report) > 0) {
        say(e, CPUBIND_SAY_INFO, "%s: %d threads right, %d moved, %d elsewhere", process.text,
            (int)cli_count_threads(row->report, CPUBIND_ITEM_RIGHT), (int)moved,
            (int)cli_count_not(row->report));
    }
    say_sharing(e, row);
    say_warnings(e, row, process.text);
}

/* Keeps what was said about processes over a restart. Returns 0 when it cannot. */
static int save_claims(engine *e)
{
    const cpubind_linux_fault why = cpubind_claims_save(&e->claims);
    if (why.error && !e->is_unsaved)
        say_failure(e, CPUBIND_SAY_WARNING,
                    "which processes were let go is forgotten when the service ends", why);
    e->is_unsaved = why.error != 0;
    return !why.error;
}

static void say_news(engine *e)
{
    e->counts.last_look = (int64_t)time(NULL);
    e->counts.workers = 0;
    cli_take_plan(&e->call);
    for (int32_t i = 0; i < cpubind_host_bind_n(e->call.host); i++) {
        const cpubind_worker *row = cpubind_host_bind_row(e->call.host, i);
        e->counts.workers += row->device >= 0 && row->state != CPUBIND_HOST_ENDED;
        if (row->is_news)
            say_row(e, row);
    }
    (void)save_claims(e);
}

/* == Which devices ============================================ */

/* Finds out whose workers are bound. Returns the exit status. */
static int find_kind(engine *e, api_text *why)
{
    api_options any = cli_of_any_device(&e->settings.options);
    int status;
    e->call.has_listed = 0;
    status = cli_find_workers(&e->call, &any, why);
    if (e->call.devices.named)
        e->call.devices.named = e->settings.options.pci;
    return status;
}

/* Names the keys that have no effect on accelerators that are no NPUs. */
static void say_npu_keys(const engine *e)
{
    static const char *const names[] = {"strategy", "device-type", "facts", "irqbalance"};
    for (int32_t i = 0; api_keys[i].name; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (e->settings.options.conf_value[i] && strcmp(api_keys[i].name, names[k]) == 0 &&
                strcmp(e->settings.options.conf_value[i], api_keys[i].usual) != 0)
                say(e, CPUBIND_SAY_WARNING,
                    "the key %s is for NPUs alone: it is ignored on this host", names[k]);
}

/* == The host =============================================================== */

static int wants(void *ctx, const char *program, const char *name)
{
    return cli_wants(&((const engine *)ctx)->settings.options, program, name);
}

static cpubind_host_claim claim_of(void *ctx, int32_t pid, uint64_t start)
{
    const engine *e = (const engine *)ctx;
    switch (cpubind_claims_find(&e->claims, pid, start)) {
    case CPUBIND_ASK_LEAVE:
        return CPUBIND_CLAIM_LEAVE;
    case CPUBIND_ASK_ADOPT:
        return CPUBIND_CLAIM_ADOPT;
    case CPUBIND_ASK_TAKE:
        return CPUBIND_CLAIM_TAKE;
    default:
        return CPUBIND_CLAIM_NONE;
    }
}

static void note_taken(void *ctx, int32_t pid, uint64_t start)
{
    const cpubind_asked asked = {.ask = CPUBIND_ASK_TAKE, .pid = pid, .start = start};
    /* Without memory it is adopted, not planned, by a service that starts again. */
    (void)cpubind_claims_note(&((engine *)ctx)->claims, &asked);
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

/* Reads what was said about processes, once: this service has the lock of the host now. Returns
 * 0, with why, when that could not be read and may be later: nobody is bound who was let go. */
static int read_claims(engine *e, api_text *text)
{
    cpubind_linux_fault why;
    if (e->has_claims)
        return 1;
    cpubind_claims_free(&e->claims);
    e->claims = (cpubind_claims){.sys = &cpubind_sys_real};
    why = cpubind_claims_read(&e->claims);
    e->has_claims = !why.error || why.error == EILSEQ || why.error == EPERM;
    if (!e->has_claims)
        api_add(text, "which processes were let go is not known, so none is bound: %s: %s",
                why.what, strerror(why.error));
    else if (why.error)
        say_failure(e, CPUBIND_SAY_WARNING,
                    "not all is known of which processes were let go: those are bound", why);
    return e->has_claims;
}

static void start(void *ctx)
{
    engine *e = (engine *)ctx;
    cpubind_host_options how = {
        .wants = wants, .wants_ctx = e, .claim = claim_of, .take = note_taken, .claim_ctx = e};
    cpubind_problem_code code;
    static api_text why;
    cpubind_linux_fault no_events;
    why = (api_text){"", 0};
    e->call.options = &e->settings.options;
    e->call.is_watching = 0;
    e->call.stop = is_ending;
    e->call.is_service = 1;
    if (!read_claims(e, &why) || find_kind(e, &why) != API_DONE ||
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
    if (!e->call.has_listed)
        say_npu_keys(e);
    say_news(e);
    no_events = cpubind_host_bind_no_events(e->call.host);
    if (no_events.error)
        say(e, CPUBIND_SAY_WARNING,
            "the kernel sends no events (%s: %s): workers and threads are looked for every %d "
            "seconds",
            no_events.what, strerror(no_events.error),
            (int)e->settings.options.watch_ms / 1000);
}

/* Takes over the last measurement of this host, whoever has made it. */
static void count_measure(engine *e)
{
    const api_options here = {.command = API_SERVICE};
    words_value *last = cli_last_measure_json(&here);
    const char *word = words_string(words_get(last, "verdict"));
    e->counts.measured_at = 0;
    for (int i = 0; word && i <= CPUBIND_VERDICT_NOT_JUDGED; i++)
        if (strcmp(word, cpubind_verdict_word((cpubind_verdict)i)) == 0) {
            e->counts.measured = cpubind_verdict_word((cpubind_verdict)i);
            e->counts.measured_at = (int64_t)words_integer_of(last, "at");
        }
    words_free(last);
}

/* == The steps of the loop ================================================== */

static void look(void *ctx, int wake_fd)
{
    engine *e = (engine *)ctx;
    int64_t left_ms;
    e->has_claim |= cpubind_claims_take_back(&e->claims, 0);
    if (e->is_planned) {
        cpubind_host_bind_wake_at(e->call.host, wake_fd);
        if (e->has_claim)
            cpubind_host_bind_look(e->call.host);
        else
            cpubind_host_bind_again(e->call.host, e->settings.options.watch_ms);
        e->has_claim = 0;
        say_news(e);
        return;
    }
    left_ms = e->next_try_ms - cpubind_now_ms();
    if (left_ms > 0)
        cpubind_figures_pause(&cpubind_sys_real, wake_fd, (int32_t)left_ms);
    if (cpubind_now_ms() >= e->next_try_ms)
        start(e);
}

/* Undoes the bindings of the service, also those of an earlier one that it has not come to yet,
 * and leaves those of other commands. */
static void restore(void *ctx)
{
    engine *e = (engine *)ctx;
    for (int32_t i = 0; e->call.host && i < cpubind_host_bind_n(e->call.host); i++) {
        const cpubind_worker *row = cpubind_host_bind_row(e->call.host, i);
        cpubind_linux_fault fault = {.what = ""};
        api_text process = {"", 0};
        if (!row->binding || cpubind_bind_allowed(row->binding).n == 0)
            continue;
        add_process(&process, row);
        if (cpubind_bind_restore(row->binding, &fault) == CPUBIND_LINUX_OK)
            say(e, CPUBIND_SAY_INFO, "%s: put back", process.text);
        else
            say(e, CPUBIND_SAY_ERROR, "%s: not put back: %s: %s", process.text, fault.what,
                strerror(fault.error));
    }
}

/* == Settings =============================================================== */

static void say_fault(void *ctx, cpubind_position place, const char *text)
{
    engine *e = (engine *)ctx;
    say(e, CPUBIND_SAY_ERROR, "%s, line %d, column %d: %s",
        e->options->config ? e->options->config : API_CONF_PATH, (int)place.line,
        (int)place.column, text);
}

/* Takes what the command line says over into settings that were read. */
static void take_options(const engine *e, api_settings *s)
{
    s->options.quiet = 1; /* no progress on a terminal */
    s->options.root = e->options->root;
    s->options.fixture = e->options->fixture;
    s->options.db = e->options->db;
}

static int reload(void *ctx)
{
    engine *e = (engine *)ctx;
    static api_settings next;
    const char *path;
    api_text why = {"", 0};
    const int status = api_settings_load(e->options->config, &next, &path, say_fault, e, &why);
    if (status != API_DONE) {
        if (why.len > 0)
            say(e, CPUBIND_SAY_ERROR, "%s", why.text);
        say(e, CPUBIND_SAY_WARNING, "the settings stay as they were");
        api_free_options(&next.options);
        e->counts.errors++;
        return 0;
    }
    close_host(e);
    api_free_options(&e->settings.options);
    e->settings = next;
    memset(&next, 0, sizeof next);
    take_options(e, &e->settings);
    e->counts.reloads++;
    e->retry_ms = FIRST_RETRY_MS;
    say(e, CPUBIND_SAY_INFO, "the settings of %s are in force",
        path ? path : "no file, all usual,");
    words_empty(e->call.said);
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
    e->counts.is_all_left = e->claims.is_all_left;
    e->counts.has_numbered = e->call.has_listed;
    e->counts.has_others = e->call.has_bus;
    if (is_full)
        count_measure(e);
    if (is_full && e->is_planned &&
        !cpubind_figures_count(e->call.host, &cpubind_sys_real, has_memory, &e->counts).error &&
        has_memory)
        e->memory_at = now;
    return &e->counts;
}

/* == Answers ================================================================ */

typedef struct answering {
    engine *e;
    const cpubind_peer *peer;
    words_value *workers, *others;
} answering;

/* A user hears of its own processes alone: /proc may hide the others from it. */
static void add_row(void *ctx, const cpubind_worker *row)
{
    answering *a = (answering *)ctx;
    words_value *to = cli_is_worker(row) ? a->workers : a->others;
    if (a->peer->is_owner ||
        !cpubind_rights_of_process(&cpubind_sys_real, row->pid, a->peer->uid).error)
        words_add(to, cli_row_json(&a->e->call, row));
}

/* The processes that were let go and are left alone, as far as the peer may know. */
static words_value *left_json(const engine *e, const cpubind_peer *peer)
{
    words_value *left = words_array();
    for (int32_t i = 0; i < e->claims.n; i++) {
        const cpubind_asked *row = &e->claims.row[i];
        uint64_t start = 0;
        if (row->ask == CPUBIND_ASK_LEAVE &&
            !cpubind_rights_start(&cpubind_sys_real, row->pid, &start).error &&
            start == row->start &&
            (peer->is_owner ||
             !cpubind_rights_of_process(&cpubind_sys_real, row->pid, peer->uid).error))
            words_add(left, words_number(row->pid));
    }
    return left;
}

/* The state of the service. */
static words_value *state_json(const engine *e, const cpubind_peer *peer)
{
    words_value *state = words_make("pid:i last_look:I moves:I errors:I reloads:I workers:i",
                                    (int)getpid(), (int64_t)e->counts.last_look,
                                    (int64_t)e->counts.moves, (int64_t)e->counts.errors,
                                    (int64_t)e->counts.reloads, (int)e->counts.workers);
    if (e->problem.len > 0)
        words_set(state, "problem", words_text(e->problem.text));
    words_set(state, "left", left_json(e, peer));
    words_set(state, "all_left", words_bool(e->claims.is_all_left));
    return words_make("cpubind:s service:v", CPUBIND_VERSION, state);
}

/* Beside it the rows, as verify --all and apply --all have them: compared with the records, or
 * as they are. */
static words_value *rows_json(engine *e, const cpubind_peer *peer, int is_verifying)
{
    answering a = {e, peer, words_array(), words_array()};
    words_value *json = state_json(e, peer);
    if (e->is_planned && is_verifying) {
        cpubind_figures_each(e->call.host, 1, add_row, &a);
        cpubind_figures_recorded(e->call.host, &cpubind_sys_real, add_row, &a);
    }
    for (int32_t i = 0; e->is_planned && !is_verifying && i < cpubind_host_bind_n(e->call.host);
         i++)
        add_row(&a, cpubind_host_bind_row(e->call.host, i));
    words_set(json, "workers", a.workers);
    words_set(json, "others", a.others);
    words_set(json, "warnings", words_array());
    return json;
}

/* The answer to a request that cannot be carried out. */
static words_value *refusal_json(int status, const char *text)
{
    return words_make("cpubind:s error:{status:i text:s}", CPUBIND_VERSION, status, text);
}

/* The same where the peer may not ask for it, or the process is another one. */
static words_value *refused_json(const cpubind_asked *asked, cpubind_linux_fault why)
{
    const int has_ended = why.error == ESRCH || why.error == ESTALE;
    api_text text = {"", 0};
    if (why.error != EPERM || strcmp(why.what, "process") == 0)
        api_add(&text, "process %d ", (int)asked->pid);
    words_add_why(&text, WORDS_ASKED, why.what, why.error);
    return refusal_json(has_ended ? API_REFUSED : API_UNWRITTEN, text.text);
}

static words_value *no_memory_json(void)
{
    return refusal_json(API_UNREADABLE, "the service has no memory left");
}

/* Lets go of a process, or of all. One of the owner restores them itself. */
static words_value *let_go(engine *e, const cpubind_asked *asked, const cpubind_peer *peer)
{
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status status = CPUBIND_LINUX_OK;
    int was_bound = 0;
    api_bound bound = {.pid = asked->pid};
    api_text why = {"", 0};
    if (!peer->is_owner && !e->call.host)
        return refusal_json(API_UNWRITTEN,
                            "the service has no plan of this host yet: try again");
    if (e->call.host)
        status = cpubind_host_bind_let_go(e->call.host, asked->pid, asked->start,
                                          peer->is_owner ? NULL : &was_bound, &fault);
    if (status != CPUBIND_LINUX_OK) {
        const int code = api_explain_bind(&e->settings.options, &bound, status, &fault, &why);
        return refusal_json(code, why.text);
    }
    if (cpubind_claims_note(&e->claims, asked).error)
        return no_memory_json();
    if (asked->pid)
        api_add(&why, "process %d was", (int)asked->pid);
    else
        api_add(&why, "all processes were");
    say(e, CPUBIND_SAY_INFO, "%s let go by process %d (user %u)%s", why.text, (int)peer->pid,
        (unsigned)peer->uid, asked->owner ? ", as long as that lives" : "");
    return words_make("cpubind:s put_back:b is_kept:b", CPUBIND_VERSION, was_bound,
                      save_claims(e));
}

/* Watches what somebody else has bound, from the next look on: a process that is to start is
 * not kept waiting. */
static words_value *adopt(engine *e, const cpubind_asked *asked)
{
    if (cpubind_claims_note(&e->claims, asked).error)
        return no_memory_json();
    e->has_claim = 1;
    return words_make("cpubind:s is_kept:b", CPUBIND_VERSION, save_claims(e));
}

/* Takes a process, or all; what was lent to the peer is as it was before. */
static words_value *take(engine *e, const cpubind_asked *asked, const cpubind_peer *peer)
{
    const cpubind_worker *row;
    e->has_claim = cpubind_claims_take_back(&e->claims, peer->pid);
    if (e->has_claim)
        return words_make("cpubind:s is_kept:b", CPUBIND_VERSION, save_claims(e));
    if (cpubind_claims_note(&e->claims, asked).error)
        return no_memory_json();
    if (!e->is_planned)
        start(e);
    if (!e->is_planned)
        return refusal_json(API_REFUSED, e->problem.text);
    cpubind_host_bind_take(e->call.host, asked->pid);
    say_news(e);
    if (asked->pid == 0)
        return rows_json(e, peer, 0);
    row = cpubind_host_bind_of(e->call.host, asked->pid);
    return words_make("cpubind:s row:v", CPUBIND_VERSION,
                      row ? cli_row_json(&e->call, row) : words_null());
}

/* "npu3", "0000:c1:00.0": a device of a plan, by its number. */
static void add_device(api_text *to, const cpubind_facts *f, int32_t logic)
{
    char name[CPUBIND_DEVICE_NAME_SIZE] = "";
    for (int32_t i = 0; i < f->n_device; i++)
        if (f->device[i]->logic == logic)
            cpubind_function_name(f->device[i], name);
    api_add(to, "%s", *name ? name : "the device");
}

/* Says where a process that is to start belongs, by the devices that it is given. */
static words_value *place(engine *e, const cpubind_asked *asked)
{
    const cpubind_ask_text *cpus = &asked->list[CPUBIND_ASK_CPUS],
                           *mems = &asked->list[CPUBIND_ASK_MEMS],
                           *devices = &asked->list[CPUBIND_ASK_DEVICES];
    const cpubind_host_grant grant = {cpus->text, mems->text,    cpus->len,
                                      mems->len,  devices->text, devices->len};
    cpubind_host_place found;
    cpubind_problem problem;
    api_text why = {"", 0};
    if (!e->is_planned)
        return refusal_json(API_REFUSED, e->problem.len > 0 ? e->problem.text
                                                            : "there is no plan of this host");
    switch (cpubind_host_find_place(e->call.host, &grant, &found, &problem)) {
    case CPUBIND_PROBLEM_NONE:
        return words_make("cpubind:s devices:i cpus:v mems:v omp:i", CPUBIND_VERSION,
                          (int)found.n_device, words_list(found.cpu, found.n_cpu),
                          words_list(found.node, found.n_node), (int)found.n_main);
    case CPUBIND_PROBLEM_TOO_FEW_CPUS:
        if (problem.need == 0)
            break;
        add_device(&why, &found.plan->facts, problem.device);
        api_add(&why,
                " has %d of its CPUs among those that the container may have (%.*s), and "
                "needs %d",
                (int)problem.have, cpus->len > 0 ? (int)cpus->len : 3,
                cpus->len > 0 ? cpus->text : "all", (int)problem.need);
        return refusal_json(API_REFUSED, why.text);
    case CPUBIND_PROBLEM_UNKNOWN_DEVICE:
        if (found.about.len == 0)
            break;
        api_add(&why, "this host has no device %.*s", (int)found.about.len,
                devices->text + found.about.at);
        return refusal_json(API_REFUSED, why.text);
    default:
        break;
    }
    api_explain_problem(&problem, &found.plan->facts, &e->settings.options, &why);
    return refusal_json(API_REFUSED, why.text);
}

static words_value *make_answer(engine *e, const cpubind_asked *asked, const cpubind_peer *peer)
{
    const int is_change = asked->ask >= CPUBIND_ASK_LEAVE;
    api_text why = {"", 0};
    e->has_claims |= is_change && asked->pid == 0; /* it takes the place of all that was said */
    if (is_change && !read_claims(e, &why))
        return refusal_json(API_UNWRITTEN, why.text);
    switch (asked->ask) {
    case CPUBIND_ASK_VERIFY:
        return rows_json(e, peer, 1);
    case CPUBIND_ASK_PLACE:
        return place(e, asked);
    case CPUBIND_ASK_LEAVE:
    case CPUBIND_ASK_LEND:
        return let_go(e, asked, peer);
    case CPUBIND_ASK_ADOPT:
        return adopt(e, asked);
    case CPUBIND_ASK_TAKE:
        return take(e, asked, peer);
    default:
        return state_json(e, peer);
    }
}

static int answer(void *ctx, const cpubind_asked *asked, const cpubind_peer *peer,
                  cpubind_linux_fault refused, cpubind_bytes *out)
{
    engine *e = (engine *)ctx;
    words_value *json =
        refused.error ? refused_json(asked, refused) : make_answer(e, asked, peer);
    api_out text = {0};
    int is_whole;
    words_put(&text, json, WORDS_LINE);
    words_free(json);
    api_put_text(&text, "\n");
    is_whole = !text.is_short &&
               !cpubind_bytes_reserve(out, &cpubind_sys_real, (int32_t)text.len).error;
    if (is_whole) {
        memcpy(out->data + out->len, text.text, text.len);
        out->len += (int32_t)text.len;
    }
    free(text.text);
    return is_whole;
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
             (find_kind(e, &no_host) != API_DONE || e->call.has_listed))
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
    static api_text why;
    sigset_t late;
    int status;
    /* Who reads its messages may end before it; SIGHUP waits until the loop reads it. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(&late);
    (void)sigaddset(&late, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &late, NULL);
    e.options = options;
    e.is_journal =
        cpubind_service_is_journal(&cpubind_sys_real, fileno(stderr), getenv("JOURNAL_STREAM"));
    e.retry_ms = FIRST_RETRY_MS;
    e.call.said = words_object();
    status = api_settings_load(options->config, &e.settings, &path, say_fault, &e, &why);
    if (why.len > 0)
        say(&e, CPUBIND_SAY_ERROR, "%s", why.text);
    take_options(&e, &e.settings);
    if (status == API_DONE)
        status = check_machine(&e);
    if (status == API_DONE)
        status = run(&e);
    close_host(&e);
    api_free_options(&e.settings.options);
    cpubind_claims_free(&e.claims);
    free(e.counts.device);
    words_free(e.call.said);
    return status;
}
