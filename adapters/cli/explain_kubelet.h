/* explain_kubelet.h - what kubelet says of a worker's container, held against what it has
 * SPDX-License-Identifier: MIT
 *
 * For status --explain POD. Where kubelet's socket is not there, nothing is said; nothing needs
 * what it says. JSON.md documents the JSON.
 */
#ifndef CPUBIND_CLI_EXPLAIN_KUBELET_H
#define CPUBIND_CLI_EXPLAIN_KUBELET_H

#include "../kubelet/kubelet_answer.h"
#include "output.h"
#include "status_text.h"

/* The answer of kubelet, or why there is none. All zero is a node without kubelet. */
typedef struct cli_kubelet {
    Kubelet__Answer *answer; /* NULL: none */
    api_text why;            /* a sentence without a full stop; empty: an answer, no kubelet */
} cli_kubelet;

/* Asks the kubelet of this node, for a second at most. */
void cli_ask_kubelet(cli_kubelet *out);

/* Frees the answer. */
void cli_free_kubelet(cli_kubelet *kubelet);

/* Hears a sentence about a container. */
typedef void cli_hear_sentence(void *ctx, const api_text *sentence);

/* Says what kubelet gave to the container of a worker, and where that and its cgroup or its
 * device disagree; nothing without an answer.
 *   in      device: the one that the worker has
 *   returns 0 without memory */
int cli_say_kubelet(const cli_status *s, const cli_kubelet *kubelet, const cpubind_worker *w,
                    const cpubind_status_device *device, cli_hear_sentence *hear, void *ctx);

/* The same as an object: lists, and the sentences that begin where the two disagree. JSON null
 * without an answer, NULL without memory. */
json_t *cli_kubelet_json(const cli_status *s, const cli_kubelet *kubelet,
                         const cpubind_worker *w, const cpubind_status_device *device);

#endif /* CPUBIND_CLI_EXPLAIN_KUBELET_H */
