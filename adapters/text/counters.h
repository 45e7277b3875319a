/* counters.h - what the kernel counts of a thread and of each CPU: schedstat, stat, interrupts
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR
 *   schedstat = number " " number " " number LF
 *   stat      = *( line LF )   a line "cpu<n>" 1*( " " number ): the times of a CPU
 *   table     = 1*( blank ) "CPU" number *( 1*blank "CPU" number ) LF
 *               *( name ":" *( 1*blank number ) [ 1*blank words ] LF )   CPUs ascend
 */
#ifndef CPUBIND_COUNTERS_H
#define CPUBIND_COUNTERS_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of /proc/<pid>/task/<tid>/schedstat. */
typedef struct cpubind_schedstat {
    uint64_t run_ns;  /* it ran */
    uint64_t wait_ns; /* it could run, and waited for a CPU */
    uint64_t slices;  /* how often it was given one */
} cpubind_schedstat;

/* Reads a line of schedstat.
 *   errors  ERR_ARG, ERR_SYNTAX, ERR_RANGE, ERR_CUT */
cpubind_text_status cpubind_schedstat_parse(const char *text, int32_t len,
                                            cpubind_schedstat *out, cpubind_text_fault *fault);

/* Times of CPUs, in clock ticks. */
typedef struct cpubind_cpu_times {
    uint64_t all; /* idle time too */
    uint64_t irq, softirq, steal;
} cpubind_cpu_times;

/* Sums the times of some CPUs in /proc/stat. The rows of CPUs come first, in any order.
 *   in      cpu[0 .. n_cpu - 1]: ascending
 *   errors  ERR_ARG; ERR_MISSING when a CPU has no row: it is offline; ERR_SYNTAX, ERR_RANGE,
 *           ERR_CUT for a row of them
 *   cost    O(len) */
cpubind_text_status cpubind_cpu_times_parse(const char *text, int32_t len, const int32_t *cpu,
                                            int32_t n_cpu, cpubind_cpu_times *out,
                                            cpubind_text_fault *fault);

/* Sums of rows of /proc/interrupts or /proc/softirqs. */
typedef struct cpubind_cpu_events {
    uint64_t numbered; /* interrupts of devices */
    uint64_t named;    /* the kernel's own: timers, calls between CPUs */
} cpubind_cpu_events;

/* Sums the counts of some CPUs in all rows. A row with fewer numbers than there are CPUs, such
 * as ERR, is about no CPU, and left out.
 *   in      cpu[0 .. n_cpu - 1]: ascending
 *   errors  ERR_ARG; ERR_MISSING without a header, or when it lacks one of the CPUs; ERR_SYNTAX
 *           for a row without a name; ERR_RANGE; ERR_CUT
 *   cost    O(len) */
cpubind_text_status cpubind_cpu_events_parse(const char *text, int32_t len, const int32_t *cpu,
                                             int32_t n_cpu, cpubind_cpu_events *out,
                                             cpubind_text_fault *fault);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_COUNTERS_H */
