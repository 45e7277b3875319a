/* server.c - answer the clients that ask the service
 * SPDX-License-Identifier: MIT
 *
 * Moves bytes; the engine makes the answers. All sockets are without blocking.
 */
#define _GNU_SOURCE
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/un.h>

#include "../linux/kernel/files.h"

#define PAUSE_MS 1000 /* after a failure of accept, such as EMFILE */

/* == Clients ================================================================ */

static void drop(cpubind_server *s, cpubind_client *c)
{
    (void)s->sys->epoll_set(s->epoll_fd, c->fd, 0);
    (void)s->sys->close(c->fd);
    cpubind_bytes_free(&c->answer);
    *c = (cpubind_client){.fd = -1};
}

/* Sends as much of the answer as the socket takes. */
static void send_answer(cpubind_server *s, cpubind_client *c)
{
    while (c->n_sent < c->answer.len) {
        struct iovec text = {c->answer.data + c->n_sent, (size_t)(c->answer.len - c->n_sent)};
        const struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
        ssize_t sent;
        CPUBIND_RETRY(sent, s->sys->sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
        if (sent < 0 && errno == EAGAIN && s->sys->epoll_set(s->epoll_fd, c->fd, EPOLLOUT) == 0)
            return;
        if (sent <= 0)
            break;
        c->n_sent += (int32_t)sent;
    }
    drop(s, c);
}

/* Reads what has come. Only the one request is read: a client that sends more is dropped. */
static void read_request(cpubind_server *s, cpubind_client *c)
{
    cpubind_ask ask = CPUBIND_ASK_STATUS;
    cpubind_text_status status;
    ssize_t got;
    CPUBIND_RETRY(got, s->sys->recv(c->fd, c->request + c->n_request,
                                    sizeof c->request - (size_t)c->n_request, MSG_DONTWAIT));
    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0) {
        drop(s, c);
        return;
    }
    c->n_request += (int32_t)got;
    status = cpubind_ask_parse(c->request, c->n_request, &ask, NULL);
    if (status == CPUBIND_TEXT_ERR_CUT)
        return;
    if (status != CPUBIND_TEXT_OK || !s->answer(s->ctx, ask, &c->answer))
        drop(s, c);
    else
        send_answer(s, c);
}

/* == The socket ============================================================= */

static void accept_one(cpubind_server *s)
{
    cpubind_client *free_one = NULL;
    const int fd = s->sys->accept(s->fd);
    if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        /* The connection stays in the queue and would wake the service at once. */
        (void)s->sys->epoll_set(s->epoll_fd, s->fd, 0);
        s->paused_until_ms = cpubind_now_ms() + PAUSE_MS;
    }
    if (fd < 0)
        return;
    for (int i = 0; i < CPUBIND_MAX_CLIENTS && !free_one; i++)
        if (s->client[i].fd < 0)
            free_one = &s->client[i];
    if (!free_one || cpubind_ask_check_peer(s->sys, fd).error ||
        s->sys->epoll_set(s->epoll_fd, fd, EPOLLIN) < 0) {
        (void)s->sys->close(fd);
        return;
    }
    *free_one =
        (cpubind_client){.fd = fd, .until_ms = cpubind_now_ms() + CPUBIND_CLIENT_LIMIT_MS};
}

void cpubind_server_event(cpubind_server *s, int fd)
{
    if (fd == s->fd && fd >= 0)
        accept_one(s);
    for (int i = 0; i < CPUBIND_MAX_CLIENTS && fd != s->fd; i++) {
        cpubind_client *c = &s->client[i];
        if (c->fd != fd)
            continue;
        if (c->answer.len > 0)
            send_answer(s, c);
        else
            read_request(s, c);
        return;
    }
}

int64_t cpubind_server_tick(cpubind_server *s, int64_t now_ms)
{
    int64_t next_ms = 0;
    if (s->paused_until_ms && now_ms >= s->paused_until_ms) {
        s->paused_until_ms =
            s->sys->epoll_set(s->epoll_fd, s->fd, EPOLLIN) < 0 ? now_ms + PAUSE_MS : 0;
    }
    next_ms = s->paused_until_ms;
    for (int i = 0; i < CPUBIND_MAX_CLIENTS; i++) {
        cpubind_client *c = &s->client[i];
        if (c->fd >= 0 && now_ms >= c->until_ms)
            drop(s, c);
        if (c->fd >= 0 && (next_ms == 0 || c->until_ms < next_ms))
            next_ms = c->until_ms;
    }
    return next_ms;
}

/* Checks the folder of the socket, and removes a socket that is left in it. */
static cpubind_linux_fault make_way(const cpubind_sys *sys, const char *path)
{
    char folder[108];
    const char *slash = strrchr(path, '/');
    struct stat st;
    (void)snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path),
                   path);
    if (sys->statat(AT_FDCWD, folder, &st) < 0)
        return cpubind_fault_errno("folder");
    if (st.st_uid != sys->geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
        return cpubind_fault_of(EPERM, "folder");
    if (sys->statat(AT_FDCWD, path, &st) < 0)
        return cpubind_no_fault;
    if (!S_ISSOCK(st.st_mode))
        return cpubind_fault_of(EEXIST, "socket");
    if (sys->unlinkat(AT_FDCWD, path, 0) < 0 && errno != ENOENT)
        return cpubind_fault_errno("unlink");
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_server_open(cpubind_server *s, const char *path)
{
    const cpubind_sys *sys = s->sys;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    cpubind_linux_fault why;
    s->fd = -1;
    s->path[0] = '\0';
    s->paused_until_ms = 0;
    for (int i = 0; i < CPUBIND_MAX_CLIENTS; i++)
        s->client[i] = (cpubind_client){.fd = -1};
    if (!path)
        return cpubind_no_fault;
    if (strlen(path) >= sizeof s->path)
        return cpubind_fault_of(ENAMETOOLONG, "socket");
    why = make_way(sys, path);
    if (why.error)
        return why;
    memcpy(at.sun_path, path, strlen(path) + 1);
    s->fd = sys->socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0)
        return cpubind_fault_errno("socket");
    /* The name is made with the mode of the socket: there is no moment in which it is open. */
    if (sys->fchmod(s->fd, 0600) < 0)
        return cpubind_fault_errno("fchmod");
    if (sys->bind(s->fd, (struct sockaddr *)&at, (socklen_t)sizeof at) < 0)
        return cpubind_fault_errno("bind");
    memcpy(s->path, path, strlen(path) + 1);
    if (sys->listen(s->fd, CPUBIND_MAX_CLIENTS) < 0)
        return cpubind_fault_errno("listen");
    return sys->epoll_set(s->epoll_fd, s->fd, EPOLLIN) < 0 ? cpubind_fault_errno("epoll")
                                                           : cpubind_no_fault;
}

void cpubind_server_close(cpubind_server *s)
{
    for (int i = 0; i < CPUBIND_MAX_CLIENTS; i++)
        if (s->client[i].fd >= 0)
            drop(s, &s->client[i]);
    if (s->path[0])
        (void)s->sys->unlinkat(AT_FDCWD, s->path, 0);
    if (s->fd >= 0)
        (void)s->sys->close(s->fd);
    s->fd = -1;
    s->path[0] = '\0';
}
