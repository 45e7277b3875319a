/* facts_read.c - what the inputs of a host tell of its NPUs, for the list of its devices
 * SPDX-License-Identifier: MIT
 *
 * Asks the source for inputs, gives their bytes to the parsers, and puts the results onto the
 * list by id. Pure but for the source: no I/O of its own, no malloc. It must not ask for an
 * input that the request does not need; facts.h has these rules. ../model/reading.c has read
 * the CPUs and the bus before.
 *
 * The table says what comes of each input in each state. A case of tests/cases/hosts_states.txt
 * is a cell here. Failed: also a command that did not end in time, and a text that is too long.
 * Refused: there is no plan, since other processes of the host may have read the input well.
 *
 *   input                       absent         failed     empty       cut        contradictory
 *   proc/self/status            online CPUs, w refused    refused     refused    refused
 *   proc/self/cgroup (own)      allowed        refused    allowed     parent     parent
 *   cpuset.cpus.effective (own) parent         refused    refused     refused    refused
 *   the same, cpu.max (else)    no quota       w 8        no quota    w 8        no quota
 *   env                         no variable    refused    no var.     no var.    refused
 *   cpu/online                  of the nodes   refused    refused     refused    w 6, ref.
 *   node                        lscpu          refused    lscpu       refused    refused
 *   node<N>/cpulist             cpumap, ref.   refused    refused     refused    refused
 *   lscpu -e                    one node, w    refused    refused     refused    refused
 *   info -m                     refused 1      refused 1  refused 1   refused 1  refused 1
 *   info: addresses             boards 2       refused 2  boards 2    boards 2   boards 2
 *   info: processes             w 3            w 3        w 3         w 3        w
 *   info -t topo                kernel, w      kernel, w  kernel, w   kernel, w  kernel, w
 *   info -t board               refused 2      refused 2  refused 2   refused 2  refused 2
 *   pci/devices                 in view, w     refused    in view, w  w          w
 *   vendor, device              refused        refused    refused     refused    not known
 *   numa_node                   of a list 8    refused 4  refused 4   refused 4  not known
 *   local_cpulist               of the node    refused 4  refused 4   refused 4  w 4
 *   proc/interrupts             proc/irq       refused    refused     refused    npu-smi, w
 *   proc/irq/<n>                npu-smi        refused    npu-smi     npu-smi    npu-smi, w
 *   msi_irqs                    npu-smi        refused    npu-smi     npu-smi    npu-smi, w
 *   dev                         npu-smi 7      refused    npu-smi 7   not known  refused
 *   dev/davinci<N>              refused        refused    refused     refused    npu-smi, w
 *   uda/namespace_node          not used       refused 5  not used    refused    npu-smi, w
 *   trs_core/proc               w 3            w 3        none runs   w          not known
 *
 *   The inputs of cores, distances and sockets are in the table of ../model/cores.c.
 *
 *   w          a warning of the plan; ref.: refused
 *   allowed    the CPUs of proc/self/status; parent: those of the next cgroup above
 *   npu-smi    is asked in place of the driver's files; facts=driver refuses
 *   not known  no second input tells
 *   1  but for a request that names the NPUs and the device type
 *   2  where addresses are needed: an NPU is hidden, or the order of a group depends on them
 *   3  refused when the request limits the plan to running NPUs
 *   4  but with facts=npu-smi, of an NPU in view whose CPUs npu-smi lists: that list is used
 *   5  but for a refused permission, which counts as absent
 *   6  where it lacks a CPU that a node lists: the file is passed over, if the CPU is allowed
 *      by proc/self/status or its own file cpu<N>/online says 1; the CPU is offline, if that
 *      says 0 or nothing says more. Refused where it has an allowed CPU that no node lists
 *   8  refused where it says whose the CPUs are: some are not allowed, and no scope is given
 *   7  all NPUs are hidden where npu-smi is absent, too, and the process has device files of
 *      other accelerators
 *   8  by local_cpulist, the bridges above, or the only node: ../model/bus.c; not by reference
 */
