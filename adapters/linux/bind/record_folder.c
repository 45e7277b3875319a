/* record_folder.c - the folder of state files, and the names in it
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "record_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "record.h"

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define PARENT_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

static cpubind_linux_status fail(int error, cpubind_linux_fault *fault)
{
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_STATE, error, "folder", fault);
}

/* == Names ================================================================== */

/* The folder of a user's state folder, below "/". */
static void usual_parent(uid_t uid, char out[CPUBIND_RECORD_PATH_SIZE])
{
    if (uid == 0)
        (void)snprintf(out, CPUBIND_RECORD_PATH_SIZE, "run");
    else
        (void)snprintf(out, CPUBIND_RECORD_PATH_SIZE, "run/user/%lu", (unsigned long)uid);
}

void cpubind_record_usual_path(uid_t uid, int32_t pid, const char *suffix,
                               char out[CPUBIND_RECORD_PATH_SIZE])
{
    char parent[CPUBIND_RECORD_PATH_SIZE];
    usual_parent(uid, parent);
    (void)snprintf(out, CPUBIND_RECORD_PATH_SIZE, "/%.32s/cpubind/%ld%.8s", parent, (long)pid,
                   suffix);
}

void cpubind_record_temp_name(const char *base, pid_t pid, int n,
                              char out[CPUBIND_RECORD_TEMP_SIZE])
{
    (void)snprintf(out, CPUBIND_RECORD_TEMP_SIZE, "%.*s.%ld.%d.tmp", CPUBIND_RECORD_BASE_MAX,
                   base, (long)pid, n);
}

/* The digits at the start of a text; 0 when there are none. */
static size_t n_digits(const char *text)
{
    return strspn(text, "0123456789");
}

static int is_temp_name(const char *name, const char *base)
{
    const size_t n_base = strlen(base);
    size_t n;
    if (strncmp(name, base, n_base) != 0)
        return 0;
    name += n_base;
    for (int i = 0; i < 2; i++) {
        if (*name++ != '.')
            return 0;
        n = n_digits(name);
        if (n == 0)
            return 0;
        name += n;
    }
    return strcmp(name, ".tmp") == 0;
}

/* The pid of "4711.record" or "4711.json", or 0. */
static int32_t pid_of_name(const char *name)
{
    const size_t n = n_digits(name);
    int64_t pid = 0;
    if (n == 0 || n > 10 || name[0] == '0' ||
        (strcmp(name + n, CPUBIND_RECORD_SUFFIX) != 0 &&
         strcmp(name + n, CPUBIND_RECORD_OLDER) != 0))
        return 0;
    for (size_t i = 0; i < n; i++)
        pid = pid * 10 + (name[i] - '0');
    return pid <= INT32_MAX ? (int32_t)pid : 0;
}

/* == Opening ================================================================ */

/* Whether a folder may be used. 0 or an errno. */
static int look_at(const cpubind_sys *sys, int fd, int may_be_sticky)
{
    const uid_t uid = sys->geteuid();
    struct stat st;
    if (sys->fstat(fd, &st) < 0)
        return errno;
    if (may_be_sticky && st.st_mode & S_ISVTX)
        return st.st_uid == uid || st.st_uid == 0 ? 0 : EPERM;
    return st.st_uid == uid && !(st.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : EPERM;
}

/* What was opened as a folder, or the errno of the open. */
static cpubind_linux_status take(const cpubind_sys *sys, int fd, int may_be_sticky, int *dir,
                                 cpubind_linux_fault *fault)
{
    int error = fd < 0 ? errno : look_at(sys, fd, may_be_sticky);
    if (error && fd >= 0)
        sys->close(fd);
    if (error) /* the first two: a link, no folder */
        return fail(error == ELOOP || error == ENOTDIR ? EPERM : error, fault);
    *dir = fd;
    return CPUBIND_LINUX_OK;
}

cpubind_linux_status cpubind_record_folder_of(const cpubind_sys *sys, const char *path,
                                              int *dir, cpubind_linux_fault *fault)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    char *parent = (char *)sys->malloc(n + 2);
    cpubind_linux_status status;
    if (!parent)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    while (n > 0 && path[n - 1] == '/') /* behind a slash a link would be followed */
        n--;
    memcpy(parent, path, n);
    if (n == 0)
        parent[n++] = slash ? '/' : '.';
    parent[n] = '\0';
    status = take(sys, cpubind_open_retry(sys, parent, FOLDER_FLAGS), 1, dir, fault);
    free(parent);
    return status;
}

