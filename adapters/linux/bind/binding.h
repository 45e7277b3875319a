/* binding.h - the inside of a binding: its state, and the steps that its files share
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux/bind. Steps return their fault by value; only the functions of
 * bind.h return a status: cpubind_record_status for a fault of the record, cpubind_status_of
 * for one of a step. Calls go one way: apply.c, watch.c, verify.c and outer.c, then
 * apply_host.c and restore.c, then the other apply_*.c and restore_host.c, then
 * binding.c, then threads.c, report.c, host.c and group.c, and all of them use record.h.
 *
 * TERMS
 *   record      the file, and the struct of the same content, of all that was changed for one
 *               process and how it was before; record.h
 *   set         a set of CPUs, by its number in record.sets; equal sets have equal numbers
 *   before      the set of a process, thread or interrupt before cpubind changed it first
 *   placed set  a set that only a binding gives: a thread on it was moved by cpubind, or was
 *               created by a thread that was
 *   goal        the sets that threads, interrupts and memory belong on
 *   known       a thread that this call of apply, or a watch, has looked at
 *   misplaced   a thread that is not on the set it belongs on
 *   polling thread  a thread of another process that serves the devices of the host: the goal
 *               has its name
 *   entry       what is of the host, in its record: an interrupt, a polling thread, a kernel
 *               thread or a work queue of the driver, a setting, a ban of irqbalance; and a
 *               thread of a process that doctor has moved
 *   undo        puts back what a failed call changed; restore: what the record holds
 */
#ifndef CPUBIND_LINUX_BINDING_H
#define CPUBIND_LINUX_BINDING_H

#include "../kernel/irq.h"
#include "../kernel/irqbalance.h"
#include "../kernel/proc_events.h"
#include "../kernel/process.h"
#include "bind.h"
#include "group.h"
#include "host_record.h"
#include "record.h"

/* How the record in memory and the record file are related.
 *
 *   phase       event                                         next phase
 *   (opened)    there is no file                              NEW
 *   (opened)    the file was read                             BOUND
 *   NEW         apply begins                                  APPLYING
 *   BOUND       apply begins                                  REAPPLYING
 *   APPLYING    apply succeeds                                BOUND
 *   REAPPLYING  apply succeeds                                BOUND
 *   APPLYING    apply fails and is undone; the file goes      DROPPED
 *   REAPPLYING  apply fails; the file is as before            OUTDATED
 *   either      ... and not all can be undone; the file stays OUTDATED
 *   NEW         verify with a goal, which is in memory then   DROPPED
 *   BOUND       verify with a goal; or restore fails          OUTDATED
 *   BOUND       restore succeeds; the file goes               DROPPED
 *   DROPPED     the next call begins: reads the file          NEW, BOUND
 *   OUTDATED    the same                                      NEW, BOUND
 *
 * Four facts are apart from it, because each can change in any phase: whether the process lives
 * (cpubind_process_is_alive), is_dirty, is_save_failed and has_moved_threads. */
typedef enum cpubind_phase {
    CPUBIND_PHASE_NEW,        /* no file; the record in memory is empty */
    CPUBIND_PHASE_APPLYING,   /* there was no file when apply began */
    CPUBIND_PHASE_BOUND,      /* the record in memory is that of the file, or newer: is_dirty */
    CPUBIND_PHASE_REAPPLYING, /* there was a file when apply began */
    CPUBIND_PHASE_DROPPED,    /* no file; the record in memory is of no use */
    CPUBIND_PHASE_OUTDATED    /* a file; the record in memory is of no use */
} cpubind_phase;

/* A thread that is not on the set it belongs on. */
typedef struct cpubind_misplaced {
    int32_t tid, is, should;
    int is_moved; /* its CPUs were changed by this pass */
    char name[CPUBIND_COMM_SIZE];
} cpubind_misplaced;

/* A thread or an interrupt that a watch could not put where it belongs. */
typedef struct cpubind_trouble {
    cpubind_item_kind kind;
    int32_t pid, id;
    cpubind_linux_fault why; /* of the last try */
    int32_t pause;           /* calls of cpubind_bind_again: 1, 2, 4 ... 64 */
    int64_t next;            /* the number of the call that tries again */
} cpubind_trouble;

/* The record of the host while a call has it open and locked. */
typedef struct cpubind_shared {
    cpubind_record_file *file; /* NULL: not open */
    cpubind_shared_record record;
    cpubind_bytes previous; /* what the file held; empty: there was none */
    int is_dirty;
} cpubind_shared;

