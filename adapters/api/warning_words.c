/* warning_words.c - the warnings of a plan: what, where, and what to do
 * SPDX-License-Identifier: MIT
 *
 * Each warning is one sentence of the table, with one part that is told of this host. The codes
 * are those of adapters/model/facts.h; this file only words them.
 */
#include <string.h>

#include "nics.h"

/* == What is told of a host ================================================= */

/* What a warning is about. */
typedef struct subject {
    cpubind_warning code;
    const cpubind_facts *facts;
    const cpubind_device_plan *plan;
} subject;

static int has_locality(const void *ctx, const cpubind_host_device *npu)
{
    static const cpubind_locality of[CPUBIND_WARNING_COUNT] = {
        [CPUBIND_WARNING_PCI_AFFINITY] = CPUBIND_LOCALITY_TAKEN,
        [CPUBIND_WARNING_AFFINITY_DIFFERS] = CPUBIND_LOCALITY_DIFFERS,
        [CPUBIND_WARNING_NO_NUMA_NODE] = CPUBIND_LOCALITY_NO_NODE};
    return npu->locality == of[((const subject *)ctx)->code];
}

/* The NPUs whose place is not known as it should be. */
static void add_places(const subject *w, api_text *out)
{
    api_add_npus(out, w->facts, has_locality, w);
}

/* Whether the CPUs near an NPU are those that the kernel names. */
static int is_by_kernel(const cpubind_facts *facts, const cpubind_host_device *npu)
{
    const cpubind_host_device *function = npu->function < 0 ? NULL : &facts->bus[npu->function];
    return function && npu->n_cpu > 0 && function->n_cpu == npu->n_cpu &&
           memcmp(function->cpu, npu->cpu, (size_t)function->n_cpu * sizeof *function->cpu) ==
               0;
}

static void add_differing(const subject *w, api_text *out)
{
    int by_kernel = 0;
    for (int32_t i = 0; i < w->facts->n_device; i++)
        if (has_locality(w, w->facts->device[i]))
            by_kernel |= is_by_kernel(w->facts, w->facts->device[i]);
    add_places(w, out);
    api_add(out, ": the CPUs of %s", by_kernel ? "the kernel" : "npu-smi");
}

static void add_unread_processes(const subject *w, api_text *out)
{
    api_add_fault(&w->facts->unread_processes, out);
}

static void add_unknown_text(const subject *w, api_text *out)
{
    const cpubind_input *answer = &w->facts->unknown_answer;
    const cpubind_position place =
        cpubind_text_place(answer->data, answer->len, w->facts->unknown.at);
    api_add_input(out, w->facts->unknown_input);
    api_add(out, ", line %d, column %d: cpubind does not know this text and passes over it",
            (int)place.line, (int)place.column);
    api_add_quote(out, answer->data + w->facts->unknown.at, w->facts->unknown.len);
}

/* Appends ", NAME NUMBER" for a number that is known. */
static void add_number(const char *name, int32_t number, api_text *out)
{
    if (number >= 0)
        api_add(out, ", %s %d", name, (int)number);
}

static void add_differences(const subject *w, api_text *out)
{
    const int32_t n = w->facts->n_difference;
    const int32_t kept = n < CPUBIND_MAX_DIFFERENCES ? n : CPUBIND_MAX_DIFFERENCES;
    for (int32_t i = 0; i < kept; i++) {
        const cpubind_difference *d = &w->facts->difference[i];
        api_add(out, "%s", i ? "; " : "");
        api_add_input(out, d->has);
        api_add(out, " names an NPU");
        add_number("card", d->card, out);
        add_number("chip", d->chip, out);
        add_number("phy id", d->phy, out);
        if (d->pci.domain >= 0) {
            api_add(out, ", PCI address ");
            api_add_pci(out, &d->pci);
        }
        api_add(out, ", that ");
        api_add_input(out, d->lacks);
        api_add(out, " lacks");
    }
    if (n > kept)
        api_add(out, "; and %d more", (int)(n - kept));
}

