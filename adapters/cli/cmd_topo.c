/* cmd_topo.c - cpubind topo: the accelerators of a host, the CPUs and network cards near each
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing and needs no privilege. No line is longer than 80 columns, unless a value of
 * the environment is.
 */
#include <string.h>

#include "output.h"
#include "topo.h"

enum { CPU_WIDTH = 20, NAME_WIDTH = 16, MAX_NEAR = 3 };

/* == Cells ================================================================== */

/* Appends CPUs as taskset takes them, with strides: "0-46:2,96-142:2". A list that is longer
 * than its column is cut, and its number of CPUs follows. */
static void add_cpus(cli_text *to, const int32_t *cpu, int32_t n)
{
    cli_text text = {"", 0};
    for (int32_t i = 0; i < n;) {
        const int32_t step = i + 1 < n ? cpu[i + 1] - cpu[i] : 1;
        int32_t last = i;
        while (last + 1 < n && cpu[last + 1] - cpu[last] == step)
            last++;
        if (step > 1 && last - i < 2)
            last = i;
        cli_add(&text, "%s%d", i ? "," : "", (int)cpu[i]);
        if (last > i)
            cli_add(&text, "-%d", (int)cpu[last]);
        if (last > i && step > 1)
            cli_add(&text, ":%d", (int)step);
        i = last + 1;
    }
    if (n == 0)
        cli_add(&text, "-");
    if (text.len <= CPU_WIDTH) {
        cli_add(to, "%s", text.text);
        return;
    }
    cli_add(to, "%.*s.. (%d)", CPU_WIDTH - 9, text.text, (int)n);
}

/* "H100 SXM5"; else the model by the driver, the interface of a network card, the ids. */
static void add_name(cli_text *to, const cpubind_pci_function *device)
{
    const cpubind_accelerator *row = &device->accelerator;
    cli_text text = {"", 0};
    if (row->family == CPUBIND_FAMILY_ASCEND)
        cli_add(&text, "Ascend %s", row->product);
    else if (row->product)
        cli_add(&text, "%s", row->product);
    else if (device->model)
        cli_add(&text, "%.*s", (int)device->model_len, device->model);
    else if (device->interface)
        cli_add(&text, "%.*s", (int)device->interface_len, device->interface);
    else if (device->ids.vendor >= 0 && device->ids.device >= 0)
        cli_add(&text, "%04x:%04x", (unsigned)device->ids.vendor, (unsigned)device->ids.device);
    else
        cli_add(&text, "%s", cpubind_family_word(row->family));
    cli_add(to, "%.*s", NAME_WIDTH, text.text);
}

static void add_sight(cli_text *to, const cpubind_pci_function *device)
{
    if (device->sight == CPUBIND_SIGHT_HIDDEN)
        cli_add(to, "hidden");
    else if (device->sight == CPUBIND_SIGHT_UNKNOWN)
        cli_add(to, "-");
    else if (device->n_number == 0)
        cli_add(to, "yes");
    for (int32_t i = 0; i < device->n_number && to->len < 6; i++)
        cli_add(to, "%s%d", i ? "," : "", (int)device->number[i]);
}

/* == Tables ================================================================= */

static void add_row(cli_table *table, const cpubind_pci_function *device, int is_nic)
{
    cli_text pci = {"", 0}, name = {"", 0}, cpus = {"", 0}, sight = {"", 0};
    cli_add_pci(&pci, &device->pci);
    add_name(&name, device);
    add_cpus(&cpus, device->cpu, device->n_cpu);
    add_sight(&sight, device);
    cli_cell(table, "%s", pci.text);
    cli_cell(table, "%s", name.text);
    cli_cell_number(table, device->node);
    cli_cell(table, "%s", cpus.text);
    cli_cell(table, "%s", is_nic ? "" : sight.text);
    cli_cell(table, "%s", cpubind_node_origin_word(device->origin));
}

static int print_functions(const cpubind_pci_function *function, int32_t n, int is_nic)
{
    const char *const head[] = {"PCI",
                                is_nic ? "network card" : "device",
                                "node",
                                "near CPUs",
                                is_nic ? "" : "visible",
                                "node by"};
    cli_table table = {.n_column = 6};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        cli_cell(&table, "%s", head[i]);
    for (int32_t i = 0; i < n; i++)
        add_row(&table, &function[i], is_nic);
    return cli_print_table(stdout, &table);
}

/* The nearest network cards of each device. */
static int print_near(const cpubind_pci_facts *f)
{
    cli_table table = {.n_column = 3};
    cli_cell(&table, "PCI");
    cli_cell(&table, "near");
    cli_cell(&table, "nearest network cards");
    for (int32_t i = 0; i < f->n_device; i++) {
        const int32_t *near = f->nearness + i * f->n_nic;
        cli_text pci = {"", 0}, cards = {"", 0};
        int32_t best = CPUBIND_NEARNESS_UNKNOWN, n = 0;
        for (int32_t k = 0; k < f->n_nic; k++)
            best = near[k] < best ? near[k] : best;
        for (int32_t k = 0; k < f->n_nic; k++) {
            if (near[k] != best || n++ >= MAX_NEAR)
                continue;
            cli_add(&cards, "%s", cards.len ? " " : "");
            if (f->nic[k].interface)
                cli_add(&cards, "%.*s", (int)f->nic[k].interface_len, f->nic[k].interface);
            else
                cli_add_pci(&cards, &f->nic[k].pci);
        }
        if (n > MAX_NEAR)
            cli_add(&cards, " and %d more", (int)(n - MAX_NEAR));
        cli_add_pci(&pci, &f->device[i].pci);
        cli_cell(&table, "%s", pci.text);
        cli_cell(&table, "%s", cpubind_nearness_word((cpubind_nearness)best));
        cli_cell(&table, "%s", cards.text);
    }
    return cli_print_table(stdout, &table);
}

