/* restore.c - putting back: what a record says, or what a failed call has done
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common.h"
#include "../kernel/memory.h"
#include "../kernel/proc_stat.h"
#include "binding.h"

/* Passes over a process that keeps bearing threads. */
#define MAX_PASSES 1000

/* Adds what came of putting something back. Without memory for it only the count is kept. */
static void add_result(cpubind_binding *b, cpubind_item_kind kind, int32_t pid, int32_t id,
                       const char *name, int32_t was, int32_t should, int error,
                       const char *what, cpubind_item_result if_not)
{
    cpubind_item *item =
        cpubind_report_add(b, kind, error ? if_not : CPUBIND_ITEM_MOVED, id, name, was, should);
    if (error && if_not == CPUBIND_ITEM_FAILED && b->report.n_undone_not++ == 0)
        b->undone_not = (cpubind_linux_fault){error, what};
    if (!item)
        return;
    item->pid = pid;
    item->error = error;
    item->what = error ? what : NULL;
}

static void add_kept(cpubind_binding *b, cpubind_item_kind kind, int32_t pid, int32_t id,
                     const char *name, int32_t was, int32_t should)
{
    cpubind_item *item = cpubind_report_add(b, kind, CPUBIND_ITEM_KEPT, id, name, was, should);
    if (item)
        item->pid = pid;
}

/* == Threads ================================================================ */

/* A thread that a cpuset has moved elsewhere since, and that has none of the CPUs left that it
 * had, is where the cpuset wants it. It is told of once. */
static void keep_thread(cpubind_binding *b, int32_t tid, int32_t is, int32_t should)
{
    const cpubind_report *r = &b->report;
    char name[CPUBIND_COMM_SIZE] = "";
    for (int32_t i = 0; i < r->n; i++)
        if (r->item[i].kind == CPUBIND_ITEM_THREAD && r->item[i].id == tid &&
            r->item[i].result == CPUBIND_ITEM_KEPT)
            return;
    (void)cpubind_task_name(b->sys, b->tasks, tid, name);
    add_kept(b, CPUBIND_ITEM_THREAD, b->how.pid, tid, name, is, should);
}

/* Puts one thread back. Returns whether that changed its CPUs: one that has ended, or that a
 * cpuset keeps where it is, is not to be waited for. */
static int put_thread(cpubind_binding *b, int32_t tid, const cpubind_record_thread *record,
                      int32_t home)
{
    const char *what = "sched_getaffinity";
    char name[CPUBIND_COMM_SIZE] = "";
    int32_t is, should, now = CPUBIND_CPUSET_NONE;
    int error = cpubind_task_cpus(b->sys, tid, &b->state.sets, &is).error;
    should = record ? record->before : cpubind_record_has_ours(&b->state, is) ? home : is;
    if (!error && (is == should || should < 0))
        return 0;
    if (!error) {
        what = "sched_setaffinity";
        error = cpubind_task_move(b->sys, tid, &b->state.sets.set[should]).error;
        if (error == EINVAL && !cpubind_record_has_ours(&b->state, is)) {
            keep_thread(b, tid, is, should);
            return 0;
        }
    }
    if (!error) {
        what = "sched_getaffinity";
        error = cpubind_task_cpus(b->sys, tid, &b->state.sets, &now).error;
    }
    if (error == ESRCH || (!error && now == is))
        return 0;
    (void)cpubind_task_name(b->sys, b->tasks, tid, name);
    add_result(b, CPUBIND_ITEM_THREAD, b->how.pid, tid, name, is, should, error, what,
               CPUBIND_ITEM_FAILED);
    return error == 0;
}

void cpubind_put_threads(cpubind_binding *b, const cpubind_record_thread *before, int32_t n,
                         int32_t home)
{
    const int32_t failed_before = b->report.n_undone_not;
    int n_quiet = 0;
    for (int i = 0; i < MAX_PASSES && n_quiet < 2; i++) {
        int n_moved = 0;
        int error = cpubind_tasks_list(b->sys, b->tasks, &b->ids).error;
        if (error == ESRCH || (!error && b->ids.n == 0))
            return;
        if (error) {
            add_result(b, CPUBIND_ITEM_THREAD, b->how.pid, b->how.pid, "", CPUBIND_CPUSET_NONE,
                       CPUBIND_CPUSET_NONE, error, "list the threads of", CPUBIND_ITEM_FAILED);
            return;
        }
        for (int32_t k = 0; k < b->ids.n; k++)
            n_moved += put_thread(b, b->ids.id[k],
                                  cpubind_record_thread_find(before, n, b->ids.id[k]), home);
        if (b->report.n_undone_not > failed_before)
            return;
        n_quiet = n_moved == 0 ? n_quiet + 1 : 0;
    }
}