/* A process that may be a kernel thread, and the bytes of its file comm. */
typedef struct cpubind_kernel_name {
    int32_t pid, len;
    char comm[80];
} cpubind_kernel_name;

/* The kernel threads as they were listed last. */
typedef struct cpubind_kernel_list {
    cpubind_kernel_name *row;
    int32_t n, cap;
    int64_t end_ms; /* the list holds until then */
} cpubind_kernel_list;

/* What apply has left for a watch to do: the part of its goal that is of the host. */
struct cpubind_owed {
    cpubind_goal goal; /* its interrupts and rows of the driver are copies, in the same block;
                          its lists of threads are gone */
    int32_t device_before;
};

/* A thread that a watch has looked at. */
typedef struct cpubind_watched {
    int32_t tid, should; /* NONE: it is left where it is */
    int32_t n_moved;     /* how often it was moved back from CPUs of its own choice */
    int name_fd;         /* of cpubind_task_name_open; -1: not open */
} cpubind_watched;

struct cpubind_binding {
    const cpubind_sys *sys;
    cpubind_bind_options options;
    cpubind_root root;
    int task_dir_fd;          /* /proc/<pid>/task; -1: there is no such process */
    int process_lock_fd;      /* -1: not held */
    uint64_t start;           /* of the process */
    char boot[64];            /* which boot of the kernel this is; "" where it does not say */
    cpubind_namespaces space; /* of this process */
    cpubind_phase phase;
    int is_dirty;          /* the record has facts that the file does not have yet */
    int is_save_failed;    /* the last try to write the file failed */
    int has_moved_threads; /* since apply began: an undo looks at threads only then */
    cpubind_record_file *file;
    int32_t measurer; /* that the next calls of apply are of; 0: none */
    uint64_t measurer_start;
    int has_driver; /* apply uses kernel threads or work queues */
    cpubind_record record;
    int32_t online;   /* its online CPUs in this call; NONE: not read; or ..._NOT_KNOWN */
    cpubind_ids tids; /* of the last listing */
    cpubind_ids tids_before; /* of the listing before it, in apply and restore */
    cpubind_misplaced *misplaced;
    int32_t n_misplaced, cap_misplaced;
    cpubind_record_thread *known; /* by ascending tid; `before`: before this call */
    int32_t n_known, cap_known;
    cpubind_irq_id listed;   /* `listed_irqs` have its function and name; name "": none */
    cpubind_ids listed_irqs; /* in this call */
    cpubind_trouble *trouble;
    int32_t n_trouble, cap_trouble;
    int64_t n_again;                  /* calls of cpubind_bind_again */
    int is_watching;                  /* in one of them */
    cpubind_linux_fault shared_fault; /* why this call of apply has not opened it */
    int64_t host_wait_ms;             /* how long this call waits for it */
    struct cpubind_owed *owed;        /* what apply has left for a watch to do; NULL: nothing */
    cpubind_shared shared;            /* file NULL: not open */
    cpubind_irqbalance daemon;        /* the last that was found; pid 0: none */
    cpubind_watched *watched;         /* by ascending tid */
    int32_t n_watched, cap_watched;
    int32_t n_name_fd, max_name_fd;      /* descriptors of names; -1: not known yet */
    int32_t n_listed;                    /* threads of the last listing */
    int can_count;                       /* /proc counts the threads of the process */
    int has_ended_name;                  /* the thread of an open name has ended */
    cpubind_group *group;                /* or NULL */
    char thread_name[CPUBIND_COMM_SIZE]; /* of the last entry that was read and is a thread */
    cpubind_kernel_list kernel;          /* of this call, without a group */
    cpubind_proc_news news;              /* that no call of cpubind_bind_again has handled */
    int is_early;                      /* events ended the last wait before its time was over */
    int64_t next_look_ms;              /* when all threads are looked at; 0: in the next call */
    cpubind_linux_fault first_failure; /* of what could not be put back */
    cpubind_outcomes report;
};

/* A binding of a group, and its process: a descriptor of pidfd_open(2), or -1. */
typedef struct cpubind_member {
    cpubind_binding *binding;
    int pidfd;
} cpubind_member;

struct cpubind_group {
    const cpubind_sys *sys;
    int is_own;  /* of one binding, which closes it: another one is told of all processes */
    int wake_fd; /* ends a wait; -1: none */
    cpubind_member *member;
    int32_t n, cap;
    int is_changed;        /* the members, since the kernel was asked for the events of these */
    int events_fd;         /* of cpubind_proc_events_open; -1: none */
    int gather_ms;         /* events that come within this time are handled together */
    int64_t period_end_ms; /* 0: no period has begun */
    struct pollfd *wait;
    int32_t cap_wait;
    cpubind_irqbalance daemon; /* of the last search; pid 0: none was found */
    int64_t next_search_ms;    /* when to search again if none was found */
    int is_host_busy;          /* a member has waited for the record of the host in vain */
    cpubind_kernel_list kernel;
};

