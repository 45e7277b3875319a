/* cpubind_forkren.c - the forks of workers: they share what their worker has
 * SPDX-License-Identifier: MIT
 *
 * A child has no part of a pool and moves nobody. One that was forked after its worker was
 * bound has its CPUs from it, and nothing is written; it goes where its worker goes, and back
 * with it. Only a child that is elsewhere becomes an entry, is bound to the main CPUs of its
 * worker, and is put back as any other. Which process
 * is a child is in lineage.h.
 */
#include <stdlib.h>
#include <string.h>

#include "../text/cpulist.h"
#include "host_rows.h"

/* == Who belongs to whom ==================================================== */

static const cpubind_fork *find_child(const cpubind_host_bind *h, int32_t pid)
{
    for (int32_t i = 0; i < h->child.n; i++)
        if (h->child.row[i].pid == pid)
            return &h->child.row[i];
    return NULL;
}

int32_t cpubind_host_parent(const cpubind_host_bind *h, int32_t pid)
{
    const cpubind_fork *child = find_child(h, pid);
    return child ? child->parent : 0;
}

/* The worker that a child belongs to, which lives or has an heir: the first of its children
 * that is found without it, this process where there is none yet. */
static int32_t find_heir(cpubind_host_bind *h, const cpubind_fork *of, int32_t pid)
{
    for (int32_t i = 0; i < h->n; i++) {
        const host_entry *e = h->entry[i];
        if (e->row.parent == 0 && e->row.state != CPUBIND_HOST_ENDED &&
            e->order_pid == of->parent_pid && e->order_start == of->parent_start)
            return e->row.pid;
    }
    if (of->heir)
        return of->heir;
    for (int32_t i = 0; i < h->child.n; i++)
        if (h->child.row[i].parent_pid == of->parent_pid &&
            h->child.row[i].parent_start == of->parent_start)
            h->child.row[i].heir = pid;
    return of->heir;
}

/* What a process was a child of at the last listing, if it is one that has executed no program
 * since; NULL: nothing. */
static const cpubind_fork *find_orphan(cpubind_host_bind *h, int32_t pid)
{
    const cpubind_fork *known = find_child(h, pid);
    cpubind_proc_stat stat;
    if (!known || cpubind_proc_stat_read(&h->root, pid, 0, &stat).error)
        return NULL;
    return stat.is_forked && stat.start == known->start ? known : NULL;
}

int cpubind_host_keep_orphans(cpubind_host_bind *h, cpubind_users *found,
                              cpubind_children *children)
{
    int32_t n = 0;
    for (int32_t i = 0; i < found->n; i++) {
        const int32_t pid = found->row[i].pid;
        const cpubind_fork *known = find_orphan(h, pid);
        const int32_t heir = known ? find_heir(h, known, pid) : pid;
        if (heir == pid) {
            found->row[n++] = found->row[i];
            continue;
        }
        const cpubind_fork row = {
            .pid = pid, .parent = heir, .device = found->row[i].device, .start = known->start};
        if (CPUBIND_APPEND(h->sys, children->row, children->n, children->cap, &row).error)
            return 0;
    }
    found->n = n;
    return 1;
}

void cpubind_host_take_place(cpubind_host_bind *h, host_entry *e)
{
    const cpubind_fork *known = find_orphan(h, e->row.pid);
    h->is_old |= e->row.parent != 0;
    e->row.parent = 0;
    if (known && known->heir == e->row.pid) {
        e->order_pid = known->parent_pid;
        e->order_start = known->parent_start;
    }
}

/* Counts the children of an entry. */
static int32_t count_children(const cpubind_host_bind *h, int32_t pid)
{
    int32_t n = 0;
    for (int32_t i = 0; i < h->child.n; i++)
        n += h->child.row[i].parent == pid;
    return n;
}

