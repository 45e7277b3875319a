/* folder_writer.c - write a snapshot folder that appears whole or not at all
 * SPDX-License-Identifier: MIT
 *
 * Writes into the temporary folder of the writer, renames, and removes the folder that was
 * replaced; touches nothing else.
 *
 *   no target       renameat2(2) with RENAME_NOREPLACE. Where the kernel or the file system
 *                   lacks it, rename(2), which replaces at most an empty folder.
 *   a folder there  renameat2(2) with RENAME_EXCHANGE: there is no moment without a target.
 *                   Where that is missing, two renames, with such a moment; when the second one
 *                   fails, the old folder gets its name back.
 * The folder that was renamed away must be the one that was examined at the start; another one
 * is renamed back.
 */
#define _GNU_SOURCE
#include "folder_writer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "../../text/input_name.h"
#include "../kernel/files.h"

/* Folders inside one another, the first one counted: a path of /sys has some fifteen. */
#define DEPTH_MAX 64

/* Entries that one removal looks at. A snapshot has some thousands. */
#define REMOVE_MAX (1 << 20)

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Identifies a folder, whatever its name is by now. */
typedef struct folder_id {
    dev_t dev;
    ino_t ino;
} folder_id;

/* The target as it was at the start. */
typedef enum existing { EXISTING_NONE, EXISTING_EMPTY, EXISTING_HOST } existing;

/* How a step failed; `fault.error` 0: it did not. */
typedef struct failure {
    cpubind_linux_status status;
    cpubind_linux_fault fault;
} failure;

static const failure none = {CPUBIND_LINUX_OK, {0}};

struct cpubind_linux_writer {
    const cpubind_sys *sys;
    int parent;              /* the folder of all names, open for reading; -1 before */
    const char *base;        /* the name of the target in it */
    char temp[NAME_MAX + 1]; /* the name of the new folder until the commit; "" before */
    char old[NAME_MAX + 1];  /* the name of the old folder, once it was renamed away */
    existing existing;
    folder_id existing_id;
    int root;              /* the new folder, open for reading; -1 before */
    int has_id;            /* root_id is known */
    folder_id root_id;     /* of the new folder */
    cpubind_bytes folders; /* names of the folders made in it, each ended by NUL */
    int is_done;           /* a commit succeeded */
    failure failed;        /* the first failure: the answer from then on */
    char path[];           /* of the parent, ended by NUL, and after it the base */
};

static failure fail(cpubind_linux_status status, cpubind_linux_fault fault)
{
    return fault.error ? (failure){status, fault} : none;
}

static failure fail_exists(void)
{
    return fail(CPUBIND_LINUX_ERR_EXISTS, cpubind_fault_of(EEXIST, "exists"));
}

/* A system call that failed while writing. */
static failure fail_write(const char *what)
{
    return fail(CPUBIND_LINUX_ERR_WRITE, cpubind_fault_errno(what));
}

/* Ends a public function. */
static cpubind_linux_status end(failure f, cpubind_linux_fault *fault)
{
    return cpubind_linux_end(f.status, f.fault, fault);
}

static cpubind_linux_status end_argument(const char *what, cpubind_linux_fault *fault)
{
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, what, fault);
}

/* == Folders by their identity ============================================== */

/* Reads which folder an open one is. */
static cpubind_linux_fault identify(const cpubind_sys *sys, int fd, folder_id *out)
{
    struct stat st;
    if (sys->fstat(fd, &st) < 0)
        return cpubind_fault_errno("stat");
    *out = (folder_id){st.st_dev, st.st_ino};
    return cpubind_no_fault;
}

/* Opens folder `name` of `parent`, and no link, if it is on the device of `id` and, unless
 * any_inode, that very folder: EXDEV, ESTALE else. */
static cpubind_linux_fault open_folder(const cpubind_sys *sys, int parent, const char *name,
                                       const folder_id *id, int any_inode, int *fd)
{
    folder_id found = {0, 0};
    cpubind_linux_fault fault = cpubind_open(sys, parent, name, FOLDER_FLAGS, fd);
    if (fault.error)
        return fault;
    fault = identify(sys, *fd, &found);
    if (!fault.error && any_inode && found.dev != id->dev)
        fault = cpubind_fault_of(EXDEV, "open");
    if (!fault.error && !any_inode && (found.dev != id->dev || found.ino != id->ino))
        fault = cpubind_fault_of(ESTALE, "open");
    if (fault.error)
        sys->close(*fd);
    return fault;
}

