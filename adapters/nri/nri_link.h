/* nri_link.h - the connection of the plugin with the runtime
 * SPDX-License-Identifier: MIT
 *
 * Moves bytes: nri_frames.h reads and writes them. What comes is not trusted: a frame that is
 * too long or makes no sense ends the connection.
 */
#ifndef CPUBIND_NRI_NRI_LINK_H
#define CPUBIND_NRI_NRI_LINK_H

#include "../linux/kernel/bytes.h"
#include "nri_frames.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cpubind_nri_link {
    int fd;                  /* -1: closed */
    cpubind_bytes trunk;     /* read, and no whole frame */
    cpubind_bytes stream[2]; /* of connection i + 1: no whole message, after the one that was
                             taken last */
    int32_t taken[2];        /* bytes of that */
    cpubind_bytes sent;      /* scratch */
} cpubind_nri_link;

/* One message. */
typedef struct cpubind_nri_call {
    uint32_t connection, stream;
    int32_t type;
    const char *data; /* until the next one is taken */
    int32_t len;
} cpubind_nri_call;

/* Connects with the socket of the runtime.
 *   out     *link, to be closed also on failure
 *   errors  "socket", "connect" */
cpubind_linux_fault cpubind_nri_link_open(cpubind_nri_link *link, const char *path);

void cpubind_nri_link_close(cpubind_nri_link *link);

/* Waits for a message.
 *   errors  ENOTCONN, "end": the runtime has closed the connection; EPROTO, and what is wrong
 *           with what it sends; "recv"; "memory" */
cpubind_linux_fault cpubind_nri_link_take(cpubind_nri_link *link, cpubind_nri_call *out);

/* Sends a message.
 *   errors  "send": also of a runtime that has read nothing for CPUBIND_NRI_SEND_SECONDS;
 *           EMSGSIZE, "message"; "memory" */
#define CPUBIND_NRI_SEND_SECONDS 5
cpubind_linux_fault cpubind_nri_link_send(cpubind_nri_link *link, uint32_t connection,
                                          uint32_t stream, int32_t type,
                                          const cpubind_bytes *data);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_NRI_NRI_LINK_H */
