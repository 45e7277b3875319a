/* apply_irqbalance.c - makes irqbalance leave the interrupts of the goal alone
 * SPDX-License-Identifier: MIT
 *
 * Sends the daemon bans, as the options ask; never starts, stops or ends it.
 */
#include <errno.h>
#include <stdlib.h>

#include "binding.h"

static cpubind_subject subject_of(const cpubind_binding *b)
{
    return cpubind_own_subject(b, CPUBIND_ITEM_IRQBALANCE, b->daemon.pid, "irqbalance");
}

/* The entry of an interrupt that the daemon leaves alone. */
static cpubind_shared_entry entry_of(const cpubind_binding *b, int32_t irq)
{
    return (cpubind_shared_entry){.kind = CPUBIND_ITEM_BAN,
                                  .number = b->daemon.pid,
                                  .start = b->daemon.start,
                                  .space = b->space,
                                  .id.index = irq,
                                  .before = CPUBIND_CPUSET_NONE};
}

/* The daemon cannot be asked: an item of the report, and no fact of the record. */
static cpubind_linux_fault skip_irqbalance(cpubind_attempt *a, cpubind_linux_fault why)
{
    const cpubind_subject subject = subject_of(a->b);
    if (why.error == ENOMEM)
        return why;
    a->is_to_ask = 0;
    a->b->report.irqbalance_runs = 1;
    return cpubind_report_why(a->b, &subject, CPUBIND_ITEM_SKIPPED, why);
}

/* Whether this process has bans on record of the daemon that runs now. */
static int has_asked(const cpubind_binding *b)
{
    const cpubind_shared_record *host = &b->shared.record;
    for (int32_t i = 0; i < host->n_entry; i++)
        if (host->entry[i].kind == CPUBIND_ITEM_BAN && host->entry[i].number == b->daemon.pid &&
            host->entry[i].start == b->daemon.start &&
            cpubind_shared_own_user(b, &host->entry[i]))
            return 1;
    return 0;
}

/* The numbers of the interrupts of this process, and which of them the daemon has banned:
 * *is_banned, in the same block. */
static cpubind_linux_fault list_bans(cpubind_attempt *a, int32_t **irq, int32_t **is_banned,
                                     int32_t *n)
{
    const cpubind_shared_record *host = &a->b->shared.record;
    const size_t cap = (size_t)host->n_entry + 1;
    *n = 0;
    *irq = (int32_t *)a->b->sys->malloc(cap * 2 * sizeof **irq);
    if (!*irq)
        return cpubind_fault_of(ENOMEM, "memory");
    *is_banned = *irq + cap;
    for (int32_t i = 0; i < host->n_entry; i++)
        if (host->entry[i].kind == CPUBIND_ITEM_IRQ &&
            cpubind_shared_own_user(a->b, &host->entry[i]))
            (*irq)[(*n)++] = host->entry[i].number;
    return cpubind_irqbalance_banned(&a->b->root, &a->b->daemon, *irq, *n, *is_banned);
}

/* Makes this process a user of the ban of each of its interrupts, and chooses those to ban. One
 * that somebody else has banned already stays banned later. */
static cpubind_linux_fault choose_bans(cpubind_attempt *a)
{
    int32_t *irq = NULL, *is_banned = NULL, n, ban;
    cpubind_linux_fault why = cpubind_value_of_ban(a->b, &ban);
    if (!why.error)
        why = list_bans(a, &irq, &is_banned, &n);
    for (int32_t i = 0; !why.error && i < n; i++) {
        cpubind_shared_entry like = entry_of(a->b, irq[i]);
        if (is_banned[i])
            like.before = ban;
        else
            irq[a->n_ban++] = irq[i]; /* at or before irq[i] */
        why = cpubind_shared_use(a->b, &like, ban);
    }
    free(a->ban);
    a->ban = irq;
    return why;
}

cpubind_linux_fault cpubind_find_irqbalance(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    b->daemon = (cpubind_irqbalance){0};
    a->daemon_fault = cpubind_group_find_daemon(b, &b->daemon);
    return a->daemon_fault.error == ENOMEM ? a->daemon_fault : cpubind_no_fault;
}

