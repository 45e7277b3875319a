/* live.c - a block of a measurement on running workers
 * SPDX-License-Identifier: MIT
 */
#include "live.h"

#include <time.h>

#include "../linux/kernel/files.h"

/* A signal that comes between the look at `stop` and the wait is seen after this time. */
#define STOP_MS 100

static int is_stopped(const cpubind_live *l)
{
    return l->stop && l->stop(l->stop_ctx);
}

/* Returns 0 when the measurement was stopped. */
static int wait_ms(const cpubind_live *l, int64_t milliseconds)
{
    const int64_t end_ms = cpubind_now_ms() + milliseconds;
    for (int64_t left = milliseconds; left > 0; left = end_ms - cpubind_now_ms()) {
        if (is_stopped(l))
            return 0;
        (void)l->sys->poll(NULL, 0, (int)(left < STOP_MS ? left : STOP_MS));
    }
    return !is_stopped(l);
}

int cpubind_live_is_over(const cpubind_live *l)
{
    int32_t n_gone = 0;
    for (int32_t i = 0; i < l->n; i++)
        n_gone += l->worker[i].is_gone;
    return n_gone == l->n;
}

static void begin_counting(cpubind_live *l, cpubind_counts *counts)
{
    const clock_t begin = clock();
    for (int32_t i = 0; i < l->n_metric; i++)
        (void)cpubind_metric_begin(l->metric[i]); /* cpubind_metric_end says why it failed */
    cpubind_counting_read(l->counting, counts);
    l->count_s += (double)(clock() - begin) / CLOCKS_PER_SEC;
}

static void end_counting(cpubind_live *l, const cpubind_counts *before, cpubind_figures *out)
{
    const clock_t begin = clock();
    cpubind_counts after;
    cpubind_counting_read(l->counting, &after);
    for (int32_t i = 0; i < l->n_metric; i++)
        cpubind_metric_end(l->metric[i], out);
    out->n_asked = out->n;
    cpubind_counting_figures(before, &after, out);
    l->count_s += (double)(clock() - begin) / CLOCKS_PER_SEC;
}

int cpubind_live_block(void *ctx, int32_t side, const cpubind_schedule *schedule,
                       cpubind_figures *out)
{
    cpubind_live *l = ctx;
    cpubind_counts before;
    if (l->hear)
        l->hear(l->hear_ctx, l->block, schedule);
    if (side != l->side)
        l->status = cpubind_place_all(l->worker, l->n, side, &l->why);
    l->side = side;
    l->block++;
    if (l->status != CPUBIND_LINUX_OK || cpubind_live_is_over(l) ||
        !wait_ms(l, schedule->settle_ms))
        return 0;
    begin_counting(l, &before);
    if (!wait_ms(l, schedule->block_ms))
        return 0;
    end_counting(l, &before, out);
    l->is_disturbed |= cpubind_place_is_disturbed(l->worker, l->n);
    return !cpubind_live_is_over(l);
}