/* == Removing a folder ====================================================== */

/* A removal by repeated descent: from the top down into the first folder that is not empty,
 * until one can be emptied, and again. It keeps no stack of open folders and follows no "..",
 * which would lead elsewhere if a folder was moved meanwhile. The entries may be a stranger's:
 * links are removed and not followed, and mounts are not entered. */
typedef struct removal {
    const cpubind_sys *sys;
    const folder_id *id; /* of the top */
    int32_t steps_left;  /* entries that may still be looked at */
    int fd, next;        /* the folder being emptied, and one in it that is not empty */
} removal;

/* ENOTEMPTY: a folder that is not empty. */
static cpubind_linux_fault remove_empty(const cpubind_sys *sys, int dir, const char *name)
{
    if (sys->unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return cpubind_no_fault;
    return errno == EEXIST ? cpubind_fault_of(ENOTEMPTY, "remove")
                           : cpubind_fault_errno("remove");
}

/* Removes one entry. ENOTEMPTY stops the listing: r->next is a folder that is not empty. */
static cpubind_linux_fault remove_entry(void *ctx, const char *name)
{
    removal *r = ctx;
    if (r->steps_left-- == 0)
        return cpubind_fault_of(E2BIG, "remove");
    if (r->sys->unlinkat(r->fd, name, 0) == 0 || errno == ENOENT)
        return cpubind_no_fault;
    cpubind_linux_fault fault = cpubind_fault_errno("remove");
    if (fault.error == EISDIR || fault.error == EPERM) { /* the answers for a folder */
        const cpubind_linux_fault of_folder = remove_empty(r->sys, r->fd, name);
        if (of_folder.error != ENOTDIR)
            fault = of_folder;
    }
    if (fault.error != ENOTEMPTY)
        return fault;
    fault = open_folder(r->sys, r->fd, name, r->id, 1, &r->next);
    if (fault.error) {
        r->next = -1;
        return fault;
    }
    return cpubind_fault_of(ENOTEMPTY, "remove");
}

/* Goes from the top, r->fd, down to a folder that can be emptied, and empties it. */
static cpubind_linux_fault empty_one(removal *r)
{
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        r->next = -1;
        cpubind_linux_fault fault = cpubind_each_name(r->sys, r->fd, remove_entry, r);
        if (r->next < 0)
            return fault;
        r->fd = r->next;
    }
    r->sys->close(r->fd);
    return cpubind_fault_of(ELOOP, "remove");
}

/* Removes folder `name` of the parent if it is still that folder. A part of it may be left: a
 * folder too large or too deep, a mount, no right to. */
static void remove_folder(const cpubind_linux_writer *w, const char *name, const folder_id *id)
{
    removal r = {w->sys, id, REMOVE_MAX, -1, -1};
    while (r.steps_left-- > 0) {
        if (open_folder(w->sys, w->parent, name, id, 0, &r.fd).error || empty_one(&r).error ||
            remove_empty(w->sys, w->parent, name).error != ENOTEMPTY)
            return;
    }
}

/* == Open =================================================================== */

/* Cuts `path` into the parent and the last part, which is returned; NULL when the last part
 * cannot be the name of a folder. */
static char *cut_path(char *path, const char **parent)
{
    size_t len = strlen(path);
    while (len > 0 && path[len - 1] == '/')
        path[--len] = '\0';
    char *slash = strrchr(path, '/');
    char *base = slash ? slash + 1 : path;
    if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
        return NULL;
    *parent = slash ? path : ".";
    if (slash == path)
        *parent = "/";
    else if (slash)
        *slash = '\0';
    return base;
}

