/* command.c - run commands in parallel, with a time limit and a limit of the output
 * SPDX-License-Identifier: MIT
 *
 * Uses no shell and sets no signal handler: it polls waitpid(WNOHANG), first after 1 ms. (A
 * pidfd would need no polling, but kernels before 5.3 have none.)
 */
#define _GNU_SOURCE
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kernel/files.h"

/* A pipe holds 64 KiB: one read after the end of a child empties it. */
#define READ_MIN 65536

/* How many commands one poll(2) waits for; CPUBIND_COMMAND_LIST is shorter by far. */
#define GROUP_MAX 16

#define TICK_MAX_MS 16

static int is_locale(const char *variable)
{
    return strncmp(variable, "LC_ALL=", 7) == 0 || strncmp(variable, "LANG=", 5) == 0 ||
           strncmp(variable, "LANGUAGE=", 9) == 0;
}

/* The caller's environment with the C locale: an array to free; its words are not copied. */
static char **make_environment(const cpubind_sys *sys)
{
    static char all[] = "LC_ALL=C", lang[] = "LANG=C";
    size_t n = 0, k = 0;
    while (environ && environ[n])
        n++;
    char **out = sys->malloc((n + 3) * sizeof *out);
    if (!out)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!is_locale(environ[i]))
            out[k++] = environ[i];
    out[k++] = all;
    out[k++] = lang;
    out[k] = NULL;
    return out;
}

static void close_pipe(int *fd, const cpubind_sys *sys)
{
    if (*fd >= 0)
        sys->close(*fd);
    *fd = -1;
}

static void close_pipes(cpubind_command *c, const cpubind_sys *sys)
{
    close_pipe(&c->fd, sys);
    close_pipe(&c->err_fd, sys);
}

static void finish(cpubind_command *c, const cpubind_sys *sys)
{
    close_pipes(c, sys);
    c->input.err = c->err_len > 0 ? c->err : NULL;
    c->input.err_len = c->err_len;
    c->phase = CPUBIND_PHASE_DONE;
}

/* Sets the answer and kills the command, if it still runs, with its process group. */
static void stop(cpubind_command *c, cpubind_input input, const cpubind_sys *sys)
{
    c->input = input;
    if (c->pid == 0) {
        finish(c, sys);
        return;
    }
    close_pipes(c, sys);
    sys->kill(-c->pid, SIGKILL); /* if that fails, the time limit ends the phase */
    c->phase = CPUBIND_PHASE_DYING;
    c->end_ms = cpubind_now_ms() + CPUBIND_COMMAND_KILL_MS;
}

static void start(cpubind_command *c, char *const *environment, int32_t limit_ms,
                  const cpubind_sys *sys)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    pid_t pid = 0;
    c->fd = c->err_fd = -1;
    c->pid = 0;
    c->phase = CPUBIND_PHASE_DONE;
    if (sys->pipe(out) < 0 || sys->pipe(err) < 0) {
        c->input = cpubind_input_failed(errno, "pipe");
        close_pipe(&out[0], sys);
        close_pipe(&out[1], sys);
        return;
    }
    int error = sys->spawn(&pid, c->argv, environment, out[1], err[1]);
    close_pipe(&out[1], sys); /* now only the command keeps the pipes open */
    close_pipe(&err[1], sys);
    if (error) {
        close_pipe(&out[0], sys);
        close_pipe(&err[0], sys);
        c->input = cpubind_input_missing(error, "exec");
        return;
    }
    c->fd = out[0];
    c->err_fd = err[0];
    c->pid = pid;
    c->phase = CPUBIND_PHASE_RUNNING;
    c->end_ms = cpubind_now_ms() + limit_ms;
    c->input = cpubind_input_of(CPUBIND_INPUT_PRESENT);
}

/* Reads stdout. In the phases RUNNING and DRAINING, after poll(2) said that a read does not
 * block. */
static void drain(cpubind_command *c, const cpubind_sys *sys)
{
    if (cpubind_bytes_reserve(&c->bytes, sys, READ_MIN).error) {
        stop(c, cpubind_input_failed(ENOMEM, "memory"), sys);
        return;
    }
    ssize_t n =
        sys->read(c->fd, c->bytes.data + c->bytes.len, (size_t)(c->bytes.cap - c->bytes.len));
    if (n > 0)
        c->bytes.len += (int32_t)n;
    if (n == 0)
        close_pipe(&c->fd, sys);
    else if (n < 0 && errno != EINTR && errno != EAGAIN)
        stop(c, cpubind_input_failed(errno, "read"), sys);
    else if (c->bytes.len > CPUBIND_COMMAND_OUTPUT_MAX)
        stop(c, cpubind_input_of(CPUBIND_INPUT_TOO_LONG), sys);
}

