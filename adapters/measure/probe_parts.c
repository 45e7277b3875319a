/* probe_parts.c - what the workers, the noise and the matrix of the probe share
 * SPDX-License-Identifier: MIT
 */
#include "probe_parts.h"

#include <string.h>

/* How often is_over is asked. */
enum { ASK_MS = 20 };

cpubind_linux_fault cpubind_probe_memory(const cpubind_sys *sys, char **out)
{
    *out = sys->malloc(CPUBIND_PROBE_BYTES);
    if (!*out)
        return cpubind_fault_of(ENOMEM, "memory");
    memset(*out, 1, CPUBIND_PROBE_BYTES);
    return cpubind_no_fault;
}

uint64_t cpubind_probe_compute(uint64_t seed, int32_t rounds)
{
    for (int32_t i = 0; i < rounds; i++)
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed;
}

cpubind_linux_fault cpubind_probe_wait(const cpubind_sys *sys, int32_t ms,
                                       int (*is_over)(void *ctx), void *ctx)
{
    const int64_t end_ms = cpubind_now_ms() + ms;
    for (;;) {
        const int64_t left_ms = end_ms - cpubind_now_ms();
        if (is_over && is_over(ctx))
            return cpubind_fault_of(ECANCELED, "block");
        if (left_ms <= 0)
            return cpubind_no_fault;
        if (sys->poll(NULL, 0, left_ms < ASK_MS ? (int)left_ms : ASK_MS) < 0 && errno != EINTR)
            return cpubind_fault_errno("poll");
    }
}
