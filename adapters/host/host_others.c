/* host_others.c - the processes beside the workers: the engine, its API server, tokenizers
 * SPDX-License-Identifier: MIT
 *
 * An other is a process of a worker's user that uses no device and is in the process group or
 * the container of that worker. A session, or the processes above a worker, would be too much:
 * they have the shell of an operator, and all that was started from it. Never an other: this
 * process and those above it, init, a thread of the kernel. Reads files only.
 *
 * What is of the engine that the request names is told by the names of its processes, and by
 * what is above the workers; which engine that is, if it is to be found, by the command lines
 * there.
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
    char name[16];  /* of its main thread */
    int32_t device; /* of a worker */
} identity;

static int read_identity(cpubind_host_bind *h, int32_t pid, ino_t own_space, identity *out)
{
    cpubind_proc_stat stat = {.start = 0};
    struct stat st;
    char name[40];
    if (cpubind_proc_stat_read(&h->root, pid, 0, &stat).error || stat.state == 'Z')
        return 0;
    *out =
        (identity){.pid = pid, .group = stat.group, .is_kernel = stat.is_kernel, .device = -1};
    memcpy(out->name, stat.name, sizeof out->name);
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

/* The parent of a process; 0: it has none, or that is not known. */
static int32_t parent_of(cpubind_host_bind *h, int32_t pid)
{
    cpubind_proc_stat stat = {.ppid = 0};
    (void)cpubind_proc_stat_read(&h->root, pid, 0, &stat);
    return stat.ppid;
}

/* Whether a process is another one or above it. */
static int is_above(cpubind_host_bind *h, int32_t pid, int32_t other)
{
    for (int i = 0; i < MAX_PARENTS && other > 0 && other != pid; i++)
        other = parent_of(h, other);
    return other == pid;
}

/* The shell that cpubind runs in is no other. */
static int is_above_self(cpubind_host_bind *h, int32_t pid)
{
    return is_above(h, pid, (int32_t)getpid());
}

/* The first worker of the user, and of the process group or the container, of a process, or
 * NULL. */
static const identity *find_beside(const identity *who, const workers *all)
{
    for (int32_t i = 0; i < all->n; i++) {
        const identity *w = &all->of[i];
        if (who->pid != w->pid && who->user == w->user &&
            ((who->group != 0 && who->group == w->group) ||
             (who->space != 0 && who->space == w->space)))
            return w;
    }
    return NULL;
}

static int is_beside(cpubind_host_bind *h, const identity *who, const workers *all)
{
    return who->pid != 1 && !who->is_kernel && find_beside(who, all) &&
           !is_above_self(h, who->pid);
}

/* == The engine ============================================================= */

static int fits(const char *pattern, const char *name)
{
    char made[CPUBIND_PATTERN_SIZE];
    return cpubind_pattern_make(pattern, made) && cpubind_pattern_matches(made, name);
}

/* Reads what the command lines of a worker and of the processes above it say of an engine: that
 * of the uppermost one counts. */
static void read_engine(cpubind_host_bind *h, int32_t pid, cpubind_engine_request *out)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; i < MAX_PARENTS && pid > 0; i++, pid = parent_of(h, pid)) {
        cpubind_engine_request said;
        cpubind_bytes bytes = {0};
        cpubind_input line;
        char name[40];
        (void)snprintf(name, sizeof name, "proc/%d/cmdline", (int)pid);
        line = cpubind_root_read(&h->root, name, &bytes);
        cpubind_engine_read(bytes.data, bytes.len, &said);
        if (said.engine != CPUBIND_ENGINE_NONE)
            *out = said;
        out->is_unclear |= line.state == CPUBIND_INPUT_FAILED && line.error != ESRCH;
        cpubind_bytes_free(&bytes);
    }
}

static int is_same_engine(const cpubind_engine_request *a, const cpubind_engine_request *b)
{
    return a->engine == b->engine && a->tp == b->tp && a->dp == b->dp && a->n_api == b->n_api &&
           a->is_unclear == b->is_unclear;
}

void cpubind_host_find_engine(cpubind_host_bind *h)
{
    const cpubind_engine_request none = {.engine = CPUBIND_ENGINE_NONE};
    cpubind_engine_request found = none, *engine = &h->options.request.engine;
    for (int32_t i = 0; i < h->n; i++) {
        const host_entry *e = h->entry[i];
        cpubind_engine_request one = none;
        if (e->is_listed && e->row.device >= 0 && !e->row.parent)
            read_engine(h, e->row.pid, &one);
        if (is_same_engine(&found, &none))
            found = one;
        else if (!is_same_engine(&one, &none) && !is_same_engine(&one, &found))
            found.is_unclear = 1;
    }
    if (found.is_unclear)
        found = (cpubind_engine_request){.is_unclear = 1};
    h->is_old |= !is_same_engine(&found, engine);
    *engine = found;
}

