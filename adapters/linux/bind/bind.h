/* bind.h - putting a goal into effect on a process: apply, watch, verify, restore
 * SPDX-License-Identifier: MIT
 *
 *   cpubind_binding *b;
 *   cpubind_bind_options options = {.pid = pid};
 *   if (cpubind_bind_open(&options, NULL, &b, &fault) == CPUBIND_LINUX_OK) {
 *       status = cpubind_bind_apply(b, &goal, &fault);     (plan/process_goal.h makes one)
 *       ... cpubind_bind_report(b) says what was done, what was not, and why ...
 *       cpubind_bind_close(b);
 *   }
 *
 * TERMS
 *   binding  one process, opened for the calls below
 *   goal     the CPUs that its threads and the interrupts of its device belong on, and the node
 *            that its memory belongs on
 *   record   the file /run/cpubind/<pid>.record: all that was changed, and how it was before
 *   report   what the last call did, one item for each thread and interrupt
 *   restore  to put back what the record holds
 *
 * CHANGES  The CPUs of the threads of one process and of the interrupts of its device, those of
 *     the kernel threads and work queues of the driver that serve it, those of threads of
 *     other processes that the goal names, irqbalance if asked, and where the memory of the
 *     process is. All but memory is recorded before it is changed, and restore puts it back, in
 *     the same or another process, also after a crash.
 * ALL OR NOTHING  A call that fails undoes what it did, in reverse order, and says what failed.
 *     A step that lacks a right or a file (no right to /proc/irq, no such interrupt, a thread
 *     in passing of another user or of SCHED_DEADLINE, memory that the kernel does not move) is
 *     skipped,
 *     named in the report, and does not stop the rest; is_strict makes that a failure of the
 *     call. Memory comes last: moving it cannot be undone. With is_strict, where it may make
 *     the call fail, it comes before what is of the host, whose lock nobody waits for
 *     meanwhile.
 * THREADS  All threads of the process, listed again until births are over: a listing has all
 *     that the kernel counts and nothing new, after births three in a row. When they are not
 *     over in three seconds, the report says is_outrun. A thread that ends meanwhile is no
 *     error. CPUs are read back. A thread whose CPUs are partly
 *     offline, or outside of its cpuset, is on the others; without any other it shares those
 *     of main. The report says PART, and a watch gives the CPUs back when they return.
 * WATCH  Ends when the process ends, and for no other reason: what fails is reported once and
 *     tried again.
 * LOCK  One binding of a process at a time may write: a second one is ERR_BUSY. Reading
 *     (verify) takes no lock. What all processes share (interrupts, irqbalance, threads and
 *     queues of the kernel) has one record and one lock for the host: it is waited
 *     for after the threads are placed, for as long as cpubinds take turns. When one of them
 *     has it for CPUBIND_HOST_WAIT_MS, what needs it is skipped; apply does not fail for that,
 *     unless is_strict, and a watch does it later.
 * SIGNALS, ENVIRONMENT, WORKING FOLDER  are not touched. One thread at a time may use a
 *     binding; bindings of different processes are independent.
 */
#ifndef CPUBIND_LINUX_BIND_H
#define CPUBIND_LINUX_BIND_H

#include <stdint.h>

#include "../../plan/process_goal.h"
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

/* How a move of memory has ended. */
typedef enum cpubind_memory_result {
    CPUBIND_MEMORY_MOVED = 0,   /* all that was to be moved is on the node */
    CPUBIND_MEMORY_PART = 1,    /* the kernel could not move some pages: they were busy, or it
                                   did not find them */
    CPUBIND_MEMORY_LIMIT = 2,   /* at the limit of bytes */
    CPUBIND_MEMORY_REFUSED = 3, /* the kernel refused: `error`, `what` */
    CPUBIND_MEMORY_NO_NODE = 4, /* the node has no memory, or the host has one node only:
                                   nothing was measured */
    CPUBIND_MEMORY_TIME = 5,    /* at the limit of time */
    CPUBIND_MEMORY_NO_ROOM = 6, /* the node is full but for its reserve */
    CPUBIND_MEMORY_STOPPED = 7  /* `stop` has ended it */
} cpubind_memory_result;

