/* svg.c - a plan as a picture: sockets, nodes, cores, CPUs, devices at their homes
 * SPDX-License-Identifier: MIT
 *
 * One SVG document without script or anything from outside, written from the top to the bottom.
 * The colour of a CPU is that of its device; its text has the device and the role too, so that
 * the picture can be read without colours. Decides nothing: draws what picture.h tells of each
 * CPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/cpulist.h"
#include "picture.h"

/* Sizes in units of the picture. */
enum {
    CELL = 20,  /* of a CPU */
    GAP = 6,    /* between cores */
    PAD = 10,   /* inside a box, and between boxes */
    LINE = 22,  /* a line of text, or a device with the gap below */
    FIRST = 30, /* left of cores: the first CPU of the line */
    CPUS = 24   /* side by side in a node, of which two stand side by side */
};

static const char style[] =
    "text{font:11px sans-serif;fill:#111;pointer-events:none}\n"
    ".h{font-size:13px;font-weight:bold}.c{font-size:9px;text-anchor:middle}\n"
    ".d{fill:#fff;font-weight:bold}rect{stroke:#333;stroke-width:.7;fill:#fff}\n"
    ".irq{stroke:#000;stroke-width:2}.core{fill:none;stroke-width:1.5}\n"
    ".not_allowed,.excluded,.none,.process{stroke-dasharray:3 2}\n"
    ".hidden,.other{fill:#ddd}.kept,.uvb{fill:#bbb}.twice{stroke:#c00000;stroke-width:2}\n";

/* The colour of a device, by its id: of the CPUs of single threads a third of it, below white
 * text. */
static const uint8_t colours[][3] = {{0x9f, 0xc8, 0xf0}, {0xff, 0xc1, 0x70}, {0xa6, 0xdf, 0x8f},
                                     {0xd6, 0xb4, 0xe8}, {0xff, 0xa3, 0x9e}, {0xfa, 0xf0, 0x7a},
                                     {0x7f, 0xdc, 0xd2}, {0xdb, 0xba, 0x94}};

typedef struct drawing {
    api_out *out;
    api_view view;
    int32_t width, node_width, per_line; /* cores in a line of a node */
    int32_t y;                           /* of what is drawn next */
    uint8_t has[API_CPU_KIND_COUNT];     /* what the legend explains */
    uint8_t has_role[CPUBIND_ALL_ROLES];
    uint8_t has_none;
} drawing;

/* == Elements =============================================================== */

static void put_xml(api_out *to, const char *text)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (; *text; text++) {
        const char *special = strchr("&<>\"", *text);
        if (special)
            api_put_text(to, entities[special - "&<>\""]);
        else
            api_put(to, "%c", *text);
    }
}

/* A text with its baseline at (x, y). */
static void put_words(const drawing *d, const char *class, int32_t x, int32_t y,
                      const char *text)
{
    api_put(d->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, (int)x, (int)y);
    put_xml(d->out, text);
    api_put_text(d->out, "</text>\n");
}

static void put_number(const drawing *d, const char *class, const char *before, int32_t number,
                       int32_t x, int32_t y)
{
    api_text text = {"", 0};
    api_add(&text, "%s%d", before, (int)number);
    put_words(d, class, x, y, text.text);
}

/* A box of the colour of a device (-1: that of its class), at `shade` percent. */
static void put_box(const drawing *d, const char *class, int32_t x, int32_t y, int32_t width,
                    int32_t height, int32_t device, int shade, const char *title)
{
    api_put(d->out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", class,
            (int)x, (int)y, (int)width, (int)height);
    if (device >= 0) {
        const uint8_t *c = colours[(size_t)device % (sizeof colours / sizeof *colours)];
        api_put(d->out, " style=\"fill:#%02x%02x%02x\"", c[0] * shade / 100, c[1] * shade / 100,
                c[2] * shade / 100);
    }
    api_put_text(d->out, "><title>");
    put_xml(d->out, title);
    api_put_text(d->out, "</title></rect>\n");
}

/* == CPUs and cores ========================================================= */

