/* test_allowed.c - the laws of allowed CPUs of each device, over random hosts
 * SPDX-License-Identifier: MIT
 *
 * Sets, claims and the best smallest pool are found a second time here, by loops over flags.
 * CPUBIND_TEST_HOSTS sets the number of hosts (default 20,000), CPUBIND_SEED the first.
 */
#include <stdio.h>

#include "../support/test.h"
#include "model.h"
#include "near_model.h"
#include "run.h"

enum { CPUS = 128, DEVICES = 12 };

/* A random host whose devices have lists. */
typedef struct listed {
    near_host h;
    int32_t cpu[CPUS * DEVICES], row[DEVICES + 1];
    uint8_t has[DEVICES][CPUS]; /* by index into host.cpu */
    int32_t set[DEVICES];       /* the first device of its set */
    int32_t is_equal[DEVICES];  /* by set: all lists are equal */
    int32_t least[DEVICES];
} listed;

static struct {
    int32_t hosts, equal, unequal, refused, lacking, idle;
} tally;

static uint64_t host_seed;

static int32_t below(uint64_t *state, int32_t n)
{
    return (int32_t)model_random(state, (uint32_t)n);
}

/* == Plans ================================================================== */

/* Plans for one device; -1: for all. */
static run make(const cpubind_host *host, const cpubind_devices *devices,
                const cpubind_policy *policy, int32_t device)
{
    return run_make(host, devices, policy, device < 0 ? NULL : &device, 1);
}

static void assert_ints(const int32_t *a, const int32_t *b, int32_t n)
{
    if (n > 0)
        assert_memory_equal(a, b, (size_t)n * sizeof *a);
}

/* == Hosts with lists ======================================================= */

static void join_sets(listed *l)
{
    const int32_t n = l->h.devices.affinity.n;
    for (int32_t d = 0; d < n; d++)
        l->set[d] = d;
    for (int32_t pass = 0; pass < n; pass++)
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++)
                for (int32_t i = 0; i < l->h.host.n_cpu; i++)
                    if (l->has[a][i] && l->has[b][i] && l->set[b] < l->set[a])
                        l->set[a] = l->set[b];
    for (int32_t a = 0; a < n; a++)
        l->is_equal[a] = 1;
    for (int32_t a = 0; a < n; a++)
        if (memcmp(l->has[a], l->has[l->set[a]], CPUS) != 0)
            l->is_equal[l->set[a]] = 0;
}

static void make_listed(uint64_t *state, listed *l)
{
    static const near_limits limits = {4, 8, DEVICES};
    const int32_t kind = below(state, 10);
    const int32_t parts = 1 + below(state, 3);
    int32_t n = 0, are_equal = 1;
    near_random(state, limits, &l->h);
    assert_true(l->h.host.n_cpu <= CPUS);
    l->h.policy.strategy = (cpubind_strategy)below(state, 4);
    l->h.policy.overlap =
        below(state, 2) ? CPUBIND_OVERLAP_RESOLVE : (cpubind_overlap)below(state, 3);
    l->h.policy.cluster = 1 + below(state, 4);
    l->h.policy.has_spare_node = below(state, 2);
    l->h.policy.spare_node = l->h.node_id[0];
    memset(l->has, 0, sizeof l->has);
    l->row[0] = 0;
    for (int32_t d = 0; d < l->h.devices.affinity.n; d++) {
        for (int32_t i = 0; i < l->h.host.n_cpu; i++)
            if (near_may_have(state, &l->h, kind, parts, d, i)) {
                l->has[d][i] = 1;
                l->cpu[n++] = l->h.cpu[i];
            }
        l->row[d + 1] = n;
    }
    l->h.devices.allowed = (cpubind_lists){l->cpu, l->row, l->h.devices.affinity.n};
    join_sets(l);
    for (int32_t d = 0; d < l->h.devices.affinity.n; d++) {
        l->least[d] = 1 + below(state, 8);
        are_equal &= l->is_equal[l->set[d]];
    }
    l->h.devices.least = are_equal && below(state, 2) ? l->least : NULL;
}

/* == A set alone ============================================================ */

