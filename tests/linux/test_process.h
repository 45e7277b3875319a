/* test_process.h - a process whose named threads a test starts and ends
 * SPDX-License-Identifier: MIT
 *
 * A child that starts and ends threads on command, one command at a time, and dies with the
 * test. Its first thread does nothing; its second thread, "control", reads the commands. The
 * child must not change its own masks: tests check who changed them.
 */
#ifndef CPUBIND_TESTS_LINUX_TEST_PROCESS_H
#define CPUBIND_TESTS_LINUX_TEST_PROCESS_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "temp_dir.h"

#define WORKER_THREADS 512 /* in all, ended ones included */

typedef struct worker {
    pid_t pid;
    int to, from; /* pipes: commands, answers */
} worker;

typedef struct worker_command {
    char what; /* t: start a thread, e: end it, x: end the first, c: create short-lived
                  threads, q: stop that, n: the number of threads created so far,
                  r: give a thread another name */
    char name[31];
    int32_t tid;
} worker_command;

/* == The child ============================================================== */

typedef struct worker_thread {
    char name[32];
    pthread_t handle;
    int32_t tid;
    int answer, end[2];
} worker_thread;

typedef struct worker_child {
    int in, out;
    int leader_end[2];
    worker_thread thread[WORKER_THREADS];
    int n;
    pthread_t churner;
    volatile int is_churning;
    volatile int32_t n_born;
} worker_child;

static inline void worker_say(int fd, int32_t number)
{
    scratch_need(write(fd, &number, sizeof number) == (ssize_t)sizeof number, "answer");
}

/* A thread: sets its name, reports its number, and waits until it is ended. */
static inline void *worker_wait(void *ctx)
{
    worker_thread *t = (worker_thread *)ctx;
    char byte;
    prctl(PR_SET_NAME, t->name);
    t->tid = (int32_t)syscall(SYS_gettid);
    worker_say(t->answer, t->tid);
    while (read(t->end[0], &byte, 1) < 0) {
    }
    return NULL;
}

static inline void worker_add(worker_child *c, const char *name, int answer)
{
    worker_thread *t = &c->thread[c->n++];
    scratch_need(c->n <= WORKER_THREADS, "threads");
    memset(t, 0, sizeof *t);
    snprintf(t->name, sizeof t->name, "%s", name);
    t->answer = answer;
    scratch_need(pipe(t->end) == 0, "pipe");
    scratch_need(pthread_create(&t->handle, NULL, worker_wait, t) == 0, "thread");
}

static inline void worker_drop(worker_child *c, int32_t tid)
{
    for (int i = 0; i < c->n; i++) {
        if (c->thread[i].tid == tid) {
            scratch_need(write(c->thread[i].end[1], "", 1) == 1, "end");
            pthread_join(c->thread[i].handle, NULL);
            close(c->thread[i].end[0]);
            close(c->thread[i].end[1]);
            c->thread[i].tid = 0;
        }
    }
}

static inline void worker_rename(int32_t tid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)tid);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    scratch_need(fd >= 0 && write(fd, name, strlen(name)) > 0, path);
    close(fd);
}

static inline void *worker_blink(void *ctx)
{
    static const char *const name[] = {"acl_thread", "release_thread", "short", "longer than"};
    const unsigned n = *(const unsigned *)ctx;
    prctl(PR_SET_NAME, name[n % 4]);
    usleep(100 + n % 7 * 200);
    return NULL;
}

/* Creates short-lived threads, six at a time; one in fifty stays. */
static inline void *worker_churn(void *ctx)
{
    worker_child *c = (worker_child *)ctx;
    pthread_t thread[6];
    unsigned number[6];
    int sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
    prctl(PR_SET_NAME, "churner");
    while (c->is_churning) {
        for (int i = 0; i < 6; i++) {
            number[i] = (unsigned)c->n_born + (unsigned)i;
            scratch_need(pthread_create(&thread[i], NULL, worker_blink, &number[i]) == 0,
                         "blink");
        }
        if (c->n_born % 48 == 0 && c->n < WORKER_THREADS / 2)
            worker_add(c, c->n % 2 ? "acl_thread" : "stays", sink);
        for (int i = 0; i < 6; i++)
            pthread_join(thread[i], NULL);
        c->n_born += 6;
    }
    return NULL;
}

static inline void *worker_control(void *ctx)
{
    worker_child *c = (worker_child *)ctx;
    worker_command command;
    prctl(PR_SET_NAME, "control");
    worker_say(c->out, (int32_t)getpid());
    while (read(c->in, &command, sizeof command) == (ssize_t)sizeof command) {
        if (command.what == 't') {
            worker_add(c, command.name, c->out);
            continue; /* the thread sends the answer */
        }
        if (command.what == 'e')
            worker_drop(c, command.tid);
        if (command.what == 'r')
            worker_rename(command.tid, command.name);
        if (command.what == 'f') { /* a fork, which ends with this process */
            const pid_t pid = fork();
            scratch_need(pid >= 0, "fork");
            if (pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;)
                    pause();
            }
            worker_say(c->out, (int32_t)pid);
            continue;
        }
        if (command.what == 'x')
            scratch_need(write(c->leader_end[1], "", 1) == 1, "end");
        if (command.what == 'c') {
            c->is_churning = 1;
            scratch_need(pthread_create(&c->churner, NULL, worker_churn, c) == 0, "churner");
        }
        if (command.what == 'q') {
            c->is_churning = 0;
            pthread_join(c->churner, NULL);
        }
        worker_say(c->out, c->n_born);
    }
    _exit(0);
}

