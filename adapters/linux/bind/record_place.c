/* record_place.c - where the record of a process is, and who else has one of it
 * SPDX-License-Identifier: MIT
 *
 * With --state FILE the usual folder has a file, <pid>.path, that names FILE: each command
 * finds the record by it. No link is made or followed. Reads no record, but for the question
 * whether one is of a process that lives.
 *
 *   <pid>.path = START " " PATH "\n"     START: field 22 of the process's stat; PATH: absolute
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "binding.h"

#define NAME_SIZE 24

static void name_of(int32_t pid, char name[NAME_SIZE])
{
    (void)snprintf(name, NAME_SIZE, "%ld" CPUBIND_RECORD_PLACE, (long)pid);
}

/* Reads the text of <pid>.path; "" if it is no file that this user alone may write to.
 *   errors  ENOENT: there is none; "open"; "read" */
static cpubind_linux_fault read_text(cpubind_root *root, int dir, int32_t pid,
                                     char text[CPUBIND_PLACE_SIZE + 24])
{
    const cpubind_sys *sys = root->sys;
    char name[NAME_SIZE];
    struct stat st;
    int fd;
    ssize_t n = 0;
    cpubind_linux_fault why;
    name_of(pid, name);
    why = cpubind_open(sys, dir, name,
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, &fd);
    if (why.error)
        return why;
    if (sys->fstat(fd, &st) < 0)
        why = cpubind_fault_errno("file");
    else if (S_ISREG(st.st_mode) && cpubind_is_mine(sys, &st))
        CPUBIND_RETRY(n, sys->read(fd, text, CPUBIND_PLACE_SIZE + 23));
    if (n < 0)
        why = cpubind_fault_errno("read");
    text[n < 0 ? 0 : n] = '\0';
    sys->close(fd);
    return why;
}

/* Reads the start and the path of a text. Returns 0 if it is no such text. */
static int parse_place(char *text, uint64_t *start, char path[CPUBIND_PLACE_SIZE])
{
    const size_t n = strlen(text);
    char *end;
    if (n < 4 || text[0] < '0' || text[0] > '9' || text[n - 1] != '\n')
        return 0;
    text[n - 1] = '\0';
    *start = strtoull(text, &end, 10);
    if (end[0] != ' ' || end[1] != '/' || strlen(end + 1) >= CPUBIND_PLACE_SIZE)
        return 0;
    memcpy(path, end + 1, strlen(end + 1) + 1);
    return 1;
}

/* Whether the record at a path is of this process. A process that has ended may have any start.
 * A record that makes no sense counts as one of it.
 *   out     *is_of; 0 without a file there, or on failure */
static cpubind_linux_fault check_record(cpubind_root *root, const char *path, int32_t pid,
                                        uint64_t start, int *is_of)
{
    cpubind_record_file *file;
    cpubind_record record;
    cpubind_linux_fault why = cpubind_record_open(root, path, pid, CPUBIND_RECORD_READ, &file);
    *is_of = 0;
    if (why.error)
        return why.error == ENOENT ? cpubind_no_fault : why;
    why = cpubind_record_load(file, &record);
    *is_of =
        why.error ? why.line > 0 : record.pid == pid && (start == 0 || record.start == start);
    cpubind_record_free(&record);
    cpubind_record_close(file);
    return why.error == ENOENT || why.line > 0 ? cpubind_no_fault : why;
}

cpubind_linux_fault cpubind_place_find(cpubind_root *root, int32_t pid, uint64_t start,
                                       char path[CPUBIND_PLACE_SIZE])
{
    int dir;
    cpubind_linux_fault why = cpubind_record_open_folder(root, NULL, 0, &dir);
    path[0] = '\0';
    if (why.error)
        return why.error == ENOENT ? cpubind_no_fault : why;
    why = cpubind_place_find_in(root, dir, pid, start, path);
    root->sys->close(dir);
    return why;
}

cpubind_linux_fault cpubind_place_find_in(cpubind_root *root, int dir, int32_t pid,
                                          uint64_t start, char path[CPUBIND_PLACE_SIZE])
{
    char text[CPUBIND_PLACE_SIZE + 24];
    uint64_t noted = 0;
    int is_of = 0;
    cpubind_linux_fault why = read_text(root, dir, pid, text);
    if (!why.error && parse_place(text, &noted, path) && (start == 0 || noted == start))
        why = check_record(root, path, pid, start, &is_of);
    if (!is_of)
        path[0] = '\0';
    return why.error == ENOENT ? cpubind_no_fault : why;
}

int cpubind_place_has_record(cpubind_root *root, int32_t pid)
{
    char path[CPUBIND_PLACE_SIZE], usual[CPUBIND_RECORD_PATH_SIZE];
    int fd;
    cpubind_bind_usual_path(root->sys->geteuid(), pid, usual);
    if (cpubind_open(root->sys, root->fd, usual + 1, O_PATH | O_NOFOLLOW | O_CLOEXEC, &fd)
            .error == ENOENT)
        return cpubind_place_find(root, pid, 0, path).error || *path;
    if (fd >= 0)
        root->sys->close(fd);
    return 1;
}

