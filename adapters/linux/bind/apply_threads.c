/* apply_threads.c - moves the threads of the process to the CPUs of the goal
 * SPDX-License-Identifier: MIT
 *
 * Each thread is recorded, and the record written, before it is moved. Moves no thread of
 * another process.
 */
#include <errno.h>
#include <string.h>

#include "binding.h"

/* Listings of a process that keeps creating threads. Threads that come later are created on the
 * CPUs of one that was moved. */
#define MAX_LISTINGS 1000

/* How often a thread is moved again that is somewhere else when its CPUs are read back: it, or
 * a tool of the runtime, moves it too. */
#define MAX_MOVES 3

/* A watch of weeks lists threads without end: when this many more are recorded than twice those
 * that live, the ended ones are dropped. */
#define MAX_ENDED 256

/* == One thread ============================================================= */

static int is_known(const cpubind_binding *b, int32_t tid)
{
    return cpubind_record_find_thread(b->known, b->n_known, tid) != NULL;
}

/* Records a thread that is not known yet, and makes it known. */
static cpubind_linux_fault add_known(cpubind_binding *b, int32_t tid, int32_t is)
{
    const int32_t n_recorded = b->record.n_thread;
    const int is_recorded = cpubind_is_recorded(b);
    const int is_placed = cpubind_record_is_placed(&b->record, is);
    /* Once threads have been moved, one on a placed set was created by one of those: before,
     * it would have been where the process was. */
    const int32_t before =
        is_placed && (is_recorded || b->has_moved_threads) ? b->record.before : is;
    const int32_t at = cpubind_record_thread_place(b->known, b->n_known, tid);
    cpubind_record_thread *known;
    cpubind_linux_fault why = cpubind_record_add_thread(&b->record, b->sys, tid, before);
    b->is_dirty |= b->record.n_thread != n_recorded;
    if (why.error)
        return why;
    known = (cpubind_record_thread *)cpubind_grow(b->sys, b->known, b->n_known, &b->cap_known,
                                                  sizeof *known);
    if (!known)
        return cpubind_fault_of(ENOMEM, "memory");
    b->known = known;
    memmove(known + at + 1, known + at, (size_t)(b->n_known - at) * sizeof *known);
    /* Undoing a second binding puts a thread where that one found it. */
    known[at] = (cpubind_record_thread){tid, is_recorded ? is : before};
    b->n_known++;
    return cpubind_no_fault;
}

static cpubind_linux_fault add_misplaced(cpubind_binding *b, const cpubind_misplaced *thread)
{
    cpubind_misplaced *all = (cpubind_misplaced *)cpubind_grow(
        b->sys, b->misplaced, b->n_misplaced, &b->cap_misplaced, sizeof *all);
    if (!all)
        return cpubind_fault_of(ENOMEM, "memory");
    b->misplaced = all;
    all[b->n_misplaced++] = *thread;
    return cpubind_no_fault;
}

static cpubind_subject subject_of(const cpubind_binding *b, const cpubind_misplaced *thread)
{
    return (cpubind_subject){CPUBIND_ITEM_THREAD, b->options.pid, thread->tid,
                             thread->name,        thread->is,     thread->should};
}

cpubind_linux_fault cpubind_list_threads(cpubind_binding *b)
{
    const cpubind_linux_fault why = cpubind_tasks_list(b->sys, b->task_dir_fd, &b->tids);
    return !why.error && b->tids.n == 0 ? cpubind_fault_of(ESRCH, "list the threads of") : why;
}

cpubind_linux_fault cpubind_read_thread(cpubind_binding *b, int32_t tid,
                                        char name[CPUBIND_COMM_SIZE], int32_t *is)
{
    const cpubind_linux_fault why = cpubind_task_name(b->sys, b->task_dir_fd, tid, name);
    return why.error ? why : cpubind_task_cpus(b->sys, tid, &b->record.sets, is);
}

/* Looks at a thread. ESRCH, that it has ended, is for the caller to skip. */
static cpubind_linux_fault look_at(cpubind_binding *b, int32_t tid, int is_all, int32_t *n_new)
{
    cpubind_misplaced t = {.tid = tid};
    cpubind_linux_fault why = cpubind_read_thread(b, tid, t.name, &t.is);
    if (why.error)
        return why;
    t.should = cpubind_set_of_name(&b->record, t.name);
    if (!is_known(b, tid)) {
        why = add_known(b, tid, t.is);
        *n_new += 1;
    }
    if (why.error)
        return why;
    if (t.is != t.should)
        return add_misplaced(b, &t);
    if (is_all) /* a watch reports what it moves alone */
        return cpubind_no_fault;
    const cpubind_subject subject = subject_of(b, &t);
    return cpubind_report_why(b, &subject, CPUBIND_ITEM_RIGHT, cpubind_no_fault);
}

