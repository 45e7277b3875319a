/* facts.h - from the inputs of a host to its facts: CPUs, nodes, devices, running processes
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
#ifndef CPUBIND_MODEL_FACTS_H
#define CPUBIND_MODEL_FACTS_H

#include <stddef.h>

#include "../source.h"
#include "../text/arena.h"
#include "../text/pci_address.h"
#include "accelerators.h"
#include "engine.h"
#include "products.h"

#ifdef __cplusplus
extern "C" {
#endif

/* == Words of a request ===================================================== */

/* (name, word): whose the allowed CPUs are. */
#define CPUBIND_SCOPE_LIST(X)                                                                  \
    X(AUTO, "auto")     /* own when DRA_CPUSET_* is in the environment, else cpuset */         \
    X(CPUSET, "cpuset") /* all devices of the host share them */                               \
    X(HOST, "host") /* pools are cut from all online CPUs, then each to the allowed ones */    \
    X(OWN, "own")   /* only the devices of this process share them */

typedef enum cpubind_scope {
#define CPUBIND_X(name, word) CPUBIND_SCOPE_##name,
    CPUBIND_SCOPE_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_SCOPE_COUNT,                       /* of those that a request may have */
    CPUBIND_SCOPE_PER_DEVICE = CPUBIND_SCOPE_COUNT /* of facts alone, "per_npu": the request has
                                                   device_allowed */
} cpubind_scope;

/* (name, word): which inputs name the devices. */
#define CPUBIND_ORIGIN_LIST(X)                                                                 \
    X(AUTO, "auto")       /* the driver's files where they name every NPU, else npu-smi */     \
    X(DRIVER, "driver")   /* the driver's files alone */                                       \
    X(NPU_SMI, "npu-smi") /* npu-smi alone */

typedef enum cpubind_origin {
#define CPUBIND_X(name, word) CPUBIND_ORIGIN_##name,
    CPUBIND_ORIGIN_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_ORIGIN_COUNT
} cpubind_origin;

/* (name, word): by which rules pools are cut. The first are the default, also of a request of
 * zeros: no other place says which rules those are. */
#define CPUBIND_RULES_LIST(X)                                                                  \
    X(NEAR, "near")           /* devices take whole cores in turns: cpubind.h */               \
    X(REFERENCE, "reference") /* as vllm-ascend does; seeds and logs of the field follow it */

typedef enum cpubind_rules {
#define CPUBIND_X(name, word) CPUBIND_RULES_##name,
    CPUBIND_RULES_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_RULES_COUNT,
    CPUBIND_RULES_DEFAULT = 0
} cpubind_rules;

/* near, of a request alone: one last cache of the home. The core is given it as the home, with
 * CPUBIND_REACH_HOME. */
enum { CPUBIND_REACH_CACHE = CPUBIND_REACH_HOST + 1 };

/* == What can go wrong ====================================================== */

/* (name, code for machines, exit status of the command). 1: no plan is possible; 3: the host
 * could not be read. */
#define CPUBIND_PROBLEM_LIST(X)                                                                \
    X(TOO_FEW_CPUS, "too_few_cpus", 1)                                                         \
    X(NO_LOCAL_CPUS, "no_local_cpus", 1)                                                       \
    X(NO_RUNNING_DEVICE, "no_running_device", 1)                                               \
    X(UNKNOWN_DEVICE, "unknown_device", 1)                                                     \
    X(OVERLAP, "overlap", 1)                                                                   \
    X(NOT_ARM, "not_arm", 1)                                                                   \
    X(SKIPPED, "skipped", 1)                                                                   \
    X(BAD_REQUEST, "bad_request", 2)                                                           \
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
    const char *input;       /* the input at fault, or NULL */
    cpubind_input answer;    /* how the source answered for it */
    int32_t offset;          /* byte of answer.data, or -1: no place */
    const char *what;        /* static English clause, or NULL */
    int32_t device, other;   /* logic ids, or -1 */
    int32_t cpu;             /* CPU id, or -1 */
    cpubind_pci_address pci; /* the function that it is about; domain -1: none */
    int32_t need, have;      /* CPUs; 0, 0 when the problem is not about numbers */
    int32_t uncut;           /* scope host: CPUs of the pool before it was cut; else 0 */
} cpubind_problem;

/* Of NO_NPU_SMI, where nothing speaks of NPUs: why no device is known. */
#define CPUBIND_WHY_NO_DEVICE "the PCI bus has no accelerator that cpubind knows"
#define CPUBIND_WHY_NO_BUS    "there is no /sys/bus/pci/devices here"

