/* proc_events.h - events of the kernel about threads: births, new names, other programs
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. The proc connector of the kernel (CONFIG_PROC_EVENTS) sends its
 * events to the processes of the host that ask for them. It does so only in the initial
 * network, pid and user namespaces, whose numbers the events have; before kernel 6.6 only with
 * CAP_NET_ADMIN. Events may be lost, and nobody may rely on them alone.
 *
 * Changes nothing but the socket. Rules: netlink(7), Documentation/driver-api/connector.rst,
 * drivers/connector/cn_proc.c.
 */
#ifndef CPUBIND_LINUX_PROC_EVENTS_H
#define CPUBIND_LINUX_PROC_EVENTS_H

#include "../../text/proc_connector.h"
#include "bytes.h"
#include "files.h"

/* Begins to receive the events of processes, as cpubind_proc_events_choose says; until then of
 * none.
 *   out     *fd: a socket that poll(2) can wait for; -1 on failure
 *   errors  EPROTONOSUPPORT, "socket": the kernel has no connector; EPERM, "bind":
 *           CAP_NET_ADMIN is missing; ECONNREFUSED, "sendmsg": another network namespace;
 *           ENOMSG, "answer": another pid or user namespace, or a kernel without these events;
 *           or those of the calls, and an errno of the kernel's answer */
cpubind_linux_fault cpubind_proc_events_open(const cpubind_sys *sys, int *fd);

/* What the events of a process say. */
typedef struct cpubind_proc_news {
    cpubind_ids tids; /* threads that were created or have another name, in the order of the
                         events; a number may occur twice; freed by the caller */
    int is_all;       /* events were lost, or the process runs another program: look at all of
                         its threads */
} cpubind_proc_news;

/* Adds what one event of the process says. */
void cpubind_proc_news_add(cpubind_proc_news *news, const cpubind_sys *sys,
                           const cpubind_proc_event *event);

/* Chooses the processes whose events come; with has_others births and other programs of every
 * process, and names of the threads of these alone. Where the kernel does not take the filter,
 * all come. */
void cpubind_proc_events_choose(const cpubind_sys *sys, int fd, const int32_t *pid, int32_t n,
                                int has_others);

/* Gives the events that have come to `take` one by one, without waiting: births, names, other
 * programs, ends, and LOST when some were dropped. After a storm some may be left: the socket
 * can still be read then.
 *   errors  those of recvfrom(2), after which the socket is of no use */
typedef void cpubind_proc_events_take(void *ctx, const cpubind_proc_event *event);
cpubind_linux_fault cpubind_proc_events_each(const cpubind_sys *sys, int fd,
                                             cpubind_proc_events_take *take, void *ctx);

/* Says to the kernel that nobody listens any more, and closes the socket. */
void cpubind_proc_events_close(const cpubind_sys *sys, int fd);

#endif /* CPUBIND_LINUX_PROC_EVENTS_H */