cpubind_linux_fault cpubind_prepare_irqbalance(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    const cpubind_irqbalance_action action = b->options.irqbalance;
    cpubind_linux_fault why = a->daemon_fault;
    if (!b->shared.file) { /* a watch finds it again */
        const int is_skipped = b->daemon.pid != 0 && action != CPUBIND_IRQBALANCE_LEAVE &&
                               cpubind_is_host_busy(b->shared_fault);
        why = is_skipped ? skip_irqbalance(a, b->shared_fault) : cpubind_no_fault;
        b->daemon = (cpubind_irqbalance){0};
        return why;
    }
    if (b->record.n_irq == 0)
        return cpubind_no_fault;
    if (why.error && action != CPUBIND_IRQBALANCE_LEAVE)
        return skip_irqbalance(a, why);
    if (why.error || b->daemon.pid == 0)
        return cpubind_no_fault;
    b->report.irqbalance_runs =
        action == CPUBIND_IRQBALANCE_LEAVE && !b->daemon.is_stopped && !has_asked(b);
    if (action == CPUBIND_IRQBALANCE_LEAVE || b->daemon.is_stopped) /* it does not listen */
        return cpubind_no_fault;
    why = choose_bans(a);
    if (why.error)
        return skip_irqbalance(a, why);
    a->is_to_ask = 1;
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_ask_irqbalance(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    const cpubind_subject subject = subject_of(b);
    cpubind_linux_fault why;
    if (!a->is_to_ask)
        return cpubind_no_fault;
    why = cpubind_irqbalance_ban(&b->root, &b->daemon, a->ban, a->n_ban);
    if (why.error)
        return skip_irqbalance(a, why);
    a->is_asked = 1;
    return cpubind_report_why(b, &subject, CPUBIND_ITEM_MOVED, cpubind_no_fault);
}

void cpubind_undo_irqbalance(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    const cpubind_subject subject = subject_of(b);
    cpubind_linux_fault why;
    if (!a->is_asked)
        return;
    why = cpubind_irqbalance_unban(&b->root, &b->daemon, a->ban, a->n_ban);
    if (why.error != ESRCH)
        cpubind_report_put_back(b, &subject, why, CPUBIND_ITEM_FAILED);
}

/* == After apply ============================================================ */

/* Finds the daemon that runs now and asks it about the interrupts of this process. */
static cpubind_linux_fault ask_new_daemon(cpubind_binding *b)
{
    cpubind_attempt a = {.b = b};
    cpubind_linux_fault why = cpubind_find_irqbalance(&a);
    if (!why.error)
        why = cpubind_shared_open(b, CPUBIND_RECORD_MAKE);
    if (!why.error)
        why = cpubind_prepare_irqbalance(&a);
    if (!why.error)
        why = cpubind_shared_write(b);
    if (!why.error)
        why = cpubind_ask_irqbalance(&a);
    free(a.ban);
    return why;
}

cpubind_linux_fault cpubind_watch_irqbalance(cpubind_binding *b)
{
    const cpubind_irqbalance_action action = b->options.irqbalance;
    const int32_t pid = b->options.pid;
    cpubind_linux_fault why = cpubind_fault_of(ESRCH, "find");
    if (action == CPUBIND_IRQBALANCE_LEAVE || b->record.n_irq == 0 ||
        !cpubind_is_due(b, CPUBIND_ITEM_IRQBALANCE, pid, 0))
        return cpubind_no_fault;
    if (b->daemon.pid != 0)
        why = cpubind_irqbalance_check(&b->root, &b->daemon);
    if (why.error == ESRCH)
        why = ask_new_daemon(b);
    if (!why.error && b->daemon.pid == 0)
        why = cpubind_fault_of(ESRCH, "find"); /* none runs: look again after a pause */
    (void)cpubind_note_outcome(b, CPUBIND_ITEM_IRQBALANCE, pid, 0, why);
    return why.error == ENOMEM ? why : cpubind_no_fault;
}
