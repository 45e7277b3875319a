/* worker_figures.c - count where the workers of a host are now
 * SPDX-License-Identifier: MIT
 *
 * Each worker is opened for reading beside the binding that the service holds: no lock is
 * taken, and nothing is changed.
 */
#define _GNU_SOURCE
#include "worker_figures.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../linux/kernel/process.h"

void cpubind_figures_pause(const cpubind_sys *sys, int fd, int32_t ms)
{
    struct pollfd wait = {fd, POLLIN, 0};
    (void)sys->poll(&wait, 1, ms);
}

/* Compares a process with its record. The state stays where it cannot be read. One on record
 * alone counts while it lives. */
static void look_at(const cpubind_host_bind *host, cpubind_worker *w, int is_recorded,
                    int has_memory, cpubind_figures_visit *visit, void *ctx)
{
    const cpubind_bind_options how = {.pid = w->pid,
                                      .is_reading = 1,
                                      .memory = has_memory ? CPUBIND_MEMORY_MIGRATE
                                                           : CPUBIND_MEMORY_NONE};
    cpubind_host_state state = w->state;
    w->report = NULL;
    w->binding = NULL;
    if (w->state != CPUBIND_HOST_ENDED &&
        cpubind_host_compare(host, w, &how, &state, NULL) != CPUBIND_LINUX_OK)
        w->report = NULL;
    if (w->state != CPUBIND_HOST_LEFT && w->state != CPUBIND_HOST_FAILED)
        w->state = state;
    if (!is_recorded || (w->binding && cpubind_bind_is_alive(w->binding)))
        visit(ctx, w);
    cpubind_bind_close(w->binding);
}

void cpubind_figures_each(const cpubind_host_bind *host, int has_memory,
                          cpubind_figures_visit *visit, void *ctx)
{
    for (int32_t i = 0; i < cpubind_host_bind_n(host); i++) {
        cpubind_worker w = *cpubind_host_bind_row(host, i);
        look_at(host, &w, 0, has_memory, visit, ctx);
    }
}

void cpubind_figures_recorded(const cpubind_host_bind *host, const cpubind_sys *sys,
                              cpubind_figures_visit *visit, void *ctx)
{
    int32_t *pid = NULL, n = 0;
    if (cpubind_bind_list(sys, &pid, &n, NULL) != CPUBIND_LINUX_OK)
        return;
    for (int32_t i = 0; i < n; i++) {
        cpubind_worker w = cpubind_worker_of(pid[i]);
        if (cpubind_host_bind_of(host, pid[i]))
            continue;
        w.n_process = 1;
        (void)cpubind_bind_program(pid[i], sys, w.program);
        look_at(host, &w, 1, 1, visit, ctx);
    }
    free(pid);
}

/* == Figures of each NPU ==================================================== */

typedef struct counting {
    const cpubind_sys *sys;
    cpubind_root root; /* "/" */
    cpubind_service_device *device;
    int32_t n, cap;
    int has_memory, is_short;
} counting;

/* Writes the labels of a pod; nothing without one. */
static void name_pod(const cpubind_pod *pod, char out[CPUBIND_POD_LABELS_SIZE])
{
    int n = 0;
    *out = '\0';
    if (*pod->name)
        n = snprintf(out, CPUBIND_POD_LABELS_SIZE,
                     "pod=\"%s\",namespace=\"%s\",container=\"%s\",", pod->name, pod->space,
                     pod->container);
    if (*pod->uid)
        (void)snprintf(out + n, CPUBIND_POD_LABELS_SIZE - (size_t)n,
                       "pod_uid=\"%s\",qos=\"%s\"", pod->uid, cpubind_qos_word(pod->qos));
}

/* Whether the figures of what a row uses come behind others, or are these: -1, 1, 0. Those with
 * a logic id come first, those of several devices last. */
static int compare(const cpubind_service_device *a, const cpubind_worker *row, const char *pod)
{
    const int is_last = !*a->pci - !*row->pci;
    int order;
    if (a->number >= 0 || row->number >= 0)
        order = a->number < 0     ? 1
                : row->number < 0 ? -1
                                  : (a->number > row->number) - (a->number < row->number);
    else
        order = is_last ? is_last : strcmp(a->pci, row->pci);
    return order ? order : strcmp(a->pod, pod);
}

