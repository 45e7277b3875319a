/* folder_writer.h - write a host to a new folder that appears whole or not at all
 * SPDX-License-Identifier: MIT
 *
 * Private to the programs of this project. All is written to a folder beside the target,
 * ".<base>.<pid>.<n>.tmp", synced, and renamed. A process that is killed leaves that folder.
 */
#ifndef CPUBIND_LINUX_FOLDER_WRITER_H
#define CPUBIND_LINUX_FOLDER_WRITER_H

#include "../../text/host_file.h"
#include "../linux.h"
#include "../sys.h"

/* Whether a new folder may have this path: there is nothing, or an empty folder.
 *   in      sys: NULL: the calls of this kernel
 *   errors  EEXIST; EINVAL, "name": it has no name of its own; "open", of the folder above or
 *           of what is there */
cpubind_linux_fault cpubind_linux_check_folder(const char *path, const cpubind_sys *sys);

/* Makes the folder, with a file for each part, whose name may have folders in it. No existing
 * file is written to, and modes are 0666 and 0777, less the umask.
 *   errors  those of check_folder; EINVAL, "name of a file": that of a part is none;
 *           "make folder", "create", "write", "sync", "rename"; nothing has changed then */
cpubind_linux_fault cpubind_linux_write_folder(const char *path, const cpubind_host_part *part,
                                               int32_t n, const cpubind_sys *sys);

#endif /* CPUBIND_LINUX_FOLDER_WRITER_H */
