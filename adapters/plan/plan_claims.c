/* plan_claims.c - what the core is asked, and what its answer means for this plan
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The core is given all online CPUs of the host and every device that
 * claims some of them, in the order of the candidates; slices in the order of their slots. Its
 * answer is an owner for each CPU, of which this file makes the owners, steps and stands of the
 * CPUs that pools are cut from.
 */
#include "plan_parts.h"

enum { FAR = 1 << 20, LOST = 1 << 24 }; /* as in cpubind.h: other sockets; no home */

/* == The host =============================================================== */

/* Makes of a CPU id for each CPU its index among the online ones: of its core, of its cache. */
static const int32_t *index_groups(planner *p, const int32_t *first_of, const int32_t *index)
{
    const cpubind_host *host = &p->out->claims.host;
    int32_t *out = first_of ? cpubind_arena_ints(p->arena, host->n_cpu) : NULL;
    for (int32_t i = 0; out && i < host->n_cpu; i++) {
        const int32_t first = first_of[host->cpu[i]];
        out[i] = first >= 0 ? index[first] : i;
    }
    return out;
}

static cpubind_problem_code make_host(planner *p)
{
    const cpubind_facts *f = p->facts;
    cpubind_core_call *claims = &p->out->claims;
    const cpubind_topology *pools = &p->out->host;
    cpubind_host *host = &claims->host;
    int32_t *cpu = cpubind_arena_ints(p->arena, f->n_cpu_id);
    int32_t *node = cpubind_arena_ints(p->arena, f->n_cpu_id);
    int32_t *index = cpubind_arena_ints(p->arena, f->n_cpu_id);
    claims->at = cpubind_arena_ints(p->arena, pools->n_cpu);
    if (!cpu || !node || !index || !claims->at)
        return plan_fail_memory(p);
    for (int32_t id = 0; id < f->n_cpu_id; id++) {
        index[id] = -1;
        if (f->node_of[id] < 0)
            continue;
        cpu[host->n_cpu] = id;
        node[host->n_cpu] =
            host->n_cpu > 0 && f->node_of[cpu[host->n_cpu - 1]] == f->node_of[id]
                ? node[host->n_cpu - 1]
                : cpubind_facts_node(f, f->node_of[id]);
        index[id] = host->n_cpu++;
    }
    host->cpu = cpu;
    host->node = node;
    host->n_node = f->n_node;
    host->socket = f->socket;
    host->distance = f->distance;
    host->core = index_groups(p, f->core_of, index);
    host->cache = index_groups(p, f->cache_of, index);
    if ((f->core_of && !host->core) || (f->cache_of && !host->cache))
        return plan_fail_memory(p);
    for (int32_t i = 0; i < pools->n_cpu; i++)
        claims->at[i] = index[pools->cpu[i]];
    return CPUBIND_PROBLEM_NONE;
}

/* == Who claims ============================================================= */

/* Scope PER_DEVICE: the CPUs that a candidate may have of those that pools are cut from. */
static int list_allowed(planner *p, const cpubind_candidate *candidate, cpubind_list *out)
{
    const cpubind_host_device *viewed = plan_device_of(p, candidate);
    const cpubind_topology *host = &p->out->host;
    int32_t *cpu = cpubind_arena_ints(p->arena, host->n_cpu);
    for (int32_t k = 0; viewed && k < p->request->n_device_allowed; k++) {
        const cpubind_device_allowed *asked = &p->request->device_allowed[k];
        int32_t at = 0;
        if (asked->logic != viewed->logic)
            continue;
        *out = (cpubind_list){.cpu = cpu};
        for (int32_t i = 0; cpu && i < host->n_cpu; i++)
            if (cpubind_list_has(asked->cpu, asked->n, host->cpu[i], &at))
                cpu[out->n++] = host->cpu[i];
        break;
    }
    return cpu != NULL;
}

/* Makes of the home of a candidate one of its last caches: devices that are at home there take
 * these in turns, those with the most CPUs first that pools are cut from, of these the lowest.
 * Where no such cache is known the home stays. Returns 0 when the arena is full. */