/* Why memory stays on other nodes. (name, word). */
#define CPUBIND_MEMORY_STAY_LIST(X)                                                            \
    X(SHARED, "shared")   /* other processes map the page too */                               \
    X(LOCKED, "locked")   /* the process has locked the mapping (mlock) */                     \
    X(HUGE, "huge")       /* pages of hugetlbfs, which each node has a fixed number of */      \
    X(BUSY, "busy")       /* a driver has pinned the page, or the kernel uses it */            \
    X(HIDDEN, "hidden")   /* pagemap shows the page, and move_pages(2) does not find it */     \
    X(NO_ROOM, "no_room") /* the rest of a move that ended as the result of this name says */  \
    X(LIMIT, "limit")                                                                          \
    X(TIME, "time")                                                                            \
    X(STOPPED, "interrupted")

typedef enum cpubind_memory_stay {
#define CPUBIND_X(name, word) CPUBIND_STAY_##name,
    CPUBIND_MEMORY_STAY_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_STAY_COUNT
} cpubind_memory_stay;

/* "shared". Static storage. */
const char *cpubind_memory_stay_word(cpubind_memory_stay stay);

/* Reports the progress of a move: at its start and after each batch of pages, `done` of `total`
 * bytes; `total` is never 0. */
typedef void cpubind_memory_progress(void *ctx, int64_t done, int64_t total);

typedef struct cpubind_memory_move {
    /* in */
    int32_t pid, node;
    int64_t limit;                     /* bytes to move at most; -1: all */
    int64_t time_ms;                   /* time to move for at most; -1: no limit */
    int32_t is_all;                    /* also shared, locked and huge pages */
    cpubind_memory_progress *progress; /* or NULL */
    void *ctx;
    int (*stop)(void *ctx); /* or NULL */
    void *stop_ctx;
    /* out */
    cpubind_memory_result result;
    cpubind_memory before, after; /* `after` as `before` when nothing was moved */
    int64_t left;                 /* bytes that are still on other nodes, of any kind */
    int64_t own, own_left; /* bytes that this process alone maps, neither locked nor huge,
                                     and those of them that are still on other nodes */
    int64_t moved;         /* bytes that were moved */
    int64_t stay[CPUBIND_STAY_COUNT]; /* bytes on other nodes, by the reason why they stay */
    int64_t reserve; /* bytes of the node that a move leaves free; 0: unknown */
    int64_t room;    /* after NO_ROOM: bytes that are free on the node; -1: unknown */
    int64_t elapsed_ms;
    int32_t is_balancing;  /* automatic NUMA balancing is on: the kernel moves pages, too */
    int32_t pagemap_error; /* errno: own and shared pages cannot be told apart in advance */
    int32_t is_node_out;   /* after NO_ROOM: the kernel found no page there (ENOMEM); else what
                              is free is the reserve */
    int32_t error;         /* errno of the refusal, or 0; ESRCH: the process ended */
    const char *what;      /* "move_pages", or the file that could not be read: "numa_maps",
                              "maps", "has_memory"; "memory"; static text, or NULL */
} cpubind_memory_move;

/* == Options ================================================================ */

/* How to treat irqbalance, which would move the interrupts again. */
typedef enum cpubind_irqbalance_action {
    CPUBIND_IRQBALANCE_LEAVE = 0, /* nothing; the report says that it runs */
    CPUBIND_IRQBALANCE_BAN = 1    /* make it leave these interrupts alone */
} cpubind_irqbalance_action;

typedef enum cpubind_memory_action {
    CPUBIND_MEMORY_MIGRATE = 0, /* move own pages that are on other nodes */
    CPUBIND_MEMORY_PREFER = 1,  /* take new pages from the node; the calling process alone */
    CPUBIND_MEMORY_NONE = 2,
    CPUBIND_MEMORY_ALL = 3 /* move shared, locked and huge pages too: for a worker that is
                                   alone on the host */
} cpubind_memory_action;

/* Room for the path of a record, with its NUL. */
#define CPUBIND_PLACE_SIZE 4096

/* Writes the path of the record of a process that this user binds, /run/cpubind/4711.record or
 * below the folder of an ordinary user (../kernel/run_folder.h); with pid 0 that of the record
 * of the host, host.record. For messages: no file is looked at. */
void cpubind_bind_usual_path(int32_t pid, const cpubind_sys *sys, char out[CPUBIND_PLACE_SIZE]);

