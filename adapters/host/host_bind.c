/* host_bind.c - binding all workers of a host: finding them, binding each, one watch
 * SPDX-License-Identifier: MIT
 *
 * The bindings do what is done to processes; this file decides which processes have one. A
 * failure of one process stops no other.
 */
#define _GNU_SOURCE
#include "host_bind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../linux/kernel/process.h"
#include "../text/cpulist.h"
#include "host_rows.h"

/* Events ask for a listing: it comes this much later, and again, since a process that has
 * started needs time until it opens its device. */
#define LIST_MS 200
#define N_LATE  4

/* Periods between two tries of a process that cannot be bound, at most. */
#define MAX_PAUSE 64

/* A process whose threads another program moves in so many periods in a row is kept by it. */
#define MAX_MOVED_BACK 3

/* How long a watch of many processes waits for the record of the host: none of the others is
 * looked at meanwhile, and what is left undone is done at the end of a period. */
#define HOST_WAIT_MS 2000

/* == Opening ================================================================ */

cpubind_linux_status cpubind_host_bind_open(const cpubind_host_options *options,
                                            cpubind_host_bind **out, cpubind_linux_fault *fault)
{
    const cpubind_sys *sys = options->sys ? options->sys : &cpubind_sys_real;
    const cpubind_linux_live live = {.limit_ms = CPUBIND_LIVE_LIMIT_MS, .sys = sys};
    cpubind_linux_fault why = {.error = ENOMEM, .what = "memory"};
    cpubind_linux_status status = CPUBIND_LINUX_ERR_MEMORY;
    cpubind_host_bind *h = (cpubind_host_bind *)sys->malloc(sizeof *h);
    *out = NULL;
    if (!h)
        return cpubind_linux_fail(status, ENOMEM, "memory", fault);
    *h = (cpubind_host_bind){
        .sys = sys, .options = *options, .root = {sys, -1, CPUBIND_REACH_ANYWHERE}};
    h->is_engine_found = options->request.engine.engine == CPUBIND_ENGINE_AUTO;
    if (h->is_engine_found)
        h->options.request.engine = (cpubind_engine_request){.engine = CPUBIND_ENGINE_NONE};
    status = cpubind_group_open(sys, &h->group, &why);
    if (status == CPUBIND_LINUX_OK)
        status = cpubind_linux_open_live(&live, &h->facts_host, &why);
    if (status == CPUBIND_LINUX_OK) {
        why = cpubind_root_live(&h->root, sys);
        status = why.error ? CPUBIND_LINUX_ERR_OPEN : CPUBIND_LINUX_OK;
    }
    if (status == CPUBIND_LINUX_OK && options->tree) {
        why = cpubind_host_read_tree(h);
        status = why.error ? CPUBIND_LINUX_ERR_OPEN : CPUBIND_LINUX_OK;
    }
    if (status != CPUBIND_LINUX_OK) {
        cpubind_host_bind_close(h);
        return cpubind_linux_end(status, why, fault);
    }
    *out = h;
    return CPUBIND_LINUX_OK;
}

static void free_entry(host_entry *e)
{
    cpubind_worker_free(&e->row);
    free((void *)e->main.cpu);
    free(e);
}

void cpubind_host_bind_close(cpubind_host_bind *h)
{
    if (!h)
        return;
    for (int32_t i = 0; i < h->n; i++)
        free_entry(h->entry[i]);
    free(h->entry);
    cpubind_group_close(h->group);
    cpubind_linux_close(h->facts_host);
    cpubind_linux_close(h->live);
    cpubind_host_free_plans(h);
    free(h->goal_arena.base);
    free(h->list_arena.base);
    free(h->strangers.row);
    free((void *)h->tree_cpus.cpu);
    free(h->in_tree.id);
    free(h->child.row);
    if (h->root.fd >= 0)
        h->sys->close(h->root.fd);
    free(h);
}

/* == Entries ================================================================ */

static int compare(const void *a, const void *b)
{
    const host_entry *x = *(host_entry *const *)a, *y = *(host_entry *const *)b;
    if ((x->row.device < 0) != (y->row.device < 0))
        return x->row.device < 0 ? 1 : -1;
    if (x->row.device != y->row.device)
        return x->row.device < y->row.device ? -1 : 1;
    if (x->order_start != y->order_start)
        return x->order_start < y->order_start ? -1 : 1;
    return (x->order_pid > y->order_pid) - (x->order_pid < y->order_pid);
}

/* A process of several devices has whole pools, and a child what its worker has: they are not
 * counted. */
static int is_of_device(const host_entry *e, int32_t device)
{
    return e->row.device >= 0 && e->row.device == device && !host_is_joint(e) &&
           !e->row.parent && !e->is_stale && e->row.state != CPUBIND_HOST_ENDED;
}

