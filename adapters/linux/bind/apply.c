/* apply.c - putting a goal into effect: record, threads, interrupts, memory; or nothing
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "../common.h"
#include "../kernel/memory.h"
#include "apply_steps.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

int cpubind_is_missing(int error)
{
    static const int errors[] = {EACCES, EPERM, EROFS, ENOENT, EIO, ENOSYS, ENODEV, EOPNOTSUPP};
    for (size_t i = 0; i < COUNT(errors); i++)
        if (errors[i] == error)
            return 1;
    return 0;
}

cpubind_linux_fault cpubind_skip(cpubind_binding *b, cpubind_item_kind kind, int32_t id,
                                 const char *name, int32_t was, int32_t should,
                                 cpubind_linux_fault why)
{
    cpubind_item *item =
        cpubind_report_add(b, kind, CPUBIND_ITEM_SKIPPED, id, name, was, should);
    if (!item)
        return cpubind_fault_of(ENOMEM, "memory");
    item->error = why.error;
    item->what = why.what;
    return cpubind_no_fault;
}

/* == Memory ================================================================= */

static void move_memory(cpubind_binding *b)
{
    cpubind_report *r = &b->report;
    r->memory_node = b->state.memory_node;
    if (b->state.memory_node < 0)
        return;
    if (b->how.memory == CPUBIND_MEMORY_PREFER) {
        r->prefer_error = cpubind_memory_prefer(&b->root, b->state.memory_node).error;
        return;
    }
    r->memory.pid = b->how.pid;
    r->memory.node = b->state.memory_node;
    r->memory.limit = b->how.memory_limit;
    r->memory.progress = b->how.progress;
    r->memory.ctx = b->how.progress_ctx;
    r->has_memory = 1;
    cpubind_memory_migrate(&b->root, &r->memory);
    if (r->memory.result != CPUBIND_MEMORY_NO_NODE)
        return;
    b->state.memory_node = -1; /* nothing that verify could ask for */
    b->is_dirty = 1;
    (void)cpubind_write_record(b);
}

/* == All, or nothing ======================================================== */

/* Puts back what this call has moved, the last first. */
static void undo(cpubind_attempt *a, const cpubind_record *previous)
{
    cpubind_binding *b = a->b;
    while (a->n_other_moved > 0)
        cpubind_put_other(b, &a->other[--a->n_other_moved]);
    while (a->n_irq_moved > 0)
        (void)cpubind_put_irq(b, &a->irq[--a->n_irq_moved], CPUBIND_ITEM_FAILED);
    cpubind_untell_irqbalance(a, previous);
    if (b->has_moved)
        cpubind_put_threads(b, b->seen, b->n_seen,
                            b->is_recorded ? a->was_main : b->state.before);
}

/* What to call a failed step. */
static cpubind_linux_status status_of(const cpubind_binding *b, cpubind_linux_fault why)
{
    if (b->report.n_undone_not > 0)
        return CPUBIND_LINUX_ERR_UNDONE;
    if (b->is_unsaved)
        return CPUBIND_LINUX_ERR_STATE;
    switch (why.error) {
    case ENOMEM:
        return CPUBIND_LINUX_ERR_MEMORY;
    case ESRCH:
        return CPUBIND_LINUX_ERR_GONE;
    default:
        return CPUBIND_LINUX_ERR_REFUSED;
    }
}

/* Undoes, and puts the file back to what it said before. */
static cpubind_linux_status give_up(cpubind_attempt *a, cpubind_record *previous,
                                    cpubind_linux_fault why, cpubind_linux_fault *fault)
{
    cpubind_binding *b = a->b;
    cpubind_linux_status status;
    undo(a, previous);
    b->is_stale = 1;
    if (why.error == EPERM)
        b->report.may_signal = b->sys->kill((pid_t)b->how.pid, 0) == 0;
    status = status_of(b, why);
    if (status != CPUBIND_LINUX_ERR_UNDONE) {
        if (b->is_recorded)
            (void)cpubind_record_save(b->file, previous, NULL);
        else
            (void)cpubind_record_remove(b->file, NULL);
    }
    cpubind_end_turn(b);
    return cpubind_linux_fail(status, why.error, why.what, fault);
}

