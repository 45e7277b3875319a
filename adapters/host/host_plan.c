/* host_plan.c - one plan for all workers of a host, and the goal of each
 * SPDX-License-Identifier: MIT
 *
 * Each NPU has the allowed CPUs of its own workers, so that no scope is asked. Moves nothing.
 */
#include <stdlib.h>
#include <string.h>

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

void cpubind_host_free_plan(cpubind_host_plan *plan)
{
    free(plan->arena.base);
    memset(plan, 0, sizeof *plan);
}

/* == Facts and plan ========================================================= */

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
    making m = {cpubind_linux_source(h->facts_host), request, out, is_plan};
    if (h->options.source)
        m.source = *h->options.source;
    out->code = cpubind_host_with_arena(h->sys, &out->arena, make_plan, &m);
    return out->code;
}

cpubind_problem_code cpubind_host_read_facts(cpubind_host_bind *h)
{
    cpubind_request request = h->options.request;
    if (h->options.devices)
        return cpubind_host_read_devices(h);
    request.wants_pci = 1;
    return make(h, &request, 0, &h->facts);
}

cpubind_problem_code cpubind_host_make_plan(cpubind_host_bind *h)
{
    cpubind_request request = h->options.request;
    cpubind_host_user *user;
    int32_t n = 0;
    int is_made;
    if (h->options.devices)
        return cpubind_host_plan_devices(h);
    user = (cpubind_host_user *)h->sys->malloc(((size_t)h->n + 1) * sizeof *user);
    for (int32_t i = 0; user && i < h->n; i++)
        if (h->entry[i]->npu >= 0 && !h->entry[i]->row.parent && !h->entry[i]->is_stale)
            user[n++] = (cpubind_host_user){h->entry[i]->npu,
                                            {h->entry[i]->allowed, h->entry[i]->n_allowed}};
    cpubind_host_free_allowed(&h->allowed);
    request.wants_pci = 1;
    is_made = user && cpubind_host_allow(h->sys, &h->facts.facts, user, n,
                                         h->options.tree && n == 0, &h->allowed, &request);
    free(user);
    if (is_made)
        return make(h, &request, 1, &h->plan);
    cpubind_problem_clear(&h->plan.problem);
    h->plan.problem.code = h->plan.code = CPUBIND_PROBLEM_NO_MEMORY;
    h->plan.has_facts = 0;
    return h->plan.code;
}

/* == Goals ================================================================== */

/* The arguments of make_goal. */
typedef struct goal_making {
    cpubind_source source;
    cpubind_goal_request request;
    cpubind_goal *out;
    cpubind_problem *problem;
} goal_making;

/* The arguments of make_device_goal. */
typedef struct device_making {
    cpubind_host_bind *h;
    host_entry *e;
    cpubind_goal *out;
} device_making;

static cpubind_problem_code make_device_goal(void *ctx, cpubind_arena *arena)
{
    const device_making *m = (const device_making *)ctx;
    return cpubind_host_make_device_goal(m->h, m->e, arena, m->out);
}

static cpubind_problem_code make_goal(void *ctx, cpubind_arena *arena)
{
    const goal_making *m = (const goal_making *)ctx;
    return cpubind_goal_make(&m->source, &m->request, arena, m->out, m->problem);
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

cpubind_problem_code cpubind_host_make_goal(cpubind_host_bind *h, host_entry *e,
                                            cpubind_goal *goal, uint64_t *sum,
                                            cpubind_problem *problem)
{
    const cpubind_host_plan *p = &h->plan;
    goal_making m = {.source = cpubind_linux_source(h->live), .out = goal, .problem = problem};
    device_making of_device = {h, e, goal};
    cpubind_problem_code code = p->code;
    cpubind_problem_clear(problem);
    if (e->row.parent) {
        code = cpubind_host_make_child_goal(h, e, goal);
        *sum = code == CPUBIND_PROBLEM_NONE ? sum_of(goal) : 0;
        return code;
    }
    *problem = p->problem;
    m.request = (cpubind_goal_request){.facts = &p->facts,
                                       .plan = &p->plan,
                                       .row = -1,
                                       .wish = h->options.wish,
                                       .n_wish = h->options.n_wish,
                                       .threads = h->options.threads,
                                       .n_process = e->row.n_process,
                                       .process = e->row.process};
    for (int32_t i = 0; p->has_facts && e->npu >= 0 && i < p->plan.n_poolless; i++)
        if (p->facts.npu[p->plan.poolless[i].npu].logic == e->row.npu) {
            *problem = p->plan.poolless[i].problem;
            return problem->code;
        }
    if (code == CPUBIND_PROBLEM_NONE && e->npu < 0) {
        code = make_other_goal(p, goal);
    } else if (code == CPUBIND_PROBLEM_NONE && h->options.devices) {
        code = cpubind_host_with_arena(h->sys, &h->goal_arena, make_device_goal, &of_device);
        problem->code = code;
    } else if (code == CPUBIND_PROBLEM_NONE) {
        for (int32_t i = 0; i < p->plan.n_want; i++)
            if (p->facts.npu[p->plan.want[i]].logic == e->row.npu)
                m.request.row = i;
        code = cpubind_host_with_arena(h->sys, &h->goal_arena, make_goal, &m);
    }
    if (code == CPUBIND_PROBLEM_NONE)
        *sum = sum_of(goal);
    return code;
}
