/* device_bind.h - apply and verify for the accelerators of any vendor
 * SPDX-License-Identifier: MIT
 *
 * Finds which accelerator a live process uses, and makes the goal of the process from the plan
 * of ../plan/pci_plan.h. Changes nothing; adapters/linux/bind binds. DEVICES.md documents the
 * options.
 */
#ifndef CPUBIND_CLI_DEVICE_BIND_H
#define CPUBIND_CLI_DEVICE_BIND_H

#include "../host/host_workers.h"
#include "run_device.h"

/* Whether the bus has a device whose driver has no list of its users: open files tell them. */
int cli_has_opened(const api_topo *topo);

/* Reads the processes that use devices, by ../host/host_users.h: all, or with a pid above 0
 * that one. Returns the exit status, with the reason in *why. */
int cli_read_device_workers(const api_options *options, const cpubind_source *source,
                            const api_topo *topo, int32_t pid, cpubind_workers *out,
                            api_text *why);

/* Whether a process uses a single device whose driver has no list of its users. Then the
 * options name that device. Prints nothing. */
int cli_find_opened(api_options *options, int32_t pid);

/* Finds the pool of the process and makes bound->goal, which borrows from *out. The device is
 *   1  that of --rank or --index; of --device or a single --pci
 *   2  that of the record
 *   3  the only one that the process sees, by the variables of its runtime
 *   4  the only one that it has files of open
 *   5  that of the first variable of a launcher in its environment
 *   in       bound is open
 *   out      *out, all zero before; to be freed with cli_free_run_place in every case
 *   returns  the exit status; errors are printed */
int cli_place_on_device(api_options *options, api_bound *bound, cli_run_place *out);

/* Sets bound->product to that of the device in the report of bound->binding. Where the host
 * cannot be read the product is not known. */
void cli_name_device(const api_options *options, api_bound *bound);

/* Appends what a report is about: "NPU 3", or "0000:c1:00.0 (H100 SXM5)". */
void cli_add_bound(api_text *to, const api_bound *bound);

#endif /* CPUBIND_CLI_DEVICE_BIND_H */