/* The id of the one device that a CPU belongs to, or -1. */
static int32_t id_of(const drawing *d, const api_cpu *cpu)
{
    const cpubind_device_plan *plan = d->view.plan;
    const int is_other = cpu->kind == API_CPU_OTHER && cpu->device >= 0;
    const int32_t device = cpu->row >= 0 ? plan->want[cpu->row]
                           : is_other    ? plan->candidate[cpu->device].device
                                         : -1;
    return device >= 0 && cpu->kind != API_CPU_TWICE ? d->view.facts->device[device]->logic
                                                     : -1;
}

/* Draws a CPU with its text, "12", "i12", "k", and the title "CPU 17: NPU 3, main". */
static void put_cpu(const drawing *d, int32_t number, const api_cpu *cpu, int32_t x, int32_t y)
{
    const int is_role = cpu->kind == API_CPU_ROLE;
    const int is_dark = is_role && cpu->role > CPUBIND_ROLE_MAIN;
    const int has_colour = is_role || cpu->kind == API_CPU_PROCESS;
    const int32_t id = id_of(d, cpu);
    const char *word = is_role ? cpubind_role_name(cpu->role) : api_cpu_text(cpu->kind);
    api_text label = {"", 0}, title = {"", 0};
    if (!is_role && cpu->kind != API_CPU_BARRED)
        api_add(&label, "%c", api_cpu_letter(cpu->kind));
    if (is_role && cpu->role != CPUBIND_ROLE_MAIN)
        api_add(&label, "%c", cpubind_role_letter(cpu->role));
    api_add(&title, "CPU %d: ", (int)number);
    if (id >= 0) {
        api_add(&label, "%d", (int)id);
        api_add(&title, "%s %d, ", d->view.facts->noun, (int)id);
    }
    api_add(&title, "%s", word);
    put_box(d, is_role && cpu->role == CPUBIND_ROLE_IRQ ? "role irq" : api_cpu_word(cpu->kind),
            x, y, CELL, CELL, has_colour ? id : -1, is_dark ? 35 : 100,
            number < 0 ? word : title.text);
    if (label.len > 0)
        put_words(d, is_dark ? "c d" : "c", x + CELL / 2, y + CELL / 2 + 4, label.text);
}

/* Draws a core of the node of the view. */
static void put_core(drawing *d, int32_t core, int32_t x, int32_t y)
{
    const int32_t first = d->view.core_at[core], n = d->view.core_at[core + 1] - first;
    for (int32_t i = 0; i < n; i++) {
        const int32_t number = d->view.node_cpu[first + i];
        const api_cpu *cpu = &d->view.cpu[number];
        put_cpu(d, number, cpu, x + i * CELL, y);
        d->has[cpu->kind] = 1;
        d->has_role[cpu->role] |= cpu->kind == API_CPU_ROLE;
    }
    if (d->view.threads > 1)
        put_box(d, "core", x - 1, y - 1, n * CELL + 2, CELL + 2, -1, 0, "a core");
}

/* == Devices ================================================================ */

/* Draws a candidate: its name, its whole PCI address and its product. */
static void put_device(drawing *d, int32_t candidate, int32_t x, int32_t y)
{
    const cpubind_facts *facts = d->view.facts;
    const cpubind_candidate *c = &d->view.plan->candidate[candidate];
    const cpubind_host_device *device = cpubind_candidate_is(facts, c);
    const cpubind_pci_address *pci = &device->pci;
    const char *product = device->accelerator.product;
    const int32_t row = c->device < 0 ? -1 : api_row_index(d->view.plan, c->device);
    api_text text = {"", 0}, title = {"no pool in this plan", 20};
    if (c->device >= 0)
        api_add(&text, "%s %d, ", facts->noun, (int)device->logic);
    else
        api_add(&text, "hidden, ");
    api_add(&text, "%s%s", product ? product : cpubind_vendor_word(device->accelerator.vendor),
            pci->domain >= 0 ? ", " : "");
    if (pci->domain >= 0)
        api_add_pci(&text, pci);
    if (row >= 0) {
        const api_row r = api_row_of(facts, d->view.plan, row);
        title = (api_text){"", 0};
        api_add(&title, "%d CPUs: ", (int)r.n);
        api_add_list(&title, r.cpu, r.n);
    }
    d->has_none |= row < 0;
    put_box(d, row >= 0 ? "device" : "none", x, y, d->node_width - 2 * PAD, LINE - 4,
            row >= 0 ? device->logic : -1, 100, title.text);
    put_words(d, "t", x + PAD, y + 13, text.text);
}

