/* topo.c - the object that topo --json prints
 * SPDX-License-Identifier: MIT
 *
 * Prints nothing, and reads nothing: the accelerators are those of ../api/device_plan.h.
 */
#include "topo.h"

#include <stdlib.h>

#include "output.h"

/* == JSON =================================================================== */

static json_t *pci_json(const cpubind_pci_address *pci)
{
    api_text text = {"", 0};
    if (pci->domain < 0)
        return json_null();
    api_add_pci(&text, pci);
    return json_string(text.text);
}

static json_t *number_or_null(int32_t number)
{
    return number < 0 ? json_null() : json_integer(number);
}

/* An id in hexadecimal digits, as lspci prints it. */
static json_t *id_json(int32_t id, int32_t digits)
{
    api_text text = {"", 0};
    if (id < 0)
        return json_null();
    api_add(&text, "%0*x", (int)digits, (unsigned)id);
    return json_string(text.text);
}

/* Bytes of an input; null when there are none. */
static json_t *bytes_json(const char *bytes, int32_t len)
{
    api_text text = {"", 0};
    if (!bytes || len < 0)
        return json_null();
    api_add(&text, "%.*s", (int)len, bytes);
    return cli_json_text(text.text);
}

static json_t *numbers_json(const cpubind_pci_function *device)
{
    json_t *array = json_array();
    for (int32_t i = 0; array && i < device->n_number; i++)
        array = cli_json_append(array, json_integer(device->number[i]));
    return array;
}

static json_t *sight_json(cpubind_sight sight)
{
    return sight == CPUBIND_SIGHT_UNKNOWN ? json_null()
                                          : json_boolean(sight == CPUBIND_SIGHT_VISIBLE);
}

static json_t *bridges_json(const cpubind_pci_facts *f, const cpubind_pci_function *device)
{
    json_t *array = json_array();
    for (int32_t i = 0; array && i < device->n_bridge; i++)
        array = cli_json_append(array, pci_json(&f->bridge[device->bridge[i]].pci));
    return array;
}

/* The keys that a device and a network card have. */
static json_t *function_json(const cpubind_pci_facts *f, const cpubind_pci_function *function)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:b, s:i}", "pci",
        pci_json(&function->pci), "interface",
        bytes_json(function->interface, function->interface_len), "vendor_id",
        id_json(function->ids.vendor, 4), "device_id", id_json(function->ids.device, 4),
        "class", id_json(function->ids.class_code, 4), "numa_node",
        number_or_null(function->numa_node), "node", number_or_null(function->node), "node_by",
        cpubind_node_origin_word(function->origin), "via", pci_json(&function->via), "cpus",
        cli_list_json(function->cpu, function->n_cpu), "bridges", bridges_json(f, function),
        "virtual", function->is_virtual, "virtual_functions", (int)function->n_virtual);
}

static json_t *near_json(const cpubind_pci_facts *f, int32_t device)
{
    json_t *array = json_array();
    for (int32_t k = 0; array && k < f->n_nic; k++) {
        const int32_t near = f->nearness[device * f->n_nic + k];
        array = cli_json_append(array,
                                json_pack("{s:o, s:s}", "pci", pci_json(&f->nic[k].pci), "near",
                                          cpubind_nearness_word((cpubind_nearness)near)));
    }
    return array;
}

static json_t *device_json(const cpubind_pci_facts *f, int32_t i, int wants_nics)
{
    const cpubind_pci_function *device = &f->device[i];
    json_t *json = function_json(f, device);
    const char *const product = device->accelerator.product;
    int good = json && json_object_set_new(
                           json, "family",
                           json_string(cpubind_family_word(device->accelerator.family))) == 0;
    good =
        good &&
        json_object_set_new(json, "product", product ? json_string(product) : json_null()) ==
            0 &&
        json_object_set_new(json, "model", bytes_json(device->model, device->model_len)) == 0 &&
        json_object_set_new(json, "uuid", bytes_json(device->uuid, device->uuid_len)) == 0 &&
        json_object_set_new(json, "memory_node", number_or_null(device->memory_node)) == 0 &&
        json_object_set_new(json, "visible", sight_json(device->sight)) == 0 &&
        json_object_set_new(json, "numbers", numbers_json(device)) == 0;
    if (good && wants_nics)
        good = json_object_set_new(json, "nics", near_json(f, i)) == 0;
    if (good)
        return json;
    json_decref(json);
    return NULL;
}

static json_t *node_json(const cpubind_pci_facts *f, int32_t node)
{
    int32_t *cpu = (int32_t *)calloc((size_t)f->n_cpu_id + 1, sizeof *cpu);
    int32_t n = 0;
    json_t *json;
    for (int32_t i = 0; cpu && i < f->n_cpu_id; i++)
        if (f->node_of[i] == node)
            cpu[n++] = i;
    json =
        cpu ? json_pack("{s:i, s:o}", "node", (int)node, "cpus", cli_list_json(cpu, n)) : NULL;
    free(cpu);
    return json;
}

static json_t *runtime_json(const cpubind_runtime_view *view)
{
    json_t *variables = json_object();
    for (int i = 0; i < 2; i++)
        if (view->variable[i])
            (void)json_object_set_new(variables, view->variable[i],
                                      bytes_json(view->value[i], view->value_len[i]));
    return json_pack("{s:s, s:o, s:b, s:o}", "runtime", view->word, "variables", variables,
                     "has_order", view->has_order, "why",
                     view->why ? json_string(view->why) : json_null());
}

json_t *cli_topo_json(const api_topo *topo, const api_options *options)
{
    const cpubind_pci_facts *f = &topo->facts;
    json_t *devices = json_array(), *nodes = json_array(), *runtimes = json_array();
    json_t *nics = json_array();
    for (int32_t i = 0; devices && i < f->n_device; i++)
        devices = cli_json_append(devices, device_json(f, i, options->topo.wants_nics));
    for (int32_t i = 0; nics && i < f->n_nic; i++)
        nics = cli_json_append(nics, function_json(f, &f->nic[i]));
    for (int32_t i = 0; nodes && f->has_nodes && i < f->n_all_node; i++)
        nodes = cli_json_append(nodes, node_json(f, f->all_node[i]));
    for (int i = 0; runtimes && i < CPUBIND_FAMILY_COUNT; i++)
        if (f->runtime[i].word)
            runtimes = cli_json_append(runtimes, runtime_json(&f->runtime[i]));
    if (!options->topo.wants_nics) {
        json_decref(nics);
        nics = json_null();
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "cpubind", CPUBIND_VERSION, "allowed",
                     cli_list_json(f->host.cpu, f->host.n_cpu), "nodes", nodes, "devices",
                     devices, "nics", nics, "runtimes", runtimes);
}
