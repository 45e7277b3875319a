/* warnings.c - explain the warnings of a plan: what, where, and what to do
 * SPDX-License-Identifier: MIT
 *
 * Each warning is one sentence. The codes are those of adapters/model/facts.h; this file only
 * words them.
 */
#include <string.h>

#include "api.h"

static int has_locality(const void *ctx, const cpubind_viewed *npu)
{
    return npu->locality == *(const cpubind_locality *)ctx;
}

static void add_npus_with(const cpubind_facts *facts, cpubind_locality locality, api_text *out)
{
    api_add_npus(out, facts, has_locality, &locality);
}

/* Whether the CPUs near an NPU are those that the kernel names. */
static int is_by_kernel(const cpubind_facts *facts, const cpubind_viewed *npu)
{
    const cpubind_pci_function *function =
        npu->function < 0 ? NULL : &facts->bus[npu->function];
    return function && npu->near_cpus.n > 0 && function->n_cpu == npu->near_cpus.n &&
           memcmp(function->cpu, npu->near_cpus.cpu,
                  (size_t)function->n_cpu * sizeof *function->cpu) == 0;
}

static void explain_differing_affinity(const cpubind_facts *facts, api_text *out)
{
    int by_kernel = 0;
    for (int32_t i = 0; i < facts->n_device; i++)
        if (facts->device[i].locality == CPUBIND_LOCALITY_DIFFERS)
            by_kernel |= is_by_kernel(facts, &facts->device[i]);
    api_add(out,
            "npu-smi and the kernel (numa_node, local_cpulist) disagree about the CPUs near "
            "NPU ");
    add_npus_with(facts, CPUBIND_LOCALITY_DIFFERS, out);
    api_add(out, ": the CPUs of %s are used", by_kernel ? "the kernel" : "npu-smi");
}

static void explain_locality(cpubind_warning warning, const cpubind_facts *facts, api_text *out)
{
    if (warning == CPUBIND_WARNING_PCI_AFFINITY) {
        api_add(out, "npu-smi gives no CPU affinity for NPU ");
        add_npus_with(facts, CPUBIND_LOCALITY_TAKEN, out);
        api_add(out, ": it is taken from the kernel (numa_node, local_cpulist)");
    } else if (warning == CPUBIND_WARNING_AFFINITY_DIFFERS) {
        explain_differing_affinity(facts, out);
    } else {
        api_add(out, "the kernel has no node for NPU ");
        add_npus_with(facts, CPUBIND_LOCALITY_NO_NODE, out);
        api_add(out,
                " (numa_node -1): in that case npu-smi prints the CPUs of node 0, which may be "
                "far from the NPU");
    }
}

static void explain_unknown_text(const cpubind_facts *facts, api_text *out)
{
    const cpubind_input *answer = &facts->unknown_answer;
    cpubind_position place;
    if (!facts->unknown_input) {
        api_add(out, "text that cpubind does not know is passed over");
        return;
    }
    place = cpubind_text_place(answer->data, answer->len, facts->unknown.at);
    api_add_input(out, facts->unknown_input);
    api_add(out, ", line %d, column %d: cpubind does not know this text and passes over it",
            (int)place.line, (int)place.column);
    api_add_quote(out, answer->data + facts->unknown.at, facts->unknown.len);
    api_add(out, "; if the plan looks wrong, keep the text with cpubind capture -o DIR");
}

/* Appends the numbers of an NPU that are known: " with card 3, chip 0, phy id 6". */
static void add_identity(const cpubind_difference *d, api_text *out)
{
    const struct {
        const char *word;
        int32_t id;
    } ids[] = {{"card", d->card}, {"chip", d->chip}, {"phy id", d->phy}};
    const char *between = " with ";
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        if (ids[i].id < 0)
            continue;
        api_add(out, "%s%s %d", between, ids[i].word, (int)ids[i].id);
        between = ", ";
    }
    if (d->pci.domain >= 0) {
        api_add(out, "%sPCI address ", between);
        api_add_pci(out, &d->pci);
    }
}

