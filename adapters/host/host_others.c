/* host_others.c - the processes beside the workers: the engine, its API server, tokenizers
 * SPDX-License-Identifier: MIT
 *
 * An other is a process of a worker's user that uses no device and is in the process group or
 * the container of that worker. A session, or the processes above a worker, would be too much:
 * they have the shell of an operator, and all that was started from it. Never an other: this
 * process and those above it, init, a thread of the kernel. Reads files only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../linux/kernel/process.h"
#include "host_rows.h"

/* Processes above another one that are looked at. */
#define MAX_PARENTS 32

/* Who a process is. */
typedef struct identity {
    int32_t pid, group;
    uid_t user;
    ino_t space; /* its pid namespace; 0: not known, or that of this process */
    int is_kernel;
} identity;

static int read_identity(cpubind_host_bind *h, int32_t pid, ino_t own_space, identity *out)
{
    cpubind_proc_stat stat = {.start = 0};
    struct stat st;
    char name[40];
    if (cpubind_proc_stat_read(&h->root, pid, 0, &stat).error || stat.state == 'Z')
        return 0;
    *out = (identity){.pid = pid, .group = stat.group, .is_kernel = stat.is_kernel};
    (void)snprintf(name, sizeof name, "proc/%d", (int)pid);
    if (h->sys->statat(h->root.fd, name, &st) < 0)
        return 0;
    out->user = st.st_uid;
    (void)snprintf(name, sizeof name, "proc/%d/ns/pid", (int)pid);
    if (h->sys->statat(h->root.fd, name, &st) == 0 && st.st_ino != own_space)
        out->space = st.st_ino;
    return 1;
}

/* The workers, and the processes above them. */
typedef struct workers {
    identity *of;
    int32_t n, cap;
    ino_t own_space;
} workers;

/* Whether a process is this one or above it: the shell that cpubind runs in is no other. */
static int is_above_self(cpubind_host_bind *h, int32_t pid)
{
    cpubind_proc_stat stat = {.ppid = (int32_t)getpid()};
    for (int i = 0; i < MAX_PARENTS && stat.ppid > 0; i++) {
        const int32_t at = stat.ppid;
        if (at == pid)
            return 1;
        stat.ppid = 0;
        if (cpubind_proc_stat_read(&h->root, at, 0, &stat).error)
            return 0;
    }
    return 0;
}

static int is_beside(cpubind_host_bind *h, const identity *who, const workers *all)
{
    if (who->pid == 1 || who->is_kernel)
        return 0;
    for (int32_t i = 0; i < all->n; i++) {
        const identity *w = &all->of[i];
        if (who->pid != w->pid && who->user == w->user &&
            ((who->group != 0 && who->group == w->group) ||
             (who->space != 0 && who->space == w->space)))
            return !is_above_self(h, who->pid);
    }
    return 0;
}

static cpubind_linux_fault read_workers(cpubind_host_bind *h, workers *out)
{
    struct stat st;
    out->own_space = h->sys->statat(h->root.fd, "proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
    for (int32_t i = 0; i < h->n; i++) {
        identity who;
        if (h->entry[i]->device < 0 ||
            !read_identity(h, h->entry[i]->row.pid, out->own_space, &who))
            continue;
        const cpubind_linux_fault why = CPUBIND_APPEND(h->sys, out->of, out->n, out->cap, &who);
        if (why.error)
            return why;
    }
    return cpubind_no_fault;
}

/* Adds every process of the tree that uses no device. */
static cpubind_linux_fault list_tree(cpubind_host_bind *h)
{
    for (int32_t i = 0; i < h->in_tree.n; i++) {
        const int32_t pid = h->in_tree.id[i];
        host_entry *e = cpubind_host_find(h, pid);
        cpubind_proc_stat stat;
        if (!e && (cpubind_host_parent(h, pid) || is_above_self(h, pid) ||
                   cpubind_proc_stat_read(&h->root, pid, 0, &stat).error || stat.state == 'Z'))
            continue;
        if (!e)
            e = cpubind_host_add(h, pid, -1);
        if (!e)
            return cpubind_fault_of(ENOMEM, "memory");
        e->is_listed = 1;
    }
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_host_list_others(cpubind_host_bind *h)
{
    workers all = {NULL, 0, 0, 0};
    cpubind_ids pids = {NULL, 0, 0};
    cpubind_linux_fault why;
    if (h->options.tree)
        return list_tree(h);
    why = read_workers(h, &all);
    if (!why.error)
        why = cpubind_processes_list(&h->root, &pids);
    for (int32_t i = 0; i < pids.n && !why.error && all.n > 0; i++) {
        host_entry *e = cpubind_host_find(h, pids.id[i]);
        identity who;
        if (e && (e->device >= 0 || e->row.state == CPUBIND_HOST_BOUND)) {
            e->is_listed = 1;
            continue;
        }
        if (cpubind_host_parent(h, pids.id[i]) ||
            !read_identity(h, pids.id[i], all.own_space, &who) || !is_beside(h, &who, &all))
            continue;
        if (!e)
            e = cpubind_host_add(h, pids.id[i], -1);
        if (e)
            e->is_listed = 1;
    }
    free(pids.id);
    free(all.of);
    return why;
}
