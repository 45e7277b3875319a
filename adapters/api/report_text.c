/* report_text.c - the report of a binding, as JSON
 * SPDX-License-Identifier: MIT
 *
 * Prints and formats; changes nothing. The words of results are those of adapters/linux/bind;
 * JSON.md documents the JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "api.h"

void api_put_moved(api_out *to, const cpubind_item *item)
{
    api_text text = {"", 0};
    api_add(&text, "%s %d (%s): %s -> %s, %s", api_kind_word(item->kind), (int)item->id,
            item->name, item->was ? item->was : "?", item->should ? item->should : "?",
            cpubind_item_result_word(item->result));
    api_put(to, "%s\n", text.text);
}

/* == JSON =================================================================== */

static void item_json(api_out *to, const cpubind_item *item)
{
    api_json_open(to, NULL, '{');
    api_json_text(to, "kind", api_kind_word(item->kind));
    api_json_number(to, "pid", item->pid);
    api_json_number(to, "id", item->id);
    api_json_text(to, "name", item->name);
    api_json_text(to, "was", item->was);
    api_json_text(to, "should", item->should);
    api_json_text(to, "actual", item->actual);
    api_json_text(to, "result", cpubind_item_result_word(item->result));
    api_json_text(to, "call", item->what);
    api_json_text(to, "error", item->error ? strerror(item->error) : NULL);
    api_json_close(to, '}');
}

static int is_there(const cpubind_memory_move *memory, int32_t node)
{
    return memory->before.bytes[node] > 0 || memory->after.bytes[node] > 0 ||
           node == memory->node;
}

static void memory_json(api_out *to, const cpubind_outcomes *report)
{
    const cpubind_memory_move *memory = &report->memory;
    if (!report->has_memory) {
        api_json_null(to, "memory");
        return;
    }
    api_json_open(to, "memory", '{');
    api_json_number(to, "node", memory->node);
    api_json_open(to, "nodes", '[');
    for (int32_t i = 0; i < CPUBIND_MAX_NODES; i++) {
        if (!is_there(memory, i))
            continue;
        api_json_open(to, NULL, '{');
        api_json_number(to, "node", i);
        api_json_number(to, "was", memory->before.bytes[i]);
        api_json_number(to, "is", memory->after.bytes[i]);
        api_json_close(to, '}');
    }
    api_json_close(to, ']');
    api_json_number(to, "left", memory->left);
    api_json_number(to, "own", memory->own);
    api_json_number(to, "own_left", memory->own_left);
    api_json_number(to, "moved", memory->moved);
    api_json_number(to, "milliseconds", memory->elapsed_ms);
    api_json_open(to, "stays", '{');
    for (int i = 0; i < CPUBIND_STAY_COUNT; i++)
        api_json_number(to, cpubind_memory_stay_word((cpubind_memory_stay)i), memory->stay[i]);
    api_json_close(to, '}');
    api_json_bool(to, "numa_balancing", memory->is_balancing);
    api_json_close(to, '}');
}

void api_json_report(api_out *to, const char *key, const api_bound *bound,
                     const cpubind_outcomes *report)
{
    api_json_open(to, key, '{');
    api_json_text(to, "cpubind", CPUBIND_VERSION);
    if (bound->pid)
        api_json_number(to, "pid", bound->pid);
    else
        api_json_null(to, "pid");
    api_json_text(to, "parent", *bound->parent ? bound->parent : NULL);
    api_json_id(to, "npu", report->device);
    if (*report->pci) {
        api_json_text(to, "pci", report->pci);
        api_json_text(to, "product", bound->product);
    }
    api_json_text(to, "main", report->main);
    api_json_text(to, "state", cpubind_bind_record_path(bound->binding));
    api_json_open(to, "items", '[');
    for (int32_t i = 0; i < report->n; i++)
        item_json(to, &report->item[i]);
    api_json_close(to, ']');
    memory_json(to, report);
    api_json_outcome_warnings(to, "warnings", bound, report);
    api_json_close(to, '}');
}