/* 0, or -1 with errno. */
static int make_folder(const cpubind_sys *sys, int parent)
{
    int result;
    do
        result = sys->mkdirat(parent, "cpubind", 0755);
    while (result < 0 && errno == EINTR);
    return result == 0 || errno == EEXIST ? 0 : -1;
}

static int open_below(const cpubind_sys *sys, int parent, int may_make)
{
    int fd = cpubind_openat_retry(sys, parent, "cpubind", FOLDER_FLAGS);
    if (fd >= 0 || errno != ENOENT || !may_make)
        return fd;
    if (make_folder(sys, parent) < 0)
        return -1;
    return cpubind_openat_retry(sys, parent, "cpubind", FOLDER_FLAGS);
}

cpubind_linux_status cpubind_record_folder_usual(cpubind_root *root, int may_make, int *dir,
                                                 cpubind_linux_fault *fault)
{
    const cpubind_sys *sys = root->sys;
    char name[CPUBIND_RECORD_PATH_SIZE];
    int parent, fd;
    usual_parent(sys->geteuid(), name);
    parent = cpubind_openat_retry(sys, root->fd, name, PARENT_FLAGS);
    if (parent < 0)
        return fail(errno, fault);
    fd = open_below(sys, parent, may_make);
    cpubind_close_quietly(sys, parent);
    return take(sys, fd, 0, dir, fault);
}

/* == Listing ================================================================ */

/* Calls `visit` with each name; 0, or the errno of the listing or of a visit. Closes `fd`. */
static int each_name(const cpubind_sys *sys, int fd, int (*visit)(void *ctx, const char *name),
                     void *ctx)
{
    DIR *folder = sys->fdopendir(fd);
    int error = 0;
    if (!folder) {
        error = errno;
        sys->close(fd);
        return error;
    }
    while (!error) {
        const struct dirent *entry;
        errno = 0;
        entry = sys->readdir(folder);
        if (!entry && errno == EINTR)
            continue;
        if (!entry) {
            error = errno;
            break;
        }
        error = visit(ctx, entry->d_name);
    }
    sys->closedir(folder);
    return error;
}

typedef struct tidying {
    const cpubind_sys *sys;
    int dir;
    const char *base;
} tidying;

static int remove_temp(void *ctx, const char *name)
{
    const tidying *t = (const tidying *)ctx;
    if (is_temp_name(name, t->base))
        (void)t->sys->unlinkat(t->dir, name, 0);
    return 0;
}

void cpubind_record_folder_tidy(const cpubind_sys *sys, int dir, const char *base)
{
    tidying t = {sys, dir, base};
    int fd = cpubind_openat_retry(sys, dir, ".", FOLDER_FLAGS);
    if (fd >= 0)
        (void)each_name(sys, fd, remove_temp, &t);
}

typedef struct pids {
    const cpubind_sys *sys;
    int32_t *pid;
    int32_t n, cap;
} pids;

static int add_pid(void *ctx, const char *name)
{
    pids *p = (pids *)ctx;
    const int32_t pid = pid_of_name(name);
    int32_t *grown;
    if (pid == 0)
        return 0;
    grown = (int32_t *)cpubind_grow(p->sys, p->pid, p->n, &p->cap, sizeof *p->pid);
    if (!grown)
        return ENOMEM;
    p->pid = grown;
    p->pid[p->n++] = pid;
    return 0;
}

static int compare_pids(const void *a, const void *b)
{
    const int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

cpubind_linux_status cpubind_record_list(cpubind_root *root, int32_t **out, int32_t *out_n,
                                         cpubind_linux_fault *fault)
{
    pids p = {root->sys, NULL, 0, 0};
    cpubind_linux_fault why = {0, NULL};
    int dir = -1, error;
    *out = NULL;
    *out_n = 0;
    cpubind_linux_status status = cpubind_record_folder_usual(root, 0, &dir, &why);
    if (status != CPUBIND_LINUX_OK)
        return why.error == ENOENT ? CPUBIND_LINUX_OK : fail(why.error, fault);
    error = each_name(root->sys, dir, add_pid, &p);
    if (error) {
        free(p.pid);
        return error == ENOMEM
                   ? cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault)
                   : fail(error, fault);
    }
    if (p.n > 0)
        qsort(p.pid, (size_t)p.n, sizeof *p.pid, compare_pids);
    for (int32_t i = 0; i < p.n; i++) /* one may have both names */
        if (i == 0 || p.pid[i] != p.pid[i - 1])
            p.pid[(*out_n)++] = p.pid[i];
    *out = p.pid;
    return CPUBIND_LINUX_OK;
}
