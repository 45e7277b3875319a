/* explain.c - why a device, a CPU or a role has what the plan gives it, in sentences
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: what a CPU is comes from picture.h, how it came to its NPU from the steps
 * and stands of the plan. CPUs that are for the same NPUs are a group. The sentences are
 * written for NPUs; of accelerators of any vendor they say "device" in place of that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../model/vendor.h"
#include "../text/cpulist.h"
#include "../text/procfs.h"
#include "picture.h"

enum { STEP_COUNT = CPUBIND_STEP_COUNT };

/* The sentences of the steps: of some CPUs of an NPU, after "24 of its CPUs, 0-23, "; and of
 * one CPU. */
static const struct {
    const char *of_npu, *of_cpu;
} steps[STEP_COUNT] = {
    [CPUBIND_STEP_IDLE] = {"", ""},
    [CPUBIND_STEP_SLICE] = {"are its slice",
                            "It is in the slice of this NPU: the CPUs, in ascending order, are "
                            "cut into one slice for each number of an NPU."},
    [CPUBIND_STEP_HOME] = {"are in its home", "It is in the home of this NPU."},
    [CPUBIND_STEP_NEXT] =
        {"are on the next node, by which the rule extends a home that lies on "
         "one node",
         "It is on the next node after the home of this NPU: the rule extends "
         "a home that lies on one node by the next node."},
    [CPUBIND_STEP_NEAREST] = {"are in nobody's home, and its home is the nearest of those on "
                              "their socket",
                              "It is in nobody's home; of the homes on its socket the home of "
                              "this NPU is the nearest, or one of the nearest."},
    [CPUBIND_STEP_FREE] = {"are near nobody, and this NPU is at home nowhere among these CPUs",
                           "It is near nobody, and this NPU is at home nowhere among the CPUs "
                           "that pools are cut from."},
    [CPUBIND_STEP_MINIMUM] = {"were idle, and it took them because it had too few: below its "
                              "minimum, or below half of an even share",
                              "It was idle, and this NPU took it because it had too few: below "
                              "its minimum, or below half of an even share."},
    [CPUBIND_STEP_LENT] =
        {"were those of another NPU that could spare them, and it took them "
         "because it had too few",
         "Another NPU could spare it, and this NPU took it because it had too "
         "few: below its minimum, or below half of an even share."},
    [CPUBIND_STEP_CLUSTER] = {"are a whole cluster of the node of its home",
                              "It is in a cluster of the node of this NPU's home; an NPU gets "
                              "one whole cluster."},
};

/* Why a role has the CPUs that it has: by ids, and by home and core. */
static const struct {
    const char *by_id, *by_home;
} role_rules[CPUBIND_ROLE_COUNT] = {
    [CPUBIND_ROLE_IRQ] = {"the first CPUs of the pool serve the interrupts",
                          "the first CPUs near the NPU serve the interrupts, core by core"},
    [CPUBIND_ROLE_MAIN] = {"the CPUs between the other roles run the main threads",
                           "the CPUs of no other role run the main threads"},
    [CPUBIND_ROLE_ACL] = {"the last CPU but one of the pool runs the ACL thread",
                          "one of the last CPUs near the NPU runs the ACL thread, on another "
                          "core than the release thread if the pool has two, with the siblings "
                          "of that core if 8 CPUs are left for the main threads"},
    [CPUBIND_ROLE_RELEASE] = {"the last CPU of the pool runs the release thread",
                              "one of the last CPUs near the NPU runs the release thread, on "
                              "another core than the ACL thread if the pool has two, with the "
                              "siblings of that core if 8 CPUs are left for the main threads"},
};

/* One explanation: sentences, and the facts they are made of. */
typedef struct explanation {
    api_view view;
    const api_planned *planned;
    const api_options *options;
    api_out *to;  /* sentences, or the objects of all targets */
    api_out fact; /* the object of this target */
    api_out said; /* with --json: the sentences of this target, an array */
    int32_t n_said, n_target;
    int32_t *list;         /* CPUs: room for all of the host */
    int32_t *device, *ids; /* devices, and ids of them: room for CPUBIND_MAX_DEVICES */
    int32_t *group;        /* by CPU of the plan: the first CPU that is for the same NPUs; -1 */
    int32_t *claimant;     /* NPUs: room for CPUBIND_MAX_DEVICES */
    int is_all;            /* all is explained */
    int32_t n_called;      /* devices that have the name of the target, and their addresses */
    api_text called;
} explanation;

/* == Sentences and facts ==================================================== */

/* Says a sentence, which ends in a full stop here if it has none. */
static void say(explanation *e, const api_text *sentence)
{
    const int is_first = e->n_said++ == 0;
    const int32_t columns = e->to->columns > 0 && e->to->columns < 80 ? e->to->columns : 80;
    api_text text = {"", 0};
    api_add_in_words(e->view.facts, sentence->text, &text);
    api_add(&text, "%s",
            sentence->len > 0 && sentence->text[sentence->len - 1] == '.' ? "" : ".");
    if (e->options->json) {
        api_json_text(&e->said, NULL, text.text);
        return;
    }
    api_put_text(e->to, !is_first ? "  " : e->n_target > 0 ? "\n" : "");
    api_put_wrapped(e->to, text.text, is_first ? 0 : 2, is_first ? 2 : 4, columns);
}

/* Appends a device of the core: "NPU 3", "the hidden NPU 0000:c1:00.0". */
static void add_device(const explanation *e, int32_t device, api_text *to)
{
    const cpubind_candidate *c = &e->view.plan->candidate[device];
    if (c->device >= 0) {
        api_add(to, "NPU %d", (int)e->view.facts->device[c->device].logic);
        return;
    }
    api_add(to, "the hidden NPU ");
    api_add_pci(to, &e->view.facts->bus[c->function].pci);
}

/* Splits devices into the logic ids of those in view, e->ids, ascending, and the number of
 * hidden ones; `except` is left out. Returns the number of ids. */
static int32_t ids_of(const explanation *e, const int32_t *device, int32_t n, int32_t except,
                      int32_t *n_hidden)
{
    int32_t n_id = 0;
    *n_hidden = 0;
    for (int32_t i = 0; i < n; i++) {
        const cpubind_candidate *c = &e->view.plan->candidate[device[i]];
        if (device[i] == except)
            continue;
        if (c->device >= 0)
            e->ids[n_id++] = e->view.facts->device[c->device].logic;
        else
            ++*n_hidden;
    }
    (void)!cpubind_list_sort(e->ids, &n_id);
    return n_id;
}

