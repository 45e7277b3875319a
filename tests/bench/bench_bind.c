/* bench_bind.c - putting a goal into effect on 258 threads, beside the commands that do it else
 * SPDX-License-Identifier: MIT
 *
 * The process, its threads and the kernel are real; the goal is as much of one as this machine
 * has CPUs for: main on the first CPU, the two named threads on the last. What is compared
 * takes turns, so that all meet the same machine; the fastest of each counts. The record is
 * where a command of this user has it, and goes with the restore.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../adapters/linux/bind/bind.h"
#include "../../adapters/linux/kernel/process.h"
#include "measure.h"

#define N_THREAD 258
#define APPLIES  300
#define COMMANDS 30

extern char **environ;

/* == The process ============================================================ */

typedef struct target {
    pid_t pid;
    int32_t acl, release; /* threads of these names */
} target;

static void *idle(void *name)
{
    prctl(PR_SET_NAME, name);
    for (;;)
        pause();
    return NULL;
}

static void be_target(int ready)
{
    static char acl[] = "acl_thread", release[] = "release_thread", other[] = "worker";
    pthread_attr_t small;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, (size_t)64 << 10);
    for (int i = 1; i < N_THREAD; i++) {
        pthread_t thread;
        must(pthread_create(&thread, &small, idle,
                            i == 1   ? acl
                            : i == 2 ? release
                                     : other) == 0,
             "pthread_create");
    }
    usleep(100000); /* until all have their names */
    must(write(ready, "", 1) == 1, "write");
    for (;;)
        pause();
}

/* The thread of the target that has this name. */
static int32_t find(cpubind_root *root, int32_t pid, const char *name)
{
    cpubind_ids ids = {0};
    char comm[CPUBIND_COMM_SIZE];
    int folder;
    int32_t found = 0;
    must(!cpubind_tasks_open(root, pid, &folder).error &&
             !cpubind_tasks_list(root->sys, folder, &ids).error,
         "list of threads");
    must(ids.n == N_THREAD, "258 threads");
    for (int32_t i = 0; i < ids.n && !found; i++)
        if (!cpubind_task_name(root->sys, folder, ids.id[i], comm).error &&
            strcmp(comm, name) == 0)
            found = ids.id[i];
    must(found > 0, "thread of that name");
    free(ids.id);
    close(folder);
    return found;
}

static target start_target(cpubind_root *root)
{
    target t = {0};
    int ready[2];
    char byte;
    must(pipe(ready) == 0, "pipe");
    t.pid = fork();
    must(t.pid >= 0, "fork");
    if (t.pid == 0)
        be_target(ready[1]);
    close(ready[1]);
    must(read(ready[0], &byte, 1) == 1, "start of the process");
    close(ready[0]);
    t.acl = find(root, t.pid, "acl_thread");
    t.release = find(root, t.pid, "release_thread");
    return t;
}

/* == cpubind ================================================================ */

static int32_t first_cpu, last_cpu;

static void find_cpus(void)
{
    cpu_set_t set;
    must(sched_getaffinity(0, sizeof set, &set) == 0, "sched_getaffinity");
    while (!CPU_ISSET((size_t)first_cpu, &set))
        first_cpu++;
    last_cpu = first_cpu;
    for (int32_t i = first_cpu; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &set))
            last_cpu = i;
}

/* ns of open, apply and close; then all is put back. */
static double time_apply(pid_t pid, cpubind_memory_action memory)
{
    cpubind_thread_rule rules[] = {{"acl_thread", {&last_cpu, 1}, 0},
                                   {"release_thread", {&last_cpu, 1}, 0}};
    const cpubind_goal goal = {.device = 0,
                               .main = {&first_cpu, 1},
                               .rule = rules,
                               .n_rule = 2,
                               .memory_node = 0,
                               .no_irq = CPUBIND_IRQ_NO_ADDRESS};
    const cpubind_bind_options how = {.pid = (int32_t)pid, .memory = memory};
    cpubind_linux_fault fault = {.what = ""};
    cpubind_binding *b;
    double took, start = now_ns();
    must(cpubind_bind_open(&how, NULL, &b, &fault) == CPUBIND_LINUX_OK, "open");
    must(cpubind_bind_apply(b, &goal, &fault) == CPUBIND_LINUX_OK, "apply");
    must(cpubind_bind_report(b)->n == N_THREAD, "apply to all threads");
    cpubind_bind_close(b);
    took = now_ns() - start;
    must(cpubind_bind_open(&how, NULL, &b, &fault) == CPUBIND_LINUX_OK, "open");
    must(cpubind_bind_restore(b, &fault) == CPUBIND_LINUX_OK, "restore");
    cpubind_bind_close(b);
    return took;
}

/* ns of listing the threads and setting the mask of each, to one CPU and the other in turn. */
static double time_masks(cpubind_root *root, pid_t pid)
{
    static int32_t turn;
    cpubind_cpu_sets sets = {0};
    cpubind_ids ids = {0};
    double took, start;
    const int32_t *const cpu = turn++ % 2 ? &first_cpu : &last_cpu;
    int32_t set;
    int folder;
    must(!cpubind_cpu_sets_of_list(&sets, root->sys, cpu, 1, &set).error, "set");
    start = now_ns();
    must(!cpubind_tasks_open(root, (int32_t)pid, &folder).error &&
             !cpubind_tasks_list(root->sys, folder, &ids).error,
         "list of threads");
    for (int32_t i = 0; i < ids.n; i++)
        must(!cpubind_task_move(root->sys, ids.id[i], &sets.set[set]).error, "move");
    close(folder);
    took = now_ns() - start;
    free(ids.id);
    cpubind_cpu_sets_free(&sets);
    return took;
}

