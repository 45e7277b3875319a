/* cpubind.h - v0.2.0 - which CPUs belong to which accelerator, and in which role
 * SPDX-License-Identifier: MIT (full text at the end of this file)
 *
 * One header, no dependencies, no allocation, no I/O: integers in, integers out. It decides
 * and never acts: it reads no file, and binds no thread.
 *
 * USE
 *   In exactly one C or C++ file:          Everywhere else:
 *     #define CPUBIND_IMPLEMENTATION         #include "cpubind.h"
 *     #include "cpubind.h"
 *   As a shared library (ctypes, Rust, Go), without writing a file:
 *     cc -shared -fPIC -DCPUBIND_EXPORT -DCPUBIND_IMPLEMENTATION -x c cpubind.h \
 *        -o libcpubind.so
 *
 * THE MODEL
 *   allowed CPUs   0  1  2  3  4  5  6  7  8  9 10 11      strictly ascending ids
 *   node           0  0  0  0  0  0  1  1  1  1  1  1      node[i] belongs to cpu[i]
 *   pool           [ device 0 ......] [ device 1 ......]   any subset; here two runs
 *   role            i  i  m  m  a  r   i  i  m  m  a  r    irq, main, acl, release
 *
 * TERMS
 *   CPU            a logical CPU, by the number that the kernel gives it (its id)
 *   allowed CPUs   the CPUs that the process may use; no other CPU is ever in a pool
 *   node           a NUMA node, by the kernel's number; numbers may have holes
 *   device         an accelerator; all devices of the host count, hidden ones too
 *   affinity       the CPUs that the host reports as near a device
 *   home           the allowed CPUs of the affinity
 *   next node      the node after the home's node in the list of nodes; after the last, the 1st
 *   extended pool  the home and, if it lies on one node, the allowed CPUs of the next node
 *   pool           the CPUs that a device gets
 *   role           a part of a pool with a purpose: irq, main, acl, release
 *   slot           the number of a device among the devices of the host (global_slice)
 *   cluster        CPUs that share a part of the cache; devices of some products get whole ones
 *   span           an index range [first, first + count) of a list that the caller has
 *   row            one list of several that lie in one array, given by its offsets
 *   segment        a run of allowed CPUs on one node that no home tells apart
 *   group          segments that are split among the same devices
 *   share          how many CPUs of a group one of these devices gets
 *   core           the CPUs that share the execution units of a processor core (SMT siblings)
 *   place          near: the nodes of the home of a device; without a home, the device's node
 *   near, far      a CPU on a node of the place of its device; a CPU on another socket
 *
 * NEAR (the strategy CPUBIND_NEAR), by whole cores, over all devices of the host:
 *   N1  The home of a device: the cores with an allowed CPU of its affinity.
 *   N2  A core in a home may go to the devices whose home it is in.
 *   N3  A core in nobody's home may go to the devices with the nearest of the places on its
 *       socket, by the distance from the place to its node; where no place is on its socket, to
 *       nobody so far: it is free.
 *   N4  The cores are shared so that the smallest pool has as many cores as it can (S5), evenly
 *       where nothing else decides. Where allowed CPUs cut cores to different sizes, cores then
 *       move between neighbours in a group as long as their numbers of CPUs even out, and
 *       those at home do not come apart.
 *   N5  Where free CPUs are too few for all pools below the minimum, these get free cores up to
 *       it, of the nearest node first.
 *   N6  What is still free goes, of the nearest node first, evenly to the displaced devices:
 *       no allowed CPU is on a socket of their place, or they have none; and to pools below the
 *       floor, up to it. The floor is the smaller one of the minimum + 7 and of half of an even
 *       share (allowed CPUs / devices / 2), but not below the minimum. The smallest pools are
 *       filled first.
 *   N7  Still below the minimum: cores of devices that keep their minimum without them, of the
 *       nearest node first, there of the largest pool; first cores in nobody's home, then in
 *       homes.
 *   N8  Still below it: single CPUs in the same way. A core is split here alone.
 *   N9  Still below it, as all CPUs are too few for all: single CPUs of other pools below the
 *       minimum, of the pool that lacks most, so that as many devices as possible have one.
 *   Pools are served in N5 and N7 .. N9 by what they lack, the least first, then by device.
 *   Without any place all cores are cut into slices by slot; where the slice of any slot is too
 *   small for the roles, all CPUs are.
 *   laws: no CPU twice; no core split, and no core of a home given elsewhere, unless a pool
 *   would be below its minimum; no pool is below the floor while a CPU is idle, or below the
 *   minimum while another pool is above it; no CPU is idle while a device is displaced; as many
 *   devices have the minimum as there are CPUs for, so that
 *   no other way to cut pools that share no CPU serves more; the answer does not depend on
 *   plan->want, so processes that see the same host agree.
 *
 * ALLOWED CPUS OF EACH DEVICE (devices->allowed)
 *   Devices that may have a CPU in common, directly or through others, are a set: no CPU is
 *   allowed to devices of two sets, and each set has a plan of its own.
 *   L1  A set whose lists are all equal has the plan of these CPUs and devices alone. Slots and
 *       their total count where the set is all devices; other sets cut slices by index.
 *   L2  In any other set a home is the part of the affinity in the list of the device, and a
 *       device may be given the CPUs of its list that are: global_slice: any. topo_affinity: in
 *       its home, or on its next node and in nobody's home. CLUSTER: on the node of its home;
 *       it keeps the first ones. NEAR: as N2 and N3 say. A core whose CPUs are in different
 *       lists counts as several.
 *   L3  These CPUs are shared so that no CPU is given twice, and the smallest pool is as large
 *       as it can be (S5), whatever policy->overlap is.
 *   L4  NEAR, in place of N5 to N9: devices that are displaced, by their own lists, and pools
 *       below the floor may also be given the free CPUs of their lists; a device below the
 *       minimum then those in nobody's home; if it still is below, all of its list; then all
 *       devices of the set may be given all of their lists; then cores are split. Each time the
 *       set is shared anew.
 *
 * PROMISES (each one has a test in tests/core/ or tests/packaging/)
 *   determinism   equal arguments give equal results, on every compiler and machine
 *   purity        no globals, no locale, no errno, no clock, no environment
 *   memory        no malloc, no VLA, no recursion; every buffer is the caller's
 *   defaults      an input struct of zeros is valid or refused; no zero in it stands for a
 *                 CPU, a node or a device
 *   all or none   on failure nothing is written through an out_ pointer; the exceptions are
 *                 documented with each function: *fault, and the buffers of a plan
 *   threads       every function may run in any number of threads at once
 *   versions      two libraries that each embed this header, in any versions, can be loaded
 *                 into one process: neither uses the functions of the other
 *
 * OPTIONS (none changes a result or the layout of a struct)
 *   CPUBIND_IMPLEMENTATION  emit the definitions, hidden from other shared objects.
 *                           Set it in one file only.
 *   CPUBIND_STATIC          a private copy of all of it, `static inline`.
 *                           Set it in each file that wants one; implies the above there.
 *   CPUBIND_EXPORT          export the definitions from a shared library. Set it globally.
 *   CPUBIND_API             linkage of your own in place of these. Set it globally.
 *
 * LANGUAGE
 *   The part of C99 that is also C++11. Tested as C99, C11, C17 and as C++11, C++17, C++20.
 *   Enums are 32 bits wide, also with -fshort-enums.
 *
 * SOURCES of the rules (behaviour, not code), cited below as S1 .. S6
 *   vllm-ascend 182b75ea, vllm_ascend/cpu_binding.py:
 *   S1 build_global_slice_cpu_pool   S2 average_distribute over equal pools
 *   S3 allocate (roles)              S4 extend_numa
 *   S5 Harvey, Ladner, Lovasz, Tamir: Semi-matchings for bipartite graphs and load balancing
 *      (2006): without a cost-reducing path the smallest load is as large as it can be
 *   S6 NVIDIA Dynamo 1.3, router mode device-aware-weighted
 */
#ifndef CPUBIND_H
#define CPUBIND_H

#define CPUBIND_VERSION_MAJOR 0
#define CPUBIND_VERSION_MINOR 2
#define CPUBIND_VERSION_PATCH 0
#define CPUBIND_VERSION_HEX   0x000200 /* major << 16 | minor << 8 | patch */
#define CPUBIND_VERSION       "0.2.0"

#include <stddef.h> /* NULL */
#include <stdint.h> /* int32_t, the only integer type of this interface */

#if defined(__GNUC__) || defined(__clang__)
#define CPUBIND_NODISCARD  __attribute__((__warn_unused_result__))
#define CPUBIND_ENUM_INT32 __attribute__((__mode__(__SI__))) /* also with -fshort-enums */
#else
#define CPUBIND_NODISCARD
#define CPUBIND_ENUM_INT32
#endif

#if defined(CPUBIND_STATIC)
#define CPUBIND_PRIV_STATIC
#undef CPUBIND_API
#define CPUBIND_API static inline
#elif defined(CPUBIND_API)
#define CPUBIND_PRIV_OWN_API
#elif defined(CPUBIND_EXPORT) && defined(_WIN32)
#define CPUBIND_API __declspec(dllexport)
#elif defined(CPUBIND_EXPORT) && defined(__GNUC__)
#define CPUBIND_API __attribute__((__visibility__("default")))
#else
#define CPUBIND_API extern
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* == 1. Limits ============================================================== */

/* Largest accepted CPU or node id + 1, and largest list of CPUs. Linux builds go up to 8,192
 * CPUs; the margin is for later, and the limit keeps every sum and product inside int32_t. */
#define CPUBIND_MAX_CPUS    65536
#define CPUBIND_MAX_DEVICES 4096
#define CPUBIND_MAX_NODES   1024 /* of NEAR, for which the distances are a square */

/* == 2. Status codes ======================================================== */

/* The one list of codes: the enum, the names, the texts, the tests and the table in
 * LANGUAGES.md come from it. Codes never change their number; new ones go at the end. */
#define CPUBIND_STATUS_LIST(X)                                                                 \
    X(OK, 0, "success")                                                                        \
    X(ERR_ARG, -1, "an argument is outside its documented range")                              \
    X(ERR_ORDER, -2, "a list is not strictly ascending")                                       \
    X(ERR_SPACE, -3, "a buffer is too small")                                                  \
    X(ERR_EMPTY, -4, "no allowed CPU is near a device")                                        \
    X(ERR_TOO_FEW, -5, "fewer CPUs than the roles need")                                       \
    X(ERR_UNKNOWN, -6, "a CPU, node or device is not in the given list")                       \
    X(ERR_OVERLAP, -7, "two pools share a CPU")                                                \
    X(ERR_SPREAD, -8, "the home of a device is not on one node")                               \
    X(ERR_CLUSTERS, -9, "a node has fewer whole clusters than devices")

typedef enum cpubind_status {
#define CPUBIND_X(name, value, text) CPUBIND_##name = value,
    CPUBIND_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
} CPUBIND_ENUM_INT32 cpubind_status;

/* Why a function failed. Every function that can fail takes one as its last argument, fills it
 * on failure only, and takes NULL as well. */
typedef struct cpubind_fault {
    const char *argument; /* the argument or field that is wrong, as in "host.cpu", for an
                             array also when its length is; NULL when it is none. ERR_SPACE:
                             the buffer. Static storage */
    int32_t index;        /* element of that array that is wrong, or -1 */
    int32_t device;       /* index of the device, or -1 */
    int32_t other;        /* ERR_OVERLAP: index of the second device, else -1 */
    int32_t cpu;          /* id of the CPU, or -1. ERR_OVERLAP: the CPU that both have.
                             ERR_UNKNOWN: the CPU whose node is not in host.node_id */
    int32_t need;         /* CPUs needed, or 0 */
    int32_t have;         /* CPUs there, or 0 */
} cpubind_fault;

/* == 3. Types =============================================================== */

/* Index range [first, first + count) of a list that the caller has. */
typedef struct cpubind_span {
    int32_t first; /* index, >= 0 */
    int32_t count; /* elements, >= 0 */
} cpubind_span;

/* The roles, in the order in which they tile a pool: name, word, letter on a map. The roles
 * before MAIN take CPUs from the front of a pool, the roles after MAIN from its back; MAIN gets
 * the rest. A new role is one more row here. */
#define CPUBIND_ROLE_LIST(X)                                                                   \
    X(IRQ, "irq", 'i')                                                                         \
    X(MAIN, "main", 'm')                                                                       \
    X(ACL, "acl", 'a')                                                                         \
    X(RELEASE, "release", 'r')

typedef enum cpubind_role {
#define CPUBIND_X(name, word, letter) CPUBIND_ROLE_##name,
    CPUBIND_ROLE_LIST(CPUBIND_X)
#undef CPUBIND_X
} CPUBIND_ENUM_INT32 cpubind_role;

#define CPUBIND_ROLE_COUNT                   (0 CPUBIND_ROLE_LIST(CPUBIND_PRIV_ONE))
#define CPUBIND_PRIV_ONE(name, word, letter) +1

/* How many CPUs of a pool each role takes, by role; for MAIN at least so many. The sum is the
 * smallest size of a pool: irq 2, main 1, acl 1, release 1 with IRQ binding; 0, 1, 1, 1
 * without. */
typedef struct cpubind_role_spec {
    int32_t count[CPUBIND_ROLE_COUNT];
} cpubind_role_spec;

/* One span for each role, by role: they tile a pool in the order of the list, without gaps. */
typedef struct cpubind_roles {
    cpubind_span span[CPUBIND_ROLE_COUNT];
} cpubind_roles;

/* The host as one process may use it. The arrays are read, never written or kept. */
typedef struct cpubind_host {
    const int32_t *cpu;     /* allowed CPU ids, strictly ascending */
    const int32_t *node;    /* node[i] is the id of the node of cpu[i] */
    const int32_t *node_id; /* ids of the nodes that have CPUs, allowed or not; strictly
                               ascending, with holes where the host has holes */
    int32_t n_cpu;          /* length of cpu and node */
    int32_t n_node;         /* length of node_id */

    /* Read by NEAR, cpubind_place_roles and cpubind_measure. Each may be NULL. */
    const int32_t *core; /* core[i]: number of the core of cpu[i], 0 .. CPUBIND_MAX_CPUS - 1.
                                CPUs with one number are on one node. NULL: every CPU is a
                                core of its own */
    const int32_t *distance; /* distance[a * n_node + b]: from node_id[a] to node_id[b], above
                                0, as the kernel has it. NULL: other nodes are equally far */
    const int32_t *socket;   /* socket[a]: number of the socket of node_id[a]. NULL: two nodes
                                less than CPUBIND_FAR_DISTANCE apart are on one socket; without
                                distances, all nodes are */
} cpubind_host;

/* Linux has this distance between nodes where the firmware tells none (REMOTE_DISTANCE). */
#define CPUBIND_FAR_DISTANCE 20

/* Lists of CPU ids in one array: list i is cpu[row[i]] .. cpu[row[i + 1] - 1]. */
typedef struct cpubind_lists {
    const int32_t *cpu; /* ids; strictly ascending inside each list */
    const int32_t *row; /* n + 1 offsets, row[0] == 0, never descending; NULL: all are empty */
    int32_t n;          /* number of lists */
} cpubind_lists;

/* Every device of the host, also those that this process does not drive: their CPUs are not
 * given to others. The order is the order of preference: ascending ids. */
typedef struct cpubind_devices {
    cpubind_lists affinity; /* list i: the CPUs near device i; empty when not known */
    const int32_t *slot;    /* global_slice: number of device i in 0 .. total - 1, the same in
                               every process of the host; NULL: i itself */
    int32_t total;          /* global_slice: devices of the host; 0: affinity.n */
    const int32_t *node;    /* NEAR: id of the node of device i, or -1: not known. Read for
                               devices without a home; an id that is not in host.node_id counts
                               as -1. NULL: none is known */
    cpubind_lists allowed;  /* list i: the CPUs that device i may have; ids that are not in
                               host.cpu do not count. n 0: every device may have all of
                               host.cpu; else n is affinity.n. See ALLOWED CPUS */
    const int32_t *least;   /* with fewer CPUs device i is refused, 1 or more; the minimum that
                               pools are given stays that of the roles. NULL: this minimum */
} cpubind_devices;

typedef enum cpubind_strategy {
    CPUBIND_GLOBAL_SLICE = 0,  /* equal slices of the allowed CPUs, by slot */
    CPUBIND_TOPO_AFFINITY = 1, /* extended pools; equal ones are shared. Without any
                                  affinity: global_slice */
    CPUBIND_CLUSTER = 2,       /* whole clusters of the home's node */
    CPUBIND_NEAR = 3           /* whole cores, homes first; see NEAR above. At most
                                  CPUBIND_MAX_NODES nodes. Without any place: slices of cores */
} CPUBIND_ENUM_INT32 cpubind_strategy;

/* The answer of topo_affinity to extended pools that overlap without being equal. */
typedef enum cpubind_overlap {
    CPUBIND_OVERLAP_RESOLVE = 0, /* no CPU twice; the smallest pool as large as it can be */
    CPUBIND_OVERLAP_KEEP = 1,    /* leave the overlap, and report it */
    CPUBIND_OVERLAP_REFUSE = 2   /* ERR_OVERLAP */
} CPUBIND_ENUM_INT32 cpubind_overlap;

typedef struct cpubind_policy {
    cpubind_strategy strategy;
    cpubind_overlap overlap;
    cpubind_role_spec roles; /* its sum is the smallest size of a pool */
    int32_t cluster;         /* CLUSTER: CPUs of one cluster, >= 1 */
    int32_t has_spare_node;  /* CLUSTER: not 0: the CPUs of spare_node are kept for the host.
                                RESOLVE cuts the clusters of devices whose home is there all
                                the same; KEEP and REFUSE cut none */
    int32_t spare_node;      /* id of that node */
} cpubind_policy;

/* Whether pools share CPUs, over all devices that have a home. */
typedef enum cpubind_finding {
    CPUBIND_FOUND_NONE = 0,     /* the rule itself gave no CPU twice */
    CPUBIND_FOUND_RESOLVED = 1, /* the rule did; the plan does not */
    CPUBIND_FOUND_PRESENT = 2   /* the plan does (KEEP) */
} CPUBIND_ENUM_INT32 cpubind_finding;

/* The step of the rule by which a CPU came to its device: name, word. */
#define CPUBIND_STEP_LIST(X)                                                                   \
    X(IDLE, "idle")       /* no device gets it */                                              \
    X(SLICE, "slice")     /* global_slice: by the slot */                                      \
    X(HOME, "home")       /* in the home of its device */                                      \
    X(NEXT, "next")       /* topo_affinity: on the next node of its device */                  \
    X(NEAREST, "nearest") /* NEAR: in nobody's home; its device is nearest (N3) */             \
    X(MINIMUM, "minimum") /* NEAR: free; its device was below the minimum, or the floor */     \
    X(LENT, "lent")       /* NEAR: of another device (N7 to N9) */                             \
    X(CLUSTER, "cluster") /* cluster: of the node of the home */                               \
    X(FREE, "free")       /* NEAR: free; its device is displaced (N6) */

typedef enum cpubind_step {
#define CPUBIND_X(name, word) CPUBIND_STEP_##name,
    CPUBIND_STEP_LIST(CPUBIND_X)
#undef CPUBIND_X
} CPUBIND_ENUM_INT32 cpubind_step;

/* How a plan came about, for every allowed CPU and over all devices, wanted or not. CPUs of one
 * group may go to the same devices: device[row[g]] .. device[row[g + 1] - 1], ascending. */
typedef struct cpubind_trace {
    int32_t *owner;  /* in: n_cpu elements. out: the device that gets cpu[i]; -1: none, or one
                          that is not in devices (global_slice). KEEP: the first of several */
    int32_t *step;   /* in: n_cpu elements. out: the cpubind_step of cpu[i] */
    int32_t *group;  /* in: n_cpu elements. out: the group of cpu[i], or -1: of none. KEEP: the
                          first of several */
    int32_t *row;    /* in: CPUBIND_TRACE_ROWS elements */
    int32_t *device; /* in: CPUBIND_TRACE_DEVICES elements */
    int32_t cap_row; /* in: elements of row */
    int32_t cap_device; /* in: elements of device */
    int32_t n_group;    /* out */
} cpubind_trace;

/* The caller's buffers and the answer. The buffers must not overlap one another or an input. */
typedef struct cpubind_plan {
    const int32_t *want; /* in: indices of the devices that get a row, strictly ascending; the
                            rows have this order. NULL with n_want 0: all devices; {i} with
                            n_want 1: device i alone */
    int32_t *cpu;        /* in: pools, row after row */
    int32_t *row;        /* in: one element more than rows: n_want + 1, or for all devices
                            devices.affinity.n + 1; row i is cpu[row[i]] up to, not with,
                            cpu[row[i + 1]] */
    int32_t *work;       /* in: scratch; its content afterwards means nothing */
    int32_t n_want;      /* in: elements of want: 0 when want is NULL, else 1 or more */
    int32_t cap_cpu;     /* in: elements of cpu, see CPUBIND_PLAN_CPUS */
    int32_t cap_work;    /* in: elements of work, see CPUBIND_PLAN_WORK */
    int32_t n_cpu;       /* out: elements of cpu used; after ERR_SPACE as many as are enough */
    int32_t n_work;      /* out: elements of work needed, also after ERR_SPACE */
    cpubind_strategy strategy; /* out: the one that made the plan */
    cpubind_finding overlap;   /* out */
    int32_t n_checked;         /* out: devices over which `overlap` was found */
    cpubind_fault shared;      /* out: the first CPU that the rule gave twice, when overlap is
                                  not NONE: device, other, cpu */
    int32_t spare_taken;       /* out: CLUSTER: CPUs of spare_node in clusters, its lowest */
    cpubind_trace *trace;      /* in: NULL: how the plan came about is not traced */
} cpubind_plan;

/* The CPUs of one process of a device, in the order of the roles. */
typedef struct cpubind_placing {
    const int32_t *cpu; /* in: the pool of the device, strictly ascending, of host->cpu */
    int32_t n_cpu;      /* in: its length */
    int32_t device;     /* in: index of the device */
    int32_t is_near;    /* in: 1: by home and core, see cpubind_place_roles; 0: by id, as in
                                cpubind_split_roles */
    cpubind_role_spec roles; /* in: of one process */
    int32_t n_process;       /* in: processes that drive the device; 0: 1 */
    int32_t process;         /* in: which of them, 0 .. n_process - 1 */
    int32_t *out_cpu;        /* in: room for n_cpu elements. out: ids, role after role */
    int32_t *work;           /* in: scratch, CPUBIND_PLACE_WORK elements */
    int32_t cap_work;        /* in: elements of work */
    int32_t n_out;           /* out: elements of out_cpu used */
    cpubind_roles out_roles; /* out: spans of out_cpu; inside a role ids ascend */
    int32_t
        is_checked; /* in: 1: cpubind_place_roles, cpubind_measure or a plan by NEAR has taken
                           this host and these devices, without is_near any plan: they are not
                           checked again */
} cpubind_placing;

/* How good pools are. Counts are CPUs unless they say otherwise. */
typedef struct cpubind_quality {
    int32_t n_pool;            /* pools that are not empty */
    int32_t n_cpu;             /* in pools */
    int32_t near_cpu;          /* on a node of the place of their device */
    int32_t far_cpu;           /* on another socket than that place ... */
    int32_t far_displaced;     /* ... because no allowed CPU is on a socket of the place */
    int32_t irq_off_node;      /* IRQ CPUs that are not near */
    int32_t n_pool_off_node;   /* pools with such IRQ CPUs */
    int32_t split_cores;       /* cores whose CPUs are in several pools */
    int32_t idle;              /* in no pool; 0 for one pool */
    int32_t smallest, largest; /* sizes of pools; 0 without pools */
} cpubind_quality;

/* == 4. Spans: closed forms, no buffers ===================================== */

/* Spans of the roles inside a pool of `count` CPUs.
 *   in      0 <= count <= CPUBIND_MAX_CPUS; every element of *spec in the same range
 *   out     *out_roles; the spans tile [0, count) in the order of CPUBIND_ROLE_LIST
 *   errors  ERR_ARG; ERR_TOO_FEW when count is less than the sum of *spec (need, have)
 *   cost    O(1)
 *   source  S3 */
CPUBIND_API CPUBIND_NODISCARD cpubind_status cpubind_split_roles(int32_t count,
                                                                 const cpubind_role_spec *spec,
                                                                 cpubind_roles *out_roles,
                                                                 cpubind_fault *fault);

/* == 5. Sets ================================================================ */

/* Sort `cpu` ascending and drop repeats, in place.
 *   in      cpu[0 .. *n - 1], each 0 <= id < CPUBIND_MAX_CPUS; may be NULL when *n is 0
 *   out     cpu and *n
 *   errors  ERR_ARG, with nothing changed
 *   cost    O(n log n) time, O(n) when already ascending; no memory
 *   source  S1 */
CPUBIND_API CPUBIND_NODISCARD cpubind_status cpubind_sort_unique(int32_t *cpu, int32_t *n,
                                                                 cpubind_fault *fault);

/* == 6. The plan ============================================================ */

/* int32_t elements of plan->work that are enough for every plan of these sizes. n_affinity is
 * row[n_device], or 0. */
#define CPUBIND_PLAN_WORK(n_cpu, n_node, n_device, n_affinity)                                 \
    (22 * (n_cpu) + 12 * (n_node) + 34 * (n_device) + 3 * (n_affinity) + 24)

/* The same for NEAR, with at most CPUBIND_MAX_NODES nodes. */
#define CPUBIND_PLAN_WORK_NEAR(n_cpu, n_node, n_device, n_affinity)                            \
    (CPUBIND_PLAN_WORK(n_cpu, n_node, n_device, (n_affinity) + (n_node) * (n_device)) +        \
     6 * (n_cpu) + 5 * (n_node) + 5 * (n_device) + 2 * (n_affinity) + 4)

/* The same with devices->allowed; n_allowed is allowed.row[n_device], and `work` is one of the
 * two above, with n_affinity + n_allowed in place of n_affinity. */
#define CPUBIND_PLAN_WORK_ALLOWED(work, n_cpu, n_device, n_allowed)                            \
    ((work) + 5 * (n_cpu) + 12 * (n_device) + 3 * (n_allowed) + 6)

/* int32_t elements of trace->row and trace->device that are enough for every plan; with
 * devices->allowed, n_affinity + n_allowed in place of n_affinity. */
#define CPUBIND_TRACE_ROWS(n_cpu, n_node, n_device) ((n_cpu) + (n_node) + (n_device) + 3)
#define CPUBIND_TRACE_DEVICES(n_node, n_device, n_affinity)                                    \
    ((n_affinity) + (n_device) + (n_node) * (n_device))

/* int32_t elements of plan->cpu that are enough: the allowed CPUs once, or once a row where
 * CPUs may be given twice (topo_affinity with KEEP). n_row: rows of the plan, which is the
 * number of all devices when plan->n_want is 0. */
#define CPUBIND_PLAN_CPUS(n_cpu)             (n_cpu)
#define CPUBIND_PLAN_CPUS_KEEP(n_cpu, n_row) ((n_cpu) * (n_row))

