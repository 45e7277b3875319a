/* test_mixed_pool.c - the budget of CPU workers beside accelerators, and who serves the next
 * SPDX-License-Identifier: MIT
 */
#include "../../adapters/cpubind_old.h"
#include "../support/test.h"

static const int32_t edges[] = {INT32_MIN,     -1,       0, 1, 2, 7, 8, 1000000,
                                INT32_MAX - 1, INT32_MAX};
enum { N_EDGES = (int)(sizeof edges / sizeof *edges) };

/* The largest number of requests whose weight is not above that of the devices, by counting. */
static int32_t count_budget(const cpubind_mixed_pool *p)
{
    int32_t n = 0;
    while ((n + 1) * p->ratio * p->n_device <= p->device_load * p->n_cpu_worker)
        n++;
    return n;
}

TEST(a_budget_is_the_counted_one)
{
    for (int32_t load = 0; load <= 40; load++)
        for (int32_t n_cpu = 0; n_cpu <= 6; n_cpu++)
            for (int32_t n_device = 1; n_device <= 6; n_device++)
                for (int32_t ratio = 1; ratio <= 10; ratio++) {
                    const cpubind_mixed_pool p = {load, 0, n_device, n_cpu, ratio};
                    assert_int_equal(cpubind_cpu_budget(&p), count_budget(&p));
                }
}

TEST(without_a_side_the_other_serves_all)
{
    const cpubind_mixed_pool none = {0};
    const cpubind_mixed_pool cpus = {.cpu_load = INT32_MAX, .n_cpu_worker = 1, .ratio = 8};
    const cpubind_mixed_pool devices = {.device_load = INT32_MAX, .n_device = 1, .ratio = 8};
    assert_int_equal(cpubind_next_pool(&none), CPUBIND_POOL_NOBODY);
    assert_int_equal(cpubind_cpu_budget(&none), 0);
    assert_int_equal(cpubind_next_pool(&cpus), CPUBIND_POOL_CPU);
    assert_int_equal(cpubind_cpu_budget(&cpus), INT32_MAX);
    assert_int_equal(cpubind_next_pool(&devices), CPUBIND_POOL_DEVICE);
    assert_int_equal(cpubind_cpu_budget(&devices), 0);
}

/* An idle service begins with its devices, and a CPU worker waits until `ratio` requests are on
 * each of them. */
TEST(the_first_requests_go_to_the_devices)
{
    cpubind_mixed_pool p = {.n_device = 2, .n_cpu_worker = 1, .ratio = CPUBIND_POOL_RATIO};
    for (; p.device_load < 2 * CPUBIND_POOL_RATIO; p.device_load++)
        assert_int_equal(cpubind_next_pool(&p), CPUBIND_POOL_DEVICE);
    assert_int_equal(cpubind_next_pool(&p), CPUBIND_POOL_CPU);
    p.cpu_load = 1;
    assert_int_equal(cpubind_next_pool(&p), CPUBIND_POOL_DEVICE);
}

TEST(a_ratio_below_one_is_one)
{
    for (int32_t ratio = -1; ratio <= 1; ratio++) {
        const cpubind_mixed_pool p = {
            .device_load = 12, .n_device = 2, .n_cpu_worker = 3, .ratio = ratio};
        assert_int_equal(cpubind_cpu_budget(&p), 18);
    }
}

/* With both sides, the next request goes to the CPU workers exactly below their budget, and no
 * number wraps. */
static void check(const cpubind_mixed_pool *p)
{
    const int32_t budget = cpubind_cpu_budget(p);
    const cpubind_pool_side side = cpubind_next_pool(p);
    assert_in_range(budget, 0, INT32_MAX);
    if (p->n_device > 0)
        assert_int_equal(side == CPUBIND_POOL_CPU,
                         (p->cpu_load < 0 ? 0 : p->cpu_load) < budget);
    else
        assert_int_equal(side, p->n_cpu_worker > 0 ? CPUBIND_POOL_CPU : CPUBIND_POOL_NOBODY);
    if (side == CPUBIND_POOL_CPU)
        assert_true(p->n_cpu_worker > 0);
}

TEST(the_two_functions_agree_at_every_edge)
{
    for (int a = 0; a < N_EDGES; a++)
        for (int b = 0; b < N_EDGES; b++)
            for (int c = 0; c < N_EDGES; c++)
                for (int d = 0; d < N_EDGES; d++)
                    for (int e = 0; e < N_EDGES; e++)
                        check(&(cpubind_mixed_pool){edges[a], edges[b], edges[c], edges[d],
                                                    edges[e]});
}

/* More load on the devices, more CPU workers or fewer devices never lower the budget. */
TEST(a_budget_grows_with_the_load_and_the_workers)
{
    for (int a = 1; a < N_EDGES; a++)
        for (int b = 0; b < N_EDGES; b++)
            for (int c = 0; c < N_EDGES; c++) {
                const int32_t less = edges[a - 1], more = edges[a];
                const cpubind_mixed_pool light = {less, 0, edges[b], edges[c], 8};
                const cpubind_mixed_pool heavy = {more, 0, edges[b], edges[c], 8};
                const cpubind_mixed_pool few = {edges[b], 0, edges[c], less, 8};
                const cpubind_mixed_pool many = {edges[b], 0, edges[c], more, 8};
                const cpubind_mixed_pool fast = {edges[b], 0, more, edges[c], 8};
                const cpubind_mixed_pool slow = {edges[b], 0, less, edges[c], 8};
                assert_true(cpubind_cpu_budget(&light) <= cpubind_cpu_budget(&heavy));
                assert_true(cpubind_cpu_budget(&few) <= cpubind_cpu_budget(&many));
                assert_true(cpubind_cpu_budget(&fast) <= cpubind_cpu_budget(&slow));
            }
}

TEST_FILE(NULL, NULL)
