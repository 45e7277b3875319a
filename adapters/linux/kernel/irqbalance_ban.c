/* irqbalance_ban.c - telling the daemon that moves interrupts to leave some alone
 * SPDX-License-Identifier: MIT
 *
 * What it understands stands in irqbalance(1) under "API". What versions 1.9 do beyond that:
 *   - a command is read once, at most 500 bytes of it; the rest is cut off, in the middle of a
 *     number too
 *   - "settings ban irqs " without a list bans interrupt 0, and without the blank it crashes;
 *     an empty list is "NONE"; 0 ends the list unless it is the first number
 *   - a command has no answer but that the connection is closed once it was carried out
 *   - it dies of SIGPIPE when the connection is closed before it has answered: later too, when
 *     it was stopped or busy meanwhile. So it is asked something that has no answer first, and
 *     "setup" only when it has shown to be there
 *   - the abstract socket that it falls back to has a name of NUL bytes alone
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../../text/irqbalance_reply.h"
#include "../common.h"
#include "irq.h"

/* The first question shows whether it is there. What follows is waited for longer: it may have
 * begun to look at its interrupts, and giving up would end it. */
#define FIRST_MS   1000
#define ANSWER_MS  10000
#define LOCK_MS    3000
#define PAUSE_MS   5
#define ANSWER_MAX (16 << 20)

/* No command of any version: it hangs up. */
#define FIRST_COMMAND "ping"

/* Bytes of a command that it reads. */
#define COMMAND_MAX 500

/* How often a list is sent that another program replaces meanwhile. */
#define TRIES 3

/* == talking to it == */

/* One question and its answer. */
typedef struct talk {
    const cpubind_sys *sys;
    int root, fd;
    int32_t pid;
    int64_t end_ms;
} talk;

