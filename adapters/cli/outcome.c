/* outcome.c - the report of a binding, as tables and as JSON
 * SPDX-License-Identifier: MIT
 *
 * Prints and formats; changes nothing. The words of results are those of adapters/linux/bind;
 * README.md documents the JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "bind_common.h"
#include "output.h"

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
static void add_cells(cli_table *table, const cpubind_item *item, int has_served)
{
    cli_cell(table, "%s", item->was ? item->was : "-");
    cli_cell(table, "%s", item->should ? item->should : "-");
    if (has_served)
        cli_cell(table, "%s", item->actual ? item->actual : "-");
    cli_cell(table, "%s", cpubind_item_result_word(item->result));
}

static void add_heads(cli_table *table, const char *const *heads, int has_served)
{
    for (int i = 0; i < 3; i++)
        if (heads[i])
            cli_cell(table, "%s", heads[i]);
    cli_cell(table, "%s", heads[3]);
    cli_cell(table, "belongs on");
    if (has_served)
        cli_cell(table, "served by");
    cli_cell(table, "%s", "");
}

static int is_served_known(const cpubind_report *report)
{
    for (int32_t i = 0; i < report->n; i++)
        if (report->item[i].actual)
            return 1;
    return 0;
}

static void print_each(FILE *out, const cpubind_report *report)
{
    static const char *const heads[] = {"what", "id", "name", "is on"};
    const int has_served = is_served_known(report);
    cli_table table = {.n_column = has_served ? 7 : 6};
    add_heads(&table, heads, has_served);
    for (int32_t i = 0; i < report->n; i++) {
        const cpubind_item *item = &report->item[i];
        cli_cell(&table, "%s", cli_kind_word(item->kind));
        cli_cell_number(&table, item->id);
        cli_cell(&table, "%s", item->name[0] ? item->name : "-");
        add_cells(&table, item, has_served);
    }
    cli_print_table(out, &table);
}

/* Items that are printed in one row. */
typedef struct group {
    const cpubind_item *first;
    int32_t count;
} group;

/* Groups the items that are alike, in O(items x groups). Returns the number of groups. */
static int32_t gather(const cpubind_report *report, group *groups)
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

static void print_groups(FILE *out, const cpubind_report *report)
{
    static const char *const heads[] = {"what", "how many", NULL, "was on"};
    const int has_served = is_served_known(report);
    cli_table table = {.n_column = has_served ? 6 : 5};
    group *groups = (group *)malloc((size_t)report->n * sizeof *groups);
    const int32_t n = groups ? gather(report, groups) : 0;
    add_heads(&table, heads, has_served);
    for (int32_t k = 0; k < n; k++) {
        const cpubind_item *item = groups[k].first;
        if (item->kind == CPUBIND_ITEM_IRQ || (groups[k].count == 1 && item->name[0]))
            cli_cell(&table, "%s %s", cli_kind_word(item->kind), item->name);
        else
            cli_cell(&table, "%s", cli_kind_word(item->kind));
        cli_cell_number(&table, groups[k].count);
        add_cells(&table, item, has_served);
    }
    cli_print_table(out, &table);
    free(groups);
}

void cli_print_items(FILE *out, const cpubind_report *report, int is_each)
{
    if (report->n == 0)
        return;
    if (is_each)
        print_each(out, report);
    else
        print_groups(out, report);
}

static int is_there(const cpubind_memory_move *memory, int32_t node)
{
    return memory->before.bytes[node] > 0 || memory->after.bytes[node] > 0 ||
           node == memory->node;
}

/* Prints how much stays on other nodes for each reason, and how much was moved. */
static void print_stays(FILE *out, const cpubind_memory_move *memory, int is_each)
{
    static const char *const why[] = {
        [CPUBIND_STAY_SHARED] = "other processes map these pages too",
        [CPUBIND_STAY_LOCKED] = "the process has locked these mappings",
        [CPUBIND_STAY_HUGE] = "pages of hugetlbfs",
        [CPUBIND_STAY_BUSY] = "a driver has pinned them, or the kernel uses them",
        [CPUBIND_STAY_NO_ROOM] = "the node is full but for its reserve",
        [CPUBIND_STAY_LIMIT] = "--memory-limit",
        [CPUBIND_STAY_TIME] = "--memory-time",
        [CPUBIND_STAY_STOPPED] = "the move was interrupted"};
    cli_table table = {.n_column = 3};
    for (int i = 0; i < CPUBIND_STAY_COUNT; i++) {
        if (memory->stay[i] == 0)
            continue;
        if (table.n_cell == 0) {
            cli_cell(&table, "stays away");
            cli_cell(&table, "MiB");
            cli_cell(&table, "because");
        }
        cli_cell(&table, "%s", cpubind_memory_stay_word((cpubind_memory_stay)i));
        if (memory->stay[i] < MIB)
            cli_cell(&table, "<1");
        else
            cli_cell(&table, "%lld", (long long)(memory->stay[i] / MIB));
        cli_cell(&table, "%s", why[i]);
    }
    if (table.n_cell > 0) {
        fputs("\n", out);
        cli_print_table(out, &table);
    }
    if (!is_each)
        fprintf(out, "moved %lld MiB in %.1f s\n", (long long)(memory->moved / MIB),
                (double)memory->elapsed_ms / 1000);
}

