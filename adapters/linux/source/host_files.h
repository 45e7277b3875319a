/* host_files.h - the files of NAME.host in memory, as a snapshot folder
 * SPDX-License-Identifier: MIT
 *
 * Private to the programs of this project.
 */
#ifndef CPUBIND_LINUX_HOST_FILES_H
#define CPUBIND_LINUX_HOST_FILES_H

#include "../../text/host_file.h"
#include "../kernel/bytes.h"
#include "host_source.h"

/* The files of a host. */
typedef struct cpubind_host_files cpubind_host_files;

/* Opens the text of NAME.host (text/host_file.h) as a host. Its inputs are as those of a
 * snapshot folder (cpubind_linux_open_folder).
 *   in      text[0 .. len - 1], from malloc(3), which the host frees; also after a failure
 *   out     *out, to be closed with cpubind_linux_close; NULL on failure
 *   errors  ERR_MEMORY; ERR_OPEN, with *why */
cpubind_linux_status cpubind_linux_open_text(char *text, int32_t len, const cpubind_sys *sys,
                                             cpubind_linux_host **out, cpubind_text_fault *why);

/* Reads a file to its end.
 *   out     bytes, which the caller frees
 *   errors  "open", "stat", "read"; EISDIR; EINVAL: neither a file nor a folder; EFBIG */
cpubind_linux_fault cpubind_linux_read_file(const char *path, const cpubind_sys *sys,
                                            cpubind_bytes *bytes);

/* For host_source.c: reading and listing as cpubind_root_read and cpubind_root_list do. */
cpubind_input cpubind_host_files_read(const cpubind_host_files *f, const char *name,
                                      const cpubind_sys *sys, cpubind_bytes *bytes);
cpubind_input cpubind_host_files_list(const cpubind_host_files *f, const char *name,
                                      const cpubind_sys *sys, cpubind_bytes *bytes);
void cpubind_host_files_free(cpubind_host_files *f);

/* Decodes a text, which the files own from then on.
 *   returns NULL, with *why; its `what` is "memory" without memory */
cpubind_host_files *cpubind_host_files_make(char *text, int32_t len, const cpubind_sys *sys,
                                            cpubind_text_fault *why);

#endif /* CPUBIND_LINUX_HOST_FILES_H */
