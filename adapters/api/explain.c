/* explain.c - why a device, a CPU or a role has what the plan gives it: facts, and sentences
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: what a CPU is comes from picture.h, how it came to its device from the steps
 * and stands of the plan. CPUs that are for the same devices are a group. A fact goes into the
 * object of JSON where its sentence is said; a rule is said once. Devices are named as --device
 * takes them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../model/vendor.h"
#include "../text/cpulist.h"
#include "../text/procfs.h"
#include "nics.h"
#include "picture.h"

enum { STEP_COUNT = CPUBIND_STEP_COUNT, WORDS = 4 };

/* What the CPUs are that a step of the rule gave to a device. */
static const char *const steps[STEP_COUNT] = {
    [CPUBIND_STEP_SLICE] = "in its slice",
    [CPUBIND_STEP_HOME] = "in its home",
    [CPUBIND_STEP_NEXT] = "on the next node after its home",
    [CPUBIND_STEP_NEAREST] = "in nobody's home, and its home is the nearest on their socket",
    [CPUBIND_STEP_FREE] = "near nobody, and it is at home nowhere among what is shared out",
    [CPUBIND_STEP_MINIMUM] = "idle, and it had too few: below its minimum, or below half of an "
                             "even share",
    [CPUBIND_STEP_LENT] =
        "of another device that could spare them, and it had too few: below its "
        "minimum, or below half of an even share",
    [CPUBIND_STEP_CLUSTER] = "a whole cluster of the node of its home",
};

/* The rule of each strategy, and why it leaves CPUs idle. */
static const struct {
    const char *rule, *idle;
} strategies[] = {
    [CPUBIND_GLOBAL_SLICE] =
        {"all CPUs in ascending order are cut into slices of the same size, one for each "
         "number of a device; the first slices get one more where they do not divide evenly",
         "they are the slices of numbers that no device in view has"},
    [CPUBIND_TOPO_AFFINITY] =
        {"a home on one node is extended by the next node, and devices whose extended homes "
         "are "
         "equal share them in equal parts, in the order of their PCI addresses, or of their "
         "ids where an address is not known; the last part has the rest",
         "no home is extended onto their nodes"},
    [CPUBIND_CLUSTER] = {"each device gets one whole cluster of the node of its home, in "
                         "ascending order",
                         "a device gets one whole cluster of the node of its home"},
    [CPUBIND_NEAR] =
        {"devices take whole cores in turns, the one with the fewest CPUs first. A "
         "core in a home is for those whose home it is, another for the nearest "
         "home on its socket",
         "no device has its home on their socket, and no pool is below the minimum"},
};

/* What a CPU is that is in no pool in view: about nothing else, a device, the allowed CPUs, a
 * process beside the devices. */
static const struct {
    enum { ABOUT_NONE, ABOUT_DEVICE, ABOUT_ALLOWED, ABOUT_BESIDE } about;
    const char *before, *behind;
} states[API_CPU_KIND_COUNT] = {
    [API_CPU_ABSENT] = {ABOUT_NONE, "It is not online", ""},
    [API_CPU_BARRED] = {ABOUT_ALLOWED, "This process may not use it; allowed are ", ""},
    [API_CPU_EXCLUDED] = {ABOUT_NONE, "It is excluded from every pool (exclude)", ""},
    [API_CPU_IDLE] = {ABOUT_NONE, "No device gets it", ""},
    [API_CPU_HIDDEN] = {ABOUT_DEVICE, "It is left for ", ", which this process cannot see"},
    [API_CPU_OTHER] = {ABOUT_DEVICE, "It is left for ", ", which is not in this plan"},
    [API_CPU_KEPT] = {ABOUT_NONE, "It is kept for the host (keep), with its core", ""},
    [API_CPU_SPARE] = {ABOUT_NONE, "The UVB polling threads of the host run on it", ""},
    [API_CPU_BESIDE] = {ABOUT_BESIDE, "It is for ", ", beside the devices"},
    [API_CPU_PROCESS] = {ABOUT_DEVICE, "It is left for another tile of ", ""},
    [API_CPU_ROLE] = {ABOUT_DEVICE, "It is left for another tile of ", ""},
    [API_CPU_TWICE] = {ABOUT_DEVICE, "It is left for another tile of ", ""},
};

/* What told the node of a function of the bus. */
static const char *const origins[CPUBIND_NODE_ORIGIN_COUNT] = {
    [CPUBIND_NODE_ORIGIN_UNKNOWN] = "",
    [CPUBIND_NODE_ORIGIN_DEVICE] = "its numa_node",
    [CPUBIND_NODE_ORIGIN_LOCAL_CPUS] = "its local_cpulist, since its numa_node is -1",
    [CPUBIND_NODE_ORIGIN_BRIDGE] = "a bridge above it, since its numa_node is -1: ",
    [CPUBIND_NODE_ORIGIN_ONLY_NODE] = "the only node of the host that has CPUs",
    [CPUBIND_NODE_ORIGIN_NPU_SMI] = "node 0, which npu-smi takes where the kernel has none",
};

