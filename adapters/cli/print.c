/* print.c - a plan as text: log lines, a table, findings and a map
 * SPDX-License-Identifier: MIT
 *
 * Operators search their logs for the log lines: no character of them may change.
 */
#include <stdlib.h>
#include <string.h>

#include "../linux/terminal.h"
#include "output.h"

#define MIN_CELLS 8

const char *cli_strategy_word(cpubind_strategy strategy)
{
#define CLI_X(name, word) [CPUBIND_##name] = word,
    static const char *const words[] = {CLI_STRATEGY_LIST(CLI_X)};
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
    /* The core has checked that the pool is large enough. */
    (void)!cpubind_split_roles(row.n, &plan->roles, &row.roles, NULL);
    return row;
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
    none.problem = &plan->poolless[k].problem;
    return none;
}

int32_t cli_rank_npu(const cli_planned *p, const cli_options *options)
{
    if (!options->request.has_rank || p->plan.rank_row < 0)
        return -1;
    return p->facts.npu[p->plan.want[p->plan.rank_row]].logic;
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

/* Prints the CPUs of a role, as in "146 147 148". */
static void print_span(FILE *out, const cli_row *row, cpubind_role role)
{
    const cpubind_span span = row->roles.span[role];
    for (int32_t i = 0; i < span.count; i++)
        fprintf(out, "%s%d", i ? " " : "", (int)row->cpu[span.first + i]);
}

/* Prints the lines that operators search their logs for. */
static void print_log_lines(FILE *out, const cpubind_facts *facts, const cli_options *options,
                            const cpubind_ascend_plan *plan)
{
    const cpubind_product *product = cpubind_product_of(facts->type);
    fprintf(out, "[cpu_bind_mode] mode=%s rank=%d visible_npus=[",
            cli_strategy_word(plan->core.strategy), (int)options->request.rank);
    for (int32_t i = 0; i < cli_n_shown(plan); i++)
        fprintf(out, "%s%d", i ? ", " : "", (int)cli_shown(facts, plan, i).npu->logic);
    fputs("]\nThe CPU allocation plan is as follows:\n", out);
    for (int32_t i = 0; i < plan->n_want; i++) {
        cli_row row = cli_row_of(facts, plan, i);
        fprintf(out, "%sNPU%d: %s=[", product->log_name, (int)row.npu->logic,
                product->log_main);
        print_span(out, &row, CPUBIND_ROLE_MAIN);
        for (int role = CPUBIND_ROLE_MAIN + 1; role < CPUBIND_ROLE_COUNT; role++) {
            if (product->roles.count[role] == 0)
                continue;
            fprintf(out, "]  %s=[", cpubind_role_word((cpubind_role)role));
            print_span(out, &row, (cpubind_role)role);
        }
        fputs("]\n", out);
    }
}

static void add_row(cli_table *table, const cpubind_facts *facts, const cli_row *row,
                    int32_t *nodes)
{
    const cpubind_span *spans = row->roles.span;
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
    for (size_t i = 0; i < CPUBIND_ROLE_COUNT; i++)
        cli_cell_list(table, row->cpu + spans[i].first, spans[i].count);
    cli_cell_list(table, nodes, cli_nodes_of(facts, row, nodes));
    cli_cell_number(table, row->n > 0 ? facts->node_of[row->cpu[0]] : -1);
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
    if (plan->n_spare > 0) {
        cli_add(&text, "\nUVB polling threads of the host: CPUs ");
        cli_add_list(&text, plan->spare, plan->n_spare);
    }
    fprintf(out, "%s\n", text.text);
}

/* == The map ================================================================ */

/* Where a CPU belongs. Of the CPUs in one cell the greatest kind is shown, and of their roles
 * the rarest: irq first, main last. */
typedef enum cell_kind {
    OUTSIDE = 0, /* not allowed */
    FREE,        /* allowed, in no pool */
    IN_POOL,
    IN_TWO_POOLS
} cell_kind;

typedef struct cell {
    cell_kind kind;
    int32_t role;
    int32_t row; /* of the plan, or -1 */
} cell;

static int weight_of(cell c)
{
    if (c.kind != IN_POOL)
        return c.kind == IN_TWO_POOLS ? CPUBIND_ROLE_COUNT + 3 : (int)c.kind;
    return c.role == CPUBIND_ROLE_MAIN ? 2 : 2 + CPUBIND_ROLE_COUNT - c.role;
}

/* The state of one map. */
typedef struct map {
    const cpubind_facts *facts;
    const cpubind_ascend_plan *plan;
    cell *cpu;       /* by CPU id, facts->n_cpu_id long */
    int32_t per;     /* CPUs in a cell */
    int32_t cells;   /* of the widest row */
    int32_t columns; /* of the screen */
    int label;       /* width of the widest node number */
    int colour;
} map;

static void mark(map *m, const cli_row *row, int32_t index, int32_t role)
{
    const cpubind_span span = row->roles.span[role];
    for (int32_t i = span.first; i < span.first + span.count; i++) {
        cell *c = &m->cpu[row->cpu[i]];
        *c = (cell){c->row >= 0 ? IN_TWO_POOLS : IN_POOL, role, index};
    }
}

static void mark_all(map *m)
{
    for (int32_t cpu = 0; cpu < m->facts->n_cpu_id; cpu++)
        m->cpu[cpu].row = -1;
    for (int32_t i = 0; i < m->facts->n_cpu; i++)
        m->cpu[m->facts->cpu[i]].kind = FREE;
    for (int32_t i = 0; i < m->plan->n_want; i++) {
        cli_row row = cli_row_of(m->facts, m->plan, i);
        for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++)
            mark(m, &row, i, role);
    }
}

