/* file_writer.h - write a file that appears whole or not at all
 * SPDX-License-Identifier: MIT
 *
 * Private to the programs of this project. The data is written to a temporary file beside the
 * target, synced, and renamed: a reader sees the old file or the new one.
 */
#ifndef CPUBIND_LINUX_FILE_WRITER_H
#define CPUBIND_LINUX_FILE_WRITER_H

#include "../linux.h"
#include "../sys.h"

/* Writes data[0 .. len - 1] to `path`, which is replaced when it is a regular file or a link.
 *   in      sys: NULL: the calls of this kernel
 *   errors  EISDIR, EINVAL, "target": a folder; a device or a FIFO. "open", of the folder;
 *           "create", "write", "sync", "close", "rename"; nothing has changed then */
cpubind_linux_fault cpubind_linux_write_file(const char *path, const char *data, int32_t len,
                                             const cpubind_sys *sys);

#endif /* CPUBIND_LINUX_FILE_WRITER_H */
