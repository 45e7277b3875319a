/* test_small_laws.c - the rule of turns beside the best of all plans, on small hosts
 * SPDX-License-Identifier: MIT
 *
 * Claimants of all kinds: devices at home, hidden ones and those that are elsewhere, workers
 * without a home, and the processes of an engine, which want so many cores near the devices
 * that they serve, and no more. CPU workers and cards want nothing of the core: the cores of a
 * worker are allowed to nobody else, and a card's interrupts go to CPUs of a pool.
 *
 * A share is what a claimant has of what it takes at most, by weight. Of all plans that meet as
 * many minimums as can be, one is best whose smallest share is the largest, of these one whose
 * next smallest is, and so on. Cores that the same claimants claim, and have for a home, are
 * alike, so all plans are all ways to share out each kind of cores. Only cores that line 1
 * gives a claimant count, since the rule is to be near before it is to be even.
 *
 * CPUBIND_TEST_HOSTS hosts from CPUBIND_SEED on.
 */
#include "../support/test.h"
#include "model.h"

enum { MOST_CORES = 10, MOST_PLANS = 200000, WHOLE = 2520 /* lcm(1 .. 10): shares */ };

typedef struct figures {
    int32_t served, share[HOST_DEVICES], near; /* minimums; ascending; CPUs at home */
} figures;

static odd_host host;
static model naive;
static int32_t owner[HOST_CPUS], size[HOST_DEVICES];
static cpubind_report report;

/* == Hosts ================================================================== */

/* An engine process that serves some of n devices, as the planner claims for it. */
static void add_process(uint64_t *s, int32_t n)
{
    const int32_t d = host.n_device++, first = host_below(s, n), cores = 1 + host_below(s, 2);
    const int32_t end = first + 1 + host_below(s, n - first);
    cpubind_device *one = &host.device[d];
    *one = (cpubind_device){.minimum = 1, .weight = cores, .is_hidden = 1};
    one->allowed = host.device[first].allowed;
    one->home.cpu = host.home[d];
    for (int32_t i = 0; i < host.host.n_cpu; i++) {
        int32_t is_near = 0, threads = 0;
        for (int32_t k = first; k < end; k++)
            is_near |=
                !host.device[k].is_anywhere && model_has(host.device[k].home, host.host.cpu[i]);
        if (is_near)
            host.home[d][one->home.n++] = host.host.cpu[i];
        for (int32_t k = 0; k < host.host.n_cpu; k++)
            threads += i == k || (host.host.core && host.host.core[i] == host.host.core[k]);
        one->most = cores * threads > one->most ? cores * threads : one->most;
    }
    for (int32_t k = first; k < end; k++)
        one->is_hidden &= host.device[k].is_hidden;
    one->is_anywhere = one->home.n == 0;
}

/* Makes the host of a seed and its plan. Returns whether all claimants may have the same CPUs,
 * as far as the kind of host lets them. */
static int32_t make(uint64_t seed)
{
    const int32_t lists = seed % 5 == 4;
    const host_limits limits = {3, 5, 4, 1, lists, seed % 3 == 2, 1};
    const cpubind_policy policy = {.reach = seed % 7 == 0   ? CPUBIND_REACH_HOME
                                            : seed % 7 == 1 ? CPUBIND_REACH_HOST
                                                            : CPUBIND_REACH_SOCKET};
    static int32_t work[CPUBIND_WORK(HOST_CPUS, HOST_NODES, HOST_DEVICES)];
    uint64_t s = seed;
    odd_host_make(seed, limits, &host);
    for (int32_t n = host.n_device, left = host_below(&s, 3); left > 0; left--)
        add_process(&s, n);
    model_plan(&host.host, host.device, host.n_device, policy.reach, &naive);
    assert_int_equal(
        cpubind_plan(&host.host, host.device, host.n_device, &policy, owner, work, &report),
        CPUBIND_OK);
    memset(size, 0, sizeof size);
    for (int32_t i = 0; i < host.host.n_cpu; i++)
        if (owner[i] != CPUBIND_NONE)
            size[owner[i]]++;
    return !lists && policy.reach != CPUBIND_REACH_HOME;
}

