/* knob.c - the things of the host that are changed: finding, reading and writing each kind
 * SPDX-License-Identifier: MIT
 *
 * A knob is an entry of the record of the host: a thread, an interrupt, a work queue, a setting
 * or a ban of irqbalance. What its kind has of its own is a row of the table.
 * A number is that of another interrupt after its driver was loaded again. So an interrupt is
 * found by its function, name and index at each call, and looked up again before each write.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kernel/process.h"
#include "../kernel/workqueue.h"
#include "binding.h"

#define INPUT_ONLINE "sys/devices/system/cpu/online"

/* == Interrupts ============================================================= */

static int is_listed(const cpubind_binding *b, const cpubind_irq_id *id)
{
    return strcmp(b->listed.name, id->name) == 0 &&
           strcmp(b->listed.function, id->function) == 0;
}

cpubind_linux_fault cpubind_find_irq(cpubind_binding *b, const cpubind_irq_id *id, int32_t *irq)
{
    if (!is_listed(b, id)) {
        const cpubind_linux_fault why = cpubind_irq_list(&b->root, id, &b->listed_irqs);
        b->listed.name[0] = '\0';
        if (why.error)
            return why;
        b->listed = *id;
    }
    if (id->index >= b->listed_irqs.n)
        return cpubind_fault_of(ENOENT, "gone");
    *irq = b->listed_irqs.id[id->index];
    return cpubind_no_fault;
}

cpubind_linux_fault cpubind_move_irq(cpubind_binding *b, const cpubind_shared_entry *irq,
                                     int32_t should, int32_t *actual)
{
    int32_t now = CPUBIND_CPUSET_NONE;
    cpubind_linux_fault why = cpubind_write_entry(b, irq, should);
    *actual = CPUBIND_CPUSET_NONE;
    if (!why.error)
        why = cpubind_irq_read(&b->root, irq->number, &b->record.sets, &now);
    if (why.error)
        return why;
    if (now != should)
        return cpubind_fault_of(EIO, "smp_affinity_list");
    why = cpubind_irq_read_effective(&b->root, irq->number, &b->record.sets, actual);
    return why.error == ENOMEM ? why : cpubind_no_fault;
}

static cpubind_linux_fault read_irq(cpubind_binding *b, const cpubind_shared_entry *entry,
                                    int32_t *number, int32_t *set)
{
    const cpubind_linux_fault why = cpubind_find_irq(b, &entry->id, number);
    return why.error ? why : cpubind_irq_read(&b->root, *number, &b->record.sets, set);
}

/* Where the number still is that of this interrupt. */
static cpubind_linux_fault write_irq(cpubind_binding *b, const cpubind_shared_entry *entry,
                                     int32_t set)
{
    const cpubind_linux_fault why = cpubind_irq_check(&b->root, &entry->id, entry->number);
    return why.error ? why
                     : cpubind_irq_write(&b->root, entry->number, &b->record.sets.set[set]);
}

/* == Threads and work queues ================================================ */

/* Reads the name and the set of a thread. */
static cpubind_linux_fault read_thread(cpubind_binding *b, const cpubind_shared_entry *entry,
                                       int32_t *number, int32_t *set)
{
    cpubind_proc_stat stat = {.start = 0};
    int error = cpubind_proc_stat_read(&b->root, entry->pid, entry->number, &stat).error;
    (void)number;
    if (!error && stat.start != entry->start)
        error = ESRCH;
    if (!error)
        error = cpubind_task_cpus(b->sys, entry->number, &b->record.sets, set).error;
    (void)snprintf(b->thread_name, sizeof b->thread_name, "%s", error ? "" : stat.name);
    return cpubind_fault_of(error, "read a thread");
}

static cpubind_linux_fault write_thread(cpubind_binding *b, const cpubind_shared_entry *entry,
                                        int32_t set)
{
    return cpubind_task_move(b->sys, entry->number, &b->record.sets.set[set]);
}

