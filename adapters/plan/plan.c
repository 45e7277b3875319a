/* plan.c - from the facts of a host to its plan
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The strategy is in the facts already. The rules are those of
 * vllm-ascend's cpu_binding.py; the core cuts the pools.
 */
#include "plan_parts.h"

/* The policy for the core. A cluster has the role main alone, whatever the product is; so has a
 * device that is no NPU, but beside NPUs its pool is as large as theirs must be, since the core
 * has one minimum. The processes of an NPU share its interrupts, and each has the other roles
 * for itself. Where no near CPUs are known the core cuts slices by the rules near too, of whole
 * cores. */
static void choose_policy(planner *p)
{
    static const cpubind_role_spec main_only = CPUBIND_ROLES_MAIN;
    const cpubind_facts *f = p->facts;
    const cpubind_cluster_shape *shape = &p->product->cluster;
    const int is_cluster = f->strategy == CPUBIND_CLUSTER;
    const int32_t n_process = p->request->n_process > 1 ? p->request->n_process : 1;
    p->out->rules = f->rules;
    p->policy.strategy =
        f->rules == CPUBIND_RULES_NEAR && !is_cluster ? CPUBIND_NEAR : f->strategy;
    p->policy.overlap = p->request->overlap;
    p->out->roles = p->request->roles              ? *p->request->roles
                    : is_cluster || !f->has_listed ? main_only
                                                   : p->product->roles;
    p->out->other_roles = p->request->roles ? *p->request->roles : main_only;
    p->policy.roles = p->out->roles;
    p->other_least = 0;
    for (int role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        const int32_t times = role == CPUBIND_ROLE_IRQ ? 1 : n_process;
        p->policy.roles.count[role] *= times;
        p->other_least += p->out->other_roles.count[role] * times;
    }
    p->policy.cluster = shape->cores * f->threads;
    p->policy.has_spare_node = is_cluster;
    p->policy.spare_node = shape->uvb_node;
}

static int32_t logic_of(const planner *p, int32_t device)
{
    const cpubind_viewed *viewed =
        device < 0 ? NULL : plan_device_of(p, &p->out->candidate[device]);
    return viewed ? viewed->logic : -1;
}

/* Turns a refusal of the core into a problem of this host. A plan by clusters that cannot be
 * made is SKIPPED, as vllm-ascend does. */
static cpubind_problem_code translate(planner *p, cpubind_status status,
                                      const cpubind_fault *fault)
{
    int32_t is_cluster = p->policy.strategy == CPUBIND_CLUSTER;
    int32_t is_slice =
        p->facts->strategy == CPUBIND_GLOBAL_SLICE && p->scope != CPUBIND_SCOPE_PER_DEVICE;
    p->problem->device = logic_of(p, fault->device);
    p->problem->other = logic_of(p, fault->other);
    p->problem->cpu = fault->cpu;
    p->problem->need = fault->need;
    p->problem->have = fault->have;
    switch (status) {
    case CPUBIND_ERR_EMPTY:
        p->problem->need = 0;
        return plan_fail(p,
                         is_cluster ? CPUBIND_PROBLEM_SKIPPED : CPUBIND_PROBLEM_NO_LOCAL_CPUS,
                         p->out->devices.affinity.row[fault->device + 1] >
                                 p->out->devices.affinity.row[fault->device]
                             ? "none of the CPUs near it is allowed"
                             : "which CPUs are near it is not known");
    case CPUBIND_ERR_TOO_FEW:
        if (is_slice)
            p->problem->device = -1;
        return plan_fail(p, CPUBIND_PROBLEM_TOO_FEW_CPUS,
                         is_slice
                             ? "a slice for each NPU of the host is too small for the roles"
                             : "its pool is too small for the roles");
    case CPUBIND_ERR_OVERLAP:
        return plan_fail(p, CPUBIND_PROBLEM_OVERLAP,
                         fault->cpu < 0 ? "two NPUs have the same phy id"
                                        : "two pools share a CPU");
    case CPUBIND_ERR_UNKNOWN:
        return plan_fail(p, CPUBIND_PROBLEM_UNKNOWN_DEVICE,
                         "its id is not below the number of NPUs that slices are cut for");
    case CPUBIND_ERR_SPREAD:
        return plan_fail(p, CPUBIND_PROBLEM_SKIPPED, "the CPUs near it are on several nodes");
    case CPUBIND_ERR_CLUSTERS:
        return plan_fail(p, CPUBIND_PROBLEM_SKIPPED,
                         "its node has too few whole clusters for the NPUs there");
    default:
        return plan_fail(p, CPUBIND_PROBLEM_UNREADABLE, cpubind_status_text(status));
    }
}