/* Warnings, which do not stop a plan: (name, its own word, code for machines). Those that call
 * for the same deed have one code. */
#define CPUBIND_WARNING_LIST(X)                                                                \
    X(NO_STATUS, "no_status", "missing") /* all online CPUs count as allowed */                \
    X(OFFLINE, "offline", "left_out")    /* allowed CPUs that are offline */                   \
    X(NODE_MAP, "node_map", "missing")   /* nodes come from lscpu, not from /sys */            \
    X(NO_NODES, "no_nodes", "missing")   /* no nodes are known: all CPUs count as one */       \
    X(NO_MAP, "no_map", "missing")       /* no info -m: ids count as logic ids */              \
    X(UNKNOWN_CHIP, "unknown_chip", "inputs_differ") /* chips that npu-smi cannot query */     \
    X(EXIT_CODE, "exit_code", "odd_input") /* npu-smi answered, its exit status is not 0 */    \
    X(VISIBLE_TAIL, "visible_tail", "left_out") /* visible devices behind a bad one */         \
    X(NO_AFFINITY, "no_affinity", "affinity")   /* of a device: slices are cut */              \
    X(PCI_AFFINITY, "pci_affinity", "affinity") /* from the kernel, npu-smi has none */        \
    X(AFFINITY_DIFFERS, "affinity_differs", "affinity") /* npu-smi and the kernel disagree */  \
    X(NO_NUMA_NODE, "no_numa_node", "affinity")  /* npu-smi says node 0, the kernel no node */ \
    X(ONLY_LOGIC_IDS, "only_logic_ids", "scope") /* slices by numbers that containers share */ \
    X(RESOLVED, "resolved", "resolved")          /* the rule gave CPUs twice; resolved */      \
    X(OVERLAP, "overlap", "overlap")             /* the plan gives CPUs twice, as asked */     \
    X(NO_SPARE, "no_spare", "few_cpus")          /* none is left for the host's UVB threads */ \
    X(UNKNOWN_TEXT, "unknown_text", "odd_input") /* what no reader knows was passed over */    \
    X(INPUTS_DIFFER, "inputs_differ", "inputs_differ") /* they name different devices */       \
    X(PARTIAL_CPUSET, "partial_cpuset", "scope")       /* some online CPUs are not allowed */  \
    X(NO_PROCESSES, "no_processes", "missing")         /* which devices run is not known */    \
    X(HIDDEN_HOME, "hidden_home", "affinity")          /* not known of a hidden device */      \
    X(NO_CENSUS, "no_census", "missing") /* no NPU on the bus: hidden ones are not known */    \
    X(NO_ADDRESSES, "no_addresses", "missing")         /* of the bus: order by logic id */     \
    X(ORDER_DIFFERS, "order_differs", "order_differs") /* of the bus and of logic ids */       \
    X(PARTS, "parts", "parts") /* processes with other parts of a card get the same CPUs */    \
    X(JOB, "job", "left_out")  /* the job has fewer devices than are visible */                \
    X(DISPUTED, "disputed", "scope") /* CPUs of a process that does not see our devices */     \
    X(POOR_LOCALITY, "poor_locality", "poor_locality") /* devices without near CPUs */         \
    X(LENT, "lent", "few_cpus")               /* CPUs near one device went to another */       \
    X(NO_SUCH_CPU, "no_such_cpu", "left_out") /* an excluded CPU is not online */              \
    X(OTHER_ACCELERATORS, "other_accelerators",                                                \
      "other_accelerators")                          /* no CPUs are kept for them */           \
    X(NO_DISTANCES, "no_distances", "missing")       /* sockets stand in for them, or none */  \
    X(NO_CORES, "no_cores", "missing")               /* each CPU counts as a core */           \
    X(ONLINE_DIFFERS, "online_differs", "odd_input") /* of cpu/online and the nodes */         \
    X(NARROW_MASK, "narrow_mask", "narrow_mask")     /* it lacks CPUs of its cpuset */         \
    X(CPU_QUOTA, "cpu_quota", "cpu_quota")      /* less CPU time than the pools have CPUs */   \
    X(CORE_NODES, "core_nodes", "odd_input")    /* the CPUs of a core are on two nodes */      \
    X(CORE_KINDS, "core_kinds", "core_kinds")   /* pools have different ones */                \
    X(ENGINE_CORES, "engine_cores", "few_cpus") /* the engine has too few */

typedef enum cpubind_warning {
#define CPUBIND_X(name, word, code) CPUBIND_WARNING_##name,
    CPUBIND_WARNING_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_WARNING_COUNT
} cpubind_warning;

