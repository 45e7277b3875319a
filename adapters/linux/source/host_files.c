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
    cpubind_host_part *file;
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
        const cpubind_host_part part = {f->text + entry.name.at, f->text + entry.data.at,
                                        entry.data.len};
        if (CPUBIND_APPEND(sys, f->file, f->n, f->cap, &part).error)
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

/* == Reading and listing ==================================================== */

static cpubind_host_names names_of(const cpubind_host_files *f)
{
    return (cpubind_host_names){f->file, f->n, sizeof *f->file};
}

cpubind_input cpubind_host_files_read(const cpubind_host_files *f, const char *name,
                                      const cpubind_sys *sys, cpubind_bytes *bytes)
{
    const cpubind_host_names names = names_of(f);
    const int32_t i = cpubind_host_names_find(&names, name);
    if (cpubind_host_names_list(&names, name, NULL) >= 0 || strcmp(name, ".") == 0)
        return cpubind_input_failed(EISDIR, "not a regular file");
    if (i == f->n || strcmp(f->file[i].name, name) != 0)
        return cpubind_input_of(CPUBIND_INPUT_ABSENT);
    if (f->file[i].len > CPUBIND_FILE_MAX)
        return cpubind_input_of(CPUBIND_INPUT_TOO_LONG);
    if (cpubind_bytes_add(bytes, sys, f->file[i].data, f->file[i].len).error)
        return cpubind_input_failed(ENOMEM, "memory");
    return cpubind_input_of(CPUBIND_INPUT_PRESENT);
}

cpubind_input cpubind_host_files_list(const cpubind_host_files *f, const char *name,
                                      const cpubind_sys *sys, cpubind_bytes *bytes)
{
    const cpubind_host_names names = names_of(f);
    const int32_t i = cpubind_host_names_find(&names, name);
    const int32_t len = cpubind_host_names_list(&names, name, NULL);
    if (len < 0)
        return i < f->n && strcmp(f->file[i].name, name) == 0
                   ? cpubind_input_failed(ENOTDIR, "not a folder")
                   : cpubind_input_of(CPUBIND_INPUT_ABSENT);
    if (cpubind_bytes_reserve(bytes, sys, len + 1).error)
        return cpubind_input_failed(ENOMEM, "memory");
    bytes->len += cpubind_host_names_list(&names, name, bytes->data + bytes->len);
    return cpubind_input_of(CPUBIND_INPUT_PRESENT);
}

/* == The file =============================================================== */

cpubind_linux_fault cpubind_linux_read_file(const char *path, const cpubind_sys *sys,
                                            cpubind_bytes *bytes)
{
    struct stat st;
    int fd;
    if (!sys)
        sys = &cpubind_sys_real;
    cpubind_linux_fault fault = cpubind_open_file(sys, AT_FDCWD, path, 0, "stat", &st, &fd);
    if (fault.error)
        return fault;
    fault = cpubind_read_all(sys, fd, CPUBIND_FILE_MAX, bytes);
    sys->close(fd);
    return fault;
}
