/* view.c - what each CPU of a host is in a plan; the cores of a node; places and distances
 * SPDX-License-Identifier: MIT
 *
 * Prints nothing. See picture.h.
 */
#include <stdlib.h>
#include <string.h>

#include "picture.h"

api_row api_row_of(const cpubind_facts *facts, const cpubind_device_plan *plan, int32_t i)
{
    api_row row;
    memset(&row, 0, sizeof row);
    row.device = facts->device[plan->want[i]];
    row.cpu = plan->core.cpu + plan->core.row[i];
    row.n = plan->core.row[i + 1] - plan->core.row[i];
    row.role_cpu = plan->role_cpu + plan->role_row[i];
    row.roles = plan->role_span[i];
    row.memory_node = plan->memory_node[i];
    row.figures = api_figures_of_row(plan, i);
    return row;
}

const int32_t *api_role_of(const api_row *row, cpubind_role role, int32_t *n)
{
    *n = row->roles.span[role].count;
    return *n > 0 ? row->role_cpu + row->roles.span[role].first : NULL;
}

static const struct {
    const char *word;
    char letter;
    const char *text;
} kinds[API_CPU_KIND_COUNT] = {
#define API_X(name, word, letter, text) {word, letter, text},
    API_CPU_KINDS(API_X)
#undef API_X
};

const char *api_cpu_word(api_cpu_kind kind)
{
    return kinds[kind].word;
}

char api_cpu_letter(api_cpu_kind kind)
{
    return kinds[kind].letter;
}

const char *api_cpu_text(api_cpu_kind kind)
{
    return kinds[kind].text;
}

/* Marks CPUs of a list that are online. */
static void mark_list(api_view *v, const int32_t *cpu, int32_t n, api_cpu_kind kind)
{
    for (int32_t i = 0; i < n; i++)
        if (cpu[i] < v->facts->n_cpu_id && v->cpu[cpu[i]].kind != API_CPU_ABSENT)
            v->cpu[cpu[i]].kind = kind;
}

/* Marks the CPUs that the trace gives to a candidate; of those that are allowed also whose
 * they are. */
static void mark_trace(api_view *v)
{
    const cpubind_device_plan *plan = v->plan;
    for (int32_t i = 0; plan->owner && i < plan->host.n_cpu; i++) {
        api_cpu *cpu = &v->cpu[plan->host.cpu[i]];
        const int32_t device = plan->owner[i];
        cpu->at = i;
        cpu->device = device;
        if (device >= 0 && cpu->kind == API_CPU_IDLE)
            cpu->kind = plan->candidate[device].device < 0 ? API_CPU_HIDDEN : API_CPU_OTHER;
    }
}

/* Marks the pool of a row. */
static void mark_row(api_view *v, int32_t index)
{
    const cpubind_device_plan *plan = v->plan;
    const api_row row = api_row_of(v->facts, plan, index);
    const int32_t device = plan->of_device[plan->want[index]];
    for (int32_t i = 0; i < row.n; i++) {
        api_cpu *cpu = &v->cpu[row.cpu[i]];
        cpu->kind = cpu->row >= 0 ? API_CPU_TWICE : API_CPU_PROCESS;
        cpu->device = cpu->row >= 0 ? cpu->device : device;
        cpu->row = cpu->row >= 0 ? cpu->row : index;
    }
    for (int32_t role = 0; role < CPUBIND_ALL_ROLES; role++) {
        int32_t n;
        const int32_t *in_role = api_role_of(&row, (cpubind_role)role, &n);
        for (int32_t i = 0; i < n; i++) {
            api_cpu *cpu = &v->cpu[in_role[i]];
            cpu->kind = cpu->kind == API_CPU_PROCESS ? API_CPU_ROLE : cpu->kind;
            cpu->role = cpu->row == index ? (cpubind_role)role : cpu->role;
        }
    }
}

/* Sorts the CPUs by core, then by id. Returns the CPUs of the largest core; 0 without
 * memory. */
static int32_t sort_by_core(api_view *v)
{
    const cpubind_facts *facts = v->facts;
    int32_t most = 1, sum = 0;
    int32_t *start = (int32_t *)calloc(CPUBIND_MAX_CPUS, sizeof *start);
    if (!start)
        return 0;
    for (int32_t cpu = 0; cpu < facts->n_cpu_id; cpu++)
        if (facts->node_of[cpu] >= 0)
            start[cpubind_facts_core(facts, cpu)]++;
    for (int32_t core = 0; core < CPUBIND_MAX_CPUS; core++) {
        const int32_t n = start[core];
        most = n > most ? n : most;
        start[core] = sum;
        sum += n;
    }
    for (int32_t cpu = 0; cpu < facts->n_cpu_id; cpu++)
        if (facts->node_of[cpu] >= 0)
            v->by_core[start[cpubind_facts_core(facts, cpu)]++] = cpu;
    v->n_by_core = sum;
    free(start);
    return most;
}

/* == Places ================================================================= */

