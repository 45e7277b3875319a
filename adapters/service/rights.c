/* rights.c - who may ask the service for what
 * SPDX-License-Identifier: MIT
 *
 * Reads /proc; changes nothing. Whatever cannot be read is a refusal.
 */
#define _GNU_SOURCE
#include "rights.h"

#include <stdio.h>
#include <string.h>

#include "../linux/kernel/process.h"

cpubind_linux_fault cpubind_rights_start(const cpubind_sys *sys, int32_t pid, uint64_t *start)
{
    cpubind_proc_stat stat = {.start = 0};
    cpubind_root root;
    cpubind_linux_fault why = cpubind_root_live(&root, sys);
    if (why.error)
        return why;
    why = cpubind_proc_stat_read(&root, pid, 0, &stat);
    if (!why.error && (stat.state == 'X' || (stat.state == 'Z' && stat.n_threads < 2)))
        why.error = ESRCH;
    (void)sys->close(root.fd);
    *start = stat.start;
    return cpubind_fault_of(why.error, "process");
}

/* Whether the line "Uid:" of a status names this user alone: real, effective, saved, and that
 * of files. */
static int is_of_user(const char *status, uid_t uid)
{
    unsigned long long id[4];
    int n = cpubind_status_numbers(status, "\nUid:", 10, id, 4) == 4 ? 0 : -1;
    while (n >= 0 && n < 4 && id[n] == uid)
        n++;
    return n == 4;
}

cpubind_linux_fault cpubind_rights_of_process(const cpubind_sys *sys, int32_t pid, uid_t uid)
{
    char name[32], text[4096]; /* the line is among the first ten */
    int32_t len = 0;
    cpubind_root root;
    cpubind_linux_fault why = cpubind_root_live(&root, sys);
    if (why.error)
        return why;
    (void)snprintf(name, sizeof name, "proc/%d/status", (int)pid);
    why = cpubind_read_text(sys, root.fd, name, text, sizeof text, &len);
    (void)sys->close(root.fd);
    if (why.error == ENOENT)
        why.error = ESRCH;
    if (!why.error && !is_of_user(text, uid))
        why.error = EPERM;
    return cpubind_fault_of(why.error, "process");
}

/* Whether a peer is of the pid namespace of this process. */
static int is_of_namespace(const cpubind_sys *sys, int32_t pid)
{
    char path[32];
    struct stat own, other;
    (void)snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
    return pid > 0 && sys->statat(AT_FDCWD, "/proc/self/ns/pid", &own) == 0 &&
           sys->statat(AT_FDCWD, path, &other) == 0 && own.st_ino == other.st_ino &&
           own.st_dev == other.st_dev;
}

cpubind_linux_fault cpubind_rights_check(const cpubind_sys *sys, const cpubind_asked *asked,
                                         const cpubind_peer *peer)
{
    const int is_asking = asked->ask == CPUBIND_ASK_STATUS || asked->ask == CPUBIND_ASK_VERIFY;
    const int is_users = asked->pid > 0 && asked->ask != CPUBIND_ASK_ADOPT;
    const int is_of_host = asked->ask == CPUBIND_ASK_RELOAD || asked->ask == CPUBIND_ASK_PLACE;
    uint64_t start = 0;
    cpubind_linux_fault why = cpubind_no_fault;
    if (is_asking || (is_of_host && peer->is_owner))
        return cpubind_no_fault;
    if (!peer->is_owner && !is_users)
        return cpubind_fault_of(EPERM, "user");
    if (!is_of_namespace(sys, peer->pid))
        return cpubind_fault_of(EPERM, "namespace");
    if (asked->owner) /* who asks for itself alone */
        why = cpubind_rights_start(sys, peer->pid, &start);
    if (asked->owner && (why.error || asked->owner != peer->pid || asked->owner_start != start))
        return cpubind_fault_of(EPERM, "namespace");
    if (asked->pid == 0)
        return cpubind_no_fault;
    if (!peer->is_owner)
        why = cpubind_rights_of_process(sys, asked->pid, peer->uid);
    /* Read last: the process that was looked at is the one that is named. */
    if (!why.error)
        why = cpubind_rights_start(sys, asked->pid, &start);
    return !why.error && start != asked->start ? cpubind_fault_of(ESTALE, "process") : why;
}
