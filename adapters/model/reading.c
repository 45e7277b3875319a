/* reading.c - the one reading of a host: its CPUs and nodes, and the list of all its devices
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. The bus is read once, for the
 * functions of all vendors; then each vendor puts onto the list what its own inputs tell of its
 * devices: numbers, near CPUs, users, and which of them this process sees. This file decides
 * which devices take part in a plan. It must not know a vendor's inputs.
 */
#include "facts_reader.h"

/* Whether devices beside those that are asked for stay on the list. */
static int is_beside(const facts_reader *r)
{
    const cpubind_pci_request *q = r->request->bus;
    return !q || q->is_plan || q->is_host;
}

static int wants_cores(const facts_reader *r)
{
    return is_beside(r) || r->request->bus->wants_cores;
}

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

/* Lists the functions. Those that the request names are there. A bus that cannot be read is no
 * problem for a plan in which the NPUs of other processes have no part, when another input
 * tells the device type. */
static cpubind_problem_code list_functions(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_pci_request *q = r->request->bus;
    const cpubind_problem_code code = cpubind_priv_read_bus(r);
    for (int32_t i = 0; q && code == CPUBIND_PROBLEM_NONE && i < q->n_named; i++)
        if (cpubind_facts_on_bus(f, &q->named[i]) < 0) {
            r->problem->pci = q->named[i];
            return facts_fail(r, CPUBIND_PROBLEM_UNKNOWN_DEVICE,
                              "the bus has no such function");
        }
    if (code == CPUBIND_PROBLEM_UNREADABLE && facts_is_of_listed(r) &&
        f->scope == CPUBIND_SCOPE_OWN) {
        cpubind_problem_clear(r->problem);
        f->n_bus = 0;
        f->has_bus = -1;
        return CPUBIND_PROBLEM_NONE;
    }
    for (int32_t i = cpubind_facts_next_other(f, 0); i < f->n_bus && r->request->wants_others;
         i = cpubind_facts_next_other(f, i + 1))
        f->n_other++;
    return code;
}

/* == More of a device ======================================================= */

/* The folder of a card with the names of a kind; of a card of virtio it is below virtio<N>.
 * NULL when the arena is full. */
static const char *folder_of(facts_reader *r, const cpubind_pci_address *pci, const char *names)
{
    const char *own = facts_function_path(r, pci, "");
    cpubind_input listing = {.state = CPUBIND_INPUT_ABSENT};
    cpubind_piece part;
    int32_t at = 0;
    if (own)
        listing = r->source->list(r->source->ctx, own);
    while (facts_next_name(listing, &at, &part))
        if (facts_number_after("virtio", listing.data, part) >= 0)
            return facts_path(r, own, listing.data, part, names);
    return facts_function_path(r, pci, names);
}

/* Takes the first name in a folder of a card. */
static cpubind_problem_code read_name(facts_reader *r, const char *folder,
                                      cpubind_source_name *out)
{
    cpubind_input listing;
    cpubind_problem_code code;
    cpubind_piece part;
    int32_t at = 0;
    if (!folder)
        return facts_fail_memory(r);
    listing = r->source->list(r->source->ctx, folder);
    code = facts_judge(r, folder, listing);
    if (code == CPUBIND_PROBLEM_NONE && facts_next_name(listing, &at, &part))
        *out = (cpubind_source_name){listing.data + part.at, part.len};
    return code;
}

/* Takes the name of the bond that has the interface of a network card, by the link to it that
 * net/core/dev.c of Linux makes; bond_main.c gives it its type.
 *   in      folder: that has the interface */
