/* watch.c - looks again at a process that is bound, and remembers what cannot be done now
 * SPDX-License-Identifier: MIT
 *
 * A watch ends when the process ends, and for nothing else: whatever fails is a row of the table
 * of troubles, reported once, and tried again after a pause that doubles.
 */
#include <errno.h>
#include <string.h>

#include "binding.h"

/* Calls of cpubind_bind_again between two tries, at most. */
#define MAX_PAUSE 64

/* == Troubles =============================================================== */

static cpubind_trouble *find_trouble(cpubind_binding *b, cpubind_item_kind kind, int32_t pid,
                                     int32_t id)
{
    for (int32_t i = 0; i < b->n_trouble; i++) {
        cpubind_trouble *t = &b->trouble[i];
        if (t->id == id && t->pid == pid && t->kind == kind)
            return t;
    }
    return NULL;
}

int cpubind_is_due(cpubind_binding *b, cpubind_item_kind kind, int32_t pid, int32_t id)
{
    const cpubind_trouble *t = find_trouble(b, kind, pid, id);
    return !t || t->next <= b->n_again;
}

/* Without memory for a row the outcome is no news: it is tried, and reported, next time. */
static cpubind_trouble *add_trouble(cpubind_binding *b, cpubind_item_kind kind, int32_t pid,
                                    int32_t id)
{
    cpubind_trouble *all = (cpubind_trouble *)cpubind_grow(b->sys, b->trouble, b->n_trouble,
                                                           &b->cap_trouble, sizeof *all);
    if (!all)
        return NULL;
    b->trouble = all;
    all += b->n_trouble++;
    *all = (cpubind_trouble){.kind = kind, .pid = pid, .id = id};
    return all;
}

int cpubind_note_outcome(cpubind_binding *b, cpubind_item_kind kind, int32_t pid, int32_t id,
                         cpubind_linux_fault why)
{
    cpubind_trouble *t = find_trouble(b, kind, pid, id);
    int is_news;
    if (!why.error) {
        if (t)
            *t = b->trouble[--b->n_trouble];
        return t != NULL;
    }
    if (!t)
        t = add_trouble(b, kind, pid, id);
    if (!t)
        return 0;
    is_news = t->why.error != why.error || strcmp(t->why.what, why.what) != 0;
    t->why = why;
    t->pause = t->pause == 0 ? 1 : t->pause < MAX_PAUSE ? 2 * t->pause : MAX_PAUSE;
    t->next = b->n_again + t->pause;
    return is_news;
}

/* Nothing has looked at these rows since they were due: their threads have ended. */
static void drop_old_troubles(cpubind_binding *b)
{
    int32_t n = 0;
    for (int32_t i = 0; i < b->n_trouble; i++)
        if (b->trouble[i].next + MAX_PAUSE > b->n_again)
            b->trouble[n++] = b->trouble[i];
    b->n_trouble = n;
}

/* == Looking again ========================================================== */

cpubind_linux_status cpubind_bind_again(cpubind_binding *binding, cpubind_linux_fault *fault)
{
    int32_t n_new = 0;
    cpubind_linux_fault why;
    if (!binding || binding->options.is_reading)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    why = cpubind_begin_call(binding);
    if (why.error)
        return cpubind_linux_end(cpubind_record_status(why), why, fault);
    if (!cpubind_is_recorded(binding))
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    if (!cpubind_process_is_alive(binding))
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_GONE, ESRCH, "process", fault);
    binding->n_again++;
    drop_old_troubles(binding);
    why = cpubind_place_threads_once(binding, 1, &n_new);
    if (!why.error)
        why = cpubind_watch_irqs(binding);
    return cpubind_linux_end(cpubind_status_of(binding, why), why, fault);
}
