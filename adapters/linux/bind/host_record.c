/* host_record.c - the record of the host in memory: entries and their users
 * SPDX-License-Identifier: MIT
 *
 * Pure but for memory: no system call, no file.
 */
#include "host_record.h"
#include "../kernel/irq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cpubind_shared_free(cpubind_shared_record *host)
{
    for (int32_t i = 0; i < host->n_entry; i++)
        free(host->entry[i].user);
    free(host->entry);
    memset(host, 0, sizeof *host);
}

int cpubind_shared_compare(const cpubind_shared_entry *a, const cpubind_shared_entry *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind == CPUBIND_ITEM_IRQ || a->kind == CPUBIND_ITEM_WORKQUEUE ||
        a->kind == CPUBIND_ITEM_FILE)
        return cpubind_irq_compare(&a->id, &b->id);
    const uint64_t keys[][2] = {{(uint64_t)a->number, (uint64_t)b->number},
                                {a->start, b->start},
                                {a->space.pid, b->space.pid},
                                {a->space.time, b->space.time},
                                {(uint64_t)a->id.index, (uint64_t)b->id.index}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static int order_of_entries(const void *a, const void *b)
{
    return cpubind_shared_compare((const cpubind_shared_entry *)a,
                                  (const cpubind_shared_entry *)b);
}

/* The place of the entry that compares equal, or where it would be: *is_there 0. */
static int32_t place_of(const cpubind_shared_record *host, const cpubind_shared_entry *like,
                        int *is_there)
{
    const int32_t at =
        cpubind_place_in(host->entry, host->n_entry, sizeof *like, like, order_of_entries);
    *is_there = at < host->n_entry && cpubind_shared_compare(&host->entry[at], like) == 0;
    return at;
}

int32_t cpubind_shared_find(const cpubind_shared_record *host, const cpubind_shared_entry *like)
{
    int is_there;
    const int32_t at = place_of(host, like, &is_there);
    return is_there ? at : -1;
}

cpubind_linux_fault cpubind_shared_add(cpubind_shared_record *host, const cpubind_sys *sys,
                                       const cpubind_shared_entry *entry, int32_t *place)
{
    int is_there;
    *place = place_of(host, entry, &is_there);
    return is_there ? cpubind_no_fault
                    : CPUBIND_INSERT(sys, host->entry, host->n_entry, host->cap_entry, *place,
                                     entry);
}

cpubind_linux_fault cpubind_shared_add_user(cpubind_shared_entry *entry, const cpubind_sys *sys,
                                            const cpubind_shared_user *user)
{
    return CPUBIND_APPEND(sys, entry->user, entry->n_user, entry->cap_user, user);
}

void cpubind_shared_drop_user(cpubind_shared_entry *entry, int32_t place)
{
    entry->n_user--;
    memmove(entry->user + place, entry->user + place + 1,
            (size_t)(entry->n_user - place) * sizeof *entry->user);
}

int cpubind_shared_leave(cpubind_shared_record *host, int32_t place,
                         const cpubind_shared_user *user)
{
    cpubind_shared_entry *entry = &host->entry[place];
    cpubind_shared_drop_user(entry, (int32_t)(user - entry->user));
    if (entry->n_user > 0)
        return 0;
    cpubind_shared_drop(host, place);
    return 1;
}

void cpubind_shared_drop(cpubind_shared_record *host, int32_t place)
{
    free(host->entry[place].user);
    host->n_entry--;
    memmove(host->entry + place, host->entry + place + 1,
            (size_t)(host->n_entry - place) * sizeof *host->entry);
}

int cpubind_shared_is_given(const cpubind_shared_entry *entry, int32_t set)
{
    for (int32_t i = 0; i < entry->n_user; i++)
        if (entry->user[i].set == set)
            return 1;
    return 0;
}
