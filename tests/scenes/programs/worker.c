/* worker.c - a process with threads of given names, to be bound in scenes
 * SPDX-License-Identifier: MIT
 *
 *   worker [-x PROGRAM] [NAME...] [-- NAME...]
 *
 * Starts a thread of each name and prints "ready". SIGUSR1 starts one more, of the next name
 * after --, or of the name of the process; SIGUSR2 executes PROGRAM.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static pthread_barrier_t named;

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

int main(int argc, char **argv)
{
    sigset_t set;
    char *program = NULL;
    int at = 1;
    if (argc > 2 && strcmp(argv[1], "-x") == 0) {
        program = argv[2];
        at = 3;
    }
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN); /* nobody reads what it prints after it has executed itself */
    pthread_barrier_init(&named, NULL, 2);
    for (; at < argc && strcmp(argv[at], "--") != 0; at++)
        if (!start(argv[at]))
            return 1;
    at += at < argc;
    puts("ready");
    fflush(stdout);
    for (;;) {
        int number = 0;
        if (sigwait(&set, &number) != 0)
            return 1;
        if (number == SIGUSR2 && program)
            execl(program, program, (char *)NULL);
        else if (!start(at < argc ? argv[at++] : NULL))
            return 1;
    }
}
