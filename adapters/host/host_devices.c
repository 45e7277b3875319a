/* host_devices.c - the accelerators of any vendor of a host, their users, and the goal of each
 * SPDX-License-Identifier: MIT
 *
 * The counterpart of host_list.c and host_plan.c for devices that are no NPUs. Reads files
 * only; moves nothing. What is decided about CPUs is in ../plan/pci_plan.h.
 */
#include <stdlib.h>
#include <string.h>

#include "host_rows.h"

/* == The host =============================================================== */

/* The files of the host without those that are about this process: the CPUs, the variables and
 * the device files of cpubind itself say nothing about the processes that use devices. */
static cpubind_input read_host(void *ctx, const char *name)
{
    const cpubind_source *source = (const cpubind_source *)ctx;
    if (strcmp(name, "proc/self/status") == 0 || strcmp(name, "env") == 0)
        return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
    return source->read(source->ctx, name);
}

static cpubind_input list_host(void *ctx, const char *name)
{
    const cpubind_source *source = (const cpubind_source *)ctx;
    if (strncmp(name, "dev/", 4) == 0)
        return (cpubind_input){.state = CPUBIND_INPUT_ABSENT};
    return source->list(source->ctx, name);
}

/* Reads devices; a reading that fails is in h->facts.problem. */
static cpubind_problem_code read_pci(cpubind_host_bind *h, const cpubind_source *source,
                                     const cpubind_pci_request *request, cpubind_arena *arena,
                                     cpubind_facts *out)
{
    cpubind_problem fault;
    switch (cpubind_devices_read(source, request, arena, out, &fault)) {
    case CPUBIND_PROBLEM_NONE:
        return CPUBIND_PROBLEM_NONE;
    case CPUBIND_PROBLEM_NO_MEMORY:
        return CPUBIND_PROBLEM_NO_MEMORY;
    default:
        h->facts.problem.input = fault.input;
        h->facts.problem.what = fault.what;
        h->facts.problem.code = CPUBIND_PROBLEM_UNREADABLE;
        return CPUBIND_PROBLEM_UNREADABLE;
    }
}

/* Marks those of all accelerators that are asked for. Returns whether all of these are marked:
 * a function that was named may be no accelerator. */
static int mark_asked(const cpubind_facts *asked, const cpubind_facts *all, uint8_t *is_asked)
{
    int32_t n = 0;
    for (int32_t i = 0; i < all->n_device; i++) {
        is_asked[i] = 0;
        for (int32_t k = 0; k < asked->n_device && !is_asked[i]; k++)
            is_asked[i] = cpubind_pci_compare(&asked->device[k].pci, &all->device[i].pci) == 0;
        n += is_asked[i];
    }
    return n == asked->n_device;
}

