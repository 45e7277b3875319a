/* mend.c - make changes of host_change.h on this host, on record, and put them back
 * SPDX-License-Identifier: MIT
 *
 * A change is an entry of the record of the host, and cpubind doctor is one of its users: gives
 * knobs (knob.c) their values, and nothing that was not asked for. The rules are in mend.h.
 */
#define _GNU_SOURCE
#include "mend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/process.h"
#include "binding.h"

/* How long it waits for the record of the host. */
#define WAIT_MS 3000

struct cpubind_mend {
    cpubind_binding *b; /* of no process: the host and its record */
    const cpubind_sys *sys;
    cpubind_mend_item *item;
    cpubind_move *move; /* of each item: what, its value when this call began, and the one that
                           it shall have */
    char (*file)[CPUBIND_SETTING_SIZE]; /* of each item of restore */
    int32_t n_item;
};

const char *cpubind_mend_word(cpubind_mend_result result)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_MEND_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return (size_t)result < sizeof words / sizeof *words ? words[result] : "?";
}

/* The text of a value; NULL: there is no ban. */
static const char *text_of(const cpubind_mend *m, int32_t value)
{
    const cpubind_cpu_sets *sets = &m->b->record.sets;
    return value < 0
               ? NULL
               : cpubind_cpu_sets_text(sets, value) + cpubind_cpu_sets_is_value(sets, value);
}

/* == Opening and closing ==================================================== */

cpubind_linux_status cpubind_mend_open(const cpubind_sys *sys, cpubind_mend **out,
                                       cpubind_linux_fault *fault)
{
    const cpubind_sys *calls = sys ? sys : &cpubind_sys_real;
    cpubind_mend *m = (cpubind_mend *)calls->malloc(sizeof *m);
    cpubind_linux_fault why = {0};
    cpubind_linux_status status;
    *out = NULL;
    if (!m)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    *m = (cpubind_mend){.sys = calls};
    status = cpubind_bind_open_host(calls, &m->b, &why);
    if (status == CPUBIND_LINUX_ERR_OPEN)
        status = CPUBIND_LINUX_ERR_STATE;
    if (status == CPUBIND_LINUX_OK) {
        m->b->record.pid = CPUBIND_DOCTOR;
        m->b->host_wait_ms = WAIT_MS;
        why = cpubind_shared_open(m->b, CPUBIND_RECORD_MAKE);
        status =
            cpubind_is_host_busy(why) ? CPUBIND_LINUX_ERR_BUSY : cpubind_record_status(why);
    }
    if (status == CPUBIND_LINUX_OK)
        *out = m;
    else
        cpubind_mend_close(m);
    return cpubind_linux_end(status, why, fault);
}

void cpubind_mend_close(cpubind_mend *m)
{
    if (!m)
        return;
    if (m->b)
        cpubind_shared_close(m->b);
    cpubind_bind_close(m->b);
    free(m->item);
    free(m->move);
    free(m->file);
    free(m);
}

const cpubind_mend_item *cpubind_mend_items(const cpubind_mend *m, int32_t *n)
{
    *n = m->n_item;
    return m->item;
}

const char *cpubind_mend_path(const cpubind_mend *m)
{
    return cpubind_record_path(m->b->shared.file);
}

static cpubind_linux_fault make_items(cpubind_mend *m, int32_t n)
{
    const size_t room = (size_t)n + 1;
    m->item = (cpubind_mend_item *)m->sys->malloc(room * sizeof *m->item);
    m->move = (cpubind_move *)m->sys->malloc(room * sizeof *m->move);
    m->file = m->sys->malloc(room * sizeof *m->file);
    if (!m->item || !m->move || !m->file)
        return cpubind_fault_of(ENOMEM, "memory");
    memset(m->item, 0, room * sizeof *m->item);
    memset(m->move, 0, room * sizeof *m->move);
    m->n_item = n;
    return cpubind_no_fault;
}

static void refuse(cpubind_mend *m, const cpubind_shared_entry *of, cpubind_mend_item *item,
                   cpubind_mend_result result, cpubind_linux_fault why)
{
    item->result = cpubind_is_gone(m->b, of, why) ? CPUBIND_MEND_GONE : result;
    item->fault = why;
}

static int is_refused(const cpubind_mend_item *item)
{
    return item->result == CPUBIND_MEND_REFUSED || item->result == CPUBIND_MEND_STUCK;
}

/* == Making changes ========================================================= */

