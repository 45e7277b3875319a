/* ask.h - the service and a command that asks it, over a socket of this host
 * SPDX-License-Identifier: MIT
 *
 * A stream socket of unix(7), mode 0600. A client sends one line, a request; the service
 * answers with one line of JSON and closes the connection. Each end checks that the user at the
 * other end is root or its own user, and the client also who owns the socket and its folder.
 */
#ifndef CPUBIND_SERVICE_ASK_H
#define CPUBIND_SERVICE_ASK_H

#include "../linux/kernel/bytes.h"
#include "../text/text.h"

/* The requests: (name, word). */
#define CPUBIND_ASK_LIST(X)                                                                    \
    X(STATUS, "status")                                                                        \
    X(VERIFY, "verify")                                                                        \
    X(RELOAD, "reload")

typedef enum cpubind_ask {
#define CPUBIND_X(name, word) CPUBIND_ASK_##name,
    CPUBIND_ASK_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_ASK_COUNT
} cpubind_ask;

/* "status". Static storage. */
const char *cpubind_ask_word(cpubind_ask ask);

#define CPUBIND_ASK_MAX 64 /* bytes of a request, its LF included */

/* Reads a request (ask.c has the grammar).
 *   out     *ask; unchanged on failure
 *   errors  ERR_CUT: the text is the beginning of a request; ERR_SYNTAX */
cpubind_text_status cpubind_ask_parse(const char *text, int32_t len, cpubind_ask *ask,
                                      cpubind_text_fault *fault);

#define CPUBIND_ANSWER_MAX      (16 << 20) /* bytes of an answer */
#define CPUBIND_ANSWER_LIMIT_MS 20000      /* how long a client waits for all of it */

/* Asks the service.
 *   in      path of the socket; `answer` is empty
 *   out     the line of JSON in `answer`, without its LF, to be freed by the caller also on
 *           failure
 *   errors  ENOENT, ECONNREFUSED, "connect": no service is there, and the caller works by
 *           itself; EPERM, "owner", "peer": somebody else made the socket; ETIMEDOUT; EPROTO,
 *           "answer"; EFBIG, "answer"; ENOMEM, "memory"; those of the calls */
cpubind_linux_fault cpubind_service_ask(const cpubind_sys *sys, const char *path,
                                        cpubind_ask ask, cpubind_bytes *answer);

/* Whether the user at the other end of a connection is root or the user of this process.
 *   errors  EPERM, "peer"; "getsockopt" */
cpubind_linux_fault cpubind_ask_check_peer(const cpubind_sys *sys, int fd);

#endif /* CPUBIND_SERVICE_ASK_H */
