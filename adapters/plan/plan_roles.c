/* plan_roles.c - the roles of each pool, how good the pools are, and what to warn of
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The pools are cut already; this file changes none of them.
 */
#include "plan_parts.h"

/* == Roles and memory ======================================================= */

/* The device of the core that one in view is. */
static int32_t device_of(const planner *p, int32_t viewed)
{
    int32_t i = 0;
    while (p->out->candidate[i].device != viewed)
        i++;
    return i;
}

/* Whether a node is in the place of a device: a node with a CPU of its home, else its own. */
static int is_in_place(const planner *p, int32_t device, int32_t node)
{
    const cpubind_host *host = &p->out->host;
    const cpubind_lists *affinity = &p->out->devices.affinity;
    const int32_t *home = affinity->cpu + affinity->row[device];
    const int32_t n = affinity->row[device + 1] - affinity->row[device];
    int32_t at = 0, n_home = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!cpubind_list_has(host->cpu, host->n_cpu, home[i], &at))
            continue;
        if (host->node[at] == node)
            return 1;
        n_home++;
    }
    return n_home == 0 && p->out->devices.node && p->out->devices.node[device] == node;
}

/* The node for the memory of a row. By the reference that of the first CPU of the pool; by the
 * rules near the node with most CPUs of the pool, of the place of its device if there are any,
 * the first of several. */
static int32_t find_memory_node(const planner *p, int32_t row, int32_t device)
{
    const cpubind_facts *f = p->facts;
    const int32_t *pool = p->out->core.cpu + p->out->core.row[row];
    const int32_t n = p->out->core.row[row + 1] - p->out->core.row[row];
    int32_t best = -1, best_n = 0, best_is_near = 0;
    if (n > 0 && f->rules == CPUBIND_RULES_REFERENCE)
        return f->node_of[pool[0]];
    for (int32_t i = 0; i < f->n_node; i++) {
        int32_t n_on = 0, is_near;
        for (int32_t k = 0; k < n; k++)
            n_on += f->node_of[pool[k]] == f->node_id[i];
        is_near = n_on > 0 && is_in_place(p, device, f->node_id[i]);
        if (is_near < best_is_near || (is_near == best_is_near && n_on <= best_n))
            continue;
        best = f->node_id[i];
        best_n = n_on;
        best_is_near = is_near;
    }
    return best;
}

/* Asks the core for the roles of a pool. */
static cpubind_problem_code place(planner *p, cpubind_placing *placing)
{
    cpubind_fault fault;
    cpubind_status status;
    placing->is_near = p->facts->rules == CPUBIND_RULES_NEAR;
    placing->roles = plan_is_other(p, placing->device) ? p->out->other_roles : p->out->roles;
    placing->cap_work = CPUBIND_PLACE_WORK(placing->n_cpu, p->out->host.n_node);
    placing->work = cpubind_arena_ints(p->arena, placing->cap_work);
    if (!placing->work)
        return plan_fail_memory(p);
    status = cpubind_place_roles(&p->out->host, &p->out->devices, placing, &fault);
    if (status == CPUBIND_OK)
        return CPUBIND_PROBLEM_NONE;
    p->problem->need = fault.need;
    p->problem->have = fault.have;
    p->problem->cpu = fault.cpu;
    return plan_fail(p,
                     status == CPUBIND_ERR_TOO_FEW ? CPUBIND_PROBLEM_TOO_FEW_CPUS
                                                   : CPUBIND_PROBLEM_UNREADABLE,
                     cpubind_status_text(status));
}

int32_t cpubind_plan_memory_node(const cpubind_facts *facts, const cpubind_device_plan *plan,
                                 int32_t row)
{
    const int is_listed = facts->device[plan->want[row]].bus < 0;
    return is_listed || facts->has_nodes ? plan->memory_node[row] : -1;
}

