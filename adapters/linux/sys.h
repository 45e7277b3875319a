/* sys.h - the system calls of this folder, as one list
 * SPDX-License-Identifier: MIT
 *
 * The code of this folder makes every call that can fail through a cpubind_sys, allocations
 * included, so that a test can make each call fail at each of its uses. A function of the table
 * must not retry or decide anything, and sets errno as the call of its name does. Rules: the
 * manual pages. These functions differ from the call of their name, or no call has their name:
 *
 *   open_beneath       openat2(2) with RESOLVE_BENEATH; ENOSYS where the kernel or its headers
 *                      have no openat2
 *   statat             fstatat(2), which follows a symbolic link
 *   statat_known       statx(2) with AT_STATX_DONT_SYNC, which follows a symbolic link: the
 *                      type and the number of a device, as this kernel knows them; no server
 *                      and no daemon of a file system is asked: none can keep it waiting
 *   chmodat            fchmodat(2), which follows a symbolic link
 *   accessat           faccessat(2) by the effective ids, with AT_EACCESS
 *   max_files          getrlimit(2): how many descriptors this process may have open
 *   create             openat(2) that creates a file for writing; EEXIST where the name exists,
 *                      as a symbolic link too
 *   rename             renameat(2) within one folder
 *   pipe               pipe2(2), both ends close-on-exec and above the three standard files
 *   spawn              starts argv[0], found in an absolute folder of PATH, in a process group
 *                      of its own: stdout is `out`, stderr is `err`, both above 2, stdin is
 *                      /dev/null, no signal is blocked, ignored or handled. Returns 0 or an
 *                      errno, that of a failed exec too: ENOENT where there is no such command
 *   thread_start       pthread_create(3) with the default attributes: returns 0 or an errno
 *   getaffinity        sched_getaffinity(2), the system call and not the function of the C
 *                      library: returns the number of bytes of the mask that the kernel wrote
 *   setaffinity        sched_setaffinity(2), the system call
 *   perf_open          perf_event_open(2) for a thread, on every CPU, with is_user without what
 *                      the kernel does for it, close-on-exec: read(2) gives the count, the time
 *                      that it was wanted and the time that it was counted
 *   pidfd_open         ENOSYS where the kernel or its headers have none
 *   pagemap_scan       ioctl(2) with PAGEMAP_SCAN for the first page of a range of addresses
 *                      that is in memory: returns 1 and its address, or 0; ENOTTY where the
 *                      kernel has none
 *   exec               execvp(3) in the environment of this process
 *   pidfd_send_signal  pidfd_send_signal(2) without a siginfo, as kill(2) sends a signal;
 *                      ENOSYS where the kernel or its headers have none
 *   accept             accept4(2): the connection does not block
 *   epoll_open, epoll_wait, timer_open, signal_open   epoll(7), timerfd_create(2) of the
 *                      monotonic clock and signalfd(2), close-on-exec; the signals are blocked,
 *                      and do not block their reader
 *   epoll_set          epoll_ctl(2): waits for these events of a descriptor; 0: no longer
 *   epoll_wait         the descriptors that have events, without their events
 *   timer_set          timerfd_settime(2) to a time of the monotonic clock; 0: never
 *   malloc, realloc    free(3) frees the result
 *
 * The table holds struct stat as it is with 64 bits for off_t and ino_t: on a 32-bit machine a
 * caller with a table of its own compiles with -D_FILE_OFFSET_BITS=64.
 */
