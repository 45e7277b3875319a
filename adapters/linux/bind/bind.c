/* bind.c - a process that is to be bound: opening, closing, reports, waiting
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "../kernel/proc_stat.h"
#include "binding.h"

#define INPUT_BOOT "proc/sys/kernel/random/boot_id"

const char *cpubind_item_result_word(cpubind_item_result result)
{
    switch (result) {
#define CPUBIND_X(name, word)                                                                  \
    case CPUBIND_ITEM_##name:                                                                  \
        return word;
        CPUBIND_ITEM_RESULT_LIST(CPUBIND_X)
#undef CPUBIND_X
    }
    return "?";
}

/* == Reports ================================================================ */

void cpubind_report_start(cpubind_binding *b)
{
    cpubind_report *r = &b->report;
    cpubind_item *item = r->item;
    int32_t cap = r->cap;
    memset(r, 0, sizeof *r);
    r->item = item;
    r->cap = cap;
    r->npu = b->state.npu;
    r->memory_node = -1;
    r->is_alive = b->is_alive;
}

static const char *text_of(const cpubind_binding *b, int32_t set)
{
    return set < 0 ? NULL : cpubind_cpu_sets_text(&b->state.sets, set);
}

cpubind_item *cpubind_report_add(cpubind_binding *b, cpubind_item_kind kind,
                                 cpubind_item_result result, int32_t id, const char *name,
                                 int32_t was, int32_t should)
{
    cpubind_report *r = &b->report;
    cpubind_item *item =
        (cpubind_item *)cpubind_grow(b->sys, r->item, r->n, &r->cap, sizeof *item);
    if (!item)
        return NULL;
    r->item = item;
    item += r->n++;
    memset(item, 0, sizeof *item);
    item->kind = kind;
    item->result = result;
    item->pid = b->how.pid;
    item->id = id;
    strncpy(item->name, name, sizeof item->name - 1);
    item->was = text_of(b, was);
    item->should = text_of(b, should);
    return item;
}

const cpubind_report *cpubind_bind_report(const cpubind_binding *binding)
{
    return &binding->report;
}

/* == Opening ================================================================ */

/* The process, if there is one. Its folder is opened first: should another process take the
 * number before the start is read, then the folder is that of the one that has ended, and
 * nothing is moved. */
static cpubind_linux_status find_process(cpubind_binding *b, cpubind_linux_fault *fault)
{
    cpubind_proc_stat stat = {0};
    int error;
    error = cpubind_tasks_open(&b->root, b->how.pid, &b->tasks).error;
    if (!error)
        error = cpubind_proc_stat_read(&b->root, b->how.pid, 0, &stat).error;
    if (!error && cpubind_proc_is_thread(&b->root, b->how.pid))
        error = EINVAL; /* bound by two numbers, a process would be half put back by one */
    if (!error)
        b->start = stat.start;
    else if (b->tasks >= 0) {
        b->sys->close(b->tasks);
        b->tasks = -1;
    }
    if (!error || error == ENOENT || error == ESRCH)
        return CPUBIND_LINUX_OK;
    return cpubind_linux_fail(error == ENOMEM ? CPUBIND_LINUX_ERR_MEMORY
                                              : CPUBIND_LINUX_ERR_GONE,
                              error, "process", fault);
}

/* A process that is there for kill(2) and not in /proc is hidden. */
static cpubind_linux_status fail_gone(const cpubind_binding *b, cpubind_linux_fault *fault)
{
    int error = ESRCH;
    if (b->sys->kill((pid_t)b->how.pid, 0) == 0 || errno == EPERM)
        error = EPERM;
    return cpubind_linux_fail(CPUBIND_LINUX_ERR_GONE, error, "process", fault);
}

static cpubind_linux_status read_boot(cpubind_binding *b, cpubind_linux_fault *fault)
{
    cpubind_bytes bytes = {0};
    cpubind_input input = cpubind_root_read(&b->root, INPUT_BOOT, &bytes);
    size_t n = (size_t)bytes.len < sizeof b->boot - 1 ? (size_t)bytes.len : sizeof b->boot - 1;
    if (input.state == CPUBIND_INPUT_PRESENT && n > 0)
        memcpy(b->boot, bytes.data, n);
    b->boot[strcspn(b->boot, "\n")] = '\0';
    cpubind_bytes_free(&bytes);
    if (input.state == CPUBIND_INPUT_FAILED)
        return cpubind_linux_fail(input.error == ENOMEM ? CPUBIND_LINUX_ERR_MEMORY
                                                        : CPUBIND_LINUX_ERR_OPEN,
                                  input.error, "boot_id", fault);
    return CPUBIND_LINUX_OK;
}

