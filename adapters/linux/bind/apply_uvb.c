/* apply_uvb.c - moves the UVB polling threads of a 950 host to the CPUs of the goal
 * SPDX-License-Identifier: MIT
 *
 * They belong to other processes. Threads that /proc hides from this user are left out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/process.h"
#include "binding.h"

/* Finds the polling threads of one process. */
static cpubind_linux_fault find_in_process(cpubind_attempt *a, int32_t pid, cpubind_ids *tids)
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
        else if (!why.error && strncmp(name, CPUBIND_UVB_THREAD, CPUBIND_COMM_SIZE - 1) == 0)
            why = CPUBIND_APPEND(sys, a->uvb, a->n_uvb, a->cap_uvb,
                                 (&(cpubind_uvb_thread){pid, tids->id[i]}));
    }
    sys->close(folder);
    return why;
}

cpubind_linux_fault cpubind_find_uvb_threads(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    cpubind_ids pids = {0}, tids = {0};
    cpubind_linux_fault why;
    int folder;
    if (b->record.uvb < 0)
        return cpubind_no_fault;
    why = cpubind_root_open(&b->root, "proc", O_DIRECTORY, &folder);
    if (why.error)
        return cpubind_fault_of(why.error, "open /proc");
    why = cpubind_tasks_list(b->sys, folder, &pids);
    if (why.error)
        why.what = "list /proc";
    for (int32_t i = 0; !why.error && i < pids.n; i++)
        why = find_in_process(a, pids.id[i], &tids);
    b->sys->close(folder);
    free(pids.id);
    free(tids.id);
    return why;
}

/* Records a polling thread and adds it to those to move, if it is elsewhere. */
static cpubind_linux_fault prepare_thread(cpubind_attempt *a, int32_t pid, int32_t tid)
{
    cpubind_binding *b = a->b;
    cpubind_move move = {.of = {.kind = CPUBIND_ITEM_UVB, .number = tid, .pid = pid},
                         .should = b->record.uvb};
    cpubind_subject subject = {CPUBIND_ITEM_UVB,   pid,           tid,
                               CPUBIND_UVB_THREAD, b->record.uvb, b->record.uvb};
    cpubind_proc_stat stat = {.start = 0};
    cpubind_linux_fault why;
    int error = cpubind_proc_stat_read(&b->root, pid, tid, &stat).error;
    if (!error)
        error = cpubind_task_cpus(b->sys, tid, &b->record.sets, &move.of.before).error;
    if (error == ESRCH || error == ENOENT)
        return cpubind_no_fault;
    if (error)
        return cpubind_fault_of(error, "read a polling thread");
    if (b->record.sets.set[move.of.before].n == 0) /* its CPUs are offline */
        return cpubind_no_fault;
    if (cpubind_is_host_busy(b->shared_fault)) {
        subject.was = move.of.before;
        return cpubind_report_why(b, &subject, CPUBIND_ITEM_SKIPPED, b->shared_fault);
    }
    move.of.start = stat.start;
    why = cpubind_shared_use(b, &move.of, move.should, CPUBIND_IRQBALANCE_LEAVE, NULL);
    if (why.error)
        return why;
    if (move.of.before == move.should)
        return cpubind_report_why(b, &subject, CPUBIND_ITEM_RIGHT, cpubind_no_fault);
    return cpubind_add_move(a, &move);
}

/* Without the record of the host none is moved; only that it is in use is reported. */
cpubind_linux_fault cpubind_prepare_uvb_threads(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    cpubind_linux_fault why = cpubind_no_fault;
    if (!b->shared.file && !cpubind_is_host_busy(b->shared_fault))
        return why;
    for (int32_t i = 0; !why.error && i < a->n_uvb; i++)
        why = prepare_thread(a, a->uvb[i].pid, a->uvb[i].tid);
    return why;
}

/* Whether it still is the thread that was found is checked first. */
cpubind_linux_fault cpubind_move_uvb_thread(cpubind_attempt *a, const cpubind_move *move)
{
    cpubind_binding *b = a->b;
    const cpubind_subject subject = {CPUBIND_ITEM_UVB,   move->of.pid,    move->of.number,
                                     CPUBIND_UVB_THREAD, move->of.before, move->should};
    cpubind_item_result result = CPUBIND_ITEM_MOVED;
    cpubind_linux_fault why, no_memory;
    int32_t now;
    why = cpubind_read_uvb_thread(b, &move->of, &now);
    if (why.error)
        return why.error == ESRCH ? cpubind_no_fault : why;
    why = cpubind_task_move(b->sys, move->of.number, &b->record.sets.set[move->should]);
    if (why.error == ESRCH)
        return cpubind_no_fault;
    if (cpubind_is_missing(why.error) || why.error == EINVAL) /* EINVAL: nobody may move it */
        result = CPUBIND_ITEM_SKIPPED;
    else if (why.error)
        result = CPUBIND_ITEM_FAILED;
    no_memory = cpubind_report_why(b, &subject, result, why);
    if (no_memory.error)
        return no_memory;
    return result == CPUBIND_ITEM_FAILED ? why : cpubind_no_fault;
}
