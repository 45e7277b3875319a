/* irq.h - which CPUs serve an interrupt, and the daemon that moves them
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. All paths lie below `root`, a tree of reach ANYWHERE on "/".
 *
 * irqbalance overrides a binding at its next pass, every ten seconds. It can be left alone,
 * told to leave some interrupts alone (its socket, "settings ban irqs"), or stopped: SIGSTOP,
 * which SIGCONT takes back without a service manager.
 */
#ifndef CPUBIND_LINUX_IRQ_H
#define CPUBIND_LINUX_IRQ_H

#include "cpuset.h"
#include "linux.h"
#include "tree.h"

/* The CPUs that may serve an interrupt, /proc/irq/<irq>/smp_affinity_list.
 *   out     *set, a number in `sets`
 *   returns 0 or an errno (ENOENT: no such interrupt, or no /proc/irq; EILSEQ: no list; ENOMEM) */
int cpubind_irq_read(cpubind_tree *root, int32_t irq, cpubind_cpusets *sets, int32_t *set);

/* The CPUs that do serve it, effective_affinity_list. *set NONE when the kernel has none yet
 * (an empty list) or has no such file. On x86 it follows with the next interrupt only.
 *   returns 0 or an errno */
int cpubind_irq_read_effective(cpubind_tree *root, int32_t irq, cpubind_cpusets *sets,
                               int32_t *set);

/* Moves an interrupt.
 *   returns 0 or an errno: EACCES, EPERM, EROFS (no right to), ENOENT, EIO (the kernel manages
 *           it), EINVAL, EOVERFLOW (no online CPU among them), ENOSPC */
int cpubind_irq_write(cpubind_tree *root, int32_t irq, const cpubind_cpuset *set);

/* The daemon. */
typedef struct cpubind_irqbalance {
    int32_t pid;        /* 0: none is seen to run */
    uint64_t start;     /* field 22 of /proc/<pid>/stat */
    int32_t is_stopped; /* it has been sent SIGSTOP: state T */
} cpubind_irqbalance;

/* Looks for it among the processes that are seen from here.
 *   returns 0 or an errno
 *   cost    a read of one small file for each process */
int cpubind_irqbalance_find(cpubind_tree *root, cpubind_irqbalance *out);

/* SIGSTOP, SIGCONT to it if it is still the same process.
 *   returns 0 or an errno; ESRCH when it has ended */
int cpubind_irqbalance_stop(cpubind_tree *root, const cpubind_irqbalance *daemon);
int cpubind_irqbalance_continue(cpubind_tree *root, const cpubind_irqbalance *daemon);

/* Tells it through its socket (/run/irqbalance/irqbalance<pid>.sock, else the abstract
 * "irqbalance<pid>.sock") to leave these interrupts alone, besides those that it was told to
 * before as far as it can be asked ("setup").
 *   in      irq[0 .. n - 1]
 *   returns 0 or an errno; ECONNREFUSED, ENOENT: it has no socket; EACCES: not root; EPROTO: it
 *           answered something else
 *   cost    bounded: no answer within a second is ETIMEDOUT */
int cpubind_irqbalance_ban(cpubind_tree *root, const cpubind_irqbalance *daemon,
                           const int32_t *irq, int32_t n);

/* Takes such a ban back, for these interrupts. */
int cpubind_irqbalance_unban(cpubind_tree *root, const cpubind_irqbalance *daemon,
                             const int32_t *irq, int32_t n);

#endif /* CPUBIND_LINUX_IRQ_H */
