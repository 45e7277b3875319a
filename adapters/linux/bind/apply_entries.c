/* apply_entries.c - moves kernel threads, work queues and threads of other processes
 * SPDX-License-Identifier: MIT
 *
 * And has, for all that is of the host, the step that moves it.
 * Each is in the record of the host before it is moved. A thread that is not visible here, as
 * in a container, and a work queue that the driver does not have are left out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/workqueue.h"
#include "binding.h"

/* == Threads of other processes ============================================= */

/* Finds the threads of this name in one process. */
static cpubind_linux_fault find_in_process(cpubind_attempt *a, const char *polling, int32_t pid,
                                           cpubind_ids *tids)
{
    const cpubind_sys *sys = a->b->sys;
    char name[CPUBIND_COMM_SIZE];
    int folder;
    cpubind_linux_fault why = cpubind_tasks_open(&a->b->root, pid, &folder);
    if (!why.error)
        why = cpubind_tasks_list(sys, folder, tids);
    if (why.error) {
        if (folder >= 0)
            sys->close(folder);
        return cpubind_is_unseen(why.error)
                   ? cpubind_no_fault
                   : cpubind_fault_of(why.error, "list the threads of");
    }
    for (int32_t i = 0; !why.error && i < tids->n; i++) {
        why = cpubind_task_name(sys, folder, tids->id[i], name);
        if (cpubind_is_unseen(why.error))
            why = cpubind_no_fault;
        else if (!why.error && strncmp(name, polling, CPUBIND_COMM_SIZE - 1) == 0)
            why = CPUBIND_APPEND(sys, a->polling, a->n_polling, a->cap_polling,
                                 (&(cpubind_polling_thread){pid, tids->id[i]}));
    }
    sys->close(folder);
    return why;
}

cpubind_linux_fault cpubind_find_polling(cpubind_attempt *a, const cpubind_goal *goal)
{
    cpubind_ids pids = {0}, tids = {0};
    cpubind_linux_fault why = cpubind_no_fault;
    if (a->b->record.polling < 0 || !goal->polling_name)
        return why;
    why = cpubind_processes_list(&a->b->root, &pids);
    for (int32_t i = 0; !why.error && i < pids.n; i++)
        why = find_in_process(a, goal->polling_name, pids.id[i], &tids);
    free(pids.id);
    free(tids.id);
    return why;
}

/* == What is to be moved ==================================================== */

cpubind_linux_fault cpubind_use_entry(cpubind_attempt *a, const cpubind_move *move,
                                      cpubind_linux_fault why)
{
    cpubind_binding *b = a->b;
    const cpubind_subject subject = cpubind_subject_of(b, &move->of, move->should);
    if (!why.error)
        why = b->shared_fault;
    if (cpubind_is_refusal(why.error) || cpubind_is_host_busy(why))
        return cpubind_report_why(b, &subject, CPUBIND_ITEM_SKIPPED, why);
    if (!why.error)
        why = cpubind_shared_use(b, &move->of, move->should);
    if (why.error)
        return why;
    return move->of.before == move->should
               ? cpubind_report_why(b, &subject, CPUBIND_ITEM_RIGHT, cpubind_no_fault)
               : CPUBIND_APPEND(b->sys, a->move, a->n_move, a->cap_move, move);
}

/* Records a thread of another process, to be moved. Without the record of the host none is;
 * only that it is in use is reported. */
static cpubind_linux_fault prepare_polling(cpubind_attempt *a, int32_t pid, int32_t tid)
{
    cpubind_binding *b = a->b;
    cpubind_move move = {
        .of = {.kind = CPUBIND_ITEM_POLLING, .number = tid, .pid = pid, .space = b->space},
        .should = b->record.polling};
    cpubind_proc_stat stat = {.start = 0};
    cpubind_linux_fault why = cpubind_proc_stat_read(&b->root, pid, tid, &stat);
    move.of.start = stat.start;
    if (!why.error)
        why = cpubind_read_entry(b, &move.of, &move.of.number, &move.of.before);
    if (cpubind_is_gone(b, &move.of, why) ||
        (!why.error && b->record.sets.set[move.of.before].n == 0)) /* its CPUs are offline */
        return cpubind_no_fault;
    return cpubind_use_entry(a, &move, why);
}

