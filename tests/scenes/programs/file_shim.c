/* file_shim.c - one call on the files of a folder fails: a library before the C library
 * SPDX-License-Identifier: MIT
 *
 * FAIL_FOLDER=PATH, FAIL_AT=N: the N-th call on it, or on a file in it. FAIL_WAY: "eio";
 * "full": a write is cut short, and there is no room; "kill": the process ends in the middle of
 * a write, and writes alone are counted; "read": EIO of what only reads; "memory": allocations
 * of SQLite alone are counted. FAIL_ON=1: all after it fail too. At the end FAIL_SAID has the
 * number of calls that failed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST_FILES = 1024 };

static unsigned char is_ours[MOST_FILES];
static int n_call, n_failed;

static const char *way(void)
{
    const char *word = getenv("FAIL_WAY");
    return word ? word : "";
}

static int in_folder(const char *path)
{
    const char *folder = getenv("FAIL_FOLDER");
    return folder && strncmp(path, folder, strlen(folder)) == 0;
}

static void say_failed(void)
{
    const char *path = getenv("FAIL_SAID");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        (void)fprintf(file, "%d\n", n_failed);
        (void)fclose(file);
    }
}

static __attribute__((destructor)) void at_end(void)
{
    say_failed();
}

typedef enum kind { READS, WRITES, CHANGES, ALLOCATES } kind;

/* Whether this call is to fail; errno is set. */
static int is_due(kind of)
{
    const char *at = getenv("FAIL_AT");
    const int is_counted = strcmp(way(), "kill") == 0     ? of == WRITES
                           : strcmp(way(), "read") == 0   ? of == READS
                           : strcmp(way(), "memory") == 0 ? of == ALLOCATES
                                                          : of == WRITES || of == CHANGES;
    if (!at || !is_counted)
        return 0;
    n_call++;
    if (n_call < atoi(at) || (n_call > atoi(at) && !getenv("FAIL_ON")))
        return 0;
    n_failed++;
    errno = strcmp(way(), "full") == 0 ? ENOSPC : EIO;
    return 1;
}

static int file_is_ours(int fd)
{
    return fd >= 0 && fd < MOST_FILES && is_ours[fd];
}

int open64(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    va_list list;
    mode_t mode;
    int fd;
    va_start(list, flags);
    mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "open64");
    if (in_folder(path) && is_due((flags & O_ACCMODE) == O_RDONLY ? READS : CHANGES))
        return -1;
    fd = real(path, flags, mode);
    if (fd >= 0 && fd < MOST_FILES)
        is_ours[fd] = (unsigned char)in_folder(path);
    return fd;
}

ssize_t pread64(int fd, void *to, size_t n, off64_t at)
{
    static ssize_t (*real)(int, void *, size_t, off64_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pread64");
    return file_is_ours(fd) && is_due(READS) ? -1 : real(fd, to, n, at);
}

ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pwrite64");
    if (!file_is_ours(fd) || !is_due(WRITES))
        return real(fd, from, n, at);
    if (errno == ENOSPC || strcmp(way(), "kill") == 0) {
        const int why = errno;
        (void)!real(fd, from, n / 2, at);
        errno = why;
    }
    if (strcmp(way(), "kill") == 0) {
        say_failed();
        _exit(9);
    }
    return -1;
}

int ftruncate64(int fd, off64_t size)
{
    static int (*real)(int, off64_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "ftruncate64");
    return file_is_ours(fd) && is_due(CHANGES) ? -1 : real(fd, size);
}

int fdatasync(int fd)
{
    static int (*real)(int);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fdatasync");
    return file_is_ours(fd) && is_due(CHANGES) ? -1 : real(fd);
}

int unlink(const char *path)
{
    static int (*real)(const char *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "unlink");
    return in_folder(path) && is_due(CHANGES) ? -1 : real(path);
}

/* == The memory of SQLite ==================================================== */

static sqlite3_mem_methods memory;

static void *some_malloc(int n)
{
    return is_due(ALLOCATES) ? NULL : memory.xMalloc(n);
}

static void *some_realloc(void *old, int n)
{
    return is_due(ALLOCATES) ? NULL : memory.xRealloc(old, n);
}

static __attribute__((constructor)) void at_start(void)
{
    int (*configure)(int, ...);
    sqlite3_mem_methods failing;
    *(void **)&configure = dlsym(RTLD_DEFAULT, "sqlite3_config");
    if (strcmp(way(), "memory") != 0 || !configure)
        return;
    (void)configure(SQLITE_CONFIG_GETMALLOC, &memory);
    failing = memory;
    failing.xMalloc = some_malloc;
    failing.xRealloc = some_realloc;
    (void)configure(SQLITE_CONFIG_MALLOC, &failing);
}
