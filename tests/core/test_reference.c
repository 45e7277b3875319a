/* test_reference.c - the rules of the reference a second time, as loops, over random hosts
 * SPDX-License-Identifier: MIT
 *
 * The vectors of test_vectors.c come from the reference itself. These are hosts that it was not
 * run on: nodes with holes, homes of any shape, devices that are hidden.
 */
#include "../support/test.h"
#include "model.h"

static odd_host host;
static int32_t owner[HOST_CPUS], work[CPUBIND_WORK(HOST_CPUS, HOST_NODES, HOST_DEVICES)];
static uint8_t home[HOST_DEVICES][HOST_CPUS], pool[HOST_DEVICES][HOST_CPUS]; /* by CPU */

static int32_t may(int32_t d, int32_t i)
{
    const cpubind_list *list = &host.device[d].allowed;
    return list->cpu == NULL || model_has(*list, host.host.cpu[i]);
}

static int32_t node_has_cpu(int32_t node)
{
    for (int32_t i = 0; i < host.host.n_cpu; i++)
        if (host.host.node[i] == node)
            return 1;
    return 0;
}

/* The node of the home of a device, or -1. */
static int32_t one_node(int32_t d)
{
    int32_t node = CPUBIND_NONE;
    for (int32_t i = 0; i < host.host.n_cpu; i++) {
        if (!home[d][i])
            continue;
        if (node != CPUBIND_NONE && node != host.host.node[i])
            return CPUBIND_NONE;
        node = host.host.node[i];
    }
    return node;
}

/* The homes, and the pools with the next node. */
static void extend(void)
{
    const cpubind_host *h = &host.host;
    for (int32_t d = 0; d < host.n_device; d++) {
        int32_t next;
        for (int32_t i = 0; i < h->n_cpu; i++)
            pool[d][i] = home[d][i] =
                (uint8_t)(may(d, i) && model_has(host.device[d].home, h->cpu[i]));
        next = one_node(d);
        if (next == CPUBIND_NONE)
            continue;
        do
            next = (next + 1) % h->n_node;
        while (!node_has_cpu(next));
        for (int32_t i = 0; i < h->n_cpu; i++)
            pool[d][i] |= (uint8_t)(may(d, i) && h->node[i] == next);
    }
}

static int32_t are_equal(int32_t a, int32_t b)
{
    return memcmp(pool[a], pool[b], (size_t)host.host.n_cpu) == 0;
}

/* The part of the pool of device d: equal pools are cut, and the last has the rest. */
static void cut(int32_t d, uint8_t *out)
{
    int32_t part = 0, parts = 0, n = 0, at = 0;
    for (int32_t e = 0; e < host.n_device; e++)
        if (are_equal(d, e)) {
            part += e < d;
            parts++;
        }
    for (int32_t i = 0; i < host.host.n_cpu; i++)
        n += pool[d][i];
    for (int32_t i = 0; i < host.host.n_cpu; i++) {
        const int32_t end = part == parts - 1 ? n : n / parts * (part + 1);
        out[i] = pool[d][i] && at >= n / parts * part && at < end;
        at += pool[d][i];
    }
}

static cpubind_status plan(const cpubind_policy *policy, cpubind_report *r)
{
    return cpubind_plan(&host.host, host.device, host.n_device, policy, owner, work, r);
}

static void make(uint64_t seed, int32_t lists)
{
    const host_limits limits = {6, 12, 8, 0, lists, 0, 0};
    odd_host_make(seed, limits, &host);
    extend();
}

static void check_keep(uint64_t seed, int32_t d)
{
    const cpubind_policy policy = {.rule = CPUBIND_RULE_AFFINITY,
                                   .overlap = CPUBIND_OVERLAP_KEEP};
    uint8_t want[HOST_CPUS];
    cut(d, want);
    for (int32_t e = 0; e < host.n_device; e++)
        host.device[e].is_hidden = e != d;
    assert_int_equal(plan(&policy, NULL), CPUBIND_OK);
    for (int32_t i = 0; i < host.host.n_cpu; i++)
        if (owner[i] != (want[i] ? d : CPUBIND_NONE))
            fail_msg("seed %d, device %d, CPU %d", (int)seed, (int)d, (int)host.host.cpu[i]);
}

/* Whether two pools that are not equal have a CPU in common. */
static int32_t overlap(int32_t *cpu)
{
    for (int32_t i = 0; i < host.host.n_cpu; i++)
        for (int32_t d = 0; d < host.n_device; d++)
            for (int32_t e = 0; e < d; e++)
                if (pool[d][i] && pool[e][i] && !are_equal(d, e)) {
                    *cpu = host.host.cpu[i];
                    return 1;
                }
    return 0;
}

/* A CPU in a home is for those whose home it is in, one in nobody's for those whose pool it is
 * in; nobody who may have it has less than who does, but for one CPU. */
