/* record_file.c - the file of a record: opening, locking, reading and replacing it
 * SPDX-License-Identifier: MIT
 *
 * All names are looked up in a folder that was opened and looked at once: whoever may not write
 * to it cannot put anything in the way. A machine that stops takes the state with it (another
 * boot, other processes): what was renamed is not synced.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "../common.h"
#include "record_folder.h"
#include "record_text.h"

/* How often the lock is tried for when others remove its file at the same time. */
#define LOCK_TRIES 100

/* Temporary names that are tried. They hold our process id: only what a killed process of the
 * same id has left, and our other threads, are in the way. */
#define TEMP_TRIES 1000

struct cpubind_record_file {
    const cpubind_sys *sys;
    int dir, lock; /* -1: not open */
    int32_t pid;   /* that the file must be of; 0: any */
    char *base;    /* the name within the folder */
    char *lock_name;
    char path[]; /* and behind it the other two */
};

static cpubind_linux_status fail(int error, const char *what, cpubind_linux_fault *fault)
{
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_STATE, error, what, fault);
}

static cpubind_linux_status fail_memory(cpubind_linux_fault *fault)
{
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
}

static cpubind_linux_status fail_argument(cpubind_linux_fault *fault)
{
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "argument", fault);
}

/* create(2) as the table has it, again when a signal interrupts it. */
static int create_retry(const cpubind_sys *sys, int dir, const char *name)
{
    int fd;
    do
        fd = sys->create(dir, name, 0600);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* == The lock =============================================================== */

/* Opens the file of the lock, which is made when there is none. As openat(2); ENOENT: it was
 * removed meanwhile. */
static int open_lock(const cpubind_record_file *file)
{
    int fd = create_retry(file->sys, file->dir, file->lock_name);
    if (fd >= 0 || errno != EEXIST)
        return fd;
    return cpubind_openat_retry(file->sys, file->dir, file->lock_name,
                                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* 0, or an errno: EPERM when it is no regular file of ours, EWOULDBLOCK when it is held. */
static int lock_opened(const cpubind_sys *sys, int fd, struct stat *st)
{
    int result;
    if (sys->fstat(fd, st) < 0)
        return errno;
    if (!S_ISREG(st->st_mode) || st->st_uid != sys->geteuid())
        return EPERM;
    do
        result = sys->flock(fd, LOCK_EX | LOCK_NB);
    while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
}

/* Whether the name still leads to the file that was locked: who had the lock before may have
 * removed it in between. 0, ESTALE, or another errno. */
static int check_name(const cpubind_record_file *file, const struct stat *locked)
{
    struct stat st;
    int error = 0;
    int fd = cpubind_openat_retry(file->sys, file->dir, file->lock_name,
                                  O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? ESTALE : errno;
    if (file->sys->fstat(fd, &st) < 0)
        error = errno;
    else if (st.st_dev != locked->st_dev || st.st_ino != locked->st_ino)
        error = ESTALE;
    cpubind_close_quietly(file->sys, fd);
    return error;
}

/* One try: 0 with file->lock, ESTALE to try again, or another errno. */
static int try_lock(cpubind_record_file *file)
{
    struct stat st;
    int error, fd = open_lock(file);
    if (fd < 0)
        return errno == ENOENT ? ESTALE : errno;
    error = lock_opened(file->sys, fd, &st);
    if (!error)
        error = check_name(file, &st);
    if (error)
        cpubind_close_quietly(file->sys, fd);
    else
        file->lock = fd;
    return error;
}

static cpubind_linux_status lock(cpubind_record_file *file, cpubind_linux_fault *fault)
{
    int error = ESTALE;
    for (int tries = 0; error == ESTALE && tries < LOCK_TRIES; tries++)
        error = try_lock(file);
    if (error == EWOULDBLOCK || error == ESTALE)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_BUSY, EWOULDBLOCK, "lock", fault);
    return error ? fail(error, "lock", fault) : CPUBIND_LINUX_OK;
}

/* == Opening and closing ==================================================== */

/* A file of this path, nothing of it open. */
static cpubind_record_file *make_file(const cpubind_sys *sys, const char *path)
{
    const size_t n = strlen(path);
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const size_t n_base = strlen(base);
    cpubind_record_file *file = (cpubind_record_file *)sys->malloc(
        sizeof *file + n + 1 + n_base + 1 + n_base + sizeof ".lock");
    if (!file)
        return NULL;
    *file = (cpubind_record_file){sys, -1, -1, 0, NULL, NULL};
    file->base = file->path + n + 1;
    file->lock_name = file->base + n_base + 1;
    memcpy(file->path, path, n + 1);
    memcpy(file->base, base, n_base + 1);
    memcpy(file->lock_name, base, n_base);
    memcpy(file->lock_name + n_base, ".lock", sizeof ".lock");
    return file;
}

static int is_base(const char *base)
{
    return *base && strcmp(base, ".") != 0 && strcmp(base, "..") != 0;
}

cpubind_linux_status cpubind_record_open(cpubind_root *root, const char *path, int32_t pid,
                                         cpubind_record_mode mode, cpubind_record_file **out,
                                         cpubind_linux_fault *fault)
{
    char usual[CPUBIND_RECORD_PATH_SIZE];
    cpubind_record_file *file;
    cpubind_linux_status status;
    if (!out)
        return fail_argument(fault);
    *out = NULL;
    if (!root || (!path && pid < 1))
        return fail_argument(fault);
    if (!path)
        cpubind_record_usual_path(root->sys->geteuid(), pid, CPUBIND_RECORD_SUFFIX, usual);
    file = make_file(root->sys, path ? path : usual);
    if (!file)
        return fail_memory(fault);
    file->pid = path ? 0 : pid;
    if (!is_base(file->base))
        status = fail_argument(fault);
    else if (strlen(file->base) > CPUBIND_RECORD_BASE_MAX)
        status = fail(ENAMETOOLONG, "name", fault);
    else if (path)
        status = cpubind_record_folder_of(root->sys, path, &file->dir, fault);
    else
        status =
            cpubind_record_folder_usual(root, mode == CPUBIND_RECORD_MAKE, &file->dir, fault);
    if (status == CPUBIND_LINUX_OK && mode != CPUBIND_RECORD_READ)
        status = lock(file, fault);
    if (status == CPUBIND_LINUX_OK)
        *out = file;
    else
        cpubind_record_close(file);
    return status;
}

const char *cpubind_record_path(const cpubind_record_file *file)
{
    return file->path;
}

/* The name of the lock goes while the lock is held: whoever has opened it by then sees that. */
void cpubind_record_close(cpubind_record_file *file)
{
    if (!file)
        return;
    if (file->lock >= 0) {
        (void)file->sys->unlinkat(file->dir, file->lock_name, 0);
        file->sys->close(file->lock);
    }
    if (file->dir >= 0)
        file->sys->close(file->dir);
    free(file);
}

/* == Reading ================================================================ */

/* Whether this is a file that only we can have written. 0 or an errno. */
static int look_at(const cpubind_sys *sys, int fd, struct stat *st)
{
    if (sys->fstat(fd, st) < 0)
        return errno;
    if (!S_ISREG(st->st_mode))
        return S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
    return st->st_uid == sys->geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH)) ? 0 : EPERM;
}

static cpubind_linux_status fail_long(cpubind_linux_fault *fault)
{
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_DAMAGED, EFBIG, "length", fault);
}

