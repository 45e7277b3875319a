/* http_get.c - one page of a server, over HTTP/1.0
 * SPDX-License-Identifier: MIT
 *
 * A server of HTTP/1.1 answers such a request with a page in one piece, and closes the
 * connection. Rules: RFC 9112, connect(2).
 */
#define _GNU_SOURCE
#include "http_get.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "kernel/files.h"

/* Bytes of a numeric host or of "localhost", with a NUL; and of the longest path. */
enum { HOST_SIZE = INET6_ADDRSTRLEN, PATH_MAX_BYTES = 4096 };

/* Bytes of one recv(2). */
enum { RECV_BYTES = 65536 };

typedef struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to;
    socklen_t len;
} address;

/* Returns 0 where the text is no IP address. */
static int make_address(const char *host, int32_t port, address *out)
{
    const in_port_t number = htons((uint16_t)port);
    *out = (address){.len = sizeof out->to.v4};
    out->to.v4.sin_family = AF_INET;
    out->to.v4.sin_port = number;
    if (inet_pton(AF_INET, host, &out->to.v4.sin_addr) == 1)
        return 1;
    *out = (address){.len = sizeof out->to.v6};
    out->to.v6.sin6_family = AF_INET6;
    out->to.v6.sin6_port = number;
    return inet_pton(AF_INET6, host, &out->to.v6.sin6_addr) == 1;
}

