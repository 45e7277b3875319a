/* capture_doctor.h - the inputs that cpubind doctor reads, for a capture
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_CAPTURE_DOCTOR_H
#define CPUBIND_CLI_CAPTURE_DOCTOR_H

#include "../ascend/input_list.h"
#include "cli.h"

/* Visits the inputs of doctor_inputs.h that an examination of the host reads, each once, by
 * name. Returns 0 without memory. */
int cli_capture_doctor(const cpubind_source *source, const api_planned *planned,
                       const api_options *options, cpubind_input_visit *visit, void *ctx);

#endif /* CPUBIND_CLI_CAPTURE_DOCTOR_H */
