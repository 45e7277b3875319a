/* live.h - a block of a measurement on running workers
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_MEASURE_LIVE_H
#define CPUBIND_MEASURE_LIVE_H

#include "blocks.h"
#include "counting.h"
#include "metric.h"
#include "place.h"

/* A measurement. Begins with side -1 and `status` OK. */
typedef struct cpubind_live {
    /* in */
    const cpubind_sys *sys;
    cpubind_placed *worker; /* open */
    int32_t n;
    cpubind_counting *counting;
    cpubind_metric *const *metric; /* that the user has named */
    int32_t n_metric;
    int (*stop)(void *ctx); /* 1 ends the measurement; or NULL */
    void *stop_ctx;
    void (*hear)(void *ctx, int32_t block, const cpubind_schedule *schedule); /* or NULL: each
                                                                                block begins */
    void *hear_ctx;
    /* out */
    int32_t block, side; /* the next block; the side of the last one */
    cpubind_linux_status status;
    cpubind_place_fault why; /* of the status */
    double count_s;   /* time that this process has computed to read counters and metrics */
    int is_disturbed; /* something else has changed the CPUs of a worker in a block */
} cpubind_live;

/* A cpubind_block_run; `ctx` is a cpubind_live. The measurement ends early when it is stopped,
 * when a worker cannot be placed, and when all have ended. */
int cpubind_live_block(void *ctx, int32_t side, const cpubind_schedule *schedule,
                       cpubind_figures *out);

/* Whether all workers have ended. */
int cpubind_live_is_over(const cpubind_live *live);

#endif /* CPUBIND_MEASURE_LIVE_H */
