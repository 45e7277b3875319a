/* test_laws.c - what is true of every plan, over random hosts
 * SPDX-License-Identifier: MIT
 *
 * Each host is planned twice, in scratch of the exact size that holds other rubbish each time,
 * and once by model.h. CPUBIND_TEST_HOSTS hosts from CPUBIND_SEED on.
 */
#include <inttypes.h>

#include "../support/exact_buffer.h"
#include "../support/test.h"
#include "model.h"

static const host_limits kinds_of_hosts[] = {
    {8, 6, 12, 0, 0, 0, 0},  /* devices of one process, one cpuset */
    {8, 6, 12, 0, 0, 1, 0},  /* hidden ones */
    {6, 6, 12, 1, 0, 0, 1},  /* weights, most, workers without a home */
    {4, 6, 10, 1, 1, 1, 1},  /* lists of each device, all of it */
    {3, 24, 12, 0, 0, 0, 0}, /* many cores a node */
};

static odd_host host;
static model naive;
static int32_t owner[HOST_CPUS];
static cpubind_report report;
static int32_t size[HOST_DEVICES], widest;

static struct counts {
    long hosts, broken, within, smaller, elsewhere, tight, pairs, disputed;
} count;

static void law(int32_t holds, const char *what, uint64_t seed, int32_t d)
{
    if (holds)
        return;
    count.broken++;
    if (count.broken <= 20)
        print_error("seed %" PRIu64 ": %s, device %" PRId32 "\n", seed, what, d);
}

static void plan_to(const odd_host *h, cpubind_reach reach, int32_t rubbish, int32_t *out,
                    cpubind_report *r)
{
    const int32_t n = CPUBIND_WORK(h->host.n_cpu, h->host.n_node, h->n_device);
    const cpubind_policy policy = {.rule = CPUBIND_RULE_TURNS, .reach = reach};
    int32_t *work = edge_ints(n);
    for (int32_t i = 0; i < n; i++)
        work[i] = rubbish * i;
    assert_int_equal(cpubind_plan(&h->host, h->device, h->n_device, &policy, out, work, r),
                     CPUBIND_OK);
    free(work);
}

/* Whether device d is served at all: a hidden one elsewhere is not. */
static int32_t is_served(int32_t d)
{
    return !naive.is_elsewhere[d] || !host.device[d].is_hidden;
}

/* No CPU outside of the lists; no core cut but where cores are too few. */
static void check_owners(uint64_t seed)
{
    const cpubind_host *h = &host.host;
    memset(size, 0, sizeof size);
    widest = 1;
    for (int32_t i = 0; i < h->n_cpu; i++) {
        const int32_t d = owner[i];
        int32_t width = 0;
        for (int32_t k = 0; k < h->n_cpu; k++)
            width += i == k || model_is_one(&naive, i, k);
        widest = width > widest ? width : widest;
        law(d >= CPUBIND_NONE && d < host.n_device, "no such device", seed, d);
        if (d == CPUBIND_NONE)
            continue;
        size[d]++;
        law(model_may(&naive, d, i), "a CPU that it may not have", seed, d);
        for (int32_t k = 0; k < i && report.taken == 0; k++)
            law(!model_is_one(&naive, i, k) || owner[k] == d, "a core cut", seed, d);
    }
}

/* CPU i and device d, which may have it and does not: the device is neither below its minimum
 * nor below the floor while it could be helped by that. What guests took for their minimum may
 * have been of somebody's floor, since they are served last. */
static void check_want(uint64_t seed, int32_t i, int32_t d, int32_t has_guests)
{
    const int32_t c = naive.core_of[i], from = owner[i], width = naive.width[c];
    law(size[d] >= host.device[d].minimum ||
            (from != CPUBIND_NONE && size[from] <= host.device[from].minimum),
        "below the minimum while a CPU can be had", seed, d);
    if (naive.is_tight || size[d] >= naive.floor[d] || (has_guests && !naive.is_elsewhere[d]))
        return;
    if (from == CPUBIND_NONE)
        law(0, "below the floor while a core is idle", seed, d);
    else if (naive.is_elsewhere[d] ? !host.device[from].is_hidden : !naive.is_elsewhere[from])
        law(size[from] - width < naive.floor[from] || size[from] - width < size[d] + width,
            "below the floor while a core can be spared", seed, d);
}