static void add_chips(const subject *w, api_text *out)
{
    api_add(out, "%d", (int)w->facts->n_unknown);
}

static void add_visible(const subject *w, api_text *out)
{
    api_add_quote(out, w->facts->visible, w->facts->visible_len);
    api_add_comma_form(out, w->facts);
}

static void add_idle(const subject *w, api_text *out)
{
    api_add(out, "%d of %d online CPUs are allowed, and %d of these stay idle",
            (int)w->facts->n_cpu, (int)w->facts->n_online, (int)w->plan->n_idle);
}

/* Appends a device that has a CPU which another one has too; its index is of the candidates, or
 * where the plan has none of the devices. */
static void add_sharer(const subject *w, int32_t index, api_text *out)
{
    const cpubind_candidate listed = {.device = index};
    api_add_candidate(out, w->facts, w->plan->candidate ? &w->plan->candidate[index] : &listed);
}

static void add_shared(const subject *w, api_text *out)
{
    api_add(out, "%d to ", (int)w->plan->core.shared.cpu);
    add_sharer(w, w->plan->core.shared.device, out);
    api_add(out, " and ");
    add_sharer(w, w->plan->core.shared.other, out);
}

static int is_poor(const void *ctx, const cpubind_host_device *npu)
{
    const subject *w = (const subject *)ctx;
    for (int32_t i = 0; i < w->plan->n_poor; i++)
        if (w->facts->device[w->plan->poor[i]] == npu)
            return 1;
    return 0;
}

static void add_poor(const subject *w, api_text *out)
{
    api_add(out, "%d of %d pools have no CPU near their %s (", (int)w->plan->n_poor,
            (int)w->plan->n_want, w->facts->noun);
    api_add_npus(out, w->facts, is_poor, w);
    api_add(out, ")");
}

static void add_job(const subject *w, api_text *out)
{
    api_add(out, "%s says that this job has %d ranks here", w->facts->job_variable,
            (int)w->facts->n_job);
}

static void add_disputed(const subject *w, api_text *out)
{
    api_add(out, "%d CPUs", (int)w->plan->core.disputed);
}

static void add_lent(const subject *w, api_text *out)
{
    api_add_list(out, w->plan->lent, w->plan->n_lent);
}

/* Which ones there are, and which CPUs each kind could leave to the other. */
static void add_others(const subject *w, api_text *out)
{
    const cpubind_facts *facts = w->facts;
    int32_t row = cpubind_facts_next_other(facts, 0);
    if (!facts->has_listed) {
        api_add(out, "; cpubind plan, where npu-smi or the driver names the NPUs, has CPUs for "
                     "both");
        return;
    }
    for (int32_t i = 0; row < facts->n_bus && i < 4; i++) {
        api_add(out, i ? ", " : ": ");
        api_add_pci(out, &facts->bus[row].pci);
        row = cpubind_facts_next_other(facts, row + 1);
    }
    if (row < facts->n_bus)
        api_add(out, " and %d more", (int)facts->n_other - 4);
    api_add(out, "; give all workers of the NPUs -o exclude=");
    if (w->plan->n_for_others == 0) {
        api_add(out, "LIST, with CPUs near these");
        return;
    }
    api_add_list(out, w->plan->for_others, w->plan->n_for_others);
    api_add(out, ", and all workers of the others -o exclude=");
    api_add_list(out, w->plan->for_listed, w->plan->n_for_listed);
}

static void add_distances(const subject *w, api_text *out)
{
    api_add(out, "%s",
            w->facts->socket ? "nodes of one socket count as near, others as far"
                             : "all other nodes count as equally near");
}

