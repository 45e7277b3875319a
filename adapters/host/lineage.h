/* lineage.h - which users of a device are forks of other ones
 * SPDX-License-Identifier: MIT
 *
 * Private to this folder. Reads /proc/PID/stat; changes nothing.
 *
 * A CHILD  of a worker is a process that was forked by it, or by another child of it, and has
 * executed no program since (PF_FORKNOEXEC; where the kernel shows them, its program and its
 * stack start where those of its parent do: the parent has executed none either). It has what
 * its parent has open, works for it, and is no worker: DataLoader of PyTorch forks one for each
 * of its `num_workers`, and they come and go with every epoch. A process that was forked and
 * executes a program (spawn, forkserver, subprocess) is a worker of its own once it has opened
 * a device. Below a parent that has ended nobody can tell.
 */
#ifndef CPUBIND_HOST_LINEAGE_H
#define CPUBIND_HOST_LINEAGE_H

#include "../linux/kernel/process.h"
#include "host_workers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A fork of a worker, which belongs to it. */
typedef struct cpubind_fork {
    int32_t pid;
    int32_t parent; /* the worker */
    int32_t device; /* of both, as the list has it */
    uint64_t start; /* field 22 of its stat */
    /* What a host keeps of it from one listing to the next (host_children.c); 0 in a new list.
     * The place of its worker stays when that has ended and a child takes it. */
    int32_t parent_pid;
    uint64_t parent_start;
    int32_t heir;   /* the child that takes the place of its worker; 0: none does */
    int was_inside; /* it had CPUs of its worker: its narrow mask is not its own */
} cpubind_fork;

/* The children in a list of users. */
typedef struct cpubind_children {
    cpubind_fork *row; /* in the order of the list, then by pid; free(3) */
    int32_t n, cap;
} cpubind_children;

/* Moves the children from a list of users to a list of their own.
 *   in      root: "/"; finds_unlisted: forks of users that are not in the list count, too: the
 *           list of a driver has who has opened a device, and not who was forked since
 *   in/out  list: without the children
 *   errors  "memory"; of listing /proc, with finds_unlisted
 *   cost    four system calls for each user; for each process, with finds_unlisted */
cpubind_linux_fault cpubind_split_children(cpubind_root *root, int finds_unlisted,
                                           cpubind_users *list, cpubind_children *out);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_HOST_LINEAGE_H */
