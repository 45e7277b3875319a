/* bind.h - putting a goal into effect on a process: apply, watch, verify, restore
 * SPDX-License-Identifier: MIT
 *
 *   cpubind_binding *b;
 *   cpubind_bind_options how = {.pid = pid, .memory_limit = -1};
 *   if (cpubind_bind_open(&how, NULL, &b, &fault) == CPUBIND_LINUX_OK) {
 *       status = cpubind_bind_apply(b, &goal, &fault);     (text/goal.h makes one)
 *       ... cpubind_bind_report(b) says what was done, what was not, and why ...
 *       cpubind_bind_close(b);
 *   }
 *
 * What is changed: the CPUs of the threads of one process, the CPUs of the interrupts of its
 * NPU, on a 950 those of the host's UVB polling threads, irqbalance if asked, and where the
 * memory of the process is. All but the last is recorded in a file before it is changed
 * (/run/cpubind/<pid>.record), and restore puts it back, in the same or another process, also
 * after a crash.
 *
 * NOBODY HALF BOUND  A call that fails undoes what it did, in reverse order, and says what
 *     failed. What cannot be done for want of something (no right to /proc/irq, no such
 *     interrupt, memory that the kernel does not move) is skipped, named in the report and does
 *     not stop the rest. Memory comes last, when nothing can fail any more: it is the one thing
 *     that cannot be put back.
 * THREADS  All that the process has, listed again until two passes find none new. One that ends
 *     meanwhile is no error. Masks are read back: a cpuset that cuts one is a failure.
 * LOCK  One binding of a process at a time may write: a second one is ERR_BUSY. Reading
 *     (verify) takes no lock.
 * SIGNALS, ENVIRONMENT, WORKING FOLDER  are not touched. One thread at a time may use a
 *     binding; bindings of different processes are independent.
 */
#ifndef CPUBIND_LINUX_BIND_H
#define CPUBIND_LINUX_BIND_H

#include <stdint.h>

#include "../../ascend/process_goal.h"
#include "../linux.h"
#include "../sys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* == Memory ================================================================= */

/* Highest node number + 1 that any kernel has. */
#define CPUBIND_MAX_NODES 1024

/* Bytes of memory that a process has mapped, by node. */
typedef struct cpubind_memory {
    int64_t bytes[CPUBIND_MAX_NODES]; /* of nodes that do not exist: 0 */
    int64_t total;                    /* their sum */
} cpubind_memory;

/* Why memory was not moved, or not all. Of several, the largest number. */
typedef enum cpubind_memory_result {
    CPUBIND_MEMORY_MOVED = 0,   /* all that can be moved is on the node */
    CPUBIND_MEMORY_PART = 1,    /* the kernel could not move some pages: `left` */
    CPUBIND_MEMORY_LIMIT = 2,   /* some nodes were left out: they hold more than the limit */
    CPUBIND_MEMORY_REFUSED = 3, /* the kernel refused: `error`, `what` */
    CPUBIND_MEMORY_NO_NODE = 4  /* the node has no memory, or there is one node only: it was
                                   not looked where the process has its memory */
} cpubind_memory_result;

/* How a move goes on. Called from the thread that asked, between nodes and every half second:
 * `done` of `total` bytes, roughly (the kernel counts pages for the whole host); `total` is
 * never 0. */
typedef void cpubind_memory_progress(void *ctx, int64_t done, int64_t total);

typedef struct cpubind_memory_move {
    /* in */
    int32_t pid, node;
    int64_t limit;                     /* bytes to move at most; -1: all */
    cpubind_memory_progress *progress; /* or NULL */
    void *ctx;
    /* out */
    cpubind_memory_result result;
    cpubind_memory before, after; /* `after` as `before` when nothing was moved */
    int64_t left;                 /* bytes on other nodes still */
    int32_t error;                /* errno of what was refused, or 0; ESRCH: it has ended */
    const char *what;             /* "migrate_pages", or the file that could not be read:
                                     "numa_maps", "has_memory"; static text, or NULL */
} cpubind_memory_move;

/* == What is asked ========================================================== */

