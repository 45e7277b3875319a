/* plan_candidates.c - which devices a plan is for, and among which CPUs are shared
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The core cuts the pools; this file lists the devices for it, in an
 * order that is the same in every process of the host.
 */
#include "plan_parts.h"

/* == The devices of this process ============================================ */

/* The plan is for the visible devices; of these for the running ones when the request says
 * so. */
cpubind_problem_code cpubind_priv_choose_ours(planner *p)
{
    const cpubind_facts *f = p->facts;
    int32_t n_running = 0;
    p->ours = cpubind_arena_ints(p->arena, f->n_device);
    if (!p->ours)
        return plan_fail_memory(p);
    for (int32_t i = 0; i < f->n_device; i++) {
        n_running += f->device[i]->is_running;
        if (f->device[i]->is_visible && (f->device[i]->is_running || !p->request->only_running))
            p->ours[p->n_ours++] = i;
    }
    if (p->n_ours > 0)
        return CPUBIND_PROBLEM_NONE;
    if (!p->request->only_running)
        return plan_fail(p, CPUBIND_PROBLEM_NO_RUNNING_DEVICE,
                         "no NPU of this host is visible");
    return plan_fail(p, CPUBIND_PROBLEM_NO_RUNNING_DEVICE,
                     n_running          ? "no running NPU is visible"
                     : f->has_processes ? "no NPU has a running process"
                                        : "npu-smi info shows no process table");
}

/* Rank r drives the r-th visible device, whatever runs at the moment. A single one is driven by
 * any rank. Without a rank it is the first of the plan. */
cpubind_problem_code cpubind_priv_choose_rank(planner *p)
{
    const cpubind_facts *f = p->facts;
    const int32_t rank = p->request->has_rank ? p->request->rank : 0;
    int32_t n = 0;
    p->rank_device = -1;
    for (int32_t i = 0; i < f->n_device; i++) {
        if (!f->device[i]->is_visible)
            continue;
        if (n == rank || n == 0)
            p->rank_device = i;
        n++;
    }
    if (!p->request->has_rank)
        p->rank_device = p->ours[0];
    else if (n > 1 && rank >= n)
        return plan_fail(p, CPUBIND_PROBLEM_UNKNOWN_DEVICE, "there are fewer visible NPUs");
    else if (!plan_is_ours(p, p->rank_device))
        return plan_fail(p, CPUBIND_PROBLEM_NO_RUNNING_DEVICE,
                         "the NPU of this rank does not run");
    return CPUBIND_PROBLEM_NONE;
}

/* == Slices ================================================================= */

/* One past the highest phy id of the host by the driver's mailboxes or devices; 0: not
 * known. */
static int32_t end_of_phys(const cpubind_facts *f)
{
    int32_t end = f->end_phy;
    for (int32_t i = 0; i < f->n_census; i++)
        for (int32_t k = 0; k < CPUBIND_FUNCTION_DEVICES; k++)
            if (f->bus[f->counted[i]].phys[k] >= end)
                end = f->bus[f->counted[i]].phys[k] + 1;
    return end;
}

