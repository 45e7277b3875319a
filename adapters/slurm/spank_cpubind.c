/* spank_cpubind.c - a SPANK plugin: binds each task of a Slurm step to the CPUs of its device
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: libcpubind.so.1 says which CPUs, by what the host and the environment of the
 * step tell. It fails nowhere but in task_init, and there only with --cpubind-strict; it lets
 * nobody wait longer than a second. SLURM.md says what each failure costs.
 *
 * ORDER  init_post_opt: a process reads the host, to find out whether that ends. user_init:
 *   slurmstepd is in the cgroup of the step and has the list of its devices; a thread reads the
 *   host after that process, once for all tasks. task_init: a task learns its device
 *   (SLURMD_TRES_BIND is set after task_post_fork), binds itself and its memory, and tells the
 *   thread, which binds the interrupts and keeps the record, as root. exit: it puts all back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <slurm/slurm.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../api/cpubind_api.h"

SPANK_PLUGIN(cpubind, 1)

enum { PLAN_MS = 800, RESTORE_MS = 200, MAX_TASKS = 1024, RULES = 0, STRICT };

/* What a task tells the thread. */
typedef struct message {
    int32_t pid;
    char option[3][32];
} message;

static const char *rules = "rules=near"; /* NULL: off */
static int is_strict, is_trial, is_ready;
static char captures[4096]; /* the folder of the captured host of this node; or "" */
static char allowed[4096] = "allowed=";
static const char *within; /* "allowed=" and the CPUs of the step; NULL: those of slurmstepd */
static const char *step_env = ""; /* lines NAME=value */
static cpb_host *host;            /* of the thread until it has answered, ... */
static cpb_plan *whole; /* ... as is the plan of all devices, by which the facts are read */
static pid_t reader; /* the process that reads the host first, to find out whether that ends */
static int to_thread[2], from_thread[2]; /* messages; a byte when it is ready, and at its end */
static char reason[1024] = "the host was not read in time";

static int take(int option, const char *word, int is_remote)
{
    (void)is_remote;
    if (option == STRICT)
        return !(is_strict = 1);
    if (strcmp(word, "near") != 0 && strcmp(word, "reference") != 0 && strcmp(word, "off") != 0)
        return slurm_error("cpubind: \"%s\" is none of near, reference and off", word), -1;
    rules = *word == 'n' ? "rules=near" : *word == 'r' ? "rules=reference" : NULL;
    return 0;
}

static struct spank_option options[] = {
    {"cpubind", "near|reference|off", "bind tasks to CPUs near their device", 1, RULES, take},
    {"cpubind-strict", NULL, "start no task that cannot be bound", 0, STRICT, take}};

int slurm_spank_init(spank_t spank, int n_word, char **word)
{
    const char *node = getenv("SLURMD_NODENAME");
    if (spank_option_register(spank, options) || spank_option_register(spank, options + 1))
        slurm_error("cpubind: its options cannot be registered");
    for (int i = 0; i < n_word; i++)
        if (strncmp(word[i], "default=", 8) == 0)
            (void)take(RULES, word[i] + 8, 0);
        else if (strncmp(word[i], "captures=", 9) == 0)
            snprintf(captures, sizeof captures, "%s/%s", word[i] + 9, node ? node : "");
        else if (strcmp(word[i], "trial") == 0)
            is_trial = 1;
        else
            slurm_error("cpubind: plugstack.conf: \"%s\" is no setting of it", word[i]);
    return 0;
}

/* Reads the line of a file that begins so, without its end. */
static int read_line(const char *path, const char *start, char *line, int size)
{
    FILE *from = fopen(path, "r");
    int is_read = 0;
    while (from && !is_read && fgets(line, size, from))
        is_read = strncmp(line, start, strlen(start)) == 0;
    line[is_read ? strcspn(line, "\n") : 0] = '\0';
    return (!from || fclose(from) == 0) && is_read;
}

/* On cgroup v2 slurmstepd is in "slurm", with all CPUs of the job, beside "user", which has
 * those of the step. Returns whether it knows them. */
static int read_step_cpus(void)
{
    char group[2048], path[2304], own[2048], *leaf;
    if (captures[0] || !read_line("/proc/self/cgroup", "0::", group, sizeof group) ||
        !(leaf = strrchr(group, '/')) || strcmp(leaf, "/slurm") != 0)
        return 1;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpuset.cpus.effective", group + 3);
    if (!read_line(path, "", own, sizeof own) && errno == ENOENT)
        return 1; /* without the controller */
    snprintf(leaf, 6, "/user");
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpuset.cpus.effective", group + 3);
    if (own[0] && read_line(path, "", allowed + 8, (int)sizeof allowed - 8))
        within = strcmp(own, allowed + 8) != 0 ? allowed : NULL;
    return allowed[8] != '\0';
}

