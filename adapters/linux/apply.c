/* apply.c - putting a goal into effect: record, threads, interrupts, memory; or nothing
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binding.h"
#include "common.h"
#include "memory.h"
#include "proc_stat.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* One call of apply: what has been moved beside threads, and where it was. */
typedef struct attempt {
    cpubind_binding *b;
    cpubind_state_irq *irq; /* those that are to be moved; `before`: where they are now */
    int32_t n_irq, n_irq_moved;
    cpubind_state_other *other;
    int32_t n_other, cap_other, n_other_moved;
    cpubind_irqbalance daemon;
    cpubind_irqbalance_how was_told; /* what is on record of this daemon already */
    int is_to_tell, is_told;
    int32_t was_npu, was_main; /* of the goal before, or -1, NONE */
} attempt;

static const cpubind_why no_fault = {0, NULL};

static cpubind_why because(int error, const char *what)
{
    return (cpubind_why){error, what};
}

/* Errors that say that something is missing, a right or a file, or that the kernel keeps this
 * interrupt or thread to itself: named, and passed over. */
static int is_missing(int error)
{
    static const int errors[] = {EACCES, EPERM, EROFS, ENOENT, EIO, ENOSYS, ENODEV, EOPNOTSUPP};
    for (size_t i = 0; i < COUNT(errors); i++)
        if (errors[i] == error)
            return 1;
    return 0;
}

/* Adds an item that could not be done. */
static cpubind_why skip(cpubind_binding *b, cpubind_item_kind kind, int32_t id,
                        const char *name, int32_t was, int32_t should, cpubind_why why)
{
    cpubind_item *item = cpubind_report_add(b, kind, CPUBIND_SKIPPED, id, name, was, should);
    if (!item)
        return because(ENOMEM, "memory");
    item->error = why.error;
    item->what = why.what;
    return no_fault;
}

/* == Interrupts ============================================================= */

static const char *irq_name(cpubind_irq_kind kind)
{
    return kind == CPUBIND_IRQ_SQ ? "sq" : "cq";
}

/* Looks where an interrupt is: on record, and to be moved if it is elsewhere. */
static cpubind_why look_at_irq(attempt *a, const cpubind_irq_goal *goal)
{
    cpubind_binding *b = a->b;
    const char *name = irq_name(goal->kind);
    int32_t now, should = cpubind_cpusets_of_list(&b->state.sets, b->sys, &goal->cpu, 1);
    cpubind_state_irq record = {goal->irq, goal->kind, goal->cpu, CPUBIND_CPUSET_NONE, 0};
    int error = cpubind_irq_read(&b->root, goal->irq, &b->state.sets, &now);
    if (should == CPUBIND_CPUSET_NO_MEMORY || error == ENOMEM)
        return because(ENOMEM, "memory");
    if (is_missing(error))
        return skip(b, CPUBIND_ITEM_IRQ, goal->irq, name, CPUBIND_CPUSET_NONE, should,
                    because(error, "read smp_affinity_list"));
    if (error)
        return because(error, "read smp_affinity_list");
    b->is_dirty = 1;
    if (now != should) {
        record.before = now;
        a->irq[a->n_irq++] = record;
    } else if (!cpubind_report_add(b, CPUBIND_ITEM_IRQ, CPUBIND_RIGHT, goal->irq, name, now,
                                   should)) {
        return because(ENOMEM, "memory");
    }
    return because(cpubind_state_add_irq(&b->state, b->sys, &record), "memory");
}

static int was_banned(const cpubind_state *state, int32_t irq)
{
    for (int32_t i = 0; i < state->n_irq; i++)
        if (state->irq[i].irq == irq)
            return state->irq[i].is_banned;
    return 0;
}

static cpubind_why look_at_irqs(attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_why why = no_fault;
    b->report.no_irq = goal->no_irq;
    if (goal->n_irq == 0)
        return no_fault;
    a->irq = (cpubind_state_irq *)b->sys->malloc((size_t)goal->n_irq * sizeof *a->irq);
    if (!a->irq)
        return because(ENOMEM, "memory");
    for (int32_t i = 0; !why.error && i < goal->n_irq; i++)
        why = look_at_irq(a, &goal->irq[i]);
    return why;
}

