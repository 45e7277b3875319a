/* notify.h - say to the service manager what state the service is in
 * SPDX-License-Identifier: MIT
 *
 * The protocol of sd_notify(3), without its library: a datagram of lines NAME=VALUE to the
 * socket that NOTIFY_SOCKET names, a path or, with "@", an abstract name. The caller reads the
 * environment. Never waits: a manager that does not read misses a message.
 */
#ifndef CPUBIND_SERVICE_NOTIFY_H
#define CPUBIND_SERVICE_NOTIFY_H

#include "../linux/linux.h"
#include "../linux/sys.h"

/* Sends one message.
 *   in      address: the value of NOTIFY_SOCKET; NULL or "": nothing is sent
 *   errors  EAFNOSUPPORT, "address": it begins with neither "/" nor "@"; ENAMETOOLONG,
 *           "address"; "socket"; "sendmsg" */
cpubind_linux_fault cpubind_notify(const cpubind_sys *sys, const char *address,
                                   const char *message);

/* The milliseconds between two WATCHDOG=1 messages: half of WATCHDOG_USEC.
 *   in      the values of WATCHDOG_USEC and WATCHDOG_PID, or NULL; the pid of this process
 *   returns 0 without a watchdog, with one of another process, or with values that make no
 *           sense */
int64_t cpubind_notify_pause_ms(const char *usec, const char *pid, int32_t own_pid);

#endif /* CPUBIND_SERVICE_NOTIFY_H */
