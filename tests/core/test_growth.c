/* test_growth.c - the largest plans, and those that need the most work
 * SPDX-License-Identifier: MIT
 *
 * Results only; nothing about time is asserted. tests/bench prints how it grows.
 */
#include <stdio.h>

#include "../../adapters/cpubind_old.h"
#include "../support/exact_buffer.h"
#include "../support/test.h"

/* A host of CPUs 0 .. n_cpu - 1 on nodes 0 .. n_node - 1, and a plan of all devices. */
typedef struct grown {
    int32_t *cpu, *node, *node_id, *affinity, *row;
    cpubind_host host;
    cpubind_devices devices;
    cpubind_policy policy;
    cpubind_plan plan;
    cpubind_status status;
} grown;

/* Nodes are blocks of neighbours. The caller fills the affinity with add_near. */
static grown grow(int32_t n_cpu, int32_t n_node, int32_t n_device, int32_t n_affinity)
{
    static const cpubind_role_spec roles = {{0, 0, 0, 0}};
    grown g;
    memset(&g, 0, sizeof g);
    g.cpu = edge_ints(n_cpu);
    g.node = edge_ints(n_cpu);
    g.node_id = edge_ints(n_node);
    g.affinity = edge_ints(n_affinity);
    g.row = edge_ints(n_device + 1);
    for (int32_t i = 0; i < n_cpu; i++) {
        g.cpu[i] = i;
        g.node[i] = (int32_t)((int64_t)i * n_node / n_cpu);
    }
    for (int32_t i = 0; i < n_node; i++)
        g.node_id[i] = i;
    memset(g.row, 0, (size_t)(n_device + 1) * sizeof(int32_t));
    g.host.cpu = g.cpu;
    g.host.node = g.node;
    g.host.node_id = g.node_id;
    g.host.n_cpu = n_cpu;
    g.host.n_node = n_node;
    g.devices.affinity.cpu = g.affinity;
    g.devices.affinity.row = g.row;
    g.devices.affinity.n = n_device;
    g.policy.strategy = CPUBIND_TOPO_AFFINITY;
    g.policy.roles = roles;
    g.policy.cluster = 1;
    return g;
}

/* Adds CPUs first .. first + count - 1 to the affinity of `device`; devices come in order. */
static void add_near(grown *g, int32_t device, int32_t first, int32_t count)
{
    int32_t n = g->row[device + 1] ? g->row[device + 1] : g->row[device];
    for (int32_t i = 0; i < count; i++)
        g->affinity[n++] = first + i;
    g->row[device + 1] = n;
}

static void plan_all(grown *g)
{
    int32_t n = g->devices.affinity.n;
    g->plan.cap_cpu = CPUBIND_PLAN_CPUS(g->host.n_cpu);
    g->plan.cap_work = g->policy.strategy == CPUBIND_NEAR
                           ? CPUBIND_PLAN_WORK_NEAR(g->host.n_cpu, g->host.n_node, n, g->row[n])
                           : CPUBIND_PLAN_WORK(g->host.n_cpu, g->host.n_node, n, g->row[n]);
    g->plan.cpu = edge_ints(g->plan.cap_cpu);
    g->plan.row = edge_ints(n + 1);
    g->plan.work = edge_ints(g->plan.cap_work);
    g->status = cpubind_make_plan(&g->host, &g->devices, &g->policy, &g->plan, NULL);
    assert_int_equal(g->status, CPUBIND_OK);
}

/* Device d has `size` CPUs, the d-th block of all. */
static void assert_blocks(const grown *g, int32_t size)
{
    assert_int_equal(g->plan.n_cpu, g->host.n_cpu);
    for (int32_t d = 0; d <= g->devices.affinity.n; d++)
        assert_int_equal(g->plan.row[d], d * size);
    for (int32_t i = 0; i < g->plan.n_cpu; i++)
        assert_int_equal(g->plan.cpu[i], i);
}

