/* counting.c - what the kernel counts of workers and of the CPUs of a plan, as figures
 * SPDX-License-Identifier: MIT
 *
 * A thread may end at any time, so its counts are added up from one reading to the next: a sum
 * never falls.
 */
#define _GNU_SOURCE
#include "counting.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../linux/kernel/files.h"
#include "../linux/kernel/process.h"
#include "../text/counters.h"
#include "../text/cpulist.h"
#include "../text/maps.h"
#include "../text/procfs.h"

/* Reading a longer /proc/interrupts would disturb what is measured. */
#define INTERRUPTS_MAX (1 << 20)

/* Pages of a worker whose nodes are asked for. */
#define PAGES_MAX 128

/* CPUs whose frequency is looked at. */
#define MHZ_CPUS_MAX 16

#define N_EVENT (CPUBIND_COUNT_MIGRATIONS - CPUBIND_COUNT_CYCLES + 1)

#define NODE_READ(result)                                                                      \
    (PERF_COUNT_HW_CACHE_NODE | PERF_COUNT_HW_CACHE_OP_READ << 8 |                             \
     PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* The events of perf_event_open(2), in the order of the counts from CYCLES on. */
static const struct {
    uint32_t type;
    uint64_t config;
} events[N_EVENT] = {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
                     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
                     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
                     {PERF_TYPE_HW_CACHE, NODE_READ(ACCESS)},
                     {PERF_TYPE_HW_CACHE, NODE_READ(MISS)},
                     {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS}};

/* A thread that is counted. */
typedef struct counted {
    int32_t tid;     /* 0: none */
    int32_t cpu;     /* that it ran on last; -1: not known */
    int is_ready;    /* it runs or waits for a CPU, by its state */
    double ahead_ns; /* of a wait that is not over: counted here, and not by the kernel */
    int64_t read_ms; /* when its times were read last */
    double last[CPUBIND_COUNT_TICKS];
    int is_begun[CPUBIND_COUNT_TICKS];
    int fd[N_EVENT]; /* -1: not open */
} counted;

typedef struct worker {
    int32_t pid;
    counted thread[CPUBIND_COUNTED_THREADS];
    void *page[PAGES_MAX];
    int32_t n_page;
} worker;

struct cpubind_counting {
    const cpubind_sys *sys;
    worker *worker;
    int32_t n;
    int32_t *cpu, n_cpu;
    int has_tickless; /* CPUs without a tick: the run time of a thread there may be old */
    int16_t *node_of; /* by CPU: its node, or -1; NULL: the host has one node */
    double sum[CPUBIND_COUNT_TICKS];
    cpubind_linux_fault fault[CPUBIND_COUNTS];
    cpubind_bytes bytes;
};

static cpubind_linux_fault unreadable(const char *what)
{
    return cpubind_fault_of(EILSEQ, what);
}

/* == Threads ================================================================ */

static cpubind_linux_fault read_of(const cpubind_counting *c, int32_t pid, int32_t tid,
                                   const char *name, char *text, size_t size, int32_t *len)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
    return cpubind_read_text(c->sys, AT_FDCWD, path, text, size, len);
}

static cpubind_linux_fault read_schedstat(const cpubind_counting *c, int32_t pid, int32_t tid,
                                          cpubind_schedstat *out)
{
    char text[128];
    int32_t len;
    cpubind_linux_fault why = read_of(c, pid, tid, "schedstat", text, sizeof text, &len);
    if (!why.error && cpubind_schedstat_parse(text, len, out, NULL) != CPUBIND_TEXT_OK)
        why = unreadable("schedstat");
    return why;
}

static void end_thread(const cpubind_counting *c, counted *t)
{
    for (int i = 0; i < N_EVENT && t->tid; i++)
        if (t->fd[i] >= 0)
            c->sys->close(t->fd[i]);
    t->tid = 0;
}

