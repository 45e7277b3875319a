/* host_entries.c - the entries of a host, and what all files of this folder need
 * SPDX-License-Identifier: MIT
 *
 * Calls no other file of this folder.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_rows.h"

const char *cpubind_host_rules(const cpubind_host_bind *h)
{
    return cpubind_rules_word(h->plan.plan.rules);
}

/* == Entries ================================================================ */

void cpubind_host_name_device(const cpubind_host_bind *h, host_entry *e)
{
    const cpubind_facts *f = &h->facts.facts;
    const cpubind_host_device *device = e->device < 0 ? NULL : f->device[e->device];
    const int is_listed = device && cpubind_is_listed(device);
    e->row.device = e->device;
    e->row.number = is_listed ? h->number[e->device] : -1;
    e->row.is_of_one = is_listed;
    e->row.pci[0] = e->row.name_of_device[0] = '\0';
    e->row.product = NULL;
    if (!device || (!is_listed && e->row.n_device > 1))
        return;
    cpubind_function_name(device, e->row.name_of_device);
    if (is_listed)
        return;
    (void)cpubind_pci_format(e->row.pci, &device->pci);
    e->row.product = device->accelerator.product;
}

void cpubind_host_name_recorded(const cpubind_host_bind *h, host_entry *e)
{
    const cpubind_outcomes *report = e->row.report;
    e->row.number = report->device;
    (void)snprintf(e->row.pci, sizeof e->row.pci, "%s", report->pci);
    (void)cpubind_recorded_name(&h->facts.facts, report->device, report->pci,
                                e->row.name_of_device);
}

host_entry *cpubind_host_find(const cpubind_host_bind *h, int32_t pid)
{
    for (int32_t i = 0; i < h->n; i++)
        if (h->entry[i]->row.pid == pid)
            return h->entry[i];
    return NULL;
}

host_entry *cpubind_host_add(cpubind_host_bind *h, int32_t pid, int32_t device)
{
    cpubind_proc_stat stat = {.start = 0};
    host_entry *e = (host_entry *)h->sys->malloc(sizeof *e);
    if (!e || CPUBIND_APPEND(h->sys, h->entry, h->n, h->cap, &e).error) {
        free(e);
        return NULL;
    }
    memset(e, 0, sizeof *e);
    (void)cpubind_proc_stat_read(&h->root, pid, 0, &stat);
    e->start = e->order_start = stat.start;
    e->order_pid = pid;
    e->device = device;
    e->is_listed = e->is_new = 1;
    e->row = (cpubind_host_row){.pid = pid,
                                .device = device,
                                .number = -1,
                                .state = CPUBIND_HOST_UNBOUND,
                                .record_path = "",
                                .other_path = e->other_path};
    cpubind_problem_clear(&e->row.problem);
    e->row.has_program = cpubind_bind_program(pid, h->sys, e->row.name);
    cpubind_host_name_device(h, e);
    h->is_old |= device >= 0;
    return e;
}
