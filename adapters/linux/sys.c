/* sys.c - the real table of system calls
 * SPDX-License-Identifier: MIT
 *
 * Thin wrappers: no retries and no decisions; callers retry and decide, where tests reach them.
 * Rules: the manual pages of the calls, and the contracts at the head of sys.h.
 */
#define _GNU_SOURCE
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "search_path.h"

/* Without large files a 32-bit machine cannot read a folder whose inodes have large numbers: it
 * knows no NUMA node then. Compile with -D_FILE_OFFSET_BITS=64. */
_Static_assert(sizeof(off_t) == 8 && sizeof(ino_t) == 8, "off_t and ino_t have 64 bits");

static int real_openat(int dir, const char *path, int flags)
{
    return openat(dir, path, flags);
}

#ifdef SYS_openat2
/* struct open_how and RESOLVE_BENEATH of <linux/openat2.h>, which older libraries do not have.
 * The kernel reads the version of the struct from its size. */
struct open_how_v0 {
    uint64_t flags, mode, resolve;
};
#define BENEATH 0x08

static int real_open_beneath(int dir, const char *path, int flags)
{
    struct open_how_v0 how = {(uint64_t)flags, 0, BENEATH};
    return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}
#else
static int real_open_beneath(int dir, const char *path, int flags)
{
    (void)dir, (void)path, (void)flags;
    errno = ENOSYS;
    return -1;
}
#endif

static int real_statat(int dir, const char *path, struct stat *out)
{
    return fstatat(dir, path, out, 0);
}

static int real_statat_known(int dir, const char *path, struct stat *out)
{
    struct statx known;
    if (statx(dir, path, AT_STATX_DONT_SYNC, STATX_TYPE, &known) < 0)
        return -1;
    memset(out, 0, sizeof *out);
    out->st_mode = known.stx_mode;
    out->st_rdev = makedev(known.stx_rdev_major, known.stx_rdev_minor);
    return 0;
}

static int real_accessat(int dir, const char *path, int mode)
{
    return faccessat(dir, path, mode, AT_EACCESS);
}

static int real_create(int dir, const char *path, mode_t mode)
{
    return openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

static int real_max_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return -1;
    return limit.rlim_cur < INT_MAX ? (int)limit.rlim_cur : INT_MAX;
}

static int real_rename(int dir, const char *from, const char *to)
{
    return renameat(dir, from, dir, to);
}

static int real_chmodat(int dir, const char *path, mode_t mode)
{
    return fchmodat(dir, path, mode, 0);
}

static int real_perf_open(pid_t tid, uint32_t type, uint64_t config, int is_user)
{
    struct perf_event_attr wish = {.type = type,
                                   .size = sizeof wish,
                                   .config = config,
                                   .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING,
                                   .exclude_kernel = is_user != 0,
                                   .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &wish, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int real_thread_start(pthread_t *out, void *(*run)(void *ctx), void *ctx)
{
    return pthread_create(out, NULL, run, ctx);
}

static int real_getaffinity(pid_t tid, size_t size_bytes, unsigned long *mask)
{
    return (int)syscall(SYS_sched_getaffinity, tid, size_bytes, mask);
}

static int real_setaffinity(pid_t tid, size_t size_bytes, const unsigned long *mask)
{
    return (int)syscall(SYS_sched_setaffinity, tid, size_bytes, mask);
}

static long real_move_pages(pid_t pid, unsigned long n, void **page, const int *node,
                            int *status, int flags)
{
    return syscall(SYS_move_pages, pid, n, page, node, status, flags);
}

/* The types and numbers of linux/fs.h, which older headers lack. */
struct scan_region {
    uint64_t start, end, categories;
};

struct scan_request {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t inverted, mask, anyof_mask, return_mask;
};

#define SCAN_PRESENT (UINT64_C(1) << 3)

static int real_pagemap_scan(int fd, uint64_t from, uint64_t to, uint64_t *found)
{
    struct scan_region region = {0, 0, 0};
    struct scan_request request = {.size = sizeof request,
                                   .start = from,
                                   .end = to,
                                   .vec = (uint64_t)(uintptr_t)&region,
                                   .vec_len = 1,
                                   .max_pages = 1,
                                   .mask = SCAN_PRESENT,
                                   .return_mask = SCAN_PRESENT};
    const int n = ioctl(fd, _IOWR('f', 16, struct scan_request), &request);
    if (n > 0)
        *found = region.start;
    return n;
}

static int real_set_mempolicy(int mode, const unsigned long *nodes, unsigned long n_bit)
{
    return (int)syscall(SYS_set_mempolicy, mode, nodes, n_bit);
}

static int real_accept(int fd)
{
    return accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static int real_epoll_open(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

static int real_epoll_set(int epoll, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data = {.fd = fd}};
    if (events == 0)
        return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &event);
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) == 0)
        return 0;
    return errno == ENOENT ? epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) : -1;
}

#define MAX_EVENTS 32 /* of one call */