/* Sorts the entries, and numbers the workers of each device that have not ended. */
static void number_entries(cpubind_host_bind *h)
{
    if (h->n > 0)
        qsort(h->entry, (size_t)h->n, sizeof(host_entry *), compare);
    for (int32_t i = 0; i < h->n; i++) {
        cpubind_worker *row = &h->entry[i]->row;
        if (row->parent || h->entry[i]->is_stale)
            continue;
        row->n_process = row->process = 0;
        for (int32_t k = 0; k < h->n; k++) {
            const int32_t device = host_is_joint(h->entry[i]) ? -1 : h->entry[i]->row.device;
            row->n_process += is_of_device(h->entry[k], device);
            row->process += k < i && is_of_device(h->entry[k], device);
        }
    }
}

static void drop_entry(cpubind_host_bind *h, int32_t i)
{
    h->is_old |= h->entry[i]->row.device >= 0 && !h->entry[i]->row.parent;
    free_entry(h->entry[i]);
    memmove(h->entry + i, h->entry + i + 1, (size_t)(--h->n - i) * sizeof *h->entry);
}

/* A bound process that uses its device no more, or never did but by its variables, takes
 * nothing from those that do. */
static void mark_stale(cpubind_host_bind *h)
{
    for (int32_t i = 0; i < h->n; i++) {
        host_entry *e = h->entry[i];
        const int was_stale = e->is_stale;
        e->is_stale = 0;
        for (int32_t k = 0; k < h->n && !e->is_listed && e->row.device >= 0; k++)
            e->is_stale |= h->entry[k]->is_listed && !h->entry[k]->row.parent &&
                           h->entry[k]->row.device == e->row.device;
        h->is_old |= e->is_stale != was_stale && !e->row.parent;
    }
}

static cpubind_host_claim claim_of(const cpubind_host_bind *h, const host_entry *e)
{
    return h->options.claim ? h->options.claim(h->options.claim_ctx, e->row.pid, e->row.start)
                            : CPUBIND_CLAIM_NONE;
}

/* Adds the processes on record that are no entries and live; for a watch those alone that no
 * other cpubind works on. */
static void add_recorded(cpubind_host_bind *h, int is_watch)
{
    int32_t *pid = NULL, n = 0;
    if (cpubind_bind_list(h->sys, &pid, &n, NULL) != CPUBIND_LINUX_OK)
        return;
    for (int32_t i = 0; i < n; i++) {
        const cpubind_bind_options how = {.pid = pid[i], .is_reading = 1};
        const int32_t holder = is_watch ? cpubind_bind_holder(&how, h->sys, NULL) : 0;
        cpubind_binding *b = NULL;
        host_entry *e = cpubind_host_find(h, pid[i]);
        if (e)
            e->is_listed |= e->is_recorded;
        if (e || (is_watch && cpubind_host_parent(h, pid[i])) ||
            (holder != 0 && holder != pid[i]) ||
            cpubind_bind_open(&how, h->sys, &b, NULL) != CPUBIND_LINUX_OK)
            continue;
        if (cpubind_bind_is_alive(b))
            e = cpubind_host_add_process(h, pid[i]);
        if (e)
            e->is_recorded = 1;
        cpubind_bind_close(b);
    }
    free(pid);
}

/* Lists who is a worker or an other now, and drops the entries of processes that are none any
 * more; one that is bound stays until it ends.
 *   returns 0 when the workers are not known: the entries are as before */
static int list_all(cpubind_host_bind *h)
{
    cpubind_linux_fault why = cpubind_no_fault;
    for (int32_t i = 0; i < h->n; i++)
        h->entry[i]->is_listed = 0;
    h->list_problem = cpubind_host_list_workers(h);
    if (h->list_problem.code != CPUBIND_PROBLEM_NONE)
        return 0;
    if (h->is_engine_found)
        cpubind_host_find_engine(h);
    if (h->options.keeps_others || h->options.request.engine.engine != CPUBIND_ENGINE_NONE)
        why = cpubind_host_list_others(h);
    if (h->options.claim)
        add_recorded(h, 1);
    for (int32_t i = h->n; i-- > 0 && !why.error;)
        if (!h->entry[i]->is_listed && h->entry[i]->row.state != CPUBIND_HOST_BOUND)
            drop_entry(h, i);
    mark_stale(h);
    number_entries(h);
    return 1;
}

/* == One process ============================================================ */

