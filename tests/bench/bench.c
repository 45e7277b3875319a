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
#include "../../cpubind.h"
#include "measure.h"

static int32_t *ints(int32_t n)
{
    return (int32_t *)must_alloc((size_t)n * sizeof(int32_t));
}

/* == Hosts ================================================================== */

/* n_cpu CPUs on n_node nodes; n_device devices, each near a node, or near `span` CPUs. */
typedef struct bench_host {
    int32_t *cpu, *node, *node_id, *affinity, *offset;
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
    b.node_id = ints(n_node);
    for (int32_t i = 0; i < n_cpu; i++) {
        b.cpu[i] = i;
        b.node[i] = i / (n_cpu / n_node);
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
    b.plan.cap_work = CPUBIND_PLAN_WORK(n_cpu, n_node, n_device, b.offset[n_device]);
    b.plan.cpu = ints(b.plan.cap_cpu);
    b.plan.row = ints(n_device + 1);
    b.plan.work = ints(b.plan.cap_work);
    return b;
}

static void host_close(bench_host *b)
{
    free(b->cpu);
    free(b->node);
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
        cpubind_strategy strategy;
        int32_t n_node;
        cpubind_finding overlap;
        double goal;
    } cases[] = {
        {"global_slice", CPUBIND_GLOBAL_SLICE, 16, CPUBIND_FOUND_NONE, 2000},
        {"topo_affinity, 16 nodes, no overlap", CPUBIND_TOPO_AFFINITY, 16, CPUBIND_FOUND_NONE,
         5000},
        {"topo_affinity, 16 nodes, resolved", CPUBIND_TOPO_AFFINITY, 16, CPUBIND_FOUND_RESOLVED,
         5000},
        {"topo_affinity, 8 nodes, resolved", CPUBIND_TOPO_AFFINITY, 8, CPUBIND_FOUND_RESOLVED,
         5000},
        {"topo_affinity, 4 nodes, resolved", CPUBIND_TOPO_AFFINITY, 4, CPUBIND_FOUND_RESOLVED,
         5000},
    };
    const measure_of beside[] = {{measure_hwloc_distrib(), "hwloc_distrib"},
                                 {measure_memcpy(), "memcpy"}};
    int32_t most = 0;
    heading("plan of 640 CPUs x 16 devices, all of them");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench_host b = host_open(cases[i].strategy, 640, cases[i].n_node, 16);
        double ns;
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

/* == Core: growth =========================================================== */

static void bench_growth(void)
{
    static const int32_t sizes[][3] = {{640, 16, 16}, {2048, 64, 64}, {8192, 512, 1024}};
    static const char *const kinds[] = {"global_slice", "topo_affinity, no overlap",
                                        "topo_affinity, resolved"};
    printf("\n%-44s %12s %16s\n", "growth: CPUs x devices, each near a node", "ns",
           "ns / (CPU + near)");
    for (int32_t kind = 0; kind < 3; kind++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            const int32_t *s = sizes[i];
            char name[64];
            bench_host b = host_open(kind ? CPUBIND_TOPO_AFFINITY : CPUBIND_GLOBAL_SLICE, s[0],
                                     s[1], s[2]);
            double ns;
            if (kind == 1)
                spread_out(&b);
            ns = measure(make_plan, &b);
            must(b.plan.overlap == (kind == 2 ? CPUBIND_FOUND_RESOLVED : CPUBIND_FOUND_NONE),
                 "the expected finding");
            snprintf(name, sizeof name, "%s, %" PRId32 " x %" PRId32, kinds[kind], s[0], s[2]);
            printf("  %-42s %12.1f %16.3f\n", name, ns,
                   ns / (s[0] + (kind ? b.offset[s[2]] : 0)));
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
    bench_growth();
    bench_lists();
    return 0;
}
