/* ask.c - ask the service of this host
 * SPDX-License-Identifier: MIT
 *
 * The side of the client. Believes no socket that another user than root or its own could have
 * made: neither the socket nor its folder may be of another user or open to others.
 */
#define _GNU_SOURCE
#include "ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "../linux/kernel/files.h"

static int is_trusted(const cpubind_sys *sys, uid_t uid)
{
    return uid == 0 || uid == sys->geteuid();
}

cpubind_linux_fault cpubind_ask_check_peer(const cpubind_sys *sys, int fd)
{
    struct ucred peer = {.pid = 0};
    socklen_t len = sizeof peer;
    if (sys->getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return cpubind_fault_errno("getsockopt");
    return cpubind_fault_of(len == sizeof peer && is_trusted(sys, peer.uid) ? 0 : EPERM,
                            "peer");
}

/* Checks the socket and its folder. */
static cpubind_linux_fault check_owner(const cpubind_sys *sys, const char *path)
{
    char folder[sizeof((struct sockaddr_un *)NULL)->sun_path];
    const size_t n = strlen(path);
    const char *slash = strrchr(path, '/');
    struct stat socket, above;
    if (path[0] != '/' || n >= sizeof folder)
        return cpubind_fault_of(ENAMETOOLONG, "path");
    (void)snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path),
                   path);
    if (sys->statat(AT_FDCWD, path, &socket) < 0 || sys->statat(AT_FDCWD, folder, &above) < 0)
        return cpubind_fault_errno("connect");
    if (!S_ISSOCK(socket.st_mode))
        return cpubind_fault_of(ENOTSOCK, "connect");
    return cpubind_fault_of(is_trusted(sys, socket.st_uid) && is_trusted(sys, above.st_uid) &&
                                    !(above.st_mode & (S_IWGRP | S_IWOTH))
                                ? 0
                                : EPERM,
                            "owner");
}

/* Waits until the socket has one of the events, up to a time. */
static cpubind_linux_fault wait_for(const cpubind_sys *sys, int fd, short events,
                                    int64_t until_ms)
{
    struct pollfd wait = {fd, events, 0};
    int result;
    do {
        const int64_t left_ms = until_ms - cpubind_now_ms();
        if (left_ms <= 0)
            return cpubind_fault_of(ETIMEDOUT, "answer");
        result = sys->poll(&wait, 1, (int)left_ms);
    } while (result == 0 || (result < 0 && errno == EINTR));
    return result < 0 ? cpubind_fault_errno("poll") : cpubind_no_fault;
}

static cpubind_linux_fault send_request(const cpubind_sys *sys, int fd, cpubind_ask ask)
{
    char line[CPUBIND_ASK_MAX];
    struct iovec text = {line, 0};
    const struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
    ssize_t sent;
    text.iov_len = (size_t)snprintf(line, sizeof line, "%s\n", cpubind_ask_word(ask));
    /* A new socket has room for more than a request. */
    CPUBIND_RETRY(sent, sys->sendmsg(fd, &message, MSG_NOSIGNAL));
    if (sent < 0)
        return cpubind_fault_errno("sendmsg");
    return cpubind_fault_of((size_t)sent == text.iov_len ? 0 : EPROTO, "sendmsg");
}

/* Reads to the end of the stream; the last byte is the line feed, which is dropped. */
static cpubind_linux_fault read_answer(const cpubind_sys *sys, int fd, cpubind_bytes *answer)
{
    const int64_t until_ms = cpubind_now_ms() + CPUBIND_ANSWER_LIMIT_MS;
    for (;;) {
        cpubind_linux_fault why = wait_for(sys, fd, POLLIN, until_ms);
        ssize_t got;
        if (!why.error)
            why = cpubind_bytes_reserve(answer, sys, 65536);
        if (why.error)
            return why;
        got = sys->recv(fd, answer->data + answer->len, 65536, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return cpubind_fault_errno("recv");
        if (got == 0)
            break;
        answer->len += (int32_t)got;
        if (answer->len > CPUBIND_ANSWER_MAX)
            return cpubind_fault_of(EFBIG, "answer");
    }
    if (answer->len < 2 ||
        memchr(answer->data, '\n', (size_t)answer->len) != answer->data + answer->len - 1)
        return cpubind_fault_of(EPROTO, "answer");
    answer->data[--answer->len] = '\0';
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_service_ask(const cpubind_sys *sys, const char *path,
                                        cpubind_ask ask, cpubind_bytes *answer)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    cpubind_linux_fault why = check_owner(sys, path);
    int fd, result;
    if (why.error)
        return why;
    memcpy(to.sun_path, path, strlen(path) + 1);
    fd = sys->socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return cpubind_fault_errno("socket");
    /* A full queue of connections is EAGAIN: the service is too busy, or hangs. */
    CPUBIND_RETRY(result, sys->connect(fd, (struct sockaddr *)&to, (socklen_t)sizeof to));
    if (result < 0)
        why = cpubind_fault_errno("connect");
    if (!why.error)
        why = cpubind_ask_check_peer(sys, fd);
    if (!why.error)
        why = send_request(sys, fd, ask);
    if (!why.error)
        why = read_answer(sys, fd, answer);
    (void)sys->close(fd);
    return why;
}
