/* kubelet_call.c - asks the kubelet of this node for its list of pods and their resources
 * SPDX-License-Identifier: MIT
 *
 * libnghttp2 makes and reads the frames of HTTP/2; this file moves their bytes, and keeps what
 * gRPC says in headers and trailers.
 */
#define _GNU_SOURCE
#include "kubelet_call.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "../linux/kernel/files.h"
#include "../text/cursor.h"
#include "kubelet_answer.h"

#define METHOD "/v1.PodResourcesLister/List"

enum {
    PAUSE_MS = 20, /* between two tries where the queue of connections is full */
    RECV_BYTES = 16384
};

/* One call. */
typedef struct kubelet_link {
    const cpubind_sys *sys;
    cpubind_kubelet_call *call;
    cpubind_bytes *answer;
    int64_t until_ms;
    int fd;
    nghttp2_session *session;
    cpubind_linux_fault why; /* of a callback */
    int32_t n_asked;         /* bytes of the request that were given to the library */
    int is_http, is_grpc;    /* status 200; the type of the content */
    int has_status;          /* call->status is that of the answer */
    int is_ended;            /* the stream is closed */
} kubelet_link;

/* == What the library asks and tells ======================================== */

/* The request is an empty message: five bytes 0. */
static ssize_t give_request(nghttp2_session *session, int32_t stream, uint8_t *out, size_t cap,
                            uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
    kubelet_link *l = (kubelet_link *)ctx;
    int32_t n = CPUBIND_KUBELET_HEAD - l->n_asked;
    (void)session;
    (void)stream;
    (void)source;
    if ((size_t)n > cap)
        n = (int32_t)cap;
    memset(out, 0, (size_t)n);
    l->n_asked += n;
    if (l->n_asked == CPUBIND_KUBELET_HEAD)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return n;
}

/* Keeps the reason of a refusal, whose bytes are written as %XX. */
static void keep_message(char out[CPUBIND_KUBELET_MESSAGE_SIZE], const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n + 1 < CPUBIND_KUBELET_MESSAGE_SIZE; i++) {
        char byte = text[i];
        if (byte == '%' && len - i > 2 && cursor_is_hex(text[i + 1]) &&
            cursor_is_hex(text[i + 2])) {
            byte = (char)(cursor_hex_value(text[i + 1]) << 4 | cursor_hex_value(text[i + 2]));
            i += 2;
        }
        out[n++] = (char)(byte ? byte : '?');
    }
    out[n] = '\0';
}

static int is_word(const uint8_t *text, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(text, word, len) == 0;
}

static int take_header(nghttp2_session *session, const nghttp2_frame *frame,
                       const uint8_t *name, size_t n_name, const uint8_t *value, size_t n_value,
                       uint8_t flags, void *ctx)
{
    static const char type[] = "application/grpc";
    kubelet_link *l = (kubelet_link *)ctx;
    (void)session;
    (void)frame;
    (void)flags;
    if (is_word(name, n_name, ":status")) {
        l->is_http = is_word(value, n_value, "200");
    } else if (is_word(name, n_name, "content-type")) {
        l->is_grpc = n_value >= sizeof type - 1 && memcmp(value, type, sizeof type - 1) == 0;
    } else if (is_word(name, n_name, "grpc-status")) {
        l->has_status = n_value > 0 && n_value <= 2;
        l->call->status = 0;
        for (size_t i = 0; i < n_value && l->has_status; i++) {
            l->has_status = value[i] >= '0' && value[i] <= '9';
            l->call->status = l->call->status * 10 + value[i] - '0';
        }
    } else if (is_word(name, n_name, "grpc-message")) {
        keep_message(l->call->message, (const char *)value, n_value);
    }
    return 0;
}

static int take_data(nghttp2_session *session, uint8_t flags, int32_t stream,
                     const uint8_t *data, size_t len, void *ctx)
{
    kubelet_link *l = (kubelet_link *)ctx;
    (void)session;
    (void)flags;
    (void)stream;
    if (len > (size_t)(l->call->max - l->answer->len))
        l->why = cpubind_fault_of(EFBIG, "answer");
    else
        l->why = cpubind_bytes_reserve(l->answer, l->sys, (int32_t)len);
    if (l->why.error)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    if (len > 0)
        memcpy(l->answer->data + l->answer->len, data, len);
    l->answer->len += (int32_t)len;
    return 0;
}

static int take_end(nghttp2_session *session, int32_t stream, uint32_t error, void *ctx)
{
    (void)session;
    (void)stream;
    (void)error;
    ((kubelet_link *)ctx)->is_ended = 1;
    return 0;
}

/* The fault of a function of the library, whose numbers are negative. */
static cpubind_linux_fault fault_of(const kubelet_link *l, ssize_t result)
{
    if (l->why.error)
        return l->why;
    return result == NGHTTP2_ERR_NOMEM ? cpubind_fault_of(ENOMEM, "memory")
                                       : cpubind_fault_of(EPROTO, "answer");
}

/* == The call =============================================================== */

