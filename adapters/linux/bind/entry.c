/* entry.c - one interrupt, thread or work queue of the host: finding, reading and moving it
 * SPDX-License-Identifier: MIT
 *
 * A number is that of another interrupt after its driver was loaded again. So an interrupt is
 * found by its function, name and index at each call, and looked up again before each write.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../kernel/process.h"
#include "../kernel/workqueue.h"
#include "binding.h"

static int is_listed(const cpubind_binding *b, const cpubind_irq_id *id)
{
    return strcmp(b->listed.name, id->name) == 0 &&
           strcmp(b->listed.function, id->function) == 0;
}

cpubind_linux_fault cpubind_find_irq(cpubind_binding *b, const cpubind_irq_id *id, int32_t *irq)
{
    if (!is_listed(b, id)) {
        const cpubind_linux_fault why = cpubind_irq_list(&b->root, id, &b->listed_irqs);
        b->listed.name[0] = '\0';
        if (why.error)
            return why;
        b->listed = *id;
    }
    if (id->index >= b->listed_irqs.n)
        return cpubind_fault_of(ENOENT, "gone");
    *irq = b->listed_irqs.id[id->index];
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_write_irq(cpubind_binding *b, const cpubind_irq_id *id, int32_t irq,
                                      int32_t set)
{
    const cpubind_linux_fault why = cpubind_irq_check(&b->root, id, irq);
    return why.error ? why : cpubind_irq_write(&b->root, irq, &b->record.sets.set[set]);
}

cpubind_linux_fault cpubind_move_irq(cpubind_binding *b, const cpubind_irq_id *id, int32_t irq,
                                     int32_t should, int32_t *actual)
{
    int32_t now = CPUBIND_CPUSET_NONE;
    cpubind_linux_fault why = cpubind_write_irq(b, id, irq, should);
    *actual = CPUBIND_CPUSET_NONE;
    if (!why.error)
        why = cpubind_irq_read(&b->root, irq, &b->record.sets, &now);
    if (why.error)
        return why;
    if (now != should)
        return cpubind_fault_of(EIO, "smp_affinity_list");
    why = cpubind_irq_read_effective(&b->root, irq, &b->record.sets, actual);
    return why.error == ENOMEM ? why : cpubind_no_fault;
}

/* == Entries of the record of the host ====================================== */

/* Reads the name and the set of a thread that is an entry. */
static cpubind_linux_fault read_thread(cpubind_binding *b, const cpubind_shared_entry *entry,
                                       int32_t *set)
{
    cpubind_proc_stat stat = {.start = 0};
    int error = cpubind_proc_stat_read(&b->root, entry->pid, entry->number, &stat).error;
    if (!error && stat.start != entry->start)
        error = ESRCH;
    if (!error)
        error = cpubind_task_cpus(b->sys, entry->number, &b->record.sets, set).error;
    (void)snprintf(b->thread_name, sizeof b->thread_name, "%s", error ? "" : stat.name);
    return cpubind_fault_of(error, "read a polling thread");
}

static int is_task(const cpubind_shared_entry *entry)
{
    return entry->kind == CPUBIND_ITEM_POLLING || entry->kind == CPUBIND_ITEM_KERNEL;
}

cpubind_linux_fault cpubind_read_entry(cpubind_binding *b, const cpubind_shared_entry *entry,
                                       int32_t *number, int32_t *set)
{
    cpubind_linux_fault why;
    if (is_task(entry))
        return read_thread(b, entry, set);
    if (entry->kind == CPUBIND_ITEM_WORKQUEUE)
        return cpubind_workqueue_read(&b->root, entry->id.name, &b->record.sets, set);
    why = cpubind_find_irq(b, &entry->id, number);
    return why.error ? why : cpubind_irq_read(&b->root, *number, &b->record.sets, set);
}

cpubind_linux_fault cpubind_write_entry(cpubind_binding *b, const cpubind_shared_entry *entry,
                                        int32_t should)
{
    const cpubind_cpu_set *set = &b->record.sets.set[should];
    return is_task(entry) ? cpubind_task_move(b->sys, entry->number, set)
                          : cpubind_workqueue_write(&b->root, entry->id.name, set);
}

cpubind_subject cpubind_subject_of(const cpubind_binding *b, const cpubind_shared_entry *of,
                                   int32_t should)
{
    const char *name = of->kind == CPUBIND_ITEM_POLLING ? b->thread_name : of->id.name;
    for (int32_t i = 0; of->kind == CPUBIND_ITEM_IRQ && i < b->record.n_irq; i++)
        if (cpubind_irq_compare(&b->record.irq[i].id, &of->id) == 0)
            name = cpubind_irq_kind_word(b->record.irq[i].kind);
    return (cpubind_subject){
        of->kind, of->pid ? of->pid : b->options.pid, of->number, name, of->before, should};
}
