/* threads.h - the threads of a process: their ids, names and CPUs
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. ESRCH says that the process or the thread has ended.
 */
#ifndef CPUBIND_LINUX_THREADS_H
#define CPUBIND_LINUX_THREADS_H

#include "cpu_sets.h"
#include "files.h"

/* Room for a thread's name, as the kernel keeps it: 15 bytes and a NUL. */
#define CPUBIND_COMM_SIZE 16

/* Opens /proc/<pid>/task. The descriptor stays that of this one process: when another process
 * gets the same pid, the folder is empty.
 *   out     *folder: a descriptor; -1 on failure */
cpubind_linux_fault cpubind_tasks_open(cpubind_root *root, int32_t pid, int *folder);

/* The numbers among the names in a folder (/proc, /proc/<pid>/task), ascending; other names are
 * skipped.
 *   in      ids is empty or has an earlier answer, which is replaced
 *   errors  "list the threads of" */
cpubind_linux_fault cpubind_tasks_list(const cpubind_sys *sys, int folder, cpubind_ids *ids);

/* The name of thread `tid` in a task folder, NUL-terminated, any bytes.
 *   errors  "read the name of" */
cpubind_linux_fault cpubind_task_name(const cpubind_sys *sys, int folder, int32_t tid,
                                      char name[CPUBIND_COMM_SIZE]);

/* The CPUs of a thread, as a number in `sets`; NONE on failure.
 *   errors  "sched_getaffinity" */
cpubind_linux_fault cpubind_task_cpus(const cpubind_sys *sys, int32_t tid,
                                      cpubind_cpu_sets *sets, int32_t *set);

/* Moves a thread to the CPUs of a set.
 *   errors  "sched_setaffinity" */
cpubind_linux_fault cpubind_task_move(const cpubind_sys *sys, int32_t tid,
                                      const cpubind_cpu_set *set);

#endif /* CPUBIND_LINUX_THREADS_H */
