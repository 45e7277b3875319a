/* device_workers.c - the processes that use the accelerators of this host, whatever the vendor
 * SPDX-License-Identifier: MIT
 *
 * Reads files only: no device file is opened.
 */
#define _GNU_SOURCE
#include "device_workers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../linux/kernel/process.h"
#include "../linux/source/host_source.h"
#include "../pci/pci_plan.h"
#include "process_env.h"

#define FIRST_ARENA ((size_t)1 << 20)
#define LAST_ARENA  ((size_t)1 << 28)

/* One search of all processes. */
typedef struct search {
    const cpubind_device_question *q;
    cpubind_root root;
    int32_t *n_open; /* files of each device that the present process has open */
    cpubind_npu_process *row;
    int32_t n, cap;
} search;

static cpubind_linux_fault no_memory(void)
{
    return cpubind_fault_of(ENOMEM, "memory");
}

/* == Open files ============================================================= */

/* Counts the files of each device that a process has open. Returns the devices that it has one
 * of. */
static int32_t count_files(search *s, int32_t pid)
{
    const cpubind_sys *sys = s->root.sys;
    char name[64], target[CPUBIND_DEVICE_PATH_SIZE];
    cpubind_ids ids = {0};
    int32_t n_device = 0;
    int folder;
    memset(s->n_open, 0, ((size_t)s->q->facts->n_device + 1) * sizeof *s->n_open);
    (void)snprintf(name, sizeof name, "proc/%d/fd", (int)pid);
    if (cpubind_root_open(&s->root, name, O_DIRECTORY, &folder).error)
        return 0;
    (void)cpubind_tasks_list(sys, folder, &ids);
    for (int32_t i = 0; i < ids.n; i++) {
        ssize_t n;
        int32_t device;
        (void)snprintf(name, sizeof name, "%d", (int)ids.id[i]);
        n = sys->readlinkat(folder, name, target, sizeof target);
        if (n <= 5 || n >= (ssize_t)sizeof target || memcmp(target, "/dev/", 5) != 0)
            continue;
        device = cpubind_device_of_path(s->q->nodes, target, (int32_t)n);
        if (device >= 0)
            n_device += s->n_open[device]++ == 0;
    }
    free(ids.id);
    sys->close(folder);
    return n_device;
}

/* The device that a process has at least twice as many files of as of any other; -1: none. */
static int32_t most_open(const search *s)
{
    int32_t best = -1, n_best = 0, n_next = 0;
    for (int32_t i = 0; i < s->q->facts->n_device; i++) {
        if (s->n_open[i] > n_best) {
            n_next = n_best;
            n_best = s->n_open[i];
            best = i;
        } else if (s->n_open[i] > n_next) {
            n_next = s->n_open[i];
        }
    }
    return n_best >= 2 * n_next ? best : -1;
}

/* == The environment ======================================================== */

static int32_t local_rank_of(search *s, int32_t pid)
{
    static const char *const names[] = {"LOCAL_RANK",
                                        "SLURM_LOCALID",
                                        "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "MPI_LOCALRANKID",
                                        "PMI_LOCAL_RANK",
                                        "PALS_LOCAL_RANKID",
                                        "MV2_COMM_WORLD_LOCAL_RANK",
                                        "FLUX_TASK_LOCAL_ID",
                                        NULL};
    cpubind_bytes bytes = {0};
    char name[64];
    int32_t rank = -1;
    (void)snprintf(name, sizeof name, "proc/%d/environ", (int)pid);
    if (!cpubind_input_fault(cpubind_root_read(&s->root, name, &bytes)).error)
        rank = cpubind_env_rank(&bytes, names, NULL);
    cpubind_bytes_free(&bytes);
    return rank;
}

/* The device of a rank among those that the facts of a process show it, else the only one that
 * a variable shows it; -1: none. */
static int32_t device_of_rank(const cpubind_pci_facts *f, int32_t rank, cpubind_arena *arena)
{
    int32_t *shown = cpubind_arena_ints(arena, f->n_device * CPUBIND_PCI_NUMBERS);
    const int32_t n = shown ? cpubind_pci_ranks(f, shown) : 0;
    int has_variable = 0;
    for (int i = 0; i < CPUBIND_FAMILY_COUNT; i++)
        has_variable |= f->runtime[i].variable[0] != NULL && !f->runtime[i].why;
    if (n == 1 && has_variable)
        return shown[0];
    return rank >= 0 && rank < n ? shown[rank] : -1;
}

