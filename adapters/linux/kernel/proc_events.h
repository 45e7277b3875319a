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

/* Begins to receive the events of the process `pid`; with pid 0 those of all processes, as
 * cpubind_proc_events_choose says.
 *   out     *fd: a socket that poll(2) can wait for; -1 on failure
 *   errors  EPROTONOSUPPORT, "socket": the kernel has no connector; EPERM, "bind":
 *           CAP_NET_ADMIN is missing; ECONNREFUSED, "sendmsg": another network namespace;
 *           ENOMSG, "answer": another pid or user namespace, or a kernel without these events;
 *           or those of the calls, and an errno of the kernel's answer */
cpubind_linux_fault cpubind_proc_events_open(const cpubind_sys *sys, int32_t pid, int *fd);

/* What the events of one call of cpubind_proc_events_read say. */
typedef struct cpubind_proc_news {
    cpubind_ids tids; /* threads that were created or have another name, in the order of the
                         events; a number may occur twice; freed by the caller */
    int is_all;       /* events were lost, or the process runs another program: look at all of
                         its threads */
} cpubind_proc_news;

/* Adds what one event of the process says. */
void cpubind_proc_news_add(cpubind_proc_news *news, const cpubind_sys *sys,
                           const cpubind_proc_event *event);

/* Reads the events that have come, without waiting, and adds what they say to *news. After a
 * storm some may be left: the socket can still be read then.
 *   errors  those of recvfrom(2), after which the socket is of no use */
cpubind_linux_fault cpubind_proc_events_read(const cpubind_sys *sys, int fd, int32_t pid,
                                             cpubind_proc_news *news);

/* Of a socket for all processes: names of threads come for these processes alone; births and
 * other programs come for every process. Without the call, or where the kernel does not take
 * the filter, all names come. */
void cpubind_proc_events_choose(const cpubind_sys *sys, int fd, const int32_t *pid, int32_t n);

/* Gives the events that have come to `take` one by one, without waiting: births, names, other
 * programs, ends, and LOST when some were dropped. After a storm some may be left.
 *   errors  as cpubind_proc_events_read */
typedef void cpubind_proc_events_take(void *ctx, const cpubind_proc_event *event);
cpubind_linux_fault cpubind_proc_events_each(const cpubind_sys *sys, int fd,
                                             cpubind_proc_events_take *take, void *ctx);

/* Says to the kernel that nobody listens any more, and closes the socket. */
void cpubind_proc_events_close(const cpubind_sys *sys, int fd);

#endif /* CPUBIND_LINUX_PROC_EVENTS_H */
