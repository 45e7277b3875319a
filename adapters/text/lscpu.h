/* lscpu.h - readers of the output of `lscpu -e=CPU,NODE` and of `lscpu` (util-linux)
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR
 *   table   = "CPU" blanks "NODE" LF *row     blanks around cells, the last LF may be missing
 *   row     = number blanks ( number / "-" ) LF      CPUs strictly ascending
 *   summary = *( key ":" blanks value LF )    the key read is "Thread(s) per core"; a host with
 *                                             several kinds of cores repeats it
 */
#ifndef CPUBIND_LSCPU_H
#define CPUBIND_LSCPU_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the rows of `lscpu -e=CPU,NODE`: node[i] is the node of cpu[i], -1 for "-".
 *   out     cpu and node [0 .. *out_n - 1], cpu strictly ascending
 *   errors  ERR_ARG, ERR_MISSING (no header, no row), ERR_SYNTAX, ERR_CUT, ERR_RANGE,
 *           ERR_ORDER; ERR_SPACE with *out_n
 *   cost    O(len) */
cpubind_text_status cpubind_lscpu_parse_nodes(const char *text, int32_t len, int32_t *cpu,
                                              int32_t *node, int32_t cap, int32_t *out_n,
                                              cpubind_text_fault *fault);

/* Reads the number of threads a core from `lscpu`.
 *   out     *out_threads, 1 or more
 *   errors  ERR_ARG, ERR_MISSING (no such line), ERR_SYNTAX (also: two lines that differ),
 *           ERR_RANGE */
cpubind_text_status cpubind_lscpu_parse_threads(const char *text, int32_t len,
                                                int32_t *out_threads,
                                                cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_LSCPU_H */
