/* host_workers.h - one process of the live host: what is known of it, and what was done for it
 * SPDX-License-Identifier: MIT
 *
 * Reads /proc, cgroups and the records of bound processes; changes nothing. Who uses which
 * device is told by ../model/vendor.h and host_users.h. What cannot be read of one process is
 * in its row alone.
 */
#ifndef CPUBIND_HOST_HOST_WORKERS_H
#define CPUBIND_HOST_HOST_WORKERS_H

#include "../linux/bind/bind.h"
#include "../linux/kernel/files.h"
#include "../model/vendor.h"
#include "../plan/plan.h"
#include "host_pod.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CPUBIND_CONTAINER_SIZE 13
#define CPUBIND_VISIBLE_SIZE   64

/* How a row has ended: (name, word). */
#define CPUBIND_HOST_STATE_LIST(X)                                                             \
    X(BOUND, "bound")     /* apply: `report` says what was moved */                            \
    X(RIGHT, "right")     /* verify: it is where it belongs */                                 \
    X(DRIFTED, "drifted") /* verify: it is elsewhere */                                        \
    X(UNBOUND, "unbound") /* verify: nothing is on record of it */                             \
    X(FAILED, "failed")   /* `status` and `fault`, or `problem`, say why */                    \
    X(BUSY, "busy")       /* another cpubind works on it or watches it */                      \
    X(LEFT, "left")       /* it has a mask of its own, and respects_masks is set */            \
    X(ENDED, "ended")     /* the process has ended; what it used on the host was put back */