/* The pools of all devices, or of those in plan->want.
 *   in      host, devices, policy: each field as documented at the type; global_slice reads no
 *           nodes, so host->node and host->node_id may be NULL for it; devices->affinity.n is
 *           at least 1; plan: its in fields
 *   out     plan->cpu, plan->row, and the out fields. Pools are strictly ascending subsets of
 *           host->cpu; roles come from cpubind_split_roles on a row's length
 *   errors  ERR_ARG (also for buffers that overlap), ERR_ORDER; ERR_UNKNOWN (a node that is not
 *           in node_id: fault->cpu; a slot past total: fault->device); ERR_SPACE (plan->n_work
 *           and plan->n_cpu are enough for the next call); ERR_EMPTY (a wanted device has no
 *           home); ERR_TOO_FEW (a wanted device; need, have); ERR_OVERLAP (REFUSE; or two
 *           wanted devices with one slot: fault->cpu is -1); ERR_SPREAD (CLUSTER; a wanted
 *           device); ERR_CLUSTERS (CLUSTER; need and have are CPUs of the node, and any device
 *           whose home is on it alone counts)
 *   failed  the buffers' content is unspecified; out fields but n_cpu, n_work are untouched
 *   cost    linear in CPUs + nodes + devices + affinity entries; NEAR adds nodes * (nodes +
 *           devices), and for pools below the minimum that take cores of other devices the CPUs
 *           of a node for each such core; RESOLVE adds the searches for paths where pools
 *           overlap unevenly, each linear in the same at most. At the limits about 10 ns an
 *           affinity entry
 *   laws    RESOLVE: no two pools share a CPU, over all devices with a home, and the answer
 *           does not depend on plan->want; so processes that see the same host agree
 *   source  S1 .. S5 */
CPUBIND_API CPUBIND_NODISCARD cpubind_status cpubind_make_plan(const cpubind_host *host,
                                                               const cpubind_devices *devices,
                                                               const cpubind_policy *policy,
                                                               cpubind_plan *plan,
                                                               cpubind_fault *fault);

/* The same by global_slice, topo_affinity or CLUSTER, without devices->allowed: a program that
 * calls this function alone leaves most of the code out where its linker drops what is not
 * used.   errors  also ERR_ARG for NEAR (policy.strategy) and for lists (devices.allowed.n) */
CPUBIND_API CPUBIND_NODISCARD cpubind_status cpubind_make_reference_plan(
    const cpubind_host *host, const cpubind_devices *devices, const cpubind_policy *policy,
    cpubind_plan *plan, cpubind_fault *fault);

/* == 7. Roles and quality of a pool ========================================= */

/* A role after MAIN has its cores to itself while MAIN keeps so many CPUs. */
#define CPUBIND_MAIN_KEEPS 8

/* int32_t elements of the scratch of these functions. Without is_near n_node may be 0. */
#define CPUBIND_PLACE_WORK(n_pool, n_node)  (6 * (n_pool) + (n_node) + 9)
#define CPUBIND_MEASURE_WORK(n_cpu, n_node) (5 * (n_cpu) + 3 * (n_node) + 4)

/* The roles of a pool for one of the processes that drive its device.
 *   in      host, devices: as for cpubind_make_plan; *placing: its in fields
 *   out     placing->out_cpu, n_out, out_roles. The roles before MAIN are the same CPUs for all
 *           processes. The rest of the pool is cut into as many parts as there are processes,
 *           each with near CPUs and others, as even as whole cores allow; as CPUs allow, where
 *           a part would be too small else. Parts share no CPU.
 *           is_near: core by core, near CPUs before others. IRQ: the first CPUs. RELEASE, then
 *           ACL: the last near CPU of the part, if one is left; for ACL on another core than
 *           RELEASE, if the part has one. ACL, then RELEASE: also the CPUs of MAIN on their
 *           cores, if CPUBIND_MAIN_KEEPS CPUs are left for MAIN. MAIN: the rest
 *           else: the parts are runs of ids, with ACL and RELEASE at their ends
 *   errors  ERR_ARG; ERR_ORDER (placing.cpu); ERR_UNKNOWN (a CPU that is not in host.cpu:
 *           fault->cpu); ERR_SPACE (placing.work); ERR_TOO_FEW (need, have: of the part with
 *           the IRQ CPUs)
 *   cost    linear in the CPUs of the pool, each with a search for its node, in the nodes and
 *           the affinity of the device */
CPUBIND_API CPUBIND_NODISCARD cpubind_status cpubind_place_roles(const cpubind_host *host,
                                                                 const cpubind_devices *devices,
                                                                 cpubind_placing *placing,
                                                                 cpubind_fault *fault);

/* The quality of pools, whatever rule they are from.
 *   in      host, devices: as for cpubind_make_plan; pools: list i is the pool of device i, its
 *           IRQ CPUs first; ids in any order, each in host->cpu, none twice in a list; empty:
 *           the device has none. pools.row is not NULL. 0 <= n_irq. work:
 *           CPUBIND_MEASURE_WORK elements
 *   out     *out_total over all pools; out_each[i] of pool i alone (split_cores: cores that it
 *           shares with other pools), unless out_each is NULL
 *   errors  ERR_ARG; ERR_ORDER; ERR_UNKNOWN (a CPU, fault->device and cpu)
 *   cost    O(n log n) in CPUs of pools, and affinity entries */
CPUBIND_API CPUBIND_NODISCARD cpubind_status
cpubind_measure(const cpubind_host *host, const cpubind_devices *devices, cpubind_lists pools,
                int32_t n_irq, int32_t *work, cpubind_quality *out_total,
                cpubind_quality *out_each, cpubind_fault *fault);

/* == 8. Requests of a mixed pool ============================================ */

/* How many times faster an accelerator is than a CPU worker, where nobody has measured it. */
#define CPUBIND_POOL_RATIO 8

/* Accelerators and CPU workers that serve the same requests. Numbers below 0 count as 0. */
typedef struct cpubind_mixed_pool {
    int32_t device_load;  /* requests in flight on all accelerators */
    int32_t cpu_load;     /* requests in flight on all CPU workers */
    int32_t n_device;     /* accelerators */
    int32_t n_cpu_worker; /* CPU workers */
    int32_t ratio;        /* how many times faster an accelerator is; below 1 counts as 1 */
} cpubind_mixed_pool;

typedef enum cpubind_pool_side {
    CPUBIND_POOL_NOBODY = 0, /* there is neither a device nor a CPU worker */
    CPUBIND_POOL_DEVICE = 1,
    CPUBIND_POOL_CPU = 2
} CPUBIND_ENUM_INT32 cpubind_pool_side;

/* The requests that all CPU workers together may have in flight:
 *   device_load * n_cpu_worker / (ratio * n_device), rounded down
 * so that a request ends on a CPU worker about as soon as on an accelerator.
 *   in      pool is not NULL
 *   returns 0 without a CPU worker; INT32_MAX without a device, and for larger results
 *   cost    O(1)
 *   source  S6 */
CPUBIND_API int32_t cpubind_cpu_budget(const cpubind_mixed_pool *pool);

/* Who serves the next request: the CPU workers while cpu_load is below their budget, or where
 * there is no device; else the devices.
 *   cost    O(1)
 *   source  S6 */
CPUBIND_API cpubind_pool_side cpubind_next_pool(const cpubind_mixed_pool *pool);

/* == 9. Text and version ==================================================== */

/* "ERR_SPACE", or "?" for a number that is no code. Never NULL; static storage. */
CPUBIND_API const char *cpubind_status_name(cpubind_status status);

/* One English sentence without a full stop. Never NULL; static storage. */
CPUBIND_API const char *cpubind_status_text(cpubind_status status);

/* "main", and 'm'; "?" and '?' for a number that is no role. Static storage. */
CPUBIND_API const char *cpubind_role_word(cpubind_role role);
CPUBIND_API char cpubind_role_letter(cpubind_role role);

/* "home"; "?" for a number that is no step. Static storage. */
CPUBIND_API const char *cpubind_step_word(cpubind_step step);

/* CPUBIND_VERSION_HEX of the compiled code: compare it when linking a shared library. */
CPUBIND_API int32_t cpubind_version(void);

/* The binary interface has enums of 32 bits. */
typedef char cpubind_priv_assert_enums_are_32_bits
    [sizeof(cpubind_status) == 4 && sizeof(cpubind_role) == 4 &&
             sizeof(cpubind_strategy) == 4 && sizeof(cpubind_overlap) == 4 &&
             sizeof(cpubind_finding) == 4 && sizeof(cpubind_step) == 4 &&
             sizeof(cpubind_pool_side) == 4
         ? 1
         : -1];

#ifdef __cplusplus
}
#endif
#endif /* CPUBIND_H */

/* A private copy asked for after a first include would silently be a second public one. */
#if defined(CPUBIND_STATIC) && !defined(CPUBIND_PRIV_STATIC)
#error "cpubind.h: define CPUBIND_STATIC before the first include of cpubind.h in this file"
#endif

/* Stop here if you came for the interface: the rest is the implementation. */

#if defined(CPUBIND_IMPLEMENTATION) || defined(CPUBIND_STATIC)
#ifndef CPUBIND_PRIV_IMPLEMENTED
#define CPUBIND_PRIV_IMPLEMENTED

#ifdef __cplusplus
extern "C" {
#endif

/* Private functions: in a private copy `inline` keeps compilers quiet about unused ones; in the
 * public one it would only make the code larger. */
#ifdef CPUBIND_PRIV_STATIC
#define CPUBIND_PRIV static inline
#else
#define CPUBIND_PRIV static
#endif

/* Public functions: hidden, so that no other shared object can use them in place of its own. */
#if !defined(CPUBIND_PRIV_STATIC) && !defined(CPUBIND_PRIV_OWN_API) &&                         \
    !defined(CPUBIND_EXPORT) && defined(__GNUC__) && !defined(_WIN32)
#define CPUBIND_PRIV_PUBLIC __attribute__((__visibility__("hidden")))
#else
#define CPUBIND_PRIV_PUBLIC CPUBIND_API
#endif

#define CPUBIND_PRIV_NONE (-1)
#define CPUBIND_PRIV_MAX  0x7fffffff

CPUBIND_PRIV int32_t cpubind_priv_min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

CPUBIND_PRIV void cpubind_priv_fill(int32_t *list, int32_t n, int32_t value)
{
    for (int32_t i = 0; i < n; i++)
        list[i] = value;
}

CPUBIND_PRIV void cpubind_priv_copy(int32_t *to, const int32_t *from, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        to[i] = from[i];
}

/* == Faults ================================================================= */

/* Fills the fault with a device and numbers of CPUs, without an argument; returns `status`. Set
 * field by field: a copy of the struct may become a call of memcpy. */
CPUBIND_PRIV cpubind_status cpubind_priv_fail(cpubind_fault *fault, cpubind_status status,
                                              int32_t device, int32_t need, int32_t have)
{
    if (fault == NULL)
        return status;
    fault->argument = NULL;
    fault->index = CPUBIND_PRIV_NONE;
    fault->device = device;
    fault->other = CPUBIND_PRIV_NONE;
    fault->cpu = CPUBIND_PRIV_NONE;
    fault->need = need;
    fault->have = have;
    return status;
}

/* Fills the fault with two devices that share a CPU. */
CPUBIND_PRIV cpubind_status cpubind_priv_set_shared(cpubind_fault *fault, int32_t device,
                                                    int32_t other, int32_t cpu)
{
    (void)cpubind_priv_fail(fault, CPUBIND_ERR_OVERLAP, device, 0, 0);
    if (fault != NULL) {
        fault->other = other;
        fault->cpu = cpu;
    }
    return CPUBIND_ERR_OVERLAP;
}

/* Fills the fault with an argument and an element of it; returns `status`. */
CPUBIND_PRIV cpubind_status cpubind_priv_refuse(cpubind_fault *fault, cpubind_status status,
                                                const char *argument, int32_t index)
{
    (void)cpubind_priv_fail(fault, status, CPUBIND_PRIV_NONE, 0, 0);
    if (fault != NULL) {
        fault->argument = argument;
        fault->index = index;
    }
    return status;
}

/* Refuses a CPU that is not in the host, or whose node is not, for a device or NONE. */
CPUBIND_PRIV cpubind_status cpubind_priv_refuse_cpu(cpubind_fault *fault, const char *argument,
                                                    int32_t index, int32_t device, int32_t cpu)
{
    (void)cpubind_priv_refuse(fault, CPUBIND_ERR_UNKNOWN, argument, index);
    if (fault != NULL) {
        fault->device = device;
        fault->cpu = cpu;
    }
    return CPUBIND_ERR_UNKNOWN;
}

CPUBIND_PRIV cpubind_status cpubind_priv_bad_argument(cpubind_fault *fault,
                                                      const char *argument)
{
    return cpubind_priv_refuse(fault, CPUBIND_ERR_ARG, argument, CPUBIND_PRIV_NONE);
}

/* == Lists ================================================================== */

/* Elements that the long loops read at a time: compilers turn a block without an exit into a
 * few vector instructions. */
#define CPUBIND_PRIV_BLOCK 16

/* Checks that every id is in 0 .. CPUBIND_MAX_CPUS - 1 and that the list ascends strictly. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_list(const int32_t *list, int32_t n,
                                                    const char *argument, cpubind_fault *fault)
{
    int32_t unordered = 0;
    int32_t at = 1;
    if (n < 0 || n > CPUBIND_MAX_CPUS || (n > 0 && list == NULL))
        return cpubind_priv_bad_argument(fault, argument);
    for (; n - at >= CPUBIND_PRIV_BLOCK; at += CPUBIND_PRIV_BLOCK)
        for (int32_t i = at; i < at + CPUBIND_PRIV_BLOCK; i++)
            unordered |= list[i] <= list[i - 1];
    for (; at < n; at++)
        unordered |= list[at] <= list[at - 1];
    if (unordered) {
        for (at = 1; list[at] > list[at - 1];)
            at++;
        return cpubind_priv_refuse(fault, CPUBIND_ERR_ORDER, argument, at);
    }
    if (n > 0 && list[0] < 0)
        return cpubind_priv_refuse(fault, CPUBIND_ERR_ARG, argument, 0);
    if (n > 0 && list[n - 1] >= CPUBIND_MAX_CPUS)
        return cpubind_priv_refuse(fault, CPUBIND_ERR_ARG, argument, n - 1);
    return CPUBIND_OK;
}

/* First index in [from, n) whose element is not below `value`, or n. The list ascends strictly,
 * so that an element k above list[from] is at most k places after it: there at once, where no
 * id is missing. Else a galloping search: the steps double, so that skipping k elements costs
 * O(log k). */
CPUBIND_PRIV int32_t cpubind_priv_seek(const int32_t *list, int32_t from, int32_t n,
                                       int32_t value)
{
    int32_t step = 1;
    int32_t high;
    if (from >= n || list[from] >= value)
        return from;
    high = from + cpubind_priv_min(value - list[from], n - from);
    if (list[high - 1] < value)
        return high;
    while (from + step < high && list[from + step] < value) {
        from += step;
        step += step;
    }
    high = cpubind_priv_min(from + step, high);
    while (high - from > 1) { /* list[from] < value, and not list[high] */
        int32_t middle = from + (high - from) / 2;
        if (list[middle] < value)
            from = middle;
        else
            high = middle;
    }
    return high;
}

/* Index of `value`, or NONE. */
CPUBIND_PRIV int32_t cpubind_priv_find(const int32_t *list, int32_t n, int32_t value)
{
    int32_t at = cpubind_priv_seek(list, 0, n, value);
    return at < n && list[at] == value ? at : CPUBIND_PRIV_NONE;
}

/* Lists of ids, of units or of segments: list i is item[first[i]] .. item[end[i] - 1]. */
typedef struct cpubind_priv_rows {
    const int32_t *first, *end, *item;
} cpubind_priv_rows;

/* Lists that follow one another: list i is item[row[i]] .. item[row[i + 1] - 1]. */
CPUBIND_PRIV cpubind_priv_rows cpubind_priv_rows_of(const int32_t *row, const int32_t *item)
{
    cpubind_priv_rows lists;
    lists.first = row;
    lists.end = row + 1;
    lists.item = item;
    return lists;
}

/* A walk through the runs of a list that are in `all`, n ids. */
typedef struct cpubind_priv_runs {
    const int32_t *all, *id;
    int32_t n, at, end;  /* id[at] .. id[end - 1] are not read yet */
    int32_t first, past; /* the last run: all[first] .. all[past - 1] */
} cpubind_priv_runs;

/* Opens a walk through list i. */
CPUBIND_PRIV void cpubind_priv_open_runs(cpubind_priv_runs *run, const int32_t *all, int32_t n,
                                         const cpubind_priv_rows *lists, int32_t i)
{
    run->all = all;
    run->n = n;
    run->id = lists->item;
    run->at = lists->first[i];
    run->end = lists->end[i];
    run->past = 0;
}

/* Finds the next run. Returns its length, 0 at the end. Where as many ids as places are left in
 * both lists, none is missing, and all of them are of the run. */
CPUBIND_PRIV int32_t cpubind_priv_next_run(cpubind_priv_runs *run)
{
    const int32_t *id = run->id;
    const int32_t *all = run->all;
    const int32_t end = run->end;
    const int32_t n = run->n;
    int32_t i = run->at;
    int32_t j = run->past;
    int32_t rest;
    if (i == end)
        return 0;
    while (i < end && j < n && id[i] != all[j]) {
        const int32_t ahead = id[i] - all[j]; /* as many places, where no id is missing */
        if (ahead > 0 && ahead < n - j && all[j + ahead] == id[i])
            j += ahead;
        else if (ahead < 0)
            i = cpubind_priv_seek(id, i, end, all[j]);
        else
            j = cpubind_priv_seek(all, j, n, id[i]);
    }
    run->first = j;
    rest = cpubind_priv_min(end - i, n - j) - 1;
    if (rest > 0 && id[i + rest] - id[i] == rest && all[j + rest] - all[j] == rest) {
        i += rest;
        j += rest;
    }
    while (end - i >= CPUBIND_PRIV_BLOCK && n - j >= CPUBIND_PRIV_BLOCK &&
           id[i + CPUBIND_PRIV_BLOCK - 1] == all[j + CPUBIND_PRIV_BLOCK - 1]) {
        int32_t differ = 0;
        for (int32_t k = 0; k < CPUBIND_PRIV_BLOCK; k++)
            differ |= id[i + k] ^ all[j + k];
        if (differ)
            break;
        i += CPUBIND_PRIV_BLOCK;
        j += CPUBIND_PRIV_BLOCK;
    }
    for (; i < end && j < n && id[i] == all[j]; j++)
        i++;
    run->at = i;
    run->past = j;
    return j - run->first;
}

/* == Spans ================================================================== */

CPUBIND_PRIV int32_t cpubind_priv_is_count(int32_t n)
{
    return n >= 0 && n <= CPUBIND_MAX_CPUS;
}

/* Part `index` of `total` elements in `parts` runs: the first parts have one more. */
CPUBIND_PRIV cpubind_span cpubind_priv_share(int32_t total, int32_t parts, int32_t index)
{
    cpubind_span span;
    span.first = index * (total / parts) + cpubind_priv_min(index, total % parts);
    span.count = total / parts + (index < total % parts);
    return span;
}

/* Adds up the CPUs that the roles need; `argument` names the specification. */
CPUBIND_PRIV cpubind_status cpubind_priv_sum_roles(const cpubind_role_spec *spec,
                                                   const char *argument, cpubind_fault *fault,
                                                   int32_t *out)
{
    *out = 0;
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        if (!cpubind_priv_is_count(spec->count[role]))
            return cpubind_priv_refuse(fault, CPUBIND_ERR_ARG, argument, role);
        *out += spec->count[role];
    }
    return CPUBIND_OK;
}

CPUBIND_PRIV_PUBLIC cpubind_status cpubind_split_roles(int32_t count,
                                                       const cpubind_role_spec *spec,
                                                       cpubind_roles *out_roles,
                                                       cpubind_fault *fault)
{
    cpubind_status status;
    int32_t first = 0;
    int32_t need;
    if (!cpubind_priv_is_count(count))
        return cpubind_priv_bad_argument(fault, "count");
    if (spec == NULL)
        return cpubind_priv_bad_argument(fault, "spec");
    if (out_roles == NULL)
        return cpubind_priv_bad_argument(fault, "out_roles");
    status = cpubind_priv_sum_roles(spec, "spec.count", fault, &need);
    if (status != CPUBIND_OK)
        return status;
    if (count < need)
        return cpubind_priv_fail(fault, CPUBIND_ERR_TOO_FEW, CPUBIND_PRIV_NONE, need, count);
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        int32_t rest = role == CPUBIND_ROLE_MAIN ? count - need : 0;
        out_roles->span[role].first = first;
        out_roles->span[role].count = spec->count[role] + rest;
        first += out_roles->span[role].count;
    }
    return CPUBIND_OK;
}

/* == Sets =================================================================== */

/* Moves list[at] down to its place in the heap list[0 .. n - 1], largest on top. */
CPUBIND_PRIV void cpubind_priv_sift(int32_t *list, int32_t at, int32_t n)
{
    int32_t value = list[at];
    int32_t child;
    while ((child = 2 * at + 1) < n) {
        if (child + 1 < n && list[child + 1] > list[child])
            child++;
        if (list[child] <= value)
            break;
        list[at] = list[child];
        at = child;
    }
    list[at] = value;
}

CPUBIND_PRIV void cpubind_priv_heap_sort(int32_t *list, int32_t n)
{
    for (int32_t at = n / 2 - 1; at >= 0; at--)
        cpubind_priv_sift(list, at, n);
    for (int32_t last = n - 1; last > 0; last--) {
        int32_t top = list[0];
        list[0] = list[last];
        list[last] = top;
        cpubind_priv_sift(list, 0, last);
    }
}

CPUBIND_PRIV_PUBLIC cpubind_status cpubind_sort_unique(int32_t *cpu, int32_t *n,
                                                       cpubind_fault *fault)
{
    int32_t kept = 0;
    int32_t sorted = 1;
    if (n == NULL || !cpubind_priv_is_count(*n))
        return cpubind_priv_bad_argument(fault, "n");
    if (*n > 0 && cpu == NULL)
        return cpubind_priv_bad_argument(fault, "cpu");
    for (int32_t i = 0; i < *n; i++) {
        if (cpu[i] < 0 || cpu[i] >= CPUBIND_MAX_CPUS)
            return cpubind_priv_refuse(fault, CPUBIND_ERR_ARG, "cpu", i);
        sorted &= i == 0 || cpu[i - 1] < cpu[i];
    }
    if (sorted)
        return CPUBIND_OK;
    cpubind_priv_heap_sort(cpu, *n);
    for (int32_t i = 0; i < *n; i++)
        if (kept == 0 || cpu[kept - 1] != cpu[i])
            cpu[kept++] = cpu[i];
    *n = kept;
    return CPUBIND_OK;
}

/* == The plan: arguments ==================================================== */

/* Elements of lists; 0 where there are none. */
CPUBIND_PRIV int32_t cpubind_priv_length(const cpubind_lists *lists)
{
    return lists->n > 0 && lists->row != NULL ? lists->row[lists->n] : 0;
}

/* Whether the policy cuts slices: asked for, or because no affinity is known at all. */
CPUBIND_PRIV int32_t cpubind_priv_is_slice(cpubind_strategy strategy, int32_t n_affinity)
{
    return strategy == CPUBIND_GLOBAL_SLICE ||
           (strategy == CPUBIND_TOPO_AFFINITY && n_affinity == 0);
}

CPUBIND_PRIV cpubind_status cpubind_priv_check_policy(const cpubind_policy *policy,
                                                      cpubind_fault *fault, int32_t *out_need)
{
    if (policy == NULL)
        return cpubind_priv_bad_argument(fault, "policy");
    if (policy->strategy != CPUBIND_GLOBAL_SLICE && policy->strategy != CPUBIND_TOPO_AFFINITY &&
        policy->strategy != CPUBIND_CLUSTER && policy->strategy != CPUBIND_NEAR)
        return cpubind_priv_bad_argument(fault, "policy.strategy");
    if (policy->overlap != CPUBIND_OVERLAP_RESOLVE && policy->overlap != CPUBIND_OVERLAP_KEEP &&
        policy->overlap != CPUBIND_OVERLAP_REFUSE)
        return cpubind_priv_bad_argument(fault, "policy.overlap");
    if (policy->strategy == CPUBIND_CLUSTER &&
        (policy->cluster < 1 || policy->cluster > CPUBIND_MAX_CPUS))
        return cpubind_priv_bad_argument(fault, "policy.cluster");
    return cpubind_priv_sum_roles(&policy->roles, "policy.roles.count", fault, out_need);
}

/* Checks lists of devices; name_row and name_cpu are those of the arguments. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_lists(const cpubind_lists *lists,
                                                     const char *name_row, const char *name_cpu,
                                                     cpubind_fault *fault)
{
    const int32_t *row = lists->row;
    if (row == NULL)
        return CPUBIND_OK;
    if (row[0] != 0)
        return cpubind_priv_refuse(fault, CPUBIND_ERR_ARG, name_row, 0);
    for (int32_t d = 0; d < lists->n; d++) {
        cpubind_status status;
        if (row[d + 1] < row[d])
            return cpubind_priv_refuse(fault, CPUBIND_ERR_ARG, name_row, d + 1);
        if (row[d + 1] == row[d])
            continue;
        if (lists->cpu == NULL)
            return cpubind_priv_bad_argument(fault, name_cpu);
        status =
            cpubind_priv_check_list(lists->cpu + row[d], row[d + 1] - row[d], name_cpu, fault);
        if (status != CPUBIND_OK) {
            if (fault != NULL && fault->index != CPUBIND_PRIV_NONE)
                fault->index += row[d];
            if (fault != NULL)
                fault->device = d;
            return status;
        }
    }
    return CPUBIND_OK;
}

CPUBIND_PRIV cpubind_status cpubind_priv_check_affinity(const cpubind_lists *affinity,
                                                        cpubind_fault *fault)
{
    if (affinity->n < 1 || affinity->n > CPUBIND_MAX_DEVICES)
        return cpubind_priv_bad_argument(fault, "devices.affinity.n");
    return cpubind_priv_check_lists(affinity, "devices.affinity.row", "devices.affinity.cpu",
                                    fault);
}

CPUBIND_PRIV cpubind_status cpubind_priv_check_devices(const cpubind_devices *devices,
                                                       const cpubind_plan *plan,
                                                       cpubind_fault *fault)
{
    cpubind_status status;
    if (devices == NULL)
        return cpubind_priv_bad_argument(fault, "devices");
    if (devices->total < 0 || devices->total > CPUBIND_MAX_DEVICES)
        return cpubind_priv_bad_argument(fault, "devices.total");
    status = cpubind_priv_check_affinity(&devices->affinity, fault);
    if (status != CPUBIND_OK)
        return status;
    if (devices->allowed.n != 0 && devices->allowed.n != devices->affinity.n)
        return cpubind_priv_bad_argument(fault, "devices.allowed.n");
    status = cpubind_priv_check_lists(&devices->allowed, "devices.allowed.row",
                                      "devices.allowed.cpu", fault);
    for (int32_t d = 0; devices->least != NULL && d < devices->affinity.n; d++)
        if (status == CPUBIND_OK && devices->least[d] < 1)
            status = cpubind_priv_bad_argument(fault, "devices.least");
    if (status != CPUBIND_OK)
        return status;
    if (plan->want == NULL && plan->n_want == 0)
        return CPUBIND_OK;
    if (plan->want == NULL || plan->n_want < 1 || plan->n_want > devices->affinity.n)
        return cpubind_priv_bad_argument(fault, "plan.want");
    status = cpubind_priv_check_list(plan->want, plan->n_want, "plan.want", fault);
    if (status == CPUBIND_OK && plan->want[plan->n_want - 1] >= devices->affinity.n)
        return cpubind_priv_refuse(fault, CPUBIND_ERR_ARG, "plan.want", plan->n_want - 1);
    return status;
}

/* The nodes of the CPUs are checked where they are looked up; is_near: distances and cores are
 * read as well. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_host(const cpubind_host *host, int32_t is_slice,
                                                    int32_t is_near, cpubind_fault *fault)
{
    cpubind_status status;
    if (host == NULL)
        return cpubind_priv_bad_argument(fault, "host");
    status = cpubind_priv_check_list(host->cpu, host->n_cpu, "host.cpu", fault);
    if (status != CPUBIND_OK || is_slice)
        return status;
    if (host->n_cpu > 0 && host->node == NULL)
        return cpubind_priv_bad_argument(fault, "host.node");
    if (host->n_node < 1 || (is_near && host->n_node > CPUBIND_MAX_NODES))
        return cpubind_priv_bad_argument(fault, "host.node_id");
    status = cpubind_priv_check_list(host->node_id, host->n_node, "host.node_id", fault);
    if (status != CPUBIND_OK || !is_near)
        return status;
    for (int32_t i = 0; host->distance != NULL && i < host->n_node * host->n_node; i++)
        if (host->distance[i] < 1)
            return cpubind_priv_refuse(fault, CPUBIND_ERR_ARG, "host.distance", i);
    for (int32_t i = 0; host->core != NULL && i < host->n_cpu; i++)
        if (host->core[i] < 0 || host->core[i] >= CPUBIND_MAX_CPUS)
            return cpubind_priv_refuse(fault, CPUBIND_ERR_ARG, "host.core", i);
    return CPUBIND_OK;
}

CPUBIND_PRIV cpubind_status cpubind_priv_check_plan(const cpubind_plan *plan,
                                                    cpubind_fault *fault)
{
    if (plan == NULL)
        return cpubind_priv_bad_argument(fault, "plan");
    if (plan->row == NULL)
        return cpubind_priv_bad_argument(fault, "plan.row");
    if (plan->cap_cpu < 0 || (plan->cap_cpu > 0 && plan->cpu == NULL))
        return cpubind_priv_bad_argument(fault, "plan.cpu");
    if (plan->cap_work < 0 || (plan->cap_work > 0 && plan->work == NULL))
        return cpubind_priv_bad_argument(fault, "plan.work");
    if (plan->trace != NULL && (plan->trace->owner == NULL || plan->trace->step == NULL ||
                                plan->trace->group == NULL || plan->trace->row == NULL ||
                                plan->trace->device == NULL || plan->trace->cap_row < 1 ||
                                plan->trace->cap_device < 0))
        return cpubind_priv_bad_argument(fault, "plan.trace");
    return CPUBIND_OK;
}

/* == The plan: work space ===================================================
 *
 * One engine shares the CPUs. A rule says which devices claim which CPUs. The CPUs that the
 * same devices claim are a group, each device gets a share of every group that it claims, and
 * the CPUs of a group are handed out by these shares, in their order.
 *
 *   topo_affinity   a group: the extended pool of devices whose extended pools are equal. The
 *                   shares are even
 *   CLUSTER         a group: a node. A share is a cluster
 *   RESOLVE, NEAR   a group: what is in the same homes; what is in no home, by node. The shares
 *                   are balanced
 *   allowed CPUs    a group: what the same devices may have. The shares are balanced
 *
 * What is shared is a unit: a CPU or, for NEAR, a core. A host has about as many segments as
 * nodes, whatever its number of CPUs: CPUs are touched when they are read and when they are
 * written. The number of claims is at most that of affinity entries and devices. */

