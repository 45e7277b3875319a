/* irqbalance_ban.c - banning interrupts: talking to irqbalance through its socket
 * SPDX-License-Identifier: MIT
 *
 * The protocol is documented in irqbalance(1) under "API". Versions 1.9 also behave like this:
 *   - a command is read once, at most 500 bytes of it; the rest is cut off, in the middle of a
 *     number too
 *   - "settings ban irqs " without a list bans interrupt 0, and without the blank it crashes;
 *     an empty list is "NONE"; 0 ends the list unless it is the first number
 *   - the only answer to a command is that the connection is closed once it was carried out
 *   - it dies of SIGPIPE when the connection is closed before it has answered, also much later
 *     when it was stopped or busy meanwhile. So cpubind first sends a command that has no
 *     answer, and "setup" only after the daemon has reacted
 *   - the abstract socket that it falls back to has a name of NUL bytes alone
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../text/irqbalance_reply.h"
#include "irqbalance.h"

/* The first command shows whether the daemon reacts. Later ones are waited for longer: it may
 * be looking at its interrupts, and closing the connection then would end it. */
#define FIRST_MS   1000
#define ANSWER_MS  10000
#define ANSWER_MAX (16 << 20)

/* No command of any version: the daemon closes the connection. */
#define FIRST_COMMAND "ping"

/* Bytes of a command that the daemon reads. */
#define COMMAND_MAX 500

/* How often a list is sent that another program replaces meanwhile. */
#define TRIES 3

/* == One command and its answer ============================================= */

typedef struct connection {
    const cpubind_sys *sys;
    int root, fd;
    int32_t pid;
    int64_t end_ms;
} connection;

/* EPROTO when another process listens: any user can take an abstract name. */
static cpubind_linux_fault check_peer(const connection *c)
{
    struct ucred peer = {0, 0, 0};
    socklen_t len = sizeof peer;
    if (c->sys->getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return cpubind_fault_errno("getsockopt");
    return cpubind_fault_of(peer.pid == c->pid ? 0 : EPROTO, "connect");
}

/* The names that the daemon may listen at: below /run, and two abstract ones. The kernel counts
 * all bytes of an abstract name, trailing NULs too, and the daemon passes the whole field. */
enum { N_ADDRESSES = 3 };

static void address_of(const connection *c, int i, struct sockaddr_un *out)
{
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    if (i == 0)
        snprintf(out->sun_path, sizeof out->sun_path,
                 "/proc/self/fd/%d/run/irqbalance/irqbalance%d.sock", c->root, (int)c->pid);
    if (i == 1)
        snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "irqbalance%d.sock", (int)c->pid);
}

/* Connects c->fd with the daemon. */
static cpubind_linux_fault open_connection(connection *c)
{
    cpubind_linux_fault fault;
    int is_another = 0;
    for (int i = 0; i < N_ADDRESSES; i++) {
        struct sockaddr_un address;
        address_of(c, i, &address);
        c->fd = c->sys->socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (c->fd < 0)
            return cpubind_fault_errno("socket");
        /* The daemon takes one connection at a time. */
        fault = cpubind_connect(c->sys, c->fd, &address, c->end_ms);
        if (!fault.error)
            fault = check_peer(c);
        if (!fault.error)
            return fault;
        c->sys->close(c->fd);
        if (fault.error != ENOENT && fault.error != ECONNREFUSED && fault.error != EPROTO)
            return fault;
        is_another |= fault.error == EPROTO;
    }
    return cpubind_fault_of(is_another ? EPROTO : ECONNREFUSED, "connect");
}

/* Sends the command with the credentials of this process, without which the daemon ignores
 * it. */