/* Adds what a thread has counted since it was read last. */
static void add(cpubind_counting *c, counted *t, cpubind_count_id id, double value)
{
    if (t->is_begun[id] && value > t->last[id])
        c->sum[id] += value - t->last[id];
    t->is_begun[id] = 1;
    t->last[id] = value;
}

/* Opens the events of a thread. One that this kernel or this user cannot have is not tried for
 * the other threads. */
static void open_events(cpubind_counting *c, counted *t)
{
    for (int i = 0; i < N_EVENT; i++) {
        cpubind_linux_fault *fault = &c->fault[CPUBIND_COUNT_CYCLES + i];
        const uint32_t type = events[i].type;
        t->fd[i] = -1;
        if (fault->error)
            continue;
        t->fd[i] = c->sys->perf_open(t->tid, type, events[i].config, 0);
        if (t->fd[i] < 0 && (errno == EACCES || errno == EPERM) && type != PERF_TYPE_SOFTWARE)
            t->fd[i] = c->sys->perf_open(t->tid, type, events[i].config, 1);
        if (t->fd[i] < 0 && errno != ESRCH)
            *fault = cpubind_fault_errno("perf_event_open");
    }
}

static void read_events(cpubind_counting *c, counted *t)
{
    for (int i = 0; i < N_EVENT; i++) {
        uint64_t said[3] = {0, 0, 0}; /* the count, and the times it was wanted and counted */
        ssize_t n;
        if (t->fd[i] < 0)
            continue;
        CPUBIND_RETRY(n, c->sys->read(t->fd[i], said, sizeof said));
        if (n == (ssize_t)sizeof said && said[2] > 0)
            add(c, t, (cpubind_count_id)(CPUBIND_COUNT_CYCLES + i),
                (double)said[0] * ((double)said[1] / (double)said[2]));
        else if (n != (ssize_t)sizeof said)
            c->fault[CPUBIND_COUNT_CYCLES + i] = cpubind_fault_errno("perf_event_open");
    }
}

static cpubind_linux_fault read_switches(cpubind_counting *c, int32_t pid, counted *t)
{
    char text[8192];
    int32_t len;
    int64_t voluntary, involuntary;
    cpubind_linux_fault why = read_of(c, pid, t->tid, "status", text, sizeof text, &len);
    if (why.error)
        return why;
    if (cpubind_kb_find(text, len, "voluntary_ctxt_switches", &voluntary, NULL) !=
            CPUBIND_TEXT_OK ||
        cpubind_kb_find(text, len, "nonvoluntary_ctxt_switches", &involuntary, NULL) !=
            CPUBIND_TEXT_OK)
        return unreadable("status");
    add(c, t, CPUBIND_COUNT_VOLUNTARY, (double)voluntary);
    add(c, t, CPUBIND_COUNT_INVOLUNTARY, (double)involuntary);
    return why;
}

static cpubind_linux_fault read_stat(cpubind_counting *c, int32_t pid, counted *t)
{
    char text[1024];
    int32_t len;
    cpubind_stat stat;
    cpubind_linux_fault why = read_of(c, pid, t->tid, "stat", text, sizeof text, &len);
    if (why.error)
        return why;
    if (cpubind_stat_parse(text, len, &stat, NULL) != CPUBIND_TEXT_OK)
        return unreadable("stat");
    t->cpu = stat.cpu;
    t->is_ready = stat.state == 'R';
    add(c, t, CPUBIND_COUNT_MINOR_FAULTS, (double)stat.n_minor);
    add(c, t, CPUBIND_COUNT_MAJOR_FAULTS, (double)stat.n_major);
    return why;
}

/* Adds the wait of a thread. The kernel counts a wait when it is over; one that lasts from one
 * reading to the next is counted here, and taken off when the kernel counts it. */