cpubind_problem_code cpubind_priv_place_rows(planner *p)
{
    cpubind_device_plan *out = p->out;
    const int32_t n = out->n_want;
    out->role_cpu = cpubind_arena_ints(p->arena, out->core.row[n]);
    out->role_row = cpubind_arena_ints(p->arena, n + 1);
    out->memory_node = cpubind_arena_ints(p->arena, n);
    out->role_span = (cpubind_roles *)cpubind_arena_take(p->arena, n, sizeof *out->role_span);
    if (!out->role_cpu || !out->role_row || !out->memory_node || !out->role_span)
        return plan_fail_memory(p);
    out->role_row[0] = 0;
    for (int32_t i = 0; i < n; i++) {
        const size_t used = p->arena->used;
        cpubind_placing placing;
        memset(&placing, 0, sizeof placing);
        placing.cpu = out->core.cpu + out->core.row[i];
        placing.n_cpu = out->core.row[i + 1] - out->core.row[i];
        placing.device = device_of(p, out->want[i]);
        placing.n_process = p->request->n_process;
        placing.process = p->request->process;
        placing.out_cpu = out->role_cpu + out->role_row[i];
        placing.is_checked = i > 0; /* the first row has checked the host for all */
        if (place(p, &placing) != CPUBIND_PROBLEM_NONE) {
            p->problem->device = p->facts->device[out->want[i]].logic;
            return p->problem->code;
        }
        out->role_row[i + 1] = out->role_row[i] + placing.n_out;
        out->role_span[i] = placing.out_roles;
        out->memory_node[i] = find_memory_node(p, i, placing.device);
        p->arena->used = used;
    }
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_plan_place_process(const cpubind_facts *facts,
                                                const cpubind_device_plan *plan, int32_t row,
                                                int32_t n_process, int32_t process,
                                                cpubind_arena *arena, cpubind_part *out,
                                                cpubind_problem *problem)
{
    cpubind_device_plan copy = *plan;
    planner p;
    cpubind_placing placing;
    memset(&p, 0, sizeof p);
    memset(&placing, 0, sizeof placing);
    p.facts = facts;
    p.arena = arena;
    p.out = &copy;
    p.problem = problem;
    placing.cpu = plan->core.cpu + plan->core.row[row];
    placing.n_cpu = plan->core.row[row + 1] - plan->core.row[row];
    placing.device = device_of(&p, plan->want[row]);
    placing.n_process = n_process;
    placing.process = process;
    placing.out_cpu = cpubind_arena_ints(arena, placing.n_cpu);
    if (!placing.out_cpu)
        return plan_fail_memory(&p);
    if (place(&p, &placing) != CPUBIND_PROBLEM_NONE) {
        problem->device = facts->device[plan->want[row]].logic;
        return problem->code;
    }
    out->cpu = placing.out_cpu;
    out->n = placing.n_out;
    out->roles = placing.out_roles;
    return CPUBIND_PROBLEM_NONE;
}

/* == Quality ================================================================ */

/* The pools of all devices, as cpubind_measure takes them: the IRQ CPUs first. */
typedef struct pool_lists {
    int32_t *cpu, *row; /* lists by device */
    int32_t *owned;     /* CPUs that the trace gives to the devices, list after list ... */
    int32_t *first;     /* ... and where the list of each device starts; one more */
} pool_lists;

/* Lists the CPUs of each device by the trace of the core. With KEEP, which gives CPUs to
 * several devices, the lists are empty. */
static cpubind_problem_code list_owned(planner *p, pool_lists *lists)
{
    const cpubind_host *host = &p->out->host;
    const int32_t *owner = p->out->trace.owner;
    const int32_t n = p->out->n_candidate;
    const int is_kept = p->policy.overlap == CPUBIND_OVERLAP_KEEP;
    lists->owned = cpubind_arena_ints(p->arena, host->n_cpu);
    lists->first = cpubind_arena_ints(p->arena, n + 2);
    if (!lists->owned || !lists->first)
        return plan_fail_memory(p);
    memset(lists->first, 0, (size_t)(n + 2) * sizeof *lists->first);
    for (int32_t i = 0; i < host->n_cpu && !is_kept; i++)
        if (owner[i] >= 0)
            lists->first[owner[i] + 2]++;
    for (int32_t i = 0; i < n; i++)
        lists->first[i + 2] += lists->first[i + 1];
    for (int32_t i = 0; i < host->n_cpu && !is_kept; i++)
        if (owner[i] >= 0)
            lists->owned[lists->first[owner[i] + 1]++] = host->cpu[i];
    return CPUBIND_PROBLEM_NONE;
}

/* Copies a pool with its IRQ CPUs first; returns the end of the copy. */
static int32_t *copy_pool(int32_t *to, const int32_t *pool, int32_t n, const int32_t *irq,
                          int32_t n_irq)
{
    for (int32_t i = 0; i < n_irq; i++)
        *to++ = irq[i];
    for (int32_t i = 0; i < n; i++) {
        int32_t k = 0;
        while (k < n_irq && irq[k] != pool[i])
            k++;
        if (k == n_irq)
            *to++ = pool[i];
    }
    return to;
}

/* Copies the pool of a device that this plan has no row for. A pool that is too small for the
 * roles is none: its process is refused. */
static cpubind_problem_code copy_other(planner *p, const pool_lists *lists, int32_t device,
                                       int32_t **to)
{
    const size_t used = p->arena->used;
    const int32_t n_irq = plan_is_other(p, device) ? 0 : p->out->roles.count[CPUBIND_ROLE_IRQ];
    cpubind_placing placing;
    memset(&placing, 0, sizeof placing);
    placing.cpu = lists->owned + lists->first[device];
    placing.n_cpu = lists->first[device + 1] - lists->first[device];
    placing.device = device;
    if (placing.n_cpu < plan_count_roles(&p->policy.roles))
        return CPUBIND_PROBLEM_NONE;
    placing.out_cpu = cpubind_arena_ints(p->arena, placing.n_cpu);
    if (!placing.out_cpu)
        return plan_fail_memory(p);
    if (place(p, &placing) != CPUBIND_PROBLEM_NONE)
        return p->problem->code;
    *to = copy_pool(*to, placing.cpu, placing.n_cpu, placing.out_cpu, n_irq);
    p->arena->used = used;
    return CPUBIND_PROBLEM_NONE;
}

/* Copies the pools of all devices: those of this plan as they are, cut to the allowed CPUs;
 * those of others as the core has cut them. A device in view that was given up has none. */
static cpubind_problem_code copy_pools(planner *p, pool_lists *lists)
{
    const cpubind_device_plan *out = p->out;
    int32_t *to = lists->cpu;
    for (int32_t i = 0; i < out->n_candidate; i++) {
        const int32_t n_irq = plan_is_other(p, i) ? 0 : out->roles.count[CPUBIND_ROLE_IRQ];
        const int32_t viewed = out->candidate[i].device;
        int32_t row = 0, is_poolless = 0;
        lists->row[i] = (int32_t)(to - lists->cpu);
        while (row < out->n_want && out->want[row] != viewed)
            row++;
        for (int32_t k = 0; k < out->n_poolless; k++)
            is_poolless |= out->poolless[k].device == viewed;
        if (row < out->n_want)
            to = copy_pool(to, out->core.cpu + out->core.row[row],
                           out->core.row[row + 1] - out->core.row[row],
                           out->role_cpu + out->role_row[row], n_irq);
        else if (!is_poolless && copy_other(p, lists, i, &to) != CPUBIND_PROBLEM_NONE)
            return p->problem->code;
    }
    lists->row[out->n_candidate] = (int32_t)(to - lists->cpu);
    return CPUBIND_PROBLEM_NONE;
}

/* The CPUs of slices of devices that are not in view are not idle. */
static int32_t count_hidden_slices(const planner *p)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->out->host.n_cpu; i++)
        n += p->out->trace.owner[i] < 0 && p->out->trace.step[i] == CPUBIND_STEP_SLICE;
    return n;
}