/* The bit of a warning in a set of them: by its number, by its name. */
#define CPUBIND_WARNING_BIT(warning) ((uint64_t)1 << (warning))
#define CPUBIND_WARNS(name)          CPUBIND_WARNING_BIT(CPUBIND_WARNING_##name)

/* == What is asked ========================================================== */

/* The CPUs that the processes of a device may have. */
typedef struct cpubind_device_allowed {
    int32_t logic;      /* of the device */
    const int32_t *cpu; /* strictly ascending */
    int32_t n;          /* 0: none, so that the device has no pool */
} cpubind_device_allowed;

/* What is asked of the bus, in place of the devices that a plan is for. */
typedef struct cpubind_pci_request {
    /* Which functions count. Neither: those of a vendor
     * that cpubind knows. */
    const cpubind_pci_address *named; /* these, or NULL */
    int32_t n_named;
    const int32_t *tile;  /* of each of these the tile that is named, -1: all; or NULL */
    int32_t is_only;      /* 1: this process drives the one that is named, seen or not */
    int32_t class_code;   /* those of a class: the first `class_digits` of its six hexadecimal
                           digits */
    int32_t class_digits; /* 2, 4 or 6; 0: not asked for */
    int32_t is_plan;      /* 1: a plan is made of them; other accelerators are listed, too, as
                             such that this process does not see: they are planned beside */
    int32_t is_host;      /* 1: the same for all processes of the host: nothing is read of what
                             this one sees, and all devices take part, planned or not */
    int32_t is_bus_alone; /* 1: without what the inputs of a vendor tell of its devices */
    int32_t wants_nics;   /* 1: network cards and disks, too */
    int32_t wants_cores;  /* 1: which CPUs share a core */
    int32_t no_bus;       /* 1: nodes and CPUs alone, and no device */
    /* With no_bus: the CPUs that this process may use, ascending, where the caller knows them
     * and needs the ids of the nodes alone: each CPU counts as of the first node. Or NULL */
    const int32_t *own_cpu;
    int32_t n_own_cpu;
} cpubind_pci_request;

/* The request: the options of the caller, and facts that it knows already. Arrays are
 * borrowed. */
typedef struct cpubind_request {
    cpubind_device_type type; /* AUTO: from chip names, else from PCI ids */
    int32_t is_auto_strategy; /* 1: by the device type; 0: `strategy` */
    cpubind_strategy strategy;
    cpubind_overlap overlap;
    const int32_t *device;  /* logic ids, strictly ascending, that the plan is for; or NULL: the
                               visible ones */
    int32_t n_device;       /* their number */
    int32_t only_running;   /* 1: of these the devices in the process table alone */
    int32_t total;          /* devices of the host, where no input tells; 0: not given */
    cpubind_scope scope;    /* whose the allowed CPUs are */
    cpubind_origin origin;  /* which inputs name the devices; AUTO: CPUBIND_FACTS counts */
    cpubind_reach reach;    /* near: how far from its home a pool may reach */
    int32_t share;          /* near: 1: each device has what it would have if it were alone */
    cpubind_rules rules;    /* NEAR: is_auto_strategy is 1, or the strategy is TOPO_AFFINITY */
    const char *visible;    /* instead of ASCEND_RT_VISIBLE_DEVICES; or NULL */
    int32_t visible_len;    /* bytes */
    int32_t n_job;          /* devices of this process's job, the first ones in view; 0: as its
                               launcher says */
    int32_t has_rules;      /* 0: CPUBIND_RULES of the environment counts before `rules` */
    int32_t has_rank;       /* 1: this process drives the device of `rank` */
    int32_t rank;           /* >= 0; its device is rank-th of the visible ones */
    const int32_t *allowed; /* CPUs, strictly ascending, instead of proc/self/status; or NULL */
    int32_t n_allowed;
    /* By logic id, strictly ascending, instead of `allowed` and `scope`; or NULL. A device
     * without a row may have the CPUs of all rows. Slices are cut among the devices that share
     * CPUs, hidden devices do not count, and a device that cannot have a pool is left out of
     * the plan, also where it runs. */
    const cpubind_device_allowed *device_allowed;
    int32_t n_device_allowed; /* at least 1 */
    const int32_t *exclude;   /* CPUs, strictly ascending, that no pool may have; or NULL */
    int32_t n_exclude;
    int32_t keep_each;   /* at least so many online CPUs of each node are kept for the host, in
                             whole cores, the lowest; 0: none */
    const int32_t *keep; /* CPUs, strictly ascending, that are kept for the host with the rest
                             of their cores; or NULL */
    int32_t n_keep;
    int32_t n_process; /* processes that drive each device, at most CPUBIND_MAX_DEVICES; 0: 1 */
    int32_t process;   /* which of them this one is, 0 .. n_process - 1 */
    int32_t wants_pci; /* 1: find the PCI addresses of running devices, for interrupts; an
                          address that is not found is no problem */
    int32_t
        wants_others; /* 1: those of other vendors take part, too, where a plan takes them */
    const cpubind_role_spec *roles; /* NULL: those of the product */
    int32_t transfer; /* CPUs of each process for the role of that name, beside `roles` */
    cpubind_engine_request engine; /* whose processes have CPUs beside the devices */
    cpubind_workers_asked workers; /* who have whole cores before the devices; with `node` */
    /* What is asked of the bus, with `visible` in place of the variables of its only runtime
     * where it has no NPUs. NULL: a plan of the NPUs, with the others where it takes them. */
    const cpubind_pci_request *bus;
} cpubind_request;

