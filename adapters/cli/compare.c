/* compare.c - cpubind plan --compare: the plans of both rules side by side
 * SPDX-License-Identifier: MIT
 *
 * Decides nothing: it prints two plans of one host and one request. One of them may be a
 * refusal.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { N_RULE = 2 };

/* Two plans, by the reference and by near. */
typedef struct comparison {
    const api_planned *planned[N_RULE];
    const api_options *options;
    int32_t *node; /* room for all nodes */
} comparison;

static const cpubind_rules rules[N_RULE] = {CPUBIND_RULES_REFERENCE, CPUBIND_RULES_NEAR};

static int has_plan(const api_planned *p)
{
    return p->code == CPUBIND_PROBLEM_NONE;
}

/* The row of a device; npu is NULL when the plan does not have it. */
static api_row row_of_device(const api_planned *p, int32_t id)
{
    api_row none;
    memset(&none, 0, sizeof none);
    for (int32_t i = 0; has_plan(p) && i < p->plan.n_unit; i++) {
        const api_row row = api_shown(&p->facts, &p->plan, i);
        if (row.id == id)
            return row;
    }
    return none;
}

static int is_same_list(const int32_t *a, int32_t n_a, const int32_t *b, int32_t n_b)
{
    return n_a == n_b && (n_a == 0 || memcmp(a, b, (size_t)n_a * sizeof *a) == 0);
}

/* Whether both rules give an NPU the same CPUs in the same roles. */
static int is_same(const api_row *a, const api_row *b)
{
    int same = a->device && b->device && is_same_list(a->cpu, a->n, b->cpu, b->n);
    for (int32_t i = 0; same && i < CPUBIND_ROLE_COUNT; i++) {
        int32_t n_a, n_b;
        const int32_t *in_a = api_role_of(a, (cpubind_role)i, &n_a);
        const int32_t *in_b = api_role_of(b, (cpubind_role)i, &n_b);
        same = is_same_list(in_a, n_a, in_b, n_b);
    }
    return same;
}

/* Adds the cells of an NPU by one rule, or by both. */
static void add_row(const comparison *c, api_table *table, const api_planned *p,
                    const api_row *row, const char *rule)
{
    static const cpubind_role roles[] = {CPUBIND_ROLE_IRQ, CPUBIND_ROLE_ACL,
                                         CPUBIND_ROLE_RELEASE};
    const int32_t percent = api_near_percent(row->figures);
    int32_t n;
    const int32_t *irq = api_role_of(row, CPUBIND_ROLE_IRQ, &n);
    api_cell(table, "%s", rule);
    api_cell_number(table, row->n);
    if (percent < 0)
        api_cell(table, "-");
    else
        api_cell(table, "%d %%", (int)percent);
    api_cell_list(table, c->node, api_nodes_of(&p->facts, irq, n, c->node));
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        const int32_t *cpu = api_role_of(row, roles[i], &n);
        api_cell_list(table, cpu, n);
    }
    if (!c->options->no_lists)
        api_cell_list(table, row->cpu, row->n);
}

/* Adds the rows of one device: one when both rules agree, else one for each that has it. */
static void add_device(const comparison *c, api_table *table, int32_t id)
{
    api_row row[N_RULE];
    int is_first = 1;
    for (int i = 0; i < N_RULE; i++)
        row[i] = row_of_device(c->planned[i], id);
    if (is_same(&row[0], &row[1])) {
        api_cell_number(table, id);
        add_row(c, table, c->planned[0], &row[0], "same");
        return;
    }
    for (int i = 0; i < N_RULE; i++) {
        if (!row[i].device)
            continue;
        if (is_first)
            api_cell_number(table, id);
        else
            api_cell(table, "%s", "");
        is_first = 0;
        add_row(c, table, c->planned[i], &row[i], cpubind_rules_word(rules[i]));
    }
}

/* Prints what each device gets. The plan by near has all that the other has. */
static void print_devices(const comparison *c)
{
    const api_planned *p = has_plan(c->planned[1]) ? c->planned[1] : c->planned[0];
    const char *const heads[] = {p->facts.noun, "rules", "CPUs",    "near", "IRQ node",
                                 "irq",         "acl",   "release", "pool"};
    api_table table = {.n_column = sizeof heads / sizeof *heads};
    table.n_column -= c->options->no_lists != 0;
    for (int32_t i = 0; i < table.n_column; i++)
        api_cell(&table, "%s", heads[i]);
    for (int32_t i = 0; i < p->plan.n_unit; i++)
        add_device(c, &table, p->plan.unit[i].id);
    (void)cli_print_table(stdout, &table);
}

/* Prints why one rule has no plan, or no pool for an NPU. */
static void print_refusals(const comparison *c)
{
    for (int i = 0; i < N_RULE; i++) {
        const api_planned *p = c->planned[i];
        const char *word = cpubind_rules_word(rules[i]);
        api_text text = {"", 0};
        if (!has_plan(p)) {
            api_explain(p, c->options, &text);
            printf("%s, no plan: %s\n", word, text.text);
        }
        for (int32_t k = 0; has_plan(p) && k < p->plan.n_unit; k++) {
            const api_row row = api_shown(&p->facts, &p->plan, k);
            if (!row.problem)
                continue;
            text.len = 0;
            api_explain_row(p, c->options, &row, &text);
            printf("%s, no pool: %s\n", word, text.text);
        }
    }
}

int cli_compare_text(const api_planned *reference, const api_planned *near_plan,
                     const api_options *options)
{
    comparison c = {{reference, near_plan}, options, NULL};
    api_out text = {0};
    api_figures figures[N_RULE] = {{NULL, 0}, {NULL, 0}};
    const char *head[N_RULE];
    const int32_t n_node =
        has_plan(reference) ? reference->facts.n_node : near_plan->facts.n_node;
    c.node = (int32_t *)malloc((size_t)n_node * sizeof *c.node);
    if (!c.node)
        return 0;
    for (int i = 0; i < N_RULE; i++) {
        if (has_plan(c.planned[i]))
            figures[i] = api_figures_of(&c.planned[i]->plan);
        head[i] = cpubind_rules_word(rules[i]);
    }
    api_put_quality(&text, near_plan->facts.noun, head, figures, N_RULE);
    api_put_text(&text, "\n");
    (void)cli_print_out(stdout, &text);
    print_devices(&c);
    print_refusals(&c);
    free(c.node);
    return 1;
}

/* Appends the object that plan --json prints for a plan or for a refusal. */
static void put_answer(api_out *to, cpubind_rules by, const api_planned *p,
                       const api_options *options)
{
    api_text text = {"", 0};
    if (has_plan(p)) {
        api_json_plan(to, cpubind_rules_word(by), p, options);
        return;
    }
    api_explain(p, options, &text);
    api_json_problem(to, cpubind_rules_word(by), &p->problem, text.text);
    api_json_close(to, '}');
}

int cli_compare_json(const api_planned *reference, const api_planned *near_plan,
                     const api_options *options)
{
    api_out json = {0};
    api_json_open(&json, NULL, '{');
    put_answer(&json, rules[0], reference, options);
    put_answer(&json, rules[1], near_plan, options);
    api_json_close(&json, '}');
    return cli_print_line(stdout, &json);
}
