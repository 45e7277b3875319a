/* host_users.c - who uses the devices of this host: which processes have their files open
 * SPDX-License-Identifier: MIT
 *
 * Reads files only: no device file is opened.
 */
#define _GNU_SOURCE
#include "host_users.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../linux/kernel/process.h"
#include "../linux/source/host_source.h"
#include "../plan/plan.h"
#include "host_rows.h"
#include "process_env.h"

/* A process that names a device by variables of its own, and has no file open. */
typedef struct claim {
    int32_t pid, ppid, device;
} claim;

/* One search of all processes. */
typedef struct search {
    const cpubind_users_question *q;
    cpubind_device_nodes nodes;
    cpubind_root root;
    cpubind_bytes open; /* the devices that the present process has open */
    int32_t *n_open;    /* how often, by device */
    cpubind_user *row;
    int32_t n, cap;
    claim *claim;
    int32_t n_claim, claim_cap;
    cpubind_stranger *stranger; /* of this search */
    int32_t n_stranger, stranger_cap, i_known;
    int64_t now_ms;
    int32_t n_unseen; /* programs whose files may not be read */
} search;

/* == Open files ============================================================= */

/* The vendor whose device that computes has this number; COUNT: none. */
static int vendor_of_compute(const cpubind_device_nodes *nodes, int32_t major_of,
                             int32_t minor_of)
{
    int k = 0;
    while (k < CPUBIND_VENDOR_COUNT &&
           (nodes->compute_major[k] != major_of || nodes->compute_minor[k] != minor_of))
        k++;
    return k;
}

static int is_asked(const void *ctx, int32_t major_of, int32_t minor_of)
{
    const cpubind_device_nodes *nodes = (const cpubind_device_nodes *)ctx;
    return cpubind_device_of_number(nodes, major_of, minor_of) >= 0 ||
           vendor_of_compute(nodes, major_of, minor_of) < CPUBIND_VENDOR_COUNT;
}

/* Counts a descriptor that is open on a device.
 *   in      line: "17 195:0", of cpubind_open_devices */
static void count_file(search *s, const char *line, int *computes)
{
    char *end;
    int32_t major_of, minor_of, device;
    (void)strtol(line, &end, 10);
    major_of = (int32_t)strtol(end, &end, 10);
    minor_of = *end == ':' ? (int32_t)strtol(end + 1, &end, 10) : -1;
    if (*end || major_of < 0 || minor_of < 0)
        return;
    device = cpubind_device_of_number(&s->nodes, major_of, minor_of);
    if (device >= 0)
        s->n_open[device]++;
    computes[vendor_of_compute(&s->nodes, major_of, minor_of)] = 1;
}

/* Whether a process whose files may not be read is a program: a thread of the kernel uses no
 * device. */
static int is_unseen_program(search *s, int32_t pid, int error)
{
    cpubind_proc_stat stat = {.is_kernel = 1};
    return (error == EACCES || error == EPERM) &&
           !cpubind_proc_stat_read(&s->root, pid, 0, &stat).error && !stat.is_kernel;
}

/* Counts the descriptors of each device that a process has open. Those of a vendor whose
 * processes have another device open when they compute do not count without it: a monitor
 * (nvidia-smi -l, nvidia-persistenced) has all devices open. A process that has ended, or whose
 * files this user may not see, has none here.
 *   out     *n_device: the devices that it has open */
static cpubind_linux_fault count_files(search *s, int32_t pid, int32_t *n_device)
{
    int computes[CPUBIND_VENDOR_COUNT + 1] = {0};
    cpubind_linux_fault why;
    char name[64];
    *n_device = 0;
    memset(s->n_open, 0, ((size_t)s->q->facts->n_bus + 1) * sizeof *s->n_open);
    (void)snprintf(name, sizeof name, "proc/%d/fd", (int)pid);
    s->open.len = 0;
    why = cpubind_open_devices(&s->root, name, is_asked, &s->nodes, &s->open);
    if (why.error)
        s->open.len = 0;
    s->n_unseen += is_unseen_program(s, pid, why.error);
    if (cpubind_is_unseen(why.error))
        why = cpubind_no_fault;
    for (int32_t at = 0; at < s->open.len; at++) {
        char *end = (char *)memchr(s->open.data + at, '\n', (size_t)(s->open.len - at));
        if (!end)
            break;
        *end = '\0';
        count_file(s, s->open.data + at, computes);
        at = (int32_t)(end - s->open.data);
    }
    for (int32_t i = 0; i < s->q->facts->n_bus; i++) {
        const cpubind_vendor_id vendor = s->q->facts->bus[i].accelerator.vendor;
        if (cpubind_vendor_of(vendor)->compute_file && !computes[vendor])
            s->n_open[i] = 0;
        *n_device += s->n_open[i] > 0;
    }
    return why;
}

