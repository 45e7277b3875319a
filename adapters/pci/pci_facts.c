/* pci_facts.c - the accelerators and network cards of a host, and the CPUs near each
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. The bus is read once for the ids of
 * all functions; the rest is read of those that were asked for.
 */
#include "../model/facts_reader.h"

enum { NETWORK_CLASS = 0x02 };

/* == Drivers ================================================================ */

/* The lists of functions of all drivers can be read, or are not there. */
static cpubind_problem_code check_drivers(facts_reader *r)
{
    cpubind_problem_code status = CPUBIND_PROBLEM_NONE;
    for (int i = 0; i < CPUBIND_VENDOR_COUNT && status == CPUBIND_PROBLEM_NONE; i++) {
        const char *folder = cpubind_vendor_of((cpubind_vendor_id)i)->driver.folder;
        if (folder)
            status = facts_judge(r, folder, r->source->list(r->source->ctx, folder));
    }
    return status;
}

/* == Which functions count ================================================== */

static int is_named(const cpubind_pci_request *q, const cpubind_pci_address *pci)
{
    for (int32_t i = 0; i < q->n_named; i++)
        if (cpubind_pci_compare(&q->named[i], pci) == 0)
            return 1;
    return 0;
}

static int is_asked_for(const cpubind_pci_request *q, const cpubind_pci_function *function,
                        int32_t whole_class)
{
    if (q->n_named > 0 || q->class_digits > 0)
        return is_named(q, &function->pci) ||
               (q->class_digits > 0 && whole_class >= 0 &&
                whole_class >> (4 * (6 - q->class_digits)) == q->class_code);
    return function->accelerator.vendor != CPUBIND_VENDOR_OTHER;
}

/* Takes what was asked for, and with is_beside other accelerators. */
static cpubind_problem_code take_function(facts_reader *r, cpubind_problem_code code,
                                          cpubind_pci_function *function, int32_t whole_class,
                                          facts_taken *out)
{
    const cpubind_pci_request *q = r->pci;
    function->is_asked = is_asked_for(q, function, whole_class);
    if (function->is_asked ||
        (q->is_beside && function->accelerator.vendor != CPUBIND_VENDOR_OTHER))
        *out = FACTS_TAKEN_DEVICE;
    else if (q->wants_nics && function->ids.class_code >> 8 == NETWORK_CLASS)
        *out = FACTS_TAKEN_NIC;
    return code;
}

/* Lists the functions. Those that the request names are there. */
static cpubind_problem_code list_functions(facts_reader *r)
{
    const cpubind_problem_code code = cpubind_priv_read_bus(r, 1, take_function);
    for (int32_t i = 0; code == CPUBIND_PROBLEM_NONE && i < r->pci->n_named; i++)
        if (cpubind_facts_on_bus(r->facts, &r->pci->named[i]) < 0) {
            r->problem->pci = r->pci->named[i];
            return facts_fail(r, CPUBIND_PROBLEM_UNKNOWN_DEVICE,
                              "the bus has no such function");
        }
    return code;
}

/* == More of a device ======================================================= */

/* Takes the first name in a folder of a network card: infiniband before net. */
static cpubind_problem_code read_interface(facts_reader *r, cpubind_pci_function *function)
{
    static const char *const folders[] = {"infiniband", "net"};
    if (function->ids.class_code >> 8 != NETWORK_CLASS)
        return CPUBIND_PROBLEM_NONE;
    for (int i = 0; i < 2 && !function->interface; i++) {
        const char *name = facts_function_path(r, &function->pci, folders[i]);
        cpubind_input listing;
        cpubind_piece part;
        int32_t at = 0;
        if (!name)
            return facts_fail_memory(r);
        listing = r->source->list(r->source->ctx, name);
        if (facts_next_name(listing, &at, &part)) {
            function->interface = listing.data + part.at;
            function->interface_len = part.len;
        }
    }
    return CPUBIND_PROBLEM_NONE;
}

/* == How near two functions are ============================================= */

