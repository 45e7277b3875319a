/* restore_host.c - puts what is of the host back for one of its users
 * SPDX-License-Identifier: MIT
 *
 * An entry of the record of the host gets what its last other user that lives gave it, else
 * what it had at first. One that somebody else has moved since is left where it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/process.h"
#include "binding.h"

/* == One entry ============================================================== */

int cpubind_put_back_entry(cpubind_binding *b, const cpubind_shared_entry *entry,
                           int32_t should, cpubind_item_result if_not)
{
    cpubind_shared_entry now = *entry;
    cpubind_linux_fault why;
    cpubind_subject subject;
    now.before = CPUBIND_CPUSET_NONE;
    why = cpubind_read_entry(b, entry, &now.number, &now.before);
    subject = cpubind_subject_of(b, &now, should);
    if (cpubind_is_gone(b, entry, why) || (!why.error && subject.was == should))
        return 1;
    if (!why.error && !cpubind_shared_is_given(entry, subject.was) &&
        !cpubind_has_all(b, &now, subject.was)) {
        (void)cpubind_report_why(b, &subject, CPUBIND_ITEM_KEPT, cpubind_no_fault);
        return 1;
    }
    if (!why.error)
        why = cpubind_write_entry(b, &now, should);
    if (cpubind_is_gone(b, entry, why))
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
    return cpubind_shared_is_of(l->b, user, l->pid, l->start) ||
           !cpubind_shared_lives(l->b, user);
}

/* Whether an entry is to be given back: by the process, or with pid 0 by one that has ended. */
static int has_leaver(const leaver *l, const cpubind_shared_entry *entry)
{
    for (int32_t i = 0; i < entry->n_user; i++)
        if (l->pid ? cpubind_shared_is_of(l->b, &entry->user[i], l->pid, l->start)
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

/* Takes back the bans that one irqbalance has for leaving users, which end with it: all in one
 * talk. They are the entries from a place on.
 *   returns the place after them */
static int32_t put_back_bans(const leaver *l, int32_t first)
{
    cpubind_shared_record *host = &l->b->shared.record;
    const int32_t pid = host->entry[first].number;
    const uint64_t start = host->entry[first].start;
    const cpubind_irqbalance daemon = {pid, start, 0};
    const cpubind_subject subject = {
        CPUBIND_ITEM_IRQBALANCE, pid, pid, "irqbalance", CPUBIND_CPUSET_NONE,
        CPUBIND_CPUSET_NONE};
    cpubind_linux_fault why = {ENOMEM, "memory", 0};
    int32_t *irq = (int32_t *)l->b->sys->malloc((size_t)host->n_entry * sizeof *irq);
    int32_t n = 0, n_leaver = 0, end = first;
    for (; end < host->n_entry && host->entry[end].number == pid &&
           host->entry[end].start == start;
         end++) {
        const cpubind_shared_entry *entry = &host->entry[end];
        if (!has_leaver(l, entry))
            continue;
        n_leaver++;
        if (irq && entry->before < 0 &&
            !cpubind_shared_last_other(l->b, entry, l->pid, l->start))
            irq[n++] = entry->id.index;
    }
    if (irq)
        why = cpubind_irqbalance_unban(&l->b->root, &daemon, irq, n);
    free(irq);
    if (n_leaver > 0 && why.error != ESRCH)
        cpubind_report_put_back(l->b, &subject, why, CPUBIND_ITEM_FAILED);
    for (int32_t i = first; i < end; i++)
        host->entry[i].is_back =
            (!why.error || why.error == ESRCH) && has_leaver(l, &host->entry[i]);
    return end;
}

void cpubind_put_back_shared(cpubind_binding *b, int32_t pid, uint64_t start)
{
    const leaver l = {b, pid, start};
    cpubind_shared_record *host = &b->shared.record;
    int32_t n = host->n_entry, i;
    while (n > 0 && host->entry[n - 1].kind == CPUBIND_ITEM_BAN) /* the last kind */
        n--;
    for (i = n; i-- > 0;)
        host->entry[i].is_back = has_leaver(&l, &host->entry[i]) &&
                                 put_back_for(&l, &host->entry[i], CPUBIND_ITEM_FAILED);
    for (i = n; i < host->n_entry;)
        i = put_back_bans(&l, i);
    for (i = host->n_entry; i-- > 0;)
        if (host->entry[i].is_back)
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

int cpubind_give_back_irq(cpubind_binding *b, const cpubind_irq_id *id)
{
    const leaver l = {b, b->record.pid, b->record.start};
    const cpubind_shared_record *host = &b->shared.record;
    const cpubind_shared_entry like = {.kind = CPUBIND_ITEM_IRQ, .id = *id};
    cpubind_shared_entry ban = {.kind = CPUBIND_ITEM_BAN,
                                .number = b->daemon.pid,
                                .start = b->daemon.start,
                                .space = b->space};
    int32_t place = cpubind_shared_find(host, &like);
    if (place < 0)
        return 1;
    if (!put_back_for(&l, &host->entry[place], CPUBIND_ITEM_SKIPPED))
        return 0;
    ban.id.index = host->entry[place].number;
    drop_leavers(&l, place);
    place = cpubind_shared_find(host, &ban);
    if (place >= 0 && cpubind_shared_own_user(b, &host->entry[place]) &&
        put_back_for(&l, &host->entry[place], CPUBIND_ITEM_SKIPPED))
        drop_leavers(&l, place);
    return 1;
}
