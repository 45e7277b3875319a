/* test_pci_plan.c - pools of accelerators, and ranks that are bound to the node of their device
 * SPDX-License-Identifier: MIT
 *
 * A host is made in memory: nodes with a run of CPUs each, or interleaved, and devices.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/plan/numa_bind.h"
#include "../../adapters/text/cpulist.h"
#include "../support/test.h"

enum { MAX_CPUS = 256, MAX_DEVICES = 8, ARENA = 1 << 20 };

typedef struct made_host {
    cpubind_facts facts;
    cpubind_pci_function device[MAX_DEVICES];
    int32_t cpu[MAX_CPUS], node[MAX_CPUS], core[MAX_CPUS], core_of[MAX_CPUS],
        node_of[CPUBIND_MAX_CPUS];
    int32_t node_id[8], all_node[8], distance[64];
    int32_t near_cpu[MAX_DEVICES * MAX_CPUS], near_row[MAX_DEVICES + 1], place[MAX_DEVICES];
    cpubind_arena arena;
} made_host;

/* Makes n_cpu CPUs on n_node nodes; with `step` 2 and two nodes, even and odd ones. `threads`
 * CPUs n_cpu / threads apart are a core. */
static made_host *make(int32_t n_cpu, int32_t n_node, int is_interleaved, int32_t threads)
{
    made_host *h = (made_host *)calloc(1, sizeof *h);
    assert_non_null(h);
    for (int32_t i = 0; i < CPUBIND_MAX_CPUS; i++)
        h->node_of[i] = -1;
    for (int32_t i = 0; i < n_cpu; i++) {
        h->cpu[i] = i;
        h->node[i] =
            is_interleaved ? i % n_node : i % (n_cpu / threads) * n_node * threads / n_cpu;
        h->node_of[i] = h->node[i];
        h->core[i] = h->core_of[i] = i % (n_cpu / threads);
    }
    for (int32_t i = 0; i < n_node; i++)
        h->node_id[i] = h->all_node[i] = i;
    h->facts.host = (cpubind_host){.cpu = h->cpu,
                                   .node = h->node,
                                   .node_id = h->node_id,
                                   .n_cpu = n_cpu,
                                   .n_node = n_node,
                                   .core = h->core};
    h->facts.cpu = h->cpu;
    h->facts.node = h->node;
    h->facts.n_cpu = h->facts.n_online = n_cpu;
    h->facts.node_id = h->node_id;
    h->facts.n_node = n_node;
    h->facts.core_of = h->core_of;
    h->facts.scope = CPUBIND_SCOPE_CPUSET;
    h->facts.node_of = h->node_of;
    h->facts.n_cpu_id = n_cpu;
    h->facts.all_node = h->all_node;
    h->facts.n_all_node = n_node;
    h->facts.has_nodes = 1;
    h->facts.bus = h->device;
    h->facts.devices.affinity.cpu = h->near_cpu;
    h->facts.devices.affinity.row = h->near_row;
    h->facts.devices.node = h->place;
    h->arena = (cpubind_arena){(char *)malloc(ARENA), ARENA, 0};
    assert_non_null(h->arena.base);
    return h;
}

/* Adds a device near the nodes `node` and, unless it is -1, `other`; node -1: not known. */
static void add(made_host *h, int32_t node, int32_t other)
{
    const int32_t i = h->facts.n_bus++;
    int32_t n = 0;
    h->facts.devices.affinity.n = h->facts.n_bus;
    h->place[i] = h->device[i].node = node;
    for (int32_t cpu = 0; node >= 0 && cpu < h->facts.n_cpu_id; cpu++)
        if (h->node_of[cpu] == node || (other >= 0 && h->node_of[cpu] == other))
            h->near_cpu[h->near_row[i] + n++] = cpu;
    h->device[i].cpu = h->near_cpu + h->near_row[i];
    h->device[i].n_cpu = n;
    h->near_row[i + 1] = h->near_row[i] + n;
}