/* Moves an interrupt, and reads back what the kernel made of it. */
static cpubind_why move_irq(cpubind_binding *b, int32_t irq, int32_t should, int32_t *actual)
{
    int32_t now = CPUBIND_CPUSET_NONE;
    int error = cpubind_irq_write(&b->root, irq, &b->state.sets.set[should]);
    *actual = CPUBIND_CPUSET_NONE;
    if (error)
        return because(error, "write smp_affinity_list");
    error = cpubind_irq_read(&b->root, irq, &b->state.sets, &now);
    if (error)
        return because(error, "read smp_affinity_list");
    if (now != should)
        return because(EIO, "smp_affinity_list");
    error = cpubind_irq_read_effective(&b->root, irq, &b->state.sets, actual);
    return because(error == ENOMEM ? error : 0, "memory");
}

static cpubind_why move_irqs(attempt *a)
{
    cpubind_binding *b = a->b;
    for (int32_t i = 0; i < a->n_irq; i++) {
        const cpubind_state_irq *irq = &a->irq[i];
        int32_t actual, should = cpubind_cpusets_of_list(&b->state.sets, b->sys, &irq->cpu, 1);
        cpubind_why why = move_irq(b, irq->irq, should, &actual);
        cpubind_item *item;
        a->n_irq_moved = i + 1;
        if (is_missing(why.error)) {
            /* What cannot be read back may have been moved: skipped is as it was. */
            (void)cpubind_irq_write(&b->root, irq->irq, &b->state.sets.set[irq->before]);
            why = skip(b, CPUBIND_ITEM_IRQ, irq->irq, irq_name(irq->kind), irq->before, should,
                       why);
            if (why.error)
                return why;
            continue;
        }
        item =
            cpubind_report_add(b, CPUBIND_ITEM_IRQ, why.error ? CPUBIND_FAILED : CPUBIND_MOVED,
                               irq->irq, irq_name(irq->kind), irq->before, should);
        if (!item)
            return because(ENOMEM, "memory");
        if (actual >= 0)
            item->actual = cpubind_cpusets_text(&b->state.sets, actual);
        item->error = why.error;
        item->what = why.error ? why.what : NULL;
        if (why.error)
            return why;
    }
    return no_fault;
}

/* == UVB polling threads ==================================================== */

static int add_other(attempt *a, const cpubind_state_other *other)
{
    if (a->n_other == a->cap_other) {
        int32_t cap = a->cap_other ? a->cap_other * 2 : 16;
        cpubind_state_other *grown =
            (cpubind_state_other *)a->b->sys->realloc(a->other, (size_t)cap * sizeof *grown);
        if (!grown)
            return ENOMEM;
        a->other = grown;
        a->cap_other = cap;
    }
    a->other[a->n_other++] = *other;
    return 0;
}

/* A polling thread: on record, and to be moved if it is elsewhere. */
static cpubind_why look_at_other(attempt *a, int32_t pid, int32_t tid, const char *name)
{
    cpubind_binding *b = a->b;
    cpubind_state_other record = {pid, tid, 0, CPUBIND_CPUSET_NONE, b->state.uvb};
    cpubind_proc_stat stat;
    int error = cpubind_proc_stat_read(&b->root, pid, tid, &stat);
    if (!error)
        error = cpubind_task_cpus(b->sys, tid, &b->state.sets, &record.before);
    if (error == ESRCH || error == ENOENT)
        return no_fault;
    if (error)
        return because(error, "read a polling thread");
    record.start = stat.start;
    if (record.before == b->state.uvb) {
        cpubind_item *item = cpubind_report_add(b, CPUBIND_ITEM_UVB, CPUBIND_RIGHT, tid, name,
                                                record.before, record.set);
        if (item)
            item->pid = pid;
        return because(item ? 0 : ENOMEM, "memory");
    }
    b->is_dirty = 1;
    error = add_other(a, &record);
    if (!error)
        error = cpubind_state_add_other(&b->state, b->sys, &record);
    return because(error, "memory");
}

/* What has ended, or is hidden from this user. */
static int is_unseen(int error)
{
    return error == ESRCH || error == ENOENT || error == EACCES || error == EPERM;
}