/* == The group of a binding (group.c) ======================================= */

/* Whether the kernel sends the events of the process, to the binding or to its group. */
int cpubind_has_events(const cpubind_binding *b);

/* Finds irqbalance as cpubind_irqbalance_find does; a group finds it once. */
cpubind_linux_fault cpubind_group_find_daemon(cpubind_binding *b, cpubind_irqbalance *out);

/* Makes a group of one, if a watch follows and has no group: before anything is looked at, so
 * that what is born or renamed later is not missed. Why the kernel sends no events is in the
 * report.
 *   errors  ENOMEM */
cpubind_linux_fault cpubind_start_events(cpubind_binding *b);

/* Reads the events that have come, in a group of one. */
void cpubind_read_events(cpubind_binding *b);

/* Stops receiving events, and leaves the group. */
void cpubind_stop_events(cpubind_binding *b);

/* == The lock of a process (process_lock.c) ================================= */

/* Locks the process, whatever file its record is in and whoever runs cpubind: flock(2) on
 * /proc/<pid>/fd, which only root and the owner of the process can open. A process that is not
 * dumpable, whose folder its owner cannot open, has the lock of its record alone.
 *   out     *fd, to be closed; -1: it cannot be locked, or on failure
 *   errors  EWOULDBLOCK, "lock": another cpubind works on it; "lock" */
cpubind_linux_fault cpubind_process_lock(cpubind_root *root, int32_t pid, int *fd);

/* Writes to the lock file of a record that this process holds it. */
void cpubind_process_sign(cpubind_binding *b, const cpubind_record_file *file);

/* == Who has a record (record_place.c) ====================================== */

/* Whether there is a record of a process in the folder of this user, which may be damaged or of
 * an older cpubind. */
int cpubind_place_has_record(cpubind_root *root, int32_t pid);

/* Looks for a reason not to write to the record that was opened and read.
 *   out     path of the other record
 *   errors  EEXIST, "another user": the process lives, and has a record of that one */
cpubind_linux_fault cpubind_place_check(cpubind_binding *b, char path[CPUBIND_PLACE_SIZE]);

/* == The binding (binding.c) ================================================ */

/* Whether a record file is there. */
static inline int cpubind_is_recorded(const cpubind_binding *b)
{
    return b->phase == CPUBIND_PHASE_BOUND || b->phase == CPUBIND_PHASE_REAPPLYING ||
           b->phase == CPUBIND_PHASE_OUTDATED;
}

/* Whether the process lives and is the one that the record is of. */
static inline int cpubind_process_is_alive(const cpubind_binding *b)
{
    const cpubind_record *r = &b->record;
    return b->task_dir_fd >= 0 && r->pid == b->options.pid && r->start == b->start &&
           cpubind_is_same_space(r->space, b->space) && cpubind_is_same_boot(r->boot, b->boot);
}

/* Whether the record is of another pid or time namespace: nobody knows here whether its process
 * has ended. */
static inline int cpubind_is_foreign(const cpubind_binding *b)
{
    return cpubind_is_recorded(b) && cpubind_is_same_boot(b->record.boot, b->boot) &&
           !cpubind_is_same_space(b->record.space, b->space);
}

/* Lets the next call of cpubind_bind_again look at all threads. */
static inline void cpubind_look_at_all(cpubind_binding *b)
{
    b->next_look_ms = 0;
}

/* Begins an empty record of this process: phase NEW. */
void cpubind_begin_record(cpubind_binding *b);

/* Reads the record file into an empty record: phase NEW or BOUND.
 *   errors  as cpubind_record_load, but not that there is no file */
cpubind_linux_fault cpubind_read_record(cpubind_binding *b);

/* Writes the record if it is dirty. */
cpubind_linux_fault cpubind_write_record(cpubind_binding *b);

/* Begins a call: an empty report, and the record as its file has it.
 *   errors  as cpubind_read_record */
cpubind_linux_fault cpubind_begin_call(cpubind_binding *b);

/* The status of a call whose last step ended with this fault: OK; ERR_UNDONE when something
 * could not be put back; ERR_STATE when the record was not written; ERR_MEMORY; ERR_GONE;
 * ERR_REFUSED. */
cpubind_linux_status cpubind_status_of(const cpubind_binding *b, cpubind_linux_fault why);

