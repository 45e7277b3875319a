/* goal.c - a goal in the sets of a binding: what belongs where
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "../text/procfs.h"
#include "binding.h"
#include "common.h"

int cpubind_is_ours(const cpubind_binding *b, int32_t set)
{
    for (int32_t i = 0; i < b->n_ours; i++)
        if (b->ours[i] == set)
            return 1;
    return 0;
}

static int add_ours(cpubind_binding *b, int32_t set)
{
    int32_t *ours;
    if (set < 0 || set == b->state.before || cpubind_is_ours(b, set))
        return 0;
    ours = (int32_t *)cpubind_grow(b->sys, b->ours, b->n_ours, &b->cap_ours, sizeof *ours);
    if (!ours)
        return ENOMEM;
    b->ours = ours;
    ours[b->n_ours++] = set;
    return 0;
}

/* They stay ours when another goal takes its place. */
int cpubind_remember_ours(cpubind_binding *b)
{
    const cpubind_state *s = &b->state;
    int error = add_ours(b, s->main);
    for (int32_t i = 0; !error && i < s->n_rule; i++)
        error = add_ours(b, s->rule[i].set);
    return error;
}

/* The number of a list that must not be empty. */
static int number(cpubind_binding *b, cpubind_cpus cpus, int32_t *set)
{
    *set = cpubind_cpusets_of_list(&b->state.sets, b->sys, cpus.cpu, cpus.n);
    if (*set >= 0)
        return 0;
    return *set == CPUBIND_CPUSET_NO_MEMORY ? ENOMEM : EINVAL;
}

/* Interrupts and polling threads that the new goal puts elsewhere are where the one before put
 * them, until they are moved. */
static int remember_places(cpubind_binding *b, const cpubind_goal *goal)
{
    const cpubind_state *s = &b->state;
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

static int is_of_goal(const cpubind_state *s, int32_t set)
{
    int is = set == s->main;
    for (int32_t i = 0; !is && i < s->n_rule; i++)
        is = s->rule[i].set == set;
    return is;
}

/* What is ours is on record as rules. Places of goals before this one, where a thread or an
 * interrupt still is if we are killed, come behind the others, under a name that is there
 * already: the first rule of a name counts, so no thread follows them. */
static int keep_earlier(cpubind_binding *b)
{
    cpubind_state *s = &b->state;
    int error = 0;
    for (int32_t i = 0; !error && i < b->n_ours; i++) {
        char name[sizeof s->rule->name] = "acl_thread";
        if (is_of_goal(s, b->ours[i]))
            continue;
        if (s->n_rule == 0)
            error = cpubind_state_add_rule(s, b->sys, name, s->main);
        else
            memcpy(name, s->rule[0].name, sizeof name);
        if (!error)
            error = cpubind_state_add_rule(s, b->sys, name, b->ours[i]);
    }
    return error;
}

int cpubind_state_set_goal(cpubind_binding *b, const cpubind_goal *goal)
{
    cpubind_state *s = &b->state;
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
            error = cpubind_state_add_rule(s, b->sys, goal->rule[i].name, set);
    }
    if (!error && goal->uvb.n > 0)
        error = number(b, goal->uvb, &s->uvb);
    if (!error)
        error = keep_earlier(b);
    return error ? error : cpubind_remember_ours(b);
}

int32_t cpubind_state_place(const cpubind_state *state, const char *name)
{
    for (int32_t i = 0; i < state->n_rule; i++)
        if (strcmp(state->rule[i].name, name) == 0)
            return state->rule[i].set;
    return state->main;
}
