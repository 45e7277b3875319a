/* bus.c - the list of devices: the functions on the PCI bus, and the CPUs near each
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. Every file is one that each user may
 * read; no command runs and no driver is asked. The files are those of the kernel's
 * documentation of sysfs-bus-pci. The request says which functions are on the list; this file
 * must not decide which of them take part in a plan.
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
 *
 * THE CARD OF A VIRTUAL FUNCTION  physfn is a link, which a snapshot does not have: the card is
 * the last physical function of its vendor before it, in the order of addresses, as SR-IOV
 * numbers virtual functions on from their own.
 */
#include "facts_reader.h"

/* == Functions ============================================================== */

/* Steps to the next function that the listing of the PCI bus names; returns 0 at its end. */
static int next_function(cpubind_input listing, int32_t *at, cpubind_pci_address *out)
{
    cpubind_piece name;
    while (facts_next_name(listing, at, &name))
        if (cpubind_pci_parse(listing.data + name.at, name.len, out, NULL) == CPUBIND_TEXT_OK)
            return 1;
    return 0;
}

int cpubind_priv_is_driven(const facts_reader *r, const cpubind_vendor *vendor,
                           const cpubind_pci_address *pci)
{
    cpubind_input listing;
    cpubind_pci_address driven;
    int32_t at = 0;
    if (!vendor->driver.folder)
        return 0;
    listing = r->source->list(r->source->ctx, vendor->driver.folder);
    while (next_function(listing, &at, &driven))
        if (cpubind_pci_compare(&driven, pci) == 0)
            return 1;
    return 0;
}

/* Reads the ids of a function. Where its vendor has no row, the others are read only where the
 * bus is asked for. *whole_class has all six digits; -1: not known. */
static cpubind_problem_code read_ids(facts_reader *r, cpubind_host_device *function,
                                     int32_t *whole_class)
{
    const int by_class = r->request->bus != NULL;
    cpubind_pci_ids *ids = &function->ids;
    cpubind_telling_ids telling;
    cpubind_problem_code code = facts_read_number(
        r, facts_function_path(r, &function->pci, "vendor"), -1, &ids->vendor);
    *whole_class = ids->device = ids->class_code = -1;
    if (code != CPUBIND_PROBLEM_NONE)
        ids->vendor = -1; /* what was read of a number that is cut tells nothing */
    for (int i = 0; i < CPUBIND_VENDOR_COUNT && code == CPUBIND_PROBLEM_NONE && ids->vendor < 0;
         i++) {
        const cpubind_vendor *v = cpubind_vendor_of((cpubind_vendor_id)i);
        if (cpubind_priv_is_driven(r, v, &function->pci))
            ids->vendor = v->id;
    }
    telling = by_class ? CPUBIND_IDS_CLASS : cpubind_vendor_ids(ids->vendor);
    if (code != CPUBIND_PROBLEM_NONE || telling == CPUBIND_IDS_NONE)
        return code;
    code = facts_read_number(r, facts_function_path(r, &function->pci, "device"), -1,
                             &ids->device);
    if (code == CPUBIND_PROBLEM_NONE && telling == CPUBIND_IDS_CLASS)
        code = facts_read_number(r, facts_function_path(r, &function->pci, "class"), -1,
                                 whole_class);
    ids->class_code = *whole_class < 0 ? -1 : *whole_class >> 8;
    function->accelerator = cpubind_accelerator_of(ids);
    return code == CPUBIND_PROBLEM_NONE &&
                   (by_class || function->accelerator.vendor != CPUBIND_VENDOR_OTHER)
               ? facts_read_virtual(r, &function->pci, &function->is_virtual)
               : code;
}

/* Inserts a function into *n others, in the order of their addresses, unless it is there: a
 * copy of /sys may have a function by two names. The array has room for one more. */
static void insert(cpubind_host_device *list, int32_t *n, const cpubind_host_device *function)
{
    int32_t at = *n;
    int order = 1;
    while (at > 0 && (order = cpubind_pci_compare(&function->pci, &list[at - 1].pci)) < 0)
        at--;
    if (at > 0 && order == 0)
        return;
    memmove(list + at + 1, list + at, (size_t)(*n - at) * sizeof *list);
    list[at] = *function;
    ++*n;
}

static int is_named(const cpubind_pci_request *q, const cpubind_pci_address *pci)
{
    for (int32_t i = 0; i < q->n_named; i++)
        if (cpubind_pci_compare(&q->named[i], pci) == 0)
            return 1;
    return 0;
}

