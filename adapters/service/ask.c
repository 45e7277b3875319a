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

cpubind_linux_fault cpubind_ask_read_peer(const cpubind_sys *sys, int fd, cpubind_peer *out)
{
    struct ucred peer = {.pid = 0};
    socklen_t len = sizeof peer;
    if (sys->getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return cpubind_fault_errno("getsockopt");
    *out = (cpubind_peer){(int32_t)peer.pid, peer.uid, is_trusted(sys, peer.uid)};
    return cpubind_fault_of(len == sizeof peer ? 0 : EPERM, "peer");
}

/* Why a socket or its folder could not be looked at; ENOENT: neither is there. */
static cpubind_linux_fault not_seen(void)
{
    return cpubind_fault_of(errno == ENOTDIR ? ENOENT : errno ? errno : EIO, "connect");
}

/* The socket for this user: that of users, where it does not own the other one. */
static cpubind_linux_fault choose_socket(const cpubind_sys *sys, const char *path,
                                         struct sockaddr_un *to)
{
    const char *slash = strrchr(path, '/');
    struct stat st;
    int n;
    if (path[0] != '/' || strlen(path) >= sizeof to->sun_path)
        return cpubind_fault_of(ENAMETOOLONG, "path");
    memcpy(to->sun_path, path, strlen(path) + 1);
    if (sys->geteuid() == 0)
        return cpubind_no_fault;
    if (sys->statat(AT_FDCWD, path, &st) == 0) {
        if (st.st_uid == sys->geteuid())
            return cpubind_no_fault;
    } else if (not_seen().error != ENOENT) {
        return not_seen();
    }
    n = snprintf(to->sun_path, sizeof to->sun_path, "%.*s/%s", (int)(slash - path), path,
                 CPUBIND_USERS_SOCKET);
    return cpubind_fault_of(n > 0 && (size_t)n < sizeof to->sun_path ? 0 : ENAMETOOLONG,
                            "path");
}

/* Checks the socket and its folder. */
static cpubind_linux_fault check_owner(const cpubind_sys *sys, const char *path)
{
    char folder[sizeof((struct sockaddr_un *)NULL)->sun_path];
    const char *slash = strrchr(path, '/');
    struct stat socket, above;
    (void)snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path),
                   path);
    if (sys->statat(AT_FDCWD, path, &socket) < 0 || sys->statat(AT_FDCWD, folder, &above) < 0)
        return not_seen();
    if (!S_ISSOCK(socket.st_mode))
        return cpubind_fault_of(ENOTSOCK, "connect");
    return cpubind_fault_of(is_trusted(sys, socket.st_uid) && is_trusted(sys, above.st_uid) &&
                                    !(above.st_mode & (S_IWGRP | S_IWOTH))
                                ? 0
                                : EPERM,
                            "owner");
}

/* == Asking ================================================================= */

static cpubind_linux_fault send_request(const cpubind_sys *sys, int fd,
                                        const cpubind_asked *asked)
{
    char line[CPUBIND_ASK_MAX];
    struct iovec text = {line, 0};
    const struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
    ssize_t sent;
    text.iov_len = (size_t)cpubind_ask_format(asked, line);
    if (text.iov_len >= sizeof line)
        return cpubind_fault_of(EMSGSIZE, "request");
    /* A new socket has room for more than a request. */
    CPUBIND_RETRY(sent, sys->sendmsg(fd, &message, MSG_NOSIGNAL));
    if (sent < 0) /* an older service reads no more than it knows, and has closed */
        return cpubind_fault_of(errno == EPIPE ? ENOMSG
                                : errno        ? errno
                                               : EIO,
                                errno == EPIPE ? "answer" : "sendmsg");
    return cpubind_fault_of((size_t)sent == text.iov_len ? 0 : EPROTO, "sendmsg");
}

/* Drops an early line. Returns whether there was one. */
static int take_early(cpubind_bytes *answer)
{
    const int32_t n = (int32_t)sizeof CPUBIND_ASK_EARLY - 1;
    if (answer->len < n || memcmp(answer->data, CPUBIND_ASK_EARLY, (size_t)n) != 0)
        return 0;
    answer->len -= n;
    memmove(answer->data, answer->data + n, (size_t)answer->len);
    return 1;
}

/* Reads to the end of the stream, after an early line. */
static cpubind_linux_fault read_lines(const cpubind_sys *sys, int fd, int64_t until_ms,
                                      cpubind_asking *a, cpubind_bytes *answer)
{
    const char *what = "answer";
    for (;;) {
        cpubind_linux_fault why = cpubind_wait_for(sys, fd, POLLIN, until_ms, what);
        ssize_t got;
        if (!why.error)
            why = cpubind_bytes_reserve(answer, sys, 65536);
        if (why.error)
            return why;
        got = sys->recv(fd, answer->data + answer->len, 65536, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return cpubind_fault_of(errno == ECONNRESET ? ENOMSG
                                    : errno             ? errno
                                                        : EIO,
                                    errno == ECONNRESET ? "answer" : "recv");
        if (got == 0)
            return cpubind_no_fault;
        answer->len += (int32_t)got;
        if (answer->len > CPUBIND_ANSWER_MAX)
            return cpubind_fault_of(EFBIG, "answer");
        if (a->limit_ms == 0)
            until_ms = cpubind_now_ms() + CPUBIND_ANSWER_LIMIT_MS;
        if (*what == 'a' && take_early(answer)) {
            what = "work";
            a->is_accepted = 1;
            if (a->is_enough)
                return cpubind_no_fault;
            if (a->at_work)
                a->at_work(a->ctx);
        }
    }
}

/* The last byte is the line feed, which is dropped. */
static cpubind_linux_fault end_answer(cpubind_bytes *answer)
{
    if (answer->len < 2 ||
        memchr(answer->data, '\n', (size_t)answer->len) != answer->data + answer->len - 1)
        return cpubind_fault_of(answer->len == 0 ? ENOMSG : EPROTO, "answer");
    answer->data[--answer->len] = '\0';
    return cpubind_no_fault;
}

static cpubind_linux_fault talk(const cpubind_sys *sys, int fd, const struct sockaddr_un *to,
                                cpubind_asking *a, cpubind_bytes *answer)
{
    const int64_t until_ms =
        cpubind_now_ms() + (a->limit_ms > 0 ? a->limit_ms : CPUBIND_ANSWER_FIRST_MS);
    cpubind_peer peer = {.pid = 0};
    cpubind_linux_fault why = cpubind_connect(sys, fd, to, until_ms);
    if (!why.error)
        why = cpubind_ask_read_peer(sys, fd, &peer);
    if (!why.error && !peer.is_owner)
        why = cpubind_fault_of(EPERM, "peer");
    if (why.error)
        return why;
    a->pid = peer.pid;
    why = send_request(sys, fd, &a->asked);
    if (!why.error)
        why = read_lines(sys, fd, until_ms, a, answer);
    if (!why.error && !(a->is_enough && a->is_accepted))
        why = end_answer(answer);
    return why;
}

cpubind_linux_fault cpubind_service_ask(const cpubind_sys *sys, cpubind_asking *asking,
                                        cpubind_bytes *answer)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    cpubind_linux_fault why = choose_socket(sys, asking->path, &to);
    int fd;
    asking->pid = asking->is_accepted = 0;
    if (!why.error)
        why = check_owner(sys, to.sun_path);
    if (why.error)
        return why;
    fd = sys->socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return cpubind_fault_errno("socket");
    why = talk(sys, fd, &to, asking, answer);
    (void)sys->close(fd);
    return why;
}
