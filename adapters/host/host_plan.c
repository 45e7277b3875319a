/* host_plan.c - the facts and the plans of a host, and the goal of each worker
 * SPDX-License-Identifier: MIT
 *
 * Each device has the allowed CPUs of its own workers, so that no scope is asked. The devices
 * whose driver lists their users are planned by ../plan/plan.h, those of the bus by
 * ../plan/pci_plan.h: first, so that the others can be kept from their CPUs. Moves nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "../text/cpulist.h"
#include "host_rows.h"

#define FIRST_ARENA ((size_t)4 << 20)
#define LAST_ARENA  ((size_t)1 << 30)

/* == Memory ================================================================= */

cpubind_problem_code cpubind_host_with_arena(const cpubind_sys *sys, cpubind_arena *arena,
                                             cpubind_host_maker *make, void *ctx)
{
    size_t size = arena->size ? arena->size : FIRST_ARENA;
    for (;; size *= 4) {
        cpubind_problem_code code;
        if (!arena->base)
            arena->base = (char *)sys->malloc(size);
        arena->size = arena->base ? size : 0;
        arena->used = 0;
        code = make(ctx, arena);
        if (code != CPUBIND_PROBLEM_NO_MEMORY || !arena->base || size >= LAST_ARENA)
            return code;
        free(arena->base);
        arena->base = NULL;
    }
}

void cpubind_host_free_plans(cpubind_host_bind *h)
{
    free(h->facts.arena.base);
    free(h->plan.arena.base);
    free(h->bus_arena.base);
    free(h->bus_plan_arena.base);
    free(h->number);
    free(h->is_asked);
    free(h->exclude);
    free(h->online);
    cpubind_host_free_allowed(&h->allowed);
    cpubind_host_free_allowed(&h->bus_allowed);
}

/* == Facts ================================================================== */

static cpubind_source source_of(const cpubind_host_bind *h)
{
    return h->options.source ? *h->options.source : cpubind_linux_source(h->facts_host);
}

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

/* Reads devices of the bus; a reading that fails is in h->facts.problem. */
static cpubind_problem_code read_bus(cpubind_host_bind *h, const cpubind_pci_request *request,
                                     cpubind_arena *arena, cpubind_facts *out)
{
    cpubind_source host = source_of(h);
    const cpubind_source source = {&host, read_host, list_host};
    cpubind_problem fault;
    const cpubind_problem_code code =
        cpubind_devices_read(&source, request, arena, out, &fault);
    if (code == CPUBIND_PROBLEM_NONE || code == CPUBIND_PROBLEM_NO_MEMORY)
        return code;
    h->facts.problem.input = fault.input;
    h->facts.problem.what = fault.what;
    h->facts.problem.code = CPUBIND_PROBLEM_UNREADABLE;
    return CPUBIND_PROBLEM_UNREADABLE;
}

static int has_address(const cpubind_facts *f, const cpubind_pci_address *pci)
{
    for (int32_t i = 0; i < f->n_device; i++)
        if (cpubind_pci_compare(&f->device[i].pci, pci) == 0)
            return 1;
    return 0;
}

/* Reads all accelerators, also those that are not asked for, which keep their CPUs, unless a
 * function was named that is none of them. */
static cpubind_problem_code read_both(void *ctx, cpubind_arena *arena)
{
    cpubind_host_bind *h = (cpubind_host_bind *)ctx;
    const cpubind_pci_request every = {.wants_cores = 1};
    cpubind_pci_request request = h->options.devices->request;
    cpubind_facts *asked = &h->asked_facts;
    cpubind_problem_code code;
    request.wants_cores = 1;
    code = read_bus(h, &request, arena, asked);
    if (code == CPUBIND_PROBLEM_NONE)
        code = read_bus(h, &every, arena, &h->bus_facts);
    for (int32_t i = 0; code == CPUBIND_PROBLEM_NONE && i < asked->n_device; i++)
        if (!has_address(&h->bus_facts, &asked->device[i].pci)) {
            h->bus_facts = *asked;
            break;
        }
    return code;
}

