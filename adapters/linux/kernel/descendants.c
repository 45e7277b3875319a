/* descendants.c - the processes below another one, and which of them are its forks
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "descendants.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The index of a number in a sorted list, or -1. */
static int32_t index_of(const cpubind_ids *ids, int32_t id)
{
    const int32_t at = cpubind_place_in(ids->id, ids->n, sizeof id, &id, cpubind_order_of_ids);
    return at < ids->n && ids->id[at] == id ? at : -1;
}

/* Marks each process whose parent is marked, until no pass marks one more. parent[i] is 0 where
 * process i has ended. */
static void mark_children(const cpubind_ids *all, const int32_t *parent, uint8_t *mark)
{
    int is_more = 1;
    while (is_more) {
        is_more = 0;
        for (int32_t i = 0; i < all->n; i++) {
            const int32_t k = mark[i] ? -1 : index_of(all, parent[i]);
            if (k < 0 || !mark[k])
                continue;
            mark[i] = 1;
            is_more = 1;
        }
    }
}

/* Keeps the marked ones. */
static void keep_marked(cpubind_ids *all, const uint8_t *mark)
{
    int32_t n = 0;
    for (int32_t i = 0; i < all->n; i++)
        if (mark[i])
            all->id[n++] = all->id[i];
    all->n = n;
}

/* A process that has ended, or is hidden, is no parent and no child; what could not be read for
 * another reason is not known. */
static cpubind_linux_fault judge(cpubind_linux_fault why, int *is_over)
{
    *is_over = why.error != 0;
    return cpubind_is_unseen(why.error) || why.error == EILSEQ ? cpubind_no_fault : why;
}

cpubind_linux_fault cpubind_descendants(cpubind_root *root, const int32_t *seed, int32_t n_seed,
                                        cpubind_ids *out)
{
    const cpubind_sys *sys = root->sys;
    int32_t *parent = NULL;
    uint8_t *mark = NULL;
    cpubind_linux_fault why = cpubind_processes_list(root, out);
    if (!why.error) {
        parent = (int32_t *)sys->malloc(((size_t)out->n + 1) * sizeof *parent);
        mark = (uint8_t *)sys->malloc((size_t)out->n + 1);
        why = parent && mark ? cpubind_no_fault : cpubind_fault_of(ENOMEM, "memory");
    }
    for (int32_t i = 0; i < out->n && !why.error; i++) {
        cpubind_proc_stat stat;
        int is_over;
        why = judge(cpubind_proc_stat_read(root, out->id[i], 0, &stat), &is_over);
        parent[i] = is_over ? 0 : stat.ppid;
        mark[i] = 0;
        for (int32_t k = 0; k < n_seed; k++)
            mark[i] |= !is_over && out->id[i] == seed[k];
    }
    if (!why.error) {
        mark_children(out, parent, mark);
        keep_marked(out, mark);
    }
    free(parent);
    free(mark);
    return why;
}

/* == Forks ================================================================== */

/* Forks of forks that are looked at. */
#define MAX_FORKS 64

/* Whether two processes run one program, as far as the kernel shows that. */
static int is_same_program(const cpubind_proc_stat *a, const cpubind_proc_stat *b)
{
    const int is_shown = a->code > 1 && b->code > 1;
    return !is_shown || (a->code == b->code && a->stack == b->stack);
}

cpubind_linux_fault cpubind_forked_from(cpubind_root *root, int32_t pid, cpubind_fork_test test,
                                        int32_t *of, uint64_t *start)
{
    cpubind_proc_stat own, above;
    int is_over;
    cpubind_linux_fault why = judge(cpubind_proc_stat_read(root, pid, 0, &own), &is_over);
    *of = 0;
    *start = is_over ? 0 : own.start;
    for (int i = 0; i < MAX_FORKS && !is_over && own.is_forked && own.state != 'Z'; i++) {
        const int32_t at = own.ppid;
        why = judge(cpubind_proc_stat_read(root, at, 0, &above), &is_over);
        if (is_over || !is_same_program(&own, &above))
            break;
        if (test.is_wanted(test.ctx, at))
            *of = at;
        own = above;
    }
    return why;
}
