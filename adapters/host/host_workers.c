/* host_workers.c - one process of the live host: what is known of it
 * SPDX-License-Identifier: MIT
 *
 * Reads files of /proc and /sys, and records; moves nothing and sends no signal but 0. Rules:
 * proc(5), cgroups(7), pid_namespaces(7).
 */
#define _GNU_SOURCE
#include "host_workers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../linux/kernel/process.h"
#include "../text/cgroup.h"
#include "../text/cpulist.h"
#include "../text/procfs.h"
#include "process_env.h"

#define PATH_SIZE 4600 /* a cgroup path of PATH_MAX bytes fits */

/* One reading. `bytes` has the file that was read last. */
typedef struct reading {
    cpubind_root root;
    cpubind_bytes bytes;
    int32_t *list; /* CPUBIND_MAX_CPUS elements, for the list that is being read */
    const cpubind_vendor *driver; /* whose list has it; NULL: it was found in this /proc */
    int is_foreign;               /* its number is of another pid namespace */
} reading;

const char *cpubind_host_state_word(cpubind_host_state state)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_HOST_STATE_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return (size_t)state < sizeof words / sizeof *words ? words[state] : "?";
}

cpubind_worker cpubind_worker_of(int32_t pid)
{
    cpubind_worker w = {.pid = pid,
                        .rank = -1,
                        .bound_number = -1,
                        .device = -1,
                        .number = -1,
                        .part = -1,
                        .state = CPUBIND_HOST_UNBOUND,
                        .record_path = ""};
    cpubind_problem_clear(&w.problem);
    return w;
}

void cpubind_worker_free(cpubind_worker *worker)
{
    cpubind_bind_close(worker->binding);
    free((void *)worker->allowed.cpu);
    free((void *)worker->mask.cpu);
    free((void *)worker->claimed.cpu);
    free(worker->devices);
}

/* Reads a file of a process, or of the host with pid 0. */
static cpubind_linux_fault read_file(reading *r, int32_t pid, const char *leaf)
{
    char name[PATH_SIZE + 32];
    int n = pid ? snprintf(name, sizeof name, "proc/%d/%s", (int)pid, leaf)
                : snprintf(name, sizeof name, "%s", leaf);
    if (n < 0 || n >= (int)sizeof name)
        return cpubind_fault_of(ENAMETOOLONG, leaf);
    cpubind_bytes_free(&r->bytes);
    return cpubind_input_fault(cpubind_root_read(&r->root, name, &r->bytes));
}

/* == CPUs =================================================================== */

int cpubind_worker_keep(const cpubind_sys *sys, cpubind_cpus cpus, cpubind_cpus *out)
{
    int32_t *own = (int32_t *)sys->malloc(((size_t)cpus.n + 1) * sizeof *own);
    if (!own)
        return 0;
    if (cpus.n > 0)
        memcpy(own, cpus.cpu, (size_t)cpus.n * sizeof *own);
    free((void *)out->cpu);
    *out = (cpubind_cpus){own, cpus.n};
    return 1;
}

static cpubind_linux_fault keep(const reading *r, const int32_t *cpu, int32_t n,
                                cpubind_cpus *out)
{
    return cpubind_fault_of(
        cpubind_worker_keep(r->root.sys, (cpubind_cpus){cpu, n}, out) ? 0 : ENOMEM, "memory");
}

int cpubind_worker_holds_claim(const cpubind_worker *w)
{
    return w->claimed.n > 0 && cpubind_list_common(w->claimed.cpu, w->claimed.n, w->allowed.cpu,
                                                   w->allowed.n) == w->claimed.n;
}

/* Whether a fault is the lack of memory, which ends the reading. */
static int is_memory(cpubind_linux_fault fault)
{
    return fault.error == ENOMEM && fault.what && strcmp(fault.what, "memory") == 0;
}