static void add_wait(cpubind_counting *c, counted *t, const cpubind_schedstat *times,
                     int was_ready)
{
    const int64_t now_ms = cpubind_now_ms();
    const double wait = (double)times->wait_ns;
    if (was_ready && t->is_ready && !c->has_tickless && t->is_begun[CPUBIND_COUNT_WAIT_NS] &&
        t->last[CPUBIND_COUNT_WAIT_NS] == wait &&
        t->last[CPUBIND_COUNT_RUN_NS] == (double)times->run_ns) {
        const double more = (double)(now_ms - t->read_ms) * 1e6;
        c->sum[CPUBIND_COUNT_WAIT_NS] += more;
        t->ahead_ns += more;
    } else if (t->is_begun[CPUBIND_COUNT_WAIT_NS]) {
        const double grown = wait - t->last[CPUBIND_COUNT_WAIT_NS];
        c->sum[CPUBIND_COUNT_WAIT_NS] += grown > t->ahead_ns ? grown - t->ahead_ns : 0;
        t->ahead_ns = 0;
    }
    t->is_begun[CPUBIND_COUNT_WAIT_NS] = 1;
    t->last[CPUBIND_COUNT_WAIT_NS] = wait;
    t->read_ms = now_ms;
}

static cpubind_linux_fault read_times(cpubind_counting *c, int32_t pid, counted *t)
{
    const int was_ready = t->is_ready;
    cpubind_schedstat times;
    cpubind_linux_fault why = read_schedstat(c, pid, t->tid, &times);
    if (!why.error)
        why = read_stat(c, pid, t);
    if (why.error)
        return why;
    add_wait(c, t, &times, was_ready);
    add(c, t, CPUBIND_COUNT_RUN_NS, (double)times.run_ns);
    add(c, t, CPUBIND_COUNT_SLICES, (double)times.slices);
    return why;
}

/* The files of a thread, and the counts that each has. */
static const struct {
    cpubind_linux_fault (*read)(cpubind_counting *c, int32_t pid, counted *t);
    cpubind_count_id first, last;
} files[] = {{read_times, CPUBIND_COUNT_RUN_NS, CPUBIND_COUNT_MAJOR_FAULTS},
             {read_switches, CPUBIND_COUNT_VOLUNTARY, CPUBIND_COUNT_INVOLUNTARY}};

/* Reads a thread. Returns 0 when it has ended. */
static int read_thread(cpubind_counting *c, int32_t pid, counted *t)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const cpubind_linux_fault why = files[i].read(c, pid, t);
        if (why.error == ESRCH || why.error == ENOENT) {
            end_thread(c, t);
            return 0;
        }
        for (int id = (int)files[i].first; why.error && id <= (int)files[i].last; id++)
            c->fault[id] = why;
    }
    read_events(c, t);
    return 1;
}

/* == Which threads ========================================================== */

typedef struct busy {
    int32_t tid;
    uint64_t run_ns;
} busy;

/* Keeps the busiest, the busiest first. */
static void keep_busy(busy *list, int32_t *n, busy one)
{
    int32_t at = *n < CPUBIND_COUNTED_THREADS ? (*n)++ : CPUBIND_COUNTED_THREADS;
    for (; at > 0 && list[at - 1].run_ns < one.run_ns; at--)
        if (at < CPUBIND_COUNTED_THREADS)
            list[at] = list[at - 1];
    if (at < CPUBIND_COUNTED_THREADS)
        list[at] = one;
}

