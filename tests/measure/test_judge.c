/* test_judge.c - a measurement without an effect is called one in 5 % of runs at most
 * SPDX-License-Identifier: MIT
 *
 * This is about thousands of measurements, of which each would take half a minute: no command
 * and no file stands before the judge and the quantiles. Scenes test all else of measure.
 *
 * CPUBIND_TEST_MEASURES sets the number of simulated runs of each kind (default 400),
 * CPUBIND_SEED the first seed.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../../adapters/measure/judge.h"
#include "../../adapters/measure/latency.h"
#include "../support/test.h"

enum { N_FIGURE = 6 };

static int64_t setting(const char *name, int64_t usual)
{
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : usual;
}

/* == Loads ================================================================== */

static double uniform(uint64_t *state)
{
    return (double)(cpubind_schedule_next(state) >> 11) / 9007199254740992.0;
}

/* Of mean 0 and deviation 1: by the central limit, twelve uniform numbers. */
static double normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return sum;
}

/* A load: the value of a block at time 0 .. 1 of the run, from the one before. */
typedef double load(double at, double before, uint64_t *state);

static double steady(double at, double before, uint64_t *state)
{
    (void)at, (void)before;
    return 100 + normal(state);
}

/* As an unbound worker beside a hog: the scheduler finds a good place, or does not. */
static double two_modes(double at, double before, uint64_t *state)
{
    (void)at, (void)before;
    return (uniform(state) < 0.3 ? 100 : 4000) + normal(state);
}

static double drifting(double at, double before, uint64_t *state)
{
    (void)before;
    return 100 + 80 * at + normal(state);
}

static double slightly_drifting(double at, double before, uint64_t *state)
{
    (void)before;
    return 100 + 10 * at + normal(state);
}

static double autocorrelated(double at, double before, uint64_t *state)
{
    return 100 + (at == 0 ? 0 : 0.95 * (before - 100)) + normal(state);
}

static double random_walk(double at, double before, uint64_t *state)
{
    return (at == 0 ? 1000 : before) + normal(state);
}

static double step_in_the_middle(double at, double before, uint64_t *state)
{
    (void)before;
    return (at < 0.47 ? 100 : 200) + normal(state);
}

static double small_step(double at, double before, uint64_t *state)
{
    (void)before;
    return (at < 0.52 ? 100 : 110) + normal(state);
}

/* A day of the load, in the run: up and down again, three times. */
static double daily_wave(double at, double before, uint64_t *state)
{
    const double phase = at * 3 - (double)(int)(at * 3);
    (void)before;
    return 100 + 60 * (phase < 0.5 ? phase : 1 - phase) + normal(state);
}

/* Few events: most contrasts are equal, or 0. */
static double rare(double at, double before, uint64_t *state)
{
    (void)at, (void)before;
    return uniform(state) < 0.2 ? 1 : 0;
}

/* == Runs =================================================================== */

static cpubind_schedule schedule;
static cpubind_judgement figure[N_FIGURE];

/* Fills the figures with one load each; `effect` is added on the second side. */
static void simulate(load *of, double effect, int32_t n, int64_t total_ms, uint64_t seed)
{
    uint64_t state = ~seed;
    cpubind_schedule_draw(seed, total_ms, &schedule);
    memset(figure, 0, sizeof figure);
    for (int32_t k = 0; k < n; k++) {
        double before = 0;
        (void)snprintf(figure[k].name, sizeof figure[k].name, "figure%d", (int)k);
        figure[k].better = k % 2 ? CPUBIND_BETTER_HIGHER : CPUBIND_BETTER_LOWER;
        for (int32_t i = 0; i < schedule.n_block; i++) {
            before = of((double)i / schedule.n_block, before, &state);
            figure[k].value[i] = before + (schedule.side[i] ? effect : 0);
            figure[k].is_counted[i] = 1;
        }
    }
    cpubind_judge(&schedule, NULL, figure, n);
}

static int is_effect(void)
{
    const cpubind_verdict all = cpubind_judge_all(figure, N_FIGURE);
    return all == CPUBIND_VERDICT_BETTER || all == CPUBIND_VERDICT_WORSE;
}

