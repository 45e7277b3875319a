/* cmd_topo.c - cpubind topo: the accelerators of a host, the CPUs and network cards near each
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing and needs no privilege. No line is longer than 80 columns, unless a value of
 * the environment is.
 */
#include <stdlib.h>
#include <string.h>

#include "../api/device_plan.h"
#include "../pci/device_users.h"
#include "../pci/gres.h"
#include "../text/cpulist.h"
#include "output.h"

enum { MAX_LINE = 65536 }; /* of gres.conf */
enum { CPU_WIDTH = 20, NAME_WIDTH = 16, MAX_NEAR = 3 };
enum { FILE_SIZE = 64 }; /* of the name of a device file, of those that the kernel gives */

/* == Cells ================================================================== */

/* Appends CPUs as taskset takes them, with strides: "0-46:2,96-142:2". A list that is longer
 * than its column is cut, and its number of CPUs follows. */
static void add_cpus(api_text *to, const int32_t *cpu, int32_t n)
{
    api_text text = {"", 0};
    for (int32_t i = 0; i < n;) {
        const int32_t step = i + 1 < n ? cpu[i + 1] - cpu[i] : 1;
        int32_t last = i;
        while (last + 1 < n && cpu[last + 1] - cpu[last] == step)
            last++;
        if (step > 1 && last - i < 2)
            last = i;
        api_add(&text, "%s%d", i ? "," : "", (int)cpu[i]);
        if (last > i)
            api_add(&text, "-%d", (int)cpu[last]);
        if (last > i && step > 1)
            api_add(&text, ":%d", (int)step);
        i = last + 1;
    }
    if (n == 0)
        api_add(&text, "-");
    if (text.len <= CPU_WIDTH) {
        api_add(to, "%s", text.text);
        return;
    }
    api_add(to, "%.*s.. (%d)", CPU_WIDTH - 9, text.text, (int)n);
}

/* "H100 SXM5"; else the model by the driver, the interface of a network card, the ids. */
static void add_name(api_text *to, const cpubind_pci_function *device)
{
    const cpubind_accelerator *row = &device->accelerator;
    api_text text = {"", 0};
    if (row->vendor == CPUBIND_VENDOR_ASCEND)
        api_add(&text, "Ascend %s", row->product);
    else if (row->product)
        api_add(&text, "%s", row->product);
    else if (device->model)
        api_add(&text, "%.*s", (int)device->model_len, device->model);
    else if (device->interface)
        api_add(&text, "%.*s", (int)device->interface_len, device->interface);
    else if (device->ids.vendor >= 0 && device->ids.device >= 0)
        api_add(&text, "%04x:%04x", (unsigned)device->ids.vendor, (unsigned)device->ids.device);
    else
        api_add(&text, "%s", cpubind_vendor_word(row->vendor));
    api_add(to, "%.*s", NAME_WIDTH, text.text);
}

static void add_sight(api_text *to, const cpubind_pci_function *device)
{
    if (device->sight == CPUBIND_SIGHT_HIDDEN)
        api_add(to, "hidden");
    else if (device->sight == CPUBIND_SIGHT_UNKNOWN)
        api_add(to, "-");
    else if (device->n_number == 0)
        api_add(to, "yes");
    for (int32_t i = 0; i < device->n_number && to->len < 6; i++)
        api_add(to, "%s%d", i ? "," : "", (int)device->number[i]);
}

/* == Tables ================================================================= */

static void add_row(api_table *table, const cpubind_pci_function *device, int is_nic)
{
    api_text pci = {"", 0}, name = {"", 0}, cpus = {"", 0}, sight = {"", 0};
    api_add_pci(&pci, &device->pci);
    add_name(&name, device);
    add_cpus(&cpus, device->cpu, device->n_cpu);
    add_sight(&sight, device);
    api_cell(table, "%s", pci.text);
    api_cell(table, "%s", name.text);
    api_cell_number(table, device->node);
    api_cell(table, "%s", cpus.text);
    api_cell(table, "%s", is_nic ? "" : sight.text);
    api_cell(table, "%s", cpubind_node_origin_word(device->origin));
}

