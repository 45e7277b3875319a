/* lscpu.h - readers of the output of `lscpu -e` and of `lscpu` (util-linux)
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR
 *   table   = "CPU" *( blanks name ) LF *row  blanks around cells, the last LF may be missing;
 *                                             NODE, CORE and SOCKET are read, other columns are
 *                                             passed over; a kernel without nodes has no NODE
 *   row     = number *( blanks cell ) LF      a cell for each column; CPUs strictly ascending
 *   cell    = number / "-"                    of NODE, CORE and SOCKET; any word in others
 *   summary = *( key ":" blanks value LF )    the key read is "Thread(s) per core"; a host with
 *                                             several kinds of cores repeats it
 */
#ifndef CPUBIND_LSCPU_H
#define CPUBIND_LSCPU_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's arrays for the rows of the table; all may be NULL when cap is 0. A cell "-" is
 * read as -1. */
typedef struct cpubind_lscpu_nodes {
    int32_t *cpu;  /* in: array for the CPUs, which ascend strictly */
    int32_t *node; /* in: array for their nodes, all -1 without the column: node[i] is that of
                      cpu[i] */
    int32_t cap;   /* in: elements of each array */
    int32_t n;     /* out: rows; after ERR_SPACE as many as the arrays need */
    int32_t *core; /* in: array for their cores, all -1 without the column; NULL: not wanted */
    int32_t *socket; /* in: as core, for their sockets */
} cpubind_lscpu_nodes;

/* Reads the rows of `lscpu -e=CPU,NODE`, of `lscpu -e=CPU,NODE,CORE,SOCKET`, or of `lscpu -e`.
 *   out     out->cpu, out->node and the wanted others [0 .. out->n - 1]
 *   errors  ERR_ARG, ERR_MISSING (no header, no row), ERR_SYNTAX, ERR_CUT, ERR_RANGE,
 *           ERR_ORDER; ERR_SPACE with out->n
 *   cost    O(len) */
cpubind_text_status cpubind_lscpu_parse_nodes(const char *text, int32_t len,
                                              cpubind_lscpu_nodes *out,
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