/* Finds what an other is of the engine: by its name; a process above a worker is of a server.
 *   out     *part: of cpubind_beside_kind; -1: nothing; *serves: the first device below it,
 *           else that of a worker beside it */
static void find_part(cpubind_host_bind *h, const identity *who, const workers *all,
                      int32_t *part, int32_t *serves)
{
    const cpubind_engine_kind *kind = cpubind_engine_of(h->options.request.engine.engine);
    const identity *beside = find_beside(who, all);
    int is_server = strncmp(who->name, kind->names, strlen(kind->names)) == 0;
    for (int32_t i = 0; i < all->n && *serves < 0; i++)
        if (is_above(h, who->pid, all->of[i].pid))
            *serves = all->of[i].device;
    is_server |= *serves >= 0;
    if (*serves < 0 && beside)
        *serves = beside->device;
    if (kind->core > 0 && fits(kind->core_name, who->name))
        *part = CPUBIND_BESIDE_ENGINE_CORE;
    else if (is_server)
        *part = CPUBIND_BESIDE_SERVER;
}

/* == The list =============================================================== */

static cpubind_linux_fault read_workers(cpubind_host_bind *h, workers *out)
{
    struct stat st;
    out->own_space = h->sys->statat(h->root.fd, "proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
    for (int32_t i = 0; i < h->n; i++) {
        identity who;
        if (h->entry[i]->row.device < 0 ||
            !read_identity(h, h->entry[i]->row.pid, out->own_space, &who))
            continue;
        who.device = h->entry[i]->row.device;
        const cpubind_linux_fault why = CPUBIND_APPEND(h->sys, out->of, out->n, out->cap, &who);
        if (why.error)
            return why;
    }
    return cpubind_no_fault;
}

/* Lists a process that is a worker, or an other that is bound. */
static int is_settled(cpubind_host_bind *h, int32_t pid)
{
    host_entry *e = cpubind_host_find(h, pid);
    if (!e || (e->row.device < 0 && e->row.state != CPUBIND_HOST_BOUND))
        return 0;
    e->is_listed = 1;
    return 1;
}

/* Adds an other, if the options put it somewhere. */
static void add_other(cpubind_host_bind *h, const identity *who, const workers *all)
{
    host_entry *e = cpubind_host_find(h, who->pid);
    int32_t part = -1, serves = -1;
    if (h->options.request.engine.engine != CPUBIND_ENGINE_NONE)
        find_part(h, who, all, &part, &serves);
    if (!h->options.keeps_others && part < 0)
        return;
    if (!e)
        e = cpubind_host_add_process(h, who->pid);
    if (!e)
        return;
    e->is_listed = 1;
    e->row.part = part;
    e->serves = serves;
}

/* Adds every process of the tree that uses no device. */
static void list_tree(cpubind_host_bind *h, const workers *all)
{
    for (int32_t i = 0; i < h->in_tree.n; i++) {
        const int32_t pid = h->in_tree.id[i];
        identity who;
        if (is_settled(h, pid) || (!cpubind_host_find(h, pid) &&
                                   (cpubind_host_parent(h, pid) || is_above_self(h, pid))))
            continue;
        if (read_identity(h, pid, all->own_space, &who))
            add_other(h, &who, all);
    }
}

cpubind_linux_fault cpubind_host_list_others(cpubind_host_bind *h)
{
    workers all = {NULL, 0, 0, 0};
    cpubind_ids pids = {NULL, 0, 0};
    cpubind_linux_fault why = read_workers(h, &all);
    if (!why.error && h->options.tree)
        list_tree(h, &all);
    else if (!why.error)
        why = cpubind_processes_list(&h->root, &pids);
    for (int32_t i = 0; i < pids.n && !why.error && all.n > 0; i++) {
        identity who;
        if (!is_settled(h, pids.id[i]) && !cpubind_host_parent(h, pids.id[i]) &&
            read_identity(h, pids.id[i], all.own_space, &who) && is_beside(h, &who, &all))
            add_other(h, &who, &all);
    }
    free(pids.id);
    free(all.of);
    return why;
}
