/* judge.c - whether the two sides of a measurement differ in a figure, and by how much
 * SPDX-License-Identifier: MIT
 */
#include "judge.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALPHA 0.05

/* Walsh averages of n contrasts: one for each pair of them, and of each with itself. */
#define WALSH_MAX (CPUBIND_GROUPS_MAX * (CPUBIND_GROUPS_MAX + 1) / 2)

/* The largest sum of ranks, each counted twice so that shared ranks are whole numbers. */
#define RANKS_MAX (CPUBIND_GROUPS_MAX * (CPUBIND_GROUPS_MAX + 1))

const char *cpubind_verdict_word(cpubind_verdict verdict)
{
    static const char *const words[] = {
#define CPUBIND_X(name, word) word,
        CPUBIND_VERDICT_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    return words[verdict];
}

/* == Order ================================================================== */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts, and returns the median; 0 of nothing. */
static double sort_for_median(double *value, int32_t n)
{
    qsort(value, (size_t)n, sizeof *value, compare);
    return n == 0 ? 0 : (value[(n - 1) / 2] + value[n / 2]) / 2;
}

static double size_of(double x)
{
    return x < 0 ? -x : x;
}

/* == The signed-rank test =================================================== */

/* The chances of all sums of a part of the ranks, when each rank is in the part or not with the
 * same chance. Returns the largest sum. */
static int32_t chances_of_sums(const int32_t *rank, int32_t n, double *chance)
{
    int32_t top = 0;
    memset(chance, 0, (RANKS_MAX + 1) * sizeof *chance);
    chance[0] = 1;
    for (int32_t i = 0; i < n; i++) {
        top += rank[i];
        for (int32_t sum = top; sum >= 0; sum--)
            chance[sum] = (chance[sum] + (sum >= rank[i] ? chance[sum - rank[i]] : 0)) / 2;
    }
    return top;
}

/* Ranks of the sizes of contrasts that are not 0, each twice; equal sizes share theirs. */
static int32_t rank_sizes(const double *contrast, int32_t n, int32_t *rank, int32_t *plus)
{
    int32_t n_rank = 0;
    *plus = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t twice = 1;
        if (contrast[i] == 0)
            continue;
        for (int32_t k = 0; k < n; k++) {
            const double d = size_of(contrast[k]) - size_of(contrast[i]);
            if (contrast[k] != 0)
                twice += d < 0 ? 2 : d == 0;
        }
        rank[n_rank++] = twice;
        *plus += contrast[i] > 0 ? twice : 0;
    }
    return n_rank;
}

/* The exact two-sided chance of ranks as far from the middle as those of the contrasts. */
static double signed_rank(const double *contrast, int32_t n)
{
    int32_t rank[CPUBIND_GROUPS_MAX], plus, top, low;
    double chance[RANKS_MAX + 1], p = 0;
    const int32_t n_rank = rank_sizes(contrast, n, rank, &plus);
    top = chances_of_sums(rank, n_rank, chance);
    low = plus < top - plus ? plus : top - plus;
    for (int32_t sum = 0; sum <= low; sum++)
        p += 2 * chance[sum];
    return p < 1 ? p : 1;
}

/* How many Walsh averages of n contrasts lie outside of an interval at each end; -1: there is
 * no interval of so small an alpha. */
static int32_t outside(int32_t n, double alpha)
{
    int32_t rank[CPUBIND_GROUPS_MAX], top, k = 0;
    double chance[RANKS_MAX + 1], sum = 0;
    for (int32_t i = 0; i < n; i++)
        rank[i] = i + 1;
    top = chances_of_sums(rank, n, chance);
    while (k <= top && (sum += chance[k]) <= alpha / 2)
        k++;
    return k - 1;
}

static int32_t walsh_averages(const double *contrast, int32_t n, double *walsh)
{
    int32_t n_walsh = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = i; k < n; k++)
            walsh[n_walsh++] = (contrast[i] + contrast[k]) / 2;
    return n_walsh;
}

/* == One figure ============================================================= */

/* What the groups of a figure came to. */
typedef struct contrasts {
    double of[CPUBIND_GROUPS_MAX];    /* second side less first */
    double level[CPUBIND_GROUPS_MAX]; /* the mean of the four blocks */
    double noise[CPUBIND_GROUPS_MAX]; /* the largest less the smallest of them */
    int32_t n;
} contrasts;

