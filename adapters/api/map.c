/* map.c - a map of a plan: one row for each node, one column for each core
 * SPDX-License-Identifier: MIT
 *
 * A core is a column, its CPUs are the lines of the row: a core that two NPUs share has two
 * letters. Where a node has more cores than the screen has columns, columns that are alike are
 * one column with their number. No line is longer than the screen.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/cpulist.h"
#include "picture.h"

#define USUAL_COLUMNS 80
#define MIN_CELLS     8
#define MIN_RUN       8 /* columns that are alike, "0<8>" */

/* The state of one map. */
typedef struct map {
    api_view view;
    int32_t room;    /* columns for cells */
    int32_t cells;   /* of the widest row */
    int32_t columns; /* of the screen */
    int label;       /* width of the widest node number */
    int is_short;    /* columns that are alike are one */
    int has_runs;    /* some are */
    int colour;
    uint8_t is_shown[API_CPU_KIND_COUNT];   /* kinds on the map, for the legend */
    uint8_t is_role[CPUBIND_ALL_ROLES + 1]; /* and roles */
} map;

/* A logic id as one character: up to 35, then "#". */
static char digit_of(int32_t logic)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return logic < 36 ? digits[logic] : '#';
}

static char letter_of(const map *m, const api_cpu *cpu)
{
    if (cpu->kind != API_CPU_ROLE)
        return api_cpu_letter(cpu->kind);
    if (cpu->role != CPUBIND_ROLE_MAIN)
        return cpubind_role_letter(cpu->role);
    return digit_of(m->view.facts->device[m->view.plan->want[cpu->row]]->logic);
}

/* Sets the background of the NPU, so that neighbours differ; roles but main are underlined. */
static void start_colour(api_out *to, const api_cpu *cpu)
{
    static const int backgrounds[] = {106, 102, 105, 103, 104, 46, 42, 43};
    if (cpu->kind == API_CPU_TWICE)
        api_put_text(to, "\033[97;41m");
    else if (cpu->row >= 0)
        api_put(to, "\033[0;%s;%dm", cpu->role == CPUBIND_ROLE_MAIN ? "30" : "30;1;4",
                backgrounds[(size_t)cpu->row % (sizeof backgrounds / sizeof *backgrounds)]);
    else
        api_put_text(to, "\033[0;2m");
}

static int same_look(const api_cpu *a, const api_cpu *b)
{
    return a->kind == b->kind && a->row == b->row && a->role == b->role;
}

/* CPU `thread` of core `core` of the node; NULL: the core has fewer. */
static const api_cpu *cpu_at(const map *m, int32_t core, int32_t thread)
{
    const int32_t at = m->view.core_at[core] + thread;
    return at < m->view.core_at[core + 1] ? &m->view.cpu[m->view.node_cpu[at]] : NULL;
}

/* Columns from `core` on that look as it does, at least 1. */
static int32_t run_from(const map *m, int32_t core)
{
    const int32_t n = m->view.core_at[core + 1] - m->view.core_at[core];
    int32_t next = core + 1;
    for (; next < m->view.n_core; next++) {
        if (m->view.core_at[next + 1] - m->view.core_at[next] != n)
            break;
        int32_t thread = 0;
        while (thread < n && same_look(cpu_at(m, core, thread), cpu_at(m, next, thread)))
            thread++;
        if (thread < n)
            break;
    }
    return next - core;
}

/* The width of the cells from `core` on, which stand for *n columns. */
static int32_t width_from(const map *m, int32_t core, int32_t *n)
{
    const int32_t run = m->is_short ? run_from(m, core) : 1;
    *n = run < MIN_RUN ? 1 : run;
    return run < MIN_RUN ? 1 : snprintf(NULL, 0, "?<%d>", (int)run);
}

/* Prints line `thread` of the cores from `first` up to, not with, `end`. */
static void put_cells(map *m, api_out *to, int32_t first, int32_t end, int32_t thread)
{
    const api_cpu *before = NULL;
    for (int32_t core = first, n; core < end; core += n) {
        const api_cpu *cpu = cpu_at(m, core, thread);
        const int32_t width = width_from(m, core, &n);
        if (m->colour && cpu && (!before || !same_look(cpu, before)))
            start_colour(to, cpu);
        if (m->colour && !cpu && before)
            api_put_text(to, "\033[0m");
        before = cpu;
        if (!cpu) {
            api_put(to, "%*s", (int)width, "");
            continue;
        }
        api_put(to, "%c", letter_of(m, cpu));
        if (n > 1)
            api_put(to, "<%d>", (int)n);
        m->has_runs |= n > 1;
        m->is_shown[cpu->kind] = 1;
        m->is_role[cpu->kind == API_CPU_ROLE ? cpu->role : CPUBIND_ALL_ROLES] = 1;
    }
    api_put_text(to, m->colour ? "\033[0m|" : "|");
}

