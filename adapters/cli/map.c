/* map.c - a map of a plan: one row for each node, one cell for each CPU or run of CPUs
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../linux/terminal.h"
#include "output.h"

#define MIN_CELLS 8

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