static void choose_threads(cpubind_counting *c, worker *w)
{
    busy list[CPUBIND_COUNTED_THREADS] = {{0, 0}};
    cpubind_ids tids = {NULL, 0, 0};
    cpubind_root root = {c->sys, -1, CPUBIND_REACH_ANYWHERE};
    int folder = -1;
    int32_t n = 0;
    cpubind_linux_fault why =
        cpubind_open(c->sys, AT_FDCWD, "/", O_PATH | O_DIRECTORY, &root.fd);
    for (int32_t i = 0; i < CPUBIND_COUNTED_THREADS; i++)
        end_thread(c, &w->thread[i]);
    if (!why.error)
        why = cpubind_tasks_open(&root, w->pid, &folder);
    if (!why.error)
        why = cpubind_tasks_list(c->sys, folder, &tids);
    for (int32_t i = 0; !why.error && i < tids.n; i++) {
        cpubind_schedstat times = {0, 0, 0};
        const cpubind_linux_fault one = read_schedstat(c, w->pid, tids.id[i], &times);
        if (one.error != ESRCH && one.error != ENOENT)
            keep_busy(list, &n, (busy){tids.id[i], times.run_ns});
    }
    for (int32_t i = 0; i < n; i++) {
        w->thread[i] = (counted){.tid = list[i].tid, .cpu = -1};
        open_events(c, &w->thread[i]);
        (void)read_thread(c, w->pid, &w->thread[i]);
    }
    free(tids.id);
    if (folder >= 0)
        c->sys->close(folder);
    if (root.fd >= 0)
        c->sys->close(root.fd);
}

static void read_workers(cpubind_counting *c)
{
    for (int32_t i = 0; i < c->n; i++) {
        int has_ended = 0;
        for (int32_t k = 0; k < CPUBIND_COUNTED_THREADS; k++)
            if (c->worker[i].thread[k].tid)
                has_ended |= !read_thread(c, c->worker[i].pid, &c->worker[i].thread[k]);
        if (has_ended)
            choose_threads(c, &c->worker[i]);
    }
}

/* == CPUs =================================================================== */

/* Reads a file of all CPUs. */
static cpubind_linux_fault read_file(cpubind_counting *c, const char *path, int32_t max)
{
    int fd;
    cpubind_linux_fault why =
        cpubind_open(c->sys, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY, &fd);
    c->bytes.len = 0;
    if (why.error)
        return why;
    why = cpubind_read_all(c->sys, fd, max, &c->bytes);
    c->sys->close(fd);
    return why;
}

static void set(cpubind_counts *out, cpubind_count_id id, double value, cpubind_linux_fault why)
{
    out->value[id] = value;
    out->fault[id] = why;
}

static void read_cpu_times(cpubind_counting *c, cpubind_counts *out)
{
    cpubind_cpu_times times = {0, 0, 0, 0};
    cpubind_linux_fault why = read_file(c, "/proc/stat", CPUBIND_FILE_MAX);
    if (!why.error && cpubind_cpu_times_parse(c->bytes.data, c->bytes.len, c->cpu, c->n_cpu,
                                              &times, NULL) != CPUBIND_TEXT_OK)
        why = unreadable("/proc/stat");
    set(out, CPUBIND_COUNT_TICKS, (double)times.all, why);
    set(out, CPUBIND_COUNT_IRQ_TICKS, (double)(times.irq + times.softirq), why);
    set(out, CPUBIND_COUNT_STOLEN_TICKS, (double)times.steal, why);
}

static cpubind_cpu_events read_table(cpubind_counting *c, const char *path,
                                     cpubind_linux_fault *why)
{
    cpubind_cpu_events sums = {0, 0};
    *why = read_file(c, path, INTERRUPTS_MAX);
    if (!why->error && cpubind_cpu_events_parse(c->bytes.data, c->bytes.len, c->cpu, c->n_cpu,
                                                &sums, NULL) != CPUBIND_TEXT_OK)
        *why = unreadable(path);
    return sums;
}

static void read_cpu_events(cpubind_counting *c, cpubind_counts *out)
{
    cpubind_linux_fault why;
    cpubind_cpu_events sums = read_table(c, "/proc/interrupts", &why);
    set(out, CPUBIND_COUNT_INTERRUPTS, (double)sums.numbered, why);
    set(out, CPUBIND_COUNT_KERNEL_INTERRUPTS, (double)sums.named, why);
    sums = read_table(c, "/proc/softirqs", &why);
    set(out, CPUBIND_COUNT_SOFTIRQS, (double)sums.named, why);
}