static uint64_t number_of(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : usual;
}

/* == Minimums =============================================================== */

/* Whether some plan gives all claimants their minimums: any of them together may have as many
 * CPUs as they need (Hall). */
static int32_t can_serve_all(void)
{
    for (int32_t some = 1; some < 1 << host.n_device; some++) {
        int32_t have = 0;
        for (int32_t i = 0; i < host.host.n_cpu; i++) {
            int32_t d = 0;
            while (d < host.n_device && !(some >> d & 1 && naive.may[d][naive.core_of[i]]))
                d++;
            have += d < host.n_device;
        }
        for (int32_t d = 0; d < host.n_device; d++)
            have -= some >> d & 1 ? host.device[d].minimum : 0;
        if (have < 0)
            return 0;
    }
    return 1;
}

/* Where lists of allowed CPUs differ, or no CPU outside of a home counts, one that is elsewhere
 * may miss its minimum: it is served last, and nobody moves for it. */
TEST(every_minimum_is_met_that_any_plan_meets)
{
    const uint64_t first = number_of("CPUBIND_SEED", 1);
    const uint64_t n = number_of("CPUBIND_TEST_HOSTS", rounds(30000));
    int32_t hosts = 0;
    for (uint64_t seed = first; seed < first + n; seed++) {
        const int32_t is_shared = make(seed);
        if (!can_serve_all())
            continue;
        hosts++;
        for (int32_t d = 0; d < host.n_device; d++)
            if (size[d] < host.device[d].minimum &&
                !(naive.is_elsewhere[d] && (host.device[d].is_hidden || !is_shared)))
                fail_msg("seed %d: device %d is refused in vain", (int)seed, (int)d);
    }
    print_message("%d hosts on which all minimums can be met\n", (int)hosts);
}

/* == All plans ============================================================== */

static struct kinds {
    int32_t n, core[MOST_CORES + 1], cores[MOST_CORES + 1]; /* one of each, how many */
} kinds;

static int32_t is_alike(int32_t a, int32_t b)
{
    int32_t same = naive.width[a] == naive.width[b];
    for (int32_t d = 0; d < host.n_device; d++)
        same &= naive.claim[d][a] == naive.claim[d][b] && naive.home[d][a] == naive.home[d][b];
    return same;
}

/* Returns how many plans there are. */
static double find_kinds(void)
{
    double plans = 1;
    kinds.n = 0;
    for (int32_t c = 0; c < naive.n_core; c++) {
        int32_t k = 0, n = 0;
        while (k < kinds.n && !is_alike(kinds.core[k], c))
            k++;
        if (k == kinds.n) {
            kinds.core[kinds.n] = c;
            kinds.cores[kinds.n++] = 0;
        }
        for (int32_t d = 0; d < host.n_device; d++)
            n += naive.claim[d][c];
        kinds.cores[k]++;
        plans *= (kinds.cores[k] + n) / (double)kinds.cores[k];
    }
    return plans;
}

static figures judge(const int32_t *has, int32_t near)
{
    figures f = {.near = near};
    for (int32_t d = 0; d < host.n_device; d++) {
        const int32_t most = host.device[d].most;
        const int32_t share =
            (most > 0 && has[d] > most ? most : has[d]) * WHOLE / model_weight(&naive, d);
        int32_t at = d;
        f.served += has[d] >= host.device[d].minimum;
        for (; at > 0 && f.share[at - 1] > share; at--)
            f.share[at] = f.share[at - 1];
        f.share[at] = share;
    }
    return f;
}

/* Above 0: a is more even than b. */
static int32_t compare(const figures *a, const figures *b)
{
    int32_t at = 0;
    if (a->served != b->served)
        return a->served - b->served;
    while (at < host.n_device - 1 && a->share[at] == b->share[at])
        at++;
    return a->share[at] - b->share[at];
}

/* Goes through the plans in which the claimants before d have what they have of kind k, and of
 * `left` cores of it the others some. Keeps the most even one, and the most CPUs at home. */
