/* plan.h - from the facts of a host to its plan
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. Chooses the devices, the roles and the slots for the core, which cuts the
 * pools, and says in the words of the host what the core refuses.
 */
#ifndef CPUBIND_PLAN_PLAN_H
#define CPUBIND_PLAN_PLAN_H

#include "../model/facts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A device of the core: one in view, or one that this process cannot see. */
typedef struct cpubind_candidate {
    int32_t device;   /* index into facts->device, or -1: hidden */
    int32_t function; /* row of facts->bus, or -1: not known */
    int32_t phy;      /* -1: not known */
    int32_t node;     /* of the CPUs near it; -1: not known */
    int32_t slot;     /* its place among all devices, below n_slot of the plan */
    cpubind_list near_cpus;
} cpubind_candidate;

/* (name, word): by which line of the rule a CPU came to its device. */
#define CPUBIND_STEP_LIST(X)                                                                   \
    X(IDLE, "idle")       /* no device has it */                                               \
    X(SLICE, "slice")     /* by the slot */                                                    \
    X(HOME, "home")       /* in the home of its device */                                      \
    X(NEXT, "next")       /* topo_affinity: on the next node of its device */                  \
    X(NEAREST, "nearest") /* in nobody's home, and its device is nearest on its socket */      \
    X(FREE, "free")       /* near nobody, and its device is at home nowhere here */            \
    X(MINIMUM, "minimum") /* near nobody; its device had too few */                            \
    X(LENT, "lent")       /* for others, who could spare it; its device had too few */         \
    X(CLUSTER, "cluster") /* of a whole cluster of the node of the home */                     \
    X(BESIDE, "beside")   /* of a process beside the devices */

typedef enum cpubind_step {
#define CPUBIND_X(name, word) CPUBIND_STEP_##name,
    CPUBIND_STEP_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_STEP_COUNT
} cpubind_step;

/* Whether a CPU is of two devices: by the rule of the reference, or as it was asked for. */
typedef enum cpubind_finding {
    CPUBIND_FOUND_NONE = 0,
    CPUBIND_FOUND_RESOLVED = 1, /* it did; the plan does not */
    CPUBIND_FOUND_PRESENT = 2,  /* the plan does, as it was asked to */
    CPUBIND_FOUND_SHARED = 3    /* near: each has what it would have if it were alone */
} cpubind_finding;

/* The pools of a plan, row after row, and what was found on the way. */
typedef struct cpubind_pools {
    int32_t *cpu, *row; /* row i: cpu[row[i]] up to, not with, cpu[row[i + 1]]; ascending */
    cpubind_strategy strategy;
    cpubind_finding overlap;
    struct {
        int32_t device, other, cpu; /* the first CPU that the rule gave twice; -1: none */
    } shared;
    int32_t disputed; /* CPUs that a process which does not see our devices may take, too */
} cpubind_pools;

/* (name, word): what a process beside the devices is. */
#define CPUBIND_BESIDE_LIST(X)                                                                 \
    X(ENGINE_CORE, "engine core") /* schedules the work of some devices */                     \
    X(SERVER, "server")           /* the processes that take requests for them */              \
    X(WORKER, "CPU worker")       /* drives no device */

