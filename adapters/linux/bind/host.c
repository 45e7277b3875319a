/* host.c - the file of the record of the host, and who uses its entries
 * SPDX-License-Identifier: MIT
 *
 * Opens, locks, reads and writes host.record; moves nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/process.h"
#include "binding.h"

/* How long a binding waits whose group has waited in vain already. */
#define SHORT_WAIT_MS 100

static cpubind_linux_fault fault_of_host(cpubind_linux_fault why)
{
    if (why.error == ENOMEM || !why.error)
        return cpubind_fault_of(why.error, "memory");
    if (why.error == EWOULDBLOCK && strcmp(why.what, "lock") == 0)
        return cpubind_fault_of(why.error, CPUBIND_HOST_LOCK);
    return (cpubind_linux_fault){
        why.error, strcmp(why.what, "folder") == 0 ? why.what : "host.record", why.line};
}

/* Whether a user is known here by its number: doctor is the same everywhere. */
static int is_of_space(const cpubind_binding *b, const cpubind_shared_user *user)
{
    return user->pid == CPUBIND_DOCTOR || cpubind_is_same_space(user->space, b->space);
}

int cpubind_shared_is_of(const cpubind_binding *b, const cpubind_shared_user *user, int32_t pid,
                         uint64_t start)
{
    return user->pid == pid && user->start == start && is_of_space(b, user);
}

cpubind_shared_user *cpubind_shared_own_user(const cpubind_binding *b,
                                             const cpubind_shared_entry *entry)
{
    for (int32_t i = entry->n_user; i-- > 0;)
        if (cpubind_shared_is_of(b, &entry->user[i], b->record.pid, b->record.start))
            return &entry->user[i];
    return NULL;
}

/* The sets of the file become sets of the record of the process. An entry of an earlier boot of
 * the kernel says nothing of this one. */
static cpubind_linux_fault load(cpubind_binding *b)
{
    cpubind_shared *host = &b->shared;
    cpubind_linux_fault why = cpubind_record_read(host->file, &host->previous);
    if (why.error == ENOENT)
        why = cpubind_no_fault;
    else if (!why.error)
        why = cpubind_shared_parse(host->previous.data, host->previous.len, b->sys,
                                   &b->record.sets, &host->record);
    if (!cpubind_is_same_boot(host->record.boot, b->boot)) {
        cpubind_shared_free(&host->record);
        host->is_dirty = 1;
    }
    memcpy(host->record.boot, b->boot, sizeof b->boot);
    if (why.line == 1 && strcmp(why.what, "form") == 0)
        cpubind_record_form_of(host->previous.data, host->previous.len, b->report.host_form);
    return why;
}

int cpubind_is_host_busy(cpubind_linux_fault why)
{
    return why.error == EWOULDBLOCK && strcmp(why.what, CPUBIND_HOST_LOCK) == 0;
}

/* Notes for the report who keeps the record, and in which state. */
static void note_holder(cpubind_binding *b, const cpubind_record_holder *holder)
{
    cpubind_proc_stat stat = {.start = 0};
    b->report.is_host_busy = 1;
    b->report.host_holder = holder->pid;
    if (holder->pid > 0 && !cpubind_proc_stat_read(&b->root, holder->pid, 0, &stat).error &&
        stat.start == holder->start)
        b->report.host_holder_state = stat.state;
}

/* Opens the file, and waits for its lock. */
static cpubind_linux_fault open_waiting(cpubind_binding *b, cpubind_record_mode mode)
{
    const int is_hopeless = b->group && b->group->is_host_busy;
    cpubind_record_wait wait = {.limit_ms = is_hopeless && b->host_wait_ms > SHORT_WAIT_MS
                                                ? SHORT_WAIT_MS
                                                : b->host_wait_ms,
                                .hear = b->options.host_wait,
                                .hear_ctx = b->options.host_wait_ctx,
                                .stop = b->options.stop,
                                .stop_ctx = b->options.stop_ctx};
    const cpubind_linux_fault why =
        cpubind_record_open(&b->root, CPUBIND_RECORD_HOST, mode, &wait, &b->shared.file);
    if (!why.error && b->shared.file && mode != CPUBIND_RECORD_READ)
        cpubind_process_sign(b, b->shared.file);
    if (why.error == EWOULDBLOCK) {
        note_holder(b, &wait.holder);
        b->host_wait_ms = 0; /* a call waits once */
    }
    if (b->group && mode != CPUBIND_RECORD_READ)
        b->group->is_host_busy = why.error == EWOULDBLOCK;
    return why;
}

