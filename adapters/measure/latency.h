/* latency.h - how often which latency was seen, in little memory
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. A latency counts in one of 128 equal parts of its power of two: a
 * quantile is off by less than 0.8 %. One thread writes.
 */
#ifndef CPUBIND_MEASURE_LATENCY_H
#define CPUBIND_MEASURE_LATENCY_H

#include <stdint.h>

/* Parts of a power of two, and powers of two: up to 2^40 ns, 18 minutes; longer ones count as
 * the longest. */
#define CPUBIND_LATENCY_PARTS 128
#define CPUBIND_LATENCY_SLOTS (CPUBIND_LATENCY_PARTS * (40 - 7 + 1))

/* All zero: none was seen. */
typedef struct cpubind_latency {
    uint64_t n;
    uint32_t slot[CPUBIND_LATENCY_SLOTS];
} cpubind_latency;

/* Counts one, in nanoseconds; one below 0 counts as 0. */
void cpubind_latency_add(cpubind_latency *to, int64_t ns);

/* Adds all that another one has seen. */
void cpubind_latency_merge(cpubind_latency *to, const cpubind_latency *from);

/* The smallest latency in nanoseconds that at least the share q of all does not exceed, as the
 * middle of its slot; 0 when none was seen.
 *   in      0 < q <= 1 */
double cpubind_latency_quantile(const cpubind_latency *of, double q);

#endif /* CPUBIND_MEASURE_LATENCY_H */
