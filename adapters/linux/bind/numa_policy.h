/* numa_policy.h - the nodes of new memory of this process, and of a command that it executes
 * SPDX-License-Identifier: MIT
 *
 * Changes the calling process alone; a command that it executes inherits the policy. Rules:
 * set_mempolicy(2).
 */
#ifndef CPUBIND_LINUX_NUMA_POLICY_H
#define CPUBIND_LINUX_NUMA_POLICY_H

#include "../linux.h"
#include "../sys.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cpubind_numa_policy {
    CPUBIND_POLICY_BIND = 0,   /* from these nodes and no others: MPOL_BIND */
    CPUBIND_POLICY_PREFER = 1, /* from these nodes while they have free memory:
                                  MPOL_PREFERRED_MANY; of one node, and where the kernel has no
                                  such policy, MPOL_PREFERRED of the first */
    CPUBIND_POLICY_ANY = 2     /* from any node: MPOL_DEFAULT */
} cpubind_numa_policy;

/* Sets the policy.
 *   in      node[0 .. n - 1], each in 0 .. 1023; n is 1 or more, but for ANY; sys: NULL for the
 *           real calls
 *   errors  ERR_ARG; ERR_REFUSED, "set_mempolicy": EPERM (a filter of system calls), EINVAL (no
 *           such node, or no memory there that the cpuset allows), ENOSYS (no NUMA) */
cpubind_linux_status cpubind_numa_policy_set(cpubind_numa_policy policy, const int32_t *node,
                                             int32_t n, const cpubind_sys *sys,
                                             cpubind_linux_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_LINUX_NUMA_POLICY_H */