static cpubind_linux_status read_file(const cpubind_sys *sys, int fd, cpubind_bytes *bytes,
                                      cpubind_linux_fault *fault)
{
    struct stat st;
    int error = look_at(sys, fd, &st);
    if (error)
        return fail(error, "file", fault);
    if (st.st_size > CPUBIND_FILE_MAX)
        return fail_long(fault);
    while (bytes->len <= CPUBIND_FILE_MAX) {
        ssize_t n;
        if (cpubind_bytes_reserve(bytes, sys, 1).error)
            return fail_memory(fault);
        n = sys->read(fd, bytes->data + bytes->len, (size_t)(bytes->cap - bytes->len));
        if (n == 0)
            return CPUBIND_LINUX_OK;
        if (n > 0)
            bytes->len += (int32_t)n;
        else if (errno != EINTR)
            return fail(errno, "read", fault);
    }
    return fail_long(fault);
}

/* There is no file: ENOENT, unless cpubind 0.1 has left one of the process. */
static cpubind_linux_status fail_missing(const cpubind_record_file *file,
                                         cpubind_linux_fault *fault)
{
    char path[CPUBIND_RECORD_PATH_SIZE];
    int fd;
    if (!file->pid)
        return fail(ENOENT, "open", fault);
    cpubind_record_usual_path(file->sys->geteuid(), file->pid, CPUBIND_RECORD_OLDER, path);
    fd = cpubind_openat_retry(file->sys, file->dir, strrchr(path, '/') + 1,
                              O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fail(errno, "open", fault);
    file->sys->close(fd);
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_DAMAGED, EILSEQ, "older", fault);
}