/* A thread of any process. */
static cpubind_why look_at_task(attempt *a, int folder, int32_t pid, int32_t tid)
{
    char name[CPUBIND_COMM_SIZE];
    int error = cpubind_task_name(a->b->sys, folder, tid, name);
    if (error)
        return because(is_unseen(error) ? 0 : error, "read the name of");
    if (strncmp(name, CPUBIND_UVB_THREAD, CPUBIND_COMM_SIZE - 1) != 0)
        return no_fault;
    return look_at_other(a, pid, tid, name);
}

/* The polling threads of one process. Those of a process that /proc hides are not seen. */
static cpubind_why look_at_process(attempt *a, int32_t pid, cpubind_ids *tids)
{
    cpubind_binding *b = a->b;
    cpubind_why why = no_fault;
    int folder = cpubind_tasks_open(&b->root, pid);
    int error = folder < 0 ? errno : cpubind_tasks_list(b->sys, folder, tids);
    for (int32_t i = 0; !error && !why.error && i < tids->n; i++)
        why = look_at_task(a, folder, pid, tids->id[i]);
    if (folder >= 0)
        b->sys->close(folder);
    return error && !is_unseen(error) ? because(error, "list the threads of") : why;
}

static cpubind_why look_at_others(attempt *a)
{
    cpubind_binding *b = a->b;
    cpubind_ids pids = {0}, tids = {0};
    cpubind_why why = no_fault;
    int folder;
    if (b->state.uvb < 0)
        return no_fault;
    folder = cpubind_tree_open(&b->root, "proc", O_DIRECTORY);
    if (folder < 0)
        return because(errno, "open /proc");
    why = because(cpubind_tasks_list(b->sys, folder, &pids), "list /proc");
    for (int32_t i = 0; !why.error && i < pids.n; i++)
        why = look_at_process(a, pids.id[i], &tids);
    b->sys->close(folder);
    free(pids.id);
    free(tids.id);
    return why;
}

static cpubind_why move_others(attempt *a)
{
    cpubind_binding *b = a->b;
    for (int32_t i = 0; i < a->n_other; i++) {
        const cpubind_state_other *t = &a->other[i];
        int error = cpubind_task_move(b->sys, t->tid, &b->state.sets.set[t->set]);
        cpubind_item *item;
        a->n_other_moved = i + 1;
        if (error == ESRCH)
            continue;
        /* EINVAL: a thread of the kernel that may not be moved. */
        item = cpubind_report_add(b, CPUBIND_ITEM_UVB,
                                  !error                                 ? CPUBIND_MOVED
                                  : is_missing(error) || error == EINVAL ? CPUBIND_SKIPPED
                                                                         : CPUBIND_FAILED,
                                  t->tid, CPUBIND_UVB_THREAD, t->before, t->set);
        if (!item)
            return because(ENOMEM, "memory");
        item->pid = t->pid;
        item->error = error;
        item->what = error ? "sched_setaffinity" : NULL;
        if (item->result == CPUBIND_FAILED)
            return because(error, "sched_setaffinity");
    }
    return no_fault;
}

/* == irqbalance ============================================================= */

/* Whether what is on record was told to this daemon, and not to one that has ended. */
static int is_on_record(const cpubind_binding *b, const cpubind_irqbalance *daemon)
{
    return b->state.how != CPUBIND_IRQBALANCE_LEAVE && b->state.irqbalance_pid == daemon->pid &&
           b->state.irqbalance_start == daemon->start;
}

static cpubind_why skip_irqbalance(attempt *a, int error, const char *what)
{
    a->b->report.irqbalance_runs = 1;
    return skip(a->b, CPUBIND_ITEM_IRQBALANCE, a->daemon.pid, "irqbalance", CPUBIND_CPUSET_NONE,
                CPUBIND_CPUSET_NONE, because(error, what));
}

/* Whether there is something to tell. One that is stopped does not listen; one that somebody
 * else has stopped is not ours to let go on. */
static int is_to_be_told(attempt *a)
{
    if (!a->daemon.is_stopped)
        return 1;
    return a->b->how.irqbalance == CPUBIND_IRQBALANCE_STOP && !a->was_told &&
           cpubind_is_stopped_for_another(a->b, &a->daemon);
}

/* That it cannot be told is named, and is on record no more. */
static cpubind_why give_up_irqbalance(attempt *a, int error, const char *what)
{
    if (error == ENOMEM)
        return because(ENOMEM, "memory");
    a->is_to_tell = 0;
    a->b->state.how = a->was_told;
    a->b->is_dirty = 1;
    return skip_irqbalance(a, error, what);
}