static void allow(made_host *h, const char *list)
{
    cpubind_int_list allowed = {h->cpu, MAX_CPUS, 0};
    assert_int_equal(
        cpubind_cpulist_parse(list, (int32_t)strlen(list), MAX_CPUS, &allowed, NULL),
        CPUBIND_TEXT_OK);
    for (int32_t i = 0; i < allowed.n; i++) {
        h->node[i] = h->node_of[h->cpu[i]];
        h->core[i] = h->core_of[h->cpu[i]] = h->cpu[i];
    }
    h->facts.n_cpu = h->facts.host.n_cpu = allowed.n;
}

static void drop(made_host *h)
{
    free(h->arena.base);
    free(h);
}

static void expect_list(const int32_t *list, int32_t n, const char *wanted)
{
    char text[4096];
    int32_t len = 0;
    assert_int_equal(cpubind_cpulist_format(list, n, text, (int32_t)sizeof text - 1, &len),
                     CPUBIND_TEXT_OK);
    text[len] = '\0';
    assert_string_equal(text, wanted);
}

/* Binds a rank, and expects CPUs and nodes. */
static cpubind_numa_bound expect_bound(made_host *h, const cpubind_numa_asked *asked,
                                       const char *cpus, const char *nodes)
{
    cpubind_numa_bound bound;
    assert_int_equal(cpubind_numa_bind_find(&h->facts, asked, &h->arena, &bound),
                     CPUBIND_NUMA_BIND_OK);
    expect_list(bound.cpu, bound.n_cpu, cpus);
    expect_list(bound.node, bound.n_node, nodes);
    return bound;
}

static void expect_status(made_host *h, const cpubind_numa_asked *asked,
                          cpubind_numa_bind_status status, int32_t n_rank)
{
    cpubind_numa_bound bound;
    assert_int_equal(cpubind_numa_bind_find(&h->facts, asked, &h->arena, &bound), status);
    assert_int_equal(bound.n_rank, n_rank);
}

static const cpubind_request near_rules = {.rules = CPUBIND_RULES_NEAR};

/* == numa-bind ============================================================== */

TEST(a_device_alone_on_its_node_gets_the_node)
{
    made_host *h = make(16, 2, 0, 1);
    add(h, 1, -1);
    add(h, 0, -1);
    expect_bound(h, &(cpubind_numa_asked){.index = 0}, "8-15", "1");
    expect_bound(h, &(cpubind_numa_asked){.index = 1}, "0-7", "0");
    drop(h);
}

TEST(two_devices_of_a_node_share_it_without_overlap_by_whole_cores)
{
    made_host *h = make(16, 2, 0, 2);
    for (int i = 0; i < 4; i++)
        add(h, i / 2, -1);
    expect_bound(h, &(cpubind_numa_asked){.index = 0}, "0-1,8-9", "0");
    expect_bound(h, &(cpubind_numa_asked){.index = 1}, "2-3,10-11", "0");
    expect_bound(h, &(cpubind_numa_asked){.index = 2}, "4-5,12-13", "1");
    expect_bound(h, &(cpubind_numa_asked){.index = 3}, "6-7,14-15", "1");
    drop(h);
}

TEST(interleaved_nodes_keep_their_even_and_odd_cpus)
{
    made_host *h = make(8, 2, 1, 1);
    add(h, 0, -1);
    add(h, 1, -1);
    expect_bound(h, &(cpubind_numa_asked){.index = 0}, "0,2,4,6", "0");
    expect_bound(h, &(cpubind_numa_asked){.index = 1}, "1,3,5,7", "1");
    drop(h);
}

TEST(a_narrow_cpuset_is_intersected)
{
    made_host *h = make(16, 2, 0, 1);
    cpubind_numa_bound bound;
    add(h, 0, -1);
    add(h, 1, -1);
    allow(h, "6-11");
    bound = expect_bound(h, &(cpubind_numa_asked){.index = 0}, "6-7", "0");
    assert_int_equal(bound.n_denied, 6);
    expect_bound(h, &(cpubind_numa_asked){.index = 1}, "8-11", "1");
    allow(h, "0-3");
    expect_status(h, &(cpubind_numa_asked){.index = 1}, CPUBIND_NUMA_BIND_NOT_ALLOWED, 2);
    drop(h);
}

