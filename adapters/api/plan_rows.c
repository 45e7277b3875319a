/* plan_rows.c - the rows of a plan that are shown: devices, tiles of them, and their ranks
 * SPDX-License-Identifier: MIT
 */
#include <strings.h>

#include "../model/vendor.h"
#include "../text/cpulist.h"
#include "device_plan.h"

const char *api_strategy_word(cpubind_strategy strategy)
{
#define API_X(name, word) [CPUBIND_##name] = word,
    static const char *const words[] = {API_STRATEGY_LIST(API_X)[CPUBIND_NEAR] = "near"};
#undef API_X
    return words[strategy];
}

int32_t api_find_role(const char *word)
{
    int32_t i = CPUBIND_ALL_ROLES - 1;
    while (i >= 0 && strcasecmp(cpubind_role_name((cpubind_role)i), word) != 0)
        i--;
    return i;
}

/* == Ranks ================================================================== */

/* Whether ranks of the first device are tiles of it. */
static int has_tiles(const cpubind_facts *facts)
{
    const cpubind_host_device *device = &facts->bus[0];
    return facts->is_joined && device->accelerator.n_tile > 1 && device->n_number > 0 &&
           device->tile[0] >= 0;
}

int api_drives_only_device(const cpubind_facts *facts, const api_options *options)
{
    return (facts->is_joined && facts->n_bus > 1) || has_tiles(facts) ||
           options->topo.n_named == 1;
}

void api_add_only_device(const cpubind_facts *facts, api_text *why)
{
    if (!facts->is_joined || facts->n_bus != 1 || has_tiles(facts))
        return;
    api_add(why, ": this is the only one of the host, and its ranks would have the same CPUs; "
                 "cpubind apply --all gives each process a part of them, and "
                 "--device ");
    api_add_pci(why, &facts->bus[0].pci);
    api_add(why, " for each rank lets them share");
}

const char *api_rank_doubt(const cpubind_facts *f, const api_options *options)
{
    const char *why = NULL;
    int32_t n_shown = 0;
    for (int32_t i = 0; f->is_joined && i < f->n_bus; i++) {
        if (f->bus[i].sight == CPUBIND_SIGHT_UNKNOWN && !why)
            why = f->runtime[f->bus[i].accelerator.vendor].why;
        n_shown += f->bus[i].sight != CPUBIND_SIGHT_HIDDEN;
    }
    return n_shown > 1 && options->topo.n_named == 0 ? why : NULL;
}

/* == Rows =================================================================== */

/* The node of an NPU by the plan, which knows the CPUs near it. */
static int32_t node_of(const cpubind_device_plan *plan, int32_t npu)
{
    return plan->of_device[npu] < 0 ? -1 : plan->candidate[plan->of_device[npu]].node;
}

api_row api_shown(const cpubind_facts *facts, const cpubind_device_plan *plan, int32_t i)
{
    const cpubind_unit *unit = &plan->unit[i];
    const cpubind_host_device *npu = facts->device[unit->device];
    api_row row = {.device = npu,
                   .id = unit->id,
                   .rank = unit->rank < 0 ? 0 : unit->rank,
                   .tile = unit->tile,
                   .number = unit->number,
                   .cpu = unit->cpu,
                   .n = unit->n_cpu,
                   .role_cpu = unit->role_cpu,
                   .roles = unit->roles,
                   .memory_node = unit->memory_node,
                   .problem = unit->row < 0 ? &unit->problem : NULL};
    row.node = cpubind_is_listed(npu) ? node_of(plan, unit->device) : npu->node;
    if (unit->row >= 0 && unit->tile < 0)
        row.figures = api_figures_of_row(plan, unit->row);
    for (int32_t k = 0; k < facts->n_device; k++)
        row.rank += cpubind_is_listed(facts->device[k]) && facts->device[k]->is_visible &&
                    k < unit->device;
    return row;
}

api_name api_row_name(const api_row *row)
{
    return api_name_with(row->device, row->number);
}

int api_add_name(api_text *to, const api_row *row)
{
    const api_name name = api_row_name(row);
    if (name.number >= 0)
        api_add_names(to, &name, 1);
    return name.number >= 0;
}

void api_add_candidate(api_text *to, const cpubind_facts *facts,
                       const cpubind_candidate *candidate)
{
    if (candidate->device >= 0) {
        const api_name name = api_name_of(facts->device[candidate->device]);
        api_add_names(to, &name, 1);
    } else if (candidate->function >= 0) {
        api_add(to, "the hidden device ");
        api_add_pci(to, &facts->bus[candidate->function].pci);
    } else {
        api_add(to, "a hidden device");
    }
}

void api_add_row(api_text *to, const cpubind_facts *facts, const api_row *row)
{
    api_add(to, "%s %d", facts->noun, (int)row->id);
}

int api_is_of_bus(const api_planned *p, const api_options *options)
{
    return api_asks_for_devices(options) || !p->facts.has_listed;
}

int32_t api_rank_row(const api_planned *p, const api_options *options)
{
    const int32_t rank = options->request.rank, n = p->plan.n_unit;
    int32_t only = -1;
    if (!options->request.has_rank)
        return -1;
    if (api_is_of_bus(p, options))
        return rank < n ? rank : n == 1 && api_drives_only_device(&p->facts, options) ? 0 : -1;
    for (int32_t i = 0; i < n; i++) {
        if (p->plan.unit[i].row != p->plan.rank_row)
            continue;
        if (api_shown(&p->facts, &p->plan, i).rank == rank)
            return i;
        only = i;
    }
    return only;
}

int32_t api_unit_of(const api_planned *p, const api_options *options)
{
    if (options->request.has_rank)
        return api_rank_row(p, options);
    for (int32_t i = 0; !api_is_of_bus(p, options) && i < p->plan.n_unit; i++)
        if (p->plan.unit[i].row == p->plan.rank_row)
            return options->one_npu >= 0 || p->plan.n_unit == 1 ? i : -1;
    return p->plan.n_unit == 1 ? 0 : -1;
}

int32_t api_nodes_of(const cpubind_facts *facts, const int32_t *cpu, int32_t n_cpu,
                     int32_t *out)
{
    int32_t n = 0;
    for (int32_t i = 0; i < facts->n_node; i++) {
        int32_t touched = 0;
        for (int32_t k = 0; k < n_cpu && !touched; k++)
            touched = facts->node_of[cpu[k]] == facts->node_id[i];
        if (touched)
            out[n++] = facts->node_id[i];
    }
    return n;
}

void api_explain_row(const api_planned *p, const api_options *options, const api_row *row,
                     api_text *to)
{
    const cpubind_problem *problem = row->problem;
    if (cpubind_is_listed(row->device)) {
        api_explain_problem(problem, &p->facts, options, to);
        return;
    }
    api_add_pci(to, &row->device->pci);
    if (row->tile >= 0)
        api_add(to, ", tile %d,", (int)row->tile);
    if (problem->code == CPUBIND_PROBLEM_TOO_FEW_CPUS && problem->need > 0)
        api_add(to, " has no pool: its roles need %d CPU%s, it would have %d",
                (int)problem->need, problem->need == 1 ? "" : "s", (int)problem->have);
    else
        api_add(to, " has no pool: the CPUs near it are not known, or none is allowed");
    if (row->device->origin == CPUBIND_NODE_ORIGIN_UNKNOWN)
        api_add(to, "; no file of the kernel tells its node");
}
