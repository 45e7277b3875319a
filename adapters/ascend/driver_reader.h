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

/* Ends a reading of these files with a gap or a contradiction: r->ascend->outcome. */
cpubind_problem_code cpubind_priv_stop(facts_reader *r, driver_outcome outcome,
                                       const char *input, const char *what);

/* Each of these reads the files without npu-smi.
 *   errors  NO_MEMORY; UNREADABLE: a file is there and could not be read, or is damaged, unless
 *           r->ascend->outcome says that it is none. A file that only root may read counts as
 *           absent for another user */

/* Reads which phy ids the functions of the census have, and how many devices each has, when the
 * mailbox interrupts name them all. */
cpubind_problem_code cpubind_priv_read_mailboxes(facts_reader *r);

/* After these, reads r->facts->device: the NPUs in view, and which of them run. */
cpubind_problem_code cpubind_priv_read_view(facts_reader *r);

/* Reads the phy ids of the NPUs in view from the device nodes that this process may open, where
 * there are as many of these as NPUs.
 *   out     the phy ids of r->facts->device, and has_phy, when they are known */
cpubind_problem_code cpubind_priv_read_node_phys(facts_reader *r);

/* Whether no device node of an NPU that this process may open is listed. */
int cpubind_priv_lists_no_node(const facts_reader *r);

/* Reads the numbers of the driver's devices in /sys, which shows those of the host in a
 * container too. Virtual NPUs do not count.
 *   out     r->facts->end_phy */
cpubind_problem_code cpubind_priv_read_end_of_phys(facts_reader *r);

#endif /* CPUBIND_ASCEND_DRIVER_READER_H */
