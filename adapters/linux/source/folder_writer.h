/* folder_writer.h - write a snapshot folder that appears whole or not at all
 * SPDX-License-Identifier: MIT
 *
 * All files are written into a new folder beside the target, ".<base>.<pid>.<n>.tmp", which is
 * renamed to the target in the last step. Nothing outside of the two is touched: names of files
 * may come from a stranger's database. Each part of a name is opened or made on its own,
 * symbolic links are not followed, and no existing file is overwritten. Modes are 0666 and
 * 0777, less the umask. One thread at a time may use a writer; several writers are independent,
 * of one target too: the first commit wins.
 *
 * POWER CUTS  Every file is synced (fsync) when it is written, every folder before the rename,
 *             the parent after it: captures are often taken on hosts in trouble, and the target
 *             must never be half there. A target that is replaced is the old folder or the new
 *             one at any time; on a file system without RENAME_EXCHANGE there is a moment with
 *             neither, when the old one has a temporary name.
 * LEFTOVERS   A process that is killed leaves the temporary folder, and so does a removal that
 *             fails; it may be removed by hand. No signal is caught here.
 */
#ifndef CPUBIND_LINUX_FOLDER_WRITER_H
#define CPUBIND_LINUX_FOLDER_WRITER_H

#include <stdint.h>

#include "../linux.h"
#include "../sys.h"

/* A folder that is being written. */
typedef struct cpubind_linux_writer cpubind_linux_writer;

/* Starts a folder.
 *   in      dir: the target; its parent exists and may be read and written. Its last part is
 *           neither "." nor "..". An existing `dir` is ERR_EXISTS, unless it is an empty
 *           folder, or is_replacing and it holds the file host.txt (then it is a snapshot). A
 *           link is no folder.
 *           sys: the system calls to use, kept until the writer is closed; NULL for the real
 *           ones
 *   out     *out, to be closed with cpubind_linux_writer_close; NULL on failure
 *   errors  ERR_ARG; ERR_EXISTS; ERR_OPEN, the parent or `dir` cannot be read; ERR_WRITE, all
 *           with fault->error; ERR_MEMORY */
cpubind_linux_status cpubind_linux_writer_open(const char *dir, int is_replacing,
                                               const cpubind_sys *sys,
                                               cpubind_linux_writer **out,
                                               cpubind_linux_fault *fault);

/* Writes one file, and the folders above it.
 *   in      name as in the seam, not yet written; data[0 .. len - 1]
 *   errors  ERR_ARG for a name that breaks the rules of the seam or holds a part "."; the
 *           writer can go on.
 *           ERR_WRITE with fault->error (ENOSPC; EEXIST: a part of the name is a file, or the
 *           name was written already; ENAMETOOLONG: also over 64 parts); ERR_MEMORY. After
 *           these two a writer can only be closed: every call fails in the same way.
 *   cost    three system calls for each part, and an fsync for the file */
cpubind_linux_status cpubind_linux_writer_put(cpubind_linux_writer *writer, const char *name,
                                              const char *data, int32_t len,
                                              cpubind_linux_fault *fault);

/* Renames the folder to the target and removes the folder that it replaces. When that one
 * cannot be removed, the call succeeds and the rest of it keeps a temporary name. Afterwards a
 * writer can only be closed.
 *   errors  ERR_EXISTS when somebody else has made or changed `dir` meanwhile; ERR_WRITE;
 *           ERR_ARG after a commit.
 *           `dir` is as it was before, but for ERR_WRITE, "put back": a step failed, and then
 *           undoing the earlier ones failed too. The old folder is whole, with a temporary
 *           name; the new one may be in its place.
 *   cost    an fsync for each folder */
cpubind_linux_status cpubind_linux_writer_commit(cpubind_linux_writer *writer,
                                                 cpubind_linux_fault *fault);

/* Ends a writer. Without a commit everything that it wrote is removed. NULL is allowed. */
void cpubind_linux_writer_close(cpubind_linux_writer *writer);

#endif /* CPUBIND_LINUX_FOLDER_WRITER_H */
