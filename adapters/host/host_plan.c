/* host_plan.c - the facts and the plans of a host, and the goal of each worker
 * SPDX-License-Identifier: MIT
 *
 * Each device has the allowed CPUs of its own workers, so that no scope is asked. Moves
 * nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "../text/cpulist.h"
#include "host_rows.h"

void cpubind_host_free_plans(cpubind_host_bind *h)
{
    free(h->facts.arena.base);
    free(h->plan.arena.base);
    free(h->whole.arena.base);
    free(h->online);
    cpubind_host_free_allowed(&h->allowed);
    cpubind_host_free_allowed(&h->whole_allowed);
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

/* The arguments of make_plan. */
typedef struct making {
    const cpubind_host_bind *h;
    const cpubind_request *request;
    cpubind_host_plan *out;
    int is_plan; /* 0: the facts alone, of all devices, whether one plan takes them or not */
} making;

/* The request for those devices alone whose driver lists their users. */
static cpubind_request request_of_listed(const making *m)
{
    const cpubind_facts *f = &m->h->facts.facts; /* which are to be read, unless it is a plan */
    const int32_t last = !m->is_plan       ? CPUBIND_MAX_DEVICES
                         : f->n_listed > 0 ? f->device[f->n_listed - 1]->logic
                                           : -1;
    cpubind_request request = *m->request;
    while (request.n_device > 0 && request.device[request.n_device - 1] > last)
        request.n_device--;
    if (request.n_device == 0)
        request.device = NULL;
    return request;
}

static cpubind_problem_code read_facts(const making *m, cpubind_arena *arena)
{
    const cpubind_host_options *o = &m->h->options;
    cpubind_source host = source_of(m->h);
    const cpubind_source shown = {&host, read_host, list_host};
    cpubind_request request = o->has_listed ? request_of_listed(m) : *m->request;
    cpubind_pci_request bus;
    cpubind_problem *problem = &m->out->problem;
    if (o->devices) {
        bus = *o->devices;
        bus.is_host = 1;
        bus.is_plan = m->is_plan;
        bus.is_bus_alone = !o->has_listed;
        request.bus = &bus;
    }
    if (o->has_listed)
        return cpubind_facts_read(&host, &request, arena, &m->out->facts, problem);
    request.rules = cpubind_rules_asked(&host, &request);
    request.has_rules = 1;
    if (request.rules < CPUBIND_RULES_COUNT)
        return cpubind_facts_read(&shown, &request, arena, &m->out->facts, problem);
    problem->input = "env";
    problem->what = "CPUBIND_RULES is neither reference nor near";
    return problem->code = CPUBIND_PROBLEM_UNREADABLE;
}

/* Lets the plan be for the devices that the request names alone. */
static void choose_visible(const making *m)
{
    cpubind_facts *f = &m->out->facts;
    for (int32_t i = 0; i < f->n_device; i++) {
        int is_named = 0;
        for (int32_t k = 0; k < m->request->n_device; k++)
            is_named |= m->request->device[k] == f->device[i]->logic;
        f->device[i]->is_visible = is_named;
    }
}

/* Plans again where CPUs are wanting, for the devices whose driver lists no users alone: no
 * process of these waits for one of the others. The refusal stays in out->problem. */
static cpubind_problem_code plan_others(const making *m, cpubind_arena *arena)
{
    cpubind_host_plan *p = m->out;
    const cpubind_problem refusal = p->problem;
    cpubind_problem_code code = refusal.code;
    int has_others = 0;
    if (code != CPUBIND_PROBLEM_TOO_FEW_CPUS && code != CPUBIND_PROBLEM_NO_LOCAL_CPUS)
        return code;
    for (int32_t i = 0; i < p->facts.n_device; i++) {
        p->facts.device[i]->is_visible &= i >= p->facts.n_listed;
        has_others |= p->facts.device[i]->is_visible;
    }
    if (has_others && p->facts.n_listed > 0) {
        cpubind_problem_clear(&p->problem);
        code = cpubind_plan_make(&p->facts, m->request, arena, &p->plan, &p->problem);
        p->problem = refusal;
    } else if (has_others) { /* processes that use no device may have the kept CPUs */
        p->plan.n_want = p->plan.n_poolless = 0;
        code = CPUBIND_PROBLEM_NONE;
    }
    return code;
}