/* ns of reading the name of every thread, which decides where it goes. */
static double time_names(cpubind_root *root, pid_t pid)
{
    cpubind_ids ids = {0};
    char comm[CPUBIND_COMM_SIZE];
    double took, start;
    int folder;
    must(!cpubind_tasks_open(root, (int32_t)pid, &folder).error &&
             !cpubind_tasks_list(root->sys, folder, &ids).error,
         "list of threads");
    start = now_ns();
    for (int32_t i = 0; i < ids.n; i++)
        must(!cpubind_task_name(root->sys, folder, ids.id[i], comm).error, "name");
    took = now_ns() - start;
    close(folder);
    free(ids.id);
    return took;
}

/* == Commands =============================================================== */

#define WORDS 8

typedef struct command {
    const char *words[WORDS];
} command;

/* Runs one to its end. Returns whether there is such a command. */
static int run(const command *c)
{
    posix_spawn_file_actions_t files;
    int status = 0;
    pid_t pid;
    must(posix_spawn_file_actions_init(&files) == 0, "spawn");
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int error =
        posix_spawnp(&pid, c->words[0], &files, NULL, (char *const *)(void *)c->words, environ);
    posix_spawn_file_actions_destroy(&files);
    if (error)
        return 0;
    must(waitpid(pid, &status, 0) == pid, "waitpid");
    must(WIFEXITED(status) && WEXITSTATUS(status) == 0, c->words[0]);
    return 1;
}

/* ns of one after the other; 0 when one of them is not here. */
static double time_commands(const command *commands, int n)
{
    double start = now_ns();
    for (int i = 0; i < n; i++)
        if (!run(&commands[i]))
            return 0;
    return now_ns() - start;
}

static void keep_best(double *best, double ns)
{
    if (ns > 0 && (*best <= 0 || ns < *best))
        *best = ns;
}

/* == Rows =================================================================== */

typedef struct times {
    double threads, memory, masks, names, empty, taskset, chain;
} times;

static times measure_all(cpubind_root *root, const target *t)
{
    char pid[16], acl[16], release[16], first[16], last[16];
    const command empty[] = {{{"true"}}};
    const command both[] = {{{"ps", "-Te"}}, {{"taskset", "-acp", first, pid}}};
    const command chain[] = {
        {{"lscpu", "-e=CPU,NODE"}},          {{"ps", "-Te"}},
        {{"taskset", "-acp", first, pid}},   {{"taskset", "-cp", last, acl}},
        {{"taskset", "-cp", last, release}}, {{"migratepages", pid, "all", "0"}}};
    times best = {0};
    snprintf(pid, sizeof pid, "%d", (int)t->pid);
    snprintf(acl, sizeof acl, "%d", (int)t->acl);
    snprintf(release, sizeof release, "%d", (int)t->release);
    snprintf(first, sizeof first, "%d", (int)first_cpu);
    snprintf(last, sizeof last, "%d", (int)last_cpu);
    for (int i = 0; i < APPLIES; i++) {
        keep_best(&best.threads, time_apply(t->pid, CPUBIND_MEMORY_NONE));
        keep_best(&best.memory, time_apply(t->pid, CPUBIND_MEMORY_MIGRATE));
        keep_best(&best.masks, time_masks(root, t->pid));
        keep_best(&best.names, time_names(root, t->pid));
        if (i % (APPLIES / COMMANDS) != 0)
            continue;
        keep_best(&best.empty, time_commands(empty, 1));
        keep_best(&best.taskset, time_commands(both, 2));
        keep_best(&best.chain, time_commands(chain, 6));
    }
    return best;
}

static void print_all(const times *t)
{
    const measure_of both = {t->taskset, "ps -Te and taskset -acp"};
    const measure_of chain = {t->chain, "the chain"};
    const measure_of empty = {t->empty, "an empty process"};
    heading("into effect on a process of 258 threads");
    row("open, apply, close", t->threads, 2e6, &both, t->taskset > 0);
    row("the same, and memory to its node", t->memory, 2e6, &chain, t->chain > 0);
    row("the masks alone, threads listed", t->masks, 400e3, &both, t->taskset > 0);
    row("the names alone, a file of /proc each", t->names, 0, NULL, 0);
    row("an empty process (true)", t->empty, 0, NULL, 0);
    row("ps -Te, taskset -acp", t->taskset, 0, &empty, t->taskset > 0);
    row("the chain", t->chain, 0, &empty, t->chain > 0);
    printf("  the chain: lscpu -e=CPU,NODE, ps -Te, three taskset, migratepages\n");
    if (t->taskset <= 0 || t->chain <= 0)
        printf("  0.0: a command of it is missing here\n");
}

int main(void)
{
    cpubind_root root = {&cpubind_sys_real, -1, CPUBIND_REACH_ANYWHERE};
    target t;
    times best;
    root.fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    must(root.fd >= 0, "open");
    find_cpus();
    t = start_target(&root);
    best = measure_all(&root, &t);
    kill(t.pid, SIGKILL);
    waitpid(t.pid, NULL, 0);
    print_all(&best);
    return 0;
}
