/* report.c - what a call reports, and what a watch cannot do now
 * SPDX-License-Identifier: MIT
 *
 * A watch reports news alone: whatever fails is a row of the table of troubles, reported once,
 * and tried again after a pause that doubles. Memory alone: makes no system call.
 */
#include <errno.h>
#include <string.h>

#include "binding.h"

/* Calls of cpubind_bind_again between two tries, at most. */
#define MAX_PAUSE 64

/* == Items ================================================================== */

const char *cpubind_item_result_word(cpubind_item_result result)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_ITEM_RESULT_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return (size_t)result < sizeof words / sizeof *words ? words[result] : "?";
}

int cpubind_bind_memory_is_wrong(const cpubind_outcomes *report)
{
    const cpubind_memory_move *memory = &report->memory;
    const int64_t wrong = memory->own_left - report->memory_left;
    return report->has_memory && memory->error == 0 &&
           memory->result != CPUBIND_MEMORY_NO_NODE && wrong > memory->own / 10;
}

int cpubind_bind_has_drifted(const cpubind_outcomes *report)
{
    int is_wrong = report->measurer != 0 || cpubind_bind_memory_is_wrong(report);
    for (int32_t i = 0; !is_wrong && i < report->n; i++)
        is_wrong = report->item[i].result == CPUBIND_ITEM_WRONG;
    return is_wrong;
}

cpubind_linux_fault cpubind_report_why(cpubind_binding *b, const cpubind_subject *subject,
                                       cpubind_item_result result, cpubind_linux_fault why)
{
    const cpubind_cpu_sets *sets = &b->record.sets;
    const int32_t was = subject->was, should = subject->should;
    cpubind_outcomes *r = &b->report;
    cpubind_item item = {.kind = subject->kind,
                         .result = result,
                         .pid = subject->pid,
                         .id = subject->id,
                         .was = was < 0 ? NULL : cpubind_cpu_sets_text(sets, was),
                         .should = should < 0 ? NULL : cpubind_cpu_sets_text(sets, should),
                         .error = why.error,
                         .what = why.what};
    strncpy(item.name, subject->name, sizeof item.name - 1);
    return CPUBIND_APPEND(b->sys, r->item, r->n, r->cap, &item);
}

void cpubind_report_put_back(cpubind_binding *b, const cpubind_subject *subject,
                             cpubind_linux_fault why, cpubind_item_result if_not)
{
    if (why.error && if_not == CPUBIND_ITEM_FAILED && b->report.n_not_restored++ == 0)
        b->first_failure = why;
    (void)cpubind_report_why(b, subject, why.error ? if_not : CPUBIND_ITEM_MOVED, why);
}

const cpubind_outcomes *cpubind_bind_report(const cpubind_binding *binding)
{
    return &binding->report;
}

/* == Troubles =============================================================== */

static int order_of_troubles(const void *a, const void *b)
{
    const cpubind_trouble *x = (const cpubind_trouble *)a, *y = (const cpubind_trouble *)b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* The place of a row, or where it would be: *is_there 0. */
static int32_t place_of(const cpubind_binding *b, const cpubind_trouble *like, int *is_there)
{
    const int32_t at =
        cpubind_place_in(b->trouble, b->n_trouble, sizeof *like, like, order_of_troubles);
    *is_there = at < b->n_trouble && order_of_troubles(&b->trouble[at], like) == 0;
    return at;
}

int cpubind_is_due(cpubind_binding *b, cpubind_item_kind kind, int32_t pid, int32_t id)
{
    int is_there;
    const int32_t at =
        place_of(b, &(cpubind_trouble){.kind = kind, .pid = pid, .id = id}, &is_there);
    return !is_there || b->trouble[at].next <= b->n_again;
}

/* CPUs that are offline or outside of the cpuset of a thread may return at any time, and so may
 * interrupts whose driver is not bound, and the record of the host that another cpubind works
 * on; asking for them costs little. */
static int is_for_the_next_call(cpubind_item_kind kind, cpubind_linux_fault why)
{
    if (cpubind_is_host_busy(why))
        return 1;
    if (kind == CPUBIND_ITEM_IRQ)
        return why.error == EINVAL || why.error == ENOENT;
    return kind == CPUBIND_ITEM_THREAD && why.error == EINVAL &&
           strcmp(why.what, "kernel thread") != 0;
}

int cpubind_note_outcome(cpubind_binding *b, cpubind_item_kind kind, int32_t pid, int32_t id,
                         cpubind_linux_fault why)
{
    const cpubind_trouble row = {.kind = kind, .pid = pid, .id = id};
    int is_there, is_news;
    const int32_t at = place_of(b, &row, &is_there);
    cpubind_trouble *t;
    if (!why.error) {
        if (is_there)
            memmove(b->trouble + at, b->trouble + at + 1,
                    (size_t)(--b->n_trouble - at) * sizeof row);
        return is_there;
    }
    if (!is_there &&
        CPUBIND_INSERT(b->sys, b->trouble, b->n_trouble, b->cap_trouble, at, &row).error)
        return 0; /* it is news when there is memory for it */
    t = &b->trouble[at];
    is_news = t->why.error != why.error || strcmp(t->why.what, why.what) != 0;
    t->why = why;
    if (t->pause == 0 || is_for_the_next_call(kind, why))
        t->pause = 1;
    else if (t->pause < MAX_PAUSE)
        t->pause *= 2;
    t->next = b->n_again + t->pause;
    return is_news;
}

cpubind_linux_fault cpubind_report_watched(cpubind_binding *b, const cpubind_subject *subject,
                                           int32_t id, cpubind_item_result result,
                                           cpubind_linux_fault why)
{
    const int is_news = cpubind_note_outcome(b, subject->kind, b->options.pid, id, why);
    return is_news || (!why.error && result == CPUBIND_ITEM_MOVED)
               ? cpubind_report_why(b, subject, why.error ? CPUBIND_ITEM_SKIPPED : result, why)
               : cpubind_no_fault;
}

void cpubind_note_step(cpubind_binding *b, cpubind_watch_step step, cpubind_linux_fault why)
{
    const cpubind_subject subject = cpubind_own_subject(b, CPUBIND_ITEM_THREAD, 0, "");
    if (why.error && step == CPUBIND_STEP_RECORD)
        why.what = "write the record of";
    if (why.error && step == CPUBIND_STEP_HOST)
        why.what = "bind the interrupts of";
    if (why.error && step == CPUBIND_STEP_EVENTS)
        why.what = "receive events about";
    if (cpubind_note_outcome(b, CPUBIND_ITEM_THREAD, b->options.pid, (int32_t)step, why) &&
        why.error)
        (void)cpubind_report_why(b, &subject, CPUBIND_ITEM_SKIPPED, why);
}

/* Nothing has looked at these rows since they were due: their threads have ended. */
void cpubind_drop_old_troubles(cpubind_binding *b)
{
    int32_t n = 0;
    for (int32_t i = 0; i < b->n_trouble; i++)
        if (b->trouble[i].next + MAX_PAUSE > b->n_again)
            b->trouble[n++] = b->trouble[i];
    b->n_trouble = n;
}
