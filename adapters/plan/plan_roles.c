/* plan_roles.c - the roles of each pool, how good the pools are, and what to warn of
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The pools are cut already; this file changes none of them.
 */
#include "plan_parts.h"

/* == Roles and memory ======================================================= */

/* Whether a node is in the place of a device: a node with a CPU of its home, else its own. */
static int is_in_place(const planner *p, int32_t device, int32_t node)
{
    const cpubind_topology *host = &p->out->host;
    const cpubind_candidate *one = &p->out->candidate[device];
    int32_t at = 0, n_home = 0;
    for (int32_t i = 0; i < one->near_cpus.n; i++) {
        if (!cpubind_list_has(host->cpu, host->n_cpu, one->near_cpus.cpu[i], &at))
            continue;
        if (host->node[at] == node)
            return 1;
        n_home++;
    }
    return n_home == 0 && one->node == node;
}

/* The node for the memory of a row: the nearest that has memory to that of the first CPU of the
 * pool by the reference; by the rules near to the node with most CPUs of the pool, of the place
 * of its device if there are any, the first of several. */
static int32_t find_memory_node(const planner *p, int32_t row, int32_t device)
{
    const cpubind_facts *f = p->facts;
    const int32_t *pool = p->out->core.cpu + p->out->core.row[row];
    const int32_t n = p->out->core.row[row + 1] - p->out->core.row[row];
    int32_t best = -1, best_n = 0, best_is_near = 0;
    if (n > 0 && f->rules == CPUBIND_RULES_REFERENCE)
        return cpubind_facts_memory_node(f, f->node_of[pool[0]]);
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
    return cpubind_facts_memory_node(f, best);
}

/* A pool whose roles are asked for. */
typedef struct placing {
    const int32_t *cpu; /* ascending */
    int32_t n, candidate, n_process, process;
    int32_t *out; /* in: room for n. out: CPUs, role after role; inside a role they ascend */
    int32_t n_out;
    cpubind_role_spans spans; /* out: of `out` */
} placing;

static const cpubind_role_spec *spec_of(const planner *p, int32_t candidate)
{
    return plan_is_other(p, candidate) ? &p->out->other_roles : &p->out->roles;
}

/* The roles of a candidate for the core, for one of n_process processes: what is cut off main
 * is main to it. */
static cpubind_roles roles_of(const planner *p, int32_t candidate, int32_t n_process,
                              int32_t process)
{
    cpubind_roles roles = {.n_process = n_process,
                           .process = process,
                           .by_id = p->facts->rules != CPUBIND_RULES_NEAR};
    const cpubind_role_spec *spec = spec_of(p, candidate);
    memcpy(roles.count, spec->count, sizeof roles.count);
    roles.count[CPUBIND_ROLE_MAIN] += spec->count[CPUBIND_ROLE_TRANSFER];
    return roles;
}

/* == Cores of main for other roles ========================================== */

/* A pool whose main is cut. Arrays by index in the host. */
typedef struct cutting {
    const cpubind_host *host;
    const int32_t *owner;
    int32_t device; /* of the core: who has the pool */
    int32_t *role;
    const int32_t *kind; /* by CPU id; NULL: all are of one */
    int32_t *is_near;
    int32_t *is_taken; /* by the first CPU of a core: other roles have some of it */
    int32_t by_id;     /* each CPU counts as a core, all as near */
} cutting;

static int32_t core_at(const cutting *c, int32_t i)
{
    return c->by_id || !c->host->core ? i : c->host->core[i];
}

/* Whether a CPU is one of main. */
static int is_main(const cutting *c, int32_t i)
{
    return c->owner[i] == c->device && c->role[i] == CPUBIND_ROLE_MAIN;
}

/* The CPU of main that a role takes next: on a core that no other role has, then near the
 * device, then of the fastest kind, then the last. Main has one. */
static int32_t choose_next(const cutting *c)
{
    int32_t best = 0, best_worth[3] = {-1, -1, -1};
    memset(c->is_taken, 0, (size_t)c->host->n_cpu * sizeof *c->is_taken);
    for (int32_t i = 0; i < c->host->n_cpu; i++)
        c->is_taken[core_at(c, i)] |= c->owner[i] == c->device && !is_main(c, i);
    for (int32_t i = c->host->n_cpu - 1; i >= 0; i--) {
        const int32_t worth[3] = {!c->is_taken[core_at(c, i)], c->is_near[i],
                                  c->kind ? c->kind[c->host->cpu[i]] : 0};
        int32_t k = 0;
        while (k < 3 && worth[k] == best_worth[k])
            k++;
        if (k == 3 || worth[k] < best_worth[k] || !is_main(c, i))
            continue;
        best = i;
        memcpy(best_worth, worth, sizeof worth);
    }
    return best;
}

