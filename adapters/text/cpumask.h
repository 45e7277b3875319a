/* cpumask.h - CPU masks as the kernel prints them, both ways: "00000001,00000000"
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. Used for smp_affinity, cpumap and Cpus_allowed.
 *
 * GRAMMAR
 *   mask  = group *( "," group ) [ LF ] *NUL
 *   group = 1*8HEXDIG        32 CPUs, the lowest group last; every group but the first has
 *                            exactly 8 digits, either case
 * The vectors are tests/cases/read_cpumask.txt.
 */
#ifndef CPUBIND_CPUMASK_H
#define CPUBIND_CPUMASK_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the CPUs whose bit is set, ascending.
 *   in      1 <= limit <= CPUBIND_MAX_CPUS: every set bit must be below it
 *   out     list->out[0 .. list->n - 1]
 *   errors  ERR_ARG, ERR_SYNTAX, ERR_RANGE; ERR_SPACE with list->n
 *   cost    O(len + CPUs) */
cpubind_text_status cpubind_cpumask_parse(const char *text, int32_t len, int32_t limit,
                                          cpubind_int_list *list, cpubind_text_fault *fault);

/* Writes a mask as text: lower case, groups of 8 digits, as many groups as `width` CPUs need.
 *   in      cpu[0 .. n - 1] strictly ascending, each in 0 .. width - 1;
 *           1 <= width <= CPUBIND_MAX_CPUS, in CPUs
 *   out     text[0 .. *out_len - 1], without a NUL or a line feed
 *   errors  ERR_ARG, ERR_ORDER, ERR_RANGE; ERR_SPACE with *out_len, `text` untouched
 *   cost    O(n + width) */
cpubind_text_status cpubind_cpumask_format(const int32_t *cpu, int32_t n, int32_t width,
                                           char *text, int32_t cap, int32_t *out_len);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_CPUMASK_H */
