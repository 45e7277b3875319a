/* sys.h - the system calls of this folder, as one table
 * SPDX-License-Identifier: MIT
 *
 * Every call that can fail goes through this table, memory included, so that a test can let
 * each of them fail at each of its calls. A function sets errno as the call of its name does,
 * unless it says otherwise. The real table holds no state.
 */
#ifndef CPUBIND_LINUX_SYS_H
#define CPUBIND_LINUX_SYS_H

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/utsname.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of `rename`, with the numbers of the kernel. */
#define CPUBIND_RENAME_NOREPLACE 1
#define CPUBIND_RENAME_EXCHANGE  2

typedef struct cpubind_sys {
    /* == files == */
    int (*open)(const char *path, int flags);
    int (*openat)(int dir, const char *path, int flags);
    /* openat2(2) with RESOLVE_BENEATH; ENOSYS where the kernel or its headers have none. */
    int (*open_beneath)(int dir, const char *path, int flags);
    ssize_t (*readlinkat)(int dir, const char *path, char *text, size_t cap);
    int (*fstat)(int fd, struct stat *out);
    ssize_t (*read)(int fd, void *data, size_t cap);
    int (*close)(int fd);
    DIR *(*fdopendir)(int fd);
    struct dirent *(*readdir)(DIR *folder);
    int (*closedir)(DIR *folder);
    int (*uname)(struct utsname *out);
    /* == writing == */
    int (*mkdirat)(int dir, const char *path, mode_t mode);
    /* openat(2) for writing a file that is not there yet: EEXIST else, for a link too. */
    int (*create)(int dir, const char *path, mode_t mode);
    ssize_t (*write)(int fd, const void *data, size_t len);
    int (*fsync)(int fd);
    /* renameat(2) within one folder; with flags renameat2(2), ENOSYS where there is none. */
    int (*rename)(int dir, const char *from, const char *to, int flags);
    int (*unlinkat)(int dir, const char *path, int flags);
    /* == commands == */
    /* A pipe, both ends close-on-exec. */
    int (*pipe)(int fd[2]);
    /* Starts argv[0], found on PATH, in a process group of its own: stdout is `out`, stdin and
     * stderr are /dev/null, no signal is blocked, ignored or handled. Returns 0 or an errno,
     * that of a failed exec too: ENOENT when there is no such command. */
    int (*spawn)(pid_t *pid, const char *const *argv, char *const *envp, int out);
    int (*poll)(struct pollfd *fds, nfds_t n, int timeout_ms);
    pid_t (*waitpid)(pid_t pid, int *status, int options);
    int (*kill)(pid_t pid, int signal);
    /* == threads == */
    /* pthread_create(3) with the usual attributes: returns 0 or an errno. */
    int (*thread_start)(pthread_t *out, void *(*run)(void *ctx), void *ctx);
    /* == CPUs and memory of a process == */
    /* The calls themselves, not those of the C library. getaffinity returns how many bytes of
     * the mask the kernel has written. */
    int (*getaffinity)(pid_t tid, size_t size_bytes, unsigned long *mask);
    int (*setaffinity)(pid_t tid, size_t size_bytes, const unsigned long *mask);
    long (*migrate_pages)(pid_t pid, unsigned long n_bit, const unsigned long *from,
                          const unsigned long *to);
    int (*set_mempolicy)(int mode, const unsigned long *nodes, unsigned long n_bit);
    int (*pidfd_open)(pid_t pid, unsigned int flags);
    /* execvp(3) in the environment of this process. */
    int (*exec)(const char *file, char *const *argv);
    /* pidfd_send_signal(2) as kill(2) does it; ENOSYS where there is none. */
    int (*pidfd_send_signal)(int pidfd, int signal);
    /* == locks, identity, a socket == */
    int (*flock)(int fd, int operation);
    uid_t (*geteuid)(void);
    int (*socket)(int family, int type, int protocol);
    int (*connect)(int fd, const struct sockaddr *address, socklen_t len);
    ssize_t (*sendmsg)(int fd, const struct msghdr *message, int flags);
    ssize_t (*recv)(int fd, void *data, size_t cap, int flags);
    int (*getsockopt)(int fd, int level, int option, void *value, socklen_t *len);
    /* == memory; what they return goes to free(3) == */
    void *(*malloc)(size_t size_bytes);
    void *(*realloc)(void *old, size_t size_bytes);
} cpubind_sys;

/* The calls of this kernel and C library. */
extern const cpubind_sys cpubind_sys_real;

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_LINUX_SYS_H */