static cpubind_problem_code make_plan(void *ctx, cpubind_arena *arena)
{
    const making *m = (const making *)ctx;
    cpubind_host_plan *p = m->out;
    cpubind_problem_code code;
    memset(&p->facts, 0, sizeof p->facts);
    memset(&p->plan, 0, sizeof p->plan);
    code = read_facts(m, arena);
    p->has_facts = code == CPUBIND_PROBLEM_NONE;
    if (p->has_facts && m->is_plan) {
        choose_visible(m);
        code = cpubind_plan_make(&p->facts, m->request, arena, &p->plan, &p->problem);
        if (code != CPUBIND_PROBLEM_NONE)
            code = plan_others(m, arena);
    }
    return code;
}

static cpubind_problem_code make(cpubind_host_bind *h, const cpubind_request *request,
                                 int is_plan, cpubind_host_plan *out)
{
    making m = {h, request, out, is_plan};
    out->code = cpubind_with_arena(h->sys, &out->arena, make_plan, &m);
    return out->code;
}

int cpubind_host_is_asked(const cpubind_host_bind *h, int32_t device)
{
    const cpubind_facts *f = &h->facts.facts;
    const cpubind_request *request = &h->options.request;
    int32_t i = 0;
    if (h->options.is_listed_alone && device >= f->n_listed)
        return 0;
    while (i < request->n_device && request->device[i] != f->device[device]->logic)
        i++;
    return request->n_device > 0 ? i < request->n_device
           : f->is_joined        ? f->device[device]->is_asked
                                 : !f->is_part;
}

cpubind_problem_code cpubind_host_read_facts(cpubind_host_bind *h)
{
    cpubind_request request = h->options.request;
    request.wants_pci = 1;
    cpubind_problem_clear(&h->facts.problem);
    return make(h, &request, 0, &h->facts);
}

/* == Plans ================================================================== */

/* Whether a pool of the plan of the whole host has a CPU for one of the devices of an entry. */
static int is_in_whole_pool(const cpubind_host_bind *h, const host_entry *e, int32_t cpu)
{
    const cpubind_device_plan *plan = &h->whole.plan;
    for (int32_t i = 0; i < plan->n_want; i++) {
        const int32_t number = h->whole.facts.device[plan->want[i]]->logic;
        int32_t k = 0;
        while (k < e->row.n_device && h->facts.facts.device[e->row.devices[k]]->logic != number)
            k++;
        if (k == e->row.n_device)
            continue;
        for (int32_t c = plan->core.row[i]; c < plan->core.row[i + 1]; c++)
            if (plan->core.cpu[c] == cpu)
                return 1;
    }
    return 0;
}

/* Whether a pod has CPUs of the pools of its devices alone, as the plugin of the container
 * runtime gives them: by the plan of the whole host they are no other device's. */
static int lies_in_whole_pools(const cpubind_host_bind *h, const host_entry *e)
{
    const cpubind_cpus may = host_cpus_of(e);
    int32_t n = 0;
    if (!*e->row.pod.uid || !h->whole.has_facts || h->whole.code != CPUBIND_PROBLEM_NONE)
        return 0;
    while (n < may.n && is_in_whole_pool(h, e, may.cpu[n]))
        n++;
    return n > 0 && n == may.n;
}

/* Whether nobody else gets the CPUs of a worker: its cpuset holds its claim, or kubelet may
 * have given exclusive ones, to pods of class Guaranteed alone, and never all of the host. A
 * pod of this class may have the shared ones, too: another worker that comes there changes the
 * plan, as everywhere. */
static int has_own_cpus(const cpubind_host_bind *h, const host_entry *e)
{
    return cpubind_worker_holds_claim(&e->row) || lies_in_whole_pools(h, e) ||
           (e->row.pod.qos == CPUBIND_QOS_GUARANTEED && e->row.allowed.n > 0 &&
            e->row.allowed.n < h->facts.facts.n_online);
}

/* Lists the users of each device: its own processes, and where it has none those that use
 * several devices. Returns their number. */
static int32_t list_users(const cpubind_host_bind *h, cpubind_host_user *user)
{
    int32_t n = 0, n_own;
    for (int32_t i = 0; i < h->n; i++) {
        const host_entry *e = h->entry[i];
        if (e->row.device >= 0 && !host_is_joint(e) && !e->row.parent && !e->is_stale &&
            (e->row.allowed.n > 0 || !h->is_survey))
            user[n++] = (cpubind_host_user){e->row.device, host_cpus_of(e), has_own_cpus(h, e)};
    }
    n_own = n;
    for (int32_t i = 0; i < h->n; i++) {
        const host_entry *e = h->entry[i];
        for (int32_t k = 0; host_is_joint(e) && k < e->row.n_device; k++) {
            int has_own = 0;
            for (int32_t j = 0; j < n_own && !has_own; j++)
                has_own = user[j].device == e->row.devices[k];
            if (!has_own)
                user[n++] =
                    (cpubind_host_user){e->row.devices[k], host_cpus_of(e), has_own_cpus(h, e)};
        }
    }
    return n;
}

