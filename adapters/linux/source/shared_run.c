/* shared_run.c - one run of a tool serves all processes of a host
 * SPDX-License-Identifier: MIT
 *
 * Touches its own file, lock and temporary file in the folder of run_folder.h. The rules are in
 * shared_run.h. The file is read by the kernel that wrote it, so numbers are in host order.
 */
#define _GNU_SOURCE
#include "shared_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kernel/run_folder.h"
#include "../search_path.h"

#define OPEN_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* How often the lock is tried. */
#define LOCK_TICK_MS 10

#define NAME_SIZE 96 /* of a file; of an input */

/* FORMAT  head, then n parts, then the key, then for each part its output and its stderr */
typedef struct head {
    char magic[8];
    uint64_t sum;    /* FNV-1a, 64 bits, of all that follows */
    int64_t time_ms; /* the monotonic clock of this boot */
    int32_t n, key_len;
} head;

typedef struct part {
    int32_t exit_code, len, err_len, unused;
    char name[NAME_SIZE]; /* of the input, ended by NUL */
} part;

static const char magic[8] = {'C', 'P', 'U', 'B', 'n', 's', '0', '1'};

/* One use of the file. */
typedef struct session {
    const cpubind_shared *shared;
    const cpubind_sys *sys;
    int dir, lock;     /* -1: not open */
    cpubind_bytes key; /* see KEY in shared_run.h */
    char file[NAME_SIZE], lock_file[NAME_SIZE], temp_file[NAME_SIZE];
} session;

/* == Bytes ================================================================== */

static cpubind_linux_fault add(cpubind_bytes *to, const cpubind_sys *sys, const void *data,
                               int32_t len)
{
    if (len > CPUBIND_SHARED_MAX - to->len)
        return cpubind_fault_of(EFBIG, "length");
    cpubind_linux_fault why = cpubind_bytes_reserve(to, sys, len);
    if (!why.error && len > 0) {
        memcpy(to->data + to->len, data, (size_t)len);
        to->len += len;
    }
    return why;
}

/* == The key ================================================================ */

/* Finds the file that spawn runs for the tool. ENOENT: there is none. */
static cpubind_linux_fault find_program(const cpubind_sys *sys, const char *tool,
                                        struct stat *st)
{
    const char *rest = getenv("PATH"), *folder;
    char full[PATH_MAX];
    size_t n;
    while ((folder = cpubind_next_folder(&rest, &n)) != NULL) {
        const int len =
            n < PATH_MAX ? snprintf(full, sizeof full, "%.*s/%s", (int)n, folder, tool) : -1;
        if (len > 0 && (size_t)len < sizeof full && sys->statat(AT_FDCWD, full, st) == 0 &&
            S_ISREG(st->st_mode) && sys->accessat(AT_FDCWD, full, X_OK) == 0)
            return cpubind_no_fault;
    }
    return cpubind_fault_of(ENOENT, tool);
}

