/* apply_irqbalance.c - makes irqbalance leave the interrupts of the goal alone
 * SPDX-License-Identifier: MIT
 *
 * Stops the daemon or sends it bans, as the options ask; never starts or ends it.
 */
#include <errno.h>
#include <stdlib.h>

#include "binding.h"

static int is_banned_in(const cpubind_record *record, const cpubind_record_irq *irq)
{
    for (int32_t i = 0; i < record->n_irq; i++)
        if (cpubind_irq_compare(&record->irq[i].id, &irq->id) == 0)
            return record->irq[i].is_banned;
    return 0;
}

static cpubind_subject subject_of(const cpubind_attempt *a)
{
    return (cpubind_subject){CPUBIND_ITEM_IRQBALANCE, a->b->options.pid,
                             a->daemon.pid,           "irqbalance",
                             CPUBIND_CPUSET_NONE,     CPUBIND_CPUSET_NONE};
}

/* The daemon cannot be asked: an item of the report, and no fact of the record. */
static cpubind_linux_fault skip_irqbalance(cpubind_attempt *a, cpubind_linux_fault why)
{
    const cpubind_subject subject = subject_of(a);
    if (why.error == ENOMEM)
        return why;
    if (a->is_to_ask) {
        a->is_to_ask = 0;
        a->b->record.irqbalance = a->asked_before;
        a->b->is_dirty = 1;
    }
    a->b->report.irqbalance_runs = 1;
    return cpubind_report_why(a->b, &subject, CPUBIND_ITEM_SKIPPED, why);
}

/* Records which interrupts this process bans. Those that somebody else has banned already must
 * not be unbanned later. */
static cpubind_linux_fault choose_bans(cpubind_attempt *a)
{
    cpubind_record *r = &a->b->record;
    int32_t *irq = (int32_t *)a->b->sys->malloc((size_t)r->n_irq * 2 * sizeof *irq);
    int32_t *is_banned;
    cpubind_linux_fault why;
    if (!irq)
        return cpubind_fault_of(ENOMEM, "memory");
    is_banned = irq + r->n_irq;
    for (int32_t i = 0; i < r->n_irq; i++)
        irq[i] = r->irq[i].irq;
    why = cpubind_irqbalance_banned(&a->b->root, &a->daemon, irq, r->n_irq, is_banned);
    for (int32_t i = 0; !why.error && i < r->n_irq; i++)
        r->irq[i].is_banned |= !is_banned[i];
    free(irq);
    return why.error ? skip_irqbalance(a, why) : cpubind_no_fault;
}

/* Whether to ask: a stopped daemon does not listen, and one that somebody else has stopped must
 * not be continued later; one that cpubind stopped for another process is recorded here too. */
static int is_to_ask(cpubind_attempt *a)
{
    const cpubind_irqbalance_action action = a->b->options.irqbalance;
    if (action == CPUBIND_IRQBALANCE_LEAVE)
        return 0;
    if (!a->daemon.is_stopped)
        return 1;
    return action == CPUBIND_IRQBALANCE_STOP && !a->asked_before &&
           cpubind_is_stopped_for_another(a->b, &a->daemon);
}

cpubind_linux_fault cpubind_prepare_irqbalance(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    cpubind_record *r = &b->record;
    const cpubind_irqbalance_action action = b->options.irqbalance;
    cpubind_linux_fault why;
    if (r->n_irq == 0)
        return cpubind_no_fault;
    why = cpubind_irqbalance_find(&b->root, &a->daemon);
    if (why.error == ENOMEM)
        return why;
    if (why.error && action != CPUBIND_IRQBALANCE_LEAVE)
        return skip_irqbalance(a, why);
    if (why.error || a->daemon.pid == 0)
        return cpubind_no_fault;
    if (r->irqbalance_pid == a->daemon.pid && r->irqbalance_start == a->daemon.start)
        a->asked_before = r->irqbalance; /* of this daemon, not of one that has ended */
    b->report.irqbalance_runs = action == CPUBIND_IRQBALANCE_LEAVE && !a->daemon.is_stopped &&
                                a->asked_before == CPUBIND_IRQBALANCE_LEAVE;
    if (!is_to_ask(a))
        return cpubind_no_fault;
    a->is_to_ask = 1;
    r->irqbalance = action;
    r->irqbalance_pid = a->daemon.pid;
    r->irqbalance_start = a->daemon.start;
    b->is_dirty = 1;
    return action == CPUBIND_IRQBALANCE_BAN ? choose_bans(a) : cpubind_no_fault;
}

cpubind_linux_fault cpubind_ask_irqbalance(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    const cpubind_subject subject = subject_of(a);
    cpubind_linux_fault why;
    if (!a->is_to_ask)
        return cpubind_no_fault;
    if (b->record.irqbalance == CPUBIND_IRQBALANCE_STOP)
        why = cpubind_irqbalance_stop(&b->root, &a->daemon);
    else
        why = cpubind_send_bans(b, &a->daemon, cpubind_irqbalance_ban);
    if (why.error)
        return skip_irqbalance(a, why);
    a->is_asked = 1;
    return cpubind_report_why(b, &subject, CPUBIND_ITEM_MOVED, cpubind_no_fault);
}

void cpubind_undo_irqbalance(cpubind_attempt *a, const cpubind_record *previous)
{
    cpubind_record *r = &a->b->record;
    if (!a->is_asked || a->asked_before == CPUBIND_IRQBALANCE_STOP)
        return;
    for (int32_t i = 0; i < r->n_irq; i++)
        r->irq[i].is_banned &= !is_banned_in(previous, &r->irq[i]);
    cpubind_put_back_irqbalance(a->b);
}
