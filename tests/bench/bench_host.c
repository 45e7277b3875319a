/* bench_host.c - binding all workers of a host beside binding them one by one, and a watch
 * SPDX-License-Identifier: MIT
 *
 * The processes, their threads and the calls are real, on a fake host of 640 CPUs: each mask is
 * set to a CPU of this machine, and kept in memory as it was asked for. What npu-smi says is a
 * fixture host's. CPUBIND_BENCH_PROCESSES=4000 makes as many idle processes of 25 threads.
 */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "../../adapters/host/host_bind.h"
#include "../../adapters/linux/source/host_source.h"
#include "../linux/fake_host.h"
#include "measure.h"

#define N_WORKER 16
#define N_THREAD 258
#define N_CPU    640
#define N_IDLE   25 /* threads of an idle process */
#define TURNS    12
#define TICKS    20

/* == CPUs in memory ========================================================= */

typedef struct mask {
    int32_t tid;
    unsigned char is_set;
    uint64_t word[N_CPU / 64];
} mask;

static mask masks[1 << 16];

static mask *mask_of(int32_t tid)
{
    size_t at = (size_t)tid % (sizeof masks / sizeof *masks);
    while (masks[at].tid != 0 && masks[at].tid != tid)
        at = (at + 1) % (sizeof masks / sizeof *masks);
    if (masks[at].tid == 0) {
        masks[at].tid = tid;
        memset(masks[at].word, 0xff, sizeof masks[at].word);
    }
    return &masks[at];
}

static int get_mask(pid_t tid, size_t size, unsigned long *out)
{
    if (cpubind_sys_real.getaffinity(tid, size, out) < 0)
        return -1;
    memcpy(out, mask_of((int32_t)tid)->word, sizeof masks->word);
    return (int)sizeof masks->word;
}

static int set_mask(pid_t tid, size_t size, const unsigned long *wanted)
{
    const unsigned long real[16] = {3};
    mask *own = mask_of((int32_t)tid);
    if (cpubind_sys_real.setaffinity(tid, sizeof real, real) < 0)
        return -1;
    memset(own->word, 0, sizeof own->word);
    memcpy(own->word, wanted, size < sizeof own->word ? size : sizeof own->word);
    return 0;
}

/* == The host =============================================================== */

static struct {
    cpubind_sys sys;
    worker w[N_WORKER];
    char root[STAGE_PATH];
    cpubind_linux_host *fixture;
    cpubind_source source;
    int32_t allowed[N_CPU];
    cpubind_host_options options;
} f;

static void list_worker(int i, int is_listed)
{
    char name[64];
    snprintf(name, sizeof name, "root/proc/trs_core/proc/%d-1-dev-%d", (int)f.w[i].pid, i);
    if (is_listed)
        scratch_file(&on_stage.s, name, "");
    else
        (void)unlinkat(on_stage.dir, name, 0);
}

static void start_all(void)
{
    must(stage_make(), "two CPUs");
    for (int i = 0; i < N_WORKER; i++) {
        worker_start(&f.w[i], "worker");
        for (int k = 2; k < N_THREAD; k++)
            (void)worker_thread_add(&f.w[i], k == 2 ? "acl_thread" : "other");
        stage_list(f.w[i].pid);
    }
    f.sys = stage_table();
    f.sys.getaffinity = get_mask;
    f.sys.setaffinity = set_mask;
    scratch_folder(&on_stage.s, "root/proc/trs_core/proc");
    scratch_path(&on_stage.s, "root", f.root);
    must(cpubind_linux_open_folder("fixtures/hosts/a3-640cpu-16npu", NULL, &f.fixture, NULL) ==
             CPUBIND_LINUX_OK,
         "fixture host");
    f.source = cpubind_linux_source(f.fixture);
    for (int32_t i = 0; i < N_CPU; i++)
        f.allowed[i] = i;
    f.options = (cpubind_host_options){.source = &f.source,
                                       .root = f.root,
                                       .sys = &f.sys,
                                       .bind = {.memory = CPUBIND_MEMORY_NONE}};
    f.options.request.is_auto_strategy = 1;
    f.options.request.allowed = f.allowed;
    f.options.request.n_allowed = N_CPU;
}

static void *idle(void *ctx)
{
    for (;;)
        pause();
    return ctx;
}

