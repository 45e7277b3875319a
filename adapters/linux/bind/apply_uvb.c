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

static cpubind_subject subject_of(const cpubind_record_uvb_thread *thread, const char *name)
{
    return (cpubind_subject){CPUBIND_ITEM_UVB, thread->pid, thread->tid, name,
                             thread->before,   thread->set};
}

/* Records a polling thread and adds it to those to move, if it is elsewhere. */
static cpubind_linux_fault prepare_thread(cpubind_attempt *a, int32_t pid, int32_t tid,
                                          const char *name)
{
    cpubind_binding *b = a->b;
    cpubind_record_uvb_thread thread = {pid, tid, 0, CPUBIND_CPUSET_NONE, b->record.uvb};
    cpubind_record_uvb_thread *all;
    cpubind_proc_stat stat = {.start = 0};
    cpubind_subject subject;
    int error = cpubind_proc_stat_read(&b->root, pid, tid, &stat).error;
    if (!error)
        error = cpubind_task_cpus(b->sys, tid, &b->record.sets, &thread.before).error;
    if (error == ESRCH || error == ENOENT)
        return cpubind_no_fault;
    if (error)
        return cpubind_fault_of(error, "read a polling thread");
    if (b->record.sets.set[thread.before].n == 0) /* its CPUs are offline */
        return cpubind_no_fault;
    thread.start = stat.start;
    if (thread.before == thread.set) {
        subject = subject_of(&thread, name);
        return cpubind_report_why(b, &subject, CPUBIND_ITEM_RIGHT, cpubind_no_fault);
    }
    b->is_dirty = 1;
    all = (cpubind_record_uvb_thread *)cpubind_grow(b->sys, a->uvb_thread, a->n_uvb_thread,
                                                    &a->cap_uvb_thread, sizeof *all);
    if (!all)
        return cpubind_fault_of(ENOMEM, "memory");
    a->uvb_thread = all;
    all[a->n_uvb_thread++] = thread;
    return cpubind_record_add_uvb_thread(&b->record, b->sys, &thread);
}

/* The polling threads of one process. */
static cpubind_linux_fault prepare_process(cpubind_attempt *a, int32_t pid, cpubind_ids *tids)
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
            why = prepare_thread(a, pid, tids->id[i], name);
    }
    sys->close(folder);
    return why;
}

cpubind_linux_fault cpubind_prepare_uvb_threads(cpubind_attempt *a)
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
        why = prepare_process(a, pids.id[i], &tids);
    b->sys->close(folder);
    free(pids.id);
    free(tids.id);
    return why;
}

/* Moves a polling thread. Looking through 100,000 processes takes a second: whether it still is
 * the thread that was found is checked first. */
static cpubind_linux_fault move_thread(cpubind_binding *b,
                                       const cpubind_record_uvb_thread *thread)
{
    const cpubind_subject subject = subject_of(thread, CPUBIND_UVB_THREAD);
    cpubind_item_result result = CPUBIND_ITEM_MOVED;
    cpubind_linux_fault why, no_memory;
    int32_t now;
    why = cpubind_read_uvb_thread(b, thread, &now);
    if (why.error)
        return why.error == ESRCH ? cpubind_no_fault : why;
    why = cpubind_task_move(b->sys, thread->tid, &b->record.sets.set[thread->set]);
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

cpubind_linux_fault cpubind_move_uvb_threads(cpubind_attempt *a)
{
    cpubind_linux_fault why = cpubind_no_fault;
    for (int32_t i = 0; !why.error && i < a->n_uvb_thread; i++) {
        a->n_uvb_thread_moved = i + 1;
        why = move_thread(a->b, &a->uvb_thread[i]);
    }
    return why;
}
