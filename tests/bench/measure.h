/* measure.h - times and a table of them, for the programs that make bench runs
 * SPDX-License-Identifier: MIT
 *
 * Nothing is asserted: times belong to the machine, the ratios to the code. Each time is the
 * best of several batches, so that what else runs here is mostly left out.
 */
#ifndef CPUBIND_TESTS_MEASURE_H
#define CPUBIND_TESTS_MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* == Time =================================================================== */

#define BATCHES  12
#define BATCH_NS 4e6

typedef void (*work_function)(void *ctx);

static inline double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline double batch_ns(work_function work, void *ctx, int32_t times)
{
    double start = now_ns();
    for (int32_t i = 0; i < times; i++)
        work(ctx);
    return now_ns() - start;
}

/* ns of one call: the best batch, each long enough for the clock. */
static inline double measure(work_function work, void *ctx)
{
    int32_t times = 1;
    double best;
    while (batch_ns(work, ctx, times) < BATCH_NS && times < 1 << 24)
        times *= 2;
    best = batch_ns(work, ctx, times);
    for (int32_t i = 1; i < BATCHES; i++) {
        double ns = batch_ns(work, ctx, times);
        best = ns < best ? ns : best;
    }
    return best / times;
}

/* Ends the program when a step fails: its time would mean nothing. */
static inline void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench: %s failed\n", what);
    exit(1);
}

static inline void *must_alloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    must(p != NULL, "malloc");
    return p;
}

/* == The table ============================================================== */

static inline void heading(const char *title)
{
    printf("\n%-44s %12s %10s %5s  %s\n", title, "ns", "goal", "met", "beside");
}

/* The time, in ns, and the name that a row is compared with. */
typedef struct measure_of {
    double ns;
    const char *name;
} measure_of;

/* goal 0: there is none. beside: n things that it is held against. */
static inline void row(const char *name, double ns, double goal, const measure_of *beside,
                       int n)
{
    printf("  %-42s %12.1f ", name, ns);
    if (goal > 0)
        printf("%10.0f %5s", goal, ns <= goal ? "yes" : "no");
    else
        printf("%10s %5s", "", "");
    for (int i = 0; i < n; i++)
        printf("%s%.2f of %s", i ? ", " : "  ", ns / beside[i].ns, beside[i].name);
    printf("\n");
}

#endif