/* What the cgroup of this process has, where the pools have more, or why it is not known. */
static void add_quota(const subject *w, api_text *out)
{
    if (w->facts->unread_cgroup.code != CPUBIND_PROBLEM_NONE) {
        api_add(out, "whether a quota bounds the CPU time of this process, or its mask is "
                     "narrower than its cpuset, is not known");
        api_add_fault(&w->facts->unread_cgroup, out);
        return;
    }
    api_add(
        out,
        "the cgroup of this process has the CPU time of %g CPUs (cpu.max, cpu.cfs_quota_us), "
        "and the pools have %d: all threads beyond it stand still together, for a part of "
        "each period; formats and variables name %d threads at the most; give the "
        "container a larger quota, or none",
        w->facts->quota / 1000.0, (int)w->plan->core.row[w->plan->n_want],
        (int)api_most_threads(w->facts, INT32_MAX));
}

static void add_mask(const subject *w, api_text *out)
{
    api_add_mask(w->facts, out);
}

static void add_split(const subject *w, api_text *out)
{
    const int32_t *cpu = w->facts->split_cpu;
    api_add(out, "%d and %d are of one core by ", (int)cpu[0], (int)cpu[1]);
    api_add_input(out, w->facts->split_input);
    api_add(out, ", and on nodes %d and %d", (int)w->facts->node_of[cpu[0]],
            (int)w->facts->node_of[cpu[1]]);
}

static void add_fast(const subject *w, api_text *out)
{
    for (int32_t i = 0; i < w->plan->n_unit; i++) {
        const api_row row = api_shown(w->facts, w->plan, i);
        api_add(out, i ? ", " : "");
        if (!api_add_name(out, &row))
            api_add_row(out, w->facts, &row);
        api_add(out, " %d of %d", (int)cpubind_plan_fast(w->facts, row.cpu, row.n), (int)row.n);
    }
}

/* What the processes of the engine need, and have. */
static void add_engine(const subject *w, api_text *out)
{
    const char *before = "";
    for (int32_t i = 0; i < w->plan->n_beside; i++) {
        const cpubind_beside *one = &w->plan->beside[i];
        if (one->n_has >= one->n_core)
            continue;
        api_add(out, "%s%s %d needs %d and has %d", before, cpubind_beside_word(one->kind),
                (int)one->number, (int)one->n_core, (int)one->n_has);
        before = ", ";
    }
    api_add(out, "%s",
            *before
                ? "; a process that waits for a CPU stalls all devices that it serves: allow "
                  "more CPUs, or keep fewer for the host"
                : "none are planned, since the workers here are of several engines, or "
                  "its command line does not say how many devices it takes: -o "
                  "engine=vllm -o tp=8 name it");
}

/* The cards whose parts share CPUs. */
static void add_cards(const subject *w, api_text *out)
{
    const cpubind_facts *facts = w->facts;
    const cpubind_device_plan *plan = w->plan;
    const char *before = "";
    for (int32_t row = 0; row < plan->n_want; row++) {
        const cpubind_host_device *device = facts->device[plan->want[row]];
        char name[CPUBIND_DEVICE_NAME_SIZE];
        int32_t k = 0;
        while (k < row && (!plan->is_shared[k] ||
                           facts->device[plan->want[k]]->function != device->function))
            k++;
        if (!plan->is_shared[row] || k < row)
            continue;
        cpubind_device_name(
            device->accelerator.vendor, device->function < 0 ? device->logic : -1,
            device->function < 0 ? NULL : &facts->bus[device->function].pci, name);
        api_add(out, "%s%s", before, name);
        before = ", ";
    }
}

/* == The table ============================================================== */

#define SHOW_SYS                                                                               \
    ": a process of this host that sees them may plan otherwise; show this one the host's "    \
    "/sys, or give all workers of the host -o rules=reference"
#define OWN_CPUS "; -o scope=own, if the allowed CPUs are for this one alone"