static void explain_difference(const cpubind_facts *facts, api_text *out)
{
    const int32_t kept = facts->n_difference < CPUBIND_MAX_DIFFERENCES
                             ? facts->n_difference
                             : CPUBIND_MAX_DIFFERENCES;
    for (int32_t i = 0; i < kept; i++) {
        const cpubind_difference *d = &facts->difference[i];
        api_add(out, "%s", i ? "; " : "");
        api_add_input(out, d->has);
        api_add(out, " names an NPU");
        add_identity(d, out);
        api_add(out, " that ");
        api_add_input(out, d->lacks);
        api_add(out, " lacks");
    }
    if (facts->n_difference > kept)
        api_add(out, "; and %d more", (int)(facts->n_difference - kept));
    api_add(out,
            ": every NPU that the host has counts; is a card lost (npu-smi info -l, dmesg)?");
}

static void explain_partial(const cpubind_facts *facts, const cpubind_device_plan *plan,
                            api_text *out)
{
    api_add(out,
            "%d of %d online CPUs are allowed, and %d of these stay idle; say whose they are: "
            "--scope own, of this process alone; --scope cpuset, of all workers of the host, "
            "which have the same cpuset; --scope host, the cpusets of the workers differ and "
            "overlap",
            (int)facts->n_cpu, (int)facts->n_online, (int)plan->n_idle);
}

/* Appends the name of a device of the core: "NPU 3", or the PCI address of a hidden NPU. */
static void add_device(const cpubind_facts *facts, const cpubind_candidate *device,
                       api_text *out)
{
    if (device->device >= 0) {
        api_add(out, "%s %d", facts->noun, (int)facts->device[device->device].logic);
        return;
    }
    api_add(out, "the hidden %s", facts->noun);
    if (device->function >= 0) {
        api_add(out, " at PCI address ");
        api_add_pci(out, &facts->bus[device->function].pci);
    }
}

static void explain_shared(cpubind_warning warning, const cpubind_facts *facts,
                           const cpubind_device_plan *plan, api_text *out)
{
    const cpubind_candidate *devices = plan->candidate;
    const cpubind_candidate plain[] = {{.device = plan->core.shared.device, .function = -1},
                                       {.device = plan->core.shared.other, .function = -1}};
    api_add(out, "the rule gives CPU %d to ", (int)plan->core.shared.cpu);
    add_device(facts, devices ? &devices[plan->core.shared.device] : &plain[0], out);
    api_add(out, " and ");
    add_device(facts, devices ? &devices[plan->core.shared.other] : &plain[1], out);
    api_add(out,
            warning == CPUBIND_WARNING_RESOLVED
                ? ": resolved, each CPU has one %s now"
                : ": kept, as --overlap keep says; --overlap resolve, for all workers of the "
                  "host, gives each CPU to one %s",
            facts->noun);
}

/* The facts and the plan that a test of NPUs is about. */
typedef struct poor_npus {
    const cpubind_facts *facts;
    const cpubind_device_plan *plan;
} poor_npus;

static int is_poor(const void *ctx, const cpubind_viewed *npu)
{
    const poor_npus *of = (const poor_npus *)ctx;
    for (int32_t i = 0; i < of->plan->n_poor; i++)
        if (&of->facts->device[of->plan->poor[i]] == npu)
            return 1;
    return 0;
}

static void explain_poor_locality(const cpubind_facts *facts, const cpubind_device_plan *plan,
                                  api_text *out)
{
    const poor_npus of = {facts, plan};
    api_add(out, "%d of %d pools have no CPU near their %s (%s ", (int)plan->n_poor,
            (int)plan->n_want, facts->noun, facts->noun);
    api_add_npus(out, facts, is_poor, &of);
    api_add(out, "): --rules near, for all workers of the host, gives them what is near them");
}

static void explain_lent(const cpubind_facts *facts, const cpubind_device_plan *plan,
                         api_text *out)
{
    api_add(out, "%d CPUs near one %s were given to another, which had too few for its roles: ",
            (int)plan->n_lent, facts->noun);
    api_add_list(out, plan->lent, plan->n_lent);
    api_add(out,
            "; allow more CPUs, keep fewer (--keep), or let fewer processes drive %s %s "
            "(--processes)",
            facts->is_joined ? "a" : "an", facts->noun);
}