/* The host and the devices of one set, without lists. */
typedef struct alone {
    int32_t cpu[CPUS], node[CPUS], core[CPUS], at[CPUS];
    int32_t near_cpu[CPUS * DEVICES], near_row[DEVICES + 1], node_of[DEVICES];
    int32_t member[DEVICES], index[DEVICES], least[DEVICES];
    cpubind_host host;
    cpubind_devices devices;
} alone;

static void make_alone(const listed *l, int32_t set, alone *a)
{
    const cpubind_host *host = &l->h.host;
    const cpubind_devices *devices = &l->h.devices;
    int32_t n_near = 0, n = 0;
    a->host = *host;
    a->host.n_cpu = 0;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        if (!l->has[set][i])
            continue;
        a->cpu[a->host.n_cpu] = host->cpu[i];
        a->node[a->host.n_cpu] = host->node[i];
        a->core[a->host.n_cpu] = host->core ? host->core[i] : 0;
        a->at[a->host.n_cpu++] = i;
    }
    a->host.cpu = a->cpu;
    a->host.node = a->node;
    a->host.core = host->core ? a->core : NULL;
    a->near_row[0] = 0;
    for (int32_t d = 0; d < devices->affinity.n; d++) {
        if (l->set[d] != set)
            continue;
        for (int32_t k = devices->affinity.row[d]; k < devices->affinity.row[d + 1]; k++)
            a->near_cpu[n_near++] = devices->affinity.cpu[k];
        a->node_of[n] = devices->node ? devices->node[d] : -1;
        a->least[n] = l->least[d];
        a->index[d] = n;
        a->member[n++] = d;
        a->near_row[n] = n_near;
    }
    memset(&a->devices, 0, sizeof a->devices);
    a->devices.affinity = (cpubind_lists){a->near_cpu, a->near_row, n};
    a->devices.node = devices->node ? a->node_of : NULL;
    a->devices.least = devices->least ? a->least : NULL;
    if (n == devices->affinity.n) {
        a->devices.slot = devices->slot;
        a->devices.total = devices->total;
    }
}

/* L1: the plan of a device in a set of equal lists. */
static void check_alone(const listed *l, int32_t device, const run *r)
{
    static alone a;
    run one;
    make_alone(l, l->set[device], &a);
    one = make(&a.host, &a.devices, &l->h.policy, a.index[device]);
    if (r->status == CPUBIND_OK) {
        const int32_t n = one.plan.n_cpu;
        assert_int_equal(one.status, CPUBIND_OK);
        assert_int_equal(r->plan.n_cpu, n);
        assert_ints(r->plan.cpu, one.plan.cpu, n);
        for (int32_t i = 0; i < a.host.n_cpu; i++) {
            const int32_t owner = one.trace.owner[i];
            assert_int_equal(r->trace.owner[a.at[i]], owner < 0 ? owner : a.member[owner]);
            assert_int_equal(r->trace.step[a.at[i]], one.trace.step[i]);
        }
    } else if (r->fault.device == device) {
        assert_int_equal(one.status, r->status);
        assert_int_equal(one.fault.need, r->fault.need);
        assert_int_equal(one.fault.have, r->fault.have);
        assert_int_equal(one.fault.device, a.index[device]);
    }
    run_end(&one);
}

/* Law (a): where all lists name all CPUs, everything is as without lists. */
static void check_same(const listed *l)
{
    cpubind_devices plain = l->h.devices;
    run with, without;
    memset(&plain.allowed, 0, sizeof plain.allowed);
    with = make(&l->h.host, &l->h.devices, &l->h.policy, -1);
    without = make(&l->h.host, &plain, &l->h.policy, -1);
    assert_int_equal(with.status, without.status);
    assert_int_equal(with.fault.device, without.fault.device);
    assert_int_equal(with.fault.other, without.fault.other);
    assert_int_equal(with.fault.index, without.fault.index);
    assert_int_equal(with.fault.cpu, without.fault.cpu);
    if (with.status == CPUBIND_OK) {
        const int32_t n_group = without.trace.n_group;
        assert_int_equal(with.plan.n_cpu, without.plan.n_cpu);
        assert_ints(with.plan.cpu, without.plan.cpu, without.plan.n_cpu);
        assert_ints(with.plan.row, without.plan.row, plain.affinity.n + 1);
        assert_int_equal(with.plan.strategy, without.plan.strategy);
        assert_int_equal(with.plan.overlap, without.plan.overlap);
        assert_int_equal(with.plan.n_checked, without.plan.n_checked);
        if (with.plan.overlap != CPUBIND_FOUND_NONE)
            assert_int_equal(with.plan.shared.cpu, without.plan.shared.cpu);
        if (without.plan.strategy == CPUBIND_CLUSTER)
            assert_int_equal(with.plan.spare_taken, without.plan.spare_taken);
        assert_ints(with.trace.owner, without.trace.owner, l->h.host.n_cpu);
        assert_ints(with.trace.step, without.trace.step, l->h.host.n_cpu);
        assert_ints(with.trace.group, without.trace.group, l->h.host.n_cpu);
        assert_int_equal(with.trace.n_group, n_group);
        assert_ints(with.trace.row, without.trace.row, n_group + 1);
        assert_ints(with.trace.device, without.trace.device, without.trace.row[n_group]);
    }
    run_end(&with);
    run_end(&without);
}