static cpubind_linux_fault send_command(const connection *c, const char *command, size_t len)
{
    union {
        struct cmsghdr head; /* aligns the bytes */
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    const struct ucred own = {getpid(), c->sys->geteuid(), getegid()};
    struct iovec data = {.iov_base = (char *)command, .iov_len = len};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    memset(&control, 0, sizeof control);
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_CREDENTIALS;
    control.head.cmsg_len = CMSG_LEN(sizeof own);
    memcpy(CMSG_DATA(&control.head), &own, sizeof own);
    for (;;) {
        ssize_t n;
        CPUBIND_RETRY(n, c->sys->sendmsg(c->fd, &message, MSG_NOSIGNAL));
        if (n >= 0)
            return cpubind_fault_of((size_t)n == len ? 0 : EIO, "send");
        cpubind_linux_fault fault =
            errno == EAGAIN ? cpubind_wait_for(c->sys, c->fd, POLLOUT, c->end_ms, "poll")
                            : cpubind_fault_errno("send");
        if (fault.error)
            return fault;
    }
}

/* Reads until the daemon closes the connection. */
static cpubind_linux_fault receive_answer(const connection *c, cpubind_bytes *answer)
{
    while (answer->len < ANSWER_MAX) {
        ssize_t n;
        cpubind_linux_fault fault = cpubind_bytes_reserve(answer, c->sys, COMMAND_MAX);
        if (fault.error)
            return fault;
        CPUBIND_RETRY(n, c->sys->recv(c->fd, answer->data + answer->len,
                                      (size_t)(answer->cap - answer->len), 0));
        if (n == 0)
            return cpubind_no_fault;
        if (n > 0)
            answer->len += (int32_t)n;
        else
            fault = errno == EAGAIN ? cpubind_wait_for(c->sys, c->fd, POLLIN, c->end_ms, "poll")
                                    : cpubind_fault_errno("receive");
        if (fault.error)
            return fault;
    }
    return cpubind_fault_of(EPROTO, "receive");
}

/* Sends one command and reads all of its answer. */
static cpubind_linux_fault ask(cpubind_root *root, int32_t pid, const char *command,
                               int limit_ms, cpubind_bytes *answer)
{
    connection c = {root->sys, root->fd, -1, pid, cpubind_now_ms() + limit_ms};
    cpubind_linux_fault fault = open_connection(&c);
    if (fault.error)
        return fault;
    fault = send_command(&c, command, strlen(command));
    if (!fault.error) {
        fault = receive_answer(&c, answer);
        if (fault.error) /* closing before the daemon has answered would end it */
            (void)cpubind_wait_for(c.sys, c.fd, POLLIN, c.end_ms, "poll");
    }
    root->sys->close(c.fd);
    return fault;
}

/* == Lists of interrupts ==================================================== */

static int is_same(const cpubind_ids *a, const cpubind_ids *b)
{
    return a->n == b->n &&
           (a->n == 0 || memcmp(a->id, b->id, (size_t)a->n * sizeof *a->id) == 0);
}

/* The numbers of `a` and those of `b`, or those of `a` that are not in `b`, sorted. */
static cpubind_linux_fault join(const cpubind_sys *sys, const cpubind_ids *a,
                                const cpubind_ids *b, int is_adding, cpubind_ids *out)
{
    cpubind_linux_fault fault = cpubind_no_fault;
    for (int32_t i = 0; !fault.error && i < a->n; i++)
        if (is_adding || !cpubind_ids_has(b, a->id[i]))
            fault = cpubind_ids_add(out, sys, a->id[i]);
    for (int32_t i = 0; !fault.error && is_adding && i < b->n; i++)
        fault = cpubind_ids_add(out, sys, b->id[i]);
    cpubind_ids_sort(out);
    return fault;
}

/* == The daemon's list of banned interrupts ================================= */

static cpubind_linux_fault read_list(cpubind_root *root, int32_t pid, cpubind_ids *out)
{
    cpubind_bytes answer = {NULL, 0, 0};
    cpubind_int_list list = {NULL, 0, 0};
    cpubind_linux_fault fault = ask(root, pid, FIRST_COMMAND, FIRST_MS, &answer);
    if (!fault.error && answer.len > 0)
        fault = cpubind_fault_of(EPROTO, "receive");
    if (!fault.error)
        fault = ask(root, pid, "setup", ANSWER_MS, &answer);
    if (!fault.error && answer.len == 0) /* not authorised: it closes the connection */
        fault = cpubind_fault_of(EACCES, "receive");
    if (!fault.error) { /* a number has two bytes at least, with its blank */
        list.cap = answer.len / 2 + 1;
        list.out = root->sys->malloc((size_t)list.cap * sizeof *list.out);
        *out = (cpubind_ids){list.out, 0, list.cap};
        if (!out->id)
            fault = cpubind_fault_of(ENOMEM, "memory");
    }
    if (!fault.error &&
        cpubind_irqbalance_parse(answer.data, answer.len, &list, NULL) != CPUBIND_TEXT_OK)
        fault = cpubind_fault_of(EPROTO, "receive");
    out->n = fault.error ? 0 : list.n;
    cpubind_ids_sort(out);
    cpubind_bytes_free(&answer);
    return fault;
}

/* The command that replaces the daemon's list by this one. */
static cpubind_linux_fault make_command(const cpubind_ids *list, char command[COMMAND_MAX + 1])
{
    int len = snprintf(command, COMMAND_MAX + 1, "settings ban irqs%s", list->n ? "" : " NONE");
    for (int32_t i = 0; i < list->n && len <= COMMAND_MAX; i++)
        len +=
            snprintf(command + len, (size_t)(COMMAND_MAX + 1 - len), " %d", (int)list->id[i]);
    return cpubind_fault_of(len <= COMMAND_MAX ? 0 : EMSGSIZE, "send");
}

static cpubind_linux_fault write_list(cpubind_root *root, int32_t pid, const cpubind_ids *list)
{
    char command[COMMAND_MAX + 1];
    cpubind_bytes answer = {NULL, 0, 0};
    cpubind_linux_fault fault = make_command(list, command);
    if (!fault.error)
        fault = ask(root, pid, command, ANSWER_MS, &answer);
    if (!fault.error && answer.len > 0)
        fault = cpubind_fault_of(EPROTO, "receive");
    cpubind_bytes_free(&answer);
    return fault;
}

/* Writes the list and reads it again. When the daemon has not kept it, *list becomes the one to
 * write next. */
static cpubind_linux_fault write_and_check(cpubind_root *root, int32_t pid,
                                           const cpubind_ids *own, int is_banning,
                                           cpubind_ids *list, int *is_kept)
{
    cpubind_ids found = {NULL, 0, 0}, next = {NULL, 0, 0};
    cpubind_linux_fault fault = write_list(root, pid, list);
    if (!fault.error)
        fault = read_list(root, pid, &found);
    if (!fault.error)
        fault = join(root->sys, &found, is_banning ? list : own, is_banning, &next);
    if (!fault.error) {
        *is_kept = is_same(&found, list);
        free(list->id);
        *list = next;
    } else {
        free(next.id);
    }
    free(found.id);
    return fault;
}

/* Changes the list from `before` to one with, or without, the numbers of `own`. */
static cpubind_linux_fault change_list(cpubind_root *root, int32_t pid,
                                       const cpubind_ids *before, const cpubind_ids *own,
                                       int is_banning)
{
    char command[COMMAND_MAX + 1];
    cpubind_ids list = {NULL, 0, 0};
    cpubind_linux_fault fault = join(root->sys, before, own, is_banning, &list);
    int is_kept = !fault.error && is_same(before, &list), n_written = 0;
    if (!fault.error && !is_kept)
        fault = make_command(&list, command);
    for (; !fault.error && !is_kept && n_written < TRIES; n_written++)
        fault = write_and_check(root, pid, own, is_banning, &list, &is_kept);
    if (!fault.error && !is_kept)
        fault = cpubind_fault_of(EPROTO, "send");
    if (fault.error && n_written)
        (void)write_list(root, pid, before);
    free(list.id);
    return fault;
}

/* == With the lock ========================================================== */

/* Takes the lock, checks that the daemon is the one that was found, and reads its list. *fd is
 * to be closed in any case. */
static cpubind_linux_fault lock_and_read(cpubind_root *root, const cpubind_irqbalance *daemon,
                                         int *fd, cpubind_ids *out)
{
    cpubind_linux_fault fault = cpubind_fault_of(daemon->pid > 0 ? 0 : ESRCH, "lock");
    if (!fault.error)
        fault = cpubind_irqbalance_lock(root, daemon->pid, fd);
    if (!fault.error)
        fault = cpubind_irqbalance_check(root, daemon);
    if (!fault.error)
        fault = read_list(root, daemon->pid, out);
    return fault;
}

static cpubind_linux_fault change(cpubind_root *root, const cpubind_irqbalance *daemon,
                                  const int32_t *irq, int32_t n, int is_banning)
{
    cpubind_ids own = {NULL, 0, 0}, before = {NULL, 0, 0};
    cpubind_linux_fault fault = cpubind_no_fault;
    int fd = -1;
    if (n == 0 && daemon->pid > 0)
        return cpubind_no_fault;
    for (int32_t i = 0; !fault.error && i < n; i++)
        fault = cpubind_ids_add(&own, root->sys, irq[i]);
    cpubind_ids_sort(&own);
    if (!fault.error)
        fault = lock_and_read(root, daemon, &fd, &before);
    if (!fault.error)
        fault = change_list(root, daemon->pid, &before, &own, is_banning);
    free(own.id);
    free(before.id);
    if (fd >= 0)
        root->sys->close(fd);
    return cpubind_fault_of(fault.error, is_banning ? "ban" : "unban");
}

cpubind_linux_fault cpubind_irqbalance_ban(cpubind_root *root, const cpubind_irqbalance *daemon,
                                           const int32_t *irq, int32_t n)
{
    return change(root, daemon, irq, n, 1);
}

cpubind_linux_fault cpubind_irqbalance_unban(cpubind_root *root,
                                             const cpubind_irqbalance *daemon,
                                             const int32_t *irq, int32_t n)
{
    return change(root, daemon, irq, n, 0);
}

cpubind_linux_fault cpubind_irqbalance_banned(cpubind_root *root,
                                              const cpubind_irqbalance *daemon,
                                              const int32_t *irq, int32_t n, int32_t *is_banned)
{
    cpubind_ids list = {NULL, 0, 0};
    int fd = -1;
    cpubind_linux_fault fault = lock_and_read(root, daemon, &fd, &list);
    for (int32_t i = 0; !fault.error && i < n; i++)
        is_banned[i] = cpubind_ids_has(&list, irq[i]);
    free(list.id);
    if (fd >= 0)
        root->sys->close(fd);
    return cpubind_fault_of(fault.error, "ban");
}
