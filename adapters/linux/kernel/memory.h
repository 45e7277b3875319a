/* memory.h - the memory of a process: on which NUMA nodes it is, and moving it
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux; the types are in bind.h. All paths are below `root`, which is "/".
 */
#ifndef CPUBIND_LINUX_MEMORY_H
#define CPUBIND_LINUX_MEMORY_H

#include "../bind/bind.h"
#include "files.h"

/* Reads /proc/<pid>/numa_maps, line by line, however long it is.
 *   out     *out, on success only
 *   errors  "numa_maps": ENOENT (the kernel has no NUMA, or there is no such process), EACCES,
 *           EPERM, EILSEQ (a line makes no sense), ENOMEM
 *   cost    the kernel walks the page tables of the process: a second for 100 GB or so */
cpubind_linux_fault cpubind_memory_read(cpubind_root *root, int32_t pid, cpubind_memory *out);

/* Moves the pages of a process to a node with migrate_pages(2), one source node after the
 * other in ascending order. A node that holds more than the rest of the limit is skipped.
 * Masks are no wider than the nodes with memory: a bit past the kernel's last node is EINVAL.
 * A failure half way needs no undoing: pages stay readable on any node, and the result reports
 * those that were not moved. With `progress` the call runs in a thread of its own, if the
 * system grants one.
 *   out     the fields under "out"; all of them are set. After a refusal half way `after` is
 *           measured all the same; if measuring is what was refused, `after` equals `before`.
 *   cost    the time of the copying: migrate_pages(2) returns no sooner */
void cpubind_memory_migrate(cpubind_root *root, cpubind_memory_move *move);

/* The same without moving anything: measures where the memory is. NO_NODE, REFUSED as above;
 * else MOVED, and `left` is the memory on other nodes.
 *   in      pid, node */
void cpubind_memory_look(cpubind_root *root, cpubind_memory_move *move);

/* Makes the kernel take new pages of this process from the node while it has free ones:
 * set_mempolicy(2) with MPOL_PREFERRED, which a program that is executed later inherits.
 *   errors  "set_mempolicy" */
cpubind_linux_fault cpubind_memory_prefer(cpubind_root *root, int32_t node);

/* Undoes cpubind_memory_prefer: MPOL_DEFAULT. */
cpubind_linux_fault cpubind_memory_prefer_none(cpubind_root *root);

#endif /* CPUBIND_LINUX_MEMORY_H */