cpubind_linux_fault cpubind_find_driver(cpubind_binding *b, const cpubind_driver_goal *goal,
                                        cpubind_shared_entry *out)
{
    const int is_thread = goal->named == CPUBIND_NAMED_KERNEL;
    cpubind_linux_fault why = cpubind_no_fault;
    *out =
        (cpubind_shared_entry){.kind = is_thread ? CPUBIND_ITEM_KERNEL : CPUBIND_ITEM_WORKQUEUE,
                               .space = b->space,
                               .before = CPUBIND_CPUSET_NONE};
    (void)snprintf(out->id.name, sizeof out->id.name, "%s", goal->name);
    if (is_thread) {
        why = cpubind_find_kernel_thread(b, goal->name, out);
        if (!why.error && out->pid == 0)
            return cpubind_fault_of(ESRCH, "find a kernel thread");
    }
    return why.error ? why : cpubind_read_entry(b, out, &out->number, &out->before);
}

static cpubind_linux_fault prepare_driver(cpubind_attempt *a, const cpubind_driver_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_move move = {.of = {.number = 0}};
    cpubind_linux_fault why = cpubind_set_of_goal(b, goal->cpus, &move.should);
    if (why.error)
        return why;
    why = cpubind_find_driver(b, goal, &move.of);
    if (cpubind_is_gone(b, &move.of, why))
        return cpubind_no_fault;
    b->has_driver |= !why.error && b->shared.file;
    return cpubind_use_entry(a, &move, why);
}

cpubind_linux_fault cpubind_prepare_entries(cpubind_attempt *a, const cpubind_goal *goal)
{
    const cpubind_binding *b = a->b;
    const int has_record = b->shared.file || cpubind_is_host_busy(b->shared_fault);
    cpubind_linux_fault why = cpubind_no_fault;
    for (int32_t i = 0; !why.error && i < goal->n_driver; i++)
        why = prepare_driver(a, &goal->driver[i]);
    for (int32_t i = 0; !why.error && has_record && i < a->n_polling; i++)
        why = prepare_polling(a, a->polling[i].pid, a->polling[i].tid);
    return why;
}

cpubind_linux_fault cpubind_move_entry(cpubind_attempt *a, const cpubind_move *move)
{
    cpubind_binding *b = a->b;
    const int is_irq = move->of.kind == CPUBIND_ITEM_IRQ;
    int32_t actual = CPUBIND_CPUSET_NONE, number, now;
    cpubind_linux_fault why = cpubind_no_fault, no_memory;
    if (move->of.kind == CPUBIND_ITEM_POLLING) /* whether it still is the one that was found */
        why = cpubind_read_entry(b, &move->of, &number, &now);
    if (!why.error)
        why = is_irq ? cpubind_move_irq(b, &move->of, move->should, &actual)
                     : cpubind_write_entry(b, &move->of, move->should);
    const cpubind_subject subject = cpubind_subject_of(b, &move->of, move->should);
    const cpubind_item_result result = !why.error                      ? CPUBIND_ITEM_MOVED
                                       : cpubind_is_refusal(why.error) ? CPUBIND_ITEM_SKIPPED
                                                                       : CPUBIND_ITEM_FAILED;
    if (!is_irq && cpubind_is_gone(b, &move->of, why))
        return cpubind_no_fault;
    /* It may have been moved and only not read back; a skipped one is where it was. */
    if (is_irq && result == CPUBIND_ITEM_SKIPPED)
        (void)cpubind_write_entry(b, &move->of, move->of.before);
    no_memory = cpubind_report_why(b, &subject, result, why);
    if (no_memory.error)
        return no_memory;
    if (actual >= 0)
        b->report.item[b->report.n - 1].actual = cpubind_cpu_sets_text(&b->record.sets, actual);
    return result == CPUBIND_ITEM_FAILED ? why : cpubind_no_fault;
}

/* == A watch ================================================================ */

/* Makes this process a user of a kernel thread that has come in the place of one that has
 * ended, of which the process is a user no more. */
