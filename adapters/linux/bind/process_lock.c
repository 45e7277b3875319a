/* process_lock.c - one cpubind at a time works on a process; how a watch is ended
 * SPDX-License-Identifier: MIT
 *
 * Locks the process and asks a watch to end; reads no record and moves nothing. A signal goes
 * only to a process whose number and start time are in a lock file that this user alone can
 * write to.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "../kernel/process.h"
#include "binding.h"

/* How long a watch has time to end, and how often it is looked at. */
#define END_MS         2000
#define END_SERVICE_MS 10000 /* it may undo all bindings first */
#define LOOK_MS        10

cpubind_linux_fault cpubind_process_lock(cpubind_root *root, int32_t pid, int *fd)
{
    char name[32];
    snprintf(name, sizeof name, "proc/%d/fd", (int)pid);
    cpubind_linux_fault why =
        cpubind_open(root->sys, root->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, fd);
    if (cpubind_is_unseen(why.error))
        return cpubind_no_fault;
    if (why.error)
        return cpubind_fault_of(why.error, "lock");
    why = cpubind_lock(root->sys, *fd);
    if (why.error) {
        root->sys->close(*fd);
        *fd = -1;
    }
    return why;
}

void cpubind_process_sign(cpubind_binding *b, const cpubind_record_file *file)
{
    cpubind_record_holder self = {(int32_t)getpid(), b->start, b->options.is_watching,
                                  b->options.is_service};
    cpubind_proc_stat stat = {.start = b->start};
    if (self.pid != b->options.pid &&
        cpubind_proc_stat_read(&b->root, self.pid, 0, &stat).error)
        return;
    self.start = stat.start;
    cpubind_record_sign(file, &self);
}

static int is_alive(cpubind_root *root, const cpubind_record_holder *holder)
{
    return !cpubind_has_ended(root, holder->pid, holder->start);
}

/* Opens the root and reads the lock file of a record. The caller closes root->fd. */
static cpubind_linux_fault find_holder(const cpubind_bind_options *options,
                                       const cpubind_sys *sys, cpubind_root *root,
                                       cpubind_record_holder *holder)
{
    cpubind_record_file *file;
    cpubind_linux_fault why = cpubind_root_live(root, sys);
    *holder = (cpubind_record_holder){0};
    if (!why.error)
        why = cpubind_record_open(root, options->pid, CPUBIND_RECORD_READ, NULL, &file);
    if (why.error)
        return why;
    *holder = cpubind_record_read_holder(file);
    cpubind_record_close(file);
    if (holder->pid > 0 && !is_alive(root, holder))
        *holder = (cpubind_record_holder){0};
    return cpubind_no_fault;
}

int32_t cpubind_bind_holder(const cpubind_bind_options *options, const cpubind_sys *sys,
                            int32_t *is_service)
{
    cpubind_root root;
    cpubind_record_holder holder;
    (void)find_holder(options, sys, &root, &holder);
    if (root.fd >= 0)
        root.sys->close(root.fd);
    if (is_service)
        *is_service = holder.is_service;
    return holder.pid;
}

/* Sends both signals, by descriptor where the kernel has pidfd_open(2). */
static cpubind_linux_fault send_signals(const cpubind_sys *sys, int fd, int32_t pid)
{
    static const int signals[] = {SIGTERM, SIGCONT};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        int result = fd >= 0 ? sys->pidfd_send_signal(fd, signals[i]) : -1;
        if (fd < 0 || (result < 0 && errno == ENOSYS))
            result = sys->kill((pid_t)pid, signals[i]);
        if (result < 0 && errno != ESRCH)
            return cpubind_fault_errno("kill");
    }
    return cpubind_no_fault;
}

static cpubind_linux_fault end_holder(cpubind_root *root, const cpubind_record_holder *holder,
                                      int limit_ms)
{
    const cpubind_sys *sys = root->sys;
    /* After is_alive below, the descriptor is that of the holder and of no later process. */
    const int fd = sys->pidfd_open((pid_t)holder->pid, 0);
    cpubind_linux_fault why = cpubind_no_fault;
    if (is_alive(root, holder))
        why = send_signals(sys, fd, holder->pid);
    for (int ms = 0; !why.error && ms < limit_ms && is_alive(root, holder); ms += LOOK_MS) {
        struct pollfd wait = {fd, POLLIN, 0}; /* poll ignores a descriptor of -1 */
        (void)sys->poll(&wait, 1, LOOK_MS);
    }
    if (!why.error && is_alive(root, holder))
        why = cpubind_fault_of(EWOULDBLOCK, "lock");
    if (fd >= 0)
        sys->close(fd);
    return why;
}

cpubind_linux_status cpubind_bind_end_watch(const cpubind_bind_options *options,
                                            const cpubind_sys *sys, cpubind_linux_fault *fault)
{
    cpubind_root root;
    cpubind_record_holder holder;
    cpubind_linux_fault why = find_holder(options, sys, &root, &holder);
    cpubind_linux_status status = cpubind_record_status(why);
    if (!why.error) {
        why = holder.is_watching ? end_holder(&root, &holder, END_MS)
                                 : cpubind_fault_of(EWOULDBLOCK, "lock");
        status = !why.error                 ? CPUBIND_LINUX_OK
                 : why.error == EWOULDBLOCK ? CPUBIND_LINUX_ERR_BUSY
                                            : CPUBIND_LINUX_ERR_REFUSED;
    }
    if (root.fd >= 0)
        root.sys->close(root.fd);
    return cpubind_linux_end(status, why, fault);
}

cpubind_linux_status cpubind_bind_end_service(int32_t pid, const cpubind_sys *sys,
                                              cpubind_linux_fault *fault)
{
    cpubind_root root;
    cpubind_record_holder holder = {.pid = pid};
    cpubind_proc_stat stat = {.start = 0};
    cpubind_linux_fault why = cpubind_root_live(&root, sys);
    if (!why.error)
        why = cpubind_proc_stat_read(&root, pid, 0, &stat);
    holder.start = stat.start;
    if (!why.error)
        why = end_holder(&root, &holder, END_SERVICE_MS);
    if (root.fd >= 0)
        root.sys->close(root.fd);
    if (why.error == ESRCH) /* it has ended meanwhile */
        why = cpubind_no_fault;
    return cpubind_linux_end(!why.error                 ? CPUBIND_LINUX_OK
                             : why.error == EWOULDBLOCK ? CPUBIND_LINUX_ERR_BUSY
                                                        : CPUBIND_LINUX_ERR_REFUSED,
                             why, fault);
}