/* "@" stands for what is told of this host. */
static const char *const sentences[CPUBIND_WARNING_COUNT] = {
    [CPUBIND_WARNING_NO_STATUS] =
        "proc/self/status is missing: all online CPUs count as allowed",
    [CPUBIND_WARNING_OFFLINE] = "some allowed CPUs are offline and are left out",
    [CPUBIND_WARNING_NODE_MAP] = "/sys has no NUMA nodes: they are read from lscpu -e=CPU,NODE",
    [CPUBIND_WARNING_NO_NODES] = "no NUMA nodes are known: all CPUs count as node 0",
    [CPUBIND_WARNING_NO_MAP] = "npu-smi info -m gave no output: all ids count as logic ids",
    [CPUBIND_WARNING_UNKNOWN_CHIP] =
        "npu-smi info -m lists chips that it cannot query (@): they are left out",
    [CPUBIND_WARNING_EXIT_CODE] = "npu-smi printed its output, but its exit status was not 0",
    [CPUBIND_WARNING_VISIBLE_TAIL] =
        ("of the visible devices the entries from the first bad one on are ignored, as by the "
         "Ascend runtime@"),
    [CPUBIND_WARNING_NO_AFFINITY] =
        ("the affinity of some NPU is not known (npu-smi info -t topo, numa_node of the PCI "
         "function): global_slice is used instead"),
    [CPUBIND_WARNING_PCI_AFFINITY] =
        ("npu-smi gives no CPU affinity for NPU @: it is taken from the kernel (numa_node, "
         "local_cpulist)"),
    [CPUBIND_WARNING_AFFINITY_DIFFERS] =
        ("npu-smi and the kernel (numa_node, local_cpulist) disagree about the CPUs near NPU "
         "@ are used"),
    [CPUBIND_WARNING_NO_NUMA_NODE] =
        ("the kernel has no node for NPU @ (numa_node -1): in that case npu-smi prints the "
         "CPUs of node 0, which may be far from the NPU"),
    [CPUBIND_WARNING_ONLY_LOGIC_IDS] =
        ("slices are cut by logic ids, which start at 0 in every container: two containers "
         "with one cpuset would get the same CPUs"),
    [CPUBIND_WARNING_RESOLVED] = "the rule gives CPU @: resolved, each CPU has one of them now",
    [CPUBIND_WARNING_OVERLAP] =
        ("the rule gives CPU @: kept, as overlap=keep says; -o overlap=resolve, for all "
         "workers of the host, gives each CPU to one of them"),
    [CPUBIND_WARNING_NO_SPARE] = "node 0 has no CPU left for the host's UVB polling threads",
    [CPUBIND_WARNING_UNKNOWN_TEXT] =
        "@; if the plan looks wrong, keep the text with cpubind capture -o DIR",
    [CPUBIND_WARNING_INPUTS_DIFFER] =
        "@: every NPU that the host has counts; is a card lost (npu-smi info -l, dmesg)?",
    [CPUBIND_WARNING_PARTIAL_CPUSET] =
        ("@; say whose they are: -o scope=own, of this process alone; -o scope=cpuset, of all "
         "workers of the host, which have the same cpuset; -o scope=host, the cpusets of the "
         "workers differ and overlap"),
    [CPUBIND_WARNING_NO_PROCESSES] =
        ("which NPUs run is not known: no process table could be read; the pools do not "
         "depend on it@"),
    [CPUBIND_WARNING_HIDDEN_HOME] =
        ("the kernel does not name the CPUs near some NPUs that are hidden here: they have "
         "those that are near no other" OWN_CPUS),
    [CPUBIND_WARNING_NO_CENSUS] =
        ("the PCI bus shows no NPU: if other containers of this host have NPUs, their CPUs are "
         "not kept for them" OWN_CPUS),
    [CPUBIND_WARNING_NO_ADDRESSES] =
        ("the PCI addresses of the NPUs are not known: NPUs that share CPUs are ordered by "
         "logic id, and a process that knows the addresses may order them differently"),
    [CPUBIND_WARNING_ORDER_DIFFERS] =
        ("NPUs that share CPUs are ordered by PCI address, which is not the order of their "
         "logic ids"),
    [CPUBIND_WARNING_PARTS] =
        ("processes with other parts (virtual functions, virtual NPUs, MIG instances) of @ may "
         "get the same CPUs: give each of the N processes that share a card --processes N "
         "--index I"),
    [CPUBIND_WARNING_JOB] =
        ("@: the first so many visible devices are planned for, and others left to other jobs; "
         "--job N says another number"),
    [CPUBIND_WARNING_DISPUTED] =
        ("a device is near none of the allowed CPUs, and @ of this plan may also be those of a "
         "process that does not see it: -o scope=own, if these CPUs are for this process "
         "alone, or -o scope=host; or give it CPUs near it"),
    [CPUBIND_WARNING_POOR_LOCALITY] =
        "@: -o rules=near, for all workers of the host, gives them what is near them",
    [CPUBIND_WARNING_LENT] =
        ("CPUs @, near one device, were given to another, which had too few for its roles; "
         "allow more CPUs, keep fewer for the host (keep), or let fewer processes drive a "
         "device (--processes)"),
    [CPUBIND_WARNING_NO_SUCH_CPU] =
        ("exclude names CPUs that are not online on this host; cpubind plan shows those of "
         "each node"),
    [CPUBIND_WARNING_OTHER_ACCELERATORS] =
        ("a worker of one kind may get the CPUs of the other: this plan takes no other "
         "accelerators of the host in@"),
    [CPUBIND_WARNING_NO_DISTANCES] =
        ("the kernel shows no distances between nodes "
         "(/sys/devices/system/node/node*/distance), and @" SHOW_SYS),
    [CPUBIND_WARNING_NO_CORES] =
        ("which CPUs share a core is not known "
         "(/sys/devices/system/cpu/cpu*/topology/thread_siblings_list), and each CPU counts as "
         "a core" SHOW_SYS " without keep"),
    [CPUBIND_WARNING_ONLINE_DIFFERS] =
        ("sys/devices/system/cpu/online lacks CPUs that are online: the nodes list them, and "
         "this process may use them; that file is not the kernel's (lxcfs makes such ones), "
         "and is passed over"),
    [CPUBIND_WARNING_NARROW_MASK] = "@",
    [CPUBIND_WARNING_CPU_QUOTA] = "@",
    [CPUBIND_WARNING_CORE_NODES] =
        ("CPUs @: what of a core lies on one node counts as a core; of a virtual machine, the "
         "threads of the hypervisor do not fit its NUMA cells"),
    [CPUBIND_WARNING_CORE_KINDS] =
        ("the cores of this host are of different kinds (cpu_capacity, base_frequency, "
         "sys/devices/cpu_core/cpus), and of the fastest the pools have @; where all workers "
         "wait for the slowest one, leave the slower cores out with -o exclude=LIST, alike for "
         "all workers of the host"),
    [CPUBIND_WARNING_ENGINE_CORES] = "the engine has too few cores: @"};

