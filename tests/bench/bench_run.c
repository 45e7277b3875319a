/* bench_run.c - from the start of a launcher to the first instruction of its command
 * SPDX-License-Identifier: MIT
 *
 *   bench_run CPUBIND [SHARED]   from the top folder; SHARED: the command with shared libraries
 *
 * cpubind run --numa-bind beside numactl, each with CPUs and node given. The command that is
 * started is this program, which writes the time into a pipe. Each is started for eight workers
 * in a row, as an engine does, and all in turn, so that they meet the same machine; nothing is
 * asserted. As root with a /run of its own, so that no record is left on this machine.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

#define ROUNDS  50
#define WORKERS 8
#define N_START (ROUNDS * WORKERS)
#define WORDS   16

typedef struct row_of {
    const char *name;
    const char *words[WORDS]; /* before the command; NULL: the command alone */
    double us[N_START];
} row_of;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The microseconds from fork to the command; ends the program when it is not started. */
static double start(const row_of *r, const char *self)
{
    const char *words[WORDS + 3];
    double began, reached = 0;
    int end[2], n = 0, status = 0;
    pid_t pid;
    for (; n < WORDS && r->words[n]; n++)
        words[n] = r->words[n];
    words[n++] = self;
    words[n++] = "--started";
    words[n] = NULL;
    must(pipe(end) == 0, "pipe");
    began = now_ns();
    pid = fork();
    if (pid == 0) {
        dup2(end[1], STDOUT_FILENO);
        close(end[0]);
        close(end[1]);
        execvp(words[0], (char *const *)(void *)words);
        _exit(127);
    }
    close(end[1]);
    must(pid > 0 && read(end[0], &reached, sizeof reached) == (ssize_t)sizeof reached, r->name);
    close(end[0]);
    must(waitpid(pid, &status, 0) == pid && status == 0, r->name);
    return (reached - began) / 1e3;
}

static void own_run(void)
{
    if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
        (void)mount("tmpfs", "/run", "tmpfs", 0, "mode=755");
}

/* The first CPU that this process may use. */
static void first_cpu(char *out, size_t size)
{
    cpu_set_t set;
    size_t cpu = 0;
    must(sched_getaffinity(0, sizeof set, &set) == 0, "sched_getaffinity");
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
        cpu++;
    snprintf(out, size, "%zu", cpu);
}

int main(int argc, char **argv)
{
    static char cpu[16];
    const char *cpubind = argc > 1 ? argv[1] : "build/cpubind";
    const char *shared = argc > 2 ? argv[2] : NULL;
    double now = now_ns();
    if (argc > 1 && strcmp(argv[1], "--started") == 0)
        return write(STDOUT_FILENO, &now, sizeof now) != (ssize_t)sizeof now;
    static row_of rows[] = {
        {"the command alone", {NULL}, {0}},
        {"numactl --physcpubind --membind",
         {"numactl", "--physcpubind", cpu, "--membind", "0"},
         {0}},
        /* As the launchers of vLLM and SGLang use it. */
        {"numactl tried, then by a script",
         {"sh", "-c",
          "numactl --physcpubind $0 --membind 0 true &&"
          " exec numactl --physcpubind $0 --membind 0 \"$@\"",
          cpu},
         {0}},
        {"cpubind run, CPUs and node given", {NULL}, {0}},
        {"the same with shared libraries", {NULL}, {0}},
    };
    const char *const options[] = {
        "run", "--numa-bind", "--numa-bind-nodes", "0", "--numa-bind-cpus", cpu, "--index",
        "0",   "--"};
    const int n_row = shared ? 5 : 4;
    first_cpu(cpu, sizeof cpu);
    for (int i = 3; i < n_row; i++) {
        rows[i].words[0] = i == 3 ? cpubind : shared;
        memcpy(rows[i].words + 1, options, sizeof options);
    }
    own_run();
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < n_row; i++)
            for (int worker = 0; worker < WORKERS; worker++)
                rows[i].us[round * WORKERS + worker] = start(&rows[i], argv[0]);
    printf("\n%-34s %9s %9s %12s\n", "from spawn to the command, us", "best", "median",
           "of numactl");
    for (int i = 0; i < n_row; i++)
        qsort(rows[i].us, N_START, sizeof rows[i].us[0], compare);
    for (int i = 0; i < n_row; i++)
        printf("%-34s %9.0f %9.0f %12.2f\n", rows[i].name, rows[i].us[0],
               rows[i].us[N_START / 2], rows[i].us[0] / rows[1].us[0]);
    return 0;
}
