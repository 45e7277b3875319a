/* bench_limits.c - the time of plans of 65,536 CPUs and 4,096 devices, whatever the homes
 * SPDX-License-Identifier: MIT
 *
 * Prints a table and asserts nothing: see measure.h. Each plan is made once, next to a reading
 * of the same lists. Needs 3 GB of memory.
 */
#include <inttypes.h>
#include <string.h>

#include "../../adapters/cpubind_old.h"
#include "measure.h"

enum { CPUS = CPUBIND_MAX_CPUS, DEVICES = CPUBIND_MAX_DEVICES, STEP = CPUS / DEVICES };

#define MAX_ENTRIES (DEVICES / 2 * (CPUS + STEP))

/* A host of two nodes with every second CPU, so that no home is extended, and its devices. */
typedef struct limits {
    int32_t cpu[CPUS], node[CPUS], row[DEVICES + 1];
    int32_t *near, *out, *work;
    int32_t at; /* entries of near so far */
    uint32_t random;
    int64_t sum;
} limits;

static int32_t random_below(limits *l, int32_t n)
{
    l->random = l->random * 1664525u + 1013904223u;
    return (int32_t)((l->random >> 8) % (uint32_t)n);
}

static void add_cpus(limits *l, int32_t first, int32_t n)
{
    for (int32_t i = 0; i < n && first + i < CPUS && l->at < MAX_ENTRIES; i++)
        l->near[l->at++] = first + i;
}

static void add_nested(limits *l, int32_t d)
{
    add_cpus(l, 0, STEP * (d + 1));
}

static void add_largest_first(limits *l, int32_t d)
{
    add_cpus(l, 0, STEP * (DEVICES - d));
}

static void add_sliding(limits *l, int32_t d)
{
    add_cpus(l, STEP / 2 * d, CPUS / 2);
}

static void add_chain(limits *l, int32_t d)
{
    add_cpus(l, STEP * d, 2 * STEP);
}

static void add_comb(limits *l, int32_t d)
{
    for (int32_t cpu = d % 7; cpu < CPUS; cpu += 7 + d % 13)
        add_cpus(l, cpu, 1);
}

static void add_interval(limits *l, int32_t d)
{
    (void)d;
    add_cpus(l, random_below(l, CPUS / 2), 1 + random_below(l, CPUS / 2));
}

static void add_eight_intervals(limits *l, int32_t d)
{
    (void)d;
    for (int32_t i = 0; i < 8; i++)
        add_cpus(l, i * (CPUS / 8) + random_below(l, CPUS / 16),
                 1 + random_below(l, CPUS / 16));
}

static void add_third(limits *l, int32_t d)
{
    (void)d;
    for (int32_t cpu = random_below(l, 4); cpu < CPUS; cpu += 2 + random_below(l, 3))
        add_cpus(l, cpu, 1);
}

/* CPU time: each plan is made once, whatever else runs on the machine. */
static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double read_s(limits *l)
{
    const double start = cpu_s();
    for (int32_t i = 0; i < l->at; i++)
        l->sum += l->near[i];
    return cpu_s() - start;
}

static double plan_s(limits *l, cpubind_strategy strategy)
{
    static const int32_t node_id[] = {0, 1};
    cpubind_host host;
    cpubind_devices devices;
    cpubind_policy policy;
    cpubind_plan plan;
    double start;
    memset(&host, 0, sizeof host);
    memset(&devices, 0, sizeof devices);
    memset(&policy, 0, sizeof policy);
    memset(&plan, 0, sizeof plan);
    host.cpu = l->cpu;
    host.node = l->node;
    host.node_id = node_id;
    host.n_cpu = CPUS;
    host.n_node = 2;
    devices.affinity.cpu = l->near;
    devices.affinity.row = l->row;
    devices.affinity.n = DEVICES;
    policy.strategy = strategy;
    plan.cpu = l->out;
    plan.row = l->out + CPUS;
    plan.work = l->work;
    plan.cap_cpu = CPUBIND_PLAN_CPUS(CPUS);
    plan.cap_work = CPUBIND_PLAN_WORK_NEAR(CPUS, 2, DEVICES, MAX_ENTRIES);
    start = cpu_s();
    must(cpubind_make_plan(&host, &devices, &policy, &plan, NULL) == CPUBIND_OK, "the plan");
    return cpu_s() - start;
}

int main(void)
{
    static const struct {
        const char *name;
        void (*add)(limits *l, int32_t d);
    } shapes[] = {
        {"each in the next one", add_nested},
        {"each in the one before", add_largest_first},
        {"half of the CPUs, sliding", add_sliding},
        {"a chain", add_chain},
        {"every 7th to 19th CPU", add_comb},
        {"an interval at random", add_interval},
        {"eight intervals at random", add_eight_intervals},
        {"a third of the CPUs at random", add_third},
    };
    static limits l;
    const size_t n_work = CPUBIND_PLAN_WORK_NEAR(CPUS, 2, DEVICES, (size_t)MAX_ENTRIES);
    l.near = (int32_t *)must_alloc(MAX_ENTRIES * sizeof(int32_t));
    l.out = (int32_t *)must_alloc((CPUS + DEVICES + 1) * sizeof(int32_t));
    l.work = (int32_t *)must_alloc(n_work * sizeof(int32_t));
    memset(l.work, 1, n_work * sizeof(int32_t));
    for (int32_t i = 0; i < CPUS; i++) {
        l.cpu[i] = i;
        l.node[i] = i % 2;
    }
    printf("%-30s %12s %10s %15s %10s\n", "homes, 65536 CPUs x 4096", "entries", "reading s",
           "topo_affinity s", "near s");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        double topo, near;
        l.at = 0;
        l.random = 1;
        for (int32_t d = 0; d < DEVICES; d++) {
            l.row[d] = l.at;
            shapes[i].add(&l, d);
        }
        l.row[DEVICES] = l.at;
        topo = plan_s(&l, CPUBIND_TOPO_AFFINITY);
        near = plan_s(&l, CPUBIND_NEAR);
        printf("%-30s %12" PRId32 " %10.3f %15.3f %10.3f\n", shapes[i].name, l.at, read_s(&l),
               topo, near);
        (void)fflush(stdout);
    }
    return l.sum == 0;
}