/* What a change is about. Returns whether it is one that may be made. */
static int find_entry(const cpubind_mend *m, const cpubind_change *c, cpubind_shared_entry *of)
{
    *of = (cpubind_shared_entry){.kind = CPUBIND_ITEM_FILE};
    switch (c->kind) {
    case CPUBIND_CHANGE_FILE:
        if (!c->file || !c->value || !cpubind_setting_find(c->file, &of->id))
            return 0;
        if (c->irq_id)
            *of = (cpubind_shared_entry){
                .kind = CPUBIND_ITEM_IRQ, .number = of->id.index, .id = *c->irq_id};
        return 1;
    case CPUBIND_CHANGE_THREAD:
        *of = (cpubind_shared_entry){
            .kind = CPUBIND_ITEM_THREAD, .number = c->tid, .pid = c->pid, .space = m->b->space};
        return c->pid > 0 && c->tid > 0 && c->value;
    case CPUBIND_CHANGE_BAN:
        *of = (cpubind_shared_entry){.kind = CPUBIND_ITEM_BAN,
                                     .number = c->pid,
                                     .space = m->b->space,
                                     .id.index = c->irq};
        return c->pid > 0 && c->irq >= 0;
    }
    return 0;
}

/* What a change is about, and its value; the start of a process is read apart.
 *   errors  EINVAL, "argument"; ENOMEM, "memory" */
static cpubind_linux_fault find_move(cpubind_mend *m, const cpubind_change *c,
                                     cpubind_move *out)
{
    cpubind_cpu_sets *sets = &m->b->record.sets;
    const char *const value = c->kind == CPUBIND_CHANGE_BAN ? "ban" : c->value;
    const int is_good = find_entry(m, c, &out->of);
    const int is_value = out->of.kind == CPUBIND_ITEM_FILE || out->of.kind == CPUBIND_ITEM_BAN;
    cpubind_linux_fault why = {EINVAL, "argument", 0};
    if (is_good)
        why = (is_value ? cpubind_cpu_sets_of_value : cpubind_cpu_sets_of_text)(
            sets, m->sys, value, (int32_t)strlen(value), &out->should);
    return why.error == ENOMEM ? why : cpubind_fault_of(why.error ? EINVAL : 0, "argument");
}

/* Whether a change of the group of item i was refused. */
static int is_group_refused(const cpubind_mend *m, int32_t i)
{
    for (int32_t k = 0; k < m->n_item; k++)
        if (m->item[k].change.group == m->item[i].change.group && is_refused(&m->item[k]))
            return 1;
    return 0;
}

/* Finds the binding that the process of a thread has.
 *   out     *process: its pid, 0: it is not bound, or not this thread; *before: the CPUs that
 *           it has on record for the thread */
static cpubind_linux_fault find_binding(cpubind_mend *m, const cpubind_shared_entry *e,
                                        cpubind_shared_user *process, int32_t *before)
{
    const cpubind_bind_options options = {.pid = e->pid, .is_reading = 1};
    const cpubind_record_thread *thread;
    const char *text;
    cpubind_binding *b;
    cpubind_linux_fault why = cpubind_no_fault;
    *process = (cpubind_shared_user){.pid = 0};
    if (e->kind != CPUBIND_ITEM_THREAD)
        return why;
    if (cpubind_bind_open(&options, m->sys, &b, &why) != CPUBIND_LINUX_OK)
        return why;
    thread = cpubind_record_find_thread(b->record.thread, b->record.n_thread, e->number);
    if (cpubind_process_is_alive(b) && thread) {
        *process =
            (cpubind_shared_user){.pid = e->pid, .start = b->record.start, .space = b->space};
        text = cpubind_cpu_sets_text(&b->record.sets, thread->before);
        why = cpubind_cpu_sets_of_text(&m->b->record.sets, m->sys, text, (int32_t)strlen(text),
                                       before);
    }
    cpubind_bind_close(b);
    return why;
}

/* A thread that a binding has moved was elsewhere before that, and the process is a user, too:
 * the one that comes first. */
static cpubind_linux_fault use_binding(cpubind_mend *m, const cpubind_shared_entry *of)
{
    cpubind_shared_record *host = &m->b->shared.record;
    cpubind_shared_entry like = *of;
    cpubind_shared_user process;
    int32_t place;
    cpubind_linux_fault why = find_binding(m, of, &process, &like.before);
    if (why.error || !process.pid || cpubind_shared_find(host, of) >= 0)
        return why;
    process.set = of->before;
    why = cpubind_shared_add(host, m->sys, &like, &place);
    return why.error ? why : cpubind_shared_add_user(&host->entry[place], m->sys, &process);
}

/* Reads what is now, and puts the change on record in memory unless it is so already. A change
 * that cannot be read is refused. */
