/* restore.c - puts threads, interrupts and irqbalance back to where they were
 * SPDX-License-Identifier: MIT
 *
 * For a failed call of apply, and for a record. A thread or an interrupt that somebody else has
 * moved since is left where it is. Memory is never moved back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../kernel/memory.h"
#include "../kernel/process.h"
#include "binding.h"

/* Listings of a process that keeps creating threads. */
#define MAX_LISTINGS 1000

/* Adds an item: MOVED without a fault, else `if_not`. Only FAILED counts as not restored, and
 * it counts even when there is no memory for the item. */
static void add_result(cpubind_binding *b, const cpubind_subject *subject,
                       cpubind_linux_fault why, cpubind_item_result if_not)
{
    if (why.error && if_not == CPUBIND_ITEM_FAILED && b->report.n_not_restored++ == 0)
        b->first_failure = why;
    (void)cpubind_report_why(b, subject, why.error ? if_not : CPUBIND_ITEM_MOVED, why);
}

/* == Threads ================================================================ */

/* Whether a thread is where cpubind put it: on a placed set, or on what is left of one because
 * of offline CPUs or a cpuset. */
static int is_ours(const cpubind_record *r, int32_t set)
{
    int is_part = r->sets.set[set].n == 0 || cpubind_cpu_sets_is_part(&r->sets, set, r->main);
    for (int32_t i = 0; !is_part && i < r->n_rule; i++)
        is_part = cpubind_cpu_sets_is_part(&r->sets, set, r->rule[i].set);
    for (int32_t i = 0; !is_part && i < r->n_placed; i++)
        is_part = cpubind_cpu_sets_is_part(&r->sets, set, r->placed[i]);
    return is_part;
}

/* Somebody else has moved the thread: it stays where it is, which is reported once. A thread
 * that has an item already was given the widest mask by this call. */
static void keep_thread(cpubind_binding *b, cpubind_subject subject)
{
    const cpubind_report *r = &b->report;
    char name[CPUBIND_COMM_SIZE] = "";
    for (int32_t i = 0; i < r->n; i++)
        if (r->item[i].kind == CPUBIND_ITEM_THREAD && r->item[i].id == subject.id)
            return;
    if (cpubind_task_name(b->sys, b->task_dir_fd, subject.id, name).error == ESRCH)
        return; /* it has ended, and the CPUs are those of another process */
    subject.name = name;
    (void)cpubind_report_add(b, &subject, CPUBIND_ITEM_KEPT);
}

/* Gives a thread its set, or the widest mask: then it follows its cpuset and the CPUs that come
 * back, as it did before. */
static cpubind_linux_fault give_back(cpubind_binding *b, int32_t tid, int32_t set)
{
    cpubind_linux_fault why = {EINVAL, "sched_setaffinity", 0};
    if (set != b->record.widest)
        why = cpubind_task_move(b->sys, tid, &b->record.sets.set[set]);
    return why.error == EINVAL ? cpubind_task_widen(b->sys, tid) : why;
}

/* Puts one thread back. Returns 1 if that changed its CPUs: a thread that has ended, or that a
 * cpuset keeps where it is, needs no other listing. */
static int put_back_thread(cpubind_binding *b, int32_t tid, const cpubind_record_thread *record,
                           int32_t home)
{
    cpubind_cpu_sets *sets = &b->record.sets;
    char name[CPUBIND_COMM_SIZE] = "";
    int32_t is, now = CPUBIND_CPUSET_NONE;
    cpubind_linux_fault why = cpubind_task_cpus(b->sys, tid, sets, &is);
    const int is_placed =
        !why.error && (sets->set[is].n == 0 || cpubind_record_is_placed(&b->record, is));
    const int32_t should = record ? record->before : is_placed ? home : is;
    cpubind_subject subject = {CPUBIND_ITEM_THREAD, b->options.pid, tid, name, is, should};
    if (!why.error && (is == should || should < 0))
        return 0;
    if (!why.error && !is_ours(&b->record, is)) {
        keep_thread(b, subject);
        return 0;
    }
    if (!why.error)
        why = give_back(b, tid, should);
    if (!why.error && !cpubind_is_task(b->sys, b->task_dir_fd, tid)) {
        /* It had ended, and another process has its number. */
        (void)cpubind_task_move(b->sys, tid, &sets->set[is]);
        return 0;
    }
    if (!why.error)
        why = cpubind_task_cpus(b->sys, tid, sets, &now);
    if (why.error == ESRCH || (!why.error && now == is))
        return 0;
    (void)cpubind_task_name(b->sys, b->task_dir_fd, tid, name);
    add_result(b, &subject, why, CPUBIND_ITEM_FAILED);
    return why.error == 0;
}

