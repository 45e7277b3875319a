/* probe_parts.h - private to the files of the probe
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_MEASURE_PROBE_PARTS_H
#define CPUBIND_MEASURE_PROBE_PARTS_H

#include "../linux/kernel/files.h"
#include "probe.h"

/* Memory whose pages this thread has touched; free(3) gives it back to the kernel, since it is
 * larger than what malloc(3) keeps.
 *   errors  "memory" */
cpubind_linux_fault cpubind_probe_memory(const cpubind_sys *sys, char **out);

/* Computes for some microseconds; the result makes the compiler do so. */
uint64_t cpubind_probe_compute(uint64_t seed, int32_t rounds);

/* Waits, and asks is_over meanwhile.
 *   errors  ECANCELED, "block"; "poll" */
cpubind_linux_fault cpubind_probe_wait(const cpubind_sys *sys, int32_t ms,
                                       int (*is_over)(void *ctx), void *ctx);

/* The threads of noise, which belong to the crew; the memory is freed after its end. */
typedef struct cpubind_noise_thread {
    char *memory;
    int fd;
    uint64_t sum;
} cpubind_noise_thread;

/*   out     thread[0 .. n - 1], n of all kinds of noise; all zero before */
cpubind_linux_fault cpubind_noise_add(const cpubind_sys *sys, const cpubind_probe_noise *noise,
                                      cpubind_crew *crew, cpubind_noise_thread *thread);
void cpubind_noise_free(const cpubind_sys *sys, cpubind_noise_thread *thread, int32_t n);

#endif /* CPUBIND_MEASURE_PROBE_PARTS_H */