static void set_state(host_entry *e, cpubind_host_state state)
{
    e->row.is_news |= e->row.state != state || e->is_new;
    e->is_new = 0;
    e->row.state = state;
    e->pause = state == CPUBIND_HOST_BOUND ? 0
               : e->pause == 0             ? 1
               : e->pause < MAX_PAUSE      ? e->pause * 2
                                           : MAX_PAUSE;
    e->wait = e->pause;
}

static void close_binding(host_entry *e)
{
    cpubind_bind_close(e->row.binding);
    e->row.binding = NULL;
    e->row.report = NULL;
    e->row.record_path = "";
    e->goal_sum = 0;
}

/* The process has ended: puts back what it used on the host. */
static void end_entry(cpubind_host_bind *h, host_entry *e)
{
    if (e->row.binding)
        (void)cpubind_bind_restore(e->row.binding, NULL);
    close_binding(e);
    set_state(e, CPUBIND_HOST_ENDED);
    h->is_old |= e->row.device >= 0 && !e->row.parent;
}

static void fail(cpubind_host_bind *h, host_entry *e, cpubind_linux_status status,
                 cpubind_linux_fault fault)
{
    const int is_other_fault = e->row.status != status || e->row.fault.error != fault.error;
    if (status == CPUBIND_LINUX_ERR_GONE && fault.error == ESRCH) {
        end_entry(h, e);
        return;
    }
    e->row.status = status;
    e->row.fault = fault;
    set_state(e, status == CPUBIND_LINUX_ERR_BUSY ? CPUBIND_HOST_BUSY : CPUBIND_HOST_FAILED);
    e->row.is_news |= is_other_fault;
}

/* Whether the binding that a process has is kept: the owner has not taken it, or it drives
 * nothing that there is a plan for. What a measurement has left is nobody's. */
static int is_to_adopt(const cpubind_host_bind *h, const host_entry *e)
{
    const int is_taken = claim_of(h, e) == CPUBIND_CLAIM_TAKE || h->takes_all;
    return h->options.claim && cpubind_bind_allowed(e->row.binding).n > 0 &&
           !cpubind_bind_measurer(e->row.binding) &&
           (!is_taken || (e->is_recorded && e->row.device < 0));
}

/* Opens the binding of an entry.
 *   returns 1 when it is open */
static int open_entry(cpubind_host_bind *h, host_entry *e)
{
    cpubind_bind_options how = h->options.bind;
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status status = CPUBIND_LINUX_OK;
    how.pid = e->row.pid;
    how.other_path = e->row.other_path;
    how.host_wait_ms = how.is_watching ? HOST_WAIT_MS : 0;
    if (e->row.device < 0 || e->row.parent)
        how.memory = CPUBIND_MEMORY_NONE;
    if (e->was_other && e->row.device >= 0)
        close_binding(e);
    if (!e->row.binding) {
        e->was_other = e->row.device < 0;
        status = cpubind_bind_open(&how, h->sys, &e->row.binding, &fault);
    }
    if (status != CPUBIND_LINUX_OK) {
        if (status == CPUBIND_LINUX_ERR_BUSY)
            e->row.holder = cpubind_bind_holder(&how, h->sys, NULL);
        fail(h, e, status, fault);
        return 0;
    }
    if (!cpubind_bind_is_alive(e->row.binding)) {
        end_entry(h, e);
        return 0;
    }
    if (!e->row.record_path[0]) {
        cpubind_group_join(h->group, e->row.binding);
        e->row.is_adopted = is_to_adopt(h, e);
    }
    e->row.record_path = cpubind_bind_record_path(e->row.binding);
    return 1;
}

/* Leaves a process alone. */
static void leave(host_entry *e, int is_kept_moving)
{
    e->row.is_kept_moving = is_kept_moving;
    close_binding(e);
    set_state(e, CPUBIND_HOST_LEFT);
}

static uint64_t sum_of_text(const char *text)
{
    return cpubind_sum(CPUBIND_SUM, text, strlen(text));
}

static uint64_t sum_of_main(const cpubind_goal *goal)
{
    char text[4096] = "";
    int32_t len = 0;
    (void)cpubind_cpulist_format(goal->main.cpu, goal->main.n, text, (int32_t)sizeof text,
                                 &len);
    return sum_of_text(text);
}

/* Watches a process that somebody else has bound: it is moved when the plan for it changes. */
static void adopt_entry(cpubind_host_bind *h, host_entry *e, uint64_t sum)
{
    if (e->row.state == CPUBIND_HOST_BOUND && e->goal_sum == sum)
        return;
    if (!e->row.parent)
        (void)cpubind_worker_keep(h->sys, cpubind_bind_main(e->row.binding), &e->main);
    e->goal_sum = sum;
    e->main_sum = 0;
    e->row.is_news = 1;
    set_state(e, CPUBIND_HOST_BOUND);
}

