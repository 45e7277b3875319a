/* host_users.h - who uses the devices of this host: which processes have their files open
 * SPDX-License-Identifier: MIT
 *
 * Reads /proc; changes nothing. Which files belong to which device is in
 * ../pci/device_users.h. Devices whose driver lists its users have that list instead:
 * ../model/vendor.h. What a user is, is read in host_workers.h.
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
#ifndef CPUBIND_HOST_HOST_USERS_H
#define CPUBIND_HOST_HOST_USERS_H

#include <sys/types.h>

#include "../pci/device_users.h"

#include "../linux/sys.h"

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
    uint64_t sum; /* of the numbers of the devices then */
} cpubind_strangers;

typedef struct cpubind_users_question {
    const cpubind_source *source; /* the host as it is now, for the numbers of devices */
    const cpubind_source *host;   /* of the facts; NULL: this host */
    const cpubind_facts *facts;
    const cpubind_pci_request *request; /* that the facts were read with */
    const int32_t *pid;                 /* these processes alone; NULL: all */
    int32_t n_pid;
    cpubind_strangers *strangers; /* NULL: each process is looked at. Of other devices than
                                     those of the last call they must be none */
} cpubind_users_question;

/* Reads the processes that use the devices facts->device. Those whose files this user may not
 * read are left out.
 *   in      sys: the system calls; NULL for the real ones
 *   out     *out: free(3) the rows; in the order of the processes. None on failure
 *   returns code NONE; NO_MEMORY; UNREADABLE: a number of a device could not be read, "/" or
 *           /proc cannot be opened or listed: input, as text in `name`, and what or, in its
 *           answer, error
 *   cost    a system call an open file of each process, and some ten files of each user */
cpubind_problem cpubind_users_find(const cpubind_users_question *question,
                                   const cpubind_sys *sys, char name[CPUBIND_DEVICE_INPUT_SIZE],
                                   cpubind_users *out);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_HOST_HOST_USERS_H */
