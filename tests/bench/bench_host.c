/* bench_host.c - binding all workers of a host beside binding them one by one, and a watch
 * SPDX-License-Identifier: MIT
 *
 * The processes, their threads and the calls are real, on a fake host of 640 CPUs: each mask is
 * set to a CPU of this machine, and kept in memory as it was asked for. What npu-smi says is a
 * fixture host's. Records are in memory, as in /run of a host. CPUBIND_BENCH_PROCESSES=4000
 * makes as many idle processes of 25 threads (host_cost.sh), CPUBIND_BENCH_SECONDS=60 watches
 * for as long, with and without events.
 */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "../../adapters/host/host_bind.h"
#include "../../adapters/service/worker_figures.h"
#include "../linux/fake_host.h"
#include "../support/fixture_host.h"
#include "measure.h"

#define N_WORKER  16
#define N_THREAD  258
#define N_CPU     640
#define N_IDLE    25 /* threads of an idle process */
#define TURNS     12
#define TICKS     20
#define PERIOD_MS 5000
#define STACK     ((size_t)16 << 10) /* of an idle thread */

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
    setenv("TMPDIR", "/dev/shm", 0);
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
    f.fixture = fixture_host("fixtures/hosts/a3-640cpu-16npu.host");
    f.source = cpubind_linux_source(f.fixture);
    for (int32_t i = 0; i < N_CPU; i++)
        f.allowed[i] = i;
    f.options = (cpubind_host_options){.has_listed = 1,
                                       .source = &f.source,
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

/* Runs a process of 25 threads that do nothing, which dies with the one that started it. Writes
 * the number of its threads to `ready`. */
static void run_idle(int ready)
{
    pthread_attr_t small;
    unsigned char n = 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    for (pthread_t thread; n < N_IDLE && !pthread_create(&thread, &small, idle, NULL);)
        n++;
    (void)!write(ready, &n, 1);
    (void)idle(NULL);
}

static pid_t idle_pid[8192];

/* Starts idle processes.
 *   returns the number of their threads */
static int start_idle(int n)
{
    int ready[2], n_thread = 0;
    must(n <= (int)(sizeof idle_pid / sizeof *idle_pid) && pipe(ready) == 0, "idle processes");
    for (int i = 0; i < n; i++) {
        unsigned char own = 0;
        idle_pid[i] = fork();
        if (idle_pid[i] == 0)
            run_idle(ready[1]);
        must(idle_pid[i] > 0 && read(ready[0], &own, 1) == 1, "fork");
        n_thread += own;
    }
    close(ready[0]);
    close(ready[1]);
    return n_thread;
}

static void end_idle(int n)
{
    for (int i = 0; i < n; i++)
        kill(idle_pid[i], SIGKILL);
    for (int i = 0; i < n; i++)
        (void)waitpid(idle_pid[i], NULL, 0);
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

/* ns of CPU of the figures of one textfile, without those of memory. */
static double time_figures(const cpubind_host_bind *h)
{
    cpubind_service_counts counts = {0};
    const double start = cpu_ns();
    for (int i = 0; i < TICKS; i++)
        must(!cpubind_figures_count(h, &f.sys, 0, &counts).error, "figures");
    must(counts.n_device == N_WORKER && counts.device[0].right == N_THREAD,
         "all threads are right");
    free(counts.device);
    return (cpu_ns() - start) / TICKS;
}

/* ns of CPU of one period of a watch; *with_events says whether the kernel sends any. */
static double time_ticks(int *with_events, double *figures)
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
    *figures = time_figures(h);
    cpubind_host_bind_close(h);
    return start;
}

static int no_socket(int domain, int type, int protocol)
{
    (void)domain;
    (void)type;
    (void)protocol;
    errno = EPROTONOSUPPORT; /* as in a network namespace of its own */
    return -1;
}

/* Watches all workers for some time, as apply --all --watch and the service do. */
static void watch(const char *name, int seconds, int has_events, int keeps_others)
{
    const int64_t end_ms = cpubind_now_ms() + (int64_t)seconds * 1000;
    cpubind_host_bind *h;
    double took;
    int is_told, n = 0;
    for (int i = 0; i < N_WORKER; i++)
        list_worker(i, 1);
    f.sys.socket = has_events ? cpubind_sys_real.socket : no_socket;
    f.options.bind.is_watching = 1;
    f.options.keeps_others = keeps_others;
    must(cpubind_host_bind_open(&f.options, &h, NULL) == CPUBIND_LINUX_OK, "open");
    must(cpubind_host_bind_apply(h) == CPUBIND_PROBLEM_NONE, "apply");
    is_told = !cpubind_host_bind_no_events(h).error;
    took = cpu_ns();
    for (; cpubind_now_ms() < end_ms; n++)
        cpubind_host_bind_again(h, PERIOD_MS);
    took = (cpu_ns() - took) / 1e9;
    printf("  %-24s %s events, %d s, %d looks: %.3f s of CPU, %.1f s an hour, %.3f %% of one "
           "CPU\n",
           name, is_told ? "with" : "without", seconds, n, took, took / seconds * 3600,
           took / seconds * 100);
    cpubind_host_bind_close(h);
    restore_all();
}

static int number_of(const char *name, int usual)
{
    const char *text = getenv(name);
    return text ? (int)strtol(text, NULL, 10) : usual;
}

static void end_all(int n_idle)
{
    for (int i = 0; i < N_WORKER; i++)
        worker_end(&f.w[i]);
    end_idle(n_idle);
    cpubind_linux_close(f.fixture);
    stage_remove();
}

int main(void)
{
    const int n_idle = number_of("CPUBIND_BENCH_PROCESSES", 100);
    const int seconds = number_of("CPUBIND_BENCH_SECONDS", 0);
    const int n_thread = start_idle(n_idle);
    double all = 0, singles = 0, tick, figures;
    int with_events;
    start_all();
    if (seconds > 0) {
        printf("16 workers of 258 threads, beside %d processes of %d threads\n", n_idle,
               n_thread);
        watch("watch", seconds, 1, 0);
        watch("watch", seconds, 0, 0);
        end_all(n_idle);
        return 0;
    }
    for (int i = 0; i < TURNS; i++) {
        const double a = time_all(), s = time_singles();
        all = all <= 0 || a < all ? a : all;
        singles = singles <= 0 || s < singles ? s : singles;
    }
    tick = time_ticks(&with_events, &figures);
    const measure_of one_by_one = {singles, "one by one"};
    heading("16 workers of 258 threads, CPU time");
    row("apply --all", all, 40e6, &one_by_one, 1);
    row("one by one", singles, 0, NULL, 0);
    row("a period of a watch", tick, 50e6, NULL, 0);
    row("figures of a textfile", figures, 50e6, NULL, 0);
    printf("  a period of 5 s: %.2f %% of a CPU, with %d idle processes of %d threads in all "
           "beside, %s events\n",
           tick / 5e9 * 100, n_idle, n_thread, with_events ? "with" : "without");
    end_all(n_idle);
    return 0;
}
