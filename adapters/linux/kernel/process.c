/* process.c - a process and its threads: what /proc/<pid>/stat says, names, CPUs
 * SPDX-License-Identifier: MIT
 *
 * Reads /proc/<pid>; changes nothing but the CPUs of a thread, when asked to.
 */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../../text/procfs.h"

/* Longest `stat`: 52 numbers of 20 digits, and the 64 bytes of the longest name, fit twice. */
#define STAT_MAX 2560

/* Words of the widest mask: 65,536 CPUs. */
#define MASK_WORDS (CPUBIND_MAX_CPUS / CPUBIND_WORD_BITS)

/* The inodes of the first namespaces of each host (PROC_PID_INIT_INO, PROC_TIME_INIT_INO). */
#define FIRST_PID  4026531836u
#define FIRST_TIME 4026531834u

/* What is not there is that of a kernel without such namespaces. */
static cpubind_linux_fault read_namespace(cpubind_root *root, const char *name, uint64_t first,
                                          uint64_t *out)
{
    static const char what[] = "/proc/self/ns/pid";
    char path[32], link[64] = "";
    const char *inode;
    ssize_t n;
    (void)snprintf(path, sizeof path, "proc/self/ns/%s", name);
    n = root->sys->readlinkat(root->fd, path, link, sizeof link - 1);
    *out = 0;
    if (n < 0 && errno != ENOENT)
        return cpubind_fault_errno(what);
    if (n < 0 && root->sys->accessat(root->fd, path, F_OK) < 0)
        return cpubind_no_fault;
    inode = strstr(link, ":[");
    if (!inode)
        return cpubind_fault_of(EILSEQ, what);
    *out = strtoull(inode + 2, NULL, 10);
    *out = *out == first ? 0 : *out;
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_namespaces_read(cpubind_root *root, cpubind_namespaces *out)
{
    const cpubind_linux_fault why = read_namespace(root, "pid", FIRST_PID, &out->pid);
    return why.error ? why : read_namespace(root, "time", FIRST_TIME, &out->time);
}

/* == One process or thread ================================================== */

cpubind_linux_fault cpubind_proc_stat_read(cpubind_root *root, int32_t pid, int32_t tid,
                                           cpubind_proc_stat *out)
{
    static const char what[] = "read stat";
    char name[64], text[STAT_MAX];
    int32_t len;
    cpubind_stat stat;
    if (pid <= 0 || tid < 0)
        return cpubind_fault_of(ESRCH, what);
    snprintf(name, sizeof name, "proc/%d/task/%d/stat", (int)pid, (int)(tid ? tid : pid));
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
    out->group = stat.group;
    out->is_kernel = (stat.flags & CPUBIND_STAT_KTHREAD) != 0;
    out->is_forked = (stat.flags & CPUBIND_STAT_FORKED) != 0;
    out->n_threads = stat.n_threads;
    out->start = stat.start;
    out->code = stat.code;
    out->stack = stat.stack;
    return cpubind_no_fault;
}

int cpubind_has_ended(cpubind_root *root, int32_t pid, uint64_t start)
{
    cpubind_proc_stat stat = {.start = 0};
    const int error = cpubind_proc_stat_read(root, pid, 0, &stat).error;
    if (error)
        return error == ESRCH && root->sys->kill((pid_t)pid, 0) < 0 && errno == ESRCH;
    return (start != 0 && stat.start != start) || stat.state == 'X' ||
           (stat.state == 'Z' && stat.n_threads < 2);
}

int cpubind_status_numbers(const char *text, const char *head, int base,
                           unsigned long long *number, int n)
{
    const char *at = strstr(text, head);
    char *end;
    int n_read = 0;
    /* strtoull would go on in the next line. */
    for (at = at ? at + strlen(head) : ""; n_read < n && at[strspn(at, " \t")] != '\n';
         at = end, n_read++) {
        number[n_read] = strtoull(at, &end, base);
        if (end == at)
            break;
    }
    return n_read;
}

int cpubind_proc_is_thread(cpubind_root *root, int32_t pid)
{
    char name[64], text[512]; /* Tgid is the fourth line; the first one has the name */
    unsigned long long tgid;
    int32_t len;
    snprintf(name, sizeof name, "proc/%d/status", (int)pid);
    if (cpubind_read_text(root->sys, root->fd, name, text, sizeof text, &len).error)
        return 0;
    return cpubind_status_numbers(text, "\nTgid:", 10, &tgid, 1) == 1 &&
           tgid != (unsigned long long)pid;
}

/* == Open devices =========================================================== */

/* Which devices are looked for. */
typedef struct device_search {
    cpubind_root *root;
    const char *name; /* of the folder, which is open */
    int folder;
    cpubind_device_test *is_asked;
    const void *ctx;
    cpubind_bytes *out;
} device_search;

/* Whether a descriptor can be read or written. */
static cpubind_linux_fault can_use(const device_search *s, int32_t fd, int *out)
{
    static const char key[] = "flags:\t";
    char path[80], text[256]; /* the flags are in the second line */
    const char *flags;
    int32_t len;
    cpubind_linux_fault why;
    (void)snprintf(path, sizeof path, "%sinfo/%d", s->name, (int)fd);
    why = cpubind_read_text(s->root->sys, s->root->fd, path, text, sizeof text, &len);
    flags = why.error ? NULL : strstr(text, key);
    *out = flags && (strtol(flags + sizeof key - 1, NULL, 8) & O_PATH) == 0;
    return cpubind_is_unseen(why.error) ? cpubind_no_fault : why;
}

/* Appends the line of a descriptor, if it is one of a device that counts. It is told by the
 * number of the device: its text is what its owner has made of it, in a /dev of his own. */
static cpubind_linux_fault add_device(const device_search *s, int32_t fd)
{
    const cpubind_sys *sys = s->root->sys;
    char text[48];
    struct stat st;
    int32_t major_of, minor_of;
    int is_open = 0, result;
    cpubind_linux_fault why = cpubind_no_fault;
    (void)snprintf(text, sizeof text, "%d", (int)fd);
    result = sys->statat_known(s->folder, text, &st);
    if (result < 0 && (errno == ENOSYS || errno == EPERM)) /* a filter without statx(2) */
        result = sys->statat(s->folder, text, &st);
    if (result < 0 || !S_ISCHR(st.st_mode))
        return cpubind_fault_of(result < 0 && errno == ENOMEM ? ENOMEM : 0, "memory");
    major_of = (int32_t)major(st.st_rdev);
    minor_of = (int32_t)minor(st.st_rdev);
    if (s->is_asked ? s->is_asked(s->ctx, major_of, minor_of)
                    : major_of != 1 || minor_of != 3) /* /dev/null */
        why = can_use(s, fd, &is_open);
    if (!why.error && is_open)
        why = cpubind_bytes_reserve(s->out, sys, (int32_t)sizeof text);
    if (!why.error && is_open)
        s->out->len += snprintf(s->out->data + s->out->len, sizeof text, "%d %d:%d\n", (int)fd,
                                (int)major_of, (int)minor_of);
    return why;
}

cpubind_linux_fault cpubind_open_devices(cpubind_root *root, const char *name,
                                         cpubind_device_test *is_asked, const void *ctx,
                                         cpubind_bytes *out)
{
    device_search s = {root, name, -1, is_asked, ctx, out};
    cpubind_ids ids = {0};
    cpubind_linux_fault why = cpubind_root_open(root, name, O_DIRECTORY, &s.folder);
    if (why.error == ENOTDIR)
        return cpubind_input_fault(cpubind_root_read(root, name, out));
    if (why.error)
        return why;
    why = cpubind_tasks_list(root->sys, s.folder, &ids);
    if (!why.error) /* a list of ids has no 0 */
        why = add_device(&s, 0);
    for (int32_t i = 0; i < ids.n && !why.error; i++)
        why = add_device(&s, ids.id[i]);
    free(ids.id);
    root->sys->close(s.folder);
    return why;
}

/* == The threads of a process =============================================== */

cpubind_linux_fault cpubind_tasks_open(cpubind_root *root, int32_t pid, int *folder)
{
    char name[64];
    snprintf(name, sizeof name, "proc/%d/task", (int)pid);
    return cpubind_root_open(root, name, O_DIRECTORY, folder);
}

/* The kernel says ENOENT for the threads of a process that has ended. */
static cpubind_linux_fault fault_of(int error, const char *what)
{
    return cpubind_fault_of(error == ENOENT ? ESRCH : error, what);
}

/* A folder that is being listed. */
typedef struct listing {
    const cpubind_sys *sys;
    cpubind_ids *ids;
    int is_ascending;
} listing;

static cpubind_linux_fault add_name(void *ctx, const char *name)
{
    listing *l = ctx;
    const cpubind_ids *ids = l->ids;
    const size_t len = strspn(name, "0123456789");
    int32_t id = 0;
    if (len == 0 || len > 10 || name[len] != '\0' ||
        cpubind_number_parse(name, (int32_t)len, &id, NULL) != CPUBIND_TEXT_OK || id == 0)
        return cpubind_no_fault;
    l->is_ascending &= ids->n == 0 || ids->id[ids->n - 1] < id;
    return cpubind_ids_add(l->ids, l->sys, id);
}

cpubind_linux_fault cpubind_tasks_list(const cpubind_sys *sys, int folder, cpubind_ids *ids)
{
    listing l = {sys, ids, 1};
    int fd;
    cpubind_linux_fault fault =
        cpubind_open(sys, folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, &fd);
    ids->n = 0;
    if (!fault.error)
        fault = cpubind_each_name(sys, fd, add_name, &l);
    if (!l.is_ascending)
        cpubind_ids_sort(ids);
    return fault_of(fault.error, "list the threads of");
}

cpubind_linux_fault cpubind_processes_list(cpubind_root *root, cpubind_ids *ids)
{
    int folder;
    cpubind_linux_fault why = cpubind_root_open(root, "proc", O_DIRECTORY, &folder);
    ids->n = 0;
    if (why.error)
        return cpubind_fault_of(why.error, "open /proc");
    why = cpubind_tasks_list(root->sys, folder, ids);
    root->sys->close(folder);
    return cpubind_fault_of(why.error, "list /proc");
}

/* Bytes of a file `comm`: the kernel may know longer names of its own threads. */
#define COMM_MAX 64

static const char read_the_name[] = "read the name of";

/* Keeps the name of `n` bytes, without the line feed after it. */
static void keep_name(char *text, int32_t n, char name[CPUBIND_COMM_SIZE])
{
    if (n > 0 && text[n - 1] == '\n')
        n--;
    text[n] = '\0';
    text[CPUBIND_COMM_SIZE - 1] = '\0';
    memcpy(name, text, CPUBIND_COMM_SIZE);
}

cpubind_linux_fault cpubind_task_name(const cpubind_sys *sys, int folder, int32_t tid,
                                      char name[CPUBIND_COMM_SIZE])
{
    int fd;
    cpubind_linux_fault fault = cpubind_task_name_open(sys, folder, tid, &fd);
    if (fault.error)
        return fault;
    fault = cpubind_task_name_at(sys, fd, name);
    sys->close(fd);
    return fault;
}

cpubind_linux_fault cpubind_task_name_open(const cpubind_sys *sys, int folder, int32_t tid,
                                           int *fd)
{
    char path[32];
    snprintf(path, sizeof path, "%d/comm", (int)tid);
    return fault_of(cpubind_open(sys, folder, path, O_RDONLY | O_CLOEXEC, fd).error,
                    read_the_name);
}

cpubind_linux_fault cpubind_task_name_at(const cpubind_sys *sys, int fd,
                                         char name[CPUBIND_COMM_SIZE])
{
    char text[COMM_MAX];
    ssize_t n;
    CPUBIND_RETRY(n, sys->pread(fd, text, sizeof text - 1, 0));
    if (n < 0)
        return fault_of(errno ? errno : EIO, read_the_name);
    keep_name(text, (int32_t)n, name);
    return cpubind_no_fault;
}

int cpubind_is_task(const cpubind_sys *sys, int folder, int32_t tid)
{
    char name[16];
    snprintf(name, sizeof name, "%d", (int)tid);
    return sys->accessat(folder, name, F_OK) == 0 || (errno != ENOENT && errno != ESRCH);
}

cpubind_linux_fault cpubind_task_cpus(const cpubind_sys *sys, int32_t tid,
                                      cpubind_cpu_sets *sets, int32_t *set)
{
    static const char what[] = "sched_getaffinity";
    unsigned long mask[MASK_WORDS];
    int n = sys->getaffinity((pid_t)tid, sizeof mask, mask);
    *set = CPUBIND_CPUSET_NONE;
    if (n < 0)
        return cpubind_fault_errno(what);
    const int32_t n_word = (int32_t)((size_t)n / sizeof *mask);
    return cpubind_fault_of(cpubind_cpu_sets_of_words(sets, sys, mask, n_word, set).error,
                            what);
}

cpubind_linux_fault cpubind_task_widen(const cpubind_sys *sys, int32_t tid)
{
    unsigned long all[MASK_WORDS]; /* the kernel reads as many as it has CPUs for */
    memset(all, 0xff, sizeof all);
    if (sys->setaffinity((pid_t)tid, sizeof all, all) == 0)
        return cpubind_no_fault;
    return cpubind_fault_errno("sched_setaffinity");
}

cpubind_linux_fault cpubind_task_move(const cpubind_sys *sys, int32_t tid,
                                      const cpubind_cpu_set *set)
{
    const size_t size_bytes = (size_t)set->n_word * sizeof *set->word;
    if (sys->setaffinity((pid_t)tid, size_bytes, set->word) == 0)
        return cpubind_no_fault;
    return cpubind_fault_errno("sched_setaffinity");
}
