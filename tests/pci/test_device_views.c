/* test_device_views.c - two processes of a host never take one CPU, whatever devices it has
 * SPDX-License-Identifier: MIT
 *
 * Random hosts with devices of one vendor or of several, and pairs of views of each: cpusets
 * that are one, that cross, or that are apart, devices that one view sees and the other does
 * not, inputs that one of them lacks. What cannot be known from inside is a warning of a plan.
 * CPUBIND_PAIRS and CPUBIND_SEED choose other pairs than those of every run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/plan/pci_plan.h"
#include "../../adapters/text/cpulist.h"
#include "../support/cmocka_test.h"

enum { MAX_CPUS = 96, MAX_NODES = 8, MAX_DEVICES = 10, ROOM = 1 << 16, ARENA = 1 << 21 };

/* Inputs that a view may lack. */
enum {
    LACKS_STATUS = 1,
    LACKS_DISTANCES = 2,
    LACKS_CORES = 4,
    LACKS_ONLINE = 8,
    LACKS_NODES = 16
};

/* The warnings of a plan that depends on what another process may know better, or on whose the
 * allowed CPUs are. */
#define DOUBTS                                                                                 \
    (1u << CPUBIND_WARNING_PARTIAL_CPUSET | 1u << CPUBIND_WARNING_NO_STATUS |                  \
     1u << CPUBIND_WARNING_NO_DISTANCES | 1u << CPUBIND_WARNING_NO_CORES |                     \
     1u << CPUBIND_WARNING_NO_NODES)

typedef struct made_host {
    int32_t n_cpu, n_node, threads, is_adjacent, n_device;
    int32_t vendor[MAX_DEVICES], node[MAX_DEVICES]; /* vendor: index in `vendors` */
} made_host;

typedef struct made_view {
    const made_host *host;
    uint8_t is_allowed[MAX_CPUS];
    uint32_t sees; /* a bit for each device, by the variable of its runtime */
    int lacks;
    cpubind_request request;
    char room[ROOM];
    size_t used;
} made_view;

typedef struct made_plan {
    cpubind_problem_code code;
    uint32_t warnings;
    int8_t owner[MAX_CPUS]; /* the device with the CPU, or -1 */
} made_plan;

static const struct {
    const char *vendor, *device, *class_code, *variable;
} vendors[] = {{"0x10de", "0x2330", "0x030200", "CUDA_VISIBLE_DEVICES"},
               {"0x1002", "0x74a1", "0x120000", "ROCR_VISIBLE_DEVICES"},
               {"0x8086", "0x0bd6", "0x038000", "ZE_AFFINITY_MASK"},
               {"0x1da3", "0x1020", "0x120000", NULL}};

static uint64_t state;

static int32_t draw(int32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int32_t)((state >> 11) % (uint64_t)n);
}

static int32_t node_of(const made_host *h, int32_t cpu)
{
    const int32_t n_core = h->n_cpu / h->threads;
    const int32_t core = h->is_adjacent ? cpu / h->threads : cpu % n_core;
    return core * h->n_node / n_core;
}

/* == Texts ================================================================== */

static cpubind_input text_of(made_view *v, const char *text)
{
    const size_t len = strlen(text);
    char *out = v->room + v->used;
    assert_true(v->used + len < ROOM);
    memcpy(out, text, len);
    v->used += len;
    return (cpubind_input){.state = CPUBIND_INPUT_PRESENT, .data = out, .len = (int32_t)len};
}

/* "0-3,8" and a line feed, of the CPUs that `is_in` holds. */
static cpubind_input list_of(made_view *v, const char *before, const uint8_t *is_in)
{
    int32_t cpu[MAX_CPUS], n = 0, len = 0;
    char list[512], text[600];
    for (int32_t i = 0; i < v->host->n_cpu; i++)
        if (is_in[i])
            cpu[n++] = i;
    assert_int_equal(cpubind_cpulist_format(cpu, n, list, (int32_t)sizeof list, &len),
                     CPUBIND_TEXT_OK);
    (void)snprintf(text, sizeof text, "%s%.*s\n", before, (int)len, list);
    return text_of(v, text);
}

