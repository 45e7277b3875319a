/* server.c - answer the clients that ask the service
 * SPDX-License-Identifier: MIT
 *
 * Moves bytes, in a thread; the engine makes the answers. All sockets are without blocking, and
 * the lock is held for no call that waits.
 */
#define _GNU_SOURCE
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "../linux/kernel/files.h"

#define PAUSE_MS 1000 /* after a failure of accept, such as EMFILE */
#define BACKLOG  64   /* connections that the kernel keeps until they are accepted */

/* == Clients ================================================================ */

static void drop(cpubind_server *s, cpubind_client *c)
{
    (void)s->sys->close(c->fd);
    cpubind_bytes_free(&c->request);
    cpubind_bytes_free(&c->answer);
    *c = (cpubind_client){.state = CPUBIND_CLIENT_NONE, .fd = -1};
}

/* Sends bytes. Returns how many were sent; -1: the connection has ended. */
static ssize_t send_some(const cpubind_server *s, const cpubind_client *c, const char *data,
                         size_t len)
{
    struct iovec text = {NULL, len};
    const struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
    ssize_t sent;
    memcpy(&text.iov_base, &data, sizeof data); /* sendmsg(2) does not write there */
    CPUBIND_RETRY(sent, s->sys->sendmsg(c->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
    return sent < 0 && errno == EAGAIN ? 0 : sent;
}

/* Sends as much of the answer as the socket takes. */
static void send_answer(cpubind_server *s, cpubind_client *c)
{
    while (c->n_sent < c->answer.len) {
        const ssize_t sent =
            send_some(s, c, c->answer.data + c->n_sent, (size_t)(c->answer.len - c->n_sent));
        if (sent == 0)
            return;
        if (sent < 0)
            break;
        c->n_sent += (int32_t)sent;
    }
    drop(s, c);
}

/* Whether a client still waits. It sends nothing after the request. */
static int is_waiting(const cpubind_server *s, const cpubind_client *c)
{
    char byte;
    ssize_t got;
    CPUBIND_RETRY(got, s->sys->recv(c->fd, &byte, 1, MSG_DONTWAIT));
    return got < 0 && errno == EAGAIN;
}

/* Answers whether the loop goes on. */
static void answer_alive(cpubind_server *s, cpubind_client *c)
{
    char text[96];
    const int n =
        snprintf(text, sizeof text, "{\"idle_ms\": %lld, \"ready\": %s, \"all_left\": %s}\n",
                 (long long)(cpubind_now_ms() - s->turn_ms), s->is_ready ? "true" : "false",
                 s->is_all_left ? "true" : "false");
    if (cpubind_bytes_add(&c->answer, s->sys, text, n).error) {
        drop(s, c);
        return;
    }
    c->state = CPUBIND_CLIENT_SENDING;
    c->until_ms = cpubind_now_ms() + CPUBIND_CLIENT_LIMIT_MS;
    send_answer(s, c);
}

/* Reads what has come. Only the one request is read: a client that sends more is dropped. */
static void read_request(cpubind_server *s, cpubind_client *c)
{
    cpubind_text_status status;
    cpubind_bytes *r = &c->request;
    ssize_t got;
    if (cpubind_bytes_reserve(r, s->sys, CPUBIND_ASK_MAX - r->len).error) {
        drop(s, c);
        return;
    }
    CPUBIND_RETRY(got, s->sys->recv(c->fd, r->data + r->len, (size_t)(CPUBIND_ASK_MAX - r->len),
                                    MSG_DONTWAIT));
    if (got < 0 && errno == EAGAIN)
        return;
    if (got > 0)
        r->len += (int32_t)got;
    status = cpubind_ask_parse(r->data, r->len, &c->asked, NULL);
    if (got > 0 && status == CPUBIND_TEXT_ERR_CUT)
        return;
    if (got <= 0 || status != CPUBIND_TEXT_OK || !is_waiting(s, c)) {
        drop(s, c);
        return;
    }
    if (c->asked.ask == CPUBIND_ASK_ALIVE) {
        answer_alive(s, c);
        return;
    }
    c->state = CPUBIND_CLIENT_WAITING;
    c->place = s->n_request++;
    c->until_ms = cpubind_now_ms() + CPUBIND_EARLY_MS;
    /* A full pipe wakes the loop as well; a loop that is not woken would keep it waiting. */
    if (s->sys->write(s->news_in, "", 1) < 0 && errno != EAGAIN)
        drop(s, c);
}

/* Tells a client that its request was accepted: it is carried out then, also when the client
 * ends. A client that has gone before it was told, as from a service that was stopped, has said
 * that its request failed. */
static void tell_early(cpubind_server *s, cpubind_client *c)
{
    const ssize_t sent = send_some(s, c, CPUBIND_ASK_EARLY, sizeof CPUBIND_ASK_EARLY - 1);
    c->is_told = 1; /* a new socket has room for this line */
    if (sent < 0 && c->state == CPUBIND_CLIENT_WAITING)
        drop(s, c);
}

/* Does what is due for a client. */
static void look_at(cpubind_server *s, cpubind_client *c, int has_event, int64_t now_ms)
{
    const int is_late = now_ms >= c->until_ms;
    switch (c->state) {
    case CPUBIND_CLIENT_READING:
        if (has_event)
            read_request(s, c);
        else if (is_late)
            drop(s, c);
        break;
    case CPUBIND_CLIENT_SENDING:
        if (has_event)
            send_answer(s, c);
        else if (is_late)
            drop(s, c);
        break;
    case CPUBIND_CLIENT_WAITING:
    case CPUBIND_CLIENT_TAKEN:
        if (is_late && !c->is_told)
            tell_early(s, c);
        break;
    case CPUBIND_CLIENT_NONE:
        break;
    }
}

/* == The doors ============================================================== */

/* A free place for a client; NULL: there is none for it. */
static cpubind_client *find_place(cpubind_server *s, const cpubind_peer *peer, int is_user)
{
    cpubind_client *free_one = NULL;
    int n_user = 0, n_own = 0;
    for (int i = 0; i < CPUBIND_MAX_CLIENTS; i++) {
        cpubind_client *c = &s->client[i];
        if (c->state == CPUBIND_CLIENT_NONE)
            free_one = c;
        else if (c->is_user) {
            n_user++;
            n_own += c->peer.uid == peer->uid;
        }
    }
    return is_user && (n_user >= CPUBIND_MAX_USERS || n_own >= CPUBIND_MAX_OF_USER) ? NULL
                                                                                    : free_one;
}

/* Accepts a client, or turns it away; returns 0 when nobody waits. */
static int accept_one(cpubind_server *s, int which)
{
    cpubind_door *door = &s->door[which];
    const int is_user = which == CPUBIND_DOOR_USERS;
    cpubind_peer peer = {.pid = 0};
    cpubind_client *place = NULL;
    const int fd = s->sys->accept(door->fd);
    /* The connection stays in the queue and would wake the thread at once. */
    if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        door->paused_until_ms = cpubind_now_ms() + PAUSE_MS;
    if (fd < 0)
        return errno == EINTR || errno == ECONNABORTED;
    if (!cpubind_ask_read_peer(s->sys, fd, &peer).error && (is_user || peer.is_owner))
        place = find_place(s, &peer, is_user);
    if (!place) {
        (void)s->sys->close(fd);
        if (is_user)
            door->paused_until_ms = cpubind_now_ms() + CPUBIND_TURNED_MS;
        return 1;
    }
    *place = (cpubind_client){.state = CPUBIND_CLIENT_READING,
                              .fd = fd,
                              .is_user = is_user,
                              .peer = peer,
                              .until_ms = cpubind_now_ms() + CPUBIND_CLIENT_LIMIT_MS};
    return 1;
}

/* == The thread ============================================================= */

/* What the thread waits for: the pipe, the doors, the clients. */
enum { WAIT_DOOR = 1, WAIT_CLIENT = WAIT_DOOR + CPUBIND_N_DOOR };
enum { N_WAIT = WAIT_CLIENT + CPUBIND_MAX_CLIENTS };

static void note_time(int64_t *next_ms, int64_t at_ms)
{
    if (*next_ms == 0 || at_ms < *next_ms)
        *next_ms = at_ms;
}

/* Lists the descriptors to wait for; poll(2) ignores -1. Returns how long; -1: for ever. */
static int list_waits(cpubind_server *s, struct pollfd wait[N_WAIT])
{
    const int64_t now_ms = cpubind_now_ms();
    int64_t next_ms = 0;
    wait[0] = (struct pollfd){s->wake_fd, POLLIN, 0};
    for (int i = 0; i < CPUBIND_N_DOOR; i++) {
        cpubind_door *door = &s->door[i];
        if (door->paused_until_ms && now_ms >= door->paused_until_ms)
            door->paused_until_ms = 0;
        wait[WAIT_DOOR + i] = (struct pollfd){door->paused_until_ms ? -1 : door->fd, POLLIN, 0};
        if (door->paused_until_ms)
            note_time(&next_ms, door->paused_until_ms);
    }
    for (int i = 0; i < CPUBIND_MAX_CLIENTS; i++) {
        const cpubind_client *c = &s->client[i];
        const int is_reading = c->state == CPUBIND_CLIENT_READING;
        const int is_heard = is_reading || c->state == CPUBIND_CLIENT_SENDING;
        wait[WAIT_CLIENT + i] =
            (struct pollfd){is_heard ? c->fd : -1, is_reading ? POLLIN : POLLOUT, 0};
        if (is_heard || (c->state != CPUBIND_CLIENT_NONE && !c->is_told))
            note_time(&next_ms, c->until_ms);
    }
    return next_ms == 0 ? -1 : next_ms > now_ms ? (int)(next_ms - now_ms) : 0;
}

static void take_events(cpubind_server *s, const struct pollfd wait[N_WAIT])
{
    const int64_t now_ms = cpubind_now_ms();
    char byte[64];
    if (wait[0].revents)
        (void)s->sys->read(s->wake_fd, byte, sizeof byte);
    for (int i = 0; i < CPUBIND_MAX_CLIENTS; i++) {
        cpubind_client *c = &s->client[i];
        if (c->state != CPUBIND_CLIENT_NONE)
            look_at(s, c, c->fd == wait[WAIT_CLIENT + i].fd && wait[WAIT_CLIENT + i].revents,
                    now_ms);
    }
    /* All of the queue: somebody who has filled it makes nobody wait behind him. */
    for (int i = 0; i < CPUBIND_N_DOOR; i++)
        for (int n = 0; wait[WAIT_DOOR + i].revents && n < BACKLOG && accept_one(s, i);)
            n++;
}

static void *serve(void *ctx)
{
    cpubind_server *s = (cpubind_server *)ctx;
    struct pollfd wait[N_WAIT];
    int is_ending, timeout_ms;
    do {
        int n;
        (void)pthread_mutex_lock(&s->lock);
        timeout_ms = list_waits(s, wait);
        (void)pthread_mutex_unlock(&s->lock);
        n = s->sys->poll(wait, N_WAIT, timeout_ms);
        if (n < 0) { /* without memory it is tried again a little later */
            memset(wait, 0, sizeof wait);
            (void)poll(NULL, 0, PAUSE_MS / 10);
        }
        (void)pthread_mutex_lock(&s->lock);
        take_events(s, wait);
        is_ending = s->is_ending;
        (void)pthread_mutex_unlock(&s->lock);
    } while (!is_ending);
    return NULL;
}

/* == Opening and closing ==================================================== */

/* Checks the folder of a socket, and removes a socket that is left in it. */
static cpubind_linux_fault make_way(const cpubind_sys *sys, const char *path)
{
    char folder[108];
    const char *slash = strrchr(path, '/');
    struct stat st;
    (void)snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path),
                   path);
    if (sys->statat(AT_FDCWD, folder, &st) < 0)
        return cpubind_fault_errno("folder");
    if (!cpubind_is_mine(sys, &st))
        return cpubind_fault_of(EPERM, "folder");
    if (sys->statat(AT_FDCWD, path, &st) < 0)
        return cpubind_no_fault;
    if (!S_ISSOCK(st.st_mode))
        return cpubind_fault_of(EEXIST, "socket");
    if (sys->unlinkat(AT_FDCWD, path, 0) < 0 && errno != ENOENT)
        return cpubind_fault_errno("unlink");
    return cpubind_no_fault;
}

