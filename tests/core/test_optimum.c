/* test_optimum.c - the rule of turns beside the best of all plans, on small hosts
 * SPDX-License-Identifier: MIT
 *
 * Claimants of all kinds: devices at home, workers without a home, an engine that wants so many
 * cores and no more, the host itself. Every way to give the cores away is tried; the best one
 * serves the most minimums, then has the largest smallest share by weight. Only cores that line
 * 1 of the rule gives a device count, since the rule is to be near before it is to be even; and
 * only hosts on which nobody is in want without these, which line 5 is for.
 */
#include "../support/test.h"
#include "model.h"

enum { MOST_CORES = 8 };

/* A plan as it is judged. Shares are of 2520 = lcm(1 .. 10) of a weight, to be integers. */
typedef struct figures {
    int32_t served, share;
} figures;

static odd_host host;
static model naive;

/* A device that lacks no more than `slack` of what it takes at most has enough. */
static figures judge(const int32_t *of_core, int32_t slack)
{
    figures f = {0, 1 << 30};
    for (int32_t d = 0; d < host.n_device; d++) {
        const cpubind_device *one = &host.device[d];
        int32_t size = 0;
        for (int32_t c = 0; c < naive.n_core; c++)
            size += of_core[c] == d ? naive.width[c] : 0;
        f.served += size >= one->minimum;
        if ((one->most == 0 || size + slack < one->most) &&
            size * 2520 / model_weight(&naive, d) < f.share)
            f.share = size * 2520 / model_weight(&naive, d);
    }
    return f;
}

/* Whether device d may be given core `at` beside what it has of those before. */
static int32_t may_take(const int32_t *of_core, int32_t d, int32_t at)
{
    int32_t size = 0;
    for (int32_t c = 0; c < at; c++)
        size += of_core[c] == d ? naive.width[c] : 0;
    return naive.claim[d][at] && (host.device[d].most == 0 || size < host.device[d].most);
}

/* Tries every owner of every core that claims it; nobody, where it has enough. */
static figures best_of_all(void)
{
    figures best = {-1, -1};
    int32_t of_core[MOST_CORES], choice[MOST_CORES] = {0}, at = 0;
    for (int32_t c = 0; c < MOST_CORES; c++)
        of_core[c] = CPUBIND_NONE;
    while (at >= 0) {
        int32_t d;
        if (at == naive.n_core) {
            const figures f = judge(of_core, 0);
            if (f.served > best.served || (f.served == best.served && f.share > best.share))
                best = f;
            at--;
            continue;
        }
        d = choice[at]++;
        of_core[at] = CPUBIND_NONE;
        if (d > host.n_device) {
            choice[at--] = 0;
            continue;
        }
        if (d < host.n_device && !may_take(of_core, d, at))
            continue;
        of_core[at++] = d < host.n_device ? d : CPUBIND_NONE;
    }
    return best;
}

/* Makes the host of a seed and its plan; returns whether it is one to be compared. */
static int32_t make(uint64_t seed, int32_t *of_core)
{
    static const host_limits limits = {3, 3, 4, 1, 0, 0, 1};
    static const cpubind_policy policy = {.rule = CPUBIND_RULE_TURNS};
    static int32_t owner[HOST_CPUS], work[CPUBIND_WORK(HOST_CPUS, HOST_NODES, HOST_DEVICES)];
    int32_t is_plain = 1;
    cpubind_report r;
    odd_host_make(seed, limits, &host);
    model_plan(&host.host, host.device, host.n_device, policy.reach, &naive);
    for (int32_t d = 0; d < host.n_device; d++)
        is_plain &= !naive.is_elsewhere[d];
    if (naive.n_core > MOST_CORES || naive.is_tight || !is_plain || host.n_device < 2)
        return 0;
    assert_int_equal(
        cpubind_plan(&host.host, host.device, host.n_device, &policy, owner, work, &r),
        CPUBIND_OK);
    for (int32_t i = 0; i < host.host.n_cpu; i++)
        of_core[naive.core_of[i]] = owner[i];
    return r.taken == 0;
}

TEST(as_many_are_served_as_can_be_and_the_smallest_share_is_within_a_core)
{
    int32_t hosts = 0, equal = 0;
    for (uint64_t seed = 1; hosts < 300; seed++) {
        int32_t of_core[MOST_CORES], step = 0, widest = 0;
        figures mine, best;
        if (!make(seed, of_core))
            continue;
        for (int32_t d = 0; d < host.n_device; d++)
            for (int32_t c = 0; c < naive.n_core; c++) {
                const int32_t one = 2520 * naive.width[c] / model_weight(&naive, d);
                step = one > step ? one : step;
                widest = naive.width[c] > widest ? naive.width[c] : widest;
            }
        mine = judge(of_core, 0);
        best = best_of_all();
        hosts++;
        equal += mine.share == best.share;
        if (mine.served < best.served || judge(of_core, widest).share + step < best.share)
            fail_msg("seed %d: %d served, %d can be; share %d of %d", (int)seed,
                     (int)mine.served, (int)best.served, (int)mine.share, (int)best.share);
    }
    print_message("%d hosts; the smallest share is as large as it can be on %d\n", (int)hosts,
                  (int)equal);
}

TEST_FILE(NULL, NULL)
