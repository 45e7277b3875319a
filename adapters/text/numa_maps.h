/* numa_maps.h - /proc/<pid>/numa_maps: bytes of a process by node; a counter of /proc/vmstat
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

/* Reads the counter `name` (NUL-terminated) of /proc/vmstat. Other lines are not checked.
 *   vmstat  = *( name " " number LF )         the first line of the name counts
 *   out     *out, 0 .. INT64_MAX
 *   errors  ERR_ARG; ERR_MISSING when no line has the name; ERR_SYNTAX, ERR_RANGE, ERR_CUT for
 *           its line
 *   cost    O(len) */
cpubind_text_status cpubind_vmstat_find(const char *text, int32_t len, const char *name,
                                        int64_t *out, cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_NUMA_MAPS_H */
