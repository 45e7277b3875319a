/* nics.c - the network cards and disks of the devices of a plan, and variables that name them
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
#include "device_plan.h"

/* == Reading ================================================================ */

/* The arguments of read_network. */
typedef struct reading {
    const cpubind_source *source;
    const cpubind_facts *facts;
    api_network *out;
} reading;

static cpubind_problem_code read_network(void *ctx, cpubind_arena *arena)
{
    const reading *r = (const reading *)ctx;
    cpubind_problem_clear(&r->out->problem);
    return cpubind_network_read(r->source, r->facts, arena, &r->out->of, &r->out->problem);
}

int api_read_network(const cpubind_source *source, const cpubind_facts *facts,
                     api_network **network)
{
    api_network *n = *network;
    reading r = {source, facts, NULL};
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
    n->is_unread = code != CPUBIND_PROBLEM_NONE;
    *network = n;
    return 1;
}

/* == The cards of a device ================================================== */

/* The cards of a kind that were read; NULL: none were, or there are none. */
static const cpubind_given *given_of(const api_planned *p, cpubind_card_kind kind)
{
    const api_network *n = p->network;
    return n && !n->is_unread && n->of.given[kind].cards.n > 0 ? &n->of.given[kind] : NULL;
}

/* The next card of a row of the bus from `card` on; NULL: there is none. */
static const cpubind_host_device *next_card(const cpubind_given *given, int32_t row,
                                            int32_t *card)
{
    while (row >= 0 && *card < given->cards.n)
        if (cpubind_network_has(given, row, (*card)++))
            return &given->cards.at[*card - 1];
    return NULL;
}

void api_add_nic(api_text *to, const cpubind_host_device *nic)
{
    const cpubind_source_name name = cpubind_card_name(nic);
    if (name.at)
        api_add(to, "%.*s", (int)name.len, name.at);
    else
        api_add_pci(to, &nic->pci);
}

static words_value *name_json(cpubind_source_name name)
{
    return name.at ? words_text_of(name.at, (size_t)name.len) : words_null();
}

static words_value *card_json(const cpubind_host_device *card, cpubind_card_kind kind)
{
    words_value *one;
    if (kind == CPUBIND_DISK)
        return words_make("name:v", name_json(card->disk));
    one = words_make("rdma:v netdev:v", name_json(card->rdma), name_json(card->netdev));
    if (card->bond.at)
        words_set(one, "bond", name_json(card->bond));
    return one;
}

void api_set_cards(words_value *to, const api_planned *p, const cpubind_host_device *device)
{
    for (int kind = 0; kind < CPUBIND_CARD_KINDS; kind++) {
        const cpubind_given *given = given_of(p, (cpubind_card_kind)kind);
        const int32_t at = given ? cpubind_network_row(&p->network->of, device) : -1;
        words_value *all = at < 0 ? words_null() : words_array();
        const cpubind_host_device *card;
        for (int32_t k = 0; given && (card = next_card(given, at, &k));) {
            words_value *one = card_json(card, (cpubind_card_kind)kind);
            words_move(one,
                       words_make("pci:v near:s devices:i virtual:b", api_pci_json(&card->pci),
                                  cpubind_together_word((cpubind_together)given->near[at]),
                                  (int)given->n_device[k - 1], card->is_virtual));
            words_add(all, one);
        }
        if (given || (p->network && p->network->is_unread))
            words_set(to, api_cards_key(kind), all);
        else
            words_free(all);
    }
}

