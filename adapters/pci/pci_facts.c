/* pci_facts.c - the accelerators and network cards of a host, and the CPUs near each
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. The bus is read once for the ids of
 * all functions; the rest is read of those that were asked for.
 */
#include "nvidia_files.h"
#include "pci_reader.h"
#include "visible_devices.h"

enum { NVIDIA_VENDOR = 0x10de, NETWORK_CLASS = 0x02 };

/* == Ids ==================================================================== */

/* Whether the NVIDIA driver lists a function. */
static int is_driven(const pci_reader *r, const cpubind_pci_address *pci)
{
    cpubind_slice name;
    int32_t at = 0;
    while (pci_next_name(r->driven, &at, &name)) {
        cpubind_pci_address driven;
        if (cpubind_pci_parse(r->driven.data + name.at, name.len, &driven, NULL) ==
                CPUBIND_TEXT_OK &&
            cpubind_pci_compare(&driven, pci) == 0)
            return 1;
    }
    return 0;
}

/* Reads the ids of a function. *whole_class has all six digits of its class; -1: not known. */
static cpubind_pci_status read_ids(pci_reader *r, const cpubind_pci_address *pci,
                                   cpubind_pci_ids *ids, int32_t *whole_class)
{
    cpubind_pci_status status =
        pci_read_number(r, pci_function_path(r, pci, "class"), -1, whole_class);
    ids->class_code = *whole_class < 0 ? -1 : *whole_class >> 8;
    ids->vendor = ids->device = -1;
    r->has_classes |= *whole_class >= 0;
    if (status == CPUBIND_PCI_OK)
        status = pci_read_number(r, pci_function_path(r, pci, "vendor"), -1, &ids->vendor);
    if (status == CPUBIND_PCI_OK && ids->vendor < 0 && is_driven(r, pci))
        ids->vendor = NVIDIA_VENDOR;
    if (status == CPUBIND_PCI_OK)
        status = pci_read_number(r, pci_function_path(r, pci, "device"), -1, &ids->device);
    return status;
}

/* The bus below a bridge: its file, else the bus of the first function in its folder. */
static cpubind_pci_status read_secondary(pci_reader *r, cpubind_pci_bridge *bridge)
{
    const char *name = pci_function_path(r, &bridge->pci, "secondary_bus_number");
    char *folder =
        name ? (char *)cpubind_arena_take(r->arena, (int32_t)strlen(name) + 1, 1) : NULL;
    cpubind_pci_status status = pci_read_number(r, name, -1, &bridge->secondary);
    cpubind_input listing;
    cpubind_slice part;
    int32_t at = 0;
    if (status != CPUBIND_PCI_OK || bridge->secondary >= 0)
        return status;
    if (!folder)
        return CPUBIND_PCI_NO_MEMORY;
    memcpy(folder, name, strlen(name) + 1);
    folder[strlen(name) - sizeof "secondary_bus_number"] = '\0';
    listing = r->source->list(r->source->ctx, folder);
    while (pci_next_name(listing, &at, &part) && bridge->secondary < 0) {
        cpubind_pci_address below;
        if (cpubind_pci_parse(listing.data + part.at, part.len, &below, NULL) ==
                CPUBIND_TEXT_OK &&
            below.domain == bridge->pci.domain)
            bridge->secondary = below.bus;
    }
    return CPUBIND_PCI_OK;
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
    return function->accelerator.family != CPUBIND_FAMILY_OTHER;
}

/* Inserts a function by its address. */
static void insert(cpubind_pci_function *array, int32_t *n,
                   const cpubind_pci_function *function)
{
    int32_t i = (*n)++;
    for (; i > 0 && cpubind_pci_compare(&function->pci, &array[i - 1].pci) < 0; i--)
        array[i] = array[i - 1];
    array[i] = *function;
}

