/* schedule.c - in which order the two sides of a measurement take turns, and for how long
 * SPDX-License-Identifier: MIT
 */
#include "schedule.h"

#define GROUP_MS      5000
#define SETTLE_MAX_MS 2000

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
uint64_t cpubind_schedule_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void cpubind_schedule_draw(uint64_t seed, int64_t total_ms, cpubind_schedule *out)
{
    static const uint8_t order[2][CPUBIND_GROUP_BLOCKS] = {{0, 1, 1, 0}, {1, 0, 0, 1}};
    uint64_t state = seed;
    int64_t n = total_ms / GROUP_MS, slot_ms;
    n = n < CPUBIND_GROUPS_SHORT ? CPUBIND_GROUPS_SHORT : n;
    n = n > CPUBIND_GROUPS_MAX ? CPUBIND_GROUPS_MAX : n;
    *out = (cpubind_schedule){.n_group = (int32_t)n};
    out->n_block = out->n_group * CPUBIND_GROUP_BLOCKS;
    slot_ms = total_ms / out->n_block;
    out->settle_ms = slot_ms / 5 < SETTLE_MAX_MS ? slot_ms / 5 : SETTLE_MAX_MS;
    out->block_ms = slot_ms - out->settle_ms;
    for (int32_t g = 0; g < out->n_group; g++) {
        const uint8_t *drawn = order[cpubind_schedule_next(&state) & 1];
        for (int32_t i = 0; i < CPUBIND_GROUP_BLOCKS; i++)
            out->side[g * CPUBIND_GROUP_BLOCKS + i] = drawn[i];
    }
}
