/* svg.c - a plan as a picture: sockets, nodes, cores, CPUs, NPUs at their homes
 * SPDX-License-Identifier: MIT
 *
 * One SVG document without script or anything from outside. The colour of a CPU is that of its
 * NPU; its text has the NPU and the role too, so that the picture can be read without colours.
 * Decides nothing: draws what picture.h tells of each CPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/cpulist.h"
#include "picture.h"

/* Sizes in units of the picture. A text of n characters is at most n * CHARACTER wide. */
#define CELL      20 /* of a CPU */
#define GAP       6  /* between cores */
#define PAD       10 /* inside a box, and between boxes */
#define GUTTER    30 /* left of cores: the first CPU of the line */
#define HEADER    24 /* of a box */
#define CHIP      21 /* height of an NPU, with the gap below */
#define CHARACTER 7  /* at 11 units of height */
#define TITLE     84
#define MARGIN    16
#define LEAST     680 /* width of a picture, for its title */

/* A page of A4 across, less its margins, in mm; and mm for 100 units at most. */
#define PAGE_WIDTH  277
#define PAGE_HEIGHT 190
#define MM_OF_100   30

#define DARK 35 /* shade under white text */

/* The colour of an NPU, by logic id, under black text; under white text it is much darker. */
static const uint8_t colours[][3] = {
    {0x9f, 0xc8, 0xf0}, {0xff, 0xc1, 0x70}, {0xa6, 0xdf, 0x8f}, {0xd6, 0xb4, 0xe8},
    {0xff, 0xa3, 0x9e}, {0xfa, 0xf0, 0x7a}, {0x7f, 0xdc, 0xd2}, {0xdb, 0xba, 0x94},
    {0xff, 0xd9, 0xb0}, {0xb9, 0xc2, 0xff}, {0xf3, 0xb5, 0xdb}, {0xd3, 0xf2, 0x9c},
    {0xb5, 0xe3, 0xee}, {0xe6, 0xc7, 0xc2}, {0xc9, 0xcc, 0xd6}, {0xd8, 0xd6, 0x8c}};

/* Nodes of one socket. */
typedef struct socket_box {
    int32_t number; /* of the socket; -1: not known, no box is drawn */
    int32_t first;  /* its nodes in drawing.node */
    int32_t count;
} socket_box;

typedef struct drawing {
    api_out *out;
    api_view view;
    const api_planned *planned;
    const api_options *options;
    int32_t *node;      /* indices of nodes, socket by socket */
    int32_t *n_core;    /* of each node, by index */
    int32_t *n_chip;    /* NPUs at each node, by index */
    socket_box *socket; /* n_socket of them */
    int32_t n_socket;
    int32_t per_line;       /* cores in a line of a node */
    int32_t node_columns;   /* nodes side by side in a socket */
    int32_t socket_columns; /* sockets side by side */
    int32_t core_width, node_width;
    int32_t least_node; /* width of a node */
    int32_t width, height;
    uint8_t has[API_CPU_KIND_COUNT];
    uint8_t has_role[CPUBIND_ROLE_COUNT];
    int has_split; /* some core is shared by NPUs */
    int has_none;  /* some NPU has no pool in this plan */
} drawing;

/* == Text =================================================================== */

/* Appends a text of XML, an element's or an attribute's. */
static void put_xml(api_out *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            api_put_text(to, "&amp;");
            break;
        case '<':
            api_put_text(to, "&lt;");
            break;
        case '>':
            api_put_text(to, "&gt;");
            break;
        case '"':
            api_put_text(to, "&quot;");
            break;
        default:
            api_put(to, "%c", *text);
        }
}

/* Prints <text class="..."> at (x, y), its baseline. */
static void put(const drawing *d, const char *class, int32_t x, int32_t y, const char *text)
{
    api_put(d->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, (int)x, (int)y);
    put_xml(d->out, text);
    api_put_text(d->out, "</text>\n");
}

/* Cuts a text to a width, with "..." at its end. */
static void cut(api_text *text, int32_t width)
{
    const size_t room = width < 4 * CHARACTER ? 4 : (size_t)(width / CHARACTER);
    if (text->len > room) {
        text->len = room;
        memcpy(text->text + room - 3, "...", 4);
    }
}

