/* last.h - one measurement at a time on a host, and the result of the last one
 * SPDX-License-Identifier: MIT
 *
 * Both are files in the folder of this user below /run, beside the records of bindings.
 */
#ifndef CPUBIND_MEASURE_LAST_H
#define CPUBIND_MEASURE_LAST_H

#include "../linux/kernel/bytes.h"
#include "../linux/linux.h"
#include "../linux/sys.h"

/* Longest result, in bytes. */
#define CPUBIND_LAST_MAX (1 << 20)

/* Takes the lock of measurements; the kernel releases it when this process ends.
 *   out     *fd: to be closed; unchanged on failure
 *   errors  EWOULDBLOCK, "lock": another measurement is at work; of making the folder and the
 *           file */
cpubind_linux_fault cpubind_last_lock(const cpubind_sys *sys, int *fd);

/* Keeps a result, in place of the one before. */
cpubind_linux_fault cpubind_last_write(const cpubind_sys *sys, const char *text, int32_t len);

/* Reads the last one.
 *   out     `out`, empty before
 *   errors  ENOENT: there is none */
cpubind_linux_fault cpubind_last_read(const cpubind_sys *sys, cpubind_bytes *out);

#endif /* CPUBIND_MEASURE_LAST_H */
