/* host_rows.h - private to this folder: the state of a host that is bound, and its steps
 * SPDX-License-Identifier: MIT
 *
 * Calls go one way: host_bind.c, then the other files.
 */
#ifndef CPUBIND_HOST_ROWS_H
#define CPUBIND_HOST_ROWS_H

#include "../linux/bind/group.h"
#include "../linux/kernel/descendants.h"
#include "../linux/kernel/files.h"
#include "../linux/source/host_source.h"
#include "../text/cpulist.h"
#include "host_allowed.h"
#include "host_bind.h"
#include "host_users.h"
#include "host_workers.h"
#include "lineage.h"

/* A process, and what is kept of it between two calls for this folder alone. */
typedef struct host_entry {
    cpubind_worker row;
    int is_listed; /* by the last listing */
    int is_stale;  /* others were, of its device, and not this one: it has no part */
    /* Its place among the processes of its device: its own start, or that of the worker that it
     * was forked from, which has ended. */
    int32_t order_pid;
    uint64_t order_start;
    cpubind_cpus main;    /* the CPUs of its main threads; cpu NULL: not bound yet */
    int was_other;        /* when the binding was opened: its memory is not moved */
    int is_new;           /* nobody was told of it yet */
    int is_recorded;      /* it is an entry because it is on record */
    int is_foreign;       /* its number is of another pid namespace */
    int32_t serves;       /* of an other with row.part: its first device; -1: not known */
    uint64_t goal_sum;    /* of the goal it is bound to; 0: none */
    uint64_t main_sum;    /* of the text of its main CPUs */
    int32_t pause, wait;  /* FAILED, BUSY: periods from one try to the next, and left */
    int32_t n_moved_back; /* periods in a row in which its threads had been moved */
} host_entry;

/* Whether an entry uses several devices: it has their pools, or is refused. */
static inline int host_is_joint(const host_entry *e)
{
    return e->row.n_device > 1 && !e->row.is_of_one;
}

/* Whether an entry is said and never bound. */
static inline int host_is_refused(const host_entry *e)
{
    return e->is_foreign || (e->row.n_device > 1 && e->row.is_of_one);
}

/* The CPUs that an entry is bound within; n 0: not known. */
static inline cpubind_cpus host_cpus_of(const host_entry *e)
{
    return cpubind_worker_holds_claim(&e->row) ? e->row.claimed : e->row.allowed;
}

struct cpubind_host_bind {
    const cpubind_sys *sys;
    cpubind_host_options options;
    int is_engine_found; /* the engine of options.request is that of the last listing */
    cpubind_root root;   /* "/" */
    cpubind_group *group;
    cpubind_linux_host *facts_host; /* this host; its answers are kept for the plan */
    cpubind_linux_host *live;       /* this host as it is now: opened again for each listing */
    /* A device is an index into facts.facts.device: those whose driver lists its users, then
     * the others of the bus. */
    cpubind_host_plan facts;      /* of the first call */
    cpubind_strangers strangers;  /* of a watch */
    cpubind_host_plan plan;       /* with workers of now, or why there is none */
    cpubind_host_allowed allowed; /* which the plan borrows from */
    cpubind_host_plan whole;      /* of all devices, whoever uses them; has_facts 0: not made */
    cpubind_host_allowed whole_allowed; /* which that borrows from */
    cpubind_arena goal_arena, list_arena;
    int is_survey;                 /* changes nothing */
    int32_t n_hidden, n_elsewhere; /* entries of the list of a driver */
    int is_other_namespace;        /* and its numbers are of another pid namespace */
    int32_t n_unseen;              /* processes whose open files may not be read */
    int32_t *online;               /* CPUs that a plan for nobody borrows */
    cpubind_cpus tree_cpus;        /* that the tree may have; n 0: not read, or named */
    uint64_t tree_start;
    cpubind_ids in_tree;    /* by the last listing */
    cpubind_children child; /* by the last listing */
    host_entry **entry;     /* in the order of the rows */
    int32_t n, cap;
    char list_input[CPUBIND_DEVICE_INPUT_SIZE]; /* that list_problem names */
    int32_t n_other_rules;        /* processes of other rules that were heard of last */
    int takes_all;                /* this call binds by the plan what others have bound */
    int is_old;                   /* the plan: the workers have changed since */
    cpubind_problem list_problem; /* of the last listing; code NONE: there was none */
    int64_t next_list_ms; /* events ask for a listing: not before this time; 0: none asked */
    int32_t n_late;       /* listings still to come after the last event */
    cpubind_linux_fault no_events;
};

/* == The plan (host_plan.c) ================================================= */

/* Reads the facts of the host, for the listing.
 *   returns its code, also in h->facts */
cpubind_problem_code cpubind_host_read_facts(cpubind_host_bind *h);

/* Whether the options ask for a device: by its number, by its function, or for all. The others
 * keep their CPUs. */
int cpubind_host_is_asked(const cpubind_host_bind *h, int32_t device);