static cpubind_linux_fault read_queue(cpubind_binding *b, const cpubind_shared_entry *entry,
                                      int32_t *number, int32_t *set)
{
    (void)number;
    return cpubind_workqueue_read(&b->root, entry->id.name, &b->record.sets, set);
}

static cpubind_linux_fault write_queue(cpubind_binding *b, const cpubind_shared_entry *entry,
                                       int32_t set)
{
    return cpubind_workqueue_write(&b->root, entry->id.name, &b->record.sets.set[set]);
}

/* == Settings =============================================================== */

/* Those that cpubind doctor may change, and no other file: before and after a number. */
static const struct {
    const char *name, *path, *end;
} settings[] = {
    {"numa_balancing", "proc/sys/kernel/numa_balancing", NULL},
    {"scaling_governor", "sys/devices/system/cpu/cpu", "/cpufreq/scaling_governor"},
    {"smp_affinity_list", "proc/irq/", "/smp_affinity_list"},
};

int cpubind_setting_file(const cpubind_irq_id *id, char path[CPUBIND_SETTING_SIZE])
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (strcmp(settings[i].name, id->name) != 0)
            continue;
        if (settings[i].end)
            (void)snprintf(path, CPUBIND_SETTING_SIZE, "%s%d%s", settings[i].path,
                           (int)id->index, settings[i].end);
        else
            (void)snprintf(path, CPUBIND_SETTING_SIZE, "%s", settings[i].path);
        return settings[i].end || id->index == 0;
    }
    return 0;
}

int cpubind_setting_find(const char *file, cpubind_irq_id *id)
{
    const char *const digit = strpbrk(file, "0123456789");
    char path[CPUBIND_SETTING_SIZE];
    *id = (cpubind_irq_id){.index = digit ? (int32_t)strtol(digit, NULL, 10) : 0};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        (void)snprintf(id->name, sizeof id->name, "%s", settings[i].name);
        if (cpubind_setting_file(id, path) && strcmp(path, file) == 0)
            return 1;
    }
    return 0;
}

static cpubind_linux_fault read_setting(cpubind_binding *b, const cpubind_shared_entry *entry,
                                        int32_t *number, int32_t *set)
{
    char path[CPUBIND_SETTING_SIZE];
    cpubind_bytes bytes = {0};
    cpubind_linux_fault why = cpubind_fault_of(EINVAL, "read");
    (void)number;
    if (cpubind_setting_file(&entry->id, path))
        why = cpubind_input_fault(cpubind_root_read(&b->root, path, &bytes));
    while (!why.error && bytes.len > 0 && bytes.data[bytes.len - 1] == '\n')
        bytes.len--;
    if (!why.error)
        why = cpubind_cpu_sets_of_value(&b->record.sets, b->sys, bytes.data, bytes.len, set);
    cpubind_bytes_free(&bytes);
    return cpubind_fault_of(why.error, why.error == ENOMEM ? "memory" : "read");
}

static cpubind_linux_fault write_setting(cpubind_binding *b, const cpubind_shared_entry *entry,
                                         int32_t set)
{
    const char *const value = b->record.sets.set[set].text + 1; /* after "=" */
    char path[CPUBIND_SETTING_SIZE];
    return cpubind_setting_file(&entry->id, path)
               ? cpubind_write_value(b->sys, b->root.fd, path, value, "write")
               : cpubind_no_fault;
}

/* == Bans =================================================================== */

cpubind_linux_fault cpubind_value_of_ban(cpubind_binding *b, int32_t *set)
{
    return cpubind_cpu_sets_of_value(&b->record.sets, b->sys, "ban", 3, set);
}

static cpubind_linux_fault read_ban(cpubind_binding *b, const cpubind_shared_entry *entry,
                                    int32_t *number, int32_t *set)
{
    const cpubind_irqbalance daemon = {entry->number, entry->start, 0};
    int32_t is_banned = 0;
    cpubind_linux_fault why =
        cpubind_irqbalance_banned(&b->root, &daemon, &entry->id.index, 1, &is_banned);
    (void)number;
    *set = CPUBIND_CPUSET_NONE;
    return why.error || !is_banned ? why : cpubind_value_of_ban(b, set);
}

