/* bench_watch.c - what a period of a watch costs, beside opening each thread's name each time
 * SPDX-License-Identifier: MIT
 *
 * The processes, their threads and the kernel are real; main is the first CPU of this machine.
 * All that is compared takes turns, so that all meet the same machine; the fastest of each
 * counts. Events of the kernel are left out where this process may not get them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../adapters/linux/bind/bind.h"
#include "../../adapters/linux/kernel/process.h"
#include "measure.h"

#define TURNS   60
#define PERIODS 40

/* == The process ============================================================ */

static void *idle(void *none)
{
    for (;;)
        pause();
    return none;
}

static void be_target(int32_t n, int ready)
{
    pthread_attr_t small;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, (size_t)64 << 10);
    for (int32_t i = 1; i < n; i++) {
        pthread_t thread;
        must(pthread_create(&thread, &small, idle, NULL) == 0, "pthread_create");
    }
    must(write(ready, "", 1) == 1, "write");
    for (;;)
        pause();
}

static pid_t start_target(int32_t n)
{
    int ready[2];
    char byte;
    must(pipe(ready) == 0, "pipe");
    const pid_t pid = fork();
    must(pid >= 0, "fork");
    if (pid == 0)
        be_target(n, ready[1]);
    close(ready[1]);
    must(read(ready[0], &byte, 1) == 1, "start of the process");
    close(ready[0]);
    return pid;
}

/* == The watch ============================================================== */

static cpubind_binding *start_watch(pid_t pid, int has_events)
{
    cpu_set_t set;
    int32_t first_cpu = 0;
    cpubind_binding *b;
    must(sched_getaffinity(0, sizeof set, &set) == 0, "sched_getaffinity");
    while (!CPU_ISSET((size_t)first_cpu, &set))
        first_cpu++;
    const cpubind_goal goal = {
        .main = {&first_cpu, 1}, .memory_node = -1, .no_irq = CPUBIND_IRQ_NO_ADDRESS};
    const cpubind_bind_options how = {
        .pid = (int32_t)pid, .is_watching = has_events, .memory = CPUBIND_MEMORY_NONE};
    must(cpubind_bind_open(&how, NULL, &b, NULL) == CPUBIND_LINUX_OK, "open");
    must(cpubind_bind_apply(b, &goal, NULL) == CPUBIND_LINUX_OK, "apply");
    if (cpubind_bind_report(b)->no_events.error) {
        cpubind_bind_close(b);
        return NULL;
    }
    for (int i = 0; i < 3; i++) /* the files of names are open then */
        must(cpubind_bind_again(b, NULL) == CPUBIND_LINUX_OK, "again");
    return b;
}

static void end_watch(cpubind_binding *b)
{
    must(cpubind_bind_restore(b, NULL) == CPUBIND_LINUX_OK, "restore");
    cpubind_bind_close(b);
}

static double time_again(cpubind_binding *b)
{
    const double start = now_ns();
    must(cpubind_bind_again(b, NULL) == CPUBIND_LINUX_OK, "again");
    return now_ns() - start;
}

/* The old way: each file of a name is opened, read and closed. */
static double time_old(cpubind_root *root, pid_t pid)
{
    static cpubind_cpu_sets sets;
    static cpubind_ids ids;
    char name[CPUBIND_COMM_SIZE];
    int folder;
    int32_t set;
    must(!cpubind_tasks_open(root, (int32_t)pid, &folder).error, "open");
    const double start = now_ns();
    must(!cpubind_tasks_list(root->sys, folder, &ids).error, "list");
    for (int32_t i = 0; i < ids.n; i++)
        must(!cpubind_task_name(root->sys, folder, ids.id[i], name).error &&
                 !cpubind_task_cpus(root->sys, ids.id[i], &sets, &set).error,
             "look at a thread");
    const double took = now_ns() - start;
    close(folder);
    return took;
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* CPU time of one period, which waits for its end. */
static double time_period(cpubind_binding *b)
{
    const double start = cpu_ns();
    for (int i = 0; i < PERIODS; i++)
        must(!cpubind_bind_wait(b, 1) && cpubind_bind_again(b, NULL) == CPUBIND_LINUX_OK,
             "a period");
    return (cpu_ns() - start) / PERIODS;
}

static void keep_best(double *best, double ns)
{
    if (*best <= 0 || ns < *best)
        *best = ns;
}

/* == Rows =================================================================== */

static void measure_process(cpubind_root *root, int32_t n, double goal)
{
    const pid_t pid = start_target(n);
    double old = 0, names = 0, masks = 0, period, period_events = 0;
    char title[64];
    cpubind_binding *b = start_watch(pid, 0);
    for (int i = 0; i < TURNS; i++) {
        keep_best(&old, time_old(root, pid));
        keep_best(&names, time_again(b));
    }
    period = time_period(b);
    end_watch(b);
    b = start_watch(pid, 1);
    for (int i = 0; b && i < TURNS; i++)
        keep_best(&masks, time_again(b));
    if (b) {
        period_events = time_period(b);
        end_watch(b);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    const measure_of beside = {old, "the old way"};
    snprintf(title, sizeof title, "a period of a watch of %d threads", (int)n);
    heading(title);
    row("the old way: open, read, close each name", old, 0, NULL, 0);
    row("without events: names from open files", names, goal, &beside, 1);
    row("with events: masks alone", masks, goal, &beside, b != NULL);
    row("CPU time of a period, without events", period, 0, NULL, 0);
    row("CPU time of a period, with events", period_events, 0, NULL, 0);
    printf("  at a period of 1 s: %.3f %% and %.3f %% of a CPU\n", period / 1e7,
           period_events / 1e7);
    if (!b)
        printf("  0.0: this process may not get events of the kernel\n");
}

int main(void)
{
    cpubind_root root = {&cpubind_sys_real, -1, CPUBIND_REACH_ANYWHERE};
    struct rlimit files;
    must(getrlimit(RLIMIT_NOFILE, &files) == 0, "getrlimit");
    files.rlim_cur = files.rlim_max;
    must(setrlimit(RLIMIT_NOFILE, &files) == 0, "setrlimit");
    root.fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    must(root.fd >= 0, "open");
    measure_process(&root, 258, 800e3);
    measure_process(&root, 6000, 16e6);
    return 0;
}