static int64_t now_ms(void)
{
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits until something can be done with the socket. 0 or an errno. */
static int wait_for(const talk *t, short events)
{
    struct pollfd p = {t->fd, events, 0};
    for (;;) {
        int64_t left_ms = t->end_ms - now_ms();
        if (left_ms <= 0)
            return ETIMEDOUT;
        int n = t->sys->poll(&p, 1, (int)left_ms);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return errno;
    }
}

/* A moment's rest, unless the time is over. 0 or an errno. */
static int rest(const cpubind_sys *sys, int64_t end_ms)
{
    if (now_ms() >= end_ms)
        return ETIMEDOUT;
    if (sys->poll(NULL, 0, PAUSE_MS) < 0 && errno != EINTR)
        return errno;
    return 0;
}

/* 0 or an errno. A full queue is waited for: the daemon takes one connection at a time. */
static int connect_to(const talk *t, const struct sockaddr_un *address)
{
    for (;;) {
        if (t->sys->connect(t->fd, (const struct sockaddr *)address, sizeof *address) == 0)
            return 0;
        if (errno != EINTR && errno != EAGAIN)
            return errno;
        int error = errno == EAGAIN ? rest(t->sys, t->end_ms) : 0;
        if (error)
            return error;
    }
}

/* Whether it is the daemon that listens: any user can take an abstract name. 0 or an errno. */
static int check_peer(const talk *t)
{
    struct ucred peer = {0, 0, 0};
    socklen_t len = sizeof peer;
    if (t->sys->getsockopt(t->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return errno;
    return peer.pid == t->pid ? 0 : EPROTO;
}

/* The names that it may listen at: below /run, and two abstract ones. The kernel takes all of
 * an abstract name, the NULs behind it too, and the daemon hands in the whole field. */
enum { N_ADDRESSES = 3 };

static void address_of(const talk *t, int i, struct sockaddr_un *out)
{
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    if (i == 0)
        snprintf(out->sun_path, sizeof out->sun_path,
                 "/proc/self/fd/%d/run/irqbalance/irqbalance%d.sock", t->root, (int)t->pid);
    if (i == 1)
        snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "irqbalance%d.sock", (int)t->pid);
}

/* Opens t->fd, a connection with the daemon. 0 or an errno. */
static int open_talk(talk *t)
{
    int is_another = 0;
    for (int i = 0; i < N_ADDRESSES; i++) {
        struct sockaddr_un address;
        address_of(t, i, &address);
        t->fd = t->sys->socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (t->fd < 0)
            return errno;
        int error = connect_to(t, &address);
        if (!error)
            error = check_peer(t);
        if (!error)
            return 0;
        t->sys->close(t->fd);
        if (error != ENOENT && error != ECONNREFUSED && error != EPROTO)
            return error;
        is_another |= error == EPROTO;
    }
    return is_another ? EPROTO : ECONNREFUSED;
}

/* Sends the command and who sends it, without which it is not carried out. 0 or an errno. */
static int send_command(const talk *t, const char *command, size_t len)
{
    union {
        struct cmsghdr head; /* aligns the bytes */
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    const struct ucred own = {getpid(), t->sys->geteuid(), getegid()};
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
        ssize_t n = t->sys->sendmsg(t->fd, &message, MSG_NOSIGNAL);
        if (n >= 0)
            return (size_t)n == len ? 0 : EIO;
        int error = errno == EAGAIN ? wait_for(t, POLLOUT) : errno == EINTR ? 0 : errno;
        if (error)
            return error;
    }
}

/* Reads until it closes the connection. 0 or an errno. */
static int receive_answer(const talk *t, cpubind_bytes *answer)
{
    while (answer->len < ANSWER_MAX) {
        if (cpubind_bytes_reserve(answer, t->sys, COMMAND_MAX))
            return ENOMEM;
        ssize_t n = t->sys->recv(t->fd, answer->data + answer->len,
                                 (size_t)(answer->cap - answer->len), 0);
        if (n == 0)
            return 0;
        if (n > 0) {
            answer->len += (int32_t)n;
            continue;
        }
        int error = errno == EAGAIN ? wait_for(t, POLLIN) : errno == EINTR ? 0 : errno;
        if (error)
            return error;
    }
    return EPROTO;
}

/* One command and all of its answer. 0 or an errno. */
static int ask(cpubind_root *root, int32_t pid, const char *command, int limit_ms,
               cpubind_bytes *answer)
{
    talk t = {root->sys, root->fd, -1, pid, now_ms() + limit_ms};
    int error = open_talk(&t);
    if (error)
        return error;
    error = send_command(&t, command, strlen(command));
    if (!error) {
        error = receive_answer(&t, answer);
        if (error)
            (void)wait_for(&t, POLLIN); /* it has answered, or will not */
    }
    root->sys->close(t.fd);
    return error;
}

/* == lists of interrupts == */

/* Ascending, without repeats; free(3). */
typedef struct irq_list {
    int32_t *irq;
    int32_t n;
} irq_list;

static int compare_numbers(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void sort_list(irq_list *list)
{
    int32_t n = 0;
    qsort(list->irq, (size_t)list->n, sizeof *list->irq, compare_numbers);
    for (int32_t i = 0; i < list->n; i++)
        if (n == 0 || list->irq[i] != list->irq[n - 1])
            list->irq[n++] = list->irq[i];
    list->n = n;
}

static int has(const irq_list *list, int32_t irq)
{
    return list->n > 0 &&
           bsearch(&irq, list->irq, (size_t)list->n, sizeof irq, compare_numbers) != NULL;
}

static int is_same(const irq_list *a, const irq_list *b)
{
    return a->n == b->n &&
           (a->n == 0 || memcmp(a->irq, b->irq, (size_t)a->n * sizeof *a->irq) == 0);
}

/* Room for n numbers. 0 or ENOMEM. */
static int make_list(const cpubind_sys *sys, int32_t n, irq_list *out)
{
    *out = (irq_list){sys->malloc((size_t)(n ? n : 1) * sizeof *out->irq), 0};
    return out->irq ? 0 : ENOMEM;
}

static int copy_list(const cpubind_sys *sys, const int32_t *irq, int32_t n, irq_list *out)
{
    if (make_list(sys, n, out))
        return ENOMEM;
    memcpy(out->irq, irq, (size_t)n * sizeof *irq);
    out->n = n;
    sort_list(out);
    return 0;
}

/* All of both, or what of `a` is not in `b`. 0 or ENOMEM. */
static int join(const cpubind_sys *sys, const irq_list *a, const irq_list *b, int is_adding,
                irq_list *out)
{
    if (make_list(sys, a->n + b->n, out))
        return ENOMEM;
    for (int32_t i = 0; i < a->n; i++)
        if (is_adding || !has(b, a->irq[i]))
            out->irq[out->n++] = a->irq[i];
    for (int32_t i = 0; is_adding && i < b->n; i++)
        out->irq[out->n++] = b->irq[i];
    sort_list(out);
    return 0;
}

/* == its list of bans == */

/* Asks for it. 0 or an errno. */
static int ask_list(cpubind_root *root, int32_t pid, irq_list *out)
{
    cpubind_bytes answer = {NULL, 0, 0};
    int32_t n = 0;
    int error = ask(root, pid, FIRST_COMMAND, FIRST_MS, &answer);
    if (!error && answer.len > 0)
        error = EPROTO;
    if (!error)
        error = ask(root, pid, "setup", ANSWER_MS, &answer);
    if (!error && answer.len == 0)
        error = EACCES; /* it hangs up on whom it does not serve */
    if (!error) {
        cpubind_text_status status =
            cpubind_irqbalance_parse(answer.data, answer.len, NULL, 0, &n, NULL);
        if (status != CPUBIND_TEXT_OK && status != CPUBIND_TEXT_ERR_SPACE)
            error = EPROTO;
    }
    if (!error)
        error = make_list(root->sys, n, out);
    if (!error) {
        (void)cpubind_irqbalance_parse(answer.data, answer.len, out->irq, n, &out->n, NULL);
        sort_list(out);
    }
    cpubind_bytes_free(&answer);
    return error;
}

/* The command that makes this its list. 0 or EMSGSIZE. */
static int write_command(const irq_list *list, char command[COMMAND_MAX + 1])
{
    int len = snprintf(command, COMMAND_MAX + 1, "settings ban irqs%s", list->n ? "" : " NONE");
    for (int32_t i = 0; i < list->n && len <= COMMAND_MAX; i++)
        len +=
            snprintf(command + len, (size_t)(COMMAND_MAX + 1 - len), " %d", (int)list->irq[i]);
    return len <= COMMAND_MAX ? 0 : EMSGSIZE;
}

/* Makes this its list. 0 or an errno. */
static int tell_list(cpubind_root *root, int32_t pid, const irq_list *list)
{
    char command[COMMAND_MAX + 1];
    cpubind_bytes answer = {NULL, 0, 0};
    int error = write_command(list, command);
    if (!error)
        error = ask(root, pid, command, ANSWER_MS, &answer);
    if (!error && answer.len > 0)
        error = EPROTO;
    cpubind_bytes_free(&answer);
    return error;
}

/* Tells it the list and looks whether it keeps it. When it does not, *list becomes the one to
 * tell next. 0 or an errno. */
static int tell_and_look(cpubind_root *root, int32_t pid, const irq_list *own, int is_banning,
                         irq_list *list, int *is_kept)
{
    irq_list found = {NULL, 0}, next = {NULL, 0};
    int error = tell_list(root, pid, list);
    if (!error)
        error = ask_list(root, pid, &found);
    if (!error)
        error = join(root->sys, &found, is_banning ? list : own, is_banning, &next);
    if (!error) {
        *is_kept = is_same(&found, list);
        free(list->irq);
        *list = next;
    }
    free(found.irq);
    return error;
}

/* From the list `before` to one with or without our own. 0 or an errno. */
static int change_list(cpubind_root *root, int32_t pid, const irq_list *before,
                       const irq_list *own, int is_banning)
{
    char command[COMMAND_MAX + 1];
    irq_list list = {NULL, 0};
    int error = join(root->sys, before, own, is_banning, &list);
    int is_kept = !error && is_same(before, &list), is_told = 0;
    if (!error && !is_kept)
        error = write_command(&list, command);
    for (; !error && !is_kept && is_told < TRIES; is_told++)
        error = tell_and_look(root, pid, own, is_banning, &list, &is_kept);
    if (!error && !is_kept)
        error = EPROTO;
    if (error && is_told)
        (void)tell_list(root, pid, before);
    free(list.irq);
    return error;
}

/* == in turn == */

int cpubind_irqbalance_lock(cpubind_root *root, int32_t pid, int *out)
{
    char name[48];
    snprintf(name, sizeof name, "proc/%d/personality", (int)pid);
    int64_t end_ms = now_ms() + LOCK_MS;
    int error = 0, fd = cpubind_root_open(root, name, 0);
    if (fd < 0)
        return errno == ENOENT ? ESRCH : errno;
    while (!error && root->sys->flock(fd, LOCK_EX | LOCK_NB) < 0)
        error = errno == EWOULDBLOCK ? rest(root->sys, end_ms) : errno == EINTR ? 0 : errno;
    if (error)
        root->sys->close(fd);
    else
        *out = fd;
    return error;
}

static int change(cpubind_root *root, const cpubind_irqbalance *daemon, const int32_t *irq,
                  int32_t n, int is_banning)
{
    irq_list own = {NULL, 0}, before = {NULL, 0};
    int fd = -1, error = daemon->pid > 0 ? 0 : ESRCH;
    if (n == 0 && !error)
        return 0;
    if (!error)
        error = cpubind_irqbalance_lock(root, daemon->pid, &fd);
    if (!error)
        error = cpubind_irqbalance_check(root, daemon);
    if (!error)
        error = copy_list(root->sys, irq, n, &own);
    if (!error)
        error = ask_list(root, daemon->pid, &before);
    if (!error)
        error = change_list(root, daemon->pid, &before, &own, is_banning);
    free(own.irq);
    free(before.irq);
    if (fd >= 0)
        root->sys->close(fd);
    return error;
}

int cpubind_irqbalance_ban(cpubind_root *root, const cpubind_irqbalance *daemon,
                           const int32_t *irq, int32_t n)
{
    return change(root, daemon, irq, n, 1);
}

int cpubind_irqbalance_unban(cpubind_root *root, const cpubind_irqbalance *daemon,
                             const int32_t *irq, int32_t n)
{
    return change(root, daemon, irq, n, 0);
}

int cpubind_irqbalance_banned(cpubind_root *root, const cpubind_irqbalance *daemon,
                              const int32_t *irq, int32_t n, int32_t *is_banned)
{
    irq_list list = {NULL, 0};
    int fd = -1, error = daemon->pid > 0 ? 0 : ESRCH;
    if (!error)
        error = cpubind_irqbalance_lock(root, daemon->pid, &fd);
    if (!error)
        error = cpubind_irqbalance_check(root, daemon);
    if (!error)
        error = ask_list(root, daemon->pid, &list);
    for (int32_t i = 0; !error && i < n; i++)
        is_banned[i] = has(&list, irq[i]);
    free(list.irq);
    if (fd >= 0)
        root->sys->close(fd);
    return error;
}