static cpubind_linux_fault write_ban(cpubind_binding *b, const cpubind_shared_entry *entry,
                                     int32_t set)
{
    const cpubind_irqbalance daemon = {entry->number, entry->start, 0};
    return (set < 0 ? cpubind_irqbalance_unban : cpubind_irqbalance_ban)(&b->root, &daemon,
                                                                         &entry->id.index, 1);
}

/* == What the kernel has moved by force ===================================== */

/* Whether a CPU says itself that it is online. */
static int is_online_itself(cpubind_binding *b, int32_t cpu)
{
    char name[64], text[8];
    int32_t len;
    (void)snprintf(name, sizeof name, "sys/devices/system/cpu/cpu%d/online", (int)cpu);
    return !cpubind_read_text(b->sys, b->root.fd, name, text, sizeof text, &len).error &&
           text[0] == '1';
}

static int has_cpu(const cpubind_cpu_set *set, int32_t cpu)
{
    return cpu / CPUBIND_WORD_BITS < set->n_word &&
           (set->word[cpu / CPUBIND_WORD_BITS] >> cpu % CPUBIND_WORD_BITS & 1) != 0;
}

/* A file that lacks CPUs of the goal which say that they are online is not the kernel's (lxcfs
 * makes such ones), and tells nothing. */
void cpubind_read_online(cpubind_binding *b)
{
    const cpubind_cpu_sets *sets = &b->record.sets;
    cpubind_bytes bytes = {0};
    const cpubind_input input = cpubind_root_read(&b->root, INPUT_ONLINE, &bytes);
    int32_t set, main;
    b->online = CPUBIND_ONLINE_NOT_KNOWN;
    if (input.state == CPUBIND_INPUT_PRESENT &&
        !cpubind_cpu_sets_of_text(&b->record.sets, b->sys, bytes.data, bytes.len, &set).error)
        b->online = set;
    cpubind_bytes_free(&bytes);
    main = b->record.main;
    for (int32_t i = 0; b->online >= 0 && main >= 0 && i < sets->set[main].n; i++) {
        const int32_t cpu = sets->set[main].cpu[i];
        if (!has_cpu(&sets->set[b->online], cpu) && is_online_itself(b, cpu))
            b->online = CPUBIND_ONLINE_NOT_KNOWN;
    }
}

/* To ask for all CPUs changes nothing for a thread that has them; another one gets its own
 * back. */
static int has_all_of_cpuset(cpubind_binding *b, const cpubind_shared_entry *entry, int32_t is)
{
    int32_t all = CPUBIND_CPUSET_NONE;
    if (cpubind_task_widen(b->sys, entry->number).error)
        return 0;
    (void)cpubind_task_cpus(b->sys, entry->number, &b->record.sets, &all);
    if (all != is)
        (void)cpubind_task_move(b->sys, entry->number, &b->record.sets.set[is]);
    return all == is;
}

/* An interrupt whose last CPU goes offline gets all others, and keeps them when that one
 * returns: it lacks CPUs that bindings gave alone. */
static int has_all_online(cpubind_binding *b, const cpubind_shared_entry *entry, int32_t is)
{
    const cpubind_shared_record *host = &b->shared.record;
    (void)entry;
    cpubind_read_online(b);
    if (b->online == CPUBIND_ONLINE_NOT_KNOWN)
        return 0;
    const cpubind_cpu_set *const set = b->record.sets.set;
    for (int32_t c = 0; c < set[b->online].n; c++) {
        const int32_t cpu = set[b->online].cpu[c];
        int has_it = has_cpu(&set[is], cpu);
        for (int32_t i = 0; i < host->n_entry; i++)
            for (int32_t k = 0; k < host->entry[i].n_user; k++)
                has_it |= has_cpu(&set[host->entry[i].user[k].set], cpu);
        if (!has_it)
            return 0;
    }
    return 1;
}