/* What becomes of irqbalance, which would move the interrupts again. */
typedef enum cpubind_irqbalance_how {
    CPUBIND_IRQBALANCE_LEAVE = 0, /* left alone; the report says that it runs */
    CPUBIND_IRQBALANCE_BAN = 1,   /* told to leave these interrupts alone */
    CPUBIND_IRQBALANCE_STOP = 2   /* stopped (SIGSTOP); restore lets it go on */
} cpubind_irqbalance_how;

typedef enum cpubind_memory_how {
    CPUBIND_MEMORY_MIGRATE = 0, /* pages that are elsewhere are moved */
    CPUBIND_MEMORY_PREFER = 1,  /* new pages come from there; of the calling process alone */
    CPUBIND_MEMORY_NONE = 2
} cpubind_memory_how;

typedef struct cpubind_bind_options {
    int32_t pid;        /* of the process, as this process sees it */
    int32_t is_reading; /* 1: to verify alone: takes no lock and makes no folder */
    const char *state;  /* the file of what was changed, or NULL: /run/cpubind/<pid>.record */
    cpubind_irqbalance_how irqbalance;
    cpubind_memory_how memory;
    int64_t memory_limit;              /* bytes to move at most, or -1 */
    cpubind_memory_progress *progress; /* of moving memory; or NULL */
    void *progress_ctx;
} cpubind_bind_options;

/* == What was done ========================================================== */

typedef enum cpubind_item_kind {
    CPUBIND_ITEM_THREAD,    /* id: its number, name: its name */
    CPUBIND_ITEM_IRQ,       /* id: its number, name: "sq" or "cq" */
    CPUBIND_ITEM_UVB,       /* a polling thread of the host: pid, id, name */
    CPUBIND_ITEM_IRQBALANCE /* id: its process */
} cpubind_item_kind;

/* (name, word). */
#define CPUBIND_ITEM_RESULT_LIST(X)                                                            \
    X(RIGHT, "right")     /* it was as it should be */                                         \
    X(MOVED, "moved")     /* it is now */                                                      \
    X(WRONG, "wrong")     /* verify: it is not */                                              \
    X(SKIPPED, "skipped") /* it could not be: `what`, `error` */                               \
    X(FAILED, "failed")   /* the call failed here, and what was done before was undone */      \
    X(KEPT, "kept")       /* restore: somebody else has changed it since; it was left */

