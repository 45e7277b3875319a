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

/* Largest page of a kernel, in kB: 1 MB; of a line that says its own: 16 GB. */
#define CPUBIND_NUMA_MAPS_MAX_BASE_KB (1 << 10)
#define CPUBIND_NUMA_MAPS_MAX_PAGE_KB (1 << 24)

/* Adds up what some lines say. The file of a large process has hundreds of thousands: it is
 * read in blocks, each up to the end of a line, and nothing of it needs to be kept.
 *   in      whole lines, none is fine (a kernel thread has none); page_kb: the page size of the
 *           kernel, 1 .. CPUBIND_NUMA_MAPS_MAX_BASE_KB, for lines that do not say theirs
 *           (before Linux 4.0; a "huge" one is taken for a page table full of pages then, 2 MB
 *           of 4 kB pages); bytes[0 .. n_node - 1], none below 0, 1 <= n_node
 *   out     bytes[n] grew by the bytes on node n; a sum past INT64_MAX stays there
 *   errors  ERR_ARG, ERR_SYNTAX, ERR_ORDER (nodes of a line do not ascend); ERR_RANGE (a node
 *           that is not below n_node, a number past its limit); ERR_CUT without the line feed
 *           of the last line. `bytes` is untouched then.
 *   cost    O(len + n_node) */
cpubind_text_status cpubind_numa_maps_add(const char *text, int32_t len, int32_t page_kb,
                                          int64_t *bytes, int32_t n_node,
                                          cpubind_text_fault *fault);

/* The counter `name` (NUL-terminated) of /proc/vmstat. Lines of other names are not checked.
 *   vmstat  = *( name " " number LF )         the first line of the name counts
 *   out     *out, 0 .. INT64_MAX
 *   errors  ERR_ARG; ERR_MISSING when no line has the name; ERR_SYNTAX, ERR_RANGE, ERR_CUT of
 *           the line that has it
 *   cost    O(len) */
cpubind_text_status cpubind_vmstat_find(const char *text, int32_t len, const char *name,
                                        int64_t *out, cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_NUMA_MAPS_H */