/* Looks at everything, and has it on record before the first thing is moved. */
static cpubind_linux_fault look_at_all(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_linux_fault why = cpubind_no_fault;
    int error;
    if (b->state.before < 0)
        why = cpubind_task_cpus(b->sys, b->how.pid, &b->state.sets, &b->state.before);
    if (why.error)
        return why;
    error = cpubind_record_set_goal(b, goal);
    if (error)
        return cpubind_fault_of(error, "goal");
    if (b->how.memory == CPUBIND_MEMORY_NONE)
        b->state.memory_node = -1;
    b->is_dirty = 1;
    why = cpubind_look_at_irqs(a, goal);
    if (!why.error)
        why = cpubind_look_at_others(a);
    if (!why.error)
        why = cpubind_look_at_irqbalance(a);
    return why;
}

static cpubind_linux_fault put_all(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_linux_fault why = look_at_all(a, goal);
    if (!why.error)
        why = cpubind_passes(b);
    if (!why.error)
        why = cpubind_write_record(b);
    if (!why.error)
        why = cpubind_tell_irqbalance(a);
    if (!why.error)
        why = cpubind_move_irqs(a);
    if (!why.error)
        why = cpubind_move_others(a);
    if (!why.error)
        why = cpubind_write_record(b);
    if (why.error)
        return why;
    cpubind_leave_other_npu(a, goal);
    move_memory(b);
    return cpubind_no_fault;
}

static cpubind_linux_status apply(cpubind_binding *b, const cpubind_goal *goal,
                                  cpubind_linux_fault *fault)
{
    cpubind_attempt a = {.b = b, .was_npu = b->state.npu, .was_main = b->state.main};
    cpubind_record previous = {0};
    cpubind_linux_status status = CPUBIND_LINUX_OK;
    cpubind_linux_fault why;
    if (b->is_recorded)
        status = cpubind_record_load(b->file, &previous, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    b->n_seen = 0;
    b->has_moved = 0;
    b->is_unsaved = 0;
    why = put_all(&a, goal);
    if (why.error)
        status = give_up(&a, &previous, why, fault);
    else
        b->is_recorded = 1;
    cpubind_record_free(&previous);
    free(a.irq);
    free(a.other);
    return status;
}

/* The record of a process that has ended, or of another that had its number: what is left of
 * it on the host goes back first. */
static cpubind_linux_status drop_stale(cpubind_binding *b, cpubind_linux_fault *fault)
{
    cpubind_linux_status status;
    if (!b->is_recorded || b->is_alive)
        return CPUBIND_LINUX_OK;
    status = cpubind_bind_restore(b, fault);
    return status == CPUBIND_LINUX_OK ? cpubind_call_start(b, fault) : status;
}

cpubind_linux_status cpubind_bind_apply(cpubind_binding *binding, const cpubind_goal *goal,
                                        cpubind_linux_fault *fault)
{
    cpubind_linux_status status;
    if (!binding || !goal || binding->how.is_reading)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    if (binding->tasks < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_GONE, ESRCH, "process", fault);
    if (binding->how.memory == CPUBIND_MEMORY_PREFER && binding->how.pid != (int32_t)getpid())
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "memory", fault);
    status = cpubind_call_start(binding, fault);
    if (status == CPUBIND_LINUX_OK)
        status = drop_stale(binding, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    binding->report.npu = goal->npu;
    return apply(binding, goal, fault);
}

/* == Watching =============================================================== */

cpubind_linux_status cpubind_bind_again(cpubind_binding *binding, cpubind_linux_fault *fault)
{
    int32_t n_new = 0;
    cpubind_linux_fault why;
    cpubind_linux_status status;
    if (!binding || binding->how.is_reading)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    status = cpubind_call_start(binding, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    if (!binding->is_recorded)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    if (binding->tasks < 0 || !binding->is_alive)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_GONE, ESRCH, "process", fault);
    why = cpubind_pass(binding, 1, &n_new);
    if (!why.error)
        why = cpubind_watch_irqs(binding);
    if (!why.error)
        return CPUBIND_LINUX_OK;
    return cpubind_linux_fail(status_of(binding, why), why.error, why.what, fault);
}
