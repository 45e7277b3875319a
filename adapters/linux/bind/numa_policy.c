/* numa_policy.c - from which nodes a command that is executed takes its memory
 * SPDX-License-Identifier: MIT
 *
 * Sets one policy, and falls back to no other: the caller does, and says so.
 */
#include "numa_policy.h"

#include <errno.h>

#include "../kernel/files.h"

/* Modes of set_mempolicy(2), with the numbers of the kernel; PREFERRED_MANY since Linux
 * 5.15. */
enum { MODE_DEFAULT = 0, MODE_PREFERRED = 1, MODE_BIND = 2, MODE_PREFERRED_MANY = 5 };

enum { MAX_NODES = 1024, MASK_BITS = 8 * (int)sizeof(unsigned long) };

static cpubind_linux_fault set(const cpubind_sys *sys, int mode, const int32_t *node, int32_t n)
{
    unsigned long mask[MAX_NODES / MASK_BITS] = {0};
    int result;
    for (int32_t i = 0; i < n; i++)
        mask[node[i] / MASK_BITS] |= 1ul << node[i] % MASK_BITS;
    /* The kernel passes over the last bit of `maxnode`. */
    CPUBIND_RETRY(result,
                  sys->set_mempolicy(mode, n > 0 ? mask : NULL, n > 0 ? MAX_NODES + 1 : 0));
    return result < 0 ? cpubind_fault_errno("set_mempolicy") : cpubind_no_fault;
}

cpubind_linux_status cpubind_numa_policy_set(cpubind_numa_policy policy, const int32_t *node,
                                             int32_t n, const cpubind_sys *sys,
                                             cpubind_linux_fault *fault)
{
    const int mode = policy == CPUBIND_POLICY_ANY    ? MODE_DEFAULT
                     : policy == CPUBIND_POLICY_BIND ? MODE_BIND
                     : n > 1                         ? MODE_PREFERRED_MANY
                                                     : MODE_PREFERRED;
    int is_good = (policy == CPUBIND_POLICY_ANY) == (n == 0);
    cpubind_linux_fault why;
    for (int32_t i = 0; i < n; i++)
        is_good &= node[i] >= 0 && node[i] < MAX_NODES;
    if (!is_good)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "set_mempolicy", fault);
    sys = sys ? sys : &cpubind_sys_real;
    why = set(sys, mode, node, n);
    if (why.error == EINVAL && mode == MODE_PREFERRED_MANY)
        why = set(sys, MODE_PREFERRED, node, 1);
    return cpubind_linux_end(why.error ? CPUBIND_LINUX_ERR_REFUSED : CPUBIND_LINUX_OK, why,
                             fault);
}
