/* tar_folder.h - the files of a tar archive in memory, as a snapshot folder
 * SPDX-License-Identifier: MIT
 *
 * Private to the programs of this project. An archive may come from a stranger: nothing of it
 * is written to any folder, and one with a link, or with a path that leads out of it, is
 * refused.
 */
#ifndef CPUBIND_LINUX_TAR_FOLDER_H
#define CPUBIND_LINUX_TAR_FOLDER_H

#include "../../text/tar.h"
#include "../kernel/bytes.h"
#include "host_source.h"

/* The files of an archive. */
typedef struct cpubind_tar_folder cpubind_tar_folder;

/* Why an archive is no snapshot. */
typedef struct cpubind_tar_fault {
    const char *what; /* static clause */
    int32_t offset;   /* of the header at fault in the archive, or -1 */
    char name[256];   /* the start of the entry's name, or "" */
} cpubind_tar_fault;

/* Opens the bytes of an archive as a host. Its inputs are as those of a snapshot folder
 * (cpubind_linux_open_folder). A folder that holds all files, and is none of a snapshot, is
 * left out of their names: "ticket/proc/..." is proc/...
 *   in      text[0 .. len - 1], from malloc(3), which the host frees; also after a failure
 *   out     *out, to be closed with cpubind_linux_close; NULL on failure
 *   errors  ERR_MEMORY; ERR_OPEN, with *why */
cpubind_linux_status cpubind_linux_open_archive(char *text, int32_t len, const cpubind_sys *sys,
                                                cpubind_linux_host **out,
                                                cpubind_tar_fault *why);

/* Reads a file to its end.
 *   out     bytes, which the caller frees
 *   errors  "open", "stat", "read"; EISDIR; EINVAL: neither a file nor a folder; EFBIG */
cpubind_linux_fault cpubind_linux_read_file(const char *path, const cpubind_sys *sys,
                                            cpubind_bytes *bytes);

/* For host_source.c: reading and listing as cpubind_root_read and cpubind_root_list do. */
cpubind_input cpubind_tar_folder_read(const cpubind_tar_folder *folder, const char *name,
                                      const cpubind_sys *sys, cpubind_bytes *bytes);
cpubind_input cpubind_tar_folder_list(const cpubind_tar_folder *folder, const char *name,
                                      const cpubind_sys *sys, cpubind_bytes *bytes);
void cpubind_tar_folder_free(cpubind_tar_folder *folder);

/* Reads the entries of an archive, whose bytes the folder owns from then on.
 *   returns NULL, with *why; its `what` is "memory" without memory */
cpubind_tar_folder *cpubind_tar_folder_make(char *text, int32_t len, const cpubind_sys *sys,
                                            cpubind_tar_fault *why);

#endif /* CPUBIND_LINUX_TAR_FOLDER_H */