static cpubind_linux_fault open_door(cpubind_server *s, int which, const char *path)
{
    const cpubind_sys *sys = s->sys;
    cpubind_door *door = &s->door[which];
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    cpubind_linux_fault why;
    if (strlen(path) >= sizeof door->path)
        return cpubind_fault_of(ENAMETOOLONG, "socket");
    why = make_way(sys, path);
    if (why.error)
        return why;
    memcpy(at.sun_path, path, strlen(path) + 1);
    door->fd = sys->socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (door->fd < 0)
        return cpubind_fault_errno("socket");
    /* The name is made with the mode of the socket, less the umask: there is no moment in which
     * the one of the owner is open. */
    if (sys->fchmod(door->fd, 0600) < 0)
        return cpubind_fault_errno("fchmod");
    if (sys->bind(door->fd, (struct sockaddr *)&at, (socklen_t)sizeof at) < 0)
        return cpubind_fault_errno("bind");
    memcpy(door->path, path, strlen(path) + 1);
    if (which == CPUBIND_DOOR_USERS && sys->chmodat(AT_FDCWD, path, 0666) < 0)
        return cpubind_fault_errno("fchmod");
    return sys->listen(door->fd, BACKLOG) < 0 ? cpubind_fault_errno("listen")
                                              : cpubind_no_fault;
}

