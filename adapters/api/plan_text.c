/* print.c - a plan as text: log lines, a table and findings
 * SPDX-License-Identifier: MIT
 *
 * Operators search their logs for the log lines: no character of them may change.
 */
#include <stdlib.h>
#include <string.h>

#include "api.h"

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

api_row api_row_of(const cpubind_facts *facts, const cpubind_ascend_plan *plan, int32_t i)
{
    api_row row;
    memset(&row, 0, sizeof row);
    row.npu = &facts->npu[plan->want[i]];
    row.cpu = plan->core.cpu + plan->core.row[i];
    row.n = plan->core.row[i + 1] - plan->core.row[i];
    row.role_cpu = plan->role_cpu + plan->role_row[i];
    row.roles = plan->role_span[i];
    row.memory_node = plan->memory_node[i];
    row.figures = api_figures_of_row(plan, i);
    return row;
}

const int32_t *api_role_of(const api_row *row, cpubind_role role, int32_t *n)
{
    *n = row->roles.span[role].count;
    return *n > 0 ? row->role_cpu + row->roles.span[role].first : NULL;
}

int32_t api_n_shown(const cpubind_ascend_plan *plan)
{
    return plan->n_want + plan->n_poolless;
}

api_row api_shown(const cpubind_facts *facts, const cpubind_ascend_plan *plan, int32_t i)
{
    int32_t row = 0, k = 0;
    api_row none;
    for (;;) {
        const int is_poolless =
            k < plan->n_poolless &&
            (row == plan->n_want || plan->poolless[k].npu < plan->want[row]);
        if (row + k == i && !is_poolless)
            return api_row_of(facts, plan, row);
        if (row + k == i)
            break;
        if (is_poolless)
            k++;
        else
            row++;
    }
    memset(&none, 0, sizeof none);
    none.npu = &facts->npu[plan->poolless[k].npu];
    none.memory_node = -1;
    none.problem = &plan->poolless[k].problem;
    return none;
}

