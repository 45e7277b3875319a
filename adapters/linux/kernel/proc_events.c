/* proc_events.c - events of the kernel about threads: births, new names, other programs
 * SPDX-License-Identifier: MIT
 *
 * A filter in the kernel drops events that nobody asks for, so that they wake nobody; where
 * the filter cannot be set they are dropped here. Messages of another sender than the kernel
 * are ignored. The bytes of a message are read by text/proc_connector.h.
 */
#define _GNU_SOURCE
#include "proc_events.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* One message has 76 bytes; a datagram has one message. */
#define DATAGRAM_MAX 1024

/* Events that fit in a datagram of this size. */
#define MAX_EVENTS (DATAGRAM_MAX / NLMSG_HDRLEN)

/* Datagrams that one call reads: it ends, even if they come faster than it reads them. */
#define MAX_DATAGRAMS 4096

/* Bytes that the kernel may keep for this process: it counts about 800 a message. */
#define BUFFER_BYTES (4 << 20)

/* == The filter ============================================================= */

#define AT_IDX   (NLMSG_HDRLEN + offsetof(struct cn_msg, id.idx))
#define AT_EVENT (NLMSG_HDRLEN + sizeof(struct cn_msg))
#define AT_WHAT  (AT_EVENT + offsetof(struct proc_event, what))
#define AT_BIRTH (AT_EVENT + offsetof(struct proc_event, event_data.fork.child_tgid))
#define AT_NAME  (AT_EVENT + offsetof(struct proc_event, event_data.comm.process_tgid))

#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
/* Goes on, or skips as many instructions when the number is, or is not, the loaded one. */
#define SKIP(number, is, is_not) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(number), is, is_not)

/* Processes that the filter picks: a jump goes 255 instructions far. */
#define MAX_CHOSEN 240

/* It is only there to save time: without it all events come. */
void cpubind_proc_events_choose(const cpubind_sys *sys, int fd, const int32_t *pid, int32_t n,
                                int has_others)
{
    enum { NAME = 7, BIRTH = 9, FIRST = 10 }; /* places in the program */
    struct sock_filter code[FIRST + MAX_CHOSEN + 3];
    const int is_all = n > MAX_CHOSEN;
    const unsigned end = FIRST + (is_all ? 0 : (unsigned)n), drop = end + 1, take = end + 2;
    const struct sock_filter start[FIRST] = {
        LOAD((uint32_t)AT_IDX),
        SKIP(CN_IDX_PROC, 0, (uint8_t)(take - 2)),
        LOAD((uint32_t)AT_WHAT),
        SKIP(PROC_EVENT_NONE, (uint8_t)(take - 4), 0),
        SKIP(PROC_EVENT_FORK, (uint8_t)((has_others ? take : BIRTH) - 5), 0),
        SKIP(PROC_EVENT_EXEC, (uint8_t)((has_others ? take : NAME) - 6), 0),
        SKIP(PROC_EVENT_COMM, 0, (uint8_t)(drop - 7)),
        LOAD((uint32_t)AT_NAME),
        BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
        LOAD((uint32_t)AT_BIRTH),
    };
    const struct sock_fprog program = {(unsigned short)(take + 1), code};
    memcpy(code, start, sizeof start);
    for (unsigned at = FIRST; at < end; at++)
        code[at] =
            (struct sock_filter)SKIP((uint32_t)pid[at - FIRST], (uint8_t)(take - at - 1), 0);
    code[end] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, is_all ? UINT32_MAX : 0);
    code[drop] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
    code[take] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
    (void)sys->setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

/* == Asking the kernel ====================================================== */

/* struct cn_msg ends with an array without a length, which no other struct may contain. */
typedef struct request {
    struct nlmsghdr head;
    struct cb_id id;
    uint32_t seq, ack;
    uint16_t len, flags;
    uint32_t operation;
} request;

_Static_assert(sizeof(request) == NLMSG_HDRLEN + sizeof(struct cn_msg) + sizeof(uint32_t),
               "a request has no holes");

static cpubind_linux_fault send_request(const cpubind_sys *sys, int fd, uint32_t operation,
                                        uint32_t ack)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    request r = {.head = {.nlmsg_len = sizeof r, .nlmsg_type = NLMSG_DONE},
                 .id = {CN_IDX_PROC, CN_VAL_PROC},
                 .ack = ack,
                 .len = sizeof r.operation,
                 .operation = operation};
    struct iovec bytes = {&r, sizeof r};
    const struct msghdr message = {
        .msg_name = &kernel, .msg_namelen = sizeof kernel, .msg_iov = &bytes, .msg_iovlen = 1};
    ssize_t n;
    CPUBIND_RETRY(n, sys->sendmsg(fd, &message, MSG_NOSIGNAL));
    return n < 0 ? cpubind_fault_errno("sendmsg") : cpubind_no_fault;
}

/* == Reading ================================================================ */

