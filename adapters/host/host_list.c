/* host_list.c - which processes drive the NPUs of a host now
 * SPDX-License-Identifier: MIT
 *
 * Keeps one entry a process. Reads files only; the rows of workers are those of host_workers.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host_rows.h"

/* The arguments of read_list. */
typedef struct listing {
    cpubind_source source;
    const cpubind_facts *facts;
    cpubind_npu_processes found;
    cpubind_problem problem;
} listing;

static cpubind_problem_code read_list(void *ctx, cpubind_arena *arena)
{
    listing *l = (listing *)ctx;
    return cpubind_npu_processes_read(&l->source, l->facts, arena, &l->found, &l->problem);
}

cpubind_linux_host *cpubind_host_open_now(const cpubind_host_bind *h, cpubind_source *out)
{
    const cpubind_linux_live live = {.limit_ms = CPUBIND_LIVE_LIMIT_MS, .sys = h->sys};
    cpubind_linux_host *host = NULL;
    if (h->options.root)
        (void)cpubind_linux_open_folder(h->options.root, h->sys, &host, NULL);
    else if (!h->options.source)
        (void)cpubind_linux_open_live(&live, &host, NULL);
    if (host)
        *out = cpubind_linux_source(host);
    else
        *out = h->options.source ? *h->options.source : cpubind_linux_source(h->facts_host);
    return host;
}

/* The NPUs that a process drives: their number, and the first of them. */
static int32_t count_npus(const cpubind_npu_processes *found, int32_t pid, int32_t *npu)
{
    int32_t n = 0;
    for (int32_t i = 0; i < found->n; i++) {
        if (found->row[i].pid != pid)
            continue;
        if (n++ == 0)
            *npu = found->row[i].npu;
    }
    return n;
}

void cpubind_host_name_device(const cpubind_host_bind *h, host_entry *e)
{
    e->row.npu = h->facts.facts.npu[e->npu].logic;
    e->row.pci[0] = '\0';
    e->row.product = NULL;
    if (!h->options.devices || e->row.n_npu > 1)
        return;
    (void)cpubind_pci_format(e->row.pci, &h->device_facts.device[e->npu].pci);
    e->row.product = h->device_facts.device[e->npu].accelerator.product;
}

/* Marks the entries of the list, and drives them by the NPUs that they have now.
 *   returns 1 when the list has a process that is no entry */
int cpubind_host_mark_listed(cpubind_host_bind *h, const cpubind_npu_processes *found)
{
    int is_new = 0;
    for (int32_t i = 0; i < found->n; i++) {
        host_entry *e = cpubind_host_find(h, found->row[i].pid);
        int32_t npu = -1, n;
        if (!e || e->row.state == CPUBIND_HOST_ENDED) {
            is_new = 1;
            continue;
        }
        n = count_npus(found, e->row.pid, &npu);
        if (e->row.parent)
            cpubind_host_take_place(h, e);
        h->is_old |= e->npu != npu || e->row.n_npu != n;
        e->npu = npu;
        e->row.n_npu = n;
        cpubind_host_name_device(h, e);
        e->is_listed = 1;
    }
    return is_new;
}

/* A worker that cannot be read, or drives several NPUs, is said and never bound. */
static void refuse(host_entry *e, cpubind_linux_fault fault)
{
    e->row.state = CPUBIND_HOST_FAILED;
    e->row.status = CPUBIND_LINUX_ERR_GONE;
    e->row.fault = fault;
    e->row.is_news = 1;
    e->is_new = 0;
}

void cpubind_host_add_worker(cpubind_host_bind *h, const cpubind_worker *w,
                             const cpubind_npu_processes *found)
{
    host_entry *e = cpubind_host_add(h, w->pid, w->npu);
    if (!e)
        return;
    e->start = w->start;
    e->has_own_mask = w->has_own_mask;
    e->row.n_npu = count_npus(found, w->pid, &e->npu);
    cpubind_host_take_place(h, e);
    cpubind_host_name_device(h, e);
    memcpy(e->row.name, w->program, sizeof w->program);
    memcpy(e->row.container, w->container, sizeof w->container);
    if (w->allowed.n > 0)
        e->allowed = (int32_t *)h->sys->malloc((size_t)w->allowed.n * sizeof *e->allowed);
    if (e->allowed) {
        memcpy(e->allowed, w->allowed.cpu, (size_t)w->allowed.n * sizeof *e->allowed);
        e->n_allowed = w->allowed.n;
    }
    if (w->fault.error)
        refuse(e, w->fault);
    else if (e->row.n_npu > 1 && !h->options.devices)
        refuse(e, (cpubind_linux_fault){.error = EINVAL, .what = "several NPUs"});
}

