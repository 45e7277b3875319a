/* replace_folder.c - giving a folder that is finished the name that it is to have
 * SPDX-License-Identifier: MIT
 *
 * Renames, in the order that replace_folder.h tells.
 */
#define _GNU_SOURCE
#include "replace_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../common.h"

/* Names that are tried. They hold our process id: only what a killed process of the same id has
 * left, and our other threads, are in the way. */
#define TRIES 1000

/* Bytes of the base in a temporary name, which must not become longer than a name may be. */
#define BASE_CUT 200

/* == what stands there == */

static cpubind_linux_status fail_exists(cpubind_linux_fault *fault)
{
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_EXISTS, EEXIST, "exists", fault);
}

/* Whether the folder holds anything: 0, 1, or -1 with errno. */
static int holds_anything(const cpubind_sys *sys, DIR *folder)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = sys->readdir(folder);
        if (!entry && errno != EINTR)
            return errno ? -1 : 0;
        if (entry && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return 1;
    }
}

/* Whether the folder holds a file host.txt: 0, 1, or -1 with errno. */
static int holds_host(const cpubind_sys *sys, int dir)
{
    struct stat st;
    int fd = cpubind_openat_retry(sys, dir, "host.txt", O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    int result = sys->fstat(fd, &st) < 0 ? -1 : S_ISREG(st.st_mode);
    cpubind_close_quietly(sys, fd);
    return result;
}

/* What the open folder is, into target->stands. */
static cpubind_linux_status look_inside(cpubind_target *target, DIR *folder, int is_replacing,
                                        cpubind_linux_fault *fault)
{
    const cpubind_sys *sys = target->sys;
    if (cpubind_folder_identify(sys, dirfd(folder), &target->id) < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_OPEN, errno, "stat", fault);
    int is_full = holds_anything(sys, folder);
    if (is_full < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_OPEN, errno, "list", fault);
    target->stands = is_full ? CPUBIND_STANDS_HOST : CPUBIND_STANDS_EMPTY;
    if (!is_full)
        return CPUBIND_LINUX_OK;
    int is_host = is_replacing ? holds_host(sys, dirfd(folder)) : 0;
    if (is_host < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_OPEN, errno, "host.txt", fault);
    return is_host ? CPUBIND_LINUX_OK : fail_exists(fault);
}

cpubind_linux_status cpubind_target_look(cpubind_target *target, int is_replacing,
                                         cpubind_linux_fault *fault)
{
    const cpubind_sys *sys = target->sys;
    int fd = cpubind_folder_open(sys, target->parent, target->base);
    target->stands = CPUBIND_STANDS_NOTHING;
    if (fd < 0 && errno == ENOENT)
        return CPUBIND_LINUX_OK;
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) /* a file; a link */
        return fail_exists(fault);
    if (fd < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_OPEN, errno, "open", fault);
    DIR *folder = sys->fdopendir(fd);
    if (!folder) {
        cpubind_linux_fail(CPUBIND_LINUX_ERR_OPEN, errno, "list", fault);
        sys->close(fd);
        return CPUBIND_LINUX_ERR_OPEN;
    }
    cpubind_linux_status status = look_inside(target, folder, is_replacing, fault);
    sys->closedir(folder);
    return status;
}

/* == names == */

int cpubind_target_make(const cpubind_target *target, char name[NAME_MAX + 1])
{
    size_t n_base = strlen(target->base);
    if (n_base > BASE_CUT) {
        n_base = BASE_CUT;
        while (n_base > 0 && ((unsigned char)target->base[n_base] & 0xc0) == 0x80)
            n_base--; /* not within a character of UTF-8: some file systems refuse that */
    }
    for (int n = 0; n < TRIES; n++) {
        snprintf(name, NAME_MAX + 1, ".%.*s.%ld.%d.tmp", (int)n_base, target->base,
                 (long)getpid(), n);
        if (target->sys->mkdirat(target->parent, name, 0777) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    name[0] = '\0';
    return -1;
}

static int rename_with(const cpubind_target *target, const char *from, const char *to,
                       int flags)
{
    return target->sys->rename(target->parent, from, to, flags);
}

/* Whether an error may mean that the kernel or the file system does not know a flag. (EPERM:
 * how older container filters refuse a call that they do not know.) A rename without flags then
 * tells whether it was something else. */
static int may_lack_flags(int error)
{
    return error == ENOSYS || error == EINVAL || error == EPERM || error == EOPNOTSUPP;
}

/* A rename to a name that nothing has. */
static int rename_new(const cpubind_target *target, const char *from, const char *to)
{
    int result = rename_with(target, from, to, CPUBIND_RENAME_NOREPLACE);
    if (result < 0 && may_lack_flags(errno))
        result = rename_with(target, from, to, 0);
    return result;
}

/* == taking the name == */

static cpubind_linux_status fail_put_back(cpubind_linux_fault *fault)
{
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_WRITE, errno, "put back", fault);
}

/* A rename that failed: somebody was faster, or another reason. */
static cpubind_linux_status fail_rename(cpubind_linux_fault *fault)
{
    if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR || errno == EISDIR)
        return fail_exists(fault);
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_WRITE, errno, "rename", fault);
}

