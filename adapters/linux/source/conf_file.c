/* conf_file.c - read the configuration file, if its owner and its mode allow that
 * SPDX-License-Identifier: MIT
 *
 * Reads no key: conf.c does. Writes nothing.
 */
#include "conf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "../kernel/files.h"

/* A file that was changed so short a time ago may be half written: it is read again, and taken
 * when it was not changed meanwhile. */
#define SETTLE_MS 100
#define MAX_READS 20

static cpubind_linux_fault check(const cpubind_sys *sys, int fd, struct stat *info)
{
    if (sys->fstat(fd, info) != 0)
        return cpubind_fault_errno("fstat");
    if (!S_ISREG(info->st_mode))
        return cpubind_fault_of(S_ISDIR(info->st_mode) ? EISDIR : EINVAL, "kind");
    if (info->st_uid != 0 && info->st_uid != sys->geteuid())
        return cpubind_fault_of(EPERM, "owner");
    return cpubind_fault_of(info->st_mode & (S_IWGRP | S_IWOTH) ? EPERM : 0, "mode");
}

/* Reads the file, and what the kernel says of it before and after. */
static cpubind_linux_fault read_once(const cpubind_sys *sys, const char *path,
                                     cpubind_bytes *bytes, struct stat *info)
{
    int fd;
    /* O_NONBLOCK: a FIFO does not hang the service */
    cpubind_linux_fault why =
        cpubind_open(sys, AT_FDCWD, path, O_NONBLOCK | O_NOCTTY | O_CLOEXEC, &fd);
    if (why.error)
        return why;
    why = check(sys, fd, info);
    if (!why.error)
        why = cpubind_read_all(sys, fd, CPUBIND_CONF_MAX, bytes);
    if (!why.error)
        why = check(sys, fd, info);
    (void)sys->close(fd);
    return why;
}

static int is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Milliseconds since the last change; below 0 where the clocks do not agree. */
static int64_t age_ms(const struct stat *info)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return ((int64_t)now.tv_sec - (int64_t)info->st_mtim.tv_sec) * 1000 +
           ((int64_t)now.tv_nsec - (int64_t)info->st_mtim.tv_nsec) / 1000000;
}

cpubind_linux_fault cpubind_conf_read_file(const cpubind_sys *sys, const char *path,
                                           cpubind_bytes *bytes)
{
    struct stat before = {.st_ino = 0}, now = {.st_ino = 0};
    for (int i = 0; i < MAX_READS; i++) {
        cpubind_linux_fault why;
        bytes->len = 0;
        why = read_once(sys, path, bytes, &now);
        if (why.error)
            return why;
        if (now.st_size == bytes->len &&
            (age_ms(&now) >= SETTLE_MS || (i > 0 && is_same_file(&before, &now))))
            return why;
        before = now;
        (void)sys->poll(NULL, 0, SETTLE_MS);
    }
    return cpubind_fault_of(EAGAIN, "writer");
}