static inline void worker_run(int in, int out)
{
    static worker_child c;
    pthread_t control;
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN); /* forks that end are gone */
    c.in = in;
    c.out = out;
    scratch_need(pipe(c.leader_end) == 0, "pipe");
    scratch_need(pthread_create(&control, NULL, worker_control, &c) == 0, "control");
    while (read(c.leader_end[0], &byte, 1) < 0) {
    }
    pthread_exit(NULL);
}

/* == The test =============================================================== */

static inline int32_t worker_answer(const worker *w)
{
    int32_t number = 0;
    scratch_need(read(w->from, &number, sizeof number) == (ssize_t)sizeof number, "worker");
    return number;
}

static inline int32_t worker_tell(const worker *w, char what, const char *name, int32_t tid)
{
    worker_command command;
    memset(&command, 0, sizeof command);
    command.what = what;
    command.tid = tid;
    snprintf(command.name, sizeof command.name, "%s", name);
    scratch_need(write(w->to, &command, sizeof command) == (ssize_t)sizeof command, "worker");
    return worker_answer(w);
}

/* Starts the process; its first thread gets the name `name`. */
static inline void worker_start(worker *w, const char *name)
{
    int to[2], from[2];
    scratch_need(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0, "pipe");
    w->pid = fork();
    scratch_need(w->pid >= 0, "fork");
    if (w->pid == 0) {
        close(to[1]);
        close(from[0]);
        prctl(PR_SET_NAME, name);
        worker_run(to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    w->to = to[1];
    w->from = from[0];
    scratch_need(worker_answer(w) == (int32_t)w->pid, "worker");
}

static inline int32_t worker_thread_add(const worker *w, const char *name)
{
    return worker_tell(w, 't', name, 0);
}

static inline int32_t worker_fork(const worker *w)
{
    return worker_tell(w, 'f', "", 0);
}

/* Ends a fork and waits until /proc does not have it any more. */
static inline void worker_fork_end(int32_t pid)
{
    kill((pid_t)pid, SIGKILL);
    while (kill((pid_t)pid, 0) == 0)
        usleep(200);
}

/* Ends a thread and waits until /proc does not have it any more. */
static inline void worker_thread_end(const worker *w, int32_t tid)
{
    char path[64];
    (void)worker_tell(w, 'e', "", tid);
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)w->pid, (int)tid);
    while (access(path, F_OK) == 0)
        usleep(200);
}

/* Kills the process and reaps it. */
static inline void worker_end(worker *w)
{
    if (w->pid > 0) {
        kill(w->pid, SIGKILL);
        scratch_need(waitpid(w->pid, NULL, 0) == w->pid, "waitpid");
        close(w->to);
        close(w->from);
    }
    w->pid = 0;
}

/* == Masks ================================================================== */

/* Returns the CPUs of a thread as "0,1,5", or "gone". */
static inline const char *mask_text(int32_t tid, char *text, size_t size)
{
    cpu_set_t set;
    size_t at = 0;
    CPU_ZERO(&set);
    if (sched_getaffinity((pid_t)tid, sizeof set, &set) < 0) {
        snprintf(text, size, "gone");
        return text;
    }
    text[0] = '\0';
    for (int cpu = 0; cpu < CPU_SETSIZE && at < size; cpu++)
        if (CPU_ISSET((size_t)cpu, &set))
            at += (size_t)snprintf(text + at, size - at, "%s%d", at ? "," : "", cpu);
    return text;
}

static inline int is_on(int32_t tid, int cpu)
{
    char text[512], expected[16];
    snprintf(expected, sizeof expected, "%d", cpu);
    return strcmp(mask_text(tid, text, sizeof text), expected) == 0;
}

static inline void put_on(int32_t tid, int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    scratch_need(sched_setaffinity((pid_t)tid, sizeof set, &set) == 0, "sched_setaffinity");
}

/* Finds the first two CPUs of this process. Returns 0 if it may use only one. */
static inline int two_cpus(int32_t cpu[2])
{
    cpu_set_t set;
    int n = 0;
    CPU_ZERO(&set);
    scratch_need(sched_getaffinity(0, sizeof set, &set) == 0, "sched_getaffinity");
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET((size_t)i, &set))
            cpu[n++] = (int32_t)i;
    return n == 2;
}

static inline int by_number(const struct dirent **a, const struct dirent **b)
{
    long x = strtol((*a)->d_name, NULL, 10), y = strtol((*b)->d_name, NULL, 10);
    return (x > y) - (x < y);
}

static inline int is_number(const struct dirent *entry)
{
    return entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
}

/* Writes a line "TID MASK" for each thread of a process, ascending. Returns their number. */
static inline int masks_of(pid_t pid, char *text, size_t size)
{
    char path[64], mask[512];
    struct dirent **entry = NULL;
    size_t at = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    int n = scandir(path, &entry, is_number, by_number);
    scratch_need(n >= 0, path);
    text[0] = '\0';
    for (int i = 0; i < n; i++) {
        int32_t tid = (int32_t)strtol(entry[i]->d_name, NULL, 10);
        at += (size_t)snprintf(text + at, size - at, "%d %s\n", (int)tid,
                               mask_text(tid, mask, sizeof mask));
        scratch_need(at < size, "masks");
        free(entry[i]);
    }
    free(entry);
    return n;
}

static inline int is_stopped(pid_t pid)
{
    char path[64], stat[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    scratch_need(fd >= 0 && read(fd, stat, sizeof stat - 1) > 0, path);
    close(fd);
    return strstr(stat, ") T ") != NULL;
}

#endif /* CPUBIND_TESTS_LINUX_TEST_PROCESS_H */
