/* gres.h - gres.conf of Slurm: the cores near an accelerator
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. Rules: gres.conf(5).
 */
#ifndef CPUBIND_PCI_GRES_H
#define CPUBIND_PCI_GRES_H

#include "../model/facts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lists the cores near a device by the numbers of Slurm, which counts the cores of the host
 * from 0: node after node by the lowest CPU of each, in a node by the lowest CPU of the core.
 *   in      facts with wants_cores, of a process that may use every online CPU; room for
 *           facts->host.n_cpu
 *   out     ascending
 *   returns their number; 0: the CPUs near it are not known, or not every CPU is allowed */
int32_t cpubind_gres_cores(const cpubind_facts *facts, int32_t device, int32_t *out);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PCI_GRES_H */