/* At most 5 % of runs are called better or worse: three deviations above that fail. */
static void check_no_effect(const char *name, load *of)
{
    const int64_t n = setting("CPUBIND_TEST_MEASURES", 400);
    const uint64_t seed = (uint64_t)setting("CPUBIND_SEED", 1);
    int64_t n_effect = 0, n_unjudged = 0;
    for (int64_t i = 0; i < n; i++) {
        simulate(of, 0, N_FIGURE, 60000, seed + (uint64_t)i);
        n_effect += is_effect();
        n_unjudged += cpubind_judge_all(figure, N_FIGURE) == CPUBIND_VERDICT_NOT_JUDGED;
    }
    print_message("# %-20s %5.2f %% better or worse, %5.1f %% not judged, of %" PRId64 "\n",
                  name, 100.0 * (double)n_effect / (double)n,
                  100.0 * (double)n_unjudged / (double)n, n);
    assert_true(20 * n_effect <= n || (20 * n_effect - n) * (20 * n_effect - n) <= 9 * 19 * n);
}

TEST(no_effect_is_seen_where_there_is_none)
{
    check_no_effect("steady", steady);
    check_no_effect("two modes", two_modes);
    check_no_effect("drift", drifting);
    check_no_effect("slight drift", slightly_drifting);
    check_no_effect("autocorrelation", autocorrelated);
    check_no_effect("random walk", random_walk);
    check_no_effect("step", step_in_the_middle);
    check_no_effect("small step", small_step);
    check_no_effect("daily wave", daily_wave);
    check_no_effect("rare events", rare);
}

/* The share of runs in which an effect of so many deviations of a block is found. */
static int32_t power_of(double effect, int64_t total_ms)
{
    const int32_t n = 200;
    int32_t n_found = 0;
    for (int32_t i = 0; i < n; i++) {
        simulate(steady, effect, 1, total_ms, 77000 + (uint64_t)i);
        n_found += figure[0].verdict == CPUBIND_VERDICT_WORSE;
        assert_int_not_equal(figure[0].verdict,
                             effect > 1 ? CPUBIND_VERDICT_BETTER : CPUBIND_VERDICT_NOT_JUDGED);
    }
    return 100 * n_found / n;
}

TEST(the_power_grows_with_the_effect_and_the_time)
{
    static const double effect[] = {0.25, 0.5, 1, 2, 4};
    static const int64_t total_ms[] = {30000, 60000, 120000};
    int32_t before[3] = {0};
    print_message("# effect, in deviations of a block: found in 30 s, 60 s, 120 s\n");
    for (size_t i = 0; i < sizeof effect / sizeof *effect; i++) {
        int32_t power[3];
        for (size_t k = 0; k < 3; k++) {
            power[k] = power_of(effect[i], total_ms[k]);
            assert_true(power[k] >= before[k]);
            before[k] = power[k];
        }
        print_message("# %5.2f: %3d %% %3d %% %3d %%\n", effect[i], (int)power[0],
                      (int)power[1], (int)power[2]);
        assert_true(power[0] <= power[1] + 5 && power[1] <= power[2] + 5);
    }
    assert_true(before[0] >= 95);
}

/* == One run ================================================================ */

/* The values of both sides, without noise but for a small one that differs by block. */
static void fill(double first, double second, int32_t k)
{
    memset(&figure[k], 0, sizeof figure[k]);
    figure[k].better = CPUBIND_BETTER_LOWER;
    for (int32_t i = 0; i < schedule.n_block; i++) {
        figure[k].value[i] = (schedule.side[i] ? second : first) + 0.001 * (i % 7);
        figure[k].is_counted[i] = 1;
    }
}

/* Leaves a figure its first groups alone. */
static void keep_groups(int32_t k, int32_t n_group)
{
    for (int32_t i = n_group * CPUBIND_GROUP_BLOCKS; i < schedule.n_block; i++)
        figure[k].is_counted[i] = 0;
}

TEST(a_clear_effect_has_its_size_its_interval_and_its_word)
{
    cpubind_schedule_draw(5, 60000, &schedule);
    fill(100, 40, 0);
    cpubind_judge(&schedule, NULL, figure, 1);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_BETTER);
    assert_true(figure[0].median[0] > 100 && figure[0].median[0] < 100.01);
    assert_true(figure[0].median[1] > 40 && figure[0].median[1] < 40.01);
    assert_true(figure[0].difference > -60.01 && figure[0].difference < -59.99);
    assert_true(figure[0].low <= figure[0].difference &&
                figure[0].difference <= figure[0].high);
    assert_true(figure[0].low > -60.01 && figure[0].high < -59.99);
    assert_true(figure[0].p == 2.0 / (1 << 12));
    figure[0].better = CPUBIND_BETTER_HIGHER;
    cpubind_judge(&schedule, NULL, figure, 1);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_WORSE);
    figure[0].better = CPUBIND_BETTER_NEITHER;
    cpubind_judge(&schedule, NULL, figure, 1);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_SHOWN);
    assert_int_equal(cpubind_judge_all(figure, 1), CPUBIND_VERDICT_NOT_JUDGED);
}

