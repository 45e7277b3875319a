/* placement.c - a goal as sets of the record: which thread belongs where
 * SPDX-License-Identifier: MIT
 *
 * Memory alone: changes the record, makes no system call.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "binding.h"

static cpubind_linux_fault add_placed(cpubind_binding *b, int32_t set)
{
    if (set < 0 || set == b->record.before)
        return cpubind_no_fault;
    return cpubind_record_add_placed(&b->record, b->sys, set);
}

cpubind_linux_fault cpubind_set_of_goal(cpubind_binding *b, cpubind_cpus cpus, int32_t *set)
{
    const cpubind_linux_fault why =
        cpubind_cpu_sets_of_list(&b->record.sets, b->sys, cpus.cpu, cpus.n, set);
    return cpubind_fault_of(why.error == EILSEQ ? EINVAL : why.error, "goal");
}

cpubind_linux_fault cpubind_set_goal(cpubind_binding *b, const cpubind_goal *goal)
{
    cpubind_record *r = &b->record;
    cpubind_linux_fault why;
    cpubind_look_at_all(b); /* a watch has noted where threads belonged before */
    r->device = goal->device;
    memcpy(r->pci, goal->pci, sizeof r->pci);
    (void)snprintf(r->rules, sizeof r->rules, "%s", goal->rules ? goal->rules : "");
    r->memory_node = goal->memory_node;
    r->memory_left = 0;
    r->n_rule = 0;
    r->polling = CPUBIND_CPUSET_NONE;
    why = cpubind_set_of_goal(b, goal->main, &r->main);
    b->report.main = why.error ? NULL : cpubind_cpu_sets_text(&r->sets, r->main);
    for (int32_t i = 0; !why.error && i < goal->n_rule; i++) {
        int32_t set = CPUBIND_CPUSET_NONE;
        if (!goal->rule[i].is_left)
            why = cpubind_set_of_goal(b, goal->rule[i].cpus, &set);
        if (!why.error)
            why = cpubind_record_add_rule(r, b->sys, goal->rule[i].name, set);
    }
    if (!why.error && goal->polling.n > 0)
        why = cpubind_set_of_goal(b, goal->polling, &r->polling);
    /* They stay placed sets when the next goal takes over: if this process is killed then, a
     * thread may still be on one. */
    if (!why.error)
        why = add_placed(b, r->main);
    for (int32_t i = 0; !why.error && i < r->n_rule; i++)
        why = add_placed(b, r->rule[i].set);
    return why;
}

int32_t cpubind_set_of_name(const cpubind_record *record, const char *name)
{
    for (int32_t i = 0; i < record->n_rule; i++)
        if (cpubind_pattern_matches(record->rule[i].name, name))
            return record->rule[i].set;
    return record->main;
}