static int32_t cpus_of_node(const map *m, int32_t node)
{
    int32_t n = 0;
    for (int32_t cpu = 0; cpu < m->facts->n_cpu_id; cpu++)
        n += m->facts->node_of[cpu] == node;
    return n;
}

/* Chooses the number of CPUs in a cell so that the widest node fits the screen. */
static void measure(map *m)
{
    int32_t widest = 1;
    int32_t room;
    m->label = 1;
    for (int32_t i = 0; i < m->facts->n_node; i++) {
        int32_t n = cpus_of_node(m, m->facts->node_id[i]);
        int width = snprintf(NULL, 0, "%d", (int)m->facts->node_id[i]);
        widest = n > widest ? n : widest;
        m->label = width > m->label ? width : m->label;
    }
    room = m->columns - (int32_t)strlen("node  ||") - m->label;
    room = room < MIN_CELLS ? MIN_CELLS : room;
    m->per = (widest + room - 1) / room;
    m->cells = (widest + m->per - 1) / m->per;
}

/* A logic id as one character: up to 35, then "#". */
static char digit_of(int32_t logic)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return logic < 36 ? digits[logic] : '#';
}

static char letter_of(const map *m, cell c)
{
    switch (c.kind) {
    case OUTSIDE:
        return '-';
    case FREE:
        return '.';
    case IN_POOL:
        return c.role == CPUBIND_ROLE_MAIN ? digit_of(m->facts->npu[m->plan->want[c.row]].logic)
                                           : cpubind_role_letter((cpubind_role)c.role);
    case IN_TWO_POOLS:
        return 'x';
    }
    return '?';
}

/* Sets the background of the NPU, so that neighbours differ; roles but main are underlined. */
static void start_colour(FILE *out, cell c)
{
    static const int backgrounds[] = {106, 102, 105, 103, 104, 46, 42, 43};
    if (c.kind == IN_TWO_POOLS)
        fputs("\033[97;41m", out);
    else if (c.row >= 0)
        fprintf(out, "\033[0;%s;%dm", c.role == CPUBIND_ROLE_MAIN ? "30" : "30;1;4",
                backgrounds[(size_t)c.row % (sizeof backgrounds / sizeof *backgrounds)]);
    else
        fputs("\033[0;2m", out);
}

static int same_look(cell a, cell b)
{
    return a.row == b.row && weight_of(a) == weight_of(b);
}

static void print_cell(const map *m, FILE *out, cell c, const cell *before)
{
    if (m->colour && (!before || !same_look(c, *before)))
        start_colour(out, c);
    fputc(letter_of(m, c), out);
}

