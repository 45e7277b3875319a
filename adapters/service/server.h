/* server.h - the clients that ask the service
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/service. No client can stall the service: it never waits for one, has at
 * most CPUBIND_MAX_CLIENTS of them, and gives each a limited time. The protocol is in ask.h.
 */
#ifndef CPUBIND_SERVICE_SERVER_H
#define CPUBIND_SERVICE_SERVER_H

#include "ask.h"

#define CPUBIND_MAX_CLIENTS     16
#define CPUBIND_CLIENT_LIMIT_MS 5000 /* from the connection to the last byte of the answer */

/* Appends the answer to a request: one line of JSON with its LF. Returns 0 without memory. */
typedef int cpubind_answer(void *ctx, cpubind_ask ask, cpubind_bytes *out);

typedef struct cpubind_client {
    int fd; /* -1: there is none */
    int64_t until_ms;
    char request[CPUBIND_ASK_MAX];
    int32_t n_request;
    cpubind_bytes answer;
    int32_t n_sent;
} cpubind_client;

typedef struct cpubind_server {
    const cpubind_sys *sys;
    int epoll_fd;
    int fd; /* -1: nobody can ask */
    char path[108];
    int64_t paused_until_ms; /* after a failure of accept; 0: not paused */
    cpubind_client client[CPUBIND_MAX_CLIENTS];
    cpubind_answer *answer;
    void *ctx;
} cpubind_server;

/* Listens at a path; a socket that is left there is replaced, as one service at a time has the
 * lock. Its folder belongs to this user, and nobody else may write to it.
 *   in      path: NULL: nobody can ask
 *   out     *server, to be closed also on failure
 *   errors  "folder"; EEXIST, "socket": the name is of something else; those of the calls */
cpubind_linux_fault cpubind_server_open(cpubind_server *server, const char *path);

/* Acts on a descriptor that has events; another one than its own is ignored. */
void cpubind_server_event(cpubind_server *server, int fd);

/* Drops the clients whose time is over. Returns the time of the next such end, 0: none. */
int64_t cpubind_server_tick(cpubind_server *server, int64_t now_ms);

/* Drops all clients and removes the socket. */
void cpubind_server_close(cpubind_server *server);

#endif /* CPUBIND_SERVICE_SERVER_H */
