/* plan_json.c - plans, problems and errors as JSON
 * SPDX-License-Identifier: MIT
 *
 * JSON.md documents the keys. New keys may be added; a key is never renamed or removed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api.h"
#include "settings.h"

static void put_nodes(api_out *to, const cpubind_facts *facts, const api_row *row)
{
    int32_t *nodes = (int32_t *)malloc((size_t)facts->n_node * sizeof *nodes);
    to->is_short |= !nodes;
    api_json_list(to, "nodes", nodes, nodes ? api_nodes_of(facts, row->cpu, row->n, nodes) : 0);
    free(nodes);
}

/* {"code", "text"}, and the NPU, CPU, counts, input and place of the problem, where it has
 * them. */
static void put_details(api_out *to, const cpubind_problem *p, const char *text)
{
    const cpubind_position place = api_place(p);
    api_json_open(to, "error", '{');
    api_json_text(to, "code", cpubind_problem_word(p->code));
    api_json_text(to, "text", text);
    if (p->device >= 0)
        api_json_number(to, "npu", p->device);
    if (p->other >= 0)
        api_json_number(to, "other_npu", p->other);
    if (p->cpu >= 0)
        api_json_number(to, "cpu", p->cpu);
    if (p->need > 0) {
        api_json_number(to, "need", p->need);
        api_json_number(to, "have", p->have);
    }
    if (p->uncut > 0)
        api_json_number(to, "uncut", p->uncut);
    if (p->input)
        api_json_text(to, "input", p->input);
    if (place.line > 0) {
        api_json_number(to, "line", place.line);
        api_json_number(to, "column", place.column);
    }
    api_json_close(to, '}');
}

/* Appends the name of a row; null where it has none. */
static void put_name(api_out *to, const char *key, const api_row *row)
{
    api_text name = {"", 0};
    api_json_text(to, key, api_add_name(&name, row) ? name.text : NULL);
}

/* The numbers that only an NPU has. */
static void put_npu(api_out *to, const cpubind_host_device *npu)
{
    api_json_id(to, "npu", npu->logic);
    api_json_id(to, "card", npu->card);
    api_json_id(to, "chip", npu->chip);
    api_json_id(to, "phy", npu->phy);
}

static void put_device(api_out *to, const api_planned *p, const api_options *options, int32_t i)
{
    const cpubind_facts *facts = &p->facts;
    const api_row row = api_shown(facts, &p->plan, i);
    api_text pci = {"", 0};
    api_json_open(to, NULL, '{');
    put_name(to, "name", &row);
    api_json_id(to, "number", row.number);
    api_json_number(to, "rank", row.rank);
    api_json_text(to, "vendor", cpubind_vendor_word(row.device->accelerator.vendor));
    api_json_text(to, "product", row.device->accelerator.product);
    if (row.device->pci.domain >= 0)
        api_add_pci(&pci, &row.device->pci);
    api_json_text(to, "pci", pci.len > 0 ? pci.text : NULL);
    if (cpubind_is_listed(row.device))
        put_npu(to, row.device);
    if (row.tile >= 0)
        api_json_number(to, "tile", row.tile);
    if (facts->has_processes && cpubind_is_listed(row.device))
        api_json_bool(to, "running", row.device->is_running);
    else
        api_json_null(to, "running");
    api_json_id(to, "node", row.node);
    api_json_list(to, "pool", row.cpu, row.n);
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        int32_t n;
        const int32_t *cpu = api_role_of(&row, (cpubind_role)role, &n);
        api_json_list(to, cpubind_role_word((cpubind_role)role), cpu, n);
    }
    put_nodes(to, facts, &row);
    api_json_id(to, "memory_node", row.memory_node);
    api_json_quality(to, "quality", row.figures, 1);
    if (row.problem) {
        api_text why = {"", 0};
        api_explain_row(p, options, &row, &why);
        put_details(to, row.problem, why.text);
    } else {
        api_json_null(to, "error");
    }
    api_json_close(to, '}');
}

