/* restore_host.c - puts interrupts, threads and irqbalance back for one of their users
 * SPDX-License-Identifier: MIT
 *
 * Work queues of the driver are put back, too. An entry of the record of the
 * host goes to the CPUs of its last other user that lives, else to those that it had at first.
 * One that somebody else has moved since is left where it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kernel/process.h"
#include "binding.h"

/* == One entry ============================================================== */

/* Whether interrupts are visible here at all: then one that is not visible is gone. */
static int has_irqs(const cpubind_binding *b)
{
    return b->sys->accessat(b->root.fd, "proc/irq", F_OK) == 0 &&
           b->sys->accessat(b->root.fd, "sys/bus/pci/devices", F_OK) == 0;
}

/* Whether a fault says that an entry is not there any more. */
static int is_over(const cpubind_binding *b, const cpubind_shared_entry *entry,
                   cpubind_linux_fault why)
{
    if (entry->kind == CPUBIND_ITEM_POLLING || entry->kind == CPUBIND_ITEM_KERNEL)
        return why.error == ESRCH;
    return why.error == ENOENT && (entry->kind == CPUBIND_ITEM_WORKQUEUE || has_irqs(b));
}

int cpubind_put_back_entry(cpubind_binding *b, const cpubind_shared_entry *entry,
                           int32_t should, cpubind_item_result if_not)
{
    const int is_irq = entry->kind == CPUBIND_ITEM_IRQ;
    cpubind_subject subject;
    int32_t number = entry->number, was = CPUBIND_CPUSET_NONE;
    cpubind_linux_fault why = cpubind_read_entry(b, entry, &number, &was);
    subject = cpubind_subject_of(b, entry, should);
    subject.id = number;
    subject.was = was;
    if (is_over(b, entry, why) || (!why.error && subject.was == should))
        return 1;
    if (!why.error && !cpubind_shared_is_given(entry, subject.was)) {
        (void)cpubind_report_why(b, &subject, CPUBIND_ITEM_KEPT, cpubind_no_fault);
        return 1;
    }
    if (!why.error && is_irq)
        why = cpubind_write_irq(b, &entry->id, subject.id, should);
    else if (!why.error)
        why = cpubind_write_entry(b, entry, should);
    if (is_over(b, entry, why))
        return 1;
    cpubind_report_put_back(b, &subject, why, if_not);
    return why.error == 0;
}

/* == All entries of a user ================================================== */

/* Who gives its entries back: a process, and those that have ended. pid 0: these alone. */
typedef struct leaver {
    cpubind_binding *b;
    int32_t pid;
    uint64_t start;
} leaver;

static int is_leaving(const leaver *l, const cpubind_shared_user *user)
{
    return cpubind_shared_is_of(user, l->pid, l->start) || !cpubind_shared_lives(l->b, user);
}

/* Whether an interrupt is banned for a leaving user, and for no other. */
static int is_to_unban(const leaver *l, const cpubind_shared_entry *entry)
{
    int is_asked = 0;
    for (int32_t i = 0; i < entry->n_user; i++) {
        if (entry->user[i].action != CPUBIND_IRQBALANCE_BAN)
            continue;
        if (!is_leaving(l, &entry->user[i]))
            return 0;
        is_asked = 1;
    }
    return is_asked;
}

/* Whether an entry is to be given back: by the process, or with pid 0 by one that has ended. */
static int has_leaver(const leaver *l, const cpubind_shared_entry *entry)
{
    for (int32_t i = 0; i < entry->n_user; i++)
        if (l->pid ? cpubind_shared_is_of(&entry->user[i], l->pid, l->start)
                   : is_leaving(l, &entry->user[i]))
            return 1;
    return 0;
}

static int put_back_for(const leaver *l, const cpubind_shared_entry *entry,
                        cpubind_item_result if_not)
{
    const cpubind_shared_user *other = cpubind_shared_last_other(l->b, entry, l->pid, l->start);
    return cpubind_put_back_entry(l->b, entry, other ? other->set : entry->before, if_not);
}

/* Drops the leaving users of an entry, and an entry that has no others. */
static void drop_leavers(const leaver *l, int32_t place)
{
    cpubind_shared *host = &l->b->shared;
    cpubind_shared_entry *entry = &host->record.entry[place];
    for (int32_t i = entry->n_user; i-- > 0;)
        if (is_leaving(l, &entry->user[i]))
            cpubind_shared_drop_user(entry, i);
    if (entry->n_user == 0)
        cpubind_shared_drop(&host->record, place);
    host->is_dirty = 1;
}

