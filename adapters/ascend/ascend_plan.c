/* ascend_plan.c - from the facts of an Ascend host to its plan
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The strategy is in the facts already. The rules are those of
 * vllm-ascend's cpu_binding.py; the core cuts the pools.
 */
#include "ascend_plan.h"

#include <string.h>

/* The state of one planning. */
typedef struct planner {
    const cpubind_facts *facts;
    const cpubind_request *request;
    cpubind_arena *arena;
    cpubind_ascend_plan *out;
    cpubind_problem *problem;
    const cpubind_product *product;
    cpubind_host host;
    cpubind_devices devices;
    cpubind_policy policy;
} planner;

static cpubind_problem_code fail(planner *p, cpubind_problem_code code, const char *what)
{
    p->problem->code = code;
    p->problem->what = what;
    return code;
}

static cpubind_problem_code fail_memory(planner *p)
{
    return fail(p, CPUBIND_PROBLEM_NO_MEMORY, "the arena is too small");
}

static void warn(planner *p, cpubind_warning warning)
{
    p->out->warnings |= 1u << warning;
}

static int is_visible(const cpubind_facts *f, int32_t logic)
{
    for (int32_t i = 0; f->visible && i < f->n_visible; i++)
        if (f->visible_id[i] == logic)
            return 1;
    return f->visible == NULL;
}

/* The plan is for the NPUs that run and are visible. */
static cpubind_problem_code choose_ours(planner *p)
{
    const cpubind_facts *f = p->facts;
    int32_t running = 0;
    int32_t has_table = f->has_processes || p->request->npu != NULL;
    p->out->want = cpubind_arena_ints(p->arena, f->n_npu);
    if (!p->out->want)
        return fail_memory(p);
    for (int32_t i = 0; i < f->n_npu; i++) {
        running += f->npu[i].is_running;
        if (f->npu[i].is_running && is_visible(f, f->npu[i].logic))
            p->out->want[p->out->n_want++] = i;
    }
    if (p->out->n_want > 0)
        return CPUBIND_PROBLEM_NONE;
    return fail(p, CPUBIND_PROBLEM_NO_RUNNING_NPU,
                running     ? "no running NPU is visible"
                : has_table ? "no NPU has a running process"
                            : "npu-smi info shows no process table");
}

/* Rank r drives the r-th visible NPU. A single NPU is driven by any rank. */
static cpubind_problem_code choose_rank(planner *p)
{
    const cpubind_facts *f = p->facts;
    int32_t rank = p->request->rank;
    int32_t n = p->out->n_want;
    p->out->rank_row = n == 1 ? 0 : rank;
    if (n > 1 && f->visible) {
        int32_t logic = rank < f->n_visible ? f->visible_id[rank] : -1;
        p->out->rank_row = n;
        for (int32_t row = 0; row < n; row++)
            if (f->npu[p->out->want[row]].logic == logic)
                p->out->rank_row = row;
    }
    if (p->out->rank_row < n)
        return CPUBIND_PROBLEM_NONE;
    return fail(p, CPUBIND_PROBLEM_UNKNOWN_NPU,
                "no running, visible NPU is driven by this rank");
}

/* Chooses the slot of each NPU, by which slices are cut: its phy id among all NPUs of the host
 * when both are known, else its logic id. A logic id names another NPU in another container. */
static cpubind_problem_code choose_slots(planner *p)
{
    const cpubind_facts *f = p->facts;
    int32_t by_phy = f->has_phy && f->n_census > 0 && f->n_npu > 0;
    int32_t *slot = cpubind_arena_ints(p->arena, f->n_npu);
    if (!slot)
        return fail_memory(p);
    for (int32_t i = 0; i < f->n_npu; i++)
        by_phy &= f->npu[i].phy < f->n_census;
    for (int32_t i = 0; i < f->n_npu; i++)
        slot[i] = by_phy ? f->npu[i].phy : f->npu[i].logic;
    p->devices.slot = slot;
    p->devices.total = by_phy ? f->n_census : f->n_npu + f->n_unknown;
    p->out->total = p->devices.total;
    if (!by_phy)
        warn(p, CPUBIND_WARNING_ONLY_LOGIC_IDS);
    return CPUBIND_PROBLEM_NONE;
}

