/* host_plan.c - one plan for all workers of a host, and the goal of each
 * SPDX-License-Identifier: MIT
 *
 * Each NPU has the allowed CPUs of its own workers, so that no scope is asked. Moves nothing.
 */
#include <stdio.h>
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

void cpubind_host_free_parts(cpubind_host_bind *h)
{
    for (int32_t i = 0; i < h->n; i++)
        h->entry[i]->part = -1;
    for (int32_t i = 0; i < h->n_part; i++) {
        free(h->part[i].cpu);
        free(h->part[i].npu_id);
        free(h->part[i].visible);
        cpubind_host_free_plan(&h->part[i].plan);
    }
    free(h->part);
    h->part = NULL;
    h->n_part = h->cap_part = 0;
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
    request.wants_pci = 1;
    return make(h, &request, 0, &h->facts);
}

/* == The NPUs with workers ================================================== */

static int32_t logic_of(const cpubind_host_bind *h, const host_entry *e)
{
    return h->facts.facts.npu[e->npu].logic;
}

/* Lists the NPUs of a part, ascending, as numbers and as the text of the visible devices, which
 * does not leave any of them out. */
static int list_npus(cpubind_host_bind *h, int32_t place)
{
    host_part *part = &h->part[place];
    const size_t n = (size_t)h->n + 1;
    size_t len = 0;
    part->npu_id = (int32_t *)h->sys->malloc(n * sizeof *part->npu_id);
    part->visible = (char *)h->sys->malloc(n * 12);
    if (!part->npu_id || !part->visible)
        return 0;
    for (int32_t i = 0; i < h->n; i++)
        if (h->entry[i]->npu >= 0 && h->entry[i]->part == place)
            part->npu_id[part->n_npu++] = logic_of(h, h->entry[i]);
    if (part->n_npu > 0 && cpubind_sort_unique(part->npu_id, &part->n_npu, NULL) != CPUBIND_OK)
        return 0;
    *part->visible = '\0';
    for (int32_t i = 0; i < part->n_npu; i++)
        len += (size_t)snprintf(part->visible + len, 12, "%s%d", i ? "," : "",
                                (int)part->npu_id[i]);
    return 1;
}

/* == Allowed CPUs =========================================================== */

/* Writes the CPUs that any worker of an NPU may have to h->cpus, ascending.
 *   returns their number; 0: those of no worker are known */
static int32_t join_allowed(cpubind_host_bind *h, int32_t npu)
{
    int32_t n = 0;
    memset(h->cpus, 0, CPUBIND_MAX_CPUS * sizeof *h->cpus);
    for (int32_t i = 0; i < h->n; i++)
        for (int32_t k = 0; h->entry[i]->npu == npu && k < h->entry[i]->n_allowed; k++)
            h->cpus[h->entry[i]->allowed[k]] = 1;
    for (int32_t id = 0; id < CPUBIND_MAX_CPUS; id++)
        if (h->cpus[id])
            h->cpus[n++] = id;
    return n;
}

/* The part of these CPUs, which is added if there is none: its index, or -1 without memory. */
static int32_t take_part(cpubind_host_bind *h, const int32_t *cpu, int32_t n)
{
    const size_t size = (size_t)n * sizeof *cpu;
    host_part *part;
    for (int32_t i = 0; i < h->n_part; i++)
        if (h->part[i].n_cpu == n && (n == 0 || memcmp(h->part[i].cpu, cpu, size) == 0))
            return i;
    part = (host_part *)cpubind_grow(h->sys, h->part, h->n_part, &h->cap_part, sizeof *part);
    if (!part)
        return -1;
    h->part = part;
    part += h->n_part;
    *part = (host_part){.cpu = (int32_t *)h->sys->malloc(size + 1), .n_cpu = n};
    if (!part->cpu)
        return -1;
    if (n > 0)
        memcpy(part->cpu, cpu, size);
    return h->n_part++;
}

/* Shares the workers out to parts; a part without workers if there is none. */
static int make_parts(cpubind_host_bind *h)
{
    const cpubind_request *q = &h->options.request;
    cpubind_host_free_parts(h);
    for (int32_t i = 0; i < h->n; i++) {
        const int32_t npu = h->entry[i]->npu;
        int32_t part;
        if (npu < 0 || h->entry[i]->part >= 0)
            continue;
        part = q->allowed ? take_part(h, q->allowed, q->n_allowed)
                          : take_part(h, h->cpus, join_allowed(h, npu));
        if (part < 0)
            return 0;
        for (int32_t k = i; k < h->n; k++)
            if (h->entry[k]->npu == npu)
                h->entry[k]->part = part;
    }
    return h->n_part > 0 || take_part(h, q->allowed, q->allowed ? q->n_allowed : 0) >= 0;
}

/* Whether two parts have a CPU in common, or the CPUs of one are not known. */
static int do_parts_overlap(cpubind_host_bind *h)
{
    memset(h->cpus, 0, CPUBIND_MAX_CPUS * sizeof *h->cpus);
    for (int32_t i = 0; i < h->n_part; i++) {
        if (h->part[i].n_cpu == 0)
            return 1;
        for (int32_t k = 0; k < h->part[i].n_cpu; k++)
            if (h->cpus[h->part[i].cpu[k]]++)
                return 1;
    }
    return 0;
}