void cpubind_put_back_threads(cpubind_binding *b, const cpubind_record_thread *before,
                              int32_t n, int32_t home)
{
    const cpubind_subject process = {CPUBIND_ITEM_THREAD, b->options.pid,
                                     b->options.pid,      "",
                                     CPUBIND_CPUSET_NONE, CPUBIND_CPUSET_NONE};
    const int32_t n_failed = b->report.n_not_restored;
    int n_quiet = 0;
    for (int i = 0; i < MAX_LISTINGS && n_quiet < 2; i++) {
        int n_moved = 0;
        const cpubind_linux_fault why = cpubind_list_threads(b);
        if (why.error == ESRCH)
            return;
        if (why.error) {
            add_result(b, &process, why, CPUBIND_ITEM_FAILED);
            return;
        }
        for (int32_t k = 0; k < b->tids.n; k++)
            n_moved += put_back_thread(
                b, b->tids.id[k], cpubind_record_find_thread(before, n, b->tids.id[k]), home);
        if (b->report.n_not_restored > n_failed)
            return;
        n_quiet = n_moved == 0 ? n_quiet + 1 : 0;
    }
}

/* == Interrupts, UVB threads ================================================ */

/* Whether interrupts are visible here at all: then one that is not visible is gone. */
static int has_irqs(const cpubind_binding *b)
{
    return b->sys->accessat(b->root.fd, "proc/irq", F_OK) == 0 &&
           b->sys->accessat(b->root.fd, "sys/bus/pci/devices", F_OK) == 0;
}

int cpubind_put_back_irq(cpubind_binding *b, const cpubind_record_irq *irq,
                         cpubind_item_result if_not)
{
    cpubind_cpu_sets *sets = &b->record.sets;
    cpubind_subject subject = {
        CPUBIND_ITEM_IRQ,    b->options.pid, irq->irq, cpubind_irq_kind_word(irq->kind),
        CPUBIND_CPUSET_NONE, irq->before};
    int32_t given, now = CPUBIND_CPUSET_NONE;
    cpubind_linux_fault why;
    if (irq->before < 0)
        return 1;
    why = cpubind_cpu_sets_of_list(sets, b->sys, &irq->cpu, 1, &given);
    if (!why.error)
        why = cpubind_find_irq(b, &irq->id, &subject.id);
    if (!why.error)
        why = cpubind_irq_read(&b->root, subject.id, sets, &now);
    if ((why.error == ENOENT && has_irqs(b)) || (!why.error && now == irq->before))
        return 1;
    subject.was = now;
    if (!why.error && now != given && !cpubind_record_is_placed(&b->record, now)) {
        (void)cpubind_report_add(b, &subject, CPUBIND_ITEM_KEPT);
        return 1;
    }
    if (!why.error)
        why = cpubind_write_irq(b, &irq->id, subject.id, irq->before);
    add_result(b, &subject, why, if_not);
    return why.error == 0;
}

cpubind_linux_fault cpubind_read_uvb_thread(cpubind_binding *b,
                                            const cpubind_record_uvb_thread *thread,
                                            int32_t *set)
{
    cpubind_proc_stat stat = {.start = 0};
    int error = cpubind_proc_stat_read(&b->root, thread->pid, thread->tid, &stat).error;
    if (!error && stat.start != thread->start)
        error = ESRCH;
    if (!error)
        error = cpubind_task_cpus(b->sys, thread->tid, &b->record.sets, set).error;
    return cpubind_fault_of(error, "read a polling thread");
}

void cpubind_put_back_uvb_thread(cpubind_binding *b, const cpubind_record_uvb_thread *thread)
{
    int32_t now = CPUBIND_CPUSET_NONE;
    cpubind_linux_fault why = cpubind_read_uvb_thread(b, thread, &now);
    const cpubind_subject subject = {CPUBIND_ITEM_UVB,   thread->pid, thread->tid,
                                     CPUBIND_UVB_THREAD, now,         thread->before};
    if (why.error == ESRCH || (!why.error && now == thread->before))
        return;
    if (!why.error && now != thread->set && !cpubind_record_is_placed(&b->record, now)) {
        (void)cpubind_report_add(b, &subject, CPUBIND_ITEM_KEPT);
        return;
    }
    if (!why.error)
        why = cpubind_task_move(b->sys, thread->tid, &b->record.sets.set[thread->before]);
    if (why.error != ESRCH)
        add_result(b, &subject, why, CPUBIND_ITEM_FAILED);
}

/* == irqbalance ============================================================= */

/* Whether this process lives and its record says that cpubind stopped this daemon for it. */
static int is_stopped_for(cpubind_binding *b, int32_t pid, const cpubind_irqbalance *daemon)
{
    cpubind_record_file *file = NULL;
    cpubind_record record = {0};
    cpubind_proc_stat stat = {.start = 0};
    int is_stopped = 0;
    if (pid == b->options.pid ||
        cpubind_record_open(&b->root, NULL, pid, CPUBIND_RECORD_READ, &file).error)
        return 0;
    if (!cpubind_record_load(file, &record).error) {
        is_stopped = record.irqbalance == CPUBIND_IRQBALANCE_STOP &&
                     record.irqbalance_pid == daemon->pid &&
                     record.irqbalance_start == daemon->start &&
                     !cpubind_proc_stat_read(&b->root, pid, 0, &stat).error &&
                     stat.start == record.start;
        cpubind_record_free(&record);
    }
    cpubind_record_close(file);
    return is_stopped;
}

