/* temp_dir.h - a temporary folder for each test, and checks of descriptors and children
 * SPDX-License-Identifier: MIT
 *
 * A test writes only below a new mkdtemp(3) folder, which is removed with all that is in it. A
 * helper that fails ends the test program: a test that could not be set up must not pass.
 */
#ifndef CPUBIND_TESTS_LINUX_TEMP_DIR_H
#define CPUBIND_TESTS_LINUX_TEMP_DIR_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../adapters/linux/kernel/files.h"
#include "../../adapters/linux/source/host_source.h"

#define SCRATCH_PATH 512

typedef struct scratch {
    char dir[SCRATCH_PATH]; /* absolute */
} scratch;

static inline void scratch_need(int good, const char *what)
{
    if (!good) {
        perror(what);
        abort();
    }
}

/* For thousands of small folders: in memory, unless TMPDIR is set. */
static inline void scratch_in_memory(void)
{
    if (access("/dev/shm", R_OK | W_OK | X_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0);
}

/* No file of a test needs to reach the disk. */
static inline int no_fsync(int fd)
{
    (void)fd;
    return 0;
}

static inline void scratch_make(scratch *s)
{
    const char *top = getenv("TMPDIR");
    snprintf(s->dir, sizeof s->dir, "%s/cpubind-test-XXXXXX", top && *top ? top : "/tmp");
    scratch_need(mkdtemp(s->dir) != NULL, "mkdtemp");
    /* A test that runs as root may have a child of another user, which needs this folder. */
    scratch_need(chmod(s->dir, 0755) == 0, "chmod");
}

/* Returns "<dir>/<name>" in `path` and makes the folders above it. */
static inline void scratch_path(const scratch *s, const char *name, char path[SCRATCH_PATH * 2])
{
    snprintf(path, SCRATCH_PATH * 2, "%s/%s", s->dir, name);
    for (char *c = path + strlen(s->dir) + 1; (c = strchr(c, '/')) != NULL; c++) {
        *c = '\0';
        scratch_need(mkdir(path, 0755) == 0 || errno == EEXIST, path);
        *c = '/';
    }
}

static inline void scratch_bytes(const scratch *s, const char *name, const void *data, size_t n)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(s, name, path);
    FILE *file = fopen(path, "we");
    scratch_need(file != NULL, path);
    scratch_need(fwrite(data, 1, n, file) == n, path);
    scratch_need(fclose(file) == 0, path);
}

static inline void scratch_file(const scratch *s, const char *name, const char *text)
{
    scratch_bytes(s, name, text, strlen(text));
}

static inline void scratch_folder(const scratch *s, const char *name)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(s, name, path);
    scratch_need(mkdir(path, 0755) == 0, path);
}

static inline void scratch_link(const scratch *s, const char *name, const char *target)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(s, name, path);
    scratch_need(symlink(target, path) == 0, path);
}

/* An executable shell script with `body`. */
static inline void scratch_script(const scratch *s, const char *name, const char *body)
{
    char path[SCRATCH_PATH * 2];
    scratch_path(s, name, path);
    FILE *file = fopen(path, "we");
    scratch_need(file != NULL, path);
    scratch_need(fprintf(file, "#!/bin/sh\n%s\n", body) > 0, path);
    scratch_need(fclose(file) == 0, path);
    scratch_need(chmod(path, 0755) == 0, path);
}

static inline int scratch_remove_one(const char *path, const struct stat *st, int type,
                                     struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static inline void scratch_remove(const scratch *s)
{
    scratch_need(nftw(s->dir, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0, s->dir);
}

/* Removes all that is in the folder. */
static inline void scratch_empty(const scratch *s)
{
    scratch_remove(s);
    scratch_need(mkdir(s->dir, 0755) == 0, s->dir);
}

/* Returns the number of open descriptors of this process. */
static inline int open_descriptors(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    scratch_need(folder != NULL, "/proc/self/fd");
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

/* Returns 1 if this process has a child, running or zombie. */
static inline int has_child(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static inline int64_t clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Returns 1 if the answer is PRESENT and has exactly these bytes. */
static inline int is_text(cpubind_input input, const char *text)
{
    size_t len = strlen(text);
    return input.state == CPUBIND_INPUT_PRESENT && (size_t)input.len == len &&
           (len ? memcmp(input.data, text, len) == 0 : input.data == NULL) &&
           input.error == 0 && input.why == NULL;
}

/* Returns 1 if the err of the answer has exactly these bytes. */
static inline int is_err(cpubind_input input, const char *text)
{
    size_t len = strlen(text);
    return (size_t)input.err_len == len &&
           (len ? memcmp(input.err, text, len) == 0 : input.err == NULL);
}

/* Returns 1 if the answer is FAILED with this errno and this step, and has no data. */
static inline int is_failed(cpubind_input input, int error, const char *why)
{
    return input.state == CPUBIND_INPUT_FAILED && input.error == error && input.why &&
           strcmp(input.why, why) == 0 && !input.data && input.len == 0;
}

/* Returns 1 if the answer has this state, and no data, error or reason. */
static inline int is_state(cpubind_input input, cpubind_input_state state)
{
    return input.state == state && !input.data && input.len == 0 && input.error == 0 &&
           !input.why && input.exit_code == 0;
}

/* Returns a root at a folder, as the live host has one at "/". The caller closes its fd. */
static inline cpubind_root scratch_tree(const cpubind_sys *sys, const char *dir)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    scratch_need(fd >= 0, dir);
    return (cpubind_root){sys, fd, CPUBIND_REACH_ANYWHERE};
}

/* Returns 1 if the listing has this name. */
static inline int has_line(cpubind_input input, const char *name)
{
    size_t len = strlen(name);
    for (int32_t at = 0; at < input.len;) {
        const char *end = memchr(input.data + at, '\n', (size_t)(input.len - at));
        size_t n = (size_t)(end - (input.data + at));
        if (n == len && memcmp(input.data + at, name, n) == 0)
            return 1;
        at += (int32_t)n + 1;
    }
    return 0;
}

#endif /* CPUBIND_TESTS_LINUX_TEMP_DIR_H */
