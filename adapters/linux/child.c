/* child.c - a command as a child of this process: its signals, its end, and its orphans
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/cpu_sets.h"
#include "kernel/process.h"

static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

/* In the child: becomes the command, or writes the errno. */
static void become(char *const *argv, void (*child_signal)(int), const sigset_t *mask, int fd)
{
    int error;
    (void)signal(SIGCHLD, child_signal);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    (void)execvp(argv[0], argv);
    error = errno;
    while (write(fd, &error, sizeof error) < 0 && errno == EINTR)
        ;
    for (;;) /* ends without what a normal end would write or call */
        (void)kill(getpid(), SIGKILL);
}

static cpubind_linux_fault start(char *const *argv, void (*child_signal)(int),
                                 const sigset_t *mask, cpubind_child *out)
{
    int ends[2], error = 0;
    ssize_t n;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return cpubind_fault_errno("pipe");
    out->pid = (int32_t)fork();
    if (out->pid == 0)
        become(argv, child_signal, mask, ends[1]);
    error = out->pid < 0 ? errno : 0;
    close(ends[1]);
    if (out->pid < 0) {
        close(ends[0]);
        return cpubind_fault_of(error, "fork");
    }
    CPUBIND_RETRY(n, read(ends[0], &error, sizeof error));
    close(ends[0]);
    if (n != (ssize_t)sizeof error)
        return cpubind_no_fault;
    (void)waitpid((pid_t)out->pid, NULL, 0);
    return cpubind_fault_of(error, "exec");
}

cpubind_linux_fault cpubind_child_start(char *const *argv, void (*child_signal)(int),
                                        cpubind_child *out)
{
    cpubind_linux_fault why;
    sigset_t set, before;
    *out = (cpubind_child){.fd = -1};
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaddset(&set, passed_on[i]);
    sigaddset(&set, SIGCHLD);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (sigprocmask(SIG_BLOCK, &set, &before) < 0)
        return cpubind_fault_errno("signalfd");
    out->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    why = out->fd < 0 ? cpubind_fault_errno("signalfd") : cpubind_no_fault;
    if (!why.error)
        why = start(argv, child_signal, &before, out);
    if (!why.error)
        return why;
    if (out->fd >= 0)
        close(out->fd);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    *out = (cpubind_child){.fd = -1};
    return why;
}

void cpubind_child_serve(cpubind_child *child)
{
    struct signalfd_siginfo info;
    int status;
    pid_t pid;
    while (read(child->fd, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL && !child->has_ended)
            (void)kill((pid_t)child->pid, (int)info.ssi_signo);
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != (pid_t)child->pid)
            continue;
        child->has_ended = 1;
        child->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

cpubind_linux_fault cpubind_move_self(const int32_t *cpu, int32_t n)
{
    cpubind_cpu_sets sets = {NULL, 0, 0};
    int32_t set;
    cpubind_linux_fault why = cpubind_cpu_sets_of_list(&sets, &cpubind_sys_real, cpu, n, &set);
    if (!why.error)
        why = cpubind_task_move(&cpubind_sys_real, 0, &sets.set[set]);
    cpubind_cpu_sets_free(&sets);
    return why;
}