/* The CPUs of the main thread. */
static cpubind_linux_fault read_mask(reading *r, cpubind_worker *w)
{
    cpubind_int_list list = {r->list, CPUBIND_MAX_CPUS, 0};
    cpubind_linux_fault fault = read_file(r, w->pid, "status");
    if (fault.error)
        return fault;
    if (cpubind_status_parse(r->bytes.data, r->bytes.len, CPUBIND_MAX_CPUS, &list, NULL) !=
        CPUBIND_TEXT_OK)
        return cpubind_fault_of(EILSEQ, "read status");
    return keep(r, list.out, list.n, &w->mask);
}

/* Finds out whether a folder is there. */
static cpubind_linux_fault find_folder(const reading *r, const char *name, int *is_there)
{
    struct stat st;
    *is_there = r->root.sys->statat(r->root.fd, name, &st) == 0;
    return !*is_there && errno != ENOENT && errno != ENOTDIR ? cpubind_fault_errno("cgroup")
                                                             : cpubind_no_fault;
}

/* Reads the cpuset of a cgroup, whose folder has a name of n bytes; n 0: it is not known. */
static cpubind_linux_fault read_cgroup_cpus(reading *r, const char *folder, int n,
                                            int is_version_1, cpubind_int_list *out)
{
    static const char *const leaves[2][2] = {{"cpuset.cpus.effective", NULL},
                                             {"cpuset.effective_cpus", "cpuset.cpus"}};
    for (int i = 0; i < 2 && leaves[is_version_1][i] && out->n == 0; i++) {
        char name[PATH_SIZE + 32];
        cpubind_linux_fault fault;
        (void)snprintf(name, sizeof name, "%.*s/%s", n, folder, leaves[is_version_1][i]);
        fault = read_file(r, 0, name);
        if (fault.error && !cpubind_is_unseen(fault.error))
            return fault;
        if (!fault.error && cpubind_cpulist_parse(r->bytes.data, r->bytes.len, CPUBIND_MAX_CPUS,
                                                  out, NULL) != CPUBIND_TEXT_OK)
            out->n = 0;
    }
    return cpubind_no_fault;
}

/* Finds out whether a cgroup has a process among its own. */
static cpubind_linux_fault find_process(reading *r, const char *folder, int32_t pid,
                                        int *is_there)
{
    char name[PATH_SIZE + 16], number[16];
    const int n = snprintf(number, sizeof number, "%d\n", (int)pid);
    cpubind_linux_fault fault;
    (void)snprintf(name, sizeof name, "%s/cgroup.procs", folder);
    fault = read_file(r, 0, name);
    *is_there = 0;
    for (int32_t at = 0; !fault.error && at + n <= r->bytes.len && !*is_there; at++)
        *is_there = (at == 0 || r->bytes.data[at - 1] == '\n') &&
                    memcmp(r->bytes.data + at, number, (size_t)n) == 0;
    return fault;
}

/* The folder in which a process sees the cgroup of its container, if it is in that one.
 *   out     *n: the bytes of its name; 0: it sees none, or is in another one */
static cpubind_linux_fault find_own_cgroup(reading *r, int32_t pid, int *is_version_1,
                                           char folder[PATH_SIZE], int *n)
{
    static const char *const mounts[] = {"sys/fs/cgroup", "sys/fs/cgroup/cpuset"};
    struct stat own, seen;
    int is_there = 0;
    cpubind_linux_fault fault = find_folder(r, mounts[1], is_version_1);
    const char *mount = mounts[*is_version_1];
    const int len = snprintf(folder, PATH_SIZE, "proc/%d/root/%s", (int)pid, mount);
    *n = 0;
    if (fault.error)
        return fault;
    /* A container may mount anything there: what is not of the same file system is not read. */
    if (r->root.sys->statat_known(r->root.fd, mount, &own) < 0 ||
        r->root.sys->statat_known(r->root.fd, folder, &seen) < 0)
        return cpubind_fault_errno("cgroup");
    if (S_ISDIR(seen.st_mode) && seen.st_dev == own.st_dev)
        fault = find_process(r, folder, pid, &is_there);
    *n = is_there ? len : 0;
    return fault;
}

/* The CPUs of the cpuset of a process whose cgroup file is in r->bytes: of its cgroup, else of
 * the nearest one above that has a file; n 0 where none is there, or makes sense. */