static cpubind_pci_status take_function(pci_reader *r, const cpubind_pci_address *pci)
{
    cpubind_pci_facts *f = r->facts;
    cpubind_pci_function function;
    int32_t whole_class;
    cpubind_pci_status status;
    memset(&function, 0, sizeof function);
    function.pci = *pci;
    function.numa_node = function.node = function.memory_node = function.root_bus = -1;
    function.is_driven = -1;
    function.via.domain = -1;
    status = read_ids(r, pci, &function.ids, &whole_class);
    if (status != CPUBIND_PCI_OK)
        return status;
    if (function.ids.class_code == CPUBIND_CLASS_BRIDGE) {
        cpubind_pci_bridge *bridge = &f->bridge[f->n_bridge++];
        bridge->pci = *pci;
        status = read_secondary(r, bridge);
    }
    function.accelerator = cpubind_accelerator_of(&function.ids, r->request->ascend);
    if (is_asked_for(r->request, &function, whole_class))
        insert(f->device, &f->n_device, &function);
    else if (r->request->wants_nics && function.ids.class_code >> 8 == NETWORK_CLASS)
        insert(f->nic, &f->n_nic, &function);
    return status;
}

static cpubind_pci_status check_named(pci_reader *r)
{
    for (int32_t i = 0; i < r->request->n_named; i++) {
        const cpubind_pci_address *named = &r->request->named[i];
        int is_there = 0;
        for (int32_t k = 0; k < r->facts->n_device && !is_there; k++)
            is_there = cpubind_pci_compare(&r->facts->device[k].pci, named) == 0;
        if (is_there)
            continue;
        r->fault->pci = *named;
        r->fault->what = "the bus has no such function";
        return CPUBIND_PCI_NO_FUNCTION;
    }
    return CPUBIND_PCI_OK;
}

static cpubind_pci_status read_bus(pci_reader *r)
{
    cpubind_pci_facts *f = r->facts;
    const cpubind_input listing = r->source->list(r->source->ctx, INPUT_BUS);
    const int32_t n = pci_count_names(listing);
    cpubind_pci_status status = pci_judge(r, INPUT_BUS, listing);
    cpubind_slice name;
    int32_t at = 0;
    f->has_bus = pci_is_present(listing);
    f->device = (cpubind_pci_function *)cpubind_arena_take(r->arena, n, sizeof *f->device);
    f->nic = (cpubind_pci_function *)cpubind_arena_take(r->arena, n, sizeof *f->nic);
    f->bridge = (cpubind_pci_bridge *)cpubind_arena_take(r->arena, n, sizeof *f->bridge);
    if (!f->device || !f->nic || !f->bridge)
        return CPUBIND_PCI_NO_MEMORY;
    while (status == CPUBIND_PCI_OK && pci_next_name(listing, &at, &name)) {
        cpubind_pci_address pci;
        if (cpubind_pci_parse(listing.data + name.at, name.len, &pci, NULL) == CPUBIND_TEXT_OK)
            status = take_function(r, &pci);
    }
    return status == CPUBIND_PCI_OK ? check_named(r) : status;
}

/* == More of a device ======================================================= */

/* Whether a function is a virtual one: the kernel links it to its physical function. The link
 * leads to a folder, so any answer but ABSENT says that it is there. */
static cpubind_pci_status read_virtual(pci_reader *r, cpubind_pci_function *function)
{
    const char *name = pci_function_path(r, &function->pci, "physfn");
    if (!name)
        return CPUBIND_PCI_NO_MEMORY;
    function->is_virtual =
        r->source->read(r->source->ctx, name).state != CPUBIND_INPUT_ABSENT ||
        r->source->list(r->source->ctx, name).state != CPUBIND_INPUT_ABSENT;
    return pci_read_number(r, pci_function_path(r, &function->pci, "sriov_numvfs"), 0,
                           &function->n_virtual);
}

/* Takes the value of a key of a file of the NVIDIA driver; an empty one counts as none. */
static cpubind_pci_status take_value(pci_reader *r, const char *name, cpubind_input answer,
                                     const char *key, const char **out, int32_t *out_len)
{
    cpubind_slice value;
    cpubind_text_fault fault;
    const cpubind_text_status status =
        cpubind_nvidia_find(answer.data, answer.len, key, &value, &fault);
    if (status == CPUBIND_TEXT_ERR_MISSING || (status == CPUBIND_TEXT_OK && value.len == 0))
        return CPUBIND_PCI_OK;
    if (status != CPUBIND_TEXT_OK)
        return pci_fail(r, name, answer, fault.offset, fault.what);
    *out = answer.data + value.at;
    *out_len = value.len;
    return CPUBIND_PCI_OK;
}