/* Lists the CPUs for the host's UVB polling threads: the CPUs of the UVB node that no cluster
 * has, without those that are kept for the host, and without the CPU that these threads must
 * not have. */
static cpubind_problem_code find_spare(planner *p)
{
    const cpubind_facts *f = p->facts;
    const cpubind_host *host = &p->out->host;
    const int is_per_device = p->scope == CPUBIND_SCOPE_PER_DEVICE;
    int32_t skip = is_per_device ? 0 : p->out->core.spare_taken;
    int32_t at = 0, i_host = 0;
    p->out->spare = cpubind_arena_ints(p->arena, f->n_cpu);
    if (!p->out->spare)
        return plan_fail_memory(p);
    for (int32_t i = 0; i < f->n_cpu; i++) {
        if (f->node[i] != p->policy.spare_node ||
            cpubind_list_has(p->out->kept, p->out->n_kept, f->cpu[i], &at) || skip-- > 0 ||
            (is_per_device && cpubind_list_has(host->cpu, host->n_cpu, f->cpu[i], &i_host) &&
             p->out->trace.owner[i_host] >= 0))
            continue;
        if (f->cpu[i] != p->product->cluster.kept_cpu)
            p->out->spare[p->out->n_spare++] = f->cpu[i];
    }
    if (p->out->n_spare == 0)
        plan_warn(p, CPUBIND_WARNING_NO_SPARE);
    return CPUBIND_PROBLEM_NONE;
}

static void note_findings(planner *p)
{
    const cpubind_plan *plan = &p->out->core;
    if (plan->overlap == CPUBIND_FOUND_RESOLVED)
        plan_warn(p, CPUBIND_WARNING_RESOLVED);
    if (plan->overlap == CPUBIND_FOUND_PRESENT)
        plan_warn(p, CPUBIND_WARNING_OVERLAP);
}

/* Whether a refusal of the core is about one NPU, without which there may be a plan: it lacks
 * CPUs of its own, or has the phy id of another. */
static int is_about_one(const planner *p, cpubind_problem_code code)
{
    if (code == CPUBIND_PROBLEM_OVERLAP)
        return p->problem->cpu < 0;
    return (p->facts->strategy != CPUBIND_GLOBAL_SLICE ||
            p->scope == CPUBIND_SCOPE_PER_DEVICE) &&
           (code == CPUBIND_PROBLEM_TOO_FEW_CPUS || code == CPUBIND_PROBLEM_NO_LOCAL_CPUS ||
            code == CPUBIND_PROBLEM_SKIPPED);
}

/* Whether a device without a pool makes the whole plan a refusal: it runs, the request names
 * it, or this process drives it. With allowed CPUs of each device one does not need another. */
static int is_needed(const planner *p, int32_t viewed)
{
    const cpubind_viewed *n = &p->facts->device[viewed];
    if (p->scope == CPUBIND_SCOPE_PER_DEVICE)
        return 0;
    return n->is_running || (p->request->device && n->is_named) ||
           (p->request->has_rank && viewed == p->rank_device);
}

/* Takes a device out of the plan, with the reason. Returns 0 when it is needed there. */
static int give_up(planner *p, int32_t viewed)
{
    cpubind_poolless *poolless = &p->out->poolless[p->out->n_poolless];
    int32_t at = 0;
    if (is_needed(p, viewed) || p->n_ours == 1)
        return 0;
    poolless->device = viewed;
    poolless->problem = *p->problem;
    p->out->n_poolless++;
    cpubind_problem_clear(p->problem);
    while (p->ours[at] != viewed)
        at++;
    for (p->n_ours--; at < p->n_ours; at++)
        p->ours[at] = p->ours[at + 1];
    return 1;
}