static void explain_others(const cpubind_facts *facts, const cpubind_device_plan *plan,
                           api_text *out)
{
    if (!facts->has_listed) {
        api_add(out, "the NPUs of this host are not read here, or their plan takes no other "
                     "devices in: a worker of one kind may get the CPUs of the other; cpubind "
                     "plan, where npu-smi or the driver names the NPUs, has CPUs for both");
        return;
    }
    api_add(out, "this host has other accelerators, too (");
    for (int32_t i = 0, row = cpubind_facts_next_other(facts, 0); row < facts->n_bus && i < 4;
         i++, row = cpubind_facts_next_other(facts, row + 1)) {
        api_add(out, i ? ", " : "");
        api_add_pci(out, &facts->bus[row].pci);
    }
    if (facts->n_other > 4)
        api_add(out, " and %d more", (int)facts->n_other - 4);
    api_add(out, "), and the NPUs share all CPUs: a worker of one kind may get the CPUs of the "
                 "other; ");
    if (plan->n_for_others == 0) {
        api_add(out,
                "leave CPUs near these to them with --exclude LIST, for all workers of the "
                "NPUs");
        return;
    }
    api_add(out, "give all workers of the NPUs --exclude ");
    api_add_list(out, plan->for_others, plan->n_for_others);
    api_add(out, ", and all workers of the others --exclude ");
    api_add_list(out, plan->for_listed, plan->n_for_listed);
}

static void explain_distances(const cpubind_facts *facts, api_text *out)
{
    api_add(out,
            "the kernel shows no distances between nodes "
            "(/sys/devices/system/node/node*/distance): %s; a process of this host that sees "
            "them may plan otherwise: show this one the host's /sys, or give all workers of "
            "the host --rules reference",
            facts->socket ? "nodes of one socket count as near, others as far"
                          : "all other nodes count as equally near");
}

/* Says what the cgroup of this process has, where the pools have more, or why it is not
 * known. */
static void explain_quota(const cpubind_facts *facts, const cpubind_device_plan *plan,
                          api_text *out)
{
    if (facts->unread_cgroup.code != CPUBIND_PROBLEM_NONE) {
        api_add(out, "whether a quota bounds the CPU time of this process, or its mask is "
                     "narrower than its cpuset, is not known");
        api_add_fault(&facts->unread_cgroup, out);
        return;
    }
    api_add(
        out,
        "the cgroup of this process has the CPU time of %g CPUs (cpu.max, cpu.cfs_quota_us), "
        "and the pools have %d: all threads beyond it stand still together, for a part of "
        "each period; formats and variables name %d threads at the most; give the "
        "container a larger quota, or none",
        facts->quota / 1000.0, (int)plan->core.row[plan->n_want],
        (int)api_most_threads(facts, INT32_MAX));
}

static void explain_cores(cpubind_warning warning, const cpubind_facts *facts,
                          const cpubind_device_plan *plan, api_text *out)
{
    if (warning == CPUBIND_WARNING_CORE_NODES) {
        api_add(out, "CPUs %d and %d are of one core by ", (int)facts->split_cpu[0],
                (int)facts->split_cpu[1]);
        api_add_input(out, facts->split_input);
        api_add(
            out,
            ", and on nodes %d and %d: what of a core lies on one node counts as a core; of "
            "a virtual machine, the threads of the hypervisor do not fit its NUMA cells",
            (int)facts->node_of[facts->split_cpu[0]], (int)facts->node_of[facts->split_cpu[1]]);
        return;
    }
    api_add(out, "the cores of this host are of different kinds (cpu_capacity, "
                 "sys/devices/cpu_core/cpus), and the pools have different numbers of CPUs of "
                 "the fastest: ");
    for (int32_t i = 0; i < plan->n_unit; i++) {
        const api_row row = api_shown(facts, plan, i);
        api_add(out, i ? ", " : "");
        if (!api_add_name(out, &row))
            api_add_row(out, facts, &row);
        api_add(out, " %d of %d", (int)cpubind_plan_fast(facts, row.cpu, row.n), (int)row.n);
    }
    api_add(out,
            "; where all workers wait for the slowest one, leave the slower cores out with "
            "--exclude LIST, alike for all workers of the host");
}

