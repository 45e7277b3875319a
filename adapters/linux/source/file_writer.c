/* file_writer.c - write a file that appears whole or not at all; and change one so
 * SPDX-License-Identifier: MIT
 *
 * Writes a temporary file in the folder of the target and renames it; touches nothing else.
 */
#define _GNU_SOURCE
#include "file_writer.h"

#include <fcntl.h>
#include <stdio.h>
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

static cpubind_linux_fault write_file(const char *path, mode_t mode, const char *data,
                                      int32_t len, const cpubind_sys *sys)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    int dir;
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
        fault = cpubind_replace(sys, dir, base, mode, data, len);
    sys->close(dir);
    return fault;
}

cpubind_linux_fault cpubind_linux_write_file(const char *path, const char *data, int32_t len,
                                             const cpubind_sys *sys)
{
    return write_file(path, 0666, data, len, sys ? sys : &cpubind_sys_real);
}

/* == A change =============================================================== */

/* Fails if SQLite has a file beside this one. */
static cpubind_linux_fault check_beside(const cpubind_sys *sys, const char *path)
{
    static const char *const ends[] = {"-journal", "-wal"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char name[PATH_MAX];
        struct stat st;
        if (snprintf(name, sizeof name, "%s%s", path, ends[i]) >= (int)sizeof name)
            return cpubind_fault_of(ENAMETOOLONG, "open");
        if (sys->statat(AT_FDCWD, name, &st) == 0)
            return cpubind_fault_of(EBUSY, "journal");
        if (errno != ENOENT)
            return cpubind_fault_errno("open");
    }
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_linux_read_whole(const char *path, int may_write,
                                             const cpubind_sys *sys, cpubind_linux_whole *out)
{
    int fd;
    sys = sys ? sys : &cpubind_sys_real;
    cpubind_linux_fault fault = check_beside(sys, path);
    if (fault.error)
        return fault;
    fault = cpubind_open_file(sys, AT_FDCWD, path, O_NOFOLLOW | (may_write ? O_RDWR : 0),
                              "stat", &out->st, &fd);
    if (fault.error)
        return may_write && fault.error == ENOENT ? cpubind_no_fault : fault;
    fault = cpubind_read_all(sys, fd, CPUBIND_BYTES_MAX / 2, &out->bytes);
    sys->close(fd);
    return fault.error ? fault : check_beside(sys, path);
}

/* Whether the name has the file still that was read, with the same bytes; or none still. */
static int is_same(const cpubind_sys *sys, const char *path, const struct stat *old)
{
    struct stat now;
    if (sys->statat(AT_FDCWD, path, &now) < 0)
        return errno == ENOENT && old->st_ino == 0;
    return now.st_ino == old->st_ino && now.st_dev == old->st_dev &&
           now.st_size == old->st_size && now.st_mtim.tv_sec == old->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == old->st_mtim.tv_nsec;
}

cpubind_linux_fault cpubind_linux_write_whole(const char *path, const cpubind_linux_whole *old,
                                              const char *data, int32_t len,
                                              const cpubind_sys *sys)
{
    const mode_t mode = old->st.st_ino ? old->st.st_mode & 0777 : 0666;
    int fd = -1;
    sys = sys ? sys : &cpubind_sys_real;
    cpubind_linux_fault fault = check_beside(sys, path);
    if (fault.error)
        return fault;
    /* Who is between the look at the file and its replacement has a lock on it. A file system
     * without locks has a moment in which one of two changes is lost. */
    if (old->st.st_ino)
        fault = cpubind_open(sys, AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, &fd);
    if (fault.error || (fd >= 0 && cpubind_lock(sys, fd).error == EWOULDBLOCK) ||
        !is_same(sys, path, &old->st))
        fault = cpubind_fault_of(EBUSY, "file");
    else
        fault = write_file(path, mode, data, len, sys);
    if (fd >= 0)
        sys->close(fd);
    return fault;
}
