/* bound.c - open a process, plan for it, and find where its threads belong
 * SPDX-License-Identifier: MIT
 *
 * Changes a process only through adapters/linux/bind. BIND.md documents what each option
 * means.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../text/procfs.h"
#include "device_plan.h"
#include "nics.h"

/* How often a lock is tried again, every 10 ms. */
#define LOCK_TRIES 20

cpubind_bind_options api_bind_options(const api_options *options, int32_t pid, int is_reading)
{
    /* 0 is no limit there. A limit of one byte moves nothing, as 0 does here: no page is so
     * small. */
    const int64_t limit = options->memory_limit < 0    ? 0
                          : options->memory_limit == 0 ? 1
                                                       : options->memory_limit;
    const cpubind_bind_options how = {.pid = pid,
                                      .is_reading = is_reading,
                                      .irqbalance = options->irqbalance,
                                      .memory = options->memory,
                                      .memory_limit = limit,
                                      .memory_time_ms = (int64_t)options->memory_time * 1000,
                                      .is_watching = options->watch_ms > 0,
                                      .is_strict = options->is_strict,
                                      .is_forced = options->is_forced};
    return how;
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

cpubind_linux_status api_open_bound(const cpubind_bind_options *how, api_bound *out,
                                    cpubind_linux_fault *fault)
{
    cpubind_bind_options own = *how;
    cpubind_linux_status status;
    out->pid = own.pid;
    out->is_reading = own.is_reading;
    own.other_path = out->other_path;
    status = open_waiting(&own, &out->binding, fault);
    if (status == CPUBIND_LINUX_ERR_BUSY)
        out->holder = cpubind_bind_holder(&own, NULL, &out->is_service);
    out->is_service |= out->holder > 0 && out->holder == out->service;
    if (status == CPUBIND_LINUX_ERR_BUSY && out->is_restoring && !out->is_service &&
        cpubind_bind_end_watch(&own, NULL, NULL) == CPUBIND_LINUX_OK)
        status = open_waiting(&own, &out->binding, fault);
    return status;
}

/* Reads the CPUs that the process may use, for a plan from the files of another host. */
static int read_allowed(api_options *options, const api_bound *bound, api_text *why)
{
    const cpubind_source *source = &bound->live.source;
    const cpubind_input status = source->read(source->ctx, "proc/self/status");
    cpubind_int_list list = {NULL, CPUBIND_MAX_CPUS, 0};
    list.out = (int32_t *)malloc(CPUBIND_MAX_CPUS * sizeof *list.out);
    if (!list.out)
        return api_no_room(why);
    free(options->allowed.item);
    options->allowed.item = list.out;
    if (status.state == CPUBIND_INPUT_PRESENT)
        (void)cpubind_status_parse(status.data, status.len, CPUBIND_MAX_CPUS, &list, NULL);
    if (list.n == 0)
        return words_fail(API_UNREADABLE, why,
                          "the CPUs that the process may use are not known: /proc/<pid>/status "
                          "cannot be read; name them with --allowed LIST");
    options->allowed.n = list.n;
    options->request.allowed = list.out;
    options->request.n_allowed = list.n;
    return API_DONE;
}

/* Chooses the CPUs that are shared out: those of --allowed; else those that the process had
 * before it was bound; else those that it has. */
static int choose_allowed(api_options *options, const api_bound *bound, int is_other_host,
                          api_text *why)
{
    const cpubind_cpus before = cpubind_bind_allowed(bound->binding);
    if (options->request.allowed)
        return API_DONE;
    if (before.n > 0 && !bound->live.outer) {
        options->request.allowed = before.cpu;
        options->request.n_allowed = before.n;
        return API_DONE;
    }
    options->has_no_record = before.n == 0 && options->command != API_RUN;
    return is_other_host ? read_allowed(options, bound, why) : API_DONE;
}

/* The plan has the NPU that is named alone, whether or not it runs and is visible. */
static void choose_npu(api_options *options)
{
    cpubind_request *request = &options->request;
    request->wants_pci = 1;
    if (options->one_npu < 0)
        return;
    request->device = &options->one_npu;
    request->n_device = 1;
    request->visible = options->npu_text;
    request->visible_len = (int32_t)strlen(options->npu_text);
}

/* The arguments of make_goal. */
typedef struct making {
    const api_options *options;
    api_bound *bound;
    const cpubind_unit *unit;
} making;

static cpubind_problem_code make_goal(void *ctx, cpubind_arena *arena)
{
    const making *m = (const making *)ctx;
    api_planned *p = &m->bound->planned;
    const cpubind_unit *unit = m->unit;
    cpubind_goal_pool pool = {
        .cpu = unit->role_cpu, .roles = unit->roles, .memory_node = unit->memory_node};
    const cpubind_goal_request request = {.facts = &p->facts,
                                          .plan = &p->plan,
                                          .row = unit->row,
                                          .pool = &pool,
                                          .wish = m->options->wish,
                                          .n_wish = m->options->n_wish,
                                          .threads = m->options->threads,
                                          .moves_nics = m->options->moves_nics};
    for (int role = 0; role < CPUBIND_ALL_ROLES; role++)
        pool.n_cpu += unit->roles.span[role].count;
    cpubind_problem_clear(&p->problem);
    return cpubind_goal_make(&m->bound->live.source, &request, arena, &m->bound->goal,
                             &p->problem);
}

int api_check_arch(const api_options *options, api_bound *bound)
{
    const cpubind_source *source = &bound->live.source;
    const int is_reference =
        cpubind_rules_asked(source, &options->request) == CPUBIND_RULES_REFERENCE;
    const cpubind_input machine = source->read(source->ctx, "uname");
    const int is_arm = machine.state == CPUBIND_INPUT_PRESENT &&
                       ((machine.len >= 3 && memcmp(machine.data, "arm", 3) == 0) ||
                        (machine.len >= 7 && memcmp(machine.data, "aarch64", 7) == 0));
    if (!is_reference || is_arm || options->any_arch)
        return API_DONE;
    cpubind_problem_clear(&bound->planned.problem);
    bound->planned.code = machine.state == CPUBIND_INPUT_FAILED ? CPUBIND_PROBLEM_UNREADABLE
                                                                : CPUBIND_PROBLEM_NOT_ARM;
    bound->planned.problem.code = bound->planned.code;
    bound->planned.problem.input = "uname";
    bound->planned.problem.what = "it could not be read";
    bound->planned.problem.answer = machine;
    return (int)cpubind_problem_exit(bound->planned.code);
}

int api_prepare_bound(api_options *options, api_bound *bound, int is_other_host, api_text *why)
{
    const int32_t self = (int32_t)getpid();
    int status = api_open_live(bound->pid == self ? 0 : bound->pid, 0, &bound->live, why);
    if (status == API_DONE)
        status = choose_allowed(options, bound, is_other_host, why);
    choose_npu(options);
    return status;
}

int api_plan_bound(const api_options *options, api_bound *bound, const cpubind_source *source,
                   api_text *why)
{
    int status = api_plan(source, options, &bound->planned, why);
    if (status != API_DONE && why->len == 0 && !bound->is_reading)
        (void)api_check_arch(options, bound); /* whose refusal comes before that of the plan */
    if (status == API_DONE)
        status = api_check_rank(&bound->planned, options, why);
    if (status == API_DONE && options->wants_network &&
        !api_read_network(source, &bound->planned.facts, &bound->planned.network))
        status = api_no_room(why);
    return status;
}

int api_aim_bound(const api_options *options, api_bound *bound, int32_t unit, api_text *why)
{
    api_planned *p = &bound->planned;
    making m = {options, bound, &p->plan.unit[unit]};
    const api_row row = api_shown(&p->facts, &p->plan, unit);
    if (m.unit->row < 0 || m.unit->n_cpu == 0) {
        api_explain_row(p, options, &row, why);
        return API_REFUSED;
    }
    if (cpubind_is_listed(row.device) && !bound->is_reading &&
        api_check_arch(options, bound) != API_DONE)
        return API_REFUSED;
    bound->unit = unit;
    bound->product = cpubind_is_listed(row.device) ? NULL : row.device->accelerator.product;
    p->code = cpubind_with_arena(NULL, &bound->arena, make_goal, &m);
    bound->wish = options->wish;
    bound->n_wish = p->code == CPUBIND_PROBLEM_NONE ? options->n_wish : 0;
    return (int)cpubind_problem_exit(p->code);
}

void api_close_bound(api_bound *bound)
{
    cpubind_bind_close(bound->binding);
    api_close_host(&bound->live);
    api_close_host(&bound->host);
    api_free_planned(&bound->planned);
    free(bound->arena.base);
    memset(bound, 0, sizeof *bound);
}
