/* latency.c - how often which latency was seen, in little memory
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. A slot of parts times 2^k ns has the latencies whose highest bits
 * are the same; below `parts` ns each nanosecond has a slot.
 */
#include "latency.h"

enum { PARTS = CPUBIND_LATENCY_PARTS };

void cpubind_latency_add(cpubind_latency *to, int64_t ns)
{
    int32_t power = 0;
    while (ns >= 2 * PARTS) {
        ns >>= 1;
        power++;
    }
    int32_t slot = (int32_t)(ns > 0 ? ns : 0) + power * PARTS;
    if (slot >= CPUBIND_LATENCY_SLOTS)
        slot = CPUBIND_LATENCY_SLOTS - 1;
    to->slot[slot]++;
    to->n++;
}

void cpubind_latency_merge(cpubind_latency *to, const cpubind_latency *from)
{
    for (int32_t i = 0; i < CPUBIND_LATENCY_SLOTS; i++)
        to->slot[i] += from->slot[i];
    to->n += from->n;
}

/* The middle of a slot. */
static double middle_of(int32_t slot)
{
    const int32_t power = slot < 2 * PARTS ? 0 : slot / PARTS - 1;
    const double width = (double)(INT64_C(1) << power);
    return ((double)(slot - power * PARTS) + 0.5) * width - 0.5;
}

double cpubind_latency_quantile(const cpubind_latency *of, double q)
{
    uint64_t seen = 0;
    for (int32_t i = 0; i < CPUBIND_LATENCY_SLOTS; i++) {
        seen += of->slot[i];
        if (seen > 0 && (double)seen >= q * (double)of->n)
            return middle_of(i);
    }
    return 0;
}
