/* apply.c - puts a goal into effect: all of it, or nothing
 * SPDX-License-Identifier: MIT
 *
 * First the threads of the process, then what is of the host (apply_host.c); each is recorded
 * before it is changed, and after a failure all of it is undone in reverse order. Memory comes
 * last: moving it cannot be undone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kernel/memory.h"
#include "../kernel/workqueue.h"
#include "binding.h"
#include "numa_policy.h"

/* The usual limit of time. */
#define MEMORY_TIME_MS 5000

/* == Memory ================================================================= */

/* Records what a move has left on other nodes, so that verify does not call it a drift. */
static void record_left(cpubind_binding *b)
{
    const cpubind_memory_move *move = &b->report.memory;
    cpubind_memory_stay why = CPUBIND_STAY_BUSY;
    for (int i = CPUBIND_STAY_BUSY; i < CPUBIND_STAY_COUNT; i++)
        if (move->stay[i] > move->stay[why])
            why = (cpubind_memory_stay)i;
    if (move->error || move->own_left == 0)
        return;
    b->record.memory_left = move->own_left;
    b->record.left_why = why;
    b->is_dirty = 1;
    (void)cpubind_write_record(b);
}

static void move_memory(cpubind_binding *b)
{
    cpubind_outcomes *r = &b->report;
    r->memory_node = b->record.memory_node;
    if (r->memory_node < 0)
        return;
    if (b->options.memory == CPUBIND_MEMORY_PREFER) {
        cpubind_linux_fault why = {.error = 0};
        (void)cpubind_numa_policy_set(CPUBIND_POLICY_PREFER, &r->memory_node, 1, b->sys, &why);
        r->prefer_error = why.error;
        return;
    }
    r->memory = (cpubind_memory_move){
        .pid = b->options.pid,
        .node = r->memory_node,
        .limit = b->options.memory_limit ? b->options.memory_limit : -1,
        .time_ms = b->options.memory_time_ms ? b->options.memory_time_ms : MEMORY_TIME_MS,
        .is_all = b->options.memory == CPUBIND_MEMORY_ALL,
        .stop = b->options.stop,
        .stop_ctx = b->options.stop_ctx,
        .progress = b->options.progress,
        .ctx = b->options.progress_ctx};
    r->has_memory = 1;
    cpubind_memory_migrate(&b->root, &r->memory);
    if (r->memory.result != CPUBIND_MEMORY_NO_NODE) {
        record_left(b);
        return;
    }
    b->record.memory_node = -1; /* nothing for verify to compare */
    b->is_dirty = 1;
    (void)cpubind_write_record(b);
}

/* == All, or nothing ======================================================== */

/* Puts back what this call has moved. */
static void undo(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    cpubind_undo_host(a);
    if (b->has_moved_threads)
        cpubind_put_back_threads(b, b->known, b->n_known,
                                 cpubind_is_recorded(b) ? a->main_before : b->record.before);
}

/* Undoes the call and restores the file; when not all can be undone, the file stays. */
static void give_up(cpubind_attempt *a, cpubind_record *previous)
{
    cpubind_binding *b = a->b;
    int is_undone;
    undo(a);
    is_undone = b->report.n_not_restored == 0;
    if (is_undone)
        cpubind_shared_revert(b);
    if (is_undone && cpubind_is_recorded(b))
        (void)cpubind_record_save(b->file, previous);
    else if (is_undone)
        (void)cpubind_record_remove(b->file);
    b->phase =
        is_undone && !cpubind_is_recorded(b) ? CPUBIND_PHASE_DROPPED : CPUBIND_PHASE_OUTDATED;
    cpubind_shared_close(b);
}

/* Makes `goal` the goal of the process, and places its threads. */
static cpubind_linux_fault place_process(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_linux_fault why = cpubind_no_fault;
    b->report.no_irq = goal->no_irq;
    b->record.measurer = b->measurer;
    b->record.measurer_start = b->measurer_start;
    if (b->record.before < 0)
        why = cpubind_read_before(b);
    if (!why.error)
        why = cpubind_set_goal(b, goal);
    if (why.error)
        return why;
    if (b->options.memory == CPUBIND_MEMORY_NONE)
        b->record.memory_node = -1;
    b->is_dirty = 1;
    return cpubind_place_threads(b);
}

/* Makes the first item that was skipped the one that has failed. */
static cpubind_linux_fault find_skipped(cpubind_binding *b)
{
    cpubind_outcomes *r = &b->report;
    for (int32_t i = 0; i < r->n; i++) {
        if (r->item[i].result != CPUBIND_ITEM_SKIPPED)
            continue;
        r->item[i].result = CPUBIND_ITEM_FAILED;
        return cpubind_fault_of(r->item[i].error, r->item[i].what);
    }
    if (r->no_irq == CPUBIND_IRQ_FOUND || r->no_irq == CPUBIND_IRQ_NO_ROLE)
        return cpubind_no_fault;
    return cpubind_fault_of(ENOENT, "interrupts");
}

/* Moves memory; its failure is one of the call. */
static cpubind_linux_fault move_memory_strictly(cpubind_binding *b)
{
    const cpubind_outcomes *r = &b->report;
    move_memory(b);
    if (r->has_memory && r->memory.error)
        return cpubind_fault_of(r->memory.error, r->memory.what);
    return cpubind_fault_of(r->prefer_error, "set_mempolicy");
}

