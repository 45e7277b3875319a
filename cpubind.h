/* cpubind.h - v0.1.0 - which CPUs belong to which accelerator, and in which role
 * SPDX-License-Identifier: MIT (full text at the end of this file)
 *
 * One header, no dependencies, no allocation, no I/O: integers in, integers out.
 *
 * USE
 *   In exactly one C or C++ file:          Everywhere else:
 *     #define CPUBIND_IMPLEMENTATION         #include "cpubind.h"
 *     #include "cpubind.h"
 *   As a shared library (ctypes, Rust, Go), without writing a file:
 *     cc -shared -fPIC -DCPUBIND_IMPLEMENTATION -x c cpubind.h -o libcpubind.so
 *
 * THE MODEL
 *   allowed CPUs   0  1  2  3  4  5  6  7  8  9 10 11      strictly ascending ids
 *   node           0  0  0  0  0  0  1  1  1  1  1  1      node[i] belongs to cpu[i]
 *   pool           [ device 0 ......] [ device 1 ......]   any subset; here two runs
 *   role            i  i  m  m  a  r   i  i  m  m  a  r    irq, main, acl, release
 *   The affinity of a device are the CPUs that the host's topology reports as near it, its
 *   home the allowed ones of them. A span is a half-open index range [first, first + count)
 *   into a list that the caller already has.
 *
 * PROMISES (each one has a test in tests/core/ or tests/packaging/)
 *   determinism   equal arguments give equal results, on every compiler and machine
 *   purity        no globals, no locale, no errno, no clock, no environment
 *   memory        no malloc, no VLA, no recursion; every buffer is the caller's
 *   all or none   on failure nothing is written through an out_ pointer; the exceptions are
 *                 said where they are: ERR_SPACE, *fault, and the buffers of a plan
 *   threads       every function may run in any number of threads at once
 *
 * OPTIONS (none changes a result or the layout of a struct)
 *   CPUBIND_IMPLEMENTATION  emit the definitions.      Set it in one file only.
 *   CPUBIND_STATIC          a private copy of all of it, `static inline`.
 *                           Set it in each file that wants one; implies the above there.
 *   CPUBIND_API             linkage or export attribute. Set it globally, or not at all.
 *
 * LANGUAGE
 *   The part of C99 that is also C++11. Tested as C99, C11, C17 and as C++11, C++17, C++20.
 *
 * SOURCES of the rules (behaviour, not code), cited below as S1 .. S5
 *   vllm-ascend 182b75ea, vllm_ascend/cpu_binding.py:
 *   S1 build_global_slice_cpu_pool   S2 average_distribute over equal pools
 *   S3 allocate (roles)              S4 extend_numa
 *   S5 Harvey, Ladner, Lovasz, Tamir: Semi-matchings for bipartite graphs and load balancing
 *      (2006): without a cost-reducing path the smallest load is as large as it can be
 */
#ifndef CPUBIND_H
#define CPUBIND_H

#define CPUBIND_VERSION_MAJOR 0
#define CPUBIND_VERSION_MINOR 1
#define CPUBIND_VERSION_PATCH 0
#define CPUBIND_VERSION_HEX   0x000100 /* major << 16 | minor << 8 | patch */
#define CPUBIND_VERSION       "0.1.0"

#include <stddef.h> /* NULL */
#include <stdint.h> /* int32_t, the only integer type of this interface */

#if defined(CPUBIND_STATIC)
#define CPUBIND_PRIV_STATIC
#undef CPUBIND_API
#define CPUBIND_API static inline
#elif !defined(CPUBIND_API)
#define CPUBIND_API extern
#endif

#if defined(__GNUC__) || defined(__clang__)
#define CPUBIND_NODISCARD __attribute__((warn_unused_result))
#else
#define CPUBIND_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* == 1. Limits ============================================================== */

/* Largest accepted CPU or node id + 1, and largest list of CPUs. Linux builds go up to 8,192
 * CPUs; the margin is for later, and the limit keeps every sum and product inside int32_t. */
#define CPUBIND_MAX_CPUS    65536
#define CPUBIND_MAX_DEVICES 4096

/* == 2. Status codes ======================================================== */

/* The one list of codes: the enum, the names, the texts, the tests and the table in
 * README.md come from it. Codes never change their number; new ones go at the end. */
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
} cpubind_status;

/* The binary interface says int32_t; a compiler told -fshort-enums must not disagree. */
typedef char cpubind_assert_status_is_32_bits[sizeof(cpubind_status) == 4 ? 1 : -1];

/* == 3. Types =============================================================== */

/* Index range [first, first + count) into a list the caller holds. */
typedef struct cpubind_span {
    int32_t first; /* index, >= 0 */
    int32_t count; /* elements, >= 0 */
} cpubind_span;

/* Where the elements go that do not divide evenly. */
typedef enum cpubind_remainder {
    CPUBIND_REMAINDER_SPREAD = 0, /* one more to each of the first total % parts */
    CPUBIND_REMAINDER_LAST = 1    /* all of them to the last part */
} cpubind_remainder;

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
        CPUBIND_ROLE_COUNT /* the number of roles, not a role */
} cpubind_role;

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

/* The host as one process may use it. Arrays are read, never written or kept. */
typedef struct cpubind_host {
    const int32_t *cpu;     /* allowed CPU ids, strictly ascending */
    const int32_t *node;    /* node[i] is the id of the node of cpu[i] */
    const int32_t *node_id; /* ids of the nodes that have CPUs, allowed or not; strictly
                               ascending, with holes where the host has holes */
    int32_t n_cpu;          /* length of cpu and node */
    int32_t n_node;         /* length of node_id */
} cpubind_host;

/* Lists of CPU ids in one array: list i is cpu[row[i]] .. cpu[row[i + 1] - 1]. */
typedef struct cpubind_lists {
    const int32_t *cpu; /* ids; strictly ascending inside each list */
    const int32_t *row; /* n + 1 offsets, row[0] == 0, never descending; NULL: all are empty */
    int32_t n;          /* number of lists */
} cpubind_lists;

/* Every device that shares the host, also those that this process does not drive: they keep
 * their CPUs from us. The order is the order of preference: ascending ids. */
typedef struct cpubind_devices {
    cpubind_lists affinity; /* list i: the CPUs near device i; empty when not known */
    const int32_t *slot;    /* global_slice: number of device i in 0 .. total - 1, the same in
                               every process of the host; NULL: i itself */
    int32_t total;          /* global_slice: devices of the host; 0: affinity.n */
} cpubind_devices;

typedef enum cpubind_strategy {
    CPUBIND_GLOBAL_SLICE = 0,  /* equal slices of the allowed CPUs, by slot */
    CPUBIND_TOPO_AFFINITY = 1, /* the home, extended to the next node; shared when equal.
                                  Without any affinity: global_slice */
    CPUBIND_CLUSTER = 2        /* whole clusters of the home's node */
} cpubind_strategy;

/* What topo_affinity does when pools overlap without being equal. */
typedef enum cpubind_overlap {
    CPUBIND_OVERLAP_RESOLVE = 0, /* no CPU twice; the smallest pool as large as it can be */
    CPUBIND_OVERLAP_KEEP = 1,    /* leave it, and say so */
    CPUBIND_OVERLAP_REFUSE = 2   /* ERR_OVERLAP */
} cpubind_overlap;

typedef struct cpubind_policy {
    cpubind_strategy strategy;
    cpubind_overlap overlap;
    cpubind_role_spec roles; /* its sum is the least a pool may have */
    int32_t cluster;         /* cluster: CPUs of one, >= 1 */
    int32_t spare_node;      /* cluster: id of the node whose CPUs are kept for the host, or -1.
                                RESOLVE cuts clusters from it all the same, KEEP and REFUSE
                                leave it whole */
} cpubind_policy;

/* Whether pools share CPUs, over all devices that have a home. */
typedef enum cpubind_finding {
    CPUBIND_FOUND_NONE = 0,     /* the rule itself gave no CPU twice */
    CPUBIND_FOUND_RESOLVED = 1, /* the rule did; the plan does not */
    CPUBIND_FOUND_PRESENT = 2   /* the plan does (KEEP) */
} cpubind_finding;

/* What went wrong, for a message: filled on failure only, by functions that take one. */
typedef struct cpubind_fault {
    int32_t device; /* index of the device, or -1 */
    int32_t other;  /* ERR_OVERLAP: index of the second device, else -1 */
    int32_t cpu;    /* ERR_OVERLAP: id of a CPU that both have, else -1 */
    int32_t need;   /* CPUs needed, or 0 */
    int32_t have;   /* CPUs there, or 0 */
} cpubind_fault;

/* The caller's buffers and the answer. */
typedef struct cpubind_plan {
    int32_t *cpu;     /* in: pools, row after row */
    int32_t *row;     /* in: n_want + 1 elements; row i is cpu[row[i]] .. cpu[row[i + 1] - 1] */
    int32_t *work;    /* in: scratch; its content afterwards means nothing */
    int32_t cap_cpu;  /* in: elements of cpu */
    int32_t cap_work; /* in: elements of work, CPUBIND_PLAN_WORK */
    int32_t n_cpu;    /* out: elements of cpu used; after ERR_SPACE the number needed, or 0 */
    int32_t n_work;   /* out: elements of work needed */
    cpubind_strategy strategy; /* out: the one that made the plan */
    cpubind_finding overlap;   /* out */
    int32_t n_checked;         /* out: devices over which `overlap` was found */
    cpubind_fault shared;      /* out: the first CPU given twice by the rule, when overlap is
                                  not NONE: device, other, cpu */
    int32_t spare_taken;       /* out: cluster: CPUs of spare_node cut away, from its lowest */
} cpubind_plan;

/* == 4. Spans: closed forms, no buffers ===================================== */

/* Span of part `index` when `total` elements are cut into `parts` runs.
 *   in      0 <= total <= CPUBIND_MAX_CPUS; 1 <= parts <= CPUBIND_MAX_DEVICES;
 *           0 <= index < parts
 *   out     *out_span; the spans of 0 .. parts - 1 tile [0, total) in order
 *   errors  ERR_ARG
 *   cost    O(1)
 *   source  S1 (SPREAD: base + 1 below the remainder), S2 (LAST) */