/* == All kinds ============================================================== */

static const struct {
    cpubind_linux_fault (*read)(cpubind_binding *b, const cpubind_shared_entry *entry,
                                int32_t *number, int32_t *set);
    cpubind_linux_fault (*write)(cpubind_binding *b, const cpubind_shared_entry *entry,
                                 int32_t set);
    int (*has_all)(cpubind_binding *b, const cpubind_shared_entry *entry, int32_t is);
    int gone; /* the error of one that is not there any more */
} knobs[] = {
    [CPUBIND_ITEM_THREAD] = {read_thread, write_thread, has_all_of_cpuset, ESRCH},
    [CPUBIND_ITEM_IRQ] = {read_irq, write_irq, has_all_online, ENOENT},
    [CPUBIND_ITEM_POLLING] = {read_thread, write_thread, has_all_of_cpuset, ESRCH},
    [CPUBIND_ITEM_KERNEL] = {read_thread, write_thread, has_all_of_cpuset, ESRCH},
    [CPUBIND_ITEM_WORKQUEUE] = {read_queue, write_queue, NULL, ENOENT},
    [CPUBIND_ITEM_FILE] = {read_setting, write_setting, NULL, ENOENT},
    [CPUBIND_ITEM_BAN] = {read_ban, write_ban, NULL, ESRCH},
};

/* Whether interrupts are visible here at all: then one that is not visible is gone. */
static int has_irqs(const cpubind_binding *b)
{
    return b->sys->accessat(b->root.fd, "proc/irq", F_OK) == 0 &&
           b->sys->accessat(b->root.fd, "sys/bus/pci/devices", F_OK) == 0;
}

int cpubind_is_gone(const cpubind_binding *b, const cpubind_shared_entry *entry,
                    cpubind_linux_fault why)
{
    return why.error == knobs[entry->kind].gone &&
           (entry->kind != CPUBIND_ITEM_IRQ || has_irqs(b));
}

int cpubind_is_refusal(int error)
{
    static const int refusals[] = {EACCES, EPERM,      EROFS,  ENOENT, EIO,  ENOSYS,
                                   ENODEV, EOPNOTSUPP, EINVAL, ENOSPC, EBUSY};
    int is_one = 0;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        is_one |= refusals[i] == error;
    return is_one;
}

cpubind_linux_fault cpubind_read_entry(cpubind_binding *b, const cpubind_shared_entry *entry,
                                       int32_t *number, int32_t *set)
{
    /* A number of another namespace is that of another process here. */
    if (knobs[entry->kind].gone == ESRCH && !cpubind_is_same_space(entry->space, b->space))
        return cpubind_fault_of(EREMOTE, "another namespace");
    return knobs[entry->kind].read(b, entry, number, set);
}

cpubind_linux_fault cpubind_write_entry(cpubind_binding *b, const cpubind_shared_entry *entry,
                                        int32_t should)
{
    return knobs[entry->kind].write(b, entry, should);
}

int cpubind_has_all(cpubind_binding *b, const cpubind_shared_entry *entry, int32_t is)
{
    return knobs[entry->kind].has_all && knobs[entry->kind].has_all(b, entry, is);
}

cpubind_subject cpubind_subject_of(const cpubind_binding *b, const cpubind_shared_entry *of,
                                   int32_t should)
{
    const int is_task = of->kind == CPUBIND_ITEM_POLLING || of->kind == CPUBIND_ITEM_THREAD;
    const char *name = is_task ? b->thread_name : of->id.name;
    for (int32_t i = 0; of->kind == CPUBIND_ITEM_IRQ && i < b->record.n_irq; i++)
        if (cpubind_irq_compare(&b->record.irq[i].id, &of->id) == 0)
            name = cpubind_irq_kind_word(b->record.irq[i].kind);
    return (cpubind_subject){
        of->kind, of->pid ? of->pid : b->options.pid, of->number, name, of->before, should};
}