/* Appends "NPU 1,3 and 2 hidden ones"; "no other NPU" when there is none. */
static void add_devices(const explanation *e, const int32_t *device, int32_t n, int32_t except,
                        api_text *to)
{
    int32_t n_hidden;
    const int32_t n_id = ids_of(e, device, n, except, &n_hidden);
    if (n_id > 0) {
        api_add(to, "NPU ");
        api_add_list(to, e->ids, n_id);
    }
    if (n_hidden > 0)
        api_add(to, "%s%d hidden %s", n_id > 0 ? " and " : "", (int)n_hidden,
                n_hidden == 1 ? "NPU" : "NPUs");
    if (n_id + n_hidden == 0)
        api_add(to, "no other NPU");
}

/* == The trace ============================================================== */

static int has_trace(const explanation *e)
{
    return e->planned->code == CPUBIND_PROBLEM_NONE && e->view.plan->owner != NULL;
}

/* Whether two CPUs of the plan are for the same NPUs. */
static int is_one_group(const cpubind_device_plan *plan, int32_t i, int32_t k)
{
    const int32_t n = plan->host.n_cpu;
    for (int32_t d = 0; d < plan->n_candidate; d++)
        if (!plan->stand[d * n + i] != !plan->stand[d * n + k])
            return 0;
    return 1;
}

static void find_groups(explanation *e)
{
    const cpubind_device_plan *plan = e->view.plan;
    const int32_t n = plan->host.n_cpu;
    for (int32_t i = 0; i < n; i++) {
        int is_for_one = 0;
        for (int32_t d = 0; d < plan->n_candidate; d++)
            is_for_one |= plan->stand[d * n + i];
        e->group[i] = is_for_one ? i : -1;
        for (int32_t k = 0; k < i && e->group[i] == i; k++)
            if (e->group[k] == k && is_one_group(plan, i, k))
                e->group[i] = k;
    }
}

/* Lists the NPUs that a group is for. */
static int32_t list_claimants(explanation *e, int32_t group)
{
    const cpubind_device_plan *plan = e->view.plan;
    int32_t n = 0;
    for (int32_t d = 0; d < plan->n_candidate; d++)
        if (plan->stand[d * plan->host.n_cpu + group])
            e->claimant[n++] = d;
    return n;
}

/* Lists the CPUs of the host that fulfil all that is asked: owner, step, group; -2: any. */
static int32_t list_traced(explanation *e, int32_t owner, int32_t step, int32_t group)
{
    const cpubind_device_plan *plan = e->view.plan;
    int32_t n = 0;
    for (int32_t i = 0; i < plan->host.n_cpu; i++)
        if ((owner == -2 || plan->owner[i] == owner) && (step == -2 || plan->step[i] == step) &&
            (group == -2 || e->group[i] == group))
            e->list[n++] = plan->host.cpu[i];
    return n;
}

/* Whether the plan gives CPUs to several NPUs. */
static int is_kept_overlap(const explanation *e)
{
    return e->view.plan->core.overlap == CPUBIND_FOUND_PRESENT;
}

/* Whether a CPU is near a device by the topology. */
static int is_near(const explanation *e, int32_t device, int32_t cpu)
{
    const cpubind_list *a = &e->view.plan->candidate[device].near_cpus;
    int32_t at = 0;
    return cpubind_list_has(a->cpu, a->n, cpu, &at);
}

/* Lists the home of a device: the CPUs near it that pools are cut from. */
static int32_t list_home(explanation *e, int32_t device)
{
    const cpubind_list *a = &e->view.plan->candidate[device].near_cpus;
    int32_t n = 0;
    for (int32_t i = 0; i < a->n; i++)
        if (a->cpu[i] < e->view.facts->n_cpu_id && e->view.cpu[a->cpu[i]].at >= 0)
            e->list[n++] = a->cpu[i];
    return n;
}

/* Says how a group was shared among the devices that it may go to. */
static void say_group(explanation *e, int32_t group, int32_t device)
{
    const cpubind_device_plan *plan = e->view.plan;
    const int32_t k = list_claimants(e, group);
    const int32_t *claimant = e->claimant;
    api_text text = {"", 0};
    const int32_t n = list_traced(e, -2, -2, group);
    api_add(&text, "The %d CPUs ", (int)n);
    api_add_list(&text, e->list, n);
    api_add(&text, " may go to ");
    if (k > 1)
        api_add(&text, "%d NPUs, ", (int)k);
    add_devices(e, claimant, k, -1, &text);
    if (k == 1)
        api_add(&text, " alone");
    for (int32_t i = -1; i < k && k > 1; i++) { /* at first the device that is explained */
        const int32_t d = i < 0 ? device : claimant[i];
        const int32_t n_its = d < 0 ? 0 : list_traced(e, d, -2, group);
        if (d < 0 || (i >= 0 && (d == device || k > 16)))
            continue;
        api_add(&text, "; ");
        add_device(e, d, &text);
        api_add(&text, i < 0 && n_its == 0 ? " gets none of them" : " gets %d", (int)n_its);
        if (i < 0 && n_its > 0) {
            api_add(&text, " of them: ");
            api_add_list(&text, e->list, n_its);
        }
        for (int32_t at = 0; i < 0 && at < k && plan->core.strategy == CPUBIND_TOPO_AFFINITY &&
                             plan->core.overlap == CPUBIND_FOUND_NONE;
             at++)
            if (claimant[at] == d)
                api_add(&text, ", part %d of %d in the order of the NPUs", (int)at + 1, (int)k);
    }
    say(e, &text);
}

static void put_group(explanation *e, const char *key, int32_t group)
{
    const int32_t k = list_claimants(e, group);
    int32_t n_hidden;
    const int32_t n_id = ids_of(e, e->claimant, k, -1, &n_hidden);
    const int32_t n = list_traced(e, -2, -2, group);
    api_json_open(&e->fact, key, '{');
    api_json_list(&e->fact, "cpus", e->list, n);
    api_json_list(&e->fact, "devices", e->ids, n_id);
    api_json_number(&e->fact, "hidden", n_hidden);
    api_json_close(&e->fact, '}');
}

