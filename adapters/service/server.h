/* server.h - the clients that ask the service
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/service. A thread of its own accepts, reads and sends, so that a client
 * hears within CPUBIND_EARLY_MS that its request was accepted, whatever the service does then.
 * The requests wait for the loop of the service, which makes the answers, one at a time;
 * whether that goes on is answered by the thread. No other state is shared. The protocol is in
 * ask.h.
 *
 * No client can stall the service or root: the socket of users is another one than that of the
 * owner, its clients have CPUBIND_MAX_USERS of the places, and one user CPUBIND_MAX_OF_USER of
 * those. A client that is one too many is turned away; the others that wait are looked at too,
 * and then no user is let in for CPUBIND_TURNED_MS. A client that is slow to send or to read
 * has a limited time.
 */
#ifndef CPUBIND_SERVICE_SERVER_H
#define CPUBIND_SERVICE_SERVER_H

#include <pthread.h>

#include "ask.h"

#define CPUBIND_MAX_CLIENTS     32
#define CPUBIND_MAX_USERS       16
#define CPUBIND_MAX_OF_USER     4
#define CPUBIND_EARLY_MS        200
#define CPUBIND_TURNED_MS       20
#define CPUBIND_CLIENT_LIMIT_MS 5000 /* for the request, and again for the answer */

enum { CPUBIND_DOOR_OWNER, CPUBIND_DOOR_USERS, CPUBIND_N_DOOR };

typedef enum cpubind_client_state {
    CPUBIND_CLIENT_NONE,    /* the place is free */
    CPUBIND_CLIENT_READING, /* its request is not whole */
    CPUBIND_CLIENT_WAITING, /* its request waits for the loop */
    CPUBIND_CLIENT_TAKEN,   /* the loop has it */
    CPUBIND_CLIENT_SENDING  /* it is answered */
} cpubind_client_state;

typedef struct cpubind_client {
    cpubind_client_state state;
    int fd;
    int is_user;      /* at the door of users */
    int is_told;      /* that its request was accepted */
    int64_t until_ms; /* READING, SENDING: it is dropped; else: it is told */
    int64_t place;    /* among all requests */
    cpubind_peer peer;
    cpubind_asked asked;
    cpubind_bytes request; /* which `asked` borrows from */
    cpubind_bytes answer;
    int32_t n_sent;
} cpubind_client;

typedef struct cpubind_door {
    int fd; /* -1: closed */
    char path[108];
    int64_t paused_until_ms; /* after a failure of accept; 0: not paused */
} cpubind_door;

typedef struct cpubind_server {
    const cpubind_sys *sys;
    /* Readable when a request waits; -1: nobody can ask. The loop empties it by
     * cpubind_server_next. */
    int news_fd;
    int news_in, wake_fd, wake_in; /* the other end; and those that wake the thread */
    int has_thread;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    int is_ending;
    int64_t n_request;
    int64_t turn_ms; /* when the loop went on last */
    int is_ready;    /* it has looked at the workers of the host */
    int is_all_left; /* it leaves all of them alone */
    cpubind_door door[CPUBIND_N_DOOR];
    cpubind_client client[CPUBIND_MAX_CLIENTS];
} cpubind_server;

/* A server without sockets, which may be closed. */
void cpubind_server_clear(cpubind_server *server, const cpubind_sys *sys);

/* Listens at a path, and for users beside it where the service is root's. A socket that is left
 * there is replaced, as one service at a time has the lock. The folder belongs to this user,
 * and nobody else may write to it.
 *   in      a cleared server; path: NULL: nobody can ask. The signals of the service are
 *           blocked
 *   out     *server, to be closed also on failure
 *   errors  "folder"; EEXIST, "socket": the name is of something else; "thread"; those of the
 *           calls */
cpubind_linux_fault cpubind_server_open(cpubind_server *server, const char *path);

/* Takes the request that has waited longest, whose lists live until it is answered. Returns its
 * place for cpubind_server_answer; -1: none waits. */
int cpubind_server_next(cpubind_server *server, cpubind_asked *asked, cpubind_peer *peer);

/* Answers a request: one line of JSON with its LF; without one the connection is closed. Takes
 * the bytes over. */
void cpubind_server_answer(cpubind_server *server, int place, cpubind_bytes *answer);

/* Notes that the loop goes on, whether it has looked at the workers, and whether it leaves all
 * of them alone. */
void cpubind_server_turn(cpubind_server *server, int is_ready, int is_all_left);

/* Sends what can be sent at once, drops all clients and removes the sockets. */
void cpubind_server_close(cpubind_server *server);

#endif /* CPUBIND_SERVICE_SERVER_H */
