/* host_list.c - which processes use the devices of a host now
 * SPDX-License-Identifier: MIT
 *
 * Keeps one entry a process. Reads files only; the rows of workers are those of host_workers.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host_rows.h"

/* == The devices of an entry ================================================ */

/* Gives an entry the devices that it has by a list. Returns 0 without memory. */
static int take_devices(cpubind_host_bind *h, host_entry *e, const cpubind_users *found)
{
    int32_t *all = (int32_t *)h->sys->malloc(((size_t)found->n + 1) * sizeof *all);
    int32_t n = 0;
    for (int32_t i = 0; all && i < found->n; i++)
        if (found->row[i].pid == e->row.pid)
            all[n++] = found->row[i].device;
    if (!all || !cpubind_list_sort(all, &n)) {
        free(all);
        return 0;
    }
    h->is_old |= !e->devices || n != e->row.n_device ||
                 memcmp(all, e->devices, (size_t)n * sizeof *all) != 0;
    free(e->devices);
    e->devices = all;
    e->device = all[0];
    e->row.n_device = n;
    cpubind_host_name_device(h, e);
    return 1;
}

/* == Entries ================================================================ */

/* Marks the entries of a list, and gives them the devices that they have now.
 *   out     *is_new: the list has a process that is no entry
 *   returns 0 without memory */
static int mark_listed(cpubind_host_bind *h, const cpubind_users *found, int *is_new)
{
    for (int32_t i = 0; i < found->n; i++) {
        host_entry *e = cpubind_host_find(h, found->row[i].pid);
        if (!e || e->row.state == CPUBIND_HOST_ENDED) {
            *is_new = 1;
            continue;
        }
        if (e->row.parent)
            cpubind_host_take_place(h, e);
        if (!take_devices(h, e, found))
            return 0;
        e->is_listed = 1;
    }
    return 1;
}

/* A worker that cannot be read, or uses several devices of which it may have one, is said and
 * never bound. */
static void refuse(host_entry *e, cpubind_linux_fault fault)
{
    e->row.state = CPUBIND_HOST_FAILED;
    e->row.status = CPUBIND_LINUX_ERR_GONE;
    e->row.fault = fault;
    e->row.is_news = 1;
    e->is_new = 0;
}

/* Replaces a list of CPUs by a copy of another one. Returns 0 without memory, and where that is
 * empty: it stays. */
static int take_cpus(const cpubind_host_bind *h, cpubind_cpus cpus, int32_t **list, int32_t *n)
{
    int32_t *own = NULL;
    if (cpus.n > 0)
        own = (int32_t *)h->sys->malloc((size_t)cpus.n * sizeof *own);
    if (!own)
        return 0;
    memcpy(own, cpus.cpu, (size_t)cpus.n * sizeof *own);
    free(*list);
    *list = own;
    *n = cpus.n;
    return 1;
}

void cpubind_host_read_cpusets(cpubind_host_bind *h)
{
    int32_t *cpu = (int32_t *)h->sys->malloc(CPUBIND_MAX_CPUS * sizeof *cpu);
    for (int32_t i = 0; cpu && i < h->n; i++) {
        host_entry *e = h->entry[i];
        int32_t n = 0;
        if (e->device < 0 || e->row.parent || e->row.state == CPUBIND_HOST_ENDED ||
            cpubind_worker_cpuset(&h->root, e->row.pid, cpu, &n).error || n == 0 ||
            (n == e->n_allowed && memcmp(cpu, e->allowed, (size_t)n * sizeof *cpu) == 0) ||
            !take_cpus(h, (cpubind_cpus){cpu, n}, &e->allowed, &e->n_allowed))
            continue;
        e->row.is_regranted = e->row.is_news = 1;
        h->is_old = 1;
    }
    free(cpu);
}