static int is_asked_for(const cpubind_pci_request *q, const cpubind_host_device *function,
                        int32_t whole_class)
{
    if (q && (q->n_named > 0 || q->class_digits > 0))
        return is_named(q, &function->pci) ||
               (q->class_digits > 0 && whole_class >= 0 &&
                whole_class >> (4 * (6 - q->class_digits)) == q->class_code);
    return function->accelerator.vendor != CPUBIND_VENDOR_OTHER;
}

/* Fails because a function lacks a file that the kernel gives to every function: it may be an
 * NPU. */
static cpubind_problem_code fail_without(facts_reader *r, const cpubind_host_device *function,
                                         const char *leaf)
{
    static const cpubind_input absent = {.state = CPUBIND_INPUT_ABSENT};
    const char *path = facts_function_path(r, &function->pci, leaf);
    return path ? facts_fail_input(r, path, absent, -1, "a function of the bus lacks this file")
                : facts_fail_memory(r);
}

/* Whether a function of a vendor id may be of the vendor whose inputs list its devices. */
static int is_listed_vendor(int32_t id)
{
    const cpubind_vendor *v = cpubind_vendor_of(cpubind_vendor_listed());
    return id < 0 || (v->name && v->name(id, -1)) || (v->id > 0 && v->id == id);
}

cpubind_card_kind cpubind_priv_card_kind(const cpubind_host_device *function)
{
    const int32_t class_code = function->ids.class_code;
    if (class_code == CPUBIND_CLASS_NVME)
        return CPUBIND_DISK;
    return class_code >> 8 == CPUBIND_CLASS_NETWORK ? CPUBIND_NIC : CPUBIND_CARD_KINDS;
}

/* Lists a function that is an accelerator, or asked for. What tells NPUs from other functions
 * must be there for whoever looks for NPUs. */
static cpubind_problem_code read_function(facts_reader *r, const cpubind_pci_address *pci)
{
    cpubind_facts *f = r->facts;
    const cpubind_pci_request *q = r->request->bus;
    cpubind_host_device function = facts_unknown_device();
    cpubind_card_kind kind;
    int32_t whole_class;
    cpubind_problem_code code;
    int may_be_listed;
    function.pci = *pci;
    code = read_ids(r, &function, &whole_class);
    may_be_listed = is_listed_vendor(function.ids.vendor);
    if (code != CPUBIND_PROBLEM_NONE)
        return may_be_listed ? code : facts_judge_other(r, code);
    if (function.ids.vendor < 0 || (function.ids.device < 0 && may_be_listed))
        code = facts_put_off(
            r, fail_without(r, &function, function.ids.vendor < 0 ? "vendor" : "device"),
            &r->unfit);
    function.is_asked = is_asked_for(q, &function, whole_class);
    kind = cpubind_priv_card_kind(&function);
    if (function.is_asked || function.accelerator.vendor != CPUBIND_VENDOR_OTHER)
        insert(f->bus, &f->n_bus, &function);
    else if (q && q->wants_nics && kind < CPUBIND_CARD_KINDS)
        insert(f->cards[kind].at, &f->cards[kind].n, &function);
    return code;
}

/* Finds the cards of virtual functions, and which part of it each is. */
static void find_parents(cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_bus; i++)
        for (int32_t k = i; f->bus[i].is_virtual && k >= 0 && f->bus[i].parent < 0; k--)
            if (!f->bus[k].is_virtual && f->bus[k].pci.domain == f->bus[i].pci.domain &&
                f->bus[k].accelerator.vendor == f->bus[i].accelerator.vendor)
                f->bus[i].parent = k;
    for (int32_t i = 0; i < f->n_bus; i++)
        if (f->bus[i].parent >= 0) {
            f->bus[i].is_part = 1;
            f->bus[i].part = f->bus[f->bus[i].parent].n_part++;
        }
}