static int take_cache(planner *p, int32_t candidate, cpubind_list *home)
{
    const cpubind_facts *f = p->facts;
    const cpubind_list all = *home;
    int32_t *cpu = cpubind_arena_ints(p->arena, all.n);
    int32_t *n_in = cpubind_arena_ints(p->arena, f->n_cpu_id); /* by the lowest CPU */
    int32_t turn = 0, n_cache = 0, best = 0, at = 0;
    if (!cpu || !n_in)
        return 0;
    memset(n_in, 0, (size_t)f->n_cpu_id * sizeof *n_in);
    for (int32_t i = 0; i < all.n; i++)
        if (cpubind_list_has(p->out->host.cpu, p->out->host.n_cpu, all.cpu[i], &at) &&
            f->cache_of && f->cache_of[all.cpu[i]] >= 0)
            n_cache += n_in[f->cache_of[all.cpu[i]]]++ == 0;
    if (n_cache == 0)
        return 1;
    for (int32_t i = 0; i < candidate; i++)
        turn += plan_is_same_list(&p->out->candidate[i].near_cpus, &all);
    for (turn %= n_cache; turn >= 0; turn--) {
        best = 0;
        for (int32_t i = 1; i < f->n_cpu_id; i++)
            best = n_in[i] > n_in[best] ? i : best;
        n_in[best] = 0;
    }
    *home = (cpubind_list){.cpu = cpu};
    for (int32_t i = 0; i < all.n; i++)
        if (all.cpu[i] < f->n_cpu_id && f->cache_of[all.cpu[i]] == best)
            cpu[home->n++] = all.cpu[i];
    return 1;
}

/* Checks the slots: each is one of the slices. */
static cpubind_problem_code check_slots(planner *p)
{
    for (int32_t i = 0; i < p->out->n_candidate; i++)
        if (p->out->candidate[i].slot < 0 || p->out->candidate[i].slot >= p->out->n_slot) {
            p->problem->device = plan_logic_of(p, i);
            return plan_fail(p, CPUBIND_PROBLEM_UNKNOWN_DEVICE,
                             "its id is not below the number of NPUs that slices are cut for");
        }
    return CPUBIND_PROBLEM_NONE;
}

/* Where the CPUs near a device are: some in the plan; none, since settings take all of them
 * out; or not allowed. */
typedef enum whereabouts { HERE, TAKEN_OUT, ELSEWHERE } whereabouts;

/* The vendor of a candidate; -1: not known. */
static int32_t vendor_of(const planner *p, const cpubind_candidate *candidate)
{
    const cpubind_host_device *viewed = plan_device_of(p, candidate);
    if (!viewed && candidate->function < 0)
        return -1;
    return (int32_t)(viewed ? viewed : &p->facts->bus[candidate->function])->accelerator.vendor;
}

/* Whether a device of this vendor is visible. The CPUs of the others may be excluded here
 * alone: of two kinds of devices each has a list of its own. */
static int is_ours(const planner *p, int32_t vendor)
{
    for (int32_t i = 0; i < p->out->n_candidate; i++)
        if (!p->out->claims.claimant[p->out->claims.of[i]].is_hidden &&
            vendor_of(p, &p->out->candidate[i]) == vendor)
            return 1;
    return 0;
}

static whereabouts where_is(const planner *p, const cpubind_candidate *candidate)
{
    const cpubind_facts *f = p->facts;
    const cpubind_list near = candidate->near_cpus;
    const int has_list = p->request->exclude && is_ours(p, vendor_of(p, candidate));
    int32_t in_plan = 0, allowed = 0, excluded = 0;
    whereabouts is = near.n > 0 ? TAKEN_OUT : ELSEWHERE;
    for (int32_t i = 0; i < near.n; i++) {
        const int32_t cpu = near.cpu[i];
        if (cpubind_list_has(p->out->host.cpu, p->out->host.n_cpu, cpu, &in_plan))
            return HERE;
        if (!cpubind_list_has(f->cpu, f->n_cpu, cpu, &allowed) &&
            !cpubind_list_has(p->request->exclude, has_list ? p->request->n_exclude : 0, cpu,
                              &excluded))
            is = ELSEWHERE;
    }
    return is;
}

/* A device that settings leave nothing near takes what others have: where it is hidden, too,
 * and as if nobody were, so that each process has the same plan. Of several vendors a process
 * of the other one may have another list of excluded CPUs: this one warns. */