/* Reads the host. */
static void read_host(void)
{
    cpb_error *error = NULL;
    if (!read_step_cpus())
        snprintf(reason, sizeof reason, "the cpuset of the step cannot be read");
    else
        host = captures[0] ? cpb_host_folder(captures, &error) : cpb_host_live(0, &error);
    if (host && cpb_host_put(host, "env", step_env, strlen(step_env), 0, &error) == 0)
        whole = cpb_plan_make(host, (const char *const[]){rules, within, NULL}, &error);
    if (error)
        snprintf(reason, sizeof reason, "%s", cpb_error_text(error));
    cpb_error_free(error);
}

/* Starts the process that tries to read the files of the host; it finds no npu-smi, and ends
 * with this one. Were a thread held by a system call, the next seteuid(2) of slurmstepd would
 * not return, which waits until each thread has changed its user; a thread that waits for a
 * child can. And Slurm drains a node where it cannot end a process in the cgroup of a step:
 * this one leaves it for the root. */
int slurm_spank_init_post_opt(spank_t spank, int n_word, char **word)
{
    uint32_t step = SLURM_BATCH_SCRIPT;
    (void)n_word, (void)word;
    (void)spank_get_item(spank, S_JOB_STEPID, &step);
    if (step >= SLURM_MAX_NORMAL_STEP_ID) /* a script, which starts steps */
        rules = NULL;
    if (!rules || spank_remote(spank) != 1 || (reader = fork()) != 0)
        return 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)!write(open("/sys/fs/cgroup/cgroup.procs", O_WRONLY), "0", 1);
    for (int fd = 0; fd < 1024; fd++) /* srun waits for the ends of some */
        close(fd);
    (void)setenv("PATH", "/", 1);
    read_host();
    _exit(0);
}

static void *work(void *unused)
{
    static cpb_binding *bound[MAX_TASKS];
    int n = 0, status;
    message m;
    if (reader > 0 && waitpid(reader, &status, 0) == reader && status == 0)
        read_host();
    (void)!write(from_thread[1], "", 1);
    while (read(to_thread[0], &m, sizeof m) == (ssize_t)sizeof m) {
        cpb_error *error = NULL;
        const char *const list[] = {rules,         m.option[0], m.option[1], m.option[2],
                                    "memory=none", within,      NULL};
        if (n < MAX_TASKS && (bound[n] = cpb_bind(host, m.pid, list, &error)) != NULL)
            n++;
        else
            slurm_info("cpubind: the interrupts of process %d are not bound: %s", (int)m.pid,
                       error ? cpb_error_text(error) : "the step has too many tasks");
        cpb_error_free(error);
    }
    while (n-- > 0)
        (void)cpb_binding_restore(bound[n], NULL);
    (void)!write(from_thread[1], "", 1);
    return unused;
}

/* Waits for the thread, but not for long. Returns whether it has answered. */
static int wait_for_thread(int limit_ms)
{
    struct pollfd answer = {from_thread[0], POLLIN, 0};
    int n;
    while ((n = poll(&answer, 1, limit_ms)) < 0 && errno == EINTR)
        ;
    return n == 1 && read(from_thread[0], &n, 1) == 1;
}

/* The environment of the step, with the variables that slurmstepd sets later, for each task. */
static char *write_env(spank_t spank)
{
    char **env = NULL, *text = NULL;
    size_t size;
    uint32_t node = 0;
    uint16_t n_cpu = 0;
    FILE *to = open_memstream(&text, &size);
    (void)spank_get_item(spank, S_JOB_ENV, &env);
    (void)spank_get_item(spank, S_JOB_NCPUS, &n_cpu);
    (void)spank_get_item(spank, S_JOB_NODEID, &node);
    if (to)
        fprintf(to, "SLURM_CPUS_ON_NODE=%d\nSLURM_NODEID=%d\n", n_cpu, (int)node);
    for (; to && env && *env; env++)
        if (!strchr(*env, '\n'))
            fprintf(to, "%s\n", *env);
    return to && fclose(to) == 0 ? text : NULL;
}

int slurm_spank_user_init(spank_t spank, int n_word, char **word)
{
    pthread_t thread;
    (void)n_word, (void)word;
    if (!rules || !(step_env = write_env(spank)))
        return 0;
    /* A task never waits for the thread to read. */
    if (pipe2(from_thread, O_CLOEXEC) == 0 && pipe2(to_thread, O_CLOEXEC) == 0 &&
        fcntl(to_thread[1], F_SETFL, O_NONBLOCK) == 0)
        is_ready = pthread_create(&thread, NULL, work, NULL) == 0 && wait_for_thread(PLAN_MS);
    return 0;
}