/* == What is known ========================================================== */

/* How the CPUs near an NPU by the kernel (numa_node and local_cpulist of its PCI function)
 * compare with those by npu-smi. Offline CPUs do not count. */
typedef enum cpubind_locality {
    CPUBIND_LOCALITY_UNKNOWN = 0, /* the kernel names none, or the PCI address is not known */
    CPUBIND_LOCALITY_SAME = 1,
    CPUBIND_LOCALITY_TAKEN = 2,   /* npu-smi names none: the kernel's are used */
    CPUBIND_LOCALITY_DIFFERS = 3, /* the kernel's are used where it names those of every NPU,
                                     else npu-smi's */
    CPUBIND_LOCALITY_NO_NODE = 4  /* the kernel has no node for it; npu-smi says node 0 */
} cpubind_locality;

/* == Devices of any vendor ================================================== */

/* (name, word): what told the node of a function. */
#define CPUBIND_NODE_ORIGIN_LIST(X)                                                            \
    X(UNKNOWN, "unknown")                                                                      \
    X(DEVICE, "device")                                                                        \
    X(LOCAL_CPUS, "local_cpus")                                                                \
    X(BRIDGE, "bridge")                                                                        \
    X(ONLY_NODE, "only_node")                                                                  \
    X(NPU_SMI, "npu_smi") /* of an NPU alone */

typedef enum cpubind_node_origin {
#define CPUBIND_X(name, word) CPUBIND_NODE_ORIGIN_##name,
    CPUBIND_NODE_ORIGIN_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_NODE_ORIGIN_COUNT
} cpubind_node_origin;

/* (name, word): how near two functions are, in the words of nvidia-smi topo -m. A smaller one
 * is nearer. */
#define CPUBIND_NEARNESS_LIST(X)                                                               \
    X(PIX, "pix")   /* below one bridge, or one switch */                                      \
    X(PXB, "pxb")   /* across several switches, not across the root complex */                 \
    X(PHB, "phb")   /* across the root complex that both are on */                             \
    X(NODE, "node") /* on two root complexes of one node */                                    \
    X(SYS, "sys")   /* on two nodes */                                                         \
    X(UNKNOWN, "unknown")

typedef enum cpubind_nearness {
#define CPUBIND_X(name, word) CPUBIND_NEARNESS_##name,
    CPUBIND_NEARNESS_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_NEARNESS_COUNT
} cpubind_nearness;

/* Whether this process sees a device, by the variables of its runtime. */
typedef enum cpubind_sight {
    CPUBIND_SIGHT_UNKNOWN = 0,
    CPUBIND_SIGHT_VISIBLE = 1,
    CPUBIND_SIGHT_HIDDEN = 2
} cpubind_sight;

enum {
    CPUBIND_PCI_NUMBERS = 8,     /* numbers of a runtime that are kept of one function */
    CPUBIND_FUNCTION_DEVICES = 2 /* most NPUs of one PCI function: 300I Duo */
};

/* A name that the source has; at NULL: it is not known. */
typedef struct cpubind_source_name {
    const char *at;
    int32_t len;
} cpubind_source_name;

/* A device of the host: a function of the bus, or one that inputs of its vendor list beside it,
 * since a function may have several. A number that is not known is -1. Texts belong to the
 * source. */
