/* plan_text.h - what was made of a host, as text: each line starts with "> "
 * SPDX-License-Identifier: MIT
 *
 * What is not there is not said: no word about hidden NPUs is none of them.
 */
#ifndef CPUBIND_TESTS_CASES_PLAN_TEXT_H
#define CPUBIND_TESTS_CASES_PLAN_TEXT_H

#include "../../adapters/plan/plan.h"
#include "host.h"

/* One run over a host, in an arena of its own. */
typedef struct attempt {
    cpubind_arena arena;
    cpubind_facts facts;
    cpubind_device_plan plan;
    cpubind_problem problem;
    cpubind_problem_code code;
} attempt;

static const char *const strategies[] = {"global_slice", "topo_affinity", "cluster", "near",
                                         NULL};
static const char *const overlaps[] = {"resolve", "keep", "refuse", NULL};
static const char *const localities[] = {"", " as the kernel", " by the kernel",
                                         " unlike the kernel", " on no node"};

/* " word 3", unless there is none. */
static inline void say_count(said *s, const char *word, int32_t n)
{
    if (n)
        say(s, "; %s %d", word, n);
}

static inline void say_cpus(said *s, const char *word, const int32_t *cpu, int32_t n)
{
    if (n == 0)
        return;
    say(s, "; %s ", word);
    say_list(s, cpu, n);
}

static inline void say_problem(said *s, const cpubind_problem *p)
{
    say(s, "%s", cpubind_problem_word(p->code));
    if (p->input)
        say(s, " %s", p->input);
    if (p->offset >= 0)
        say(s, " at %d", p->offset);
    if (p->input && p->answer.state != CPUBIND_INPUT_PRESENT)
        say(s, " %s", input_states[p->answer.state]);
    if (p->device >= 0)
        say(s, "; npu %d", p->device);
    if (p->other >= 0)
        say(s, "; other %d", p->other);
    if (p->cpu >= 0)
        say(s, "; cpu %d", p->cpu);
    if (p->need || p->have)
        say(s, "; %d of %d", p->have, p->need);
    say_count(s, "uncut", p->uncut);
    say(s, ": %s", p->what ? p->what : "");
}

static inline void say_problem_line(said *s, const char *word, const cpubind_problem *p)
{
    if (p->code == CPUBIND_PROBLEM_NONE)
        return;
    say(s, "> %s ", word);
    say_problem(s, p);
    say(s, "\n");
}

static inline void say_warnings(said *s, uint64_t warnings)
{
    if (!warnings)
        return;
    say(s, "> warns");
    for (int i = 0; i < CPUBIND_WARNING_COUNT; i++)
        if (warnings >> i & 1u)
            say(s, " %s", cpubind_warning_word((cpubind_warning)i));
    say(s, "\n");
}

/* The allowed CPUs, those of each node behind its id. */
static inline void say_nodes(said *s, const cpubind_facts *f)
{
    say(s, "> cpus");
    for (int32_t i = 0, n; i < f->n_cpu; i += n) {
        for (n = 1; i + n < f->n_cpu && f->host.node[i + n] == f->host.node[i]; n++)
            ;
        say(s, "%s", i ? " " : " node ");
        say(s, "%d: ", f->host.node[i]);
        say_list(s, f->cpu + i, n);
    }
    say(s, "\n");
}

static inline void say_address(said *s, const cpubind_pci_address *pci)
{
    if (pci->domain >= 0)
        say(s, " at %04x:%02x:%02x.%x", (unsigned)pci->domain, (unsigned)pci->bus,
            (unsigned)pci->device, (unsigned)pci->function);
}

static inline void say_npu(said *s, const cpubind_facts *f, int32_t i)
{
    const cpubind_host_device *npu = f->device[i];
    say(s, "> npu %d", npu->logic);
    if (npu->card >= 0)
        say(s, " card %d.%d", npu->card, npu->chip);
    if (npu->phy >= 0)
        say(s, " phy %d", npu->phy);
    say_address(s, &npu->pci);
    if (npu->n_cpu > 0) {
        say(s, " near ");
        say_list(s, npu->cpu, npu->n_cpu);
    }
    say(s, "%s%s%s", localities[npu->locality], npu->is_running ? ", runs" : "",
        npu->is_visible ? "" : ", not visible");
}

/* A row: its pool, the CPUs of each role, the node of its memory, where they differ. */
static inline void say_row(said *s, const cpubind_device_plan *p, int32_t row)
{
    const cpubind_quality *q = &p->row_quality[row];
    say(s, ": pool ");
    say_list(s, p->core.cpu + p->core.row[row], p->core.row[row + 1] - p->core.row[row]);
    say(s, " roles");
    for (int role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        const cpubind_span span = p->role_span[row].span[role];
        say(s, " ");
        say_list(s, p->role_cpu + p->role_row[row] + span.first, span.count);
    }
    say(s, " memory %d", p->memory_node[row]);
    say_count(s, "near cpus", q->near_cpus);
    say_count(s, "irq cpus off the node", q->irq_off);
}

/* What the plan says of one NPU of the facts. */
static inline void say_npu_of_plan(said *s, const attempt *a, int32_t i)
{
    const cpubind_device_plan *p = &a->plan;
    say_npu(s, &a->facts, i);
    for (int32_t row = 0; row < p->n_want; row++)
        if (p->want[row] == i)
            say_row(s, p, row);
    for (int32_t k = 0; k < p->n_poolless; k++)
        if (p->poolless[k].device == i) {
            say(s, ": ");
            say_problem(s, &p->poolless[k].problem);
        }
    say(s, "\n");
}

