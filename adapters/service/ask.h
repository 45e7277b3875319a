/* ask.h - the service and a command that asks it, over a socket of this host
 * SPDX-License-Identifier: MIT
 *
 * Stream sockets of unix(7): one of mode 0600 for the user of the service and root, and beside
 * it one of mode 0666 for all others (rights.h says what they may ask for). A client sends one
 * line, a request; the service answers with one line of JSON and closes the connection. A
 * service that is at work sends CPUBIND_ASK_EARLY first, so that a client tells one that works
 * from one that hangs: something comes within a second, or nothing will. A request that was
 * accepted is carried out, also when its client ends then. Each end checks the user at the
 * other end, and the client also who owns the socket and its folder.
 */
#ifndef CPUBIND_SERVICE_ASK_H
#define CPUBIND_SERVICE_ASK_H

#include "../linux/kernel/bytes.h"
#include "../text/text.h"

/* The requests: (name, word, about). About 0: the host; 1: a process; 2: a process, or all; 3:
 * devices; 4: as 2, and the process that asks.
 *   ALIVE  whether the loop of the service goes on: answered beside it, and so at once
 *   PLACE  it says which CPUs and memory nodes of a list the plan of the host has for devices;
 *          nothing is changed
 *   LEAVE  the service lets go of the process, and leaves it alone until it is told otherwise
 *   ADOPT  it lets go of the process, which is bound by somebody else, and watches that binding
 *   TAKE   it binds the process by its plan
 *   LEND   as LEAVE, for as long as the process that asks lives, or until that says TAKE */
#define CPUBIND_ASK_LIST(X)                                                                    \
    X(STATUS, "status", 0)                                                                     \
    X(VERIFY, "verify", 0)                                                                     \
    X(RELOAD, "reload", 0)                                                                     \
    X(ALIVE, "alive", 0)                                                                       \
    X(PLACE, "place", 3)                                                                       \
    X(LEAVE, "leave", 2)                                                                       \
    X(ADOPT, "adopt", 1)                                                                       \
    X(TAKE, "take", 2)                                                                         \
    X(LEND, "lend", 4)

typedef enum cpubind_ask {
#define CPUBIND_X(name, word, about) CPUBIND_ASK_##name,
    CPUBIND_ASK_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_ASK_COUNT
} cpubind_ask;

/* "status". Static storage. */
const char *cpubind_ask_word(cpubind_ask ask);

/* The lists of a request about devices: what their process may have, and the devices: numbers
 * of device files, "195:0", and names of a vendor, "nvidia=0" (../host/host_place.h). */
enum { CPUBIND_ASK_CPUS, CPUBIND_ASK_MEMS, CPUBIND_ASK_DEVICES, CPUBIND_ASK_N_LIST };

typedef struct cpubind_ask_text {
    const char *text; /* borrowed from the request */
    int32_t len;
} cpubind_ask_text;

/* A request. The start time tells the process from a later one of its number. */
typedef struct cpubind_asked {
    cpubind_ask ask;
    int32_t
        pid; /* in the pid namespace of the service; 0: all, or the request is of the host */
    uint64_t start; /* field 22 of its stat; 0 with pid 0 */
    int32_t owner;  /* LEND: who asks; else 0 */
    uint64_t owner_start;
    cpubind_ask_text list[CPUBIND_ASK_N_LIST]; /* PLACE; len 0: not known */
} cpubind_asked;

#define CPUBIND_ASK_MAX   4096 /* bytes of a request, its LF included */
#define CPUBIND_ASK_EARLY "{\"accepted\": true}\n"

/* Reads a request (ask_text.c has the grammar).
 *   out     *asked; unchanged on failure
 *   errors  ERR_CUT: the text has no line feed yet; ERR_SYNTAX, ERR_RANGE */
cpubind_text_status cpubind_ask_parse(const char *text, int32_t len, cpubind_asked *asked,
                                      cpubind_text_fault *fault);

/* Writes a request, with its LF. Returns its length; one of lists may be CPUBIND_ASK_MAX and
 * more: it is too long, and was not written whole. */
int32_t cpubind_ask_format(const cpubind_asked *asked, char out[CPUBIND_ASK_MAX]);

#define CPUBIND_ANSWER_MAX      (16 << 20) /* bytes of an answer */
#define CPUBIND_ANSWER_FIRST_MS 1000       /* how long a client waits for the first line */
#define CPUBIND_ANSWER_LIMIT_MS 120000     /* and for all of it, from a service at work */

/* How a client asks, and what it heard of the service. */
typedef struct cpubind_asking {
    cpubind_asked asked;
    const char *path; /* of the socket of mode 0600 */
    int32_t limit_ms; /* for all of it, whatever the service does; 0: the times above */
    int is_enough;    /* that the request was accepted; its answer is not waited for */
    void (*at_work)(void *ctx); /* called once when an early line has come; or NULL */
    void *ctx;
    int32_t pid;     /* out: the service, as this process sees it; 0: not known */
    int is_accepted; /* out: an early line has come */
} cpubind_asking;

/* The name of the socket for users, in the folder of the other one. */
#define CPUBIND_USERS_SOCKET "users.sock"

/* Asks the service.
 *   in      `answer` is empty
 *   out     the line of JSON in `answer`, without its LF, to be freed by the caller also on
 *           failure; empty where that it was accepted is enough
 *   errors  ENOENT, "connect": no service is there; ECONNREFUSED, "connect": it has ended, and
 *           left its socket; ETIMEDOUT, "connect" or "answer": it hangs; ETIMEDOUT, "work": it
 *           is at work for too long; ENOMSG, "answer": it has closed the connection without a
 *           word, as one does that does not know the request; EMSGSIZE, "request": it is too
 *           long; EPERM, "owner", "peer": somebody
 *           else made the socket; EPROTO, "answer"; EFBIG, "answer"; ENOMEM, "memory"; those of
 *           the calls */
cpubind_linux_fault cpubind_service_ask(const cpubind_sys *sys, cpubind_asking *asking,
                                        cpubind_bytes *answer);

/* Who is at the other end of a connection. */
typedef struct cpubind_peer {
    int32_t pid; /* 0: of a pid namespace that this process does not see */
    uid_t uid;
    int is_owner; /* root, or the user of this process */
} cpubind_peer;

/*   errors  "getsockopt"; EPERM, "peer" */
cpubind_linux_fault cpubind_ask_read_peer(const cpubind_sys *sys, int fd, cpubind_peer *out);

#endif /* CPUBIND_SERVICE_ASK_H */
