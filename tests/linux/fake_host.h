/* fake_host.h - a host for tests of bindings: real processes, fake interrupts and a fake /run
 * SPDX-License-Identifier: MIT
 *
 * A table of system calls that maps /proc/irq, the PCI devices of /sys, /run and the list of
 * /proc to a temporary folder; the list has only processes of the test, which are real. The
 * table must not let a test write to an interrupt or a record of the machine. A list that is
 * written to an interrupt replaces the old list in one step, as in the kernel, even if the
 * writer is killed.
 */
#ifndef CPUBIND_TESTS_LINUX_FAKE_HOST_H
#define CPUBIND_TESTS_LINUX_FAKE_HOST_H

#include "../../adapters/linux/bind/bind.h"
#include "test_process.h"

#define STAGE_TEXT 8192

typedef struct stage {
    scratch s;
    int dir;         /* the temporary folder */
    int out;         /* descriptor of the interrupt that is open for writing, or -1 */
    char irq[96];    /* the path of that interrupt */
    int32_t cpu[2];  /* two CPUs that this process may use */
    char before[64]; /* both, as a list */
    pid_t kernel;    /* a process that is a kernel thread here; 0: none */
} stage;

static stage on_stage;

/* Returns 1 if the path is the stat of the process that is a kernel thread here. */
static inline int stage_is_kernel_stat(const char *path)
{
    char stat[64], task_stat[64];
    const int pid = (int)on_stage.kernel;
    if (pid <= 0) /* benchmarks open files by the thousand */
        return 0;
    snprintf(stat, sizeof stat, "proc/%d/stat", pid);
    snprintf(task_stat, sizeof task_stat, "proc/%d/task/%d/stat", pid, pid);
    return strcmp(path, stat) == 0 || strcmp(path, task_stat) == 0;
}

/* Returns 1 if the path is mapped to the temporary folder. */
static inline int stage_has(const char *path)
{
    return strncmp(path, "proc/irq", 8) == 0 || strcmp(path, "proc") == 0 ||
           strncmp(path, "sys/bus/pci/", 12) == 0 || strcmp(path, "run") == 0 ||
           strncmp(path, "run/", 4) == 0 || strncmp(path, "proc/2/", 7) == 0 ||
           strncmp(path, "sys/devices/virtual/workqueue/", 30) == 0 ||
           stage_is_kernel_stat(path);
}

static inline int stage_accessat(int dir, const char *path, int mode)
{
    return faccessat(stage_has(path) ? on_stage.dir : dir, path, mode, 0);
}

static inline int stage_openat(int dir, const char *path, int flags)
{
    if (!stage_has(path))
        return openat(dir, path, flags);
    int fd = openat(on_stage.dir, path, flags);
    if (fd >= 0 && (flags & O_ACCMODE) == O_WRONLY) {
        on_stage.out = fd;
        snprintf(on_stage.irq, sizeof on_stage.irq, "%s", path);
    }
    return fd;
}

