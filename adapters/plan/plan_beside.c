/* plan_beside.c - the processes beside the devices: an engine's cores and servers, CPU workers
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The engine claims CPUs of the same call of the core as the devices,
 * so that all processes of the host come to the same cores. Which devices it serves is told by
 * the order of the slots, those of devices that this process cannot see too. CPU workers have
 * whole cores of their nodes, of all online CPUs, and devices what these leave.
 */
#include "plan_parts.h"

const char *cpubind_beside_word(cpubind_beside_kind kind)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_BESIDE_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return words[kind];
}

/* How the devices are shared among engine cores, and these among servers. */
typedef struct engine_shape {
    const cpubind_engine_kind *kind;
    int32_t tp;        /* devices of an engine core */
    int32_t dp, n_api; /* engine cores, API servers of a server */
    int32_t n_server;
} engine_shape;

/* What does not fill another server is of none. Where there are fewer devices than an engine
 * core has, it has those that there are. */
static engine_shape shape_of(const planner *p)
{
    const cpubind_engine_request *asked = &p->request->engine;
    const int32_t n = p->out->n_slot;
    engine_shape s = {.kind = cpubind_engine_of(asked->engine), .dp = 1, .tp = asked->tp};
    int32_t n_core;
    if (asked->dp > 0)
        s.dp = asked->dp < n ? asked->dp : n;
    if (s.tp == 0)
        s.tp = n / s.dp;
    if (s.tp > n)
        s.tp = n;
    n_core = n / s.tp;
    if (s.dp > n_core)
        s.dp = n_core;
    s.n_server = n_core / s.dp;
    s.n_api = asked->n_api > 0 ? asked->n_api : s.kind->n_api > 0 ? s.kind->n_api : s.dp;
    return s;
}

/* Takes room for n rows, and for those of the CPU workers. */
static cpubind_problem_code reserve_rows(planner *p, int32_t n)
{
    n += p->workers.n_worker;
    p->out->beside = (cpubind_beside *)cpubind_arena_take(p->arena, n, sizeof *p->out->beside);
    return p->out->beside ? CPUBIND_PROBLEM_NONE : plan_fail_memory(p);
}

static cpubind_beside *add(planner *p, cpubind_beside_kind kind, int32_t number, int32_t first,
                           int32_t n_served, int32_t n_core)
{
    cpubind_beside *one = &p->out->beside[p->out->n_beside++];
    *one = (cpubind_beside){
        .kind = kind, .number = number, .first = first, .n_served = n_served, .n_core = n_core};
    return one;
}

cpubind_problem_code cpubind_priv_list_beside(planner *p)
{
    const int32_t engine = p->request->engine.engine;
    engine_shape s;
    if (engine == CPUBIND_ENGINE_AUTO)
        return plan_fail(p, CPUBIND_PROBLEM_BAD_REQUEST,
                         "engine=auto is for one plan of all workers that run: apply --all, "
                         "run --tree or the service; a process that plans by itself would not "
                         "always come to the same: -o engine=vllm names the engine");
    if (p->request->engine.is_unclear)
        plan_warn(p, CPUBIND_WARNING_ENGINE_CORES);
    if (engine == CPUBIND_ENGINE_NONE || p->out->n_slot == 0)
        return reserve_rows(p, 0);
    if (p->policy.rule != CPUBIND_RULE_TURNS)
        return plan_fail(p, CPUBIND_PROBLEM_BAD_REQUEST,
                         "an engine has cores in plans by the rules near, in which devices "
                         "take turns, and this one is by others: leave out engine");
    s = shape_of(p);
    if (reserve_rows(p, s.n_server * (s.dp + 1)) != CPUBIND_PROBLEM_NONE)
        return p->problem->code;
    for (int32_t i = 0; i < s.n_server * s.dp && s.kind->core > 0 && s.tp > 1; i++)
        (void)add(p, CPUBIND_BESIDE_ENGINE_CORE, i, i * s.tp, s.tp, s.kind->core);
    for (int32_t i = 0; i < s.n_server; i++)
        (void)add(p, CPUBIND_BESIDE_SERVER, i, i * s.dp * s.tp, s.dp * s.tp,
                  s.n_api + s.kind->base + s.kind->each_core * s.dp +
                      (s.dp > 1 ? s.kind->coordinator : 0));
    return CPUBIND_PROBLEM_NONE;
}

/* == What they claim ======================================================== */

/* The CPUs of the widest core. */
static int32_t count_threads(const cpubind_host *host, int32_t *n_of)
{
    int32_t most = 1;
    for (int32_t i = 0; i < host->n_cpu && host->core; i++)
        n_of[i] = 0;
    for (int32_t i = 0; i < host->n_cpu && host->core; i++)
        most = ++n_of[host->core[i]] > most ? n_of[host->core[i]] : most;
    return most;
}

/* Joins the near or the allowed CPUs of those that a process serves. Returns 0 when the arena
 * is full. */