typedef enum cpubind_host_state {
#define CPUBIND_X(name, word) CPUBIND_HOST_##name,
    CPUBIND_HOST_STATE_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_host_state;

/* "bound". Static storage. */
const char *cpubind_host_state_word(cpubind_host_state state);

/* A process: a worker, a child of one, or an other (host_bind.h has these terms). Its arrays
 * and its binding are freed with it. */
typedef struct cpubind_worker {
    /* == Who it is: read when it is found, and kept == */
    int32_t pid;
    uint64_t start;                     /* field 22 of its stat; 0: not known */
    char name[16];                      /* of its main thread; "": not read */
    char program[CPUBIND_PROGRAM_SIZE]; /* of its executable, else `name` */
    int has_program; /* 0: which program it is could not be read: that is its thread's name */
    char
        container[CPUBIND_CONTAINER_SIZE]; /* the first 12 characters of its id; "": the host */
    cpubind_pod pod;                       /* of a worker */
    int32_t rank;                          /* -1: its environment has none */
    const char *rank_variable;             /* "RANK"; NULL with rank -1. Static text */
    char visible
        [CPUBIND_VISIBLE_SIZE]; /* the variable of its runtime, cut to fit; "": not set */
    int32_t environ_error;      /* errno: its environment cannot be read; else 0 */
    /* The CPUs that it may have, as if nothing were bound, ascending; n 0: not known. A watch
     * reads them again. */
    cpubind_cpus allowed;
    cpubind_cpus mask; /* its main thread's, when it was found; n 0: not known */
    /* The CPUs that variables DRA_CPUSET_* of its environment name: a claim on CPUs of its own,
     * as the CPU driver of Kubernetes writes it; n 0: none. What holds is the cpuset. */
    cpubind_cpus claimed;
    int is_claim_bad;                     /* one of them is no list of CPUs: none counts */
    int32_t is_bound;                     /* a record says that cpubind has bound it */
    int32_t bound_number;                 /* of the device on record; -1: none, not known */
    char bound_rules[CPUBIND_RULES_SIZE]; /* of the plan on record; "": none, not known */
    int has_own_mask; /* not bound, and its main thread has fewer CPUs than its cpuset */

    /* == What it drives, and with whom: by the last listing == */
    int32_t device;   /* that it uses first: an index into the facts; -1: an other */
    int32_t *devices; /* all of them, ascending: n_device; NULL: a child, an other */
    int32_t n_device;
    int is_of_one; /* only a process of one such device is bound */
    char name_of_device[CPUBIND_DEVICE_NAME_SIZE]; /* "npu3", else its address; "": it is not
                                                      one device */
    int32_t number; /* the logic id of the device, or on record; -1: it has none */
    char pci[CPUBIND_PCI_ADDRESS_MAX]; /* the address of a device without logic id; "": it is
                                          not one such device */
    const char *product;               /* of that device; NULL: not known. Static text */
    int32_t n_process, process;        /* workers of the device, and which of them, from 0 */
    int32_t n_child; /* forks of it, which share what it has; most of them have no row */
    int32_t parent;  /* it is such a fork of this worker; 0: it is none */
    int32_t part;    /* of an other: what it is of the engine, of cpubind_beside_kind; or -1 */

    /* == What the last call did == */
    cpubind_host_state state;
    int is_news;        /* it has changed the state, or has a report */
    int is_regranted;   /* it has found that the CPUs of its cpuset have changed */
    int32_t is_sharing; /* its pool is too small for so many: all of them have all of it */
    /* FAILED, BUSY. Of one that cannot be read an errno and the step; ESRCH, "pid namespace":
     * the pid is of another pid namespace than this process. */
    cpubind_linux_status status;
    cpubind_linux_fault fault;
    cpubind_problem problem; /* code NONE: there is none */
    int32_t holder;          /* BUSY: the cpubind at work; 0: not known */
    int is_kept_moving;      /* LEFT: another program moves its threads back; else, unless
                                is_unwanted, it has a mask of its own */
    int is_unwanted;         /* LEFT: `wants` says so */
    int is_let_go;           /* LEFT: `claim` says so */
    int is_adopted;          /* BOUND: by somebody else, and only watched */
    /* The device that its record is for, where that is not the one that it uses; else "". */
    char other_device[CPUBIND_DEVICE_NAME_SIZE];
    const cpubind_outcomes *report;      /* of the last call; NULL: there was none */
    cpubind_binding *binding;            /* NULL: not open */
    const char *record_path;             /* "" without a record */
    char other_path[CPUBIND_PLACE_SIZE]; /* the record that is in the way, or "" */
} cpubind_worker;

/* A worker of which nothing is known but its number: device and the like are -1, the state is
 * UNBOUND. */
cpubind_worker cpubind_worker_of(int32_t pid);

/* Frees what a worker has. */
void cpubind_worker_free(cpubind_worker *worker);

/* Replaces a list of CPUs by a copy, which is not NULL also where it is empty. Returns 0
 * without memory: it stays. */
int cpubind_worker_keep(const cpubind_sys *sys, cpubind_cpus cpus, cpubind_cpus *out);

/* Whether its cpuset has all CPUs of its claim: they are its own then. */
int cpubind_worker_holds_claim(const cpubind_worker *worker);

/* Reads who a process is. Its `visible` is the first variable of the runtimes of the driver
 * that is set, of any runtime where no driver lists it.
 *   in      root: "/"; driver: whose list has it; NULL: it was found in this /proc;
 *           is_foreign: the numbers of the driver are of another pid namespace than this
 *           process: it counts only if it uses the driver
 *   out     *out: to be freed, also on failure. FAILED with `fault` says what of it cannot be
 *           read; ESRCH, "process": it has ended
 *   errors  "memory"
 *   cost    some ten files */
cpubind_linux_fault cpubind_worker_read(const cpubind_root *root, int32_t pid,
                                        const cpubind_vendor *driver, int is_foreign,
                                        cpubind_worker *out);

/* Whether that has found that the process has ended. */
int cpubind_worker_has_ended(const cpubind_worker *worker);

/* Reads the CPUs of the cpuset that holds a process: of its cgroup. Where the cgroups of other
 * containers are hidden from this one, they are read where the process itself sees its own.
 *   in      root: "/"; cpu: CPUBIND_MAX_CPUS elements
 *   out     *n: of them, ascending; 0: not known
 *   errors  "memory"; those of reading: not known
 *   cost    three files */
cpubind_linux_fault cpubind_worker_cpuset(cpubind_root *root, int32_t pid, int32_t *cpu,
                                          int32_t *n);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_HOST_HOST_WORKERS_H */