/* == Reports (report.c) ===================================================== */

/* The thread, interrupt or daemon of an item, and its sets or NONE. */
typedef struct cpubind_subject {
    cpubind_item_kind kind;
    int32_t pid, id;
    const char *name;
    int32_t was, should;
} cpubind_subject;

/* A subject of the process without sets. */
static inline cpubind_subject cpubind_own_subject(const cpubind_binding *b,
                                                  cpubind_item_kind kind, int32_t id,
                                                  const char *name)
{
    return (cpubind_subject){kind, b->options.pid,      id,
                             name, CPUBIND_CPUSET_NONE, CPUBIND_CPUSET_NONE};
}

void cpubind_report_begin(cpubind_binding *b);

/* Adds an item with the fault that explains its result.
 *   errors  ENOMEM */
cpubind_linux_fault cpubind_report_why(cpubind_binding *b, const cpubind_subject *subject,
                                       cpubind_item_result result, cpubind_linux_fault why);

/* Adds an item: MOVED without a fault, else `if_not`. Only FAILED counts as not restored, and
 * it counts even when there is no memory for the item. */
void cpubind_report_put_back(cpubind_binding *b, const cpubind_subject *subject,
                             cpubind_linux_fault why, cpubind_item_result if_not);

/* == What a watch cannot do now (report.c) ================================== */

/* Whether a watch should try an item now. 0: it failed lately, and its pause is not over. */
int cpubind_is_due(cpubind_binding *b, cpubind_item_kind kind, int32_t pid, int32_t id);

/* Remembers how a try of a watch ended; `why` without an error is a success.
 *   returns 1 if that is news, to be reported: the first failure, one for another reason, the
 *   success after a failure */
int cpubind_note_outcome(cpubind_binding *b, cpubind_item_kind kind, int32_t pid, int32_t id,
                         cpubind_linux_fault why);

/* The same of what is of the host, known by `id`, and reports it if it was moved or that is
 * news.
 *   errors  ENOMEM */
cpubind_linux_fault cpubind_report_watched(cpubind_binding *b, const cpubind_subject *subject,
                                           int32_t id, cpubind_item_result result,
                                           cpubind_linux_fault why);

/* A step of a watch that is for all items; each has a row of the table. */
typedef enum cpubind_watch_step {
    CPUBIND_STEP_LISTING = 0, /* list the threads */
    CPUBIND_STEP_RECORD = -1, /* write the record */
    CPUBIND_STEP_IRQS = -2,   /* read or move interrupts */
    CPUBIND_STEP_EVENTS = -3, /* receive events */
    CPUBIND_STEP_DRIVER = -4, /* read or move kernel threads and work queues */
    CPUBIND_STEP_HOST = -5    /* do what apply has left undone on the host */
} cpubind_watch_step;

/* The same for a step. News of a failure is an item of id 0. */
void cpubind_note_step(cpubind_binding *b, cpubind_watch_step step, cpubind_linux_fault why);

/* Drops the rows that no call has looked at since they were due: their threads have ended. */
void cpubind_drop_old_troubles(cpubind_binding *b);

/* == The goal (placement.c) ================================================= */

/* Makes `goal` the goal of the record. Earlier changes stay in the record, and the sets of
 * earlier goals stay placed sets.
 *   errors  ENOMEM; "goal", EINVAL: a list is empty or out of order */
cpubind_linux_fault cpubind_set_goal(cpubind_binding *b, const cpubind_goal *goal);

/* The set of a list of a goal.
 *   errors  ENOMEM; "goal", EINVAL: the list is empty or out of order */
cpubind_linux_fault cpubind_set_of_goal(cpubind_binding *b, cpubind_cpus cpus, int32_t *set);

/* Whether the arrays of a goal are there, and its threads have names. */
int cpubind_is_goal(const cpubind_goal *goal);

/* The set that a thread of this name belongs on; NONE: it is left where it is. */
int32_t cpubind_set_of_name(const cpubind_record *record, const char *name);

/* == Listing threads (threads.c) ============================================ */

/* Lists the threads into b->tids.
 *   errors  ESRCH: the process has ended; with the option is_forced one whose parent has not
 *           waited for it has not */
cpubind_linux_fault cpubind_list_threads(cpubind_binding *b);

/* The threads of the process as the kernel counts them in the links of its task folder, which
 * has two of its own; -1: not known. */
int64_t cpubind_count_threads(const cpubind_binding *b);

