/* host_status.h - every device of a host: who runs on it, where threads, memory and interrupts
 *     are
 * SPDX-License-Identifier: MIT
 *
 * Reads processes, records and interrupts; changes nothing. A worker that is bound is compared
 * with its record, another one with the plan. What cannot be read of one worker is in its row.
 */
#ifndef CPUBIND_HOST_HOST_STATUS_H
#define CPUBIND_HOST_HOST_STATUS_H

#include "host_bind.h"

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

/* What was found of a worker at one of its devices. The texts are in the arena. */
typedef struct cpubind_status_worker {
    const cpubind_worker *worker; /* borrowed from the host */
    cpubind_place_kind place;
    /* Why it has not been compared; error 0: it has. With status OK of bind.h it could not be
     * read, which its row says, too, or ENOENT, "plan": it has no pool. */
    cpubind_linux_fault fault;
    cpubind_linux_status status;
    int32_t n_thread;
    int32_t thread[CPUBIND_ALL_ROLES][CPUBIND_PLACE_COUNT]; /* threads, by role and place */
    int32_t is_on_other; /* it is bound for another device than the one that it uses */
    int32_t memory_node; /* that its memory belongs on; -1: none */
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

/* A device. */
typedef struct cpubind_status_device {
    int32_t device;                   /* its number, as in the rows of a host */
    const cpubind_host_device *found; /* what it is */
    cpubind_cpus pool;                /* n 0: it has none */
    int32_t memory_node;              /* of the pool, or -1 */
    int32_t first_worker, n_worker;
    const cpubind_status_irq *irq;
    int32_t n_irq;
    cpubind_no_irq no_irq;        /* why n_irq is 0 */
    cpubind_place_kind irq_place; /* of all interrupts; RIGHT without any */
} cpubind_status_device;

typedef struct cpubind_host_status {
    const cpubind_status_device *device; /* those with a logic id, then those of the bus */
    int32_t n_device;
    cpubind_status_worker *worker; /* by device, then by start and pid */
    int32_t n_worker;
    int32_t n_idle;                     /* devices without a worker */
    int32_t count[CPUBIND_PLACE_COUNT]; /* workers, by place */
    int32_t n_irq_elsewhere;            /* interrupts of devices with workers */
    int32_t is_hidden_from_user; /* memory or environment of some worker: EACCES or EPERM */
    int32_t n_unseen; /* programs whose files may not be read: they may use a device */
    /* Of the list of a driver */
    int32_t n_hidden, n_elsewhere; /* entries without a pid, or of devices out of view */
    int32_t is_other_namespace;    /* its numbers are of another pid namespace */
} cpubind_host_status;

/* Looks at the host.
 *   in      host: after cpubind_host_bind_survey, which the result borrows from;
 *           has_no_memory: 1: memory is not measured
 *   out     *out, in the arena
 *   errors  NO_MEMORY
 *   cost    two system calls a thread; the kernel walks the memory of each worker */
cpubind_problem_code cpubind_host_status_read(cpubind_host_bind *host, int32_t has_no_memory,
                                              cpubind_arena *arena, cpubind_host_status *out);

/* Whether all workers, and the interrupts of their devices, are where they belong. */
int cpubind_host_status_is_right(const cpubind_host_status *status);

/* Whether more than a tenth of the own memory of a worker is on other nodes. */
int cpubind_status_memory_is_away(const cpubind_status_worker *worker);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_HOST_HOST_STATUS_H */