typedef struct datagram {
    cpubind_proc_event event[MAX_EVENTS];
    int32_t n;
    int is_lost; /* some or all of its events */
} datagram;

/* Reads one datagram. One that makes no sense may have held any event.
 *   errors  EAGAIN: none has come */
static cpubind_linux_fault read_datagram(const cpubind_sys *sys, int fd, datagram *out)
{
    char text[DATAGRAM_MAX];
    struct sockaddr_nl from = {0};
    socklen_t from_len = sizeof from;
    cpubind_proc_event_list list = {out->event, MAX_EVENTS, 0};
    ssize_t n;
    out->n = 0;
    out->is_lost = 0;
    CPUBIND_RETRY(n, sys->recvfrom(fd, text, sizeof text, MSG_DONTWAIT | MSG_TRUNC,
                                   (struct sockaddr *)&from, &from_len));
    if (n < 0 && errno != ENOBUFS && errno != ENOMEM)
        return cpubind_fault_errno("recvfrom");
    if (n >= 0 && (from_len != sizeof from || from.nl_family != AF_NETLINK || from.nl_pid != 0))
        return cpubind_no_fault;
    out->is_lost =
        n < 0 || n > (ssize_t)sizeof text ||
        cpubind_proc_connector_parse(text, (int32_t)n, &list, NULL) != CPUBIND_TEXT_OK;
    out->n = out->is_lost ? 0 : list.n;
    return cpubind_no_fault;
}

/* Reads up to the answer to a request, which the kernel has sent before sendmsg returned. */
static cpubind_linux_fault read_answer(const cpubind_sys *sys, int fd, uint32_t ack)
{
    for (int i = 0; i < MAX_DATAGRAMS; i++) {
        datagram d;
        const cpubind_linux_fault fault = read_datagram(sys, fd, &d);
        if (fault.error == EAGAIN)
            break;
        if (fault.error)
            return fault;
        for (int32_t k = 0; k < d.n; k++)
            if (d.event[k].kind == CPUBIND_PROC_EVENT_ANSWER &&
                d.event[k].ack == (int32_t)(ack + 1))
                return cpubind_fault_of(d.event[k].error, "answer");
    }
    return cpubind_fault_of(ENOMSG, "answer");
}

cpubind_linux_fault cpubind_proc_events_open(const cpubind_sys *sys, int *fd)
{
    const int buffer_bytes = BUFFER_BYTES;
    const struct sockaddr_nl own = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
    /* Answers go to all listeners: the number tells which is the one to this request. */
    const uint32_t ack = (uint32_t)getpid() << 8 ^ (uint32_t)cpubind_now_ms();
    cpubind_linux_fault fault = cpubind_no_fault;
    *fd = sys->socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
    if (*fd < 0)
        return cpubind_fault_errno("socket");
    cpubind_proc_events_choose(sys, *fd, NULL, 0, 0);
    (void)sys->setsockopt(*fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes);
    if (sys->bind(*fd, (const struct sockaddr *)&own, sizeof own) < 0)
        fault = cpubind_fault_errno("bind");
    if (!fault.error)
        fault = send_request(sys, *fd, PROC_CN_MCAST_LISTEN, ack);
    if (!fault.error)
        fault = read_answer(sys, *fd, ack);
    if (!fault.error)
        return fault;
    sys->close(*fd);
    *fd = -1;
    return fault;
}

cpubind_linux_fault cpubind_proc_events_each(const cpubind_sys *sys, int fd,
                                             cpubind_proc_events_take *take, void *ctx)
{
    static const cpubind_proc_event lost = {.kind = CPUBIND_PROC_EVENT_LOST};
    for (int i = 0; i < MAX_DATAGRAMS; i++) {
        datagram d;
        const cpubind_linux_fault fault = read_datagram(sys, fd, &d);
        if (fault.error)
            return fault.error == EAGAIN ? cpubind_no_fault : fault;
        if (d.is_lost)
            take(ctx, &lost);
        for (int32_t k = 0; k < d.n; k++)
            take(ctx, &d.event[k]);
    }
    return cpubind_no_fault;
}

void cpubind_proc_news_add(cpubind_proc_news *news, const cpubind_sys *sys,
                           const cpubind_proc_event *event)
{
    switch (event->kind) {
    case CPUBIND_PROC_EVENT_LOST:
    case CPUBIND_PROC_EVENT_EXEC:
        news->is_all = 1;
        return;
    case CPUBIND_PROC_EVENT_BIRTH:
    case CPUBIND_PROC_EVENT_NAME:
        if (cpubind_ids_add(&news->tids, sys, event->tid).error)
            news->is_all = 1; /* no memory for the number */
        return;
    case CPUBIND_PROC_EVENT_ANSWER:
    case CPUBIND_PROC_EVENT_END:
        return;
    }
}

void cpubind_proc_events_close(const cpubind_sys *sys, int fd)
{
    (void)send_request(sys, fd, PROC_CN_MCAST_IGNORE, 0);
    sys->close(fd);
}