/* Gives a role n CPUs of main, core by core, and the rest of the last core where main keeps
 * enough. Main has more than n. */
static void cut_main(const cutting *c, cpubind_role role, int32_t n, int32_t keeps)
{
    int32_t n_main = 0;
    for (int32_t i = 0; i < c->host->n_cpu; i++)
        n_main += is_main(c, i);
    while (n > 0) {
        const int32_t core = core_at(c, choose_next(c));
        int32_t n_take = 0;
        for (int32_t i = 0; i < c->host->n_cpu; i++)
            n_take += is_main(c, i) && core_at(c, i) == core;
        if (n_take > n && n_main - n_take < keeps)
            n_take = n;
        n -= n_take;
        n_main -= n_take;
        for (int32_t i = c->host->n_cpu - 1; n_take > 0; i--)
            if (is_main(c, i) && core_at(c, i) == core) {
                c->role[i] = role;
                n_take--;
            }
    }
}

/* Gives the roles of one thread cores of the fastest kind near the device, where main and they
 * have several kinds there. */
static void choose_fast(const cutting *c, const cpubind_role_spec *spec, int32_t keeps)
{
    int32_t least = INT32_MAX, most = -1;
    for (int32_t i = 0; c->kind && i < c->host->n_cpu; i++) {
        if (c->owner[i] != c->device || c->role[i] < CPUBIND_ROLE_MAIN || !c->is_near[i])
            continue;
        least = c->kind[c->host->cpu[i]] < least ? c->kind[c->host->cpu[i]] : least;
        most = c->kind[c->host->cpu[i]] > most ? c->kind[c->host->cpu[i]] : most;
    }
    if (least >= most)
        return;
    for (int32_t i = 0; i < c->host->n_cpu; i++)
        if (c->owner[i] == c->device && c->role[i] > CPUBIND_ROLE_MAIN)
            c->role[i] = CPUBIND_ROLE_MAIN;
    for (cpubind_role role = CPUBIND_ROLE_ACL; role <= CPUBIND_ROLE_RELEASE; role++)
        cut_main(c, role, spec->count[role], keeps);
}

/* Cuts off main what the core does not know: fast cores, and transfer, which leaves those to
 * main. Returns 0 when the arena is full. */
static int cut_roles(const planner *p, const placing *q, const int32_t *owner, int32_t *role)
{
    const cpubind_host *host = &p->out->claims.host;
    const cpubind_role_spec *spec = spec_of(p, q->candidate);
    const int32_t n = spec->count[CPUBIND_ROLE_TRANSFER];
    const int32_t least = spec->count[CPUBIND_ROLE_MAIN];
    const int32_t keeps = least > CPUBIND_MAIN_KEEPS ? least : CPUBIND_MAIN_KEEPS;
    cutting c = {.host = host,
                 .owner = owner,
                 .device = p->out->claims.of[q->candidate],
                 .role = role,
                 .by_id = p->facts->rules != CPUBIND_RULES_NEAR};
    c.kind = c.by_id ? NULL : p->facts->kind_of;
    if (!c.kind && n == 0)
        return 1;
    c.is_near = cpubind_arena_ints(p->arena, host->n_cpu);
    c.is_taken = cpubind_arena_ints(p->arena, host->n_cpu);
    if (!c.is_near || !c.is_taken)
        return 0;
    for (int32_t i = 0; i < host->n_cpu; i++)
        c.is_near[i] =
            owner[i] == c.device &&
            (c.by_id || is_in_place(p, q->candidate, p->facts->node_of[host->cpu[i]]));
    choose_fast(&c, spec, keeps + n);
    c.kind = NULL;
    cut_main(&c, CPUBIND_ROLE_TRANSFER, n, keeps);
    return 1;
}

