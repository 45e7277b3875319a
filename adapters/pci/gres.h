/* gres.h - gres.conf of Slurm: the device file of an accelerator, and the cores near it
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. Rules: gres.conf(5); the device files
 * of the drivers: "Device Minor" of /proc/driver/nvidia/gpus/ADDRESS/information, the folders
 * drm and accel of a PCI function.
 */
#ifndef CPUBIND_PCI_GRES_H
#define CPUBIND_PCI_GRES_H

#include "../model/facts.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CPUBIND_DEVICE_FILE_SIZE 64

/* Finds the device file of a function of NVIDIA, AMD, Intel or Habana: "/dev/nvidia0",
 * "/dev/dri/renderD128", "/dev/accel/accel0".
 *   returns 0 where no file of the kernel tells it; *out is "" then */
int cpubind_device_file(const cpubind_source *source, const cpubind_pci_function *function,
                        char out[CPUBIND_DEVICE_FILE_SIZE]);

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
