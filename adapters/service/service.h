/* service.h - the loop of the service: signals, the service manager, clients, figures
 * SPDX-License-Identifier: MIT
 *
 * The loop knows no process and no NPU: an engine does, which is a table of functions. One
 * thread, beside the one that talks with clients (server.h); everything that the loop waits for
 * is behind one descriptor, which the engine waits for beside its own events. Nothing here
 * prints.
 *
 *   SIGHUP            the engine reads its settings again
 *   SIGCHLD           the engine looks: a child of it may have ended
 *   SIGTERM, SIGINT   the loop ends; processes stay bound, unless the settings say otherwise
 */
#ifndef CPUBIND_SERVICE_SERVICE_H
#define CPUBIND_SERVICE_SERVICE_H

#include "ask.h"
#include "metrics.h"

/* Importance of a line, as syslog(3) numbers it. */
enum { CPUBIND_SAY_ERROR = 3, CPUBIND_SAY_WARNING = 4, CPUBIND_SAY_INFO = 6 };

/* Settings that the loop itself has; strings live until the next call of reload. */
typedef struct cpubind_service_settings {
    const char *socket;   /* NULL: nobody can ask */
    const char *textfile; /* NULL: none is written */
    int is_restored_at_end;
} cpubind_service_settings;

typedef struct cpubind_service_engine {
    void *ctx;
    /* Finds the workers and binds them. */
    void (*start)(void *ctx);
    /* Waits for news, for the end of a period, or until wake_fd can be read, and puts right
     * what is not. */
    void (*look)(void *ctx, int wake_fd);
    /* Reads the settings again and says what is wrong in them. Returns 0 when the old ones are
     * kept. */
    int (*reload)(void *ctx);
    cpubind_service_settings (*settings)(void *ctx);
    /* The figures, valid until the next call; those of an NPU are read from the kernel when
     * `is_full`. */
    const cpubind_service_counts *(*count)(void *ctx, int is_full);
    /* Carries out a request, but for reload, of a peer who may ask for that, and appends the
     * answer: one line of JSON with its LF. `refused` says why it may not: the answer says so,
     * too. Returns 0 without memory. */
    int (*answer)(void *ctx, const cpubind_asked *asked, const cpubind_peer *peer,
                  cpubind_linux_fault refused, cpubind_bytes *out);
    /* Undoes all bindings of the service. */
    void (*restore)(void *ctx);
    /* Says one line; `why` has error 0 when the line is not about a failed call. */
    void (*say)(void *ctx, int priority, const char *text, cpubind_linux_fault why);
} cpubind_service_engine;

typedef struct cpubind_service_options {
    const cpubind_sys *sys;
    const char *notify_address; /* NOTIFY_SOCKET, or NULL */
    int64_t watchdog_ms;        /* between two messages; 0: none */
} cpubind_service_options;

/* Runs until a signal ends it.
 *   errors  ERR_BUSY: another service runs on this host; ERR_REFUSED: a call that the loop
 *           cannot do without has failed: "folder", "lock", "epoll", "signals", "timer" */
cpubind_linux_status cpubind_service_run(const cpubind_service_options *options,
                                         const cpubind_service_engine *engine,
                                         cpubind_linux_fault *fault);

/* Whether a descriptor leads to the journal: its device and inode are those of JOURNAL_STREAM,
 * as systemd.exec(5) says.
 *   in      stream: the value of the variable, or NULL */
int cpubind_service_is_journal(const cpubind_sys *sys, int fd, const char *stream);

#endif /* CPUBIND_SERVICE_SERVICE_H */