typedef struct cpubind_host_device {
    cpubind_pci_address pci; /* domain -1: not known, or not needed */
    cpubind_pci_ids ids;
    cpubind_accelerator accelerator;
    const char *model; /* by the driver, "NVIDIA H100 80GB HBM3"; NULL: not known */
    int32_t model_len;
    const char *uuid; /* by the driver, "GPU-..."; NULL: not known */
    int32_t uuid_len;
    cpubind_source_name rdma, netdev; /* of a network card: "mlx5_0"; "eth0" ... */
    cpubind_source_name bond;         /* ... and "bond0", which the interface is below */
    cpubind_source_name disk;         /* "nvme0" */
    int32_t is_virtual;               /* 1: a virtual function (SR-IOV) ... */
    int32_t parent;                   /* ... of this row of facts->bus; -1: not known */
    int32_t is_part;     /* 1: a part of its card: a virtual function, a MIG instance ... */
    int32_t part;        /* ... which of the n_part of its card */
    int32_t n_part;      /* parts that it has: virtual functions on the bus, or listed ones */
    int32_t n_virtual;   /* virtual functions that it has now */
    int32_t is_driven;   /* 1: the driver of its vendor lists it; 0: it lists others alone, or
                            this process has files of others alone; -1: not known */
    int32_t numa_node;   /* as the kernel prints it: -1 on no node; -2: there is no such file */
    int32_t node;        /* the node with CPUs that it is near */
    int32_t memory_node; /* the node that its own memory is (NVIDIA on Grace and POWER) */
    cpubind_node_origin origin; /* what told `node` */
    cpubind_pci_address via;    /* the bridge that told it; domain -1: no bridge did */
    const int32_t *cpu;         /* CPUs near it, ascending; of a function online ones */
    int32_t n_cpu;              /* 0: not known */
    cpubind_locality locality;  /* of a listed one */
    const int32_t *bridge;      /* above it, the nearest first: indices in facts->bridge */
    int32_t n_bridge;
    int32_t root_bus; /* of its domain */
    int32_t is_asked; /* by the request; 0: it is beside those that are */
    cpubind_sight sight;
    int32_t number[CPUBIND_PCI_NUMBERS]; /* those that its runtime has for it in this process,
                                            ascending */
    int32_t tile[CPUBIND_PCI_NUMBERS];   /* of a device with several: that the number is of; -1:
                                            all of them */
    int32_t n_number;                    /* 0: not known, or hidden */
    /* In facts->device */
    int32_t logic;      /* of a listed one the number that a runtime in this container uses; of
                           others one that no other device of the facts has */
    int32_t card, chip; /* the numbers in the tables of npu-smi */
    int32_t phy;        /* the number that the host uses */
    int32_t bus;        /* its row of facts->bus; -1: it is listed beside it ... */
    int32_t function;   /* ... the row of its card, or its own; -1: not known */
    int32_t is_running; /* in the process table */
    int32_t is_named;   /* by the numbers of the request */
    int32_t is_visible; /* by the visible devices, else by the request, else all are */
    /* Of a row of the bus: what it claims of the plan's CPUs */
    int32_t n_device;  /* devices that it has; 0: it takes no part in the plan */
    int32_t n_in_view; /* of these in facts->device; the others are hidden from this process */
    int32_t is_other;  /* 1: of a device that no inputs of its vendor have listed */
    int32_t phys[CPUBIND_FUNCTION_DEVICES]; /* of NPUs, by the driver's mailboxes, ascending */
} cpubind_host_device;

/* What a device may be near to. */
typedef enum cpubind_card_kind {
    CPUBIND_NIC,
    CPUBIND_DISK, /* NVMe */
    CPUBIND_CARD_KINDS
} cpubind_card_kind;

typedef struct cpubind_cards {
    cpubind_host_device *at; /* by address */
    int32_t n;
} cpubind_cards;

typedef struct cpubind_pci_bridge {
    cpubind_pci_address pci;
    int32_t secondary; /* the bus below it */
} cpubind_pci_bridge;

/* One runtime and the variables that say what a process sees of it. */
typedef struct cpubind_runtime_view {
    const char *word;        /* "cuda", static; NULL: the host has no device of it */
    const char *variable[2]; /* those that count here, the outer one first; NULL: not set */
    const char *value[2];    /* their values, which belong to the source */
    int32_t value_len[2];
    int32_t has_order; /* 0: which number a device has is not known */
    int32_t n_file;    /* device files of it that this process may open */
    const char *why;   /* static clause: why it is not known what the process sees; or NULL */
} cpubind_runtime_view;

/* Two inputs that name different devices. */
typedef struct cpubind_difference {
    const char *has, *lacks; /* the names of the inputs */
    int32_t card, chip, phy; /* the device that the first names; -1: not known */
    cpubind_pci_address pci; /* domain -1: not known */
} cpubind_difference;

enum { CPUBIND_MAX_DIFFERENCES = 8 }; /* that are kept; all are counted */