static cpubind_linux_fault prepare(cpubind_mend *m, int32_t i)
{
    cpubind_mend_item *item = &m->item[i];
    const int32_t should = m->move[i].should;
    cpubind_shared_entry *of = &m->move[i].of;
    cpubind_proc_stat stat = {.start = 0};
    cpubind_linux_fault why = cpubind_no_fault;
    item->result = CPUBIND_MEND_LEFT;
    if (is_group_refused(m, i))
        return why;
    if (of->kind == CPUBIND_ITEM_THREAD)
        why = cpubind_proc_stat_read(&m->b->root, of->pid, of->number, &stat);
    else if (of->kind == CPUBIND_ITEM_BAN)
        why = cpubind_proc_stat_read(&m->b->root, of->number, 0, &stat);
    of->start = stat.start;
    if (!why.error)
        why = cpubind_read_entry(m->b, of, &of->number, &of->before);
    if (!why.error && of->before == should)
        item->result = CPUBIND_MEND_RIGHT;
    else if (!why.error)
        why = use_binding(m, of);
    if (why.error == ENOMEM)
        return why;
    if (why.error) {
        refuse(m, of, item, CPUBIND_MEND_REFUSED, why);
        return cpubind_no_fault;
    }
    item->before = text_of(m, of->before);
    return item->result == CPUBIND_MEND_RIGHT ? why : cpubind_shared_use(m->b, of, should);
}

/* Undoes a change, or what may be one. */
static void undo(cpubind_mend *m, int32_t i, cpubind_mend_result result)
{
    const cpubind_shared_entry *of = &m->move[i].of;
    const cpubind_linux_fault why = cpubind_write_entry(m->b, of, of->before);
    m->item[i].result = result;
    if (why.error)
        refuse(m, of, &m->item[i], CPUBIND_MEND_STUCK, why);
}

static void make_change(cpubind_mend *m, int32_t i)
{
    cpubind_mend_item *item = &m->item[i];
    const cpubind_shared_entry *of = &m->move[i].of;
    int32_t now = CPUBIND_CPUSET_NONE, number;
    cpubind_linux_fault why;
    if (item->result != CPUBIND_MEND_LEFT || is_group_refused(m, i))
        return;
    why = cpubind_write_entry(m->b, of, m->move[i].should);
    item->result = CPUBIND_MEND_MADE;
    if (!why.error)
        return;
    refuse(m, of, item, CPUBIND_MEND_REFUSED, why);
    if (item->result == CPUBIND_MEND_GONE)
        return;
    /* It may be in effect all the same, as a ban whose answer was lost. */
    if (cpubind_read_entry(m->b, of, &number, &now).error || now != of->before)
        undo(m, i, CPUBIND_MEND_REFUSED);
    for (int32_t k = i - 1; k >= 0 && m->item[k].change.group == item->change.group; k--)
        if (m->item[k].result == CPUBIND_MEND_MADE)
            undo(m, k, CPUBIND_MEND_UNDONE);
}

/* Takes what is not in effect off the record; what an earlier call has made stays. */
static void settle(cpubind_mend *m)
{
    cpubind_shared_record *host = &m->b->shared.record;
    for (int32_t i = 0; i < m->n_item; i++) {
        const int32_t place = cpubind_shared_find(host, &m->move[i].of);
        const cpubind_mend_result result = m->item[i].result;
        const cpubind_shared_user *own =
            place < 0 ? NULL : cpubind_shared_own_user(m->b, &host->entry[place]);
        if (own && own->set == m->move[i].should && result != CPUBIND_MEND_MADE &&
            result != CPUBIND_MEND_RIGHT && result != CPUBIND_MEND_STUCK)
            (void)cpubind_shared_leave(host, place, own);
    }
}

cpubind_linux_status cpubind_mend_apply(cpubind_mend *m, const cpubind_change *change,
                                        int32_t n, cpubind_linux_fault *fault)
{
    cpubind_linux_fault why = make_items(m, n);
    for (int32_t i = 0; !why.error && i < n; i++)
        why = find_move(m, &change[i], &m->move[i]);
    for (int32_t i = 0; !why.error && i < n; i++) {
        m->item[i].change = change[i];
        why = prepare(m, i);
    }
    if (!why.error)
        why = cpubind_shared_write(m->b);
    if (why.error)
        return cpubind_linux_end(cpubind_record_status(why), why, fault);
    for (int32_t i = 0; i < n; i++)
        make_change(m, i);
    settle(m);
    m->b->shared.is_dirty = 1;
    (void)cpubind_shared_write(
        m->b); /* else the record has entries that restore finds as they were before */
    for (int32_t i = 0; i < n; i++)
        if (is_refused(&m->item[i]))
            why = m->item[i].fault;
    return cpubind_linux_end(why.error ? CPUBIND_LINUX_ERR_REFUSED : CPUBIND_LINUX_OK, why,
                             fault);
}

/* == Putting back =========================================================== */

