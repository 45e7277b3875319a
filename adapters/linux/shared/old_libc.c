/* old_libc.c - what libcpubind.so.1 would need of a newer C library than hosts have
 * SPDX-License-Identifier: MIT
 *
 * Linked into the shared library alone, so that it runs with glibc 2.28. Since 2.33 fstat and
 * fstatat are functions of their own there; before, they were inline calls of __fxstat. Since
 * 2.34 threads are a part of the C library; the shared library starts none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_fstat64
#define CALL_FSTAT SYS_fstat64
#else
#define CALL_FSTAT SYS_fstat
#endif
#ifdef SYS_newfstatat
#define CALL_FSTATAT SYS_newfstatat
#else
#define CALL_FSTATAT SYS_fstatat64
#endif

int old_fstat(int fd, struct stat *out) __asm__("fstat64")
    __attribute__((visibility("hidden")));
int old_fstatat(int fd, const char *path, struct stat *out, int flags) __asm__("fstatat64")
    __attribute__((visibility("hidden")));
int old_pthread_create(void *thread, const void *how, void *(*run)(void *),
                       void *ctx) __asm__("pthread_create")
    __attribute__((visibility("hidden")));

int old_fstat(int fd, struct stat *out)
{
    return (int)syscall(CALL_FSTAT, fd, out);
}

int old_fstatat(int fd, const char *path, struct stat *out, int flags)
{
    return (int)syscall(CALL_FSTATAT, fd, path, out, flags);
}

/* "No more threads may be started": each caller does the work in its own thread then. */
int old_pthread_create(void *thread, const void *how, void *(*run)(void *), void *ctx)
{
    (void)thread;
    (void)how;
    (void)run;
    (void)ctx;
    return EAGAIN;
}
