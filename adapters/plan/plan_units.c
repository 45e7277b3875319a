/* plan_units.c - the devices of any vendor as those of a plan, and what each process drives
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. This file cuts no pool but into the parts of its tiles and
 * processes.
 */
#include "plan_parts.h"

/* Whether inputs of its vendor have named this device: it is one of facts->device. */
static int is_found(const cpubind_facts *f, int32_t device)
{
    return f->has_listed && cpubind_vendor_of(f->bus[device].accelerator.vendor)->users;
}

/* The id of the first device that is no NPU: above those of NPUs, but for ids of a damaged
 * text, which no process sees. */
static int32_t first_id(const cpubind_facts *f)
{
    int32_t first = 0;
    for (int32_t i = 0; i < f->n_listed; i++)
        if (f->device[i].logic < CPUBIND_MAX_DEVICES && f->device[i].logic >= first)
            first = f->device[i].logic + 1;
    return first;
}

/* == Ranks ================================================================== */

/* Whether this process may drive a device as one of those that are no found NPUs. */
static int is_ranked(const cpubind_facts *f, int32_t device)
{
    const cpubind_pci_function *d = &f->bus[device];
    return d->sight != CPUBIND_SIGHT_HIDDEN && !is_found(f, device) &&
           (cpubind_facts_has_share(f, device) ||
            (d->parent >= 0 && d->sight == CPUBIND_SIGHT_VISIBLE));
}

/* Whether one runtime numbers all devices that are ranked. */
static int has_numbers(const cpubind_facts *f)
{
    cpubind_vendor_id vendor = CPUBIND_VENDOR_OTHER;
    for (int32_t i = 0; i < f->n_bus; i++) {
        const cpubind_pci_function *device = &f->bus[i];
        if (!is_ranked(f, i))
            continue;
        if (device->n_number == 0 ||
            (vendor != CPUBIND_VENDOR_OTHER && vendor != device->accelerator.vendor))
            return 0;
        vendor = device->accelerator.vendor;
    }
    return vendor != CPUBIND_VENDOR_OTHER;
}

/* The device with the smallest number from `least` on, which becomes *number, and its tile; the
 * device -1: none. */
static cpubind_pci_rank next_by_number(const cpubind_facts *f, int32_t least, int32_t *number)
{
    cpubind_pci_rank best = {-1, -1};
    for (int32_t i = 0; i < f->n_bus; i++)
        for (int32_t k = 0; is_ranked(f, i) && k < f->bus[i].n_number; k++)
            if (f->bus[i].number[k] >= least &&
                (best.device < 0 || f->bus[i].number[k] < *number)) {
                best.device = i;
                best.tile = f->bus[i].accelerator.n_tile > 1 ? f->bus[i].tile[k] : -1;
                *number = f->bus[i].number[k];
            }
    return best;
}

int32_t cpubind_pci_ranks(const cpubind_facts *f, cpubind_pci_rank *out)
{
    int32_t n = 0, number = -1;
    if (!has_numbers(f)) {
        for (int32_t i = 0; i < f->n_bus; i++)
            if (is_ranked(f, i))
                out[n++] = (cpubind_pci_rank){i, -1};
        return n;
    }
    for (;;) {
        const int32_t least = number + 1;
        const cpubind_pci_rank next = next_by_number(f, least, &number);
        if (next.device < 0 || (number > least && !f->is_part))
            return n;
        out[n++] = next;
    }
}

int32_t cpubind_pci_number(const cpubind_pci_function *device, int32_t tile)
{
    for (int32_t k = 0; k < device->n_number; k++)
        if (tile < 0 || device->tile[k] == tile)
            return device->number[k];
    return -1;
}

/* == Devices as those of a plan ============================================= */

/* Lets the rows of the bus that are no found NPUs take part. */
static void claim_others(cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_bus; i++) {
        if (is_found(f, i))
            continue;
        f->bus[i].n_device = cpubind_facts_has_share(f, i);
        f->bus[i].n_in_view = 0;
        f->bus[i].is_other = 1;
    }
    f->is_joined = 1;
}

/* Whether a plan is for a device that this process may see. Beside NPUs whose CPUs are this
 * process's own, one without files that it may open is of others. */