/* Puts one entry back to what its last other user gave it, or to what it was before. */
static void put_back(cpubind_mend *m, cpubind_shared_entry *e, cpubind_shared_user *own,
                     cpubind_mend_item *item)
{
    const int is_thread = e->kind == CPUBIND_ITEM_THREAD;
    const cpubind_shared_user *other = cpubind_shared_last_other(m->b, e, CPUBIND_DOCTOR, 0);
    const int32_t should = other ? other->set : e->before;
    int32_t now = CPUBIND_CPUSET_NONE, before = CPUBIND_CPUSET_NONE;
    cpubind_shared_user process = {.pid = 0};
    cpubind_linux_fault why = cpubind_read_entry(m->b, e, &e->number, &now);
    item->result = CPUBIND_MEND_BACK;
    if (!why.error)
        why = find_binding(m, e, &process, &before);
    if (!why.error && process.pid && !other) {
        /* It was bound since: its restore puts the thread on the CPUs that doctor gave, and
         * then on those of before. */
        item->result = CPUBIND_MEND_BOUND;
        process.set = own->set;
        *own = process;
    } else if (!why.error && now != should && !cpubind_shared_is_given(e, now) &&
               !cpubind_has_all(m->b, e, now) &&
               !(is_thread && /* the kernel keeps those of its cpuset */
                 cpubind_cpu_sets_is_part(&m->b->record.sets, now, own->set))) {
        item->result = CPUBIND_MEND_OTHER;
    } else {
        if (!why.error && now != should)
            why = cpubind_write_entry(m->b, e, should);
        else if (!why.error)
            item->result = CPUBIND_MEND_RIGHT;
        if (other)
            item->result = CPUBIND_MEND_BOUND;
        now = should;
    }
    if (item->result == CPUBIND_MEND_OTHER || item->result == CPUBIND_MEND_BOUND)
        item->now = text_of(m, now);
    if (why.error)
        refuse(m, e, item, CPUBIND_MEND_STUCK, why);
}

/* The change that an entry is of. */
static cpubind_change change_of(cpubind_mend *m, const cpubind_shared_entry *e, int32_t given,
                                char file[CPUBIND_SETTING_SIZE])
{
    const cpubind_irq_id list = {.name = "smp_affinity_list", .index = e->number};
    cpubind_change change = {.pid = e->pid, .value = text_of(m, given)};
    switch (e->kind) {
    case CPUBIND_ITEM_THREAD:
        change.kind = CPUBIND_CHANGE_THREAD;
        change.tid = e->number;
        break;
    case CPUBIND_ITEM_BAN:
        change.kind = CPUBIND_CHANGE_BAN;
        change.value = NULL;
        change.pid = e->number;
        change.irq = e->id.index;
        break;
    default:
        if (cpubind_setting_file(e->kind == CPUBIND_ITEM_IRQ ? &list : &e->id, file))
            change.file = file;
    }
    return change;
}

/* Puts back what doctor has at a place, and takes it off the record where that is done.
 *   returns whether the entry is gone */
static int restore_entry(cpubind_mend *m, int32_t place)
{
    cpubind_shared_record *host = &m->b->shared.record;
    cpubind_shared_entry *e = &host->entry[place];
    cpubind_shared_user *own = cpubind_shared_own_user(m->b, e);
    cpubind_mend_item *item = &m->item[m->n_item];
    int is_gone = 0;
    if (!own)
        return 0;
    item->change = change_of(m, e, own->set, m->file[m->n_item++]);
    item->before = text_of(m, e->before);
    put_back(m, e, own, item);
    if (item->result == CPUBIND_MEND_STUCK)
        return 0;
    while (!is_gone && (own = cpubind_shared_own_user(m->b, e)) != NULL)
        is_gone = cpubind_shared_leave(host, place, own);
    return is_gone;
}

cpubind_linux_status cpubind_mend_restore(cpubind_mend *m, cpubind_linux_fault *fault)
{
    const cpubind_shared_record *host = &m->b->shared.record;
    cpubind_linux_fault refused = cpubind_no_fault, why = make_items(m, host->n_entry);
    if (why.error)
        return cpubind_linux_end(cpubind_record_status(why), why, fault);
    m->n_item = 0;
    for (int32_t place = 0; place < host->n_entry;)
        place += !restore_entry(m, place);
    for (int32_t i = 0; i < m->n_item; i++)
        if (m->item[i].result == CPUBIND_MEND_STUCK)
            refused = m->item[i].fault;
    m->b->shared.is_dirty |= m->n_item > 0;
    why = cpubind_shared_write(m->b);
    return refused.error
               ? cpubind_linux_end(CPUBIND_LINUX_ERR_REFUSED, refused, fault)
               : cpubind_linux_end(why.error ? CPUBIND_LINUX_ERR_STATE : CPUBIND_LINUX_OK, why,
                                   fault);
}