/* Adds the entry of a process of the list. Returns 0 without memory. */
static int add_worker(cpubind_host_bind *h, const cpubind_worker *w, const cpubind_users *found)
{
    host_entry *e = cpubind_host_add(h, w->pid, w->device);
    if (!e)
        return 0;
    e->start = w->start;
    e->is_foreign = w->fault.error == ESRCH;
    e->has_own_mask = w->has_own_mask;
    cpubind_host_take_place(h, e);
    memcpy(e->row.name, w->program, sizeof w->program);
    memcpy(e->row.container, w->container, sizeof w->container);
    e->row.pod = w->pod;
    e->row.is_claim_bad = w->is_claim_bad;
    (void)take_cpus(h, w->allowed, &e->allowed, &e->n_allowed);
    (void)take_cpus(h, w->claimed, &e->claimed, &e->n_claimed);
    if (!take_devices(h, e, found))
        return 0;
    if (w->fault.error)
        refuse(e, w->fault);
    else if (host_is_refused(e))
        refuse(e, (cpubind_linux_fault){.error = EINVAL, .what = "several devices"});
    return 1;
}

/* == Trees ================================================================== */

cpubind_linux_fault cpubind_host_read_tree(cpubind_host_bind *h)
{
    cpubind_user row = {h->options.tree, 0};
    const cpubind_users list = {.row = &row, .n = 1};
    cpubind_workers workers;
    cpubind_linux_fault why = cpubind_no_fault;
    if (cpubind_workers_read(&list, h->sys, &workers, &why) != CPUBIND_LINUX_OK)
        return why;
    if (workers.n == 0) {
        why = cpubind_fault_of(ESRCH, "process");
    } else {
        const cpubind_worker *w = &workers.row[0];
        const cpubind_cpus cpus = w->is_bound ? w->allowed : w->mask;
        h->tree_start = w->start;
        if (cpus.n > 0 && !h->options.request.allowed)
            h->tree_cpu = (int32_t *)h->sys->malloc((size_t)cpus.n * sizeof *h->tree_cpu);
        if (h->tree_cpu) {
            memcpy(h->tree_cpu, cpus.cpu, (size_t)cpus.n * sizeof *h->tree_cpu);
            h->options.request.allowed = h->tree_cpu;
            h->options.request.n_allowed = cpus.n;
        }
        why = w->fault;
    }
    cpubind_workers_free(&workers);
    return why;
}

/* Lists the processes of the tree, and keeps those of a list that are in it. */
static cpubind_linux_fault choose_in_tree(cpubind_host_bind *h, cpubind_users *found)
{
    int32_t *seed = (int32_t *)h->sys->malloc(((size_t)h->n + 1) * sizeof *seed);
    int32_t n_seed = 0, n = 0;
    cpubind_linux_fault why = cpubind_fault_of(seed ? 0 : ENOMEM, "memory");
    if (seed)
        seed[n_seed++] = h->options.tree;
    for (int32_t i = 0; i < h->n && seed; i++)
        if (h->entry[i]->row.state != CPUBIND_HOST_ENDED)
            seed[n_seed++] = h->entry[i]->row.pid;
    if (!why.error)
        why = cpubind_descendants(&h->root, seed, n_seed, &h->in_tree);
    free(seed);
    if (why.error)
        h->in_tree.n = 0;
    for (int32_t i = 0; i < found->n; i++)
        if (cpubind_ids_has(&h->in_tree, found->row[i].pid))
            found->row[n++] = found->row[i];
    found->n = n;
    return why;
}

/* == Who uses devices ======================================================= */

/* One listing. */
typedef struct listing {
    cpubind_host_bind *h;
    cpubind_source source;          /* the host as it is now */
    cpubind_users of_driver, found; /* by the list of a driver; all of them, by device */
    int32_t cap;
    cpubind_children children;
    cpubind_problem problem;
} listing;

