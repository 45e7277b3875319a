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
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../adapters/host/host_bind.h"
#include "../../adapters/service/worker_figures.h"
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

/* == Files ================================================================== */

/* The list of processes, the interrupts and the records are those of a folder. */
static char top[64];
static int top_fd;

static int is_below_top(const char *path)
{
    return strcmp(path, "proc") == 0 || strcmp(path, "run") == 0 ||
           strncmp(path, "run/", 4) == 0 || strncmp(path, "proc/irq", 8) == 0 ||
           strncmp(path, "sys/bus/pci/", 12) == 0;
}

static int open_file(int dir, const char *path, int flags)
{
    return cpubind_sys_real.openat(is_below_top(path) ? top_fd : dir, path, flags);
}

static int access_file(int dir, const char *path, int mode)
{
    return cpubind_sys_real.accessat(is_below_top(path) ? top_fd : dir, path, mode);
}

/* Makes a folder, and those above it. */
static void make_folder(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/", name);
    for (char *c = path; (c = strchr(c, '/')) != NULL; c++) {
        *c = '\0';
        must(mkdirat(top_fd, path, 0755) == 0 || errno == EEXIST, "mkdir");
        *c = '/';
    }
}

static void make_top(void)
{
    snprintf(top, sizeof top, "/dev/shm/cpubind-bench-XXXXXX");
    must(mkdtemp(top) != NULL && chmod(top, 0755) == 0, "mkdtemp");
    top_fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
    must(top_fd >= 0, "open");
    make_folder("proc");
    make_folder("run/user");
    make_folder("root/proc/trs_core/proc");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

/* == Processes ============================================================== */

static void *idle(void *name)
{
    if (name)
        prctl(PR_SET_NAME, name);
    for (;;)
        pause();
    return NULL;
}

/* Runs a process of threads that do nothing, which dies with the one that started it. Writes
 * the number of its threads to `ready`. */
static void run_idle(int most, int is_worker, int ready)
{
    static char acl[] = "acl_thread", other[] = "other";
    pthread_attr_t small;
    int n = 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    for (pthread_t thread; n < most; n++)
        if (pthread_create(&thread, &small, idle,
                           !is_worker ? NULL
                           : n == 1   ? acl
                                      : other) != 0)
            break;
    (void)!write(ready, &n, sizeof n);
    (void)idle(NULL);
}

/* Starts a process of so many threads.
 *   out     n_thread is increased by those that it could start
 *   returns its pid */
static pid_t start_idle_one(int most, int is_worker, int *n_thread)
{
    int ready[2], own = 0;
    pid_t pid;
    must(pipe(ready) == 0, "pipe");
    pid = fork();
    if (pid == 0)
        run_idle(most, is_worker, ready[1]);
    must(pid > 0 && read(ready[0], &own, sizeof own) == (ssize_t)sizeof own, "fork");
    close(ready[0]);
    close(ready[1]);
    *n_thread += own;
    return pid;
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

/* == The host =============================================================== */

static struct {
    cpubind_sys sys;
    pid_t pid[N_WORKER];
    char root[128];
    cpubind_linux_host *fixture;
    cpubind_source source;
    int32_t allowed[N_CPU];
    cpubind_host_options options;
} f;

static void list_worker(int i, int is_listed)
{
    char name[64];
    int fd;
    snprintf(name, sizeof name, "root/proc/trs_core/proc/%d-1-dev-%d", (int)f.pid[i], i);
    if (!is_listed) {
        (void)unlinkat(top_fd, name, 0);
        return;
    }
    fd = openat(top_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    must(fd >= 0, "open");
    close(fd);
}

static void start_all(void)
{
    char name[32];
    int n_thread = 0;
    make_top();
    for (int i = 0; i < N_WORKER; i++) {
        f.pid[i] = start_idle_one(N_THREAD, 1, &n_thread);
        snprintf(name, sizeof name, "proc/%d", (int)f.pid[i]);
        make_folder(name);
    }
    must(n_thread == N_WORKER * N_THREAD, "threads");
    f.sys = cpubind_sys_real;
    f.sys.openat = open_file;
    f.sys.accessat = access_file;
    f.sys.getaffinity = get_mask;
    f.sys.setaffinity = set_mask;
    snprintf(f.root, sizeof f.root, "%s/root", top);
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

static pid_t idle_pid[8192];

/* Starts idle processes.
 *   returns the number of their threads */
static int start_idle(int n)
{
    int n_thread = 0;
    must(n <= (int)(sizeof idle_pid / sizeof *idle_pid), "idle processes");
    for (int i = 0; i < n; i++)
        idle_pid[i] = start_idle_one(N_IDLE, 0, &n_thread);
    return n_thread;
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
        const cpubind_bind_options how = {.pid = (int32_t)f.pid[i]};
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
        end_process(f.pid[i]);
    for (int i = 0; i < n_idle; i++)
        end_process(idle_pid[i]);
    cpubind_linux_close(f.fixture);
    close(top_fd);
    must(nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0, "remove");
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
