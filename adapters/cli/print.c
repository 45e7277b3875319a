/* print.c - the plan as text
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../linux/terminal.h"
#include "cli.h"

#define LABEL_MAX 1024 /* bytes of a list in the table */

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

/* " 146 147 148" without the first blank. */
static void print_numbers(FILE *out, const int32_t *list, int32_t n, const char *between)
{
    for (int32_t i = 0; i < n; i++)
        fprintf(out, "%s%d", i ? between : "", (int)list[i]);
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
        print_numbers(out, row.cpu + row.roles.main.first, row.roles.main.count, " ");
        if (!is_950) {
            fputs("]  acl=[", out);
            print_numbers(out, row.cpu + row.roles.acl.first, row.roles.acl.count, " ");
            fputs("]  release=[", out);
            print_numbers(out, row.cpu + row.roles.release.first, row.roles.release.count, " ");
        }
        fputs("]\n", out);
    }
}

/* A table of texts whose columns are as wide as their longest cell. */
#define TABLE_COLUMNS 11

typedef struct table {
    char (*cell)[TABLE_COLUMNS][LABEL_MAX];
    int32_t n_row;
    int width[TABLE_COLUMNS];
} table;

static void set_cell(table *t, int32_t row, int column, const char *text)
{
    int n = (int)strlen(text);
    snprintf(t->cell[row][column], LABEL_MAX, "%s", text);
    t->width[column] = n > t->width[column] ? n : t->width[column];
}

static void set_id(table *t, int32_t row, int column, int32_t id)
{
    char text[16];
    snprintf(text, sizeof text, "%d", (int)id);
    set_cell(t, row, column, id < 0 ? "-" : text);
}

static void set_list(table *t, int32_t row, int column, const int32_t *list, int32_t n)
{
    cli_text text = {"", 0};
    cli_add_list(&text, list, n);
    set_cell(t, row, column, n == 0 ? "-" : text.text);
}

static void fill_row(table *t, int32_t at, const cpubind_facts *facts, const cli_row *row,
                     int32_t *nodes)
{
    set_id(t, at, 0, row->npu->logic);
    set_id(t, at, 1, row->npu->card);
    set_id(t, at, 2, row->npu->chip);
    set_id(t, at, 3, row->npu->phy);
    set_id(t, at, 4, row->n);
    set_list(t, at, 5, row->cpu + row->roles.irq.first, row->roles.irq.count);
    set_list(t, at, 6, row->cpu + row->roles.main.first, row->roles.main.count);
    set_list(t, at, 7, row->cpu + row->roles.acl.first, row->roles.acl.count);
    set_list(t, at, 8, row->cpu + row->roles.release.first, row->roles.release.count);
    set_list(t, at, 9, nodes, cli_nodes_of(facts, row, nodes));
    set_id(t, at, 10, row->n > 0 ? facts->node_of[row->cpu[0]] : -1);
}

static void print_rows(FILE *out, const table *t)
{
    for (int32_t row = 0; row < t->n_row; row++) {
        for (int column = 0; column < TABLE_COLUMNS; column++)
            fprintf(out, "%s%-*s", column ? "  " : "",
                    column == TABLE_COLUMNS - 1 ? 0 : t->width[column], t->cell[row][column]);
        fputs("\n", out);
    }
}

static void print_table(FILE *out, const cpubind_facts *facts, const cpubind_ascend_plan *plan)
{
    static const char *const heads[TABLE_COLUMNS] = {"NPU",     "card",  "chip",       "phy",
                                                     "CPUs",    "irq",   "main",       "acl",
                                                     "release", "nodes", "memory node"};
    table t = {NULL, plan->n_want + 1, {0}};
    int32_t *nodes = (int32_t *)malloc((size_t)facts->n_node * sizeof *nodes);
    t.cell = (char(*)[TABLE_COLUMNS][LABEL_MAX])malloc((size_t)t.n_row * sizeof *t.cell);
    if (nodes && t.cell) {
        for (int column = 0; column < TABLE_COLUMNS; column++)
            set_cell(&t, 0, column, heads[column]);
        for (int32_t i = 0; i < plan->n_want; i++) {
            cli_row row = cli_row_of(facts, plan, i);
            fill_row(&t, i + 1, facts, &row, nodes);
        }
        print_rows(out, &t);
    }
    free(nodes);
    free(t.cell);
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
    cli_add_list(&text, facts->cpu, facts->n_cpu);
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

void cli_print_text(FILE *out, const cpubind_facts *facts, const cli_options *options,
                    const cpubind_ascend_plan *plan)
{
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
