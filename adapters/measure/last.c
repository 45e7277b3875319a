/* last.c - one measurement at a time on a host, and the result of the last one
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "last.h"

#include <errno.h>

#include "../linux/kernel/files.h"
#include "../linux/kernel/run_folder.h"

#define LOCK   "measure.lock"
#define RESULT "measure.json"

cpubind_linux_fault cpubind_last_lock(const cpubind_sys *sys, int *fd)
{
    return cpubind_run_lock(sys, LOCK, 0, fd);
}

cpubind_linux_fault cpubind_last_write(const cpubind_sys *sys, const char *text, int32_t len)
{
    int folder;
    cpubind_linux_fault why = cpubind_run_folder_here(sys, 1, &folder);
    if (why.error)
        return why;
    why = cpubind_replace(sys, folder, RESULT, 0644, text, len);
    sys->close(folder);
    return why;
}

cpubind_linux_fault cpubind_last_read(const cpubind_sys *sys, cpubind_bytes *out)
{
    int folder, fd;
    cpubind_linux_fault why = cpubind_run_folder_here(sys, 0, &folder);
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