/* Says that a call waits for the record of the host, which another cpubind works on: after some
 * seconds, and every ten from then on.
 *   in      holder: the number of that cpubind; 0: not known */
typedef void cpubind_bind_wait_hear(void *ctx, int32_t holder, int64_t waited_ms);

/* The fault of what could not be had because another cpubind works on the record of the host:
 * `what`; its error is EWOULDBLOCK. */
#define CPUBIND_HOST_LOCK "host.record.lock"

/* How long one cpubind may work on the record of the host until another one does without it. */
#define CPUBIND_HOST_WAIT_MS 60000

/* The forms of the records that this version writes and reads, of a process and of the host. A
 * change that an older program cannot read takes the next number. */
#define CPUBIND_RECORD_FORM      "7"
#define CPUBIND_HOST_FORM        "3"
#define CPUBIND_RECORD_FORM_SIZE 40 /* of "FORM VERSION" */

/* All zero is the default but for `pid`, without which nothing is opened. */
typedef struct cpubind_bind_options {
    int32_t pid;         /* of the process, as this process sees it */
    int32_t is_reading;  /* 1: to verify alone: takes no lock and makes no folder */
    int32_t is_watching; /* 1: a watch follows apply, which asks the kernel for events before;
                            another cpubind may end it then */
    int32_t is_service;  /* 1: of the service of the host: no other cpubind ends it */
    int32_t is_strict;   /* 1: apply fails, and undoes all, where it would skip a part */
    int32_t is_forced;   /* 1: apply binds PID 1, a kernel thread or a zombie, too */
    char *other_path;    /* CPUBIND_PLACE_SIZE bytes, or NULL: open writes the path of the
                                record that keeps it from opening this one; of a record whose
                                form is not known "FORM VERSION"; else "" */
    cpubind_irqbalance_action irqbalance;
    cpubind_memory_action memory;
    int64_t memory_limit;              /* bytes to move at most; 0: no limit */
    int64_t memory_time_ms;            /* time to move for at most; 0: 5 s */
    cpubind_memory_progress *progress; /* of moving memory; or NULL */
    void *progress_ctx;
    /* Asked between two batches of pages, and while the record of the host is waited for: 1
     * ends that early, and what is done stays done. Or NULL. */
    int (*stop)(void *ctx);
    void *stop_ctx;
    int64_t
        host_wait_ms; /* 0: CPUBIND_HOST_WAIT_MS. A call of a watch waits for moments alone */
    cpubind_bind_wait_hear *host_wait; /* or NULL */
    void *host_wait_ctx;
} cpubind_bind_options;

/* == The report ============================================================= */

typedef enum cpubind_item_kind {
    CPUBIND_ITEM_THREAD,    /* id: its number, name: its name; of a watch, id 0: a step for
                                all threads failed: `what`, `error` */
    CPUBIND_ITEM_IRQ,       /* id: its number, name: the word of its kind */
    CPUBIND_ITEM_POLLING,   /* a thread of another process: pid, id, name */
    CPUBIND_ITEM_KERNEL,    /* a kernel thread of the driver: pid and id its number, name */
    CPUBIND_ITEM_WORKQUEUE, /* a work queue of the driver: name, cut to 15 bytes */
    CPUBIND_ITEM_FILE,      /* a setting of the host: in its record alone */
    CPUBIND_ITEM_BAN,       /* an interrupt that irqbalance leaves alone: the same */
    CPUBIND_ITEM_IRQBALANCE /* id: its process */
} cpubind_item_kind;

/* (name, word). */
#define CPUBIND_ITEM_RESULT_LIST(X)                                                            \
    X(RIGHT, "right")     /* it was where it belongs */                                        \
    X(MOVED, "moved")     /* it was moved there */                                             \
    X(PART, "part")       /* it is on those of its CPUs that are online and in its cpuset */   \
    X(WRONG, "wrong")     /* verify: it is elsewhere */                                        \
    X(SKIPPED, "skipped") /* it could not be moved or read: `what`, `error` */                 \
    X(FAILED, "failed")   /* moving it failed, which made the call fail: `what`, `error` */    \
    X(KEPT, "kept")       /* restore: somebody else has moved it since; it was left */         \
    X(LEFT, "left")       /* a rule of the goal leaves it where it is */