static cpubind_linux_fault open_doors(cpubind_server *s, const char *path)
{
    char users[sizeof s->door[0].path];
    cpubind_linux_fault why = open_door(s, CPUBIND_DOOR_OWNER, path);
    int n;
    if (why.error || s->sys->geteuid() != 0)
        return why; /* no other user reaches the folder of an ordinary one */
    n = snprintf(users, sizeof users, "%.*s/%s", (int)(strrchr(path, '/') - path), path,
                 CPUBIND_USERS_SOCKET);
    if (n < 0 || (size_t)n >= sizeof users)
        return cpubind_fault_of(ENAMETOOLONG, "socket");
    return open_door(s, CPUBIND_DOOR_USERS, users);
}

static cpubind_linux_fault open_pipe(const cpubind_sys *sys, int *out, int *in)
{
    int fd[2];
    if (sys->pipe(fd) < 0)
        return cpubind_fault_errno("pipe");
    *out = fd[0];
    *in = fd[1];
    return cpubind_no_fault;
}

void cpubind_server_clear(cpubind_server *s, const cpubind_sys *sys)
{
    memset(s, 0, sizeof *s);
    s->sys = sys;
    s->news_fd = s->news_in = s->wake_fd = s->wake_in = -1;
    for (int i = 0; i < CPUBIND_N_DOOR; i++)
        s->door[i].fd = -1;
    for (int i = 0; i < CPUBIND_MAX_CLIENTS; i++)
        s->client[i].fd = -1;
    (void)pthread_mutex_init(&s->lock, NULL);
}