/* Looks at all threads of a process, over and over, for apply and restore. A listing may miss a
 * thread next to one that ends, and a chain of threads that start each other may escape look
 * after look. A look is quiet when its listing has as many threads as the kernel counted before
 * it, all of them were in the listing before, too, and none was elsewhere or had ended: then no
 * other thread was there when they were counted, and later ones are born where these are. All
 * zero but for `b` at first. */
typedef struct cpubind_births {
    cpubind_binding *b;
    int64_t n_counted; /* before the last listing; -1: not known */
    int64_t end_ms;
    int n_look, n_quiet;
    int has_births; /* after the first look */
    int is_endless; /* births have not ended in CPUBIND_BIRTHS_MS */
} cpubind_births;

#define CPUBIND_BIRTHS_MS 3000

/* Begins a look: lists the threads into b->tids, and has the listing before in b->tids_before.
 *   errors  as cpubind_list_threads */
cpubind_linux_fault cpubind_births_list(cpubind_births *births);

/* Ends a look. Returns whether no other one is needed: it was quiet, after births the second
 * one in a row; or births are endless.
 *   in      n_news: threads of the listing that were elsewhere, or had ended */
int cpubind_births_are_over(cpubind_births *births, int32_t n_news);

/* == Threads (apply_threads.c) ============================================== */

/* Reads the name of a thread, and its set.
 *   errors  ESRCH: it has ended */
cpubind_linux_fault cpubind_read_thread(cpubind_binding *b, int32_t tid,
                                        char name[CPUBIND_COMM_SIZE], int32_t *is);

/* The set that a thread on the set `is` has at best now: the CPUs of `should` that are online;
 * those of main, if none of `should` is. The set itself where the online CPUs are not known: a
 * container may have a file of its own for them, which a thread on other CPUs gives away. */
int32_t cpubind_best_set(cpubind_binding *b, int32_t is, int32_t should);

/* Whether a thread on the set `is` has all CPUs of `should` that are online, perhaps none. */
int cpubind_lacks_offline_alone(cpubind_binding *b, int32_t is, int32_t should);

/* Reads the set of the process into record.before, and record.widest, if it has all CPUs that
 * are online. */
cpubind_linux_fault cpubind_read_before(cpubind_binding *b);

/* Names who has refused to move a thread of the process (refuser.c), for EPERM and EACCES of
 * sched_setaffinity(2): `what` is one of CPUBIND_REFUSED_BY_.... Where it cannot be told, and
 * for another error, the fault is as it was. */
cpubind_linux_fault cpubind_name_refuser(cpubind_binding *b, int32_t tid,
                                         cpubind_linux_fault why);

/* For apply: records, moves and reports each thread, until births are over; says that they do
 * not end.
 *   errors  ESRCH: the process has ended; why the main thread, a thread that a rule names, or
 *           all threads could not be moved, with is_strict why one could not; a transient
 *           error */
cpubind_linux_fault cpubind_place_threads(cpubind_binding *b);

/* The threads that a call of a watch looks at. */
typedef enum cpubind_look {
    CPUBIND_LOOK_ALL,   /* all threads, which are listed */
    CPUBIND_LOOK_KNOWN, /* all threads: those of the last look, as there are no others */
    CPUBIND_LOOK_MASKS, /* those of the events, and those with another mask than at the last
                           look: all names are known from events */
    CPUBIND_LOOK_NEWS   /* those of the events */
} cpubind_look;

/* For a watch: looks at these threads, moves those that are misplaced, and reports what is
 * news. Whatever fails is noted, and tried again by a later call.
 *   errors  ESRCH: the process has ended */
cpubind_linux_fault cpubind_watch_threads(cpubind_binding *b, cpubind_look look);

/* == The threads that a watch has looked at (threads.c) ===================== */

/* The name of a thread; in a watch through a descriptor that stays open, if there is room. */
cpubind_linux_fault cpubind_watched_name(cpubind_binding *b, int32_t tid,
                                         char name[CPUBIND_COMM_SIZE]);

/* Notes that a thread was looked at, and the set it belongs on. */
void cpubind_watched_add(cpubind_binding *b, int32_t tid, int32_t should);

/* Counts that a watched thread was moved back; returns how often it was by now. */
int32_t cpubind_watched_count(cpubind_binding *b, int32_t tid);

/* Drops the threads that are not in the listing of all threads. */
void cpubind_watched_note_listing(cpubind_binding *b);

/* Whether the threads of the table are all that the process has, if none of them has ended
 * (has_ended_name) when their names are read after this call: the kernel counts as many. */
int cpubind_watched_are_all(cpubind_binding *b);

/* Whether a watch drops the threads that have ended, which in weeks are without number: of n
 * that it was to look at so many live. */
