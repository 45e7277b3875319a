/* folder_writer.c - a snapshot folder that appears whole or not at all
 * SPDX-License-Identifier: MIT
 *
 * Writes into the folder of the writer alone. How it gets its name is in replace_folder.c, how
 * a folder
 * is removed in remove_folder.c.
 */
#define _GNU_SOURCE
#include "folder_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../../text/input_name.h"
#include "../common.h"
#include "../kernel/bytes.h"
#include "remove_folder.h"
#include "replace_folder.h"

struct cpubind_linux_writer {
    cpubind_target target;
    int root;                    /* the new folder, open for reading; -1 before */
    int has_id;                  /* `id` is known */
    cpubind_folder_id id;        /* of the new folder */
    cpubind_bytes folders;       /* names of the folders made in it, each ended by NUL */
    int is_done;                 /* a commit succeeded */
    cpubind_linux_status status; /* of the first failure: the answer from then on */
    cpubind_linux_fault fault;
    char path[]; /* of the parent, ended by NUL, and behind it the base */
};

/* A failure that ends the writer. */
static cpubind_linux_status fail(cpubind_linux_writer *writer, cpubind_linux_status status,
                                 int error, const char *what, cpubind_linux_fault *fault)
{
    writer->status = cpubind_linux_fail(status, error, what, &writer->fault);
    return cpubind_linux_fail(status, error, what, fault);
}

static cpubind_linux_status fail_write(cpubind_linux_writer *writer, const char *what,
                                       cpubind_linux_fault *fault)
{
    return fail(writer, CPUBIND_LINUX_ERR_WRITE, errno, what, fault);
}

static cpubind_linux_status fail_argument(const char *what, cpubind_linux_fault *fault)
{
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, what, fault);
}

/* == open == */

/* Cuts `path` into the parent and the last part, which is returned; NULL when there is none
 * that a folder could be given. */
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

/* The folder that is written into. */
static cpubind_linux_status make_root(cpubind_linux_writer *writer, cpubind_linux_fault *fault)
{
    cpubind_target *target = &writer->target;
    if (cpubind_target_make(target, target->temp) < 0)
        return fail_write(writer, "make folder", fault);
    writer->root = cpubind_folder_open(target->sys, target->parent, target->temp);
    if (writer->root < 0)
        return fail_write(writer, "open", fault);
    if (cpubind_folder_identify(target->sys, writer->root, &writer->id) < 0)
        return fail_write(writer, "stat", fault);
    writer->has_id = 1;
    return CPUBIND_LINUX_OK;
}

