/* workers.h - one function in several threads
 * SPDX-License-Identifier: MIT
 *
 * SIGNALS  A signal that is sent to the process is taken by the calling thread, as in a program
 *          of one thread: the other ones block all signals, but for those that a thread raises
 *          in itself by a fault. The mask of the caller is as it was when the call returns.
 */
#ifndef CPUBIND_LINUX_WORKERS_H
#define CPUBIND_LINUX_WORKERS_H

#include <stdint.h>

#include "sys.h"

/* Most threads of one call. */
#define CPUBIND_WORKERS_MAX 1024

/* CPUs that this process may run on, at least 1. A share of their time, as a container may
 * have, is not seen. */
int32_t cpubind_linux_processors(void);

/* Calls work(ctx) in n threads, the calling one among them, and waits for all. When the system
 * grants fewer threads, fewer run: the work must share itself out. What the work wrote is seen
 * when this returns.
 *   in      1 <= n <= CPUBIND_WORKERS_MAX; another number is taken for the nearest */
void cpubind_linux_run(int32_t n, void (*work)(void *ctx), void *ctx);

/* The same two with the system calls of a table. */
int32_t cpubind_linux_processors_of(const cpubind_sys *sys);
void cpubind_linux_run_with(int32_t n, void (*work)(void *ctx), void *ctx,
                            const cpubind_sys *sys);

#endif /* CPUBIND_LINUX_WORKERS_H */
