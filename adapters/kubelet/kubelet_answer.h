/* kubelet_answer.h - the answer of kubelet: which CPUs and devices it gave to each container
 * SPDX-License-Identifier: MIT
 *
 * Pure but for memory: works on (pointer, length). A message of gRPC that holds an Answer of
 * podresources.proto; fields without a name there are passed over. The number is big endian.
 *
 * GRAMMAR
 *   answer = flag:u8 length:u32 message     length <= CPUBIND_KUBELET_ANSWER_MAX
 *   flag   = 0                              1, a compressed message, is never asked for
 * SOURCES: grpc, doc/PROTOCOL-HTTP2.md; k8s.io/kubelet, pkg/apis/podresources/v1/api.proto.
 */
#ifndef CPUBIND_KUBELET_KUBELET_ANSWER_H
#define CPUBIND_KUBELET_KUBELET_ANSWER_H

#include <podresources.pb-c.h>

#include "../text/text.h"

enum {
    CPUBIND_KUBELET_HEAD = 5,
    CPUBIND_KUBELET_ANSWER_MAX = 4 << 20, /* the longest message that gRPC takes unasked */
    CPUBIND_KUBELET_MEMORY_MAX = 64 << 20 /* bytes of the lists that are read from it */
};

/* The end of sizes of memory: text and JSON of sizes below stay inside int64_t. */
#define CPUBIND_KUBELET_BYTES_END ((uint64_t)1 << 59)

/* Reads an answer. The CPUs of each container are below CPUBIND_MAX_CPUS, ascending, each once;
 * nodes are below CPUBIND_MAX_NODES, sizes below CPUBIND_KUBELET_BYTES_END.
 *   out     *out: the caller frees it with kubelet__answer__free_unpacked(*out, NULL);
 *           unchanged on failure
 *   errors  ERR_CUT: it is not whole; ERR_REFUSED: it is compressed; ERR_RANGE: its length, a
 *           CPU, a node or a size; ERR_SYNTAX: the message, or bytes after it; ERR_SPACE:
 *           memory; ERR_ARG. Faults inside of the message have the offset of its first byte
 *   cost    O(len) */
cpubind_text_status cpubind_kubelet_answer_read(const char *text, int32_t len,
                                                Kubelet__Answer **out,
                                                cpubind_text_fault *fault);

/* The container of this name in that pod; NULL: the answer does not have it. */
const Kubelet__Container *cpubind_kubelet_find(const Kubelet__Answer *answer, const char *space,
                                               const char *pod, const char *container);

#endif /* CPUBIND_KUBELET_KUBELET_ANSWER_H */