static void put_title(const drawing *d, const char *text)
{
    api_put_text(d->out, "<title>");
    put_xml(d->out, text);
    api_put_text(d->out, "</title>");
}

/* Prints a colour of an NPU; shade 100 is the colour itself, 0 black. */
static void put_colour(api_out *out, int32_t logic, int shade)
{
    const uint8_t *c = colours[(size_t)logic % (sizeof colours / sizeof *colours)];
    api_put(out, "#%02x%02x%02x", c[0] * shade / 100, c[1] * shade / 100, c[2] * shade / 100);
}

/* == CPUs and cores ========================================================= */

/* The logic id of an NPU that a CPU belongs to, or -1. */
static int32_t logic_of(const drawing *d, const api_cpu *cpu)
{
    const cpubind_device_plan *plan = d->view.plan;
    if (cpu->row >= 0)
        return d->view.facts->device[plan->want[cpu->row]].logic;
    if (cpu->kind == API_CPU_OTHER && cpu->device >= 0)
        return d->view.facts->device[plan->candidate[cpu->device].device].logic;
    return -1;
}

/* Appends the text in the box of a CPU: "12", "i12", "k". */
static void add_label(const drawing *d, const api_cpu *cpu, api_text *to)
{
    const int32_t logic = logic_of(d, cpu);
    if (cpu->kind == API_CPU_BARRED)
        return;
    if (cpu->kind != API_CPU_ROLE)
        api_add(to, "%c", api_cpu_letter(cpu->kind));
    else if (cpu->role != CPUBIND_ROLE_MAIN)
        api_add(to, "%c", cpubind_role_letter(cpu->role));
    if (logic >= 0 && cpu->kind != API_CPU_TWICE)
        api_add(to, "%d", (int)logic);
}

/* Whether a CPU is drawn dark, with white text: the roles of single threads. */
static int is_dark(const api_cpu *cpu)
{
    return cpu->kind == API_CPU_ROLE && cpu->role > CPUBIND_ROLE_MAIN;
}

static void put_cpu(const drawing *d, const api_cpu *cpu, int32_t x, int32_t y)
{
    const int is_npu = cpu->kind == API_CPU_ROLE || cpu->kind == API_CPU_PROCESS;
    api_text label = {"", 0};
    add_label(d, cpu, &label);
    api_put(d->out, "<rect class=\"%s%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"",
            api_cpu_word(cpu->kind),
            cpu->kind == API_CPU_ROLE && cpu->role == CPUBIND_ROLE_IRQ ? " irq" : "", (int)x,
            (int)y, CELL, CELL);
    if (cpu->kind == API_CPU_ROLE && cpu->role == CPUBIND_ROLE_RELEASE)
        api_put_text(d->out, " rx=\"8\"");
    if (is_npu) {
        api_put_text(d->out, " fill=\"");
        put_colour(d->out, logic_of(d, cpu), is_dark(cpu) ? DARK : 100);
        api_put_text(d->out, "\"");
    }
    api_put_text(d->out, "/>");
    if (label.len > 0)
        put(d,
            is_dark(cpu)                                                 ? "c d"
            : cpu->kind == API_CPU_ROLE && cpu->role == CPUBIND_ROLE_IRQ ? "c b"
            : label.len > 3                                              ? "c s"
                                                                         : "c",
            x + CELL / 2, y + CELL / 2 + 4, label.text);
}

/* Prints what a CPU is, in words, for readers that show or read titles. */
static void put_cpu_title(const drawing *d, int32_t id, const api_cpu *cpu)
{
    api_text text = {"", 0};
    const int32_t logic = logic_of(d, cpu);
    api_add(&text, "CPU %d: ", (int)id);
    if (cpu->kind == API_CPU_ROLE)
        api_add(&text, "%s %d, %s", d->view.facts->noun, (int)logic,
                cpubind_role_word(cpu->role));
    else if (logic >= 0 && cpu->kind != API_CPU_TWICE)
        api_add(&text, "%s %d, %s", d->view.facts->noun, (int)logic, api_cpu_text(cpu->kind));
    else
        api_add(&text, "%s", api_cpu_text(cpu->kind));
    put_title(d, text.text);
}