/* Notes which interrupts are ours to ban: what it leaves alone already is not ours to take
 * back. */
static cpubind_why choose_banned(attempt *a)
{
    cpubind_state *s = &a->b->state;
    int32_t *numbers = (int32_t *)a->b->sys->malloc((size_t)s->n_irq * 2 * sizeof *numbers);
    int error;
    if (!numbers)
        return because(ENOMEM, "memory");
    for (int32_t i = 0; i < s->n_irq; i++)
        numbers[i] = s->irq[i].irq;
    error = cpubind_irqbalance_banned(&a->b->root, &a->daemon, numbers, s->n_irq,
                                      numbers + s->n_irq);
    for (int32_t i = 0; !error && i < s->n_irq; i++)
        s->irq[i].is_banned |= !numbers[s->n_irq + i];
    free(numbers);
    return error ? give_up_irqbalance(a, error, "ban") : no_fault;
}

static cpubind_why look_at_irqbalance(attempt *a)
{
    cpubind_binding *b = a->b;
    const cpubind_irqbalance_how how = b->how.irqbalance;
    int error;
    if (b->state.n_irq == 0)
        return no_fault;
    error = cpubind_irqbalance_find(&b->root, &a->daemon);
    if (error == ENOMEM)
        return because(ENOMEM, "memory");
    if (error && how != CPUBIND_IRQBALANCE_LEAVE)
        return skip_irqbalance(a, error, "find");
    if (error || a->daemon.pid == 0)
        return no_fault;
    a->was_told = is_on_record(b, &a->daemon) ? b->state.how : CPUBIND_IRQBALANCE_LEAVE;
    b->report.irqbalance_runs = how == CPUBIND_IRQBALANCE_LEAVE && !a->daemon.is_stopped &&
                                a->was_told == CPUBIND_IRQBALANCE_LEAVE;
    if (how == CPUBIND_IRQBALANCE_LEAVE || !is_to_be_told(a))
        return no_fault;
    a->is_to_tell = 1;
    b->state.how = how;
    b->state.irqbalance_pid = a->daemon.pid;
    b->state.irqbalance_start = a->daemon.start;
    b->is_dirty = 1;
    return how == CPUBIND_IRQBALANCE_BAN ? choose_banned(a) : no_fault;
}

/* Tells it, as asked, before the interrupts are moved: it would move them again. */
static cpubind_why tell_irqbalance(attempt *a)
{
    cpubind_binding *b = a->b;
    const int is_stop = b->state.how == CPUBIND_IRQBALANCE_STOP;
    int error;
    if (!a->is_to_tell)
        return no_fault;
    error = is_stop ? cpubind_irqbalance_stop(&b->root, &a->daemon)
                    : cpubind_tell_banned(b, &a->daemon, cpubind_irqbalance_ban);
    if (error)
        return give_up_irqbalance(a, error, is_stop ? "stop" : "ban");
    a->is_told = 1;
    if (!cpubind_report_add(b, CPUBIND_ITEM_IRQBALANCE, CPUBIND_MOVED, a->daemon.pid,
                            "irqbalance", CPUBIND_CPUSET_NONE, CPUBIND_CPUSET_NONE))
        return because(ENOMEM, "memory");
    return no_fault;
}

/* Takes back what this call has told it, and no more. */
static void untell_irqbalance(attempt *a, const cpubind_state *previous)
{
    cpubind_state *s = &a->b->state;
    if (!a->is_told || a->was_told == CPUBIND_IRQBALANCE_STOP)
        return;
    for (int32_t i = 0; i < s->n_irq; i++)
        s->irq[i].is_banned &= !was_banned(previous, s->irq[i].irq);
    cpubind_put_irqbalance(a->b);
}

/* == Memory ================================================================= */