#include "../model/vendor.h"
#include "driver_reader.h"

/* == The strategy =========================================================== */

/* The strategy of the plan: as asked, else that of the product; NEAR in place of both slices
 * and topo_affinity by the rules near. Slices replace topo_affinity and NEAR where the CPUs
 * near the NPUs are not known, since every NPU can have a slice; nothing replaces clusters. No
 * other function decides the strategy. */
static cpubind_strategy decide_strategy(const facts_reader *r, int is_affinity_known)
{
    const cpubind_request *q = r->request;
    cpubind_strategy strategy =
        q->is_auto_strategy ? cpubind_product_of(r->facts->type)->strategy : q->strategy;
    if (r->facts->rules == CPUBIND_RULES_NEAR && strategy != CPUBIND_CLUSTER)
        strategy = CPUBIND_NEAR;
    return strategy != CPUBIND_CLUSTER && !is_affinity_known ? CPUBIND_GLOBAL_SLICE : strategy;
}

static int needs_affinity(cpubind_strategy strategy)
{
    return strategy != CPUBIND_GLOBAL_SLICE;
}

static int needs_threads(cpubind_strategy strategy)
{
    return strategy == CPUBIND_CLUSTER;
}

/* Whether NPUs that this process cannot see have a part in the plan. */
static int needs_others(const facts_reader *r)
{
    return r->facts->scope != CPUBIND_SCOPE_OWN;
}

/* Whether the CPUs near the NPUs are known well enough for topo_affinity: npu-smi names those
 * near some NPU, or the kernel names those near every NPU of the host. The latter is the same
 * in every process of the host; lists of the kernel for some NPUs are not enough, since the
 * other NPUs could not be planned. */
static int is_affinity_known(const facts_reader *r)
{
    return r->facts->has_affinity || facts_is_kernel_complete(r->facts);
}

/* == Reading ================================================================ */

/* The device type: of the request, of the chip names, or of the only product on the bus. */
static cpubind_problem_code decide_type(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    if (f->type == CPUBIND_TYPE_AUTO)
        f->type = cpubind_priv_type_on_bus(r);
    if (f->type != CPUBIND_TYPE_AUTO)
        return CPUBIND_PROBLEM_NONE;
    return facts_fail(r, CPUBIND_PROBLEM_UNKNOWN_TYPE,
                      r->facts->n_counted > 0
                          ? "the PCI bus has NPUs of several products"
                          : "neither a chip name nor a PCI id tells the device type");
}

/* == The driver's files ===================================================== */

static cpubind_problem_code clear_stop(facts_reader *r)
{
    r->ascend->outcome = DRIVER_COMPLETE;
    cpubind_problem_clear(r->problem);
    return CPUBIND_PROBLEM_NONE;
}

/* Reads the CPUs near the NPUs of the host from the kernel, which must name those of each. */
static cpubind_problem_code read_all_homes(facts_reader *r)
{
    const cpubind_problem_code code = cpubind_priv_read_homes(r);
    for (int32_t i = 0; i < r->facts->n_counted && code == CPUBIND_PROBLEM_NONE; i++)
        if (!facts_is_near_known(r->facts, facts_npu(r->facts, i)))
            return cpubind_priv_stop(r, DRIVER_GAP, INPUT_PCI,
                                     "the kernel does not name the CPUs near every NPU");
    return code;
}

/* Asks the driver's files for the NPUs, and the kernel for the CPUs near them where the product
 * needs those. When something is not there, npu-smi is asked, unless the request wants the
 * driver's files alone. A file that is there and cannot be read is a problem: other processes
 * of the host have read it. */
