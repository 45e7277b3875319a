/* device_users.h - which accelerator a device file belongs to
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. A process that has such a file open
 * uses the accelerator; which processes do is read elsewhere (../host/device_workers.h).
 *
 * THE FILES OF A FUNCTION
 *   /dev/nvidia<N>             N is the "Device Minor" of the NVIDIA driver's information file
 *   /dev/dri/card<N>           the folder drm of the function on the PCI bus lists the names
 *   /dev/dri/renderD<N>        the same
 *   /dev/accel/accel<N>        the folder accel of the function lists the names
 * Files that all devices of a driver share tell no device: /dev/nvidiactl, /dev/nvidia-uvm,
 * /dev/kfd, /dev/davinci_manager. SOURCES: the kernel's documentation of DRM and of accel;
 * the files of the drivers, as gres.h.
 */
#ifndef CPUBIND_PCI_DEVICE_USERS_H
#define CPUBIND_PCI_DEVICE_USERS_H

#include "pci_facts.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CPUBIND_DEVICE_PATH_SIZE = 60,
    CPUBIND_DEVICE_FILES_MAX = 8 /* files that are kept of one function */
};

typedef struct cpubind_device_node {
    char path[CPUBIND_DEVICE_PATH_SIZE]; /* "/dev/dri/renderD128", ended by NUL */
    int32_t device;                      /* index in facts->device */
} cpubind_device_node;

typedef struct cpubind_device_nodes {
    cpubind_device_node *row; /* by device */
    int32_t n;
} cpubind_device_nodes;

/* Lists the device files of all devices of the facts. A file that cannot be read, and a name
 * that is too long, is left out.
 *   out     *out, in the arena
 *   returns 0 when the arena is full */
int cpubind_device_nodes_read(const cpubind_source *source, const cpubind_pci_facts *facts,
                              cpubind_arena *arena, cpubind_device_nodes *out);

/* The device that a file belongs to, as an index in facts->device; -1: it is the file of none.
 *   in      path[0 .. len - 1], absolute; a NUL is not needed */
int32_t cpubind_device_of_path(const cpubind_device_nodes *nodes, const char *path,
                               int32_t len);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PCI_DEVICE_USERS_H */