/* The mean of some CPUs now. */
static void read_frequency(cpubind_counting *c, cpubind_counts *out)
{
    const int32_t n = c->n_cpu < MHZ_CPUS_MAX ? c->n_cpu : MHZ_CPUS_MAX;
    cpubind_linux_fault why = cpubind_fault_of(n > 0 ? 0 : ENOENT, "cpufreq");
    double sum = 0;
    for (int32_t i = 0; i < n && !why.error; i++) {
        char path[80], text[32];
        int32_t len, khz = 0;
        (void)snprintf(path, sizeof path,
                       "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq",
                       (int)c->cpu[i]);
        why = cpubind_read_text(c->sys, AT_FDCWD, path, text, sizeof text, &len);
        if (why.error == ENOENT)
            why.what = "cpufreq";
        if (!why.error && cpubind_number_parse(text, len, &khz, NULL) != CPUBIND_TEXT_OK)
            why = unreadable("scaling_cur_freq");
        sum += khz / 1000.0;
    }
    set(out, CPUBIND_COUNT_MHZ, n > 0 ? sum / n : 0, why);
}

/* == Pages ================================================================== */

/* Steps to the next mapping that can be written to. Returns 0 at the end. */
static int next_mapping(const cpubind_bytes *maps, int32_t *at, cpubind_maps_line *out)
{
    while (*at < maps->len && cpubind_maps_line_parse(maps->data + *at, maps->len - *at, out,
                                                      NULL) == CPUBIND_TEXT_OK) {
        const char *blank = (const char *)memchr(maps->data + *at, ' ', (size_t)out->len);
        const int is_writable = blank && blank[1] && blank[2] == 'w';
        *at += out->len;
        if (out->kind == CPUBIND_MAPS_RANGE && is_writable)
            return 1;
    }
    return 0;
}

/* Takes pages at even distances from each mapping, or with many mappings from some of them:
 * large ones may be sparse. */
static void sample_pages(cpubind_counting *c, worker *w, int64_t page_bytes)
{
    char path[32];
    cpubind_maps_line mapping = {.len = 0};
    int32_t n = 0, at = 0, every, n_page;
    (void)snprintf(path, sizeof path, "/proc/%d/maps", (int)w->pid);
    if (read_file(c, path, CPUBIND_FILE_MAX).error)
        return;
    while (next_mapping(&c->bytes, &at, &mapping))
        n++;
    every = n / PAGES_MAX + 1;
    n_page = n > 0 && n < PAGES_MAX ? PAGES_MAX / n : 1;
    at = 0;
    for (int32_t i = 0; next_mapping(&c->bytes, &at, &mapping); i++)
        for (int32_t k = 0; i % every == 0 && k < n_page && w->n_page < PAGES_MAX; k++) {
            const uint64_t step = (mapping.end - mapping.start) / (uint64_t)n_page;
            const uint64_t at_page =
                (mapping.start + step * (uint64_t)k) & ~(uint64_t)(page_bytes - 1);
            w->page[w->n_page++] =
                (void *)(uintptr_t)at_page; /* NOLINT: an address of another process */
        }
}

/* Adds the pages of a worker that are elsewhere than its threads: each page once for each
 * thread. */
static cpubind_linux_fault add_pages(const cpubind_counting *c, worker *w, double *remote,
                                     double *all)
{
    int status[PAGES_MAX];
    if (w->n_page == 0 ||
        c->sys->move_pages(w->pid, (unsigned long)w->n_page, w->page, NULL, status, 0) < 0)
        return w->n_page == 0 || errno == ESRCH ? cpubind_no_fault
                                                : cpubind_fault_errno("move_pages");
    for (int32_t k = 0; k < CPUBIND_COUNTED_THREADS; k++) {
        const counted *t = &w->thread[k];
        if (!t->tid || t->cpu < 0 || t->cpu >= CPUBIND_MAX_CPUS || c->node_of[t->cpu] < 0)
            continue;
        for (int32_t i = 0; i < w->n_page; i++) { /* below 0: it is not in memory */
            *all += status[i] >= 0;
            *remote += status[i] >= 0 && status[i] != c->node_of[t->cpu];
        }
    }
    return cpubind_no_fault;
}

