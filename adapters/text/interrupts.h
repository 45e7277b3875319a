/* interrupts.h - /proc/interrupts: the number of each interrupt and the names of its handlers
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. There must be as many counters as CPUs; they are not kept. The grammar is
 * in interrupts.c.
 */
#ifndef CPUBIND_INTERRUPTS_H
#define CPUBIND_INTERRUPTS_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One numbered interrupt. */
typedef struct cpubind_interrupt {
    int32_t irq;         /* its number, >= 0 */
    cpubind_piece names; /* of its handlers: "a"; "a, b" when shared; may be empty */
} cpubind_interrupt;

/* The caller's array for the numbered interrupts; it may be NULL when cap is 0. */
typedef struct cpubind_interrupt_list {
    cpubind_interrupt *irq; /* in: the array */
    int32_t cap;            /* in: elements of the array */
    int32_t n;              /* out: interrupts; after ERR_SPACE as many as the array needs */
    int32_t n_cpu;          /* out: columns of CPUs; not written after ERR_SPACE */
} cpubind_interrupt_list;

/* Reads the numbered interrupts of /proc/interrupts. Rows without a number (IPI0, NMI, ERR) are
 * checked and left out.
 *   out     list->irq[0 .. list->n - 1], numbers strictly ascending; list->n may be 0,
 *           list->n_cpu is at least 1
 *   errors  ERR_ARG; ERR_MISSING (no header); ERR_SYNTAX; ERR_CUT (the last line lacks its
 *           line feed, whatever else is wrong with it); ERR_RANGE (a number above 2147483647,
 *           a CPU past CPUBIND_MAX_CPUS); ERR_ORDER; ERR_SPACE with list->n
 *   cost    O(len) */
cpubind_text_status cpubind_interrupts_parse(const char *text, int32_t len,
                                             cpubind_interrupt_list *list,
                                             cpubind_text_fault *fault);

/* Steps to the next name of a row. A name may hold blanks and ends at ", ".
 *   in      names of a row; *at: 0 before the first
 *   out     *name, a slice of the text, not empty; *at moves
 *   returns 1, or 0 at the end */
int cpubind_interrupts_next_name(const char *text, cpubind_piece names, int32_t *at,
                                 cpubind_piece *name);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_INTERRUPTS_H */
