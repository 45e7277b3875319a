/* irqbalance.c - irqbalance, the daemon that moves interrupts: find, lock
 * SPDX-License-Identifier: MIT
 *
 * Reads /proc and sends signals. Talking to the daemon is in irqbalance_ban.c.
 */
#define _GNU_SOURCE
#include "irqbalance.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../text/procfs.h"
#include "process.h"
#include "run_folder.h"

#define DAEMON_NAME "irqbalance"

/* How long the lock is waited for. */
#define LOCK_MS 3000

/* == Find =================================================================== */

static int is_daemon(const cpubind_proc_stat *stat)
{
    return strcmp(stat->name, DAEMON_NAME) == 0 && stat->state != 'Z' && stat->state != 'X';
}

/* Sets *out if the process is the daemon. */
static cpubind_linux_fault read_process(cpubind_root *root, int32_t pid,
                                        cpubind_irqbalance *out)
{
    cpubind_proc_stat stat;
    cpubind_linux_fault fault = cpubind_proc_stat_read(root, pid, 0, &stat);
    if (fault.error)
        return cpubind_is_unseen(fault.error) ? cpubind_no_fault : fault;
    if (is_daemon(&stat))
        *out = (cpubind_irqbalance){pid, stat.start, stat.state == 'T'};
    return cpubind_no_fault;
}

/* The pid in the name of a socket, "irqbalance<pid>.sock", or 0. */
static int32_t pid_of_socket(const char *name, int32_t len)
{
    static const char head[] = DAEMON_NAME, tail[] = ".sock";
    const int32_t n_head = (int32_t)sizeof head - 1, n_tail = (int32_t)sizeof tail - 1;
    int32_t pid = 0;
    if (len <= n_head + n_tail || memcmp(name, head, (size_t)n_head) != 0 ||
        memcmp(name + len - n_tail, tail, (size_t)n_tail) != 0)
        return 0;
    name += n_head;
    if (name[0] < '1' || name[0] > '9' ||
        cpubind_number_parse(name, len - n_head - n_tail, &pid, NULL) != CPUBIND_TEXT_OK)
        return 0;
    return pid;
}

/* Finds the daemon by its socket. A failure is ignored: the search through all processes meets
 * it again, or does not need what failed. */
static void find_by_socket(cpubind_root *root, cpubind_irqbalance *out)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_input list = cpubind_root_list(root, "run/irqbalance", &bytes);
    int32_t at = 0;
    while (list.state == CPUBIND_INPUT_PRESENT && at < bytes.len && !out->pid) {
        const char *line = bytes.data + at;
        const char *feed = memchr(line, '\n', (size_t)(bytes.len - at));
        int32_t len = (int32_t)(feed - line), pid = pid_of_socket(line, len);
        if (pid && read_process(root, pid, out).error)
            break;
        at += len + 1;
    }
    cpubind_bytes_free(&bytes);
}

/* Whether root owns the process. Anybody can give a process any name. */
static int is_of_root(cpubind_root *root, const char *comm_file)
{
    struct stat st;
    int fd;
    if (cpubind_root_open(root, comm_file, 0, &fd).error)
        return 0;
    int result = root->sys->fstat(fd, &st) == 0 && st.st_uid == 0;
    root->sys->close(fd);
    return result;
}

/* One process of the search; *is_sure when it is the daemon and root owns it. */
static cpubind_linux_fault search_one(cpubind_root *root, int32_t pid, cpubind_irqbalance *out,
                                      int *is_sure)
{
    cpubind_irqbalance found = {0, 0, 0};
    char name[32], comm[80];
    int32_t len;
    /* `comm` costs less to read than `stat`. */
    snprintf(name, sizeof name, "proc/%d/comm", (int)pid);
    cpubind_linux_fault fault =
        cpubind_read_text(root->sys, root->fd, name, comm, sizeof comm, &len);
    if (fault.error)
        return cpubind_is_unseen(fault.error) ? cpubind_no_fault : fault;
    if (cpubind_comm_is(comm, len, DAEMON_NAME))
        fault = read_process(root, pid, &found);
    if (fault.error || !found.pid)
        return fault;
    *is_sure = is_of_root(root, name);
    if (*is_sure || !out->pid)
        *out = found;
    return cpubind_no_fault;
}

static cpubind_linux_fault search_all(cpubind_root *root, cpubind_irqbalance *out)
{
    cpubind_ids pids = {NULL, 0, 0};
    int is_sure = 0;
    cpubind_linux_fault fault = cpubind_processes_list(root, &pids);
    for (int32_t i = 0; !fault.error && !is_sure && i < pids.n; i++)
        fault = search_one(root, pids.id[i], out, &is_sure);
    free(pids.id);
    return fault;
}

cpubind_linux_fault cpubind_irqbalance_find(cpubind_root *root, cpubind_irqbalance *out)
{
    cpubind_irqbalance found = {0, 0, 0};
    cpubind_linux_fault fault = cpubind_no_fault;
    find_by_socket(root, &found);
    if (!found.pid)
        fault = search_all(root, &found);
    if (!fault.error)
        *out = found;
    return cpubind_fault_of(fault.error, "find");
}

cpubind_linux_fault cpubind_irqbalance_check(cpubind_root *root,
                                             const cpubind_irqbalance *daemon)
{
    cpubind_proc_stat stat;
    cpubind_linux_fault fault = cpubind_proc_stat_read(root, daemon->pid, 0, &stat);
    if (!fault.error && (!is_daemon(&stat) || stat.start != daemon->start))
        fault = cpubind_fault_of(ESRCH, "check");
    return fault;
}

/* == Lock and stop ========================================================== */

cpubind_linux_fault cpubind_irqbalance_lock(cpubind_root *root, int32_t pid, int *out)
{
    char name[48];
    int fd, error;
    snprintf(name, sizeof name, "proc/%d/personality", (int)pid);
    error = cpubind_root_open(root, name, 0, &fd).error;
    if (error)
        return cpubind_fault_of(error == ENOENT ? ESRCH : error, "lock");
    error = cpubind_lock_within(root->sys, fd, LOCK_MS).error;
    if (error)
        root->sys->close(fd);
    else
        *out = fd;
    return cpubind_fault_of(error == EWOULDBLOCK ? ETIMEDOUT : error, "lock");
}