typedef enum cpubind_item_result {
#define CPUBIND_X(name, word) CPUBIND_ITEM_##name,
    CPUBIND_ITEM_RESULT_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_item_result;

/* "moved". Static storage. */
const char *cpubind_item_result_word(cpubind_item_result result);

/* `what` of a thread that may not be moved, after EPERM or EACCES. */
#define CPUBIND_REFUSED_BY_OWNER  "another user"    /* it is of another user */
#define CPUBIND_REFUSED_BY_FILTER "filter"          /* of system calls: seccomp */
#define CPUBIND_REFUSED_BY_MODULE "security module" /* SELinux, AppArmor or the like */

/* `what` of an item of no thread: threads are born faster than they are looked at. */
#define CPUBIND_BIRTHS "births"

/* `what` of a thread that a watch has moved for the third time, from CPUs that it did not have
 * before it was bound: it moves itself, or another program moves it. Said once. */
#define CPUBIND_AGAIN "again"

/* One thread or interrupt. */
typedef struct cpubind_item {
    cpubind_item_kind kind;
    cpubind_item_result result;
    int32_t pid, id;
    char name[16];      /* NUL-terminated */
    const char *was;    /* the CPUs it was on, "0-191"; NULL: not known */
    const char *should; /* the CPUs it belongs on; NULL: the goal does not say */
    const char *actual; /* of an interrupt: the CPUs that serve it, or NULL */
    int32_t error;      /* errno, or 0 */
    const char *what;   /* the system call or the step; why CPUs are missing: "offline",
                           "cpuset"; "kernel thread": one that nobody can move;
                           CPUBIND_REFUSED_BY_...; static text, or NULL */
} cpubind_item;

/* The result of the last call. Valid until the next call. */
typedef struct cpubind_outcomes {
    cpubind_item *item; /* in the order of the steps */
    int32_t n, cap;
    int32_t device;                    /* of the goal, or -1 */
    char pci[CPUBIND_PCI_ADDRESS_MAX]; /* of the goal; "": it has a number, or is not known */
    const char *main;                  /* apply, verify: where the goal has main threads,
                                          "0-23"; NULL: there is no goal */
    int32_t has_goal;                  /* verify: a goal was given, or is in the record */
    cpubind_no_irq no_irq;             /* why the call looked at no interrupt */
    int32_t memory_node;               /* the node that memory belongs on; -1: none */
    int32_t has_memory;                /* `memory` is filled */
    int64_t memory_left;               /* verify, of the goal on record: bytes of own memory
                                          that apply has left on other nodes; else 0 */
    cpubind_memory_stay left_why;      /* why most of them were left */
    int32_t measurer;                  /* verify: the measurement that has left the process on
                                          one of its sides when it was killed; 0: none */
    int32_t prefer_error;              /* PREFER: errno of set_mempolicy(2), or 0 */
    /* Apply with is_watching, outside of a group: why the kernel sends no events, and the watch
     * works by periods alone. EPERM, "bind": CAP_NET_ADMIN is missing; ECONNREFUSED, "sendmsg":
     * this is not the network namespace of the host; ENOMSG, "answer": nor its pid or user
     * namespace, or the kernel has no such events; EPROTONOSUPPORT, "socket": it has none; or
     * of another call. */
    cpubind_linux_fault no_events;
    int32_t irqbalance_runs; /* it runs, and may move interrupts again */
    int32_t is_host_busy;   /* the record of the host could not be had in time: what needs it is
                             skipped, and is for a watch or the next call of apply to do */
    int32_t host_holder;    /* of is_host_busy: the cpubind that works on it; 0: not known */
    char host_holder_state; /* its letter in /proc/<pid>/stat, 'T': stopped; 0: not known */
    /* "FORM VERSION" of a record of the host that this version does not know, and leaves alone;
     * else "" */
    char host_form[CPUBIND_RECORD_FORM_SIZE];
    int32_t is_alive;       /* the process lives, and is the one of the record */
    int32_t n_not_restored; /* after a failure: items that could not be put back */
    int32_t is_outrun;      /* apply, restore: threads are born faster than they are looked at;
                               those that were seen are right, and the record is kept */
    cpubind_memory_move memory; /* with has_memory alone. apply: the move; verify: where memory
                                   is, before == after. The last member, and a long one */
} cpubind_outcomes;

/* Whether own memory has drifted: more than a tenth of it is on other nodes, what apply has
 * left there not counted. */
int cpubind_bind_memory_is_wrong(const cpubind_outcomes *report);

/* Whether verify has found a process elsewhere than it belongs. */
int cpubind_bind_has_drifted(const cpubind_outcomes *report);

/* == The calls ============================================================== */

/* One process that is to be bound. */
typedef struct cpubind_binding cpubind_binding;

/* Finds the process, takes the lock, reads the record.
 *   in      sys: the system calls, used until close; NULL for the real ones
 *   out     *out, to be closed; NULL on failure
 *   errors  ERR_ARG; ERR_BUSY; ERR_MEMORY
 *           ERR_GONE, unless there is a record: fault->error is ESRCH (no such process here),
 *           EPERM (/proc hides it: hidepid), ENOENT (/proc is empty), EINVAL (the number is a
 *           thread's, not its process's), or says why /proc cannot be read
 *           ERR_EXISTS: fault->what is "another user": it is bound by a record of another user,
 *           other_path
 *           ERR_STATE: the record cannot be read; ERR_DAMAGED: it makes no sense in
 *           fault->line: fault->what is the first word that this line should have, "line" (the
 *           line has no word of a record), "end" (the record has ended before this line), "pid"
 *           (the record is of another process), "form" (it has a form that this version does
 *           not know: other_path names it); "length", and no line, for a file that is too
 *           long */
cpubind_linux_status cpubind_bind_open(const cpubind_bind_options *options,
                                       const cpubind_sys *sys, cpubind_binding **out,
                                       cpubind_linux_fault *fault);

/* The number of the cpubind that holds the lock of the record of options->pid; 0: not known.
 *   in      options, sys: as for open
 *   out     *is_service, unless NULL: it is the service of the host */
int32_t cpubind_bind_holder(const cpubind_bind_options *options, const cpubind_sys *sys,
                            int32_t *is_service);

/* Ends the watch that holds the lock of the record of options->pid: sends it SIGTERM, and
 * SIGCONT for one that is stopped, and waits until it has ended, for two seconds at most. The
 * process stays bound.
 *   in      options, sys: as for open
 *   errors  ERR_BUSY: the holder is no watch, or the service, is not known, or has not ended
 *           in time; ERR_REFUSED: the kernel refuses the signal; ERR_OPEN; those of the
 *           record */
cpubind_linux_status cpubind_bind_end_watch(const cpubind_bind_options *options,
                                            const cpubind_sys *sys, cpubind_linux_fault *fault);

/* Ends the service of the host in the same way, within ten seconds.
 *   in      pid: of the service, as its socket says; sys: as for open
 *   errors  ERR_BUSY: it has not ended in time; ERR_REFUSED: the kernel refuses the signal */
cpubind_linux_status cpubind_bind_end_service(int32_t pid, const cpubind_sys *sys,
                                              cpubind_linux_fault *fault);

/* Opens a binding of no process, for cpubind_bind_restore, report and close alone: puts back
 * the interrupts, threads and the irqbalance that only processes use which have ended,
 * whether those have a record or not. Without any nothing is done.
 *   errors  ERR_OPEN; ERR_MEMORY */
cpubind_linux_status cpubind_bind_open_host(const cpubind_sys *sys, cpubind_binding **out,
                                            cpubind_linux_fault *fault);

/* The CPUs that the first thread of the process may use now; n is 0 where the kernel does not
 * say. Valid until the next call. */
cpubind_cpus cpubind_bind_now(cpubind_binding *binding);

/* The CPUs that the process had before it was bound first, if there is a record; else n is 0.
 * Plan from them: a bound process itself has the CPUs of its own pool alone. */
cpubind_cpus cpubind_bind_allowed(const cpubind_binding *binding);

/* The bindings that a process is inside of: its own, and those of processes above it whose CPUs
 * it has inherited. */
typedef struct cpubind_outer {
    int32_t *cpu;   /* the CPUs that it had before all of them, ascending; free(3) */
    int32_t n_cpu;  /* 0: it is inside of none */
    int32_t pid;    /* the nearest process above it that is bound; 0: none */
    int32_t device; /* for which that one is bound; -1: none */
    char pci[CPUBIND_PCI_ADDRESS_MAX]; /* or this device; "": none */
    int32_t unread_pid;                /* the first one whose record cannot be read; 0: none */
} cpubind_outer;

/* Finds them, among the records of the usual folder. A process above whose CPUs it has not, or
 * no longer, does not count.
 *   in      sys: as for open
 *   out     *out; cpu to be freed by the caller
 *   errors  ESRCH: there is no such process; ENOMEM, "memory"; "/"
 *   cost    looks for a record of each process above */
cpubind_linux_fault cpubind_bind_find_outer(int32_t pid, const cpubind_sys *sys,
                                            cpubind_outer *out);

/* The CPUs of its main threads, by the record of a process that lives; else n is 0. */
cpubind_cpus cpubind_bind_main(const cpubind_binding *binding);

/* The number of the device that the process is bound for, by the record; -1: it has none, or
 * none is known. */
int32_t cpubind_bind_device(const cpubind_binding *binding);

/* The PCI address of a device without a number, by the record; "": none. Valid until the next
 * call. */
const char *cpubind_bind_pci(const cpubind_binding *binding);

/* The word of the rules of the plan that the process is bound by; "": not known. Valid until
 * the next call. */
#define CPUBIND_RULES_SIZE 16
const char *cpubind_bind_rules(const cpubind_binding *binding);

/* Processes of this host that live and are bound by plans of other rules. */
typedef struct cpubind_other_rules {
    int32_t n;                      /* of all other rules */
    int32_t pid;                    /* the first of them */
    char rules[CPUBIND_RULES_SIZE]; /* of the first of them */
} cpubind_other_rules;

/* Counts them among the records of the usual folder. A record that cannot be read, or does not
 * say by which rules, counts as one of the same rules.
 *   in      is_own: 1 for a process that does not count; rules: the word of the same rules;
 *           NULL: there are none. sys: as for open
 *   cost    reads each record */
cpubind_other_rules cpubind_bind_find_other_rules(const char *rules,
                                                  int (*is_own)(const void *ctx, int32_t pid),
                                                  const void *ctx, const cpubind_sys *sys);

/* The path of the record. */
const char *cpubind_bind_record_path(const cpubind_binding *binding);

/* Whether apply binds such a process: asks what needs no goal, before a plan is made.
 *   errors  ERR_NOT_FORCED, as for apply; ERR_GONE; ERR_REFUSED */
cpubind_linux_status cpubind_bind_check(cpubind_binding *binding, cpubind_linux_fault *fault);

/* Binds: threads, interrupts, then memory.
 *   errors  ERR_NOT_FORCED, unless is_forced: fault->what is "init" (PID 1), "kernel thread" or
 *           "zombie"
 *           ERR_GONE: the process has ended; ERR_REFUSED: a system call failed: fault, and the
 *           last item of the report; or the main thread, a thread that a rule names or all
 *           threads could not be moved, with is_strict one of them;
 *           ERR_STATE: the record could not be written; ERR_MEMORY.
 *           All is as before then, the record too.
 *           ERR_UNDONE: as ERR_REFUSED, and report->n_not_restored items could not be put back;
 *           the record stays, for restore
 *   cost    six system calls a thread, three of them to read its name, which is most of the
 *           time; 258 threads take a millisecond or two. Interrupts: all of /proc is searched
 *           for irqbalance if it has no socket in /run/irqbalance. Where a goal names threads
 *           of other processes, the name of every thread of the host is read */
cpubind_linux_status cpubind_bind_apply(cpubind_binding *binding, const cpubind_goal *goal,
                                        cpubind_linux_fault *fault);

/* Says whether the next calls of apply are of a measurement, this process: their record says
 * so, so that what it leaves when it is killed is taken for no binding. */
void cpubind_bind_measure(cpubind_binding *binding, int is_measuring);

/* The measurement that has made the record; 0: none. */
int32_t cpubind_bind_measurer(const cpubind_binding *binding);

/* Looks again, as a watch does: moves threads that are new, or have another name or other CPUs
 * by now, and interrupts that were moved, to where they belong. Whatever fails is tried again
 * by later calls, after 1, 2, 4 ... 64 calls. The report has only news: what was moved; what
 * could not be moved, once; RIGHT for a thread whose trouble is over.
 *   in      after apply
 *   errors  ERR_GONE: the process has ended; ERR_ARG: nothing is bound; those of reading the
 *           record, where the call before this one was verify with a goal, or failed */
cpubind_linux_status cpubind_bind_again(cpubind_binding *binding, cpubind_linux_fault *fault);

/* Waits until the process ends, the time is over or, where the kernel sends them, events have
 * come that cpubind_bind_again is to act on: then the next call waits for the rest of the time.
 *   returns 1 when the process has ended, else 0 (a signal ends the wait early) */
int cpubind_bind_wait(cpubind_binding *binding, int32_t timeout_ms);

/* Compares, and changes nothing. Threads and interrupts that are elsewhere are items that are
 * WRONG, no errors.
 *   in      goal; NULL: that of the record (report->has_goal 0: there is none)
 *   errors  ERR_GONE; ERR_REFUSED; ERR_MEMORY */
cpubind_linux_status cpubind_bind_verify(cpubind_binding *binding, const cpubind_goal *goal,
                                         cpubind_linux_fault *fault);

/* Puts back what the record holds: the threads of the process if it still lives (same pid, same
 * start time), and what was changed on the host in any case; each only if it still is where
 * apply put it. A thread that had all that its cpuset gave gets the widest mask again. Memory
 * stays where it is; with PREFER the calling process no longer prefers a node for new memory.
 * What the process has forked since it was bound, and has executed no program, is put back,
 * too.
 * Without a record nothing is done.
 *   errors  ERR_EXISTS, "another namespace": the record is of one of pids or times in which
 *           alone its process can be known; it stays. So for verify, unless there is a goal
 *           ERR_UNDONE: report->n_not_restored items could not be put back; the record stays
 *           ERR_BIRTHS: report->is_outrun; the record stays
 *           ERR_STATE; ERR_MEMORY */
cpubind_linux_status cpubind_bind_restore(cpubind_binding *binding, cpubind_linux_fault *fault);

/* Moves the threads of a fork of a bound process that have CPUs of a binding before this one to
 * the main CPUs: it belongs to the process, and restore puts it back with that. The report has
 * what was moved; what could not be moved stays where it is.
 *   in      after apply; pid: was forked by the process or by a fork of it, and neither has
 *           executed a program since */
void cpubind_bind_move_fork(cpubind_binding *binding, int32_t pid);

/* Removes what killed and ended processes have left in the usual folder, and what no restore
 * needs: locks that nobody holds, temporary files, records of ended processes. What these have
 * changed on the host stays on record (cpubind_bind_open_host). Whatever fails is left for the
 * next time.
 *   in      sys: as for open; NULL: the real calls */
void cpubind_bind_sweep(const cpubind_sys *sys);

/* Whether the process lives, and is the one of the record if there is a record. */
int cpubind_bind_is_alive(const cpubind_binding *binding);

/* The report of the last call. */
const cpubind_outcomes *cpubind_bind_report(const cpubind_binding *binding);

/* The name of the program that a process runs: the last part of its /proc/<pid>/exe, else its
 * name in /proc/<pid>/stat, cut to fit; "" where neither can be read.
 *   in      sys: as for open; NULL: the real calls
 *   returns whether it is that of the program */
#define CPUBIND_PROGRAM_SIZE 64
int cpubind_bind_program(int32_t pid, const cpubind_sys *sys, char out[CPUBIND_PROGRAM_SIZE]);

/* Releases the lock. The process stays bound. NULL is allowed. */
void cpubind_bind_close(cpubind_binding *binding);

/* Replaces this process by a command, found on PATH, with the environment of this process.
 *   in      argv ends with NULL; sys as above
 *   returns on failure only
 *   errors  ERR_REFUSED, "exec" */
cpubind_linux_status cpubind_bind_exec(char *const *argv, const cpubind_sys *sys,
                                       cpubind_linux_fault *fault);

/* The processes that have a record in the usual folder.
 *   out     *out, free(3)'s, ascending; *out_n may be 0 */
cpubind_linux_status cpubind_bind_list(const cpubind_sys *sys, int32_t **out, int32_t *out_n,
                                       cpubind_linux_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_LINUX_BIND_H */