cpubind_linux_host *cpubind_host_open_now(const cpubind_host_bind *h, cpubind_source *out)
{
    const cpubind_linux_live live = {.limit_ms = CPUBIND_LIVE_LIMIT_MS, .sys = h->sys};
    cpubind_linux_host *host = NULL;
    if (h->options.root)
        (void)cpubind_linux_open_folder(h->options.root, h->sys, &host, NULL);
    else if (!h->options.source)
        (void)cpubind_linux_open_live(&live, &host, NULL);
    if (host)
        *out = cpubind_linux_source(host);
    else
        *out = h->options.source ? *h->options.source : cpubind_linux_source(h->facts_host);
    return host;
}

static int fail(listing *l, cpubind_problem_code code)
{
    l->problem.code = code;
    return 0;
}

static int fail_read(listing *l, const char *input, cpubind_linux_fault why)
{
    l->problem.input = input;
    l->problem.what = "it could not be read";
    l->problem.answer = cpubind_input_failed(why.error, why.what);
    return fail(l,
                why.error == ENOMEM ? CPUBIND_PROBLEM_NO_MEMORY : CPUBIND_PROBLEM_UNREADABLE);
}

/* Whether a process of a list uses a device that is asked for. */
static int uses_asked(const cpubind_host_bind *h, const cpubind_users *list, int32_t pid)
{
    for (int32_t i = 0; i < list->n; i++)
        if (list->row[i].pid == pid && h->is_asked[list->row[i].device])
            return 1;
    return 0;
}

/* Takes the users of a list and their children. */
static int take_list(listing *l, cpubind_users *list)
{
    cpubind_host_bind *h = l->h;
    cpubind_children children = {NULL, 0, 0};
    cpubind_namespaces own = {0, 0};
    cpubind_linux_fault why = cpubind_no_fault;
    if (list->driver)
        why = cpubind_namespaces_read(&h->root, &own);
    if (why.error)
        return fail_read(l, "/proc/self/ns/pid", why);
    /* In another pid namespace the numbers of a driver are of other processes. */
    if (own.pid == 0)
        why = cpubind_split_children(&h->root, list->driver != NULL, list, &children);
    if (why.error)
        return fail_read(l, "/proc", why);
    for (int32_t i = 0; i < list->n && !why.error; i++)
        if (uses_asked(h, list, list->row[i].pid))
            why = CPUBIND_APPEND(h->sys, l->found.row, l->found.n, l->cap, &list->row[i]);
    for (int32_t i = 0; i < children.n && !why.error; i++)
        why = CPUBIND_APPEND(h->sys, l->children.row, l->children.n, l->children.cap,
                             &children.row[i]);
    free(children.row);
    return !why.error || fail(l, CPUBIND_PROBLEM_NO_MEMORY);
}

static cpubind_problem_code read_listed(void *ctx, cpubind_arena *arena)
{
    listing *l = (listing *)ctx;
    cpubind_facts listed = l->h->facts.facts;
    listed.n_device = l->h->n_listed;
    return cpubind_listed_users_read(&l->source, &listed, arena, &l->of_driver, &l->problem);
}

static int list_listed(listing *l)
{
    cpubind_host_bind *h = l->h;
    l->problem.code = cpubind_with_arena(h->sys, &h->list_arena, read_listed, l);
    return l->problem.code == CPUBIND_PROBLEM_NONE && take_list(l, &l->of_driver);
}

static int list_opened(listing *l)
{
    cpubind_host_bind *h = l->h;
    const cpubind_users_question question = {
        .source = &l->source,
        .host = h->options.source,
        .facts = &h->facts.facts,
        .request = h->options.devices,
        .pid = h->options.pid ? &h->options.pid : NULL,
        .n_pid = h->options.pid != 0,
        .strangers = h->options.bind.is_watching ? &h->strangers : NULL};
    cpubind_problem problem;
    cpubind_users list;
    int32_t n = 0;
    int is_taken;
    problem = cpubind_users_find(&question, h->sys, h->list_input, &list);
    h->n_unseen = h->options.tree || h->options.pid ? 0 : list.n_unseen;
    if (problem.code == CPUBIND_PROBLEM_UNREADABLE && !problem.what) {
        problem.input = "/proc";
        problem.what = "it cannot be listed";
    }
    if (l->problem.code == CPUBIND_PROBLEM_NONE)
        l->problem = problem;
    for (int32_t i = 0; i < list.n; i++) {
        list.row[n] = list.row[i];
        list.row[n].device = cpubind_facts_device(&h->facts.facts, list.row[i].device);
        n += list.row[n].device >= 0;
    }
    list.n = n;
    is_taken = problem.code == CPUBIND_PROBLEM_NONE && take_list(l, &list);
    free(list.row);
    return is_taken;
}

