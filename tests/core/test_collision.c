/* test_collision.c - different extended pools with equal hashes are told apart
 * SPDX-License-Identifier: MIT
 *
 * Extended pools are looked up by a hash, the sum of the hashes of their segments. Two
 * different pools with one hash are so rare that no random host has them: the test searches for
 * such a pair, with the hash function of the header. Segments are grouped by two sums of hashes
 * of 31 bits: what is done where both are equal by chance is called alone.
 */
#define CPUBIND_STATIC
#include "../../adapters/cpubind_old.h"
#include "../support/test.h"

#include <stdlib.h>
#include <string.h>

#define CPUS 1600

typedef struct pair {
    int32_t hash, a, b;
} pair;

static int by_hash(const void *left, const void *right)
{
    const pair *l = (const pair *)left;
    const pair *r = (const pair *)right;
    return (l->hash > r->hash) - (l->hash < r->hash);
}

/* Finds two pairs of an even and an odd segment, all different, with one sum of hashes. */
static int find_collision(pair *first, pair *second)
{
    int32_t n = CPUS / 2 * (CPUS / 2);
    pair *all = (pair *)malloc((size_t)n * sizeof *all);
    int found = 0;
    assert_non_null(all);
    n = 0;
    for (int32_t a = 0; a < CPUS; a += 2)
        for (int32_t b = 1; b < CPUS; b += 2) {
            all[n].hash = cpubind_priv_add_hash(cpubind_priv_hash(a), cpubind_priv_hash(b));
            all[n].a = a < b ? a : b;
            all[n++].b = a < b ? b : a;
        }
    qsort(all, (size_t)n, sizeof *all, by_hash);
    for (int32_t i = 1; i < n && !found; i++) {
        *first = all[i - 1];
        *second = all[i];
        found = first->hash == second->hash && first->a != second->a && first->b != second->b &&
                first->a != second->b && first->b != second->a;
    }
    free(all);
    return found;
}

TEST(pools_with_one_hash_are_told_apart)
{
    static int32_t cpu[CPUS], node[CPUS], work[CPUBIND_PLAN_WORK(CPUS, 2, 2, 4)];
    const int32_t node_id[] = {0, 1};
    const int32_t near_row[] = {0, 2, 4};
    int32_t near_cpu[4], out[CPUS], row[3];
    pair first, second;
    cpubind_host host = {cpu, node, node_id, CPUS, 2, NULL, NULL, NULL};
    cpubind_devices devices = {{near_cpu, near_row, 2}, NULL, 0, NULL, {NULL, NULL, 0}, NULL};
    cpubind_policy policy;
    cpubind_plan plan;
    assert_true(find_collision(&first, &second));
    for (int32_t i = 0; i < CPUS; i++) {
        cpu[i] = i;
        node[i] = i % 2; /* every CPU is a segment of its own */
    }
    near_cpu[0] = first.a;
    near_cpu[1] = first.b;
    near_cpu[2] = second.a;
    near_cpu[3] = second.b;
    memset(&policy, 0, sizeof policy);
    policy.strategy = CPUBIND_TOPO_AFFINITY;
    memset(&plan, 0, sizeof plan);
    plan.cpu = out;
    plan.row = row;
    plan.work = work;
    plan.cap_cpu = CPUS;
    plan.cap_work = (int32_t)(sizeof work / sizeof *work);
    assert_int_equal(cpubind_make_plan(&host, &devices, &policy, &plan, NULL), CPUBIND_OK);
    assert_int_equal(plan.overlap, CPUBIND_FOUND_NONE);
    assert_memory_equal(out, near_cpu, sizeof near_cpu);
    assert_int_equal(row[1], 2);
}

/* Three even segments, the hashes of the first two of which add up to that of the third. */
static int find_sum(int32_t n, int32_t *first, int32_t *second, int32_t *third)
{
    pair *all = (pair *)malloc((size_t)n * sizeof *all);
    int found = 0;
    assert_non_null(all);
    for (int32_t i = 0; i < n; i++) {
        all[i].hash = cpubind_priv_hash(2 * i);
        all[i].a = 2 * i;
    }
    qsort(all, (size_t)n, sizeof *all, by_hash);
    for (int32_t a = 0; a < n && !found; a++)
        for (int32_t b = 0; b < a && !found; b++) {
            const pair sum = {cpubind_priv_add_hash(all[a].hash, all[b].hash), 0, 0};
            const pair *c = (const pair *)bsearch(&sum, all, (size_t)n, sizeof *all, by_hash);
            found = c && c != &all[a] && c != &all[b];
            *first = all[a].a;
            *second = all[b].a;
            *third = c ? c->a : -1;
        }
    free(all);
    return found;
}

static int has_cpu(const cpubind_plan *plan, int32_t device, int32_t cpu)
{
    for (int32_t i = plan->row[device]; i < plan->row[device + 1]; i++)
        if (plan->cpu[i] == cpu)
            return 1;
    return 0;
}

