/* folder_writer.c - write a host to a new folder that appears whole or not at all
 * SPDX-License-Identifier: MIT
 *
 * Removes what it has made, name by name, and nothing else.
 */
#define _GNU_SOURCE
#include "folder_writer.h"

#include <fcntl.h>
#include <string.h>

#include "../../text/input_name.h"
#include "../kernel/files.h"

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* A folder that is being written. */
typedef struct new_folder {
    const cpubind_sys *sys;
    int parent, root; /* open folders; -1: not yet */
    const char *base; /* its name in the parent */
    char temp[NAME_MAX + 1];
    cpubind_bytes made;  /* names in it, each ended by NUL; that of a folder ends in "/" */
    char path[PATH_MAX]; /* of the parent, ended by NUL, and after it the base */
} new_folder;

/* == The target ============================================================= */

/* Cuts the path into the parent, which is returned, and the base. NULL: it has no base. */
static const char *cut_path(new_folder *f)
{
    size_t len = strlen(f->path);
    char *slash;
    while (len > 0 && f->path[len - 1] == '/')
        f->path[--len] = '\0';
    slash = strrchr(f->path, '/');
    f->base = slash ? slash + 1 : f->path;
    if (!*f->base || strcmp(f->base, ".") == 0 || strcmp(f->base, "..") == 0)
        return NULL;
    if (slash)
        *slash = '\0';
    return !slash ? "." : slash == f->path ? "/" : f->path;
}

static cpubind_linux_fault refuse_name(void *ctx, const char *name)
{
    (void)ctx, (void)name;
    return cpubind_fault_of(EEXIST, "target");
}

/* Opens the parent, and looks at what is there. */
static cpubind_linux_fault open_parent(new_folder *f, const char *path, const cpubind_sys *sys)
{
    const char *parent;
    int fd;
    *f = (new_folder){.sys = sys ? sys : &cpubind_sys_real, .parent = -1, .root = -1};
    if (strlen(path) >= sizeof f->path)
        return cpubind_fault_of(ENAMETOOLONG, "open");
    memcpy(f->path, path, strlen(path));
    parent = cut_path(f);
    if (!parent)
        return cpubind_fault_of(EINVAL, "name");
    cpubind_linux_fault fault =
        cpubind_open(f->sys, AT_FDCWD, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, &f->parent);
    if (fault.error)
        return fault;
    fault = cpubind_open(f->sys, f->parent, f->base, FOLDER_FLAGS, &fd);
    if (!fault.error)
        return cpubind_each_name(f->sys, fd, refuse_name, NULL);
    if (fault.error == ENOTDIR || fault.error == ELOOP) /* a file; a link */
        return cpubind_fault_of(EEXIST, "target");
    return fault.error == ENOENT ? cpubind_no_fault : fault;
}

cpubind_linux_fault cpubind_linux_check_folder(const char *path, const cpubind_sys *sys)
{
    new_folder f;
    const cpubind_linux_fault fault = open_parent(&f, path, sys);
    if (f.parent >= 0)
        f.sys->close(f.parent);
    return fault;
}

/* == Writing ================================================================ */

static cpubind_linux_fault make_folder(void *ctx, const char *name)
{
    const new_folder *f = (const new_folder *)ctx;
    return f->sys->mkdirat(f->parent, name, 0777) < 0 ? cpubind_fault_errno("make folder")
                                                      : cpubind_no_fault;
}

/* Makes room for a name in the list, so that what is made can be noted. */
static cpubind_linux_fault reserve(new_folder *f, size_t len)
{
    return f->made.len > CPUBIND_BYTES_MAX / 2
               ? cpubind_fault_of(ENOMEM, "memory")
               : cpubind_bytes_reserve(&f->made, f->sys, (int32_t)len + 2);
}

static void note(new_folder *f, const char *name, size_t len)
{
    memcpy(f->made.data + f->made.len, name, len);
    f->made.data[f->made.len + (int32_t)len] = '\0';
    f->made.len += (int32_t)len + 1;
}

/* Whether `name` follows the rules of the inputs and has no part ".", which would be a second
 * name of the same file. */
static int is_name(const char *name)
{
    if (!cpubind_input_is_name(name))
        return 0;
    while (name && !(name[0] == '.' && (name[1] == '/' || !name[1]))) {
        name = strchr(name, '/');
        name += name != NULL;
    }
    return name == NULL;
}