CPUBIND_API CPUBIND_NODISCARD cpubind_status cpubind_share(int32_t total, int32_t parts,
                                                           int32_t index,
                                                           cpubind_remainder rule,
                                                           cpubind_span *out_span);

/* Spans of the roles inside a pool of `count` CPUs.
 *   in      0 <= count <= CPUBIND_MAX_CPUS; every element of *spec in the same range
 *   out     *out_roles; the spans tile [0, count) in the order of CPUBIND_ROLE_LIST
 *   errors  ERR_ARG; ERR_TOO_FEW when count is less than the sum of *spec
 *   cost    O(1)
 *   source  S3 */
CPUBIND_API CPUBIND_NODISCARD cpubind_status cpubind_split_roles(int32_t count,
                                                                 const cpubind_role_spec *spec,
                                                                 cpubind_roles *out_roles);

/* == 5. Sets: ascending lists into a caller's buffer ======================== */

/* Sort `cpu` ascending and drop repeats, in place.
 *   in      cpu[0 .. *n - 1], each 0 <= id < CPUBIND_MAX_CPUS; may be NULL when *n is 0
 *   out     cpu and *n
 *   errors  ERR_ARG, with nothing changed
 *   cost    O(n log n) time, O(n) when already ascending; no memory
 *   source  S1 */
CPUBIND_API CPUBIND_NODISCARD cpubind_status cpubind_sort_unique(int32_t *cpu, int32_t *n);

/* Elements that are in both `a` and `b`.
 *   in      two strictly ascending lists
 *   out     out[0 .. *out_n - 1], strictly ascending; `out` may be `a` or `b`
 *   errors  ERR_ARG, ERR_ORDER; ERR_SPACE when cap is too small: then *out_n is the
 *           length needed and `out` is not written, so cap 0 with out NULL asks for it
 *   cost    O(na + nb)
 *   source  S2 (affinity limited to the allowed CPUs) */
CPUBIND_API CPUBIND_NODISCARD cpubind_status cpubind_intersect(const int32_t *a, int32_t na,
                                                               const int32_t *b, int32_t nb,
                                                               int32_t *out, int32_t cap,
                                                               int32_t *out_n);

/* A pool that lies on one node, joined with the allowed CPUs of the next node in node_id (the
 * first after the last; with one node, that node itself); a pool on several nodes, unchanged.
 *   in      pool: strictly ascending, not empty, every id in host->cpu
 *   out     out[0 .. *out_n - 1], strictly ascending; `out` must not overlap `pool`
 *   errors  ERR_ARG, ERR_ORDER, ERR_EMPTY, ERR_UNKNOWN; ERR_SPACE as above
 *   cost    O(n_pool + n_cpu + n_node)
 *   source  S4 */
CPUBIND_API CPUBIND_NODISCARD cpubind_status cpubind_extend(const cpubind_host *host,
                                                            const int32_t *pool, int32_t n_pool,
                                                            int32_t *out, int32_t cap,
                                                            int32_t *out_n);

/* Whether no CPU is in two of the lists.
 *   in      fault may be NULL
 *   errors  ERR_ARG, ERR_ORDER; ERR_OVERLAP with fault->device (the later list),
 *           fault->other (the earlier one) and fault->cpu, the first such pair
 *   cost    O(n * elements) time, no memory */
CPUBIND_API CPUBIND_NODISCARD cpubind_status cpubind_check_disjoint(const cpubind_lists *lists,
                                                                    cpubind_fault *fault);

/* == 6. The plan ============================================================ */

/* int32_t elements of plan->work that are always enough. n_affinity is row[n_device], or 0. */
#define CPUBIND_PLAN_WORK(n_cpu, n_node, n_device, n_affinity)                                 \
    (8 * (n_cpu) + 7 * (n_node) + 18 * (n_device) + 4 * (n_affinity) + 24)

/* int32_t elements of plan->cpu that are always enough: the allowed CPUs once, or once a pool
 * where CPUs may be handed out twice (topo_affinity with KEEP). */
#define CPUBIND_PLAN_CPUS(n_cpu)              (n_cpu)
#define CPUBIND_PLAN_CPUS_KEEP(n_cpu, n_want) ((n_cpu) * (n_want))

/* The pools of all devices, or of those asked for.
 *   in      host, devices, policy: each field as said at the type; slices read no nodes, so
 *           host->node and host->node_id may be NULL for them
 *           want: indices of devices, strictly ascending, that get a row, in this order;
 *           NULL: all of them, and n_want is their number. {i} with 1 asks for device i alone.
 *           plan: its in fields. fault may be NULL
 *   out     plan->cpu, plan->row, and the out fields. Pools are strictly ascending subsets of
 *           host->cpu; roles come from cpubind_split_roles on a row's length
 *   errors  ERR_ARG, ERR_ORDER; ERR_UNKNOWN (a node that is not in node_id, a slot past
 *           total; fault->device); ERR_SPACE (plan->n_work, plan->n_cpu); ERR_EMPTY (a wanted
 *           device has no home); ERR_TOO_FEW (a wanted device; need, have); ERR_OVERLAP
 *           (REFUSE; or two wanted devices with one slot: fault->cpu is -1); ERR_SPREAD
 *           (cluster; a wanted device), ERR_CLUSTERS (cluster; need and have are CPUs of the
 *           node, and any device whose home is on it alone counts)
 *   failed  the buffers' content is unspecified; out fields but n_cpu, n_work are untouched
 *   cost    linear in CPUs + nodes + devices + affinity entries; RESOLVE adds the searches
 *           for paths where pools overlap unevenly, each linear in the same
 *   laws    RESOLVE: no two pools share a CPU, over all devices with a home, and the answer
 *           does not depend on `want`; so processes that see the same host agree
 *   source  S1 .. S5 */
CPUBIND_API CPUBIND_NODISCARD cpubind_status cpubind_make_plan(
    const cpubind_host *host, const cpubind_devices *devices, const cpubind_policy *policy,
    const int32_t *want, int32_t n_want, cpubind_plan *plan, cpubind_fault *fault);

/* == 7. Text and version ==================================================== */

/* "ERR_SPACE", or "?" for a number that is no code. Never NULL; static storage. */
CPUBIND_API const char *cpubind_status_name(cpubind_status status);

/* One English sentence without a full stop. Never NULL; static storage. */
CPUBIND_API const char *cpubind_status_text(cpubind_status status);

/* "main", and 'm'; "?" and '?' for a number that is no role. Static storage. */
CPUBIND_API const char *cpubind_role_word(cpubind_role role);
CPUBIND_API char cpubind_role_letter(cpubind_role role);

/* CPUBIND_VERSION_HEX of the compiled code: compare it when linking a shared library. */
CPUBIND_API int32_t cpubind_version(void);

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

#define CPUBIND_PRIV_NONE (-1)
#define CPUBIND_PRIV_MAX  0x7fffffff

CPUBIND_PRIV int32_t cpubind_priv_min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* == Lists ================================================================== */

/* Elements that the long loops take at a time: without an exit inside, compilers turn a block
 * into a few vector instructions. */
#define CPUBIND_PRIV_BLOCK 16

/* Whether every id is in 0 .. CPUBIND_MAX_CPUS - 1 and the list ascends strictly. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_list(const int32_t *list, int32_t n)
{
    int32_t unordered = 0;
    int32_t at = 1;
    if (n < 0 || n > CPUBIND_MAX_CPUS || (n > 0 && list == NULL))
        return CPUBIND_ERR_ARG;
    for (; n - at >= CPUBIND_PRIV_BLOCK; at += CPUBIND_PRIV_BLOCK)
        for (int32_t i = at; i < at + CPUBIND_PRIV_BLOCK; i++)
            unordered |= list[i] <= list[i - 1];
    for (; at < n; at++)
        unordered |= list[at] <= list[at - 1];
    if (unordered)
        return CPUBIND_ERR_ORDER;
    if (n > 0 && (list[0] < 0 || list[n - 1] >= CPUBIND_MAX_CPUS))
        return CPUBIND_ERR_ARG;
    return CPUBIND_OK;
}

/* First index in [from, n) whose element is not below `value`, or n. Steps double, so that a
 * run over two lists costs what its jumps are worth. */
CPUBIND_PRIV int32_t cpubind_priv_seek(const int32_t *list, int32_t from, int32_t n,
                                       int32_t value)
{
    int32_t step = 1;
    int32_t high;
    if (from >= n || list[from] >= value)
        return from;
    while (from + step < n && list[from + step] < value) {
        from += step;
        step += step;
    }
    high = cpubind_priv_min(from + step, n);
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

/* The next run of elements that both lists have: a[*ia ..] and b[*ib ..], both then past it.
 * Returns its length, 0 at the end. */
CPUBIND_PRIV int32_t cpubind_priv_common_run(const int32_t *a, int32_t na, int32_t *ia,
                                             const int32_t *b, int32_t nb, int32_t *ib)
{
    int32_t i = *ia;
    int32_t j = *ib;
    int32_t start;
    while (i < na && j < nb && a[i] != b[j]) {
        if (a[i] < b[j])
            i = cpubind_priv_seek(a, i, na, b[j]);
        else
            j = cpubind_priv_seek(b, j, nb, a[i]);
    }
    start = i;
    while (na - i >= CPUBIND_PRIV_BLOCK && nb - j >= CPUBIND_PRIV_BLOCK) {
        int32_t differ = 0;
        for (int32_t k = 0; k < CPUBIND_PRIV_BLOCK; k++)
            differ |= a[i + k] ^ b[j + k];
        if (differ)
            break;
        i += CPUBIND_PRIV_BLOCK;
        j += CPUBIND_PRIV_BLOCK;
    }
    while (i < na && j < nb && a[i] == b[j]) {
        i++;
        j++;
    }
    *ia = i;
    *ib = j;
    return i - start;
}

/* Field by field: a copy of the struct may become a call of memcpy. */
CPUBIND_PRIV void cpubind_priv_set_fault(cpubind_fault *fault, int32_t device, int32_t need,
                                         int32_t have)
{
    fault->device = device;
    fault->other = CPUBIND_PRIV_NONE;
    fault->cpu = CPUBIND_PRIV_NONE;
    fault->need = need;
    fault->have = have;
}

CPUBIND_PRIV void cpubind_priv_set_shared(cpubind_fault *fault, int32_t device, int32_t other,
                                          int32_t cpu)
{
    cpubind_priv_set_fault(fault, device, 0, 0);
    fault->other = other;
    fault->cpu = cpu;
}

/* == Spans ================================================================== */

CPUBIND_API cpubind_status cpubind_share(int32_t total, int32_t parts, int32_t index,
                                         cpubind_remainder rule, cpubind_span *out_span)
{
    int32_t base, extra;
    if (total < 0 || total > CPUBIND_MAX_CPUS || parts < 1 || parts > CPUBIND_MAX_DEVICES ||
        index < 0 || index >= parts || out_span == NULL)
        return CPUBIND_ERR_ARG;
    base = total / parts;
    extra = total % parts;
    if (rule == CPUBIND_REMAINDER_SPREAD) {
        out_span->first = index * base + cpubind_priv_min(index, extra);
        out_span->count = base + (index < extra);
    } else if (rule == CPUBIND_REMAINDER_LAST) {
        out_span->first = index * base;
        out_span->count = base + (index == parts - 1 ? extra : 0);
    } else {
        return CPUBIND_ERR_ARG;
    }
    return CPUBIND_OK;
}

CPUBIND_PRIV int32_t cpubind_priv_is_count(int32_t n)
{
    return n >= 0 && n <= CPUBIND_MAX_CPUS;
}

/* CPUs that the roles need, or NONE when a field is out of range. */
CPUBIND_PRIV int32_t cpubind_priv_role_need(const cpubind_role_spec *spec)
{
    int32_t need = 0;
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        if (!cpubind_priv_is_count(spec->count[role]))
            return CPUBIND_PRIV_NONE;
        need += spec->count[role];
    }
    return need;
}