static void apply_entry(cpubind_host_bind *h, host_entry *e)
{
    cpubind_goal goal;
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status status;
    uint64_t sum = 0;
    const int has_plan = e->row.device >= 0 || !e->is_recorded;
    const int is_planned =
        has_plan &&
        cpubind_host_make_goal(h, e, &goal, &sum, &e->row.problem) == CPUBIND_PROBLEM_NONE;
    if (e->row.is_adopted && (!is_planned || e->goal_sum == 0)) {
        adopt_entry(h, e, is_planned ? sum : 0);
        return;
    }
    if (!has_plan) { /* it was restored meanwhile */
        leave(e, 0);
        return;
    }
    if (!is_planned) {
        fail(h, e, CPUBIND_LINUX_OK, cpubind_no_fault);
        return;
    }
    if (e->goal_sum == sum && e->row.state == CPUBIND_HOST_BOUND)
        return;
    if (h->options.claim)
        h->options.take(h->options.claim_ctx, e->row.pid, e->row.start);
    e->row.is_adopted = 0;
    e->goal_sum = sum;
    e->main_sum = sum_of_main(&goal);
    e->row.is_sharing = goal.is_shared;
    if (!e->row.parent)
        (void)cpubind_worker_keep(h->sys, goal.main, &e->main);
    status = cpubind_bind_apply(e->row.binding, &goal, &fault);
    e->row.report = cpubind_bind_report(e->row.binding);
    e->row.is_news = 1;
    if (status == CPUBIND_LINUX_OK)
        set_state(e, CPUBIND_HOST_BOUND);
    else
        fail(h, e, status, fault);
}

/* Whether a process may be tried now: it is no worker that is left alone, and its pause after a
 * failure is over. */
static int is_due(const host_entry *e)
{
    return e->row.state == CPUBIND_HOST_BOUND ||
           (e->row.state != CPUBIND_HOST_LEFT && e->row.state != CPUBIND_HOST_ENDED &&
            !host_is_refused(e) && e->wait == 0);
}

/* A bound process stays open; one that was bound by another record before is no stranger. */
static int is_to_leave(const cpubind_host_bind *h, const host_entry *e)
{
    return h->options.respects_masks && e->row.has_own_mask &&
           e->row.state != CPUBIND_HOST_BOUND && cpubind_bind_allowed(e->row.binding).n == 0;
}

static int is_stopped(const cpubind_host_bind *h)
{
    return h->options.bind.stop && h->options.bind.stop(h->options.bind.stop_ctx);
}

/* Reads who a process is, which the claims and `wants` ask. Returns 0 where that is not known
 * now: a process that is not bound is not bound then.
 *   out     name: of its main thread; "": it has ended */
static int is_known(cpubind_host_bind *h, host_entry *e, char name[sizeof e->row.program])
{
    cpubind_proc_stat stat = {.start = e->row.start};
    const cpubind_linux_fault why = cpubind_proc_stat_read(&h->root, e->row.pid, 0, &stat);
    memcpy(name, stat.name, sizeof stat.name);
    if (why.error && why.error != ESRCH && e->row.state != CPUBIND_HOST_BOUND) {
        if (e->row.state != CPUBIND_HOST_LEFT)
            fail(h, e, CPUBIND_LINUX_ERR_OPEN, why);
        return 0;
    }
    if (!why.error && e->row.start != stat.start && e->row.state != CPUBIND_HOST_BOUND) {
        e->row.start = e->order_start =
            stat.start; /* the number may be that of another one now */
        *e->row.program = '\0';
    }
    if (!*e->row.program)
        e->row.has_program = cpubind_bind_program(e->row.pid, h->sys, e->row.program);
    return 1;
}

/* Whether the options leave a process alone that is not bound yet. */
static int is_unwanted(const cpubind_host_bind *h, const host_entry *e, const char *name)
{
    return h->options.wants && *name && e->row.state != CPUBIND_HOST_BOUND &&
           !e->row.is_let_go && claim_of(h, e) != CPUBIND_CLAIM_ADOPT &&
           !h->options.wants(h->options.wants_ctx, e->row.program, name);
}

static int is_entry(const void *ctx, int32_t pid)
{
    return cpubind_host_find((const cpubind_host_bind *)ctx, pid) != NULL;
}

/* Says which processes are bound by plans of other rules, but for those that this plan is
 * for. */
static void hear_rules(cpubind_host_bind *h)
{
    const char *rules = cpubind_host_rules(h);
    cpubind_other_rules others;
    if (!h->options.hear_rules || h->plan.code != CPUBIND_PROBLEM_NONE)
        return;
    others = cpubind_bind_find_other_rules(rules, is_entry, h, h->sys);
    if (others.n > 0 && others.n != h->n_other_rules)
        h->options.hear_rules(h->options.hear_rules_ctx, &others, rules);
    h->n_other_rules = others.n;
}