static cpubind_input cpus_of_node(made_view *v, int32_t node)
{
    uint8_t is_in[MAX_CPUS] = {0};
    for (int32_t cpu = 0; cpu < v->host->n_cpu; cpu++)
        is_in[cpu] = node_of(v->host, cpu) == node;
    return list_of(v, "", is_in);
}

static cpubind_input siblings_of(made_view *v, int32_t cpu)
{
    const made_host *h = v->host;
    const int32_t n_core = h->n_cpu / h->threads;
    uint8_t is_in[MAX_CPUS] = {0};
    for (int32_t i = 0; i < h->n_cpu; i++)
        if (h->is_adjacent ? i / h->threads == cpu / h->threads : i % n_core == cpu % n_core)
            is_in[i] = 1;
    return list_of(v, "", is_in);
}

static cpubind_input distances_of(made_view *v, int32_t node)
{
    char text[128] = "";
    for (int32_t i = 0; i < v->host->n_node; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", i ? " " : "",
                       i == node                        ? 10
                       : i / 2 == node / 2 /* socket */ ? 12
                                                        : 30);
    return text_of(v, strcat(text, "\n"));
}

/* The variables of the runtimes: each numbers the devices of its vendor by address. */
static cpubind_input variables_of(made_view *v)
{
    char text[512] = "";
    for (int i = 0; i < 3; i++) {
        int32_t number = 0;
        const char *before = "";
        if (v->sees == ~0u)
            continue;
        (void)snprintf(text + strlen(text), sizeof text - strlen(text),
                       "%s=", vendors[i].variable);
        for (int32_t d = 0; d < v->host->n_device; d++) {
            if (v->host->vendor[d] != i)
                continue;
            if (v->sees & 1u << d) {
                (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", before,
                               (int)number);
                before = ",";
            }
            number++;
        }
        strcat(text, *before ? "\n" : "99\n");
    }
    return text_of(v, text);
}

static cpubind_input leaf_of(made_view *v, int32_t d, const char *leaf)
{
    const made_host *h = v->host;
    char text[32] = "";
    if (d >= h->n_device)
        return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
    if (strcmp(leaf, "local_cpulist") == 0)
        return cpus_of_node(v, h->node[d]);
    if (strcmp(leaf, "numa_node") == 0)
        (void)snprintf(text, sizeof text, "%d\n", (int)h->node[d]);
    else if (strcmp(leaf, "vendor") == 0)
        (void)snprintf(text, sizeof text, "%s\n", vendors[h->vendor[d]].vendor);
    else if (strcmp(leaf, "device") == 0)
        (void)snprintf(text, sizeof text, "%s\n", vendors[h->vendor[d]].device);
    else if (strcmp(leaf, "class") == 0)
        (void)snprintf(text, sizeof text, "%s\n", vendors[h->vendor[d]].class_code);
    else
        return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
    return text_of(v, text);
}