TEST(a_device_that_is_not_found_does_not_turn_off_the_others)
{
    made_host *h = make(16, 2, 0, 1);
    add(h, 0, -1);
    add(h, -1, -1);
    add(h, 1, -1);
    expect_bound(h, &(cpubind_numa_asked){.index = 0}, "0-7", "0");
    expect_status(h, &(cpubind_numa_asked){.index = 1}, CPUBIND_NUMA_BIND_NO_PLACE, 3);
    expect_bound(h, &(cpubind_numa_asked){.index = 2}, "8-15", "1");
    expect_status(h, &(cpubind_numa_asked){.index = 3}, CPUBIND_NUMA_BIND_PAST_DEVICES, 3);
    drop(h);
}

TEST(a_hidden_device_keeps_its_share)
{
    made_host *h = make(16, 2, 0, 1);
    add(h, 0, -1);
    add(h, 0, -1);
    h->device[0].sight = CPUBIND_SIGHT_HIDDEN;
    expect_bound(h, &(cpubind_numa_asked){.index = 0}, "4-7", "0");
    drop(h);
}

TEST(a_virtual_function_beside_its_physical_one_has_no_share)
{
    made_host *h = make(16, 2, 0, 1);
    cpubind_device_plan plan;
    cpubind_facts joined;
    cpubind_problem problem;
    add(h, 0, -1);
    add(h, 0, -1);
    h->device[1].is_virtual = 1;
    h->device[1].sight = CPUBIND_SIGHT_HIDDEN;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            cpubind_plan_devices(&h->facts, &near_rules, &h->arena, &joined, &plan, &problem),
            CPUBIND_PROBLEM_NONE);
        assert_int_equal(plan.n_unit, 1);
        assert_int_equal(plan.n_hidden, i);
        /* In a virtual machine, which has no physical function, it keeps its share. */
        expect_list(plan.unit[0].cpu, plan.unit[0].n_cpu, i ? "0-3,8-11" : "0-15");
        expect_bound(h, &(cpubind_numa_asked){.index = 0}, i ? "0-3" : "0-7", "0");
        h->device[0].is_virtual = 1;
    }
    h->device[0].is_virtual = 0;
    /* Where it is not known what the runtime shows, it has no rank, either. */
    for (int i = 0; i < 2; i++) {
        h->device[1].sight = i ? CPUBIND_SIGHT_VISIBLE : CPUBIND_SIGHT_UNKNOWN;
        assert_int_equal(
            cpubind_plan_devices(&h->facts, &near_rules, &h->arena, &joined, &plan, &problem),
            CPUBIND_PROBLEM_NONE);
        assert_int_equal(plan.n_unit, 1 + i);
        for (int32_t unit = 0; unit < plan.n_unit; unit++)
            assert_in_range(plan.unit[unit].device, 0, joined.n_device - 1);
    }
    drop(h);
}

TEST(several_nodes_of_a_device_are_spread_over_the_devices)
{
    made_host *h = make(16, 2, 0, 1);
    add(h, 0, 1);
    add(h, 0, 1);
    expect_bound(h, &(cpubind_numa_asked){.index = 0}, "0-7", "0");
    expect_bound(h, &(cpubind_numa_asked){.index = 1}, "8-15", "1");
    drop(h);
}

TEST(more_ranks_than_cpus_share_the_node)
{
    made_host *h = make(6, 2, 0, 1);
    cpubind_numa_bound bound;
    for (int i = 0; i < 5; i++)
        add(h, i / 3, -1);
    allow(h, "0-1,3-4");
    for (int32_t rank = 0; rank < 3; rank++) { /* each says so, also those that come first */
        bound = expect_bound(h, &(cpubind_numa_asked){.index = rank}, "0-1", "0");
        assert_int_equal(bound.is_shared, 1);
    }
    for (int32_t rank = 3; rank < 5; rank++) {
        bound =
            expect_bound(h, &(cpubind_numa_asked){.index = rank}, rank == 3 ? "3" : "4", "1");
        assert_int_equal(bound.is_shared, 0);
    }
    drop(h);
}