/* == Sets of unequal lists ================================================== */

typedef struct matching {
    const listed *l;
    uint8_t claim[DEVICES][CPUS];
    int32_t owner[CPUS]; /* of a CPU, or -1 */
    uint8_t seen[CPUS];
} matching;

/* Finds a CPU for a device, if need be by moving others (Kuhn). */
static int32_t find_cpu(matching *m, int32_t device) /* NOLINT(misc-no-recursion) */
{
    for (int32_t i = 0; i < m->l->h.host.n_cpu; i++) {
        if (!m->claim[device][i] || m->seen[i])
            continue;
        m->seen[i] = 1;
        if (m->owner[i] < 0 || find_cpu(m, m->owner[i])) {
            m->owner[i] = device;
            return 1;
        }
    }
    return 0;
}

/* Whether all devices of a set that have a claim can have `size` CPUs at once. */
static int32_t can_all_have(matching *m, int32_t set, int32_t size)
{
    for (int32_t i = 0; i < CPUS; i++)
        m->owner[i] = -1;
    for (int32_t d = 0; d < m->l->h.devices.affinity.n; d++) {
        int32_t has_claim = 0;
        for (int32_t i = 0; i < m->l->h.host.n_cpu; i++)
            has_claim |= m->claim[d][i];
        for (int32_t k = 0; k < size && has_claim && m->l->set[d] == set; k++) {
            memset(m->seen, 0, sizeof m->seen);
            if (!find_cpu(m, d))
                return 0;
        }
    }
    return 1;
}

static int32_t is_near_cpu(const listed *l, int32_t d, int32_t i)
{
    const cpubind_lists *affinity = &l->h.devices.affinity;
    for (int32_t k = affinity->row[d]; k < affinity->row[d + 1]; k++)
        if (affinity->cpu[k] == l->h.cpu[i])
            return l->has[d][i];
    return 0;
}

static int32_t node_index(const listed *l, int32_t i)
{
    int32_t at = 0;
    while (l->h.node_id[at] != l->h.node[i])
        at++;
    return at;
}

/* Whether no device of the set has an affinity: then topo_affinity cuts slices. */
static int32_t is_slice(const listed *l, int32_t set)
{
    const cpubind_lists *affinity = &l->h.devices.affinity;
    int32_t n = 0;
    for (int32_t d = 0; d < affinity->n; d++)
        n += l->set[d] == set ? affinity->row[d + 1] - affinity->row[d] : 0;
    return l->h.policy.strategy == CPUBIND_GLOBAL_SLICE ||
           (l->h.policy.strategy == CPUBIND_TOPO_AFFINITY && n == 0);
}

/* L2 for the strategies but NEAR, for which a claim is the whole list. Returns whether the home
 * is on one node. */
