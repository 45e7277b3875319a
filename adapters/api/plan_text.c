/* plan_text.c - a plan as text: log lines, a table and findings
 * SPDX-License-Identifier: MIT
 *
 * Operators search their logs for the log lines: no character of them may change.
 */
#include <stdlib.h>
#include <string.h>

#include "../model/vendor.h"
#include "../text/cpulist.h"
#include "device_plan.h"
#include "settings.h"

const char *api_strategy_word(cpubind_strategy strategy)
{
#define API_X(name, word) [CPUBIND_##name] = word,
    static const char *const words[] = {API_STRATEGY_LIST(API_X)[CPUBIND_NEAR] = "near"};
#undef API_X
    return words[strategy];
}

const char *api_finding_word(cpubind_finding finding)
{
    static const char *const words[] = {[CPUBIND_FOUND_NONE] = "none",
                                        [CPUBIND_FOUND_RESOLVED] = "resolved",
                                        [CPUBIND_FOUND_PRESENT] = "present"};
    return words[finding];
}

/* == Ranks ================================================================== */

/* Whether ranks of the first device are tiles of it. */
static int has_tiles(const cpubind_facts *facts)
{
    const cpubind_host_device *device = &facts->bus[0];
    return facts->is_joined && device->accelerator.n_tile > 1 && device->n_number > 0 &&
           device->tile[0] >= 0;
}

int api_drives_only_device(const cpubind_facts *facts, const api_options *options)
{
    return (facts->is_joined && facts->n_bus > 1) || has_tiles(facts) ||
           options->topo.n_named == 1;
}

void api_add_only_device(const cpubind_facts *facts, api_text *why)
{
    if (!facts->is_joined || facts->n_bus != 1 || has_tiles(facts))
        return;
    api_add(why, ": this is the only one of the host, and its ranks would have the same CPUs; "
                 "cpubind apply --all gives each process a part of them, and "
                 "--device ");
    api_add_pci(why, &facts->bus[0].pci);
    api_add(why, " for each rank lets them share");
}

const char *api_rank_doubt(const cpubind_facts *f, const api_options *options)
{
    const char *why = NULL;
    int32_t n_shown = 0;
    for (int32_t i = 0; f->is_joined && i < f->n_bus; i++) {
        if (f->bus[i].sight == CPUBIND_SIGHT_UNKNOWN && !why)
            why = f->runtime[f->bus[i].accelerator.vendor].why;
        n_shown += f->bus[i].sight != CPUBIND_SIGHT_HIDDEN;
    }
    return n_shown > 1 && options->topo.n_named == 0 ? why : NULL;
}

/* == Rows =================================================================== */

/* The node of an NPU by the plan, which knows the CPUs near it. */
static int32_t node_of(const cpubind_device_plan *plan, int32_t npu)
{
    return plan->of_device[npu] < 0 ? -1 : plan->candidate[plan->of_device[npu]].node;
}

api_row api_shown(const cpubind_facts *facts, const cpubind_device_plan *plan, int32_t i)
{
    const cpubind_unit *unit = &plan->unit[i];
    const cpubind_host_device *npu = facts->device[unit->device];
    api_row row = {.device = npu,
                   .id = unit->id,
                   .rank = unit->rank < 0 ? 0 : unit->rank,
                   .tile = unit->tile,
                   .number = unit->number,
                   .cpu = unit->cpu,
                   .n = unit->n_cpu,
                   .role_cpu = unit->role_cpu,
                   .roles = unit->roles,
                   .memory_node = unit->memory_node,
                   .problem = unit->row < 0 ? &unit->problem : NULL};
    row.node = cpubind_is_listed(npu) ? node_of(plan, unit->device) : npu->node;
    if (unit->row >= 0 && unit->tile < 0)
        row.figures = api_figures_of_row(plan, unit->row);
    for (int32_t k = 0; k < facts->n_device; k++)
        row.rank += cpubind_is_listed(facts->device[k]) && facts->device[k]->is_visible &&
                    k < unit->device;
    return row;
}