/* Every array of plan->work: name and elements. A position is an index into host->cpu; n_group
 * is the largest number of groups that there can be. The sum is CPUBIND_PLAN_WORK. */
#define CPUBIND_PRIV_ARRAYS(X)                                                                 \
    /* by unit */                                                                              \
    X(segment_of, n_cpu)                                                                       \
    X(owner, n_cpu + 1) /* the device that gets it, or NONE; before: a segment starts here */  \
    X(step, n_cpu)      /* both are by position in the end */                                  \
    /* by segment */                                                                           \
    X(segment_first, n_cpu + 1) /* first unit; the next segment's ends it */                   \
    X(segment_node, n_cpu)      /* its node, an index into host->node_id */                    \
    X(segment_group, n_cpu)     /* the group that it is in, or NONE */                         \
    /* by node */                                                                              \
    X(node_row, n_node + 1) /* offsets into node_segment */                                    \
    X(node_segment, n_cpu)  /* segments, node by node, ascending */                            \
    X(node_size, n_node)    /* units */                                                        \
    X(node_hash, n_node)    /* sum of the hashes of its segments */                            \
    /* by device */                                                                            \
    X(home_row, n_device + 1)   /* offsets into home */                                        \
    X(home, n_affinity)         /* segments, ascending */                                      \
    X(next_node, n_device)      /* extends the home; NONE: home on several nodes, or none */   \
    X(pool_size, n_device)      /* CPUs of the extended pool */                                \
    X(pool_hash, n_device)      /* sum of the hashes of its segments */                        \
    X(pool_table, 4 * n_device) /* devices by pool_hash: open addressing */                    \
    X(near_first, n_device)     /* its affinity list: where it starts, ... */                  \
    X(near_end, n_device)       /* ... and ends */                                             \
    X(write_at, n_device)       /* position in plan->cpu of the next CPU that it gets */       \
    X(load, n_device)           /* units that it gets: the sum of its shares */                \
    /* by claim, device by device */                                                           \
    X(claim_rows, n_device + 1)      /* offsets into claims */                                 \
    X(claims, n_affinity + n_device) /* groups, ascending */                                   \
    /* by group */                                                                             \
    X(group_first, n_group)      /* first device with this extended pool; balance: a table */  \
    X(group_segments, n_group)   /* number of segments */                                      \
    X(group_sum, n_group)        /* sum of the hashes of the homes that it is in ... */        \
    X(group_other, n_group)      /* ... and of another hash */                                 \
    X(group_next, n_group)       /* the next group of a list, or NONE */                       \
    X(group_size, n_group)       /* units */                                                   \
    X(group_claimed, n_group)    /* device that claimed the group last */                      \
    X(group_slot, n_group)       /* its first share, or NONE */                                \
    X(claimant_row, n_group + 1) /* offsets into claimant */                                   \
    X(claimant, n_affinity + n_device) /* devices, group by group, ascending */                \
    /* by slot: a share that is not empty */                                                   \
    X(slot_device, n_cpu + n_device)                                                           \
    X(slot_group, n_cpu + n_device)                                                            \
    X(slot_count, n_cpu + n_device)  /* units */                                               \
    X(slot_next, n_cpu + n_device)   /* of the group, by device; of the free slots. Or NONE */ \
    X(slot_before, n_cpu + n_device) /* of the device, if others claim the group. Or NONE */   \
    X(slot_after, n_cpu + n_device)                                                            \
    /* of the search for units to move, by device */                                           \
    X(queue, n_device)                                                                         \
    X(is_done, n_device)     /* whether no path can help the device any more */                \
    X(give_slot, n_device)   /* the slot from which the device can pass units on ... */        \
    X(take_device, n_device) /* ... to this device, which claims the group of the slot */

/* The arrays after these. The sum of both is CPUBIND_PLAN_WORK_NEAR. */
#define CPUBIND_PRIV_NEAR_ARRAYS(X)                                                            \
    /* by position */                                                                          \
    X(core_of, n_cpu)  /* number of its core */                                                \
    X(core_cpu, n_cpu) /* positions, core by core */                                           \
    /* by core */                                                                              \
    X(core_row, n_cpu + 1) /* offsets into core_cpu */                                         \
    X(core_id, n_cpu)      /* its number; after N4 the index of its node */                    \
    X(core_node, n_cpu)    /* id of its node */                                                \
    X(node_core, n_cpu)    /* cores, node by node */                                           \
    /* by node */                                                                              \
    X(node_core_row, n_node + 1)                                                               \
    X(node_is_open, n_node) /* it may still serve a pool */                                    \
    X(node_at, n_node)      /* its cores before this one, in node_core, are not free */        \
    X(node_mark, n_node)    /* device that came to the node last */                            \
    X(nearest, n_node)      /* distance of the nearest place on its socket, or MAX */          \
    /* by device */                                                                            \
    X(near_row, n_device + 1) /* offsets into near_core */                                     \
    X(near_core, n_affinity)  /* the affinity lists, in cores */                               \
    X(place_row, n_device + 1)                                                                 \
    X(place, n_affinity + n_device) /* nodes of the place, indices into node_id */             \
    X(lack, n_device)               /* devices below the minimum, in the order of service */   \
    X(goal, n_device) /* CPUs up to which free cores are taken: the floor, or MAX */

/* The arrays before these, where devices have lists of allowed CPUs: of the caller's host, then
 * of the set of devices that is planned. The sum of all is CPUBIND_PLAN_WORK_ALLOWED. */
#define CPUBIND_PRIV_SET_ARRAYS(X)                                                             \
    /* by position of the caller's host */                                                     \
    X(set_of_cpu, n_cpu) /* the first device of its set, or n_device */                        \
    X(set_cpu, n_cpu)    /* positions, set by set */                                           \
    /* by device of the caller */                                                              \
    X(set_of, n_device)      /* the first device of its set */                                 \
    X(set_row, n_device + 1) /* offsets into set_device */                                     \
    X(set_device, n_device)  /* set by set, ascending */                                       \
    X(set_cpu_row, n_device + 2)                                                               \
    X(row_size, n_device) /* by row: CPUs */                                                   \
    /* by position of the set */                                                               \
    X(set_id, n_cpu)                                                                           \
    X(set_node, n_cpu)                                                                         \
    X(set_core, n_cpu)                                                                         \
    /* by device of the set */                                                                 \
    X(list_first, n_device) /* its list: where it starts, ... */                               \
    X(list_end, n_device)   /* ... and ends */                                                 \
    X(list_row, n_device + 1)                                                                  \
    X(list_core, n_allowed) /* NEAR: the lists, in cores */                                    \
    X(may_row, n_device + 1)                                                                   \
    X(may, n_allowed) /* segments that it may have */                                          \
    X(own_row, n_device + 1)                                                                   \
    X(own, n_allowed)  /* segments that it claims */                                           \
    X(reach, n_device) /* how far from home it may be given CPUs (L4) */

/* What was found out about a plan; the out fields of the same names. */
typedef struct cpubind_priv_found {
    cpubind_strategy strategy;
    cpubind_finding overlap;
    int32_t n_checked, spare_taken;
    int32_t device, other, cpu; /* shared */
} cpubind_priv_found;

/* One plan in the making: of all devices or, where devices have lists of allowed CPUs, of one
 * set of devices after the other. */
typedef struct cpubind_priv_planner {
    const cpubind_host *host;       /* of the set */
    const cpubind_devices *devices; /* the caller's, of all sets */
    const cpubind_policy *policy;
    cpubind_plan *plan; /* the caller's, as are the out fields */
    cpubind_fault *fault;
    int32_t is_slice;
    int32_t need;  /* CPUs, by the roles */
    int32_t n_row; /* elements of want, or all devices */
    int32_t n_device, n_home, n_segment, n_group;
    int32_t has_sets; /* there are lists of allowed CPUs */
    /* the set; NULL: there are no sets */
    const int32_t *member;   /* by device: its index in the caller's devices */
    const int32_t *position; /* by position: that in the caller's host */
    int32_t is_whole;        /* the set is all devices */
    int32_t is_listed;       /* the lists of its devices differ */
    cpubind_priv_rows allowed;
    int32_t n_near, n_listed; /* entries of its affinity lists and of its lists */
    int32_t must_split;       /* NEAR, listed: there are too few cores for all minimums */
    /* the answer so far */
    int32_t n_out; /* elements of plan->cpu */
    int32_t n_trace_group, n_trace_device;
    cpubind_priv_found found;
    int32_t *rest; /* of plan->work, for the set */
    /* units; the affinity lists and, where they differ, the lists of allowed CPUs in units */
    const int32_t *unit, *unit_node; /* ids; ids of their nodes */
    cpubind_priv_rows near, listed;
    int32_t n_unit;
    int32_t n_placed;                 /* NEAR: devices with a place */
    int32_t widest;                   /* NEAR: CPUs of the largest core */
    const int32_t *claim_row, *claim; /* claim_rows and claims, or homes that are the same */
    /* of the search for units to move, in arrays that are not needed any more */
    int32_t n_slot;                  /* slots that are, or were, shares */
    int32_t free_slot;               /* the first one that is none any more, or NONE */
    int32_t n_tier;                  /* tiers that have levels; 0: there are no levels */
    int32_t work;                    /* claims and slots read since levels were made */
    int32_t n_queue;                 /* elements of queue */
    int32_t *device_slot;            /* by device: its first slot, or NONE */
    int32_t *level, *claim_at;       /* claims before claim_at do not lead to the next level */
    int32_t *tier_load, *tier_rich;  /* the largest load; how many devices still have it */
    int32_t *group_level, *group_at; /* slots before group_at do not have the group's level */
#define CPUBIND_X(name, count) int32_t *name;
    CPUBIND_PRIV_ARRAYS(CPUBIND_X)
    CPUBIND_PRIV_NEAR_ARRAYS(CPUBIND_X)
    CPUBIND_PRIV_SET_ARRAYS(CPUBIND_X)
#undef CPUBIND_X
} cpubind_priv_planner;

CPUBIND_PRIV int32_t *cpubind_priv_take(int32_t **next, int32_t n)
{
    int32_t *taken = *next;
    *next += n;
    return taken;
}

/* Makes the arrays of the engine. Returns the rest of the work space. n_claim: claims beyond
 * affinity entries and devices. */
CPUBIND_PRIV int32_t *cpubind_priv_carve(cpubind_priv_planner *p, int32_t n_claim)
{
    const int32_t n_cpu = p->host->n_cpu;
    const int32_t n_node = p->host->n_node;
    const int32_t n_device = p->n_device;
    const int32_t n_affinity = p->n_near + n_claim + (p->is_listed ? p->n_listed : 0);
    const int32_t n_group = n_cpu + n_node + n_device + 2;
    int32_t *next = p->rest;
#define CPUBIND_X(name, count) p->name = cpubind_priv_take(&next, count);
    CPUBIND_PRIV_ARRAYS(CPUBIND_X)
#undef CPUBIND_X
    return next;
}

/* An array of the caller, with its name if it is a buffer. */
typedef struct cpubind_priv_range {
    const int32_t *first;
    int32_t n;
    const char *buffer; /* NULL: the array is read only */
} cpubind_priv_range;

/* Refuses a buffer that has a byte of an array that is read, or of a buffer before it. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_buffers(const cpubind_priv_planner *p)
{
    const cpubind_host *h = p->host;
    const cpubind_devices *d = p->devices;
    const cpubind_plan *plan = p->plan;
    static const cpubind_trace no_trace = {NULL, NULL, NULL, NULL, NULL, 0, 0, 0};
    const cpubind_trace *trace = plan->trace == NULL ? &no_trace : plan->trace;
    const int32_t is_near = p->policy->strategy == CPUBIND_NEAR;
    const int32_t n = d->affinity.n;
    const int32_t n_cpu = p->is_slice ? 0 : h->n_cpu;
    const int32_t n_near_cpu = is_near ? n_cpu : 0;
    const int32_t n_node = is_near ? h->n_node : 0;
    const int32_t n_traced = plan->trace == NULL ? 0 : h->n_cpu;
    const cpubind_priv_range list[] = {
        {h->cpu, h->n_cpu, NULL},
        {d->affinity.cpu, cpubind_priv_length(&d->affinity), NULL},
        {d->affinity.row, n + 1, NULL},
        {d->slot, n, NULL},
        {d->allowed.cpu, cpubind_priv_length(&d->allowed), NULL},
        {d->allowed.row, d->allowed.n > 0 ? n + 1 : 0, NULL},
        {plan->want, plan->n_want, NULL},
        {h->node, n_cpu, NULL},
        {h->node_id, p->is_slice ? 0 : h->n_node, NULL},
        {h->core, n_near_cpu, NULL},
        {h->distance, n_node * n_node, NULL},
        {h->socket, n_node, NULL},
        {d->node, is_near ? n : 0, NULL},
        {plan->cpu, plan->cap_cpu, "plan.cpu"},
        {plan->row, p->n_row + 1, "plan.row"},
        {plan->work, plan->cap_work, "plan.work"},
        {trace->owner, n_traced, "plan.trace"},
        {trace->step, n_traced, "plan.trace"},
        {trace->group, n_traced, "plan.trace"},
        {trace->row, trace->cap_row, "plan.trace"},
        {trace->device, trace->cap_device, "plan.trace"},
    };
    for (int32_t i = 0; i < (int32_t)(sizeof list / sizeof *list); i++)
        for (int32_t k = 0; list[i].buffer != NULL && list[i].first != NULL && k < i; k++)
            if (list[k].first != NULL && list[i].n > 0 && list[k].n > 0 &&
                (uintptr_t)list[i].first < (uintptr_t)(list[k].first + list[k].n) &&
                (uintptr_t)list[k].first < (uintptr_t)(list[i].first + list[i].n))
                return cpubind_priv_bad_argument(p->fault, list[i].buffer);
    return CPUBIND_OK;
}

/* == The plan: segments and homes =========================================== */

/* Adds to row[k], of n_key keys and 0, the items of key k. */
CPUBIND_PRIV void cpubind_priv_count_keys(const int32_t *key, int32_t n, int32_t *row)
{
    for (int32_t i = 0; i < n; i++)
        row[key[i]]++;
}

/* Makes numbers of items the ends of rows. The caller lists the items from the last one to the
 * first, each at --row[key]: then the rows are in order, and row[k] is where the row of key k
 * starts. row has n_key + 1 elements. */
CPUBIND_PRIV void cpubind_priv_end_rows(int32_t *row, int32_t n_key)
{
    for (int32_t k = 1; k <= n_key; k++)
        row[k] += row[k - 1];
}

/* Lists items by key, in their order: row gets n_key + 1 offsets into `sorted`. */
CPUBIND_PRIV void cpubind_priv_sort_by_key(const int32_t *key, int32_t n, int32_t n_key,
                                           int32_t *row, int32_t *sorted)
{
    cpubind_priv_fill(row, n_key + 1, 0);
    cpubind_priv_count_keys(key, n, row);
    cpubind_priv_end_rows(row, n_key);
    for (int32_t i = n - 1; i >= 0; i--)
        sorted[--row[key[i]]] = i;
}

/* The index of a device of the set in the caller's devices. */
CPUBIND_PRIV int32_t cpubind_priv_member(const cpubind_priv_planner *p, int32_t device)
{
    return p->member == NULL || device == CPUBIND_PRIV_NONE ? device : p->member[device];
}

/* The row of a device of the set in the plan, or NONE. */
CPUBIND_PRIV int32_t cpubind_priv_row_of(const cpubind_priv_planner *p, int32_t device)
{
    const cpubind_plan *plan = p->plan;
    const int32_t member = cpubind_priv_member(p, device);
    return plan->want == NULL ? member : cpubind_priv_find(plan->want, plan->n_want, member);
}

CPUBIND_PRIV int32_t cpubind_priv_is_wanted(const cpubind_priv_planner *p, int32_t device)
{
    return p->plan->want == NULL || cpubind_priv_row_of(p, device) != CPUBIND_PRIV_NONE;
}

/* The lists of the devices of the set. */
CPUBIND_PRIV cpubind_priv_rows cpubind_priv_choose_lists(const cpubind_priv_planner *p,
                                                         const cpubind_lists *lists,
                                                         int32_t *first, int32_t *end)
{
    cpubind_priv_rows chosen;
    for (int32_t d = 0; d < p->n_device; d++) {
        const int32_t all = cpubind_priv_member(p, d);
        first[d] = lists->row == NULL ? 0 : lists->row[all];
        end[d] = lists->row == NULL ? 0 : lists->row[all + 1];
    }
    chosen.first = first;
    chosen.end = end;
    chosen.item = lists->cpu;
    return chosen;
}

/* The position of the first CPU of a unit. */
CPUBIND_PRIV int32_t cpubind_priv_first_cpu(const cpubind_priv_planner *p, int32_t unit)
{
    return p->core_row == NULL ? unit : p->core_cpu[p->core_row[unit]];
}

/* Marks the units where lists start or end; n units are marked so far. Returns how many are. */
CPUBIND_PRIV int32_t cpubind_priv_mark_ends(cpubind_priv_planner *p,
                                            const cpubind_priv_rows *lists, int32_t n)
{
    int32_t *is_start = p->owner;
    for (int32_t d = 0; d < p->n_device && n < p->n_unit; d++) {
        cpubind_priv_runs run;
        cpubind_priv_open_runs(&run, p->unit, p->n_unit, lists, d);
        while (cpubind_priv_next_run(&run) > 0) {
            n += !is_start[run.first] + !is_start[run.past];
            is_start[run.first] = 1;
            is_start[run.past] = 1;
        }
    }
    return n;
}

/* Marks where the node changes, and where a home or a list starts or ends. */
CPUBIND_PRIV void cpubind_priv_find_starts(cpubind_priv_planner *p)
{
    int32_t *is_start = p->owner;
    int32_t n = 1;
    is_start[0] = 1;
    is_start[p->n_unit] = 1;
    for (int32_t i = 1; i < p->n_unit; i++)
        n += is_start[i] = p->unit_node[i] != p->unit_node[i - 1];
    n = cpubind_priv_mark_ends(p, &p->near, n);
    if (p->is_listed)
        (void)cpubind_priv_mark_ends(p, &p->listed, n);
}

CPUBIND_PRIV int32_t cpubind_priv_width(const cpubind_priv_planner *p, int32_t segment)
{
    return p->segment_first[segment + 1] - p->segment_first[segment];
}

/* A hash of a segment's number, of 31 bits. */
CPUBIND_PRIV int32_t cpubind_priv_hash(int32_t segment)
{
    uint32_t x = ((uint32_t)segment + 1u) * 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return (int32_t)(x & CPUBIND_PRIV_MAX);
}

CPUBIND_PRIV int32_t cpubind_priv_add_hash(int32_t sum, int32_t hash)
{
    return (int32_t)(((uint32_t)sum + (uint32_t)hash) & CPUBIND_PRIV_MAX);
}

/* Numbers the segments, and lists them by node. Every node of a CPU must be in node_id. */
CPUBIND_PRIV cpubind_status cpubind_priv_make_segments(cpubind_priv_planner *p)
{
    const cpubind_host *host = p->host;
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_unit; i++) {
        if (p->owner[i])
            p->segment_first[n++] = i;
        p->segment_of[i] = n - 1;
    }
    p->segment_first[n] = p->n_unit;
    p->n_segment = n;
    cpubind_priv_fill(p->node_size, host->n_node, 0);
    cpubind_priv_fill(p->node_hash, host->n_node, 0);
    for (int32_t s = 0; s < n; s++) {
        const int32_t at = p->segment_first[s];
        const int32_t node = cpubind_priv_find(host->node_id, host->n_node, p->unit_node[at]);
        if (node == CPUBIND_PRIV_NONE) {
            const int32_t cpu = cpubind_priv_first_cpu(p, at);
            return cpubind_priv_refuse_cpu(p->fault, "host.node", cpu, CPUBIND_PRIV_NONE,
                                           host->cpu[cpu]);
        }
        p->segment_node[s] = node;
        p->node_size[node] += cpubind_priv_width(p, s);
        p->node_hash[node] = cpubind_priv_add_hash(p->node_hash[node], cpubind_priv_hash(s));
    }
    cpubind_priv_sort_by_key(p->segment_node, n, host->n_node, p->node_row, p->node_segment);
    return CPUBIND_OK;
}

CPUBIND_PRIV int32_t cpubind_priv_has_home(const cpubind_priv_planner *p, int32_t device)
{
    return p->home_row[device] < p->home_row[device + 1];
}

/* The node of a home that lies on one node. */
CPUBIND_PRIV int32_t cpubind_priv_home_node(const cpubind_priv_planner *p, int32_t device)
{
    return p->segment_node[p->home[p->home_row[device]]];
}

/* Finds the next node of a device, whose home must lie on one node. */
CPUBIND_PRIV void cpubind_priv_find_next_node(cpubind_priv_planner *p, int32_t device)
{
    int32_t is_single = cpubind_priv_has_home(p, device);
    for (int32_t i = p->home_row[device]; i < p->home_row[device + 1] && is_single; i++)
        is_single = p->segment_node[p->home[i]] == cpubind_priv_home_node(p, device);
    p->next_node[device] = is_single ? (cpubind_priv_home_node(p, device) + 1) % p->host->n_node
                                     : CPUBIND_PRIV_NONE;
}

/* Lists the segments of list d, ascending, from out[n] on. Returns where they end. */
CPUBIND_PRIV int32_t cpubind_priv_list_segments(const cpubind_priv_planner *p,
                                                const cpubind_priv_rows *lists, int32_t d,
                                                int32_t *out, int32_t n)
{
    cpubind_priv_runs run;
    cpubind_priv_open_runs(&run, p->unit, p->n_unit, lists, d);
    while (cpubind_priv_next_run(&run) > 0)
        for (int32_t s = p->segment_of[run.first]; s <= p->segment_of[run.past - 1]; s++)
            out[n++] = s;
    return n;
}

/* Lists the segments that a device may have by its list, and cuts its home, which ends at
 * home[n], to them. Returns where the home ends then. */
CPUBIND_PRIV int32_t cpubind_priv_cut_home(cpubind_priv_planner *p, int32_t device, int32_t n)
{
    int32_t *last = p->segment_group; /* by segment: the last device that may have it */
    int32_t kept = p->home_row[device];
    p->may_row[device + 1] =
        cpubind_priv_list_segments(p, &p->listed, device, p->may, p->may_row[device]);
    for (int32_t i = p->may_row[device]; i < p->may_row[device + 1]; i++)
        last[p->may[i]] = device;
    for (int32_t i = p->home_row[device]; i < n; i++)
        if (last[p->home[i]] == device)
            p->home[kept++] = p->home[i];
    return kept;
}

/* The homes as segments, and the lists. Where every unit is a segment and no id is missing,
 * homes are read without a search for runs: most of them would be short. */
CPUBIND_PRIV void cpubind_priv_make_homes(cpubind_priv_planner *p)
{
    const int32_t n_unit = p->n_unit;
    const int32_t is_plain =
        n_unit > 0 && p->n_segment == n_unit && p->unit[n_unit - 1] - p->unit[0] == n_unit - 1;
    int32_t n = 0;
    p->n_home = 0;
    p->home_row[0] = 0;
    if (p->is_listed) {
        cpubind_priv_fill(p->segment_group, p->n_segment, CPUBIND_PRIV_NONE);
        p->may_row[0] = 0;
    }
    for (int32_t d = 0; d < p->n_device; d++) {
        for (int32_t i = p->near.first[d]; is_plain && i < p->near.end[d]; i++) {
            const int32_t s = p->near.item[i] - p->unit[0];
            if (s >= 0 && s < n_unit)
                p->home[n++] = s;
        }
        if (!is_plain)
            n = cpubind_priv_list_segments(p, &p->near, d, p->home, n);
        if (p->is_listed)
            n = cpubind_priv_cut_home(p, d, n);
        p->home_row[d + 1] = n;
        p->n_home += cpubind_priv_has_home(p, d);
        cpubind_priv_find_next_node(p, d);
    }
}

/* Reads the units: segments, homes and lists. */
CPUBIND_PRIV cpubind_status cpubind_priv_read_units(cpubind_priv_planner *p)
{
    cpubind_status status;
    cpubind_priv_find_starts(p);
    status = cpubind_priv_make_segments(p);
    if (status == CPUBIND_OK)
        cpubind_priv_make_homes(p);
    return status;
}

/* == The plan: groups, claims and shares ==================================== */

CPUBIND_PRIV int32_t cpubind_priv_has_claim(const cpubind_priv_planner *p, int32_t device)
{
    return p->claim_row[device] < p->claim_row[device + 1];
}

