/* conf_file.h - the bytes of the configuration file
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_LINUX_CONF_FILE_H
#define CPUBIND_LINUX_CONF_FILE_H

#include "../kernel/bytes.h"

#define CPUBIND_CONF_MAX (64 << 10) /* bytes of a file */

/* Reads a configuration file. The service does what it says as root, so the file belongs to
 * root or to this user, and nobody else may write to it.
 *   in      `bytes` is empty
 *   out     its content in `bytes`, to be freed by the caller also on failure
 *   errors  "open"; "owner" and "mode" with EPERM; EISDIR, EINVAL, "kind": no regular file;
 *           EFBIG, "length"; "fstat", "read"; ENOMEM, "memory"; EAGAIN, "writer": somebody
 *           writes to it all the time
 *   cost    0.1 s more for a file that was changed just now */
cpubind_linux_fault cpubind_conf_read_file(const cpubind_sys *sys, const char *path,
                                           cpubind_bytes *bytes);

#endif /* CPUBIND_LINUX_CONF_FILE_H */
