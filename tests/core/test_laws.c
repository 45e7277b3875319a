/* test_laws.c - laws of a plan over random hosts, and the core against the naive model
 * SPDX-License-Identifier: MIT
 *
 * CPUBIND_TEST_HOSTS sets the number of hosts (default 20,000; make laws has more).
 */
#include <stdio.h>

#include "../support/lists.h"
#include "../support/test.h"
#include "model.h"
#include "run.h"

/* Plans for the n_want devices of `want`; NULL: for all, of which there are n_want. */
static run make(const model_host *h, const int32_t *want, int32_t n_want,
                cpubind_overlap overlap)
{
    cpubind_host host = model_core_host(h);
    cpubind_devices devices = model_core_devices(h);
    cpubind_policy policy = h->policy;
    policy.overlap = overlap;
    return run_make(&host, &devices, &policy, want, n_want);
}

/* Devices with a home: only these can be asked for. */
static int32_t with_home(const model_host *h, const model_plan *m, int32_t *want)
{
    int32_t n = 0;
    for (int32_t d = 0; d < h->n_device; d++)
        if (model_count(&m->home[d]) > 0)
            want[n++] = d;
    return n;
}

static int32_t row_is(const run *r, int32_t row, const model_set *set)
{
    int32_t n = r->plan.row[row + 1] - r->plan.row[row];
    if (n != model_count(set))
        return 0;
    for (int32_t i = r->plan.row[row]; i < r->plan.row[row + 1]; i++) {
        if (i > r->plan.row[row])
            assert_true(r->plan.cpu[i - 1] < r->plan.cpu[i]);
        if (!set->has[r->plan.cpu[i]])
            return 0;
    }
    return 1;
}

static void check_keep(const model_host *h, const model_plan *m, const int32_t *want, int32_t n)
{
    run r = make(h, want, n, CPUBIND_OVERLAP_KEEP);
    assert_int_equal(r.status, CPUBIND_OK);
    assert_int_equal(r.plan.overlap, m->overlap ? CPUBIND_FOUND_PRESENT : CPUBIND_FOUND_NONE);
    assert_int_equal(r.plan.n_checked, n);
    for (int32_t row = 0; row < n; row++)
        assert_true(row_is(&r, row, &m->pool[want[row]]));
    if (m->overlap) {
        assert_true(m->pool[r.plan.shared.device].has[r.plan.shared.cpu]);
        assert_true(m->pool[r.plan.shared.other].has[r.plan.shared.cpu]);
        assert_int_not_equal(r.plan.shared.device, r.plan.shared.other);
    }
    run_end(&r);
}

static void check_refuse(const model_host *h, const model_plan *m, const int32_t *want,
                         int32_t n)
{
    run r = make(h, want, n, CPUBIND_OVERLAP_REFUSE);
    assert_int_equal(r.status, m->overlap ? CPUBIND_ERR_OVERLAP : CPUBIND_OK);
    if (m->overlap) {
        assert_true(m->pool[r.fault.device].has[r.fault.cpu]);
        assert_true(m->pool[r.fault.other].has[r.fault.cpu]);
        assert_int_not_equal(r.fault.device, r.fault.other);
    }
    run_end(&r);
}

/* The price of the rule that a CPU in a home stays there: on how many hosts the smallest pool
 * would be larger if a device could be given any CPU of its extended pool, and by how much. */
static struct price {
    int32_t hosts, smaller, sum, most;
} price;

static void weigh(const model_host *h, const model_plan *m, int32_t smallest)
{
    int32_t best = model_best_smallest(h, m, m->wide);
    assert_true(best >= smallest);
    price.hosts++;
    price.smaller += best > smallest;
    price.sum += best - smallest;
    price.most = best - smallest > price.most ? best - smallest : price.most;
}

/* No CPU twice; only claimed CPUs; every claimed CPU is given to somebody; the smallest pool
 * as large as it can be. */
