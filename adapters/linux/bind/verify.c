/* verify.c - what is against what should be: reads only
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "../common.h"
#include "../kernel/memory.h"
#include "binding.h"

static cpubind_item *add(cpubind_binding *b, cpubind_item_kind kind, int32_t id,
                         const char *name, int32_t is, int32_t should)
{
    return cpubind_report_add(b, kind, is == should ? CPUBIND_ITEM_RIGHT : CPUBIND_ITEM_WRONG,
                              id, name, is, should);
}

static cpubind_linux_fault compare_thread(cpubind_binding *b, int32_t tid)
{
    char name[CPUBIND_COMM_SIZE];
    int32_t is;
    const cpubind_linux_fault why = cpubind_look_at_thread(b, tid, name, &is);
    if (why.error)
        return why;
    if (!add(b, CPUBIND_ITEM_THREAD, tid, name, is, cpubind_record_place(&b->state, name)))
        return cpubind_fault_of(ENOMEM, "memory");
    return cpubind_no_fault;
}

static cpubind_linux_fault compare_threads(cpubind_binding *b)
{
    cpubind_linux_fault why = cpubind_list_threads(b);
    for (int32_t i = 0; !why.error && i < b->ids.n; i++) {
        why = compare_thread(b, b->ids.id[i]);
        if (why.error == ESRCH) /* it has ended meanwhile */
            why = cpubind_no_fault;
    }
    return why;
}

static cpubind_linux_fault compare_irq(cpubind_binding *b, int32_t irq, cpubind_irq_kind kind,
                                       int32_t cpu)
{
    const char *name = cpubind_irq_kind_word(kind);
    int32_t is = CPUBIND_CPUSET_NONE, actual;
    int32_t should = cpubind_cpu_sets_of_list(&b->state.sets, b->sys, &cpu, 1);
    const cpubind_linux_fault why = cpubind_irq_read(&b->root, irq, &b->state.sets, &is);
    cpubind_item *item;
    if (should == CPUBIND_CPUSET_NO_MEMORY || why.error == ENOMEM)
        return cpubind_fault_of(ENOMEM, "memory");
    item = add(b, CPUBIND_ITEM_IRQ, irq, name, is, should);
    if (!item)
        return cpubind_fault_of(ENOMEM, "memory");
    if (why.error) {
        item->result = CPUBIND_ITEM_SKIPPED;
        item->error = why.error;
        item->what = why.what;
    } else if (!cpubind_irq_read_effective(&b->root, irq, &b->state.sets, &actual).error &&
               actual >= 0) {
        item->actual = cpubind_cpu_sets_text(&b->state.sets, actual);
    }
    return cpubind_no_fault;
}

/* The polling threads that are on record; those that have ended are passed over. */
static cpubind_linux_fault compare_other(cpubind_binding *b, const cpubind_record_other *other)
{
    int32_t is;
    cpubind_item *item;
    const cpubind_linux_fault why = cpubind_other_cpus(b, other, &is);
    if (why.error)
        return why.error == ESRCH ? cpubind_no_fault : why;
    item = add(b, CPUBIND_ITEM_UVB, other->tid, CPUBIND_UVB_THREAD, is, other->set);
    if (item)
        item->pid = other->pid;
    return cpubind_fault_of(item ? 0 : ENOMEM, "memory");
}

static void measure_memory(cpubind_binding *b)
{
    cpubind_report *r = &b->report;
    r->memory_node = b->state.memory_node;
    if (r->memory_node < 0)
        return;
    r->has_memory = 1;
    r->memory.pid = b->how.pid;
    r->memory.node = r->memory_node;
    cpubind_memory_look(&b->root, &r->memory);
}

static cpubind_linux_fault compare_all(cpubind_binding *b, const cpubind_goal *goal)
{
    cpubind_linux_fault why = compare_threads(b);
    for (int32_t i = 0; goal && !why.error && i < goal->n_irq; i++)
        why = compare_irq(b, goal->irq[i].irq, goal->irq[i].kind, goal->irq[i].cpu);
    for (int32_t i = 0; !goal && !why.error && i < b->state.n_irq; i++)
        why = compare_irq(b, b->state.irq[i].irq, b->state.irq[i].kind, b->state.irq[i].cpu);
    for (int32_t i = 0; !why.error && i < b->state.n_other; i++)
        why = compare_other(b, &b->state.other[i]);
    if (!why.error)
        measure_memory(b);
    return why;
}

cpubind_linux_status cpubind_bind_verify(cpubind_binding *binding, const cpubind_goal *goal,
                                         cpubind_linux_fault *fault)
{
    cpubind_binding *b = binding;
    cpubind_linux_fault why = {0, NULL};
    cpubind_linux_status status;
    if (!b)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    if (b->tasks < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_GONE, ESRCH, "process", fault);
    status = cpubind_call_start(b, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    b->is_stale = goal || !b->is_alive; /* what follows is to be compared with, not kept */
    if (!b->is_alive)                   /* the record is of another process of this number */
        cpubind_record_start(b);
    if (!goal && !b->is_recorded)
        return CPUBIND_LINUX_OK;
    if (goal)
        why = cpubind_fault_of(cpubind_record_set_goal(b, goal), "goal");
    if (b->how.memory == CPUBIND_MEMORY_NONE)
        b->state.memory_node = -1;
    b->report.has_goal = 1;
    b->report.npu = b->state.npu;
    b->report.no_irq = goal                                      ? goal->no_irq
                       : b->state.n_irq == 0 && b->state.uvb < 0 ? CPUBIND_IRQ_NOT_ON_RECORD
                                                                 : CPUBIND_IRQ_FOUND;
    if (!why.error)
        why = compare_all(b, goal);
    switch (why.error) {
    case 0:
        return CPUBIND_LINUX_OK;
    case ENOMEM:
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    case ESRCH:
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_GONE, ESRCH, "process", fault);
    default:
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_REFUSED, why.error, why.what, fault);
    }
}