/* Binds every entry that is due; plans again when the workers have changed. */
static void bind_all(cpubind_host_bind *h)
{
    const cpubind_linux_live live = {.limit_ms = CPUBIND_LIVE_LIMIT_MS, .sys = h->sys};
    cpubind_linux_fault why;
    int is_any = 0;
    for (int32_t i = 0; i < h->n; i++) {
        host_entry *e = h->entry[i];
        const int was_left = e->row.is_unwanted || e->row.is_let_go;
        char name[sizeof e->row.program] = "";
        int is_left;
        if (e->row.parent || e->row.state == CPUBIND_HOST_ENDED ||
            ((h->options.wants || h->options.claim) && !is_known(h, e, name)))
            continue;
        e->row.is_let_go = claim_of(h, e) == CPUBIND_CLAIM_LEAVE;
        e->row.is_unwanted = is_unwanted(h, e, name);
        is_left = e->row.is_unwanted || e->row.is_let_go;
        if (is_left && (!was_left || e->row.state == CPUBIND_HOST_BOUND))
            leave(e, 0);
        if (was_left && !is_left && e->row.state == CPUBIND_HOST_LEFT) {
            e->row.state = CPUBIND_HOST_UNBOUND;
            e->wait = 0;
        }
        if (is_left || !is_due(e) || !open_entry(h, e))
            continue;
        if (is_to_leave(h, e))
            leave(e, 0);
        else
            is_any |= e->row.state != CPUBIND_HOST_BOUND;
    }
    if (!is_any && !h->is_old)
        return;
    number_entries(h);
    cpubind_linux_close(h->live);
    h->live = NULL;
    if (cpubind_linux_open_live(&live, &h->live, &why) != CPUBIND_LINUX_OK) {
        cpubind_problem_clear(&h->list_problem);
        h->list_problem.code =
            why.error == ENOMEM ? CPUBIND_PROBLEM_NO_MEMORY : CPUBIND_PROBLEM_UNREADABLE;
        h->list_problem.input = "/";
        h->list_problem.what = "it could not be opened";
        return; /* the next period tries again */
    }
    if (h->is_old && cpubind_host_make_plan(h) == CPUBIND_PROBLEM_NONE)
        h->is_old = 0;
    hear_rules(h);
    for (int32_t i = 0; i < h->n && !is_stopped(h); i++)
        if (h->entry[i]->row.binding && is_due(h->entry[i]) && !h->entry[i]->row.parent &&
            !h->entry[i]->is_stale)
            apply_entry(h, h->entry[i]);
    cpubind_bind_sweep(h->sys);
}

/* Binds the children that are not where their workers are: after these. */
static void bind_children(cpubind_host_bind *h)
{
    cpubind_host_add_strays(h);
    for (int32_t i = 0; i < h->n && !is_stopped(h); i++) {
        host_entry *e = h->entry[i];
        const host_entry *parent = e->row.parent ? cpubind_host_find(h, e->row.parent) : NULL;
        if (parent && claim_of(h, e) == CPUBIND_CLAIM_LEAVE) {
            e->row.is_let_go = 1;
            leave(e, 0);
            e->row.is_news = 0; /* it may be an entry anew each time */
            continue;
        }
        if (!parent || parent->row.state != CPUBIND_HOST_BOUND || !is_due(e) ||
            !open_entry(h, e))
            continue;
        if (is_to_leave(h, e))
            leave(e, 0);
        else
            apply_entry(h, e);
    }
}

/* == All processes ========================================================== */

/* Begins a call: no row has news, and those of ended processes are gone. */
static void begin_call(cpubind_host_bind *h)
{
    for (int32_t i = h->n; i-- > 0;) {
        if (h->entry[i]->row.state == CPUBIND_HOST_ENDED)
            drop_entry(h, i);
        else
            h->entry[i]->row.is_news = h->entry[i]->row.is_regranted = 0;
    }
}

/* Reads the facts, unless that is done. */
static cpubind_problem_code read_facts(cpubind_host_bind *h)
{
    if (h->facts.has_facts || cpubind_host_read_facts(h) == CPUBIND_PROBLEM_NONE)
        return CPUBIND_PROBLEM_NONE;
    h->plan.code = h->facts.code;
    h->plan.problem = h->facts.problem;
    return h->plan.code;
}

static cpubind_problem_code find_all(cpubind_host_bind *h)
{
    begin_call(h);
    if (read_facts(h) != CPUBIND_PROBLEM_NONE)
        return h->plan.code;
    if (!list_all(h)) {
        h->plan.problem = h->list_problem;
        h->plan.code = h->list_problem.code;
    }
    return h->list_problem.code;
}

