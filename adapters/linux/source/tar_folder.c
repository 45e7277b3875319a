/* tar_folder.c - the files of a tar archive in memory, as a snapshot folder
 * SPDX-License-Identifier: MIT
 *
 * text/tar.h reads the entries; here they become a sorted table. Two entries of one name, and a
 * file that is the folder of another, are refused: which of them counts would be a guess.
 */
#include "tar_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../kernel/files.h"

/* More files than any host has. */
#define MAX_FILES 65536

typedef struct file {
    char *name;
    cpubind_slice data;
    int32_t header; /* its place in the archive */
} file;

struct cpubind_tar_folder {
    char *text;
    file *file; /* sorted by name */
    int32_t n, cap;
};

/* == Reading the entries ==================================================== */

static int refuse(cpubind_tar_fault *why, int32_t offset, const char *name, const char *what)
{
    const size_t n = strlen(name);
    const size_t kept = n < sizeof why->name - 1 ? n : sizeof why->name - 1;
    why->what = what;
    why->offset = offset;
    memcpy(why->name, name, kept);
    why->name[kept] = '\0';
    return 0;
}

static int add_file(cpubind_tar_folder *f, const cpubind_sys *sys, int32_t header,
                    const cpubind_tar_entry *entry, cpubind_tar_fault *why)
{
    const size_t size = strlen(entry->name) + 1;
    file *grown;
    if (f->n == MAX_FILES)
        return refuse(why, header, entry->name, "the archive has too many files");
    grown = (file *)cpubind_grow(sys, f->file, f->n, &f->cap, sizeof *grown);
    if (!grown)
        return refuse(why, -1, "", "memory");
    f->file = grown;
    grown[f->n] = (file){(char *)sys->malloc(size), entry->data, header};
    if (!grown[f->n].name)
        return refuse(why, -1, "", "memory");
    memcpy(grown[f->n++].name, entry->name, size);
    return 1;
}

static int read_entries(cpubind_tar_folder *f, int32_t len, const cpubind_sys *sys,
                        cpubind_tar_fault *why)
{
    cpubind_tar_entry entry = {.name = ""};
    cpubind_text_fault fault;
    for (int32_t at = 0;;) {
        const int32_t header = at;
        entry.name[0] = '\0';
        if (cpubind_tar_next(f->text, len, &at, &entry, &fault) != CPUBIND_TEXT_OK)
            return refuse(why, fault.offset, entry.name, fault.what);
        if (entry.name[0] == '\0')
            return 1;
        if (!entry.is_folder && !add_file(f, sys, header, &entry, why))
            return 0;
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const file *)a)->name, ((const file *)b)->name);
}

/* Whether all files are in one folder that a snapshot does not have; its length with "/". */
static size_t top_of(const cpubind_tar_folder *f)
{
    static const char *const own[] = {"proc/", "sys/", "cmd/",   "dev/",
                                      "etc/",  "usr/", "expect/"};
    const size_t n = f->n > 0 ? strcspn(f->file[0].name, "/") + 1 : 0;
    if (n == 0 || f->file[0].name[n - 1] != '/')
        return 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i]) == n && strncmp(f->file[0].name, own[i], n) == 0)
            return 0;
    for (int32_t i = 1; i < f->n; i++)
        if (strncmp(f->file[i].name, f->file[0].name, n) != 0)
            return 0;
    return n;
}

