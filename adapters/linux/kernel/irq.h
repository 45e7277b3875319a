/* irq.h - the CPUs that serve an interrupt
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. All paths are below `root`, which is "/".
 */
#ifndef CPUBIND_LINUX_IRQ_H
#define CPUBIND_LINUX_IRQ_H

#include "cpu_sets.h"
#include "files.h"

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