cpubind_problem_code cpubind_host_bind_prepare(cpubind_host_bind *h)
{
    return read_facts(h) == CPUBIND_PROBLEM_NONE ? cpubind_host_make_plan(h) : h->plan.code;
}

cpubind_problem_code cpubind_host_bind_find(cpubind_host_bind *h)
{
    const cpubind_problem_code code = find_all(h);
    return code != CPUBIND_PROBLEM_NONE || h->n == 0 ? code : cpubind_host_make_plan(h);
}

cpubind_problem_code cpubind_host_bind_goal(cpubind_host_bind *h, int32_t pid,
                                            cpubind_arena *arena, cpubind_goal *out,
                                            uint64_t *sum, cpubind_problem *problem)
{
    host_entry *e = cpubind_host_find(h, pid);
    cpubind_problem_code code = CPUBIND_PROBLEM_BAD_REQUEST;
    *sum = 0;
    cpubind_problem_clear(problem);
    if (e && e->row.device >= 0 && !e->row.parent && !host_is_refused(e))
        code = cpubind_host_make_goal(h, e, out, sum, problem);
    *arena = h->goal_arena;
    h->goal_arena = (cpubind_arena){NULL, 0, 0};
    return code;
}

cpubind_problem_code cpubind_host_bind_survey(cpubind_host_bind *h)
{
    h->is_survey = 1;
    if (read_facts(h) != CPUBIND_PROBLEM_NONE)
        return h->plan.code;
    (void)list_all(h);
    number_entries(h); /* those that are known, where not all are */
    (void)cpubind_host_make_plan(h);
    return CPUBIND_PROBLEM_NONE;
}

const cpubind_problem *cpubind_host_bind_unlisted(const cpubind_host_bind *h)
{
    return &h->list_problem;
}

cpubind_problem_code cpubind_host_bind_apply(cpubind_host_bind *h)
{
    cpubind_problem_code code;
    if (h->options.bind.is_watching) { /* before anything is looked at: nothing is missed */
        h->no_events = cpubind_no_fault;
        (void)cpubind_group_watch(h->group, &h->no_events);
    }
    code = find_all(h);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (h->n == 0)
        return CPUBIND_PROBLEM_NONE;
    bind_all(h);
    bind_children(h);
    return h->plan.code;
}

/* == Watching =============================================================== */

/* Counts the periods in a row at whose end threads had been moved elsewhere: not those that
 * were just born, which are where main threads are. */
static void count_moved_back(cpubind_host_bind *h, host_entry *e)
{
    const cpubind_outcomes *r = e->row.report;
    int is_moved = 0;
    for (int32_t i = 0; i < r->n; i++) {
        const cpubind_item *item = &r->item[i];
        is_moved |= item->kind == CPUBIND_ITEM_THREAD &&
                    ((item->result == CPUBIND_ITEM_SKIPPED && item->error == EAGAIN) ||
                     (item->result == CPUBIND_ITEM_MOVED && item->was &&
                      sum_of_text(item->was) != e->main_sum));
    }
    e->n_moved_back = is_moved && e->main_sum != 0 ? e->n_moved_back + 1 : 0;
    if (e->n_moved_back < MAX_MOVED_BACK || !h->options.respects_masks)
        return;
    (void)cpubind_bind_restore(e->row.binding, NULL);
    leave(e, 1);
}

static void look_again(cpubind_host_bind *h, host_entry *e, const cpubind_group_news *news)
{
    cpubind_linux_fault fault = {.what = ""};
    cpubind_linux_status status;
    if (news->has_ended && cpubind_has_ended(&h->root, e->row.pid, e->row.start)) {
        end_entry(h, e);
        return;
    }
    e->row.report = NULL;
    if (!cpubind_group_is_due(e->row.binding))
        return;
    status = cpubind_bind_again(e->row.binding, &fault);
    e->row.report = cpubind_bind_report(e->row.binding);
    e->row.is_news = e->row.report->n > 0;
    if (status == CPUBIND_LINUX_ERR_GONE)
        end_entry(h, e);
    else if (status != CPUBIND_LINUX_OK) /* its record was removed or replaced */
        fail(h, e, status, fault);
    else if (news->is_period)
        count_moved_back(h, e);
    if (e->row.state == CPUBIND_HOST_FAILED)
        close_binding(e);
}

/* Whether the workers are to be listed now. Events ask for that: the listings of one storm of
 * events are one, some time later, and a few more. */
