/* descendants.h - the processes below another one, and which of them are its forks
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters. Reads the parents that /proc/PID/stat names; changes nothing.
 */
#ifndef CPUBIND_LINUX_DESCENDANTS_H
#define CPUBIND_LINUX_DESCENDANTS_H

#include "process.h"

/* Lists the processes below some processes, and these themselves.
 *   in      root: "/"; seed: the processes, which may have ended
 *   out     *out, ascending, each once; freed by the caller with free(out->id)
 *   errors  of listing /proc; "memory"
 *   cost    four system calls for each process of the host */
cpubind_linux_fault cpubind_descendants(cpubind_root *root, const int32_t *seed, int32_t n_seed,
                                        cpubind_ids *out);

/* Finds the process that another one was forked from: the first one of all above it that a test
 * is true of. Nobody between them, nor that one, has executed a program since
 * (PF_FORKNOEXEC; where the kernel shows them, its program and its stack start where those of
 * its parent do). A process that has ended, or is hidden, is no parent and no child.
 *   in      root: "/"
 *   out     *of: 0: there is none; *start: when the process was started; 0: it has ended
 *   errors  of reading what is there
 *   cost    four system calls for the process, and for each fork above it */
typedef struct cpubind_fork_test {
    int (*is_wanted)(const void *ctx, int32_t pid);
    const void *ctx;
} cpubind_fork_test;
cpubind_linux_fault cpubind_forked_from(cpubind_root *root, int32_t pid, cpubind_fork_test test,
                                        int32_t *of, uint64_t *start);

#endif /* CPUBIND_LINUX_DESCENDANTS_H */
