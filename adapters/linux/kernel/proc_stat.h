/* proc_stat.h - the line that the kernel writes on a process or thread in its file `stat`
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. Two processes are the same when pid and start are equal.
 */
#ifndef CPUBIND_LINUX_PROC_STAT_H
#define CPUBIND_LINUX_PROC_STAT_H

#include <stdint.h>

#include "files.h"

typedef struct cpubind_proc_stat {
    char name[16];     /* NUL-terminated, cut to 15 bytes; may hold blanks, ')', line feeds */
    char state;        /* a letter: 'R', 'S', 'T' stopped, 'Z' ended and not reaped ... */
    int32_t ppid;      /* 0: the parent is not visible here */
    int32_t n_threads; /* 0: it has just ended */
    uint64_t start;    /* field 22: clock ticks from the start of the host */
} cpubind_proc_stat;

/* Reads /proc/<pid>/stat, or with a tid other than 0 /proc/<pid>/task/<tid>/stat.
 *   in      root: "/"
 *   out     *out, on success only
 *   errors  ESRCH: no such process or thread, or hidden from this user (the file is ENOENT);
 *           EACCES, EPERM; EILSEQ: the text is no such line
 *   cost    four system calls, no memory */
cpubind_linux_fault cpubind_proc_stat_read(cpubind_root *root, int32_t pid, int32_t tid,
                                           cpubind_proc_stat *out);

/* Returns 1 if the number is a thread id other than its process's main thread. /proc/<tid>
 * exists for those but is not listed. 0 where that cannot be read.
 *   cost    three system calls, no memory */
int cpubind_proc_is_thread(cpubind_root *root, int32_t pid);

#endif /* CPUBIND_LINUX_PROC_STAT_H */