/* Writes the absolute path of a record file: that of its folder, as the kernel has it, and its
 * name. */
static cpubind_linux_fault absolute_path(cpubind_root *root, const cpubind_record_file *file,
                                         char path[CPUBIND_PLACE_SIZE])
{
    const char *base = strrchr(cpubind_record_path(file), '/');
    char link[40];
    ssize_t n;
    base = base ? base + 1 : cpubind_record_path(file);
    (void)snprintf(link, sizeof link, "proc/self/fd/%d", cpubind_record_folder(file));
    n = root->sys->readlinkat(root->fd, link, path, CPUBIND_PLACE_SIZE - 1);
    if (n < 0)
        return cpubind_fault_errno("path");
    if (path[0] != '/' || (size_t)n + 1 + strlen(base) >= CPUBIND_PLACE_SIZE)
        return cpubind_fault_of(ENAMETOOLONG, "path");
    if (n > 1)
        path[n++] = '/';
    memcpy(path + n, base, strlen(base) + 1);
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_place_note(cpubind_binding *b)
{
    char name[NAME_SIZE], path[CPUBIND_PLACE_SIZE], text[CPUBIND_PLACE_SIZE + 24];
    int dir, n;
    cpubind_linux_fault why = absolute_path(&b->root, b->file, path);
    if (!why.error)
        why = cpubind_record_open_folder(&b->root, NULL, 1, &dir);
    if (why.error)
        return why;
    name_of(b->options.pid, name);
    n = snprintf(text, sizeof text, "%llu %s\n", (unsigned long long)b->start, path);
    why = cpubind_replace(b->sys, dir, name, 0600, text, (int32_t)n);
    b->sys->close(dir);
    return why;
}

void cpubind_place_forget(cpubind_root *root, int32_t pid)
{
    char name[NAME_SIZE];
    int dir;
    name_of(pid, name);
    if (cpubind_record_open_folder(root, NULL, 0, &dir).error)
        return;
    (void)root->sys->unlinkat(dir, name, 0);
    root->sys->close(dir);
}

/* Whether another file is the record of this process, which lives. */
static int has_another_record(cpubind_binding *b, char path[CPUBIND_PLACE_SIZE])
{
    char usual[CPUBIND_RECORD_PATH_SIZE], own[CPUBIND_PLACE_SIZE];
    int is_of = 0;
    if (absolute_path(&b->root, b->file, own).error)
        return 0;
    if (!cpubind_place_find(&b->root, b->options.pid, b->start, path).error && *path)
        return strcmp(path, own) != 0;
    cpubind_bind_usual_path(b->sys->geteuid(), b->options.pid, usual);
    memcpy(path, usual, strlen(usual) + 1);
    (void)check_record(&b->root, NULL, b->options.pid, b->start, &is_of);
    return is_of && strcmp(usual, own) != 0;
}

/* Seconds since the epoch when a process began. */
static int64_t begin_of(uint64_t start)
{
    struct timespec boot = {0, 0};
    (void)clock_gettime(CLOCK_BOOTTIME, &boot);
    return (int64_t)time(NULL) - (int64_t)boot.tv_sec +
           (int64_t)(start / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Whether the usual folder of another user has a file of this process. Only that user can read
 * it: a file that is older than the process is of an earlier one. */
static int has_record_of_user(cpubind_binding *b, uid_t uid, char path[CPUBIND_PLACE_SIZE])
{
    static const char *const ends[] = {CPUBIND_RECORD_SUFFIX, CPUBIND_RECORD_PLACE};
    char usual[CPUBIND_RECORD_PATH_SIZE];
    struct stat st;
    cpubind_bind_usual_path(uid, b->options.pid, usual);
    usual[strlen(usual) - (sizeof CPUBIND_RECORD_SUFFIX - 1)] = '\0';
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int fd, is_there;
        (void)snprintf(path, CPUBIND_PLACE_SIZE, "%s%s", usual, ends[i]);
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

/* Whether the record is of another process, and that one lives. */
static int is_of_another_process(cpubind_binding *b)
{
    const cpubind_record *r = &b->record;
    cpubind_proc_stat stat;
    return b->phase == CPUBIND_PHASE_BOUND && r->pid != b->options.pid &&
           r->pid_namespace == b->pid_namespace && cpubind_is_same_boot(r->boot, b->boot) &&
           !cpubind_proc_stat_read(&b->root, r->pid, 0, &stat).error && stat.start == r->start;
}

cpubind_linux_fault cpubind_place_check(cpubind_binding *b, char path[CPUBIND_PLACE_SIZE])
{
    const char *what = NULL;
    if (is_of_another_process(b))
        what = "another process";
    else if (b->task_dir_fd < 0)
        return cpubind_no_fault;
    else if (b->options.record_path && has_another_record(b, path))
        what = "another record";
    else if (b->phase == CPUBIND_PHASE_NEW && has_record_of_another_user(b, path))
        what = "another user";
    return cpubind_fault_of(what ? EEXIST : 0, what);
}
