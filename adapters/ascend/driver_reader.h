/* driver_reader.h - private to this folder: the NPUs of a host by the files of its driver
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. Included by facts*.c
 * alone.
 */
#ifndef CPUBIND_ASCEND_DRIVER_READER_H
#define CPUBIND_ASCEND_DRIVER_READER_H

#include "ascend_reader.h"

/* == The driver's files ===================================================== */

typedef enum driver_outcome {
    DRIVER_COMPLETE = 0, /* the files name every NPU of the census and its logic id */
    DRIVER_GAP,          /* something that is needed is not there: npu-smi may know it */
    DRIVER_CONTRADICTION /* two inputs disagree: npu-smi decides, with a warning */
} driver_outcome;

/* What the files of the driver say. */
typedef struct driver_view {
    driver_outcome outcome;
    cpubind_problem why; /* of a gap or a contradiction: the problem of a request that names no
                            other origin */
    cpubind_host_device **npu; /* COMPLETE: the NPUs in view, by ascending logic id, with logic,
                                  phy, pci, function and is_running; in the arena */
    int32_t n_npu;
    int32_t has_processes; /* COMPLETE: is_running is known */
} driver_view;

/* Reads the NPUs of the host from the files of its driver, without npu-smi.
 *   in      r->facts->counted, the census
 *   out     *out; the phy ids of the functions and their n_npu, when the mailbox interrupts
 *           name them all and no other file disagrees
 *   errors  NO_MEMORY; UNREADABLE: a file is there and could not be read, or is damaged. A file
 *           that only root may read counts as absent for another user */
cpubind_problem_code cpubind_priv_read_driver(facts_reader *r, driver_view *out);

/* Reads the phy ids of the NPUs in view from the device nodes that this process may open, where
 * there are as many of these as NPUs.
 *   out     the phy ids of r->facts->device, and has_phy, when they are known
 *   errors  NO_MEMORY; UNREADABLE */
cpubind_problem_code cpubind_priv_read_node_phys(facts_reader *r);

/* Whether no device node of an NPU that this process may open is listed. */
int cpubind_priv_lists_no_node(const facts_reader *r);

/* Reads the numbers of the driver's devices in /sys, which shows those of the host in a
 * container too. Virtual NPUs do not count.
 *   out     r->facts->end_phy
 *   errors  NO_MEMORY; UNREADABLE */
cpubind_problem_code cpubind_priv_read_end_of_phys(facts_reader *r);

#endif /* CPUBIND_ASCEND_DRIVER_READER_H */