cpubind_linux_fault cpubind_server_open(cpubind_server *s, const char *path)
{
    cpubind_linux_fault why;
    int error;
    if (!path)
        return cpubind_no_fault;
    why = open_doors(s, path);
    if (!why.error)
        why = open_pipe(s->sys, &s->news_fd, &s->news_in);
    if (!why.error)
        why = open_pipe(s->sys, &s->wake_fd, &s->wake_in);
    if (why.error)
        return why;
    error = s->sys->thread_start(&s->thread, serve, s);
    s->has_thread = error == 0;
    return cpubind_fault_of(error, "thread");
}

void cpubind_server_close(cpubind_server *s)
{
    const cpubind_sys *sys = s->sys;
    const int fds[] = {s->news_fd, s->news_in, s->wake_fd};
    if (s->has_thread) {
        (void)pthread_mutex_lock(&s->lock);
        s->is_ending = 1;
        (void)pthread_mutex_unlock(&s->lock);
    }
    if (s->wake_in >= 0) /* the thread hears that for sure; a write may fail */
        (void)sys->close(s->wake_in);
    if (s->has_thread)
        (void)pthread_join(s->thread, NULL);
    for (int i = 0; i < CPUBIND_MAX_CLIENTS; i++) {
        cpubind_client *c = &s->client[i];
        if (c->state == CPUBIND_CLIENT_SENDING)
            send_answer(s, c);
        if (c->state != CPUBIND_CLIENT_NONE)
            drop(s, c);
    }
    for (int i = 0; i < CPUBIND_N_DOOR; i++) {
        if (s->door[i].path[0])
            (void)sys->unlinkat(AT_FDCWD, s->door[i].path, 0);
        if (s->door[i].fd >= 0)
            (void)sys->close(s->door[i].fd);
    }
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            (void)sys->close(fds[i]);
    (void)pthread_mutex_destroy(&s->lock);
    cpubind_server_clear(s, sys);
}

