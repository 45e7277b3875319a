/* record_place.c - who has a record of a process
 * SPDX-License-Identifier: MIT
 *
 * Reads no record. No link is followed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../kernel/run_folder.h"
#include "binding.h"

int cpubind_place_has_record(cpubind_root *root, int32_t pid)
{
    char name[CPUBIND_RECORD_NAME_SIZE];
    int dir, fd = -1;
    cpubind_linux_fault why = cpubind_run_folder_open(root, 0, &dir);
    if (why.error)
        return why.error != ENOENT;
    cpubind_record_name(pid, name);
    why = cpubind_open(root->sys, dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, &fd);
    root->sys->close(dir);
    if (fd >= 0)
        root->sys->close(fd);
    return why.error != ENOENT;
}

/* Seconds since the epoch when a process began. */
static int64_t begin_of(uint64_t start)
{
    struct timespec boot = {0, 0};
    (void)clock_gettime(CLOCK_BOOTTIME, &boot);
    return (int64_t)time(NULL) - (int64_t)boot.tv_sec +
           (int64_t)(start / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Whether a folder of another user has a file of this process. Only that user can read it: a
 * file that is older than the process is of an earlier one. */
static int has_record_of_user(cpubind_binding *b, uid_t uid, char path[CPUBIND_PLACE_SIZE])
{
    struct stat st;
    for (int i = 0; cpubind_run_folder_of(uid, i, path); i++) {
        const size_t n = strlen(path);
        int fd, is_there;
        path[n] = '/';
        cpubind_record_name(b->options.pid, path + n + 1);
        if (cpubind_open(b->sys, b->root.fd, path + 1, O_PATH | O_NOFOLLOW | O_CLOEXEC, &fd)
                .error)
            continue;
        is_there = b->sys->fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == uid &&
                   (int64_t)st.st_mtime + 1 >= begin_of(b->start);
        b->sys->close(fd);
        if (is_there)
            return 1;
    }
    return 0;
}

static int has_record_of_another_user(cpubind_binding *b, char path[CPUBIND_PLACE_SIZE])
{
    const uid_t self = b->sys->geteuid();
    struct stat st;
    if (b->sys->fstat(b->task_dir_fd, &st) < 0)
        return 0;
    return (self != 0 && has_record_of_user(b, 0, path)) ||
           (self != st.st_uid && has_record_of_user(b, st.st_uid, path));
}

cpubind_linux_fault cpubind_place_check(cpubind_binding *b, char path[CPUBIND_PLACE_SIZE])
{
    const int is_others = b->task_dir_fd >= 0 && b->phase == CPUBIND_PHASE_NEW &&
                          has_record_of_another_user(b, path);
    return cpubind_fault_of(is_others ? EEXIST : 0, is_others ? "another user" : NULL);
}