static inline int cpubind_has_many_ended(int32_t n, int32_t n_live)
{
    return n > 2 * n_live + 256;
}

/* Adds all threads of the table.
 *   errors  ENOMEM */
cpubind_linux_fault cpubind_watched_list(const cpubind_binding *b, cpubind_ids *tids);

/* Adds the threads that are on another set than the one they belong on, or cannot be read.
 *   errors  ENOMEM */
cpubind_linux_fault cpubind_watched_find_moved(cpubind_binding *b, cpubind_ids *tids);

void cpubind_watched_free(cpubind_binding *b);

/* == Knobs: what is of the host (knob.c) ==================================== */

/* Finds the present number of an interrupt.
 *   errors  ENOENT, "gone": the function has no such interrupt now; "list the interrupts";
 *           ENOMEM, "memory"
 *   cost    a call of apply, verify, restore or again lists each function and name once */
cpubind_linux_fault cpubind_find_irq(cpubind_binding *b, const cpubind_irq_id *id,
                                     int32_t *irq);

/* Reads the present number of an entry, which an interrupt alone has, and its set.
 *   errors  ESRCH, of a thread, or ENOENT: it is not there any more */
cpubind_linux_fault cpubind_read_entry(cpubind_binding *b, const cpubind_shared_entry *entry,
                                       int32_t *number, int32_t *set);

/* Gives an entry a set; an interrupt, if its number still is that of this interrupt. */
cpubind_linux_fault cpubind_write_entry(cpubind_binding *b, const cpubind_shared_entry *entry,
                                        int32_t should);

/* THE RULE of faults. What is gone needs nothing. What nobody may move, has no room (an
 * interrupt needs a vector), is busy, or will have none of the CPUs, is skipped and named, and
 * a watch tries again: a worker is not left unbound for it. Anything else makes a call fail,
 * and it is undone. */
int cpubind_is_gone(const cpubind_binding *b, const cpubind_shared_entry *entry,
                    cpubind_linux_fault why);
int cpubind_is_refusal(int error);

/* Whether a thread or an interrupt has all CPUs that it can have: the kernel has moved it by
 * force, off a cpuset that shrank or a CPU that went, or it loses nothing where the kernel has
 * not. A thread has the widest mask then, so that it is on no CPUs of a binding when its
 * cpuset grows again. */
int cpubind_has_all(cpubind_binding *b, const cpubind_shared_entry *entry, int32_t is);

/* Reads which CPUs are online: binding.online, CPUBIND_ONLINE_NOT_KNOWN where nothing can say
 * so. */
#define CPUBIND_ONLINE_NOT_KNOWN (-2)
void cpubind_read_online(cpubind_binding *b);

/* As cpubind_write_entry, for an interrupt, which is read back.
 *   out     *actual: the CPUs that serve it; NONE where the kernel does not say */
cpubind_linux_fault cpubind_move_irq(cpubind_binding *b, const cpubind_shared_entry *irq,
                                     int32_t should, int32_t *actual);

/* Finds the setting of a file below "/"; and the file of a setting. Return whether there is
 * one. */
#define CPUBIND_SETTING_SIZE 96
int cpubind_setting_find(const char *file, cpubind_irq_id *id);
int cpubind_setting_file(const cpubind_irq_id *id, char path[CPUBIND_SETTING_SIZE]);

/* The set that stands for a ban. */
cpubind_linux_fault cpubind_value_of_ban(cpubind_binding *b, int32_t *set);

/* The subject of an entry; of a thread of another process with the name that cpubind_read_entry
 * has read last. */
cpubind_subject cpubind_subject_of(const cpubind_binding *b, const cpubind_shared_entry *of,
                                   int32_t should);

/* == Undoing and restoring (restore.c) ========================================= */

/* Puts each thread on the set that `before` has for it, if it still is where cpubind put it, or
 * where the kernel moved it by force.
 * Threads that `before` does not have were created since: those on a placed set go to the set
 * `home`. The set record.widest stands for the widest mask that the kernel gives; a thread gets
 * that one, too, when its cpuset gives none of its CPUs any more. Repeats until births are
 * over; that they do not end counts as one more that could not be moved, CPUBIND_BIRTHS. Adds
 * an item for each thread that was moved, was left, or could not
 * be moved (report->n_not_restored counts those). */
void cpubind_put_back_threads(cpubind_binding *b, const cpubind_record_thread *before,
                              int32_t n, int32_t home);

/* == The record of the host (host.c, restore_host.c) ========================= */