/* The p of the signed-rank test of 6 and 8 differences, from a table of its distribution:
 * 2 / 2^6 for the sum 0, and 2 * 5 / 2^8 for the sum 3. */
TEST(p_is_that_of_the_exact_distribution)
{
    cpubind_schedule_draw(1, 40000, &schedule);
    memset(figure, 0, sizeof figure);
    for (int32_t i = 0; i < schedule.n_block; i++) {
        const int32_t g = i / CPUBIND_GROUP_BLOCKS;
        figure[0].is_counted[i] = 1;
        figure[0].value[i] = 1000 + (schedule.side[i] ? (g == 2 ? -3 : g + 1) : 0);
    }
    keep_groups(0, 8);
    cpubind_judge(&schedule, NULL, figure, 1);
    assert_true(figure[0].p == 2.0 * 5 / 256);
    keep_groups(0, 6);
    for (int32_t i = 0; i < schedule.n_block; i++)
        figure[0].value[i] = schedule.side[i] ? 7 : 5;
    cpubind_judge(&schedule, NULL, figure, 1);
    assert_int_equal(figure[0].n, 6);
    assert_true(figure[0].p == 2.0 / 64);
    assert_true(figure[0].difference == 2 && figure[0].low == 2 && figure[0].high == 2);
}

TEST(what_is_not_judged_says_why)
{
    cpubind_schedule_draw(3, 10000, &schedule);
    fill(100, 40, 0);
    keep_groups(0, 6);
    figure[0].is_counted[9] = 0;
    cpubind_judge(&schedule, NULL, figure, 1);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_NOT_JUDGED);
    assert_string_equal(figure[0].why, "too few blocks");
    assert_true(figure[0].has_sides && !figure[0].has_interval);
    (void)snprintf(figure[0].why, sizeof figure[0].why, "counters fell");
    cpubind_judge(&schedule, NULL, figure, 1);
    assert_string_equal(figure[0].why, "counters fell");
    fill(100, 40, 0);
    cpubind_judge(&schedule, "another program binds", figure, 1);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_NOT_JUDGED);
    assert_string_equal(figure[0].why, "another program binds");
    simulate(drifting, 0, 1, 60000, 4);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_NOT_JUDGED);
    assert_memory_equal(figure[0].why, "drift", 5);
    simulate(step_in_the_middle, 0, 1, 60000, 4);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_NOT_JUDGED);
    assert_non_null(strstr(figure[0].why, "in the middle"));
}

/* Six groups give a p of 1/32 at best: enough for one figure, too little for two. */
TEST(several_figures_are_corrected_for_their_number)
{
    cpubind_schedule_draw(3, 10000, &schedule);
    fill(100, 40, 0);
    keep_groups(0, 6);
    cpubind_judge(&schedule, NULL, figure, 1);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_BETTER);
    fill(100, 40, 0);
    keep_groups(0, 6);
    fill(100, 100, 1);
    cpubind_judge(&schedule, NULL, figure, 2);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_SAME);
    assert_true(figure[0].p_holm == 2.0 / 32 && figure[0].smallest == 0);
    fill(100, 40, 0);
    keep_groups(0, 6);
    fill(100, 100, 1);
    figure[0].is_asked = 1;
    cpubind_judge(&schedule, NULL, figure, 2);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_BETTER);
    assert_int_equal(cpubind_judge_all(figure, 2), CPUBIND_VERDICT_BETTER);
    assert_ptr_equal(cpubind_judge_main(figure, 2, CPUBIND_VERDICT_BETTER), &figure[0]);
}

/* A count that stays 0 is no figure that others are corrected for. */
TEST(a_figure_that_never_changes_costs_the_others_nothing)
{
    cpubind_schedule_draw(3, 10000, &schedule);
    fill(100, 40, 0);
    keep_groups(0, 6);
    fill(0, 0, 1);
    for (int32_t i = 0; i < schedule.n_block; i++)
        figure[1].value[i] = 0;
    cpubind_judge(&schedule, NULL, figure, 2);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_BETTER);
    assert_int_equal(figure[1].verdict, CPUBIND_VERDICT_SAME);
    assert_true(figure[1].p == 1);
}