/* Whether CPUs of a core belong to different NPUs. */
static int is_split(const drawing *d, int32_t core)
{
    int32_t owner = -1;
    for (int32_t i = d->view.core_at[core]; i < d->view.core_at[core + 1]; i++) {
        const api_cpu *cpu = &d->view.cpu[d->view.node_cpu[i]];
        const int32_t mine =
            cpu->kind == API_CPU_HIDDEN ? CPUBIND_MAX_DEVICES + cpu->device : logic_of(d, cpu);
        if (mine >= 0 && owner >= 0 && mine != owner)
            return 1;
        owner = mine >= 0 ? mine : owner;
    }
    return 0;
}

/* Draws a core of the node of the view. */
static void put_core(const drawing *d, int32_t core, int32_t x, int32_t y)
{
    const int32_t first = d->view.core_at[core], end = d->view.core_at[core + 1];
    const int split = is_split(d, core);
    for (int32_t i = first; i < end; i++) {
        const int32_t id = d->view.node_cpu[i];
        const api_cpu *cpu = &d->view.cpu[id];
        api_put_text(d->out, "<g>");
        put_cpu_title(d, id, cpu);
        put_cpu(d, cpu, x + (i - first) * CELL, y);
        api_put_text(d->out, "</g>\n");
    }
    if (d->view.threads > 1)
        api_put(d->out,
                "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                "rx=\"2\"/>\n",
                split ? "core split" : "core", (int)x - 1, (int)y - 1,
                (int)((end - first) * CELL) + 2, CELL + 2);
}

/* == NPUs =================================================================== */

static void add_address(const cpubind_pci_address *pci, const char *before, api_text *to)
{
    if (pci->domain < 0)
        return;
    api_add(to, "%s", before);
    api_add_pci(to, pci);
}

/* Draws a candidate as a chip, `width` wide. */
static void put_chip(const drawing *d, int32_t candidate, int32_t x, int32_t y, int32_t width)
{
    const cpubind_facts *facts = d->view.facts;
    const cpubind_candidate *c = &d->view.plan->candidate[candidate];
    const cpubind_viewed *npu = c->device < 0 ? NULL : &facts->device[c->device];
    const int32_t row = npu ? api_row_index(d->view.plan, c->device) : -1;
    api_text text = {"", 0}, title = {"", 0};
    if (npu) {
        api_add(&text, "%s %d", d->view.facts->noun, (int)npu->logic);
        add_address(&npu->pci, "  ", &text);
        api_add(&title, "%s %d, PCI address ", d->view.facts->noun, (int)npu->logic);
        api_add(&title, npu->pci.domain < 0 ? "not known" : "");
        add_address(&npu->pci, "", &title);
    } else {
        api_add(&text, "hidden");
        add_address(&facts->bus[c->function].pci, "  ", &text);
        api_add(&title, "a hidden %s", facts->noun);
        add_address(&facts->bus[c->function].pci, ", PCI address ", &title);
    }
    if (row >= 0) {
        const api_row r = api_row_of(facts, d->view.plan, row);
        api_add(&title, ", %d CPUs: ", (int)r.n);
        api_add_list(&title, r.cpu, r.n);
    } else if (npu) {
        api_add(&title, ", no pool in this plan");
    }
    cut(&text, width - PAD);
    api_put_text(d->out, "<g>");
    put_title(d, title.text);
    api_put(d->out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"",
            row >= 0 ? "npu" : "npu none", (int)x, (int)y, (int)width, CHIP - 3);
    if (row >= 0) {
        api_put_text(d->out, " fill=\"");
        put_colour(d->out, npu->logic, 100);
        api_put_text(d->out, "\"");
    }
    api_put_text(d->out, "/>");
    put(d, "t", x + 6, y + 12, text.text);
    api_put_text(d->out, "</g>\n");
}