/* Nobody claims anything so far. */
CPUBIND_PRIV void cpubind_priv_open_claims(cpubind_priv_planner *p)
{
    p->claim_row = p->claim_rows;
    p->claim = p->claims;
    p->claim_rows[0] = 0;
}

/* So many groups and devices are listed at a time: the ends of the rows stay in the caches, and
 * their pages in the tables of the processor. */
#define CPUBIND_PRIV_TILE_GROUPS  256
#define CPUBIND_PRIV_TILE_DEVICES 512

/* Lists the devices first .. end - 1 that claim each group, from the last group on. */
CPUBIND_PRIV void cpubind_priv_list_tile(cpubind_priv_planner *p, int32_t first, int32_t end)
{
    int32_t *at = p->load; /* by device: its claims before this one are of groups below g */
    for (int32_t d = first; d < end; d++)
        at[d] = p->claim_row[d + 1];
    for (int32_t g = p->n_group; g > 0;) {
        g = g > CPUBIND_PRIV_TILE_GROUPS ? g - CPUBIND_PRIV_TILE_GROUPS : 0;
        for (int32_t d = end - 1; d >= first; d--) {
            int32_t c = at[d];
            for (; c > p->claim_row[d] && p->claim[c - 1] >= g; c--)
                p->claimant[--p->claimant_row[p->claim[c - 1]]] = d;
            at[d] = c;
        }
    }
}

/* Lists the devices that claim each group; nobody has a share yet. */
CPUBIND_PRIV void cpubind_priv_open_shares(cpubind_priv_planner *p)
{
    if (p->claim == p->claims) { /* else they were counted with the homes */
        cpubind_priv_fill(p->claimant_row, p->n_group + 1, 0);
        cpubind_priv_count_keys(p->claim, p->claim_row[p->n_device], p->claimant_row);
    }
    cpubind_priv_end_rows(p->claimant_row, p->n_group);
    for (int32_t end = p->n_device; end > 0; end -= CPUBIND_PRIV_TILE_DEVICES) {
        const int32_t first = end - CPUBIND_PRIV_TILE_DEVICES;
        cpubind_priv_list_tile(p, first > 0 ? first : 0, end);
    }
    cpubind_priv_fill(p->load, p->n_device, 0);
    cpubind_priv_fill(p->group_slot, p->n_group, CPUBIND_PRIV_NONE);
    p->device_slot = p->pool_table;
    cpubind_priv_fill(p->device_slot, p->n_device, CPUBIND_PRIV_NONE);
    p->free_slot = CPUBIND_PRIV_NONE;
    p->n_slot = 0;
}

/* Gives a device `count` more of a group. *link leads to a slot of the group that is not after
 * that of the device. Returns the link to the slot of the device, or *link if count is 0. */
CPUBIND_PRIV int32_t *cpubind_priv_give(cpubind_priv_planner *p, int32_t *link, int32_t group,
                                        int32_t device, int32_t count)
{
    int32_t slot = p->free_slot;
    if (count == 0)
        return link;
    p->load[device] += count;
    while (*link != CPUBIND_PRIV_NONE && p->slot_device[*link] < device)
        link = &p->slot_next[*link];
    if (*link != CPUBIND_PRIV_NONE && p->slot_device[*link] == device) {
        p->slot_count[*link] += count;
        return link;
    }
    if (slot == CPUBIND_PRIV_NONE)
        slot = p->n_slot++;
    else
        p->free_slot = p->slot_next[slot];
    p->slot_next[slot] = *link;
    *link = slot;
    p->slot_device[slot] = device;
    p->slot_group[slot] = group;
    p->slot_count[slot] = count;
    if (p->claimant_row[group + 1] - p->claimant_row[group] == 1)
        return link; /* what nobody else claims is not moved */
    p->slot_before[slot] = CPUBIND_PRIV_NONE;
    p->slot_after[slot] = p->device_slot[device];
    if (p->slot_after[slot] != CPUBIND_PRIV_NONE)
        p->slot_before[p->slot_after[slot]] = slot;
    p->device_slot[device] = slot;
    return link;
}

/* Hands the units of a segment out to the devices of a group, share after share, from where the
 * last segment of the group ended. Units that are left over have no owner. */
CPUBIND_PRIV void cpubind_priv_hand_out(cpubind_priv_planner *p, int32_t group, int32_t segment)
{
    int32_t at = p->segment_first[segment];
    const int32_t end = p->segment_first[segment + 1];
    while (group != CPUBIND_PRIV_NONE && at < end &&
           p->group_slot[group] != CPUBIND_PRIV_NONE) {
        const int32_t slot = p->group_slot[group];
        const int32_t count = cpubind_priv_min(p->slot_count[slot], end - at);
        cpubind_priv_fill(p->owner + at, count, p->slot_device[slot]);
        p->slot_count[slot] -= count;
        if (p->slot_count[slot] == 0)
            p->group_slot[group] = p->slot_next[slot];
        at += count;
    }
    cpubind_priv_fill(p->owner + at, end - at, CPUBIND_PRIV_NONE);
}

/* Hands all units out, where every segment is in one group at most. */
CPUBIND_PRIV void cpubind_priv_hand_out_all(cpubind_priv_planner *p)
{
    for (int32_t s = 0; s < p->n_segment; s++)
        cpubind_priv_hand_out(p, p->segment_group[s], s);
}

/* == The plan: rows and trace =============================================== */

/* Fails when a wanted device's pool of `have` CPUs is too small. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_size(const cpubind_priv_planner *p,
                                                    int32_t device, int32_t have)
{
    const int32_t *least = p->devices->least;
    const int32_t need = least == NULL ? p->need : least[cpubind_priv_member(p, device)];
    return have >= need ? CPUBIND_OK
                        : cpubind_priv_fail(p->fault, CPUBIND_ERR_TOO_FEW, device, need, have);
}

/* Makes room for the pool of a wanted device. Returns where it starts in plan->cpu. */
CPUBIND_PRIV int32_t cpubind_priv_add_row(cpubind_priv_planner *p, int32_t device,
                                          int32_t count)
{
    const int32_t row = cpubind_priv_row_of(p, device);
    if (p->has_sets)
        p->row_size[row] = count;
    p->plan->row[row] = p->n_out;
    p->n_out += count;
    return p->n_out - count;
}

/* Whether plan->cpu has room for all rows so far. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_room(const cpubind_priv_planner *p)
{
    p->plan->n_cpu = p->n_out;
    return p->n_out <= p->plan->cap_cpu ? CPUBIND_OK
                                        : cpubind_priv_refuse(p->fault, CPUBIND_ERR_SPACE,
                                                              "plan.cpu", CPUBIND_PRIV_NONE);
}

/* The rows of the plan, from the loads. */
CPUBIND_PRIV cpubind_status cpubind_priv_make_rows(cpubind_priv_planner *p)
{
    cpubind_status status = CPUBIND_OK;
    for (int32_t d = 0; status == CPUBIND_OK && d < p->n_device; d++) {
        p->write_at[d] = CPUBIND_PRIV_NONE;
        if (!cpubind_priv_is_wanted(p, d))
            continue;
        status = cpubind_priv_check_size(p, d, p->load[d]);
        p->write_at[d] = cpubind_priv_add_row(p, d, p->load[d]);
    }
    return status == CPUBIND_OK ? cpubind_priv_check_room(p) : status;
}

/* Writes the CPUs of positions at .. end - 1 into the rows of their owners. */
CPUBIND_PRIV void cpubind_priv_write_cpus(cpubind_priv_planner *p, int32_t at, int32_t end)
{
    while (at < end) {
        const int32_t device = p->owner[at];
        int32_t past = at + 1;
        while (past < end && p->owner[past] == device)
            past++;
        if (device != CPUBIND_PRIV_NONE && p->write_at[device] != CPUBIND_PRIV_NONE) {
            cpubind_priv_copy(p->plan->cpu + p->write_at[device], p->host->cpu + at, past - at);
            p->write_at[device] += past - at;
        }
        at = past;
    }
}

/* Notes the step by which every unit came to its owner: `other`, or by the home of the owner
 * where the rule has homes. */
CPUBIND_PRIV void cpubind_priv_note_steps(cpubind_priv_planner *p, cpubind_step other)
{
    const int32_t by_home = other == CPUBIND_STEP_NEXT || other == CPUBIND_STEP_NEAREST;
    for (int32_t i = 0; i < p->n_unit; i++)
        p->step[i] = (int32_t)(p->owner[i] == CPUBIND_PRIV_NONE ? CPUBIND_STEP_IDLE : other);
    for (int32_t d = 0; by_home && d < p->n_device; d++) {
        cpubind_priv_runs run;
        cpubind_priv_open_runs(&run, p->unit, p->n_unit, &p->near, d);
        while (cpubind_priv_next_run(&run) > 0)
            for (int32_t i = run.first; i < run.past; i++)
                if (p->owner[i] == d)
                    p->step[i] = CPUBIND_STEP_HOME;
    }
}

/* The group of a position, or NONE when no device claims it. */
CPUBIND_PRIV int32_t cpubind_priv_group_of(const cpubind_priv_planner *p, int32_t position)
{
    int32_t unit, group;
    if (p->n_group == 0)
        return CPUBIND_PRIV_NONE;
    unit = p->core_row == NULL ? position : p->core_of[position];
    group = p->segment_group[p->segment_of[unit]];
    return group == CPUBIND_PRIV_NONE || p->claimant_row[group] == p->claimant_row[group + 1]
               ? CPUBIND_PRIV_NONE
               : group;
}

/* Adds to the trace how the CPUs came to their owners, by slices if step is NULL; and the
 * groups: all of them, or those of a set that have CPUs. */
CPUBIND_PRIV cpubind_status cpubind_priv_write_trace(cpubind_priv_planner *p,
                                                     const int32_t *owner, const int32_t *step)
{
    cpubind_trace *trace = p->plan->trace;
    const int32_t n_cpu = trace == NULL ? 0 : p->host->n_cpu;
    const int32_t n_group = trace == NULL ? 0 : p->n_group;
    int32_t *number = p->group_sum; /* by group: its number in the trace, or NONE */
    cpubind_priv_fill(number, n_group, p->is_whole ? 0 : CPUBIND_PRIV_NONE);
    for (int32_t i = 0; i < n_cpu; i++)
        if (cpubind_priv_group_of(p, i) != CPUBIND_PRIV_NONE)
            number[cpubind_priv_group_of(p, i)] = 0;
    for (int32_t g = 0; g < n_group; g++) {
        const int32_t first = p->claimant_row[g];
        const int32_t end = p->claimant_row[g + 1];
        if (number[g] == CPUBIND_PRIV_NONE)
            continue;
        if (p->n_trace_group + 1 >= trace->cap_row ||
            end - first > trace->cap_device - p->n_trace_device)
            return cpubind_priv_refuse(p->fault, CPUBIND_ERR_SPACE, "plan.trace",
                                       CPUBIND_PRIV_NONE);
        number[g] = p->n_trace_group;
        trace->row[p->n_trace_group++] = p->n_trace_device;
        for (int32_t c = first; c < end; c++)
            trace->device[p->n_trace_device++] = cpubind_priv_member(p, p->claimant[c]);
    }
    for (int32_t i = 0; i < n_cpu; i++) {
        const int32_t at = p->position == NULL ? i : p->position[i];
        const int32_t group = cpubind_priv_group_of(p, i);
        trace->owner[at] = cpubind_priv_member(p, owner[i]);
        trace->step[at] = step == NULL ? (int32_t)CPUBIND_STEP_SLICE : step[i];
        trace->group[at] = group == CPUBIND_PRIV_NONE ? CPUBIND_PRIV_NONE : number[group];
    }
    return CPUBIND_OK;
}

/* Adds what was found out about the plan of a set to what was before. */
CPUBIND_PRIV void cpubind_priv_add_found(cpubind_priv_planner *p, cpubind_strategy strategy,
                                         cpubind_finding overlap, int32_t n_checked)
{
    if (strategy != CPUBIND_GLOBAL_SLICE)
        p->found.strategy = strategy;
    if (overlap > p->found.overlap)
        p->found.overlap = overlap;
    p->found.n_checked += n_checked;
}

/* Writes the pools by the owners of the CPUs, and the trace. */
CPUBIND_PRIV cpubind_status cpubind_priv_write_owned(cpubind_priv_planner *p)
{
    const cpubind_status status = cpubind_priv_make_rows(p);
    if (status != CPUBIND_OK)
        return status;
    cpubind_priv_write_cpus(p, 0, p->host->n_cpu);
    return cpubind_priv_write_trace(p, p->owner, p->step);
}

/* == The plan: topo_affinity ================================================ */

/* Two ascending lists of segments, read as one: the home, and the next node. */
typedef struct cpubind_priv_walk {
    const int32_t *home, *home_end;
    const int32_t *next, *next_end;
} cpubind_priv_walk;

CPUBIND_PRIV void cpubind_priv_walk_pool(const cpubind_priv_planner *p, int32_t device,
                                         cpubind_priv_walk *out)
{
    const int32_t next = p->next_node[device];
    const int32_t has_next = next != CPUBIND_PRIV_NONE;
    out->home = p->home + p->home_row[device];
    out->home_end = p->home + p->home_row[device + 1];
    out->next = p->node_segment + (has_next ? p->node_row[next] : 0);
    out->next_end = p->node_segment + (has_next ? p->node_row[next + 1] : 0);
}

/* The next segment, each once, or NONE. */
CPUBIND_PRIV int32_t cpubind_priv_walk_on(cpubind_priv_walk *walk)
{
    const int32_t home = walk->home < walk->home_end ? *walk->home : CPUBIND_PRIV_MAX;
    const int32_t next = walk->next < walk->next_end ? *walk->next : CPUBIND_PRIV_MAX;
    const int32_t segment = cpubind_priv_min(home, next);
    walk->home += home == segment && home != CPUBIND_PRIV_MAX;
    walk->next += next == segment && next != CPUBIND_PRIV_MAX;
    return segment == CPUBIND_PRIV_MAX ? CPUBIND_PRIV_NONE : segment;
}

CPUBIND_PRIV int32_t cpubind_priv_same_pool(const cpubind_priv_planner *p, int32_t a, int32_t b)
{
    cpubind_priv_walk walk_a, walk_b;
    int32_t segment;
    if (p->pool_hash[a] != p->pool_hash[b] || p->pool_size[a] != p->pool_size[b])
        return 0;
    if (p->host->n_node == 1)
        return 1;
    cpubind_priv_walk_pool(p, a, &walk_a);
    cpubind_priv_walk_pool(p, b, &walk_b);
    if (p->next_node[a] == p->next_node[b]) { /* then only the homes can differ */
        walk_a.next = walk_a.next_end;
        walk_b.next = walk_b.next_end;
    }
    do {
        segment = cpubind_priv_walk_on(&walk_a);
        if (segment != cpubind_priv_walk_on(&walk_b))
            return 0;
    } while (segment != CPUBIND_PRIV_NONE);
    return 1;
}

/* Finds the size of the extended pool of a device, and its hash. */
CPUBIND_PRIV void cpubind_priv_measure_extended(cpubind_priv_planner *p, int32_t device)
{
    const int32_t next = p->next_node[device];
    int32_t size = next == CPUBIND_PRIV_NONE ? 0 : p->node_size[next];
    int32_t hash = next == CPUBIND_PRIV_NONE ? 0 : p->node_hash[next];
    for (int32_t i = p->home_row[device]; i < p->home_row[device + 1]; i++) {
        if (p->segment_node[p->home[i]] == next)
            continue; /* the node is its own next one */
        size += cpubind_priv_width(p, p->home[i]);
        hash = cpubind_priv_add_hash(hash, cpubind_priv_hash(p->home[i]));
    }
    p->pool_size[device] = size;
    p->pool_hash[device] = hash;
}

/* A group for each extended pool; each device claims the group of its own. */
CPUBIND_PRIV void cpubind_priv_group_pools(cpubind_priv_planner *p)
{
    int32_t slots = 2;
    int32_t n = 0;
    while (slots < 2 * p->n_device)
        slots += slots;
    cpubind_priv_fill(p->pool_table, slots, CPUBIND_PRIV_NONE);
    p->n_group = 0;
    cpubind_priv_open_claims(p);
    for (int32_t d = 0; d < p->n_device; d++) {
        int32_t slot;
        cpubind_priv_measure_extended(p, d);
        slot = p->pool_hash[d] & (slots - 1);
        if (cpubind_priv_has_home(p, d)) {
            while (p->pool_table[slot] != CPUBIND_PRIV_NONE &&
                   !cpubind_priv_same_pool(p, p->pool_table[slot], d))
                slot = (slot + 1) & (slots - 1);
            if (p->pool_table[slot] == CPUBIND_PRIV_NONE) {
                p->pool_table[slot] = d;
                p->group_first[p->n_group] = d;
                p->group_size[p->n_group] = p->pool_size[d];
                p->claims[n++] = p->n_group++;
            } else {
                p->claims[n++] = p->claim[p->claim_row[p->pool_table[slot]]];
            }
        }
        p->claim_rows[d + 1] = n;
    }
}

/* The device of the group that gets the first CPU of a segment of its extended pool. */
CPUBIND_PRIV int32_t cpubind_priv_holder(const cpubind_priv_planner *p, int32_t group,
                                         int32_t segment)
{
    cpubind_priv_walk walk;
    int32_t slot = p->group_slot[group];
    int32_t before = 0; /* CPUs of the pool before the segment */
    int32_t other;
    cpubind_priv_walk_pool(p, p->group_first[group], &walk);
    while ((other = cpubind_priv_walk_on(&walk)) != segment && other != CPUBIND_PRIV_NONE)
        before += cpubind_priv_width(p, other);
    for (; before >= p->slot_count[slot]; slot = p->slot_next[slot])
        before -= p->slot_count[slot];
    return p->slot_device[slot];
}

/* Finds the first segment that two groups have, and two devices that get its first CPU. Each
 * step either gives a segment its group or ends the search. */
CPUBIND_PRIV cpubind_finding cpubind_priv_find_overlap(cpubind_priv_planner *p,
                                                       cpubind_fault *shared)
{
    (void)cpubind_priv_fail(shared, CPUBIND_OK, CPUBIND_PRIV_NONE, 0, 0);
    cpubind_priv_fill(p->segment_group, p->n_segment, CPUBIND_PRIV_NONE);
    for (int32_t g = 0; g < p->n_group; g++) {
        cpubind_priv_walk walk;
        int32_t s;
        cpubind_priv_walk_pool(p, p->group_first[g], &walk);
        while ((s = cpubind_priv_walk_on(&walk)) != CPUBIND_PRIV_NONE) {
            if (p->segment_group[s] != CPUBIND_PRIV_NONE) {
                (void)cpubind_priv_set_shared(shared, cpubind_priv_holder(p, g, s),
                                              cpubind_priv_holder(p, p->segment_group[s], s),
                                              p->host->cpu[p->segment_first[s]]);
                return CPUBIND_FOUND_PRESENT;
            }
            p->segment_group[s] = g;
        }
    }
    return CPUBIND_FOUND_NONE;
}

/* Rows and CPUs where a segment may be in several groups: from the last group on, so that the
 * first one of a segment and the owners by it are left for the trace. */
CPUBIND_PRIV cpubind_status cpubind_priv_write_pools(cpubind_priv_planner *p)
{
    const cpubind_status status = cpubind_priv_make_rows(p);
    if (status != CPUBIND_OK)
        return status;
    cpubind_priv_fill(p->owner, p->n_unit, CPUBIND_PRIV_NONE);
    for (int32_t g = p->n_group - 1; g >= 0; g--) {
        cpubind_priv_walk walk;
        int32_t s;
        cpubind_priv_walk_pool(p, p->group_first[g], &walk);
        while ((s = cpubind_priv_walk_on(&walk)) != CPUBIND_PRIV_NONE) {
            cpubind_priv_hand_out(p, g, s);
            cpubind_priv_write_cpus(p, p->segment_first[s], p->segment_first[s + 1]);
            p->segment_group[s] = g;
        }
    }
    if (p->plan->trace != NULL)
        cpubind_priv_note_steps(p, CPUBIND_STEP_NEXT);
    return cpubind_priv_write_trace(p, p->owner, p->step);
}

/* == The plan: balance ======================================================
 *
 * RESOLVE: a CPU in a home may be given to the devices whose home it is in; any other CPU to
 * the devices that are extended onto its node. NEAR and lists of allowed CPUs have other
 * claims. Each group is split evenly at first; then units move from devices with more of them
 * to devices with fewer, along paths device -> group -> device -> ..., until no path helps
 * (S5). Where there are so many claims that long paths would take seconds, each unit goes to
 * the device with the smallest load at first: then few of them have to move. */

#define CPUBIND_PRIV_MANY     65536 /* with more claims, groups are filled by load */
#define CPUBIND_PRIV_PATIENCE 4096  /* claims and slots that are always worth a search */

/* Puts the segments that are in the same homes into one group or, without is_joined, each
 * segment into a group of its own; what is in no home into a group for each node. The same
 * homes are found by two sums of hashes. Groups are numbered by their first segments, then
 * those of the nodes, in the order of the nodes: the claims of each device are ascending.
 * Returns the first group of the nodes. */
CPUBIND_PRIV int32_t cpubind_priv_join_segments(cpubind_priv_planner *p,
                                                cpubind_priv_rows homes, int32_t is_joined)
{
    int32_t *latest =
        p->group_first; /* by sum: the latest group, each with the one before it */
    int32_t *n_home = p->claimant_row; /* by segment: homes that it is in */
    int32_t n = 0;
    cpubind_priv_fill(p->group_sum, p->n_segment, 0);
    cpubind_priv_fill(p->group_other, p->n_segment, 0);
    cpubind_priv_fill(n_home, p->n_segment + p->host->n_node + 1, 0);
    for (int32_t d = 0; d < p->n_device; d++) {
        const int32_t hash = cpubind_priv_hash(d);
        const int32_t other = cpubind_priv_hash(d + CPUBIND_MAX_DEVICES);
        for (int32_t i = homes.first[d]; i < homes.end[d]; i++) {
            const int32_t s = homes.item[i];
            p->group_sum[s] = cpubind_priv_add_hash(p->group_sum[s], hash);
            p->group_other[s] = cpubind_priv_add_hash(p->group_other[s], other);
            n_home[s]++;
        }
    }
    cpubind_priv_fill(latest, p->n_segment, CPUBIND_PRIV_NONE);
    for (int32_t s = 0; s < p->n_segment; s++) { /* a group's number is not above s */
        const int32_t sum = p->group_sum[s];
        const int32_t other = p->group_other[s];
        const int32_t at = sum % p->n_segment;
        int32_t g = is_joined ? latest[at] : CPUBIND_PRIV_NONE;
        p->segment_group[s] = CPUBIND_PRIV_NONE;
        if (n_home[s] == 0)
            continue;
        while (g != CPUBIND_PRIV_NONE && (p->group_sum[g] != sum || p->group_other[g] != other))
            g = p->group_next[g];
        if (g == CPUBIND_PRIV_NONE) {
            g = n++;
            p->group_sum[g] = sum;
            p->group_other[g] = other;
            p->group_segments[g] = 0;
            p->group_next[g] = latest[at];
            latest[at] = g;
        }
        p->segment_group[s] = g;
        p->group_segments[g]++;
    }
    p->n_group = n + p->host->n_node;
    cpubind_priv_fill(p->group_segments + n, p->host->n_node, 0);
    cpubind_priv_fill(p->group_size, p->n_group, 0);
    for (int32_t s = 0; s < p->n_segment; s++) {
        if (p->segment_group[s] == CPUBIND_PRIV_NONE)
            p->segment_group[s] = n + p->segment_node[s];
        p->group_size[p->segment_group[s]] += cpubind_priv_width(p, s);
    }
    return n;
}

/* Whether node b is on another socket than node a. */
CPUBIND_PRIV int32_t cpubind_priv_is_far(const cpubind_host *host, int32_t a, int32_t b)
{
    if (host->socket != NULL)
        return host->socket[a] != host->socket[b];
    return a != b && host->distance != NULL &&
           host->distance[a * host->n_node + b] >= CPUBIND_FAR_DISTANCE;
}

/* The distance from node a to node b; the least one to itself. */
CPUBIND_PRIV int32_t cpubind_priv_distance(const cpubind_host *host, int32_t a, int32_t b)
{
    if (a == b)
        return 0;
    return host->distance == NULL ? 1 : host->distance[a * host->n_node + b];
}

/* The same; MAX where they are on different sockets. */
CPUBIND_PRIV int32_t cpubind_priv_bound_distance(const cpubind_host *host, int32_t a, int32_t b)
{
    return cpubind_priv_is_far(host, a, b) ? CPUBIND_PRIV_MAX
                                           : cpubind_priv_distance(host, a, b);
}

/* Marks the places of a device for claims_node. */
CPUBIND_PRIV void cpubind_priv_mark_places(cpubind_priv_planner *p, int32_t device)
{
    for (int32_t i = p->place_row[device]; i < p->place_row[device + 1]; i++)
        p->node_mark[p->place[i]] = device;
}

/* Whether a device, whose places have its mark, claims the cores of a node that are in nobody's
 * home by N3. A place is nearest to itself. */
CPUBIND_PRIV int32_t cpubind_priv_claims_node(const cpubind_priv_planner *p, int32_t device,
                                              int32_t node)
{
    if (p->nearest[node] == 0)
        return p->node_mark[node] == device;
    for (int32_t i = p->place_row[device]; i < p->place_row[device + 1]; i++)
        if (cpubind_priv_bound_distance(p->host, p->place[i], node) == p->nearest[node])
            return p->nearest[node] < CPUBIND_PRIV_MAX;
    return 0;
}

/* N3: adds the groups of nodes, from first_rest on, to the n claims so far. Returns how many
 * claims there are then. */
CPUBIND_PRIV int32_t cpubind_priv_claim_nodes(cpubind_priv_planner *p, int32_t device,
                                              int32_t first_rest, int32_t n)
{
    cpubind_priv_mark_places(p, device);
    for (int32_t node = 0; node < p->host->n_node; node++)
        if (p->group_size[first_rest + node] > 0 && cpubind_priv_claims_node(p, device, node))
            p->claims[n++] = first_rest + node;
    return n;
}

/* Lets each device claim the groups of its home; and, of what is in no home, from first_rest
 * on, the next node or, for NEAR, nodes by N3. With lists, homes are what the devices may be
 * given: there is nothing else to claim. Returns whether each home has all segments of a group
 * or none, as it does unless sums were equal by chance. */
CPUBIND_PRIV int32_t cpubind_priv_claim_groups(cpubind_priv_planner *p, cpubind_priv_rows homes,
                                               int32_t first_rest)
{
    const int32_t is_near = p->policy->strategy == CPUBIND_NEAR;
    int32_t n = 0;
    cpubind_priv_fill(p->group_claimed, p->n_group, CPUBIND_PRIV_NONE);
    for (int32_t d = 0; d < p->n_device; d++) {
        const int32_t next = is_near || p->is_listed ? CPUBIND_PRIV_NONE : p->next_node[d];
        int32_t n_missing = homes.first[d] - homes.end[d];
        for (int32_t i = homes.first[d]; i < homes.end[d]; i++) {
            const int32_t group = p->segment_group[homes.item[i]];
            if (p->group_claimed[group] == d)
                continue;
            p->group_claimed[group] = d;
            p->claims[n++] = group;
            n_missing += p->group_segments[group];
        }
        if (n_missing != 0)
            return 0;
        if (next != CPUBIND_PRIV_NONE && p->group_size[first_rest + next] > 0)
            p->claims[n++] = first_rest + next;
        if (is_near && !p->is_listed)
            n = cpubind_priv_claim_nodes(p, d, first_rest, n);
        p->claim_rows[d + 1] = n;
    }
    return 1;
}

