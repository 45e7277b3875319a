/* plan_json.c - plans, problems and errors as JSON
 * SPDX-License-Identifier: MIT
 *
 * JSON.md documents the keys. New keys may be added; a key is never renamed or removed.
 */
#include <stdlib.h>

#include "../plan/what_if.h"
#include "api.h"
#include "nics.h"
#include "settings.h"

static words_value *nodes_json(const cpubind_facts *facts, const int32_t *cpu, int32_t n)
{
    int32_t *nodes = (int32_t *)malloc(((size_t)facts->n_node + 1) * sizeof *nodes);
    words_value *value = nodes ? words_list(nodes, api_nodes_of(facts, cpu, n, nodes)) : NULL;
    free(nodes);
    return value;
}

/* The name of a device of the plan; of a number that no device has, it is that of an NPU. */
static words_value *called_json(const cpubind_facts *facts, int32_t logic)
{
    char name[CPUBIND_DEVICE_NAME_SIZE];
    cpubind_device_name(cpubind_vendor_listed(), logic, NULL, name);
    for (int32_t i = 0; i < facts->n_device; i++)
        if (facts->device[i]->logic == logic)
            cpubind_function_name(facts->device[i], name);
    return words_text(name);
}

/* {"code", "text"}, and the device, CPU, counts, input and place of the problem, where it has
 * them. */
static words_value *details_json(const cpubind_facts *facts, const cpubind_problem *p,
                                 const char *text)
{
    const cpubind_position place = api_place(p);
    words_value *error = words_make("code:s text:s", cpubind_problem_word(p->code), text);
    if (p->device >= 0)
        words_set(error, "device", called_json(facts, p->device));
    if (p->other >= 0)
        words_set(error, "other_device", called_json(facts, p->other));
    if (p->cpu >= 0)
        words_set(error, "cpu", words_number(p->cpu));
    if (p->need > 0)
        words_move(error, words_make("need:i have:i", (int)p->need, (int)p->have));
    if (p->uncut > 0)
        words_set(error, "uncut", words_number(p->uncut));
    if (p->input)
        words_set(error, "input", words_text(p->input));
    if (place.line > 0)
        words_move(error, words_make("line:i column:i", (int)place.line, (int)place.column));
    return error;
}

/* The name of a row; null where it has none. */
static words_value *name_json(const api_row *row)
{
    api_text name = {"", 0};
    return words_text(api_add_name(&name, row) ? name.text : NULL);
}

words_value *api_npu_json(const cpubind_host_device *npu)
{
    return words_make("npu:v card:v chip:v phy:v", words_id(npu->logic), words_id(npu->card),
                      words_id(npu->chip), words_id(npu->phy));
}

static words_value *device_json(const api_planned *p, const api_options *options, int32_t i)
{
    const cpubind_facts *facts = &p->facts;
    const api_row row = api_shown(facts, &p->plan, i);
    api_text why = {"", 0};
    words_value *device =
        words_make("name:v number:v rank:i vendor:s product:s pci:v", name_json(&row),
                   words_id(row.number), (int)row.rank,
                   cpubind_vendor_word(row.device->accelerator.vendor),
                   row.device->accelerator.product, api_pci_json(&row.device->pci));
    if (cpubind_is_listed(row.device))
        words_move(device, api_npu_json(row.device));
    if (row.tile >= 0)
        words_set(device, "tile", words_number(row.tile));
    words_set(device, "running",
              facts->has_processes && cpubind_is_listed(row.device)
                  ? words_bool(row.device->is_running)
                  : words_null());
    words_set(device, "node", words_id(row.node));
    words_set(device, "pool", words_list(row.cpu, row.n));
    for (int32_t role = 0; role < cpubind_plan_n_role(&p->plan); role++) {
        int32_t n;
        const int32_t *cpu = api_role_of(&row, (cpubind_role)role, &n);
        words_set(device, cpubind_role_name((cpubind_role)role), words_list(cpu, n));
    }
    if (row.problem)
        api_explain_row(p, options, &row, &why);
    words_move(
        device,
        words_make("nodes:v memory_node:v quality:v error:v", nodes_json(facts, row.cpu, row.n),
                   words_id(row.memory_node), api_quality_json(row.figures, 1),
                   row.problem ? details_json(facts, row.problem, why.text) : words_null()));
    api_set_cards(device, p, row.device);
    return device;
}

/* The CPUs that the quota of the cgroup is worth. */
static words_value *quota_json(const cpubind_facts *facts)
{
    if (facts->quota <= 0)
        return words_null();
    return facts->quota % 1000 ? words_real((double)facts->quota / 1000)
                               : words_number(facts->quota / 1000);
}

/* Adds the members that only a plan with such an option has. */
static void add_asked(words_value *plan, const cpubind_request *q,
                      const cpubind_device_plan *of)
{
    if (q->exclude)
        words_set(plan, "excluded", words_list(q->exclude, q->n_exclude));
    if (q->keep || q->keep_each > 0)
        words_set(plan, "kept", words_list(of->kept, of->n_kept));
    if (q->n_process > 1)
        words_move(plan,
                   words_make("processes:i process:i", (int)q->n_process, (int)q->process));
}

