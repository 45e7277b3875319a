/* last.c - one measurement at a time on a host, and the result of the last one
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "last.h"

#include <errno.h>
#include <sys/file.h>

#include "../linux/kernel/files.h"
#include "../linux/kernel/run_folder.h"

#define LOCK   "measure.lock"
#define RESULT "measure.json"

static cpubind_linux_fault open_folder(const cpubind_sys *sys, int may_make, int *fd)
{
    cpubind_root root = {sys, -1, CPUBIND_REACH_ANYWHERE};
    cpubind_linux_fault why =
        cpubind_open(sys, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, &root.fd);
    if (!why.error)
        why = cpubind_run_folder_open(&root, may_make, fd);
    if (root.fd >= 0)
        sys->close(root.fd);
    return why;
}

/* The file is never removed: whoever opened it has the same one. */
static cpubind_linux_fault open_lock(const cpubind_sys *sys, int folder, int *fd)
{
    cpubind_linux_fault why = cpubind_create(sys, folder, LOCK, 0600, fd);
    if (why.error == EEXIST)
        why = cpubind_open(sys, folder, LOCK, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, fd);
    return why;
}

cpubind_linux_fault cpubind_last_lock(const cpubind_sys *sys, int *fd)
{
    int folder, lock, taken;
    cpubind_linux_fault why = open_folder(sys, 1, &folder);
    if (why.error)
        return why;
    why = open_lock(sys, folder, &lock);
    sys->close(folder);
    if (why.error)
        return why;
    CPUBIND_RETRY(taken, sys->flock(lock, LOCK_EX | LOCK_NB));
    if (taken < 0) {
        why = cpubind_fault_errno("lock");
        sys->close(lock);
        return why;
    }
    *fd = lock;
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_last_write(const cpubind_sys *sys, const char *text, int32_t len)
{
    int folder;
    cpubind_linux_fault why = open_folder(sys, 1, &folder);
    if (why.error)
        return why;
    why = cpubind_replace(sys, folder, RESULT, 0644, text, len);
    sys->close(folder);
    return why;
}

cpubind_linux_fault cpubind_last_read(const cpubind_sys *sys, cpubind_bytes *out)
{
    int folder, fd;
    cpubind_linux_fault why = open_folder(sys, 0, &folder);
    if (why.error)
        return why;
    why =
        cpubind_open(sys, folder, RESULT, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, &fd);
    sys->close(folder);
    if (why.error)
        return why;
    why = cpubind_read_all(sys, fd, CPUBIND_LAST_MAX, out);
    sys->close(fd);
    return why;
}