/* Says by which rule groups are shared. */
static void say_rule(explanation *e)
{
    const cpubind_device_plan *plan = e->view.plan;
    api_text text = {"", 0};
    switch (plan->core.strategy) {
    case CPUBIND_GLOBAL_SLICE:
        api_add(&text, "The rule is global_slice: all CPUs in ascending order are cut into "
                       "slices of the same size, one for each number of an NPU; the first "
                       "slices get one more where the CPUs do not divide evenly.");
        break;
    case CPUBIND_TOPO_AFFINITY:
        if (plan->core.overlap == CPUBIND_FOUND_NONE) {
            api_add(&text, "The rule is topo_affinity: a home on one node is extended by the "
                           "next node, and NPUs whose extended homes are equal share them in "
                           "equal parts, in the order of their PCI addresses, or of their ids "
                           "where an address is not known; the last part has the rest.");
            break;
        }
        api_add(
            &text,
            plan->core.overlap == CPUBIND_FOUND_PRESENT
                ? "The rule is topo_affinity, and CPUs that it gives twice are kept so "
                  "(--overlap keep); first, CPU %d goes to "
                : "The rule is topo_affinity, which would give CPUs twice: first, CPU %d to ",
            (int)plan->core.shared.cpu);
        add_device(e, plan->core.shared.device, &text);
        api_add(&text, " and ");
        add_device(e, plan->core.shared.other, &text);
        api_add(&text, plan->core.overlap == CPUBIND_FOUND_PRESENT
                           ? "."
                           : ". So a CPU in a home goes to the NPUs whose home it is in, "
                             "another CPU to those whose homes are extended onto its node, and "
                             "the smallest pool is as large as it can be.");
        break;
    case CPUBIND_CLUSTER:
        api_add(&text,
                "The rule is cluster: each NPU gets one whole cluster of the node of its "
                "home, in ascending order.");
        break;
    case CPUBIND_NEAR:
        api_add(
            &text,
            "The rule is near: NPUs take whole cores in turns, the one with the fewest CPUs "
            "first. A core in a home is for those whose home it is, another for the nearest "
            "home on its socket.");
        break;
    }
    say(e, &text);
}

/* == NPUs =================================================================== */

/* Appends what told which CPUs are near a function of the bus. */
static void add_origin(const cpubind_pci_function *f, int has_nodes, api_text *to)
{
    switch (f->origin) {
    case CPUBIND_NODE_ORIGIN_DEVICE:
        api_add(to, "its numa_node");
        if (f->numa_node != f->node)
            api_add(to, " %d, which has no CPUs: node %d is the nearest that has",
                    (int)f->numa_node, (int)f->node);
        break;
    case CPUBIND_NODE_ORIGIN_LOCAL_CPUS:
        api_add(to, "its local_cpulist, since its numa_node is -1");
        break;
    case CPUBIND_NODE_ORIGIN_BRIDGE:
        api_add(to, "the bridge ");
        api_add_pci(to, &f->via);
        api_add(to, " above it, since its numa_node is -1");
        break;
    case CPUBIND_NODE_ORIGIN_ONLY_NODE:
        api_add(to, has_nodes ? "the only node of the host that has CPUs"
                              : "default: the host shows no nodes");
        break;
    case CPUBIND_NODE_ORIGIN_NPU_SMI:
        api_add(to, "node 0, which npu-smi takes where the kernel has none");
        break;
    case CPUBIND_NODE_ORIGIN_UNKNOWN:
    case CPUBIND_NODE_ORIGIN_COUNT:
        break;
    }
}

/* Says which CPUs are near an NPU, and by which input. */
static void say_place(explanation *e, const cpubind_viewed *npu)
{
    const cpubind_facts *facts = e->view.facts;
    const int32_t *cpu = npu->near_cpus.n > 0 ? npu->near_cpus.cpu : NULL;
    api_text text = {"", 0}, by = {"", 0};
    int32_t nodes[CPUBIND_MAX_NODES], n_node = 0;
    const int is_kernel = npu->locality == CPUBIND_LOCALITY_SAME ||
                          npu->locality == CPUBIND_LOCALITY_TAKEN ||
                          npu->locality == CPUBIND_LOCALITY_DIFFERS;
    if (npu->bus >= 0) {
        const cpubind_pci_function *f = &facts->bus[npu->bus];
        api_text pci = {"", 0};
        api_add_pci(&pci, &f->pci);
        api_json_text(&e->fact, "pci", pci.text);
        api_json_text(&e->fact, "node_by", cpubind_node_origin_word(f->origin));
        add_origin(f, facts->has_nodes, &by);
    } else {
        api_add(&by, "the %s", is_kernel ? "kernel" : "topology of npu-smi");
    }
    api_json_list(&e->fact, "near", cpu, npu->near_cpus.n);
    if (npu->near_cpus.n == 0) {
        api_add(&text, "Which CPUs are near it is not known");
        if (npu->function >= 0 && facts->bus[npu->function].node >= 0)
            api_add(&text, "; its PCI function is on node %d",
                    (int)facts->bus[npu->function].node);
        say(e, &text);
        return;
    }
    for (int32_t i = 0; i < facts->n_node && n_node < CPUBIND_MAX_NODES; i++) {
        int32_t k = 0;
        while (k < npu->near_cpus.n &&
               (cpu[k] >= facts->n_cpu_id || facts->node_of[cpu[k]] != facts->node_id[i]))
            k++;
        if (k < npu->near_cpus.n)
            nodes[n_node++] = facts->node_id[i];
    }
    api_add(&text, "CPUs ");
    api_add_list(&text, cpu, npu->near_cpus.n);
    api_add(&text, " are near it, by %s", by.text);
    if (n_node > 0) {
        api_add(&text, "; they are on node%s ", n_node == 1 ? "" : "s");
        api_add_list(&text, nodes, n_node);
    }
    if (npu->pci.domain >= 0) {
        api_add(&text, "; its PCI address is ");
        api_add_pci(&text, &npu->pci);
    }
    say(e, &text);
}

/* Says which of these CPUs are the home, and whose home they are too. */
static void say_home(explanation *e, int32_t device, const cpubind_viewed *npu)
{
    int32_t n_other = 0;
    api_text text = {"", 0};
    const int32_t n = list_home(e, device);
    api_json_list(&e->fact, "home", e->list, n);
    if (npu->near_cpus.n == 0)
        return;
    if (n == 0) {
        api_add(&text, "Pools are cut from none of them, so it has no home.");
        say(e, &text);
        return;
    }
    if (n == npu->near_cpus.n) {
        api_add(&text, "They are its home");
    } else {
        api_add(&text, "Its home is those that pools are cut from: ");
        api_add_list(&text, e->list, n);
    }
    for (int32_t d = 0; d < e->view.plan->n_candidate; d++) {
        int32_t i = 0;
        while (i < n && (d == device || !is_near(e, d, e->list[i])))
            i++;
        if (i < n)
            e->device[n_other++] = d;
    }
    api_add(&text, n_other == 0 ? ", and no other NPU has a part of it in its own"
                                : ", and CPUs of it are also in the home of ");
    if (n_other > 0)
        add_devices(e, e->device, n_other, -1, &text);
    say(e, &text);
}