CPUBIND_API cpubind_status cpubind_split_roles(int32_t count, const cpubind_role_spec *spec,
                                               cpubind_roles *out_roles)
{
    int32_t first = 0;
    int32_t need;
    if (!cpubind_priv_is_count(count) || spec == NULL || out_roles == NULL)
        return CPUBIND_ERR_ARG;
    need = cpubind_priv_role_need(spec);
    if (need < 0)
        return CPUBIND_ERR_ARG;
    if (count < need)
        return CPUBIND_ERR_TOO_FEW;
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        int32_t rest = role == CPUBIND_ROLE_MAIN ? count - need : 0;
        out_roles->span[role].first = first;
        out_roles->span[role].count = spec->count[role] + rest;
        first += out_roles->span[role].count;
    }
    return CPUBIND_OK;
}

/* == Sets =================================================================== */

/* Let list[at] sink to its place in the heap list[0 .. n - 1], largest on top. */
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

CPUBIND_API cpubind_status cpubind_sort_unique(int32_t *cpu, int32_t *n)
{
    int32_t kept = 0;
    int32_t sorted = 1;
    if (n == NULL || !cpubind_priv_is_count(*n) || (*n > 0 && cpu == NULL))
        return CPUBIND_ERR_ARG;
    for (int32_t i = 0; i < *n; i++) {
        if (cpu[i] < 0 || cpu[i] >= CPUBIND_MAX_CPUS)
            return CPUBIND_ERR_ARG;
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

/* Elements of both lists into `out`, or only their number when out is NULL. `out` may be one
 * of the lists: what is written lies before what is still to be read. */
CPUBIND_PRIV int32_t cpubind_priv_meet(const int32_t *a, int32_t na, const int32_t *b,
                                       int32_t nb, int32_t *out)
{
    int32_t n = 0;
    int32_t ia = 0;
    int32_t ib = 0;
    int32_t run;
    while ((run = cpubind_priv_common_run(a, na, &ia, b, nb, &ib)) > 0) {
        for (int32_t i = ia - run; out != NULL && i < ia; i++)
            out[n + i - (ia - run)] = a[i];
        n += run;
    }
    return n;
}

CPUBIND_API cpubind_status cpubind_intersect(const int32_t *a, int32_t na, const int32_t *b,
                                             int32_t nb, int32_t *out, int32_t cap,
                                             int32_t *out_n)
{
    cpubind_status status = cpubind_priv_check_list(a, na);
    if (status == CPUBIND_OK)
        status = cpubind_priv_check_list(b, nb);
    if (status != CPUBIND_OK)
        return status;
    if (out_n == NULL || cap < 0 || (cap > 0 && out == NULL))
        return CPUBIND_ERR_ARG;
    *out_n = cpubind_priv_meet(a, na, b, nb, NULL);
    if (*out_n > cap)
        return CPUBIND_ERR_SPACE;
    if (out != NULL)
        (void)cpubind_priv_meet(a, na, b, nb, out);
    return CPUBIND_OK;
}

/* Whether the lists of a host are in order; the nodes of the CPUs are checked where they are
 * looked up. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_host(const cpubind_host *host)
{
    cpubind_status status;
    if (host == NULL || (host->n_cpu > 0 && host->node == NULL) || host->n_node < 1)
        return CPUBIND_ERR_ARG;
    status = cpubind_priv_check_list(host->cpu, host->n_cpu);
    if (status == CPUBIND_OK)
        status = cpubind_priv_check_list(host->node_id, host->n_node);
    return status;
}

/* The node of a pool's first CPU, and whether all of it is there; ERR_UNKNOWN for a CPU that is
 * not allowed. */
CPUBIND_PRIV cpubind_status cpubind_priv_node_of_pool(const cpubind_host *host,
                                                      const int32_t *pool, int32_t n_pool,
                                                      int32_t *out_node, int32_t *out_single)
{
    int32_t at = 0;
    *out_single = 1;
    for (int32_t i = 0; i < n_pool; i++) {
        at = cpubind_priv_seek(host->cpu, at, host->n_cpu, pool[i]);
        if (at == host->n_cpu || host->cpu[at] != pool[i])
            return CPUBIND_ERR_UNKNOWN;
        if (i == 0)
            *out_node = host->node[at];
        *out_single &= host->node[at] == *out_node;
    }
    return CPUBIND_OK;
}

/* pool, and the allowed CPUs of *node (NULL: no more), into `out` or only counted. */
CPUBIND_PRIV int32_t cpubind_priv_join(const cpubind_host *host, const int32_t *pool,
                                       int32_t n_pool, const int32_t *node, int32_t *out)
{
    int32_t n = 0;
    int32_t at = 0;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        int32_t in_pool = at < n_pool && pool[at] == host->cpu[i];
        at += in_pool;
        if (!in_pool && (node == NULL || host->node[i] != *node))
            continue;
        if (out != NULL)
            out[n] = host->cpu[i];
        n++;
    }
    return n;
}

CPUBIND_API cpubind_status cpubind_extend(const cpubind_host *host, const int32_t *pool,
                                          int32_t n_pool, int32_t *out, int32_t cap,
                                          int32_t *out_n)
{
    const int32_t *next = NULL;
    int32_t node = 0;
    int32_t single = 0;
    cpubind_status status = cpubind_priv_check_host(host);
    if (status == CPUBIND_OK)
        status = cpubind_priv_check_list(pool, n_pool);
    if (status != CPUBIND_OK)
        return status;
    if (out_n == NULL || cap < 0 || (cap > 0 && out == NULL))
        return CPUBIND_ERR_ARG;
    if (n_pool == 0)
        return CPUBIND_ERR_EMPTY;
    status = cpubind_priv_node_of_pool(host, pool, n_pool, &node, &single);
    if (status != CPUBIND_OK)
        return status;
    if (single) {
        int32_t index = cpubind_priv_find(host->node_id, host->n_node, node);
        if (index < 0)
            return CPUBIND_ERR_UNKNOWN;
        next = host->node_id + (index + 1) % host->n_node;
    }
    *out_n = cpubind_priv_join(host, pool, n_pool, next, NULL);
    if (*out_n > cap)
        return CPUBIND_ERR_SPACE;
    (void)cpubind_priv_join(host, pool, n_pool, next, out);
    return CPUBIND_OK;
}

/* Whether the offsets of `lists` ascend from 0 and each list is in order. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_lists(const cpubind_lists *lists)
{
    if (lists->n < 0 || lists->n > CPUBIND_MAX_DEVICES)
        return CPUBIND_ERR_ARG;
    if (lists->row == NULL)
        return CPUBIND_OK;
    if (lists->row[0] != 0)
        return CPUBIND_ERR_ARG;
    for (int32_t i = 0; i < lists->n; i++) {
        cpubind_status status;
        if (lists->row[i + 1] < lists->row[i])
            return CPUBIND_ERR_ARG;
        if (lists->row[i + 1] == lists->row[i])
            continue;
        if (lists->cpu == NULL)
            return CPUBIND_ERR_ARG;
        status = cpubind_priv_check_list(lists->cpu + lists->row[i],
                                         lists->row[i + 1] - lists->row[i]);
        if (status != CPUBIND_OK)
            return status;
    }
    return CPUBIND_OK;
}

CPUBIND_API cpubind_status cpubind_check_disjoint(const cpubind_lists *lists,
                                                  cpubind_fault *fault)
{
    cpubind_status status = lists == NULL ? CPUBIND_ERR_ARG : cpubind_priv_check_lists(lists);
    if (status != CPUBIND_OK || lists->row == NULL)
        return status;
    for (int32_t i = 1; i < lists->n; i++) {
        for (int32_t j = 0; j < i; j++) {
            int32_t ia = lists->row[i];
            int32_t ib = lists->row[j];
            int32_t run = cpubind_priv_common_run(lists->cpu, lists->row[i + 1], &ia,
                                                  lists->cpu, lists->row[j + 1], &ib);
            if (run == 0)
                continue;
            if (fault != NULL)
                cpubind_priv_set_shared(fault, i, j, lists->cpu[ia - run]);
            return CPUBIND_ERR_OVERLAP;
        }
    }
    return CPUBIND_OK;
}

/* == The plan: atoms ========================================================
 *
 * An atom is a run of allowed CPUs on one node that no home tells apart: a home has all of it
 * or nothing. A host has about as many atoms as nodes, whatever its number of CPUs; every rule
 * below works on atoms, and CPUs are touched when they are read and when they are written.
 * A position is an index into host->cpu. Every array is carved from plan->work once. */

typedef struct cpubind_priv_map {
    const cpubind_host *host;
    const cpubind_devices *devices;
    const cpubind_policy *policy;
    cpubind_plan *plan;
    cpubind_fault *fault;
    int32_t need; /* CPUs, by the roles */
    int32_t n_want;
    int32_t n_device;
    int32_t n_home; /* devices with a home */
    int32_t n_atom;
    /* by position; then by atom */
    int32_t *atom_of;    /* 1 where an atom starts, then its number; later the atom's class */
    int32_t *atom_first; /* its first position; atom_first[n_atom] is n_cpu */
    int32_t *atom_node;  /* its node, an index into node_id */
    int32_t *node_atom;  /* atoms, node by node, ascending */
    /* by node */
    int32_t *node_row;  /* offsets into node_atom; one more at the end */
    int32_t *node_size; /* allowed CPUs */
    int32_t *node_sign; /* sum of the marks of its atoms */
    /* by device */
    int32_t *home_row;   /* offsets into home, in pairs; one more at the end */
    int32_t *home;       /* pairs (first, end): positions, then atoms */
    int32_t *next_node;  /* node that the home is extended by; NONE: home on several, or none */
    int32_t *row_of;     /* row of the result, or NONE */
    int32_t *pool_size;  /* CPUs of the extended pool, before it is shared */
    int32_t *pool_sign;  /* equal pools have equal signs */
    int32_t *leader;     /* first device with the same pool, or NONE without a home */
    int32_t *place;      /* number of the device among those */
    int32_t *members;    /* of a leader: devices with the same pool */
    int32_t *load;       /* resolve: CPUs of the device */
    int32_t *from_class; /* resolve: class through which a search came here */
    int32_t *queue;      /* resolve: devices in the order of a search; then write positions */
    int32_t *state;      /* resolve: searches that have been here, or DONE */
    int32_t *table;      /* leaders by sign: open addressing, at most 4 a device */
    /* by class: CPUs that the same devices claim */
    int32_t n_class;
    int32_t *class_size;  /* atoms while classes are split, then CPUs */
    int32_t *class_stamp; /* the last device or search that was here */
    int32_t *class_link;  /* scratch of the running step */
    int32_t *class_row;   /* offsets into edge_*; one more at the end */
    int32_t free_class;   /* head of the list of empty classes */
    /* by edge: a class and one device that claims it, ascending */
    int32_t *edge_device;
    int32_t *edge_count; /* CPUs of the class that the device gets */
} cpubind_priv_map;

CPUBIND_PRIV int32_t *cpubind_priv_take(int32_t **next, int32_t n)
{
    int32_t *at = *next;
    *next += n;
    return at;
}

CPUBIND_PRIV void cpubind_priv_fill(int32_t *list, int32_t n, int32_t value)
{
    for (int32_t i = 0; i < n; i++)
        list[i] = value;
}

CPUBIND_PRIV int32_t cpubind_priv_affinity_count(const cpubind_devices *devices)
{
    return devices->affinity.row == NULL ? 0 : devices->affinity.row[devices->affinity.n];
}

CPUBIND_PRIV void cpubind_priv_carve(cpubind_priv_map *map)
{
    int32_t n_cpu = map->host->n_cpu;
    int32_t n_node = map->host->n_node;
    int32_t n = map->n_device;
    int32_t n_class = n_cpu + n_node + 3;
    int32_t n_affinity = cpubind_priv_affinity_count(map->devices);
    int32_t *next = map->plan->work;
    map->atom_of = cpubind_priv_take(&next, n_cpu);
    map->atom_first = cpubind_priv_take(&next, n_cpu + 1);
    map->atom_node = cpubind_priv_take(&next, n_cpu);
    map->node_atom = cpubind_priv_take(&next, n_cpu);
    map->node_row = cpubind_priv_take(&next, n_node + 1);
    map->node_size = cpubind_priv_take(&next, n_node);
    map->node_sign = cpubind_priv_take(&next, n_node);
    map->home_row = cpubind_priv_take(&next, n + 1);
    map->home = cpubind_priv_take(&next, 2 * n_affinity);
    map->next_node = cpubind_priv_take(&next, n);
    map->row_of = cpubind_priv_take(&next, n);
    map->pool_size = cpubind_priv_take(&next, n);
    map->pool_sign = cpubind_priv_take(&next, n);
    map->leader = cpubind_priv_take(&next, n);
    map->place = cpubind_priv_take(&next, n);
    map->members = cpubind_priv_take(&next, n);
    map->load = cpubind_priv_take(&next, n);
    map->from_class = cpubind_priv_take(&next, n);
    map->queue = cpubind_priv_take(&next, n);
    map->state = cpubind_priv_take(&next, n);
    map->table = cpubind_priv_take(&next, 4 * n);
    map->class_size = cpubind_priv_take(&next, n_class);
    map->class_stamp = cpubind_priv_take(&next, n_class);
    map->class_link = cpubind_priv_take(&next, n_class);
    map->class_row = cpubind_priv_take(&next, n_class + 1);
    map->edge_device = cpubind_priv_take(&next, n_affinity + n);
    map->edge_count = cpubind_priv_take(&next, n_affinity + n);
}

/* Mark where the node changes; every node that is named must be known. */
CPUBIND_PRIV cpubind_status cpubind_priv_cut_nodes(cpubind_priv_map *map)
{
    const cpubind_host *host = map->host;
    int32_t node = CPUBIND_PRIV_NONE;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        map->atom_of[i] = i == 0 || host->node[i] != node;
        if (!map->atom_of[i])
            continue;
        node = host->node[i];
        if (cpubind_priv_find(host->node_id, host->n_node, node) < 0)
            return CPUBIND_ERR_UNKNOWN;
    }
    return CPUBIND_OK;
}

