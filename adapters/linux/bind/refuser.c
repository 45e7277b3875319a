/* refuser.c - who refuses to move a thread: its owner, a filter of system calls, a module
 * SPDX-License-Identifier: MIT
 *
 * Reads only. Rules: sched_setaffinity(2), seccomp(2), proc(5).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "binding.h"

/* The bit of CAP_SYS_NICE. */
#define SYS_NICE 23

/* Reads a file of /proc as a text.
 *   returns 0 when it cannot be read */
static int read_status(cpubind_binding *b, const char *path, cpubind_bytes *text)
{
    if (cpubind_input_fault(cpubind_root_read(&b->root, path, text)).error ||
        cpubind_bytes_reserve(text, b->sys, 1).error)
        return 0;
    text->data[text->len] = '\0';
    return 1;
}

cpubind_linux_fault cpubind_name_refuser(cpubind_binding *b, int32_t tid,
                                         cpubind_linux_fault why)
{
    const unsigned long long self = b->sys->geteuid();
    unsigned long long uid[2], rights, filter = 0;
    cpubind_bytes own = {NULL, 0, 0}, other = {NULL, 0, 0};
    char path[64];
    if (why.error == EACCES) /* no other check of the kernel says so */
        why.what = CPUBIND_REFUSED_BY_MODULE;
    if (why.error != EPERM)
        return why;
    snprintf(path, sizeof path, "proc/%d/task/%d/status", (int)b->options.pid, (int)tid);
    if (read_status(b, "proc/self/status", &own) && read_status(b, path, &other) &&
        cpubind_status_numbers(other.data, "\nUid:", 10, uid, 2) == 2 &&
        cpubind_status_numbers(own.data, "\nCapEff:", 16, &rights, 1) == 1) {
        const int has_right = self == uid[0] || self == uid[1] || (rights >> SYS_NICE & 1);
        const int is_filtered =
            cpubind_status_numbers(own.data, "\nSeccomp:", 10, &filter, 1) && filter > 0;
        why.what = !has_right    ? CPUBIND_REFUSED_BY_OWNER
                   : is_filtered ? CPUBIND_REFUSED_BY_FILTER
                                 : CPUBIND_REFUSED_BY_MODULE;
    }
    cpubind_bytes_free(&own);
    cpubind_bytes_free(&other);
    return why;
}