#ifndef CPUBIND_LINUX_SYS_H
#define CPUBIND_LINUX_SYS_H

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/utsname.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(result, name, parameters, arguments, result of a failure, function of the real table) */
#define CPUBIND_SYS_LIST(X)                                                                    \
    X(int, openat, (int dir, const char *path, int flags), (dir, path, flags), -1,             \
      real_openat)                                                                             \
    X(int, open_beneath, (int dir, const char *path, int flags), (dir, path, flags), -1,       \
      real_open_beneath)                                                                       \
    X(ssize_t, readlinkat, (int dir, const char *path, char *text, size_t cap),                \
      (dir, path, text, cap), -1, readlinkat)                                                  \
    X(int, fstat, (int fd, struct stat *out), (fd, out), -1, fstat)                            \
    X(int, statat, (int dir, const char *path, struct stat *out), (dir, path, out), -1,        \
      real_statat)                                                                             \
    X(int, statat_known, (int dir, const char *path, struct stat *out), (dir, path, out), -1,  \
      real_statat_known)                                                                       \
    X(int, accessat, (int dir, const char *path, int mode), (dir, path, mode), -1,             \
      real_accessat)                                                                           \
    X(ssize_t, read, (int fd, void *data, size_t cap), (fd, data, cap), -1, read)              \
    X(ssize_t, pread, (int fd, void *data, size_t cap, off_t at), (fd, data, cap, at), -1,     \
      pread)                                                                                   \
    X(int, max_files, (void), (), -1, real_max_files)                                          \
    X(int, close, (int fd), (fd), -1, close)                                                   \
    X(DIR *, fdopendir, (int fd), (fd), NULL, fdopendir)                                       \
    X(struct dirent *, readdir, (DIR * folder), (folder), NULL, readdir)                       \
    X(int, closedir, (DIR * folder), (folder), -1, closedir)                                   \
    X(int, uname, (struct utsname * out), (out), -1, uname)                                    \
    X(int, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode), -1, mkdirat)  \
    X(int, create, (int dir, const char *path, mode_t mode), (dir, path, mode), -1,            \
      real_create)                                                                             \
    X(ssize_t, write, (int fd, const void *data, size_t len), (fd, data, len), -1, write)      \
    X(int, fsync, (int fd), (fd), -1, fsync)                                                   \
    X(int, rename, (int dir, const char *from, const char *to), (dir, from, to), -1,           \
      real_rename)                                                                             \
    X(int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags), -1, unlinkat) \
    X(int, pipe, (int fd[2]), (fd), -1, real_pipe)                                             \
    X(int, spawn, (pid_t * pid, const char *const *argv, char *const *envp, int out, int err), \
      (pid, argv, envp, out, err), errno, real_spawn)                                          \
    X(int, poll, (struct pollfd * fds, nfds_t n, int timeout_ms), (fds, n, timeout_ms), -1,    \
      poll)                                                                                    \
    X(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options), -1,       \
      waitpid)                                                                                 \
    X(int, kill, (pid_t pid, int signal), (pid, signal), -1, kill)                             \
    X(int, thread_start, (pthread_t * out, void *(*run)(void *ctx), void *ctx),                \
      (out, run, ctx), errno, real_thread_start)                                               \
    X(int, getaffinity, (pid_t tid, size_t size_bytes, unsigned long *mask),                   \
      (tid, size_bytes, mask), -1, real_getaffinity)                                           \
    X(int, setaffinity, (pid_t tid, size_t size_bytes, const unsigned long *mask),             \
      (tid, size_bytes, mask), -1, real_setaffinity)                                           \
    X(int, perf_open, (pid_t tid, uint32_t type, uint64_t config, int is_user),                \
      (tid, type, config, is_user), -1, real_perf_open)                                        \
    X(long, move_pages,                                                                        \
      (pid_t pid, unsigned long n, void **page, const int *node, int *status, int flags),      \
      (pid, n, page, node, status, flags), -1, real_move_pages)                                \
    X(int, pagemap_scan, (int fd, uint64_t from, uint64_t to, uint64_t *found),                \
      (fd, from, to, found), -1, real_pagemap_scan)                                            \
    X(int, set_mempolicy, (int mode, const unsigned long *nodes, unsigned long n_bit),         \
      (mode, nodes, n_bit), -1, real_set_mempolicy)                                            \
    X(int, pidfd_open, (pid_t pid, unsigned int flags), (pid, flags), -1, real_pidfd_open)     \
    X(int, exec, (const char *file, char *const *argv), (file, argv), -1, execvp)              \
    X(int, pidfd_send_signal, (int pidfd, int signal), (pidfd, signal), -1,                    \
      real_pidfd_send_signal)                                                                  \
    X(int, flock, (int fd, int operation), (fd, operation), -1, flock)                         \
    X(uid_t, geteuid, (void), (), (uid_t)-1, geteuid)                                          \
    X(int, socket, (int family, int type, int protocol), (family, type, protocol), -1, socket) \
    X(int, connect, (int fd, const struct sockaddr *address, socklen_t len),                   \
      (fd, address, len), -1, connect)                                                         \
    X(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags),                     \
      (fd, message, flags), -1, sendmsg)                                                       \
    X(ssize_t, recv, (int fd, void *data, size_t cap, int flags), (fd, data, cap, flags), -1,  \
      recv)                                                                                    \
    X(int, getsockopt, (int fd, int level, int option, void *value, socklen_t *len),           \
      (fd, level, option, value, len), -1, getsockopt)                                         \
    X(int, bind, (int fd, const struct sockaddr *address, socklen_t len), (fd, address, len),  \
      -1, bind)                                                                                \
    X(int, setsockopt, (int fd, int level, int option, const void *value, socklen_t len),      \
      (fd, level, option, value, len), -1, setsockopt)                                         \
    X(ssize_t, recvfrom,                                                                       \
      (int fd, void *data, size_t cap, int flags, struct sockaddr *from, socklen_t *len),      \
      (fd, data, cap, flags, from, len), -1, recvfrom)                                         \
    X(int, listen, (int fd, int backlog), (fd, backlog), -1, listen)                           \
    X(int, accept, (int fd), (fd), -1, real_accept)                                            \
    X(int, fchmod, (int fd, mode_t mode), (fd, mode), -1, fchmod)                              \
    X(int, chmodat, (int dir, const char *path, mode_t mode), (dir, path, mode), -1,           \
      real_chmodat)                                                                            \
    X(int, epoll_open, (void), (), -1, real_epoll_open)                                        \
    X(int, epoll_set, (int epoll, int fd, uint32_t events), (epoll, fd, events), -1,           \
      real_epoll_set)                                                                          \
    X(int, epoll_wait, (int epoll, int *fds, int n, int timeout_ms),                           \
      (epoll, fds, n, timeout_ms), -1, real_epoll_wait)                                        \
    X(int, timer_open, (void), (), -1, real_timer_open)                                        \
    X(int, timer_set, (int fd, int64_t at_ms), (fd, at_ms), -1, real_timer_set)                \
    X(int, signal_open, (const int *numbers, int n), (numbers, n), -1, real_signal_open)       \
    X(void *, malloc, (size_t size_bytes), (size_bytes), NULL, malloc)                         \
    X(void *, realloc, (void *old, size_t size_bytes), (old, size_bytes), NULL, realloc)

#define CPUBIND_SYS_MEMBER(result, name, parameters, arguments, failure, real)                 \
    result(*name) parameters;
typedef struct cpubind_sys {
    CPUBIND_SYS_LIST(CPUBIND_SYS_MEMBER)
} cpubind_sys;
#undef CPUBIND_SYS_MEMBER

/* The calls of this kernel and C library; holds no state. */
extern const cpubind_sys cpubind_sys_real;

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_LINUX_SYS_H */
