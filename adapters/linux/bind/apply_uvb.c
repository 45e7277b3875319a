/* apply_uvb.c - the UVB polling threads of a 950 host, put where they belong
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "../kernel/proc_stat.h"
#include "apply_steps.h"

static int add_other(cpubind_attempt *a, const cpubind_record_other *other)
{
    cpubind_record_other *all = (cpubind_record_other *)cpubind_grow(
        a->b->sys, a->other, a->n_other, &a->cap_other, sizeof *all);
    if (!all)
        return ENOMEM;
    a->other = all;
    all[a->n_other++] = *other;
    return 0;
}

/* A polling thread: on record, and to be moved if it is elsewhere. */
static cpubind_linux_fault look_at_other(cpubind_attempt *a, int32_t pid, int32_t tid,
                                         const char *name)
{
    cpubind_binding *b = a->b;
    cpubind_record_other record = {pid, tid, 0, CPUBIND_CPUSET_NONE, b->state.uvb};
    cpubind_proc_stat stat;
    int error = cpubind_proc_stat_read(&b->root, pid, tid, &stat).error;
    if (!error)
        error = cpubind_task_cpus(b->sys, tid, &b->state.sets, &record.before).error;
    if (error == ESRCH || error == ENOENT)
        return cpubind_no_fault;
    if (error)
        return cpubind_fault_of(error, "read a polling thread");
    record.start = stat.start;
    if (record.before == b->state.uvb) {
        cpubind_item *item = cpubind_report_add(b, CPUBIND_ITEM_UVB, CPUBIND_ITEM_RIGHT, tid,
                                                name, record.before, record.set);
        if (item)
            item->pid = pid;
        return cpubind_fault_of(item ? 0 : ENOMEM, "memory");
    }
    b->is_dirty = 1;
    error = add_other(a, &record);
    if (!error)
        error = cpubind_record_add_other(&b->state, b->sys, &record);
    return cpubind_fault_of(error, "memory");
}

/* A thread of any process. */
static cpubind_linux_fault look_at_task(cpubind_attempt *a, int folder, int32_t pid,
                                        int32_t tid)
{
    char name[CPUBIND_COMM_SIZE];
    const cpubind_linux_fault why = cpubind_task_name(a->b->sys, folder, tid, name);
    if (why.error)
        return cpubind_is_unseen(why.error) ? cpubind_no_fault : why;
    if (strncmp(name, CPUBIND_UVB_THREAD, CPUBIND_COMM_SIZE - 1) != 0)
        return cpubind_no_fault;
    return look_at_other(a, pid, tid, name);
}

/* The polling threads of one process. Those of a process that /proc hides are not seen. */
static cpubind_linux_fault look_at_process(cpubind_attempt *a, int32_t pid, cpubind_ids *tids)
{
    cpubind_binding *b = a->b;
    int folder;
    cpubind_linux_fault why = cpubind_tasks_open(&b->root, pid, &folder);
    if (!why.error)
        why = cpubind_tasks_list(b->sys, folder, tids);
    const int is_listed = !why.error;
    for (int32_t i = 0; !why.error && i < tids->n; i++)
        why = look_at_task(a, folder, pid, tids->id[i]);
    if (folder >= 0)
        b->sys->close(folder);
    if (is_listed || !why.error)
        return why;
    return cpubind_is_unseen(why.error) ? cpubind_no_fault
                                        : cpubind_fault_of(why.error, "list the threads of");
}

cpubind_linux_fault cpubind_look_at_others(cpubind_attempt *a)
{
    cpubind_binding *b = a->b;
    cpubind_ids pids = {0}, tids = {0};
    cpubind_linux_fault why = cpubind_no_fault;
    int folder;
    if (b->state.uvb < 0)
        return cpubind_no_fault;
    why = cpubind_root_open(&b->root, "proc", O_DIRECTORY, &folder);
    if (why.error)
        return cpubind_fault_of(why.error, "open /proc");
    why = cpubind_fault_of(cpubind_tasks_list(b->sys, folder, &pids).error, "list /proc");
    for (int32_t i = 0; !why.error && i < pids.n; i++)
        why = look_at_process(a, pids.id[i], &tids);
    b->sys->close(folder);
    free(pids.id);
    free(tids.id);
    return why;
}

/* Among 100,000 processes it was found a second ago: it is looked at again first. */
static cpubind_linux_fault move_other(cpubind_binding *b, const cpubind_record_other *t)
{
    cpubind_item_result result = CPUBIND_ITEM_MOVED;
    cpubind_item *item;
    int32_t now;
    cpubind_linux_fault why = cpubind_other_cpus(b, t, &now);
    int error;
    if (why.error)
        return why.error == ESRCH ? cpubind_no_fault : why;
    error = cpubind_task_move(b->sys, t->tid, &b->state.sets.set[t->set]).error;
    if (error == ESRCH)
        return cpubind_no_fault;
    if (cpubind_is_missing(error) || error == EINVAL) /* that: nobody may move it */
        result = CPUBIND_ITEM_SKIPPED;
    else if (error)
        result = CPUBIND_ITEM_FAILED;
    item = cpubind_report_add(b, CPUBIND_ITEM_UVB, result, t->tid, CPUBIND_UVB_THREAD,
                              t->before, t->set);
    if (!item)
        return cpubind_fault_of(ENOMEM, "memory");
    item->pid = t->pid;
    item->error = error;
    item->what = error ? "sched_setaffinity" : NULL;
    return cpubind_fault_of(result == CPUBIND_ITEM_FAILED ? error : 0, "sched_setaffinity");
}

cpubind_linux_fault cpubind_move_others(cpubind_attempt *a)
{
    cpubind_linux_fault why = cpubind_no_fault;
    for (int32_t i = 0; !why.error && i < a->n_other; i++) {
        a->n_other_moved = i + 1;
        why = move_other(a->b, &a->other[i]);
    }
    return why;
}
