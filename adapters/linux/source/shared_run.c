/* shared_run.c - one run of a tool serves all processes of a host
 * SPDX-License-Identifier: MIT
 *
 * Touches its own file, lock and temporary file in the folder of run_folder.h. The rules are in
 * shared_run.h.
 */
#define _GNU_SOURCE
#include "shared_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../../text/host_file.h"
#include "../../text/procfs.h"
#include "../kernel/run_folder.h"
#include "../search_path.h"
#include "host_files.h"

#define NAME_SIZE 96 /* of a file; of an input */

/* The file is a line and a host (text/host_file.h), which has the key and, as a capture has
 * them, the outputs. The line is the sum of all that follows it, and the monotonic clock. */
#define SUM_SIZE  17
#define LINE_SIZE (SUM_SIZE + 21)
#define KEY_NAME  "key"

/* More commands than one run has. */
#define MAX_COMMANDS 16

/* One use of the file. */
typedef struct session {
    const cpubind_shared *shared;
    const cpubind_sys *sys;
    int dir, lock;     /* -1: not open */
    cpubind_bytes key; /* see KEY in shared_run.h */
    char file[NAME_SIZE], lock_file[CPUBIND_RUN_NAME_SIZE];
} session;

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
        why = cpubind_bytes_add(&s->key, s->sys, boot.data, boot.len);
    cpubind_bytes_free(&boot);
    if (why.error)
        return why;
    const int n = snprintf(text, sizeof text, "%.64s\n%llu %llu %lld.%09ld\n", mount,
                           (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
                           (long long)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec);
    why = cpubind_bytes_add(&s->key, s->sys, text, n);
    if (!why.error && libraries)
        why = cpubind_bytes_add(&s->key, s->sys, libraries, (int32_t)strnlen(libraries, 65536));
    if (!why.error)
        why = cpubind_bytes_add(&s->key, s->sys, "\n", 1);
    if (!why.error)
        why = cpubind_bytes_add(&s->key, s->sys, s->shared->nodes.data, s->shared->nodes.len);
    return why;
}

static cpubind_linux_fault name_files(session *s, const char *mount)
{
    const char *digits = strchr(mount, '['), *tool = s->shared->tool;
    const int n = digits ? (int)strspn(digits + 1, "0123456789") : 0;
    if (n == 0 || n > 20 || strlen(s->shared->tag) > 40)
        return cpubind_fault_of(EINVAL, "name");
    snprintf(s->file, NAME_SIZE, "%.16s.%.*s%s", tool, n, digits + 1, s->shared->tag);
    snprintf(s->lock_file, sizeof s->lock_file, "%.16s.%.*s.lock", tool, n, digits + 1);
    return cpubind_no_fault;
}

/* == Reading ================================================================ */

static uint64_t sum_of(const cpubind_bytes *bytes)
{
    return cpubind_sum(CPUBIND_SUM, bytes->data + SUM_SIZE, (size_t)(bytes->len - SUM_SIZE));
}

/* Whether the bytes are a whole file that is young enough. */
static int is_usable(const cpubind_bytes *bytes)
{
    char line[LINE_SIZE + 1] = "", *end = line;
    int64_t age;
    if (bytes->len < LINE_SIZE)
        return 0;
    memcpy(line, bytes->data, LINE_SIZE);
    if (strtoull(line, &end, 16) != sum_of(bytes))
        return 0;
    age = cpubind_now_ms() - strtoll(end, NULL, 10);
    return age >= 0 && age < CPUBIND_SHARED_AGE_MS;
}

/* The names and the exit code beside an output. */
typedef struct beside {
    char exit_name[NAME_SIZE], err_name[NAME_SIZE], code[16];
} beside;

/* Returns 0 where the name is none of a text. */
static int name_beside(const char *name, beside *of)
{
    const size_t n = strlen(name);
    if (n < 4 || n + sizeof ".err" > NAME_SIZE || strcmp(name + n - 4, ".txt") != 0)
        return 0;
    snprintf(of->exit_name, NAME_SIZE, "%.*s.exit", (int)n - 4, name);
    snprintf(of->err_name, NAME_SIZE, "%s.err", name);
    return 1;
}

/* Reads one file of the host. Returns 0 when there is none, or no memory. */
static int read_part(const session *s, const cpubind_host_files *files, const char *name,
                     cpubind_bytes *to)
{
    return cpubind_host_files_read(files, name, s->sys, to).state == CPUBIND_INPUT_PRESENT;
}

/* Fills a command with its answer. Returns 0 when there is none, or no memory. */
static int fill(const session *s, const cpubind_host_files *files, const char *name,
                cpubind_command *command)
{
    beside of;
    cpubind_bytes code = {NULL, 0, 0}, err = {NULL, 0, 0};
    int32_t exit_code;
    const int is_whole =
        name_beside(name, &of) && read_part(s, files, name, &command->bytes) &&
        read_part(s, files, of.exit_name, &code) && read_part(s, files, of.err_name, &err) &&
        err.len <= (int32_t)sizeof command->err &&
        cpubind_number_parse(code.data, code.len, &exit_code, NULL) == CPUBIND_TEXT_OK;
    if (is_whole) {
        if (err.len > 0)
            memcpy(command->err, err.data, (size_t)err.len);
        command->err_len = err.len;
        command->input = cpubind_input_of(CPUBIND_INPUT_PRESENT);
        command->input.exit_code = exit_code;
        command->input.err = err.len > 0 ? command->err : NULL;
        command->input.err_len = err.len;
        command->phase = CPUBIND_PHASE_DONE;
        command->fd = command->err_fd = -1;
    }
    cpubind_bytes_free(&code);
    cpubind_bytes_free(&err);
    return is_whole;
}

