/* child.h - a command as a child of this process: its signals, its end, and its orphans
 * SPDX-License-Identifier: MIT
 *
 * Private to the programs of this project; a process has one such child at most. From its start
 * on, processes below the command whose parent ends become children of this process
 * (PR_SET_CHILD_SUBREAPER), and are reaped here. Rules: prctl(2), signalfd(2), waitpid(2).
 *
 * SIGNALS  SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 and SIGUSR2 are passed on to the command,
 * but not those of a terminal, which the kernel sends to the command as well. One that is
 * ignored stays ignored, in the command too.
 */
#ifndef CPUBIND_LINUX_CHILD_H
#define CPUBIND_LINUX_CHILD_H

#include <stdint.h>

#include "linux.h"

typedef struct cpubind_child {
    int32_t pid;
    int fd;        /* can be read when a signal has come: wait for it with poll(2) */
    int has_ended; /* the command has ended */
    int status;    /* its exit status; 128 + N where signal N has ended it */
} cpubind_child;

/* Starts a command, found on PATH, with the files, the environment and the signals of this
 * process.
 *   in      argv ends with NULL; child_signal: what SIGCHLD does in the command, SIG_DFL or
 *           SIG_IGN
 *   errors  "exec" with the errno of execvp(3); "fork"; "signalfd"; "pipe" */
cpubind_linux_fault cpubind_child_start(char *const *argv, void (*child_signal)(int),
                                        cpubind_child *out);

/* Passes on the signals that have come, and reaps every child that has ended. */
void cpubind_child_serve(cpubind_child *child);

/* Moves the calling thread to these CPUs.
 *   errors  of sched_setaffinity(2); "memory" */
cpubind_linux_fault cpubind_move_self(const int32_t *cpu, int32_t n);

#endif /* CPUBIND_LINUX_CHILD_H */