static int32_t max_of(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

enum { PHY_BLOCK = 8 }; /* hosts have devices by the eight */

/* Whether every NPU has a phy id below `total`. *first is the first NPU that is not below.
 * *is_lost becomes 1 when that is so because the bus has lost a card: another NPU is below, or
 * the phy id is just above. On a host of a larger machine, which counts its NPUs through, all
 * phy ids are far above. */
static int is_below(const planner *p, int32_t total, int32_t *first, int *is_lost)
{
    const int32_t full = (total + PHY_BLOCK - 1) / PHY_BLOCK * PHY_BLOCK;
    int32_t n_below = 0;
    *first = -1;
    *is_lost = 0;
    for (int32_t i = 0; i < p->facts->n_device; i++) {
        const int32_t phy = p->facts->device[i]->phy;
        if (phy < total) {
            n_below++;
            continue;
        }
        *is_lost |= phy < full;
        if (*first < 0)
            *first = i;
    }
    *is_lost |= *first >= 0 && n_below > 0;
    return *first < 0;
}

/* Chooses the slot of each NPU, by which slices are cut: its phy id among all NPUs of the host
 * when both are known. Else its logic id, which names another NPU in another container. With
 * scope own, its place among the NPUs of the plan's process. */
cpubind_problem_code cpubind_priv_choose_slots(planner *p)
{
    const cpubind_facts *f = p->facts;
    const int32_t by_number = p->request->total;
    int32_t total = max_of(max_of(facts_count_on_bus(f), end_of_phys(f)), by_number);
    int32_t high = -1;
    const int is_own = p->scope == CPUBIND_SCOPE_OWN;
    int by_phy = !is_own && f->has_phy && total > 0 && f->n_device > 0;
    int is_lost;
    if (f->strategy != CPUBIND_GLOBAL_SLICE)
        return CPUBIND_PROBLEM_NONE;
    if (p->scope == CPUBIND_SCOPE_PER_DEVICE) { /* shared among those that share CPUs */
        p->out->total = p->out->n_candidate;
        return CPUBIND_PROBLEM_NONE;
    }
    by_phy = by_phy && is_below(p, total, &high, &is_lost);
    if (high >= 0 && is_lost) {
        p->problem->device = f->device[high]->logic;
        p->problem->need = f->device[high]->phy + 1;
        p->problem->have = total;
        return plan_fail(
            p, CPUBIND_PROBLEM_UNKNOWN_DEVICE,
            "its phy id is not below the number of NPUs on the PCI bus: say how many "
            "slots the host has with -o total=N");
    }
    if (!is_own && total == 0 && f->has_only_named &&
        f->unmapped.code != CPUBIND_PROBLEM_NONE) {
        *p->problem = f->unmapped;
        return f->unmapped.code;
    }
    if (!is_own && total == 0 && f->has_only_named)
        return plan_fail(
            p, CPUBIND_PROBLEM_UNKNOWN_DEVICE,
            "no input tells how many NPUs this host has: say it with -o total=N, or use "
            "-o scope=own when the allowed CPUs are for this process alone");
    for (int32_t i = 0; i < p->out->n_candidate; i++) {
        const cpubind_host_device *viewed = f->device[p->out->candidate[i].device];
        p->out->candidate[i].slot = is_own ? i : by_phy ? viewed->phy : viewed->logic;
    }
    if (is_own)
        total = p->out->n_candidate;
    else if (!by_phy)
        total = max_of(total, f->n_device + f->n_unknown);
    p->out->n_slot = p->out->total = total;
    if (!by_phy && !is_own)
        plan_warn(p, CPUBIND_WARNING_ONLY_LOGIC_IDS);
    return CPUBIND_PROBLEM_NONE;
}

/* == Candidates ============================================================= */

/* The number that orders the NPUs of one function: the phy id, else the logic id. */
static int32_t number_of(const planner *p, const cpubind_candidate *candidate)
{
    const cpubind_host_device *viewed = plan_device_of(p, candidate);
    return !viewed ? candidate->phy : viewed->phy >= 0 ? viewed->phy : viewed->logic;
}

/* Functions are in the order of their addresses. */
static int comes_before(const planner *p, const cpubind_candidate *a,
                        const cpubind_candidate *b)
{
    return a->function != b->function ? a->function < b->function
                                      : number_of(p, a) < number_of(p, b);
}

/* Whether the phy ids of a function and those of its NPUs in view are known: then they tell
 * which of its NPUs are hidden. */
static int has_phys(const planner *p, int32_t index)
{
    for (int32_t i = 0; i < p->facts->n_device; i++)
        if (p->facts->device[i]->function == index && p->facts->device[i]->phy < 0)
            return 0;
    return p->facts->bus[index].phys[0] >= 0;
}

/* Adds the devices of a function that this process cannot see. */
static cpubind_problem_code add_hidden(planner *p, int32_t index)
{
    const cpubind_host_device *function = &p->facts->bus[index];
    if (function->n_in_view > 0 && !has_phys(p, index)) {
        p->problem->have = function->n_in_view;
        p->problem->need = function->n_device;
        return plan_fail(
            p, CPUBIND_PROBLEM_UNKNOWN_DEVICE,
            "a PCI function has more NPUs than this process sees, and which of them it "
            "sees is not known: use -o facts=driver, or -o scope=own when the allowed "
            "CPUs are for this process alone");
    }
    for (int32_t k = 0; k < function->n_device; k++) {
        const cpubind_candidate hidden = {
            .device = -1,
            .function = index,
            .phy = k < CPUBIND_FUNCTION_DEVICES ? function->phys[k] : -1};
        int is_in_view = 0;
        for (int32_t i = 0; i < p->facts->n_device && function->n_in_view > 0; i++)
            is_in_view |= p->facts->device[i]->function == index &&
                          p->facts->device[i]->phy == hidden.phy;
        if (is_in_view)
            continue;
        p->out->candidate[p->out->n_candidate++] = hidden;
        p->out->n_hidden++;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Whether a device is a part of the card that a candidate is. Slices are of numbers, and of no
 * cards but those of virtual functions. */
static int is_card_of(const planner *p, const cpubind_candidate *candidate,
                      const cpubind_host_device *viewed)
{
    return viewed->is_part && viewed->function >= 0 &&
           viewed->function == candidate->function &&
           (p->facts->strategy != CPUBIND_GLOBAL_SLICE || plan_has_function(p, viewed));
}

static int has_card_of(const planner *p, const cpubind_host_device *viewed)
{
    for (int32_t i = 0; i < p->out->n_candidate; i++)
        if (is_card_of(p, &p->out->candidate[i], viewed))
            return 1;
    return 0;
}

/* Finds the candidate of each device. */
static cpubind_problem_code place_devices(planner *p)
{
    const cpubind_facts *f = p->facts;
    p->out->of_device = cpubind_arena_ints(p->arena, f->n_device);
    if (!p->out->of_device)
        return plan_fail_memory(p);
    for (int32_t d = 0; d < f->n_device; d++) {
        p->out->of_device[d] = -1;
        for (int32_t i = 0; i < p->out->n_candidate; i++)
            if (p->out->candidate[i].device == d ||
                is_card_of(p, &p->out->candidate[i], f->device[d]))
                p->out->of_device[d] = i;
    }
    return CPUBIND_PROBLEM_NONE;
}

/* The devices of the core: those in view, and the hidden ones of the PCI bus, which the
 * rules for near CPUs keep CPUs for. With scope own only those of this process, with CPUs of
 * each device only those in view. They are ordered by PCI address, which is the same in every
 * process, when all addresses are known; else by logic id. */
cpubind_problem_code cpubind_priv_choose_candidates(planner *p)
{
    const cpubind_facts *f = p->facts;
    int is_ordered =
        p->scope != CPUBIND_SCOPE_PER_DEVICE && f->strategy != CPUBIND_GLOBAL_SLICE;
    cpubind_candidate *list = (cpubind_candidate *)cpubind_arena_take(
        p->arena, f->n_device + facts_count_on_bus(f), sizeof *list);
    if (!list)
        return plan_fail_memory(p);
    p->out->candidate = list;
    for (int32_t i = 0; i < f->n_device; i++) {
        if ((p->scope == CPUBIND_SCOPE_OWN && !f->device[i]->is_visible) ||
            has_card_of(p, f->device[i]))
            continue;
        list[p->out->n_candidate++] = (cpubind_candidate){
            .device = i, .function = f->device[i]->function, .phy = f->device[i]->phy};
        is_ordered &= f->device[i]->function >= 0;
    }
    for (int32_t i = 0; is_ordered && p->scope != CPUBIND_SCOPE_OWN && i < f->n_bus; i++) {
        if (f->bus[i].n_in_view >= f->bus[i].n_device)
            continue;
        if (add_hidden(p, i) != CPUBIND_PROBLEM_NONE)
            return p->problem->code;
    }
    p->is_ordered = is_ordered;
    for (int32_t i = 1; is_ordered && i < p->out->n_candidate; i++) {
        const cpubind_candidate moved = list[i];
        int32_t at = i;
        for (; at > 0 && comes_before(p, &moved, &list[at - 1]); at--)
            list[at] = list[at - 1];
        list[at] = moved;
    }
    return place_devices(p);
}

/* The CPUs near a candidate; slices are judged by those of its function. */
static cpubind_list near_of(const planner *p, const cpubind_candidate *candidate)
{
    const int is_slice = p->facts->strategy == CPUBIND_GLOBAL_SLICE && !p->is_blind;
    const cpubind_host_device *device = is_slice && candidate->function >= 0
                                            ? &p->facts->bus[candidate->function]
                                            : cpubind_candidate_is(p->facts, candidate);
    return (cpubind_list){device->cpu, device->n_cpu};
}

/* The node of a candidate: of the first online CPU near it, else of its function; -1: not
 * known. */
static int32_t node_of(const planner *p, const cpubind_candidate *candidate)
{
    const cpubind_facts *f = p->facts;
    const cpubind_list *near = &candidate->near_cpus;
    const int32_t node = facts_node_of_list(f, near->cpu, near->n);
    return node >= 0 ? node : cpubind_candidate_is(f, candidate)->node;
}

/* Finds the near CPUs and the nodes of the candidates, and numbers their slices. */
cpubind_problem_code cpubind_priv_find_homes(planner *p)
{
    int is_known = 0;
    for (int32_t i = 0; i < p->out->n_candidate; i++) {
        cpubind_candidate *one = &p->out->candidate[i];
        one->near_cpus = near_of(p, one);
        one->node = node_of(p, one);
        one->slot = i;
        is_known |= one->near_cpus.n > 0;
    }
    p->out->n_slot = p->out->n_candidate;
    if (!is_known && p->policy.rule == CPUBIND_RULE_AFFINITY) { /* nothing is near anybody */
        p->policy.rule = CPUBIND_RULE_SLICE;
        p->strategy = CPUBIND_GLOBAL_SLICE;
    }
    return CPUBIND_PROBLEM_NONE;
}