/* Asks the core for the pools of our devices. *fault is about devices of the core. */
static cpubind_problem_code call_core(planner *p, cpubind_fault *fault)
{
    cpubind_plan *plan = &p->out->core;
    cpubind_status status;
    int32_t n = 0;
    for (int32_t i = 0; i < p->out->n_candidate; i++)
        if (p->out->candidate[i].device >= 0 && plan_is_ours(p, p->out->candidate[i].device))
            p->out->want[n++] = i;
    plan->want = p->out->want;
    plan->n_want = n;
    status = cpubind_make_plan(&p->out->host, &p->out->devices, &p->policy, plan, fault);
    return status == CPUBIND_OK ? CPUBIND_PROBLEM_NONE : translate(p, status, fault);
}

/* Takes room for the trace of the core. */
static cpubind_problem_code take_trace(planner *p)
{
    const cpubind_host *host = &p->out->host;
    const cpubind_lists *affinity = &p->out->devices.affinity;
    cpubind_trace *trace = &p->out->trace;
    trace->cap_row = CPUBIND_TRACE_ROWS(host->n_cpu, host->n_node, affinity->n);
    trace->cap_device = CPUBIND_TRACE_DEVICES(
        host->n_node, affinity->n, affinity->row[affinity->n] + plan_count_allowed(p));
    trace->owner = cpubind_arena_ints(p->arena, host->n_cpu);
    trace->step = cpubind_arena_ints(p->arena, host->n_cpu);
    trace->group = cpubind_arena_ints(p->arena, host->n_cpu);
    trace->row = cpubind_arena_ints(p->arena, trace->cap_row);
    trace->device = cpubind_arena_ints(p->arena, trace->cap_device);
    p->out->core.trace = trace;
    if (!trace->owner || !trace->step || !trace->group || !trace->row || !trace->device)
        return plan_fail_memory(p);
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code take_buffers(planner *p)
{
    cpubind_plan *plan = &p->out->core;
    const int32_t times = p->policy.overlap == CPUBIND_OVERLAP_KEEP ? p->n_ours : 1;
    plan->cap_cpu = CPUBIND_PLAN_CPUS_KEEP(p->out->host.n_cpu, times);
    plan->cap_work = plan_count_work(p, p->policy.strategy);
    plan->cpu = cpubind_arena_ints(p->arena, plan->cap_cpu);
    plan->row = cpubind_arena_ints(p->arena, p->n_ours + 1);
    plan->work = cpubind_arena_ints(p->arena, plan->cap_work);
    p->out->want = cpubind_arena_ints(p->arena, p->n_ours);
    p->out->poolless =
        (cpubind_poolless *)cpubind_arena_take(p->arena, p->n_ours, sizeof *p->out->poolless);
    if (!plan->cpu || !plan->row || !plan->work || !p->out->want || !p->out->poolless)
        return plan_fail_memory(p);
    return CPUBIND_PROBLEM_NONE;
}

/* Gives up one device of a refusal of the core. */
static int give_up_one(planner *p, const cpubind_fault *fault)
{
    const int32_t devices[2] = {fault->device, fault->other};
    for (int i = 0; i < 2; i++)
        if (devices[i] >= 0 && p->out->candidate[devices[i]].device >= 0 &&
            plan_is_ours(p, p->out->candidate[devices[i]].device) &&
            give_up(p, p->out->candidate[devices[i]].device))
            return 1;
    return 0;
}

/* Cuts the pools. A device that cannot have one is left out, unless it is needed. */
static cpubind_problem_code cut_pools(planner *p)
{
    cpubind_problem_code code = take_trace(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = take_buffers(p);
    while (code == CPUBIND_PROBLEM_NONE) {
        cpubind_fault fault;
        code = call_core(p, &fault);
        if (code == CPUBIND_PROBLEM_NONE || !is_about_one(p, code) || !give_up_one(p, &fault))
            break;
        code = CPUBIND_PROBLEM_NONE;
    }
    return code;
}

/* Whether two plans give a device the same pool. */
static int have_same_pool(const planner *p, const planner *q, int32_t viewed)
{
    const planner *both[2] = {p, q};
    const int32_t *pool[2] = {NULL, NULL};
    int32_t n[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        const cpubind_plan *plan = &both[i]->out->core;
        for (int32_t k = 0; k < plan->n_want; k++)
            if (both[i]->out->candidate[plan->want[k]].device == viewed) {
                pool[i] = plan->cpu + plan->row[k];
                n[i] = plan->row[k + 1] - plan->row[k];
            }
    }
    return n[0] == n[1] &&
           (n[0] == 0 || memcmp(pool[0], pool[1], (size_t)n[0] * sizeof **pool) == 0);
}

/* Whether the candidates are in the order of their logic ids. */
static int is_in_logic_order(const planner *p)
{
    for (int32_t i = 1; i < p->out->n_candidate; i++)
        if (p->out->candidate[i].device < p->out->candidate[i - 1].device)
            return 0;
    return 1;
}

/* Orders of the candidates to compare with. */
typedef enum order_kind { ORDER_LOGIC, ORDER_REVERSED, ORDER_OURS_FIRST } order_kind;

/* Lists the indices of the devices in view in another order. */
static void list_in_order(const planner *p, order_kind order, cpubind_candidate *out)
{
    const int32_t n = p->out->n_candidate;
    int32_t n_out = 0;
    for (int32_t i = 0; i < n; i++)
        if (order == ORDER_OURS_FIRST && plan_is_ours(p, i))
            out[n_out++] = (cpubind_candidate){i, -1, -1};
    for (int32_t i = 0; i < n; i++)
        if (order != ORDER_OURS_FIRST || !plan_is_ours(p, i))
            out[n_out++] = (cpubind_candidate){order == ORDER_REVERSED ? n - 1 - i : i, -1, -1};
}

/* Whether another order of the candidates gives our devices other pools. */
static cpubind_problem_code compare_order(planner *p, order_kind order, int *is_other)
{
    const size_t used = p->arena->used;
    cpubind_device_plan other = *p->out;
    planner q = *p;
    cpubind_problem ignored;
    cpubind_problem_code code;
    cpubind_fault fault;
    other.candidate = (cpubind_candidate *)cpubind_arena_take(p->arena, other.n_candidate,
                                                              sizeof *other.candidate);
    if (!other.candidate)
        return plan_fail_memory(p);
    list_in_order(p, order, other.candidate);
    cpubind_problem_clear(&ignored);
    other.core.trace = NULL;
    q.out = &other;
    q.problem = &ignored;
    code = cpubind_priv_copy_affinity(&q);
    if (code == CPUBIND_PROBLEM_NONE)
        code = take_buffers(&q);
    if (code == CPUBIND_PROBLEM_NONE)
        code = call_core(&q, &fault);
    if (code == CPUBIND_PROBLEM_NO_MEMORY)
        return plan_fail_memory(p);
    *is_other = 0;
    for (int32_t i = 0; i < p->n_ours && !*is_other; i++)
        *is_other = code != CPUBIND_PROBLEM_NONE || !have_same_pool(p, &q, p->ours[i]);
    p->arena->used = used;
    return CPUBIND_PROBLEM_NONE;
}

/* Looks whether a process that knows no addresses has another plan, or whether this one lacks
 * them where they count: then npu-smi must have failed, or have none for this product. Devices
 * that were listed by address have theirs in every process. Nothing
 * can differ where NPUs are hidden: no process has a plan without addresses there. */
static cpubind_problem_code check_order(planner *p)
{
    const cpubind_facts *f = p->facts;
    cpubind_problem_code code;
    int is_other = 0;
    if (f->strategy == CPUBIND_GLOBAL_SLICE || p->out->n_hidden > 0 || f->n_census == 0 ||
        !f->has_listed || p->scope == CPUBIND_SCOPE_OWN ||
        p->scope == CPUBIND_SCOPE_PER_DEVICE || (p->is_ordered && is_in_logic_order(p)))
        return CPUBIND_PROBLEM_NONE;
    code = compare_order(p, p->is_ordered ? ORDER_LOGIC : ORDER_REVERSED, &is_other);
    /* The middle one of a group keeps its place in the reversed order. */
    if (code == CPUBIND_PROBLEM_NONE && !p->is_ordered && !is_other)
        code = compare_order(p, ORDER_OURS_FIRST, &is_other);
    if (code != CPUBIND_PROBLEM_NONE || !is_other)
        return code;
    if (p->is_ordered) {
        plan_warn(p, CPUBIND_WARNING_ORDER_DIFFERS);
    } else if (f->unaddressed.code != CPUBIND_PROBLEM_NONE) {
        *p->problem = f->unaddressed;
        return p->problem->code;
    } else {
        plan_warn(p, CPUBIND_WARNING_NO_ADDRESSES);
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Fails because the allowed part of a pool is too small for the roles. */
static cpubind_problem_code fail_cut(planner *p, int32_t viewed, int32_t need, int32_t uncut,
                                     int32_t left)
{
    p->problem->device = p->facts->device[viewed].logic;
    p->problem->need = need;
    p->problem->have = left;
    p->problem->uncut = uncut;
    return plan_fail(p, CPUBIND_PROBLEM_TOO_FEW_CPUS,
                     "too few CPUs of its pool are allowed for the roles");
}

/* Puts the rows in the order of the devices, and cuts them to the allowed CPUs. */
static cpubind_problem_code order_rows(planner *p)
{
    cpubind_plan *plan = &p->out->core;
    const int32_t n_want = plan->n_want;
    int32_t *cpu = cpubind_arena_ints(p->arena, plan->row[n_want]);
    int32_t *row = cpubind_arena_ints(p->arena, n_want + 1);
    int32_t *want = cpubind_arena_ints(p->arena, n_want);
    if (!cpu || !row || !want)
        return plan_fail_memory(p);
    row[0] = 0;
    for (int32_t i = 0, n = 0; i < p->facts->n_device; i++) {
        int32_t k = 0, need, uncut, left;
        while (k < n_want && p->out->candidate[plan->want[k]].device != i)
            k++;
        if (k == n_want)
            continue;
        uncut = plan->row[k + 1] - plan->row[k];
        left = plan_copy_allowed(p, plan->cpu + plan->row[k], uncut, cpu + row[n]);
        need = p->out->devices.least[plan->want[k]];
        if (left < need) {
            (void)fail_cut(p, i, need, uncut, left);
            if (!give_up(p, i))
                return p->problem->code;
            continue;
        }
        want[n] = i;
        row[n + 1] = row[n] + left;
        p->out->n_want = ++n;
    }
    plan->cpu = cpu;
    plan->row = row;
    plan->want = want;
    plan->n_want = p->out->n_want;
    plan->n_cpu = row[p->out->n_want];
    p->out->want = want;
    return CPUBIND_PROBLEM_NONE;
}

/* Sorts the devices without a pool, finds the row of the rank, and counts the idle CPUs. */
static cpubind_problem_code finish(planner *p)
{
    cpubind_device_plan *out = p->out;
    uint8_t *is_used = (uint8_t *)cpubind_arena_take(p->arena, p->facts->n_cpu_id, 1);
    if (!is_used)
        return plan_fail_memory(p);
    memset(is_used, 0, (size_t)p->facts->n_cpu_id);
    for (int32_t i = 1; i < out->n_poolless; i++) {
        const cpubind_poolless moved = out->poolless[i];
        int32_t at = i;
        for (; at > 0 && moved.device < out->poolless[at - 1].device; at--)
            out->poolless[at] = out->poolless[at - 1];
        out->poolless[at] = moved;
    }
    out->rank_row = -1;
    for (int32_t i = 0; i < out->n_want; i++)
        if (out->want[i] == p->rank_device)
            out->rank_row = i;
    for (int32_t i = 0; i < out->core.row[out->n_want]; i++)
        is_used[out->core.cpu[i]] = 1;
    for (int32_t i = 0; i < out->n_kept; i++)
        is_used[out->kept[i]] = 1;
    for (int32_t i = 0; i < p->facts->n_cpu; i++)
        out->n_idle += !is_used[p->facts->cpu[i]];
    note_findings(p);
    return out->core.strategy == CPUBIND_CLUSTER ? find_spare(p) : CPUBIND_PROBLEM_NONE;
}

/* Refuses a number of threads a core for which no cluster is defined. */
static cpubind_problem_code check_threads(planner *p)
{
    if (p->facts->strategy != CPUBIND_CLUSTER || p->facts->threads == 1 ||
        p->facts->threads == 2)
        return CPUBIND_PROBLEM_NONE;
    return plan_fail(p, CPUBIND_PROBLEM_SKIPPED,
                     p->facts->threads == 0
                         ? "the number of threads a core is not known"
                         : "clusters are known for 1 or 2 threads a core only");
}

/* Refuses a plan that needs the cores, the distances or the sockets, when an input of them
 * could not be read: other processes of the host may have read it. Where there is no such
 * input, the plan says so: other processes may have it. */
static cpubind_problem_code check_topology(planner *p)
{
    const cpubind_request *q = p->request;
    const cpubind_facts *f = p->facts;
    const int is_near = p->policy.strategy == CPUBIND_NEAR;
    const int keeps = q->keep_each > 0 || q->keep;
    const int needs_cores =
        is_near || keeps || (f->rules == CPUBIND_RULES_NEAR && q->n_process > 1);
    if (f->topology.code != CPUBIND_PROBLEM_NONE && needs_cores) {
        *p->problem = f->topology;
        return p->problem->code;
    }
    if ((needs_cores && !f->core_of) || (keeps && f->has_lone_cores))
        plan_warn(p, CPUBIND_WARNING_NO_CORES);
    if (is_near && !f->distance && f->n_node > 1)
        plan_warn(p, CPUBIND_WARNING_NO_DISTANCES);
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code plan_with(planner *p, cpubind_scope scope)
{
    const cpubind_facts *f = p->facts;
    cpubind_problem_code code;
    memset(p->out, 0, sizeof *p->out);
    p->scope = scope;
    p->n_ours = 0;
    p->product = cpubind_product_of(f->type);
    p->out->warnings = f->warnings;
    p->out->total = f->n_device + f->n_unknown;
    choose_policy(p);
    code = check_topology(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_choose_host(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_choose_ours(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_choose_rank(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = check_threads(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_choose_candidates(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_copy_affinity(p);
    if (code == CPUBIND_PROBLEM_NONE && scope == CPUBIND_SCOPE_PER_DEVICE)
        code = cpubind_priv_copy_device_allowed(p);
    if (code == CPUBIND_PROBLEM_NONE && f->strategy == CPUBIND_GLOBAL_SLICE)
        code = cpubind_priv_choose_slots(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cut_pools(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = check_order(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = order_rows(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_place_rows(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = finish(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_measure_pools(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_find_others(p);
    if (code == CPUBIND_PROBLEM_NONE &&
        !cpubind_plan_units(f, p->request, p->problem, p->arena, p->out))
        code = plan_fail_memory(p);
    return code == CPUBIND_PROBLEM_NONE ? cpubind_priv_check_locality(p) : code;
}

/* Whether CPUs are wanting, which another scope may have. */
static int is_want_of_cpus(cpubind_problem_code code)
{
    return code == CPUBIND_PROBLEM_TOO_FEW_CPUS || code == CPUBIND_PROBLEM_NO_LOCAL_CPUS;
}

/* Finds a scope with which there is a plan, for the message of a refusal. */
static cpubind_problem_code find_scope(const planner *p, cpubind_scope refused)
{
    cpubind_device_plan tried;
    planner q = *p;
    static const cpubind_scope others[] = {CPUBIND_SCOPE_OWN, CPUBIND_SCOPE_HOST};
    const cpubind_problem refusal = *p->problem;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        cpubind_problem_code code;
        if (others[i] == refused)
            continue;
        cpubind_problem_clear(p->problem);
        q.out = &tried;
        code = plan_with(&q, others[i]);
        if (code == CPUBIND_PROBLEM_NO_MEMORY)
            return code;
        *p->problem = refusal;
        if (code == CPUBIND_PROBLEM_NONE) {
            p->problem->would_do = others[i];
            break;
        }
    }
    return refusal.code;
}

cpubind_problem_code cpubind_plan_make(const cpubind_facts *facts,
                                       const cpubind_request *request, cpubind_arena *arena,
                                       cpubind_device_plan *out, cpubind_problem *problem)
{
    planner p;
    cpubind_problem_code code;
    memset(&p, 0, sizeof p);
    p.facts = facts;
    p.request = request;
    p.arena = arena;
    p.out = out;
    p.problem = problem;
    code = plan_with(&p, facts->scope);
    return is_want_of_cpus(code) && problem->uncut == 0 &&
                   facts->scope != CPUBIND_SCOPE_PER_DEVICE
               ? find_scope(&p, facts->scope)
               : code;
}