static cpubind_linux_status start(cpubind_linux_writer *writer, int is_replacing,
                                  cpubind_linux_fault *fault)
{
    cpubind_target *target = &writer->target;
    const char *parent = NULL;
    target->base = cut_path(writer->path, &parent);
    if (!target->base)
        return fail_argument("argument", fault);
    target->parent =
        cpubind_open_retry(target->sys, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (target->parent < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_OPEN, errno, "open", fault);
    cpubind_linux_status status = cpubind_target_look(target, is_replacing, fault);
    return status == CPUBIND_LINUX_OK ? make_root(writer, fault) : status;
}

cpubind_linux_status cpubind_linux_writer_open(const char *dir, int is_replacing,
                                               const cpubind_sys *sys,
                                               cpubind_linux_writer **out,
                                               cpubind_linux_fault *fault)
{
    if (out)
        *out = NULL;
    if (!dir || !out)
        return fail_argument("argument", fault);
    if (!sys)
        sys = &cpubind_sys_real;
    size_t size_path = strlen(dir) + 1;
    cpubind_linux_writer *writer = sys->malloc(sizeof *writer + size_path);
    if (!writer)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    *writer = (cpubind_linux_writer){.target = {.sys = sys, .parent = -1}, .root = -1};
    memcpy(writer->path, dir, size_path);
    cpubind_linux_status status = start(writer, is_replacing, fault);
    if (status == CPUBIND_LINUX_OK)
        *out = writer;
    else
        cpubind_linux_writer_close(writer);
    return status;
}

/* == put == */

static int n_parts(const char *name)
{
    int n = 1;
    while ((name = strchr(name, '/')) != NULL) {
        name++;
        n++;
    }
    return n;
}

/* Whether `name` may be written: as the seam has it, and no part ".", which would be a second
 * name of the same file. */
static int is_name(const char *name)
{
    if (!cpubind_input_is_name(name))
        return 0;
    for (const char *part = name;; part++) {
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

/* 0, or -1 with errno. */
static int take_part(const char *at, name_part *part)
{
    part->len = strcspn(at, "/");
    if (part->len >= sizeof part->text) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(part->text, at, part->len);
    part->text[part->len] = '\0';
    return 0;
}

/* Opens folder `part` of `dir`, and no link. As openat(2), but EEXIST for what is no folder. */
static int open_folder(const cpubind_sys *sys, int dir, const char *part)
{
    int fd =
        cpubind_openat_retry(sys, dir, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        errno = EEXIST;
    return fd;
}

/* Makes folder `part` of `dir`, and remembers it as the first `len` bytes of `name`. */
static cpubind_linux_status make_folder(cpubind_linux_writer *writer, int dir, const char *part,
                                        const char *name, size_t len,
                                        cpubind_linux_fault *fault)
{
    const cpubind_sys *sys = writer->target.sys;
    cpubind_bytes *folders = &writer->folders;
    if (folders->len > CPUBIND_BYTES_MAX / 2 ||
        cpubind_bytes_reserve(folders, sys, (int32_t)len + 1).error)
        return fail(writer, CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    if (sys->mkdirat(dir, part, 0777) < 0)
        return fail_write(writer, "make folder", fault);
    memcpy(folders->data + folders->len, name, len);
    folders->data[folders->len + (int32_t)len] = '\0';
    folders->len += (int32_t)len + 1;
    return CPUBIND_LINUX_OK;
}

/* Opens folder `part` of `dir`, which is made where it is missing; name[0 .. len - 1] leads to
 * it. *out is to be closed. */
static cpubind_linux_status enter(cpubind_linux_writer *writer, int dir, const char *part,
                                  const char *name, size_t len, int *out,
                                  cpubind_linux_fault *fault)
{
    const cpubind_sys *sys = writer->target.sys;
    *out = open_folder(sys, dir, part);
    if (*out < 0 && errno == ENOENT) {
        cpubind_linux_status status = make_folder(writer, dir, part, name, len, fault);
        if (status != CPUBIND_LINUX_OK)
            return status;
        *out = open_folder(sys, dir, part);
    }
    return *out < 0 ? fail_write(writer, "open", fault) : CPUBIND_LINUX_OK;
}

static void leave(const cpubind_linux_writer *writer, int dir)
{
    if (dir != writer->root)
        cpubind_close_quietly(writer->target.sys, dir);
}

/* Writes the file `part` of `dir`. */
static cpubind_linux_status write_file(cpubind_linux_writer *writer, int dir, const char *part,
                                       const char *data, int32_t len,
                                       cpubind_linux_fault *fault)
{
    const cpubind_sys *sys = writer->target.sys;
    const char *what = NULL;
    int fd;
    do
        fd = sys->create(dir, part, 0666);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return fail_write(writer, "create", fault);
    if (cpubind_write_all(sys, fd, data, len) < 0)
        what = "write";
    else if (cpubind_fsync_retry(sys, fd) < 0)
        what = "sync";
    if (what) {
        cpubind_close_quietly(sys, fd);
        return fail_write(writer, what, fault);
    }
    /* Where fsync is not known, a full disk may show only here. */
    if (sys->close(fd) < 0 && errno != EINTR)
        return fail_write(writer, "close", fault);
    return CPUBIND_LINUX_OK;
}

/* Writes `name` part by part. */
static cpubind_linux_status put(cpubind_linux_writer *writer, const char *name,
                                const char *data, int32_t len, cpubind_linux_fault *fault)
{
    cpubind_linux_status status = CPUBIND_LINUX_OK;
    name_part part;
    int dir = writer->root;
    for (const char *at = name;; at += part.len + 1) {
        int next;
        if (take_part(at, &part) < 0) {
            status = fail_write(writer, "name", fault);
            break;
        }
        if (!at[part.len]) {
            status = write_file(writer, dir, part.text, data, len, fault);
            break;
        }
        size_t n_name = (size_t)(at - name) + part.len;
        status = enter(writer, dir, part.text, name, n_name, &next, fault);
        if (status != CPUBIND_LINUX_OK)
            break;
        leave(writer, dir);
        dir = next;
    }
    leave(writer, dir);
    return status;
}

/* OK, or the failure that has ended the writer. */
static cpubind_linux_status usable(const cpubind_linux_writer *writer,
                                   cpubind_linux_fault *fault)
{
    if (!writer || writer->is_done)
        return fail_argument("argument", fault);
    if (writer->status != CPUBIND_LINUX_OK && fault)
        *fault = writer->fault;
    return writer->status;
}

cpubind_linux_status cpubind_linux_writer_put(cpubind_linux_writer *writer, const char *name,
                                              const char *data, int32_t len,
                                              cpubind_linux_fault *fault)
{
    cpubind_linux_status status = usable(writer, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    if (!is_name(name))
        return fail_argument("name", fault);
    if (len < 0 || (len > 0 && !data))
        return fail_argument("argument", fault);
    if (n_parts(name) > CPUBIND_DEPTH_MAX)
        return fail(writer, CPUBIND_LINUX_ERR_WRITE, ENAMETOOLONG, "name", fault);
    return put(writer, name, data, len, fault);
}

/* == commit == */

/* Syncs folder `name` of those that were made. */
static cpubind_linux_status sync_folder(cpubind_linux_writer *writer, const char *name,
                                        cpubind_linux_fault *fault)
{
    const cpubind_sys *sys = writer->target.sys;
    name_part part;
    int dir = writer->root;
    for (const char *at = name; take_part(at, &part) == 0; at += part.len + 1) {
        int is_last = !at[part.len];
        int next = is_last ? cpubind_folder_open(sys, dir, part.text)
                           : open_folder(sys, dir, part.text);
        leave(writer, dir);
        if (next < 0)
            return fail_write(writer, "open", fault);
        dir = next;
        if (is_last)
            break;
    }
    int result = cpubind_fsync_retry(sys, dir);
    leave(writer, dir);
    return result < 0 ? fail_write(writer, "sync", fault) : CPUBIND_LINUX_OK;
}

static cpubind_linux_status sync_folders(cpubind_linux_writer *writer,
                                         cpubind_linux_fault *fault)
{
    const cpubind_bytes *folders = &writer->folders;
    for (int32_t at = 0; at < folders->len; at += (int32_t)strlen(folders->data + at) + 1) {
        cpubind_linux_status status = sync_folder(writer, folders->data + at, fault);
        if (status != CPUBIND_LINUX_OK)
            return status;
    }
    if (cpubind_fsync_retry(writer->target.sys, writer->root) < 0)
        return fail_write(writer, "sync", fault);
    return CPUBIND_LINUX_OK;
}

cpubind_linux_status cpubind_linux_writer_commit(cpubind_linux_writer *writer,
                                                 cpubind_linux_fault *fault)
{
    cpubind_linux_status status = usable(writer, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    status = sync_folders(writer, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    cpubind_linux_fault why = {0, NULL};
    status = cpubind_target_take(&writer->target, &why);
    if (status != CPUBIND_LINUX_OK)
        return fail(writer, status, why.error, why.what, fault);
    writer->is_done = 1;
    return CPUBIND_LINUX_OK;
}

/* == close == */

/* Removes what was written. The folder is told by its number: after a failed "put back" another
 * one may have its name. */
static void discard(const cpubind_linux_writer *writer)
{
    const cpubind_target *target = &writer->target;
    if (!target->temp[0])
        return;
    if (writer->has_id)
        (void)cpubind_remove_folder(target->sys, target->parent, target->temp, &writer->id);
    else
        (void)target->sys->unlinkat(target->parent, target->temp, AT_REMOVEDIR);
}

void cpubind_linux_writer_close(cpubind_linux_writer *writer)
{
    if (!writer)
        return;
    const cpubind_sys *sys = writer->target.sys;
    if (!writer->is_done)
        discard(writer);
    if (writer->root >= 0)
        sys->close(writer->root);
    if (writer->target.parent >= 0)
        sys->close(writer->target.parent);
    cpubind_bytes_free(&writer->folders);
    free(writer);
}
