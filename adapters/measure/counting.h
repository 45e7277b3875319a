/* counting.h - what the kernel counts of workers and of the CPUs of a plan, as figures
 * SPDX-License-Identifier: MIT
 *
 * Needs no right beyond what apply needs. What cannot be read is a figure that is not counted,
 * with why. Of each worker the threads count that had run most when they were chosen,
 * CPUBIND_COUNTED_THREADS of them: at the start, and again when one of them has ended.
 */
#ifndef CPUBIND_MEASURE_COUNTING_H
#define CPUBIND_MEASURE_COUNTING_H

#include "../linux/linux.h"
#include "../linux/sys.h"
#include "figure.h"

#define CPUBIND_COUNTED_THREADS 8

/* The counts: those of threads, then those of CPUs, then what is looked at and not counted. */
#define CPUBIND_COUNT_LIST(X)                                                                  \
    X(RUN_NS)                                                                                  \
    X(WAIT_NS)                                                                                 \
    X(SLICES)                                                                                  \
    X(MINOR_FAULTS)                                                                            \
    X(MAJOR_FAULTS)                                                                            \
    X(VOLUNTARY)                                                                               \
    X(INVOLUNTARY)                                                                             \
    X(CYCLES)                                                                                  \
    X(INSTRUCTIONS)                                                                            \
    X(CACHE_MISSES)                                                                            \
    X(NODE_LOADS)                                                                              \
    X(NODE_MISSES)                                                                             \
    X(MIGRATIONS)                                                                              \
    X(TICKS)                                                                                   \
    X(IRQ_TICKS)                                                                               \
    X(STOLEN_TICKS)                                                                            \
    X(INTERRUPTS)                                                                              \
    X(KERNEL_INTERRUPTS)                                                                       \
    X(SOFTIRQS)                                                                                \
    X(REMOTE_PAGES)                                                                            \
    X(PAGES)                                                                                   \
    X(MHZ)

typedef enum cpubind_count_id {
#define CPUBIND_X(name) CPUBIND_COUNT_##name,
    CPUBIND_COUNT_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_COUNTS
} cpubind_count_id;

/* What was counted up to a moment; the fault of each count that could not be read. */
typedef struct cpubind_counts {
    int64_t at_ms;
    double value[CPUBIND_COUNTS];
    cpubind_linux_fault fault[CPUBIND_COUNTS];
} cpubind_counts;

typedef struct cpubind_counting cpubind_counting;

/* Begins to count.
 *   in      pid: of the workers; cpu: those of their pools, ascending; both are copied
 *   errors  ERR_MEMORY */
cpubind_linux_status cpubind_counting_open(const cpubind_sys *sys, const int32_t *pid,
                                           int32_t n_pid, const int32_t *cpu, int32_t n_cpu,
                                           cpubind_counting **out, cpubind_linux_fault *fault);

/* Reads all counts.
 *   cost    for each thread three files, and one read for each event of perf_event_open(2);
 *           /proc/stat, /proc/softirqs, and /proc/interrupts where it is shorter than 1 MiB */
void cpubind_counting_read(cpubind_counting *c, cpubind_counts *out);

/* The figures of the time between two readings, always the same ones in the same order. */
void cpubind_counting_figures(const cpubind_counts *before, const cpubind_counts *after,
                              cpubind_figures *out);

/* NULL is allowed. */
void cpubind_counting_close(cpubind_counting *c);

#endif /* CPUBIND_MEASURE_COUNTING_H */