/* Groups the segments by the homes that they are in, or each alone, and finds the claims. */
CPUBIND_PRIV void cpubind_priv_make_claims(cpubind_priv_planner *p, cpubind_priv_rows homes)
{
    int32_t is_joined = 1;
    int32_t first_rest;
    cpubind_priv_open_claims(p);
    do {
        first_rest = cpubind_priv_join_segments(p, homes, is_joined);
        if (first_rest == p->n_segment) { /* every segment is a group, with its number */
            p->claim_row = homes.first;
            p->claim = homes.item;
            return;
        }
        is_joined = 0;
    } while (!cpubind_priv_claim_groups(p, homes, first_rest));
}

/* Every group evenly among its devices. What does not divide evenly goes to the last of them
 * or, without to_last, round all devices, so that it is not always the first ones. */
CPUBIND_PRIV void cpubind_priv_split_evenly(cpubind_priv_planner *p, int32_t to_last)
{
    int32_t extras = 0; /* units so far that did not divide evenly */
    for (int32_t g = 0; g < p->n_group; g++) {
        const int32_t first = p->claimant_row[g];
        const int32_t n = p->claimant_row[g + 1] - first;
        const int32_t extra = n > 0 ? p->group_size[g] % n : 0;
        int32_t after = n > 0 ? (n - extras % n) % n : 0;
        int32_t *link = &p->group_slot[g];
        for (int32_t i = 0; i < n; i++) {
            const int32_t more = to_last ? extra * (i == n - 1) : after < extra;
            link = cpubind_priv_give(p, link, g, p->claimant[first + i],
                                     p->group_size[g] / n + more);
            after = after + 1 < n ? after + 1 : 0;
        }
        extras += extra;
    }
}

/* Gives the units of a group to the devices with the smallest loads of those that claim it. No
 * load is below `floor`: where one unit is left, a device with that load gets it. */
CPUBIND_PRIV void cpubind_priv_fill_group(cpubind_priv_planner *p, int32_t group, int32_t floor)
{
    const int32_t first = p->claimant_row[group];
    const int32_t end = p->claimant_row[group + 1];
    int32_t left = end > first ? p->group_size[group] : 0;
    while (left > 0) {
        int32_t least = CPUBIND_PRIV_MAX; /* the smallest load, ... */
        int32_t next = CPUBIND_PRIV_MAX;  /* ... the one above it, ... */
        int32_t n = 1;                    /* ... the devices with the smallest, ... */
        int32_t at = first;               /* ... and the first of these */
        int32_t count;
        int32_t *link = &p->group_slot[group];
        for (int32_t c = first; c < end && (left > 1 || least > floor); c++) {
            const int32_t load = p->load[p->claimant[c]];
            if (load < least) {
                next = least;
                least = load;
                n = 1;
                at = c;
            } else if (load == least) {
                n++;
            } else if (load < next) {
                next = load;
            }
        }
        count = cpubind_priv_min(next - least, left / n);
        if (count == 0) {
            count = 1;
            n = left;
        }
        left -= count * n;
        for (; n > 0; at++)
            if (p->load[p->claimant[at]] == least) {
                link = cpubind_priv_give(p, link, group, p->claimant[at], count);
                n--;
            }
    }
}

/* The smallest load of a device with a claim; MAX if there is none. *most is the largest. */
CPUBIND_PRIV int32_t cpubind_priv_least_load(const cpubind_priv_planner *p, int32_t *most)
{
    int32_t least = CPUBIND_PRIV_MAX;
    *most = 0;
    for (int32_t d = 0; d < p->n_device; d++) {
        if (!cpubind_priv_has_claim(p, d))
            continue;
        least = cpubind_priv_min(least, p->load[d]);
        if (p->load[d] > *most)
            *most = p->load[d];
    }
    return least;
}

/* Gives out the groups, those with the fewest claims first. The floor is found anew when there
 * were as many units as there are devices. */
CPUBIND_PRIV void cpubind_priv_fill_groups(cpubind_priv_planner *p)
{
    int32_t *n_claim = p->group_sum;
    int32_t *order = p->group_next;
    int32_t n_given = 0; /* units since the floor was found */
    int32_t floor = 0;
    int32_t most;
    for (int32_t g = 0; g < p->n_group; g++)
        n_claim[g] = p->claimant_row[g + 1] - p->claimant_row[g];
    cpubind_priv_sort_by_key(n_claim, p->n_group, p->n_device + 1, p->pool_table + p->n_device,
                             order);
    for (int32_t i = 0; i < p->n_group; i++) {
        if (n_given >= p->n_device) {
            floor = cpubind_priv_least_load(p, &most);
            n_given = 0;
        }
        cpubind_priv_fill_group(p, order[i], floor);
        n_given += p->group_size[order[i]];
    }
}

/* Frees a slot of a group, which leads to `link`. */
CPUBIND_PRIV void cpubind_priv_drop_slot(cpubind_priv_planner *p, int32_t slot)
{
    const int32_t group = p->slot_group[slot];
    const int32_t before = p->slot_before[slot];
    const int32_t after = p->slot_after[slot];
    int32_t *link = &p->group_slot[group];
    while (*link != slot)
        link = &p->slot_next[*link];
    *link = p->slot_next[slot];
    if (p->group_at[group] == slot)
        p->group_at[group] = *link;
    p->slot_next[slot] = p->free_slot;
    p->free_slot = slot;
    if (before == CPUBIND_PRIV_NONE)
        p->device_slot[p->slot_device[slot]] = after;
    else
        p->slot_after[before] = after;
    if (after != CPUBIND_PRIV_NONE)
        p->slot_before[after] = before;
}

/* == The plan: levels =======================================================
 *
 * A unit moves along the path that a search breadth first from the poorest device finds: the
 * shortest path to a device with the largest load in reach, a rich device; of the shortest ones
 * the path that takes, at each device, the first claim and the first share that can be taken.
 * A search may read most claims, and there may be as many searches as units. Levels find the
 * same path without that. The level of a device is at most the length of its shortest path to a
 * rich device; the level of a group is at most the level of each device that has units of it.
 * climb goes from a level to one lower by 1 as long as it can. Where it cannot, the level is
 * too low, and climb raises it. So a claim or a share is read once for each level.
 *
 * A move along a shortest path makes no path shorter. When no rich device is left, the devices
 * with the largest load then are rich: their levels become 0, and the levels of the devices
 * that are nearer to them now are lowered.
 *
 * Devices with the same largest load are a tier; the levels of tier t start at
 * t * (n_device + 2). No path leads from a tier to a device of an earlier tier. */

#define CPUBIND_PRIV_FAR CPUBIND_PRIV_MAX /* no path is known */

CPUBIND_PRIV int32_t cpubind_priv_tier(const cpubind_priv_planner *p, int32_t device)
{
    return p->level[device] / (p->n_device + 2);
}

/* Lowers levels, from those of the devices in the queue on. */
CPUBIND_PRIV void cpubind_priv_lower_levels(cpubind_priv_planner *p)
{
    for (int32_t i = 0; i < p->n_queue; i++) {
        const int32_t from = p->queue[i];
        const int32_t level = p->level[from];
        for (int32_t slot = p->device_slot[from]; slot != CPUBIND_PRIV_NONE;
             slot = p->slot_after[slot]) {
            const int32_t group = p->slot_group[slot];
            if (p->group_level[group] <= level)
                continue;
            p->group_level[group] = level;
            for (int32_t s = p->claimant_row[group]; s < p->claimant_row[group + 1]; s++) {
                const int32_t to = p->claimant[s];
                if (p->level[to] <= level + 1 || p->is_done[to])
                    continue;
                p->level[to] = level + 1;
                p->queue[p->n_queue++] = to;
            }
        }
    }
}

/* Forgets all levels. */
CPUBIND_PRIV void cpubind_priv_clear_levels(cpubind_priv_planner *p)
{
    p->n_tier = 0;
    cpubind_priv_fill(p->level, p->n_device, CPUBIND_PRIV_FAR);
    cpubind_priv_fill(p->group_level, p->n_group, CPUBIND_PRIV_FAR);
}

/* Makes a tier of the devices with the largest load of those whose levels are not below the
 * tier's. Returns that load; does nothing when it is below `least`. */
CPUBIND_PRIV int32_t cpubind_priv_make_tier(cpubind_priv_planner *p, int32_t tier,
                                            int32_t least)
{
    const int32_t level = tier * (p->n_device + 2);
    int32_t most = least;
    int32_t n_rich = 0;
    for (int32_t d = 0; d < p->n_device; d++) {
        if (p->is_done[d] || p->level[d] < level || p->device_slot[d] == CPUBIND_PRIV_NONE ||
            p->load[d] < most)
            continue;
        n_rich = p->load[d] > most ? 1 : n_rich + 1;
        most = p->load[d];
    }
    if (n_rich == 0)
        return CPUBIND_PRIV_NONE;
    p->tier_load[tier] = most;
    p->tier_rich[tier] = n_rich;
    p->n_tier += tier == p->n_tier;
    p->n_queue = 0;
    for (int32_t d = 0; d < p->n_device; d++)
        if (!p->is_done[d] && p->level[d] > level && p->load[d] == most &&
            p->device_slot[d] != CPUBIND_PRIV_NONE) {
            p->level[d] = level;
            p->queue[p->n_queue++] = d;
        }
    cpubind_priv_lower_levels(p);
    return most;
}

/* Makes tiers until levels lead from `poor` to a device that can help it. When no device can,
 * all devices that such a tier would be made of are done: no path helps them, now or later.
 * Returns whether there are such levels. */
CPUBIND_PRIV int32_t cpubind_priv_make_levels(cpubind_priv_planner *p, int32_t poor)
{
    int32_t tier;
    if (p->n_tier == 0 || p->n_tier == p->n_device)
        cpubind_priv_clear_levels(p);
    p->work = 0;
    for (int32_t g = 0; g < p->n_group; g++)
        p->group_at[g] = p->group_slot[g];
    cpubind_priv_fill(p->claim_at, p->n_device, CPUBIND_PRIV_NONE);
    tier = p->level[poor] == CPUBIND_PRIV_FAR ? p->n_tier : cpubind_priv_tier(p, poor);
    do {
        if (cpubind_priv_make_tier(p, tier, p->load[poor] + 2) == CPUBIND_PRIV_NONE) {
            for (int32_t d = 0; d < p->n_device; d++) {
                if (p->level[d] < tier * (p->n_device + 2))
                    continue;
                p->level[d] = CPUBIND_PRIV_FAR;
                p->is_done[d] = 1;
            }
            return 0;
        }
        tier = p->n_tier;
    } while (p->level[poor] == CPUBIND_PRIV_FAR && tier < p->n_device);
    return p->level[poor] != CPUBIND_PRIV_FAR;
}

/* Whether levels lead from `poor` to a device that can help it. */
CPUBIND_PRIV int32_t cpubind_priv_has_level(const cpubind_priv_planner *p, int32_t poor)
{
    int32_t tier;
    if (p->n_tier == 0 || p->level[poor] == CPUBIND_PRIV_FAR)
        return 0;
    tier = cpubind_priv_tier(p, poor);
    return p->tier_rich[tier] > 0 && p->tier_load[tier] - p->load[poor] >= 2;
}

/* The first slot of a group whose device has the level of the group, or NONE; then the level
 * of the group rises. */
CPUBIND_PRIV int32_t cpubind_priv_climb_group(cpubind_priv_planner *p, int32_t group)
{
    const int32_t level = p->group_level[group];
    int32_t least = CPUBIND_PRIV_FAR;
    int32_t slot;
    for (slot = p->group_at[group]; slot != CPUBIND_PRIV_NONE; slot = p->slot_next[slot]) {
        p->work++;
        if (p->level[p->slot_device[slot]] == level) {
            p->group_at[group] = slot;
            return slot;
        }
    }
    p->group_at[group] = CPUBIND_PRIV_NONE;
    for (slot = p->group_slot[group]; slot != CPUBIND_PRIV_NONE && least > level + 1;
         slot = p->slot_next[slot]) {
        int32_t other = p->level[p->slot_device[slot]];
        p->work++;
        if (other <= level || other >= least)
            continue;
        least = other;
        p->group_at[group] = slot;
    }
    p->group_level[group] = least;
    return CPUBIND_PRIV_NONE;
}

/* The first claim from `at` on of a device whose group has the level, or NONE. */
CPUBIND_PRIV int32_t cpubind_priv_next_claim(cpubind_priv_planner *p, int32_t device,
                                             int32_t at, int32_t level)
{
    for (; at < p->claim_row[device + 1]; at++, p->work++)
        if (p->group_level[p->claim[at]] == level)
            return at;
    return CPUBIND_PRIV_NONE;
}

/* The first slot, of the claims of `to` in their order, whose device is lower than `to` by 1,
 * or NONE; then the level of `to` rises. A level that no path in the tier is long enough for
 * belongs to devices without a path: work becomes so large that all levels are made again. */
CPUBIND_PRIV int32_t cpubind_priv_climb_device(cpubind_priv_planner *p, int32_t to)
{
    const int32_t level = p->level[to];
    int32_t least = level;
    int32_t at = p->claim_at[to];
    if (at == CPUBIND_PRIV_NONE)
        at = p->claim_row[to];
    while ((at = cpubind_priv_next_claim(p, to, at, level - 1)) != CPUBIND_PRIV_NONE) {
        int32_t slot = cpubind_priv_climb_group(p, p->claim[at]);
        p->claim_at[to] = at;
        if (slot != CPUBIND_PRIV_NONE)
            return slot;
    }
    p->claim_at[to] = p->claim_row[to];
    if (cpubind_priv_next_claim(p, to, p->claim_at[to], level) == CPUBIND_PRIV_NONE) {
        least = CPUBIND_PRIV_FAR;
        for (int32_t c = p->claim_row[to]; c < p->claim_row[to + 1]; c++, p->work++)
            least = cpubind_priv_min(least, p->group_level[p->claim[c]]);
    }
    p->level[to] = least;
    if (least != CPUBIND_PRIV_FAR && (++p->level[to] + 1) % (p->n_device + 2) == 0)
        p->work = CPUBIND_PRIV_MAX;
    return CPUBIND_PRIV_NONE;
}

/* The rich device that the search breadth first from `poor` finds, with the path to it; NONE
 * when the device is in another tier now, or when the levels rise so often that all levels
 * should be made again. */
CPUBIND_PRIV int32_t cpubind_priv_climb(cpubind_priv_planner *p, int32_t poor)
{
    const int32_t tier = cpubind_priv_tier(p, poor);
    const int32_t work = p->claim_row[p->n_device] / 8 + CPUBIND_PRIV_PATIENCE;
    int32_t to = poor;
    int32_t n = 0;
    while (p->load[to] != p->tier_load[tier]) {
        int32_t slot = cpubind_priv_climb_device(p, to);
        if (slot != CPUBIND_PRIV_NONE) {
            p->give_slot[p->slot_device[slot]] = slot;
            p->take_device[p->slot_device[slot]] = to;
            p->queue[n++] = to;
            to = p->slot_device[slot];
        } else if (p->work > work) {
            p->n_tier = 0;
            return CPUBIND_PRIV_NONE;
        } else if (to != poor) {
            to = p->queue[--n];
        } else if (p->level[poor] == CPUBIND_PRIV_FAR || cpubind_priv_tier(p, poor) != tier) {
            return CPUBIND_PRIV_NONE;
        }
    }
    p->tier_rich[tier]--;
    return to;
}

/* Moves as many units as helps from `rich` to `poor`, along the path of the last search. */
CPUBIND_PRIV void cpubind_priv_pass_on(cpubind_priv_planner *p, int32_t rich, int32_t poor)
{
    int32_t count = (p->load[rich] - p->load[poor]) / 2;
    for (int32_t d = rich; d != poor; d = p->take_device[d])
        count = cpubind_priv_min(count, p->slot_count[p->give_slot[d]]);
    for (int32_t d = rich; d != poor; d = p->take_device[d]) {
        const int32_t slot = p->give_slot[d];
        const int32_t group = p->slot_group[slot];
        p->load[d] -= count;
        p->slot_count[slot] -= count;
        if (p->slot_count[slot] == 0)
            cpubind_priv_drop_slot(p, slot);
        (void)cpubind_priv_give(p, &p->group_slot[group], group, p->take_device[d], count);
    }
}

/* The first device of the smallest load that is not done, or NONE. *load is the smallest load
 * so far; devices before *at are done, or have more. That load never falls, and no device comes
 * down to it: a device passes CPUs on only while it keeps at least as many as the receiver then
 * has. */
CPUBIND_PRIV int32_t cpubind_priv_find_poor(const cpubind_priv_planner *p, int32_t *load,
                                            int32_t *at)
{
    for (; *load < CPUBIND_PRIV_MAX; *at = 0) {
        for (; *at < p->n_device; ++*at)
            if (!p->is_done[*at] && p->load[*at] <= *load)
                return *at;
        *load = CPUBIND_PRIV_MAX;
        for (int32_t d = 0; d < p->n_device; d++)
            if (!p->is_done[d])
                *load = cpubind_priv_min(*load, p->load[d]);
    }
    return CPUBIND_PRIV_NONE;
}

/* Sets up the search, in arrays that are not needed any more. */
CPUBIND_PRIV void cpubind_priv_open_search(cpubind_priv_planner *p)
{
    p->n_tier = 0;
    p->level = p->pool_size;
    p->claim_at = p->pool_hash;
    p->tier_load = p->pool_table + p->n_device;
    p->tier_rich = p->pool_table + 2 * p->n_device;
    p->group_level = p->group_segments;
    p->group_at = p->group_sum;
    for (int32_t d = 0; d < p->n_device; d++)
        p->is_done[d] = !cpubind_priv_has_claim(p, d);
}

/* Helps the device with the smallest load first. Ends when no path helps a device, which comes,
 * because each move lowers the sum of squared loads. */
CPUBIND_PRIV void cpubind_priv_balance(cpubind_priv_planner *p)
{
    int32_t most, poor;
    int32_t load = cpubind_priv_least_load(p, &most);
    int32_t at = 0;
    if (most - load < 2)
        return; /* no load is larger by 2 than another one */
    cpubind_priv_open_search(p);
    while ((poor = cpubind_priv_find_poor(p, &load, &at)) != CPUBIND_PRIV_NONE) {
        int32_t rich = CPUBIND_PRIV_NONE;
        if (cpubind_priv_has_level(p, poor) || cpubind_priv_make_levels(p, poor))
            rich = cpubind_priv_climb(p, poor);
        if (rich != CPUBIND_PRIV_NONE)
            cpubind_priv_pass_on(p, rich, poor);
    }
}

/* Shares every group among the devices that claim it. */
CPUBIND_PRIV void cpubind_priv_share_groups(cpubind_priv_planner *p, cpubind_priv_rows homes)
{
    cpubind_priv_make_claims(p, homes);
    cpubind_priv_open_shares(p);
    if (p->claim_row[p->n_device] > CPUBIND_PRIV_MANY)
        cpubind_priv_fill_groups(p);
    else
        cpubind_priv_split_evenly(p, 0);
    cpubind_priv_balance(p);
}

/* == The plan: the rules of the reference =================================== */

CPUBIND_PRIV int32_t cpubind_priv_slot(const cpubind_priv_planner *p, int32_t device)
{
    return p->is_whole && p->devices->slot != NULL ? p->devices->slot[device] : device;
}

/* Devices of the host, by slot. */
CPUBIND_PRIV int32_t cpubind_priv_total(const cpubind_priv_planner *p)
{
    return p->is_whole && p->devices->total ? p->devices->total : p->n_device;
}

/* The slice of a slot, of n units; it has none where the slot is not of the host. */
CPUBIND_PRIV cpubind_span cpubind_priv_slice(const cpubind_priv_planner *p, int32_t n,
                                             int32_t slot)
{
    const int32_t total = cpubind_priv_total(p);
    const int32_t is_there = slot >= 0 && slot < total;
    return cpubind_priv_share(is_there ? n : 0, total, is_there ? slot : 0);
}

/* The slot of every wanted device must be one of the host. */
CPUBIND_PRIV cpubind_status cpubind_priv_find_slots(const cpubind_priv_planner *p)
{
    for (int32_t d = 0; d < p->n_device; d++) {
        const int32_t slot = cpubind_priv_slot(p, d);
        if ((slot < 0 || slot >= cpubind_priv_total(p)) && cpubind_priv_is_wanted(p, d))
            return cpubind_priv_fail(p->fault, CPUBIND_ERR_UNKNOWN, d, 0, 0);
    }
    return CPUBIND_OK;
}

/* Two devices with one slot would get the same CPUs: a host where ids repeat is refused. Of
 * several such pairs, that of the lowest slot is named. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_slots(const cpubind_priv_planner *p)
{
    const int32_t *slot = p->is_whole ? p->devices->slot : NULL;
    int32_t first = CPUBIND_PRIV_NONE;
    int32_t second = CPUBIND_PRIV_NONE;
    for (int32_t b = 1; slot != NULL && b < p->n_device; b++)
        for (int32_t a = 0; a < b && cpubind_priv_is_wanted(p, b); a++)
            if (slot[a] == slot[b] && cpubind_priv_is_wanted(p, a) &&
                (first == CPUBIND_PRIV_NONE || slot[a] < slot[first])) {
                first = a;
                second = b;
            }
    if (first == CPUBIND_PRIV_NONE)
        return CPUBIND_OK;
    return cpubind_priv_set_shared(p->fault, second, first, CPUBIND_PRIV_NONE);
}

/* The owners of n units by their slots. A slice of a device that is not in devices has none; of
 * two devices with one slot, the last one has it, or the wanted one. */
CPUBIND_PRIV void cpubind_priv_own_slices(const cpubind_priv_planner *p, int32_t n,
                                          int32_t wanted_first, int32_t *owner)
{
    cpubind_priv_fill(owner, n, CPUBIND_PRIV_NONE);
    for (int32_t wanted = 0; wanted <= wanted_first; wanted++)
        for (int32_t d = 0; d < p->n_device; d++)
            if (!wanted || cpubind_priv_is_wanted(p, d)) {
                const cpubind_span span = cpubind_priv_slice(p, n, cpubind_priv_slot(p, d));
                cpubind_priv_fill(owner + span.first, span.count, d);
            }
}

/* The trace of slices: by owner, or by those of slices of CPUs. Without sets, there is no work
 * space for it. */
CPUBIND_PRIV cpubind_status cpubind_priv_close_slices(cpubind_priv_planner *p, int32_t *owner)
{
    cpubind_trace *trace = p->plan->trace;
    cpubind_priv_add_found(p, CPUBIND_GLOBAL_SLICE, CPUBIND_FOUND_NONE, cpubind_priv_total(p));
    if (trace == NULL)
        return CPUBIND_OK;
    p->n_group = 0;
    if (owner == NULL) {
        owner = p->member == NULL ? trace->owner : p->rest;
        cpubind_priv_own_slices(p, p->host->n_cpu, 0, owner);
    }
    return cpubind_priv_write_trace(p, owner, NULL);
}

CPUBIND_PRIV cpubind_status cpubind_priv_plan_slice(cpubind_priv_planner *p)
{
    const cpubind_host *host = p->host;
    const int32_t smallest = host->n_cpu / cpubind_priv_total(p); /* slice */
    cpubind_status status = CPUBIND_OK;
    for (int32_t d = 0; d < p->n_device && status == CPUBIND_OK; d++)
        if (cpubind_priv_is_wanted(p, d))
            status = cpubind_priv_check_size(p, d, smallest);
    if (status == CPUBIND_OK)
        status = cpubind_priv_check_slots(p);
    if (status == CPUBIND_OK)
        status = cpubind_priv_find_slots(p);
    for (int32_t d = 0; d < p->n_device && status == CPUBIND_OK; d++)
        if (cpubind_priv_is_wanted(p, d)) {
            const cpubind_span span =
                cpubind_priv_slice(p, host->n_cpu, cpubind_priv_slot(p, d));
            const int32_t first = cpubind_priv_add_row(p, d, span.count);
            if (p->n_out <= p->plan->cap_cpu)
                cpubind_priv_copy(p->plan->cpu + first, host->cpu + span.first, span.count);
        }
    if (status == CPUBIND_OK)
        status = cpubind_priv_check_room(p);
    return status == CPUBIND_OK ? cpubind_priv_close_slices(p, NULL) : status;
}

/* Hands the CPUs out by the groups of the segments, and writes the plan. */
CPUBIND_PRIV cpubind_status cpubind_priv_close_groups(cpubind_priv_planner *p,
                                                      cpubind_step other)
{
    cpubind_priv_hand_out_all(p);
    if (p->plan->trace != NULL)
        cpubind_priv_note_steps(p, other);
    return cpubind_priv_write_owned(p);
}

CPUBIND_PRIV cpubind_status cpubind_priv_plan_affinity(cpubind_priv_planner *p)
{
    cpubind_fault shared;
    cpubind_finding found;
    cpubind_status status;
    cpubind_priv_group_pools(p);
    cpubind_priv_open_shares(p);
    cpubind_priv_split_evenly(p, 1);
    found = cpubind_priv_find_overlap(p, &shared);
    if (found == CPUBIND_FOUND_PRESENT && p->policy->overlap == CPUBIND_OVERLAP_REFUSE)
        return cpubind_priv_set_shared(p->fault, shared.device, shared.other, shared.cpu);
    if (found == CPUBIND_FOUND_PRESENT && p->policy->overlap == CPUBIND_OVERLAP_KEEP) {
        status = cpubind_priv_write_pools(p);
    } else {
        if (found == CPUBIND_FOUND_PRESENT) {
            found = CPUBIND_FOUND_RESOLVED;
            cpubind_priv_share_groups(p, cpubind_priv_rows_of(p->home_row, p->home));
        }
        status = cpubind_priv_close_groups(p, CPUBIND_STEP_NEXT);
    }
    if (p->found.overlap == CPUBIND_FOUND_NONE) {
        p->found.device = cpubind_priv_member(p, shared.device);
        p->found.other = cpubind_priv_member(p, shared.other);
        p->found.cpu = shared.cpu;
    }
    cpubind_priv_add_found(p, CPUBIND_TOPO_AFFINITY, found, p->n_home);
    return status;
}

/* The group of a device is the node of its home; a home on several nodes is an error for a
 * wanted device only. Every node must have a cluster for each of its devices. */
CPUBIND_PRIV cpubind_status cpubind_priv_plan_cluster(cpubind_priv_planner *p)
{
    const cpubind_host *host = p->host;
    const int32_t size = p->policy->cluster;
    const int32_t spare =
        p->policy->has_spare_node
            ? cpubind_priv_find(host->node_id, host->n_node, p->policy->spare_node)
            : CPUBIND_PRIV_NONE;
    int32_t *taken = p->group_sum; /* CPUs in clusters */
    int32_t n = 0;
    p->n_group = host->n_node;
    cpubind_priv_fill(taken, p->n_group, 0);
    cpubind_priv_open_claims(p);
    for (int32_t d = 0; d < p->n_device; d++) {
        if (p->next_node[d] != CPUBIND_PRIV_NONE) {
            const int32_t node = cpubind_priv_home_node(p, d);
            const int32_t is_kept =
                node == spare && p->policy->overlap != CPUBIND_OVERLAP_RESOLVE;
            const int32_t room = is_kept ? 0 : p->node_size[node];
            taken[node] += size;
            if (taken[node] > room)
                return cpubind_priv_fail(p->fault, CPUBIND_ERR_CLUSTERS, d, taken[node], room);
            p->claims[n++] = node;
        } else if (cpubind_priv_is_wanted(p, d)) {
            return cpubind_priv_fail(p->fault, CPUBIND_ERR_SPREAD, d, 0, 0);
        }
        p->claim_rows[d + 1] = n;
    }
    p->found.spare_taken += spare == CPUBIND_PRIV_NONE ? 0 : taken[spare];
    cpubind_priv_open_shares(p);
    for (int32_t d = 0; d < p->n_device; d++)
        if (cpubind_priv_has_claim(p, d)) {
            const int32_t node = p->claim[p->claim_row[d]];
            (void)cpubind_priv_give(p, &p->group_slot[node], node, d, size);
        }
    for (int32_t s = 0; s < p->n_segment; s++)
        p->segment_group[s] = p->segment_node[s];
    cpubind_priv_add_found(p, CPUBIND_CLUSTER, CPUBIND_FOUND_NONE, p->n_home);
    return cpubind_priv_close_groups(p, CPUBIND_STEP_CLUSTER);
}

