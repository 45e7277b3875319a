/* probe.h - made workers with the roles of an Ascend worker, and the memory of nodes
 * SPDX-License-Identifier: MIT
 *
 * For hosts without a worker: what does a placement of CPUs buy here? A made worker has
 *   main     copies a piece of its memory, computes, wakes the ACL thread, waits for its answer
 *   acl      waits for main, computes, wakes main and the release thread
 *   release  waits for acl, computes
 *   timer    wakes each millisecond
 * Real threads, futexes and memory, but a made load: its figures compare placements on one
 * host, and say nothing about an engine. All threads have ended and all memory is free when a
 * call returns, also after a failure.
 */
#ifndef CPUBIND_MEASURE_PROBE_H
#define CPUBIND_MEASURE_PROBE_H

#include "../linux/crew.h"
#include "figure.h"

/* Memory of a worker, and of a thread of noise that copies memory: far more than a cache of one
 * core. */
#define CPUBIND_PROBE_BYTES (40 << 20)

/* Where the threads of one worker run, and the node of its memory; -1: where it comes to be. */
typedef struct cpubind_probe_worker {
    cpubind_cpus main, acl, release, timer;
    int32_t node;
} cpubind_probe_worker;

/* What runs beside the workers: threads of each kind. */
typedef struct cpubind_probe_noise {
    int32_t n_cpu;    /* compute */
    int32_t n_memory; /* copy memory */
    int32_t n_irq;    /* send packets to themselves and sleep for moments: softirqs, timers */
    cpubind_cpus cpus;
} cpubind_probe_noise;

typedef struct cpubind_probe_block {
    const cpubind_probe_worker *worker;
    int32_t n_worker; /* 1 .. CPUBIND_PROBE_WORKERS */
    cpubind_probe_noise noise;
    int32_t warm_ms;           /* before the first step that counts */
    int32_t time_ms;           /* of the steps that count, 1 or more */
    int (*is_over)(void *ctx); /* asked every 20 ms: whether to end early; may be NULL */
    void *ctx;
} cpubind_probe_block;

#define CPUBIND_PROBE_WORKERS 64
#define CPUBIND_PROBE_NOISE   1024

/* Runs one block, and adds its figures: step.p50, .p99, .p999 in us; steps of all workers a
 * second; wake_acl (main to acl), wake_main, wake_release and wake_timer, each .p50 and .p99 in
 * us. A thousandth counts from 1,000 on. Nothing is added on failure.
 *   errors  EINVAL, "block": counts out of range; ECANCELED, "block": is_over; "thread",
 *           "sched_setaffinity", "set_mempolicy", "memory"; "socket", of noise
 *   cost    warm_ms + time_ms, and the memory of all workers */
cpubind_linux_fault cpubind_probe_run(const cpubind_sys *sys, const cpubind_probe_block *block,
                                      cpubind_figures *out);

/* What a host cannot show, one sentence each; NULL after the last one.
 *   in      n_cpu: CPUs of all workers and the noise; n_node: nodes with memory */
const char *cpubind_probe_cannot(int32_t n_cpu, int32_t n_node, int32_t n_worker, int32_t i);

/* A node, and the CPUs of it that may be used, 1 or more. */
typedef struct cpubind_probe_node {
    int32_t node;
    cpubind_cpus cpus;
} cpubind_probe_node;

/* From the CPUs of one node to the memory of one, by one thread. */
typedef struct cpubind_probe_cell {
    double copy_mb_s;         /* 10^6 bytes copied in a second */
    double latency_ns;        /* of loads from CPUBIND_PROBE_BYTES in random order, each of the
                                 one before; what the page tables cost is in it, and a cache
                                 that holds a part of the bytes makes it shorter */
    const char *not_measured; /* why not, static text; NULL: measured */
} cpubind_probe_cell;

typedef struct cpubind_probe_matrix {
    const cpubind_probe_node *node;
    int32_t n;                 /* 1 .. CPUBIND_PROBE_WORKERS */
    int32_t time_ms;           /* of copying, and of loads, for each cell; 1 or more */
    int (*is_over)(void *ctx); /* as above */
    void *ctx;
    cpubind_probe_cell *cell; /* out: n * n of them; [i * n + k] from the CPUs of node i to the
                                 memory of node k */
} cpubind_probe_matrix;

/* Measures one cell after the other. With one node no policy of memory is set. A node whose
 * memory cannot be had (it is full, it has none, the policy is refused) is not measured.
 *   errors  EINVAL, "matrix"; ECANCELED, "block"; "thread", "sched_setaffinity", "memory"
 *   cost    n * n times 2 * time_ms and a tenth of a second or more; CPUBIND_PROBE_BYTES */
cpubind_linux_fault cpubind_probe_nodes(const cpubind_sys *sys, const cpubind_probe_matrix *m);

#endif /* CPUBIND_MEASURE_PROBE_H */
