/* probe.c - one block of made workers
 * SPDX-License-Identifier: MIT
 *
 * The threads of a worker write only what is theirs; the latencies are read when all have
 * ended.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../linux/kernel/memory.h"
#include "latency.h"
#include "probe_parts.h"

/* What main copies in a step, and how long each role computes: some microseconds each, so that
 * the wake-ups are most of a step, as in a decode loop that launches small kernels. */
enum { COPY_BYTES = 32 << 10, MAIN_ROUNDS = 4000, ACL_ROUNDS = 2000, RELEASE_ROUNDS = 1000 };

/* The period of the timer. */
enum { TIMER_MS = 1 };

/* == A worker =============================================================== */

typedef enum wake { WAKE_ACL, WAKE_MAIN, WAKE_RELEASE, WAKE_TIMER, N_WAKES } wake;

typedef struct worker {
    const cpubind_probe_worker *at;
    const _Atomic int *is_counted; /* of the block: the steps of now count */
    char *memory;
    cpubind_bell bell[N_WAKES];       /* that of the timer is not used */
    _Atomic int64_t rung_ns[N_WAKES]; /* when the bell was rung last */
    cpubind_latency step, wakes[N_WAKES];
    uint64_t sum[N_WAKES]; /* keeps the results of computing */
} worker;

static void ring(worker *w, wake which)
{
    atomic_store(&w->rung_ns[which], cpubind_now_ns());
    cpubind_bell_ring(&w->bell[which]);
}

/* Waits for the bell of this role. Returns 0 when the work is over. */
static int wait_for(worker *w, wake which, uint32_t *seen, const cpubind_crew *crew)
{
    if (!cpubind_bell_wait(&w->bell[which], seen, crew))
        return 0;
    if (atomic_load(w->is_counted))
        cpubind_latency_add(&w->wakes[which],
                            cpubind_now_ns() - atomic_load(&w->rung_ns[which]));
    return 1;
}

static cpubind_linux_fault prepare_main(void *ctx, const cpubind_sys *sys)
{
    worker *w = ctx;
    cpubind_root root = {sys, -1, CPUBIND_REACH_ANYWHERE};
    cpubind_linux_fault fault = cpubind_no_fault;
    if (w->at->node >= 0)
        fault = cpubind_memory_prefer(&root, w->at->node);
    return fault.error ? fault : cpubind_probe_memory(sys, &w->memory);
}

static void work_main(void *ctx, cpubind_crew *crew)
{
    worker *w = ctx;
    const size_t half = CPUBIND_PROBE_BYTES / 2;
    uint32_t seen = 0;
    size_t at = 0;
    for (;;) {
        const int64_t start_ns = cpubind_now_ns();
        const int is_counted = atomic_load(w->is_counted);
        memcpy(w->memory + half + at, w->memory + at, COPY_BYTES);
        at = (at + COPY_BYTES) % half;
        w->sum[WAKE_MAIN] = cpubind_probe_compute(w->sum[WAKE_MAIN], MAIN_ROUNDS);
        ring(w, WAKE_ACL);
        if (!wait_for(w, WAKE_MAIN, &seen, crew))
            return;
        if (is_counted)
            cpubind_latency_add(&w->step, cpubind_now_ns() - start_ns);
    }
}

static void work_acl(void *ctx, cpubind_crew *crew)
{
    worker *w = ctx;
    uint32_t seen = 0;
    while (wait_for(w, WAKE_ACL, &seen, crew)) {
        w->sum[WAKE_ACL] = cpubind_probe_compute(w->sum[WAKE_ACL], ACL_ROUNDS);
        ring(w, WAKE_RELEASE);
        ring(w, WAKE_MAIN);
    }
}

static void work_release(void *ctx, cpubind_crew *crew)
{
    worker *w = ctx;
    uint32_t seen = 0;
    while (wait_for(w, WAKE_RELEASE, &seen, crew))
        w->sum[WAKE_RELEASE] = cpubind_probe_compute(w->sum[WAKE_RELEASE], RELEASE_ROUNDS);
}

static void work_timer(void *ctx, cpubind_crew *crew)
{
    worker *w = ctx;
    while (!cpubind_crew_is_over(crew)) {
        const int64_t due_ns = cpubind_now_ns() + TIMER_MS * INT64_C(1000000);
        (void)poll(NULL, 0, TIMER_MS);
        if (atomic_load(w->is_counted))
            cpubind_latency_add(&w->wakes[WAKE_TIMER], cpubind_now_ns() - due_ns);
    }
}

static cpubind_linux_fault add_worker(cpubind_crew *crew, worker *w)
{
    const cpubind_crew_job jobs[] = {{w->at->main, prepare_main, work_main, w},
                                     {w->at->acl, NULL, work_acl, w},
                                     {w->at->release, NULL, work_release, w},
                                     {w->at->timer, NULL, work_timer, w}};
    cpubind_linux_fault fault = cpubind_no_fault;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs && !fault.error; i++)
        fault = cpubind_crew_add(crew, &jobs[i]);
    return fault;
}

/* == A block ================================================================ */