/* The homes as runs of positions, and a mark at both ends of each. */
CPUBIND_PRIV void cpubind_priv_cut_homes(cpubind_priv_map *map)
{
    const cpubind_host *host = map->host;
    const cpubind_lists *affinity = &map->devices->affinity;
    int32_t pairs = 0;
    map->home_row[0] = 0;
    for (int32_t d = 0; d < map->n_device; d++) {
        int32_t ia = affinity->row == NULL ? 0 : affinity->row[d];
        int32_t end = affinity->row == NULL ? 0 : affinity->row[d + 1];
        int32_t ib = 0;
        int32_t run;
        while ((run = cpubind_priv_common_run(affinity->cpu, end, &ia, host->cpu, host->n_cpu,
                                              &ib)) > 0) {
            map->home[2 * pairs] = ib - run;
            map->home[2 * pairs + 1] = ib;
            pairs++;
            map->atom_of[ib - run] = 1;
            if (ib < host->n_cpu)
                map->atom_of[ib] = 1;
        }
        map->home_row[d + 1] = pairs;
        map->n_home += pairs > map->home_row[d];
    }
}

/* A number of the atom that its neighbours do not lead to; 31 bits. */
CPUBIND_PRIV int32_t cpubind_priv_mark(int32_t atom)
{
    uint32_t x = ((uint32_t)atom + 1u) * 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return (int32_t)(x & CPUBIND_PRIV_MAX);
}

CPUBIND_PRIV int32_t cpubind_priv_add_mark(int32_t sign, int32_t mark)
{
    return (int32_t)(((uint32_t)sign + (uint32_t)mark) & CPUBIND_PRIV_MAX);
}

CPUBIND_PRIV int32_t cpubind_priv_width(const cpubind_priv_map *map, int32_t atom)
{
    return map->atom_first[atom + 1] - map->atom_first[atom];
}

/* Number the atoms, and list them by node. */
CPUBIND_PRIV void cpubind_priv_make_atoms(cpubind_priv_map *map)
{
    const cpubind_host *host = map->host;
    int32_t n = 0;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        if (map->atom_of[i])
            map->atom_first[n++] = i;
        map->atom_of[i] = n - 1;
    }
    map->atom_first[n] = host->n_cpu;
    map->n_atom = n;
    cpubind_priv_fill(map->node_row, host->n_node + 1, 0);
    cpubind_priv_fill(map->node_size, host->n_node, 0);
    cpubind_priv_fill(map->node_sign, host->n_node, 0);
    for (int32_t a = 0; a < n; a++) {
        int32_t id = host->node[map->atom_first[a]];
        int32_t node = cpubind_priv_find(host->node_id, host->n_node, id);
        map->atom_node[a] = node;
        map->node_row[node + 1]++;
        map->node_size[node] += cpubind_priv_width(map, a);
        map->node_sign[node] =
            cpubind_priv_add_mark(map->node_sign[node], cpubind_priv_mark(a));
    }
    for (int32_t node = 0; node < host->n_node; node++)
        map->node_row[node + 1] += map->node_row[node];
    /* Filled from the back, so that each offset ends where its node starts. */
    for (int32_t a = n - 1; a >= 0; a--)
        map->node_atom[--map->node_row[map->atom_node[a] + 1]] = a;
    for (int32_t node = 0; node < host->n_node; node++)
        map->node_row[node] = map->node_row[node + 1];
    map->node_row[host->n_node] = n;
}

/* Homes from positions to atoms; where each home is, and what its extended pool is. */
CPUBIND_PRIV void cpubind_priv_place_homes(cpubind_priv_map *map)
{
    for (int32_t d = 0; d < map->n_device; d++) {
        int32_t node = CPUBIND_PRIV_NONE;
        int32_t single = map->home_row[d] < map->home_row[d + 1];
        int32_t size = 0;
        int32_t sign = 0;
        for (int32_t r = map->home_row[d]; r < map->home_row[d + 1]; r++) {
            int32_t first = map->home[2 * r];
            int32_t end = map->home[2 * r + 1];
            size += end - first;
            first = map->atom_of[first];
            end = map->atom_of[end - 1] + 1;
            map->home[2 * r] = first;
            map->home[2 * r + 1] = end;
            for (int32_t a = first; a < end; a++) {
                if (node == CPUBIND_PRIV_NONE)
                    node = map->atom_node[a];
                single &= map->atom_node[a] == node;
                sign = cpubind_priv_add_mark(sign, cpubind_priv_mark(a));
            }
        }
        map->next_node[d] = CPUBIND_PRIV_NONE;
        if (single) {
            int32_t next = (node + 1) % map->host->n_node;
            map->next_node[d] = next;
            size = next == node ? map->node_size[next] : size + map->node_size[next];
            sign = next == node ? map->node_sign[next]
                                : cpubind_priv_add_mark(sign, map->node_sign[next]);
        }
        map->pool_size[d] = size;
        map->pool_sign[d] = sign;
    }
}

