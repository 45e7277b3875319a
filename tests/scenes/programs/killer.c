/* killer.c - runs a command, kills it or another process meanwhile, and prints how long it took
 * SPDX-License-Identifier: MIT
 *
 *   killer LIMIT-US SEED PID COMMAND [ARGUMENT...]
 *
 * SIGKILL comes after a part of the limit that the seed draws; limit 0: nothing is killed; pid
 * 0: the command is. The microseconds are the last line on stderr.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* SplitMix64: neighbouring seeds have nothing in common. */
static uint64_t draw(uint64_t seed)
{
    uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int main(int argc, char **argv)
{
    const int64_t limit = argc > 4 ? strtoll(argv[1], NULL, 10) : 0;
    const pid_t named = argc > 4 ? (pid_t)atoi(argv[3]) : 0;
    const int64_t begin = now_us();
    const pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        execvp(argv[4], argv + 4);
        _exit(127);
    }
    if (limit > 0) {
        const int64_t us = (int64_t)(draw(strtoull(argv[2], NULL, 10)) % (uint64_t)limit);
        const struct timespec rest = {us / 1000000, us % 1000000 * 1000};
        (void)nanosleep(&rest, NULL);
        kill(named ? named : pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    fprintf(stderr, "%lld\n", (long long)(now_us() - begin));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