static cpubind_input read_view(void *ctx, const char *name)
{
    made_view *v = (made_view *)ctx;
    static const cpubind_input absent = {.state = CPUBIND_INPUT_ABSENT};
    uint8_t all[MAX_CPUS];
    unsigned n = 0, end = 0;
    memset(all, 1, sizeof all);
    if (strcmp(name, "proc/self/status") == 0)
        return v->lacks & LACKS_STATUS ? absent
                                       : list_of(v, "Cpus_allowed_list:\t", v->is_allowed);
    if (strcmp(name, "sys/devices/system/cpu/online") == 0)
        return v->lacks & LACKS_ONLINE ? absent : list_of(v, "", all);
    if (strcmp(name, "env") == 0)
        return variables_of(v);
    if (sscanf(name, "sys/devices/system/node/node%u/%n", &n, (int *)&end) == 1 && end > 0) {
        if (v->lacks & LACKS_NODES || n >= (unsigned)v->host->n_node)
            return absent;
        if (strcmp(name + end, "cpulist") == 0)
            return cpus_of_node(v, (int32_t)n);
        return strcmp(name + end, "distance") == 0 && !(v->lacks & LACKS_DISTANCES)
                   ? distances_of(v, (int32_t)n)
                   : absent;
    }
    if (sscanf(name, "sys/devices/system/cpu/cpu%u/%n", &n, (int *)&end) == 1 && end > 0) {
        char text[16];
        if (n >= (unsigned)v->host->n_cpu)
            return absent;
        if (strcmp(name + end, "topology/thread_siblings_list") == 0)
            return v->lacks & LACKS_CORES ? absent : siblings_of(v, (int32_t)n);
        (void)snprintf(text, sizeof text, "%d\n", (int)node_of(v->host, (int32_t)n) / 2);
        return strcmp(name + end, "topology/physical_package_id") == 0 ? text_of(v, text)
                                                                       : absent;
    }
    if (sscanf(name, "sys/bus/pci/devices/0000:%x:00.0/%n", &n, (int *)&end) == 1 && end > 0)
        return leaf_of(v, (int32_t)n - 16, name + end);
    return absent;
}

static cpubind_input list_view(void *ctx, const char *name)
{
    made_view *v = (made_view *)ctx;
    char text[1024] = "";
    if (strcmp(name, "sys/bus/pci/devices") == 0)
        for (int32_t d = 0; d < v->host->n_device; d++)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "0000:%02x:00.0\n",
                           16 + (unsigned)d);
    if (strcmp(name, "sys/devices/system/node") == 0 && !(v->lacks & LACKS_NODES))
        for (int32_t i = 0; i < v->host->n_node; i++)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "node%d\n", (int)i);
    return text[0] ? text_of(v, text) : (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
}

/* == Hosts and views ======================================================== */

static void draw_host(made_host *h)
{
    static const int32_t nodes[] = {1, 2, 2, 4, 8};
    const int32_t is_mixed = draw(2), vendor = draw(4);
    h->n_node = nodes[draw(5)];
    h->threads = 1 + draw(2);
    h->is_adjacent = draw(2);
    h->n_cpu = h->n_node * h->threads * (1 + draw(MAX_CPUS / h->n_node / h->threads));
    h->n_device = 1 + draw(MAX_DEVICES);
    for (int32_t d = 0; d < h->n_device; d++) {
        h->vendor[d] = is_mixed ? draw(4) : vendor;
        h->node[d] = draw(h->n_node);
    }
}

/* Allows a run of CPUs, or some. */
static void draw_allowed(const made_host *h, uint8_t *is_allowed)
{
    const int32_t from = draw(h->n_cpu), n = 1 + draw(h->n_cpu), is_run = draw(3);
    memset(is_allowed, 0, MAX_CPUS);
    for (int32_t i = 0; i < n; i++)
        if (is_run || draw(4))
            is_allowed[(from + i) % h->n_cpu] = 1;
    is_allowed[from] = 1;
}

static void draw_view(const made_host *h, made_view *v)
{
    memset(v, 0, sizeof *v);
    v->host = h;
    v->request.is_auto_strategy = 1;
    v->sees = draw(2) ? ~0u : (uint32_t)draw(1 << h->n_device);
    memset(v->is_allowed, 1, sizeof v->is_allowed);
    if (draw(4) == 0)
        v->lacks = 1 << draw(5);
}

