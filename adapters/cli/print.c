/* print.c - the plan as text
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../linux/terminal.h"
#include "table.h"

const char *cli_strategy_word(cpubind_strategy strategy)
{
    switch (strategy) {
#define CLI_X(name, word)                                                                      \
    case CPUBIND_##name:                                                                       \
        return word;
        CLI_STRATEGY_LIST(CLI_X)
#undef CLI_X
    }
    return "?";
}

const char *cli_finding_word(cpubind_finding finding)
{
    switch (finding) {
    case CPUBIND_FOUND_NONE:
        return "none";
    case CPUBIND_FOUND_RESOLVED:
        return "resolved";
    case CPUBIND_FOUND_PRESENT:
        return "present";
    }
    return "?";
}

cli_row cli_row_of(const cpubind_facts *facts, const cpubind_ascend_plan *plan, int32_t i)
{
    cli_row row;
    memset(&row, 0, sizeof row);
    row.npu = &facts->npu[plan->want[i]];
    row.cpu = plan->core.cpu + plan->core.row[i];
    row.n = plan->core.row[i + 1] - plan->core.row[i];
    /* The core has checked that the pool is large enough. */
    (void)!cpubind_split_roles(row.n, &plan->roles, &row.roles);
    return row;
}

int32_t cli_nodes_of(const cpubind_facts *facts, const cli_row *row, int32_t *out)
{
    int32_t n = 0;
    for (int32_t i = 0; i < facts->n_node; i++) {
        int32_t touched = 0;
        for (int32_t k = 0; k < row->n && !touched; k++)
            touched = facts->node_of[row->cpu[k]] == facts->node_id[i];
        if (touched)
            out[n++] = facts->node_id[i];
    }
    return n;
}

/* The CPUs of a role, as in "146 147 148". */
static void print_span(FILE *out, const cli_row *row, cpubind_role role)
{
    const cpubind_span span = row->roles.span[role];
    for (int32_t i = 0; i < span.count; i++)
        fprintf(out, "%s%d", i ? " " : "", (int)row->cpu[span.first + i]);
}

/* The lines that operators search their logs for. */
static void print_log_lines(FILE *out, const cpubind_facts *facts, const cli_options *options,
                            const cpubind_ascend_plan *plan)
{
    fprintf(out, "[cpu_bind_mode] mode=%s rank=%d visible_npus=[",
            cli_strategy_word(plan->core.strategy), (int)options->request.rank);
    for (int32_t i = 0; i < plan->n_want; i++)
        fprintf(out, "%s%d", i ? ", " : "", (int)facts->npu[plan->want[i]].logic);
    fputs("]\nThe CPU allocation plan is as follows:\n", out);
    for (int32_t i = 0; i < plan->n_want; i++) {
        cli_row row = cli_row_of(facts, plan, i);
        int is_950 = facts->type == CPUBIND_TYPE_950;
        fprintf(out, is_950 ? "Ascend 950 NPU%d: worker=[" : "NPU%d: main=[",
                (int)row.npu->logic);
        print_span(out, &row, CPUBIND_ROLE_MAIN);
        if (!is_950) {
            fputs("]  acl=[", out);
            print_span(out, &row, CPUBIND_ROLE_ACL);
            fputs("]  release=[", out);
            print_span(out, &row, CPUBIND_ROLE_RELEASE);
        }
        fputs("]\n", out);
    }
}

static void add_row(cli_table *table, const cpubind_facts *facts, const cli_row *row,
                    int32_t *nodes)
{
    const cpubind_span *spans = row->roles.span;
    cli_cell_number(table, row->npu->logic);
    cli_cell_number(table, row->npu->card);
    cli_cell_number(table, row->npu->chip);
    cli_cell_number(table, row->npu->phy);
    cli_cell_number(table, row->n);
    for (size_t i = 0; i < CPUBIND_ROLE_COUNT; i++)
        cli_cell_list(table, row->cpu + spans[i].first, spans[i].count);
    cli_cell_list(table, nodes, cli_nodes_of(facts, row, nodes));
    cli_cell_number(table, row->n > 0 ? facts->node_of[row->cpu[0]] : -1);
}

static void print_table(FILE *out, const cpubind_facts *facts, const cpubind_ascend_plan *plan)
{
    static const char *const heads[] = {"NPU",  "card", "chip",    "phy",   "CPUs",       "irq",
                                        "main", "acl",  "release", "nodes", "memory node"};
    cli_table table = {.n_column = sizeof heads / sizeof *heads};
    int32_t *nodes = (int32_t *)malloc((size_t)facts->n_node * sizeof *nodes);
    if (!nodes)
        return;
    for (int32_t i = 0; i < table.n_column; i++)
        cli_cell(&table, "%s", heads[i]);
    for (int32_t i = 0; i < plan->n_want; i++) {
        cli_row row = cli_row_of(facts, plan, i);
        add_row(&table, facts, &row, nodes);
    }
    cli_print_table(out, &table);
    free(nodes);
}

/* Whether the affinity of an NPU meets the allowed CPUs. */
static int has_home(const cpubind_facts *facts, const cpubind_npu *npu)
{
    int32_t n = 0;
    cpubind_status status =
        cpubind_intersect(facts->affinity + npu->affinity_first, npu->affinity_count,
                          facts->cpu, facts->n_cpu, NULL, 0, &n);
    return (status == CPUBIND_OK || status == CPUBIND_ERR_SPACE) && n > 0;
}

/* Over which NPUs overlap was looked for: those with a home, hidden ones too, or all slices. */
static void add_checked(const cpubind_facts *facts, const cpubind_ascend_plan *plan,
                        cli_text *out)
{
    int32_t ids[CPUBIND_MAX_DEVICES];
    int32_t n = 0;
    if (plan->core.strategy == CPUBIND_GLOBAL_SLICE) {
        cli_add(out, "all %d NPUs that slices are cut for", (int)plan->total);
        return;
    }
    for (int32_t i = 0; i < facts->n_npu; i++)
        if (facts->npu[i].affinity_count > 0 && has_home(facts, &facts->npu[i]))
            ids[n++] = facts->npu[i].logic;
    cli_add(out, "NPUs ");
    cli_add_list(out, ids, n);
}

static void print_findings(FILE *out, const cpubind_facts *facts, const cli_options *options,
                           const cpubind_ascend_plan *plan)
{
    cli_text text = {"", 0};
    cli_add(&text, "device type %s, allowed CPUs ", cpubind_type_word(facts->type));
    cli_add_allowed(&text, facts, options);
    cli_add(&text, ", rank %d drives NPU %d\noverlap: %s, checked over ",
            (int)options->request.rank, (int)facts->npu[plan->want[plan->rank_row]].logic,
            cli_finding_word(plan->core.overlap));
    add_checked(facts, plan, &text);
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
    int fd = fileno(out);
    print_log_lines(out, facts, options, plan);
    if (options->quiet)
        return;
    fputs("\n", out);
    print_table(out, facts, plan);
    fputs("\n", out);
    print_findings(out, facts, options, plan);
    fputs("\n", out);
    cli_print_map(out, facts, plan, cpubind_linux_columns(fd), cpubind_linux_has_colour(fd));
}