/* The units are the CPUs. Every wanted device must have a home; slices need none. */
CPUBIND_PRIV cpubind_status cpubind_priv_read_cpus(cpubind_priv_planner *p)
{
    cpubind_status status;
    (void)cpubind_priv_carve(p, 0);
    p->core_row = NULL;
    p->unit = p->host->cpu;
    p->unit_node = p->host->node;
    p->n_unit = p->host->n_cpu;
    p->near = cpubind_priv_choose_lists(p, &p->devices->affinity, p->near_first, p->near_end);
    if (p->is_listed)
        p->listed = p->allowed;
    status = cpubind_priv_read_units(p);
    for (int32_t d = 0; status == CPUBIND_OK && !p->is_slice && d < p->n_device; d++)
        if (!cpubind_priv_has_home(p, d) && cpubind_priv_is_wanted(p, d))
            status = cpubind_priv_fail(p->fault, CPUBIND_ERR_EMPTY, d, p->need, 0);
    return status;
}

/* A plan by the rules of the reference. */
CPUBIND_PRIV cpubind_status cpubind_priv_plan_reference(cpubind_priv_planner *p)
{
    cpubind_status status;
    if (p->is_slice)
        return cpubind_priv_plan_slice(p);
    status = cpubind_priv_read_cpus(p);
    if (status != CPUBIND_OK)
        return status;
    return p->policy->strategy == CPUBIND_CLUSTER ? cpubind_priv_plan_cluster(p)
                                                  : cpubind_priv_plan_affinity(p);
}

/* == NEAR ===================================================================
 *
 * N1 to N4 are a balance of cores, with claims by N2 and N3. N5 to N9 work on the owners of the
 * CPUs. */

#define CPUBIND_PRIV_FLOOR 7  /* CPUs above the minimum that a pool should have (N6) */
#define CPUBIND_PRIV_WALKS 64 /* through all cores, to even out their CPUs (N4) */

/* How far from home a device may be given CPUs of its list (L2, L4). */
#define CPUBIND_PRIV_REACH_NEAR 0 /* as the strategy says */
#define CPUBIND_PRIV_REACH_FREE 1 /* also free CPUs */
#define CPUBIND_PRIV_REACH_REST 2 /* also CPUs in nobody's home */
#define CPUBIND_PRIV_REACH_ALL  3

/* Numbers the cores of n CPUs in the order of their first CPUs: out[i] is the core of CPU i, at
 * position at[i] of core, or i. `table` has 4 * n + 2 elements. Returns the number of cores. */
CPUBIND_PRIV int32_t cpubind_priv_number_cores(const int32_t *core, const int32_t *at,
                                               int32_t n, int32_t *table, int32_t *out)
{
    int32_t slots = 2;
    int32_t n_core = 0;
    while (slots < 2 * n)
        slots += slots;
    if (core != NULL)
        cpubind_priv_fill(table, slots, CPUBIND_PRIV_NONE);
    for (int32_t i = 0; i < n; i++) {
        int32_t number, slot;
        if (core == NULL) {
            out[i] = n_core++;
            continue;
        }
        number = core[at == NULL ? i : at[i]];
        slot = cpubind_priv_hash(number) & (slots - 1);
        while (table[slot] != CPUBIND_PRIV_NONE &&
               core[at == NULL ? table[slot] : at[table[slot]]] != number)
            slot = (slot + 1) & (slots - 1);
        if (table[slot] == CPUBIND_PRIV_NONE) {
            table[slot] = i;
            out[i] = n_core++;
        } else {
            out[i] = out[table[slot]];
        }
    }
    return n_core;
}

/* Makes lists of cores from lists of CPUs: every core once. */
CPUBIND_PRIV cpubind_priv_rows cpubind_priv_list_cores(cpubind_priv_planner *p,
                                                       const cpubind_priv_rows *lists,
                                                       int32_t *row, int32_t *item)
{
    int32_t *seen = p->owner;
    int32_t n = 0;
    cpubind_priv_fill(seen, p->n_unit, CPUBIND_PRIV_NONE);
    row[0] = 0;
    for (int32_t d = 0; d < p->n_device; d++) {
        cpubind_priv_runs run;
        int32_t is_sorted = 1;
        cpubind_priv_open_runs(&run, p->host->cpu, p->host->n_cpu, lists, d);
        while (cpubind_priv_next_run(&run) > 0)
            for (int32_t i = run.first; i < run.past; i++) {
                const int32_t core = p->core_of[i];
                if (seen[core] == d)
                    continue;
                seen[core] = d;
                is_sorted &= n == row[d] || item[n - 1] < core;
                item[n++] = core;
            }
        if (!is_sorted)
            cpubind_priv_heap_sort(item + row[d], n - row[d]);
        row[d + 1] = n;
    }
    return cpubind_priv_rows_of(row, item);
}

/* The units are the cores. The CPUs of a core must be on one node. */
CPUBIND_PRIV cpubind_status cpubind_priv_make_cores(cpubind_priv_planner *p)
{
    const cpubind_host *host = p->host;
    int32_t *table = p->slot_device; /* with the arrays after it, which are not in use yet */
    p->n_unit = cpubind_priv_number_cores(host->core, NULL, host->n_cpu, table, p->core_of);
    p->near = cpubind_priv_choose_lists(p, &p->devices->affinity, p->near_first, p->near_end);
    if (p->is_listed)
        p->listed = p->allowed;
    if (host->core == NULL) {
        for (int32_t i = 0; i <= host->n_cpu; i++)
            p->core_row[i] = i;
        p->core_cpu = p->core_of;
        p->widest = 1;
        p->unit = host->cpu;
        p->unit_node = host->node;
        return CPUBIND_OK;
    }
    cpubind_priv_sort_by_key(p->core_of, host->n_cpu, p->n_unit, p->core_row, p->core_cpu);
    p->widest = 0;
    for (int32_t c = 0; c < p->n_unit; c++) {
        const int32_t first = p->core_cpu[p->core_row[c]];
        const int32_t width = p->core_row[c + 1] - p->core_row[c];
        p->widest = width > p->widest ? width : p->widest;
        p->core_id[c] = c;
        p->core_node[c] = host->node[first];
        for (int32_t i = p->core_row[c]; i < p->core_row[c + 1]; i++)
            if (host->node[p->core_cpu[i]] != host->node[first])
                return cpubind_priv_refuse(p->fault, CPUBIND_ERR_ARG, "host.core",
                                           p->core_cpu[i]);
    }
    p->unit = p->core_id;
    p->unit_node = p->core_node;
    p->near = cpubind_priv_list_cores(p, &p->near, p->near_row, p->near_core);
    if (p->is_listed)
        p->listed = cpubind_priv_list_cores(p, &p->listed, p->list_row, p->list_core);
    return CPUBIND_OK;
}

/* The places: the nodes of the homes; without a home, the node of the device. */
CPUBIND_PRIV void cpubind_priv_make_places(cpubind_priv_planner *p)
{
    const cpubind_host *host = p->host;
    const int32_t *node_of = p->devices->node;
    int32_t n = 0;
    cpubind_priv_fill(p->node_mark, host->n_node, CPUBIND_PRIV_NONE);
    p->n_placed = 0;
    p->place_row[0] = 0;
    for (int32_t d = 0; d < p->n_device; d++) {
        int32_t node = CPUBIND_PRIV_NONE;
        for (int32_t i = p->home_row[d];
             i < p->home_row[d + 1] && n - p->place_row[d] < host->n_node; i++) {
            node = p->segment_node[p->home[i]];
            if (p->node_mark[node] != d)
                p->place[n++] = node;
            p->node_mark[node] = d;
        }
        if (node == CPUBIND_PRIV_NONE && node_of != NULL)
            node = cpubind_priv_find(host->node_id, host->n_node,
                                     node_of[cpubind_priv_member(p, d)]);
        if (node != CPUBIND_PRIV_NONE && n == p->place_row[d])
            p->place[n++] = node;
        p->n_placed += n > p->place_row[d];
        p->place_row[d + 1] = n;
    }
}

/* Whether no core is on a socket of the place of a device, of those that it may have. */
CPUBIND_PRIV int32_t cpubind_priv_is_displaced(const cpubind_priv_planner *p, int32_t device)
{
    const int32_t first = p->is_listed ? p->may_row[device] : 0;
    const int32_t end = p->is_listed ? p->may_row[device + 1] : p->host->n_node;
    if (cpubind_priv_has_home(p, device))
        return 0;
    if (p->place_row[device] == p->place_row[device + 1])
        return 1;
    for (int32_t i = first; i < end; i++) {
        const int32_t node = p->is_listed ? p->segment_node[p->may[i]] : i;
        if (p->node_size[node] > 0 &&
            !cpubind_priv_is_far(p->host, p->place[p->place_row[device]], node))
            return 0;
    }
    return 1;
}

/* N6: how many CPUs a pool should have before the rest stays free. */
CPUBIND_PRIV void cpubind_priv_set_goals(cpubind_priv_planner *p)
{
    const int32_t half = p->host->n_cpu / (2 * p->n_device);
    int32_t floor = cpubind_priv_min(p->need + CPUBIND_PRIV_FLOOR, half);
    if (floor < p->need)
        floor = p->need;
    for (int32_t d = 0; d < p->n_device; d++)
        p->goal[d] = cpubind_priv_is_displaced(p, d) ? CPUBIND_PRIV_MAX : floor;
}

/* Finds how far the nearest place on its socket is from each node (N3). */
CPUBIND_PRIV void cpubind_priv_find_nearest(cpubind_priv_planner *p)
{
    const int32_t n_node = p->host->n_node;
    int32_t *is_place = p->node_mark;
    cpubind_priv_fill(is_place, n_node, 0);
    for (int32_t i = 0; i < p->place_row[p->n_device]; i++)
        is_place[p->place[i]] = 1;
    cpubind_priv_fill(p->nearest, n_node, CPUBIND_PRIV_MAX);
    for (int32_t a = 0; a < n_node; a++)
        for (int32_t b = 0; is_place[a] && b < n_node; b++)
            p->nearest[b] =
                cpubind_priv_min(p->nearest[b], cpubind_priv_bound_distance(p->host, a, b));
    cpubind_priv_fill(p->node_mark, n_node, CPUBIND_PRIV_NONE);
}

/* Lists the cores node by node. */
CPUBIND_PRIV void cpubind_priv_list_nodes(cpubind_priv_planner *p)
{
    int32_t *node = p->core_id;
    for (int32_t s = 0; s < p->n_segment; s++)
        cpubind_priv_fill(node + p->segment_first[s], cpubind_priv_width(p, s),
                          p->segment_node[s]);
    cpubind_priv_sort_by_key(node, p->n_unit, p->host->n_node, p->node_core_row, p->node_core);
}

/* Counts the loads in CPUs. */
CPUBIND_PRIV void cpubind_priv_count_loads(cpubind_priv_planner *p)
{
    cpubind_priv_fill(p->load, p->n_device, 0);
    for (int32_t c = 0; c < p->n_unit; c++)
        if (p->owner[c] != CPUBIND_PRIV_NONE)
            p->load[p->owner[c]] += p->core_row[c + 1] - p->core_row[c];
}

/* Makes of owners or steps of cores those of CPUs, in place: no core has a larger number than
 * its first CPU has as its position. */
CPUBIND_PRIV void cpubind_priv_spread_cores(const cpubind_priv_planner *p, int32_t *list)
{
    for (int32_t i = p->host->n_cpu - 1; i >= 0; i--)
        list[i] = list[p->core_of[i]];
}

/* The step by which a device gets a free core. */
CPUBIND_PRIV cpubind_step cpubind_priv_free_step(const cpubind_priv_planner *p, int32_t device)
{
    return p->goal[device] == CPUBIND_PRIV_MAX ? CPUBIND_STEP_FREE : CPUBIND_STEP_MINIMUM;
}

/* L4: the step by which a device got a core that is not in its home. */
CPUBIND_PRIV cpubind_step cpubind_priv_listed_step(cpubind_priv_planner *p, int32_t core)
{
    const int32_t device = p->owner[core];
    cpubind_priv_mark_places(p, device);
    if (cpubind_priv_claims_node(p, device, p->segment_node[p->segment_of[core]]))
        return CPUBIND_STEP_NEAREST;
    return p->reach[device] == CPUBIND_PRIV_REACH_ALL    ? CPUBIND_STEP_LENT
           : p->reach[device] == CPUBIND_PRIV_REACH_REST ? CPUBIND_STEP_MINIMUM
                                                         : cpubind_priv_free_step(p, device);
}

/* Notes the step of every CPU, by N2 and N3, or L4. */
CPUBIND_PRIV void cpubind_priv_step_cpus(cpubind_priv_planner *p)
{
    cpubind_priv_note_steps(p, CPUBIND_STEP_NEAREST);
    for (int32_t c = 0; p->is_listed && c < p->n_unit; c++)
        if (p->step[c] == CPUBIND_STEP_NEAREST)
            p->step[c] = (int32_t)cpubind_priv_listed_step(p, c);
    cpubind_priv_spread_cores(p, p->step);
}

/* The stages of service: what a pool below the minimum may take. */
typedef enum cpubind_priv_stage {
    CPUBIND_PRIV_TAKE_FREE, /* N5 */
    CPUBIND_PRIV_TAKE_REST, /* N7: cores in nobody's home */
    CPUBIND_PRIV_TAKE_CORE, /* N7: any cores */
    CPUBIND_PRIV_TAKE_CPU,  /* N8 */
    CPUBIND_PRIV_TAKE_LEFT, /* N9 */
    CPUBIND_PRIV_STAGES
} cpubind_priv_stage;

/* How willingly a pool gives `count` CPUs to a device; 0: it must not. */
CPUBIND_PRIV int32_t cpubind_priv_willing(const cpubind_priv_planner *p, int32_t owner,
                                          int32_t device, cpubind_priv_stage stage,
                                          int32_t count)
{
    if (owner == CPUBIND_PRIV_NONE || owner == device)
        return 0;
    if (stage == CPUBIND_PRIV_TAKE_LEFT)
        return p->load[owner] < p->need ? p->need - p->load[owner] : 0;
    return p->load[owner] - count >= p->need ? p->load[owner] : 0;
}

/* CPUs that a device may take, as a span of core_cpu. */
typedef struct cpubind_priv_spare {
    int32_t first, count; /* count 0: there are none */
    int32_t owner;        /* the pool that gives them, or NONE */
    int32_t node, at;     /* the core is node_core[at] */
} cpubind_priv_spare;

/* The first free core of a node, from where the last one was. */
CPUBIND_PRIV void cpubind_priv_find_free(cpubind_priv_planner *p, int32_t node,
                                         cpubind_priv_spare *out)
{
    int32_t *at = &p->node_at[node];
    out->owner = CPUBIND_PRIV_NONE;
    out->count = 0;
    for (; out->count == 0 && *at < p->node_core_row[node + 1]; ++*at) {
        const int32_t core = p->node_core[*at];
        out->first = p->core_row[core];
        if (p->owner[p->core_cpu[out->first]] == CPUBIND_PRIV_NONE)
            out->count = p->core_row[core + 1] - out->first;
    }
}

/* Finds what a stage after the first may take on a node for a device: the last core, or CPU, of
 * the most willing pool. */
CPUBIND_PRIV void cpubind_priv_find_spare(const cpubind_priv_planner *p, int32_t node,
                                          int32_t device, cpubind_priv_stage stage,
                                          cpubind_priv_spare *out)
{
    int32_t most = 1;
    out->count = 0;
    out->owner = CPUBIND_PRIV_NONE;
    out->node = node;
    for (int32_t i = p->node_core_row[node]; i < p->node_core_row[node + 1]; i++) {
        const int32_t core = p->node_core[i];
        const int32_t end = p->core_row[core + 1];
        const int32_t step = stage >= CPUBIND_PRIV_TAKE_CPU ? 1 : end - p->core_row[core];
        for (int32_t at = p->core_row[core]; at < end; at += step) {
            const int32_t cpu = p->core_cpu[at];
            const int32_t owner = p->owner[cpu];
            const int32_t willing = cpubind_priv_willing(p, owner, device, stage, step);
            if (willing < most ||
                (stage == CPUBIND_PRIV_TAKE_REST &&
                 (p->step[cpu] == CPUBIND_STEP_HOME || p->step[cpu] == CPUBIND_STEP_LENT)))
                continue;
            out->first = at;
            out->count = step;
            out->owner = owner;
            out->at = i;
            most = willing;
        }
    }
}

/* As find_spare in N9, where the last CPU was *out: its pool lacks more than any other since,
 * so the CPU before it of that pool on the node is next. */
CPUBIND_PRIV void cpubind_priv_find_left(const cpubind_priv_planner *p, int32_t node,
                                         int32_t device, cpubind_priv_spare *out)
{
    const int32_t is_same =
        out->owner != CPUBIND_PRIV_NONE && out->owner != device && out->node == node;
    for (; is_same && out->at >= p->node_core_row[node]; out->at--) {
        const int32_t core = p->node_core[out->at];
        out->first = p->core_row[core + 1];
        while (--out->first >= p->core_row[core])
            if (p->owner[p->core_cpu[out->first]] == out->owner)
                return;
    }
    cpubind_priv_find_spare(p, node, device, CPUBIND_PRIV_TAKE_LEFT, out);
}

/* The open node that is nearest to a device, or NONE. */
CPUBIND_PRIV int32_t cpubind_priv_open_node(const cpubind_priv_planner *p, int32_t device)
{
    const int32_t is_placed = p->place_row[device] < p->place_row[device + 1];
    int32_t best = CPUBIND_PRIV_NONE;
    int32_t least = CPUBIND_PRIV_MAX;
    for (int32_t node = 0; node < p->host->n_node; node++) {
        int32_t distance = is_placed ? CPUBIND_PRIV_MAX - 1 : 0;
        if (!p->node_is_open[node])
            continue;
        for (int32_t i = p->place_row[device]; i < p->place_row[device + 1]; i++)
            distance =
                cpubind_priv_min(distance, cpubind_priv_distance(p->host, p->place[i], node));
        if (distance >= least)
            continue;
        least = distance;
        best = node;
    }
    return best;
}

/* Serves one device until its pool has `goal` CPUs or no node can give more. A node that has
 * nothing for one device has nothing for another either. *last is what was taken last. */
CPUBIND_PRIV void cpubind_priv_serve(cpubind_priv_planner *p, int32_t device, int32_t goal,
                                     cpubind_priv_stage stage, cpubind_priv_spare *last)
{
    const cpubind_step step =
        stage == CPUBIND_PRIV_TAKE_FREE ? cpubind_priv_free_step(p, device) : CPUBIND_STEP_LENT;
    int32_t node = CPUBIND_PRIV_NONE;
    while (p->load[device] < goal &&
           (node = cpubind_priv_open_node(p, device)) != CPUBIND_PRIV_NONE)
        do {
            if (stage == CPUBIND_PRIV_TAKE_FREE)
                cpubind_priv_find_free(p, node, last);
            else if (stage == CPUBIND_PRIV_TAKE_LEFT)
                cpubind_priv_find_left(p, node, device, last);
            else
                cpubind_priv_find_spare(p, node, device, stage, last);
            for (int32_t i = last->first; i < last->first + last->count; i++) {
                p->owner[p->core_cpu[i]] = device;
                p->step[p->core_cpu[i]] = (int32_t)step;
            }
            if (last->owner != CPUBIND_PRIV_NONE)
                p->load[last->owner] -= last->count;
            p->load[device] += last->count;
            p->node_is_open[node] = last->count > 0;
        } while (p->node_is_open[node] && p->load[device] < goal);
    if (node == CPUBIND_PRIV_NONE) { /* the device itself may lack most now */
        last->owner = CPUBIND_PRIV_NONE;
        last->count = 0;
    }
}

/* The CPUs that the pools below the minimum have, and how many such pools there are. */
CPUBIND_PRIV int32_t cpubind_priv_count_left(const cpubind_priv_planner *p, int32_t *n_lacking)
{
    int32_t left = 0;
    *n_lacking = 0;
    for (int32_t d = 0; d < p->n_device; d++) {
        *n_lacking += p->load[d] < p->need;
        left += p->load[d] < p->need ? p->load[d] : 0;
    }
    return left;
}

/* The CPUs of all pools that are below a level or their goal, whichever is smaller, if they
 * were filled up to it. */
CPUBIND_PRIV int32_t cpubind_priv_count_up_to(const cpubind_priv_planner *p, int32_t level)
{
    int32_t n = 0;
    for (int32_t d = 0; d < p->n_device; d++) {
        const int32_t lack = cpubind_priv_min(level, p->goal[d]) - p->load[d];
        n += lack > 0 ? lack : 0;
    }
    return n;
}

/* N6: up to the level that the free CPUs are enough for, device by device, so that the cores of
 * each lie together; then core by core. */
CPUBIND_PRIV void cpubind_priv_share_free(cpubind_priv_planner *p, int32_t n_free,
                                          cpubind_priv_spare *last)
{
    int32_t level = 0;
    int32_t smallest;
    for (int32_t above = CPUBIND_MAX_CPUS + 1; level + 1 < above;) {
        const int32_t middle = level + (above - level) / 2;
        if (cpubind_priv_count_up_to(p, middle) <= n_free)
            level = middle;
        else
            above = middle;
    }
    for (int32_t d = 0; d < p->n_device; d++)
        cpubind_priv_serve(p, d, cpubind_priv_min(level, p->goal[d]) - p->widest + 1,
                           CPUBIND_PRIV_TAKE_FREE, last);
    do {
        smallest = CPUBIND_PRIV_NONE;
        for (int32_t d = 0; d < p->n_device; d++)
            if (p->load[d] < p->goal[d] &&
                (smallest == CPUBIND_PRIV_NONE || p->load[d] < p->load[smallest]))
                smallest = d;
        if (smallest != CPUBIND_PRIV_NONE)
            cpubind_priv_serve(p, smallest, p->load[smallest] + 1, CPUBIND_PRIV_TAKE_FREE,
                               last);
    } while (smallest != CPUBIND_PRIV_NONE && last->count > 0);
}

CPUBIND_PRIV int32_t cpubind_priv_count_free(const cpubind_priv_planner *p)
{
    int32_t n = p->host->n_cpu;
    for (int32_t d = 0; d < p->n_device; d++)
        n -= p->load[d];
    return n;
}

/* N5 to N9. */
CPUBIND_PRIV void cpubind_priv_serve_all(cpubind_priv_planner *p)
{
    cpubind_priv_spare last;
    int32_t n_lacking = 1;
    int32_t is_enough; /* free CPUs, for all minimums */
    last.first = 0;
    last.count = 0;
    last.node = CPUBIND_PRIV_NONE;
    last.at = 0;
    cpubind_priv_list_nodes(p);
    for (int32_t node = 0; node < p->host->n_node; node++)
        p->node_at[node] = p->node_core_row[node];
    cpubind_priv_fill(p->node_is_open, p->host->n_node, 1);
    is_enough = cpubind_priv_count_up_to(p, p->need) <= cpubind_priv_count_free(p);
    if (is_enough)
        cpubind_priv_share_free(p, cpubind_priv_count_free(p), &last);
    for (int32_t stage = 0; n_lacking > 0 && stage < CPUBIND_PRIV_STAGES; stage++) {
        int32_t n = 0;
        for (int32_t d = 0; d < p->n_device; d++)
            if (p->load[d] < p->need)
                p->lack[n++] = (p->need - p->load[d]) * CPUBIND_MAX_DEVICES + d;
        cpubind_priv_heap_sort(p->lack, n);
        last.owner = CPUBIND_PRIV_NONE;
        cpubind_priv_fill(p->node_is_open, p->host->n_node, 1);
        for (int32_t i = 0; i < n && (stage != (int32_t)CPUBIND_PRIV_TAKE_LEFT ||
                                      cpubind_priv_count_left(p, &n_lacking) >= p->need);
             i++)
            cpubind_priv_serve(p, p->lack[i] % CPUBIND_MAX_DEVICES, p->need,
                               (cpubind_priv_stage)stage, &last);
        if (stage == (int32_t)CPUBIND_PRIV_TAKE_FREE && !is_enough)
            cpubind_priv_share_free(p, cpubind_priv_count_free(p), &last);
        (void)cpubind_priv_count_left(p, &n_lacking);
    }
}

/* Whether a slice of cores for each slot has the minimum of CPUs. */
CPUBIND_PRIV int32_t cpubind_priv_are_slices_enough(const cpubind_priv_planner *p)
{
    for (int32_t slot = 0; slot < cpubind_priv_total(p); slot++) {
        const cpubind_span span = cpubind_priv_slice(p, p->n_unit, slot);
        if (p->core_row[span.first + span.count] - p->core_row[span.first] < p->need)
            return 0;
    }
    return 1;
}

/* Slices of cores by slot, where no place is known; of CPUs where those are too small. */
CPUBIND_PRIV cpubind_status cpubind_priv_slice_cores(cpubind_priv_planner *p)
{
    cpubind_status status;
    if (!cpubind_priv_are_slices_enough(p))
        return cpubind_priv_plan_slice(p);
    status = cpubind_priv_find_slots(p);
    if (status == CPUBIND_OK)
        status = cpubind_priv_check_slots(p);
    if (status != CPUBIND_OK)
        return status;
    cpubind_priv_own_slices(p, p->n_unit, 1, p->owner);
    cpubind_priv_count_loads(p);
    cpubind_priv_spread_cores(p, p->owner);
    status = cpubind_priv_make_rows(p);
    if (status != CPUBIND_OK)
        return status;
    cpubind_priv_write_cpus(p, 0, p->host->n_cpu);
    return cpubind_priv_close_slices(p, p->owner);
}

/* Lets the pool of core `from` pass it on to that of core `to`, their neighbour in a group, if
 * the numbers of CPUs of both are more even then, and the giver keeps as many CPUs at home as
 * the taker had. */
CPUBIND_PRIV int32_t cpubind_priv_pass_core(cpubind_priv_planner *p, int32_t from, int32_t to,
                                            int32_t *at_home)
{
    const int32_t width = p->core_row[from + 1] - p->core_row[from];
    const int32_t giver = p->owner[from];
    const int32_t taker = p->owner[to];
    const int32_t is_home = p->step[from] == CPUBIND_STEP_HOME;
    if (giver == taker || p->load[giver] - p->load[taker] <= width ||
        (is_home && at_home[giver] - width < at_home[taker]))
        return 0;
    at_home[giver] -= is_home ? width : 0;
    at_home[taker] += is_home ? width : 0;
    p->load[giver] -= width;
    p->load[taker] += width;
    p->owner[from] = taker;
    return 1;
}

/* N4, where cores have different numbers of CPUs: walks forth and back through the cores, which
 * pass from one neighbour to the other. Each pass lowers the sum of the squares of the loads;
 * where they would take long, the number of walks ends them. */