TEST(a_list_of_nodes_needs_no_device)
{
    static const int32_t node[] = {0, 0, 1, 1};
    made_host *h = make(16, 2, 0, 1);
    expect_bound(h, &(cpubind_numa_asked){.index = 1, .node = node, .n_node = 4}, "4-7", "0");
    expect_bound(h, &(cpubind_numa_asked){.index = 2, .node = node, .n_node = 4}, "8-11", "1");
    expect_status(h, &(cpubind_numa_asked){.index = 4, .node = node, .n_node = 4},
                  CPUBIND_NUMA_BIND_PAST_NODES, 4);
    drop(h);
}

TEST(a_list_that_names_no_node_of_the_host_is_refused_for_every_rank)
{
    static const int32_t node[] = {0, 7};
    made_host *h = make(16, 2, 0, 1);
    cpubind_numa_bound bound;
    assert_int_equal(cpubind_numa_bind_find(&h->facts,
                                            &(cpubind_numa_asked){.node = node, .n_node = 2},
                                            &h->arena, &bound),
                     CPUBIND_NUMA_BIND_NO_NODE);
    assert_int_equal(bound.bad_node, 7);
    drop(h);
}

/* Grace: node 2 is memory alone; its CPUs are those of the nearest node. */
TEST(a_node_without_cpus_has_those_of_the_nearest_one)
{
    static const int32_t node[] = {2}, distance[] = {10, 40, 80, 40, 10, 20, 80, 20, 10};
    made_host *h = make(16, 2, 0, 1);
    h->all_node[2] = 2;
    h->facts.n_all_node = 3;
    memcpy(h->distance, distance, sizeof distance);
    h->facts.all_distance = h->distance;
    expect_bound(h, &(cpubind_numa_asked){.node = node, .n_node = 1}, "8-15", "2");
    drop(h);
}

TEST(lists_of_cpus_are_taken_as_they_are)
{
    static const int32_t cpu[] = {0, 1, 2, 8, 9}, row[] = {0, 3, 5}, node[] = {0, 1};
    const cpubind_lists cpus = {cpu, row, 2};
    made_host *h = make(16, 2, 0, 1);
    cpubind_numa_bound bound;
    expect_bound(h, &(cpubind_numa_asked){.index = 1, .cpus = &cpus}, "8-9", "1");
    expect_bound(h, &(cpubind_numa_asked){.cpus = &cpus, .node = node, .n_node = 2}, "0-2",
                 "0");
    expect_status(h, &(cpubind_numa_asked){.index = 2, .cpus = &cpus},
                  CPUBIND_NUMA_BIND_PAST_CPUS, 2);
    allow(h, "1-9");
    bound = expect_bound(h, &(cpubind_numa_asked){.cpus = &cpus}, "1-2", "0");
    assert_int_equal(bound.n_denied, 1);
    allow(h, "10-15");
    expect_status(h, &(cpubind_numa_asked){.cpus = &cpus}, CPUBIND_NUMA_BIND_NOT_ALLOWED, 0);
    drop(h);
}

TEST(a_full_arena_is_said)
{
    made_host *h = make(16, 2, 0, 1);
    add(h, 0, -1);
    add(h, 0, -1);
    for (size_t size = 0; size < ARENA; size += 64) {
        cpubind_numa_bound bound;
        cpubind_numa_bind_status status;
        h->arena.used = 0;
        h->arena.size = size;
        status = cpubind_numa_bind_find(&h->facts, &(cpubind_numa_asked){.index = 1}, &h->arena,
                                        &bound);
        if (status == CPUBIND_NUMA_BIND_OK)
            break;
        assert_int_equal(status, CPUBIND_NUMA_BIND_NO_MEMORY);
    }
    assert_in_range(h->arena.size, 64, ARENA / 2);
    drop(h);
}

