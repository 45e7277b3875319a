/* binding.c - a binding: opening and closing it, and its report
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing of the process or the host; the record file is all that it writes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kernel/process.h"
#include "binding.h"

#define INPUT_BOOT "proc/sys/kernel/random/boot_id"

/* == Reports ================================================================ */

void cpubind_report_begin(cpubind_binding *b)
{
    cpubind_outcomes *r = &b->report;
    cpubind_item *item = r->item;
    const int32_t cap = r->cap;
    memset(r, 0, offsetof(cpubind_outcomes, memory));
    r->item = item;
    r->cap = cap;
    r->device = b->record.device;
    r->memory_node = -1;
    r->is_alive = cpubind_process_is_alive(b);
    memcpy(r->pci, b->record.pci, sizeof r->pci);
}

/* == The record ============================================================= */

void cpubind_begin_record(cpubind_binding *b)
{
    cpubind_record_free(&b->record);
    b->record = (cpubind_record){.pid = b->options.pid,
                                 .start = b->start,
                                 .space = b->space,
                                 .device = -1,
                                 .memory_node = -1,
                                 .before = CPUBIND_CPUSET_NONE,
                                 .widest = CPUBIND_CPUSET_NONE,
                                 .main = CPUBIND_CPUSET_NONE,
                                 .polling = CPUBIND_CPUSET_NONE};
    memcpy(b->record.boot, b->boot, sizeof b->boot);
    b->online = CPUBIND_CPUSET_NONE;
    b->n_known = 0;
    b->has_moved_threads = 0;
    b->is_dirty = 0;
    b->phase = CPUBIND_PHASE_NEW;
    cpubind_look_at_all(b);
}

static void mark_saved(cpubind_record *record)
{
    for (int32_t i = 0; i < record->n_thread; i++)
        record->thread[i].is_saved = 1;
}

cpubind_linux_fault cpubind_read_record(cpubind_binding *b)
{
    cpubind_linux_fault why;
    cpubind_begin_record(b);
    if (!b->file)
        return cpubind_no_fault;
    why = cpubind_record_load(b->file, &b->record);
    if (why.line == 1 && strcmp(why.what, "form") == 0 && b->options.other_path)
        memcpy(b->options.other_path, cpubind_record_form(b->file), CPUBIND_RECORD_FORM_SIZE);
    if (why.error)
        cpubind_begin_record(b);
    else
        b->phase = CPUBIND_PHASE_BOUND;
    mark_saved(&b->record);
    return why.error == ENOENT && strcmp(why.what, "open") == 0 ? cpubind_no_fault : why;
}

cpubind_linux_fault cpubind_write_record(cpubind_binding *b)
{
    cpubind_linux_fault why;
    if (!b->is_dirty)
        return cpubind_no_fault;
    why = cpubind_record_save(b->file, &b->record);
    b->is_save_failed = why.error != 0;
    b->is_dirty = b->is_save_failed;
    if (!b->is_save_failed)
        mark_saved(&b->record);
    return why;
}

cpubind_linux_fault cpubind_begin_call(cpubind_binding *b)
{
    const cpubind_phase phase = b->phase;
    cpubind_linux_fault why = cpubind_no_fault;
    if (phase == CPUBIND_PHASE_DROPPED || phase == CPUBIND_PHASE_OUTDATED) {
        why = cpubind_read_record(b);
        if (why.error)
            b->phase = phase;
    }
    b->is_save_failed = 0;
    b->host_wait_ms =
        b->options.host_wait_ms > 0 ? b->options.host_wait_ms : CPUBIND_HOST_WAIT_MS;
    b->online = CPUBIND_CPUSET_NONE;
    b->first_failure = cpubind_no_fault;
    b->listed.name[0] = '\0';
    b->kernel.end_ms = 0;
    cpubind_report_begin(b);
    return why;
}

cpubind_linux_status cpubind_status_of(const cpubind_binding *b, cpubind_linux_fault why)
{
    if (!why.error)
        return CPUBIND_LINUX_OK;
    if (b->report.n_not_restored > 0)
        return CPUBIND_LINUX_ERR_UNDONE;
    if (b->is_save_failed)
        return CPUBIND_LINUX_ERR_STATE;
    switch (why.error) {
    case ENOMEM:
        return CPUBIND_LINUX_ERR_MEMORY;
    case ESRCH:
        return CPUBIND_LINUX_ERR_GONE;
    default:
        return CPUBIND_LINUX_ERR_REFUSED;
    }
}

/* == Opening ================================================================ */

/* Finds the process, if there is one. Its task folder is opened first: if another process gets
 * the pid before the start time is read, the folder is that of the one that has ended, and
 * nothing is moved. */