/* Completes a request by the users of the devices. Returns 0 without memory.
 *   out     *n_user */
static int allow(cpubind_host_bind *h, cpubind_request *request, int32_t *n_user)
{
    size_t room = 1;
    cpubind_host_user *user;
    int is_made, has_pod = 0;
    for (int32_t i = 0; i < h->n; i++) {
        room += (size_t)h->entry[i]->row.n_device + 1;
        has_pod |= *h->entry[i]->row.pod.uid != '\0';
    }
    if (has_pod)
        (void)cpubind_host_plan_whole(h);
    user = (cpubind_host_user *)h->sys->malloc(room * sizeof *user);
    cpubind_host_free_allowed(&h->allowed);
    *n_user = user ? list_users(h, user) : 0;
    is_made = user && cpubind_host_allow(h->sys, &h->facts.facts, user, *n_user,
                                         *n_user == 0 || h->is_survey, &h->allowed, request);
    free(user);
    return is_made;
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
    if (!allow(h, &request, &n_user)) {
        p->problem.code = p->code = CPUBIND_PROBLEM_NO_MEMORY;
        return p->code;
    }
    if (h->is_survey && n_user == 0 && !request.allowed)
        allow_online(h, &request);
    return make(h, &request, 1, p);
}

cpubind_problem_code cpubind_host_plan_whole(cpubind_host_bind *h)
{
    cpubind_request request = h->options.request;
    cpubind_host_plan *p = &h->whole;
    if (p->has_facts && p->code == CPUBIND_PROBLEM_NONE)
        return p->code;
    request.wants_pci = 1;
    request.scope = CPUBIND_SCOPE_CPUSET;
    cpubind_problem_clear(&p->problem);
    cpubind_host_free_allowed(&h->whole_allowed);
    if (!cpubind_host_allow(h->sys, &h->facts.facts, NULL, 0, 1, &h->whole_allowed, &request)) {
        p->problem.code = p->code = CPUBIND_PROBLEM_NO_MEMORY;
        return p->code;
    }
    if (!request.allowed)
        allow_online(h, &request);
    return make(h, &request, 1, p);
}

/* == Goals ================================================================== */

int32_t cpubind_host_plan_row(const cpubind_host_bind *h, int32_t device)
{
    const cpubind_host_plan *p = &h->plan;
    for (int32_t i = 0; p->code == CPUBIND_PROBLEM_NONE && i < p->plan.n_want; i++)
        if (p->facts.device[p->plan.want[i]]->logic == h->facts.facts.device[device]->logic)
            return i;
    return -1;
}

cpubind_cpus cpubind_host_pool(const cpubind_host_bind *h, int32_t device, int32_t *memory_node)
{
    const cpubind_host_plan *p = &h->plan;
    const int32_t row = cpubind_host_plan_row(h, device);
    *memory_node = -1;
    if (row < 0)
        return (cpubind_cpus){NULL, 0};
    *memory_node = cpubind_plan_memory_node(&p->facts, &p->plan, row);
    return (cpubind_cpus){p->plan.core.cpu + p->plan.core.row[row],
                          p->plan.core.row[row + 1] - p->plan.core.row[row]};
}

/* Joins the pools of a process that uses several devices: the CPUs of them that it may have,
 * all of main; the node for memory where it is the same for all. Returns 0 without memory. */
