/* print.c - a plan as text: log lines, a table and findings
 * SPDX-License-Identifier: MIT
 *
 * Operators search their logs for the log lines: no character of them may change.
 */
#include <stdlib.h>
#include <string.h>

#include "output.h"

const char *cli_strategy_word(cpubind_strategy strategy)
{
#define CLI_X(name, word) [CPUBIND_##name] = word,
    static const char *const words[] = {CLI_STRATEGY_LIST(CLI_X)[CPUBIND_NEAR] = "near"};
#undef CLI_X
    return words[strategy];
}

const char *cli_finding_word(cpubind_finding finding)
{
    static const char *const words[] = {[CPUBIND_FOUND_NONE] = "none",
                                        [CPUBIND_FOUND_RESOLVED] = "resolved",
                                        [CPUBIND_FOUND_PRESENT] = "present"};
    return words[finding];
}

cli_row cli_row_of(const cpubind_facts *facts, const cpubind_ascend_plan *plan, int32_t i)
{
    cli_row row;
    memset(&row, 0, sizeof row);
    row.npu = &facts->npu[plan->want[i]];
    row.cpu = plan->core.cpu + plan->core.row[i];
    row.n = plan->core.row[i + 1] - plan->core.row[i];
    row.role_cpu = plan->role_cpu + plan->role_row[i];
    row.roles = plan->role_span[i];
    row.memory_node = plan->memory_node[i];
    row.figures = cli_figures_of_row(plan, i);
    return row;
}

const int32_t *cli_role_of(const cli_row *row, cpubind_role role, int32_t *n)
{
    *n = row->roles.span[role].count;
    return *n > 0 ? row->role_cpu + row->roles.span[role].first : NULL;
}

int32_t cli_n_shown(const cpubind_ascend_plan *plan)
{
    return plan->n_want + plan->n_poolless;
}

