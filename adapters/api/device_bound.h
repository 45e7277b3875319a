/* device_bound.h - where a live process belongs on an accelerator of any vendor
 * SPDX-License-Identifier: MIT
 *
 * The plan is that of device_plan.h. Changes nothing; adapters/linux/bind binds.
 */
#ifndef CPUBIND_API_DEVICE_BOUND_H
#define CPUBIND_API_DEVICE_BOUND_H

#include "device_plan.h"

/* The files of a host, but the environment of a live process, and allowed CPUs that may be
 * others than those of the process. */
typedef struct api_process_view {
    const cpubind_source *host;
    const cpubind_source *process; /* NULL: an empty environment, and no device files */
    char *status;                  /* free(3)'s; NULL: the allowed CPUs of the process */
    int32_t status_len;
} api_process_view;

/* The view as a source, which borrows from it. */
cpubind_source api_process_source(api_process_view *view);

/* Sets the allowed CPUs. Returns 0 without memory. */
int api_process_allow(api_process_view *view, const int32_t *cpu, int32_t n);

/* Makes bound->goal of a pool, whose lists the goal borrows.
 *   in      device: for the report; NULL: the CPUs are of no device
 *           rules: the word of those of the plan; NULL: there is no plan
 *           rule: room for options->n_wish rules, which the goal borrows */
void api_device_goal(const api_options *options, const cpubind_unit *pool, const char *rules,
                     const cpubind_pci_function *device, cpubind_thread_rule *rule,
                     api_bound *bound);

#endif /* CPUBIND_API_DEVICE_BOUND_H */