/* Numbers the devices. Those of the bus that a driver lists users of are no devices twice. */
static int number_devices(cpubind_host_bind *h)
{
    const cpubind_facts *bus = &h->bus_facts;
    size_t room;
    h->n_listed = h->options.has_listed ? h->facts.facts.n_npu : 0;
    h->n_device = h->n_listed + (h->options.devices ? bus->n_device : 0);
    room = (size_t)h->n_device + 1;
    h->number = (int32_t *)h->sys->malloc(room * sizeof *h->number);
    h->is_asked = (uint8_t *)h->sys->malloc(room);
    if (!h->number || !h->is_asked)
        return 0;
    for (int32_t i = 0; i < h->n_listed; i++) {
        h->number[i] = h->facts.facts.npu[i].logic;
        h->is_asked[i] = 1;
    }
    for (int32_t i = h->n_listed, k = 0; i < h->n_device; i++, k++) {
        h->number[i] = k;
        h->is_asked[i] = has_address(&h->asked_facts, &bus->device[k].pci) &&
                         !(h->options.has_listed &&
                           cpubind_vendor_of(bus->device[k].accelerator.vendor)->users);
    }
    return 1;
}

/* The arguments of make_plan. */
typedef struct making {
    cpubind_source source;
    const cpubind_request *request;
    cpubind_host_plan *out;
    int is_plan; /* 0: the facts alone */
} making;

static cpubind_problem_code make_plan(void *ctx, cpubind_arena *arena)
{
    const making *m = (const making *)ctx;
    cpubind_host_plan *p = m->out;
    cpubind_problem_code code =
        cpubind_facts_read(&m->source, m->request, arena, &p->facts, &p->problem);
    p->has_facts = code == CPUBIND_PROBLEM_NONE;
    memset(&p->plan, 0, sizeof p->plan);
    if (p->has_facts && m->is_plan)
        code = cpubind_ascend_make_plan(&p->facts, m->request, arena, &p->plan, &p->problem);
    return code;
}

static cpubind_problem_code make(cpubind_host_bind *h, const cpubind_request *request,
                                 int is_plan, cpubind_host_plan *out)
{
    making m = {source_of(h), request, out, is_plan};
    out->code = cpubind_host_with_arena(h->sys, &out->arena, make_plan, &m);
    return out->code;
}

cpubind_problem_code cpubind_host_read_facts(cpubind_host_bind *h)
{
    cpubind_request request = h->options.request;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    request.wants_pci = 1;
    free(h->number);
    free(h->is_asked);
    h->number = NULL;
    h->is_asked = NULL;
    cpubind_problem_clear(&h->facts.problem);
    if (h->options.has_listed)
        code = make(h, &request, 0, &h->facts);
    if (code == CPUBIND_PROBLEM_NONE && h->options.devices)
        code = cpubind_host_with_arena(h->sys, &h->bus_arena, read_both, h);
    if (code == CPUBIND_PROBLEM_NONE && !number_devices(h))
        code = CPUBIND_PROBLEM_NO_MEMORY;
    h->facts.code = code;
    h->facts.has_facts = code == CPUBIND_PROBLEM_NONE;
    return code;
}

/* == Plans ================================================================== */

/* Lists the users of each device from `first` up to `end`: its own processes, and where it has
 * none those that use several devices. Returns their number. */
static int32_t list_users(const cpubind_host_bind *h, int32_t first, int32_t end,
                          cpubind_host_user *user)
{
    int32_t n = 0, n_own;
    for (int32_t i = 0; i < h->n; i++) {
        const host_entry *e = h->entry[i];
        if (e->device >= first && e->device < end && !host_is_joint(e) && !e->row.parent &&
            !e->is_stale && (e->n_allowed > 0 || !h->is_survey))
            user[n++] = (cpubind_host_user){e->device - first, {e->allowed, e->n_allowed}};
    }
    n_own = n;
    for (int32_t i = 0; i < h->n; i++) {
        const host_entry *e = h->entry[i];
        for (int32_t k = 0; host_is_joint(e) && k < e->row.n_device; k++) {
            int has_own = e->devices[k] < first || e->devices[k] >= end;
            for (int32_t j = 0; j < n_own && !has_own; j++)
                has_own = user[j].device == e->devices[k] - first;
            if (!has_own)
                user[n++] =
                    (cpubind_host_user){e->devices[k] - first, {e->allowed, e->n_allowed}};
        }
    }
    return n;
}