static cpubind_linux_fault read_cpuset(reading *r, int32_t pid, cpubind_int_list *out)
{
    cpubind_cgroup place = {.is_version_1 = 0};
    char folder[PATH_SIZE];
    cpubind_linux_fault fault = cpubind_no_fault;
    const cpubind_text_status status =
        cpubind_cgroup_find(r->bytes.data, r->bytes.len, "cpuset", &place);
    int n = 0, top = 0, is_there = 0;
    out->n = 0;
    if (status == CPUBIND_TEXT_OK) {
        const char *path = r->bytes.data + place.path.at;
        top = snprintf(folder, sizeof folder, "sys/fs/cgroup%s",
                       place.is_version_1 ? "/cpuset" : "");
        n = top + snprintf(folder + top, sizeof folder - (size_t)top, "%.*s",
                           (int)place.path.len, path);
        if (n >= PATH_SIZE)
            return cpubind_fault_of(ENAMETOOLONG, "cgroup");
        fault = find_folder(r, folder, &is_there);
    }
    /* Without that folder the path is one of other mounts than those of this process. */
    if (!fault.error && !is_there && status != CPUBIND_TEXT_ERR_MISSING) {
        fault = find_own_cgroup(r, pid, &place.is_version_1, folder, &n);
        is_there = n > 0;
        top = n;
    }
    while (is_there && !fault.error && out->n == 0 && n >= top) {
        fault = read_cgroup_cpus(r, folder, n, place.is_version_1, out);
        while (n > 0 && folder[--n] != '/')
            ;
    }
    return fault;
}

/* == The record ============================================================= */

/* Whether a worker is bound, and for what. */
static cpubind_linux_fault read_record(reading *r, cpubind_worker *w)
{
    const cpubind_bind_options options = {.pid = w->pid, .is_reading = 1};
    cpubind_binding *b;
    cpubind_linux_fault fault = {0};
    switch (cpubind_bind_open(&options, r->root.sys, &b, &fault)) {
    case CPUBIND_LINUX_OK:
        break;
    case CPUBIND_LINUX_ERR_MEMORY:
        return cpubind_fault_of(ENOMEM, "memory");
    case CPUBIND_LINUX_ERR_OPEN:
    case CPUBIND_LINUX_ERR_GONE:
    case CPUBIND_LINUX_ERR_STATE: /* the record of another user may not be seen */
        return cpubind_is_unseen(fault.error) ? cpubind_no_fault : fault;
    default: /* whoever binds it opens the record again, and says what is wrong */
        return cpubind_no_fault;
    }
    if (cpubind_bind_allowed(b).n > 0) {
        w->is_bound = 1;
        w->bound_number = cpubind_bind_device(b);
        (void)snprintf(w->bound_rules, sizeof w->bound_rules, "%s", cpubind_bind_rules(b));
    }
    cpubind_bind_close(b);
    return cpubind_no_fault;
}

/* The CPUs that a worker had before it, or a process above it, was bound; n 0: none is. */
static cpubind_linux_fault read_before(reading *r, int32_t pid, cpubind_cpus *out)
{
    cpubind_outer outer;
    cpubind_linux_fault fault = cpubind_bind_find_outer(pid, r->root.sys, &outer);
    if (!fault.error && outer.n_cpu > 0)
        fault = keep(r, outer.cpu, outer.n_cpu, out);
    free(outer.cpu);
    return fault.error == ESRCH ? cpubind_no_fault : fault;
}

/* The CPUs that a worker may have: those of its cpuset, where that is known; else those before
 * a binding, or its own. */