/* Whether the folder holds a regular file host.txt. */
static cpubind_linux_fault find_host(const cpubind_sys *sys, int dir, int *is_host)
{
    struct stat st;
    int fd;
    cpubind_linux_fault fault =
        cpubind_open(sys, dir, "host.txt", O_PATH | O_NOFOLLOW | O_CLOEXEC, &fd);
    *is_host = 0;
    if (fault.error)
        return cpubind_fault_of(fault.error == ENOENT ? 0 : fault.error, "host.txt");
    if (sys->fstat(fd, &st) < 0)
        fault = cpubind_fault_errno("host.txt");
    else
        *is_host = S_ISREG(st.st_mode);
    sys->close(fd);
    return fault;
}

static cpubind_linux_fault stop_at_name(void *ctx, const char *name)
{
    (void)name;
    *(int *)ctx = 1;
    return cpubind_fault_of(ENOTEMPTY, "list");
}

/* Looks whether there is a target, and whether it may be replaced: w->existing. */
static failure examine(cpubind_linux_writer *w, int is_replacing)
{
    const cpubind_sys *sys = w->sys;
    int fd, is_host = 0, is_full = 0;
    cpubind_linux_fault fault = cpubind_open(sys, w->parent, w->base, FOLDER_FLAGS, &fd);
    w->existing = EXISTING_NONE;
    if (fault.error == ENOENT)
        return none;
    if (fault.error == ENOTDIR || fault.error == ELOOP) /* a file; a link */
        return fail_exists();
    if (fault.error)
        return fail(CPUBIND_LINUX_ERR_OPEN, fault);
    fault = identify(sys, fd, &w->existing_id);
    if (!fault.error && is_replacing)
        fault = find_host(sys, fd, &is_host);
    if (fault.error) {
        sys->close(fd);
        return fail(CPUBIND_LINUX_ERR_OPEN, fault);
    }
    fault = cpubind_each_name(sys, fd, stop_at_name, &is_full);
    if (fault.error && !is_full)
        return fail(CPUBIND_LINUX_ERR_OPEN, fault);
    w->existing = is_full ? EXISTING_HOST : EXISTING_EMPTY;
    return is_full && !is_host ? fail_exists() : none;
}

static cpubind_linux_fault make_folder(void *ctx, const char *name)
{
    const cpubind_linux_writer *w = ctx;
    return w->sys->mkdirat(w->parent, name, 0777) < 0 ? cpubind_fault_errno("make folder")
                                                      : cpubind_no_fault;
}

/* Opens the parent, examines the target and makes the folder that is written into. */
static failure start(cpubind_linux_writer *w, int is_replacing)
{
    const char *parent = NULL;
    w->base = cut_path(w->path, &parent);
    if (!w->base)
        return fail(CPUBIND_LINUX_ERR_ARG, cpubind_fault_of(EINVAL, "argument"));
    cpubind_linux_fault fault =
        cpubind_open(w->sys, AT_FDCWD, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, &w->parent);
    if (fault.error)
        return fail(CPUBIND_LINUX_ERR_OPEN, fault);
    failure failed = examine(w, is_replacing);
    if (failed.status != CPUBIND_LINUX_OK)
        return failed;
    fault = cpubind_make_temp(w->base, make_folder, w, w->temp);
    if (!fault.error)
        fault = cpubind_open(w->sys, w->parent, w->temp, FOLDER_FLAGS, &w->root);
    if (!fault.error)
        fault = identify(w->sys, w->root, &w->root_id);
    w->has_id = !fault.error;
    return fail(CPUBIND_LINUX_ERR_WRITE, fault);
}

cpubind_linux_status cpubind_linux_writer_open(const char *dir, int is_replacing,
                                               const cpubind_sys *sys,
                                               cpubind_linux_writer **out,
                                               cpubind_linux_fault *fault)
{
    if (out)
        *out = NULL;
    if (!dir || !out)
        return end_argument("argument", fault);
    if (!sys)
        sys = &cpubind_sys_real;
    size_t size_path = strlen(dir) + 1;
    cpubind_linux_writer *w = sys->malloc(sizeof *w + size_path);
    if (!w)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    *w = (cpubind_linux_writer){.sys = sys, .parent = -1, .root = -1};
    memcpy(w->path, dir, size_path);
    const failure failed = start(w, is_replacing);
    if (failed.status == CPUBIND_LINUX_OK)
        *out = w;
    else
        cpubind_linux_writer_close(w);
    return end(failed, fault);
}

