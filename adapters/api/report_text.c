/* outcome.c - the report of a binding, as tables and as JSON
 * SPDX-License-Identifier: MIT
 *
 * Prints and formats; changes nothing. The words of results are those of adapters/linux/bind;
 * JSON.md documents the JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "api.h"

#define MIB (1 << 20)

/* == Tables ================================================================= */

static int is_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether two items are printed in one row. */
static int is_alike(const cpubind_item *a, const cpubind_item *b)
{
    return a->kind == b->kind && a->result == b->result && a->error == b->error &&
           is_equal(a->was, b->was) && is_equal(a->should, b->should) &&
           (a->kind != CPUBIND_ITEM_IRQ || is_equal(a->name, b->name));
}

/* Adds the last columns of both tables. Only interrupts have CPUs that serve them. */
static void add_cells(api_table *table, const cpubind_item *item, int has_served)
{
    api_cell(table, "%s", item->was ? item->was : "-");
    api_cell(table, "%s", item->should ? item->should : "-");
    if (has_served)
        api_cell(table, "%s", item->actual ? item->actual : "-");
    api_cell(table, "%s", cpubind_item_result_word(item->result));
}

static void add_heads(api_table *table, const char *const *heads, int has_served)
{
    for (int i = 0; i < 3; i++)
        if (heads[i])
            api_cell(table, "%s", heads[i]);
    api_cell(table, "%s", heads[3]);
    api_cell(table, "belongs on");
    if (has_served)
        api_cell(table, "served by");
    api_cell(table, "%s", "");
}

static int is_served_known(const cpubind_outcomes *report)
{
    for (int32_t i = 0; i < report->n; i++)
        if (report->item[i].actual)
            return 1;
    return 0;
}

static void put_each(api_out *to, const cpubind_outcomes *report)
{
    static const char *const heads[] = {"what", "id", "name", "is on"};
    const int has_served = is_served_known(report);
    api_table table = {.n_column = has_served ? 7 : 6};
    add_heads(&table, heads, has_served);
    for (int32_t i = 0; i < report->n; i++) {
        const cpubind_item *item = &report->item[i];
        api_cell(&table, "%s", api_kind_word(item->kind));
        api_cell_number(&table, item->id);
        api_cell(&table, "%s", item->name[0] ? item->name : "-");
        add_cells(&table, item, has_served);
    }
    api_put_table(to, &table);
}

/* Items that are printed in one row. */
typedef struct group {
    const cpubind_item *first;
    int32_t count;
} group;

/* Groups the items that are alike, in O(items x groups). Returns the number of groups. */
static int32_t gather(const cpubind_outcomes *report, group *groups)
{
    int32_t n = 0;
    for (int32_t i = 0; i < report->n; i++) {
        int32_t k = 0;
        while (k < n && !is_alike(groups[k].first, &report->item[i]))
            k++;
        if (k == n)
            groups[n++] = (group){&report->item[i], 0};
        groups[k].count++;
    }
    return n;
}

static void put_groups(api_out *to, const cpubind_outcomes *report)
{
    static const char *const heads[] = {"what", "how many", NULL, "was on"};
    const int has_served = is_served_known(report);
    api_table table = {.n_column = has_served ? 6 : 5};
    group *groups = (group *)malloc((size_t)report->n * sizeof *groups);
    const int32_t n = groups ? gather(report, groups) : 0;
    add_heads(&table, heads, has_served);
    for (int32_t k = 0; k < n; k++) {
        const cpubind_item *item = groups[k].first;
        if (item->kind == CPUBIND_ITEM_IRQ || (groups[k].count == 1 && item->name[0]))
            api_cell(&table, "%s %s", api_kind_word(item->kind), item->name);
        else
            api_cell(&table, "%s", api_kind_word(item->kind));
        api_cell_number(&table, groups[k].count);
        add_cells(&table, item, has_served);
    }
    api_put_table(to, &table);
    free(groups);
}

void api_put_items(api_out *to, const cpubind_outcomes *report, int is_each)
{
    if (report->n <= 0)
        return;
    if (is_each)
        put_each(to, report);
    else
        put_groups(to, report);
}

static int is_there(const cpubind_memory_move *memory, int32_t node)
{
    return memory->before.bytes[node] > 0 || memory->after.bytes[node] > 0 ||
           node == memory->node;
}

/* Prints how much stays on other nodes for each reason, and how much was moved. */
static void put_stays(api_out *to, const cpubind_memory_move *memory, int is_each)
{
    api_table table = {.n_column = 3};
    for (int i = 0; i < CPUBIND_STAY_COUNT; i++) {
        api_text why = {"", 0};
        if (memory->stay[i] == 0)
            continue;
        if (table.n_cell == 0) {
            api_cell(&table, "stays away");
            api_cell(&table, "MiB");
            api_cell(&table, "because");
        }
        api_cell(&table, "%s", cpubind_memory_stay_word((cpubind_memory_stay)i));
        if (memory->stay[i] < MIB)
            api_cell(&table, "<1");
        else
            api_cell(&table, "%lld", (long long)(memory->stay[i] / MIB));
        api_explain_stay(memory, (cpubind_memory_stay)i, &why);
        api_cell(&table, "%s", why.text);
    }
    if (table.n_cell > 0) {
        api_put_text(to, "\n");
        api_put_table(to, &table);
    }
    if (!is_each)
        api_put(to, "moved %lld MiB in %.1f s\n", (long long)(memory->moved / MIB),
                (double)memory->elapsed_ms / 1000);
}

void api_put_memory(api_out *to, const cpubind_outcomes *report, int is_each)
{
    const cpubind_memory_move *memory = &report->memory;
    api_table table = {.n_column = is_each ? 3 : 4};
    if (!report->has_memory || memory->before.total == 0)
        return;
    api_put_text(to, "\n");
    api_cell(&table, "memory");
    if (!is_each)
        api_cell(&table, "was MiB");
    api_cell(&table, "is MiB");
    api_cell(&table, "%s", "");
    for (int32_t i = 0; i < CPUBIND_MAX_NODES; i++) {
        if (!is_there(memory, i))
            continue;
        api_cell(&table, "node %d", (int)i);
        if (!is_each)
            api_cell(&table, "%lld", (long long)(memory->before.bytes[i] / MIB));
        api_cell(&table, "%lld", (long long)(memory->after.bytes[i] / MIB));
        api_cell(&table, "%s",
                 i == memory->node                                 ? "belongs here"
                 : is_each && cpubind_bind_memory_is_wrong(report) ? "wrong"
                                                                   : "");
    }
    api_put_table(to, &table);
    put_stays(to, memory, is_each);
}

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
