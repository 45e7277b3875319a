/* proc_shim.c - a shim (LD_PRELOAD) for what a command reads about processes
 * SPDX-License-Identifier: MIT
 *
 *   CPUBIND_ENDS_PID=N CPUBIND_ENDS_AT=K   before the K-th file of process N that is opened,
 *                                          the process is killed, and its end is waited for. It
 *                                          says so on stderr
 *   CPUBIND_HIDES=NAME                     no link of this name may be read, as where a filter
 *                                          or rights hide which program a process runs
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int opener(int dir, const char *path, int flags, ...);

static opener *real_openat(void)
{
    static opener *real;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "openat");
    return real;
}

/* Whether it is gone, or waits for its parent. */
static int has_ended(const char *pid)
{
    char name[64], text[256] = "";
    int fd;
    ssize_t n;
    (void)snprintf(name, sizeof name, "/proc/%s/stat", pid);
    fd = real_openat()(AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 1;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    return n <= 0 || strstr(text, ") Z ") != NULL;
}

static void look_at(const char *path)
{
    static int n;
    const char *pid = getenv("CPUBIND_ENDS_PID"), *at = getenv("CPUBIND_ENDS_AT");
    char part[32];
    if (!pid || !at)
        return;
    (void)snprintf(part, sizeof part, "proc/%s/", pid);
    if (!strstr(path, part) || ++n != atoi(at))
        return;
    fprintf(stderr, "ends before %s\n", path);
    kill((pid_t)atoi(pid), SIGKILL);
    while (!has_ended(pid))
        (void)poll(NULL, 0, 1);
}

int openat(int dir, const char *path, int flags, ...)
{
    va_list list;
    int mode;
    va_start(list, flags);
    mode = va_arg(list, int);
    va_end(list);
    look_at(path);
    return real_openat()(dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...) __attribute__((alias("openat")));

ssize_t readlinkat(int dir, const char *path, char *out, size_t size)
{
    const char *hidden = getenv("CPUBIND_HIDES"), *name = strrchr(path, '/');
    if (hidden && strcmp(name ? name + 1 : path, hidden) == 0) {
        errno = EPERM;
        return -1;
    }
    return syscall(SYS_readlinkat, dir, path, out, size);
}