/* Opens the host that the file is. NULL: there is none that can be used. */
static cpubind_host_files *open_answers(const session *s)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_text_fault fault;
    const int is_read =
        !cpubind_read_mine(s->sys, s->dir, s->file, CPUBIND_SHARED_MAX, &bytes).error;
    if (!is_read || !is_usable(&bytes)) {
        cpubind_bytes_free(&bytes);
        return NULL;
    }
    bytes.len -= LINE_SIZE;
    memmove(bytes.data, bytes.data + LINE_SIZE, (size_t)bytes.len);
    return cpubind_host_files_make(bytes.data, bytes.len, s->sys, &fault);
}

/* Fills all commands from the file. Returns 0 when it cannot: the commands are as they were. */
static int take(const session *s, cpubind_command *command, const char *const *name, int32_t n)
{
    cpubind_host_files *files = open_answers(s);
    cpubind_bytes key = {NULL, 0, 0};
    int32_t filled = 0;
    if (!files)
        return 0;
    if (read_part(s, files, KEY_NAME, &key) && key.len == s->key.len &&
        memcmp(key.data, s->key.data, (size_t)key.len) == 0)
        while (filled < n && fill(s, files, name[filled], &command[filled]))
            filled++;
    cpubind_bytes_free(&key);
    cpubind_host_files_free(files);
    for (int32_t i = 0; filled < n && i < n; i++) {
        cpubind_bytes_free(&command[i].bytes);
        command[i] = (cpubind_command){.argv = command[i].argv};
    }
    return filled == n;
}

/* == Writing ================================================================ */

static int order_of_parts(const void *a, const void *b)
{
    return cpubind_host_file_order(((const cpubind_host_part *)a)->name,
                                   ((const cpubind_host_part *)b)->name);
}

/* Makes the three parts of a command. Returns 0 where its name is none of a text. */
static int make_parts(const cpubind_command *c, const char *name, beside *of,
                      cpubind_host_part out[3])
{
    if (!name_beside(name, of))
        return 0;
    snprintf(of->code, sizeof of->code, "%d", (int)c->input.exit_code);
    out[0] = (cpubind_host_part){name, c->bytes.data, c->bytes.len};
    out[1] = (cpubind_host_part){of->exit_name, of->code, (int32_t)strlen(of->code)};
    out[2] = (cpubind_host_part){of->err_name, c->err, c->err_len};
    return 1;
}

static cpubind_linux_fault format(const session *s, const cpubind_command *command,
                                  const char *const *name, int32_t n, cpubind_bytes *to)
{
    beside of[MAX_COMMANDS];
    cpubind_host_part part[3 * MAX_COMMANDS + 1] = {{KEY_NAME, s->key.data, s->key.len}};
    char line[LINE_SIZE + 1];
    int32_t n_part = 1;
    int64_t len;
    cpubind_linux_fault why = cpubind_fault_of(n > MAX_COMMANDS ? EFBIG : 0, "length");
    for (int32_t i = 0; i < n && !why.error; i++, n_part += 3)
        if (!make_parts(&command[i], name[i], &of[i], &part[n_part]))
            why = cpubind_fault_of(EINVAL, "name");
    if (why.error)
        return why;
    qsort(part, (size_t)n_part, sizeof *part, order_of_parts);
    len = LINE_SIZE + cpubind_host_file_write(part, n_part, NULL);
    why = len > CPUBIND_SHARED_MAX ? cpubind_fault_of(EFBIG, "length")
                                   : cpubind_bytes_reserve(to, s->sys, (int32_t)len);
    if (why.error)
        return why;
    to->len = (int32_t)len;
    (void)cpubind_host_file_write(part, n_part, to->data + LINE_SIZE);
    snprintf(line, sizeof line, "%*s%20lld\n", SUM_SIZE, "", (long long)cpubind_now_ms());
    memcpy(to->data, line, LINE_SIZE);
    snprintf(line, sizeof line, "%016llx ", (unsigned long long)sum_of(to));
    memcpy(to->data, line, SUM_SIZE);
    return why;
}

/* Keeps the outputs, unless a command has not ended well. */
static void keep(const session *s, const cpubind_command *command, const char *const *name,
                 int32_t n)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    for (int32_t i = 0; i < n; i++)
        if (command[i].input.state != CPUBIND_INPUT_PRESENT || WIFSIGNALED(command[i].status))
            return;
    if (!format(s, command, name, n, &bytes).error)
        (void)cpubind_replace(s->sys, s->dir, s->file, 0600, bytes.data, bytes.len);
    cpubind_bytes_free(&bytes);
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
        const int is_locked =
            is_open &&
            !cpubind_run_lock(s.sys, s.lock_file,
                              (int64_t)shared->limit_ms + CPUBIND_COMMAND_KILL_MS, &s.lock)
                 .error;
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
