/* replace_folder.h - giving a folder that is finished the name that it is to have
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. Both names lie in one folder, the parent.
 *
 *   nothing stands there    renameat2(2) with RENAME_NOREPLACE. Where the kernel or the file
 *                           system lacks it, rename(2), which replaces an empty folder at most.
 *   a folder stands there   renameat2(2) with RENAME_EXCHANGE: there is no moment without one.
 *                           Where that is missing, two renames, and there is such a moment;
 *                           what stood there is put back when the second one fails.
 * What was taken away must be the folder that was looked at before; another one is put back.
 */
#ifndef CPUBIND_LINUX_REPLACE_FOLDER_H
#define CPUBIND_LINUX_REPLACE_FOLDER_H

#include <limits.h>

#include "../linux.h"
#include "../sys.h"
#include "remove_folder.h"

/* What stands where the folder is to be. */
typedef enum cpubind_stands {
    CPUBIND_STANDS_NOTHING = 0,
    CPUBIND_STANDS_EMPTY = 1, /* an empty folder */
    CPUBIND_STANDS_HOST = 2   /* a folder with host.txt */
} cpubind_stands;

typedef struct cpubind_target {
    const cpubind_sys *sys;
    int parent;              /* the folder of all names, open for reading */
    const char *base;        /* the name that is to be given */
    char temp[NAME_MAX + 1]; /* the name until then; "" before there is one */
    char old[NAME_MAX + 1];  /* the name of what stood there, once it was taken away */
    cpubind_stands stands;
    cpubind_folder_id id; /* of what stands there */
} cpubind_target;

/* Looks at what stands there: target->stands, target->id.
 *   in      sys, parent and base are set
 *   errors  ERR_EXISTS when it must stay; ERR_OPEN; ERR_WRITE */
cpubind_linux_status cpubind_target_look(cpubind_target *target, int is_replacing,
                                         cpubind_linux_fault *fault);

/* Makes an empty folder with a name of its own, ".<base>.<pid>.<n>.tmp".
 *   out     name, NUL-terminated; "" on failure
 *   returns 0, or -1 with errno */
int cpubind_target_make(const cpubind_target *target, char name[NAME_MAX + 1]);

/* Gives the folder `temp` its name, and removes what stood there. All in the folder has reached
 * the disk before; when this returns, its name has.
 *   errors  ERR_EXISTS; ERR_WRITE. All is as it was then, but for "put back": what could not be
 *           undone. The old folder is whole, with a name ending in ".tmp" */
cpubind_linux_status cpubind_target_take(cpubind_target *target, cpubind_linux_fault *fault);

#endif /* CPUBIND_LINUX_REPLACE_FOLDER_H */