/* A quantile in us; not counted where too few were seen. */
static void add_quantile(cpubind_figures *out, const char *name, const char *ending,
                         const cpubind_latency *of, double q)
{
    char full[64];
    (void)snprintf(full, sizeof full, "%s.%s", name, ending);
    if ((double)of->n * (1 - q) < 1)
        (void)cpubind_figure_missing(out, full, "us", CPUBIND_BETTER_LOWER,
                                     "too few were seen in the time of a block");
    else
        (void)cpubind_figure_add(out, full, "us", CPUBIND_BETTER_LOWER,
                                 cpubind_latency_quantile(of, q) / 1e3);
}

static void add_figures(cpubind_figures *out, worker *w, int32_t n, double seconds)
{
    static const char *const names[N_WAKES] = {"wake_acl", "wake_main", "wake_release",
                                               "wake_timer"};
    for (int32_t i = 1; i < n; i++) {
        cpubind_latency_merge(&w->step, &w[i].step);
        for (int k = 0; k < N_WAKES; k++)
            cpubind_latency_merge(&w->wakes[k], &w[i].wakes[k]);
    }
    add_quantile(out, "step", "p50", &w->step, 0.5);
    add_quantile(out, "step", "p99", &w->step, 0.99);
    add_quantile(out, "step", "p999", &w->step, 0.999);
    (void)cpubind_figure_add(out, "steps", "/s", CPUBIND_BETTER_HIGHER,
                             (double)w->step.n / seconds);
    for (int k = 0; k < N_WAKES; k++) {
        add_quantile(out, names[k], "p50", &w->wakes[k], 0.5);
        add_quantile(out, names[k], "p99", &w->wakes[k], 0.99);
    }
}

typedef struct block {
    const cpubind_probe_block *of;
    worker *worker;
    cpubind_noise_thread *noise;
    int32_t n_noise;
    _Atomic int is_counted;
    double seconds;
} block;

static cpubind_linux_fault run_crew(const cpubind_sys *sys, block *b, cpubind_crew *crew)
{
    cpubind_linux_fault fault = cpubind_noise_add(sys, &b->of->noise, crew, b->noise);
    for (int32_t i = 0; i < b->of->n_worker && !fault.error; i++) {
        b->worker[i].at = &b->of->worker[i];
        b->worker[i].is_counted = &b->is_counted;
        fault = add_worker(crew, &b->worker[i]);
    }
    if (fault.error)
        return fault;
    cpubind_crew_go(crew);
    fault = cpubind_probe_wait(sys, b->of->warm_ms, b->of->is_over, b->of->ctx);
    if (fault.error)
        return fault;
    const int64_t start_ns = cpubind_now_ns();
    atomic_store(&b->is_counted, 1);
    fault = cpubind_probe_wait(sys, b->of->time_ms, b->of->is_over, b->of->ctx);
    atomic_store(&b->is_counted, 0);
    b->seconds = (double)(cpubind_now_ns() - start_ns) / 1e9;
    return fault;
}

static int is_valid(const cpubind_probe_block *of)
{
    const cpubind_probe_noise *n = &of->noise;
    return of->n_worker >= 1 && of->n_worker <= CPUBIND_PROBE_WORKERS && of->time_ms >= 1 &&
           of->warm_ms >= 0 && n->n_cpu >= 0 && n->n_memory >= 0 && n->n_irq >= 0 &&
           n->n_cpu <= CPUBIND_PROBE_NOISE && n->n_memory <= CPUBIND_PROBE_NOISE &&
           n->n_irq <= CPUBIND_PROBE_NOISE;
}

/* Memory of n elements, all zero. */
static void *allocate(const cpubind_sys *sys, int32_t n, size_t size)
{
    void *all = sys->malloc((size_t)n * size);
    if (all)
        memset(all, 0, (size_t)n * size);
    return all;
}

cpubind_linux_fault cpubind_probe_run(const cpubind_sys *sys, const cpubind_probe_block *of,
                                      cpubind_figures *out)
{
    cpubind_linux_fault fault = cpubind_fault_of(ENOMEM, "memory");
    if (!is_valid(of))
        return cpubind_fault_of(EINVAL, "block");
    block b = {.of = of, .n_noise = of->noise.n_cpu + of->noise.n_memory + of->noise.n_irq};
    b.worker = allocate(sys, of->n_worker, sizeof *b.worker);
    b.noise = allocate(sys, b.n_noise + 1, sizeof *b.noise);
    cpubind_crew *crew = cpubind_crew_open(sys, 4 * of->n_worker + b.n_noise);
    if (b.worker && b.noise && crew)
        fault = run_crew(sys, &b, crew);
    cpubind_crew_end(crew);
    if (!fault.error)
        add_figures(out, b.worker, of->n_worker, b.seconds);
    for (int32_t i = 0; b.worker && i < of->n_worker; i++)
        free(b.worker[i].memory);
    if (b.noise)
        cpubind_noise_free(sys, b.noise, b.n_noise);
    free(b.worker);
    free(b.noise);
    return fault;
}

const char *cpubind_probe_cannot(int32_t n_cpu, int32_t n_node, int32_t n_worker, int32_t i)
{
    const struct {
        int is_so;
        const char *text;
    } rows[] = {
        {n_cpu < 2, "with one CPU all placements are the same"},
        {n_cpu < 4 * n_worker,
         "there are fewer CPUs than threads of the workers: what a CPU of its own brings to "
         "each role is not shown"},
        {n_node < 2,
         "there is one memory node: what memory on another node costs is not shown"},
        {n_worker < 2, "there is one worker: what workers cost each other is not shown"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (rows[k].is_so && i-- == 0)
            return rows[k].text;
    return NULL;
}