cpubind_problem_code cpubind_priv_measure_pools(planner *p)
{
    cpubind_device_plan *out = p->out;
    const cpubind_host *host = &out->host;
    const int32_t n = out->n_candidate;
    size_t used;
    int32_t *work;
    cpubind_quality *each;
    pool_lists lists = {NULL, NULL, NULL, NULL};
    cpubind_problem_code code;
    out->row_quality =
        (cpubind_quality *)cpubind_arena_take(p->arena, out->n_want, sizeof *out->row_quality);
    used = p->arena->used;
    code = out->row_quality ? list_owned(p, &lists) : plan_fail_memory(p);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    lists.cpu = cpubind_arena_ints(p->arena, host->n_cpu + out->core.row[out->n_want]);
    lists.row = cpubind_arena_ints(p->arena, n + 1);
    work = cpubind_arena_ints(p->arena, CPUBIND_MEASURE_WORK(host->n_cpu, host->n_node));
    each = (cpubind_quality *)cpubind_arena_take(p->arena, n, sizeof *each);
    if (!lists.cpu || !lists.row || !work || !each)
        return plan_fail_memory(p);
    code = copy_pools(p, &lists);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (cpubind_measure(host, &out->devices, (cpubind_lists){lists.cpu, lists.row, n},
                        out->roles.count[CPUBIND_ROLE_IRQ], work, &out->quality, each,
                        NULL) != CPUBIND_OK)
        return plan_fail(p, CPUBIND_PROBLEM_UNREADABLE, "the pools could not be measured");
    out->quality.idle -= count_hidden_slices(p);
    for (int32_t i = 0; i < n; i++)
        if (plan_is_other(p, i)) { /* its first CPUs are for no interrupts */
            out->quality.irq_off_node -= each[i].irq_off_node;
            each[i].irq_off_node = 0;
        }
    for (int32_t i = 0; i < out->n_want; i++)
        out->row_quality[i] = each[device_of(p, out->want[i])];
    p->arena->used = used;
    return CPUBIND_PROBLEM_NONE;
}