/* Writes what role[] says of the CPUs of the pool. */
static void list_roles(const cpubind_host *host, const int32_t *owner, const int32_t *role,
                       placing *q)
{
    q->n_out = 0;
    for (int32_t k = 0; k < CPUBIND_ALL_ROLES; k++) {
        q->spans.span[k].first = q->n_out;
        for (int32_t i = 0; i < host->n_cpu; i++)
            if (owner[i] >= 0 && role[i] == k)
                q->out[q->n_out++] = host->cpu[i];
        q->spans.span[k].count = q->n_out - q->spans.span[k].first;
    }
}

/* Asks the core for the roles of a pool. */
static cpubind_problem_code place(planner *p, placing *q)
{
    const cpubind_core_call *claims = &p->out->claims;
    const cpubind_host *host = &claims->host;
    const cpubind_roles roles = roles_of(p, q->candidate, q->n_process, q->process);
    const size_t used = p->arena->used;
    const int32_t d = claims->of[q->candidate];
    int32_t *owner = cpubind_arena_ints(p->arena, host->n_cpu);
    int32_t *role = cpubind_arena_ints(p->arena, host->n_cpu);
    int32_t *work = cpubind_arena_ints(
        p->arena, CPUBIND_WORK(host->n_cpu, host->n_node, claims->n_claimant));
    cpubind_status status;
    cpubind_report r;
    int32_t at = 0;
    if (!owner || !role || !work)
        return plan_fail_memory(p);
    for (int32_t i = 0; i < host->n_cpu; i++)
        owner[i] = cpubind_list_has(q->cpu, q->n, host->cpu[i], &at) ? d : CPUBIND_NONE;
    status = cpubind_place(host, claims->claimant, claims->n_claimant, owner, d, &roles, role,
                           work, &r);
    if (status == CPUBIND_OK && !cut_roles(p, q, owner, role))
        return plan_fail_memory(p);
    if (status == CPUBIND_OK)
        list_roles(host, owner, role, q);
    p->arena->used = used;
    if (status == CPUBIND_OK)
        return CPUBIND_PROBLEM_NONE;
    p->problem->need = r.need;
    p->problem->have = r.have;
    return plan_fail(p,
                     status == CPUBIND_ERR_TOO_FEW ? CPUBIND_PROBLEM_TOO_FEW_CPUS
                                                   : CPUBIND_PROBLEM_UNREADABLE,
                     status == CPUBIND_ERR_TOO_FEW ? "fewer CPUs than the roles need"
                                                   : cpubind_status_text(status));
}

int32_t cpubind_plan_memory_node(const cpubind_facts *facts, const cpubind_device_plan *plan,
                                 int32_t row)
{
    const int is_listed = cpubind_is_listed(facts->device[plan->want[row]]);
    return is_listed || facts->has_nodes ? plan->memory_node[row] : -1;
}

cpubind_problem_code cpubind_priv_place_rows(planner *p)
{
    cpubind_device_plan *out = p->out;
    const int32_t n = out->n_want;
    out->role_cpu = cpubind_arena_ints(p->arena, out->core.row[n]);
    out->role_row = cpubind_arena_ints(p->arena, n + 1);
    out->memory_node = cpubind_arena_ints(p->arena, n);
    out->role_span =
        (cpubind_role_spans *)cpubind_arena_take(p->arena, n, sizeof *out->role_span);
    if (!out->role_cpu || !out->role_row || !out->memory_node || !out->role_span)
        return plan_fail_memory(p);
    out->role_row[0] = 0;
    for (int32_t i = 0; i < n; i++) {
        placing q = {.cpu = out->core.cpu + out->core.row[i],
                     .n = out->core.row[i + 1] - out->core.row[i],
                     .candidate = out->of_device[out->want[i]],
                     .n_process = p->request->n_process,
                     .process = p->request->n_process > 0 ? p->request->process : 0,
                     .out = out->role_cpu + out->role_row[i]};
        if (place(p, &q) != CPUBIND_PROBLEM_NONE) {
            p->problem->device = p->facts->device[out->want[i]]->logic;
            return p->problem->code;
        }
        out->role_row[i + 1] = out->role_row[i] + q.n_out;
        out->role_span[i] = q.spans;
        out->memory_node[i] = find_memory_node(p, i, q.candidate);
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
    planner p = {.facts = facts, .arena = arena, .out = &copy, .problem = problem};
    placing q = {.cpu = plan->core.cpu + plan->core.row[row],
                 .n = plan->core.row[row + 1] - plan->core.row[row],
                 .candidate = plan->of_device[plan->want[row]],
                 .n_process = n_process,
                 .process = process};
    q.out = cpubind_arena_ints(arena, q.n);
    if (!q.out)
        return plan_fail_memory(&p);
    if (place(&p, &q) != CPUBIND_PROBLEM_NONE) {
        problem->device = facts->device[plan->want[row]]->logic;
        return problem->code;
    }
    out->cpu = q.out;
    out->n = q.n_out;
    out->roles = q.spans;
    return CPUBIND_PROBLEM_NONE;
}

/* == Quality ================================================================ */

/* Who has each online CPU, and as what: rows as they are, cut to the allowed CPUs, others as
 * the core has cut them. A pool that is too small for the roles is none: its process is
 * refused. */
typedef struct measured {
    int32_t *owner, *role, *work;
} measured;

static void take_row(const planner *p, const measured *m, int32_t row)
{
    const cpubind_host *host = &p->out->claims.host;
    const cpubind_device_plan *out = p->out;
    const cpubind_span irq = out->role_span[row].span[CPUBIND_ROLE_IRQ];
    const int32_t *first = out->role_cpu + out->role_row[row] + irq.first;
    const int32_t d = out->claims.of[out->of_device[out->want[row]]];
    int32_t at = 0, irq_at = 0;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        if (!cpubind_list_has(out->core.cpu + out->core.row[row],
                              out->core.row[row + 1] - out->core.row[row], host->cpu[i], &at))
            continue;
        m->owner[i] = d;
        m->role[i] = cpubind_list_has(first, irq.count, host->cpu[i], &irq_at)
                         ? CPUBIND_ROLE_IRQ
                         : CPUBIND_ROLE_MAIN;
    }
}