/* Chips side by side in a box, and their width. */
static int32_t chips_in(int32_t width)
{
    const int32_t n = (width - PAD) / (22 * CHARACTER);
    return n < 1 ? 1 : n;
}

/* Draws the NPUs of a node (-1: those without a home) and returns the height. */
static int32_t put_chips(const drawing *d, int32_t node, int32_t x, int32_t y, int32_t width)
{
    const int32_t per_line = chips_in(width);
    const int32_t chip = (width - PAD) / per_line;
    int32_t n = 0;
    for (int32_t i = 0; i < d->view.plan->n_candidate; i++) {
        if (node >= 0 ? !api_is_place(&d->view, i, node) : api_has_place(&d->view, i))
            continue;
        put_chip(d, i, x + PAD + n % per_line * chip, y + n / per_line * CHIP, chip - PAD);
        n++;
    }
    return (n + per_line - 1) / per_line * CHIP;
}

static int32_t count_chips(const drawing *d, int32_t node)
{
    int32_t n = 0;
    for (int32_t i = 0; i < d->view.plan->n_candidate; i++)
        n += node >= 0 ? api_is_place(&d->view, i, node) : !api_has_place(&d->view, i);
    return n;
}

/* == Nodes and sockets ====================================================== */

static int32_t lines_of(int32_t n, int32_t per_line)
{
    return (n + per_line - 1) / per_line;
}

static int32_t node_height(const drawing *d, int32_t node)
{
    return HEADER + lines_of(d->n_chip[node], chips_in(d->node_width)) * CHIP +
           lines_of(d->n_core[node], d->per_line) * (CELL + GAP) + PAD;
}

static void put_node(drawing *d, int32_t node, int32_t x, int32_t y, int32_t height)
{
    const cpubind_facts *facts = d->view.facts;
    api_text name = {"", 0}, list = {"", 0}, title = {"", 0};
    int32_t n, top;
    api_view_node(&d->view, facts->node_id[node]);
    n = d->view.core_at[d->view.n_core];
    (void)!cpubind_list_sort(d->view.node_cpu, &n);
    api_add(&name, "node %d", (int)facts->node_id[node]);
    api_add(&list, "CPUs ");
    api_add_list(&list, d->view.node_cpu, n);
    api_add(&title, "%s, %s", name.text, list.text);
    cut(&list, d->node_width - (int32_t)name.len * (CHARACTER + 1) - 3 * PAD);
    api_view_node(&d->view, facts->node_id[node]);
    api_put_text(d->out, "<g>");
    put_title(d, title.text);
    api_put(
        d->out,
        "<rect class=\"node\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/></g>\n",
        (int)x, (int)y, (int)d->node_width, (int)height);
    put(d, "h", x + PAD, y + 15, name.text);
    put(d, "t e", x + d->node_width - PAD, y + 15, list.text);
    top = y + HEADER + put_chips(d, node, x, y + HEADER, d->node_width);
    for (int32_t i = 0; i < d->view.n_core; i++) {
        const int32_t cx = x + PAD + GUTTER + i % d->per_line * (d->core_width + GAP);
        const int32_t cy = top + i / d->per_line * (CELL + GAP);
        if (i % d->per_line == 0) {
            api_text id = {"", 0};
            api_add(&id, "%d", (int)d->view.node_cpu[d->view.core_at[i]]);
            put(d, "g", x + PAD + GUTTER - 6, cy + CELL / 2 + 4, id.text);
        }
        put_core(d, i, cx, cy);
    }
}

/* Places the nodes of a socket, and draws them if there is a file. Returns the height. */
static int32_t place_socket(drawing *d, const socket_box *s, int32_t x, int32_t y)
{
    const int has_box = s->number >= 0;
    int32_t at = y + (has_box ? HEADER + PAD / 2 : 0);
    for (int32_t line = 0; line < s->count; line += d->node_columns) {
        int32_t height = 0;
        for (int32_t i = line; i < s->count && i < line + d->node_columns; i++) {
            const int32_t h = node_height(d, d->node[s->first + i]);
            height = h > height ? h : height;
        }
        for (int32_t i = line; d->out && i < s->count && i < line + d->node_columns; i++)
            put_node(d, d->node[s->first + i],
                     x + (has_box ? PAD : 0) + (i - line) * (d->node_width + PAD), at, height);
        at += height + PAD;
    }
    return at - y + (has_box ? 0 : -PAD);
}