/* == Plans ================================================================== */

/* The whole pool of a device with several tiles; NULL: the plan is not for the device. */
static void expect_whole(const cpubind_facts *joined, const cpubind_device_plan *plan,
                         int32_t device, const char *list)
{
    for (int32_t row = 0; row < plan->n_want; row++)
        if (joined->device[plan->want[row]].bus == device) {
            const int32_t first = plan->core.row[row];
            assert_non_null(list);
            expect_list(plan->core.cpu + first, plan->core.row[row + 1] - first, list);
            return;
        }
    assert_null(list);
}

TEST(a_plan_by_near_gives_each_device_its_share)
{
    made_host *h = make(16, 2, 0, 1);
    cpubind_device_plan plan;
    cpubind_facts joined;
    cpubind_problem problem;
    add(h, 0, -1);
    add(h, 0, -1);
    add(h, 1, -1);
    assert_int_equal(
        cpubind_plan_devices(&h->facts, &near_rules, &h->arena, &joined, &plan, &problem),
        CPUBIND_PROBLEM_NONE);
    assert_int_equal(plan.n_unit, 3);
    expect_list(plan.unit[0].cpu, plan.unit[0].n_cpu, "0-3");
    expect_list(plan.unit[1].cpu, plan.unit[1].n_cpu, "4-7");
    expect_list(plan.unit[2].cpu, plan.unit[2].n_cpu, "8-15");
    assert_int_equal(plan.unit[2].memory_node, 1);
    assert_int_equal(plan.unit[2].roles.span[CPUBIND_ROLE_MAIN].count, 8);
    assert_int_equal(plan.quality.n_pool, 3);
    assert_int_equal(plan.quality.near_cpu, 16);
    drop(h);
}

TEST(a_plan_by_the_reference_extends_to_the_next_node)
{
    const cpubind_request asked = {.rules = CPUBIND_RULES_REFERENCE,
                                   .roles = &(const cpubind_role_spec){{2, 1, 1, 1}}};
    made_host *h = make(16, 2, 0, 1);
    cpubind_device_plan plan;
    cpubind_facts joined;
    cpubind_problem problem;
    add(h, 0, -1);
    assert_int_equal(
        cpubind_plan_devices(&h->facts, &asked, &h->arena, &joined, &plan, &problem),
        CPUBIND_PROBLEM_NONE);
    expect_list(plan.unit[0].cpu, plan.unit[0].n_cpu, "0-15");
    assert_int_equal(plan.unit[0].roles.span[CPUBIND_ROLE_IRQ].count, 2);
    assert_int_equal(plan.unit[0].memory_node, 0);
    drop(h);
}

TEST(a_device_without_near_cpus_has_no_pool_and_the_others_have)
{
    const cpubind_request asked = {.rules = CPUBIND_RULES_REFERENCE,
                                   .roles = &(const cpubind_role_spec){{0, 1, 0, 0}}};
    made_host *h = make(16, 2, 0, 1);
    cpubind_device_plan plan;
    cpubind_facts joined;
    cpubind_problem problem;
    add(h, -1, -1);
    add(h, 1, -1);
    assert_int_equal(
        cpubind_plan_devices(&h->facts, &asked, &h->arena, &joined, &plan, &problem),
        CPUBIND_PROBLEM_NONE);
    assert_int_equal(plan.unit[0].n_cpu, 0);
    assert_int_equal(plan.unit[0].problem.code, CPUBIND_PROBLEM_NO_LOCAL_CPUS);
    assert_true(plan.unit[1].n_cpu > 0);
    drop(h);
}

TEST(forbidden_cpus_are_in_no_pool)
{
    made_host *h = make(16, 2, 0, 1);
    cpubind_device_plan plan;
    cpubind_facts joined;
    cpubind_problem problem;
    add(h, 0, -1);
    add(h, 1, -1);
    allow(h, "1-2,8,10");
    assert_int_equal(
        cpubind_plan_devices(&h->facts, &near_rules, &h->arena, &joined, &plan, &problem),
        CPUBIND_PROBLEM_NONE);
    expect_list(plan.unit[0].cpu, plan.unit[0].n_cpu, "1-2");
    expect_list(plan.unit[1].cpu, plan.unit[1].n_cpu, "8,10");
    drop(h);
}