/* Starts processes of 25 threads that do nothing, and die with this one. */
static void start_idle(int n)
{
    for (int i = 0; i < n; i++) {
        const pid_t pid = fork();
        pthread_attr_t small;
        must(pid >= 0, "fork");
        if (pid > 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, (size_t)64 << 10);
        for (int k = 1; k < N_IDLE; k++) {
            pthread_t thread;
            if (pthread_create(&thread, &small, idle, NULL) != 0)
                break;
        }
        (void)idle(NULL);
    }
}

/* == Times ================================================================== */

static cpubind_host_bind *apply_listed(int n)
{
    cpubind_host_bind *h;
    must(cpubind_host_bind_open(&f.options, &h, NULL) == CPUBIND_LINUX_OK, "open");
    must(cpubind_host_bind_apply(h) == CPUBIND_PROBLEM_NONE, "apply");
    must(cpubind_host_bind_n(h) == n, "rows");
    for (int i = 0; i < n; i++)
        must(cpubind_host_bind_row(h, i)->state == CPUBIND_HOST_BOUND, "bound");
    return h;
}

static void restore_all(void)
{
    for (int i = 0; i < N_WORKER; i++) {
        const cpubind_bind_options how = {.pid = (int32_t)f.w[i].pid};
        cpubind_binding *b;
        must(cpubind_bind_open(&how, &f.sys, &b, NULL) == CPUBIND_LINUX_OK, "open");
        must(cpubind_bind_restore(b, NULL) == CPUBIND_LINUX_OK, "restore");
        cpubind_bind_close(b);
    }
}

/* CPU time of this process: the wall clock has what else runs here, too. */
static double cpu_ns(void)
{
    struct rusage use;
    (void)getrusage(RUSAGE_SELF, &use);
    return ((double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec) * 1e9 +
           ((double)use.ru_utime.tv_usec + (double)use.ru_stime.tv_usec) * 1e3;
}

static double time_all(void)
{
    double start, took;
    for (int i = 0; i < N_WORKER; i++)
        list_worker(i, 1);
    start = cpu_ns();
    cpubind_host_bind_close(apply_listed(N_WORKER));
    took = cpu_ns() - start;
    restore_all();
    return took;
}

static double time_singles(void)
{
    double took = 0;
    for (int i = 0; i < N_WORKER; i++)
        list_worker(i, 0);
    for (int i = 0; i < N_WORKER; i++) {
        double start;
        list_worker(i, 1);
        start = cpu_ns();
        cpubind_host_bind_close(apply_listed(1));
        took += cpu_ns() - start;
        list_worker(i, 0);
    }
    restore_all();
    return took;
}

/* ns of CPU of one period of a watch; *with_events says whether the kernel sends any. */
static double time_ticks(int *with_events)
{
    cpubind_host_bind *h;
    double start;
    for (int i = 0; i < N_WORKER; i++)
        list_worker(i, 1);
    f.options.bind.is_watching = 1;
    h = apply_listed(N_WORKER);
    *with_events = !cpubind_host_bind_no_events(h).error;
    for (int i = 0; i < 3; i++)
        cpubind_host_bind_again(h, 1);
    start = cpu_ns();
    for (int i = 0; i < TICKS; i++)
        cpubind_host_bind_again(h, 1);
    start = (cpu_ns() - start) / TICKS;
    cpubind_host_bind_close(h);
    return start;
}

int main(void)
{
    const char *text = getenv("CPUBIND_BENCH_PROCESSES");
    const int n_idle = text ? (int)strtol(text, NULL, 10) : 100;
    double all = 0, singles = 0, tick;
    int with_events;
    start_idle(n_idle);
    start_all();
    for (int i = 0; i < TURNS; i++) {
        const double a = time_all(), s = time_singles();
        all = all <= 0 || a < all ? a : all;
        singles = singles <= 0 || s < singles ? s : singles;
    }
    tick = time_ticks(&with_events);
    const measure_of one_by_one = {singles, "one by one"};
    heading("16 workers of 258 threads, CPU time");
    row("apply --all", all, 40e6, &one_by_one, 1);
    row("one by one", singles, 0, NULL, 0);
    row("a period of a watch", tick, 50e6, NULL, 0);
    printf("  a period of 5 s: %.2f %% of a CPU, with %d idle processes of %d threads beside, "
           "%s events\n",
           tick / 5e9 * 100, n_idle, N_IDLE, with_events ? "with" : "without");
    for (int i = 0; i < N_WORKER; i++)
        worker_end(&f.w[i]);
    cpubind_linux_close(f.fixture);
    stage_remove();
    return 0;
}
