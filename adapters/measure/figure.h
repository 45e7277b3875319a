/* figure.h - what one block of a measurement came to, or why it could not be counted
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc.
 */
#ifndef CPUBIND_FIGURE_H
#define CPUBIND_FIGURE_H

#include <stdint.h>

typedef enum cpubind_better {
    CPUBIND_BETTER_LOWER, /* a latency, a wait */
    CPUBIND_BETTER_HIGHER,
    CPUBIND_BETTER_NEITHER, /* shown beside the others, and never judged */
} cpubind_better;

/* Strings end with a zero and are cut to their room. */
typedef struct cpubind_figure {
    char name[64]; /* a word of [a-z0-9_.], the same in every block of a measurement */
    char unit[16]; /* "us", "/s", "%", or empty for a plain number */
    cpubind_better better;
    double value;          /* finite; without meaning where not_counted says why */
    char not_counted[128]; /* empty: counted; else one clause, "counters fell: it restarted" */
} cpubind_figure;

#define CPUBIND_FIGURES_MAX 64

typedef struct cpubind_figures {
    int32_t n;
    int32_t n_asked; /* the first of them are those that the user has named */
    cpubind_figure at[CPUBIND_FIGURES_MAX];
} cpubind_figures;

/* The next figure of a list, counted, with the value. NULL when the list is full, which the
 * callers of a fixed table of names need not look at.
 */
cpubind_figure *cpubind_figure_add(cpubind_figures *list, const char *name, const char *unit,
                                   cpubind_better better, double value);

/* As above; the figure is not counted, for this reason. */
cpubind_figure *cpubind_figure_missing(cpubind_figures *list, const char *name,
                                       const char *unit, cpubind_better better,
                                       const char *why);

#endif