int api_add_name(api_text *to, const api_row *row)
{
    const char *noun = cpubind_vendor_of(row->device->accelerator.vendor)->noun;
    if (!noun || row->number < 0)
        return 0;
    api_add(to, "%s%d", noun, (int)row->number);
    return 1;
}

void api_add_row(api_text *to, const cpubind_facts *facts, const api_row *row)
{
    api_add(to, "%s %d", facts->noun, (int)row->id);
}

int api_is_of_bus(const api_planned *p, const api_options *options)
{
    return api_asks_for_devices(options) || !p->facts.has_listed;
}

int32_t api_rank_row(const api_planned *p, const api_options *options)
{
    const int32_t rank = options->request.rank, n = p->plan.n_unit;
    int32_t only = -1;
    if (!options->request.has_rank)
        return -1;
    if (api_is_of_bus(p, options))
        return rank < n ? rank : n == 1 && api_drives_only_device(&p->facts, options) ? 0 : -1;
    for (int32_t i = 0; i < n; i++) {
        if (p->plan.unit[i].row != p->plan.rank_row)
            continue;
        if (api_shown(&p->facts, &p->plan, i).rank == rank)
            return i;
        only = i;
    }
    return only;
}

int32_t api_unit_of(const api_planned *p, const api_options *options)
{
    if (options->request.has_rank)
        return api_rank_row(p, options);
    for (int32_t i = 0; !api_is_of_bus(p, options) && i < p->plan.n_unit; i++)
        if (p->plan.unit[i].row == p->plan.rank_row)
            return options->one_npu >= 0 || p->plan.n_unit == 1 ? i : -1;
    return p->plan.n_unit == 1 ? 0 : -1;
}

int32_t api_nodes_of(const cpubind_facts *facts, const int32_t *cpu, int32_t n_cpu,
                     int32_t *out)
{
    int32_t n = 0;
    for (int32_t i = 0; i < facts->n_node; i++) {
        int32_t touched = 0;
        for (int32_t k = 0; k < n_cpu && !touched; k++)
            touched = facts->node_of[cpu[k]] == facts->node_id[i];
        if (touched)
            out[n++] = facts->node_id[i];
    }
    return n;
}

/* Prints the CPUs of a role, as in "146 147 148". */
static void put_role(api_out *to, const api_row *row, cpubind_role role)
{
    int32_t n;
    const int32_t *cpu = api_role_of(row, role, &n);
    for (int32_t i = 0; i < n; i++)
        api_put(to, "%s%d", i ? " " : "", (int)cpu[i]);
}

/* The mode as vllm-ascend logs it: that of the product, also where the plan is of clusters, or
 * of slices because no affinity is known. */
static const char *logged_mode(const cpubind_facts *facts, const api_options *options,
                               const cpubind_device_plan *plan)
{
    const int is_instead = plan->core.strategy == CPUBIND_GLOBAL_SLICE &&
                           options->request.is_auto_strategy &&
                           cpubind_product_of(facts->type)->strategy == CPUBIND_TOPO_AFFINITY;
    return api_strategy_word(is_instead || plan->core.strategy == CPUBIND_CLUSTER
                                 ? CPUBIND_TOPO_AFFINITY
                                 : plan->core.strategy);
}

/* Prints the lines that operators search their logs for; with --no-lists the first alone. */
static void put_log_lines(api_out *to, const cpubind_facts *facts, const api_options *options,
                          const cpubind_device_plan *plan)
{
    const cpubind_product *product = cpubind_product_of(facts->type);
    api_put(to, "[cpu_bind_mode] mode=%s rank=%d visible_npus=[",
            logged_mode(facts, options, plan), (int)options->request.rank);
    for (int32_t i = 0; i < plan->n_unit && plan->unit[i].rank < 0; i++)
        api_put(to, "%s%d", i ? ", " : "", (int)plan->unit[i].id);
    api_put_text(to, "]\n");
    if (options->no_lists)
        return;
    api_put_text(to, "The CPU allocation plan is as follows:\n");
    for (int32_t i = 0; i < plan->n_unit && plan->unit[i].rank < 0; i++) {
        const api_row row = api_shown(facts, plan, i);
        if (row.problem)
            continue;
        api_put(to, "%sNPU%d: %s=[", product->log_name, (int)row.device->logic,
                product->log_main);
        put_role(to, &row, CPUBIND_ROLE_MAIN);
        for (int role = CPUBIND_ROLE_MAIN + 1; role < CPUBIND_ROLE_COUNT; role++) {
            if (product->roles.count[role] == 0)
                continue;
            /* The log of vllm-ascend has a printed list there: release=[[167]]. */
            const int is_list = role == CPUBIND_ROLE_RELEASE;
            api_put(to, "]  %s=[%s", cpubind_role_word((cpubind_role)role), is_list ? "[" : "");
            put_role(to, &row, (cpubind_role)role);
            api_put_text(to, is_list ? "]" : "");
        }
        api_put_text(to, "]\n");
    }
}