/* Takes back the bans of the leaving users. */
static cpubind_linux_fault unban(const leaver *l, const cpubind_irqbalance *daemon)
{
    const cpubind_shared_record *host = &l->b->shared.record;
    cpubind_linux_fault why;
    int32_t n = 0;
    int32_t *irq = (int32_t *)l->b->sys->malloc(((size_t)host->n_entry + 1) * sizeof *irq);
    if (!irq)
        return cpubind_fault_of(ENOMEM, "memory");
    for (int32_t i = 0; i < host->n_entry; i++)
        if (host->entry[i].kind == CPUBIND_ITEM_IRQ && has_leaver(l, &host->entry[i]) &&
            is_to_unban(l, &host->entry[i]))
            irq[n++] = host->entry[i].number;
    why = cpubind_irqbalance_unban(&l->b->root, daemon, irq, n);
    free(irq);
    return why;
}

/* Takes the bans back.
 *   returns 0 when that failed */
static int put_back_irqbalance(const leaver *l, const cpubind_shared_entry *entry)
{
    const cpubind_irqbalance daemon = {entry->number, entry->start, 0};
    const cpubind_subject subject = {CPUBIND_ITEM_IRQBALANCE, entry->number,
                                     entry->number,           "irqbalance",
                                     CPUBIND_CPUSET_NONE,     CPUBIND_CPUSET_NONE};
    const cpubind_linux_fault why = unban(l, &daemon);
    if (why.error == ESRCH) /* bans end with the daemon */
        return 1;
    cpubind_report_put_back(l->b, &subject, why, CPUBIND_ITEM_FAILED);
    return why.error == 0;
}

void cpubind_put_back_shared(cpubind_binding *b, int32_t pid, uint64_t start)
{
    const leaver l = {b, pid, start};
    cpubind_shared_record *host = &b->shared.record;
    int is_unbanned = 1;
    for (int32_t i = host->n_entry; i-- > 0;) {
        cpubind_shared_entry *entry = &host->entry[i];
        entry->is_back = 0;
        if (entry->kind != CPUBIND_ITEM_IRQBALANCE && has_leaver(&l, entry))
            entry->is_back = put_back_for(&l, entry, CPUBIND_ITEM_FAILED);
    }
    for (int32_t i = 0; i < host->n_entry; i++) {
        cpubind_shared_entry *entry = &host->entry[i];
        if (entry->kind == CPUBIND_ITEM_IRQBALANCE && has_leaver(&l, entry)) {
            entry->is_back = put_back_irqbalance(&l, entry);
            is_unbanned &= entry->is_back;
        }
    }
    for (int32_t i = host->n_entry; i-- > 0;)
        if (host->entry[i].is_back && (is_unbanned || !is_to_unban(&l, &host->entry[i])))
            drop_leavers(&l, i);
}

static int is_in_goal(const cpubind_shared_entry *entry, const cpubind_goal *goal)
{
    for (int32_t i = 0; i < goal->n_driver; i++)
        if (strcmp(goal->driver[i].name, entry->id.name) == 0)
            return 1;
    return 0;
}

void cpubind_give_back_driver(cpubind_binding *b, const cpubind_goal *goal)
{
    const leaver l = {b, b->record.pid, b->record.start};
    for (int32_t i = b->shared.record.n_entry; i-- > 0;) {
        const cpubind_shared_entry *entry = &b->shared.record.entry[i];
        if ((entry->kind == CPUBIND_ITEM_KERNEL || entry->kind == CPUBIND_ITEM_WORKQUEUE) &&
            cpubind_shared_own_user(b, entry) && !is_in_goal(entry, goal) &&
            put_back_for(&l, entry, CPUBIND_ITEM_SKIPPED))
            drop_leavers(&l, i);
    }
}

int cpubind_give_back_irq(cpubind_binding *b, const cpubind_irq_id *id,
                          const cpubind_irqbalance *daemon)
{
    const leaver l = {b, b->record.pid, b->record.start};
    const cpubind_shared_entry like = {.kind = CPUBIND_ITEM_IRQ, .id = *id};
    const int32_t place = cpubind_shared_find(&b->shared.record, &like);
    const cpubind_shared_entry *entry;
    if (place < 0)
        return 1;
    entry = &b->shared.record.entry[place];
    if (!put_back_for(&l, entry, CPUBIND_ITEM_SKIPPED))
        return 0;
    if (daemon->pid != 0 && is_to_unban(&l, entry))
        (void)cpubind_irqbalance_unban(&b->root, daemon, &entry->number, 1);
    drop_leavers(&l, place);
    return 1;
}