/* == What stands after a row ================================================ */

/* Appends the NPUs whose home is on a node. */
static void add_homes(const map *m, int32_t node, api_text *to)
{
    const cpubind_device_plan *plan = m->view.plan;
    int32_t *ids = (int32_t *)malloc(((size_t)plan->n_candidate + 1) * sizeof *ids), n = 0,
            n_hidden = 0;
    for (int32_t i = 0; ids && i < plan->n_candidate; i++) {
        if (!api_is_place(&m->view, i, node))
            continue;
        if (plan->candidate[i].device < 0)
            n_hidden++;
        else
            ids[n++] = m->view.facts->device[plan->candidate[i].device]->logic;
    }
    (void)!cpubind_list_sort(ids, &n);
    if (n > 0) {
        api_add(to, "  %s ", m->view.facts->noun);
        api_add_list(to, ids, n);
    }
    free(ids);
    if (n_hidden > 0)
        api_add(to, "  %d hidden", (int)n_hidden);
}

/* Whether row `row` of the plan has a CPU on a node that is not in its place. */
static int is_away(const map *m, int32_t row, int32_t node)
{
    const api_row r = api_row_of(m->view.facts, m->view.plan, row);
    const int32_t id = m->view.facts->node_id[node];
    const int32_t device = m->view.plan->of_device[m->view.plan->want[row]];
    int32_t i = 0;
    if (!api_has_place(&m->view, device) || api_is_place(&m->view, device, node))
        return 0;
    while (i < r.n && m->view.facts->node_of[r.cpu[i]] != id)
        i++;
    return i < r.n;
}

/* Appends the NPUs that have CPUs of a node and their home elsewhere, by distance. */
static void add_away(const map *m, int32_t node, api_text *to)
{
    const cpubind_device_plan *plan = m->view.plan;
    int32_t *ids = (int32_t *)malloc(((size_t)plan->n_want + 1) * sizeof *ids);
    for (int32_t last = -2, next; ids && last < CPUBIND_MAX_CPUS; last = next) {
        int32_t n = 0;
        next = CPUBIND_MAX_CPUS;
        for (int32_t i = 0; i < plan->n_want; i++) {
            const int32_t distance =
                is_away(m, i, node)
                    ? api_distance(&m->view, plan->of_device[plan->want[i]], node)
                    : last;
            if (distance <= last || distance > next)
                continue;
            n = distance < next ? 0 : n;
            next = distance;
            ids[n++] = m->view.facts->device[plan->want[i]]->logic;
        }
        if (n > 0) {
            if (next < 0)
                api_add(to, "  home elsewhere: %s ", m->view.facts->noun);
            else
                api_add(to, "  at %d: %s ", (int)next, m->view.facts->noun);
            api_add_list(to, ids, n);
        }
    }
    free(ids);
}

/* == Rows =================================================================== */

static void put_label(const map *m, api_out *to, int32_t node, int is_first)
{
    if (is_first)
        api_put(to, "node %*d |", m->label, (int)m->view.facts->node_id[node]);
    else
        api_put(to, "%*s|", m->label + (int)strlen("node  "), "");
}

/* Prints a node: its cells; after the first line, or below, its CPUs and NPUs. */
static void put_node(map *m, api_out *to, int32_t node, int has_distances)
{
    const int32_t indent = m->label + (int32_t)strlen("node  ||");
    int32_t threads = 1, is_printed = 0;
    api_text text = {"", 0};
    api_view_node(&m->view, m->view.facts->node_id[node]);
    for (int32_t i = 0; i < m->view.n_core; i++)
        if (m->view.core_at[i + 1] - m->view.core_at[i] > threads)
            threads = m->view.core_at[i + 1] - m->view.core_at[i];
    for (int32_t first = 0, end; first < m->view.n_core; first = end) {
        int32_t width = 0;
        for (int32_t n = 0, more; end = first + n, end < m->view.n_core; n += more) {
            const int32_t cell = width_from(m, end, &more);
            if (width + cell > m->room)
                break;
            width += cell;
        }
        for (int32_t thread = 0; thread < threads; thread++) {
            put_label(m, to, node, first == 0 && thread == 0);
            put_cells(m, to, first, end, thread);
            if (first == 0 && thread == 0) {
                int32_t n = m->view.core_at[m->view.n_core];
                (void)!cpubind_list_sort(m->view.node_cpu, &n);
                api_add(&text, " ");
                api_add_list(&text, m->view.node_cpu, n);
                add_homes(m, node, &text);
                if (has_distances)
                    add_away(m, node, &text);
                api_view_node(&m->view, m->view.facts->node_id[node]);
                is_printed = indent + m->cells + (int32_t)text.len <= m->columns;
                if (is_printed)
                    api_put(to, "%*s%s", (int)(m->cells - width), "", text.text);
            }
            api_put_text(to, "\n");
        }
    }
    if (!is_printed && m->view.n_core > 0) {
        api_put(to, "%*s", (int)indent, "");
        api_put_wrapped(to, text.text + 1, indent, indent, m->columns);
    }
}

