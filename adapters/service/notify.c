/* notify.c - the datagrams of sd_notify(3)
 * SPDX-License-Identifier: MIT
 *
 * Sends; reads no answer and no environment. Rules: sd_notify(3), unix(7).
 */
#include "notify.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "../linux/kernel/files.h"
#include "../text/procfs.h"

#define MAX_PAUSE_MS 3600000

static cpubind_linux_fault send_to(const cpubind_sys *sys, struct sockaddr_un *to,
                                   socklen_t len, const char *message)
{
    struct iovec text = {(void *)message, strlen(message)};
    const struct msghdr datagram = {
        .msg_name = to, .msg_namelen = len, .msg_iov = &text, .msg_iovlen = 1};
    cpubind_linux_fault why = cpubind_no_fault;
    ssize_t sent;
    const int fd = sys->socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return cpubind_fault_errno("socket");
    CPUBIND_RETRY(sent, sys->sendmsg(fd, &datagram, MSG_NOSIGNAL));
    if (sent < 0)
        why = cpubind_fault_errno("sendmsg");
    (void)sys->close(fd);
    return why;
}

cpubind_linux_fault cpubind_notify(const cpubind_sys *sys, const char *address,
                                   const char *message)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const size_t n = address ? strlen(address) : 0;
    if (n == 0)
        return cpubind_no_fault;
    if (address[0] != '/' && address[0] != '@')
        return cpubind_fault_of(EAFNOSUPPORT, "address");
    if (n < 2 || n >= sizeof to.sun_path)
        return cpubind_fault_of(ENAMETOOLONG, "address");
    memcpy(to.sun_path, address, n);
    if (address[0] == '@') /* an abstract name begins with NUL and has no other */
        to.sun_path[0] = '\0';
    return send_to(
        sys, &to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (address[0] == '/')),
        message);
}

/* Reads a number of digits alone, up to INT64_MAX; -1: it is none. */
static int64_t read_count(const char *text)
{
    int64_t value = 0;
    if (!text || !*text)
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || value > (INT64_MAX - 9) / 10)
            return -1;
        value = value * 10 + (*text - '0');
    }
    return value;
}

int64_t cpubind_notify_pause_ms(const char *usec, const char *pid, int32_t own_pid)
{
    int64_t pause_ms = read_count(usec) / 2000;
    if (pid && read_count(pid) != own_pid)
        return 0;
    if (pause_ms > MAX_PAUSE_MS)
        pause_ms = MAX_PAUSE_MS;
    return pause_ms;
}