static void put_quota(api_out *to, const cpubind_facts *facts)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%g", facts->quota / 1000.0);
    if (facts->quota > 0)
        api_json_value(to, "quota", text);
    else
        api_json_null(to, "quota");
}

/* The members that only a plan with such an option has. */
static void put_asked(api_out *to, const cpubind_request *q, const cpubind_device_plan *plan)
{
    if (q->exclude)
        api_json_list(to, "excluded", q->exclude, q->n_exclude);
    if (q->keep || q->keep_each > 0)
        api_json_list(to, "kept", plan->kept, plan->n_kept);
    if (q->n_process > 1) {
        api_json_number(to, "processes", q->n_process);
        api_json_number(to, "process", q->process);
    }
}

static void put_setting(void *ctx, const char *key, const char *value)
{
    api_out *to = (api_out *)ctx;
    api_text text = {"", 0};
    api_add(&text, "%s = %s", key, value);
    api_json_text(to, NULL, text.text);
}

/* The settings of the host that counted, as lines of its file. */
static void put_settings(api_out *to, const api_options *options, cpubind_rules rules)
{
    if (!options->counted)
        return;
    api_json_open(to, "settings", '[');
    api_each_setting(options, rules, put_setting, to);
    api_json_close(to, ']');
}

void api_json_plan(api_out *to, const api_planned *p, const api_options *options)
{
    const cpubind_facts *facts = &p->facts;
    const cpubind_device_plan *plan = &p->plan;
    const int32_t ranked = api_rank_row(p, options);
    api_json_open(to, NULL, '{');
    api_json_text(to, "cpubind", CPUBIND_VERSION);
    api_json_number(to, "format", API_JSON_FORMAT);
    api_json_text(to, "device_type", facts->has_listed ? cpubind_type_word(facts->type) : NULL);
    api_json_text(to, "strategy", api_strategy_word(plan->core.strategy));
    api_json_text(to, "rules", cpubind_rules_word(plan->rules));
    api_json_text(to, "scope", cpubind_scope_word(facts->scope));
    api_json_text(to, "facts", facts->has_listed ? cpubind_origin_word(facts->origin) : NULL);
    api_json_text(to, "overlap", api_finding_word(plan->core.overlap));
    put_settings(to, options, plan->rules);
    api_json_number(to, "rank", options->request.rank);
    if (ranked >= 0) {
        const api_row row = api_shown(facts, plan, ranked);
        put_name(to, "rank_device", &row);
    } else {
        api_json_null(to, "rank_device");
    }
    api_json_list(to, "allowed", facts->cpu, facts->n_cpu);
    put_quota(to, facts);
    api_json_number(to, "total", plan->total);
    api_json_number(to, "hidden", plan->n_hidden);
    api_json_number(to, "idle", plan->n_idle);
    api_json_open(to, "devices", '[');
    for (int32_t i = 0; i < plan->n_unit; i++)
        put_device(to, p, options, i);
    api_json_close(to, ']');
    api_json_quality(to, "quality", api_figures_of(plan), 0);
    api_json_warnings(to, "warnings", p);
    api_json_close(to, ']');
    if (plan->core.strategy == CPUBIND_CLUSTER)
        api_json_list(to, "uvb", plan->spare, plan->n_spare);
    put_asked(to, &options->request, plan);
    api_json_close(to, '}');
}

void api_json_problem(api_out *to, const cpubind_problem *problem, const char *text)
{
    api_json_open(to, NULL, '{');
    api_json_text(to, "cpubind", CPUBIND_VERSION);
    put_details(to, problem, text);
}

void api_json_error(api_out *to, const char *code, const char *text)
{
    api_json_open(to, NULL, '{');
    api_json_text(to, "cpubind", CPUBIND_VERSION);
    api_json_open(to, "error", '{');
    api_json_text(to, "code", code);
    api_json_text(to, "text", text);
    api_json_close(to, '}');
    api_json_close(to, '}');
}