/* Copies the affinity lists, in the order of the NPUs. */
static cpubind_problem_code lay_affinity(planner *p)
{
    const cpubind_facts *f = p->facts;
    int32_t total = 0;
    int32_t *row = cpubind_arena_ints(p->arena, f->n_npu + 1);
    int32_t *cpu;
    for (int32_t i = 0; i < f->n_npu; i++)
        total += f->npu[i].affinity_count;
    cpu = cpubind_arena_ints(p->arena, total);
    if (!row || !cpu)
        return fail_memory(p);
    row[0] = 0;
    for (int32_t i = 0; i < f->n_npu; i++) {
        int32_t n = f->npu[i].affinity_count;
        if (n > 0)
            memcpy(cpu + row[i], f->affinity + f->npu[i].affinity_first,
                   (size_t)n * sizeof *cpu);
        row[i + 1] = row[i] + n;
    }
    p->devices.affinity.cpu = cpu;
    p->devices.affinity.row = row;
    p->devices.affinity.n = f->n_npu;
    return CPUBIND_PROBLEM_NONE;
}

/* The policy for the core. A cluster has the role main alone, whatever the product is. */
static void choose_policy(planner *p)
{
    static const cpubind_role_spec main_only = CPUBIND_ROLES_MAIN;
    const cpubind_facts *f = p->facts;
    const cpubind_cluster_shape *shape = &p->product->cluster;
    const int is_cluster = f->strategy == CPUBIND_CLUSTER;
    p->policy.strategy = f->strategy;
    p->policy.overlap = p->request->overlap;
    p->policy.roles = is_cluster ? main_only : p->product->roles;
    p->policy.cluster = shape->cores * f->threads;
    p->policy.has_spare_node = is_cluster;
    p->policy.spare_node = shape->uvb_node;
    p->out->roles = p->policy.roles;
}

static int32_t logic_of(const planner *p, int32_t device)
{
    return device < 0 ? -1 : p->facts->npu[device].logic;
}

/* Turns a refusal of the core into a problem of this host. A plan by clusters that cannot be
 * made is SKIPPED, as vllm-ascend does. */
static cpubind_problem_code translate(planner *p, cpubind_status status,
                                      const cpubind_fault *fault)
{
    int32_t is_cluster = p->policy.strategy == CPUBIND_CLUSTER;
    int32_t is_slice = p->policy.strategy == CPUBIND_GLOBAL_SLICE;
    p->problem->npu = logic_of(p, fault->device);
    p->problem->other = logic_of(p, fault->other);
    p->problem->cpu = fault->cpu;
    p->problem->need = fault->need;
    p->problem->have = fault->have;
    switch (status) {
    case CPUBIND_ERR_EMPTY:
        p->problem->need = 0;
        return fail(p, is_cluster ? CPUBIND_PROBLEM_SKIPPED : CPUBIND_PROBLEM_NO_LOCAL_CPUS,
                    p->facts->npu[fault->device].affinity_count > 0
                        ? "none of the CPUs near it is allowed"
                        : "which CPUs are near it is not known");
    case CPUBIND_ERR_TOO_FEW:
        if (is_slice)
            p->problem->npu = -1;
        return fail(p, CPUBIND_PROBLEM_TOO_FEW_CPUS,
                    is_slice ? "a slice for each NPU of the host is too small for the roles"
                             : "its pool is too small for the roles");
    case CPUBIND_ERR_OVERLAP:
        return fail(p, CPUBIND_PROBLEM_OVERLAP,
                    fault->cpu < 0 ? "two NPUs have the same phy id" : "two pools share a CPU");
    case CPUBIND_ERR_UNKNOWN:
        return fail(p, CPUBIND_PROBLEM_UNKNOWN_NPU,
                    "its id is not below the number of NPUs that slices are cut for");
    case CPUBIND_ERR_SPREAD:
        return fail(p, CPUBIND_PROBLEM_SKIPPED, "the CPUs near it are on several nodes");
    case CPUBIND_ERR_CLUSTERS:
        return fail(p, CPUBIND_PROBLEM_SKIPPED,
                    "its node has too few whole clusters for the NPUs there");
    default:
        return fail(p, CPUBIND_PROBLEM_UNREADABLE, cpubind_status_text(status));
    }
}

/* Lists the CPUs for the host's UVB polling threads: the CPUs of the UVB node that no cluster
 * has, without the kept CPU. */
