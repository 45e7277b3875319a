/* fault_calls.h - the real system calls, each behind the question whether it is to fail now
 * SPDX-License-Identifier: MIT
 *
 * Included behind what a test defines itself:
 *   hit(CALL_OPEN)         whether this use fails; errno is set then
 *   FAULT_CALLS_WRITING    for the calls that make, sync and remove files as well
 */
#ifndef CPUBIND_TESTS_LINUX_FAULT_CALLS_H
#define CPUBIND_TESTS_LINUX_FAULT_CALLS_H

#include <dirent.h>
#include <sys/stat.h>

#include "../../adapters/linux/sys.h"

static inline int t_open(const char *path, int flags)
{
    return hit(CALL_OPEN) ? -1 : cpubind_sys_real.open(path, flags);
}

static inline int t_openat(int dir, const char *path, int flags)
{
    return hit(CALL_OPENAT) ? -1 : cpubind_sys_real.openat(dir, path, flags);
}

static inline int t_fstat(int fd, struct stat *out)
{
    return hit(CALL_FSTAT) ? -1 : cpubind_sys_real.fstat(fd, out);
}

/* As Linux does it: the descriptor is gone although the call fails. */
static inline int t_close(int fd)
{
    const int result = cpubind_sys_real.close(fd);
    return hit(CALL_CLOSE) ? -1 : result;
}

static inline DIR *t_fdopendir(int fd)
{
    return hit(CALL_FDOPENDIR) ? NULL : cpubind_sys_real.fdopendir(fd);
}

static inline struct dirent *t_readdir(DIR *folder)
{
    return hit(CALL_READDIR) ? NULL : cpubind_sys_real.readdir(folder);
}

static inline int t_closedir(DIR *folder)
{
    const int result = cpubind_sys_real.closedir(folder);
    return hit(CALL_CLOSEDIR) ? -1 : result;
}

static inline void *t_malloc(size_t size_bytes)
{
    return hit(CALL_MALLOC) ? NULL : cpubind_sys_real.malloc(size_bytes);
}

static inline void *t_realloc(void *old, size_t size_bytes)
{
    return hit(CALL_REALLOC) ? NULL : cpubind_sys_real.realloc(old, size_bytes);
}

#ifdef FAULT_CALLS_WRITING

static inline int t_create(int dir, const char *path, mode_t mode)
{
    return hit(CALL_CREATE) ? -1 : cpubind_sys_real.create(dir, path, mode);
}

/* Thousands of runs need not reach the disk. */
static inline int t_fsync(int fd)
{
    (void)fd;
    return hit(CALL_FSYNC) ? -1 : 0;
}

static inline int t_unlinkat(int dir, const char *path, int flags)
{
    return hit(CALL_UNLINKAT) ? -1 : cpubind_sys_real.unlinkat(dir, path, flags);
}

#endif /* FAULT_CALLS_WRITING */

#endif /* CPUBIND_TESTS_LINUX_FAULT_CALLS_H */