/* Gives the CPUs of a candidate without a row their roles, or takes them away. */
static void take_other(const planner *p, const measured *m, int32_t candidate)
{
    const cpubind_core_call *claims = &p->out->claims;
    const cpubind_roles roles = roles_of(p, candidate, 1, 0);
    const int32_t d = claims->of[candidate];
    const int32_t device = p->out->candidate[candidate].device;
    const int is_ours = device >= 0 && plan_is_ours(p, device) &&
                        !p->facts->device[device]->is_part; /* its card has other parts */
    if (!is_ours && cpubind_place(&claims->host, claims->claimant, claims->n_claimant, m->owner,
                                  d, &roles, m->role, m->work, NULL) == CPUBIND_OK)
        return;
    for (int32_t i = 0; i < claims->host.n_cpu; i++)
        m->owner[i] = m->owner[i] == d ? CPUBIND_NONE : m->owner[i];
}

/* How many cores have CPUs in the pools of several rows. */
static int32_t count_split(const planner *p, int32_t *row_of)
{
    const cpubind_host *host = &p->out->claims.host;
    int32_t n = 0;
    for (int32_t i = 0; i < host->n_cpu; i++)
        row_of[i] = -1;
    for (int32_t row = 0; row < p->out->n_want; row++)
        for (int32_t i = 0, at = 0; i < host->n_cpu; i++) {
            const int32_t core = host->core ? host->core[i] : i;
            if (!cpubind_list_has(p->out->core.cpu + p->out->core.row[row],
                                  p->out->core.row[row + 1] - p->out->core.row[row],
                                  host->cpu[i], &at) ||
                row_of[core] == row || row_of[core] == -2)
                continue;
            n += row_of[core] >= 0;
            row_of[core] = row_of[core] >= 0 ? -2 : row;
        }
    return n;
}

/* Where CPUs are in several pools, what can be counted is counted of each row alone. Pools that
 * are shared cut nothing. */
