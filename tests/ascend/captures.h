/* captures.h - access to the captured outputs of real hosts
 * SPDX-License-Identifier: MIT
 *
 * They are not part of the project. Tests look for them in npu-smi/captures below the folder
 * that CPUBIND_SHARED names, and are skipped without it.
 */
#ifndef CPUBIND_TESTS_ASCEND_CAPTURES_H
#define CPUBIND_TESTS_ASCEND_CAPTURES_H

#include "../text/text_test.h"

#include <dirent.h>

/* The path of a capture; with an empty `file` the path of the folder. */
static inline void capture_path(char *path, size_t cap, const char *file)
{
    char name[512];
    const int n = snprintf(name, sizeof name, "npu-smi/captures/%s", file);

    assert_true(n > 0 && (size_t)n < sizeof name);
    path_below(path, cap, "CPUBIND_SHARED", "../shared", name);
}

/* The folder, or NULL when there are none. */
static inline DIR *open_captures(void)
{
    char path[4096];

    capture_path(path, sizeof path, "");
    return opendir(path);
}

/* The name of the next capture, or NULL at the end; it is valid until the next call. */
static inline const char *next_capture(DIR *folder)
{
    const struct dirent *entry;

    while ((entry = readdir(folder)) != NULL) {
        const char *end = strrchr(entry->d_name, '.');

        if (end && strcmp(end, ".txt") == 0)
            return entry->d_name;
    }
    return NULL;
}

/* A capture as an allocation of its exact size. */
static inline char *read_capture(const char *file, int32_t *len)
{
    char path[4096];
    char *text;

    capture_path(path, sizeof path, file);
    text = read_file(path, len);
    if (!text)
        fail_msg("cannot read %s", path);
    return text;
}

#endif