cpubind_linux_fault cpubind_host_read_tree(cpubind_host_bind *h)
{
    cpubind_npu_process row = {h->options.tree, 0};
    const cpubind_npu_processes list = {.row = &row, .n = 1};
    cpubind_workers workers;
    cpubind_linux_fault why = cpubind_no_fault;
    if (cpubind_workers_read_local(&list, h->sys, &workers, &why) != CPUBIND_LINUX_OK)
        return why;
    if (workers.n == 0) {
        why = cpubind_fault_of(ESRCH, "process");
    } else {
        const cpubind_worker *w = &workers.row[0];
        const cpubind_cpus cpus = w->is_bound ? w->allowed : w->mask;
        h->tree_start = w->start;
        if (cpus.n > 0 && !h->options.request.allowed)
            h->tree_cpu = (int32_t *)h->sys->malloc((size_t)cpus.n * sizeof *h->tree_cpu);
        if (h->tree_cpu) {
            memcpy(h->tree_cpu, cpus.cpu, (size_t)cpus.n * sizeof *h->tree_cpu);
            h->options.request.allowed = h->tree_cpu;
            h->options.request.n_allowed = cpus.n;
        }
        why = w->fault;
    }
    cpubind_workers_free(&workers);
    return why;
}

cpubind_linux_fault cpubind_host_choose_in_tree(cpubind_host_bind *h,
                                                cpubind_npu_processes *found)
{
    int32_t *seed = (int32_t *)h->sys->malloc(((size_t)h->n + 1) * sizeof *seed);
    int32_t n_seed = 0, n = 0;
    cpubind_linux_fault why = cpubind_fault_of(seed ? 0 : ENOMEM, "memory");
    if (seed)
        seed[n_seed++] = h->options.tree;
    for (int32_t i = 0; i < h->n && seed; i++)
        if (h->entry[i]->row.state != CPUBIND_HOST_ENDED)
            seed[n_seed++] = h->entry[i]->row.pid;
    if (!why.error)
        why = cpubind_descendants(&h->root, seed, n_seed, &h->in_tree);
    free(seed);
    if (why.error)
        h->in_tree.n = 0;
    for (int32_t i = 0; i < found->n; i++)
        if (cpubind_ids_has(&h->in_tree, found->row[i].pid))
            found->row[n++] = found->row[i];
    found->n = n;
    return why;
}

cpubind_problem cpubind_host_list_workers(cpubind_host_bind *h)
{
    listing l = {.facts = &h->facts.facts};
    cpubind_workers workers = {.n = 0};
    cpubind_children children = {NULL, 0, 0};
    cpubind_linux_host *host;
    cpubind_linux_fault why = cpubind_no_fault;
    if (h->options.devices)
        return cpubind_host_list_users(h);
    host = cpubind_host_open_now(h, &l.source);
    cpubind_problem_clear(&l.problem);
    l.problem.code = cpubind_host_with_arena(h->sys, &h->list_arena, read_list, &l);
    /* In another pid namespace the numbers of the list are of other processes. */
    if (l.problem.code == CPUBIND_PROBLEM_NONE && cpubind_pid_namespace(&h->root) == 0)
        why = cpubind_split_children(&h->root, 1, &l.found, &children);
    if (l.problem.code == CPUBIND_PROBLEM_NONE &&
        (why.error || (h->options.tree && cpubind_host_choose_in_tree(h, &l.found).error)))
        l.problem.code = CPUBIND_PROBLEM_NO_MEMORY;
    if (l.problem.code == CPUBIND_PROBLEM_NONE && cpubind_host_mark_listed(h, &l.found) &&
        cpubind_workers_read(&l.found, h->sys, &workers, NULL) == CPUBIND_LINUX_OK)
        for (int32_t i = 0; i < workers.n; i++)
            if (!cpubind_host_find(h, workers.row[i].pid))
                cpubind_host_add_worker(h, &workers.row[i], &l.found);
    if (l.problem.code == CPUBIND_PROBLEM_NONE && !cpubind_host_take_children(h, &children))
        l.problem.code = CPUBIND_PROBLEM_NO_MEMORY;
    free(children.row);
    cpubind_workers_free(&workers);
    cpubind_linux_close(host);
    l.problem.answer = (cpubind_input){.state = l.problem.answer.state,
                                       .exit_code = l.problem.answer.exit_code,
                                       .error = l.problem.answer.error,
                                       .why = l.problem.answer.why};
    return l.problem;
}