/* The device that the environment of a process names, as an index in q->facts; -1: none. */
static int32_t device_by_environment(search *s, int32_t pid)
{
    const cpubind_linux_live live = {
        .pid = pid, .limit_ms = CPUBIND_LIVE_LIMIT_MS, .is_alone = 1, .sys = s->root.sys};
    const cpubind_pci_facts *all = s->q->facts;
    cpubind_linux_host *host = NULL;
    cpubind_arena arena = {NULL, 0, 0};
    cpubind_pci_status status = CPUBIND_PCI_NO_MEMORY;
    int32_t found = -1, device = -1;
    if (cpubind_linux_open_live(&live, &host, NULL) != CPUBIND_LINUX_OK)
        return -1;
    for (size_t size = FIRST_ARENA; size <= LAST_ARENA && status == CPUBIND_PCI_NO_MEMORY;
         size *= 4) {
        const cpubind_source source = cpubind_linux_source(host);
        cpubind_pci_facts own;
        cpubind_pci_fault fault;
        free(arena.base);
        arena = (cpubind_arena){(char *)s->root.sys->malloc(size), size, 0};
        if (!arena.base)
            break;
        status = cpubind_pci_read(&source, s->q->request, &arena, &own, &fault);
        if (status == CPUBIND_PCI_OK)
            found = device_of_rank(&own, local_rank_of(s, pid), &arena);
        for (int32_t i = 0; i < all->n_device && found >= 0 && device < 0; i++)
            if (cpubind_pci_compare(&all->device[i].pci, &own.device[found].pci) == 0)
                device = i;
    }
    free(arena.base);
    cpubind_linux_close(host);
    return device;
}

/* == All processes ========================================================== */

static cpubind_linux_fault add_row(search *s, int32_t pid, int32_t device)
{
    cpubind_npu_process *row =
        (cpubind_npu_process *)cpubind_grow(s->root.sys, s->row, s->n, &s->cap, sizeof *row);
    if (!row)
        return no_memory();
    s->row = row;
    s->row[s->n++] = (cpubind_npu_process){pid, device};
    return cpubind_no_fault;
}

static cpubind_linux_fault look_at(search *s, int32_t pid)
{
    const int32_t n_file = count_files(s, pid);
    cpubind_linux_fault why = cpubind_no_fault;
    int32_t device = n_file == 1 ? most_open(s) : -1;
    if (n_file > 1 || (n_file == 0 && s->q->by_environment))
        device = device_by_environment(s, pid);
    if (device < 0 && n_file > 1)
        device = most_open(s);
    if (device >= 0)
        return add_row(s, pid, device);
    for (int32_t i = 0; n_file > 1 && i < s->q->facts->n_device && !why.error; i++)
        if (s->n_open[i] > 0)
            why = add_row(s, pid, i);
    return why;
}

static cpubind_linux_fault look_at_all(search *s)
{
    const cpubind_sys *sys = s->root.sys;
    cpubind_ids pids = {NULL, 0, 0};
    int folder = -1;
    cpubind_linux_fault why = cpubind_no_fault;
    for (int32_t i = 0; s->q->pid && i < s->q->n_pid && !why.error; i++)
        why = look_at(s, s->q->pid[i]);
    if (s->q->pid)
        return why;
    why = cpubind_root_open(&s->root, "proc", O_DIRECTORY, &folder);
    if (!why.error)
        why = cpubind_tasks_list(sys, folder, &pids);
    for (int32_t i = 0; i < pids.n && !why.error; i++)
        why = look_at(s, pids.id[i]);
    if (folder >= 0)
        sys->close(folder);
    free(pids.id);
    return why;
}

cpubind_linux_status cpubind_device_workers_read(const cpubind_device_question *question,
                                                 const cpubind_sys *sys, cpubind_workers *out,
                                                 cpubind_linux_fault *fault)
{
    search s = {.q = question,
                .root = {sys ? sys : &cpubind_sys_real, -1, CPUBIND_REACH_ANYWHERE}};
    cpubind_linux_status status = CPUBIND_LINUX_OK;
    cpubind_linux_fault why = cpubind_no_fault;
    *out = (cpubind_workers){0};
    sys = s.root.sys;
    s.n_open =
        (int32_t *)sys->malloc(((size_t)question->facts->n_device + 1) * sizeof *s.n_open);
    why = s.n_open
              ? cpubind_open(sys, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, &s.root.fd)
              : no_memory();
    if (!why.error)
        why = look_at_all(&s);
    if (s.root.fd >= 0)
        sys->close(s.root.fd);
    if (why.error) {
        status = cpubind_linux_fail(why.error == ENOMEM ? CPUBIND_LINUX_ERR_MEMORY
                                                        : CPUBIND_LINUX_ERR_OPEN,
                                    why.error, why.what, fault);
    } else {
        const cpubind_npu_processes list = {.row = s.row, .n = s.n};
        status = cpubind_workers_read_local(&list, sys, out, fault);
    }
    free(s.row);
    free(s.n_open);
    return status;
}
