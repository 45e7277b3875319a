/* file_writer.h - write a file that appears whole or not at all; and change one so
 * SPDX-License-Identifier: MIT
 *
 * Private to the programs of this project. The data is written to a temporary file beside the
 * target, synced, and renamed: a reader sees the old file or the new one.
 */
#ifndef CPUBIND_LINUX_FILE_WRITER_H
#define CPUBIND_LINUX_FILE_WRITER_H

#include <sys/stat.h>

#include "../kernel/bytes.h"
#include "../linux.h"
#include "../sys.h"

/* Writes data[0 .. len - 1] to `path`, which is replaced when it is a regular file or a link.
 *   in      sys: NULL: the calls of this kernel
 *   errors  EISDIR, EINVAL, "target": a folder; a device or a FIFO. "open", of the folder;
 *           "create", "write", "sync", "close", "rename"; nothing has changed then */
cpubind_linux_fault cpubind_linux_write_file(const char *path, const char *data, int32_t len,
                                             const cpubind_sys *sys);

/* A database that is read as a whole, and perhaps replaced. */
typedef struct cpubind_linux_whole {
    cpubind_bytes bytes; /* the caller frees them */
    struct stat st;      /* of the file then; all zero: there was none */
} cpubind_linux_whole;

/* Reads a regular file.
 *   in      may_write: it is to be replaced, so it must be one that may be written; it may be
 *           missing. sys as above; *out is all zero
 *   errors  "open", ELOOP: it is a symbolic link; "stat", EISDIR, EINVAL; "read"; EFBIG,
 *           "length"; ENOMEM, "memory". EBUSY, "journal": PATH-journal or PATH-wal is there, so
 *           SQLite writes the file where it is, or was interrupted in a change */
cpubind_linux_fault cpubind_linux_read_whole(const char *path, int may_write,
                                             const cpubind_sys *sys, cpubind_linux_whole *out);

/* Replaces it, as cpubind_linux_write_file does; with no more rights than it had.
 *   errors  also EBUSY, "file": another process has changed it since, or does so now */
cpubind_linux_fault cpubind_linux_write_whole(const char *path, const cpubind_linux_whole *old,
                                              const char *data, int32_t len,
                                              const cpubind_sys *sys);

#endif /* CPUBIND_LINUX_FILE_WRITER_H */
