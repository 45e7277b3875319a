/* bench.c - the time of a plan and of a CPU list, next to hwloc and memcpy, in one run
 * SPDX-License-Identifier: MIT
 *
 * Prints a table and asserts nothing: see measure.h.
 */
#include <hwloc.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/text/cpulist.h"
#include "../../adapters/cpubind_old.h"
#include "measure.h"

static int32_t *ints(int32_t n)
{
    return (int32_t *)must_alloc((size_t)n * sizeof(int32_t));
}

/* == Hosts ================================================================== */

/* n_cpu CPUs on n_node nodes; n_device devices, each near a node, or near `span` CPUs. */
typedef struct bench_host {
    int32_t *cpu, *node, *core, *node_id, *affinity, *offset;
    cpubind_host host;
    cpubind_devices devices;
    cpubind_policy policy;
    cpubind_plan plan;
} bench_host;

static void add_lists(bench_host *b, int32_t n_cpu, int32_t n_node, int32_t n_device)
{
    int32_t size = n_cpu / n_node;
    b->affinity = ints(n_device * size);
    b->offset = ints(n_device + 1);
    b->offset[0] = 0;
    for (int32_t d = 0; d < n_device; d++) {
        int32_t first = (int32_t)((int64_t)d * n_node / n_device) * size;
        for (int32_t i = 0; i < size; i++)
            b->affinity[d * size + i] = first + i;
        b->offset[d + 1] = (d + 1) * size;
    }
}

static bench_host host_open(cpubind_strategy strategy, int32_t n_cpu, int32_t n_node,
                            int32_t n_device)
{
    static const cpubind_role_spec roles = {{2, 1, 1, 1}};
    bench_host b;
    memset(&b, 0, sizeof b);
    b.cpu = ints(n_cpu);
    b.node = ints(n_cpu);
    b.core = ints(n_cpu);
    b.node_id = ints(n_node);
    for (int32_t i = 0; i < n_cpu; i++) {
        b.cpu[i] = i;
        b.node[i] = i / (n_cpu / n_node);
        b.core[i] = i / 2;
    }
    for (int32_t i = 0; i < n_node; i++)
        b.node_id[i] = i;
    add_lists(&b, n_cpu, n_node, n_device);
    b.host.cpu = b.cpu;
    b.host.node = b.node;
    b.host.node_id = b.node_id;
    b.host.n_cpu = n_cpu;
    b.host.n_node = n_node;
    b.devices.affinity.cpu = b.affinity;
    b.devices.affinity.row = b.offset;
    b.devices.affinity.n = n_device;
    b.policy.strategy = strategy;
    b.policy.roles = roles;
    b.plan.cap_cpu = CPUBIND_PLAN_CPUS(n_cpu);
    b.plan.cap_work = strategy == CPUBIND_NEAR
                          ? CPUBIND_PLAN_WORK_NEAR(n_cpu, n_node, n_device, b.offset[n_device])
                          : CPUBIND_PLAN_WORK(n_cpu, n_node, n_device, b.offset[n_device]);
    b.plan.cpu = ints(b.plan.cap_cpu);
    b.plan.row = ints(n_device + 1);
    b.plan.work = ints(b.plan.cap_work);
    return b;
}

static void host_close(bench_host *b)
{
    free(b->cpu);
    free(b->node);
    free(b->core);
    free(b->node_id);
    free(b->affinity);
    free(b->offset);
    free(b->plan.cpu);
    free(b->plan.row);
    free(b->plan.work);
}

/* Moves the devices to every second node: extended pools are equal, or share nothing. */
static void spread_out(bench_host *b)
{
    int32_t size = b->host.n_cpu / b->host.n_node;
    for (int32_t d = 0; d < b->devices.affinity.n; d++)
        for (int32_t i = 0; i < size; i++)
            b->affinity[d * size + i] = b->affinity[d * size + i] / (2 * size) * 2 * size + i;
}

/* Bytes of the buffers of a plan. */
static int32_t host_bytes(const bench_host *b)
{
    return (b->plan.cap_work + b->plan.cap_cpu + b->devices.affinity.n + 1) *
           (int32_t)sizeof(int32_t);
}

static void make_plan(void *ctx)
{
    bench_host *b = (bench_host *)ctx;
    must(cpubind_make_plan(&b->host, &b->devices, &b->policy, &b->plan, NULL) == CPUBIND_OK,
         "cpubind_make_plan");
}