/* The runtime numbers the second device first; the first is also the device of number 1. */
TEST(ranks_are_in_the_order_of_the_runtime)
{
    made_host *h = make(16, 2, 0, 1);
    cpubind_pci_rank rank[MAX_DEVICES * CPUBIND_PCI_NUMBERS];
    add(h, 0, -1);
    add(h, 1, -1);
    for (int i = 0; i < 2; i++) {
        h->device[i].accelerator.vendor = CPUBIND_VENDOR_NVIDIA;
        h->device[i].sight = CPUBIND_SIGHT_VISIBLE;
        h->device[i].number[0] = 1 - i;
        h->device[i].n_number = 1;
    }
    assert_int_equal(cpubind_pci_ranks(&h->facts, rank), 2);
    assert_int_equal(rank[0].device, 1);
    assert_int_equal(rank[1].device, 0);
    h->device[1].accelerator.vendor = CPUBIND_VENDOR_AMD;
    assert_int_equal(cpubind_pci_ranks(&h->facts, rank), 2);
    assert_int_equal(rank[0].device, 0);
    h->device[0].sight = CPUBIND_SIGHT_HIDDEN;
    h->device[0].n_number = 0;
    assert_int_equal(cpubind_pci_ranks(&h->facts, rank), 1);
    assert_int_equal(rank[0].device, 1);
    drop(h);
}

/* Devices 3 and 1 of the runtime, without devices 0 and 2. */
TEST(ranks_of_named_devices_need_no_number_zero)
{
    made_host *h = make(16, 2, 0, 1);
    cpubind_pci_rank rank[MAX_DEVICES * CPUBIND_PCI_NUMBERS];
    for (int i = 0; i < 2; i++) {
        add(h, i, -1);
        h->device[i].accelerator.vendor = CPUBIND_VENDOR_ASCEND;
        h->device[i].sight = CPUBIND_SIGHT_VISIBLE;
        h->device[i].number[0] = 3 - 2 * i;
        h->device[i].n_number = 1;
    }
    assert_int_equal(cpubind_pci_ranks(&h->facts, rank), 0);
    h->facts.is_part = 1;
    assert_int_equal(cpubind_pci_ranks(&h->facts, rank), 2);
    assert_int_equal(rank[0].device, 1);
    assert_int_equal(rank[1].device, 0);
    drop(h);
}

/* Two devices of two tiles on one node; the runtime numbers the tiles. */
static made_host *make_tiles(const char *allowed)
{
    made_host *h = make(16, 1, 0, 2);
    for (int32_t i = 0; i < 2; i++) {
        cpubind_pci_function *device = &h->device[i];
        add(h, 0, -1);
        device->accelerator.vendor = CPUBIND_VENDOR_INTEL;
        device->accelerator.n_tile = 2;
        device->sight = CPUBIND_SIGHT_VISIBLE;
        for (int32_t tile = 0; tile < 2; tile++) {
            device->number[tile] = 2 * i + tile;
            device->tile[tile] = tile;
        }
        device->n_number = 2;
    }
    if (allowed)
        allow(h, allowed);
    return h;
}