/* Returns 0 without memory. */
static int find_places(api_view *v)
{
    const cpubind_facts *facts = v->facts;
    const size_t n = (size_t)v->plan->n_candidate * (size_t)facts->n_node;
    v->place = (uint8_t *)calloc(n + 1, 1);
    for (int32_t i = 0; v->place && i < v->plan->n_candidate; i++) {
        const cpubind_candidate *c = &v->plan->candidate[i];
        const cpubind_host_device *d = cpubind_candidate_is(facts, c);
        uint8_t *place = v->place + (size_t)i * (size_t)facts->n_node;
        for (int32_t k = 0; k < d->n_cpu; k++) {
            const int32_t node = d->cpu[k] < facts->n_cpu_id
                                     ? cpubind_facts_node(facts, facts->node_of[d->cpu[k]])
                                     : -1;
            if (node >= 0)
                place[node] = 1;
        }
        if (d->n_cpu == 0 && cpubind_facts_node(facts, d->node) >= 0)
            place[cpubind_facts_node(facts, d->node)] = 1;
    }
    return v->place != NULL;
}

int api_make_view(const api_planned *planned, const api_options *options, api_view *out)
{
    const cpubind_facts *facts = &planned->facts;
    static const cpubind_device_plan none;
    const cpubind_device_plan *plan =
        planned->code == CPUBIND_PROBLEM_NONE ? &planned->plan : &none;
    const size_t n = (size_t)facts->n_cpu_id + 1;
    memset(out, 0, sizeof *out);
    out->facts = facts;
    out->plan = plan;
    out->cpu = (api_cpu *)calloc(n, sizeof *out->cpu);
    out->by_core = (int32_t *)malloc(n * sizeof *out->by_core);
    out->node_cpu = (int32_t *)malloc(n * sizeof *out->node_cpu);
    out->core_at = (int32_t *)malloc(n * sizeof *out->core_at);
    if (!out->cpu || !out->by_core || !out->node_cpu || !out->core_at)
        return 0;
    out->threads = sort_by_core(out);
    for (int32_t i = 0; i < facts->n_cpu_id; i++)
        out->cpu[i] = (api_cpu){facts->node_of[i] < 0 ? API_CPU_ABSENT : API_CPU_BARRED,
                                CPUBIND_ROLE_MAIN, -1, -1, -1};
    if (options && options->request.exclude)
        mark_list(out, options->request.exclude, options->request.n_exclude, API_CPU_EXCLUDED);
    mark_list(out, facts->cpu, facts->n_cpu, API_CPU_IDLE);
    mark_trace(out);
    mark_list(out, plan->kept, plan->n_kept, API_CPU_KEPT);
    mark_list(out, plan->spare, plan->n_spare, API_CPU_SPARE);
    for (int32_t i = 0; i < plan->n_beside; i++)
        mark_list(out, plan->beside[i].cpu, plan->beside[i].n_cpu, API_CPU_BESIDE);
    for (int32_t i = 0; i < plan->n_want; i++)
        mark_row(out, i);
    return out->threads > 0 && find_places(out);
}

void api_free_view(api_view *view)
{
    free(view->cpu);
    free(view->by_core);
    free(view->node_cpu);
    free(view->core_at);
    free(view->place);
}

void api_view_node(api_view *view, int32_t node)
{
    const cpubind_facts *facts = view->facts;
    int32_t n = 0, last = -1;
    view->n_core = 0;
    for (int32_t i = 0; i < view->n_by_core; i++) {
        const int32_t cpu = view->by_core[i];
        if (facts->node_of[cpu] != node)
            continue;
        if (n == 0 || cpubind_facts_core(facts, cpu) != last)
            view->core_at[view->n_core++] = n;
        last = cpubind_facts_core(facts, cpu);
        view->node_cpu[n++] = cpu;
    }
    view->core_at[view->n_core] = n;
}

int api_has_place(const api_view *view, int32_t candidate)
{
    int32_t node = 0;
    while (node < view->facts->n_node && !api_is_place(view, candidate, node))
        node++;
    return node < view->facts->n_node;
}

int api_is_place(const api_view *view, int32_t candidate, int32_t node)
{
    return candidate >= 0 &&
           view->place[(size_t)candidate * (size_t)view->facts->n_node + (size_t)node];
}

int32_t api_distance(const api_view *view, int32_t candidate, int32_t node)
{
    const cpubind_facts *facts = view->facts;
    int32_t least = -1;
    for (int32_t i = 0; facts->distance && i < facts->n_node; i++) {
        const int32_t distance = facts->distance[node * facts->n_node + i];
        if ((least < 0 || distance < least) && api_is_place(view, candidate, i))
            least = distance;
    }
    return least;
}

int32_t api_row_index(const cpubind_device_plan *plan, int32_t npu)
{
    for (int32_t i = 0; i < plan->n_want; i++)
        if (plan->want[i] == npu)
            return i;
    return -1;
}

int api_has_sockets(const cpubind_facts *facts)
{
    for (int32_t i = 1; facts->socket && i < facts->n_node; i++)
        if (facts->socket[i] != facts->socket[0])
            return 1;
    return 0;
}