static void check_resolved(const model_host *h, const model_plan *m, const run *r,
                           const int32_t *want, int32_t n)
{
    static model_set claim[MODEL_DEVICES];
    uint8_t given[MODEL_CPUS] = {0};
    int32_t claimed = 0;
    int32_t smallest = h->n_cpu;
    model_claims(h, m, claim);
    for (int32_t row = 0; row < n; row++) {
        int32_t size = r->plan.row[row + 1] - r->plan.row[row];
        smallest = size < smallest ? size : smallest;
        for (int32_t i = r->plan.row[row]; i < r->plan.row[row + 1]; i++) {
            assert_true(i == r->plan.row[row] || r->plan.cpu[i - 1] < r->plan.cpu[i]);
            assert_true(claim[want[row]].has[r->plan.cpu[i]]);
            assert_false(given[r->plan.cpu[i]]);
            given[r->plan.cpu[i]] = 1;
        }
    }
    for (int32_t cpu = 0; cpu < MODEL_CPUS; cpu++) {
        int32_t any = 0;
        for (int32_t d = 0; d < h->n_device; d++)
            any |= claim[d].has[cpu];
        claimed += any;
    }
    assert_int_equal(r->plan.n_cpu, claimed);
    assert_int_equal(smallest, model_best_smallest(h, m, claim));
    weigh(h, m, smallest);
}

/* A plan for one device has the row that a plan for all devices has. */
static void check_alone(const model_host *h, const run *all, const int32_t *want, int32_t row)
{
    run r = make(h, &want[row], 1, CPUBIND_OVERLAP_RESOLVE);
    int32_t n = all->plan.row[row + 1] - all->plan.row[row];
    assert_int_equal(r.status, CPUBIND_OK);
    assert_int_equal(r.plan.n_cpu, n);
    assert_memory_equal(r.plan.cpu, all->plan.cpu + all->plan.row[row],
                        (size_t)n * sizeof(int32_t));
    assert_int_equal(r.plan.overlap, all->plan.overlap);
    run_end(&r);
}

static void check_resolve(const model_host *h, const model_plan *m, const int32_t *want,
                          int32_t n)
{
    run r = make(h, want, n, CPUBIND_OVERLAP_RESOLVE);
    run again = make(h, want, n, CPUBIND_OVERLAP_RESOLVE);
    assert_int_equal(r.status, CPUBIND_OK);
    assert_true(lists_are_disjoint(r.plan.cpu, r.plan.row, n));
    assert_int_equal(r.plan.overlap, m->overlap ? CPUBIND_FOUND_RESOLVED : CPUBIND_FOUND_NONE);
    if (m->overlap)
        check_resolved(h, m, &r, want, n);
    for (int32_t row = 0; !m->overlap && row < n; row++)
        assert_true(row_is(&r, row, &m->pool[want[row]]));
    for (int32_t row = 0; row < n; row++)
        check_alone(h, &r, want, row);
    assert_int_equal(again.plan.n_cpu, r.plan.n_cpu);
    assert_memory_equal(again.plan.cpu, r.plan.cpu, (size_t)r.plan.n_cpu * sizeof(int32_t));
    assert_memory_equal(again.plan.row, r.plan.row, (size_t)(n + 1) * sizeof(int32_t));
    run_end(&r);
    run_end(&again);
}

/* A device without a home cannot be asked for. */
static void check_homeless(const model_host *h, const model_plan *m)
{
    for (int32_t d = 0; d < h->n_device && h->row[h->n_device] > 0; d++) {
        run r;
        if (model_count(&m->home[d]) > 0)
            continue;
        r = make(h, &d, 1, CPUBIND_OVERLAP_RESOLVE);
        assert_int_equal(r.status, CPUBIND_ERR_EMPTY);
        assert_int_equal(r.fault.device, d);
        run_end(&r);
    }
}

static int32_t host_count(void)
{
    const char *text = getenv("CPUBIND_TEST_HOSTS");
    long n = text ? strtol(text, NULL, 10) : (long)rounds(20000);
    return n > 0 ? (int32_t)n : 1;
}

static void run_hosts(uint64_t seed, int32_t hosts, int32_t max_cpu, int32_t max_device)
{
    static model_host h;
    static model_plan m;
    int32_t overlaps = 0;
    memset(&price, 0, sizeof price);
    for (int32_t i = 0; i < hosts; i++) {
        int32_t want[MODEL_DEVICES];
        int32_t n;
        model_make_host(&seed, max_cpu, max_device, &h);
        model_topo_affinity(&h, &m);
        n = with_home(&h, &m, want);
        check_homeless(&h, &m);
        if (n == 0)
            continue;
        check_keep(&h, &m, want, n);
        check_refuse(&h, &m, want, n);
        check_resolve(&h, &m, want, n);
        overlaps += m.overlap;
    }
    print_message(
        "%d hosts, %d of them with overlapping pools: the smallest pool is always the "
        "best that keeps homes\n",
        hosts, overlaps);
    print_message("without keeping homes it could be larger on %d of %d, by %.1f CPUs on "
                  "average and %d at most\n",
                  price.smaller, price.hosts,
                  price.smaller ? (double)price.sum / price.smaller : 0.0, price.most);
    assert_true(hosts < 100 || (overlaps > hosts / 20 && overlaps < hosts));
}