CPUBIND_PRIV void cpubind_priv_even_out(cpubind_priv_planner *p)
{
    int32_t *latest = p->group_next; /* by group: the core before this one, or NONE */
    int32_t *at_home = p->queue;     /* by device: CPUs of its pool in its home */
    int32_t n_passed = 1;
    cpubind_priv_note_steps(p, CPUBIND_STEP_NEAREST);
    cpubind_priv_fill(at_home, p->n_device, 0);
    for (int32_t c = 0; c < p->n_unit; c++)
        if (p->step[c] == CPUBIND_STEP_HOME)
            at_home[p->owner[c]] += p->core_row[c + 1] - p->core_row[c];
    for (int32_t walk = 0; n_passed > 0 && walk < CPUBIND_PRIV_WALKS; walk++) {
        n_passed = 0;
        for (int32_t back = 0; back < 2; back++) {
            cpubind_priv_fill(latest, p->n_group, CPUBIND_PRIV_NONE);
            for (int32_t i = 0; i < p->n_unit; i++) {
                const int32_t core = back ? p->n_unit - 1 - i : i;
                const int32_t group = p->segment_group[p->segment_of[core]];
                if (p->owner[core] == CPUBIND_PRIV_NONE)
                    continue;
                if (latest[group] != CPUBIND_PRIV_NONE)
                    n_passed += cpubind_priv_pass_core(p, core, latest[group], at_home);
                latest[group] = core;
            }
        }
    }
}

/* == Allowed CPUs that differ =============================================== */

/* Whether the strategy gives a device a segment of its list. is_home: it is in a home; is_own:
 * in that of the device. */
CPUBIND_PRIV int32_t cpubind_priv_is_given(const cpubind_priv_planner *p, int32_t device,
                                           int32_t segment, int32_t is_home, int32_t is_own)
{
    const int32_t node = p->segment_node[segment];
    if (p->is_slice)
        return 1;
    if (p->policy->strategy == CPUBIND_CLUSTER)
        return p->next_node[device] != CPUBIND_PRIV_NONE &&
               node == cpubind_priv_home_node(p, device);
    if (is_home)
        return is_own;
    return p->policy->strategy == CPUBIND_NEAR ? cpubind_priv_claims_node(p, device, node)
                                               : node == p->next_node[device];
}

/* NEAR: whether a device may be given such a segment all the same (L4). is_free: nobody gets it
 * by the strategy. */
CPUBIND_PRIV int32_t cpubind_priv_is_reached(const cpubind_priv_planner *p, int32_t device,
                                             int32_t is_home, int32_t is_free)
{
    return p->reach[device] == CPUBIND_PRIV_REACH_ALL ||
           (p->reach[device] == CPUBIND_PRIV_REACH_REST && !is_home) ||
           (is_free && (p->reach[device] == CPUBIND_PRIV_REACH_FREE ||
                        p->goal[device] == CPUBIND_PRIV_MAX));
}

/* Lists the segments that each device claims: those that the strategy gives it and, for NEAR,
 * those that it reaches. */
CPUBIND_PRIV void cpubind_priv_claim_listed(cpubind_priv_planner *p)
{
    const int32_t is_near = p->policy->strategy == CPUBIND_NEAR;
    int32_t *is_home = p->group_first; /* arrays by group that are not in use yet */
    int32_t *home_of = p->group_sum;
    int32_t *is_taken = p->group_next;
    cpubind_priv_fill(is_home, p->n_segment, 0);
    cpubind_priv_fill(is_taken, p->n_segment, 0);
    for (int32_t i = 0; i < p->home_row[p->n_device]; i++)
        is_home[p->home[i]] = 1;
    p->own_row[0] = 0;
    for (int32_t pass = !is_near; pass < 2; pass++) { /* first what is taken, then claims */
        int32_t n = 0;
        cpubind_priv_fill(home_of, p->n_segment, CPUBIND_PRIV_NONE);
        for (int32_t d = 0; d < p->n_device; d++) {
            for (int32_t i = p->home_row[d]; i < p->home_row[d + 1]; i++)
                home_of[p->home[i]] = d;
            if (is_near)
                cpubind_priv_mark_places(p, d);
            for (int32_t i = p->may_row[d]; i < p->may_row[d + 1]; i++) {
                const int32_t s = p->may[i];
                const int32_t has = cpubind_priv_is_given(p, d, s, is_home[s], home_of[s] == d);
                if (pass == 0)
                    is_taken[s] |= has;
                else if (has ||
                         (is_near && cpubind_priv_is_reached(p, d, is_home[s], !is_taken[s])))
                    p->own[n++] = s;
            }
            p->own_row[d + 1] = n;
        }
    }
}

/* Shares what each device may be given: the CPUs that the same devices claim are a group. */
CPUBIND_PRIV void cpubind_priv_share_listed(cpubind_priv_planner *p)
{
    cpubind_priv_claim_listed(p);
    cpubind_priv_share_groups(p, cpubind_priv_rows_of(p->own_row, p->own));
}

/* Lets each device below the minimum reach further, and each pool below the floor reach free
 * CPUs; where none can, all devices. Returns whether any does. */
CPUBIND_PRIV int32_t cpubind_priv_reach_further(cpubind_priv_planner *p)
{
    int32_t is_further = 0;
    int32_t is_lacking = 0;
    for (int32_t d = 0; d < p->n_device; d++) {
        const int32_t lacks = p->load[d] < p->need;
        is_lacking |= lacks;
        if (p->reach[d] < (lacks                     ? CPUBIND_PRIV_REACH_ALL
                           : p->load[d] < p->goal[d] ? CPUBIND_PRIV_REACH_FREE
                                                     : CPUBIND_PRIV_REACH_NEAR)) {
            p->reach[d]++;
            is_further = 1;
        }
    }
    for (int32_t d = 0, is_last = is_lacking && !is_further; is_last && d < p->n_device; d++) {
        is_further |= p->reach[d] < CPUBIND_PRIV_REACH_ALL;
        p->reach[d] = CPUBIND_PRIV_REACH_ALL;
    }
    return is_further;
}

/* Keeps the first CPUs of each pool, as many as a cluster has. Every device with a claim must
 * have so many. */
CPUBIND_PRIV cpubind_status cpubind_priv_trim_clusters(cpubind_priv_planner *p)
{
    int32_t *left = p->queue;
    for (int32_t d = 0; d < p->n_device; d++) {
        left[d] = p->policy->cluster;
        if (!cpubind_priv_has_claim(p, d) && cpubind_priv_is_wanted(p, d))
            return cpubind_priv_fail(p->fault, CPUBIND_ERR_SPREAD, d, 0, 0);
        if (cpubind_priv_has_claim(p, d) && p->load[d] < left[d])
            return cpubind_priv_fail(p->fault, CPUBIND_ERR_CLUSTERS, d, left[d], p->load[d]);
        p->load[d] = cpubind_priv_min(p->load[d], left[d]);
    }
    for (int32_t g = 0; g < p->n_group; g++)
        for (int32_t s = p->group_slot[g]; s != CPUBIND_PRIV_NONE; s = p->slot_next[s]) {
            p->slot_count[s] = cpubind_priv_min(p->slot_count[s], left[p->slot_device[s]]);
            left[p->slot_device[s]] -= p->slot_count[s];
        }
    return CPUBIND_OK;
}

/* The plan of a set whose lists differ; not for NEAR. */
CPUBIND_PRIV cpubind_status cpubind_priv_plan_listed(cpubind_priv_planner *p)
{
    const int32_t is_cluster = !p->is_slice && p->policy->strategy == CPUBIND_CLUSTER;
    cpubind_status status = cpubind_priv_read_cpus(p);
    if (status != CPUBIND_OK)
        return status;
    for (int32_t d = 0; is_cluster && p->policy->has_spare_node && d < p->n_device; d++)
        if (p->next_node[d] != CPUBIND_PRIV_NONE &&
            p->host->node_id[cpubind_priv_home_node(p, d)] == p->policy->spare_node)
            p->found.spare_taken += p->policy->cluster;
    cpubind_priv_share_listed(p);
    status = is_cluster ? cpubind_priv_trim_clusters(p) : CPUBIND_OK;
    if (status != CPUBIND_OK)
        return status;
    cpubind_priv_add_found(p, p->is_slice ? CPUBIND_GLOBAL_SLICE : p->policy->strategy,
                           CPUBIND_FOUND_NONE, p->is_slice ? p->n_device : p->n_home);
    return cpubind_priv_close_groups(p, p->is_slice  ? CPUBIND_STEP_SLICE
                                        : is_cluster ? CPUBIND_STEP_CLUSTER
                                                     : CPUBIND_STEP_NEXT);
}

/* == NEAR: the plan ========================================================= */

/* N2 to N4, or L2 and L4: the cores go to the devices. */
CPUBIND_PRIV void cpubind_priv_share_cores(cpubind_priv_planner *p)
{
    if (p->is_listed)
        cpubind_priv_share_listed(p);
    else
        cpubind_priv_share_groups(p, cpubind_priv_rows_of(p->home_row, p->home));
    cpubind_priv_hand_out_all(p);
    cpubind_priv_count_loads(p);
    if (p->widest * p->n_unit > p->host->n_cpu)
        cpubind_priv_even_out(p);
}

/* The arrays and the units of NEAR. */
CPUBIND_PRIV cpubind_status cpubind_priv_read_cores(cpubind_priv_planner *p)
{
    const int32_t n_cpu = p->host->n_cpu;
    const int32_t n_node = p->host->n_node;
    const int32_t n_device = p->n_device;
    const int32_t n_affinity = p->n_near;
    int32_t *next = cpubind_priv_carve(p, n_node * n_device);
    cpubind_status status;
#define CPUBIND_X(name, count) p->name = cpubind_priv_take(&next, count);
    CPUBIND_PRIV_NEAR_ARRAYS(CPUBIND_X)
#undef CPUBIND_X
    status = cpubind_priv_make_cores(p);
    if (status == CPUBIND_OK)
        status = cpubind_priv_read_units(p);
    if (status == CPUBIND_OK)
        cpubind_priv_make_places(p);
    return status;
}

CPUBIND_PRIV cpubind_status cpubind_priv_plan_near(cpubind_priv_planner *p)
{
    cpubind_status status = cpubind_priv_read_cores(p);
    int32_t n_lacking = 0;
    int32_t is_served;
    if (status != CPUBIND_OK)
        return status;
    if (p->n_placed == 0 && !p->is_listed)
        return cpubind_priv_slice_cores(p);
    cpubind_priv_find_nearest(p);
    cpubind_priv_set_goals(p);
    do
        cpubind_priv_share_cores(p);
    while (p->is_listed && cpubind_priv_reach_further(p));
    (void)cpubind_priv_count_left(p, &n_lacking);
    if (p->is_listed && p->host->core != NULL && n_lacking > 0) {
        p->must_split = 1;
        return CPUBIND_OK;
    }
    is_served = !p->is_listed && cpubind_priv_count_up_to(p, CPUBIND_MAX_CPUS) > 0;
    if (p->plan->trace != NULL || is_served)
        cpubind_priv_step_cpus(p);
    cpubind_priv_spread_cores(p, p->owner);
    if (is_served)
        cpubind_priv_serve_all(p);
    cpubind_priv_add_found(p, CPUBIND_NEAR, CPUBIND_FOUND_NONE, p->n_device);
    return cpubind_priv_write_owned(p);
}

/* == Sets of devices ========================================================
 *
 * Each set is planned as a host of its own. Its rows are written one after another, and put
 * into the order of the plan at the end. */

CPUBIND_PRIV int32_t cpubind_priv_find_set(int32_t *set_of, int32_t device)
{
    while (set_of[device] != device) {
        set_of[device] = set_of[set_of[device]];
        device = set_of[device];
    }
    return device;
}

/* Finds the sets: devices that may have a CPU in common are joined, under the first. */
CPUBIND_PRIV void cpubind_priv_join_sets(cpubind_priv_planner *p)
{
    const cpubind_host *host = p->host;
    const int32_t n_device = p->n_device;
    for (int32_t d = 0; d < n_device; d++)
        p->set_of[d] = d;
    cpubind_priv_fill(p->set_of_cpu, host->n_cpu, n_device);
    for (int32_t d = 0; d < n_device; d++) {
        cpubind_priv_runs run;
        int32_t joined = d; /* the device that was joined last */
        cpubind_priv_open_runs(&run, host->cpu, host->n_cpu, &p->allowed, d);
        while (cpubind_priv_next_run(&run) > 0)
            for (int32_t i = run.first; i < run.past; i++) {
                int32_t a, b;
                if (p->set_of_cpu[i] == n_device)
                    p->set_of_cpu[i] = d;
                if (p->set_of_cpu[i] == joined)
                    continue;
                joined = p->set_of_cpu[i];
                a = cpubind_priv_find_set(p->set_of, d);
                b = cpubind_priv_find_set(p->set_of, joined);
                p->set_of[a < b ? b : a] = cpubind_priv_min(a, b);
            }
    }
    for (int32_t d = 0; d < n_device; d++)
        p->set_of[d] = cpubind_priv_find_set(p->set_of, d);
    for (int32_t i = 0; i < host->n_cpu; i++)
        if (p->set_of_cpu[i] != n_device)
            p->set_of_cpu[i] = p->set_of[p->set_of_cpu[i]];
    cpubind_priv_sort_by_key(p->set_of, n_device, n_device, p->set_row, p->set_device);
    cpubind_priv_sort_by_key(p->set_of_cpu, host->n_cpu, n_device + 1, p->set_cpu_row,
                             p->set_cpu);
}

/* Makes the host of a set from the caller's; its cores have numbers below its CPUs. */
CPUBIND_PRIV void cpubind_priv_open_host(cpubind_priv_planner *p, const cpubind_host *all,
                                         cpubind_host *host)
{
    for (int32_t i = 0; i < host->n_cpu; i++) {
        p->set_id[i] = all->cpu[p->position[i]];
        p->set_node[i] = all->node == NULL ? 0 : all->node[p->position[i]];
    }
    (void)cpubind_priv_number_cores(all->core, p->position, host->n_cpu, p->rest, p->set_core);
    host->cpu = p->set_id;
    host->node = p->set_node;
    host->node_id = all->node_id;
    host->n_node = all->n_node;
    host->core = all->core == NULL ? NULL : p->set_core;
    host->distance = all->distance;
    host->socket = all->socket;
    p->host = host;
}

/* Counts the entries of the lists of a set, and finds out whether its lists differ. */
CPUBIND_PRIV void cpubind_priv_count_entries(cpubind_priv_planner *p)
{
    const int32_t *row = p->devices->affinity.row;
    p->allowed = cpubind_priv_choose_lists(p, &p->devices->allowed, p->list_first, p->list_end);
    p->n_near = 0;
    p->n_listed = 0;
    for (int32_t k = 0; k < p->n_device; k++) {
        cpubind_priv_runs run;
        int32_t count;
        cpubind_priv_open_runs(&run, p->host->cpu, p->host->n_cpu, &p->allowed, k);
        while ((count = cpubind_priv_next_run(&run)) > 0)
            p->n_listed += count;
        p->n_near += row == NULL ? 0 : row[p->member[k] + 1] - row[p->member[k]];
    }
    p->is_listed = p->n_listed != p->n_device * p->host->n_cpu;
    p->is_slice = cpubind_priv_is_slice(p->policy->strategy, p->n_near);
}

/* Gives CPUs of a core that different devices may have the numbers of different cores: each
 * list makes of the part of a core that it has a core of its own. */
CPUBIND_PRIV void cpubind_priv_part_cores(cpubind_priv_planner *p)
{
    const int32_t most = p->host->n_cpu + p->n_listed; /* cores */
    int32_t *part = p->rest;                           /* by core: the core of its CPUs ... */
    int32_t *listed = part + most;                     /* ... in the list of this device */
    int32_t n_core = p->host->n_cpu;
    cpubind_priv_fill(listed, most, CPUBIND_PRIV_NONE);
    for (int32_t d = 0; d < p->n_device; d++) {
        cpubind_priv_runs run;
        cpubind_priv_open_runs(&run, p->host->cpu, p->host->n_cpu, &p->allowed, d);
        while (cpubind_priv_next_run(&run) > 0)
            for (int32_t i = run.first; i < run.past; i++) {
                const int32_t core = p->set_core[i];
                if (listed[core] != d)
                    part[core] = n_core++;
                listed[core] = d;
                p->set_core[i] = part[core];
            }
    }
}

/* The plan of a set, in work space that is large enough. A plan of NEAR that must split cores
 * is made again, with CPUs for cores. */
CPUBIND_PRIV cpubind_status cpubind_priv_plan_set(cpubind_priv_planner *p, cpubind_host *host)
{
    cpubind_status status = CPUBIND_OK;
    if (p->is_slice || p->policy->strategy != CPUBIND_NEAR)
        return p->is_listed ? cpubind_priv_plan_listed(p) : cpubind_priv_plan_reference(p);
    if (p->is_listed && host->core != NULL)
        cpubind_priv_part_cores(p);
    do {
        if (p->must_split)
            host->core = NULL;
        p->must_split = 0;
        if (p->is_listed)
            cpubind_priv_fill(p->reach, p->n_device, CPUBIND_PRIV_REACH_NEAR);
        status = cpubind_priv_plan_near(p);
    } while (status == CPUBIND_OK && p->must_split);
    return status;
}

/* Plans one set. */
CPUBIND_PRIV cpubind_status cpubind_priv_run_set(cpubind_priv_planner *p, int32_t set,
                                                 const cpubind_host *all)
{
    cpubind_host host;
    cpubind_status status;
    p->member = p->set_device + p->set_row[set];
    p->position = p->set_cpu + p->set_cpu_row[set];
    p->is_whole = p->set_row[set + 1] - p->set_row[set] == p->devices->affinity.n;
    p->n_device = p->set_row[set + 1] - p->set_row[set];
    host.n_cpu = p->set_cpu_row[set + 1] - p->set_cpu_row[set];
    cpubind_priv_open_host(p, all, &host);
    cpubind_priv_count_entries(p);
    if (p->is_slice) { /* slices read no nodes */
        cpubind_priv_fill(p->set_node, host.n_cpu, 0);
        host.node_id = p->set_node;
        host.n_node = 1;
    }
    status = cpubind_priv_plan_set(p, &host);
    if (status != CPUBIND_OK && p->fault != NULL) {
        p->fault->device = cpubind_priv_member(p, p->fault->device);
        p->fault->other = cpubind_priv_member(p, p->fault->other);
        if (p->fault->index != CPUBIND_PRIV_NONE)
            p->fault->index = p->position[p->fault->index];
    }
    return status;
}

CPUBIND_PRIV void cpubind_priv_reverse(int32_t *list, int32_t first, int32_t end)
{
    while (first < --end) {
        const int32_t moved = list[first];
        list[first++] = list[end];
        list[end] = moved;
    }
}

/* Puts the rows into the order of the plan, in place. */
CPUBIND_PRIV void cpubind_priv_order_rows(cpubind_priv_planner *p)
{
    int32_t *cpu = p->plan->cpu;
    int32_t *first = p->plan->row;
    int32_t at = 0;
    for (int32_t row = 0; row < p->n_row; row++) {
        const int32_t from = first[row];
        const int32_t n = p->row_size[row];
        if (from != at && n > 0) {
            cpubind_priv_reverse(cpu, at, from);
            cpubind_priv_reverse(cpu, from, from + n);
            cpubind_priv_reverse(cpu, at, from + n);
            for (int32_t i = row + 1; i < p->n_row; i++)
                if (first[i] < from)
                    first[i] += n;
        }
        first[row] = at;
        at += n;
    }
}

/* Plans every set. */
CPUBIND_PRIV cpubind_status cpubind_priv_plan_sets(cpubind_priv_planner *p)
{
    const cpubind_host *all = p->host;
    const int32_t n_cpu = p->host->n_cpu;
    const int32_t n_device = p->n_device;
    const int32_t n_allowed = cpubind_priv_length(&p->devices->allowed);
    cpubind_trace *trace = p->plan->trace;
#define CPUBIND_X(name, count) p->name = cpubind_priv_take(&p->rest, count);
    CPUBIND_PRIV_SET_ARRAYS(CPUBIND_X)
#undef CPUBIND_X
    p->allowed = cpubind_priv_choose_lists(p, &p->devices->allowed, p->list_first, p->list_end);
    cpubind_priv_join_sets(p);
    if (trace != NULL) {
        cpubind_priv_fill(trace->owner, n_cpu, CPUBIND_PRIV_NONE);
        cpubind_priv_fill(trace->step, n_cpu, CPUBIND_STEP_IDLE);
        cpubind_priv_fill(trace->group, n_cpu, CPUBIND_PRIV_NONE);
    }
    for (int32_t set = 0; set < n_device; set++) {
        cpubind_status status = CPUBIND_OK;
        if (p->set_row[set] < p->set_row[set + 1])
            status = cpubind_priv_run_set(p, set, all);
        if (status != CPUBIND_OK)
            return status;
    }
    cpubind_priv_order_rows(p);
    return CPUBIND_OK;
}

/* == The plan =============================================================== */

/* Writes the out fields of a plan that was made. */
CPUBIND_PRIV cpubind_status cpubind_priv_close_plan(cpubind_priv_planner *p,
                                                    cpubind_status status)
{
    cpubind_plan *plan = p->plan;
    if (status != CPUBIND_OK)
        return status;
    plan->row[p->n_row] = p->n_out;
    plan->n_cpu = p->n_out;
    plan->strategy = p->found.strategy;
    plan->overlap = p->found.overlap;
    plan->n_checked = p->found.n_checked;
    plan->spare_taken = p->found.spare_taken;
    (void)cpubind_priv_set_shared(&plan->shared, p->found.device, p->found.other, p->found.cpu);
    if (plan->trace != NULL) {
        plan->trace->n_group = p->n_trace_group;
        plan->trace->row[p->n_trace_group] = p->n_trace_device;
    }
    return CPUBIND_OK;
}

/* Sets up a plan of all devices, and finds how much work space it needs. */
CPUBIND_PRIV cpubind_status cpubind_priv_open_plan(cpubind_priv_planner *p)
{
    cpubind_plan *plan = p->plan;
    const int32_t n_cpu = p->host->n_cpu;
    const int32_t n_affinity = cpubind_priv_length(&p->devices->affinity);
    const int32_t n_allowed = cpubind_priv_length(&p->devices->allowed);
    const int32_t n_entry = n_affinity + n_allowed;
    const int32_t n_node = p->is_slice ? 1 : p->host->n_node;
    plan->n_cpu = 0;
    plan->n_work = 0;
    p->has_sets = p->devices->allowed.n > 0 && n_cpu > 0;
    if (!p->is_slice || p->has_sets)
        plan->n_work = p->policy->strategy == CPUBIND_NEAR
                           ? CPUBIND_PLAN_WORK_NEAR(n_cpu, n_node, p->n_device, n_entry)
                           : CPUBIND_PLAN_WORK(n_cpu, n_node, p->n_device, n_entry);
    if (p->has_sets)
        plan->n_work = CPUBIND_PLAN_WORK_ALLOWED(plan->n_work, n_cpu, p->n_device, n_allowed);
    p->rest = plan->work;
    if (plan->n_work <= plan->cap_work)
        return CPUBIND_OK;
    plan->n_cpu = p->policy->overlap == CPUBIND_OVERLAP_KEEP
                      ? CPUBIND_PLAN_CPUS_KEEP(n_cpu, p->n_row)
                      : CPUBIND_PLAN_CPUS(n_cpu);
    return cpubind_priv_refuse(p->fault, CPUBIND_ERR_SPACE, "plan.work", CPUBIND_PRIV_NONE);
}

/* Checks the arguments of a plan, and sets it up. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_all(cpubind_priv_planner *p,
                                                   const cpubind_host *host,
                                                   const cpubind_devices *devices,
                                                   const cpubind_policy *policy,
                                                   cpubind_plan *plan, cpubind_fault *fault)
{
    cpubind_status status = cpubind_priv_check_policy(policy, fault, &p->need);
    if (status == CPUBIND_OK)
        status = cpubind_priv_check_plan(plan, fault);
    if (status == CPUBIND_OK)
        status = cpubind_priv_check_devices(devices, plan, fault);
    if (status != CPUBIND_OK)
        return status;
    p->is_slice =
        cpubind_priv_is_slice(policy->strategy, cpubind_priv_length(&devices->affinity));
    status =
        cpubind_priv_check_host(host, p->is_slice, policy->strategy == CPUBIND_NEAR, fault);
    if (status != CPUBIND_OK)
        return status;
    p->host = host;
    p->devices = devices;
    p->n_near = cpubind_priv_length(&devices->affinity);
    p->policy = policy;
    p->plan = plan;
    p->fault = fault;
    p->n_device = devices->affinity.n;
    p->n_row = plan->want == NULL ? p->n_device : plan->n_want;
    p->member = NULL;
    p->position = NULL;
    p->is_whole = 1;
    p->is_listed = 0;
    p->must_split = 0;
    p->n_out = 0;
    p->n_trace_group = 0;
    p->n_trace_device = 0;
    p->found.strategy = CPUBIND_GLOBAL_SLICE;
    p->found.overlap = CPUBIND_FOUND_NONE;
    p->found.n_checked = 0;
    p->found.spare_taken = 0;
    p->found.device = CPUBIND_PRIV_NONE;
    p->found.other = CPUBIND_PRIV_NONE;
    p->found.cpu = CPUBIND_PRIV_NONE;
    status = cpubind_priv_check_buffers(p);
    return status == CPUBIND_OK ? cpubind_priv_open_plan(p) : status;
}

CPUBIND_PRIV_PUBLIC cpubind_status cpubind_make_plan(const cpubind_host *host,
                                                     const cpubind_devices *devices,
                                                     const cpubind_policy *policy,
                                                     cpubind_plan *plan, cpubind_fault *fault)
{
    cpubind_priv_planner p;
    cpubind_status status = cpubind_priv_check_all(&p, host, devices, policy, plan, fault);
    if (status != CPUBIND_OK)
        return status;
    status = p.has_sets                         ? cpubind_priv_plan_sets(&p)
             : policy->strategy == CPUBIND_NEAR ? cpubind_priv_plan_near(&p)
                                                : cpubind_priv_plan_reference(&p);
    return cpubind_priv_close_plan(&p, status);
}

CPUBIND_PRIV_PUBLIC cpubind_status cpubind_make_reference_plan(const cpubind_host *host,
                                                               const cpubind_devices *devices,
                                                               const cpubind_policy *policy,
                                                               cpubind_plan *plan,
                                                               cpubind_fault *fault)
{
    cpubind_priv_planner p;
    const cpubind_status status =
        cpubind_priv_check_all(&p, host, devices, policy, plan, fault);
    if (status != CPUBIND_OK)
        return status;
    if (policy->strategy == CPUBIND_NEAR)
        return cpubind_priv_bad_argument(fault, "policy.strategy");
    if (devices->allowed.n > 0)
        return cpubind_priv_bad_argument(fault, "devices.allowed.n");
    return cpubind_priv_close_plan(&p, cpubind_priv_plan_reference(&p));
}

/* == Roles ================================================================== */

/* Marks a node by its index; nodes that are not in node_id count as one more node. */
CPUBIND_PRIV void cpubind_priv_mark_node(const cpubind_host *host, int32_t id, int32_t *mark)
{
    const int32_t node = cpubind_priv_find(host->node_id, host->n_node, id);
    mark[node == CPUBIND_PRIV_NONE ? host->n_node : node] = 1;
}

