/* probe_matrix.c - how fast the memory of each node is from the CPUs of each node
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "../linux/kernel/memory.h"
#include "probe_parts.h"

/* A line of the cache; the loads go from one to another. */
typedef struct line {
    struct line *next;
    char rest[64 - sizeof(struct line *)];
} line;

enum { N_LINES = CPUBIND_PROBE_BYTES / sizeof(line) };

/* Pages of the memory whose node is asked for, and loads between two looks at the clock. */
enum { SAMPLES = 64, LOADS = 10000 };

typedef struct measuring {
    const cpubind_probe_matrix *of;
    int32_t node; /* whose memory; -1: any */
    char *memory;
    cpubind_probe_cell *cell;
    cpubind_bell done;
    const void *sink; /* keeps the loads */
} measuring;

/* Whether all sampled pages are on the node. */
static int is_on(const cpubind_sys *sys, char *memory, int32_t node)
{
    void *page[SAMPLES];
    int status[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        page[i] = memory + (size_t)i * (CPUBIND_PROBE_BYTES / SAMPLES);
    if (sys->move_pages(0, SAMPLES, page, NULL, status, 0) < 0)
        return 0;
    for (int i = 0; i < SAMPLES; i++)
        if (status[i] != node)
            return 0;
    return 1;
}

static cpubind_linux_fault prepare(void *ctx, const cpubind_sys *sys)
{
    measuring *m = ctx;
    cpubind_root root = {sys, -1, CPUBIND_REACH_ANYWHERE};
    if (m->node >= 0 && cpubind_memory_take_only(&root, m->node).error) {
        m->cell->not_measured = "the kernel gives no memory of this node";
        return cpubind_no_fault;
    }
    const cpubind_linux_fault fault = cpubind_probe_memory(sys, &m->memory);
    if (!fault.error && m->node >= 0 && !is_on(sys, m->memory, m->node))
        m->cell->not_measured = "its pages are not on this node";
    return fault;
}

static void measure_copy(measuring *m, const cpubind_crew *crew)
{
    const size_t piece = 1 << 20, half = CPUBIND_PROBE_BYTES / 2;
    const int64_t start_ns = cpubind_now_ns();
    double bytes = 0, seconds = 0;
    for (size_t at = 0; seconds * 1e3 < m->of->time_ms && !cpubind_crew_is_over(crew);
         at = (at + piece) % half) {
        memcpy(m->memory + half + at, m->memory + at, piece);
        bytes += (double)piece;
        seconds = (double)(cpubind_now_ns() - start_ns) / 1e9;
    }
    m->cell->copy_mb_s = bytes / seconds / 1e6;
}

/* One circle through all lines, in random order (Sattolo's algorithm). */
static void make_circle(line *all)
{
    uint64_t random = 1;
    for (int32_t i = 0; i < N_LINES; i++)
        all[i].next = &all[i];
    for (int32_t i = N_LINES - 1; i > 0; i--) {
        random = cpubind_probe_compute(random, 1);
        const int32_t k = (int32_t)((random >> 33) % (uint64_t)i);
        line *next = all[i].next;
        all[i].next = all[k].next;
        all[k].next = next;
    }
}

static void measure_latency(measuring *m, const cpubind_crew *crew)
{
    line *at = (line *)(void *)m->memory;
    double loads = 0;
    make_circle(at);
    const int64_t start_ns = cpubind_now_ns();
    int64_t ns = 0;
    while (ns < m->of->time_ms * INT64_C(1000000) && !cpubind_crew_is_over(crew)) {
        for (int i = 0; i < LOADS; i++)
            at = at->next;
        loads += LOADS;
        ns = cpubind_now_ns() - start_ns;
    }
    m->sink = at;
    m->cell->latency_ns = (double)ns / loads;
}

static void work(void *ctx, cpubind_crew *crew)
{
    measuring *m = ctx;
    if (!m->cell->not_measured) {
        measure_copy(m, crew);
        measure_latency(m, crew);
    }
    cpubind_bell_ring(&m->done);
}

static cpubind_linux_fault measure_cell(const cpubind_sys *sys, const cpubind_probe_matrix *of,
                                        int32_t i, int32_t k)
{
    measuring m = {
        .of = of, .node = of->n > 1 ? of->node[k].node : -1, .cell = &of->cell[i * of->n + k]};
    cpubind_crew *crew = cpubind_crew_open(sys, 1);
    cpubind_linux_fault fault = cpubind_fault_of(crew ? 0 : ENOMEM, "memory");
    *m.cell = (cpubind_probe_cell){0, 0, NULL};
    if (!fault.error)
        fault =
            cpubind_crew_add(crew, &(cpubind_crew_job){of->node[i].cpus, prepare, work, &m});
    if (!fault.error) {
        cpubind_crew_go(crew);
        while (!fault.error && atomic_load(&m.done.rung) == 0)
            fault = cpubind_probe_wait(sys, 1, of->is_over, of->ctx);
    }
    cpubind_crew_end(crew);
    free(m.memory);
    return fault;
}

cpubind_linux_fault cpubind_probe_nodes(const cpubind_sys *sys, const cpubind_probe_matrix *m)
{
    cpubind_linux_fault fault = cpubind_no_fault;
    if (m->n < 1 || m->n > CPUBIND_PROBE_WORKERS || m->time_ms < 1)
        return cpubind_fault_of(EINVAL, "matrix");
    for (int32_t i = 0; i < m->n * m->n && !fault.error; i++)
        fault = measure_cell(sys, m, i / m->n, i % m->n);
    return fault;
}
