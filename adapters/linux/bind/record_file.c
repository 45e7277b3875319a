/* record_file.c - the file of a record: opening, locking, reading and replacing it
 * SPDX-License-Identifier: MIT
 *
 * Touches the file, its lock and its temporary files only. The rules are in record.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kernel/run_folder.h"
#include "record.h"

/* How often the lock is tried when others remove its file at the same time. */
#define LOCK_TRIES 100

/* How often a process that waits tries the lock, and looks who has it. */
#define PAUSE_MS 2
#define LOOK_MS  200

/* When who waits is said first, and how often from then on. */
#define FIRST_WORD_MS 3000
#define WORD_MS       10000

struct cpubind_record_file {
    const cpubind_sys *sys;
    int dir, lock;                       /* -1: not open */
    int32_t pid;                         /* that the file must be of; 0: of the host */
    char form[CPUBIND_RECORD_FORM_SIZE]; /* cpubind_record_form */
    char *base;                          /* the name within the folder */
    char *lock_name;
    char path[]; /* and after it the other two */
};

/* == The lock =============================================================== */

/* Opens the file of the lock; makes it when it is not there. ENOENT: it was removed since. */
static cpubind_linux_fault open_lock(const cpubind_record_file *file, int *fd)
{
    cpubind_linux_fault why = cpubind_create(file->sys, file->dir, file->lock_name, 0600, fd);
    if (why.error != EEXIST)
        return why;
    return cpubind_open(file->sys, file->dir, file->lock_name,
                        O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, fd);
}

/* EPERM: an open file is no regular file of this user, or has another name: in a sticky folder
 * anybody may link a file of this user, which is to be left alone, to the name of a lock. */
static cpubind_linux_fault check_opened(const cpubind_sys *sys, int fd, struct stat *st)
{
    if (sys->fstat(fd, st) < 0)
        return cpubind_fault_errno("lock");
    return cpubind_fault_of(
        !S_ISREG(st->st_mode) || st->st_uid != sys->geteuid() || st->st_nlink > 1 ? EPERM : 0,
        "lock");
}

/* Whether who waits for the lock has waited enough; says that it waits. */
static int is_wait_over(cpubind_record_file *file, cpubind_record_wait *wait)
{
    const int64_t now_ms = cpubind_now_ms();
    if (wait->begin_ms == 0) {
        wait->begin_ms = wait->since_ms = now_ms;
        wait->word_ms = now_ms + FIRST_WORD_MS;
    }
    if (now_ms >= wait->look_ms) {
        const cpubind_record_holder holder = cpubind_record_read_holder(file);
        if (holder.pid != wait->holder.pid || holder.start != wait->holder.start)
            wait->since_ms = now_ms;
        wait->holder = holder;
        wait->look_ms = now_ms + LOOK_MS;
    }
    if ((wait->stop && wait->stop(wait->stop_ctx)) || now_ms - wait->since_ms >= wait->limit_ms)
        return 1;
    if (wait->hear && now_ms >= wait->word_ms) {
        wait->hear(wait->hear_ctx, wait->holder.pid, now_ms - wait->begin_ms);
        wait->word_ms = now_ms + WORD_MS;
    }
    return 0;
}

/* Whether the name still leads to the locked file: the cpubind that had the lock before may
 * have removed it. ESTALE: it does not. */
static cpubind_linux_fault check_name(const cpubind_record_file *file,
                                      const struct stat *locked)
{
    struct stat st;
    int fd;
    cpubind_linux_fault why = cpubind_open(file->sys, file->dir, file->lock_name,
                                           O_PATH | O_NOFOLLOW | O_CLOEXEC, &fd);
    if (why.error)
        return cpubind_fault_of(why.error == ENOENT ? ESTALE : why.error, "lock");
    if (file->sys->fstat(fd, &st) < 0)
        why = cpubind_fault_errno("lock");
    else if (st.st_dev != locked->st_dev || st.st_ino != locked->st_ino)
        why = cpubind_fault_of(ESTALE, "lock");
    file->sys->close(fd);
    return why;
}

/* One try. ESTALE: to be tried again. */
static cpubind_linux_fault try_lock(cpubind_record_file *file)
{
    struct stat st;
    int fd;
    cpubind_linux_fault why = open_lock(file, &fd);
    if (why.error)
        return cpubind_fault_of(why.error == ENOENT ? ESTALE : why.error, "lock");
    why = check_opened(file->sys, fd, &st);
    if (!why.error)
        why = cpubind_lock(file->sys, fd);
    if (!why.error)
        why = check_name(file, &st);
    if (why.error)
        file->sys->close(fd);
    else
        file->lock = fd;
    return why;
}

/* EWOULDBLOCK: another cpubind holds it, or with `wait` has held it for too long. */
static cpubind_linux_fault lock(cpubind_record_file *file, cpubind_record_wait *wait)
{
    for (int64_t tries = 1;; tries++) {
        const cpubind_linux_fault why = try_lock(file);
        const int is_often = tries >= LOCK_TRIES;
        if (why.error != ESTALE && (why.error != EWOULDBLOCK || !wait))
            return why;
        if (why.error == ESTALE && !is_often)
            continue;
        if (!wait || is_wait_over(file, wait))
            return cpubind_fault_of(EWOULDBLOCK, "lock");
        (void)file->sys->poll(NULL, 0, PAUSE_MS);
    }
}

/* The length of the text of a lock file is fixed: a shorter text would leave the end of the one
 * before it. */
#define HOLDER_SIZE 40

