/* run_folder.c - the folder of this user below /run: finding, making and checking it
 * SPDX-License-Identifier: MIT
 *
 * Makes nothing but the folder itself, and reads nothing in it.
 */
#define _GNU_SOURCE
#include "run_folder.h"

#include <fcntl.h>
#include <stdio.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

void cpubind_run_parent(uid_t uid, char out[CPUBIND_RUN_PARENT_SIZE])
{
    if (uid == 0)
        (void)snprintf(out, CPUBIND_RUN_PARENT_SIZE, "run");
    else
        (void)snprintf(out, CPUBIND_RUN_PARENT_SIZE, "run/user/%lu", (unsigned long)uid);
}

static cpubind_linux_fault check(const cpubind_sys *sys, int fd)
{
    struct stat st;
    if (sys->fstat(fd, &st) < 0)
        return cpubind_fault_errno("folder");
    return cpubind_fault_of(cpubind_is_mine(sys, &st) ? 0 : EPERM, "folder");
}

static cpubind_linux_fault make(cpubind_root *root, const char *parent)
{
    int fd, made;
    cpubind_linux_fault why =
        cpubind_open(root->sys, root->fd, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, &fd);
    if (why.error)
        return why;
    CPUBIND_RETRY(made, root->sys->mkdirat(fd, "cpubind", 0755));
    if (made < 0 && errno != EEXIST)
        why = cpubind_fault_errno("folder");
    root->sys->close(fd);
    return why;
}

cpubind_linux_fault cpubind_run_folder_open(cpubind_root *root, int may_make, int *fd)
{
    const cpubind_sys *sys = root->sys;
    char parent[CPUBIND_RUN_PARENT_SIZE], name[CPUBIND_RUN_PARENT_SIZE + sizeof "/cpubind"];
    int opened;
    cpubind_linux_fault why;
    cpubind_run_parent(sys->geteuid(), parent);
    (void)snprintf(name, sizeof name, "%s/cpubind", parent);
    why = cpubind_open(sys, root->fd, name, FOLDER_FLAGS, &opened);
    if (why.error == ENOENT && may_make) {
        why = make(root, parent);
        if (!why.error)
            why = cpubind_open(sys, root->fd, name, FOLDER_FLAGS, &opened);
    }
    if (!why.error) {
        why = check(sys, opened);
        if (why.error)
            sys->close(opened);
        else
            *fd = opened;
    }
    if (why.error == ELOOP || why.error == ENOTDIR) /* a link, no folder */
        why.error = EPERM;
    return cpubind_fault_of(why.error, "folder");
}