static void add_kept(const planner *p, const measured *m, cpubind_quality *each)
{
    const cpubind_core_call *claims = &p->out->claims;
    cpubind_quality *total = &p->out->quality, alone;
    total->pools = total->cpus = total->near_cpus = total->far_cpus = total->irq_off = 0;
    total->smallest = total->largest = total->nodes = total->idle = 0;
    const int is_shared = p->out->core.overlap == CPUBIND_FOUND_SHARED;
    total->split_cores = is_shared ? 0 : count_split(p, m->owner);
    total->split_caches = is_shared ? 0 : total->split_caches;
    for (int32_t i = 0; i < p->out->host.n_cpu; i++) {
        int is_used = is_shared && p->out->step[i] != CPUBIND_STEP_IDLE;
        for (int32_t k = 0; k < p->out->core.row[p->out->n_want] && !is_used; k++)
            is_used = p->out->core.cpu[k] == p->out->host.cpu[i];
        total->idle += !is_used;
    }
    for (int32_t row = 0; row < p->out->n_want; row++) {
        for (int32_t i = 0; i < claims->host.n_cpu; i++)
            m->owner[i] = CPUBIND_NONE;
        take_row(p, m, row);
        cpubind_measure(&claims->host, claims->claimant, claims->n_claimant, m->owner, m->role,
                        &alone, NULL, m->work);
        each[claims->of[p->out->of_device[p->out->want[row]]]] = alone;
        total->pools += alone.pools;
        total->cpus += alone.cpus;
        total->near_cpus += alone.near_cpus;
        total->far_cpus += alone.far_cpus;
        total->irq_off += alone.irq_off;
        total->smallest =
            row == 0 || alone.smallest < total->smallest ? alone.smallest : total->smallest;
        total->largest = alone.largest > total->largest ? alone.largest : total->largest;
        total->nodes = alone.nodes > total->nodes ? alone.nodes : total->nodes;
    }
}

/* Warns of devices that have no near CPU by the reference, although near CPUs are known. */
static cpubind_problem_code list_poor(planner *p)
{
    cpubind_device_plan *out = p->out;
    if (out->core.strategy == CPUBIND_CLUSTER || p->facts->rules == CPUBIND_RULES_NEAR ||
        p->facts->topology.code != CPUBIND_PROBLEM_NONE) /* near is refused */
        return CPUBIND_PROBLEM_NONE;
    out->poor = cpubind_arena_ints(p->arena, out->n_want);
    if (!out->poor)
        return plan_fail_memory(p);
    for (int32_t i = 0; i < out->n_want; i++) {
        const int32_t d = out->of_device[out->want[i]];
        if (out->row_quality[i].cpus > 0 && out->row_quality[i].near_cpus == 0 &&
            out->claims.claimant[out->claims.of[d]].home.n > 0)
            out->poor[out->n_poor++] = out->want[i];
    }
    if (out->n_poor > 0)
        plan_warn(p, CPUBIND_WARNING_POOR_LOCALITY);
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_priv_measure_pools(planner *p)
{
    cpubind_device_plan *out = p->out;
    const cpubind_core_call *claims = &out->claims;
    const int32_t n = claims->host.n_cpu;
    const measured m = {
        cpubind_arena_ints(p->arena, n), cpubind_arena_ints(p->arena, n),
        cpubind_arena_ints(p->arena, CPUBIND_WORK(n, claims->host.n_node, claims->n_claimant))};
    cpubind_quality *each =
        (cpubind_quality *)cpubind_arena_take(p->arena, claims->n_claimant, sizeof *each);
    out->row_quality =
        (cpubind_quality *)cpubind_arena_take(p->arena, out->n_want, sizeof *out->row_quality);
    if (!m.owner || !m.role || !m.work || !each || !out->row_quality)
        return plan_fail_memory(p);
    for (int32_t i = 0; i < n; i++) {
        m.owner[i] = CPUBIND_NONE;
        m.role[i] = CPUBIND_ROLE_MAIN;
    }
    for (int32_t i = 0; i < out->host.n_cpu; i++)
        if (out->owner[i] >= 0)
            m.owner[claims->at[i]] = claims->of[out->owner[i]];
    for (int32_t i = 0; i < out->n_candidate; i++)
        take_other(p, &m, i);
    for (int32_t row = 0; row < out->n_want; row++)
        take_row(p, &m, row);
    cpubind_measure(&claims->host, claims->claimant, claims->n_claimant, m.owner, m.role,
                    &out->quality, each, m.work);
    for (int32_t i = 0; i < out->host.n_cpu; i++) /* of what is no device in view */
        out->quality.idle -= out->owner[i] < 0 && out->step[i] != CPUBIND_STEP_IDLE;
    if (out->core.overlap == CPUBIND_FOUND_SHARED ||
        (p->policy.overlap == CPUBIND_OVERLAP_KEEP && p->policy.rule != CPUBIND_RULE_TURNS))
        add_kept(p, &m, each);
    for (int32_t i = 0; i < out->n_want; i++)
        out->row_quality[i] = each[claims->of[out->of_device[out->want[i]]]];
    return list_poor(p);
}
