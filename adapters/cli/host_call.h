/* host_call.h - all workers of a host: shared by apply --all, verify --all and the service
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_HOST_CALL_H
#define CPUBIND_CLI_HOST_CALL_H

#include "../host/host_bind.h"
#include "bind_common.h"
#include "output.h"

/* A host, and what was said of it. */
typedef struct host_call {
    const api_options *options;
    cpubind_host_bind *host;
    api_host source;     /* of --root or --fixture */
    api_planned planned; /* borrowed from the host, but for the code */
    words_value *said;   /* its keys are texts of warnings: each is printed once */
    int has_listed;      /* NPUs, whose driver lists their users, count */
    int has_bus;         /* `devices` count: those of the bus */
    cpubind_pci_request devices;
    int is_watching, status;
    int (*stop)(void *ctx);   /* ends a call early; NULL: the signals of a command do */
    int is_service;           /* the call is the service's */
    const char *service_said; /* why the service was not asked; NULL: it was, or none runs */
} host_call;

/* Takes over the plan of the host, as the functions of the command have it. */
void cli_take_plan(host_call *c);

/* Appends what a row drives: ", npu3", ", 0000:c1:00.0", ", 2 devices"; nothing for an
 * other. */
void cli_add_row_device(api_text *to, const cpubind_worker *row);

/* Appends whose it is: ", pod prod/vllm-0/worker (burstable)", without names its uid; nothing
 * for a process of no pod. */
void cli_add_pod(api_text *to, const cpubind_pod *pod);

/* A pod as an object; null for none. */
words_value *cli_pod_json(const cpubind_pod *pod);

/* Appends that n processes may use a device which nobody here can see; nothing for 0. */
void cli_explain_unseen(int32_t n, api_text *to);

/* Appends why a row is not bound; nothing for one that is. Returns the exit status. */
int cli_explain_row(const host_call *c, const cpubind_worker *row, api_text *to);

/* Appends that the processes of the device of a row share its pool, and its name, where they
 * do; prints it on stderr, once a device. */
void cli_explain_sharing(const cpubind_worker *row, api_text *device, api_text *to);
void cli_warn_sharing(host_call *c, const cpubind_worker *row);

/* "12 children share its pool" */
void cli_add_children(api_text *to, int32_t n);

/* Whether a text is new to the call; it is noted. */
int cli_is_new(host_call *c, const char *text);

/* Whether a row uses a device, or did when it was bound: it is no other. */
int cli_is_worker(const cpubind_worker *row);

/* A row as an object of apply --all and verify --all; NULL without memory. */
words_value *cli_row_json(const host_call *c, const cpubind_worker *row);

/* Threads of a report that ended in one way; those that are not where they belong. */
int32_t cli_count_threads(const cpubind_outcomes *report, cpubind_item_result result);
int32_t cli_count_not(const cpubind_outcomes *report);

/* Whether the host has NPUs: on the PCI bus that was read, or npu-smi knows some. */
int cli_has_npus(const cpubind_source *source, const api_options *options,
                 const api_planned *read);

/* Whether the bus has a device whose driver has no list of its users: open files tell them. */
int cli_has_opened(const api_planned *read);

/* Finds the devices that are named, and whose workers count: those of NPUs where the host has
 * some, and unless an option is about NPUs, of devices of the bus. Returns the exit status,
 * with the reason in *why. */
int cli_find_workers(host_call *c, api_options *options, api_text *why);

/* Appends why there is no plan at all. */
void cli_explain_no_plan(const host_call *c, api_text *why);

/* Prints that. Returns the exit status. */
int cli_refuse_all(host_call *c);

/* Opens the host of the options, for apply or verify. Returns the exit status; the reason is in
 * *why. */
int cli_open_all(host_call *c, cpubind_host_options *how, api_text *why);

/* Puts the engine of the workers that run here in the place of "auto". Returns the exit status;
 * the reason is in *why. */
int cli_find_engine(api_options *options, api_text *why);

/* Whether the machine is of an architecture on which NPUs are bound, or any-arch is set.
 * Returns the exit status; a refusal is printed. */
int cli_check_machine(const api_options *options);

#endif /* CPUBIND_CLI_HOST_CALL_H */