/* What a rank drives. */
typedef struct cpubind_pci_rank {
    int32_t device; /* index in facts->bus */
    int32_t tile;   /* -1: all of the device */
} cpubind_pci_rank;

typedef struct cpubind_facts {
    /* CPUs; cpubind_facts_read_cards takes all up to `noun` from other facts */
    int32_t *cpu;     /* allowed CPUs without the excluded ones, ascending */
    int32_t *node_id; /* nodes that have CPUs, ascending */
    int32_t *node_of; /* node id of every CPU id, allowed or not, -1: on no node;
                         CPUBIND_MAX_CPUS elements */
    int32_t n_cpu;
    int32_t n_node;
    int32_t n_cpu_id;       /* one past the highest CPU id that is on a node */
    int32_t n_online;       /* online CPUs, of cpu/online or on nodes */
    int32_t threads;        /* threads a core, or 0: not known */
    int32_t *core_of;       /* by CPU id, n_cpu_id elements: number of its core, -1: on no node;
                          NULL: which CPUs share a core is not known. A CPU that is not allowed
                          and has no list is a core by itself */
    int32_t *cache_of;      /* by CPU id, n_cpu_id elements: the lowest CPU that shares its last
                               cache, -1: not known; NULL: of none */
    int32_t has_lone_cores; /* 1: there is such a CPU */
    int32_t *distance;      /* n_node rows of n_node, by node_id; NULL: not known */
    int32_t *all_node;      /* all nodes, those without CPUs too, ascending */
    int32_t n_all_node;
    int32_t
        *all_distance; /* n_all_node rows of n_all_node; NULL: not known; -1: of a node without
                              CPUs, not known */
    int32_t has_nodes; /* 0: no input names a node; node 0 has all CPUs */
    int32_t *socket;   /* by node_id: number of the socket; NULL: not known */
    int32_t *memory;   /* nodes that have memory, ascending */
    int32_t n_memory;  /* 0, -1: not known */
    int32_t *kind_of;  /* by CPU id, n_cpu_id elements: how fast its core is, a larger number
                          is faster; -1: on no node; NULL: all are of one kind, or not known */
    int32_t split_cpu[2];    /* CPUs of a core that are on two nodes, with CORE_NODES ... */
    const char *split_input; /* ... and the input that says so */
    /* Why a plan that needs cores, distances or sockets must fail: the first input of them that
     * is there and cannot be read; what it would tell is NULL. No code: there is none. */
    cpubind_problem topology;
    cpubind_scope scope;    /* CPUSET, HOST, OWN or PER_NPU */
    int32_t is_scope_given; /* by the request or the environment */
    int32_t
        quota; /* CPU time that the cgroup of the process may use, the least of it and of all
                      above: thousandths of a CPU; 0: all of it, or not known */
    const char *quota_input;       /* the file that says so */
    int32_t *cpuset, n_cpuset;     /* with NARROW_MASK: the online CPUs of the cgroup */
    cpubind_problem unread_cgroup; /* why these two are not known; no code: they are */
    int32_t n_job; /* ranks of the job on this host, each with a device; 0: not known */
    const char *job_variable; /* that says so, for ranks below; static; NULL: none */
    uint64_t warnings;        /* bits 1 << cpubind_warning */

    /* Devices of any vendor, and cards */
    const char *noun;         /* "NPU", "device": one of `npu`, in sentences; static */
    cpubind_host_device *bus; /* accelerators and what was asked for, by address; after n_bus
                                  NPUs in view that the bus lacks */
    int32_t n_bus;
    int32_t is_joined; /* 1: devices of all vendors take part; 0: NPUs alone */
    cpubind_cards cards[CPUBIND_CARD_KINDS];
    cpubind_pci_bridge *bridge; /* NULL: they were not needed */
    int32_t n_bridge;
    int32_t has_classes;                                /* some function has the file `class` */
    cpubind_runtime_view runtime[CPUBIND_VENDOR_COUNT]; /* by vendor */
    int32_t has_bus; /* 0: there is no sys/bus/pci/devices; -1: it could not be read, which
                              is no problem of the plan */
    int32_t is_part; /* 1: the devices that the request names, or those of its class */
    cpubind_topology host; /* the allowed CPUs, and the nodes with CPUs */

    /* Devices in view */
    cpubind_host_device **device; /* in view, by ascending logic id */
    int32_t
        *counted; /* rows of `bus` with listed devices of the product; after n_census those of
                               NPUs in view that the bus lacks */
    int32_t has_listed; /* 1: the Ascend row has found its NPUs: `device` does not tell
                               more of them */
    int32_t n_other;    /* rows of `bus` with accelerators that are no NPUs */
    cpubind_problem
        unread_other; /* why one that may be such could not be read; no code: none */
    int32_t n_device;
    int32_t n_listed;       /* of these the NPUs, which are the first ones */
    cpubind_pci_rank *rank; /* with is_joined: cpubind_pci_ranks */
    int32_t n_rank;
    int32_t n_unknown; /* further chips, which npu-smi lists and cannot query, or without
                               a logic id */
    int32_t n_counted;
    int32_t n_census;       /* functions of the product on the host's bus, or 0: not known */
    int32_t end_phy;        /* slices: one past the highest phy id of the host; 0: not known */
    int32_t has_only_named; /* the devices are those of the request: no input lists them */
    int32_t has_affinity;   /* some device has a list */
    int32_t has_phy;        /* every NPU has a phy id */
    int32_t has_processes;  /* the process table is known */
    cpubind_origin origin;  /* DRIVER or NPU_SMI: the inputs that named the devices */
    cpubind_device_type type;
    cpubind_rules rules; /* of the request, else of CPUBIND_RULES, else NEAR */
    cpubind_strategy
        strategy; /* of the plan: asked for or of the product, and NEAR by the rules
                                  near; slices instead of topo_affinity and NEAR where the
                                  affinity is not known */

    /* Visible devices */
    int32_t n_visible;
    int32_t *visible_id;
    const char *visible; /* their text, or NULL: all */
    int32_t visible_len; /* bytes */

    /* What the warnings are about */
    int32_t n_difference; /* also of those that were not kept */
    cpubind_difference difference[CPUBIND_MAX_DIFFERENCES];
    const char *unknown_input; /* the first input with text that no reader knows, or NULL */
    cpubind_input unknown_answer;
    cpubind_piece unknown;     /* that text */
    const char *contradicting; /* the file of the driver that contradicts another, or NULL */
    const char *contradiction; /* what it contradicts, static text, or NULL */
    cpubind_problem unmapped;  /* info -m, which the request can do without, failed: it was not
                                    started, or not read; no code: it did not */
    cpubind_problem unaddressed; /* why the addresses of devices in view are not known; no code:
                                    nothing that was asked for them failed */
    cpubind_problem
        unread_processes; /* why it is not known which devices run; no code: no process
                                         table is there */
} cpubind_facts;