cpubind_problem_code cpubind_priv_read_bus(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_input listing = r->source->list(r->source->ctx, INPUT_PCI);
    const int32_t n = facts_count_names(listing);
    const cpubind_pci_request *q = r->request->bus;
    cpubind_problem_code code = facts_judge(r, INPUT_PCI, listing);
    cpubind_pci_address pci;
    int32_t at = 0;
    f->has_bus = facts_is_present(listing);
    f->bus = (cpubind_host_device *)cpubind_arena_take(r->arena, n, sizeof *f->bus);
    for (int k = 0; k < CPUBIND_CARD_KINDS; k++) {
        f->cards[k].at = (cpubind_host_device *)cpubind_arena_take(
            r->arena, q && q->wants_nics ? n : 0, sizeof *f->bus);
        if (!f->bus || !f->cards[k].at)
            return facts_fail_memory(r);
    }
    while (code == CPUBIND_PROBLEM_NONE && next_function(listing, &at, &pci))
        code = read_function(r, &pci);
    find_parents(f);
    return code;
}

/* == Bridges ================================================================ */

/* The bus below a bridge: its file, else the bus of the first function in its folder. */
static cpubind_problem_code read_secondary(facts_reader *r, cpubind_pci_bridge *bridge)
{
    const char *name = facts_function_path(r, &bridge->pci, "secondary_bus_number");
    const char *folder = facts_function_path(r, &bridge->pci, "");
    cpubind_problem_code code = facts_read_number(r, name, -1, &bridge->secondary);
    cpubind_input listing;
    cpubind_pci_address below;
    int32_t at = 0;
    if (code != CPUBIND_PROBLEM_NONE || bridge->secondary >= 0)
        return code;
    if (!folder)
        return facts_fail_memory(r);
    listing = r->source->list(r->source->ctx, folder);
    while (bridge->secondary < 0 && next_function(listing, &at, &below))
        if (below.domain == bridge->pci.domain)
            bridge->secondary = below.bus;
    return CPUBIND_PROBLEM_NONE;
}

/* Lists the bridges, once: a host whose functions all know their nodes needs none. */
static cpubind_problem_code list_bridges(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_input listing = r->source->list(r->source->ctx, INPUT_PCI);
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    cpubind_pci_address pci;
    int32_t at = 0, class_code;
    if (f->bridge)
        return code;
    f->bridge = (cpubind_pci_bridge *)cpubind_arena_take(r->arena, facts_count_names(listing),
                                                         sizeof *f->bridge);
    if (!f->bridge)
        return facts_fail_memory(r);
    while (code == CPUBIND_PROBLEM_NONE && next_function(listing, &at, &pci)) {
        code = facts_read_number(r, facts_function_path(r, &pci, "class"), -1, &class_code);
        f->has_classes |= class_code >= 0;
        if (code != CPUBIND_PROBLEM_NONE || class_code >> 8 != CPUBIND_CLASS_BRIDGE)
            continue;
        f->bridge[f->n_bridge].pci = pci;
        code = read_secondary(r, &f->bridge[f->n_bridge++]);
    }
    return code;
}

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

cpubind_problem_code cpubind_priv_climb(facts_reader *r, cpubind_host_device *function)
{
    const cpubind_facts *f = r->facts;
    const cpubind_problem_code code = list_bridges(r);
    int32_t bus = function->pci.bus, n = 0, *bridge;
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
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
    function->root_bus = f->has_classes ? bus : -1;
    return CPUBIND_PROBLEM_NONE;
}

/* == Near CPUs ============================================================== */

/* What the kernel says of the place of a function or a bridge. */
typedef struct place {
    int32_t numa_node;  /* as the kernel prints it; -2: there is no such file */
    const int32_t *cpu; /* the online CPUs of its list, ascending */
    int32_t n_cpu;      /* 0: it has none, or all of a host with several nodes, which tells
                           nothing: the kernel lists them for a function on no node */
} place;

static cpubind_problem_code read_place(facts_reader *r, const cpubind_pci_address *pci,
                                       place *out)
{
    const cpubind_facts *f = r->facts;
    int32_t *cpu, n;
    cpubind_problem_code code =
        facts_read_number(r, facts_function_path(r, pci, "numa_node"), -2, &out->numa_node);
    out->n_cpu = 0;
    if (code == CPUBIND_PROBLEM_NONE)
        code = facts_read_cpus(r, facts_function_path(r, pci, "local_cpulist"),
                               cpubind_cpulist_parse, &cpu, &n);
    /* A copy of /sys may have the mask alone: hwloc-gather-topology keeps no list. */
    if (code == CPUBIND_PROBLEM_NONE && n < 0)
        code = facts_read_cpus(r, facts_function_path(r, pci, "local_cpus"),
                               cpubind_cpumask_parse, &cpu, &n);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    for (int32_t i = 0; i < n; i++)
        if (facts_is_online(f, cpu[i]))
            cpu[out->n_cpu++] = cpu[i];
    out->cpu = cpu;
    if (out->n_cpu == f->n_online && f->n_node > 1)
        out->n_cpu = 0;
    return code;
}

