/* bind_common.c - open the process that the options name, plan for it, bind it
 * SPDX-License-Identifier: MIT
 *
 * Shared by apply, run, verify and restore. Changes a process only through adapters/linux/bind.
 * BIND.md documents what each option means.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "../linux/terminal.h"
#include "../service/rights.h"
#include "bind_common.h"
#include "output.h"

/* Of the processes that `run` binds, one in so many removes what ended ones have left: the
 * others start their command at once. */
#define SWEEP_EVERY 16

static void show_progress(void *ctx, int64_t done, int64_t total)
{
    char text[80];
    snprintf(text, sizeof text, "cpubind: moving memory: %lld of %lld MiB",
             (long long)(done >> 20), (long long)(total >> 20));
    cli_progress((const api_options *)ctx, text);
}

/* A rank that waits must not look as if it hung. */
static void say_waiting(void *ctx, int32_t holder, int64_t waited_ms)
{
    api_text who = {"", 0};
    api_add(&who, holder > 0 ? "cpubind %d" : "another cpubind", (int)holder);
    cli_progress((const api_options *)ctx, NULL);
    fprintf(stderr,
            "cpubind: waiting for %lld s for the record of the interrupts of this host, which "
            "%s works on (for %d s at most)\n",
            (long long)(waited_ms / 1000), who.text, CPUBIND_HOST_WAIT_MS / 1000);
}

/* == Signals ================================================================ */

/* The signals that end a move of memory, and the last of them that came. */
static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t signalled;
static struct sigaction handled[sizeof ending / sizeof *ending]; /* how they were handled */

static void note_signal(int number)
{
    signalled = number;
}

static int is_signalled(void *ctx)
{
    (void)ctx;
    return signalled != 0;
}

int cli_was_signalled(void)
{
    return signalled != 0;
}

void cli_catch_signals(void)
{
    struct sigaction catching = {.sa_flags = (int)(SA_RESETHAND | (unsigned)SA_RESTART)};
    catching.sa_handler = note_signal;
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigaction(ending[i], NULL, &handled[i]) == 0 && handled[i].sa_handler == SIG_DFL)
            (void)sigaction(ending[i], &catching, NULL);
}

void cli_release_signals(void)
{
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        (void)sigaction(ending[i], &handled[i], NULL);
}

cpubind_bind_options cli_bind_options(const api_options *options, int32_t pid, int is_reading)
{
    cpubind_bind_options how = api_bind_options(options, pid, is_reading);
    how.stop = is_signalled;
    if (!options->quiet) {
        how.host_wait = say_waiting;
        how.host_wait_ctx = (void *)options;
    }
    if (!options->quiet && cpubind_linux_is_terminal(fileno(stderr))) {
        how.progress = show_progress;
        how.progress_ctx = (void *)options;
    }
    return how;
}

int cli_open_bound(const api_options *options, int is_reading, api_bound *out)
{
    cpubind_bind_options how;
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status status;
    if (out->pid == 0)
        out->pid = options->pid;
    if (out->pid == 0 && cli_choose_parent(options, out) != API_DONE)
        return API_REFUSED;
    how = cli_bind_options(options, out->pid, is_reading);
    status = api_open_bound(&how, out, &fault);
    return status == CPUBIND_LINUX_OK ? API_DONE : cli_fail_bind(options, out, status, &fault);
}

/* == The plan =============================================================== */

int cli_fail_plan(const api_options *options, const api_bound *bound, int status,
                  const api_text *why)
{
    uint64_t start;
    api_text ended = {"", 0};
    if (!options->is_forced &&
        cpubind_rights_start(&cpubind_sys_real, bound->pid, &start).error == ESRCH) {
        api_add(&ended, "process %d has ended", (int)bound->pid);
        return cli_fail(options, API_REFUSED, ended.text);
    }
    return why->len > 0 ? cli_fail(options, status, why->text)
                        : cli_refuse(options, &bound->planned);
}

int cli_check_arch(const api_options *options, api_bound *bound)
{
    const int status = api_check_arch(options, bound);
    return status == API_DONE ? status : cli_refuse(options, &bound->planned);
}

/* == Binding ================================================================ */

