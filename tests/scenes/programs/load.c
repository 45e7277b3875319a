/* load.c - a worker that computes and sleeps by turns, or a hog that only computes
 * SPDX-License-Identifier: MIT
 *
 *   load             0.5 ms of work, 2 ms of sleep, and a thread that works less; prints
 *                    "ready"; SIGUSR1: forks, starts a thread and renames one
 *   load hog CPU     work alone, on one CPU, at the highest priority of ordinary processes: who
 *                    shares its CPU waits, whatever else runs. It is a session of its own: the
 *                    kernel may weigh sessions (autogroup), and the worker is in another one
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t is_asked;

static void note(int number)
{
    is_asked = number;
}

static void work(long nanoseconds)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec <
           nanoseconds);
}

static void *turn(void *ctx)
{
    const struct timespec rest = {0, 20000000};
    for (;;) {
        work(500000);
        (void)nanosleep(&rest, NULL);
    }
    return ctx;
}

int main(int argc, char **argv)
{
    const struct timespec rest = {0, 2000000};
    pthread_t thread;
    if (argc > 2 && strcmp(argv[1], "hog") == 0) {
        cpu_set_t one;
        int fd;
        CPU_ZERO(&one);
        CPU_SET((size_t)atoi(argv[2]), &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0 ||
            setpriority(PRIO_PROCESS, 0, -20) != 0 || setsid() < 0)
            return 1;
        if ((fd = open("/proc/self/autogroup", O_WRONLY)) >= 0 && write(fd, "-20", 3) != 3)
            return 1;
        for (;;)
            work(1000000);
    }
    (void)signal(SIGUSR1, note);
    if (pthread_create(&thread, NULL, turn, NULL) != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    for (;;) {
        work(500000);
        (void)nanosleep(&rest, NULL);
        if (!is_asked)
            continue;
        is_asked = 0;
        (void)prctl(PR_SET_NAME, "renamed");
        if (pthread_create(&thread, NULL, turn, NULL) != 0)
            return 1;
        if (fork() == 0) {
            (void)sleep(3);
            _exit(0);
        }
    }
}
