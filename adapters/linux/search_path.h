/* search_path.h - private to adapters/linux: the folders of PATH that commands are looked up in
 * SPDX-License-Identifier: MIT
 *
 * Root may run cpubind in the folder of somebody else. Only absolute folders of PATH count: an
 * empty one, "." and "bin" would find a command that somebody has put into the current folder.
 */
#ifndef CPUBIND_LINUX_SEARCH_PATH_H
#define CPUBIND_LINUX_SEARCH_PATH_H

#include <stddef.h>
#include <string.h>

/* The next absolute folder, of *n bytes, or NULL. *rest begins as PATH, which may be NULL. */
static inline const char *cpubind_next_folder(const char **rest, size_t *n)
{
    while (*rest) {
        const char *folder = *rest;
        *n = strcspn(folder, ":");
        *rest = folder[*n] ? folder + *n + 1 : NULL;
        if (*folder == '/')
            return folder;
    }
    return NULL;
}

#endif /* CPUBIND_LINUX_SEARCH_PATH_H */