static void drop(grown *g)
{
    free(g->cpu);
    free(g->node);
    free(g->node_id);
    free(g->affinity);
    free(g->row);
    free(g->plan.cpu);
    free(g->plan.row);
    free(g->plan.work);
}

TEST(the_limits_are_planned_without_affinity)
{
    grown g = grow(CPUBIND_MAX_CPUS, 1024, CPUBIND_MAX_DEVICES, 0);
    plan_all(&g);
    assert_int_equal(g.plan.strategy, CPUBIND_GLOBAL_SLICE);
    assert_blocks(&g, 16);
    drop(&g);
}

TEST(the_limits_are_planned_with_a_slot_for_each_device)
{
    grown g = grow(CPUBIND_MAX_CPUS, 1024, CPUBIND_MAX_DEVICES, 0);
    int32_t *slot = edge_ints(CPUBIND_MAX_DEVICES);
    for (int32_t d = 0; d < CPUBIND_MAX_DEVICES; d++)
        slot[d] = CPUBIND_MAX_DEVICES - 1 - d;
    g.devices.slot = slot;
    g.devices.total = CPUBIND_MAX_DEVICES;
    plan_all(&g);
    for (int32_t d = 0; d < CPUBIND_MAX_DEVICES; d++)
        assert_int_equal(g.plan.cpu[g.plan.row[d]], slot[d] * 16);
    free(slot);
    drop(&g);
}

TEST(the_limits_are_planned_with_a_node_for_each_device)
{
    grown g =
        grow(CPUBIND_MAX_CPUS, CPUBIND_MAX_DEVICES, CPUBIND_MAX_DEVICES, CPUBIND_MAX_CPUS);
    for (int32_t d = 0; d < CPUBIND_MAX_DEVICES; d++)
        add_near(&g, d, d * 16, 16);
    plan_all(&g);
    assert_int_equal(g.plan.strategy, CPUBIND_TOPO_AFFINITY);
    assert_int_equal(g.plan.overlap, CPUBIND_FOUND_RESOLVED);
    assert_blocks(&g, 16);
    drop(&g);
}

TEST(a_node_for_each_cpu_is_planned)
{
    grown g = grow(CPUBIND_MAX_CPUS, CPUBIND_MAX_CPUS, 2, 2);
    add_near(&g, 0, 0, 1);
    add_near(&g, 1, CPUBIND_MAX_CPUS - 1,
             1); /* extended onto node 0: device 0 is at home there */
    plan_all(&g);
    assert_int_equal(g.plan.n_cpu, 3);
    assert_int_equal(g.plan.row[1], 2);
    assert_int_equal(g.plan.cpu[0], 0);
    assert_int_equal(g.plan.cpu[1], 1);
    assert_int_equal(g.plan.cpu[2], CPUBIND_MAX_CPUS - 1);
    drop(&g);
}

TEST(of_1024_devices_on_8192_cpus_eight_share_a_node)
{
    grown g = grow(8192, 128, 1024, 1024 * 64);
    for (int32_t d = 0; d < 1024; d++)
        add_near(&g, d, d / 8 * 64, 64);
    plan_all(&g);
    assert_int_equal(g.plan.overlap, CPUBIND_FOUND_RESOLVED);
    assert_blocks(&g, 8);
    drop(&g);
}

/* Each device is near all CPUs but 8 others: no two pools are equal, and all overlap. */
TEST(large_homes_that_all_differ_share_evenly)
{
    grown g = grow(1024, 16, 128, 128 * 1016);
    for (int32_t d = 0; d < 128; d++) {
        add_near(&g, d, 0, d * 8);
        add_near(&g, d, (d + 1) * 8, 1024 - (d + 1) * 8);
    }
    plan_all(&g);
    assert_int_equal(g.plan.overlap, CPUBIND_FOUND_RESOLVED);
    assert_int_equal(g.plan.n_cpu, 1024);
    for (int32_t d = 0; d < 128; d++)
        assert_int_equal(g.plan.row[d + 1] - g.plan.row[d], 8);
    drop(&g);
}

