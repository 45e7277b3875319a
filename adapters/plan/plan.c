/* plan.c - from the facts of a host to its plan
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The strategy is in the facts already. The rules are those of
 * cpubind.h: the core cuts the pools.
 */
#include "plan_parts.h"

const char *cpubind_step_word(int32_t step)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_STEP_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return step >= 0 && step < CPUBIND_STEP_COUNT ? words[step] : "?";
}

/* The policy for the core. A cluster has the role main alone, whatever the product is; so has a
 * device that is no NPU, and one that shares its pool. The processes of an NPU share its
 * interrupts, and each has the other roles for itself. Where no near CPUs are known the rules
 * near cut slices too, of whole cores; so do lists of each device, since a slice is one of all
 * CPUs. */
static void choose_policy(planner *p)
{
    static const cpubind_role_spec main_only = CPUBIND_ROLES(0, 1, 0, 0);
    static const cpubind_rule rules[] = {[CPUBIND_GLOBAL_SLICE] = CPUBIND_RULE_SLICE,
                                         [CPUBIND_TOPO_AFFINITY] = CPUBIND_RULE_AFFINITY,
                                         [CPUBIND_CLUSTER] = CPUBIND_RULE_CLUSTER,
                                         [CPUBIND_NEAR] = CPUBIND_RULE_TURNS};
    const cpubind_facts *f = p->facts;
    const cpubind_cluster_shape *shape = &p->product->cluster;
    const int is_cluster = f->strategy == CPUBIND_CLUSTER;
    const int is_near = f->rules == CPUBIND_RULES_NEAR && !is_cluster;
    const int is_slice = f->strategy == CPUBIND_GLOBAL_SLICE;
    const int is_main_only = !f->has_listed || p->request->share;
    const int32_t n_process = p->request->n_process > 1 ? p->request->n_process : 1;
    p->out->rules = f->rules;
    p->strategy = is_slice ? CPUBIND_GLOBAL_SLICE : is_near ? CPUBIND_NEAR : f->strategy;
    p->is_blind = is_slice && (is_near || p->scope == CPUBIND_SCOPE_PER_DEVICE);
    p->policy.rule = is_near || p->is_blind ? CPUBIND_RULE_TURNS : rules[f->strategy];
    p->policy.reach =
        p->request->reach == CPUBIND_REACH_CACHE ? CPUBIND_REACH_HOME : p->request->reach;
    p->policy.overlap = p->request->overlap;
    p->out->roles = is_cluster          ? main_only
                    : p->request->roles ? *p->request->roles
                    : is_main_only      ? main_only
                                        : p->product->roles;
    p->out->other_roles = p->request->roles ? *p->request->roles : main_only;
    p->out->roles.count[CPUBIND_ROLE_TRANSFER] = p->request->transfer;
    p->out->other_roles.count[CPUBIND_ROLE_TRANSFER] = p->request->transfer;
    p->least = p->out->roles;
    for (int role = 0; role < CPUBIND_ALL_ROLES; role++) {
        const int32_t times = role == CPUBIND_ROLE_IRQ ? 1 : n_process;
        p->least.count[role] *= times;
        p->other_least += p->out->other_roles.count[role] * times;
    }
    p->policy.cluster = shape->cores * f->threads;
    p->policy.n_spare = is_cluster && f->n_node > 0 && f->node_id[0] == shape->uvb_node;
}

/* Lists the CPUs for the host's UVB polling threads: the CPUs of the UVB node that no cluster
 * has, without those that are kept for the host, and without the CPU that these threads must
 * not have. */
static cpubind_problem_code find_spare(planner *p)
{
    const cpubind_facts *f = p->facts;
    const cpubind_topology *host = &p->out->host;
    int32_t at = 0, i_host = 0;
    p->out->spare = cpubind_arena_ints(p->arena, f->n_cpu);
    if (!p->out->spare)
        return plan_fail_memory(p);
    for (int32_t i = 0; i < f->n_cpu; i++)
        if (f->node_of[f->cpu[i]] == p->product->cluster.uvb_node &&
            f->cpu[i] != p->product->cluster.kept_cpu &&
            !cpubind_list_has(p->out->kept, p->out->n_kept, f->cpu[i], &at) &&
            !(cpubind_list_has(host->cpu, host->n_cpu, f->cpu[i], &i_host) &&
              p->out->owner[i_host] >= 0))
            p->out->spare[p->out->n_spare++] = f->cpu[i];
    if (p->out->n_spare == 0)
        plan_warn(p, CPUBIND_WARNING_NO_SPARE);
    return CPUBIND_PROBLEM_NONE;
}