/* == Notes ================================================================== */

/* Prints a line below the tables, after an empty line before the first. */
static void note(int *n, const cli_text *text)
{
    if ((*n)++ == 0)
        puts("");
    puts(text->text);
}

/* What there is to say of one device. */
static void note_device(int *n, const cpubind_pci_function *device)
{
    cli_text pci = {"", 0}, text = {"", 0};
    cli_add_pci(&pci, &device->pci);
    if (device->origin == CPUBIND_NODE_ORIGIN_BRIDGE) {
        cli_add(&text, "%s: its numa_node is -1; the bridge ", pci.text);
        cli_add_pci(&text, &device->via);
        cli_add(&text, " above it has one");
        note(n, &text);
    } else if (device->numa_node >= 0 && device->numa_node != device->node) {
        cli_add(&text, "%s: its node %d has no CPUs; ", pci.text, (int)device->numa_node);
        if (device->node < 0)
            cli_add(&text, "which node is nearest is not known");
        else
            cli_add(&text, "node %d is the nearest that has", (int)device->node);
        note(n, &text);
    }
    text = (cli_text){"", 0};
    if (device->is_virtual)
        cli_add(&text, "%s: a virtual function", pci.text);
    else if (device->n_virtual > 0)
        cli_add(&text, "%s: has %d virtual functions", pci.text, (int)device->n_virtual);
    if (text.len > 0)
        note(n, &text);
    text = (cli_text){"", 0};
    if (device->memory_node >= 0) {
        cli_add(&text, "%s: its own memory is node %d", pci.text, (int)device->memory_node);
        note(n, &text);
    }
}

static void note_runtime(int *n, const cpubind_runtime_view *view)
{
    cli_text text = {"", 0};
    for (int i = 0; i < 2; i++) {
        text = (cli_text){"", 0};
        if (!view->variable[i])
            continue;
        cli_add(&text, "%s=%.*s", view->variable[i], (int)view->value_len[i], view->value[i]);
        note(n, &text);
    }
    text = (cli_text){"", 0};
    if (view->why)
        cli_add(&text, "%s: what this process sees is not known:\n  %s", view->word, view->why);
    else if (!view->has_order)
        cli_add(&text,
                "%s: the GPUs differ, and CUDA sorts them by speed: which number each has is\n"
                "  not known; set CUDA_DEVICE_ORDER=PCI_BUS_ID",
                view->word);
    if (text.len > 0)
        note(n, &text);
}

static void print_notes(const cpubind_pci_facts *f)
{
    cli_text text = {"", 0};
    int32_t n_placeless = 0;
    int n = 0;
    for (int32_t i = 0; i < f->n_device; i++) {
        n_placeless += f->device[i].origin == CPUBIND_NODE_ORIGIN_UNKNOWN;
        note_device(&n, &f->device[i]);
    }
    if (n_placeless > 0) {
        cli_add(&text, "no file of the kernel tells the node of %d of %d devices",
                (int)n_placeless, (int)f->n_device);
        note(&n, &text);
    }
    for (int i = 0; i < CPUBIND_FAMILY_COUNT; i++)
        if (f->runtime[i].word)
            note_runtime(&n, &f->runtime[i]);
}

static int print_text(const cli_topo *topo, const cli_options *options)
{
    const cpubind_pci_facts *f = &topo->facts;
    if (!print_functions(f->device, f->n_device, 0))
        return 0;
    if (options->topo.wants_nics && f->n_nic > 0) {
        puts("");
        if (!print_functions(f->nic, f->n_nic, 1))
            return 0;
        puts("");
        if (!print_near(f))
            return 0;
    } else if (options->topo.wants_nics) {
        puts("\nno network card is on the PCI bus");
    }
    if (!options->quiet)
        print_notes(f);
    return 1;
}

int cli_topology(int argc, char **argv)
{
    static cli_options options;
    cli_topo topo = {0};
    cli_text why = {"", 0};
    cli_host host;
    int status = cli_start(argc, argv, CLI_TOPO, NULL, &options);
    if (status >= 0)
        return status;
    status = cli_open_host(&options, &host, &why);
    if (status != CLI_DONE)
        return cli_fail(&options, status, why.text);
    cli_topo_read(&host.source, &options, &topo);
    status = cli_topo_judge(&topo, &options, &why);
    if (status != CLI_DONE)
        status = cli_fail(&options, status, why.text);
    else if (!(options.json ? cli_print_json(stdout, cli_topo_json(&topo, &options))
                            : print_text(&topo, &options)))
        status = cli_no_memory();
    cli_topo_free(&topo);
    cli_close_host(&host);
    return status;
}
