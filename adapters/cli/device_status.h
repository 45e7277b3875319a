/* device_status.h - status of a host of accelerators of any vendor
 * SPDX-License-Identifier: MIT
 *
 * Reads the host and its processes; changes and prints nothing but errors.
 */
#ifndef CPUBIND_CLI_DEVICE_STATUS_H
#define CPUBIND_CLI_DEVICE_STATUS_H

#include "device_bind.h"
#include "status_text.h"

/* Writes all online CPUs to `cpu`, which has room for CPUBIND_MAX_CPUS. Returns their number;
 * 0: not known. */
int32_t cli_list_online(const cpubind_source *source, int32_t *cpu);

/* Reads the accelerators, the processes that use them, and what these belong to: the plan of
 * --allowed, else of the CPUs that any of the processes may have, else of all online CPUs.
 *   out      s->workers, s->devices, s->goal
 *   returns  the exit status; errors are printed */
int cli_look_at_devices(const api_options *options, const cpubind_source *source,
                        cli_status *s);

#endif /* CPUBIND_CLI_DEVICE_STATUS_H */