void cpubind_record_start(cpubind_binding *b)
{
    cpubind_record *s = &b->state;
    cpubind_record_free(s);
    memset(s, 0, sizeof *s);
    s->pid = b->how.pid;
    s->start = b->start;
    memcpy(s->boot, b->boot, sizeof s->boot);
    s->npu = -1;
    s->memory_node = -1;
    s->before = CPUBIND_CPUSET_NONE;
    s->main = CPUBIND_CPUSET_NONE;
    s->uvb = CPUBIND_CPUSET_NONE;
    b->n_seen = 0;
    b->has_moved = 0;
    b->is_dirty = 0;
    b->is_unsaved = 0;
    b->is_recorded = 0;
    b->is_alive = b->tasks >= 0;
}

/* Where one of the two is not known, the start of the process has to tell. */
static int is_another_boot(const char *a, const char *b)
{
    return *a && *b && strcmp(a, b) != 0;
}

/* What is on record, if anything is. The record of another process that had this number, or of
 * an earlier boot, has nothing to do with this process. */
static cpubind_linux_status read_record(cpubind_binding *b, cpubind_linux_fault *fault)
{
    cpubind_linux_fault own = {0, ""};
    cpubind_linux_status status = read_boot(b, fault);
    if (status != CPUBIND_LINUX_OK)
        return status;
    own = (cpubind_linux_fault){ENOENT, "open"};
    status = b->file ? cpubind_record_load(b->file, &b->state, &own) : CPUBIND_LINUX_ERR_STATE;
    b->is_recorded = status == CPUBIND_LINUX_OK;
    b->is_alive = b->tasks >= 0;
    if (b->is_recorded && (b->state.pid != b->how.pid || b->state.start != b->start ||
                           is_another_boot(b->state.boot, b->boot)))
        b->is_alive = 0;
    if (b->is_recorded)
        return CPUBIND_LINUX_OK;
    cpubind_record_start(b);
    if (status == CPUBIND_LINUX_ERR_STATE && own.error == ENOENT)
        return b->tasks >= 0 ? CPUBIND_LINUX_OK : fail_gone(b, fault);
    return cpubind_linux_fail(status, own.error, own.what, fault);
}

/* There being no process any more is for the call to say. */
cpubind_linux_status cpubind_call_start(cpubind_binding *b, cpubind_linux_fault *fault)
{
    cpubind_linux_status status = CPUBIND_LINUX_OK;
    if (b->is_stale) {
        cpubind_record_start(b);
        status = read_record(b, fault);
        if (status == CPUBIND_LINUX_ERR_GONE)
            status = CPUBIND_LINUX_OK;
        b->is_stale = status != CPUBIND_LINUX_OK;
    }
    cpubind_report_start(b);
    b->undone_not = (cpubind_linux_fault){0, NULL};
    return status;
}

static cpubind_linux_status open_file(cpubind_binding *b, cpubind_linux_fault *fault)
{
    cpubind_linux_fault own = {0, ""};
    cpubind_linux_status status = cpubind_record_open(
        &b->root, b->how.state, b->how.pid,
        b->how.is_reading ? CPUBIND_RECORD_READ : CPUBIND_RECORD_MAKE, &b->file, &own);
    if (status == CPUBIND_LINUX_OK)
        return status;
    if (b->how.is_reading && !b->how.state && own.error == ENOENT && b->tasks >= 0)
        return CPUBIND_LINUX_OK; /* nobody has ever been bound here */
    /* No process and no folder: that there is no process is what to say. */
    if (b->tasks < 0 && own.error == ENOENT)
        return fail_gone(b, fault);
    return cpubind_linux_fail(status, own.error, own.what, fault);
}

