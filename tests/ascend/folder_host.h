/* folder_host.h - a folder as a source, for the tests of adapters/ascend
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_ASCEND_FOLDER_HOST_H
#define CPUBIND_TESTS_ASCEND_FOLDER_HOST_H

#include "../text/text_test.h"

#include <dirent.h>

#include "../../adapters/source.h"

enum { MAX_ANSWERS = 1024, MAX_NAMES = 1024 };

/* A folder as a host. Its answers are valid until it is dropped. */
typedef struct folder_host {
    char root[1024];
    char *answer[MAX_ANSWERS];
    int32_t n;
} folder_host;

static inline char *keep(folder_host *h, char *bytes)
{
    assert_true(h->n < MAX_ANSWERS);
    h->answer[h->n++] = bytes;
    return bytes;
}

static inline void drop_folder(folder_host *h)
{
    for (int32_t i = 0; i < h->n; i++)
        free(h->answer[i]);
    h->n = 0;
}

static inline void host_path(const folder_host *h, char *path, size_t cap, const char *name)
{
    const int n = snprintf(path, cap, "%s/%s", h->root, name);

    assert_true(n > 0 && (size_t)n < cap);
}

static inline int is_directory(const char *path)
{
    DIR *folder = opendir(path);

    if (folder)
        (void)closedir(folder);
    return folder != NULL;
}

/* Exit codes are always 0: no test with this source needs them. */
static inline cpubind_input read_folder_input(void *ctx, const char *name)
{
    folder_host *h = (folder_host *)ctx;
    cpubind_input input;
    char path[4096];
    int32_t len = 0;
    char *bytes;

    memset(&input, 0, sizeof input);
    host_path(h, path, sizeof path, name);
    bytes = is_directory(path) ? NULL : read_file(path, &len);
    if (!bytes)
        return input;
    input.state = CPUBIND_INPUT_PRESENT;
    input.data = keep(h, bytes);
    input.len = len;
    return input;
}

static inline int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder in ascending byte order, each to be freed; their number, or -1. */
static inline int32_t names_in(const char *path, char **names)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int32_t n = 0;

    if (!folder)
        return -1;
    while ((entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        assert_true(n < MAX_NAMES);
        names[n++] = strdup(entry->d_name);
    }
    (void)closedir(folder);
    qsort(names, (size_t)n, sizeof *names, by_bytes);
    return n;
}

static inline cpubind_input list_folder_inputs(void *ctx, const char *name)
{
    folder_host *h = (folder_host *)ctx;
    cpubind_input input;
    char path[4096];
    char *names[MAX_NAMES], *lines;
    size_t len = 0;
    int32_t n;

    memset(&input, 0, sizeof input);
    host_path(h, path, sizeof path, name);
    n = names_in(path, names);
    if (n < 0)
        return input;
    for (int32_t i = 0; i < n; i++)
        len += strlen(names[i]) + 1;
    lines = keep(h, (char *)malloc(len + 1));
    lines[0] = '\0';
    for (int32_t i = 0; i < n; i++) {
        strcat(strcat(lines, names[i]), "\n");
        free(names[i]);
    }
    input.state = CPUBIND_INPUT_PRESENT;
    input.data = lines;
    input.len = (int32_t)len;
    return input;
}

static inline cpubind_source source_of(folder_host *h)
{
    const cpubind_source source = {h, read_folder_input, list_folder_inputs};

    return source;
}

#endif