/* Moves a thread and reads its CPUs back.
 *   errors  ESRCH: it has ended; EINVAL, "cpuset": the cpuset does not allow some of the CPUs;
 *           EAGAIN: something else moves it; or those of the calls */
static cpubind_linux_fault move_thread(cpubind_binding *b, const cpubind_misplaced *t)
{
    cpubind_cpu_sets *sets = &b->record.sets;
    int32_t now = CPUBIND_CPUSET_NONE;
    for (int i = 0; i < MAX_MOVES && now != t->should; i++) {
        cpubind_linux_fault why = cpubind_task_move(b->sys, t->tid, &sets->set[t->should]);
        if (!why.error)
            why = cpubind_task_cpus(b->sys, t->tid, sets, &now);
        if (why.error)
            return why;
        if (now != t->should && cpubind_cpu_sets_is_part(sets, now, t->should))
            return cpubind_fault_of(EINVAL, "cpuset");
    }
    return cpubind_fault_of(now == t->should ? 0 : EAGAIN, "sched_setaffinity");
}

static cpubind_linux_fault move_misplaced(cpubind_binding *b)
{
    for (int32_t i = 0; i < b->n_misplaced; i++) {
        const cpubind_subject subject = subject_of(b, &b->misplaced[i]);
        cpubind_linux_fault why, no_memory;
        b->has_moved_threads = 1;
        why = move_thread(b, &b->misplaced[i]);
        if (why.error == ESRCH)
            continue;
        no_memory = cpubind_report_why(b, &subject,
                                       !why.error            ? CPUBIND_ITEM_MOVED
                                       : why.error == EAGAIN ? CPUBIND_ITEM_SKIPPED
                                                             : CPUBIND_ITEM_FAILED,
                                       why);
        if (no_memory.error)
            return no_memory;
        if (why.error && why.error != EAGAIN)
            return why;
    }
    return cpubind_no_fault;
}

/* == All threads ============================================================ */

static int has_ended(const cpubind_binding *b, int32_t tid)
{
    char name[CPUBIND_COMM_SIZE];
    /* A listing may miss a thread next to one that ends. */
    return !cpubind_ids_has(&b->tids, tid) &&
           cpubind_task_name(b->sys, b->task_dir_fd, tid, name).error == ESRCH;
}

static void drop_ended(cpubind_binding *b)
{
    cpubind_record *r = &b->record;
    int32_t n = 0, n_known = 0;
    if (r->n_thread <= 2 * b->tids.n + MAX_ENDED)
        return;
    for (int32_t i = 0; i < r->n_thread; i++)
        if (!has_ended(b, r->thread[i].tid))
            r->thread[n++] = r->thread[i];
    r->n_thread = n;
    for (int32_t i = 0; i < b->n_known; i++)
        if (cpubind_record_find_thread(r->thread, r->n_thread, b->known[i].tid))
            b->known[n_known++] = b->known[i];
    b->n_known = n_known;
    b->is_dirty = 1;
}

cpubind_linux_fault cpubind_place_threads_once(cpubind_binding *b, int is_all, int32_t *n_new)
{
    cpubind_linux_fault why = cpubind_list_threads(b);
    *n_new = 0;
    b->n_misplaced = 0;
    if (why.error)
        return why;
    if (is_all)
        drop_ended(b);
    for (int32_t i = 0; i < b->tids.n; i++) {
        if (!is_all && is_known(b, b->tids.id[i]))
            continue;
        why = look_at(b, b->tids.id[i], is_all, n_new);
        if (why.error && why.error != ESRCH)
            return why;
    }
    why = cpubind_write_record(b);
    return why.error ? why : move_misplaced(b);
}

cpubind_linux_fault cpubind_place_threads(cpubind_binding *b)
{
    int n_quiet = 0;
    for (int i = 0; i < MAX_LISTINGS && n_quiet < 2; i++) {
        int32_t n_new = 0;
        const cpubind_linux_fault why = cpubind_place_threads_once(b, 0, &n_new);
        if (why.error)
            return why;
        n_quiet = n_new == 0 ? n_quiet + 1 : 0;
    }
    return cpubind_no_fault;
}