/* Reads the processes of a part of the list, and adds an entry for each that is none. Where
 * they cannot be read now, a later listing adds them. */
static int add_workers(listing *l, cpubind_users part, cpubind_workers *kept)
{
    cpubind_host_bind *h = l->h;
    cpubind_workers workers = {.n = 0};
    cpubind_linux_fault why = cpubind_no_fault;
    int is_added = 1;
    if (cpubind_workers_read(&part, h->sys, &workers, &why) != CPUBIND_LINUX_OK)
        return fail_read(l, "/proc", why);
    for (int32_t i = 0; i < workers.n && is_added; i++) {
        cpubind_worker *w = &workers.row[i];
        if (!cpubind_host_find(h, w->pid))
            is_added = add_worker(h, w, &l->found);
        w->n_child = 0;
        for (int32_t k = 0; k < l->children.n; k++)
            w->n_child +=
                l->children.row[k].parent == w->pid && l->children.row[k].device == w->device;
    }
    cpubind_workers_free(kept);
    *kept = workers;
    if (!h->is_survey)
        cpubind_workers_free(kept);
    return is_added;
}

/* Makes the entries those of the list. Returns 0 without memory. */
static int take_entries(listing *l)
{
    cpubind_host_bind *h = l->h;
    cpubind_linux_fault why = cpubind_no_fault;
    int32_t n_listed = 0;
    int is_new = 0;
    if (!cpubind_host_keep_orphans(h, &l->found, &l->children))
        return 0;
    if (h->options.tree)
        why = choose_in_tree(h, &l->found);
    if (why.error)
        return fail_read(l, "/proc", why);
    if (!mark_listed(h, &l->found, &is_new))
        return 0;
    while (n_listed < l->found.n && l->found.row[n_listed].device < h->n_listed)
        n_listed++;
    return (!is_new ||
            (add_workers(l,
                         (cpubind_users){
                             .row = l->found.row, .n = n_listed, .driver = l->of_driver.driver},
                         &h->listed) &&
             add_workers(
                 l, (cpubind_users){.row = l->found.row + n_listed, .n = l->found.n - n_listed},
                 &h->opened))) &&
           cpubind_host_take_children(h, &l->children);
}

cpubind_problem cpubind_host_list_workers(cpubind_host_bind *h)
{
    listing l = {.h = h};
    cpubind_linux_host *host = cpubind_host_open_now(h, &l.source);
    int is_known;
    cpubind_problem_clear(&l.problem);
    is_known = !h->options.has_listed || list_listed(&l);
    h->n_hidden = l.of_driver.n_hidden;
    h->n_elsewhere = l.of_driver.n_elsewhere;
    /* A survey shows what is known. */
    if (h->options.devices && (is_known || h->is_survey))
        is_known = list_opened(&l) && is_known;
    if ((is_known || h->is_survey) && !take_entries(&l) &&
        l.problem.code == CPUBIND_PROBLEM_NONE)
        l.problem.code = CPUBIND_PROBLEM_NO_MEMORY;
    free(l.found.row);
    free(l.children.row);
    cpubind_linux_close(host);
    l.problem.answer = (cpubind_input){.state = l.problem.answer.state,
                                       .exit_code = l.problem.answer.exit_code,
                                       .error = l.problem.answer.error,
                                       .why = l.problem.answer.why};
    return l.problem;
}
