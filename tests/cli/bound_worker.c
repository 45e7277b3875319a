/* bound_worker.c - a process with threads of given names, to be bound in tests
 * SPDX-License-Identifier: MIT
 *
 *   worker NAME... <FIFO         starts a thread of each name, prints "ready"; then one more
 *                                for each line that is read; ends with the end of the file
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static pthread_barrier_t named;

static void *idle(void *name)
{
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
    char line[64];
    pthread_barrier_init(&named, NULL, 2);
    for (int i = 1; i < argc; i++)
        if (!start(argv[i]))
            return 1;
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (!start(line))
            return 1;
    }
    return 0;
}
