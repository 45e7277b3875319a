/* facts_census.c - the NPUs on the host's PCI bus, and the CPUs near each by the kernel
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. A container sees the whole bus, so
 * what this file reads is the same in every process of a host; it must not depend on what
 * npu-smi shows to this process. The files are those of the kernel's sysfs-bus-pci
 * documentation.
 */
#include "ascend_reader.h"

/* == The functions ========================================================== */

/* Fails because a function lacks a file that the kernel gives to every function: it may be an
 * NPU. */
static cpubind_problem_code fail_without(facts_reader *r, const char *path)
{
    static const cpubind_input absent = {.state = CPUBIND_INPUT_ABSENT};
    return facts_fail_input(r, path, absent, -1, "a function of the bus lacks this file");
}

/* Reads a number that every function has. */
static cpubind_problem_code read_id(facts_reader *r, const cpubind_pci_address *pci,
                                    const char *leaf, int32_t *out)
{
    const char *path = facts_function_path(r, pci, leaf);
    const cpubind_problem_code code = facts_read_number(r, path, -1, out);
    return code == CPUBIND_PROBLEM_NONE && *out < 0 ? fail_without(r, path) : code;
}

static cpubind_problem_code read_near(facts_reader *r, cpubind_function *function);

/* Adds a function of another vendor if it is an accelerator. Whether one is that cannot be read
 * is left to the reader of devices: a plan of NPUs alone does not depend on it. */
static cpubind_problem_code add_other(facts_reader *r, int32_t vendor,
                                      const cpubind_function *function)
{
    cpubind_facts *f = r->facts;
    const cpubind_pci_address *pci = &function->pci;
    cpubind_function other = *function;
    int32_t class_code = -1, is_virtual = 1;
    cpubind_problem_code code =
        facts_read_number(r, facts_function_path(r, pci, "device"), -1, &other.device_id);
    if (code == CPUBIND_PROBLEM_NONE && other.device_id >= 0)
        code = facts_read_number(r, facts_function_path(r, pci, "class"), -1, &class_code);
    f->has_unread_other |= code != CPUBIND_PROBLEM_NONE || class_code < 0;
    if (code == CPUBIND_PROBLEM_NONE && class_code >= 0 &&
        r->request->is_other(vendor, other.device_id, class_code >> 8))
        code = facts_read_virtual(r, pci, &is_virtual);
    if (code == CPUBIND_PROBLEM_NONE && !is_virtual) {
        code = read_near(r, &other);
        cpubind_priv_insert_function(f->other, &f->n_other, sizeof other, &other);
    }
    if (code == CPUBIND_PROBLEM_NO_MEMORY)
        return code;
    cpubind_problem_clear(r->problem);
    return CPUBIND_PROBLEM_NONE;
}

/* Reads one function of the bus; out->type becomes AUTO when it is no NPU. */
static cpubind_problem_code read_function(facts_reader *r, const cpubind_pci_address *pci,
                                          facts_found *out)
{
    int32_t vendor;
    cpubind_problem_code code;
    memset(out, 0, sizeof *out);
    out->function.pci = *pci;
    out->function.node = FACTS_NODE_UNKNOWN;
    out->function.n_device = 1;
    for (int32_t i = 0; i < CPUBIND_FUNCTION_DEVICES; i++)
        out->function.phy[i] = -1;
    code = read_id(r, pci, "vendor", &vendor);
    if (code == CPUBIND_PROBLEM_NONE && !cpubind_is_npu_vendor(vendor) &&
        r->request->is_other && r->request->is_other(vendor, -1, -1))
        return add_other(r, vendor, &out->function);
    if (code != CPUBIND_PROBLEM_NONE || !cpubind_is_npu_vendor(vendor))
        return code;
    code = read_id(r, pci, "device", &out->function.device_id);
    out->type = cpubind_type_of_pci(out->function.device_id);
    return code != CPUBIND_PROBLEM_NONE || out->type == CPUBIND_TYPE_AUTO
               ? code
               : facts_read_virtual(r, pci, &out->is_virtual);
}