static cpubind_problem_code show_taken_out(planner *p)
{
    const int32_t n = p->out->n_candidate;
    int32_t *is, n_out = 0, n_elsewhere = 0, n_other = 0;
    if (p->policy.rule != CPUBIND_RULE_TURNS || p->scope > CPUBIND_SCOPE_HOST || p->is_blind)
        return CPUBIND_PROBLEM_NONE;
    is = cpubind_arena_ints(p->arena, n);
    if (!is)
        return plan_fail_memory(p);
    for (int32_t i = 0; i < n; i++) {
        is[i] = (int32_t)where_is(p, &p->out->candidate[i]);
        n_out += is[i] == TAKEN_OUT;
        n_other += p->request->exclude &&
                   vendor_of(p, &p->out->candidate[i]) != vendor_of(p, &p->out->candidate[0]);
        n_elsewhere +=
            is[i] == ELSEWHERE && !p->out->claims.claimant[p->out->claims.of[i]].is_hidden;
    }
    for (int32_t i = 0; n_out > 0 && i < n; i++)
        p->out->claims.claimant[p->out->claims.of[i]].is_hidden &= is[i] == ELSEWHERE;
    p->is_agreed = n_out > 0 && n_elsewhere == 0 && n_other == 0;
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code make_claimants(planner *p)
{
    cpubind_core_call *claims = &p->out->claims;
    const int32_t n = p->out->n_candidate;
    const cpubind_list all = {p->out->host.cpu, p->out->host.n_cpu};
    cpubind_problem_code code;
    claims->n_claimant = p->out->n_slot + p->out->n_beside;
    claims->of = cpubind_arena_ints(p->arena, n);
    claims->claimant = (cpubind_device *)cpubind_arena_take(p->arena, claims->n_claimant,
                                                            sizeof *claims->claimant);
    if (!claims->of || !claims->claimant)
        return plan_fail_memory(p);
    for (int32_t c = 0; c < claims->n_claimant; c++)
        claims->claimant[c] =
            (cpubind_device){.allowed = all, .minimum = plan_count_roles(&p->least)};
    for (int32_t i = 0; i < n; i++) {
        const cpubind_candidate *candidate = &p->out->candidate[i];
        const cpubind_host_device *viewed = plan_device_of(p, candidate);
        cpubind_device *one = &claims->claimant[candidate->slot];
        claims->of[i] = candidate->slot;
        one->minimum = plan_least(p, i);
        one->is_hidden =
            p->policy.rule == CPUBIND_RULE_TURNS && !(viewed && viewed->is_visible);
        if (p->scope == CPUBIND_SCOPE_PER_DEVICE && !list_allowed(p, candidate, &one->allowed))
            return plan_fail_memory(p);
        if (p->is_blind)
            continue;
        one->home = candidate->near_cpus;
        if (p->request->reach == CPUBIND_REACH_CACHE && !take_cache(p, i, &one->home))
            return plan_fail_memory(p);
    }
    code = show_taken_out(p);
    return code == CPUBIND_PROBLEM_NONE ? cpubind_priv_claim_beside(p) : code;
}

/* == The answer ============================================================= */

/* By how far a device is from the nodes; its socket is told by them, as the core does it. */
static void measure_distances(const planner *p, const cpubind_device *device, int32_t *distance)
{
    const cpubind_host *h = &p->out->claims.host;
    int32_t at = 0;
    for (int32_t a = 0; a < h->n_node; a++)
        distance[a] = LOST;
    for (int32_t i = 0; i < h->n_cpu; i++)
        if (cpubind_list_has(device->home.cpu, device->home.n, h->cpu[i], &at))
            distance[h->node[i]] = 0;
    for (int32_t a = 0; a < h->n_node; a++)
        for (int32_t b = 0; distance[a] == 0 && b < h->n_node; b++) {
            const int32_t steps = h->distance ? h->distance[a * h->n_node + b] : 1;
            const int is_far = h->socket ? h->socket[a] != h->socket[b]
                                         : h->distance && steps >= CPUBIND_FAR_DISTANCE;
            if (a != b && steps + (is_far ? FAR : 0) < distance[b])
                distance[b] = steps + (is_far ? FAR : 0);
        }
}

/* Marks the CPUs of the plan that are on cores of the home of a candidate: 2. */
static void mark_home(const planner *p, const cpubind_device *device, uint8_t *is_core,
                      uint8_t *stand)
{
    const cpubind_core_call *claims = &p->out->claims;
    const cpubind_host *h = &claims->host;
    int32_t at = 0;
    memset(is_core, 0, (size_t)h->n_cpu);
    for (int32_t i = 0; i < h->n_cpu; i++)
        if (cpubind_list_has(device->home.cpu, device->home.n, h->cpu[i], &at))
            is_core[h->core && p->policy.rule == CPUBIND_RULE_TURNS ? h->core[i] : i] = 1;
    for (int32_t i = 0; i < p->out->host.n_cpu; i++) {
        const int32_t k = claims->at[i];
        stand[i] =
            is_core[h->core && p->policy.rule == CPUBIND_RULE_TURNS ? h->core[k] : k] ? 2 : 0;
    }
}

int32_t cpubind_priv_count_home(const planner *p, int32_t candidate, int32_t *node)
{
    const cpubind_topology *host = &p->out->host;
    const uint8_t *stand = p->out->stand + candidate * host->n_cpu;
    int32_t n = 0;
    *node = -1;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        if (stand[i] != 2)
            continue;
        *node = n++ == 0 || *node == host->node[i] ? host->node[i] : -1;
    }
    return n;
}

