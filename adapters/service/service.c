/* service.c - the loop of the service
 * SPDX-License-Identifier: MIT
 *
 * Decides when something is done; what is done for a process is the engine's. A failure of a
 * step that the bindings do not need is said, and the loop goes on. Rules: sd_notify(3),
 * systemd.service(5), signalfd(2), epoll(7).
 */
#define _GNU_SOURCE
#include "service.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include "../linux/kernel/files.h"
#include "../linux/kernel/run_folder.h"
#include "notify.h"
#include "rights.h"
#include "server.h"

/* Between two writings of the textfile: the figures of 4,000 threads take 30 ms of CPU. */
#define TEXTFILE_MS 15000 /* when nothing has changed */
#define NEWS_MS     5000  /* when something has */
#define CHANGED_MS  1000  /* between two texts of the state for the manager */
#define STATUS_SIZE 160

typedef struct service {
    const cpubind_service_options *options;
    const cpubind_sys *sys;
    const cpubind_service_engine *engine;
    int lock_fd, epoll_fd, signal_fd, timer_fd;
    cpubind_server server;
    int64_t next_watchdog_ms, written_ms, told_ms; /* 0: never; textfile, status: not yet */
    int64_t n_moves, n_errors;                     /* when the textfile was written */
    char status[STATUS_SIZE];                      /* as the manager knows it */
    int is_textfile_bad, is_manager_lost;          /* said once */
    int is_over, is_reloaded;                      /* reloaded: the settings are new */
    cpubind_linux_fault lost;                      /* what it cannot go on without */
} service;

static void say(const service *s, int priority, const char *text, cpubind_linux_fault why)
{
    s->engine->say(s->engine->ctx, priority, text, why);
}

/* == The service manager ==================================================== */

static void tell(service *s, const char *message)
{
    const cpubind_linux_fault why = cpubind_notify(s->sys, s->options->notify_address, message);
    if (why.error && !s->is_manager_lost)
        say(s, CPUBIND_SAY_WARNING, "the service manager could not be reached", why);
    s->is_manager_lost = why.error != 0;
}

/* Tells the manager the state in words, if it has changed. */
static void tell_status(service *s, int64_t now_ms)
{
    const cpubind_service_counts *c = s->engine->count(s->engine->ctx, 0);
    char message[STATUS_SIZE];
    if (s->told_ms && now_ms < s->told_ms + CHANGED_MS)
        return;
    (void)snprintf(message, sizeof message,
                   "STATUS=%d workers; %lld threads and interrupts moved, %lld faults\n",
                   (int)c->workers, (long long)c->moves, (long long)c->errors);
    if (strcmp(message, s->status) == 0)
        return;
    memcpy(s->status, message, sizeof message);
    s->told_ms = now_ms;
    tell(s, message);
}

/* == Figures ================================================================ */

static void write_textfile(service *s, int64_t now_ms)
{
    const char *path = s->engine->settings(s->engine->ctx).textfile;
    const cpubind_service_counts *c = s->engine->count(s->engine->ctx, 0);
    const int is_new = c->moves != s->n_moves || c->errors != s->n_errors;
    cpubind_linux_fault why;
    if (!path || (s->written_ms && now_ms < s->written_ms + (is_new ? NEWS_MS : TEXTFILE_MS)))
        return;
    s->written_ms = now_ms;
    s->n_moves = c->moves;
    s->n_errors = c->errors;
    why = cpubind_metrics_write(s->engine->count(s->engine->ctx, 1), s->sys, path);
    if (why.error && !s->is_textfile_bad)
        say(s, CPUBIND_SAY_WARNING, "the textfile could not be written", why);
    s->is_textfile_bad = why.error != 0;
}

/* == Steps ================================================================== */

/* Notes for those who ask whether the service is alive that it is. */
static void note_turn(service *s)
{
    const cpubind_service_counts *c = s->engine->count(s->engine->ctx, 0);
    cpubind_server_turn(&s->server, c->last_look != 0, c->is_all_left);
}

static void open_server(service *s)
{
    const char *path = s->engine->settings(s->engine->ctx).socket;
    cpubind_linux_fault why;
    note_turn(s);
    why = cpubind_server_open(&s->server, path);
    if (!why.error && path && s->sys->epoll_set(s->epoll_fd, s->server.news_fd, EPOLLIN) < 0)
        why = cpubind_fault_errno("epoll");
    if (!why.error)
        return;
    say(s, CPUBIND_SAY_WARNING, "no command can ask the service", why);
    cpubind_server_close(&s->server);
}

static void close_server(service *s)
{
    if (s->server.news_fd >= 0)
        (void)s->sys->epoll_set(s->epoll_fd, s->server.news_fd, 0);
    cpubind_server_close(&s->server);
}

static int reload(service *s)
{
    char message[80];
    int is_good;
    (void)snprintf(message, sizeof message, "RELOADING=1\nMONOTONIC_USEC=%lld\n",
                   (long long)cpubind_now_ms() * 1000);
    tell(s, message);
    is_good = s->engine->reload(s->engine->ctx);
    s->is_reloaded |= is_good;
    tell(s, "READY=1\n");
    return is_good;
}

/* After a reload: another socket, and another textfile. */
static void take_settings(service *s)
{
    const char *path = s->engine->settings(s->engine->ctx).socket;
    if (!s->is_reloaded)
        return;
    s->is_reloaded = 0;
    s->written_ms = 0;
    if (strcmp(path ? path : "", s->server.door[CPUBIND_DOOR_OWNER].path) == 0)
        return;
    close_server(s);
    open_server(s);
}