static void move_memory(cpubind_binding *b)
{
    cpubind_report *r = &b->report;
    r->memory_node = b->state.memory_node;
    if (b->state.memory_node < 0)
        return;
    if (b->how.memory == CPUBIND_MEMORY_PREFER) {
        r->prefer_error = cpubind_memory_prefer(&b->root, b->state.memory_node);
        return;
    }
    r->memory.pid = b->how.pid;
    r->memory.node = b->state.memory_node;
    r->memory.limit = b->how.memory_limit;
    r->memory.progress = b->how.progress;
    r->memory.ctx = b->how.progress_ctx;
    r->has_memory = 1;
    cpubind_memory_migrate(&b->root, &r->memory);
}

/* == Another NPU ============================================================ */

static int is_in_goal(const cpubind_goal *goal, int32_t irq)
{
    for (int32_t i = 0; i < goal->n_irq; i++)
        if (goal->irq[i].irq == irq)
            return 1;
    return 0;
}

/* Interrupts of another NPU, that the process drove before, go back: at the end, when nothing
 * can fail any more. One that cannot go back stays on record. */
static void leave_other_npu(attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_state *s = &b->state;
    int32_t n = 0;
    if (!b->is_recorded || a->was_npu == goal->npu)
        return;
    for (int32_t i = 0; i < s->n_irq; i++) {
        const cpubind_state_irq irq = s->irq[i];
        if (is_in_goal(goal, irq.irq) || !cpubind_put_irq(b, &irq, CPUBIND_SKIPPED))
            s->irq[n++] = irq;
        else if (irq.is_banned && a->daemon.pid != 0)
            (void)cpubind_irqbalance_unban(&b->root, &a->daemon, &irq.irq, 1);
    }
    b->is_dirty |= n < s->n_irq;
    s->n_irq = n;
    (void)cpubind_record(b); /* on record they do no harm */
}

/* == All, or nothing ======================================================== */

/* Puts back what this call has moved, the last first. */
static void undo(attempt *a, const cpubind_state *previous)
{
    cpubind_binding *b = a->b;
    while (a->n_other_moved > 0)
        cpubind_put_other(b, &a->other[--a->n_other_moved]);
    while (a->n_irq_moved > 0)
        (void)cpubind_put_irq(b, &a->irq[--a->n_irq_moved], CPUBIND_FAILED);
    untell_irqbalance(a, previous);
    if (b->has_moved)
        cpubind_put_threads(b, b->seen, b->n_seen,
                            b->is_recorded ? a->was_main : b->state.before);
}

/* What to call a failed step. */
static cpubind_linux_status status_of(const cpubind_binding *b, cpubind_why why)
{
    if (b->report.n_undone_not > 0)
        return CPUBIND_LINUX_ERR_UNDONE;
    if (b->is_unsaved)
        return CPUBIND_LINUX_ERR_STATE;
    switch (why.error) {
    case ENOMEM:
        return CPUBIND_LINUX_ERR_MEMORY;
    case ESRCH:
        return CPUBIND_LINUX_ERR_GONE;
    default:
        return CPUBIND_LINUX_ERR_REFUSED;
    }
}

/* Undoes, and puts the file back to what it said before. */
static cpubind_linux_status give_up(attempt *a, cpubind_state *previous, cpubind_why why,
                                    cpubind_linux_fault *fault)
{
    cpubind_binding *b = a->b;
    cpubind_linux_status status;
    undo(a, previous);
    b->is_stale = 1;
    if (why.error == EPERM)
        b->report.may_signal = b->sys->kill((pid_t)b->how.pid, 0) == 0;
    status = status_of(b, why);
    if (status != CPUBIND_LINUX_ERR_UNDONE) {
        if (b->is_recorded)
            (void)cpubind_state_save(b->file, previous, NULL);
        else
            (void)cpubind_state_remove(b->file, NULL);
    }
    return cpubind_linux_fail(status, why.error, why.what, fault);
}

/* Looks at everything, and has it on record before the first thing is moved. */
static cpubind_why look_at_all(attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_why why = no_fault;
    int error = 0;
    if (b->state.before < 0)
        error = cpubind_task_cpus(b->sys, b->how.pid, &b->state.sets, &b->state.before);
    if (error)
        return because(error, "sched_getaffinity");
    error = cpubind_state_set_goal(b, goal);
    if (error)
        return because(error, "goal");
    if (b->how.memory == CPUBIND_MEMORY_NONE)
        b->state.memory_node = -1;
    b->is_dirty = 1;
    why = look_at_irqs(a, goal);
    if (!why.error)
        why = look_at_others(a);
    if (!why.error)
        why = look_at_irqbalance(a);
    return why;
}