static cpubind_linux_fault find_process(cpubind_binding *b)
{
    cpubind_proc_stat stat = {.start = 0};
    cpubind_linux_fault why = cpubind_tasks_open(&b->root, b->options.pid, &b->task_dir_fd);
    if (!why.error)
        why = cpubind_proc_stat_read(&b->root, b->options.pid, 0, &stat);
    if (!why.error && b->options.pid != (int32_t)getpid() &&
        cpubind_proc_is_thread(&b->root, b->options.pid))
        why.error = EINVAL; /* a process has one record: that of its pid */
    b->start = stat.start;
    if (why.error && b->task_dir_fd >= 0) {
        b->sys->close(b->task_dir_fd);
        b->task_dir_fd = -1;
    }
    if (why.error == ENOENT || why.error == ESRCH)
        return cpubind_no_fault;
    return cpubind_fault_of(why.error, why.error == ENOMEM ? "memory" : "process");
}

/* A process that kill(2) finds and /proc does not list is hidden, unless /proc is empty. */
static cpubind_linux_fault fault_of_gone(cpubind_binding *b)
{
    const int is_hidden = b->sys->kill((pid_t)b->options.pid, 0) == 0 || errno == EPERM;
    cpubind_proc_stat stat;
    const int is_empty =
        cpubind_proc_stat_read(&b->root, (int32_t)getpid(), 0, &stat).error == ESRCH;
    return cpubind_fault_of(is_empty ? ENOENT : is_hidden ? EPERM : ESRCH, "process");
}

static cpubind_linux_fault read_boot(cpubind_binding *b)
{
    int32_t len = 0;
    const int error =
        cpubind_read_text(b->sys, b->root.fd, INPUT_BOOT, b->boot, sizeof b->boot, &len).error;
    b->boot[error ? 0 : strcspn(b->boot, "\n")] = '\0';
    if (error && error != ENOENT)
        return cpubind_fault_of(error, error == ENOMEM ? "memory" : "/" INPUT_BOOT);
    return cpubind_namespaces_read(&b->root, &b->space);
}

static cpubind_linux_fault open_file(cpubind_binding *b)
{
    const cpubind_bind_options *options = &b->options;
    const cpubind_record_mode mode =
        options->is_reading ? CPUBIND_RECORD_READ : CPUBIND_RECORD_MAKE;
    cpubind_linux_fault why = cpubind_record_open(&b->root, options->pid, mode, NULL, &b->file);
    if (!why.error && !options->is_reading && b->task_dir_fd >= 0)
        why = cpubind_process_lock(&b->root, options->pid, &b->process_lock_fd);
    if (!why.error && !options->is_reading)
        cpubind_process_sign(b, b->file);
    if (why.error != ENOENT)
        return why;
    if (b->task_dir_fd < 0) /* without a process and a folder, name the process */
        return fault_of_gone(b);
    return options->is_reading ? cpubind_no_fault /* this user has never bound a process here */
                               : why;
}

/* With pid 0 there is no process, and no record of one. */
static cpubind_linux_fault open_all(cpubind_binding *b)
{
    const int has_process = b->options.pid > 0;
    cpubind_linux_fault why = cpubind_root_live(&b->root, b->sys);
    if (why.error)
        return cpubind_fault_of(why.error, "/");
    if (has_process)
        why = find_process(b);
    if (!why.error && has_process)
        why = open_file(b);
    if (!why.error)
        why = read_boot(b);
    if (!why.error)
        why = cpubind_read_record(b);
    if (!why.error && has_process && !b->options.is_reading) {
        char path[CPUBIND_PLACE_SIZE] = "";
        why = cpubind_place_check(b, path);
        if (why.error && b->options.other_path)
            memcpy(b->options.other_path, path, sizeof path);
    }
    if (!why.error && has_process && b->phase == CPUBIND_PHASE_NEW && b->task_dir_fd < 0)
        why = fault_of_gone(b);
    return why;
}

/* The status of a fault of open_all. */
static cpubind_linux_status status_of_open(cpubind_linux_fault why)
{
    if (why.line > 0)
        return CPUBIND_LINUX_ERR_DAMAGED;
    if (strcmp(why.what, "process") == 0)
        return CPUBIND_LINUX_ERR_GONE;
    if (strncmp(why.what, "another ", 8) == 0)
        return CPUBIND_LINUX_ERR_EXISTS;
    if (*why.what == '/')
        return CPUBIND_LINUX_ERR_OPEN;
    return cpubind_record_status(why);
}

/* The figures of memory, 16 KB, stay as they are: a command that moves none is to start at
 * once. */