/* The figures of what a row uses; new ones are zero but for the memory, which is not known. */
static cpubind_service_device *find(counting *c, const cpubind_worker *row)
{
    char pod[CPUBIND_POD_LABELS_SIZE];
    int32_t at = 0;
    cpubind_service_device row_of = {.number = row->number, .near_bytes = -1, .far_bytes = -1};
    name_pod(&row->pod, pod);
    while (at < c->n && compare(&c->device[at], row, pod) < 0)
        at++;
    if (at < c->n && compare(&c->device[at], row, pod) == 0)
        return &c->device[at];
    (void)snprintf(row_of.pci, sizeof row_of.pci, "%s", row->pci);
    memcpy(row_of.pod, pod, sizeof pod);
    return CPUBIND_INSERT(c->sys, c->device, c->n, c->cap, at, &row_of).error ? NULL
                                                                              : &c->device[at];
}

static void add_items(cpubind_service_device *device, const cpubind_outcomes *r)
{
    for (int32_t i = 0; i < r->n; i++) {
        const cpubind_item *item = &r->item[i];
        const int is_right = item->result == CPUBIND_ITEM_RIGHT;
        if (item->kind == CPUBIND_ITEM_THREAD) {
            device->right += is_right;
            device->elsewhere += !is_right;
        } else if (item->kind == CPUBIND_ITEM_IRQ) {
            device->irqs_right += is_right;
            device->irqs_elsewhere += !is_right;
        }
    }
}

static void add_memory(cpubind_service_device *device, const cpubind_outcomes *r)
{
    if (!r->has_memory || r->memory.error || r->memory_node < 0)
        return;
    device->near_bytes =
        (device->near_bytes < 0 ? 0 : device->near_bytes) + r->memory.own - r->memory.own_left;
    device->far_bytes = (device->far_bytes < 0 ? 0 : device->far_bytes) + r->memory.own_left;
}

static void count_row(void *ctx, const cpubind_worker *row)
{
    counting *c = (counting *)ctx;
    const int is_worker = row->device >= 0 || row->number >= 0 || *row->pci;
    cpubind_service_device *device = is_worker ? find(c, row) : NULL;
    cpubind_proc_stat stat = {.n_threads = 0};
    c->is_short |= is_worker && !device;
    if (!device || row->state == CPUBIND_HOST_ENDED)
        return;
    device->processes++;
    if (row->report && row->report->has_goal) {
        add_items(device, row->report);
        add_memory(device, row->report);
    } else if (!cpubind_proc_stat_read(&c->root, row->pid, 0, &stat).error) {
        device->unbound += stat.n_threads;
    }
}

/* Keeps the memory of NPUs that were counted before. */
static void keep_memory(counting *c, const cpubind_service_counts *before)
{
    for (int32_t i = 0; i < before->n_device; i++)
        for (int32_t k = 0; k < c->n; k++)
            if (c->device[k].number == before->device[i].number &&
                strcmp(c->device[k].pci, before->device[i].pci) == 0 &&
                strcmp(c->device[k].pod, before->device[i].pod) == 0) {
                c->device[k].near_bytes = before->device[i].near_bytes;
                c->device[k].far_bytes = before->device[i].far_bytes;
            }
}

cpubind_linux_fault cpubind_figures_count(const cpubind_host_bind *host, const cpubind_sys *sys,
                                          int has_memory, cpubind_service_counts *counts)
{
    counting c = {.sys = sys};
    cpubind_linux_fault why = cpubind_root_live(&c.root, sys);
    if (why.error)
        return why;
    cpubind_figures_each(host, has_memory, count_row, &c);
    (void)sys->close(c.root.fd);
    if (c.is_short) {
        free(c.device);
        return cpubind_fault_of(ENOMEM, "memory");
    }
    if (!has_memory)
        keep_memory(&c, counts);
    free(counts->device);
    counts->device = c.device;
    counts->n_device = c.n;
    return cpubind_no_fault;
}
