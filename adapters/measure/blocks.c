/* blocks.c - a measurement: the blocks of a schedule, one after the other
 * SPDX-License-Identifier: MIT
 */
#include "blocks.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The judgement of a name; it is begun where there is none and room for one. */
static cpubind_judgement *find(cpubind_judgement *figure, int32_t *n, const cpubind_figure *of,
                               int is_asked)
{
    for (int32_t i = 0; i < *n; i++)
        if (strcmp(figure[i].name, of->name) == 0)
            return &figure[i];
    if (*n == CPUBIND_FIGURES_MAX)
        return NULL;
    memset(&figure[*n], 0, sizeof figure[*n]);
    memcpy(figure[*n].name, of->name, sizeof of->name);
    memcpy(figure[*n].unit, of->unit, sizeof of->unit);
    figure[*n].better = of->better;
    figure[*n].is_asked = is_asked;
    return &figure[(*n)++];
}

static void take(const cpubind_figures *figures, int32_t block, cpubind_judgement *figure,
                 int32_t *n)
{
    for (int32_t i = 0; i < figures->n; i++) {
        const cpubind_figure *one = &figures->at[i];
        cpubind_judgement *j = find(figure, n, one, i < figures->n_asked);
        if (!j)
            continue;
        j->value[block] = one->value;
        j->is_counted[block] = !*one->not_counted;
        if (*one->not_counted)
            memcpy(j->why, one->not_counted, sizeof j->why);
    }
}

int32_t cpubind_blocks_run(const cpubind_schedule *schedule, cpubind_block_run *run, void *ctx,
                           cpubind_judgement *figure, int32_t *n_figure)
{
    cpubind_figures figures;
    *n_figure = 0;
    for (int32_t i = 0; i < schedule->n_block; i++) {
        figures.n = figures.n_asked = 0;
        if (!run(ctx, schedule->side[i], schedule, &figures))
            return i;
        take(&figures, i, figure, n_figure);
    }
    return schedule->n_block;
}
