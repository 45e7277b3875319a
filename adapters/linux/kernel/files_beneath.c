/* files_beneath.c - opening a file below a folder, and never one outside of it
 * SPDX-License-Identifier: MIT
 *
 * Opens for reading only. The rules stand in files.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "../common.h"
#include "files.h"

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* As many links as the kernel follows on one path. */
#define LINKS_MAX 40

/* RESOLVE_BENEATH fails with EAGAIN when anything on the host was renamed while a ".." was
 * followed. A few tries; a host that is that busy gets the walk, which cannot fail so. */
#define TRIES 8

static int fail(int error)
{
    errno = error;
    return -1;
}

/* A path on its way through resolve(). */
typedef struct way {
    char done
        [PATH_MAX]; /* from the folder to here: no link, no ".", no ".."; "" is the folder */
    size_t n_done;
    char left[PATH_MAX]; /* the rest, with everything that links brought in */
} way;

/* Moves the first part of `left` to the end of `done`. 0, or -1 with errno. */
static int advance(way *w)
{
    const char *part = w->left + strspn(w->left, "/");
    size_t len = strcspn(part, "/");
    if (len == 2 && part[0] == '.' && part[1] == '.') {
        const char *slash = memrchr(w->done, '/', w->n_done);
        if (w->n_done == 0)
            return fail(EXDEV);
        w->n_done = slash ? (size_t)(slash - w->done) : 0;
    } else if (len > 1 || (len == 1 && part[0] != '.')) {
        if (w->n_done + 1 + len >= sizeof w->done)
            return fail(ENAMETOOLONG);
        if (w->n_done)
            w->done[w->n_done++] = '/';
        memcpy(w->done + w->n_done, part, len);
        w->n_done += len;
    }
    w->done[w->n_done] = '\0';
    memmove(w->left, part + len, strlen(part + len) + 1);
    return 0;
}

/* Puts the target of a link, the last part of `done`, in the link's place. 0, or -1. */
static int replace_link(way *w, const char *target, size_t len)
{
    size_t n_left = strlen(w->left);
    if (len > 0 && target[0] == '/')
        return fail(EXDEV);
    if (len + 1 + n_left >= sizeof w->left)
        return fail(ENAMETOOLONG);
    memmove(w->left + len + 1, w->left, n_left + 1);
    memcpy(w->left, target, len);
    w->left[len] = '/';
    const char *slash = memrchr(w->done, '/', w->n_done);
    w->n_done = slash ? (size_t)(slash - w->done) : 0;
    w->done[w->n_done] = '\0';
    return 0;
}

/* The path of `name` without links: w->done. 0, or -1 with errno. */
static int resolve(const cpubind_root *tree, const char *name, way *w)
{
    char target[PATH_MAX];
    w->n_done = 0;
    w->done[0] = '\0';
    memcpy(w->left, name, strlen(name) + 1);
    for (int links = 0; w->left[strspn(w->left, "/")];) {
        if (advance(w) < 0)
            return -1;
        if (w->n_done == 0)
            continue;
        ssize_t len = tree->sys->readlinkat(tree->fd, w->done, target, sizeof target);
        if (len < 0) {
            if (errno == EINVAL) /* no link */
                continue;
            return -1;
        }
        if (++links > LINKS_MAX)
            return fail(ELOOP);
        if ((size_t)len >= sizeof target)
            return fail(ENAMETOOLONG);
        if (replace_link(w, target, (size_t)len) < 0)
            return -1;
    }
    return 0;
}

/* Opens a path without links part by part; a link there is refused. */
static int walk(const cpubind_root *tree, const char *name, int flags)
{
    const cpubind_sys *sys = tree->sys;
    way w;
    if (resolve(tree, name, &w) < 0)
        return -1;
    int dir = tree->fd;
    char *part = w.done, *slash;
    while ((slash = strchr(part, '/')) != NULL) {
        *slash = '\0';
        int next =
            cpubind_openat_retry(sys, dir, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (dir != tree->fd)
            cpubind_close_quietly(sys, dir);
        if (next < 0)
            return -1;
        dir = next;
        part = slash + 1;
    }
    int fd =
        cpubind_openat_retry(sys, dir, *part ? part : ".", OPEN_FLAGS | O_NOFOLLOW | flags);
    if (dir != tree->fd)
        cpubind_close_quietly(sys, dir);
    return fd;
}

int cpubind_root_open(cpubind_root *tree, const char *name, int flags)
{
    if (tree->reach == CPUBIND_REACH_ANYWHERE)
        return cpubind_openat_retry(tree->sys, tree->fd, name, OPEN_FLAGS | flags);
    if (tree->reach == CPUBIND_REACH_BENEATH) {
        int fd = -1;
        for (int tries = 0; tries < TRIES; tries++) {
            fd = tree->sys->open_beneath(tree->fd, name, OPEN_FLAGS | flags);
            if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
                break;
        }
        if (fd >= 0)
            return fd;
        /* EPERM: how older container filters refuse a call that they do not know. */
        if (errno == ENOSYS || errno == EPERM)
            tree->reach = CPUBIND_REACH_WALK;
        else if (errno != EAGAIN && errno != EINTR)
            return -1;
    }
    return walk(tree, name, flags);
}
