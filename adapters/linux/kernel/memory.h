/* memory.h - the memory of a process: on which nodes it is, and moving it
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux; the types stand in bind.h. All paths lie below `root`, a tree of
 * reach ANYWHERE on "/".
 */
#ifndef CPUBIND_LINUX_MEMORY_H
#define CPUBIND_LINUX_MEMORY_H

#include "../bind/bind.h"
#include "files.h"

/* Reads /proc/<pid>/numa_maps, line by line, however long it is.
 *   out     *out
 *   returns 0 or an errno: ENOENT (no such file: the kernel has no NUMA, or there is no such
 *           process), EACCES, EPERM, EILSEQ (a line is not as it should be), ENOMEM
 *   cost    the kernel walks the page tables of the process: a second for 100 GB or so */
int cpubind_memory_read(cpubind_root *root, int32_t pid, cpubind_memory *out);

/* Moves the pages of a process to a node with migrate_pages(2), one source node after the
 * other in ascending order. A node that holds more than what is left of the limit is left out.
 * Masks are no wider than the nodes with memory: a bit past the kernel's last node is EINVAL.
 * Nothing is to be undone afterwards: pages stay readable wherever they are, and what was not
 * moved is said. With `progress` the call runs in a thread of its own, if one is granted.
 *   out     the fields under "out"; all of them are set. After a refusal half way `after` is
 *           measured all the same, unless that is what was refused: then it is as `before`.
 *   cost    as long as the copying takes: the call does not come back sooner */
void cpubind_memory_migrate(cpubind_root *root, cpubind_memory_move *move);

/* The same without moving anything: where the memory is. NO_NODE, REFUSED as above; else
 * MOVED, and `left` says what is elsewhere.
 *   in      pid, node */
void cpubind_memory_look(cpubind_root *root, cpubind_memory_move *move);

/* New pages of this process come from the node as long as it has some: set_mempolicy(2) with
 * MPOL_PREFERRED, which a program that is executed later inherits.
 *   returns 0 or an errno */
int cpubind_memory_prefer(cpubind_root *root, int32_t node);

/* Takes it back: MPOL_DEFAULT. */
int cpubind_memory_prefer_none(cpubind_root *root);

#endif /* CPUBIND_LINUX_MEMORY_H */
