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

typedef struct new_file {
    const cpubind_sys *sys;
    int dir; /* the folder of the target */
    int fd;
} new_file;

static cpubind_linux_fault create(void *ctx, const char *name)
{
    new_file *new = ctx;
    return cpubind_create(new->sys, new->dir, name, 0666, &new->fd);
}

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
    char folder[PATH_MAX], temp[NAME_MAX + 1];
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    new_file new = {sys ? sys : &cpubind_sys_real, -1, -1};
    if (!*base)
        return cpubind_fault_of(slash ? EISDIR : ENOENT, "target");
    if (n >= sizeof folder)
        return cpubind_fault_of(ENAMETOOLONG, "open");
    memcpy(folder, path, n);
    folder[n] = '\0';
    cpubind_linux_fault fault = cpubind_open(new.sys, AT_FDCWD, n ? folder : ".",
                                             O_RDONLY | O_DIRECTORY | O_CLOEXEC, &new.dir);
    if (fault.error)
        return fault;
    fault = check_target(new.sys, new.dir, base);
    if (!fault.error)
        fault = cpubind_make_temp(base, create, &new, temp);
    if (!fault.error) {
        fault = cpubind_write_synced(new.sys, new.fd, data, len);
        if (!fault.error && new.sys->rename(new.dir, temp, base, 0) < 0)
            fault = cpubind_fault_errno("rename");
        if (fault.error)
            (void)new.sys->unlinkat(new.dir, temp, 0);
    }
    new.sys->close(new.dir);
    return fault;
}