static void read_pages(cpubind_counting *c, cpubind_counts *out)
{
    double remote = 0, all = 0;
    cpubind_linux_fault why = cpubind_fault_of(c->node_of ? 0 : ENODEV, "nodes");
    for (int32_t i = 0; i < c->n && !why.error; i++)
        why = add_pages(c, &c->worker[i], &remote, &all);
    set(out, CPUBIND_COUNT_REMOTE_PAGES, remote, why);
    set(out, CPUBIND_COUNT_PAGES, all, why);
}

/* Reads which node each CPU is on; with one node, or none that can be read, there is nothing to
 * look at. Returns 0 without memory. */
static int read_nodes(cpubind_counting *c)
{
    int32_t *cpu = c->sys->malloc(CPUBIND_MAX_CPUS * sizeof *cpu);
    int16_t *node_of = c->sys->malloc(CPUBIND_MAX_CPUS * sizeof *node_of);
    int32_t n_node = 0;
    if (!cpu || !node_of) {
        free(cpu);
        free(node_of);
        return 0;
    }
    memset(node_of, -1, CPUBIND_MAX_CPUS * sizeof *node_of);
    for (int16_t node = 0; node < 64; node++) {
        cpubind_int_list list = {.out = cpu, .cap = CPUBIND_MAX_CPUS};
        char path[64];
        (void)snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
        if (read_file(c, path, CPUBIND_FILE_MAX).error || c->bytes.len < 2 ||
            cpubind_cpulist_parse(c->bytes.data, c->bytes.len - 1, CPUBIND_MAX_CPUS, &list,
                                  NULL) != CPUBIND_TEXT_OK)
            continue;
        for (int32_t i = 0; i < list.n; i++)
            node_of[cpu[i]] = node;
        n_node++;
    }
    free(cpu);
    if (n_node < 2) {
        free(node_of);
        return 1;
    }
    c->node_of = node_of;
    return 1;
}

/* Whether the host has CPUs without a tick, by nohz_full. */
static int has_tickless(const cpubind_counting *c)
{
    char text[32];
    int32_t len;
    return !cpubind_read_text(c->sys, AT_FDCWD, "/sys/devices/system/cpu/nohz_full", text,
                              sizeof text, &len)
                .error &&
           text[0] >= '0' && text[0] <= '9';
}

/* == Counting =============================================================== */

cpubind_linux_status cpubind_counting_open(const cpubind_sys *sys, const int32_t *pid,
                                           int32_t n_pid, const int32_t *cpu, int32_t n_cpu,
                                           cpubind_counting **out, cpubind_linux_fault *fault)
{
    const int64_t page_bytes = sysconf(_SC_PAGESIZE);
    cpubind_counting *c = sys->malloc(sizeof *c);
    *out = NULL;
    if (c)
        *c = (cpubind_counting){.sys = sys, .n = n_pid, .n_cpu = n_cpu};
    if (c)
        c->worker = sys->malloc((size_t)(n_pid + 1) * sizeof *c->worker);
    if (c)
        c->cpu = sys->malloc((size_t)(n_cpu + 1) * sizeof *c->cpu);
    if (!c || !c->worker || !c->cpu || !read_nodes(c)) {
        cpubind_counting_close(c);
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    }
    memset(c->worker, 0, (size_t)n_pid * sizeof *c->worker);
    c->has_tickless = has_tickless(c);
    if (n_cpu > 0)
        memcpy(c->cpu, cpu, (size_t)n_cpu * sizeof *cpu);
    for (int32_t i = 0; i < n_pid; i++) {
        c->worker[i].pid = pid[i];
        choose_threads(c, &c->worker[i]);
        if (c->node_of && page_bytes > 0)
            sample_pages(c, &c->worker[i], page_bytes);
    }
    *out = c;
    return CPUBIND_LINUX_OK;
}