/* What takes the place of "@". */
static void (*const parts[CPUBIND_WARNING_COUNT])(const subject *w, api_text *out) = {
    [CPUBIND_WARNING_UNKNOWN_CHIP] = add_chips,
    [CPUBIND_WARNING_VISIBLE_TAIL] = add_visible,
    [CPUBIND_WARNING_PCI_AFFINITY] = add_places,
    [CPUBIND_WARNING_AFFINITY_DIFFERS] = add_differing,
    [CPUBIND_WARNING_NO_NUMA_NODE] = add_places,
    [CPUBIND_WARNING_RESOLVED] = add_shared,
    [CPUBIND_WARNING_OVERLAP] = add_shared,
    [CPUBIND_WARNING_UNKNOWN_TEXT] = add_unknown_text,
    [CPUBIND_WARNING_INPUTS_DIFFER] = add_differences,
    [CPUBIND_WARNING_PARTIAL_CPUSET] = add_idle,
    [CPUBIND_WARNING_NO_PROCESSES] = add_unread_processes,
    [CPUBIND_WARNING_PARTS] = add_cards,
    [CPUBIND_WARNING_JOB] = add_job,
    [CPUBIND_WARNING_DISPUTED] = add_disputed,
    [CPUBIND_WARNING_POOR_LOCALITY] = add_poor,
    [CPUBIND_WARNING_LENT] = add_lent,
    [CPUBIND_WARNING_OTHER_ACCELERATORS] = add_others,
    [CPUBIND_WARNING_NO_DISTANCES] = add_distances,
    [CPUBIND_WARNING_NARROW_MASK] = add_mask,
    [CPUBIND_WARNING_CPU_QUOTA] = add_quota,
    [CPUBIND_WARNING_CORE_NODES] = add_split,
    [CPUBIND_WARNING_CORE_KINDS] = add_fast,
    [CPUBIND_WARNING_ENGINE_CORES] = add_engine};