/* Completes a request for a part of the devices by their users. Returns 0 without memory.
 *   out     *n_user */
static int allow(cpubind_host_bind *h, int32_t first, int32_t end,
                 cpubind_host_allowed *allowed, cpubind_request *request, int32_t *n_user)
{
    size_t room = 1;
    cpubind_host_user *user;
    int is_made;
    for (int32_t i = 0; i < h->n; i++)
        room += (size_t)h->entry[i]->row.n_device + 1;
    user = (cpubind_host_user *)h->sys->malloc(room * sizeof *user);
    cpubind_host_free_allowed(allowed);
    *n_user = user ? list_users(h, first, end, user) : 0;
    is_made = user && cpubind_host_allow(h->sys, h->number + first, end - first, user, *n_user,
                                         (h->options.tree && *n_user == 0) || h->is_survey,
                                         allowed, request);
    free(user);
    return is_made;
}

static cpubind_problem_code make_bus_plan(void *ctx, cpubind_arena *arena)
{
    cpubind_host_bind *h = (cpubind_host_bind *)ctx;
    return cpubind_pci_make_plan(&h->bus_facts, &h->bus_asked, arena, &h->bus_plan,
                                 &h->bus_problem);
}

static void plan_bus(cpubind_host_bind *h)
{
    cpubind_request request = h->options.request;
    int32_t n_user;
    cpubind_problem_clear(&h->bus_problem);
    h->bus_problem.code = CPUBIND_PROBLEM_NO_MEMORY;
    if (!allow(h, h->n_listed, h->n_device, &h->bus_allowed, &request, &n_user))
        return;
    h->bus_asked = h->options.devices->asked;
    if (h->options.has_listed && request.n_exclude > 0) { /* it is what others leave to these */
        h->bus_asked.limits = (cpubind_pci_limits){request.exclude, request.n_exclude, NULL, 0};
    } else {
        h->bus_asked.limits.allowed = request.allowed;
        h->bus_asked.limits.n_allowed = request.n_allowed;
    }
    h->bus_asked.npu_allowed = request.npu_allowed;
    h->bus_asked.n_npu_allowed = request.n_npu_allowed;
    h->bus_problem.code = cpubind_host_with_arena(h->sys, &h->bus_plan_arena, make_bus_plan, h);
}

/* Keeps the listed devices from the CPUs that those of the bus have. The rules reference know
 * no others. Returns 0 without memory. */
static int exclude_bus(cpubind_host_bind *h, cpubind_request *request)
{
    const cpubind_facts *f = &h->bus_facts;
    int32_t n = request->n_exclude;
    if (!h->options.devices || h->bus_problem.code != CPUBIND_PROBLEM_NONE ||
        h->options.devices->asked.is_reference)
        return 1;
    for (int32_t i = 0; i < f->n_device; i++)
        n += h->bus_plan.of_device[i].n_cpu;
    free(h->exclude);
    h->exclude = (int32_t *)h->sys->malloc(((size_t)n + 1) * sizeof *h->exclude);
    if (!h->exclude)
        return 0;
    n = request->n_exclude;
    if (n > 0)
        memcpy(h->exclude, request->exclude, (size_t)n * sizeof *h->exclude);
    for (int32_t i = 0; i < f->n_device; i++) {
        const cpubind_pci_pool *pool = &h->bus_plan.of_device[i];
        if (pool->n_cpu == 0 || cpubind_vendor_of(f->device[i].accelerator.vendor)->users)
            continue;
        memcpy(h->exclude + n, pool->cpu, (size_t)pool->n_cpu * sizeof *pool->cpu);
        n += pool->n_cpu;
    }
    if (n > 0 && cpubind_sort_unique(h->exclude, &n, NULL) != CPUBIND_OK)
        return 0;
    request->exclude = n > 0 ? h->exclude : NULL;
    request->n_exclude = n;
    request->is_other = NULL;
    return 1;
}