/* Lists the CPUs of an NPU by step. Where CPUs are in several pools, the trace has one NPU of
 * each: the steps are those of topo_affinity then, or slices with one number. */
static int32_t list_step(explanation *e, int32_t device, int32_t row, int32_t step)
{
    int32_t n = 0;
    if (row < 0 || (!is_kept_overlap(e) && step != CPUBIND_STEP_SLICE))
        return list_traced(e, device, step, -2);
    const api_row r = api_row_of(e->view.facts, e->view.plan, row);
    for (int32_t i = 0; i < r.n; i++) {
        const int32_t mine = !is_kept_overlap(e) ? e->view.plan->step[e->view.cpu[r.cpu[i]].at]
                             : is_near(e, device, r.cpu[i]) ? CPUBIND_STEP_HOME
                                                            : CPUBIND_STEP_NEXT;
        if (step == mine)
            e->list[n++] = r.cpu[i];
    }
    return n;
}

/* Appends `before` and "at distance 12 to 20", from the nodes of CPUs to the home of a device.
 * Returns 0, and appends nothing, when the distance is not known. */
static int add_distance(const explanation *e, int32_t device, const int32_t *cpu, int32_t n,
                        const char *before, api_text *to)
{
    int32_t least = -1, most = -1;
    for (int32_t i = 0; i < n; i++) {
        const int32_t node = cpubind_facts_node(e->view.facts, e->view.facts->node_of[cpu[i]]);
        const int32_t distance = node < 0 ? -1 : api_distance(&e->view, device, node);
        least = distance >= 0 && (least < 0 || distance < least) ? distance : least;
        most = distance > most ? distance : most;
    }
    if (least >= 0)
        api_add(to, "%sat distance %d", before, (int)least);
    if (most > least)
        api_add(to, " to %d", (int)most);
    return least >= 0;
}

/* Says by which steps a device got its CPUs. */
static void say_steps(explanation *e, int32_t device, int32_t row)
{
    api_json_open(&e->fact, "steps", '{');
    for (int32_t step = CPUBIND_STEP_IDLE + 1; step < STEP_COUNT; step++) {
        api_text text = {"", 0};
        const int32_t n = list_step(e, device, row, step);
        if (n == 0)
            continue;
        api_json_list(&e->fact, cpubind_step_word(step), e->list, n);
        api_add(&text, "%d of its CPUs, ", (int)n);
        api_add_list(&text, e->list, n);
        (void)add_distance(e, device, e->list, n, ", ", &text);
        api_add(&text, ", %s.", steps[step].of_npu);
        say(e, &text);
    }
    api_json_close(&e->fact, '}');
}

/* Says which slice a device has. */
static void say_slot(explanation *e, int32_t device, const cpubind_viewed *npu)
{
    const cpubind_device_plan *plan = e->view.plan;
    const int32_t slot = plan->candidate[device].slot;
    api_text text = {"", 0};
    api_add(&text, "%d CPUs are cut into %d slices, and it has slice %d, ",
            (int)plan->host.n_cpu, (int)plan->n_slot, (int)slot);
    api_add(&text,
            !e->view.facts->has_listed ? "by its place in the order of the PCI addresses."
            : e->view.facts->scope == CPUBIND_SCOPE_OWN ? "by its place among the visible NPUs."
            : slot == npu->phy                          ? "by its phy id."
                                                        : "by its logic id.");
    for (int32_t d = 0; d < plan->n_candidate; d++)
        if (d != device && plan->candidate[d].slot == slot) {
            api_add(&text, " The same slice is that of ");
            add_device(e, d, &text);
            api_add(&text, ", which has the same number.");
        }
    api_json_number(&e->fact, "slot", slot);
    api_json_number(&e->fact, "slots", plan->n_slot);
    say(e, &text);
}

/* Says where the other CPUs of the host went. */
static void say_rest(explanation *e, int32_t device, int32_t n_mine)
{
    const cpubind_device_plan *plan = e->view.plan;
    const int32_t npu = plan->candidate[device].device;
    const cpubind_role_spec *roles =
        npu < 0 || e->view.facts->device[npu].bus < 0 ? &plan->roles : &plan->other_roles;
    int32_t n[API_CPU_KIND_COUNT] = {0}, n_taken = 0, n_all = 0, least = 0;
    api_text text = {"", 0};
    for (int32_t id = 0; id < e->view.facts->n_cpu_id; id++) {
        const api_cpu *cpu = &e->view.cpu[id];
        if (cpu->kind == API_CPU_ABSENT || cpu->device == device)
            continue;
        n_all++;
        if (cpu->kind >= API_CPU_PROCESS || cpu->kind == API_CPU_OTHER ||
            cpu->kind == API_CPU_HIDDEN)
            n_taken++;
        else
            n[cpu->kind]++;
    }
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++)
        least += roles->count[role];
    api_add(&text, "Of the other %d online CPUs, %d are in pools of other NPUs", (int)n_all,
            (int)n_taken);
    for (int32_t kind = API_CPU_BARRED; kind < API_CPU_PROCESS; kind++)
        if (n[kind] > 0)
            api_add(&text, ", %d are %s", (int)n[kind], api_cpu_text((api_cpu_kind)kind));
    api_add(&text, "; its roles need %d CPUs at least, and it has %d.", (int)least,
            (int)n_mine);
    say(e, &text);
}

/* Says why allowed CPUs stay idle. */
static void say_idle(explanation *e)
{
    static const char *const reasons[] = {
        [CPUBIND_GLOBAL_SLICE] = "they are the slices of numbers that no NPU in view has",
        [CPUBIND_TOPO_AFFINITY] = "no home is extended onto their nodes",
        [CPUBIND_CLUSTER] = "an NPU gets one whole cluster of the node of its home",
        [CPUBIND_NEAR] =
            "no NPU has its home on their socket, and no pool is below the minimum",
    };
    api_text text = {"", 0};
    int32_t n = 0;
    for (int32_t id = 0; id < e->view.facts->n_cpu_id; id++)
        if (e->view.cpu[id].kind == API_CPU_IDLE)
            e->list[n++] = id;
    if (n == 0)
        return;
    api_add(&text, "CPUs ");
    api_add_list(&text, e->list, n);
    api_add(&text, " stay idle: %s.", reasons[e->view.plan->core.strategy]);
    say(e, &text);
}