/* The device that a process has at least twice as many files of as of any other; -1: none. */
static int32_t most_open(const search *s)
{
    int32_t best = -1, n_best = 0, n_next = 0;
    for (int32_t i = 0; i < s->q->facts->n_bus; i++) {
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

/* What is known where a file of a process could not be read: one that has ended, that is hidden
 * or that has made a mess of its own has none, and stops nobody; what this process was out of
 * is not known. */
static cpubind_linux_fault judge(cpubind_linux_fault why)
{
    const int is_short = why.error == EMFILE || why.error == ENFILE || why.error == ENOMEM;
    return is_short ? why : cpubind_no_fault;
}

/* Reads the environment that a process was started with. It is empty where that of another user
 * cannot be read, or where a program has written over its own. */
static cpubind_linux_fault read_environment(search *s, int32_t pid, cpubind_bytes *out)
{
    char name[64];
    (void)snprintf(name, sizeof name, "proc/%d/environ", (int)pid);
    const cpubind_linux_fault why = cpubind_input_fault(cpubind_root_read(&s->root, name, out));
    if (why.error)
        out->len = 0;
    return judge(why);
}

static cpubind_linux_fault read_local_rank(search *s, int32_t pid, int32_t *rank)
{
    cpubind_bytes bytes = {0};
    const cpubind_linux_fault why = read_environment(s, pid, &bytes);
    *rank = cpubind_env_rank(&bytes, cpubind_local_ranks, NULL);
    cpubind_bytes_free(&bytes);
    return why;
}

/* Whether one of these variables is set, to another value than in the parent's environment. */
static int has_own(const cpubind_bytes *own, const cpubind_bytes *parent,
                   const char *const *names)
{
    for (int i = 0; names[i]; i++) {
        const cpubind_piece a = cpubind_environ_find(own->data, own->len, names[i]);
        const cpubind_piece b = cpubind_environ_find(parent->data, parent->len, names[i]);
        if (a.len > 0 && (a.len != b.len ||
                          memcmp(own->data + a.at, parent->data + b.at, (size_t)a.len) != 0))
            return 1;
    }
    return 0;
}

/* The same for the variables of all vendors that hide devices. */
static int has_own_visible(const cpubind_bytes *own, const cpubind_bytes *parent)
{
    int has = 0;
    for (int i = 0; i < CPUBIND_VENDOR_COUNT && !has; i++)
        has = has_own(own, parent, cpubind_vendor_of((cpubind_vendor_id)i)->variable);
    return has;
}

/* The device of a rank among those that the facts of a process show it, else the only one that
 * a variable shows it; -1: none, or what it sees is not known. */
static int32_t device_of_rank(const cpubind_facts *f, int32_t rank, cpubind_arena *arena)
{
    cpubind_pci_rank *shown = (cpubind_pci_rank *)cpubind_arena_take(
        arena, f->n_bus * CPUBIND_PCI_NUMBERS, sizeof *shown);
    const int32_t n = shown ? cpubind_pci_ranks(f, shown) : 0;
    int has_variable = 0;
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++) {
        has_variable |= f->runtime[i].variable[0] != NULL;
        if (f->runtime[i].why)
            return -1;
    }
    if (n == 1 && has_variable)
        return shown[0].device;
    return rank >= 0 && rank < n ? shown[rank].device : -1;
}

/* What a process sees of a host: the variables, the CPUs and the nodes of devices are its
 * own. */
typedef struct view {
    const cpubind_source *host;
    cpubind_source process;
    cpubind_linux_fault failed; /* the first input that is not known */
} view;

static cpubind_input note_failure(view *v, cpubind_input answer)
{
    if (answer.state == CPUBIND_INPUT_FAILED && !v->failed.error)
        v->failed = judge(cpubind_input_fault(answer));
    return answer;
}

static cpubind_input read_view(void *ctx, const char *name)
{
    view *v = (view *)ctx;
    const int is_own = strcmp(name, "env") == 0 || strcmp(name, "proc/self/status") == 0;
    const cpubind_source *source = is_own || !v->host ? &v->process : v->host;
    return note_failure(v, source->read(source->ctx, name));
}

static cpubind_input list_view(void *ctx, const char *name)
{
    view *v = (view *)ctx;
    const int is_own = strncmp(name, "dev/", 4) == 0;
    const cpubind_source *source = is_own || !v->host ? &v->process : v->host;
    return note_failure(v, source->list(source->ctx, name));
}

/* The arguments of find_shown. */
typedef struct showing {
    const search *s;
    view seen;
    int32_t rank;
    int32_t device; /* out: an index in q->facts; -1: none */
} showing;

/* Finds the device that a process names with its rank. */
static cpubind_problem_code find_shown(void *ctx, cpubind_arena *arena)
{
    showing *show = (showing *)ctx;
    const cpubind_facts *all = show->s->q->facts;
    const cpubind_source source = {&show->seen, read_view, list_view};
    cpubind_pci_request bus = *show->s->q->request;
    const cpubind_request request = {
        .is_auto_strategy = 1, .scope = CPUBIND_SCOPE_CPUSET, .bus = &bus};
    cpubind_facts own;
    cpubind_problem fault;
    int32_t found = -1;
    cpubind_problem_code code;
    show->seen.failed = cpubind_no_fault;
    bus.is_bus_alone = 1;
    code = cpubind_facts_read(&source, &request, arena, &own, &fault);
    if (code == CPUBIND_PROBLEM_NONE)
        found = device_of_rank(&own, show->rank, arena);
    if (found >= 0 && show->device < 0)
        show->device = cpubind_facts_on_bus(all, &own.bus[found].pci);
    return code;
}

/* Finds the device that the environment of a process names with a local rank, -1 for none, as
 * an index in q->facts; -1: none. */
static cpubind_linux_fault find_by_environment(search *s, int32_t pid, int32_t rank,
                                               int32_t *device)
{
    const cpubind_linux_live live = {
        .pid = pid, .limit_ms = CPUBIND_LIVE_LIMIT_MS, .is_alone = 1, .sys = s->root.sys};
    showing show = {.s = s, .rank = rank, .device = -1};
    cpubind_linux_host *host = NULL;
    cpubind_arena arena = {NULL, 0, 0};
    cpubind_problem_code code;
    cpubind_linux_fault why = cpubind_no_fault;
    *device = -1;
    if (cpubind_linux_open_live(&live, &host, &why) != CPUBIND_LINUX_OK)
        return why;
    show.seen = (view){s->q->host, cpubind_linux_source(host), cpubind_no_fault};
    code = cpubind_with_arena(s->root.sys, &arena, find_shown, &show);
    *device = show.device;
    free(arena.base);
    cpubind_linux_close(host);
    return code == CPUBIND_PROBLEM_NO_MEMORY ? cpubind_fault_of(ENOMEM, "memory")
                                             : show.seen.failed;
}

/* == All processes ========================================================== */

static cpubind_linux_fault add_row(search *s, int32_t pid, int32_t device)
{
    const cpubind_user row = {pid, device};
    return CPUBIND_APPEND(s->root.sys, s->row, s->n, s->cap, &row);
}

/* Notes the device that a process names by variables of its own. What it has from its parent
 * names none: children of a worker and the commands of a shell have the variables, too. */
static cpubind_linux_fault note_claim(search *s, int32_t pid)
{
    cpubind_bytes none = {0}, own = {0}, parent = {0};
    cpubind_proc_stat stat = {.ppid = 0};
    claim found = {pid, 0, -1};
    int32_t rank = -1;
    int is_named = 0;
    cpubind_linux_fault why = read_environment(s, pid, &own);
    if (!why.error &&
        (has_own(&own, &none, cpubind_local_ranks) || has_own_visible(&own, &none)))
        why = judge(cpubind_proc_stat_read(&s->root, pid, 0, &stat));
    if (!why.error && stat.ppid > 0)
        why = read_environment(s, stat.ppid, &parent);
    found.ppid = stat.ppid;
    if (!why.error && parent.len > 0) {
        is_named = has_own(&own, &parent, cpubind_local_ranks);
        if (is_named)
            rank = cpubind_env_rank(&own, cpubind_local_ranks, NULL);
        is_named |= has_own_visible(&own, &parent);
    }
    if (is_named)
        why = find_by_environment(s, pid, rank, &found.device);
    cpubind_bytes_free(&own);
    cpubind_bytes_free(&parent);
    return why.error || found.device < 0
               ? why
               : CPUBIND_APPEND(s->root.sys, s->claim, s->n_claim, s->claim_cap, &found);
}

/* Adds the processes that name a device of which no process has a file open, but for one whose
 * child names it, too: that is a launcher. */
static cpubind_linux_fault add_claims(search *s)
{
    const int32_t n_user = s->n;
    cpubind_linux_fault why = cpubind_no_fault;
    for (int32_t i = 0; i < s->n_claim && !why.error; i++) {
        const claim *c = &s->claim[i];
        int is_used = 0;
        for (int32_t k = 0; k < n_user; k++)
            is_used |= s->row[k].device == c->device;
        for (int32_t k = 0; k < s->n_claim; k++)
            is_used |= s->claim[k].device == c->device && s->claim[k].ppid == c->pid;
        if (!is_used)
            why = add_row(s, c->pid, c->device);
    }
    return why;
}

static cpubind_linux_fault look_at(search *s, int32_t pid)
{
    int32_t n_file, device, rank;
    cpubind_linux_fault why = count_files(s, pid, &n_file);
    if (why.error)
        return why;
    device = n_file == 1 ? most_open(s) : -1;
    if (n_file == 0 && !s->q->pid)
        return note_claim(s, pid);
    if (n_file > 1)
        why = read_local_rank(s, pid, &rank);
    if (n_file > 1 && !why.error)
        why = find_by_environment(s, pid, rank, &device);
    if (why.error)
        return why;
    if (device < 0 && n_file > 1)
        device = most_open(s);
    if (device >= 0)
        return add_row(s, pid, device);
    for (int32_t i = 0; n_file > 1 && i < s->q->facts->n_bus && !why.error; i++)
        if (s->n_open[i] > 0)
            why = add_row(s, pid, i);
    return why;
}

/* == Strangers ============================================================== */

/* The part of the time since a stranger was seen first that it is not looked at after a look,
 * and the most of that. */
#define PART_OF_AGE 8
#define MAX_WAIT_MS 15000

/* Whether the files of a process need not be read now. What it does meanwhile does not count:
 * it could make the service work.
 *   out     *now: what is kept of it, if it uses no device */
static int can_wait(search *s, int32_t pid, cpubind_stranger *now)
{
    const cpubind_strangers *known = s->q->strangers;
    const cpubind_stranger *row;
    char name[40];
    struct stat st = {.st_ino = 0};
    int64_t wait_ms = 0;
    int is_known;
    while (s->i_known < known->n && known->row[s->i_known].pid < pid)
        s->i_known++;
    row = &known->row[s->i_known];
    is_known = s->i_known < known->n && row->pid == pid;
    if (is_known)
        wait_ms = (s->now_ms - row->seen_ms) / PART_OF_AGE;
    if (is_known &&
        s->now_ms - row->looked_ms < (wait_ms < MAX_WAIT_MS ? wait_ms : MAX_WAIT_MS)) {
        *now = *row;
        return 1;
    }
    (void)snprintf(name, sizeof name, "proc/%d", (int)pid);
    if (s->root.sys->statat(s->root.fd, name, &st) < 0)
        is_known = 0;
    is_known = is_known && row->inode == st.st_ino;
    *now = (cpubind_stranger){pid, st.st_ino, is_known ? row->seen_ms : s->now_ms, s->now_ms};
    return 0;
}

/* Looks at a process, unless it is a stranger that was looked at not long ago. */
static cpubind_linux_fault look_at_any(search *s, int32_t pid)
{
    const int32_t n_before = s->n + s->n_claim;
    cpubind_stranger now;
    cpubind_linux_fault why = cpubind_no_fault;
    if (!s->q->strangers)
        return look_at(s, pid);
    if (!can_wait(s, pid, &now))
        why = look_at(s, pid);
    return why.error || s->n + s->n_claim > n_before
               ? why
               : CPUBIND_APPEND(s->root.sys, s->stranger, s->n_stranger, s->stranger_cap, &now);
}

static cpubind_linux_fault look_at_all(search *s)
{
    cpubind_ids pids = {NULL, 0, 0};
    cpubind_linux_fault why = cpubind_no_fault;
    for (int32_t i = 0; s->q->pid && i < s->q->n_pid && !why.error; i++)
        why = look_at(s, s->q->pid[i]);
    if (s->q->pid)
        return why;
    why = cpubind_processes_list(&s->root, &pids);
    s->now_ms = cpubind_now_ms();
    for (int32_t i = 0; i < pids.n && !why.error; i++)
        why = look_at_any(s, pids.id[i]);
    if (!why.error)
        why = add_claims(s);
    free(pids.id);
    return why;
}

/* == The numbers of devices ================================================= */

static cpubind_problem_code read_nodes(void *ctx, cpubind_arena *arena)
{
    search *s = (search *)ctx;
    if (!cpubind_device_nodes_read(s->q->source, s->q->facts, arena, &s->nodes))
        return CPUBIND_PROBLEM_NO_MEMORY;
    return cpubind_device_numbers_read(s->q->source, s->q->facts, &s->nodes)
               ? CPUBIND_PROBLEM_NONE
               : CPUBIND_PROBLEM_UNREADABLE;
}

/* Forgets who used no device, when devices have other numbers than at the last look: a driver
 * was loaded again. */
static void check_strangers(const search *s)
{
    const cpubind_device_nodes *nodes = &s->nodes;
    uint64_t sum = cpubind_sum(CPUBIND_SUM, nodes->compute_major, sizeof nodes->compute_major);
    sum = cpubind_sum(sum, nodes->compute_minor, sizeof nodes->compute_minor);
    for (int32_t i = 0; i < nodes->n; i++) {
        sum = cpubind_sum(sum, &nodes->row[i].major, sizeof nodes->row[i].major);
        sum = cpubind_sum(sum, &nodes->row[i].minor, sizeof nodes->row[i].minor);
    }
    if (sum != s->q->strangers->sum)
        s->q->strangers->n = 0;
    s->q->strangers->sum = sum;
}

/* == The whole ============================================================== */

static void keep_strangers(search *s)
{
    free(s->q->strangers->row);
    s->q->strangers->row = s->stranger;
    s->q->strangers->n = s->n_stranger;
    s->stranger = NULL;
}

static cpubind_linux_fault find_users(search *s)
{
    const cpubind_sys *sys = s->root.sys;
    cpubind_linux_fault why = cpubind_fault_of(ENOMEM, "memory");
    s->n_open = (int32_t *)sys->malloc(((size_t)s->q->facts->n_bus + 1) * sizeof *s->n_open);
    if (s->q->strangers)
        check_strangers(s);
    if (s->n_open)
        why = cpubind_root_live(&s->root, sys);
    if (!why.error)
        why = look_at_all(s);
    if (s->root.fd >= 0)
        sys->close(s->root.fd);
    if (s->q->strangers && !why.error)
        keep_strangers(s);
    return why;
}

cpubind_problem cpubind_users_find(const cpubind_users_question *question,
                                   const cpubind_sys *sys, char name[CPUBIND_DEVICE_INPUT_SIZE],
                                   cpubind_users *out)
{
    search s = {.q = question,
                .root = {sys ? sys : &cpubind_sys_real, -1, CPUBIND_REACH_ANYWHERE}};
    cpubind_arena arena = {NULL, 0, 0};
    cpubind_linux_fault why = cpubind_no_fault;
    cpubind_problem problem;
    *out = (cpubind_users){.row = NULL};
    cpubind_problem_clear(&problem);
    problem.code = cpubind_with_arena(s.root.sys, &arena, read_nodes, &s);
    if (problem.code == CPUBIND_PROBLEM_NONE)
        why = find_users(&s);
    if (why.error)
        problem.code =
            why.error == ENOMEM ? CPUBIND_PROBLEM_NO_MEMORY : CPUBIND_PROBLEM_UNREADABLE;
    if (problem.code == CPUBIND_PROBLEM_UNREADABLE) {
        (void)snprintf(name, CPUBIND_DEVICE_INPUT_SIZE, "%s",
                       why.error ? why.what : s.nodes.failed);
        problem.input = name;
        problem.what = why.error ? NULL : "it could not be read";
        problem.answer.error = why.error;
    }
    if (problem.code == CPUBIND_PROBLEM_NONE)
        *out = (cpubind_users){.row = s.row, .n = s.n, .n_unseen = s.n_unseen};
    else
        free(s.row);
    free(s.claim);
    free(s.stranger);
    free(s.n_open);
    cpubind_bytes_free(&s.open);
    free(arena.base);
    return problem;
}