/* Reads numa_status, which the driver has where the memory of a GPU is a node. */
static cpubind_pci_status read_memory_node(pci_reader *r, cpubind_pci_function *function,
                                           const char *address)
{
    const char *name = pci_path(r, INPUT_NVIDIA, address, "numa_status");
    const char *text = NULL;
    int32_t len = 0;
    cpubind_input answer;
    cpubind_text_fault fault;
    cpubind_pci_status status = pci_ask(r, name, &answer);
    if (status == CPUBIND_PCI_OK && pci_is_present(answer))
        status = take_value(r, name, answer, "Node", &text, &len);
    if (status == CPUBIND_PCI_OK && text &&
        cpubind_number_parse(text, len, &function->memory_node, &fault) != CPUBIND_TEXT_OK)
        return pci_fail(r, name, answer, (int32_t)(text - answer.data) + fault.offset,
                        fault.what);
    return status;
}

/* Reads the files of the NVIDIA driver of a GPU. */
static cpubind_pci_status read_driver(pci_reader *r, cpubind_pci_function *function)
{
    char address[CPUBIND_PCI_ADDRESS_MAX];
    const char *name;
    cpubind_input answer;
    cpubind_pci_status status;
    if (function->accelerator.family != CPUBIND_FAMILY_NVIDIA || !pci_is_present(r->driven))
        return CPUBIND_PCI_OK;
    function->is_driven = is_driven(r, &function->pci);
    if (!function->is_driven)
        return CPUBIND_PCI_OK;
    (void)cpubind_pci_format(address, &function->pci);
    name = pci_path(r, INPUT_NVIDIA, address, "information");
    status = pci_ask(r, name, &answer);
    if (status == CPUBIND_PCI_OK && pci_is_present(answer))
        status = take_value(r, name, answer, "Model", &function->model, &function->model_len);
    if (status == CPUBIND_PCI_OK && pci_is_present(answer))
        status = take_value(r, name, answer, "GPU UUID", &function->uuid, &function->uuid_len);
    if (!cpubind_is_gpu_uuid(function->uuid, function->uuid_len))
        function->uuid = NULL;
    return status == CPUBIND_PCI_OK ? read_memory_node(r, function, address) : status;
}

