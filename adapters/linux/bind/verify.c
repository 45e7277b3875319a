/* verify.c - compares where threads, interrupts and memory are with where they belong
 * SPDX-License-Identifier: MIT
 *
 * Reads only: changes neither the process nor the record file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "../kernel/memory.h"
#include "binding.h"

/* The usual limit of time for telling own pages from shared ones. */
#define MEMORY_TIME_MS 5000

static cpubind_linux_fault add(cpubind_binding *b, const cpubind_subject *s)
{
    return cpubind_report_why(
        b, s, s->was == s->should ? CPUBIND_ITEM_RIGHT : CPUBIND_ITEM_WRONG, cpubind_no_fault);
}

static cpubind_linux_fault compare_threads(cpubind_binding *b)
{
    cpubind_linux_fault why = cpubind_list_threads(b);
    int32_t n_ended = 0;
    for (int32_t i = 0; !why.error && i < b->tids.n; i++) {
        const int32_t tid = b->tids.id[i];
        char name[CPUBIND_COMM_SIZE];
        cpubind_subject s = {CPUBIND_ITEM_THREAD, b->options.pid, tid, name, 0, 0};
        why = cpubind_read_thread(b, tid, name, &s.was);
        if (why.error == ESRCH && ++n_ended < b->tids.n) { /* since the listing */
            why = cpubind_no_fault;
        } else if (!why.error) {
            s.should = cpubind_set_of_name(&b->record, name);
            if (s.should == CPUBIND_CPUSET_NONE)
                why = cpubind_report_why(b, &s, CPUBIND_ITEM_LEFT, cpubind_no_fault);
            else if (s.was != s.should && cpubind_lacks_offline_alone(b, s.was, s.should))
                why = cpubind_report_why(b, &s, CPUBIND_ITEM_PART,
                                         (cpubind_linux_fault){0, "offline", 0});
            else
                why = add(b, &s);
        }
    }
    return why;
}

static cpubind_linux_fault compare_irq(cpubind_binding *b, const cpubind_irq_goal *goal)
{
    cpubind_cpu_sets *sets = &b->record.sets;
    cpubind_subject s =
        cpubind_own_subject(b, CPUBIND_ITEM_IRQ, goal->irq, cpubind_irq_kind_word(goal->kind));
    int32_t actual;
    cpubind_linux_fault why = cpubind_cpu_sets_of_list(sets, b->sys, &goal->cpu, 1, &s.should);
    if (why.error)
        return why;
    why = cpubind_find_irq(b, &goal->id, &s.id);
    if (why.error == ENOENT)
        return cpubind_report_why(b, &s, CPUBIND_ITEM_WRONG, why);
    if (!why.error)
        why = cpubind_irq_read(&b->root, s.id, sets, &s.was);
    if (why.error == ENOMEM)
        return why;
    if (why.error)
        return cpubind_report_why(b, &s, CPUBIND_ITEM_SKIPPED, why);
    why = add(b, &s);
    if (!why.error && !cpubind_irq_read_effective(&b->root, s.id, sets, &actual).error &&
        actual >= 0)
        b->report.item[b->report.n - 1].actual = cpubind_cpu_sets_text(sets, actual);
    return why;
}

/* Compares what is of the host, as it is now, with where it belongs; what is gone is left out.
 *   in      why: of finding and reading it */
static cpubind_linux_fault compare_entry(cpubind_binding *b, const cpubind_shared_entry *now,
                                         int32_t should, cpubind_linux_fault why)
{
    const cpubind_subject s = cpubind_subject_of(b, now, should);
    if (cpubind_is_gone(b, now, why))
        return cpubind_no_fault;
    if (!why.error)
        return add(b, &s);
    return why.error == ENOMEM ? why : cpubind_report_why(b, &s, CPUBIND_ITEM_SKIPPED, why);
}

/* Kernel threads and work queues that a goal names. */
static cpubind_linux_fault compare_driver(cpubind_binding *b, const cpubind_driver_goal *goal)
{
    cpubind_shared_entry now;
    int32_t should;
    cpubind_linux_fault why = cpubind_set_of_goal(b, goal->cpus, &should);
    if (why.error)
        return why;
    why = cpubind_find_driver(b, goal, &now);
    return compare_entry(b, &now, should, why);
}

/* The threads of other processes that were moved for this process, and without a goal what was
 * moved of the driver; what is gone is left out. A record that cannot be read is a failure
 * only where it is known to have some. */