void cpubind_counting_read(cpubind_counting *c, cpubind_counts *out)
{
    out->at_ms = cpubind_now_ms();
    read_workers(c);
    for (int i = 0; i < (int)CPUBIND_COUNT_TICKS; i++)
        set(out, (cpubind_count_id)i, c->sum[i], c->fault[i]);
    read_cpu_times(c, out);
    read_cpu_events(c, out);
    read_frequency(c, out);
    read_pages(c, out);
}

void cpubind_counting_close(cpubind_counting *c)
{
    if (!c)
        return;
    for (int32_t i = 0; c->worker && i < c->n; i++)
        for (int32_t k = 0; k < CPUBIND_COUNTED_THREADS; k++)
            end_thread(c, &c->worker[i].thread[k]);
    cpubind_bytes_free(&c->bytes);
    free(c->node_of);
    free(c->worker);
    free(c->cpu);
    free(c);
}

/* == Figures ================================================================ */

/* What a count is divided by: another count, or one of these. */
enum {
    PER_SECOND = -1,
    PER_READY = -2, /* the time that threads ran or waited */
    AS_IT_IS = -3   /* it was looked at, at the end */
};

static const struct {
    const char *name, *unit;
    cpubind_better better;
    cpubind_count_id count;
    int per;
    double factor;
} figures[] = {
    {"run_queue_wait", "%", CPUBIND_BETTER_LOWER, CPUBIND_COUNT_WAIT_NS, PER_READY, 100},
    {"major_faults", "/s", CPUBIND_BETTER_LOWER, CPUBIND_COUNT_MAJOR_FAULTS, PER_SECOND, 1},
    {"remote_pages", "%", CPUBIND_BETTER_LOWER, CPUBIND_COUNT_REMOTE_PAGES, CPUBIND_COUNT_PAGES,
     100},
    {"instructions_per_cycle", "", CPUBIND_BETTER_HIGHER, CPUBIND_COUNT_INSTRUCTIONS,
     CPUBIND_COUNT_CYCLES, 1},
    {"cache_misses", "/1000", CPUBIND_BETTER_LOWER, CPUBIND_COUNT_CACHE_MISSES,
     CPUBIND_COUNT_INSTRUCTIONS, 1000},
    {"node_load_misses", "%", CPUBIND_BETTER_LOWER, CPUBIND_COUNT_NODE_MISSES,
     CPUBIND_COUNT_NODE_LOADS, 100},
    {"cpus_used", "CPUs", CPUBIND_BETTER_NEITHER, CPUBIND_COUNT_RUN_NS, PER_SECOND, 1e-9},
    {"slice", "us", CPUBIND_BETTER_NEITHER, CPUBIND_COUNT_RUN_NS, CPUBIND_COUNT_SLICES, 1e-3},
    {"voluntary_switches", "/s", CPUBIND_BETTER_NEITHER, CPUBIND_COUNT_VOLUNTARY, PER_SECOND,
     1},
    {"involuntary_switches", "/s", CPUBIND_BETTER_NEITHER, CPUBIND_COUNT_INVOLUNTARY,
     PER_SECOND, 1},
    {"migrations", "/s", CPUBIND_BETTER_NEITHER, CPUBIND_COUNT_MIGRATIONS, PER_SECOND, 1},
    {"minor_faults", "/s", CPUBIND_BETTER_NEITHER, CPUBIND_COUNT_MINOR_FAULTS, PER_SECOND, 1},
    {"interrupts", "/s", CPUBIND_BETTER_NEITHER, CPUBIND_COUNT_INTERRUPTS, PER_SECOND, 1},
    {"kernel_interrupts", "/s", CPUBIND_BETTER_NEITHER, CPUBIND_COUNT_KERNEL_INTERRUPTS,
     PER_SECOND, 1},
    {"softirqs", "/s", CPUBIND_BETTER_NEITHER, CPUBIND_COUNT_SOFTIRQS, PER_SECOND, 1},
    {"interrupt_time", "%", CPUBIND_BETTER_NEITHER, CPUBIND_COUNT_IRQ_TICKS,
     CPUBIND_COUNT_TICKS, 100},
    {"stolen_time", "%", CPUBIND_BETTER_NEITHER, CPUBIND_COUNT_STOLEN_TICKS,
     CPUBIND_COUNT_TICKS, 100},
    {"frequency", "MHz", CPUBIND_BETTER_NEITHER, CPUBIND_COUNT_MHZ, AS_IT_IS, 1}};

