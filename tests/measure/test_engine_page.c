/* test_engine_page.c - the figures of an engine that runs, apart from a hog and beside it
 * SPDX-License-Identifier: MIT
 *
 * The engine is fake_engine.py, with the page of vLLM or of SGLang. Beside a hog on its CPU it
 * gets a part of the time: its figures must show that.
 */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "../linux/temp_dir.h"
#include "../linux/two_cpus.h"

#include "../../adapters/measure/metric.h"

/* On a machine that is busy with other things one try may not show it. */
enum { BLOCK_MS = 1000, TRIES = 10 };

static void on_cpu(pid_t pid, int32_t cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    scratch_need(sched_setaffinity(pid, sizeof set, &set) == 0, "sched_setaffinity");
}

/* Moves all threads of the engine. */
static void place(pid_t pid, int32_t cpu)
{
    char path[64];
    struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    scratch_need(folder != NULL, path);
    while ((entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.')
            on_cpu((pid_t)strtol(entry->d_name, NULL, 10), cpu);
    closedir(folder);
}

/* With a priority that outweighs what else runs on a busy machine, where that is allowed: the
 * scheduler moves all that is not bound to the other CPU. */
static pid_t start_hog(int32_t cpu)
{
    const pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid > 0)
        return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    on_cpu(0, cpu);
    (void)setpriority(PRIO_PROCESS, 0, -17);
    for (volatile unsigned n = 0;; n++)
        ;
}

/* Starts the engine, and reads its port. */
static pid_t start_engine(const char *name, int *port)
{
    const char *tests = getenv("CPUBIND_TESTS");
    char path[4096], line[16] = "";
    int ends[2];
    snprintf(path, sizeof path, "%s/measure/fake_engine.py", tests && *tests ? tests : "tests");
    scratch_need(pipe(ends) == 0, "pipe");
    const pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        execlp("python3", "python3", path, name, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    for (size_t n = 0; n + 1 < sizeof line && read(ends[0], line + n, 1) == 1; n++)
        if (line[n] == '\n')
            break;
    close(ends[0]);
    *port = (int)strtol(line, NULL, 10);
    scratch_need(*port > 0, "python3 fake_engine.py");
    return pid;
}

/* The value of a figure; NaN where the engine was too slow to give one. */
static double value_of(const cpubind_figures *figures, const char *name)
{
    const cpubind_figure *figure = cpubind_figure_of(figures, name);
    if (figure && figure->not_counted[0])
        print_message("# %s: %s\n", name, figure->not_counted);
    return figure && !figure->not_counted[0] ? figure->value : NAN;
}

static cpubind_figures run_block(cpubind_metric *m)
{
    cpubind_figures figures = {0};
    (void)cpubind_metric_begin(m);
    (void)poll(NULL, 0, BLOCK_MS);
    cpubind_metric_end(m, &figures);
    return figures;
}

/* Whether the figures of a block apart from the hog and of one beside it show the hog. */
static int shows_hog(cpubind_metric *m, pid_t engine, const int32_t cpu[2])
{
    static const char latency[] = "time_per_output_token.mean";
    place(engine, cpu[0]);
    const cpubind_figures apart = run_block(m);
    place(engine, cpu[1]);
    const cpubind_figures beside = run_block(m);
    const double ms[] = {value_of(&apart, latency), value_of(&beside, latency)};
    const double rate[] = {value_of(&apart, "tokens"), value_of(&beside, "tokens")};
    print_message("# apart %.2f ms, %.0f tokens/s; beside a hog %.2f ms, %.0f tokens/s\n",
                  ms[0], rate[0], ms[1], rate[1]);
    return ms[1] > ms[0] && rate[1] < rate[0] && value_of(&apart, "requests_running") == 4 &&
           value_of(&apart, "time_per_output_token.p50") > 0;
}

static void check_engine(const char *name)
{
    int32_t cpu[2];
    int port, is_shown = 0;
    char url[64];
    cpubind_metric *m;
    cpubind_metric_why why;
    pid_t started[2];
    const cpubind_metric_spec spec = {CPUBIND_METRIC_PAGE, url, NULL, ""};
    (void)two_cpus(cpu);
    started[0] = start_engine(name, &port);
    started[1] = start_hog(cpu[1]);
    snprintf(url, sizeof url, "http://localhost:%d", port);
    assert_int_equal(cpubind_metric_open(&cpubind_sys_real, &spec, &m, &why), CPUBIND_LINUX_OK);
    for (int i = 0; i < TRIES && !is_shown; i++)
        is_shown = shows_hog(m, started[0], cpu);
    cpubind_metric_close(m);
    for (int i = 0; i < 2; i++) {
        kill(started[i], SIGKILL);
        waitpid(started[i], NULL, 0);
    }
    assert_true(is_shown);
}

TEST(vllm_shows_its_placement)
{
    check_engine("vllm");
}

TEST(sglang_shows_its_placement)
{
    check_engine("sglang");
}

static int run_all(void)
{
    return run_on_two_cpus("engine page", NULL, NULL);
}

TEST_PROGRAM(run_all)