/* == Interrupts, threads of others, irqbalance ============================== */

/* Whether interrupts are seen from here at all: then one that is not seen is gone. */
static int has_irqs(cpubind_binding *b)
{
    int fd;
    if (cpubind_root_open(&b->root, "proc/irq", O_DIRECTORY, &fd).error)
        return 0;
    b->sys->close(fd);
    return 1;
}

int cpubind_put_irq(cpubind_binding *b, const cpubind_record_irq *irq,
                    cpubind_item_result if_not)
{
    const char *name = cpubind_irq_kind_word(irq->kind);
    const char *what = "read smp_affinity_list";
    int32_t now = CPUBIND_CPUSET_NONE, ours;
    int error;
    if (irq->before < 0)
        return 1;
    ours = cpubind_cpu_sets_of_list(&b->state.sets, b->sys, &irq->cpu, 1);
    error = cpubind_irq_read(&b->root, irq->irq, &b->state.sets, &now).error;
    if (ours == CPUBIND_CPUSET_NO_MEMORY)
        error = ENOMEM;
    if ((error == ENOENT && has_irqs(b)) || (!error && now == irq->before))
        return 1;
    if (!error && now != ours && !cpubind_record_has_ours(&b->state, now)) {
        add_kept(b, CPUBIND_ITEM_IRQ, b->how.pid, irq->irq, name, now, irq->before);
        return 1;
    }
    if (!error) {
        what = "write smp_affinity_list";
        error = cpubind_irq_write(&b->root, irq->irq, &b->state.sets.set[irq->before]).error;
    }
    add_result(b, CPUBIND_ITEM_IRQ, b->how.pid, irq->irq, name, now, irq->before, error, what,
               if_not);
    return error == 0;
}

cpubind_linux_fault cpubind_other_cpus(cpubind_binding *b, const cpubind_record_other *other,
                                       int32_t *set)
{
    cpubind_proc_stat stat;
    int error = cpubind_proc_stat_read(&b->root, other->pid, other->tid, &stat).error;
    if (!error && stat.start != other->start)
        error = ESRCH;
    if (!error)
        error = cpubind_task_cpus(b->sys, other->tid, &b->state.sets, set).error;
    return cpubind_fault_of(error, "read a polling thread");
}

void cpubind_put_other(cpubind_binding *b, const cpubind_record_other *other)
{
    const char *what = "read a polling thread";
    int32_t now = CPUBIND_CPUSET_NONE;
    int error = cpubind_other_cpus(b, other, &now).error;
    if (error == ESRCH || (!error && now == other->before))
        return;
    if (!error && now != other->set && !cpubind_record_has_ours(&b->state, now)) {
        add_kept(b, CPUBIND_ITEM_UVB, other->pid, other->tid, CPUBIND_UVB_THREAD, now,
                 other->before);
        return;
    }
    if (!error) {
        what = "sched_setaffinity";
        error = cpubind_task_move(b->sys, other->tid, &b->state.sets.set[other->before]).error;
    }
    if (error == ESRCH)
        return;
    add_result(b, CPUBIND_ITEM_UVB, other->pid, other->tid, CPUBIND_UVB_THREAD, now,
               other->before, error, what, CPUBIND_ITEM_FAILED);
}

/* Whether another process that lives has the same irqbalance stopped as well. */
static int is_stopped_for(cpubind_binding *b, int32_t pid, const cpubind_irqbalance *daemon)
{
    cpubind_record_file *file = NULL;
    cpubind_record state = {0};
    cpubind_proc_stat stat;
    int is_stopped = 0;
    if (pid == b->how.pid || cpubind_record_open(&b->root, NULL, pid, CPUBIND_RECORD_READ,
                                                 &file, NULL) != CPUBIND_LINUX_OK)
        return 0;
    if (cpubind_record_load(file, &state, NULL) == CPUBIND_LINUX_OK) {
        is_stopped =
            state.how == CPUBIND_IRQBALANCE_STOP && state.irqbalance_pid == daemon->pid &&
            state.irqbalance_start == daemon->start &&
            !cpubind_proc_stat_read(&b->root, pid, 0, &stat).error && stat.start == state.start;
        cpubind_record_free(&state);
    }
    cpubind_record_close(file);
    return is_stopped;
}

