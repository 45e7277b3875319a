/* host_files.c - the files of NAME.host in memory, as a snapshot folder
 * SPDX-License-Identifier: MIT
 *
 * text/host_file.h decodes the entries, which ascend; here they become a table.
 */
#include "host_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../kernel/files.h"

/* More files than any host has. */
#define MAX_FILES 65536

struct cpubind_host_files {
    char *text; /* decoded */
    cpubind_host_entry *file;
    int32_t n, cap;
};

/* == Decoding =============================================================== */

static int refuse(cpubind_text_fault *why, int32_t offset, const char *what)
{
    *why = (cpubind_text_fault){offset, what};
    return 0;
}

static int read_entries(cpubind_host_files *f, int32_t len, const cpubind_sys *sys,
                        cpubind_text_fault *why)
{
    cpubind_host_entry entry = {{0, 0}, {0, 0}};
    for (int32_t at = 0;;) {
        const int32_t before = at;
        if (cpubind_host_file_next(f->text, len, &at, &entry, why) != CPUBIND_TEXT_OK)
            return 0;
        if (entry.name.len == 0)
            return 1;
        if (f->n == MAX_FILES)
            return refuse(why, before, "it has more than 65536 files");
        if (CPUBIND_APPEND(sys, f->file, f->n, f->cap, &entry).error)
            return refuse(why, -1, "memory");
    }
}

cpubind_host_files *cpubind_host_files_make(char *text, int32_t len, const cpubind_sys *sys,
                                            cpubind_text_fault *why)
{
    cpubind_host_files *f = (cpubind_host_files *)sys->malloc(sizeof *f);
    if (!f) {
        free(text);
        (void)refuse(why, -1, "memory");
        return NULL;
    }
    *f = (cpubind_host_files){.text = text};
    if (read_entries(f, len, sys, why))
        return f;
    cpubind_host_files_free(f);
    return NULL;
}

void cpubind_host_files_free(cpubind_host_files *f)
{
    if (!f)
        return;
    free(f->file);
    free(f->text);
    free(f);
}

/* == Finding ================================================================ */

static const char *name_of(const cpubind_host_files *f, int32_t i)
{
    return f->text + f->file[i].name.at;
}

/* The first file whose name is not before `name`. */
static int32_t find(const cpubind_host_files *f, const char *name)
{
    int32_t from = 0, to = f->n;
    while (from < to) {
        const int32_t middle = from + (to - from) / 2;
        if (cpubind_host_file_order(name_of(f, middle), name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Whether a file is below a folder; `n` is the length of the folder's name. */
static int is_below(const cpubind_host_files *f, int32_t i, const char *name, size_t n)
{
    return i < f->n && strncmp(name_of(f, i), name, n) == 0 && name_of(f, i)[n] == '/';
}

/* == Reading and listing ==================================================== */

static cpubind_input append(const cpubind_sys *sys, const char *data, int32_t len,
                            cpubind_bytes *bytes)
{
    if (cpubind_bytes_reserve(bytes, sys, len + 1).error)
        return cpubind_input_failed(ENOMEM, "memory");
    memcpy(bytes->data + bytes->len, data, (size_t)len);
    bytes->len += len;
    return cpubind_input_of(CPUBIND_INPUT_PRESENT);
}

cpubind_input cpubind_host_files_read(const cpubind_host_files *f, const char *name,
                                      const cpubind_sys *sys, cpubind_bytes *bytes)
{
    const int32_t i = find(f, name);
    if (strcmp(name, ".") == 0 || is_below(f, i, name, strlen(name)))
        return cpubind_input_failed(EISDIR, "not a regular file");
    if (i == f->n || strcmp(name_of(f, i), name) != 0)
        return cpubind_input_of(CPUBIND_INPUT_ABSENT);
    if (f->file[i].data.len > CPUBIND_FILE_MAX)
        return cpubind_input_of(CPUBIND_INPUT_TOO_LONG);
    return append(sys, f->text + f->file[i].data.at, f->file[i].data.len, bytes);
}

/* The bytes of the part of a name that begins at `part`. */
static int32_t part_length(const char *part)
{
    return (int32_t)strcspn(part, "/");
}

cpubind_input cpubind_host_files_list(const cpubind_host_files *f, const char *name,
                                      const cpubind_sys *sys, cpubind_bytes *bytes)
{
    const int is_top = strcmp(name, ".") == 0;
    const size_t n = is_top ? 0 : strlen(name) + 1;
    int32_t i = is_top ? 0 : find(f, name);
    cpubind_input input = cpubind_input_of(CPUBIND_INPUT_PRESENT);
    const char *last = NULL;
    if (i < f->n && strcmp(name_of(f, i), name) == 0)
        return cpubind_input_failed(ENOTDIR, "not a folder");
    if (i == f->n || (!is_top && !is_below(f, i, name, n - 1)))
        return cpubind_input_of(CPUBIND_INPUT_ABSENT);
    for (; input.state == CPUBIND_INPUT_PRESENT &&
           (is_top ? i < f->n : is_below(f, i, name, n - 1));
         i++) {
        const char *part = name_of(f, i) + n;
        const int32_t len = part_length(part);
        if (last && part_length(last) == len && strncmp(last, part, (size_t)len) == 0)
            continue;
        last = part;
        input = append(sys, part, len, bytes);
        if (input.state == CPUBIND_INPUT_PRESENT)
            input = append(sys, "\n", 1, bytes);
    }
    return input;
}

/* == The file =============================================================== */

cpubind_linux_fault cpubind_linux_read_file(const char *path, const cpubind_sys *sys,
                                            cpubind_bytes *bytes)
{
    struct stat st;
    int fd, result;
    if (!sys)
        sys = &cpubind_sys_real;
    cpubind_linux_fault fault =
        cpubind_open(sys, AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, &fd);
    if (fault.error)
        return fault;
    CPUBIND_RETRY(result, sys->fstat(fd, &st));
    if (result < 0)
        fault = cpubind_fault_errno("stat");
    else if (!S_ISREG(st.st_mode))
        fault = cpubind_fault_of(S_ISDIR(st.st_mode) ? EISDIR : EINVAL, "stat");
    else
        fault = cpubind_read_all(sys, fd, CPUBIND_FILE_MAX, bytes);
    sys->close(fd);
    return fault;
}
