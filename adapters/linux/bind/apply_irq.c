/* apply_irq.c - moves the interrupts of the device to the CPUs of the goal
 * SPDX-License-Identifier: MIT
 *
 * Only interrupts that the goal names are changed, and each one is recorded before.
 */
#include <errno.h>

#include "binding.h"

static cpubind_subject subject_of(const cpubind_binding *b, int32_t irq, cpubind_irq_kind kind,
                                  int32_t was, int32_t should)
{
    return (cpubind_subject){
        CPUBIND_ITEM_IRQ, b->options.pid, irq, cpubind_irq_kind_word(kind), was, should};
}

/* The set of one CPU. */
static cpubind_linux_fault set_of_cpu(cpubind_binding *b, int32_t cpu, int32_t *set)
{
    return cpubind_cpu_sets_of_list(&b->record.sets, b->sys, &cpu, 1, set);
}

cpubind_linux_fault cpubind_find_irqs(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    if (goal->n_irq == 0)
        return cpubind_no_fault;
    a->irq = (cpubind_found_irq *)b->sys->malloc((size_t)goal->n_irq * sizeof *a->irq);
    if (!a->irq)
        return cpubind_fault_of(ENOMEM, "memory");
    for (int32_t i = 0; i < goal->n_irq; i++) {
        a->irq[i].irq = goal->irq[i].irq;
        a->irq[i].why = cpubind_find_irq(b, &goal->irq[i].id, &a->irq[i].irq);
    }
    return cpubind_no_fault;
}

/* Finds an interrupt again if its number has gone to another one while the lock was waited
 * for. */
static cpubind_linux_fault find_now(cpubind_binding *b, const cpubind_found_irq *found,
                                    cpubind_record_irq *irq)
{
    cpubind_linux_fault why = found->why;
    if (why.error)
        return why;
    why = cpubind_irq_check(&b->root, &irq->id, irq->irq);
    if (why.error != ENOENT)
        return why;
    b->listed.name[0] = '\0';
    return cpubind_find_irq(b, &irq->id, &irq->irq);
}

/* Records an interrupt, and adds it to those to move if it is elsewhere. One that waits for the
 * record of the host is on that of the process already: it is part of what verify compares. */
static cpubind_linux_fault prepare_irq(cpubind_attempt *a, const cpubind_irq_goal *goal,
                                       const cpubind_found_irq *found)
{
    cpubind_binding *b = a->b;
    cpubind_record_irq irq = {found->irq, goal->id, goal->kind, goal->cpu};
    cpubind_move move = {
        .of = {.kind = CPUBIND_ITEM_IRQ, .id = goal->id, .before = CPUBIND_CPUSET_NONE}};
    cpubind_linux_fault why = set_of_cpu(b, goal->cpu, &move.should);
    if (why.error)
        return why;
    why = find_now(b, found, &irq);
    if (!why.error)
        why = cpubind_irq_read(&b->root, irq.irq, &b->record.sets, &move.of.before);
    if (!why.error && (!b->shared_fault.error || cpubind_is_host_busy(b->shared_fault))) {
        b->is_dirty = 1;
        why = cpubind_record_add_irq(&b->record, b->sys, &irq);
    }
    move.of.number = irq.irq;
    return cpubind_use_entry(a, &move, why);
}

cpubind_linux_fault cpubind_prepare_irqs(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_linux_fault why = cpubind_no_fault;
    for (int32_t i = 0; !why.error && i < goal->n_irq; i++)
        why = prepare_irq(a, &goal->irq[i], &a->irq[i]);
    return why;
}

/* == After apply ============================================================ */

static int is_in_goal(const cpubind_goal *goal, const cpubind_record_irq *irq)
{
    for (int32_t i = 0; i < goal->n_irq; i++)
        if (cpubind_irq_compare(&goal->irq[i].id, &irq->id) == 0)
            return 1;
    return 0;
}

