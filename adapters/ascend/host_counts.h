/* host_counts.h - how many CPUs, nodes and NPUs a host has, also when a plan is not possible
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h; bytes come through the seam (source.h), memory from the caller's arena.
 */
#ifndef CPUBIND_ASCEND_HOST_COUNTS_H
#define CPUBIND_ASCEND_HOST_COUNTS_H

#include "../source.h"
#include "../text/arena.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counts; -1: not known, for its inputs are absent or damaged. */
typedef struct cpubind_host_counts {
    int32_t cpus;  /* online CPUs, allowed or not: of cpu/online, else on nodes */
    int32_t nodes; /* nodes with online CPUs, by /sys or lscpu */
    int32_t npus;  /* logical NPUs of npu-smi info -m; 0 when npu-smi says that there is none */
} cpubind_host_counts;

/* Counts a host. It never fails: a count that is not known, or for which the arena is too
 * small, is -1, and does not affect the other counts.
 *   in      an arena of 1 MiB is enough for most hosts; it is given back
 *   cost    O(bytes read) */
cpubind_host_counts cpubind_host_counts_read(const cpubind_source *source,
                                             cpubind_arena *arena);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_HOST_COUNTS_H */