static cpubind_linux_status open_binding(const cpubind_bind_options *options,
                                         const cpubind_sys *sys, cpubind_binding **out,
                                         cpubind_linux_fault *fault)
{
    const cpubind_sys *calls = sys ? sys : &cpubind_sys_real;
    cpubind_binding *b = (cpubind_binding *)calls->malloc(sizeof *b);
    cpubind_linux_fault why;
    if (!b)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    memset(b, 0, offsetof(cpubind_binding, report.memory));
    b->sys = calls;
    b->root = (cpubind_root){calls, -1, CPUBIND_REACH_ANYWHERE};
    b->task_dir_fd = b->process_lock_fd = b->max_name_fd = -1;
    b->options = *options;
    why = open_all(b);
    if (why.error) {
        cpubind_bind_close(b);
        return cpubind_linux_end(status_of_open(why), why, fault);
    }
    cpubind_report_begin(b);
    *out = b;
    return CPUBIND_LINUX_OK;
}

cpubind_linux_status cpubind_bind_open(const cpubind_bind_options *options,
                                       const cpubind_sys *sys, cpubind_binding **out,
                                       cpubind_linux_fault *fault)
{
    if (!out)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "out", fault);
    *out = NULL;
    if (!options || options->pid < 1)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "pid", fault);
    if (options->memory_limit < 0 || options->memory_time_ms < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "memory_limit", fault);
    return open_binding(options, sys, out, fault);
}

cpubind_linux_status cpubind_bind_open_host(const cpubind_sys *sys, cpubind_binding **out,
                                            cpubind_linux_fault *fault)
{
    const cpubind_bind_options none = {.pid = 0};
    *out = NULL;
    return open_binding(&none, sys, out, fault);
}

void cpubind_bind_close(cpubind_binding *binding)
{
    if (!binding)
        return;
    cpubind_record_close(binding->file);
    cpubind_record_free(&binding->record);
    free(binding->tids.id);
    free(binding->tids_before.id);
    free(binding->listed_irqs.id);
    free(binding->misplaced);
    free(binding->known);
    free(binding->trouble);
    cpubind_kernel_list_free(&binding->kernel);
    cpubind_watched_free(binding);
    cpubind_stop_events(binding);
    free(binding->report.item);
    cpubind_shared_close(binding);
    free(binding->owed);
    if (binding->process_lock_fd >= 0)
        binding->sys->close(binding->process_lock_fd);
    if (binding->task_dir_fd >= 0)
        binding->sys->close(binding->task_dir_fd);
    if (binding->root.fd >= 0)
        binding->sys->close(binding->root.fd);
    free(binding);
}

int cpubind_bind_is_alive(const cpubind_binding *binding)
{
    return cpubind_process_is_alive(binding);
}

/* == Asking ================================================================= */

cpubind_cpus cpubind_bind_now(cpubind_binding *b)
{
    cpubind_cpu_sets *sets = &b->record.sets;
    int32_t set;
    if (cpubind_task_cpus(b->sys, b->options.pid, sets, &set).error || set < 0)
        return (cpubind_cpus){NULL, 0};
    return (cpubind_cpus){sets->set[set].cpu, sets->set[set].n};
}

/* A set of the record of a process that lives. */
static cpubind_cpus cpus_on_record(const cpubind_binding *b, int32_t set)
{
    if (!cpubind_is_recorded(b) || !cpubind_process_is_alive(b) || set < 0)
        return (cpubind_cpus){NULL, 0};
    return (cpubind_cpus){b->record.sets.set[set].cpu, b->record.sets.set[set].n};
}

cpubind_cpus cpubind_bind_allowed(const cpubind_binding *binding)
{
    return cpus_on_record(binding, binding->record.before);
}

cpubind_cpus cpubind_bind_main(const cpubind_binding *binding)
{
    return cpus_on_record(binding, binding->record.main);
}

int32_t cpubind_bind_device(const cpubind_binding *binding)
{
    return cpubind_is_recorded(binding) ? binding->record.device : -1;
}

const char *cpubind_bind_pci(const cpubind_binding *binding)
{
    return cpubind_is_recorded(binding) ? binding->record.pci : "";
}

const char *cpubind_bind_rules(const cpubind_binding *binding)
{
    return cpubind_is_recorded(binding) ? binding->record.rules : "";
}

void cpubind_bind_measure(cpubind_binding *binding, int is_measuring)
{
    cpubind_proc_stat stat = {.start = 0};
    binding->measurer = is_measuring ? (int32_t)getpid() : 0;
    (void)cpubind_proc_stat_read(&binding->root, binding->measurer, 0, &stat);
    binding->measurer_start = stat.start;
}

int32_t cpubind_bind_measurer(const cpubind_binding *binding)
{
    return cpubind_is_recorded(binding) ? binding->record.measurer : 0;
}