/* Takes what the kernel says of a function or a bridge, if it says something of use. A node
 * without CPUs stands for the nearest one with CPUs. */
static cpubind_problem_code take_place(facts_reader *r, cpubind_host_device *function,
                                       const place *from, cpubind_node_origin origin)
{
    const int32_t node =
        from->numa_node < 0 ? -1 : cpubind_facts_nearest_node(r->facts, from->numa_node);
    if (node < 0 && from->n_cpu == 0)
        return CPUBIND_PROBLEM_NONE;
    function->origin = origin;
    function->node = node >= 0 ? node : r->facts->node_of[from->cpu[0]];
    function->cpu = from->cpu;
    function->n_cpu = from->n_cpu;
    return from->n_cpu > 0
               ? CPUBIND_PROBLEM_NONE
               : facts_list_node(r, function->node, &function->cpu, &function->n_cpu);
}

/* Asks the bridges above a function, the nearest first. */
static cpubind_problem_code ask_bridges(facts_reader *r, cpubind_host_device *function)
{
    cpubind_problem_code code =
        function->bridge ? CPUBIND_PROBLEM_NONE : cpubind_priv_climb(r, function);
    for (int32_t i = 0; code == CPUBIND_PROBLEM_NONE && i < function->n_bridge &&
                        function->origin == CPUBIND_NODE_ORIGIN_UNKNOWN;
         i++) {
        place above;
        function->via = r->facts->bridge[function->bridge[i]].pci;
        code = read_place(r, &function->via, &above);
        if (code == CPUBIND_PROBLEM_NONE)
            code = take_place(r, function, &above, CPUBIND_NODE_ORIGIN_BRIDGE);
    }
    if (function->origin != CPUBIND_NODE_ORIGIN_BRIDGE)
        function->via.domain = -1;
    return code;
}

cpubind_problem_code cpubind_priv_read_near(facts_reader *r, cpubind_host_device *function)
{
    const cpubind_facts *f = r->facts;
    place own;
    cpubind_problem_code code = read_place(r, &function->pci, &own);
    function->origin = CPUBIND_NODE_ORIGIN_UNKNOWN;
    function->n_cpu = 0;
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    function->numa_node = own.numa_node;
    if (own.numa_node >= 0 ? f->has_nodes || own.n_cpu > 0 : f->n_node > 1)
        code = take_place(r, function, &own,
                          own.numa_node >= 0 ? CPUBIND_NODE_ORIGIN_DEVICE
                                             : CPUBIND_NODE_ORIGIN_LOCAL_CPUS);
    if (code != CPUBIND_PROBLEM_NONE || function->origin != CPUBIND_NODE_ORIGIN_UNKNOWN)
        return code;
    if (f->n_node > 1)
        return ask_bridges(r, function);
    function->origin = CPUBIND_NODE_ORIGIN_ONLY_NODE;
    function->node = f->node_id[0];
    return facts_list_node(r, function->node, &function->cpu, &function->n_cpu);
}

/* == Shares ================================================================= */

static int is_unnamed_display(const cpubind_host_device *function)
{
    return function->ids.class_code == CPUBIND_CLASS_VGA && !function->accelerator.product;
}

int32_t cpubind_facts_has_share(const cpubind_facts *f, int32_t device)
{
    const cpubind_host_device *function = &f->bus[device];
    int32_t k = 0;
    if (!is_unnamed_display(function) || (f->is_part && function->is_asked))
        return function->parent < 0;
    while (k < f->n_bus && (f->bus[k].accelerator.vendor == CPUBIND_VENDOR_OTHER ||
                            is_unnamed_display(&f->bus[k])))
        k++;
    return k == f->n_bus;
}

int32_t cpubind_facts_next_other(const cpubind_facts *f, int32_t row)
{
    while (row < f->n_bus && (cpubind_vendor_of(f->bus[row].accelerator.vendor)->users ||
                              !cpubind_facts_has_share(f, row)))
        row++;
    return row;
}

/* == Words ================================================================== */

const char *cpubind_node_origin_word(cpubind_node_origin origin)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_NODE_ORIGIN_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return (uint32_t)origin < CPUBIND_NODE_ORIGIN_COUNT ? words[origin] : words[0];
}