void cpubind_leave_old_goal(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_record *r = &b->record;
    const int is_other_device = a->device_before != goal->device;
    int32_t n = 0;
    if (!cpubind_is_recorded(b))
        return;
    if (b->shared.file)
        cpubind_give_back_driver(b, goal);
    for (int32_t i = 0; i < r->n_irq; i++) {
        const cpubind_record_irq irq = r->irq[i];
        const cpubind_subject subject =
            subject_of(b, irq.irq, irq.kind, CPUBIND_CPUSET_NONE, CPUBIND_CPUSET_NONE);
        const int may_leave = is_other_device || cpubind_irq_goes(irq.kind, goal->no_irq);
        const int is_left = may_leave && !is_in_goal(goal, &irq);
        if (is_left && b->shared_fault.error)
            (void)cpubind_report_why(b, &subject, CPUBIND_ITEM_SKIPPED, b->shared_fault);
        if (!is_left || b->shared_fault.error || !cpubind_give_back_irq(b, &irq.id))
            r->irq[n++] = irq;
    }
    b->is_dirty |= n < r->n_irq;
    r->n_irq = n;
    (void)cpubind_shared_write(b); /* a restored interrupt in a file does no harm */
    (void)cpubind_write_record(b);
    b->is_save_failed = 0;
}

/* Makes this process a user of the interrupt, which was not there when it was bound.
 *   out     *is_another: another process has come since, and the interrupt is where it wants */
static cpubind_linux_fault use_again(cpubind_binding *b, const cpubind_record_irq *irq,
                                     int32_t now, int32_t should, int *is_another)
{
    const cpubind_shared_entry like = {
        .kind = CPUBIND_ITEM_IRQ, .number = irq->irq, .id = irq->id, .before = now};
    cpubind_linux_fault why = cpubind_shared_open(b, CPUBIND_RECORD_MAKE);
    const int32_t place = why.error ? -1 : cpubind_shared_find(&b->shared.record, &like);
    const cpubind_shared_entry *entry = place < 0 ? NULL : &b->shared.record.entry[place];
    const cpubind_shared_user *own = entry ? cpubind_shared_own_user(b, entry) : NULL;
    *is_another = 0;
    if (why.error)
        return why;
    if (own) {
        const cpubind_shared_user *other =
            cpubind_shared_last_other(b, entry, b->record.pid, b->record.start);
        *is_another = other > own && other->set == now;
        return why;
    }
    why = cpubind_shared_use(b, &like, should);
    return why.error ? why : cpubind_shared_write(b);
}

/* Looks for one interrupt of the record again, and moves it if it is elsewhere. */
static cpubind_linux_fault watch_irq(cpubind_binding *b, int32_t place)
{
    cpubind_record_irq *irq = &b->record.irq[place];
    int32_t now = CPUBIND_CPUSET_NONE, should, actual;
    cpubind_item_result result = CPUBIND_ITEM_RIGHT;
    cpubind_linux_fault why = set_of_cpu(b, irq->cpu, &should);
    cpubind_subject subject;
    int is_another = 0;
    if (why.error)
        return why;
    why = cpubind_find_irq(b, &irq->id, &irq->irq);
    if (!why.error)
        why = cpubind_irq_read(&b->root, irq->irq, &b->record.sets, &now);
    if (!why.error && now != should)
        why = use_again(b, irq, now, should, &is_another);
    if (!why.error && now != should && !is_another) {
        const cpubind_shared_entry entry = {
            .kind = CPUBIND_ITEM_IRQ, .number = irq->irq, .id = irq->id};
        why = cpubind_move_irq(b, &entry, should, &actual);
        result = CPUBIND_ITEM_MOVED;
    }
    subject = subject_of(b, irq->irq, irq->kind, now, should);
    return cpubind_report_watched(b, &subject, place, result, why);
}

cpubind_linux_fault cpubind_watch_irqs(cpubind_binding *b)
{
    cpubind_linux_fault why = cpubind_no_fault;
    for (int32_t i = 0; !why.error && i < b->record.n_irq; i++)
        if (cpubind_is_due(b, CPUBIND_ITEM_IRQ, b->options.pid, i))
            why = watch_irq(b, i);
    if (!why.error)
        why = cpubind_watch_irqbalance(b);
    cpubind_shared_close(b);
    b->is_save_failed = 0; /* an item of the report, no failure of the call */
    return why;
}
