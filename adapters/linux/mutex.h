/* mutex.h - a lock for the threads of this process
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux and the programs of this project.
 */
#ifndef CPUBIND_LINUX_MUTEX_H
#define CPUBIND_LINUX_MUTEX_H

/* NULL without memory; free takes NULL. */
typedef struct cpubind_mutex cpubind_mutex;
cpubind_mutex *cpubind_mutex_new(void);
void cpubind_mutex_lock(cpubind_mutex *mutex);
void cpubind_mutex_unlock(cpubind_mutex *mutex);
void cpubind_mutex_free(cpubind_mutex *mutex);

#endif /* CPUBIND_LINUX_MUTEX_H */