static void put_socket(const drawing *d, const socket_box *s, int32_t x, int32_t y,
                       int32_t width, int32_t height)
{
    char name[32];
    snprintf(name, sizeof name, "socket %d", (int)s->number);
    api_put(d->out,
            "<rect class=\"socket\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n",
            (int)x, (int)y, (int)width, (int)height);
    put(d, "h", x + PAD, y + 17, name);
}

/* Places all sockets from `y` on; draws them if there is a file. Returns where they end. */
static int32_t place_host(drawing *d, int32_t y)
{
    const int has_box = d->socket[0].number >= 0;
    const int32_t width =
        d->node_columns * (d->node_width + PAD) - PAD + (has_box ? 2 * PAD : 0);
    api_out *out = d->out;
    d->width = d->socket_columns * (width + PAD) - PAD + 2 * MARGIN;
    d->width = d->width < LEAST ? LEAST : d->width;
    for (int32_t line = 0; line < d->n_socket; line += d->socket_columns) {
        int32_t height = 0;
        for (int32_t i = line; i < d->n_socket && i < line + d->socket_columns; i++) {
            d->out = NULL;
            const int32_t h = place_socket(d, &d->socket[i], MARGIN, y);
            d->out = out;
            height = h > height ? h : height;
        }
        for (int32_t i = line; out && i < d->n_socket && i < line + d->socket_columns; i++) {
            const int32_t x = MARGIN + (i - line) * (width + PAD);
            if (has_box)
                put_socket(d, &d->socket[i], x, y, width, height);
            (void)place_socket(d, &d->socket[i], x, y);
        }
        y += height + PAD;
    }
    return y;
}

/* Lists the nodes by socket. */
static void group_sockets(drawing *d)
{
    const cpubind_facts *facts = d->view.facts;
    int32_t n = 0, last = -1;
    d->n_socket = 0;
    if (!facts->socket) {
        d->socket[d->n_socket++] = (socket_box){-1, 0, facts->n_node};
        for (int32_t i = 0; i < facts->n_node; i++)
            d->node[i] = i;
        return;
    }
    for (;;) {
        int32_t next = INT32_MAX;
        for (int32_t i = 0; i < facts->n_node; i++)
            if (facts->socket[i] > last && facts->socket[i] < next)
                next = facts->socket[i];
        if (next == INT32_MAX)
            return;
        last = next;
        d->socket[d->n_socket] = (socket_box){last, n, 0};
        for (int32_t i = 0; i < facts->n_node; i++)
            if (facts->socket[i] == last) {
                d->node[n++] = i;
                d->socket[d->n_socket].count++;
            }
        d->n_socket++;
    }
}

/* == Title and legend ======================================================= */

/* Appends the quality of the pools; how near they are only where the place of an NPU is
 * known. */
static void add_quality(const drawing *d, api_text *to)
{
    const cpubind_quality *q = &d->view.plan->quality;
    const int32_t near_percent = api_near_percent(api_figures_of(d->view.plan));
    if (q->cpus == 0)
        return;
    if (near_percent >= 0)
        api_add(to, "%d %% near, %d on another socket, %d IRQ CPUs off the home, ",
                (int)near_percent, (int)q->far_cpus, (int)q->irq_off);
    api_add(to, "%d cores split, %d idle, pools of %d to %d CPUs", (int)q->split_cores,
            (int)q->idle, (int)q->smallest, (int)q->largest);
}

/* "a2", "L40S": the product of all devices; "several products". */
static const char *product_of(const cpubind_facts *facts)
{
    const char *product = NULL;
    if (!facts->is_joined)
        return cpubind_type_word(facts->type);
    for (int32_t i = 0; i < facts->n_bus; i++) {
        const cpubind_accelerator *a = &facts->bus[i].accelerator;
        const char *word = a->product ? a->product : cpubind_vendor_word(a->vendor);
        if (product && strcmp(product, word) != 0)
            return "several products";
        product = word;
    }
    return product;
}

