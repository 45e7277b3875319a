/* last.h - one measurement at a time on a host, the result of the last one, and its settings
 * SPDX-License-Identifier: MIT
 *
 * All are files in the folder of this user below /run, beside the records of bindings.
 */
#ifndef CPUBIND_MEASURE_LAST_H
#define CPUBIND_MEASURE_LAST_H

#include "../linux/kernel/bytes.h"
#include "../linux/linux.h"
#include "../linux/sys.h"

/* Longest result, in bytes. */
#define CPUBIND_LAST_MAX (1 << 20)

/* Room for the path of a file, with its NUL. */
#define CPUBIND_LAST_PATH_SIZE 4096

/* Takes the lock of measurements; the kernel releases it when this process ends.
 *   out     *fd: to be closed; unchanged on failure
 *   errors  EWOULDBLOCK, "lock": another measurement is at work; of making the folder and the
 *           file */
cpubind_linux_fault cpubind_last_lock(const cpubind_sys *sys, int *fd);

/* Keeps a result, in place of the one before. */
cpubind_linux_fault cpubind_last_write(const cpubind_sys *sys, const char *text, int32_t len);

/* Files of settings that a service measures, which its measurement reads by path. */
#define CPUBIND_LAST_BEFORE "measure.before"
#define CPUBIND_LAST_AFTER  "measure.after"

/* Keeps settings, for this user alone, in place of those before.
 *   out     path: of the file */
cpubind_linux_fault cpubind_last_keep(const cpubind_sys *sys, const char *name,
                                      const char *text, int32_t len,
                                      char path[CPUBIND_LAST_PATH_SIZE]);

/* Reads the last one.
 *   out     `out`, empty before
 *   errors  ENOENT: there is none */
cpubind_linux_fault cpubind_last_read(const cpubind_sys *sys, cpubind_bytes *out);

#endif /* CPUBIND_MEASURE_LAST_H */