static int32_t is_visible(const cpubind_facts *f, int32_t device)
{
    return !f->has_listed || f->scope != CPUBIND_SCOPE_OWN ||
           f->runtime[f->bus[device].accelerator.vendor].n_file > 0;
}

/* Adds a device that this process may see, unless it is there or has no share. */
static void add_seen(cpubind_facts *f, int32_t device, const int32_t *first, int32_t logic)
{
    const cpubind_pci_function *d = &f->bus[device];
    const int32_t card = d->parent < 0 ? device : d->parent;
    for (int32_t i = 0; i < f->n_device; i++)
        if (f->device[i].bus == device)
            return;
    if (f->bus[card].n_device == 0)
        return;
    f->bus[card].n_in_view = 1;
    f->device[f->n_device++] = (cpubind_viewed){.logic = logic,
                                                .card = -1,
                                                .chip = -1,
                                                .phy = -1,
                                                .affinity_first = first[card],
                                                .affinity_count = f->bus[card].n_cpu,
                                                .pci = d->pci,
                                                .function = card,
                                                .bus = device,
                                                .is_part = d->parent >= 0 || d->is_split,
                                                .part = d->parent >= 0 ? d->part : -1,
                                                .vendor = d->accelerator.vendor,
                                                .is_visible = is_visible(f, device)};
}

/* Appends the CPUs near the devices to those near the NPUs. first[i]: where those of device i
 * begin. */
static int join_affinity(cpubind_facts *f, int32_t *first, cpubind_arena *arena)
{
    int32_t n_old = 0, n;
    int32_t *cpu;
    for (int32_t i = 0; i < f->n_device; i++)
        if (f->device[i].affinity_first + f->device[i].affinity_count > n_old)
            n_old = f->device[i].affinity_first + f->device[i].affinity_count;
    n = n_old;
    for (int32_t i = 0; i < f->n_bus; i++) {
        first[i] = n;
        n += f->bus[i].n_cpu;
    }
    cpu = cpubind_arena_ints(arena, n);
    if (!cpu)
        return 0;
    if (n_old > 0)
        memcpy(cpu, f->affinity, (size_t)n_old * sizeof *cpu);
    for (int32_t i = 0; i < f->n_bus; i++)
        if (f->bus[i].n_cpu > 0)
            memcpy(cpu + first[i], f->bus[i].cpu, (size_t)f->bus[i].n_cpu * sizeof *cpu);
    f->affinity = cpu;
    return 1;
}

int cpubind_plan_join(cpubind_facts *f, int is_for_others, cpubind_arena *arena)
{
    const cpubind_viewed *old = f->device;
    const int32_t base = first_id(f);
    int32_t *first = cpubind_arena_ints(arena, f->n_bus);
    cpubind_pci_rank *rank = (cpubind_pci_rank *)cpubind_arena_take(
        arena, f->n_bus * CPUBIND_PCI_NUMBERS, sizeof *rank);
    int32_t n_rank;
    f->device =
        (cpubind_viewed *)cpubind_arena_take(arena, f->n_device + f->n_bus, sizeof *f->device);
    if (!first || !rank || !f->device)
        return 0;
    if (f->n_device > 0)
        memcpy(f->device, old, (size_t)f->n_device * sizeof *old);
    for (int32_t i = 0; i < f->n_device; i++) {
        const int32_t device = cpubind_facts_on_bus(f, &f->device[i].pci);
        f->device[i].is_visible &= device < 0 ? !f->is_part : f->bus[device].is_asked;
    }
    if (!join_affinity(f, first, arena))
        return 0;
    claim_others(f);
    n_rank = cpubind_pci_ranks(f, rank);
    for (int32_t k = 0; k < n_rank; k++)
        add_seen(f, rank[k].device, first, base + k);
    for (int32_t i = 0; i < f->n_bus; i++)
        if (is_ranked(f, i) || (is_for_others && !is_found(f, i)))
            add_seen(f, i, first, base + n_rank + i);
    return 1;
}

void cpubind_plan_take_rules(cpubind_facts *devices, cpubind_rules rules)
{
    devices->rules = rules;
    devices->strategy = rules == CPUBIND_RULES_REFERENCE ? CPUBIND_TOPO_AFFINITY : CPUBIND_NEAR;
    devices->has_affinity = 1;
}

