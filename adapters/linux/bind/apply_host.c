/* apply_host.c - puts what is of the host into effect: under the lock that all processes share
 * SPDX-License-Identifier: MIT
 *
 * The lock is held for as short as can be: what can be found without it is found before, and
 * threads and memory of the process are none of its business. Where another cpubind keeps it,
 * what needs it is skipped and named, and a watch does it later.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

/* == What is left for a watch =============================================== */

/* Keeps a copy of what is of the host of a goal, in one block.
 *   errors  ENOMEM */
static cpubind_linux_fault owe(cpubind_attempt *a, const cpubind_goal *goal)
{
    const size_t n_irq = (size_t)goal->n_irq, n_driver = (size_t)goal->n_driver;
    struct cpubind_owed *owed;
    cpubind_driver_goal *row;
    size_t n_cpu = 0;
    int32_t *cpu;
    for (size_t i = 0; i < n_driver; i++)
        n_cpu += (size_t)goal->driver[i].cpus.n;
    owed = (struct cpubind_owed *)a->b->sys->malloc(sizeof *owed + n_driver * sizeof *row +
                                                    n_irq * sizeof *goal->irq +
                                                    n_cpu * sizeof *cpu);
    if (!owed)
        return cpubind_fault_of(ENOMEM, "memory");
    free(a->b->owed);
    a->b->owed = owed;
    *owed = (struct cpubind_owed){.goal = *goal, .device_before = a->device_before};
    row = owed->goal.driver = (cpubind_driver_goal *)(owed + 1);
    owed->goal.irq = (cpubind_irq_goal *)(row + n_driver);
    cpu = (int32_t *)(owed->goal.irq + n_irq);
    if (n_irq > 0)
        memcpy(owed->goal.irq, goal->irq, n_irq * sizeof *goal->irq);
    for (size_t i = 0; i < n_driver; i++) {
        const cpubind_cpus cpus = goal->driver[i].cpus;
        row[i] = goal->driver[i];
        row[i].cpus.cpu = cpu;
        for (int32_t k = 0; k < cpus.n; k++)
            *cpu++ = cpus.cpu[k];
    }
    return cpubind_no_fault;
}

/* == An attempt ============================================================= */

/* Finds what is of the host, without its record. */
static cpubind_linux_fault look(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_linux_fault why = cpubind_no_fault;
    if (goal->n_driver > 0 && !cpubind_is_recorded(b))
        why = cpubind_read_kernel_names(b);
    if (!why.error)
        why = cpubind_find_irqs(a, goal);
    if (!why.error)
        why = cpubind_find_polling(a, goal);
    if (!why.error && (goal->n_irq > 0 || b->record.n_irq > 0))
        why = cpubind_find_irqbalance(a);
    return why;
}

/* Opens the record of the host if the goal is about what it has, or one before may be. Where
 * another cpubind keeps it, what needs it is left out: the report names the interrupts. */
static cpubind_linux_fault open_host(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_linux_fault why;
    b->shared_fault = cpubind_no_fault;
    if (goal->n_irq == 0 && goal->n_driver == 0 && b->record.polling < 0 &&
        b->record.n_irq == 0 && !cpubind_is_recorded(b))
        return cpubind_no_fault;
    why = cpubind_shared_open(b, CPUBIND_RECORD_MAKE);
    if (!why.error && goal->n_driver > 0 && !cpubind_is_recorded(b))
        cpubind_keep_kernel_names(b);
    if (a->is_again || !cpubind_is_host_busy(why))
        return why;
    b->shared_fault = why;
    return owe(a, goal);
}

/* Records what is to be changed. */
static cpubind_linux_fault prepare(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_linux_fault why = cpubind_prepare_irqs(a, goal);
    if (!why.error)
        why = cpubind_prepare_entries(a, goal);
    if (!why.error)
        why = cpubind_prepare_irqbalance(a);
    if (!why.error)
        why = cpubind_write_record(a->b);
    return why.error ? why : cpubind_shared_write(a->b);
}

static cpubind_linux_fault move_all(cpubind_attempt *a)
{
    cpubind_linux_fault why = cpubind_no_fault;
    for (int32_t i = 0; !why.error && i < a->n_move; i++) {
        a->n_moved = i + 1;
        why = cpubind_move_entry(a, &a->move[i]);
    }
    return why;
}

cpubind_linux_fault cpubind_place_on_host(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_linux_fault why = look(a, goal);
    if (!why.error)
        why = open_host(a, goal);
    if (!why.error)
        why = prepare(a, goal);
    if (!why.error)
        why = cpubind_ask_irqbalance(a);
    if (!why.error)
        why = move_all(a);
    return why.error ? why : cpubind_write_record(a->b);
}

void cpubind_undo_host(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    while (a->n_moved > 0) {
        const cpubind_move *move = &a->move[--a->n_moved];
        const int32_t place = cpubind_shared_find(&b->shared.record, &move->of);
        if (place >= 0)
            (void)cpubind_put_back_entry(b, &b->shared.record.entry[place], move->of.before,
                                         CPUBIND_ITEM_FAILED);
    }
    cpubind_undo_irqbalance(a);
}

void cpubind_attempt_free(cpubind_attempt *a)
{
    free(a->irq);
    free(a->polling);
    free(a->move);
    free(a->ban);
}

/* == A watch ================================================================ */

/* Undoes an attempt of a watch. The record of the process keeps what it would have needed. */
static void give_up(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    const int32_t n_before = b->report.n_not_restored;
    cpubind_undo_host(a);
    if (b->report.n_not_restored == n_before)
        cpubind_shared_revert(b);
    b->report.n_not_restored = n_before; /* restore puts it back: it is on record */
}

int cpubind_watch_owed(cpubind_binding *b)
{
    cpubind_attempt a = {.b = b, .device_before = b->owed->device_before, .is_again = 1};
    const int32_t pid = b->options.pid;
    cpubind_linux_fault why;
    if (!cpubind_is_due(b, CPUBIND_ITEM_THREAD, pid, CPUBIND_STEP_HOST))
        return 0;
    why = cpubind_place_on_host(&a, &b->owed->goal);
    if (why.error)
        give_up(&a);
    else
        cpubind_leave_old_goal(&a, &b->owed->goal);
    cpubind_shared_close(b);
    cpubind_attempt_free(&a);
    b->is_save_failed = 0;         /* an item of the report, no failure of the call */
    if (cpubind_is_host_busy(why)) /* apply has said so */
        (void)cpubind_note_outcome(b, CPUBIND_ITEM_THREAD, pid, CPUBIND_STEP_HOST, why);
    else
        cpubind_note_step(b, CPUBIND_STEP_HOST, why);
    if (!why.error) {
        free(b->owed);
        b->owed = NULL;
    }
    return why.error == 0;
}