static cpubind_linux_fault compare_entries(cpubind_binding *b, int has_goal)
{
    cpubind_linux_fault why = cpubind_shared_open(b, CPUBIND_RECORD_READ);
    if (why.error && b->record.polling < 0)
        return cpubind_no_fault;
    for (int32_t i = 0; !why.error && i < b->shared.record.n_entry; i++) {
        const cpubind_shared_entry *entry = &b->shared.record.entry[i];
        const cpubind_shared_user *own = cpubind_shared_own_user(b, entry);
        const int is_polling = entry->kind == CPUBIND_ITEM_POLLING;
        const int is_driver = !has_goal && (entry->kind == CPUBIND_ITEM_KERNEL ||
                                            entry->kind == CPUBIND_ITEM_WORKQUEUE);
        cpubind_shared_entry now = *entry;
        if (!own || (!is_polling && !is_driver))
            continue;
        now.before = CPUBIND_CPUSET_NONE;
        why = cpubind_read_entry(b, entry, &now.number, &now.before);
        why = compare_entry(b, &now, own->set, why);
    }
    cpubind_shared_close(b);
    return why;
}

static void measure_memory(cpubind_binding *b)
{
    cpubind_outcomes *r = &b->report;
    if (b->options.memory == CPUBIND_MEMORY_NONE || b->record.memory_node < 0)
        return;
    r->memory_node = b->record.memory_node;
    r->memory_left = b->record.memory_left;
    r->left_why = b->record.left_why;
    r->has_memory = 1;
    r->memory = (cpubind_memory_move){
        .pid = b->options.pid,
        .node = r->memory_node,
        .time_ms = b->options.memory_time_ms ? b->options.memory_time_ms : MEMORY_TIME_MS,
        .is_all = b->options.memory == CPUBIND_MEMORY_ALL};
    cpubind_memory_look(&b->root, &r->memory);
}

static cpubind_linux_fault compare_all(cpubind_binding *b, const cpubind_goal *goal)
{
    cpubind_linux_fault why = compare_threads(b);
    for (int32_t i = 0; goal && !why.error && i < goal->n_irq; i++)
        why = compare_irq(b, &goal->irq[i]);
    for (int32_t i = 0; !goal && !why.error && i < b->record.n_irq; i++) {
        const cpubind_record_irq *irq = &b->record.irq[i];
        const cpubind_irq_goal irq_goal = {
            .irq = irq->irq, .kind = irq->kind, .cpu = irq->cpu, .id = irq->id};
        why = compare_irq(b, &irq_goal);
    }
    if (!why.error)
        why = compare_entries(b, goal != NULL);
    for (int32_t i = 0; goal && !why.error && i < goal->n_driver; i++)
        why = compare_driver(b, &goal->driver[i]);
    if (!why.error)
        measure_memory(b);
    return why;
}

/* The goal and the facts to compare it with: in memory alone, so that the next call reads the
 * record file again. */
static cpubind_linux_fault begin_goal(cpubind_binding *b, const cpubind_goal *goal)
{
    const cpubind_record *r = &b->record;
    cpubind_linux_fault why = cpubind_no_fault;
    b->report.main = cpubind_cpu_sets_text(&r->sets, r->main);
    if (goal)
        why = cpubind_set_goal(b, goal);
    b->report.has_goal = 1;
    b->report.device = r->device;
    memcpy(b->report.pci, r->pci, sizeof r->pci);
    if (!goal && r->measurer && cpubind_has_ended(&b->root, r->measurer, r->measurer_start))
        b->report.measurer = r->measurer;
    if (goal)
        b->report.no_irq = goal->no_irq;
    else
        b->report.no_irq =
            r->n_irq == 0 && r->polling < 0 ? CPUBIND_IRQ_NOT_ON_RECORD : CPUBIND_IRQ_FOUND;
    return why;
}

cpubind_linux_status cpubind_bind_verify(cpubind_binding *binding, const cpubind_goal *goal,
                                         cpubind_linux_fault *fault)
{
    cpubind_binding *b = binding;
    cpubind_linux_fault why;
    int is_recorded;
    if (!b)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    if (goal && !cpubind_is_goal(goal))
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "goal", fault);
    if (b->task_dir_fd < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_GONE, ESRCH, "process", fault);
    why = cpubind_begin_call(b);
    if (why.error)
        return cpubind_linux_end(cpubind_record_status(why), why, fault);
    is_recorded = cpubind_is_recorded(b);
    if (!goal && cpubind_is_foreign(b))
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_EXISTS, EEXIST, "another namespace", fault);
    if (!cpubind_process_is_alive(b)) { /* the record is of another process of this pid */
        cpubind_begin_record(b);
        b->phase = CPUBIND_PHASE_OUTDATED;
        is_recorded = 0;
    }
    if (!goal && !is_recorded)
        return CPUBIND_LINUX_OK;
    why = begin_goal(b, goal);
    if (goal)
        b->phase = cpubind_is_recorded(b) ? CPUBIND_PHASE_OUTDATED : CPUBIND_PHASE_DROPPED;
    if (!why.error)
        why = compare_all(b, goal);
    return cpubind_linux_end(cpubind_status_of(b, why), why, fault);
}
