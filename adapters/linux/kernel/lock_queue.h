/* lock_queue.h - the queue for the lock of a file: who comes first gets it first
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. flock(2) says no more than that a lock is held, so whoever waits
 * for it asks again and again, and gets it by chance. Here each who waits has a place: a lock
 * of one byte of the same file (fcntl(2), "open file description locks"), behind all others.
 * The kernel gives a place back when its file is closed or its process is killed.
 *
 * The queue is for fairness alone. flock(2) still decides who has the lock: a cpubind without a
 * place, of another version or on a kernel without such locks, is kept out as before.
 */
#ifndef CPUBIND_LINUX_LOCK_QUEUE_H
#define CPUBIND_LINUX_LOCK_QUEUE_H

#include "../sys.h"

/* Takes the place behind all others.
 *   returns the place, from 1; 0: there is no queue here */
int64_t cpubind_queue_join(const cpubind_sys *sys, int fd);

/* Whether nobody is before this place. Without a queue everybody is first. */
int cpubind_queue_is_first(const cpubind_sys *sys, int fd, int64_t place);

/* Whether somebody is behind this place. Without a queue nobody is. */
int cpubind_queue_has_next(const cpubind_sys *sys, int fd, int64_t place);

#endif /* CPUBIND_LINUX_LOCK_QUEUE_H */