/* == The loop of the service ================================================ */

/* The place of the request that has waited longest; -1: none waits. */
static int find_first(const cpubind_server *s)
{
    int first = -1;
    for (int i = 0; i < CPUBIND_MAX_CLIENTS; i++)
        if (s->client[i].state == CPUBIND_CLIENT_WAITING &&
            (first < 0 || s->client[i].place < s->client[first].place))
            first = i;
    return first;
}

int cpubind_server_next(cpubind_server *s, cpubind_asked *asked, cpubind_peer *peer)
{
    int first;
    (void)pthread_mutex_lock(&s->lock);
    while ((first = find_first(s)) >= 0 && !s->client[first].is_told &&
           !is_waiting(s, &s->client[first]))
        drop(s, &s->client[first]);
    if (first >= 0) {
        *asked = s->client[first].asked;
        *peer = s->client[first].peer;
        s->client[first].state = CPUBIND_CLIENT_TAKEN;
    }
    (void)pthread_mutex_unlock(&s->lock);
    return first;
}

void cpubind_server_turn(cpubind_server *s, int is_ready, int is_all_left)
{
    (void)pthread_mutex_lock(&s->lock);
    s->turn_ms = cpubind_now_ms();
    s->is_ready = is_ready;
    s->is_all_left = is_all_left;
    (void)pthread_mutex_unlock(&s->lock);
}

void cpubind_server_answer(cpubind_server *s, int place, cpubind_bytes *answer)
{
    cpubind_client *c = &s->client[place];
    (void)pthread_mutex_lock(&s->lock);
    c->answer = *answer;
    c->state = CPUBIND_CLIENT_SENDING;
    c->until_ms = cpubind_now_ms() + CPUBIND_CLIENT_LIMIT_MS;
    send_answer(s, c);
    (void)pthread_mutex_unlock(&s->lock);
    *answer = (cpubind_bytes){NULL, 0, 0};
    (void)s->sys->write(s->wake_in, "", 1);
}
