/* host_allowed.h - the request for one plan of all workers of a host
 * SPDX-License-Identifier: MIT
 *
 * Reads and moves nothing. Each device may have the CPUs of its own workers, so that no scope
 * is asked. Where the workers of all devices may have the same CPUs, the plan is that of a
 * process with these CPUs, unless they are their own: then the devices of these workers alone
 * share them. Where they differ, a device without workers may have the CPUs of all others if
 * those of one device are that already, since its next worker may be such a one; else none.
 */
#ifndef CPUBIND_HOST_ALLOWED_H
#define CPUBIND_HOST_ALLOWED_H

#include "../linux/sys.h"
#include "../plan/process_goal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A worker, and the CPUs that it may have. */
typedef struct cpubind_host_user {
    int32_t device;       /* of the facts */
    cpubind_cpus allowed; /* ascending; n 0: not known */
    int is_own;           /* nobody else gets these CPUs: an exclusive cpuset of kubelet */
} cpubind_host_user;

/* The memory of a request. All zero is none. */
typedef struct cpubind_host_allowed {
    int32_t *device; /* numbers of devices, ascending */
    char *visible;   /* the listed ones, as a variable that hides devices has them */
    int32_t *cpu;    /* list after list */
    cpubind_device_allowed *row; /* of all devices, by number */
} cpubind_host_allowed;

/* Completes a request: device, the devices of the users; visible, as a variable that hides
 * devices has them, those of these whose driver lists its users, or all such where none has
 * users; allowed, or device_allowed where they differ, unless the request has `allowed`.
 *   in      sys: for malloc; facts: of all devices; names_idle: 1: where all users may have the
 *           same CPUs, or there is none, device and visible are all devices
 *   out     *request, which borrows from *out; the caller frees that after the last use of
 *           facts and plan, also without memory
 *   returns 0 without memory */
int cpubind_host_allow(const cpubind_sys *sys, const cpubind_facts *facts,
                       const cpubind_host_user *user, int32_t n_user, int names_idle,
                       cpubind_host_allowed *out, cpubind_request *request);

void cpubind_host_free_allowed(cpubind_host_allowed *allowed);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_HOST_ALLOWED_H */
