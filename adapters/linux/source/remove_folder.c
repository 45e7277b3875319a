/* remove_folder.c - removing a folder with all that is in it, and no other
 * SPDX-License-Identifier: MIT
 *
 * By repeated descent: from the top down into the first folder that is not empty, until one can
 * be emptied, and again. No stack of open folders, and no "..", which would lead elsewhere were
 * a folder moved meanwhile.
 */
#define _GNU_SOURCE
#include "remove_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include "../common.h"

typedef struct removal {
    const cpubind_sys *sys;
    dev_t dev;          /* nothing of another one */
    int32_t steps_left; /* entries that may still be looked at */
} removal;

int cpubind_folder_open(const cpubind_sys *sys, int parent, const char *name)
{
    return cpubind_openat_retry(sys, parent, name,
                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int cpubind_folder_identify(const cpubind_sys *sys, int fd, cpubind_folder_id *out)
{
    struct stat st;
    if (sys->fstat(fd, &st) < 0)
        return -1;
    *out = (cpubind_folder_id){st.st_dev, st.st_ino};
    return 0;
}

int cpubind_folder_open_same(const cpubind_sys *sys, int parent, const char *name,
                             const cpubind_folder_id *id)
{
    cpubind_folder_id found;
    int fd = cpubind_folder_open(sys, parent, name);
    if (fd < 0)
        return -1;
    if (cpubind_folder_identify(sys, fd, &found) == 0) {
        if (found.dev == id->dev && found.ino == id->ino)
            return fd;
        errno = ESTALE;
    }
    cpubind_close_quietly(sys, fd);
    return -1;
}

/* 0; ENOTEMPTY: a folder with something in it; another errno. */
static int remove_folder(const cpubind_sys *sys, int dir, const char *name)
{
    if (sys->unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return 0;
    return errno == EEXIST ? ENOTEMPTY : errno;
}

/* The same for an entry of any kind. */
static int remove_entry(const cpubind_sys *sys, int dir, const char *name)
{
    if (sys->unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    int error = errno;
    if (error != EISDIR && error != EPERM) /* both are said of a folder */
        return error;
    int error_folder = remove_folder(sys, dir, name);
    return error_folder == ENOTDIR ? error : error_folder;
}

/* Opens folder `name` to go on there. A descriptor, or -1 with errno. */
static int descend(const removal *r, int dir, const char *name)
{
    cpubind_folder_id id;
    int fd = cpubind_folder_open(r->sys, dir, name);
    if (fd < 0)
        return -1;
    if (cpubind_folder_identify(r->sys, fd, &id) == 0) {
        if (id.dev == r->dev)
            return fd;
        errno = EXDEV;
    }
    cpubind_close_quietly(r->sys, fd);
    return -1;
}

/* Removes the next entry; a folder with something in it is opened instead, *next. 0, or an
 * errno; *is_end at the end of the folder. */
static int clear_next(removal *r, DIR *folder, int *next, int *is_end)
{
    errno = 0;
    const struct dirent *entry = r->sys->readdir(folder);
    if (!entry) {
        *is_end = errno != EINTR;
        return *is_end ? errno : 0;
    }
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return 0;
    if (r->steps_left-- == 0)
        return E2BIG;
    int error = remove_entry(r->sys, dirfd(folder), entry->d_name);
    if (error != ENOTEMPTY)
        return error;
    *next = descend(r, dirfd(folder), entry->d_name);
    return *next < 0 ? errno : 0;
}

/* Removes what an open folder holds, and closes it. 0 with *next a folder with something in it,
 * or -1 when all is gone; else an errno. */
static int clear(removal *r, int fd, int *next)
{
    int error = 0, is_end = 0;
    *next = -1;
    DIR *folder = r->sys->fdopendir(fd);
    if (!folder) {
        error = errno;
        r->sys->close(fd);
        return error;
    }
    while (!error && !is_end && *next < 0)
        error = clear_next(r, folder, next, &is_end);
    r->sys->closedir(folder);
    return error;
}

/* From the top, `fd`, down to a folder that can be emptied. 0 or an errno. */
static int clear_one(removal *r, int fd)
{
    for (int depth = 0; depth < CPUBIND_DEPTH_MAX; depth++) {
        int next;
        int error = clear(r, fd, &next);
        if (error || next < 0)
            return error;
        fd = next;
    }
    r->sys->close(fd);
    return ELOOP;
}

int cpubind_remove_folder(const cpubind_sys *sys, int parent, const char *name,
                          const cpubind_folder_id *id)
{
    removal r = {sys, id->dev, CPUBIND_REMOVE_MAX};
    while (r.steps_left-- > 0) {
        int fd = cpubind_folder_open_same(sys, parent, name, id);
        if (fd < 0)
            return errno == ENOENT ? 0 : errno;
        int error = clear_one(&r, fd);
        if (!error)
            error = remove_folder(sys, parent, name);
        if (error != ENOTEMPTY)
            return error;
    }
    return E2BIG;
}