cpubind_problem_code cpubind_priv_read_census(facts_reader *r)
{
    const cpubind_input listing = r->source->list(r->source->ctx, INPUT_PCI);
    cpubind_problem_code code = facts_judge(r, INPUT_PCI, listing);
    cpubind_pci_address pci;
    facts_found found;
    int32_t at = 0;
    const int32_t n = facts_count_names(listing);
    if (!facts_is_present(listing))
        return code;
    r->ascend->found = (facts_found *)cpubind_arena_take(r->arena, n, sizeof *r->ascend->found);
    if (r->request->is_other)
        r->facts->other =
            (cpubind_function *)cpubind_arena_take(r->arena, n, sizeof *r->facts->other);
    if (!r->ascend->found || (r->request->is_other && !r->facts->other))
        return facts_fail_memory(r);
    while (code == CPUBIND_PROBLEM_NONE && cpubind_priv_next_function(listing, &at, &pci)) {
        code = read_function(r, &pci, &found);
        if (code == CPUBIND_PROBLEM_NONE && found.type != CPUBIND_TYPE_AUTO)
            cpubind_priv_insert_function(r->ascend->found, &r->ascend->n_found, sizeof found,
                                         &found);
    }
    return code;
}

/* == The product ============================================================ */

static int32_t count_found(const facts_reader *r, cpubind_device_type type, int is_virtual)
{
    int32_t n = 0;
    for (int32_t i = 0; i < r->ascend->n_found; i++)
        n += r->ascend->found[i].type == type && r->ascend->found[i].is_virtual == is_virtual;
    return n;
}

cpubind_device_type cpubind_priv_type_on_bus(const facts_reader *r)
{
    for (int32_t i = 1; i < r->ascend->n_found; i++)
        if (r->ascend->found[i].type != r->ascend->found[0].type)
            return CPUBIND_TYPE_AUTO;
    return r->ascend->n_found > 0 ? r->ascend->found[0].type : CPUBIND_TYPE_AUTO;
}

/* Chooses the functions of the product. One PCI id may belong to two products: when the bus has
 * none of this product and a single other one, that is the one. Virtual functions count where
 * there are no physical ones, in a virtual machine. */
cpubind_problem_code cpubind_priv_choose_functions(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_device_type type = f->type;
    int32_t is_virtual_wanted;
    if (count_found(r, type, 0) + count_found(r, type, 1) == 0)
        type = cpubind_priv_type_on_bus(r);
    is_virtual_wanted = count_found(r, type, 0) == 0;
    f->n_function = 0;
    f->function = (cpubind_function *)cpubind_arena_take(
        r->arena, r->ascend->n_found + f->n_device, sizeof *f->function);
    if (!f->function)
        return facts_fail_memory(r);
    for (int32_t i = 0; i < r->ascend->n_found; i++) {
        if (r->ascend->found[i].type == type &&
            r->ascend->found[i].is_virtual == is_virtual_wanted)
            f->function[f->n_function++] = r->ascend->found[i].function;
    }
    f->n_census = f->n_function;
    return CPUBIND_PROBLEM_NONE;
}

/* == Functions of the NPUs in view ========================================== */

static int has_phy(const cpubind_function *function, int32_t phy)
{
    for (int32_t i = 0; i < CPUBIND_FUNCTION_DEVICES; i++)
        if (phy >= 0 && function->phy[i] == phy)
            return 1;
    return 0;
}

/* The function of an NPU by its address, else by its phy id; -1 when it is not known. */
static int32_t find_function(const cpubind_facts *f, const cpubind_viewed *npu)
{
    for (int32_t i = 0; i < f->n_function; i++)
        if (npu->pci.domain >= 0 ? cpubind_pci_compare(&f->function[i].pci, &npu->pci) == 0
                                 : has_phy(&f->function[i], npu->phy))
            return i;
    return -1;
}