/* == Put ==================================================================== */

/* Whether `name` may be written: it follows the rules of the seam and has no part ".", which
 * would be a second name of the same file. *n_part: its parts. */
static int is_name(const char *name, int *n_part)
{
    if (!cpubind_input_is_name(name))
        return 0;
    *n_part = 1;
    for (const char *part = name;; part++, ++*n_part) {
        size_t len = strcspn(part, "/");
        if (len == 1 && part[0] == '.')
            return 0;
        part += len;
        if (!*part)
            return 1;
    }
}

/* The part of a name at `at`. */
typedef struct name_part {
    char text[NAME_MAX + 1];
    size_t len;
} name_part;

/* Returns 0 when the part is too long to be a name. */
static int take_part(const char *at, name_part *part)
{
    part->len = strcspn(at, "/");
    if (part->len >= sizeof part->text)
        return 0;
    memcpy(part->text, at, part->len);
    part->text[part->len] = '\0';
    return 1;
}

static void leave(const cpubind_linux_writer *w, int dir)
{
    if (dir != w->root)
        w->sys->close(dir);
}

/* Replaces *dir by its folder `part`, which must not be a link. EEXIST: it is no folder. */
static cpubind_linux_fault enter(const cpubind_linux_writer *w, const char *part, int *dir)
{
    int next;
    cpubind_linux_fault fault =
        cpubind_open(w->sys, *dir, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, &next);
    if (fault.error == ENOTDIR || fault.error == ELOOP)
        fault.error = EEXIST;
    if (!fault.error) {
        leave(w, *dir);
        *dir = next;
    }
    return fault;
}

/* Makes folder `part` of `dir`, and notes it as the first `len` bytes of `name`. */
static failure add_folder(cpubind_linux_writer *w, int dir, const char *part, const char *name,
                          size_t len)
{
    cpubind_bytes *folders = &w->folders;
    if (folders->len > CPUBIND_BYTES_MAX / 2 ||
        cpubind_bytes_reserve(folders, w->sys, (int32_t)len + 1).error)
        return fail(CPUBIND_LINUX_ERR_MEMORY, cpubind_fault_of(ENOMEM, "memory"));
    if (w->sys->mkdirat(dir, part, 0777) < 0)
        return fail_write("make folder");
    memcpy(folders->data + folders->len, name, len);
    folders->data[folders->len + (int32_t)len] = '\0';
    folders->len += (int32_t)len + 1;
    return none;
}

/* Writes `name` part by part. */
static failure put(cpubind_linux_writer *w, const char *name, const char *data, int32_t len)
{
    failure failed = none;
    name_part part;
    int fd, dir = w->root;
    for (const char *at = name;; at += part.len + 1) {
        if (!take_part(at, &part)) {
            failed = fail(CPUBIND_LINUX_ERR_WRITE, cpubind_fault_of(ENAMETOOLONG, "name"));
            break;
        }
        cpubind_linux_fault fault;
        if (!at[part.len]) {
            fault = cpubind_create(w->sys, dir, part.text, 0666, &fd);
            if (!fault.error)
                fault = cpubind_write_synced(w->sys, fd, data, len);
            failed = fail(CPUBIND_LINUX_ERR_WRITE, fault);
            break;
        }
        fault = enter(w, part.text, &dir);
        if (fault.error == ENOENT) {
            failed = add_folder(w, dir, part.text, name, (size_t)(at - name) + part.len);
            if (failed.status != CPUBIND_LINUX_OK)
                break;
            fault = enter(w, part.text, &dir);
        }
        failed = fail(CPUBIND_LINUX_ERR_WRITE, fault);
        if (fault.error)
            break;
    }
    leave(w, dir);
    return failed;
}

