/* outer.c - the bindings that a process is inside of, and the CPUs that it had before them
 * SPDX-License-Identifier: MIT
 *
 * A child of a bound process has the CPUs of a pool and no record. Reads files only.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

/* Processes above one that are looked at: a loop that a changing /proc might show ends. */
#define MAX_PARENTS 64

typedef struct search {
    cpubind_root root;
    cpubind_cpu_sets sets;
    int32_t mask; /* of the process before the bindings that were found so far */
    int32_t pid;
    cpubind_outer *out;
} search;

/* Whether the mask is one that only the binding of a record gives. */
static int is_from(const search *s, const cpubind_record *record)
{
    const char *mask = cpubind_cpu_sets_text(&s->sets, s->mask);
    for (int32_t i = 0; i < record->n_placed; i++)
        if (strcmp(cpubind_cpu_sets_text(&record->sets, record->placed[i]), mask) == 0)
            return 1;
    return 0;
}

/* Notes that root has bound a process, whose records this user may not read. */
static cpubind_linux_fault look_for_root(search *s, int32_t pid)
{
    char path[CPUBIND_RECORD_NAME_SIZE + sizeof "run/cpubind/"];
    int fd = -1;
    cpubind_linux_fault why;
    if (s->root.sys->geteuid() == 0)
        return cpubind_no_fault;
    (void)snprintf(path, sizeof path, "run/cpubind/%ld" CPUBIND_RECORD_SUFFIX, (long)pid);
    why = cpubind_open(s->root.sys, s->root.fd, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, &fd);
    if (why.error)
        return cpubind_is_unseen(why.error) ? cpubind_no_fault : why;
    s->root.sys->close(fd);
    s->out->unread_pid = pid;
    return why;
}

/* Takes the CPUs before the binding of a process, if the mask is of that. */
static cpubind_linux_fault look_at(search *s, int32_t pid)
{
    const cpubind_bind_options how = {.pid = pid, .is_reading = 1};
    cpubind_binding *b = NULL;
    cpubind_linux_fault why = cpubind_no_fault;
    cpubind_linux_status status;
    cpubind_cpus before;
    if (!cpubind_place_has_record(&s->root, pid))
        return pid != s->pid && s->out->unread_pid == 0 ? look_for_root(s, pid) : why;
    status = cpubind_bind_open(&how, s->root.sys, &b, &why);
    if (status == CPUBIND_LINUX_ERR_MEMORY)
        return why;
    if (status != CPUBIND_LINUX_OK) {
        if (why.error != ESRCH && s->out->unread_pid == 0)
            s->out->unread_pid = pid;
        return cpubind_no_fault;
    }
    before = cpubind_bind_allowed(b);
    /* A thread of a bound process may have any mask meanwhile: it is bound all the same. */
    if (before.n > 0 && (pid == s->pid || is_from(s, &b->record))) {
        if (pid != s->pid && s->out->pid == 0) {
            s->out->pid = pid;
            s->out->device = b->record.device;
            memcpy(s->out->pci, b->record.pci, sizeof s->out->pci);
        }
        why = cpubind_cpu_sets_of_list(&s->sets, s->root.sys, before.cpu, before.n, &s->mask);
        s->out->n_cpu = before.n;
    } else {
        why = cpubind_no_fault;
    }
    cpubind_bind_close(b);
    return why;
}

static cpubind_linux_fault look_at_all(search *s)
{
    int32_t at = s->pid;
    cpubind_linux_fault why = cpubind_task_cpus(s->root.sys, s->pid, &s->sets, &s->mask);
    const int is_found = why.error == 0;
    for (int i = 0; i < MAX_PARENTS && at > 0 && !why.error; i++) {
        cpubind_proc_stat stat = {.ppid = 0};
        why = look_at(s, at);
        if (!why.error)
            why = cpubind_proc_stat_read(&s->root, at, 0, &stat);
        at = stat.ppid;
    }
    /* It has ended, or is hidden: nothing above it is known. */
    return is_found && (cpubind_is_unseen(why.error) || why.error == EILSEQ) ? cpubind_no_fault
                                                                             : why;
}

cpubind_linux_fault cpubind_bind_find_outer(int32_t pid, const cpubind_sys *sys,
                                            cpubind_outer *out)
{
    search s = {.mask = CPUBIND_CPUSET_NONE, .pid = pid, .out = out};
    cpubind_linux_fault why = cpubind_root_live(&s.root, sys);
    memset(out, 0, sizeof *out);
    out->device = -1;
    if (why.error)
        return why;
    why = look_at_all(&s);
    if (!why.error && out->n_cpu > 0) {
        const cpubind_cpu_set *set = &s.sets.set[s.mask];
        out->cpu = (int32_t *)s.root.sys->malloc((size_t)set->n * sizeof *out->cpu);
        out->n_cpu = out->cpu ? set->n : 0;
        if (out->cpu)
            memcpy(out->cpu, set->cpu, (size_t)set->n * sizeof *out->cpu);
        else
            why = cpubind_fault_of(ENOMEM, "memory");
    }
    cpubind_cpu_sets_free(&s.sets);
    s.root.sys->close(s.root.fd);
    return why;
}
