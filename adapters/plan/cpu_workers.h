/* cpu_workers.h - CPUs for workers that drive no device, beside those of accelerators
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc; memory comes from the caller's arena. It must not know of devices:
 * the caller says which CPUs are free.
 */
#ifndef CPUBIND_PCI_CPU_WORKERS_H
#define CPUBIND_PCI_CPU_WORKERS_H

#include "../model/engine.h"
#include "../model/pools.h"
#include "../text/arena.h"
#include "../text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cpubind_cpu_worker {
    const int32_t *cpu; /* ascending */
    int32_t n_cpu;
    const int32_t *node; /* of these CPUs, ascending */
    int32_t n_node;
} cpubind_cpu_worker;

typedef struct cpubind_workers {
    cpubind_cpu_worker *worker;
    int32_t n_worker;
    int32_t n_core; /* free whole cores */
} cpubind_workers;

/* (name, what it means). */
#define CPUBIND_WORKERS_LIST(X)                                                                \
    X(OK, "done")                                                                              \
    X(NO_MEMORY, "the arena is full: try a larger one")                                        \
    X(NO_NODE, "cpu-nodes names a node that has no whole core for CPU workers")                \
    X(NO_CPUS, "no whole core is free for CPU workers")                                        \
    X(TOO_MANY, "there are more CPU workers than free cores")                                  \
    X(RESERVED, "a CPU worker has no CPU but those that are left free: reserve fewer")

typedef enum cpubind_workers_status {
#define CPUBIND_X(name, text) CPUBIND_WORKERS_##name,
    CPUBIND_WORKERS_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_workers_status;

/* Shares free CPUs among workers, by whole cores.
 *   in      host: the allowed CPUs, with cores; is_free[i]: CPU host->cpu[i] may be taken. A
 *           core with a CPU that is not free is not taken
 *   out     *out, in the arena. As many workers as nodes or more: each is on one node, and the
 *           workers of a node share its cores evenly, the first ones more. Fewer: runs of
 *           nodes, by id. What is left free are the last cores of each worker, then, once,
 *           those of the last worker and the ones before it, in whole cores
 *   errors  the statuses above; NO_NODE: out->n_worker is that node
 *   cost    O(CPUs * CPUs of a core + workers * nodes) */
cpubind_workers_status cpubind_cpu_workers(const cpubind_topology *host, const uint8_t *is_free,
                                           const cpubind_workers_asked *asked,
                                           cpubind_arena *arena, cpubind_workers *out);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PCI_CPU_WORKERS_H */