/* Marks the nodes of the place of a device. */
CPUBIND_PRIV void cpubind_priv_mark_place(const cpubind_host *host,
                                          const cpubind_devices *devices, int32_t device,
                                          int32_t *is_place)
{
    const cpubind_lists *affinity = &devices->affinity;
    int32_t n_home = 0;
    cpubind_priv_fill(is_place, host->n_node + 1, 0);
    if (affinity->row != NULL) {
        const cpubind_priv_rows lists = cpubind_priv_rows_of(affinity->row, affinity->cpu);
        int32_t node = CPUBIND_PRIV_NONE; /* id of the node of the CPU before */
        cpubind_priv_runs run;
        cpubind_priv_open_runs(&run, host->cpu, host->n_cpu, &lists, device);
        while (cpubind_priv_next_run(&run) > 0)
            for (int32_t i = run.first; i < run.past; i++, n_home++)
                if (n_home == 0 || host->node[i] != node) {
                    node = host->node[i];
                    cpubind_priv_mark_node(host, node, is_place);
                }
    }
    if (n_home == 0 && devices->node != NULL) {
        cpubind_priv_mark_node(host, devices->node[device], is_place);
        is_place[host->n_node] = 0; /* such a node is not known */
    }
}

/* One placing in the making. Indices are into placing->cpu. */
typedef struct cpubind_priv_placer {
    const cpubind_host *host;
    const cpubind_placing *placing;
    int32_t n_front, n_back; /* CPUs of the roles before MAIN, and after */
    int32_t n_near, n_part;  /* n_part: processes */
    int32_t *at;             /* position in the host; then the role */
    int32_t *core;           /* number of its core */
    int32_t *order;          /* near ones first, core by core */
    int32_t *scratch;        /* 3 * n + 8 elements */
    int32_t *is_place;       /* by node */
} cpubind_priv_placer;

/* Finds the positions of the pool in the host. */
CPUBIND_PRIV cpubind_status cpubind_priv_find_pool(cpubind_priv_placer *r, cpubind_fault *fault)
{
    const cpubind_host *host = r->host;
    const int32_t *cpu = r->placing->cpu;
    int32_t at = 0;
    for (int32_t i = 0; i < r->placing->n_cpu; i++) {
        at = cpubind_priv_seek(host->cpu, at, host->n_cpu, cpu[i]);
        if (at == host->n_cpu || host->cpu[at] != cpu[i])
            return cpubind_priv_refuse_cpu(fault, "placing.cpu", i, CPUBIND_PRIV_NONE, cpu[i]);
        r->at[i] = at;
    }
    return CPUBIND_OK;
}

/* Puts the pool into order. Without is_near that is the order of ids, all CPUs count as near,
 * and as cores. */
CPUBIND_PRIV void cpubind_priv_order_pool(cpubind_priv_placer *r,
                                          const cpubind_devices *devices)
{
    const cpubind_host *host = r->host;
    const int32_t n = r->placing->n_cpu;
    const int32_t is_near = r->placing->is_near;
    int32_t *table = r->order; /* with the scratch after it: 4 * n + 8 elements */
    const int32_t n_core =
        cpubind_priv_number_cores(is_near ? host->core : NULL, r->at, n, table, r->core);
    r->n_near = n;
    if (is_near)
        cpubind_priv_mark_place(host, devices, r->placing->device, r->is_place);
    for (int32_t i = 0; is_near && i < n; i++) {
        const int32_t node =
            cpubind_priv_find(host->node_id, host->n_node, host->node[r->at[i]]);
        if (r->is_place[node == CPUBIND_PRIV_NONE ? host->n_node : node])
            continue;
        r->core[i] += n_core;
        r->n_near--;
    }
    cpubind_priv_sort_by_key(r->core, n, 2 * n_core, r->scratch, r->order);
}

/* Cuts order[first] up to, not with, order[end] into parts, by whole cores or by CPUs; the
 * first parts have one more. Returns the span of one part. */
CPUBIND_PRIV cpubind_span cpubind_priv_cut_part(const cpubind_priv_placer *r, int32_t first,
                                                int32_t end, int32_t part, int32_t by_core)
{
    int32_t *start = r->scratch; /* by core or CPU */
    int32_t n = 0;
    cpubind_span span;
    for (int32_t i = first; i < end; i++)
        if (!by_core || i == first || r->core[r->order[i]] != r->core[r->order[i - 1]])
            start[n++] = i;
    start[n] = end;
    span = cpubind_priv_share(n, r->n_part, part);
    span.count = start[span.first + span.count] - start[span.first];
    span.first = start[span.first];
    return span;
}

/* The near CPUs of a part, and the others; those of the roles before MAIN are in no part.
 * Returns how many CPUs these are. */
CPUBIND_PRIV int32_t cpubind_priv_cut_pool(const cpubind_priv_placer *r, int32_t part,
                                           int32_t by_core, cpubind_span out[2])
{
    const int32_t middle = r->n_near > r->n_front ? r->n_near : r->n_front;
    out[0] = cpubind_priv_cut_part(r, r->n_front, middle, part, by_core);
    out[1] = cpubind_priv_cut_part(r, middle, r->placing->n_cpu, r->n_part - 1 - part, by_core);
    return out[0].count + out[1].count;
}

/* Cuts the part of the process: by cores if every part is large enough then, else by CPUs. */
CPUBIND_PRIV cpubind_status cpubind_priv_choose_part(const cpubind_priv_placer *r,
                                                     cpubind_span out[2], cpubind_fault *fault)
{
    const int32_t need = r->n_back + r->placing->roles.count[CPUBIND_ROLE_MAIN];
    int32_t least = 0;
    for (int32_t by_core = 1; by_core >= 0; by_core--) {
        least = cpubind_priv_cut_pool(r, r->placing->process, by_core, out);
        for (int32_t part = 0; part < r->n_part; part++) {
            cpubind_span other[2];
            if (part != r->placing->process)
                least = cpubind_priv_min(least, cpubind_priv_cut_pool(r, part, by_core, other));
        }
        if (least >= need)
            return CPUBIND_OK;
    }
    return cpubind_priv_fail(fault, CPUBIND_ERR_TOO_FEW, r->placing->device, r->n_front + need,
                             r->n_front + least);
}

/* The last CPU of a part that is still of MAIN, near ones first, and if there is one on a core
 * that no role after MAIN has. */
CPUBIND_PRIV int32_t cpubind_priv_choose_back(const cpubind_priv_placer *r,
                                              const cpubind_span part[2], const int32_t *used)
{
    for (int32_t other = 1; other >= 0; other--)
        for (int32_t k = 0; k < 2; k++)
            for (int32_t i = part[k].first + part[k].count - 1; i >= part[k].first; i--)
                if (r->at[r->order[i]] == CPUBIND_ROLE_MAIN &&
                    !(other && used[r->core[r->order[i]]]))
                    return r->order[i];
    return CPUBIND_PRIV_NONE;
}

/* Gives the CPUs of MAIN that are on a core of a role to that role, if MAIN keeps enough. */
CPUBIND_PRIV void cpubind_priv_clear_cores(cpubind_priv_placer *r, int32_t role)
{
    const int32_t n = r->placing->n_cpu;
    int32_t *has_role = r->scratch; /* by core; nothing else is used at the end */
    int32_t n_main = 0;
    int32_t n_taken = 0;
    cpubind_priv_fill(has_role, 2 * n, 0);
    for (int32_t i = 0; i < n; i++) {
        has_role[r->core[i]] |= r->at[i] == role;
        n_main += r->at[i] == CPUBIND_ROLE_MAIN;
    }
    for (int32_t i = 0; i < n; i++)
        n_taken += r->at[i] == CPUBIND_ROLE_MAIN && has_role[r->core[i]];
    if (n_main - n_taken < CPUBIND_MAIN_KEEPS ||
        n_main - n_taken < r->placing->roles.count[CPUBIND_ROLE_MAIN])
        return;
    for (int32_t i = 0; i < n; i++)
        if (r->at[i] == CPUBIND_ROLE_MAIN && has_role[r->core[i]])
            r->at[i] = role;
}

/* Gives each CPU of the process its role, in r->at, the others NONE; and writes them. */
CPUBIND_PRIV void cpubind_priv_write_roles(cpubind_priv_placer *r, const cpubind_span part[2],
                                           cpubind_placing *placing)
{
    int32_t *used = r->scratch; /* by core: whether a role after MAIN is on it */
    int32_t front = 0;
    int32_t n = 0;
    cpubind_priv_fill(r->at, placing->n_cpu, CPUBIND_PRIV_NONE);
    cpubind_priv_fill(used, 2 * placing->n_cpu, 0);
    for (int32_t k = 0; k < 2; k++)
        for (int32_t i = part[k].first; i < part[k].first + part[k].count; i++)
            r->at[r->order[i]] = CPUBIND_ROLE_MAIN;
    for (int32_t role = 0; role < (int32_t)CPUBIND_ROLE_MAIN; role++)
        for (int32_t i = 0; i < placing->roles.count[role]; i++)
            r->at[r->order[front++]] = role;
    for (int32_t role = CPUBIND_ROLE_COUNT - 1; role > (int32_t)CPUBIND_ROLE_MAIN; role--)
        for (int32_t i = 0; i < placing->roles.count[role]; i++) {
            int32_t chosen = cpubind_priv_choose_back(r, part, used);
            r->at[chosen] = role;
            used[r->core[chosen]] = 1;
        }
    for (int32_t role = CPUBIND_ROLE_MAIN + 1; placing->is_near && role < CPUBIND_ROLE_COUNT;
         role++)
        cpubind_priv_clear_cores(r, role);
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        placing->out_roles.span[role].first = n;
        for (int32_t i = 0; i < placing->n_cpu; i++)
            if (r->at[i] == role)
                placing->out_cpu[n++] = placing->cpu[i];
        placing->out_roles.span[role].count = n - placing->out_roles.span[role].first;
    }
    placing->n_out = n;
}

/* Checks the host and the devices as far as roles and quality read them. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_places(const cpubind_host *host,
                                                      const cpubind_devices *devices,
                                                      cpubind_fault *fault)
{
    cpubind_status status = cpubind_priv_check_host(host, 0, 1, fault);
    if (status == CPUBIND_OK && devices == NULL)
        status = cpubind_priv_bad_argument(fault, "devices");
    return status == CPUBIND_OK ? cpubind_priv_check_affinity(&devices->affinity, fault)
                                : status;
}

CPUBIND_PRIV cpubind_status cpubind_priv_check_placing(const cpubind_placing *placing,
                                                       const cpubind_host *host,
                                                       const cpubind_devices *devices,
                                                       cpubind_fault *fault)
{
    cpubind_status status;
    if (placing == NULL)
        return cpubind_priv_bad_argument(fault, "placing");
    status = cpubind_priv_check_list(placing->cpu, placing->n_cpu, "placing.cpu", fault);
    if (status != CPUBIND_OK)
        return status;
    if (placing->device < 0 || placing->device >= devices->affinity.n)
        return cpubind_priv_bad_argument(fault, "placing.device");
    if (placing->n_process < 0 || placing->n_process > CPUBIND_MAX_DEVICES)
        return cpubind_priv_bad_argument(fault, "placing.n_process");
    if (placing->process < 0 || placing->process >= placing->n_process + !placing->n_process)
        return cpubind_priv_bad_argument(fault, "placing.process");
    if (placing->n_cpu > 0 && placing->out_cpu == NULL)
        return cpubind_priv_bad_argument(fault, "placing.out_cpu");
    if (placing->cap_work <
        CPUBIND_PLACE_WORK(placing->n_cpu, placing->is_near ? host->n_node : 0))
        return cpubind_priv_refuse(fault, CPUBIND_ERR_SPACE, "placing.work", CPUBIND_PRIV_NONE);
    return placing->work == NULL ? cpubind_priv_bad_argument(fault, "placing.work")
                                 : CPUBIND_OK;
}

CPUBIND_PRIV_PUBLIC cpubind_status cpubind_place_roles(const cpubind_host *host,
                                                       const cpubind_devices *devices,
                                                       cpubind_placing *placing,
                                                       cpubind_fault *fault)
{
    cpubind_priv_placer r;
    cpubind_span part[2];
    int32_t need;
    cpubind_status status = placing != NULL && placing->is_checked
                                ? CPUBIND_OK
                                : cpubind_priv_check_places(host, devices, fault);
    if (status == CPUBIND_OK)
        status = cpubind_priv_check_placing(placing, host, devices, fault);
    if (status == CPUBIND_OK)
        status = cpubind_priv_sum_roles(&placing->roles, "placing.roles.count", fault, &need);
    if (status != CPUBIND_OK)
        return status;
    r.host = host;
    r.placing = placing;
    r.n_part = placing->n_process + !placing->n_process;
    r.at = placing->work;
    r.core = r.at + placing->n_cpu;
    r.order = r.core + placing->n_cpu;
    r.scratch = r.order + placing->n_cpu;
    r.is_place = r.scratch + 3 * placing->n_cpu + 8;
    r.n_front = 0;
    for (int32_t role = 0; role < (int32_t)CPUBIND_ROLE_MAIN; role++)
        r.n_front += placing->roles.count[role];
    r.n_back = need - r.n_front - placing->roles.count[CPUBIND_ROLE_MAIN];
    if (placing->n_cpu < need)
        return cpubind_priv_fail(fault, CPUBIND_ERR_TOO_FEW, placing->device, need,
                                 placing->n_cpu);
    status = cpubind_priv_find_pool(&r, fault);
    if (status != CPUBIND_OK)
        return status;
    cpubind_priv_order_pool(&r, devices);
    status = cpubind_priv_choose_part(&r, part, fault);
    if (status == CPUBIND_OK)
        cpubind_priv_write_roles(&r, part, placing);
    return status;
}

/* == Quality ================================================================ */

/* How a node lies to the place of a device. */
typedef enum cpubind_priv_side {
    CPUBIND_PRIV_NEAR,
    CPUBIND_PRIV_BETWEEN, /* on a socket of the place, or the place is not known */
    CPUBIND_PRIV_ELSEWHERE
} cpubind_priv_side;

typedef struct cpubind_priv_meter {
    const cpubind_host *host;
    const cpubind_devices *devices;
    int32_t *core_of; /* by position */
    int32_t
        *core_owner;  /* by core: the device, NONE, or a number below NONE: several; which one
                            counted the core last */
    int32_t *is_used; /* by position */
    int32_t *side;    /* by node */
    int32_t *has_cpu; /* by node: whether it has an allowed CPU */
} cpubind_priv_meter;

/* Finds the side of every node for a device. */
CPUBIND_PRIV void cpubind_priv_find_sides(const cpubind_priv_meter *m, int32_t device)
{
    const cpubind_host *host = m->host;
    int32_t *is_place = m->side + host->n_node;
    int32_t n_place = 0;
    cpubind_priv_mark_place(host, m->devices, device, is_place);
    for (int32_t a = 0; a < host->n_node; a++)
        n_place += is_place[a];
    for (int32_t b = 0; b < host->n_node; b++) {
        int32_t is_far = n_place > 0;
        for (int32_t a = 0; is_far && a < host->n_node; a++)
            is_far = !is_place[a] || cpubind_priv_is_far(host, a, b);
        m->side[b] = is_place[b] ? CPUBIND_PRIV_NEAR
                     : is_far    ? CPUBIND_PRIV_ELSEWHERE
                                 : CPUBIND_PRIV_BETWEEN;
    }
}

CPUBIND_PRIV int32_t cpubind_priv_position(const cpubind_priv_meter *m, int32_t cpu)
{
    return cpubind_priv_find(m->host->cpu, m->host->n_cpu, cpu);
}

/* Sets all figures to 0; field by field, as faults are. */
CPUBIND_PRIV void cpubind_priv_clear_quality(cpubind_quality *out)
{
    out->n_pool = 0;
    out->n_cpu = 0;
    out->near_cpu = 0;
    out->far_cpu = 0;
    out->far_displaced = 0;
    out->irq_off_node = 0;
    out->n_pool_off_node = 0;
    out->split_cores = 0;
    out->idle = 0;
    out->smallest = 0;
    out->largest = 0;
}

/* Whether an allowed CPU is on a socket of the place whose sides were found. */
CPUBIND_PRIV int32_t cpubind_priv_has_side(const cpubind_priv_meter *m)
{
    int32_t has = 0;
    for (int32_t node = 0; node < m->host->n_node; node++)
        has |= m->has_cpu[node] && m->side[node] != CPUBIND_PRIV_ELSEWHERE;
    return has;
}

/* Measures the pool of one device, but for the cores that it shares. */
CPUBIND_PRIV void cpubind_priv_measure_pool(const cpubind_priv_meter *m,
                                            const cpubind_lists *pools, int32_t device,
                                            int32_t n_irq, cpubind_quality *out)
{
    const cpubind_host *host = m->host;
    const int32_t first = pools->row[device];
    const int32_t n = pools->row[device + 1] - first;
    cpubind_priv_clear_quality(out);
    for (int32_t i = 0; i < n; i++) {
        const int32_t at = cpubind_priv_position(m, pools->cpu[first + i]);
        const int32_t node = cpubind_priv_find(host->node_id, host->n_node, host->node[at]);
        int32_t *owner = &m->core_owner[m->core_of[at]];
        out->near_cpu += m->side[node] == CPUBIND_PRIV_NEAR;
        out->far_cpu += m->side[node] == CPUBIND_PRIV_ELSEWHERE;
        out->irq_off_node += i < n_irq && m->side[node] != CPUBIND_PRIV_NEAR;
        m->is_used[at] = 1;
        if (*owner == CPUBIND_PRIV_NONE)
            *owner = device;
        else if (*owner != device)
            *owner = CPUBIND_PRIV_NONE - 1;
    }
    out->far_displaced = cpubind_priv_has_side(m) ? 0 : out->far_cpu;
    out->n_cpu = n;
    out->n_pool = n > 0;
    out->n_pool_off_node = out->irq_off_node > 0;
    out->smallest = n;
    out->largest = n;
}

/* The cores of a pool that other pools share, each once. */
CPUBIND_PRIV int32_t cpubind_priv_count_split(const cpubind_priv_meter *m,
                                              const cpubind_lists *pools, int32_t device)
{
    int32_t n = 0;
    for (int32_t i = pools->row[device]; i < pools->row[device + 1]; i++) {
        int32_t *owner = &m->core_owner[m->core_of[cpubind_priv_position(m, pools->cpu[i])]];
        if (*owner >= CPUBIND_PRIV_NONE || *owner == CPUBIND_PRIV_NONE - 2 - device)
            continue;
        *owner = CPUBIND_PRIV_NONE - 2 - device;
        n++;
    }
    return n;
}

CPUBIND_PRIV void cpubind_priv_add_quality(cpubind_quality *to, const cpubind_quality *more)
{
    if (more->n_pool == 0)
        return;
    if (to->n_pool == 0 || more->smallest < to->smallest)
        to->smallest = more->smallest;
    if (more->largest > to->largest)
        to->largest = more->largest;
    to->n_pool += more->n_pool;
    to->n_cpu += more->n_cpu;
    to->near_cpu += more->near_cpu;
    to->far_cpu += more->far_cpu;
    to->far_displaced += more->far_displaced;
    to->irq_off_node += more->irq_off_node;
    to->n_pool_off_node += more->n_pool_off_node;
}

/* Every CPU of a pool must be in the host, and its node in node_id. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_pools(const cpubind_priv_meter *m,
                                                     const cpubind_lists *pools,
                                                     cpubind_fault *fault)
{
    const cpubind_host *host = m->host;
    if (pools->n != m->devices->affinity.n || pools->row == NULL)
        return cpubind_priv_bad_argument(fault, "pools");
    for (int32_t d = 0; d <= pools->n; d++)
        if (pools->row[d] < (d == 0 ? 0 : pools->row[d - 1]) || pools->row[0] != 0)
            return cpubind_priv_refuse(fault, CPUBIND_ERR_ARG, "pools.row", d);
    if (pools->row[pools->n] > 0 && pools->cpu == NULL)
        return cpubind_priv_bad_argument(fault, "pools.cpu");
    for (int32_t d = 0; d < pools->n; d++)
        for (int32_t i = pools->row[d]; i < pools->row[d + 1]; i++) {
            const int32_t cpu = pools->cpu[i];
            const int32_t at = cpubind_priv_position(m, cpu);
            if (at == CPUBIND_PRIV_NONE)
                return cpubind_priv_refuse_cpu(fault, "pools.cpu", i, d, cpu);
            if (cpubind_priv_find(host->node_id, host->n_node, host->node[at]) ==
                CPUBIND_PRIV_NONE)
                return cpubind_priv_refuse_cpu(fault, "host.node", at, d, cpu);
        }
    return CPUBIND_OK;
}

CPUBIND_PRIV_PUBLIC cpubind_status cpubind_measure(const cpubind_host *host,
                                                   const cpubind_devices *devices,
                                                   cpubind_lists pools, int32_t n_irq,
                                                   int32_t *work, cpubind_quality *out_total,
                                                   cpubind_quality *out_each,
                                                   cpubind_fault *fault)
{
    cpubind_priv_meter m;
    int32_t n_core;
    cpubind_status status = cpubind_priv_check_places(host, devices, fault);
    if (status != CPUBIND_OK)
        return status;
    if (n_irq < 0)
        return cpubind_priv_bad_argument(fault, "n_irq");
    if (work == NULL)
        return cpubind_priv_bad_argument(fault, "work");
    if (out_total == NULL)
        return cpubind_priv_bad_argument(fault, "out_total");
    m.host = host;
    m.devices = devices;
    status = cpubind_priv_check_pools(&m, &pools, fault);
    if (status != CPUBIND_OK)
        return status;
    m.core_of = work;
    m.core_owner = work + host->n_cpu; /* the table of cores is here before */
    m.is_used = m.core_owner + host->n_cpu;
    m.side = work + 5 * host->n_cpu + 2;
    m.has_cpu = m.side + 2 * host->n_node + 1;
    cpubind_priv_fill(m.has_cpu, host->n_node, 0);
    for (int32_t i = 0; i < host->n_cpu; i++)
        cpubind_priv_mark_node(host, host->node[i], m.has_cpu);
    n_core = cpubind_priv_number_cores(host->core, NULL, host->n_cpu, m.core_owner, m.core_of);
    cpubind_priv_fill(m.core_owner, n_core, CPUBIND_PRIV_NONE);
    cpubind_priv_fill(m.is_used, host->n_cpu, 0);
    cpubind_priv_clear_quality(out_total);
    for (int32_t d = 0; d < pools.n; d++) {
        cpubind_quality one;
        cpubind_priv_find_sides(&m, d);
        cpubind_priv_measure_pool(&m, &pools, d, n_irq, out_each != NULL ? &out_each[d] : &one);
        cpubind_priv_add_quality(out_total, out_each != NULL ? &out_each[d] : &one);
    }
    for (int32_t c = 0; c < n_core; c++)
        out_total->split_cores += m.core_owner[c] < CPUBIND_PRIV_NONE;
    for (int32_t d = 0; out_each != NULL && d < pools.n; d++)
        out_each[d].split_cores = cpubind_priv_count_split(&m, &pools, d);
    for (int32_t i = 0; i < host->n_cpu; i++)
        out_total->idle += !m.is_used[i];
    return CPUBIND_OK;
}

/* == Text and version ======================================================= */

/* The word of a number, of n words; "?" for a number that has none. */
CPUBIND_PRIV const char *cpubind_priv_word(const char *const *words, int32_t n, int32_t number)
{
    return number >= 0 && number < n ? words[number] : "?";
}

#define CPUBIND_PRIV_WORD(words, number)                                                       \
    cpubind_priv_word(words, (int32_t)(sizeof(words) / sizeof *(words)), number)

CPUBIND_PRIV_PUBLIC const char *cpubind_status_name(cpubind_status status)
{
#define CPUBIND_X(name, value, text) #name,
    static const char *const words[] = {CPUBIND_STATUS_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return (int32_t)status < -CPUBIND_MAX_CPUS ? "?"
                                               : CPUBIND_PRIV_WORD(words, -(int32_t)status);
}

CPUBIND_PRIV_PUBLIC const char *cpubind_status_text(cpubind_status status)
{
#define CPUBIND_X(name, value, text) text,
    static const char *const words[] = {CPUBIND_STATUS_LIST(CPUBIND_X) "not a status code"};
#undef CPUBIND_X
    const int32_t n = (int32_t)(sizeof words / sizeof *words) - 1;
    return words[(int32_t)status > 0 || (int32_t)status <= -n ? n : -(int32_t)status];
}

CPUBIND_PRIV_PUBLIC const char *cpubind_role_word(cpubind_role role)
{
#define CPUBIND_X(name, word, letter) word,
    static const char *const words[] = {CPUBIND_ROLE_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return CPUBIND_PRIV_WORD(words, (int32_t)role);
}

CPUBIND_PRIV_PUBLIC char cpubind_role_letter(cpubind_role role)
{
#define CPUBIND_X(name, word, letter) letter,
    static const char letters[] = {CPUBIND_ROLE_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return (int32_t)role >= 0 && (int32_t)role < CPUBIND_ROLE_COUNT ? letters[role] : '?';
}

CPUBIND_PRIV_PUBLIC const char *cpubind_step_word(cpubind_step step)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_STEP_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return CPUBIND_PRIV_WORD(words, (int32_t)step);
}

/* == Requests of a mixed pool =============================================== */

CPUBIND_PRIV int64_t cpubind_priv_at_least(int32_t number, int32_t least)
{
    return number < least ? least : number;
}

CPUBIND_PRIV_PUBLIC int32_t cpubind_cpu_budget(const cpubind_mixed_pool *pool)
{
    const int64_t speed =
        cpubind_priv_at_least(pool->ratio, 1) * cpubind_priv_at_least(pool->n_device, 0);
    const int64_t weighted = cpubind_priv_at_least(pool->device_load, 0) *
                             cpubind_priv_at_least(pool->n_cpu_worker, 0);
    if (pool->n_cpu_worker <= 0)
        return 0;
    return speed == 0 || weighted / speed > CPUBIND_PRIV_MAX ? CPUBIND_PRIV_MAX
                                                             : (int32_t)(weighted / speed);
}

CPUBIND_PRIV_PUBLIC cpubind_pool_side cpubind_next_pool(const cpubind_mixed_pool *pool)
{
    if (pool->n_device <= 0)
        return pool->n_cpu_worker > 0 ? CPUBIND_POOL_CPU : CPUBIND_POOL_NOBODY;
    return cpubind_priv_at_least(pool->cpu_load, 0) < cpubind_cpu_budget(pool)
               ? CPUBIND_POOL_CPU
               : CPUBIND_POOL_DEVICE;
}

/* == Version ================================================================ */

CPUBIND_PRIV_PUBLIC int32_t cpubind_version(void)
{
    return CPUBIND_VERSION_HEX;
}

#undef CPUBIND_PRIV
#undef CPUBIND_PRIV_PUBLIC
#undef CPUBIND_PRIV_ARRAYS
#undef CPUBIND_PRIV_NEAR_ARRAYS
#undef CPUBIND_PRIV_SET_ARRAYS
#undef CPUBIND_PRIV_TILE_GROUPS
#undef CPUBIND_PRIV_TILE_DEVICES
#undef CPUBIND_PRIV_NONE
#undef CPUBIND_PRIV_MAX
#undef CPUBIND_PRIV_FAR
#undef CPUBIND_PRIV_PATIENCE
#undef CPUBIND_PRIV_BLOCK
#undef CPUBIND_PRIV_MANY

#ifdef __cplusplus
}
#endif
#endif /* CPUBIND_PRIV_IMPLEMENTED */
#endif /* CPUBIND_IMPLEMENTATION || CPUBIND_STATIC */

/* MIT License
 *
 * Copyright (c) 2026 the cpubind authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this
 * software and associated documentation files (the "Software"), to deal in the Software
 * without restriction, including without limitation the rights to use, copy, modify, merge,
 * publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons
 * to whom the Software is furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or
 * substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,
 * INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR
 * PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
 * FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
 * OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER
 * DEALINGS IN THE SOFTWARE.
 */
