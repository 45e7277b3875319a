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

/* == The core =============================================================== */

/* Devices at the nodes in turn; beside them workers at the nodes, engines that want four CPUs
 * anywhere, and the host, two CPUs of each node. */
typedef struct core_case {
    int32_t n_cpu, n_device, n_node, n_thread;
    int32_t per_cache; /* cores of a cache; 0: not known */
    int32_t n_worker, n_engine, n_kept;
    cpubind_rule rule;
    double goal; /* ns; 0: none */
} core_case;

typedef struct bench_host {
    cpubind_host host;
    cpubind_device *device;
    cpubind_policy policy;
    int32_t *cpu, *node, *core, *cache, *distance, *socket_of, *home, *owner, *role, *work;
    int32_t n_device;
} bench_host;

static const core_case cases[] = {
    {640, 16, 8, 2, 0, 0, 0, 0, CPUBIND_RULE_SLICE, 2000},
    {640, 16, 8, 1, 0, 0, 0, 0, CPUBIND_RULE_AFFINITY, 5000},
    {640, 16, 8, 1, 0, 0, 0, 0, CPUBIND_RULE_CLUSTER, 0},
    {640, 16, 4, 2, 0, 0, 0, 0, CPUBIND_RULE_TURNS, 10000},
    {640, 16, 8, 1, 0, 0, 0, 0, CPUBIND_RULE_TURNS, 10000},
    {640, 16, 8, 2, 0, 0, 0, 0, CPUBIND_RULE_TURNS, 10000},
    {640, 16, 8, 2, 4, 0, 0, 0, CPUBIND_RULE_TURNS, 10000},
    {640, 16, 16, 1, 0, 0, 0, 0, CPUBIND_RULE_TURNS, 10000},
    {640, 16, 8, 2, 0, 8, 4, 8, CPUBIND_RULE_TURNS, 0},
    {2048, 64, 16, 2, 8, 0, 0, 0, CPUBIND_RULE_TURNS, 0},
    {8192, 64, 64, 2, 8, 0, 0, 0, CPUBIND_RULE_TURNS, 0},
    {8192, 1024, 64, 2, 8, 0, 0, 0, CPUBIND_RULE_TURNS, 100e6},
};

static void add_devices(bench_host *b, const core_case *c)
{
    const int32_t n_near = c->n_cpu / c->n_node + c->n_thread;
    b->n_device = c->n_device + c->n_worker + c->n_engine + c->n_kept;
    b->device = (cpubind_device *)calloc((size_t)b->n_device, sizeof *b->device);
    must(b->device != NULL, "calloc");
    b->home = ints(b->n_device * n_near);
    for (int32_t d = 0; d < b->n_device; d++) {
        const int32_t after = d - c->n_device - c->n_worker; /* from 0 on: an engine */
        int32_t *home = b->home + d * n_near;
        b->device[d].is_anywhere = after >= 0 && after < c->n_engine;
        b->device[d].minimum = d < c->n_device ? 5 : 2;
        b->device[d].most = after < 0 ? 0 : b->device[d].is_anywhere ? 4 : 2;
        b->device[d].home.cpu = home;
        for (int32_t i = 0; i < c->n_cpu && !b->device[d].is_anywhere; i++)
            if (b->node[i] == d % c->n_node)
                home[b->device[d].home.n++] = i;
    }
}

static bench_host host_open(const core_case *c)
{
    const int32_t n = c->n_cpu, n_core = n / c->n_thread;
    bench_host b;
    memset(&b, 0, sizeof b);
    b.cpu = ints(n);
    b.node = ints(n);
    b.core = ints(n);
    b.cache = ints(n);
    b.owner = ints(n);
    b.role = ints(n);
    b.distance = ints(c->n_node * c->n_node);
    b.socket_of = ints(c->n_node);
    for (int32_t i = 0; i < n; i++) {
        b.cpu[i] = i;
        b.core[i] = i % n_core;
        b.node[i] = (int32_t)((int64_t)b.core[i] * c->n_node / n_core);
        b.cache[i] = c->per_cache ? b.core[i] / c->per_cache * c->per_cache : 0;
    }
    for (int32_t x = 0; x < c->n_node; x++) {
        b.socket_of[x] = x / 2;
        for (int32_t y = 0; y < c->n_node; y++)
            b.distance[x * c->n_node + y] = x == y ? 10 : x / 2 == y / 2 ? 12 : 20;
    }
    add_devices(&b, c);
    b.work = ints(CPUBIND_WORK(n, c->n_node, b.n_device));
    b.host = (cpubind_host){b.cpu, b.node,     c->n_thread > 1 ? b.core : NULL,
                            NULL,  b.distance, b.socket_of,
                            n,     c->n_node};
    b.host.cache = c->per_cache ? b.cache : NULL;
    b.policy.rule = c->rule;
    b.policy.cluster = 8;
    return b;
}

static void host_close(bench_host *b)
{
    int32_t *const all[] = {b->cpu,       b->node, b->core,  b->cache, b->distance,
                            b->socket_of, b->home, b->owner, b->role,  b->work};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(b->device);
}

static void make_plan(void *ctx)
{
    const bench_host *b = (const bench_host *)ctx;
    must(cpubind_plan(&b->host, b->device, b->n_device, &b->policy, b->owner, b->work, NULL) ==
             CPUBIND_OK,
         "cpubind_plan");
}

static void place_all(void *ctx)
{
    const bench_host *b = (const bench_host *)ctx;
    const cpubind_roles roles = {.count = {2, 1, 1, 1}};
    for (int32_t d = 0; d < b->n_device; d++)
        must(cpubind_place(&b->host, b->device, b->n_device, b->owner, d, &roles, b->role,
                           b->work, NULL) == CPUBIND_OK,
             "cpubind_place");
}

static void measure_all(void *ctx)
{
    const bench_host *b = (const bench_host *)ctx;
    cpubind_quality q;
    cpubind_measure(&b->host, b->device, b->n_device, b->owner, b->role, &q, NULL, b->work);
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

static void bench_core(void)
{
    static const char *const rules[] = {"turns", "slice", "affinity", "cluster"};
    const measure_of beside[] = {{measure_hwloc_distrib(), "hwloc_distrib"}};
    heading("plans: CPUs x devices, nodes, threads a core");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const core_case *c = &cases[i];
        bench_host b = host_open(c);
        char name[96];
        snprintf(name, sizeof name, "%s, %d x %d, %d, %d%s%s", rules[c->rule], (int)c->n_cpu,
                 (int)b.n_device, (int)c->n_node, (int)c->n_thread,
                 c->per_cache ? ", caches" : "", c->n_worker ? ", workers" : "");
        row(name, measure(make_plan, &b), c->goal, beside, 1);
        host_close(&b);
    }
    row("hwloc_distrib of 16 over 640 PUs", beside[0].ns, 0, NULL, 0);
    heading("roles and figures of a plan of 640 x 16");
    {
        bench_host b = host_open(&cases[5]);
        make_plan(&b);
        row("roles of all devices", measure(place_all, &b), 0, beside, 1);
        row("figures", measure(measure_all, &b), 0, beside, 1);
        host_close(&b);
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
    bench_lists();
    return 0;
}
