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

static cpubind_problem_code check_named(facts_reader *r)
{
    for (int32_t i = 0; i < r->pci->n_named; i++) {
        const cpubind_pci_address *named = &r->pci->named[i];
        if (cpubind_facts_on_bus(r->facts, named) >= 0)
            continue;
        r->problem->pci = *named;
        return facts_fail(r, CPUBIND_PROBLEM_UNKNOWN_DEVICE, "the bus has no such function");
    }
    return CPUBIND_PROBLEM_NONE;
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

static cpubind_problem_code read_functions(facts_reader *r, cpubind_pci_function *function,
                                           int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const cpubind_vendor *v = cpubind_vendor_of(function[i].accelerator.vendor);
        cpubind_problem_code status =
            facts_read_number(r, facts_function_path(r, &function[i].pci, "sriov_numvfs"), 0,
                              &function[i].n_virtual);
        if (v->driver.folder &&
            facts_is_present(r->source->list(r->source->ctx, v->driver.folder)))
            function[i].is_driven = cpubind_priv_is_driven(r, v, &function[i].pci);
        if (status == CPUBIND_PROBLEM_NONE && v->read && function[i].is_driven > 0)
            status = v->read(r, &function[i]);
        if (status == CPUBIND_PROBLEM_NONE)
            status = read_interface(r, &function[i]);
        if (status == CPUBIND_PROBLEM_NONE)
            status = cpubind_priv_read_near(r, &function[i]);
        if (status == CPUBIND_PROBLEM_NONE && (r->pci->wants_nics || !r->pci->wants_cores))
            status = cpubind_priv_climb(r, &function[i]);
        if (status != CPUBIND_PROBLEM_NONE)
            return status;
    }
    return CPUBIND_PROBLEM_NONE;
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

/* Reads CPUs, nodes and cores, and makes the host for the core of them. */
static cpubind_problem_code read_host(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    int32_t *core = NULL;
    cpubind_problem_code code = cpubind_priv_read_scope(r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_cpus(r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_distances(r);
    if (code == CPUBIND_PROBLEM_NONE && r->pci->wants_cores)
        code = cpubind_priv_read_cores(r);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (f->topology.code != CPUBIND_PROBLEM_NONE) {
        *r->problem = f->topology;
        return f->topology.code;
    }
    if (f->core_of) {
        core = cpubind_arena_ints(r->arena, f->n_cpu);
        if (!core)
            return facts_fail_memory(r);
        for (int32_t i = 0; i < f->n_cpu; i++)
            core[i] = cpubind_facts_core(f, f->cpu[i]);
    }
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

cpubind_problem_code cpubind_devices_read(const cpubind_source *source,
                                          const cpubind_pci_request *request,
                                          cpubind_arena *arena, cpubind_facts *out,
                                          cpubind_problem *problem)
{
    static const cpubind_request usual = {.is_auto_strategy = 1, .scope = CPUBIND_SCOPE_CPUSET};
    facts_reader r = {.source = source,
                      .request = request->host ? request->host : &usual,
                      .arena = arena,
                      .facts = out,
                      .problem = problem,
                      .pci = request};
    cpubind_problem_code code;
    memset(out, 0, sizeof *out);
    out->noun = "device";
    out->is_joined = 1;
    out->is_part = request->n_named > 0 || request->class_digits > 0;
    cpubind_problem_clear(problem);
    cpubind_problem_clear(&out->topology);
    if (request->no_bus && request->own_cpu)
        return take_own_cpus(&r);
    code = read_host(&r);
    if (code != CPUBIND_PROBLEM_NONE || request->no_bus)
        return code;
    code = check_drivers(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_bus(&r, 1, take_function);
    if (code == CPUBIND_PROBLEM_NONE)
        code = check_named(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = read_functions(&r, out->bus, out->n_bus);
    if (code == CPUBIND_PROBLEM_NONE)
        code = read_functions(&r, out->nic, out->n_nic);
    if (code == CPUBIND_PROBLEM_NONE)
        code = compare_all(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_read_sight(&r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = judge_step(&r);
    for (int32_t i = 0; i < out->n_bus; i++)
        if (!out->bus[i].is_asked) {
            out->bus[i].sight = CPUBIND_SIGHT_HIDDEN;
            out->bus[i].n_number = 0;
        }
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
