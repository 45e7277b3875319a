/* lock_queue.c - places in a queue, as locks of single bytes of a file
 * SPDX-License-Identifier: MIT
 *
 * Locks bytes only; neither reads nor writes them.
 */
#include "lock_queue.h"

#include <errno.h>
#include <stdio.h>

/* Steps to the end of the queue, of all tries together: each passes one place at least. */
#define MAX_STEPS 100000

/* A place that others have in `n` bytes from `from`, with n 0 in all from there.
 *   out     *end: the byte behind it
 *   returns 1; 0: there is none; -1: the kernel does not say */
static int find_place(const cpubind_sys *sys, int fd, int64_t from, int64_t n, int64_t *end)
{
    struct flock range = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)from, .l_len = (off_t)n};
    if (sys->lock_range(fd, CPUBIND_RANGE_GET, &range) < 0)
        return -1;
    if (range.l_type == F_UNLCK)
        return 0;
    *end = (int64_t)range.l_start + (int64_t)range.l_len;
    return *end > from ? 1 : -1;
}

int64_t cpubind_queue_join(const cpubind_sys *sys, int fd)
{
    int64_t place = 1;
    for (int i = 0; i < MAX_STEPS; i++) {
        struct flock range = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)place, .l_len = 1};
        const int is_taken = find_place(sys, fd, place, 0, &place);
        if (is_taken < 0)
            return 0;
        if (is_taken)
            continue;
        if (sys->lock_range(fd, CPUBIND_RANGE_SET, &range) == 0)
            return place;
        if (errno != EAGAIN && errno != EACCES) /* these: somebody has taken it since */
            return 0;
    }
    return 0;
}

int cpubind_queue_is_first(const cpubind_sys *sys, int fd, int64_t place)
{
    int64_t end;
    return place < 2 || find_place(sys, fd, 1, place - 1, &end) != 1;
}

int cpubind_queue_has_next(const cpubind_sys *sys, int fd, int64_t place)
{
    int64_t end;
    return place > 0 && find_place(sys, fd, place + 1, 0, &end) == 1;
}