cli_row cli_shown(const cpubind_facts *facts, const cpubind_ascend_plan *plan, int32_t i)
{
    int32_t row = 0, k = 0;
    cli_row none;
    for (;;) {
        const int is_poolless =
            k < plan->n_poolless &&
            (row == plan->n_want || plan->poolless[k].npu < plan->want[row]);
        if (row + k == i && !is_poolless)
            return cli_row_of(facts, plan, row);
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

int32_t cli_rank_npu(const cli_planned *p, const cli_options *options)
{
    if (!options->request.has_rank || p->plan.rank_row < 0)
        return -1;
    return p->facts.npu[p->plan.want[p->plan.rank_row]].logic;
}

int32_t cli_nodes_of(const cpubind_facts *facts, const int32_t *cpu, int32_t n_cpu,
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
static void print_role(FILE *out, const cli_row *row, cpubind_role role)
{
    int32_t n;
    const int32_t *cpu = cli_role_of(row, role, &n);
    for (int32_t i = 0; i < n; i++)
        fprintf(out, "%s%d", i ? " " : "", (int)cpu[i]);
}

/* Prints the lines that operators search their logs for; with --no-lists the first alone. */
static void print_log_lines(FILE *out, const cpubind_facts *facts, const cli_options *options,
                            const cpubind_ascend_plan *plan)
{
    const cpubind_product *product = cpubind_product_of(facts->type);
    fprintf(out, "[cpu_bind_mode] mode=%s rank=%d visible_npus=[",
            cli_strategy_word(plan->core.strategy), (int)options->request.rank);
    for (int32_t i = 0; i < cli_n_shown(plan); i++)
        fprintf(out, "%s%d", i ? ", " : "", (int)cli_shown(facts, plan, i).npu->logic);
    fputs("]\n", out);
    if (options->no_lists)
        return;
    fputs("The CPU allocation plan is as follows:\n", out);
    for (int32_t i = 0; i < plan->n_want; i++) {
        cli_row row = cli_row_of(facts, plan, i);
        fprintf(out, "%sNPU%d: %s=[", product->log_name, (int)row.npu->logic,
                product->log_main);
        print_role(out, &row, CPUBIND_ROLE_MAIN);
        for (int role = CPUBIND_ROLE_MAIN + 1; role < CPUBIND_ROLE_COUNT; role++) {
            if (product->roles.count[role] == 0)
                continue;
            /* The log of vllm-ascend has a printed list there: release=[[167]]. */
            const int is_list = role == CPUBIND_ROLE_RELEASE;
            fprintf(out, "]  %s=[%s", cpubind_role_word((cpubind_role)role),
                    is_list ? "[" : "");
            print_role(out, &row, (cpubind_role)role);
            fputs(is_list ? "]" : "", out);
        }
        fputs("]\n", out);
    }
}

static void add_row(cli_table *table, const cpubind_facts *facts, const cli_row *row,
                    int32_t *nodes)
{
    cli_text pci = {"", 0};
    cli_cell_number(table, row->npu->logic);
    cli_cell_number(table, row->npu->card);
    cli_cell_number(table, row->npu->chip);
    cli_cell_number(table, row->npu->phy);
    if (row->npu->pci.domain >= 0)
        cli_add_pci(&pci, &row->npu->pci);
    cli_cell(table, "%s", pci.len > 0 ? pci.text : "-");
    cli_cell(table, "%s", !facts->has_processes ? "-" : row->npu->is_running ? "yes" : "no");
    cli_cell_number(table, row->n);
    for (int32_t i = 0; i < CPUBIND_ROLE_COUNT; i++) {
        int32_t n;
        const int32_t *cpu = cli_role_of(row, (cpubind_role)i, &n);
        cli_cell_list(table, cpu, n);
    }
    cli_cell_list(table, nodes, cli_nodes_of(facts, row->cpu, row->n, nodes));
    cli_cell_number(table, row->memory_node);
}

static void print_table(FILE *out, const cpubind_facts *facts, const cpubind_ascend_plan *plan)
{
#define CPUBIND_X(name, word, letter) word,
    static const char *const heads[] = {
        "NPU",        "card",    "chip", "phy",
        "PCI",        "running", "CPUs", CPUBIND_ROLE_LIST(CPUBIND_X) "nodes",
        "memory node"};
#undef CPUBIND_X
    cli_table table = {.n_column = sizeof heads / sizeof *heads};
    int32_t *nodes = (int32_t *)malloc((size_t)facts->n_node * sizeof *nodes);
    if (!nodes)
        return;
    for (int32_t i = 0; i < table.n_column; i++)
        cli_cell(&table, "%s", heads[i]);
    for (int32_t i = 0; i < cli_n_shown(plan); i++) {
        cli_row row = cli_shown(facts, plan, i);
        add_row(&table, facts, &row, nodes);
    }
    cli_print_table(out, &table);
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
                        cli_text *out)
{
    int32_t ids[CPUBIND_MAX_DEVICES];
    int32_t n = 0, n_hidden = 0, n_unknown = 0;
    if (plan->core.strategy == CPUBIND_GLOBAL_SLICE) {
        cli_add(out, "all %d NPUs that slices are cut for", (int)plan->total);
        return;
    }
    for (int32_t i = 0; i < plan->n_candidate; i++) {
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
    cli_add(out, "NPUs ");
    cli_add_list(out, ids, n);
    if (n_hidden > 0)
        cli_add(out, " and %d hidden", (int)n_hidden);
    if (n_unknown > 0)
        cli_add(out, ", not over %d hidden: which CPUs are near them is not known",
                (int)n_unknown);
}

/* Prints a line for each NPU without a pool: why. */
static void print_poolless(FILE *out, const cpubind_facts *facts, const cli_options *options,
                           const cpubind_ascend_plan *plan)
{
    for (int32_t i = 0; i < plan->n_poolless; i++) {
        cli_text text = {"", 0};
        cli_explain_problem(&plan->poolless[i].problem, facts, options, &text);
        fprintf(out, "no pool: %s\n", text.text);
    }
}

static void print_findings(FILE *out, const cli_planned *p, const cli_options *options)
{
    const cpubind_facts *facts = &p->facts;
    const cpubind_ascend_plan *plan = &p->plan;
    const int32_t rank_npu = cli_rank_npu(p, options);
    cli_text text = {"", 0};
    cli_add(&text, "device type %s, allowed CPUs ", cpubind_type_word(facts->type));
    cli_add_allowed(&text, facts, options);
    if (rank_npu >= 0)
        cli_add(&text, ", rank %d drives NPU %d", (int)options->request.rank, (int)rank_npu);
    cli_add(&text, "\noverlap: %s, checked over ", cli_finding_word(plan->core.overlap));
    add_checked(facts, plan, &text);
    if (plan->rules == CPUBIND_RULES_NEAR)
        cli_add(&text, "\nrules near: whole cores, homes first");
    if (plan->n_kept > 0) {
        cli_add(&text, "\nkept for the host: CPUs ");
        cli_add_list(&text, plan->kept, plan->n_kept);
    }
    if (options->request.n_process > 1)
        cli_add(&text,
                "\nprocess %d of %d of each NPU, from 0 on: its own main, acl and release; irq "
                "is shared",
                (int)options->request.process, (int)options->request.n_process);
    if (plan->n_spare > 0) {
        cli_add(&text, "\nUVB polling threads of the host: CPUs ");
        cli_add_list(&text, plan->spare, plan->n_spare);
    }
    fprintf(out, "%s\n", text.text);
}

void cli_print_text(FILE *out, const cli_planned *planned, const cli_options *options)
{
    const cpubind_facts *facts = &planned->facts;
    const cpubind_ascend_plan *plan = &planned->plan;
    const cli_figures figures = cli_figures_of(plan);
    print_log_lines(out, facts, options, plan);
    if (options->quiet)
        return;
    fputs("\n", out);
    print_table(out, facts, plan);
    print_poolless(out, facts, options, plan);
    fputs("\n", out);
    print_findings(out, planned, options);
    fputs("\n", out);
    cli_print_quality(out, (const char *const[]){""}, &figures, 1);
    fputs("\n", out);
    (void)cli_print_map(out, planned, options);
}
