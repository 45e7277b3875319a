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

/* How many expectations the corpus has. */
static int count_expectations(const char *cpubind)
{
    char command[4096], line[4096];
    int n = 0;
    FILE *pipe;
    snprintf(command, sizeof command, "'%s' fixture replay --json", cpubind);
    pipe = popen(command, "r");
    if (pipe && fgets(line, sizeof line, pipe)) {
        const char *at = strstr(line, "\"expectations\": ");
        n = at ? atoi(at + strlen("\"expectations\": ")) : 0;
    }
    if (pipe)
        pclose(pipe);
    return n;
}

static const row *find(const row *rows, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(rows[i].name, name, strlen(name)) == 0)
            return &rows[i];
    abort();
}

/* A process each is what a CI without replay would do. */
static void print_replays(const row *rows, size_t n, const char *cpubind)
{
    const int expectations = count_expectations(cpubind);
    const double each = find(rows, n, "cpubind plan --json")->best_ms;
    const row *const replays[] = {find(rows, n, "cpubind fixture replay"),
                                  find(rows, n, "the same in one thread")};
    printf("\n%-38s %9s %12s  %s\n", "replay", "a second", "of processes", "goal");
    for (size_t i = 0; i < 2; i++)
        printf("%-38s %9.0f %11.1fx  %s\n", replays[i]->name,
               expectations * 1e3 / replays[i]->best_ms,
               expectations * each / replays[i]->best_ms, ">= 5,000 a second");
    printf("%-38s %9d\n", "expectations", expectations);
}

int main(int argc, char **argv)
{
    const char *cpubind = argc > 1 ? argv[1] : "build/cpubind";
    row rows[] = {
        {"an empty process (true)", "", {"true"}, 0, 0, 0},
        {"cpubind plan, 192 CPUs, 8 NPUs",
         "<= 2 ms, <= 8 MiB",
         {cpubind, "plan", "--root", "fixtures/hosts/a2-192cpu-8npu.host"},
         0,
         0,
         0},
        {"cpubind plan --json, the same",
         "<= 2 ms, <= 8 MiB",
         {cpubind, "plan", "--json", "--root", "fixtures/hosts/a2-192cpu-8npu.host"},
         0,
         0,
         0},
        {"cpubind plan, 640 CPUs, 16 NPUs",
         "",
         {cpubind, "plan", "--root", "fixtures/hosts/a3-640cpu-16npu.host"},
         0,
         0,
         0},
        {"the same 192 CPUs from the corpus",
         "folder + <= 2 ms",
         {cpubind, "plan", "--fixture", "a2-192cpu-8npu"},
         0,
         0,
         0},
        {"the same 640 CPUs from the corpus",
         "folder + <= 2 ms",
         {cpubind, "plan", "--fixture", "a3-640cpu-16npu"},
         0,
         0,
         0},
        {"cpubind fixture replay, whole corpus",
         "",
         {cpubind, "fixture", "replay", "--quiet"},
         0,
         0,
         0},
        {"the same in one thread",
         "",
         {cpubind, "fixture", "replay", "--quiet", "--jobs", "1"},
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
    print_replays(rows, n, cpubind);
    return 0;
}