static void add_setting(void *ctx, const char *key, const char *value)
{
    api_text text = {"", 0};
    api_add(&text, "%s = %s", key, value);
    words_add((words_value *)ctx, words_text(text.text));
}

/* The settings of the host that counted, as lines of its file. */
static words_value *settings_json(const api_options *options, cpubind_rules rules)
{
    words_value *settings = words_array();
    api_each_setting(options, rules, add_setting, settings);
    return settings;
}

static words_value *devices_json(const api_planned *p, const api_options *options)
{
    words_value *devices = words_array();
    for (int32_t i = 0; i < p->plan.n_unit; i++)
        words_add(devices, device_json(p, options, i));
    return devices;
}

/* The processes beside the devices, each with the devices that it serves. */
static words_value *beside_json(const api_planned *p)
{
    words_value *array = words_array();
    for (int32_t i = 0; i < p->plan.n_beside; i++) {
        const cpubind_beside *one = &p->plan.beside[i];
        words_value *devices = words_array();
        api_text process = {"", 0};
        for (int32_t d = 0; d < p->plan.n_candidate; d++) {
            const cpubind_candidate *served = &p->plan.candidate[d];
            char name[CPUBIND_DEVICE_NAME_SIZE];
            if (served->slot < one->first || served->slot >= one->first + one->n_served)
                continue;
            cpubind_function_name(cpubind_candidate_is(&p->facts, served), name);
            words_add(devices, words_text(name));
        }
        api_add(&process, "%s %d", cpubind_beside_word(one->kind), (int)one->number);
        words_add(array, words_make("process:s devices:v cores:i cpus:v nodes:v", process.text,
                                    devices, (int)one->n_core, words_list(one->cpu, one->n_cpu),
                                    nodes_json(&p->facts, one->cpu, one->n_cpu)));
    }
    return array;
}

static words_value *rank_json(const api_planned *p, const api_options *options)
{
    const int32_t ranked = api_rank_row(p, options);
    if (ranked < 0)
        return words_null();
    const api_row row = api_shown(&p->facts, &p->plan, ranked);
    return name_json(&row);
}

words_value *api_plan_json(const api_planned *p, const api_options *options)
{
    const cpubind_facts *facts = &p->facts;
    const cpubind_device_plan *plan = &p->plan;
    words_value *json = words_make(
        "cpubind:s format:i device_type:s strategy:s rules:s scope:s facts:s overlap:s",
        CPUBIND_VERSION, API_JSON_FORMAT,
        facts->has_listed ? cpubind_type_word(facts->type) : NULL,
        api_strategy_word(plan->core.strategy), cpubind_rules_word(plan->rules),
        cpubind_scope_word(facts->scope),
        facts->has_listed ? cpubind_origin_word(facts->origin) : NULL,
        api_finding_word(plan->core.overlap));
    if (options->counted)
        words_set(json, "settings", settings_json(options, plan->rules));
    words_move(json,
               words_make("rank:i rank_device:v allowed:v quota:v total:i hidden:i "
                          "idle:i devices:v quality:v warnings:v",
                          (int)options->request.rank, rank_json(p, options),
                          words_list(facts->cpu, facts->n_cpu), quota_json(facts),
                          (int)plan->total, (int)plan->n_hidden, (int)plan->n_idle,
                          devices_json(p, options), api_quality_json(api_figures_of(plan), 0),
                          api_warnings_json(p)));
    if (plan->core.strategy == CPUBIND_CLUSTER)
        words_set(json, "uvb", words_list(plan->spare, plan->n_spare));
    if (plan->n_beside > 0)
        words_set(json, "beside", beside_json(p));
    add_asked(json, &options->request, plan);
    return json;
}

/* The pools alone, by name. */
static words_value *pools_json(const api_planned *p)
{
    words_value *pools = words_array();
    for (int32_t i = 0; i < p->plan.n_unit; i++) {
        const api_row row = api_shown(&p->facts, &p->plan, i);
        words_add(pools, words_make("name:v pool:v nodes:v", name_json(&row),
                                    words_list(row.cpu, row.n),
                                    nodes_json(&p->facts, row.cpu, row.n)));
    }
    return pools;
}

const char *api_assumed(const api_options *options)
{
    return options->what_if == CPUBIND_WHAT_IF_SMT_OFF ? CPUBIND_WHAT_IF_THREADS
                                                       : CPUBIND_WHAT_IF_NODES;
}

words_value *api_what_if_json(const api_planned *now, const api_planned *then,
                              const api_options *options)
{
    words_value *json = api_plan_json(now, options);
    words_set(json, "what_if",
              words_make("setting:s assumed:s cpus:i nodes:i devices:v quality:v",
                         options->what_if_word, api_assumed(options), (int)then->facts.n_online,
                         (int)then->facts.n_node, pools_json(then),
                         api_quality_json(api_figures_of(&then->plan), 0)));
    return json;
}

words_value *api_problem_json(const api_planned *planned, const char *text)
{
    return words_make("cpubind:s error:v", CPUBIND_VERSION,
                      details_json(&planned->facts, &planned->problem, text));
}

words_value *api_error_json(const char *code, const char *text)
{
    return words_make("cpubind:s error:{code:s text:s}", CPUBIND_VERSION, code, text);
}
