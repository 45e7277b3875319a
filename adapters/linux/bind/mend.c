/* mend.c - make changes of host_change.h on this host, on record, and put them back
 * SPDX-License-Identifier: MIT
 *
 * Writes the files that mend_text.c accepts, masks of threads and the list of irqbalance, and
 * nothing that was not asked for. The rules are in mend.h.
 */
#define _GNU_SOURCE
#include "mend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/irqbalance.h"
#include "../kernel/process.h"
#include "binding.h"
#include "host_record.h"
#include "mend_record.h"

struct cpubind_mend {
    const cpubind_sys *sys;
    cpubind_root root;
    cpubind_record_file *file;
    cpubind_mend_record record;
    cpubind_cpu_sets sets;
    char boot[64];
    cpubind_mend_item *item;
    int32_t *entry_of; /* of each item: its entry, or -1 */
    char **now;        /* the value of each item before this call; malloc(3)'s */
    int32_t n_item;
};

const char *cpubind_mend_word(cpubind_mend_result result)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_MEND_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return (size_t)result < sizeof words / sizeof *words ? words[result] : "?";
}

/* == Texts ================================================================== */

/* A copy of `len` bytes, ended by NUL; NULL without memory. */
static char *copy_text(const cpubind_sys *sys, const char *text, size_t len)
{
    char *copy = (char *)sys->malloc(len + 1);
    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

static cpubind_linux_fault copy_to(const cpubind_sys *sys, const char *text, char **out)
{
    *out = text ? copy_text(sys, text, strlen(text)) : NULL;
    return cpubind_fault_of(text && !*out ? ENOMEM : 0, "memory");
}

/* == Values of the kernel =================================================== */

/* Reads a file without the line feed. ENOENT: it is not there. */
static cpubind_linux_fault read_file(cpubind_mend *m, const char *name, char **out)
{
    cpubind_bytes bytes = {0};
    cpubind_linux_fault why = cpubind_input_fault(cpubind_root_read(&m->root, name, &bytes));
    while (!why.error && bytes.len > 0 && bytes.data[bytes.len - 1] == '\n')
        bytes.len--;
    if (!why.error) {
        *out = copy_text(m->sys, bytes.len ? bytes.data : "", (size_t)bytes.len);
        if (!*out)
            why = cpubind_fault_of(ENOMEM, "memory");
        else if (!cpubind_mend_is_value(*out))
            why = cpubind_fault_of(EILSEQ, "read");
    }
    cpubind_bytes_free(&bytes);
    return cpubind_fault_of(why.error, why.error == ENOMEM ? "memory" : "read");
}

/* Writes a value and a line feed. */
static cpubind_linux_fault write_file(cpubind_mend *m, const char *name, const char *value)
{
    const size_t len = strlen(value);
    char *text = copy_text(m->sys, value, len);
    cpubind_linux_fault why;
    if (!text)
        return cpubind_fault_of(ENOMEM, "memory");
    text[len] = '\n'; /* in place of the NUL */
    why = cpubind_write_value(m->sys, m->root.fd, name, text, len + 1, "write");
    free(text);
    return why;
}

/* ESRCH: the thread has ended. */
static cpubind_linux_fault read_mask(cpubind_mend *m, int32_t tid, char **out)
{
    int32_t set;
    cpubind_linux_fault why = cpubind_task_cpus(m->sys, tid, &m->sets, &set);
    if (!why.error)
        why = copy_to(m->sys, cpubind_cpu_sets_text(&m->sets, set), out);
    return why;
}

static cpubind_linux_fault write_mask(cpubind_mend *m, int32_t tid, const char *value)
{
    int32_t set;
    cpubind_linux_fault why =
        cpubind_cpu_sets_of_text(&m->sets, m->sys, value, (int32_t)strlen(value), &set);
    return why.error ? why : cpubind_task_move(m->sys, tid, &m->sets.set[set]);
}

/* The start of the thread or of irqbalance; ESRCH: it has ended. */
static cpubind_linux_fault read_start(cpubind_mend *m, const cpubind_mend_entry *e,
                                      uint64_t *start)
{
    cpubind_proc_stat stat;
    const int32_t tid = e->kind == CPUBIND_CHANGE_THREAD && e->tid != e->pid ? e->tid : 0;
    const cpubind_linux_fault why = cpubind_proc_stat_read(&m->root, e->pid, tid, &stat);
    if (!why.error)
        *start = stat.start;
    return why;
}

/* Reads the value of an entry into *out: NULL for an interrupt that is not banned, "ban" for
 * one that is. */
static cpubind_linux_fault read_value(cpubind_mend *m, const cpubind_mend_entry *e, char **out)
{
    const cpubind_irqbalance daemon = {e->pid, e->start, 0};
    cpubind_linux_fault why = cpubind_no_fault;
    int32_t is_banned = 0;
    *out = NULL;
    switch (e->kind) {
    case CPUBIND_CHANGE_FILE:
        return read_file(m, e->file, out);
    case CPUBIND_CHANGE_THREAD:
        return read_mask(m, e->tid, out);
    case CPUBIND_CHANGE_BAN:
        why = cpubind_irqbalance_banned(&m->root, &daemon, &e->irq, 1, &is_banned);
        if (!why.error && is_banned)
            why = copy_to(m->sys, "ban", out);
        break;
    }
    return why;
}

/* Gives the thing of an entry a value; for a ban NULL ends it. */
static cpubind_linux_fault write_value(cpubind_mend *m, const cpubind_mend_entry *e,
                                       const char *value)
{
    const cpubind_irqbalance daemon = {e->pid, e->start, 0};
    switch (e->kind) {
    case CPUBIND_CHANGE_FILE:
        return write_file(m, e->file, value);
    case CPUBIND_CHANGE_THREAD:
        return write_mask(m, e->tid, value);
    case CPUBIND_CHANGE_BAN:
        break;
    }
    return value ? cpubind_irqbalance_ban(&m->root, &daemon, &e->irq, 1)
                 : cpubind_irqbalance_unban(&m->root, &daemon, &e->irq, 1);
}

/* Whether two values of a kind say the same; both may be NULL. */
static int is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Whether the record of the host has an interrupt: a bound process uses it. */
static int is_irq_bound(cpubind_mend *m, int32_t irq)
{
    cpubind_shared_record host = {.n_entry = 0};
    cpubind_bytes bytes = {0};
    cpubind_record_file *file;
    int is_found = 0;
    if (cpubind_record_open(&m->root, NULL, CPUBIND_RECORD_HOST, CPUBIND_RECORD_READ, &file)
            .error)
        return 0;
    if (!cpubind_record_read(file, &bytes).error &&
        !cpubind_shared_parse(bytes.data, bytes.len, m->sys, &m->sets, &host).error &&
        cpubind_is_same_boot(host.boot, m->boot))
        for (int32_t i = 0; i < host.n_entry; i++)
            is_found |= host.entry[i].kind == CPUBIND_ITEM_IRQ && host.entry[i].number == irq;
    cpubind_shared_free(&host);
    cpubind_bytes_free(&bytes);
    cpubind_record_close(file);
    return is_found;
}

/* Whether a binding has what an entry is about, so that its value is not to be put back now. */
static int is_bound(cpubind_mend *m, const cpubind_mend_entry *e, const char *now)
{
    static const char irq[] = "proc/irq/";
    switch (e->kind) {
    case CPUBIND_CHANGE_FILE:
        return strncmp(e->file, irq, sizeof irq - 1) == 0 &&
               is_irq_bound(m, (int32_t)strtol(e->file + sizeof irq - 1, NULL, 10));
    case CPUBIND_CHANGE_THREAD:
        return !is_same(now, e->after) && cpubind_place_has_record(&m->root, e->pid);
    case CPUBIND_CHANGE_BAN:
        return is_irq_bound(m, e->irq);
    }
    return 0;
}

/* Whether a thread has no CPU but those of a value: the kernel keeps those of its cpuset. */
static int is_within(cpubind_mend *m, const cpubind_mend_entry *e, const char *now)
{
    int32_t part, whole;
    return e->kind == CPUBIND_CHANGE_THREAD &&
           !cpubind_cpu_sets_of_text(&m->sets, m->sys, now, (int32_t)strlen(now), &part)
                .error &&
           !cpubind_cpu_sets_of_text(&m->sets, m->sys, e->after, (int32_t)strlen(e->after),
                                     &whole)
                .error &&
           cpubind_cpu_sets_is_part(&m->sets, part, whole);
}

/* == The record ============================================================= */

static cpubind_linux_fault read_boot(cpubind_mend *m)
{
    char *text = NULL;
    const cpubind_linux_fault why = read_file(m, "proc/sys/kernel/random/boot_id", &text);
    if (text && strlen(text) < sizeof m->boot)
        memcpy(m->boot, text, strlen(text) + 1);
    free(text);
    return why.error == ENOMEM ? why : cpubind_no_fault;
}

/* Reads the record; one of an earlier boot says nothing about this one. */
static cpubind_linux_fault load(cpubind_mend *m)
{
    cpubind_bytes bytes = {0};
    cpubind_linux_fault why = cpubind_record_read(m->file, &bytes);
    if (why.error == ENOENT)
        why = cpubind_no_fault;
    else if (!why.error)
        why = cpubind_mend_parse(bytes.data, bytes.len, m->sys, &m->record);
    cpubind_bytes_free(&bytes);
    if (*m->boot && *m->record.boot && strcmp(m->boot, m->record.boot) != 0)
        cpubind_mend_record_free(&m->record);
    memcpy(m->record.boot, m->boot, sizeof m->boot);
    return why;
}

/* Writes the entries that are kept; without one, the record is removed. */
static cpubind_linux_fault save(cpubind_mend *m)
{
    cpubind_bytes bytes = {0};
    cpubind_linux_fault why;
    int is_empty = 1;
    for (int32_t i = 0; i < m->record.n; i++)
        is_empty &= !m->record.entry[i].is_kept;
    if (is_empty)
        return cpubind_record_remove(m->file);
    why = cpubind_mend_format(&m->record, m->sys, &bytes);
    if (!why.error)
        why = cpubind_record_write(m->file, &bytes);
    cpubind_bytes_free(&bytes);
    return why;
}

static int is_of(const cpubind_mend_entry *a, const cpubind_mend_entry *b)
{
    return a->kind == b->kind && a->pid == b->pid && a->tid == b->tid && a->irq == b->irq &&
           a->start == b->start && is_same(a->file, b->file);
}

/* Adds an entry, or gives the one that is on record a new value; *place is where it is. The
 * texts of `like` are copied. */
static cpubind_linux_fault add_entry(cpubind_mend *m, const cpubind_mend_entry *like,
                                     int32_t *place)
{
    cpubind_mend_record *r = &m->record;
    cpubind_mend_entry *e;
    cpubind_linux_fault why;
    for (*place = 0; *place < r->n; ++*place) {
        e = &r->entry[*place];
        if (!is_of(e, like))
            continue;
        if (!e->old_after) {
            e->old_after = e->after;
            e->after = NULL;
        }
        free(e->after);
        e->is_kept = 1;
        return copy_to(m->sys, like->after, &e->after);
    }
    why = CPUBIND_APPEND(m->sys, r->entry, r->n, r->cap, like);
    if (why.error)
        return why;
    e = &r->entry[r->n - 1];
    e->file = e->before = e->after = e->old_after = NULL;
    e->is_kept = 1;
    why = copy_to(m->sys, like->file, &e->file);
    if (!why.error)
        why = copy_to(m->sys, like->before, &e->before);
    return why.error ? why : copy_to(m->sys, like->after, &e->after);
}

/* == Opening and closing ==================================================== */

static cpubind_linux_status status_of(cpubind_linux_fault why)
{
    return why.line > 0 ? CPUBIND_LINUX_ERR_DAMAGED : cpubind_record_status(why);
}

cpubind_linux_status cpubind_mend_open(const cpubind_sys *sys, cpubind_mend **out,
                                       cpubind_linux_fault *fault)
{
    const cpubind_sys *calls = sys ? sys : &cpubind_sys_real;
    cpubind_mend *m = (cpubind_mend *)calls->malloc(sizeof *m);
    cpubind_linux_fault why;
    *out = NULL;
    if (!m)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    memset(m, 0, sizeof *m);
    m->sys = calls;
    why = cpubind_root_live(&m->root, calls);
    if (!why.error)
        why = read_boot(m);
    if (!why.error)
        why = cpubind_record_open(&m->root, NULL, CPUBIND_RECORD_DOCTOR, CPUBIND_RECORD_MAKE,
                                  &m->file);
    if (!why.error)
        why = load(m);
    if (why.error) {
        cpubind_mend_close(m);
        return cpubind_linux_end(status_of(why), why, fault);
    }
    *out = m;
    return CPUBIND_LINUX_OK;
}

void cpubind_mend_close(cpubind_mend *m)
{
    if (!m)
        return;
    for (int32_t i = 0; i < m->n_item; i++)
        free(m->now[i]);
    free(m->item);
    free(m->entry_of);
    free(m->now);
    cpubind_mend_record_free(&m->record);
    cpubind_cpu_sets_free(&m->sets);
    cpubind_record_close(m->file);
    if (m->root.fd >= 0)
        m->sys->close(m->root.fd);
    free(m);
}

const cpubind_mend_item *cpubind_mend_items(const cpubind_mend *m, int32_t *n)
{
    *n = m->n_item;
    return m->item;
}

const char *cpubind_mend_path(const cpubind_mend *m)
{
    return cpubind_record_path(m->file);
}

static cpubind_linux_fault make_items(cpubind_mend *m, int32_t n)
{
    const size_t room = n > 0 ? (size_t)n : 1;
    m->item = (cpubind_mend_item *)m->sys->malloc(room * sizeof *m->item);
    m->entry_of = (int32_t *)m->sys->malloc(room * sizeof *m->entry_of);
    m->now = (char **)m->sys->malloc(room * sizeof *m->now);
    if (!m->item || !m->entry_of || !m->now)
        return cpubind_fault_of(ENOMEM, "memory");
    memset(m->item, 0, room * sizeof *m->item);
    memset(m->now, 0, room * sizeof *m->now);
    m->n_item = n;
    return cpubind_no_fault;
}

/* == Making changes ========================================================= */

static int is_good(const cpubind_change *c)
{
    switch (c->kind) {
    case CPUBIND_CHANGE_FILE:
        return c->file && cpubind_mend_is_file(c->file) && c->value &&
               cpubind_mend_is_value(c->value);
    case CPUBIND_CHANGE_THREAD:
        return c->pid > 0 && c->tid > 0 && c->value && cpubind_mend_is_value(c->value);
    case CPUBIND_CHANGE_BAN:
        return c->pid > 0 && c->irq >= 0;
    }
    return 0;
}

static void refuse(cpubind_mend_item *item, cpubind_mend_result result, cpubind_linux_fault why)
{
    item->result = why.error == ESRCH || why.error == ENOENT ? CPUBIND_MEND_GONE : result;
    item->fault = why;
}

/* Whether a change of the group of item i was refused. */
static int is_group_refused(const cpubind_mend *m, int32_t i)
{
    for (int32_t k = 0; k < m->n_item; k++)
        if (m->item[k].change.group == m->item[i].change.group &&
            (m->item[k].result == CPUBIND_MEND_REFUSED ||
             m->item[k].result == CPUBIND_MEND_STUCK))
            return 1;
    return 0;
}

/* Reads what is now, and puts the change on record in memory unless it is so already. A change
 * that cannot be read is refused. */
static cpubind_linux_fault prepare(cpubind_mend *m, int32_t i)
{
    cpubind_mend_item *item = &m->item[i];
    const cpubind_change *c = &item->change;
    /* The texts are not changed. */
    cpubind_mend_entry like = {.kind = c->kind, .irq = c->irq, .pid = c->pid, .tid = c->tid};
    cpubind_linux_fault why;
    like.file = (char *)c->file;
    m->entry_of[i] = -1;
    item->result = CPUBIND_MEND_LEFT;
    if (is_group_refused(m, i))
        return cpubind_no_fault;
    if (c->kind != CPUBIND_CHANGE_FILE)
        why = read_start(m, &like, &like.start);
    else
        why = cpubind_no_fault;
    if (!why.error)
        why = read_value(m, &like, &m->now[i]);
    if (why.error == ENOMEM)
        return why;
    if (why.error) {
        refuse(item, CPUBIND_MEND_REFUSED, why);
        return cpubind_no_fault;
    }
    item->before = m->now[i];
    item->result = is_same(m->now[i], c->kind == CPUBIND_CHANGE_BAN ? "ban" : c->value)
                       ? CPUBIND_MEND_RIGHT
                       : CPUBIND_MEND_LEFT;
    if (item->result == CPUBIND_MEND_RIGHT)
        return cpubind_no_fault;
    like.before = m->now[i];
    like.after = (char *)c->value;
    return add_entry(m, &like, &m->entry_of[i]);
}

/* Undoes the changes of a group that were made before place `end`, the last one first. */
static void undo_group(cpubind_mend *m, int32_t end)
{
    for (int32_t i = end - 1; i >= 0 && m->item[i].change.group == m->item[end].change.group;
         i--) {
        cpubind_mend_item *item = &m->item[i];
        if (item->result != CPUBIND_MEND_MADE)
            continue;
        const cpubind_linux_fault why =
            write_value(m, &m->record.entry[m->entry_of[i]], m->now[i]);
        item->result = CPUBIND_MEND_UNDONE;
        if (why.error)
            refuse(item, CPUBIND_MEND_STUCK, why);
    }
}

/* Whether a change that failed may be in effect all the same, as a ban whose answer was
 * lost. */
static int may_be_made(cpubind_mend *m, int32_t i, const cpubind_mend_entry *e)
{
    char *now = NULL;
    const cpubind_linux_fault why = read_value(m, e, &now);
    const int is_before = !why.error && is_same(now, m->now[i]);
    free(now);
    return !is_before;
}

static void make_change(cpubind_mend *m, int32_t i)
{
    cpubind_mend_item *item = &m->item[i];
    const cpubind_mend_entry *e;
    cpubind_linux_fault why;
    if (item->result != CPUBIND_MEND_LEFT || is_group_refused(m, i))
        return;
    e = &m->record.entry[m->entry_of[i]];
    why = write_value(m, e, item->change.kind == CPUBIND_CHANGE_BAN ? "ban" : e->after);
    item->result = CPUBIND_MEND_MADE;
    if (!why.error)
        return;
    refuse(item, CPUBIND_MEND_REFUSED, why);
    if (item->result == CPUBIND_MEND_GONE)
        return;
    if (may_be_made(m, i, e)) {
        why = write_value(m, e, m->now[i]);
        if (why.error)
            refuse(item, CPUBIND_MEND_STUCK, why);
    }
    undo_group(m, i);
}

/* Gives the entries of changes that are not in effect their former values on record. */
static void settle(cpubind_mend *m)
{
    for (int32_t i = 0; i < m->n_item; i++) {
        cpubind_mend_entry *e = m->entry_of[i] >= 0 ? &m->record.entry[m->entry_of[i]] : NULL;
        const cpubind_mend_result result = m->item[i].result;
        if (!e || result == CPUBIND_MEND_MADE || result == CPUBIND_MEND_STUCK)
            continue;
        e->is_kept = e->old_after != NULL;
        if (e->old_after) {
            free(e->after);
            e->after = e->old_after;
            e->old_after = NULL;
        }
    }
}

cpubind_linux_status cpubind_mend_apply(cpubind_mend *m, const cpubind_change *change,
                                        int32_t n, cpubind_linux_fault *fault)
{
    cpubind_linux_fault why = cpubind_no_fault, refused = cpubind_no_fault;
    int n_entry = 0;
    for (int32_t i = 0; i < n; i++)
        if (!is_good(&change[i]))
            return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "argument", fault);
    why = make_items(m, n);
    for (int32_t i = 0; !why.error && i < n; i++) {
        m->item[i].change = change[i];
        why = prepare(m, i);
        n_entry += m->entry_of[i] >= 0;
    }
    if (!why.error && n_entry > 0)
        why = save(m);
    if (why.error)
        return cpubind_linux_end(status_of(why), why, fault);
    for (int32_t i = 0; i < n; i++)
        make_change(m, i);
    settle(m);
    /* Without this the record has entries that restore finds as they were before. */
    if (n_entry > 0)
        (void)save(m);
    for (int32_t i = 0; i < n; i++)
        if (m->item[i].result == CPUBIND_MEND_REFUSED ||
            m->item[i].result == CPUBIND_MEND_STUCK)
            refused = m->item[i].fault;
    return cpubind_linux_end(refused.error ? CPUBIND_LINUX_ERR_REFUSED : CPUBIND_LINUX_OK,
                             refused, fault);
}

