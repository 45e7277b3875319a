/* facts_census.c - which functions of the bus are NPUs of the host, and what each has of them
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. A container sees the whole bus, so
 * what this file reads is the same in every process of a host; it must not depend on what
 * npu-smi shows to this process. The files are those of the kernel's sysfs-bus-pci
 * documentation.
 */
#include "ascend_reader.h"

static int is_npu(const cpubind_host_device *function)
{
    return function->accelerator.vendor == CPUBIND_VENDOR_ASCEND;
}

/* == The product ============================================================ */

static cpubind_device_type type_of(const cpubind_host_device *function)
{
    return is_npu(function) ? cpubind_type_of_pci(function->ids.device) : CPUBIND_TYPE_AUTO;
}

static int32_t count_found(const cpubind_facts *f, cpubind_device_type type, int is_virtual)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->n_bus; i++)
        n += is_npu(&f->bus[i]) && type_of(&f->bus[i]) == type &&
             f->bus[i].is_virtual == is_virtual;
    return n;
}

cpubind_device_type cpubind_priv_type_on_bus(const facts_reader *r)
{
    cpubind_device_type type = CPUBIND_TYPE_AUTO;
    for (int32_t i = 0; i < r->facts->n_bus; i++) {
        const cpubind_device_type one = type_of(&r->facts->bus[i]);
        if (one == CPUBIND_TYPE_AUTO)
            continue;
        if (type != CPUBIND_TYPE_AUTO && one != type)
            return CPUBIND_TYPE_AUTO;
        type = one;
    }
    return type;
}

/* Chooses the functions of the product. One PCI id may belong to two products: when the bus has
 * none of this product and a single other one, that is the one. Virtual functions count where
 * there are no physical ones, in a virtual machine. The list gets room for NPUs that the bus
 * lacks. */
cpubind_problem_code cpubind_priv_choose_functions(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_host_device *old = f->bus;
    const int32_t room = f->n_bus + f->n_device;
    cpubind_device_type type = f->type;
    int32_t is_virtual_wanted;
    if (count_found(f, type, 0) + count_found(f, type, 1) == 0)
        type = cpubind_priv_type_on_bus(r);
    is_virtual_wanted = count_found(f, type, 0) == 0;
    f->bus = (cpubind_host_device *)cpubind_arena_take(r->arena, room, sizeof *f->bus);
    f->counted = cpubind_arena_ints(r->arena, room);
    if (!f->bus || !f->counted)
        return facts_fail_memory(r);
    if (f->n_bus > 0)
        memcpy(f->bus, old, (size_t)f->n_bus * sizeof *old);
    f->n_counted = 0;
    for (int32_t i = 0; i < f->n_bus; i++) {
        cpubind_host_device *function = &f->bus[i];
        const int is_taken = is_npu(function) && type_of(function) == type &&
                             function->is_virtual == is_virtual_wanted;
        if (is_taken)
            f->counted[f->n_counted++] = i;
        function->n_device = !is_taken ? 0 : function->n_device > 0 ? function->n_device : 1;
    }
    f->n_census = f->n_counted;
    return CPUBIND_PROBLEM_NONE;
}

/* == Functions of the NPUs in view ========================================== */

/* The row of an NPU by its address, else by its phy id; of a virtual function that of its card;
 * -1 when it is not known. */
static int32_t find_function(const cpubind_facts *f, cpubind_pci_address pci, int32_t phy)
{
    const int32_t on_bus = pci.domain < 0 ? -1 : cpubind_facts_on_bus(f, &pci);
    const int32_t card = on_bus < 0 ? -1 : f->bus[on_bus].parent;
    if (card >= 0 && f->bus[card].n_device > 0)
        return card;
    for (int32_t i = 0; i < f->n_counted; i++) {
        const cpubind_host_device *function = facts_npu(f, i);
        if (pci.domain >= 0 ? cpubind_pci_compare(&function->pci, &pci) == 0
                            : facts_has_phy(function, phy))
            return f->counted[i];
    }
    return -1;
}

/* Adds a row for an NPU whose address the bus lacks. */
static int32_t add_function(facts_reader *r, const cpubind_host_device *npu)
{
    cpubind_facts *f = r->facts;
    const int32_t row = f->n_bus + f->n_counted - f->n_census;
    f->bus[row] = facts_unknown_device();
    f->bus[row].pci = npu->pci;
    f->bus[row].accelerator.vendor = CPUBIND_VENDOR_ASCEND;
    f->bus[row].n_device = 1;
    if (f->n_census > 0)
        facts_note_difference(r, INPUT_INFO, INPUT_PCI, npu);
    f->counted[f->n_counted++] = row;
    return row;
}