/* Takes the first name in a folder of a network card: infiniband before net. */
static cpubind_pci_status read_interface(pci_reader *r, cpubind_pci_function *function)
{
    static const char *const folders[] = {"infiniband", "net"};
    if (function->ids.class_code >> 8 != NETWORK_CLASS)
        return CPUBIND_PCI_OK;
    for (int i = 0; i < 2 && !function->interface; i++) {
        const char *name = pci_function_path(r, &function->pci, folders[i]);
        cpubind_input listing;
        cpubind_slice part;
        int32_t at = 0;
        if (!name)
            return CPUBIND_PCI_NO_MEMORY;
        listing = r->source->list(r->source->ctx, name);
        if (pci_next_name(listing, &at, &part)) {
            function->interface = listing.data + part.at;
            function->interface_len = part.len;
        }
    }
    return CPUBIND_PCI_OK;
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

static cpubind_pci_status compare_all(cpubind_pci_facts *f, cpubind_arena *arena)
{
    if (f->n_nic > 0 && f->n_device > INT32_MAX / 4 / f->n_nic)
        return CPUBIND_PCI_NO_MEMORY;
    f->nearness = cpubind_arena_ints(arena, f->n_device * f->n_nic);
    if (!f->nearness)
        return CPUBIND_PCI_NO_MEMORY;
    for (int32_t i = 0; i < f->n_device; i++)
        for (int32_t k = 0; k < f->n_nic; k++)
            f->nearness[i * f->n_nic + k] = (int32_t)nearness_of(&f->device[i], &f->nic[k]);
    return CPUBIND_PCI_OK;
}

/* == For the core =========================================================== */

static cpubind_pci_status make_devices(cpubind_pci_facts *f, cpubind_arena *arena)
{
    int32_t *row = cpubind_arena_ints(arena, f->n_device + 1);
    int32_t *node = cpubind_arena_ints(arena, f->n_device);
    int32_t *cpu, n = 0;
    for (int32_t i = 0; i < f->n_device; i++) {
        if (n > INT32_MAX / 8 - f->device[i].n_cpu)
            return CPUBIND_PCI_NO_MEMORY;
        n += f->device[i].n_cpu;
    }
    cpu = cpubind_arena_ints(arena, n);
    if (!row || !node || !cpu)
        return CPUBIND_PCI_NO_MEMORY;
    row[0] = 0;
    for (int32_t i = 0; i < f->n_device; i++) {
        const cpubind_pci_function *device = &f->device[i];
        if (device->n_cpu > 0)
            memcpy(cpu + row[i], device->cpu, (size_t)device->n_cpu * sizeof *cpu);
        row[i + 1] = row[i] + device->n_cpu;
        node[i] = device->node;
    }
    f->devices.affinity.cpu = cpu;
    f->devices.affinity.row = row;
    f->devices.affinity.n = f->n_device;
    f->devices.node = node;
    return CPUBIND_PCI_OK;
}

/* == The reading ============================================================ */

static cpubind_pci_status read_functions(pci_reader *r, cpubind_pci_function *function,
                                         int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        cpubind_pci_status status = read_virtual(r, &function[i]);
        if (status == CPUBIND_PCI_OK)
            status = read_driver(r, &function[i]);
        if (status == CPUBIND_PCI_OK)
            status = read_interface(r, &function[i]);
        if (status == CPUBIND_PCI_OK)
            status = cpubind_priv_pci_read_near(r, &function[i]);
        if (status != CPUBIND_PCI_OK)
            return status;
    }
    return CPUBIND_PCI_OK;
}

cpubind_pci_status cpubind_pci_read(const cpubind_source *source,
                                    const cpubind_pci_request *request, cpubind_arena *arena,
                                    cpubind_pci_facts *out, cpubind_pci_fault *fault)
{
    pci_reader r = {.source = source, .request = request, .arena = arena, .facts = out};
    cpubind_pci_status status;
    r.fault = fault;
    memset(out, 0, sizeof *out);
    out->is_part = request->n_named > 0 || request->class_digits > 0;
    memset(fault, 0, sizeof *fault);
    fault->offset = -1;
    fault->pci.domain = -1;
    if (request->no_bus && request->own_cpu)
        return cpubind_priv_pci_read_ids(&r);
    status = cpubind_priv_pci_read_nodes(&r);
    if (status == CPUBIND_PCI_OK)
        status = cpubind_priv_pci_read_allowed(&r);
    if (status != CPUBIND_PCI_OK || request->no_bus)
        return status;
    r.driven = source->list(source->ctx, INPUT_NVIDIA);
    status = pci_judge(&r, INPUT_NVIDIA, r.driven);
    if (status == CPUBIND_PCI_OK)
        status = read_bus(&r);
    if (status == CPUBIND_PCI_OK)
        status = read_functions(&r, out->device, out->n_device);
    if (status == CPUBIND_PCI_OK)
        status = read_functions(&r, out->nic, out->n_nic);
    if (status == CPUBIND_PCI_OK)
        status = compare_all(out, arena);
    if (status == CPUBIND_PCI_OK)
        status = make_devices(out, arena);
    return status == CPUBIND_PCI_OK ? cpubind_priv_pci_read_sight(&r) : status;
}

/* == Words ================================================================== */

const char *cpubind_node_origin_word(cpubind_node_origin origin)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_NODE_ORIGIN_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return (uint32_t)origin < CPUBIND_NODE_ORIGIN_COUNT ? words[origin] : words[0];
}

const char *cpubind_nearness_word(cpubind_nearness nearness)
{
#define CPUBIND_X(name, word) word,
    static const char *const words[] = {CPUBIND_NEARNESS_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return words[(uint32_t)nearness < CPUBIND_NEARNESS_COUNT ? nearness
                                                             : CPUBIND_NEARNESS_UNKNOWN];
}