/* Carries out the requests that wait. */
static void answer_all(service *s)
{
    char bytes[64]; /* one for each request */
    cpubind_asked asked;
    cpubind_peer peer;
    int place;
    (void)s->sys->read(s->server.news_fd, bytes, sizeof bytes);
    while (!s->is_over && (place = cpubind_server_next(&s->server, &asked, &peer)) >= 0) {
        const cpubind_linux_fault refused = cpubind_rights_check(s->sys, &asked, &peer);
        cpubind_bytes out = {NULL, 0, 0};
        if (asked.ask == CPUBIND_ASK_RELOAD && !refused.error) {
            const char *text = reload(s) ? "{\"reloaded\": true}\n" : "{\"reloaded\": false}\n";
            (void)cpubind_bytes_add(&out, s->sys, text, (int32_t)strlen(text));
        } else if (!s->engine->answer(s->engine->ctx, &asked, &peer, refused, &out)) {
            cpubind_bytes_free(&out);
        }
        cpubind_server_answer(&s->server, place, &out);
    }
}

/* Says who ends the service: nothing but a signal does. */
static void say_end(const service *s, const struct signalfd_siginfo *info)
{
    char text[96];
    (void)snprintf(text, sizeof text, "signal %d of process %d (user %u) ends the service",
                   (int)info->ssi_signo, (int)info->ssi_pid, (unsigned)info->ssi_uid);
    say(s, CPUBIND_SAY_INFO, text, cpubind_no_fault);
}

static void take_signals(service *s)
{
    struct signalfd_siginfo info;
    while (s->sys->read(s->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            continue; /* the engine looks at its children after each signal */
        if (info.ssi_signo != SIGHUP) {
            s->is_over = 1;
            say_end(s, &info);
        } else if (!s->is_over)
            (void)reload(s);
    }
    if (errno != EAGAIN && errno != EINTR)
        s->lost = cpubind_fault_errno("signals"); /* one of them may end the service */
}

static void take_events(service *s)
{
    int fds[32], n;
    CPUBIND_RETRY(n, s->sys->epoll_wait(s->epoll_fd, fds, 32, 0));
    for (int i = 0; i < n; i++) {
        uint64_t ticks;
        if (fds[i] == s->signal_fd)
            take_signals(s);
        else if (fds[i] == s->timer_fd)
            (void)s->sys->read(s->timer_fd, &ticks, sizeof ticks);
        else if (fds[i] == s->server.news_fd)
            answer_all(s);
    }
}

/* Does what is due and sets the timer to what is due next. */
static void tick(service *s)
{
    const int64_t now_ms = cpubind_now_ms();
    note_turn(s);
    if (s->options->watchdog_ms > 0 && now_ms >= s->next_watchdog_ms) {
        tell(s, "WATCHDOG=1\n");
        s->next_watchdog_ms = now_ms + s->options->watchdog_ms;
    }
    (void)s->sys->timer_set(s->timer_fd, s->next_watchdog_ms);
    tell_status(s, now_ms);
    write_textfile(s, now_ms);
}

/* == The whole ============================================================== */

static cpubind_linux_fault open_all(service *s)
{
    static const int numbers[] = {SIGHUP, SIGTERM, SIGINT, SIGCHLD};
    cpubind_linux_fault why = cpubind_run_lock(s->sys, "service.lock", 0, &s->lock_fd);
    if (why.error)
        return why;
    s->epoll_fd = s->sys->epoll_open();
    if (s->epoll_fd < 0)
        return cpubind_fault_errno("epoll");
    s->signal_fd = s->sys->signal_open(numbers, 4);
    if (s->signal_fd < 0 || s->sys->epoll_set(s->epoll_fd, s->signal_fd, EPOLLIN) < 0)
        return cpubind_fault_errno("signals");
    s->timer_fd = s->sys->timer_open();
    if (s->timer_fd < 0 || s->sys->epoll_set(s->epoll_fd, s->timer_fd, EPOLLIN) < 0)
        return cpubind_fault_errno("timer");
    open_server(s);
    return cpubind_no_fault;
}

static void close_all(service *s)
{
    const int fds[] = {s->timer_fd, s->signal_fd, s->epoll_fd, s->lock_fd};
    close_server(s);
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            (void)s->sys->close(fds[i]);
}

cpubind_linux_status cpubind_service_run(const cpubind_service_options *options,
                                         const cpubind_service_engine *engine,
                                         cpubind_linux_fault *fault)
{
    service s = {.options = options,
                 .sys = options->sys,
                 .engine = engine,
                 .lock_fd = -1,
                 .epoll_fd = -1,
                 .signal_fd = -1,
                 .timer_fd = -1};
    cpubind_server_clear(&s.server, options->sys);
    cpubind_linux_fault why = open_all(&s);
    if (!why.error) {
        engine->start(engine->ctx);
        tick(&s);
        tell(&s, "READY=1\n");
        while (!s.is_over && !s.lost.error) {
            engine->look(engine->ctx, s.epoll_fd);
            take_events(&s);
            take_settings(&s);
            tick(&s);
        }
        tell(&s, "STOPPING=1\n");
        if (engine->settings(engine->ctx).is_restored_at_end)
            engine->restore(engine->ctx);
        why = s.lost;
    }
    close_all(&s);
    return cpubind_linux_end(!why.error                 ? CPUBIND_LINUX_OK
                             : why.error == EWOULDBLOCK ? CPUBIND_LINUX_ERR_BUSY
                                                        : CPUBIND_LINUX_ERR_REFUSED,
                             why, fault);
}

int cpubind_service_is_journal(const cpubind_sys *sys, int fd, const char *stream)
{
    char own[64];
    struct stat st;
    if (!stream || sys->fstat(fd, &st) < 0)
        return 0;
    (void)snprintf(own, sizeof own, "%llu:%llu", (unsigned long long)st.st_dev,
                   (unsigned long long)st.st_ino);
    return strcmp(own, stream) == 0;
}
