/* host_workers.h - the workers of the live host: the processes that use its devices
 * SPDX-License-Identifier: MIT
 *
 * Reads /proc, cgroups and the records of bound processes; changes nothing. Who uses which
 * device is told by ../model/vendor.h and host_users.h. A process that ends meanwhile is left
 * out, and what cannot be read of one worker is in its row alone.
 */
#ifndef CPUBIND_HOST_HOST_WORKERS_H
#define CPUBIND_HOST_HOST_WORKERS_H

#include "../linux/bind/bind.h"
#include "../linux/kernel/files.h"
#include "../model/vendor.h"
#include "host_pod.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CPUBIND_CONTAINER_SIZE 13
#define CPUBIND_VISIBLE_SIZE   64

/* A fork of a worker, which belongs to it: lineage.h. */
typedef struct cpubind_child {
    int32_t pid;
    int32_t parent; /* the worker */
    int32_t device; /* of both, as the list has it */
    uint64_t start; /* field 22 of its stat */
} cpubind_child;

/* A process that uses a device. One that uses several has a row for each. */
typedef struct cpubind_worker {
    int32_t pid;
    int32_t device; /* as the list has it */
    uint64_t start; /* field 22 of its stat; 0: not known */
    /* Why this worker cannot be read, with an errno and the step; error 0: it can. ESRCH,
     * "pid namespace": the pid is of another pid namespace than this process. */
    cpubind_linux_fault fault;
    char name[16];                      /* of its main thread */
    char program[CPUBIND_PROGRAM_SIZE]; /* of its executable, else `name` */
    char
        container[CPUBIND_CONTAINER_SIZE]; /* the first 12 characters of its id; "": the host */
    cpubind_pod pod;
    int32_t rank;              /* -1: its environment has none */
    const char *rank_variable; /* "RANK"; NULL with rank -1. Static text */
    char visible
        [CPUBIND_VISIBLE_SIZE]; /* the variable of its runtime, cut to fit; "": not set */
    int32_t environ_error;      /* errno: its environment cannot be read; else 0 */
    int32_t index;              /* among the workers of its device, by start, then pid */
    int32_t n_index;            /* workers of its device */
    int32_t n_child;            /* forks of it, which share what it has of its device */
    cpubind_cpus allowed;       /* the CPUs that it may have, as if nothing were bound */
    cpubind_cpus mask;          /* its main thread's; empty: not known */
    /* The CPUs that variables DRA_CPUSET_* of its environment name: a claim on CPUs of its own,
     * as the CPU driver of Kubernetes writes it; empty: none. What holds is the cpuset. */
    cpubind_cpus claimed;
    int32_t is_claim_bad; /* one of them is no list of CPUs: none of them counts */
    int32_t is_bound;     /* a record says that cpubind has bound it */
    int32_t bound_number; /* the number of the device on record; -1: none, not known */
    char bound_rules[CPUBIND_RULES_SIZE]; /* of the plan on record; "": none, not known */
    int32_t has_own_mask; /* not bound, and its main thread has fewer CPUs than its cpuset */
} cpubind_worker;

/* The workers of a host. All zero is an empty list. */
typedef struct cpubind_workers {
    cpubind_worker *row; /* by device, then by start and pid */
    int32_t n;
    cpubind_child *child; /* the forks of all */
    int32_t n_child;
    int32_t n_ended; /* entries of the driver whose process has ended, or is hidden from here */
    int32_t is_other_namespace; /* this process is in another pid namespace than the driver's
                                   numbers: a row counts only if it uses the driver */
    void *memory;               /* private */
} cpubind_workers;

/* Reads the workers. Of a list that was read from this /proc, `visible` is the first variable
 * of any runtime that is set.
 *   in      list: who uses which device; sys: the system calls; NULL for the real ones
 *   out     *out, to be freed; empty on failure
 *   errors  ERR_MEMORY; ERR_OPEN: "/" cannot be opened
 *   cost    some ten files of each process */
cpubind_linux_status cpubind_workers_read(const cpubind_users *list, const cpubind_sys *sys,
                                          cpubind_workers *out, cpubind_linux_fault *fault);

/* Reads the CPUs of the cpuset that holds a process: of its cgroup. Where the cgroups of other
 * containers are hidden from this one, they are read where the process itself sees its own.
 *   in      root: "/"; cpu: CPUBIND_MAX_CPUS elements
 *   out     *n: of them, ascending; 0: not known
 *   errors  "memory"; those of reading: not known
 *   cost    three files */
cpubind_linux_fault cpubind_worker_cpuset(cpubind_root *root, int32_t pid, int32_t *cpu,
                                          int32_t *n);

/* Frees what a call has read. */
void cpubind_workers_free(cpubind_workers *workers);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_HOST_HOST_WORKERS_H */