void cli_print_memory(FILE *out, const cpubind_report *report, int is_each)
{
    const cpubind_memory_move *memory = &report->memory;
    cli_table table = {.n_column = is_each ? 3 : 4};
    if (!report->has_memory || memory->before.total == 0)
        return;
    fputs("\n", out);
    cli_cell(&table, "memory");
    if (!is_each)
        cli_cell(&table, "was MiB");
    cli_cell(&table, "is MiB");
    cli_cell(&table, "%s", "");
    for (int32_t i = 0; i < CPUBIND_MAX_NODES; i++) {
        if (!is_there(memory, i))
            continue;
        cli_cell(&table, "node %d", (int)i);
        if (!is_each)
            cli_cell(&table, "%lld", (long long)(memory->before.bytes[i] / MIB));
        cli_cell(&table, "%lld", (long long)(memory->after.bytes[i] / MIB));
        cli_cell(&table, "%s",
                 i == memory->node                        ? "belongs here"
                 : is_each && cli_memory_is_wrong(report) ? "wrong"
                                                          : "");
    }
    cli_print_table(out, &table);
    print_stays(out, memory, is_each);
}

void cli_print_moved(FILE *out, const cpubind_item *item)
{
    cli_text text = {"", 0};
    cli_add(&text, "%s %d (%s): %s -> %s, %s", cli_kind_word(item->kind), (int)item->id,
            item->name, item->was ? item->was : "?", item->should ? item->should : "?",
            cpubind_item_result_word(item->result));
    fprintf(out, "%s\n", text.text);
}

/* == JSON =================================================================== */

static json_t *text_json(const char *text)
{
    return text ? cli_json_text(text) : json_null();
}

static json_t *item_json(const cpubind_item *item)
{
    return json_pack("{s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:s, s:o, s:o}", "kind",
                     cli_kind_word(item->kind), "pid", (int)item->pid, "id", (int)item->id,
                     "name", cli_json_text(item->name), "was", text_json(item->was), "should",
                     text_json(item->should), "actual", text_json(item->actual), "result",
                     cpubind_item_result_word(item->result), "call", text_json(item->what),
                     "error", item->error ? json_string(strerror(item->error)) : json_null());
}

static json_t *items_json(const cpubind_report *report)
{
    json_t *array = json_array();
    for (int32_t i = 0; array && i < report->n; i++)
        array = cli_json_append(array, item_json(&report->item[i]));
    return array;
}

static json_t *node_json(const cpubind_memory_move *memory, int32_t node)
{
    return json_pack("{s:i, s:I, s:I}", "node", (int)node, "was",
                     (json_int_t)memory->before.bytes[node], "is",
                     (json_int_t)memory->after.bytes[node]);
}

/* The bytes that stay on other nodes, by reason. */
static json_t *stays_json(const cpubind_memory_move *memory)
{
    json_t *object = json_object();
    for (int i = 0; object && i < CPUBIND_STAY_COUNT; i++)
        if (json_object_set_new(object, cpubind_memory_stay_word((cpubind_memory_stay)i),
                                json_integer((json_int_t)memory->stay[i]))) {
            json_decref(object);
            return NULL;
        }
    return object;
}

static json_t *memory_json(const cpubind_report *report)
{
    const cpubind_memory_move *memory = &report->memory;
    json_t *array;
    if (!report->has_memory)
        return json_null();
    array = json_array();
    for (int32_t i = 0; array && i < CPUBIND_MAX_NODES; i++)
        if (is_there(memory, i))
            array = cli_json_append(array, node_json(memory, i));
    return json_pack("{s:i, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:b}", "node", (int)memory->node,
                     "nodes", array, "left", (json_int_t)memory->left, "own",
                     (json_int_t)memory->own, "own_left", (json_int_t)memory->own_left, "moved",
                     (json_int_t)memory->moved, "milliseconds", (json_int_t)memory->elapsed_ms,
                     "stays", stays_json(memory), "numa_balancing", memory->is_balancing);
}

json_t *cli_outcome_json(const cli_bound *bound, const cpubind_report *report)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cpubind", CPUBIND_VERSION,
                     "pid", bound->pid ? json_integer(bound->pid) : json_null(), "parent",
                     *bound->parent ? cli_json_text(bound->parent) : json_null(), "npu",
                     report->npu < 0 ? json_null() : json_integer(report->npu), "state",
                     cli_json_text(cpubind_bind_record_path(bound->binding)), "items",
                     items_json(report), "memory", memory_json(report), "warnings",
                     cli_outcome_warnings_json(bound, report));
}
