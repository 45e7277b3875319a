/* conf_file.c - read the configuration file, if its owner and its mode allow that
 * SPDX-License-Identifier: MIT
 *
 * Reads no key: conf.c does. Writes nothing.
 */
#include "conf_file.h"

#include <errno.h>
#include <fcntl.h>

#include "../linux/kernel/files.h"

static cpubind_linux_fault check(const cpubind_sys *sys, int fd)
{
    struct stat info;
    if (sys->fstat(fd, &info) != 0)
        return cpubind_fault_errno("fstat");
    if (!S_ISREG(info.st_mode))
        return cpubind_fault_of(S_ISDIR(info.st_mode) ? EISDIR : EINVAL, "kind");
    if (info.st_uid != 0 && info.st_uid != sys->geteuid())
        return cpubind_fault_of(EPERM, "owner");
    return cpubind_fault_of(info.st_mode & (S_IWGRP | S_IWOTH) ? EPERM : 0, "mode");
}

cpubind_linux_fault cpubind_conf_read_file(const cpubind_sys *sys, const char *path,
                                           cpubind_bytes *bytes)
{
    int fd;
    /* O_NONBLOCK: a FIFO does not hang the service */
    cpubind_linux_fault why =
        cpubind_open(sys, AT_FDCWD, path, O_NONBLOCK | O_NOCTTY | O_CLOEXEC, &fd);
    if (why.error)
        return why;
    why = check(sys, fd);
    if (!why.error)
        why = cpubind_read_all(sys, fd, CPUBIND_CONF_MAX, bytes);
    (void)sys->close(fd);
    return why;
}
