/* memory_nodes.h - node masks, and what else reading and moving memory share
 * SPDX-License-Identifier: MIT
 *
 * Private to memory.c and memory_move.c.
 */
#ifndef CPUBIND_LINUX_MEMORY_NODES_H
#define CPUBIND_LINUX_MEMORY_NODES_H

#include "memory.h"

/* A mask of nodes. */
#define CPUBIND_MASK_BITS  ((int32_t)(8 * sizeof(unsigned long)))
#define CPUBIND_MASK_WORDS (CPUBIND_MAX_NODES / CPUBIND_MASK_BITS)

/* Sets the bit of a node, 0 .. CPUBIND_MAX_NODES - 1, in a mask of CPUBIND_MASK_WORDS; returns
 * the width to tell the kernel when no higher bit is set. */
unsigned long cpubind_priv_node_bit(int32_t node, unsigned long *mask);

/* The page size of this kernel in kB. */
int32_t cpubind_priv_page_kb(void);

#endif /* CPUBIND_LINUX_MEMORY_NODES_H */
