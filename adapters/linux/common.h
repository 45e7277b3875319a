/* common.h - steps that several files of this folder take
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. Through the table of sys.h, no state. kernel/files.h replaces it.
 */
#ifndef CPUBIND_LINUX_COMMON_H
#define CPUBIND_LINUX_COMMON_H

#include "kernel/files.h"

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

/* write(2) of all of it. 0, or -1 with errno. */
static inline int cpubind_write_all(const cpubind_sys *sys, int fd, const char *data,
                                    int32_t len)
{
    while (len > 0) {
        ssize_t n = sys->write(fd, data, (size_t)len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO; /* no progress and no reason: not asked for ever */
        if (n <= 0)
            return -1;
        data += n;
        len -= (int32_t)n;
    }
    return 0;
}

#endif /* CPUBIND_LINUX_COMMON_H */