TEST(plans_agree_with_the_model_on_small_hosts)
{
    run_hosts(0x9e3779b97f4a7c15u, host_count() * 4 / 5, 40, 6);
}

TEST(plans_agree_with_the_model_on_larger_hosts)
{
    run_hosts(0xd1b54a32d192ed03u, host_count() / 5, 128, 12);
}

/* Regular hosts: whole nodes of one size, the same number of devices near each. There the rule
 * costs nothing: no assignment at all has a larger smallest pool. */
TEST(on_regular_hosts_keeping_homes_costs_nothing)
{
    static model_host h;
    static model_plan m;
    memset(&price, 0, sizeof price);
    for (int32_t n_node = 2; n_node <= 8; n_node++)
        for (int32_t size = 1; size <= 12; size++)
            for (int32_t per_node = 1; per_node <= 4; per_node++) {
                uint64_t seed = 1;
                int32_t n = 0;
                int32_t want[MODEL_DEVICES];
                model_make_host(&seed, 1, 1, &h);
                memset(h.node_cpu, 0, sizeof h.node_cpu);
                h.n_node = n_node;
                h.n_cpu = n_node * size;
                h.n_device = n_node * per_node;
                for (int32_t cpu = 0; cpu < h.n_cpu; cpu++) {
                    h.cpu[cpu] = cpu;
                    h.node[cpu] = h.node_id[cpu / size] = cpu / size;
                    h.node_cpu[cpu / size].has[cpu] = 1;
                }
                for (int32_t d = 0; d < h.n_device; d++) {
                    for (int32_t i = 0; i < size; i++)
                        h.affinity[n++] = d / per_node * size + i;
                    h.row[d + 1] = n;
                }
                model_topo_affinity(&h, &m);
                check_resolve(&h, &m, want, with_home(&h, &m, want));
            }
    assert_true(price.hosts > 200);
    assert_int_equal(price.smaller, 0);
}

TEST(roles_tile)
{
    uint64_t seed = 42;
    for (int32_t i = 0; i < host_count(); i++) {
        int32_t total = (int32_t)model_random(&seed, 2000);
        int32_t need = 0, first = 0;
        cpubind_role_spec spec;
        cpubind_status status;
        cpubind_roles r;
        for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++) {
            spec.count[role] = (int32_t)model_random(&seed, role == 0 ? 4 : 3);
            need += spec.count[role];
        }
        status = cpubind_split_roles(total, &spec, &r, NULL);
        assert_int_equal(status, total < need ? CPUBIND_ERR_TOO_FEW : CPUBIND_OK);
        if (status != CPUBIND_OK)
            continue;
        for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++) {
            assert_int_equal(r.span[role].first, first);
            if (role == CPUBIND_ROLE_MAIN)
                assert_true(r.span[role].count >= spec.count[role]);
            else
                assert_int_equal(r.span[role].count, spec.count[role]);
            first += r.span[role].count;
        }
        assert_int_equal(first, total);
    }
}

/* global_slice over random hosts: rows tile the allowed CPUs. */
TEST(slices_of_all_devices_are_the_allowed_cpus)
{
    static model_host h;
    uint64_t seed = 7;
    for (int32_t i = 0; i < host_count() / 10; i++) {
        run r;
        model_make_host(&seed, 96, 12, &h);
        h.policy.strategy = CPUBIND_GLOBAL_SLICE;
        r = make(&h, NULL, h.n_device, CPUBIND_OVERLAP_RESOLVE);
        assert_int_equal(r.status, CPUBIND_OK);
        assert_int_equal(r.plan.n_cpu, h.n_cpu);
        assert_memory_equal(r.plan.cpu, h.cpu, (size_t)h.n_cpu * sizeof(int32_t));
        run_end(&r);
    }
}

TEST_FILE(NULL, NULL)
