/* nri_link.c - the connection of the plugin with the runtime
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "nri_link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "../linux/kernel/files.h"

#define READ_SIZE 65536

cpubind_linux_fault cpubind_nri_link_open(cpubind_nri_link *l, const char *path)
{
    const cpubind_sys *sys = &cpubind_sys_real;
    const struct timeval limit = {.tv_sec = CPUBIND_NRI_SEND_SECONDS};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int result;
    *l = (cpubind_nri_link){.fd = -1};
    if (strlen(path) >= sizeof to.sun_path)
        return cpubind_fault_of(ENAMETOOLONG, "connect");
    memcpy(to.sun_path, path, strlen(path) + 1);
    l->fd = sys->socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->fd < 0 || setsockopt(l->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0)
        return cpubind_fault_errno("socket");
    CPUBIND_RETRY(result, sys->connect(l->fd, (const struct sockaddr *)&to, sizeof to));
    return result < 0 ? cpubind_fault_errno("connect") : cpubind_no_fault;
}

void cpubind_nri_link_close(cpubind_nri_link *l)
{
    if (l->fd >= 0)
        (void)cpubind_sys_real.close(l->fd);
    cpubind_bytes_free(&l->trunk);
    cpubind_bytes_free(&l->stream[0]);
    cpubind_bytes_free(&l->stream[1]);
    cpubind_bytes_free(&l->sent);
    *l = (cpubind_nri_link){.fd = -1};
}

static void drop_first(cpubind_bytes *bytes, int32_t n)
{
    bytes->len -= n;
    if (bytes->len > 0 && n > 0)
        memmove(bytes->data, bytes->data + n, (size_t)bytes->len);
}

static cpubind_linux_fault append(cpubind_bytes *to, const char *data, int32_t n)
{
    return cpubind_bytes_add(to, &cpubind_sys_real, data, n);
}

/* Takes a whole message. Returns whether there is one. */
static int take_message(cpubind_nri_link *l, cpubind_nri_call *out, cpubind_linux_fault *why)
{
    for (int i = 0; i < 2 && !why->error; i++) {
        cpubind_nri_message m;
        cpubind_text_fault fault;
        cpubind_text_status status;
        drop_first(&l->stream[i], l->taken[i]);
        l->taken[i] = 0;
        status = cpubind_nri_message_parse(l->stream[i].data, l->stream[i].len, &m, &fault);
        if (status == CPUBIND_TEXT_OK) {
            l->taken[i] = m.at + m.len;
            *out = (cpubind_nri_call){(uint32_t)i + 1, m.stream, m.type,
                                      l->stream[i].data + m.at, m.len};
            return 1;
        }
        if (status != CPUBIND_TEXT_ERR_CUT)
            *why = cpubind_fault_of(EPROTO, fault.what);
    }
    return 0;
}

/* Moves the payload of a whole frame to its stream; those of other connections are dropped.
 * Returns whether there was one. */
static int take_frame(cpubind_nri_link *l, cpubind_linux_fault *why)
{
    cpubind_nri_frame f;
    cpubind_text_fault fault;
    const cpubind_text_status status =
        cpubind_nri_frame_parse(l->trunk.data, l->trunk.len, &f, &fault);
    if (status == CPUBIND_TEXT_ERR_CUT)
        return 0;
    if (status != CPUBIND_TEXT_OK) {
        *why = cpubind_fault_of(EPROTO, fault.what);
        return 0;
    }
    if (f.connection == CPUBIND_NRI_PLUGIN || f.connection == CPUBIND_NRI_RUNTIME)
        *why = append(&l->stream[f.connection - 1], l->trunk.data + f.at, f.len);
    drop_first(&l->trunk, f.at + f.len);
    return !why->error;
}

static cpubind_linux_fault read_more(cpubind_nri_link *l)
{
    const cpubind_linux_fault why =
        cpubind_bytes_reserve(&l->trunk, &cpubind_sys_real, READ_SIZE);
    ssize_t got;
    if (why.error)
        return why;
    CPUBIND_RETRY(got,
                  cpubind_sys_real.recv(l->fd, l->trunk.data + l->trunk.len, READ_SIZE, 0));
    if (got < 0)
        return cpubind_fault_errno("recv");
    l->trunk.len += (int32_t)got;
    return cpubind_fault_of(got > 0 ? 0 : ENOTCONN, "end");
}

cpubind_linux_fault cpubind_nri_link_take(cpubind_nri_link *l, cpubind_nri_call *out)
{
    cpubind_linux_fault why = cpubind_no_fault;
    while (!take_message(l, out, &why) && !why.error)
        if (!take_frame(l, &why) && !why.error)
            why = read_more(l);
    return why;
}

cpubind_linux_fault cpubind_nri_link_send(cpubind_nri_link *l, uint32_t connection,
                                          uint32_t stream, int32_t type,
                                          const cpubind_bytes *data)
{
    size_t size, at = 0;
    cpubind_linux_fault why;
    if (data->len > CPUBIND_NRI_DATA_MAX)
        return cpubind_fault_of(EMSGSIZE, "message");
    size = cpubind_nri_framed_size(data->len);
    l->sent.len = 0;
    why = cpubind_bytes_reserve(&l->sent, &cpubind_sys_real, (int32_t)size);
    if (why.error)
        return why;
    cpubind_nri_write(connection, stream, type, data->data, data->len, l->sent.data);
    while (at < size) {
        ssize_t n;
        CPUBIND_RETRY(n, send(l->fd, l->sent.data + at, size - at, MSG_NOSIGNAL));
        if (n < 0)
            return cpubind_fault_errno("send");
        at += (size_t)n;
    }
    return cpubind_no_fault;
}
