/* files.c - files and folders: open, read, list, create, write
 * SPDX-License-Identifier: MIT
 *
 * Every system call goes through the table of sys.h. Opens nothing outside of a snapshot; the
 * rules are in files.h.
 */
#define _GNU_SOURCE
#include "files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Least room that a read is given. */
#define READ_MIN 4096

/* How often a full queue of connections is tried. */
#define CONNECT_TICK_MS 5

/* Temporary names that are tried. */
#define TEMP_TRIES 1000

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* As many links as the kernel follows on one path. */
#define LINKS_MAX 40

/* RESOLVE_BENEATH fails with EAGAIN when anything on the host was renamed while a ".." was
 * followed. After a few tries on a host that is that busy, the path is walked part by part. */
#define BENEATH_TRIES 8

/* CLOCK_MONOTONIC is there on every Linux: the call cannot fail. */
int64_t cpubind_now_ms(void)
{
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

cpubind_linux_fault cpubind_wait_for(const cpubind_sys *sys, int fd, short events,
                                     int64_t until_ms, const char *what)
{
    struct pollfd wait = {fd, events, 0};
    int result;
    do {
        const int64_t left_ms = until_ms - cpubind_now_ms();
        if (left_ms <= 0)
            return cpubind_fault_of(ETIMEDOUT, what);
        result = sys->poll(&wait, 1, (int)left_ms);
    } while (result == 0 || (result < 0 && errno == EINTR));
    return result < 0 ? cpubind_fault_errno("poll") : cpubind_no_fault;
}

cpubind_linux_fault cpubind_connect(const cpubind_sys *sys, int fd,
                                    const struct sockaddr_un *to, int64_t until_ms)
{
    int result;
    for (;;) {
        CPUBIND_RETRY(result, sys->connect(fd, (const struct sockaddr *)to, sizeof *to));
        if (result == 0)
            return cpubind_no_fault;
        if (errno != EAGAIN)
            return cpubind_fault_errno("connect");
        if (cpubind_now_ms() >= until_ms)
            return cpubind_fault_of(ETIMEDOUT, "connect");
        (void)sys->poll(NULL, 0, CONNECT_TICK_MS);
    }
}

/* == Files and folders by descriptor ======================================== */

cpubind_linux_fault cpubind_open(const cpubind_sys *sys, int dir, const char *path, int flags,
                                 int *fd)
{
    CPUBIND_RETRY(*fd, sys->openat(dir, path, flags));
    return *fd < 0 ? cpubind_fault_errno("open") : cpubind_no_fault;
}

cpubind_linux_fault cpubind_open_file(const cpubind_sys *sys, int dir, const char *path,
                                      int flags, const char *what, struct stat *st, int *fd)
{
    int result;
    cpubind_linux_fault why = cpubind_open(sys, dir, path, OPEN_FLAGS | flags, fd);
    if (why.error)
        return why;
    CPUBIND_RETRY(result, sys->fstat(*fd, st));
    if (result < 0)
        why = cpubind_fault_errno(what);
    else if (!S_ISREG(st->st_mode))
        why = cpubind_fault_of(S_ISDIR(st->st_mode) ? EISDIR : EINVAL, what);
    if (why.error)
        sys->close(*fd);
    return why;
}

cpubind_linux_fault cpubind_read_all(const cpubind_sys *sys, int fd, int32_t max,
                                     cpubind_bytes *bytes)
{
    while (bytes->len <= max) {
        ssize_t n;
        cpubind_linux_fault fault = cpubind_bytes_reserve(bytes, sys, READ_MIN);
        if (fault.error)
            return fault;
        CPUBIND_RETRY(
            n, sys->read(fd, bytes->data + bytes->len, (size_t)(bytes->cap - bytes->len)));
        if (n < 0)
            return cpubind_fault_errno("read");
        if (n == 0)
            return cpubind_no_fault;
        bytes->len += (int32_t)n;
    }
    return cpubind_fault_of(EFBIG, "length");
}

cpubind_linux_fault cpubind_read_mine(const cpubind_sys *sys, int dir, const char *name,
                                      int32_t max, cpubind_bytes *bytes)
{
    struct stat st;
    int fd;
    cpubind_linux_fault why = cpubind_open_file(sys, dir, name, O_NOFOLLOW, "file", &st, &fd);
    if (why.error)
        return why;
    if (!cpubind_is_mine(sys, &st))
        why = cpubind_fault_of(EPERM, "file");
    else
        why = st.st_size > max ? cpubind_fault_of(EFBIG, "length")
                               : cpubind_read_all(sys, fd, max, bytes);
    sys->close(fd);
    return why;
}

cpubind_linux_fault cpubind_read_text(const cpubind_sys *sys, int dir, const char *path,
                                      char *text, size_t size, int32_t *len)
{
    int fd;
    ssize_t n = 1;
    size_t done = 0;
    cpubind_linux_fault fault =
        cpubind_open(sys, dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY, &fd);
    if (fault.error)
        return fault;
    while (n > 0 && done < size - 1) {
        CPUBIND_RETRY(n, sys->read(fd, text + done, size - 1 - done));
        if (n < 0)
            fault = cpubind_fault_errno("read");
        else
            done += (size_t)n;
    }
    sys->close(fd);
    text[done] = '\0';
    *len = (int32_t)done;
    return fault;
}

cpubind_linux_fault cpubind_each_name(const cpubind_sys *sys, int fd, cpubind_name_visit *visit,
                                      void *ctx)
{
    cpubind_linux_fault fault = cpubind_no_fault;
    DIR *folder = sys->fdopendir(fd);
    if (!folder) {
        fault = cpubind_fault_errno("list");
        sys->close(fd);
        return fault;
    }
    while (!fault.error) {
        const struct dirent *entry;
        do {
            errno = 0;
            entry = sys->readdir(folder);
        } while (!entry && errno == EINTR);
        if (!entry) {
            fault = cpubind_fault_of(errno, "list");
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            fault = visit(ctx, entry->d_name);
    }
    sys->closedir(folder);
    return fault;
}

cpubind_linux_fault cpubind_lock(const cpubind_sys *sys, int fd)
{
    int result;
    CPUBIND_RETRY(result, sys->flock(fd, LOCK_EX | LOCK_NB));
    return result < 0 ? cpubind_fault_errno("lock") : cpubind_no_fault;
}

/* == Writing ================================================================ */

cpubind_linux_fault cpubind_create(const cpubind_sys *sys, int dir, const char *name,
                                   mode_t mode, int *fd)
{
    CPUBIND_RETRY(*fd, sys->create(dir, name, mode));
    return *fd < 0 ? cpubind_fault_errno("create") : cpubind_no_fault;
}

cpubind_linux_fault cpubind_write_value(const cpubind_sys *sys, int dir, const char *path,
                                        const char *text, const char *what)
{
    cpubind_bytes line = {NULL, 0, 0};
    ssize_t n = -1;
    int fd;
    cpubind_linux_fault why = cpubind_bytes_add(&line, sys, text, (int32_t)strlen(text));
    if (!why.error)
        why = cpubind_bytes_add(&line, sys, "\n", 1);
    if (!why.error) {
        why = cpubind_open(sys, dir, path, O_WRONLY | O_CLOEXEC | O_NOCTTY, &fd);
        why.what = what;
    }
    if (!why.error) {
        CPUBIND_RETRY(n, sys->write(fd, line.data, (size_t)line.len));
        if (n < 0)
            why = cpubind_fault_errno(what);
        else if (n != line.len)
            why = cpubind_fault_of(EIO, what);
        sys->close(fd);
    }
    cpubind_bytes_free(&line);
    return cpubind_fault_of(why.error, why.what);
}

static cpubind_linux_fault write_all(const cpubind_sys *sys, int fd, const char *data,
                                     int32_t len)
{
    while (len > 0) {
        ssize_t n;
        CPUBIND_RETRY(n, sys->write(fd, data, (size_t)len));
        if (n < 0)
            return cpubind_fault_errno("write");
        if (n == 0) /* no progress and no reason: repeating would never end */
            return cpubind_fault_of(EIO, "write");
        data += n;
        len -= (int32_t)n;
    }
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_sync(const cpubind_sys *sys, int fd)
{
    int result;
    CPUBIND_RETRY(result, sys->fsync(fd));
    if (result < 0 && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
        return cpubind_fault_errno("sync");
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_write_synced(const cpubind_sys *sys, int fd, const char *data,
                                         int32_t len)
{
    cpubind_linux_fault fault = write_all(sys, fd, data, len);
    if (!fault.error)
        fault = cpubind_sync(sys, fd);
    /* Where fsync is not known, a full disk may show at close only. */
    if (sys->close(fd) < 0 && errno != EINTR && !fault.error)
        fault = cpubind_fault_errno("close");
    return fault;
}

/* The bytes of a base that a temporary name keeps. A character of UTF-8 is not cut: some file
 * systems refuse that. */
static int kept_of_base(const char *base)
{
    size_t n = strlen(base);
    if (n > CPUBIND_TEMP_BASE_MAX) {
        n = CPUBIND_TEMP_BASE_MAX;
        while (n > 0 && ((unsigned char)base[n] & 0xc0) == 0x80)
            n--;
    }
    return (int)n;
}

cpubind_linux_fault cpubind_make_temp(const char *base, cpubind_name_visit *make, void *ctx,
                                      char name[NAME_MAX + 1])
{
    cpubind_linux_fault fault = cpubind_fault_of(EEXIST, "create");
    for (int n = 0; fault.error == EEXIST && n < TEMP_TRIES; n++) {
        snprintf(name, NAME_MAX + 1, ".%.*s.%ld.%d.tmp", kept_of_base(base), base,
                 (long)getpid(), n);
        fault = make(ctx, name);
    }
    if (fault.error)
        name[0] = '\0';
    return fault;
}

/* The temporary file of a file that is being replaced. */
typedef struct new_file {
    const cpubind_sys *sys;
    int dir, fd;
    mode_t mode;
} new_file;

static cpubind_linux_fault create_temp(void *ctx, const char *name)
{
    new_file *new = ctx;
    return cpubind_create(new->sys, new->dir, name, new->mode, &new->fd);
}

cpubind_linux_fault cpubind_replace(const cpubind_sys *sys, int dir, const char *base,
                                    mode_t mode, const char *data, int32_t len)
{
    char name[NAME_MAX + 1];
    new_file new = {sys, dir, -1, mode};
    cpubind_linux_fault fault = cpubind_make_temp(base, create_temp, &new, name);
    if (!fault.error)
        fault = cpubind_write_synced(sys, new.fd, data, len);
    if (!fault.error && sys->rename(dir, name, base) < 0)
        fault = cpubind_fault_errno("rename");
    if (fault.error && name[0])
        (void)sys->unlinkat(dir, name, 0);
    return cpubind_fault_of(fault.error, fault.what);
}

/* Whether a name is a temporary one for this base. */
static int is_temp_name(const char *name, const char *base)
{
    const size_t n_base = (size_t)kept_of_base(base);
    if (name[0] != '.' || strncmp(name + 1, base, n_base) != 0)
        return 0;
    name += 1 + n_base;
    for (int i = 0; i < 2; i++) {
        const size_t n = name[0] == '.' ? strspn(name + 1, "0123456789") : 0;
        if (n == 0)
            return 0;
        name += 1 + n;
    }
    return strcmp(name, ".tmp") == 0;
}

/* A base in a folder. */
typedef struct temps {
    const cpubind_sys *sys;
    int dir;
    const char *base;
} temps;

static cpubind_linux_fault remove_temp(void *ctx, const char *name)
{
    const temps *t = (const temps *)ctx;
    if (is_temp_name(name, t->base))
        (void)t->sys->unlinkat(t->dir, name, 0);
    return cpubind_no_fault;
}

void cpubind_remove_temps(const cpubind_sys *sys, int dir, const char *base)
{
    temps t = {sys, dir, base};
    int fd;
    if (!cpubind_open(sys, dir, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, &fd)
             .error)
        (void)cpubind_each_name(sys, fd, remove_temp, &t);
}

/* == Opening below a root, and never outside of it ========================== */

/* A path while its links are resolved. */
typedef struct resolving {
    char done[PATH_MAX]; /* the part without links, "." and ".."; "" is the root itself */
    size_t n_done;
    char left[PATH_MAX]; /* the rest, with everything that links brought in */
} resolving;

/* Moves the first part of `left` to the end of `done`. */
static cpubind_linux_fault advance(resolving *r)
{
    const char *part = r->left + strspn(r->left, "/");
    size_t len = strcspn(part, "/");
    if (len == 2 && part[0] == '.' && part[1] == '.') {
        const char *slash = memrchr(r->done, '/', r->n_done);
        if (r->n_done == 0)
            return cpubind_fault_of(EXDEV, "open");
        r->n_done = slash ? (size_t)(slash - r->done) : 0;
    } else if (len > 1 || (len == 1 && part[0] != '.')) {
        if (r->n_done + 1 + len >= sizeof r->done)
            return cpubind_fault_of(ENAMETOOLONG, "open");
        if (r->n_done)
            r->done[r->n_done++] = '/';
        memcpy(r->done + r->n_done, part, len);
        r->n_done += len;
    }
    r->done[r->n_done] = '\0';
    memmove(r->left, part + len, strlen(part + len) + 1);
    return cpubind_no_fault;
}

/* Replaces a link, the last part of `done`, by its target. */
static cpubind_linux_fault replace_link(resolving *r, const char *target, size_t len)
{
    size_t n_left = strlen(r->left);
    if (len > 0 && target[0] == '/')
        return cpubind_fault_of(EXDEV, "open");
    if (len + 1 + n_left >= sizeof r->left)
        return cpubind_fault_of(ENAMETOOLONG, "open");
    memmove(r->left + len + 1, r->left, n_left + 1);
    memcpy(r->left, target, len);
    r->left[len] = '/';
    const char *slash = memrchr(r->done, '/', r->n_done);
    r->n_done = slash ? (size_t)(slash - r->done) : 0;
    r->done[r->n_done] = '\0';
    return cpubind_no_fault;
}

/* The path of `name` without links: r->done. */
static cpubind_linux_fault resolve(const cpubind_root *root, const char *name, resolving *r)
{
    char target[PATH_MAX];
    int links = 0;
    cpubind_linux_fault fault = cpubind_no_fault;
    r->n_done = 0;
    r->done[0] = '\0';
    memcpy(r->left, name, strlen(name) + 1);
    while (!fault.error && r->left[strspn(r->left, "/")]) {
        fault = advance(r);
        if (fault.error || r->n_done == 0)
            continue;
        ssize_t len = root->sys->readlinkat(root->fd, r->done, target, sizeof target);
        if (len < 0)
            fault = errno == EINVAL ? cpubind_no_fault /* no link */
                                    : cpubind_fault_errno("open");
        else if (++links > LINKS_MAX)
            fault = cpubind_fault_of(ELOOP, "open");
        else if ((size_t)len >= sizeof target)
            fault = cpubind_fault_of(ENAMETOOLONG, "open");
        else
            fault = replace_link(r, target, (size_t)len);
    }
    return fault;
}

/* Opens a path without links part by part; a link there is refused. */
static cpubind_linux_fault walk(const cpubind_root *root, const char *name, int flags, int *fd)
{
    const cpubind_sys *sys = root->sys;
    resolving r;
    cpubind_linux_fault fault = resolve(root, name, &r);
    int dir = root->fd;
    char *part = r.done, *slash;
    while (!fault.error && (slash = strchr(part, '/')) != NULL) {
        int next;
        *slash = '\0';
        fault =
            cpubind_open(sys, dir, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, &next);
        if (dir != root->fd)
            sys->close(dir);
        if (fault.error)
            return fault;
        dir = next;
        part = slash + 1;
    }
    if (!fault.error)
        fault = cpubind_open(sys, dir, *part ? part : ".", OPEN_FLAGS | O_NOFOLLOW | flags, fd);
    if (dir != root->fd)
        sys->close(dir);
    return fault;
}

cpubind_linux_fault cpubind_root_live(cpubind_root *root, const cpubind_sys *sys)
{
    *root = (cpubind_root){sys ? sys : &cpubind_sys_real, -1, CPUBIND_REACH_ANYWHERE};
    return cpubind_open(root->sys, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, &root->fd);
}

cpubind_linux_fault cpubind_root_open(cpubind_root *root, const char *name, int flags, int *fd)
{
    *fd = -1;
    if (root->reach == CPUBIND_REACH_ANYWHERE)
        return cpubind_open(root->sys, root->fd, name, OPEN_FLAGS | flags, fd);
    if (root->reach == CPUBIND_REACH_BENEATH) {
        for (int tries = 0; tries < BENEATH_TRIES; tries++) {
            *fd = root->sys->open_beneath(root->fd, name, OPEN_FLAGS | flags);
            if (*fd >= 0 || (errno != EAGAIN && errno != EINTR))
                break;
        }
        if (*fd >= 0)
            return cpubind_no_fault;
        /* EPERM: how older container filters refuse a call that they do not know. */
        if (errno == ENOSYS || errno == EPERM)
            root->reach = CPUBIND_REACH_WALK;
        else if (errno != EAGAIN && errno != EINTR)
            return cpubind_fault_errno("open");
    }
    return walk(root, name, flags, fd);
}

/* == Reading and listing below a root ======================================= */

static cpubind_input open_failed(int error)
{
    if (error == EXDEV)
        return cpubind_input_failed(error, "a symbolic link leads outside the snapshot");
    return cpubind_input_missing(error, "open");
}

/* A container runtime mounts /dev/null over a file that the container must not see; since 2025
 * that is /proc/interrupts, too. */
static int is_masked(const struct stat *st)
{
    return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

static cpubind_input read_regular(const cpubind_sys *sys, int fd, cpubind_bytes *bytes)
{
    struct stat st;
    if (sys->fstat(fd, &st) < 0)
        return cpubind_input_failed(errno, "stat");
    if (is_masked(&st))
        return cpubind_input_of(CPUBIND_INPUT_ABSENT);
    if (!S_ISREG(st.st_mode))
        return cpubind_input_failed(S_ISDIR(st.st_mode) ? EISDIR : EINVAL,
                                    "not a regular file");
    cpubind_linux_fault fault = cpubind_read_all(sys, fd, CPUBIND_FILE_MAX, bytes);
    if (!fault.error)
        return cpubind_input_of(CPUBIND_INPUT_PRESENT);
    return bytes->len > CPUBIND_FILE_MAX ? cpubind_input_of(CPUBIND_INPUT_TOO_LONG)
                                         : cpubind_input_failed(fault.error, fault.what);
}

cpubind_input cpubind_root_read(cpubind_root *root, const char *name, cpubind_bytes *bytes)
{
    int fd;
    cpubind_linux_fault fault = cpubind_root_open(root, name, 0, &fd);
    if (fault.error)
        return open_failed(fault.error);
    cpubind_input input = read_regular(root->sys, fd, bytes);
    root->sys->close(fd);
    return input;
}

/* A folder that is being listed: its names so far, each ended by NUL. */
typedef struct listing {
    const cpubind_sys *sys;
    cpubind_bytes *names;
    int32_t n;
    int is_too_long;
} listing;

static cpubind_linux_fault collect(void *ctx, const char *name)
{
    listing *l = ctx;
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ')
            return cpubind_fault_of(EILSEQ, "a name holds a control byte");
    const int32_t size_bytes = (int32_t)strlen(name) + 1;
    if (l->n == CPUBIND_LIST_MAX_NAMES || l->names->len + size_bytes > CPUBIND_LIST_MAX_BYTES) {
        l->is_too_long = 1;
        return cpubind_fault_of(EFBIG, "list");
    }
    l->n++;
    return cpubind_bytes_add(l->names, l->sys, name, size_bytes);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Turns `n` names, each ended by NUL, into sorted lines. */
static cpubind_linux_fault sort_lines(const cpubind_sys *sys, cpubind_bytes *names, int32_t n)
{
    if (n == 0)
        return cpubind_no_fault;
    cpubind_bytes lines = {NULL, 0, 0};
    const char **name = sys->malloc((size_t)n * sizeof *name);
    cpubind_linux_fault fault = name ? cpubind_bytes_reserve(&lines, sys, names->len)
                                     : cpubind_fault_of(ENOMEM, "memory");
    if (!fault.error) {
        const char *at = names->data;
        for (int32_t i = 0; i < n; i++, at += strlen(at) + 1)
            name[i] = at;
        qsort(name, (size_t)n, sizeof *name, compare_names);
        for (int32_t i = 0; i < n; i++) {
            size_t len = strlen(name[i]);
            memcpy(lines.data + lines.len, name[i], len);
            lines.data[lines.len + (int32_t)len] = '\n';
            lines.len += (int32_t)len + 1;
        }
        cpubind_bytes_free(names);
        *names = lines;
    }
    free(name);
    return fault;
}

cpubind_input cpubind_root_list(cpubind_root *root, const char *name, cpubind_bytes *bytes)
{
    listing l = {root->sys, bytes, 0, 0};
    int fd;
    cpubind_linux_fault fault = cpubind_root_open(root, name, O_DIRECTORY, &fd);
    if (fault.error == ENOTDIR) /* something is there that cannot be listed */
        return cpubind_input_failed(ENOTDIR, "not a folder");
    if (fault.error)
        return open_failed(fault.error);
    fault = cpubind_each_name(root->sys, fd, collect, &l);
    if (l.is_too_long)
        return cpubind_input_of(CPUBIND_INPUT_TOO_LONG);
    if (!fault.error)
        fault = sort_lines(root->sys, bytes, l.n);
    if (fault.error == ENOENT) /* the folder was removed meanwhile */
        return cpubind_input_of(CPUBIND_INPUT_ABSENT);
    if (fault.error)
        return cpubind_input_failed(fault.error, fault.what);
    return cpubind_input_of(CPUBIND_INPUT_PRESENT);
}

/* == Inputs without data ==================================================== */

cpubind_input cpubind_input_of(cpubind_input_state state)
{
    return (cpubind_input){.state = state};
}

cpubind_input cpubind_input_failed(int error, const char *why)
{
    return (cpubind_input){
        .state = CPUBIND_INPUT_FAILED, .error = error ? error : EIO, .why = why};
}

cpubind_input cpubind_input_missing(int error, const char *why)
{
    if (error == ENOENT || error == ENOTDIR)
        return cpubind_input_of(CPUBIND_INPUT_ABSENT);
    return cpubind_input_failed(error, why);
}

cpubind_linux_fault cpubind_input_fault(cpubind_input input)
{
    switch (input.state) {
    case CPUBIND_INPUT_PRESENT:
        return cpubind_no_fault;
    case CPUBIND_INPUT_ABSENT:
        return cpubind_fault_of(ENOENT, "open");
    case CPUBIND_INPUT_FAILED:
        return cpubind_fault_of(input.error, input.why);
    default:
        return cpubind_fault_of(EFBIG, "length");
    }
}
