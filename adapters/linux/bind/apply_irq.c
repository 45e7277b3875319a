/* apply_irq.c - moves the interrupts of the NPU to the CPUs of the goal
 * SPDX-License-Identifier: MIT
 *
 * Only interrupts that the goal names are changed, and each one is recorded before.
 */
#include <errno.h>

#include "binding.h"

static cpubind_subject subject_of(const cpubind_binding *b, const cpubind_record_irq *irq,
                                  int32_t was, int32_t should)
{
    return (cpubind_subject){CPUBIND_ITEM_IRQ,
                             b->options.pid,
                             irq->irq,
                             cpubind_irq_kind_word(irq->kind),
                             was,
                             should};
}

/* The set of one CPU. */
static cpubind_linux_fault set_of_cpu(cpubind_binding *b, int32_t cpu, int32_t *set)
{
    return cpubind_cpu_sets_of_list(&b->record.sets, b->sys, &cpu, 1, set);
}

/* Records an interrupt, and adds it to those to move if it is elsewhere. */
static cpubind_linux_fault prepare_irq(cpubind_attempt *a, const cpubind_irq_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_record_irq irq = {goal->irq,           goal->id, goal->kind, goal->cpu,
                              CPUBIND_CPUSET_NONE, 0};
    int32_t now = CPUBIND_CPUSET_NONE, should;
    cpubind_linux_fault why = set_of_cpu(b, goal->cpu, &should);
    cpubind_subject subject;
    if (why.error)
        return why;
    why = cpubind_find_irq(b, &irq.id, &irq.irq);
    if (!why.error)
        why = cpubind_irq_read(&b->root, irq.irq, &b->record.sets, &now);
    subject = subject_of(b, &irq, now, should);
    if (cpubind_is_missing(why.error))
        return cpubind_report_why(b, &subject, CPUBIND_ITEM_SKIPPED, why);
    if (!why.error && now == should)
        why = cpubind_report_why(b, &subject, CPUBIND_ITEM_RIGHT, cpubind_no_fault);
    if (why.error)
        return why;
    if (now != should) {
        irq.before = now;
        a->irq[a->n_irq++] = irq;
    }
    b->is_dirty = 1;
    return cpubind_record_add_irq(&b->record, b->sys, &irq);
}

cpubind_linux_fault cpubind_prepare_irqs(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_linux_fault why = cpubind_no_fault;
    b->report.no_irq = goal->no_irq;
    if (goal->n_irq == 0)
        return cpubind_no_fault;
    a->irq = (cpubind_record_irq *)b->sys->malloc((size_t)goal->n_irq * sizeof *a->irq);
    if (!a->irq)
        return cpubind_fault_of(ENOMEM, "memory");
    for (int32_t i = 0; !why.error && i < goal->n_irq; i++)
        why = prepare_irq(a, &goal->irq[i]);
    return why;
}

/* Moves an interrupt and reads its CPUs back. */
static cpubind_linux_fault move_irq(cpubind_binding *b, const cpubind_irq_id *id, int32_t irq,
                                    int32_t should, int32_t *actual)
{
    int32_t now = CPUBIND_CPUSET_NONE;
    cpubind_linux_fault why = cpubind_write_irq(b, id, irq, should);
    *actual = CPUBIND_CPUSET_NONE;
    if (!why.error)
        why = cpubind_irq_read(&b->root, irq, &b->record.sets, &now);
    if (why.error)
        return why;
    if (now != should)
        return cpubind_fault_of(EIO, "smp_affinity_list");
    why = cpubind_irq_read_effective(&b->root, irq, &b->record.sets, actual);
    return why.error == ENOMEM ? why : cpubind_no_fault;
}

cpubind_linux_fault cpubind_move_irqs(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    for (int32_t i = 0; i < a->n_irq; i++) {
        const cpubind_record_irq *irq = &a->irq[i];
        int32_t actual, should;
        cpubind_linux_fault why = set_of_cpu(b, irq->cpu, &should), no_memory;
        cpubind_item_result result;
        cpubind_subject subject;
        if (why.error)
            return why;
        why = move_irq(b, &irq->id, irq->irq, should, &actual);
        subject = subject_of(b, irq, irq->before, should);
        result = why.error ? CPUBIND_ITEM_FAILED : CPUBIND_ITEM_MOVED;
        a->n_irq_moved = i + 1;
        if (cpubind_is_missing(why.error)) {
            /* It may have been moved and only not read back; a skipped one is where it was. */
            (void)cpubind_write_irq(b, &irq->id, irq->irq, irq->before);
            result = CPUBIND_ITEM_SKIPPED;
        }
        no_memory = cpubind_report_why(b, &subject, result, why);
        if (no_memory.error)
            return no_memory;
        if (actual >= 0)
            b->report.item[b->report.n - 1].actual =
                cpubind_cpu_sets_text(&b->record.sets, actual);
        if (result == CPUBIND_ITEM_FAILED)
            return why;
    }
    return cpubind_no_fault;
}

/* == After apply ============================================================ */

static int is_in_goal(const cpubind_goal *goal, const cpubind_record_irq *irq)
{
    for (int32_t i = 0; i < goal->n_irq; i++)
        if (cpubind_irq_compare(&goal->irq[i].id, &irq->id) == 0)
            return 1;
    return 0;
}

void cpubind_leave_other_npu(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_record *r = &b->record;
    int32_t n = 0;
    if (!cpubind_is_recorded(b) || a->npu_before == goal->npu)
        return;
    for (int32_t i = 0; i < r->n_irq; i++) {
        const cpubind_record_irq irq = r->irq[i];
        if (is_in_goal(goal, &irq) || !cpubind_put_back_irq(b, &irq, CPUBIND_ITEM_SKIPPED))
            r->irq[n++] = irq;
        else if (irq.is_banned && a->daemon.pid != 0)
            (void)cpubind_irqbalance_unban(&b->root, &a->daemon, &irq.irq, 1);
    }
    b->is_dirty |= n < r->n_irq;
    r->n_irq = n;
    (void)cpubind_write_record(b); /* a restored interrupt in the file does no harm */
}

/* Looks for one interrupt of the record again, and moves it if it is elsewhere. */
static cpubind_linux_fault watch_irq(cpubind_binding *b, int32_t place)
{
    cpubind_record_irq *irq = &b->record.irq[place];
    int32_t now = CPUBIND_CPUSET_NONE, should, actual;
    cpubind_item_result result = CPUBIND_ITEM_RIGHT;
    cpubind_linux_fault why = set_of_cpu(b, irq->cpu, &should);
    cpubind_subject subject;
    if (why.error)
        return why;
    why = cpubind_find_irq(b, &irq->id, &irq->irq);
    if (!why.error)
        why = cpubind_irq_read(&b->root, irq->irq, &b->record.sets, &now);
    if (!why.error && now != should) {
        why = move_irq(b, &irq->id, irq->irq, should, &actual);
        result = CPUBIND_ITEM_MOVED;
    }
    subject = subject_of(b, irq, now, should);
    if (why.error)
        result = CPUBIND_ITEM_SKIPPED;
    if (cpubind_note_outcome(b, CPUBIND_ITEM_IRQ, b->options.pid, place, why) ||
        result == CPUBIND_ITEM_MOVED)
        return cpubind_report_why(b, &subject, result, why);
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_watch_irqs(cpubind_binding *b)
{
    cpubind_linux_fault why = cpubind_no_fault;
    for (int32_t i = 0; !why.error && i < b->record.n_irq; i++)
        if (cpubind_is_due(b, CPUBIND_ITEM_IRQ, b->options.pid, i))
            why = watch_irq(b, i);
    return why;
}
