/* remove_folder.h - removing a folder with all that is in it, and no other
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. What is removed may be a stranger's: symbolic links are removed
 * and not followed, nothing outside of the folder and nothing of another file system (a mount)
 * is touched, and there is an end however deep or large it is.
 */
#ifndef CPUBIND_LINUX_REMOVE_FOLDER_H
#define CPUBIND_LINUX_REMOVE_FOLDER_H

#include <sys/types.h>

#include "../sys.h"

/* Folders inside one another, the first one counted: a path of /sys has some fifteen. */
#define CPUBIND_DEPTH_MAX 64

/* Entries that one removal looks at. A snapshot has some thousands. */
#define CPUBIND_REMOVE_MAX (1 << 20)

/* Which folder it is, whatever its name is by now. */
typedef struct cpubind_folder_id {
    dev_t dev;
    ino_t ino;
} cpubind_folder_id;

/* Opens folder `name` of `parent` for reading; a symbolic link is none. As openat(2). */
int cpubind_folder_open(const cpubind_sys *sys, int parent, const char *name);

/* Which folder an open one is. 0, or -1 with errno. */
int cpubind_folder_identify(const cpubind_sys *sys, int fd, cpubind_folder_id *out);

/* Opens folder `name` of `parent` if it is this one: ESTALE else. As openat(2). */
int cpubind_folder_open_same(const cpubind_sys *sys, int parent, const char *name,
                             const cpubind_folder_id *id);

/* Removes folder `name` of `parent`. None there is fine.
 *   in      id: which folder it must be; another one of that name is left alone, ESTALE
 *   returns 0, or an errno, and then some of it may be left: E2BIG over CPUBIND_REMOVE_MAX,
 *           ELOOP over CPUBIND_DEPTH_MAX, EXDEV for a mount in it
 *   cost    O(entries + folders * depth); two descriptors */
int cpubind_remove_folder(const cpubind_sys *sys, int parent, const char *name,
                          const cpubind_folder_id *id);

#endif /* CPUBIND_LINUX_REMOVE_FOLDER_H */