/* Draws the devices at a node, or with -1 those without a home. Returns where they end. */
static int32_t put_devices(drawing *d, int32_t node, int32_t x, int32_t y)
{
    for (int32_t i = 0; i < d->view.plan->n_candidate; i++)
        if (node >= 0 ? api_is_place(&d->view, i, node) : !api_has_place(&d->view, i)) {
            put_device(d, i, x, y);
            y += LINE;
        }
    return y;
}

/* == Nodes and sockets ====================================================== */

static int32_t node_height(drawing *d, int32_t node)
{
    int32_t n = 1;
    for (int32_t i = 0; i < d->view.plan->n_candidate; i++)
        n += api_is_place(&d->view, i, node);
    api_view_node(&d->view, d->view.facts->node_id[node]);
    return n * LINE + PAD + (d->view.n_core + d->per_line - 1) / d->per_line * (CELL + GAP);
}

static void put_node(drawing *d, int32_t node, int32_t x, int32_t y, int32_t height)
{
    const int32_t core_width = d->view.threads * CELL + GAP;
    put_box(d, "node", x, y, d->node_width, height, -1, 0, "a node");
    put_number(d, "h", "node ", d->view.facts->node_id[node], x + PAD, y + 15);
    y = put_devices(d, node, x + PAD, y + LINE);
    api_view_node(&d->view, d->view.facts->node_id[node]);
    for (int32_t i = 0; i < d->view.n_core; i++) {
        const int32_t column = i % d->per_line, top = y + i / d->per_line * (CELL + GAP);
        if (column == 0)
            put_number(d, "t", "", d->view.node_cpu[d->view.core_at[i]], x + PAD, top + 14);
        put_core(d, i, x + PAD + FIRST + column * core_width, top);
    }
}

/* The next node of a socket, or of all with -1, behind another; -1: there is none. */
static int32_t next_node(const cpubind_facts *facts, int32_t socket, int32_t after)
{
    for (int32_t i = after + 1; i < facts->n_node; i++)
        if (socket < 0 || facts->socket[i] == socket)
            return i;
    return -1;
}

/* Draws the nodes of a socket, two side by side. */
static void put_socket(drawing *d, int32_t socket)
{
    const cpubind_facts *facts = d->view.facts;
    int32_t left = next_node(facts, socket, -1);
    if (left >= 0 && socket >= 0) {
        put_number(d, "h", "socket ", socket, PAD, d->y + 15);
        d->y += LINE;
    }
    while (left >= 0) {
        const int32_t right = next_node(facts, socket, left);
        int32_t height = node_height(d, left);
        if (right >= 0 && node_height(d, right) > height)
            height = node_height(d, right);
        put_node(d, left, PAD, d->y, height);
        if (right >= 0)
            put_node(d, right, 2 * PAD + d->node_width, d->y, height);
        d->y += height + PAD;
        left = right >= 0 ? next_node(facts, socket, right) : -1;
    }
}

static void put_host(drawing *d)
{
    const cpubind_facts *facts = d->view.facts;
    int32_t last = -1;
    for (int32_t i = 0; facts->socket && i < facts->n_node; i++)
        last = facts->socket[i] > last ? facts->socket[i] : last;
    for (int32_t socket = facts->socket ? 0 : -1; socket <= last; socket++)
        put_socket(d, socket);
    const int32_t end = put_devices(d, -1, PAD, d->y + LINE);
    if (end > d->y + LINE) {
        put_words(d, "h", PAD, d->y + 15, "devices whose home is not known");
        d->y = end;
    }
}