static void check_resolved(uint64_t seed)
{
    for (int32_t i = 0; i < host.host.n_cpu; i++) {
        int32_t has_home = 0, has_pool = 0;
        for (int32_t d = 0; d < host.n_device; d++) {
            has_home |= home[d][i];
            has_pool |= pool[d][i];
        }
        if (owner[i] == CPUBIND_NONE ? has_pool
                                     : !(has_home ? home[owner[i]][i] : pool[owner[i]][i]))
            fail_msg("seed %d, CPU %d is given to %d", (int)seed, (int)host.host.cpu[i],
                     (int)owner[i]);
    }
}

TEST(affinity_is_that_of_the_reference)
{
    int32_t overlaps = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        const cpubind_policy refuse = {.rule = CPUBIND_RULE_AFFINITY,
                                       .overlap = CPUBIND_OVERLAP_REFUSE};
        const cpubind_policy resolve = {.rule = CPUBIND_RULE_AFFINITY};
        int32_t is_twice, cpu = CPUBIND_NONE;
        cpubind_report r;
        make(seed, seed % 3 == 0);
        is_twice = overlap(&cpu);
        overlaps += is_twice;
        for (int32_t d = 0; d < host.n_device; d++)
            check_keep(seed, d);
        assert_int_equal(plan(&refuse, &r), is_twice ? CPUBIND_ERR_OVERLAP : CPUBIND_OK);
        assert_int_equal(r.cpu, cpu);
        assert_int_equal(r.device >= 0 && r.other > r.device, is_twice);
        assert_int_equal(plan(&resolve, &r), CPUBIND_OK);
        assert_int_equal(r.cpu, cpu);
        if (is_twice)
            check_resolved(seed);
        for (int32_t d = 0; d < host.n_device && !is_twice; d++) {
            uint8_t want[HOST_CPUS];
            cut(d, want);
            for (int32_t i = 0; i < host.host.n_cpu; i++)
                assert_int_equal(owner[i] == d, want[i]);
        }
    }
    assert_in_range(overlaps, 500, 1900);
}

TEST(slices_are_those_of_the_reference)
{
    const cpubind_policy policy = {.rule = CPUBIND_RULE_SLICE};
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        make(seed, seed % 3 == 0);
        assert_int_equal(plan(&policy, NULL), CPUBIND_OK);
        for (int32_t d = 0; d < host.n_device; d++) {
            int32_t n = 0, at = 0, base, extra;
            for (int32_t i = 0; i < host.host.n_cpu; i++)
                n += may(d, i);
            base = n / host.n_device;
            extra = n % host.n_device;
            for (int32_t i = 0; i < host.host.n_cpu; i++) {
                const int32_t first = d * base + (d < extra ? d : extra);
                const int32_t is_mine =
                    may(d, i) && at >= first && at < first + base + (d < extra);
                at += may(d, i);
                if (host.is_shared)
                    assert_int_equal(owner[i] == d, is_mine);
                else if (owner[i] == d)
                    assert_true(may(d, i));
            }
        }
    }
}

/* Whole clusters of the node of the home, in the order of devices and CPUs; none for anybody
 * where a node has too few. */
static int32_t give_clusters(const cpubind_policy *policy, int32_t *want)
{
    for (int32_t i = 0; i < host.host.n_cpu; i++)
        want[i] = CPUBIND_NONE;
    for (int32_t d = 0; d < host.n_device; d++) {
        const int32_t node = one_node(d);
        int32_t left = policy->cluster;
        if (node == CPUBIND_NONE)
            continue;
        for (int32_t i = 0; i < host.host.n_cpu && left > 0; i++) {
            int32_t is_allowed = 0;
            for (int32_t e = 0; e < host.n_device; e++)
                is_allowed |= may(e, i);
            if (host.host.node[i] != node || want[i] != CPUBIND_NONE || !is_allowed ||
                (policy->overlap != CPUBIND_OVERLAP_RESOLVE && node < policy->n_spare))
                continue;
            want[i] = d;
            left--;
        }
        if (left > 0)
            return 0;
    }
    return 1;
}

TEST(clusters_are_those_of_the_reference)
{
    int32_t want[HOST_CPUS], made = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        const cpubind_policy policy = {.rule = CPUBIND_RULE_CLUSTER,
                                       .overlap = seed % 2 ? CPUBIND_OVERLAP_KEEP
                                                           : CPUBIND_OVERLAP_RESOLVE,
                                       .cluster = 1 + (int32_t)(seed % 5),
                                       .n_spare = (int32_t)(seed % 3)};
        int32_t has_all;
        make(seed, 0);
        has_all = give_clusters(&policy, want);
        made += has_all;
        assert_int_equal(plan(&policy, NULL), CPUBIND_OK);
        for (int32_t i = 0; i < host.host.n_cpu; i++)
            if (owner[i] != (has_all ? want[i] : CPUBIND_NONE))
                fail_msg("seed %d, CPU %d", (int)seed, (int)host.host.cpu[i]);
    }
    assert_in_range(made, 300, 1900);
}

TEST_FILE(NULL, NULL)