/* Prints the cells of a node, and after them its list of CPUs where it fits the screen. */
static void print_row(const map *m, FILE *out, int32_t node, int32_t *cpus)
{
    cli_text list = {"", 0};
    cell run = {OUTSIDE, 0, -1};
    cell before;
    int32_t n = 0;
    int32_t cells = 0;
    fprintf(out, "node %*d |", m->label, (int)node);
    for (int32_t cpu = 0; cpu < m->facts->n_cpu_id; cpu++) {
        if (m->facts->node_of[cpu] != node)
            continue;
        if (n % m->per == 0 || weight_of(m->cpu[cpu]) > weight_of(run))
            run = m->cpu[cpu];
        cpus[n++] = cpu;
        if (n % m->per == 0) {
            print_cell(m, out, run, cells ? &before : NULL);
            before = run;
            cells++;
        }
    }
    if (n % m->per != 0) {
        print_cell(m, out, run, cells ? &before : NULL);
        cells++;
    }
    fputs(m->colour ? "\033[0m|" : "|", out);
    cli_add_list(&list, cpus, n);
    if ((int32_t)strlen("node  || ") + m->label + m->cells + (int32_t)list.len <= m->columns)
        fprintf(out, "%*s %s", (int)(m->cells - cells), "", list.text);
    fputs("\n", out);
}

/* One entry of the legend, on a new line where the screen ends. */
static void print_entry(const map *m, FILE *out, const char *text, int32_t *width)
{
    const int32_t n = (int32_t)strlen(text);
    if (*width > 0 && *width + 2 + n > m->columns) {
        fputs("\n", out);
        *width = 0;
    }
    fprintf(out, "%s%s", *width ? "  " : "", text);
    *width += n + (*width ? 2 : 0);
}

static void print_legend(const map *m, FILE *out)
{
    int32_t width = 0;
    if (m->per > 1)
        fprintf(out, "A cell is %d CPUs; of several roles the rarest is shown.\n", (int)m->per);
    print_entry(m, out, "0-9A-Z main, by NPU", &width);
    for (int32_t i = 0; i < CPUBIND_ROLE_COUNT; i++) {
        const cpubind_role role = (cpubind_role)i;
        cli_text text = {"", 0};
        cli_add(&text, "%c %s", cpubind_role_letter(role), cpubind_role_word(role));
        if (role != CPUBIND_ROLE_MAIN)
            print_entry(m, out, text.text, &width);
    }
    print_entry(m, out, ". free", &width);
    print_entry(m, out, "- not allowed", &width);
    print_entry(m, out, "x in two pools", &width);
    fputs("\n", out);
}

void cli_print_map(FILE *out, const cli_planned *planned)
{
    const cpubind_facts *facts = &planned->facts;
    const int fd = fileno(out);
    map m = {.facts = facts,
             .plan = &planned->plan,
             .per = 1,
             .cells = 1,
             .columns = cpubind_linux_columns(fd),
             .label = 1,
             .colour = cpubind_linux_has_colour(fd)};
    int32_t *cpus = (int32_t *)malloc((size_t)facts->n_cpu_id * sizeof *cpus);
    m.cpu = (cell *)calloc((size_t)facts->n_cpu_id, sizeof *m.cpu);
    if (cpus && m.cpu) {
        mark_all(&m);
        measure(&m);
        for (int32_t i = 0; i < facts->n_node; i++)
            print_row(&m, out, facts->node_id[i], cpus);
        print_legend(&m, out);
    }
    free(cpus);
    free(m.cpu);
}

void cli_print_text(FILE *out, const cli_planned *planned, const cli_options *options)
{
    const cpubind_facts *facts = &planned->facts;
    const cpubind_ascend_plan *plan = &planned->plan;
    print_log_lines(out, facts, options, plan);
    if (options->quiet)
        return;
    fputs("\n", out);
    print_table(out, facts, plan);
    print_poolless(out, facts, options, plan);
    fputs("\n", out);
    print_findings(out, planned, options);
    fputs("\n", out);
    cli_print_map(out, planned);
}