/* == The document =========================================================== */

/* Draws a CPU, or with NULL an empty box, and what it is. */
static void put_entry(drawing *d, const api_cpu *cpu, const char *class, const char *text)
{
    if (cpu)
        put_cpu(d, -1, cpu, PAD, d->y);
    else
        put_box(d, class, PAD, d->y, 2 * CELL, CELL, -1, 0, "");
    put_words(d, "t", PAD + 3 * CELL, d->y + 14, text);
    d->y += LINE + 2;
}

/* Explains what was drawn. */
static void put_legend(drawing *d)
{
    static const char *const roles[CPUBIND_ALL_ROLES] = {
        [CPUBIND_ROLE_IRQ] = "i: interrupts",
        [CPUBIND_ROLE_MAIN] = "main threads, with the device's number",
        [CPUBIND_ROLE_ACL] = "a: ACL thread",
        [CPUBIND_ROLE_RELEASE] = "r: release thread",
        [CPUBIND_ROLE_TRANSFER] = "t: transfer threads"};
    for (int32_t i = 0; i < CPUBIND_ALL_ROLES; i++)
        if (d->has_role[i])
            put_entry(d, &(api_cpu){API_CPU_ROLE, (cpubind_role)i, 0, -1, -1}, NULL, roles[i]);
    for (int32_t i = API_CPU_BARRED; i < API_CPU_KIND_COUNT; i++) {
        const int32_t row = i == API_CPU_PROCESS ? 0 : -1;
        const api_cpu cpu = {(api_cpu_kind)i, CPUBIND_ROLE_MAIN, row, -1, -1};
        if (d->has[i] && i != API_CPU_ROLE)
            put_entry(d, &cpu, NULL, api_cpu_text((api_cpu_kind)i));
    }
    if (d->view.threads > 1)
        put_entry(d, NULL, "core", "a core");
    if (d->has_none)
        put_entry(d, NULL, "none", "a device without a pool in this plan");
}

static void put_heading(drawing *d, const api_options *options)
{
    const cpubind_device_plan *plan = d->view.plan;
    const char *host = options->fixture ? options->fixture : options->root;
    api_text text = {"", 0};
    api_add(&text, "%d %s%s, %d CPUs, %d nodes, rules %s, strategy %s, overlap %s",
            (int)plan->n_want, d->view.facts->noun, plan->n_want == 1 ? "" : "s",
            (int)d->view.n_by_core, (int)d->view.facts->n_node, cpubind_rules_word(plan->rules),
            api_strategy_word(plan->core.strategy), api_finding_word(plan->core.overlap));
    if (host)
        put_words(d, "h", PAD, 20, host);
    put_words(d, "t", PAD, 38, text.text);
    d->y = 50;
}

/* Prints the head of the document, and what was drawn. */
static void put_document(const drawing *d, api_out *out)
{
    api_put(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n<title>CPUs of %d %ss</title>\n<style>\n%s</style>\n"
            "<rect width=\"%d\" height=\"%d\"/>\n",
            (int)d->width, (int)d->y, (int)d->width, (int)d->y, (int)d->view.plan->n_want,
            d->view.facts->noun, style, (int)d->width, (int)d->y);
    api_put_text(out, d->out->text);
    api_put_text(out, "</svg>\n");
}

void api_put_svg(api_out *out, const api_planned *planned, const api_options *options)
{
    api_out body = {0};
    drawing d = {.out = &body};
    const int is_viewed = api_make_view(planned, options, &d.view);
    if (is_viewed) {
        d.per_line = d.view.threads < CPUS ? CPUS / d.view.threads : 1;
        d.node_width = 2 * PAD + FIRST + d.per_line * (d.view.threads * CELL + GAP) - GAP;
        d.width = 2 * (d.node_width + PAD) + PAD;
        put_heading(&d, options);
        put_host(&d);
        put_legend(&d);
        if (!body.is_short)
            put_document(&d, out);
    }
    out->is_short |= !is_viewed || body.is_short;
    free(body.text);
    api_free_view(&d.view);
}
