/* workqueue.h - the CPUs that the workers of a work queue of the kernel may use
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. A queue that its driver shows (WQ_SYSFS) and that is not bound to
 * each CPU (WQ_UNBOUND) has the file /sys/devices/virtual/workqueue/<name>/cpumask. All paths
 * are below `root`, which is "/".
 */
#ifndef CPUBIND_LINUX_WORKQUEUE_H
#define CPUBIND_LINUX_WORKQUEUE_H

#include "cpu_sets.h"
#include "files.h"

/* Whether a name leads to a folder of one queue. */
int cpubind_workqueue_is_name(const char *name);

/* The CPUs of a queue.
 *   out     *set, a number in `sets`; unchanged on failure
 *   errors  "read the cpumask of"; ENOENT: no such queue, or one without the file; EILSEQ: no
 *           mask, or an empty one; ENOMEM, "memory" */
cpubind_linux_fault cpubind_workqueue_read(cpubind_root *root, const char *name,
                                           cpubind_cpu_sets *sets, int32_t *set);

/* Gives a queue these CPUs.
 *   errors  "write the cpumask of", with the errno of open(2) or write(2); ENOMEM, "memory" */
cpubind_linux_fault cpubind_workqueue_write(cpubind_root *root, const char *name,
                                            const cpubind_cpu_set *set);

#endif /* CPUBIND_LINUX_WORKQUEUE_H */