/* A row of the plan as those have it who use it: one device, or each tile of one, which has a
 * part of the row. */
typedef struct part {
    int32_t at; /* index of what api_shown shows; at first -1 */
    api_row row;
} part;

/* The next part of a row. Returns 0 after the last. */
static int next_part(const explanation *e, int32_t index, part *p)
{
    const cpubind_device_plan *plan = e->view.plan;
    do
        p->at++;
    while (p->at < plan->n_unit && plan->unit[p->at].device != plan->want[index]);
    if (p->at == plan->n_unit)
        return 0;
    p->row = api_shown(e->view.facts, plan, p->at);
    return 1;
}

/* Says that a role of a part has its CPUs, and why. */
static void say_role(explanation *e, const part *p, cpubind_role role)
{
    const int is_near_rule = e->view.plan->rules == CPUBIND_RULES_NEAR;
    int32_t n;
    const int32_t *cpu = api_role_of(&p->row, role, &n);
    api_text text = {"", 0};
    api_add(&text, "NPU %d, %s: ", (int)p->row.id, cpubind_role_word(role));
    if (n == 0) {
        api_add(&text, "no CPUs, since %s.",
                !p->row.on_bus ? "this product has no threads or interrupts of this role"
                : e->options->has_roles ? "--roles gives it none"
                                        : "all are main unless --roles is given");
    } else {
        api_add(&text, "CPU%s ", n == 1 ? "" : "s");
        api_add_list(&text, cpu, n);
        api_add(&text, "; %s.",
                e->view.plan->core.strategy == CPUBIND_CLUSTER
                    ? "a cluster is for the main threads alone"
                : is_near_rule ? role_rules[role].by_home
                               : role_rules[role].by_id);
    }
    say(e, &text);
}

/* Says how near a pool is to its NPU. */
static void say_quality(explanation *e, int32_t row)
{
    const cpubind_device_plan *plan = e->view.plan;
    const cpubind_quality *q = plan->row_quality ? &plan->row_quality[row] : NULL;
    api_text text = {"", 0};
    if (!q || q->cpus == 0)
        return;
    api_add(&text, "%d of its %d CPUs are near it, %d are on another socket", (int)q->near_cpus,
            (int)q->cpus, (int)q->far_cpus);
    if (q->irq_off > 0)
        api_add(&text, ", and %d CPUs for its interrupts are not near it", (int)q->irq_off);
    if (plan->memory_node && plan->memory_node[row] >= 0)
        api_add(&text, "; its memory belongs to node %d", (int)plan->memory_node[row]);
    say(e, &text);
}

/* Appends why a device has no pool. Returns 0 where it has one, or is not in this plan. */
static int add_poolless(const explanation *e, int32_t npu, api_text *to)
{
    const cpubind_device_plan *plan = e->view.plan;
    for (int32_t i = 0; i < plan->n_unit; i++) {
        const api_row row = api_shown(e->view.facts, plan, i);
        if (plan->unit[i].device != npu || !row.problem)
            continue;
        api_add(to, row.on_bus ? "NPU %d: " : "NPU %d has no pool: ", (int)row.id);
        api_explain_row(e->planned, e->options, &row, to);
        return 1;
    }
    return 0;
}

/* Says which part of the pool of a device each of its ranks has, if they are tiles. */
static void say_tiles(explanation *e, int32_t row)
{
    const char *before = "Each tile has a part, with roles of its own:";
    api_text text = {"", 0};
    for (part p = {.at = -1}; next_part(e, row, &p);) {
        const int32_t tile = p.row.tile;
        if (tile < 0)
            return;
        api_add(&text, "%s rank %d is tile %d, with CPUs ", before, (int)p.row.id, (int)tile);
        api_add_list(&text, p.row.cpu, p.row.n);
        before = ",";
    }
    say(e, &text);
}

/* Appends " (gpu0)" where the number in the plan is not that of the name. */
static void add_name(const explanation *e, int32_t npu, api_text *to)
{
    const cpubind_device_plan *plan = e->view.plan;
    for (int32_t i = 0; api_has_others(e->view.facts) && i < plan->n_unit; i++) {
        const api_row row = api_shown(e->view.facts, plan, i);
        api_text name = {"", 0};
        if (plan->unit[i].device == npu && row.tile < 0 && api_add_name(&name, &row)) {
            api_add(to, " (%s)", name.text);
            return;
        }
    }
}

/* Says what an NPU gets, or why it has no pool. */
static void say_pool(explanation *e, int32_t npu, int32_t device)
{
    const cpubind_device_plan *plan = e->view.plan;
    const cpubind_viewed *n = &e->view.facts->device[npu];
    const int32_t row = api_row_index(plan, npu);
    api_text text = {"", 0};
    int32_t n_cpu = 0;
    if (row >= 0) {
        const api_row r = api_row_of(e->view.facts, plan, row);
        api_add(&text, "NPU %d", (int)n->logic);
        add_name(e, npu, &text);
        api_add(&text, " gets %d CPUs: ", (int)r.n);
        api_add_list(&text, r.cpu, r.n);
        api_json_list(&e->fact, "pool", r.cpu, r.n);
    } else {
        if (!add_poolless(e, npu, &text))
            api_add(&text, "NPU %d is not in this plan, since it %s", (int)n->logic,
                    !n->is_visible ? "is not visible or was not asked for" : "does not run");
        n_cpu = device >= 0 ? list_traced(e, device, -2, -2) : 0;
        if (n_cpu > 0) {
            api_add(&text, "; the plan leaves %d CPUs for it: ", (int)n_cpu);
            api_add_list(&text, e->list, n_cpu);
        }
        api_json_null(&e->fact, "pool");
    }
    say(e, &text);
}

