/* npu_processes.h - which processes use which NPU
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. Processes are read from the names in
 * /proc/trs_core/proc, where the driver has one for each process and NPU, else from the process
 * table of npu-smi info. Both number processes as the host does, in a container too; a process
 * that has ended may be there until the driver has torn its context down.
 */
#ifndef CPUBIND_ASCEND_NPU_PROCESSES_H
#define CPUBIND_ASCEND_NPU_PROCESSES_H

#include "../model/vendor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads who uses the NPUs of the facts. A virtual NPU that is not among them counts as the
 * physical NPU that it is a part of.
 *   in      facts of cpubind_facts_read for this source
 *   out     *out, in the arena; n may be 0: no process uses an NPU
 *   errors  UNREADABLE, with the input, when no input tells: an input that failed or is damaged
 *           is never taken for one without processes; NO_MEMORY
 *   cost    one listing, or one run of npu-smi info */
cpubind_problem_code cpubind_npu_processes_read(const cpubind_source *source,
                                                const cpubind_facts *facts,
                                                cpubind_arena *arena, cpubind_users *out,
                                                cpubind_problem *problem);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_NPU_PROCESSES_H */