static cpubind_why put_all(attempt *a, const cpubind_goal *goal)
{
    cpubind_binding *b = a->b;
    cpubind_why why = look_at_all(a, goal);
    if (!why.error)
        why = cpubind_passes(b);
    if (!why.error)
        why = cpubind_record(b);
    if (!why.error)
        why = tell_irqbalance(a);
    if (!why.error)
        why = move_irqs(a);
    if (!why.error)
        why = move_others(a);
    if (!why.error)
        why = cpubind_record(b);
    if (why.error)
        return why;
    leave_other_npu(a, goal);
    move_memory(b);
    return no_fault;
}

static cpubind_linux_status apply(cpubind_binding *b, const cpubind_goal *goal,
                                  cpubind_linux_fault *fault)
{
    attempt a = {.b = b, .was_npu = b->state.npu, .was_main = b->state.main};
    cpubind_state previous = {0};
    cpubind_linux_status status = CPUBIND_LINUX_OK;
    cpubind_why why;
    if (b->is_recorded)
        status = cpubind_state_load(b->file, &previous, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    b->n_seen = 0;
    b->has_moved = 0;
    b->is_unsaved = 0;
    why = put_all(&a, goal);
    if (why.error)
        status = give_up(&a, &previous, why, fault);
    else
        b->is_recorded = 1;
    cpubind_state_free(&previous);
    free(a.irq);
    free(a.other);
    return status;
}

/* The record of a process that has ended, or of another that had its number: what is left of
 * it on the host goes back first. */
static cpubind_linux_status drop_stale(cpubind_binding *b, cpubind_linux_fault *fault)
{
    cpubind_linux_status status;
    if (!b->is_recorded || b->is_alive)
        return CPUBIND_LINUX_OK;
    status = cpubind_bind_restore(b, fault);
    return status == CPUBIND_LINUX_OK ? cpubind_call_start(b, fault) : status;
}

cpubind_linux_status cpubind_bind_apply(cpubind_binding *binding, const cpubind_goal *goal,
                                        cpubind_linux_fault *fault)
{
    cpubind_linux_status status;
    if (!binding || !goal || binding->how.is_reading)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    if (binding->tasks < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_GONE, ESRCH, "process", fault);
    if (binding->how.memory == CPUBIND_MEMORY_PREFER && binding->how.pid != (int32_t)getpid())
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "memory", fault);
    status = cpubind_call_start(binding, fault);
    if (status == CPUBIND_LINUX_OK)
        status = drop_stale(binding, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    binding->report.npu = goal->npu;
    return apply(binding, goal, fault);
}

/* == Watching =============================================================== */

/* Interrupts that were moved since. One that cannot be read or moved was named at first. */
static cpubind_why watch_irqs(cpubind_binding *b)
{
    for (int32_t i = 0; i < b->state.n_irq; i++) {
        const cpubind_state_irq *irq = &b->state.irq[i];
        int32_t now, actual;
        int32_t should = cpubind_cpusets_of_list(&b->state.sets, b->sys, &irq->cpu, 1);
        cpubind_item *item;
        if (cpubind_irq_read(&b->root, irq->irq, &b->state.sets, &now) || now == should ||
            move_irq(b, irq->irq, should, &actual).error)
            continue;
        item = cpubind_report_add(b, CPUBIND_ITEM_IRQ, CPUBIND_MOVED, irq->irq,
                                  irq_name(irq->kind), now, should);
        if (!item)
            return because(ENOMEM, "memory");
    }
    return no_fault;
}

cpubind_linux_status cpubind_bind_again(cpubind_binding *binding, cpubind_linux_fault *fault)
{
    int32_t n_new = 0;
    cpubind_why why;
    cpubind_linux_status status;
    if (!binding || binding->how.is_reading)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    status = cpubind_call_start(binding, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    if (!binding->is_recorded)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    if (binding->tasks < 0 || !binding->is_alive)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_GONE, ESRCH, "process", fault);
    why = cpubind_pass(binding, 1, &n_new);
    if (!why.error)
        why = watch_irqs(binding);
    if (!why.error)
        return CPUBIND_LINUX_OK;
    return cpubind_linux_fail(status_of(binding, why), why.error, why.what, fault);
}
