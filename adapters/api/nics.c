/* nics.c - the network cards of the devices of a plan, and variables that name them
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: which device has which card is said by ../plan/network.h. The cards are read
 * beside the plan, for what shows or names them: no pool depends on them.
 */
#include "nics.h"

#include <stdlib.h>
#include <string.h>

#include "../linux/kernel/bytes.h"
#include "../model/vendor.h"
#include "../text/cursor.h"
#include "device_plan.h"

/* == Reading ================================================================ */

/* The arguments of read_network. */
typedef struct reading {
    const cpubind_source *source;
    api_network *out;
} reading;

static cpubind_problem_code read_network(void *ctx, cpubind_arena *arena)
{
    const reading *r = (const reading *)ctx;
    cpubind_problem_clear(&r->out->problem);
    return cpubind_network_read(r->source, arena, &r->out->of, &r->out->problem);
}

/* Whether the bus has a network card, where its host cannot be read. */
static int has_card(const cpubind_source *source)
{
    static const char bus[] = "sys/bus/pci/devices", network[] = "0x02";
    const cpubind_input listing = source->list(source->ctx, bus);
    cursor_text of;
    cursor all = cursor_open(&of, listing.data, listing.len, NULL, 1);
    while (cursor_left(&all)) {
        const cursor function = cursor_cut(&all, '\n');
        api_text name = {"", 0};
        cpubind_input input;
        api_add(&name, "%s/%.*s/class", bus, (int)cursor_len(&function),
                function.text + function.at);
        input = source->read(source->ctx, name.text);
        if (input.len >= (int32_t)sizeof network - 1 &&
            memcmp(input.data, network, sizeof network - 1) == 0)
            return 1;
    }
    return 0;
}

int api_read_network(const cpubind_source *source, api_network **network)
{
    api_network *n = *network;
    reading r = {source, NULL};
    cpubind_problem_code code;
    if (n)
        return 1;
    r.out = n = (api_network *)calloc(1, sizeof *n);
    if (!n)
        return 0;
    code = cpubind_with_arena(NULL, &n->arena, read_network, &r);
    if (code == CPUBIND_PROBLEM_NO_MEMORY) {
        api_free_network(n);
        return 0;
    }
    n->is_unread = code != CPUBIND_PROBLEM_NONE && has_card(source);
    if (code != CPUBIND_PROBLEM_NONE)
        n->of.facts.n_nic = 0;
    *network = n;
    return 1;
}

/* == The cards of a device ================================================== */

/* The network cards that were read; NULL: none, or there are none. */
static const api_network *network_of(const api_planned *p)
{
    const api_network *n = p->network;
    return n && n->of.facts.n_nic > 0 ? n : NULL;
}

/* The row of the bus that a device of the plan is; -1: not known. */
static int32_t bus_row(const api_network *n, const cpubind_host_device *device)
{
    return device->pci.domain < 0 ? -1 : cpubind_facts_on_bus(&n->of.facts, &device->pci);
}

/* The next card of a row of the bus from `card` on; NULL: there is none. */
static const cpubind_host_device *next_card(const api_network *n, int32_t row, int32_t *card)
{
    const cpubind_facts *f = &n->of.facts;
    while (row >= 0 && *card < f->n_nic)
        if (n->of.has[row * f->n_nic + (*card)++])
            return &f->nic[*card - 1];
    return NULL;
}

void api_add_nic(api_text *to, const cpubind_host_device *nic)
{
    const cpubind_source_name name = cpubind_nic_name(nic);
    if (name.at)
        api_add(to, "%.*s", (int)name.len, name.at);
    else
        api_add_pci(to, &nic->pci);
}

static words_value *name_json(cpubind_source_name name)
{
    return name.at ? words_text_of(name.at, (size_t)name.len) : words_null();
}

static const char *near_word(const api_network *n, int32_t row)
{
    return cpubind_together_word((cpubind_together)n->of.near[row]);
}

words_value *api_nics_json(const api_planned *p, const cpubind_host_device *device)
{
    const api_network *n = network_of(p);
    const int32_t at = n ? bus_row(n, device) : -1;
    const cpubind_host_device *nic;
    words_value *all;
    if (!n)
        return p->network && p->network->is_unread ? words_null() : NULL;
    if (at < 0)
        return words_null();
    all = words_array();
    for (int32_t k = 0; (nic = next_card(n, at, &k));)
        words_add(all, words_make("rdma:v netdev:v pci:v near:s devices:i virtual:b",
                                  name_json(nic->rdma), name_json(nic->netdev),
                                  api_pci_json(&nic->pci), near_word(n, at),
                                  (int)n->of.n_device[k - 1], nic->is_virtual));
    return all;
}

words_value *api_nic_names(const api_planned *p, const cpubind_host_device *device)
{
    const api_network *n = network_of(p);
    const cpubind_host_device *nic;
    words_value *names;
    if (!n || !n->of.is_telling)
        return NULL;
    names = words_array();
    for (int32_t k = 0; (nic = next_card(n, bus_row(n, device), &k));) {
        api_text name = {"", 0};
        api_add_nic(&name, nic);
        words_add(names, words_text(name.text));
    }
    return names;
}

/* Where a card is, by how near it is. */
static const char *const places[CPUBIND_TOGETHER_COUNT] = {
    [CPUBIND_TOGETHER_SWITCH] = "below one switch with it",
    [CPUBIND_TOGETHER_ROOT_PORT] = "below one root port with it",
    [CPUBIND_TOGETHER_ROOT_COMPLEX] = "on its root complex",
    [CPUBIND_TOGETHER_NODE] = "on its node",
    [CPUBIND_TOGETHER_SOCKET] = "on its socket",
    [CPUBIND_TOGETHER_HOST] = "on another socket",
    [CPUBIND_TOGETHER_UNKNOWN] = "how near is not known",
};

