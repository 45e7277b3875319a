/* host_counts.h - how large a host is, whatever else is wrong with it
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

/* Counts; -1: not known, the inputs being absent or damaged. */
typedef struct cpubind_host_counts {
    int32_t cpus;  /* online CPUs, allowed or not: of cpu/online, else on nodes */
    int32_t nodes; /* nodes with online CPUs, by /sys or lscpu */
    int32_t npus;  /* logical NPUs of npu-smi info -m; 0 when npu-smi says that there is none */
} cpubind_host_counts;

/* The shape of a host. Never fails: what cannot be told is -1 (also when the arena is full),
 * and nothing is unknown because something else is.
 *   in      an arena of 1 MiB is enough for most hosts; what is taken of it is given back
 *   cost    O(bytes read) */
cpubind_host_counts cpubind_host_counts_read(const cpubind_source *source,
                                             cpubind_arena *arena);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_HOST_COUNTS_H */