static cpubind_linux_fault connect_to(const cpubind_sys *sys, const address *a,
                                      int64_t until_ms, int *fd)
{
    int error = 0;
    socklen_t len = sizeof error;
    *fd = sys->socket(a->to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        return cpubind_fault_errno("socket");
    if (sys->connect(*fd, &a->to.any, a->len) == 0)
        return cpubind_no_fault;
    if (errno != EINPROGRESS && errno != EINTR) /* an interrupted one goes on as well */
        return cpubind_fault_errno("connect");
    const cpubind_linux_fault why = cpubind_wait_for(sys, *fd, POLLOUT, until_ms, "connect");
    if (why.error)
        return why;
    if (sys->getsockopt(*fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        return cpubind_fault_errno("getsockopt");
    return cpubind_fault_of(error, "connect");
}

/* Connects with the host; where it is localhost, with the first of its addresses that listens.
 *   out     *fd, -1 on failure */
static cpubind_linux_fault open_connection(const cpubind_sys *sys, const char *text,
                                           const cpubind_http_url *url, int64_t until_ms,
                                           int *fd)
{
    static const char *const local[] = {"127.0.0.1", "::1"};
    char host[HOST_SIZE];
    cpubind_linux_fault why = cpubind_fault_of(EINVAL, "address");
    address to;
    *fd = -1;
    if (url->host.len >= HOST_SIZE)
        return why;
    (void)snprintf(host, sizeof host, "%.*s", (int)url->host.len, text + url->host.at);
    const int is_local = strcmp(host, "localhost") == 0;
    for (int i = 0; i < 1 + is_local; i++) {
        if (!make_address(is_local ? local[i] : host, url->port, &to))
            return why;
        why = connect_to(sys, &to, until_ms, fd);
        if (!why.error)
            return why;
        if (*fd >= 0)
            (void)sys->close(*fd);
        *fd = -1;
        if (why.error != ECONNREFUSED)
            return why;
    }
    return why;
}

static cpubind_linux_fault send_request(const cpubind_sys *sys, int fd, const char *text,
                                        const cpubind_http_url *url, int64_t until_ms)
{
    char request[PATH_MAX_BYTES + 256];
    const int is_bare = url->path.len == 0;
    const int n =
        snprintf(request, sizeof request,
                 "GET %.*s HTTP/1.0\r\nHost: %.*s:%d\r\nAccept: text/plain\r\n\r\n",
                 is_bare ? (int)strlen(CPUBIND_HTTP_PATH) : (int)url->path.len,
                 is_bare ? CPUBIND_HTTP_PATH : text + url->path.at,
                 /* up to the port or the path, with the brackets */
                 (int)url->host.len + 2 * (text[url->host.at - 1] == '['),
                 text + url->host.at - (text[url->host.at - 1] == '['), (int)url->port);
    if (n < 0 || (size_t)n >= sizeof request)
        return cpubind_fault_of(ENAMETOOLONG, "address");
    for (int at = 0; at < n;) {
        struct iovec part = {request + at, (size_t)(n - at)};
        const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        const ssize_t sent = sys->sendmsg(fd, &message, MSG_NOSIGNAL);
        cpubind_linux_fault why = cpubind_no_fault;
        if (sent >= 0)
            at += (int)sent;
        else if (errno == EAGAIN)
            why = cpubind_wait_for(sys, fd, POLLOUT, until_ms, "answer");
        else if (errno != EINTR)
            why = cpubind_fault_errno("send");
        if (why.error)
            return why;
    }
    return cpubind_no_fault;
}

/* Reads more of the answer.
 *   out     *is_end: the server has closed the connection */
static cpubind_linux_fault receive(const cpubind_sys *sys, int fd, int64_t until_ms,
                                   cpubind_bytes *answer, int *is_end)
{
    ssize_t got;
    cpubind_linux_fault why = cpubind_wait_for(sys, fd, POLLIN, until_ms, "answer");
    if (!why.error)
        why = cpubind_bytes_reserve(answer, sys, RECV_BYTES);
    if (why.error)
        return why;
    got = sys->recv(fd, answer->data + answer->len, RECV_BYTES, 0);
    if (got < 0)
        return cpubind_fault_of(errno == EINTR || errno == EAGAIN ? 0
                                : errno                           ? errno
                                                                  : EIO,
                                "receive");
    answer->len += (int32_t)got;
    *is_end = got == 0;
    return cpubind_no_fault;
}

static cpubind_linux_fault read_answer(const cpubind_sys *sys, int fd, int64_t until_ms,
                                       int32_t max, cpubind_http_head *head,
                                       cpubind_bytes *answer)
{
    cpubind_linux_fault why = cpubind_no_fault;
    int is_end = 0;
    *head = (cpubind_http_head){.len = 0};
    while (!why.error) {
        if (head->len == 0 && answer->len > 0) {
            const cpubind_text_status status =
                cpubind_http_head_parse(answer->data, answer->len, head, NULL);
            if ((status != CPUBIND_TEXT_OK && status != CPUBIND_TEXT_ERR_CUT) || head->is_coded)
                return cpubind_fault_of(EPROTO, "answer");
            if (status != CPUBIND_TEXT_OK && answer->len > CPUBIND_HTTP_HEAD_MAX)
                return cpubind_fault_of(EFBIG, "answer");
        }
        const int32_t got = answer->len - head->len;
        if (head->len > 0 && (head->page_len > max || got > max))
            return cpubind_fault_of(EFBIG, "answer");
        if (head->len > 0 && head->page_len >= 0 && got >= head->page_len) {
            answer->len = head->len + head->page_len;
            return cpubind_no_fault;
        }
        if (is_end)
            return cpubind_fault_of(head->len == 0 || head->page_len >= 0 ? ENOMSG : 0,
                                    "answer");
        why = receive(sys, fd, until_ms, answer, &is_end);
    }
    return why;
}

cpubind_linux_fault cpubind_http_get(const cpubind_sys *sys, const char *text,
                                     const cpubind_http_url *url, int32_t limit_ms, int32_t max,
                                     cpubind_http_head *head, cpubind_bytes *answer)
{
    const int64_t until_ms = cpubind_now_ms() + limit_ms;
    int fd;
    cpubind_linux_fault why = open_connection(sys, text, url, until_ms, &fd);
    if (!why.error)
        why = send_request(sys, fd, text, url, until_ms);
    if (!why.error)
        why = read_answer(sys, fd, until_ms, max, head, answer);
    if (fd >= 0)
        (void)sys->close(fd);
    return why;
}