static cpubind_linux_fault read_allowed(reading *r, cpubind_worker *w)
{
    cpubind_cpus cpuset = {NULL, 0}, before = {NULL, 0}, set;
    cpubind_int_list list = {r->list, CPUBIND_MAX_CPUS, 0};
    cpubind_linux_fault fault = read_file(r, w->pid, "cgroup");
    cpubind_piece id;
    if (!fault.error) {
        if (cpubind_cgroup_container(r->bytes.data, r->bytes.len, &id))
            memcpy(w->container, r->bytes.data + id.at, sizeof w->container - 1);
        fault = cpubind_pod_read(&r->root, &r->bytes, &w->pod);
    }
    if (!fault.error)
        fault = read_cpuset(r, w->pid, &list);
    if (!fault.error && list.n > 0)
        fault = keep(r, list.out, list.n, &cpuset);
    if (fault.error && !cpubind_is_unseen(fault.error))
        return fault;
    fault = read_record(r, w);
    if (!fault.error)
        fault = read_before(r, w->pid, &before);
    if (!fault.error)
        fault = read_mask(r, w);
    set = before.n > 0 ? before : w->mask;
    if (!fault.error && cpuset.n > 0) {
        w->has_own_mask =
            set.n > 0 && cpubind_list_common(cpuset.cpu, cpuset.n, set.cpu, set.n) < cpuset.n;
        set = cpuset;
    }
    if (!fault.error)
        fault = keep(r, set.cpu, set.n, &w->allowed);
    free((void *)cpuset.cpu);
    free((void *)before.cpu);
    return fault;
}

/* == Words ================================================================== */

/* Copies bytes that can be printed, the others as "?", and a NUL after them. */
static void copy_text(char *out, size_t size, const char *bytes, size_t n)
{
    n = n < size - 1 ? n : size - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = bytes[i] < ' ' || bytes[i] == 127 ? '?' : bytes[i];
    out[n] = '\0';
}

/* Takes the first variable that is set, unless one of another vendor was taken. */
static void take_visible(const reading *r, cpubind_worker *w, const char *const *names)
{
    for (int i = 0; names[i] && !w->visible[0]; i++) {
        const cpubind_piece value = cpubind_environ_find(r->bytes.data, r->bytes.len, names[i]);
        if (value.len > 0)
            copy_text(w->visible, sizeof w->visible, r->bytes.data + value.at,
                      (size_t)value.len);
    }
}

/* Reads the claims of an environment, all of them together. */
static cpubind_linux_fault read_claims(reading *r, cpubind_worker *w)
{
    const int32_t n_prefix = (int32_t)sizeof CPUBIND_ENV_PREFIX - 1;
    const cpubind_bytes *b = &r->bytes;
    int32_t n = 0;
    for (int32_t at = 0, len; at < b->len && !w->is_claim_bad; at += len + 1) {
        cpubind_int_list list = {r->list + n, CPUBIND_MAX_CPUS - n, 0};
        const char *text = b->data + at, *equals;
        len = (int32_t)strnlen(text, (size_t)(b->len - at));
        equals = (const char *)memchr(text, '=', (size_t)len);
        if (!equals || len < n_prefix ||
            memcmp(text, CPUBIND_ENV_PREFIX, (size_t)n_prefix) != 0 || equals + 1 == text + len)
            continue;
        w->is_claim_bad =
            cpubind_cpulist_parse(equals + 1, (int32_t)(text + len - equals - 1),
                                  CPUBIND_MAX_CPUS, &list, NULL) != CPUBIND_TEXT_OK;
        n += list.n;
        w->is_claim_bad |= n > 0 && !cpubind_list_sort(r->list, &n);
    }
    return n == 0 || w->is_claim_bad ? cpubind_no_fault : keep(r, r->list, n, &w->claimed);
}

static cpubind_linux_fault read_environment(reading *r, cpubind_worker *w)
{
    const cpubind_linux_fault fault = read_file(r, w->pid, "environ");
    if (fault.error) {
        w->environ_error = fault.error;
        return is_memory(fault) ? fault : cpubind_no_fault;
    }
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++)
        if (!r->driver || r->driver == cpubind_vendor_of((cpubind_vendor_id)i))
            take_visible(r, w, cpubind_vendor_of((cpubind_vendor_id)i)->variable);
    w->rank = cpubind_env_rank(&r->bytes, cpubind_job_ranks, &w->rank_variable);
    return read_claims(r, w);
}

/* == One worker ============================================================= */