int cpubind_plan_takes_devices(const cpubind_facts *listed)
{
    return listed->rules == CPUBIND_RULES_NEAR && listed->strategy == CPUBIND_NEAR;
}

/* What the Ascend row found of an NPU, for a row of another reading of the bus. */
static void take_claim(cpubind_pci_function *to, const cpubind_pci_function *from)
{
    to->node = from->node;
    to->cpu = from->cpu;
    to->n_cpu = from->n_cpu;
    to->origin = from->origin;
    to->n_device = from->n_device;
    to->n_in_view = from->n_in_view;
    memcpy(to->phy, from->phy, sizeof to->phy);
}

int cpubind_plan_take_devices(cpubind_facts *listed, const cpubind_facts *devices,
                              cpubind_arena *arena)
{
    const int32_t n = devices->n_bus;
    cpubind_pci_function *bus =
        (cpubind_pci_function *)cpubind_arena_take(arena, n + listed->n_counted, sizeof *bus);
    int32_t *counted = cpubind_arena_ints(arena, listed->n_counted), n_row = n;
    if (!bus || !counted)
        return 0;
    if (n > 0)
        memcpy(bus, devices->bus, (size_t)n * sizeof *bus);
    for (int32_t k = 0; k < listed->n_counted; k++) {
        const cpubind_pci_function *from = &listed->bus[listed->counted[k]];
        const int32_t on_bus = cpubind_facts_on_bus(devices, &from->pci);
        counted[k] = on_bus < 0 ? n_row++ : on_bus;
        if (on_bus < 0)
            bus[counted[k]] = *from;
        take_claim(&bus[counted[k]], from);
    }
    for (int32_t i = 0; i < listed->n_listed; i++)
        for (int32_t k = 0; k < listed->n_counted && listed->device[i].function >= 0; k++)
            if (listed->counted[k] == listed->device[i].function) {
                listed->device[i].function = counted[k];
                break;
            }
    listed->counted = counted;
    listed->noun = devices->noun;
    listed->bus = bus;
    listed->n_bus = devices->n_bus;
    listed->host = devices->host;
    listed->has_bus = devices->has_bus;
    listed->is_part = devices->is_part;
    memcpy(listed->runtime, devices->runtime, sizeof listed->runtime);
    return 1;
}

/* Refuses facts in which the bus has a device that this process does not see, and the address
 * of one that it sees is not known: other processes order both by their addresses. */
static cpubind_problem_code check_addresses(const cpubind_facts *f, cpubind_problem *problem)
{
    int is_lost = 0, is_hidden = 0;
    for (int32_t i = 0; i < f->n_listed; i++)
        is_lost |= f->device[i].function < 0;
    for (int32_t i = 0; i < f->n_bus; i++)
        is_hidden |= f->bus[i].is_other && f->bus[i].n_in_view < f->bus[i].n_device;
    if (!is_lost || !is_hidden || f->scope == CPUBIND_SCOPE_OWN ||
        f->scope == CPUBIND_SCOPE_PER_DEVICE)
        return CPUBIND_PROBLEM_NONE;
    *problem = f->unaddressed;
    if (problem->code == CPUBIND_PROBLEM_NONE) {
        problem->code = CPUBIND_PROBLEM_UNREADABLE;
        problem->input = INPUT_PCI;
        problem->what = "it shows devices that this process does not see, and the address of "
                        "one that it sees is not known";
    }
    return problem->code;
}

cpubind_problem_code cpubind_plan_read_facts(const cpubind_source *source,
                                             const cpubind_request *request,
                                             cpubind_arena *arena, cpubind_facts *f,
                                             cpubind_problem *problem)
{
    const cpubind_pci_request asked = {.wants_cores = 1, .host = request};
    cpubind_facts devices;
    cpubind_problem_code code = cpubind_facts_read(source, request, arena, f, problem);
    if (code != CPUBIND_PROBLEM_NONE || !request->wants_others ||
        !cpubind_plan_takes_devices(f))
        return code;
    if (f->unread_other.code != CPUBIND_PROBLEM_NONE) {
        *problem = f->unread_other;
        return problem->code;
    }
    if (f->n_other == 0)
        return code;
    code = cpubind_devices_read(source, &asked, arena, &devices, problem);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (!cpubind_plan_take_devices(f, &devices, arena) || !cpubind_plan_join(f, 0, arena)) {
        problem->code = CPUBIND_PROBLEM_NO_MEMORY;
        return problem->code;
    }
    for (int32_t i = f->n_listed; i < f->n_device && request->device; i++)
        f->device[i].is_visible = 0;
    return check_addresses(f, problem);
}