static int32_t claim_by_rule(const listed *l, int32_t d, matching *m)
{
    int32_t first = -1, is_single = 1;
    for (int32_t i = 0; i < l->h.host.n_cpu; i++) {
        if (!is_near_cpu(l, d, i))
            continue;
        if (first < 0)
            first = node_index(l, i);
        is_single &= first == node_index(l, i);
    }
    for (int32_t i = 0; i < l->h.host.n_cpu; i++) {
        const int32_t node = node_index(l, i);
        int32_t is_home = 0;
        for (int32_t k = 0; k < l->h.devices.affinity.n; k++)
            is_home |= l->set[k] == l->set[d] && is_near_cpu(l, k, i);
        if (is_slice(l, l->set[d]) || l->h.policy.strategy == CPUBIND_NEAR)
            m->claim[d][i] = l->has[d][i];
        else if (l->h.policy.strategy == CPUBIND_CLUSTER)
            m->claim[d][i] = l->has[d][i] && first >= 0 && is_single && node == first;
        else
            m->claim[d][i] =
                is_near_cpu(l, d, i) || (l->has[d][i] && !is_home && first >= 0 && is_single &&
                                         node == (first + 1) % l->h.host.n_node);
    }
    return first >= 0 && is_single;
}

/* L2 to L4: pools lie in claims, and the smallest is as large as it can be. */
static void check_unequal(const listed *l, int32_t set, const run *runs)
{
    static matching m;
    const cpubind_policy *policy = &l->h.policy;
    const int32_t is_cluster = policy->strategy == CPUBIND_CLUSTER;
    int32_t least = CPUS, refused = 0;
    memset(&m, 0, sizeof m);
    m.l = l;
    for (int32_t d = 0; d < l->h.devices.affinity.n; d++) {
        if (l->set[d] != set)
            continue;
        (void)claim_by_rule(l, d, &m);
        if (runs[d].status == CPUBIND_OK) {
            int32_t at = 0;
            least = runs[d].plan.n_cpu < least ? runs[d].plan.n_cpu : least;
            for (int32_t k = 0; k < runs[d].plan.n_cpu; k++) {
                while (l->h.cpu[at] != runs[d].plan.cpu[k])
                    at++;
                assert_true(m.claim[d][at]);
            }
            if (is_cluster)
                assert_int_equal(runs[d].plan.n_cpu, policy->cluster);
        } else if (runs[d].status == CPUBIND_ERR_TOO_FEW && runs[d].fault.device == d) {
            refused = 1;
            least = runs[d].fault.have < least ? runs[d].fault.have : least;
        } else if (runs[d].status == CPUBIND_ERR_CLUSTERS &&
                   l->set[runs[d].fault.device] == set) {
            refused = 2;
        }
    }
    if (refused == 2)
        assert_false(can_all_have(&m, set, policy->cluster));
    else if (refused == 1 && policy->strategy == CPUBIND_NEAR)
        assert_false(can_all_have(&m, set, l->h.need));
    else if (!is_cluster && policy->strategy != CPUBIND_NEAR && least < CPUS)
        assert_false(can_all_have(&m, set, least + 1));
    tally.lacking += refused != 0;
}

/* L4: no pool of a set that has the minimum is below the floor while a CPU of its list is in no
 * pool. */
static void check_floor(const listed *l, int32_t set, const run *runs)
{
    uint8_t is_taken[CPUBIND_MAX_CPUS / 64] = {0};
    uint8_t is_in_set[CPUBIND_MAX_CPUS / 64] = {0};
    int32_t n_device = 0, n_cpu = 0, floor;
    for (int32_t d = 0; d < l->h.devices.affinity.n; d++) {
        if (l->set[d] != set)
            continue;
        if (runs[d].status != CPUBIND_OK)
            return;
        n_device++;
        for (int32_t k = 0; k < runs[d].plan.n_cpu; k++)
            is_taken[runs[d].plan.cpu[k]] = 1;
        for (int32_t i = 0; i < l->h.host.n_cpu; i++) {
            n_cpu += l->has[d][i] && !is_in_set[i];
            is_in_set[i] |= l->has[d][i] != 0;
        }
    }
    floor = n_cpu / n_device / 2 < l->h.need + 7 ? n_cpu / n_device / 2 : l->h.need + 7;
    for (int32_t d = 0; d < l->h.devices.affinity.n; d++)
        for (int32_t i = 0; l->set[d] == set && i < l->h.host.n_cpu; i++)
            if (l->has[d][i] && !is_taken[l->h.cpu[i]]) {
                tally.idle++;
                assert_true(runs[d].plan.n_cpu >= floor);
            }
}

/* == One host =============================================================== */