/* Whether a process has the file of the driver open that each of its users has. */
static int uses_driver(reading *r, int32_t pid)
{
    const size_t len = strlen(r->driver->user_file);
    char name[64], target[64];
    cpubind_ids ids = {0};
    int folder, found = 0;
    (void)snprintf(name, sizeof name, "proc/%d/fd", (int)pid);
    if (cpubind_root_open(&r->root, name, O_DIRECTORY, &folder).error)
        return 0;
    (void)cpubind_tasks_list(r->root.sys, folder, &ids);
    for (int32_t i = 0; i < ids.n && !found; i++) {
        ssize_t n;
        (void)snprintf(name, sizeof name, "%d", (int)ids.id[i]);
        n = r->root.sys->readlinkat(folder, name, target, sizeof target);
        found = n == (ssize_t)len && memcmp(target, r->driver->user_file, len) == 0;
    }
    free(ids.id);
    r->root.sys->close(folder);
    return found;
}

static cpubind_linux_fault read_worker(reading *r, cpubind_worker *w)
{
    cpubind_proc_stat stat, after;
    cpubind_linux_fault again, fault = cpubind_proc_stat_read(&r->root, w->pid, 0, &stat);
    if (fault.error && fault.error != ESRCH) /* once more: without it the worker has no name */
        fault = cpubind_proc_stat_read(&r->root, w->pid, 0, &stat);
    if (fault.error == ESRCH && !r->is_foreign) {
        const int is_there = r->root.sys->kill((pid_t)w->pid, 0) == 0 || errno == EPERM;
        return cpubind_fault_of(is_there ? EPERM : ESRCH, is_there ? "hidden" : "process");
    }
    if (r->is_foreign && (fault.error || !uses_driver(r, w->pid)))
        return cpubind_fault_of(ESRCH, "pid namespace");
    if (fault.error)
        return fault;
    if (stat.state == 'Z' || stat.n_threads == 0)
        return cpubind_fault_of(ESRCH, "process");
    w->start = stat.start;
    copy_text(w->name, sizeof w->name, stat.name, strlen(stat.name));
    w->has_program = cpubind_bind_program(w->pid, r->root.sys, w->program);
    if (!*w->program)
        copy_text(w->program, sizeof w->program, w->name, strlen(w->name));
    fault = read_environment(r, w);
    if (!fault.error)
        fault = read_allowed(r, w);
    /* All that was read is of one process, if the start is the same at the end. */
    again = cpubind_proc_stat_read(&r->root, w->pid, 0, &after);
    if (again.error == ESRCH || (!again.error && after.start != stat.start))
        return cpubind_fault_of(ESRCH, "process");
    return fault.error ? fault : again;
}

int cpubind_worker_has_ended(const cpubind_worker *worker)
{
    return worker->fault.error == ESRCH && strcmp(worker->fault.what, "process") == 0;
}

cpubind_linux_fault cpubind_worker_read(const cpubind_root *root, int32_t pid,
                                        const cpubind_vendor *driver, int is_foreign,
                                        cpubind_worker *out)
{
    reading r = {.root = *root, .driver = driver, .is_foreign = is_foreign};
    *out = cpubind_worker_of(pid);
    r.list = (int32_t *)root->sys->malloc(CPUBIND_MAX_CPUS * sizeof *r.list);
    out->fault = r.list ? read_worker(&r, out) : cpubind_fault_of(ENOMEM, "memory");
    cpubind_bytes_free(&r.bytes);
    free(r.list);
    if (!out->fault.error)
        return cpubind_no_fault;
    out->state = CPUBIND_HOST_FAILED;
    out->status = CPUBIND_LINUX_ERR_GONE;
    return is_memory(out->fault) ? out->fault : cpubind_no_fault;
}

cpubind_linux_fault cpubind_worker_cpuset(cpubind_root *root, int32_t pid, int32_t *cpu,
                                          int32_t *n)
{
    reading r = {.root = *root};
    cpubind_int_list list = {cpu, CPUBIND_MAX_CPUS, 0};
    cpubind_linux_fault fault = read_file(&r, pid, "cgroup");
    if (!fault.error)
        fault = read_cpuset(&r, pid, &list);
    *n = fault.error ? 0 : list.n;
    cpubind_bytes_free(&r.bytes);
    return fault;
}
