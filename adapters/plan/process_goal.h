/* process_goal.h - from the plan of a device to the goal of the process that drives it
 * SPDX-License-Identifier: MIT
 *
 * A plan gives CPUs to the roles of a device. A goal gives CPUs to the threads of a process, by
 * their names, to the interrupts of its device, by their numbers, and names the node for its
 * memory. Pure but for the source; nothing is bound here. The names are those of the row of the
 * device's vendor.
 */
#ifndef CPUBIND_PLAN_PROCESS_GOAL_H
#define CPUBIND_PLAN_PROCESS_GOAL_H

#include "../model/driver_names.h"
#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CPUs, ascending. Borrowed. */
typedef struct cpubind_cpus {
    const int32_t *cpu;
    int32_t n;
} cpubind_cpus;

/* Which CPUs a thread wish names. */
typedef enum cpubind_wish_kind {
    CPUBIND_WISH_ROLE = 0, /* those of `role`; those of main when the pool lacks the role */
    CPUBIND_WISH_POOL,     /* those of all roles: the pool, or the part of it of this process */
    CPUBIND_WISH_LIST,     /* `cpus` */
    CPUBIND_WISH_KEEP, /* those that the plan keeps for the host: the ones near the memory of
                              the device, else all; those of main when it keeps none */
    CPUBIND_WISH_LEAVE /* none: the threads are left where they are */
} cpubind_wish_kind;

/* The CPUs that a caller wants for the threads of some names: --thread PATTERN=ROLE|LIST. A
 * pattern that starts with no `*` or `?` is about the kernel threads, work queues and
 * interrupts of the driver, too. */
typedef struct cpubind_thread_wish {
    const char *name; /* a pattern for cpubind_pattern_make */
    cpubind_wish_kind kind;
    cpubind_role role;
    cpubind_cpus cpus;
} cpubind_thread_wish;

/* The CPUs of the threads of some names. */
typedef struct cpubind_thread_rule {
    const char *name; /* a pattern for cpubind_pattern_make */
    cpubind_cpus cpus;
    int32_t is_left; /* 1: the threads are left where they are; cpus is empty */
} cpubind_thread_rule;

/* A kernel thread or a work queue of the driver, and its CPUs. */
typedef struct cpubind_driver_goal {
    cpubind_named named; /* KERNEL or QUEUE */
    char name[CPUBIND_PATTERN_SIZE];
    cpubind_cpus cpus;
} cpubind_driver_goal;

typedef struct cpubind_goal {
    int32_t device; /* its number for the runtime, or -1: it has an address */
    char pci[CPUBIND_PCI_ADDRESS_MAX]; /* the address of a device without a number; else "" */
    const char *rules; /* the word of the rules of its plan; NULL: not known. Static text */
    cpubind_cpus main; /* of every thread that no rule names */
    cpubind_thread_rule *rule; /* of several rules that name a thread the first counts */
    int32_t n_rule;
    int32_t memory_node;   /* node for the memory of the process, or -1 */
    cpubind_irq_goal *irq; /* by ascending number; the SQ, all CQs and mailboxes;
                              those of network cards */
    int32_t n_irq;
    cpubind_no_irq no_irq;       /* why n_irq is 0; FOUND: all of them are left */
    cpubind_driver_goal *driver; /* kernel threads, then work queues */
    int32_t n_driver;
    cpubind_cpus polling;     /* CPUs of threads of other processes; n 0: leave them */
    const char *polling_name; /* of these threads, as a thread keeps it; static text, or NULL */
    int32_t is_shared;        /* the pool is too small for the processes: each has all of it */
} cpubind_goal;

/* CPUs of a process, role after role. Borrowed. */
typedef struct cpubind_goal_pool {
    const int32_t *cpu;
    int32_t n_cpu;
    cpubind_role_spans roles; /* spans of cpu */
    int32_t memory_node;      /* or -1 */
} cpubind_goal_pool;

/* The CPUs of a role; those of main when the pool lacks the role. */
cpubind_cpus cpubind_goal_cpus_of_role(const cpubind_goal_pool *pool, cpubind_role role);

/* The CPUs of a wish.
 *   in      ascending: the CPUs of the pool; kept: those for KEEP */
cpubind_cpus cpubind_goal_cpus_of_wish(const cpubind_goal_pool *pool, cpubind_cpus ascending,
                                       cpubind_cpus kept, const cpubind_thread_wish *wish);

/* Which goal is wanted. Borrowed. */
typedef struct cpubind_goal_request {
    const cpubind_facts *facts;      /* for interrupts, of a request with wants_pci */
    const cpubind_device_plan *plan; /* made of these facts */
    int32_t row;                     /* of the plan: the device; -1: several, with their ... */
    const cpubind_goal_pool *pool;   /* ... CPUs; NULL: those of the row */
    const cpubind_thread_wish *wish; /* they become rules before the built-in ones */
    int32_t n_wish;
    int32_t n_process; /* 2 or more: so many processes drive the device, this one is ... */
    int32_t process;   /* ... this of them, from 0; else the roles are those of the plan */
    cpubind_threads threads; /* which built-in rules count */
    int32_t moves_nics;      /* 1: the interrupts of its network cards, too */
} cpubind_goal_request;

/* The goal for one device of a plan. Where its pool cannot be cut for so many processes, all of
 * them have all of it. The built-in rules are those of its vendor; a pool without the role
 * has no such rule. Kernel threads and work queues have the phy id of the
 * device in their names: where it is not known they are left.
 *   out     *out, in the arena; its lists may point into the plan
 *   errors  NO_MEMORY; UNREADABLE with the place when /proc/interrupts is damaged */
cpubind_problem_code cpubind_goal_make(const cpubind_source *source,
                                       const cpubind_goal_request *request,
                                       cpubind_arena *arena, cpubind_goal *out,
                                       cpubind_problem *problem);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PLAN_PROCESS_GOAL_H */