static cpubind_problem_code find_spare(planner *p)
{
    const cpubind_facts *f = p->facts;
    int32_t skip = p->out->core.spare_taken;
    p->out->spare = cpubind_arena_ints(p->arena, f->n_cpu);
    if (!p->out->spare)
        return fail_memory(p);
    for (int32_t i = 0; i < f->n_cpu; i++) {
        if (f->node[i] != p->policy.spare_node || skip-- > 0)
            continue;
        if (f->cpu[i] != p->product->cluster.kept_cpu)
            p->out->spare[p->out->n_spare++] = f->cpu[i];
    }
    if (p->out->n_spare == 0)
        warn(p, CPUBIND_WARNING_NO_SPARE);
    return CPUBIND_PROBLEM_NONE;
}

static void note_findings(planner *p)
{
    const cpubind_plan *plan = &p->out->core;
    if (plan->overlap == CPUBIND_FOUND_RESOLVED)
        warn(p, CPUBIND_WARNING_RESOLVED);
    if (plan->overlap == CPUBIND_FOUND_PRESENT)
        warn(p, CPUBIND_WARNING_OVERLAP);
}

static cpubind_problem_code call_core(planner *p)
{
    cpubind_plan *plan = &p->out->core;
    cpubind_fault fault;
    cpubind_status status;
    int32_t times = p->policy.overlap == CPUBIND_OVERLAP_KEEP ? p->out->n_want : 1;
    plan->want = p->out->want;
    plan->n_want = p->out->n_want;
    plan->cap_cpu = CPUBIND_PLAN_CPUS_KEEP(p->host.n_cpu, times);
    plan->cap_work = CPUBIND_PLAN_WORK(p->host.n_cpu, p->host.n_node, p->devices.affinity.n,
                                       p->devices.affinity.row[p->devices.affinity.n]);
    plan->cpu = cpubind_arena_ints(p->arena, plan->cap_cpu);
    plan->row = cpubind_arena_ints(p->arena, plan->n_want + 1);
    plan->work = cpubind_arena_ints(p->arena, plan->cap_work);
    if (!plan->cpu || !plan->row || !plan->work)
        return fail_memory(p);
    status = cpubind_make_plan(&p->host, &p->devices, &p->policy, plan, &fault);
    if (status != CPUBIND_OK)
        return translate(p, status, &fault);
    note_findings(p);
    return plan->strategy == CPUBIND_CLUSTER ? find_spare(p) : CPUBIND_PROBLEM_NONE;
}

/* Refuses a number of threads a core for which no cluster is defined. */
static cpubind_problem_code check_threads(planner *p)
{
    if (p->facts->strategy != CPUBIND_CLUSTER || p->facts->threads == 1 ||
        p->facts->threads == 2)
        return CPUBIND_PROBLEM_NONE;
    return fail(p, CPUBIND_PROBLEM_SKIPPED,
                p->facts->threads == 0 ? "the number of threads a core is not known"
                                       : "clusters are known for 1 or 2 threads a core only");
}

cpubind_problem_code cpubind_ascend_make_plan(const cpubind_facts *facts,
                                              const cpubind_request *request,
                                              cpubind_arena *arena, cpubind_ascend_plan *out,
                                              cpubind_problem *problem)
{
    planner p;
    cpubind_problem_code code;
    memset(&p, 0, sizeof p);
    memset(out, 0, sizeof *out);
    p.facts = facts;
    p.request = request;
    p.arena = arena;
    p.out = out;
    p.problem = problem;
    p.product = cpubind_product_of(facts->type);
    p.host.cpu = facts->cpu;
    p.host.node = facts->node;
    p.host.node_id = facts->node_id;
    p.host.n_cpu = facts->n_cpu;
    p.host.n_node = facts->n_node;
    out->warnings = facts->warnings;
    out->total = facts->n_npu + facts->n_unknown;
    choose_policy(&p);
    code = choose_ours(&p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = choose_rank(&p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = check_threads(&p);
    if (code == CPUBIND_PROBLEM_NONE)
        code = lay_affinity(&p);
    if (code == CPUBIND_PROBLEM_NONE && facts->strategy == CPUBIND_GLOBAL_SLICE)
        code = choose_slots(&p);
    return code == CPUBIND_PROBLEM_NONE ? call_core(&p) : code;
}