/* The facts of a host, in one reading: CPUs, nodes, and one list of the devices of all vendors.
 * A host without accelerators, and one without a PCI bus, has facts of the bus: n_bus is 0.
 *   in      source, request; an arena of 1 MiB is enough for most hosts
 *   out     *out; on a problem it holds the facts that were read before, for the message;
 *           where the bus is asked for, *problem says why the NPUs on it could not be listed
 *   errors  a code of CPUBIND_PROBLEM_LIST, and *problem; NO_MEMORY: try a larger arena;
 *           UNKNOWN_DEVICE: there is no such NPU, or the bus lacks problem->pci
 *   cost    O(bytes read), NPUs x rows of npu-smi, and functions x bridges */
cpubind_problem_code cpubind_facts_read(const cpubind_source *source,
                                        const cpubind_request *request, cpubind_arena *arena,
                                        cpubind_facts *out, cpubind_problem *problem);

/* The devices of the whole host by its bus, and its cards, beside facts of the same host, of
 * which the CPUs and nodes are taken: they are not read again.
 *   out     *out, which borrows from *host; without a card, no more than the devices' ids. On
 *           a problem it holds what was read before
 *   errors  of cpubind_facts_read */
cpubind_problem_code cpubind_facts_read_cards(const cpubind_source *source,
                                              const cpubind_facts *host, cpubind_arena *arena,
                                              cpubind_facts *out, cpubind_problem *problem);

/* Whether a device of facts->device is one that inputs of its vendor list: an NPU. */
static inline int cpubind_is_listed(const cpubind_host_device *device)
{
    return device->bus < 0;
}

/* The index in facts->device of a row of facts->bus; -1: it is none of them. */
int32_t cpubind_facts_device(const cpubind_facts *facts, int32_t row);

/* How near two functions are, by the bridges above them and their nodes, which a request with
 * wants_nics has read. */
cpubind_nearness cpubind_nearness_of(const cpubind_host_device *a,
                                     const cpubind_host_device *b);

/* "mlx5_0" of a network card, else "eth0"; "nvme0" of a disk. */
cpubind_source_name cpubind_card_name(const cpubind_host_device *card);

/* The card of a kind that is nearest to a row of the bus, the first of several; NULL: there is
 * none. */
const cpubind_host_device *cpubind_facts_nearest(const cpubind_facts *facts, int32_t row,
                                                 cpubind_card_kind kind);

