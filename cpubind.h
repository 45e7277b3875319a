/* cpubind.h - v0.2.0 - which CPUs of a host belong to which device, and in which role
 * SPDX-License-Identifier: MIT (full text at the end of this file)
 *
 * One header, no dependencies, no allocation, no I/O: integers in, integers out. It decides
 * and never acts: it reads no file, and binds no thread. This is all that a program needs:
 *
 *   #define CPUBIND_IMPLEMENTATION // in one file of the program
 *   #include "cpubind.h"
 *
 *   // Eight CPUs, two threads a core, two nodes; a device near each node.
 *   int32_t cpu[8] = {0, 1, 2, 3, 4, 5, 6, 7}, node[8] = {0, 0, 0, 0, 1, 1, 1, 1};
 *   int32_t core[8] = {0, 0, 2, 2, 4, 4, 6, 6}; // the index of the first CPU of the core
 *   int32_t distance[4] = {10, 21, 21, 10};     // as /sys/devices/system/node has it
 *   int32_t owner[8], role[8], work[CPUBIND_WORK(8, 2, 2)];
 *   cpubind_host host = {cpu, node, core, NULL, distance, NULL, 8, 2};
 *   cpubind_device device[2] = {{{cpu, 4}}, {{cpu + 4, 4}}}; // the CPUs near each of them
 *   cpubind_policy policy = {CPUBIND_RULE_TURNS};            // devices take cores in turns
 *   cpubind_roles roles = {{1, 1, 1, 0}};                    // CPUs of irq, main, acl, release
 *   cpubind_report why;
 *
 *   if (cpubind_plan(&host, device, 2, &policy, owner, work, &why) != CPUBIND_OK)
 *       return printf("%s[%d] is wrong\n", why.argument, why.index);
 *   if (cpubind_place(&host, device, 2, owner, 1, &roles, role, work, &why) != CPUBIND_OK)
 *       return printf("device 1 has %d CPUs and needs %d\n", why.have, why.need);
 *   for (int i = 0; i < 8; i++)
 *       if (owner[i] == 1) // -1: nobody's
 *           printf("CPU %d: %s\n", cpu[i], cpubind_role_word(role[i]));
 *
 * THE RULE: devices take cores in turns
 *   1 A core is for the devices at home there: it is in their list of near CPUs. A core in
 *     nobody's home is for the devices whose home is nearest on its socket; a core that is near
 *     nobody, for the devices that have none by these two.
 *   2 Devices that are alike are one house. Houses take cores in turns: the one with the least,
 *     by weight, is next, and takes of those that the fewest others may take, where most are
 *     left; at most half of an even share of them at a time.
 *   3 A house has its cores on as few nodes as it can: where it has some, then where they fit.
 *   4 Its devices cut them evenly, home and rest each; a cut moves to the end of a cache where
 *     the rest makes up for it.
 *   5 A device below its minimum, then below the floor, takes idle cores, the nearest first,
 *     then cores that others can spare: in nobody's home first, then the nearest, then of the
 *     largest pool. If cores are too few for the minimums, the same with single CPUs, and one
 *     moves for another; if CPUs are, the devices that lack most get none.
 *   The floor is half of an even share of the CPUs that a device may have, beside all that may
 *   have some of them; for a device that has a core by line 1 at most its minimum + 7.
 *
 *   So no CPU is given twice, no core is cut unless cores are too few, nobody is refused while
 *   CPUs would do, equal input gives equal bytes, and all processes that see the same host have
 *   the same plan.
 *
 * WHO TAKES PART
 *   Every device of the host, in an order that all its processes know; those that this process
 *   does not drive are hidden. For whom a core is (line 1) is a matter of the host, and not of
 *   the allowed CPUs. A device that may have none of the cores that are for it is *elsewhere*.
 *   If it is hidden, it has its part of what is near nobody, and line 5 leaves it out. If not,
 *   it is served after all others, and of hidden devices for its minimum alone: processes that
 *   do not see it cannot know of it. report.disputed counts what it takes. Where that is 0 in
 *   both, the plans of two processes with the same allowed CPUs have no CPU in common, whatever
 *   each of them sees.
 *   A worker without a device has the CPUs of its nodes for a home; or no home (is_anywhere),
 *   and every core is for it too. What an engine or the host wants is a device with a minimum
 *   and as much at most.
 *
 * WHOSE CPUS
 *   Allowed CPUs are those of the cpuset, read before anything is bound, and the same list in
 *   every process: of a list that a launcher has cut for one worker the others know nothing.
 *
 * OTHER RULES, of vllm-ascend: see SOURCES at the end
 *   SLICE    equal slices of the allowed CPUs, by index
 *   AFFINITY the home, and if it is on one node the next node; devices with equal pools cut
 *            them. Pools that overlap otherwise: see cpubind_overlap
 *   CLUSTER  a whole cluster of the node of the home; nobody has one where a node has too few
 *
 * OPTIONS, none of which changes a result or the layout of a struct
 *   CPUBIND_IMPLEMENTATION  the definitions, hidden from other shared objects: two libraries
 *                           that embed two versions can be in one process. In one file alone
 *   CPUBIND_STATIC          a private copy, `static inline`, in each file that wants one
 *   CPUBIND_EXPORT          the definitions are exported, for all files: as a library for
 *                           ctypes, Rust or Go, without another file: cc -shared -fPIC
 *                           -DCPUBIND_EXPORT -DCPUBIND_IMPLEMENTATION -x c cpubind.h
 *   CPUBIND_API             linkage of your own, for all files
 *   The language is C99 that is also C++11, freestanding. No globals, no recursion, no floating
 *   point; any number of threads may be in any function at once.
 */
#ifndef CPUBIND_H
#define CPUBIND_H

#define CPUBIND_VERSION_HEX 0x000200 /* major << 16 | minor << 8 | patch */
#define CPUBIND_VERSION     "0.2.0"

#include <stddef.h> /* NULL */
#include <stdint.h> /* int32_t */

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

/* == Types ================================================================== */

#define CPUBIND_NONE         (-1)  /* nobody, no device, no element */
#define CPUBIND_MAX_CPUS     65536 /* CPU ids are below it */
#define CPUBIND_MAX_NODES    1024
#define CPUBIND_MAX_DEVICES  4096
#define CPUBIND_MAX_WEIGHT   1000
#define CPUBIND_MAX_DISTANCE 9999
#define CPUBIND_FAR_DISTANCE 20 /* as far are nodes where the firmware tells no distance */

/* int32_t elements of scratch for every function; its content means nothing afterwards. */
#define CPUBIND_WORK(n_cpu, n_node, n_device)                                                  \
    (23 * (n_cpu) + 2 * (n_node) + 17 * (n_device) + (n_device) * ((n_cpu) + (n_node)) + 2)

/* Enumerations are names for numbers of 32 bits, whatever a compiler makes of an enum. Name,
 * number, text; and what the report holds then. */
#define CPUBIND_STATUS_LIST(X)                                                                 \
    X(OK, 0, "success")                                                                        \
    X(ERR_ARG, -1, "an argument is outside its range")      /* argument, index, device, cpu */ \
    X(ERR_ORDER, -2, "a list is not strictly ascending")    /* argument, index, device, cpu */ \
    X(ERR_OVERLAP, -3, "two pools share a CPU")             /* device, other, cpu */           \
    X(ERR_TOO_FEW, -4, "a pool has too few CPUs for roles") /* device, need, have */

typedef int32_t cpubind_status;
enum cpubind_status_names {
#define CPUBIND_X(name, value, text) CPUBIND_##name = value,
    CPUBIND_STATUS_LIST(CPUBIND_X)
#undef CPUBIND_X
};

/* CPU ids, strictly ascending. Those that the host does not have do not count. */
typedef struct cpubind_list {
    const int32_t *cpu;
    int32_t n;
} cpubind_list;

/* The CPUs of the host, all that are online, whoever may use them. Arrays are by index of the
 * CPU or by number of the node; those after `node` may be NULL: not known. */
typedef struct cpubind_host {
    const int32_t *cpu;      /* ids, strictly ascending */
    const int32_t *node;     /* the number of its node, below n_node; numbers may be missing */
    const int32_t *core;     /* index of the first CPU of its core. NULL: each CPU is a core */
    const int32_t *cache;    /* the same of its last cache. NULL: a node is a cache */
    const int32_t *distance; /* [a * n_node + b], 1 .. MAX_DISTANCE, as the kernel has it */
    const int32_t *socket;   /* by node. NULL: nodes less than CPUBIND_FAR_DISTANCE apart are
                                on one socket; without distances all are */
    int32_t n_cpu, n_node;
} cpubind_host;

/* Whoever wants CPUs: an accelerator, a worker without one, an engine, the host itself. */
typedef struct cpubind_device {
    cpubind_list home;    /* the CPUs near it, as the host reports them; n 0: not known */
    cpubind_list allowed; /* the CPUs that it may have. cpu NULL: all */
    int32_t minimum;      /* CPUs; fewer are of no use to it */
    int32_t most;         /* CPUs; it takes no more, but for a core. 0: all that it can get */
    int32_t weight;       /* its share beside those of others, 0 .. MAX_WEIGHT. 0: 1 */
    int32_t is_hidden;    /* another process drives it: see WHO TAKES PART */
    int32_t is_anywhere;  /* a worker without a home; `home` does not count */
} cpubind_device;

typedef int32_t cpubind_rule;
enum cpubind_rule_names {
    CPUBIND_RULE_TURNS = 0,
    CPUBIND_RULE_SLICE = 1,
    CPUBIND_RULE_AFFINITY = 2,
    CPUBIND_RULE_CLUSTER = 3
};

/* TURNS: how far from its home a pool may reach. */
typedef int32_t cpubind_reach;
enum cpubind_reach_names {
    CPUBIND_REACH_SOCKET = 0, /* the nearest nodes of its sockets; farther for the floor */
    CPUBIND_REACH_HOME = 1,   /* no CPU outside of the home; others are idle */
    CPUBIND_REACH_HOST = 2    /* the nearest nodes, on whatever socket: no CPU is idle */
};

/* AFFINITY: pools that overlap without being equal. */
typedef int32_t cpubind_overlap;
enum cpubind_overlap_names {
    CPUBIND_OVERLAP_RESOLVE = 0, /* as TURNS, by CPUs, between home and next node */
    CPUBIND_OVERLAP_KEEP = 1,    /* left as they are. Hidden devices get none in `owner`: call
                                    it for each device with the others hidden */
    CPUBIND_OVERLAP_REFUSE = 2   /* ERR_OVERLAP */
};

typedef struct cpubind_policy {
    cpubind_rule rule;
    cpubind_reach reach;
    cpubind_overlap overlap;
    int32_t cluster; /* CLUSTER: CPUs of a cluster, >= 1 */
    int32_t n_spare; /* CLUSTER, but for RESOLVE: nodes 0 .. n_spare - 1 have no clusters */
} cpubind_policy;

/* What there is to say. Optional; filled by whatever takes it. */
typedef struct cpubind_report {
    const char *argument; /* ERR_ARG, ERR_ORDER: what is wrong, as in "host.cpu"; or NULL */
    int32_t index;        /* the element that is wrong, or -1 */
    int32_t device;       /* the device that the error is about, or -1 */
    int32_t cpu;          /* ERR_ARG, ERR_ORDER: the id that is wrong, of a list of CPUs;
                             AFFINITY: the first CPU that the rule gave to `device` and ... */
    int32_t other;        /* ... to `other`, whatever became of it; else -1 */
    int32_t need, have;   /* ERR_TOO_FEW: CPUs */
    int32_t taken;        /* CPUs that a device in want took of others */
    int32_t disputed;     /* CPUs that another process may take too: see WHO TAKES PART */
} cpubind_report;

/* The roles, in the order in which they tile a pool: name, word. */
#define CPUBIND_ROLE_LIST(X)                                                                   \
    X(IRQ, "irq")                                                                              \
    X(MAIN, "main")                                                                            \
    X(ACL, "acl")                                                                              \
    X(RELEASE, "release")

typedef int32_t cpubind_role;
enum cpubind_role_names {
#define CPUBIND_X(name, word) CPUBIND_ROLE_##name,
    CPUBIND_ROLE_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_ROLE_COUNT
};