static cpubind_linux_fault use_next(cpubind_binding *b, const cpubind_shared_entry *ended,
                                    const cpubind_shared_entry *next, int32_t should)
{
    cpubind_shared_record *host = &b->shared.record;
    const cpubind_shared_user *own = NULL;
    cpubind_linux_fault why;
    int32_t place;
    cpubind_shared_close(b); /* it was open for reading alone */
    why = cpubind_shared_open(b, CPUBIND_RECORD_MAKE);
    if (!why.error)
        why = cpubind_shared_use(b, next, should);
    place = why.error ? -1 : cpubind_shared_find(host, ended);
    if (place >= 0)
        own = cpubind_shared_own_user(b, &host->entry[place]);
    if (own)
        (void)cpubind_shared_leave(host, place, own);
    return why.error ? why : cpubind_shared_write(b);
}

/* Looks for the kernel thread that has come in the place of one that has ended, and moves it.
 *   out     *is_found: the entries of the record of the host have changed
 *   errors  ESRCH: there is none yet */
static cpubind_linux_fault find_next(cpubind_binding *b, const cpubind_shared_entry *ended,
                                     int32_t should, int *is_found)
{
    cpubind_shared_entry next = {
        .kind = CPUBIND_ITEM_KERNEL, .space = b->space, .before = CPUBIND_CPUSET_NONE};
    cpubind_linux_fault why = cpubind_find_kernel_thread(b, ended->id.name, &next);
    memcpy(next.id.name, ended->id.name, sizeof next.id.name);
    if (!why.error && next.pid == 0)
        why = cpubind_fault_of(ESRCH, "find a kernel thread");
    if (!why.error)
        why = cpubind_read_entry(b, &next, &next.number, &next.before);
    if (why.error)
        return why;
    *is_found = 1;
    why = use_next(b, ended, &next, should);
    const cpubind_subject subject = cpubind_subject_of(b, &next, should);
    const int is_right = next.before == should;
    if (!why.error && !is_right)
        why = cpubind_write_entry(b, &next, should);
    return cpubind_report_why(b, &subject,
                              why.error  ? CPUBIND_ITEM_SKIPPED
                              : is_right ? CPUBIND_ITEM_RIGHT
                                         : CPUBIND_ITEM_MOVED,
                              why);
}

/* Moves an entry that is elsewhere, unless another process has come since and wants it
 * there. */
static cpubind_linux_fault watch_entry(cpubind_binding *b, int32_t place, int *is_found)
{
    cpubind_shared_entry entry = b->shared.record.entry[place];
    const cpubind_shared_user *own = cpubind_shared_own_user(b, &entry);
    const cpubind_shared_user *other =
        cpubind_shared_last_other(b, &entry, b->record.pid, b->record.start);
    const int32_t should = own->set;
    cpubind_item_result result = CPUBIND_ITEM_RIGHT;
    int32_t now = CPUBIND_CPUSET_NONE;
    cpubind_linux_fault why = cpubind_read_entry(b, &entry, &entry.number, &now);
    if (why.error == ESRCH && entry.kind == CPUBIND_ITEM_KERNEL) {
        entry.id = b->shared.record.entry[place].id;
        why = find_next(b, &entry, should, is_found);
        (void)cpubind_note_outcome(b, entry.kind, b->options.pid, place, why);
        return why.error == ENOMEM ? why : cpubind_no_fault;
    }
    if (cpubind_is_gone(b, &entry, why))
        return cpubind_no_fault;
    if (!why.error && now != should && !(other > own && other->set == now)) {
        why = cpubind_write_entry(b, &entry, should);
        result = CPUBIND_ITEM_MOVED;
    }
    entry.before = now;
    const cpubind_subject subject = cpubind_subject_of(b, &entry, should);
    return cpubind_report_watched(b, &subject, place, result, why);
}

cpubind_linux_fault cpubind_watch_driver(cpubind_binding *b)
{
    int is_found = 0; /* the other entries have to wait for the next call */
    cpubind_linux_fault why = cpubind_no_fault;
    if (!b->has_driver)
        return why;
    why = cpubind_shared_open(b, CPUBIND_RECORD_READ);
    for (int32_t i = 0; !why.error && !is_found && i < b->shared.record.n_entry; i++) {
        const cpubind_shared_entry *entry = &b->shared.record.entry[i];
        if ((entry->kind == CPUBIND_ITEM_KERNEL || entry->kind == CPUBIND_ITEM_WORKQUEUE) &&
            cpubind_shared_own_user(b, entry) &&
            cpubind_is_due(b, entry->kind, b->options.pid, i))
            why = watch_entry(b, i, &is_found);
    }
    cpubind_shared_close(b);
    return why;
}