static cpubind_problem_code read_bond(facts_reader *r, const char *folder,
                                      cpubind_host_device *nic)
{
    const cpubind_piece name = {0, nic->netdev.len};
    cpubind_input answer = {.state = CPUBIND_INPUT_ABSENT};
    const cpubind_problem_code code =
        facts_ask(r, facts_path(r, folder, nic->netdev.at, name, "master/uevent"), &answer);
    cursor_text of;
    const cursor all =
        cursor_open(&of, answer.data, answer.len, NULL, facts_is_present(answer));
    cursor type, bond;
    if (cursor_variable(all, "DEVTYPE", &type) && cursor_is(type, "bond") &&
        cursor_variable(all, "INTERFACE", &bond))
        nic->bond = (cpubind_source_name){bond.text + bond.at, cursor_len(&bond)};
    return code;
}

static cpubind_problem_code read_names(facts_reader *r, cpubind_host_device *function)
{
    const cpubind_card_kind kind = cpubind_priv_card_kind(function);
    const char *folder;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    if (kind == CPUBIND_DISK)
        return read_name(r, folder_of(r, &function->pci, "nvme"), &function->disk);
    if (kind != CPUBIND_NIC)
        return code;
    code = read_name(r, folder_of(r, &function->pci, "infiniband"), &function->rdma);
    folder = folder_of(r, &function->pci, "net");
    if (code == CPUBIND_PROBLEM_NONE)
        code = read_name(r, folder, &function->netdev);
    return code == CPUBIND_PROBLEM_NONE && function->netdev.at ? read_bond(r, folder, function)
                                                               : code;
}

cpubind_source_name cpubind_card_name(const cpubind_host_device *card)
{
    if (card->disk.at)
        return card->disk;
    return card->rdma.at ? card->rdma : card->netdev;
}

/* == How near two functions are ============================================= */

cpubind_nearness cpubind_nearness_of(const cpubind_host_device *a, const cpubind_host_device *b)
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

const cpubind_host_device *cpubind_facts_nearest(const cpubind_facts *f, int32_t row,
                                                 cpubind_card_kind kind)
{
    const cpubind_cards *cards = &f->cards[kind];
    const cpubind_host_device *best = NULL;
    for (int32_t k = 0; k < cards->n; k++)
        if (!best || cpubind_nearness_of(&f->bus[row], &cards->at[k]) <
                         cpubind_nearness_of(&f->bus[row], best))
            best = &cards->at[k];
    return best;
}

/* == The reading ============================================================ */

