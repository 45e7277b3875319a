/* facts.h - from the inputs of a host to its facts: CPUs, nodes, NPUs, running processes
 * SPDX-License-Identifier: MIT
 *
 * Pure: bytes come from a source (source.h), memory from the caller's arena. Only inputs that
 * the request needs are read:
 *   - the NPUs on the PCI bus for slices, the threads a core for clusters;
 *   - npu-smi info for the process table, unless the request names NPUs, and for PCI addresses;
 *   - a board (npu-smi info -t board) for a PCI address that is not known: of an NPU without an
 *     affinity, or when the request wants addresses and the product binds interrupts.
 * An input that fails is a problem only if no other input tells the same.
 */
#ifndef CPUBIND_ASCEND_FACTS_H
#define CPUBIND_ASCEND_FACTS_H

#include <stddef.h>

#include "../source.h"
#include "npusmi.h"
#include "products.h"

#ifdef __cplusplus
extern "C" {
#endif

/* == Memory ================================================================= */

/* A block of memory of the caller from which the facts and the plan are allocated. Single
 * allocations are not freed; the caller frees the whole block. */
typedef struct cpubind_arena {
    char *base;  /* the caller's block, aligned as malloc aligns */
    size_t size; /* bytes */
    size_t used; /* bytes */
} cpubind_arena;

/* `n` elements of `size` bytes each, or NULL when the block is full. Never NULL for n == 0. */
static inline void *cpubind_arena_take(cpubind_arena *arena, int32_t n, size_t size)
{
    size_t start = (arena->used + 15u) & ~(size_t)15u;
    if (n < 0 || start > arena->size || (size_t)n > (arena->size - start) / size)
        return NULL;
    arena->used = start + (size_t)n * size;
    return arena->base + start;
}

static inline int32_t *cpubind_arena_ints(cpubind_arena *arena, int32_t n)
{
    return (int32_t *)cpubind_arena_take(arena, n, sizeof(int32_t));
}

/* == What can go wrong ====================================================== */

/* (name, code for machines, exit status of the command). 1: no plan is possible; 3: the host
 * could not be read. */
#define CPUBIND_PROBLEM_LIST(X)                                                                \
    X(TOO_FEW_CPUS, "too_few_cpus", 1)                                                         \
    X(NO_LOCAL_CPUS, "no_local_cpus", 1)                                                       \
    X(NO_RUNNING_NPU, "no_running_npu", 1)                                                     \
    X(UNKNOWN_NPU, "unknown_npu", 1)                                                           \
    X(OVERLAP, "overlap", 1)                                                                   \
    X(NOT_ARM, "not_arm", 1)                                                                   \
    X(SKIPPED, "skipped", 1)                                                                   \
    X(UNREADABLE, "unreadable", 3)                                                             \
    X(NO_NPU_SMI, "no_npu_smi", 3)                                                             \
    X(UNKNOWN_TYPE, "unknown_device_type", 3)                                                  \
    X(NO_MEMORY, "no_memory", 3)

typedef enum cpubind_problem_code {
    CPUBIND_PROBLEM_NONE = 0,
#define CPUBIND_X(name, code, exit) CPUBIND_PROBLEM_##name,
    CPUBIND_PROBLEM_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_problem_code;

/* A refusal or a fault, with the details for a message. Text is static or borrowed. */
typedef struct cpubind_problem {
    cpubind_problem_code code;
    const char *input;    /* the input at fault, or NULL */
    cpubind_input answer; /* how the source answered for it */
    int32_t offset;       /* byte of answer.data, or -1: no place */
    const char *what;     /* static English clause, or NULL */
    int32_t npu, other;   /* logic ids, or -1 */
    int32_t cpu;          /* CPU id, or -1 */
    int32_t need, have;   /* CPUs; 0, 0 when the problem is not about numbers */
} cpubind_problem;

/* Warnings, which do not stop a plan: (name, code for machines). */
#define CPUBIND_WARNING_LIST(X)                                                                \
    X(NO_STATUS, "no_status")       /* all online CPUs count as allowed */                     \
    X(OFFLINE, "offline")           /* allowed CPUs that are offline are left out */           \
    X(NODE_MAP, "node_map")         /* nodes come from lscpu, not from /sys */                 \
    X(NO_NODES, "no_nodes")         /* no nodes are known: all CPUs count as one */            \
    X(NO_MAP, "no_map")             /* no info -m: ids count as logic ids */                   \
    X(UNKNOWN_CHIP, "unknown_chip") /* chips that npu-smi cannot query are left out */         \
    X(EXIT_CODE, "exit_code")       /* npu-smi answered, its exit status is not 0 */           \
    X(VISIBLE_TAIL, "visible_tail") /* the visible devices were not read to their end */       \
    X(NO_AFFINITY, "no_affinity")   /* affinity of an NPU unknown: global_slice is used */     \
    X(PCI_AFFINITY, "pci_affinity") /* from the kernel, npu-smi has none */                    \
    X(AFFINITY_DIFFERS, "affinity_differs") /* npu-smi and the kernel disagree */              \
    X(NO_NUMA_NODE, "no_numa_node")         /* npu-smi says node 0, the kernel no node */      \
    X(ONLY_LOGIC_IDS, "only_logic_ids") /* slices by numbers that may differ in containers */  \
    X(RESOLVED, "resolved")             /* the rule gave CPUs twice; resolved */               \
    X(OVERLAP, "overlap")               /* the plan gives CPUs twice, as asked */              \
    X(NO_SPARE, "no_spare")             /* no CPU is left for the host's UVB threads */

typedef enum cpubind_warning {
#define CPUBIND_X(name, code) CPUBIND_WARNING_##name,
    CPUBIND_WARNING_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_WARNING_COUNT
} cpubind_warning;

/* == What is asked ========================================================== */

/* The request: the options of the caller, and facts that it knows already. Arrays are
 * borrowed. */
typedef struct cpubind_request {
    cpubind_device_type type; /* AUTO: from chip names, else from PCI ids */
    int32_t is_auto_strategy; /* 1: by the device type; 0: `strategy` */
    cpubind_strategy strategy;
    cpubind_overlap overlap;
    const int32_t *npu;     /* logic ids, strictly ascending, instead of the process table; or
                            NULL */
    int32_t n_npu;          /* their number */
    const char *visible;    /* instead of ASCEND_RT_VISIBLE_DEVICES; or NULL */
    int32_t visible_len;    /* bytes */
    int32_t rank;           /* >= 0 */
    const int32_t *allowed; /* CPUs, strictly ascending, instead of proc/self/status; or NULL */
    int32_t n_allowed;
    const int32_t *exclude; /* CPUs, strictly ascending, that no pool may have; or NULL */
    int32_t n_exclude;
    int32_t wants_pci; /* 1: find the PCI addresses of running NPUs, for interrupts; an
                          address that is not found is no problem */
} cpubind_request;

/* == What is known ========================================================== */

/* How the CPUs near an NPU by the kernel (numa_node and local_cpulist of its PCI function)
 * compare with those by npu-smi. Offline CPUs do not count. */
typedef enum cpubind_locality {
    CPUBIND_LOCALITY_UNKNOWN = 0, /* the kernel names none, or the PCI address is not known */
    CPUBIND_LOCALITY_SAME = 1,
    CPUBIND_LOCALITY_TAKEN = 2,   /* npu-smi names none: the kernel's are used */
    CPUBIND_LOCALITY_DIFFERS = 3, /* npu-smi's are used */
    CPUBIND_LOCALITY_NO_NODE = 4  /* the kernel has no node for it; npu-smi says node 0 */
} cpubind_locality;

/* One logical NPU. An id that is not known is -1. */
typedef struct cpubind_npu {
    int32_t logic;           /* the number that a runtime in this container uses */
    int32_t card, chip;      /* the numbers in the tables of npu-smi */
    int32_t phy;             /* the number that the host uses */
    int32_t affinity_first;  /* its CPUs in facts->affinity */
    int32_t affinity_count;  /* 0: not known */
    cpubind_pci_address pci; /* domain -1: not known, or not needed */
    cpubind_locality locality;
    int32_t is_running; /* named by the request, or in the process table */
} cpubind_npu;

typedef struct cpubind_facts {
    int32_t *cpu, *node, n_cpu; /* allowed CPUs without the excluded ones, ascending, and the
                                   node id of each */
    int32_t *node_id, n_node;   /* nodes that have CPUs, ascending */
    int32_t *node_of;           /* node id of every CPU id, allowed or not, -1: on no node;
                                   CPUBIND_MAX_CPUS elements */
    int32_t n_cpu_id;           /* one past the highest CPU id that is on a node */
    cpubind_npu *npu;           /* by ascending logic id */
    int32_t n_npu;
    int32_t n_unknown;    /* further chips, which npu-smi lists and cannot query */
    int32_t *affinity;    /* CPUs, allowed or not, list after list */
    int32_t has_affinity; /* some NPU has a list */
    cpubind_device_type type;
    cpubind_strategy strategy; /* of the plan: asked for or of the product; slices instead of
                                  topo_affinity where the affinity is not known */
    int32_t threads;           /* threads a core, or 0: not known */
    int32_t n_census;          /* NPUs of the host by /sys/bus/pci, or 0: not known */
    int32_t has_processes;     /* npu-smi info has a process table; 0 when the request names
                                  NPUs */
    int32_t has_phy;           /* every NPU has a phy id */
    const char *visible;       /* text of the visible devices, or NULL: all */
    int32_t visible_len;       /* bytes */
    int32_t *visible_id, n_visible;
    uint32_t warnings; /* bits 1 << cpubind_warning */
} cpubind_facts;

/* The facts of a host.
 *   in      source, request; an arena of 1 MiB is enough for most hosts
 *   out     *out; on a problem it holds the facts that were read before, for the message
 *   errors  a code of CPUBIND_PROBLEM_LIST, and *problem; NO_MEMORY: try a larger arena
 *   cost    O(bytes read), and NPUs x rows of npu-smi */
cpubind_problem_code cpubind_facts_read(const cpubind_source *source,
                                        const cpubind_request *request, cpubind_arena *arena,
                                        cpubind_facts *out, cpubind_problem *problem);

/* Counts; -1: not known, for its inputs are absent or damaged. */
typedef struct cpubind_host_counts {
    int32_t cpus;  /* online CPUs, allowed or not: of cpu/online, else on nodes */
    int32_t nodes; /* nodes with online CPUs, by /sys or lscpu */
    int32_t npus;  /* logical NPUs of npu-smi info -m; 0 when npu-smi says that there is none */
} cpubind_host_counts;

/* Counts a host. It never fails: a count that is not known, or for which the arena is too
 * small, is -1, and does not affect the other counts.
 *   in      an arena of 1 MiB is enough for most hosts; it is given back
 *   cost    O(bytes read) */
cpubind_host_counts cpubind_host_counts_read(const cpubind_source *source,
                                             cpubind_arena *arena);

/* Makes *problem hold no problem: no code, no place, no ids. */
void cpubind_problem_clear(cpubind_problem *problem);

/* The word of a problem, "too_few_cpus", and its exit status; the word of a warning,
 * "no_status". Static storage. */
const char *cpubind_problem_word(cpubind_problem_code code);
int32_t cpubind_problem_exit(cpubind_problem_code code);
const char *cpubind_warning_word(cpubind_warning warning);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_FACTS_H */
