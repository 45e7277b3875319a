/* workers.h - run a function in several threads, or a slow call beside this thread
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux and the programs of this project.
 *
 * SIGNALS  Only the calling thread takes signals that are sent to the process, as in a program
 *          of one thread: the other threads block them. The caller's mask is unchanged when a
 *          call returns.
 */
#ifndef CPUBIND_LINUX_WORKERS_H
#define CPUBIND_LINUX_WORKERS_H

#include <signal.h>
#include <stdint.h>

#include "sys.h"

/* Most threads of one call. */
#define CPUBIND_WORKERS_MAX 1024

/* CPUs that this process may run on, at least 1. A limit of CPU time, as a container may have,
 * does not count. */
int32_t cpubind_linux_processors(void);

/* Calls work(ctx) in n threads, the calling one among them, and waits for all. When the system
 * grants fewer threads, fewer run: the work must share itself out. All writes of the work are
 * visible when this returns.
 *   in      1 <= n <= CPUBIND_WORKERS_MAX; other numbers are moved to the nearest of these */
void cpubind_linux_run(int32_t n, void (*work)(void *ctx), void *ctx);

/* The same two with the system calls of a table. */
int32_t cpubind_linux_processors_of(const cpubind_sys *sys);
void cpubind_linux_run_with(int32_t n, void (*work)(void *ctx), void *ctx,
                            const cpubind_sys *sys);

/* Calls work(work_ctx) in a helper thread and waits for it; meanwhile this thread calls
 * tick(tick_ctx) every `period_ms`. Without a helper thread, or when `tick` is NULL, this
 * thread does the work. All writes of the work are visible when this returns. */
void cpubind_linux_run_beside(const cpubind_sys *sys, void (*work)(void *ctx), void *work_ctx,
                              int32_t period_ms, void (*tick)(void *ctx), void *tick_ctx);

/* Blocks all signals, which a new thread inherits, but those of a fault in the thread itself:
 * if those were blocked, the process would end without its handler.
 *   out     *old: the mask of before, for pthread_sigmask(3) */
void cpubind_block_signals(sigset_t *old);

/* A lock for the threads of this process. NULL without memory; free takes NULL. */
typedef struct cpubind_mutex cpubind_mutex;
cpubind_mutex *cpubind_mutex_new(void);
void cpubind_mutex_lock(cpubind_mutex *mutex);
void cpubind_mutex_unlock(cpubind_mutex *mutex);
void cpubind_mutex_free(cpubind_mutex *mutex);

#endif /* CPUBIND_LINUX_WORKERS_H */