const char *cpubind_bind_record_path(const cpubind_binding *binding)
{
    return binding->file ? cpubind_record_path(binding->file) : "";
}

int cpubind_bind_program(int32_t pid, const cpubind_sys *sys, char out[CPUBIND_PROGRAM_SIZE])
{
    static const char deleted[] = " (deleted)";
    cpubind_root root;
    cpubind_proc_stat stat = {.name = ""};
    char link[32], path[PATH_MAX + 1];
    const char *name = "";
    ssize_t n;
    out[0] = '\0';
    if (cpubind_root_live(&root, sys).error)
        return 0;
    (void)snprintf(link, sizeof link, "proc/%ld/exe", (long)pid);
    n = root.sys->readlinkat(root.fd, link, path, sizeof path - 1);
    if (n > 0) {
        const size_t end = sizeof deleted - 1;
        if ((size_t)n > end && memcmp(path + (size_t)n - end, deleted, end) == 0)
            n -= (ssize_t)end;
        path[n] = '\0';
        name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    } else if (!cpubind_proc_stat_read(&root, pid, 0, &stat).error) {
        name = stat.name;
    }
    memcpy(out, name, strnlen(name, CPUBIND_PROGRAM_SIZE - 1));
    out[strnlen(name, CPUBIND_PROGRAM_SIZE - 1)] = '\0';
    root.sys->close(root.fd);
    return n > 0;
}

cpubind_linux_status cpubind_bind_exec(char *const *argv, const cpubind_sys *sys,
                                       cpubind_linux_fault *fault)
{
    sys = sys ? sys : &cpubind_sys_real;
    (void)sys->exec(argv[0], argv);
    return cpubind_linux_end(CPUBIND_LINUX_ERR_REFUSED, cpubind_fault_errno("exec"), fault);
}

cpubind_linux_status cpubind_bind_list(const cpubind_sys *sys, int32_t **out, int32_t *out_n,
                                       cpubind_linux_fault *fault)
{
    cpubind_root root;
    cpubind_linux_fault why = cpubind_root_live(&root, sys);
    cpubind_ids pids;
    *out = NULL;
    *out_n = 0;
    if (why.error)
        return cpubind_linux_end(CPUBIND_LINUX_ERR_OPEN, why, fault);
    why = cpubind_record_list(&root, &pids);
    root.sys->close(root.fd);
    *out = pids.id;
    *out_n = pids.n;
    return cpubind_linux_end(cpubind_record_status(why), why, fault);
}

/* Whether the record of a process in the usual folder may have other rules: a host has
 * hundreds of records, nearly all of the same rules, and each rank looks at all of them. */
static int may_differ(cpubind_root *root, int32_t pid, const char *rules)
{
    char line[CPUBIND_RULES_SIZE + 16];
    cpubind_record_file *file;
    cpubind_bytes text = {NULL, 0, 0};
    int is_same = 0;
    if (cpubind_record_open(root, pid, CPUBIND_RECORD_READ, NULL, &file).error)
        return 1;
    (void)snprintf(line, sizeof line, "\nrules %s\n", rules);
    if (!cpubind_record_read(file, &text).error && text.len > 0)
        is_same = memmem(text.data, (size_t)text.len, line, strlen(line)) != NULL;
    cpubind_bytes_free(&text);
    cpubind_record_close(file);
    return !is_same;
}

/* Counts a process whose record has other rules. */
static void count_rules(int32_t pid, const char *rules, const cpubind_sys *sys,
                        cpubind_other_rules *out)
{
    const cpubind_bind_options options = {.pid = pid, .is_reading = 1};
    const char *word;
    cpubind_binding *b;
    if (cpubind_bind_open(&options, sys, &b, NULL) != CPUBIND_LINUX_OK)
        return;
    word = cpubind_bind_rules(b);
    if (*word && strcmp(word, rules) != 0 && cpubind_process_is_alive(b) && out->n++ == 0) {
        out->pid = pid;
        memcpy(out->rules, word, strlen(word) + 1);
    }
    cpubind_bind_close(b);
}

cpubind_other_rules cpubind_bind_find_other_rules(const char *rules,
                                                  int (*is_own)(const void *ctx, int32_t pid),
                                                  const void *ctx, const cpubind_sys *sys)
{
    cpubind_other_rules out = {0, 0, ""};
    cpubind_root root;
    cpubind_ids pids = {0};
    if (!rules || cpubind_root_live(&root, sys).error)
        return out;
    if (!cpubind_record_list(&root, &pids).error)
        for (int32_t i = 0; i < pids.n; i++)
            if (!is_own(ctx, pids.id[i]) && may_differ(&root, pids.id[i], rules))
                count_rules(pids.id[i], rules, sys, &out);
    free(pids.id);
    root.sys->close(root.fd);
    return out;
}
