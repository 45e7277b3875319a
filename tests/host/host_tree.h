/* host_tree.h - a whole host of files, as the live one: processes, cgroups, records
 * SPDX-License-Identifier: MIT
 *
 * A table of system calls for which "/" is a temporary folder. No process of the machine is
 * looked at: kill(2) finds only the numbers that a test names.
 */
#ifndef CPUBIND_TESTS_HOST_HOST_TREE_H
#define CPUBIND_TESTS_HOST_HOST_TREE_H

#include "../../adapters/host/host_workers.h"
#include "../linux/temp_dir.h"

static struct {
    scratch s;
    int dir;
    int32_t hidden; /* a process that kill(2) finds and /proc does not show; 0: none */
} tree;

static inline int tree_openat(int dir, const char *path, int flags)
{
    return strcmp(path, "/") == 0 ? openat(tree.dir, ".", flags) : openat(dir, path, flags);
}

static inline int tree_open(const char *path, int flags)
{
    return tree_openat(AT_FDCWD, path, flags);
}

static inline int tree_kill(pid_t pid, int signal)
{
    errno = pid == tree.hidden && signal == 0 ? EPERM : ESRCH;
    return -1;
}

static inline cpubind_sys tree_table(void)
{
    cpubind_sys sys = cpubind_sys_real;
    sys.open = tree_open;
    sys.openat = tree_openat;
    sys.kill = tree_kill;
    return sys;
}

static inline void tree_make(void)
{
    char name[64];
    scratch_make(&tree.s);
    tree.hidden = 0;
    tree.dir = open(tree.s.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    scratch_need(tree.dir >= 0, tree.s.dir);
    scratch_file(&tree.s, "proc/sys/kernel/random/boot_id", "11111111-2222-3333\n");
    scratch_link(&tree.s, "proc/self/ns/pid", "pid:[4026531836]");
    snprintf(name, sizeof name, "run/user/%lu/.keep", (unsigned long)geteuid());
    scratch_file(&tree.s, name, "");
}

static inline void tree_remove(void)
{
    close(tree.dir);
    scratch_remove(&tree.s);
}

/* Writes a file of a process. */
static inline void tree_file(int32_t pid, const char *leaf, const char *text, size_t n)
{
    char name[288];
    snprintf(name, sizeof name, "proc/%d/%s", (int)pid, leaf);
    scratch_bytes(&tree.s, name, text, n);
}

/* What a test wants of a process; what is NULL is not there. */
typedef struct tree_process {
    int32_t pid, start;
    const char *name, *cpus, *cgroup, *environ; /* environ: "A=1 B=2" */
    char state;                                 /* 0: sleeping */
} tree_process;

/* Where a process comes from. */
typedef struct tree_birth {
    int32_t parent;
    int is_forked; /* and has executed no program since */
    int code;      /* where its program starts; 0: hidden */
} tree_birth;

static inline void tree_stat_of(const tree_process *p, tree_birth birth)
{
    char text[256], leaf[32];
    const int n =
        snprintf(text, sizeof text,
                 "%d (%s) %c %d %d %d 0 -1 %d 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0 0 %d 0 %d 0\n",
                 (int)p->pid, p->name, p->state ? p->state : 'S', (int)birth.parent,
                 (int)p->pid, (int)p->pid, birth.is_forked ? 4194368 : 4194304, (int)p->start,
                 birth.code, birth.code);
    snprintf(leaf, sizeof leaf, "task/%d/stat", (int)p->pid);
    tree_file(p->pid, leaf, text, (size_t)n);
}

static inline void tree_stat(const tree_process *p)
{
    tree_stat_of(p, (tree_birth){1, 0, 0});
}

static inline void tree_add_of(const tree_process *p, tree_birth birth)
{
    char text[256];
    int n;
    tree_stat_of(p, birth);
    n = snprintf(text, sizeof text, "task/%d/comm", (int)p->pid);
    scratch_need(n > 0, "comm");
    tree_file(p->pid, text, p->name, strlen(p->name));
    if (p->cpus) {
        n = snprintf(text, sizeof text, "Name:\tx\nCpus_allowed_list:\t%s\n", p->cpus);
        tree_file(p->pid, "status", text, (size_t)n);
    }
    if (p->cgroup)
        tree_file(p->pid, "cgroup", p->cgroup, strlen(p->cgroup));
    if (p->environ) {
        n = snprintf(text, sizeof text, "%s", p->environ);
        for (int i = 0; i < n; i++)
            text[i] = text[i] == ' ' ? '\0' : text[i];
        tree_file(p->pid, "environ", text, (size_t)n + 1);
    }
}

static inline void tree_add(const tree_process *p)
{
    tree_add_of(p, (tree_birth){1, 0, 0});
}

#endif /* CPUBIND_TESTS_HOST_HOST_TREE_H */
