/* proc_stat.c - the line that the kernel writes on a process or thread in its file `stat`
 * SPDX-License-Identifier: MIT
 *
 * Reads only.
 */
#include "proc_stat.h"

#include <stdio.h>
#include <string.h>

#include "../../text/procfs.h"

/* 52 numbers of 20 digits, and the 64 bytes of the longest name, fit twice. */
#define TEXT_MAX 2560

cpubind_linux_fault cpubind_proc_stat_read(cpubind_root *root, int32_t pid, int32_t tid,
                                           cpubind_proc_stat *out)
{
    static const char what[] = "read stat";
    char name[64], text[TEXT_MAX];
    int32_t len;
    cpubind_stat stat;
    if (pid <= 0 || tid < 0)
        return cpubind_fault_of(ESRCH, what);
    if (tid)
        snprintf(name, sizeof name, "proc/%d/task/%d/stat", (int)pid, (int)tid);
    else
        snprintf(name, sizeof name, "proc/%d/stat", (int)pid);
    int error = cpubind_read_text(root->sys, root->fd, name, text, sizeof text, &len).error;
    if (error)
        return cpubind_fault_of(error == ENOENT ? ESRCH : error, what);
    if (len == (int32_t)sizeof text - 1 ||
        cpubind_stat_parse(text, len, &stat, NULL) != CPUBIND_TEXT_OK)
        return cpubind_fault_of(EILSEQ, what);
    memset(out, 0, sizeof *out);
    size_t n = (size_t)stat.name.len;
    memcpy(out->name, text + stat.name.at, n < sizeof out->name ? n : sizeof out->name - 1);
    out->state = stat.state;
    out->ppid = stat.ppid;
    out->n_threads = stat.n_threads;
    out->start = stat.start;
    return cpubind_no_fault;
}

int cpubind_proc_is_thread(cpubind_root *root, int32_t pid)
{
    static const char key[] = "\nTgid:\t";
    char name[64], text[512]; /* Tgid is the fourth line; the first one has the name */
    int32_t len, tgid = pid;
    snprintf(name, sizeof name, "proc/%d/status", (int)pid);
    if (cpubind_read_text(root->sys, root->fd, name, text, sizeof text, &len).error)
        return 0;
    const char *at = strstr(text, key);
    if (!at)
        return 0;
    at += sizeof key - 1;
    return cpubind_number_parse(at, (int32_t)strcspn(at, "\n"), &tgid, NULL) ==
               CPUBIND_TEXT_OK &&
           tgid != pid;
}
