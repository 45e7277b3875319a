/* apply_irq.c - the interrupts of the NPU, each put where it belongs
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>

#include "apply_steps.h"

/* Looks where an interrupt is: on record, and to be moved if it is elsewhere. */
static cpubind_linux_fault look_at_irq(cpubind_attempt *a, const cpubind_irq_goal *goal)
{
    cpubind_binding *b = a->b;
    const char *name = cpubind_irq_kind_word(goal->kind);
    int32_t now, should = cpubind_cpu_sets_of_list(&b->state.sets, b->sys, &goal->cpu, 1);
    cpubind_record_irq record = {goal->irq, goal->kind, goal->cpu, CPUBIND_CPUSET_NONE, 0};
    const cpubind_linux_fault why = cpubind_irq_read(&b->root, goal->irq, &b->state.sets, &now);
    if (should == CPUBIND_CPUSET_NO_MEMORY)
        return cpubind_fault_of(ENOMEM, "memory");
    if (cpubind_is_missing(why.error))
        return cpubind_skip(b, CPUBIND_ITEM_IRQ, goal->irq, name, CPUBIND_CPUSET_NONE, should,
                            why);
    if (why.error)
        return why;
    b->is_dirty = 1;
    if (now != should) {
        record.before = now;
        a->irq[a->n_irq++] = record;
    } else if (!cpubind_report_add(b, CPUBIND_ITEM_IRQ, CPUBIND_ITEM_RIGHT, goal->irq, name,
                                   now, should)) {
        return cpubind_fault_of(ENOMEM, "memory");
    }
    return cpubind_fault_of(cpubind_record_add_irq(&b->state, b->sys, &record), "memory");
}

cpubind_linux_fault cpubind_look_at_irqs(cpubind_attempt *a, const cpubind_goal *goal)
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
        why = look_at_irq(a, &goal->irq[i]);
    return why;
}

/* Moves an interrupt, and reads back what the kernel made of it. */
static cpubind_linux_fault move_irq(cpubind_binding *b, int32_t irq, int32_t should,
                                    int32_t *actual)
{
    int32_t now = CPUBIND_CPUSET_NONE;
    cpubind_linux_fault why = cpubind_irq_write(&b->root, irq, &b->state.sets.set[should]);
    *actual = CPUBIND_CPUSET_NONE;
    if (!why.error)
        why = cpubind_irq_read(&b->root, irq, &b->state.sets, &now);
    if (why.error)
        return why;
    if (now != should)
        return cpubind_fault_of(EIO, "smp_affinity_list");
    why = cpubind_irq_read_effective(&b->root, irq, &b->state.sets, actual);
    return why.error == ENOMEM ? why : cpubind_no_fault;
}

cpubind_linux_fault cpubind_move_irqs(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    for (int32_t i = 0; i < a->n_irq; i++) {
        const cpubind_record_irq *irq = &a->irq[i];
        int32_t actual, should = cpubind_cpu_sets_of_list(&b->state.sets, b->sys, &irq->cpu, 1);
        cpubind_linux_fault why = move_irq(b, irq->irq, should, &actual);
        cpubind_item *item;
        a->n_irq_moved = i + 1;
        if (cpubind_is_missing(why.error)) {
            /* What cannot be read back may have been moved: skipped is as it was. */
            (void)cpubind_irq_write(&b->root, irq->irq, &b->state.sets.set[irq->before]);
            why = cpubind_skip(b, CPUBIND_ITEM_IRQ, irq->irq, cpubind_irq_kind_word(irq->kind),
                               irq->before, should, why);
            if (why.error)
                return why;
            continue;
        }
        item = cpubind_report_add(
            b, CPUBIND_ITEM_IRQ, why.error ? CPUBIND_ITEM_FAILED : CPUBIND_ITEM_MOVED, irq->irq,
            cpubind_irq_kind_word(irq->kind), irq->before, should);
        if (!item)
            return cpubind_fault_of(ENOMEM, "memory");
        if (actual >= 0)
            item->actual = cpubind_cpu_sets_text(&b->state.sets, actual);
        item->error = why.error;
        item->what = why.error ? why.what : NULL;
        if (why.error)
            return why;
    }
    return cpubind_no_fault;
}

/* == Later ================================================================== */

static int is_in_goal(const cpubind_goal *goal, int32_t irq)
{
    for (int32_t i = 0; i < goal->n_irq; i++)
        if (goal->irq[i].irq == irq)
            return 1;
    return 0;
}

void cpubind_leave_other_npu(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_record *s = &b->state;
    int32_t n = 0;
    if (!b->is_recorded || a->was_npu == goal->npu)
        return;
    for (int32_t i = 0; i < s->n_irq; i++) {
        const cpubind_record_irq irq = s->irq[i];
        if (is_in_goal(goal, irq.irq) || !cpubind_put_irq(b, &irq, CPUBIND_ITEM_SKIPPED))
            s->irq[n++] = irq;
        else if (irq.is_banned && a->daemon.pid != 0)
            (void)cpubind_irqbalance_unban(&b->root, &a->daemon, &irq.irq, 1);
    }
    b->is_dirty |= n < s->n_irq;
    s->n_irq = n;
    (void)cpubind_write_record(b); /* on record they do no harm */
}

cpubind_linux_fault cpubind_watch_irqs(cpubind_binding *b)
{
    for (int32_t i = 0; i < b->state.n_irq; i++) {
        const cpubind_record_irq *irq = &b->state.irq[i];
        int32_t now, actual;
        int32_t should = cpubind_cpu_sets_of_list(&b->state.sets, b->sys, &irq->cpu, 1);
        cpubind_item *item;
        if (should < 0)
            return cpubind_fault_of(ENOMEM, "memory");
        if (cpubind_irq_read(&b->root, irq->irq, &b->state.sets, &now).error || now == should ||
            move_irq(b, irq->irq, should, &actual).error)
            continue;
        item = cpubind_report_add(b, CPUBIND_ITEM_IRQ, CPUBIND_ITEM_MOVED, irq->irq,
                                  cpubind_irq_kind_word(irq->kind), now, should);
        if (!item)
            return cpubind_fault_of(ENOMEM, "memory");
    }
    return cpubind_no_fault;
}