/* The first file whose name is not before `name`. */
static int32_t find(const cpubind_tar_folder *f, const char *name)
{
    int32_t from = 0, to = f->n;
    while (from < to) {
        const int32_t middle = from + (to - from) / 2;
        if (strcmp(f->file[middle].name, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The first file below a folder, or -1; `n` is the length of the folder's name. */
static int32_t first_below(const cpubind_tar_folder *f, const char *name, size_t n)
{
    char start[CPUBIND_INPUT_NAME_MAX + 2];
    int32_t at;
    memcpy(start, name, n);
    start[n] = '/';
    start[n + 1] = '\0';
    at = find(f, start);
    return at < f->n && strncmp(f->file[at].name, start, n + 1) == 0 ? at : -1;
}

/* Sorts the files and checks that each name is there once. */
static int order(cpubind_tar_folder *f, cpubind_tar_fault *why)
{
    const size_t top = top_of(f);
    for (int32_t i = 0; i < f->n; i++)
        memmove(f->file[i].name, f->file[i].name + top, strlen(f->file[i].name + top) + 1);
    if (f->n > 0)
        qsort(f->file, (size_t)f->n, sizeof *f->file, by_name);
    for (int32_t i = 0; i < f->n; i++) {
        const file *one = &f->file[i];
        if (i > 0 && strcmp(one->name, one[-1].name) == 0)
            return refuse(why, one->header, one->name,
                          "the archive has two files of this name");
        if (first_below(f, one->name, strlen(one->name)) >= 0)
            return refuse(why, one->header, one->name, "it is a file, and a folder too");
    }
    return 1;
}

cpubind_tar_folder *cpubind_tar_folder_make(char *text, int32_t len, const cpubind_sys *sys,
                                            cpubind_tar_fault *why)
{
    cpubind_tar_folder *f = (cpubind_tar_folder *)sys->malloc(sizeof *f);
    if (!f) {
        free(text);
        (void)refuse(why, -1, "", "memory");
        return NULL;
    }
    *f = (cpubind_tar_folder){.text = text};
    if (read_entries(f, len, sys, why) && order(f, why))
        return f;
    cpubind_tar_folder_free(f);
    return NULL;
}

void cpubind_tar_folder_free(cpubind_tar_folder *f)
{
    if (!f)
        return;
    for (int32_t i = 0; i < f->n; i++)
        free(f->file[i].name);
    free(f->file);
    free(f->text);
    free(f);
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

cpubind_input cpubind_tar_folder_read(const cpubind_tar_folder *f, const char *name,
                                      const cpubind_sys *sys, cpubind_bytes *bytes)
{
    const int32_t i = find(f, name);
    if (strcmp(name, ".") == 0 || first_below(f, name, strlen(name)) >= 0)
        return cpubind_input_failed(EISDIR, "not a regular file");
    if (i == f->n || strcmp(f->file[i].name, name) != 0)
        return cpubind_input_of(CPUBIND_INPUT_ABSENT);
    if (f->file[i].data.len > CPUBIND_FILE_MAX)
        return cpubind_input_of(CPUBIND_INPUT_TOO_LONG);
    return append(sys, f->text + f->file[i].data.at, f->file[i].data.len, bytes);
}

/* A part of a name. */
typedef struct part {
    const char *text;
    size_t len;
} part;

static int by_part(const void *a, const void *b)
{
    const part *x = (const part *)a, *y = (const part *)b;
    const int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Writes the parts as lines, each once. */
static cpubind_input write_parts(part *parts, int32_t n, const cpubind_sys *sys,
                                 cpubind_bytes *bytes)
{
    cpubind_input input = cpubind_input_of(CPUBIND_INPUT_PRESENT);
    qsort(parts, (size_t)n, sizeof *parts, by_part);
    for (int32_t i = 0; input.state == CPUBIND_INPUT_PRESENT && i < n; i++) {
        if (i > 0 && by_part(&parts[i], &parts[i - 1]) == 0)
            continue;
        input = append(sys, parts[i].text, (int32_t)parts[i].len, bytes);
        if (input.state == CPUBIND_INPUT_PRESENT)
            input = append(sys, "\n", 1, bytes);
    }
    return input;
}

cpubind_input cpubind_tar_folder_list(const cpubind_tar_folder *f, const char *name,
                                      const cpubind_sys *sys, cpubind_bytes *bytes)
{
    const int is_top = strcmp(name, ".") == 0;
    const size_t n = is_top ? 0 : strlen(name) + 1;
    const int32_t first = is_top ? 0 : first_below(f, name, n - 1);
    const int32_t i = find(f, name);
    int32_t end = first;
    cpubind_input input;
    if (first < 0 && i < f->n && strcmp(f->file[i].name, name) == 0)
        return cpubind_input_failed(ENOTDIR, "not a folder");
    if (first < 0 || f->n == 0)
        return cpubind_input_of(CPUBIND_INPUT_ABSENT);
    while (end < f->n && (is_top || strncmp(f->file[end].name, f->file[first].name, n) == 0))
        end++;
    part *parts = (part *)sys->malloc((size_t)(end - first) * sizeof *parts);
    if (!parts)
        return cpubind_input_failed(ENOMEM, "memory");
    for (int32_t k = first; k < end; k++)
        parts[k - first] = (part){f->file[k].name + n, strcspn(f->file[k].name + n, "/")};
    input = write_parts(parts, end - first, sys, bytes);
    free(parts);
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