/* Makes the key, and the names of the files: `mount` is "mnt:[NUMBER]". */
static cpubind_linux_fault make_key(session *s, const char *mount)
{
    const char *libraries = getenv("LD_LIBRARY_PATH");
    struct stat st;
    char text[512];
    cpubind_bytes boot = {NULL, 0, 0};
    cpubind_linux_fault why = find_program(s->sys, s->shared->tool, &st);
    if (!why.error)
        why = cpubind_input_fault(
            cpubind_root_read(s->shared->root, "proc/sys/kernel/random/boot_id", &boot));
    if (!why.error)
        why = add(&s->key, s->sys, boot.data, boot.len);
    cpubind_bytes_free(&boot);
    if (why.error)
        return why;
    const int n = snprintf(text, sizeof text, "%.64s\n%llu %llu %lld.%09ld\n", mount,
                           (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
                           (long long)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec);
    why = add(&s->key, s->sys, text, n);
    if (!why.error && libraries)
        why = add(&s->key, s->sys, libraries, (int32_t)strnlen(libraries, 65536));
    if (!why.error)
        why = add(&s->key, s->sys, "\n", 1);
    if (!why.error)
        why = add(&s->key, s->sys, s->shared->nodes.data, s->shared->nodes.len);
    return why;
}

static cpubind_linux_fault name_files(session *s, const char *mount)
{
    const char *digits = strchr(mount, '['), *tool = s->shared->tool;
    const int n = digits ? (int)strspn(digits + 1, "0123456789") : 0;
    if (n == 0 || n > 20 || strlen(s->shared->tag) > 40)
        return cpubind_fault_of(EINVAL, "name");
    snprintf(s->file, NAME_SIZE, "%.16s.%.*s%s", tool, n, digits + 1, s->shared->tag);
    snprintf(s->lock_file, NAME_SIZE, "%.16s.%.*s.lock", tool, n, digits + 1);
    snprintf(s->temp_file, NAME_SIZE, ".%.16s.%.*s%s.tmp", tool, n, digits + 1, s->shared->tag);
    return cpubind_no_fault;
}

/* == Reading ================================================================ */

/* Whether an open file is one that only this user can have written. */
static int is_own(const cpubind_sys *sys, int fd)
{
    struct stat st;
    return sys->fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == sys->geteuid() &&
           !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static cpubind_linux_fault read_file(const session *s, cpubind_bytes *bytes)
{
    int fd;
    cpubind_linux_fault why = cpubind_open(s->sys, s->dir, s->file, OPEN_FLAGS, &fd);
    if (why.error)
        return why;
    why = is_own(s->sys, fd) ? cpubind_read_all(s->sys, fd, CPUBIND_SHARED_MAX, bytes)
                             : cpubind_fault_of(EPERM, "file");
    s->sys->close(fd);
    return why;
}

/* Whether the bytes are a whole file with the key of this process, and young enough. */
static int is_usable(const session *s, const cpubind_bytes *bytes, head *h)
{
    const int32_t before_sum = (int32_t)(offsetof(head, sum) + sizeof h->sum);
    int64_t size = sizeof *h, age;
    if (bytes->len < (int32_t)sizeof *h)
        return 0;
    memcpy(h, bytes->data, sizeof *h);
    if (memcmp(h->magic, magic, sizeof magic) != 0 ||
        h->sum != cpubind_sum(CPUBIND_SUM, bytes->data + before_sum,
                              (size_t)(bytes->len - before_sum)) ||
        h->n < 0 || h->n > CPUBIND_SHARED_MAX / (int32_t)sizeof(part) ||
        h->key_len != s->key.len)
        return 0;
    size += h->n * (int64_t)sizeof(part) + h->key_len;
    for (int32_t i = 0; i < h->n; i++) {
        part p;
        if ((int64_t)sizeof *h + (i + 1) * (int64_t)sizeof p > bytes->len)
            return 0;
        memcpy(&p, bytes->data + sizeof *h + (size_t)i * sizeof p, sizeof p);
        if (p.len < 0 || p.err_len < 0 || p.err_len > CPUBIND_INPUT_ERR_MAX ||
            !memchr(p.name, '\0', sizeof p.name))
            return 0;
        size += (int64_t)p.len + p.err_len;
    }
    age = cpubind_now_ms() - h->time_ms;
    return size == bytes->len && age >= 0 && age < CPUBIND_SHARED_AGE_MS &&
           memcmp(bytes->data + sizeof *h + (size_t)h->n * sizeof(part), s->key.data,
                  (size_t)h->key_len) == 0;
}

/* Fills a command from the part of its name. Returns 0 when there is none, or no memory. */
static int fill(const session *s, const cpubind_bytes *bytes, const head *h, const char *name,
                cpubind_command *command)
{
    size_t at = sizeof *h + (size_t)h->n * sizeof(part) + (size_t)h->key_len;
    for (int32_t i = 0; i < h->n; i++) {
        part p;
        memcpy(&p, bytes->data + sizeof *h + (size_t)i * sizeof p, sizeof p);
        if (strcmp(p.name, name) != 0) {
            at += (size_t)p.len + (size_t)p.err_len;
            continue;
        }
        if (add(&command->bytes, s->sys, bytes->data + at, p.len).error)
            return 0;
        memcpy(command->err, bytes->data + at + (size_t)p.len, (size_t)p.err_len);
        command->err_len = p.err_len;
        command->input = cpubind_input_of(CPUBIND_INPUT_PRESENT);
        command->input.exit_code = p.exit_code;
        command->input.err = p.err_len > 0 ? command->err : NULL;
        command->input.err_len = p.err_len;
        command->phase = CPUBIND_PHASE_DONE;
        command->fd = command->err_fd = -1;
        return 1;
    }
    return 0;
}

/* Fills all commands from the file. Returns 0 when it cannot: the commands are as they were. */
static int take(const session *s, cpubind_command *command, const char *const *name, int32_t n)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    head h;
    int32_t filled = 0;
    if (!read_file(s, &bytes).error && is_usable(s, &bytes, &h))
        while (filled < n && fill(s, &bytes, &h, name[filled], &command[filled]))
            filled++;
    cpubind_bytes_free(&bytes);
    if (filled == n)
        return 1;
    for (int32_t i = 0; i < n; i++) {
        cpubind_bytes_free(&command[i].bytes);
        command[i] = (cpubind_command){.argv = command[i].argv};
    }
    return 0;
}

/* == Writing ================================================================ */

static cpubind_linux_fault format(const session *s, const cpubind_command *command,
                                  const char *const *name, int32_t n, cpubind_bytes *to)
{
    head h = {.time_ms = cpubind_now_ms(), .n = n, .key_len = s->key.len};
    memcpy(h.magic, magic, sizeof magic);
    cpubind_linux_fault why = add(to, s->sys, &h, (int32_t)sizeof h);
    for (int32_t i = 0; !why.error && i < n; i++) {
        part p = {.exit_code = command[i].input.exit_code,
                  .len = command[i].bytes.len,
                  .err_len = command[i].err_len};
        if (strlen(name[i]) >= sizeof p.name)
            return cpubind_fault_of(ENAMETOOLONG, "name");
        memcpy(p.name, name[i], strlen(name[i]));
        why = add(to, s->sys, &p, (int32_t)sizeof p);
    }
    if (!why.error)
        why = add(to, s->sys, s->key.data, s->key.len);
    for (int32_t i = 0; !why.error && i < n; i++) {
        why = add(to, s->sys, command[i].bytes.data, command[i].bytes.len);
        if (!why.error)
            why = add(to, s->sys, command[i].err, command[i].err_len);
    }
    if (!why.error) {
        const size_t before = offsetof(head, sum) + sizeof h.sum;
        h.sum = cpubind_sum(CPUBIND_SUM, to->data + before, (size_t)to->len - before);
        memcpy(to->data, &h, sizeof h);
    }
    return why;
}

/* Keeps the outputs, unless a command has not ended well. The lock is held: nobody else writes
 * to the temporary file, and one that is there is of a process that was killed. */
static void keep(const session *s, const cpubind_command *command, const char *const *name,
                 int32_t n)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    int fd;
    for (int32_t i = 0; i < n; i++)
        if (command[i].input.state != CPUBIND_INPUT_PRESENT || WIFSIGNALED(command[i].status))
            return;
    cpubind_linux_fault why = format(s, command, name, n, &bytes);
    if (!why.error) {
        (void)s->sys->unlinkat(s->dir, s->temp_file, 0);
        why = cpubind_create(s->sys, s->dir, s->temp_file, 0600, &fd);
        if (!why.error) {
            why = cpubind_write_synced(s->sys, fd, bytes.data, bytes.len);
            if (!why.error && s->sys->rename(s->dir, s->temp_file, s->file) < 0)
                why = cpubind_fault_errno("rename");
            if (why.error)
                (void)s->sys->unlinkat(s->dir, s->temp_file, 0);
        }
    }
    cpubind_bytes_free(&bytes);
}

