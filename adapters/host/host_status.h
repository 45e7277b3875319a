/* host_status.h - every device of a host: who runs on it, where threads, memory and interrupts
 *     are
 * SPDX-License-Identifier: MIT
 *
 * Reads processes, records and interrupts; changes nothing. A worker that is bound is compared
 * with its record, another one with the plan. What cannot be read of one worker is in its row.
 */
#ifndef CPUBIND_HOST_HOST_STATUS_H
#define CPUBIND_HOST_HOST_STATUS_H

#include "host_workers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a thread, an interrupt or a whole worker is: (name, word). A later place counts for a
 * worker of which the parts are in several. */
#define CPUBIND_PLACE_LIST(X)                                                                  \
    X(RIGHT, "right")         /* where it belongs */                                           \
    X(UNKNOWN, "unknown")     /* it could not be read */                                       \
    X(UNBOUND, "unbound")     /* a thread: on all CPUs that its process may have */            \
    X(ELSEWHERE, "elsewhere") /* anywhere else */

typedef enum cpubind_place_kind {
#define CPUBIND_X(name, word) CPUBIND_PLACE_##name,
    CPUBIND_PLACE_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_PLACE_COUNT
} cpubind_place_kind;

/* "elsewhere". Static storage. */
const char *cpubind_place_word(cpubind_place_kind place);

/* Memory of a worker on one node. */
typedef struct cpubind_status_node {
    int32_t node;
    int64_t bytes;
} cpubind_status_node;

/* A worker. The texts are in the arena. */
typedef struct cpubind_status_worker {
    const cpubind_worker *worker;
    cpubind_place_kind place;
    cpubind_linux_fault fault;   /* why it has not been compared; error 0: it has */
    cpubind_linux_status status; /* of bind.h, with this fault; OK: the fault is that of its row
                                    in the list of workers, or ENOENT, "plan": no pool */
    int32_t n_thread;
    int32_t thread[CPUBIND_ROLE_COUNT][CPUBIND_PLACE_COUNT]; /* threads, by role and place */
    const char *cpuset;      /* the CPUs of its own cgroup, "0-23"; NULL: it has none */
    int32_t is_on_other_npu; /* it is bound for another NPU than the one that it uses */
    int32_t memory_node;     /* that its memory belongs on; -1: none */
    int32_t has_memory;
    int32_t memory_error;            /* errno: why memory is not known */
    int64_t own_near, own_away;      /* bytes that it alone maps: on that node; on others */
    const cpubind_status_node *node; /* all its memory, shared pages too */
    int32_t n_node;
} cpubind_status_worker;

typedef struct cpubind_status_irq {
    int32_t irq;
    const char *kind; /* "sq", "cq" or "mailbox"; static text */
    int32_t cpu;      /* where it belongs */
    const char *cpus; /* that may serve it, "0-191"; NULL: not known */
    cpubind_place_kind place;
} cpubind_status_irq;

/* A plan, and the facts that it was made from. */
typedef struct cpubind_status_plan {
    const cpubind_facts *facts;
    const cpubind_ascend_plan *plan;
} cpubind_status_plan;

/* An NPU, or an accelerator of another vendor. */
typedef struct cpubind_status_device {
    int32_t device;                  /* index into facts->npu, or into `goal` of the request */
    const cpubind_status_plan *plan; /* that has it; NULL: it has no pool */
    int32_t row;                     /* of that plan, or of `goal`; -1: it has no pool */
    int32_t first_worker, n_worker;
    const cpubind_status_irq *irq;
    int32_t n_irq;
    cpubind_no_irq no_irq;        /* why n_irq is 0 */
    cpubind_place_kind irq_place; /* of all interrupts; RIGHT without any */
} cpubind_status_device;

typedef struct cpubind_host_status {
    cpubind_status_device *device; /* by logic id */
    int32_t n_device;
    cpubind_status_worker *worker; /* as in the list of workers */
    int32_t n_worker;
    int32_t n_idle;                     /* devices without a worker */
    int32_t count[CPUBIND_PLACE_COUNT]; /* workers, by place */
    int32_t n_irq_elsewhere;            /* interrupts of devices with workers */
    int32_t is_hidden_from_user; /* memory or environment of some worker: EACCES or EPERM */
} cpubind_host_status;

/* What is looked at. Borrowed. */
typedef struct cpubind_status_request {
    const cpubind_source *source; /* for the interrupts */
    const cpubind_facts *facts;   /* of a request with wants_pci */
    /* In place of facts and plans: accelerators of other vendors, and what their workers
     * belong to. A goal without CPUs of main is that of a device without a pool. */
    const cpubind_goal *goal;
    int32_t n_goal;
    const cpubind_status_plan *plan; /* an NPU is in one of them at most; each is made of the
                                        same NPUs as `facts` */
    int32_t n_plan;                  /* 0: records alone count */
    const cpubind_workers *workers;
    const cpubind_thread_wish *wish; /* of the goals of workers that are not bound */
    int32_t n_wish;
    cpubind_threads threads;
    const cpubind_sys *sys; /* NULL: the real calls */
    int32_t has_no_memory;  /* 1: do not measure memory */
} cpubind_status_request;

/* Looks at the host.
 *   out     *out, in the arena
 *   errors  NO_MEMORY
 *   cost    two system calls a thread; the kernel walks the memory of each worker */
cpubind_problem_code cpubind_host_status_read(const cpubind_status_request *request,
                                              cpubind_arena *arena, cpubind_host_status *out);

/* Whether a worker or its NPU's interrupts are not where they belong. */
int cpubind_host_status_is_right(const cpubind_host_status *status);

/* Whether more than a tenth of the own memory of a worker is on other nodes. */
int cpubind_status_memory_is_away(const cpubind_status_worker *worker);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_HOST_HOST_STATUS_H */