/* Prints the document's head: its size, title, description and styles. */
static void put_head(const drawing *d)
{
    const cpubind_facts *facts = d->view.facts;
    const cpubind_device_plan *plan = d->view.plan;
    int64_t wide = (int64_t)d->width * MM_OF_100 / 10, high; /* tenths of mm */
    api_text title = {"", 0};
    if (wide > PAGE_WIDTH * 10)
        wide = PAGE_WIDTH * 10;
    high = wide * d->height / d->width;
    if (high > PAGE_HEIGHT * 10) {
        high = PAGE_HEIGHT * 10;
        wide = high * d->width / d->height;
    }
    api_put(d->out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
            "aria-labelledby=\"title desc\" width=\"%d.%dmm\" height=\"%d.%dmm\" "
            "viewBox=\"0 0 %d %d\">\n",
            (int)(wide / 10), (int)(wide % 10), (int)(high / 10), (int)(high % 10),
            (int)d->width, (int)d->height);
    api_add(&title, "CPUs of %d %ss (%s) on %d nodes", (int)plan->n_want, facts->noun,
            product_of(facts), (int)facts->n_node);
    api_put_text(d->out, "<title id=\"title\">");
    put_xml(d->out, title.text);
    api_put_text(d->out, "</title>\n<desc id=\"desc\">");
    for (int32_t i = 0; i < plan->n_want; i++) {
        const api_row row = api_row_of(facts, plan, i);
        api_text text = {"", 0};
        api_add(&text, "%s %d: CPUs ", facts->noun, (int)row.device->logic);
        api_add_list(&text, row.cpu, row.n);
        put_xml(d->out, text.text);
        api_put_text(d->out, ". ");
    }
    api_put_text(
        d->out,
        "</desc>\n<style>\n"
        "text{font:11px \"DejaVu Sans\",Verdana,Helvetica,Arial,sans-serif;fill:#111}\n"
        ".h1{font-size:18px;font-weight:bold}.h{font-size:12px;font-weight:bold}\n"
        ".c{font-size:9px;text-anchor:middle}.s{font-size:7px}.b{font-weight:bold}\n"
        ".d{fill:#fff;font-weight:bold}.e,.g{text-anchor:end}.g{font-size:9px;fill:#555}\n"
        "rect{stroke:#333;stroke-width:.7}.bare{stroke:none}.irq{stroke:#000;stroke-width:2.2}"
        "\n"
        ".socket{fill:#f1f1f1;stroke:#777}.node{fill:#fff;stroke:#555}\n"
        ".core{fill:none;stroke:#333;stroke-width:1}\n"
        ".split{stroke:#c00000;stroke-width:2.4;stroke-dasharray:4 2}\n"
        ".not_allowed{fill:#fff;stroke:#bbb;stroke-dasharray:2 2}.idle{fill:#fff}\n"
        ".excluded{fill:#fff;stroke-dasharray:2 2}.hidden{fill:#d0d0d0}\n"
        ".other{fill:#eaeaea}.kept,.uvb{fill:url(#hatch)}\n"
        ".twice{fill:#fff;stroke:#c00000;stroke-width:2}.process{stroke-dasharray:3 2}\n"
        ".npu{stroke:#000;stroke-width:1.2}.none{fill:#fff;stroke-dasharray:4 2}\n"
        "</style>\n<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" "
        "patternUnits=\"userSpaceOnUse\"><rect class=\"bare\" width=\"5\" "
        "height=\"5\" fill=\"#fff\"/><path d=\"M0 5L5 0\" "
        "stroke=\"#bbb\"/></pattern></defs>\n");
    api_put(d->out, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\" class=\"bare\"/>\n",
            (int)d->width, (int)d->height);
}