int cli_apply_bound(const api_options *options, api_bound *bound)
{
    cpubind_linux_fault fault = {.what = ""};
    const int is_moving =
        options->memory == CPUBIND_MEMORY_MIGRATE || options->memory == CPUBIND_MEMORY_ALL;
    api_settle_environment(bound->live.outer, options);
    bound->planned.outer = bound->live.outer;
    api_find_other_rules(bound);
    if (bound->other_rules.n > 0 && !options->quiet && !options->json)
        api_warn_other_rules(&bound->other_rules, bound->goal.rules, cli_hear_warning, NULL);
    if (is_moving)
        cli_catch_signals();
    cpubind_linux_status status = cpubind_bind_apply(bound->binding, &bound->goal, &fault);
    if (is_moving)
        cli_release_signals();
    bound->is_stopped = signalled != 0;
    cli_progress(options, NULL);
    if (status != CPUBIND_LINUX_OK)
        return cli_fail_bind(options, bound, status, &fault);
    if (options->command != API_RUN || bound->pid % SWEEP_EVERY == 0)
        cpubind_bind_sweep(NULL);
    return API_DONE;
}

int cli_fail_bind(const api_options *options, const api_bound *bound,
                  cpubind_linux_status status, const cpubind_linux_fault *fault)
{
    api_text why = {"", 0};
    const int result = api_explain_bind(options, bound, status, fault, &why);
    if (bound->is_watching)
        api_add(&why, "; the watch has ended, the process stays bound");
    return cli_fail(options, result, why.text);
}

void cli_warn_outcome(const api_bound *bound, const cpubind_outcomes *report)
{
    cli_print_warnings(&bound->planned);
    api_warn_outcome(bound, report, cli_hear_warning, NULL);
}

static const words_view moved_text[] = {
    {WORDS_COUNTED, "items",
     "kind=what name? was=was_on should=belongs_on actual=served_by result"},
    {WORDS_TABLE, "memory.nodes", "node=memory_of_node was~ is~ note"},
    {WORDS_TABLE, "stays", "what=stays_away bytes~ because"},
    {WORDS_NOTE, "memory", "moved {memory.moved~} in {memory.milliseconds} ms"},
    {0}};
static const words_view found_text[] = {
    {WORDS_TABLE, "items",
     "kind=what id name was=is_on should=belongs_on actual=served_by result"},
    {WORDS_TABLE, "memory.nodes", "node=memory_of_node is~ note"},
    {WORDS_TABLE, "stays", "what=stays_away bytes~ because"},
    {0}};

/* Adds what the text says of the memory of a process; nothing where it has none. */
static void add_memory(words_value *report, const cpubind_outcomes *outcome, int is_each)
{
    const cpubind_memory_move *memory = &outcome->memory;
    words_value *json = words_get(report, "memory"), *stays = words_array();
    for (int32_t i = 0; i < words_count(words_get(json, "nodes")); i++) {
        words_value *node = words_at(words_get(json, "nodes"), i);
        const int is_home = words_integer_of(node, "node") == memory->node;
        const int is_wrong = is_each && cpubind_bind_memory_is_wrong(outcome);
        words_set(node, "note",
                  words_word(is_home    ? "belongs here"
                             : is_wrong ? "wrong"
                                        : NULL));
    }
    for (int i = 0; i < CPUBIND_STAY_COUNT; i++) {
        api_text why = {"", 0};
        if (memory->stay[i] == 0)
            continue;
        api_explain_stay(memory, (cpubind_memory_stay)i, &why);
        words_add(stays, words_make("what:s bytes:I because:s",
                                    cpubind_memory_stay_word((cpubind_memory_stay)i),
                                    (int64_t)memory->stay[i], why.text));
    }
    words_set(report, "stays", stays);
}

int cli_print_items(const api_bound *bound, const cpubind_outcomes *outcome, int is_each)
{
    words_value *report = api_report_json(bound, outcome);
    if (outcome->memory.before.total == 0)
        words_remove(report, "memory");
    else if (outcome->has_memory)
        add_memory(report, outcome, is_each);
    return cli_print_text(is_each ? found_text : moved_text, report, NULL);
}