/* Opens, locks and reads it; waits in the queue for the lock, for host_wait_ms.
 *   in      mode MAKE: for apply and a watch; WRITE: for restore, which makes no folder; READ:
 *           without a lock. Without a folder, nothing is open but for MAKE
 *   out     report.is_host_busy, host_holder: after EWOULDBLOCK
 *   errors  CPUBIND_HOST_LOCK, EWOULDBLOCK: it is in use; "host.record": EILSEQ: the file makes
 *           no sense, as cpubind_record_open; ENOMEM, "memory" */
cpubind_linux_fault cpubind_shared_open(cpubind_binding *b, cpubind_record_mode mode);

/* Whether a fault says that the record of the host is in use. */
int cpubind_is_host_busy(cpubind_linux_fault why);

/* Writes it if it is dirty; removes the file if there is no entry. */
cpubind_linux_fault cpubind_shared_write(cpubind_binding *b);

/* Writes what the file held when it was opened. */
void cpubind_shared_revert(cpubind_binding *b);

/* Frees it and releases the lock. Nothing may be open. */
void cpubind_shared_close(cpubind_binding *b);

/* Makes this process the last user of an entry, which is added when it is not there.
 *   in      like->before: the set that it is on now
 *   errors  ENOMEM, "memory" */
cpubind_linux_fault cpubind_shared_use(cpubind_binding *b, const cpubind_shared_entry *like,
                                       int32_t set);

/* Whether a user is a process of this namespace; whether its process lives, or may live in
 * another one. */
int cpubind_shared_is_of(const cpubind_binding *b, const cpubind_shared_user *user, int32_t pid,
                         uint64_t start);
int cpubind_shared_lives(cpubind_binding *b, const cpubind_shared_user *user);

/* The last user of an entry that lives and is not this process; NULL without one. */
const cpubind_shared_user *cpubind_shared_last_other(cpubind_binding *b,
                                                     const cpubind_shared_entry *entry,
                                                     int32_t pid, uint64_t start);

/* The last user that is the process of the binding; NULL without one. */
cpubind_shared_user *cpubind_shared_own_user(const cpubind_binding *b,
                                             const cpubind_shared_entry *entry);

/* Puts an interrupt or an entry on a set if it still is where cpubind put it for a user of
 * its entry, or where the kernel moved it by force. Without this condition it is KEPT. On
 * failure adds an item of the result `if_not`.
 *   returns 0 when it could not be put there */
int cpubind_put_back_entry(cpubind_binding *b, const cpubind_shared_entry *entry,
                           int32_t should, cpubind_item_result if_not);

/* Gives back all entries that a process uses; with pid 0 those that ended processes use. */
void cpubind_put_back_shared(cpubind_binding *b, int32_t pid, uint64_t start);

/* Gives back what this process uses of the driver and a goal does not name. */
void cpubind_give_back_driver(cpubind_binding *b, const cpubind_goal *goal);

/* Gives back one interrupt of this process, and its ban.
 *   returns 0 when it could not be put back: it is SKIPPED, and stays on record */
int cpubind_give_back_irq(cpubind_binding *b, const cpubind_irq_id *id);

/* == One call of apply: its steps beside threads ============================ */

/* Each step is in two parts: the first reads the present state and adds what it is going to
 * change to the record; the second, when the record is written, changes it. A step returns the
 * fault that makes apply fail; a missing right or file is only an item of the report. */
typedef struct cpubind_move {
    cpubind_shared_entry of; /* without users; `before`: where it is now */
    int32_t should;
} cpubind_move;

/* The present number of an interrupt of the goal, or why it is not known. */
typedef struct cpubind_found_irq {
    int32_t irq;
    cpubind_linux_fault why;
} cpubind_found_irq;

/* A thread of another process that the goal is about. */
typedef struct cpubind_polling_thread {
    int32_t pid, tid;
} cpubind_polling_thread;

typedef struct cpubind_attempt {
    cpubind_binding *b;
    cpubind_found_irq *irq; /* of the goal; what is found before the record is locked */
    cpubind_polling_thread *polling;
    int32_t n_polling, cap_polling;
    cpubind_linux_fault daemon_fault; /* of the search for irqbalance */
    cpubind_move *move; /* interrupts, kernel threads and work queues, polling threads */
    int32_t n_move, cap_move, n_moved;
    int is_to_ask, is_asked;            /* in this call */
    int is_again;                       /* of a watch: see cpubind_watch_owed */
    int32_t *ban, n_ban;                /* interrupts that this call bans */
    int32_t device_before, main_before; /* of the goal before; -1, NONE */
} cpubind_attempt;