static void put_heading(const drawing *d)
{
    const cpubind_facts *facts = d->view.facts;
    const cpubind_device_plan *plan = d->view.plan;
    const char *host = d->options->fixture ? d->options->fixture : d->options->root;
    api_text line = {"", 0};
    api_add(&line, "%d %s%s (%s), %d CPUs, %d node%s", (int)plan->n_want, facts->noun,
            plan->n_want == 1 ? "" : "s", product_of(facts), (int)d->view.n_by_core,
            (int)facts->n_node, facts->n_node == 1 ? "" : "s");
    if (host)
        api_add(&line, ": %s", host);
    cut(&line, (d->width - 2 * MARGIN) * 10 / 17);
    put(d, "h1", MARGIN, 32, line.text);
    line = (api_text){"", 0};
    api_add(&line, "rules %s, strategy %s, overlap %s", cpubind_rules_word(plan->rules),
            api_strategy_word(plan->core.strategy), api_finding_word(plan->core.overlap));
    put(d, "t", MARGIN, 52, line.text);
    line = (api_text){"", 0};
    add_quality(d, &line);
    put(d, "t", MARGIN, 70, line.text);
}

/* A legend that is placed entry by entry, and drawn if there is a file. */
typedef struct legend {
    drawing *d;
    int32_t x, y;
} legend;

/* The place of an entry: a box `width` wide, then a text. */
static void take_entry(legend *l, int32_t width, const char *text, int32_t *x)
{
    const int32_t all = width + 6 + (int32_t)strlen(text) * CHARACTER + 2 * PAD;
    if (l->x > MARGIN && l->x + all > l->d->width - MARGIN) {
        l->x = MARGIN;
        l->y += CELL + GAP + 2;
    }
    *x = l->x;
    if (l->d->out)
        put(l->d, "t", l->x + width + 6, l->y + 14, text);
    l->x += all;
}

static void put_entry(legend *l, const api_cpu *cpu, const char *text)
{
    int32_t x;
    take_entry(l, CELL, text, &x);
    if (l->d->out)
        put_cpu(l->d, cpu, x, l->y);
}

/* Adds an entry with an empty box of a class. */
static void put_outline(legend *l, const char *class, int32_t width, const char *text)
{
    int32_t x;
    take_entry(l, width, text, &x);
    if (l->d->out)
        api_put(l->d->out,
                "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                "rx=\"3\"/>\n",
                class, (int)x, (int)l->y, (int)width, CELL);
}

/* Places the legend from `y` on; draws it if there is a file. Returns where it ends. */
static int32_t place_legend(drawing *d, int32_t y)
{
    static const char *const roles[CPUBIND_ROLE_COUNT] = {
        [CPUBIND_ROLE_IRQ] = "i: interrupts",
        [CPUBIND_ROLE_MAIN] = "main threads, with the device's number",
        [CPUBIND_ROLE_ACL] = "a: ACL thread",
        [CPUBIND_ROLE_RELEASE] = "r: release thread"};
    legend l = {d, MARGIN, y};
    for (int32_t i = 0; i < CPUBIND_ROLE_COUNT; i++)
        if (d->has_role[i])
            put_entry(&l, &(api_cpu){API_CPU_ROLE, (cpubind_role)i, 0, -1, -1}, roles[i]);
    for (int32_t i = API_CPU_BARRED; i < API_CPU_KIND_COUNT; i++) {
        const int has_row = i == API_CPU_PROCESS || i == API_CPU_TWICE;
        const api_cpu cpu = {(api_cpu_kind)i, CPUBIND_ROLE_MAIN, has_row ? 0 : -1, -1, -1};
        if (d->has[i] && i != API_CPU_ROLE)
            put_entry(&l, &cpu, api_cpu_text((api_cpu_kind)i));
    }
    if (d->view.threads > 1)
        put_outline(&l, "core", 2 * CELL, "a core");
    if (d->has_split)
        put_outline(&l, "core split", 2 * CELL, "a core that devices share");
    if (d->has_none)
        put_outline(&l, "npu none", 2 * CELL, "a device without a pool in this plan");
    return l.y + CELL + MARGIN;
}

/* == The document =========================================================== */