void cpubind_host_take_children(cpubind_host_bind *h, cpubind_children *children)
{
    int32_t n = 0;
    for (int32_t i = 0; i < children->n; i++) {
        cpubind_fork *child = &children->row[i];
        const cpubind_fork *known = find_child(h, child->pid);
        const host_entry *parent = cpubind_host_find(h, child->parent);
        host_entry *e = cpubind_host_find(h, child->pid);
        if (!parent || (n > 0 && children->row[n - 1].pid == child->pid))
            continue;
        child->parent_pid = parent->order_pid;
        child->parent_start = parent->order_start;
        child->was_inside = known && known->start == child->start && known->was_inside;
        children->row[n++] = *child;
        if (e && e->row.parent) {
            e->row.parent = child->parent;
            e->is_listed = 1;
        }
    }
    free(h->child.row);
    h->child = (cpubind_children){children->row, n, children->cap};
    *children = (cpubind_children){NULL, 0, 0};
    for (int32_t i = 0; i < h->n; i++)
        h->entry[i]->row.n_child = count_children(h, h->entry[i]->row.pid);
}

/* == Where they are ========================================================= */

int cpubind_host_keep_main_text(cpubind_host_bind *h, host_entry *e, const char *text)
{
    cpubind_int_list list = {NULL, CPUBIND_MAX_CPUS, 0};
    int is_kept;
    list.out = (int32_t *)h->sys->malloc(CPUBIND_MAX_CPUS * sizeof *list.out);
    is_kept = list.out && text &&
              cpubind_cpulist_parse(text, (int32_t)strlen(text), CPUBIND_MAX_CPUS, &list,
                                    NULL) == CPUBIND_TEXT_OK &&
              cpubind_worker_keep(h->sys, (cpubind_cpus){list.out, list.n}, &e->main);
    free(list.out);
    return is_kept;
}

/* Whether the main thread of a process has CPUs of this list alone; 1 where that is not known.
 *   out     *n: how many it has */
static int is_inside(const cpubind_host_bind *h, int32_t pid, const host_entry *parent,
                     int32_t *n)
{
    cpubind_cpu_sets sets = {NULL, 0, 0};
    int32_t set;
    int is_in = 1;
    *n = 0;
    if (!cpubind_task_cpus(h->sys, pid, &sets, &set).error) {
        *n = sets.set[set].n;
        is_in =
            cpubind_list_common(sets.set[set].cpu, *n, parent->main.cpu, parent->main.n) == *n;
    }
    cpubind_cpu_sets_free(&sets);
    return is_in;
}

/* Adds the entry of a child. */
static void add_entry(cpubind_host_bind *h, const cpubind_fork *child, const host_entry *parent,
                      int32_t n_cpu)
{
    host_entry *e = cpubind_host_add_process(h, child->pid);
    if (!e)
        return;
    e->row.device = parent->row.device;
    e->row.parent = parent->row.pid;
    e->row.n_device = 1;
    e->row.n_process = parent->row.n_process;
    e->row.process = parent->row.process;
    memcpy(e->row.container, parent->row.container, sizeof e->row.container);
    e->row.has_own_mask = !child->was_inside && n_cpu < parent->row.allowed.n;
    cpubind_host_name_device(h, &e->row);
}

void cpubind_host_add_strays(cpubind_host_bind *h)
{
    for (int32_t i = 0; i < h->child.n; i++) {
        cpubind_fork *child = &h->child.row[i];
        const host_entry *parent = cpubind_host_find(h, child->parent);
        int32_t n_cpu;
        int is_in;
        if (!parent || !parent->main.cpu || parent->row.state == CPUBIND_HOST_ENDED ||
            cpubind_host_find(h, child->pid))
            continue;
        is_in = is_inside(h, child->pid, parent, &n_cpu);
        if (parent->row.binding && (!is_in || n_cpu < parent->main.n)) {
            cpubind_bind_move_fork(parent->row.binding, child->pid);
            is_in = is_inside(h, child->pid, parent, &n_cpu);
        }
        if (is_in)
            child->was_inside = 1;
        else
            add_entry(h, child, parent, n_cpu);
    }
}
