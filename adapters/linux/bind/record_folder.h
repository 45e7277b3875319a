/* record_folder.h - the folder of state files, and the names in it
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. The rules stand in record.h.
 */
#ifndef CPUBIND_LINUX_RECORD_FOLDER_H
#define CPUBIND_LINUX_RECORD_FOLDER_H

#include "../kernel/files.h"
#include "../linux.h"

/* Bytes of a file's name: with what a temporary name adds it must not be longer than a name may
 * be. */
#define CPUBIND_RECORD_BASE_MAX 220

#define CPUBIND_RECORD_PATH_SIZE 64
#define CPUBIND_RECORD_TEMP_SIZE (CPUBIND_RECORD_BASE_MAX + 32)

/* The end of a record's name; what it was in cpubind 0.1. */
#define CPUBIND_RECORD_SUFFIX ".record"
#define CPUBIND_RECORD_OLDER  ".json"

/* "/run/cpubind/4711.record", or that of an ordinary user. */
void cpubind_record_usual_path(uid_t uid, int32_t pid, const char *suffix,
                               char out[CPUBIND_RECORD_PATH_SIZE]);

/* "<base>.<pid>.<n>.tmp" */
void cpubind_record_temp_name(const char *base, pid_t pid, int n,
                              char out[CPUBIND_RECORD_TEMP_SIZE]);

/* The folder that `path` lies in, or the usual one, open and held to the rules.
 *   out     *dir, to be closed; else unchanged
 *   errors  ERR_STATE, "folder"; ERR_MEMORY */
cpubind_linux_status cpubind_record_folder_of(const cpubind_sys *sys, const char *path,
                                              int *dir, cpubind_linux_fault *fault);
cpubind_linux_status cpubind_record_folder_usual(cpubind_root *root, int may_make, int *dir,
                                                 cpubind_linux_fault *fault);

/* Removes temporary names of the file `base`: while its lock is held, nobody writes to one.
 * What cannot be removed stays. */
void cpubind_record_folder_tidy(const cpubind_sys *sys, int dir, const char *base);

#endif /* CPUBIND_LINUX_RECORD_FOLDER_H */
