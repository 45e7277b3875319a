/* device_users.h - the device files of accelerators, by name and by number
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. A process that has a device of such a
 * number open uses the accelerator, whatever the file is called and wherever it is: a container
 * has a /dev of its own, and anyone can name a file as he likes. Which processes do is read
 * elsewhere (../host/host_users.h).
 *
 * The row of its vendor (../model/vendor.h) says how the files of a function are told: by its
 * driver (/dev/nvidia0), or by a folder of the function on the PCI bus (/dev/dri/renderD128,
 * /dev/accel/accel0), whose file `dev` has the number.
 * Files that all devices of a driver share tell no device: /dev/nvidiactl, /dev/nvidia-uvm,
 * /dev/kfd, /dev/davinci_manager. SOURCES: the kernel's documentation of DRM and of accel;
 * the files of the drivers, as gres.h.
 */
#ifndef CPUBIND_PCI_DEVICE_USERS_H
#define CPUBIND_PCI_DEVICE_USERS_H

#include "../model/vendor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CPUBIND_DEVICE_PATH_SIZE = 60,
    CPUBIND_DEVICE_INPUT_SIZE = 128, /* of the name of an input that could not be read */
    CPUBIND_DEVICE_FILES_MAX = 8     /* files that are kept of one function */
};

typedef struct cpubind_device_node {
    char path[CPUBIND_DEVICE_PATH_SIZE]; /* "/dev/dri/renderD128", ended by NUL */
    int32_t device;                      /* index in facts->bus */
    int32_t number;                      /* at the end of the path */
    const cpubind_vendor_nodes *nodes;   /* its kind */
    const char *input;    /* that has its number, where the bus tells it; NULL: the driver */
    int32_t is_display;   /* it tells who uses a device, and not which devices a process sees */
    int32_t major, minor; /* -1: not read, or there is none */
} cpubind_device_node;

typedef struct cpubind_device_nodes {
    cpubind_device_node *row; /* by device */
    int32_t n;
    /* Of the device that a process of the vendor which computes has open, too; -1: it is not
     * there, and none computes. */
    int32_t compute_major[CPUBIND_VENDOR_COUNT], compute_minor[CPUBIND_VENDOR_COUNT];
    int32_t numbered_major[CPUBIND_VENDOR_COUNT]; /* of the driver `numbered`; -1: not there */
    const char *failed; /* the first input that is there and could not be read; "": none */
} cpubind_device_nodes;

/* Lists the device files of all devices of the facts. One that cannot be read is left out.
 *   out     *out, in the arena
 *   returns 0 when the arena is full */
int cpubind_device_nodes_read(const cpubind_source *source, const cpubind_facts *facts,
                              cpubind_arena *arena, cpubind_device_nodes *out);

/* The file of a device by which its vendor's runtime drives it, "/dev/nvidia0"; NULL: nothing
 * tells it. */
const char *cpubind_device_file(const cpubind_facts *facts, const cpubind_device_nodes *nodes,
                                int32_t device);

/* Adds the numbers, as the kernel of the source has them now.
 *   returns 0 when an input could not be read: nodes->failed. Users of devices are not known
 *           then */
int cpubind_device_numbers_read(const cpubind_source *source, const cpubind_facts *facts,
                                cpubind_device_nodes *nodes);

/* The device that a number belongs to, as an index in facts->bus; -1: it is that of none. */
int32_t cpubind_device_of_number(const cpubind_device_nodes *nodes, int32_t major,
                                 int32_t minor);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PCI_DEVICE_USERS_H */