/* Reads all accelerators, of which those that are not asked for keep their CPUs. */
static cpubind_problem_code read_devices(cpubind_host_bind *h, const cpubind_source *source,
                                         cpubind_arena *arena)
{
    const cpubind_pci_request every = {.wants_cores = 1};
    cpubind_pci_request request = h->options.devices->request;
    cpubind_facts asked;
    cpubind_problem_code code;
    request.wants_cores = 1;
    code = read_pci(h, source, &request, arena, &asked);
    if (code == CPUBIND_PROBLEM_NONE)
        code = read_pci(h, source, &every, arena, &h->device_facts);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    h->is_asked = (uint8_t *)cpubind_arena_take(
        arena, asked.n_device + h->device_facts.n_device, sizeof *h->is_asked);
    if (!h->is_asked)
        return CPUBIND_PROBLEM_NO_MEMORY;
    if (!mark_asked(&asked, &h->device_facts, h->is_asked)) {
        h->device_facts = asked;
        memset(h->is_asked, 1, (size_t)asked.n_device);
    }
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code read_facts(void *ctx, cpubind_arena *arena)
{
    cpubind_host_bind *h = (cpubind_host_bind *)ctx;
    cpubind_source host =
        h->options.source ? *h->options.source : cpubind_linux_source(h->facts_host);
    const cpubind_source source = {&host, read_host, list_host};
    cpubind_facts *facts = &h->facts.facts;
    const cpubind_problem_code code = read_devices(h, &source, arena);
    memset(facts, 0, sizeof *facts);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    facts->n_npu = h->device_facts.n_device;
    facts->npu = (cpubind_npu *)cpubind_arena_take(arena, facts->n_npu, sizeof *facts->npu);
    if (!facts->npu)
        return CPUBIND_PROBLEM_NO_MEMORY;
    for (int32_t i = 0; i < facts->n_npu; i++)
        facts->npu[i] = (cpubind_npu){.logic = i};
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_host_read_devices(cpubind_host_bind *h)
{
    cpubind_problem_clear(&h->facts.problem);
    h->facts.code = cpubind_host_with_arena(h->sys, &h->facts.arena, read_facts, h);
    h->facts.has_facts = h->facts.code == CPUBIND_PROBLEM_NONE;
    return h->facts.code;
}

/* == Users ================================================================== */

/* Keeps the devices of an entry, by the list. Returns 0 without memory. */
static int keep_devices(cpubind_host_bind *h, host_entry *e, const cpubind_npu_processes *found)
{
    int32_t *all = (int32_t *)h->sys->malloc(((size_t)found->n + 1) * sizeof *all);
    int32_t n = 0;
    if (!all)
        return 0;
    for (int32_t i = 0; i < found->n; i++)
        if (found->row[i].pid == e->row.pid)
            all[n++] = found->row[i].npu;
    h->is_old |=
        n != e->n_device || (n > 0 && memcmp(all, e->device, (size_t)n * sizeof *all) != 0);
    free(e->device);
    e->device = all;
    e->n_device = n;
    return 1;
}

/* Whether a process uses a device that is asked for. */
static int uses_asked(const cpubind_host_bind *h, const cpubind_workers *workers, int32_t pid)
{
    for (int32_t i = 0; i < workers->n; i++)
        if (workers->row[i].pid == pid && h->is_asked[workers->row[i].npu])
            return 1;
    return 0;
}

/* The list of rows as the functions for NPUs take it; free(3) the rows. */
static int list_rows(const cpubind_host_bind *h, const cpubind_workers *workers,
                     cpubind_npu_processes *out)
{
    out->row =
        (cpubind_npu_process *)h->sys->malloc(((size_t)workers->n + 1) * sizeof *out->row);
    for (int32_t i = 0; out->row && i < workers->n; i++)
        if (uses_asked(h, workers, workers->row[i].pid))
            out->row[out->n++] =
                (cpubind_npu_process){workers->row[i].pid, workers->row[i].npu};
    return out->row != NULL;
}

static int is_found(const cpubind_npu_processes *found, int32_t pid)
{
    for (int32_t i = 0; i < found->n; i++)
        if (found->row[i].pid == pid)
            return 1;
    return 0;
}

/* The arguments of read_nodes. */
typedef struct node_reading {
    cpubind_source source;
    const cpubind_facts *facts;
    cpubind_device_nodes nodes;
} node_reading;

/* A driver that is loaded later, or again, has other numbers: they are read for each
 * listing. */
static cpubind_problem_code read_nodes(void *ctx, cpubind_arena *arena)
{
    node_reading *r = (node_reading *)ctx;
    if (!cpubind_device_nodes_read(&r->source, r->facts, arena, &r->nodes))
        return CPUBIND_PROBLEM_NO_MEMORY;
    return cpubind_device_numbers_read(&r->source, r->facts, &r->nodes)
               ? CPUBIND_PROBLEM_NONE
               : CPUBIND_PROBLEM_UNREADABLE;
}

/* Forgets who used no device, when devices have other numbers than at the last listing. */
static void check_strangers(cpubind_host_bind *h, const cpubind_device_nodes *nodes)
{
    uint64_t sum = cpubind_sum(CPUBIND_SUM, nodes->compute_major, sizeof nodes->compute_major);
    sum = cpubind_sum(sum, nodes->compute_minor, sizeof nodes->compute_minor);
    for (int32_t i = 0; i < nodes->n; i++) {
        sum = cpubind_sum(sum, &nodes->row[i].major, sizeof nodes->row[i].major);
        sum = cpubind_sum(sum, &nodes->row[i].minor, sizeof nodes->row[i].minor);
    }
    if (sum != h->strangers_sum)
        h->strangers.n = 0;
    h->strangers_sum = sum;
}

/* Reads the numbers of the devices, and who has them open. */
static cpubind_problem find_users(cpubind_host_bind *h, cpubind_workers *out)
{
    node_reading r = {.facts = &h->device_facts};
    const cpubind_device_question question = {
        .source = h->options.source,
        .facts = &h->device_facts,
        .request = &h->options.devices->request,
        .nodes = &r.nodes,
        .strangers = h->options.bind.is_watching ? &h->strangers : NULL};
    cpubind_linux_host *host = cpubind_host_open_now(h, &r.source);
    cpubind_problem problem;
    cpubind_linux_fault fault = cpubind_no_fault;
    cpubind_linux_status status;
    cpubind_problem_clear(&problem);
    problem.code = cpubind_host_with_arena(h->sys, &h->list_arena, read_nodes, &r);
    problem.input = problem.code == CPUBIND_PROBLEM_UNREADABLE ? r.nodes.failed : NULL;
    problem.what = problem.input ? "it could not be read" : NULL;
    cpubind_linux_close(host);
    if (problem.code != CPUBIND_PROBLEM_NONE)
        return problem;
    check_strangers(h, &r.nodes);
    status = cpubind_device_workers_read(&question, h->sys, out, &fault);
    if (status == CPUBIND_LINUX_ERR_MEMORY) {
        problem.code = CPUBIND_PROBLEM_NO_MEMORY;
    } else if (status != CPUBIND_LINUX_OK) {
        problem.code = CPUBIND_PROBLEM_UNREADABLE;
        problem.input = "/proc";
        problem.what = "it cannot be listed";
    }
    return problem;
}

cpubind_problem cpubind_host_list_users(cpubind_host_bind *h)
{
    cpubind_npu_processes found = {0};
    cpubind_workers workers = {0};
    cpubind_children children;
    cpubind_problem problem = find_users(h, &workers);
    if (problem.code != CPUBIND_PROBLEM_NONE)
        return problem;
    children = (cpubind_children){workers.child, workers.n_child, workers.n_child};
    workers.child = NULL;
    if (!list_rows(h, &workers, &found) || !cpubind_host_keep_orphans(h, &found, &children) ||
        (h->options.tree && cpubind_host_choose_in_tree(h, &found).error)) {
        problem.code = CPUBIND_PROBLEM_NO_MEMORY;
    } else {
        (void)cpubind_host_mark_listed(h, &found);
        for (int32_t i = 0; i < workers.n; i++)
            if (is_found(&found, workers.row[i].pid) &&
                !cpubind_host_find(h, workers.row[i].pid))
                cpubind_host_add_worker(h, &workers.row[i], &found);
    }
    for (int32_t i = 0; problem.code == CPUBIND_PROBLEM_NONE && i < h->n; i++)
        if (h->entry[i]->is_listed && h->entry[i]->npu >= 0 && !h->entry[i]->row.parent &&
            !keep_devices(h, h->entry[i], &found))
            problem.code = CPUBIND_PROBLEM_NO_MEMORY;
    if (problem.code == CPUBIND_PROBLEM_NONE && !cpubind_host_take_children(h, &children))
        problem.code = CPUBIND_PROBLEM_NO_MEMORY;
    free(children.row);
    free(found.row);
    cpubind_workers_free(&workers);
    return problem;
}

/* == The plan =============================================================== */

/* Lists the users of each device: its own processes, and where it has none those that use
 * several devices. Returns their number. */
static int32_t list_users(const cpubind_host_bind *h, cpubind_host_user *user)
{
    int32_t n = 0, n_own;
    for (int32_t i = 0; i < h->n; i++)
        if (h->entry[i]->npu >= 0 && h->entry[i]->n_device == 1 && !h->entry[i]->is_stale)
            user[n++] = (cpubind_host_user){h->entry[i]->npu,
                                            {h->entry[i]->allowed, h->entry[i]->n_allowed}};
    n_own = n;
    for (int32_t i = 0; i < h->n; i++) {
        const host_entry *e = h->entry[i];
        for (int32_t k = 0; e->n_device > 1 && k < e->n_device; k++) {
            int has_own = 0;
            for (int32_t j = 0; j < n_own && !has_own; j++)
                has_own = user[j].npu == e->device[k];
            if (!has_own)
                user[n++] = (cpubind_host_user){e->device[k], {e->allowed, e->n_allowed}};
        }
    }
    return n;
}

/* The arguments of make_plan. */
typedef struct making {
    cpubind_host_bind *h;
    const cpubind_request *request;
} making;

static cpubind_problem_code make_plan(void *ctx, cpubind_arena *arena)
{
    const making *m = (const making *)ctx;
    cpubind_host_bind *h = m->h;
    cpubind_pci_asked asked = h->options.devices->asked;
    cpubind_problem_code code;
    asked.limits.allowed = m->request->allowed;
    asked.limits.n_allowed = m->request->n_allowed;
    asked.npu_allowed = m->request->npu_allowed;
    asked.n_npu_allowed = m->request->n_npu_allowed;
    code = cpubind_pci_make_plan(&h->device_facts, &asked, arena, &h->device_plan,
                                 &h->plan.problem);
    memset(&h->plan.plan, 0, sizeof h->plan.plan);
    if (code == CPUBIND_PROBLEM_NONE) { /* the others may have the kept CPUs */
        h->plan.plan.kept = h->device_plan.all.kept;
        h->plan.plan.n_kept = h->device_plan.all.n_kept;
    }
    return code;
}

cpubind_problem_code cpubind_host_plan_devices(cpubind_host_bind *h)
{
    cpubind_request request = h->options.request;
    making m = {h, &request};
    size_t room = 1;
    cpubind_host_user *user;
    int is_made;
    for (int32_t i = 0; i < h->n; i++)
        room += (size_t)h->entry[i]->n_device;
    user = (cpubind_host_user *)h->sys->malloc(room * sizeof *user);
    cpubind_host_free_allowed(&h->allowed);
    cpubind_problem_clear(&h->plan.problem);
    is_made = user && cpubind_host_allow(h->sys, &h->facts.facts, user, list_users(h, user), 1,
                                         &h->allowed, &request);
    free(user);
    h->plan.code = is_made ? cpubind_host_with_arena(h->sys, &h->plan.arena, make_plan, &m)
                           : CPUBIND_PROBLEM_NO_MEMORY;
    h->plan.problem.code = h->plan.code;
    return h->plan.code;
}

/* == Goals ================================================================== */

/* The pool of a device, or NULL. */
static const cpubind_pci_pool *find_pool(const cpubind_host_bind *h, int32_t device)
{
    const cpubind_pci_pool *pool = &h->device_plan.of_device[device];
    return pool->device >= 0 ? pool : NULL;
}

/* The CPUs of a role of a pool; those of main where it has none. */
static cpubind_cpus cpus_of_role(const cpubind_pci_pool *pool, cpubind_role role)
{
    const cpubind_span *span = pool->roles.span;
    if (span[role].count == 0)
        role = CPUBIND_ROLE_MAIN;
    return (cpubind_cpus){pool->role_cpu + span[role].first, span[role].count};
}

static cpubind_cpus cpus_of_wish(const cpubind_pci_pool *pool, const cpubind_thread_wish *wish)
{
    switch (wish->kind) {
    case CPUBIND_WISH_POOL:
        return (cpubind_cpus){pool->cpu, pool->n_cpu};
    case CPUBIND_WISH_LIST:
        return wish->cpus;
    case CPUBIND_WISH_LEAVE:
        return (cpubind_cpus){NULL, 0};
    default:
        return cpus_of_role(pool,
                            wish->kind == CPUBIND_WISH_ROLE ? wish->role : CPUBIND_ROLE_MAIN);
    }
}

/* Joins the pools of a process that uses several devices: the CPUs of them that it may have,
 * all of main; the node for memory where it is the same for all. */
static cpubind_status join_pools(const cpubind_host_bind *h, const host_entry *e,
                                 cpubind_arena *arena, cpubind_pci_pool *out)
{
    int32_t total = 0, n = 0, kept = 0, has = 0;
    int32_t *cpu;
    for (int32_t i = 0; i < e->n_device; i++)
        total += find_pool(h, e->device[i]) ? find_pool(h, e->device[i])->n_cpu : 0;
    cpu = cpubind_arena_ints(arena, total);
    if (!cpu)
        return CPUBIND_ERR_SPACE;
    *out = (cpubind_pci_pool){.share = -1, .device = -1, .memory_node = -1};
    for (int32_t i = 0; i < e->n_device; i++) {
        const cpubind_pci_pool *pool = find_pool(h, e->device[i]);
        if (!pool || pool->n_cpu == 0)
            continue;
        memcpy(cpu + n, pool->cpu, (size_t)pool->n_cpu * sizeof *cpu);
        n += pool->n_cpu;
        out->memory_node =
            has++ && out->memory_node != pool->memory_node ? -1 : pool->memory_node;
    }
    if (n > 0 && cpubind_sort_unique(cpu, &n, NULL) != CPUBIND_OK)
        n = 0;
    for (int32_t i = 0, at = 0; i < n; i++) {
        while (at < e->n_allowed && e->allowed[at] < cpu[i])
            at++;
        if (e->n_allowed == 0 || (at < e->n_allowed && e->allowed[at] == cpu[i]))
            cpu[kept++] = cpu[i];
    }
    out->cpu = out->role_cpu = cpu;
    out->n_cpu = kept;
    for (int role = 0; role < CPUBIND_ROLE_COUNT; role++)
        out->roles.span[role] = (cpubind_span){role > CPUBIND_ROLE_MAIN ? kept : 0,
                                               role == CPUBIND_ROLE_MAIN ? kept : 0};
    return kept > 0 ? CPUBIND_OK : CPUBIND_ERR_EMPTY;
}

/* The pool of a process: that of its device or a part of it, or those of its devices. */
static cpubind_status make_pool(const cpubind_host_bind *h, const host_entry *e,
                                cpubind_arena *arena, cpubind_pci_pool *out, int *is_shared)
{
    const cpubind_pci_pool *pool = find_pool(h, e->npu);
    cpubind_status status = CPUBIND_ERR_TOO_FEW;
    cpubind_fault fault;
    *is_shared = 0;
    if (e->n_device > 1)
        return join_pools(h, e, arena, out);
    if (!pool || pool->n_cpu == 0)
        return pool ? pool->why : CPUBIND_ERR_EMPTY;
    *out = *pool;
    if (e->row.n_process < 2)
        return CPUBIND_OK;
    if (e->row.n_process <= CPUBIND_MAX_DEVICES)
        status = cpubind_pci_place_process(&h->device_plan, pool, e->row.n_process,
                                           e->row.process, arena, out, &fault);
    *is_shared = status == CPUBIND_ERR_TOO_FEW;
    if (*is_shared) /* all of them have all of it */
        *out = *pool;
    return *is_shared ? CPUBIND_OK : status;
}

cpubind_problem_code cpubind_host_make_device_goal(cpubind_host_bind *h, host_entry *e,
                                                   cpubind_arena *arena, cpubind_goal *goal)
{
    cpubind_thread_rule *rule =
        (cpubind_thread_rule *)cpubind_arena_take(arena, h->options.n_wish, sizeof *rule);
    cpubind_pci_pool *pool = (cpubind_pci_pool *)cpubind_arena_take(arena, 1, sizeof *pool);
    int is_shared = 0;
    const cpubind_status status =
        rule && pool ? make_pool(h, e, arena, pool, &is_shared) : CPUBIND_ERR_SPACE;
    if (status == CPUBIND_ERR_SPACE)
        return CPUBIND_PROBLEM_NO_MEMORY;
    e->row.pool_status = status;
    if (status != CPUBIND_OK)
        return CPUBIND_PROBLEM_TOO_FEW_CPUS;
    *goal = (cpubind_goal){
        .npu = -1, .memory_node = pool->memory_node, .no_irq = CPUBIND_IRQ_NO_ROLE};
    goal->rules = cpubind_host_rules(h);
    goal->is_shared = is_shared;
    goal->main = cpus_of_role(pool, CPUBIND_ROLE_MAIN);
    goal->rule = rule;
    goal->n_rule = h->options.n_wish;
    for (int32_t i = 0; i < h->options.n_wish; i++)
        rule[i] = (cpubind_thread_rule){h->options.wish[i].name,
                                        cpus_of_wish(pool, &h->options.wish[i]),
                                        h->options.wish[i].kind == CPUBIND_WISH_LEAVE};
    if (pool->device >= 0)
        (void)cpubind_pci_format(goal->pci, &h->device_facts.device[pool->device].pci);
    return CPUBIND_PROBLEM_NONE;
}