static int print_functions(const cpubind_pci_function *function, int32_t n, int is_nic)
{
    const char *const head[] = {"PCI",
                                is_nic ? "network card" : "device",
                                "node",
                                "near CPUs",
                                is_nic ? "" : "visible",
                                "node by"};
    api_table table = {.n_column = 6};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        api_cell(&table, "%s", head[i]);
    for (int32_t i = 0; i < n; i++)
        add_row(&table, &function[i], is_nic);
    return cli_print_table(stdout, &table);
}

/* The nearest network cards of each device. */
static int print_near(const cpubind_facts *f)
{
    api_table table = {.n_column = 3};
    api_cell(&table, "PCI");
    api_cell(&table, "near");
    api_cell(&table, "nearest network cards");
    for (int32_t i = 0; i < f->n_bus; i++) {
        const int32_t *near = f->nearness + i * f->n_nic;
        api_text pci = {"", 0}, cards = {"", 0};
        int32_t best = CPUBIND_NEARNESS_UNKNOWN, n = 0;
        for (int32_t k = 0; k < f->n_nic; k++)
            best = near[k] < best ? near[k] : best;
        for (int32_t k = 0; k < f->n_nic; k++) {
            if (near[k] != best || n++ >= MAX_NEAR)
                continue;
            api_add(&cards, "%s", cards.len ? " " : "");
            if (f->nic[k].interface)
                api_add(&cards, "%.*s", (int)f->nic[k].interface_len, f->nic[k].interface);
            else
                api_add_pci(&cards, &f->nic[k].pci);
        }
        if (n > MAX_NEAR)
            api_add(&cards, " and %d more", (int)(n - MAX_NEAR));
        api_add_pci(&pci, &f->bus[i].pci);
        api_cell(&table, "%s", pci.text);
        api_cell(&table, "%s", cpubind_nearness_word((cpubind_nearness)best));
        api_cell(&table, "%s", cards.text);
    }
    return cli_print_table(stdout, &table);
}

/* == Notes ================================================================== */

/* Prints a line below the tables, after an empty line before the first. */
static void note(int *n, const api_text *text)
{
    if ((*n)++ == 0)
        puts("");
    puts(text->text);
}

/* What there is to say of one device. */
static void note_device(int *n, const cpubind_pci_function *device)
{
    api_text pci = {"", 0}, text = {"", 0};
    api_add_pci(&pci, &device->pci);
    if (device->origin == CPUBIND_NODE_ORIGIN_BRIDGE) {
        api_add(&text, "%s: its numa_node is -1; the bridge ", pci.text);
        api_add_pci(&text, &device->via);
        api_add(&text, " above it has one");
        note(n, &text);
    } else if (device->numa_node >= 0 && device->numa_node != device->node) {
        api_add(&text, "%s: its node %d has no CPUs; ", pci.text, (int)device->numa_node);
        if (device->node < 0)
            api_add(&text, "which node is nearest is not known");
        else
            api_add(&text, "node %d is the nearest that has", (int)device->node);
        note(n, &text);
    }
    text = (api_text){"", 0};
    if (device->is_virtual)
        api_add(&text, "%s: a virtual function", pci.text);
    else if (device->n_virtual > 0)
        api_add(&text, "%s: has %d virtual functions", pci.text, (int)device->n_virtual);
    if (text.len > 0)
        note(n, &text);
    text = (api_text){"", 0};
    if (device->memory_node >= 0) {
        api_add(&text, "%s: its own memory is node %d", pci.text, (int)device->memory_node);
        note(n, &text);
    }
}

static void note_runtime(int *n, const cpubind_runtime_view *view)
{
    api_text text = {"", 0};
    for (int i = 0; i < 2; i++) {
        text = (api_text){"", 0};
        if (!view->variable[i])
            continue;
        api_add(&text, "%s=%.*s", view->variable[i], (int)view->value_len[i], view->value[i]);
        note(n, &text);
    }
    text = (api_text){"", 0};
    if (view->why)
        api_add(&text, "%s: what this process sees is not known:\n  %s", view->word, view->why);
    else if (!view->has_order)
        api_add(&text,
                "%s: the GPUs differ, and CUDA sorts them by speed: which number each has is\n"
                "  not known; set CUDA_DEVICE_ORDER=PCI_BUS_ID",
                view->word);
    if (text.len > 0)
        note(n, &text);
}

