/* memory.h - the memory of a process: on which nodes it is, and moving it
 * SPDX-License-Identifier: MIT
 *
 * All paths lie below `root`, a tree of reach ANYWHERE on "/".
 */
#ifndef CPUBIND_LINUX_MEMORY_H
#define CPUBIND_LINUX_MEMORY_H

#include <stdint.h>

#include "linux.h"
#include "tree.h"

/* Highest node number + 1 that any kernel has. */
#define CPUBIND_MAX_NODES 1024

/* Bytes of memory that a process has mapped, by node. */
typedef struct cpubind_memory {
    int64_t bytes[CPUBIND_MAX_NODES]; /* of nodes that do not exist: 0 */
    int64_t total;                    /* their sum */
} cpubind_memory;

/* Reads /proc/<pid>/numa_maps, line by line, however long it is.
 *   out     *out
 *   returns 0 or an errno: ENOENT (no such file: the kernel has no NUMA, or there is no such
 *           process), EACCES, EPERM, EILSEQ (a line is not as it should be), ENOMEM
 *   cost    the kernel walks the page tables of the process: a second for 100 GB or so */
int cpubind_memory_read(cpubind_tree *root, int32_t pid, cpubind_memory *out);

/* Why memory was not moved, or not all. Of several, the largest number. */
typedef enum cpubind_memory_result {
    CPUBIND_MEMORY_MOVED = 0,   /* all that can be moved is on the node */
    CPUBIND_MEMORY_PART = 1,    /* the kernel could not move some pages: `left` */
    CPUBIND_MEMORY_LIMIT = 2,   /* some nodes were left out: they hold more than the limit */
    CPUBIND_MEMORY_REFUSED = 3, /* the kernel refused: `error`, `what` */
    CPUBIND_MEMORY_NO_NODE = 4  /* the node has no memory, or there is one node only */
} cpubind_memory_result;

/* How a move goes on. Called from the thread that asked, between nodes and every half second:
 * `done` of `total` bytes, roughly (the kernel counts pages for the whole host); `total` is
 * never 0. */
typedef void cpubind_memory_progress(void *ctx, int64_t done, int64_t total);

typedef struct cpubind_memory_move {
    /* in */
    int32_t pid, node;
    int64_t limit;                     /* bytes to move at most; -1: all */
    cpubind_memory_progress *progress; /* or NULL */
    void *ctx;
    /* out */
    cpubind_memory_result result;
    cpubind_memory before, after; /* `after` as `before` when nothing was moved */
    int64_t left;                 /* bytes on other nodes still */
    int32_t error;                /* errno of what was refused, or 0; ESRCH: it has ended */
    const char *what;             /* "migrate_pages", or the file that could not be read:
                                     "numa_maps", "has_memory"; static text, or NULL */
} cpubind_memory_move;

/* Moves the pages of a process to a node with migrate_pages(2), one source node after the
 * other in ascending order. A node that holds more than what is left of the limit is left out.
 * Masks are no wider than the nodes with memory: a bit past the kernel's last node is EINVAL.
 * Nothing is to be undone afterwards: pages stay readable wherever they are, and what was not
 * moved is said. With `progress` the call runs in a thread of its own, if one is granted.
 *   out     the fields under "out"; all of them are set. After a refusal half way `after` is
 *           measured all the same, unless that is what was refused: then it is as `before`.
 *   cost    as long as the copying takes: the call does not come back sooner */
void cpubind_memory_migrate(cpubind_tree *root, cpubind_memory_move *move);

/* New pages of this process come from the node as long as it has some: set_mempolicy(2) with
 * MPOL_PREFERRED, which a program that is executed later inherits.
 *   returns 0 or an errno */
int cpubind_memory_prefer(cpubind_tree *root, int32_t node);

/* Takes it back: MPOL_DEFAULT. */
int cpubind_memory_prefer_none(cpubind_tree *root);

#endif /* CPUBIND_LINUX_MEMORY_H */