/* == Putting back =========================================================== */

/* Puts one entry back. */
static void put_back(cpubind_mend *m, int32_t i)
{
    cpubind_mend_entry *e = &m->record.entry[i];
    cpubind_mend_item *item = &m->item[i];
    const char *const after = e->kind == CPUBIND_CHANGE_BAN ? "ban" : e->after;
    uint64_t start = e->start;
    cpubind_linux_fault why =
        e->kind == CPUBIND_CHANGE_FILE ? cpubind_no_fault : read_start(m, e, &start);
    if (!why.error && start != e->start)
        why = cpubind_fault_of(ESRCH, "process");
    if (!why.error)
        why = read_value(m, e, &m->now[i]);
    if (why.error) {
        refuse(item, CPUBIND_MEND_STUCK, why);
    } else if (is_bound(m, e, m->now[i])) {
        item->result = CPUBIND_MEND_BOUND;
        item->now = m->now[i];
    } else if (is_same(m->now[i], e->before)) {
        item->result = CPUBIND_MEND_RIGHT;
    } else if (!is_same(m->now[i], after) && !is_within(m, e, m->now[i])) {
        item->result = CPUBIND_MEND_OTHER;
        item->now = m->now[i];
    } else {
        why = write_value(m, e, e->before);
        item->result = CPUBIND_MEND_BACK;
        if (why.error)
            refuse(item, CPUBIND_MEND_STUCK, why);
    }
    e->is_kept = item->result == CPUBIND_MEND_STUCK || item->result == CPUBIND_MEND_BOUND;
}

cpubind_linux_status cpubind_mend_restore(cpubind_mend *m, cpubind_linux_fault *fault)
{
    cpubind_linux_fault refused = cpubind_no_fault;
    const int32_t n = m->record.n;
    cpubind_linux_fault why = make_items(m, n);
    if (why.error)
        return cpubind_linux_end(status_of(why), why, fault);
    for (int32_t i = n - 1; i >= 0; i--) {
        const cpubind_mend_entry *e = &m->record.entry[i];
        m->item[i].change =
            (cpubind_change){e->kind, e->file, e->after, e->pid, e->tid, e->irq, 0};
        m->item[i].before = e->before;
        put_back(m, i);
        if (m->item[i].result == CPUBIND_MEND_STUCK)
            refused = m->item[i].fault;
    }
    if (n > 0)
        why = save(m);
    return refused.error
               ? cpubind_linux_end(CPUBIND_LINUX_ERR_REFUSED, refused, fault)
               : cpubind_linux_end(why.error ? CPUBIND_LINUX_ERR_STATE : CPUBIND_LINUX_OK, why,
                                   fault);
}