/* "device"; "pix". Static storage. */
const char *cpubind_node_origin_word(cpubind_node_origin origin);
const char *cpubind_nearness_word(cpubind_nearness nearness);

/* Whether the facts that were read for the request `read` are also those of `request`: all that
 * facts depend on is the same in both. 0 for a request that cpubind_facts_read refuses as a bad
 * request, so that it is refused each time, and where CPUs of each device are allowed. The
 * facts quote the visible devices of `read`. */
int32_t cpubind_facts_serve(const cpubind_request *read, const cpubind_request *request);

/* Whether a device of the facts has a share of the CPUs. A virtual function has none of its own
 * but a part of that of its card. Nor has a card for displays, which no row names, beside other
 * accelerators, unless it is asked for by name. */
int32_t cpubind_facts_has_share(const cpubind_facts *facts, int32_t device);

/* The first row of facts->bus from `row` on with a share, and no NPU; n_bus: there is none. */
int32_t cpubind_facts_next_other(const cpubind_facts *facts, int32_t row);

/* Whether a plan of the NPUs takes other devices in: by the rules NEAR. The rules reference,
 * clusters and slices are for NPUs alone. */
int cpubind_facts_takes_others(const cpubind_facts *facts);

/* Whether this process sees none of the devices of the bus, of which a plan is. */
int cpubind_facts_is_blind(const cpubind_facts *facts);

/* == Ranks ================================================================== */

/* Lists the devices that this process sees, by rank: in the order in which the runtime numbers
 * them or their tiles, up to the first number that no device has, or, where the facts are of a
 * part of the devices, over such numbers; by address where no runtime numbers them, or where
 * the devices are of several runtimes.
 *   in      out: room for facts->n_bus * CPUBIND_PCI_NUMBERS
 *   returns their number */
int32_t cpubind_pci_ranks(const cpubind_facts *facts, cpubind_pci_rank *out);

/* The number that a runtime has for a tile of a device, or with -1 for all of it; -1: not
 * known. */
int32_t cpubind_pci_number(const cpubind_host_device *device, int32_t tile);

/* The index of a node id in facts->node_id, or -1. O(log nodes). */
int32_t cpubind_facts_node(const cpubind_facts *facts, int32_t node);

/* The node for the memory of a node: itself where it has some, else the nearest one that has;
 * -1: not known. */
int32_t cpubind_facts_memory_node(const cpubind_facts *facts, int32_t node);

/* The node with CPUs that a node stands for: itself where it has CPUs, else the nearest one of
 * facts->host; -1: not known. */
int32_t cpubind_facts_nearest_node(const cpubind_facts *facts, int32_t node);

/* The number of the core of a CPU, cpu >= 0; the CPU itself where that is not known. */
int32_t cpubind_facts_core(const cpubind_facts *facts, int32_t cpu);

/* Lists CPUs with their nodes and cores, in the arena; those that are not online are left out.
 *   in      cpu[0 .. n - 1], strictly ascending; NULL: 0 .. n - 1
 *   out     *out, of all nodes with CPUs
 *   returns 0 when the arena is full */
int cpubind_facts_topology(const cpubind_facts *facts, const int32_t *cpu, int32_t n,
                           cpubind_arena *arena, cpubind_topology *out);

/* Makes *problem hold no problem: no code, no place, no ids. */
void cpubind_problem_clear(cpubind_problem *problem);

/* The word of a problem, "too_few_cpus", and its exit status; the word of a warning,
 * "no_status". Static storage. */
const char *cpubind_problem_word(cpubind_problem_code code);
int32_t cpubind_problem_exit(cpubind_problem_code code);
const char *cpubind_warning_word(cpubind_warning warning);
const char *cpubind_warning_code(cpubind_warning warning);

/* The origin that a request asks for: its own, or for AUTO the word of CPUBIND_FACTS in the
 * environment; CPUBIND_ORIGIN_COUNT when that is no origin. */
cpubind_origin cpubind_origin_asked(const cpubind_source *source,
                                    const cpubind_request *request);

/* The rules that a request asks for: its own, or the word of CPUBIND_RULES in the environment,
 * else the default; CPUBIND_RULES_COUNT when that word is neither. */
cpubind_rules cpubind_rules_asked(const cpubind_source *source, const cpubind_request *request);

/* "cpuset"; "driver"; "near". Static storage. */
const char *cpubind_scope_word(cpubind_scope scope);
const char *cpubind_origin_word(cpubind_origin origin);
const char *cpubind_rules_word(cpubind_rules rules);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_MODEL_FACTS_H */
