/* kernel_threads.c - finds kernel threads by their names
 * SPDX-License-Identifier: MIT
 *
 * A host of many CPUs has thousands of kernel threads, so their names are read once for all
 * bindings of a group; the one that is found is read again. Moves nothing. Rules: proc(5).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kernel/process.h"
#include "binding.h"

/* kthreadd, the parent of all kernel threads. */
#define KTHREADD 2

/* How long the names hold for the bindings of a group. */
#define LIST_MS 1000

/* The processes that may be kernel threads: the children of kthreadd; where the kernel does not
 * list children, all processes. None when kthreadd is not visible. */
static cpubind_linux_fault list_kernel_threads(cpubind_binding *b, cpubind_ids *out)
{
    cpubind_proc_stat stat = {.start = 0};
    cpubind_bytes bytes = {0};
    cpubind_linux_fault why = cpubind_proc_stat_read(&b->root, KTHREADD, 0, &stat);
    if (cpubind_is_unseen(why.error) || (!why.error && !stat.is_kernel))
        return cpubind_no_fault;
    if (!why.error)
        why =
            cpubind_input_fault(cpubind_root_read(&b->root, "proc/2/task/2/children", &bytes));
    for (int32_t at = 0; !why.error && at < bytes.len;) {
        char *end; /* a blank follows each number */
        why = cpubind_ids_add(out, b->sys, (int32_t)strtol(bytes.data + at, &end, 10));
        at = (int32_t)(end - bytes.data) + 1;
    }
    cpubind_bytes_free(&bytes);
    if (!cpubind_is_unseen(why.error))
        return cpubind_fault_of(why.error, why.error == ENOMEM ? "memory" : "list children");
    return cpubind_processes_list(&b->root, out);
}

/* Reads the name of a process; no name when it has ended. */
static cpubind_linux_fault read_name(cpubind_binding *b, int32_t pid, cpubind_kernel_name *out)
{
    char path[32];
    cpubind_linux_fault why;
    out->pid = pid;
    out->len = 0;
    (void)snprintf(path, sizeof path, "proc/%d/comm", (int)pid);
    why = cpubind_read_text(b->sys, b->root.fd, path, out->comm, sizeof out->comm, &out->len);
    return cpubind_is_unseen(why.error) ? cpubind_no_fault : why;
}

void cpubind_kernel_list_free(cpubind_kernel_list *list)
{
    free(list->row);
    *list = (cpubind_kernel_list){0};
}

static cpubind_linux_fault read_names(cpubind_binding *b, cpubind_kernel_list *list)
{
    cpubind_ids ids = {0};
    cpubind_linux_fault why = list_kernel_threads(b, &ids);
    list->n = 0;
    for (int32_t i = 0; !why.error && i < ids.n; i++) {
        cpubind_kernel_name row;
        why = read_name(b, ids.id[i], &row);
        if (!why.error && row.len > 0)
            why = CPUBIND_APPEND(b->sys, list->row, list->n, list->cap, &row);
    }
    free(ids.id);
    list->end_ms = why.error ? 0 : cpubind_now_ms() + LIST_MS;
    return why;
}

/* Fills *out if a process is the kernel thread of this name now. */
static cpubind_linux_fault try_kernel_thread(cpubind_binding *b, int32_t pid, const char *name,
                                             cpubind_shared_entry *out)
{
    cpubind_proc_stat stat = {.start = 0};
    cpubind_kernel_name now;
    cpubind_linux_fault why = read_name(b, pid, &now);
    if (why.error || !cpubind_comm_is(now.comm, now.len, name))
        return why;
    why = cpubind_proc_stat_read(&b->root, pid, 0, &stat);
    if (why.error)
        return cpubind_is_unseen(why.error) ? cpubind_no_fault : why;
    if (stat.is_kernel) {
        out->pid = out->number = pid;
        out->start = stat.start;
    }
    return cpubind_no_fault;
}

static cpubind_kernel_list *list_of(cpubind_binding *b)
{
    return b->group ? &b->group->kernel : &b->kernel;
}

cpubind_linux_fault cpubind_read_kernel_names(cpubind_binding *b)
{
    return list_of(b)->end_ms <= cpubind_now_ms() ? read_names(b, list_of(b))
                                                  : cpubind_no_fault;
}

void cpubind_keep_kernel_names(cpubind_binding *b)
{
    list_of(b)->end_ms = cpubind_now_ms() + LIST_MS;
}

cpubind_linux_fault cpubind_find_kernel_thread(cpubind_binding *b, const char *name,
                                               cpubind_shared_entry *out)
{
    const cpubind_shared_record *host = &b->shared.record;
    cpubind_kernel_list *list = list_of(b);
    cpubind_linux_fault why = cpubind_no_fault;
    for (int32_t i = 0; !why.error && i < host->n_entry && out->pid == 0; i++)
        if (host->entry[i].kind == CPUBIND_ITEM_KERNEL &&
            strcmp(host->entry[i].id.name, name) == 0)
            why = try_kernel_thread(b, host->entry[i].number, name, out);
    if (!why.error && out->pid == 0)
        why = cpubind_read_kernel_names(b);
    for (int32_t i = list->n; !why.error && out->pid == 0 && i-- > 0;)
        if (cpubind_comm_is(list->row[i].comm, list->row[i].len, name))
            why = try_kernel_thread(b, list->row[i].pid, name, out);
    return why;
}
