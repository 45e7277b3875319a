/* irq.h - which interrupt of the host is meant, and the CPUs that serve it
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. All paths are below `root`, which is "/".
 */
#ifndef CPUBIND_LINUX_IRQ_H
#define CPUBIND_LINUX_IRQ_H

#include "../../plan/process_goal.h"
#include "cpu_sets.h"
#include "files.h"

/* The interrupts of a PCI function whose action has the name of `id`, ascending: those in
 * /sys/bus/pci/devices/<function>/msi_irqs with a folder /proc/irq/<irq>/<name>. None when the
 * function has no driver or is not there.
 *   out     *out, which is empty or has an earlier answer; out->id is free(3)'s
 *   errors  "list the interrupts"
 *   cost    a listing, and one system call for each interrupt of the function */
cpubind_linux_fault cpubind_irq_list(cpubind_root *root, const cpubind_irq_id *id,
                                     cpubind_ids *out);

/* Whether an interrupt still is of the function and has the name.
 *   errors  ENOENT, "gone": it is not or has not; "look up the interrupt"
 *   cost    two system calls */
cpubind_linux_fault cpubind_irq_check(cpubind_root *root, const cpubind_irq_id *id,
                                      int32_t irq);

/* Whether the words of an id lead to a folder of one function and one action. */
int cpubind_irq_is_id(const cpubind_irq_id *id);

/* The order of interrupts: by function, name, index. Below, at or above 0. */
int cpubind_irq_compare(const cpubind_irq_id *a, const cpubind_irq_id *b);

/* The CPUs that may serve an interrupt, /proc/irq/<irq>/smp_affinity_list.
 *   out     *set, a number in `sets`; unchanged on failure
 *   errors  "read smp_affinity_list"; ENOENT: no such interrupt, or no /proc/irq; EILSEQ: no
 *           list, or an empty one; ENOMEM, "memory" */
cpubind_linux_fault cpubind_irq_read(cpubind_root *root, int32_t irq, cpubind_cpu_sets *sets,
                                     int32_t *set);

/* The CPUs that do serve it, effective_affinity_list. On x86 the kernel updates it only when
 * the next interrupt comes.
 *   out     *set; NONE when the kernel has an empty list, or no such file
 *   errors  "read effective_affinity_list"; ENOMEM, "memory" */
cpubind_linux_fault cpubind_irq_read_effective(cpubind_root *root, int32_t irq,
                                               cpubind_cpu_sets *sets, int32_t *set);

/* Moves an interrupt.
 *   errors  "write smp_affinity_list", with the errno of open(2) or write(2): EACCES, EPERM,
 *           EROFS (no right to), ENOENT, EIO (the kernel manages it), EINVAL, EOVERFLOW (no
 *           online CPU among them), ENOSPC; ENOMEM */
cpubind_linux_fault cpubind_irq_write(cpubind_root *root, int32_t irq,
                                      const cpubind_cpu_set *set);

#endif /* CPUBIND_LINUX_IRQ_H */
