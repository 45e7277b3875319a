/* measure.c - a measurement without an effect is called one in 5 % of runs at most
 * SPDX-License-Identifier: MIT
 *
 * Thousands of measurements are simulated, of loads that are hard to judge: texts of the row
 * `judge` of the table of readers. CPUBIND_SEED is the first seed.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "../readers/readers.h"
#include "../support/test.h"

enum { N_FIGURE = 6, BLOCKS = 48, SECONDS = 60 };

static uint64_t state;

static double uniform(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) / 9007199254740992.0;
}

/* Of mean 0 and deviation 1: by the central limit, twelve uniform numbers. */
static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform();
    return sum;
}

/* A load, without noise: the value of a block at time 0 .. 1 of the run, from the one
 * before. */
typedef double load(double at, double before);

static double steady(double at, double before)
{
    return at + before < 0 ? 0 : 100;
}

/* As an unbound worker beside a hog: the scheduler finds a good place, or does not. */
static double two_modes(double at, double before)
{
    return uniform() < 0.3 ? steady(at, before) : 4000;
}

static double drifting(double at, double before)
{
    return steady(at, before) + 80 * at;
}

static double slightly_drifting(double at, double before)
{
    return steady(at, before) + 10 * at;
}

static double autocorrelated(double at, double before)
{
    return 100 + (at == 0 ? 0 : 0.95 * (before - 100));
}

static double random_walk(double at, double before)
{
    return at == 0 ? 1000 : before;
}

static double step_in_the_middle(double at, double before)
{
    return steady(at, before) + (at < 0.47 ? 0 : 100);
}

static double small_step(double at, double before)
{
    return steady(at, before) + (at < 0.52 ? 0 : 10);
}

/* A day of the load, in the run: up and down again, three times. */
static double daily_wave(double at, double before)
{
    const double phase = at * 3 - floor(at * 3);
    return steady(at, before) + 60 * (phase < 0.5 ? phase : 1 - phase);
}

static words text, heard;

/* Judges figures of a load; `effect` is added on the second side. */
static const char *judge(load *of, double effect, int n, int seconds, uint64_t seed)
{
    state = ~seed;
    text.len = heard.len = 0;
    add_words(&text, "%d %d", (int)seed, seconds);
    for (int k = 0; k < n; k++) {
        double before = 0;
        add_words(&text, "\n%s 0 / %.6f /", k % 2 ? "higher" : "lower", effect);
        for (int i = 0; i < BLOCKS; i++) {
            before = of((double)i / BLOCKS, before) + normal();
            add_words(&text, " %.6f", before);
        }
    }
    assert_int_equal(read_once(find_reader("judge"), "", text.text, text.len, 0, &heard), 0);
    return heard.text;
}

static const struct {
    const char *name;
    load *load;
} loads[] = {{"steady", steady},
             {"two modes", two_modes},
             {"drift", drifting},
             {"slight drift", slightly_drifting},
             {"autocorrelation", autocorrelated},
             {"random walk", random_walk},
             {"step", step_in_the_middle},
             {"small step", small_step},
             {"daily wave", daily_wave}};

/* At most 5 % of runs are called better or worse: three deviations above that fail. */
TEST(no_effect_is_seen_where_there_is_none)
{
    const char *first = getenv("CPUBIND_SEED");
    const uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    const int64_t n = (int64_t)rounds(400);
    for (size_t k = 0; k < sizeof loads / sizeof *loads; k++) {
        int64_t n_effect = 0;
        for (int64_t i = 0; i < n; i++) {
            const char *all = strstr(
                judge(loads[k].load, 0, N_FIGURE, SECONDS, seed + (uint64_t)i), "\nall: ");
            n_effect +=
                strncmp(all, "\nall: better", 12) == 0 || strncmp(all, "\nall: worse", 11) == 0;
        }
        print_message("# %s: %d better or worse of %d\n", loads[k].name, (int)n_effect, (int)n);
        assert_true(20 * n_effect <= n ||
                    (20 * n_effect - n) * (20 * n_effect - n) <= 9 * 19 * n);
    }
}

TEST(the_power_grows_with_the_effect_and_the_time)
{
    static const double effect[] = {0.25, 0.5, 1, 2, 4};
    static const int seconds[] = {30, 60, 120};
    const int n = (int)rounds(200);
    int before[3] = {0}, found[3];
    for (size_t i = 0; i < sizeof effect / sizeof *effect; i++) {
        for (size_t k = 0; k < 3; k++) {
            found[k] = 0;
            for (uint64_t seed = 0; seed < (uint64_t)n; seed++)
                found[k] += strstr(judge(steady, effect[i], 1, seconds[k], 77000 + seed),
                                   "all: worse") != NULL;
            assert_true(found[k] >= before[k]);
            before[k] = found[k];
        }
        assert_true(100 * found[0] <= 100 * found[1] + 5 * n);
        assert_true(100 * found[1] <= 100 * found[2] + 5 * n);
    }
    assert_true(100 * before[0] >= 95 * n);
}

/* A shift of twice the smallest difference is found where none was. */
TEST(the_smallest_difference_would_have_been_seen)
{
    const char *said = judge(steady, 0, 1, SECONDS, 21);
    double smallest;
    assert_non_null(strstr(said, "a no difference"));
    smallest = strtod(strstr(said, "smallest ") + strlen("smallest "), NULL);
    assert_true(smallest > 0);
    assert_non_null(strstr(judge(steady, 2 * smallest, 1, SECONDS, 21), "all: worse, by a"));
}

/* Both orders of a group are drawn. */
TEST(sides_are_drawn)
{
    int n_mirrored = 0;
    for (uint64_t seed = 0; seed < 1000; seed++)
        n_mirrored += strstr(judge(steady, 0, 0, SECONDS, seed), "first 1001") != NULL;
    assert_in_range(n_mirrored, 450, 550);
}

TEST_FILE(NULL, NULL)