/* Reads what its driver tells of a function. */
static cpubind_problem_code read_driver(facts_reader *r, cpubind_host_device *function)
{
    const cpubind_vendor *v = cpubind_vendor_of(function->accelerator.vendor);
    if (v->driver.folder && facts_is_present(r->source->list(r->source->ctx, v->driver.folder)))
        function->is_driven = cpubind_priv_is_driven(r, v, &function->pci);
    return v->read && function->is_driven > 0 ? v->read(r, function) : CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code count_virtual(facts_reader *r, cpubind_host_device *function)
{
    return facts_read_number(r, facts_function_path(r, &function->pci, "sriov_numvfs"), 0,
                             &function->n_virtual);
}

/* The bridges are for who lists the bus, and tells how near network cards are. */
static cpubind_problem_code find_bridges(facts_reader *r, cpubind_host_device *function)
{
    const cpubind_pci_request *q = r->request->bus;
    return q && (q->wants_nics || !wants_cores(r)) ? cpubind_priv_climb(r, function)
                                                   : CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code read_function(facts_reader *r, cpubind_host_device *function)
{
    static cpubind_problem_code (*const steps[])(facts_reader *, cpubind_host_device *) = {
        cpubind_priv_read_near, count_virtual, read_driver, read_names, find_bridges};
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    for (size_t k = 0; k < sizeof steps / sizeof *steps && code == CPUBIND_PROBLEM_NONE; k++)
        code = steps[k](r, function);
    return facts_judge_other(r, code);
}

/* Reads more of all devices and cards, but for what a plan of NPUs leaves to their row. */
static cpubind_problem_code read_functions(facts_reader *r)
{
    const cpubind_facts *f = r->facts;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    for (int32_t i = 0; i < f->n_bus && code == CPUBIND_PROBLEM_NONE; i++)
        if (facts_is_of_listed(r)
                ? cpubind_vendor_of(f->bus[i].accelerator.vendor)->users == NULL
                : f->bus[i].is_asked || is_beside(r))
            code = read_function(r, &f->bus[i]);
    for (int kind = 0; kind < CPUBIND_CARD_KINDS; kind++)
        for (int32_t k = 0; k < f->cards[kind].n && code == CPUBIND_PROBLEM_NONE; k++)
            code = read_function(r, &f->cards[kind].at[k]);
    return code;
}

/* Takes the CPUs of the request, all of them as of the first node. */
static cpubind_problem_code take_own_cpus(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_pci_request *q = r->request->bus;
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

/* Makes the host for the core of CPUs, nodes and cores. The plan of NPUs says itself what it
 * needs of them. */
static cpubind_problem_code make_host(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    if (f->topology.code != CPUBIND_PROBLEM_NONE && !facts_is_of_listed(r)) {
        *r->problem = f->topology;
        return f->topology.code;
    }
    if (!cpubind_facts_topology(f, f->cpu, f->n_cpu, r->arena, &f->host))
        return facts_fail_memory(r);
    if (!f->has_nodes)
        f->host.socket = NULL;
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
    return is_beside(r) && f->n_bus > 0 && !f->is_part
               ? cpubind_priv_judge_step(r, n_visible, f->n_bus)
               : CPUBIND_PROBLEM_NONE;
}

/* Hides what was not asked for, which is beside what was. */
static void hide_others(facts_reader *r)
{
    for (int32_t i = 0; i < r->facts->n_bus; i++)
        if (!r->facts->bus[i].is_asked) {
            r->facts->bus[i].sight = CPUBIND_SIGHT_HIDDEN;
            r->facts->bus[i].n_number = 0;
        }
}

/* Reads what each device is, and what this process sees of it by its files and variables. */
static cpubind_problem_code read_devices(facts_reader *r)
{
    static cpubind_problem_code (*const steps[])(facts_reader *) = {
        check_drivers, read_functions, cpubind_priv_read_sight, judge_step};
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == CPUBIND_PROBLEM_NONE &&
                       (!facts_is_of_listed(r) || r->request->bus || r->facts->n_other > 0);
         i++)
        code = facts_judge_other(r, steps[i](r));
    hide_others(r);
    return code;
}

/* == The devices that are listed ============================================ */

/* Judges the request, and takes what the environment adds to it. */
static cpubind_problem_code judge_request(facts_reader *r)
{
    const char *fault = cpubind_priv_request_fault(r->request);
    cpubind_problem_code code =
        fault ? facts_fail(r, CPUBIND_PROBLEM_BAD_REQUEST, fault) : cpubind_priv_read_rules(r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_priv_check_strategy(r);
    return code == CPUBIND_PROBLEM_NONE ? cpubind_priv_read_origin(r) : code;
}

/* Finds the devices that are listed. What tells them from other functions must be there, but
 * for a plan in which those of other processes have no part. */
static cpubind_problem_code find_listed(facts_reader *r)
{
    cpubind_problem_code code = cpubind_priv_require_cpus(r);
    if (code == CPUBIND_PROBLEM_NONE && r->facts->scope != CPUBIND_SCOPE_OWN &&
        r->unfit.code != CPUBIND_PROBLEM_NONE) {
        *r->problem = r->unfit;
        code = r->unfit.code;
    }
    return code == CPUBIND_PROBLEM_NONE ? cpubind_priv_find_listed(r) : code;
}

/* Says of each function that is asked for which numbers its listed devices have, and whether
 * this process sees one. */
static void see_listed(cpubind_facts *f, cpubind_vendor_id id,
                       cpubind_host_device *const *device, int32_t n)
{
    for (int32_t i = 0; i < f->n_bus; i++) {
        cpubind_host_device *function = &f->bus[i];
        if (function->accelerator.vendor != id || !function->is_asked)
            continue;
        function->sight = CPUBIND_SIGHT_HIDDEN;
        for (int32_t k = 0; k < n; k++) {
            if (!device[k]->is_visible ||
                cpubind_pci_compare(&device[k]->pci, &function->pci) != 0)
                continue;
            function->sight = CPUBIND_SIGHT_VISIBLE;
            if (function->n_number < CPUBIND_PCI_NUMBERS)
                function->number[function->n_number++] = device[k]->logic;
        }
    }
}

/* Asks for the numbers of devices that are on the bus. Where nothing tells them, or no plan
 * takes them in beside others, they are devices of the bus alone. */
static cpubind_problem_code see_vendor(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_facts before = *f;
    const cpubind_vendor_id id = cpubind_vendor_listed();
    const cpubind_vendor *v = cpubind_vendor_of(id);
    cpubind_facts listed;
    cpubind_runtime_view *view = &f->runtime[id];
    cpubind_problem_code code = judge_request(r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = find_listed(r);
    listed = *f;
    if (code == CPUBIND_PROBLEM_NO_MEMORY)
        return code;
    if (code != CPUBIND_PROBLEM_NONE || !r->request->bus->is_plan ||
        !cpubind_facts_takes_others(f))
        *f = before;
    view->word = v->runtime;
    if (listed.visible) {
        view->variable[0] = v->variable[0];
        view->value[0] = listed.visible;
        view->value_len[0] = listed.visible_len;
    }
    view->has_order = code == CPUBIND_PROBLEM_NONE;
    if (!view->has_order) {
        view->why = "the logic ids of the NPUs are not known; cpubind plan says why";
        return CPUBIND_PROBLEM_NONE;
    }
    see_listed(f, id, listed.device, listed.n_listed);
    if (!r->request->bus->is_plan) {
        f->device = listed.device;
        f->n_device = f->n_listed = listed.n_listed;
    }
    return code;
}

/* Whether the list has a device of a vendor, asked for or beside those. */
static int has_vendor(const facts_reader *r, cpubind_vendor_id id)
{
    const cpubind_facts *f = r->facts;
    int32_t i = 0;
    while (i < f->n_bus &&
           (f->bus[i].accelerator.vendor != id || !(f->bus[i].is_asked || is_beside(r))))
        i++;
    return i < f->n_bus;
}

static cpubind_problem_code list_devices(facts_reader *r)
{
    if (facts_is_of_listed(r))
        return find_listed(r);
    return !r->request->bus->is_bus_alone && has_vendor(r, cpubind_vendor_listed())
               ? see_vendor(r)
               : CPUBIND_PROBLEM_NONE;
}

/* == Who takes part ========================================================= */

/* Leaves a device of which tiles are named these alone. */
static void keep_named_tiles(const cpubind_pci_request *q, cpubind_host_device *device)
{
    int32_t n = 0;
    for (int32_t k = 0; k < device->n_number; k++)
        for (int32_t i = 0; i < q->n_named; i++)
            if (q->tile[i] >= 0 && q->tile[i] == device->tile[k] &&
                cpubind_pci_compare(&q->named[i], &device->pci) == 0) {
                device->number[n] = device->number[k];
                device->tile[n++] = device->tile[k];
            }
    if (n > 0)
        device->n_number = n;
}

/* Leaves of the devices those that are named. A virtual function that is named is planned,
 * though its runtime shows the physical one in its place. */
static void keep_named(const cpubind_pci_request *q, cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_bus; i++) {
        cpubind_host_device *device = &f->bus[i];
        if (q->is_only) {
            device->sight = device->is_asked ? CPUBIND_SIGHT_VISIBLE : CPUBIND_SIGHT_HIDDEN;
            device->n_number = device->is_asked && q->tile[0] >= 0;
            device->number[0] = 0;
            device->tile[0] = q->tile[0];
            continue;
        }
        if (q->tile)
            keep_named_tiles(q, device);
        if (device->is_virtual && device->is_asked && q->n_named > 0 && q->class_digits == 0)
            device->sight = CPUBIND_SIGHT_VISIBLE;
    }
}

/* Takes the functions off the list that nobody has asked for. */
static cpubind_problem_code drop_others(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    int32_t *to = cpubind_arena_ints(r->arena, f->n_bus), n = 0;
    if (!to)
        return facts_fail_memory(r);
    for (int32_t i = 0; i < f->n_bus; i++) {
        cpubind_host_device *function = &f->bus[i];
        to[i] = function->is_asked ? n++ : -1;
        if (to[i] < 0)
            continue;
        function->parent = function->parent < 0 ? -1 : to[function->parent];
        f->bus[to[i]] = *function;
    }
    for (int32_t i = 0; i < f->n_device; i++)
        f->device[i]->function =
            f->device[i]->function < 0 || f->device[i]->function >= f->n_bus
                ? -1
                : to[f->device[i]->function];
    f->n_bus = n;
    for (int v = 0; v < CPUBIND_VENDOR_COUNT; v++)
        if (!has_vendor(r, (cpubind_vendor_id)v))
            f->runtime[v] = (cpubind_runtime_view){.word = NULL};
    return CPUBIND_PROBLEM_NONE;
}

/* Refuses facts in which the bus has a device that this process does not see, and the address
 * of one that it sees is not known: other processes order both by their addresses. */
static cpubind_problem_code check_addresses(facts_reader *r)
{
    const cpubind_facts *f = r->facts;
    int is_lost = 0, is_hidden = 0;
    for (int32_t i = 0; i < f->n_listed; i++)
        is_lost |= f->device[i]->function < 0;
    for (int32_t i = 0; i < f->n_bus; i++)
        is_hidden |= f->bus[i].is_other && f->bus[i].n_in_view < f->bus[i].n_device;
    if (!is_lost || !is_hidden || f->scope == CPUBIND_SCOPE_OWN ||
        f->scope == CPUBIND_SCOPE_PER_DEVICE)
        return CPUBIND_PROBLEM_NONE;
    *r->problem = f->unaddressed;
    if (f->unaddressed.code != CPUBIND_PROBLEM_NONE)
        return f->unaddressed.code;
    r->problem->input = INPUT_PCI;
    return facts_fail(r, CPUBIND_PROBLEM_UNREADABLE,
                      "it shows devices that this process does not see, and the address of "
                      "one that it sees is not known");
}

/* Gives the facts of a host without listed devices the rules of a plan. */
static cpubind_problem_code take_rules(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_problem_code code = cpubind_priv_read_rules(r);
    f->strategy = f->rules == CPUBIND_RULES_REFERENCE ? CPUBIND_TOPO_AFFINITY : CPUBIND_NEAR;
    f->has_affinity = 1;
    return code;
}

/* Whether devices of other vendors take part beside the NPUs: then a problem of theirs, which
 * is in *unread, is one of the plan. */
static int takes_others(const facts_reader *r, const cpubind_problem **unread)
{
    const cpubind_facts *f = r->facts;
    const cpubind_pci_request *q = r->request->bus;
    const int is_unread = f->unread_other.code != CPUBIND_PROBLEM_NONE;
    *unread = q && f->topology.code != CPUBIND_PROBLEM_NONE ? &f->topology : &f->unread_other;
    return q ? !q->is_plan || cpubind_facts_takes_others(f)
             : r->request->wants_others && cpubind_facts_takes_others(f) &&
                   (f->n_other > 0 || is_unread);
}

/* Lets the devices take part in the plan, in the order of their ranks. */
static cpubind_problem_code take_part(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_pci_request *q = r->request->bus;
    const cpubind_problem *unread;
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    if (!is_beside(r))
        return drop_others(r);
    if (facts_is_of_listed(r)) {
        if (!takes_others(r, &unread))
            return code;
        if (unread->code != CPUBIND_PROBLEM_NONE)
            *r->problem = *unread;
        code = unread->code;
    } else if (!f->has_listed) {
        code = take_rules(r);
    }
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (q && !q->is_host)
        keep_named(q, f);
    f->noun = "device";
    code = cpubind_priv_join(r, q && (q->is_host || cpubind_facts_is_blind(f)));
    for (int32_t i = f->n_listed; i < f->n_device && r->request->device && !q; i++)
        f->device[i]->is_visible = 0;
    return code == CPUBIND_PROBLEM_NONE && !q ? check_addresses(r) : code;
}

/* == The reading ============================================================ */

static cpubind_problem_code read_cores(facts_reader *r)
{
    return wants_cores(r) ? cpubind_priv_read_cores(r) : CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_facts_read(const cpubind_source *source,
                                        const cpubind_request *request, cpubind_arena *arena,
                                        cpubind_facts *out, cpubind_problem *problem)
{
    enum { HOST_STEPS = 5 };
    static cpubind_problem_code (*const steps[])(facts_reader *) = {
        cpubind_priv_read_scope,
        cpubind_priv_read_cpus,
        cpubind_priv_read_distances,
        read_cores,
        make_host,
        list_functions,
        read_devices,
        list_devices,
        take_part,
    };
    const cpubind_pci_request *q = request->bus;
    cpubind_request asked = *request;
    facts_reader r = {
        .source = source, .request = &asked, .arena = arena, .facts = out, .problem = problem};
    const size_t n = q && q->no_bus ? HOST_STEPS : sizeof steps / sizeof *steps;
    cpubind_problem *const kept[] = {problem,        &out->unaddressed,  &out->unread_processes,
                                     &out->topology, &out->unread_other, &r.unfit};
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        cpubind_problem_clear(kept[i]);
    out->is_joined = !facts_is_of_listed(&r);
    out->noun = out->is_joined ? "device" : "NPU";
    out->is_part = q && (q->n_named > 0 || q->class_digits > 0);
    if (!facts_is_of_listed(&r)) /* the addresses of NPUs tell which functions they are */
        asked.wants_pci = asked.wants_others = 1;
    if (q && q->no_bus && q->own_cpu)
        return take_own_cpus(&r);
    if (facts_is_of_listed(&r))
        code = judge_request(&r);
    for (size_t i = 0; i < n && code == CPUBIND_PROBLEM_NONE; i++)
        code = steps[i](&r);
    return code;
}

cpubind_problem_code cpubind_facts_read_cards(const cpubind_source *source,
                                              const cpubind_facts *host, cpubind_arena *arena,
                                              cpubind_facts *out, cpubind_problem *problem)
{
    static cpubind_problem_code (*const steps[])(facts_reader *) = {make_host, check_drivers,
                                                                    read_functions};
    const cpubind_pci_request bus = {.is_host = 1, .is_bus_alone = 1, .wants_nics = 1};
    cpubind_request asked = {.bus = &bus};
    facts_reader r = {
        .source = source, .request = &asked, .arena = arena, .facts = out, .problem = problem};
    cpubind_problem_code code;
    int32_t n_card = 0;
    memset(out, 0, sizeof *out);
    memcpy(out, host, offsetof(cpubind_facts, noun));
    cpubind_problem_clear(problem);
    cpubind_problem_clear(&r.unfit);
    code = list_functions(&r);
    for (int k = 0; k < CPUBIND_CARD_KINDS; k++)
        n_card += out->cards[k].n;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == CPUBIND_PROBLEM_NONE; i++)
        code = n_card > 0 ? steps[i](&r) : code;
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