static int join_pools(const cpubind_host_bind *h, const host_entry *e, cpubind_arena *arena,
                      cpubind_goal_pool *out)
{
    const cpubind_cpus may = host_cpus_of(e);
    int32_t total = 0, n = 0, kept = 0, has = 0, memory_node = -1, node;
    int32_t *cpu;
    for (int32_t i = 0; i < e->row.n_device; i++)
        total += cpubind_host_pool(h, e->row.devices[i], &node).n;
    cpu = cpubind_arena_ints(arena, total);
    if (!cpu)
        return 0;
    for (int32_t i = 0; i < e->row.n_device; i++) {
        const cpubind_cpus pool = cpubind_host_pool(h, e->row.devices[i], &node);
        if (pool.n == 0)
            continue;
        memcpy(cpu + n, pool.cpu, (size_t)pool.n * sizeof *cpu);
        n += pool.n;
        memory_node = has++ && memory_node != node ? -1 : node;
    }
    if (n > 0 && !cpubind_list_sort(cpu, &n))
        n = 0;
    for (int32_t i = 0, at = 0; i < n; i++)
        if (may.n == 0 || cpubind_list_has(may.cpu, may.n, cpu[i], &at))
            cpu[kept++] = cpu[i];
    *out = (cpubind_goal_pool){.cpu = cpu, .n_cpu = kept, .memory_node = memory_node};
    out->roles.span[CPUBIND_ROLE_MAIN].count = kept;
    return 1;
}

static uint64_t add_cpus(uint64_t sum, cpubind_cpus cpus)
{
    sum = cpubind_sum(sum, &cpus.n, sizeof cpus.n);
    return cpus.n > 0 ? cpubind_sum(sum, cpus.cpu, (size_t)cpus.n * sizeof *cpus.cpu) : sum;
}