int32_t api_rank_npu(const api_planned *p, const api_options *options)
{
    if (!options->request.has_rank || p->plan.rank_row < 0)
        return -1;
    return p->facts.npu[p->plan.want[p->plan.rank_row]].logic;
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
                               const cpubind_ascend_plan *plan)
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
                          const cpubind_ascend_plan *plan)
{
    const cpubind_product *product = cpubind_product_of(facts->type);
    api_put(to, "[cpu_bind_mode] mode=%s rank=%d visible_npus=[",
            logged_mode(facts, options, plan), (int)options->request.rank);
    for (int32_t i = 0; i < api_n_shown(plan); i++)
        api_put(to, "%s%d", i ? ", " : "", (int)api_shown(facts, plan, i).npu->logic);
    api_put_text(to, "]\n");
    if (options->no_lists)
        return;
    api_put_text(to, "The CPU allocation plan is as follows:\n");
    for (int32_t i = 0; i < plan->n_want; i++) {
        api_row row = api_row_of(facts, plan, i);
        api_put(to, "%sNPU%d: %s=[", product->log_name, (int)row.npu->logic, product->log_main);
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

static void add_row(api_table *table, const cpubind_facts *facts, const api_row *row,
                    int32_t *nodes)
{
    api_text pci = {"", 0};
    api_cell_number(table, row->npu->logic);
    api_cell_number(table, row->npu->card);
    api_cell_number(table, row->npu->chip);
    api_cell_number(table, row->npu->phy);
    if (row->npu->pci.domain >= 0)
        api_add_pci(&pci, &row->npu->pci);
    api_cell(table, "%s", pci.len > 0 ? pci.text : "-");
    api_cell(table, "%s", !facts->has_processes ? "-" : row->npu->is_running ? "yes" : "no");
    api_cell_number(table, row->n);
    for (int32_t i = 0; i < CPUBIND_ROLE_COUNT; i++) {
        int32_t n;
        const int32_t *cpu = api_role_of(row, (cpubind_role)i, &n);
        api_cell_list(table, cpu, n);
    }
    api_cell_list(table, nodes, api_nodes_of(facts, row->cpu, row->n, nodes));
    api_cell_number(table, row->memory_node);
}

static void put_table(api_out *to, const cpubind_facts *facts, const cpubind_ascend_plan *plan)
{
#define CPUBIND_X(name, word, letter) word,
    static const char *const heads[] = {
        "NPU",        "card",    "chip", "phy",
        "PCI",        "running", "CPUs", CPUBIND_ROLE_LIST(CPUBIND_X) "nodes",
        "memory node"};
#undef CPUBIND_X
    api_table table = {.n_column = sizeof heads / sizeof *heads};
    int32_t *nodes = (int32_t *)malloc((size_t)facts->n_node * sizeof *nodes);
    if (!nodes) {
        to->is_short = 1;
        return;
    }
    for (int32_t i = 0; i < table.n_column; i++)
        api_cell(&table, "%s", heads[i]);
    for (int32_t i = 0; i < api_n_shown(plan); i++) {
        api_row row = api_shown(facts, plan, i);
        add_row(&table, facts, &row, nodes);
    }
    api_put_table(to, &table);
    free(nodes);
}

/* Whether the CPUs near a device meet the CPUs that pools are cut from. */
static int has_home(const cpubind_facts *facts, const int32_t *near_cpu, int32_t n)
{
    if (facts->scope == CPUBIND_SCOPE_HOST)
        return n > 0;
    for (int32_t i = 0, k = 0; i < n && k < facts->n_cpu;) {
        if (near_cpu[i] == facts->cpu[k])
            return 1;
        if (near_cpu[i] < facts->cpu[k])
            i++;
        else
            k++;
    }
    return 0;
}

/* Appends the NPUs whose pools were checked for overlap: those with a home, also hidden ones;
 * with slices all of them. */
static void add_checked(const cpubind_facts *facts, const cpubind_ascend_plan *plan,
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
        const cpubind_npu *npu = c->npu < 0 ? NULL : &facts->npu[c->npu];
        if (npu && npu->affinity_count > 0 &&
            has_home(facts, facts->affinity + npu->affinity_first, npu->affinity_count))
            ids[n++] = npu->logic;
        else if (!npu && facts->function[c->function].n_cpu == 0)
            n_unknown++;
        else if (!npu && has_home(facts, facts->function[c->function].cpu,
                                  facts->function[c->function].n_cpu))
            n_hidden++;
    }
    (void)!cpubind_sort_unique(ids, &n, NULL);
    api_add(out, "NPUs ");
    api_add_list(out, ids, n);
    free(ids);
    if (n_hidden > 0)
        api_add(out, " and %d hidden", (int)n_hidden);
    if (n_unknown > 0)
        api_add(out, ", not over %d hidden: which CPUs are near them is not known",
                (int)n_unknown);
}

/* Prints a line for each NPU without a pool: why. */
static void put_poolless(api_out *to, const cpubind_facts *facts, const api_options *options,
                         const cpubind_ascend_plan *plan)
{
    for (int32_t i = 0; i < plan->n_poolless; i++) {
        api_text text = {"", 0};
        api_explain_problem(&plan->poolless[i].problem, facts, options, &text);
        api_put(to, "no pool: %s\n", text.text);
    }
}

static void put_findings(api_out *to, const api_planned *p, const api_options *options)
{
    const cpubind_facts *facts = &p->facts;
    const cpubind_ascend_plan *plan = &p->plan;
    const int32_t rank_npu = api_rank_npu(p, options);
    api_text text = {"", 0};
    api_add(&text, "device type %s, allowed CPUs ", cpubind_type_word(facts->type));
    api_add_allowed(&text, facts, options);
    if (rank_npu >= 0)
        api_add(&text, ", rank %d drives NPU %d", (int)options->request.rank, (int)rank_npu);
    api_add(&text, "\noverlap: %s, checked over ", api_finding_word(plan->core.overlap));
    add_checked(facts, plan, &text);
    if (plan->n_kept > 0) {
        api_add(&text, "\nkept for the host: CPUs ");
        api_add_list(&text, plan->kept, plan->n_kept);
    }
    if (options->request.n_process > 1)
        api_add(&text,
                "\nprocess %d of %d of each NPU, from 0 on: its own main, acl and release; irq "
                "is shared",
                (int)options->request.process, (int)options->request.n_process);
    if (plan->n_spare > 0) {
        api_add(&text, "\nUVB polling threads of the host: CPUs ");
        api_add_list(&text, plan->spare, plan->n_spare);
    }
    api_put(to, "%s\n", text.text);
}

void api_put_rules(api_out *to, cpubind_rules rules)
{
    api_put(to, "rules %s: %s\n", cpubind_rules_word(rules),
            rules == CPUBIND_RULES_NEAR ? "whole cores, homes first" : "as vllm-ascend binds");
}

void api_put_plan(api_out *to, const api_planned *planned, const api_options *options)
{
    const cpubind_facts *facts = &planned->facts;
    const cpubind_ascend_plan *plan = &planned->plan;
    const api_figures figures = api_figures_of(plan);
    if (!options->quiet)
        api_put_rules(to, plan->rules);
    put_log_lines(to, facts, options, plan);
    if (options->quiet)
        return;
    api_put_text(to, "\n");
    put_table(to, facts, plan);
    put_poolless(to, facts, options, plan);
    api_put_text(to, "\n");
    put_findings(to, planned, options);
    api_put_text(to, "\n");
    api_put_quality(to, facts->noun, (const char *const[]){""}, &figures, 1);
    api_put_text(to, "\n");
    api_put_map(to, planned, options);
}
