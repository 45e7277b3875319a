/* device_workers.h - the processes that use the accelerators of this host, whatever the vendor
 * SPDX-License-Identifier: MIT
 *
 * Reads /proc; changes nothing. Which files belong to which device is in
 * ../pci/device_users.h. Ascend NPUs have the list of their driver instead: host_workers.h.
 *
 * THE DEVICE OF A PROCESS, by the first of these that tells one
 *   files        it has files of one device open
 *   environment  its own variables show it one device, or the local rank of its launcher is
 *                the number of one that they show
 *   most files   it has files of several devices open, and of one of them at least twice as
 *                many as of any other: a runtime looks at every device, and keeps files of the
 *                one that it computes on
 * A process with files of several devices that none of these tells apart is a user of each of
 * them. Files of a device count only beside the compute_file of its vendor: a monitor has no
 * such file open, and computes nothing.
 *
 * BEFORE IT OPENS A FILE a process uses the device that its own variables name: a variable of
 * its runtime that shows it one device, or a local rank among those that it sees. A variable is
 * a process's own when its parent's environment, as /proc has it, lacks it or has another
 * value; of a parent whose environment cannot be read it is not. This yields to open files: it
 * counts only for a device that no process has a file of, and not for the parent of a process
 * that names the same device. Where only some processes are asked for, files alone count.
 */
#ifndef CPUBIND_HOST_DEVICE_WORKERS_H
#define CPUBIND_HOST_DEVICE_WORKERS_H

#include <sys/types.h>

#include "../pci/device_users.h"

#include "host_workers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A process that used no device at the last look at its files. */
typedef struct cpubind_stranger {
    int32_t pid;
    ino_t inode; /* of /proc/<pid>, which is another one for a later process of the number */
    int64_t seen_ms, /* when it was seen first */
        looked_ms;   /* when its files were read last */
} cpubind_stranger;

/* What a watch keeps of those from one listing to the next. A process that has used no device
 * for a time T is looked at again after T / 8, and after 15 s at most, whatever it does: many
 * of them, with many files, cost little, and a user is found at most so much later. All zero at
 * first; free(3) the rows. */
typedef struct cpubind_strangers {
    cpubind_stranger *row; /* by pid */
    int32_t n;
} cpubind_strangers;

typedef struct cpubind_device_question {
    const cpubind_source *source; /* of the facts; NULL: this host */
    const cpubind_facts *facts;
    const cpubind_pci_request *request; /* that the facts were read with */
    const cpubind_device_nodes *nodes;
    const int32_t *pid; /* these processes alone; NULL: all */
    int32_t n_pid;
    cpubind_strangers *strangers; /* NULL: each process is looked at. Of other nodes or other
                                     devices than those of the last call they must be none */
} cpubind_device_question;

/* Reads the processes that use devices. Those whose files this user may not read are left out.
 *   in      sys: the system calls; NULL for the real ones
 *   out     *out, to be freed with cpubind_workers_free; the member `npu` of a row is the
 *           index of the device in facts->device. Empty on failure
 *   errors  ERR_MEMORY; ERR_OPEN: "/" or /proc cannot be opened or listed
 *   cost    a system call an open file of each process, and some ten files of each user */
cpubind_linux_status cpubind_device_workers_read(const cpubind_device_question *question,
                                                 const cpubind_sys *sys, cpubind_workers *out,
                                                 cpubind_linux_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_HOST_DEVICE_WORKERS_H */
