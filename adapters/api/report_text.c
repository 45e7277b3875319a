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

static words_value *item_json(const cpubind_item *item)
{
    return words_make("kind:s pid:i id:i name:s was:s should:s actual:s result:s call:s "
                      "error:s",
                      api_kind_word(item->kind), (int)item->pid, (int)item->id, item->name,
                      item->was, item->should, item->actual,
                      cpubind_item_result_word(item->result), item->what,
                      item->error ? strerror(item->error) : NULL);
}

/* The memory nodes that the process has pages on, and that where they belong. */
static words_value *nodes_json(const cpubind_memory_move *memory)
{
    words_value *nodes = words_array();
    for (int32_t i = 0; i < CPUBIND_MAX_NODES; i++)
        if (memory->before.bytes[i] > 0 || memory->after.bytes[i] > 0 || i == memory->node)
            words_add(nodes,
                      words_make("node:i was:I is:I", (int)i, (int64_t)memory->before.bytes[i],
                                 (int64_t)memory->after.bytes[i]));
    return nodes;
}

static words_value *memory_json(const cpubind_outcomes *report)
{
    const cpubind_memory_move *memory = &report->memory;
    words_value *stays;
    if (!report->has_memory)
        return words_null();
    stays = words_object();
    for (int i = 0; i < CPUBIND_STAY_COUNT; i++)
        words_set(stays, cpubind_memory_stay_word((cpubind_memory_stay)i),
                  words_number(memory->stay[i]));
    return words_make("node:i nodes:v left:I own:I own_left:I moved:I milliseconds:I stays:v "
                      "numa_balancing:b",
                      (int)memory->node, nodes_json(memory), (int64_t)memory->left,
                      (int64_t)memory->own, (int64_t)memory->own_left, (int64_t)memory->moved,
                      (int64_t)memory->elapsed_ms, stays, (int)memory->is_balancing);
}

words_value *api_report_json(const api_bound *bound, const cpubind_outcomes *report)
{
    words_value *json, *items = words_array();
    char device[CPUBIND_DEVICE_NAME_SIZE];
    (void)cpubind_recorded_name(&bound->planned.facts, report->device, report->pci, device);
    json = words_make("cpubind:s pid:v parent:w device:w", CPUBIND_VERSION,
                      bound->pid ? words_number(bound->pid) : words_null(), bound->parent,
                      *bound->device ? bound->device : device);
    for (int32_t i = 0; i < report->n; i++)
        words_add(items, item_json(&report->item[i]));
    if (*report->pci)
        words_move(json, words_make("pci:s product:s", report->pci, bound->product));
    words_move(json, words_make("main:s state:s items:v memory:v warnings:v", report->main,
                                cpubind_bind_record_path(bound->binding), items,
                                memory_json(report), api_outcome_warnings_json(bound, report)));
    return json;
}