cpubind_linux_status cpubind_linux_writer_put(cpubind_linux_writer *writer, const char *name,
                                              const char *data, int32_t len,
                                              cpubind_linux_fault *fault)
{
    int n_part;
    if (!writer || writer->is_done)
        return end_argument("argument", fault);
    if (writer->failed.status != CPUBIND_LINUX_OK)
        return end(writer->failed, fault);
    if (!is_name(name, &n_part))
        return end_argument("name", fault);
    if (len < 0 || (len > 0 && !data))
        return end_argument("argument", fault);
    writer->failed = n_part > DEPTH_MAX
                         ? fail(CPUBIND_LINUX_ERR_WRITE, cpubind_fault_of(ENAMETOOLONG, "name"))
                         : put(writer, name, data, len);
    return end(writer->failed, fault);
}

/* == Commit: sync =========================================================== */

/* Syncs folder `name` of those that were made. */
static cpubind_linux_fault sync_folder(const cpubind_linux_writer *w, const char *name)
{
    cpubind_linux_fault fault = cpubind_no_fault;
    name_part part;
    int fd, dir = w->root;
    for (const char *at = name; take_part(at, &part) && at[part.len]; at += part.len + 1) {
        fault = enter(w, part.text, &dir);
        if (fault.error)
            break;
    }
    if (!fault.error)
        fault = cpubind_open(w->sys, dir, part.text, FOLDER_FLAGS, &fd);
    leave(w, dir);
    if (fault.error)
        return fault;
    fault = cpubind_sync(w->sys, fd);
    w->sys->close(fd);
    return fault;
}

static cpubind_linux_fault sync_folders(const cpubind_linux_writer *w)
{
    const cpubind_bytes *folders = &w->folders;
    for (int32_t at = 0; at < folders->len; at += (int32_t)strlen(folders->data + at) + 1) {
        cpubind_linux_fault fault = sync_folder(w, folders->data + at);
        if (fault.error)
            return fault;
    }
    return cpubind_sync(w->sys, w->root);
}

/* == Commit: rename ========================================================= */

static cpubind_linux_fault rename_with(const cpubind_linux_writer *w, const char *from,
                                       const char *to, int flags)
{
    return w->sys->rename(w->parent, from, to, flags) < 0 ? cpubind_fault_errno("rename")
                                                          : cpubind_no_fault;
}

/* Whether an error may mean that the kernel or the file system does not know a flag. (EPERM:
 * how older container filters refuse a call that they do not know.) A rename without flags then
 * shows whether something else was wrong. */
static int may_lack_flags(int error)
{
    return error == ENOSYS || error == EINVAL || error == EPERM || error == EOPNOTSUPP;
}

/* Renames to a name that is free. */
static cpubind_linux_fault rename_new(const cpubind_linux_writer *w, const char *from,
                                      const char *to)
{
    cpubind_linux_fault fault = rename_with(w, from, to, CPUBIND_RENAME_NOREPLACE);
    if (may_lack_flags(fault.error))
        fault = rename_with(w, from, to, 0);
    return fault;
}

/* A rename that failed, if it did: somebody was faster, or another reason. */
static failure fail_rename(cpubind_linux_fault fault)
{
    const int error = fault.error;
    if (error == EEXIST || error == ENOTEMPTY || error == ENOTDIR || error == EISDIR)
        return fail_exists();
    return fail(CPUBIND_LINUX_ERR_WRITE, fault);
}

static failure fail_put_back(cpubind_linux_fault fault)
{
    return fail(CPUBIND_LINUX_ERR_WRITE, cpubind_fault_of(fault.error, "put back"));
}

/* Renames when there is no target. */
static failure take_free(cpubind_linux_writer *w)
{
    w->existing = EXISTING_NONE;
    return fail_rename(rename_new(w, w->temp, w->base));
}

/* Renames the old folder to w->old, and the new one to the target. */
static failure take_in_two(cpubind_linux_writer *w)
{
    cpubind_linux_fault fault = cpubind_make_temp(w->base, make_folder, w, w->old);
    if (fault.error)
        return fail(CPUBIND_LINUX_ERR_WRITE, fault);
    fault = rename_with(w, w->base, w->old, 0);
    if (fault.error) {
        w->sys->unlinkat(w->parent, w->old, AT_REMOVEDIR);
        return fault.error == ENOENT ? take_free(w) : fail_rename(fault);
    }
    fault = rename_new(w, w->temp, w->base);
    if (!fault.error)
        return none;
    const cpubind_linux_fault back = rename_new(w, w->old, w->base);
    return back.error ? fail_put_back(back) : fail_rename(fault);
}

