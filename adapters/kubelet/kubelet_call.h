/* kubelet_call.h - asks the kubelet of this node for its list of pods and their resources
 * SPDX-License-Identifier: MIT
 *
 * One call of gRPC over a socket of this machine, by libnghttp2. Only commands that people run
 * ask: the service never does, as a plan needs nothing that kubelet says.
 * SOURCES: grpc, doc/PROTOCOL-HTTP2.md; RFC 9113.
 */
#ifndef CPUBIND_KUBELET_KUBELET_CALL_H
#define CPUBIND_KUBELET_KUBELET_CALL_H

#include "../linux/kernel/bytes.h"

/* Where kubelet listens, for root and for pods that mount its folder. */
#define CPUBIND_KUBELET_SOCKET "/var/lib/kubelet/pod-resources/kubelet.sock"

enum { CPUBIND_KUBELET_MESSAGE_SIZE = 160 };

typedef struct cpubind_kubelet_call {
    const char *path; /* in: of the socket */
    int32_t limit_ms; /* in: for all of it, at least 1 */
    int32_t max;      /* in: the longest answer in bytes, with its head */
    /* out, of a call that kubelet refused: the status of gRPC, 1 .. 16, and its reason, which
     * may have any bytes but NUL, or is empty */
    int32_t status;
    char message[CPUBIND_KUBELET_MESSAGE_SIZE];
} cpubind_kubelet_call;

/* Asks for the list.
 *   in      `answer` is empty
 *   out     `answer`: what kubelet_answer.h reads; the caller frees it, also on failure
 *   errors  ENOENT, "connect": there is no socket; ECONNREFUSED, "connect": nobody listens;
 *           ETIMEDOUT, "connect" or "answer"; EREMOTEIO, "answer": kubelet refused, with
 *           call->status; EPROTO, "answer": it speaks no HTTP/2 or no gRPC; ENOMSG, "answer":
 *           it ends too soon; EFBIG, "answer"; ENOMEM, "memory"; those of the calls */
cpubind_linux_fault cpubind_kubelet_list(const cpubind_sys *sys, cpubind_kubelet_call *call,
                                         cpubind_bytes *answer);

#endif /* CPUBIND_KUBELET_KUBELET_CALL_H */
