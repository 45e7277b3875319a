/* restore.c - puts threads, interrupts and irqbalance back to where they were
 * SPDX-License-Identifier: MIT
 *
 * For a failed call of apply, and for a record. A thread or an interrupt that somebody else has
 * moved since is left where it is. Memory is never moved back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kernel/descendants.h"
#include "../kernel/process.h"
#include "binding.h"
#include "numa_policy.h"

/* == Threads ================================================================ */

/* Whether a thread is where cpubind put it: on a placed set, or on what is left of one because
 * of offline CPUs or a cpuset. */
static int is_ours(const cpubind_binding *b, int32_t set)
{
    const cpubind_record *r = &b->record;
    int is_part = r->sets.set[set].n == 0;
    for (int32_t i = 0; !is_part && i < r->n_placed; i++)
        is_part = cpubind_cpu_sets_is_part(&r->sets, set, r->placed[i]);
    return is_part;
}

/* Whether a thread may have a mask of the binding of which its cpuset has no CPU: the kernel
 * keeps it, and gives it back with these CPUs. */
static int may_return(cpubind_binding *b, int32_t set)
{
    cpubind_record *r = &b->record;
    int32_t common = set;
    for (int32_t i = 0; i < r->n_placed && r->sets.set[common].n > 0; i++)
        if (cpubind_cpu_sets_common(&r->sets, b->sys, set, r->placed[i], &common).error)
            return 0;
    return r->sets.set[common].n == 0;
}

static int is_reported(const cpubind_outcomes *r, int32_t tid)
{
    for (int32_t i = 0; i < r->n; i++)
        if (r->item[i].kind == CPUBIND_ITEM_THREAD && r->item[i].id == tid)
            return 1;
    return 0;
}