/* Plans for the workers that are entries now.
 *   returns its code, also in h->plan */
cpubind_problem_code cpubind_host_make_plan(cpubind_host_bind *h);

/* Plans for all devices of the host as if none had a user, into h->whole, and keeps that.
 *   returns its code */
cpubind_problem_code cpubind_host_plan_whole(cpubind_host_bind *h);

/* Makes the goal of an entry by the plan, in memory that the next call uses again.
 *   out     *sum: equal for equal goals, never 0 */
cpubind_problem_code cpubind_host_make_goal(cpubind_host_bind *h, host_entry *e,
                                            cpubind_goal *goal, uint64_t *sum,
                                            cpubind_problem *problem);

/* The same as make_goal for a worker at one of its devices, in the arena.
 *   in      e: NULL: the goal is that of the whole device */
cpubind_problem_code cpubind_host_make_part_goal(const cpubind_host_bind *h, int32_t device,
                                                 const host_entry *e, cpubind_arena *arena,
                                                 cpubind_goal *out, cpubind_problem *problem);

/* The row of the plan that a device has; -1: it has none. */
int32_t cpubind_host_plan_row(const cpubind_host_bind *h, int32_t device);

/* The pool of a device; n 0: it has none.
 *   out     *memory_node: or -1 */
cpubind_cpus cpubind_host_pool(const cpubind_host_bind *h, int32_t device,
                               int32_t *memory_node);

void cpubind_host_free_plans(cpubind_host_bind *h);

/* == Workers (host_list.c) ================================================== */

/* Lists the processes that use devices: adds an entry for each that is none yet, with the CPUs
 * that it had before it was bound first, and marks all as listed.
 *   returns why that is not known; code NONE: it is */
cpubind_problem cpubind_host_list_workers(cpubind_host_bind *h);

/* Reads the CPUs of the cpuset of each worker again, marks those that have other ones, and the
 * plan as old then. Where they cannot be read all is as before. */
void cpubind_host_read_cpusets(cpubind_host_bind *h);

/* Opens the source of lists and numbers as it is now: a source keeps its first answers.
 *   returns what the caller closes, or NULL */
cpubind_linux_host *cpubind_host_open_now(const cpubind_host_bind *h, cpubind_source *out);

/* Reads the CPUs that the tree may have into the request.
 *   errors  ESRCH: its first process has ended */
cpubind_linux_fault cpubind_host_read_tree(cpubind_host_bind *h);

/* == Forks of workers (host_children.c) ===================================== */

/* Takes out of a list of users those that were children of a worker when they were listed last,
 * and whose parents have ended. The first one of a dead worker stays, and takes its place.
 *   returns 0 without memory */
int cpubind_host_keep_orphans(cpubind_host_bind *h, cpubind_users *found,
                              cpubind_children *children);

/* Makes a worker of an entry, in the place of the dead one that it was a child of. */
void cpubind_host_take_place(cpubind_host_bind *h, host_entry *e);

/* Takes over the children of a listing, after its workers are entries. */
void cpubind_host_take_children(cpubind_host_bind *h, cpubind_children *children);

/* The worker that a process is a child of, or 0. */
int32_t cpubind_host_parent(const cpubind_host_bind *h, int32_t pid);

/* Keeps the CPUs of the main threads of an entry, as text.
 *   returns 0 without memory, and of no list */
int cpubind_host_keep_main_text(cpubind_host_bind *h, host_entry *e, const char *text);

/* Adds an entry for each child that has other CPUs than the main ones of its worker. */
void cpubind_host_add_strays(cpubind_host_bind *h);

/* == Others (host_others.c) ================================================= */

/* Whether a process belongs to a worker and uses no device is asked for each process of the
 * host. Adds an entry for each that is none yet, and marks all as listed.
 *   errors  of listing /proc; "memory" */
cpubind_linux_fault cpubind_host_list_others(cpubind_host_bind *h);

/* Finds the engine of the workers that are listed now, for the next plan. There is room for
 * one: of workers with several, or whose counts are not known, it is unclear. */
void cpubind_host_find_engine(cpubind_host_bind *h);

/* == Entries (host_entries.c) =============================================== */

/* The entry of a process, or NULL. */
host_entry *cpubind_host_find(const cpubind_host_bind *h, int32_t pid);

/* "near": the word of the rules of the plan. */
const char *cpubind_host_rules(const cpubind_host_bind *h);

/* Names the device of a process. */
void cpubind_host_name_device(const cpubind_host_bind *h, cpubind_worker *worker);

/* The same for a process that uses none, by its record, which its report has. */
void cpubind_host_name_recorded(const cpubind_host_bind *h, cpubind_worker *worker);

/* Adds the entry of a worker, and takes that over, or of a process of which nothing is known
 * yet; NULL without memory. */
host_entry *cpubind_host_add(cpubind_host_bind *h, const cpubind_worker *worker);
host_entry *cpubind_host_add_process(cpubind_host_bind *h, int32_t pid);

#endif /* CPUBIND_HOST_ROWS_H */
