/* pci_near.c - the bridges above a function, its node, and the CPUs near it
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. Every file is one that each user may
 * read; no command runs and no driver is asked. The files are those of the kernel's
 * documentation of sysfs-bus-pci.
 *
 * THE BRIDGES ABOVE A FUNCTION  A source has no links, so the way up is found by numbers: the
 * bridge above a function is that bridge of its domain whose secondary bus is the function's
 * bus (secondary_bus_number; on kernels before 4.13 the bus of a function that the folder of
 * the bridge lists). The bus on which the last bridge is, is the bus of the root complex.
 *
 * THE NODE OF A FUNCTION, by the first of these that tells it
 *   device       its numa_node
 *   local_cpus   its local_cpulist (or local_cpus), if that is not every online CPU
 *   bridge       numa_node or local_cpulist of the nearest bridge above it
 *   only_node    the host has one node with CPUs, or no nodes at all
 *   unknown      none of them: every CPU is as near as any other
 * A node without CPUs (the memory of Grace) stands for the node with CPUs at the smallest
 * distance, the first of several.
 */
#include "pci_reader.h"

/* == The bridges above ====================================================== */

/* The bridge above a bus; -1: none is, or none is known. A bridge is on a bus with a smaller
 * number than the bus below it, so that the way up ends. */
static int32_t bridge_above(const cpubind_facts *f, int32_t domain, int32_t bus)
{
    for (int32_t i = 0; i < f->n_bridge; i++)
        if (f->bridge[i].pci.domain == domain && f->bridge[i].secondary == bus &&
            f->bridge[i].pci.bus < bus)
            return i;
    return -1;
}

static cpubind_problem_code climb(facts_reader *r, cpubind_pci_function *function)
{
    const cpubind_facts *f = r->facts;
    int32_t bus = function->pci.bus, n = 0, *bridge;
    for (int32_t i = bridge_above(f, function->pci.domain, bus); i >= 0; n++)
        i = bridge_above(f, function->pci.domain, f->bridge[i].pci.bus);
    bridge = cpubind_arena_ints(r->arena, n);
    if (!bridge)
        return facts_fail_memory(r);
    for (int32_t k = 0; k < n; k++) {
        bridge[k] = bridge_above(f, function->pci.domain, bus);
        bus = f->bridge[bridge[k]].pci.bus;
    }
    function->bridge = bridge;
    function->n_bridge = n;
    function->root_bus = r->pci->has_classes ? bus : -1;
    return CPUBIND_PROBLEM_NONE;
}

/* == Near CPUs ============================================================== */

/* What the kernel says of the place of a function or a bridge. */
typedef struct locality {
    int32_t node; /* numa_node, or -1 */
    facts_local_cpus near;
    int has_near; /* its list has a CPU, and tells something */
} locality;

static cpubind_problem_code read_locality(facts_reader *r, const cpubind_pci_address *pci,
                                          locality *out)
{
    cpubind_problem_code status =
        facts_read_number(r, facts_function_path(r, pci, "numa_node"), -1, &out->node);
    if (status == CPUBIND_PROBLEM_NONE)
        status = cpubind_priv_read_local_cpus(r, pci, &out->near);
    out->has_near =
        status == CPUBIND_PROBLEM_NONE && out->near.n > 0 && !out->near.is_everywhere;
    return status;
}

/* Takes what the kernel says of a function or a bridge; *is_known stays 0 when it says nothing
 * of use. A node without CPUs stands for the nearest one with CPUs. */
static cpubind_problem_code take_locality(facts_reader *r, cpubind_pci_function *function,
                                          const locality *place, int *is_known)
{
    const int32_t node =
        place->node >= 0 ? cpubind_facts_nearest_node(r->facts, place->node) : -1;
    *is_known = node >= 0 || place->has_near;
    if (!*is_known)
        return CPUBIND_PROBLEM_NONE;
    function->node = node >= 0 ? node : r->facts->node_of[place->near.cpu[0]];
    if (!place->has_near)
        return facts_list_node(r, function->node, &function->cpu, &function->n_cpu);
    function->cpu = place->near.cpu;
    function->n_cpu = place->near.n;
    return CPUBIND_PROBLEM_NONE;
}

/* Asks the bridges above a function, the nearest first. */
static cpubind_problem_code ask_bridges(facts_reader *r, cpubind_pci_function *function)
{
    for (int32_t i = 0; i < function->n_bridge; i++) {
        const cpubind_pci_address *pci = &r->facts->bridge[function->bridge[i]].pci;
        locality place;
        int is_known = 0;
        cpubind_problem_code status = read_locality(r, pci, &place);
        if (status == CPUBIND_PROBLEM_NONE)
            status = take_locality(r, function, &place, &is_known);
        if (status != CPUBIND_PROBLEM_NONE || is_known) {
            function->origin = CPUBIND_NODE_ORIGIN_BRIDGE;
            function->via = *pci;
            return status;
        }
    }
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_priv_pci_read_near(facts_reader *r, cpubind_pci_function *function)
{
    const cpubind_facts *f = r->facts;
    locality place;
    int is_known = 0;
    cpubind_problem_code status = climb(r, function);
    if (status == CPUBIND_PROBLEM_NONE)
        status = read_locality(r, &function->pci, &place);
    if (status != CPUBIND_PROBLEM_NONE)
        return status;
    function->numa_node = place.node;
    if (place.node < 0 && f->host.n_node == 1) {
        function->origin = CPUBIND_NODE_ORIGIN_ONLY_NODE;
        function->node = f->host.node_id[0];
        return facts_list_node(r, function->node, &function->cpu, &function->n_cpu);
    }
    status = take_locality(r, function, &place, &is_known);
    if (status == CPUBIND_PROBLEM_NONE && is_known)
        function->origin =
            place.node >= 0 ? CPUBIND_NODE_ORIGIN_DEVICE : CPUBIND_NODE_ORIGIN_LOCAL_CPUS;
    if (status != CPUBIND_PROBLEM_NONE || is_known)
        return status;
    return ask_bridges(r, function);
}