CPUBIND_PRIV int32_t cpubind_priv_has_home(const cpubind_priv_map *map, int32_t device)
{
    return map->home_row[device] < map->home_row[device + 1];
}

/* The node of a home that lies on one node. */
CPUBIND_PRIV int32_t cpubind_priv_home_node(const cpubind_priv_map *map, int32_t device)
{
    return map->atom_node[map->home[2 * map->home_row[device]]];
}

/* == The plan: walking an extended pool ===================================== */

/* The atoms of home and next node, ascending, each once. */
typedef struct cpubind_priv_walk {
    const int32_t *range, *range_end; /* pairs (first, end) */
    const int32_t *extra, *extra_end; /* atoms of the next node */
    int32_t at;                       /* atoms below have been given */
} cpubind_priv_walk;

CPUBIND_PRIV void cpubind_priv_walk_pool(const cpubind_priv_map *map, int32_t device,
                                         cpubind_priv_walk *out)
{
    int32_t next = map->next_node[device];
    out->range = map->home + (ptrdiff_t)2 * map->home_row[device];
    out->range_end = map->home + (ptrdiff_t)2 * map->home_row[device + 1];
    out->extra = map->node_atom;
    out->extra_end = map->node_atom;
    if (next != CPUBIND_PRIV_NONE) {
        out->extra = map->node_atom + map->node_row[next];
        out->extra_end = map->node_atom + map->node_row[next + 1];
    }
    out->at = 0;
}

/* The atoms of a node alone. */
CPUBIND_PRIV void cpubind_priv_walk_node(const cpubind_priv_map *map, int32_t node,
                                         cpubind_priv_walk *out)
{
    out->range = map->home;
    out->range_end = map->home;
    out->extra = map->node_atom + map->node_row[node];
    out->extra_end = map->node_atom + map->node_row[node + 1];
    out->at = 0;
}

/* The next atom, or NONE. */
CPUBIND_PRIV int32_t cpubind_priv_walk_next(cpubind_priv_walk *walk)
{
    int32_t atom = CPUBIND_PRIV_MAX;
    while (walk->range < walk->range_end && walk->range[1] <= walk->at)
        walk->range += 2;
    while (walk->extra < walk->extra_end && *walk->extra < walk->at)
        walk->extra++;
    if (walk->range < walk->range_end)
        atom = walk->range[0] < walk->at ? walk->at : walk->range[0];
    if (walk->extra < walk->extra_end && *walk->extra < atom)
        atom = *walk->extra;
    if (atom == CPUBIND_PRIV_MAX)
        return CPUBIND_PRIV_NONE;
    walk->at = atom + 1;
    return atom;
}

CPUBIND_PRIV int32_t cpubind_priv_same_home(const cpubind_priv_map *map, int32_t a, int32_t b)
{
    int32_t n = map->home_row[a + 1] - map->home_row[a];
    if (n != map->home_row[b + 1] - map->home_row[b])
        return 0;
    for (int32_t i = 0; i < 2 * n; i++)
        if (map->home[2 * map->home_row[a] + i] != map->home[2 * map->home_row[b] + i])
            return 0;
    return 1;
}

CPUBIND_PRIV int32_t cpubind_priv_same_pool(const cpubind_priv_map *map, int32_t a, int32_t b)
{
    cpubind_priv_walk wa, wb;
    int32_t atom;
    if (map->pool_sign[a] != map->pool_sign[b] || map->pool_size[a] != map->pool_size[b])
        return 0;
    if (map->next_node[a] == map->next_node[b] && cpubind_priv_same_home(map, a, b))
        return 1;
    cpubind_priv_walk_pool(map, a, &wa);
    cpubind_priv_walk_pool(map, b, &wb);
    do {
        atom = cpubind_priv_walk_next(&wa);
        if (atom != cpubind_priv_walk_next(&wb))
            return 0;
    } while (atom != CPUBIND_PRIV_NONE);
    return 1;
}

/* Find the devices whose extended pools are equal: leader, place, members. */
CPUBIND_PRIV void cpubind_priv_group_pools(cpubind_priv_map *map)
{
    int32_t slots = 2;
    while (slots < 2 * map->n_device)
        slots += slots;
    cpubind_priv_fill(map->table, slots, CPUBIND_PRIV_NONE);
    for (int32_t d = 0; d < map->n_device; d++) {
        int32_t slot = map->pool_sign[d] & (slots - 1);
        map->leader[d] = CPUBIND_PRIV_NONE;
        if (!cpubind_priv_has_home(map, d))
            continue;
        while (map->table[slot] != CPUBIND_PRIV_NONE &&
               !cpubind_priv_same_pool(map, map->table[slot], d))
            slot = (slot + 1) & (slots - 1);
        if (map->table[slot] == CPUBIND_PRIV_NONE) {
            map->table[slot] = d;
            map->members[d] = 0;
        }
        map->leader[d] = map->table[slot];
        map->place[d] = map->members[map->leader[d]]++;
    }
}

/* Span of a device inside the pool of its group. */
CPUBIND_PRIV cpubind_span cpubind_priv_slice(const cpubind_priv_map *map, int32_t device)
{
    cpubind_span span;
    int32_t leader = map->leader[device];
    span.first = 0;
    span.count = 0;
    (void)!cpubind_share(map->pool_size[leader], map->members[leader], map->place[device],
                         CPUBIND_REMAINDER_LAST, &span);
    return span;
}

/* The device of the leader's group whose slice has the first CPU of `atom`. */
CPUBIND_PRIV int32_t cpubind_priv_holder(const cpubind_priv_map *map, int32_t leader,
                                         int32_t atom)
{
    cpubind_priv_walk walk;
    int32_t before = 0;
    int32_t device = leader;
    int32_t next;
    cpubind_priv_walk_pool(map, leader, &walk);
    while ((next = cpubind_priv_walk_next(&walk)) != atom && next != CPUBIND_PRIV_NONE)
        before += cpubind_priv_width(map, next);
    for (int32_t d = leader; d < map->n_device; d++) {
        cpubind_span span;
        if (map->leader[d] != leader)
            continue;
        span = cpubind_priv_slice(map, d);
        if (span.first <= before && before < span.first + span.count)
            device = d;
    }
    return device;
}

/* The first atom that two groups have, or NONE; *a and *b are then devices that hold its first
 * CPU. A step either claims a new atom or ends the search. atom_of is used up. */
CPUBIND_PRIV int32_t cpubind_priv_find_overlap(cpubind_priv_map *map, int32_t *a, int32_t *b)
{
    int32_t *owner = map->atom_of;
    cpubind_priv_fill(owner, map->n_atom, CPUBIND_PRIV_NONE);
    for (int32_t d = 0; d < map->n_device; d++) {
        cpubind_priv_walk walk;
        int32_t atom;
        if (map->leader[d] != d)
            continue;
        cpubind_priv_walk_pool(map, d, &walk);
        while ((atom = cpubind_priv_walk_next(&walk)) != CPUBIND_PRIV_NONE) {
            if (owner[atom] != CPUBIND_PRIV_NONE) {
                *a = cpubind_priv_holder(map, owner[atom], atom);
                *b = cpubind_priv_holder(map, d, atom);
                return atom;
            }
            owner[atom] = d;
        }
    }
    return CPUBIND_PRIV_NONE;
}

/* == The plan: resolve ======================================================
 *
 * A class is a set of CPUs that the same devices claim. A CPU in a home is claimed by those
 * whose home it is; any other CPU by the devices that are extended onto its node. Each class
 * is split evenly at first; then CPUs move along paths device <- class <- device <- ... from
 * richer devices to poorer ones until no such path is left (S5). */

#define CPUBIND_PRIV_DONE CPUBIND_PRIV_MAX

CPUBIND_PRIV int32_t cpubind_priv_new_class(cpubind_priv_map *map)
{
    int32_t id = map->free_class;
    if (id != CPUBIND_PRIV_NONE)
        map->free_class = map->class_link[id];
    else
        id = map->n_class++;
    map->class_size[id] = 0;
    map->class_stamp[id] = CPUBIND_PRIV_NONE;
    return id;
}

/* Partition refinement: class 0 holds what no home has, and stays. Every home cuts each class
 * that it meets; an empty class is used again, so there are never more than atoms + 2. */
CPUBIND_PRIV void cpubind_priv_split_classes(cpubind_priv_map *map)
{
    int32_t *class_of = map->atom_of;
    map->n_class = 0;
    map->free_class = CPUBIND_PRIV_NONE;
    (void)cpubind_priv_new_class(map);
    cpubind_priv_fill(class_of, map->n_atom, 0);
    for (int32_t d = 0; d < map->n_device; d++) {
        for (int32_t r = map->home_row[d]; r < map->home_row[d + 1]; r++) {
            for (int32_t a = map->home[2 * r]; a < map->home[2 * r + 1]; a++) {
                int32_t old = class_of[a];
                if (map->class_stamp[old] != d) {
                    int32_t id = cpubind_priv_new_class(map);
                    map->class_stamp[old] = d;
                    map->class_link[old] = id;
                }
                class_of[a] = map->class_link[old];
                map->class_size[class_of[a]]++;
                if (old != 0 && --map->class_size[old] == 0) {
                    map->class_link[old] = map->free_class;
                    map->free_class = old;
                }
            }
        }
    }
}

/* Class of what no home has on a node: after those of homes, one a node. */
CPUBIND_PRIV int32_t cpubind_priv_node_class(const cpubind_priv_map *map, int32_t node)
{
    return map->n_class - map->host->n_node + node;
}

