/* descendants.h - the processes below another one
 * SPDX-License-Identifier: MIT
 *
 * Private to this folder. Reads the parents that /proc/PID/stat names; changes nothing.
 */
#ifndef CPUBIND_HOST_DESCENDANTS_H
#define CPUBIND_HOST_DESCENDANTS_H

#include "../linux/kernel/process.h"

/* Lists the processes below some processes, and these themselves.
 *   in      root: "/"; seed: the processes, which may have ended
 *   out     *out, ascending, each once; freed by the caller with free(out->id)
 *   errors  of listing /proc; "memory"
 *   cost    four system calls for each process of the host */
cpubind_linux_fault cpubind_descendants(cpubind_root *root, const int32_t *seed, int32_t n_seed,
                                        cpubind_ids *out);

/* Whether a sorted list has a number. */
int cpubind_ids_have(const cpubind_ids *ids, int32_t id);

#endif /* CPUBIND_HOST_DESCENDANTS_H */