/* The functions of the bus that have other NPUs than one that is in view, and the devices that
 * are none. */
static inline void say_functions(said *s, const cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_counted; i++) {
        const cpubind_host_device *function = &f->bus[f->counted[i]];
        if (function->n_device == 1 && function->n_in_view == 1)
            continue;
        say(s, "> function");
        say_address(s, &function->pci);
        say(s, ": %d npus, %d in view", function->n_device, function->n_in_view);
        for (int k = 0; k < CPUBIND_FUNCTION_DEVICES && function->phys[k] >= 0; k++)
            say(s, ", phy %d", function->phys[k]);
        say(s, "\n");
    }
    for (int32_t i = cpubind_facts_next_other(f, 0); f->n_other > 0 && i < f->n_bus;
         i = cpubind_facts_next_other(f, i + 1)) {
        say(s, "> other");
        say_address(s, &f->bus[i].pci);
        say(s, " near ");
        say_list(s, f->bus[i].cpu, f->bus[i].n_cpu);
        say(s, "\n");
    }
}

static inline void say_differences(said *s, const cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_difference && i < CPUBIND_MAX_DIFFERENCES; i++) {
        const cpubind_difference *d = &f->difference[i];
        say(s, "> %s has, %s lacks: card %d.%d phy %d", d->has, d->lacks, d->card, d->chip,
            d->phy);
        say_address(s, &d->pci);
        say(s, "\n");
    }
}

/* A plan, or why there is none. */
static inline void say_plan(said *s, const attempt *a)
{
    const cpubind_facts *f = &a->facts;
    const cpubind_device_plan *p = &a->plan;
    if (a->code != CPUBIND_PROBLEM_NONE) {
        say(s, "> refused ");
        say_problem(s, &a->problem);
        say(s, "\n> %s, scope %s", cpubind_type_word(f->type), cpubind_scope_word(f->scope));
        say_count(s, "unknown chips", f->n_unknown);
        say(s, "\n");
        say_warnings(s, f->warnings);
        return;
    }
    say(s, "> %s, %s by %s, scope %s%s", cpubind_type_word(f->type),
        strategies[p->core.strategy], cpubind_rules_word(p->rules),
        cpubind_scope_word(f->scope), f->is_scope_given ? " as given" : "");
    say_count(s, "total", p->total);
    say_count(s, "hidden", p->n_hidden);
    say_count(s, "idle cpus", p->n_idle);
    say_count(s, "unknown chips", f->n_unknown);
    say_count(s, "threads", f->threads);
    if (p->rank_row != 0)
        say(s, "; rank in row %d", p->rank_row);
    say_cpus(s, "spare", p->spare, p->n_spare);
    say_cpus(s, "kept", p->kept, p->n_kept);
    say_cpus(s, "lent", p->lent, p->n_lent);
    say_cpus(s, "poor npus", p->poor, p->n_poor);
    say_cpus(s, "for others", p->for_others, p->n_for_others);
    say_cpus(s, "for npus", p->for_listed, p->n_for_listed);
    say(s, "\n");
    say_nodes(s, f);
    for (int32_t i = 0; i < f->n_device; i++)
        say_npu_of_plan(s, a, i);
    say_functions(s, f);
    say_warnings(s, p->warnings);
    say_differences(s, f);
    say_problem_line(s, "processes", &f->unread_processes);
    say_problem_line(s, "topology", &f->topology);
    if (f->unknown_input)
        say(s, "> unknown text in %s: %.*s\n", f->unknown_input, (int)f->unknown.len,
            f->unknown_answer.data + f->unknown.at);
}

static inline void say_numbers(said *s, const char *word, const int32_t *number, int32_t n)
{
    if (!number)
        return;
    say(s, "> %s", word);
    for (int32_t i = 0; i < n; i++)
        say(s, " %d", number[i]);
    say(s, "\n");
}

/* The CPUs of each core that has several, and those that are one. A core has the number of its
 * lowest CPU; a CPU on no node has none. */
static inline void say_cores(said *s, const cpubind_facts *f)
{
    static int32_t cpu[CPUBIND_MAX_CPUS], alone[CPUBIND_MAX_CPUS];
    int32_t n_alone = 0;
    if (!f->core_of)
        return;
    say(s, "> cores");
    for (int32_t first = 0; first < f->n_cpu_id; first++) {
        int32_t n = 0;
        for (int32_t i = 0; i < f->n_cpu_id; i++)
            if (f->core_of[i] == first)
                cpu[n++] = i;
        if (n > 0)
            assert_int_equal(cpu[0], first);
        if (n == 1)
            alone[n_alone++] = first;
        if (n < 2)
            continue;
        say(s, " ");
        say_list(s, cpu, n);
    }
    say_cpus(s, "alone", alone, n_alone);
    say(s, "\n");
}

/* Which CPUs share a core, and how far nodes are apart. */
static inline void say_topology(said *s, const attempt *a)
{
    const cpubind_facts *f = &a->facts;
    say_problem_line(s, "refused", &a->problem);
    say_cores(s, f);
    say_numbers(s, "sockets", f->socket, f->n_node);
    say_numbers(s, "distances", f->distance, f->n_node * f->n_node);
    say_problem_line(s, "topology", &f->topology);
}

#endif