static void print_notes(const cpubind_facts *f)
{
    api_text text = {"", 0};
    int32_t n_placeless = 0;
    int n = 0;
    for (int32_t i = 0; i < f->n_bus; i++) {
        n_placeless += f->bus[i].origin == CPUBIND_NODE_ORIGIN_UNKNOWN;
        note_device(&n, &f->bus[i]);
    }
    if (n_placeless > 0) {
        api_add(&text, "no file of the kernel tells the node of %d of %d devices",
                (int)n_placeless, (int)f->n_bus);
        note(&n, &text);
    }
    for (int i = 0; i < CPUBIND_VENDOR_COUNT; i++)
        if (f->runtime[i].word)
            note_runtime(&n, &f->runtime[i]);
}

static int print_text(const cpubind_facts *f, const api_options *options)
{
    if (!print_functions(f->bus, f->n_bus, 0))
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

static int print_json(const cpubind_facts *f, const api_options *options)
{
    api_out json = {0};
    api_json_topo(&json, f, options);
    return cli_print_line(stdout, &json);
}

/* == Slurm ================================================================== */

/* "H100 SXM5" as a type of Slurm: "h100_sxm5". */
static int32_t make_type(const cpubind_pci_function *device, char *out, int32_t size)
{
    const char *from = device->accelerator.product;
    int32_t n = 0;
    if (!from)
        from = cpubind_vendor_word(device->accelerator.vendor);
    for (; *from && n < size; from++) {
        const char c = *from >= 'A' && *from <= 'Z' ? (char)(*from - 'A' + 'a') : *from;
        const int is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (is_plain || (n > 0 && out[n - 1] != '_'))
            out[n++] = is_plain ? c : '_';
    }
    return n;
}

/* The arguments of read_nodes. */
typedef struct file_list {
    const cpubind_source *source;
    const cpubind_facts *facts;
    cpubind_device_nodes nodes;
} file_list;

static cpubind_problem_code read_nodes(void *ctx, cpubind_arena *arena)
{
    file_list *l = (file_list *)ctx;
    return cpubind_device_nodes_read(l->source, l->facts, arena, &l->nodes)
               ? CPUBIND_PROBLEM_NONE
               : CPUBIND_PROBLEM_NO_MEMORY;
}

/* Writes the name of a device's file: of an NPU it has the number that the host uses. Returns 0
 * where no file of the kernel tells it. */
static int find_file(const file_list *l, int32_t device, char out[FILE_SIZE])
{
    const cpubind_facts *f = l->facts;
    const char *file;
    if (f->bus[device].accelerator.vendor != CPUBIND_VENDOR_ASCEND) {
        file = cpubind_device_file(f, &l->nodes, device);
        (void)snprintf(out, FILE_SIZE, "%s", file ? file : "");
        return file != NULL;
    }
    for (int32_t k = 0; k < f->n_listed; k++) {
        const cpubind_viewed *npu = &f->device[k];
        if (cpubind_pci_compare(&npu->pci, &f->bus[device].pci) != 0)
            continue;
        (void)snprintf(out, FILE_SIZE, "/dev/davinci%d",
                       (int)(npu->phy >= 0 ? npu->phy : npu->logic));
        return 1;
    }
    return 0;
}

/* A line of gres.conf. */
typedef struct slurm_line {
    char file[FILE_SIZE];
    int32_t device;
} slurm_line;

/* By the number at the end: of two names with one beginning the shorter has the smaller one. */
static int compare_lines(const void *left, const void *right)
{
    const char *a = ((const slurm_line *)left)->file, *b = ((const slurm_line *)right)->file;
    const size_t n_a = strlen(a), n_b = strlen(b);
    return n_a != n_b ? (n_a < n_b ? -1 : 1) : strcmp(a, b);
}

/* Lists the devices that have a file; says which have none. Returns their number. */
static int32_t list_lines(const file_list *files, slurm_line *line)
{
    const cpubind_facts *f = files->facts;
    int32_t n = 0;
    for (int32_t i = 0; i < f->n_bus; i++) {
        api_text pci = {"", 0};
        line[n].device = i;
        if (find_file(files, i, line[n].file)) {
            n++;
            continue;
        }
        api_add_pci(&pci, &f->bus[i].pci);
        fprintf(stderr, "cpubind: warning: %s: no file of the kernel tells its device file\n",
                pci.text);
    }
    qsort(line, (size_t)n, sizeof *line, compare_lines);
    return n;
}

/* Prints one line. The name is gpu for all: --gpu-bind=closest knows no other. `text` has
 * MAX_LINE bytes, `core` one for each CPU. Returns 0 without memory. */
static int print_slurm_line(const cpubind_facts *f, const slurm_line *line, int32_t *core,
                            char *text)
{
    const cpubind_pci_function *device = &f->bus[line->device];
    char type[32];
    const int32_t n_core = cpubind_gres_cores(f, line->device, core);
    const int n_type = make_type(device, type, (int32_t)sizeof type);
    api_text pci = {"", 0};
    int32_t len = 0;
    api_add_pci(&pci, &device->pci);
    if (n_core == 0)
        fprintf(stderr, "cpubind: warning: %s: no Cores=: its node is not known\n", pci.text);
    if (cpubind_cpulist_format(core, n_core, text, MAX_LINE, &len) != CPUBIND_TEXT_OK)
        return 0;
    printf("Name=gpu Type=%.*s File=%s%s%.*s\n", n_type, type, line->file,
           len > 0 ? " Cores=" : "", (int)len, text);
    return 1;
}

/* Prints a line of gres.conf for each device, by the numbers of their files: Slurm counts the
 * lines, so that device i of SLURM_STEP_GPUS is device i of the host. Returns the exit
 * status. */
static int print_slurm(const cpubind_source *source, const cpubind_facts *f,
                       const api_options *options)
{
    int32_t *core = (int32_t *)malloc(((size_t)f->host.n_cpu + 1) * sizeof *core);
    slurm_line *line = (slurm_line *)malloc(((size_t)f->n_bus + 1) * sizeof *line);
    char *text = (char *)malloc(MAX_LINE);
    file_list files = {.source = source, .facts = f};
    cpubind_arena arena = {NULL, 0, 0};
    int good = core && line && text &&
               cpubind_with_arena(NULL, &arena, read_nodes, &files) == CPUBIND_PROBLEM_NONE;
    const int32_t n = good ? list_lines(&files, line) : 0;
    for (int32_t i = 0; good && i < n; i++)
        good = print_slurm_line(f, &line[i], core, text);
    free(arena.base);
    free(core);
    free(line);
    free(text);
    if (!good)
        return cli_no_memory();
    if (n > 0)
        return API_DONE;
    return cli_fail(options, API_REFUSED,
                    "there is no line for gres.conf: no device has a file below /dev that the "
                    "kernel's files name; run topo --slurm on the host itself, with the driver "
                    "of the devices loaded (lspci -k shows it)");
}

/* Slurm counts all cores of the host, whichever this process may use. NULL without memory. */
static int32_t *allow_all(cpubind_request *request)
{
    int32_t *cpu = (int32_t *)malloc(CPUBIND_MAX_CPUS * sizeof *cpu);
    for (int32_t i = 0; cpu && i < CPUBIND_MAX_CPUS; i++)
        cpu[i] = i;
    request->allowed = cpu;
    request->n_allowed = CPUBIND_MAX_CPUS;
    return cpu;
}

int cli_topology(int argc, char **argv)
{
    static api_options options;
    static api_planned read;
    static api_text why;
    static api_host host;
    int32_t *cpu = NULL;
    int status = cli_start(argc, argv, API_TOPO, NULL, &options);
    if (status >= 0)
        return status;
    if (options.is_slurm && !(cpu = allow_all(&options.request)))
        return cli_no_memory();
    status = cli_open_host(&options, &host, &why);
    if (status == API_DONE)
        status = api_find_devices(&host.source, &options, &why);
    options.topo.wants_cores = options.is_slurm;
    if (status == API_DONE) {
        api_read_devices(&host.source, &options, &read);
        status = api_judge_devices(&read, &options, &why);
    }
    if (status != API_DONE)
        status = cli_fail(&options, status, why.text);
    else if (options.is_slurm)
        status = print_slurm(&host.source, &read.facts, &options);
    else if (!(options.json ? print_json(&read.facts, &options)
                            : print_text(&read.facts, &options)))
        status = cli_no_memory();
    api_free_planned(&read);
    api_close_host(&host);
    free(cpu);
    return status;
}
