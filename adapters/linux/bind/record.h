/* record.h - what was changed, and how it was before: one file for each process
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. The file is written, whole, before anything is changed; `restore`
 * puts back what it says for what still lives, also after a crash half way.
 *
 * FILE   Lines of text, one fact each (record_text.c has the grammar), with a format's number and
 *        a checksum; by default /run/cpubind/<pid>.record (an ordinary user's:
 *        /run/user/<uid>/cpubind/<pid>.record; the environment is not asked). Written to a
 *        temporary name beside it (O_EXCL, mode 0600), synced, renamed. Read with O_NOFOLLOW
 *        and at most 64 MiB of it. Must be a regular file of this user that nobody else may
 *        write to: else ERR_STATE with EPERM, "file"; it is no link (ELOOP).
 * OLDER  cpubind 0.1 wrote <pid>.json. Such a file is not read, but it is not passed over
 *        either: while there is one and no <pid>.record, loading is ERR_DAMAGED with "older".
 *        Else a process that cpubind 0.1 bound would be recorded as it was bound then.
 * FOLDER Made with mode 0755 when it is not there. Used only if it is a folder, no link, owned
 *        by this user, and nobody else may write to it: else ERR_STATE with EPERM, "folder".
 *        With a path of the caller's own (--state FILE) the folder must be there already and is
 *        held to the same rules; one that is sticky, such as /tmp, may be root's, and all may
 *        write to it.
 * LOCK   "<file>.lock" beside it, flock(2), held from open to close, removed at close. What
 *        has the lock is alone; a second one is ERR_BUSY at once. The kernel gives it back when
 *        a process is killed; its file stays then, and is no hindrance.
 */
#ifndef CPUBIND_LINUX_RECORD_H
#define CPUBIND_LINUX_RECORD_H

#include "../kernel/cpu_sets.h"
#include "../kernel/files.h"
#include "../linux.h"
#include "bind.h"

/* The name of an item of this kind: "sq", "cq". */
static inline const char *cpubind_irq_kind_word(cpubind_irq_kind kind)
{
    return kind == CPUBIND_IRQ_SQ ? "sq" : "cq";
}

/* Every set below is a number in `sets`, or NONE. */

typedef struct cpubind_record_thread {
    int32_t tid;
    int32_t before;
} cpubind_record_thread;

/* A thread of another process: one that polls UVB. */
typedef struct cpubind_record_other {
    int32_t pid, tid;
    uint64_t start; /* of the thread, field 22 of its stat */
    int32_t before, set;
} cpubind_record_other;

typedef struct cpubind_record_irq {
    int32_t irq;
    cpubind_irq_kind kind;
    int32_t cpu;       /* that it was given */
    int32_t before;    /* NONE: it was never changed, it is only part of the goal */
    int32_t is_banned; /* we have told irqbalance to leave it alone */
} cpubind_record_irq;

typedef struct cpubind_record_rule {
    char name[16]; /* NUL-terminated, cut as the kernel cuts it */
    int32_t set;
} cpubind_record_rule;

/* All zero but for pid, start, boot, before and main is a state without changes. */
typedef struct cpubind_record {
    int32_t pid;
    uint64_t start; /* field 22 of /proc/<pid>/stat */
    char boot[64];  /* /proc/sys/kernel/random/boot_id, NUL-terminated */
    int32_t npu;    /* -1: not known */
    cpubind_cpu_sets sets;
    int32_t before; /* the CPUs of the process before; threads that are born later have them */
    int32_t main;
    int32_t memory_node; /* or -1 */
    int32_t uvb;
    cpubind_record_rule *rule;
    int32_t n_rule, cap_rule;
    int32_t
        *ours; /* sets that only a binding gives: of this goal, and of those before it, where
                      a thread or an interrupt still may be */
    int32_t n_ours, cap_ours;
    cpubind_record_thread *thread; /* by ascending tid */
    int32_t n_thread, cap_thread;
    cpubind_record_other *other; /* by ascending tid, then start */
    int32_t n_other, cap_other;
    cpubind_record_irq *irq; /* by ascending number */
    int32_t n_irq, cap_irq;
    cpubind_irqbalance_how how; /* what was done to irqbalance */
    int32_t irqbalance_pid;
    uint64_t irqbalance_start;
} cpubind_record;