/* The classes that a device claims; one may come several times. */
typedef struct cpubind_priv_claims {
    const int32_t *range, *range_end; /* pairs (first, end) of atoms */
    int32_t atom;                     /* next atom of the first range */
    int32_t extra;                    /* class of the next node, or NONE */
} cpubind_priv_claims;

CPUBIND_PRIV void cpubind_priv_claims_of(const cpubind_priv_map *map, int32_t device,
                                         cpubind_priv_claims *out)
{
    out->range = map->home + (ptrdiff_t)2 * map->home_row[device];
    out->range_end = map->home + (ptrdiff_t)2 * map->home_row[device + 1];
    out->atom = out->range < out->range_end ? out->range[0] : 0;
    out->extra = map->next_node[device];
    if (out->extra != CPUBIND_PRIV_NONE) {
        out->extra = cpubind_priv_node_class(map, out->extra);
        if (map->class_size[out->extra] == 0)
            out->extra = CPUBIND_PRIV_NONE;
    }
}

CPUBIND_PRIV int32_t cpubind_priv_next_claim(const cpubind_priv_map *map,
                                             cpubind_priv_claims *claims)
{
    int32_t id;
    if (claims->range == claims->range_end) {
        id = claims->extra;
        claims->extra = CPUBIND_PRIV_NONE;
        return id;
    }
    id = map->atom_of[claims->atom++];
    if (claims->atom == claims->range[1]) {
        claims->range += 2;
        if (claims->range < claims->range_end)
            claims->atom = claims->range[0];
    }
    return id;
}

/* The rest of class 0 goes to the classes of the nodes; sizes in CPUs. */
CPUBIND_PRIV void cpubind_priv_size_classes(cpubind_priv_map *map)
{
    map->n_class += map->host->n_node;
    cpubind_priv_fill(map->class_size, map->n_class, 0);
    for (int32_t a = 0; a < map->n_atom; a++) {
        if (map->atom_of[a] == 0)
            map->atom_of[a] = cpubind_priv_node_class(map, map->atom_node[a]);
        map->class_size[map->atom_of[a]] += cpubind_priv_width(map, a);
    }
}

/* Count the edges of each class into class_row[class + 1], or write their devices at
 * class_link[class]. */
CPUBIND_PRIV void cpubind_priv_scan_edges(cpubind_priv_map *map, int32_t write)
{
    cpubind_priv_fill(map->class_stamp, map->n_class, CPUBIND_PRIV_NONE);
    for (int32_t d = 0; d < map->n_device; d++) {
        cpubind_priv_claims claims;
        int32_t id;
        cpubind_priv_claims_of(map, d, &claims);
        while ((id = cpubind_priv_next_claim(map, &claims)) != CPUBIND_PRIV_NONE) {
            if (map->class_stamp[id] == d)
                continue;
            map->class_stamp[id] = d;
            if (write)
                map->edge_device[map->class_link[id]++] = d;
            else
                map->class_row[id + 1]++;
        }
    }
}

CPUBIND_PRIV void cpubind_priv_make_edges(cpubind_priv_map *map)
{
    cpubind_priv_fill(map->class_row, map->n_class + 1, 0);
    cpubind_priv_scan_edges(map, 0);
    for (int32_t c = 0; c < map->n_class; c++) {
        map->class_row[c + 1] += map->class_row[c];
        map->class_link[c] = map->class_row[c];
    }
    cpubind_priv_scan_edges(map, 1);
}

/* Every class evenly among those that claim it; what does not divide goes round, so that it is
 * not always the first devices that get it. */
CPUBIND_PRIV void cpubind_priv_split_evenly(cpubind_priv_map *map)
{
    int32_t turn = 0;
    cpubind_priv_fill(map->load, map->n_device, 0);
    for (int32_t c = 0; c < map->n_class; c++) {
        int32_t first = map->class_row[c];
        int32_t n = map->class_row[c + 1] - first;
        int32_t extra = n > 0 ? map->class_size[c] % n : 0;
        for (int32_t i = 0; i < n; i++) {
            int32_t after = (i + n - turn % n) % n;
            int32_t count = map->class_size[c] / n + (after < extra);
            map->edge_count[first + i] = count;
            map->load[map->edge_device[first + i]] += count;
        }
        turn += extra;
    }
}

/* Index of the edge between a class and a device that claims it. */
CPUBIND_PRIV int32_t cpubind_priv_edge(const cpubind_priv_map *map, int32_t id, int32_t device)
{
    return cpubind_priv_seek(map->edge_device, map->class_row[id], map->class_row[id + 1],
                             device);
}

/* Breadth first from `poor` through all devices that could pass CPUs on to it; class_link is
 * the device that reached a class. Returns the richest device, *n_seen are in the queue. */
CPUBIND_PRIV int32_t cpubind_priv_search(cpubind_priv_map *map, int32_t poor, int32_t search,
                                         int32_t *n_seen)
{
    int32_t rich = poor;
    int32_t end = 0;
    map->queue[end++] = poor;
    map->state[poor] = search;
    for (int32_t i = 0; i < end; i++) {
        cpubind_priv_claims claims;
        int32_t id;
        cpubind_priv_claims_of(map, map->queue[i], &claims);
        while ((id = cpubind_priv_next_claim(map, &claims)) != CPUBIND_PRIV_NONE) {
            if (map->class_stamp[id] == search)
                continue;
            map->class_stamp[id] = search;
            map->class_link[id] = map->queue[i];
            for (int32_t e = map->class_row[id]; e < map->class_row[id + 1]; e++) {
                int32_t d = map->edge_device[e];
                if (map->edge_count[e] == 0 || map->state[d] >= search)
                    continue;
                map->state[d] = search;
                map->from_class[d] = id;
                map->queue[end++] = d;
                if (map->load[d] > map->load[rich])
                    rich = d;
            }
        }
    }
    *n_seen = end;
    return rich;
}

/* Pass as many CPUs as helps from `rich` along the path of the last search to `poor`. */
CPUBIND_PRIV void cpubind_priv_pass_on(cpubind_priv_map *map, int32_t rich, int32_t poor)
{
    int32_t count = (map->load[rich] - map->load[poor]) / 2;
    for (int32_t d = rich; d != poor; d = map->class_link[map->from_class[d]]) {
        int32_t e = cpubind_priv_edge(map, map->from_class[d], d);
        count = cpubind_priv_min(count, map->edge_count[e]);
    }
    map->load[rich] -= count;
    map->load[poor] += count;
    for (int32_t d = rich; d != poor;) {
        int32_t id = map->from_class[d];
        map->edge_count[cpubind_priv_edge(map, id, d)] -= count;
        d = map->class_link[id];
        map->edge_count[cpubind_priv_edge(map, id, d)] += count;
    }
}

/* The devices of one smallest load after the other. */
typedef struct cpubind_priv_poor {
    int32_t load; /* the smallest that is not done */
    int32_t at;   /* devices before it are done, or have more */
} cpubind_priv_poor;

/* A device of the smallest load that is not done, or NONE. That load never falls, and nobody
 * comes down to it: who passes CPUs on keeps as many as the other then has. */
CPUBIND_PRIV int32_t cpubind_priv_poorest(const cpubind_priv_map *map, cpubind_priv_poor *poor)
{
    for (;;) {
        int32_t next = CPUBIND_PRIV_MAX;
        for (; poor->at < map->n_device; poor->at++)
            if (map->state[poor->at] != CPUBIND_PRIV_DONE && map->load[poor->at] <= poor->load)
                return poor->at;
        for (int32_t d = 0; d < map->n_device; d++)
            if (map->state[d] != CPUBIND_PRIV_DONE)
                next = cpubind_priv_min(next, map->load[d]);
        if (next == CPUBIND_PRIV_MAX)
            return CPUBIND_PRIV_NONE;
        poor->load = next;
        poor->at = 0;
    }
}

/* Poorest first. When nothing helps it, nothing helps any device that its search has seen
 * either (their searches see no more than it did), now or later: they are done. Ends, because
 * each pass lowers the sum of squared loads. */
CPUBIND_PRIV void cpubind_priv_balance(cpubind_priv_map *map)
{
    cpubind_priv_poor order;
    int32_t poor;
    order.load = CPUBIND_PRIV_NONE;
    order.at = 0;
    cpubind_priv_fill(map->class_stamp, map->n_class, 0);
    for (int32_t d = 0; d < map->n_device; d++)
        map->state[d] = cpubind_priv_has_home(map, d) ? 0 : CPUBIND_PRIV_DONE;
    for (int32_t search = 1; (poor = cpubind_priv_poorest(map, &order)) != CPUBIND_PRIV_NONE;
         search++) {
        int32_t n_seen = 0;
        int32_t rich = cpubind_priv_search(map, poor, search, &n_seen);
        if (map->load[rich] - map->load[poor] >= 2) {
            cpubind_priv_pass_on(map, rich, poor);
            continue;
        }
        for (int32_t i = 0; i < n_seen; i++)
            map->state[map->queue[i]] = CPUBIND_PRIV_DONE;
    }
}

/* == The plan: results ====================================================== */

/* Whether a wanted device's pool of `have` CPUs is large enough for the roles. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_size(const cpubind_priv_map *map, int32_t device,
                                                    int32_t have)
{
    if (have >= map->need)
        return CPUBIND_OK;
    cpubind_priv_set_fault(map->fault, device, map->need, have);
    return CPUBIND_ERR_TOO_FEW;
}

CPUBIND_PRIV int32_t cpubind_priv_wanted(const int32_t *want, int32_t row)
{
    return want == NULL ? row : want[row];
}

/* Rows from the sizes that `size_of` gives; the plan's CPUs must have room for them. */
CPUBIND_PRIV cpubind_status cpubind_priv_lay_rows(cpubind_priv_map *map, const int32_t *want,
                                                  int32_t (*size_of)(const cpubind_priv_map *,
                                                                     int32_t))
{
    cpubind_plan *plan = map->plan;
    int32_t total = 0;
    for (int32_t row = 0; row < map->n_want; row++) {
        int32_t device = cpubind_priv_wanted(want, row);
        int32_t size = size_of(map, device);
        cpubind_status status = cpubind_priv_check_size(map, device, size);
        if (status != CPUBIND_OK)
            return status;
        plan->row[row] = total;
        if (size > CPUBIND_PRIV_MAX - total)
            return CPUBIND_ERR_SPACE;
        total += size;
    }
    plan->row[map->n_want] = total;
    plan->n_cpu = total;
    return total > plan->cap_cpu ? CPUBIND_ERR_SPACE : CPUBIND_OK;
}

