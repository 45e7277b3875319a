/* bind_common.c - open the process that the options name, plan for it, bind it
 * SPDX-License-Identifier: MIT
 *
 * Shared by apply, run, verify and restore. Changes a process only through adapters/linux/bind.
 * README.md documents what each option means.
 */
#include "bind_common.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../linux/source/host_source.h"
#include "../linux/terminal.h"
#include "../text/procfs.h"

/* How often a lock is tried again, every 10 ms. */
#define LOCK_TRIES 20

static void show_progress(void *ctx, int64_t done, int64_t total)
{
    char text[80];
    snprintf(text, sizeof text, "cpubind: moving memory: %lld of %lld MiB",
             (long long)(done >> 20), (long long)(total >> 20));
    cli_progress((const cli_options *)ctx, text);
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

static cpubind_bind_options how_of(const cli_options *options, int32_t pid, int is_reading)
{
    /* 0 is no limit there. A limit of one byte moves nothing, as 0 does here: no page is so
     * small. */
    const int64_t limit = options->memory_limit < 0    ? 0
                          : options->memory_limit == 0 ? 1
                                                       : options->memory_limit;
    cpubind_bind_options how = {.pid = pid,
                                .is_reading = is_reading,
                                .record_path = options->state,
                                .irqbalance = options->irqbalance,
                                .memory = options->memory,
                                .memory_limit = limit,
                                .memory_time_ms = (int64_t)options->memory_time * 1000,
                                .stop = is_signalled,
                                .is_watching = options->watch_ms > 0,
                                .is_strict = options->is_strict,
                                .is_forced = options->is_forced};
    if (!options->quiet && cpubind_linux_is_terminal(fileno(stderr))) {
        how.progress = show_progress;
        how.progress_ctx = (void *)options;
    }
    return how;
}

cpubind_bind_options cli_bind_options(const cli_options *options)
{
    return how_of(options, 0, 0);
}

/* Opens the process, and waits a short time for its lock: a cpubind that was killed while it
 * started npu-smi leaves a child that holds the lock for some milliseconds, until exec. A lock
 * that is held longer belongs to a cpubind at work. */
static cpubind_linux_status open_waiting(const cpubind_bind_options *how, cpubind_binding **out,
                                         cpubind_linux_fault *fault)
{
    const struct timespec pause = {0, 10000000};
    cpubind_linux_status status = cpubind_bind_open(how, NULL, out, fault);
    for (int i = 0; i < LOCK_TRIES && status == CPUBIND_LINUX_ERR_BUSY; i++) {
        (void)nanosleep(&pause, NULL);
        status = cpubind_bind_open(how, NULL, out, fault);
    }
    return status;
}

int cli_open_bound(const cli_options *options, int is_reading, cli_bound *out)
{
    cpubind_bind_options how;
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status status;
    if (out->pid == 0)
        out->pid = options->pid;
    if (out->pid == 0 && cli_choose_parent(options, out) != CLI_DONE)
        return CLI_REFUSED;
    out->is_reading = is_reading;
    how = how_of(options, out->pid, is_reading);
    how.other_path = out->other_path;
    status = open_waiting(&how, &out->binding, &fault);
    if (status == CPUBIND_LINUX_ERR_BUSY && out->is_restoring &&
        cpubind_bind_end_watch(&how, NULL, NULL) == CPUBIND_LINUX_OK)
        status = open_waiting(&how, &out->binding, &fault);
    if (status == CPUBIND_LINUX_ERR_BUSY)
        out->holder = cpubind_bind_holder(&how, NULL);
    if (status != CPUBIND_LINUX_OK)
        return cli_fail_bind(options, out, status, &fault);
    return CLI_DONE;
}

void cli_close_bound(cli_bound *bound)
{
    cpubind_bind_close(bound->binding);
    cli_close_host(&bound->live);
    cli_close_host(&bound->host);
    cli_free_planned(&bound->planned);
    free(bound->arena.base);
    memset(bound, 0, sizeof *bound);
}

/* == The plan =============================================================== */

/* Reads the CPUs that the process may use, for a plan from the files of another host. */
static int read_allowed(cli_options *options, const cli_bound *bound)
{
    static int32_t cpus[CPUBIND_MAX_CPUS];
    const cpubind_source *source = &bound->live.source;
    const cpubind_input status = source->read(source->ctx, "proc/self/status");
    cpubind_int_list list = {cpus, CPUBIND_MAX_CPUS, 0};
    if (status.state != CPUBIND_INPUT_PRESENT ||
        cpubind_status_parse(status.data, status.len, &list, NULL) != CPUBIND_TEXT_OK ||
        list.n == 0)
        return cli_fail(options, CLI_UNREADABLE,
                        "the CPUs that the process may use are not known: /proc/<pid>/status "
                        "cannot be read; name them with --allowed LIST");
    options->request.allowed = cpus;
    options->request.n_allowed = list.n;
    return CLI_DONE;
}

/* Chooses the CPUs that are shared out: those of --allowed; else those that the process had
 * before it was bound; else those that it has. */
static int choose_allowed(cli_options *options, const cli_bound *bound)
{
    const cpubind_cpus before = cpubind_bind_allowed(bound->binding);
    if (options->request.allowed)
        return CLI_DONE;
    if (before.n > 0) {
        options->request.allowed = before.cpu;
        options->request.n_allowed = before.n;
        return CLI_DONE;
    }
    options->has_no_record = options->command != CLI_RUN;
    return options->root || options->fixture ? read_allowed(options, bound) : CLI_DONE;
}

/* With --npu N the plan has that NPU alone, whether or not it runs and is visible. */
static void choose_npu(cli_options *options)
{
    cpubind_request *request = &options->request;
    request->wants_pci = 1;
    if (options->one_npu < 0)
        return;
    request->npu = &options->one_npu;
    request->n_npu = 1;
    request->visible = options->npu_text;
    request->visible_len = (int32_t)strlen(options->npu_text);
}

/* Plans this host, or the host that the options name. */
static int make_plan(const cli_options *options, cli_bound *bound)
{
    const int is_live = !options->root && !options->fixture;
    const cpubind_source *source = &bound->live.source;
    cli_text why = {"", 0};
    int status = is_live ? CLI_DONE : cli_open_host(options, &bound->host, &why);
    if (status != CLI_DONE)
        return cli_fail(options, status, why.text);
    if (is_live)
        cli_progress(options, "cpubind: asking npu-smi ...");
    cli_make(is_live ? source : &bound->host.source, &options->request, &bound->planned);
    if (is_live)
        cli_progress(options, NULL);
    if (bound->planned.code != CPUBIND_PROBLEM_NONE)
        status = cli_refuse(options, &bound->planned);
    return status;
}

/* The arguments of make_goal. */
typedef struct making {
    const cli_options *options;
    cli_bound *bound;
} making;

static cpubind_problem_code make_goal(void *ctx, cpubind_arena *arena)
{
    const making *m = (const making *)ctx;
    cli_planned *p = &m->bound->planned;
    const cpubind_goal_request request = {.facts = &p->facts,
                                          .plan = &p->plan,
                                          .row = p->plan.rank_row,
                                          .wish = m->options->wish,
                                          .n_wish = m->options->n_wish,
                                          .threads = m->options->threads};
    cpubind_problem_clear(&p->problem);
    return cpubind_goal_make(&m->bound->live.source, &request, arena, &m->bound->goal,
                             &p->problem);
}

/* Refuses a machine that is not ARM, unless --any-arch is given. */
int cli_check_arch(const cli_options *options, cli_bound *bound)
{
    const cpubind_source *source = &bound->live.source;
    const cpubind_input machine = source->read(source->ctx, "uname");
    const int is_arm = machine.state == CPUBIND_INPUT_PRESENT &&
                       ((machine.len >= 3 && memcmp(machine.data, "arm", 3) == 0) ||
                        (machine.len >= 7 && memcmp(machine.data, "aarch64", 7) == 0));
    if (is_arm || options->any_arch)
        return CLI_DONE;
    cpubind_problem_clear(&bound->planned.problem);
    bound->planned.code = CPUBIND_PROBLEM_NOT_ARM;
    bound->planned.problem.code = CPUBIND_PROBLEM_NOT_ARM;
    return cli_refuse(options, &bound->planned);
}

int cli_plan_bound(cli_options *options, cli_bound *bound)
{
    const int32_t self = (int32_t)getpid();
    cli_text why = {"", 0};
    int status = cli_open_live(bound->pid == self ? 0 : bound->pid, 0, &bound->live, &why);
    if (status != CLI_DONE)
        return cli_fail(options, status, why.text);
    if (!bound->is_reading)
        status = cli_check_arch(options, bound);
    if (status == CLI_DONE)
        status = choose_allowed(options, bound);
    if (status != CLI_DONE)
        return status;
    choose_npu(options);
    status = make_plan(options, bound);
    if (status != CLI_DONE)
        return status;
    bound->planned.code = cli_with_arena(&bound->arena, make_goal, &(making){options, bound});
    if (bound->planned.code != CPUBIND_PROBLEM_NONE)
        return cli_refuse(options, &bound->planned);
    return CLI_DONE;
}

/* == Binding ================================================================ */

int cli_apply_bound(const cli_options *options, cli_bound *bound)
{
    cpubind_linux_fault fault = {.what = ""};
    const int is_moving =
        options->memory == CPUBIND_MEMORY_MIGRATE || options->memory == CPUBIND_MEMORY_ALL;
    if (is_moving)
        cli_catch_signals();
    cpubind_linux_status status = cpubind_bind_apply(bound->binding, &bound->goal, &fault);
    if (is_moving)
        cli_release_signals();
    bound->is_stopped = signalled != 0;
    cli_progress(options, NULL);
    if (status != CPUBIND_LINUX_OK)
        return cli_fail_bind(options, bound, status, &fault);
    cpubind_bind_sweep(NULL);
    return CLI_DONE;
}
