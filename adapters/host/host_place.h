/* host_place.h - where a process that is to start belongs, by the devices that it is given
 * SPDX-License-Identifier: MIT
 *
 * Reads the numbers of device files; changes nothing. The answer is that of the plan of all
 * devices of the host, whoever uses them now, cut to the CPUs that the process may have: it is
 * the same in whatever order processes start.
 *
 * GRAMMAR  of a list of devices
 *   devices = device *( "," device )
 *   device  = number ":" number        of the file of a device, as its container has it; one
 *                                      that is no device of the plan is passed over
 *           / vendor "=" name          vendor: "nvidia", the word of a row of ../model/vendor.h
 *   name    = number [ "-" number ]    the host's numbers: by the driver where it has some,
 *                                      else the places of the vendor's devices on the bus
 *           / model "-" number         "Ascend910-2": such a number
 *           / uuid                     "GPU-...", whole
 */
#ifndef CPUBIND_HOST_HOST_PLACE_H
#define CPUBIND_HOST_HOST_PLACE_H

#include "host_bind.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a process is given, as text; borrowed. */
typedef struct cpubind_host_grant {
    const char *cpus, *mems; /* CPUs and memory nodes that it may have */
    int32_t cpus_len;        /* bytes; 0: all online CPUs */
    int32_t mems_len;        /* bytes; 0: not known, and no nodes are chosen */
    const char *devices;
    int32_t devices_len;
} cpubind_host_grant;

/* Where it belongs. */
typedef struct cpubind_host_place {
    const cpubind_host_plan *plan; /* of the whole host, or why there is none */
    int32_t n_device;   /* of the plan, that it is given; 0: none, and the rest is empty */
    const int32_t *cpu; /* of the pools of all of these that it may have, ascending */
    int32_t n_cpu;
    const int32_t *node; /* near these CPUs, and of the devices, that it may have, ascending */
    int32_t n_node;      /* 0: none is chosen */
    int32_t n_main;      /* main CPUs of the device that has the fewest; at least 1 */
    cpubind_piece about; /* UNKNOWN_DEVICE: the device in the list */
} cpubind_host_place;

/*   in      after cpubind_host_bind_apply
 *   out     *out; its arrays live until the next call for the host
 *   errors  those of the plan; BAD_REQUEST: a list is none, what says which; UNKNOWN_DEVICE,
 *           and out->about; UNREADABLE: the numbers of device files; TOO_FEW_CPUS: device has
 *           `have` of the CPUs and needs `need`: the process is left where it is
 *   cost    of a plan at first, then of reading the numbers of device files */
cpubind_problem_code cpubind_host_find_place(cpubind_host_bind *h,
                                             const cpubind_host_grant *grant,
                                             cpubind_host_place *out, cpubind_problem *problem);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_HOST_HOST_PLACE_H */