int cpubind_is_stopped_for_another(cpubind_binding *b, const cpubind_irqbalance *daemon)
{
    int32_t *pids = NULL;
    int32_t n = 0;
    int is_stopped = 0;
    if (cpubind_record_list(&b->root, &pids, &n, NULL) != CPUBIND_LINUX_OK)
        return 0;
    for (int32_t i = 0; !is_stopped && i < n; i++)
        is_stopped = is_stopped_for(b, pids[i], daemon);
    free(pids);
    return is_stopped;
}

cpubind_linux_fault cpubind_tell_banned(cpubind_binding *b, const cpubind_irqbalance *daemon,
                                        cpubind_ban_call *tell)
{
    const cpubind_record *s = &b->state;
    int32_t n = 0;
    cpubind_linux_fault why;
    int32_t *irq = (int32_t *)b->sys->malloc(((size_t)s->n_irq + 1) * sizeof *irq);
    if (!irq)
        return cpubind_fault_of(ENOMEM, "memory");
    for (int32_t i = 0; i < s->n_irq; i++)
        if (s->irq[i].is_banned)
            irq[n++] = s->irq[i].irq;
    why = tell(&b->root, daemon, irq, n);
    free(irq);
    return why;
}

void cpubind_end_turn(cpubind_binding *b)
{
    if (b->turn >= 0)
        b->sys->close(b->turn);
    b->turn = -1;
}

void cpubind_put_irqbalance(cpubind_binding *b)
{
    const cpubind_irqbalance daemon = {b->state.irqbalance_pid, b->state.irqbalance_start, 0};
    const char *what = NULL;
    int error = 0;
    if (b->state.how == CPUBIND_IRQBALANCE_LEAVE)
        return;
    /* Where the turn cannot be had, this is no reason to leave it stopped. */
    if (b->state.how == CPUBIND_IRQBALANCE_STOP && b->turn < 0)
        (void)cpubind_irqbalance_lock(&b->root, daemon.pid, &b->turn);
    if (b->state.how == CPUBIND_IRQBALANCE_STOP && cpubind_is_stopped_for_another(b, &daemon)) {
        add_kept(b, CPUBIND_ITEM_IRQBALANCE, daemon.pid, daemon.pid, "irqbalance",
                 CPUBIND_CPUSET_NONE, CPUBIND_CPUSET_NONE);
        return;
    }
    if (b->state.how == CPUBIND_IRQBALANCE_STOP) {
        what = "continue";
        error = cpubind_irqbalance_continue(&b->root, &daemon).error;
        cpubind_end_turn(b);
    }
    if (!error) { /* a call before this one may have banned, and then stopped it */
        what = "unban";
        error = cpubind_tell_banned(b, &daemon, cpubind_irqbalance_unban).error;
    }
    if (error == ESRCH) /* it has ended, and what it was told with it */
        return;
    add_result(b, CPUBIND_ITEM_IRQBALANCE, daemon.pid, daemon.pid, "irqbalance",
               CPUBIND_CPUSET_NONE, CPUBIND_CPUSET_NONE, error, what, CPUBIND_ITEM_FAILED);
}

/* == A record =============================================================== */

cpubind_linux_status cpubind_bind_restore(cpubind_binding *binding, cpubind_linux_fault *fault)
{
    cpubind_binding *b = binding;
    cpubind_linux_status status;
    if (!b || b->how.is_reading)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    status = cpubind_call_start(b, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    if (!b->is_recorded) /* what killed processes left of writing it goes all the same */
        return cpubind_record_remove(b->file, fault);
    for (int32_t i = b->state.n_other; i-- > 0;)
        cpubind_put_other(b, &b->state.other[i]);
    for (int32_t i = b->state.n_irq; i-- > 0;)
        (void)cpubind_put_irq(b, &b->state.irq[i], CPUBIND_ITEM_FAILED);
    cpubind_put_irqbalance(b);
    if (b->is_alive)
        cpubind_put_threads(b, b->state.thread, b->state.n_thread, b->state.before);
    if (b->how.memory == CPUBIND_MEMORY_PREFER && b->how.pid == (int32_t)getpid())
        (void)cpubind_memory_prefer_none(&b->root);
    b->is_stale = 1;
    if (b->report.n_undone_not > 0) {
        if (b->undone_not.error == EPERM)
            b->report.may_signal = b->sys->kill((pid_t)b->how.pid, 0) == 0;
        cpubind_end_turn(b);
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_UNDONE, b->undone_not.error,
                                  b->undone_not.what, fault);
    }
    status = cpubind_record_remove(b->file, fault);
    cpubind_end_turn(b);
    if (status == CPUBIND_LINUX_OK)
        b->is_recorded = 0;
    return status;
}