CPUBIND_PRIV int32_t cpubind_priv_slice_size(const cpubind_priv_map *map, int32_t device)
{
    return cpubind_priv_slice(map, device).count;
}

CPUBIND_PRIV int32_t cpubind_priv_load_size(const cpubind_priv_map *map, int32_t device)
{
    return map->load[device];
}

CPUBIND_PRIV int32_t cpubind_priv_cluster_size(const cpubind_priv_map *map, int32_t device)
{
    (void)device;
    return map->policy->cluster;
}

/* CPUs [span.first, span.first + span.count) of what the walk gives, at plan->cpu[at]. */
CPUBIND_PRIV void cpubind_priv_write_span(const cpubind_priv_map *map, cpubind_priv_walk *walk,
                                          cpubind_span span, int32_t at)
{
    int32_t skip = span.first;
    int32_t left = span.count;
    while (left > 0) {
        int32_t atom = cpubind_priv_walk_next(walk);
        int32_t width = cpubind_priv_width(map, atom);
        if (skip >= width) {
            skip -= width;
            continue;
        }
        width = cpubind_priv_min(width - skip, left);
        for (int32_t i = 0; i < width; i++)
            map->plan->cpu[at++] = map->host->cpu[map->atom_first[atom] + skip + i];
        left -= width;
        skip = 0;
    }
}

/* The rule as it stands: each group's pool cut into slices. */
CPUBIND_PRIV cpubind_status cpubind_priv_write_slices(cpubind_priv_map *map,
                                                      const int32_t *want)
{
    cpubind_status status = cpubind_priv_lay_rows(map, want, cpubind_priv_slice_size);
    for (int32_t row = 0; status == CPUBIND_OK && row < map->n_want; row++) {
        int32_t device = cpubind_priv_wanted(want, row);
        cpubind_priv_walk walk;
        cpubind_priv_walk_pool(map, map->leader[device], &walk);
        cpubind_priv_write_span(map, &walk, cpubind_priv_slice(map, device),
                                map->plan->row[row]);
    }
    return status;
}

/* Hand the CPUs out in ascending order: each class to its devices, ascending, by edge_count.
 * class_stamp is the edge whose turn it is, class_link what is left of it. */
CPUBIND_PRIV cpubind_status cpubind_priv_write_loads(cpubind_priv_map *map, const int32_t *want)
{
    cpubind_status status = cpubind_priv_lay_rows(map, want, cpubind_priv_load_size);
    if (status != CPUBIND_OK)
        return status;
    for (int32_t d = 0; d < map->n_device; d++)
        map->queue[d] = map->row_of[d] < 0 ? 0 : map->plan->row[map->row_of[d]];
    for (int32_t c = 0; c < map->n_class; c++) {
        map->class_stamp[c] = map->class_row[c];
        if (map->class_row[c] < map->class_row[c + 1])
            map->class_link[c] = map->edge_count[map->class_row[c]];
    }
    for (int32_t a = 0; a < map->n_atom; a++) {
        int32_t c = map->atom_of[a];
        int32_t at = map->atom_first[a];
        while (at < map->atom_first[a + 1] && map->class_row[c] < map->class_row[c + 1]) {
            int32_t device, count;
            while (map->class_link[c] == 0)
                map->class_link[c] = map->edge_count[++map->class_stamp[c]];
            device = map->edge_device[map->class_stamp[c]];
            count = cpubind_priv_min(map->class_link[c], map->atom_first[a + 1] - at);
            map->class_link[c] -= count;
            if (map->row_of[device] >= 0)
                for (int32_t i = 0; i < count; i++)
                    map->plan->cpu[map->queue[device]++] = map->host->cpu[at + i];
            at += count;
        }
    }
    return CPUBIND_OK;
}

/* == The plan: strategies =================================================== */

CPUBIND_PRIV int32_t cpubind_priv_slot(const cpubind_devices *devices, int32_t device)
{
    return devices->slot == NULL ? device : devices->slot[device];
}

/* The wanted device with this slot, from row `from` on; NONE without one. */
CPUBIND_PRIV int32_t cpubind_priv_slot_row(const cpubind_priv_map *map, const int32_t *want,
                                           int32_t from, int32_t slot)
{
    for (int32_t row = from; row < map->n_want; row++)
        if (cpubind_priv_slot(map->devices, cpubind_priv_wanted(want, row)) == slot)
            return row;
    return CPUBIND_PRIV_NONE;
}

/* Two devices with one slot would get the same CPUs: a host where ids repeat is refused. The
 * slots are sorted in plan->row, which is not filled yet. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_slots(const cpubind_priv_map *map,
                                                     const int32_t *want)
{
    int32_t *slot = map->plan->row;
    if (map->devices->slot == NULL)
        return CPUBIND_OK;
    for (int32_t row = 0; row < map->n_want; row++)
        slot[row] = cpubind_priv_slot(map->devices, cpubind_priv_wanted(want, row));
    cpubind_priv_heap_sort(slot, map->n_want);
    for (int32_t row = 1; row < map->n_want; row++) {
        int32_t first, second;
        if (slot[row - 1] != slot[row])
            continue;
        first = cpubind_priv_slot_row(map, want, 0, slot[row]);
        second = cpubind_priv_slot_row(map, want, first + 1, slot[row]);
        cpubind_priv_set_shared(map->fault, cpubind_priv_wanted(want, second),
                                cpubind_priv_wanted(want, first), CPUBIND_PRIV_NONE);
        return CPUBIND_ERR_OVERLAP;
    }
    return CPUBIND_OK;
}

CPUBIND_PRIV cpubind_status cpubind_priv_plan_slice(cpubind_priv_map *map, const int32_t *want)
{
    const cpubind_host *host = map->host;
    cpubind_plan *plan = map->plan;
    int32_t total = map->devices->total ? map->devices->total : map->n_device;
    int32_t n;
    cpubind_status status =
        cpubind_priv_check_size(map, cpubind_priv_wanted(want, 0), host->n_cpu / total);
    if (status == CPUBIND_OK)
        status = cpubind_priv_check_slots(map, want);
    if (status != CPUBIND_OK)
        return status;
    for (int32_t pass = 0; pass < 2; pass++) { /* first the sizes, then the CPUs */
        n = 0;
        for (int32_t row = 0; row < map->n_want; row++) {
            int32_t device = cpubind_priv_wanted(want, row);
            cpubind_span span;
            if (cpubind_share(host->n_cpu, total, cpubind_priv_slot(map->devices, device),
                              CPUBIND_REMAINDER_SPREAD, &span) != CPUBIND_OK) {
                cpubind_priv_set_fault(map->fault, device, 0, 0);
                return CPUBIND_ERR_UNKNOWN;
            }
            plan->row[row] = n;
            for (int32_t i = 0; pass == 1 && i < span.count; i++)
                plan->cpu[n + i] = host->cpu[span.first + i];
            n += span.count;
        }
        plan->n_cpu = n;
        if (n > plan->cap_cpu)
            return CPUBIND_ERR_SPACE;
    }
    plan->row[map->n_want] = plan->n_cpu;
    plan->strategy = CPUBIND_GLOBAL_SLICE;
    plan->overlap = CPUBIND_FOUND_NONE;
    plan->n_checked = total;
    return CPUBIND_OK;
}

CPUBIND_PRIV cpubind_status cpubind_priv_plan_affinity(cpubind_priv_map *map,
                                                       const int32_t *want)
{
    cpubind_fault shared;
    cpubind_finding found = CPUBIND_FOUND_NONE;
    cpubind_status status;
    int32_t atom;
    cpubind_priv_set_fault(&shared, CPUBIND_PRIV_NONE, 0, 0);
    cpubind_priv_group_pools(map);
    atom = cpubind_priv_find_overlap(map, &shared.other, &shared.device);
    if (atom != CPUBIND_PRIV_NONE) {
        shared.cpu = map->host->cpu[map->atom_first[atom]];
        found = map->policy->overlap == CPUBIND_OVERLAP_KEEP ? CPUBIND_FOUND_PRESENT
                                                             : CPUBIND_FOUND_RESOLVED;
        if (map->policy->overlap == CPUBIND_OVERLAP_REFUSE) {
            cpubind_priv_set_shared(map->fault, shared.device, shared.other, shared.cpu);
            return CPUBIND_ERR_OVERLAP;
        }
    }
    if (found == CPUBIND_FOUND_RESOLVED) {
        cpubind_priv_split_classes(map);
        cpubind_priv_size_classes(map);
        cpubind_priv_make_edges(map);
        cpubind_priv_split_evenly(map);
        cpubind_priv_balance(map);
        status = cpubind_priv_write_loads(map, want);
    } else {
        status = cpubind_priv_write_slices(map, want);
    }
    if (status != CPUBIND_OK)
        return status;
    map->plan->strategy = CPUBIND_TOPO_AFFINITY;
    map->plan->overlap = found;
    map->plan->n_checked = map->n_home;
    cpubind_priv_set_shared(&map->plan->shared, shared.device, shared.other, shared.cpu);
    return CPUBIND_OK;
}

/* CPUs of a node that clusters may be cut from. */
CPUBIND_PRIV int32_t cpubind_priv_cluster_room(const cpubind_priv_map *map, int32_t node)
{
    int32_t is_spare = map->host->node_id[node] == map->policy->spare_node;
    return is_spare && map->policy->overlap != CPUBIND_OVERLAP_RESOLVE ? 0
                                                                       : map->node_size[node];
}

/* Number the devices of each node: place is the cluster of a device; class_size counts those
 * of a node. */