/* What is of the host (apply_host.c): finds it, waits for its record, records and moves it.
 * Where the record is in use for too long, the report names what is skipped, and a watch does
 * it later. The record stays open and locked.
 *   errors  those of the steps; the caller undoes what was moved */
cpubind_linux_fault cpubind_place_on_host(cpubind_attempt *a, const cpubind_goal *goal);

/* Puts back what this attempt has moved of the host, the last first. */
void cpubind_undo_host(cpubind_attempt *a);

void cpubind_attempt_free(cpubind_attempt *a);

/* For a watch: does what a call of apply has left undone because the record was in use.
 *   returns 0 when that is still so, or failed: to be tried again */
int cpubind_watch_owed(cpubind_binding *b);

/* Interrupts (apply_irq.c). The first part is done before the record is locked. */
cpubind_linux_fault cpubind_find_irqs(cpubind_attempt *a, const cpubind_goal *goal);
cpubind_linux_fault cpubind_prepare_irqs(cpubind_attempt *a, const cpubind_goal *goal);

/* Puts back what the goal before named of the driver and this one does not: kernel threads,
 * work queues and extra interrupts, and of another device all interrupts. At the end, when
 * nothing can fail any more. An interrupt that cannot be put back stays in the record. */
void cpubind_leave_old_goal(cpubind_attempt *a, const cpubind_goal *goal);

/* Moves the interrupts that were moved elsewhere since apply, and tells an irqbalance that has
 * started since what apply has told the one before. */
cpubind_linux_fault cpubind_watch_irqs(cpubind_binding *b);

/* irqbalance (apply_irqbalance.c): found before the record is locked, asked before the
 * interrupts are moved, which it would move again. */
cpubind_linux_fault cpubind_find_irqbalance(cpubind_attempt *a);
cpubind_linux_fault cpubind_prepare_irqbalance(cpubind_attempt *a);
cpubind_linux_fault cpubind_ask_irqbalance(cpubind_attempt *a);

/* Asks an irqbalance that has started since apply for what apply has asked the one before. */
cpubind_linux_fault cpubind_watch_irqbalance(cpubind_binding *b);

/* Takes back what this call has asked of irqbalance, and no more. */
void cpubind_undo_irqbalance(cpubind_attempt *a);

/* Reads the names of all kernel threads, if a second has passed since; holds them for another
 * second. A first apply reads them before it locks the record of the host, which may take as
 * long as the rest of the call, and holds them when it has the lock. */
cpubind_linux_fault cpubind_read_kernel_names(cpubind_binding *b);
void cpubind_keep_kernel_names(cpubind_binding *b);

/* Kernel threads and work queues of the driver, threads of other processes: adds what is
 * elsewhere to what is to be moved (apply_entries.c). */
cpubind_linux_fault cpubind_prepare_entries(cpubind_attempt *a, const cpubind_goal *goal);

/* Makes this process a user of an entry, and adds it to what is to be moved if it is elsewhere.
 * One that a refusal keeps from that, or the record of the host, is named.
 *   in      why: of finding and reading it */
cpubind_linux_fault cpubind_use_entry(cpubind_attempt *a, const cpubind_move *move,
                                      cpubind_linux_fault why);

/* Finds the kernel thread of a name: the one on record, else one that is visible
 * (kernel_threads.c). The bindings of a group read the names once a second.
 *   out     out->pid 0: there is none; else out->number, out->start too */
cpubind_linux_fault cpubind_find_kernel_thread(cpubind_binding *b, const char *name,
                                               cpubind_shared_entry *out);

void cpubind_kernel_list_free(cpubind_kernel_list *list);

/* Finds what a goal names of the driver, and the set that it has now.
 *   errors  that of one that is gone: it is not there, or not visible here */
cpubind_linux_fault cpubind_find_driver(cpubind_binding *b, const cpubind_driver_goal *goal,
                                        cpubind_shared_entry *out);

/* Moves those that were moved elsewhere since apply, and a kernel thread that has come in the
 * place of one that has ended: the driver was loaded again. */
cpubind_linux_fault cpubind_watch_driver(cpubind_binding *b);

/* Threads of other processes, by the name that a goal has. They are found before the record is
 * locked: looking through 100,000 processes takes a second. */
cpubind_linux_fault cpubind_find_polling(cpubind_attempt *a, const cpubind_goal *goal);

/* Moves what one of the steps above has prepared, an interrupt too. */
cpubind_linux_fault cpubind_move_entry(cpubind_attempt *a, const cpubind_move *move);

#endif /* CPUBIND_LINUX_BINDING_H */