/* With is_strict, all that takes long comes before the record of the host is locked. */
static cpubind_linux_fault put_into_effect(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    const int is_strict = b->options.is_strict;
    const int is_moving = b->options.memory != CPUBIND_MEMORY_PREFER;
    cpubind_linux_fault why = place_process(a, goal);
    if (!why.error && is_strict)
        why = find_skipped(b);
    if (!why.error && is_strict && is_moving)
        why = move_memory_strictly(b);
    if (!why.error)
        why = cpubind_place_on_host(a, goal);
    if (!why.error && is_strict)
        why = find_skipped(b);
    if (!why.error && is_strict && !is_moving)
        why = move_memory_strictly(b);
    if (why.error)
        return why;
    cpubind_leave_old_goal(a, goal); /* nothing can fail any more */
    cpubind_shared_close(b);
    if (!is_strict)
        move_memory(b);
    return why;
}

static cpubind_linux_status apply(cpubind_binding *b, const cpubind_goal *goal,
                                  cpubind_linux_fault *fault)
{
    cpubind_attempt a = {
        .b = b, .device_before = b->record.device, .main_before = b->record.main};
    cpubind_record previous = {0};
    cpubind_linux_fault why = cpubind_no_fault;
    if (cpubind_is_recorded(b))
        why = cpubind_record_load(b->file, &previous);
    if (why.error)
        return cpubind_linux_end(cpubind_record_status(why), why, fault);
    b->phase = cpubind_is_recorded(b) ? CPUBIND_PHASE_REAPPLYING : CPUBIND_PHASE_APPLYING;
    b->n_known = 0;
    b->has_moved_threads = 0;
    b->is_save_failed = 0;
    free(b->owed);
    b->owed = NULL;
    why = put_into_effect(&a, goal);
    if (why.error)
        give_up(&a, &previous);
    else
        b->phase = CPUBIND_PHASE_BOUND;
    cpubind_record_free(&previous);
    cpubind_attempt_free(&a);
    return cpubind_linux_end(cpubind_status_of(b, why), why, fault);
}

/* Refuses a process that is hardly the one that was meant. What the init process is bound to,
 * all later processes inherit; a kernel thread is moved for all processes; a zombie runs no
 * more. This process itself may be any of them. */
static cpubind_linux_fault check_kind(cpubind_binding *b)
{
    cpubind_proc_stat stat = {.start = 0};
    cpubind_linux_fault why;
    if (b->options.is_forced || b->options.pid == (int32_t)getpid())
        return cpubind_no_fault;
    if (b->options.pid == 1)
        return cpubind_fault_of(EPERM, "init");
    why = cpubind_proc_stat_read(&b->root, b->options.pid, 0, &stat);
    if (why.error)
        return why;
    if (stat.is_kernel)
        return cpubind_fault_of(EPERM, "kernel thread");
    return cpubind_fault_of(stat.state == 'Z' && stat.n_threads < 2 ? EPERM : 0, "zombie");
}

cpubind_linux_status cpubind_bind_check(cpubind_binding *binding, cpubind_linux_fault *fault)
{
    const cpubind_linux_fault why = check_kind(binding);
    if (why.error == EPERM)
        return cpubind_linux_end(CPUBIND_LINUX_ERR_NOT_FORCED, why, fault);
    return cpubind_linux_end(cpubind_status_of(binding, why), why, fault);
}

static int is_list(cpubind_cpus cpus)
{
    return cpus.n >= 0 && cpus.n <= CPUBIND_MAX_CPUS && (cpus.n == 0 || cpus.cpu);
}

int cpubind_is_goal(const cpubind_goal *goal)
{
    if (!is_list(goal->main) || !is_list(goal->polling) || goal->n_rule < 0 ||
        goal->n_irq < 0 || (goal->n_rule > 0 && !goal->rule) ||
        (goal->n_irq > 0 && !goal->irq) || goal->n_driver < 0 ||
        (goal->n_driver > 0 && !goal->driver))
        return 0;
    for (int32_t i = 0; i < goal->n_driver; i++)
        if (!is_list(goal->driver[i].cpus) || !cpubind_workqueue_is_name(goal->driver[i].name))
            return 0;
    for (int32_t i = 0; i < goal->n_rule; i++) {
        char pattern[CPUBIND_PATTERN_SIZE];
        if (!goal->rule[i].name || !is_list(goal->rule[i].cpus) ||
            !cpubind_pattern_make(goal->rule[i].name, pattern))
            return 0;
    }
    for (int32_t i = 0; i < goal->n_irq; i++)
        if (!cpubind_irq_is_id(&goal->irq[i].id))
            return 0;
    return 1;
}

cpubind_linux_status cpubind_bind_apply(cpubind_binding *binding, const cpubind_goal *goal,
                                        cpubind_linux_fault *fault)
{
    cpubind_linux_status status;
    cpubind_linux_fault why;
    if (!binding || !goal || binding->options.is_reading)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    if (!cpubind_is_goal(goal))
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "goal", fault);
    if (binding->task_dir_fd < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_GONE, ESRCH, "process", fault);
    if (binding->options.memory == CPUBIND_MEMORY_PREFER &&
        binding->options.pid != (int32_t)getpid())
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "memory", fault);
    status = cpubind_bind_check(binding, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    why = cpubind_begin_call(binding);
    /* The record is of a process that has ended and had this pid: what it changed on the host
     * is restored first. */
    if (!why.error && cpubind_is_recorded(binding) && !cpubind_process_is_alive(binding)) {
        status = cpubind_bind_restore(binding, fault);
        if (status != CPUBIND_LINUX_OK)
            return status;
        why = cpubind_begin_call(binding);
    }
    if (why.error)
        return cpubind_linux_end(cpubind_record_status(why), why, fault);
    binding->report.device = goal->device;
    memcpy(binding->report.pci, goal->pci, sizeof goal->pci);
    why = cpubind_start_events(binding);
    return why.error ? cpubind_linux_end(CPUBIND_LINUX_ERR_MEMORY, why, fault)
                     : apply(binding, goal, fault);
}
