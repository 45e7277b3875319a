/* device_plan.h - plan on a host without Ascend NPUs: the accelerators of any vendor
 * SPDX-License-Identifier: MIT
 *
 * The plan is that of ../pci/pci_plan.h. README.md documents the table and the keys of the
 * JSON.
 */
#ifndef CPUBIND_CLI_DEVICE_PLAN_H
#define CPUBIND_CLI_DEVICE_PLAN_H

#include "../pci/pci_plan.h"
#include "topo.h"

/* The accelerators of a host and their pools. All zero before cli_make_devices. */
typedef struct cli_device_plan {
    cli_topo topo;
    cpubind_pci_plan plan;
    cpubind_arena arena; /* of the plan */
} cli_device_plan;

/* Whether --pci or --class asks for devices of any vendor. */
int cli_asks_for_devices(const api_options *options);

/* Why an option of NPUs cannot be given with --pci or --class; NULL: none is given. */
const char *cli_npu_option(const api_options *options);

/* Reads and plans the devices that the options ask for. Returns the exit status, with the
 * reason in *why. cli_free_devices may be called in every case.
 *   in      only: plans this device alone, as rank 0, whether or not the process sees it; all
 *           other accelerators of the host keep their CPUs. NULL: those of the options */
int cli_make_devices(const cpubind_source *source, const api_options *options,
                     const cpubind_pci_address *only, cli_device_plan *out, api_text *why);
void cli_free_devices(cli_device_plan *devices);

/* The pool of the rank that the options name, or -1: it has none. A single device is driven by
 * every rank. */
int32_t cli_rank_of_devices(const cli_device_plan *devices, const api_options *options);

/* Appends why a device has no pool. */
void cli_explain_device(const cli_device_plan *devices, const cpubind_pci_pool *pool,
                        api_text *to);

/* Prints the table of the plan: all ranks, or with a rank at or above 0 that one. Returns 0
 * without memory. */
int cli_print_device_table(FILE *out, const cli_device_plan *devices, int32_t rank);

/* Prints the plan in the format of the options. Returns the exit status; errors are printed. */
int cli_print_devices(FILE *out, const cli_device_plan *devices, const api_options *options);

/* Plans the devices of an open host and prints them. Returns the exit status. */
int cli_plan_devices(const cpubind_source *source, api_options *options);

#endif /* CPUBIND_CLI_DEVICE_PLAN_H */