static cpubind_nearness nearness_of(const cpubind_pci_function *a,
                                    const cpubind_pci_function *b)
{
    if (a->pci.domain == b->pci.domain) {
        for (int32_t i = 0; i < a->n_bridge; i++)
            for (int32_t k = 0; k < b->n_bridge; k++)
                if (a->bridge[i] == b->bridge[k])
                    return i <= 1 && k <= 1 ? CPUBIND_NEARNESS_PIX : CPUBIND_NEARNESS_PXB;
        if (a->root_bus >= 0 && a->root_bus == b->root_bus)
            return CPUBIND_NEARNESS_PHB;
    }
    if (a->node < 0 || b->node < 0)
        return CPUBIND_NEARNESS_UNKNOWN;
    return a->node == b->node ? CPUBIND_NEARNESS_NODE : CPUBIND_NEARNESS_SYS;
}

static cpubind_problem_code compare_all(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    if (f->n_nic > 0 && f->n_bus > INT32_MAX / 4 / f->n_nic)
        return facts_fail_memory(r);
    f->nearness = cpubind_arena_ints(r->arena, f->n_bus * f->n_nic);
    if (!f->nearness)
        return facts_fail_memory(r);
    for (int32_t i = 0; i < f->n_bus; i++)
        for (int32_t k = 0; k < f->n_nic; k++)
            f->nearness[i * f->n_nic + k] = (int32_t)nearness_of(&f->bus[i], &f->nic[k]);
    return CPUBIND_PROBLEM_NONE;
}

/* == The reading ============================================================ */