/* Makes the folders above a file that are not there yet. */
static cpubind_linux_fault make_above(new_folder *f, const char *name)
{
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        const size_t len = (size_t)(slash - name);
        char path[PATH_MAX];
        cpubind_linux_fault fault = reserve(f, len + 1);
        if (fault.error || len >= sizeof path)
            return fault.error ? fault : cpubind_fault_of(ENAMETOOLONG, "make folder");
        memcpy(path, name, len);
        path[len] = '\0';
        if (f->sys->mkdirat(f->root, path, 0777) == 0)
            note(f, name, len + 1);
        else if (errno != EEXIST)
            return cpubind_fault_errno("make folder");
    }
    return cpubind_no_fault;
}

static cpubind_linux_fault put(new_folder *f, const cpubind_host_part *part)
{
    int fd;
    if (!is_name(part->name))
        return cpubind_fault_of(EINVAL, "name of a file");
    cpubind_linux_fault fault = make_above(f, part->name);
    if (!fault.error)
        fault = reserve(f, strlen(part->name));
    if (!fault.error)
        fault = cpubind_create(f->sys, f->root, part->name, 0666, &fd);
    if (fault.error)
        return fault;
    note(f, part->name, strlen(part->name));
    return cpubind_write_synced(f->sys, fd, part->data, part->len);
}

/* == All of it ============================================================== */

static cpubind_linux_fault sync_folders(const new_folder *f)
{
    const cpubind_bytes *made = &f->made;
    for (int32_t at = 0; at < made->len; at += (int32_t)strlen(made->data + at) + 1) {
        const char *name = made->data + at;
        int fd;
        if (name[strlen(name) - 1] != '/')
            continue;
        cpubind_linux_fault fault = cpubind_open(f->sys, f->root, name, FOLDER_FLAGS, &fd);
        if (fault.error)
            return fault;
        fault = cpubind_sync(f->sys, fd);
        f->sys->close(fd);
        if (fault.error)
            return fault;
    }
    return cpubind_sync(f->sys, f->root);
}

/* Gives the folder its name: rename(2) replaces at most an empty folder. */
static cpubind_linux_fault take_name(const new_folder *f)
{
    cpubind_linux_fault fault;
    if (f->sys->rename(f->parent, f->temp, f->base) < 0)
        return errno == ENOTEMPTY || errno == ENOTDIR ? cpubind_fault_of(EEXIST, "target")
                                                      : cpubind_fault_errno("rename");
    fault = cpubind_sync(f->sys, f->parent);
    if (fault.error)
        (void)f->sys->rename(f->parent, f->base, f->temp);
    return fault;
}

/* Removes what was made, the last first. */
static void remove_made(const new_folder *f)
{
    for (int32_t end = f->made.len - 1, at; end > 0; end = at - 1) {
        for (at = end; at > 0 && f->made.data[at - 1];)
            at--;
        (void)f->sys->unlinkat(f->root, f->made.data + at,
                               f->made.data[end - 1] == '/' ? AT_REMOVEDIR : 0);
    }
    (void)f->sys->unlinkat(f->parent, f->temp, AT_REMOVEDIR);
}

cpubind_linux_fault cpubind_linux_write_folder(const char *path, const cpubind_host_part *part,
                                               int32_t n, const cpubind_sys *sys)
{
    new_folder f;
    cpubind_linux_fault fault = open_parent(&f, path, sys);
    if (!fault.error)
        fault = cpubind_make_temp(f.base, make_folder, &f, f.temp);
    if (!fault.error)
        fault = cpubind_open(f.sys, f.parent, f.temp, FOLDER_FLAGS, &f.root);
    for (int32_t i = 0; i < n && !fault.error; i++)
        fault = put(&f, &part[i]);
    if (!fault.error)
        fault = sync_folders(&f);
    if (!fault.error)
        fault = take_name(&f);
    if (fault.error && f.temp[0])
        remove_made(&f);
    if (f.root >= 0)
        f.sys->close(f.root);
    if (f.parent >= 0)
        f.sys->close(f.parent);
    cpubind_bytes_free(&f.made);
    return fault;
}