/* Nothing stands there. */
static cpubind_linux_status take_free(cpubind_target *target, cpubind_linux_fault *fault)
{
    target->stands = CPUBIND_STANDS_NOTHING;
    return rename_new(target, target->temp, target->base) < 0 ? fail_rename(fault)
                                                              : CPUBIND_LINUX_OK;
}

/* The old folder to target->old, the new one to its name. */
static cpubind_linux_status take_in_two(cpubind_target *target, cpubind_linux_fault *fault)
{
    if (cpubind_target_make(target, target->old) < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_WRITE, errno, "make folder", fault);
    if (rename_with(target, target->base, target->old, 0) < 0) {
        int error = errno;
        target->sys->unlinkat(target->parent, target->old, AT_REMOVEDIR);
        errno = error;
        return error == ENOENT ? take_free(target, fault) : fail_rename(fault);
    }
    if (rename_new(target, target->temp, target->base) == 0)
        return CPUBIND_LINUX_OK;
    cpubind_linux_status status = fail_rename(fault);
    return rename_new(target, target->old, target->base) < 0 ? fail_put_back(fault) : status;
}

/* A folder stands there: it is at target->old afterwards. */
static cpubind_linux_status take_over(cpubind_target *target, cpubind_linux_fault *fault)
{
    if (rename_with(target, target->temp, target->base, CPUBIND_RENAME_EXCHANGE) == 0) {
        memcpy(target->old, target->temp, sizeof target->old);
        return CPUBIND_LINUX_OK;
    }
    if (may_lack_flags(errno))
        return take_in_two(target, fault);
    if (errno == ENOENT) /* it was removed meanwhile */
        return take_free(target, fault);
    return fail_rename(fault);
}

/* Undoes what was taken. 0, or -1 with errno. */
static int put_back(const cpubind_target *target)
{
    if (target->stands != CPUBIND_STANDS_NOTHING && strcmp(target->old, target->temp) == 0)
        return rename_with(target, target->temp, target->base, CPUBIND_RENAME_EXCHANGE);
    if (rename_new(target, target->base, target->temp) < 0)
        return -1;
    if (target->stands == CPUBIND_STANDS_NOTHING)
        return 0;
    return rename_new(target, target->old, target->base);
}

/* Whether the folder that was taken away is the one that was looked at. */
static cpubind_linux_status check_old(const cpubind_target *target, cpubind_linux_fault *fault)
{
    int fd = cpubind_folder_open_same(target->sys, target->parent, target->old, &target->id);
    if (fd >= 0) {
        target->sys->close(fd);
        return CPUBIND_LINUX_OK;
    }
    if (errno == ESTALE || errno == ENOTDIR || errno == ELOOP)
        return fail_exists(fault);
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_WRITE, errno, "open", fault);
}

/* What is still to be done once the new folder has its name. The old one goes last, when the
 * new one is on the disk: a power cut finds one of them. */
static cpubind_linux_status settle(const cpubind_target *target, cpubind_linux_fault *fault)
{
    const cpubind_sys *sys = target->sys;
    if (target->stands != CPUBIND_STANDS_NOTHING) {
        cpubind_linux_status status = check_old(target, fault);
        if (status != CPUBIND_LINUX_OK)
            return status;
    }
    if (cpubind_fsync_retry(sys, target->parent) < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_WRITE, errno, "sync", fault);
    if (target->stands == CPUBIND_STANDS_EMPTY &&
        sys->unlinkat(target->parent, target->old, AT_REMOVEDIR) < 0 &&
        (errno == ENOTEMPTY || errno == EEXIST)) /* it was filled meanwhile */
        return fail_exists(fault);
    /* The new folder is in place and whole: that the old one cannot be removed, or not all of
     * it, does not undo that. */
    if (target->stands == CPUBIND_STANDS_HOST)
        (void)cpubind_remove_folder(sys, target->parent, target->old, &target->id);
    return CPUBIND_LINUX_OK;
}

cpubind_linux_status cpubind_target_take(cpubind_target *target, cpubind_linux_fault *fault)
{
    cpubind_linux_status status = target->stands == CPUBIND_STANDS_NOTHING
                                      ? take_free(target, fault)
                                      : take_over(target, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    status = settle(target, fault);
    if (status == CPUBIND_LINUX_OK || put_back(target) == 0)
        return status;
    return fail_put_back(fault);
}