/* Chooses whether columns that are alike become one, and finds the widest row. */
static void measure(map *m)
{
    const cpubind_facts *facts = m->view.facts;
    int32_t widest = 1;
    m->label = 1;
    for (int32_t i = 0; i < facts->n_node; i++) {
        const int width = snprintf(NULL, 0, "%d", (int)facts->node_id[i]);
        m->label = width > m->label ? width : m->label;
        api_view_node(&m->view, facts->node_id[i]);
        widest = m->view.n_core > widest ? m->view.n_core : widest;
    }
    m->room = m->columns - (int32_t)strlen("node  ||") - m->label;
    m->room = m->room < MIN_CELLS ? MIN_CELLS : m->room;
    m->is_short = widest > m->room;
    m->cells = 1;
    for (int32_t i = 0; i < facts->n_node; i++) {
        int32_t width = 0;
        api_view_node(&m->view, facts->node_id[i]);
        for (int32_t core = 0, n; core < m->view.n_core; core += n)
            width += width_from(m, core, &n);
        m->cells = width > m->cells ? width : m->cells;
    }
    m->cells = m->cells > m->room ? m->room : m->cells;
}

/* Prints an entry of the legend, on a new line where the screen ends. */
static void put_entry(const map *m, api_out *to, int32_t *width, const char *text)
{
    const int32_t n = (int32_t)strlen(text);
    if (*width > 0 && *width + 2 + n > m->columns) {
        api_put_text(to, "\n");
        *width = 0;
    }
    api_put_text(to, *width > 0 ? "  " : "");
    *width += *width > 0 ? 2 : 0;
    if (n > m->columns)
        api_put_wrapped(to, text, 0, 0, m->columns);
    else
        api_put_text(to, text);
    *width = n > m->columns ? 0 : *width + n;
}

static void put_legend(const map *m, api_out *to, int has_distances)
{
    int32_t width = 0;
    char text[64];
    snprintf(text, sizeof text, "0-9A-Z main, by %s", m->view.facts->noun);
    if (m->is_role[CPUBIND_ROLE_MAIN])
        put_entry(m, to, &width, text);
    for (int32_t i = 0; i < CPUBIND_ALL_ROLES; i++) {
        const cpubind_role role = (cpubind_role)i;
        snprintf(text, sizeof text, "%c %s", cpubind_role_letter(role),
                 cpubind_role_name(role));
        if (m->is_role[i] && role != CPUBIND_ROLE_MAIN)
            put_entry(m, to, &width, text);
    }
    for (int32_t i = API_CPU_BARRED; i < API_CPU_KIND_COUNT; i++) {
        const api_cpu_kind kind = (api_cpu_kind)i;
        snprintf(text, sizeof text, "%c %s", api_cpu_letter(kind), api_cpu_text(kind));
        if (m->is_shown[i] && kind != API_CPU_ROLE)
            put_entry(m, to, &width, text);
    }
    if (m->view.threads > 1)
        put_entry(m, to, &width, "a column is a core");
    if (m->has_runs)
        put_entry(m, to, &width, "<9> 9 columns alike");
    snprintf(text, sizeof text, "at 12: %ss whose home is at distance 12", m->view.facts->noun);
    if (has_distances)
        put_entry(m, to, &width,
                  m->view.facts->distance ? text : "the distances of nodes are not known");
    api_put_text(to, width > 0 ? "\n" : "");
}

static void put_map(api_out *to, const api_planned *planned, const api_options *options,
                    int has_distances)
{
    const cpubind_facts *facts = &planned->facts;
    map m = {.columns = to->columns ? to->columns : USUAL_COLUMNS, .colour = to->has_colour};
    const int is_made = api_make_view(planned, options, &m.view);
    const int has_sockets = api_has_sockets(facts);
    to->is_short |= !is_made;
    if (is_made) {
        measure(&m);
        for (int32_t i = 0; i < facts->n_node; i++) {
            if (has_sockets && (i == 0 || facts->socket[i] != facts->socket[i - 1]))
                api_put(to, "socket %d\n", (int)facts->socket[i]);
            put_node(&m, to, i, has_distances);
        }
        put_legend(&m, to, has_distances);
    }
    api_free_view(&m.view);
}

void api_put_map(api_out *to, const api_planned *planned, const api_options *options)
{
    put_map(to, planned, options, 0);
}

void api_put_distances(api_out *to, const api_planned *planned, const api_options *options)
{
    put_map(to, planned, options, 1);
}
