/* status_text.h - what cpubind status has found, as text, as JSON and as lines of changes
 * SPDX-License-Identifier: MIT
 *
 * Prints and formats; reads nothing of the host. README.md documents the JSON.
 */
#ifndef CPUBIND_CLI_STATUS_TEXT_H
#define CPUBIND_CLI_STATUS_TEXT_H

#include "../api/device_plan.h"
#include "../host/host_allowed.h"
#include "../host/host_status.h"
#include "output.h"

/* One look at a host. */
typedef struct cli_status {
    const api_options *options;
    api_planned planned; /* the facts, which name the NPUs; its plan is not used */
    api_planned made;    /* the plan for the workers, with the warning alone that the host
                            has other accelerators */
    cpubind_users list;
    cpubind_problem list_problem; /* code: why it is not known who runs */
    cpubind_workers workers;
    cpubind_host_status status;
    /* With is_on_devices: accelerators of any vendor, and what their workers belong to */
    int is_on_devices;
    api_device_plan devices;
    cpubind_goal *goal; /* by device; free(3)'s */
    /* Of a host with NPUs: its other accelerators; NULL: it has none */
    const struct cli_status *more;
} cli_status;

/* Whether all devices and workers of the host are as they should be. */
int cli_status_is_right(const cli_status *s);

/* Prints two lines for each NPU: its pool and interrupts, its workers; more where something is
 * not right; and a summary. */
void cli_print_status(FILE *out, const cli_status *s);

/* Why there is no plan; NULL: there is one. */
const api_planned *cli_status_refusal(const cli_status *s);

/* The plan whose warnings status prints. */
const api_planned *cli_status_warned(const cli_status *s);

/* The whole as one object; NULL without memory. */
json_t *cli_status_json(const cli_status *s);

/* The lines of the last look, to print what has changed since. All zero is none. */
typedef struct cli_changes {
    char **line; /* "NPU 3: process 4711 (python3): 258 threads right" */
    int32_t n;
} cli_changes;

/* Prints a line for each NPU and worker that is new, has changed or has ended since the last
 * call, the time before it. Returns 0 without memory.
 *   in      out: NULL to print nothing
 *   out     *n_changed: lines */
int cli_print_changes(FILE *out, const cli_status *s, cli_changes *last, int32_t *n_changed);
void cli_free_changes(cli_changes *changes);

#endif /* CPUBIND_CLI_STATUS_TEXT_H */