/* Two homes on node 0, of two segments and of one, that are extended to node 1: the pools have
 * one hash, one size and one next node. */
TEST(homes_of_different_length_with_one_hash_are_told_apart)
{
    enum { SEGMENTS = 8000 };
    static int32_t cpu[SEGMENTS + 1], node[SEGMENTS + 1], out[SEGMENTS + 1];
    static int32_t work[CPUBIND_PLAN_WORK(SEGMENTS + 1, 2, 2, 4)];
    const int32_t node_id[] = {0, 1};
    const int32_t near_row[] = {0, 2, 4};
    int32_t first = -1, second = -1, third = -1, row[3];
    const cpubind_host host = {cpu, node, node_id, SEGMENTS + 1, 2, NULL, NULL, NULL};
    cpubind_plan plan;
    cpubind_policy policy;
    assert_true(find_sum(SEGMENTS / 2, &first, &second, &third));
    for (int32_t i = 0; i <= SEGMENTS; i++) { /* segment `third` has two CPUs, the others one */
        cpu[i] = i;
        node[i] = (i > third ? i - 1 : i) % 2;
    }
    first += first > third;
    second += second > third;
    const int32_t near_cpu[] = {first < second ? first : second,
                                first < second ? second : first, third, third + 1};
    const cpubind_devices devices = {{near_cpu, near_row, 2}, NULL, 0, NULL,
                                     {NULL, NULL, 0},         NULL};
    memset(&policy, 0, sizeof policy);
    policy.strategy = CPUBIND_TOPO_AFFINITY;
    memset(&plan, 0, sizeof plan);
    plan.cpu = out;
    plan.row = row;
    plan.work = work;
    plan.cap_cpu = SEGMENTS + 1;
    plan.cap_work = (int32_t)(sizeof work / sizeof *work);
    assert_int_equal(cpubind_make_plan(&host, &devices, &policy, &plan, NULL), CPUBIND_OK);
    for (int32_t i = 0; i < 4; i++) {
        assert_int_equal(has_cpu(&plan, 0, near_cpu[i]), i < 2);
        assert_int_equal(has_cpu(&plan, 1, near_cpu[i]), i >= 2);
    }
}

/* Two segments of 4 and 2 CPUs in one group by chance; the homes of two devices in segments. */
TEST(segments_of_different_homes_in_one_group_are_told_apart)
{
    enum { GROUPS = 4, ARRAYS = 8 };
    static const struct {
        int32_t home[4], row[3], is_whole;
    } rows[] = {
        {{0, 1, 0, 0}, {0, 1, 2}, 0},
        {{0, 0, 1, 0}, {0, 1, 3}, 0},
        {{0, 1, 0, 0}, {0, 2, 2}, 1},
        {{0, 1, 0, 1}, {0, 2, 4}, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t home[4], row[3], first[] = {0, 4, 6}, node[] = {0, 0}, group[] = {0, 0};
        int32_t by_group[ARRAYS][GROUPS] = {{2, 0, 0, 0}};
        int32_t next_node[] = {-1, -1}, claims[6], claim_row[3];
        const cpubind_priv_rows homes = cpubind_priv_rows_of(row, home);
        cpubind_host host;
        cpubind_policy policy;
        cpubind_priv_planner p;
        memset(&policy, 0, sizeof policy);
        policy.strategy = CPUBIND_TOPO_AFFINITY;
        memcpy(home, rows[i].home, sizeof home);
        memcpy(row, rows[i].row, sizeof row);
        memset(&host, 0, sizeof host);
        host.n_node = 1;
        memset(&p, 0, sizeof p);
        p.host = &host;
        p.policy = &policy;
        p.next_node = next_node;
        p.claims = claims;
        p.claim_rows = claim_row;
        p.n_device = 2;
        p.n_segment = 2;
        p.n_group = 2;
        p.segment_first = first;
        p.segment_node = node;
        p.segment_group = group;
        p.group_segments = by_group[0];
        p.group_claimed = by_group[1];
        p.group_sum = by_group[2];
        p.group_other = by_group[3];
        p.group_next = by_group[4];
        p.group_size = by_group[5];
        p.group_first = by_group[6];
        p.claimant_row = by_group[7];
        assert_int_equal(cpubind_priv_claim_groups(&p, homes, 1), rows[i].is_whole);
        assert_int_equal(cpubind_priv_join_segments(&p, homes, 1), rows[i].is_whole ? 1 : 2);
        assert_int_equal(cpubind_priv_join_segments(&p, homes, 0), 2);
        assert_int_equal(group[0], 0);
        assert_int_equal(group[1], 1);
        assert_int_equal(p.group_size[0], 4);
        assert_int_equal(p.group_size[1], 2);
        assert_int_equal(p.group_size[2], 0);
    }
}

TEST_FILE(NULL, NULL)
