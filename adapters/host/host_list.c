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
    h->is_old |= !e->row.devices || n != e->row.n_device ||
                 memcmp(all, e->row.devices, (size_t)n * sizeof *all) != 0;
    free(e->row.devices);
    e->row.devices = all;
    e->row.device = all[0];
    e->row.n_device = n;
    cpubind_host_name_device(h, &e->row);
    return 1;
}

/* == Entries ================================================================ */

/* Marks the entries of a list, and gives them the devices that they have now.
 *   returns 0 without memory */
static int mark_listed(cpubind_host_bind *h, const cpubind_users *found)
{
    for (int32_t i = 0; i < found->n; i++) {
        host_entry *e = cpubind_host_find(h, found->row[i].pid);
        if (!e || e->row.state == CPUBIND_HOST_ENDED)
            continue;
        if (e->row.parent)
            cpubind_host_take_place(h, e);
        if (!take_devices(h, e, found))
            return 0;
        e->is_listed = 1;
    }
    return 1;
}

void cpubind_host_read_cpusets(cpubind_host_bind *h)
{
    int32_t *cpu = (int32_t *)h->sys->malloc(CPUBIND_MAX_CPUS * sizeof *cpu);
    for (int32_t i = 0; cpu && i < h->n; i++) {
        host_entry *e = h->entry[i];
        int32_t n = 0;
        cpubind_cpus *allowed = &e->row.allowed;
        if (e->row.device < 0 || e->row.parent || e->row.state == CPUBIND_HOST_ENDED ||
            cpubind_worker_cpuset(&h->root, e->row.pid, cpu, &n).error || n == 0 ||
            (n == allowed->n && memcmp(cpu, allowed->cpu, (size_t)n * sizeof *cpu) == 0) ||
            !cpubind_worker_keep(h->sys, (cpubind_cpus){cpu, n}, allowed))
            continue;
        e->row.is_regranted = e->row.is_news = 1;
        h->is_old = 1;
    }
    free(cpu);
}

/* == Trees ================================================================== */

cpubind_linux_fault cpubind_host_read_tree(cpubind_host_bind *h)
{
    cpubind_worker w;
    cpubind_linux_fault why;
    (void)cpubind_worker_read(&h->root, h->options.tree, NULL, 0, &w);
    const cpubind_cpus *cpus = w.is_bound ? &w.allowed : &w.mask;
    h->tree_start = w.start;
    if (cpus->n > 0 && !h->options.request.allowed &&
        cpubind_worker_keep(h->sys, *cpus, &h->tree_cpus)) {
        h->options.request.allowed = h->tree_cpus.cpu;
        h->options.request.n_allowed = h->tree_cpus.n;
    }
    why = w.fault;
    cpubind_worker_free(&w);
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
        if (list->row[i].pid == pid && cpubind_host_is_asked(h, list->row[i].device))
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
    if (list->driver && list->n > 0)
        h->is_other_namespace = own.pid != 0;
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
    listed.n_device = listed.n_listed;
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

/* Adds the entry of a process of the list, unless it has ended. One that cannot be read, or
 * uses several devices of which it may have one, is said and never bound.
 *   returns 0 without memory */
static int add_worker(listing *l, const cpubind_user *user)
{
    cpubind_host_bind *h = l->h;
    const int is_listed = user->device < h->facts.facts.n_listed;
    cpubind_worker w;
    const cpubind_linux_fault why =
        cpubind_worker_read(&h->root, user->pid, is_listed ? l->of_driver.driver : NULL,
                            is_listed && h->is_other_namespace, &w);
    const int has_ended = cpubind_worker_has_ended(&w);
    host_entry *e = why.error || has_ended ? NULL : cpubind_host_add(h, &w);
    if (!e) {
        cpubind_worker_free(&w);
        return why.error ? fail_read(l, "/proc", why) : has_ended;
    }
    e->is_foreign = w.fault.error == ESRCH;
    cpubind_host_take_place(h, e);
    if (!take_devices(h, e, &l->found))
        return 0;
    if (w.fault.error || host_is_refused(e)) {
        e->row.state = CPUBIND_HOST_FAILED;
        e->row.status = CPUBIND_LINUX_ERR_GONE;
        e->row.is_news = 1;
        e->is_new = 0;
    }
    return 1;
}

/* Makes the entries those of the list. Returns 0 without memory. */
static int take_entries(listing *l)
{
    cpubind_host_bind *h = l->h;
    cpubind_linux_fault why = cpubind_no_fault;
    int is_good;
    if (!cpubind_host_keep_orphans(h, &l->found, &l->children))
        return 0;
    if (h->options.tree)
        why = choose_in_tree(h, &l->found);
    if (why.error)
        return fail_read(l, "/proc", why);
    is_good = mark_listed(h, &l->found);
    for (int32_t i = 0; i < l->found.n && is_good; i++)
        if (!cpubind_host_find(h, l->found.row[i].pid))
            is_good = add_worker(l, &l->found.row[i]);
    if (is_good)
        cpubind_host_take_children(h, &l->children);
    return is_good;
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
