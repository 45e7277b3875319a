/* group.h - several bindings of one caller: one stream of events, one search for each fact
 * SPDX-License-Identifier: MIT
 *
 *   cpubind_group_open(sys, &group, &fault);
 *   cpubind_group_watch(group, &fault);             (with events, if the kernel sends them)
 *   cpubind_group_join(group, binding);             (each one, before cpubind_bind_apply)
 *   for (;;) {
 *       cpubind_group_news news = cpubind_group_wait(group, timeout_ms, -1);
 *       ... cpubind_bind_again(binding, &fault) where cpubind_group_is_due(binding) ...
 *   }
 *
 * Moves nothing, and starts no process. A group outlives its bindings: a binding that is closed
 * leaves its group. One thread at a time may use a group and its bindings. Rules: netlink(7),
 * pidfd_open(2).
 */
#ifndef CPUBIND_LINUX_GROUP_H
#define CPUBIND_LINUX_GROUP_H

#include "bind.h"

typedef struct cpubind_group cpubind_group;

/* What a wait has found. */
typedef struct cpubind_group_news {
    int is_period; /* the period is over: every binding is due */
    int has_other; /* another process was born, runs another program, or has a new thread */
    int has_ended; /* the process of a binding may have ended */
    cpubind_linux_fault why; /* the events have ended: the watch goes on by periods alone */
} cpubind_group_news;

/* Makes a group without bindings.
 *   in      sys: the system calls, used until close; NULL for the real ones
 *   errors  ERR_MEMORY */
cpubind_linux_status cpubind_group_open(const cpubind_sys *sys, cpubind_group **out,
                                        cpubind_linux_fault *fault);

/* Adds a binding. From then on its calls find irqbalance and kernel threads as the others of
 * the group do, and it is told of events through the group: of all that are later than this
 * call. Without memory the binding stays alone. */
void cpubind_group_join(cpubind_group *group, cpubind_binding *binding);

/* Asks the kernel for the events of all processes.
 *   errors  ERR_REFUSED: as no_events of a report */
cpubind_linux_status cpubind_group_watch(cpubind_group *group, cpubind_linux_fault *fault);

/* Waits until events have come that a binding is to act on or that are about another process,
 * until a process of a binding ends, or for the rest of the period of timeout_ms, but at most
 * for most_ms if that is not -1. A signal ends the wait early. Events that come together are
 * handled together: within 2 ms, or, while only other processes have events, within 64 ms. */
cpubind_group_news cpubind_group_wait(cpubind_group *group, int32_t timeout_ms,
                                      int32_t most_ms);

/* Ends a wait early when a descriptor can be read; -1: none. The caller reads it. */
void cpubind_group_wake_at(cpubind_group *group, int fd);

/* Whether cpubind_bind_again has something to do after the last wait. */
int cpubind_group_is_due(const cpubind_binding *binding);

/* Frees the group; its bindings go on alone. NULL is allowed. */
void cpubind_group_close(cpubind_group *group);

#endif /* CPUBIND_LINUX_GROUP_H */
