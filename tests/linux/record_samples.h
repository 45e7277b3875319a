/* record_samples.h - states to save, and whether two are equal
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_LINUX_RECORD_SAMPLES_H
#define CPUBIND_TESTS_LINUX_RECORD_SAMPLES_H

#include "../../adapters/linux/bind/record.h"
#include "../../cpubind.h"
#include "temp_dir.h"

#define STATE_PID 4711

static inline int32_t state_set(cpubind_record *state, const char *text)
{
    const int32_t set =
        cpubind_cpu_sets_of_text(&state->sets, &cpubind_sys_real, text, (int32_t)strlen(text));
    scratch_need(set >= 0, text);
    return set;
}

/* A process of one thread, nothing changed. */
static inline void state_begin(cpubind_record *state)
{
    memset(state, 0, sizeof *state);
    state->pid = STATE_PID;
    state->start = 12345;
    snprintf(state->boot, sizeof state->boot, "%s", "11111111-2222-3333-4444-555555555555");
    state->npu = -1;
    state->memory_node = -1;
    state->uvb = CPUBIND_CPUSET_NONE;
    state->before = state_set(state, "0-191");
    state->main = state_set(state, "74-93");
}

/* Some of everything. */
static inline void state_sample(cpubind_record *state)
{
    const cpubind_sys *sys = &cpubind_sys_real;
    cpubind_record_other other = {80, 82, 77, 0, 0};
    cpubind_record_irq irq = {301, CPUBIND_IRQ_SQ, 72, 0, 1};
    state_begin(state);
    state->npu = 3;
    state->memory_node = 3;
    state->uvb = state_set(state, "1-23");
    scratch_need(
        !cpubind_record_add_rule(state, sys, "acl_thread", state_set(state, "94")) &&
            !cpubind_record_add_rule(state, sys, "release_thread", state_set(state, "95")),
        "rules");
    scratch_need(!cpubind_record_add_ours(state, sys, state->main) &&
                     !cpubind_record_add_ours(state, sys, state_set(state, "50-69")),
                 "ours");
    for (int32_t tid = STATE_PID; tid < STATE_PID + 20; tid++)
        scratch_need(
            !cpubind_record_add_thread(state, sys, tid, tid % 7 ? 0 : state_set(state, "5,9")),
            "threads");
    other.set = state->uvb;
    scratch_need(!cpubind_record_add_other(state, sys, &other), "others");
    scratch_need(!cpubind_record_add_irq(state, sys, &irq), "irqs");
    irq = (cpubind_record_irq){302, CPUBIND_IRQ_CQ, 73, CPUBIND_CPUSET_NONE, 0};
    scratch_need(!cpubind_record_add_irq(state, sys, &irq), "irqs");
    state->how = CPUBIND_IRQBALANCE_STOP;
    state->irqbalance_pid = 900;
    state->irqbalance_start = 321;
}

/* Whether a set of the one is that set of the other, whatever their numbers. */
static inline int state_same_set(const cpubind_record *a, int32_t set_a,
                                 const cpubind_record *b, int32_t set_b)
{
    return strcmp(cpubind_cpu_sets_text(&a->sets, set_a),
                  cpubind_cpu_sets_text(&b->sets, set_b)) == 0;
}

static inline int state_same_arrays(const cpubind_record *a, const cpubind_record *b)
{
    if (a->n_rule != b->n_rule || a->n_thread != b->n_thread || a->n_other != b->n_other ||
        a->n_irq != b->n_irq || a->n_ours != b->n_ours)
        return 0;
    for (int32_t i = 0; i < a->n_ours; i++)
        if (!state_same_set(a, a->ours[i], b, b->ours[i]))
            return 0;
    for (int32_t i = 0; i < a->n_rule; i++)
        if (strcmp(a->rule[i].name, b->rule[i].name) != 0 ||
            !state_same_set(a, a->rule[i].set, b, b->rule[i].set))
            return 0;
    for (int32_t i = 0; i < a->n_thread; i++)
        if (a->thread[i].tid != b->thread[i].tid ||
            !state_same_set(a, a->thread[i].before, b, b->thread[i].before))
            return 0;
    for (int32_t i = 0; i < a->n_other; i++)
        if (a->other[i].pid != b->other[i].pid || a->other[i].tid != b->other[i].tid ||
            a->other[i].start != b->other[i].start ||
            !state_same_set(a, a->other[i].before, b, b->other[i].before) ||
            !state_same_set(a, a->other[i].set, b, b->other[i].set))
            return 0;
    for (int32_t i = 0; i < a->n_irq; i++)
        if (a->irq[i].irq != b->irq[i].irq || a->irq[i].kind != b->irq[i].kind ||
            a->irq[i].cpu != b->irq[i].cpu || a->irq[i].is_banned != b->irq[i].is_banned ||
            !state_same_set(a, a->irq[i].before, b, b->irq[i].before))
            return 0;
    return 1;
}

static inline int state_same(const cpubind_record *a, const cpubind_record *b)
{
    return a->pid == b->pid && a->start == b->start && strcmp(a->boot, b->boot) == 0 &&
           a->npu == b->npu && a->memory_node == b->memory_node && a->how == b->how &&
           a->irqbalance_pid == b->irqbalance_pid &&
           a->irqbalance_start == b->irqbalance_start &&
           state_same_set(a, a->before, b, b->before) &&
           state_same_set(a, a->main, b, b->main) && state_same_set(a, a->uvb, b, b->uvb) &&
           state_same_arrays(a, b);
}

/* Whether nothing is in it, as after a load that failed. */
static inline int state_is_zero(const cpubind_record *state)
{
    const unsigned char *byte = (const unsigned char *)state;
    for (size_t i = 0; i < sizeof *state; i++)
        if (byte[i])
            return 0;
    return 1;
}

#endif /* CPUBIND_TESTS_LINUX_RECORD_SAMPLES_H */