void api_explain_nics(const api_planned *p, const cpubind_host_device *device, api_text *to)
{
    const api_network *n = network_of(p);
    const int32_t at = n ? bus_row(n, device) : -1;
    const cpubind_host_device *nic;
    for (int32_t k = 0; n && n->of.is_telling && (nic = next_card(n, at, &k));) {
        const int n_other = (int)n->of.n_device[k - 1] - 1;
        api_add(to, to->len > 0 ? ", and " : "Of the network cards it has ");
        api_add_nic(to, nic);
        if (cpubind_nic_name(nic).at) {
            api_add(to, " (");
            api_add_pci(to, &nic->pci);
            api_add(to, ")");
        }
        if (n_other > 0)
            api_add(to, " with %d other device%s", n_other, n_other == 1 ? "" : "s");
    }
    if (to->len > 0)
        api_add(to, ": %s; none is nearer", places[n->of.near[at]]);
}

/* == What is wrong ========================================================== */

enum { CARD_FAR, CARD_VIRTUAL };

static const struct {
    const char *what, *advice;
} faults[] = {
    [CARD_FAR] = {"network cards on another socket than their devices: ",
                  "; cpubind topo --choose N says which devices have one beside them"},
    [CARD_VIRTUAL] = {"network cards that are virtual functions: ",
                      "; what they are a part of may serve other containers and virtual "
                      "machines, too"},
};

/* Whether the card of a row has a fault. */
static int has_fault(const api_network *n, int32_t row, const cpubind_host_device *nic,
                     size_t fault)
{
    return fault == CARD_FAR ? n->of.near[row] == CPUBIND_TOGETHER_HOST : nic->is_virtual;
}

/* Appends "gpu0: mlx5_3, ..." of the rows that have a fault. */
static void add_faulty(const api_planned *p, const api_network *n, size_t fault, api_text *to)
{
    const char *before = "";
    for (int32_t i = 0; i < p->plan.n_unit; i++) {
        const api_row row = api_shown(&p->facts, &p->plan, i);
        const int32_t at = bus_row(n, row.device);
        const cpubind_host_device *nic;
        for (int32_t k = 0; (nic = next_card(n, at, &k));) {
            if (!has_fault(n, at, nic, fault))
                continue;
            api_add(to, "%s", before);
            before = ", ";
            api_add_nic(to, nic);
            api_add(to, " of ");
            if (!api_add_name(to, &row))
                api_add_row(to, &p->facts, &row);
        }
    }
}

void api_warn_network(const api_planned *p, api_hear *hear, void *ctx)
{
    const api_network *n = network_of(p);
    if (p->network && p->network->is_unread) {
        api_text text = {"", 0};
        api_add(&text, "which network cards the devices have is not known");
        api_add_fault(&p->network->problem, &text);
        hear(ctx, "network", text.text);
    }
    for (size_t i = 0; n && n->of.is_rdma && i < sizeof faults / sizeof *faults; i++) {
        api_text text = {"", 0}, list = {"", 0};
        add_faulty(p, n, i, &list);
        if (list.len == 0)
            continue;
        api_add(&text, "%s%s%s", faults[i].what, list.text, faults[i].advice);
        hear(ctx, "network", text.text);
    }
}

/* == Variables ============================================================== */

int api_add_network(api_text *to, const api_planned *p, const cpubind_host_device *device,
                    api_network_word what)
{
    const api_network *n = network_of(p);
    const int32_t at = n && what != API_NETWORK_NICS ? bus_row(n, device) : -1;
    int n_name = 0;
    for (int32_t k = 0; n && k < n->of.facts.n_nic; k++) {
        const cpubind_host_device *nic = &n->of.facts.nic[k];
        const cpubind_source_name name = what == API_NETWORK_NETDEV ? nic->netdev : nic->rdma;
        const int is_its = what == API_NETWORK_NICS
                               ? n->of.n_device[k] > 0
                               : at >= 0 && n->of.has[at * n->of.facts.n_nic + k];
        if (!is_its || !name.at)
            continue;
        api_add(to, "%s%.*s%s", n_name++ > 0 ? "," : "", (int)name.len, name.at,
                what == API_NETWORK_PORT ? ":1" : "");
    }
    return n_name;
}

/* The variables by which libraries choose RDMA devices, with the source that reads each.
 * Mooncake 3b5a5941 has none that says which devices one GPU uses: it finds out by itself, of
 * those that it may use. */
static const struct {
    const char *before; /* the value */
    api_network_word what;
} variables[] = {
    /* NCCL, src/transport/net_ib.cc: "=" for whole names. All ranks of a host must have the
     * same list (NVIDIA/nccl issue 1478). */
    {"NCCL_IB_HCA==", API_NETWORK_NICS},
    /* UCX, src/ucp/core/ucp_context.c: names of resources, which have a port. */
    {"UCX_NET_DEVICES=", API_NETWORK_PORT},
    /* Mooncake, mooncake-store/src/client_service.cpp and
     * mooncake-transfer-engine/src/topology.cpp. */
    {"MC_MS_FILTERS=", API_NETWORK_NICS},
    {"MC_TE_FILTERS=", API_NETWORK_NICS},
};

void api_put_network(api_out *to, const api_planned *p, const cpubind_host_device *device)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        api_text names = {"", 0};
        if (api_add_network(&names, p, device, variables[i].what) > 0)
            api_put(to, "%s%s\n", variables[i].before, names.text);
    }
}