/* A host whose homes all lie on both nodes: none is extended. */
static grown grow_mixed(int32_t n_cpu, int32_t n_device, int32_t n_affinity)
{
    grown g = grow(n_cpu, 2, n_device, n_affinity);
    for (int32_t i = 0; i < n_cpu; i++)
        g.node[i] = i % 2;
    return g;
}

/* The home of each device contains the homes of all devices before it. Pools are even only when
 * each device gets the CPUs that its home adds; most shares have no CPUs all the while. */
TEST(homes_inside_one_another_share_evenly)
{
    enum { DEVICES = 512 };
    grown g = grow_mixed(DEVICES * 8, DEVICES, DEVICES * (DEVICES + 1) / 2 * 8);
    for (int32_t d = 0; d < DEVICES; d++)
        add_near(&g, d, 0, 8 * (d + 1));
    plan_all(&g);
    assert_int_equal(g.plan.overlap, CPUBIND_FOUND_RESOLVED);
    assert_blocks(&g, 8);
    drop(&g);
}

/* Every pool has `size` CPUs or one more; an even pool of each device is possible. */
static void assert_even(const grown *g, int32_t size)
{
    assert_int_equal(g->plan.overlap, CPUBIND_FOUND_RESOLVED);
    assert_int_equal(g->plan.n_cpu, g->host.n_cpu);
    for (int32_t d = 0; d < g->devices.affinity.n; d++) {
        int32_t n = g->plan.row[d + 1] - g->plan.row[d];
        assert_true(n == size || n == size + 1);
    }
}

TEST(homes_inside_one_another_at_the_end_share_evenly)
{
    enum { DEVICES = 512 };
    grown g = grow_mixed(DEVICES * 8, DEVICES, DEVICES * (DEVICES + 1) / 2 * 8);
    for (int32_t d = 0; d < DEVICES; d++)
        add_near(&g, d, 8 * (DEVICES - d - 1), 8 * (d + 1));
    plan_all(&g);
    assert_even(&g, 8);
    drop(&g);
}

TEST(homes_inside_one_another_from_the_largest_share_evenly)
{
    enum { DEVICES = 256 };
    grown g = grow_mixed(DEVICES * 16, DEVICES, DEVICES * (DEVICES + 1) / 2 * 16);
    for (int32_t d = 0; d < DEVICES; d++)
        add_near(&g, d, 0, 16 * (DEVICES - d));
    plan_all(&g);
    assert_even(&g, 16);
    drop(&g);
}

/* Each home starts 8 CPUs after the one before it. */
TEST(homes_that_slide_share_evenly)
{
    enum { DEVICES = 256, NEAR = 2048 };
    grown g = grow_mixed(8 * (DEVICES - 1) + NEAR, DEVICES, DEVICES * NEAR);
    for (int32_t d = 0; d < DEVICES; d++)
        add_near(&g, d, 8 * d, NEAR);
    plan_all(&g);
    assert_even(&g, (8 * (DEVICES - 1) + NEAR) / DEVICES);
    drop(&g);
}

/* Each device is near every 7th to 19th CPU. */
TEST(homes_of_every_nth_cpu_share_evenly)
{
    enum { DEVICES = 256, CPUS = 4096 };
    grown g = grow_mixed(CPUS, DEVICES, DEVICES * (CPUS / 7 + 1));
    for (int32_t d = 0; d < DEVICES; d++)
        for (int32_t cpu = d % 7; cpu < CPUS; cpu += 7 + d % 13)
            add_near(&g, d, cpu, 1);
    plan_all(&g);
    assert_even(&g, CPUS / DEVICES);
    drop(&g);
}

/* Device 0 has `size` CPUs alone, and every two neighbours share `size` CPUs: pools are even
 * only when each shared block goes to the later device as a whole. */
