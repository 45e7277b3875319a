/* hash.c - one number of the plans of many random hosts
 * SPDX-License-Identifier: MIT
 *
 *   hash [HOSTS]
 *
 * It is the same for every compiler, language standard and machine. The language is C99 that is
 * also C++11.
 */
#include <stdio.h>

#define CPUBIND_IMPLEMENTATION
#include "../core/odd_host.h"

static odd_host host;
static int32_t owner[HOST_CPUS], role[HOST_CPUS];
static int32_t work[CPUBIND_WORK(HOST_CPUS, HOST_NODES, HOST_DEVICES)];

static uint64_t add(uint64_t hash, int32_t number)
{
    return (hash ^ (uint64_t)(uint32_t)number) * 0x100000001B3u;
}

/* The roles of all pools, and the figures. */
static uint64_t add_roles(uint64_t hash)
{
    const cpubind_roles roles = {{2, 1, 1, 1}, 0, 0, 0};
    cpubind_quality q;
    for (int32_t d = 0; d < host.n_device; d++)
        hash = add(hash, cpubind_place(&host.host, host.device, host.n_device, owner, d, &roles,
                                       role, work, NULL));
    cpubind_measure(&host.host, host.device, host.n_device, owner, NULL, &q, NULL, work);
    for (int32_t i = 0; i < host.host.n_cpu; i++)
        hash = add(hash, owner[i] < 0 ? 0 : role[i]);
    return add(add(add(hash, q.near_cpus), q.split_caches), q.idle);
}

int main(int argc, char **argv)
{
    const host_limits limits = {6, 12, 12, 1, 1, 1, 1};
    const long n = argc > 1 ? atol(argv[1]) : 100000;
    uint64_t hash = 0xCBF29CE484222325u;
    for (long seed = 1; seed <= n; seed++) {
        cpubind_policy policy = {0, 0, 0, 4, 1};
        odd_host_make((uint64_t)seed, limits, &host);
        memset(role, 0, sizeof role);
        policy.rule = (cpubind_rule)(seed % 8 < 5 ? 0 : seed % 8 - 4);
        policy.reach = (cpubind_reach)(seed % 3);
        hash = add(hash, cpubind_plan(&host.host, host.device, host.n_device, &policy, owner,
                                      work, NULL));
        for (int32_t i = 0; i < host.host.n_cpu; i++)
            hash = add(hash, owner[i]);
        hash = add_roles(hash);
    }
    printf("%08lx%08lx\n", (unsigned long)(hash >> 32), (unsigned long)(hash & 0xFFFFFFFFu));
    return 0;
}
