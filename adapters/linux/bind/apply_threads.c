/* apply_threads.c - the threads of a process, each put where it belongs
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "binding.h"

/* Passes over a process that keeps bearing threads. Those that come later are born on the CPUs
 * of one that was moved. */
#define MAX_PASSES 1000

/* How often a thread is moved that is somewhere else when it is looked at again: it, or a tool
 * of the runtime, moves it too. */
#define MAX_MOVES 3

cpubind_linux_fault cpubind_write_record(cpubind_binding *b)
{
    cpubind_linux_fault why = cpubind_no_fault;
    if (!b->is_dirty)
        return cpubind_no_fault;
    b->is_unsaved = cpubind_record_save(b->file, &b->state, &why) != CPUBIND_LINUX_OK;
    if (b->is_unsaved)
        return why;
    b->is_dirty = 0;
    return cpubind_no_fault;
}

/* == What is seen =========================================================== */

static int is_seen(const cpubind_binding *b, int32_t tid)
{
    return cpubind_record_thread_find(b->seen, b->n_seen, tid) != NULL;
}

static int see(cpubind_binding *b, int32_t tid, int32_t set)
{
    int32_t at = cpubind_record_thread_place(b->seen, b->n_seen, tid);
    cpubind_seen *seen =
        (cpubind_seen *)cpubind_grow(b->sys, b->seen, b->n_seen, &b->cap_seen, sizeof *seen);
    if (!seen)
        return ENOMEM;
    b->seen = seen;
    memmove(b->seen + at + 1, b->seen + at, (size_t)(b->n_seen - at) * sizeof *b->seen);
    b->seen[at] = (cpubind_seen){tid, set};
    b->n_seen++;
    return 0;
}

/* Where a thread is to go back to. Once threads have been moved, one that is where only we put
 * them was born of one of those: it belongs where the process was. */
static int32_t origin(const cpubind_binding *b, int32_t set)
{
    return (b->is_recorded || b->has_moved) && cpubind_record_has_ours(&b->state, set)
               ? b->state.before
               : set;
}

/* A thread is seen for the first time. */
static int note(cpubind_binding *b, int32_t tid, int32_t set)
{
    const int32_t n = b->state.n_thread;
    const int32_t before = origin(b, set);
    int error = cpubind_record_add_thread(&b->state, b->sys, tid, before);
    b->is_dirty |= b->state.n_thread != n;
    /* In a first binding all threads may still be moved at once: then it is where it was. */
    return error ? error : see(b, tid, b->is_recorded ? set : before);
}

/* == One thread ============================================================= */

static int add_stray(cpubind_binding *b, const cpubind_stray *stray)
{
    cpubind_stray *all =
        (cpubind_stray *)cpubind_grow(b->sys, b->stray, b->n_stray, &b->cap_stray, sizeof *all);
    if (!all)
        return ENOMEM;
    b->stray = all;
    all[b->n_stray++] = *stray;
    return 0;
}

cpubind_linux_fault cpubind_list_threads(cpubind_binding *b)
{
    cpubind_linux_fault why = cpubind_tasks_list(b->sys, b->tasks, &b->ids);
    if (!why.error && b->ids.n == 0)
        why = cpubind_fault_of(ESRCH, "list the threads of");
    return why;
}

cpubind_linux_fault cpubind_look_at_thread(cpubind_binding *b, int32_t tid,
                                           char name[CPUBIND_COMM_SIZE], int32_t *is)
{
    const cpubind_linux_fault why = cpubind_task_name(b->sys, b->tasks, tid, name);
    return why.error ? why : cpubind_task_cpus(b->sys, tid, &b->state.sets, is);
}

/* Looks at a thread. ESRCH, that it has ended, is for the caller to pass over. */
static cpubind_linux_fault look(cpubind_binding *b, int32_t tid, int is_all, int32_t *n_new)
{
    cpubind_stray t = {.tid = tid};
    const cpubind_linux_fault why = cpubind_look_at_thread(b, tid, t.name, &t.is);
    int error = 0;
    if (why.error)
        return why;
    t.should = cpubind_record_place(&b->state, t.name);
    if (!is_seen(b, tid)) {
        error = note(b, tid, t.is);
        *n_new += 1;
    }
    if (!error && t.is != t.should)
        error = add_stray(b, &t);
    else if (!error && !is_all &&
             !cpubind_report_add(b, CPUBIND_ITEM_THREAD, CPUBIND_ITEM_RIGHT, tid, t.name, t.is,
                                 t.should))
        error = ENOMEM;
    return cpubind_fault_of(error, "memory");
}