static int is_list_due(cpubind_host_bind *h, const cpubind_group_news *news)
{
    const int64_t now_ms = cpubind_now_ms();
    if (news->has_other) {
        h->n_late = N_LATE;
        if (h->next_list_ms == 0)
            h->next_list_ms = now_ms + LIST_MS;
    }
    if (!news->is_period && (h->next_list_ms == 0 || now_ms < h->next_list_ms))
        return 0;
    h->next_list_ms = h->n_late-- > 0 ? now_ms + LIST_MS : 0;
    return 1;
}

void cpubind_host_bind_again(cpubind_host_bind *h, int32_t period_ms)
{
    const int64_t until_ms = h->next_list_ms - cpubind_now_ms();
    cpubind_group_news news;
    news = cpubind_group_wait(h->group, period_ms,
                              h->next_list_ms == 0 ? -1
                              : until_ms > 0       ? (int32_t)until_ms
                                                   : 0);
    begin_call(h);
    if (news.why.error)
        h->no_events = news.why;
    if (news.is_period)
        cpubind_host_read_cpusets(h);
    for (int32_t i = 0; i < h->n; i++) {
        host_entry *e = h->entry[i];
        e->wait -= news.is_period && e->wait > 0;
        if (e->row.is_regranted && !e->row.is_adopted) {
            e->goal_sum = 0; /* the goal of now may lie outside: bind_all makes another one */
            e->wait = 0;
        } else if (e->row.binding && e->row.state == CPUBIND_HOST_BOUND) {
            look_again(h, e, &news);
        }
    }
    if (is_list_due(h, &news))
        (void)list_all(h);
    if (h->is_old || news.is_period || h->next_list_ms != 0) {
        bind_all(h);
        bind_children(h);
    }
}

int cpubind_host_bind_is_over(cpubind_host_bind *h)
{
    for (int32_t i = 0; i < h->n; i++)
        if (h->entry[i]->row.state != CPUBIND_HOST_ENDED)
            return 0;
    return cpubind_has_ended(&h->root, h->options.tree, h->tree_start);
}

void cpubind_host_bind_end(cpubind_host_bind *h)
{
    begin_call(h);
    for (int32_t i = 0; i < h->n; i++)
        if (cpubind_has_ended(&h->root, h->entry[i]->row.pid, h->entry[i]->row.start))
            end_entry(h, h->entry[i]);
}

void cpubind_host_bind_wake_at(cpubind_host_bind *h, int fd)
{
    cpubind_group_wake_at(h->group, fd);
}

/* == What somebody has said ================================================= */

void cpubind_host_bind_look(cpubind_host_bind *h)
{
    begin_call(h);
    for (int32_t i = 0; i < h->n; i++)
        h->entry[i]->wait = 0;
    (void)list_all(h);
    bind_all(h);
    bind_children(h);
}

void cpubind_host_bind_take(cpubind_host_bind *h, int32_t pid)
{
    for (int32_t i = 0; i < h->n; i++) {
        host_entry *e = h->entry[i];
        if ((pid && e->row.pid != pid) || e->row.device < 0)
            continue;
        e->row.is_adopted = 0;
        e->goal_sum = 0;
    }
    h->is_old = 1;
    h->takes_all = pid == 0;
    cpubind_host_bind_look(h);
    h->takes_all = 0;
}

/* Restores a process, whose binding may be open already. */
static cpubind_linux_status put_back(cpubind_host_bind *h, cpubind_binding *open, int32_t pid,
                                     int *was_bound, cpubind_linux_fault *fault)
{
    const cpubind_bind_options how = {.pid = pid};
    cpubind_binding *own = NULL;
    cpubind_linux_status status = CPUBIND_LINUX_OK;
    *was_bound = 0;
    if (!open)
        status = cpubind_bind_open(&how, h->sys, &own, fault);
    if (status == CPUBIND_LINUX_ERR_EXISTS)
        return CPUBIND_LINUX_OK;
    if (status == CPUBIND_LINUX_OK) {
        cpubind_binding *b = open ? open : own;
        *was_bound = cpubind_bind_allowed(b).n > 0;
        status = cpubind_bind_restore(b, fault);
    }
    cpubind_bind_close(own);
    return status;
}

cpubind_linux_status cpubind_host_bind_let_go(cpubind_host_bind *h, int32_t pid, uint64_t start,
                                              int *was_bound, cpubind_linux_fault *fault)
{
    host_entry *one = pid ? cpubind_host_find(h, pid) : NULL;
    cpubind_linux_status status = CPUBIND_LINUX_OK;
    if (one && one->row.start != start)
        one = NULL;
    if (was_bound)
        status = put_back(h, one ? one->row.binding : NULL, pid, was_bound, fault);
    for (int32_t i = 0; i < h->n && status == CPUBIND_LINUX_OK; i++) {
        host_entry *e = h->entry[i];
        if (e->row.state == CPUBIND_HOST_ENDED || (pid && e != one))
            continue;
        leave(e, 0);
        e->row.is_let_go = 1;
    }
    return status;
}

