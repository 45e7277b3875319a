/* numa_maps.h - /proc/<pid>/numa_maps: bytes of a process by node; other counters
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

/* Adds the bytes on each node that some lines name. The file of a large process has hundreds of
 * thousands of lines: it can be read in blocks that end at a line feed.
 *   in      whole lines, or none (a kernel thread has none); page_kb: the page size of the
 *           kernel, 1 .. CPUBIND_NUMA_MAPS_MAX_BASE_KB, for lines without a page size (before
 *           Linux 4.0; a "huge" page is then as large as a page of page table entries covers,
 *           2 MB with 4 kB pages); bytes[0 .. n_node - 1], none below 0, 1 <= n_node
 *   out     bytes[n] grew by the bytes on node n; a sum above INT64_MAX becomes INT64_MAX
 *   errors  ERR_ARG, ERR_SYNTAX, ERR_ORDER (nodes of a line do not ascend); ERR_RANGE (a node
 *           that is not below n_node, a number past its limit); ERR_CUT without the line feed
 *           of the last line. `bytes` is untouched then.
 *   cost    O(len + n_node) */
cpubind_text_status cpubind_numa_maps_add(const char *text, int32_t len, int32_t page_kb,
                                          int64_t *bytes, int32_t n_node,
                                          cpubind_text_fault *fault);

/* One line. */
typedef struct cpubind_numa_line {
    uint64_t start;      /* the first address of the mapping */
    int64_t total, home; /* bytes in memory, and those of them on the node of the call */
    int64_t page_bytes;  /* size of a page */
    int32_t mapmax;      /* processes that map the page that most of them map; 1: no page of the
                            line is shared */
    int32_t is_huge;     /* pages of hugetlbfs */
    int32_t len;         /* bytes of the line, its line feed included */
} cpubind_numa_line;

/* Reads the first line of a text.
 *   in      at least one byte; page_kb as above; node: a number, which no line needs to name
 *   out     *out; sums above INT64_MAX become INT64_MAX
 *   errors  as above; *out is untouched then
 *   cost    O(length of the line) */
cpubind_text_status cpubind_numa_maps_line_parse(const char *text, int32_t len, int32_t page_kb,
                                                 int32_t node, cpubind_numa_line *out,
                                                 cpubind_text_fault *fault);

/* Reads a value of /sys/devices/system/node/node<n>/meminfo or /proc/<pid>/status, such as
 * "MemFree" or "VmLck" (NUL-terminated). Other lines are not checked.
 *   lines   = *( [ "Node" number ] name ":" number [ "kB" ] LF )   blanks between the words;
 *                                                       the first line of the name counts
 *   out     *out_kb, 0 .. INT64_MAX
 *   errors  ERR_ARG; ERR_MISSING when no line has the name; ERR_SYNTAX, ERR_RANGE, ERR_CUT for
 *           its line
 *   cost    O(len) */
cpubind_text_status cpubind_kb_find(const char *text, int32_t len, const char *name,
                                    int64_t *out_kb, cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_NUMA_MAPS_H */
