/* snapshot_sys.h - the system calls, answered by a snapshot in place of this kernel
 * SPDX-License-Identifier: MIT
 *
 * So whatever reads processes on the live host reads those of a snapshot, by the same code.
 */
#ifndef CPUBIND_LINUX_SNAPSHOT_SYS_H
#define CPUBIND_LINUX_SNAPSHOT_SYS_H

#include "../../source.h"
#include "../sys.h"

/* The calls that only look, over the files of a snapshot, of which a thread can ask one at a
 * time: files and folders are its inputs, the CPUs of a thread those of its status, and a
 * process is there if its folder is. There are no links. All other calls are the real ones, so
 * that nothing may be done with these but to look.
 *   in      source: kept until the next call
 *   returns NULL when the snapshot does not have the processes that use devices: without
 *           proc/self/fd it says nothing of them */
const cpubind_sys *cpubind_snapshot_sys(const cpubind_source *source);

#endif /* CPUBIND_LINUX_SNAPSHOT_SYS_H */