/* == Units ================================================================== */

/* Takes the pool of the device of a unit, or why it has none. */
static void take_row(const cpubind_facts *f, const cpubind_device_plan *plan,
                     const cpubind_problem *refusal, cpubind_unit *unit)
{
    unit->row = unit->memory_node = -1;
    unit->problem = *refusal;
    for (int32_t i = 0; i < plan->n_poolless; i++)
        if (plan->poolless[i].device == unit->device)
            unit->problem = plan->poolless[i].problem;
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
    }
}

/* Cuts the pool of a unit into the part of its tile; without it when that is too small. */
static cpubind_problem_code take_tile(const cpubind_facts *f, const cpubind_request *request,
                                      const cpubind_device_plan *plan, cpubind_unit *unit,
                                      cpubind_arena *arena)
{
    const int32_t n_tile = f->bus[unit->on_bus].accelerator.n_tile;
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

/* The device of facts->device that a ranked function is: cpubind_plan_join has added each. */
static int32_t viewed_of(const cpubind_facts *f, int32_t device)
{
    int32_t i = 0;
    while (f->device[i].bus != device)
        i++;
    return i;
}

/* Whether the plan is for an NPU that the Ascend row has found. */
static int is_listed_of(const cpubind_facts *f, const cpubind_device_plan *plan, int32_t viewed)
{
    int is_one = 0;
    for (int32_t k = 0; k < plan->n_want; k++)
        is_one |= plan->want[k] == viewed;
    for (int32_t k = 0; k < plan->n_poolless; k++)
        is_one |= plan->poolless[k].device == viewed;
    return is_one && f->device[viewed].bus < 0;
}

int cpubind_plan_units(const cpubind_facts *f, const cpubind_request *request,
                       const cpubind_problem *refusal, cpubind_arena *arena,
                       cpubind_device_plan *plan)
{
    cpubind_pci_rank *rank = (cpubind_pci_rank *)cpubind_arena_take(
        arena, f->n_bus * CPUBIND_PCI_NUMBERS, sizeof *rank);
    const int32_t base = first_id(f);
    int32_t n_rank;
    if (!rank)
        return 0;
    n_rank = f->is_joined ? cpubind_pci_ranks(f, rank) : 0;
    plan->unit =
        (cpubind_unit *)cpubind_arena_take(arena, f->n_device + n_rank, sizeof *plan->unit);
    plan->n_unit = 0;
    if (!plan->unit)
        return 0;
    for (int32_t i = 0; i < f->n_device; i++) {
        cpubind_unit *unit = &plan->unit[plan->n_unit];
        if (!is_listed_of(f, plan, i))
            continue;
        *unit = (cpubind_unit){
            .device = i,
            .on_bus = f->is_joined ? cpubind_facts_on_bus(f, &f->device[i].pci) : -1,
            .id = f->device[i].logic,
            .rank = -1,
            .tile = -1,
            .number = f->device[i].logic};
        take_row(f, plan, refusal, unit);
        plan->n_unit++;
    }
    for (int32_t k = 0; k < n_rank; k++) {
        cpubind_unit *unit = &plan->unit[plan->n_unit];
        *unit =
            (cpubind_unit){.device = viewed_of(f, rank[k].device),
                           .on_bus = rank[k].device,
                           .id = base + k,
                           .rank = k,
                           .tile = rank[k].tile,
                           .number = cpubind_pci_number(&f->bus[rank[k].device], rank[k].tile)};
        take_row(f, plan, refusal, unit);
        if (unit->tile >= 0 && unit->n_cpu > 0 &&
            take_tile(f, request, plan, unit, arena) != CPUBIND_PROBLEM_NONE)
            return 0;
        plan->n_unit += (!f->has_listed && f->device[unit->device].is_visible) ||
                        unit->row >= 0 || unit->problem.code != CPUBIND_PROBLEM_NONE;
    }
    return 1;
}