static int is_whole(const cpubind_judgement *f, int32_t at)
{
    int32_t n = 0;
    for (int32_t i = at; i < at + CPUBIND_GROUP_BLOCKS; i++)
        n += f->is_counted[i];
    return n == CPUBIND_GROUP_BLOCKS;
}

static void add_group(const cpubind_schedule *s, const cpubind_judgement *f, int32_t at,
                      contrasts *c)
{
    double sum[2] = {0, 0}, least = f->value[at], most = f->value[at];
    for (int32_t i = at; i < at + CPUBIND_GROUP_BLOCKS; i++) {
        sum[s->side[i]] += f->value[i];
        least = f->value[i] < least ? f->value[i] : least;
        most = f->value[i] > most ? f->value[i] : most;
    }
    c->of[c->n] = (sum[1] - sum[0]) / 2;
    c->level[c->n] = (sum[1] + sum[0]) / CPUBIND_GROUP_BLOCKS;
    c->noise[c->n] = most - least;
    c->n++;
}

static void fill_medians(const cpubind_schedule *s, cpubind_judgement *f)
{
    double value[2][CPUBIND_BLOCKS_MAX];
    int32_t n[2] = {0, 0};
    for (int32_t i = 0; i < s->n_block; i++)
        if (f->is_counted[i])
            value[s->side[i]][n[s->side[i]]++] = f->value[i];
    f->has_sides = n[0] > 0 && n[1] > 0;
    for (int side = 0; side < 2; side++)
        f->median[side] = sort_for_median(value[side], n[side]);
}

static double mean_of(const double *value, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += value[i];
    return sum / n;
}

/* Whether the load is another one at the end than at the start. Levels and noise are the same
 * whichever side a block was drawn for, so that this decides nothing for one of them: without
 * an effect the test stays exact among the figures that are left. */
static const char *change_of_load(const contrasts *c)
{
    double first[CPUBIND_GROUPS_MAX], last[CPUBIND_GROUPS_MAX], change, step = 0;
    const int32_t third = c->n / 3;
    memcpy(first, c->level, sizeof first);
    memcpy(last, c->level + c->n - third, (size_t)third * sizeof *last);
    change = size_of(sort_for_median(last, third) - sort_for_median(first, third));
    if (change <= size_of(mean_of(c->level, c->n)) / 4 || change <= 2 * mean_of(c->noise, c->n))
        return "";
    for (int32_t i = 1; i < c->n; i++)
        if (size_of(c->level[i] - c->level[i - 1]) > step)
            step = size_of(c->level[i] - c->level[i - 1]);
    return step > change / 2 ? "the load has changed in the middle"
                             : "drift: the load has changed from the start to the end";
}

static void set_why(cpubind_judgement *f, const char *why)
{
    (void)snprintf(f->why, sizeof f->why, "%s", why);
}

static void examine(const cpubind_schedule *s, const char *disturbed, cpubind_judgement *f,
                    contrasts *c)
{
    double walsh[WALSH_MAX];
    int32_t n_walsh, k;
    c->n = 0;
    for (int32_t at = 0; at < s->n_block; at += CPUBIND_GROUP_BLOCKS)
        if (is_whole(f, at))
            add_group(s, f, at, c);
    f->n = c->n;
    f->p = f->p_holm = 1;
    fill_medians(s, f);
    if (c->n < CPUBIND_GROUPS_MIN) {
        f->verdict = CPUBIND_VERDICT_NOT_JUDGED;
        if (!*f->why)
            set_why(f, "too few blocks");
        return;
    }
    set_why(f, f->better == CPUBIND_BETTER_NEITHER ? ""
               : disturbed                         ? disturbed
                                                   : change_of_load(c));
    f->verdict = *f->why                               ? CPUBIND_VERDICT_NOT_JUDGED
                 : f->better == CPUBIND_BETTER_NEITHER ? CPUBIND_VERDICT_SHOWN
                                                       : CPUBIND_VERDICT_SAME;
    f->is_still = 1;
    for (int32_t i = 0; i < c->n; i++)
        f->is_still &= c->noise[i] == 0 && c->level[i] == c->level[0];
    n_walsh = walsh_averages(c->of, c->n, walsh);
    k = outside(c->n, ALPHA);
    f->difference = sort_for_median(walsh, n_walsh);
    f->low = walsh[k];
    f->high = walsh[n_walsh - 1 - k];
    f->has_interval = 1;
    f->p = signed_rank(c->of, c->n);
}

