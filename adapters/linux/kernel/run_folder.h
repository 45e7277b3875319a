/* run_folder.h - the folder of this user below /run: /run/cpubind or /run/user/UID/cpubind
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. Records of bindings and shared answers of tools are kept there.
 * The folder belongs to this user, and nobody else may write to it.
 */
#ifndef CPUBIND_LINUX_RUN_FOLDER_H
#define CPUBIND_LINUX_RUN_FOLDER_H

#include "files.h"

/* Room for the path of the folder that the folder is in, with its NUL. */
#define CPUBIND_RUN_PARENT_SIZE 48

/* Writes that path without a leading slash: "run", or "run/user/UID" of another user. */
void cpubind_run_parent(uid_t uid, char out[CPUBIND_RUN_PARENT_SIZE]);

/* Opens the folder; makes it first when may_make and it is not there.
 *   out     *fd: a descriptor; untouched on failure
 *   errors  "folder": ENOENT; EPERM, it is a link, no folder, another user's, or others may
 *           write to it; errors of the calls */
cpubind_linux_fault cpubind_run_folder_open(cpubind_root *root, int may_make, int *fd);

#endif /* CPUBIND_LINUX_RUN_FOLDER_H */
