/* judge.h - whether the two sides of a measurement differ in a figure, and by how much
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. MEASURE.md has the method and its sources. In short: each group of
 * four blocks gives one contrast, the mean of the second side less that of the first. The order
 * of each group was drawn, so that without any effect each contrast has either sign with the
 * same chance, whatever the load did meanwhile: a drift, a step, a wave. The signed-rank test
 * over the groups is exact then.
 */
#ifndef CPUBIND_MEASURE_JUDGE_H
#define CPUBIND_MEASURE_JUDGE_H

#include "figure.h"
#include "schedule.h"

/* (name, word). */
#define CPUBIND_VERDICT_LIST(X)                                                                \
    X(SAME, "no difference that one can see")                                                  \
    X(BETTER, "better")                                                                        \
    X(WORSE, "worse")                                                                          \
    X(SHOWN, "shown")           /* neither more nor less of it is better */                    \
    X(NOT_JUDGED, "not judged") /* `why` says why */

typedef enum cpubind_verdict {
#define CPUBIND_X(name, word) CPUBIND_VERDICT_##name,
    CPUBIND_VERDICT_LIST(CPUBIND_X)
#undef CPUBIND_X
} cpubind_verdict;

/* "better". Static storage. */
const char *cpubind_verdict_word(cpubind_verdict verdict);

/* One figure in all blocks, and what is made of it. */
typedef struct cpubind_judgement {
    /* in */
    char name[64];
    char unit[16];
    cpubind_better better;
    int32_t is_asked;                 /* the user has named it: --metric and the like */
    double value[CPUBIND_BLOCKS_MAX]; /* by block */
    uint8_t is_counted[CPUBIND_BLOCKS_MAX];
    char why[128]; /* why a block was not counted, or ""; out: why it is not judged, or "" */
    /* out */
    int32_t n;         /* groups that count: those whose four blocks all do */
    int32_t is_still;  /* no block differs from another: it is no figure to correct for */
    int32_t has_sides; /* `median` is filled */
    double median[2];  /* of the blocks of each side */
    int32_t has_interval;
    double difference; /* second side less first: Hodges-Lehmann over the groups */
    double low, high;  /* of 95 % */
    double p;          /* exact, two-sided; 1 where nothing was tested */
    double p_holm;     /* corrected for the figures that are judged together */
    double smallest;   /* the difference that would have been seen, as they are judged together;
                          0: none would, or not known */
    cpubind_verdict verdict;
} cpubind_judgement;

/* Judges figures together. Those that the user has named are one family, the others another:
 * in each of them the chance of any wrong "better" or "worse" is 5 % at most (Holm).
 *   in      disturbed: another program has bound the workers meanwhile; no figure is judged
 *   cost    O(groups squared) for each figure */
void cpubind_judge(const cpubind_schedule *schedule, const char *disturbed,
                   cpubind_judgement *figure, int32_t n);

/* The verdict of all: of the figures that the user has named, or of all others where none is.
 * WORSE where one is worse, else BETTER where one is better, else SAME where one is judged. */
cpubind_verdict cpubind_judge_all(const cpubind_judgement *figure, int32_t n);

/* The figure that says most for a verdict of all: that with the smallest p_holm among those of
 * the same verdict; of equal ones the first. NULL: there is none. */
const cpubind_judgement *cpubind_judge_main(const cpubind_judgement *figure, int32_t n,
                                            cpubind_verdict verdict);

#endif /* CPUBIND_MEASURE_JUDGE_H */