/* Draws the host below its title; with no file it is only measured. Returns where it ends. */
static int32_t place_all(drawing *d)
{
    const int32_t n = count_chips(d, -1);
    int32_t y = place_host(d, TITLE) + PAD / 2;
    if (n > 0) {
        if (d->out) {
            put(d, "h", MARGIN, y + 12, "devices whose home is not known");
            (void)put_chips(d, -1, MARGIN - PAD, y + HEADER, d->width - 2 * MARGIN + PAD);
        }
        y += HEADER + lines_of(n, chips_in(d->width - 2 * MARGIN + PAD)) * CHIP + PAD;
    }
    return place_legend(d, y);
}

/* Chooses how many cores, nodes and sockets stand side by side: the shape of a page. */
static void choose_shape(drawing *d)
{
    static const int32_t lines[] = {4, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128};
    int32_t best[3] = {8, 1, 1};
    int64_t least = INT64_MAX;
    int32_t most = 1;
    for (int32_t i = 0; i < d->n_socket; i++)
        most = d->socket[i].count > most ? d->socket[i].count : most;
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++)
        for (int32_t s = 1; s <= d->n_socket && s <= 16; s++)
            for (int32_t n = 1; n <= most && n <= 16; n++) {
                int64_t wide, high;
                d->per_line = lines[l];
                d->node_columns = n;
                d->socket_columns = s;
                d->node_width = 2 * PAD + GUTTER + d->per_line * (d->core_width + GAP) - GAP;
                if (d->node_width < d->least_node)
                    d->node_width = d->least_node;
                high = place_all(d);
                wide = d->width;
                /* The side that decides how small the page makes the picture. */
                wide = wide * PAGE_HEIGHT > high * PAGE_WIDTH ? wide * PAGE_HEIGHT
                                                              : high * PAGE_WIDTH;
                if (wide < least) {
                    least = wide;
                    best[0] = lines[l];
                    best[1] = n;
                    best[2] = s;
                }
            }
    d->per_line = best[0];
    d->node_columns = best[1];
    d->socket_columns = best[2];
    d->node_width = 2 * PAD + GUTTER + d->per_line * (d->core_width + GAP) - GAP;
    d->node_width = d->node_width < d->least_node ? d->least_node : d->node_width;
}

/* Notes what the legend has to explain. */
static void look_over(drawing *d)
{
    d->has_none = d->view.plan->n_candidate > d->view.plan->n_want;
    for (int32_t i = 0; i < d->view.facts->n_node; i++) {
        api_view_node(&d->view, d->view.facts->node_id[i]);
        d->n_core[i] = d->view.n_core;
        d->n_chip[i] = count_chips(d, i);
        for (int32_t core = 0; core < d->view.n_core; core++)
            d->has_split |= is_split(d, core);
        for (int32_t k = 0; k < d->view.core_at[d->view.n_core]; k++) {
            const api_cpu *cpu = &d->view.cpu[d->view.node_cpu[k]];
            d->has[cpu->kind] = 1;
            if (cpu->kind == API_CPU_ROLE)
                d->has_role[cpu->role] = 1;
        }
    }
}

void api_put_svg(api_out *out, const api_planned *planned, const api_options *options)
{
    drawing d = {.planned = planned, .options = options};
    const size_t n = (size_t)planned->facts.n_node + 1;
    const int is_viewed = api_make_view(planned, options, &d.view);
    d.node = (int32_t *)calloc(n, sizeof *d.node);
    d.n_core = (int32_t *)calloc(n, sizeof *d.n_core);
    d.n_chip = (int32_t *)calloc(n, sizeof *d.n_chip);
    d.socket = (socket_box *)calloc(n, sizeof *d.socket);
    const int is_made = is_viewed && d.node && d.n_core && d.n_chip && d.socket;
    if (is_made) {
        group_sockets(&d);
        look_over(&d);
        d.core_width = d.view.threads * CELL;
        d.least_node = 2 * PAD + 22 * CHARACTER + PAD;
        choose_shape(&d);
        d.height = place_all(&d);
        d.out = out;
        put_head(&d);
        put_heading(&d);
        (void)place_all(&d);
        api_put_text(out, "</svg>\n");
    }
    api_free_view(&d.view);
    free(d.node);
    free(d.n_core);
    free(d.n_chip);
    free(d.socket);
    out->is_short |= !is_made;
}
