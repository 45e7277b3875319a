/* files.c - the files below one folder: read one, list a folder of them
 * SPDX-License-Identifier: MIT
 *
 * Reads only. How a name is opened without leaving the folder is in files_beneath.c.
 */
#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "../source/input_cache.h"

/* Least room that a read is given. */
#define READ_MIN 16384

static cpubind_input open_failed(int error)
{
    if (error == EXDEV)
        return cpubind_input_failed(error, "a symbolic link leads outside the snapshot");
    return cpubind_input_missing(error, "open");
}

/* Reads to the end, which is where a read gives nothing. The size that fstat(2) says is not
 * asked: it lies, 0 in /proc and 4096 in /sys. */
static cpubind_input read_all(const cpubind_sys *sys, int fd, cpubind_bytes *bytes)
{
    while (bytes->len <= CPUBIND_FILE_MAX) {
        if (cpubind_bytes_reserve(bytes, sys, READ_MIN))
            return cpubind_input_failed(ENOMEM, "memory");
        ssize_t n = sys->read(fd, bytes->data + bytes->len, (size_t)(bytes->cap - bytes->len));
        if (n == 0)
            return cpubind_input_of(CPUBIND_INPUT_PRESENT);
        if (n > 0)
            bytes->len += (int32_t)n;
        else if (errno != EINTR)
            return cpubind_input_failed(errno, "read");
    }
    return cpubind_input_of(CPUBIND_INPUT_TOO_LONG);
}

static cpubind_input read_regular(const cpubind_sys *sys, int fd, cpubind_bytes *bytes)
{
    struct stat st;
    if (sys->fstat(fd, &st) < 0)
        return cpubind_input_failed(errno, "stat");
    if (!S_ISREG(st.st_mode))
        return cpubind_input_failed(S_ISDIR(st.st_mode) ? EISDIR : EINVAL,
                                    "not a regular file");
    return read_all(sys, fd, bytes);
}

cpubind_input cpubind_root_read(cpubind_root *tree, const char *name, cpubind_bytes *bytes)
{
    int fd = cpubind_root_open(tree, name, 0);
    if (fd < 0)
        return open_failed(errno);
    cpubind_input input = read_regular(tree->sys, fd, bytes);
    tree->sys->close(fd); /* nothing was written: no result to lose */
    return input;
}

int cpubind_input_error(cpubind_input input)
{
    switch (input.state) {
    case CPUBIND_INPUT_PRESENT:
        return 0;
    case CPUBIND_INPUT_ABSENT:
        return ENOENT;
    case CPUBIND_INPUT_FAILED:
        return input.error;
    default:
        return EFBIG;
    }
}

static int has_control_byte(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ')
            return 1;
    return 0;
}

/* The names of the folder into `names`, each ended by NUL, in the order of the kernel. */
static cpubind_input collect(const cpubind_sys *sys, DIR *folder, cpubind_bytes *names,
                             int32_t *out_n)
{
    int32_t n = 0;
    for (;;) {
        errno = 0;
        const struct dirent *entry = sys->readdir(folder);
        if (!entry && errno == EINTR)
            continue;
        if (!entry && errno)
            return cpubind_input_missing(errno, "list"); /* ENOENT: removed meanwhile */
        if (!entry)
            break;
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (has_control_byte(name))
            return cpubind_input_failed(EILSEQ, "a name holds a control byte");
        int32_t size_bytes = (int32_t)strlen(name) + 1;
        if (n == CPUBIND_LIST_MAX_NAMES || names->len + size_bytes > CPUBIND_LIST_MAX_BYTES)
            return cpubind_input_of(CPUBIND_INPUT_TOO_LONG);
        if (cpubind_bytes_reserve(names, sys, size_bytes))
            return cpubind_input_failed(ENOMEM, "memory");
        memcpy(names->data + names->len, name, (size_t)size_bytes);
        names->len += size_bytes;
        n++;
    }
    *out_n = n;
    return cpubind_input_of(CPUBIND_INPUT_PRESENT);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Turns `n` names, each ended by NUL, into sorted lines. 0 or ENOMEM. */
static int sort_lines(const cpubind_sys *sys, cpubind_bytes *names, int32_t n)
{
    if (n == 0)
        return 0;
    cpubind_bytes lines = {NULL, 0, 0};
    const char **name = sys->malloc((size_t)n * sizeof *name);
    int error = name ? cpubind_bytes_reserve(&lines, sys, names->len) : ENOMEM;
    if (!error) {
        const char *at = names->data;
        for (int32_t i = 0; i < n; i++, at += strlen(at) + 1)
            name[i] = at;
        qsort(name, (size_t)n, sizeof *name, compare_names);
        for (int32_t i = 0; i < n; i++) {
            size_t len = strlen(name[i]);
            memcpy(lines.data + lines.len, name[i], len);
            lines.data[lines.len + (int32_t)len] = '\n';
            lines.len += (int32_t)len + 1;
        }
        cpubind_bytes_free(names);
        *names = lines;
    }
    free(name);
    return error;
}

cpubind_input cpubind_root_list(cpubind_root *tree, const char *name, cpubind_bytes *bytes)
{
    const cpubind_sys *sys = tree->sys;
    int32_t n = 0;
    int fd = cpubind_root_open(tree, name, O_DIRECTORY);
    if (fd < 0)
        return open_failed(errno);
    DIR *folder = sys->fdopendir(fd);
    if (!folder) {
        cpubind_input failed = cpubind_input_failed(errno, "list");
        sys->close(fd);
        return failed;
    }
    cpubind_input input = collect(sys, folder, bytes, &n);
    sys->closedir(folder);
    if (input.state == CPUBIND_INPUT_PRESENT && sort_lines(sys, bytes, n))
        input = cpubind_input_failed(ENOMEM, "memory");
    return input;
}
