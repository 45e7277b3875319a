/* run_folder.h - the folder of this user for what lasts as long as the host runs
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. Records of bindings and shared answers of tools are kept there.
 *
 * PLACE  Of root /run/cpubind, whatever the environment says. Of another user `cpubind` in
 *        $XDG_RUNTIME_DIR, or in /run/user/UID, which that is the name of; where neither is a
 *        folder of this user, as in a container, cpubind-UID in $TMPDIR, by default /tmp. A
 *        value that is no absolute path counts as none.
 * RULES  It is a folder, no link, of this user, and nobody else may write to it. One in $TMPDIR
 *        is made with mode 0700; $TMPDIR itself is this user's or, if sticky, root's: nobody
 *        else may put another folder there in its place.
 */
#ifndef CPUBIND_LINUX_RUN_FOLDER_H
#define CPUBIND_LINUX_RUN_FOLDER_H

#include "files.h"

/* Room for its path, and for the name of a file in it, with its NUL. */
#define CPUBIND_RUN_PATH_SIZE 4096
#define CPUBIND_RUN_NAME_SIZE 64

/* Writes its path, of CPUBIND_RUN_PATH_SIZE - CPUBIND_RUN_NAME_SIZE bytes at most.
 *   out     out; where it was not found out, the one of root
 *   errors  "folder": whether there is one of those before $TMPDIR is not known */
cpubind_linux_fault cpubind_run_folder_path(cpubind_root *root,
                                            char out[CPUBIND_RUN_PATH_SIZE]);

/* Writes the path of a file in it, for messages and arguments: no file is looked at.
 *   in      sys: NULL for the real system calls */
void cpubind_run_file_path(const cpubind_sys *sys, const char *name,
                           char out[CPUBIND_RUN_PATH_SIZE]);

/* Writes where it is of another user, in an environment that says nothing: place 0, 1. Returns
 * 0 for any other place. */
int cpubind_run_folder_of(uid_t uid, int place, char out[CPUBIND_RUN_PATH_SIZE]);

/* Opens the folder; makes it first when may_make and it is not there.
 *   out     *fd: a descriptor; untouched on failure
 *   errors  "folder": ENOENT; EPERM, against the rules; errors of the calls */
cpubind_linux_fault cpubind_run_folder_open(cpubind_root *root, int may_make, int *fd);

/* The same of this host. */
cpubind_linux_fault cpubind_run_folder_here(const cpubind_sys *sys, int may_make, int *fd);

/* Takes the lock of an open file as cpubind_lock does, and waits for it at most so long. */
cpubind_linux_fault cpubind_lock_within(const cpubind_sys *sys, int fd, int64_t limit_ms);

/* Takes the lock that a file of the folder is, and waits at most so long for it; the file is
 * never removed: whoever opened it has the same one. The kernel releases the lock when this
 * process ends.
 *   out     *fd: to be closed; unchanged on failure
 *   errors  EWOULDBLOCK, "lock": another process has it; "lock"; "folder" */
cpubind_linux_fault cpubind_run_lock(const cpubind_sys *sys, const char *name, int64_t limit_ms,
                                     int *fd);

/* How many records root has in its folder, as an ordinary user sees it; for root 0. */
int32_t cpubind_run_count_roots(const cpubind_sys *sys);

#endif /* CPUBIND_LINUX_RUN_FOLDER_H */