/* Adds the function of an NPU whose address the bus lacks. */
static int32_t add_function(facts_reader *r, const cpubind_viewed *npu)
{
    cpubind_facts *f = r->facts;
    cpubind_function *function = &f->function[f->n_function];
    memset(function, 0, sizeof *function);
    function->pci = npu->pci;
    function->node = FACTS_NODE_UNKNOWN;
    function->n_device = 1;
    for (int32_t k = 0; k < CPUBIND_FUNCTION_DEVICES; k++)
        function->phy[k] = -1;
    if (f->n_census > 0)
        facts_note_difference(r, INPUT_INFO, INPUT_PCI, npu);
    return f->n_function++;
}

/* Whether a device of npu-smi info may be on a function: by its address; without one, on that
 * of another chip of its card, where a product has several on one function. */
static int may_be_on(const cpubind_facts *f, const cpubind_npusmi_device *device, int32_t i)
{
    if (device->pci.domain >= 0)
        return cpubind_pci_compare(&device->pci, &f->function[i].pci) == 0;
    for (int32_t k = 0; k < f->n_device && cpubind_product_of(f->type)->has_pairs; k++)
        if (f->device[k].function == i && f->device[k].card == device->card)
            return 1;
    return 0;
}

/* Counts the NPUs of each function that npu-smi info lists and npu-smi info -m has lost. */
static void count_lost(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    for (int32_t i = 0; i < f->n_function && r->ascend->info_status == CPUBIND_TEXT_OK; i++) {
        int32_t n = f->function[i].n_in_view;
        for (int32_t d = 0; d < r->ascend->info.n_device; d++)
            n += !facts_has_npu_of(f, &r->ascend->info.device[d]) &&
                 may_be_on(f, &r->ascend->info.device[d], i);
        if (n > f->function[i].n_device)
            f->function[i].n_device = n;
    }
}

/* Takes a function without NPUs in view to have as many as those of the same PCI device id that
 * have some, unless the driver's mailboxes have told. */
static void count_hidden(cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_function; i++) {
        cpubind_function *function = &f->function[i];
        for (int32_t k = 0; k < f->n_function; k++)
            if (function->n_in_view == 0 && function->phy[0] < 0 &&
                f->function[k].device_id == function->device_id &&
                f->function[k].n_in_view > 0 && f->function[k].n_device > function->n_device)
                function->n_device = f->function[k].n_device;
    }
}

/* Whether an NPU before this one has its function and its phy id: both are parts of one NPU
 * that the driver has split. */
static int is_part_of_another(const cpubind_facts *f, int32_t npu)
{
    for (int32_t i = 0; i < npu; i++)
        if (f->device[i].function == f->device[npu].function && f->device[npu].phy >= 0 &&
            f->device[i].phy == f->device[npu].phy)
            return 1;
    return 0;
}

void cpubind_priv_attach_functions(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    for (int32_t i = 0; i < f->n_function; i++)
        f->function[i].n_in_view = 0;
    for (int32_t i = 0; i < f->n_device; i++) {
        cpubind_viewed *npu = &f->device[i];
        cpubind_function *function;
        npu->function = find_function(f, npu);
        if (npu->function < 0 && npu->pci.domain >= 0)
            npu->function = add_function(r, npu);
        if (npu->function < 0)
            continue;
        function = &f->function[npu->function];
        npu->pci = function->pci;
        if (is_part_of_another(f, i))
            continue;
        if (++function->n_in_view > function->n_device)
            function->n_device = function->n_in_view;
    }
    count_lost(r);
    count_hidden(f);
}

/* == Near CPUs ============================================================== */

/* Takes the online CPUs of a node as near a function. */
static cpubind_problem_code take_node(facts_reader *r, cpubind_function *function, int32_t node)
{
    function->is_near_known = 1;
    return facts_list_node(r, node, &function->cpu, &function->n_cpu);
}

/* Reads the node of a function and the CPUs near it. For a function on no node the kernel lists
 * all CPUs, which tells nothing; without a list the CPUs are those of the node. */