/* == Core: 640 CPUs, 16 devices ============================================= */

typedef struct copy {
    void *to;
    const void *from;
    size_t bytes;
} copy;

static void copy_plan(void *ctx)
{
    copy *c = (copy *)ctx;
    memcpy(c->to, c->from, c->bytes);
    __asm__ volatile("" : : "g"(c->to) : "memory"); /* the copy counts as used */
}

static void distribute(void *ctx)
{
    hwloc_topology_t topology = (hwloc_topology_t)ctx;
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    hwloc_bitmap_t sets[16];
    must(hwloc_distrib(topology, &root, 1, sets, 16, INT32_MAX, 0) == 0, "hwloc_distrib");
    for (int32_t i = 0; i < 16; i++)
        hwloc_bitmap_free(sets[i]);
}

static double measure_hwloc_distrib(void)
{
    hwloc_topology_t topology;
    double ns;
    must(hwloc_topology_init(&topology) == 0, "hwloc_topology_init");
    must(hwloc_topology_set_synthetic(topology, "NUMANode:8 Core:40 PU:2") == 0 &&
             hwloc_topology_load(topology) == 0,
         "the synthetic topology");
    ns = measure(distribute, topology);
    hwloc_topology_destroy(topology);
    return ns;
}

static double measure_memcpy(void)
{
    copy c;
    double ns;
    c.bytes = (640 + 17) * sizeof(int32_t);
    c.to = must_alloc(c.bytes);
    c.from = calloc(1, c.bytes);
    must(c.from != NULL, "calloc");
    ns = measure(copy_plan, &c);
    free(c.to);
    free((void *)c.from);
    return ns;
}

static void bench_core(void)
{
    static const struct {
        const char *name;
        double goal;
        cpubind_strategy strategy;
        int32_t n_node;
        cpubind_finding overlap;
        int32_t has_cores; /* two threads a core */
    } cases[] = {
        {"global_slice", 2000, CPUBIND_GLOBAL_SLICE, 16, CPUBIND_FOUND_NONE, 0},
        {"topo_affinity, 16 nodes, no overlap", 5000, CPUBIND_TOPO_AFFINITY, 16,
         CPUBIND_FOUND_NONE, 0},
        {"topo_affinity, 16 nodes, resolved", 5000, CPUBIND_TOPO_AFFINITY, 16,
         CPUBIND_FOUND_RESOLVED, 0},
        {"topo_affinity, 8 nodes, resolved", 5000, CPUBIND_TOPO_AFFINITY, 8,
         CPUBIND_FOUND_RESOLVED, 0},
        {"topo_affinity, 4 nodes, resolved", 5000, CPUBIND_TOPO_AFFINITY, 4,
         CPUBIND_FOUND_RESOLVED, 0},
        {"near, 16 nodes", 10000, CPUBIND_NEAR, 16, CPUBIND_FOUND_NONE, 0},
        {"near, 8 nodes", 10000, CPUBIND_NEAR, 8, CPUBIND_FOUND_NONE, 0},
        {"near, 4 nodes", 10000, CPUBIND_NEAR, 4, CPUBIND_FOUND_NONE, 0},
        {"near, 16 nodes, two threads a core", 10000, CPUBIND_NEAR, 16, CPUBIND_FOUND_NONE, 1},
        {"near, 8 nodes, two threads a core", 10000, CPUBIND_NEAR, 8, CPUBIND_FOUND_NONE, 1},
        {"near, 4 nodes, two threads a core", 10000, CPUBIND_NEAR, 4, CPUBIND_FOUND_NONE, 1},
    };
    const measure_of beside[] = {{measure_hwloc_distrib(), "hwloc_distrib"},
                                 {measure_memcpy(), "memcpy"}};
    int32_t most = 0;
    heading("plan of 640 CPUs x 16 devices, all of them");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench_host b = host_open(cases[i].strategy, 640, cases[i].n_node, 16);
        double ns;
        if (cases[i].has_cores)
            b.host.core = b.core;
        if (cases[i].strategy == CPUBIND_TOPO_AFFINITY &&
            cases[i].overlap == CPUBIND_FOUND_NONE)
            spread_out(&b);
        ns = measure(make_plan, &b);
        must(b.plan.overlap == cases[i].overlap, "the expected finding");
        row(cases[i].name, ns, cases[i].goal, beside, 2);
        most = host_bytes(&b) > most ? host_bytes(&b) : most;
        host_close(&b);
    }
    row("hwloc_distrib of 16 over 640 PUs", beside[0].ns, 0, NULL, 0);
    row("memcpy of the plan's bytes", beside[1].ns, 0, NULL, 0);
    printf("  %-42s %12" PRId32 " %10d %5s  bytes\n",
           "the caller's buffers, the largest of these", most, 131072,
           most <= 131072 ? "yes" : "no");
}