void cpubind_record_sign(const cpubind_record_file *file, const cpubind_record_holder *holder)
{
    char text[HOLDER_SIZE];
    const int n = snprintf(text, sizeof text, "%10ld %20llu %-5s\n", (long)holder->pid,
                           (unsigned long long)holder->start,
                           holder->is_service    ? "serve"
                           : holder->is_watching ? "watch"
                                                 : "work");
    if (file->lock >= 0 && n > 0 && (size_t)n < sizeof text)
        (void)file->sys->write(file->lock, text, (size_t)n);
}

cpubind_record_holder cpubind_record_read_holder(const cpubind_record_file *file)
{
    static const cpubind_record_holder nobody = {0};
    char text[HOLDER_SIZE + 1] = "", *end = text;
    unsigned long long pid, start;
    struct stat st;
    ssize_t n;
    int fd;
    if (cpubind_open(file->sys, file->dir, file->lock_name,
                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, &fd)
            .error)
        return nobody;
    n = !check_opened(file->sys, fd, &st).error && !(st.st_mode & (S_IWGRP | S_IWOTH))
            ? file->sys->read(fd, text, HOLDER_SIZE)
            : -1;
    file->sys->close(fd);
    pid = strtoull(text, &end, 10);
    start = strtoull(end, &end, 10);
    if (n <= 0 || pid < 1 || pid > INT32_MAX || *end != ' ')
        return nobody;
    return (cpubind_record_holder){(int32_t)pid, start, strncmp(end, " watch", 6) == 0,
                                   strncmp(end, " serve", 6) == 0};
}

/* == Opening and closing ==================================================== */

/* A file of this name in a folder, nothing of it open. */
static cpubind_record_file *make_file(const cpubind_sys *sys, const char *folder,
                                      const char *base)
{
    const size_t n = strlen(folder) + 1, n_base = strlen(base);
    cpubind_record_file *file = (cpubind_record_file *)sys->malloc(sizeof *file + n + n_base +
                                                                   1 + n_base + sizeof ".lock");
    if (!file)
        return NULL;
    *file = (cpubind_record_file){.sys = sys, .dir = -1, .lock = -1};
    file->base = file->path + n;
    file->lock_name = file->base + n_base + 1;
    memcpy(file->path, folder, n);
    file->base[-1] = '/';
    memcpy(file->base, base, n_base + 1);
    memcpy(file->lock_name, base, n_base);
    memcpy(file->lock_name + n_base, ".lock", sizeof ".lock");
    return file;
}

cpubind_linux_fault cpubind_record_open(cpubind_root *root, int32_t pid,
                                        cpubind_record_mode mode, cpubind_record_wait *wait,
                                        cpubind_record_file **out)
{
    char folder[CPUBIND_RUN_PATH_SIZE], name[CPUBIND_RECORD_NAME_SIZE];
    cpubind_record_file *file;
    cpubind_linux_fault why;
    if (out)
        *out = NULL;
    if (!out || !root || pid < CPUBIND_RECORD_HOST)
        return cpubind_fault_of(EINVAL, "argument");
    why = cpubind_run_folder_path(root, folder);
    if (why.error)
        return why;
    cpubind_record_name(pid, name);
    file = make_file(root->sys, folder, name);
    if (!file)
        return cpubind_fault_of(ENOMEM, "memory");
    file->pid = pid;
    why = cpubind_run_folder_open(root, mode == CPUBIND_RECORD_MAKE, &file->dir);
    if (!why.error && mode != CPUBIND_RECORD_READ)
        why = lock(file, wait);
    if (!why.error)
        *out = file;
    else
        cpubind_record_close(file);
    return why;
}

const char *cpubind_record_path(const cpubind_record_file *file)
{
    return file->path;
}

/* Removes the lock file while the lock is held: a process that has opened it by then sees that
 * (check_name). */
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

cpubind_linux_fault cpubind_record_read(cpubind_record_file *file, cpubind_bytes *out)
{
    return cpubind_read_mine(file->sys, file->dir, file->base, CPUBIND_FILE_MAX, out);
}

const char *cpubind_record_form(const cpubind_record_file *file)
{
    return file->form;
}

cpubind_linux_fault cpubind_record_load(cpubind_record_file *file, cpubind_record *out)
{
    const cpubind_sys *sys = file->sys;
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_linux_fault why = cpubind_record_read(file, &bytes);
    memset(out, 0, sizeof *out);
    if (!why.error)
        why = cpubind_record_parse(bytes.data, bytes.len, sys, out);
    if (why.line == 1 && strcmp(why.what, "form") == 0)
        cpubind_record_form_of(bytes.data, bytes.len, file->form);
    cpubind_bytes_free(&bytes);
    if (!why.error && file->pid && out->pid != file->pid) {
        cpubind_record_free(out);
        why = (cpubind_linux_fault){EILSEQ, "pid", 2};
    }
    return why;
}

/* == Writing ================================================================ */

cpubind_linux_fault cpubind_record_write(cpubind_record_file *file, const cpubind_bytes *bytes)
{
    return cpubind_replace(file->sys, file->dir, file->base, 0600, bytes->data, bytes->len);
}

cpubind_linux_fault cpubind_record_save(cpubind_record_file *file, const cpubind_record *record)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_linux_fault why = cpubind_record_format(record, file->sys, &bytes);
    if (!why.error)
        why = cpubind_record_write(file, &bytes);
    cpubind_bytes_free(&bytes);
    return why;
}

/* While the lock is held, nobody writes to a temporary file. */
void cpubind_record_remove_temps(cpubind_record_file *file)
{
    cpubind_remove_temps(file->sys, file->dir, file->base);
}

cpubind_linux_fault cpubind_record_remove(cpubind_record_file *file)
{
    if (file->sys->unlinkat(file->dir, file->base, 0) < 0 && errno != ENOENT)
        return cpubind_fault_errno("remove");
    cpubind_record_remove_temps(file);
    return cpubind_no_fault;
}
