/* record.c - what was changed on a host for one process, and how it was before
 * SPDX-License-Identifier: MIT
 *
 * Memory alone. The text of a record is in record_text.c, its file in record_file.c.
 */
#include "record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "record_text.h"

void cpubind_record_free(cpubind_record *state)
{
    cpubind_cpu_sets_free(&state->sets);
    free(state->rule);
    free(state->ours);
    free(state->thread);
    free(state->other);
    free(state->irq);
    memset(state, 0, sizeof *state);
}

int cpubind_priv_record_other_order(const cpubind_record_other *a,
                                    const cpubind_record_other *b)
{
    const int by_tid = (a->tid > b->tid) - (a->tid < b->tid);
    return by_tid ? by_tid : (a->start > b->start) - (a->start < b->start);
}

/* == Adding ================================================================= */

int cpubind_record_add_rule(cpubind_record *state, const cpubind_sys *sys, const char *name,
                            int32_t set)
{
    cpubind_record_rule *rule = (cpubind_record_rule *)cpubind_grow(
        sys, state->rule, state->n_rule, &state->cap_rule, sizeof *rule);
    if (!rule)
        return ENOMEM;
    state->rule = rule;
    rule += state->n_rule++;
    memset(rule, 0, sizeof *rule);
    memcpy(rule->name, name, strnlen(name, sizeof rule->name - 1));
    rule->set = set;
    return 0;
}

int cpubind_record_has_ours(const cpubind_record *state, int32_t set)
{
    for (int32_t i = 0; i < state->n_ours; i++)
        if (state->ours[i] == set)
            return 1;
    return 0;
}

int cpubind_record_add_ours(cpubind_record *state, const cpubind_sys *sys, int32_t set)
{
    int32_t *ours;
    if (cpubind_record_has_ours(state, set))
        return 0;
    ours = (int32_t *)cpubind_grow(sys, state->ours, state->n_ours, &state->cap_ours,
                                   sizeof *ours);
    if (!ours)
        return ENOMEM;
    state->ours = ours;
    ours[state->n_ours++] = set;
    return 0;
}

int cpubind_record_add_thread(cpubind_record *state, const cpubind_sys *sys, int32_t tid,
                              int32_t before)
{
    const cpubind_record_thread key = {tid, before};
    const int32_t at = cpubind_record_thread_place(state->thread, state->n_thread, tid);
    cpubind_record_thread *thread;
    if (at < state->n_thread && state->thread[at].tid == tid)
        return 0;
    thread = (cpubind_record_thread *)cpubind_grow(sys, state->thread, state->n_thread,
                                                   &state->cap_thread, sizeof *thread);
    if (!thread)
        return ENOMEM;
    state->thread = thread;
    memmove(thread + at + 1, thread + at, (size_t)(state->n_thread - at) * sizeof *thread);
    thread[at] = key;
    state->n_thread++;
    return 0;
}

int cpubind_record_add_other(cpubind_record *state, const cpubind_sys *sys,
                             const cpubind_record_other *other)
{
    cpubind_record_other *array;
    int32_t at = state->n_other;
    while (at > 0 && cpubind_priv_record_other_order(&state->other[at - 1], other) >= 0)
        at--;
    if (at < state->n_other && cpubind_priv_record_other_order(&state->other[at], other) == 0) {
        state->other[at].set = other->set;
        return 0;
    }
    array = (cpubind_record_other *)cpubind_grow(sys, state->other, state->n_other,
                                                 &state->cap_other, sizeof *array);
    if (!array)
        return ENOMEM;
    state->other = array;
    memmove(array + at + 1, array + at, (size_t)(state->n_other - at) * sizeof *array);
    array[at] = *other;
    state->n_other++;
    return 0;
}

/* A second goal for an interrupt: the new CPU, and the first `before` that is known. */
static void renew_irq(cpubind_record_irq *old, const cpubind_record_irq *irq)
{
    const int32_t before = old->before;
    const int32_t is_banned = old->is_banned;
    *old = *irq;
    old->is_banned |= is_banned;
    if (before != CPUBIND_CPUSET_NONE)
        old->before = before;
}

int cpubind_record_add_irq(cpubind_record *state, const cpubind_sys *sys,
                           const cpubind_record_irq *irq)
{
    cpubind_record_irq *array;
    int32_t at = state->n_irq;
    while (at > 0 && state->irq[at - 1].irq >= irq->irq)
        at--;
    if (at < state->n_irq && state->irq[at].irq == irq->irq) {
        renew_irq(&state->irq[at], irq);
        return 0;
    }
    array = (cpubind_record_irq *)cpubind_grow(sys, state->irq, state->n_irq, &state->cap_irq,
                                               sizeof *array);
    if (!array)
        return ENOMEM;
    state->irq = array;
    memmove(array + at + 1, array + at, (size_t)(state->n_irq - at) * sizeof *array);
    array[at] = *irq;
    state->n_irq++;
    return 0;
}

/* Threads mostly come in order: the end is looked at first. */
int32_t cpubind_record_thread_place(const cpubind_record_thread *list, int32_t n, int32_t tid)
{
    int32_t low = 0, high = n;
    if (n > 0 && list[n - 1].tid < tid)
        return n;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (list[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const cpubind_record_thread *cpubind_record_thread_find(const cpubind_record_thread *list,
                                                        int32_t n, int32_t tid)
{
    const int32_t at = cpubind_record_thread_place(list, n, tid);
    return at < n && list[at].tid == tid ? &list[at] : NULL;
}