typedef enum cpubind_item_result {
#define CPUBIND_X(name, word) CPUBIND_ITEM_##name,
    CPUBIND_ITEM_RESULT_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_item_result;

/* "moved". Static storage. */
const char *cpubind_item_result_word(cpubind_item_result result);

/* One thread or interrupt. */
typedef struct cpubind_item {
    cpubind_item_kind kind;
    cpubind_item_result result;
    int32_t pid, id;
    char name[16];      /* NUL-terminated */
    const char *was;    /* CPUs found, "0-191"; NULL: not known */
    const char *should; /* CPUs it belongs on; NULL: nothing is asked */
    const char *actual; /* of an interrupt: the CPUs that serve it, or NULL */
    int32_t error;      /* errno, or 0 */
    const char *what;   /* the call, or the step; static text, or NULL */
} cpubind_item;

/* What the last call did. Lives until the next call. */
typedef struct cpubind_report {
    cpubind_item *item; /* in the order of doing */
    int32_t n, cap;
    int32_t npu;                /* of the goal, or -1 */
    int32_t has_goal;           /* verify: a goal was given, or is on record */
    cpubind_no_irq no_irq;      /* why no interrupt was looked for */
    int32_t memory_node;        /* where memory belongs, or -1: nothing is asked */
    int32_t has_memory;         /* `memory` is filled */
    cpubind_memory_move memory; /* moved, or (verify) before == after: where it is */
    int32_t prefer_error;       /* PREFER: errno of set_mempolicy(2), or 0 */
    int32_t irqbalance_runs;    /* it runs, and may move interrupts again */
    int32_t is_alive;           /* the process still lives, and is the one on record */
    int32_t may_signal;         /* after EPERM: the process is ours to signal, so it is no other
                                   user's: a filter of system calls refused */
    int32_t n_undone_not;       /* after a failure: what could not be put back */
} cpubind_report;

/* == The calls ============================================================== */

/* One process that is to be bound. */
typedef struct cpubind_binding cpubind_binding;

/* Finds the process, takes the lock, reads what is on record.
 *   in      sys: the system calls, kept until it is closed; NULL for the real ones
 *   out     *out, to be closed; NULL on failure
 *   errors  ERR_ARG; ERR_GONE, with fault->error ESRCH (no such process here), EPERM (there is
 *           one that /proc hides: hidepid), EINVAL (the number is a thread's, and not that of
 *           its process), or that of /proc not being there; but what is on
 *           record of a process that has ended can be opened; ERR_BUSY; ERR_STATE, ERR_DAMAGED
 *           with fault; ERR_MEMORY */
cpubind_linux_status cpubind_bind_open(const cpubind_bind_options *options,
                                       const cpubind_sys *sys, cpubind_binding **out,
                                       cpubind_linux_fault *fault);

/* The CPUs that the process had before it was bound first, if that is on record; else n is 0.
 * A second plan is to be made from them: the process itself has only its own pool by then. */
cpubind_cpus cpubind_bind_allowed(const cpubind_binding *binding);

/* The file of what was changed. */
const char *cpubind_bind_state(const cpubind_binding *binding);

/* Binds: interrupts, threads, then memory.
 *   errors  ERR_GONE: the process has ended; ERR_REFUSED: a system call failed, fault, and the
 *           last item of the report; ERR_STATE: the file could not be written, and nothing was
 *           changed; ERR_MEMORY. All is as before then, the file too.
 *           ERR_UNDONE: as ERR_REFUSED, and report->n_undone_not items could not be put back;
 *           the file stays, for restore
 *   cost    six system calls a thread, three of them for its name, which is most of it; of 258
 *           threads a millisecond or two. Interrupts: all of /proc is looked through for
 *           irqbalance if it has no socket in /run/irqbalance; a 950: every thread of the host
 *           has its name read */
cpubind_linux_status cpubind_bind_apply(cpubind_binding *binding, const cpubind_goal *goal,
                                        cpubind_linux_fault *fault);

/* Looks again, as watching does: threads that are new, or have taken another name or other
 * CPUs, and interrupts that were moved, are put where they belong. The report has what was
 * moved alone. A failure undoes nothing.
 *   in      after apply
 *   errors  as apply; ERR_GONE ends a watch */
cpubind_linux_status cpubind_bind_again(cpubind_binding *binding, cpubind_linux_fault *fault);

/* Waits until the process ends or the time is over.
 *   returns 1 when it has ended, else 0 (a signal ends the waiting early) */
int cpubind_bind_wait(cpubind_binding *binding, int32_t timeout_ms);

/* Compares: changes nothing.
 *   in      goal, or NULL for the one that is on record (report->has_goal 0: there is none)
 *   errors  ERR_GONE; ERR_REFUSED; ERR_MEMORY. Drift is no error: items that are WRONG,
 *           and what memory says */
cpubind_linux_status cpubind_bind_verify(cpubind_binding *binding, const cpubind_goal *goal,
                                         cpubind_linux_fault *fault);

/* Puts back what is on record, of the process if it still lives (same pid, same start), of the
 * host in any case: an interrupt, a UVB thread only if it still is where apply put it. Memory
 * stays where it is; what new memory prefers is taken back from the calling process if it was
 * opened with PREFER. Nothing on record: nothing is done.
 *   errors  ERR_UNDONE: report->n_undone_not items could not be put back, and the file stays;
 *           ERR_STATE; ERR_MEMORY */
cpubind_linux_status cpubind_bind_restore(cpubind_binding *binding, cpubind_linux_fault *fault);

/* What the last call did. */
const cpubind_report *cpubind_bind_report(const cpubind_binding *binding);

/* Gives the lock back. What was bound stays bound. NULL is allowed. */
void cpubind_bind_close(cpubind_binding *binding);

/* Replaces this process by a command, found on PATH, with the environment of this process.
 * Comes back only on failure.
 *   in      argv ends with NULL; sys as above
 *   returns an errno */
int cpubind_bind_exec(char *const *argv, const cpubind_sys *sys);

/* The processes that have something on record in the usual folder.
 *   out     *out, free(3)'s, ascending; *out_n may be 0 */
cpubind_linux_status cpubind_bind_list(const cpubind_sys *sys, int32_t **out, int32_t *out_n,
                                       cpubind_linux_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_LINUX_BIND_H */
