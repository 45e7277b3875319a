/* threads.c - the threads of a process: their ids, names and CPUs
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../text/procfs.h"
#include "../common.h"

/* Words of the widest mask: 65,536 CPUs. */
#define MASK_WORDS (CPUBIND_MAX_CPUS / CPUBIND_WORD_BITS)

int cpubind_tasks_open(cpubind_root *root, int32_t pid)
{
    char name[64];
    snprintf(name, sizeof name, "proc/%d/task", (int)pid);
    return cpubind_root_open(root, name, O_DIRECTORY);
}

static int compare(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* A name that is a number from 1, else 0. */
static int32_t number_of(const char *name)
{
    size_t len = strspn(name, "0123456789");
    int32_t number = 0;
    if (len == 0 || len > 10 || name[len] != '\0' ||
        cpubind_number_parse(name, (int32_t)len, &number, NULL) != CPUBIND_TEXT_OK)
        return 0;
    return number;
}

static int add(cpubind_ids *ids, const cpubind_sys *sys, int32_t id)
{
    int32_t *all = (int32_t *)cpubind_grow(sys, ids->id, ids->n, &ids->cap, sizeof *all);
    if (!all)
        return ENOMEM;
    ids->id = all;
    all[ids->n++] = id;
    return 0;
}

/* The kernel says ENOENT for the threads of a process that has ended. */
static int gone(int error)
{
    return error == ENOENT ? ESRCH : error;
}

static int read_names(const cpubind_sys *sys, DIR *folder, cpubind_ids *ids)
{
    int is_ascending = 1, error = 0;
    for (;;) {
        const struct dirent *entry;
        int32_t id;
        errno = 0;
        entry = sys->readdir(folder);
        if (!entry && errno == EINTR)
            continue;
        if (!entry)
            break;
        id = number_of(entry->d_name);
        if (id == 0)
            continue;
        is_ascending &= ids->n == 0 || ids->id[ids->n - 1] < id;
        error = add(ids, sys, id);
        if (error)
            return error;
    }
    error = errno;
    if (!is_ascending)
        qsort(ids->id, (size_t)ids->n, sizeof *ids->id, compare);
    return gone(error);
}

int cpubind_tasks_list(const cpubind_sys *sys, int folder, cpubind_ids *ids)
{
    DIR *names;
    int error;
    int fd = cpubind_openat_retry(sys, folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ids->n = 0;
    if (fd < 0)
        return gone(errno);
    names = sys->fdopendir(fd);
    if (!names) {
        cpubind_close_quietly(sys, fd);
        return errno;
    }
    error = read_names(sys, names, ids);
    sys->closedir(names);
    return error;
}

int cpubind_ids_has(const cpubind_ids *ids, int32_t id)
{
    return ids->n > 0 && bsearch(&id, ids->id, (size_t)ids->n, sizeof id, compare) != NULL;
}

int cpubind_task_name(const cpubind_sys *sys, int folder, int32_t tid,
                      char name[CPUBIND_COMM_SIZE])
{
    char path[32], text[64]; /* of its own threads the kernel may know longer names */
    ssize_t n;
    int fd, error;
    snprintf(path, sizeof path, "%d/comm", (int)tid);
    fd = cpubind_openat_retry(sys, folder, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return gone(errno);
    do
        n = sys->read(fd, text, sizeof text - 1);
    while (n < 0 && errno == EINTR);
    error = errno;
    sys->close(fd);
    if (n < 0)
        return gone(error);
    text[n] = '\0';
    if (n > 0 && text[n - 1] == '\n')
        text[n - 1] = '\0';
    text[CPUBIND_COMM_SIZE - 1] = '\0';
    memcpy(name, text, CPUBIND_COMM_SIZE);
    return 0;
}

int cpubind_task_cpus(const cpubind_sys *sys, int32_t tid, cpubind_cpu_sets *sets, int32_t *set)
{
    unsigned long mask[MASK_WORDS];
    int n = sys->getaffinity((pid_t)tid, sizeof mask, mask);
    *set = CPUBIND_CPUSET_NONE;
    if (n < 0)
        return errno;
    *set = cpubind_cpu_sets_of_words(sets, sys, mask, (int32_t)((size_t)n / sizeof *mask));
    if (*set == CPUBIND_CPUSET_NO_MEMORY)
        return ENOMEM;
    return *set < 0 ? EILSEQ : 0;
}

int cpubind_task_move(const cpubind_sys *sys, int32_t tid, const cpubind_cpu_set *set)
{
    if (sys->setaffinity((pid_t)tid, (size_t)set->n_word * sizeof *set->word, set->word) == 0)
        return 0;
    return errno;
}