/* The CPUs that the roles of a process take; main at least so many. */
typedef struct cpubind_roles {
    int32_t count[CPUBIND_ROLE_COUNT];
    int32_t n_process; /* processes that drive the device, .. MAX_DEVICES. 0: 1 */
    int32_t process;   /* which of them this is, from 0 */
    int32_t by_id;     /* not 0: runs of ids, as vllm-ascend has them; not by home and core */
} cpubind_roles;

#define CPUBIND_MAIN_KEEPS 8 /* acl and release have whole cores while main keeps so many */

/* How good pools are. Counts are CPUs unless they say otherwise. */
typedef struct cpubind_quality {
    int32_t pools;             /* that are not empty */
    int32_t cpus;              /* in pools */
    int32_t near_cpus;         /* on a node of the home of their device */
    int32_t far_cpus;          /* on another socket than that */
    int32_t irq_off;           /* of the role irq, and not near */
    int32_t split_cores;       /* cores in several pools */
    int32_t split_caches;      /* caches in several pools; 0 where caches are not known */
    int32_t nodes;             /* the most nodes of a pool */
    int32_t idle;              /* allowed to somebody and in no pool */
    int32_t smallest, largest; /* pools; 0 without pools */
} cpubind_quality;

/* == Functions ============================================================== */

/* The pools of all devices.
 *   in      1 <= n_device <= CPUBIND_MAX_DEVICES; work: CPUBIND_WORK elements
 *   out     owner[i], n_cpu elements: the index of the device that gets host->cpu[i], or -1.
 *           A device that got less than its minimum is refused: whoever asked for it says so
 *   errors  ERR_ARG, ERR_ORDER, ERR_OVERLAP; nothing is in `owner` then
 *   cost    about linear in CPUs and in the elements of lists that differ, plus the square of
 *           houses and nodes; a device in want: all cores, for each core that it takes
 *   source  S1 (SLICE), S2 (AFFINITY), S3 (CLUSTER), S5 (TURNS) */
CPUBIND_API cpubind_status cpubind_plan(const cpubind_host *host, const cpubind_device *device,
                                        int32_t n_device, const cpubind_policy *policy,
                                        int32_t *owner, int32_t *work, cpubind_report *report);

/* The roles of one process of device d.
 *   in      host, device: as of a cpubind_plan that succeeded, and not checked again; owner:
 *           of that plan; 0 <= d < n_device; work: CPUBIND_WORK elements
 *   out     role[i] of the CPUs of the device: its role, or -1: of another process
 *           (not by_id) irq: the first cores of the home. release, then acl: the last near
 *           CPUs, each on a core of its own, and alone there while main keeps
 *           CPUBIND_MAIN_KEEPS CPUs. Processes share irq, and cut the rest by cores
 *   errors  ERR_ARG; ERR_TOO_FEW: with need and have, of the smallest part
 *   cost    linear in CPUs and processes, plus the square of nodes
 *   source  S4 */
CPUBIND_API cpubind_status cpubind_place(const cpubind_host *host, const cpubind_device *device,
                                         int32_t n_device, const int32_t *owner, int32_t d,
                                         const cpubind_roles *roles, int32_t *role,
                                         int32_t *work, cpubind_report *report);

/* How good a plan is.
 *   in      host, device, owner: as for cpubind_place, none NULL; role: of all pools, or NULL;
 *           work: CPUBIND_WORK elements
 *   out     *total, and each[d] of one pool, unless it is NULL: idle, split_cores and
 *           split_caches are 0 there
 *   cost    CPUs and the square of nodes, for each device */
CPUBIND_API void cpubind_measure(const cpubind_host *host, const cpubind_device *device,
                                 int32_t n_device, const int32_t *owner, const int32_t *role,
                                 cpubind_quality *total, cpubind_quality *each, int32_t *work);

/* Slice `slot` of `total` of n CPUs: *count of them from *first on; the first ones have one
 * more. For a process that knows no more than its slot.
 *   in      0 <= n; 0 <= slot < total
 *   source  S1 */
CPUBIND_API void cpubind_slice(int32_t n, int32_t total, int32_t slot, int32_t *first,
                               int32_t *count);

/* One English sentence without a full stop. "main"; "?" for a number that is no role. */
CPUBIND_API const char *cpubind_status_text(cpubind_status status);
CPUBIND_API const char *cpubind_role_word(cpubind_role role);

/* CPUBIND_VERSION_HEX of the compiled code: to be compared by who links a shared library. */
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

/* In a private copy `inline` keeps compilers quiet about functions that are not used; public
 * ones are hidden, so that no other shared object can use them in place of its own. */
#ifdef CPUBIND_PRIV_STATIC
#define CPUBIND_PRIV static inline
#else
#define CPUBIND_PRIV static
#endif
#if !defined(CPUBIND_PRIV_STATIC) && !defined(CPUBIND_PRIV_OWN_API) &&                         \
    !defined(CPUBIND_EXPORT) && defined(__GNUC__) && !defined(_WIN32)
#define CPUBIND_PRIV_PUBLIC __attribute__((__visibility__("hidden")))
#else
#define CPUBIND_PRIV_PUBLIC CPUBIND_API
#endif

#define CPUBIND_PRIV_FAR  (1 << 20) /* added to the distance of nodes of other sockets */
#define CPUBIND_PRIV_LOST (1 << 24) /* the distance from a home that is not known */

/* How a house stands to the cores of a lot. Those from CLAIM on are line 1 of the rule. */
enum cpubind_priv_stand {
    CPUBIND_PRIV_NOT,   /* must not have them */
    CPUBIND_PRIV_MAY,   /* may have them in want */
    CPUBIND_PRIV_CLAIM, /* they are nearest to it, or near nobody */
    CPUBIND_PRIV_HOME
};

/* What a plan is made on.
 *   core   CPUs of one core that the same devices may have: its unit. Numbered by first CPU
 *   lot    cores that are alike: one node, one width, and the same houses stand to them alike
 *   kind   lots that the same houses claim, wherever they are
 *   house  devices that are alike: one home, one list of allowed CPUs, the same wants
 * A host has about as many lots as nodes and as many houses as homes, whatever its CPUs. */
typedef struct cpubind_priv_table {
    const cpubind_host *host;
    const cpubind_device *device;
    int32_t n_device, n_core, n_lot, n_kind, n_house;
    int32_t *core_of;                               /* by CPU */
    int32_t *width, *lot_of, *next, *cache, *owner; /* by core */
    int32_t *row;                                   /* cores, lot by lot, cache by cache */
    int32_t *node, *lot_width, *sample, *left, *at; /* by lot; sample: one of its CPUs */
    int32_t *kind_of, *hits, *split, *took;         /* by lot */
    int32_t *is_home;                               /* by lot: in somebody's home */
    int32_t *lot, *cores, *rivals;                  /* by kind: a lot; cores left; devices */
    int32_t *cell, *distance;                       /* [lot][house], see below; [house][node] */
    int32_t *first, *members, *total, *elsewhere;   /* by house; total: CPUs */
    int32_t *least, *most, *share;                  /* by house: of all its devices */
    int32_t *allowed, *unseen; /* by house: CPUs that it may have; weights of the unseen */
    int32_t *house_of, *next_of, *size, *floor; /* by device; next_of its house */
    int32_t *end, *scratch, *on_node;           /* 4 by device; 3 by CPU; by node */
    int32_t taken, disputed;                    /* CPUs */
    int32_t has_unseen;                         /* hidden devices that are elsewhere */
    int32_t has_wants;                          /* TURNS: minimum, most and weight count */
} cpubind_priv_table;

/* A cell is a stand, and 4 times the cores that the house gets of the kind of that lot. */
CPUBIND_PRIV int32_t *cpubind_priv_cell(const cpubind_priv_table *t, int32_t lot, int32_t house)
{
    return &t->cell[lot * t->n_house + house];
}

CPUBIND_PRIV int32_t cpubind_priv_stand_of(const cpubind_priv_table *t, int32_t lot,
                                           int32_t house)
{
    return *cpubind_priv_cell(t, lot, house) & 3;
}

/* Whether a house claims a lot: line 1 of the rule. */
CPUBIND_PRIV int32_t cpubind_priv_claims(const cpubind_priv_table *t, int32_t lot,
                                         int32_t house)
{
    return cpubind_priv_stand_of(t, lot, house) >= CPUBIND_PRIV_CLAIM;
}

CPUBIND_PRIV int32_t cpubind_priv_min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

CPUBIND_PRIV int32_t cpubind_priv_max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

CPUBIND_PRIV void cpubind_priv_fill(int32_t *list, int32_t n, int32_t value)
{
    for (int32_t i = 0; i < n; i++)
        list[i] = value;
}

/* Takes n elements of the scratch. */
CPUBIND_PRIV int32_t *cpubind_priv_carve(int32_t **work, int32_t n)
{
    int32_t *start = *work;
    *work += n;
    return start;
}

/* == Arguments ============================================================== */

CPUBIND_PRIV void cpubind_priv_clear(cpubind_report *r)
{
    r->argument = NULL;
    r->index = r->device = r->other = r->cpu = CPUBIND_NONE;
    r->need = r->have = r->taken = r->disputed = 0;
}

/* An argument is outside its range. */
CPUBIND_PRIV cpubind_status cpubind_priv_refuse(cpubind_report *r, const char *argument,
                                                int32_t index, int32_t device)
{
    r->argument = argument;
    r->index = index;
    r->device = device;
    return CPUBIND_ERR_ARG;
}

/* Checks that a list ascends strictly and that its ids are CPUs. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_list(const int32_t *list, int32_t n,
                                                    const char *argument, int32_t device,
                                                    cpubind_report *r)
{
    int32_t wrong = 1;
    if (n < 0 || n > CPUBIND_MAX_CPUS || (n > 0 && list == NULL))
        return cpubind_priv_refuse(r, argument, CPUBIND_NONE, device);
    while (wrong < n && list[wrong - 1] < list[wrong])
        wrong++;
    if (wrong >= n && (n == 0 || (list[0] >= 0 && list[n - 1] < CPUBIND_MAX_CPUS)))
        return CPUBIND_OK;
    if (wrong < n) {
        r->cpu = list[wrong];
        (void)cpubind_priv_refuse(r, argument, wrong, device);
        return CPUBIND_ERR_ORDER;
    }
    wrong = list[0] < 0 ? 0 : n - 1;
    r->cpu = list[wrong];
    return cpubind_priv_refuse(r, argument, wrong, device);
}

/* Checks an array whose elements are from `least` to `most`, which grows by `step` with each.
 * What is outside has the highest bit of one of the two differences. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_range(const int32_t *list, int32_t n,
                                                     int32_t least, int32_t most, int32_t step,
                                                     const char *argument, cpubind_report *r)
{
    uint32_t bits = 0, top = (uint32_t)most;
    int32_t wrong = 0;
    if (list == NULL)
        return CPUBIND_OK;
    for (int32_t i = 0; i < n; i++, top += (uint32_t)step)
        bits |= ((uint32_t)list[i] - (uint32_t)least) | (top - (uint32_t)list[i]);
    if (bits <= INT32_MAX)
        return CPUBIND_OK;
    while (list[wrong] >= least && list[wrong] <= most + step * wrong)
        wrong++;
    return cpubind_priv_refuse(r, argument, wrong, CPUBIND_NONE);
}

CPUBIND_PRIV cpubind_status cpubind_priv_check_host(const cpubind_host *h, cpubind_report *r)
{
    cpubind_status s = cpubind_priv_check_list(h->cpu, h->n_cpu, "host.cpu", CPUBIND_NONE, r);
    if (s != CPUBIND_OK)
        return s;
    if (h->n_node < 1 || h->n_node > CPUBIND_MAX_NODES)
        return cpubind_priv_refuse(r, "host.n_node", CPUBIND_NONE, CPUBIND_NONE);
    if (h->n_cpu > 0 && h->node == NULL)
        return cpubind_priv_refuse(r, "host.node", CPUBIND_NONE, CPUBIND_NONE);
    s = cpubind_priv_check_range(h->node, h->n_cpu, 0, h->n_node - 1, 0, "host.node", r);
    if (s == CPUBIND_OK)
        s = cpubind_priv_check_range(h->core, h->n_cpu, 0, 0, 1, "host.core", r);
    if (s == CPUBIND_OK)
        s = cpubind_priv_check_range(h->cache, h->n_cpu, 0, 0, 1, "host.cache", r);
    if (s == CPUBIND_OK)
        s = cpubind_priv_check_range(h->distance, h->n_node * h->n_node, 1,
                                     CPUBIND_MAX_DISTANCE, 0, "host.distance", r);
    return s;
}

/* The field that is outside its range, or NULL. */
CPUBIND_PRIV const char *cpubind_priv_check_policy(const cpubind_policy *p)
{
    if (p == NULL)
        return "policy";
    if (p->rule < CPUBIND_RULE_TURNS || p->rule > CPUBIND_RULE_CLUSTER)
        return "policy.rule";
    if (p->reach < CPUBIND_REACH_SOCKET || p->reach > CPUBIND_REACH_HOST)
        return "policy.reach";
    if (p->overlap < CPUBIND_OVERLAP_RESOLVE || p->overlap > CPUBIND_OVERLAP_REFUSE)
        return "policy.overlap";
    if (p->rule == CPUBIND_RULE_CLUSTER && (p->cluster < 1 || p->cluster > CPUBIND_MAX_CPUS))
        return "policy.cluster";
    return p->rule == CPUBIND_RULE_CLUSTER && p->n_spare < 0 ? "policy.n_spare" : NULL;
}

