/* rights.h - who may ask the service for what
 * SPDX-License-Identifier: MIT
 *
 * The owner (root, and the user of the service) may ask for everything, but about processes
 * from the pid namespace of the service alone: a number from another one is another process
 * here. Any other user may ask for the state, for what is known of its own processes, and to
 * leave or take a process of its own, which is all that it could bind and restore by itself.
 */
#ifndef CPUBIND_SERVICE_RIGHTS_H
#define CPUBIND_SERVICE_RIGHTS_H

#include "ask.h"

/* Whether a peer may ask for this, and the process is there.
 *   errors  EPERM, "user": it is for the owner; EPERM, "process": the process is of another
 *           user, or of several; EPERM, "namespace": the peer is of another pid namespace, or
 *           its namespace is not known; ESRCH, "process": it has ended; ESTALE, "process":
 *           another one has its number; those of reading /proc */
cpubind_linux_fault cpubind_rights_check(const cpubind_sys *sys, const cpubind_asked *asked,
                                         const cpubind_peer *peer);

/* Whether a process is one of this user alone: its real, effective and saved user.
 *   errors  EPERM, "process"; those of reading /proc */
cpubind_linux_fault cpubind_rights_of_process(const cpubind_sys *sys, int32_t pid, uid_t uid);

/* The start time of a process, which a request names.
 *   errors  ESRCH: there is none here, or it is hidden; those of reading /proc */
cpubind_linux_fault cpubind_rights_start(const cpubind_sys *sys, int32_t pid, uint64_t *start);

#endif /* CPUBIND_SERVICE_RIGHTS_H */
