/* schedule.h - in which order the two sides of a measurement take turns, and for how long
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. MEASURE.md says why the order is drawn.
 */
#ifndef CPUBIND_MEASURE_SCHEDULE_H
#define CPUBIND_MEASURE_SCHEDULE_H

#include <stdint.h>

/* Blocks of a group: ABBA or BAAB, each as likely, drawn for each group alone. */
#define CPUBIND_GROUP_BLOCKS 4
#define CPUBIND_GROUPS_MAX   24
#define CPUBIND_BLOCKS_MAX   (CPUBIND_GROUPS_MAX * CPUBIND_GROUP_BLOCKS)

/* With 6 groups the exact test can first be below 5 %: two of 2^6 orders are as extreme. */
#define CPUBIND_GROUPS_MIN 6

/* Of the shortest schedule: 25 figures can then be judged together. */
#define CPUBIND_GROUPS_SHORT 10

typedef struct cpubind_schedule {
    int32_t n_group, n_block;
    int64_t settle_ms;                /* after each change, not counted */
    int64_t block_ms;                 /* counted */
    uint8_t side[CPUBIND_BLOCKS_MAX]; /* 0: the first side, 1: the second */
} cpubind_schedule;

/* Draws a schedule that takes `total_ms` in all.
 *   in      total_ms: 1000 and above. A group lasts 5 s where that gives 10 to 24 groups; a
 *           fifth of each block, at most 2 s, is for settling
 *   out     *out; the same seed and time give the same schedule */
void cpubind_schedule_draw(uint64_t seed, int64_t total_ms, cpubind_schedule *out);

/* The next number of a sequence that looks random; *state is its seed at first. */
uint64_t cpubind_schedule_next(uint64_t *state);

#endif /* CPUBIND_MEASURE_SCHEDULE_H */
