/* host_bind.h - binding all workers of a host: one plan, one watch
 * SPDX-License-Identifier: MIT
 *
 *   cpubind_host_bind *h;
 *   if (cpubind_host_bind_open(&options, &h, &fault) == CPUBIND_LINUX_OK) {
 *       status = cpubind_host_bind_apply(h, &fault);
 *       while (is_watching && !is_stopped)
 *           cpubind_host_bind_again(h, period_ms);
 *       ... cpubind_host_bind_row(h, i) says what was done for each worker ...
 *       cpubind_host_bind_close(h);
 *   }
 *
 * TERMS
 *   worker  a process that uses a device: by the list of its driver where the row of its vendor
 *           has one, else since it has files of it open (host_users.h). One of several devices
 *           of the bus has the pools of all of them, and takes no part of what their other
 *           workers have: it may be a monitor
 *   other   a process of a worker's process group or container that uses no device
 *   child   a fork of a worker, or of a fork of it, that has executed no program: it shares the
 *           main CPUs of its worker, and has a row only where it was found elsewhere. When its
 *           worker ends, the children that were known keep its part
 *   tree    a process and those below it: with options->tree, workers and others are of the
 *           tree alone, and every process of it that uses no device is an other. A process that
 *           was found in the tree once stays in it, whoever its parent becomes
 *   row     one worker or other, and the result of the last call for it
 *
 * PLAN  For the whole host: each device has the allowed CPUs of its own workers, and several
 *     workers of a device have parts of its pool. Devices whose workers may have the same CPUs
 *     share them, and no CPU is in two pools. See host_allowed.h for the devices without
 *     workers. Which devices there are is read once; which processes use them is read again in
 *     a watch: after events, and at the end of each period.
 * CPUSETS  Each worker is kept within the CPUs of its cpuset. A watch reads these again at the
 *     end of each period: where they have changed it plans again, and binds such a worker anew,
 *     also where its goal is the same: before Linux 6.2 such a change undoes its masks.
 * ROWS  A failure of one row stops no other. A process whose record another cpubind holds is
 *     left alone, and tried again at the end of each period of a watch.
 * CHANGES  Those of ../linux/bind/bind.h, for each process alone, each on its own record; close
 *     leaves all processes bound.
 */
#ifndef CPUBIND_HOST_BIND_H
#define CPUBIND_HOST_BIND_H

#include "host_workers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What somebody has said about a process. */
typedef enum cpubind_host_claim {
    CPUBIND_CLAIM_NONE,
    CPUBIND_CLAIM_LEAVE, /* it is left alone */
    CPUBIND_CLAIM_ADOPT, /* it is bound by somebody else, and watched, whatever `wants` says */
    CPUBIND_CLAIM_TAKE   /* it is bound by the plan */
} cpubind_host_claim;

/* The facts and the plan of the devices of a host. */
typedef struct cpubind_host_plan {
    cpubind_problem_code code; /* why there is no plan, or NONE */
    cpubind_problem problem;
    cpubind_facts facts;
    int has_facts;
    cpubind_device_plan plan; /* code NONE */
    cpubind_arena arena;
} cpubind_host_plan;

typedef struct cpubind_host_options {
    /* device, visible, rank, wants_pci and n_process are chosen here; allowed: NULL, or the
     * CPUs that every worker may have. */
    cpubind_request request;
    int has_listed;                     /* 1: devices whose driver lists its users: Ascend's */
    int is_listed_alone;                /* 1: whose workers alone; the others keep their CPUs */
    const cpubind_pci_request *devices; /* whose workers of the bus; the other accelerators keep
                                           their CPUs. NULL: none. Borrowed until close */
    int32_t pid; /* of devices whose driver lists no users, the files of this process alone are
                    looked at; 0: those of all, and the variables of those without one */
    const cpubind_thread_wish *wish;
    int32_t n_wish;
    cpubind_threads threads;   /* whose threads and interrupts: those of vllm-ascend or all */
    cpubind_bind_options bind; /* of each process; pid and the paths are chosen here */
    const cpubind_source *source; /* what the plan is made from; NULL: this host */
    const char *root;             /* a folder with the list of the workers, which is opened for
                                     each listing; NULL: `source` has it, else this host */
    int moves_nics;               /* 1: the interrupts of network cards, too */
    int respects_masks;           /* 1: leave processes alone that have masks of their own */
    int keeps_others;             /* 1: put the others on the CPUs that the plan keeps */
    int32_t tree;                 /* the process whose tree alone is bound; 0: the whole host.
                                     It may have the CPUs that this process had before it was
                                     bound, unless the request names them. This process itself,
                                     and those above it, are never bound */
    /* Whether a process is to be bound, by its program and the name of its main thread, which
     * may change until it is bound. NULL: every one. */
    int (*wants)(void *ctx, const char *program, const char *name);
    void *wants_ctx;
    /* Of the one owner of a host's state: what was said about a process, and that it is taken
     * from now on. Then the owner watches every process on record of this user, and does not
     * move one that it has not taken until the plan for it changes. NULL: this call is no
     * owner, and binds every worker by the plan. */
    cpubind_host_claim (*claim)(void *ctx, int32_t pid, uint64_t start);
    void (*take)(void *ctx, int32_t pid, uint64_t start);
    void *claim_ctx;
    /* Hears of processes that are bound by plans of other rules than `rules`, before a plan is
     * put into effect, and when their number has changed. Or NULL. */
    void (*hear_rules)(void *ctx, const cpubind_other_rules *others, const char *rules);
    void *hear_rules_ctx;
    const cpubind_sys *sys; /* NULL: the real calls */
} cpubind_host_options;

