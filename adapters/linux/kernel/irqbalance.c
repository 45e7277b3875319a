/* irqbalance.c - the daemon that moves interrupts: finding it, stopping it
 * SPDX-License-Identifier: MIT
 *
 * Reads /proc and sends signals. Talking to it: irqbalance_ban.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../text/procfs.h"
#include "../common.h"
#include "irq.h"
#include "proc_stat.h"
#include "threads.h"

#define DAEMON_NAME "irqbalance"

/* == finding it == */

static int is_daemon(const cpubind_proc_stat *stat)
{
    return strcmp(stat->name, DAEMON_NAME) == 0 && stat->state != 'Z' && stat->state != 'X';
}

/* Takes the process if it is the daemon. 0 or an errno. */
static int look_at(cpubind_root *root, int32_t pid, cpubind_irqbalance *out)
{
    cpubind_proc_stat stat;
    int error = cpubind_proc_stat_read(root, pid, 0, &stat);
    if (error)
        return cpubind_is_unseen(error) ? 0 : error;
    if (is_daemon(&stat))
        *out = (cpubind_irqbalance){pid, stat.start, stat.state == 'T'};
    return 0;
}

/* The number of a text that is one, or 0. */
static int32_t number_of(const char *text, int32_t len)
{
    int32_t number = 0;
    if (len < 1 || text[0] < '1' || text[0] > '9' ||
        cpubind_number_parse(text, len, &number, NULL) != CPUBIND_TEXT_OK)
        return 0;
    return number;
}

/* The pid in the name of a socket, "irqbalance<pid>.sock", or 0. */
static int32_t pid_of_socket(const char *name, int32_t len)
{
    static const char head[] = DAEMON_NAME, tail[] = ".sock";
    const int32_t n_head = (int32_t)sizeof head - 1, n_tail = (int32_t)sizeof tail - 1;
    if (len <= n_head + n_tail || memcmp(name, head, (size_t)n_head) != 0 ||
        memcmp(name + len - n_tail, tail, (size_t)n_tail) != 0)
        return 0;
    return number_of(name + n_head, len - n_head - n_tail);
}

/* Its socket tells at once, where there is one. What fails here fails again in the search
 * through all processes, or does not matter. */
static void find_by_socket(cpubind_root *root, cpubind_irqbalance *out)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_input list = cpubind_root_list(root, "run/irqbalance", &bytes);
    int32_t at = 0;
    while (list.state == CPUBIND_INPUT_PRESENT && at < bytes.len && !out->pid) {
        const char *line = bytes.data + at;
        const char *feed = memchr(line, '\n', (size_t)(bytes.len - at));
        int32_t len = (int32_t)(feed - line), pid = pid_of_socket(line, len);
        if (pid && look_at(root, pid, out))
            break;
        at += len + 1;
    }
    cpubind_bytes_free(&bytes);
}

/* Whether a process has the name: its `comm` costs less to read than its `stat`. 0 or an
 * errno. */
static int read_comm(cpubind_root *root, int32_t pid, int *is_named)
{
    char name[32], comm[80];
    snprintf(name, sizeof name, "proc/%d/comm", (int)pid);
    int fd = cpubind_root_open(root, name, 0);
    if (fd < 0)
        return errno;
    ssize_t n;
    do
        n = root->sys->read(fd, comm, sizeof comm);
    while (n < 0 && errno == EINTR);
    cpubind_close_quietly(root->sys, fd);
    if (n < 0)
        return errno;
    *is_named = cpubind_comm_is(comm, (int32_t)n, DAEMON_NAME);
    return 0;
}

/* Whether root owns the process. Anybody can give a process any name. */
static int is_of_root(cpubind_root *root, int32_t pid)
{
    char name[32];
    struct stat st;
    snprintf(name, sizeof name, "proc/%d/comm", (int)pid);
    int fd = cpubind_root_open(root, name, 0);
    if (fd < 0)
        return 0;
    int result = root->sys->fstat(fd, &st) == 0 && st.st_uid == 0;
    root->sys->close(fd);
    return result;
}

/* One process of the search; *is_sure when it is the daemon and root's. 0 or an errno. */
static int search_one(cpubind_root *root, int32_t pid, cpubind_irqbalance *out, int *is_sure)
{
    cpubind_irqbalance found = {0, 0, 0};
    int is_named = 0, error = read_comm(root, pid, &is_named);
    if (error)
        return cpubind_is_unseen(error) ? 0 : error;
    if (is_named)
        error = look_at(root, pid, &found);
    if (error || !found.pid)
        return error;
    *is_sure = is_of_root(root, pid);
    if (*is_sure || !out->pid)
        *out = found;
    return 0;
}

static int search_all(cpubind_root *root, cpubind_irqbalance *out)
{
    cpubind_ids pids = {NULL, 0, 0};
    int is_sure = 0;
    int folder = cpubind_root_open(root, "proc", O_DIRECTORY);
    if (folder < 0)
        return errno;
    int error = cpubind_tasks_list(root->sys, folder, &pids);
    for (int32_t i = 0; !error && !is_sure && i < pids.n; i++)
        error = search_one(root, pids.id[i], out, &is_sure);
    root->sys->close(folder); /* nothing was written: no result to lose */
    free(pids.id);
    return error;
}

int cpubind_irqbalance_find(cpubind_root *root, cpubind_irqbalance *out)
{
    cpubind_irqbalance found = {0, 0, 0};
    find_by_socket(root, &found);
    int error = found.pid ? 0 : search_all(root, &found);
    if (!error)
        *out = found;
    return error;
}

/* == stopping it == */

int cpubind_irqbalance_check(cpubind_root *root, const cpubind_irqbalance *daemon)
{
    cpubind_proc_stat stat;
    int error = cpubind_proc_stat_read(root, daemon->pid, 0, &stat);
    if (error)
        return error;
    return is_daemon(&stat) && stat.start == daemon->start ? 0 : ESRCH;
}

/* Whether an error may mean that the kernel, or a container's filter, does not let a call. */
static int may_lack(int error)
{
    return error == ENOSYS || error == EPERM;
}

static int send_signal(cpubind_root *root, const cpubind_irqbalance *daemon, int signal)
{
    const cpubind_sys *sys = root->sys;
    if (daemon->pid <= 0)
        return ESRCH;
    /* What the descriptor stands for cannot become another process: it is opened first and
     * looked at then. */
    int fd = sys->pidfd_open(daemon->pid, 0);
    if (fd < 0 && !may_lack(errno))
        return errno;
    int error = cpubind_irqbalance_check(root, daemon);
    if (!error) {
        int result = fd < 0 ? -1 : sys->pidfd_send_signal(fd, signal);
        if (fd < 0 || (result < 0 && may_lack(errno)))
            result = sys->kill(daemon->pid, signal);
        error = result < 0 ? errno : 0;
    }
    if (fd >= 0)
        sys->close(fd);
    return error;
}

int cpubind_irqbalance_stop(cpubind_root *root, const cpubind_irqbalance *daemon)
{
    /* Who is asking it something right now gets the answer first. Where the turn cannot be had,
     * this is no reason not to stop it. */
    int fd = -1;
    if (daemon->pid > 0)
        (void)cpubind_irqbalance_lock(root, daemon->pid, &fd);
    int error = send_signal(root, daemon, SIGSTOP);
    if (fd >= 0)
        root->sys->close(fd);
    return error;
}

int cpubind_irqbalance_continue(cpubind_root *root, const cpubind_irqbalance *daemon)
{
    return send_signal(root, daemon, SIGCONT);
}
