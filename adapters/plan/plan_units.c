/* plan_units.c - what each process drives: a device of any vendor, or a tile of one
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. This file cuts no pool but into the parts of its tiles and
 * processes.
 */
#include "plan_parts.h"

/* == Units ================================================================== */

/* Takes the pool of the device of a unit, or why it has none. Returns whether the plan is for
 * the device. */
static int take_row(const cpubind_facts *f, const cpubind_device_plan *plan,
                    const cpubind_problem *refusal, cpubind_unit *unit)
{
    int is_one = 0;
    unit->row = unit->memory_node = -1;
    unit->problem = *refusal;
    for (int32_t i = 0; i < plan->n_poolless; i++) {
        if (plan->poolless[i].device != unit->device)
            continue;
        unit->problem = plan->poolless[i].problem;
        is_one = 1;
    }
    for (int32_t row = 0; row < plan->n_want; row++) {
        if (plan->want[row] != unit->device)
            continue;
        unit->row = row;
        unit->cpu = plan->core.cpu + plan->core.row[row];
        unit->n_cpu = plan->core.row[row + 1] - plan->core.row[row];
        unit->role_cpu = plan->role_cpu + plan->role_row[row];
        unit->roles = plan->role_span[row];
        unit->memory_node = cpubind_plan_memory_node(f, plan, row);
        cpubind_problem_clear(&unit->problem);
        is_one = 1;
    }
    return is_one;
}

/* Cuts the pool of a unit into the part of its tile; without it when that is too small. */
static cpubind_problem_code take_tile(const cpubind_facts *f, const cpubind_request *request,
                                      const cpubind_device_plan *plan, cpubind_unit *unit,
                                      cpubind_arena *arena)
{
    const int32_t n_tile = f->device[unit->device]->accelerator.n_tile;
    const int32_t n_process = request->n_process > 1 ? request->n_process : 1;
    cpubind_part part;
    int32_t *cpu = cpubind_arena_ints(arena, unit->n_cpu);
    cpubind_problem_code code = cpubind_plan_place_process(
        f, plan, unit->row, n_tile * n_process, unit->tile * n_process + request->process,
        arena, &part, &unit->problem);
    if (!cpu)
        return CPUBIND_PROBLEM_NO_MEMORY;
    if (code == CPUBIND_PROBLEM_TOO_FEW_CPUS) {
        unit->n_cpu = 0;
        memset(&unit->roles, 0, sizeof unit->roles);
        unit->row = unit->memory_node = -1;
        return CPUBIND_PROBLEM_NONE;
    }
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    memcpy(cpu, part.cpu, (size_t)part.n * sizeof *cpu);
    unit->cpu = cpu;
    unit->n_cpu = part.n;
    unit->role_cpu = part.cpu;
    unit->roles = part.roles;
    return cpubind_list_sort(cpu, &unit->n_cpu) ? CPUBIND_PROBLEM_NONE
                                                : CPUBIND_PROBLEM_UNREADABLE;
}

int cpubind_plan_units(const cpubind_facts *f, const cpubind_request *request,
                       const cpubind_problem *refusal, cpubind_arena *arena,
                       cpubind_device_plan *plan)
{
    const cpubind_pci_rank *rank = f->rank;
    const int32_t base = cpubind_priv_first_other(f);
    plan->unit =
        (cpubind_unit *)cpubind_arena_take(arena, f->n_device + f->n_rank, sizeof *plan->unit);
    plan->n_unit = 0;
    if (!plan->unit)
        return 0;
    for (int32_t i = 0; i < f->n_listed && i < f->n_device; i++) {
        cpubind_unit *unit = &plan->unit[plan->n_unit];
        *unit = (cpubind_unit){.device = i,
                               .id = f->device[i]->logic,
                               .rank = -1,
                               .tile = -1,
                               .number = f->device[i]->logic};
        plan->n_unit += take_row(f, plan, refusal, unit);
    }
    for (int32_t k = 0; k < f->n_rank; k++) {
        cpubind_unit *unit = &plan->unit[plan->n_unit];
        *unit =
            (cpubind_unit){.device = cpubind_facts_device(f, rank[k].device),
                           .id = base + k,
                           .rank = k,
                           .tile = rank[k].tile,
                           .number = cpubind_pci_number(&f->bus[rank[k].device], rank[k].tile)};
        (void)take_row(f, plan, refusal, unit);
        if (unit->tile >= 0 && unit->n_cpu > 0 &&
            take_tile(f, request, plan, unit, arena) != CPUBIND_PROBLEM_NONE)
            return 0;
        plan->n_unit += (!f->has_listed && f->device[unit->device]->is_visible) ||
                        unit->row >= 0 || unit->problem.code != CPUBIND_PROBLEM_NONE;
    }
    return 1;
}
