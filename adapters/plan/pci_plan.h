/* pci_plan.h - the CPUs of accelerators of any vendor, and of ranks that are bound to a node
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc; memory comes from the caller's arena. The core (cpubind.h) cuts the
 * pools. It must not know of processes, and changes nothing.
 */
#ifndef CPUBIND_PCI_PLAN_H
#define CPUBIND_PCI_PLAN_H

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* == The plan of the devices of a host ====================================== */

/* Adds the devices of facts->device that the Ascend row has not found to facts->device and
 * facts->function, as those of a plan, in arrays of the arena: those that this process may see
 * in the order of their ranks, each with its first rank, counted on from the NPUs, as its logic
 * id; with is_for_others those that it does not see, too. Returns 0 when the arena is full. */
int cpubind_plan_join(cpubind_facts *facts, int is_for_others, cpubind_arena *arena);

/* Gives the facts of a host without NPUs the rules of a plan. */
void cpubind_plan_take_rules(cpubind_facts *devices, cpubind_rules rules);

/* Whether a plan of these NPUs takes other devices in: by the rules NEAR. The rules reference,
 * clusters and slices are for NPUs alone. */
int cpubind_plan_takes_devices(const cpubind_facts *listed);

/* Gives the facts of NPUs the devices of other facts of the same host, to be joined. */
void cpubind_plan_take_devices(cpubind_facts *listed, const cpubind_facts *devices);

/* The facts for a plan of a host with NPUs: those of cpubind_facts_read, with the accelerators
 * of other vendors joined where a plan takes them in.
 *   errors  of cpubind_facts_read and of cpubind_devices_read */
cpubind_problem_code cpubind_plan_read_facts(const cpubind_source *source,
                                             const cpubind_request *request,
                                             cpubind_arena *arena, cpubind_facts *out,
                                             cpubind_problem *problem);

/* Lists plan->unit, for the process of the request. A device without a row that is no NPU
 * without a pool has none because of `refusal`. Returns 0 when the arena is full. */
int cpubind_plan_units(const cpubind_facts *facts, const cpubind_request *request,
                       const cpubind_problem *refusal, cpubind_arena *arena,
                       cpubind_device_plan *plan);

/* Whether a device of the facts has a share of the CPUs. A virtual function beside a physical
 * one of its vendor has none unless this process sees it: the physical one stands for the card,
 * and a virtual machine with the other has the CPUs of its cpuset. */
int cpubind_pci_has_share(const cpubind_facts *facts, int32_t device);

/* Plans the devices of a host that have a share, those of all vendors. A device whose near CPUs
 * are not known, or are not allowed, or are too few, has no pool, and the others have theirs.
 *   in      facts of cpubind_devices_read, with wants_cores
 *           request: rules, overlap, roles, kept and excluded CPUs, processes
 *   out     *joined: the facts with the devices as `device`; *out, made of them, of which each
 *           device that this process sees is a unit, with a pool or why it has none
 *   errors  of cpubind_plan_make, but for those that each device says of itself */
cpubind_problem_code cpubind_plan_devices(const cpubind_facts *facts,
                                          const cpubind_request *request, cpubind_arena *arena,
                                          cpubind_facts *joined, cpubind_device_plan *out,
                                          cpubind_problem *problem);

/* == One rank on the node of its device (numa-bind) ========================= */

/* (name, what it means). */
#define CPUBIND_NUMA_BIND_LIST(X)                                                              \
    X(OK, "bound")                                                                             \
    X(NO_MEMORY, "the arena is full: try a larger one")                                        \
    X(PAST_NODES, "the index is past the list of nodes")                                       \
    X(PAST_CPUS, "the index is past the lists of CPUs")                                        \
    X(PAST_DEVICES, "the index is past the devices")                                           \
    X(NO_NODE, "the list names a node that the host does not have")                            \
    X(NO_PLACE, "which node the device is on is not known")                                    \
    X(NOT_ALLOWED, "none of the CPUs is allowed")

typedef enum cpubind_numa_bind_status {
#define CPUBIND_X(name, text) CPUBIND_NUMA_BIND_##name,
    CPUBIND_NUMA_BIND_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_NUMA_BIND_COUNT
} cpubind_numa_bind_status;

/* Which of the allowed CPUs count. */
typedef struct cpubind_pci_limits {
    const int32_t *allowed; /* these of them, ascending; NULL: all */
    int32_t n_allowed;
    const int32_t *exclude; /* not these, ascending */
    int32_t n_exclude;
} cpubind_pci_limits;

/* Which rank is bound, and to what: to the node that the list has for it, else to that of its
 * device. Lists of CPUs are taken as they are. */
typedef struct cpubind_numa_asked {
    int32_t index;       /* of this rank, from 0 */
    const int32_t *node; /* by rank; NULL: the node of the device */
    int32_t n_node;
    const cpubind_lists *cpus; /* list i is for rank i; NULL: those of the node */
    cpubind_pci_limits limits;
} cpubind_numa_asked;

typedef struct cpubind_numa_bound {
    const int32_t *cpu; /* ascending, all allowed */
    int32_t n_cpu;
    const int32_t *node; /* for memory, ascending */
    int32_t n_node;      /* 0: not known */
    int32_t device;      /* index in facts->device; -1: lists alone */
    int32_t n_denied;    /* near CPUs that are not allowed */
    int32_t has_rivals; /* 1: other ranks have CPUs of this one's home, and each gets a share */
    int32_t is_shared;  /* 1: there are fewer CPUs than ranks: others have these, too */
    const int32_t *allowed; /* the CPUs that count, ascending */
    int32_t n_allowed;
    int32_t n_rank;   /* NO_PLACE, PAST: ranks that there are */
    int32_t bad_node; /* NO_NODE */
} cpubind_numa_bound;

/* Finds the CPUs and the nodes of one rank. Ranks of one node get CPUs that no other has, by
 * whole cores as long as there are enough; CPUs that are not allowed are left out. A node
 * without CPUs (memory of Grace) has those of the nearest one with CPUs.
 *   in      facts of cpubind_devices_read; with wants_cores cores stay whole
 *   out     *out: all fields on success, and on failure what the status is about
 *   errors  the statuses above; the ranks of other devices are not affected */
cpubind_numa_bind_status cpubind_numa_bind_find(const cpubind_facts *facts,
                                                const cpubind_numa_asked *asked,
                                                cpubind_arena *arena, cpubind_numa_bound *out);

/* == Ranks ================================================================== */

typedef struct cpubind_pci_rank {
    int32_t device; /* index in facts->device */
    int32_t tile;   /* -1: all of the device */
} cpubind_pci_rank;

/* Lists the devices that this process sees, by rank: in the order in which the runtime numbers
 * them or their tiles, up to the first number that no device has, or, where the facts are of a
 * part of the devices, over such numbers; by address where no runtime numbers them, or where
 * the devices are of several runtimes.
 *   in      out: room for facts->n_device * CPUBIND_PCI_NUMBERS
 *   returns their number */
int32_t cpubind_pci_ranks(const cpubind_facts *facts, cpubind_pci_rank *out);

/* The number that a runtime has for a tile of a device, or with -1 for all of it; -1: not
 * known. */
int32_t cpubind_pci_number(const cpubind_pci_function *device, int32_t tile);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PCI_PLAN_H */