words_value *api_nic_names(const api_planned *p, const cpubind_host_device *device)
{
    const cpubind_given *nics = given_of(p, CPUBIND_NIC);
    const cpubind_host_device *nic;
    words_value *names;
    if (!nics || !nics->is_telling)
        return NULL;
    names = words_array();
    for (int32_t k = 0;
         (nic = next_card(nics, cpubind_network_row(&p->network->of, device), &k));) {
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
    const cpubind_given *nics = given_of(p, CPUBIND_NIC);
    const int32_t at = nics ? cpubind_network_row(&p->network->of, device) : -1;
    const cpubind_host_device *nic;
    for (int32_t k = 0; nics && nics->is_telling && (nic = next_card(nics, at, &k));) {
        const int n_other = (int)nics->n_device[k - 1] - 1;
        api_add(to, to->len > 0 ? ", and " : "Of the network cards it has ");
        api_add_nic(to, nic);
        if (cpubind_card_name(nic).at) {
            api_add(to, " (");
            api_add_pci(to, &nic->pci);
            api_add(to, ")");
        }
        if (nic->bond.at)
            api_add(to, " in %.*s", (int)nic->bond.len, nic->bond.at);
        if (n_other > 0)
            api_add(to, " with %d other device%s", n_other, n_other == 1 ? "" : "s");
    }
    if (to->len > 0)
        api_add(to, ": %s; none is nearer", places[nics->near[at]]);
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
static int has_fault(const cpubind_given *nics, int32_t row, const cpubind_host_device *nic,
                     size_t fault)
{
    return fault == CARD_FAR ? nics->near[row] == CPUBIND_TOGETHER_HOST : nic->is_virtual;
}

/* Appends "gpu0: mlx5_3, ..." of the rows that have a fault. */
static void add_faulty(const api_planned *p, const cpubind_given *nics, size_t fault,
                       api_text *to)
{
    const char *before = "";
    for (int32_t i = 0; i < p->plan.n_unit; i++) {
        const api_row row = api_shown(&p->facts, &p->plan, i);
        const int32_t at = cpubind_network_row(&p->network->of, row.device);
        const cpubind_host_device *nic;
        for (int32_t k = 0; (nic = next_card(nics, at, &k));) {
            if (!has_fault(nics, at, nic, fault))
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
    const cpubind_given *nics = given_of(p, CPUBIND_NIC);
    if (p->network && p->network->is_unread) {
        api_text text = {"", 0};
        api_add(&text, "which network cards the devices have is not known");
        api_add_fault(&p->network->problem, &text);
        hear(ctx, "network", text.text);
    }
    for (size_t i = 0; nics && nics->is_rdma && i < sizeof faults / sizeof *faults; i++) {
        api_text text = {"", 0}, list = {"", 0};
        add_faulty(p, nics, i, &list);
        if (list.len == 0)
            continue;
        api_add(&text, "%s%s%s", faults[i].what, list.text, faults[i].advice);
        hear(ctx, "network", text.text);
    }
}

/* == Variables ============================================================== */

/* The interface of a card that has an address: that of its bond, for the first card of a row
 * that is in it. */
static cpubind_source_name interface_of(const cpubind_given *nics, int32_t row, int32_t card)
{
    const cpubind_source_name bond = nics->cards.at[card].bond;
    for (int32_t k = 0; k < card && row >= 0 && bond.at; k++) {
        const cpubind_source_name *before = &nics->cards.at[k].bond;
        if (cpubind_network_has(nics, row, k) && before->at && before->len == bond.len &&
            memcmp(before->at, bond.at, (size_t)bond.len) == 0)
            return (cpubind_source_name){NULL, 0};
    }
    return bond.at ? bond : nics->cards.at[card].netdev;
}

int api_add_network(api_text *to, const api_planned *p, const cpubind_host_device *device,
                    api_network_word what)
{
    const cpubind_given *nics = given_of(p, CPUBIND_NIC);
    const int32_t at =
        nics && what != API_NETWORK_NICS ? cpubind_network_row(&p->network->of, device) : -1;
    int n_name = 0;
    for (int32_t k = 0; nics && k < nics->cards.n; k++) {
        const cpubind_source_name name =
            what == API_NETWORK_NETDEV ? interface_of(nics, at, k) : nics->cards.at[k].rdma;
        const int is_its = what == API_NETWORK_NICS
                               ? nics->n_device[k] > 0
                               : at >= 0 && cpubind_network_has(nics, at, k);
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
