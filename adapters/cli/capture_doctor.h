/* capture_doctor.h - an examination of a host, and the inputs that it reads, for a capture
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_CAPTURE_DOCTOR_H
#define CPUBIND_CLI_CAPTURE_DOCTOR_H

#include "../ascend/input_list.h"
#include "../doctor/doctor.h"
#include "cli.h"

/* What is examined, and what was found. */
typedef struct cli_examination {
    cpubind_doctor_request request;
    cpubind_doctor_report report; /* in the arena */
} cli_examination;

/* Examines a host in an arena that grows as it must. Returns 0 without memory. */
int cli_examine(cli_examination *examination, cpubind_arena *arena);

/* Visits the inputs of doctor_inputs.h that an examination of the host reads, each once, by
 * name. Returns 0 without memory. */
int cli_capture_doctor(const cpubind_source *source, const api_planned *planned,
                       const api_options *options, cpubind_input_visit *visit, void *ctx);

#endif /* CPUBIND_CLI_CAPTURE_DOCTOR_H */