/* Reads stderr, likewise. A failure ends the reading of stderr alone: no plan depends on it. */
static void drain_err(cpubind_command *c, const cpubind_sys *sys)
{
    char dropped[CPUBIND_INPUT_ERR_MAX];
    const int is_full = c->err_len == CPUBIND_INPUT_ERR_MAX;
    ssize_t n = is_full ? sys->read(c->err_fd, dropped, sizeof dropped)
                        : sys->read(c->err_fd, c->err + c->err_len,
                                    (size_t)(CPUBIND_INPUT_ERR_MAX - c->err_len));
    if (n > 0 && !is_full)
        c->err_len += (int32_t)n;
    else if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        close_pipe(&c->err_fd, sys);
}

/* Whether the child was reaped. */
static int reap(cpubind_command *c, const cpubind_sys *sys)
{
    pid_t pid = sys->waitpid(c->pid, &c->status, WNOHANG);
    if (pid == c->pid) {
        c->pid = 0;
        return 1;
    }
    if (pid == 0 || errno == EINTR)
        return 0;
    /* ECHILD: the caller ignores SIGCHLD, or its handler was faster. The exit code is lost, so
     * there is no answer; and the pid may be another process's by now. */
    int error = errno;
    if (error == ECHILD)
        c->pid = 0;
    if (c->phase == CPUBIND_PHASE_RUNNING)
        stop(c, cpubind_input_failed(error, "waitpid"), sys);
    return 0;
}

static int32_t exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Moves a command on to its next phase if it has ended or its time is over. */
static void step(cpubind_command *c, int64_t now, const cpubind_sys *sys)
{
    int ended = c->pid && reap(c, sys);
    switch (c->phase) {
    case CPUBIND_PHASE_RUNNING:
        if (ended) {
            c->input.exit_code = exit_code(c->status);
            c->phase = CPUBIND_PHASE_DRAINING;
            c->end_ms = now + CPUBIND_COMMAND_DRAIN_MS;
        } else if (now >= c->end_ms) {
            stop(c, cpubind_input_of(CPUBIND_INPUT_TIMEOUT), sys);
        }
        break;
    case CPUBIND_PHASE_DYING:
        if (c->pid == 0 || now >= c->end_ms)
            finish(c, sys);
        break;
    case CPUBIND_PHASE_DRAINING:
        if ((c->fd < 0 && c->err_fd < 0) || now >= c->end_ms)
            finish(c, sys);
        break;
    case CPUBIND_PHASE_DONE:
        break;
    }
}

/* Waits up to `tick` ms for output and reads it. Returns whether there was any. */
static int take_output(cpubind_command *command, int32_t n, int tick, const cpubind_sys *sys)
{
    struct pollfd fds[2 * GROUP_MAX];
    for (int32_t i = 0; i < n; i++) { /* poll(2) skips a negative descriptor */
        fds[2 * i] = (struct pollfd){command[i].fd, POLLIN, 0};
        fds[2 * i + 1] = (struct pollfd){command[i].err_fd, POLLIN, 0};
    }
    int ready = sys->poll(fds, 2 * (nfds_t)n, tick);
    if (ready < 0 && errno != EINTR) {
        cpubind_input failed = cpubind_input_failed(errno, "poll");
        for (int32_t i = 0; i < n; i++)
            if (command[i].phase != CPUBIND_PHASE_DONE &&
                command[i].phase != CPUBIND_PHASE_DYING)
                stop(&command[i], failed, sys);
    }
    for (int32_t i = 0; ready > 0 && i < n; i++) {
        if (fds[2 * i].revents && command[i].fd >= 0)
            drain(&command[i], sys);
        if (fds[2 * i + 1].revents && command[i].err_fd >= 0)
            drain_err(&command[i], sys);
    }
    return ready > 0;
}

static void run_group(cpubind_command *command, int32_t n, int32_t limit_ms,
                      const cpubind_sys *sys)
{
    char **environment = make_environment(sys);
    for (int32_t i = 0; i < n; i++) {
        if (environment) {
            start(&command[i], environment, limit_ms, sys);
        } else {
            command[i].input = cpubind_input_failed(ENOMEM, "memory");
            command[i].phase = CPUBIND_PHASE_DONE;
            command[i].fd = command[i].err_fd = -1;
        }
    }
    free(environment);
    for (int tick = 1;;) {
        int32_t running = 0;
        int64_t now = cpubind_now_ms();
        for (int32_t i = 0; i < n; i++) {
            step(&command[i], now, sys);
            running += command[i].phase != CPUBIND_PHASE_DONE;
        }
        if (!running)
            return;
        if (take_output(command, n, tick, sys))
            tick = 1;
        else if (tick < TICK_MAX_MS)
            tick *= 2;
    }
}

void cpubind_commands_run(cpubind_command *command, int32_t n, int32_t limit_ms,
                          const cpubind_sys *sys)
{
    for (int32_t i = 0; i < n; i += GROUP_MAX)
        run_group(command + i, n - i < GROUP_MAX ? n - i : GROUP_MAX, limit_ms, sys);
}

void cpubind_command_reap(pid_t pid, const cpubind_sys *sys)
{
    int status;
    sys->waitpid(pid, &status, WNOHANG);
}