typedef struct cpubind_host_bind cpubind_host_bind;

/* Opens the host; nothing is read yet.
 *   errors  ERR_OPEN; ERR_MEMORY */
cpubind_linux_status cpubind_host_bind_open(const cpubind_host_options *options,
                                            cpubind_host_bind **out,
                                            cpubind_linux_fault *fault);

/* Finds the workers, plans, and binds each. With is_watching in options->bind, it asks the
 * kernel for events, too.
 *   returns the code of the plan: NONE, also when rows have failed */
cpubind_problem_code cpubind_host_bind_apply(cpubind_host_bind *h);

/* Plans as for a call, and changes nothing: the plan says which CPUs it keeps.
 *   returns as apply */
cpubind_problem_code cpubind_host_bind_prepare(cpubind_host_bind *h);

/* Finds the workers and plans for them, as apply does, and changes nothing.
 *   returns as apply */
cpubind_problem_code cpubind_host_bind_find(cpubind_host_bind *h);

/* The goal that apply would give a process, after cpubind_host_bind_find.
 *   out     *out: borrows from the plan and from *arena, whose base the caller frees after it;
 *           *sum: of its content, 0 on failure
 *   errors  those of the plan; BAD_REQUEST: apply binds no such process: an other, a child, one
 *           of several devices, none that is a row */
cpubind_problem_code cpubind_host_bind_goal(cpubind_host_bind *h, int32_t pid,
                                            cpubind_arena *arena, cpubind_goal *out,
                                            uint64_t *sum, cpubind_problem *problem);

/* Reads who uses the devices, and plans for them, for cpubind_host_status_read; changes
 * nothing. Where nobody uses a device the plan is of all online CPUs.
 *   returns the code of the facts: NONE, also when it is not known who uses devices
 *           (cpubind_host_bind_unlisted), or when there is no plan */
cpubind_problem_code cpubind_host_bind_survey(cpubind_host_bind *h);

/* Why it is not known who uses devices; code NONE: it is. */
const cpubind_problem *cpubind_host_bind_unlisted(const cpubind_host_bind *h);

/* Whether the tree has ended: its first process, and every process that is bound. */
int cpubind_host_bind_is_over(cpubind_host_bind *h);

/* Puts back what processes that have ended used on the host; those that live stay bound. */
void cpubind_host_bind_end(cpubind_host_bind *h);

/* Waits for events or the end of the period, and puts right what is not: threads that were born
 * or moved, workers that were started, other programs, workers that have ended.
 *   in      after apply */
void cpubind_host_bind_again(cpubind_host_bind *h, int32_t period_ms);

/* Ends the wait of cpubind_host_bind_again when a descriptor can be read; -1: none. */
void cpubind_host_bind_wake_at(cpubind_host_bind *h, int fd);

/* Lists the workers and binds those that are due, without waiting: somebody has said something
 * about processes. */
void cpubind_host_bind_look(cpubind_host_bind *h);

/* Binds a process by the plan, or with pid 0 every one, that somebody else has bound; then as
 * cpubind_host_bind_look. */
void cpubind_host_bind_take(cpubind_host_bind *h, int32_t pid);

/* Lets go of a process: releases its lock, and restores it first where was_bound is not NULL,
 * also one that is no row. With pid 0 of every one, and restores none.
 *   out     *was_bound: there was something to restore
 *   errors  of cpubind_bind_open and cpubind_bind_restore: it is as before. A process that its
 *           own user has bound is none */
cpubind_linux_status cpubind_host_bind_let_go(cpubind_host_bind *h, int32_t pid, uint64_t start,
                                              int *was_bound, cpubind_linux_fault *fault);

/* Compares each worker, and every other process on record, with its record; changes nothing.
 *   returns as apply */
cpubind_problem_code cpubind_host_bind_verify(cpubind_host_bind *h);

/* The rows, by device and process, the others last. Valid until the next call. */
int32_t cpubind_host_bind_n(const cpubind_host_bind *h);
const cpubind_worker *cpubind_host_bind_row(const cpubind_host_bind *h, int32_t i);

/* The row of a process, or NULL. */
const cpubind_worker *cpubind_host_bind_of(const cpubind_host_bind *h, int32_t pid);

/* How many programs may use a device, and nobody knows: their files may not be read. */
int32_t cpubind_host_bind_unseen(const cpubind_host_bind *h);

/* Compares a process with its record, and changes nothing: beside the binding that the host has
 * of it, if `worker` is a copy of a row. Names the device of one that uses none by its record.
 *   in      how: is_reading
 *   out     its binding, which the caller closes, report, record_path and other_device; *state:
 *           UNBOUND, DRIFTED or RIGHT
 *   errors  of cpubind_bind_open, cpubind_bind_verify: *state is as it was */
cpubind_linux_status cpubind_host_compare(const cpubind_host_bind *h, cpubind_worker *worker,
                                          const cpubind_bind_options *how,
                                          cpubind_host_state *state,
                                          cpubind_linux_fault *fault);

/* The facts and the plan of the last call. */
const cpubind_host_plan *cpubind_host_bind_plan(const cpubind_host_bind *h);

/* The engine of that plan: of the options, or of the workers that were listed. */
const cpubind_engine_request *cpubind_host_bind_engine(const cpubind_host_bind *h);

/* Why the kernel sends no events; error 0: it does, or was not asked. */
cpubind_linux_fault cpubind_host_bind_no_events(const cpubind_host_bind *h);

/* Releases all locks; the processes stay bound. NULL is allowed. */
void cpubind_host_bind_close(cpubind_host_bind *h);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_HOST_BIND_H */
