/* numa_maps.h - /proc/<pid>/numa_maps: bytes of a process by node
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 */
#ifndef CPUBIND_NUMA_MAPS_H
#define CPUBIND_NUMA_MAPS_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Largest base page of a kernel, 1 MB, and largest page that a line may name, 16 GB; in kB. */
#define CPUBIND_NUMA_MAPS_MAX_BASE_KB (1 << 10)
#define CPUBIND_NUMA_MAPS_MAX_PAGE_KB (1 << 24)

/* Where the bytes of lines are added. */
typedef struct cpubind_numa_nodes {
    int64_t *bytes; /* on node 0 .. n - 1, none below 0; a sum above INT64_MAX becomes that */
    int32_t n;      /* 1 or more: a line may name nodes below it */
    int32_t home;   /* the node that is asked for; no line needs to name it */
} cpubind_numa_nodes;

/* One line. */
typedef struct cpubind_numa_line {
    uint64_t start;      /* the first address of the mapping */
    int64_t total, home; /* bytes in memory, and those of them on the node that is asked for */
    int64_t page_bytes;  /* size of a page */
    int32_t mapmax;      /* processes that map the page that most of them map; 1: no page of the
                            line is shared */
    int32_t is_huge;     /* pages of hugetlbfs */
    int32_t len;         /* bytes of the line, its line feed included */
} cpubind_numa_line;

/* Reads the first line of a text, and adds its bytes. The file of a large process has hundreds
 * of thousands of lines: it is read in blocks, line by line.
 *   in      at least one byte; page_kb: the page size of the kernel, 1 ..
 *           CPUBIND_NUMA_MAPS_MAX_BASE_KB, for a line without a page size (before Linux 4.0; a
 *           "huge" page is then as large as a page of page table entries covers, 2 MB with 4 kB
 *           pages)
 *   out     *out, to->bytes; after a failure the sums are those of a part of the line
 *   errors  ERR_ARG, ERR_SYNTAX, ERR_ORDER (nodes of a line do not ascend); ERR_RANGE (a node
 *           that is not below to->n, a number past its limit); ERR_CUT without a line feed
 *   cost    O(length of the line) */
cpubind_text_status cpubind_numa_maps_line_parse(const char *text, int32_t len, int32_t page_kb,
                                                 const cpubind_numa_nodes *to,
                                                 cpubind_numa_line *out,
                                                 cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_NUMA_MAPS_H */