/* Which columns a table of this plan has. */
typedef struct columns {
    int has_npu, has_product, has_running, has_role[CPUBIND_ROLE_COUNT];
} columns;

static columns columns_of(const cpubind_facts *facts, const cpubind_device_plan *plan)
{
    columns c = {0};
    for (int32_t i = 0; i < plan->n_unit; i++) {
        const api_row row = api_shown(facts, plan, i);
        for (int role = 0; role < CPUBIND_ROLE_COUNT; role++)
            c.has_role[role] |= cpubind_is_listed(row.device) || row.roles.span[role].count > 0;
        c.has_npu |= cpubind_is_listed(row.device);
        c.has_product |= !cpubind_is_listed(row.device);
    }
    c.has_running = c.has_npu;
    return c;
}

static void add_row(api_table *table, const cpubind_facts *facts, const api_row *row,
                    const columns *c, int32_t *nodes)
{
    const cpubind_host_device *npu = row->device;
    api_text pci = {"", 0}, name = {"", 0};
    api_cell_number(table, row->id);
    if (c->has_product) {
        const char *product = npu->accelerator.product;
        api_cell(table, "%s", api_add_name(&name, row) ? name.text : "-");
        api_cell(table, "%s",
                 product ? product : cpubind_vendor_word(row->device->accelerator.vendor));
    }
    if (c->has_npu) {
        api_cell_number(table, npu->card);
        api_cell_number(table, npu->chip);
        api_cell_number(table, npu->phy);
    }
    if (npu->pci.domain >= 0)
        api_add_pci(&pci, &npu->pci);
    api_cell(table, "%s", pci.len > 0 ? pci.text : "-");
    if (c->has_product)
        api_cell_number(table, row->node);
    if (c->has_running)
        api_cell(table, "%s",
                 !facts->has_processes || !cpubind_is_listed(npu) ? "-"
                 : npu->is_running                                ? "yes"
                                                                  : "no");
    api_cell_number(table, row->n);
    for (int32_t i = 0; i < CPUBIND_ROLE_COUNT; i++) {
        int32_t n;
        const int32_t *cpu = api_role_of(row, (cpubind_role)i, &n);
        if (c->has_role[i])
            api_cell_list(table, cpu, n);
    }
    api_cell_list(table, nodes, api_nodes_of(facts, row->cpu, row->n, nodes));
    api_cell_number(table, row->memory_node);
}

