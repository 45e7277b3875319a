/* topo_json.c - the report of topo
 * SPDX-License-Identifier: MIT
 *
 * Prints nothing, and reads nothing: the accelerators are those of device_plan.h. JSON.md
 * documents the keys.
 */
#include <stdlib.h>

#include "device_plan.h"

words_value *api_pci_json(const cpubind_pci_address *pci)
{
    api_text text = {"", 0};
    if (pci->domain >= 0)
        api_add_pci(&text, pci);
    return words_word(text.text);
}

const char *api_cards_key(int kind)
{
    static const char *const keys[] = {[CPUBIND_NIC] = "nics", [CPUBIND_DISK] = "disks"};
    return keys[kind];
}

/* An id in four hexadecimal digits, as lspci prints it. */
static words_value *id_value(int32_t id)
{
    api_text text = {"", 0};
    if (id >= 0)
        api_add(&text, "%04x", (unsigned)id);
    return words_word(text.text);
}

/* Bytes of an input; null when there are none. */
static words_value *bytes_value(const char *bytes, int32_t len)
{
    return bytes && len >= 0 ? words_text_of(bytes, (size_t)len) : words_null();
}

/* The keys that a device and a network card have. place: where it is, by the bus or as its
 * vendor lists it. */
static words_value *function_value(const cpubind_facts *f, const cpubind_host_device *function,
                                   const cpubind_host_device *place)
{
    const cpubind_source_name name = cpubind_card_name(function);
    words_value *bridges = words_array(), *value;
    for (int32_t i = 0; i < function->n_bridge; i++)
        words_add(bridges, api_pci_json(&f->bridge[function->bridge[i]].pci));
    value = words_make("pci:v interface:v vendor_id:v device_id:v class:v numa_node:v node:v "
                       "node_by:s via:v cpus:v bridges:v virtual:b virtual_functions:i",
                       api_pci_json(&function->pci), bytes_value(name.at, name.len),
                       id_value(function->ids.vendor), id_value(function->ids.device),
                       id_value(function->ids.class_code), words_id(function->numa_node),
                       words_id(place->node), cpubind_node_origin_word(place->origin),
                       api_pci_json(&function->via), words_list(place->cpu, place->n_cpu),
                       bridges, function->is_virtual, (int)function->n_virtual);
    if (function->bond.at)
        words_set(value, "bond", bytes_value(function->bond.at, function->bond.len));
    return value;
}

const cpubind_host_device *api_place_of(const cpubind_facts *f,
                                        const cpubind_host_device *device)
{
    for (int32_t i = 0; i < f->n_listed && device->n_cpu == 0; i++)
        if (cpubind_pci_compare(&f->device[i]->pci, &device->pci) == 0 &&
            f->device[i]->n_cpu > 0)
            return f->device[i];
    return device;
}

/* Whether a kind of cards is shown: network cards are asked for, and disks beside them are
 * there. */
static int is_shown(const cpubind_facts *f, const api_options *options, int kind)
{
    return options->topo.wants_nics && (kind == CPUBIND_NIC || f->cards[kind].n > 0);
}

/* How near each card of a kind is to a device. */
static words_value *near_value(const cpubind_facts *f, int32_t device, int kind)
{
    words_value *all = words_array();
    for (int32_t k = 0; k < f->cards[kind].n; k++) {
        const cpubind_host_device *card = &f->cards[kind].at[k];
        const cpubind_nearness near = cpubind_nearness_of(&f->bus[device], card);
        words_add(all, words_make("pci:v near:s", api_pci_json(&card->pci),
                                  cpubind_nearness_word(near)));
    }
    return all;
}

static words_value *device_value(const cpubind_facts *f, int32_t i, const api_options *options)
{
    const cpubind_host_device *device = &f->bus[i];
    words_value *value = function_value(f, device, api_place_of(f, device)),
                *numbers = words_array();
    for (int32_t k = 0; k < device->n_number; k++)
        words_add(numbers, words_number(device->number[k]));
    words_move(value, words_make("vendor:s product:s model:v uuid:v memory_node:v visible:v "
                                 "numbers:v",
                                 cpubind_vendor_word(device->accelerator.vendor),
                                 device->accelerator.product,
                                 bytes_value(device->model, device->model_len),
                                 bytes_value(device->uuid, device->uuid_len),
                                 words_id(device->memory_node),
                                 device->sight == CPUBIND_SIGHT_UNKNOWN
                                     ? words_null()
                                     : words_bool(device->sight == CPUBIND_SIGHT_VISIBLE),
                                 numbers));
    for (int kind = 0; kind < CPUBIND_CARD_KINDS; kind++)
        if (is_shown(f, options, kind))
            words_set(value, api_cards_key(kind), near_value(f, i, kind));
    return value;
}

/* `cpu` has room for all CPUs. */
static words_value *node_value(const cpubind_facts *f, int32_t node, int32_t *cpu)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->n_cpu_id; i++)
        if (f->node_of[i] == node)
            cpu[n++] = i;
    return words_make("node:i cpus:v", (int)node, words_list(cpu, n));
}

static words_value *runtime_value(const cpubind_runtime_view *view)
{
    words_value *variables = words_object();
    for (int i = 0; i < 2; i++)
        if (view->variable[i])
            words_set(variables, view->variable[i],
                      bytes_value(view->value[i], view->value_len[i]));
    return words_make("runtime:s variables:v has_order:b why:s", view->word, variables,
                      view->has_order, view->why);
}

words_value *api_topo(const cpubind_facts *f, const api_options *options)
{
    int32_t *cpu = (int32_t *)malloc(((size_t)f->n_cpu_id + 1) * sizeof *cpu);
    words_value *nodes = cpu ? words_array() : NULL, *devices = words_array();
    words_value *runtimes = words_array(), *topo;
    for (int32_t i = 0; cpu && f->has_nodes && i < f->n_all_node; i++)
        words_add(nodes, node_value(f, f->all_node[i], cpu));
    for (int32_t i = 0; i < f->n_bus; i++)
        words_add(devices, device_value(f, i, options));
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++)
        if (f->runtime[i].word)
            words_add(runtimes, runtime_value(&f->runtime[i]));
    free(cpu);
    topo = words_make("cpubind:s allowed:v nodes:v devices:v nics:v", CPUBIND_VERSION,
                      words_list(f->host.cpu, f->host.n_cpu), nodes, devices, words_null());
    for (int kind = 0; kind < CPUBIND_CARD_KINDS; kind++) {
        words_value *cards = words_array();
        for (int32_t i = 0; i < f->cards[kind].n; i++)
            words_add(cards, function_value(f, &f->cards[kind].at[i], &f->cards[kind].at[i]));
        if (is_shown(f, options, kind))
            words_set(topo, api_cards_key(kind), cards);
        else
            words_free(cards);
    }
    words_set(topo, "runtimes", runtimes);
    return topo;
}