/* Lets a request have all online CPUs, where these are known. */
static void allow_online(cpubind_host_bind *h, cpubind_request *request)
{
    const cpubind_source source = source_of(h);
    const cpubind_input online = source.read(source.ctx, "sys/devices/system/cpu/online");
    cpubind_int_list list = {NULL, CPUBIND_MAX_CPUS, 0};
    if (!h->online)
        h->online = (int32_t *)h->sys->malloc(CPUBIND_MAX_CPUS * sizeof *h->online);
    list.out = h->online;
    if (!h->online || online.state != CPUBIND_INPUT_PRESENT ||
        cpubind_cpulist_parse(online.data, online.len, CPUBIND_MAX_CPUS, &list, NULL) !=
            CPUBIND_TEXT_OK ||
        list.n == 0)
        return;
    request->allowed = h->online;
    request->n_allowed = list.n;
}

cpubind_problem_code cpubind_host_make_plan(cpubind_host_bind *h)
{
    cpubind_request request = h->options.request;
    cpubind_host_plan *p = &h->plan;
    int32_t n_user = 0;
    cpubind_problem_clear(&p->problem);
    p->has_facts = 0;
    memset(&p->plan, 0, sizeof p->plan);
    request.wants_pci = 1;
    if (h->is_survey)
        request.scope = CPUBIND_SCOPE_CPUSET;
    if (h->options.devices)
        plan_bus(h);
    if (h->options.has_listed && (!allow(h, 0, h->n_listed, &h->allowed, &request, &n_user) ||
                                  !exclude_bus(h, &request))) {
        p->problem.code = p->code = CPUBIND_PROBLEM_NO_MEMORY;
        return p->code;
    }
    if (h->is_survey && n_user == 0 && !request.allowed)
        allow_online(h, &request);
    if (h->options.has_listed &&
        (!h->options.devices || h->options.tree || h->is_survey || n_user > 0))
        return make(h, &request, 1, p);
    p->problem = h->bus_problem;
    p->code = h->bus_problem.code;
    if (p->code == CPUBIND_PROBLEM_NONE) { /* the others may have the kept CPUs */
        p->plan.kept = h->bus_plan.all.kept;
        p->plan.n_kept = h->bus_plan.all.n_kept;
    }
    return p->code;
}

/* == Goals ================================================================== */

int32_t cpubind_host_plan_row(const cpubind_host_bind *h, int32_t device)
{
    const cpubind_host_plan *p = &h->plan;
    for (int32_t i = 0; p->code == CPUBIND_PROBLEM_NONE && i < p->plan.n_want; i++)
        if (p->facts.npu[p->plan.want[i]].logic == h->number[device])
            return i;
    return -1;
}