/* Names the cards whose parts share CPUs. */
static void explain_parts(const cpubind_facts *facts, const cpubind_device_plan *plan,
                          api_text *out)
{
    const char *before = "";
    api_add(out,
            "processes with other parts (virtual functions, virtual NPUs, MIG instances) of ");
    for (int32_t row = 0; row < plan->n_want; row++) {
        const cpubind_viewed *device = &facts->device[plan->want[row]];
        char name[CPUBIND_DEVICE_NAME_SIZE];
        int32_t k = 0;
        while (k < row && (!plan->is_shared[k] ||
                           facts->device[plan->want[k]].function != device->function))
            k++;
        if (!plan->is_shared[row] || k < row)
            continue;
        cpubind_device_name(device->vendor, device->function < 0 ? device->logic : -1,
                            device->function < 0 ? NULL : &facts->bus[device->function].pci,
                            name);
        api_add(out, "%s%s", before, name);
        before = ", ";
    }
    api_add(out, " may get the same CPUs: give each of the N processes that share a card "
                 "--processes N --index I");
}

static void explain_host(cpubind_warning warning, const cpubind_facts *facts,
                         const cpubind_device_plan *plan, api_text *out)
{
    if (warning == CPUBIND_WARNING_NARROW_MASK)
        api_add_mask(facts, out);
    else if (warning == CPUBIND_WARNING_CPU_QUOTA)
        explain_quota(facts, plan, out);
    else if (warning == CPUBIND_WARNING_CORE_NODES || warning == CPUBIND_WARNING_CORE_KINDS)
        explain_cores(warning, facts, plan, out);
}

/* Says whose the devices in view are, or the CPUs of one that is at home elsewhere. */
static void explain_jobs(cpubind_warning warning, const cpubind_facts *facts,
                         const cpubind_device_plan *plan, api_text *out)
{
    if (warning == CPUBIND_WARNING_JOB)
        api_add(out,
                "%s says that this job has %d ranks here: the first so many visible %ss are "
                "planned for, and others left to other jobs; --job N says another number",
                facts->job_variable, (int)facts->n_job, facts->noun);
    else if (warning == CPUBIND_WARNING_PARTS)
        explain_parts(facts, plan, out);
    else
        api_add(out,
                "%d CPUs of this plan may also be those of a process that does not see %s %s, "
                "which is near none of the allowed CPUs: --scope own, if these CPUs are for "
                "this process alone, or --scope host; or give it CPUs near it",
                (int)plan->core.disputed, facts->is_joined ? "this" : "the", facts->noun);
}

/* The warnings that are one sentence for every host; NULL: the others. */
static const char *const sentences[CPUBIND_WARNING_COUNT] = {
    [CPUBIND_WARNING_NO_STATUS] =
        "proc/self/status is missing: all online CPUs count as allowed",
    [CPUBIND_WARNING_OFFLINE] = "some allowed CPUs are offline and are left out",
    [CPUBIND_WARNING_NODE_MAP] = "/sys has no NUMA nodes: they are read from lscpu -e=CPU,NODE",
    [CPUBIND_WARNING_NO_NODES] = "no NUMA nodes are known: all CPUs count as node 0",
    [CPUBIND_WARNING_NO_MAP] = "npu-smi info -m gave no output: all ids count as logic ids",
    [CPUBIND_WARNING_EXIT_CODE] = "npu-smi printed its output, but its exit status was not 0",
    [CPUBIND_WARNING_NO_AFFINITY] =
        ("the affinity of some NPU is not known (npu-smi info -t topo, numa_node of the PCI "
         "function): global_slice is used instead"),
    [CPUBIND_WARNING_ONLY_LOGIC_IDS] =
        ("slices are cut by logic ids, which start at 0 in every container: two containers "
         "with one cpuset would get the same CPUs"),
    [CPUBIND_WARNING_NO_SPARE] = "node 0 has no CPU left for the host's UVB polling threads",
    [CPUBIND_WARNING_NO_PROCESSES] =
        ("which NPUs run is not known: no process table could be read; the pools do not "
         "depend on it"),
    [CPUBIND_WARNING_HIDDEN_HOME] =
        ("the kernel does not name the CPUs near some NPUs of this host that are hidden here: "
         "they have those that are near no other; use --scope own when the allowed CPUs are "
         "for this one alone"),
    [CPUBIND_WARNING_NO_CENSUS] =
        ("the PCI bus shows no NPU: if other containers of this host have NPUs, their CPUs are "
         "not kept for them; use --scope own when the allowed CPUs are for this one alone"),
    [CPUBIND_WARNING_NO_ADDRESSES] =
        ("the PCI addresses of the NPUs are not known: NPUs that share CPUs are ordered by "
         "logic id, and a process that knows the addresses may order them differently"),
    [CPUBIND_WARNING_NO_SUCH_CPU] =
        ("--exclude names CPUs that are not online on this host; cpubind plan shows those of "
         "each node"),
    [CPUBIND_WARNING_NO_CORES] =
        ("which CPUs share a core is not known "
         "(/sys/devices/system/cpu/cpu*/topology/thread_siblings_list): each CPU counts as a "
         "core; a process of this host that sees the cores may plan otherwise: show this one "
         "the host's /sys, or give all workers of the host --rules reference without --keep"),
    [CPUBIND_WARNING_ONLINE_DIFFERS] =
        ("sys/devices/system/cpu/online lacks CPUs that are online: the nodes list them, and "
         "this process may use them; that file is not the kernel's (lxcfs makes such ones), "
         "and is passed over"),
    [CPUBIND_WARNING_ORDER_DIFFERS] =
        ("NPUs that share CPUs are ordered by PCI address, which is not the order of their "
         "logic ids"),
};