/* Sets the variables of a task; those that its user has set stay. Slurm sets those of GPUs. The
 * runtime of NPUs counts those that a process may open from 0: of one there is no choice. */
static void set_variables(spank_t spank, const cpb_plan *plan, int32_t device)
{
    char *text = cpb_plan_format(plan, "env", NULL), *rest = text, *line, *key, name[32];
    const int is_npu = strstr(cpb_plan_json(plan), "\"rank_device\": \"npu") != NULL;
    int n_open = 0, n_closed = 0, of_host = (int)device;
    for (int i = 0; is_npu && i < 256; i++) {
        snprintf(name, sizeof name, "/dev/davinci%d", i);
        if (access(name, R_OK | W_OK) != 0) /* device cgroups refuse F_OK, too */
            n_closed += errno != ENOENT;
        else if (n_open++ == 0 || n_open == device + 1)
            of_host = n_open - 1 + n_closed;
    }
    snprintf(name, sizeof name, "%d", of_host);
    (void)spank_setenv(spank, "CPUBIND_DEVICE", name, 1);
    snprintf(name, sizeof name, "%d", (int)device);
    if (is_npu && (n_open != 1 || n_closed == 0))
        (void)spank_setenv(spank, "ASCEND_RT_VISIBLE_DEVICES", name, 0);
    while ((line = strsep(&rest, "\n")) != NULL)
        if ((key = strsep(&line, "=")) && line && (is_trial || !strcmp(key, "OMP_NUM_THREADS")))
            (void)spank_setenv(spank, key, line, 0);
    cpb_text_free(text);
}

/* Plans for a task, and binds it and its memory. Returns 0, with *error, when that fails. */
static int bind_task(spank_t spank, cpb_error **error)
{
    message m = {.pid = (int32_t)getpid()};
    const char *const list[] = {rules, m.option[0], m.option[1], m.option[2], within, NULL};
    char bind[1024] = "none", own[4096] = "", *env = NULL;
    int32_t device, node, n = 1, index = 0, rank, local = -1, is_bound;
    cpb_plan *plan;
    (void)spank_get_item(spank, S_TASK_ID, &local);
    (void)spank_getenv(spank, "SLURMD_TRES_BIND", bind, sizeof bind);
    (void)spank_getenv(spank, "SLURM_STEP_GPUS", own, sizeof own);
    if (asprintf(&env, "SLURMD_TRES_BIND=%s\n%s", bind, step_env) < 0)
        return 0;
    rank = cpb_slurm_rank(env, local, own, &n, &index, error);
    free(env);
    snprintf(m.option[0], sizeof m.option[0], "rank=%d", (int)rank);
    snprintf(m.option[1], sizeof m.option[1], "processes=%d", (int)n);
    snprintf(m.option[2], sizeof m.option[2], "index=%d", (int)index);
    if (rank < 0 || !(plan = cpb_plan_make(host, list, error)))
        return 0;
    device = cpb_plan_rank_device(plan);
    node = cpb_plan_memory_node(plan, device);
    const unsigned long nodes = node >= 0 && node < 64 ? 1ul << node : 0;
    is_bound = is_trial || cpb_bind_thread(plan, device, "main", error) == 0;
    if (is_bound && !is_trial && nodes)
        (void)syscall(SYS_set_mempolicy, 1 /* MPOL_PREFERRED */, &nodes, 65);
    if (is_bound && !is_trial)
        (void)!write(to_thread[1], &m, sizeof m);
    if (is_bound)
        set_variables(spank, plan, device);
    cpb_plan_free(plan);
    return is_bound;
}

int slurm_spank_task_init(spank_t spank, int n_word, char **word)
{
    cpb_error *error = NULL;
    int task = 0;
    (void)n_word, (void)word;
    if (!rules || (is_ready && whole && bind_task(spank, &error)))
        return 0;
    (void)spank_get_item(spank, S_TASK_ID, &task);
    if (error || task == 0) /* what holds for all tasks is said once a node */
        slurm_error("cpubind: %s starts %s: %s", error ? "the task" : "each task",
                    is_strict ? "not" : "unbound", error ? cpb_error_text(error) : reason);
    cpb_error_free(error);
    return is_strict ? -1 : 0;
}

int slurm_spank_exit(spank_t spank, int n_word, char **word)
{
    (void)spank, (void)n_word, (void)word;
    if (is_ready && close(to_thread[1]) == 0 && !wait_for_thread(RESTORE_MS))
        slurm_error("cpubind: interrupts are left: cpubind restore --ended puts them back");
    return 0;
}