static uint64_t sum_of(const cpubind_goal *goal)
{
    uint64_t sum = CPUBIND_SUM;
    sum = cpubind_sum(sum, &goal->device, sizeof goal->device);
    sum = cpubind_sum(sum, goal->pci, strlen(goal->pci));
    sum = cpubind_sum(sum, &goal->memory_node, sizeof goal->memory_node);
    sum = add_cpus(add_cpus(sum, goal->main), goal->polling);
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

/* Whether a process of the plan beside the devices serves the first device of an other. */
static int is_of_its_device(const cpubind_host_bind *h, const host_entry *e,
                            const cpubind_beside *one)
{
    const cpubind_device_plan *plan = &h->plan.plan;
    const int32_t row = e->serves < 0 ? -1 : cpubind_host_plan_row(h, e->serves);
    const int32_t candidate = row < 0 ? -1 : plan->of_device[plan->want[row]];
    return candidate >= 0 && plan->candidate[candidate].slot >= one->first &&
           plan->candidate[candidate].slot < one->first + one->n_served;
}

/* The process of the plan that an other is, by its place there; -1: none. Of several engine
 * cores each is another one: that of its devices where no engine core before it has that, else
 * the first that is left. */
static int32_t find_beside(const cpubind_host_bind *h, const host_entry *e)
{
    const cpubind_device_plan *plan = &h->plan.plan;
    const int is_core = e->row.part == CPUBIND_BESIDE_ENGINE_CORE;
    uint8_t is_taken[CPUBIND_MAX_DEVICES] = {0};
    for (int32_t i = 0; i < h->n; i++) {
        const host_entry *other = h->entry[i];
        int32_t found = -1, any = -1;
        if (other->row.part != e->row.part || (!is_core && other != e))
            continue;
        for (int32_t k = plan->n_beside - 1; k >= 0; k--) {
            if ((int32_t)plan->beside[k].kind != e->row.part ||
                (is_core && is_taken[plan->beside[k].number]))
                continue;
            any = k;
            found = is_of_its_device(h, other, &plan->beside[k]) ? k : found;
        }
        found = found >= 0 ? found : any;
        if (other == e)
            return found;
        if (found >= 0)
            is_taken[plan->beside[found].number] = 1;
    }
    return -1;
}

/* The CPUs of its part of the engine, else those that the plan keeps for the host.
 *   errors  BAD_REQUEST: there are none */
static cpubind_problem_code make_other_goal(const cpubind_host_bind *h, const host_entry *e,
                                            cpubind_goal *goal, cpubind_problem *problem)
{
    const cpubind_device_plan *plan = &h->plan.plan;
    const int32_t k = e->row.part >= 0 ? find_beside(h, e) : -1;
    *goal = (cpubind_goal){.device = -1,
                           .main = {plan->kept, plan->n_kept},
                           .memory_node = -1,
                           .no_irq = CPUBIND_IRQ_NO_ROLE};
    if (k >= 0 && plan->beside[k].n_cpu > 0)
        goal->main = (cpubind_cpus){plan->beside[k].cpu, plan->beside[k].n_cpu};
    if (goal->main.n > 0)
        return CPUBIND_PROBLEM_NONE;
    problem->what = "the plan has no CPUs for it beside the devices";
    return problem->code = CPUBIND_PROBLEM_BAD_REQUEST;
}

/* Why a process of devices without a pool has no goal. */
static cpubind_problem why_poolless(const cpubind_host_bind *h, int32_t device, int is_joint)
{
    const cpubind_host_plan *p = &h->plan;
    cpubind_problem problem = p->problem;
    for (int32_t i = 0; i < p->plan.n_poolless; i++)
        if (p->facts.device[p->plan.poolless[i].device]->logic ==
            h->facts.facts.device[device]->logic)
            problem = p->plan.poolless[i].problem;
    if (problem.code == CPUBIND_PROBLEM_NONE) {
        problem.code = CPUBIND_PROBLEM_BAD_REQUEST;
        problem.what = is_joint ? "it may have none of the CPUs of its devices"
                                : "the plan by these rules is for NPUs alone";
    }
    return problem;
}

cpubind_problem_code cpubind_host_make_part_goal(const cpubind_host_bind *h, int32_t device,
                                                 const host_entry *e, cpubind_arena *arena,
                                                 cpubind_goal *out, cpubind_problem *problem)
{
    const cpubind_source source = h->live ? cpubind_linux_source(h->live) : source_of(h);
    const cpubind_host_plan *p = &h->plan;
    const int is_joint = e && host_is_joint(e);
    cpubind_goal_pool joined = {.n_cpu = 0};
    const cpubind_goal_request request = {.facts = &p->facts,
                                          .plan = &p->plan,
                                          .row =
                                              is_joint ? -1 : cpubind_host_plan_row(h, device),
                                          .pool = is_joint ? &joined : NULL,
                                          .wish = h->options.wish,
                                          .n_wish = h->options.n_wish,
                                          .threads = h->options.threads,
                                          .moves_nics = h->options.moves_nics,
                                          .n_process = e ? e->row.n_process : 0,
                                          .process = e ? e->row.process : 0};
    *problem = p->problem;
    if (p->code != CPUBIND_PROBLEM_NONE)
        return p->code;
    if (is_joint && !join_pools(h, e, arena, &joined))
        return CPUBIND_PROBLEM_NO_MEMORY;
    if (request.row < 0 && joined.n_cpu == 0)
        *problem = why_poolless(h, device, is_joint);
    else
        problem->code = cpubind_goal_make(&source, &request, arena, out, problem);
    return problem->code;
}

/* The arguments of make_part. */
typedef struct goal_making {
    const cpubind_host_bind *h;
    const host_entry *e;
    cpubind_goal *out;
    cpubind_problem *problem;
} goal_making;

static cpubind_problem_code make_part(void *ctx, cpubind_arena *arena)
{
    goal_making *m = (goal_making *)ctx;
    return cpubind_host_make_part_goal(m->h, m->e->row.device, m->e, arena, m->out, m->problem);
}

/* The goal of a child: the main CPUs of its worker, which the goal borrows.
 *   errors  BAD_REQUEST: its worker is not bound */
static cpubind_problem_code make_child_goal(const cpubind_host_bind *h, const host_entry *e,
                                            cpubind_goal *goal)
{
    const host_entry *parent = cpubind_host_find(h, e->row.parent);
    if (!parent || !parent->main.cpu)
        return CPUBIND_PROBLEM_BAD_REQUEST;
    *goal = (cpubind_goal){.device = parent->row.number,
                           .main = parent->main,
                           .rules = cpubind_host_rules(h),
                           .memory_node = -1,
                           .no_irq = CPUBIND_IRQ_NO_ROLE};
    memcpy(goal->pci, parent->row.pci, sizeof goal->pci);
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_host_make_goal(cpubind_host_bind *h, host_entry *e,
                                            cpubind_goal *goal, uint64_t *sum,
                                            cpubind_problem *problem)
{
    goal_making m = {h, e, goal, problem};
    cpubind_problem_code code;
    cpubind_problem_clear(problem);
    if (e->row.parent) {
        code = make_child_goal(h, e, goal);
    } else if (e->row.device < 0) {
        *problem = h->plan.problem;
        code = h->plan.code;
        if (code == CPUBIND_PROBLEM_NONE)
            code = make_other_goal(h, e, goal, problem);
    } else {
        code = cpubind_with_arena(h->sys, &h->goal_arena, make_part, &m);
    }
    *sum = code == CPUBIND_PROBLEM_NONE ? sum_of(goal) : 0;
    return code;
}