/* Somebody else has moved the thread: it stays where it is, which is reported once. */
static void keep_thread(cpubind_binding *b, cpubind_subject subject)
{
    char name[CPUBIND_COMM_SIZE] = "";
    if (is_reported(&b->report, subject.id) ||
        cpubind_task_name(b->sys, b->task_dir_fd, subject.id, name).error == ESRCH)
        return; /* it has ended, and the CPUs are those of another process */
    subject.name = name;
    (void)cpubind_report_why(b, &subject, CPUBIND_ITEM_KEPT, cpubind_no_fault);
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

/* Whether a thread is left as it is: it is where it belongs, or somebody else has moved it. One
 * that is not on record was born since, from a bound one or with a mask of its own. */
static int is_left(cpubind_binding *b, const cpubind_subject *s, int is_recorded)
{
    const cpubind_shared_entry thread = {.kind = CPUBIND_ITEM_THREAD, .number = s->id};
    const int is_placed =
        b->record.sets.set[s->was].n == 0 || cpubind_record_is_placed(&b->record, s->was);
    const int is_hidden =
        !cpubind_record_is_placed(&b->record, s->should) && may_return(b, s->was);
    if (is_placed || s->was == s->should)
        return s->was == s->should && !is_hidden;
    if (is_recorded ? is_ours(b, s->was) : !is_hidden)
        return !is_recorded;
    if (cpubind_is_task(b->sys, b->task_dir_fd, s->id) && cpubind_has_all(b, &thread, s->was))
        return 0;
    if (is_recorded)
        keep_thread(b, *s);
    return 1;
}

/* Puts one thread back. Returns 1 if that changed its CPUs, or it had ended: a thread that a
 * cpuset keeps where it is needs no other look. */
static int put_back_thread(cpubind_binding *b, int32_t tid, const cpubind_record_thread *record,
                           int32_t home)
{
    cpubind_cpu_sets *sets = &b->record.sets;
    char name[CPUBIND_COMM_SIZE] = "";
    int32_t is, now = CPUBIND_CPUSET_NONE;
    cpubind_linux_fault why = cpubind_task_cpus(b->sys, tid, sets, &is);
    const int32_t should = record ? record->before : home;
    cpubind_subject subject = {CPUBIND_ITEM_THREAD, b->options.pid, tid, name, is, should};
    if (!why.error && (should < 0 || is_left(b, &subject, record != NULL)))
        return 0;
    if (!why.error)
        why = give_back(b, tid, should);
    if (!why.error && !cpubind_is_task(b->sys, b->task_dir_fd, tid)) {
        /* It had ended, and another process has its number. */
        (void)cpubind_task_move(b->sys, tid, &sets->set[is]);
        return 1;
    }
    if (!why.error)
        why = cpubind_task_cpus(b->sys, tid, sets, &now);
    if (why.error == ESRCH ||
        (!why.error && now == is && (is == should || is_reported(&b->report, tid))))
        return why.error == ESRCH;
    (void)cpubind_task_name(b->sys, b->task_dir_fd, tid, name);
    why = cpubind_name_refuser(b, tid, why);
    cpubind_report_put_back(b, &subject, why, CPUBIND_ITEM_FAILED);
    return why.error == 0 && now != is;
}

void cpubind_put_back_threads(cpubind_binding *b, const cpubind_record_thread *before,
                              int32_t n, int32_t home)
{
    const cpubind_subject process =
        cpubind_own_subject(b, CPUBIND_ITEM_THREAD, b->options.pid, "");
    const int32_t n_failed = b->report.n_not_restored;
    cpubind_births births = {.b = b};
    int32_t n_news;
    do {
        const cpubind_linux_fault why = cpubind_births_list(&births);
        if (why.error == ESRCH)
            return;
        if (why.error) {
            cpubind_report_put_back(b, &process, why, CPUBIND_ITEM_FAILED);
            return;
        }
        n_news = 0;
        for (int32_t k = 0; k < b->tids.n; k++) {
            /* After the first listing the youngest comes first: it may not live long. */
            const int32_t tid = b->tids.id[b->tids_before.n > 0 ? b->tids.n - 1 - k : k];
            n_news += put_back_thread(b, tid, cpubind_record_find_thread(before, n, tid), home);
        }
        if (b->report.n_not_restored > n_failed)
            return;
    } while (!cpubind_births_are_over(&births, n_news));
    if (births.is_endless) {
        b->report.is_outrun = 1;
        if (b->report.n_not_restored++ == 0)
            b->first_failure = cpubind_fault_of(EAGAIN, CPUBIND_BIRTHS);
    }
}

/* == Forks ================================================================== */

/* Rounds over the forks of a process, each of which may fork. */
#define MAX_ROUNDS 64

static int is_this(const void *ctx, int32_t pid)
{
    return *(const int32_t *)ctx == pid;
}

/* Gives the threads of a fork that have their CPUs from the binding of its process other ones.
 * One that has a record has its own binding, one that has ended has no threads. */
static void move_fork(cpubind_binding *b, int32_t pid, int32_t home)
{
    const int32_t own = b->options.pid;
    const int own_folder = b->task_dir_fd;
    if (cpubind_place_has_record(&b->root, pid) ||
        cpubind_tasks_open(&b->root, pid, &b->task_dir_fd).error) {
        b->task_dir_fd = own_folder;
        return;
    }
    b->options.pid = pid;
    cpubind_put_back_threads(b, NULL, 0, home);
    b->sys->close(b->task_dir_fd);
    b->options.pid = own;
    b->task_dir_fd = own_folder;
}

void cpubind_bind_move_fork(cpubind_binding *binding, int32_t pid)
{
    if (binding->phase == CPUBIND_PHASE_BOUND)
        move_fork(binding, pid, binding->record.main);
}

/* Puts back what was forked by the process since it was bound. It belongs to the process, and
 * may live as long: a loader of data whose workers stay. */
static void put_back_forks(cpubind_binding *b)
{
    const int32_t own = b->options.pid;
    const cpubind_subject process = cpubind_own_subject(b, CPUBIND_ITEM_THREAD, own, "");
    const int32_t n_failed = b->report.n_not_restored;
    int32_t n_item = -1;
    for (int i = 0; b->report.n > n_item && b->report.n_not_restored == n_failed; i++) {
        cpubind_ids below = {NULL, 0, 0};
        cpubind_linux_fault why = cpubind_descendants(&b->root, &own, 1, &below);
        if (!why.error && i == MAX_ROUNDS)
            why = cpubind_fault_of(EAGAIN, CPUBIND_BIRTHS);
        n_item = b->report.n;
        for (int32_t k = 0; k < below.n && !why.error; k++) {
            int32_t of = 0;
            uint64_t start;
            why = cpubind_forked_from(&b->root, below.id[k], (cpubind_fork_test){is_this, &own},
                                      &of, &start);
            if (of)
                move_fork(b, below.id[k], b->record.before);
        }
        free(below.id);
        if (why.error)
            cpubind_report_put_back(b, &process, why, CPUBIND_ITEM_FAILED);
    }
}

/* == The record of the host ================================================= */

/* Gives back what the process of the record, or with no process what ended ones, use. */
static void restore_host(cpubind_binding *b)
{
    const cpubind_subject process =
        cpubind_own_subject(b, CPUBIND_ITEM_IRQ, b->options.pid, "host.record");
    const int is_needed = !b->options.pid || b->record.n_irq > 0 || b->record.polling >= 0;
    cpubind_linux_fault why = cpubind_shared_open(b, CPUBIND_RECORD_WRITE);
    if (!why.error && b->shared.file) {
        cpubind_put_back_shared(b, b->record.pid, b->record.start);
        why = cpubind_shared_write(b);
    }
    cpubind_shared_close(b);
    if (why.error && is_needed)
        cpubind_report_put_back(b, &process, why, CPUBIND_ITEM_FAILED);
}

/* Threads that cpubind doctor has moved go back to what they have on the record of the host, in
 * memory alone: that has what was before. */
static void use_host_record(cpubind_binding *b)
{
    cpubind_record *r = &b->record;
    const cpubind_shared_record *host = &b->shared.record;
    if (cpubind_shared_open(b, CPUBIND_RECORD_READ).error)
        return;
    for (int32_t i = 0; i < host->n_entry && host->entry[i].kind == CPUBIND_ITEM_THREAD; i++) {
        const cpubind_shared_entry *e = &host->entry[i];
        const cpubind_shared_user *user = cpubind_shared_last_other(b, e, r->pid, r->start);
        if (!user)
            user = cpubind_shared_own_user(b, e);
        if (user && e->pid == r->pid && cpubind_is_same_space(e->space, b->space) &&
            !cpubind_record_add_placed(r, b->sys, user->set).error &&
            !cpubind_record_add_thread(r, b->sys, e->number, user->set).error)
            r->thread[cpubind_record_thread_place(r->thread, r->n_thread, e->number)].before =
                user->set;
    }
    cpubind_shared_close(b);
}

/* == A record =============================================================== */

cpubind_linux_status cpubind_bind_restore(cpubind_binding *binding, cpubind_linux_fault *fault)
{
    cpubind_binding *b = binding;
    cpubind_linux_fault why;
    if (!b || b->options.is_reading)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "binding", fault);
    why = cpubind_begin_call(b);
    if (!why.error && !b->options.pid) {
        restore_host(b);
        return cpubind_linux_end(b->report.n_not_restored > 0 ? CPUBIND_LINUX_ERR_UNDONE
                                                              : CPUBIND_LINUX_OK,
                                 b->first_failure, fault);
    }
    if (!why.error && cpubind_is_foreign(b))
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_EXISTS, EEXIST, "another namespace", fault);
    if (why.error || !cpubind_is_recorded(b)) {
        if (!why.error) { /* removes what killed processes have left, too */
            restore_host(b);
            why = cpubind_record_remove(b->file);
        }
        return cpubind_linux_end(cpubind_record_status(why), why, fault);
    }
    if (cpubind_process_is_alive(b)) {
        use_host_record(b);
        cpubind_put_back_threads(b, b->record.thread, b->record.n_thread, b->record.before);
        put_back_forks(b);
    }
    restore_host(
        b); /* it may have threads of the process that cpubind doctor had moved before */
    if (b->options.memory == CPUBIND_MEMORY_PREFER && b->options.pid == (int32_t)getpid())
        (void)cpubind_numa_policy_set(CPUBIND_POLICY_ANY, NULL, 0, b->sys, NULL);
    b->phase = CPUBIND_PHASE_OUTDATED;
    if (b->report.n_not_restored > 0)
        return cpubind_linux_end(strcmp(b->first_failure.what, CPUBIND_BIRTHS) == 0
                                     ? CPUBIND_LINUX_ERR_BIRTHS
                                     : CPUBIND_LINUX_ERR_UNDONE,
                                 b->first_failure, fault);
    why = cpubind_record_remove(b->file);
    if (!why.error)
        b->phase = CPUBIND_PHASE_DROPPED;
    return cpubind_linux_end(cpubind_record_status(why), why, fault);
}