/* == Core: roles and figures of a plan ====================================== */

/* A plan by near of 640 CPUs x 16 devices, and buffers for its roles and figures. */
typedef struct bench_parts {
    bench_host b;
    int32_t roles_work[CPUBIND_PLACE_WORK(640, 16)], roles_cpu[640];
    int32_t *measure_work;
    int32_t n_process;
} bench_parts;

static void place_all(void *ctx)
{
    bench_parts *p = (bench_parts *)ctx;
    const int32_t *row = p->b.plan.row;
    for (int32_t d = 0; d < p->b.devices.affinity.n; d++)
        for (int32_t process = 0; process < p->n_process; process++) {
            cpubind_placing x = {0};
            x.cpu = p->b.plan.cpu + row[d];
            x.n_cpu = row[d + 1] - row[d];
            x.device = d;
            x.is_near = 1;
            x.roles = p->b.policy.roles;
            x.n_process = p->n_process;
            x.process = process;
            x.out_cpu = p->roles_cpu;
            x.work = p->roles_work;
            x.cap_work = CPUBIND_PLACE_WORK(x.n_cpu, p->b.host.n_node);
            must(cpubind_place_roles(&p->b.host, &p->b.devices, &x, NULL) == CPUBIND_OK,
                 "cpubind_place_roles");
        }
}

static void measure_all(void *ctx)
{
    bench_parts *p = (bench_parts *)ctx;
    cpubind_lists pools = {p->b.plan.cpu, p->b.plan.row, p->b.devices.affinity.n};
    cpubind_quality total, each[16];
    must(cpubind_measure(&p->b.host, &p->b.devices, pools, 2, p->measure_work, &total, each,
                         NULL) == CPUBIND_OK,
         "cpubind_measure");
}

static void bench_roles(void)
{
    const measure_of beside = {measure_hwloc_distrib(), "hwloc_distrib"};
    heading("roles and figures of that plan, 8 nodes, all devices");
    for (int32_t has_cores = 0; has_cores < 2; has_cores++) {
        static bench_parts p;
        char name[64];
        p.b = host_open(CPUBIND_NEAR, 640, 8, 16);
        p.measure_work = ints(CPUBIND_MEASURE_WORK(640, 8));
        if (has_cores)
            p.b.host.core = p.b.core;
        make_plan(&p.b);
        for (p.n_process = 1; p.n_process < 3; p.n_process++) {
            snprintf(name, sizeof name, "place_roles, %" PRId32 " process(es)%s", p.n_process,
                     has_cores ? ", two threads a core" : "");
            row(name, measure(place_all, &p), 0, &beside, 1);
        }
        snprintf(name, sizeof name, "measure%s", has_cores ? ", two threads a core" : "");
        row(name, measure(measure_all, &p), 0, &beside, 1);
        free(p.measure_work);
        host_close(&p.b);
    }
}

/* == Core: growth =========================================================== */

/* What a plan has to read: CPUs; affinities; for near the distances, and each device for each
 * node in nobody's home, which may go to all devices here. */
static double entries(const bench_host *b)
{
    int32_t n_device = b->devices.affinity.n;
    int32_t n_node = b->host.n_node;
    int32_t n_empty = b->offset[1] && b->affinity[b->offset[n_device] - 1] < b->host.n_cpu - 1
                          ? n_node / 2
                          : 0;
    double n = b->host.n_cpu;
    if (b->policy.strategy != CPUBIND_GLOBAL_SLICE)
        n += b->offset[n_device];
    if (b->policy.strategy == CPUBIND_NEAR)
        n += (double)n_node * n_node + (double)n_empty * n_device;
    return n;
}