/* One explanation: sentences, and the facts they are made of. */
typedef struct explanation {
    api_view view;
    const api_planned *planned;
    const api_options *options;
    words_value *fact; /* the object of this target */
    words_value *said; /* its sentences, an array */
    int32_t *list;     /* CPUs: room for all of the host */
    int32_t *device;   /* of the core: room for CPUBIND_MAX_DEVICES */
    api_name *name;    /* room for facts->n_device */
    int32_t *group;    /* by CPU of the plan: the first CPU that is for the same devices; -1 */
    int is_all;        /* all is explained */
    int has_rule, has_role_rule; /* is said already */
    int32_t n_called; /* devices that have the name of the target, and their addresses */
    api_text called;
    api_text words[WORDS]; /* parts of one sentence */
    int n_words;
} explanation;

/* == Sentences and facts ==================================================== */

/* Says a sentence, which ends in a full stop here if it has none. */
__attribute__((format(printf, 2, 3))) static void say(explanation *e, const char *form, ...)
{
    char sentence[sizeof(api_text)];
    api_text text = {"", 0};
    va_list values;
    va_start(values, form);
    (void)vsnprintf(sentence, sizeof sentence, form, values);
    va_end(values);
    api_add(&text, "%s", sentence);
    api_add(&text, "%s", text.len > 0 && text.text[text.len - 1] == '.' ? "" : ".");
    words_add(e->said, words_text(text.text));
}

/* Room for a part of a sentence, which lasts until WORDS others are taken. */
static api_text *words_of(explanation *e)
{
    api_text *words = &e->words[e->n_words++ % WORDS];
    *words = (api_text){"", 0};
    return words;
}

/* "0-23" */
static const char *list_words(explanation *e, const int32_t *list, int32_t n)
{
    api_text *words = words_of(e);
    api_add_list(words, list, n);
    return words->text;
}

/* A device of the core: "npu3", "the hidden device 0000:c1:00.0". */
static const char *device_words(explanation *e, int32_t device)
{
    api_text *words = words_of(e);
    api_add_candidate(words, e->view.facts, &e->view.plan->candidate[device]);
    return words->text;
}

/* A device of the facts. */
static const char *npu_words(explanation *e, int32_t npu)
{
    const api_name name = api_name_of(e->view.facts->device[npu]);
    api_text *words = words_of(e);
    api_add_names(words, &name, 1);
    return words->text;
}

/* Names those of devices of the core that are in view, as e->name, in the order of the facts.
 * Returns their number; the others are hidden. */
static int32_t name_all(const explanation *e, const int32_t *device, int32_t n)
{
    const cpubind_device_plan *plan = e->view.plan;
    int32_t n_name = 0;
    for (int32_t i = 0; i < e->view.facts->n_device; i++) {
        int32_t k = 0;
        while (k < n && plan->candidate[device[k]].device != i)
            k++;
        if (k < n)
            e->name[n_name++] = api_name_of(e->view.facts->device[i]);
    }
    return n_name;
}

/* The same as JSON. */
static words_value *names_json(const explanation *e, const int32_t *device, int32_t n)
{
    const int32_t n_name = name_all(e, device, n);
    words_value *names = words_array();
    for (int32_t i = 0; i < n_name; i++) {
        api_text name = {"", 0};
        api_add_names(&name, &e->name[i], 1);
        words_add(names, words_text(name.text));
    }
    return names;
}

/* "npu1, npu3 and 2 hidden devices"; "no device" when there is none. */
static const char *devices_words(explanation *e, const int32_t *device, int32_t n)
{
    const int32_t n_name = name_all(e, device, n), n_hidden = n - n_name;
    api_text *words = words_of(e);
    api_add_names(words, e->name, n_name);
    if (n_hidden > 0)
        api_add(words, "%s%d hidden device%s", n_name > 0 ? " and " : "", (int)n_hidden,
                n_hidden == 1 ? "" : "s");
    if (n == 0)
        api_add(words, "no device");
    return words->text;
}

/* == The trace ============================================================== */

static int has_trace(const explanation *e)
{
    return e->planned->code == CPUBIND_PROBLEM_NONE && e->view.plan->owner != NULL;
}

/* Whether two CPUs of the plan are for the same devices. */
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

