/* binding.h - what the files of a binding share: bind.c, apply.c, restore.c, verify.c
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux.
 */
#ifndef CPUBIND_LINUX_BINDING_H
#define CPUBIND_LINUX_BINDING_H

#include "../common.h"
#include "../kernel/irq.h"
#include "../kernel/irqbalance.h"
#include "../kernel/threads.h"
#include "bind.h"
#include "record.h"

/* A thread that this binding has looked at: where it was when it was first seen, which is
 * where undoing a call puts it. (The record has where it was before the first call of all.) */
typedef cpubind_record_thread cpubind_seen;

/* A thread that is not where it belongs. */
typedef struct cpubind_stray {
    int32_t tid, is, should;
    char name[CPUBIND_COMM_SIZE];
} cpubind_stray;

struct cpubind_binding {
    const cpubind_sys *sys;
    cpubind_bind_options how;
    cpubind_root root;
    int tasks; /* /proc/<pid>/task, or -1: there is no such process */
    uint64_t start;
    char boot[64];   /* which boot of the kernel this is; "" where it does not say */
    int is_recorded; /* there is a file: `state` is what it says, before a goal is laid */
    int is_dirty;    /* the state has something that the file has not */
    int is_unsaved;  /* the file could not be written */
    int is_stale;    /* `state` is not what is on record: read again before the next call */
    int has_moved;   /* threads have been moved by this binding */
    int is_alive;    /* the process lives, and is the one on record if there is one */
    cpubind_record_file *file;
    cpubind_record state; /* what is, or will be, on record; all sets of the binding */
    cpubind_ids ids;      /* threads of the last listing */
    cpubind_stray *stray; /* threads that are to be moved */
    int32_t n_stray, cap_stray;
    cpubind_seen *seen; /* by ascending tid */
    int32_t n_seen, cap_seen;
    int turn;                       /* with irqbalance, or -1 */
    cpubind_linux_fault undone_not; /* the first thing that could not be put back */
    cpubind_report report;
};

/* == Reports (bind.c) ======================================================= */

/* Begins a new report. */
void cpubind_report_start(cpubind_binding *b);

/* Adds an item; `was` and `should` are sets or NONE. Returns it, or NULL without memory. */
cpubind_item *cpubind_report_add(cpubind_binding *b, cpubind_item_kind kind,
                                 cpubind_item_result result, int32_t id, const char *name,
                                 int32_t was, int32_t should);

/* Begins a new record: nothing is on file. */
void cpubind_record_start(cpubind_binding *b);

/* Begins a call: a new report, and the record as it is on file if the last call left something
 * else in memory. */
cpubind_linux_status cpubind_call_start(cpubind_binding *b, cpubind_linux_fault *fault);

/* == What belongs where (placement.c) ============================================ */

/* Makes `goal` the goal of the state; what was changed stays on record, and where the goals
 * before it put things stays ours.
 *   errors  ENOMEM, EINVAL (a list is empty or out of order); else 0 */
int cpubind_record_set_goal(cpubind_binding *b, const cpubind_goal *goal);

/* Where a thread of this name belongs. */
int32_t cpubind_record_place(const cpubind_record *state, const char *name);

/* == Threads (apply_threads.c) ======================================================= */

/* Lists the threads into b->ids. ESRCH: there is none any more. */
cpubind_linux_fault cpubind_list_threads(cpubind_binding *b);

/* The name of a thread, and the set of CPUs it is on. ESRCH: it has ended. */
cpubind_linux_fault cpubind_look_at_thread(cpubind_binding *b, int32_t tid,
                                           char name[CPUBIND_COMM_SIZE], int32_t *is);

/* Lists the threads once. Those that are new, with is_all all of them, are looked at; what is
 * not where it belongs is recorded, then moved, and read back. Adds an item for each.
 *   out     *n_new: threads that were not seen before */
cpubind_linux_fault cpubind_pass(cpubind_binding *b, int is_all, int32_t *n_new);

/* Passes until two find no new thread. */
cpubind_linux_fault cpubind_passes(cpubind_binding *b);

/* Writes the record if it has changed. */
cpubind_linux_fault cpubind_write_record(cpubind_binding *b);

/* == Putting back (restore.c) =============================================== */

/* Puts the threads of the process where `before` says, and those that it does not know, which
 * were born meanwhile, on the set `home` if they are where only we put them. What a cpuset
 * no longer gives them is left out. Lists again until two passes find nothing to do. Adds an
 * item for what was moved and what could not be (report->n_undone_not counts those). */
void cpubind_put_threads(cpubind_binding *b, const cpubind_record_thread *before, int32_t n,
                         int32_t home);

/* Puts one interrupt back, if it still is where we put it. One that cannot be is an item of
 * the result `if_not`, which counts when that is FAILED. Returns 0 when it could not be. */
int cpubind_put_irq(cpubind_binding *b, const cpubind_record_irq *irq,
                    cpubind_item_result if_not);

/* Reads where a thread of another process is.
 *   errors  "read a polling thread"; ESRCH: it has ended, or its number is another one's now */
cpubind_linux_fault cpubind_other_cpus(cpubind_binding *b, const cpubind_record_other *other,
                                       int32_t *set);

/* The same of a thread of another process. */
void cpubind_put_other(cpubind_binding *b, const cpubind_record_other *other);

/* Tells irqbalance which interrupts are ours to ban: cpubind_irqbalance_ban, or _unban. */
typedef cpubind_linux_fault cpubind_ban_call(cpubind_root *root,
                                             const cpubind_irqbalance *daemon,
                                             const int32_t *irq, int32_t n);
cpubind_linux_fault cpubind_tell_banned(cpubind_binding *b, const cpubind_irqbalance *daemon,
                                        cpubind_ban_call *tell);

/* The same of what irqbalance was told. One that stays stopped because another process wants it
 * so leaves the turn taken: of two that are put back at once, each would leave it to the other.
 * The caller ends the turn when the record is gone. */
void cpubind_put_irqbalance(cpubind_binding *b);
void cpubind_end_turn(cpubind_binding *b);

/* Whether another process that lives has had this irqbalance stopped as well. */
int cpubind_is_stopped_for_another(cpubind_binding *b, const cpubind_irqbalance *daemon);

#endif /* CPUBIND_LINUX_BINDING_H */
