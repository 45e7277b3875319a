/* service_measure.c - the service measures new settings against those before, by a child
 * SPDX-License-Identifier: MIT
 *
 * Prints nothing. The child prints one line: its output fits into a pipe, which is read when it
 * has ended.
 */
#define _GNU_SOURCE
#include "service_measure.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../linux/kernel/files.h"
#include "../linux/source/command.h"
#include "../measure/last.h"

#define STOP_MS 10000 /* a command of metric-command is waited for, too */
#define TICK_MS 10

/* How the reason of the child begins when both settings place all workers alike. */
static const char alike[] = "not judged";

static const cpubind_sys *const sys = &cpubind_sys_real;

/* == The workers ============================================================ */

static void forget(cli_service_measure *m)
{
    free(m->worker);
    *m = (cli_service_measure){.pid = 0};
}

int cli_measure_choose(cli_service_measure *m, cpubind_host_bind *host)
{
    const int32_t n = cpubind_host_bind_n(host);
    m->worker = sys->malloc((size_t)(n + 1) * sizeof *m->worker);
    for (int32_t i = 0; i < n && m->worker; i++) {
        const cpubind_host_row *row = cpubind_host_bind_row(host, i);
        if (row->state == CPUBIND_HOST_BOUND && row->device >= 0 && !row->parent)
            m->worker[m->n++] = row->pid;
    }
    if (m->n == 0)
        forget(m);
    return m->n > 0;
}

int cli_measure_has(const cli_service_measure *m, int32_t pid)
{
    for (int32_t i = 0; i < m->n; i++)
        if (m->worker[i] == pid)
            return 1;
    return 0;
}

/* == The child ============================================================== */

static void close_pipe(int pipe[2])
{
    for (int i = 0; i < 2; i++)
        if (pipe[i] >= 0)
            (void)sys->close(pipe[i]);
}

/* Keeps settings in a file. An empty file is refused when it is read. */
static cpubind_linux_fault keep(const char *name, const cpubind_bytes *text, char path[])
{
    static const char usual[] = "# usual\n";
    return text->len > 0 ? cpubind_last_keep(sys, name, text->data, text->len, path)
                         : cpubind_last_keep(sys, name, usual, (int32_t)sizeof usual - 1, path);
}

static cpubind_linux_fault spawn(cli_service_measure *m, const char *const *argv)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    pid_t pid = 0;
    cpubind_linux_fault why = cpubind_no_fault;
    if (sys->pipe(out) < 0 || sys->pipe(err) < 0)
        why = cpubind_fault_errno("pipe");
    if (!why.error)
        why = cpubind_fault_of(sys->spawn(&pid, argv, environ, out[1], err[1]), "exec");
    if (why.error) {
        close_pipe(out);
        close_pipe(err);
        return why;
    }
    (void)sys->close(out[1]);
    (void)sys->close(err[1]);
    m->pid = (int32_t)pid;
    m->out = out[0];
    m->err = err[0];
    return why;
}

cpubind_linux_fault cli_measure_start(cli_service_measure *m, const cpubind_bytes *before,
                                      const cpubind_bytes *after, const char *root)
{
    char path[CPUBIND_LAST_PATH_SIZE] = "";
    const char *const argv[] = {"/proc/self/exe",
                                "measure",
                                "--all",
                                "--before",
                                m->former,
                                "--after",
                                path,
                                "--quiet",
                                "--under-service",
                                root ? "--root" : NULL,
                                root,
                                NULL};
    cpubind_linux_fault why = keep(CPUBIND_LAST_BEFORE, before, m->former);
    if (!why.error)
        why = keep(CPUBIND_LAST_AFTER, after, path);
    if (!why.error)
        why = spawn(m, argv);
    if (why.error)
        forget(m);
    return why;
}

/* == Its end ================================================================ */

/* Appends what waits in a pipe: its line, or the last one of several. */
static void add_line(int fd, api_text *to)
{
    char text[2048];
    struct pollfd ready = {fd, POLLIN, 0};
    size_t n = 0;
    ssize_t got = 1;
    char *line;
    while (got > 0 && n < sizeof text - 1 && sys->poll(&ready, 1, 0) > 0) {
        CPUBIND_RETRY(got, sys->read(fd, text + n, sizeof text - 1 - n));
        n += got > 0 ? (size_t)got : 0;
    }
    while (n > 0 && text[n - 1] == '\n')
        n--;
    text[n] = '\0';
    line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    api_add(to, "%s", strncmp(line, "cpubind: ", 9) == 0 ? line + 9 : line);
}

static void close_all(cli_service_measure *m)
{
    (void)sys->close(m->out);
    (void)sys->close(m->err);
    forget(m);
}

cli_measure_end cli_measure_look(cli_service_measure *m, api_text *said)
{
    cli_measure_end end = CLI_MEASURE_FAILED;
    int32_t code;
    if (m->pid == 0 || !cpubind_command_has_ended((pid_t)m->pid, &code, sys))
        return CLI_MEASURE_NOT;
    add_line(m->out, said);
    if (said->len > 0) {
        end = code == API_REFUSED ? CLI_MEASURE_WORSE : CLI_MEASURE_DONE;
    } else {
        add_line(m->err, said);
        if (strncmp(said->text, alike, strlen(alike)) == 0)
            end = CLI_MEASURE_ALIKE;
    }
    if (said->len == 0)
        api_add(said, "the measurement was ended before it had a result");
    close_all(m);
    return end;
}

/* Waits for the end of the child. Returns 0 when the time is over. */
static int await(const cli_service_measure *m, int32_t limit_ms)
{
    const int64_t end_ms = cpubind_now_ms() + limit_ms;
    int32_t code;
    while (!cpubind_command_has_ended((pid_t)m->pid, &code, sys)) {
        if (cpubind_now_ms() >= end_ms)
            return 0;
        (void)sys->poll(NULL, 0, TICK_MS);
    }
    return 1;
}

void cli_measure_stop(cli_service_measure *m)
{
    if (m->pid == 0)
        return;
    (void)sys->kill((pid_t)m->pid, SIGTERM);
    if (!await(m, STOP_MS)) {
        (void)sys->kill((pid_t)-m->pid, SIGKILL);
        (void)await(m, CPUBIND_COMMAND_KILL_MS);
    }
    close_all(m);
}
