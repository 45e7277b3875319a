/* placement.c - a goal in the sets of a binding: what belongs where
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "binding.h"

static int add_ours(cpubind_binding *b, int32_t set)
{
    if (set < 0 || set == b->state.before)
        return 0;
    return cpubind_record_add_ours(&b->state, b->sys, set);
}

/* The number of a list that must not be empty. */
static int number(cpubind_binding *b, cpubind_cpus cpus, int32_t *set)
{
    *set = cpubind_cpu_sets_of_list(&b->state.sets, b->sys, cpus.cpu, cpus.n);
    if (*set >= 0)
        return 0;
    return *set == CPUBIND_CPUSET_NO_MEMORY ? ENOMEM : EINVAL;
}

/* Interrupts and polling threads that the new goal puts elsewhere are where the one before put
 * them, until they are moved. */
static int remember_places(cpubind_binding *b, const cpubind_goal *goal)
{
    const cpubind_record *s = &b->state;
    int error = b->is_recorded ? add_ours(b, s->uvb) : 0;
    for (int32_t i = 0; !error && i < s->n_irq; i++) {
        for (int32_t k = 0; !error && k < goal->n_irq; k++) {
            const cpubind_cpus was = {&s->irq[i].cpu, 1};
            int32_t set = CPUBIND_CPUSET_NONE;
            if (goal->irq[k].irq != s->irq[i].irq || goal->irq[k].cpu == s->irq[i].cpu)
                continue;
            error = number(b, was, &set);
            if (!error)
                error = add_ours(b, set);
        }
    }
    return error;
}

/* They stay ours when another goal takes its place: a thread may still be there if we are
 * killed. */
static int remember_goal(cpubind_binding *b)
{
    const cpubind_record *s = &b->state;
    int error = add_ours(b, s->main);
    for (int32_t i = 0; !error && i < s->n_rule; i++)
        error = add_ours(b, s->rule[i].set);
    return error;
}

int cpubind_record_set_goal(cpubind_binding *b, const cpubind_goal *goal)
{
    cpubind_record *s = &b->state;
    int error = remember_places(b, goal);
    if (error)
        return error;
    s->npu = goal->npu;
    s->memory_node = goal->memory_node;
    s->n_rule = 0;
    s->uvb = CPUBIND_CPUSET_NONE;
    error = number(b, goal->main, &s->main);
    for (int32_t i = 0; !error && i < goal->n_rule; i++) {
        int32_t set;
        error = number(b, goal->rule[i].cpus, &set);
        if (!error)
            error = cpubind_record_add_rule(s, b->sys, goal->rule[i].name, set);
    }
    if (!error && goal->uvb.n > 0)
        error = number(b, goal->uvb, &s->uvb);
    return error ? error : remember_goal(b);
}

int32_t cpubind_record_place(const cpubind_record *state, const char *name)
{
    for (int32_t i = 0; i < state->n_rule; i++)
        if (strcmp(state->rule[i].name, name) == 0)
            return state->rule[i].set;
    return state->main;
}
