/* topo_json.c - the object that topo --json prints
 * SPDX-License-Identifier: MIT
 *
 * Prints nothing, and reads nothing: the accelerators are those of device_plan.h. JSON.md
 * documents the keys.
 */
#include <stdlib.h>

#include "device_plan.h"

static void put_pci(api_out *to, const char *key, const cpubind_pci_address *pci)
{
    api_text text = {"", 0};
    if (pci->domain >= 0)
        api_add_pci(&text, pci);
    api_json_text(to, key, text.len > 0 ? text.text : NULL);
}

/* An id in four hexadecimal digits, as lspci prints it. */
static void put_id(api_out *to, const char *key, int32_t id)
{
    api_text text = {"", 0};
    if (id >= 0)
        api_add(&text, "%04x", (unsigned)id);
    api_json_text(to, key, id >= 0 ? text.text : NULL);
}

/* Bytes of an input; null when there are none. */
static void put_bytes(api_out *to, const char *key, const char *bytes, int32_t len)
{
    api_text text = {"", 0};
    const int is_known = bytes && len >= 0;
    if (is_known)
        api_add(&text, "%.*s", (int)len, bytes);
    api_json_text(to, key, is_known ? text.text : NULL);
}

/* The keys that a device and a network card have. */
static void put_function(api_out *to, const cpubind_facts *f,
                         const cpubind_pci_function *function)
{
    put_pci(to, "pci", &function->pci);
    put_bytes(to, "interface", function->interface, function->interface_len);
    put_id(to, "vendor_id", function->ids.vendor);
    put_id(to, "device_id", function->ids.device);
    put_id(to, "class", function->ids.class_code);
    api_json_id(to, "numa_node", function->numa_node);
    api_json_id(to, "node", function->node);
    api_json_text(to, "node_by", cpubind_node_origin_word(function->origin));
    put_pci(to, "via", &function->via);
    api_json_list(to, "cpus", function->cpu, function->n_cpu);
    api_json_open(to, "bridges", '[');
    for (int32_t i = 0; i < function->n_bridge; i++)
        put_pci(to, NULL, &f->bridge[function->bridge[i]].pci);
    api_json_close(to, ']');
    api_json_bool(to, "virtual", function->is_virtual);
    api_json_number(to, "virtual_functions", function->n_virtual);
}

/* How near each network card is to a device. */
static void put_near(api_out *to, const cpubind_facts *f, int32_t device)
{
    api_json_open(to, "nics", '[');
    for (int32_t k = 0; k < f->n_nic; k++) {
        const int32_t near = f->nearness[device * f->n_nic + k];
        api_json_open(to, NULL, '{');
        put_pci(to, "pci", &f->nic[k].pci);
        api_json_text(to, "near", cpubind_nearness_word((cpubind_nearness)near));
        api_json_close(to, '}');
    }
    api_json_close(to, ']');
}

static void put_device(api_out *to, const cpubind_facts *f, int32_t i, int wants_nics)
{
    const cpubind_pci_function *device = &f->bus[i];
    api_json_open(to, NULL, '{');
    put_function(to, f, device);
    api_json_text(to, "vendor", cpubind_vendor_word(device->accelerator.vendor));
    api_json_text(to, "product", device->accelerator.product);
    put_bytes(to, "model", device->model, device->model_len);
    put_bytes(to, "uuid", device->uuid, device->uuid_len);
    api_json_id(to, "memory_node", device->memory_node);
    if (device->sight == CPUBIND_SIGHT_UNKNOWN)
        api_json_null(to, "visible");
    else
        api_json_bool(to, "visible", device->sight == CPUBIND_SIGHT_VISIBLE);
    api_json_open(to, "numbers", '[');
    for (int32_t k = 0; k < device->n_number; k++)
        api_json_number(to, NULL, device->number[k]);
    api_json_close(to, ']');
    if (wants_nics)
        put_near(to, f, i);
    api_json_close(to, '}');
}

/* `cpu` has room for all CPUs. */
static void put_node(api_out *to, const cpubind_facts *f, int32_t node, int32_t *cpu)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->n_cpu_id; i++)
        if (f->node_of[i] == node)
            cpu[n++] = i;
    api_json_open(to, NULL, '{');
    api_json_number(to, "node", node);
    api_json_list(to, "cpus", cpu, n);
    api_json_close(to, '}');
}

static void put_runtime(api_out *to, const cpubind_runtime_view *view)
{
    api_json_open(to, NULL, '{');
    api_json_text(to, "runtime", view->word);
    api_json_open(to, "variables", '{');
    for (int i = 0; i < 2; i++)
        if (view->variable[i])
            put_bytes(to, view->variable[i], view->value[i], view->value_len[i]);
    api_json_close(to, '}');
    api_json_bool(to, "has_order", view->has_order);
    api_json_text(to, "why", view->why);
    api_json_close(to, '}');
}

void api_json_topo(api_out *to, const cpubind_facts *f, const api_options *options)
{
    int32_t *cpu = (int32_t *)malloc(((size_t)f->n_cpu_id + 1) * sizeof *cpu);
    to->is_short |= !cpu;
    api_json_open(to, NULL, '{');
    api_json_text(to, "cpubind", CPUBIND_VERSION);
    api_json_list(to, "allowed", f->host.cpu, f->host.n_cpu);
    api_json_open(to, "nodes", '[');
    for (int32_t i = 0; cpu && f->has_nodes && i < f->n_all_node; i++)
        put_node(to, f, f->all_node[i], cpu);
    api_json_close(to, ']');
    api_json_open(to, "devices", '[');
    for (int32_t i = 0; i < f->n_bus; i++)
        put_device(to, f, i, options->topo.wants_nics);
    api_json_close(to, ']');
    if (options->topo.wants_nics)
        api_json_open(to, "nics", '[');
    else
        api_json_null(to, "nics");
    for (int32_t i = 0; options->topo.wants_nics && i < f->n_nic; i++) {
        api_json_open(to, NULL, '{');
        put_function(to, f, &f->nic[i]);
        api_json_close(to, '}');
    }
    if (options->topo.wants_nics)
        api_json_close(to, ']');
    api_json_open(to, "runtimes", '[');
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++)
        if (f->runtime[i].word)
            put_runtime(to, &f->runtime[i]);
    api_json_close(to, ']');
    api_json_close(to, '}');
    free(cpu);
}
