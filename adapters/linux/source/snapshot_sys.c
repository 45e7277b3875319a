/* snapshot_sys.c - the system calls, answered by a snapshot in place of this kernel
 * SPDX-License-Identifier: MIT
 *
 * A file that is open is one in memory with the bytes of the input, and a folder one with its
 * name: so a descriptor is the kernel's, and nothing is kept here of it. Must not open a file
 * of this host.
 */
#define _GNU_SOURCE
#include "snapshot_sys.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../text/procfs.h"
#include "../kernel/process.h"

/* The table has no context: one snapshot at a time, in each thread. */
static _Thread_local cpubind_source snapshot;

static int fail(int error)
{
    errno = error;
    return -1;
}

static cpubind_input read_input(const char *name)
{
    return snapshot.read(snapshot.ctx, name);
}

/* The name of an input that a path means, in a folder that is open. */
static int name_of(int dir, const char *path, char out[PATH_MAX])
{
    ssize_t n = 0;
    if (*path == '/')
        path++;
    else if (dir != AT_FDCWD && (n = pread(dir, out, PATH_MAX - 1, 0)) < 0)
        return -1;
    if (strcmp(path, ".") == 0)
        path++;
    if ((size_t)n + strlen(path) + 2 > PATH_MAX)
        return fail(ENAMETOOLONG);
    (void)snprintf(out + n, PATH_MAX - (size_t)n, "%s%s", n > 0 && *path ? "/" : "", path);
    return 0;
}

/* Whether a name is that of a folder; the root is one without a name. */
static int is_folder(const char *name)
{
    cpubind_input listing = {.len = 1};
    if (*name)
        listing = snapshot.list(snapshot.ctx, name);
    return !*name || (listing.state == CPUBIND_INPUT_PRESENT && listing.len > 0);
}

static int open_at(int dir, const char *path, int flags)
{
    char name[PATH_MAX];
    cpubind_input input = {.data = name};
    int fd;
    if (name_of(dir, path, name) < 0)
        return -1;
    input.len = (int32_t)strlen(name);
    if (!is_folder(name)) {
        input = read_input(name);
        if (input.state != CPUBIND_INPUT_PRESENT)
            return fail(cpubind_input_fault(input).error);
        if (flags & O_DIRECTORY)
            return fail(ENOTDIR);
    }
    fd = memfd_create("snapshot", MFD_CLOEXEC);
    if (fd >= 0 && (write(fd, input.data, (size_t)input.len) != (ssize_t)input.len ||
                    lseek(fd, 0, SEEK_SET) < 0)) {
        close(fd);
        return fail(ENOMEM);
    }
    return fd;
}

static int stat_at(int dir, const char *path, struct stat *out)
{
    char name[PATH_MAX];
    cpubind_input input = {.state = CPUBIND_INPUT_PRESENT};
    if (name_of(dir, path, name) < 0)
        return -1;
    *out = (struct stat){.st_mode = is_folder(name) ? S_IFDIR : S_IFREG};
    if (S_ISREG(out->st_mode))
        input = read_input(name);
    return input.state == CPUBIND_INPUT_PRESENT ? 0 : fail(cpubind_input_fault(input).error);
}

static ssize_t read_link(int dir, const char *path, char *text, size_t cap)
{
    (void)dir, (void)path, (void)text, (void)cap;
    return fail(ENOENT);
}

static int kill_none(pid_t pid, int signal)
{
    char name[32];
    (void)signal;
    (void)snprintf(name, sizeof name, "proc/%d", (int)pid);
    return is_folder(name) ? 0 : fail(ESRCH);
}

/* == Folders ================================================================ */

/* A folder that is being listed. */
typedef struct folder {
    cpubind_input listing;
    int32_t at;
    struct dirent entry;
} folder;

static DIR *open_folder(int fd)
{
    char name[PATH_MAX];
    folder *f = (folder *)calloc(1, sizeof *f);
    if (!f || name_of(fd, ".", name) < 0) {
        free(f);
        return NULL;
    }
    f->listing = snapshot.list(snapshot.ctx, name);
    close(fd);
    return (DIR *)(void *)f;
}

static struct dirent *read_folder(DIR *dir)
{
    folder *f = (folder *)(void *)dir;
    const char *name = f->listing.data + f->at;
    const char *end = f->at < f->listing.len
                          ? (const char *)memchr(name, '\n', (size_t)(f->listing.len - f->at))
                          : NULL;
    errno = 0;
    if (!end || (size_t)(end - name) >= sizeof f->entry.d_name)
        return NULL;
    memcpy(f->entry.d_name, name, (size_t)(end - name));
    f->entry.d_name[end - name] = '\0';
    f->at = (int32_t)(end + 1 - f->listing.data);
    return &f->entry;
}

static int close_folder(DIR *dir)
{
    free((void *)dir);
    return 0;
}

/* == Threads ================================================================ */

/* The status of a thread, whatever process it is of. */
static cpubind_input find_status(pid_t tid)
{
    const cpubind_input all = snapshot.list(snapshot.ctx, "proc");
    cpubind_input found = {.state = CPUBIND_INPUT_ABSENT};
    char name[64];
    if (tid == 0)
        return read_input("proc/self/status");
    for (int32_t at = 0; at < all.len && found.state == CPUBIND_INPUT_ABSENT; at++) {
        const int32_t pid = (int32_t)strtol(all.data + at, NULL, 10);
        (void)snprintf(name, sizeof name, "proc/%d/task/%d/status", (int)pid, (int)tid);
        if (pid > 0)
            found = read_input(name);
        while (all.data[at] != '\n')
            at++;
    }
    return found;
}

static int get_affinity(pid_t tid, size_t size_bytes, unsigned long *mask)
{
    const cpubind_input status = find_status(tid);
    cpubind_int_list list = {NULL, CPUBIND_MAX_CPUS, 0};
    int result = (int)size_bytes;
    if (status.state != CPUBIND_INPUT_PRESENT)
        return fail(ESRCH);
    list.out = (int32_t *)malloc(CPUBIND_MAX_CPUS * sizeof *list.out);
    if (!list.out)
        return -1;
    if (cpubind_status_parse(status.data, status.len, CPUBIND_MAX_CPUS, &list, NULL) !=
        CPUBIND_TEXT_OK)
        result = fail(EINVAL);
    memset(mask, 0, size_bytes);
    for (int32_t i = 0; i < list.n && (size_t)list.out[i] < size_bytes * CHAR_BIT; i++)
        mask[list.out[i] / CPUBIND_WORD_BITS] |= 1ul << list.out[i] % CPUBIND_WORD_BITS;
    free(list.out);
    return result;
}

const cpubind_sys *cpubind_snapshot_sys(const cpubind_source *source)
{
    static _Thread_local cpubind_sys calls;
    if (source->read(source->ctx, "proc/self/fd").state != CPUBIND_INPUT_PRESENT)
        return NULL;
    snapshot = *source;
    calls = cpubind_sys_real;
    calls.openat = open_at;
    calls.statat = calls.statat_known = stat_at;
    calls.readlinkat = read_link;
    calls.kill = kill_none;
    calls.fdopendir = open_folder;
    calls.readdir = read_folder;
    calls.closedir = close_folder;
    calls.getaffinity = get_affinity;
    return &calls;
}
