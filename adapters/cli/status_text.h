/* status_text.h - what cpubind status has found, as text, as JSON and as lines of changes
 * SPDX-License-Identifier: MIT
 *
 * Prints and formats; reads nothing of the host. JSON-BINDING.md documents the JSON.
 */
#ifndef CPUBIND_CLI_STATUS_TEXT_H
#define CPUBIND_CLI_STATUS_TEXT_H

#include "../api/device_plan.h"
#include "../host/host_status.h"
#include "host_call.h"

/* One look at a host. */
typedef struct cli_status {
    const api_options *options;
    const host_call *call;    /* the host; its plan, or why there is none */
    cpubind_problem unlisted; /* code: why it is not known who runs */
    cpubind_host_status status;
    const api_planned *warned; /* the plan whose warnings are printed */
} cli_status;

/* The tables of the text, of which -o chooses columns. */
extern const words_view cli_status_view[];

/* Prints a table of the devices and one of the workers, a line for what is not right, and a
 * summary. Returns 0 without memory. */
int cli_print_status(const cli_status *s);

/* The whole as one object; NULL without memory. */
words_value *cli_status_json(const cli_status *s);

/* Writes the name of a device: "npu3", else its address. */
void cli_status_name(const cpubind_status_device *device, char out[CPUBIND_DEVICE_NAME_SIZE]);

/* Prints why the workers of a pod have their CPUs, and whose are beside them: of the pod that
 * the option explain names. Returns the exit status: 1 where it has no worker here. */
int cli_explain_pod(const cli_status *s);

/* The lines of the last look, to print what has changed since. All zero is none. */
typedef struct cli_changes {
    char **line; /* "NPU 3: process 4711 (python3): 258 threads right" */
    int32_t n;
} cli_changes;

/* Prints a line for each device and worker that is new, has changed or has ended since the last
 * call, the time before it. Returns 0 without memory.
 *   in      out: NULL to print nothing
 *   out     *n_changed: lines */
int cli_print_changes(FILE *out, const cli_status *s, cli_changes *last, int32_t *n_changed);
void cli_free_changes(cli_changes *changes);

/* The product of a device: "a2", "H100 SXM5"; else the word of its vendor. Static storage. */
const char *cli_product_of(const cpubind_host_device *device);

#endif /* CPUBIND_CLI_STATUS_TEXT_H */