/* Lists the CPUs in the home of one device that another has, which had too few. */
static cpubind_problem_code find_lent(planner *p)
{
    cpubind_device_plan *out = p->out;
    const int32_t n = out->host.n_cpu;
    out->lent = cpubind_arena_ints(p->arena, n);
    if (!out->lent)
        return plan_fail_memory(p);
    for (int32_t i = 0; i < n; i++) {
        int is_home = 0;
        for (int32_t d = 0; d < out->n_candidate && out->step[i] == CPUBIND_STEP_LENT; d++)
            is_home |= out->stand[d * n + i] == 2;
        if (is_home)
            out->lent[out->n_lent++] = out->host.cpu[i];
    }
    return CPUBIND_PROBLEM_NONE;
}

int32_t cpubind_plan_fast(const cpubind_facts *facts, const int32_t *cpu, int32_t n)
{
    int32_t fast = 0, n_fast = 0;
    for (int32_t i = 0; facts->kind_of && i < facts->n_cpu_id; i++)
        fast = facts->kind_of[i] > fast ? facts->kind_of[i] : fast;
    for (int32_t i = 0; facts->kind_of && i < n; i++)
        n_fast += facts->kind_of[cpu[i]] == fast;
    return n_fast;
}

/* Whether some pool has more CPUs of the fastest cores than another, by more than one core. */
static int are_kinds_uneven(const planner *p)
{
    int32_t least = INT32_MAX, most = 0;
    for (int32_t i = 0; i < p->out->n_want; i++) {
        const int32_t first = p->out->core.row[i];
        const int32_t n = cpubind_plan_fast(p->facts, p->out->core.cpu + first,
                                            p->out->core.row[i + 1] - first);
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    return most - least > 2;
}

static cpubind_problem_code note_findings(planner *p)
{
    const cpubind_pools *core = &p->out->core;
    const cpubind_problem_code code = find_lent(p);
    if (core->overlap == CPUBIND_FOUND_RESOLVED)
        plan_warn(p, CPUBIND_WARNING_RESOLVED);
    if (core->overlap == CPUBIND_FOUND_PRESENT)
        plan_warn(p, CPUBIND_WARNING_OVERLAP);
    if (p->out->n_lent > 0)
        plan_warn(p, CPUBIND_WARNING_LENT);
    if (p->facts->quota > 0 && p->facts->quota < 1000 * core->row[p->out->n_want])
        plan_warn(p, CPUBIND_WARNING_CPU_QUOTA);
    if (are_kinds_uneven(p))
        plan_warn(p, CPUBIND_WARNING_CORE_KINDS);
    if (core->disputed > 0 && p->scope <= CPUBIND_SCOPE_HOST) /* CPUs that others may use */
        plan_warn(p, CPUBIND_WARNING_DISPUTED);
    return code;
}

/* Whether a device without a pool makes the whole plan a refusal: it runs, the request names
 * it, or this process drives it. With allowed CPUs of each device one does not need another. */
static int is_needed(const planner *p, int32_t viewed)
{
    const cpubind_host_device *n = p->facts->device[viewed];
    if (p->scope == CPUBIND_SCOPE_PER_DEVICE)
        return 0;
    return n->is_running || (p->request->device && n->is_named) ||
           (p->request->has_rank && viewed == p->rank_device);
}

/* Takes a device out of the plan, with the reason. Returns 0 when it is needed there, or is the
 * last. */
static int give_up(planner *p, int32_t viewed)
{
    cpubind_poolless *poolless = &p->out->poolless[p->out->n_poolless];
    if (is_needed(p, viewed) || p->out->n_poolless + 1 == p->n_ours)
        return 0;
    poolless->device = viewed;
    poolless->problem = *p->problem;
    p->out->n_poolless++;
    cpubind_problem_clear(p->problem);
    return 1;
}

/* Why nobody has a cluster: the first device on whose node there are too few. */
static cpubind_problem_code fail_clusters(planner *p)
{
    const cpubind_topology *host = &p->out->host;
    const int keeps_spare = p->policy.n_spare && p->policy.overlap != CPUBIND_OVERLAP_RESOLVE;
    for (int32_t d = 0; d < p->out->n_candidate; d++) {
        int32_t node, other, need = 0, have = 0;
        if (cpubind_priv_count_home(p, d, &node) == 0 || node < 0)
            continue;
        for (int32_t e = 0; e < p->out->n_candidate; e++)
            need += cpubind_priv_count_home(p, e, &other) > 0 && other == node
                        ? p->policy.cluster
                        : 0;
        for (int32_t i = 0; i < host->n_cpu; i++)
            have +=
                host->node[i] == node && !(keeps_spare && node == p->product->cluster.uvb_node);
        if (have >= need)
            continue;
        p->problem->device = plan_logic_of(p, d);
        p->problem->need = need;
        p->problem->have = have;
        break;
    }
    return plan_fail(p, CPUBIND_PROBLEM_SKIPPED,
                     "its node has too few whole clusters for the NPUs there");
}

/* Whether a candidate of ours can do with its pool of n CPUs. */
static cpubind_problem_code judge(planner *p, int32_t candidate, int32_t n)
{
    const cpubind_rule rule = p->policy.rule;
    const int is_slice = rule == CPUBIND_RULE_SLICE;
    const int32_t need = plan_least(p, candidate);
    const cpubind_candidate *one = &p->out->candidate[candidate];
    int32_t node = -1;
    p->problem->device = plan_logic_of(p, candidate);
    if ((rule == CPUBIND_RULE_AFFINITY || rule == CPUBIND_RULE_CLUSTER) &&
        cpubind_priv_count_home(p, candidate, &node) == 0)
        return plan_fail(p,
                         rule == CPUBIND_RULE_CLUSTER ? CPUBIND_PROBLEM_SKIPPED
                                                      : CPUBIND_PROBLEM_NO_LOCAL_CPUS,
                         one->near_cpus.n > 0 ? "none of the CPUs near it is allowed"
                                              : "which CPUs are near it is not known");
    if (rule == CPUBIND_RULE_CLUSTER && node < 0)
        return plan_fail(p, CPUBIND_PROBLEM_SKIPPED, "the CPUs near it are on several nodes");
    if (rule == CPUBIND_RULE_CLUSTER && n == 0)
        return fail_clusters(p);
    p->problem->need = need;
    p->problem->have = is_slice ? p->out->host.n_cpu / p->out->claims.n_claimant : n;
    if (p->problem->have < need) {
        p->problem->device = is_slice ? -1 : p->problem->device;
        return plan_fail(p, CPUBIND_PROBLEM_TOO_FEW_CPUS,
                         is_slice
                             ? "a slice for each NPU of the host is too small for the roles"
                             : "its pool is too small for the roles");
    }
    cpubind_problem_clear(p->problem);
    for (int32_t k = 0; k < p->out->n_candidate; k++) {
        const cpubind_candidate *other = &p->out->candidate[k];
        if (other->slot != one->slot || other->device >= one->device ||
            !plan_is_ours(p, other->device))
            continue;
        p->problem->device = plan_logic_of(p, candidate);
        p->problem->other = plan_logic_of(p, k);
        return plan_fail(p, CPUBIND_PROBLEM_OVERLAP, "two NPUs have the same phy id");
    }
    return CPUBIND_PROBLEM_NONE;
}

static int32_t count_pool(const planner *p, int32_t candidate)
{
    return p->pool_row[candidate + 1] - p->pool_row[candidate];
}

/* Leaves of the pool of a card one of its parts, in whole cores, unless some part would be too
 * small for the roles. Returns how many CPUs are left; -1: the arena is full. */
static int32_t cut_part(const planner *p, int32_t candidate, int32_t part, int32_t *cpu,
                        int32_t n)
{
    const cpubind_facts *f = p->facts;
    const int32_t n_part = f->bus[p->out->candidate[candidate].function].n_part;
    int32_t *core = cpubind_arena_ints(p->arena, n), n_core = 0, n_left = 0, first, count;
    if (!core)
        return -1;
    for (int32_t i = 0; i < n; i++) {
        int32_t k = 0;
        while (cpubind_facts_core(f, cpu[k]) != cpubind_facts_core(f, cpu[i]))
            k++;
        core[i] = k < i ? core[k] : n_core++;
    }
    if (n_core == 0 || n_core / n_part * (n / n_core) < plan_least(p, candidate))
        return n;
    cpubind_slice(n_core, n_part, part, &first, &count);
    for (int32_t i = 0; i < n; i++)
        if (core[i] >= first && core[i] < first + count)
            cpu[n_left++] = cpu[i];
    return n_left;
}

/* Writes what the next row has of the pool of its card: of a part its own CPUs, and of these
 * the allowed ones. Processes with other parts may get the same CPUs where the row is of a
 * whole card with parts, where parts are too small, and, but for processes that share a device
 * by themselves, where parts have no functions of their own: how many there are and which of
 * them it is is not known. Those in view are cut apart. Returns 0 when the arena is full. */
static int take_pool(planner *p, int32_t candidate, int32_t *cpu, int32_t *out_n)
{
    const int32_t n = count_pool(p, candidate), row = p->out->n_want;
    const cpubind_host_device *viewed = p->facts->device[p->out->want[row]];
    const cpubind_host_device *card =
        viewed->function < 0 ? NULL : &p->facts->bus[viewed->function];
    const int has_own = plan_has_function(p, viewed);
    int32_t left = n;
    if (n > 0)
        memcpy(cpu, p->pool + p->pool_row[candidate], (size_t)n * sizeof *cpu);
    if (viewed->is_part && viewed->part >= 0 && (has_own || p->request->n_process <= 1))
        left = cut_part(p, candidate, viewed->part, cpu, n);
    p->out->is_shared[row] = !viewed->is_part ? card && card->n_part > 0
                             : has_own        ? left == n
                                              : p->request->n_process <= 1;
    *out_n = left;
    if (left > 0 && p->scope == CPUBIND_SCOPE_HOST) { /* pools are of all online CPUs */
        *out_n = 0;
        for (int32_t i = 0, at = 0; i < left; i++)
            if (cpubind_list_has(p->facts->cpu, p->facts->n_cpu, cpu[i], &at))
                cpu[(*out_n)++] = cpu[i];
    }
    return left >= 0;
}

/* Makes the rows of the plan, in the order of the devices, cut to the allowed CPUs. A device
 * that cannot have a pool is left out, unless it is needed. */
static cpubind_problem_code take_rows(planner *p)
{
    cpubind_device_plan *out = p->out;
    cpubind_pools *core = &out->core;
    int32_t n = 0, room = 0;
    for (int32_t i = 0; i < p->n_ours; i++)
        room += count_pool(p, out->of_device[p->ours[i]]);
    core->cpu = cpubind_arena_ints(p->arena, room);
    core->row = cpubind_arena_ints(p->arena, p->n_ours + 1);
    out->want = cpubind_arena_ints(p->arena, p->n_ours);
    out->poolless =
        (cpubind_poolless *)cpubind_arena_take(p->arena, p->n_ours, sizeof *out->poolless);
    out->is_shared = (uint8_t *)cpubind_arena_take(p->arena, p->n_ours, 1);
    if (!core->cpu || !core->row || !out->want || !out->poolless || !out->is_shared)
        return plan_fail_memory(p);
    core->row[0] = 0;
    for (int32_t i = 0; i < p->n_ours; i++) {
        cpubind_problem_code code;
        const int32_t c = out->of_device[p->ours[i]];
        const int32_t uncut = count_pool(p, c);
        int32_t left;
        out->want[n] = p->ours[i];
        if (!take_pool(p, c, core->cpu + core->row[n], &left))
            return plan_fail_memory(p);
        code = judge(p, c, uncut);
        if (code == CPUBIND_PROBLEM_NONE && left < plan_least(p, c)) {
            p->problem->device = plan_logic_of(p, c);
            p->problem->need = plan_least(p, c);
            p->problem->have = left;
            p->problem->uncut = uncut;
            code = plan_fail(p, CPUBIND_PROBLEM_TOO_FEW_CPUS,
                             "too few CPUs of its pool are allowed for the roles");
        }
        if (code != CPUBIND_PROBLEM_NONE) {
            if (p->policy.rule == CPUBIND_RULE_SLICE && p->problem->device < 0)
                return code;
            if (!give_up(p, p->ours[i]))
                return code;
            continue;
        }
        core->row[n + 1] = core->row[n] + left;
        out->n_want = ++n;
        if (out->is_shared[n - 1])
            plan_warn(p, CPUBIND_WARNING_PARTS);
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Whether some CPU is for two devices, by line 1 of the rule: then their order counts. Where
 * overlaps are kept, all CPUs of both must be; devices take the caches of one home in turns,
 * and an engine serves them in their order. Where that is not known, it also counts who has had
 * too few CPUs, and has others. */
static int are_rivals(const planner *p, int32_t d, int32_t e)
{
    const cpubind_list *a = &p->out->candidate[d].near_cpus;
    const cpubind_list *b = &p->out->candidate[e].near_cpus;
    const int32_t n = p->out->host.n_cpu;
    int32_t n_both = 0, n_one = 0;
    if (p->request->engine.engine != CPUBIND_ENGINE_NONE)
        return 1;
    if (p->request->reach == CPUBIND_REACH_CACHE)
        return plan_is_same_list(a, b);
    if (p->request->share)
        return 0;
    for (int32_t i = 0; i < n; i++) {
        const int is_mine = p->out->stand[d * n + i] != 0;
        const int is_other = p->out->stand[e * n + i] != 0;
        if (!p->is_ordered && p->policy.rule == CPUBIND_RULE_TURNS && !is_mine && !is_other &&
            (p->out->owner[i] == d || p->out->owner[i] == e))
            return 1;
        n_both += is_mine && is_other;
        n_one += is_mine != is_other;
    }
    return n_both > 0 && (n_one == 0 || p->out->core.overlap != CPUBIND_FOUND_PRESENT);
}

/* Whether the order of two rivals is another one by their logic ids, or not known. */
static int is_order_of_ours(const planner *p)
{
    for (int32_t i = 0; i < p->out->n_candidate; i++)
        for (int32_t k = 0; k < i; k++)
            if ((!p->is_ordered || p->out->candidate[i].device < p->out->candidate[k].device) &&
                are_rivals(p, i, k))
                return 1;
    return 0;
}

/* Says that a process that knows no addresses may have another plan, or that this one lacks
 * them where they count: then npu-smi must have failed, or have none for this product. Nothing
 * can differ where NPUs are hidden: no process has a plan without addresses there. */
static cpubind_problem_code check_order(planner *p)
{
    const cpubind_facts *f = p->facts;
    if (f->strategy == CPUBIND_GLOBAL_SLICE || p->out->n_hidden > 0 || f->n_census == 0 ||
        !f->has_listed || p->scope == CPUBIND_SCOPE_OWN ||
        p->scope == CPUBIND_SCOPE_PER_DEVICE || !is_order_of_ours(p))
        return CPUBIND_PROBLEM_NONE;
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

/* Finds the row of the rank, and counts the idle CPUs. */
static cpubind_problem_code finish(planner *p)
{
    cpubind_device_plan *out = p->out;
    uint8_t *is_used = (uint8_t *)cpubind_arena_take(p->arena, p->facts->n_cpu_id, 1);
    cpubind_problem_code code;
    if (!is_used)
        return plan_fail_memory(p);
    memset(is_used, 0, (size_t)p->facts->n_cpu_id);
    out->rank_row = -1;
    for (int32_t i = 0; i < out->n_want; i++)
        if (out->want[i] == p->rank_device)
            out->rank_row = i;
    for (int32_t i = 0; i < out->core.row[out->n_want]; i++)
        is_used[out->core.cpu[i]] = 1;
    for (int32_t i = 0; i < out->n_kept; i++)
        is_used[out->kept[i]] = 1;
    for (int32_t k = 0; k < out->n_beside; k++)
        for (int32_t i = 0; i < out->beside[k].n_cpu; i++)
            is_used[out->beside[k].cpu[i]] = 1;
    for (int32_t i = 0; i < p->facts->n_cpu; i++)
        out->n_idle += !is_used[p->facts->cpu[i]];
    code = note_findings(p);
    return code == CPUBIND_PROBLEM_NONE && p->policy.rule == CPUBIND_RULE_CLUSTER
               ? find_spare(p)
               : code;
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

/* Refuses to share, and pools of a cache, by rules that cut pools in a way of their own. */
static cpubind_problem_code check_share(planner *p)
{
    const int is_near =
        p->facts->rules == CPUBIND_RULES_NEAR && p->policy.rule == CPUBIND_RULE_TURNS;
    if (is_near || (!p->request->share && p->request->reach != CPUBIND_REACH_CACHE))
        return CPUBIND_PROBLEM_NONE;
    return plan_fail(
        p, CPUBIND_PROBLEM_BAD_REQUEST,
        "share=yes and reach=cache are for rules=near, and not for the clusters of "
        "a 950; leave them out");
}

/* Refuses a plan that needs the cores, the distances or the sockets, when an input of them
 * could not be read: other processes of the host may have read it. Where there is no such
 * input, the plan says so: other processes may have it. */
static cpubind_problem_code check_topology(planner *p)
{
    const cpubind_request *q = p->request;
    const cpubind_facts *f = p->facts;
    const int is_near = p->policy.rule == CPUBIND_RULE_TURNS;
    const int takes_cores = q->keep_each > 0 || q->keep || q->workers.is_asked;
    const int needs_cores =
        is_near || takes_cores || (f->rules == CPUBIND_RULES_NEAR && q->n_process > 1);
    if (f->topology.code != CPUBIND_PROBLEM_NONE && needs_cores) {
        *p->problem = f->topology;
        return p->problem->code;
    }
    if ((needs_cores && !f->core_of) || (takes_cores && f->has_lone_cores))
        plan_warn(p, CPUBIND_WARNING_NO_CORES);
    if (is_near && !f->distance && f->n_node > 1)
        plan_warn(p, CPUBIND_WARNING_NO_DISTANCES);
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_plan_make(const cpubind_facts *facts,
                                       const cpubind_request *request, cpubind_arena *arena,
                                       cpubind_device_plan *out, cpubind_problem *problem)
{
    static cpubind_problem_code (*const steps[])(planner *) = {
        check_share,
        check_topology,
        cpubind_priv_list_kept,
        cpubind_priv_place_workers,
        cpubind_priv_choose_host,
        cpubind_priv_choose_ours,
        cpubind_priv_choose_rank,
        check_threads,
        cpubind_priv_choose_candidates,
        cpubind_priv_find_homes,
        cpubind_priv_choose_slots,
        cpubind_priv_cut_pools,
        check_order,
        take_rows,
        cpubind_priv_place_rows,
        finish,
        cpubind_priv_measure_pools,
        cpubind_priv_find_others,
    };
    planner p = {.facts = facts,
                 .request = request,
                 .arena = arena,
                 .out = out,
                 .problem = problem,
                 .product = cpubind_product_of(facts->type),
                 .scope = facts->scope};
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    memset(out, 0, sizeof *out);
    out->warnings = facts->warnings;
    out->total = facts->n_device + facts->n_unknown;
    choose_policy(&p);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == CPUBIND_PROBLEM_NONE; i++)
        code = steps[i](&p);
    if (code == CPUBIND_PROBLEM_NONE &&
        !cpubind_plan_units(facts, request, problem, arena, out))
        code = plan_fail_memory(&p);
    return code;
}