/* A full queue of connections is EAGAIN: kubelet is too busy, or hangs. */
static cpubind_linux_fault connect_to(kubelet_link *l)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const size_t n = strlen(l->call->path);
    if (n >= sizeof to.sun_path)
        return cpubind_fault_of(ENAMETOOLONG, "connect");
    memcpy(to.sun_path, l->call->path, n + 1);
    l->fd = l->sys->socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return cpubind_fault_errno("socket");
    for (;;) {
        int result;
        CPUBIND_RETRY(result, l->sys->connect(l->fd, (const struct sockaddr *)&to, sizeof to));
        if (result == 0)
            return cpubind_no_fault;
        if (errno == ENOTDIR)
            return cpubind_fault_of(ENOENT, "connect");
        if (errno != EAGAIN)
            return cpubind_fault_errno("connect");
        if (cpubind_now_ms() >= l->until_ms)
            return cpubind_fault_of(ETIMEDOUT, "connect");
        (void)l->sys->poll(NULL, 0, PAUSE_MS);
    }
}

static nghttp2_nv header(const char *name, const char *value)
{
    /* The library copies both, and writes neither. */
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
                        NGHTTP2_NV_FLAG_NONE};
}

static cpubind_linux_fault make_request(kubelet_link *l)
{
    const nghttp2_data_provider body = {.read_callback = give_request};
    const nghttp2_settings_entry no_push = {NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
    nghttp2_session_callbacks *calls = NULL;
    nghttp2_nv headers[7];
    char limit[24];
    int result = nghttp2_session_callbacks_new(&calls);
    if (result != 0)
        return fault_of(l, result);
    nghttp2_session_callbacks_set_on_header_callback(calls, take_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, take_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(calls, take_end);
    result = nghttp2_session_client_new(&l->session, calls, l);
    nghttp2_session_callbacks_del(calls);
    if (result != 0)
        return fault_of(l, result);
    (void)snprintf(limit, sizeof limit, "%dm", (int)l->call->limit_ms);
    headers[0] = header(":method", "POST");
    headers[1] = header(":scheme", "http");
    headers[2] = header(":path", METHOD);
    headers[3] = header(":authority", "localhost");
    headers[4] = header("content-type", "application/grpc");
    headers[5] = header("te", "trailers");
    headers[6] = header("grpc-timeout", limit);
    result = nghttp2_submit_settings(l->session, NGHTTP2_FLAG_NONE, &no_push, 1);
    if (result == 0)
        result = nghttp2_submit_request(l->session, NULL, headers, 7, &body, NULL);
    return result < 0 ? fault_of(l, result) : cpubind_no_fault;
}

static cpubind_linux_fault send_all(kubelet_link *l)
{
    for (;;) {
        const uint8_t *data;
        ssize_t n = nghttp2_session_mem_send(l->session, &data), sent = 0;
        if (n <= 0)
            return n < 0 ? fault_of(l, n) : cpubind_no_fault;
        while (n > 0) {
            struct iovec part = {(void *)data, (size_t)n};
            const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
            cpubind_linux_fault why = cpubind_no_fault;
            sent = l->sys->sendmsg(l->fd, &message, MSG_NOSIGNAL);
            if (sent >= 0) {
                data += sent;
                n -= sent;
            } else if (errno == EAGAIN) {
                why = cpubind_wait_for(l->sys, l->fd, POLLOUT, l->until_ms, "answer");
            } else if (errno == EPIPE) {
                return cpubind_fault_of(ENOMSG, "answer");
            } else if (errno != EINTR) {
                why = cpubind_fault_errno("send");
            }
            if (why.error)
                return why;
        }
    }
}

static cpubind_linux_fault receive(kubelet_link *l)
{
    uint8_t data[RECV_BYTES];
    ssize_t n, used;
    const cpubind_linux_fault why =
        cpubind_wait_for(l->sys, l->fd, POLLIN, l->until_ms, "answer");
    if (why.error)
        return why;
    n = l->sys->recv(l->fd, data, sizeof data, 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return cpubind_no_fault;
    if (n == 0 || (n < 0 && errno == ECONNRESET))
        return cpubind_fault_of(ENOMSG, "answer");
    if (n < 0)
        return cpubind_fault_errno("receive");
    used = nghttp2_session_mem_recv(l->session, data, (size_t)n);
    return used < 0 ? fault_of(l, used) : cpubind_no_fault;
}

/* What an answer that has ended says. */
static cpubind_linux_fault judge(const kubelet_link *l)
{
    if (!l->is_http || !l->is_grpc)
        return cpubind_fault_of(EPROTO, "answer");
    if (!l->has_status)
        return cpubind_fault_of(ENOMSG, "answer");
    return cpubind_fault_of(l->call->status != 0 ? EREMOTEIO : 0, "answer");
}

static cpubind_linux_fault talk(kubelet_link *l)
{
    cpubind_linux_fault why = connect_to(l);
    if (!why.error)
        why = make_request(l);
    while (!why.error && !l->is_ended) {
        why = send_all(l);
        if (!why.error && !nghttp2_session_want_read(l->session))
            why = cpubind_fault_of(EPROTO, "answer");
        if (!why.error)
            why = receive(l);
    }
    return why.error ? why : judge(l);
}

cpubind_linux_fault cpubind_kubelet_list(const cpubind_sys *sys, cpubind_kubelet_call *call,
                                         cpubind_bytes *answer)
{
    kubelet_link l = {.sys = sys,
                      .call = call,
                      .answer = answer,
                      .until_ms = cpubind_now_ms() + call->limit_ms,
                      .fd = -1};
    cpubind_linux_fault why;
    call->status = 0;
    call->message[0] = '\0';
    why = talk(&l);
    nghttp2_session_del(l.session);
    if (l.fd >= 0)
        (void)sys->close(l.fd);
    return why;
}