/* What a count grew by; what is looked at has no start. */
static double growth(const cpubind_counts *before, const cpubind_counts *after, int id)
{
    return after->value[id] - (id < CPUBIND_COUNT_REMOTE_PAGES ? before->value[id] : 0);
}

static double divisor(const cpubind_counts *before, const cpubind_counts *after, int per)
{
    if (per == PER_SECOND)
        return (double)(after->at_ms - before->at_ms) / 1000;
    if (per == PER_READY)
        return growth(before, after, CPUBIND_COUNT_RUN_NS) +
               growth(before, after, CPUBIND_COUNT_WAIT_NS);
    return per == AS_IT_IS ? 1 : growth(before, after, per);
}

/* The fault of a figure: of its count, or of what that is divided by. */
static cpubind_linux_fault fault_of(const cpubind_counts *counts, int count, int per)
{
    return counts->fault[count].error || per < 0 ? counts->fault[count] : counts->fault[per];
}

static void explain(cpubind_linux_fault why, char *text, size_t size)
{
    if (strcmp(why.what, "nodes") == 0)
        (void)snprintf(text, size, "the host has one node");
    else if (why.error == EFBIG)
        (void)snprintf(text, size, "the file is long: reading it would disturb the workers");
    else if (strcmp(why.what, "perf_event_open") == 0 &&
             (why.error == EACCES || why.error == EPERM))
        (void)snprintf(text, size, "kernel.perf_event_paranoid forbids it (perf_event_open)");
    else if (strcmp(why.what, "perf_event_open") == 0 && why.error != EMFILE)
        (void)snprintf(text, size, "this machine does not count it (perf_event_open)");
    else if (strcmp(why.what, "cpufreq") == 0)
        (void)snprintf(text, size, "the kernel does not tell it");
    else
        (void)snprintf(text, size, "%s: %s", why.what, strerror(why.error));
}

void cpubind_counting_figures(const cpubind_counts *before, const cpubind_counts *after,
                              cpubind_figures *out)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const int count = (int)figures[i].count, per = figures[i].per;
        const double by = divisor(before, after, per), grown = growth(before, after, count);
        cpubind_linux_fault why = fault_of(before, count, per);
        char text[128] = "";
        if (!why.error)
            why = fault_of(after, count, per);
        if (why.error)
            explain(why, text, sizeof text);
        else if (by <= 0 || grown < 0)
            (void)snprintf(text, sizeof text, "%s",
                           grown < 0                    ? "the count fell"
                           : per == CPUBIND_COUNT_PAGES ? "no page of the sample is in memory"
                                                        : "nothing was counted");
        if (*text)
            cpubind_figure_missing(out, figures[i].name, figures[i].unit, figures[i].better,
                                   text);
        else
            cpubind_figure_add(out, figures[i].name, figures[i].unit, figures[i].better,
                               figures[i].factor * grown / by);
    }
}
