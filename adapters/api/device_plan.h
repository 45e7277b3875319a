/* device_plan.h - the devices of a host, of any vendor: read, planned and checked
 * SPDX-License-Identifier: MIT
 *
 * PLAN.md documents the table, JSON.md the keys of the JSON.
 */
#ifndef CPUBIND_API_DEVICE_PLAN_H
#define CPUBIND_API_DEVICE_PLAN_H

#include "../plan/plan.h"
#include "../words/value.h"
#include "api.h"

/* == Reading ================================================================ */

/* Reads the functions of the bus that the options ask for, and no plan: out->facts has them as
 * `bus`, and the NPUs that the host lists as `device`. npu-smi runs only on a host with an
 * Ascend NPU that the driver's files do not describe.
 *   out     *out, all zero before, to be freed; why the NPUs are not known is out->problem */
void api_read_devices(const cpubind_source *source, const api_options *options,
                      api_planned *out);

/* The same for a request; `seen`: says which CPUs and devices this process has, or NULL. */
void api_read_asked(const cpubind_source *source, const cpubind_pci_request *asked,
                    const cpubind_request *seen, api_planned *out);

/* The exit status: of a host with a device API_DONE; else the reason is appended to *why. */
int api_judge_devices(const api_planned *read, const api_options *options, api_text *why);

/* The row that tells where a device of the bus is: its own, or, of an NPU whose node the bus
 * does not tell, the one that npu-smi lists. */
const cpubind_host_device *api_place_of(const cpubind_facts *facts,
                                        const cpubind_host_device *device);

/* Where a device is: the CPUs near it, ascending, and their node; -1: not known. */
typedef struct api_near {
    int32_t *cpu; /* to be freed */
    int32_t n;
    int32_t node;
} api_near;

/* The place of the device that a name says, or the exit status with the reason in *why. */
int api_find_near(const cpubind_source *source, const char *device, api_near *out,
                  api_text *why);

/* "mlx5_0"; where no file tells the name its address. */
void api_add_nic(api_text *to, const cpubind_host_device *nic);

/* The key of a kind of cards in JSON. */
const char *api_cards_key(int kind);

/* The report of topo. */
words_value *api_topo(const cpubind_facts *facts, const api_options *options);

/* Adds which n devices a job should ask for, and beside them the n lowest, as "choices".
 *   returns  the exit status, with the reason in *why: the process sees fewer */
int api_add_choices(words_value *report, const cpubind_facts *facts, int32_t n, api_text *why);

/* == Planning =============================================================== */

/* Whether functions of the bus are named, or a class of them. */
int api_asks_for_devices(const api_options *options);

/* An option that is given and is about NPUs alone; NULL: none is. */
const char *api_npu_option(const api_options *options);

/* Why pci= or class= of a call cannot be given with its other options; NULL: they can. */
const char *api_device_conflict(const api_options *options);

/* Plans the devices that the options ask for: those of a host with NPUs, of other accelerators
 * alone, or those that are named. A device without a pool has a unit that says why.
 *   out      *out, all zero before the first call, to be freed in every case
 *   returns  the exit status; the reason is in *why, or where that is empty in out->problem */
int api_plan(const cpubind_source *source, const api_options *options, api_planned *out,
             api_text *why);

/* The same where api_make has been called, unless the options ask for devices. */
int api_plan_others(const cpubind_source *source, const api_options *options, api_planned *out,
                    api_text *why);

/* Plans the devices that the options name, or all of the bus, beside all other accelerators of
 * the host. A process is bound to a device that is named whether or not it sees that. As
 * api_plan. */
int api_plan_bus(const cpubind_source *source, const api_options *options, api_planned *out,
                 api_text *why);

/* The plan with another setting of the firmware, options->what_if.
 *   out      *out, all zero before, to be freed, and before *now is
 *   returns  the exit status, with the reason in *why */
int api_plan_what_if(const api_planned *now, const api_options *options, api_planned *out,
                     api_text *why);

/* Whether a host that is asked for NPUs has accelerators of other vendors alone. Then *why says
 * so, which option is about NPUs, and what to give in place of it. */
int api_lacks_npus(const cpubind_source *source, const api_options *options, api_text *why);

/* Whether a plan is of devices of the bus: named ones, or those of a host without NPUs. */
int api_is_of_bus(const api_planned *planned, const api_options *options);

/* Whether a rank past the devices that its process sees drives the only one that it sees: that
 * is one of several of the host, or a tile of one, as a launcher shows each rank its own, or
 * the one that is named.
 * Ranks of a host with a single device would have the same CPUs. */
int api_drives_only_device(const cpubind_facts *facts, const api_options *options);

/* Appends why not, to the reason that a rank has no device; nothing where that is not why. */
void api_add_only_device(const cpubind_facts *facts, api_text *why);

/* Why it is not known which of several devices a rank drives: the variables of the runtime do
 * not tell. A static clause, or NULL: it is known, or devices are named, which the rank then
 * counts. */
const char *api_rank_doubt(const cpubind_facts *facts, const api_options *options);

/* API_DONE, or API_REFUSED with that and what to do in *why: the options have a rank. */
int api_check_rank_doubt(const cpubind_facts *facts, const api_options *options, api_text *why);

/* API_DONE, or API_REFUSED with the reason in *why: the options name a rank without device. */
int api_check_rank(const api_planned *planned, const api_options *options, api_text *why);

/* API_DONE, or API_REFUSED with the reason in *why: the device of the rank that the options
 * name, or one that they name by address or class, has no pool; where they name none, no device
 * has one. A device that nobody asks for may lack one: whether it runs is not known. Of a plan
 * of NPUs it is the plan that is refused. */
int api_check_pools(const api_planned *planned, const api_options *options, api_text *why);

#endif /* CPUBIND_API_DEVICE_PLAN_H */