static void check_wants(uint64_t seed, cpubind_reach reach)
{
    int32_t has_guests = 0;
    for (int32_t d = 0; d < host.n_device; d++) {
        has_guests |= report.taken > 0 && naive.is_elsewhere[d];
        law(host.device[d].most == 0 || size[d] < host.device[d].most + widest,
            "more than it takes at most", seed, d);
    }
    for (int32_t i = 0; i < host.host.n_cpu; i++) {
        const int32_t c = naive.core_of[i], from = owner[i];
        for (int32_t d = 0; d < host.n_device; d++) {
            if (is_served(d) && naive.may[d][c] && from != d)
                check_want(seed, i, d, has_guests);
            if (from == CPUBIND_NONE && naive.claim[d][c] && report.taken == 0)
                law(host.device[d].most > 0 && size[d] >= host.device[d].most,
                    "a CPU is idle that it claims", seed, d);
        }
        if (reach == CPUBIND_REACH_HOME && from != CPUBIND_NONE &&
            !host.device[from].is_anywhere)
            law(naive.home[from][c], "a CPU not at home", seed, from);
    }
}

static int32_t is_alike(const cpubind_device *a, const cpubind_device *b)
{
    const cpubind_list *lists[2][2] = {{&a->home, &b->home}, {&a->allowed, &b->allowed}};
    for (int32_t k = 0; k < 2; k++) {
        const cpubind_list *one = lists[k][0], *other = lists[k][1];
        if (one->n != other->n ||
            (one->n > 0 && memcmp(one->cpu, other->cpu, (size_t)one->n * sizeof *one->cpu)))
            return 0;
    }
    return a->minimum == b->minimum && a->most + b->most == 0 && a->weight == b->weight &&
           a->is_anywhere == b->is_anywhere;
}

/* Devices that are alike have pools that differ by a core at most, by two where cores are not
 * alike, and half of an even share of their home at least; where nobody was in want. */
static void check_evenness(uint64_t seed)
{
    int32_t at_home[HOST_DEVICES] = {0}, is_plain = report.taken == 0 && !naive.is_tight;
    int32_t is_mixed = 0;
    for (int32_t c = 0; c < naive.n_core; c++)
        is_mixed |= naive.width[c] != naive.width[0];
    for (int32_t d = 0; d < host.n_device; d++)
        is_plain &= size[d] >= naive.floor[d] && !naive.is_elsewhere[d];
    for (int32_t i = 0; i < host.host.n_cpu && is_plain; i++)
        if (owner[i] != CPUBIND_NONE)
            at_home[owner[i]] += naive.home[owner[i]][naive.core_of[i]];
    for (int32_t d = 0; d < host.n_device && is_plain; d++) {
        int32_t sum = 0, n = 0;
        for (int32_t e = 0; e < host.n_device; e++) {
            if (!is_alike(&host.device[d], &host.device[e]))
                continue;
            sum += at_home[e];
            n++;
            law(abs(size[d] - size[e]) <= (is_mixed ? 2 * widest - 1 : widest) ||
                    size[d] <= naive.floor[d] + widest || size[e] <= naive.floor[e] + widest,
                "alike, and not even", seed, d);
        }
        law(2 * n * (at_home[d] + widest) >= sum, "less than half of its share at home", seed,
            d);
    }
}

/* Beside the naive second implementation: pools within a core of it, and the smallest. */
static void compare(void)
{
    int32_t is_within = 1, least = HOST_CPUS, other = HOST_CPUS;
    for (int32_t d = 0; d < host.n_device; d++) {
        is_within &= abs(size[d] - naive.size[d]) <= widest;
        least = size[d] < least ? size[d] : least;
        other = naive.size[d] < other ? naive.size[d] : other;
        count.elsewhere += naive.is_elsewhere[d];
    }
    count.within += is_within;
    count.smaller += least + widest < other;
    count.tight += naive.is_tight;
}

/* Two processes with one cpuset, each of which sees some devices: who has a CPU in both plans
 * is the same device, unless one of the plans says that it disputes CPUs. */