/* Single plans never give a CPU twice; the whole plan, if there is one, has their pools. */
static void check_together(const listed *l, const run *runs)
{
    const int32_t n = l->h.devices.affinity.n;
    uint8_t taken[CPUBIND_MAX_CPUS / 64] = {0};
    run all = make(&l->h.host, &l->h.devices, &l->h.policy, -1);
    for (int32_t d = 0; d < n; d++) {
        if (runs[d].status != CPUBIND_OK) {
            assert_int_not_equal(all.status, CPUBIND_OK);
            continue;
        }
        for (int32_t k = 0; k < runs[d].plan.n_cpu; k++) {
            assert_true(k == 0 || runs[d].plan.cpu[k - 1] < runs[d].plan.cpu[k]);
            if (l->h.policy.overlap == CPUBIND_OVERLAP_RESOLVE)
                assert_int_equal(taken[runs[d].plan.cpu[k]]++, 0);
        }
        if (all.status != CPUBIND_OK)
            continue;
        assert_int_equal(all.plan.row[d + 1] - all.plan.row[d], runs[d].plan.n_cpu);
        assert_ints(all.plan.cpu + all.plan.row[d], runs[d].plan.cpu, runs[d].plan.n_cpu);
    }
    run_end(&all);
}

static void check_host(uint64_t seed)
{
    static listed l;
    static run runs[DEVICES];
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    int32_t n, n_full = 0;
    host_seed = seed;
    make_listed(&state, &l);
    n = l.h.devices.affinity.n;
    for (int32_t d = 0; d < n; d++) {
        runs[d] = make(&l.h.host, &l.h.devices, &l.h.policy, d);
        n_full += l.row[d + 1] - l.row[d] == l.h.host.n_cpu;
        tally.refused += runs[d].status != CPUBIND_OK;
        if (l.is_equal[l.set[d]] && l.h.host.n_cpu > 0)
            check_alone(&l, d, &runs[d]);
    }
    if (n_full == n)
        check_same(&l);
    check_together(&l, runs);
    for (int32_t set = 0; set < n; set++) {
        if (l.set[set] != set)
            continue;
        tally.equal += l.is_equal[set];
        tally.unequal += !l.is_equal[set];
        if (!l.is_equal[set])
            check_unequal(&l, set, runs);
        if (!l.is_equal[set] && l.h.policy.strategy == CPUBIND_NEAR)
            check_floor(&l, set, runs);
    }
    for (int32_t d = 0; d < n; d++)
        run_end(&runs[d]);
    tally.hosts++;
    host_seed = 0;
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

SETUP(print_seed)
{
    if (host_seed != 0)
        print_message("CPUBIND_SEED=%llu CPUBIND_TEST_HOSTS=1\n",
                      (unsigned long long)host_seed);
    return 0;
}

TEST_WITH(plans_keep_the_laws_of_allowed_cpus, NULL, print_seed)
{
    const uint64_t first = number_of("CPUBIND_SEED", 1);
    uint64_t n = number_of("CPUBIND_TEST_HOSTS", rounds(20000));
    n = n > 20000 ? n / 5 : n;
    for (uint64_t i = 0; i < n; i++)
        check_host(first + i);
    print_message(
        "%d hosts: %d sets of equal lists, %d of unequal, %d devices refused, %d sets "
        "in which CPUs are too few, %d CPUs idle by near\n",
        tally.hosts, tally.equal, tally.unequal, tally.refused, tally.lacking, tally.idle);
}

/* Two devices on a host of one node with 8 CPUs. */
static cpubind_status plan_two(cpubind_lists allowed, const int32_t *least, int32_t *work,
                               int32_t cap_work, cpubind_plan *plan, cpubind_fault *fault)
{
    static const int32_t cpu[8] = {0, 1, 2, 3, 4, 5, 6, 7}, zero[8] = {0};
    static const int32_t near_row[3] = {0, 8, 8};
    static int32_t pool[8], row[3];
    const cpubind_host host = {
        .cpu = cpu, .node = zero, .node_id = zero, .n_cpu = 8, .n_node = 1};
    const cpubind_devices devices = {
        .affinity = {cpu, near_row, 2}, .allowed = allowed, .least = least};
    const cpubind_policy policy = {.strategy = CPUBIND_GLOBAL_SLICE, .roles = {{0, 2, 0, 0}}};
    memset(plan, 0, sizeof *plan);
    plan->cpu = pool;
    plan->row = row;
    plan->work = work;
    plan->cap_cpu = 8;
    plan->cap_work = cap_work;
    return cpubind_make_plan(&host, &devices, &policy, plan, fault);
}

TEST(a_device_is_refused_below_its_least)
{
    static const int32_t ids[] = {0, 1, 2, 3, 4}, row[] = {0, 4, 5};
    static const struct {
        int32_t least[2], device; /* the one that is refused, or -1 */
    } cases[] = {{{4, 1}, -1}, {{5, 1}, 0}, {{4, 2}, 1}, {{1, 1}, -1}};
    static int32_t work[4096];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpubind_plan plan;
        cpubind_fault fault = {.device = -1};
        const cpubind_status status =
            plan_two((cpubind_lists){ids, row, 2}, cases[i].least, work, 4096, &plan, &fault);
        assert_int_equal(status, cases[i].device < 0 ? CPUBIND_OK : CPUBIND_ERR_TOO_FEW);
        if (cases[i].device < 0)
            continue;
        assert_int_equal(fault.device, cases[i].device);
        assert_int_equal(fault.need, cases[i].least[cases[i].device]);
        assert_int_equal(fault.have, cases[i].device == 0 ? 4 : 1);
    }
}