typedef enum cpubind_beside_kind {
#define CPUBIND_X(name, word) CPUBIND_BESIDE_##name,
    CPUBIND_BESIDE_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_beside_kind;

/* Processes that drive no device, and have CPUs in the plan. */
typedef struct cpubind_beside {
    cpubind_beside_kind kind;
    int32_t number;          /* of its kind, from 0 */
    int32_t first, n_served; /* the slots that it serves: from `first` on */
    int32_t n_core, n_has;   /* cores that it needs; whole ones that it has */
    const int32_t *cpu;      /* ascending */
    int32_t n_cpu;
} cpubind_beside;

/* What the core was asked: all CPUs that are online, and whoever claims some of them. */
typedef struct cpubind_core_call {
    cpubind_host host;
    cpubind_device *claimant;
    int32_t n_claimant;
    int32_t *of; /* by candidate: its claimant */
    int32_t *at; /* by CPU of plan->host: its index in `host` */
} cpubind_core_call;

/* The device that a candidate is; of a hidden one its function. */
static inline const cpubind_host_device *cpubind_candidate_is(const cpubind_facts *facts,
                                                              const cpubind_candidate *one)
{
    return one->device >= 0 ? facts->device[one->device] : &facts->bus[one->function];
}

/* "server". Static storage. */
const char *cpubind_beside_word(cpubind_beside_kind kind);

/* "home"; "?" for a number that is no step. Static storage. */
const char *cpubind_step_word(int32_t step);

/* A device of this process that has no pool, and why. */
typedef struct cpubind_poolless {
    int32_t device; /* index into facts->device */
    cpubind_problem problem;
} cpubind_poolless;

/* What one process drives: an NPU, another device, or a tile of one. */
typedef struct cpubind_unit {
    int32_t device;     /* index into facts->device */
    int32_t id;         /* of all devices of the plan: of an NPU its logic id */
    int32_t rank;       /* among the other devices that the process sees; -1: it is an NPU */
    int32_t tile;       /* -1: all of the device */
    int32_t number;     /* by which the runtime names it; -1: not known */
    int32_t row;        /* of the plan; -1: it has no pool */
    const int32_t *cpu; /* its pool: of a tile, a part of the row; ascending */
    int32_t n_cpu;
    const int32_t *role_cpu;
    cpubind_role_spans roles; /* spans of role_cpu */
    int32_t memory_node;      /* or -1 */
    cpubind_problem problem;  /* why it has no pool; no code: it has one */
} cpubind_unit;

/* A plan for the devices of this process: those that the request names, else the visible
 * ones. */
typedef struct cpubind_device_plan {
    cpubind_pools core; /* row i belongs to facts->device[want[i]]; `shared` names candidates */
    cpubind_candidate *candidate; /* the devices of the core */
    int32_t n_candidate;
    int32_t *of_device; /* by index into facts->device: its candidate, for a part that of its
                           card; -1: none */
    cpubind_role_spec roles;       /* each row of an NPU is split by it ... */
    cpubind_role_spec other_roles; /* ... and by this one each row of another device */
    int32_t *want, n_want;         /* indices into facts->device, ascending */
    uint8_t *is_shared; /* by row: 1: its card has parts, and processes with others of them may
                           get the same CPUs */
    cpubind_poolless *poolless; /* by ascending index */
    int32_t n_poolless;
    cpubind_unit *unit; /* NPUs by ascending index, with or without a pool; then the ranks of
                           other devices */
    int32_t n_unit;
    int32_t rank_row;        /* the row of the device that request->rank drives; of the first
                                visible device without a rank; -1: it has no pool */
    int32_t n_hidden;        /* candidates that this process cannot see */
    int32_t n_idle;          /* allowed CPUs that no NPU of this process gets */
    int32_t total;           /* devices among which slices were cut, else logical devices */
    int32_t *spare, n_spare; /* CPUs for the host's UVB polling threads, ascending */
    int32_t *poor, n_poor;   /* POOR_LOCALITY: indices into facts->device, ascending */
    int32_t *lent, n_lent;   /* LENT: CPUs near one device that another got, ascending */
    /* OTHER_ACCELERATORS: of the allowed CPUs those that a fair share near them would leave to
     * the others, and the rest, which it leaves to the NPUs; ascending. n_for_others 0: which
     * these are is not known. The pools are not cut by that. */
    int32_t *for_others, n_for_others;
    int32_t *for_listed, n_for_listed;
    uint64_t warnings; /* bits 1 << cpubind_warning, with those of the facts */

    cpubind_rules rules; /* by which the pools were cut */
    int32_t *role_cpu;   /* row i, in the order of the roles: role_cpu[role_row[i]] up to,
                                  not with, role_cpu[role_row[i + 1]]. Several processes of an
                                  device: only the CPUs of this one */
    int32_t *role_row;   /* n_want + 1 offsets into role_cpu */
    cpubind_role_spans *role_span; /* by row: spans of the row of role_cpu */
    int32_t *memory_node;          /* by row: id of the node for memory, or -1: on no node */
    int32_t *kept, n_kept;         /* online CPUs that are kept for the host, ascending */
    cpubind_beside *beside; /* of the request's engine: engine cores, then servers; workers */
    int32_t n_beside;
    cpubind_quality quality; /* of the pools of all candidates, hidden ones too; KEEP: of the
                                  rows alone */
    cpubind_quality *row_quality; /* by row */
    cpubind_topology host;        /* the CPUs that pools were cut from */
    int32_t n_slot;               /* slices that the CPUs are cut into */
    int32_t *owner; /* by CPU of host: the candidate that has it, or -1; KEEP: the first */
    uint8_t *step;  /* by CPU of host: the cpubind_step of it */
    uint8_t *stand; /* [candidate][CPU of host]: 2: it is at home there; 1: the CPU is for it by
                       line 1 of the rule all the same; 0: neither */
    cpubind_core_call claims;
} cpubind_device_plan;

/* How many of the roles a plan has, from the first on: all, where it is asked for transfer. */
static inline int32_t cpubind_plan_n_role(const cpubind_device_plan *plan)
{
    const int32_t has = plan->roles.count[CPUBIND_ROLE_TRANSFER] > 0;
    return has ? (int32_t)CPUBIND_ALL_ROLES : (int32_t)CPUBIND_ROLE_COUNT;
}

/* The plan for a request.
 *   in      facts of cpubind_facts_read for the same request
 *   out     *out, in the arena
 *   errors  a code of CPUBIND_PROBLEM_LIST, and *problem */
cpubind_problem_code cpubind_plan_make(const cpubind_facts *facts,
                                       const cpubind_request *request, cpubind_arena *arena,
                                       cpubind_device_plan *out, cpubind_problem *problem);

/* How many of n CPUs are of the fastest cores of the host; 0: all cores are alike. */
int32_t cpubind_plan_fast(const cpubind_facts *facts, const int32_t *cpu, int32_t n);

/* The node for the memory of the device of a row, or -1. */
int32_t cpubind_plan_memory_node(const cpubind_facts *facts, const cpubind_device_plan *plan,
                                 int32_t row);

/* The CPUs of one of several processes that drive a device. */
typedef struct cpubind_part {
    const int32_t *cpu; /* role after role, in the arena */
    int32_t n;
    cpubind_role_spans roles; /* spans of cpu */
} cpubind_part;

/* The part of a pool that one of n_process processes has, as a plan for so many processes gives
 * it to that one.
 *   in      facts, plan: of cpubind_plan_make for a request without n_process
 *           row: of the plan; 1 <= n_process <= CPUBIND_MAX_DEVICES, 0 <= process < n_process
 *   errors  NO_MEMORY; TOO_FEW_CPUS, with the device; UNREADABLE */
cpubind_problem_code cpubind_plan_place_process(const cpubind_facts *facts,
                                                const cpubind_device_plan *plan, int32_t row,
                                                int32_t n_process, int32_t process,
                                                cpubind_arena *arena, cpubind_part *out,
                                                cpubind_problem *problem);

/* == The plan of the devices of a host ====================================== */

/* Lists plan->unit, for the process of the request. A device without a row that is no NPU
 * without a pool has none because of `refusal`. Returns 0 when the arena is full. */
int cpubind_plan_units(const cpubind_facts *facts, const cpubind_request *request,
                       const cpubind_problem *refusal, cpubind_arena *arena,
                       cpubind_device_plan *plan);

/* Plans the devices of a host that have a share, those of all vendors. A device whose near CPUs
 * are not known, or are not allowed, or are too few, has no pool, and the others have theirs.
 *   in      facts: of cpubind_facts_read, of a bus that is asked for a plan
 *           request: overlap, roles, kept and excluded CPUs, processes
 *   out     *facts: without the devices of other jobs; *out, of which each device that this
 *           process sees is a unit, with a pool or why it has none
 *   errors  of cpubind_plan_make, but for those that each device says of itself */
cpubind_problem_code cpubind_plan_devices(cpubind_facts *facts, const cpubind_request *request,
                                          cpubind_arena *arena, cpubind_device_plan *out,
                                          cpubind_problem *problem);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PLAN_PLAN_H */