static cpubind_problem_code plan_part(cpubind_host_bind *h, int32_t place, cpubind_scope scope)
{
    host_part *part = &h->part[place];
    cpubind_request request = h->options.request;
    if (!list_npus(h, place)) {
        cpubind_problem_clear(&part->plan.problem);
        part->plan.problem.code = part->plan.code = CPUBIND_PROBLEM_NO_MEMORY;
        return part->plan.code;
    }
    request.npu = part->npu_id;
    request.n_npu = part->n_npu;
    request.visible = part->visible;
    request.visible_len = (int32_t)strlen(part->visible);
    request.wants_pci = 1;
    request.allowed = part->n_cpu > 0 ? part->cpu : NULL;
    request.n_allowed = part->n_cpu;
    request.scope = scope;
    return make(h, &request, 1, &part->plan);
}

cpubind_problem_code cpubind_host_make_plan(cpubind_host_bind *h)
{
    cpubind_scope scope = h->options.request.scope;
    memset(&h->plan, 0, sizeof h->plan);
    if (!make_parts(h)) {
        cpubind_host_free_parts(h);
        cpubind_problem_clear(&h->plan.problem);
        h->plan.problem.code = h->plan.code = CPUBIND_PROBLEM_NO_MEMORY;
        return h->plan.code;
    }
    if (h->n_part > 1 && scope != CPUBIND_SCOPE_HOST)
        scope = do_parts_overlap(h) ? CPUBIND_SCOPE_HOST : CPUBIND_SCOPE_OWN;
    for (int32_t i = 0; i < h->n_part; i++) {
        const cpubind_problem_code code = plan_part(h, i, scope);
        if (i == 0 || (code == CPUBIND_PROBLEM_NONE && h->plan.code != CPUBIND_PROBLEM_NONE))
            h->plan = h->part[i].plan;
    }
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

static cpubind_problem_code make_goal(void *ctx, cpubind_arena *arena)
{
    const goal_making *m = (const goal_making *)ctx;
    return cpubind_goal_make(&m->source, &m->request, arena, m->out, m->problem);
}

uint64_t cpubind_host_add_sum(uint64_t sum, const void *data, size_t len)
{
    const unsigned char *byte = (const unsigned char *)data;
    for (size_t i = 0; i < len; i++)
        sum = (sum ^ byte[i]) * 0x100000001b3u;
    return sum;
}

static uint64_t add_cpus(uint64_t sum, cpubind_cpus cpus)
{
    sum = cpubind_host_add_sum(sum, &cpus.n, sizeof cpus.n);
    return cpus.n > 0 ? cpubind_host_add_sum(sum, cpus.cpu, (size_t)cpus.n * sizeof *cpus.cpu)
                      : sum;
}

static uint64_t sum_of(const cpubind_goal *goal)
{
    uint64_t sum = CPUBIND_HOST_SUM;
    sum = cpubind_host_add_sum(sum, &goal->npu, sizeof goal->npu);
    sum = cpubind_host_add_sum(sum, &goal->memory_node, sizeof goal->memory_node);
    sum = add_cpus(add_cpus(sum, goal->main), goal->uvb);
    for (int32_t i = 0; i < goal->n_rule; i++) {
        sum = cpubind_host_add_sum(sum, goal->rule[i].name, strlen(goal->rule[i].name) + 1);
        sum = add_cpus(sum, goal->rule[i].cpus);
    }
    for (int32_t i = 0; i < goal->n_irq; i++) {
        sum = cpubind_host_add_sum(sum, &goal->irq[i].irq, sizeof goal->irq[i].irq);
        sum = cpubind_host_add_sum(sum, &goal->irq[i].cpu, sizeof goal->irq[i].cpu);
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

cpubind_problem_code cpubind_host_make_goal(cpubind_host_bind *h, const host_entry *e,
                                            cpubind_goal *goal, uint64_t *sum,
                                            cpubind_problem *problem)
{
    const cpubind_host_plan *p = e->part < 0 ? &h->plan : &h->part[e->part].plan;
    goal_making m = {.source = cpubind_linux_source(h->live), .out = goal, .problem = problem};
    cpubind_problem_code code = p->code;
    cpubind_problem_clear(problem);
    *problem = p->problem;
    m.request = (cpubind_goal_request){.facts = &p->facts,
                                       .plan = &p->plan,
                                       .row = -1,
                                       .wish = h->options.wish,
                                       .n_wish = h->options.n_wish,
                                       .threads = h->options.threads,
                                       .n_process = e->row.n_process,
                                       .process = e->row.process};
    if (code == CPUBIND_PROBLEM_NONE && e->npu < 0) {
        code = make_other_goal(p, goal);
    } else if (code == CPUBIND_PROBLEM_NONE) {
        for (int32_t i = 0; i < p->plan.n_want; i++)
            if (p->facts.npu[p->plan.want[i]].logic == e->row.npu)
                m.request.row = i;
        for (int32_t i = 0; i < p->plan.n_poolless; i++)
            if (p->facts.npu[p->plan.poolless[i].npu].logic == e->row.npu) {
                *problem = p->plan.poolless[i].problem;
                return problem->code;
            }
        code = cpubind_host_with_arena(h->sys, &h->goal_arena, make_goal, &m);
    }
    if (code == CPUBIND_PROBLEM_NONE)
        *sum = sum_of(goal);
    return code;
}