static void plan_view(made_view *v, made_plan *out)
{
    static const cpubind_request usual = {.rules = CPUBIND_RULES_NEAR};
    const cpubind_source source = {v, read_view, list_view};
    const cpubind_pci_request request = {.wants_cores = 1, .host = &v->request};
    cpubind_arena arena = {(char *)malloc(ARENA), ARENA, 0};
    cpubind_facts facts, joined;
    cpubind_problem problem;
    cpubind_ascend_plan plan;
    assert_non_null(arena.base);
    memset(out, 0, sizeof *out);
    memset(out->owner, -1, sizeof out->owner);
    out->code = cpubind_devices_read(&source, &request, &arena, &facts, &problem);
    if (out->code == CPUBIND_PROBLEM_NONE)
        out->code = cpubind_plan_devices(&facts, &usual, &arena, &joined, &plan, &problem);
    assert_int_not_equal(out->code, CPUBIND_PROBLEM_NO_MEMORY);
    for (int32_t row = 0; out->code == CPUBIND_PROBLEM_NONE && row < plan.n_want; row++)
        for (int32_t i = plan.core.row[row]; i < plan.core.row[row + 1]; i++) {
            const int32_t cpu = plan.core.cpu[i];
            if (out->owner[cpu] >= 0)
                fail_msg("CPU %d is in two pools of one plan", (int)cpu);
            out->owner[cpu] = (int8_t)joined.npu[plan.want[row]].device;
            if (!v->is_allowed[cpu] && !(v->lacks & LACKS_STATUS))
                fail_msg("CPU %d is not allowed", (int)cpu);
        }
    if (out->code == CPUBIND_PROBLEM_NONE)
        out->warnings = plan.warnings;
    free(arena.base);
}

/* Fails where two plans without a doubt give one CPU to two devices. */
static int hold_law(const made_plan *a, const made_plan *b, int64_t pair)
{
    if (a->code != CPUBIND_PROBLEM_NONE || b->code != CPUBIND_PROBLEM_NONE ||
        (a->warnings | b->warnings) & DOUBTS)
        return 0;
    for (int32_t cpu = 0; cpu < MAX_CPUS; cpu++)
        if (a->owner[cpu] >= 0 && b->owner[cpu] >= 0 && a->owner[cpu] != b->owner[cpu])
            fail_msg("pair %lld: CPU %d is of device %d and of device %d", (long long)pair,
                     (int)cpu, a->owner[cpu], b->owner[cpu]);
    return 1;
}

static int64_t number_of(const char *variable, int64_t usual)
{
    const char *text = getenv(variable);
    return text ? atoll(text) : usual;
}

TEST(no_two_views_of_a_host_share_a_cpu_in_silence)
{
    const int64_t n = number_of("CPUBIND_PAIRS", 4000);
    made_view *a = (made_view *)malloc(sizeof *a), *b = (made_view *)malloc(sizeof *b);
    int64_t n_sure = 0, n_crossed = 0;
    assert_true(a && b);
    state = (uint64_t)number_of("CPUBIND_SEED", 1) * 0x9e3779b97f4a7c15u + 1;
    for (int64_t i = 0; i < n; i++) {
        made_host host;
        made_plan one, two;
        const int32_t way = draw(4);
        draw_host(&host);
        draw_view(&host, a);
        draw_view(&host, b);
        if (way == 1) { /* one cpuset, which its user says */
            draw_allowed(&host, a->is_allowed);
            memcpy(b->is_allowed, a->is_allowed, sizeof b->is_allowed);
            a->request.scope = b->request.scope = CPUBIND_SCOPE_CPUSET;
        } else if (way == 2) { /* cpusets that cross, which they say */
            draw_allowed(&host, a->is_allowed);
            draw_allowed(&host, b->is_allowed);
            a->request.scope = b->request.scope = CPUBIND_SCOPE_HOST;
        } else if (way == 3) { /* cpusets that cross, and nobody knows */
            draw_allowed(&host, a->is_allowed);
            draw_allowed(&host, b->is_allowed);
        }
        plan_view(a, &one);
        plan_view(b, &two);
        if (hold_law(&one, &two, i)) {
            n_sure++;
            n_crossed += way == 2;
        }
    }
    print_message("%lld pairs, %lld without a doubt, %lld of them with cpusets that cross\n",
                  (long long)n, (long long)n_sure, (long long)n_crossed);
    assert_true(n_sure > n / 4 && n_crossed > n / 20);
    free(a);
    free(b);
}

int main(void)
{
    return run_registered("device_views", NULL, NULL);
}