static void check_chain(int32_t n_device, int32_t size)
{
    grown g = grow_mixed(n_device * size, n_device, 2 * n_device * size);
    for (int32_t d = 0; d < n_device; d++)
        add_near(&g, d, d * size, d == n_device - 1 ? size : 2 * size);
    plan_all(&g);
    assert_int_equal(g.plan.overlap, CPUBIND_FOUND_RESOLVED);
    assert_blocks(&g, size);
    drop(&g);
}

TEST(cpus_move_through_a_chain_of_any_length)
{
    check_chain(2, 2);
    check_chain(3, 7);
    check_chain(16, 40);
    check_chain(257, 8);
    check_chain(1024, 8);
}

/* Each device is near up to 128 CPUs at random: most CPUs are a group of their own. */
TEST(the_limits_are_planned_with_homes_at_random)
{
    enum { DEVICES = CPUBIND_MAX_DEVICES, NEAR = 128 };
    grown g = grow(CPUBIND_MAX_CPUS, 2, DEVICES, DEVICES * NEAR);
    uint32_t random = 1;
    for (int32_t i = 0; i < CPUBIND_MAX_CPUS; i++)
        g.node[i] = i % 2; /* homes lie on both nodes: none is extended */
    for (int32_t d = 0; d < DEVICES; d++) {
        int32_t cpu = d % 512;
        for (int32_t i = 0; i < NEAR && cpu < CPUBIND_MAX_CPUS; i++) {
            add_near(&g, d, cpu, 1);
            random = random * 1664525u + 1013904223u;
            cpu += 1 + (int32_t)(random >> 16) % 1000;
        }
    }
    plan_all(&g);
    assert_int_equal(g.plan.overlap, CPUBIND_FOUND_RESOLVED);
    for (int32_t d = 0; d < DEVICES; d++) {
        int32_t size = g.plan.row[d + 1] - g.plan.row[d];
        assert_true(size >= g.plan.n_cpu / DEVICES);
        assert_true(size <= g.plan.n_cpu / DEVICES + 1);
    }
    drop(&g);
}

static uint32_t random_below(uint64_t *seed, int32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % (uint32_t)n;
}

/* One of nine shapes of affinity, with a step and a width. */
typedef struct shape {
    int32_t kind, q, width;
} shape;

static int32_t is_near_device(uint64_t *seed, const grown *g, shape a, int32_t d, int32_t i)
{
    const int32_t n = g->host.n_cpu;
    const int32_t size = 1 + d * n / g->devices.affinity.n;
    switch (a.kind) {
    case 0:
        return i < size;
    case 1:
        return i >= n - size;
    case 2:
        return i % (a.q + d % 13) == d % a.q;
    case 3:
        return i >= d && i < d + a.width;
    case 4:
        return i / a.q != d;
    case 5:
        return d >> i % 5 & 1;
    case 6:
        return d % 2 ? i < size : i >= n - size;
    case 7:
        return i >= d * a.q && i < (d + 2) * a.q;
    default:
        return i < n - size + 1 && random_below(seed, 16) != 0;
    }
}

static int32_t all_have_homes(const grown *g)
{
    for (int32_t d = 0; d < g->devices.affinity.n; d++)
        if (g->row[d] == g->row[d + 1])
            return 0;
    return 1;
}