cpubind_linux_status cpubind_bind_open(const cpubind_bind_options *options,
                                       const cpubind_sys *sys, cpubind_binding **out,
                                       cpubind_linux_fault *fault)
{
    cpubind_binding *b;
    cpubind_linux_status status;
    if (!out)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "out", fault);
    *out = NULL;
    if (!options || options->pid < 1)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_ARG, EINVAL, "pid", fault);
    sys = sys ? sys : &cpubind_sys_real;
    b = (cpubind_binding *)sys->malloc(sizeof *b);
    if (!b)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    memset(b, 0, sizeof *b);
    b->sys = sys;
    b->how = *options;
    b->tasks = -1;
    b->turn = -1;
    b->root = (cpubind_root){sys, -1, CPUBIND_REACH_ANYWHERE};
    b->root.fd = cpubind_open_retry(sys, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    status = b->root.fd < 0 ? cpubind_linux_fail(CPUBIND_LINUX_ERR_OPEN, errno, "open", fault)
                            : find_process(b, fault);
    if (status == CPUBIND_LINUX_OK)
        status = open_file(b, fault);
    if (status == CPUBIND_LINUX_OK)
        status = read_record(b, fault);
    if (status != CPUBIND_LINUX_OK) {
        cpubind_bind_close(b);
        return status;
    }
    cpubind_report_start(b);
    *out = b;
    return CPUBIND_LINUX_OK;
}

void cpubind_bind_close(cpubind_binding *binding)
{
    if (!binding)
        return;
    cpubind_record_close(binding->file);
    cpubind_record_free(&binding->state);
    free(binding->ids.id);
    free(binding->stray);
    free(binding->seen);
    free(binding->report.item);
    cpubind_end_turn(binding);
    if (binding->tasks >= 0)
        binding->sys->close(binding->tasks);
    if (binding->root.fd >= 0)
        binding->sys->close(binding->root.fd);
    free(binding);
}

/* == Small ones ============================================================= */

cpubind_cpus cpubind_bind_allowed(const cpubind_binding *binding)
{
    const cpubind_record *s = &binding->state;
    cpubind_cpus cpus = {NULL, 0};
    if (!binding->is_recorded || !binding->is_alive || s->before < 0)
        return cpus;
    cpus.cpu = s->sets.set[s->before].cpu;
    cpus.n = s->sets.set[s->before].n;
    return cpus;
}

const char *cpubind_bind_state(const cpubind_binding *binding)
{
    return binding->file ? cpubind_record_path(binding->file) : "";
}

static int has_ended(cpubind_binding *b)
{
    cpubind_proc_stat stat;
    int error = cpubind_proc_stat_read(&b->root, b->how.pid, 0, &stat).error;
    if (error)
        return error == ENOENT || error == ESRCH;
    return stat.start != b->start || (stat.state == 'Z' && stat.n_threads < 2) ||
           stat.state == 'X';
}

int cpubind_bind_wait(cpubind_binding *binding, int32_t timeout_ms)
{
    const cpubind_sys *sys = binding->sys;
    int fd = sys->pidfd_open((pid_t)binding->how.pid, 0);
    struct pollfd wait = {fd, POLLIN, 0}; /* poll passes over a descriptor of -1 */
    int is_over = has_ended(binding);     /* looked at behind it: it may be another's by now */
    if (!is_over) {
        (void)sys->poll(&wait, 1, timeout_ms);
        is_over = has_ended(binding);
    }
    if (fd >= 0)
        sys->close(fd);
    return is_over;
}

int cpubind_bind_exec(char *const *argv, const cpubind_sys *sys)
{
    sys = sys ? sys : &cpubind_sys_real;
    (void)sys->exec(argv[0], argv);
    return errno;
}

cpubind_linux_status cpubind_bind_list(const cpubind_sys *sys, int32_t **out, int32_t *out_n,
                                       cpubind_linux_fault *fault)
{
    cpubind_root root = {sys ? sys : &cpubind_sys_real, -1, CPUBIND_REACH_ANYWHERE};
    cpubind_linux_status status;
    *out = NULL;
    *out_n = 0;
    root.fd = cpubind_open_retry(root.sys, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root.fd < 0)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_OPEN, errno, "open", fault);
    status = cpubind_record_list(&root, out, out_n, fault);
    root.sys->close(root.fd);
    return status;
}
