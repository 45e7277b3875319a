/* run_folder.c - the folder of this user: finding, making and checking it
 * SPDX-License-Identifier: MIT
 *
 * Makes nothing but the folder itself and locks, and reads nothing in it. The rules are in
 * run_folder.h.
 */
#define _GNU_SOURCE
#include "run_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define PATH_MAX_OWN (CPUBIND_RUN_PATH_SIZE - 2 * CPUBIND_RUN_NAME_SIZE)

/* How often a lock that is waited for is tried. */
#define LOCK_TICK_MS 5

/* == Where it is ============================================================ */

/* An absolute path of the environment, or the other one. */
static const char *path_of(const char *variable, const char *other)
{
    const char *text = getenv(variable);
    return text && text[0] == '/' && strlen(text) < PATH_MAX_OWN ? text : other;
}

/* Sets *is_own to whether a folder is there and of this user. XDG_RUNTIME_DIR of another user
 * stays in the environment after su(1). */
static cpubind_linux_fault is_own_folder(cpubind_root *root, const char *path, int *is_own)
{
    struct stat st;
    int fd;
    cpubind_linux_fault why =
        cpubind_open(root->sys, root->fd, path + 1, O_PATH | O_DIRECTORY | O_CLOEXEC, &fd);
    *is_own = 0;
    if (why.error == ENOENT || why.error == ENOTDIR || why.error == EACCES)
        return cpubind_no_fault;
    if (why.error)
        return cpubind_fault_of(why.error, "folder");
    if (root->sys->fstat(fd, &st) < 0)
        why = cpubind_fault_errno("folder");
    else
        *is_own = st.st_uid == root->sys->geteuid();
    root->sys->close(fd);
    return why;
}

cpubind_linux_fault cpubind_run_folder_path(cpubind_root *root, char out[CPUBIND_RUN_PATH_SIZE])
{
    const uid_t uid = root->sys->geteuid();
    cpubind_linux_fault why = cpubind_no_fault;
    char usual[CPUBIND_RUN_NAME_SIZE];
    const char *parent[2] = {usual, usual};
    int is_own = 0;
    (void)snprintf(usual, sizeof usual, "/run/user/%lu", (unsigned long)uid);
    parent[0] = path_of("XDG_RUNTIME_DIR", usual);
    (void)snprintf(out, CPUBIND_RUN_PATH_SIZE, "/run/cpubind");
    if (uid == 0)
        return cpubind_no_fault;
    for (int i = 0; i < 2 && !is_own && !why.error; i++) {
        why = is_own_folder(root, parent[i], &is_own);
        if (is_own)
            (void)snprintf(out, CPUBIND_RUN_PATH_SIZE, "%s/cpubind", parent[i]);
    }
    if (!is_own && !why.error)
        (void)snprintf(out, CPUBIND_RUN_PATH_SIZE, "%s/cpubind-%lu", path_of("TMPDIR", "/tmp"),
                       (unsigned long)uid);
    return why;
}

void cpubind_run_file_path(const cpubind_sys *sys, const char *name,
                           char out[CPUBIND_RUN_PATH_SIZE])
{
    cpubind_root root;
    size_t n;
    if (cpubind_root_live(&root, sys).error) {
        (void)cpubind_run_folder_of(0, 0, out);
    } else {
        (void)cpubind_run_folder_path(&root, out);
        root.sys->close(root.fd);
    }
    n = strlen(out);
    (void)snprintf(out + n, CPUBIND_RUN_PATH_SIZE - n, "/%s", name);
}

int cpubind_run_folder_of(uid_t uid, int place, char out[CPUBIND_RUN_PATH_SIZE])
{
    static const char *const places[] = {"/run/user/%lu/cpubind", "/tmp/cpubind-%lu"};
    if (uid == 0)
        (void)snprintf(out, CPUBIND_RUN_PATH_SIZE, "/run/cpubind");
    else if (place < 2)
        (void)snprintf(out, CPUBIND_RUN_PATH_SIZE, places[place], (unsigned long)uid);
    return place < (uid == 0 ? 1 : 2);
}

/* == Opening ================================================================ */

static cpubind_linux_fault check(const cpubind_sys *sys, int fd)
{
    struct stat st;
    if (sys->fstat(fd, &st) < 0)
        return cpubind_fault_errno("folder");
    return cpubind_fault_of(cpubind_is_mine(sys, &st) ? 0 : EPERM, "folder");
}