/* A plan of a host of up to 60 CPUs and 14 devices, or `times` as many, as FNV-1a. */
static uint64_t add_random_plan(uint64_t hash, uint64_t seed, int32_t times)
{
    const int32_t n_node = 1 + (int32_t)random_below(&seed, 6);
    const int32_t n_cpu = 1 + (int32_t)random_below(&seed, 60 * times);
    const int32_t n_device = 1 + (int32_t)random_below(&seed, 14 * times);
    const int32_t kind = (int32_t)random_below(&seed, 9);
    const int32_t q = 1 + (int32_t)random_below(&seed, 7);
    const shape a = {kind, q, 1 + (int32_t)random_below(&seed, n_cpu)};
    grown g = grow(n_cpu, n_node, n_device, n_cpu * n_device);
    for (int32_t i = 0; i < n_cpu; i++)
        if (random_below(&seed, 3) == 0)
            g.node[i] = (int32_t)random_below(&seed, n_node);
    for (int32_t d = 0; d < n_device; d++) {
        add_near(&g, d, 0, 0);
        for (int32_t i = 0; i < n_cpu; i++)
            if (is_near_device(&seed, &g, a, d, i))
                add_near(&g, d, i, 1);
    }
    if (all_have_homes(&g)) {
        plan_all(&g);
        for (int32_t i = 0; i < g.plan.n_cpu; i++)
            hash = (hash ^ (uint64_t)g.plan.cpu[i]) * 1099511628211u;
        for (int32_t d = 0; d <= n_device; d++)
            hash = (hash ^ (uint64_t)g.plan.row[d]) * 1099511628211u;
    }
    drop(&g);
    return hash;
}

/* Each process plans the host for itself, so that ties must break the same way always. A few
 * hosts have so many claims that their groups are filled by load. */
TEST(plans_of_random_hosts_never_change)
{
    uint64_t hash = 14695981039346656037u;
    for (int32_t i = 0; i < 6000; i++)
        hash = add_random_plan(hash, (uint64_t)i * 7919 + 13,
                               i % 1000 == 0 ? 60
                               : i % 50 == 0 ? 5
                                             : 1);
    assert_int_equal(hash, UINT64_C(0xff77e9c035ade251));
}

TEST(near_plans_the_limits_with_a_node_for_four_devices)
{
    grown g =
        grow(CPUBIND_MAX_CPUS, CPUBIND_MAX_NODES, CPUBIND_MAX_DEVICES, 4 * CPUBIND_MAX_CPUS);
    g.policy.strategy = CPUBIND_NEAR;
    for (int32_t d = 0; d < CPUBIND_MAX_DEVICES; d++)
        add_near(&g, d, d / 4 * 64, 64);
    plan_all(&g);
    assert_int_equal(g.plan.strategy, CPUBIND_NEAR);
    assert_blocks(&g, 16);
    drop(&g);
}

/* Each device has a CPU of every node in its home, so that it has a place on every node; the
 * other CPUs may go to all devices. */
TEST(near_plans_homes_on_all_nodes)
{
    enum { NODES = CPUBIND_MAX_NODES, DEVICES = 512 };
    grown g = grow(NODES * 16, NODES, DEVICES, NODES * DEVICES);
    g.policy.strategy = CPUBIND_NEAR;
    for (int32_t d = 0; d < DEVICES; d++)
        for (int32_t node = 0; node < NODES; node++)
            add_near(&g, d, node * 16 + d % 8, 1);
    plan_all(&g);
    assert_int_equal(g.plan.n_cpu, NODES * 16);
    for (int32_t d = 0; d < DEVICES; d++)
        assert_int_equal(g.plan.row[d + 1] - g.plan.row[d], NODES * 16 / DEVICES);
    drop(&g);
}

/* Half of the devices have one CPU each, and are lent seven each by the others (N7). */
TEST(near_lends_to_many_devices)
{
    enum { DEVICES = 1024 };
    grown g = grow(DEVICES * 8, 8, DEVICES, DEVICES * 8);
    g.policy.strategy = CPUBIND_NEAR;
    g.policy.roles.count[CPUBIND_ROLE_MAIN] = 8;
    for (int32_t d = 0; d < DEVICES / 2; d++)
        add_near(&g, d, d, 1);
    for (int32_t d = 0; d < DEVICES / 2; d++)
        add_near(&g, DEVICES / 2 + d, DEVICES / 2 + d * 15, 15);
    plan_all(&g);
    for (int32_t d = 0; d < DEVICES; d++)
        assert_int_equal(g.plan.row[d + 1] - g.plan.row[d], 8);
    drop(&g);
}

TEST_FILE(NULL, NULL)
