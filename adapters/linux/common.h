/* common.h - steps that several files of this folder take
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. Through the table of sys.h, no state.
 */
#ifndef CPUBIND_LINUX_COMMON_H
#define CPUBIND_LINUX_COMMON_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "linux.h"
#include "sys.h"

/* Inside adapters/linux a step that can fail returns its fault by value: error 0, this one,
 * when all is well. A public function returns a status and fills the caller's fault. */
static const cpubind_linux_fault cpubind_no_fault = {0, NULL};

/* The fault of a step that ended with an errno, 0 for success. */
static inline cpubind_linux_fault cpubind_fault_of(int error, const char *what)
{
    return error ? (cpubind_linux_fault){error, what} : cpubind_no_fault;
}

/* Fills *fault, which may be NULL, and returns the status. */
static inline cpubind_linux_status cpubind_linux_fail(cpubind_linux_status status, int error,
                                                      const char *what,
                                                      cpubind_linux_fault *fault)
{
    if (fault)
        *fault = (cpubind_linux_fault){error ? error : EIO, what};
    return status;
}

/* Whether an error says that a process or a thread has ended, or is hidden from this user. */
static inline int cpubind_is_unseen(int error)
{
    return error == ESRCH || error == ENOENT || error == EACCES || error == EPERM;
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

/* Room for one element more in an array of n.
 *   returns the array, which may have moved, or NULL without memory: it is as it was */
static inline void *cpubind_grow(const cpubind_sys *sys, void *array, int32_t n, int32_t *cap,
                                 size_t size_bytes)
{
    const int32_t more = *cap ? *cap : 64;
    void *grown;
    if (n < *cap)
        return array;
    if (*cap > INT32_MAX / 2)
        return NULL;
    grown = sys->realloc(array, (size_t)(*cap + more) * size_bytes);
    if (grown)
        *cap += more;
    return grown;
}

#endif /* CPUBIND_LINUX_COMMON_H */
