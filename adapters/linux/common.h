/* common.h - steps that several files of this folder take
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. Through the table of sys.h, no state.
 */
#ifndef CPUBIND_LINUX_COMMON_H
#define CPUBIND_LINUX_COMMON_H

#include <errno.h>

#include "linux.h"
#include "sys.h"

/* Fills *fault, which may be NULL, and hands back the status. */
static inline cpubind_linux_status cpubind_linux_fail(cpubind_linux_status status, int error,
                                                      const char *what,
                                                      cpubind_linux_fault *fault)
{
    if (fault)
        *fault = (cpubind_linux_fault){error ? error : EIO, what};
    return status;
}

/* open(2), again when a signal interrupts it (a file system over a network may). */
static inline int cpubind_open_retry(const cpubind_sys *sys, const char *path, int flags)
{
    int fd;
    do
        fd = sys->open(path, flags);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* openat(2), in the same way. */
static inline int cpubind_openat_retry(const cpubind_sys *sys, int dir, const char *path,
                                       int flags)
{
    int fd;
    do
        fd = sys->openat(dir, path, flags);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* close(2) that keeps errno: the step that failed is the one to report. Not tried again: the
 * descriptor is gone whatever it returns. */
static inline void cpubind_close_quietly(const cpubind_sys *sys, int fd)
{
    int error = errno;
    sys->close(fd);
    errno = error;
}

/* fsync(2), again when a signal interrupts it. A file system that does not know it for this
 * kind of file has done what it can. */
static inline int cpubind_fsync_retry(const cpubind_sys *sys, int fd)
{
    int result;
    do
        result = sys->fsync(fd);
    while (result < 0 && errno == EINTR);
    if (result < 0 && (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP))
        return 0;
    return result;
}

#endif /* CPUBIND_LINUX_COMMON_H */