/* Moves a thread and looks whether it is there.
 *   returns error 0, ESRCH when it has ended, or the call that failed; EINVAL, "cpuset": some
 *           of the CPUs are not its to have; EAGAIN: somebody else moves it */
static cpubind_linux_fault move(cpubind_binding *b, const cpubind_stray *t)
{
    const cpubind_cpu_sets *sets = &b->state.sets;
    int32_t now = CPUBIND_CPUSET_NONE;
    for (int i = 0; i < MAX_MOVES && now != t->should; i++) {
        cpubind_linux_fault why = cpubind_task_move(b->sys, t->tid, &sets->set[t->should]);
        if (!why.error)
            why = cpubind_task_cpus(b->sys, t->tid, &b->state.sets, &now);
        if (why.error)
            return why;
        if (now != t->should && cpubind_cpu_sets_is_part(sets, now, t->should))
            return cpubind_fault_of(EINVAL, "cpuset");
    }
    return now == t->should ? cpubind_no_fault : cpubind_fault_of(EAGAIN, "sched_setaffinity");
}

static cpubind_linux_fault move_all(cpubind_binding *b)
{
    for (int32_t i = 0; i < b->n_stray; i++) {
        const cpubind_stray *t = &b->stray[i];
        cpubind_item *item;
        cpubind_linux_fault why;
        b->has_moved = 1;
        why = move(b, t);
        if (why.error == ESRCH)
            continue;
        item = cpubind_report_add(b, CPUBIND_ITEM_THREAD, CPUBIND_ITEM_MOVED, t->tid, t->name,
                                  t->is, t->should);
        if (!item)
            return cpubind_fault_of(ENOMEM, "memory");
        item->error = why.error;
        item->what = why.what;
        if (why.error == EAGAIN) {
            item->result = CPUBIND_ITEM_SKIPPED;
        } else if (why.error) {
            item->result = CPUBIND_ITEM_FAILED;
            return why;
        }
    }
    return cpubind_no_fault;
}

/* == What has ended ========================================================= */

/* A watch of weeks sees threads without end: those that are gone are forgotten now and then. */
#define ENDED_MAX 256

static int is_there(const cpubind_binding *b, int32_t tid)
{
    char name[CPUBIND_COMM_SIZE];
    /* A listing may miss a thread beside one that ends. */
    return cpubind_ids_has(&b->ids, tid) ||
           cpubind_task_name(b->sys, b->tasks, tid, name).error != ESRCH;
}

static void forget_ended(cpubind_binding *b)
{
    cpubind_record *s = &b->state;
    int32_t n = 0, n_seen = 0;
    if (s->n_thread <= 2 * b->ids.n + ENDED_MAX)
        return;
    for (int32_t i = 0; i < s->n_thread; i++)
        if (is_there(b, s->thread[i].tid))
            s->thread[n++] = s->thread[i];
    s->n_thread = n;
    for (int32_t i = 0; i < b->n_seen; i++)
        if (cpubind_record_thread_find(s->thread, s->n_thread, b->seen[i].tid))
            b->seen[n_seen++] = b->seen[i];
    b->n_seen = n_seen;
    b->is_dirty = 1;
}

/* == Passes ================================================================= */

cpubind_linux_fault cpubind_pass(cpubind_binding *b, int is_all, int32_t *n_new)
{
    cpubind_linux_fault why = cpubind_list_threads(b);
    *n_new = 0;
    b->n_stray = 0;
    if (why.error)
        return why;
    if (is_all)
        forget_ended(b);
    for (int32_t i = 0; i < b->ids.n; i++) {
        if (!is_all && is_seen(b, b->ids.id[i]))
            continue;
        why = look(b, b->ids.id[i], is_all, n_new);
        if (why.error && why.error != ESRCH)
            return why;
    }
    why = cpubind_write_record(b);
    return why.error ? why : move_all(b);
}

cpubind_linux_fault cpubind_passes(cpubind_binding *b)
{
    int n_quiet = 0;
    for (int i = 0; i < MAX_PASSES && n_quiet < 2; i++) {
        int32_t n_new = 0;
        cpubind_linux_fault why = cpubind_pass(b, 0, &n_new);
        if (why.error)
            return why;
        n_quiet = n_new == 0 ? n_quiet + 1 : 0;
    }
    return cpubind_no_fault;
}