static void explain_npu(explanation *e, int32_t npu)
{
    const cpubind_device_plan *plan = e->view.plan;
    const cpubind_viewed *n = &e->view.facts->device[npu];
    const int is_traced = has_trace(e);
    const int32_t device = is_traced ? plan->of_device[npu] : -1;
    const int32_t row = is_traced ? api_row_index(plan, npu) : -1;
    api_json_number(&e->fact, "device", n->logic);
    if (is_traced)
        say_pool(e, npu, device);
    if (n->bus >= 0 && row >= 0)
        say_tiles(e, row);
    say_place(e, n);
    if (device < 0)
        return;
    say_home(e, device, n);
    say_rule(e);
    if (plan->core.strategy == CPUBIND_GLOBAL_SLICE)
        say_slot(e, device, n);
    api_json_open(&e->fact, "groups", '[');
    for (int32_t g = 0; g < plan->host.n_cpu && !is_kept_overlap(e); g++)
        if (e->group[g] == g && plan->stand[device * plan->host.n_cpu + g]) {
            say_group(e, g, device);
            put_group(e, NULL, g);
        }
    api_json_close(&e->fact, ']');
    say_steps(e, device, row);
    for (part p = {.at = -1}; row >= 0 && next_part(e, row, &p);)
        for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++)
            say_role(e, &p, (cpubind_role)role);
    if (row >= 0 && api_has_place(&e->view, device))
        say_quality(e, row);
    if (!is_kept_overlap(e))
        say_rest(e, device, list_traced(e, device, -2, -2));
    say_idle(e);
}

/* == CPUs =================================================================== */

/* Says where a CPU is. */
static void say_where(explanation *e, int32_t id)
{
    const cpubind_facts *facts = e->view.facts;
    const int32_t node = facts->node_of[id];
    const int32_t index = cpubind_facts_node(facts, node);
    api_text text = {"", 0};
    int32_t n = 0;
    api_add(&text, "CPU %d is on node %d", (int)id, (int)node);
    if (facts->socket && index >= 0)
        api_add(&text, ", socket %d", (int)facts->socket[index]);
    for (int32_t cpu = 0; facts->core_of && cpu < facts->n_cpu_id; cpu++)
        if (facts->node_of[cpu] >= 0 &&
            cpubind_facts_core(facts, cpu) == cpubind_facts_core(facts, id))
            e->list[n++] = cpu;
    if (n > 1) {
        api_add(&text, ", in a core with the CPUs ");
        api_add_list(&text, e->list, n);
    }
    api_json_number(&e->fact, "node", node);
    api_json_list(&e->fact, "core", e->list, n);
    say(e, &text);
}

/* Says which NPUs a CPU is near. */
static void say_near(explanation *e, int32_t id)
{
    int32_t n = 0, n_hidden, n_id;
    api_text text = {"", 0};
    for (int32_t d = 0; d < e->view.plan->n_candidate; d++)
        if (is_near(e, d, id))
            e->device[n++] = d;
    n_id = ids_of(e, e->device, n, -1, &n_hidden);
    api_json_list(&e->fact, "near_devices", e->ids, n_id);
    api_add(&text, n == 0 ? "It is near no NPU" : "It is near ");
    if (n > 0)
        add_devices(e, e->device, n, -1, &text);
    say(e, &text);
}

/* Appends the NPU of a part with the role of a CPU. Returns whether the CPU is in the part. */
static int add_part(explanation *e, const part *p, int32_t id, const char *before, api_text *to)
{
    const char *word = "another process of it";
    int32_t at = 0;
    char key[16];
    if (!cpubind_list_has(p->row.cpu, p->row.n, id, &at))
        return 0;
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        int32_t n;
        const int32_t *cpu = api_role_of(&p->row, (cpubind_role)role, &n);
        at = 0;
        if (cpubind_list_has(cpu, n, id, &at))
            word = cpubind_role_word((cpubind_role)role);
    }
    snprintf(key, sizeof key, "%d", (int)p->row.id);
    api_json_text(&e->fact, key, word);
    api_add(to, "%sNPU %d (%s)", before, (int)p->row.id, word);
    return 1;
}

/* Appends the NPUs of the plan that have a CPU, each with its role. Returns their number: 0 for
 * a CPU of a tile that this process does not see. */
static int add_rows(explanation *e, int32_t id, api_text *to)
{
    int n_row = 0;
    api_json_open(&e->fact, "pools", '{');
    for (int32_t i = 0; i < e->view.plan->n_want; i++)
        for (part p = {.at = -1}; next_part(e, i, &p);)
            n_row += add_part(e, &p, id, n_row ? " and of " : "It is in the pool of ", to);
    api_json_close(&e->fact, '}');
    return n_row;
}

/* Says what a CPU is in the plan. */
static void say_state(explanation *e, int32_t id)
{
    const api_cpu *cpu = &e->view.cpu[id];
    api_text text = {"", 0};
    api_json_text(&e->fact, "state", api_cpu_word(cpu->kind));
    switch (cpu->kind) {
    case API_CPU_BARRED:
        api_add(&text, "This process may not use it, so it is in no pool here; allowed are ");
        api_add_allowed(&text, e->view.facts, e->options);
        break;
    case API_CPU_EXCLUDED:
        api_add(&text, "It is excluded from every pool (--exclude)");
        break;
    case API_CPU_IDLE:
        api_add(&text, "No NPU gets it");
        break;
    case API_CPU_HIDDEN:
    case API_CPU_OTHER:
        api_add(&text, "It is left for ");
        add_device(e, cpu->device, &text);
        api_add(&text, cpu->kind == API_CPU_OTHER ? ", which is not in this plan"
                                                  : ", which this process cannot see");
        break;
    case API_CPU_KEPT:
        api_add(&text, "It is kept for the host, by --keep, with the rest of its core");
        break;
    case API_CPU_SPARE:
        api_add(&text, "No NPU gets it; the UVB polling threads of the host run on it");
        break;
    case API_CPU_PROCESS:
    case API_CPU_ROLE:
    case API_CPU_TWICE:
        if (add_rows(e, id, &text) > 0)
            break;
        api_add(&text, "It is left for another tile of ");
        add_device(e, cpu->device, &text);
        break;
    case API_CPU_ABSENT:
    case API_CPU_KIND_COUNT:
        api_add(&text, "It is not online");
        break;
    }
    say(e, &text);
}

/* Says that a device took a core in its turn, and who else might have. */
static void say_turn(explanation *e, int32_t device, int32_t group)
{
    const int32_t k = group < 0 ? 0 : list_claimants(e, group);
    api_text text = {"", 0};
    if (e->view.plan->core.strategy != CPUBIND_NEAR)
        return;
    api_add(&text, "Its core was taken in a turn of ");
    add_device(e, device, &text);
    api_add(&text, ", which had the fewest CPUs; ");
    add_devices(e, e->claimant, k, device, &text);
    api_add(&text, k <= 1 ? " may take it" : " might have taken it, too");
    say(e, &text);
}