static void check_agreement(uint64_t seed)
{
    static odd_host view[2];
    static int32_t pools[2][HOST_CPUS];
    cpubind_report said[2];
    uint64_t s = seed;
    for (int32_t v = 0; v < 2; v++)
        view[v] = host;
    for (int32_t d = 0; d < host.n_device; d++) {
        const int32_t whose = host_below(&s, 3); /* of the first, of the second, of others */
        for (int32_t v = 0; v < 2; v++)
            view[v].device[d].is_hidden = whose != v;
    }
    for (int32_t v = 0; v < 2; v++)
        plan_to(&view[v], CPUBIND_REACH_SOCKET, 5, pools[v], &said[v]);
    count.pairs++;
    if (said[0].disputed + said[1].disputed > 0) {
        count.disputed++;
        return;
    }
    for (int32_t i = 0; i < host.host.n_cpu; i++) {
        const int32_t a = pools[0][i], b = pools[1][i];
        law(a == CPUBIND_NONE || b == CPUBIND_NONE || a == b || view[0].device[a].is_hidden ||
                view[1].device[b].is_hidden,
            "two processes have one CPU", seed, a);
    }
}

/* set[d]: the first device with which d may have a CPU in common, directly or through others.
 * */
static void find_sets(int32_t *set)
{
    for (int32_t d = 0; d < host.n_device; d++)
        set[d] = d;
    for (int32_t pass = 0; pass < host.n_device; pass++)
        for (int32_t i = 0; i < host.host.n_cpu; i++)
            for (int32_t d = 0; d < host.n_device; d++)
                for (int32_t e = 0; e < host.n_device; e++)
                    if (set[e] < set[d] && model_may(&naive, d, i) && model_may(&naive, e, i))
                        set[d] = set[e];
}

/* Devices of a set have the plan that they have alone. */
static void check_sets(uint64_t seed)
{
    static odd_host part;
    static int32_t pools[HOST_CPUS];
    int32_t set[HOST_DEVICES], member[HOST_DEVICES];
    cpubind_report r;
    find_sets(set);
    for (int32_t first = 0; first < host.n_device; first++) {
        part = host;
        part.n_device = 0;
        for (int32_t d = 0; d < host.n_device; d++)
            if (set[d] == first) {
                member[part.n_device] = d;
                part.device[part.n_device++] = host.device[d];
            }
        if (part.n_device == 0 || part.n_device == host.n_device)
            continue;
        plan_to(&part, CPUBIND_REACH_SOCKET, 11, pools, &r);
        for (int32_t i = 0; i < host.host.n_cpu; i++) {
            const int32_t d = pools[i] == CPUBIND_NONE ? CPUBIND_NONE : member[pools[i]];
            law(d == owner[i] || (d == CPUBIND_NONE && set[owner[i]] != first),
                "another plan alone", seed, d);
        }
    }
}

static void check(uint64_t seed)
{
    const size_t n_kind = sizeof kinds_of_hosts / sizeof *kinds_of_hosts;
    const cpubind_reach reach = seed % 7 == 0   ? CPUBIND_REACH_HOME
                                : seed % 7 == 1 ? CPUBIND_REACH_HOST
                                                : CPUBIND_REACH_SOCKET;
    static int32_t again[HOST_CPUS];
    cpubind_report other;
    odd_host_make(seed, kinds_of_hosts[seed % n_kind], &host);
    model_plan(&host.host, host.device, host.n_device, reach, &naive);
    plan_to(&host, reach, 3, owner, &report);
    plan_to(&host, reach, -7, again, &other);
    law(memcmp(owner, again, (size_t)host.host.n_cpu * sizeof *owner) == 0 &&
            report.taken == other.taken && report.disputed == other.disputed,
        "another plan the second time", seed, CPUBIND_NONE);
    check_owners(seed);
    check_wants(seed, reach);
    check_evenness(seed);
    compare();
    if (reach == CPUBIND_REACH_SOCKET)
        check_agreement(seed);
    if (reach == CPUBIND_REACH_SOCKET && !host.is_shared && !naive.is_tight)
        check_sets(seed);
    count.hosts++;
}

static uint64_t number_of(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : usual;
}

TEST(random_hosts_keep_the_laws)
{
    const uint64_t n = number_of("CPUBIND_TEST_HOSTS", 3000);
    const uint64_t first = number_of("CPUBIND_SEED", 1);
    for (uint64_t seed = first; seed < first + n; seed++)
        check(seed);
    print_message("%ld hosts, %ld laws broken; %ld devices elsewhere, cores too few on %ld\n",
                  count.hosts, count.broken, count.elsewhere, count.tight);
    print_message("%ld pairs of views, %ld of which say that they dispute CPUs\n", count.pairs,
                  count.disputed);
    print_message("beside the model: %ld within a core; smallest pool smaller by more: %ld\n",
                  count.within, count.smaller);
    assert_int_equal(count.broken, 0);
    assert_true(100 * count.within >= 97 * count.hosts);
}

TEST_FILE(NULL, NULL)