static void try_all(int32_t k, int32_t d, int32_t left, int32_t *has, int32_t near,
                    figures *best)
{
    const int32_t c = kinds.core[k], width = naive.width[c], had = has[d];
    if (k == kinds.n) {
        const figures f = judge(has, near);
        const int32_t most_near = near > best->near ? near : best->near;
        if (compare(&f, best) > 0)
            *best = f;
        best->near = most_near;
        return;
    }
    if (d == host.n_device) {
        try_all(k + 1, 0, kinds.cores[k + 1], has, near, best);
        return;
    }
    for (int32_t n = 0; n <= left; n++) {
        has[d] = had + n * width;
        try_all(k, d + 1, left - n, has, near + (naive.home[d][c] ? n * width : 0), best);
        if (!naive.claim[d][c] || (host.device[d].most > 0 && has[d] >= host.device[d].most))
            break;
    }
    has[d] = had;
}

/* How far the plan may be from the best one: the share of a core, and as many CPUs at home as
 * line 5 has taken, workers without a home have, and claimants of so many at most have, with a
 * core for each of these: they may have left idle what is near nobody else. */
static void find_bounds(int32_t *share, int32_t *lost)
{
    int32_t widest = 0;
    *share = 0;
    *lost = report.taken;
    for (int32_t d = 0; d < host.n_device; d++)
        for (int32_t c = 0; c < naive.n_core; c++) {
            const int32_t one = naive.width[c] * WHOLE / model_weight(&naive, d);
            *share = one > *share ? one : *share;
            widest = naive.width[c] > widest ? naive.width[c] : widest;
        }
    for (int32_t d = 0; d < host.n_device; d++)
        *lost += host.device[d].is_anywhere ? size[d]
                 : host.device[d].most > 0  ? size[d] + widest
                                            : 0;
}

/* Whether nobody is in want, so that turns alone have made the plan. */
static int32_t is_by_turns(void)
{
    int32_t elsewhere = 0;
    for (int32_t d = 0; d < host.n_device; d++)
        elsewhere |= naive.is_elsewhere[d];
    return !elsewhere && !naive.is_tight && report.taken == 0;
}

TEST(the_smallest_share_is_within_a_core_of_the_best_plan_and_homes_are_kept)
{
    const uint64_t first = number_of("CPUBIND_SEED", 1);
    const uint64_t n = number_of("CPUBIND_TEST_HOSTS", rounds(10000));
    int32_t hosts = 0, by_turns = 0, equal = 0, all_equal = 0;
    int64_t at_home = 0, can_be = 0;
    for (uint64_t seed = first; seed < first + n; seed++) {
        int32_t has[HOST_DEVICES] = {0}, near = 0, share, lost;
        figures mine, best = {.served = -1};
        (void)make(seed);
        if (naive.n_core > MOST_CORES || find_kinds() > MOST_PLANS)
            continue;
        for (int32_t i = 0; i < host.host.n_cpu; i++)
            near += owner[i] != CPUBIND_NONE && naive.home[owner[i]][naive.core_of[i]];
        mine = judge(size, near);
        try_all(0, 0, kinds.cores[0], has, 0, &best);
        find_bounds(&share, &lost);
        hosts++;
        at_home += mine.near;
        can_be += best.near;
        if (mine.near + lost < best.near)
            fail_msg("seed %d: %d CPUs at home, %d can be; %d may lack", (int)seed,
                     (int)mine.near, (int)best.near, (int)lost);
        if (!is_by_turns() || mine.served > best.served) /* with what line 5 found idle */
            continue;
        by_turns++;
        equal += mine.share[0] >= best.share[0];
        all_equal += compare(&mine, &best) >= 0;
        if (mine.served < best.served || mine.share[0] + share < best.share[0])
            fail_msg("seed %d: the smallest share is %d of %d, and %d can be", (int)seed,
                     (int)mine.share[0], WHOLE, (int)best.share[0]);
    }
    print_message("%d hosts: %d CPUs at home, at most %d can be\n", (int)hosts, (int)at_home,
                  (int)can_be);
    print_message("%d by turns: the smallest share is that of the best on %d, all are on %d\n",
                  (int)by_turns, (int)equal, (int)all_equal);
    assert_true(100 * at_home >= 80 * can_be && 100 * equal >= 95 * by_turns);
}

TEST_FILE(NULL, NULL)