/* Says by which step a CPU came to its NPU, with which other CPUs, and who else claims it. */
static void say_trace(explanation *e, int32_t id)
{
    const api_cpu *cpu = &e->view.cpu[id];
    api_text text = {"", 0};
    if (cpu->at < 0) {
        say_near(e, id);
        return;
    }
    const int32_t step = e->view.plan->step[cpu->at], group = e->group[cpu->at];
    api_json_text(&e->fact, "step", cpubind_step_word(step));
    api_json_id(&e->fact, "owner",
                cpu->device >= 0 && e->view.plan->candidate[cpu->device].device >= 0
                    ? e->view.facts->device[e->view.plan->candidate[cpu->device].device].logic
                    : -1);
    if (step > CPUBIND_STEP_IDLE && step < STEP_COUNT && cpu->device >= 0 &&
        !is_kept_overlap(e)) {
        api_add(&text, "%s", steps[step].of_cpu);
        if (add_distance(e, cpu->device, &id, 1, " Its node is ", &text))
            api_add(&text, " from that home.");
        say(e, &text);
        if (step == CPUBIND_STEP_HOME || step == CPUBIND_STEP_NEAREST)
            say_turn(e, cpu->device, group);
    }
    say_near(e, id);
    if (group >= 0 && !is_kept_overlap(e)) {
        say_group(e, group, cpu->device);
        put_group(e, "group", group);
    }
    say_rule(e);
    if (cpu->kind == API_CPU_IDLE)
        say_idle(e);
}

/* Says whose the other CPUs of a core are, if they are of another NPU. */
static void say_core(explanation *e, int32_t id)
{
    const cpubind_facts *facts = e->view.facts;
    const api_cpu *cpu = &e->view.cpu[id];
    for (int32_t other = 0; facts->core_of && other < facts->n_cpu_id; other++) {
        api_text text = {"", 0};
        if (other == id || facts->node_of[other] < 0 ||
            cpubind_facts_core(facts, other) != cpubind_facts_core(facts, id) ||
            cpu->device < 0 || e->view.cpu[other].device < 0 ||
            e->view.cpu[other].device == cpu->device)
            continue;
        api_add(&text, "CPU %d of the same core goes to ", (int)other);
        add_device(e, e->view.cpu[other].device, &text);
        api_add(&text, ": the core is split.");
        say(e, &text);
    }
}

static void explain_cpu(explanation *e, int32_t id)
{
    const cpubind_facts *facts = e->view.facts;
    api_text text = {"", 0};
    api_json_number(&e->fact, "cpu", id);
    if (id >= facts->n_cpu_id || facts->node_of[id] < 0) {
        api_add(&text,
                "CPU %d is not online, or there is no such CPU: the online CPUs end at %d.",
                (int)id, (int)facts->n_cpu_id - 1);
        api_json_text(&e->fact, "state", api_cpu_word(API_CPU_ABSENT));
        say(e, &text);
        return;
    }
    say_where(e, id);
    if (!has_trace(e)) {
        int32_t at = 0;
        api_add(&text, cpubind_list_has(facts->cpu, facts->n_cpu, id, &at)
                           ? "Pools may be cut from it."
                           : "This process may not use it, or it is excluded.");
        say(e, &text);
        return;
    }
    say_state(e, id);
    say_trace(e, id);
    say_core(e, id);
}

/* == What is asked ========================================================== */

/* What --explain names. */
typedef struct target {
    int is_device; /* it names one, `device` */
    api_name device;
    int32_t cpu;  /* or -1 */
    int32_t role; /* or -1 */
} target;

static int read_role(const char *word, int32_t *out)
{
    for (int32_t i = 0; i < CPUBIND_ROLE_COUNT; i++)
        if (strcasecmp(cpubind_role_word((cpubind_role)i), word) == 0) {
            *out = i;
            return 1;
        }
    return 0;
}

/* Reads the name of a device, "npu3.acl", "cpu17", "acl". Returns 0 for anything else. */
static int read_target(const char *text, target *out)
{
    const char *end = text + strlen(text), *dot = strrchr(text, '.');
    *out = (target){.cpu = -1, .role = -1};
    if (strlen(text) > 32)
        return 0;
    if (read_role(text, &out->role))
        return 1;
    if (strncasecmp(text, "cpu", 3) == 0)
        return cpubind_number_parse(text + 3, (int32_t)(end - text - 3), &out->cpu, NULL) ==
                   CPUBIND_TEXT_OK &&
               out->cpu >= 0 && out->cpu < CPUBIND_MAX_CPUS;
    if (dot && read_role(dot + 1, &out->role))
        end = dot;
    out->is_device = api_read_name(text, (int32_t)(end - text), &out->device);
    return out->is_device;
}

const char *api_check_explain(const char *text)
{
    target t;
    return strcasecmp(text, "all") == 0 || strcmp(text, "threads") == 0 || read_target(text, &t)
               ? NULL
               : "--explain takes a device (npu3, gpu0, its PCI address, or its number in the "
                 "plan), a CPU (cpu17), a role (acl), a role of a device (npu3.acl), threads, "
                 "or all";
}

/* The index of the device that a target names; -1: of none, or of several, whose addresses are
 * in e->called. */
static int32_t npu_index(explanation *e, const target *t)
{
    const cpubind_facts *facts = e->view.facts;
    int32_t found = -1;
    e->n_called = 0;
    e->called = (api_text){"", 0};
    for (int32_t i = 0; i < e->view.plan->n_unit; i++) {
        const api_row row = api_shown(facts, e->view.plan, i);
        if (e->view.plan->unit[i].device == found ||
            !api_is_called(&t->device, api_vendor_of(&row), row.number, row.id,
                           &row.device->pci))
            continue;
        found = e->view.plan->unit[i].device;
        api_add(&e->called, "%s", e->n_called++ > 0 ? " or " : "");
        api_add_pci(&e->called, &row.device->pci);
    }
    for (int32_t i = 0; i < facts->n_device && e->n_called == 0; i++)
        if (facts->device[i].bus < 0 &&
            api_is_called(&t->device, CPUBIND_VENDOR_ASCEND, facts->device[i].logic,
                          facts->device[i].logic, &facts->device[i].pci))
            return i;
    return e->n_called == 1 ? found : -1;
}

