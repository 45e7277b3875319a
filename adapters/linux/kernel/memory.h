/* memory.h - the memory of a process: on which NUMA nodes it is, and moving it
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux; the types are in bind.h. All paths are below `root`, which is "/".
 */
#ifndef CPUBIND_LINUX_MEMORY_H
#define CPUBIND_LINUX_MEMORY_H

#include "../bind/bind.h"
#include "files.h"

/* == Measuring (memory.c) =================================================== */

/* A mapping of the process that has pages in memory. */
typedef struct cpubind_mapping {
    uint64_t start, end; /* end 0: not known */
    int64_t total, away; /* bytes in memory, and those of them that are on other nodes */
    int64_t page_bytes;  /* size of a page */
    int32_t is_shared;   /* another process maps at least one page of it */
    int32_t is_huge;     /* pages of hugetlbfs */
    int32_t is_locked;   /* mlock(2) */
} cpubind_mapping;

/* The mappings that have pages on other nodes, and those with shared pages; ascending. */
typedef struct cpubind_mappings {
    cpubind_mapping *item; /* the owner's free(3) */
    int32_t n, cap;
    int32_t node;      /* the node that memory belongs on */
    int64_t own_total; /* bytes of mappings without shared and huge pages */
} cpubind_mappings;

/* The page size of this kernel in bytes. */
int64_t cpubind_page_bytes(void);

/* Reads /proc/<pid>/numa_maps, line by line, however long it is.
 *   in      maps->node; the former mappings are dropped
 *   out     *out, on success only; the mappings, without their ends
 *   errors  "numa_maps": ENOENT (the kernel has no NUMA, or there is no such process), EACCES,
 *           EPERM, EILSEQ (a line makes no sense), ENOMEM
 *   cost    the kernel walks the page tables of the process: a second for 100 GB or so */
cpubind_linux_fault cpubind_memory_read(cpubind_root *root, int32_t pid, cpubind_memory *out,
                                        cpubind_mappings *maps);

/* The same, and the ends of the mappings, from maps. smaps in place of maps tells which are
 * locked; it costs another walk and is read only for a process that has locked memory (VmLck in
 * its status).
 *   errors  as above, and "maps" */
cpubind_linux_fault cpubind_memory_survey(cpubind_root *root, int32_t pid, cpubind_memory *out,
                                          cpubind_mappings *maps);

/* == Moving (memory_move.c) ================================================= */

/* Reads whether a node has memory, and another one has memory, too: else the place of memory is
 * no choice.
 *   errors  of open(2) and read(2), and EILSEQ: "has_memory" */
cpubind_linux_fault cpubind_memory_find_node(cpubind_root *root, int32_t node, int *is_there);

/* Moves the own pages of a process to a node with move_pages(2) and MPOL_MF_MOVE, in batches of
 * at most 8,192 pages: those that pagemap shows as present and mapped by this process alone,
 * and that move_pages(2) finds on other nodes. With is_all also shared, locked and huge pages,
 * with MPOL_MF_MOVE_ALL, or, where the kernel forbids that, with MPOL_MF_MOVE.
 *   Where pagemap is hidden, move_pages(2) is asked about every page of a mapping: slow for
 * sparse mappings, but the limit of time holds. The kernel still keeps shared pages where they
 * are.
 *   There is no way around a kernel or a filter that refuses move_pages(2): migrate_pages(2) by
 * root takes shared pages away from other processes, and knows no limits. The move is REFUSED.
 *   Pages that were busy are tried again in two more rounds. A failure half way needs no
 * undoing: pages stay readable on any node, and the result reports those that were not moved.
 *   out     the fields under "out"; all of them are set. After a refusal half way `after` is
 *           measured all the same; if measuring is what was refused, `after` equals `before`.
 *   cost    the time of the copying, up to the limit of time, and of two measures */
void cpubind_memory_migrate(cpubind_root *root, cpubind_memory_move *move);

/* The same without moving anything: measures where the memory is. NO_NODE, REFUSED as above;
 * else MOVED, and `left`, `own`, `own_left` and `stay` say what is on other nodes.
 *   in      pid, node, is_all, time_ms: of telling own pages from shared ones; what it leaves
 *           counts as shared */
void cpubind_memory_look(cpubind_root *root, cpubind_memory_move *move);

/* == The policy of new pages (memory.c) ===================================== */

#endif /* CPUBIND_LINUX_MEMORY_H */