/* Lists the devices that a group is for. */
static int32_t list_claimants(explanation *e, int32_t group)
{
    const cpubind_device_plan *plan = e->view.plan;
    int32_t n = 0;
    for (int32_t d = 0; d < plan->n_candidate; d++)
        if (plan->stand[d * plan->host.n_cpu + group])
            e->device[n++] = d;
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

/* Whether the plan gives CPUs to several devices. */
static int is_kept_overlap(const explanation *e)
{
    return e->view.plan->core.overlap >= CPUBIND_FOUND_PRESENT;
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

/* Says which devices the CPUs of a group may go to, and how many of them one has (-1: none is
 * asked for). Returns the facts. */
static words_value *say_group(explanation *e, int32_t group, int32_t device)
{
    const int32_t k = list_claimants(e, group);
    const char *devices = devices_words(e, e->device, k);
    const int32_t n_its = device < 0 ? 0 : list_traced(e, device, -2, group);
    const int32_t n = list_traced(e, -2, -2, group);
    const char *list = list_words(e, e->list, n);
    if (device >= 0)
        say(e, "The %d CPUs %s may go to %s%s; it gets %d", (int)n, list, devices,
            k == 1 ? " alone" : "", (int)n_its);
    else
        say(e, "The %d CPUs %s may go to %s%s", (int)n, list, devices, k == 1 ? " alone" : "");
    words_value *names = names_json(e, e->device, k);
    return words_make("cpus:v devices:v hidden:i", words_list(e->list, n), names,
                      (int)(k - words_count(names)));
}

/* Says by which rule CPUs are shared out. */
static void say_rule(explanation *e)
{
    const cpubind_pools *core = &e->view.plan->core;
    if (e->has_rule)
        return;
    e->has_rule = 1;
    say(e, "The rule is %s: %s", api_strategy_word(core->strategy),
        strategies[core->strategy].rule);
    if (core->overlap == CPUBIND_FOUND_SHARED)
        say(e, "Pools are shared (share=yes): each device has what it would have if it were "
               "alone");
    if (core->strategy != CPUBIND_TOPO_AFFINITY || core->overlap == CPUBIND_FOUND_NONE)
        return;
    const int is_kept = core->overlap == CPUBIND_FOUND_PRESENT;
    say(e, "It %s: first, CPU %d to %s and %s.%s",
        is_kept ? "gives CPUs twice, which are kept so (overlap=keep)"
                : "would give CPUs twice",
        (int)core->shared.cpu, device_words(e, core->shared.device),
        device_words(e, core->shared.other),
        is_kept ? ""
                : " So a CPU in a home goes to the devices whose home it is in, another CPU to "
                  "those whose homes are extended onto its node, and the smallest pool is as "
                  "large as it can be");
}

/* == Devices ================================================================ */

/* Says which CPUs are near a device, and by which input. */
static void say_place(explanation *e, const cpubind_host_device *npu)
{
    const cpubind_facts *facts = e->view.facts;
    const int32_t *cpu = npu->cpu, n = npu->n_cpu;
    const int is_kernel = npu->locality == CPUBIND_LOCALITY_SAME ||
                          npu->locality == CPUBIND_LOCALITY_TAKEN ||
                          npu->locality == CPUBIND_LOCALITY_DIFFERS;
    api_text *by = words_of(e), *rest = words_of(e);
    int32_t nodes[CPUBIND_MAX_NODES];
    if (!cpubind_is_listed(npu)) {
        words_move(e->fact, words_make("pci:v node_by:s", api_pci_json(&npu->pci),
                                       cpubind_node_origin_word(npu->origin)));
        api_add(by, "%s",
                npu->origin == CPUBIND_NODE_ORIGIN_ONLY_NODE && !facts->has_nodes
                    ? "default: the host shows no nodes"
                    : origins[npu->origin]);
        if (npu->origin == CPUBIND_NODE_ORIGIN_BRIDGE)
            api_add_pci(by, &npu->via);
        if (npu->origin == CPUBIND_NODE_ORIGIN_DEVICE && npu->numa_node != npu->node)
            api_add(by, " %d, which has no CPUs: node %d is the nearest that has",
                    (int)npu->numa_node, (int)npu->node);
    } else {
        api_add(by, "the %s", is_kernel ? "kernel" : "topology of npu-smi");
    }
    words_set(e->fact, "near", words_list(cpu, n));
    if (n == 0) {
        if (npu->node >= 0)
            api_add(rest, "; its PCI function is on node %d", (int)npu->node);
        say(e, "Which CPUs are near it is not known%s", rest->text);
        return;
    }
    const int32_t n_node = api_nodes_of(facts, cpu, n, nodes);
    if (n_node > 0) {
        api_add(rest, "; they are on node%s ", n_node == 1 ? "" : "s");
        api_add_list(rest, nodes, n_node);
    }
    if (npu->pci.domain >= 0) {
        api_add(rest, "; its PCI address is ");
        api_add_pci(rest, &npu->pci);
    }
    say(e, "CPUs %s are near it, by %s%s", list_words(e, cpu, n), by->text, rest->text);
}

/* Says which of these CPUs are the home, and whose home they are too. */
static void say_home(explanation *e, int32_t device, const cpubind_host_device *npu)
{
    int32_t n_other = 0;
    const int32_t n = list_home(e, device);
    words_set(e->fact, "home", words_list(e->list, n));
    for (int32_t d = 0; d < e->view.plan->n_candidate; d++) {
        int32_t i = 0;
        while (i < n && (d == device || !is_near(e, d, e->list[i])))
            i++;
        if (i < n)
            e->device[n_other++] = d;
    }
    if (npu->n_cpu > 0 && n == 0)
        say(e, "Pools are cut from none of them, so it has no home");
    else if (n > 0)
        say(e,
            "Its home, those that pools are cut from, is %s; CPUs of it are also in the home "
            "of %s",
            list_words(e, e->list, n),
            n_other > 0 ? devices_words(e, e->device, n_other) : "no other device");
}

/* Lists the CPUs of a device by step. Where CPUs are in several pools, the trace has one device
 * of each: the steps are those of topo_affinity then, or slices with one number. */
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

/* ", at distance 12 to 20", from the nodes of CPUs to the home of a device; "" when it is not
 * known. */
static const char *distance_words(explanation *e, int32_t device, const int32_t *cpu, int32_t n)
{
    api_text *words = words_of(e);
    int32_t least = -1, most = -1;
    for (int32_t i = 0; i < n; i++) {
        const int32_t node = cpubind_facts_node(e->view.facts, e->view.facts->node_of[cpu[i]]);
        const int32_t distance = node < 0 ? -1 : api_distance(&e->view, device, node);
        least = distance >= 0 && (least < 0 || distance < least) ? distance : least;
        most = distance > most ? distance : most;
    }
    if (least >= 0)
        api_add(words, ", at distance %d", (int)least);
    if (most > least)
        api_add(words, " to %d", (int)most);
    return words->text;
}

/* Says by which steps a device got its CPUs. */
static void say_steps(explanation *e, int32_t device, int32_t row)
{
    words_value *given = words_object();
    for (int32_t step = CPUBIND_STEP_IDLE + 1; step < STEP_COUNT; step++) {
        const int32_t n = list_step(e, device, row, step);
        if (n == 0)
            continue;
        words_set(given, cpubind_step_word(step), words_list(e->list, n));
        say(e, "%d of its CPUs, %s%s: %s", (int)n, list_words(e, e->list, n),
            distance_words(e, device, e->list, n), steps[step]);
    }
    words_set(e->fact, "steps", given);
}

/* Says which slice a device has. */
static void say_slot(explanation *e, int32_t device, const cpubind_host_device *npu)
{
    const cpubind_device_plan *plan = e->view.plan;
    const int32_t slot = plan->candidate[device].slot;
    const char *by = !e->view.facts->has_listed ? "place in the order of the PCI addresses"
                     : e->view.facts->scope == CPUBIND_SCOPE_OWN
                         ? "place among the visible devices"
                     : slot == npu->phy ? "phy id"
                                        : "logic id";
    say(e, "%d CPUs are cut into %d slices, and it has slice %d, by its %s",
        (int)plan->host.n_cpu, (int)plan->n_slot, (int)slot, by);
    for (int32_t d = 0; d < plan->n_candidate; d++)
        if (d != device && plan->candidate[d].slot == slot)
            say(e, "The same slice is that of %s, which has the same number",
                device_words(e, d));
    words_move(e->fact, words_make("slot:i slots:i", (int)slot, (int)plan->n_slot));
}

/* Says why allowed CPUs stay idle. */
static void say_idle(explanation *e)
{
    int32_t n = 0;
    for (int32_t id = 0; id < e->view.facts->n_cpu_id; id++)
        if (e->view.cpu[id].kind == API_CPU_IDLE)
            e->list[n++] = id;
    if (n > 0)
        say(e, "CPUs %s stay idle: %s", list_words(e, e->list, n),
            strategies[e->view.plan->core.strategy].idle);
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

/* The name of a part; of a tile without a number that of its card: "0000:c1:00.0.1". */
static api_text part_name(const part *p)
{
    const api_name name = api_row_name(&p->row);
    api_text text = {"", 0};
    api_add_names(&text, &name, 1);
    if (name.number < 0 && p->row.tile >= 0)
        api_add(&text, ".%d", (int)p->row.tile);
    return text;
}

/* Says the CPUs of roles of a part: of all, or of one. */
static void say_roles(explanation *e, const part *p, int32_t only)
{
    const api_text name = part_name(p);
    api_text *words = words_of(e);
    for (int32_t role = 0; role < CPUBIND_ALL_ROLES; role++) {
        int32_t n;
        const int32_t *cpu = api_role_of(&p->row, (cpubind_role)role, &n);
        if (only < 0 ? n == 0 : role != only)
            continue;
        api_add(words, "%s%s ", words->len > 0 ? ", " : "",
                cpubind_role_name((cpubind_role)role));
        api_add_list(words, cpu, n);
    }
    say(e, "%s: %s", name.text, words->len > 0 ? words->text : "no CPU");
}

/* Says by which rule pools are cut into roles. */
static void say_role_rule(explanation *e, const part *p)
{
    const int has_transfer = cpubind_plan_n_role(e->view.plan) > CPUBIND_ROLE_TRANSFER;
    const int is_main = !cpubind_is_listed(p->row.device) && !e->options->request.roles;
    if (!e->has_role_rule && !(is_main && has_transfer))
        say(e, "%s",
            is_main ? "All are main unless -o roles= is given"
            : e->view.plan->core.strategy == CPUBIND_CLUSTER
                ? "A cluster is for the main threads alone"
            : e->options->request.roles
                ? "The setting roles says how many CPUs each role has: irq the first ones near "
                  "the device, acl and release the last ones, and main the rest"
            : e->view.plan->rules == CPUBIND_RULES_NEAR
                ? "The first CPUs near the device serve the interrupts, core by core; of the "
                  "last, "
                  "one runs the ACL and one the release thread, on cores of their own if there "
                  "are two, with their siblings if 8 CPUs are left for the main threads"
                : "The first CPUs of the pool serve the interrupts, the last but one runs the "
                  "ACL thread, and the last one the release thread");
    if (!e->has_role_rule && !is_main && e->view.facts->kind_of &&
        e->view.plan->rules == CPUBIND_RULES_NEAR)
        say(e, "Where cores of several kinds are near the device, the ACL and the release "
               "thread run on those of the fastest");
    if (!e->has_role_rule && has_transfer)
        say(e, "transfer is cut off the last CPUs of main, near the device where there are "
               "some, core by core; it has the rest of its last core if 8 CPUs are left for "
               "the main threads");
    e->has_role_rule = 1;
}

/* Says how near a pool is to its device. */
static void say_quality(explanation *e, int32_t row)
{
    const cpubind_device_plan *plan = e->view.plan;
    const cpubind_quality *q = plan->row_quality ? &plan->row_quality[row] : NULL;
    api_text *rest = words_of(e);
    if (!q || q->cpus == 0)
        return;
    if (q->irq_off > 0)
        api_add(rest, ", and %d CPUs for its interrupts are not near it", (int)q->irq_off);
    if (plan->memory_node && plan->memory_node[row] >= 0)
        api_add(rest, "; its memory belongs to node %d", (int)plan->memory_node[row]);
    say(e, "%d of its %d CPUs are near it, %d are on another socket%s", (int)q->near_cpus,
        (int)q->cpus, (int)q->far_cpus, rest->text);
}

/* Appends why a device has no pool. Returns 0 where it has one, or is not in this plan. */
static int add_poolless(explanation *e, int32_t npu, api_text *to)
{
    const cpubind_device_plan *plan = e->view.plan;
    for (int32_t i = 0; i < plan->n_unit; i++) {
        const api_row row = api_shown(e->view.facts, plan, i);
        if (plan->unit[i].device != npu || !row.problem)
            continue;
        if (cpubind_is_listed(row.device)) /* else the reason begins with it */
            api_add(to, "%s has no pool: ", npu_words(e, npu));
        api_explain_row(e->planned, e->options, &row, to);
        return 1;
    }
    return 0;
}

/* Says which part of the pool of a device each of its ranks has, if they are tiles. */
static void say_tiles(explanation *e, int32_t row)
{
    for (part p = {.at = -1}; next_part(e, row, &p);)
        if (p.row.tile >= 0)
            say(e, "Rank %d is its tile %d, with the CPUs %s", (int)p.row.id, (int)p.row.tile,
                list_words(e, p.row.cpu, p.row.n));
}

/* Says what a device gets, or why it has no pool. */
static void say_pool(explanation *e, int32_t npu, int32_t device)
{
    const cpubind_device_plan *plan = e->view.plan;
    const cpubind_host_device *n = e->view.facts->device[npu];
    const int32_t row = api_row_index(plan, npu);
    api_text *words = words_of(e);
    int32_t n_cpu;
    if (row >= 0) {
        const api_row r = api_row_of(e->view.facts, plan, row);
        say(e, "%s gets %d CPUs: %s", npu_words(e, npu), (int)r.n, list_words(e, r.cpu, r.n));
        words_set(e->fact, "pool", words_list(r.cpu, r.n));
        return;
    }
    if (!add_poolless(e, npu, words))
        api_add(words, "%s is not in this plan, since it %s", npu_words(e, npu),
                !n->is_visible ? "is not visible or was not asked for" : "does not run");
    n_cpu = device >= 0 ? list_traced(e, device, -2, -2) : 0;
    if (n_cpu > 0)
        say(e, "%s; the plan leaves %d CPUs for it: %s", words->text, (int)n_cpu,
            list_words(e, e->list, n_cpu));
    else
        say(e, "%s", words->text);
    words_set(e->fact, "pool", words_null());
}

/* Says which network cards a device has. */
static void say_network(explanation *e, const cpubind_host_device *device)
{
    api_text *words = words_of(e);
    api_explain_nics(e->planned, device, words);
    if (words->len > 0)
        say(e, "%s", words->text);
    api_set_cards(e->fact, e->planned, device);
}

static void explain_npu(explanation *e, int32_t npu)
{
    const cpubind_device_plan *plan = e->view.plan;
    const cpubind_host_device *n = e->view.facts->device[npu];
    const int is_traced = has_trace(e);
    const int32_t device = is_traced ? plan->of_device[npu] : -1;
    const int32_t row = is_traced ? api_row_index(plan, npu) : -1;
    words_value *groups;
    words_set(e->fact, "device", words_text(npu_words(e, npu)));
    if (is_traced)
        say_pool(e, npu, device);
    if (!cpubind_is_listed(n) && row >= 0)
        say_tiles(e, row);
    say_place(e, n);
    say_network(e, n);
    if (device < 0)
        return;
    say_home(e, device, n);
    if (plan->core.strategy == CPUBIND_GLOBAL_SLICE)
        say_slot(e, device, n);
    groups = words_array();
    for (int32_t g = 0; g < plan->host.n_cpu && !is_kept_overlap(e); g++)
        if (e->group[g] == g && plan->stand[device * plan->host.n_cpu + g])
            words_add(groups, say_group(e, g, device));
    words_set(e->fact, "groups", groups);
    say_steps(e, device, row);
    say_rule(e);
    for (part p = {.at = -1}; row >= 0 && next_part(e, row, &p);) {
        say_roles(e, &p, -1);
        say_role_rule(e, &p);
    }
    if (row >= 0 && api_has_place(&e->view, device))
        say_quality(e, row);
    say_idle(e);
}

/* == CPUs =================================================================== */

/* Says where a CPU is. */
static void say_where(explanation *e, int32_t id)
{
    const cpubind_facts *facts = e->view.facts;
    const int32_t node = facts->node_of[id];
    const int32_t index = cpubind_facts_node(facts, node);
    api_text *rest = words_of(e);
    int32_t n = 0;
    if (facts->socket && index >= 0)
        api_add(rest, ", socket %d", (int)facts->socket[index]);
    for (int32_t cpu = 0; facts->core_of && cpu < facts->n_cpu_id; cpu++)
        if (facts->node_of[cpu] >= 0 &&
            cpubind_facts_core(facts, cpu) == cpubind_facts_core(facts, id))
            e->list[n++] = cpu;
    if (n > 1) {
        api_add(rest, ", in a core with the CPUs ");
        api_add_list(rest, e->list, n);
    }
    words_set(e->fact, "node", words_number(node));
    words_set(e->fact, "core", words_list(e->list, n));
    say(e, "CPU %d is on node %d%s", (int)id, (int)node, rest->text);
}

/* Says which devices a CPU is near. */
static void say_near(explanation *e, int32_t id)
{
    int32_t n = 0;
    for (int32_t d = 0; d < e->view.plan->n_candidate; d++)
        if (is_near(e, d, id))
            e->device[n++] = d;
    say(e, "It is near %s", devices_words(e, e->device, n));
    words_set(e->fact, "near_devices", names_json(e, e->device, n));
}

/* Appends the name of a part with the role of a CPU. Returns whether the CPU is in the part. */
static int add_part(const part *p, int32_t id, const char *before, words_value *pools,
                    api_text *to)
{
    const api_text name = part_name(p);
    const char *word = "another process of it";
    int32_t at = 0;
    if (!cpubind_list_has(p->row.cpu, p->row.n, id, &at))
        return 0;
    for (int32_t role = 0; role < CPUBIND_ALL_ROLES; role++) {
        int32_t n;
        const int32_t *cpu = api_role_of(&p->row, (cpubind_role)role, &n);
        at = 0;
        if (cpubind_list_has(cpu, n, id, &at))
            word = cpubind_role_name((cpubind_role)role);
    }
    words_set(pools, name.text, words_text(word));
    api_add(to, "%s%s (%s)", before, name.text, word);
    return 1;
}

/* Appends the devices of the plan that have a CPU, each with its role. Returns their number: 0
 * for a CPU of a tile that this process does not see. */
static int add_rows(explanation *e, int32_t id, api_text *to)
{
    words_value *pools = words_object();
    int n_row = 0;
    for (int32_t i = 0; i < e->view.plan->n_want; i++)
        for (part p = {.at = -1}; next_part(e, i, &p);)
            n_row += add_part(&p, id, n_row ? " and of " : "It is in the pool of ", pools, to);
    words_set(e->fact, "pools", pools);
    return n_row;
}

/* Appends the process beside the devices that has a CPU. */
static void add_beside(const explanation *e, int32_t id, api_text *to)
{
    const cpubind_device_plan *plan = e->view.plan;
    for (int32_t i = 0, at = 0; i < plan->n_beside; i++, at = 0)
        if (cpubind_list_has(plan->beside[i].cpu, plan->beside[i].n_cpu, id, &at))
            api_add(to, "%s %d", cpubind_beside_word(plan->beside[i].kind),
                    (int)plan->beside[i].number);
}

/* Says what a CPU is in the plan. */
static void say_state(explanation *e, int32_t id)
{
    const api_cpu *cpu = &e->view.cpu[id];
    const char *about = "";
    api_text *words = words_of(e);
    words_set(e->fact, "state", words_text(api_cpu_word(cpu->kind)));
    if (cpu->kind >= API_CPU_PROCESS && add_rows(e, id, words) > 0) {
        say(e, "%s", words->text);
        return;
    }
    if (states[cpu->kind].about == ABOUT_ALLOWED) {
        api_add_allowed(words, e->view.facts, e->options);
        about = words->text;
    } else if (states[cpu->kind].about == ABOUT_DEVICE) {
        about = device_words(e, cpu->device);
    } else if (states[cpu->kind].about == ABOUT_BESIDE) {
        add_beside(e, id, words);
        about = words->text;
    }
    say(e, "%s%s%s", states[cpu->kind].before, about, states[cpu->kind].behind);
}

/* Says by which step a CPU came to its device, with which others, and who else claims it. */
static void say_trace(explanation *e, int32_t id)
{
    const api_cpu *cpu = &e->view.cpu[id];
    const cpubind_device_plan *plan = e->view.plan;
    if (cpu->at < 0) {
        say_near(e, id);
        return;
    }
    const int32_t step = plan->step[cpu->at], group = e->group[cpu->at];
    const int32_t owner = cpu->device < 0 ? -1 : plan->candidate[cpu->device].device;
    words_set(e->fact, "step", words_text(cpubind_step_word(step)));
    words_set(e->fact, "owner", owner < 0 ? words_null() : words_text(npu_words(e, owner)));
    if (step > CPUBIND_STEP_IDLE && step < STEP_COUNT && cpu->device >= 0 &&
        !is_kept_overlap(e))
        say(e, "It went to %s%s: %s", device_words(e, cpu->device),
            distance_words(e, cpu->device, &id, 1), steps[step]);
    say_near(e, id);
    if (group >= 0 && !is_kept_overlap(e))
        words_set(e->fact, "group", say_group(e, group, -1));
    say_rule(e);
    if (cpu->kind == API_CPU_IDLE)
        say_idle(e);
}

/* Says whose the other CPUs of a core are, if they are of another device. */
static void say_core(explanation *e, int32_t id)
{
    const cpubind_facts *facts = e->view.facts;
    const int32_t owner = e->view.cpu[id].device;
    for (int32_t other = 0; facts->core_of && owner >= 0 && other < facts->n_cpu_id; other++) {
        const int32_t its = e->view.cpu[other].device;
        if (facts->node_of[other] >= 0 && its >= 0 && its != owner &&
            cpubind_facts_core(facts, other) == cpubind_facts_core(facts, id))
            say(e, "CPU %d of the same core goes to %s: the core is split", (int)other,
                device_words(e, its));
    }
}

static void explain_cpu(explanation *e, int32_t id)
{
    const cpubind_facts *facts = e->view.facts;
    int32_t at = 0;
    words_set(e->fact, "cpu", words_number(id));
    if (id >= facts->n_cpu_id || facts->node_of[id] < 0) {
        words_set(e->fact, "state", words_text(api_cpu_word(API_CPU_ABSENT)));
        say(e, "CPU %d is not online, or there is no such CPU: the online CPUs end at %d",
            (int)id, (int)facts->n_cpu_id - 1);
        return;
    }
    say_where(e, id);
    if (!has_trace(e)) {
        say(e, "%s",
            cpubind_list_has(facts->cpu, facts->n_cpu, id, &at)
                ? "Pools may be cut from it"
                : "This process may not use it, or it is excluded");
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

/* Reads the name of a device, "npu3.acl", "cpu17", "acl". Returns 0 for anything else. */
static int read_target(const char *text, target *out)
{
    const char *end = text + strlen(text), *dot = strrchr(text, '.');
    *out = (target){.cpu = -1, .role = -1};
    if (strlen(text) > 32)
        return 0;
    out->role = api_find_role(text);
    if (out->role >= 0)
        return 1;
    if (strncasecmp(text, "cpu", 3) == 0)
        return cpubind_number_parse(text + 3, (int32_t)(end - text - 3), &out->cpu, NULL) ==
                   CPUBIND_TEXT_OK &&
               out->cpu >= 0 && out->cpu < CPUBIND_MAX_CPUS;
    if (dot)
        out->role = api_find_role(dot + 1);
    if (out->role >= 0)
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
        const api_name its = api_row_name(&row);
        if (e->view.plan->unit[i].device == found || !api_is_called(&t->device, &its, row.id))
            continue;
        found = e->view.plan->unit[i].device;
        api_add(&e->called, "%s", e->n_called++ > 0 ? " or " : "");
        api_add_pci(&e->called, &row.device->pci);
    }
    for (int32_t i = 0; i < facts->n_device && e->n_called == 0; i++) {
        const api_name its = api_name_of(facts->device[i]);
        if (cpubind_is_listed(facts->device[i]) && api_is_called(&t->device, &its, its.number))
            return i;
    }
    return e->n_called == 1 ? found : -1;
}

/* Explains a role: of one device (-1: of each). Returns 0 when there is none to explain. */
static int explain_role(explanation *e, int32_t npu, cpubind_role role)
{
    const cpubind_device_plan *plan = e->view.plan;
    words_value *cpus = words_object();
    int n = 0;
    words_set(e->fact, "role", words_text(cpubind_role_name(role)));
    for (int32_t i = 0; has_trace(e) && i < plan->n_want; i++) {
        if (npu >= 0 && plan->want[i] != npu)
            continue;
        for (part p = {.at = -1}; next_part(e, i, &p); n++) {
            const api_text name = part_name(&p);
            int32_t n_cpu;
            const int32_t *cpu = api_role_of(&p.row, role, &n_cpu);
            say_roles(e, &p, role);
            say_role_rule(e, &p);
            words_set(cpus, name.text, words_list(cpu, n_cpu));
        }
    }
    words_set(e->fact, "cpus", cpus);
    for (int32_t i = 0; npu < 0 && i < plan->n_unit; i++) {
        api_text *words = words_of(e);
        if (plan->unit[i].rank < 0 || !add_poolless(e, plan->unit[i].device, words))
            continue;
        say(e, "%s", words->text);
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

/* Explains one target, by its facts with the sentences as "text". Returns 0 when the plan and
 * the facts do not know it. */
static int make_target(explanation *e, const target *t, words_value **out)
{
    int is_known;
    e->fact = words_object();
    e->said = words_array();
    is_known = explain_target(e, t);
    if (is_known && e->planned->code != CPUBIND_PROBLEM_NONE) {
        api_text *why = words_of(e);
        api_explain(e->planned, e->options, why);
        say(e, "There is no plan: %s", why->text);
    }
    words_set(e->fact, "text", e->said);
    *out = e->fact;
    return is_known;
}

static int add_target(explanation *e, const target *t, words_value *all)
{
    words_value *one;
    const int is_known = make_target(e, t, &one);
    words_add(all, one);
    return is_known;
}

/* Explains all devices in view, all roles and all CPUs. Returns 0 as make_target does. */
static int make_all(explanation *e, words_value **out)
{
    const cpubind_facts *facts = e->view.facts;
    words_value *all = *out = words_array();
    for (int32_t i = 0; i < facts->n_device; i++)
        if (!add_target(e, &(target){1, {NULL, facts->device[i]->logic, {0}}, -1, -1}, all))
            return 0;
    for (int32_t i = 0; has_trace(e) && i < cpubind_plan_n_role(e->view.plan); i++)
        if (!add_target(e, &(target){.cpu = -1, .role = i}, all))
            return 0;
    for (int32_t i = 0; i < facts->n_cpu_id; i++)
        if (!add_target(e, &(target){.cpu = i, .role = -1}, all))
            return 0;
    return 1;
}

static int make(explanation *e)
{
    const cpubind_facts *facts = &e->planned->facts;
    const size_t n = (size_t)facts->n_cpu_id + 1;
    e->list = (int32_t *)calloc(n, sizeof *e->list);
    e->device = (int32_t *)malloc(CPUBIND_MAX_DEVICES * sizeof *e->device);
    e->name = (api_name *)calloc((size_t)facts->n_device + 1, sizeof *e->name);
    e->group = (int32_t *)calloc(n, sizeof *e->group);
    return e->list && e->device && e->name && e->group &&
           api_make_view(e->planned, e->options, &e->view);
}

static void free_explanation(explanation *e)
{
    api_free_view(&e->view);
    free(e->list);
    free(e->device);
    free(e->name);
    free(e->group);
    free(e);
}

/* Says why nothing was explained. */
static void add_unknown(explanation *e, api_text *why)
{
    const cpubind_facts *facts = e->view.facts;
    api_add(why, "--explain %s", e->options->explain);
    if (e->n_called > 1) {
        api_add(why, " may be %s: name it by its address", e->called.text);
        return;
    }
    for (int32_t i = 0; i < facts->n_device; i++)
        e->name[i] = api_name_of(facts->device[i]);
    api_add(why, ": this process sees no such device; it sees ");
    api_add_names(why, e->name, facts->n_device);
    api_add(why, "%s; a CPU is named as in cpu17", facts->n_device > 0 ? "" : "none");
}

/* The report, with the error of a refused plan. Returns 0 as make_target does. */
static int make_report(explanation *e, words_value **out)
{
    api_text why = {"", 0};
    words_value *explain = NULL;
    target t;
    int is_known = 0;
    if (e->is_all)
        is_known = make_all(e, &explain);
    else if (read_target(e->options->explain, &t))
        is_known = make_target(e, &t, &explain);
    if (e->planned->code != CPUBIND_PROBLEM_NONE) {
        api_explain(e->planned, e->options, &why);
        *out = api_problem_json(e->planned, why.text);
    } else {
        *out = words_make("cpubind:s", CPUBIND_VERSION);
    }
    words_set(*out, "explain", explain);
    return is_known;
}

int api_explain_json(const api_planned *planned, const api_options *options, words_value **out,
                     api_text *why)
{
    explanation *e = planned->has_facts ? (explanation *)calloc(1, sizeof *e) : NULL;
    int is_known = planned->has_facts; /* without memory, too */
    *out = NULL;
    if (!e)
        return is_known;
    e->planned = planned;
    e->options = options;
    e->is_all = strcasecmp(options->explain, "all") == 0;
    if (make(e)) {
        if (has_trace(e))
            find_groups(e);
        is_known = make_report(e, out);
    }
    if (!is_known) {
        words_free(*out);
        *out = NULL;
    }
    if (!is_known && planned->code == CPUBIND_PROBLEM_NONE)
        add_unknown(e, why);
    free_explanation(e);
    return is_known;
}

/* Appends the sentences of one target. */
static void put_sentences(api_out *to, const words_value *one)
{
    const int32_t columns = to->columns > 0 && to->columns < 80 ? to->columns : 80;
    const words_value *text = words_get(one, "text");
    for (int32_t i = 0; i < words_count(text); i++) {
        api_put_text(to, i ? "  " : "");
        api_put_wrapped(to, words_string(words_at(text, i)), i ? 2 : 0, i ? 4 : 2, columns);
    }
}

void api_put_explanation(api_out *to, const api_options *options, words_value *report)
{
    const words_value *explain = words_get(report, "explain");
    const int is_one = words_is(explain, WORDS_OBJECT);
    to->is_short |= !words_is_whole(report);
    if (options->json)
        words_put(to, report, WORDS_LINE);
    for (int32_t i = 0; !options->json && i < (is_one ? 1 : words_count(explain)); i++) {
        api_put_text(to, i ? "\n" : "");
        put_sentences(to, is_one ? explain : words_at(explain, i));
    }
    words_free(report);
}