/* == The lock =============================================================== */

/* Opens the file of the lock, which is never removed; makes it when it is not there. */
static cpubind_linux_fault open_lock(session *s)
{
    cpubind_linux_fault why = cpubind_create(s->sys, s->dir, s->lock_file, 0600, &s->lock);
    if (why.error == EEXIST)
        why = cpubind_open(s->sys, s->dir, s->lock_file, OPEN_FLAGS, &s->lock);
    return !why.error && !is_own(s->sys, s->lock) ? cpubind_fault_of(EPERM, "lock") : why;
}

/* Waits for the lock as long as a command may take. */
static cpubind_linux_fault lock(session *s)
{
    const int64_t end = cpubind_now_ms() + s->shared->limit_ms + CPUBIND_COMMAND_KILL_MS;
    cpubind_linux_fault why = open_lock(s);
    while (!why.error) {
        if (s->sys->flock(s->lock, LOCK_EX | LOCK_NB) == 0)
            return cpubind_no_fault;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return cpubind_fault_errno("lock");
        if (cpubind_now_ms() >= end)
            return cpubind_fault_of(ETIMEDOUT, "lock");
        if (s->sys->poll(NULL, 0, LOCK_TICK_MS) < 0 && errno != EINTR)
            return cpubind_fault_errno("poll");
    }
    return why;
}

/* == A run ================================================================== */

static cpubind_linux_fault open_session(session *s)
{
    char mount[64];
    cpubind_linux_fault why = cpubind_no_fault;
    const ssize_t n =
        s->sys->readlinkat(s->shared->root->fd, "proc/self/ns/mnt", mount, sizeof mount - 1);
    if (n < 0)
        return cpubind_fault_errno("namespace");
    mount[n] = '\0';
    why = name_files(s, mount);
    if (!why.error)
        why = make_key(s, mount);
    return why.error ? why : cpubind_run_folder_open(s->shared->root, 1, &s->dir);
}

void cpubind_shared_run(const cpubind_shared *shared, cpubind_command *command,
                        const char *const *name, int32_t n)
{
    session s = {.shared = shared, .sys = shared->root->sys, .dir = -1, .lock = -1};
    const int is_open = !open_session(&s).error;
    if (!is_open || !take(&s, command, name, n)) {
        const int is_locked = is_open && !lock(&s).error;
        if (!is_locked || !take(&s, command, name, n)) {
            cpubind_commands_run(command, n, shared->limit_ms, s.sys);
            if (is_locked)
                keep(&s, command, name, n);
        }
    }
    if (s.lock >= 0)
        s.sys->close(s.lock);
    if (s.dir >= 0)
        s.sys->close(s.dir);
    cpubind_bytes_free(&s.key);
}