/* Renames when there is a target; the old folder is at w->old afterwards. */
static failure take_over(cpubind_linux_writer *w)
{
    const cpubind_linux_fault fault = rename_with(w, w->temp, w->base, CPUBIND_RENAME_EXCHANGE);
    if (!fault.error)
        memcpy(w->old, w->temp, sizeof w->old);
    if (may_lack_flags(fault.error))
        return take_in_two(w);
    if (fault.error == ENOENT) /* it was removed meanwhile */
        return take_free(w);
    return fail_rename(fault);
}

/* Undoes the renames. */
static cpubind_linux_fault put_back(const cpubind_linux_writer *w)
{
    if (w->existing != EXISTING_NONE && strcmp(w->old, w->temp) == 0)
        return rename_with(w, w->temp, w->base, CPUBIND_RENAME_EXCHANGE);
    const cpubind_linux_fault fault = rename_new(w, w->base, w->temp);
    return fault.error || w->existing == EXISTING_NONE ? fault : rename_new(w, w->old, w->base);
}

/* Ends a rename. The old folder is removed last, when the new name is on the disk: after a
 * power cut there is one of them. */
static failure settle(const cpubind_linux_writer *w)
{
    cpubind_linux_fault fault;
    if (w->existing != EXISTING_NONE) {
        int fd;
        fault = open_folder(w->sys, w->parent, w->old, &w->existing_id, 0, &fd);
        if (fault.error == ESTALE || fault.error == ENOTDIR || fault.error == ELOOP)
            return fail_exists();
        if (fault.error)
            return fail(CPUBIND_LINUX_ERR_WRITE, cpubind_fault_of(fault.error, "open"));
        w->sys->close(fd);
    }
    fault = cpubind_sync(w->sys, w->parent);
    if (fault.error)
        return fail(CPUBIND_LINUX_ERR_WRITE, fault);
    if (w->existing == EXISTING_EMPTY &&
        w->sys->unlinkat(w->parent, w->old, AT_REMOVEDIR) < 0 &&
        (errno == ENOTEMPTY || errno == EEXIST)) /* it was filled meanwhile */
        return fail_exists();
    /* The new folder is in place and whole: a failed removal does not undo that. */
    if (w->existing == EXISTING_HOST)
        remove_folder(w, w->old, &w->existing_id);
    return none;
}

static failure commit(cpubind_linux_writer *w)
{
    failure failed = fail(CPUBIND_LINUX_ERR_WRITE, sync_folders(w));
    if (failed.status == CPUBIND_LINUX_OK)
        failed = w->existing == EXISTING_NONE ? take_free(w) : take_over(w);
    if (failed.status != CPUBIND_LINUX_OK)
        return failed;
    failed = settle(w);
    if (failed.status == CPUBIND_LINUX_OK)
        return failed;
    const cpubind_linux_fault back = put_back(w);
    return back.error ? fail_put_back(back) : failed;
}

cpubind_linux_status cpubind_linux_writer_commit(cpubind_linux_writer *writer,
                                                 cpubind_linux_fault *fault)
{
    if (!writer || writer->is_done)
        return end_argument("argument", fault);
    if (writer->failed.status == CPUBIND_LINUX_OK) {
        writer->failed = commit(writer);
        writer->is_done = writer->failed.status == CPUBIND_LINUX_OK;
    }
    return end(writer->failed, fault);
}

/* == Close ================================================================== */

void cpubind_linux_writer_close(cpubind_linux_writer *writer)
{
    cpubind_linux_writer *w = writer;
    if (!w)
        return;
    /* After a failed "put back" another folder may have the temporary name: the new one is
     * known by its identity. */
    if (!w->is_done && w->temp[0] && w->has_id)
        remove_folder(w, w->temp, &w->root_id);
    else if (!w->is_done && w->temp[0])
        (void)w->sys->unlinkat(w->parent, w->temp, AT_REMOVEDIR);
    if (w->root >= 0)
        w->sys->close(w->root);
    if (w->parent >= 0)
        w->sys->close(w->parent);
    cpubind_bytes_free(&w->folders);
    free(w);
}