/* EPERM: somebody else could put another folder in the place of the one that is made there. */
static cpubind_linux_fault check_parent(const cpubind_sys *sys, int fd)
{
    struct stat st;
    int is_good;
    if (sys->fstat(fd, &st) < 0)
        return cpubind_fault_errno("folder");
    is_good = st.st_mode & S_ISVTX ? st.st_uid == sys->geteuid() || st.st_uid == 0
                                   : cpubind_is_mine(sys, &st);
    return cpubind_fault_of(is_good ? 0 : EPERM, "folder");
}

/* Opens the folder of that name, which is made first if it is not there and may be. */
static cpubind_linux_fault open_in(const cpubind_sys *sys, int parent, const char *name,
                                   int may_make, int *fd)
{
    const mode_t mode = strcmp(name, "cpubind") == 0 ? 0755 : 0700;
    cpubind_linux_fault why = cpubind_open(sys, parent, name, FOLDER_FLAGS, fd);
    int made;
    if (why.error != ENOENT || !may_make)
        return why;
    CPUBIND_RETRY(made, sys->mkdirat(parent, name, mode));
    if (made < 0 && errno != EEXIST)
        return cpubind_fault_errno("folder");
    return cpubind_open(sys, parent, name, FOLDER_FLAGS, fd);
}

cpubind_linux_fault cpubind_run_folder_open(cpubind_root *root, int may_make, int *fd)
{
    const cpubind_sys *sys = root->sys;
    char path[CPUBIND_RUN_PATH_SIZE], *name;
    int parent, opened;
    cpubind_linux_fault why = cpubind_run_folder_path(root, path);
    if (why.error)
        return why;
    name = strrchr(path, '/');
    *name++ = '\0';
    why = cpubind_open(sys, root->fd, path[1] ? path + 1 : ".",
                       O_PATH | O_DIRECTORY | O_CLOEXEC, &parent);
    if (why.error)
        return cpubind_fault_of(why.error, "folder");
    if (strcmp(name, "cpubind") != 0)
        why = check_parent(sys, parent);
    if (!why.error)
        why = open_in(sys, parent, name, may_make, &opened);
    sys->close(parent);
    if (!why.error) {
        why = check(sys, opened);
        if (why.error)
            sys->close(opened);
        else
            *fd = opened;
    }
    if (why.error == ELOOP || why.error == ENOTDIR) /* a link, no folder */
        why.error = EPERM;
    return cpubind_fault_of(why.error, "folder");
}

cpubind_linux_fault cpubind_run_folder_here(const cpubind_sys *sys, int may_make, int *fd)
{
    cpubind_root root;
    cpubind_linux_fault why = cpubind_root_live(&root, sys);
    if (why.error)
        return why;
    why = cpubind_run_folder_open(&root, may_make, fd);
    sys->close(root.fd);
    return why;
}

cpubind_linux_fault cpubind_lock_within(const cpubind_sys *sys, int fd, int64_t limit_ms)
{
    const int64_t end_ms = cpubind_now_ms() + limit_ms;
    cpubind_linux_fault why = cpubind_lock(sys, fd);
    while (why.error == EWOULDBLOCK && cpubind_now_ms() < end_ms) {
        (void)sys->poll(NULL, 0, LOCK_TICK_MS);
        why = cpubind_lock(sys, fd);
    }
    return why;
}

cpubind_linux_fault cpubind_run_lock(const cpubind_sys *sys, const char *name, int64_t limit_ms,
                                     int *fd)
{
    int folder, lock;
    cpubind_linux_fault why = cpubind_run_folder_here(sys, 1, &folder);
    if (why.error)
        return why;
    why = cpubind_create(sys, folder, name, 0600, &lock);
    if (why.error == EEXIST)
        why = cpubind_open(sys, folder, name, O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, &lock);
    sys->close(folder);
    if (why.error)
        return cpubind_fault_of(why.error, "lock");
    why = cpubind_lock_within(sys, lock, limit_ms);
    if (why.error)
        sys->close(lock);
    else
        *fd = lock;
    return why;
}

static cpubind_linux_fault count_record(void *ctx, const char *name)
{
    const size_t n = strspn(name, "0123456789");
    *(int32_t *)ctx += n > 0 && strcmp(name + n, ".record") == 0;
    return cpubind_no_fault;
}

int32_t cpubind_run_count_roots(const cpubind_sys *sys)
{
    int32_t n = 0;
    int fd;
    if (sys->geteuid() != 0 &&
        !cpubind_open(sys, AT_FDCWD, "/run/cpubind", FOLDER_FLAGS, &fd).error)
        (void)cpubind_each_name(sys, fd, count_record, &n);
    return n;
}
