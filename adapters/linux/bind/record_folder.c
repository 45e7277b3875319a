/* record_folder.c - the folder of record files: finding, checking and listing it
 * SPDX-License-Identifier: MIT
 *
 * Reads no record, and makes nothing but the folder. The rules are in record.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/run_folder.h"
#include "record.h"

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

void cpubind_bind_usual_path(uid_t uid, int32_t pid, char out[CPUBIND_RECORD_PATH_SIZE])
{
    char parent[CPUBIND_RUN_PARENT_SIZE];
    cpubind_run_parent(uid, parent);
    if (pid == CPUBIND_RECORD_HOST)
        (void)snprintf(out, CPUBIND_RECORD_PATH_SIZE,
                       "/%.32s/cpubind/host" CPUBIND_RECORD_SUFFIX, parent);
    else
        (void)snprintf(out, CPUBIND_RECORD_PATH_SIZE,
                       "/%.32s/cpubind/%ld" CPUBIND_RECORD_SUFFIX, parent, (long)pid);
}

/* == Opening ================================================================ */

/* EPERM: the folder must not be used. */
static cpubind_linux_fault check_folder(const cpubind_sys *sys, int fd)
{
    struct stat st;
    int is_good;
    if (sys->fstat(fd, &st) < 0)
        return cpubind_fault_errno("folder");
    is_good = st.st_mode & S_ISVTX ? st.st_uid == sys->geteuid() || st.st_uid == 0
                                   : cpubind_is_mine(sys, &st);
    return cpubind_fault_of(is_good ? 0 : EPERM, "folder");
}

/* Opens the folder of a path. */
static cpubind_linux_fault open_folder_of(const cpubind_sys *sys, const char *path, int *fd)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    char *folder = (char *)sys->malloc(n + 2);
    cpubind_linux_fault why;
    if (!folder)
        return cpubind_fault_of(ENOMEM, "memory");
    while (n > 0 && path[n - 1] == '/') /* a link before a slash would be followed */
        n--;
    memcpy(folder, path, n);
    if (n == 0)
        folder[n++] = slash ? '/' : '.';
    folder[n] = '\0';
    why = cpubind_open(sys, AT_FDCWD, folder, FOLDER_FLAGS, fd);
    free(folder);
    return cpubind_fault_of(why.error, "folder");
}

cpubind_linux_fault cpubind_record_open_folder(cpubind_root *root, const char *path,
                                               int may_make, int *dir)
{
    int fd = -1;
    cpubind_linux_fault why;
    if (!path)
        return cpubind_run_folder_open(root, may_make, dir);
    why = open_folder_of(root->sys, path, &fd);
    if (!why.error) {
        why = check_folder(root->sys, fd);
        if (why.error)
            root->sys->close(fd);
    }
    if (why.error == ELOOP || why.error == ENOTDIR) /* a link, no folder */
        why.error = EPERM;
    if (!why.error)
        *dir = fd;
    return why;
}

/* == Listing ================================================================ */

/* The pid of "4711.record" or "4711.path", or 0. */
static int32_t pid_of_name(const char *name)
{
    const size_t n = strspn(name, "0123456789");
    int64_t pid = 0;
    if (n == 0 || n > 10 || name[0] == '0' ||
        (strcmp(name + n, CPUBIND_RECORD_SUFFIX) != 0 &&
         strcmp(name + n, CPUBIND_RECORD_PLACE) != 0))
        return 0;
    for (size_t i = 0; i < n; i++)
        pid = pid * 10 + (name[i] - '0');
    return pid <= INT32_MAX ? (int32_t)pid : 0;
}

typedef struct listing {
    const cpubind_sys *sys;
    cpubind_ids *pids;
} listing;

static cpubind_linux_fault add_pid(void *ctx, const char *name)
{
    listing *l = (listing *)ctx;
    const int32_t pid = pid_of_name(name);
    return pid == 0 ? cpubind_no_fault : cpubind_ids_add(l->pids, l->sys, pid);
}

cpubind_linux_fault cpubind_record_list(cpubind_root *root, cpubind_ids *out)
{
    listing l = {root->sys, out};
    int dir;
    cpubind_linux_fault why = cpubind_record_open_folder(root, NULL, 0, &dir);
    *out = (cpubind_ids){0};
    if (why.error)
        return why.error == ENOENT ? cpubind_no_fault : why;
    why = cpubind_each_name(root->sys, dir, add_pid, &l);
    if (why.error) {
        free(out->id);
        *out = (cpubind_ids){0};
        return cpubind_fault_of(why.error, why.error == ENOMEM ? "memory" : "folder");
    }
    cpubind_ids_sort(out);
    return cpubind_no_fault;
}
