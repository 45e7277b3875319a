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

void cpubind_host_name_device(const cpubind_host_bind *h, cpubind_worker *w)
{
    const cpubind_host_device *device = w->device < 0 ? NULL : h->facts.facts.device[w->device];
    const int is_listed = device && cpubind_is_listed(device);
    w->number = is_listed ? device->logic : -1;
    w->is_of_one = is_listed;
    w->pci[0] = w->name_of_device[0] = '\0';
    w->product = NULL;
    if (!device || (!is_listed && w->n_device > 1))
        return;
    cpubind_function_name(device, w->name_of_device);
    if (is_listed)
        return;
    (void)cpubind_pci_format(w->pci, &device->pci);
    w->product = device->accelerator.product;
}

void cpubind_host_name_recorded(const cpubind_host_bind *h, cpubind_worker *w)
{
    w->number = w->report->device;
    memcpy(w->pci, w->report->pci, sizeof w->pci);
    (void)cpubind_recorded_name(&h->facts.facts, w->number, w->pci, w->name_of_device);
}

host_entry *cpubind_host_find(const cpubind_host_bind *h, int32_t pid)
{
    for (int32_t i = 0; i < h->n; i++)
        if (h->entry[i]->row.pid == pid)
            return h->entry[i];
    return NULL;
}

host_entry *cpubind_host_add(cpubind_host_bind *h, const cpubind_worker *worker)
{
    host_entry *e = (host_entry *)h->sys->malloc(sizeof *e);
    if (!e || CPUBIND_APPEND(h->sys, h->entry, h->n, h->cap, &e).error) {
        free(e);
        return NULL;
    }
    *e = (host_entry){.row = *worker,
                      .order_pid = worker->pid,
                      .order_start = worker->start,
                      .is_listed = 1,
                      .is_new = 1};
    return e;
}

host_entry *cpubind_host_add_process(cpubind_host_bind *h, int32_t pid)
{
    cpubind_worker worker = cpubind_worker_of(pid);
    cpubind_proc_stat stat = {.start = 0};
    (void)cpubind_proc_stat_read(&h->root, pid, 0, &stat);
    worker.start = stat.start;
    worker.has_program = cpubind_bind_program(pid, h->sys, worker.program);
    return cpubind_host_add(h, &worker);
}