static void bench_growth(void)
{
    static const int32_t sizes[][3] = {{640, 16, 16}, {2048, 64, 64}, {8192, 512, 1024}};
    static const struct {
        const char *name;
        cpubind_strategy strategy;
        cpubind_finding overlap;
        int32_t is_spread, has_cores;
    } kinds[] = {
        {"global_slice", CPUBIND_GLOBAL_SLICE, CPUBIND_FOUND_NONE, 0, 0},
        {"topo_affinity, no overlap", CPUBIND_TOPO_AFFINITY, CPUBIND_FOUND_NONE, 1, 0},
        {"topo_affinity, resolved", CPUBIND_TOPO_AFFINITY, CPUBIND_FOUND_RESOLVED, 0, 0},
        {"near", CPUBIND_NEAR, CPUBIND_FOUND_NONE, 0, 0},
        {"near, two threads a core", CPUBIND_NEAR, CPUBIND_FOUND_NONE, 0, 1},
        {"near, every second node", CPUBIND_NEAR, CPUBIND_FOUND_NONE, 1, 0},
    };
    printf("\n%-44s %12s %16s %10s\n", "growth: CPUs x devices, each near a node", "ns",
           "ns / entry", "ns / CPU");
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            const int32_t *s = sizes[i];
            char name[64];
            bench_host b = host_open(kinds[kind].strategy, s[0], s[1], s[2]);
            double ns;
            if (kinds[kind].is_spread)
                spread_out(&b);
            if (kinds[kind].has_cores)
                b.host.core = b.core;
            ns = measure(make_plan, &b);
            must(b.plan.overlap == kinds[kind].overlap, "the expected finding");
            snprintf(name, sizeof name, "%s, %" PRId32 " x %" PRId32, kinds[kind].name, s[0],
                     s[2]);
            printf("  %-42s %12.1f %16.3f %10.3f\n", name, ns, ns / entries(&b), ns / s[0]);
            host_close(&b);
        }
    }
}

/* == CPU lists ============================================================== */

/* One list as text and as numbers, and room for both. */
typedef struct list {
    char text[4096], out_text[4096];
    int32_t len, cpu[640], n;
    hwloc_bitmap_t set;
} list;

static void parse_list(void *ctx)
{
    list *l = (list *)ctx;
    cpubind_int_list numbers = {l->cpu, 640, 0};
    must(cpubind_cpulist_parse(l->text, l->len, 65536, &numbers, NULL) == CPUBIND_TEXT_OK,
         "cpubind_cpulist_parse");
    l->n = numbers.n;
}

static void format_list(void *ctx)
{
    list *l = (list *)ctx;
    int32_t len;
    must(cpubind_cpulist_format(l->cpu, l->n, l->out_text, sizeof l->out_text, &len) ==
             CPUBIND_TEXT_OK,
         "cpubind_cpulist_format");
}

static void parse_hwloc(void *ctx)
{
    list *l = (list *)ctx;
    must(hwloc_bitmap_list_sscanf(l->set, l->text) == 0, "hwloc_bitmap_list_sscanf");
}

static void format_hwloc(void *ctx)
{
    list *l = (list *)ctx;
    must(hwloc_bitmap_list_snprintf(l->out_text, sizeof l->out_text, l->set) > 0,
         "hwloc_bitmap_list_snprintf");
}

static void bench_lists(void)
{
    static list whole, singles;
    double ns;
    measure_of hwloc = {0, "hwloc"};
    whole.len = (int32_t)strlen(strcpy(whole.text, "0-639"));
    for (int32_t i = 0; i < 320; i++)
        singles.len +=
            snprintf(singles.text + singles.len, sizeof singles.text - (size_t)singles.len,
                     "%s%" PRId32, i ? "," : "", 2 * i);
    whole.set = hwloc_bitmap_alloc();
    singles.set = hwloc_bitmap_alloc();
    must(whole.set && singles.set, "hwloc_bitmap_alloc");
    heading("CPU lists");
    ns = measure(parse_list, &whole);
    hwloc.ns = measure(parse_hwloc, &whole);
    row("parse 0-639", ns, 80, &hwloc, 1);
    ns = measure(parse_list, &singles);
    hwloc.ns = measure(parse_hwloc, &singles);
    row("parse 320 singles", ns, 1500, &hwloc, 1);
    ns = measure(format_list, &singles);
    hwloc.ns = measure(format_hwloc, &singles);
    row("format 320 singles", ns, 1500, &hwloc, 1);
    hwloc_bitmap_free(whole.set);
    hwloc_bitmap_free(singles.set);
}

int main(void)
{
    printf("cpubind %s, best of %d batches\n", CPUBIND_VERSION, BATCHES);
    bench_core();
    bench_roles();
    bench_growth();
    bench_lists();
    return 0;
}