/* == Verifying ============================================================== */

/* Fills row->other_device, by the binding of its process. Returns whether there is one. */
static int compare_device(const cpubind_host_bind *h, cpubind_worker *row)
{
    const cpubind_binding *b = row->binding;
    const char *pci = b ? cpubind_bind_pci(b) : "";
    const int32_t number = b ? cpubind_bind_device(b) : -1;
    row->other_device[0] = '\0';
    if (row->device < 0 || row->n_device != 1 || row->parent || (!*pci && number < 0) ||
        (row->number >= 0 ? !*pci && number == row->number : strcmp(pci, row->pci) == 0))
        return 0;
    (void)cpubind_recorded_name(&h->facts.facts, number, pci, row->other_device);
    return 1;
}

cpubind_linux_status cpubind_host_compare(const cpubind_host_bind *h, cpubind_worker *worker,
                                          const cpubind_bind_options *how,
                                          cpubind_host_state *state, cpubind_linux_fault *fault)
{
    cpubind_worker *w = worker;
    cpubind_linux_status status = cpubind_bind_open(how, h->sys, &w->binding, fault);
    w->report = NULL;
    if (status != CPUBIND_LINUX_OK)
        return status;
    w->record_path = cpubind_bind_record_path(w->binding);
    status = cpubind_bind_verify(w->binding, NULL, fault);
    w->report = cpubind_bind_report(w->binding);
    if (w->device < 0)
        cpubind_host_name_recorded(h, w);
    if (status != CPUBIND_LINUX_OK)
        return status;
    *state = !w->report->has_goal ? CPUBIND_HOST_UNBOUND
             : compare_device(h, w) || cpubind_bind_has_drifted(w->report)
                 ? CPUBIND_HOST_DRIFTED
                 : CPUBIND_HOST_RIGHT;
    return status;
}

static void verify_entry(cpubind_host_bind *h, host_entry *e)
{
    cpubind_linux_fault fault = {.what = ""};
    cpubind_bind_options how = h->options.bind;
    cpubind_host_state state = e->row.state;
    cpubind_linux_status status;
    how.pid = e->row.pid;
    how.is_reading = 1;
    how.is_watching = 0;
    how.other_path = e->row.other_path;
    status = cpubind_host_compare(h, &e->row, &how, &state, &fault);
    if (status == CPUBIND_LINUX_OK && e->row.report->has_goal)
        (void)cpubind_host_keep_main_text(h, e, e->row.report->main);
    if (status != CPUBIND_LINUX_OK)
        fail(h, e, status, fault);
    else
        set_state(e, state);
}

cpubind_problem_code cpubind_host_bind_verify(cpubind_host_bind *h)
{
    const cpubind_problem_code code = find_all(h);
    int32_t n_worker = h->n;
    add_recorded(h, 0);
    for (int32_t i = 0; i < h->n; i++)
        if (!h->entry[i]->row.binding && !h->entry[i]->is_foreign)
            verify_entry(h, h->entry[i]);
    for (int32_t i = n_worker; i < h->n; i++)
        h->entry[i]->row.parent = cpubind_host_parent(h, h->entry[i]->row.pid);
    n_worker = h->n;
    cpubind_host_add_strays(h);
    for (int32_t i = n_worker; i < h->n; i++)
        verify_entry(h, h->entry[i]);
    return code;
}

/* == Asking ================================================================= */

int32_t cpubind_host_bind_n(const cpubind_host_bind *h)
{
    return h->n;
}

const cpubind_worker *cpubind_host_bind_row(const cpubind_host_bind *h, int32_t i)
{
    (void)compare_device(h, &h->entry[i]->row);
    return &h->entry[i]->row;
}

const cpubind_worker *cpubind_host_bind_of(const cpubind_host_bind *h, int32_t pid)
{
    host_entry *e = cpubind_host_find(h, pid);
    if (e)
        (void)compare_device(h, &e->row);
    return e ? &e->row : NULL;
}

int32_t cpubind_host_bind_unseen(const cpubind_host_bind *h)
{
    return h->n_unseen;
}

const cpubind_host_plan *cpubind_host_bind_plan(const cpubind_host_bind *h)
{
    return &h->plan;
}

const cpubind_engine_request *cpubind_host_bind_engine(const cpubind_host_bind *h)
{
    return &h->options.request.engine;
}

cpubind_linux_fault cpubind_host_bind_no_events(const cpubind_host_bind *h)
{
    return h->no_events;
}
