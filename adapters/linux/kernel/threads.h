/* threads.h - the threads of a process: their ids, names and CPUs
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux.
 */
#ifndef CPUBIND_LINUX_THREADS_H
#define CPUBIND_LINUX_THREADS_H

#include "cpu_sets.h"
#include "files.h"

/* Room for a thread's name, as the kernel keeps it: 15 bytes and a NUL. */
#define CPUBIND_COMM_SIZE 16

/* Numbers, ascending. All zero is an empty list. */
typedef struct cpubind_ids {
    int32_t *id; /* the owner's free(3) */
    int32_t n, cap;
} cpubind_ids;

/* Opens /proc/<pid>/task. It stays the folder of this one process, also when its number is
 * given to another one: then it is empty.
 *   returns a descriptor, or -1 with errno */
int cpubind_tasks_open(cpubind_root *root, int32_t pid);

/* The numbers that the names in a folder are, ascending; other names are passed over.
 *   in      ids is empty or has an earlier answer, which is replaced
 *   returns 0 or an errno; ESRCH: the process has ended */
int cpubind_tasks_list(const cpubind_sys *sys, int folder, cpubind_ids *ids);

/* Whether a number is in the list. O(log n). */
int cpubind_ids_has(const cpubind_ids *ids, int32_t id);

/* The name of thread `tid` of such a folder, NUL-terminated, any bytes.
 *   returns 0 or an errno; ESRCH: it has ended */
int cpubind_task_name(const cpubind_sys *sys, int folder, int32_t tid,
                      char name[CPUBIND_COMM_SIZE]);

/* The CPUs of a thread, as a number in `sets`.
 *   returns 0 or an errno; ESRCH: it has ended; ENOMEM */
int cpubind_task_cpus(const cpubind_sys *sys, int32_t tid, cpubind_cpu_sets *sets,
                      int32_t *set);

/* Puts a thread on the CPUs of a set.
 *   returns 0 or an errno of sched_setaffinity(2) */
int cpubind_task_move(const cpubind_sys *sys, int32_t tid, const cpubind_cpu_set *set);

#endif /* CPUBIND_LINUX_THREADS_H */