static int join(planner *p, const cpubind_beside *one, int is_home, cpubind_list *out)
{
    const cpubind_core_call *claims = &p->out->claims;
    int32_t *cpu = cpubind_arena_ints(p->arena, claims->host.n_cpu);
    *out = (cpubind_list){.cpu = cpu};
    for (int32_t i = 0; cpu && i < claims->host.n_cpu; i++) {
        int is_in = 0;
        for (int32_t d = one->first; d < one->first + one->n_served && !is_in; d++) {
            const cpubind_device *device = &claims->claimant[d];
            const cpubind_list *list = is_home ? &device->home : &device->allowed;
            int32_t at = 0;
            is_in = cpubind_list_has(list->cpu, list->n, claims->host.cpu[i], &at);
        }
        if (is_in)
            cpu[out->n++] = claims->host.cpu[i];
    }
    return cpu != NULL;
}

/* Each wants whole cores, one before a device has its second. Its minimum is a single CPU: a
 * device that has too few takes the rest, since a worker without a pool does not start. */
cpubind_problem_code cpubind_priv_claim_beside(planner *p)
{
    const cpubind_core_call *claims = &p->out->claims;
    int32_t *n_of = p->out->n_beside ? cpubind_arena_ints(p->arena, claims->host.n_cpu) : NULL;
    const int32_t threads = n_of ? count_threads(&claims->host, n_of) : 1;
    if (p->out->n_beside && !n_of)
        return plan_fail_memory(p);
    for (int32_t k = 0; k < p->out->n_beside; k++) {
        const cpubind_beside *one = &p->out->beside[k];
        cpubind_device *claimant = &claims->claimant[p->out->n_slot + k];
        *claimant = (cpubind_device){
            .minimum = 1,
            .most = one->n_core * threads,
            .weight = one->n_core < CPUBIND_MAX_WEIGHT ? one->n_core : CPUBIND_MAX_WEIGHT,
            .is_hidden = 1};
        if (!join(p, one, 1, &claimant->home) || !join(p, one, 0, &claimant->allowed))
            return plan_fail_memory(p);
        claimant->is_anywhere = claimant->home.n == 0;
        for (int32_t d = one->first; d < one->first + one->n_served; d++)
            claimant->is_hidden &= claims->claimant[d].is_hidden;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Whether a pool may have a CPU of the plan: pools of all online CPUs are cut to the allowed
 * ones. */
static int is_allowed(const planner *p, int32_t cpu)
{
    int32_t at = 0;
    return p->scope != CPUBIND_SCOPE_HOST ||
           cpubind_list_has(p->facts->cpu, p->facts->n_cpu, cpu, &at);
}

/* Whether CPU i of the core's host is the first of a core that one claimant has as a whole. */
static int is_whole(const planner *p, const int32_t *owner, int32_t i)
{
    const cpubind_host *host = &p->out->claims.host;
    for (int32_t k = 0; host->core && k < host->n_cpu; k++)
        if ((k < i || owner[k] != owner[i]) && host->core[k] == host->core[i])
            return 0;
    return 1;
}

/* == Fast cores ============================================================= */

static int are_in_one_cache(const cpubind_host *host, int32_t a, int32_t b)
{
    return host->node[a] == host->node[b] && (!host->cache || host->cache[a] == host->cache[b]);
}

/* A CPU of the core that an engine core takes for its n CPUs, the first of which is `own`: a
 * faster one in their cache, of a server, else of the device that has most such cores there,
 * which keeps one; if there is none, `own`. */
static int32_t find_faster(const planner *p, const int32_t *owner, int32_t own, int32_t n)
{
    const cpubind_host *host = &p->out->claims.host;
    const int32_t *kind_of = p->facts->kind_of;
    int32_t best = own, most = 0;
    for (int32_t i = 0; i < host->n_cpu; i++) {
        const int32_t kind = kind_of[host->cpu[i]], than = kind_of[host->cpu[best]];
        const int is_faster = kind > kind_of[host->cpu[own]] && kind >= than;
        const int is_server =
            owner[i] >= p->out->n_slot &&
            p->out->beside[owner[i] - p->out->n_slot].kind == CPUBIND_BESIDE_SERVER;
        int32_t n_core = 0, n_kind = is_server ? host->n_cpu : 0;
        for (int32_t k = 0; k < host->n_cpu && is_faster && owner[i] >= 0; k++) {
            n_core += host->core ? host->core[k] == host->core[i] : k == i;
            n_kind += owner[k] == owner[i] && kind_of[host->cpu[k]] == kind &&
                      are_in_one_cache(host, k, own);
        }
        if (n_kind <= n || (kind == than && n_kind < most) || n_core != n ||
            !are_in_one_cache(host, i, own) || !is_whole(p, owner, i))
            continue;
        best = i;
        most = n_kind;
    }
    return best;
}

/* An engine core trades its CPUs for a faster core, so that all pools are as large as before.
 * Where devices may not have the same CPUs nobody trades. */
void cpubind_priv_trade_cores(const planner *p, int32_t *owner)
{
    const cpubind_host *host = &p->out->claims.host;
    const int can_trade = p->facts->kind_of && p->scope != CPUBIND_SCOPE_PER_DEVICE;
    for (int32_t b = 0; can_trade && b < p->out->n_beside; b++) {
        const int32_t who = p->out->n_slot + b;
        int32_t own = 0, n = 0, is_split = 0, to, other;
        for (int32_t i = 0; i < host->n_cpu; i++)
            if (owner[i] == who) {
                own = n++ == 0 ? i : own;
                is_split |= !are_in_one_cache(host, i, own);
            }
        if (n == 0 || is_split || p->out->beside[b].kind != CPUBIND_BESIDE_ENGINE_CORE)
            continue;
        to = find_faster(p, owner, own, n);
        other = owner[to];
        for (int32_t i = 0; to != own && i < host->n_cpu; i++)
            if (owner[i] == who)
                owner[i] = other;
            else if (i == to || (host->core && host->core[i] == host->core[to]))
                owner[i] = who;
    }
}

/* The cores of a CPU worker, of which it has all CPUs. */
static int32_t count_cores(const planner *p, const cpubind_cpu_worker *worker)
{
    int32_t n = 0;
    for (int32_t i = 0; i < worker->n_cpu; i++) {
        int32_t k = 0;
        while (cpubind_facts_core(p->facts, worker->cpu[k]) !=
               cpubind_facts_core(p->facts, worker->cpu[i]))
            k++;
        n += k == i;
    }
    return n;
}

cpubind_problem_code cpubind_priv_take_beside(planner *p, const int32_t *owner)
{
    const cpubind_core_call *claims = &p->out->claims;
    const cpubind_topology *host = &p->out->host;
    for (int32_t k = 0; k < p->out->n_beside; k++) {
        const int32_t who = p->out->n_slot + k;
        cpubind_beside *one = &p->out->beside[k];
        int32_t *cpu = cpubind_arena_ints(p->arena, host->n_cpu);
        if (!cpu)
            return plan_fail_memory(p);
        one->cpu = cpu;
        for (int32_t i = 0; i < host->n_cpu; i++) {
            if (owner[claims->at[i]] != who || !is_allowed(p, host->cpu[i]))
                continue;
            cpu[one->n_cpu++] = host->cpu[i];
            one->n_has += is_whole(p, owner, claims->at[i]);
        }
        if (one->n_has < one->n_core && !claims->claimant[who].is_hidden)
            plan_warn(p, CPUBIND_WARNING_ENGINE_CORES);
    }
    for (int32_t i = 0; i < p->workers.n_worker; i++) {
        const cpubind_cpu_worker *worker = &p->workers.worker[i];
        cpubind_beside *one = add(p, CPUBIND_BESIDE_WORKER, i, 0, 0, count_cores(p, worker));
        one->cpu = worker->cpu;
        one->n_cpu = worker->n_cpu;
        one->n_has = one->n_core;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* == CPU workers ============================================================ */

/* All online CPUs of the host, and which of them a CPU worker may have. Returns 0 when the
 * arena is full. */
static int list_online(const planner *p, cpubind_topology *host, uint8_t *is_free)
{
    const cpubind_request *q = p->request;
    int32_t kept = 0, excluded = 0;
    if (!cpubind_facts_topology(p->facts, NULL, p->facts->n_cpu_id, p->arena, host))
        return 0;
    for (int32_t i = 0; i < host->n_cpu; i++)
        is_free[i] = !cpubind_list_has(p->out->kept, p->out->n_kept, host->cpu[i], &kept) &&
                     !cpubind_list_has(q->exclude, q->exclude ? q->n_exclude : 0, host->cpu[i],
                                       &excluded);
    return 1;
}

cpubind_problem_code cpubind_priv_place_workers(planner *p)
{
    static const char *const faults[] = {
#define CPUBIND_X(name, text) text,
        CPUBIND_WORKERS_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    const cpubind_workers_asked *asked = &p->request->workers;
    uint8_t *is_free;
    cpubind_topology host;
    cpubind_workers_status status;
    if (!asked->is_asked)
        return CPUBIND_PROBLEM_NONE;
    if (!asked->node)
        return plan_fail(p, CPUBIND_PROBLEM_BAD_REQUEST,
                         "cpu-workers takes the cores of cpu-nodes: name these nodes, too");
    is_free = (uint8_t *)cpubind_arena_take(p->arena, p->facts->n_online, 1);
    p->is_worker = (uint8_t *)cpubind_arena_take(p->arena, p->facts->n_cpu_id, 1);
    if (!is_free || !p->is_worker || !list_online(p, &host, is_free))
        return plan_fail_memory(p);
    status = cpubind_cpu_workers(&host, is_free, asked, p->arena, &p->workers);
    if (status == CPUBIND_WORKERS_NO_MEMORY)
        return plan_fail_memory(p);
    if (status != CPUBIND_WORKERS_OK)
        return plan_fail(p, CPUBIND_PROBLEM_BAD_REQUEST, faults[status]);
    memset(p->is_worker, 0, (size_t)p->facts->n_cpu_id);
    for (int32_t i = 0; i < p->workers.n_worker; i++)
        for (int32_t k = 0; k < p->workers.worker[i].n_cpu; k++)
            p->is_worker[p->workers.worker[i].cpu[k]] = 1;
    return CPUBIND_PROBLEM_NONE;
}