cpubind_linux_fault cpubind_shared_open(cpubind_binding *b, cpubind_record_mode mode)
{
    cpubind_linux_fault why;
    if (b->shared.file)
        return cpubind_no_fault;
    why = open_waiting(b, mode);
    if (why.error == ENOENT && mode != CPUBIND_RECORD_MAKE)
        return cpubind_no_fault; /* there is no folder, so no record */
    if (!why.error)
        why = load(b);
    if (why.error)
        cpubind_shared_close(b);
    return fault_of_host(why);
}

cpubind_linux_fault cpubind_shared_write(cpubind_binding *b)
{
    cpubind_shared *host = &b->shared;
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_linux_fault why = cpubind_no_fault;
    if (!host->is_dirty)
        return why;
    if (host->record.n_entry == 0) {
        why = cpubind_record_remove(host->file);
    } else {
        why = cpubind_shared_format(&host->record, &b->record.sets, b->sys, &bytes);
        if (!why.error)
            why = cpubind_record_write(host->file, &bytes);
        cpubind_bytes_free(&bytes);
    }
    host->is_dirty = why.error != 0;
    b->is_save_failed |= why.error != 0;
    return fault_of_host(why);
}

void cpubind_shared_revert(cpubind_binding *b)
{
    cpubind_shared *host = &b->shared;
    if (!host->file)
        return;
    if (host->previous.len > 0)
        (void)cpubind_record_write(host->file, &host->previous);
    else
        (void)cpubind_record_remove(host->file);
}

void cpubind_shared_close(cpubind_binding *b)
{
    cpubind_record_close(b->shared.file);
    cpubind_shared_free(&b->shared.record);
    cpubind_bytes_free(&b->shared.previous);
    b->shared = (cpubind_shared){0};
}

/* == Users ================================================================== */

int cpubind_shared_lives(cpubind_binding *b, const cpubind_shared_user *user)
{
    return user->pid == CPUBIND_DOCTOR || !is_of_space(b, user) ||
           !cpubind_has_ended(&b->root, user->pid, user->start);
}

const cpubind_shared_user *cpubind_shared_last_other(cpubind_binding *b,
                                                     const cpubind_shared_entry *entry,
                                                     int32_t pid, uint64_t start)
{
    for (int32_t i = entry->n_user; i-- > 0;)
        if (!cpubind_shared_is_of(b, &entry->user[i], pid, start) &&
            cpubind_shared_lives(b, &entry->user[i]))
            return &entry->user[i];
    return NULL;
}

/* Drops the users that have ended, and this process, but for one that gave the set that the
 * entry is on now. */
static void drop_old_users(cpubind_binding *b, cpubind_shared_entry *entry, int32_t now,
                           int32_t set)
{
    for (int32_t i = entry->n_user; i-- > 0;) {
        const cpubind_shared_user user = entry->user[i];
        if (!cpubind_shared_is_of(b, &user, b->record.pid, b->record.start) &&
            cpubind_shared_lives(b, &user))
            continue;
        if (user.set != now || user.set == set)
            cpubind_shared_drop_user(entry, i);
    }
}

cpubind_linux_fault cpubind_shared_use(cpubind_binding *b, const cpubind_shared_entry *like,
                                       int32_t set)
{
    const int32_t now = like->before;
    const cpubind_shared_user user = {b->record.pid, b->record.start, b->space, set};
    cpubind_shared_entry *entry;
    int32_t place;
    cpubind_linux_fault why = cpubind_shared_add(&b->shared.record, b->sys, like, &place);
    if (why.error)
        return why;
    b->shared.is_dirty = 1;
    entry = &b->shared.record.entry[place];
    entry->number = like->number;
    if (!cpubind_shared_is_given(entry, now) && !cpubind_shared_last_other(b, entry, 0, 0)) {
        entry->before = now; /* somebody else has moved it since its last user has ended */
        entry->n_user = 0;
    }
    drop_old_users(b, entry, now, set);
    why = cpubind_shared_add_user(entry, b->sys, &user);
    if (why.error && entry->n_user == 0)
        cpubind_shared_drop(&b->shared.record, place);
    return why;
}