void cpubind_record_free(cpubind_record *state);

/* Adds; 0, or ENOMEM and the state is as it was. What is there already keeps its `before`: the
 * first one is the one to go back to. A thread stays as it is; another process's thread gets
 * the new set; an interrupt the new kind and CPU, and the new `before` if it had none. A rule
 * is put at the end: the first one of a name counts. */
int cpubind_record_add_rule(cpubind_record *state, const cpubind_sys *sys, const char *name,
                            int32_t set);
int cpubind_record_add_ours(cpubind_record *state, const cpubind_sys *sys, int32_t set);
int cpubind_record_add_thread(cpubind_record *state, const cpubind_sys *sys, int32_t tid,
                              int32_t before);
int cpubind_record_add_other(cpubind_record *state, const cpubind_sys *sys,
                             const cpubind_record_other *other);
int cpubind_record_add_irq(cpubind_record *state, const cpubind_sys *sys,
                           const cpubind_record_irq *irq);

/* The place of a thread in a list by ascending tid, or where it would be. O(log n). */
int32_t cpubind_record_thread_place(const cpubind_record_thread *list, int32_t n, int32_t tid);

/* The thread of a list, or NULL. */
const cpubind_record_thread *cpubind_record_thread_find(const cpubind_record_thread *list,
                                                        int32_t n, int32_t tid);

/* Whether a set is one that only a binding of this process gives. */
int cpubind_record_has_ours(const cpubind_record *state, int32_t set);

/* What a file is opened for. */
typedef enum cpubind_record_mode {
    CPUBIND_RECORD_WRITE,
    CPUBIND_RECORD_MAKE,
    CPUBIND_RECORD_READ
} cpubind_record_mode;

/* The file of one process, locked. */
typedef struct cpubind_record_file cpubind_record_file;

/* Opens the folder and takes the lock. Reads nothing.
 *   in      path: the file, or NULL for the one of `pid` in the usual folder
 *           mode: MAKE makes the folder when it is not there (else ERR_STATE, ENOENT); READ
 *           takes no lock and can save nothing
 *   errors  ERR_BUSY; ERR_STATE with fault (what: "folder", "lock", "name");
 *           ERR_MEMORY; ERR_ARG */
cpubind_linux_status cpubind_record_open(cpubind_root *root, const char *path, int32_t pid,
                                         cpubind_record_mode mode, cpubind_record_file **out,
                                         cpubind_linux_fault *fault);

/* The path, for messages; valid until it is closed. */
const char *cpubind_record_path(const cpubind_record_file *file);

/* Reads the file. The one of the usual folder must be of the process that it is named by.
 *   out     *out, all zero on failure
 *   errors  ERR_STATE with ENOENT: there is none; ERR_STATE; ERR_DAMAGED (what: as record_text.h
 *           has it, "length", or "pid": of another process); ERR_MEMORY */
cpubind_linux_status cpubind_record_load(cpubind_record_file *file, cpubind_record *out,
                                         cpubind_linux_fault *fault);

/* Puts a new file in its place. On failure the old one stays.
 *   errors  ERR_STATE with fault (what: "create", "write", "sync", "close", "rename");
 *           ERR_MEMORY; ERR_ARG: no state that could be read back
 *   cost    one write and one fsync; of 258 threads well under 0.1 ms on a tmpfs */
cpubind_linux_status cpubind_record_save(cpubind_record_file *file, const cpubind_record *state,
                                         cpubind_linux_fault *fault);

/* Removes the file, and what killed processes left of writing it; there being none is no
 * failure. */
cpubind_linux_status cpubind_record_remove(cpubind_record_file *file,
                                           cpubind_linux_fault *fault);

/* Gives the lock back. NULL is allowed. */
void cpubind_record_close(cpubind_record_file *file);

/* The pids that have a file in the usual folder, an older one too, ascending; *out is
 * free(3)'s. None: n 0. */
cpubind_linux_status cpubind_record_list(cpubind_root *root, int32_t **out, int32_t *out_n,
                                         cpubind_linux_fault *fault);

#endif /* CPUBIND_LINUX_RECORD_H */