/* Adds the heads of the columns. */
static void add_heads(api_table *table, const cpubind_facts *facts, const columns *c)
{
    const struct {
        int is_there;
        const char *head;
    } heads[] = {
        {1, facts->noun},
        {c->has_product, "name"},
        {c->has_product, "product"},
        {c->has_npu, "card"},
        {c->has_npu, "chip"},
        {c->has_npu, "phy"},
        {1, "PCI"},
        {c->has_product, "node"},
        {c->has_running, "running"},
        {1, "CPUs"},
#define CPUBIND_X(name, word) {c->has_role[CPUBIND_ROLE_##name], word},
        CPUBIND_ROLE_LIST(CPUBIND_X)
#undef CPUBIND_X
            {1, "nodes"},
        {1, "memory node"},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        table->n_column += heads[i].is_there;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (heads[i].is_there)
            api_cell(table, "%s", heads[i].head);
}

void api_put_rows(api_out *to, const api_planned *planned, int32_t only)
{
    const cpubind_facts *facts = &planned->facts;
    const columns c = columns_of(facts, &planned->plan);
    api_table table = {0};
    int32_t *nodes = (int32_t *)malloc((size_t)facts->n_node * sizeof *nodes);
    if (!nodes) {
        to->is_short = 1;
        return;
    }
    add_heads(&table, facts, &c);
    for (int32_t i = 0; i < planned->plan.n_unit; i++) {
        const api_row row = api_shown(facts, &planned->plan, i);
        if (only < 0 || i == only)
            add_row(&table, facts, &row, &c, nodes);
    }
    api_put_table(to, &table);
    free(nodes);
}

/* Whether the CPUs near a device meet the CPUs that pools are cut from. */
static int has_home(const cpubind_facts *facts, const int32_t *near_cpu, int32_t n)
{
    if (facts->scope == CPUBIND_SCOPE_HOST)
        return n > 0;
    for (int32_t i = 0, at = 0; i < n; i++)
        if (cpubind_list_has(facts->cpu, facts->n_cpu, near_cpu[i], &at))
            return 1;
    return 0;
}

/* Appends the NPUs whose pools were checked for overlap: those with a home, also hidden ones;
 * with slices all of them. */
static void add_checked(const cpubind_facts *facts, const cpubind_device_plan *plan,
                        api_text *out)
{
    int32_t n = 0, n_hidden = 0, n_unknown = 0, *ids;
    if (plan->core.strategy == CPUBIND_GLOBAL_SLICE) {
        api_add(out, "all %d NPUs that slices are cut for", (int)plan->total);
        return;
    }
    ids = (int32_t *)malloc(((size_t)plan->n_candidate + 1) * sizeof *ids);
    for (int32_t i = 0; ids && i < plan->n_candidate; i++) {
        const cpubind_candidate *c = &plan->candidate[i];
        const int is_at_home = has_home(facts, c->near_cpus.cpu, c->near_cpus.n);
        if (c->device >= 0 && is_at_home)
            ids[n++] = facts->device[c->device]->logic;
        else if (c->device < 0) {
            n_unknown += c->near_cpus.n == 0;
            n_hidden += is_at_home;
        }
    }
    (void)!cpubind_list_sort(ids, &n);
    api_add(out, "%ss ", facts->noun);
    api_add_list(out, ids, n);
    free(ids);
    if (n_hidden > 0)
        api_add(out, " and %d hidden", (int)n_hidden);
    if (n_unknown > 0)
        api_add(out, ", not over %d hidden: which CPUs are near them is not known",
                (int)n_unknown);
}

void api_explain_row(const api_planned *p, const api_options *options, const api_row *row,
                     api_text *to)
{
    const cpubind_problem *problem = row->problem;
    if (cpubind_is_listed(row->device)) {
        api_explain_problem(problem, &p->facts, options, to);
        return;
    }
    api_add_pci(to, &row->device->pci);
    if (row->tile >= 0)
        api_add(to, ", tile %d,", (int)row->tile);
    if (problem->code == CPUBIND_PROBLEM_TOO_FEW_CPUS && problem->need > 0)
        api_add(to, " has no pool: its roles need %d CPU%s, it would have %d",
                (int)problem->need, problem->need == 1 ? "" : "s", (int)problem->have);
    else
        api_add(to, " has no pool: the CPUs near it are not known, or none is allowed");
    if (row->device->origin == CPUBIND_NODE_ORIGIN_UNKNOWN)
        api_add(to, "; no file of the kernel tells its node");
}

/* Says that the process sees no device, with the variables that count. */
static void put_blind(api_out *to, const cpubind_facts *facts)
{
    const char *before = ": ";
    api_put(to, "this process sees none of the %d devices", (int)facts->n_bus);
    for (int vendor = 0; vendor < CPUBIND_VENDOR_COUNT; vendor++)
        for (int i = 0; i < 2; i++) {
            const cpubind_runtime_view *view = &facts->runtime[vendor];
            if (!view->variable[i])
                continue;
            api_put(to, "%s%s=%.*s", before, view->variable[i],
                    view->value_len[i] < 200 ? (int)view->value_len[i] : 200, view->value[i]);
            before = ", ";
        }
    api_put_text(to, "\n");
}

/* Prints a line for each row without a pool: why. */
static void put_poolless(api_out *to, const api_planned *p, const api_options *options)
{
    if (p->plan.n_unit == 0)
        put_blind(to, &p->facts);
    for (int32_t i = 0; i < p->plan.n_unit; i++) {
        const api_row row = api_shown(&p->facts, &p->plan, i);
        api_text text = {"", 0};
        if (!row.problem)
            continue;
        api_explain_row(p, options, &row, &text);
        api_put(to, "%s%s\n", cpubind_is_listed(row.device) ? "no pool: " : "", text.text);
    }
}

static void put_findings(api_out *to, const api_planned *p, const api_options *options)
{
    const cpubind_facts *facts = &p->facts;
    const cpubind_device_plan *plan = &p->plan;
    const int32_t ranked = api_rank_row(p, options);
    const char *doubt = api_rank_doubt(facts, options);
    api_text text = {"", 0};
    if (facts->has_listed)
        api_add(&text, "device type %s, ", cpubind_type_word(facts->type));
    api_add(&text, "allowed CPUs ");
    api_add_allowed(&text, facts, options);
    if (ranked >= 0) {
        const api_row row = api_shown(facts, plan, ranked);
        api_add(&text, ", rank %d drives ", (int)options->request.rank);
        api_add_row(&text, facts, &row);
    }
    api_add(&text, "\noverlap: %s%s, checked over ", api_finding_word(plan->core.overlap),
            plan->warnings & CPUBIND_WARNS(PARTS) ? " but of parts of a card" : "");
    add_checked(facts, plan, &text);
    if (plan->n_kept > 0) {
        api_add(&text, "\nkept for the host: CPUs ");
        api_add_list(&text, plan->kept, plan->n_kept);
    }
    if (options->request.n_process > 1)
        api_add(&text,
                "\nprocess %d of %d of each %s, from 0 on: its own main, acl and release; irq "
                "is shared",
                (int)options->request.process, (int)options->request.n_process, facts->noun);
    if (plan->n_spare > 0) {
        api_add(&text, "\nUVB polling threads of the host: CPUs ");
        api_add_list(&text, plan->spare, plan->n_spare);
    }
    if (doubt)
        api_add(&text, "\nthe ranks are by address: %s", doubt);
    api_put(to, "%s\n", text.text);
}

void api_put_rules(api_out *to, cpubind_rules rules)
{
    api_put(to, "rules %s: %s\n", cpubind_rules_word(rules),
            rules == CPUBIND_RULES_NEAR ? "devices take whole cores in turns"
                                        : "as vllm-ascend binds");
}

static void put_value(void *ctx, const char *key, const char *value)
{
    api_out *to = (api_out *)ctx;
    const int is_first = to->text[to->len - 1] == ':';
    api_put(to, "%s %s = %s", is_first ? "" : ",", key, value);
}

/* The settings of the host that counted. */
static void put_settings(api_out *to, const api_options *options, cpubind_rules rules)
{
    if (!options->counted)
        return;
    api_put(to, "settings of %s:", API_CONF_PATH);
    api_each_setting(options, rules, put_value, to);
    api_put_text(to, "\n");
}

void api_put_plan(api_out *to, const api_planned *planned, const api_options *options)
{
    const cpubind_facts *facts = &planned->facts;
    const cpubind_device_plan *plan = &planned->plan;
    const int has_npu = plan->n_unit > 0 && plan->unit[0].rank < 0;
    if (!options->quiet) {
        put_settings(to, options, plan->rules);
        api_put_rules(to, plan->rules);
    }
    if (has_npu)
        put_log_lines(to, facts, options, plan);
    if (options->quiet && has_npu)
        return;
    if (has_npu)
        api_put_text(to, "\n");
    api_put_rows(to, planned, -1);
    put_poolless(to, planned, options);
    if (options->quiet)
        return;
    api_put_text(to, "\n");
    put_findings(to, planned, options);
    api_put_text(to, "\n");
    api_put_quality(to, facts->noun, api_figures_of(plan));
    api_put_text(to, "\n");
    api_put_map(to, planned, options);
}
