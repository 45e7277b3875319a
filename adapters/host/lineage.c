/* lineage.c - which users of a device are forks of other ones
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "lineage.h"

#include <errno.h>
#include <stdlib.h>

#include "../linux/kernel/descendants.h"

/* The index of the row of a process and a device; -1: there is none. Any device with -1. */
static int32_t find_row(const cpubind_users *list, int32_t pid, int32_t device)
{
    for (int32_t i = 0; i < list->n; i++)
        if (list->row[i].pid == pid && (device < 0 || list->row[i].device == device))
            return i;
    return -1;
}

/* The users of one device, or of any with device -1. */
typedef struct users {
    const cpubind_users *list;
    int32_t device;
} users;

static int is_user(const void *ctx, int32_t pid)
{
    const users *of = (const users *)ctx;
    return find_row(of->list, pid, of->device) >= 0;
}

/* Finds the user of a device that a process was forked from, and when the process was
 * started; parent 0: there is none. */
static cpubind_linux_fault find_parent(cpubind_root *root, const cpubind_users *list,
                                       int32_t device, cpubind_fork *child)
{
    const users of = {list, device};
    return cpubind_forked_from(root, child->pid, (cpubind_fork_test){is_user, &of},
                               &child->parent, &child->start);
}

/* Adds the forks of users that are not in the list. */
static cpubind_linux_fault add_unlisted(cpubind_root *root, const cpubind_users *list,
                                        cpubind_children *out)
{
    const cpubind_sys *sys = root->sys;
    int32_t *seed = (int32_t *)sys->malloc(((size_t)list->n + 1) * sizeof *seed);
    cpubind_ids below = {NULL, 0, 0};
    cpubind_linux_fault why = cpubind_fault_of(seed ? 0 : ENOMEM, "memory");
    for (int32_t i = 0; i < list->n && seed; i++)
        seed[i] = list->row[i].pid;
    if (!why.error)
        why = cpubind_descendants(root, seed, list->n, &below);
    for (int32_t i = 0; i < below.n && !why.error; i++) {
        cpubind_fork child = {.pid = below.id[i]};
        if (find_row(list, child.pid, -1) >= 0)
            continue;
        why = find_parent(root, list, -1, &child);
        if (!why.error && child.parent) {
            child.device = list->row[find_row(list, child.parent, -1)].device;
            why = CPUBIND_APPEND(sys, out->row, out->n, out->cap, &child);
        }
    }
    free(below.id);
    free(seed);
    return why;
}

cpubind_linux_fault cpubind_split_children(cpubind_root *root, int finds_unlisted,
                                           cpubind_users *list, cpubind_children *out)
{
    cpubind_linux_fault why = cpubind_no_fault;
    int32_t n = 0;
    *out = (cpubind_children){NULL, 0, 0};
    if (finds_unlisted && list->n > 0)
        why = add_unlisted(root, list, out);
    for (int32_t i = 0; i < list->n && !why.error; i++) {
        cpubind_fork child = {.pid = list->row[i].pid, .device = list->row[i].device};
        why = find_parent(root, list, child.device, &child);
        if (!why.error && child.parent)
            why = CPUBIND_APPEND(root->sys, out->row, out->n, out->cap, &child);
    }
    /* The list is whole until all of it is judged: a parent may be a child itself. */
    for (int32_t i = 0; i < list->n && !why.error; i++) {
        int is_child = 0;
        for (int32_t k = 0; k < out->n && !is_child; k++)
            is_child = out->row[k].pid == list->row[i].pid &&
                       out->row[k].device == list->row[i].device;
        if (!is_child)
            list->row[n++] = list->row[i];
    }
    if (why.error) {
        free(out->row);
        *out = (cpubind_children){NULL, 0, 0};
    } else {
        list->n = n;
    }
    return why;
}