void api_explain_warning(cpubind_warning warning, const cpubind_facts *facts,
                         const cpubind_device_plan *plan, api_text *out)
{
    if (sentences[warning])
        api_add(out, "%s", sentences[warning]);
    switch (warning) {
    case CPUBIND_WARNING_NO_PROCESSES:
        api_add_fault(&facts->unread_processes, out);
        break;
    case CPUBIND_WARNING_UNKNOWN_TEXT:
        explain_unknown_text(facts, out);
        break;
    case CPUBIND_WARNING_INPUTS_DIFFER:
        explain_difference(facts, out);
        break;
    case CPUBIND_WARNING_PARTIAL_CPUSET:
        explain_partial(facts, plan, out);
        break;
    case CPUBIND_WARNING_UNKNOWN_CHIP:
        api_add(out, "npu-smi info -m lists chips that it cannot query (%d): they are left out",
                (int)facts->n_unknown);
        break;
    case CPUBIND_WARNING_VISIBLE_TAIL:
        api_add(out,
                "only the first entries of the visible devices \"%.*s\" are valid; the entries "
                "from the first bad one on are ignored, as the Ascend runtime does",
                (int)facts->visible_len, facts->visible);
        api_add_comma_form(out, facts);
        break;
    case CPUBIND_WARNING_RESOLVED:
    case CPUBIND_WARNING_OVERLAP:
        explain_shared(warning, facts, plan, out);
        break;
    case CPUBIND_WARNING_POOR_LOCALITY:
        explain_poor_locality(facts, plan, out);
        break;
    case CPUBIND_WARNING_JOB:
    case CPUBIND_WARNING_PARTS:
    case CPUBIND_WARNING_DISPUTED:
        explain_jobs(warning, facts, plan, out);
        break;
    case CPUBIND_WARNING_LENT:
        explain_lent(facts, plan, out);
        break;
    case CPUBIND_WARNING_NO_DISTANCES:
        explain_distances(facts, out);
        break;
    case CPUBIND_WARNING_OTHER_ACCELERATORS:
        explain_others(facts, plan, out);
        break;
    case CPUBIND_WARNING_PCI_AFFINITY:
    case CPUBIND_WARNING_AFFINITY_DIFFERS:
    case CPUBIND_WARNING_NO_NUMA_NODE:
        explain_locality(warning, facts, out);
        break;
    default: /* of the host; else its sentence is all */
        explain_host(warning, facts, plan, out);
        break;
    }
}

/* == All warnings of a plan ================================================= */

void api_warn_plan(const api_planned *p, api_hear *hear, void *ctx)
{
    api_warn_outer(p->outer, hear, ctx);
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
    api_out *to = (api_out *)out;
    api_json_open(to, NULL, '{');
    api_json_text(to, "code", code);
    api_json_text(to, "text", text);
    api_json_close(to, '}');
}

void api_json_warnings(api_out *to, const char *key, const api_planned *planned)
{
    api_json_open(to, key, '[');
    api_warn_plan(planned, api_add_warning, to);
}