/* == Warnings =============================================================== */

/* Whether a device has a place, the nodes that are near it. */
static int has_place(const planner *p, int32_t device)
{
    const cpubind_host *host = &p->out->host;
    for (int32_t i = 0; i < host->n_node; i++)
        if (is_in_place(p, device, host->node_id[i]))
            return 1;
    return 0;
}

/* Lists the devices of the plan whose pools have no near CPU although near CPUs are known. */
static int list_far(const planner *p, int32_t *viewed)
{
    const cpubind_device_plan *out = p->out;
    int32_t n = 0;
    for (int32_t i = 0; i < out->n_want; i++)
        if (out->row_quality[i].n_cpu > 0 && out->row_quality[i].near_cpu == 0 &&
            has_place(p, device_of(p, out->want[i])))
            viewed[n++] = out->want[i];
    return n;
}

/* Whether a pool that was cut by the rules near has a near CPU that this process may use. */
static int has_near_cpu(const planner *p, int32_t device, const int32_t *pool, int32_t n)
{
    const cpubind_facts *f = p->facts;
    int32_t at = 0;
    for (int32_t i = 0; i < n; i++)
        if (is_in_place(p, device, f->node_of[pool[i]]) &&
            (p->scope != CPUBIND_SCOPE_HOST ||
             cpubind_list_has(f->cpu, f->n_cpu, pool[i], &at)))
            return 1;
    return 0;
}

/* Asks the core for the pools of `n` devices by the rules near, and lists the devices that have
 * near CPUs there. No plan by these rules is no answer. */