/* Checks the list of allowed CPUs of device d. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_allowed(const cpubind_list *list, int32_t d,
                                                       cpubind_report *r)
{
    const int32_t n = list->cpu == NULL ? 0 : list->n;
    return cpubind_priv_check_list(list->cpu, n, "device.allowed", d, r);
}

/* Checks the wants of a device; the lists are checked once a house. */
CPUBIND_PRIV cpubind_status cpubind_priv_check_wants(const cpubind_device *d, int32_t index,
                                                     cpubind_report *r)
{
    const char *wrong = d->minimum < 0 || d->minimum > CPUBIND_MAX_CPUS   ? "device.minimum"
                        : d->most < 0 || d->most > CPUBIND_MAX_CPUS       ? "device.most"
                        : d->weight < 0 || d->weight > CPUBIND_MAX_WEIGHT ? "device.weight"
                                                                          : NULL;
    return wrong == NULL ? CPUBIND_OK : cpubind_priv_refuse(r, wrong, CPUBIND_NONE, index);
}

/* == Houses ================================================================= */

CPUBIND_PRIV int32_t cpubind_priv_same_list(const cpubind_list *a, const cpubind_list *b)
{
    if (a->n != b->n || (a->cpu == NULL) != (b->cpu == NULL))
        return 0;
    for (int32_t i = 0; a->cpu != b->cpu && i < a->n; i++)
        if (a->cpu[i] != b->cpu[i])
            return 0;
    return 1;
}

CPUBIND_PRIV int32_t cpubind_priv_weight(const cpubind_device *d)
{
    return d->weight == 0 ? 1 : d->weight;
}

CPUBIND_PRIV int32_t cpubind_priv_is_alike(const cpubind_device *a, const cpubind_device *b,
                                           int32_t has_wants)
{
    if (has_wants && (a->minimum != b->minimum || a->most > 0 || b->most > 0 ||
                      cpubind_priv_weight(a) != cpubind_priv_weight(b)))
        return 0;
    return (a->is_anywhere == 0) == (b->is_anywhere == 0) &&
           cpubind_priv_same_list(&a->home, &b->home) &&
           cpubind_priv_same_list(&a->allowed, &b->allowed);
}

/* Puts each device into its house, and checks what is new. */
CPUBIND_PRIV cpubind_status cpubind_priv_find_houses(cpubind_priv_table *t, cpubind_report *r)
{
    int32_t *last = t->end; /* by house */
    t->n_house = 0;
    for (int32_t d = 0; d < t->n_device; d++) {
        const cpubind_device *one = &t->device[d];
        cpubind_status s = cpubind_priv_check_wants(one, d, r);
        int32_t h = 0;
        while (h < t->n_house &&
               !cpubind_priv_is_alike(&t->device[t->first[h]], one, t->has_wants))
            h++;
        t->house_of[d] = h;
        t->next_of[d] = CPUBIND_NONE;
        if (h < t->n_house) {
            t->next_of[last[h]] = d;
        } else {
            t->first[t->n_house++] = d;
            t->members[h] = t->least[h] = t->most[h] = t->share[h] = 0;
            if (s == CPUBIND_OK)
                s = cpubind_priv_check_list(one->home.cpu, one->home.n, "device.home", d, r);
            if (s == CPUBIND_OK)
                s = cpubind_priv_check_allowed(&one->allowed, d, r);
        }
        if (s != CPUBIND_OK)
            return s;
        last[h] = d;
        t->members[h]++;
        t->least[h] += t->has_wants ? one->minimum : 0;
        t->most[h] += t->has_wants ? one->most : 0;
        t->share[h] += t->has_wants ? cpubind_priv_weight(one) : 1;
    }
    return CPUBIND_OK;
}

CPUBIND_PRIV const cpubind_device *cpubind_priv_of(const cpubind_priv_table *t, int32_t house)
{
    return &t->device[t->first[house]];
}

/* == Cores ================================================================== */

/* The first index from `from` on whose id is not below `id`, or n. Ids ascend strictly: it is
 * at most as many places ahead as the id is. */
