/* device_plan.h - the accelerators of any vendor, and plans of hosts without Ascend NPUs
 * SPDX-License-Identifier: MIT
 *
 * The plan is that of ../plan/pci_plan.h. PLAN.md documents the table, JSON.md the keys of the
 * JSON.
 */
#ifndef CPUBIND_API_DEVICE_PLAN_H
#define CPUBIND_API_DEVICE_PLAN_H

#include "../plan/pci_plan.h"
#include "api.h"

/* == Reading ================================================================ */

/* The accelerators of a host, or why they are not known. All zero before the first
 * api_topo_read. */
typedef struct api_topo {
    cpubind_problem_code status;
    cpubind_facts facts;
    cpubind_problem fault;
    cpubind_arena arena;
    api_planned npus; /* the facts of the Ascend NPUs, where the host has some */
} api_topo;

/* Reads the devices that the options ask for. npu-smi runs only on a host with an Ascend NPU
 * that the driver's files do not describe. */
void api_topo_read(const cpubind_source *source, const api_options *options, api_topo *out);

/* The same for a request; the names of Ascend's products are added to it. */
void api_topo_ask(const cpubind_source *source, const cpubind_pci_request *asked,
                  api_topo *out);
void api_topo_free(api_topo *topo);

/* The exit status: of a host with a device API_DONE; else the reason is appended to *why. */
int api_topo_judge(const api_topo *topo, const api_options *options, api_text *why);

/* Appends the object that topo --json prints. */
void api_json_topo(api_out *to, const api_topo *topo, const api_options *options);

/* == Planning =============================================================== */

/* The accelerators of a host and their pools. All zero before api_make_devices. */
typedef struct api_device_plan {
    api_topo topo;
    api_planned planned; /* the devices as those of a plan */
} api_device_plan;

/* Whether --pci or --class asks for devices of any vendor. */
int api_asks_for_devices(const api_options *options);

/* An option that is given and is about NPUs alone; NULL: none is. */
const char *api_npu_option(const api_options *options);

/* Why --pci or --class cannot be given with the other options; NULL: nothing is wrong. */
const char *api_device_conflict(const api_options *options);

/* Whether the host of a plan that was refused is one of other accelerators than NPUs: it has no
 * npu-smi, no option is about NPUs, and the PCI bus has devices that cpubind knows, or cannot
 * be read: then api_make_devices says which file of it. */
int api_has_devices_alone(const cpubind_source *source, const api_options *options,
                          const api_planned *planned);

/* Whether a host that is asked for NPUs has accelerators of other vendors alone. Then *why says
 * so, which option is about NPUs, and what to give in place of it. */
int api_lacks_npus(const cpubind_source *source, const api_options *options, api_text *why);

/* The rules that the pools were cut by. */
cpubind_rules api_device_rules(const api_device_plan *devices);

/* Reads and plans the devices that the options ask for. Returns the exit status, with the
 * reason in *why. api_free_devices may be called in every case.
 *   in      only: plans this device alone, as rank 0, whether or not the process sees it; all
 *           other accelerators of the host keep their CPUs. NULL: those of the options */
int api_make_devices(const cpubind_source *source, const api_options *options,
                     const cpubind_pci_address *only, api_device_plan *out, api_text *why);
void api_free_devices(api_device_plan *devices);

/* Whether a rank past the devices that its process sees drives the only one that it sees: that
 * is one of several of the host, or a tile of one, as a launcher shows each rank its own, or
 * the one of --pci.
 * Ranks of a host with a single device would have the same CPUs. */
int api_drives_only_device(const cpubind_facts *facts, const api_options *options);

/* Appends why not, to the reason that a rank has no device; nothing where that is not why. */
void api_add_only_device(const cpubind_facts *facts, api_text *why);

/* Why it is not known which of several devices a rank drives: the variables of the runtime do
 * not tell. A static clause, or NULL: it is known, or --pci names devices, which the rank then
 * counts. */
const char *api_rank_doubt(const cpubind_facts *facts, const api_options *options);

/* API_DONE, or API_REFUSED with that and what to do in *why: the options have a rank. */
int api_check_rank_doubt(const cpubind_facts *facts, const api_options *options, api_text *why);

/* The unit of the rank that the options name, of n_unit ones; or -1: it has none. */
int32_t api_rank_of(const cpubind_facts *facts, int32_t n_unit, const api_options *options);

/* API_DONE, or API_REFUSED with the reason in *why: the options name a rank without device. */
int api_check_device_rank(const api_device_plan *devices, const api_options *options,
                          api_text *why);

/* API_DONE, or API_REFUSED with the reason in *why: the device of the rank that the options
 * name, or one that they name by address or class, has no pool; where they name none, no device
 * has one. A device that nobody asks for may lack one: whether it runs is not known. */
int api_check_device_pools(const api_device_plan *devices, const api_options *options,
                           api_text *why);

/* Appends why the device of a rank has no pool. */
void api_explain_device(const api_device_plan *devices, int32_t rank,
                        const api_options *options, api_text *to);

/* == Text and JSON ========================================================== */

/* Makes *planned the plan of devices with this warning alone, that a plan of NPUs knows no
 * other devices, where it has that; else leaves it. Borrows from the devices. */
void api_keep_doubt(const api_device_plan *devices, api_planned *planned);

/* Appends the plan in a format of api_formats. Returns the status, with the reason in
 * *why. */
int api_put_devices(api_out *to, const char *format, const api_device_plan *devices,
                    const api_options *options, api_text *why);

#endif /* CPUBIND_API_DEVICE_PLAN_H */
