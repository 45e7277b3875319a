/* process.h - a process and its threads: what /proc/<pid>/stat says, names, CPUs
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. ESRCH says that the process or the thread has ended, or is hidden
 * from this user. Two processes are the same when pid and start are equal.
 */
#ifndef CPUBIND_LINUX_PROCESS_H
#define CPUBIND_LINUX_PROCESS_H

#include "cpu_sets.h"
#include "files.h"

/* == One process or thread ================================================== */

typedef struct cpubind_proc_stat {
    char name[16];     /* NUL-terminated, cut to 15 bytes; may hold blanks, ')', line feeds */
    char state;        /* a letter: 'R', 'S', 'T' stopped, 'Z' ended and not reaped ... */
    int32_t ppid;      /* 0: the parent is not visible here */
    int32_t group;     /* of processes; 0: not visible here */
    int is_kernel;     /* it is a thread of the kernel */
    int is_forked;     /* it was forked, and has executed no program since */
    int32_t n_threads; /* 0: it has just ended */
    uint64_t start;    /* field 22: clock ticks from the start of the host */
    uint64_t code, stack; /* where its program and its stack start; 0 or 1: not readable */
} cpubind_proc_stat;

/* The namespaces that the number and the start of a process are of: their inodes; 0: the first
 * one of the host, or the kernel has none. */
typedef struct cpubind_namespaces {
    uint64_t pid, time;
} cpubind_namespaces;

static inline int cpubind_is_same_space(cpubind_namespaces a, cpubind_namespaces b)
{
    return a.pid == b.pid && a.time == b.time;
}

/* Reads those of this process. Rules: pid_namespaces(7), time_namespaces(7).
 *   in      root: "/"
 *   errors  those of readlinkat(2), "/proc/self/ns/pid"; EILSEQ: the text is no such link. The
 *           namespace is not known then, and no number of a process can be trusted */
cpubind_linux_fault cpubind_namespaces_read(cpubind_root *root, cpubind_namespaces *out);

/* Reads /proc/<pid>/task/<tid>/stat; tid 0: of the main thread, whose numbers are those of the
 * process. (/proc/<pid>/stat adds up the times of all threads, which takes much longer.)
 *   in      root: "/"
 *   out     *out, on success only
 *   errors  ESRCH: no such process or thread, or hidden from this user (the file is ENOENT);
 *           EACCES, EPERM; EILSEQ: the text is no such line
 *   cost    four system calls, no memory */
cpubind_linux_fault cpubind_proc_stat_read(cpubind_root *root, int32_t pid, int32_t tid,
                                           cpubind_proc_stat *out);

/* THE RULE of what has ended: there is no such process, which kill(2) says too where /proc may
 * hide it; or the number is that of another one, or of a zombie without threads. What cannot be
 * read has not ended. It is for a number of this pid namespace and a start of this time
 * namespace.
 *   in      start: 0: any */
int cpubind_has_ended(cpubind_root *root, int32_t pid, uint64_t start);

/* Reads up to n numbers of a line of the text of a file `status`, which NUL ends.
 *   in      head: "\nUid:"
 *   returns how many there are; 0 also without the line */
int cpubind_status_numbers(const char *text, const char *head, int base,
                           unsigned long long *number, int n);

/* Returns 1 if the number is a thread id other than its process's main thread. /proc/<tid>
 * exists for those but is not listed. 0 where that cannot be read.
 *   cost    three system calls, no memory */
int cpubind_proc_is_thread(cpubind_root *root, int32_t pid);

/* Appends the devices that a process has open, a line each, by descriptor: "17 195:0", the
 * number of the descriptor and that of a character device, whatever it is called. Those that
 * can be read or written count: one of O_PATH takes no right on the device, and anyone has it
 * who sees the name. In a snapshot a file of this name has the lines.
 *   in      root: "/"; name: "proc/4711/fd"; is_asked(ctx, major, minor): whether a device
 *           counts; NULL: all do but /dev/null
 *   errors  of opening and listing the folder, and ENOMEM; what cannot be told of a descriptor
 *           is left out
 *   cost    a system call a descriptor, and three a device */
typedef int cpubind_device_test(const void *ctx, int32_t major, int32_t minor);
cpubind_linux_fault cpubind_open_devices(cpubind_root *root, const char *name,
                                         cpubind_device_test *is_asked, const void *ctx,
                                         cpubind_bytes *out);

/* == The threads of a process =============================================== */

/* Room for a thread's name, as the kernel keeps it: 15 bytes and a NUL. */
#define CPUBIND_COMM_SIZE 16

/* Opens /proc/<pid>/task. The descriptor stays that of this one process: when another process
 * gets the same pid, the folder is empty.
 *   out     *folder: a descriptor; -1 on failure */
cpubind_linux_fault cpubind_tasks_open(cpubind_root *root, int32_t pid, int *folder);

/* The numbers among the names in a folder (/proc, /proc/<pid>/task), ascending; other names are
 * skipped.
 *   in      ids is empty or has an earlier answer, which is replaced
 *   errors  "list the threads of" */
cpubind_linux_fault cpubind_tasks_list(const cpubind_sys *sys, int folder, cpubind_ids *ids);

/* The processes of /proc.
 *   out     *ids as above
 *   errors  "open /proc"; "list /proc" */
cpubind_linux_fault cpubind_processes_list(cpubind_root *root, cpubind_ids *ids);

/* The name of thread `tid` in a task folder, NUL-terminated, any bytes.
 *   errors  "read the name of" */
cpubind_linux_fault cpubind_task_name(const cpubind_sys *sys, int folder, int32_t tid,
                                      char name[CPUBIND_COMM_SIZE]);

/* Whether a task folder has thread `tid`. 1 where that cannot be read. */
int cpubind_is_task(const cpubind_sys *sys, int folder, int32_t tid);

/* The same in two steps, for a name that is read again and again.
 *   out     *fd: stays that of this thread, even if another one gets its number; -1 on failure
 *   errors  ESRCH: it has ended */
cpubind_linux_fault cpubind_task_name_open(const cpubind_sys *sys, int folder, int32_t tid,
                                           int *fd);
cpubind_linux_fault cpubind_task_name_at(const cpubind_sys *sys, int fd,
                                         char name[CPUBIND_COMM_SIZE]);

/* The CPUs of a thread, as a number in `sets`; NONE on failure. The set is empty when all of
 * its CPUs are offline.
 *   errors  "sched_getaffinity" */
cpubind_linux_fault cpubind_task_cpus(const cpubind_sys *sys, int32_t tid,
                                      cpubind_cpu_sets *sets, int32_t *set);

/* Gives a thread the widest mask: all CPUs of its cpuset, and those that it will have.
 *   errors  "sched_setaffinity" */
cpubind_linux_fault cpubind_task_widen(const cpubind_sys *sys, int32_t tid);

/* Moves a thread to the CPUs of a set.
 *   errors  "sched_setaffinity" */
cpubind_linux_fault cpubind_task_move(const cpubind_sys *sys, int32_t tid,
                                      const cpubind_cpu_set *set);

#endif /* CPUBIND_LINUX_PROCESS_H */