/* Whether a device of npu-smi info may be on a function: by its address; without one, on that
 * of another chip of its card, where a product has several on one function. */
static int may_be_on(const cpubind_facts *f, const cpubind_npusmi_row *device, int32_t row)
{
    if (device->pci.domain >= 0)
        return cpubind_pci_compare(&device->pci, &f->bus[row].pci) == 0;
    for (int32_t k = 0; k < f->n_device && cpubind_product_of(f->type)->has_pairs; k++)
        if (f->device[k]->function == row && f->device[k]->card == device->card)
            return 1;
    return 0;
}

/* Counts the NPUs of each function that npu-smi info lists and npu-smi info -m has lost. */
static void count_lost(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_npusmi_rows *devices = &r->ascend->info.device;
    for (int32_t i = 0; i < f->n_counted; i++) {
        cpubind_host_device *function = facts_npu(f, i);
        int32_t n = function->n_in_view;
        for (int32_t d = 0; d < devices->n; d++)
            n += !facts_has_npu_of(f, &devices->row[d]) &&
                 may_be_on(f, &devices->row[d], f->counted[i]);
        if (n > function->n_device)
            function->n_device = n;
    }
}

/* Takes a function without NPUs in view to have as many as those of the same PCI device id that
 * have some, unless the driver's mailboxes have told. */
static void count_hidden(cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_counted; i++) {
        cpubind_host_device *function = facts_npu(f, i);
        for (int32_t k = 0; k < f->n_counted; k++) {
            const cpubind_host_device *other = facts_npu(f, k);
            if (function->n_in_view == 0 && function->phys[0] < 0 &&
                other->ids.device == function->ids.device && other->n_in_view > 0 &&
                other->n_device > function->n_device)
                function->n_device = other->n_device;
        }
    }
}

/* Whether an NPU before this one has its function, and both are virtual functions, or have one
 * phy id: both are parts of one NPU that the driver has split. */
static int is_part_of_another(const cpubind_facts *f, int32_t npu)
{
    for (int32_t i = 0; i < npu; i++)
        if (f->device[i]->function == f->device[npu]->function &&
            ((f->device[i]->is_part && f->device[npu]->is_part) ||
             (f->device[npu]->phy >= 0 && f->device[i]->phy == f->device[npu]->phy)))
            return 1;
    return 0;
}

/* Numbers the parts in view of a function that has no other functions for its parts. */
static void number_parts(cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_device; i++) {
        const int32_t function = f->device[i]->function;
        int32_t n = 0;
        for (int32_t k = 0; k < f->n_bus && function >= 0; k++)
            n -= f->bus[k].parent == function;
        if (!f->device[i]->is_part || function < 0 || n < 0)
            continue;
        for (int32_t k = 0; k < f->n_device; k++) {
            f->device[i]->part = k == i ? n : f->device[i]->part;
            n += f->device[k]->function == function && f->device[k]->is_part;
        }
        f->bus[function].n_part = n;
    }
}

/* The device id of a virtual function, which is its own also where the card is not shown, in a
 * virtual machine. A virtual NPU of another function shares that with those of its card. */
enum { OWN_FUNCTION = 0xd805 };

void cpubind_priv_attach_functions(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    for (int32_t i = 0; i < f->n_counted; i++)
        facts_npu(f, i)->n_in_view = 0;
    for (int32_t i = 0; i < f->n_device; i++) {
        cpubind_host_device *npu = f->device[i];
        cpubind_host_device *function;
        npu->function = find_function(f, npu->pci, npu->phy);
        if (npu->function < 0 && npu->pci.domain >= 0)
            npu->function = add_function(r, npu);
        if (npu->function < 0)
            continue;
        function = &f->bus[npu->function];
        if (npu->pci.domain >= 0 && cpubind_pci_compare(&npu->pci, &function->pci) != 0) {
            npu->is_part = 1;
            npu->part = f->bus[cpubind_facts_on_bus(f, &npu->pci)].part;
        } else {
            npu->is_part &= function->ids.device != OWN_FUNCTION;
            npu->pci = function->pci;
        }
        if (is_part_of_another(f, i))
            continue;
        if (++function->n_in_view > function->n_device)
            function->n_device = function->n_in_view;
    }
    number_parts(f);
    count_lost(r);
    count_hidden(f);
}

