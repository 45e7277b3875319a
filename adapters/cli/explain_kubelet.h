/* explain_kubelet.h - what kubelet gave to a worker's container, held against what it has
 * SPDX-License-Identifier: MIT
 *
 * For status --explain POD. Where kubelet has no files, nothing is said; nothing needs what
 * they say. JSON-BINDING.md documents the JSON.
 */
#ifndef CPUBIND_CLI_EXPLAIN_KUBELET_H
#define CPUBIND_CLI_EXPLAIN_KUBELET_H

#include "kubelet_state.h"
#include "status_text.h"

/* What the files of kubelet say, or why that is not known. All zero is a node without it. */
typedef struct cli_kubelet {
    words_value
        *state[CLI_KUBELET_FILES]; /* as cli_kubelet_read has them; NULL: no such file */
    int is_known;                  /* there is a kubelet, and what it gave is known */
    api_text why;                  /* a sentence without a full stop; empty: none is needed */
} cli_kubelet;

/* Reads the files of the host of the options. */
void cli_read_kubelet(const api_options *options, cli_kubelet *out);

/* Frees what was read, but for the reason. */
void cli_free_kubelet(const cli_kubelet *kubelet);

/* What kubelet gave to the container of a worker, as lists and as a sentence, and the sentences
 * that say where that and its cgroup or its device disagree. JSON null where that is not known,
 * NULL without memory.
 *   in      device: the one that the worker has */
words_value *cli_kubelet_json(const cli_status *s, const cli_kubelet *kubelet,
                              const cpubind_worker *w, const cpubind_status_device *device);

#endif /* CPUBIND_CLI_EXPLAIN_KUBELET_H */
