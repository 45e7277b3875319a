/* lineage.c - which users of a device are forks of other ones
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "lineage.h"

#include <errno.h>
#include <stdlib.h>

#include "descendants.h"

/* Forks of forks that are looked at. */
#define MAX_FORKS 64

/* The index of the row of a process and a device; -1: there is none. Any device with npu -1. */
static int32_t find_row(const cpubind_npu_processes *list, int32_t pid, int32_t npu)
{
    for (int32_t i = 0; i < list->n; i++)
        if (list->row[i].pid == pid && (npu < 0 || list->row[i].npu == npu))
            return i;
    return -1;
}

/* Whether two processes run one program, as far as the kernel shows that. */
static int is_same_program(const cpubind_proc_stat *a, const cpubind_proc_stat *b)
{
    const int is_shown = a->code > 1 && b->code > 1;
    return !is_shown || (a->code == b->code && a->stack == b->stack);
}

/* A process that has ended, or is hidden, is no parent and no child; what could not be read for
 * another reason is not known. */
static cpubind_linux_fault judge(cpubind_linux_fault why, int *is_over)
{
    *is_over = why.error != 0;
    return cpubind_is_unseen(why.error) || why.error == EILSEQ ? cpubind_no_fault : why;
}

/* Finds the user of a device that a process was forked from, the first one of all, and when the
 * process was started; parent 0: there is none. */
static cpubind_linux_fault find_parent(cpubind_root *root, const cpubind_npu_processes *list,
                                       int32_t npu, cpubind_child *child)
{
    cpubind_proc_stat own, above;
    int is_over;
    cpubind_linux_fault why =
        judge(cpubind_proc_stat_read(root, child->pid, 0, &own), &is_over);
    child->parent = 0;
    child->start = is_over ? 0 : own.start;
    for (int i = 0; i < MAX_FORKS && !is_over && own.is_forked && own.state != 'Z'; i++) {
        const int32_t at = own.ppid;
        why = judge(cpubind_proc_stat_read(root, at, 0, &above), &is_over);
        if (is_over || !is_same_program(&own, &above))
            break;
        if (find_row(list, at, npu) >= 0)
            child->parent = at;
        own = above;
    }
    return why;
}

static cpubind_linux_fault add(const cpubind_sys *sys, cpubind_children *out,
                               cpubind_child child)
{
    cpubind_child *row =
        (cpubind_child *)cpubind_grow(sys, out->row, out->n, &out->cap, sizeof *row);
    if (!row)
        return cpubind_fault_of(ENOMEM, "memory");
    out->row = row;
    out->row[out->n++] = child;
    return cpubind_no_fault;
}

/* Adds the forks of users that are not in the list. */
static cpubind_linux_fault add_unlisted(cpubind_root *root, const cpubind_npu_processes *list,
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
        cpubind_child child = {.pid = below.id[i]};
        if (find_row(list, child.pid, -1) >= 0)
            continue;
        why = find_parent(root, list, -1, &child);
        if (!why.error && child.parent) {
            child.npu = list->row[find_row(list, child.parent, -1)].npu;
            why = add(sys, out, child);
        }
    }
    free(below.id);
    free(seed);
    return why;
}

cpubind_linux_fault cpubind_split_children(cpubind_root *root, int finds_unlisted,
                                           cpubind_npu_processes *list, cpubind_children *out)
{
    cpubind_linux_fault why = cpubind_no_fault;
    int32_t n = 0;
    *out = (cpubind_children){NULL, 0, 0};
    if (finds_unlisted && list->n > 0)
        why = add_unlisted(root, list, out);
    for (int32_t i = 0; i < list->n && !why.error; i++) {
        cpubind_child child = {.pid = list->row[i].pid, .npu = list->row[i].npu};
        why = find_parent(root, list, child.npu, &child);
        if (!why.error && child.parent)
            why = add(root->sys, out, child);
    }
    /* The list is whole until all of it is judged: a parent may be a child itself. */
    for (int32_t i = 0; i < list->n && !why.error; i++) {
        int is_child = 0;
        for (int32_t k = 0; k < out->n && !is_child; k++)
            is_child =
                out->row[k].pid == list->row[i].pid && out->row[k].npu == list->row[i].npu;
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