/* Reads what its driver tells of a function. */
static cpubind_problem_code read_driver(facts_reader *r, cpubind_pci_function *function)
{
    const cpubind_vendor *v = cpubind_vendor_of(function->accelerator.vendor);
    if (v->driver.folder && facts_is_present(r->source->list(r->source->ctx, v->driver.folder)))
        function->is_driven = cpubind_priv_is_driven(r, v, &function->pci);
    return v->read && function->is_driven > 0 ? v->read(r, function) : CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code count_virtual(facts_reader *r, cpubind_pci_function *function)
{
    return facts_read_number(r, facts_function_path(r, &function->pci, "sriov_numvfs"), 0,
                             &function->n_virtual);
}

static cpubind_problem_code find_bridges(facts_reader *r, cpubind_pci_function *function)
{
    return r->pci->wants_nics || !r->pci->wants_cores ? cpubind_priv_climb(r, function)
                                                      : CPUBIND_PROBLEM_NONE;
}

/* Reads more of all devices and network cards. */
static cpubind_problem_code read_functions(facts_reader *r)
{
    static cpubind_problem_code (*const steps[])(facts_reader *, cpubind_pci_function *) = {
        count_virtual, read_driver, read_interface, cpubind_priv_read_near, find_bridges};
    const cpubind_facts *f = r->facts;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    for (int32_t i = 0; i < f->n_bus + f->n_nic; i++)
        for (size_t k = 0; k < sizeof steps / sizeof *steps && code == CPUBIND_PROBLEM_NONE;
             k++)
            code = steps[k](r, i < f->n_bus ? &f->bus[i] : &f->nic[i - f->n_bus]);
    return code;
}

/* Takes the CPUs of the request, all of them as of the first node. */
static cpubind_problem_code take_own_cpus(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_pci_request *q = r->pci;
    int32_t *cpu = cpubind_arena_ints(r->arena, q->n_own_cpu);
    int32_t *node = cpubind_arena_ints(r->arena, q->n_own_cpu);
    const cpubind_problem_code code = cpubind_priv_list_nodes(r);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (!cpu || !node)
        return facts_fail_memory(r);
    for (int32_t i = 0; i < q->n_own_cpu; i++) {
        cpu[i] = q->own_cpu[i];
        node[i] = f->all_node[0];
    }
    f->host = (cpubind_topology){
        .cpu = cpu, .node = node, .n_cpu = q->n_own_cpu, .node_id = f->all_node, .n_node = 1};
    return CPUBIND_PROBLEM_NONE;
}

/* Makes the host for the core of CPUs, nodes and cores. */
static cpubind_problem_code make_host(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    int32_t *core = f->core_of ? cpubind_arena_ints(r->arena, f->n_cpu) : NULL;
    if (f->topology.code != CPUBIND_PROBLEM_NONE) {
        *r->problem = f->topology;
        return f->topology.code;
    }
    if (f->core_of && !core)
        return facts_fail_memory(r);
    for (int32_t i = 0; core && i < f->n_cpu; i++)
        core[i] = cpubind_facts_core(f, f->cpu[i]);
    f->host = (cpubind_topology){.cpu = f->cpu,
                                 .node = f->node,
                                 .n_cpu = f->n_cpu,
                                 .node_id = f->node_id,
                                 .n_node = f->n_node,
                                 .distance = f->distance,
                                 .core = core,
                                 .socket = f->has_nodes ? f->socket : NULL};
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code read_cores(facts_reader *r)
{
    return r->pci->wants_cores ? cpubind_priv_read_cores(r) : CPUBIND_PROBLEM_NONE;
}

/* Holds the devices against those of a step of Slurm, where no NPU is among them: else the NPUs
 * are held against it. A list of devices without a plan tells what is there, whosever it is. */
static cpubind_problem_code judge_step(facts_reader *r)
{
    const cpubind_facts *f = r->facts;
    int32_t n_visible = 0;
    for (int32_t i = 0; i < f->n_bus; i++) {
        if (cpubind_vendor_of(f->bus[i].accelerator.vendor)->users)
            return CPUBIND_PROBLEM_NONE;
        n_visible += f->bus[i].sight == CPUBIND_SIGHT_VISIBLE;
    }
    return r->pci->host && f->n_bus > 0 && !f->is_part
               ? cpubind_priv_judge_step(r, n_visible, f->n_bus)
               : CPUBIND_PROBLEM_NONE;
}

/* Hides what was not asked for, which is beside what was. */
static cpubind_problem_code hide_others(facts_reader *r)
{
    for (int32_t i = 0; i < r->facts->n_bus; i++)
        if (!r->facts->bus[i].is_asked) {
            r->facts->bus[i].sight = CPUBIND_SIGHT_HIDDEN;
            r->facts->bus[i].n_number = 0;
        }
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_devices_read(const cpubind_source *source,
                                          const cpubind_pci_request *request,
                                          cpubind_arena *arena, cpubind_facts *out,
                                          cpubind_problem *problem)
{
    enum { HOST_STEPS = 5 };
    static cpubind_problem_code (*const steps[])(facts_reader *) = {
        cpubind_priv_read_scope,
        cpubind_priv_read_cpus,
        cpubind_priv_read_distances,
        read_cores,
        make_host,
        check_drivers,
        list_functions,
        read_functions,
        compare_all,
        cpubind_priv_read_sight,
        judge_step,
        hide_others,
    };
    static const cpubind_request usual = {.is_auto_strategy = 1, .scope = CPUBIND_SCOPE_CPUSET};
    facts_reader r = {.source = source,
                      .request = request->host ? request->host : &usual,
                      .arena = arena,
                      .facts = out,
                      .problem = problem,
                      .pci = request};
    const size_t n = request->no_bus ? HOST_STEPS : sizeof steps / sizeof *steps;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    memset(out, 0, sizeof *out);
    out->noun = "device";
    out->is_joined = 1;
    out->is_part = request->n_named > 0 || request->class_digits > 0;
    cpubind_problem_clear(problem);
    cpubind_problem_clear(&out->topology);
    if (request->no_bus && request->own_cpu)
        return take_own_cpus(&r);
    for (size_t i = 0; i < n && code == CPUBIND_PROBLEM_NONE; i++)
        code = steps[i](&r);
    return code;
}

/* == Words ================================================================== */

const char *cpubind_nearness_word(cpubind_nearness nearness)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_NEARNESS_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return words[(uint32_t)nearness < CPUBIND_NEARNESS_COUNT ? nearness
                                                             : CPUBIND_NEARNESS_UNKNOWN];
}