TEST(bad_lists_are_refused)
{
    static int32_t ids[] = {0, 1, 2, 2, 3, 9};
    static const int32_t row[] = {0, 2, 3}, back[] = {0, 3, 2}, late[] = {1, 2, 3};
    static const int32_t none[] = {1, 0}, unordered[] = {0, 2, 5}, narrow[] = {0, 1, 4};
    static const struct {
        cpubind_lists lists;
        cpubind_status status;
        const char *argument;
        int32_t index, device;
    } bad[] = {
        {{ids, row, 1}, CPUBIND_ERR_ARG, "devices.allowed.n", -1, -1},
        {{ids, row, -1}, CPUBIND_ERR_ARG, "devices.allowed.n", -1, -1},
        {{NULL, row, 2}, CPUBIND_ERR_ARG, "devices.allowed.cpu", -1, -1},
        {{ids, back, 2}, CPUBIND_ERR_ARG, "devices.allowed.row", 2, -1},
        {{ids, late, 2}, CPUBIND_ERR_ARG, "devices.allowed.row", 0, -1},
        {{ids, unordered, 2}, CPUBIND_ERR_ORDER, "devices.allowed.cpu", 3, 1},
        {{ids, narrow, 2}, CPUBIND_ERR_ORDER, "devices.allowed.cpu", 3, 1},
        {{NULL, NULL, 2}, CPUBIND_ERR_TOO_FEW, NULL, -1, 0},
    };
    int32_t work[CPUBIND_PLAN_WORK_ALLOWED(CPUBIND_PLAN_WORK(8, 1, 2, 14), 8, 2, 6)];
    const int32_t cap = (int32_t)(sizeof work / sizeof *work);
    const cpubind_lists good = {ids, row, 2};
    cpubind_plan plan;
    cpubind_fault fault;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(plan_two(bad[i].lists, NULL, work, cap, &plan, &fault), bad[i].status);
        assert_int_equal(fault.index, bad[i].index);
        assert_int_equal(fault.device, bad[i].device);
        if (bad[i].argument)
            assert_string_equal(fault.argument, bad[i].argument);
        else
            assert_null(fault.argument);
    }
    assert_int_equal(plan_two(good, NULL, work, cap, &plan, &fault), CPUBIND_ERR_TOO_FEW);
    assert_int_equal(fault.device, 1);
    assert_int_equal(fault.need, 2);
    assert_int_equal(fault.have, 1);
    assert_int_equal(plan_two(good, NULL, work, 8, &plan, &fault), CPUBIND_ERR_SPACE);
    assert_string_equal(fault.argument, "plan.work");
    assert_int_equal(plan_two(good, NULL, ids, 6, &plan, &fault), CPUBIND_ERR_ARG);
    assert_string_equal(fault.argument, "plan.work");
    assert_int_equal(plan_two(good, none, work, cap, &plan, &fault), CPUBIND_ERR_ARG);
    assert_string_equal(fault.argument, "devices.least");
}

TEST_FILE(NULL, NULL)
