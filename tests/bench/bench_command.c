/* bench_command.c - the whole process: cpubind plan beside what else is there
 * SPDX-License-Identifier: MIT
 *
 *   bench_command CPUBIND        from the top folder
 *
 * Each command runs 100 times, one from each in turn, so that all meet the same machine; the
 * fastest counts. Ratios are to an empty process (true). Nothing is asserted.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 100
#define WORDS  12

typedef struct row {
    const char *name, *goal;
    const char *words[WORDS];
    double best_ms;
    long kib; /* largest resident set */
    int missing;
} row;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void run(row *r)
{
    struct rusage usage;
    double start = now_ms();
    double took;
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        execvp(r->words[0], (char *const *)(void *)r->words);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) ||
        WEXITSTATUS(status) == 127) {
        r->missing = 1;
        return;
    }
    took = now_ms() - start;
    if (r->best_ms <= 0 || took < r->best_ms)
        r->best_ms = took;
    if (usage.ru_maxrss > r->kib)
        r->kib = usage.ru_maxrss;
}

int main(int argc, char **argv)
{
    const char *cpubind = argc > 1 ? argv[1] : "build/cpubind";
    row rows[] = {
        {"an empty process (true)", "", {"true"}, 0, 0, 0},
        {"cpubind plan, 192 CPUs, 8 NPUs",
         "<= 2 ms, <= 8 MiB",
         {cpubind, "plan", "--root", "fixtures/hosts/a2-192cpu-8npu"},
         0,
         0,
         0},
        {"cpubind plan --json, the same",
         "<= 2 ms, <= 8 MiB",
         {cpubind, "plan", "--json", "--root", "fixtures/hosts/a2-192cpu-8npu"},
         0,
         0,
         0},
        {"cpubind plan, 640 CPUs, 16 NPUs",
         "",
         {cpubind, "plan", "--root", "fixtures/hosts/a3-640cpu-16npu"},
         0,
         0,
         0},
        {"hwloc-distrib 8, 192 CPUs, synthetic",
         "",
         {"hwloc-distrib", "-i", "NUMANode:8 Core:24 PU:1", "8"},
         0,
         0,
         0},
        {"lscpu -e=CPU,NODE, this machine", "", {"lscpu", "-e=CPU,NODE"}, 0, 0, 0},
    };
    size_t n = sizeof rows / sizeof *rows;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < n; i++)
            if (!rows[i].missing)
                run(&rows[i]);
    printf("\n%-38s %9s %8s %10s  %s\n", "whole process, best of 100", "ms", "ratio", "KiB",
           "goal");
    for (size_t i = 0; i < n; i++)
        if (rows[i].missing)
            printf("%-38s %9s\n", rows[i].name, "missing");
        else
            printf("%-38s %9.2f %8.2f %10ld  %s\n", rows[i].name, rows[i].best_ms,
                   rows[i].best_ms / rows[0].best_ms, rows[i].kib, rows[i].goal);
    return 0;
}
