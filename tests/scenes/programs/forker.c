/* forker.c - forks children, which end and come again at each signal USR1
 * SPDX-License-Identifier: MIT
 *
 *   forker FILE N         N children; FILE has how often they came
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void be_a_child(pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGUSR1, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    static pid_t child[1000];
    const pid_t own = getpid();
    const int n = argc > 2 ? atoi(argv[2]) : 0;
    char new_name[4096];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int turn = 1;; turn++) {
        int number;
        FILE *file;
        for (int i = 0; i < n; i++)
            if ((child[i] = fork()) == 0)
                be_a_child(own);
        snprintf(new_name, sizeof new_name, "%s.new", argv[1]);
        file = fopen(new_name, "w");
        if (!file || fprintf(file, "%d\n", turn) < 0 || fclose(file) != 0 ||
            rename(new_name, argv[1]) != 0 || sigwait(&set, &number) != 0)
            return 1;
        for (int i = 0; i < n; i++)
            kill(child[i], SIGKILL);
        for (int i = 0; i < n; i++)
            waitpid(child[i], NULL, 0);
    }
}