/* == Near CPUs ============================================================== */

/* Reads the CPUs near an NPU. A host without nodes has all CPUs near all, which tells less than
 * npu-smi may. The reference knows no bridges, no only node, and no node that stands for one
 * without CPUs. */
static cpubind_problem_code read_near(facts_reader *r, cpubind_host_device *function)
{
    const cpubind_problem_code code = cpubind_priv_read_near(r, function);
    if (r->facts->rules == CPUBIND_RULES_REFERENCE) {
        if (function->origin == CPUBIND_NODE_ORIGIN_BRIDGE ||
            function->origin == CPUBIND_NODE_ORIGIN_ONLY_NODE)
            function->origin = CPUBIND_NODE_ORIGIN_UNKNOWN;
        if (function->numa_node >= 0 && function->numa_node != function->node &&
            r->facts->has_nodes)
            function->n_cpu = 0;
    }
    if (!facts_is_near_known(r->facts, function)) {
        function->n_cpu = 0;
        function->node = -1;
    }
    return code;
}

/* Takes node 0 for a function on which the kernel has no node, as npu-smi does. */
static cpubind_problem_code take_node_0(facts_reader *r, cpubind_host_device *function)
{
    if (function->numa_node != -1 || function->origin != CPUBIND_NODE_ORIGIN_UNKNOWN ||
        function->n_cpu > 0)
        return CPUBIND_PROBLEM_NONE;
    function->origin = CPUBIND_NODE_ORIGIN_NPU_SMI;
    facts_warn(r, CPUBIND_WARNING_NO_NUMA_NODE);
    return facts_list_node(r, 0, &function->cpu, &function->n_cpu);
}

cpubind_problem_code cpubind_priv_take_node_0(facts_reader *r, int of_hidden_alone)
{
    cpubind_facts *f = r->facts;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    for (int32_t i = 0; code == CPUBIND_PROBLEM_NONE && i < f->n_counted; i++) {
        cpubind_host_device *function = facts_npu(f, i);
        if (!of_hidden_alone || function->n_in_view != function->n_device)
            code = take_node_0(r, function);
    }
    return code;
}

/* A file that cannot be read is no problem of a request for npu-smi alone, where that has the
 * CPUs near all NPUs of the function: other processes may have read it. */
cpubind_problem_code cpubind_priv_read_homes(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    for (int32_t i = 0; i < f->n_counted; i++) {
        cpubind_host_device *function = facts_npu(f, i);
        const cpubind_problem_code code = read_near(r, function);
        if (code == CPUBIND_PROBLEM_NO_MEMORY)
            return code;
        if (code == CPUBIND_PROBLEM_NONE)
            continue;
        if (r->request->origin != CPUBIND_ORIGIN_NPU_SMI ||
            function->n_in_view < function->n_device || !facts_has_lists(r, f->counted[i]))
            return code;
        cpubind_problem_clear(r->problem);
    }
    for (int32_t i = 0; i < f->n_census; i++)
        if (facts_npu(f, i)->n_cpu > 0)
            return cpubind_priv_take_node_0(r, 0);
    return CPUBIND_PROBLEM_NONE;
}

/* Finds the functions of the NPUs in view, by the addresses of npu-smi info or by the
 * mailboxes, and the CPUs near them. Slices are cut without them: they tell how good the slices
 * are, and no fault of an input is a problem. */
cpubind_problem_code cpubind_priv_read_locality(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    for (int32_t i = 0; i < f->n_device && f->n_census > 0; i++) {
        cpubind_host_device *npu = f->device[i];
        if (npu->function < 0)
            npu->function = find_function(
                f, npu->pci.domain < 0 ? cpubind_priv_info_address(r, npu) : npu->pci,
                npu->phy);
    }
    for (int32_t i = 0; i < f->n_census; i++) {
        cpubind_host_device *function = facts_npu(f, i);
        if (!facts_is_near_known(f, function) &&
            read_near(r, function) == CPUBIND_PROBLEM_NO_MEMORY)
            return CPUBIND_PROBLEM_NO_MEMORY;
        cpubind_problem_clear(r->problem);
    }
    return CPUBIND_PROBLEM_NONE;
}