static inline ssize_t stage_write(int fd, const void *data, size_t len)
{
    char name[128];
    ssize_t n;
    int out;
    if (fd != on_stage.out)
        return write(fd, data, len);
    snprintf(name, sizeof name, "%s.new", on_stage.irq);
    out = openat(on_stage.dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (out < 0)
        return -1;
    n = write(out, data, len);
    close(out);
    if (renameat(on_stage.dir, name, on_stage.dir, on_stage.irq) < 0)
        return -1;
    return n;
}

static inline int stage_close(int fd)
{
    if (fd == on_stage.out)
        on_stage.out = -1;
    return close(fd);
}

static inline cpubind_sys stage_table(void)
{
    cpubind_sys sys = cpubind_sys_real;
    sys.openat = stage_openat;
    sys.accessat = stage_accessat;
    sys.write = stage_write;
    sys.close = stage_close;
    sys.fsync = no_fsync;
    return sys;
}

/* Makes the host. Returns 0 if this process may use only one CPU. */
static inline int stage_make(void)
{
    memset(&on_stage, 0, sizeof on_stage);
    on_stage.out = -1;
    if (!two_cpus(on_stage.cpu))
        return 0;
    char run[64];
    scratch_make(&on_stage.s);
    on_stage.dir = open(on_stage.s.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    scratch_need(on_stage.dir >= 0, on_stage.s.dir);
    snprintf(on_stage.before, sizeof on_stage.before,
             on_stage.cpu[1] == on_stage.cpu[0] + 1 ? "%d-%d" : "%d,%d", (int)on_stage.cpu[0],
             (int)on_stage.cpu[1]);
    scratch_folder(&on_stage.s, "proc");
    scratch_folder(&on_stage.s, "run");
    snprintf(run, sizeof run, "run/user/%lu/.keep", (unsigned long)geteuid());
    scratch_file(&on_stage.s, run, "");
    return 1;
}

static inline void stage_remove(void)
{
    close(on_stage.dir);
    scratch_remove(&on_stage.s);
}

static inline void put_on_both(int32_t tid)
{
    cpu_set_t both;
    CPU_ZERO(&both);
    CPU_SET((size_t)on_stage.cpu[0], &both);
    CPU_SET((size_t)on_stage.cpu[1], &both);
    scratch_need(sched_setaffinity((pid_t)tid, sizeof both, &both) == 0, "sched_setaffinity");
}

/* Adds a process to the list of /proc. */
static inline void stage_list(pid_t pid)
{
    char name[32];
    snprintf(name, sizeof name, "proc/%d", (int)pid);
    scratch_folder(&on_stage.s, name);
}

/* Makes a process a kernel thread of this name, which kthreadd has started.
 *   in      has_children: the kernel lists the children of a process */
static inline void stage_kernel_thread(pid_t pid, const char *name, int has_children)
{
    static const char rest[] = "S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0\n";
    char path[64], text[160];
    on_stage.kernel = pid;
    scratch_file(&on_stage.s, "proc/2/task/2/stat",
                 "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n");
    snprintf(text, sizeof text, "%d %d ", (int)getpid(), (int)pid);
    if (has_children)
        scratch_file(&on_stage.s, "proc/2/task/2/children", text);
    snprintf(text, sizeof text, "%d (%.15s) %s", (int)pid, name, rest);
    snprintf(path, sizeof path, "proc/%d/stat", (int)pid);
    scratch_file(&on_stage.s, path, text);
    snprintf(path, sizeof path, "proc/%d/task/%d/stat", (int)pid, (int)pid);
    scratch_file(&on_stage.s, path, text);
}

/* Makes a work queue with the mask of these CPUs. */
static inline void stage_workqueue(const char *name, const char *mask)
{
    char path[96];
    snprintf(path, sizeof path, "sys/devices/virtual/workqueue/%s/cpumask", name);
    scratch_file(&on_stage.s, path, mask);
}

/* Returns the mask of a work queue, without the line feed. */
static inline const char *stage_workqueue_text(const char *name, char *text, size_t size)
{
    char path[96];
    snprintf(path, sizeof path, "sys/devices/virtual/workqueue/%s/cpumask", name);
    int fd = openat(on_stage.dir, path, O_RDONLY | O_CLOEXEC);
    scratch_need(fd >= 0, path);
    ssize_t n = read(fd, text, size - 1);
    scratch_need(n >= 0, path);
    close(fd);
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return text;
}

#define STAGE_FUNCTION "0000:c1:00.0"

/* Gives an interrupt to a PCI function, and a name to its action. */
static inline void stage_irq_add(int irq, const char *function, const char *action)
{
    char name[96];
    snprintf(name, sizeof name, "sys/bus/pci/devices/%s/msi_irqs/%d", function, irq);
    scratch_file(&on_stage.s, name, "msix\n");
    snprintf(name, sizeof name, "proc/irq/%d/%s", irq, action);
    scratch_file(&on_stage.s, name, "");
}

/* Takes it away again. */
static inline void stage_irq_take(int irq, const char *function, const char *action)
{
    char name[96];
    snprintf(name, sizeof name, "sys/bus/pci/devices/%s/msi_irqs/%d", function, irq);
    scratch_need(unlinkat(on_stage.dir, name, 0) == 0, name);
    snprintf(name, sizeof name, "proc/irq/%d/%s", irq, action);
    scratch_need(unlinkat(on_stage.dir, name, 0) == 0, name);
}

/* The action of an interrupt of STAGE_FUNCTION. */
static inline const char *stage_action(int irq, char name[CPUBIND_IRQ_NAME_SIZE])
{
    snprintf(name, CPUBIND_IRQ_NAME_SIZE, "action_%d", irq);
    return name;
}

/* Makes an interrupt that the CPUs of `list` serve. */
static inline void stage_irq(int irq, const char *list)
{
    char name[96], action[CPUBIND_IRQ_NAME_SIZE];
    stage_irq_add(irq, STAGE_FUNCTION, stage_action(irq, action));
    snprintf(name, sizeof name, "proc/irq/%d/smp_affinity_list", irq);
    scratch_file(&on_stage.s, name, list);
    snprintf(name, sizeof name, "proc/irq/%d/effective_affinity_list", irq);
    scratch_file(&on_stage.s, name, "0\n");
}

/* Returns the list of CPUs that serve the interrupt, without the line feed. */
static inline const char *stage_irq_text(int irq, char *text, size_t size)
{
    char name[96];
    snprintf(name, sizeof name, "proc/irq/%d/smp_affinity_list", irq);
    int fd = openat(on_stage.dir, name, O_RDONLY | O_CLOEXEC);
    scratch_need(fd >= 0, name);
    ssize_t n = read(fd, text, size - 1);
    scratch_need(n >= 0, name);
    close(fd);
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* Appends the lists of the interrupts, a line each. */
static inline void stage_irqs(char *text, size_t size, int first, int last)
{
    char list[64];
    for (int irq = first; irq <= last; irq++) {
        const size_t at = strlen(text);
        snprintf(text + at, size - at, "%d %s\n", irq, stage_irq_text(irq, list, sizeof list));
    }
}

#define STAGE_PATH (SCRATCH_PATH * 2)

/* Returns the path of the folder of records, followed by `name` ("" or "/<name>"). */
static inline void stage_record_path(const char *name, char path[STAGE_PATH])
{
    if (geteuid() == 0)
        snprintf(path, STAGE_PATH, "%s/run/cpubind%s", on_stage.s.dir, name);
    else
        snprintf(path, STAGE_PATH, "%s/run/user/%lu/cpubind%s", on_stage.s.dir,
                 (unsigned long)geteuid(), name);
}

/* Appends the names in the folder of records, a line each. */
static inline void stage_records(char *text, size_t size)
{
    char path[STAGE_PATH];
    struct dirent **entry = NULL;
    size_t at = strlen(text);
    stage_record_path("", path);
    int n = scandir(path, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (entry[i]->d_name[0] != '.')
            at += (size_t)snprintf(text + at, size - at, "record %s\n", entry[i]->d_name);
        scratch_need(at < size, "records");
        free(entry[i]);
    }
    free(entry);
}

/* == Goals ================================================================== */

/* A goal with main on one CPU, acl and release on another, and interrupts. */
typedef struct stage_goal {
    cpubind_goal goal;
    cpubind_thread_rule rule[4];
    cpubind_irq_goal irq[4];
    int32_t cpu[2];
} stage_goal;

static inline void goal_make(stage_goal *g, int32_t main_cpu, int32_t other_cpu)
{
    memset(g, 0, sizeof *g);
    g->cpu[0] = main_cpu;
    g->cpu[1] = other_cpu;
    g->rule[0] = (cpubind_thread_rule){"acl_thread", {&g->cpu[1], 1}, 0};
    g->rule[1] = (cpubind_thread_rule){"release_thread", {&g->cpu[1], 1}, 0};
    g->goal.device = 3;
    g->goal.main = (cpubind_cpus){&g->cpu[0], 1};
    g->goal.rule = g->rule;
    g->goal.n_rule = 2;
    g->goal.memory_node = -1;
    g->goal.irq = g->irq;
    g->goal.no_irq = CPUBIND_IRQ_NO_ROLE;
}

static inline void goal_add_irq(stage_goal *g, int32_t irq, cpubind_irq_kind kind, int32_t cpu)
{
    cpubind_irq_goal *goal = &g->irq[g->goal.n_irq++];
    *goal = (cpubind_irq_goal){irq, kind, cpu, {STAGE_FUNCTION, "", 0}};
    (void)stage_action(irq, goal->id.name);
    g->goal.no_irq = CPUBIND_IRQ_FOUND;
}

#endif /* CPUBIND_TESTS_LINUX_FAKE_HOST_H */