/* What is missing, as a capture names it, by the warnings of that code. */
static const char *const inputs[CPUBIND_WARNING_COUNT] = {
    [CPUBIND_WARNING_NO_STATUS] = "proc/self/status",
    [CPUBIND_WARNING_NODE_MAP] = "sys/devices/system/node",
    [CPUBIND_WARNING_NO_NODES] = "sys/devices/system/node",
    [CPUBIND_WARNING_NO_MAP] = "cmd/npu-smi-info-m.txt",
    [CPUBIND_WARNING_NO_PROCESSES] = "cmd/npu-smi-info.txt",
    [CPUBIND_WARNING_NO_CENSUS] = "sys/bus/pci/devices",
    [CPUBIND_WARNING_NO_ADDRESSES] = "sys/bus/pci/devices",
    [CPUBIND_WARNING_NO_DISTANCES] = "sys/devices/system/node/node*/distance",
    [CPUBIND_WARNING_NO_CORES] = "sys/devices/system/cpu/cpu*/topology/thread_siblings_list"};

void api_explain_warning(cpubind_warning warning, const cpubind_facts *facts,
                         const cpubind_device_plan *plan, api_text *out)
{
    const subject w = {warning, facts, plan};
    const char *sentence = sentences[warning];
    const int n = (int)strcspn(sentence, "@");
    api_add(out, "%.*s", n, sentence);
    if (sentence[n] == '@') {
        parts[warning](&w, out);
        api_add(out, "%s", sentence + n + 1);
    }
}

/* == All warnings of a plan ================================================= */

void api_warn_plan(const api_planned *p, api_hear *hear, void *ctx)
{
    api_warn_outer(p->outer, hear, ctx);
    api_warn_network(p, hear, ctx);
    for (int i = 0; i < CPUBIND_WARNING_COUNT; i++) {
        api_text text = {"", 0};
        if (!(p->plan.warnings & CPUBIND_WARNING_BIT(i)))
            continue;
        api_explain_warning((cpubind_warning)i, &p->facts, &p->plan, &text);
        hear(ctx, cpubind_warning_word((cpubind_warning)i), text.text);
    }
}

void api_keep_warning(cpubind_warning warning, api_planned *planned)
{
    planned->plan.warnings &=
        planned->code == CPUBIND_PROBLEM_NONE ? CPUBIND_WARNING_BIT(warning) : 0;
}

void api_add_warning(void *out, const char *code, const char *text)
{
    words_add((words_value *)out, words_make("code:s text:s", code, text));
}

/* The own word of a warning is said where others have its code too. */
static words_value *warning_json(const api_planned *p, cpubind_warning warning)
{
    const char *word = cpubind_warning_word(warning), *code = cpubind_warning_code(warning);
    words_value *json = words_make("code:s", code);
    api_text text = {"", 0};
    api_explain_warning(warning, &p->facts, &p->plan, &text);
    if (strcmp(word, code) != 0)
        words_set(json, "detail", words_text(word));
    if (inputs[warning])
        words_set(json, "input", words_text(inputs[warning]));
    words_set(json, "text", words_text(text.text));
    return json;
}

words_value *api_warnings_json(const api_planned *planned)
{
    words_value *warnings = words_array();
    api_warn_outer(planned->outer, api_add_warning, warnings);
    api_warn_network(planned, api_add_warning, warnings);
    for (int i = 0; i < CPUBIND_WARNING_COUNT; i++)
        if (planned->plan.warnings & CPUBIND_WARNING_BIT(i))
            words_add(warnings, warning_json(planned, (cpubind_warning)i));
    return warnings;
}