int cpubind_is_stopped_for_another(cpubind_binding *b, const cpubind_irqbalance *daemon)
{
    cpubind_ids pids;
    int is_stopped = 0;
    (void)cpubind_record_list(&b->root, &pids);
    for (int32_t i = 0; !is_stopped && i < pids.n; i++)
        is_stopped = is_stopped_for(b, pids.id[i], daemon);
    free(pids.id);
    return is_stopped;
}

cpubind_linux_fault cpubind_send_bans(cpubind_binding *b, const cpubind_irqbalance *daemon,
                                      cpubind_ban_call *call)
{
    const cpubind_record *r = &b->record;
    int32_t n = 0;
    cpubind_linux_fault why;
    int32_t *irq = (int32_t *)b->sys->malloc(((size_t)r->n_irq + 1) * sizeof *irq);
    if (!irq)
        return cpubind_fault_of(ENOMEM, "memory");
    for (int32_t i = 0; i < r->n_irq; i++)
        if (r->irq[i].is_banned)
            irq[n++] = r->irq[i].irq;
    why = call(&b->root, daemon, irq, n);
    free(irq);
    return why;
}

void cpubind_put_back_irqbalance(cpubind_binding *b)
{
    const cpubind_irqbalance daemon = {b->record.irqbalance_pid, b->record.irqbalance_start, 0};
    const cpubind_subject subject = {
        CPUBIND_ITEM_IRQBALANCE, daemon.pid,         daemon.pid, "irqbalance",
        CPUBIND_CPUSET_NONE,     CPUBIND_CPUSET_NONE};
    const int is_stopped = b->record.irqbalance == CPUBIND_IRQBALANCE_STOP;
    cpubind_linux_fault why = cpubind_no_fault;
    if (b->record.irqbalance == CPUBIND_IRQBALANCE_LEAVE)
        return;
    /* Without the lock it is continued all the same: better than to leave it stopped. */
    if (is_stopped && b->irqbalance_lock_fd < 0)
        (void)cpubind_irqbalance_lock(&b->root, daemon.pid, &b->irqbalance_lock_fd);
    if (is_stopped && cpubind_is_stopped_for_another(b, &daemon)) {
        (void)cpubind_report_add(b, &subject, CPUBIND_ITEM_KEPT);
        return;
    }
    if (is_stopped) {
        why = cpubind_irqbalance_continue(&b->root, &daemon);
        cpubind_unlock_irqbalance(b);
    }
    if (!why.error) /* an earlier call of apply may have banned before this one stopped it */
        why = cpubind_send_bans(b, &daemon, cpubind_irqbalance_unban);
    if (why.error != ESRCH) /* bans end with the daemon */
        add_result(b, &subject, why, CPUBIND_ITEM_FAILED);
}

/* == A record =============================================================== */

cpubind_linux_status cpubind_bind_restore(cpubind_binding *binding, cpubind_linux_fault *fault)
{
    cpubind_binding *b = binding;
    cpubind_linux_fault why;
    if (!b || b->options.is_reading)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    why = cpubind_begin_call(b);
    if (why.error || !cpubind_is_recorded(b)) {
        if (!why.error) /* removes the temporary files of killed processes, too */
            why = cpubind_remove_record(b);
        return cpubind_linux_end(cpubind_record_status(why), why, fault);
    }
    for (int32_t i = b->record.n_uvb_thread; i-- > 0;)
        cpubind_put_back_uvb_thread(b, &b->record.uvb_thread[i]);
    for (int32_t i = b->record.n_irq; i-- > 0;)
        (void)cpubind_put_back_irq(b, &b->record.irq[i], CPUBIND_ITEM_FAILED);
    cpubind_put_back_irqbalance(b);
    if (cpubind_process_is_alive(b))
        cpubind_put_back_threads(b, b->record.thread, b->record.n_thread, b->record.before);
    if (b->options.memory == CPUBIND_MEMORY_PREFER && b->options.pid == (int32_t)getpid())
        (void)cpubind_memory_prefer_none(&b->root);
    b->phase = CPUBIND_PHASE_OUTDATED;
    if (b->report.n_not_restored > 0) {
        if (b->first_failure.error == EPERM)
            b->report.may_signal = b->sys->kill((pid_t)b->options.pid, 0) == 0;
        cpubind_unlock_irqbalance(b);
        return cpubind_linux_end(CPUBIND_LINUX_ERR_UNDONE, b->first_failure, fault);
    }
    why = cpubind_remove_record(b);
    cpubind_unlock_irqbalance(b);
    if (!why.error)
        b->phase = CPUBIND_PHASE_DROPPED;
    return cpubind_linux_end(cpubind_record_status(why), why, fault);
}
