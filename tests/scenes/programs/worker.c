/* worker.c - a process with threads of given names, to be bound in scenes
 * SPDX-License-Identifier: MIT
 *
 *   worker [-x PROGRAM] [-c CHAINS] [NAME...] [-- WORD...]
 *
 * Starts a thread of each name and prints "ready". SIGUSR1 carries out the next word after --:
 * NAME starts one more thread, OLD=NEW renames one, OLD= ends it; without a word, a thread of
 * the name of the process starts. SIGUSR2 executes PROGRAM. In a chain each thread starts the
 * next one and ends. A thread ends by SIGRTMIN.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK ((size_t)65536) /* of a thread of a chain */

static pthread_barrier_t named;
static pthread_attr_t detached;

static void end_thread(int number)
{
    (void)number;
    (void)syscall(SYS_exit, 0);
}

static void *idle(void *name)
{
    if (name)
        prctl(PR_SET_NAME, name);
    pthread_barrier_wait(&named);
    for (;;)
        pause();
    return NULL;
}

/* Comes back when the thread has its name. */
static int start(char *name)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, idle, name) != 0)
        return 0;
    pthread_barrier_wait(&named);
    return 1;
}

static void *link_of_chain(void *none)
{
    pthread_t next;
    /* It fails while more threads end than the kernel can put away. */
    while (pthread_create(&next, &detached, link_of_chain, NULL) != 0)
        continue;
    return none;
}

static int start_chain(void)
{
    pthread_t thread;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, STACK);
    return pthread_create(&thread, &detached, link_of_chain, NULL) == 0;
}

/* The file of the name of a thread. */
static FILE *comm_of(const char *tid, const char *mode)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", tid);
    return fopen(path, mode);
}

static int has_name(const char *tid, const char *name)
{
    char text[32] = "";
    FILE *file = comm_of(tid, "re");
    if (file) {
        (void)!fgets(text, sizeof text, file);
        fclose(file);
    }
    text[strcspn(text, "\n")] = '\0';
    return strcmp(text, name) == 0;
}

/* Gives the thread another name, or ends it. */
static int change(const char *old, const char *new_name)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task = NULL;
    FILE *file = NULL;
    while (tasks && (task = readdir(tasks)) && !has_name(task->d_name, old))
        continue;
    if (task && !*new_name)
        syscall(SYS_tgkill, getpid(), atoi(task->d_name), SIGRTMIN);
    else if (task && (file = comm_of(task->d_name, "we")))
        fputs(new_name, file);
    if (file)
        fclose(file);
    if (tasks)
        closedir(tasks);
    return task != NULL;
}

static int carry_out(char *word)
{
    char *new_name = word ? strchr(word, '=') : NULL;
    if (!new_name)
        return start(word);
    *new_name++ = '\0';
    return change(word, new_name);
}

int main(int argc, char **argv)
{
    sigset_t set;
    char *program = NULL;
    int at = 1, chains = 0;
    for (; at + 1 < argc && (strcmp(argv[at], "-x") == 0 || strcmp(argv[at], "-c") == 0);
         at += 2)
        if (argv[at][1] == 'x')
            program = argv[at + 1];
        else
            chains = atoi(argv[at + 1]);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGRTMIN, end_thread);
    signal(SIGPIPE, SIG_IGN); /* nobody reads what it prints after it has executed itself */
    pthread_barrier_init(&named, NULL, 2);
    for (; at < argc && strcmp(argv[at], "--") != 0; at++)
        if (!start(argv[at]))
            return 1;
    at += at < argc;
    for (int i = 0; i < chains; i++)
        if (!start_chain())
            return 1;
    puts("ready");
    fflush(stdout);
    for (;;) {
        int number = 0;
        if (sigwait(&set, &number) != 0)
            return 1;
        if (number == SIGUSR2 && program)
            execl(program, program, (char *)NULL);
        else if (!carry_out(at < argc ? argv[at++] : NULL))
            return 1;
    }
}
