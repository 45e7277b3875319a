/* file_writer.c - write a file that appears whole or not at all
 * SPDX-License-Identifier: MIT
 *
 * Writes a temporary file in the folder of the target and renames it; touches nothing else.
 */
#define _GNU_SOURCE
#include "file_writer.h"

#include <fcntl.h>
#include <string.h>

#include "../kernel/files.h"

/* Refuses a target that a rename must not replace. */
static cpubind_linux_fault check_target(const cpubind_sys *sys, int dir, const char *base)
{
    struct stat st;
    int fd;
    cpubind_linux_fault fault =
        cpubind_open(sys, dir, base, O_PATH | O_NOFOLLOW | O_CLOEXEC, &fd);
    if (fault.error == ENOENT)
        return cpubind_no_fault;
    if (fault.error)
        return cpubind_fault_of(fault.error, "target");
    if (sys->fstat(fd, &st) < 0)
        fault = cpubind_fault_errno("target");
    else if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        fault = cpubind_fault_of(S_ISDIR(st.st_mode) ? EISDIR : EINVAL, "target");
    sys->close(fd);
    return fault;
}

cpubind_linux_fault cpubind_linux_write_file(const char *path, const char *data, int32_t len,
                                             const cpubind_sys *sys)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    int dir;
    sys = sys ? sys : &cpubind_sys_real;
    if (!*base)
        return cpubind_fault_of(slash ? EISDIR : ENOENT, "target");
    if (n >= sizeof folder)
        return cpubind_fault_of(ENAMETOOLONG, "open");
    memcpy(folder, path, n);
    folder[n] = '\0';
    cpubind_linux_fault fault =
        cpubind_open(sys, AT_FDCWD, n ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, &dir);
    if (fault.error)
        return fault;
    fault = check_target(sys, dir, base);
    if (!fault.error)
        fault = cpubind_replace(sys, dir, base, 0666, data, len);
    sys->close(dir);
    return fault;
}