cpubind_linux_status cpubind_record_load(cpubind_record_file *file, cpubind_record *out,
                                         cpubind_linux_fault *fault)
{
    const cpubind_sys *sys = file->sys;
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_linux_status status;
    int32_t line;
    memset(out, 0, sizeof *out);
    int fd = cpubind_openat_retry(sys, file->dir, file->base,
                                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? fail_missing(file, fault) : fail(errno, "open", fault);
    status = read_file(sys, fd, &bytes, fault);
    sys->close(fd); /* nothing was written: no result to lose */
    if (status == CPUBIND_LINUX_OK)
        status = cpubind_priv_record_parse(bytes.data, bytes.len, sys, out, &line, fault);
    cpubind_bytes_free(&bytes);
    if (status == CPUBIND_LINUX_OK && file->pid && out->pid != file->pid) {
        cpubind_record_free(out);
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_DAMAGED, EILSEQ, "pid", fault);
    }
    return status;
}

/* == Writing ================================================================ */

/* A new file of a temporary name, which is left in `name`. As openat(2). */
static int make_temp(const cpubind_record_file *file, char name[CPUBIND_RECORD_TEMP_SIZE])
{
    int fd = -1;
    for (int i = 0; i < TEMP_TRIES; i++) {
        cpubind_record_temp_name(file->base, getpid(), i, name);
        fd = create_retry(file->sys, file->dir, name);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    return fd;
}

/* Fills a new file and closes it. NULL, or the step that failed, with errno. */
static const char *fill(const cpubind_sys *sys, int fd, const cpubind_bytes *bytes)
{
    const char *what = NULL;
    if (cpubind_write_all(sys, fd, bytes->data, bytes->len) < 0)
        what = "write";
    else if (cpubind_fsync_retry(sys, fd) < 0)
        what = "sync";
    if (what)
        cpubind_close_quietly(sys, fd);
    else if (sys->close(fd) < 0 && errno != EINTR)
        what = "close"; /* where fsync is not known, a full disk may show only here */
    return what;
}

static cpubind_linux_status put_in_place(const cpubind_record_file *file,
                                         const cpubind_bytes *bytes, cpubind_linux_fault *fault)
{
    char name[CPUBIND_RECORD_TEMP_SIZE];
    const char *what;
    int fd = make_temp(file, name);
    if (fd < 0)
        return fail(errno, "create", fault);
    what = fill(file->sys, fd, bytes);
    if (!what && file->sys->rename(file->dir, name, file->base, 0) < 0)
        what = "rename";
    if (what) {
        int error = errno;
        (void)file->sys->unlinkat(file->dir, name, 0);
        return fail(error, what, fault);
    }
    return CPUBIND_LINUX_OK;
}

cpubind_linux_status cpubind_record_save(cpubind_record_file *file, const cpubind_record *state,
                                         cpubind_linux_fault *fault)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_linux_status status = cpubind_priv_record_format(state, file->sys, &bytes, fault);
    if (status == CPUBIND_LINUX_OK)
        status = put_in_place(file, &bytes, fault);
    cpubind_bytes_free(&bytes);
    return status;
}

cpubind_linux_status cpubind_record_remove(cpubind_record_file *file,
                                           cpubind_linux_fault *fault)
{
    if (file->sys->unlinkat(file->dir, file->base, 0) < 0 && errno != ENOENT)
        return fail(errno, "remove", fault);
    cpubind_record_folder_tidy(file->sys, file->dir, file->base);
    return CPUBIND_LINUX_OK;
}
