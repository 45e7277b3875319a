/* proc_stat.c - what the kernel says of one process or thread in its file `stat`
 * SPDX-License-Identifier: MIT
 *
 * Reads only.
 */
#include "proc_stat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../text/procfs.h"
#include "../common.h"

/* 52 numbers of 20 digits, and the 64 bytes of the longest name, fit twice. */
#define TEXT_MAX 2560

/* Reads to the end; the number of bytes, or -1 with errno. */
static int32_t read_all(const cpubind_sys *sys, int fd, char *text, int32_t cap)
{
    int32_t len = 0;
    while (len < cap) {
        ssize_t n = sys->read(fd, text + len, (size_t)(cap - len));
        if (n == 0)
            return len;
        if (n > 0)
            len += (int32_t)n;
        else if (errno != EINTR)
            return -1;
    }
    errno = EILSEQ;
    return -1;
}

/* The text of the file; its length, or -1 with errno. */
static int32_t read_file(cpubind_root *root, int32_t pid, int32_t tid, char *text, int32_t cap)
{
    char name[64];
    if (tid)
        snprintf(name, sizeof name, "proc/%d/task/%d/stat", (int)pid, (int)tid);
    else
        snprintf(name, sizeof name, "proc/%d/stat", (int)pid);
    int fd = cpubind_root_open(root, name, 0);
    if (fd < 0)
        return -1;
    int32_t len = read_all(root->sys, fd, text, cap);
    cpubind_close_quietly(root->sys, fd);
    return len;
}

int cpubind_proc_stat_read(cpubind_root *root, int32_t pid, int32_t tid, cpubind_proc_stat *out)
{
    char text[TEXT_MAX];
    cpubind_stat stat;
    if (pid <= 0 || tid < 0)
        return ESRCH;
    int32_t len = read_file(root, pid, tid, text, sizeof text);
    if (len < 0)
        return errno == ENOENT ? ESRCH : errno;
    if (cpubind_stat_parse(text, len, &stat, NULL) != CPUBIND_TEXT_OK)
        return EILSEQ;
    memset(out, 0, sizeof *out);
    size_t n = (size_t)stat.name.len;
    memcpy(out->name, text + stat.name.at, n < sizeof out->name ? n : sizeof out->name - 1);
    out->state = stat.state;
    out->ppid = stat.ppid;
    out->n_threads = stat.n_threads;
    out->start = stat.start;
    return 0;
}

int cpubind_proc_is_thread(cpubind_root *root, int32_t pid)
{
    static const char key[] = "\nTgid:\t";
    char name[64], text[512]; /* it is the fourth line; the first one has the name */
    ssize_t n;
    snprintf(name, sizeof name, "proc/%d/status", (int)pid);
    int fd = cpubind_root_open(root, name, 0);
    if (fd < 0)
        return 0;
    do
        n = root->sys->read(fd, text, sizeof text - 1);
    while (n < 0 && errno == EINTR);
    root->sys->close(fd); /* nothing was written: no result to lose */
    text[n < 0 ? 0 : n] = '\0';
    const char *at = strstr(text, key);
    int32_t tgid = pid;
    if (!at)
        return 0;
    at += sizeof key - 1;
    return cpubind_number_parse(at, (int32_t)strcspn(at, "\n"), &tgid, NULL) ==
               CPUBIND_TEXT_OK &&
           tgid != pid;
}
