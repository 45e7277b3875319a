/* find_device.h - which device a process drives, by names, lists of users, records and ranks
 * SPDX-License-Identifier: MIT
 *
 * Reads the host and the environment of the process; changes nothing. DEVICES.md documents the
 * options.
 */
#ifndef CPUBIND_CLI_FIND_DEVICE_H
#define CPUBIND_CLI_FIND_DEVICE_H

#include "../api/device_plan.h"
#include "../host/host_users.h"
#include "bind_common.h"

/* Finds the devices that options name on their host, which is opened for that. Returns the exit
 * status; errors are printed. */
int cli_find_named(api_options *options);

/* Reads who has files of the devices read->facts.bus open, unless there are none. Returns the
 * exit status, with the reason in *why.
 *   out     *out: free(3) the rows */
int cli_read_opened(const api_options *options, const cpubind_source *source,
                    const api_planned *read, cpubind_users *out, api_text *why);

/* Takes the rank of the first variable of a launcher in the environment of a process, as if
 * --rank had said it; none where none is set. Returns the exit status; errors are printed.
 *   out     *error: errno, where the environment cannot be read; or NULL */
int cli_take_launcher(api_options *options, int32_t pid, int32_t *error);

/* Finds the device of the process, opens the host as the process sees it, plans,
 * and makes the goal of the process. Refuses a machine that is not ARM for an NPU, unless
 * any-arch is set or nothing is changed. Returns the exit status; errors are printed. */
int cli_plan_bound(api_options *options, api_bound *bound);

/* Finds the name and the product of the device in the report of bound->binding, by the number
 * that the host has for it, whatever variables hide. Where the host cannot be read the name is
 * the address. */
void cli_name_bound(const api_options *options, api_bound *bound);

/* Appends what a report is about, which cli_name_bound has named: "npu3",
 * "gpu0 (0000:c1:00.0, H100 SXM5)". */
void cli_add_bound(api_text *to, const api_bound *bound);

#endif /* CPUBIND_CLI_FIND_DEVICE_H */