const cpubind_pci_pool *cpubind_host_bus_pool(const cpubind_host_bind *h, int32_t device)
{
    const int32_t at = device - h->n_listed;
    const cpubind_pci_pool *pool = at < 0 || h->bus_problem.code != CPUBIND_PROBLEM_NONE
                                       ? NULL
                                       : &h->bus_plan.of_device[at];
    return pool && pool->device >= 0 ? pool : NULL;
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
    for (int32_t i = 0; i < e->row.n_device; i++) {
        const cpubind_pci_pool *pool = cpubind_host_bus_pool(h, e->devices[i]);
        total += pool ? pool->n_cpu : 0;
    }
    cpu = cpubind_arena_ints(arena, total);
    if (!cpu)
        return CPUBIND_ERR_SPACE;
    *out = (cpubind_pci_pool){.share = -1, .device = -1, .memory_node = -1};
    for (int32_t i = 0; i < e->row.n_device; i++) {
        const cpubind_pci_pool *pool = cpubind_host_bus_pool(h, e->devices[i]);
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
static cpubind_status make_pool(const cpubind_host_bind *h, const host_part *part,
                                cpubind_arena *arena, cpubind_pci_pool *out, int *is_shared)
{
    const cpubind_pci_pool *pool = cpubind_host_bus_pool(h, part->device);
    cpubind_status status = CPUBIND_ERR_TOO_FEW;
    cpubind_fault fault;
    *is_shared = 0;
    if (part->joint)
        return join_pools(h, part->joint, arena, out);
    if (!pool || pool->n_cpu == 0)
        return pool ? pool->why : CPUBIND_ERR_EMPTY;
    *out = *pool;
    if (part->n_process < 2)
        return CPUBIND_OK;
    if (part->n_process <= CPUBIND_MAX_DEVICES)
        status = cpubind_pci_place_process(&h->bus_plan.all, pool, part->n_process,
                                           part->process, arena, out, &fault);
    *is_shared = status == CPUBIND_ERR_TOO_FEW;
    if (*is_shared) /* all of them have all of it */
        *out = *pool;
    return *is_shared ? CPUBIND_OK : status;
}

static cpubind_problem_code make_bus_goal(const cpubind_host_bind *h, host_part *part,
                                          cpubind_arena *arena, cpubind_goal *out)
{
    cpubind_thread_rule *rule =
        (cpubind_thread_rule *)cpubind_arena_take(arena, h->options.n_wish, sizeof *rule);
    cpubind_pci_pool *pool = (cpubind_pci_pool *)cpubind_arena_take(arena, 1, sizeof *pool);
    int is_shared = 0;
    const cpubind_status status =
        rule && pool ? make_pool(h, part, arena, pool, &is_shared) : CPUBIND_ERR_SPACE;
    if (status == CPUBIND_ERR_SPACE)
        return CPUBIND_PROBLEM_NO_MEMORY;
    part->pool_status = status;
    if (status != CPUBIND_OK)
        return CPUBIND_PROBLEM_TOO_FEW_CPUS;
    *out = (cpubind_goal){
        .npu = -1, .memory_node = pool->memory_node, .no_irq = CPUBIND_IRQ_NO_ROLE};
    out->rules = cpubind_host_rules(h);
    out->is_shared = is_shared;
    out->main = cpus_of_role(pool, CPUBIND_ROLE_MAIN);
    out->rule = rule;
    out->n_rule = h->options.n_wish;
    for (int32_t i = 0; i < h->options.n_wish; i++)
        rule[i] = (cpubind_thread_rule){h->options.wish[i].name,
                                        cpus_of_wish(pool, &h->options.wish[i]),
                                        h->options.wish[i].kind == CPUBIND_WISH_LEAVE};
    if (pool->device >= 0)
        (void)cpubind_pci_format(out->pci, &h->bus_facts.device[pool->device].pci);
    return CPUBIND_PROBLEM_NONE;
}

static uint64_t add_cpus(uint64_t sum, cpubind_cpus cpus)
{
    sum = cpubind_sum(sum, &cpus.n, sizeof cpus.n);
    return cpus.n > 0 ? cpubind_sum(sum, cpus.cpu, (size_t)cpus.n * sizeof *cpus.cpu) : sum;
}

static uint64_t sum_of(const cpubind_goal *goal)
{
    uint64_t sum = CPUBIND_SUM;
    sum = cpubind_sum(sum, &goal->npu, sizeof goal->npu);
    sum = cpubind_sum(sum, goal->pci, strlen(goal->pci));
    sum = cpubind_sum(sum, &goal->memory_node, sizeof goal->memory_node);
    sum = add_cpus(add_cpus(sum, goal->main), goal->uvb);
    for (int32_t i = 0; i < goal->n_rule; i++) {
        sum = cpubind_sum(sum, goal->rule[i].name, strlen(goal->rule[i].name) + 1);
        sum = add_cpus(sum, goal->rule[i].cpus);
    }
    for (int32_t i = 0; i < goal->n_irq; i++) {
        sum = cpubind_sum(sum, &goal->irq[i].irq, sizeof goal->irq[i].irq);
        sum = cpubind_sum(sum, &goal->irq[i].cpu, sizeof goal->irq[i].cpu);
    }
    return sum ? sum : 1;
}

/* The CPUs that the plan keeps for the host. */
static cpubind_problem_code make_other_goal(const cpubind_host_plan *p, cpubind_goal *goal)
{
    memset(goal, 0, sizeof *goal);
    goal->npu = -1;
    goal->main.cpu = p->plan.kept;
    goal->main.n = p->plan.n_kept;
    goal->memory_node = -1;
    goal->no_irq = CPUBIND_IRQ_NO_ROLE;
    return CPUBIND_PROBLEM_NONE;
}

/* The goal of a listed device by the plan; a device without a pool has its reason. */
static cpubind_problem_code make_listed_goal(const cpubind_host_bind *h, const host_part *part,
                                             cpubind_arena *arena, cpubind_goal *out,
                                             cpubind_problem *problem)
{
    const cpubind_source source = h->live ? cpubind_linux_source(h->live) : source_of(h);
    const cpubind_host_plan *p = &h->plan;
    const cpubind_goal_request request = {.facts = &p->facts,
                                          .plan = &p->plan,
                                          .row = cpubind_host_plan_row(h, part->device),
                                          .wish = h->options.wish,
                                          .n_wish = h->options.n_wish,
                                          .threads = h->options.threads,
                                          .n_process = part->n_process,
                                          .process = part->process};
    *problem = p->problem;
    for (int32_t i = 0; p->has_facts && i < p->plan.n_poolless; i++)
        if (p->facts.npu[p->plan.poolless[i].npu].logic == h->number[part->device]) {
            *problem = p->plan.poolless[i].problem;
            return problem->code;
        }
    return p->code != CPUBIND_PROBLEM_NONE
               ? p->code
               : cpubind_goal_make(&source, &request, arena, out, problem);
}

cpubind_problem_code cpubind_host_make_part_goal(const cpubind_host_bind *h, host_part *part,
                                                 cpubind_arena *arena, cpubind_goal *out,
                                                 cpubind_problem *problem)
{
    if (part->device < h->n_listed)
        return make_listed_goal(h, part, arena, out, problem);
    *problem = h->bus_problem;
    if (problem->code == CPUBIND_PROBLEM_NONE)
        problem->code = make_bus_goal(h, part, arena, out);
    return problem->code;
}

/* The arguments of make_part. */
typedef struct goal_making {
    cpubind_host_bind *h;
    host_part part;
    cpubind_goal *out;
    cpubind_problem *problem;
} goal_making;

static cpubind_problem_code make_part(void *ctx, cpubind_arena *arena)
{
    goal_making *m = (goal_making *)ctx;
    return cpubind_host_make_part_goal(m->h, &m->part, arena, m->out, m->problem);
}

cpubind_problem_code cpubind_host_make_goal(cpubind_host_bind *h, host_entry *e,
                                            cpubind_goal *goal, uint64_t *sum,
                                            cpubind_problem *problem)
{
    goal_making m = {.h = h,
                     .part = {.device = e->device,
                              .n_process = e->row.n_process,
                              .process = e->row.process,
                              .joint = host_is_joint(e) ? e : NULL},
                     .out = goal,
                     .problem = problem};
    cpubind_problem_code code;
    cpubind_problem_clear(problem);
    if (e->row.parent) {
        code = cpubind_host_make_child_goal(h, e, goal);
    } else if (e->device < 0) {
        *problem = h->plan.problem;
        code = h->plan.code;
        if (code == CPUBIND_PROBLEM_NONE)
            code = make_other_goal(&h->plan, goal);
    } else {
        code = cpubind_host_with_arena(h->sys, &h->goal_arena, make_part, &m);
        e->row.pool_status = m.part.pool_status;
    }
    *sum = code == CPUBIND_PROBLEM_NONE ? sum_of(goal) : 0;
    return code;
}