static int real_epoll_wait(int epoll, int *fds, int n, int timeout_ms)
{
    struct epoll_event event[MAX_EVENTS];
    const int got = epoll_wait(epoll, event, n < MAX_EVENTS ? n : MAX_EVENTS, timeout_ms);
    for (int i = 0; i < got; i++)
        fds[i] = event[i].data.fd;
    return got;
}

static int real_timer_open(void)
{
    return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

static int real_timer_set(int fd, int64_t at_ms)
{
    const struct itimerspec at = {
        .it_value = {(time_t)(at_ms / 1000), (long)(at_ms % 1000) * 1000000}};
    return timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static int real_signal_open(const int *numbers, int n)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < n; i++)
        sigaddset(&set, numbers[i]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

#ifdef SYS_pidfd_open
static int real_pidfd_open(pid_t pid, unsigned int flags)
{
    return (int)syscall(SYS_pidfd_open, pid, flags);
}
#else
static int real_pidfd_open(pid_t pid, unsigned int flags)
{
    (void)pid, (void)flags;
    errno = ENOSYS;
    return -1;
}
#endif

#ifdef SYS_pidfd_send_signal
static int real_pidfd_send_signal(int pidfd, int signal)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}
#else
static int real_pidfd_send_signal(int pidfd, int signal)
{
    (void)pidfd, (void)signal;
    errno = ENOSYS;
    return -1;
}
#endif

/* In a caller whose standard files are closed, an end of the pipe may get the number of one:
 * setting the standard files of a child, one after the other, would replace it. */
static int real_pipe(int fd[2])
{
    if (pipe2(fd, O_CLOEXEC) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        int above = fd[i] > STDERR_FILENO ? fd[i] : fcntl(fd[i], F_DUPFD_CLOEXEC, 3);
        if (above == fd[i])
            continue;
        int error = errno;
        close(fd[i]);
        fd[i] = above;
        if (above < 0) {
            close(fd[1 - i]);
            errno = error;
            return -1;
        }
    }
    return 0;
}

/* Sets the three standard files of the child. */
static int set_files(posix_spawn_file_actions_t *files, int out, int err)
{
    int error = posix_spawn_file_actions_adddup2(files, out, STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(files, err, STDERR_FILENO);
    if (!error)
        error = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    return error;
}

static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    sigfillset(&all);
    sigdelset(&all, SIGKILL); /* no process may change these two, */
    sigdelset(&all, SIGSTOP); /* and the kernel may refuse a set with them */
    sigemptyset(&none);
    int error = posix_spawnattr_setsigdefault(attributes, &all);
    if (!error)
        error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error)
        error = posix_spawnattr_setpgroup(attributes, 0);
    if (!error)
        error = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    return error;
}

/* Starts argv[0] from the first absolute folder of PATH that has it; a name with "/" is a file.
 * Returns 0 or an errno: EACCES only if no folder has one that may be executed. A folder that
 * may not be searched, as /root/bin in a PATH that was inherited, has none. posix_spawnp(3)
 * would look into the current folder too, if PATH has an empty part. */
static int spawn_on_path(pid_t *pid, const char *const *argv, char *const *envp,
                         const posix_spawn_file_actions_t *files,
                         const posix_spawnattr_t *attributes)
{
    const char *rest = getenv("PATH"), *folder;
    char *const *words = (char *const *)argv; /* posix_spawn(3) does not write them */
    char full[PATH_MAX];
    int error = ENOENT;
    size_t n;
    if (strchr(argv[0], '/'))
        return posix_spawn(pid, argv[0], files, attributes, words, envp);
    if (!rest)
        rest = "/bin:/usr/bin"; /* as the C library does */
    while ((folder = cpubind_next_folder(&rest, &n)) != NULL) {
        if (n + strlen(argv[0]) + 2 > sizeof full)
            continue;
        snprintf(full, sizeof full, "%.*s/%s", (int)n, folder, argv[0]);
        int failed = faccessat(AT_FDCWD, full, X_OK, AT_EACCESS) ? errno : 0;
        if (!failed)
            failed = posix_spawn(pid, full, files, attributes, words, envp);
        if (!failed)
            return 0;
        full[n] = '\0';
        if (failed == EACCES && faccessat(AT_FDCWD, full, X_OK, AT_EACCESS) == 0)
            error = EACCES;
        else if (failed != EACCES && failed != ENOENT && failed != ENOTDIR)
            return failed;
    }
    return error;
}

/* posix_spawn returns the errno of a failed exec, so that a missing command differs from a
 * command that exits 127; and it copies no page table, however large the caller is. */
static int real_spawn(pid_t *pid, const char *const *argv, char *const *envp, int out, int err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = set_files(&files, out, err);
        if (!error)
            error = set_attributes(&attributes);
        if (!error)
            error = spawn_on_path(pid, argv, envp, &files, &attributes);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

#define MEMBER(result, name, parameters, arguments, failure, real) .name = real,
const cpubind_sys cpubind_sys_real = {CPUBIND_SYS_LIST(MEMBER)};
