/* figure.c - one figure of a block
 * SPDX-License-Identifier: MIT
 */
#include "figure.h"

#include <stddef.h>
#include <stdio.h>

cpubind_figure *cpubind_figure_add(cpubind_figures *list, const char *name, const char *unit,
                                   cpubind_better better, double value)
{
    if (list->n == CPUBIND_FIGURES_MAX)
        return NULL;
    cpubind_figure *figure = &list->at[list->n++];
    *figure = (cpubind_figure){.better = better, .value = value};
    (void)snprintf(figure->name, sizeof figure->name, "%s", name);
    (void)snprintf(figure->unit, sizeof figure->unit, "%s", unit);
    return figure;
}

cpubind_figure *cpubind_figure_missing(cpubind_figures *list, const char *name,
                                       const char *unit, cpubind_better better, const char *why)
{
    cpubind_figure *figure = cpubind_figure_add(list, name, unit, better, 0);
    if (figure != NULL)
        (void)snprintf(figure->not_counted, sizeof figure->not_counted, "%s", why);
    return figure;
}