/* == Figures together ======================================================= */

static int is_of_family(const cpubind_judgement *f, int32_t is_asked)
{
    return f->is_asked == is_asked && f->verdict == CPUBIND_VERDICT_SAME && !f->is_still;
}

/* Half of an interval as wide as `n_figure` figures need together: a difference of that size
 * would have been seen. */
static double smallest_seen(const contrasts *c, int32_t n_figure)
{
    double walsh[WALSH_MAX];
    const int32_t n = walsh_averages(c->of, c->n, walsh);
    const int32_t k = outside(c->n, ALPHA / n_figure);
    const double middle = sort_for_median(walsh, n);
    if (k < 0)
        return 0;
    return middle - walsh[k] > walsh[n - 1 - k] - middle ? middle - walsh[k]
                                                         : walsh[n - 1 - k] - middle;
}

/* Holm (1979): the i-th smallest p, from 0, is multiplied by n - i, and is no smaller than the
 * one before. */
static void correct(cpubind_judgement *figure, int32_t n, int32_t is_asked, int32_t n_family)
{
    cpubind_judgement *family[CPUBIND_FIGURES_MAX];
    int32_t n_sorted = 0;
    double before = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t at = n_sorted;
        if (!is_of_family(&figure[i], is_asked))
            continue;
        for (; at > 0 && family[at - 1]->p > figure[i].p; at--)
            family[at] = family[at - 1];
        family[at] = &figure[i];
        n_sorted++;
    }
    for (int32_t i = 0; i < n_sorted; i++) {
        const double p = family[i]->p * (n_family - i);
        before = p > before ? p : before;
        family[i]->p_holm = before < 1 ? before : 1;
    }
    for (int32_t i = 0; i < n_sorted; i++)
        if (family[i]->p_holm <= ALPHA && family[i]->difference != 0)
            family[i]->verdict =
                (family[i]->difference < 0) == (family[i]->better == CPUBIND_BETTER_LOWER)
                    ? CPUBIND_VERDICT_BETTER
                    : CPUBIND_VERDICT_WORSE;
}

void cpubind_judge(const cpubind_schedule *schedule, const char *disturbed,
                   cpubind_judgement *figure, int32_t n)
{
    contrasts c;
    int32_t n_family[2] = {0, 0};
    for (int32_t i = 0; i < n; i++) {
        examine(schedule, disturbed, &figure[i], &c);
        n_family[figure[i].is_asked] += is_of_family(&figure[i], figure[i].is_asked);
    }
    for (int32_t i = 0; i < n; i++) {
        if (!is_of_family(&figure[i], figure[i].is_asked))
            continue;
        c.n = 0;
        for (int32_t at = 0; at < schedule->n_block; at += CPUBIND_GROUP_BLOCKS)
            if (is_whole(&figure[i], at))
                add_group(schedule, &figure[i], at, &c);
        figure[i].smallest = smallest_seen(&c, n_family[figure[i].is_asked]);
    }
    for (int32_t family = 0; family < 2; family++)
        correct(figure, n, family, n_family[family]);
}

/* Whether the figures that the user has named decide: one of them could be better or worse. */
static int has_asked(const cpubind_judgement *figure, int32_t n)
{
    int32_t n_asked = 0;
    for (int32_t i = 0; i < n; i++)
        n_asked += figure[i].is_asked && figure[i].better != CPUBIND_BETTER_NEITHER;
    return n_asked > 0;
}

cpubind_verdict cpubind_judge_all(const cpubind_judgement *figure, int32_t n)
{
    const int is_asked = has_asked(figure, n);
    cpubind_verdict all = CPUBIND_VERDICT_NOT_JUDGED;
    for (int32_t i = 0; i < n; i++)
        if (figure[i].is_asked == is_asked && figure[i].verdict <= CPUBIND_VERDICT_WORSE &&
            (all == CPUBIND_VERDICT_NOT_JUDGED || figure[i].verdict > all))
            all = figure[i].verdict;
    return all;
}

const cpubind_judgement *cpubind_judge_main(const cpubind_judgement *figure, int32_t n,
                                            cpubind_verdict verdict)
{
    const int is_asked = has_asked(figure, n);
    const cpubind_judgement *main = NULL;
    for (int32_t i = 0; i < n; i++)
        if (figure[i].verdict == verdict && figure[i].is_asked == is_asked &&
            (!main || figure[i].p_holm < main->p_holm))
            main = &figure[i];
    return main;
}