CPUBIND_PRIV cpubind_status cpubind_priv_number_clusters(cpubind_priv_map *map)
{
    int32_t *taken = map->class_size;
    int32_t size = map->policy->cluster;
    cpubind_priv_fill(taken, map->host->n_node, 0);
    for (int32_t d = 0; d < map->n_device; d++) {
        int32_t node;
        if (map->next_node[d] == CPUBIND_PRIV_NONE) {
            if (map->row_of[d] < 0)
                continue;
            cpubind_priv_set_fault(map->fault, d, 0, 0);
            return CPUBIND_ERR_SPREAD;
        }
        node = cpubind_priv_home_node(map, d);
        map->place[d] = taken[node]++;
        if (taken[node] > cpubind_priv_cluster_room(map, node) / size) {
            cpubind_priv_set_fault(map->fault, d, taken[node] * size,
                                   cpubind_priv_cluster_room(map, node));
            return CPUBIND_ERR_CLUSTERS;
        }
    }
    return CPUBIND_OK;
}

CPUBIND_PRIV cpubind_status cpubind_priv_plan_cluster(cpubind_priv_map *map,
                                                      const int32_t *want)
{
    int32_t spare =
        cpubind_priv_find(map->host->node_id, map->host->n_node, map->policy->spare_node);
    cpubind_status status = cpubind_priv_number_clusters(map);
    if (status == CPUBIND_OK)
        status = cpubind_priv_lay_rows(map, want, cpubind_priv_cluster_size);
    if (status != CPUBIND_OK)
        return status;
    for (int32_t row = 0; row < map->n_want; row++) {
        int32_t device = cpubind_priv_wanted(want, row);
        int32_t node = cpubind_priv_home_node(map, device);
        cpubind_span span;
        cpubind_priv_walk walk;
        cpubind_priv_walk_node(map, node, &walk);
        span.first = map->place[device] * map->policy->cluster;
        span.count = map->policy->cluster;
        cpubind_priv_write_span(map, &walk, span, map->plan->row[row]);
    }
    map->plan->strategy = CPUBIND_CLUSTER;
    map->plan->overlap = CPUBIND_FOUND_NONE;
    map->plan->n_checked = map->n_home;
    map->plan->spare_taken = spare < 0 ? 0 : map->class_size[spare] * map->policy->cluster;
    return CPUBIND_OK;
}

/* == The plan: arguments ==================================================== */

CPUBIND_PRIV cpubind_status cpubind_priv_check_policy(const cpubind_policy *policy)
{
    if (policy == NULL || cpubind_priv_role_need(&policy->roles) < 0)
        return CPUBIND_ERR_ARG;
    if (policy->overlap != CPUBIND_OVERLAP_RESOLVE && policy->overlap != CPUBIND_OVERLAP_KEEP &&
        policy->overlap != CPUBIND_OVERLAP_REFUSE)
        return CPUBIND_ERR_ARG;
    if (policy->strategy == CPUBIND_CLUSTER)
        return policy->cluster >= 1 && policy->cluster <= CPUBIND_MAX_CPUS ? CPUBIND_OK
                                                                           : CPUBIND_ERR_ARG;
    return policy->strategy == CPUBIND_GLOBAL_SLICE || policy->strategy == CPUBIND_TOPO_AFFINITY
               ? CPUBIND_OK
               : CPUBIND_ERR_ARG;
}

/* Whether `want` ascends inside the devices. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_want(const int32_t *want, int32_t n_want,
                                                    int32_t n_device)
{
    cpubind_status status;
    if (n_want < 1 || n_want > n_device)
        return CPUBIND_ERR_ARG;
    if (want == NULL)
        return n_want == n_device ? CPUBIND_OK : CPUBIND_ERR_ARG;
    status = cpubind_priv_check_list(want, n_want);
    if (status == CPUBIND_OK && want[n_want - 1] >= n_device)
        return CPUBIND_ERR_ARG;
    return status;
}

CPUBIND_PRIV cpubind_status cpubind_priv_check_plan(const cpubind_devices *devices,
                                                    const int32_t *want, int32_t n_want,
                                                    const cpubind_plan *plan)
{
    cpubind_status status;
    if (devices == NULL || plan == NULL || plan->row == NULL || plan->cap_cpu < 0 ||
        plan->cap_work < 0 || (plan->cap_cpu > 0 && plan->cpu == NULL) ||
        (plan->cap_work > 0 && plan->work == NULL))
        return CPUBIND_ERR_ARG;
    if (devices->total < 0 || devices->total > CPUBIND_MAX_DEVICES)
        return CPUBIND_ERR_ARG;
    status = cpubind_priv_check_lists(&devices->affinity);
    if (status == CPUBIND_OK)
        status = cpubind_priv_check_want(want, n_want, devices->affinity.n);
    return status;
}

/* Atoms and homes; every wanted device must have a home. */
CPUBIND_PRIV cpubind_status cpubind_priv_make_map(cpubind_priv_map *map, const int32_t *want)
{
    cpubind_status status;
    cpubind_priv_carve(map);
    status = cpubind_priv_cut_nodes(map);
    if (status != CPUBIND_OK)
        return status;
    cpubind_priv_cut_homes(map);
    cpubind_priv_make_atoms(map);
    cpubind_priv_place_homes(map);
    cpubind_priv_fill(map->row_of, map->n_device, CPUBIND_PRIV_NONE);
    for (int32_t row = 0; row < map->n_want; row++) {
        int32_t device = cpubind_priv_wanted(want, row);
        map->row_of[device] = row;
        if (!cpubind_priv_has_home(map, device)) {
            cpubind_priv_set_fault(map->fault, device, map->need, 0);
            return CPUBIND_ERR_EMPTY;
        }
    }
    return CPUBIND_OK;
}

/* Whether the policy cuts slices: asked for, or because no affinity is known at all. */
CPUBIND_PRIV int32_t cpubind_priv_is_slice(const cpubind_devices *devices,
                                           const cpubind_policy *policy)
{
    return policy->strategy == CPUBIND_GLOBAL_SLICE ||
           (policy->strategy == CPUBIND_TOPO_AFFINITY &&
            cpubind_priv_affinity_count(devices) == 0);
}

CPUBIND_PRIV cpubind_status cpubind_priv_run(cpubind_priv_map *map, const int32_t *want)
{
    cpubind_plan *plan = map->plan;
    cpubind_status status;
    plan->n_cpu = 0;
    plan->n_work = 0;
    if (cpubind_priv_is_slice(map->devices, map->policy))
        return cpubind_priv_plan_slice(map, want);
    plan->n_work = CPUBIND_PLAN_WORK(map->host->n_cpu, map->host->n_node, map->n_device,
                                     cpubind_priv_affinity_count(map->devices));
    if (plan->n_work > plan->cap_work)
        return CPUBIND_ERR_SPACE;
    status = cpubind_priv_make_map(map, want);
    if (status != CPUBIND_OK)
        return status;
    return map->policy->strategy == CPUBIND_CLUSTER ? cpubind_priv_plan_cluster(map, want)
                                                    : cpubind_priv_plan_affinity(map, want);
}

CPUBIND_API cpubind_status cpubind_make_plan(const cpubind_host *host,
                                             const cpubind_devices *devices,
                                             const cpubind_policy *policy, const int32_t *want,
                                             int32_t n_want, cpubind_plan *plan,
                                             cpubind_fault *fault)
{
    cpubind_priv_map map;
    cpubind_fault found;
    cpubind_status status = cpubind_priv_check_policy(policy);
    if (status == CPUBIND_OK)
        status = cpubind_priv_check_plan(devices, want, n_want, plan);
    if (status == CPUBIND_OK && cpubind_priv_is_slice(devices, policy))
        status =
            host == NULL ? CPUBIND_ERR_ARG : cpubind_priv_check_list(host->cpu, host->n_cpu);
    else if (status == CPUBIND_OK)
        status = cpubind_priv_check_host(host);
    cpubind_priv_set_fault(&found, CPUBIND_PRIV_NONE, 0, 0);
    if (status == CPUBIND_OK) {
        map.host = host;
        map.devices = devices;
        map.policy = policy;
        map.plan = plan;
        map.fault = &found;
        map.need = cpubind_priv_role_need(&policy->roles);
        map.n_want = n_want;
        map.n_device = devices->affinity.n;
        map.n_home = 0;
        status = cpubind_priv_run(&map, want);
    }
    if (status != CPUBIND_OK && fault != NULL) {
        cpubind_priv_set_fault(fault, found.device, found.need, found.have);
        fault->other = found.other;
        fault->cpu = found.cpu;
    }
    return status;
}

/* == Text and version ======================================================= */

CPUBIND_API const char *cpubind_status_name(cpubind_status status)
{
    switch (status) {
#define CPUBIND_X(name, value, text)                                                           \
    case CPUBIND_##name:                                                                       \
        return #name;
        CPUBIND_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
    }
    return "?";
}

CPUBIND_API const char *cpubind_status_text(cpubind_status status)
{
    switch (status) {
#define CPUBIND_X(name, value, text)                                                           \
    case CPUBIND_##name:                                                                       \
        return text;
        CPUBIND_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
    }
    return "not a status code";
}

CPUBIND_API const char *cpubind_role_word(cpubind_role role)
{
    switch (role) {
#define CPUBIND_X(name, word, letter)                                                          \
    case CPUBIND_ROLE_##name:                                                                  \
        return word;
        CPUBIND_ROLE_LIST(CPUBIND_X)
#undef CPUBIND_X
    case CPUBIND_ROLE_COUNT:
        break;
    }
    return "?";
}

CPUBIND_API char cpubind_role_letter(cpubind_role role)
{
    switch (role) {
#define CPUBIND_X(name, word, letter)                                                          \
    case CPUBIND_ROLE_##name:                                                                  \
        return letter;
        CPUBIND_ROLE_LIST(CPUBIND_X)
#undef CPUBIND_X
    case CPUBIND_ROLE_COUNT:
        break;
    }
    return '?';
}

CPUBIND_API int32_t cpubind_version(void)
{
    return CPUBIND_VERSION_HEX;
}

#undef CPUBIND_PRIV
#undef CPUBIND_PRIV_NONE
#undef CPUBIND_PRIV_MAX
#undef CPUBIND_PRIV_DONE
#undef CPUBIND_PRIV_BLOCK

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