/* A process that sees only one tile finds the part that the others leave for it. */
TEST(tiles_of_a_device_part_its_pool)
{
    static const char *const all_parts[2][4] = {
        {"0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"}, {"0-3", "4-7", "8-11", "12-15"}};
    static const char *const wholes[2] = {"4-7,12-15", "8-15"};
    made_host *h = make_tiles(NULL);
    cpubind_device_plan plan;
    cpubind_facts joined;
    cpubind_problem problem;
    for (int way = 0; way < 2; way++) {
        const char *const *parts = all_parts[way];
        const cpubind_request asked = {.rules =
                                           way ? CPUBIND_RULES_REFERENCE : CPUBIND_RULES_NEAR};
        assert_int_equal(
            cpubind_plan_devices(&h->facts, &asked, &h->arena, &joined, &plan, &problem),
            CPUBIND_PROBLEM_NONE);
        assert_int_equal(plan.n_unit, 4);
        for (int32_t rank = 0; rank < 4; rank++) {
            assert_int_equal(plan.unit[rank].on_bus, rank / 2);
            assert_int_equal(plan.unit[rank].tile, rank % 2);
            expect_list(plan.unit[rank].cpu, plan.unit[rank].n_cpu, parts[rank]);
            expect_list(plan.unit[rank].role_cpu, plan.unit[rank].roles.span[1].count,
                        parts[rank]);
        }
        expect_whole(&joined, &plan, 1, wholes[way]);
    }
    h->device[0].sight = CPUBIND_SIGHT_HIDDEN;
    h->device[0].n_number = 0;
    h->device[1].n_number = 1;
    h->device[1].number[0] = 0;
    h->device[1].tile[0] = 1;
    assert_int_equal(
        cpubind_plan_devices(&h->facts, &near_rules, &h->arena, &joined, &plan, &problem),
        CPUBIND_PROBLEM_NONE);
    assert_int_equal(plan.n_unit, 1);
    expect_list(plan.unit[0].cpu, plan.unit[0].n_cpu, all_parts[0][3]);
    expect_whole(&joined, &plan, 0, NULL);
    h->device[1].tile[0] = -1; /* the process has all tiles */
    assert_int_equal(
        cpubind_plan_devices(&h->facts, &near_rules, &h->arena, &joined, &plan, &problem),
        CPUBIND_PROBLEM_NONE);
    expect_list(plan.unit[0].cpu, plan.unit[0].n_cpu, wholes[0]);
    drop(h);
}

TEST(no_tile_has_a_pool_where_one_would_have_none)
{
    made_host *h = make_tiles("0-1,8");
    cpubind_device_plan plan;
    cpubind_facts joined;
    cpubind_problem problem;
    assert_int_equal(
        cpubind_plan_devices(&h->facts, &near_rules, &h->arena, &joined, &plan, &problem),
        CPUBIND_PROBLEM_NONE);
    expect_list(plan.unit[0].cpu, plan.unit[0].n_cpu, "0");
    expect_list(plan.unit[1].cpu, plan.unit[1].n_cpu, "1");
    expect_whole(&joined, &plan, 1, "8");
    for (int32_t rank = 2; rank < 4; rank++) {
        assert_int_equal(plan.unit[rank].n_cpu, 0);
        assert_int_equal(plan.unit[rank].problem.code, CPUBIND_PROBLEM_TOO_FEW_CPUS);
        assert_int_equal(plan.unit[rank].problem.need, 1);
    }
    drop(h);
}

TEST(tiles_of_a_device_share_its_node_without_overlap)
{
    static const char *const parts[] = {"0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"};
    made_host *h = make_tiles(NULL);
    for (int32_t rank = 0; rank < 4; rank++) {
        const cpubind_numa_asked asked = {.index = rank};
        const cpubind_numa_bound bound = expect_bound(h, &asked, parts[rank], "0");
        assert_true(bound.has_rivals && !bound.is_shared);
        assert_int_equal(bound.device, rank / 2);
    }
    h->device[1].n_number = 0; /* a device alone, and a tile of it */
    h->facts.n_bus = h->facts.devices.affinity.n = 1;
    h->device[0].number[0] = 0;
    h->device[0].tile[0] = 1;
    h->device[0].n_number = 1;
    expect_bound(h, &(cpubind_numa_asked){.index = 0}, "4-7,12-15", "0");
    drop(h);
    h = make_tiles("5");
    assert_true(expect_bound(h, &(cpubind_numa_asked){.index = 1}, "5", "0").is_shared);
    drop(h);
}

TEST_FILE(NULL, NULL)