TEST(worse_outweighs_better)
{
    cpubind_schedule_draw(3, 60000, &schedule);
    fill(100, 40, 0);
    fill(100, 140, 1);
    cpubind_judge(&schedule, NULL, figure, 2);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_BETTER);
    assert_int_equal(figure[1].verdict, CPUBIND_VERDICT_WORSE);
    assert_int_equal(cpubind_judge_all(figure, 2), CPUBIND_VERDICT_WORSE);
    assert_ptr_equal(cpubind_judge_main(figure, 2, CPUBIND_VERDICT_WORSE), &figure[1]);
}

/* A shift of twice the smallest difference is found where none was. */
TEST(the_smallest_difference_would_have_been_seen)
{
    simulate(steady, 0, 1, 60000, 21);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_SAME);
    assert_true(figure[0].smallest > 0);
    simulate(steady, 2 * figure[0].smallest, 1, 60000, 21);
    assert_int_equal(figure[0].verdict, CPUBIND_VERDICT_WORSE);
}

/* == The schedule =========================================================== */

TEST(each_group_has_both_sides_twice_and_both_orders_are_drawn)
{
    int32_t n_mirrored = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        cpubind_schedule_draw(seed, 60000, &schedule);
        assert_int_equal(schedule.n_group, 12);
        assert_int_equal(schedule.n_block, 48);
        for (int32_t i = 0; i < schedule.n_block; i += 4) {
            const uint8_t *side = schedule.side + i;
            assert_true(side[0] == side[3] && side[1] == side[2] && side[0] + side[1] == 1);
            n_mirrored += side[0];
        }
    }
    assert_in_range(n_mirrored, 5800, 6200);
}

TEST(the_time_is_kept)
{
    static const struct {
        int64_t total_ms;
        int32_t n_group;
    } rows[] = {{1000, 10}, {10000, 10}, {60000, 12}, {600000, 24}, {86400000, 24}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t taken;
        cpubind_schedule_draw(9, rows[i].total_ms, &schedule);
        assert_int_equal(schedule.n_group, rows[i].n_group);
        taken = schedule.n_block * (schedule.block_ms + schedule.settle_ms);
        assert_true(taken <= rows[i].total_ms && taken > rows[i].total_ms - schedule.n_block);
        assert_true(schedule.settle_ms > 0 && schedule.settle_ms <= 2000);
    }
}

/* == Quantiles of latencies ================================================== */

TEST(quantiles_are_off_by_less_than_a_part)
{
    cpubind_latency *l = calloc(1, sizeof *l), *all = calloc(1, sizeof *all);
    assert_true(l && all);
    assert_true(cpubind_latency_quantile(l, 0.5) == 0);
    for (int64_t ns = 0; ns < 1000; ns++)
        cpubind_latency_add(l, ns * 1000);
    for (int i = 1; i <= 1000; i++) {
        const double right = 1000.0 * (i - 1), seen = cpubind_latency_quantile(l, i / 1000.0);
        if (fabs(seen - right) > 0.008 * right)
            fail_msg("%d: %g, not %g", i, seen, right);
    }
    cpubind_latency_merge(all, l);
    cpubind_latency_merge(all, l);
    assert_true(all->n == 2000 &&
                cpubind_latency_quantile(all, 0.5) == cpubind_latency_quantile(l, 0.5));
    free(l);
    free(all);
}

TEST(the_shortest_and_the_longest_latency_have_a_slot)
{
    cpubind_latency *l = calloc(1, sizeof *l);
    assert_non_null(l);
    cpubind_latency_add(l, -1);
    cpubind_latency_add(l, INT64_MAX);
    assert_true(l->slot[0] == 1 && l->slot[CPUBIND_LATENCY_SLOTS - 1] == 1);
    assert_true(cpubind_latency_quantile(l, 0.5) == 0);
    assert_true(cpubind_latency_quantile(l, 1) > 1e12);
    for (int k = 0; k < 40; k++) {
        const int64_t ns = INT64_C(1) << k;
        memset(l, 0, sizeof *l);
        cpubind_latency_add(l, ns);
        assert_true(fabs(cpubind_latency_quantile(l, 1) - (double)ns) <= 0.008 * (double)ns);
    }
    free(l);
}

TEST_FILE(NULL, NULL)