/* Explains a role: of one NPU (-1: of each). Returns 0 when there is none to explain. */
static int explain_role(explanation *e, int32_t npu, cpubind_role role)
{
    const cpubind_device_plan *plan = e->view.plan;
    int n = 0;
    api_json_text(&e->fact, "role", cpubind_role_word(role));
    api_json_open(&e->fact, "cpus", '{');
    for (int32_t i = 0; has_trace(e) && i < plan->n_want; i++) {
        if (npu >= 0 && plan->want[i] != npu)
            continue;
        for (part p = {.at = -1}; next_part(e, i, &p); n++) {
            char key[16];
            int32_t n_cpu;
            const int32_t *cpu = api_role_of(&p.row, role, &n_cpu);
            say_role(e, &p, role);
            snprintf(key, sizeof key, "%d", (int)p.row.id);
            api_json_list(&e->fact, key, cpu, n_cpu);
        }
    }
    api_json_close(&e->fact, '}');
    for (int32_t i = 0; npu < 0 && i < plan->n_unit; i++) {
        api_text text = {"", 0};
        if (plan->unit[i].rank < 0 || !add_poolless(e, plan->unit[i].device, &text))
            continue;
        say(e, &text);
        n++;
    }
    return n > 0;
}

/* Explains what is asked. Returns 0 when the plan and the facts do not know it. */
static int explain_target(explanation *e, const target *t)
{
    const cpubind_facts *facts = e->view.facts;
    const int32_t npu = t->is_device ? npu_index(e, t) : -1;
    if (t->cpu >= 0) {
        explain_cpu(e, t->cpu);
        return facts->n_cpu_id > 0;
    }
    if (t->is_device && npu < 0)
        return 0;
    if (t->role >= 0 && explain_role(e, npu, (cpubind_role)t->role) && npu < 0)
        return 1;
    if (npu < 0)
        return 0;
    explain_npu(e, npu);
    return 1;
}

/* == Output ================================================================= */

/* Explains one target: appends its sentences, or its facts with the sentences as "text".
 * Returns 0 when the plan and the facts do not know it. */
static int add_target(explanation *e, const target *t, const char *key)
{
    int is_known;
    e->fact.len = e->said.len = 0;
    e->n_said = 0;
    api_json_open(&e->fact, NULL, '{');
    api_json_open(&e->said, NULL, '[');
    is_known = explain_target(e, t);
    if (is_known && e->planned->code != CPUBIND_PROBLEM_NONE) {
        api_text why = {"There is no plan: ", 18};
        api_explain(e->planned, e->options, &why);
        say(e, &why);
    }
    api_json_close(&e->said, ']');
    api_json_value(&e->fact, "text", e->said.text);
    api_json_close(&e->fact, '}');
    if (e->options->json && is_known)
        api_json_value(e->to, key, e->fact.text);
    e->n_target++;
    return is_known;
}

/* Explains all NPUs in view, all roles and all CPUs. Returns 0 as add_target does. */
static int add_all(explanation *e)
{
    const cpubind_facts *facts = e->view.facts;
    for (int32_t i = 0; i < facts->n_device; i++)
        if (!add_target(e, &(target){1, {NULL, facts->device[i].logic, {0}}, -1, -1}, NULL))
            return 0;
    for (int32_t i = 0; has_trace(e) && i < CPUBIND_ROLE_COUNT; i++)
        if (!add_target(e, &(target){.cpu = -1, .role = i}, NULL))
            return 0;
    for (int32_t i = 0; i < facts->n_cpu_id; i++)
        if (!add_target(e, &(target){.cpu = i, .role = -1}, NULL))
            return 0;
    return 1;
}

/* Explains what --explain names; with --json {"cpubind", "explain"}, with the error of a
 * refused plan. */
static int put_all(explanation *e)
{
    const api_options *options = e->options;
    api_text why = {"", 0};
    target t;
    int is_known;
    if (options->json && e->planned->code != CPUBIND_PROBLEM_NONE) {
        api_explain(e->planned, options, &why);
        api_json_problem(e->to, &e->planned->problem, why.text);
    } else if (options->json) {
        api_json_open(e->to, NULL, '{');
        api_json_text(e->to, "cpubind", CPUBIND_VERSION);
    }
    if (options->json && e->is_all)
        api_json_open(e->to, "explain", '[');
    if (e->is_all)
        is_known = add_all(e);
    else
        is_known = read_target(options->explain, &t) && add_target(e, &t, "explain");
    if (options->json && e->is_all)
        api_json_close(e->to, ']');
    if (options->json)
        api_json_close(e->to, '}');
    return is_known;
}

int api_put_why(api_out *to, const api_planned *planned, const api_options *options,
                api_text *why)
{
    const cpubind_facts *facts = &planned->facts;
    explanation e = {.planned = planned, .options = options, .to = to};
    api_text unknown = {"", 0};
    int is_made, is_known = 0;
    if (!planned->has_facts)
        return 0;
    e.list = (int32_t *)calloc((size_t)facts->n_cpu_id + 1, sizeof *e.list);
    e.device = (int32_t *)malloc(CPUBIND_MAX_DEVICES * sizeof *e.device);
    e.ids = (int32_t *)malloc(CPUBIND_MAX_DEVICES * sizeof *e.ids);
    e.claimant = (int32_t *)malloc(CPUBIND_MAX_DEVICES * sizeof *e.claimant);
    e.group = (int32_t *)calloc((size_t)facts->n_cpu_id + 1, sizeof *e.group);
    is_made = e.list && e.device && e.ids && e.claimant && e.group &&
              api_make_view(planned, options, &e.view);
    if (is_made && has_trace(&e))
        find_groups(&e);
    e.is_all = strcasecmp(options->explain, "all") == 0;
    if (is_made)
        is_known = put_all(&e);
    to->is_short |= !is_made || e.fact.is_short || e.said.is_short;
    api_free_view(&e.view);
    free(e.fact.text);
    free(e.said.text);
    free(e.list);
    free(e.device);
    free(e.ids);
    free(e.claimant);
    free(e.group);
    if (is_known || to->is_short || planned->code != CPUBIND_PROBLEM_NONE)
        return is_known;
    if (e.n_called > 1) {
        api_add(why, "--explain %s may be %s: name it by its address", options->explain,
                e.called.text);
        return 0;
    }
    api_add(&unknown, ": this process sees no such NPU; it sees NPUs ");
    api_add_npus(&unknown, facts, NULL, NULL);
    api_add(&unknown, "; a CPU is named as in cpu17");
    api_add(why, "--explain %s", options->explain);
    api_add_in_words(facts, unknown.text, why);
    return 0;
}