static cpubind_problem_code read_near(facts_reader *r, cpubind_function *function)
{
    facts_local_cpus near;
    cpubind_problem_code code =
        facts_read_number(r, facts_function_path(r, &function->pci, "numa_node"),
                          FACTS_NODE_UNKNOWN, &function->node);
    if (code != CPUBIND_PROBLEM_NONE || function->node == FACTS_NODE_NONE)
        return code;
    code = cpubind_priv_read_local_cpus(r, &function->pci, &near);
    if (code != CPUBIND_PROBLEM_NONE || near.is_everywhere)
        return code;
    if (near.n >= 0) {
        function->cpu = near.cpu;
        function->n_cpu = near.n;
        function->is_near_known = 1;
    } else if (function->node >= 0 && !(r->facts->warnings & CPUBIND_WARNS(NO_NODES))) {
        code = take_node(r, function, function->node);
    }
    return code;
}

/* Gives node 0 to the functions that are on no node, as npu-smi does, when the kernel names the
 * CPUs near some other function of the host. */
static cpubind_problem_code take_node_0(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    int32_t n_known = 0;
    for (int32_t i = 0; i < f->n_census; i++)
        n_known += f->function[i].n_cpu > 0;
    for (int32_t i = 0; n_known > 0 && code == CPUBIND_PROBLEM_NONE && i < f->n_census; i++) {
        if (f->function[i].node != FACTS_NODE_NONE)
            continue;
        code = take_node(r, &f->function[i], 0);
        facts_warn(r, CPUBIND_WARNING_NO_NUMA_NODE);
    }
    return code;
}

cpubind_problem_code cpubind_priv_read_near(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    for (int32_t i = 0; i < f->n_function; i++) {
        cpubind_problem_code code = read_near(r, &f->function[i]);
        if (code == CPUBIND_PROBLEM_NO_MEMORY)
            return code;
        if (code == CPUBIND_PROBLEM_NONE)
            continue;
        if (f->function[i].n_in_view < f->function[i].n_device || !facts_has_lists(r, i))
            return code;
        cpubind_problem_clear(r->problem);
    }
    return take_node_0(r);
}

/* The same for hidden functions, when npu-smi names the CPUs near an NPU in view. */
cpubind_problem_code cpubind_priv_take_node_0(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    for (int32_t i = 0; code == CPUBIND_PROBLEM_NONE && i < f->n_function; i++) {
        cpubind_function *function = &f->function[i];
        if (function->node != FACTS_NODE_NONE || function->n_cpu > 0 ||
            function->n_in_view == function->n_device)
            continue;
        code = take_node(r, function, 0);
        facts_warn(r, CPUBIND_WARNING_NO_NUMA_NODE);
    }
    return code;
}

/* Finds the functions of the NPUs in view, by the addresses of npu-smi info or by the
 * mailboxes, and the CPUs near them. Slices are cut without them: they tell how good the slices
 * are, and no fault of an input is a problem. */
cpubind_problem_code cpubind_priv_read_locality(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    for (int32_t i = 0; i < f->n_device && f->n_census > 0; i++) {
        cpubind_viewed npu = f->device[i];
        for (int32_t d = 0;
             d < r->ascend->info.n_device && r->ascend->info_status == CPUBIND_TEXT_OK; d++)
            if (npu.pci.domain < 0 && facts_is_device_of(&r->ascend->info.device[d], &npu))
                npu.pci = r->ascend->info.device[d].pci;
        if (npu.function < 0)
            f->device[i].function = find_function(f, &npu);
    }
    for (int32_t i = 0; i < f->n_census; i++) {
        if (!f->function[i].is_near_known &&
            read_near(r, &f->function[i]) == CPUBIND_PROBLEM_NO_MEMORY)
            return CPUBIND_PROBLEM_NO_MEMORY;
        cpubind_problem_clear(r->problem);
    }
    return CPUBIND_PROBLEM_NONE;
}