static cpubind_problem_code read_driver(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_problem_code code = decide_type(r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_choose_functions(r);
    if (code == CPUBIND_PROBLEM_UNKNOWN_TYPE ||
        (code == CPUBIND_PROBLEM_NONE && f->n_counted == 0))
        code =
            cpubind_priv_stop(r, DRIVER_GAP, INPUT_PCI, "it does not show NPUs of one product");
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_mailboxes(r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_view(r);
    if (code == CPUBIND_PROBLEM_NONE && needs_affinity(decide_strategy(r, 1)))
        code = read_all_homes(r);
    if (code == CPUBIND_PROBLEM_NONE) {
        f->origin = CPUBIND_ORIGIN_DRIVER;
        f->has_phy = 1;
        r->ascend->has_read_processes = 1;
        return code;
    }
    f->type = r->request->type;
    f->n_device = f->has_processes = 0;
    if (r->ascend->outcome == DRIVER_COMPLETE || r->request->origin == CPUBIND_ORIGIN_DRIVER)
        return code;
    if (r->ascend->outcome == DRIVER_CONTRADICTION) {
        f->contradiction = r->problem->what;
        f->contradicting = r->problem->input;
        facts_warn(r, CPUBIND_WARNING_INPUTS_DIFFER);
    }
    return clear_stop(r);
}

/* == Near CPUs and slices =================================================== */

/* Refuses a host whose bus shows more NPUs than are in view, when an NPU in view has no known
 * address: the CPUs of the hidden ones cannot be kept for them. */
static cpubind_problem_code check_addresses(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    for (int32_t i = 0; i < f->n_device; i++) {
        if (f->device[i]->function >= 0 || f->n_census == 0 || !needs_others(r))
            continue;
        if (facts_count_on_bus(f) <= f->n_device)
            return CPUBIND_PROBLEM_NONE;
        r->problem->device = f->device[i]->logic;
        return facts_fail_input(r, INPUT_PCI, r->ascend->info_answer, -1,
                                "it shows more NPUs than this process sees, and the address of "
                                "one that it sees is not known");
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Warns of NPUs that are hidden from this process, and for which no CPUs can be kept. */
static void check_hidden(facts_reader *r)
{
    const cpubind_facts *f = r->facts;
    for (int32_t i = 0; i < f->n_census && needs_others(r); i++)
        if (facts_npu(f, i)->n_in_view < facts_npu(f, i)->n_device &&
            !facts_is_near_known(f, facts_npu(f, i)) && facts_count_on_bus(f) > f->n_device)
            facts_warn(r, CPUBIND_WARNING_HIDDEN_HOME);
}

/* Reads the CPUs near each NPU and decides the strategy. A question that npu-smi did not answer
 * is a problem only when the kernel does not answer it either. Slices replace topo_affinity on
 * a host that has no affinity, not on one whose affinity could not be joined with its NPUs. */
static cpubind_problem_code read_affinity(facts_reader *r, const cpubind_problem *unanswered)
{
    cpubind_facts *f = r->facts;
    const int is_from_driver = f->origin == CPUBIND_ORIGIN_DRIVER;
    cpubind_problem_code code =
        is_from_driver ? CPUBIND_PROBLEM_NONE : cpubind_priv_read_addresses(r);
    int32_t n_near = 0;
    if (code == CPUBIND_PROBLEM_NONE)
        cpubind_priv_attach_functions(r);
    if (code == CPUBIND_PROBLEM_NONE && !is_from_driver)
        code = cpubind_priv_read_homes(r);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    for (int32_t i = 0; i < f->n_census; i++)
        n_near += facts_npu(f, i)->n_cpu > 0;
    f->strategy = decide_strategy(r, is_affinity_known(r));
    if (needs_affinity(f->strategy)) {
        if (f->n_census == 0 && needs_others(r))
            facts_warn(r, CPUBIND_WARNING_NO_CENSUS);
        code = check_addresses(r);
        if (code == CPUBIND_PROBLEM_NONE)
            cpubind_priv_take_near(r);
        if (code == CPUBIND_PROBLEM_NONE && f->has_affinity)
            code = cpubind_priv_take_node_0(r, 1);
        check_hidden(r);
    } else if (n_near > 0 && n_near == f->n_census && f->n_device > 0) {
        if (unanswered->code == CPUBIND_PROBLEM_NONE)
            return facts_fail_input(r, INPUT_PCI, r->ascend->info_answer, -1,
                                    "it has the CPUs near every NPU, but which of its devices "
                                    "an NPU is could not be found out");
    }
    if (code == CPUBIND_PROBLEM_NONE && unanswered->code != CPUBIND_PROBLEM_NONE &&
        (f->n_device == 0 || !facts_all_have_affinity(f))) {
        *r->problem = *unanswered;
        code = unanswered->code;
    }
    return code;
}

/* Whether the driver's mailboxes name the NPUs of every function. */
static int has_mailboxes(const cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_census; i++)
        if (facts_npu(f, i)->phys[0] < 0)
            return 0;
    return f->n_census > 0;
}

/* Gives the NPUs in view of a function its phy ids, in the order of their logic ids. */
static int name_phys(cpubind_facts *f, int32_t function)
{
    int32_t n = 0;
    if (f->bus[function].n_in_view != f->bus[function].n_device)
        return 0;
    for (int32_t i = 0; i < f->n_device; i++) {
        if (f->device[i]->function != function)
            continue;
        if (n == CPUBIND_FUNCTION_DEVICES || f->bus[function].phys[n] < 0)
            return 0;
        f->device[i]->phy = f->bus[function].phys[n++];
    }
    return 1;
}

/* What the driver's files do not tell is no problem beside npu-smi; a file that cannot be read
 * is none of a request for npu-smi alone. */
static cpubind_problem_code judge_driver(facts_reader *r, cpubind_problem_code code)
{
    return code == CPUBIND_PROBLEM_UNREADABLE && (r->ascend->outcome != DRIVER_COMPLETE ||
                                                  r->request->origin == CPUBIND_ORIGIN_NPU_SMI)
               ? clear_stop(r)
               : code;
}

/* Reads the phy ids of the functions from the driver's mailboxes, for the highest of the
 * host. */
static cpubind_problem_code read_mailboxes(facts_reader *r)
{
    return has_mailboxes(r->facts) ? CPUBIND_PROBLEM_NONE
                                   : judge_driver(r, cpubind_priv_read_mailboxes(r));
}

/* Finds the phy ids of the NPUs in view where npu-smi info -m has none: by their addresses and
 * the driver's mailboxes, else by the device nodes. The addresses also tell how many NPUs a
 * function has. Where npu-smi info cannot be read that is a problem: other processes of the
 * host have read it, and cut by phy id. */
static cpubind_problem_code find_phys(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    int is_whole = 1;
    if (!has_mailboxes(f))
        code = judge_driver(r, cpubind_priv_read_node_phys(r));
    if (code != CPUBIND_PROBLEM_NONE || (!has_mailboxes(f) && !f->has_phy))
        return code;
    if (!r->ascend->has_read_processes)
        code = cpubind_priv_read_info(r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_addresses(r);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    cpubind_priv_attach_functions(r);
    for (int32_t i = 0; i < f->n_device && !f->has_phy; i++)
        is_whole &= f->device[i]->function >= 0 && name_phys(f, f->device[i]->function);
    f->has_phy |= is_whole;
    return CPUBIND_PROBLEM_NONE;
}

/* Reads what slices of a host are cut by: the phy ids of the NPUs in view, and the highest one
 * of the host, by its mailboxes or, where a container runtime hides /proc/interrupts, by the
 * devices in /sys. */
static cpubind_problem_code read_phys(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_problem_code code;
    if (f->origin == CPUBIND_ORIGIN_DRIVER || !needs_others(r))
        return CPUBIND_PROBLEM_NONE;
    if (f->n_census == 0 && r->request->total > 0 && !needs_affinity(decide_strategy(r, 1)))
        return f->has_phy ? CPUBIND_PROBLEM_NONE
                          : judge_driver(r, cpubind_priv_read_node_phys(r));
    if (f->n_census == 0) {
        facts_warn(r, CPUBIND_WARNING_NO_CENSUS);
        return CPUBIND_PROBLEM_NONE;
    }
    code = read_mailboxes(r);
    if (code == CPUBIND_PROBLEM_NONE && !f->has_phy)
        code = find_phys(r);
    if (code == CPUBIND_PROBLEM_NONE && !has_mailboxes(f) && r->request->total == 0)
        code = cpubind_priv_read_end_of_phys(r);
    return code;
}

/* Reads what npu-smi tells besides ids. Other outputs are not read: each costs a run of
 * npu-smi, and a damaged one would stop a plan that does not need it. Without npu-smi info -m
 * the topology is read in any case, for its ids. */
static cpubind_problem_code read_npu_smi(facts_reader *r, cpubind_problem *unanswered)
{
    cpubind_facts *f = r->facts;
    const cpubind_request *q = r->request;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    if (needs_affinity(f->strategy) || f->n_device == 0)
        code = cpubind_priv_read_topo(r, unanswered);
    if (code == CPUBIND_PROBLEM_NONE && (!q->device || q->wants_pci || q->only_running ||
                                         (needs_affinity(f->strategy) && f->n_device > 0)))
        code = cpubind_priv_read_info(r);
    return code;
}

/* Reads the inputs that this plan needs besides CPUs and ids. */
static cpubind_problem_code read_for_plan(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_strategy wanted = decide_strategy(r, 1);
    cpubind_problem unanswered;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    f->strategy = wanted;
    cpubind_problem_clear(&unanswered);
    if (f->origin == CPUBIND_ORIGIN_NPU_SMI)
        code = read_npu_smi(r, &unanswered);
    if (code == CPUBIND_PROBLEM_NONE && r->request->device)
        code = cpubind_priv_name_npus(r);
    if (code == CPUBIND_PROBLEM_NONE && f->origin == CPUBIND_ORIGIN_NPU_SMI)
        code = cpubind_priv_choose_functions(r);
    if (code == CPUBIND_PROBLEM_NONE && needs_affinity(wanted))
        code = read_affinity(r, &unanswered);
    if (code == CPUBIND_PROBLEM_NONE && needs_threads(wanted))
        code = cpubind_priv_read_threads(r);
    if (code == CPUBIND_PROBLEM_NONE && !needs_affinity(f->strategy))
        code = read_phys(r);
    if (code == CPUBIND_PROBLEM_NONE && !needs_affinity(f->strategy))
        code = cpubind_priv_read_locality(r);
    if (code == CPUBIND_PROBLEM_NONE && f->strategy != wanted)
        facts_warn(r, CPUBIND_WARNING_NO_AFFINITY);
    return code;
}

/* Refuses to cut slices by the logic ids of a map that lacks an NPU of the table of devices:
 * the ids after a lost row count too few NPUs before them. */
static cpubind_problem_code check_map(facts_reader *r)
{
    const cpubind_facts *f = r->facts;
    if (f->origin == CPUBIND_ORIGIN_DRIVER || !needs_others(r) || f->has_phy ||
        needs_affinity(f->strategy))
        return CPUBIND_PROBLEM_NONE;
    return r->ascend->is_map_short
               ? facts_fail_input(
                     r, INPUT_MAP, r->source->read(r->source->ctx, INPUT_MAP), -1,
                     "it lacks an NPU that npu-smi info names, and slices are cut by its ids")
               : CPUBIND_PROBLEM_NONE;
}

/* == No NPU in view ========================================================= */

/* Whether the PCI bus tells all that a process with an NPU may know of those that it does not
 * see: the product, the CPUs near each, and how many a function has. */
static cpubind_problem_code read_hidden(facts_reader *r, int *is_whole)
{
    cpubind_problem_code code = decide_type(r);
    if (code == CPUBIND_PROBLEM_UNKNOWN_TYPE)
        return CPUBIND_PROBLEM_NONE;
    code = cpubind_priv_choose_functions(r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_homes(r);
    *is_whole = facts_is_kernel_complete(r->facts) && decide_strategy(r, 1) == CPUBIND_NEAR &&
                (!cpubind_product_of(r->facts->type)->has_pairs || has_mailboxes(r->facts));
    return code;
}

/* Whether this process may open some device file of other accelerators. */
static int has_files(void *ctx, const cpubind_vendor_nodes *nodes,
                     const cpubind_vendor_files *bus)
{
    const facts_reader *r = (const facts_reader *)ctx;
    (void)bus;
    return facts_is_present(r->source->list(r->source->ctx, nodes->input));
}

/* Takes all NPUs of the host to be hidden, in place of the refusal that npu-smi is absent,
 * where this process may open other accelerators and no NPU: a container of these has a plan
 * beside the NPUs. */
static cpubind_problem_code hide_all(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_problem refusal = *r->problem;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    int is_whole = 0;
    if (f->n_other == 0 || r->request->origin == CPUBIND_ORIGIN_NPU_SMI ||
        !cpubind_priv_lists_no_node(r) || !cpubind_vendor_each_nodes(has_files, r))
        return refusal.code;
    cpubind_problem_clear(r->problem);
    code = read_hidden(r, &is_whole);
    if (code == CPUBIND_PROBLEM_NONE && is_whole) {
        f->origin = CPUBIND_ORIGIN_DRIVER;
        f->has_phy = 1;
    } else if (code == CPUBIND_PROBLEM_NONE) {
        f->type = r->request->type;
        *r->problem = refusal;
        code = refusal.code;
    }
    return code;
}

/* == All of it ============================================================== */

/* Finds the NPUs by the driver's files, else by npu-smi. */
static cpubind_problem_code find_npus(facts_reader *r)
{
    cpubind_problem_code code =
        r->request->origin == CPUBIND_ORIGIN_NPU_SMI ? CPUBIND_PROBLEM_NONE : read_driver(r);
    if (code == CPUBIND_PROBLEM_NONE && r->facts->origin == CPUBIND_ORIGIN_NPU_SMI)
        code = cpubind_priv_read_npus(r);
    return code == CPUBIND_PROBLEM_NO_NPU_SMI ? hide_all(r) : code;
}

/* Finds the addresses that a caller wants for interrupts. */
static cpubind_problem_code find_wanted(facts_reader *r)
{
    return r->request->wants_pci && r->facts->n_device > 0 ? cpubind_priv_read_wanted(r)
                                                           : CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_priv_find_listed(facts_reader *r)
{
    static cpubind_problem_code (*const steps[])(facts_reader *) = {
        find_npus,     decide_type,
        read_for_plan, cpubind_priv_read_running,
        check_map,     cpubind_priv_read_visible,
        find_wanted};
    cpubind_facts *f = r->facts;
    ascend_reading ascend = {.info_status = CPUBIND_TEXT_ERR_MISSING,
                             .process_status = CPUBIND_TEXT_ERR_MISSING};
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    r->ascend = &ascend;
    f->type = r->request->type;
    f->origin = CPUBIND_ORIGIN_NPU_SMI;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == CPUBIND_PROBLEM_NONE; i++)
        code = steps[i](r);
    for (int32_t i = 0; i < f->n_device; i++) {
        cpubind_host_device *npu = f->device[i];
        npu->accelerator.product = cpubind_type_word(f->type);
        npu->node = npu->function < 0 ? -1 : f->bus[npu->function].node;
        if (npu->node < 0 && npu->n_cpu > 0) {
            npu->node = facts_node_of_list(f, npu->cpu, npu->n_cpu);
            npu->origin = CPUBIND_NODE_ORIGIN_NPU_SMI;
        }
    }
    f->n_listed = f->n_device;
    f->has_listed = code == CPUBIND_PROBLEM_NONE;
    r->ascend = NULL;
    return code;
}