CPUBIND_PRIV int32_t cpubind_priv_seek(const int32_t *list, int32_t n, int32_t from, int32_t id)
{
    int32_t low = from + 1, high;
    if (from >= n || list[from] >= id)
        return from;
    high = cpubind_priv_min(n, from + (id - list[from]));
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (list[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return high;
}

/* Sets is_in of the CPUs of the host that are in a list. Returns how many are in one that
 * is given. */
CPUBIND_PRIV int32_t cpubind_priv_mark(const cpubind_host *h, const cpubind_list *list,
                                       int32_t *is_in)
{
    int32_t at = 0, n = 0;
    if (list->cpu == NULL)
        cpubind_priv_fill(is_in, h->n_cpu, 1);
    for (int32_t i = 0; list->cpu != NULL && i < list->n; i++) {
        at = cpubind_priv_seek(h->cpu, h->n_cpu, at, list->cpu[i]);
        if (at < h->n_cpu && h->cpu[at] == list->cpu[i]) {
            is_in[at++] = 1;
            n++;
        }
    }
    return n;
}

/* Numbers the CPUs by who may have them: those of one class are in the same lists of allowed
 * CPUs. */
CPUBIND_PRIV void cpubind_priv_class_cpus(const cpubind_priv_table *t, int32_t *class_of,
                                          int32_t *inside, int32_t *outside)
{
    int32_t n_class = 1, *is_in = t->core_of;
    cpubind_priv_fill(class_of, t->host->n_cpu, 0);
    for (int32_t h = 0; h < t->n_house; h++) {
        const cpubind_list *list = &cpubind_priv_of(t, h)->allowed;
        if (list->cpu == NULL ||
            (h > 0 && cpubind_priv_same_list(list, &cpubind_priv_of(t, h - 1)->allowed)))
            continue;
        cpubind_priv_fill(is_in, t->host->n_cpu, 0);
        (void)cpubind_priv_mark(t->host, list, is_in);
        cpubind_priv_fill(inside, n_class, CPUBIND_NONE);
        cpubind_priv_fill(outside, n_class, CPUBIND_NONE);
        n_class = 0;
        for (int32_t i = 0; i < t->host->n_cpu; i++) {
            int32_t *to = is_in[i] ? &inside[class_of[i]] : &outside[class_of[i]];
            if (*to == CPUBIND_NONE)
                *to = n_class++;
            class_of[i] = *to;
        }
    }
}

/* Puts cores of one node, one width and one class into one lot. cpu: a CPU of each core. */
CPUBIND_PRIV void cpubind_priv_make_lots(cpubind_priv_table *t, const int32_t *class_of,
                                         const int32_t *cpu)
{
    const int32_t *node_of = t->host->node, *width_of = t->width, n_core = t->n_core;
    int32_t *lot_of = t->lot_of, c = 0;
    t->n_lot = 0;
    while (c < n_core) {
        const int32_t first = c, node = node_of[cpu[c]], width = width_of[c];
        const int32_t its_class = class_of[cpu[c]];
        int32_t lot = 0;
        while (lot < t->n_lot && (t->node[lot] != node || t->lot_width[lot] != width ||
                                  class_of[t->sample[lot]] != its_class))
            lot++;
        if (lot == t->n_lot) {
            t->n_lot++;
            t->node[lot] = node;
            t->lot_width[lot] = width;
            t->sample[lot] = cpu[c];
            t->left[lot] = t->is_home[lot] = 0;
        }
        do
            lot_of[c++] = lot;
        while (c < n_core && node_of[cpu[c]] == node && width_of[c] == width &&
               class_of[cpu[c]] == its_class);
        t->left[lot] += c - first;
    }
}

/* Makes the cores, and of those that are alike so far the lots. A CPU of another class or node
 * than the others of its core is a core of its own. */
CPUBIND_PRIV void cpubind_priv_make_cores(cpubind_priv_table *t, const int32_t *core)
{
    const cpubind_host *h = t->host;
    const int32_t *cache = h->cache == NULL ? h->node : h->cache;
    int32_t *class_of = t->scratch, *head = class_of + h->n_cpu, *cpu = head + h->n_cpu;
    int32_t *core_of = t->core_of, *width = t->width, *cache_of = t->cache, n_core = 0;
    cpubind_priv_class_cpus(t, class_of, head, cpu);
    cpubind_priv_fill(head, h->n_cpu, CPUBIND_NONE);
    for (int32_t i = 0; i < h->n_cpu; i++) {
        int32_t c = core == NULL ? CPUBIND_NONE : head[core[i]];
        while (c != CPUBIND_NONE &&
               (class_of[cpu[c]] != class_of[i] || h->node[cpu[c]] != h->node[i]))
            c = t->next[c];
        if (c == CPUBIND_NONE) {
            c = n_core++;
            cpu[c] = i;
            width[c] = 0;
            cache_of[c] = cache[i];
            if (core != NULL) {
                t->next[c] = head[core[i]];
                head[core[i]] = c;
            }
        }
        core_of[i] = c;
        width[c]++;
    }
    t->n_core = n_core;
    cpubind_priv_make_lots(t, class_of, cpu);
}

/* == Lots =================================================================== */

/* Makes MAY of the lots that a house may have. */
CPUBIND_PRIV void cpubind_priv_allow(cpubind_priv_table *t, int32_t house)
{
    const cpubind_list *list = &cpubind_priv_of(t, house)->allowed;
    const int32_t n = list->cpu == NULL ? 0 : list->n;
    for (int32_t lot = 0; lot < t->n_lot; lot++) {
        const int32_t id = t->host->cpu[t->sample[lot]];
        const int32_t at = cpubind_priv_seek(list->cpu, n, 0, id);
        const int32_t may = list->cpu == NULL || (at < n && list->cpu[at] == id);
        *cpubind_priv_cell(t, lot, house) = may ? CPUBIND_PRIV_MAY : CPUBIND_PRIV_NOT;
    }
}

/* Splits the lots of which a house has a part for a home, and notes whose homes the parts are.
 * t->hits: how many cores of each lot are of the home; t->next of these is the house. */
CPUBIND_PRIV void cpubind_priv_split_lots(cpubind_priv_table *t, int32_t house)
{
    const int32_t n_lot = t->n_lot;
    for (int32_t lot = 0; lot < n_lot; lot++) {
        int32_t part = t->split[lot] = lot;
        if (t->hits[lot] == 0)
            continue;
        t->distance[house * t->host->n_node + t->node[lot]] = 0;
        if (cpubind_priv_stand_of(t, lot, house) == CPUBIND_PRIV_NOT)
            continue;
        if (t->hits[lot] < t->left[lot]) {
            part = t->split[lot] = t->n_lot++;
            t->node[part] = t->node[lot];
            t->lot_width[part] = t->lot_width[lot];
            t->left[part] = t->hits[lot];
            t->left[lot] -= t->hits[lot];
            for (int32_t h = 0; h < t->n_house; h++)
                *cpubind_priv_cell(t, part, h) = *cpubind_priv_cell(t, lot, h);
        }
        t->is_home[part] = 1;
        *cpubind_priv_cell(t, part, house) = CPUBIND_PRIV_HOME;
    }
    for (int32_t c = 0; t->n_lot > n_lot && c < t->n_core; c++)
        if (t->next[c] == house)
            t->lot_of[c] = t->split[t->lot_of[c]];
}

/* The distance of a node from another one; more than FAR on different sockets. */
CPUBIND_PRIV int32_t cpubind_priv_apart(const cpubind_host *h, int32_t a, int32_t b)
{
    const int32_t steps = h->distance == NULL ? 1 : h->distance[a * h->n_node + b];
    if (h->socket == NULL ? h->distance != NULL && steps >= CPUBIND_FAR_DISTANCE
                          : h->socket[a] != h->socket[b])
        return steps + CPUBIND_PRIV_FAR;
    return steps;
}

/* From the nodes at distance 0 to all others: how far they are from the nearest of them. */
CPUBIND_PRIV void cpubind_priv_spread(const cpubind_host *h, int32_t *distance)
{
    for (int32_t a = 0; a < h->n_node; a++)
        for (int32_t b = 0; distance[a] == 0 && b < h->n_node; b++)
            distance[b] = cpubind_priv_min(distance[b], cpubind_priv_apart(h, a, b));
}

/* Reads the home of a house: the lots of it that it may have, and how far each node is from all
 * of it. */
CPUBIND_PRIV void cpubind_priv_read_home(cpubind_priv_table *t, int32_t house)
{
    const cpubind_host *h = t->host;
    const cpubind_list *home = &cpubind_priv_of(t, house)->home;
    const int32_t n_home = cpubind_priv_of(t, house)->is_anywhere ? 0 : home->n;
    const int32_t *cpu = h->cpu, *core_of = t->core_of, *lot_of = t->lot_of, n_cpu = h->n_cpu;
    int32_t *distance = t->distance + house * h->n_node, *hits = t->hits, *last = t->next;
    int32_t at = 0;
    cpubind_priv_fill(distance, h->n_node, CPUBIND_PRIV_LOST);
    cpubind_priv_fill(hits, t->n_lot, 0);
    for (int32_t i = 0; i < n_home; i++) {
        if (at < n_cpu && cpu[at] < home->cpu[i])
            at = cpubind_priv_seek(cpu, n_cpu, at, home->cpu[i]);
        if (at < n_cpu && cpu[at] == home->cpu[i]) {
            const int32_t core = core_of[at++];
            hits[lot_of[core]] += last[core] != house;
            last[core] = house;
        }
    }
    cpubind_priv_split_lots(t, house);
    cpubind_priv_spread(h, distance);
}

/* Line 1 of the rule, for a lot in nobody's home. Returns whether a house with a home claims
 * it. */
CPUBIND_PRIV int32_t cpubind_priv_claim_nearest(cpubind_priv_table *t, int32_t lot,
                                                int32_t limit)
{
    const int32_t n_node = t->host->n_node, node = t->node[lot];
    int32_t best = limit;
    for (int32_t h = 0; h < t->n_house; h++)
        if (cpubind_priv_stand_of(t, lot, h) == CPUBIND_PRIV_MAY)
            best = cpubind_priv_min(best, t->distance[h * n_node + node]);
    for (int32_t h = 0; h < t->n_house && best < limit; h++)
        if (cpubind_priv_stand_of(t, lot, h) == CPUBIND_PRIV_MAY &&
            t->distance[h * n_node + node] == best)
            *cpubind_priv_cell(t, lot, h) = CPUBIND_PRIV_CLAIM;
    return best < limit;
}

/* Line 1 of the rule. */
CPUBIND_PRIV void cpubind_priv_claim(cpubind_priv_table *t, int32_t reach)
{
    const int32_t limit = reach == CPUBIND_REACH_HOST ? CPUBIND_PRIV_LOST : CPUBIND_PRIV_FAR;
    int32_t *is_claimed = t->hits; /* by lot */
    for (int32_t lot = 0; lot < t->n_lot; lot++) {
        for (int32_t h = 0; h < t->n_house && reach == CPUBIND_REACH_HOME; h++)
            if (cpubind_priv_stand_of(t, lot, h) == CPUBIND_PRIV_MAY &&
                !cpubind_priv_of(t, h)->is_anywhere)
                *cpubind_priv_cell(t, lot, h) = CPUBIND_PRIV_NOT;
        is_claimed[lot] = t->is_home[lot] || cpubind_priv_claim_nearest(t, lot, limit);
    }
    for (int32_t h = 0; h < t->n_house; h++) {
        const int32_t is_anywhere = cpubind_priv_of(t, h)->is_anywhere != 0;
        t->allowed[h] = 0;
        for (int32_t lot = 0; lot < t->n_lot; lot++)
            if (cpubind_priv_stand_of(t, lot, h) != CPUBIND_PRIV_NOT)
                t->allowed[h] += t->left[lot] * t->lot_width[lot];
        t->elsewhere[h] = !is_anywhere;
        for (int32_t lot = 0; t->elsewhere[h] && lot < t->n_lot; lot++)
            t->elsewhere[h] = !cpubind_priv_claims(t, lot, h);
        for (int32_t lot = 0; lot < t->n_lot; lot++)
            if (cpubind_priv_stand_of(t, lot, h) == CPUBIND_PRIV_MAY &&
                (is_anywhere || (t->elsewhere[h] && !is_claimed[lot])))
                *cpubind_priv_cell(t, lot, h) = CPUBIND_PRIV_CLAIM;
    }
}

/* Puts lots that the same houses claim into one kind. */
CPUBIND_PRIV void cpubind_priv_find_kinds(cpubind_priv_table *t)
{
    t->n_kind = 0;
    for (int32_t lot = 0; lot < t->n_lot; lot++) {
        int32_t k = 0, h = 0;
        for (; k < t->n_kind; k++) {
            const int32_t other = t->lot[k];
            for (h = 0; h < t->n_house; h++)
                if (cpubind_priv_stand_of(t, lot, h) != cpubind_priv_stand_of(t, other, h))
                    break;
            if (h == t->n_house && t->lot_width[lot] == t->lot_width[other])
                break;
        }
        t->kind_of[lot] = k;
        if (k == t->n_kind) {
            t->n_kind++;
            t->lot[k] = lot;
            t->cores[k] = t->rivals[k] = 0;
            for (h = 0; h < t->n_house; h++)
                if (cpubind_priv_claims(t, lot, h))
                    t->rivals[k] += t->share[h];
        }
        t->cores[k] += t->left[lot];
    }
}

/* == Turns ================================================================== */

/* Whether house a is before house b: it is in want, or has less by weight. */
CPUBIND_PRIV int32_t cpubind_priv_is_before(const cpubind_priv_table *t, int32_t a, int32_t b)
{
    const int32_t lacks_a = t->total[a] < t->least[a], lacks_b = t->total[b] < t->least[b];
    if (lacks_a != lacks_b)
        return lacks_a;
    return (int64_t)t->total[a] * t->share[b] < (int64_t)t->total[b] * t->share[a];
}

/* Whether a house takes of kind a rather than of kind b: fewer others claim it, it is at home,
 * more of it is left. */
CPUBIND_PRIV int32_t cpubind_priv_is_better_kind(const cpubind_priv_table *t, int32_t house,
                                                 int32_t a, int32_t b)
{
    const int32_t stand_a = cpubind_priv_stand_of(t, t->lot[a], house);
    const int32_t stand_b = cpubind_priv_stand_of(t, t->lot[b], house);
    if (t->rivals[a] != t->rivals[b])
        return t->rivals[a] < t->rivals[b];
    if (stand_a != stand_b)
        return stand_a > stand_b;
    return t->cores[a] * t->lot_width[t->lot[a]] > t->cores[b] * t->lot_width[t->lot[b]];
}

/* The kind that a house takes of; NONE: none is left, or it has enough. */
CPUBIND_PRIV int32_t cpubind_priv_choose_kind(const cpubind_priv_table *t, int32_t house)
{
    int32_t best = CPUBIND_NONE;
    if (t->most[house] > 0 && t->total[house] >= t->most[house])
        return best;
    for (int32_t k = 0; k < t->n_kind; k++)
        if (cpubind_priv_claims(t, t->lot[k], house) && t->cores[k] > 0 &&
            (best == CPUBIND_NONE || cpubind_priv_is_better_kind(t, house, k, best)))
            best = k;
    return best;
}

/* The cores of a turn: half of an even share, at least one, and not past the minimum of a house
 * in want; all, where nobody else claims them; nor past what a house takes at most. */
CPUBIND_PRIV int32_t cpubind_priv_count_turn(const cpubind_priv_table *t, int32_t house,
                                             int32_t kind)
{
    const int32_t width = t->lot_width[t->lot[kind]];
    const int32_t lacks = t->least[house] - t->total[house], most = t->most[house];
    const int64_t share = t->share[house];
    int32_t n = (int32_t)(t->cores[kind] * share / (2 * (int64_t)t->rivals[kind]));
    if (lacks > 0)
        n = cpubind_priv_min(n, (lacks + width - 1) / width);
    if (share == t->rivals[kind])
        n = t->cores[kind];
    if (most > 0)
        n = cpubind_priv_min(n, (most - t->total[house] + width - 1) / width);
    return cpubind_priv_max(n, 1);
}

/* Line 2 of the rule: how many cores of each kind a house gets. */
CPUBIND_PRIV void cpubind_priv_take_turns(cpubind_priv_table *t)
{
    int32_t *is_done = t->end; /* by house: no kind is left for it */
    cpubind_priv_fill(t->total, t->n_house, 0);
    cpubind_priv_fill(is_done, t->n_house, 0);
    for (;;) {
        int32_t who = CPUBIND_NONE, kind, n;
        for (int32_t h = 0; h < t->n_house; h++)
            if (!is_done[h] && (who == CPUBIND_NONE || cpubind_priv_is_before(t, h, who)))
                who = h;
        if (who == CPUBIND_NONE)
            return;
        kind = cpubind_priv_choose_kind(t, who);
        if (kind == CPUBIND_NONE) {
            is_done[who] = 1;
            continue;
        }
        n = cpubind_priv_count_turn(t, who, kind);
        *cpubind_priv_cell(t, t->lot[kind], who) += 4 * n;
        t->cores[kind] -= n;
        t->total[who] += n * t->lot_width[t->lot[kind]];
    }
}

/* == Places ================================================================= */

/* Puts the cores into a row, lot by lot; t->at is where each lot begins. */
CPUBIND_PRIV void cpubind_priv_sort_cores(cpubind_priv_table *t)
{
    const int32_t *lot_of = t->lot_of, n_core = t->n_core;
    int32_t n = 0;
    for (int32_t lot = 0; lot < t->n_lot; lot++) {
        t->at[lot] = t->hits[lot] = n;
        n += t->left[lot];
    }
    for (int32_t c = 0; c < n_core;) {
        const int32_t lot = lot_of[c];
        int32_t *at = t->row + t->hits[lot];
        while (c < n_core && lot_of[c] == lot)
            *at++ = c++;
        t->hits[lot] = (int32_t)(at - t->row);
    }
}

/* Whether a house takes its next n cores of lot a rather than of lot b: it has some on that
 * node, it is nearer, they fit it better. */
CPUBIND_PRIV int32_t cpubind_priv_is_better_lot(const cpubind_priv_table *t, int32_t house,
                                                int32_t n, int32_t a, int32_t b)
{
    const int32_t *distance = t->distance + house * t->host->n_node;
    const int32_t own_a = t->on_node[t->node[a]] == house;
    const int32_t own_b = t->on_node[t->node[b]] == house;
    if (own_a != own_b)
        return own_a;
    if (distance[t->node[a]] != distance[t->node[b]])
        return distance[t->node[a]] < distance[t->node[b]];
    if (t->left[a] >= n && t->left[b] >= n)
        return t->left[a] < t->left[b];
    return t->left[a] > t->left[b];
}

/* Takes n cores of a kind for a house, of as few lots as it can. */
CPUBIND_PRIV void cpubind_priv_choose_lots(cpubind_priv_table *t, int32_t house, int32_t kind,
                                           int32_t n)
{
    while (n > 0) {
        int32_t best = CPUBIND_NONE, more;
        for (int32_t lot = 0; lot < t->n_lot; lot++)
            if (t->kind_of[lot] == kind && t->left[lot] > 0 &&
                (best == CPUBIND_NONE || cpubind_priv_is_better_lot(t, house, n, lot, best)))
                best = lot;
        more = cpubind_priv_min(n, t->left[best]);
        t->took[best] += more;
        t->left[best] -= more;
        t->on_node[t->node[best]] = house;
        n -= more;
    }
}

/* Line 3 of the rule, the home first: t->took is how many cores of each lot a house gets. */
CPUBIND_PRIV void cpubind_priv_find_place(cpubind_priv_table *t, int32_t house)
{
    cpubind_priv_fill(t->took, t->n_lot, 0);
    for (int32_t stand = CPUBIND_PRIV_HOME; stand >= CPUBIND_PRIV_CLAIM; stand--)
        for (int32_t k = 0; k < t->n_kind; k++)
            if (cpubind_priv_stand_of(t, t->lot[k], house) == stand)
                cpubind_priv_choose_lots(t, house, k,
                                         *cpubind_priv_cell(t, t->lot[k], house) >> 2);
}

/* The cores of a house in a row, the home first, and how they are cut. */
typedef struct cpubind_priv_cuts {
    const int32_t *row;
    int32_t n_home, n; /* cores */
    int32_t home, all; /* CPUs */
    int32_t parts;
} cpubind_priv_cuts;

/* Whether a cut before row[at] is where a cache ends. */
CPUBIND_PRIV int32_t cpubind_priv_is_end(const cpubind_priv_table *t,
                                         const cpubind_priv_cuts *c, int32_t at)
{
    return at == 0 || at == c->n_home || at == c->n ||
           t->cache[c->row[at]] != t->cache[c->row[at - 1]];
}

/* Whether home may be cut after `sum` CPUs, of which the parts before have `before`: this part
 * and those after it keep half of an even share at least, and get no more than all their
 * CPUs. */
CPUBIND_PRIV int32_t cpubind_priv_is_fair(const cpubind_priv_cuts *c, int32_t part,
                                          int64_t before, int64_t sum)
{
    const int64_t parts = c->parts, after = parts - part - 1, rest = c->home - sum;
    return 2 * parts * (sum - before) >= c->home && parts * (sum - before) <= c->all &&
           2 * parts * rest >= c->home * after && parts * rest <= c->all * after;
}

/* Moves a cut of the home to the nearest end of a cache, if that is fair. *sum: the CPUs before
 * it; `before`: before the cut before. */
CPUBIND_PRIV int32_t cpubind_priv_move_cut(const cpubind_priv_table *t,
                                           const cpubind_priv_cuts *c, int32_t part, int32_t at,
                                           int32_t before, int32_t *sum)
{
    int32_t up = at, down = at, sum_up = *sum, sum_down = *sum, is_up, is_down;
    while (!cpubind_priv_is_end(t, c, up))
        sum_up += t->width[c->row[up++]];
    while (!cpubind_priv_is_end(t, c, down))
        sum_down -= t->width[c->row[--down]];
    is_up = cpubind_priv_is_fair(c, part, before, sum_up);
    is_down = cpubind_priv_is_fair(c, part, before, sum_down);
    if (is_up && (!is_down || up - at <= at - down)) {
        *sum = sum_up;
        return up;
    }
    if (!is_down)
        return at;
    *sum = sum_down;
    return down;
}

/* Line 4 of the rule: where each part ends in the home and in the rest. What is left of the
 * home after a cut that was moved is cut evenly again. Returns how many caches are cut. */
CPUBIND_PRIV int32_t cpubind_priv_cut(const cpubind_priv_table *t, const cpubind_priv_cuts *c,
                                      int32_t by_cache, int32_t *home_end, int32_t *rest_end)
{
    const int32_t parts = c->parts;
    int32_t at = 0, sum = 0, rest = c->n_home, rest_sum = 0, n_cut = 0;
    int32_t moved = 0, moved_sum = 0; /* parts and CPUs before the last cut that was moved */
    for (int32_t part = 0; part < parts; part++) {
        const int32_t before = sum, left = parts - moved;
        const int32_t all_end = (int32_t)((c->all * (int64_t)(part + 1) + parts - 1) / parts);
        const int64_t share = (c->home - moved_sum) * (int64_t)(part + 1 - moved);
        const int32_t end = moved_sum + (int32_t)((share + left - 1) / left);
        while (sum < end)
            sum += t->width[c->row[at++]];
        if (by_cache) {
            const int32_t to = cpubind_priv_move_cut(t, c, part, at, before, &sum);
            moved = to == at ? moved : part + 1;
            moved_sum = to == at ? moved_sum : sum;
            at = to;
        }
        while (sum + rest_sum < all_end)
            rest_sum += t->width[c->row[rest++]];
        home_end[part] = at;
        rest_end[part] = rest;
        n_cut += !cpubind_priv_is_end(t, c, at) + !cpubind_priv_is_end(t, c, rest);
    }
    return n_cut;
}

/* Gives cores of a row to a device. */
CPUBIND_PRIV void cpubind_priv_give(cpubind_priv_table *t, const int32_t *row, int32_t from,
                                    int32_t to, int32_t d)
{
    const int32_t *width = t->width;
    int32_t *owner = t->owner, size = 0;
    for (int32_t i = from; i < to; i++) {
        owner[row[i]] = d;
        size += width[row[i]];
    }
    t->size[d] += size;
}

/* Appends to a row the cores that a house took of lots to which it stands so. */
CPUBIND_PRIV void cpubind_priv_line_up(cpubind_priv_table *t, int32_t house, int32_t stand,
                                       int32_t *row, cpubind_priv_cuts *c)
{
    for (int32_t lot = 0; lot < t->n_lot; lot++) {
        const int32_t n = t->took[lot], *from = t->row + t->at[lot];
        if (n == 0 || cpubind_priv_stand_of(t, lot, house) != stand)
            continue;
        for (int32_t i = 0; i < n; i++)
            row[i] = from[i];
        row += n;
        t->at[lot] += n;
        c->n += n;
        c->all += n * t->lot_width[lot];
    }
}

/* Gives the cores of a house to its devices. */
CPUBIND_PRIV void cpubind_priv_cut_house(cpubind_priv_table *t, int32_t house)
{
    int32_t *row = t->scratch, *home_end = t->end, *rest_end = home_end + t->n_device;
    int32_t *home_even = rest_end + t->n_device, *rest_even = home_even + t->n_device;
    int32_t part = 0, n_cut;
    cpubind_priv_cuts c = {row, 0, 0, 0, 0, t->members[house]};
    cpubind_priv_line_up(t, house, CPUBIND_PRIV_HOME, row, &c);
    c.n_home = c.n;
    c.home = c.all;
    cpubind_priv_line_up(t, house, CPUBIND_PRIV_CLAIM, row + c.n, &c);
    n_cut = cpubind_priv_cut(t, &c, 0, home_even, rest_even);
    if (n_cut == 0 || c.n_home == c.n ||
        cpubind_priv_cut(t, &c, 1, home_end, rest_end) >= n_cut) {
        home_end = home_even;
        rest_end = rest_even;
    }
    for (int32_t d = t->first[house]; d != CPUBIND_NONE; d = t->next_of[d], part++) {
        t->size[d] = 0;
        cpubind_priv_give(t, row, part ? home_end[part - 1] : 0, home_end[part], d);
        cpubind_priv_give(t, row, part ? rest_end[part - 1] : c.n_home, rest_end[part], d);
    }
}

/* Lines 3 and 4 of the rule. */
CPUBIND_PRIV void cpubind_priv_give_places(cpubind_priv_table *t)
{
    cpubind_priv_sort_cores(t);
    cpubind_priv_fill(t->owner, t->n_core, CPUBIND_NONE);
    cpubind_priv_fill(t->on_node, t->host->n_node, CPUBIND_NONE);
    for (int32_t h = 0; h < t->n_house; h++) {
        cpubind_priv_find_place(t, h);
        cpubind_priv_cut_house(t, h);
    }
}

/* == Devices in want ======================================================== */

/* Whether device d is elsewhere and hidden: it is not served. */
CPUBIND_PRIV int32_t cpubind_priv_is_unseen(const cpubind_priv_table *t, int32_t d)
{
    return t->elsewhere[t->house_of[d]] && t->device[d].is_hidden;
}

/* What a device is served up to, and what the others keep. */
typedef enum cpubind_priv_want {
    CPUBIND_PRIV_MINIMUM,
    CPUBIND_PRIV_FLOOR,
    CPUBIND_PRIV_OF_THE_LAST /* CPUs are too few: of those that lack more */
} cpubind_priv_want;

CPUBIND_PRIV int32_t cpubind_priv_goal(const cpubind_priv_table *t, int32_t d,
                                       cpubind_priv_want want)
{
    return want == CPUBIND_PRIV_FLOOR ? t->floor[d] : t->device[d].minimum;
}

/* Whether device d may have a core of width w of the device that has it. */
CPUBIND_PRIV int32_t cpubind_priv_can_spare(const cpubind_priv_table *t, int32_t from,
                                            int32_t d, int32_t w, cpubind_priv_want want)
{
    const int32_t after = t->size[from] - w;
    const int32_t is_guest = t->elsewhere[t->house_of[d]];
    if (want == CPUBIND_PRIV_OF_THE_LAST) {
        const int32_t lacks = t->device[from].minimum - t->size[from];
        const int32_t mine = t->device[d].minimum - t->size[d];
        return lacks > mine || (lacks == mine && from > d);
    }
    if (want == CPUBIND_PRIV_FLOOR &&
        (after < t->size[d] + w || (is_guest && t->device[from].is_hidden)))
        return 0;
    return after >= cpubind_priv_goal(t, from, want);
}

/* Whether the device that has a core keeps its floor without it. */
CPUBIND_PRIV int32_t cpubind_priv_keeps_floor(const cpubind_priv_table *t, int32_t core)
{
    return t->size[t->owner[core]] - t->width[core] >= t->floor[t->owner[core]];
}

/* Whether device d takes core a rather than core b: an idle one, the nearest. Else one that
 * leaves the other its floor; for a guest, one of no hidden device; in nobody's home; nearer;
 * of a larger pool, from its end on. */
CPUBIND_PRIV int32_t cpubind_priv_is_better(const cpubind_priv_table *t, int32_t d, int32_t a,
                                            int32_t b)
{
    const int32_t *distance = t->distance + t->house_of[d] * t->host->n_node;
    const int32_t lot[2] = {t->lot_of[a], t->lot_of[b]};
    const int32_t steps[2] = {distance[t->node[lot[0]]], distance[t->node[lot[1]]]};
    const int32_t from = t->owner[a], other = t->owner[b];
    if (from == CPUBIND_NONE || other == CPUBIND_NONE)
        return from == other ? steps[0] < steps[1] : from == CPUBIND_NONE;
    if (cpubind_priv_keeps_floor(t, a) != cpubind_priv_keeps_floor(t, b))
        return cpubind_priv_keeps_floor(t, a);
    if (t->elsewhere[t->house_of[d]] &&
        !t->device[from].is_hidden != !t->device[other].is_hidden)
        return !t->device[from].is_hidden;
    if (t->is_home[lot[0]] != t->is_home[lot[1]])
        return t->is_home[lot[1]];
    return steps[0] != steps[1] ? steps[0] < steps[1] : t->size[from] >= t->size[other];
}

/* The core that device d takes, or NONE. */
CPUBIND_PRIV int32_t cpubind_priv_find_core(const cpubind_priv_table *t, int32_t d,
                                            cpubind_priv_want want)
{
    int32_t best = CPUBIND_NONE;
    for (int32_t c = 0; c < t->n_core; c++) {
        const int32_t from = t->owner[c];
        if (from == d ||
            cpubind_priv_stand_of(t, t->lot_of[c], t->house_of[d]) == CPUBIND_PRIV_NOT ||
            (from != CPUBIND_NONE && !cpubind_priv_can_spare(t, from, d, t->width[c], want)))
            continue;
        if (best == CPUBIND_NONE || cpubind_priv_is_better(t, d, c, best))
            best = c;
    }
    return best;
}

CPUBIND_PRIV void cpubind_priv_take(cpubind_priv_table *t, int32_t d, int32_t core)
{
    const int32_t from = t->owner[core], width = t->width[core];
    const int32_t is_idle = from == CPUBIND_NONE;
    if (t->elsewhere[t->house_of[d]] && (!is_idle || t->has_unseen))
        t->disputed += width;
    if (!is_idle) {
        t->size[from] -= width;
        t->taken += width;
    }
    t->owner[core] = d;
    t->size[d] += width;
}

/* Serves the devices below a goal: guests, or all others. The one that lacks least of its
 * minimum is next, or the one with the least. Returns whether one stays below. */
CPUBIND_PRIV int32_t cpubind_priv_serve(cpubind_priv_table *t, int32_t guests,
                                        cpubind_priv_want want)
{
    for (;;) {
        int32_t who = CPUBIND_NONE, what = CPUBIND_NONE, least = 0, is_below = 0;
        for (int32_t d = 0; d < t->n_device; d++) {
            const int32_t lacks = cpubind_priv_goal(t, d, want) - t->size[d];
            const int32_t order = want == CPUBIND_PRIV_FLOOR ? t->size[d] : lacks;
            int32_t core;
            if (lacks <= 0 || t->elsewhere[t->house_of[d]] != guests ||
                cpubind_priv_is_unseen(t, d))
                continue;
            is_below = 1;
            if (who != CPUBIND_NONE && order >= least)
                continue;
            core = cpubind_priv_find_core(t, d, want);
            if (core == CPUBIND_NONE)
                continue;
            who = d;
            what = core;
            least = order;
        }
        if (who == CPUBIND_NONE)
            return is_below;
        cpubind_priv_take(t, who, what);
    }
}

/* Device d takes a CPU of one that takes another for it, and so on, to one that can be had: the
 * shortest such row. Cores are cut. Returns whether there is one. */
CPUBIND_PRIV int32_t cpubind_priv_move_up(cpubind_priv_table *t, int32_t d)
{
    int32_t *before = t->end, *gives = before + t->n_device, *row = gives + t->n_device, n = 1;
    cpubind_priv_fill(before, t->n_device, CPUBIND_NONE);
    before[d] = row[0] = d;
    for (int32_t at = 0; at < n; at++) {
        int32_t who = row[at], what = cpubind_priv_find_core(t, who, CPUBIND_PRIV_MINIMUM);
        for (; what != CPUBIND_NONE; who = before[who]) {
            cpubind_priv_take(t, who, what);
            if (who == d)
                return 1;
            what = gives[who];
        }
        for (int32_t c = 0; c < t->n_core; c++) {
            const int32_t from = t->owner[c];
            if (from == CPUBIND_NONE || before[from] != CPUBIND_NONE ||
                !cpubind_priv_stand_of(t, t->lot_of[c], t->house_of[who]))
                continue;
            before[from] = who;
            gives[from] = c;
            row[n++] = from;
        }
    }
    return 0;
}

/* The weights of all devices that may have a CPU which the house may have; known: but for the
 * unseen. */
CPUBIND_PRIV int64_t cpubind_priv_sum_rivals(const cpubind_priv_table *t, int32_t house,
                                             int32_t known)
{
    int64_t sum = 0;
    for (int32_t h = 0; h < t->n_house; h++) {
        int32_t lot = 0;
        while (lot < t->n_lot &&
               (!cpubind_priv_stand_of(t, lot, house) || !cpubind_priv_stand_of(t, lot, h)))
            lot++;
        sum += lot == t->n_lot ? 0 : t->share[h] - (known ? t->unseen[h] : 0);
    }
    return sum;
}

/* The floor of a device: half of a share beside devices whose weights are `sum`. */
CPUBIND_PRIV int32_t cpubind_priv_floor(const cpubind_priv_table *t, int32_t d, int64_t sum)
{
    const cpubind_device *one = &t->device[d];
    const int32_t house = t->house_of[d];
    const int64_t all = t->allowed[house] * (int64_t)cpubind_priv_weight(one);
    int32_t floor = sum == 0 ? 0 : (int32_t)(all / (2 * sum));
    if (!t->elsewhere[house])
        floor = cpubind_priv_min(floor, one->minimum + 7);
    if (one->most > 0)
        floor = cpubind_priv_min(floor, one->most);
    return cpubind_priv_max(floor, one->minimum);
}

/* Sets the floors. When guests are served, theirs is a share beside those that they know. */
CPUBIND_PRIV void cpubind_priv_set_floors(cpubind_priv_table *t, int32_t guests)
{
    cpubind_priv_fill(t->unseen, t->n_house, 0);
    for (int32_t d = 0; d < t->n_device; d++)
        if (cpubind_priv_is_unseen(t, d)) {
            t->unseen[t->house_of[d]] += cpubind_priv_weight(&t->device[d]);
            t->has_unseen = 1;
        }
    for (int32_t h = 0; h < t->n_house; h++) {
        const int32_t is_set = !guests || t->elsewhere[h];
        const int64_t sum = is_set ? cpubind_priv_sum_rivals(t, h, guests) : 0;
        for (int32_t d = t->first[h]; is_set && d != CPUBIND_NONE; d = t->next_of[d])
            if (!guests || !t->device[d].is_hidden)
                t->floor[d] = cpubind_priv_floor(t, d, sum);
    }
}

/* From here on each CPU is a core of its own, and t->core_of the CPU itself. */
CPUBIND_PRIV void cpubind_priv_cut_cores(cpubind_priv_table *t)
{
    const int32_t n = t->host->n_cpu;
    for (int32_t i = n - 1; i >= 0; i--) { /* the number of a core is at most i */
        t->lot_of[i] = t->lot_of[t->core_of[i]];
        t->owner[i] = t->owner[t->core_of[i]];
        t->width[i] = 1;
        t->core_of[i] = i;
    }
    t->n_core = n;
}

/* Line 5 of the rule: first for those that every process knows of. */
CPUBIND_PRIV void cpubind_priv_serve_all(cpubind_priv_table *t)
{
    int32_t is_cut = 0;
    for (int32_t guests = 0; guests < 2; guests++) {
        int32_t is_below;
        cpubind_priv_set_floors(t, guests);
        is_below = cpubind_priv_serve(t, guests, CPUBIND_PRIV_MINIMUM);
        if (!is_cut)
            (void)cpubind_priv_serve(t, guests, CPUBIND_PRIV_FLOOR);
        if (!is_below)
            continue;
        if (!is_cut)
            cpubind_priv_cut_cores(t);
        is_cut = 1;
        (void)cpubind_priv_serve(t, guests, CPUBIND_PRIV_MINIMUM);
        for (int32_t d = 0; d < t->n_device && !guests; d++)
            while (t->size[d] < t->device[d].minimum && !t->elsewhere[t->house_of[d]] &&
                   cpubind_priv_move_up(t, d)) {
            }
        (void)cpubind_priv_serve(t, guests, CPUBIND_PRIV_OF_THE_LAST);
    }
}

/* == The other rules ======================================================== */

/* The cores and lots of a plan, who may have them, and whose homes they are. core: NULL: each
 * CPU is one. */
CPUBIND_PRIV void cpubind_priv_read(cpubind_priv_table *t, const int32_t *core)
{
    cpubind_priv_make_cores(t, core);
    cpubind_priv_fill(t->next, t->n_core, CPUBIND_NONE);
    for (int32_t h = 0; h < t->n_house; h++)
        cpubind_priv_allow(t, h);
    for (int32_t h = 0; h < t->n_house; h++)
        cpubind_priv_read_home(t, h);
}

CPUBIND_PRIV void cpubind_priv_plan_turns(cpubind_priv_table *t, int32_t reach)
{
    cpubind_priv_read(t, t->host->core);
    cpubind_priv_claim(t, reach);
    cpubind_priv_find_kinds(t);
    cpubind_priv_take_turns(t);
    cpubind_priv_give_places(t);
    cpubind_priv_serve_all(t);
}

CPUBIND_PRIV_PUBLIC void cpubind_slice(int32_t n, int32_t total, int32_t slot, int32_t *first,
                                       int32_t *count)
{
    *first = slot * (n / total) + cpubind_priv_min(slot, n % total);
    *count = n / total + (slot < n % total);
}

/* Slices of the CPUs that each device may have, by its index. */
CPUBIND_PRIV cpubind_status cpubind_priv_plan_slices(cpubind_priv_table *t, cpubind_report *r)
{
    int32_t n = 0, at = 0, passed = 0, first, count, *is_in = t->scratch;
    cpubind_priv_fill(t->owner, t->host->n_cpu, CPUBIND_NONE);
    for (int32_t d = 0; d < t->n_device; d++) {
        const cpubind_list *list = &t->device[d].allowed;
        if (d == 0 || !cpubind_priv_same_list(list, &t->device[d - 1].allowed)) {
            const cpubind_status s = cpubind_priv_check_allowed(list, d, r);
            if (s != CPUBIND_OK)
                return s;
            cpubind_priv_fill(is_in, t->host->n_cpu, 0);
            n = list->cpu == NULL ? t->host->n_cpu : cpubind_priv_mark(t->host, list, is_in);
            at = passed = 0;
        }
        cpubind_slice(n, t->n_device, d, &first, &count);
        if (list->cpu == NULL)
            cpubind_priv_fill(t->owner + first, count, d);
        for (; list->cpu != NULL && passed < first + count; at++) {
            if (is_in[at] && passed >= first)
                t->owner[at] = d;
            passed += is_in[at];
        }
    }
    return CPUBIND_OK;
}

/* The node of a home that is on one node, or NONE. */
CPUBIND_PRIV int32_t cpubind_priv_one_node(const cpubind_priv_table *t, int32_t house)
{
    int32_t node = CPUBIND_NONE;
    for (int32_t lot = 0; lot < t->n_lot; lot++) {
        if (cpubind_priv_stand_of(t, lot, house) != CPUBIND_PRIV_HOME)
            continue;
        if (node != CPUBIND_NONE && node != t->node[lot])
            return CPUBIND_NONE;
        node = t->node[lot];
    }
    return node;
}

/* Makes CLAIM of the lots of the next node, for a house whose home is on one node. The next is
 * the one after it that has CPUs, after the last the first. */
CPUBIND_PRIV void cpubind_priv_extend(cpubind_priv_table *t, int32_t house,
                                      const int32_t *has_cpu)
{
    int32_t node = cpubind_priv_one_node(t, house);
    if (node == CPUBIND_NONE)
        return;
    do
        node = (node + 1) % t->host->n_node;
    while (!has_cpu[node]);
    for (int32_t lot = 0; lot < t->n_lot; lot++)
        if (t->node[lot] == node && cpubind_priv_stand_of(t, lot, house) == CPUBIND_PRIV_MAY)
            *cpubind_priv_cell(t, lot, house) = CPUBIND_PRIV_CLAIM;
}

CPUBIND_PRIV int32_t cpubind_priv_have_same(const cpubind_priv_table *t, int32_t house,
                                            int32_t other)
{
    for (int32_t lot = 0; lot < t->n_lot; lot++)
        if (cpubind_priv_claims(t, lot, house) != cpubind_priv_claims(t, lot, other))
            return 0;
    return 1;
}

/* Whether a CPU is in two pools that are not equal; the first of these is reported. */
CPUBIND_PRIV int32_t cpubind_priv_find_overlap(const cpubind_priv_table *t, cpubind_report *r)
{
    cpubind_priv_fill(t->hits, t->n_lot, 0); /* by lot: no CPU of it is */
    for (int32_t i = 0; i < t->n_core; i++) {
        const int32_t lot = t->lot_of[i];
        for (int32_t h = 0; h < t->n_house && !t->hits[lot]; h++)
            for (int32_t k = h + 1; k < t->n_house; k++) {
                if (!cpubind_priv_claims(t, lot, h) || !cpubind_priv_claims(t, lot, k) ||
                    cpubind_priv_have_same(t, h, k))
                    continue;
                r->device = t->first[h];
                r->other = t->first[k];
                r->cpu = t->host->cpu[i];
                return 1;
            }
        t->hits[lot] = 1;
    }
    return 0;
}

/* Cuts the pool of device d, the first of those that have it, ascending; the last has the
 * rest. is_kept: hidden devices get no CPU, and a CPU of several pools is the first one's. */
CPUBIND_PRIV void cpubind_priv_cut_equal(cpubind_priv_table *t, int32_t d, int32_t is_kept)
{
    int32_t *sharer = t->end, parts = 0, part, n = 0, passed = 0;
    for (int32_t e = d; e < t->n_device; e++)
        if (cpubind_priv_have_same(t, t->house_of[d], t->house_of[e]))
            sharer[parts++] = e;
    for (int32_t lot = 0; lot < t->n_lot; lot++)
        n += cpubind_priv_claims(t, lot, t->house_of[d]) ? t->left[lot] : 0;
    part = n < parts ? parts - 1 : 0;
    for (int32_t c = 0; c < t->n_core; c++) {
        if (!cpubind_priv_claims(t, t->lot_of[c], t->house_of[d]))
            continue;
        if (passed++ == n / parts * (part + 1) && part < parts - 1)
            part++;
        if (t->owner[c] == CPUBIND_NONE && (!is_kept || !t->device[sharer[part]].is_hidden))
            t->owner[c] = sharer[part];
    }
}

CPUBIND_PRIV cpubind_status cpubind_priv_plan_affinity(cpubind_priv_table *t,
                                                       const cpubind_policy *policy,
                                                       cpubind_report *r)
{
    const int32_t is_kept = policy->overlap == CPUBIND_OVERLAP_KEEP;
    int32_t is_twice;
    cpubind_priv_read(t, NULL);
    cpubind_priv_fill(t->on_node, t->host->n_node, 0);
    for (int32_t lot = 0; lot < t->n_lot; lot++)
        t->on_node[t->node[lot]] = 1;
    for (int32_t h = 0; h < t->n_house; h++)
        cpubind_priv_extend(t, h, t->on_node);
    is_twice = cpubind_priv_find_overlap(t, r);
    if (is_twice && policy->overlap == CPUBIND_OVERLAP_REFUSE)
        return CPUBIND_ERR_OVERLAP;
    if (is_twice && !is_kept) {
        for (int32_t lot = 0; lot < t->n_lot; lot++)
            for (int32_t h = 0; h < t->n_house && t->is_home[lot]; h++)
                if (cpubind_priv_stand_of(t, lot, h) == CPUBIND_PRIV_CLAIM)
                    *cpubind_priv_cell(t, lot, h) = CPUBIND_PRIV_MAY;
        cpubind_priv_find_kinds(t);
        cpubind_priv_take_turns(t);
        cpubind_priv_give_places(t);
        return CPUBIND_OK;
    }
    cpubind_priv_fill(t->owner, t->n_core, CPUBIND_NONE);
    for (int32_t d = 0; d < t->n_device; d++) {
        int32_t e = 0;
        while (!cpubind_priv_have_same(t, t->house_of[e], t->house_of[d]))
            e++;
        if (e == d)
            cpubind_priv_cut_equal(t, d, is_kept);
    }
    return CPUBIND_OK;
}

/* Whole clusters of a node for the devices whose home it is, ascending, each of CPUs that it
 * may have. Returns whether it has one for each. */
CPUBIND_PRIV int32_t cpubind_priv_cut_node(cpubind_priv_table *t, int32_t node, int32_t cluster,
                                           int32_t is_spare)
{
    int32_t has_all = 1;
    for (int32_t d = 0; d < t->n_device; d++) {
        int32_t n = 0;
        if (cpubind_priv_one_node(t, t->house_of[d]) != node)
            continue;
        for (int32_t c = 0; !is_spare && n < cluster && c < t->n_core; c++) {
            const int32_t lot = t->lot_of[c];
            if (t->node[lot] != node || t->owner[c] != CPUBIND_NONE ||
                cpubind_priv_stand_of(t, lot, t->house_of[d]) == CPUBIND_PRIV_NOT)
                continue;
            t->owner[c] = d;
            n++;
        }
        has_all &= n == cluster;
    }
    return has_all;
}

CPUBIND_PRIV void cpubind_priv_plan_clusters(cpubind_priv_table *t,
                                             const cpubind_policy *policy)
{
    const int32_t n_spare = policy->overlap == CPUBIND_OVERLAP_RESOLVE ? 0 : policy->n_spare;
    int32_t has_all = 1;
    cpubind_priv_read(t, NULL);
    cpubind_priv_fill(t->owner, t->n_core, CPUBIND_NONE);
    for (int32_t node = 0; node < t->host->n_node; node++)
        has_all &= cpubind_priv_cut_node(t, node, policy->cluster, node < n_spare);
    if (!has_all)
        cpubind_priv_fill(t->owner, t->n_core, CPUBIND_NONE);
}

/* == The plan =============================================================== */

/* Lays the arrays of a table into the scratch; CPUBIND_WORK is their sum. */
CPUBIND_PRIV void cpubind_priv_lay_out(cpubind_priv_table *t, int32_t *work)
{
    int32_t **by_cpu[] = {&t->core_of, &t->width, &t->lot_of, &t->next,      &t->cache,
                          &t->owner,   &t->row,   &t->node,   &t->lot_width, &t->sample,
                          &t->left,    &t->at,    &t->hits,   &t->split,     &t->took,
                          &t->kind_of, &t->lot,   &t->cores,  &t->rivals,    &t->is_home};
    int32_t **by_device[] = {&t->first, &t->members, &t->total,    &t->elsewhere, &t->least,
                             &t->most,  &t->share,   &t->house_of, &t->next_of,   &t->size,
                             &t->floor, &t->allowed, &t->unseen};
    const int32_t n = t->host->n_cpu;
    for (size_t i = 0; i < sizeof by_cpu / sizeof *by_cpu; i++)
        *by_cpu[i] = cpubind_priv_carve(&work, n);
    for (size_t i = 0; i < sizeof by_device / sizeof *by_device; i++)
        *by_device[i] = cpubind_priv_carve(&work, t->n_device);
    t->on_node = cpubind_priv_carve(&work, t->host->n_node);
    t->scratch = cpubind_priv_carve(&work, 3 * n);
    t->end = cpubind_priv_carve(&work, 4 * t->n_device);
    t->distance = cpubind_priv_carve(&work, t->n_device * t->host->n_node);
    t->cell = work;
}

CPUBIND_PRIV_PUBLIC cpubind_status cpubind_plan(const cpubind_host *host,
                                                const cpubind_device *device, int32_t n_device,
                                                const cpubind_policy *policy, int32_t *owner,
                                                int32_t *work, cpubind_report *report)
{
    cpubind_report unwanted, *r = report;
    cpubind_priv_table t;
    cpubind_status s;
    const char *wrong = host == NULL     ? "host"
                        : device == NULL ? "device"
                        : owner == NULL  ? "owner"
                        : work == NULL   ? "work"
                                         : cpubind_priv_check_policy(policy);
    if (r == NULL)
        r = &unwanted;
    cpubind_priv_clear(r);
    if (n_device < 1 || n_device > CPUBIND_MAX_DEVICES)
        wrong = "n_device";
    if (wrong != NULL)
        return cpubind_priv_refuse(r, wrong, CPUBIND_NONE, CPUBIND_NONE);
    s = cpubind_priv_check_host(host, r);
    if (s != CPUBIND_OK)
        return s;
    t.host = host;
    t.device = device;
    t.n_device = n_device;
    t.taken = t.disputed = t.has_unseen = 0;
    t.has_wants = policy->rule == CPUBIND_RULE_TURNS;
    cpubind_priv_lay_out(&t, work);
    s = policy->rule == CPUBIND_RULE_SLICE ? cpubind_priv_plan_slices(&t, r)
                                           : cpubind_priv_find_houses(&t, r);
    if (s == CPUBIND_OK && policy->rule == CPUBIND_RULE_TURNS)
        cpubind_priv_plan_turns(&t, policy->reach);
    if (s == CPUBIND_OK && policy->rule == CPUBIND_RULE_CLUSTER)
        cpubind_priv_plan_clusters(&t, policy);
    if (s == CPUBIND_OK && policy->rule == CPUBIND_RULE_AFFINITY)
        s = cpubind_priv_plan_affinity(&t, policy, r);
    for (int32_t i = 0; s == CPUBIND_OK && i < host->n_cpu; i++)
        owner[i] = t.owner[t.has_wants ? t.core_of[i] : i];
    r->taken = t.taken;
    r->disputed = t.disputed;
    return s;
}

/* == Roles ================================================================== */

/* How far each node is from the home of a device: 0 if it has CPUs of it. */
CPUBIND_PRIV void cpubind_priv_find_nearest(const cpubind_host *h, const cpubind_device *d,
                                            int32_t *nearest)
{
    int32_t at = 0;
    cpubind_priv_fill(nearest, h->n_node, CPUBIND_PRIV_LOST);
    for (int32_t i = 0; i < d->home.n && !d->is_anywhere; i++) {
        at = cpubind_priv_seek(h->cpu, h->n_cpu, at, d->home.cpu[i]);
        if (at < h->n_cpu && h->cpu[at] == d->home.cpu[i])
            nearest[h->node[at++]] = 0;
    }
    cpubind_priv_spread(h, nearest);
}

/* A pool whose roles are placed. */
typedef struct cpubind_priv_pool {
    const cpubind_roles *roles;
    int32_t n, n_near, n_front, n_back, parts;
    int32_t *order; /* CPUs by their index in the host: near ones first, core by core */
    int32_t *core;  /* by index: the number of its core in this order */
    int32_t *start, *scratch; /* n_cpu + 1 elements each */
} cpubind_priv_pool;

CPUBIND_PRIV void cpubind_priv_order_pool(cpubind_priv_pool *p, const cpubind_host *h,
                                          const int32_t *owner, int32_t d,
                                          const int32_t *nearest)
{
    int32_t *number = p->scratch, n_core = 0;
    p->n = p->n_near = 0;
    cpubind_priv_fill(number, h->n_cpu, CPUBIND_NONE);
    cpubind_priv_fill(p->start, h->n_cpu + 1, 0);
    for (int32_t pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < h->n_cpu; i++) {
            const int32_t is_near = p->roles->by_id || nearest[h->node[i]] == 0;
            const int32_t whole = h->core == NULL || p->roles->by_id ? i : h->core[i];
            if (owner[i] != d || is_near == pass)
                continue;
            if (number[whole] == CPUBIND_NONE)
                number[whole] = n_core++;
            p->core[i] = number[whole];
            p->start[p->core[i] + 1]++;
            p->n++;
            p->n_near += is_near;
        }
    for (int32_t c = 0; c < n_core; c++)
        p->start[c + 1] += p->start[c];
    for (int32_t i = 0; i < h->n_cpu; i++)
        if (owner[i] == d)
            p->order[p->start[p->core[i]]++] = i;
}

/* Part `part` of order[first] up to, not with, order[end]: *from and the number of CPUs. */
CPUBIND_PRIV int32_t cpubind_priv_cut_part(const cpubind_priv_pool *p, int32_t first,
                                           int32_t end, int32_t part, int32_t by_core,
                                           int32_t *from)
{
    int32_t *start = p->start, n = 0, at, count;
    for (int32_t k = first; k < end; k++)
        if (!by_core || k == first || p->core[p->order[k]] != p->core[p->order[k - 1]])
            start[n++] = k;
    start[n] = end;
    cpubind_slice(n, p->parts, part, &at, &count);
    *from = start[at];
    return start[at + count] - start[at];
}

/* The near CPUs of a part and the others, without those of irq. Returns their number. */
CPUBIND_PRIV int32_t cpubind_priv_cut_pool(const cpubind_priv_pool *p, int32_t part,
                                           int32_t by_core, int32_t from[2], int32_t count[2])
{
    const int32_t middle = cpubind_priv_max(p->n_near, p->n_front);
    count[0] = cpubind_priv_cut_part(p, p->n_front, middle, part, by_core, &from[0]);
    count[1] = cpubind_priv_cut_part(p, middle, p->n, p->parts - 1 - part, by_core, &from[1]);
    return count[0] + count[1];
}

/* The last CPU of the part that is still of main, a near one if there is one, and on a core
 * that acl and release do not have if there is one. */
CPUBIND_PRIV int32_t cpubind_priv_choose_back(const cpubind_priv_pool *p, const int32_t *role,
                                              const int32_t from[2], const int32_t count[2])
{
    for (int32_t any = 0;; any = 1) /* ends: main has a CPU of the part */
        for (int32_t k = 0; k < 2; k++)
            for (int32_t at = from[k] + count[k] - 1; at >= from[k]; at--)
                if (role[p->order[at]] == CPUBIND_ROLE_MAIN &&
                    (any || !p->scratch[p->core[p->order[at]]]))
                    return p->order[at];
}

/* Gives a role the CPUs of main on its cores, if main keeps enough. */
CPUBIND_PRIV void cpubind_priv_clear_cores(const cpubind_priv_pool *p, int32_t *role,
                                           int32_t which)
{
    int32_t *has_role = p->scratch, keeps = 0;
    cpubind_priv_fill(has_role, p->n, 0);
    for (int32_t k = 0; k < p->n; k++)
        has_role[p->core[p->order[k]]] |= role[p->order[k]] == which;
    for (int32_t k = 0; k < p->n; k++)
        keeps += role[p->order[k]] == CPUBIND_ROLE_MAIN && !has_role[p->core[p->order[k]]];
    if (keeps < cpubind_priv_max(CPUBIND_MAIN_KEEPS, p->roles->count[CPUBIND_ROLE_MAIN]))
        return;
    for (int32_t k = 0; k < p->n; k++)
        if (role[p->order[k]] == CPUBIND_ROLE_MAIN && has_role[p->core[p->order[k]]])
            role[p->order[k]] = which;
}

CPUBIND_PRIV void cpubind_priv_write_roles(const cpubind_priv_pool *p, int32_t *role,
                                           const int32_t from[2], const int32_t count[2])
{
    int32_t front = 0;
    for (int32_t k = 0; k < p->n; k++)
        role[p->order[k]] = CPUBIND_NONE;
    for (int32_t k = 0; k < 2; k++)
        for (int32_t at = from[k]; at < from[k] + count[k]; at++)
            role[p->order[at]] = CPUBIND_ROLE_MAIN;
    for (; front < p->n_front; front++)
        role[p->order[front]] = CPUBIND_ROLE_IRQ;
    cpubind_priv_fill(p->scratch, p->n, 0); /* by core: acl or release is on it */
    for (int32_t which = CPUBIND_ROLE_RELEASE; which > CPUBIND_ROLE_MAIN; which--)
        for (int32_t i = 0; i < p->roles->count[which]; i++) {
            const int32_t chosen = cpubind_priv_choose_back(p, role, from, count);
            role[chosen] = which;
            p->scratch[p->core[chosen]] = 1;
        }
    for (int32_t which = CPUBIND_ROLE_ACL; !p->roles->by_id && which <= CPUBIND_ROLE_RELEASE;
         which++)
        cpubind_priv_clear_cores(p, role, which);
}

/* The field that is outside its range, or NULL. */
CPUBIND_PRIV const char *cpubind_priv_check_roles(const cpubind_roles *roles)
{
    if (roles == NULL)
        return "roles";
    for (int32_t i = 0; i < CPUBIND_ROLE_COUNT; i++)
        if (roles->count[i] < 0 || roles->count[i] > CPUBIND_MAX_CPUS)
            return "roles.count";
    if (roles->n_process < 0 || roles->n_process > CPUBIND_MAX_DEVICES)
        return "roles.n_process";
    if (roles->process < 0 || roles->process >= cpubind_priv_max(roles->n_process, 1))
        return "roles.process";
    return NULL;
}

CPUBIND_PRIV_PUBLIC cpubind_status cpubind_place(const cpubind_host *host,
                                                 const cpubind_device *device, int32_t n_device,
                                                 const int32_t *owner, int32_t d,
                                                 const cpubind_roles *roles, int32_t *role,
                                                 int32_t *work, cpubind_report *report)
{
    cpubind_report unwanted, *r = report;
    int32_t from[2], count[2], least = 0, need, *nearest;
    const char *wrong = host == NULL             ? "host"
                        : device == NULL         ? "device"
                        : owner == NULL          ? "owner"
                        : d < 0 || d >= n_device ? "d"
                        : role == NULL           ? "role"
                        : work == NULL           ? "work"
                                                 : cpubind_priv_check_roles(roles);
    cpubind_priv_pool p;
    if (r == NULL)
        r = &unwanted;
    cpubind_priv_clear(r);
    if (wrong != NULL)
        return cpubind_priv_refuse(r, wrong, CPUBIND_NONE, d);
    p.roles = roles;
    p.parts = cpubind_priv_max(roles->n_process, 1);
    p.order = cpubind_priv_carve(&work, host->n_cpu);
    p.core = cpubind_priv_carve(&work, host->n_cpu);
    p.start = cpubind_priv_carve(&work, host->n_cpu + 1);
    p.scratch = cpubind_priv_carve(&work, host->n_cpu + 1);
    nearest = cpubind_priv_carve(&work, host->n_node);
    cpubind_priv_find_nearest(host, &device[d], nearest);
    cpubind_priv_order_pool(&p, host, owner, d, nearest);
    p.n_front = roles->count[CPUBIND_ROLE_IRQ];
    p.n_back = roles->count[CPUBIND_ROLE_ACL] + roles->count[CPUBIND_ROLE_RELEASE];
    need = p.n_back + roles->count[CPUBIND_ROLE_MAIN];
    for (int32_t by_core = 1; by_core >= 0 && p.n >= p.n_front; by_core--) {
        least = p.n;
        for (int32_t part = 0; part < p.parts; part++)
            least =
                cpubind_priv_min(least, cpubind_priv_cut_pool(&p, part, by_core, from, count));
        if (least >= need) {
            (void)cpubind_priv_cut_pool(&p, roles->process, by_core, from, count);
            cpubind_priv_write_roles(&p, role, from, count);
            return CPUBIND_OK;
        }
    }
    r->device = d;
    r->need = p.n_front + need;
    r->have = cpubind_priv_min(p.n, p.n_front + least);
    return CPUBIND_ERR_TOO_FEW;
}

/* == Quality ================================================================ */

CPUBIND_PRIV void cpubind_priv_clear_quality(cpubind_quality *q)
{
    q->pools = q->cpus = q->near_cpus = q->far_cpus = q->irq_off = q->split_cores = 0;
    q->split_caches = q->nodes = q->idle = q->smallest = q->largest = 0;
}

CPUBIND_PRIV void cpubind_priv_add_quality(cpubind_quality *to, const cpubind_quality *q)
{
    if (q->pools == 0)
        return;
    to->smallest = to->pools == 0 ? q->smallest : cpubind_priv_min(to->smallest, q->smallest);
    to->largest = cpubind_priv_max(to->largest, q->largest);
    to->nodes = cpubind_priv_max(to->nodes, q->nodes);
    to->pools++;
    to->cpus += q->cpus;
    to->near_cpus += q->near_cpus;
    to->far_cpus += q->far_cpus;
    to->irq_off += q->irq_off;
}

/* For each label the device that has all of its CPUs in pools, NONE - 1: several have. Returns
 * how many have several. */
CPUBIND_PRIV int32_t cpubind_priv_find_split(const int32_t *first, int32_t n,
                                             const int32_t *owner, int32_t *has)
{
    int32_t n_split = 0;
    cpubind_priv_fill(has, n, CPUBIND_NONE);
    for (int32_t i = 0; first != NULL && i < n; i++) {
        int32_t *one = &has[first[i]];
        if (owner[i] == CPUBIND_NONE || *one == owner[i] || *one < CPUBIND_NONE)
            continue;
        n_split += *one != CPUBIND_NONE;
        *one = *one == CPUBIND_NONE ? owner[i] : CPUBIND_NONE - 1;
    }
    return n_split;
}

/* Counts the CPUs that are allowed to somebody and in no pool. */
CPUBIND_PRIV int32_t cpubind_priv_count_idle(const cpubind_host *h,
                                             const cpubind_device *device, int32_t n_device,
                                             const int32_t *owner, int32_t *is_allowed)
{
    int32_t n = 0;
    cpubind_priv_fill(is_allowed, h->n_cpu, 0);
    for (int32_t d = 0; d < n_device; d++)
        (void)cpubind_priv_mark(h, &device[d].allowed, is_allowed);
    for (int32_t i = 0; i < h->n_cpu; i++)
        n += is_allowed[i] && owner[i] == CPUBIND_NONE;
    return n;
}

CPUBIND_PRIV_PUBLIC void cpubind_measure(const cpubind_host *host, const cpubind_device *device,
                                         int32_t n_device, const int32_t *owner,
                                         const int32_t *role, cpubind_quality *total,
                                         cpubind_quality *each, int32_t *work)
{
    const int32_t n = host->n_cpu;
    int32_t *cores = cpubind_priv_carve(&work, n), *caches = cpubind_priv_carve(&work, n);
    int32_t *nearest = cpubind_priv_carve(&work, host->n_node);
    int32_t *mark = cpubind_priv_carve(&work, host->n_node);
    cpubind_priv_clear_quality(total);
    total->idle = cpubind_priv_count_idle(host, device, n_device, owner, cores);
    total->split_cores = cpubind_priv_find_split(host->core, n, owner, cores);
    total->split_caches = cpubind_priv_find_split(host->cache, n, owner, caches);
    for (int32_t d = 0; d < n_device; d++) {
        cpubind_quality alone, *q = &alone;
        if (each != NULL)
            q = &each[d];
        cpubind_priv_clear_quality(q);
        cpubind_priv_find_nearest(host, &device[d], nearest);
        cpubind_priv_fill(mark, host->n_node, 0);
        for (int32_t i = 0; i < n; i++) {
            const int32_t steps = nearest[host->node[i]];
            if (owner[i] != d)
                continue;
            q->cpus++;
            q->near_cpus += steps == 0;
            q->far_cpus += steps >= CPUBIND_PRIV_FAR && steps < CPUBIND_PRIV_LOST;
            q->irq_off += role != NULL && role[i] == CPUBIND_ROLE_IRQ && steps != 0;
            q->nodes += !mark[host->node[i]];
            mark[host->node[i]] = 1;
        }
        q->pools = q->cpus > 0;
        q->smallest = q->largest = q->cpus;
        cpubind_priv_add_quality(total, q);
    }
}

/* == Words ================================================================== */

CPUBIND_PRIV_PUBLIC const char *cpubind_status_text(cpubind_status status)
{
#define CPUBIND_X(name, value, text) text,
    static const char *const words[] = {CPUBIND_STATUS_LIST(CPUBIND_X)};
#undef CPUBIND_X
    const int32_t n = (int32_t)(sizeof words / sizeof *words);
    return status > 0 || status <= -n ? "not a status code" : words[-status];
}

CPUBIND_PRIV_PUBLIC const char *cpubind_role_word(cpubind_role role)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_ROLE_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return role >= 0 && role < CPUBIND_ROLE_COUNT ? words[role] : "?";
}

CPUBIND_PRIV_PUBLIC int32_t cpubind_version(void)
{
    return CPUBIND_VERSION_HEX;
}

#undef CPUBIND_PRIV
#undef CPUBIND_PRIV_PUBLIC
#undef CPUBIND_PRIV_FAR
#undef CPUBIND_PRIV_LOST

#ifdef __cplusplus
}
#endif
#endif /* CPUBIND_PRIV_IMPLEMENTED */
#endif /* CPUBIND_IMPLEMENTATION || CPUBIND_STATIC */

/* SOURCES of the rules: behaviour, not code
 *   vllm-ascend 182b75ea, vllm_ascend/cpu_binding.py, for SLICE, AFFINITY, CLUSTER and by_id:
 *   S1 build_global_slice_cpu_pool   S2 extend_numa, average_distribute over equal pools
 *   S3 the clusters of a 950         S4 allocate (roles)
 *   S5 Harvey, Ladner, Lovasz, Tamir: Semi-matchings for bipartite graphs and load balancing
 *      (2006), of which turns are the greedy part; Linux, lib/group_cpus.c, for whole cores
 */

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