/* topo_affinity: the CPUs of the next node, for a home that is on one node; where pools
 * overlap, those that are in nobody's home. */
static void mark_next(const planner *p, int is_resolved)
{
    const cpubind_core_call *claims = &p->out->claims;
    const int32_t n = p->out->host.n_cpu, n_candidate = p->out->n_candidate;
    for (int32_t d = 0; d < n_candidate; d++) {
        int32_t node, i = 0;
        if (cpubind_priv_count_home(p, d, &node) == 0 || node < 0)
            continue;
        while (p->out->host.node[i] != node)
            i++;
        node = (claims->host.node[claims->at[i]] + 1) % claims->host.n_node;
        for (i = 0; i < n; i++)
            if (p->out->stand[d * n + i] == 0 && claims->host.node[claims->at[i]] == node)
                p->out->stand[d * n + i] = 1;
    }
    for (int32_t i = 0; i < n && is_resolved; i++) {
        int is_home = 0;
        for (int32_t d = 0; d < n_candidate; d++)
            is_home |= p->out->stand[d * n + i] == 2;
        for (int32_t d = 0; d < n_candidate && is_home; d++)
            p->out->stand[d * n + i] &= 2;
    }
}

/* Line 1 of the rule, as the core has it: p->out->stand. */
static cpubind_problem_code find_stands(planner *p)
{
    const cpubind_core_call *claims = &p->out->claims;
    const int32_t n = p->out->host.n_cpu, n_node = claims->host.n_node;
    const int32_t limit = p->policy.reach == CPUBIND_REACH_HOST   ? LOST
                          : p->policy.reach == CPUBIND_REACH_HOME ? 0
                                                                  : FAR;
    const int32_t n_candidate = p->out->n_candidate;
    uint8_t *is_core = (uint8_t *)cpubind_arena_take(p->arena, claims->host.n_cpu, 1);
    int32_t *distance = cpubind_arena_ints(p->arena, n_candidate * n_node);
    uint8_t *stand = p->out->stand =
        (uint8_t *)cpubind_arena_take(p->arena, n_candidate * n, 1);
    if (!is_core || !distance || !stand)
        return plan_fail_memory(p);
    for (int32_t d = 0; d < n_candidate; d++) {
        const cpubind_device *device = &claims->claimant[claims->of[d]];
        measure_distances(p, device, distance + d * n_node);
        mark_home(p, device, is_core, stand + d * n);
    }
    if (p->policy.rule == CPUBIND_RULE_AFFINITY)
        mark_next(p, p->out->core.overlap == CPUBIND_FOUND_RESOLVED);
    for (int32_t i = 0; i < n && p->policy.rule == CPUBIND_RULE_TURNS; i++) {
        const int32_t node = claims->host.node[claims->at[i]];
        int32_t best = limit;
        for (int32_t d = 0; d < n_candidate; d++)
            best = stand[d * n + i] == 2                ? -1
                   : distance[d * n_node + node] < best ? distance[d * n_node + node]
                                                        : best;
        for (int32_t d = 0; d < n_candidate && best >= 0; d++)
            stand[d * n + i] = best < limit && distance[d * n_node + node] == best;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Whether, by line 1, one of n CPUs from i on is for one of n_device candidates from d on. */
static int is_for(const planner *p, int32_t d, int32_t n_device, int32_t i, int32_t n)
{
    for (int32_t k = 0; k < n_device * n; k++)
        if (p->out->stand[(d + k / n) * p->out->host.n_cpu + i + k % n])
            return 1;
    return 0;
}

static cpubind_step step_of(const planner *p, int32_t i, int32_t d)
{
    const int32_t n = p->out->host.n_cpu;
    const uint8_t stand = p->out->stand[d * n + i];
    switch (p->policy.rule) {
    case CPUBIND_RULE_SLICE:
        return CPUBIND_STEP_SLICE;
    case CPUBIND_RULE_CLUSTER:
        return CPUBIND_STEP_CLUSTER;
    case CPUBIND_RULE_AFFINITY:
        return stand == 2 ? CPUBIND_STEP_HOME : CPUBIND_STEP_NEXT;
    default:
        return p->is_blind                               ? CPUBIND_STEP_SLICE
               : stand == 2                              ? CPUBIND_STEP_HOME
               : stand == 1 || p->request->share         ? CPUBIND_STEP_NEAREST
               : is_for(p, 0, p->out->n_candidate, i, 1) ? CPUBIND_STEP_LENT
               : is_for(p, d, 1, 0, n)                   ? CPUBIND_STEP_MINIMUM
                                                         : CPUBIND_STEP_FREE;
    }
}

/* Takes the owners of an answer of the core. A slice that is no candidate's is of nobody here,
 * but no idle CPU. */
static cpubind_problem_code take_owners(planner *p, const int32_t *owner)
{
    const cpubind_core_call *claims = &p->out->claims;
    const int32_t n = p->out->host.n_cpu;
    int32_t *candidate = cpubind_arena_ints(p->arena, claims->n_claimant);
    cpubind_problem_code code;
    p->out->owner = cpubind_arena_ints(p->arena, n);
    p->out->step = (uint8_t *)cpubind_arena_take(p->arena, n, 1);
    if (!candidate || !p->out->owner || !p->out->step)
        return plan_fail_memory(p);
    for (int32_t c = 0; c < claims->n_claimant; c++)
        candidate[c] = -1;
    for (int32_t i = p->out->n_candidate - 1; i >= 0; i--)
        candidate[claims->of[i]] = i;
    code = find_stands(p);
    for (int32_t i = 0; i < n && code == CPUBIND_PROBLEM_NONE; i++) {
        const int32_t who = owner[claims->at[i]];
        p->out->owner[i] = who < 0 ? -1 : candidate[who];
        p->out->step[i] = (uint8_t)(who < 0                 ? CPUBIND_STEP_IDLE
                                    : who >= p->out->n_slot ? CPUBIND_STEP_BESIDE
                                    : p->out->owner[i] < 0  ? CPUBIND_STEP_SLICE
                                                            : step_of(p, i, p->out->owner[i]));
    }
    return code;
}

/* Asks the core; says in the words of this host what it refuses. */
static cpubind_problem_code ask(planner *p, const cpubind_core_call *claims, int32_t *owner,
                                int32_t *work, cpubind_report *r)
{
    const cpubind_status status = cpubind_plan(&claims->host, claims->claimant,
                                               claims->n_claimant, &p->policy, owner, work, r);
    if (status == CPUBIND_OK)
        return CPUBIND_PROBLEM_NONE;
    if (status != CPUBIND_ERR_OVERLAP)
        return plan_fail(p, CPUBIND_PROBLEM_UNREADABLE, cpubind_status_text(status));
    p->problem->device = plan_logic_of(p, r->device);
    p->problem->other = plan_logic_of(p, r->other);
    p->problem->cpu = r->cpu;
    return plan_fail(p, CPUBIND_PROBLEM_OVERLAP, "two pools share a CPU");
}

/* Asks for the pool of one candidate: with all others hidden, or, where pools are shared, as if
 * it was alone on the host. */
static cpubind_problem_code ask_one(planner *p, int32_t candidate, int32_t *owner,
                                    int32_t *work)
{
    cpubind_core_call *claims = &p->out->claims;
    const int32_t who = claims->of[candidate];
    cpubind_core_call alone = *claims;
    cpubind_device one = claims->claimant[who];
    cpubind_report ignored;
    cpubind_problem_code code;
    if (!p->request->share) {
        for (int32_t k = 0; k < claims->n_claimant; k++)
            claims->claimant[k].is_hidden = k != who;
        return ask(p, claims, owner, work, &ignored);
    }
    one.is_hidden = 0;
    alone.claimant = &one;
    alone.n_claimant = 1;
    code = ask(p, &alone, owner, work, &ignored);
    for (int32_t i = 0; i < claims->host.n_cpu; i++)
        owner[i] = owner[i] < 0 ? CPUBIND_NONE : who;
    return code;
}

/* Where pools are shared the owner of a CPU is the first candidate that has it, but for those
 * of processes beside the devices, which no device shares. */
static cpubind_problem_code find_first_owners(planner *p, int32_t *owner, int32_t *work)
{
    const int32_t n = p->out->claims.host.n_cpu;
    int32_t *one = cpubind_arena_ints(p->arena, n);
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    if (!one)
        return plan_fail_memory(p);
    for (int32_t i = 0; i < n; i++)
        owner[i] = owner[i] < p->out->n_slot ? CPUBIND_NONE : owner[i];
    for (int32_t d = p->out->n_candidate - 1; d >= 0 && code == CPUBIND_PROBLEM_NONE; d--) {
        code = ask_one(p, d, one, work);
        for (int32_t i = 0; i < n && code == CPUBIND_PROBLEM_NONE; i++)
            owner[i] = one[i] < 0 || owner[i] >= p->out->n_slot ? owner[i] : one[i];
    }
    return code;
}

/* Copies the pool of a candidate; returns its size. */
static int32_t copy_pool(const planner *p, const int32_t *owner, int32_t candidate,
                         int32_t *out)
{
    const cpubind_core_call *claims = &p->out->claims;
    int32_t n = 0;
    for (int32_t i = 0; i < p->out->host.n_cpu; i++)
        if (owner[claims->at[i]] == claims->of[candidate] &&
            p->out->step[i] != CPUBIND_STEP_BESIDE)
            out[n++] = p->out->host.cpu[i];
    return n;
}

/* The pools of our candidates as rows, in the order of the candidates: p->pool. Where they may
 * share CPUs, each is asked for by itself; slices are shared by candidates
 * that say they are in one slot. */
static cpubind_problem_code take_pools(planner *p, int32_t *owner, int32_t *work)
{
    const int is_kept = p->out->core.overlap >= CPUBIND_FOUND_PRESENT;
    const int32_t times = is_kept || p->facts->strategy == CPUBIND_GLOBAL_SLICE ? p->n_ours : 1;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    p->pool = cpubind_arena_ints(p->arena, p->out->host.n_cpu * times);
    p->pool_row = cpubind_arena_ints(p->arena, p->out->n_candidate + 1);
    if (!p->pool || !p->pool_row)
        return plan_fail_memory(p);
    p->pool_row[0] = 0;
    for (int32_t i = 0; i < p->out->n_candidate && code == CPUBIND_PROBLEM_NONE; i++) {
        p->pool_row[i + 1] = p->pool_row[i];
        if (p->out->candidate[i].device < 0 || !plan_is_ours(p, p->out->candidate[i].device))
            continue;
        if (is_kept)
            code = ask_one(p, i, owner, work);
        p->pool_row[i + 1] += copy_pool(p, owner, i, p->pool + p->pool_row[i]);
    }
    return code;
}

cpubind_problem_code cpubind_priv_cut_pools(planner *p)
{
    cpubind_core_call *claims = &p->out->claims;
    cpubind_pools *core = &p->out->core;
    cpubind_problem_code code = make_host(p);
    cpubind_report r;
    int32_t *owner, *work;
    if (code == CPUBIND_PROBLEM_NONE)
        code = check_slots(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_list_beside(p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = make_claimants(p);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    owner = cpubind_arena_ints(p->arena, claims->host.n_cpu);
    work = cpubind_arena_ints(
        p->arena, CPUBIND_WORK(claims->host.n_cpu, claims->host.n_node, claims->n_claimant));
    if (!owner || !work)
        return plan_fail_memory(p);
    code = ask(p, claims, owner, work, &r);
    if (code == CPUBIND_PROBLEM_NONE)
        cpubind_priv_trade_cores(p, owner);
    if (code == CPUBIND_PROBLEM_NONE && p->request->share)
        code = find_first_owners(p, owner, work);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    core->strategy = p->strategy;
    core->overlap = p->request->share ? CPUBIND_FOUND_SHARED
                    : p->policy.rule != CPUBIND_RULE_AFFINITY || r.cpu < 0 ? CPUBIND_FOUND_NONE
                    : p->policy.overlap == CPUBIND_OVERLAP_KEEP ? CPUBIND_FOUND_PRESENT
                                                                : CPUBIND_FOUND_RESOLVED;
    core->shared.device = r.device;
    core->shared.other = r.other;
    core->shared.cpu = r.cpu;
    /* Who shares its pool disputes none; what is beside the devices is nobody else's. */
    core->disputed =
        (p->request->share && p->out->n_beside == 0) || p->is_agreed ? 0 : r.disputed;
    code = take_owners(p, owner);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_take_beside(p, owner);
    return code == CPUBIND_PROBLEM_NONE ? take_pools(p, owner, work) : code;
}