static cpubind_problem_code plan_near(planner *p, const int32_t *device, int32_t n)
{
    cpubind_device_plan *out = p->out;
    cpubind_policy policy = p->policy;
    cpubind_plan plan;
    policy.strategy = CPUBIND_NEAR;
    memset(&plan, 0, sizeof plan);
    plan.want = device;
    plan.n_want = n;
    plan.cap_cpu = out->host.n_cpu;
    plan.cap_work = plan_count_work(p, CPUBIND_NEAR);
    plan.cpu = cpubind_arena_ints(p->arena, plan.cap_cpu);
    plan.row = cpubind_arena_ints(p->arena, n + 1);
    plan.work = cpubind_arena_ints(p->arena, plan.cap_work);
    if (!plan.cpu || !plan.row || !plan.work)
        return plan_fail_memory(p);
    if (cpubind_make_plan(&out->host, &out->devices, &policy, &plan, NULL) != CPUBIND_OK)
        return CPUBIND_PROBLEM_NONE;
    for (int32_t i = 0; i < n; i++)
        if (has_near_cpu(p, device[i], plan.cpu + plan.row[i], plan.row[i + 1] - plan.row[i]))
            out->poor[out->n_poor++] = out->candidate[device[i]].device;
    return CPUBIND_PROBLEM_NONE;
}

/* Warns of devices that have no near CPUs by the reference, and would have some by the rules
 * near. There is no plan by near where an input of the topology cannot be read. */
static cpubind_problem_code check_reference(planner *p)
{
    cpubind_device_plan *out = p->out;
    cpubind_problem_code code;
    size_t used;
    int32_t *device, n = 0, n_far;
    if (p->facts->topology.code != CPUBIND_PROBLEM_NONE)
        return CPUBIND_PROBLEM_NONE;
    out->poor = cpubind_arena_ints(p->arena, out->n_want);
    used = p->arena->used;
    device = cpubind_arena_ints(p->arena, out->n_candidate);
    if (!out->poor || !device)
        return plan_fail_memory(p);
    n_far = list_far(p, out->poor);
    for (int32_t i = 0; i < out->n_candidate && n < n_far; i++)
        for (int32_t k = 0; k < n_far; k++)
            if (out->candidate[i].device == out->poor[k])
                device[n++] = i;
    code = n > 0 ? plan_near(p, device, n) : CPUBIND_PROBLEM_NONE;
    p->arena->used = used;
    for (int32_t i = 1; i < out->n_poor; i++)
        for (int32_t k = i; k > 0 && out->poor[k] < out->poor[k - 1]; k--) {
            const int32_t higher = out->poor[k - 1];
            out->poor[k - 1] = out->poor[k];
            out->poor[k] = higher;
        }
    if (out->n_poor > 0)
        plan_warn(p, CPUBIND_WARNING_POOR_LOCALITY);
    return code;
}

/* Whether a CPU is in the affinity of a device. */
static int is_near_device(const cpubind_lists *affinity, int32_t device, int32_t cpu)
{
    for (int32_t i = affinity->row[device]; i < affinity->row[device + 1]; i++)
        if (affinity->cpu[i] == cpu)
            return 1;
    return 0;
}

/* Warns of CPUs in the home of one device that another got, whose pool was below the
 * minimum. */
static cpubind_problem_code check_near(planner *p)
{
    cpubind_device_plan *out = p->out;
    const cpubind_lists *affinity = &out->devices.affinity;
    out->lent = cpubind_arena_ints(p->arena, out->host.n_cpu);
    if (!out->lent)
        return plan_fail_memory(p);
    for (int32_t i = 0; i < out->host.n_cpu; i++) {
        const int32_t owner = out->trace.owner[i], cpu = out->host.cpu[i];
        int is_home = 0;
        if (out->trace.step[i] != CPUBIND_STEP_LENT || owner < 0 ||
            is_near_device(affinity, owner, cpu))
            continue;
        for (int32_t d = 0; d < affinity->n && !is_home; d++)
            is_home = is_near_device(affinity, d, cpu);
        if (is_home)
            out->lent[out->n_lent++] = cpu;
    }
    if (out->n_lent > 0)
        plan_warn(p, CPUBIND_WARNING_LENT);
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_priv_check_locality(planner *p)
{
    switch (p->policy.strategy) {
    case CPUBIND_TOPO_AFFINITY:
    case CPUBIND_GLOBAL_SLICE:
        return check_reference(p);
    case CPUBIND_NEAR:
        return check_near(p);
    case CPUBIND_CLUSTER:
        break;
    }
    return CPUBIND_PROBLEM_NONE;
}
